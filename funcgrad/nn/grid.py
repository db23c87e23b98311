"""Samples of an image, or of a volume, at any places, and the places of an affine map."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..algebra import concrete_namespace
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import arrays_of
from .resample import cubic_weights

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


def grid_sample(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Any:
    """The values of `x` at the places of `grid`, whose last axis has the coordinates, the last first.

    -1 and 1 are the edges of the image, or, if `align_corners`, the middles of its outer elements.
    Outside there are zeros, the element at the border, or the image reflected.

    Shapes: ``x: (n, c, *spatial), grid: (n, *places, d) -> (n, c, *places)``, d = 2 or 3 axes.
    Dtypes: floating.
    Derivative: linear in `x`; by `grid` that of the interpolation, 0 for "nearest".
    Raises: ArgumentError: a mode is unknown. ShapeError: the shapes do not fit.
    Source: Jaderberg et al., "Spatial transformer networks", NeurIPS (2015); PyTorch reference,
    ``torch.nn.functional.grid_sample``.

    >>> image = np.array([[[[0.0, 4.0]]]])
    >>> grid_sample(image, np.array([[[[-0.5, 0.0], [0.0, 0.0]]]])).tolist()
    [[[[0.0, 2.0]]]]
    """
    x, grid = arrays_of(x, grid)
    _check(x, grid, mode, padding_mode)
    shape = aval_of(x).shape
    d = len(shape) - 2
    flat = fnp.reshape(x, (*shape[:2], math.prod(shape[2:])))
    places = fnp.reshape(grid, (shape[0], math.prod(aval_of(grid).shape[1:-1]), d))
    taps = [
        _taps(places[:, :, d - 1 - i], n, mode, padding_mode, align_corners)
        for i, n in enumerate(shape[2:])
    ]
    total: Any = 0.0
    for corner in itertools.product(*taps):
        total = total + _tap(flat, corner, shape[2:])
    return fnp.reshape(total, (*shape[:2], *aval_of(grid).shape[1:-1]))


def _check(x: Any, grid: Any, mode: str, padding_mode: str) -> None:
    if mode not in MODES or padding_mode not in PADDINGS:
        raise ArgumentError(
            f"grid_sample: mode={mode!r}, padding_mode={padding_mode!r}; need one of {MODES} and of "
            f"{PADDINGS}{where()}"
        )
    a, b = aval_of(x).shape, aval_of(grid).shape
    d = len(a) - 2
    fits = d in (2, 3) and len(b) == d + 2 and b[-1] == d and a[0] == b[0] and 0 not in a[2:]
    if not fits or (mode == "bicubic" and d != 2):
        raise ShapeError(
            f"grid_sample: x is {aval_of(x)} and grid is {aval_of(grid)}; need (n, c, *spatial) and "
            f"(n, *places, d) for d = 2 or 3 axes (bicubic: 2){where()}"
        )


def _taps(g: Any, n: int, mode: str, padding: str, align: bool) -> list[tuple[Any, Any, Any]]:
    """The elements next to the places along an axis: which, their weights, and whether they exist.

    A weight or an existence of None is 1 or true.
    """
    at = (g + 1) * ((n - 1) / 2) if align else ((g + 1) * n - 1) / 2
    if mode == "bicubic":
        base = fnp.floor(at)
        weights = cubic_weights(at - base)
        found = [_inside(base + (k - 1), n, padding, align) for k in range(4)]
        return [_index(i, n, w, padding) for i, w in zip(found, weights, strict=True)]
    at = _inside(at, n, padding, align)
    if mode == "nearest":
        return [_index(fnp.rint(at), n, None, padding)]
    base = fnp.floor(at)
    t = at - base
    # At the border there is no element behind the last one, whatever its weight.
    return [_index(base, n, 1 - t, "zeros"), _index(base + 1, n, t, "zeros")]


def _index(i: Any, n: int, weight: Any, padding: str) -> tuple[Any, Any, Any]:
    exists = (i >= 0) & (i <= n - 1) if padding == "zeros" else None
    return fnp.clip(i, 0, n - 1).astype(np.int64), weight, exists


def _inside(at: Any, n: int, padding: str, align: bool) -> Any:
    """The places brought into the image as the padding says."""
    if padding == "zeros":
        return at
    if padding == "reflection":
        low, span = (0.0, n - 1.0) if align else (-0.5, float(n))
        if span == 0:
            return at * 0.0
        distance = fnp.absolute(at - low)
        times = fnp.floor(distance / span)
        rest = distance - times * span
        at = fnp.where(times % 2 == 0, rest, span - rest) + low
    return fnp.clip(at, 0, n - 1)


def _tap(flat: Any, corner: Sequence[tuple[Any, Any, Any]], spatial: Sequence[int]) -> Any:
    """One element for every place, times its weight; 0 if it does not exist."""
    place: Any = 0
    for n, (i, _, _) in zip(spatial, corner, strict=True):
        place = place * n + i
    rows = concrete_namespace(flat).arange(aval_of(flat).shape[0])[:, None]
    values = fnp.moveaxis(flat[rows, :, place], 2, 1)
    weights = [w for _, w, _ in corner if w is not None]
    exist = [e for _, _, e in corner if e is not None]
    if exist:
        values = fnp.where(functools.reduce(operator.and_, exist)[:, None], values, 0.0)
    return values * math.prod(weights[1:], start=weights[0])[:, None] if weights else values


def affine_grid(theta: Any, size: Sequence[int], align_corners: bool = False) -> Any:
    """The grid for `grid_sample` that shows an image of `size` at affine places.

    A place in the new image, in coordinates between -1 and 1, comes from ``theta @ (*place, 1)``.

    Shapes: ``theta: (n, d, d + 1), size: (n, c, *spatial) -> (n, *spatial, d)``, d = 2 or 3.
    Dtypes: floating.
    Derivative: linear.
    Raises: ShapeError: the shapes do not fit.
    Source: PyTorch reference, ``torch.nn.functional.affine_grid``.

    >>> affine_grid([[[1.0, 0.0, 0.0], [0.0, 1.0, 5.0]]], (1, 1, 1, 2)).tolist()
    [[[[-0.5, 5.0], [0.5, 5.0]]]]
    """
    (theta,) = arrays_of(theta)
    aval, d = aval_of(theta), len(size) - 2
    if d not in (2, 3) or aval.shape != (size[0], d, d + 1):
        raise ShapeError(
            f"affine_grid: theta is {aval} for an image of {tuple(size)}; need (n, d, d + 1) and "
            f"(n, c, *spatial) for d = 2 or 3 axes{where()}"
        )
    lines = [_line(n, align_corners, aval.dtype) for n in size[2:]]
    axes = np.meshgrid(*lines, indexing="ij")
    base = np.stack([*reversed(axes), np.ones_like(axes[0])], -1).reshape(-1, d + 1)
    base = concrete_namespace(theta).asarray(base)
    places = fnp.matmul(base, fnp.swapaxes(theta, 1, 2))
    return fnp.reshape(places, (*size[:1], *size[2:], d))


def _line(n: int, align_corners: bool, dtype: Any) -> np.ndarray:
    """The coordinates of n elements, PyTorch's to the last bit: `grid_sample` has a kink at each.

    They are counted from both ends, and rounded once, as by a fused multiply-add.
    """
    if n == 1:
        return np.zeros(1, dtype)
    step = np.longdouble(dtype.type(2) / dtype.type(n - 1))
    places = np.arange(n)
    line = np.where(places < n // 2, step * places - 1, 1 - step * (n - 1 - places)).astype(dtype)
    return line if align_corners else line * dtype.type(n - 1) / dtype.type(n)
