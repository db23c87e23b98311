"""New arrays: zeros, ranges, grids, and arrays of nested lists.

Under a transform they are traced constants, so ``z = fnp.zeros(3); z[0] = x`` works there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import Tracer, aval_of
from ..errors import ArgumentError, where
from ..ops.structural import broadcast_to as _broadcast_to
from ..ops.structural import reshape as _reshape
from ._arguments import (
    array_of,
    axis_of,
    beside,
    contains_traced,
    converted,
    copied,
    fresh,
    is_array,
    on_cpu,
    operand,
    shape_of,
    stacked,
)

# ---------------------------------------------------------------- filled


def zeros(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    """An array of zeros, which can be written into under every transform.

    Shapes: ``-> shape``.   Dtypes: `dtype`, float64 by default.
    Derivative: a constant.
    Raises: ArgumentError: `device` is not the CPU.
    Source: NumPy reference, ``numpy.zeros``.

    >>> zeros(2).tolist()
    [0.0, 0.0]
    """
    return fresh(on_cpu("zeros", device).zeros(shape, dtype, order))


def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    """An array of ones.

    Shapes: ``-> shape``.   Dtypes: `dtype`, float64 by default.
    Derivative: a constant.
    Raises: ArgumentError: `device` is not the CPU.
    Source: NumPy reference, ``numpy.ones``.

    >>> ones(2).tolist()
    [1.0, 1.0]
    """
    return fresh(on_cpu("ones", device).ones(shape, dtype, order))


def empty(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Any:
    """An array to be written into; its elements are zeros, so that results never vary.

    Shapes: ``-> shape``.   Dtypes: `dtype`, float64 by default.
    Derivative: a constant.
    Raises: ArgumentError: `device` is not the CPU.
    Source: NumPy reference, ``numpy.empty``.

    >>> empty((2, 3)).shape
    (2, 3)
    """
    return fresh(on_cpu("empty", device).zeros(shape, dtype, order))


def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None
) -> Any:
    """An array with `fill_value` everywhere.

    Shapes: ``fill_value`` broadcasts to ``shape``.   Dtypes: `dtype`, or that of `fill_value`.
    Derivative: linear in `fill_value`: the sum of the cotangents.
    Raises: ArgumentError: `device` is not the CPU.
    Source: NumPy reference, ``numpy.full``.

    >>> full(2, 7.0).tolist()
    [7.0, 7.0]
    """
    xp = on_cpu("full", device)
    if contains_traced(fill_value):
        return _broadcast_to(converted(operand(fill_value), dtype), shape=shape_of(shape))
    return fresh(xp.full(shape, fill_value, dtype, order))


def zeros_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """Zeros of the shape and dtype of `a`, on its device.

    Shapes: ``a: (*a) -> (*a)``, or `shape`.   Dtypes: `dtype`, or that of `a`.
    Derivative: a constant.
    Raises: ArgumentError: `a` is no array.
    Source: NumPy reference, ``numpy.zeros_like``.

    >>> zeros_like(np.array([1.0, 2.0])).tolist()
    [0.0, 0.0]
    """
    return fresh(_like("zeros", a, dtype, shape, device))


def ones_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """Ones of the shape and dtype of `a`, on its device.

    Shapes: ``a: (*a) -> (*a)``, or `shape`.   Dtypes: `dtype`, or that of `a`.
    Derivative: a constant.
    Raises: ArgumentError: `a` is no array.
    Source: NumPy reference, ``numpy.ones_like``.

    >>> ones_like(np.array([1.0, 2.0])).tolist()
    [1.0, 1.0]
    """
    return fresh(_like("ones", a, dtype, shape, device))


def empty_like(
    prototype: Any,
    /,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """An array of the shape and dtype of `prototype` to be written into; it holds zeros.

    Shapes: ``prototype: (*a) -> (*a)``, or `shape`.   Dtypes: `dtype`, or that of `prototype`.
    Derivative: a constant.
    Raises: ArgumentError: `prototype` is no array.
    Source: NumPy reference, ``numpy.empty_like``.

    >>> empty_like(np.array([1.0, 2.0])).shape
    (2,)
    """
    return fresh(_like("zeros", prototype, dtype, shape, device))


def _like(kind: str, a: Any, dtype: Any, shape: Any, device: Any) -> Any:
    on_cpu(f"{kind}_like", device)
    a = operand(a)
    aval = aval_of(a)
    make = getattr(concrete_namespace(a), kind)
    return make(aval.shape if shape is None else shape, aval.dtype if dtype is None else dtype)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """`fill_value` everywhere, in the shape and dtype of `a`, on its device.

    Shapes: ``a: (*a) -> (*a)``, or `shape`.   Dtypes: `dtype`, or that of `a`.
    Derivative: linear in `fill_value`: the sum of the cotangents.
    Raises: ArgumentError: `a` is no array.
    Source: NumPy reference, ``numpy.full_like``.

    >>> full_like(np.array([1.0, 2.0]), 7).tolist()
    [7.0, 7.0]
    """
    on_cpu("full_like", device)
    a = operand(a)
    aval = aval_of(a)
    shape = aval.shape if shape is None else shape_of(shape)
    dtype = aval.dtype if dtype is None else dtype
    if contains_traced(fill_value):
        return _broadcast_to(converted(operand(fill_value), dtype), shape=shape)
    return fresh(concrete_namespace(a).full(shape, fill_value, dtype))


# ---------------------------------------------------------------- matrices


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = float,
    order: str = "C",
    *,
    device: Any = None,
) -> Any:
    """Ones on the diagonal `k`, zeros elsewhere.

    Shapes: ``-> (N, M)``.   Dtypes: `dtype`.
    Derivative: a constant.
    Raises: ArgumentError: `device` is not the CPU.
    Source: NumPy reference, ``numpy.eye``.

    >>> eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return fresh(on_cpu("eye", device).eye(N, M, k, dtype, order))


def identity(n: int, dtype: Any = None) -> Any:
    """The identity matrix.

    Shapes: ``-> (n, n)``.   Dtypes: `dtype`, float64 by default.
    Derivative: a constant.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.identity``.

    >>> identity(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return fresh(np.identity(n, dtype))


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Any:
    """Ones at and below the diagonal `k`, zeros above it.

    Shapes: ``-> (N, M)``.   Dtypes: `dtype`.
    Derivative: a constant.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.tri``.

    >>> tri(2).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    return fresh(np.tri(N, M, k, dtype))


# ---------------------------------------------------------------- ranges


def arange(
    start_or_stop: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Any:
    """``start, start + step, ...`` up to `stop`, which is left out.

    Shapes: ``-> (ceil((stop - start) / step),)``.   Dtypes: `dtype`, or that of the arguments.
    Derivative: a constant; the bounds must be known, since the length depends on them.
    Raises: HandoverError: a bound is a traced floating value.
    Source: NumPy reference, ``numpy.arange``.

    >>> arange(1, 7, 2).tolist()
    [1, 3, 5]
    """
    xp = on_cpu("arange", device)
    if stop is None:
        return fresh(xp.arange(0, start_or_stop, step, dtype=dtype))
    return fresh(xp.arange(start_or_stop, stop, step, dtype=dtype))


def _fractions(num: int, endpoint: bool, *bounds: Any) -> Any:
    """``0, 1/n, 2/n, ...`` along a first axis before those of the bounds, on their device."""
    num = operator.index(num)
    parts = num - 1 if endpoint else num
    traced = next(x for x in bounds if isinstance(x, Tracer))
    ndim = max(aval_of(x).ndim for x in bounds)
    return beside(traced, (np.arange(num) / max(parts, 1)).reshape((num,) + (1,) * ndim))


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`.

    Shapes: ``start, stop: broadcast (*a) -> (num, *a)``, the new axis at `axis`.
    Dtypes: floating, complex; integers give floats.
    Derivative: linear: ``1 - i / n`` by `start`, ``i / n`` by `stop`.
    Raises: ValueError: `num` is negative.
    Source: NumPy reference, ``numpy.linspace``.

    >>> linspace(0.0, 1.0, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    xp = on_cpu("linspace", device)
    if not contains_traced([start, stop]):
        out = xp.linspace(start, stop, num, endpoint, retstep, dtype, axis)
        return (fresh(out[0]), out[1]) if retstep else fresh(out)
    start, stop = operand(start), operand(stop)
    w = _fractions(num, endpoint, start, stop)
    points = _axis_from_front("linspace", start * (1 - w) + stop * w, axis)
    if dtype is not None and np.dtype(dtype).kind in "iu":
        points = points // 1  # NumPy rounds down
    points = converted(points, dtype)
    parts = num - 1 if endpoint else num
    return (points, (stop - start) / parts if parts > 0 else np.nan) if retstep else points


def _axis_from_front(name: str, x: Any, axis: int) -> Any:
    """Axis 0 of `x` moved to `axis`."""
    axis = axis_of(name, axis, x.ndim)
    return x if axis == 0 else x.transpose((*range(1, axis + 1), 0, *range(axis + 1, x.ndim)))


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """``base**linspace(start, stop)``.

    Shapes: ``start, stop: broadcast (*a) -> (num, *a)``, the new axis at `axis`.
    Dtypes: floating, complex; integers give floats.
    Derivative: that of the power; smooth for a positive base.
    Raises: ValueError: `num` is negative.
    Source: NumPy reference, ``numpy.logspace``.

    >>> logspace(0.0, 2.0, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    if not contains_traced([start, stop, base]):
        return fresh(np.logspace(start, stop, num, endpoint, base, dtype, axis))
    start, stop, base = operand(start), operand(stop), operand(base)
    w = _fractions(num, endpoint, start, stop, base)
    points = base ** (start * (1 - w) + stop * w)
    return converted(_axis_from_front("logspace", points, axis), dtype)


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """`num` numbers from `start` to `stop`, each a constant multiple of the one before.

    Shapes: ``start, stop: broadcast (*a) -> (num, *a)``, the new axis at `axis`.
    Dtypes: floating, complex; integers give floats.
    Derivative: that of ``start * (stop / start)**(i / n)``; bounds of different sign give nan.
    Raises: ValueError: `num` is negative.
    Source: NumPy reference, ``numpy.geomspace``.

    >>> geomspace(1.0, 4.0, 3).tolist()
    [1.0, 2.0, 4.0]
    """
    if not contains_traced([start, stop]):
        return fresh(np.geomspace(start, stop, num, endpoint, dtype, axis))
    start, stop = operand(start), operand(stop)
    w = _fractions(num, endpoint, start, stop)
    points = start * (stop / start) ** w
    return converted(_axis_from_front("geomspace", points, axis), dtype)


# ---------------------------------------------------------------- grids


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """One array of coordinates per axis of the grid that the 1-d arrays `xi` span.

    Shapes: ``(n0,), (n1,), ... -> (n1, n0, ...)`` each, or ``(n0, n1, ...)`` with indexing="ij".
    Dtypes: all.
    Derivative: linear: the cotangents are summed over the other axes.
    Raises: ArgumentError: `indexing` is neither "xy" nor "ij".
    Source: NumPy reference, ``numpy.meshgrid``.

    >>> [g.tolist() for g in meshgrid([1.0, 2.0], [3.0, 4.0])]
    [[[1.0, 2.0], [1.0, 2.0]], [[3.0, 3.0], [4.0, 4.0]]]
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"fnp.meshgrid: indexing={indexing!r}; need 'xy' or 'ij'{where()}")
    xs = [array_of(x) for x in xi]
    ndim = len(xs)
    places = [*((1, 0) if indexing == "xy" and ndim > 1 else range(min(ndim, 2)))]
    places += range(2, ndim)
    open_grids = [
        _reshape(x, shape=tuple(x.size if i == place else 1 for i in range(ndim)))
        for x, place in zip(xs, places, strict=True)
    ]
    if not sparse:
        sizes = dict(zip(places, (x.size for x in xs), strict=True))
        whole = tuple(sizes[i] for i in range(ndim))
        open_grids = [_broadcast_to(g, shape=whole) for g in open_grids]
    return tuple(map(copied, open_grids)) if copy else tuple(open_grids)


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The index of every element along every axis.

    Shapes: ``-> (len(dimensions), *dimensions)``.   Dtypes: `dtype`.
    Derivative: a constant.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.indices``.

    >>> indices((2, 2)).tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    """
    out = np.indices(dimensions, dtype, sparse)
    return tuple(map(fresh, out)) if sparse else fresh(out)


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """``function(i, j, ...)`` of the arrays of indices.

    Shapes: what `function` returns, usually ``shape``.   Dtypes: the indices are of `dtype`.
    Derivative: that of `function` by the values that it closes over.
    Raises: whatever `function` raises.
    Source: NumPy reference, ``numpy.fromfunction``.

    >>> fromfunction(lambda i, j: i + j, (2, 2)).tolist()
    [[0.0, 1.0], [1.0, 2.0]]
    """
    return function(*(fresh(i) for i in np.indices(shape, dtype)), **kwargs)


# ---------------------------------------------------------------- arrays of nested lists


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
) -> Any:
    """An array of a nested list, whose entries may be traced values; or a copy of an array.

    Shapes: that of the nesting, with 1s in front up to `ndmin` axes.
    Dtypes: `dtype`, or the common one of the entries.
    Derivative: linear: every entry gets its own part of the cotangent.
    Raises: ShapeError: the entries differ in shape. ArgumentError: an entry is no number.
    Source: NumPy reference, ``numpy.array``.

    >>> array([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    out = _assembled(object, dtype)
    if copy and out is object:
        out = copied(out)
    if out is not object and not isinstance(out, Tracer):
        out = fresh(out)
    if ndmin > out.ndim:
        out = _reshape(out, shape=(1,) * (ndmin - out.ndim) + out.shape)
    return out


def _assembled(x: Any, dtype: Any) -> Any:
    """An array made of `x`, or `x` itself if it is one of that dtype."""
    if is_array(x):
        return converted(x, dtype)
    if contains_traced(x):
        return converted(stacked(x) if isinstance(x, list | tuple) else operand(x), dtype)
    made = np.asarray(x, dtype)
    operand(x if made.dtype.kind not in "biufc" else made)
    return made


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: bool | None = None,
) -> Any:
    """`a` itself if it is an array of that dtype, otherwise `array`.

    Shapes: that of the nesting.   Dtypes: `dtype`, or the common one of the entries.
    Derivative: linear: every entry gets its own part of the cotangent.
    Raises: ShapeError: the entries differ in shape. ArgumentError: an entry is no number.
    Source: NumPy reference, ``numpy.asarray``.

    >>> asarray([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    on_cpu("asarray", device)
    return array(a, dtype, copy=copy)


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """A copy: later writes into `a` do not change it, nor the other way round.

    Shapes: ``a: (*a) -> (*a)``.   Dtypes: all.
    Derivative: linear; the identity.
    Raises: ArgumentError: `a` is no array.
    Source: NumPy reference, ``numpy.copy``.

    >>> copy(np.array([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return array(a)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """`x` in another dtype; a complex `x` made real keeps its real part.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: all.
    Derivative: linear between floating and complex dtypes; zero to and from the others.
    Raises: ArgumentError: `x` is no array.
    Source: NumPy reference, ``numpy.astype``.

    >>> astype(np.array([1.5, 2.5]), int).tolist()
    [1, 2]
    """
    on_cpu("astype", device)
    x = array_of(x)
    out = converted(x, dtype)
    return copied(out) if copy and out is x else out
