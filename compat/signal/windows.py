"""`torch.signal.windows`: windows for spectra, symmetric unless told otherwise.

With ``sym=False`` a window is that of one more point without the last, so that copies of it in a row
are one period after another. The numbers are those of `funcgrad.scipy.signal.get_window`, in double
precision, rounded once. A window is a new leaf: it has no derivative by its parameters.

>>> import compat as torch
>>> torch.signal.windows.hann(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.scipy.signal.windows import get_window

from .. import dtypes
from ..ops._fresh import dtype_for, made, there
from ..ops._operands import plain_number
from ..size import strided

if TYPE_CHECKING:
    from .._tensor import Tensor


def _window(
    name: str,
    M: Any,
    window: Any,
    sym: bool,
    dtype: Any,
    layout: Any,
    device: Any,
    requires_grad: bool,
) -> Any:
    """`M` points of a window as SciPy names it.

    Raises: TypeError: `M` is no integer. ValueError: it is negative, or the dtype or layout is not
    one that windows have.
    """
    if not hasattr(type(M), "__index__"):
        raise TypeError(f"{name}(): argument 'M' (position 1) must be int, not {type(M).__name__}")
    count = operator.index(M)
    if count < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not None and layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    chosen = dtype_for(name, dtype, None)
    if chosen not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {chosen}")
    values = get_window(window, count, fftbins=not sym) if count else np.empty(0)
    with there(device) as xp:
        return made(xp.asarray(np.asarray(values).astype(chosen.numpy)), requires_grad)


def _positive(name: str, said: str, argument: str, x: Any) -> float:
    """Raises: ValueError: `x` is not positive. TypeError: it is no number."""
    number = plain_number(name, argument, x)
    if number <= 0:
        raise ValueError(f"{said} must be positive, got: {x} instead.")
    return float(number)


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``1 - |2 n / N - 1|``, where n counts from 0 to N, N = M - 1 if symmetric and M if not.

    Raises: ValueError, TypeError: `M` is no number of points, or the dtype is neither float32 nor
    float64.

    >>> import compat as torch
    >>> torch.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _window("bartlett", M, "bartlett", sym, dtype, layout, device, requires_grad)


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``; `n`, `N` and errors as in `bartlett`.

    >>> import compat as torch
    >>> torch.signal.windows.blackman(4)[1:3]
    tensor([0.6300, 0.6300])
    """
    return _window("blackman", M, "blackman", sym, dtype, layout, device, requires_grad)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``sin(pi (n + 1 / 2) / (N + 1))``; `n`, `N` and errors as in `bartlett`.

    >>> import compat as torch
    >>> torch.signal.windows.cosine(5)
    tensor([0.3090, 0.8090, 1.0000, 0.8090, 0.3090])
    """
    return _window("cosine", M, "cosine", sym, dtype, layout, device, requires_grad)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``exp(-|n - center| / tau)``; `center` is the middle unless given, see `bartlett`.

    Raises: as `bartlett`; and ValueError: `tau` is not positive, or a symmetric window has a
    `center`.

    >>> import compat as torch
    >>> torch.signal.windows.exponential(3, tau=2.0)
    tensor([0.6065, 1.0000, 0.6065])
    """
    tau = _positive("exponential", "Tau", "tau", tau)
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = plain_number("exponential", "center", center)
    window = ("exponential", middle, tau)
    return _window("exponential", M, window, sym, dtype, layout, device, requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``exp(-((n - N / 2) / std)^2 / 2)``; `n` and `N` as in `bartlett`.

    Raises: as `bartlett`; and ValueError: `std` is not positive.

    >>> import compat as torch
    >>> torch.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    window = ("gaussian", _positive("gaussian", "Standard deviation", "std", std))
    return _window("gaussian", M, window, sym, dtype, layout, device, requires_grad)


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``sum_k (-1)^k a_k cos(2 pi k n / N)``; `n` and `N` as in `bartlett`.

    Raises: as `bartlett`; and TypeError: `a` is no list of numbers. ValueError: it is empty.

    >>> import compat as torch
    >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    factors = [float(plain_number("general_cosine", "a", x)) for x in a]
    if not factors:
        raise ValueError("Coefficients cannot be empty")
    window = ("general_cosine", factors)
    return _window("general_cosine", M, window, sym, dtype, layout, device, requires_grad)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``alpha - (1 - alpha) cos(2 pi n / N)``; `n`, `N` and errors as in `bartlett`.

    >>> import compat as torch
    >>> torch.signal.windows.general_hamming(3, alpha=0.75)
    tensor([0.5000, 1.0000, 0.5000])
    """
    window = ("general_hamming", float(plain_number("general_hamming", "alpha", alpha)))
    return _window("general_hamming", M, window, sym, dtype, layout, device, requires_grad)


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``0.54 - 0.46 cos(2 pi n / N)``; `n`, `N` and errors as in `bartlett`.

    >>> import compat as torch
    >>> torch.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return _window("hamming", M, "hamming", sym, dtype, layout, device, requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``sin(pi n / N)^2``; `n`, `N` and errors as in `bartlett`.

    >>> import compat as torch
    >>> torch.signal.windows.hann(4, sym=False)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("hann", M, "hann", sym, dtype, layout, device, requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``i0(beta sqrt(1 - (2 n / N - 1)^2)) / i0(beta)``; `n` and `N` as in `bartlett`.

    Raises: as `bartlett`; and ValueError: `beta` is negative.

    >>> import compat as torch
    >>> torch.signal.windows.kaiser(3, beta=2.0)
    tensor([0.4387, 1.0000, 0.4387])
    """
    number = plain_number("kaiser", "beta", beta)
    if number < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    window = ("kaiser", float(number))
    return _window("kaiser", M, window, sym, dtype, layout, device, requires_grad)


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Nuttall's sum of four cosines with a continuous slope; `n`, `N` and errors as in `bartlett`.

    >>> import compat as torch
    >>> torch.signal.windows.nuttall(5)
    tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])
    """
    return _window("nuttall", M, "nuttall", sym, dtype, layout, device, requires_grad)


__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]
