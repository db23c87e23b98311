"""Windows by their names."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import fresh
from ...ops.arithmetic import power
from ...ops.bessel import i0
from ...ops.exponential import exp
from ...ops.select import where as choose
from ...ops.trigonometric import cos

# ---------------------------------------------------------------- sums of cosines

_COSINES: dict[str, list[float]] = {
    "boxcar": [1.0],
    "hann": [0.5, 0.5],
    "hamming": [0.54, 0.46],
    "blackman": [0.42, 0.5, 0.08],
    "nuttall": [0.3635819, 0.4891775, 0.1365995, 0.0106411],
    "blackmanharris": [0.35875, 0.48829, 0.14128, 0.01168],
    "flattop": [0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368],
}


def _cosines(n: int, a: Sequence[Any]) -> Any:
    turn = np.linspace(-math.pi, math.pi, n)
    return sum(c * np.cos(k * turn) for k, c in enumerate(a))


def _general_hamming(n: int, alpha: Any) -> Any:
    return _cosines(n, [alpha, 1.0 - alpha])


# ---------------------------------------------------------------- others


def _away(n: int) -> np.ndarray:
    """The distances from the middle."""
    return np.abs(np.arange(n) - (n - 1) / 2)


def _triang(n: int) -> Any:
    return 1.0 - _away(n) * 2.0 / (n + n % 2)


def _bartlett(n: int) -> Any:
    return 1.0 - _away(n) * 2.0 / (n - 1)


def _parzen(n: int) -> Any:
    far = _away(n) * 2.0 / n
    return np.where(far <= 0.5, 1.0 - 6.0 * far**2 * (1.0 - far), 2.0 * (1.0 - far) ** 3)


def _bohman(n: int) -> Any:
    far = _away(n) * 2.0 / (n - 1)
    inside = (1.0 - far) * np.cos(math.pi * far) + np.sin(math.pi * far) / math.pi
    return np.where(far < 1.0, inside, 0.0)


def _barthann(n: int) -> Any:
    far = np.abs(np.arange(n) / (n - 1.0) - 0.5)
    return 0.62 - 0.48 * far + 0.38 * np.cos(2.0 * math.pi * far)


def _cosine(n: int) -> Any:
    return np.sin(math.pi / n * (np.arange(n) + 0.5))


def _lanczos(n: int) -> Any:
    return np.sinc(_away(n) * 2.0 / (n - 1))


def _gaussian(n: int, std: Any) -> Any:
    far = _away(n) / std
    return exp(far * far * -0.5)


def _general_gaussian(n: int, p: Any, sig: Any) -> Any:
    return exp(power(_away(n) / sig, 2.0 * p) * -0.5)


def _exponential(n: int, center: Any = None, tau: Any = 1.0) -> Any:
    places = np.arange(n) - ((n - 1) / 2 if center is None else center)
    return exp(-abs(places) / tau)


def _kaiser(n: int, beta: Any) -> Any:
    inside = np.sqrt(np.maximum(1.0 - (_away(n) * 2.0 / (n - 1)) ** 2, 0.0))
    return i0(inside * beta) / i0(beta * 1.0)


def _tukey(n: int, alpha: Any = 0.5) -> Any:
    """A cosine at the ends, over the share `alpha`, and 1 in between."""
    reach = (n - 1) / 2 - _away(n)  # the distance from the nearer end
    width = alpha * (n - 1) / 2.0
    inside = reach <= width
    turn = math.pi * (reach / choose(width > 0, width, 1.0) - 1.0)
    return choose(inside & (width > 0), (cos(choose(inside, turn, 0.0)) + 1.0) * 0.5, 1.0)


_WINDOWS: dict[str, Callable[..., Any]] = {
    "barthann": _barthann,
    "bartlett": _bartlett,
    "bohman": _bohman,
    "cosine": _cosine,
    "exponential": _exponential,
    "gaussian": _gaussian,
    "general_cosine": _cosines,
    "general_gaussian": _general_gaussian,
    "general_hamming": _general_hamming,
    "kaiser": _kaiser,
    "lanczos": _lanczos,
    "parzen": _parzen,
    "triang": _triang,
    "tukey": _tukey,
}
_OTHER_NAMES = {"box": "boxcar", "ones": "boxcar", "rect": "boxcar", "rectangular": "boxcar"}


def get_window(
    window: Any, Nx: int, fftbins: bool = True, *, xp: Any = None, device: Any = None
) -> Any:
    """The window of that name, of `Nx` elements; with parameters as a tuple, ``("kaiser", 8.0)``.

    A number is the beta of a Kaiser window. `fftbins`: periodic, as for Fourier transforms, not
    symmetric; a name that ends in "_periodic" or "_symmetric" says so itself.

    Shapes: ``-> (Nx,)``.   Dtypes: float64.
    Derivative: by the parameters; none by alpha of "tukey" where it is 0.
    Raises: ArgumentError: an unknown window, or wrong parameters. ShapeError: `Nx` is less than 1.
    Source: SciPy reference, ``scipy.signal.get_window``.

    >>> get_window("hann", 4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    if xp is not None or device is not None:
        raise ArgumentError(f"get_window: xp= and device= are not supported{where()}")
    name, *parameters = window if isinstance(window, tuple) else (window,)
    if not isinstance(name, str):
        name, parameters = "kaiser", [name, *parameters]
    for ending in ("_periodic", "_symmetric"):
        if name.endswith(ending):
            name, fftbins = name.removesuffix(ending), ending == "_periodic"
    name = _OTHER_NAMES.get(name, name)
    n = operator.index(Nx)
    if n < 1:
        raise ShapeError(f"get_window: Nx={n}; need 1 or more{where()}")
    if name not in _COSINES and name not in _WINDOWS:
        raise ArgumentError(
            f"get_window: there is no window {name!r}; need one of "
            f"{', '.join(sorted([*_COSINES, *_WINDOWS]))}{where()}"
        )
    if n == 1:
        return fresh(np.ones(1))
    count = n + bool(fftbins)
    try:
        if name in _COSINES:
            found = _cosines(count, _COSINES[name], *parameters)
        else:
            found = _WINDOWS[name](count, *parameters)
    except TypeError:
        raise ArgumentError(
            f"get_window: {name!r} does not take {len(parameters)} parameters{where()}"
        ) from None
    return found[:n]
