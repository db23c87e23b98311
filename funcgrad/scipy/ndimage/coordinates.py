"""Images at places between their elements: `map_coordinates`, `shift`, `affine_transform`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, ShapeError, where
from ...indexing import read
from ...numpy._arguments import array_of, converted
from .filters import image, per_axis


def _reflected(i: Any, n: int) -> Any:
    """``c b a | a b c | c b a``."""
    i = fnp.mod(i, 2 * n)
    return fnp.minimum(i, 2 * n - 1 - i)


def _mirrored(i: Any, n: int) -> Any:
    """``c b | a b c | b a``."""
    i = fnp.mod(i, max(2 * n - 2, 1))
    return fnp.minimum(i, 2 * n - 2 - i) if n > 1 else i


def _clipped(i: Any, n: int) -> Any:
    return fnp.clip(i, 0, n - 1)


def _wrapped(i: Any, n: int) -> Any:
    return fnp.mod(i, n)


# Which element stands at a place beyond the edges.
_PLACES: dict[str, Callable[[Any, int], Any]] = {
    "reflect": _reflected,
    "grid-mirror": _reflected,
    "mirror": _mirrored,
    "nearest": _clipped,
    "wrap": _clipped,
    "grid-wrap": _wrapped,
    "constant": _clipped,
    "grid-constant": _clipped,
}


def _order(name: str, order: int) -> int:
    if order not in (0, 1):
        raise ArgumentError(
            f"{name}: order={order!r}; need 0 (nearest) or 1 (linear): splines of higher order are not "
            f"supported{where()}"
        )
    return order


def _around(v: Any, n: int, order: int, mode: str, dtype: Any) -> list[tuple[Any, Any, Any]]:
    """The elements around a coordinate, their weights in `dtype`, and which of them exist."""
    if mode == "wrap" and n > 1:
        inside = fnp.logical_and(v >= 0, v <= n - 1)
        v = fnp.where(inside, v, fnp.mod(v, n - 1))
    low = fnp.floor(v + 0.5) if order == 0 else fnp.floor(v)
    share = converted(v - low, dtype)
    low = converted(low, np.int64)
    found = []
    for i, weight in [(low, None)] if order == 0 else [(low, 1.0 - share), (low + 1, share)]:
        there = fnp.logical_and(i >= 0, i < n) if mode == "grid-constant" else None
        found.append((_PLACES[mode](i, n), weight, there))
    return found


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
    around; SciPy's default 3 is not supported. `mode` as for `correlate`; "constant" is `cval` wherever
    a place is outside, "grid-constant" goes over to it, "wrap" repeats with one element less than
    "grid-wrap". `prefilter` is for higher orders.

    Shapes: ``input: (*a)`` of d axes, ``coordinates: (d, *b) -> (*b)``.
    Dtypes: floating, complex input; integers give float64.
    Derivative: linear in `input`; for order 1 by `coordinates`, at an element that of the gap after it.
    Raises: ArgumentError: another order or mode, an output. ShapeError: the axes do not fit.
    Source: SciPy reference, ``scipy.ndimage.map_coordinates``.

    >>> import funcgrad
    >>> row = np.array([0.0, 1.0, 4.0])
    >>> at = lambda v: map_coordinates(row, v, order=1)
    >>> at([[0.5, 1.5]]).tolist(), funcgrad.jacrev(at)(np.array([[1.5]])).tolist()
    ([0.5, 2.5], [[[3.0]]])
    """
    return _at(
        "map_coordinates", image("map_coordinates", input, output), coordinates, order, mode, cval
    )


def _at(name: str, x: Any, coordinates: Any, order: int, mode: str, cval: Any) -> Any:
    order = _order(name, order)
    if mode not in _PLACES:
        raise ArgumentError(
            f"{name}: mode={mode!r}; need one of {', '.join(map(repr, _PLACES))}{where()}"
        )
    v = array_of(coordinates)
    if aval_of(v).dtype.kind != "f":
        v = converted(v, np.float64)
    if not v.ndim or v.shape[0] != x.ndim:
        raise ShapeError(
            f"{name}: coordinates have shape {list(v.shape)}; need {x.ndim} rows{where()}"
        )
    precision = np.finfo(aval_of(x).dtype).dtype
    around = [_around(v[k], n, order, mode, precision) for k, n in enumerate(x.shape)]
    total: Any = 0.0
    for corner in itertools.product(*around):
        value = read(x, tuple(i for i, _, _ in corner))
        for _, _, there in corner:
            value = value if there is None else fnp.where(there, value, cval)
        for _, weight, _ in corner:
            value = value if weight is None else value * weight
        total = total + value
    if mode == "constant":
        away = [fnp.logical_or(v[k] < 0, v[k] > n - 1) for k, n in enumerate(x.shape)]
        total = fnp.where(sum(away[1:], away[0]), cval, total)
    return total


def _grid(shape: Sequence[int]) -> np.ndarray:
    """The places of all elements, exact whatever the precision of the image."""
    return np.indices(tuple(shape)).astype(np.float64)


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
    Derivative: linear in `input`; for order 1 by `shift`.
    Raises: as `map_coordinates`.
    Source: SciPy reference, ``scipy.ndimage.shift``.

    >>> shift([1.0, 2.0, 4.0], 0.5, order=1).tolist()
    [0.0, 1.5, 3.0]
    """
    x = image("shift", input, output)
    steps = per_axis("shift", "shift", shift, x.ndim)
    grid = _grid(x.shape)
    moved = [g - s for g, s in zip(grid, steps, strict=True)]
    return _at("shift", x, fnp.stack(moved), order, mode, cval)


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
    Derivative: linear in `input`; for order 1 by `matrix` and `offset`.
    Raises: as `map_coordinates`.
    Source: SciPy reference, ``scipy.ndimage.affine_transform``.

    >>> affine_transform([1.0, 2.0, 4.0], [[0.5]], order=1).tolist()
    [1.0, 1.5, 2.0]
    """
    x, d = image("affine_transform", input, output), len(np.shape(input))
    matrix, offset = array_of(matrix), array_of(offset)
    if matrix.ndim == 2 and matrix.shape[1] == d + 1 and matrix.shape[0] in (d, d + 1):
        matrix, offset = matrix[:d, :d], matrix[:d, d]
    if matrix.shape not in ((d, d), (d,)):
        raise ShapeError(
            f"affine_transform: the matrix has shape {list(matrix.shape)}; need {[d, d]}{where()}"
        )
    matrix = fnp.diag(matrix) if matrix.ndim == 1 else matrix
    shape = x.shape if output_shape is None else tuple(output_shape)
    grid = _grid(shape)
    offset = fnp.broadcast_to(offset, (d,))
    places = fnp.tensordot(matrix, grid, axes=1) + fnp.reshape(offset, (d,) + (1,) * len(shape))
    return _at("affine_transform", x, places, order, mode, cval)
