"""The same elements in another order: transpose, moveaxis, flip, rot90.

All of them are views: writes into the result reach the array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ShapeError, where
from ..ops import structural as _ops
from ._arguments import array_of, axes_of, axis_of, known_lengths

# ---------------------------------------------------------------- the order of axes


def transpose(a: Any, axes: Any = None) -> Any:
    """The axes in reverse order, or in the order `axes`.

    Shapes: ``a: (d0, ..., dn) -> (d[axes[0]], ..., d[axes[n]])``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: `axes` is no permutation.
    Source: NumPy reference, ``numpy.transpose``.

    >>> transpose(np.ones((2, 3))).shape
    (3, 2)
    """
    a = array_of(a)
    if axes is None:
        return _ops.transpose(a, axes=tuple(range(a.ndim))[::-1])
    order = tuple(axis_of("transpose", i, a.ndim) for i in axes)
    if sorted(order) != list(range(a.ndim)):
        raise ShapeError(
            f"fnp.transpose: axes={tuple(axes)} is no permutation of {a.ndim} axes{where()}"
        )
    return _ops.transpose(a, axes=order)


def matrix_transpose(x: Any, /) -> Any:
    """The last two axes swapped.

    Shapes: ``x: (*a, m, n) -> (*a, n, m)``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: `x` has fewer than two axes.
    Source: NumPy reference, ``numpy.matrix_transpose``.

    >>> matrix_transpose(np.ones((4, 2, 3))).shape
    (4, 3, 2)
    """
    x = array_of(x)
    if x.ndim < 2:
        raise ShapeError(f"fnp.matrix_transpose: needs two axes or more, found {x.ndim}{where()}")
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged.

    Shapes: ``a: (*a, m, *b, n, *c) -> (*a, n, *b, m, *c)``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: an axis does not exist.
    Source: NumPy reference, ``numpy.swapaxes``.

    >>> swapaxes(np.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    a = array_of(a)
    order = list(range(a.ndim))
    i, j = axis_of("swapaxes", axis1, a.ndim), axis_of("swapaxes", axis2, a.ndim)
    order[i], order[j] = j, i
    return _ops.transpose(a, axes=tuple(order))


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places; the others keep their order.

    Shapes: as described.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: an axis does not exist, is given twice, or the numbers of axes differ.
    Source: NumPy reference, ``numpy.moveaxis``.

    >>> moveaxis(np.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    a = array_of(a)
    sources, places = (
        [axis_of("moveaxis", i, a.ndim) for i in ((x,) if np.ndim(x) == 0 else x)]
        for x in (source, destination)
    )
    if (
        len(sources) != len(places)
        or len({*sources}) != len(sources)
        or len({*places}) != len(places)
    ):
        raise ShapeError(
            f"fnp.moveaxis: source={source} and destination={destination} must be as many, each axis "
            f"once{where()}"
        )
    order = [i for i in range(a.ndim) if i not in sources]
    for place, i in sorted(zip(places, sources, strict=True)):
        order.insert(place, i)
    return _ops.transpose(a, axes=tuple(order))


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """`axis` moved so that it lies before the axis that is now at `start`.

    Shapes: as described.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: an axis does not exist.
    Source: NumPy reference, ``numpy.rollaxis``.

    >>> rollaxis(np.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    a = array_of(a)
    axis = axis_of("rollaxis", axis, a.ndim)
    start = axis_of("rollaxis", start, a.ndim + 1) if start >= 0 else start + a.ndim
    order = [i for i in range(a.ndim) if i != axis]
    order.insert(start - (axis < start), axis)
    return _ops.transpose(a, axes=tuple(order))


# ---------------------------------------------------------------- flip, rot90


def flip(m: Any, axis: Any = None) -> Any:
    """The elements in reverse order along all axes, or along those given.

    Shapes: ``m: (*a) -> (*a)``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: an axis does not exist.
    Source: NumPy reference, ``numpy.flip``.

    >>> flip([1.0, 2.0, 3.0]).tolist()
    [3.0, 2.0, 1.0]
    """
    m = array_of(m)
    return _ops.flip(m, axis=axes_of("flip", axis, m.ndim))


def fliplr(m: Any) -> Any:
    """The columns in reverse order: axis 1.

    Shapes: ``m: (m, n, *a) -> (m, n, *a)``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: `m` has fewer than two axes.
    Source: NumPy reference, ``numpy.fliplr``.

    >>> fliplr([[1.0, 2.0]]).tolist()
    [[2.0, 1.0]]
    """
    m = array_of(m)
    return _ops.flip(m, axis=(axis_of("fliplr", 1, m.ndim),))


def flipud(m: Any) -> Any:
    """The rows in reverse order: axis 0.

    Shapes: ``m: (m, *a) -> (m, *a)``.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: `m` has no axis.
    Source: NumPy reference, ``numpy.flipud``.

    >>> flipud([1.0, 2.0]).tolist()
    [2.0, 1.0]
    """
    m = array_of(m)
    return _ops.flip(m, axis=(axis_of("flipud", 0, m.ndim),))


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """`m` turned by `k` quarter turns in the plane of `axes`, from the first towards the second.

    Shapes: ``(m, n, *a) -> (n, m, *a)`` for odd `k`.   Dtypes: all.
    Derivative: linear; smooth everywhere.
    Raises: ShapeError: `axes` are not two different axes.
    Source: NumPy reference, ``numpy.rot90``.

    >>> rot90([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[2.0, 4.0], [1.0, 3.0]]
    """
    m = array_of(m)
    first, second = (axis_of("rot90", i, m.ndim) for i in axes)
    if first == second:
        raise ShapeError(f"fnp.rot90: axes={tuple(axes)} must be two different axes{where()}")
    k = known_lengths("fnp.rot90: k", k) % 4
    if k == 0:
        return _ops.transpose(m, axes=tuple(range(m.ndim)))
    if k == 2:
        return _ops.flip(m, axis=tuple(sorted((first, second))))
    if k == 1:
        return swapaxes(_ops.flip(m, axis=(second,)), first, second)
    return _ops.flip(swapaxes(m, first, second), axis=(second,))
