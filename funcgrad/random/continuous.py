"""Continuous distributions whose numbers are functions of uniform and normal ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..ops.random import random_uniform
from ..ops.select import stop_gradient
from ..ops.special import wald_moved
from ..scipy.stats import truncnorm
from ._arguments import Shape, floating, in_dtype, is_high, of_shape, parameters, shape_of
from .drawing import Draw, DrawNormal
from .keys import split
from .moving import moving

_normal, _uniform = DrawNormal(), Draw(random_uniform)


def uniform(
    key: Any,
    shape: Shape = (),
    dtype: Any = float,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    *,
    out_sharding: Any = None,
) -> Any:
    """Numbers in [minval, maxval), evenly distributed.

    The bounds broadcast to `shape`. Derivative: with respect to the bounds.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating.

    >>> uniform(np.zeros(2, np.uint32), (2,), minval=-1.0).round(4).tolist()
    [-0.1631, -0.5674]
    """
    dtype = floating("uniform", dtype)
    out = _uniform(key, shape=shape_of(shape), dtype=dtype)
    if _is_plain(minval, 0.0) and _is_plain(maxval, 1.0):
        return out
    low, high = (in_dtype("uniform", b, dtype) for b in (minval, maxval))
    return of_shape("uniform", fnp.multiply(out, high - low) + low, out.shape)


def _is_plain(bound: Any, number: float) -> bool:
    return isinstance(bound, int | float) and bound == number


def normal(
    key: Any,
    shape: Shape = (),
    dtype: Any = float,
    *,
    out_sharding: Any = None,
) -> Any:
    """Numbers of the standard normal distribution: its distribution function inverted.

    Complex ones have the variance 1 in all, half of it in each part.

    Raises: ArgumentError: `key` is no key, or `dtype` neither floating nor complex.

    >>> normal(np.zeros(2, np.uint32), (2,)).round(4).tolist()
    [-0.2058, -0.7848]
    """
    if np.dtype(dtype).kind == "c":
        part = np.dtype(dtype).type(0).real.dtype
        real, imag = (normal(k, shape, part) for k in split(key))
        return (real + 1j * imag) / math.sqrt(2.0)
    return _normal(key, shape=shape_of(shape), dtype=floating("normal", dtype))


def exponential(key: Any, shape: Shape = (), dtype: Any = float) -> Any:
    """Numbers x > 0 with density ``exp(-x)``.

    Raises: ArgumentError: `key` is no key, or `dtype` not floating.

    >>> exponential(np.zeros(2, np.uint32), (2,)).round(4).tolist()
    [0.5421, 0.2437]
    """
    return -fnp.log1p(-uniform(key, shape, floating("exponential", dtype)))


def gumbel(key: Any, shape: Shape = (), dtype: Any = float, mode: str | None = None) -> Any:
    """Numbers with distribution function ``exp(-exp(-x))``: of maxima, and of softmax.

    `mode` "high" draws twice as many bits, so that float32 reaches tails beyond 1e-7; else "low".

    Raises: ArgumentError: `key` is no key, or `dtype` not floating, or there is no such mode.

    >>> gumbel(np.zeros(2, np.uint32), (2,)).round(4).tolist()
    [0.1379, -0.426]
    """
    dtype = floating("gumbel", dtype)
    if is_high("gumbel", mode):
        first, second = uniform(key, (2, *shape_of(shape)), dtype)
        info = np.finfo(dtype)
        finer = first + dtype.type(2.0**-info.nmant) * second + info.tiny
        return -fnp.log(-fnp.log1p(-fnp.where(first >= 0.5, first, finer)))
    return -fnp.log(-fnp.log(uniform(key, shape, dtype, minval=np.finfo(dtype).tiny)))


# ---------------------------------------------------------------- distributions without parameters


def cauchy(key: Any, shape: Shape = (), dtype: Any = float) -> Any:
    """Numbers with density ``1 / (pi (1 + x^2))``.

    Shapes: ``key: (2,) -> shape``.   Dtypes: the floating `dtype`.
    Derivative: there is no parameter.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating.
    Source: JAX, ``jax.random.cauchy``: the tangent of a uniform angle.

    >>> cauchy(np.zeros(2, np.uint32), (2,)).round(4).tolist()
    [-0.2619, -1.2378]
    """
    dtype = floating("cauchy", dtype)
    u = uniform(key, shape, dtype, minval=np.finfo(dtype).eps)
    return fnp.tan(dtype.type(math.pi) * (u - 0.5))


def laplace(key: Any, shape: Shape = (), dtype: Any = float) -> Any:
    """Numbers with density ``exp(-|x|) / 2``.

    Shapes: ``key: (2,) -> shape``.   Dtypes: the floating `dtype`.
    Derivative: there is no parameter.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating.
    Source: JAX, ``jax.random.laplace``.

    >>> laplace(np.zeros(2, np.uint32), (2,)).round(4).tolist()
    [0.178, 0.838]
    """
    dtype = floating("laplace", dtype)
    u = uniform(key, shape, dtype, minval=-1.0 + np.finfo(dtype).epsneg)
    return fnp.sign(u) * fnp.log1p(-fnp.absolute(u))


def logistic(key: Any, shape: Shape = (), dtype: Any = float) -> Any:
    """Numbers with distribution function ``1 / (1 + exp(-x))``.

    Shapes: ``key: (2,) -> shape``.   Dtypes: the floating `dtype`.
    Derivative: there is no parameter.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating.
    Source: JAX, ``jax.random.logistic``: the log odds of a uniform number.

    >>> logistic(np.zeros(2, np.uint32), (2,)).round(4).tolist()
    [-0.3291, -1.2874]
    """
    dtype = floating("logistic", dtype)
    u = uniform(key, shape, dtype, minval=np.finfo(dtype).tiny)
    return fnp.log(u) - fnp.log1p(-u)


def maxwell(key: Any, shape: Shape = (), dtype: Any = float) -> Any:
    """Lengths of vectors of three standard normal numbers.

    Shapes: ``key: (2,) -> shape``.   Dtypes: the floating `dtype`.
    Derivative: there is no parameter.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating.
    Source: JAX, ``jax.random.maxwell``.

    >>> maxwell(np.zeros(2, np.uint32), (2,)).round(4).tolist()
    [1.9891, 0.4246]
    """
    return fnp.linalg.norm(normal(key, (*shape_of(shape), 3), floating("maxwell", dtype)), axis=-1)


# ---------------------------------------------------------------- distributions with parameters


def double_sided_maxwell(
    key: Any, loc: Any, scale: Any, shape: Shape = (), dtype: Any = float
) -> Any:
    """``loc + scale * m`` for Maxwell numbers m with random signs.

    Shapes: `shape`, or that of the parameters together if it is (); they broadcast to it.
    Dtypes: the floating `dtype`.
    Derivative: by `loc` and `scale`.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: a parameter does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.double_sided_maxwell``.

    >>> double_sided_maxwell(np.zeros(2, np.uint32), 1.0, 0.0).tolist()
    1.0
    """
    dtype = floating("double_sided_maxwell", dtype)
    wanted = None if shape == () else shape
    size, loc, scale = parameters("double_sided_maxwell", wanted, dtype, loc, scale)
    for_size, for_sign = split(key)
    sign = _uniform(for_sign, shape=size, dtype=np.dtype(float))
    size = maxwell(for_size, size, dtype)
    return fnp.where(sign < 0.5, size, -size) * scale + loc


def lognormal(key: Any, sigma: Any = 1.0, shape: Shape | None = None, dtype: Any = float) -> Any:
    """``exp(sigma z)`` for standard normal z.

    Shapes: `shape`, or that of `sigma`, which broadcasts to it.   Dtypes: the floating `dtype`.
    Derivative: by `sigma`.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `sigma` does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.lognormal``.

    >>> lognormal(np.zeros(2, np.uint32), 0.5, (2,)).round(4).tolist()
    [0.9022, 0.6754]
    """
    dtype = floating("lognormal", dtype)
    size, sigma = parameters("lognormal", shape, dtype, sigma)
    return fnp.exp(normal(key, size, dtype) * sigma)


def pareto(key: Any, b: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Numbers x > 1 with density ``b / x^(b + 1)``.

    Shapes: `shape`, or that of `b`, which broadcasts to it.   Dtypes: the floating `dtype`.
    Derivative: by `b`.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `b` does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.pareto``.

    >>> pareto(np.zeros(2, np.uint32), 2.0, (2,)).round(4).tolist()
    [1.3113, 1.1296]
    """
    dtype = floating("pareto", dtype)
    size, b = parameters("pareto", shape, dtype, b)
    return fnp.exp(exponential(key, size, dtype) / b)


def rayleigh(key: Any, scale: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Numbers x > 0 with density ``x / scale^2 exp(-x^2 / (2 scale^2))``.

    Shapes: `shape`, or that of `scale`, which broadcasts to it.   Dtypes: the floating `dtype`.
    Derivative: by `scale`.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `scale` does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.rayleigh``.

    >>> rayleigh(np.zeros(2, np.uint32), 2.0, (2,)).round(4).tolist()
    [2.64, 3.4998]
    """
    dtype = floating("rayleigh", dtype)
    size, scale = parameters("rayleigh", shape, dtype, scale)
    u = uniform(key, size, dtype, minval=np.finfo(dtype).tiny)
    return scale * fnp.sqrt(fnp.log(u) * -2)


def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Shape | None = None, dtype: Any = float
) -> Any:
    """Numbers x > 0 with distribution function ``1 - exp(-(x / scale)^concentration)``.

    Shapes: `shape`, or that of the parameters together; they broadcast to it.
    Dtypes: the floating `dtype`.
    Derivative: by `scale` and `concentration`.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: a parameter does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.weibull_min``.

    >>> weibull_min(np.zeros(2, np.uint32), 1.0, 2.0, (2,)).round(4).tolist()
    [0.7363, 0.4937]
    """
    dtype = floating("weibull_min", dtype)
    size, scale, power = parameters("weibull_min", shape, dtype, scale, concentration)
    return fnp.power(exponential(key, size, dtype), 1 / power) * scale


def triangular(
    key: Any, left: Any, mode: Any, right: Any, shape: Shape | None = None, dtype: Any = float
) -> Any:
    """Numbers whose density rises linearly from `left` to `mode` and falls linearly to `right`.

    Shapes: `shape`, or that of the parameters together; they broadcast to it.
    Dtypes: the floating `dtype`.
    Derivative: by `left`, `mode` and `right`, for left < right.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: a parameter does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.triangular``: the distribution function inverted.

    >>> triangular(np.zeros(2, np.uint32), 0.0, 0.5, 1.0, (2,)).round(4).tolist()
    [0.4574, 0.3289]
    """
    dtype = floating("triangular", dtype)
    size, left, mode, right = parameters("triangular", shape, dtype, left, mode, right)
    u = uniform(key, size, dtype)
    rising = u < (mode - left) / (right - left)
    product = (right - left) * fnp.where(rising, mode - left, right - mode)
    distance = fnp.sqrt(product) * fnp.sqrt(fnp.where(rising, u, 1 - u))
    return fnp.where(rising, left + distance, right - distance)


def truncated_normal(
    key: Any, lower: Any, upper: Any, shape: Shape | None = None, dtype: Any = float
) -> Any:
    """Standard normal numbers between `lower` and `upper`, also far out in a tail.

    Shapes: `shape`, or that of the bounds together; they broadcast to it.
    Dtypes: the floating `dtype`.
    Derivative: by both bounds.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: a bound does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.truncated_normal``; the inverse is that of ``scipy.stats.truncnorm``.

    >>> truncated_normal(np.zeros(2, np.uint32), -1.0, 2.0, (2,)).round(4).tolist()
    [0.003, -0.4242]
    """
    dtype = floating("truncated_normal", dtype)
    size, lower, upper = parameters("truncated_normal", shape, dtype, lower, upper)
    inside = truncnorm.ppf(uniform(key, size, dtype), lower, upper)
    return fnp.clip(fnp.astype(inside, dtype), lower, upper)


_wald_at = moving(wald_moved)


def wald(key: Any, mean: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """Numbers x > 0 with density ``(2 pi x^3)^(-1/2) exp(-(x - mean)^2 / (2 mean^2 x))``.

    Shapes: `shape`, or that of `mean`, which broadcasts to it.   Dtypes: the floating `dtype`.
    Derivative: by `mean`, that of the inverse distribution function.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `mean` does not
    broadcast to `shape`.
    Source: Michael, Schucany & Haas, "Generating random variates using transformations with
    multiple roots", Amer. Statist. 30 (1976); the streams of ``jax.random.wald``.

    >>> wald(np.zeros(2, np.uint32), 1.0, (2,)).round(4).tolist()
    [0.187, 1.6107]
    """
    dtype = floating("wald", dtype)
    size, mean = parameters("wald", shape, dtype, mean)
    mean = fnp.broadcast_to(mean, size)
    for_normal, for_uniform = split(key)
    fixed = stop_gradient(mean)
    y = fixed * fnp.square(normal(for_normal, size, dtype)) / 2
    larger = fixed * (1 + y + fnp.sqrt(y * (2 + y)))
    smaller = fixed * (fixed / larger)
    first = uniform(for_uniform, size, dtype) <= fixed / (fixed + smaller)
    return _wald_at(mean, fnp.where(first, smaller, larger))
