"""Order under the names of ``jax.lax``: sorting, the largest elements and their places."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of
from ..ops import reduce as _reduce
from ..ops import sort as _sort
from ..ops.index import take_along_axis
from ._arguments import axis_in


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """`operand` in ascending order along an axis; of several arrays, in the order of the first ones.

    Sorting is stable in any case.

    Shapes: ``(*a) -> (*a)``, all the same.   Dtypes: all; NaN come last.
    Derivative: the tangents in the same order.
    Raises: ShapeError: the shapes differ, or there is no such axis. ArgumentError: `num_keys` is not
    between 1 and the number of arrays.
    Source: JAX, ``jax.lax.sort``.

    >>> [x.tolist() for x in sort((np.array([2, 1]), np.array([5.0, 6.0])))]
    [[1, 2], [6.0, 5.0]]
    """
    if not isinstance(operand, list | tuple):
        operand = array_of(operand)
        return _sort.sort(operand, axis=axis_in("sort", dimension, operand.ndim))
    arrays = [array_of(x) for x in operand]
    if not 1 <= num_keys <= len(arrays):
        raise ArgumentError(f"lax.sort: num_keys={num_keys} of {len(arrays)} arrays{where()}")
    if len({x.shape for x in arrays}) > 1:
        found = " and ".join(str(aval_of(x)) for x in arrays)
        raise ShapeError(f"lax.sort: arrays of different shapes, {found}{where()}")
    axis = axis_in("sort", dimension, arrays[0].ndim)
    order: Any = None
    for key in reversed(arrays[:num_keys]):
        found = key if order is None else take_along_axis(key, order, axis=axis, bounds="known")
        then = _sort.argsort(found, axis=axis)
        order = then if order is None else take_along_axis(order, then, axis=axis, bounds="known")
    return tuple(take_along_axis(x, order, axis=axis, bounds="known") for x in arrays)


def sort_key_val(
    keys: Any, values: Any, dimension: int = -1, is_stable: bool = True
) -> tuple[Any, Any]:
    """`keys` in ascending order along an axis, and `values` in the same order.

    Shapes: ``(*a), (*a) -> (*a), (*a)``.   Dtypes: all; NaN come last.
    Derivative: the tangents in the same order.
    Raises: ShapeError: the shapes differ, or there is no such axis.
    Source: JAX, ``jax.lax.sort_key_val``.

    >>> [x.tolist() for x in sort_key_val(np.array([2, 1]), np.array([5.0, 6.0]))]
    [[1, 2], [6.0, 5.0]]
    """
    return sort((keys, values), dimension, is_stable)


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Any, Any]:
    """The `k` largest elements along an axis, in descending order, and their places.

    Shapes: ``(*a, n, *b) -> (*a, k, *b)``, twice.   Dtypes: real; places are int32.
    Derivative: linear in what was taken.
    Raises: ShapeError: there are fewer than `k` elements.
    Source: JAX, ``jax.lax.top_k``; of equal elements the earlier comes first.

    >>> [x.tolist() for x in top_k(np.array([1.0, 5.0, 3.0]), 2)]
    [[5.0, 3.0], [1, 2]]
    """
    operand = array_of(operand)
    axis = axis_in("top_k", axis, operand.ndim)
    values, places = _sort.topk(operand, k=operator.index(k), axis=axis)
    return values, fnp.astype(places, np.int32)


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Any, Any]:
    """`top_k` along an axis, exactly: the options that allow less change nothing.

    Shapes: ``(*a, n, *b) -> (*a, k, *b)``, twice.   Dtypes: real; places are int32.
    Derivative: linear in what was taken.
    Raises: ShapeError: there are fewer than `k` elements. ArgumentError: `aggregate_to_topk` is False.
    Source: JAX, ``jax.lax.approx_max_k``.

    >>> [x.tolist() for x in approx_max_k(np.array([1.0, 5.0, 3.0]), 2)]
    [[5.0, 3.0], [1, 2]]
    """
    _require_aggregated("approx_max_k", aggregate_to_topk)
    return top_k(operand, k, axis=reduction_dimension)


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Any, Any]:
    """The `k` smallest elements along an axis, in ascending order, and their places, exactly.

    Shapes: ``(*a, n, *b) -> (*a, k, *b)``, twice.   Dtypes: real; places are int32.
    Derivative: linear in what was taken.
    Raises: as `approx_max_k`.
    Source: JAX, ``jax.lax.approx_min_k``.

    >>> [x.tolist() for x in approx_min_k(np.array([1.0, 5.0, 3.0]), 2)]
    [[1.0, 3.0], [0, 2]]
    """
    name = "approx_min_k"
    _require_aggregated(name, aggregate_to_topk)
    operand, count = array_of(operand), operator.index(k)
    axis = axis_in(name, reduction_dimension, operand.ndim)
    n = operand.shape[axis]
    if not 0 <= count <= n:
        raise ShapeError(f"lax.{name}: k={k}, but there are {n} elements{where()}")
    places = _sort.argtopk(operand, k=count, axis=axis, largest=False)
    values = take_along_axis(operand, places, axis=axis, bounds="known")
    return values, fnp.astype(places, np.int32)


def _require_aggregated(name: str, aggregate_to_topk: Any) -> None:
    if not aggregate_to_topk:
        raise ArgumentError(f"lax.{name}: aggregate_to_topk=False is not supported{where()}")


def argmax(operand: Any, axis: int, index_dtype: Any = np.int64) -> Any:
    """The place of the largest element along an axis, the first of equal ones.

    Shapes: ``(*a, n, *b) -> (*a, *b)``.   Dtypes: real; gives `index_dtype`.   Derivative: zero.
    Raises: ShapeError: there is no such axis.
    Source: JAX, ``jax.lax.argmax``.

    >>> argmax(np.array([1.0, 5.0, 3.0]), 0, np.int32).tolist()
    1
    """
    operand = array_of(operand)
    axis = axis_in("argmax", axis, operand.ndim)
    return fnp.astype(_reduce.argmax(operand, axis=axis), index_dtype)


def argmin(operand: Any, axis: int, index_dtype: Any = np.int64) -> Any:
    """The place of the smallest element along an axis, the first of equal ones.

    Shapes: ``(*a, n, *b) -> (*a, *b)``.   Dtypes: real; gives `index_dtype`.   Derivative: zero.
    Raises: ShapeError: there is no such axis.
    Source: JAX, ``jax.lax.argmin``.

    >>> argmin(np.array([1.0, 5.0, 3.0]), 0, np.int32).tolist()
    0
    """
    operand = array_of(operand)
    axis = axis_in("argmin", axis, operand.ndim)
    return fnp.astype(_reduce.argmin(operand, axis=axis), index_dtype)
