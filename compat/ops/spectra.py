"""`stft` and `istft`: spectra of the windows of a signal, and the signal with such spectra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import funcgrad.numpy.fft as transforms
from funcgrad.indexing import known

from ..autograd import sites
from ._compose import composed
from ._fresh import made
from ._operands import operand
from .complex import view_as_real
from .padding import pad
from .part import unfold
from .slices import index_add

if TYPE_CHECKING:
    from .._tensor import Tensor

_NO_WINDOW = (
    "A window was not provided. A rectangular window will be applied, which is known to cause spectral "
    "leakage. Others, such as torch.hann_window, reduce it; window=torch.ones(n_fft) asks for this one."
)


def _window(name: str, x: Any, window: Any, n_fft: int, win_length: int | None) -> Any:
    """The window in the middle of `n_fft` points.

    Raises: RuntimeError: the lengths do not fit.
    """
    length = n_fft if win_length is None else win_length
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is None:
        sites.warn(_NO_WINDOW)
        window = made(np.ones(length, np.empty(0, x._array.dtype).real.dtype))
    elif tuple(window.shape) != (length,):
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={length}, but got "
            f"window with size {list(window.shape)}"
        )
    left = (n_fft - length) // 2
    return pad(window, (left, n_fft - length - left)) if length < n_fft else window


def _normed(normalized: bool) -> str:
    return "ortho" if normalized else "backward"


def _check_signal(x: Any, is_complex: bool, onesided: Any, return_complex: Any) -> None:
    """Raises: RuntimeError: the axes or dtypes do not fit, or what is returned is not said."""
    if x.dim() not in (1, 2):
        raise RuntimeError(f"stft: expected a 1D or 2D tensor, but got {x.dim()}D")
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError("stft: expected a tensor of floating point or complex values")
    if return_complex is None and not is_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further "
            "require that return_complex=True in a future PyTorch release."
        )
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")


def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """``X_kt = sum_j w_j x_{j + t hop} exp(-2 pi i j k / n_fft)``: spectra of parts of a signal.

    `center`: part `t` has its middle at ``t * hop_length``, a quarter of `n_fft` if that is None, of
    the signal that `pad_mode` makes longer. `normalized`: over ``sqrt(n_fft)``. `onesided`: without
    what follows from the rest by symmetry, the default for real signals. Without `return_complex`
    real and imaginary parts are along a last axis; real signals have to say which.

    Shapes: ``(*batch, length) -> (*batch, frequencies, parts)``, of at most one batch axis.
    Raises: RuntimeError: the lengths, shapes or dtypes do not fit; `align_to_window` is given.

    >>> import compat as torch
    >>> x = torch.tensor([1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0, 0.0])
    >>> torch.stft(x, 4, 4, window=torch.ones(4), center=False, return_complex=True).abs()
    tensor([[0., 0.],
            [2., 2.],
            [0., 0.]])
    """
    x = operand("stft", 1, "input", input)
    if align_to_window is not None:
        raise RuntimeError("stft: align_to_window is not supported; leave it None")
    is_complex = x.is_complex() or (window is not None and window.is_complex())
    _check_signal(x, is_complex, onesided, return_complex)
    hop = n_fft // 4 if hop_length is None else hop_length
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    if center:
        lead = x[None, None] if x.dim() == 1 else x[:, None]
        longer = pad(lead, (n_fft // 2, n_fft // 2), pad_mode)
        x = longer[0, 0] if x.dim() == 1 else longer[:, 0]
    if not 0 < n_fft <= x.shape[-1]:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {x.shape[-1]}, but got n_fft={n_fft}")
    parts = unfold(x, -1, n_fft, hop) * _window("stft", x, window, n_fft, win_length)
    transform = transforms.fft if is_complex or onesided is False else transforms.rfft
    found = composed("StftBackward0", transform, parts, axis=-1, norm=_normed(normalized))
    found = found.transpose(-1, -2)
    return found if return_complex or return_complex is None else view_as_real(found)


def _added(parts: Any, hop: int) -> Any:
    """The sum of parts ``(batch, parts, n)``, of which each begins `hop` after the one before it."""
    batch, count, n = parts.shape
    places = np.arange(count)[:, None] * hop + np.arange(n)
    empty = made(np.zeros((batch, n + hop * (count - 1)), parts._array.dtype))
    return index_add(empty, 1, made(places.ravel()), parts.reshape(batch, -1))


def istft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """``x_i = sum_t w_{i - t hop} y_{t, i - t hop} / sum_t w_{i - t hop}^2``, `y` inverse transforms.

    The inverse of `stft` with the same options; of other spectra, the signal whose spectra are
    nearest. `length`: how many elements of the signal to return.

    Shapes: ``(*batch, frequencies, parts) -> (*batch, length)``, of at most one batch axis.
    Raises: RuntimeError: the lengths, shapes or dtypes do not fit; no window covers some element. That
    is NaN where `vmap` gives each example a window.

    >>> import compat as torch
    >>> x, window = torch.arange(8.0), torch.hann_window(4)
    >>> torch.istft(torch.stft(x, 4, window=window, return_complex=True), 4, window=window).round()
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    z = operand("istft", 1, "input", input)
    if not z.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if z.dim() not in (2, 3) or not z.numel():
        raise RuntimeError(
            f"istft: expected a tensor with 2 or 3 dimensions and some elements, but got one of shape "
            f"{list(z.shape)}"
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    if not 0 < hop <= (n_fft if win_length is None else win_length):
        raise RuntimeError(
            f"istft: expected 0 < hop_length <= win_length, but got hop_length={hop}"
        )
    if onesided is None:
        onesided = z.shape[-2] != n_fft
    if z.shape[-2] != (n_fft // 2 + 1 if onesided else n_fft):
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"n_fft{' / 2 + 1' if onesided else ''} when onesided={onesided}, but got {z.shape[-2]}"
        )
    w = _window("istft", z, window, n_fft, win_length)
    if return_complex and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if w.is_complex() and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    rows = (z if z.dim() == 3 else z[None]).transpose(1, 2)
    if return_complex:
        y = composed("FftC2CBackward0", transforms.ifft, rows, axis=-1, norm=_normed(normalized))
    else:
        half, options = rows[..., : n_fft // 2 + 1], {"n": n_fft, "norm": _normed(normalized)}
        y = composed("FftC2RBackward0", transforms.irfft, half, axis=-1, **options)
    signal = _added(y * w, hop)
    weight = _added((w * w).expand(1, rows.shape[1], n_fft), hop)
    x = _middle(signal, weight, n_fft // 2 if center else 0, length)
    return x if z.dim() == 3 else x[0]


def _middle(signal: Any, weight: Any, start: int, length: int | None) -> Any:
    """``signal / weight`` from `start` on, without as much at the end or of this length.

    Raises: RuntimeError: a weight is known and 0.
    """
    end = signal.shape[1] - start if length is None else start + length
    weight = weight[:, start:end]
    reached = known((weight.abs() > 1e-11)._array)  # not under vmap over windows
    if reached is not None and not reached.all():
        raise RuntimeError(
            "istft: the sum of the squares of the windows is 0 somewhere (window overlap add min: 1), "
            "so the signal is not known there. Use center=True, a shorter hop_length or another window."
        )
    x = signal[:, start:end] / weight
    missing = end - start - x.shape[1]
    if missing <= 0:
        return x
    sites.warn(
        "The length of signal is shorter than the length parameter. Result is being padded with zeros "
        "in the tail. Please check your center and hop_length settings."
    )
    return pad(x, (0, missing))


class SpectraMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    istft = istft
    stft = stft


__all__ = ["istft", "stft"]
