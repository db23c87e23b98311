"""Distributions and statistics of ``scipy.stats``, differentiable by data and parameters."""

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
from .elliptical import multivariate_normal, multivariate_t
from .gammas import chi2, expon, gamma, gennorm, invgamma, loggamma
from .kernels import gaussian_kde
from .means import entropy, gmean, hmean, pmean
from .normal import halfnorm, lognorm, norm
from .ranks import mode, rankdata
from .simplex import dirichlet, multinomial
from .skewed import exponnorm, invgauss, skewnorm
from .truncated import truncnorm
from .waits import (
    cauchy,
    gumbel_l,
    gumbel_r,
    halfcauchy,
    laplace,
    logistic,
    pareto,
    rayleigh,
    uniform,
    weibull_min,
)

__all__ = [
    "bernoulli",
    "beta",
    "betabinom",
    "betaprime",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "entropy",
    "expon",
    "exponnorm",
    "f",
    "gamma",
    "gaussian_kde",
    "gennorm",
    "geom",
    "gmean",
    "gumbel_l",
    "gumbel_r",
    "halfcauchy",
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
    "mode",
    "moment",
    "multinomial",
    "multivariate_normal",
    "multivariate_t",
    "nbinom",
    "norm",
    "pareto",
    "pmean",
    "poisson",
    "randint",
    "rankdata",
    "rayleigh",
    "sem",
    "skew",
    "skewnorm",
    "t",
    "truncnorm",
    "uniform",
    "variation",
    "vonmises",
    "weibull_min",
    "wrapcauchy",
    "zscore",
]
