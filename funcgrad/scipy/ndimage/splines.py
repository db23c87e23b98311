"""Images as sums of B-splines: their coefficients, and which of them count at a place."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...errors import ArgumentError, where
from ...numpy._arguments import axis_of, beside, converted
from .filters import image, padded

_FAR = 12  # elements before the edges in modes that have no exact condition there


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
PLACES: dict[str, Callable[[Any, int], Any]] = {
    "reflect": _reflected,
    "grid-mirror": _reflected,
    "mirror": _mirrored,
    "nearest": _clipped,
    "wrap": _clipped,
    "grid-wrap": _wrapped,
    "constant": _clipped,
    "grid-constant": _clipped,
}
# And of coefficients, which are those of an image that goes on in the same way.
_SMOOTH = {**PLACES, "wrap": _mirrored, "constant": _mirrored}
# How coefficients go on where the image has no exact condition.
_EXACT = {"nearest": "reflect", "grid-mirror": "reflect", "grid-wrap": "grid-wrap"}


def spline_order(name: str, order: Any, least: int = 0) -> int:
    """Raises: ArgumentError: there are no splines of that order."""
    found = operator.index(order)
    if not least <= found <= 5:
        raise ArgumentError(f"{name}: order={order!r}; need {least} to 5{where()}")
    return found


def place_mode(name: str, mode: str) -> str:
    """Raises: ArgumentError: no such mode."""
    if mode not in PLACES:
        raise ArgumentError(
            f"{name}: mode={mode!r}; need one of {', '.join(map(repr, PLACES))}{where()}"
        )
    return mode


def weights_at(order: int, share: Any) -> list[Any]:
    """The B-splines with knots at the integers that are not 0 at `share`, from 0 to 1."""
    found: list[Any] = [1.0]
    for d in range(1, order + 1):
        up = [(share + (d - j)) * (w / d) for j, w in enumerate(found, 1)]
        down = [((j + 1) - share) * (w / d) for j, w in enumerate(found)]
        found = [down[0], *(a + b for a, b in zip(up, down[1:], strict=False)), up[-1]]
    return found


class Tap(NamedTuple):
    """An element for every place along an axis."""

    index: Any
    weight: Any  # None for 1
    there: Any  # None for everywhere; elsewhere it is `cval`


def taps(v: Any, n: int, order: int, mode: str, dtype: Any, far: int = 0) -> list[Tap]:
    """What counts at the places `v` of `n` coefficients, `far` of which are before the edges."""
    if mode == "wrap" and n > 1:
        v = fnp.where(v < 0, (n - 1) - fnp.mod(-v, n - 1), v)  # SciPy: the last one, not the first
        v = fnp.where(v > n - 1, fnp.mod(v, n - 1), v)
    if not order and PLACES[mode] in (_reflected, _mirrored):
        # Halfway SciPy takes the later element of the place inside, where that is folded over.
        period = 2 * n if PLACES[mode] is _reflected else max(2 * n - 2, 1)
        straight = fnp.logical_and(v >= 0, fnp.mod(v, period) < n)
        v = fnp.where(straight, v, PLACES[mode](v, n))
    v = v if order % 2 else v + 0.5
    low = fnp.floor(v)
    share = converted(v - low, dtype)
    first = converted(low, np.int64) + (far - order // 2)
    place = (_SMOOTH if order > 1 else PLACES)[mode]
    found = []
    for j, weight in enumerate(weights_at(order, share) if order else [None]):
        i = first + j
        there = fnp.logical_and(i >= 0, i < n) if mode == "grid-constant" else None
        found.append(Tap(place(i, n), weight, there))
    return found


def _coefficients(x: Any, order: int, axis: int, mode: str) -> Any:
    """One period of an image that repeats is a convolution: a quotient of Fourier transforms."""
    n = x.shape[axis]
    if n < 2 or order < 2:
        return x
    way = _EXACT.get(mode, mode)
    behind = {"reflect": n, "grid-wrap": 0}.get(way, n - 2)
    name = "grid-mirror" if way == "reflect" else "mirror"
    period = padded("spline_filter", x, {axis: (0, behind)}, [name], 0.0)
    size = n + behind
    middle = order // 2
    sampled = np.zeros(size)
    for j, w in enumerate(weights_at(order, np.array(0.5 if order % 2 == 0 else 0.0))):
        sampled[(j - middle) % size] += w
    dtype = aval_of(x).dtype
    symbol = beside(x, np.fft.fft(sampled).real.astype(np.finfo(dtype).dtype))
    shape = [1] * x.ndim
    shape[axis] = -1
    if dtype.kind == "c":
        y = fnp.fft.ifft(fnp.fft.fft(period, axis=axis) / symbol.reshape(shape), axis=axis)
    else:
        half = symbol[: size // 2 + 1].reshape(shape)
        y = fnp.fft.irfft(fnp.fft.rfft(period, axis=axis) / half, n=size, axis=axis)
    y = fnp.take(y, beside(y, np.arange(n)), axis=axis) if behind else y
    return converted(y, dtype)


def prefiltered(
    x: Any, axes: tuple[int, ...], order: int, mode: str, cval: Any, wanted: bool
) -> tuple[Any, int]:
    """The coefficients of the splines through an image, and how many are before its edges."""
    if order < 2 or not wanted or 0 in x.shape:
        return x, 0
    far = _FAR if mode in ("nearest", "grid-constant") else 0
    if far:
        x = padded("spline_filter", x, dict.fromkeys(axes, (far, far)), [mode] * len(axes), cval)
    for axis in axes:
        x = _coefficients(x, order, axis, mode)
    return x, far


def spline_filter1d(
    input: Any, order: int = 3, axis: int = -1, output: Any = None, mode: str = "mirror"
) -> Any:
    """The ``c`` with ``x[i] = sum_j c[j] B(i - j)`` along one axis, for the B-spline B of `order`.

    `mode` says how the image goes on; as for `map_coordinates`, where "reflect", "grid-mirror" and
    "nearest" are the same here, "grid-wrap" repeats and the others are "mirror". For "reflect" SciPy
    takes a sum for infinite, so that its splines miss the elements by up to 1e-3 where these are few.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: floating, complex; integers give float64.
    Derivative: linear.
    Raises: ArgumentError: `order` is not 0 to 5, another mode, an output.
    Source: Unser, IEEE Signal Process. Mag. 16 (1999); SciPy reference,
    ``scipy.ndimage.spline_filter1d``.

    >>> c = spline_filter1d([0.0, 6.0, 0.0])
    >>> c.tolist(), ((c[0] + 4 * c[1] + c[2]) / 6).round(12)
    ([-6.0, 12.0, -6.0], np.float64(6.0))
    """
    x, order = image("spline_filter1d", input, output), spline_order("spline_filter1d", order)
    axis, mode = axis_of("spline_filter1d", axis, x.ndim), place_mode("spline_filter1d", mode)
    return _coefficients(x, order, axis, mode)


def spline_filter(input: Any, order: int = 3, output: Any = None, mode: str = "mirror") -> Any:
    """`spline_filter1d` along every axis.

    Shapes: ``input: (*a) -> (*a)``.   Dtypes: as `spline_filter1d`.
    Derivative: linear.
    Raises: as `spline_filter1d`; ArgumentError: `order` is below 2.
    Source: as `spline_filter1d`.

    >>> spline_filter([[0.0, 6.0, 0.0]]).tolist()
    [[-6.0, 12.0, -6.0]]
    """
    x = image("spline_filter", input, output)
    order, mode = spline_order("spline_filter", order, 2), place_mode("spline_filter", mode)
    for axis in range(x.ndim):
        x = _coefficients(x, order, axis, mode)
    return x
