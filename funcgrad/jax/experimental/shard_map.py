"""``jax.experimental.shard_map``: `shard_map` as it was called before it was ``jax.shard_map``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import programs
from ..sharding import Mesh

__all__ = ["shard_map"]


def shard_map(
    f: Callable[..., Any], mesh: Mesh, in_specs: Any, out_specs: Any, check_rep: bool = True
) -> Callable[..., Any]:
    """`funcgrad.jax.shard_map` with its arguments by place.

    >>> import numpy as np
    >>> from funcgrad import jax
    >>> mesh = jax.sharding.Mesh(jax.devices(), "i")
    >>> shard_map(lambda x: 2 * x, mesh, jax.P("i"), jax.P("i"))(np.ones(2)).tolist()
    [2.0, 2.0]
    """
    return programs.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs)
