"""Trees of arrays as one vector, as SciPy's optimizers and samplers want their variables.

Layer 4.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import tree
from .core import aval_of
from .errors import ShapeError, where
from .numpy._arguments import arrays_of
from .ops.cast import astype
from .ops.index import Slice, getitem
from .ops.join import concatenate
from .ops.structural import reshape


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All elements of a tree's arrays in one vector, and the function that makes the tree of a vector.

    Shapes: leaves of n_1, n_2, ... elements ``-> (n_1 + n_2 + ...,)``.
    Dtypes: the vector has the common one of the leaves; the tree of a vector has theirs again.
    Derivative: linear, both ways.
    Raises: ShapeError: a vector of another length.
    Source: JAX reference, ``jax.flatten_util.ravel_pytree``.

    >>> x, unravel = ravel_pytree({"w": np.ones((2, 2)), "b": 3.0})
    >>> x.tolist(), unravel(x * 2)["w"].tolist()
    ([3.0, 1.0, 1.0, 1.0, 1.0], [[2.0, 2.0], [2.0, 2.0]])
    """
    leaves, treedef = tree.flatten(pytree)
    arrays = arrays_of(*leaves)
    types = [aval_of(x) for x in arrays]
    sizes = [math.prod(t.shape) for t in types]
    ends = np.cumsum([0, *sizes]).tolist()
    dtype = np.result_type(*[t.dtype for t in types]) if types else np.dtype(float)

    def unravel(vector: Any) -> Any:
        (vector,) = arrays_of(vector)
        if aval_of(vector).shape != (ends[-1],):
            raise ShapeError(
                f"unravel: a vector of shape {aval_of(vector).shape}; need ({ends[-1]},), one element "
                f"for each of the tree{where()}"
            )
        parts = [
            getitem(vector, index=(Slice(start, stop, 1),))
            for start, stop in itertools.pairwise(ends)
        ]
        made = [
            astype(reshape(part, shape=t.shape), dtype=t.dtype)
            for part, t in zip(parts, types, strict=True)
        ]
        return tree.unflatten(treedef, made)

    if not arrays:
        return np.zeros(0), unravel
    flat = [astype(reshape(x, shape=(n,)), dtype=dtype) for x, n in zip(arrays, sizes, strict=True)]
    return concatenate(*flat, axis=0), unravel


__all__ = ["ravel_pytree"]
