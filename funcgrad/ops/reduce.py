"""Reductions along the axes `axis`, a sorted tuple: means, products, extremes, norms, counts.

`sum` is in `structural.py`, beside its adjoint; `logsumexp` is in `softmax.py`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import constant, general, linear, zeros_like
from ..choose import choose_in
from ..core import Aval, aval_of
from ..half import in_single
from ..quiet import QUIET, reset_state, set_state
from ..short import reduced_in, summed
from .index_layout import on_host
from .join import concatenate, split
from .logic import equal, logical_or
from .select import where
from .structural import batch_axis_first, broadcast_to, kept, without

Axes = tuple[int, ...]


def _length(shape: tuple[int, ...], axis: Axes) -> int:
    """How many elements are reduced to one."""
    return math.prod(shape[a] for a in axis)


def _back(y: Any, x: Any, axis: Axes) -> Any:
    """A reduced `y` with 1s along `axis`, so that it broadcasts against `x`."""
    return y.reshape(kept(x.shape, axis))


def _conjugate(x: Any) -> Any:
    return x.conj() if x.dtype.kind == "c" else x


def _same_aval(x: Aval, *, axis: Axes) -> Aval:
    return Aval(without(x.shape, axis), x.dtype)


# ---------------------------------------------------------------- mean, var, std


def _mean_transpose(ct: Any, _x: Any, *, axis: Axes) -> Any:
    if ct.shape:
        ct = _back(ct, _x, axis)
    share = ct / (_length(_x.shape, axis) or 1)  # of nothing, nobody gets a share
    return broadcast_to(share, shape=_x.shape)


def _mean(xp: Any, x: Any, axis: Axes) -> Any:
    """NumPy's own takes four times as long; it sums half precision in single, so that is its job."""
    dtype = getattr(x, "dtype", None)
    if dtype is not None and dtype.kind in "fc" and dtype != np.float16 and x.size:
        return summed(x, axis) / _length(x.shape, axis)
    return xp.mean(x, axis=axis)


def _mean_aval(x: Aval, *, axis: Axes) -> Aval:
    return Aval(without(x.shape, axis), np.mean(np.ones(1, x.dtype)).dtype)


@linear(_mean_transpose, aval=_mean_aval, batch=batch_axis_first)
def mean(xp, x, /, *, axis):
    """``sum_i x_i / n`` along the axes `axis` (a tuple).

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; bool and integers give float64.
    Derivative: linear; its transpose spreads ``ct / n``.
    Raises: AxisError: an axis is out of range. Warns, as NumPy: the mean of nothing, which is NaN.
    Source: NumPy reference, ``numpy.mean``.

    >>> mean(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=(0,)).tolist()
    [2.0, 3.0]
    """
    return _mean(xp, x, axis)


def _covariation(t: Any, x: Any, axis: Axes, correction: float) -> Any:
    """``sum_i conj(x_i - mean(x)) t_i / (n - correction)``; the kind takes the real part."""
    deviation = x - _back(mean(x, axis=axis), x, axis)
    total = summed(t * _conjugate(deviation), axis)
    divisor = _length(x.shape, axis) - correction
    return total / (divisor if divisor > 0 else 0)  # 0 / 0 in arrays: NaN, as the variance


def _var_tangent(t: Any, _ans: Any, x: Any, *, axis: Axes, correction: float) -> Any:
    return 2 * _covariation(t, x, axis, correction)


def _moment_aval(x: Aval, *, axis: Axes, **_params: Any) -> Aval:
    return Aval(without(x.shape, axis), np.var(np.ones(1, x.dtype)).dtype)


@general(_var_tangent, aval=_moment_aval, batch=batch_axis_first)
@in_single
def var(xp, x, /, *, axis, correction):
    """``sum_i |x_i - mean(x)|^2 / (n - correction)`` along the axes `axis` (a tuple).

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; complex give reals, integers float64.
    Derivative: ``2 Re(conj(x_i - mean(x)) dx_i) / (n - correction)``; smooth everywhere.
    Raises: AxisError: an axis is out of range. Warns, as NumPy: ``n <= correction``, which is NaN.
    Source: NumPy reference, ``numpy.var``.

    >>> var(np.array([1.0, 3.0]), axis=(0,), correction=1).tolist()
    2.0
    """
    return xp.var(x, axis=axis, ddof=correction)


def _std_tangent(t: Any, ans: Any, x: Any, *, axis: Axes, correction: float) -> Any:
    # An infinite divisor makes every order of derivative 0 where the deviation is.
    return _covariation(t, x, axis, correction) / where(equal(ans, 0), math.inf, ans)


@general(_std_tangent, aval=_moment_aval, batch=batch_axis_first)
@in_single
def std(xp, x, /, *, axis, correction):
    """``sqrt(sum_i |x_i - mean(x)|^2 / (n - correction))`` along `axis` (a tuple), without overflow.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; complex give reals, integers float64.
    Derivative: ``Re(conj(x_i - mean(x)) dx_i) / ((n - correction) y)``; 0 where y is 0.
    Raises: AxisError: an axis is out of range. Warns, as NumPy: ``n <= correction``, which is NaN.
    Source: NumPy reference, ``numpy.std``.

    >>> std(np.array([1.0, 3.0]), axis=(0,), correction=0).tolist()
    1.0
    """
    if not on_host(xp):
        return xp.std(x, axis=axis, ddof=correction)
    token = set_state(QUIET)
    try:
        y = xp.std(x, axis=axis, ddof=correction)
        fits = ~((y * y <= _ranges(y.dtype)[1]) | (y == math.inf))
    finally:
        reset_state(token)
    freedom = _length(x.shape, axis) - correction
    if (fits.all() if fits.ndim else fits) or freedom <= 0:  # in most cases
        return y
    deviation = x - xp.mean(x, axis=axis, keepdims=True)
    root = y.dtype.type(math.sqrt(freedom))
    return xp.where(fits, y, norm2.impl(xp, deviation, axis=axis) / root)[()]


# ---------------------------------------------------------------- prod


def _product_of_others(x: Any, axis: int) -> Any:
    """For every element the product of the others along the axis.

    The others of an element are its partner in the other half and the others of their product.
    """
    n = x.shape[axis]
    if n < 2:
        return zeros_like(x) + 1.0
    half = n // 2
    first, second, last = split(x, at=(half, 2 * half), axis=axis)
    if n == 2:
        return concatenate(second, first, axis=axis)
    pairs = concatenate(first * second, last, axis=axis) if n % 2 else first * second
    outer, last = split(_product_of_others(pairs, axis), at=(half,), axis=axis)
    return concatenate(outer * second, outer * first, last, axis=axis)


def _prod_tangent(t: Any, _ans: Any, x: Any, *, axis: Axes) -> Any:
    """Axis by axis: every element's tangent times the product of the others."""
    if not axis:
        return t
    *rest, last = sorted(axis)  # from the last one, so that the others keep their numbers
    t = summed(t * _product_of_others(x, last), last)
    return _prod_tangent(t, None, prod(x, axis=(last,)), axis=tuple(rest)) if rest else t


def _prod_aval(x: Aval, *, axis: Axes) -> Aval:
    return Aval(without(x.shape, axis), np.prod(np.ones(1, x.dtype)).dtype)


@general(_prod_tangent, aval=_prod_aval, batch=batch_axis_first)
@in_single
def prod(xp, x, /, *, axis):
    """``prod_i x_i`` along the axes `axis` (a tuple).

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; bool and small integers widen.
    Derivative: ``sum_i (prod_(j != i) x_j) dx_i``, without a division; zeros are nothing special.
    Raises: AxisError: an axis is out of range.
    Source: NumPy reference, ``numpy.prod``.

    >>> prod(np.array([2.0, 3.0, 4.0]), axis=(0,)).tolist()
    24.0
    """
    return reduced_in(xp, "prod", x, axis)


# ---------------------------------------------------------------- max, min


def _extreme_tangent(t: Any, ans: Any, x: Any, *, axis: Axes) -> Any:
    """The mean of the tangents of the elements that are equal to the extreme; NaN without any."""
    hit = equal(x, _back(ans, x, axis))
    count = count_nonzero(hit, axis=axis).astype(t.dtype)
    nothing = equal(count, 0)
    taken = where(logical_or(hit, _back(nothing, x, axis)), t, 0.0)
    return summed(taken, axis) / where(nothing, math.nan, count)


@general(_extreme_tangent, aval=_same_aval, batch=batch_axis_first)
def max(xp, x, /, *, axis):
    """``max_i x_i`` along the axes `axis` (a tuple); NaN where one is.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: all.
    Derivative: that of the largest element; equal ones share evenly; NaN at NaN.
    Raises: ValueError: the maximum of nothing.
    Source: NumPy reference, ``numpy.max``.

    >>> max(np.array([1.0, 5.0, 3.0]), axis=(0,)).tolist()
    5.0
    """
    return reduced_in(xp, "max", x, axis)


@general(_extreme_tangent, aval=_same_aval, batch=batch_axis_first)
def min(xp, x, /, *, axis):
    """``min_i x_i`` along the axes `axis` (a tuple); NaN where one is.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: all.
    Derivative: that of the smallest element; equal ones share evenly; NaN at NaN.
    Raises: ValueError: the minimum of nothing.
    Source: NumPy reference, ``numpy.min``.

    >>> min(np.array([2.0, 1.0, 3.0]), axis=(0,)).tolist()
    1.0
    """
    return reduced_in(xp, "min", x, axis)


# ---------------------------------------------------------------- norm2


def _norm2_tangent(t: Any, ans: Any, x: Any, *, axis: Axes) -> Any:
    # An infinite divisor makes every order of derivative 0 at the zero vector. Dividing `x`, not
    # the sum, keeps the products in range where `x` is huge.
    size = where(equal(ans, 0), math.inf, ans)
    return summed(t * (_conjugate(x) / _back(size, x, axis)), axis)


@general(_norm2_tangent, aval=_moment_aval, batch=batch_axis_first)
@in_single
def norm2(xp, x, /, *, axis):
    """``sqrt(sum_i |x_i|^2)`` along the axes `axis` (a tuple), without overflow.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: numbers; complex give reals, integers float64.
    Derivative: ``sum_i Re(conj(x_i) dx_i) / y``; 0 at the zero vector.
    Raises: AxisError: an axis is out of range.
    Source: Blue, "A portable Fortran program to find the Euclidean norm", ACM TOMS 4 (1978).

    >>> norm2(np.array([3e200, 4e200]), axis=(0,)).tolist()
    5e+200
    """
    x = xp.asarray(x)
    if x.dtype.kind not in "fc":
        x = x.astype("float64")
    parts = (x.real, x.imag) if x.dtype.kind == "c" else (x,)
    if on_host(xp):
        token = set_state(QUIET)
        try:
            total = _sum_of_squares(parts, axis)
        finally:
            reset_state(token)
        _, small, _, _ = _ranges(total.dtype)
        fits = (total > small) & (total < math.inf)
        if fits.all() if total.ndim else fits:  # in most cases
            return xp.sqrt(total)
    scale = _scale(xp, parts, axis)
    total = _sum_of_squares([p * scale for p in parts], axis)
    return xp.sqrt(total) / scale.reshape(total.shape)


@functools.cache
def _ranges(dtype: Any) -> tuple[Any, ...]:
    """What is too large and too small to be squared, and the factors for these, powers of 2."""
    e = int(np.finfo(dtype).maxexp)
    exponents = (0.4 * e, -0.47 * e, -0.6 * e, 0.78 * e)
    return tuple(np.ldexp(dtype.type(1), int(each)) for each in exponents)


def _scale(xp: Any, parts: Sequence[Any], axis: Axes) -> Any:
    """The factor for what is along `axis`, by its largest element; a product with it is exact."""
    big, small, down, up = _ranges(parts[0].dtype)
    if not parts[0].size:
        return xp.ones(kept(parts[0].shape, axis), dtype=parts[0].dtype)
    sizes = [xp.abs(p).max(axis=axis, keepdims=True) for p in parts]
    largest = functools.reduce(xp.maximum, sizes)
    return choose_in(
        xp, xp.greater(largest, big), down, choose_in(xp, xp.less(largest, small), up, down / down)
    )


def _sum_of_squares(parts: Sequence[Any], axis: Axes) -> Any:
    return functools.reduce(operator.add, [summed(p * p, axis) for p in parts])


# ---------------------------------------------------------------- constants


def _truth_aval(x: Aval, *, axis: Axes) -> Aval:
    return Aval(without(x.shape, axis), np.dtype(bool))


@constant(aval=_truth_aval, batch=batch_axis_first)
def all(xp, x, /, *, axis):
    """Whether every element along the axes `axis` (a tuple) is not 0.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; gives bool.
    Derivative: zero.
    Raises: AxisError: an axis is out of range.
    Source: NumPy reference, ``numpy.all``.

    >>> all(np.array([[True, False], [True, True]]), axis=(0,)).tolist()
    [True, False]
    """
    return xp.all(x, axis=axis)


@constant(aval=_truth_aval, batch=batch_axis_first)
def any(xp, x, /, *, axis):
    """Whether some element along the axes `axis` (a tuple) is not 0.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; gives bool.
    Derivative: zero.
    Raises: AxisError: an axis is out of range.
    Source: NumPy reference, ``numpy.any``.

    >>> any(np.array([[True, False], [True, False]]), axis=(0,)).tolist()
    [True, False]
    """
    return xp.any(x, axis=axis)


@constant(
    aval=lambda x, *, axis: Aval(without(x.shape, axis), np.dtype(np.intp)),
    batch=batch_axis_first,
)
def count_nonzero(xp, x, /, *, axis):
    """How many elements along the axes `axis` (a tuple) are not 0.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``.   Dtypes: all; gives intp.
    Derivative: zero.
    Raises: AxisError: an axis is out of range.
    Source: NumPy reference, ``numpy.count_nonzero``.

    >>> count_nonzero(np.array([[1.0, 0.0], [2.0, 0.0]]), axis=(0,)).tolist()
    [2, 0]
    """
    if len(axis) == aval_of(x).ndim:
        return xp.asarray(xp.count_nonzero(x))  # much faster than along all axes
    if x.dtype == bool:
        return reduced_in(xp, "sum", x, axis)
    return xp.count_nonzero(x, axis=axis)


def _place_aval(x: Aval, *, axis: int) -> Aval:
    return Aval(without(x.shape, (axis,)), np.dtype(np.intp))


@constant(aval=_place_aval, batch=batch_axis_first)
def argmax(xp, x, /, *, axis):
    """The first place of the largest element along `axis` (one int).

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: all; gives intp.
    Derivative: zero.
    Raises: ValueError: the maximum of nothing.
    Source: NumPy reference, ``numpy.argmax``.

    >>> argmax(np.array([[1.0, 4.0], [3.0, 2.0]]), axis=0).tolist()
    [1, 0]
    """
    return xp.argmax(x, axis=axis)


@constant(aval=_place_aval, batch=batch_axis_first)
def argmin(xp, x, /, *, axis):
    """The first place of the smallest element along `axis` (one int).

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: all; gives intp.
    Derivative: zero.
    Raises: ValueError: the minimum of nothing.
    Source: NumPy reference, ``numpy.argmin``.

    >>> argmin(np.array([[1.0, 4.0], [3.0, 2.0]]), axis=0).tolist()
    [0, 1]
    """
    return xp.argmin(x, axis=axis)
