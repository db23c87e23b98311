"""``scipy.fft`` under SciPy's names and signatures, differentiable.

``overwrite_x=`` and ``workers=`` change nothing: nothing is overwritten.
"""

from .fourier import (
    fft,
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    next_fast_len,
    prev_fast_len,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
)
from .logarithmic import fht, fhtoffset, ifht
from .real_transforms import dct, dctn, dst, dstn, idct, idctn, idst, idstn

__all__ = [
    "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftfreq", "fftn", "fftshift", "fht", "fhtoffset",
    "hfft", "hfft2", "hfftn", "idct", "idctn", "idst", "idstn", "ifft", "ifft2", "ifftn", "ifftshift",
    "ifht", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "next_fast_len",
    "prev_fast_len", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
