"""Gamma variables and what is made of them; differentiable by their shapes.

NOTE [Moving with the shape] Gamma variables are drawn by rejection, which leaves no path from the
shape to the number. The derivative is that of the inverse distribution function at the probability of
what was drawn: ``-(dP/da) / (dP/dx)``. In logarithms nothing vanishes for small shapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as fnp
from ..ops.exponential import expit
from ..ops.gamma import log_gamma_moved
from ..ops.random import words_of
from ..ops.random_rejection import random_log_gamma
from ..ops.select import stop_gradient
from ._arguments import Shape, floating, parameters
from .continuous import normal
from .keys import split
from .moving import moving

log_gamma_at = moving(log_gamma_moved)  # NOTE [Moving with the shape]


def log_gamma_numbers(key: Any, a: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Logarithms of gamma variables, in float64."""
    a = fnp.broadcast_to(a, shape)
    drawn = random_log_gamma(words_of(key), stop_gradient(a), shape=shape, dtype=dtype)
    return log_gamma_at(fnp.astype(a, np.float64), drawn)


def loggamma(key: Any, a: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Logarithms of numbers with density ``x^(a - 1) exp(-x) / gamma(a)``; exact for small `a`.

    Shapes: `shape`, or that of `a`, which broadcasts to it.   Dtypes: the floating `dtype`.
    Derivative: by `a`, that of the inverse distribution function.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `a` does not
    broadcast to `shape`.
    Source: Figurnov, Mohamed & Mnih, "Implicit reparameterization gradients", NeurIPS 2018; the
    streams of ``jax.random.loggamma``.

    >>> loggamma(np.zeros(2, np.uint32), 0.001, (2,)).round(1).tolist()
    [-1113.0, -2280.5]
    """
    dtype = floating("loggamma", dtype)
    size, a = parameters("loggamma", shape, dtype, a)
    return fnp.astype(log_gamma_numbers(key, a, size, dtype), dtype)


def gamma(key: Any, a: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Numbers with density ``x^(a - 1) exp(-x) / gamma(a)``.

    Shapes: `shape`, or that of `a`, which broadcasts to it.   Dtypes: the floating `dtype`.
    Derivative: by `a`, that of the inverse distribution function.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `a` does not
    broadcast to `shape`.
    Source: Figurnov, Mohamed & Mnih, "Implicit reparameterization gradients", NeurIPS 2018; the
    streams of ``jax.random.gamma``.

    >>> gamma(np.zeros(2, np.uint32), 3.0, (2,)).round(4).tolist()
    [2.2629, 1.9621]
    """
    dtype = floating("gamma", dtype)
    size, a = parameters("gamma", shape, dtype, a)
    return fnp.astype(fnp.exp(log_gamma_numbers(key, a, size, dtype)), dtype)


def chisquare(key: Any, df: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Sums of the squares of `df` standard normal numbers; `df` may be any positive number.

    Shapes: `shape`, or that of `df`, which broadcasts to it.   Dtypes: the floating `dtype`.
    Derivative: by `df`, that of the inverse distribution function.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `df` does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.chisquare``.

    >>> chisquare(np.zeros(2, np.uint32), 6.0, (2,)).round(4).tolist()
    [4.5258, 3.9243]
    """
    dtype = floating("chisquare", dtype)
    size, df = parameters("chisquare", shape, dtype, df)
    return fnp.astype(2 * fnp.exp(log_gamma_numbers(key, df / 2, size, dtype)), dtype)


def beta(key: Any, a: Any, b: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Numbers in [0, 1] with density ``x^(a - 1) (1 - x)^(b - 1) / beta(a, b)``.

    Shapes: `shape`, or that of the parameters together; they broadcast to it.
    Dtypes: the floating `dtype`.
    Derivative: by `a` and `b`, through two gamma variables.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: a parameter does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.beta``: the share of one gamma variable in two.

    >>> beta(np.zeros(2, np.uint32), 2.0, 3.0, (2,)).round(4).tolist()
    [0.328, 0.6138]
    """
    dtype = floating("beta", dtype)
    size, a, b = parameters("beta", shape, dtype, a, b)
    for_a, for_b = split(key)
    odds = log_gamma_numbers(for_a, a, size, dtype) - log_gamma_numbers(for_b, b, size, dtype)
    return fnp.astype(expit(odds), dtype)


def f(key: Any, dfnum: Any, dfden: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Quotients of two chi-squared variables, each over its degrees of freedom.

    Shapes: `shape`, or that of the parameters together; they broadcast to it.
    Dtypes: the floating `dtype`.
    Derivative: by `dfnum` and `dfden`, through two gamma variables.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: a parameter does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.f``.

    >>> f(np.zeros(2, np.uint32), 4.0, 6.0, (2,)).round(4).tolist()
    [1.4716, 0.4122]
    """
    dtype = floating("f", dtype)
    size, above, below = parameters("f", shape, dtype, dfnum, dfden)
    for_below, for_above = split(key)
    quotient = fnp.exp(
        log_gamma_numbers(for_above, above / 2, size, dtype)
        - log_gamma_numbers(for_below, below / 2, size, dtype)
    )
    return fnp.astype(quotient * (below / above), dtype)


def t(key: Any, df: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Numbers of Student's t distribution with `df` degrees of freedom.

    Shapes: `shape`, or that of `df`, which broadcasts to it.   Dtypes: the floating `dtype`.
    Derivative: by `df`, through a gamma variable.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `df` does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.t``: a normal number over the root of a gamma variable.

    >>> t(np.zeros(2, np.uint32), 3.0, (2,)).round(4).tolist()
    [1.4012, -0.6072]
    """
    dtype = floating("t", dtype)
    size, df = parameters("t", shape, dtype, df)
    for_normal, for_gamma = split(key)
    half = df / 2
    root = fnp.exp(log_gamma_numbers(for_gamma, half, size, dtype) * -0.5) * fnp.sqrt(half)
    return fnp.astype(normal(for_normal, size, dtype) * root, dtype)
