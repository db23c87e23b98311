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
from .elliptical import multivariate_normal, multivariate_t
from .gammas import chi2, expon, gamma, gennorm, invgamma, loggamma
from .normal import halfnorm, lognorm, norm
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
    "expon",
    "exponnorm",
    "f",
    "gamma",
    "gennorm",
    "geom",
    "gumbel_l",
    "gumbel_r",
    "halfcauchy",
    "halfnorm",
    "hypergeom",
    "invgamma",
    "invgauss",
    "laplace",
    "loggamma",
    "logistic",
    "lognorm",
    "multinomial",
    "multivariate_normal",
    "multivariate_t",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "randint",
    "rayleigh",
    "skewnorm",
    "t",
    "truncnorm",
    "uniform",
    "vonmises",
    "weibull_min",
    "wrapcauchy",
]
