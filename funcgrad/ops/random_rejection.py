"""Random numbers that are proposed until they are accepted: gamma, Poisson and binomial variables.

NOTE [Streams] Proposals use keys in the order that JAX uses them, and where a whole array is drawn
anew until all of it is accepted, that is done for every key by itself: `vmap` gives what a loop
does, and numbers agree with JAX's but where a decision hangs on rounding. Uniform and normal numbers
are of the dtype that is asked for, and computed with in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import constant
from ..core import Aval, Primitive
from .gamma import gammaln
from .random import (
    Shape,
    aval_with_parameters,
    batch_with_parameters,
    random_normal,
    random_split,
    random_uniform,
    require_key,
)

FLOAT = np.dtype(np.float64)
Step = Callable[..., Any]


class Arrays:
    """How the algorithms of this file run on arrays; in C each number has loops of its own.

    NOTE [Rounds] They are written for arrays whose first axis are rows that wait for nothing of each
    other. Here a round is made for all rows that are not done, see `c_rejection.py` for C.
    """

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def call(self, prim: Primitive, *xs: Any, **params: Any) -> Any:
        """The result of a primitive."""
        return prim.impl(self.xp, *xs, **params)

    def loop(self, waits: Step, step: Step, state: Sequence[Any], given: Sequence[Any]) -> Any:
        """The `state` of each row after ``state = step(*state, *given)`` while ``waits(...)`` holds."""
        state = [x.copy() for x in state]
        rows = self.xp.arange(len(state[0]))
        while rows.size:
            xs = [x[rows] for x in (*state, *given)]
            more = waits(*xs)
            rows = rows[more]
            if rows.size:
                for x, new in zip(state, step(*[x[more] for x in xs]), strict=True):
                    x[rows] = new
        return state


def _children(how: Arrays, keys: Any, count: int) -> list[Any]:
    """`count` new keys for each of an array of keys: as many arrays."""
    found = how.call(random_split, keys, shape=(count,))
    return [found[:, i] for i in range(count)]


def _uniform(how: Arrays, keys: Any, shape: Shape, dtype: Any) -> Any:
    return how.call(random_uniform, keys, shape=shape, dtype=dtype).astype(np.float64)


def _rows(how: Arrays, key: Any, shape: Shape, *parameters: Any) -> tuple[Any, ...]:
    """A row for each key: the keys, and each parameter as float64, one column per number."""
    xp, lead = how.xp, key.shape[:-1]
    size = (math.prod(lead), math.prod(shape))
    found = [
        xp.broadcast_to(p.astype(np.float64), (*lead, *shape)).reshape(size) for p in parameters
    ]
    return key.reshape(-1, 2), *found


def _run(algorithm: Callable[..., Any], xp: Any, *xs: Any, **params: Any) -> Any:
    """An algorithm for arrays, quietly."""
    with np.errstate(all="ignore"):
        return algorithm(Arrays(xp), xs[0], *map(xp.asarray, xs[1:]), **params)


# ---------------------------------------------------------------- gamma variables


def log_gamma_numbers(how: Arrays, key: Any, a: Any, *, shape: Shape, dtype: Any) -> Any:
    """What `random_log_gamma` is."""
    xp = how.xp
    keys, a = _rows(how, key, shape, a)
    keys = how.call(random_split, keys, shape=(a.shape[1],)).reshape(-1, 2)
    a = a.reshape(-1)
    proposing, lifting = _children(how, keys, 2)
    uniform = _uniform(how, lifting, (), dtype)
    shift = xp.where(a >= 1, a, a + 1) - 1 / 3
    out = xp.log(shift) + xp.log(_cubes(how, proposing, shift, dtype))
    out = xp.where(a >= 1, out, out + xp.log1p(-uniform) / a)
    out = xp.where(a > 0, out, xp.where(a == 0, -math.inf, math.nan))
    return out.reshape((*key.shape[:-1], *shape))


def _cubes(how: Arrays, keys: Any, shift: Any, dtype: Any) -> Any:
    """Numbers of which `shift` times as much is gamma distributed with shape ``shift + 1/3``."""
    xp = how.xp
    scale = 1 / 3 / xp.sqrt(shift)

    def waits(keys: Any, cube: Any, again: Any, shift: Any, scale: Any) -> Any:
        return again

    def propose(keys: Any, cube: Any, again: Any, shift: Any, scale: Any) -> Any:
        keys, for_normal, for_uniform = _children(how, keys, 3)
        x = _normals_above(how, for_normal, -1 / scale, dtype)
        u = _uniform(how, for_uniform, (), dtype)
        cube = (1 + x * scale) ** 3
        square = x * x
        bound = square / 2 + shift * (1 - cube + xp.log(cube))
        return keys, cube, (u >= 1 - 0.0331 * square * square) & (xp.log(u) >= bound)

    start = (keys, xp.ones_like(shift), xp.isfinite(scale) & (scale > 0))
    return how.loop(waits, propose, start, (shift, scale))[1]


def _normals_above(how: Arrays, keys: Any, low: Any, dtype: Any) -> Any:
    """One normal number for each key, the first that is above `low`."""

    def waits(keys: Any, x: Any, low: Any) -> Any:
        return x <= low

    def draw(keys: Any, x: Any, low: Any) -> Any:
        keys, drawing = _children(how, keys, 2)
        return keys, how.call(random_normal, drawing, shape=(), dtype=dtype).astype(np.float64)

    return how.loop(waits, draw, (keys, how.xp.full_like(low, -math.inf)), (low,))[1]


def _log_gamma_aval(key: Aval, a: Aval, *, shape: Shape, dtype: Any) -> Aval:
    return aval_with_parameters(key, a, shape=shape, dtype=FLOAT)


@constant(aval=_log_gamma_aval, batch=batch_with_parameters)
def random_log_gamma(xp, key, a, /, *, shape, dtype):
    """Logarithms of gamma variables of shape `a`: those of ``a + 1`` times ``u**(1/a)`` for a < 1.

    Shapes: ``key: (*a, 2)``, the parameter broadcasts to ``(*a, *shape) -> (*a, *shape)``.
    Dtypes: uint32, real ``->`` float64, from random numbers of `dtype`.
    Derivative: zero by declaration; `funcgrad.random` has one by `a`.
    Raises: ArgumentError: `key` is no key.
    Source: Marsaglia & Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000).

    >>> random_log_gamma(np.zeros(2, np.uint32), 2.0, shape=(3,), dtype=np.dtype(float)).shape
    (3,)
    """
    require_key("random.gamma", key)
    return _run(log_gamma_numbers, xp, key, a, shape=shape, dtype=dtype)


# ---------------------------------------------------------------- counts


def _steps(
    how: Arrays,
    keys: Any,
    within: Callable[..., Any],
    length: Callable[..., Any],
    limits: Sequence[Any],
    dtype: Any,
    drawn: int,
) -> Any:
    """How many steps each number makes while ``within(what it has passed, *limits)`` holds.

    A step has ``length(u, *limits)`` for uniform `u`. Of two new keys `u` is drawn with number `drawn`.
    """
    width = limits[0].shape[1]

    def waits(keys: Any, passed: Any, count: Any, *limits: Any) -> Any:
        return within(passed, *limits).any(axis=1)

    def step(keys: Any, passed: Any, count: Any, *limits: Any) -> Any:
        pair = _children(how, keys, 2)
        u = _uniform(how, pair[drawn], (width,), dtype)
        count = count + within(passed, *limits)
        return pair[1 - drawn], passed + length(u, *limits), count

    zeros = how.xp.zeros_like(limits[0])
    return how.loop(waits, step, (keys, zeros, zeros), limits)[2]


def _accepted(
    how: Arrays, keys: Any, propose: Callable[..., Any], needed: Any, parameters: Any, dtype: Any
) -> Any:
    """Numbers drawn anew, a row at a time, until ``propose(u, v, *parameters)`` accepts all of it.

    It gives the numbers and which of them it accepts, for uniform `u` in [-1/2, 1/2) and `v` in
    [0, 1). Accepted ones are drawn again, too, as JAX does. Only the rows that are `needed`.
    """
    xp, width = how.xp, parameters[0].shape[1]

    def waits(keys: Any, out: Any, done: Any, needed: Any, *parameters: Any) -> Any:
        return needed & ~done.all(axis=1)

    def step(keys: Any, out: Any, done: Any, needed: Any, *parameters: Any) -> Any:
        keys, for_u, for_v = _children(how, keys, 3)
        u, v = (_uniform(how, k, (width,), dtype) for k in (for_u, for_v))
        proposed, accept = propose(how, u - 0.5, v, *parameters)
        return keys, xp.where(accept, proposed, out), done | accept

    zeros = xp.zeros_like(parameters[0])
    return how.loop(waits, step, (keys, zeros, zeros != 0), (needed, *parameters))[1]


def _propose_poisson(how: Arrays, u: Any, v: Any, mean: Any) -> tuple[Any, Any]:
    xp = how.xp
    b = 0.931 + 2.53 * xp.sqrt(mean)
    a = -0.059 + 0.02483 * b
    edge = 0.5 - abs(u)
    k = xp.floor((2 * a / edge + b) * u + mean + 0.43)
    least = xp.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (edge * edge) + b))
    inside = (k >= 0) & ((edge >= 0.013) | (v <= edge))
    likely = least <= k * xp.log(mean) - mean - how.call(gammaln, xp.maximum(k, 0) + 1)
    return k, (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2)) | inside & likely


def poisson_numbers(how: Arrays, key: Any, mean: Any, *, shape: Shape, dtype: Any) -> Any:
    """What `random_poisson` is."""
    xp, single = how.xp, np.dtype(np.float32)
    keys, mean = _rows(how, key, shape, mean)
    largest = float(np.iinfo(dtype).max)
    valid = (mean >= 0) & (mean < largest)
    mean = xp.where(valid, mean, 0.0)
    few = mean < 10
    low, high = xp.where(few, mean, 0.0), xp.where(few, 1e5, mean)

    def within(passed: Any, low: Any) -> Any:
        return passed < low

    def length(u: Any, low: Any) -> Any:
        return -xp.log(u)

    steps = xp.maximum(_steps(how, keys, within, length, (low,), single, 1) - 1, 0)
    many = _accepted(how, keys, _propose_poisson, ~few.all(axis=1), (high,), single)
    out = xp.where(valid, xp.where(few, steps, many), -1)
    return xp.minimum(out, largest).astype(dtype).reshape((*key.shape[:-1], *shape))


@constant(aval=aval_with_parameters, batch=batch_with_parameters)
def random_poisson(xp, key, mean, /, *, shape, dtype):
    """Poisson variables: steps of a Poisson process for means below 10, accepted proposals above.

    -1 where the mean is negative, NaN or beyond the dtype.

    Shapes: ``key: (*a, 2)``, the parameter broadcasts to ``(*a, *shape) -> (*a, *shape)``.
    Dtypes: uint32, real ``->`` the integer `dtype`.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key.
    Source: Hoermann, "The transformed rejection method for generating Poisson random variables",
    Insurance: Mathematics and Economics 12 (1993), PTRS.

    >>> random_poisson(np.zeros(2, np.uint32), 4.0, shape=(3,), dtype=np.dtype(int)).shape
    (3,)
    """
    require_key("random.poisson", key)
    return _run(poisson_numbers, xp, key, mean, shape=shape, dtype=dtype)


def _propose_binomial(how: Arrays, u: Any, v: Any, count: Any, p: Any) -> tuple[Any, Any]:
    xp = how.xp
    deviation = xp.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    edge = 0.5 - abs(u)
    k = xp.floor((2 * a / edge + b) * u + count * p + 0.5)
    inside = (k >= 0) & (k <= count)
    least = xp.log(v * (2.83 + 5.1 / b) * deviation / (a / (edge * edge) + b))
    mode, within = xp.floor((count + 1) * p), xp.where(inside, k, 0.0)
    likely = (within - mode) * xp.log(p / (1 - p))
    for x, sign in ((mode, 1), (count - mode, 1), (within, -1), (count - within, -1)):
        likely = likely + sign * how.call(gammaln, x + 1)
    return k, (edge >= 0.07) & (v <= 0.92 - 4.2 / b) | inside & (least <= likely)


def binomial_numbers(how: Arrays, key: Any, count: Any, p: Any, *, shape: Shape, dtype: Any) -> Any:
    """What `random_binomial` is."""
    xp = how.xp
    keys, count, p = _rows(how, key, shape, count, p)
    count = xp.floor(count)
    valid = (count >= 0) & (p >= 0) & (p <= 1)
    rare = xp.where(p < 0.5, p, 1 - p)
    bounded = valid & xp.isfinite(count)
    trials, q = xp.where(bounded, count, 0.0), xp.where(bounded, rare, 0.01)
    few = trials * q <= 10
    low = xp.where(few, trials, 0.0)

    def within(passed: Any, low: Any, rate: Any) -> Any:
        return passed <= low

    def length(u: Any, low: Any, rate: Any) -> Any:
        return xp.ceil(xp.log(u) / rate)

    steps = _steps(how, keys, within, length, (low, xp.log1p(-q)), dtype, 0) - 1
    parameters = (xp.where(few, 1e4, trials), xp.where(few, 0.5, q))
    many = _accepted(how, keys, _propose_binomial, ~few.all(axis=1), parameters, dtype)
    found = xp.where(few, steps, many)
    out = xp.where(p < 0.5, found, count - found)
    out = xp.where(bounded, out, xp.where(valid, math.inf, math.nan))
    return out.reshape((*key.shape[:-1], *shape))


@constant(
    aval=lambda key, count, p, *, shape, dtype: aval_with_parameters(
        key, count, p, shape=shape, dtype=FLOAT
    ),
    batch=batch_with_parameters,
)
def random_binomial(xp, key, count, p, /, *, shape, dtype):
    """How many of `count` trials succeed: by geometric steps if few of them do, else by proposals.

    NaN where `count` is negative or `p` is no probability.

    Shapes: ``key: (*a, 2)``, parameters broadcast to ``(*a, *shape) -> (*a, *shape)``.
    Dtypes: uint32, real ``->`` float64, from random numbers of `dtype`.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key.
    Source: Hoermann, "The generation of binomial random variates", J. Stat. Comput. Simul. 46
    (1993), BTRS; Devroye, "Non-uniform random variate generation" (1986), X.4.3.

    >>> random_binomial(np.zeros(2, np.uint32), 4, 0.5, shape=(3,), dtype=np.dtype(float)).shape
    (3,)
    """
    require_key("random.binomial", key)
    return _run(binomial_numbers, xp, key, count, p, shape=shape, dtype=dtype)
