"""Morphology of grey images: erosion and dilation by a window or a structure, and what they make."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...errors import ShapeError, where
from ...indexing import read
from .._arrays import floating
from .filters import axes_in, image, per_axis
from .ranks import extreme, footprint_of, windows_of


def _ends(
    name: str,
    x: Any,
    size: Any,
    footprint: Any,
    structure: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    axes: Any,
    *,
    up: bool,
) -> Any:
    """The greatest of the windows' elements plus the mirrored structure, or the least minus it."""
    found = axes_in(name, axes, x.ndim)
    origins = [operator.index(o) for o in per_axis(name, "origin", origin, len(found))]
    if structure is not None:
        structure = floating(structure)
        if footprint is None:
            footprint = np.ones(structure.shape, bool)
        if structure.ndim != len(found) or np.shape(footprint) != structure.shape:
            raise ShapeError(
                f"{name}: the structure has shape {list(structure.shape)}, the footprint "
                f"{list(np.shape(footprint))}; need {len(found)} axes and the same shape{where()}"
            )
    print_ = footprint_of(name, size, footprint, len(found))
    if up:  # a dilation is the opposite of an erosion: everything is mirrored
        print_ = np.flip(print_)
        structure = None if structure is None else fnp.flip(structure)
        origins = [-o - (n + 1) % 2 for o, n in zip(origins, print_.shape, strict=True)]
    end = fnp.max if up else fnp.min
    if structure is None:
        return extreme(end, name, x, None, print_, mode, cval, origins, axes)
    windows = windows_of(name, x, print_, found, mode, cval, origins)
    heights = read(structure, np.nonzero(print_))
    heights = fnp.reshape(heights, (heights.shape[0],) + (1,) * x.ndim)
    return end(windows + heights if up else windows - heights, axis=0)


def grey_erosion(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """``min_k(x[i + k] - structure[k])`` over a window, of which `structure` says heights, if given.

    The window has `size` elements along every axis, or those that are True in `footprint`, or the shape
    of the structure. `mode` as for `correlate`.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: real floating; integers give float64.
    Derivative: as `min` of the window; equal ones share; by `structure`, too.
    Raises: ArgumentError: none of these is given, another mode, an output. ShapeError: the axes do not
    fit.
    Source: Soille, "Morphological Image Analysis", Springer 2004; SciPy reference,
    ``scipy.ndimage.grey_erosion``.

    >>> grey_erosion([3.0, 1.0, 2.0, 5.0], structure=[0.0, 0.5, 0.0]).tolist()
    [1.0, 0.5, 1.0, 2.0]
    """
    x = image("grey_erosion", input, output)
    return _ends("grey_erosion", x, size, footprint, structure, mode, cval, origin, axes, up=False)


def grey_dilation(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """``max_k(x[i - k] + structure[k])`` over a window; arguments as for `grey_erosion`.

    Shapes, Dtypes: as `grey_erosion`.   Derivative: as `max` of the window; equal ones share; by
    `structure`, too.
    Raises: as `grey_erosion`.
    Source: as `grey_erosion`; SciPy reference, ``scipy.ndimage.grey_dilation``.

    >>> grey_dilation([3.0, 1.0, 2.0, 5.0], 3).tolist()
    [3.0, 3.0, 5.0, 5.0]
    """
    x = image("grey_dilation", input, output)
    return _ends("grey_dilation", x, size, footprint, structure, mode, cval, origin, axes, up=True)


def _in_turn(steps: Sequence[Any], input: Any, args: Sequence[Any], axes: Any) -> Any:
    for step in steps:
        input = step(input, *args, axes=axes)
    return input


def grey_opening(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """`grey_erosion`, then `grey_dilation`: takes away what is bright and smaller than the window.

    Shapes, Dtypes, Derivative, Raises: as these.
    Source: as `grey_erosion`; SciPy reference, ``scipy.ndimage.grey_opening``.

    >>> grey_opening([0.0, 5.0, 0.0, 4.0, 4.0, 4.0, 0.0], 3).tolist()
    [0.0, 0.0, 0.0, 4.0, 4.0, 4.0, 0.0]
    """
    args = (size, footprint, structure, output, mode, cval, origin)
    return _in_turn((grey_erosion, grey_dilation), input, args, axes)


def grey_closing(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """`grey_dilation`, then `grey_erosion`: takes away what is dark and smaller than the window.

    Shapes, Dtypes, Derivative, Raises: as these.
    Source: as `grey_erosion`; SciPy reference, ``scipy.ndimage.grey_closing``.

    >>> grey_closing([5.0, 0.0, 5.0, 1.0, 1.0, 1.0, 5.0], 3).tolist()
    [5.0, 5.0, 5.0, 1.0, 1.0, 1.0, 5.0]
    """
    args = (size, footprint, structure, output, mode, cval, origin)
    return _in_turn((grey_dilation, grey_erosion), input, args, axes)


def white_tophat(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The image less its `grey_opening`: what is bright and smaller than the window.

    Shapes, Dtypes, Derivative, Raises: as `grey_erosion`.
    Source: as `grey_erosion`; SciPy reference, ``scipy.ndimage.white_tophat``.

    >>> white_tophat([0.0, 5.0, 0.0, 4.0, 4.0, 4.0, 0.0], 3).tolist()
    [0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    x = image("white_tophat", input, output)
    args = (size, footprint, structure, None, mode, cval, origin)
    return x - grey_opening(x, *args, axes=axes)


def black_tophat(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """The image's `grey_closing` less itself: what is dark and smaller than the window.

    Shapes, Dtypes, Derivative, Raises: as `grey_erosion`.
    Source: as `grey_erosion`; SciPy reference, ``scipy.ndimage.black_tophat``.

    >>> black_tophat([5.0, 0.0, 5.0, 1.0, 1.0, 1.0, 5.0], 3).tolist()
    [0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    x = image("black_tophat", input, output)
    args = (size, footprint, structure, None, mode, cval, origin)
    return grey_closing(x, *args, axes=axes) - x


def morphological_gradient(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """`grey_dilation` less `grey_erosion`.

    Shapes, Dtypes, Derivative, Raises: as `grey_erosion`.
    Source: as `grey_erosion`; SciPy reference, ``scipy.ndimage.morphological_gradient``.

    >>> morphological_gradient([3.0, 1.0, 2.0, 5.0], 3).tolist()
    [2.0, 2.0, 4.0, 3.0]
    """
    x = image("morphological_gradient", input, output)
    args = (size, footprint, structure, None, mode, cval, origin)
    return grey_dilation(x, *args, axes=axes) - grey_erosion(x, *args, axes=axes)


def morphological_laplace(
    input: Any,
    size: Any = None,
    footprint: Any = None,
    structure: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """`grey_dilation` plus `grey_erosion`, less twice the image.

    Shapes, Dtypes, Derivative, Raises: as `grey_erosion`.
    Source: as `grey_erosion`; SciPy reference, ``scipy.ndimage.morphological_laplace``.

    >>> morphological_laplace([3.0, 1.0, 2.0, 5.0], 3).tolist()
    [-2.0, 2.0, 2.0, -3.0]
    """
    x = image("morphological_laplace", input, output)
    args = (size, footprint, structure, None, mode, cval, origin)
    return grey_dilation(x, *args, axes=axes) + grey_erosion(x, *args, axes=axes) - 2.0 * x
