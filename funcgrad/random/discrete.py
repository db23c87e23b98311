"""Discrete distributions: events, counts and integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import operand
from ..ops import random as _random
from ..ops.random_rejection import random_binomial, random_poisson
from ..ops.select import stop_gradient
from ..transforms.loops import scan
from ._arguments import (
    Shape,
    floating,
    in_dtype,
    integral,
    is_high,
    of_shape,
    parameters,
    shape_of,
)
from .continuous import uniform
from .drawing import Draw
from .keys import split

_binomial, _poisson = Draw(random_binomial), Draw(random_poisson)


def bernoulli(
    key: Any,
    p: Any = 0.5,
    shape: Shape | None = None,
    mode: str = "low",
    *,
    out_sharding: Any = None,
) -> Any:
    """True with probability `p`; `shape` is that of `p` unless given.

    `mode` "high" draws twice as many bits, so that in float32 it may be less than 1e-7.

    Raises: ArgumentError: `key` is no key, or there is no such mode. ShapeError: `p` does not
    broadcast to `shape`.

    >>> bernoulli(np.zeros(2, np.uint32), 0.3, (4,)).tolist()
    [False, True, False, False]
    """
    aval = aval_of(p)
    dtype = aval.dtype if aval.dtype.kind == "f" else np.dtype(float)
    shape = aval.shape if shape is None else shape_of(shape)
    if is_high("bernoulli", mode):
        drawn, finer = uniform(key, (2, *shape), dtype)
        p = fnp.subtract(p, drawn)  # exact where it is small
        drawn = finer * dtype.type(2.0 ** -np.finfo(dtype).nmant)
    else:
        drawn = uniform(key, shape, dtype)
    return of_shape("bernoulli", fnp.less(drawn, p), shape)


def randint(key: Any, shape: Shape, minval: Any, maxval: Any, dtype: Any = int) -> Any:
    """Integers from `minval` to ``maxval - 1``; `minval` where there are none.

    Raises: ArgumentError: `key` is no key, or a bound no integer or not within the dtype.
    ShapeError: a bound does not broadcast to `shape`.

    >>> randint(np.zeros(2, np.uint32), (3,), 0, 6).tolist()
    [3, 5, 5]
    """
    dtype = np.dtype(dtype)
    kinds = {dtype.kind, aval_of(minval).dtype.kind, aval_of(maxval).dtype.kind}
    if not kinds <= {"i", "u"}:
        raise ArgumentError(
            f"random.randint: bounds {aval_of(minval)} and {aval_of(maxval)} and dtype={dtype} "
            f"have to be integers{where()}"
        )
    shape = shape_of(shape)
    out = _random.random_integers(_random.words_of(key), minval, maxval, shape=shape, dtype=dtype)
    return of_shape("randint", out, shape)


def rademacher(key: Any, shape: Shape = (), dtype: Any = int) -> Any:
    """-1 or 1, equally likely.

    Shapes: `shape`.   Dtypes: `dtype`, integer or floating.
    Derivative: there is no parameter.
    Raises: ArgumentError: `key` is no key.
    Source: JAX, ``jax.random.rademacher``.

    >>> rademacher(np.zeros(2, np.uint32), (4,)).tolist()
    [1, 1, -1, -1]
    """
    dtype = np.dtype(int if dtype is None else dtype)
    return fnp.astype(2 * fnp.astype(bernoulli(key, 0.5, shape), dtype) - 1, dtype)


# ---------------------------------------------------------------- counts


def _floating_of(p: Any) -> np.dtype:
    """The dtype of random numbers that are compared with `p`."""
    dtype = aval_of(operand(p)).dtype
    return dtype if dtype.kind == "f" else np.dtype(float)


def geometric(key: Any, p: Any, shape: Shape | None = None, dtype: Any = int) -> Any:
    """How many trials of probability `p` it takes to succeed: 1 or more; -1 if `p` is not in (0, 1].

    Shapes: `shape`, or that of `p`, which broadcasts to it.   Dtypes: the integer `dtype`.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key, or `dtype` no integer type. ShapeError: `p` does not
    broadcast to `shape`.
    Source: JAX, ``jax.random.geometric``.

    >>> geometric(np.zeros(2, np.uint32), 0.25, (3,)).tolist()
    [4, 6, 1]
    """
    dtype, drawn = integral("geometric", dtype), _floating_of(p)
    size, p = parameters("geometric", shape, drawn, p)
    u, p = uniform(key, size, drawn), stop_gradient(p)
    valid = (p > 0) & (p <= 1)
    rate = fnp.log1p(-fnp.where(p < 1, fnp.where(valid, p, 0.5), 0.5))
    steps = fnp.floor(fnp.log(fnp.where(u == 0, 1.0, u)) / rate) + 1
    found = fnp.minimum(fnp.where(p < 1, steps, 1.0), float(np.iinfo(dtype).max))
    return fnp.where(valid, found, -1.0).astype(dtype)


def poisson(key: Any, lam: Any, shape: Shape | None = None, dtype: Any = int) -> Any:
    """Counts k with probability ``lam^k exp(-lam) / k!``; -1 where there is no such distribution.

    Shapes: `shape`, or that of `lam`, which broadcasts to it.   Dtypes: the integer `dtype`.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key, or `dtype` no integer type. ShapeError: `lam` does not
    broadcast to `shape`.
    Source: that of ``funcgrad.ops.random_rejection.random_poisson``; the streams of JAX.

    >>> poisson(np.zeros(2, np.uint32), 5.0, (3,)).tolist()
    [1, 2, 5]
    """
    dtype = integral("poisson", dtype)
    size, lam = parameters("poisson", shape, np.dtype(float), lam)
    return _poisson(key, stop_gradient(lam), shape=size, dtype=dtype)


def binomial(key: Any, n: Any, p: Any, shape: Shape | None = None, dtype: Any = float) -> Any:
    """How many of `n` trials of probability `p` succeed; NaN where there is no such distribution.

    Shapes: `shape`, or that of the parameters together; they broadcast to it.
    Dtypes: the floating `dtype`.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: a parameter does not
    broadcast to `shape`.
    Source: that of ``funcgrad.ops.random_rejection.random_binomial``; the streams of JAX.

    >>> binomial(np.zeros(2, np.uint32), 10, 0.5, (3,)).tolist()
    [4.0, 7.0, 6.0]
    """
    dtype, drawn = floating("binomial", dtype), _floating_of(p)
    size, n, p = parameters("binomial", shape, np.dtype(float), n, p)
    found = _binomial(key, stop_gradient(n), stop_gradient(p), shape=size, dtype=drawn)
    return fnp.astype(found, dtype)


def multinomial(key: Any, n: Any, p: Any, *, shape: Shape | None = None, dtype: Any = float) -> Any:
    """How many of `n` trials come to each of several ends, with probabilities in proportion to `p`.

    Shapes: ``n: (*a), p: (*a, k) -> (*a, k)``; both broadcast to `shape`, which is that of `p` unless
    given.   Dtypes: the floating `dtype`.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating. ShapeError: `p` has no axis, or
    the shapes do not fit.
    Source: JAX, ``jax.random.multinomial``: one binomial number after the other.

    >>> float(multinomial(np.zeros(2, np.uint32), 9, np.array([0.2, 0.3, 0.5])).sum())
    9.0
    """
    dtype, drawn = floating("multinomial", dtype), np.dtype(float)
    p = stop_gradient(in_dtype("multinomial", p, drawn))
    if not p.ndim:
        raise ShapeError(f"random.multinomial: p is {aval_of(p)}; need one axis or more{where()}")
    size, p = parameters("multinomial", shape, drawn, p)
    batch, n = parameters("multinomial", size[:-1], drawn, n)
    p = fnp.moveaxis(fnp.broadcast_to(p, size), -1, 0)
    rest = fnp.flip(fnp.cumsum(fnp.flip(p, 0), 0), 0)
    shares = fnp.clip(p / fnp.where(rest == 0, 1.0, rest), 0.0, 1.0)

    def draw(left: Any, row: Any) -> Any:
        share, own = row
        count = _binomial(own, left, share, shape=batch, dtype=drawn)
        return left - count, count

    start = fnp.broadcast_to(stop_gradient(n), batch)
    counts = scan(draw, start, (shares, split(key, size[-1])))[1]
    return fnp.astype(fnp.moveaxis(counts, 0, -1), dtype)
