"""Running sums, products, maxima along an axis, from either end.

The derivatives of the products are linear recurrences (`recurrence`): there is no division, so zeros
are nothing special, in any order of derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import (
    _OneRule,
    conform,
    conform_tangent,
    constant,
    general,
    linear,
    zeros_like,
)
from ..core import Aval
from ..half import in_single
from ..short import accumulated
from .index import Slice, embed, getitem, take_along_axis
from .join import along, concatenate
from .softmax import as_floating, at_least_half, exp_below, floating_dtype
from .structural import batch_all_first, batch_axis_first

# ---------------------------------------------------------------- parts along an axis


def part(x: Any, axis: int, start: int, stop: int | None = None, step: int = 1) -> Any:
    """``x[start:stop:step]`` along the axis, for `start` and `stop` that are not negative."""
    bounds = slice(start, stop, step).indices(x.shape[axis])
    return getitem(x, index=along(x.ndim, axis, Slice(*bounds)))


# ---------------------------------------------------------------- recurrences


class Recurrence(_OneRule):
    """``s_(i+1) = a_i s_i + b_(i+1)``: linear in `b`, and in `a` for a given s.

    ``ds`` solves the recurrence that is driven by ``db_(i+1) + da_i s_i``. Its transpose runs from
    the other end: with y its solution for ``ct``, the cotangents are ``y_(i+1) s_i`` and y.
    """

    def reads(self, i: int, count: int) -> tuple[bool, tuple[bool, ...]]:
        return i == 0, (True, False)

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        ta, drive = ts
        if ta is not None:
            before, after = _neighbours(ans.shape, **params)
            moved = embed(ta * getitem(ans, index=before), shape=ans.shape, index=after)
            drive = moved if drive is None else drive + moved
        return conform_tangent(self(xs[0], drive, **params), ans)

    def cotangents(self, ct, ans, xs, wanted, params):
        a, b = xs
        y = self(a, ct, axis=params["axis"], reverse=not params["reverse"])
        in_a = None
        if wanted[0]:
            before, after = _neighbours(b.shape, **params)
            in_a = conform(getitem(y, index=after) * getitem(ans, index=before), a)
        return [in_a, conform(y, b) if wanted[1] else None]

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        a, b = batch_all_first(size, xs, bdims)
        return self(a, b, axis=params["axis"] + 1, reverse=params["reverse"]), 0


def _neighbours(shape: tuple[int, ...], *, axis: int, reverse: bool) -> tuple[Any, Any]:
    """The indices of the elements that have a next one, and of those next ones."""
    n = shape[axis]
    first, last = (along(len(shape), axis, Slice(k, max(n - 1, 0) + k, 1)) for k in (0, 1))
    return (last, first) if reverse else (first, last)


def _solve(a: Any, b: Any) -> Any:
    """The recurrence along the first axis, written into `b`.

    Two steps at once are one step of the same form, so every second element is a recurrence of half
    the length, and the others are one step from their neighbours: O(n) operations on whole arrays.
    """
    n = len(b)
    if n > 1:
        to_odd, to_even = a[0::2], a[1::2]
        drive = to_odd * b[0 : n - 1 : 2]
        drive += b[1::2]
        odd = _solve(to_odd[1:] * to_even[: n // 2 - 1], drive)
        b[1::2] = odd
        b[2::2] += to_even * odd[: (n - 1) // 2]
    return b


def _recurrence_aval(a: Aval, b: Aval, *, axis: int, reverse: bool) -> Aval:
    return Aval(b.shape, np.result_type(a.dtype, b.dtype))


@lambda impl: Recurrence(impl, (), aval=_recurrence_aval)
def recurrence(xp, a, b, /, *, axis, reverse):
    """``s_0 = b_0, s_(i+1) = a_i s_i + b_(i+1)`` along the axis.

    If `reverse`, from the other end: ``s_i = a_i s_(i+1) + b_i``.

    Shapes: ``a: (*c, n - 1, *d), b: (*c, n, *d) -> (*c, n, *d)``.   Dtypes: floating, complex.
    Derivative: ``ds_(i+1) = a_i ds_i + s_i da_i + db_(i+1)``; smooth everywhere.
    Raises: ValueError: the shapes do not fit.
    Source: Blelloch, "Prefix sums and their applications", CMU-CS-90-190 (1990), section 1.4.

    >>> a, b = np.array([2.0, 3.0]), np.array([1.0, 1.0, 1.0])
    >>> recurrence(a, b, axis=0, reverse=False).tolist()
    [1.0, 3.0, 10.0]
    """
    s = xp.array(b, dtype=xp.result_type(a, b))
    places = slice(None, None, -1 if reverse else 1)
    _solve(xp.moveaxis(a, axis, 0)[places], xp.moveaxis(s, axis, 0)[places])
    return s


# ---------------------------------------------------------------- implementations


def _run(xp: Any, ufunc: Any, x: Any, axis: int) -> Any:
    """``ufunc.accumulate``, which CuPy has for sums and products only."""
    if xp is np:
        found = accumulated(ufunc, x, axis)
        return ufunc.accumulate(x, axis=axis) if found is None else found
    y = x.copy()
    reach = 1
    while reach < x.shape[axis]:  # y[i] is the result of the last `reach` elements up to i
        later = (slice(None),) * axis + (slice(reach, None),)
        earlier = (slice(None),) * axis + (slice(None, -reach),)
        y[later] = ufunc(y[later], y[earlier])
        reach *= 2
    return y


_STEPS = {"cumsum": np.add, "cumprod": np.multiply}


def _running(xp: Any, name: str, x: Any, axis: int) -> Any:
    """``xp.cumsum`` or ``xp.cumprod``, what `name` says."""
    found = accumulated(_STEPS[name], x, axis)
    return getattr(xp, name)(x, axis=axis) if found is None else found


def _either_way(xp: Any, f: Callable[[Any], Any], x: Any, axis: int, reverse: bool) -> Any:
    """``f(x)``, or from the other end."""
    if not reverse:
        return f(x)
    # What `flip` does, which takes NumPy 3 us for it.
    backwards = (*(slice(None),) * (axis % x.ndim), slice(None, None, -1))
    return f(x[backwards])[backwards]


# ---------------------------------------------------------------- cumsum, cumprod


def _cumsum_aval(x: Aval, *, axis: int, reverse: bool) -> Aval:
    return Aval(x.shape, np.cumsum(np.ones(1, x.dtype)).dtype)


@linear(
    lambda ct, _x, *, axis, reverse: cumsum(ct, axis=axis, reverse=not reverse),
    aval=_cumsum_aval,
    batch=batch_axis_first,
)
@in_single
def cumsum(xp, x, /, *, axis, reverse):
    """``y_i = sum_(j <= i) x_j`` along the axis; ``sum_(j >= i) x_j`` if `reverse`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all; bool and small integers widen as in NumPy.
    Derivative: linear; its transpose is the sum from the other end.
    Raises: AxisError: the axis is out of range.
    Source: NumPy reference, ``numpy.cumsum``.

    >>> cumsum(np.array([1.0, 2.0, 3.0]), axis=0, reverse=True).tolist()
    [6.0, 5.0, 3.0]
    """
    return _either_way(xp, lambda x: _running(xp, "cumsum", x, axis), x, axis, reverse)


def products_before(x: Any, axis: int, *, reverse: bool) -> Any:
    """For every element the product of those before it along the axis; after it if `reverse`."""
    n = x.shape[axis]
    if n == 0:
        return x
    one = zeros_like(part(x, axis, 0, 1)) + 1.0
    if reverse:
        products = cumprod(part(x, axis, 1), axis=axis, reverse=True)
        return concatenate(products, one, axis=axis)
    return concatenate(one, cumprod(part(x, axis, 0, n - 1), axis=axis, reverse=False), axis=axis)


def _cumprod_tangent(t: Any, _ans: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    _, after = _neighbours(x.shape, axis=axis, reverse=reverse)
    drive = t * products_before(x, axis, reverse=reverse)
    return recurrence(getitem(x, index=after), drive, axis=axis, reverse=reverse)


def _cumprod_aval(x: Aval, *, axis: int, reverse: bool) -> Aval:
    return Aval(x.shape, np.cumprod(np.ones(1, x.dtype)).dtype)


@general(_cumprod_tangent, aval=_cumprod_aval, batch=batch_axis_first)
@in_single
def cumprod(xp, x, /, *, axis, reverse):
    """``y_i = prod_(j <= i) x_j`` along the axis; ``prod_(j >= i) x_j`` if `reverse`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all; bool and small integers widen as in NumPy.
    Derivative: ``dy_i = x_i dy_(i-1) + y_(i-1) dx_i``; smooth everywhere, zeros included.
    Raises: AxisError: the axis is out of range.
    Source: NumPy reference, ``numpy.cumprod``.

    >>> cumprod(np.array([2.0, 0.0, 3.0]), axis=0, reverse=False).tolist()
    [2.0, 0.0, 0.0]
    """
    return _either_way(xp, lambda x: _running(xp, "cumprod", x, axis), x, axis, reverse)


# ---------------------------------------------------------------- cummax, cummin


def _place_of_last_change(xp: Any, x: Any, axis: int) -> Any:
    """See `last_change`, from the start."""
    n = x.shape[axis]
    before, after = (
        x[(slice(None),) * axis + (bounds,)] for bounds in (slice(0, n - 1), slice(1, n))
    )
    # NaN differs from itself, but only its first appearance is a change.
    changed = xp.not_equal(before, after) & xp.equal(before, before)
    places = xp.arange(1, n).reshape((-1,) + (1,) * (x.ndim - axis - 1))
    found = xp.zeros(x.shape, dtype=places.dtype)
    found[(slice(None),) * axis + (slice(1, n),)] = xp.where(changed, places, 0)
    return _run(xp, xp.maximum, found, axis)


@constant(
    aval=lambda x, *, axis, reverse: Aval(x.shape, np.dtype(np.intp)),
    batch=batch_axis_first,
)
def last_change(xp, x, /, *, axis, reverse):
    """``y_i = max {j <= i : j = 0 or x_j != x_(j-1)}`` along the axis; from the end if `reverse`.

    Of a running maximum, the place of the element that it shows: the earliest of equal ones.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all; gives places.
    Derivative: zero.
    Raises: AxisError: the axis is out of range.
    Source: the run-length view of a step function.

    >>> last_change(np.array([1.0, 1.0, 4.0, 4.0, 5.0]), axis=0, reverse=False).tolist()
    [0, 0, 2, 2, 4]
    """
    x = xp.asarray(x)
    found = _either_way(xp, lambda x: _place_of_last_change(xp, x, axis), x, axis, reverse)
    return x.shape[axis] - 1 - found if reverse else found


def _extreme_tangent(t: Any, ans: Any, _x: Any, *, axis: int, reverse: bool) -> Any:
    places = last_change(ans, axis=axis, reverse=reverse)
    return take_along_axis(t, places, axis=axis, bounds="known")


def _same_aval(x: Aval, *, axis: int, reverse: bool) -> Aval:
    return Aval(x.shape, x.dtype)


@general(_extreme_tangent, aval=_same_aval, batch=batch_axis_first)
def cummax(xp, x, /, *, axis, reverse):
    """``y_i = max_(j <= i) x_j`` along the axis; ``max_(j >= i) x_j`` if `reverse`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: that of the largest element so far; of equal ones, the one met first.
    Raises: AxisError: the axis is out of range.
    Source: NumPy reference, ``numpy.maximum.accumulate``.

    >>> cummax(np.array([1.0, 3.0, 2.0]), axis=0, reverse=False).tolist()
    [1.0, 3.0, 3.0]
    """
    return _either_way(xp, lambda x: _run(xp, xp.maximum, x, axis), x, axis, reverse)


@general(_extreme_tangent, aval=_same_aval, batch=batch_axis_first)
def cummin(xp, x, /, *, axis, reverse):
    """``y_i = min_(j <= i) x_j`` along the axis; ``min_(j >= i) x_j`` if `reverse`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: that of the smallest element so far; of equal ones, the one met first.
    Raises: AxisError: the axis is out of range.
    Source: NumPy reference, ``numpy.minimum.accumulate``.

    >>> cummin(np.array([3.0, 1.0, 2.0]), axis=0, reverse=False).tolist()
    [3.0, 1.0, 1.0]
    """
    return _either_way(xp, lambda x: _run(xp, xp.minimum, x, axis), x, axis, reverse)


# ---------------------------------------------------------------- logcumsumexp


def _logcumsumexp_tangent(t: Any, ans: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    before, after = _neighbours(x.shape, axis=axis, reverse=reverse)
    old = exp_below(getitem(ans, index=before), getitem(ans, index=after))
    new = exp_below(x, ans)
    total = at_least_half(new + embed(old, shape=x.shape, index=after))
    decay = old / getitem(total, index=after)
    return recurrence(decay, t * (new / total), axis=axis, reverse=reverse)


def _logcumsumexp_aval(x: Aval, *, axis: int, reverse: bool) -> Aval:
    return Aval(x.shape, floating_dtype("logcumsumexp", x.dtype))


@general(_logcumsumexp_tangent, aval=_logcumsumexp_aval, batch=batch_axis_first)
@in_single
def logcumsumexp(xp, x, /, *, axis, reverse):
    """``y_i = log(sum_(j <= i) exp(x_j))`` along the axis; over ``j >= i`` if `reverse`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: ``dy_i = exp(y_(i-1) - y_i) dy_(i-1) + exp(x_i - y_i) dx_i``; 0 while everything is
    -inf.
    Raises: ArgumentError: complex numbers.
    Source: PyTorch reference, ``torch.logcumsumexp``.

    >>> logcumsumexp(np.array([-np.inf, 1000.0, 1000.0]), axis=0, reverse=False).tolist()
    [-inf, 1000.0, 1000.693147]
    """
    x = as_floating(xp, "logcumsumexp", x)
    return _either_way(xp, lambda x: _run(xp, xp.logaddexp, x, axis), x, axis, reverse)
