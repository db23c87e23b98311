"""The workloads of `compiled.py`, one file per family."""

from . import chain, elementwise, geometry, matrices, mixtures, networks, sequences
from .base import Workload

FAMILIES = (chain, elementwise, networks, mixtures, geometry, matrices, sequences)
WORKLOADS: tuple[Workload, ...] = tuple(work for f in FAMILIES for work in f.WORKLOADS)
