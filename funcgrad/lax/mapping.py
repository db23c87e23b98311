"""`map` with several rows at once."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from .. import numpy as fnp
from .. import tree
from ..core import aval_of
from ..errors import ArgumentError, where
from ..transforms import loops as _loops
from ..transforms.vmap import vmap


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """``f`` of every row of `xs`, one after another, or `batch_size` at once by `vmap`, stacked.

    Shapes: leaves of `xs` are ``(n, *a)``, those of the result ``(n, *b)``.   Dtypes: those of `f`.
    Derivative: that of `f`, row by row.
    Raises: ShapeError: the leaves of `xs` differ in length. ArgumentError: `batch_size` is no number
    above 0.
    Source: JAX, ``jax.lax.map``.

    >>> map(lambda x: x * x, np.array([1.0, 2.0, 3.0]), batch_size=2).tolist()
    [1.0, 4.0, 9.0]
    """
    if batch_size is None:
        return _loops.map(f, xs)
    size = _size(batch_size)
    leaves = tree.leaves(xs)
    n = aval_of(leaves[0]).shape[0] if leaves and aval_of(leaves[0]).shape else 0
    if any(aval_of(x).shape[:1] != (n,) for x in leaves) or not n:
        return _loops.map(f, xs)  # which says what is wrong
    whole = n - n % size
    batch = vmap(f)

    def first(x: Any) -> Any:
        return fnp.reshape(x[:whole], (whole // size, size, *aval_of(x).shape[1:]))

    parts = []
    if whole:
        together = _loops.map(batch, tree.map(first, xs))
        flat = tree.map(lambda y: fnp.reshape(y, (whole, *aval_of(y).shape[2:])), together)
        parts.append(flat)
    if whole < n:
        parts.append(batch(tree.map(lambda x: x[whole:], xs)))
    return tree.map(lambda *ys: fnp.concatenate(ys), *parts) if len(parts) > 1 else parts[0]


def _size(given: Any) -> int:
    try:
        size = operator.index(given)
    except TypeError:
        size = 0
    if size < 1:
        raise ArgumentError(f"lax.map: batch_size={given!r}; need 1 or more{where()}")
    return size
