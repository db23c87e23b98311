"""Random numbers from counters: the same key gives the same numbers, everywhere and in any order.

NOTE [Counters] There is no hidden state. A *key* is two 32-bit words; number i of a sequence is a
hash (Threefry) of the key and i, so it can be computed alone, in blocks or in parallel, and what
`vmap` computes for a batch of keys is bit for bit what a loop gives. The words are used in the way
of JAX (``jax_threefry_partitionable``, its default), so keys and bits agree with it.

NOTE [Blocks] Hashing reads nothing and does a hundred operations per word, so it runs on blocks
that stay in cache, and what is made of the words is made block by block too.

A key is a uint32 array ``(..., 2)``; all axes but the last are a batch of keys, and every result
has them in front.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..algebra import batch_first, constant
from ..core import Aval, Primitive, aval_of, dtype_of
from ..errors import ArgumentError, where
from .bits import bitcast
from .index_layout import on_host
from .structural import batch_all_first

Shape = tuple[int, ...]
Words = tuple[Any, Any]

KEY_DTYPE = np.dtype(np.uint32)
_BLOCK = {"numpy": 1 << 15}
_LARGE_BLOCK = 1 << 26

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


# ---------------------------------------------------------------- the hash


def threefry2x32(xp: Any, key: Words, counter: Words) -> Words:
    """Two 32-bit words from the key and the counter: 20 rounds of add, rotate, exclusive or.

    Source: Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    """
    x, y = counter[0] + key[0], counter[1] + key[1]
    if x.size <= FEW and on_host(xp):
        return _hashed_one_by_one(key, x, y)
    words = (*key, key[0] ^ key[1] ^ _PARITY)
    shifted = xp.empty_like(y)
    for group in range(5):
        for bits in _ROTATIONS[group % 2]:
            x += y
            xp.left_shift(y, bits, out=shifted)
            y >>= 32 - bits
            y |= shifted
            y ^= x
        x += words[(group + 1) % 3]
        y += words[(group + 2) % 3] + (group + 1)
    return x, y


FEW = 16  # words that Python hashes faster than NumPy, which takes a hundred calls


def _hashed_one_by_one(key: Words, x: Any, y: Any) -> Words:
    first, second = (
        [k.item()] * x.size if k.size == 1 else np.broadcast_to(k, x.shape).ravel().tolist()
        for k in key
    )
    words = zip(first, second, x.ravel().tolist(), y.ravel().tolist(), strict=True)
    pairs = [_hashed(*w) for w in words]
    found = np.array(pairs, KEY_DTYPE).reshape(*x.shape, 2)
    return found[..., 0], found[..., 1]


def _hashed(first: int, second: int, x: int, y: int) -> tuple[int, int]:
    """The rounds of `threefry2x32` for one pair of words, to which the key has been added."""
    words = (first, second, first ^ second ^ _PARITY)
    for group in range(5):
        for bits in _ROTATIONS[group % 2]:
            x = (x + y) & 0xFFFFFFFF
            y = ((y << bits) & 0xFFFFFFFF | y >> 32 - bits) ^ x
        x = (x + words[(group + 1) % 3]) & 0xFFFFFFFF
        y = (y + words[(group + 2) % 3] + group + 1) & 0xFFFFFFFF
    return x, y


def _generate(
    xp: Any, key: Any, shape: Shape, dtype: Any, finish: Callable[[Any, Words], Any]
) -> Any:
    """``finish`` of the words of the counters 0, 1, 2, ... for every key, NOTE [Blocks]."""
    lead = key.shape[:-1]
    keys = key.reshape(math.prod(lead), 2)
    count = math.prod(shape)
    blocks = list(_blocks(xp, len(keys), count))
    if len(blocks) == 1:
        out = finish(xp, _words(xp, keys, slice(0, count))).astype(dtype, copy=False)
    else:
        out = xp.empty((len(keys), count), dtype)
        for rows, columns in blocks:
            out[rows, columns] = finish(xp, _words(xp, keys[rows], columns))
    return out.reshape((*lead, *shape))


def _words(xp: Any, keys: Any, columns: slice) -> Words:
    """The words of each key (rows) for the counters from ``columns.start`` on."""
    # Blocks start at multiples of a power of two, so the high word is the same in all of a block.
    high, low = divmod(columns.start, 1 << 32)
    lows = xp.arange(columns.stop - columns.start, dtype=KEY_DTYPE) + KEY_DTYPE.type(low)
    highs = xp.full((1, 1), high, KEY_DTYPE)
    x = xp.broadcast_to(highs, (len(keys), len(lows)))
    return threefry2x32(xp, (keys[:, :1], keys[:, 1:]), (x, lows[None]))


def _blocks(xp: Any, rows: int, columns: int) -> Iterator[tuple[slice, slice]]:
    size = _BLOCK.get(xp.__name__, _LARGE_BLOCK)
    height = max(1, size // max(columns, 1))
    for i in range(0, rows, height):
        for j in range(0, columns, size):
            yield slice(i, min(i + height, rows)), slice(j, min(j + size, columns))


# ---------------------------------------------------------------- keys


class extended(np.void):  # type: ignore[misc]
    """What arrays hold beside numbers: keys that are one element each."""


class prng_key(extended):  # type: ignore[misc]
    """A key as one element, of dtype `KEYS`; it has no derivative, no order and no arithmetic."""


KEYS = np.dtype((prng_key, [("words", KEY_DTYPE, (2,))]))


def words_of(key: Any) -> Any:
    """The words of keys that are elements; other keys as they are.

    >>> words_of(np.zeros(3, KEYS)).shape, words_of(np.zeros((3, 2), KEY_DTYPE)).shape
    ((3, 2), (3, 2))
    """
    return bitcast(key, dtype=KEY_DTYPE) if dtype_of(key) == KEYS else key


def require_key(name: str, key: Any) -> Aval:
    """
    Raises: ArgumentError: `key` is not a uint32 array of two words along its last axis.
    """
    aval = aval_of(key)
    if aval.dtype != KEY_DTYPE or aval.shape[-1:] != (2,):
        raise ArgumentError(
            f"{name}: a key is a uint32 array of shape (2,), as random.key(seed) makes; found "
            f"{aval}{where()}"
        )
    return aval


def _batch_of_keys(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    return prim(batch_first(xs[0], bdims[0]), **params), 0


def _of_key(dtype: Callable[..., Any], *last: int) -> Callable[..., Aval]:
    """The shape rule of a primitive that draws numbers of this dtype."""

    def aval(key: Aval, *, shape: Shape, **params: Any) -> Aval:
        require_key("random", key)
        return Aval((*key.shape[:-1], *shape, *last), dtype(**params))

    return aval


@constant(
    aval=lambda seed: Aval((*seed.shape, 2), KEY_DTYPE),
    batch=_batch_of_keys,
)
def random_seed(xp, seed, /):
    """The key whose two words are the high and the low half of a 64-bit integer.

    Shapes: ``seed: (*a) -> (*a, 2)``.   Dtypes: integers ``->`` uint32.
    Derivative: zero.
    Raises: ArgumentError: `seed` is no integer.
    Source: JAX, ``jax.random.PRNGKey``.

    >>> random_seed(7).tolist()
    [0, 7]
    """
    if isinstance(seed, int):
        seed &= (1 << 64) - 1
        return xp.asarray([seed >> 32, seed & 0xFFFFFFFF], dtype=KEY_DTYPE)
    if seed.dtype.kind not in "iu":
        raise ArgumentError(f"random.key: a seed is an integer, found {aval_of(seed)}{where()}")
    seed = xp.asarray(seed).astype(np.uint64)
    return xp.stack((seed >> 32, seed & 0xFFFFFFFF), axis=-1).astype(KEY_DTYPE)


@constant(aval=_of_key(lambda: KEY_DTYPE, 2), batch=_batch_of_keys)
def random_split(xp, key, /, *, shape):
    """New keys, as many as `shape` says: the words of the counters 0, 1, 2, ...

    Shapes: ``key: (*a, 2) -> (*a, *shape, 2)``.   Dtypes: uint32.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key.
    Source: JAX, ``jax.random.split``; Claessen & Palka, "Splittable pseudorandom number generators
    using cryptographic hashing", Haskell 2013.

    >>> random_split(random_seed(0), shape=(2,)).shape
    (2, 2)
    """
    require_key("random.split", key)
    both = _generate(xp, key, shape, np.uint64, _as_bits(64))
    return xp.stack([x.astype(KEY_DTYPE) for x in (both >> 32, both & 0xFFFFFFFF)], axis=-1)


def _fold_in_aval(key: Aval, data: Aval) -> Aval:
    require_key("random.fold_in", key)
    return Aval((*np.broadcast_shapes(key.shape[:-1], data.shape), 2), KEY_DTYPE)


def _batch_fold_in(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    """Keys broadcast against data, and have one axis more."""
    axes = [aval_of(x).ndim - (b is not None) for x, b in zip(xs, bdims, strict=True)]
    ndim = max(axes[0] - 1, axes[1])
    key, data = (
        x if b is None else batch_first(x, b, n)
        for x, b, n in zip(xs, bdims, (ndim + 1, ndim), strict=True)
    )
    return prim(key, data), 0


@constant(aval=_fold_in_aval, batch=_batch_fold_in)
def random_fold_in(xp, key, data, /):
    """The key that is the hash of the low 32 bits of `data` under `key`.

    Shapes: ``key: (*a, 2), data: (*a) -> (*a, 2)``.   Dtypes: uint32, integers ``->`` uint32.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key, or `data` is no integer.
    Source: JAX, ``jax.random.fold_in``.

    >>> random_fold_in(random_seed(0), 1).shape
    (2,)
    """
    require_key("random.fold_in", key)
    if aval_of(data).dtype.kind not in "iu":
        raise ArgumentError(f"random.fold_in: data is {aval_of(data)}, no integer{where()}")
    data = data & 0xFFFFFFFF if isinstance(data, int) else xp.asarray(data)
    low = xp.asarray(data).astype(KEY_DTYPE)[..., None]
    x, y = threefry2x32(xp, (key[..., :1], key[..., 1:]), (xp.zeros_like(low), low))
    return xp.concatenate((x, y), axis=-1)


# ---------------------------------------------------------------- bits and floats


def _as_bits(bits: int) -> Callable[[Any, Words], Any]:
    if bits == 64:
        return lambda xp, words: words[0].astype(np.uint64) << 32 | words[1]
    dtype = np.dtype(f"uint{bits}")
    return lambda xp, words: (words[0] ^ words[1]).astype(dtype, copy=False)


@constant(aval=_of_key(lambda *, bits: np.dtype(f"uint{bits}")), batch=_batch_of_keys)
def random_bits(xp, key, /, *, shape, bits):
    """Unsigned integers of 8, 16, 32 or 64 bits, all equally likely.

    Shapes: ``key: (*a, 2) -> (*a, *shape)``.   Dtypes: uint32 ``->`` unsigned integers.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key.
    Source: Salmon, Moraes, Dror & Shaw, SC 2011; NOTE [Counters].

    >>> random_bits(np.zeros(2, np.uint32), shape=(2,), bits=32).tolist()
    [4070199207, 4202968722]
    """
    require_key("random.bits", key)
    return _generate(xp, key, shape, np.dtype(f"uint{bits}"), _as_bits(bits))


def _as_uniform(dtype: np.dtype) -> Callable[[Any, Words], Any]:
    """Numbers in [0, 1): random bits for the mantissa of a number in [1, 2), less 1."""
    info = np.finfo(dtype)
    mantissa, size = info.nmant, dtype.itemsize * 8
    integers = np.dtype(f"uint{size}")
    one = int(np.ones((), dtype).view(integers))
    draw = _as_bits(size)

    def finish(xp: Any, words: Words) -> Any:
        bits = draw(xp, words)
        bits >>= size - mantissa
        bits |= one
        out = bits.view(dtype)
        out -= 1
        return out

    return finish


@constant(aval=_of_key(lambda *, dtype: dtype), batch=_batch_of_keys)
def random_uniform(xp, key, /, *, shape, dtype):
    """Numbers in [0, 1), evenly spaced and equally likely.

    Shapes: ``key: (*a, 2) -> (*a, *shape)``.   Dtypes: uint32 ``->`` the floating `dtype`.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key.
    Source: JAX, ``jax.random.uniform``.

    >>> random_uniform(random_seed(0), shape=(2,), dtype=np.dtype("float64")).round(4).tolist()
    [0.4185, 0.2163]
    """
    require_key("random.uniform", key)
    return _generate(xp, key, shape, dtype, _as_uniform(dtype))


# ---------------------------------------------------------------- the normal distribution

# Rational approximations of the inverse of the normal distribution function, constant term first:
# within 0.425 of the median, and in the tails as functions of sqrt(-log(probability)).
_CENTRE = (
    (
        3.387132872796366608,
        1.3314166789178437745e2,
        1.9715909503065514427e3,
        1.3731693765509461125e4,
        4.5921953931549871457e4,
        6.7265770927008700853e4,
        3.3430575583588128105e4,
        2.5090809287301226727e3,
    ),
    (
        1.0,
        4.2313330701600911252e1,
        6.8718700749205790830e2,
        5.3941960214247511077e3,
        2.1213794301586595867e4,
        3.9307895800092710610e4,
        2.8729085735721942674e4,
        5.2264952788528545610e3,
    ),
)
_TAIL = (
    (
        1.42343711074968357734,
        4.63033784615654529590,
        5.76949722146069140550,
        3.64784832476320460504,
        1.27045825245236838258,
        2.41780725177450611770e-1,
        2.27238449892691845833e-2,
        7.74545014278341407640e-4,
    ),
    (
        1.0,
        2.05319162663775882187,
        1.67638483018380384940,
        6.89767334985100004550e-1,
        1.48103976427480074590e-1,
        1.51986665636164571966e-2,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ),
)
_FAR_TAIL = (
    (
        6.65790464350110377720,
        5.46378491116411436990,
        1.78482653991729133580,
        2.96560571828504891230e-1,
        2.65321895265761230930e-2,
        1.24266094738807843860e-3,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ),
    (
        1.0,
        5.99832206555887937690e-1,
        1.36929880922735805310e-1,
        1.48753612908506148525e-2,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ),
)


def _rational(coefficients: tuple[Sequence[float], Sequence[float]], x: Any) -> Any:
    """The quotient of two polynomials, each by Horner's rule, in place."""
    above, below = (_polynomial(c, x) for c in coefficients)
    above /= below
    return above


def _polynomial(coefficients: Sequence[float], x: Any) -> Any:
    *rest, last = coefficients
    found = x * last
    found += rest.pop()
    for c in reversed(rest):
        found *= x
        found += c
    return found


def inverse_normal(xp: Any, q: Any) -> Any:
    """The number below which a standard normal variable lies with probability ``q + 1/2``.

    Only arithmetic near the median, so the same on every machine; `log` and `sqrt` in the tails.

    Source: Wichura, "Algorithm AS 241: the percentage points of the normal distribution",
    Appl. Statist. 37 (1988): relative accuracy about 1e-16.
    """
    out = _rational(_CENTRE, 0.180625 - q * q)
    out *= q
    outside = xp.abs(q) > 0.425
    if on_host(xp):
        if outside.any():
            tail = outside.nonzero()
            out[tail] = _inverse_in_tails(xp, q[tail])
        return out
    # Elsewhere a count of the tail would have to be read back from the device.
    return xp.where(outside, _inverse_in_tails(xp, q), out)


def _inverse_in_tails(xp: Any, q: Any) -> Any:
    r = xp.sqrt(-xp.log(0.5 - xp.abs(q)))
    out = _rational(_TAIL, r - 1.6)
    far = r > 5  # one number in 10^11
    if not on_host(xp) or far.any():
        out = xp.where(far, _rational(_FAR_TAIL, r - 5), out)
    return xp.copysign(out, q)


def normal_of_uniform(xp: Any, u: Any) -> Any:
    """The normal numbers that uniform ones in [0, 1) are made, in single precision at least."""
    low = float(np.finfo(u.dtype).epsneg) - 1.0  # the least number above -1
    u = u.astype(u.dtype if u.dtype.itemsize >= 4 else np.float32, copy=False)
    u *= 1 - low
    u += low
    u *= 0.5
    return inverse_normal(xp, u)


@constant(aval=_of_key(lambda *, dtype: dtype), batch=_batch_of_keys)
def random_normal(xp, key, /, *, shape, dtype):
    """Numbers of the standard normal distribution, by inverting its distribution function.

    Shapes: ``key: (*a, 2) -> (*a, *shape)``.   Dtypes: uint32 ``->`` the floating `dtype`.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key.
    Source: Wichura, AS 241 (1988), of the uniform numbers that JAX's ``jax.random.normal`` inverts.

    >>> random_normal(random_seed(0), shape=(2,), dtype=np.dtype("float32")).round(4).tolist()
    [1.6226, 2.0253]
    """
    require_key("random.normal", key)
    uniform = _as_uniform(dtype)

    def finish(xp: Any, words: Words) -> Any:
        return normal_of_uniform(xp, uniform(xp, words))

    return _generate(xp, key, shape, dtype, finish)


# ---------------------------------------------------------------- integers and permutations


def aval_with_parameters(key: Aval, *_parameters: Aval, shape: Shape, dtype: Any) -> Aval:
    require_key("random", key)
    return Aval((*key.shape[:-1], *shape), dtype)


def batch_with_parameters(prim: Primitive, size: int, xs: Any, bdims: Any, params: dict) -> Any:
    """Parameters broadcast against the result from the right, which has the keys' axes in front."""
    (key,) = batch_all_first(size, xs[:1], bdims[:1])
    ndim = key.ndim - 2 + len(params["shape"])
    rest = [
        x if b is None else batch_first(x, b, ndim) for x, b in zip(xs[1:], bdims[1:], strict=True)
    ]
    return prim(key, *rest, **params), 0


@constant(aval=aval_with_parameters, batch=batch_with_parameters)
def random_integers(xp, key, low, high, /, *, shape, dtype):
    """Integers from `low` to ``high - 1``; `low` where there are none.

    The remainder of twice as many random bits as the dtype has (64 or more), so that none is
    visibly favoured.

    Shapes: ``key: (*a, 2)``, bounds broadcast to ``(*a, *shape) -> (*a, *shape)``.
    Dtypes: uint32, integers ``->`` the integer `dtype`.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key, or a bound is not within the dtype.
    Source: JAX, ``jax.random.randint``.

    >>> random_integers(random_seed(0), 0, 6, shape=(3,), dtype=np.dtype("int64")).tolist()
    [3, 5, 5]
    """
    require_key("random.randint", key)
    _require_in_range(xp, low, high, dtype)
    size = max(dtype.itemsize * 8, 32)
    keys = random_split.impl(xp, key, shape=(2,))
    higher, lower = (random_bits.impl(xp, keys[..., i, :], shape=shape, bits=size) for i in (0, 1))
    wide = np.dtype(np.uint64 if dtype == np.uint64 else np.int64)
    low, high = (xp.asarray(b).astype(wide) for b in (low, high))
    with np.errstate(over="ignore"):  # it wraps around on purpose
        count = xp.where(high > low, (high - low).astype(lower.dtype), lower.dtype.type(1))
        whole = count == 0  # as many as there are words of this size
        count = xp.maximum(count, lower.dtype.type(1))
        turn = lower.dtype.type(1 << (size // 2)) % count
        offset = ((higher % count) * (turn * turn % count) + lower % count) % count
        return (low + xp.where(whole, lower, offset).astype(wide)).astype(dtype)


def _require_in_range(xp: Any, low: Any, high: Any, dtype: np.dtype) -> None:
    """
    Raises: ArgumentError: bounds that are numbers or on the host are not within the dtype.
    """
    info = np.iinfo(dtype)
    last = info.max + (dtype.itemsize < 8)  # `high` itself is excluded
    for name, bound, largest in (("minval", low, info.max), ("maxval", high, last)):
        if isinstance(bound, int) or xp is np:
            bad = (bound < info.min) | (bound > largest)
            if bad if isinstance(bad, bool) else bad.any():
                raise ArgumentError(f"random.randint: {name}={bound} is beyond {dtype}{where()}")


@constant(
    aval=lambda key, *, n: Aval((*key.shape[:-1], n), np.dtype(np.int64)),
    batch=_batch_of_keys,
)
def random_permutation(xp, key, /, *, n):
    """The numbers 0 to ``n - 1`` in an order of which all are equally likely.

    Sorted by random bits, and again until no two numbers are likely to have had the same bits.

    Shapes: ``key: (*a, 2) -> (*a, n)``.   Dtypes: uint32 ``->`` int64.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key.
    Source: JAX, ``jax.random.permutation``.

    >>> sorted(random_permutation(random_seed(0), n=3).tolist())
    [0, 1, 2]
    """
    require_key("random.permutation", key)
    out = xp.broadcast_to(xp.arange(n, dtype=np.int64), (*key.shape[:-1], n))
    for _ in range(rounds(n)):
        keys = random_split.impl(xp, key, shape=(2,))
        key, bits = keys[..., 0, :], random_bits.impl(xp, keys[..., 1, :], shape=(n,), bits=32)
        out = xp.take_along_axis(out, xp.argsort(bits, axis=-1, kind="stable"), axis=-1)
    return out if n > 1 else out.copy()


def rounds(n: int) -> int:
    """How often n numbers are sorted by 32 random bits each, so that hardly two have had the same."""
    return math.ceil(3 * math.log(max(1, n)) / math.log(0xFFFFFFFF))
