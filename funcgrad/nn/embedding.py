"""Integers as vectors: rows of a table, or a one at a place."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ShapeError, where
from ..numpy._arguments import array_of, axis_of, beside, known_lengths
from ._arguments import integers, require


def one_hot(x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Any:
    """``y[..., k] = (x == k)`` for the integers k below `num_classes`, along a new axis; others have
    zeros only.

    Shapes: ``x: (*a) -> (*a, num_classes)``, with the new axis at `axis`.
    Dtypes: integers; gives `dtype`, by default float64.
    Derivative: none.
    Raises: ArgumentError: `x` is not of integers, or `num_classes` negative. ShapeError: there is no
    such axis.
    Source: JAX reference, ``jax.nn.one_hot``.

    >>> one_hot(np.array([0, 2, -1]), 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    x = integers("one_hot", "x", x)
    count = operator.index(known_lengths("nn.one_hot: num_classes", num_classes))
    require(count >= 0, "one_hot", "num_classes", count, "0 or more")
    ndim = aval_of(x).ndim
    axis = axis_of("nn.one_hot", axis, ndim + 1)
    classes = beside(x, np.arange(count).reshape((count,) + (1,) * (ndim - axis)))
    hits = fnp.equal(fnp.expand_dims(x, axis), classes)
    return fnp.astype(hits, np.float64 if dtype is None else dtype)


def embedding(indices: Any, table: Any) -> Any:
    """The rows of `table` that the indices count: ``y[*i] = table[indices[*i]]``.

    Shapes: ``indices: (*i), table: (n, *d) -> (*i, *d)``.
    Dtypes: integers, and all, kept.
    Derivative: linear in `table`; cotangents of a row that is taken twice are summed.
    Raises: IndexError: there is no such row. ArgumentError: the indices are no integers. ShapeError:
    the table has no rows.
    Source: PyTorch reference, ``torch.nn.functional.embedding``.

    >>> embedding(np.array([1, 0, 1]), np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
    """
    table = array_of(table)
    if not aval_of(table).ndim:
        raise ShapeError(f"nn.embedding: the table has no rows, found {aval_of(table)}{where()}")
    return fnp.take(table, integers("embedding", "indices", indices), axis=0)
