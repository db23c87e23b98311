"""``scipy.signal`` under SciPy's names and signatures, differentiable."""

from .bands import (
    bilinear,
    bilinear_zpk,
    lp2bp,
    lp2bp_zpk,
    lp2bs,
    lp2bs_zpk,
    lp2hp,
    lp2hp_zpk,
    lp2lp,
    lp2lp_zpk,
)
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
from .designs import (
    bessel,
    besselap,
    buttap,
    butter,
    cheb1ap,
    cheb2ap,
    cheby1,
    cheby2,
    ellip,
    ellipap,
    iirfilter,
    iirnotch,
    iirpeak,
)
from .filtering import (
    filtfilt,
    freqs,
    freqs_zpk,
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
from .forms import normalize, sos2tf, sos2zpk, tf2sos, tf2zpk, zpk2sos, zpk2tf
from .least_squares import firls
from .phases import hilbert2, minimum_phase, vectorstrength
from .ranked import medfilt, medfilt2d, order_filter, wiener
from .rates import chirp, decimate, deconvolve, firwin, firwin2, resample_poly, upfirdn
from .responses import (
    bode,
    dbode,
    dfreqresp,
    dimpulse,
    dlsim,
    dstep,
    freqresp,
    impulse,
    lsim,
    step,
)
from .smoothing import detrend, hilbert, resample, savgol_coeffs, savgol_filter
from .spectral import coherence, csd, istft, periodogram, spectrogram, stft, welch
from .systems import abcd_normalize, cont2discrete, ss2tf, ss2zpk, tf2ss, zpk2ss
from .waveforms import gausspulse, lombscargle, sawtooth, square
from .windows import get_window

__all__ = [
    "abcd_normalize", "bessel", "besselap", "bilinear", "bilinear_zpk", "bode", "buttap", "butter",
    "cheb1ap", "cheb2ap", "cheby1", "cheby2", "chirp", "choose_conv_method", "coherence",
    "cont2discrete", "convolve", "convolve2d", "correlate", "correlate2d", "correlation_lags", "csd",
    "czt", "czt_points", "dbode", "decimate", "deconvolve", "detrend", "dfreqresp", "dimpulse",
    "dlsim", "dstep", "ellip", "ellipap", "fftconvolve", "filtfilt", "firls", "firwin", "firwin2",
    "freqresp", "freqs", "freqs_zpk", "freqz", "freqz_sos", "freqz_zpk", "gausspulse", "get_window",
    "group_delay", "hilbert", "hilbert2", "iirfilter", "iirnotch", "iirpeak", "impulse", "istft",
    "lfilter", "lfilter_zi", "lfiltic", "lombscargle", "lp2bp", "lp2bp_zpk", "lp2bs", "lp2bs_zpk",
    "lp2hp", "lp2hp_zpk", "lp2lp", "lp2lp_zpk", "lsim", "medfilt", "medfilt2d", "minimum_phase",
    "normalize", "oaconvolve", "order_filter", "periodogram", "resample", "resample_poly",
    "savgol_coeffs", "savgol_filter", "sawtooth", "sos2tf", "sos2zpk", "sosfilt", "sosfilt_zi",
    "sosfiltfilt", "sosfreqz", "spectrogram", "square", "ss2tf", "ss2zpk", "step", "stft", "tf2sos",
    "tf2ss", "tf2zpk", "upfirdn", "vectorstrength", "welch", "wiener", "zoom_fft", "zpk2sos",
    "zpk2ss", "zpk2tf",
]  # fmt: skip
