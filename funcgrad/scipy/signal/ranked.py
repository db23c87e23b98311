"""Filters of windows with zeros around: the element of a rank, and Wiener's."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...errors import ArgumentError, ShapeError, where
from .._arrays import floating


def _sizes(name: str, size: Any, ndim: int) -> list[int]:
    given = [3] * ndim if size is None else size
    given = list(given) if np.ndim(given) else [given] * ndim
    if len(given) != ndim:
        raise ShapeError(f"{name}: {len(given)} sizes for {ndim} axes{where()}")
    return [operator.index(n) for n in given]


def _require_odd(name: str, sizes: Any) -> None:
    if any(n < 1 or n % 2 == 0 for n in sizes):
        raise ArgumentError(f"{name}: a window of shape {list(sizes)}; need odd numbers{where()}")


def _windows(x: Any, chosen: np.ndarray) -> Any:
    """The elements of every window where it is `chosen`, along a new first axis; zeros around."""
    wide = fnp.pad(x, [(n // 2, n - 1 - n // 2) for n in chosen.shape])
    return fnp.stack(
        [
            wide[tuple(slice(i, i + n) for i, n in zip(place, x.shape, strict=True))]
            for place in itertools.product(*map(range, chosen.shape))
            if chosen[place]
        ]
    )


def order_filter(a: Any, domain: Any, rank: int) -> Any:
    """The element of every window that has `rank` others below it. The window has the elements that are
    not 0 in `domain`; around the image are zeros.

    Shapes: ``a: (*a), domain: as many axes -> (*a)``.   Dtypes: real floating; integers give float64.
    Derivative: 1 by the element that is taken, the first of equal ones.
    Raises: ArgumentError: a length of `domain` is even, or there is no such rank. ShapeError: the axes
    do not fit.
    Source: SciPy reference, ``scipy.signal.order_filter``.

    >>> order_filter([3.0, 1.0, 2.0, 5.0], [1, 0, 1], 1).tolist()
    [1.0, 3.0, 5.0, 2.0]
    """
    x, chosen = floating(a), np.asarray(domain) != 0
    if chosen.ndim != x.ndim:
        raise ShapeError(f"order_filter: domain has {chosen.ndim} axes for {x.ndim}{where()}")
    _require_odd("order_filter", chosen.shape)
    rank, count = operator.index(rank), int(chosen.sum())
    if not 0 <= rank < count:
        raise ArgumentError(f"order_filter: rank={rank} in windows of {count} elements{where()}")
    return x if 0 in x.shape else fnp.sort(_windows(x, chosen), axis=0)[rank]


def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    """The median of every window, of `kernel_size` elements, one for all axes or one for each, 3 by
    default; around the image are zeros.

    Shapes: ``volume: (*a) -> (*a)``.   Dtypes: real floating; integers give float64.
    Derivative: 1 by the element that is taken, the first of equal ones.
    Raises: ArgumentError: a size is even. ShapeError: there are not as many sizes as axes.
    Source: SciPy reference, ``scipy.signal.medfilt``.

    >>> medfilt([3.0, 1.0, 2.0, 5.0]).tolist()
    [1.0, 2.0, 2.0, 2.0]
    """
    x = fnp.atleast_1d(floating(volume))
    sizes = _sizes("medfilt", kernel_size, x.ndim)
    _require_odd("medfilt", sizes)
    return order_filter(x, np.ones(sizes), math.prod(sizes) // 2)


def medfilt2d(input: Any, kernel_size: Any = 3) -> Any:
    """`medfilt` of an image of two axes.

    Shapes: ``input: (n, m) -> (n, m)``.   Dtypes, Derivative, Raises: as `medfilt`.
    Source: SciPy reference, ``scipy.signal.medfilt2d``.

    >>> medfilt2d([[3.0, 1.0, 2.0]], (1, 3)).tolist()
    [[1.0, 2.0, 1.0]]
    """
    x = floating(input)
    if x.ndim != 2:
        raise ShapeError(f"medfilt2d: the image has {x.ndim} axes; need 2{where()}")
    return medfilt(x, kernel_size)


def wiener(im: Any, mysize: Any = None, noise: Any = None) -> Any:
    """``m + (1 - noise / v) (x - m)`` for the mean m and the variance v of every window, where v is
    above `noise`, and m elsewhere. Without `noise`, the mean of all v.

    Shapes: ``im: (*a) -> (*a)``.   Dtypes: real floating; integers give float64.
    Derivative: by `im` and `noise`; continuous, at ``v = noise`` that of the formula.
    Raises: ShapeError: there are not as many sizes as axes.
    Source: Lim, "Two-Dimensional Signal and Image Processing", 1990; SciPy reference,
    ``scipy.signal.wiener``.

    >>> wiener([3.0, 1.0, 2.0, 5.0]).round(4).tolist()
    [1.3333, 2.0, 2.5385, 3.5263]
    """
    x = floating(im)
    windows = _windows(x, np.ones(_sizes("wiener", mysize, x.ndim), bool))
    middle = fnp.mean(windows, axis=0)
    spread = fnp.mean(windows * windows, axis=0) - middle * middle
    noise = fnp.mean(spread) if noise is None else noise
    low = spread < noise
    share = 1.0 - noise / fnp.where(low | (spread == 0), 1.0, spread)
    return fnp.where(low, middle, share * (x - middle) + middle)
