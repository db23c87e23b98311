"""The workloads of `compiled.py`, one file per family."""

from . import (
    chain,
    circuits,
    convolutions,
    elementwise,
    geometry,
    matrices,
    mixtures,
    networks,
    sequences,
)
from .base import Workload

FAMILIES = (
    *(chain, elementwise, networks, convolutions, mixtures, geometry, matrices, sequences),
    circuits,
)
WORKLOADS: tuple[Workload, ...] = tuple(work for f in FAMILIES for work in f.WORKLOADS)
