"""Windows for short-time spectra: Hann's, Hamming's, Blackman's, Bartlett's, Kaiser's.

With `periodic` a window is that of one more point without the last, so that copies of it in a row are
one period after another.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from ._apply import _type_word
from ._fresh import dtype_for, made, only_strided, there

if TYPE_CHECKING:
    from .._tensor import Tensor

Formula = Callable[[np.ndarray], np.ndarray]


def _window(
    name: str, window_length: Any, periodic: Any, formula: Formula, options: dict[str, Any]
) -> Any:
    """``formula(t)`` at equal distances, where `t` is 0 at the start and 1 at the end.

    Raises: TypeError: the length is no integer. RuntimeError: it is negative, or the dtype is not a
    floating one.
    """
    if not hasattr(type(window_length), "__index__"):
        raise TypeError(
            f"{name}(): argument 'window_length' (position 1) must be int, not "
            f"{type(window_length).__name__}"
        )
    n = operator.index(window_length)
    dtype: dtypes.dtype = dtype_for(name, options["dtype"], None)
    if dtype.category < 2:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {_type_word(dtype)}")
    if n < 0:
        raise RuntimeError(
            f"{name} requires non-negative window_length, got window_length={window_length}"
        )
    steps = n if periodic else n - 1
    values = np.ones(n) if n <= 1 else formula(np.arange(n) / steps)
    with there(options["device"]) as xp:
        array = xp.asarray(values.astype(dtype.numpy))
    return made(array, options["requires_grad"])


def _cosines(t: np.ndarray, *factors: float) -> np.ndarray:
    """``a - b cos(2 pi t) + c cos(4 pi t) ...``"""
    return sum((-1) ** k * a * np.cos(2 * np.pi * k * t) for k, a in enumerate(factors))


def hann_window(
    window_length: Any,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``sin(pi t)^2``.

    Raises: RuntimeError, TypeError: the length is no number of elements.

    >>> import compat as torch
    >>> torch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    if layout is not None:
        only_strided("hann_window", layout)
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _window("hann_window", window_length, periodic, lambda t: _cosines(t, 0.5, 0.5), options)


def hamming_window(
    window_length: Any,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``alpha - beta cos(2 pi t)``; raises as `hann_window`."""
    if layout is not None:
        only_strided("hamming_window", layout)
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _window(
        "hamming_window", window_length, periodic, lambda t: _cosines(t, alpha, beta), options
    )


def blackman_window(
    window_length: Any,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t)``; raises as `hann_window`."""
    if layout is not None:
        only_strided("blackman_window", layout)
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _window(
        "blackman_window", window_length, periodic, lambda t: _cosines(t, 0.42, 0.5, 0.08), options
    )


def bartlett_window(
    window_length: Any,
    periodic: bool = True,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``1 - |2 t - 1|``; raises as `hann_window`."""
    if layout is not None:
        only_strided("bartlett_window", layout)
    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _window(
        "bartlett_window", window_length, periodic, lambda t: 1 - abs(2 * t - 1), options
    )


def kaiser_window(
    window_length: Any,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``i0(beta sqrt(1 - (2 t - 1)^2)) / i0(beta)``; raises as `hann_window`."""
    if layout is not None:
        only_strided("kaiser_window", layout)

    def formula(t: np.ndarray) -> np.ndarray:
        return np.i0(beta * np.sqrt(np.maximum(1 - (2 * t - 1) ** 2, 0))) / np.i0(beta)

    options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    return _window("kaiser_window", window_length, periodic, formula, options)


__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]
