"""Running and whole reductions, and those of windows, under the names of ``jax.lax``."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as fnp
from .. import tree
from ..core import aval_of
from ..errors import ShapeError, where
from ..indexing import known
from ..numpy._arguments import array_of
from ..ops import cumulative as _cumulative
from ..ops.arithmetic import add, multiply
from ..ops.conv import dilated
from ..ops.logic import bitwise_and, bitwise_or, bitwise_xor
from ..ops.pool import max_pool, sum_windows
from ..ops.select import maximum, minimum
from ..transforms.vmap import vmap
from ._arguments import Ints, axes_in, axis_in, ints, stored
from .convolutions import padding_of, spread, taps

# ---------------------------------------------------------------- running


def _running(name: str, f: Callable[..., Any], operand: Any, axis: int, reverse: bool) -> Any:
    operand = array_of(operand)
    found = f(operand, axis=axis_in(name, axis, operand.ndim), reverse=bool(reverse))
    return fnp.astype(found, operand.dtype) if operand.dtype.kind in "iu" else found


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Sums of the elements so far along an axis; from the end with `reverse`.

    Shapes: ``(*a) -> (*a)``.   Dtypes: numbers, kept.   Derivative: linear.
    Raises: ShapeError: there is no such axis.
    Source: JAX, ``jax.lax.cumsum``.

    >>> cumsum(np.array([1, 2, 3]), reverse=True).tolist()
    [6, 5, 3]
    """
    return _running("cumsum", _cumulative.cumsum, operand, axis, reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """Products of the elements so far along an axis; from the end with `reverse`.

    Shapes: ``(*a) -> (*a)``.   Dtypes: numbers, kept.
    Derivative: the products of the other elements, exact where some are 0.
    Raises: ShapeError: there is no such axis.
    Source: JAX, ``jax.lax.cumprod``.

    >>> cumprod(np.array([1, 2, 3])).tolist()
    [1, 2, 6]
    """
    return _running("cumprod", _cumulative.cumprod, operand, axis, reverse)


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The largest element so far along an axis; from the end with `reverse`.

    Shapes: ``(*a) -> (*a)``.   Dtypes: real, kept.   Derivative: that of the element taken.
    Raises: ShapeError: there is no such axis.
    Source: JAX, ``jax.lax.cummax``.

    >>> cummax(np.array([1, 3, 2])).tolist()
    [1, 3, 3]
    """
    return _running("cummax", _cumulative.cummax, operand, axis, reverse)


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """The smallest element so far along an axis; from the end with `reverse`.

    Shapes: ``(*a) -> (*a)``.   Dtypes: real, kept.   Derivative: that of the element taken.
    Raises: ShapeError: there is no such axis.
    Source: JAX, ``jax.lax.cummin``.

    >>> cummin(np.array([2, 3, 1])).tolist()
    [2, 2, 1]
    """
    return _running("cummin", _cumulative.cummin, operand, axis, reverse)


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Any:
    """``log(sum(exp(x)))`` of the elements so far along an axis; from the end with `reverse`.

    Shapes: ``(*a) -> (*a)``.   Dtypes: floating.   Derivative: the softmax of the elements so far.
    Raises: ShapeError: there is no such axis.
    Source: JAX, ``jax.lax.cumlogsumexp``.

    >>> cumlogsumexp(np.array([0.0, 0.0])).round(4).tolist()
    [0.0, 0.6931]
    """
    return _running("cumlogsumexp", _cumulative.logcumsumexp, operand, axis, reverse)


# ---------------------------------------------------------------- whole


def _whole(name: str, f: Callable[..., Any], operand: Any, axes: Any) -> Any:
    operand = array_of(operand)
    found = f(operand, axis=axes_in(name, axes, operand.ndim))
    return found if found.dtype == operand.dtype else fnp.astype(found, operand.dtype)


def reduce_sum(operand: Any, axes: Any) -> Any:
    """The sum along axes.

    Shapes: ``(*a) -> (*a without axes)``.   Dtypes: numbers, kept.   Derivative: linear.
    Raises: ShapeError: an axis does not exist or is given twice.
    Source: JAX, ``jax.lax.reduce_sum``.

    >>> reduce_sum(np.array([[1, 2], [3, 4]]), (1,)).tolist()
    [3, 7]
    """
    return _whole("reduce_sum", fnp.sum, operand, axes)


def reduce_prod(operand: Any, axes: Any) -> Any:
    """The product along axes.

    Shapes: ``(*a) -> (*a without axes)``.   Dtypes: numbers, kept.
    Derivative: the products of the other elements, exact where some are 0.
    Raises: ShapeError: an axis does not exist or is given twice.
    Source: JAX, ``jax.lax.reduce_prod``.

    >>> reduce_prod(np.array([[1, 2], [3, 4]]), (1,)).tolist()
    [2, 12]
    """
    return _whole("reduce_prod", fnp.prod, operand, axes)


def reduce_max(operand: Any, axes: Any) -> Any:
    """The largest element along axes.

    Shapes: ``(*a) -> (*a without axes)``.   Dtypes: real, kept.
    Derivative: that of the largest; ties share.
    Raises: ShapeError: an axis does not exist or is given twice. ValueError: there is no element.
    Source: JAX, ``jax.lax.reduce_max``.

    >>> reduce_max(np.array([[1, 2], [4, 3]]), (1,)).tolist()
    [2, 4]
    """
    return _whole("reduce_max", fnp.max, operand, axes)


def reduce_min(operand: Any, axes: Any) -> Any:
    """The smallest element along axes.

    Shapes: ``(*a) -> (*a without axes)``.   Dtypes: real, kept.
    Derivative: that of the smallest; ties share.
    Raises: ShapeError: an axis does not exist or is given twice. ValueError: there is no element.
    Source: JAX, ``jax.lax.reduce_min``.

    >>> reduce_min(np.array([[1, 2], [4, 3]]), (1,)).tolist()
    [1, 3]
    """
    return _whole("reduce_min", fnp.min, operand, axes)


def reduce_and(operand: Any, axes: Any) -> Any:
    """All bits that every element along the axes has; of booleans whether all hold.

    Shapes: ``(*a) -> (*a without axes)``.   Dtypes: booleans, integers.   Derivative: zero.
    Raises: ShapeError: an axis does not exist or is given twice.
    Source: JAX, ``jax.lax.reduce_and``.

    >>> reduce_and(np.array([6, 3]), (0,)).tolist()
    2
    """
    return reduce(operand, True if _is_bool(operand) else -1, bitwise_and, axes)


def reduce_or(operand: Any, axes: Any) -> Any:
    """All bits that some element along the axes has; of booleans whether any holds.

    Shapes: ``(*a) -> (*a without axes)``.   Dtypes: booleans, integers.   Derivative: zero.
    Raises: ShapeError: an axis does not exist or is given twice.
    Source: JAX, ``jax.lax.reduce_or``.

    >>> reduce_or(np.array([6, 3]), (0,)).tolist()
    7
    """
    return reduce(operand, not _is_bool(operand) and 0, bitwise_or, axes)


def reduce_xor(operand: Any, axes: Any) -> Any:
    """All bits that an odd number of elements along the axes has.

    Shapes: ``(*a) -> (*a without axes)``.   Dtypes: booleans, integers.   Derivative: zero.
    Raises: ShapeError: an axis does not exist or is given twice.
    Source: JAX, ``jax.lax.reduce_xor``.

    >>> reduce_xor(np.array([6, 3]), (0,)).tolist()
    5
    """
    return reduce(operand, not _is_bool(operand) and 0, bitwise_xor, axes)


def _is_bool(x: Any) -> bool:
    return aval_of(array_of(x)).dtype.kind == "b"


# Functions of two arguments that have a reduction of their own.
MONOIDS: dict[Any, Callable[..., Any]] = {
    add: reduce_sum,
    multiply: reduce_prod,
    maximum: reduce_max,
    minimum: reduce_min,
}
ELEMENTWISE = (*MONOIDS, bitwise_and, bitwise_or, bitwise_xor)


def reduce(
    operands: Any, init_values: Any, computation: Callable[..., Any], dimensions: Any
) -> Any:
    """Elements along axes combined two at a time by `computation`, and with a first value.

    Operands, first values and what `computation` takes and gives may be trees of one structure. The
    order is not fixed, so `computation` has to be associative and commutative.

    Shapes: ``(*a), () -> (*a without dimensions)``.   Dtypes: those of the operands.
    Derivative: that of `computation`.
    Raises: ShapeError: the operands differ in shape, or an axis does not exist.
    Source: XLA's operation semantics, "Reduce".

    >>> reduce(np.array([1.0, 2.0, 3.0]), 10.0, lambda x, y: x + y, (0,)).tolist()
    16.0
    """
    leaves, treedef = tree.flatten(operands)
    arrays = [array_of(x) for x in leaves]
    firsts = [stored("reduce", x, v) for v, x in zip(tree.leaves(init_values), arrays, strict=True)]
    shape = arrays[0].shape
    if any(x.shape != shape for x in arrays):
        raise ShapeError(f"lax.reduce: operands of shapes {[x.shape for x in arrays]}{where()}")
    axes = axes_in("reduce", dimensions, len(shape))
    rest = tuple(n for i, n in enumerate(shape) if i not in axes)
    count = math.prod(shape[i] for i in axes)
    if len(arrays) == 1 and computation in MONOIDS and count:
        return computation(MONOIDS[computation](arrays[0], axes), firsts[0])
    order = (*axes, *(i for i in range(len(shape)) if i not in axes))
    rows = [fnp.reshape(fnp.transpose(x, order), (count, *rest)) for x in arrays]
    combine = _pairwise(computation, treedef)
    return tree.unflatten(
        treedef, _combined(combine, rows, [fnp.broadcast_to(v, rest) for v in firsts])
    )


def _pairwise(computation: Callable[..., Any], treedef: Any) -> Callable[..., list[Any]]:
    """`computation` of single elements as a function of lists of arrays, element by element."""
    if computation in ELEMENTWISE:
        return lambda xs, ys: [computation(xs[0], ys[0])]

    def one(*elements: Any) -> Any:
        xs, ys = elements[: len(elements) // 2], elements[len(elements) // 2 :]
        return tuple(
            tree.leaves(computation(tree.unflatten(treedef, xs), tree.unflatten(treedef, ys)))
        )

    def combine(xs: list[Any], ys: list[Any]) -> list[Any]:
        shape, flat = xs[0].shape, [fnp.reshape(x, (-1,)) for x in (*xs, *ys)]
        if not math.prod(shape):
            return xs
        return [fnp.reshape(y, shape) for y in vmap(one)(*flat)]

    return combine


def _combined(combine: Callable[..., list[Any]], rows: list[Any], firsts: list[Any]) -> list[Any]:
    """All rows combined with each other, by halves, and with the first values."""
    while (count := rows[0].shape[0]) > 1:
        half = count // 2
        left, right, odd = ([x[p] for x in rows] for p in _halves(half, count))
        both = combine(left, right)
        rows = [fnp.concatenate(pair) for pair in zip(both, odd, strict=True)]
    return combine([x[0] for x in rows], firsts) if rows[0].shape[0] else firsts


def _halves(half: int, count: int) -> tuple[Any, ...]:
    return np.s_[:half], np.s_[half : 2 * half], np.s_[2 * half : count]


# ---------------------------------------------------------------- windows


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[..., Any],
    window_dimensions: Any,
    window_strides: Any = None,
    padding: Any = "VALID",
    base_dilation: Any = None,
    window_dilation: Any = None,
) -> Any:
    """The elements of every window, and `init_value`, combined by `computation`.

    What padding and `base_dilation` put around and between the elements is `init_value`.

    Shapes: ``n -> (padded - dilated window) / stride + 1`` along every axis.
    Dtypes: that of `operand`.
    Derivative: that of `computation`; of a maximum, the first of equal elements takes all.
    Raises: ShapeError: there is not one entry for each axis, or a window does not fit.
    ArgumentError: padding is not "VALID", "SAME", "SAME_LOWER" or pairs.
    Source: XLA's operation semantics, "ReduceWindow".

    >>> reduce_window(np.array([1.0, 2.0, 4.0]), 0.0, lambda x, y: x + y, (2,)).tolist()
    [3.0, 6.0]
    """
    name, operand = "reduce_window", array_of(operand)
    first = stored(name, operand, init_value)
    ones = (1,) * operand.ndim
    window, strides, base, dilation = (
        ints(name, what, ones if given is None else given, operand.ndim)
        for what, given in (
            ("window_dimensions", window_dimensions),
            ("window_strides", window_strides),
            ("base_dilation", base_dilation),
            ("window_dilation", window_dilation),
        )
    )
    sizes, reach = (
        tuple(map(dilated, lengths, steps))
        for lengths, steps in ((operand.shape, base), (window, dilation))
    )
    pads = padding_of(name, padding, sizes, reach, strides)
    x = spread(operand, first, pads, base)
    combined = _windows(name, x, computation, window, strides, dilation)
    if _is_neutral(computation, first):
        return combined
    combine = _pairwise(computation, tree.structure(0.0))
    return combine([fnp.broadcast_to(first, combined.shape)], [combined])[0]


def _is_neutral(computation: Callable[..., Any], first: Any) -> bool:
    """Whether combining with `first` changes nothing."""
    value = known(first)
    neutral = {add: 0.0, multiply: 1.0, maximum: -math.inf, minimum: math.inf}
    return value is not None and computation in neutral and bool(value == neutral[computation])


def _windows(name: str, x: Any, computation: Any, *how: Ints) -> Any:
    """The elements of each window combined; `how`: the window, its strides and its dilation."""
    window, strides, dilation = how
    none = ((0, 0),) * len(window)
    if window and max(dilation) == 1 and all(map(operator.le, window, x.shape)):
        if computation is add and x.dtype.kind in "fc":
            return sum_windows(x, window=window, strides=strides, padding=none)
        if computation in (maximum, minimum) and x.dtype.kind == "f":
            sign = 1 if computation is maximum else -1
            return sign * max_pool(sign * x, window=window, strides=strides, padding=none)
    reach = [(k - 1) * d for k, d in zip(window, dilation, strict=True)]
    if any(map(operator.le, x.shape, reach)):
        each = zip(x.shape, reach, strides, strict=True)
        return fnp.zeros([max(0, (n - r - 1) // s + 1) for n, r, s in each], x.dtype)
    combine = _pairwise(computation, tree.structure(0.0))
    return functools.reduce(lambda xs, ys: combine(xs, ys), [[t] for t in taps(name, x, *how)])[0]
