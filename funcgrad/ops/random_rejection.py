"""Random numbers that are proposed until they are accepted: gamma, Poisson and binomial variables.

NOTE [Streams] Proposals use keys in the order that JAX uses them, and where a whole array is drawn
anew until all of it is accepted, that is done for every key by itself: `vmap` gives what a loop
does, and numbers agree with JAX's but where a decision hangs on rounding. Uniform and normal numbers
are of the dtype that is asked for, and computed with in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import constant
from ..core import Aval
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


def _children(xp: Any, keys: Any, count: int) -> list[Any]:
    """`count` new keys for each of an array of keys: as many arrays."""
    found = random_split.impl(xp, keys, shape=(count,))
    return [found[:, i] for i in range(count)]


def _rows(xp: Any, key: Any, shape: Shape, *parameters: Any) -> tuple[Any, ...]:
    """A row for each key: the keys, and each parameter as float64, one column per number."""
    lead = key.shape[:-1]
    size = (math.prod(lead), math.prod(shape))
    found = [
        xp.broadcast_to(xp.asarray(p).astype(np.float64), (*lead, *shape)).reshape(size)
        for p in parameters
    ]
    return key.reshape(-1, 2), *found


# ---------------------------------------------------------------- gamma variables


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
    keys, a = _rows(xp, key, shape, a)
    keys = random_split.impl(xp, keys, shape=(a.shape[1],)).reshape(-1, 2)
    lead, a = key.shape[:-1], a.ravel()
    proposing, lifting = _children(xp, keys, 2)
    uniform = random_uniform.impl(xp, lifting, shape=(), dtype=dtype).astype(np.float64)
    with np.errstate(all="ignore"):
        shift = xp.where(a >= 1, a, a + 1) - 1 / 3
        out = xp.log(shift) + xp.log(_cubes(xp, proposing, shift, dtype))
        out = xp.where(a >= 1, out, out + xp.log1p(-uniform) / a)
    out = xp.where(a > 0, out, xp.where(a == 0, -math.inf, math.nan))
    return out.reshape((*lead, *shape))


def _cubes(xp: Any, keys: Any, shift: Any, dtype: Any) -> Any:
    """Numbers of which `shift` times as much is gamma distributed with shape ``shift + 1/3``."""
    scale = 1 / 3 / xp.sqrt(shift)
    out, keys = xp.ones_like(shift), keys.copy()
    left = xp.nonzero(xp.isfinite(scale) & (scale > 0))[0]
    while left.size:
        keys[left], for_normal, for_uniform = _children(xp, keys[left], 3)
        x = _normals_above(xp, for_normal, -1 / scale[left], dtype)
        u = random_uniform.impl(xp, for_uniform, shape=(), dtype=dtype).astype(np.float64)
        cube = (1 + x * scale[left]) ** 3
        out[left] = cube
        square = x * x
        bound = square / 2 + shift[left] * (1 - cube + xp.log(cube))
        left = left[(u >= 1 - 0.0331 * square * square) & (xp.log(u) >= bound)]
    return out


def _normals_above(xp: Any, keys: Any, low: Any, dtype: Any) -> Any:
    """One normal number for each key, the first that is above `low`."""
    out, keys = xp.empty_like(low), keys.copy()
    left = xp.arange(low.size)
    while left.size:
        keys[left], drawing = _children(xp, keys[left], 2)
        x = random_normal.impl(xp, drawing, shape=(), dtype=dtype).astype(np.float64)
        out[left] = x
        left = left[x <= low[left]]
    return out


# ---------------------------------------------------------------- counts


def _draw(xp: Any, keys: Any, width: int, dtype: Any) -> Any:
    return random_uniform.impl(xp, keys, shape=(width,), dtype=dtype).astype(np.float64)


def _steps(
    xp: Any, keys: Any, within: Callable[[Any], Any], length: Callable[[Any, Any], Any], **how: Any
) -> Any:
    """How many steps each number makes while ``within(what it has passed)`` holds.

    A step has ``length(u, rows)`` for uniform `u`. Of two new keys `u` is drawn with `how["drawn"]`.
    """
    keys = keys.copy()
    passed = xp.zeros((len(keys), how["width"]))
    count = xp.zeros_like(passed)
    while True:
        moving = within(passed)
        rows = xp.nonzero(moving.any(axis=1))[0]
        if not rows.size:
            return count
        count += moving
        pair = _children(xp, keys[rows], 2)
        keys[rows] = pair[1 - how["drawn"]]
        passed[rows] += length(_draw(xp, pair[how["drawn"]], how["width"], how["dtype"]), rows)


def _accepted(xp: Any, keys: Any, propose: Callable[..., Any], parameters: Any, dtype: Any) -> Any:
    """Numbers drawn anew, a row at a time, until ``propose(u, v, *parameters)`` accepts all of it.

    It gives the numbers and which of them it accepts, for uniform `u` in [-1/2, 1/2) and `v` in
    [0, 1). Accepted ones are drawn again, too, as JAX does.
    """
    keys, out = keys.copy(), xp.zeros_like(parameters[0])
    done = xp.zeros(out.shape, bool)
    rows = xp.arange(len(keys))
    while rows.size and out.shape[1]:
        keys[rows], for_u, for_v = _children(xp, keys[rows], 3)
        u, v = (_draw(xp, k, out.shape[1], dtype) for k in (for_u, for_v))
        proposed, accept = propose(xp, u - 0.5, v, *[p[rows] for p in parameters])
        out[rows] = xp.where(accept, proposed, out[rows])
        done[rows] |= accept
        rows = rows[~done[rows].all(axis=1)]
    return out


def _by_either(xp: Any, few: Any, numbers: Callable[[], Any], many: Callable[[Any], Any]) -> Any:
    """`numbers` where `few` holds, ``many(rows)`` for the rows where it does not hold everywhere."""
    out = numbers()
    rows = xp.nonzero(~few.all(axis=1))[0]
    if rows.size:
        out[rows] = xp.where(few[rows], out[rows], many(rows))
    return out


def _propose_poisson(xp: Any, u: Any, v: Any, mean: Any) -> tuple[Any, Any]:
    b = 0.931 + 2.53 * xp.sqrt(mean)
    a = -0.059 + 0.02483 * b
    edge = 0.5 - xp.abs(u)
    k = xp.floor((2 * a / edge + b) * u + mean + 0.43)
    least = xp.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (edge * edge) + b))
    inside = (k >= 0) & ((edge >= 0.013) | (v <= edge))
    likely = least <= k * xp.log(mean) - mean - gammaln.impl(xp, xp.maximum(k, 0) + 1)
    return k, (edge >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2)) | inside & likely


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
    keys, mean = _rows(xp, key, shape, mean)
    largest = float(np.iinfo(dtype).max)
    valid = (mean >= 0) & (mean < largest)
    mean = xp.where(valid, mean, 0.0)
    few, single = mean < 10, np.dtype(np.float32)
    low, high = xp.where(few, mean, 0.0), xp.where(few, 1e5, mean)

    def steps() -> Any:
        how = {"width": mean.shape[1], "dtype": single, "drawn": 1}
        found = _steps(xp, keys, lambda p: p < low, lambda u, _rows: -xp.log(u), **how)
        return xp.maximum(found - 1, 0)

    def proposals(rows: Any) -> Any:
        return _accepted(xp, keys[rows], _propose_poisson, [high[rows]], single)

    with np.errstate(all="ignore"):
        out = xp.where(valid, _by_either(xp, few, steps, proposals), -1)
        return xp.minimum(out, largest).astype(dtype).reshape((*key.shape[:-1], *shape))


def _propose_binomial(xp: Any, u: Any, v: Any, count: Any, p: Any) -> tuple[Any, Any]:
    deviation = xp.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    edge = 0.5 - xp.abs(u)
    k = xp.floor((2 * a / edge + b) * u + count * p + 0.5)
    inside = (k >= 0) & (k <= count)
    least = xp.log(v * (2.83 + 5.1 / b) * deviation / (a / (edge * edge) + b))
    mode, within = xp.floor((count + 1) * p), xp.where(inside, k, 0.0)
    likely = (within - mode) * xp.log(p / (1 - p))
    for x, sign in ((mode, 1), (count - mode, 1), (within, -1), (count - within, -1)):
        likely = likely + sign * gammaln.impl(xp, x + 1)
    return k, (edge >= 0.07) & (v <= 0.92 - 4.2 / b) | inside & (least <= likely)


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
    keys, count, p = _rows(xp, key, shape, count, p)
    count = xp.floor(count)
    valid = (count >= 0) & (p >= 0) & (p <= 1)
    rare = xp.where(p < 0.5, p, 1 - p)
    bounded = valid & xp.isfinite(count)
    trials, q = xp.where(bounded, count, 0.0), xp.where(bounded, rare, 0.01)
    few = trials * q <= 10
    low = xp.where(few, trials, 0.0)

    def steps() -> Any:
        how = {"width": p.shape[1], "dtype": dtype, "drawn": 0}
        rate = xp.log1p(-q)

        def length(u: Any, rows: Any) -> Any:
            return xp.ceil(xp.log(u) / rate[rows])

        return _steps(xp, keys, lambda passed: passed <= low, length, **how) - 1

    def proposals(rows: Any) -> Any:
        parameters = (xp.where(few, 1e4, trials)[rows], xp.where(few, 0.5, q)[rows])
        return _accepted(xp, keys[rows], _propose_binomial, parameters, dtype)

    with np.errstate(all="ignore"):
        found = _by_either(xp, few, steps, proposals)
        out = xp.where(p < 0.5, found, count - found)
    out = xp.where(bounded, out, xp.where(valid, math.inf, math.nan))
    return out.reshape((*key.shape[:-1], *shape))
