"""Images at places between their elements: `map_coordinates`, `shift`, `zoom`, `rotate`, ..."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ConcretizationError, ShapeError, where
from ...indexing import known, read
from ...numpy._arguments import array_of, beside, converted, module_of
from ...transforms.vmap import vmap
from .._arrays import floating
from ..special import cosdg, sindg
from .filters import axes_in, image, per_axis
from .splines import place_mode, prefiltered, spline_order, taps


def map_coordinates(
    input: Any,
    coordinates: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The image at places between its elements, which ``coordinates[k]`` gives along axis k.

    `order`: 0 for the nearest element (the later one of two), 1 for the linear mean of the elements
    around, 2 to 5 for the spline of that degree through all elements (`prefilter` False: with the
    elements as coefficients). `mode` as for `correlate`; "constant" is `cval` wherever a place is
    outside, "grid-constant" goes over to it, "wrap" repeats with one element less than "grid-wrap".

    Shapes: ``input: (*a)`` of d axes, ``coordinates: (d, *b) -> (*b)``.
    Dtypes: floating, complex input; integers give float64.
    Derivative: linear in `input`; from order 1 on by `coordinates`, for order 1 at an element that of
    the gap after it; linear in `cval`.
    Raises: ArgumentError: another order or mode, an output. ShapeError: the axes do not fit.
    Source: Unser, IEEE Signal Process. Mag. 16 (1999); SciPy reference,
    ``scipy.ndimage.map_coordinates``.

    >>> import funcgrad
    >>> row = np.array([0.0, 1.0, 4.0])
    >>> at = lambda v: map_coordinates(row, v, order=1)
    >>> at([[0.5, 1.5]]).tolist(), funcgrad.jacrev(at)(np.array([[1.5]])).tolist()
    ([0.5, 2.5], [[[3.0]]])
    >>> map_coordinates(row, [[0.5, 1.5]]).tolist()
    [0.125, 2.875]
    """
    x = image("map_coordinates", input, output)
    return _at("map_coordinates", x, x.ndim, coordinates, order, mode, cval, prefilter)


def geometric_transform(
    input: Any,
    mapping: Callable[..., Any],
    output_shape: Any = None,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
    extra_arguments: Any = (),
    extra_keywords: Any = None,
) -> Any:
    """The image whose element i is that of `input` at the place ``mapping(i, *args, **kwargs)``, with i
    a tuple of integers.

    `mapping` is called once, for all elements (under `vmap`). Other arguments as `map_coordinates`.

    Shapes: ``input: (*a) -> output_shape``, by default that of the image.
    Dtypes: floating, complex input; integers give float64.
    Derivative: that of `map_coordinates`, also by what `mapping` is given and closes over.
    Raises: as `map_coordinates`; ConcretizationError: `mapping` branches on where it is.
    Source: SciPy reference, ``scipy.ndimage.geometric_transform``.

    >>> row = [0.0, 1.0, 4.0, 9.0]
    >>> geometric_transform(row, lambda i: (i[0] - 0.5,), order=1).tolist()
    [0.0, 0.5, 2.5, 6.5]
    """
    x = image("geometric_transform", input, output)
    shape = x.shape if output_shape is None else tuple(output_shape)
    keywords = extra_keywords or {}

    def place(*i: Any) -> Any:
        found = mapping(i, *extra_arguments, **keywords)
        return fnp.stack([array_of(v) for v in found])

    places = beside(x, np.indices(shape).reshape(len(shape), -1))
    empty = beside(x, np.zeros((x.ndim, 0)))
    coordinates = fnp.transpose(vmap(place)(*places)) if places.size else empty
    coordinates = fnp.reshape(floating(coordinates), (coordinates.shape[0], *shape))
    return _at("geometric_transform", x, x.ndim, coordinates, order, mode, cval, prefilter)


def _at(
    name: str,
    x: Any,
    count: int,
    coordinates: Any,
    order: int,
    mode: str,
    cval: Any,
    prefilter: bool,
) -> Any:
    """The image at places along its last `count` axes; those before are kept."""
    order, mode = spline_order(name, order), place_mode(name, mode)
    v = array_of(coordinates, module_of(x))
    if aval_of(v).dtype.kind != "f":
        v = converted(v, np.float64)
    if not v.ndim or v.shape[0] != count:
        raise ShapeError(
            f"{name}: coordinates have shape {list(v.shape)}; need {count} rows{where()}"
        )
    axes = tuple(range(x.ndim - count, x.ndim))
    sizes = [x.shape[axis] for axis in axes]
    precision = np.finfo(aval_of(x).dtype).dtype
    x, far = prefiltered(x, axes, order, mode, cval, prefilter)
    around = [taps(v[k], x.shape[axis], order, mode, precision, far) for k, axis in enumerate(axes)]
    total: Any = 0.0
    for corner in itertools.product(*around):
        value = read(x, (Ellipsis, *(tap.index for tap in corner)))
        for tap in corner:
            value = value if tap.there is None else fnp.where(tap.there, value, cval)
        for tap in corner:
            value = value if tap.weight is None else value * tap.weight
        total = total + value
    if mode == "constant":
        away = [_outside(v[k], n) for k, n in enumerate(sizes)]
        total = fnp.where(sum(away[1:], away[0]), cval, total)
    return total


def _outside(v: Any, n: int) -> Any:
    return fnp.logical_or(v < 0, v > n - 1)


def _along_axes(
    name: str, x: Any, places: Sequence[Any], order: int, mode: str, cval: Any, prefilter: bool
) -> Any:
    """The image at a grid of places, which are given for each axis."""
    order, mode = spline_order(name, order), place_mode(name, mode)
    sizes, axes = x.shape, tuple(range(x.ndim))
    precision = np.finfo(aval_of(x).dtype).dtype
    x, far = prefiltered(x, axes, order, mode, cval, prefilter)
    for axis, v in enumerate(places):
        rest = (-1, *(1,) * (x.ndim - 1 - axis))
        total: Any = 0.0
        for index, weight, there in taps(v, x.shape[axis], order, mode, precision, far):
            value = fnp.take(x, index, axis=axis)
            value = value if there is None else fnp.where(fnp.reshape(there, rest), value, cval)
            value = value if weight is None else value * fnp.reshape(weight, rest)
            total = total + value
        x = total
    if mode == "constant":
        for axis, v in enumerate(places):
            away = fnp.reshape(_outside(v, sizes[axis]), (-1, *(1,) * (x.ndim - 1 - axis)))
            x = fnp.where(away, cval, x)
    return x


def _grid(x: Any, shape: Sequence[int]) -> Any:
    """The places of all elements, exact whatever the precision of the image `x`."""
    return beside(x, np.indices(tuple(shape)).astype(np.float64))


def shift(
    input: Any,
    shift: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The image moved by `shift` elements along every axis; one number, or one for each.

    Orders and modes are those of `map_coordinates`.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `map_coordinates`.
    Derivative: linear in `input`; from order 1 on by `shift`.
    Raises: as `map_coordinates`.
    Source: SciPy reference, ``scipy.ndimage.shift``.

    >>> shift([1.0, 2.0, 4.0], 0.5, order=1).tolist()
    [0.0, 1.5, 3.0]
    """
    x = image("shift", input, output)
    steps = per_axis("shift", "shift", shift, x.ndim)
    moved = [beside(x, np.arange(float(n))) - s for n, s in zip(x.shape, steps, strict=True)]
    return _along_axes("shift", x, moved, order, mode, cval, prefilter)


def zoom(
    input: Any,
    zoom: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Any:
    """The image with ``round(n zoom)`` elements along every axis instead of n; one number, or each.

    The first and the last element stay where they are, or with `grid_mode` the outer edges of these
    do. Orders and modes are those of `map_coordinates`.

    Shapes: ``input: (*a) -> (*round(a zoom))``.   Dtypes: as `map_coordinates`.
    Derivative: linear in `input`; by `zoom`, which only decides a shape, none.
    Raises: as `map_coordinates`. ConcretizationError: `zoom` is not known.
    Source: SciPy reference, ``scipy.ndimage.zoom``.

    >>> zoom([1.0, 2.0, 4.0], 2, order=1).round(6).tolist()
    [1.0, 1.4, 1.8, 2.4, 3.2, 4.0]
    """
    x = image("zoom", input, output)
    if not x.ndim:
        raise ShapeError(f"zoom: the image is a number; need an axis{where()}")
    factors = [_constant("zoom", "zoom", z) for z in per_axis("zoom", "zoom", zoom, x.ndim)]
    sizes = [round(n * z) for n, z in zip(x.shape, factors, strict=True)]
    if prefilter and all(z == 1 for z in factors):
        return fnp.copy(x)
    places = []
    for n, m in zip(x.shape, sizes, strict=True):
        gaps = (n, m) if grid_mode else (n - 1, m - 1)
        step = gaps[0] / gaps[1] if gaps[1] else 1.0
        i = beside(x, np.arange(float(m)))
        places.append((i + 0.5) * step - 0.5 if grid_mode else i * step)
    return _along_axes("zoom", x, places, order, mode, cval, prefilter)


def _constant(name: str, what: str, value: Any) -> float:
    """A number that decides a shape."""
    found = known(value)
    if found is None:
        raise ConcretizationError(
            f"{name}: {what} is not known while the function is traced, and it decides the shape of "
            f"the result{where()}"
        )
    return float(found)


def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = 0.0,
    output_shape: Any = None,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The image at ``matrix @ i + offset`` for every place i of the result.

    Orders and modes are those of `map_coordinates`.

    Shapes: ``input: (*a)`` of d axes; ``matrix: (d, d)``, its diagonal ``(d)``, or with the offset as
    the last column ``(d, d + 1)`` or ``(d + 1, d + 1)``; gives `output_shape`, by default ``(*a)``.
    Dtypes: as `map_coordinates`.
    Derivative: linear in `input`; from order 1 on by `matrix` and `offset`.
    Raises: as `map_coordinates`.
    Source: SciPy reference, ``scipy.ndimage.affine_transform``.

    >>> affine_transform([1.0, 2.0, 4.0], [[0.5]], order=1).tolist()
    [1.0, 1.5, 2.0]
    """
    x = image("affine_transform", input, output)
    d, xp = x.ndim, module_of(x)
    matrix, offset = array_of(matrix, xp), array_of(offset, xp)
    if matrix.ndim == 2 and matrix.shape[1] == d + 1 and matrix.shape[0] in (d, d + 1):
        bottom = known(matrix[d]) if matrix.shape[0] > d else None
        if bottom is not None and bottom.tolist() != [0.0] * d + [1.0]:
            raise ArgumentError(
                f"affine_transform: the last row of the matrix is {bottom.tolist()}; need 0s and a 1: "
                f"projections are not affine{where()}"
            )
        matrix, offset = matrix[:d, :d], matrix[:d, d]
    if matrix.shape not in ((d, d), (d,)):
        raise ShapeError(
            f"affine_transform: the matrix has shape {list(matrix.shape)}; need {[d, d]}{where()}"
        )
    matrix = fnp.diag(matrix) if matrix.ndim == 1 else matrix
    shape = x.shape if output_shape is None else tuple(output_shape)
    grid = _grid(x, shape)
    offset = fnp.broadcast_to(offset, (d,))
    places = fnp.tensordot(matrix, grid, axes=1) + fnp.reshape(offset, (d,) + (1,) * len(shape))
    return _at("affine_transform", x, d, places, order, mode, cval, prefilter)


def rotate(
    input: Any,
    angle: Any,
    axes: Sequence[int] = (1, 0),
    reshape: bool = True,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """The image turned by `angle` degrees in the plane of two axes, around its centre.

    `reshape`: the result is as large as the whole turned image needs. Orders and modes are those of
    `map_coordinates`.

    Shapes: ``input: (*a)``; gives ``(*a)`` without `reshape`, else two axes are longer.
    Dtypes: as `map_coordinates`.
    Derivative: linear in `input`; from order 1 on by `angle`, with the shape held.
    Raises: as `map_coordinates`; ShapeError: `axes` are no two axes. ConcretizationError: `reshape`,
    and `angle` is not known.
    Source: SciPy reference, ``scipy.ndimage.rotate``.

    >>> rotate([[1.0, 2.0], [3.0, 4.0]], 90).round(6).tolist()
    [[2.0, 4.0], [1.0, 3.0]]
    """
    x = image("rotate", input, output)
    plane = sorted(axes_in("rotate", tuple(axes), x.ndim))
    if len(plane) != 2:
        raise ShapeError(f"rotate: axes={tuple(axes)}; need two axes{where()}")
    c, s = cosdg(angle), sindg(angle)
    sizes = np.array([x.shape[a] for a in plane])
    found = sizes
    if reshape:
        cos, sin = (_constant("rotate", "angle", y) for y in (c, s))
        corners = [[0, 0, sizes[0], sizes[0]], [0, sizes[1], 0, sizes[1]]]
        bounds = np.array([[cos, sin], [-sin, cos]]) @ corners
        found = (np.ptp(bounds, axis=1) + 0.5).astype(np.int64)
    (i, j), (p, q), (v, w) = _grid(x, found.tolist()), (found - 1) / 2, (sizes - 1) / 2
    places = fnp.stack(
        [(v - (c * p + s * q)) + c * i + s * j, (w - (c * q - s * p)) - s * i + c * j]
    )
    y = _at("rotate", fnp.moveaxis(x, plane, (-2, -1)), 2, places, order, mode, cval, prefilter)
    return fnp.moveaxis(y, (-2, -1), plane)
