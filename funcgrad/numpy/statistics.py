"""Medians, quantiles, weighted means, covariances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..indexing import known
from ..ops import reduce as _reduce
from ..ops import sort as _sort
from ..ops import structural as _structural
from ..ops.contract import matmul
from ..ops.cumulative import cumsum
from ..ops.index import take_along_axis
from ..ops.join import concatenate
from ..ops.logic import equal, isfinite, isnan, less, logical_or
from ..ops.select import clip, maximum, minimum
from ..ops.select import where as where_of
from ..ops.structural import broadcast_to, diagonal, reshape
from ._arguments import (
    array_of,
    axes_of,
    axis_of,
    beside,
    converted,
    module_of,
    operand,
    with_axes,
    written,
)
from .complex import imag, real
from .ordering import transpose

# ---------------------------------------------------------------- median, quantile, percentile


def median(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """The middle one of the sorted elements, of an even number the mean of the middle two.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, n > 0.   Dtypes: real numbers; integers give float64.
    Derivative: that of the elements taken: 1, or 1/2 each.
    Raises: ShapeError: an axis does not exist, or there is nothing along it.
    Source: NumPy reference, ``numpy.median``.

    >>> float(median([3.0, 1.0, 2.0]))
    2.0
    """
    if out is not None:
        return written(
            "fnp.median with out=", median(a, axis, None, overwrite_input, keepdims), out
        )
    a = array_of(a)
    axes = axes_of("median", axis, a.ndim)
    return _kept(_sort.median(a, axis=axes), (), a.shape, axes, keepdims)


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """The number that a share `q` of the elements is below, between two of the sorted elements.

    Shapes: ``a: (*a, n, *b), q: (*q) -> (*q, *a, *b)``, n > 0.
    Dtypes: real numbers; integers give float64, but with methods that take an element as it is.
    Derivative: that of the elements taken, and their difference by `q`; where `q` meets an element,
    as from above. Zero by `weights`, which are for the method "inverted_cdf".
    Raises: ShapeError: there is nothing along the axes, or `weights` have another shape.
    ArgumentError: a share outside of [0, 1], an unknown method, or weights with another one.
    Source: NumPy reference, ``numpy.quantile``.

    >>> float(quantile([1.0, 2.0, 3.0], 0.25))
    1.5
    """
    if out is not None:
        y = quantile(a, q, axis, None, overwrite_input, method, keepdims, weights=weights)
        return written("fnp.quantile with out=", y, out)
    return quantile_of("quantile", a, q, axis, method, keepdims, 1, weights)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Any:
    """`quantile` of a share given in percent.

    Shapes: ``a: (*a, n, *b), q: (*q) -> (*q, *a, *b)``, n > 0.
    Dtypes: real numbers; integers give float64.
    Derivative: that of the elements taken, and their difference by `q`.
    Raises: ShapeError: there is nothing along the axes. ArgumentError: as `quantile`.
    Source: NumPy reference, ``numpy.percentile``.

    >>> float(percentile([1.0, 2.0, 3.0], 25))
    1.5
    """
    if out is not None:
        y = percentile(a, q, axis, None, overwrite_input, method, keepdims, weights=weights)
        return written("fnp.percentile with out=", y, out)
    return quantile_of("percentile", a, q, axis, method, keepdims, 100, weights)


def quantile_of(
    name: str, a: Any, q: Any, axis: Any, method: str, keepdims: bool, whole: int, weights: Any
) -> Any:
    """The quantile for a share `q` of `whole`."""
    a = array_of(a)
    q = shares(name, q, a, whole, integers=method == "linear" and whole == 1)
    axes = axes_of(name, axis, a.ndim)
    if weights is None:
        y = _sort.quantile(a, q, axis=axes, method=method)
    else:
        y = weighted_quantile(name, a, q, axes, weights, method)
    return _kept(y, q.shape, a.shape, axes, keepdims)


def weighted_quantile(
    name: str, a: Any, q: Any, axes: tuple[int, ...], w: Any, method: str, skips_nan: bool = False
) -> Any:
    """The first of the sorted elements up to which the share `q` of all weight lies."""
    if method != "inverted_cdf":
        raise ArgumentError(
            f"fnp.{name}: weights need method='inverted_cdf', not {method!r}{where()}"
        )
    w = array_of(w)
    value = known(w)
    if value is not None and not bool((isfinite(value) & (value >= 0)).all()):
        raise ArgumentError(f"fnp.{name}: weights must be finite and not negative{where()}")
    if w.shape != a.shape and len(axes) == 1 and w.shape == (a.shape[axes[0]],):
        w = reshape(w, shape=tuple(n if i == axes[0] else 1 for i, n in enumerate(a.shape)))
        w = broadcast_to(w, shape=a.shape)
    if w.shape != a.shape:
        raise ShapeError(f"{name}: weights of shape {w.shape} for a of {a.shape}{where()}")
    if skips_nan:
        w = where_of(isnan(a), 0.0, w)
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    lead, n = tuple(a.shape[i] for i in rest), math.prod(a.shape[i] for i in axes)
    a, w = (reshape(transpose(x, (*rest, *axes)), shape=(*lead, n)) for x in (a, w))
    order = _sort.argsort(a, axis=len(lead))
    a, w = (take_along_axis(x, order, axis=len(lead), bounds="known") for x in (a, w))
    reached = cumsum(converted(w, np.float64), axis=len(lead), reverse=False)
    reached = reached / reached[..., -1:]
    if q.dtype.kind == "f":
        reached = converted(reached, q.dtype)  # so that 0.4 is what it is among the shares
    shares = reshape(q, shape=(q.size, *(1 for _ in lead), 1))
    short = logical_or(
        less(reached, shares), equal(reached, 0.0)
    )  # what has no weight is not taken
    place = minimum(_structural.sum(converted(short, np.intp), axis=(len(lead) + 1,)), n - 1)
    y = take_along_axis(a, transpose(place, (*range(1, len(lead) + 1), 0)), axis=len(lead))
    if not skips_nan and a.dtype.kind == "f":
        y = where_of(isnan(a[..., -1:]), math.nan, y)  # NaN is sorted last
    return reshape(transpose(y, (len(lead), *range(len(lead)))), shape=q.shape + lead)


def shares(name: str, q: Any, a: Any, whole: int, *, integers: bool = False) -> Any:
    """The shares `q` of `whole` as an array; a plain number does not widen a floating `a`.

    With `integers`, plain ones stay integers.

    Raises: ArgumentError: `a` is complex, or a share is known and outside of [0, `whole`].
    """
    if a.dtype.kind == "c":
        raise ArgumentError(f"fnp.{name}: needs real numbers, found {a.dtype}{where()}")
    xp = concrete_namespace(a)
    q = operand(q, xp)
    is_number = aval_of(q).weak
    q = array_of(q, xp)
    if is_number and a.dtype.kind == "f" and not (integers and q.dtype.kind == "i"):
        q = converted(q, a.dtype)
    value = known(q)
    if value is not None and not bool(((value >= 0) & (value <= whole)).all()):
        raise ArgumentError(f"fnp.{name}: q must be between 0 and {whole}, found {value}{where()}")
    return q if whole == 1 else q / whole


def _kept(
    y: Any, lead: tuple[int, ...], shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool
) -> Any:
    if not keepdims:
        return y
    rest = tuple(1 if i in axes else n for i, n in enumerate(shape))
    return reshape(y, shape=lead + rest)


# ---------------------------------------------------------------- weighted means


def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """``sum_i w_i a_i / sum_i w_i`` along the axes; with `returned` also the sum of the weights.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``; `weights` have the shape of `a` or of the axes.
    Dtypes: numbers; integers give float64.
    Derivative: linear in `a`, a quotient in `weights`; infinite where the weights add up to 0.
    Raises: ShapeError: an axis does not exist, or the weights do not fit.
    Source: NumPy reference, ``numpy.average``.

    >>> float(average([1.0, 2.0], weights=[3.0, 1.0]))
    1.25
    """
    a = array_of(a)
    axes = axes_of("average", axis, a.ndim)
    if weights is None:
        y = _reduce.mean(a, axis=axes)
        total: Any = converted(beside(a, math.prod(a.shape[i] for i in axes)), y.dtype)
    else:
        w = _weights(array_of(weights, concrete_namespace(a)), a.shape, axis, axes)
        if a.dtype.kind in "biu":
            a = converted(a, float)
        w = converted(w, np.result_type(a.dtype, w.dtype))
        total = _structural.sum(_structural.broadcast_to(w, shape=a.shape), axis=axes)
        y = _structural.sum(a * w, axis=axes) / total
        total = converted(total, y.dtype)
    y = with_axes(y, a.shape, axes, keepdims)
    if not returned:
        return y
    total = with_axes(total, a.shape, axes, keepdims and total.shape != ())
    return y, total if total.shape == y.shape else _structural.broadcast_to(total, shape=y.shape)


def _weights(w: Any, shape: tuple[int, ...], axis: Any, axes: tuple[int, ...]) -> Any:
    """The weights in a shape that broadcasts against `shape`."""
    if w.shape == shape:
        return w
    given = axis if isinstance(axis, tuple | list) else axes
    order = [axis_of("average", i, len(shape)) for i in given]
    if axis is None or w.shape != tuple(shape[i] for i in order):
        raise ShapeError(
            f"fnp.average: weights of shape {list(w.shape)} for an array of shape {list(shape)}, "
            f"axis={axis}; need the same shape, or the lengths of the axes{where()}"
        )
    w = _structural.transpose(w, axes=tuple(sorted(range(len(order)), key=order.__getitem__)))
    return _structural.reshape(w, shape=tuple(n if i in axes else 1 for i, n in enumerate(shape)))


# ---------------------------------------------------------------- covariance


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """The covariances of variables, which are the rows of `m` and `y`.

    Shapes: ``m: (k, n) -> (k, k)``; ``(n,) -> ()``.   Dtypes: numbers; integers give float64.
    Derivative: of the second degree in `m` and `y`; smooth everywhere.
    Raises: ShapeError: more than two axes, or weights that do not fit. ArgumentError: negative
    weights, or `fweights` that are not whole.
    Source: NumPy reference, ``numpy.cov``.

    >>> cov([[1.0, 2.0], [1.0, 3.0]]).tolist()
    [[0.5, 1.0], [1.0, 2.0]]
    """
    x = _variables(m, rowvar)
    if y is not None:
        x = concatenate(x, _variables(y, rowvar), axis=0)
    x = converted(x, np.result_type(x.dtype, np.float64) if dtype is None else dtype)
    w = None
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is not None:
            weights = array_of(weights, concrete_namespace(x))
            if weights.shape != x.shape[1:]:
                raise ShapeError(
                    f"fnp.cov: {name} has shape {list(weights.shape)}; there are {x.shape[1]} "
                    f"observations{where()}"
                )
            _require_weights(name, known(weights))
            w = weights if w is None else w * weights
    ddof = (0 if bias else 1) if ddof is None else ddof
    # With no degree of freedom left, covariances are infinite, as NumPy's.
    freedom = max(x.shape[1] - ddof, 0) if w is None else maximum(_freedom(w, aweights, ddof), 0)
    x = x - average(x, axis=1, weights=w, keepdims=True)
    other = transpose(x if w is None else x * w)
    c = matmul(x, other.conj() if x.dtype.kind == "c" else other) / freedom
    return c if c.shape[0] != 1 else reshape(c, shape=() if c.shape[1] == 1 else c.shape)


def _require_weights(name: str, value: Any) -> None:
    if value is None:
        return
    if bool((value < 0).any()):
        raise ArgumentError(f"fnp.cov: {name} must not be negative{where()}")
    if name == "fweights" and bool((value != value.round()).any()):
        raise ArgumentError(
            f"fnp.cov: fweights count observations and must be whole; others are aweights{where()}"
        )


def _freedom(w: Any, aweights: Any, ddof: int) -> Any:
    total = w.sum()
    if aweights is None or ddof == 0:
        return total - ddof
    return total - ddof * (w * array_of(aweights, module_of(w))).sum() / total


def _variables(m: Any, rowvar: bool) -> Any:
    """One row per variable."""
    m = array_of(m)
    if m.ndim > 2:
        raise ShapeError(f"fnp.cov: needs one or two axes, found {m.ndim}{where()}")
    if m.ndim < 2:
        return reshape(m, shape=(1, *(m.shape or (1,))))
    return m if rowvar else transpose(m)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlations of variables, which are the rows of `x` and `y`, clipped to [-1, 1].

    Shapes: ``x: (k, n) -> (k, k)``; ``(n,) -> ()``.   Dtypes: numbers; integers give float64.
    Derivative: that of ``c_ij / sqrt(c_ii c_jj)``; none where a variable is constant (NaN).
    Raises: ShapeError: more than two axes.
    Source: NumPy reference, ``numpy.corrcoef``.

    >>> corrcoef([[1.0, 2.0], [1.0, 3.0]]).round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    size = real(diagonal(c, offset=0, axis1=0, axis2=1)) ** 0.5
    c = c / reshape(size, shape=(size.shape[0], 1)) / size
    if c.dtype.kind != "c":
        return clip(c, -1.0, 1.0)
    return clip(real(c), -1.0, 1.0) + 1j * clip(imag(c), -1.0, 1.0)
