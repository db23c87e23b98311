"""Random numbers as functions of keys, with the names of ``jax.random``.

There is no hidden state: the same key gives the same numbers, on every machine and under every
transform, and `vmap` over keys gives bit for bit what a loop gives. A key is used once; `split` and
`fold_in` make new ones.

>>> import numpy as np
>>> key = PRNGKey(0)
>>> draw, keep = split(key)
>>> uniform(draw, (2,)).shape
(2,)

Keys, bits, uniform numbers, integers and permutations are those of JAX (with its default generator,
``threefry2x32``, and 64-bit types enabled); the numbers of all other distributions agree up to
rounding.

Numbers are made on the device of their key, and derivatives go to the parameters of a distribution
where its numbers depend on them smoothly: the bounds of `uniform`, the shape of `gamma`, not the p
of `bernoulli`.
"""

from .choosing import categorical, choice, permutation
from .continuous import (
    cauchy,
    double_sided_maxwell,
    exponential,
    gumbel,
    laplace,
    logistic,
    lognormal,
    maxwell,
    normal,
    pareto,
    rayleigh,
    triangular,
    truncated_normal,
    uniform,
    wald,
    weibull_min,
)
from .discrete import bernoulli, binomial, geometric, multinomial, poisson, rademacher, randint
from .gammas import beta, chisquare, f, gamma, loggamma, t
from .keys import PRNGKey, bits, clone, fold_in, key, key_data, key_impl, split, wrap_key_data
from .vectors import ball, dirichlet, generalized_normal, multivariate_normal, orthogonal

__all__ = [
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "clone",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_impl",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]
