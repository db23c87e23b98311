"""`compat.special`: the special functions under the names of ``torch.special``.

>>> import compat as torch
>>> torch.special.expit(torch.tensor([0.0, 1.0]))
tensor([0.5000, 0.7311])
"""

from __future__ import annotations

from .ops.bessel import i0, i0e, i1, i1e
from .ops.exponential import exp2, expm1, log1p, logit, xlogy
from .ops.exponential import sigmoid as expit
from .ops.gamma import digamma, polygamma, zeta
from .ops.gamma import digamma as psi
from .ops.gamma import igamma as gammainc
from .ops.gamma import igammac as gammaincc
from .ops.gamma import lgamma as gammaln
from .ops.gamma import mvlgamma as multigammaln
from .ops.rounding import round
from .ops.softmax import log_softmax, logsumexp, softmax
from .ops.special import (
    entr,
    erf,
    erfc,
    erfcx,
    erfinv,
    log_ndtr,
    ndtr,
    ndtri,
    xlog1py,
)
from .ops.trigonometric import sinc

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
    "zeta",
]
