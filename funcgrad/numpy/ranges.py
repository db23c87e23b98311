"""Evenly spaced numbers and grids of coordinates."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Tracer, aval_of
from ..errors import ArgumentError, ShapeError, where
from ..ops.bessel import i0
from ..ops.structural import broadcast_to as _broadcast_to
from ..ops.structural import reshape as _reshape
from ._arguments import (
    array_of,
    arrays_of,
    axis_of,
    beside,
    contains_foreign,
    converted,
    copied,
    fresh,
    known_lengths,
    module_of,
    on_cpu,
    operands,
)

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
    Raises: HandoverError: a bound is a traced floating value. ConcretizationError: an integer that is
    traced is not known.
    Source: NumPy reference, ``numpy.arange``.

    >>> arange(1, 7, 2).tolist()
    [1, 3, 5]
    """
    xp = on_cpu("arange", device)
    start_or_stop, stop, step = map(_known_bound, (start_or_stop, stop, step))
    if stop is None:
        return fresh(xp.arange(0, start_or_stop, step, dtype=dtype))
    return fresh(xp.arange(start_or_stop, stop, step, dtype=dtype))


def _known_bound(x: Any) -> Any:
    """A bound or step; a floating one stays traced, as a number would cut its derivative."""
    is_whole = isinstance(x, Tracer) and aval_of(x).dtype.kind in "iub"
    return known_lengths("fnp.arange: start, stop and step", x) if is_whole else x


def _fractions(num: int, endpoint: bool, *bounds: Any) -> Any:
    """``0, 1/n, 2/n, ...`` along a first axis before those of the bounds, on their device."""
    num = operator.index(num)
    parts = num - 1 if endpoint else num
    avals = [aval_of(x) for x in bounds]
    places = (np.arange(num) / max(parts, 1)).reshape((num,) + (1,) * max(a.ndim for a in avals))
    dtype = np.result_type(*[a.promoting() for a in avals], 1.0)
    return module_of(*bounds).asarray(places.astype(np.empty(0, dtype).real.dtype))


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
    xp, num = on_cpu("linspace", device), known_lengths("fnp.linspace: num", num)
    if not contains_foreign([start, stop]):
        out = xp.linspace(start, stop, num, endpoint, retstep, dtype, axis)
        return (fresh(out[0]), out[1]) if retstep else fresh(out)
    start, stop = operands(start, stop)
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
    num = known_lengths("fnp.logspace: num", num)
    if not contains_foreign([start, stop, base]):
        return fresh(np.logspace(start, stop, num, endpoint, base, dtype, axis))
    start, stop, base = operands(start, stop, base)
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
    Derivative: that of ``start * (stop / start)**(i / n)``; real bounds of different sign give nan.
    Raises: ValueError: `num` is negative.
    Source: NumPy reference, ``numpy.geomspace``.

    >>> geomspace(1.0, 4.0, 3).tolist()
    [1.0, 2.0, 4.0]
    """
    num = known_lengths("fnp.geomspace: num", num)
    if not contains_foreign([start, stop]):
        return fresh(np.geomspace(start, stop, num, endpoint, dtype, axis))
    start, stop = operands(start, stop)
    if dtype is not None:  # roots of negative numbers exist if the results are complex
        wide = np.result_type(aval_of(start).dtype, aval_of(stop).dtype, dtype)
        start, stop = converted(start, wide), converted(stop, wide)
    w = _fractions(num, endpoint, start, stop, np.float64(1.0))  # NumPy's widens, unlike the others
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
    xs = arrays_of(*xi)
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
    dimensions = known_lengths("fnp.indices: dimensions", dimensions)
    out: Any = np.indices(dimensions, dtype, sparse)  # type: ignore[call-overload]
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


def kaiser(M: int, beta: Any) -> Any:
    """``i0(beta sqrt(1 - t^2)) / i0(beta)`` for `M` points ``t`` from -1 to 1: a window.

    Shapes: ``() -> (M,)``.   Dtypes: real; gives floats.
    Derivative: smooth in `beta`, away from 0 where the quotient of Bessel functions is flat.
    Raises: ShapeError: `beta` has axes.
    Source: NumPy reference, ``numpy.kaiser``.

    >>> kaiser(3, 0.0).tolist()
    [1.0, 1.0, 1.0]
    """
    M = operator.index(known_lengths("fnp.kaiser: M", M))
    beta = array_of(beta)
    if beta.ndim:
        raise ShapeError(f"fnp.kaiser: beta has shape {list(beta.shape)}; need one number{where()}")
    t = np.linspace(-1.0, 1.0, M) if M > 1 else np.zeros(max(M, 0))
    return i0(beta * beside(beta, np.sqrt(1 - t * t))) / i0(beta)
