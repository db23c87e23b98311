"""Along an axis: running sums, differences, gradients, integrals, interpolation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..indexing import known
from ..ops import cumulative as _cumulative
from ..ops import select as _select
from ..ops.cumulative import part
from ..ops.index import take
from ..ops.join import concatenate
from ..ops.logic import equal, greater, isnan, less, logical_and, logical_or, not_equal
from ..ops.sort import argsort, searchsorted
from ..ops.structural import broadcast_to, reshape
from ._arguments import (
    array_of,
    arrays_of,
    axis_of,
    beside,
    converted,
    module_of,
    operand,
    reduced_axes,
    written,
)
from .shaping import ravel

# ---------------------------------------------------------------- running sums and products


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """``y_i = sum_(j <= i) a_j`` along an axis; of the flattened array if it is None.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: all; bool and small integers widen.
    Derivative: linear; the cotangent is summed from the other end.
    Raises: ShapeError: the axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.cumsum``.

    >>> cumsum([1.0, 2.0, 3.0]).tolist()
    [1.0, 3.0, 6.0]
    """
    return _running("cumsum", _cumulative.cumsum, a, axis, dtype, out)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """``y_i = prod_(j <= i) a_j`` along an axis; of the flattened array if it is None.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: all; bool and small integers widen.
    Derivative: the product of the others, without a division: zeros are nothing special.
    Raises: ShapeError: the axis does not exist. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.cumprod``.

    >>> cumprod([1.0, 2.0, 3.0]).tolist()
    [1.0, 2.0, 6.0]
    """
    return _running("cumprod", _cumulative.cumprod, a, axis, dtype, out)


def _running(name: str, f: Any, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    if out is not None:
        return written(f"fnp.{name} with out=", _running(name, f, a, axis, dtype, None), out)
    a = converted(array_of(a), dtype)
    if axis is None or not reduced_axes(name, axis, a.ndim):
        a, axis = ravel(a), 0
    return converted(f(a, axis=axis_of(name, axis, a.ndim), reverse=False), dtype)


def cumulative_sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    """`cumsum`, with a 0 in front if `include_initial`; a vector needs no axis.

    Shapes: ``x: (*a, n, *b) -> (*a, n, *b)``, or n + 1.   Dtypes: all; small integers widen.
    Derivative: linear; the cotangent is summed from the other end.
    Raises: ShapeError: the axis does not exist, or is missing. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.cumulative_sum``.

    >>> cumulative_sum([1.0, 2.0], include_initial=True).tolist()
    [0.0, 1.0, 3.0]
    """
    return _from_initial(
        "cumulative_sum", cumsum, x, axis, dtype, out, 0.0 if include_initial else None
    )


def cumulative_prod(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    """`cumprod`, with a 1 in front if `include_initial`; a vector needs no axis.

    Shapes: ``x: (*a, n, *b) -> (*a, n, *b)``, or n + 1.   Dtypes: all; small integers widen.
    Derivative: the product of the others, without a division: zeros are nothing special.
    Raises: ShapeError: the axis does not exist, or is missing. ArgumentError: `out` does not fit.
    Source: NumPy reference, ``numpy.cumulative_prod``.

    >>> cumulative_prod([2.0, 3.0], include_initial=True).tolist()
    [1.0, 2.0, 6.0]
    """
    return _from_initial(
        "cumulative_prod", cumprod, x, axis, dtype, out, 1.0 if include_initial else None
    )


def _from_initial(
    name: str, f: Callable[..., Any], x: Any, axis: Any, dtype: Any, out: Any, initial: float | None
) -> Any:
    if out is not None:
        return written(
            f"fnp.{name} with out=", _from_initial(name, f, x, axis, dtype, None, initial), out
        )
    x = array_of(x)
    if axis is None:
        if x.ndim != 1:
            raise ShapeError(f"fnp.{name}: an array of {x.ndim} axes needs axis={where()}")
        axis = 0
    axis = axis_of(name, axis, x.ndim)
    y = f(x, axis, dtype)
    if initial is None:
        return y
    return concatenate(_filled(y, axis, 1, initial), y, axis=axis)


def _filled(x: Any, axis: int, length: int, value: Any) -> Any:
    """`value` in the shape of `x` with another length along the axis, in its dtype."""
    shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    return broadcast_to(converted(beside(x, value), x.dtype), shape=shape)


# ---------------------------------------------------------------- differences


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """``y_i = a_(i + 1) - a_i`` along an axis, `n` times; of booleans whether they differ.

    Shapes: ``a: (*a, m, *b) -> (*a, m - n, *b)``.   Dtypes: numbers, bool.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: the axis does not exist. ArgumentError: `n` is negative.
    Source: NumPy reference, ``numpy.diff``.

    >>> diff([1.0, 3.0, 6.0]).tolist()
    [2.0, 3.0]
    """
    a = array_of(a)
    if n < 0:
        raise ArgumentError(f"fnp.diff: n={n}; need 0 or more{where()}")
    if n == 0:
        return a
    axis = axis_of("diff", axis, a.ndim)
    xp = module_of(a)
    ends = [None if x is None else array_of(x, xp) for x in (prepend, append)]
    parts = [x if x is None or x.ndim else _widened(a, axis, x) for x in ends]
    parts.insert(1, a)
    given = [x for x in parts if x is not None]
    a = given[0] if len(given) == 1 else concatenate(*given, axis=axis)
    for _ in range(n):
        later, earlier = part(a, axis, 1), part(a, axis, 0, max(a.shape[axis] - 1, 0))
        a = not_equal(later, earlier) if a.dtype.kind == "b" else later - earlier
    return a


def _widened(a: Any, axis: int, x: Any) -> Any:
    return broadcast_to(x, shape=(*a.shape[:axis], 1, *a.shape[axis + 1 :]))


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences of neighbours in the flattened array, between `to_begin` and `to_end`.

    Shapes: ``(*a) -> (prod(a) - 1 + ...,)``.   Dtypes: that of `ary`.
    Derivative: linear; smooth everywhere.
    Raises: ArgumentError: an argument is no array.
    Source: NumPy reference, ``numpy.ediff1d``.

    >>> ediff1d([1.0, 3.0, 6.0], to_begin=0.0).tolist()
    [0.0, 2.0, 3.0]
    """
    y = diff(ravel(ary))
    before, after = (
        None if x is None else converted(ravel(array_of(x, module_of(y))), y.dtype)
        for x in (to_begin, to_end)
    )
    parts = [x for x in (before, y, after) if x is not None]
    return y if len(parts) == 1 else concatenate(*parts, axis=0)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Central differences along axes, one-sided at the ends: a derivative from samples.

    `varargs` is one spacing for all axes or one per axis; a vector gives the coordinates.

    Shapes: ``f: (*a) -> (*a)``, a tuple of them for several axes.   Dtypes: floating, complex;
    integers give float64.
    Derivative: linear in `f`, and differentiable by the spacings.
    Raises: ShapeError: an axis does not exist or is too short, or the spacings do not fit.
    Source: NumPy reference, ``numpy.gradient``.

    >>> gradient([1.0, 2.0, 4.0]).tolist()
    [1.0, 1.5, 2.0]
    """
    f = array_of(f)
    if f.dtype.kind in "biu":
        f = converted(f, float)
    if edge_order not in (1, 2):
        raise ArgumentError(f"fnp.gradient: edge_order={edge_order}; need 1 or 2{where()}")
    given = axis if isinstance(axis, tuple | list) else range(f.ndim) if axis is None else (axis,)
    axes = [axis_of("gradient", i, f.ndim) for i in given]
    spacings: list[Any] = [operand(h, module_of(f)) for h in varargs] or [1.0]
    if len(spacings) == 1 and aval_of(spacings[0]).ndim == 0:
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise ShapeError(
            f"fnp.gradient: {len(varargs)} spacings for {len(axes)} axes; need one, or one per "
            f"axis{where()}"
        )
    out = []
    for i, h in zip(axes, spacings, strict=True):
        if f.shape[i] <= edge_order:
            raise ShapeError(
                f"fnp.gradient: axis {i} has {f.shape[i]} elements; need {edge_order + 1} or "
                f"more{where()}"
            )
        out.append(converted(_gradient(f, i, _steps(f, i, h), edge_order), f.dtype))
    return out[0] if len(out) == 1 else tuple(out)


def _steps(f: Any, axis: int, h: Any) -> Any:
    """The distances of neighbours along an axis, in a shape that broadcasts, or one number."""
    if aval_of(h).ndim == 0:
        return h
    if h.shape != (f.shape[axis],):
        raise ShapeError(
            f"fnp.gradient: coordinates of shape {list(h.shape)} for an axis of {f.shape[axis]} "
            f"elements{where()}"
        )
    steps = diff(converted(h, float) if h.dtype.kind in "biu" else h)
    return reshape(steps, shape=(-1 + f.shape[axis],) + (1,) * (f.ndim - axis - 1))


def _gradient(f: Any, axis: int, h: Any, edge_order: int) -> Any:
    n = f.shape[axis]
    slopes = diff(f, axis=axis) / h  # of the intervals; at a point they are weighted crosswise
    if aval_of(h).ndim == 0:
        left = right = h
    else:
        place = h.ndim - (f.ndim - axis)
        left, right = part(h, place, 0, n - 2), part(h, place, 1)
    if aval_of(h).ndim == 0:  # the sample between is not read: it may be infinite
        middle = (part(f, axis, 2) - part(f, axis, 0, n - 2)) / (left + right)
    else:
        before, after = part(slopes, axis, 0, n - 2), part(slopes, axis, 1)
        middle = (before * right + after * left) / (left + right)
    first, last = part(slopes, axis, 0, 1), part(slopes, axis, n - 2)
    if edge_order == 2:  # the parabola through three points: linear in the slope
        if aval_of(h).ndim:
            left, right = part(left, place, 0, 1), part(right, place, n - 3)
            total_left, total_right = (
                left + part(h, place, 1, 2),
                right + part(h, place, n - 3, n - 2),
            )
        else:
            total_left = total_right = left + right
        first = first - (part(slopes, axis, 1, 2) - first) * left / total_left
        last = last + (last - part(slopes, axis, n - 3, n - 2)) * right / total_right
    return concatenate(first, middle, last, axis=axis)


# ---------------------------------------------------------------- integrals and functions of a grid


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """``sum_i (x_(i + 1) - x_i) (y_i + y_(i + 1)) / 2`` along an axis; `dx` apart without `x`.

    Shapes: ``y: (*a, n, *b) -> (*a, *b)``; `x` has the shape of `y` or is a vector.
    Dtypes: numbers; integers give float64.
    Derivative: bilinear in `y` and the distances; smooth everywhere.
    Raises: ShapeError: the axis does not exist, or the shapes do not broadcast.
    Source: NumPy reference, ``numpy.trapezoid``.

    >>> float(trapezoid([1.0, 2.0, 3.0]))
    4.0
    """
    y = array_of(y)
    axis = axis_of("trapezoid", axis, y.ndim)
    if x is None:
        d = operand(dx)
    else:
        x = array_of(x, module_of(y))
        d = diff(x) if x.ndim == 1 else diff(x, axis=axis)
        if x.ndim == 1:
            d = reshape(d, shape=(*d.shape, *(1,) * (y.ndim - axis - 1)))
    n = y.shape[axis]
    middle = (part(y, axis, 1) + part(y, axis, 0, max(n - 1, 0))) / 2.0
    return (d * middle).sum(axis=axis)


def unwrap(
    p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * math.pi
) -> Any:
    """Angles along an axis with multiples of the period added, so that no step is larger than half.

    Shapes: ``p: (*a) -> (*a)``.   Dtypes: real numbers; integers give float64 for this period.
    Derivative: 1; what is added is a constant.
    Raises: ShapeError: the axis does not exist.
    Source: NumPy reference, ``numpy.unwrap``.

    >>> unwrap([0.0, 2.0, 4.0], period=3.0).tolist()
    [0.0, -1.0, -2.0]
    """
    p = array_of(p)
    axis = axis_of("unwrap", axis, p.ndim)
    discont = period / 2 if discont is None else discont
    integral = p.dtype.kind in "iu" and isinstance(period, int)
    if integral:
        half, odd = divmod(period, 2)
    else:
        half, odd = period / 2, 0
        p = converted(p, float) if p.dtype.kind in "biu" else p
    step = diff(p, axis=axis)
    turned = (step + half) % period - half
    if not odd:  # a step of half a period keeps its sign
        turned = _select.where(logical_and(equal(turned, -half), greater(step, 0)), half, turned)
    more = _select.where(less(abs(step), discont), 0, turned - step)
    more = _select.stop_gradient(more)
    total = _cumulative.cumsum(more, axis=axis, reverse=False)
    return concatenate(part(p, axis, 0, 1), part(p, axis, 1) + total, axis=axis)


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> Any:
    """Linear interpolation between the points ``(xp, fp)``; `left` and `right` beyond the ends.

    "extrapolate" as `left` or `right` goes on along the outermost interval, as in JAX.

    Shapes: ``x: (*a), xp: (n,), fp: (n,) -> (*a)``.   Dtypes: real; `fp` may be complex.
    Derivative: by `x` the slope of the interval, at a point that of the interval after it, 0 beyond
    the ends (unless it goes on); by `xp` and `fp` as the line through the two neighbours moves.
    Raises: ShapeError: `xp` and `fp` are not two vectors of one length.
    Source: NumPy reference, ``numpy.interp``.

    >>> interp([0.5, 9.0], [0.0, 1.0], [10.0, 20.0]).tolist()
    [15.0, 20.0]
    """
    x, xp, fp = (converted(v, np.result_type(v.dtype, float)) for v in arrays_of(x, xp, fp))
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.shape[0]:
        raise ShapeError(
            f"fnp.interp: xp of shape {list(xp.shape)} and fp of shape {list(fp.shape)}; need two "
            f"vectors of one length, not empty{where()}"
        )
    if period is not None:
        x, xp, fp = _one_period(x, xp, fp, abs(period))
        left = right = None
    n = xp.shape[0]
    on_left, on_right = (isinstance(v, str) and v == "extrapolate" for v in (left, right))
    first, last = part(fp, 0, 0, 1), part(fp, 0, n - 1)
    below = reshape(first, shape=()) if left is None or on_left else operand(left)
    above = reshape(last, shape=()) if right is None or on_right else operand(right)
    if n == 1:
        y = broadcast_to(fp[0], shape=x.shape)
    else:
        # The points must not be differentiated through the choice of the interval.
        k = searchsorted(xp, x, side="right") - 1
        k = _select.minimum(_select.maximum(k, 0), n - 2)
        x0, x1, y0, y1 = (take(v, k + i, axis=0) for v in (xp, fp) for i in (0, 1))
        width = x1 - x0
        slope = (y1 - y0) / _select.where(equal(width, 0), 1.0, width)
        y = y0 + (x - x0) * slope
        if not (_all_finite(xp) and _all_finite(fp)):
            # An infinite neighbour makes 0 times infinity of what has a limit.
            at_left = logical_or(equal(x, x0), equal(y0, y1))
            y = _select.where(isnan(y), _select.where(at_left, y0, y1 + (x - x1) * slope), y)
            y = _select.where(equal(x, x1), _select.where(isnan(y), y1, y), y)
    if not on_left:
        y = _select.where(less(x, xp[0]), below, y)
    return y if on_right else _select.where(greater(x, xp[n - 1]), above, y)


def _all_finite(points: Any) -> bool:
    """Whether the points are known, and none is infinite."""
    value = known(points)
    return value is not None and bool(np.all(np.isfinite(value)))


def _one_period(x: Any, xp: Any, fp: Any, period: float) -> tuple[Any, Any, Any]:
    """Everything within one period, the points sorted and one more at either end."""
    x, xp = x % period, xp % period
    order = argsort(xp, axis=0)
    xp, fp = take(xp, order, axis=0), take(fp, order, axis=0)
    n = xp.shape[0]
    xp = concatenate(part(xp, 0, n - 1) - period, xp, part(xp, 0, 0, 1) + period, axis=0)
    return x, xp, concatenate(part(fp, 0, n - 1), fp, part(fp, 0, 0, 1), axis=0)
