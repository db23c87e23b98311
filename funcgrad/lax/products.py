"""Products of arrays under the names of ``jax.lax``."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import preferred
from ..ops import contract as _contract
from ._arguments import integral, ints


class Precision(enum.Enum):
    """How precise products may be on other hardware; here always as their dtype."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value: object) -> Precision | None:
        """By its name in lower case, or None for the usual one, as in JAX."""
        names = {None: "DEFAULT", "default": "DEFAULT", "high": "HIGH", "highest": "HIGHEST"}
        return cls[names[value]] if value in names else None


PrecisionLike = str | Precision | tuple[str, str] | tuple[Precision, Precision] | None
DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]


def dot(
    lhs: Any,
    rhs: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    dimension_numbers: Any = None,
    out_sharding: Any = None,
) -> Any:
    """The product of vectors and matrices: the last axis of `lhs` with the first of `rhs`.

    With `dimension_numbers` it is `dot_general`. `precision` changes nothing: products are as precise
    as their dtype.

    Shapes: ``(*a, k), (k, *b) -> (*a, *b)`` for one or two axes each.
    Dtypes: numbers; computed in `preferred_element_type` if that is given.
    Derivative: bilinear.
    Raises: ShapeError: the shapes do not fit.
    Source: XLA's operation semantics, "Dot".

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])).tolist()
    11.0
    """
    if dimension_numbers is not None:
        return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)
    x, y = preferred(preferred_element_type, lhs, rhs)
    if x.ndim not in (1, 2) or y.ndim not in (1, 2) or x.shape[-1] != y.shape[0]:
        raise ShapeError(
            f"lax.dot: {aval_of(x)} with {aval_of(y)}; need (m, k) and (k, n){where()}"
        )
    return fnp.dot(x, y)


def dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """The product summed over pairs of axes, for each place along other pairs of axes.

    `dimension_numbers`: ``((axes of lhs, axes of rhs), (batch axes of lhs, of rhs))``; first those
    that are summed over. `precision` changes nothing.

    Shapes: ``(*batch, *rest of lhs, *rest of rhs)``.
    Dtypes: numbers; computed in `preferred_element_type` if that is given.
    Derivative: bilinear.
    Raises: ShapeError: axes that go together differ in length or number.
    Source: XLA's operation semantics, "DotGeneral".

    >>> dot_general(np.ones((2, 3, 4)), np.ones((2, 4)), (((2,), (1,)), ((0,), (0,)))).shape
    (2, 3)
    """
    x, y = preferred(preferred_element_type, lhs, rhs)
    summed, batch = (
        tuple(ints("dot_general", "dimension_numbers", axes) for axes in pair)
        for pair in dimension_numbers
    )
    pairs = [(i, j) for both in (summed, batch) for i, j in zip(*both, strict=False)]
    unequal = len(summed[0]) != len(summed[1]) or len(batch[0]) != len(batch[1])
    if unequal or any(
        not (0 <= i < x.ndim and 0 <= j < y.ndim) or x.shape[i] != y.shape[j] for i, j in pairs
    ):
        raise ShapeError(
            f"lax.dot_general: {aval_of(x)} with {aval_of(y)} by {dimension_numbers}; need pairs of "
            f"axes of the same length{where()}"
        )
    return _contract.dot_general(x, y, contracting=summed, batch=batch)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Any:
    """The products of two stacks of matrices. `precision` changes nothing.

    Shapes: ``(*a, m, k), (*a, k, n) -> (*a, m, n)``.   Dtypes: numbers.   Derivative: bilinear.
    Raises: ShapeError: the shapes do not fit.
    Source: JAX, ``jax.lax.batch_matmul``.

    >>> batch_matmul(np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    x, y = preferred(None, lhs, rhs)
    if x.ndim < 2 or x.shape[:-2] != y.shape[:-2] or x.shape[-1] != y.shape[-2]:
        raise ShapeError(f"lax.batch_matmul: {aval_of(x)} with {aval_of(y)}{where()}")
    return fnp.matmul(x, y)


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
) -> Any:
    """The product of each group of rows, which lie one after another, with a matrix of its own.

    Rows after the last group give 0. `precision` changes nothing.

    Shapes: ``lhs: (m, k), rhs: (g, k, n), group_sizes: (g) -> (m, n)``.
    Dtypes: numbers; computed in `preferred_element_type` if that is given; `group_sizes` integers.
    Derivative: bilinear.
    Raises: ShapeError: the shapes do not fit. ArgumentError: sizes are no integers, or `group_offset`
    is given.
    Source: JAX, ``jax.lax.ragged_dot``.

    >>> sizes = np.array([1, 2])
    >>> ragged_dot(np.ones((4, 1)), np.array([[[3.0]], [[5.0]]]), sizes).tolist()
    [[3.0], [5.0], [5.0], [0.0]]
    """
    x, w = preferred(preferred_element_type, lhs, rhs)
    sizes = integral("ragged_dot", group_sizes)
    if group_offset is not None:
        raise ArgumentError(f"lax.ragged_dot: no group_offset here; pass parts of lhs{where()}")
    if x.ndim != 2 or w.ndim != 3 or x.shape[1] != w.shape[1] or sizes.shape != w.shape[:1]:
        raise ShapeError(
            f"lax.ragged_dot: {aval_of(x)} with {aval_of(w)} by {aval_of(sizes)}; need (m, k), "
            f"(g, k, n) and (g,){where()}"
        )
    ends = fnp.cumsum(sizes)[:, None, None]
    row = fnp.arange(x.shape[0])[:, None]
    chosen = (row >= ends - sizes[:, None, None]) & (row < ends)
    return fnp.einsum("gmk,gkn->mn", fnp.where(chosen, x, 0), w)
