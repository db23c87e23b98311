"""Distributions and statistics of ``scipy.stats``, differentiable by data and parameters.

A distribution is an object with SciPy's methods; called with its parameters, it holds them.

>>> import funcgrad
>>> from funcgrad.scipy import stats
>>> def loss(loc, scale):
...     return -stats.norm(loc, scale).logpdf([1.0, 2.0, 6.0]).sum()
>>> [float(g.round(4)) for g in funcgrad.grad(loss, argnums=(0, 1))(3.0, 2.0)]
[0.0, -0.25]
"""

from .betas import beta, betaprime, f, t
from .circular import vonmises, wrapcauchy
from .counts import (
    bernoulli,
    betabinom,
    binom,
    geom,
    hypergeom,
    nbinom,
    poisson,
    randint,
)
from .descriptive import kurtosis, moment, sem, skew, variation, zscore
from .elementary import (
    cauchy,
    gumbel_l,
    gumbel_r,
    halfcauchy,
    halflogistic,
    laplace,
    logistic,
    pareto,
    rayleigh,
    triang,
    uniform,
    weibull_min,
)
from .elliptical import multivariate_normal, multivariate_t
from .extremes import genextreme, genpareto, gompertz, lomax, weibull_max
from .gammas import chi2, expon, gamma, gennorm, invgamma, loggamma
from .kernels import gaussian_kde
from .means import entropy, gmean, hmean, pmean
from .normal import halfnorm, lognorm, norm
from .powers import chi, fisk, gengamma, maxwell, nakagami
from .ranks import mode, rankdata
from .simplex import dirichlet, multinomial
from .skewed import exponnorm, invgauss, rice, skewnorm
from .truncated import truncnorm

__all__ = [
    "bernoulli",
    "beta",
    "betabinom",
    "betaprime",
    "binom",
    "cauchy",
    "chi",
    "chi2",
    "dirichlet",
    "entropy",
    "expon",
    "exponnorm",
    "f",
    "fisk",
    "gamma",
    "gaussian_kde",
    "genextreme",
    "gengamma",
    "gennorm",
    "genpareto",
    "geom",
    "gmean",
    "gompertz",
    "gumbel_l",
    "gumbel_r",
    "halfcauchy",
    "halflogistic",
    "halfnorm",
    "hmean",
    "hypergeom",
    "invgamma",
    "invgauss",
    "kurtosis",
    "laplace",
    "loggamma",
    "logistic",
    "lognorm",
    "lomax",
    "maxwell",
    "mode",
    "moment",
    "multinomial",
    "multivariate_normal",
    "multivariate_t",
    "nakagami",
    "nbinom",
    "norm",
    "pareto",
    "pmean",
    "poisson",
    "randint",
    "rankdata",
    "rayleigh",
    "rice",
    "sem",
    "skew",
    "skewnorm",
    "t",
    "triang",
    "truncnorm",
    "uniform",
    "variation",
    "vonmises",
    "weibull_max",
    "weibull_min",
    "wrapcauchy",
    "zscore",
]
