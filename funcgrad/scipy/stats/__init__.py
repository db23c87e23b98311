"""Distributions and statistics of ``scipy.stats``, differentiable by data and parameters."""

from .betas import beta, betaprime, f, t
from .gammas import chi2, expon, gamma, gennorm, invgamma, loggamma
from .normal import halfnorm, lognorm, norm
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
    "beta",
    "betaprime",
    "cauchy",
    "chi2",
    "expon",
    "f",
    "gamma",
    "gennorm",
    "gumbel_l",
    "gumbel_r",
    "halfcauchy",
    "halfnorm",
    "invgamma",
    "laplace",
    "loggamma",
    "logistic",
    "lognorm",
    "norm",
    "pareto",
    "rayleigh",
    "t",
    "uniform",
    "weibull_min",
]
