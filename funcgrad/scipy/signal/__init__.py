"""``scipy.signal`` under SciPy's names and signatures, differentiable."""

from .chirp_z import czt, czt_points, zoom_fft
from .convolving import (
    choose_conv_method,
    convolve,
    convolve2d,
    correlate,
    correlate2d,
    correlation_lags,
    fftconvolve,
    oaconvolve,
)
from .filtering import (
    filtfilt,
    freqz,
    freqz_sos,
    freqz_zpk,
    group_delay,
    lfilter,
    lfilter_zi,
    lfiltic,
    sosfilt,
    sosfilt_zi,
    sosfiltfilt,
    sosfreqz,
)
from .ranked import medfilt, medfilt2d, order_filter, wiener
from .rates import chirp, decimate, deconvolve, firwin, resample_poly, upfirdn
from .smoothing import detrend, hilbert, resample, savgol_coeffs, savgol_filter
from .spectral import coherence, csd, istft, periodogram, spectrogram, stft, welch
from .waveforms import gausspulse, lombscargle, sawtooth, square
from .windows import get_window

__all__ = [
    "chirp", "choose_conv_method", "coherence", "convolve", "convolve2d", "correlate",
    "correlate2d", "correlation_lags", "csd", "czt", "czt_points", "decimate", "deconvolve",
    "detrend", "fftconvolve", "filtfilt", "firwin", "freqz", "freqz_sos", "freqz_zpk", "gausspulse",
    "get_window", "group_delay", "hilbert", "istft", "lfilter", "lfilter_zi", "lfiltic",
    "lombscargle", "medfilt", "medfilt2d", "oaconvolve", "order_filter", "periodogram", "resample",
    "resample_poly", "savgol_coeffs", "savgol_filter", "sawtooth", "sosfilt", "sosfilt_zi",
    "sosfiltfilt", "sosfreqz", "spectrogram", "square", "stft", "upfirdn", "welch", "wiener",
    "zoom_fft",
]  # fmt: skip
