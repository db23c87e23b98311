"""Keys: made of seeds, split, mixed with numbers, and their bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import aval_of, dtype_of
from ..errors import ArgumentError, where
from ..numpy._arguments import copied, operand
from ..ops.bits import bitcast
from ..ops.random import (
    KEYS,
    random_bits,
    random_fold_in,
    random_seed,
    random_split,
    require_key,
    words_of,
)
from ._arguments import Shape, shape_of
from .drawing import Draw

_bits, _fold_in, _split = map(Draw, (random_bits, random_fold_in, random_split))


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:
    """The key that belongs to a 64-bit integer: two words of 32 bits.

    Raises: ArgumentError: `seed` is no integer, or `impl` is not threefry2x32.

    >>> PRNGKey(7).tolist()
    [0, 7]
    """
    if aval_of(seed).dtype.kind not in "iu":
        raise ArgumentError(f"random.key: a seed is an integer, found {aval_of(seed)}{where()}")
    _require_threefry("PRNGKey", impl)
    return random_seed(seed)


class Made:
    """How `key`, `wrap_key_data` and what is made of such keys give them: as words, or as elements."""

    elements = False  # as JAX's are, which have the dtype `KEYS` and a shape without the two words


def key(seed: Any, *, impl: Any = None) -> Any:
    """`PRNGKey`; behind ``funcgrad.jax.install()`` one element of a dtype of its own, as in JAX.

    Raises: ArgumentError: `seed` is no integer, or `impl` is not threefry2x32.

    >>> key(7).tolist()
    [0, 7]
    """
    return wrap_key_data(PRNGKey(seed), impl=impl)


def _like(key: Any, words: Any) -> Any:
    return bitcast(words, dtype=KEYS) if dtype_of(key) == KEYS else words


def split(key: Any, num: Shape = 2) -> Any:
    """New keys in place of one: `num` of them, or as many as a shape has places.

    Shapes: ``key: (2,) -> (num, 2)``.
    Raises: ArgumentError: `key` is no key.

    >>> split(PRNGKey(0), 3).shape
    (3, 2)
    """
    return _like(key, _split(key, shape=shape_of(num)))


def fold_in(key: Any, data: Any) -> Any:
    """The key made of a key and a 32-bit integer, such as the number of a step.

    Shapes: ``key: (2,), data: () -> (2,)``.
    Raises: ArgumentError: `key` is no key, or `data` is no integer.

    >>> np.array_equal(fold_in(PRNGKey(0), 1), fold_in(PRNGKey(0), 2))
    False
    """
    if type(data) is int:
        data = np.asarray(data & 0xFFFFFFFF, np.uint32)
    return _like(key, _fold_in(key, data))


def bits(key: Any, shape: Shape = (), dtype: Any = np.uint64) -> Any:
    """Unsigned integers, all equally likely; of 64 bits unless told otherwise.

    Raises: ArgumentError: `key` is no key, or `dtype` no unsigned integer type.

    >>> bits(np.zeros(2, np.uint32), (2,), np.uint32).tolist()
    [4070199207, 4202968722]
    """
    dtype = np.dtype(np.uint64 if dtype is None else dtype)
    if dtype.kind != "u":
        raise ArgumentError(f"random.bits: dtype={dtype} is no unsigned integer type{where()}")
    return _bits(key, shape=shape_of(shape), bits=dtype.itemsize * 8)


# ---------------------------------------------------------------- keys as data


def _require_threefry(name: str, impl: Any) -> None:
    if impl not in (None, "threefry2x32"):
        raise ArgumentError(f"random.{name}: impl={impl!r}; keys are of threefry2x32 only{where()}")


def key_data(keys: Any) -> Any:
    """The words of keys, two of 32 bits each; what `PRNGKey` makes are words themselves.

    Shapes: ``keys: (*a, 2) -> (*a, 2)``, and ``(*a) -> (*a, 2)`` of dtype `KEYS`.   Dtypes: uint32.
    Derivative: zero.
    Raises: ArgumentError: `keys` are no keys.
    Source: JAX, ``jax.random.key_data``.

    >>> key_data(PRNGKey(7)).tolist()
    [0, 7]
    """
    keys = words_of(operand(keys))
    require_key("random.key_data", keys)
    return keys


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """Keys of their words; the inverse of `key_data`. `dtype` is that of the keys.

    Shapes: ``key_bits_array: (*a, 2) -> (*a, 2)``.   Dtypes: uint32.
    Derivative: zero.
    Raises: ArgumentError: the words are none of keys, or `impl` is not threefry2x32.
    Source: JAX, ``jax.random.wrap_key_data``.

    >>> wrap_key_data(np.array([0, 7], np.uint32)).tolist()
    [0, 7]
    """
    _require_threefry("wrap_key_data", impl if dtype in (None, np.uint32, KEYS) else dtype)
    words = key_data(key_bits_array)
    return bitcast(words, dtype=KEYS) if Made.elements or dtype == KEYS else words


def key_impl(keys: Any) -> str:
    """What `key` and `wrap_key_data` take as `impl` for keys like these: there is one kind.

    Raises: ArgumentError: `keys` are no keys.
    Source: JAX, ``jax.random.key_impl``.

    >>> key_impl(PRNGKey(7))
    'threefry2x32'
    """
    key_data(keys)
    return "threefry2x32"


def clone(key: Any) -> Any:
    """A copy of a key, to say that it is used again on purpose.

    Shapes: ``key: (*a, 2) -> (*a, 2)``.   Dtypes: uint32.
    Derivative: zero.
    Raises: ArgumentError: `key` is no key.
    Source: JAX, ``jax.random.clone``.

    >>> clone(PRNGKey(7)).tolist()
    [0, 7]
    """
    return copied(key if dtype_of(key) == KEYS else key_data(key))
