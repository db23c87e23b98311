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
``threefry2x32``, and 64-bit types enabled); normal numbers agree up to rounding.

Numbers are made on the device of their key, and derivatives go to the parameters of a distribution
where its numbers depend on them smoothly: the bounds of `uniform`, not the p of `bernoulli`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import numpy as fnp
from .core import aval_of
from .errors import ArgumentError, ShapeError, where
from .ops import random as _random
from .ops.contract import normal_axis

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "normal",
    "permutation",
    "randint",
    "split",
    "uniform",
]

Shape = int | Sequence[int]


def _shape(shape: Shape) -> tuple[int, ...]:
    sizes = (shape,) if isinstance(shape, int | np.integer) else shape
    found = tuple(operator.index(n) for n in sizes)
    if min(found, default=0) < 0:
        raise ShapeError(f"random: shape={shape} has a negative length{where()}")
    return found


def _floating(name: str, dtype: Any) -> np.dtype:
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        raise ArgumentError(f"random.{name}: dtype={dtype} is not floating{where()}")
    return dtype


def _is_int(x: Any) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


# ---------------------------------------------------------------- keys


def PRNGKey(seed: Any) -> Any:
    """The key that belongs to a 64-bit integer: two words of 32 bits.

    Raises: ArgumentError: `seed` is no integer.

    >>> PRNGKey(7).tolist()
    [0, 7]
    """
    if aval_of(seed).dtype.kind not in "iu":
        raise ArgumentError(f"random.key: a seed is an integer, found {aval_of(seed)}{where()}")
    return _random.random_seed(seed)


key = PRNGKey


def split(key: Any, num: Shape = 2) -> Any:
    """New keys in place of one: `num` of them, or as many as a shape has places.

    Shapes: ``key: (2,) -> (num, 2)``.
    Raises: ArgumentError: `key` is no key.

    >>> split(PRNGKey(0), 3).shape
    (3, 2)
    """
    return _random.random_split(key, shape=_shape(num))


def fold_in(key: Any, data: Any) -> Any:
    """The key made of a key and a 32-bit integer, such as the number of a step.

    Shapes: ``key: (2,), data: () -> (2,)``.
    Raises: ArgumentError: `key` is no key, or `data` is no integer.

    >>> np.array_equal(fold_in(PRNGKey(0), 1), fold_in(PRNGKey(0), 2))
    False
    """
    return _random.random_fold_in(key, data)


def bits(key: Any, shape: Shape = (), dtype: Any = np.uint32) -> Any:
    """Unsigned integers, all equally likely.

    Raises: ArgumentError: `key` is no key, or `dtype` no unsigned integer type.

    >>> bits(np.zeros(2, np.uint32), (2,)).tolist()
    [4070199207, 4202968722]
    """
    dtype = np.dtype(dtype)
    if dtype.kind != "u":
        raise ArgumentError(f"random.bits: dtype={dtype} is no unsigned integer type{where()}")
    return _random.random_bits(key, shape=_shape(shape), bits=dtype.itemsize * 8)


# ---------------------------------------------------------------- continuous distributions


def uniform(
    key: Any, shape: Shape = (), dtype: Any = float, minval: Any = 0.0, maxval: Any = 1.0
) -> Any:
    """Numbers in [minval, maxval), evenly distributed.

    The bounds broadcast to `shape`. Derivative: with respect to the bounds.
    Raises: ArgumentError: `key` is no key, or `dtype` not floating.

    >>> uniform(PRNGKey(0), (2,), minval=-1.0).round(4).tolist()
    [-0.1631, -0.5674]
    """
    dtype = _floating("uniform", dtype)
    out = _random.random_uniform(key, shape=_shape(shape), dtype=dtype)
    if _is_plain(minval, 0.0) and _is_plain(maxval, 1.0):
        return out
    low, high = (
        dtype.type(b) if isinstance(b, int | float) else fnp.astype(b, dtype)
        for b in (minval, maxval)
    )
    return _of_shape("uniform", fnp.multiply(out, high - low) + low, out.shape)


def _is_plain(bound: Any, number: float) -> bool:
    return isinstance(bound, int | float) and bound == number


def _of_shape(name: str, out: Any, shape: tuple[int, ...]) -> Any:
    if out.shape != shape:
        raise ShapeError(
            f"random.{name}: parameters that broadcast to {list(out.shape)} do not fit into shape="
            f"{list(shape)}{where()}"
        )
    return out


def normal(key: Any, shape: Shape = (), dtype: Any = float) -> Any:
    """Numbers of the standard normal distribution: its distribution function inverted.

    Raises: ArgumentError: `key` is no key, or `dtype` not floating.

    >>> normal(PRNGKey(0), (2,)).round(4).tolist()
    [-0.2058, -0.7848]
    """
    return _random.random_normal(key, shape=_shape(shape), dtype=_floating("normal", dtype))


def exponential(key: Any, shape: Shape = (), dtype: Any = float) -> Any:
    """Numbers x > 0 with density ``exp(-x)``.

    Raises: ArgumentError: `key` is no key, or `dtype` not floating.

    >>> exponential(PRNGKey(0), (2,)).round(4).tolist()
    [0.5422, 0.2437]
    """
    return -fnp.log1p(-uniform(key, shape, _floating("exponential", dtype)))


def gumbel(key: Any, shape: Shape = (), dtype: Any = float) -> Any:
    """Numbers with distribution function ``exp(-exp(-x))``: of maxima, and of softmax.

    Raises: ArgumentError: `key` is no key, or `dtype` not floating.

    >>> gumbel(PRNGKey(0), (2,)).round(4).tolist()
    [0.138, -0.4261]
    """
    dtype = _floating("gumbel", dtype)
    return -fnp.log(-fnp.log(uniform(key, shape, dtype, minval=np.finfo(dtype).tiny)))


# ---------------------------------------------------------------- discrete distributions


def bernoulli(key: Any, p: Any = 0.5, shape: Shape | None = None) -> Any:
    """True with probability `p`; `shape` is that of `p` unless given.

    Raises: ArgumentError: `key` is no key. ShapeError: `p` does not broadcast to `shape`.

    >>> bernoulli(PRNGKey(0), 0.3, (4,)).tolist()
    [False, True, False, False]
    """
    aval = aval_of(p)
    dtype = aval.dtype if aval.dtype.kind == "f" else np.dtype(float)
    drawn = uniform(key, aval.shape if shape is None else shape, dtype)
    return _of_shape("bernoulli", fnp.less(drawn, p), drawn.shape)


def randint(key: Any, shape: Shape, minval: Any, maxval: Any, dtype: Any = int) -> Any:
    """Integers from `minval` to ``maxval - 1``; `minval` where there are none.

    Raises: ArgumentError: `key` is no key, or a bound no integer or not within the dtype.
    ShapeError: a bound does not broadcast to `shape`.

    >>> randint(PRNGKey(0), (3,), 0, 6).tolist()
    [3, 5, 5]
    """
    dtype = np.dtype(dtype)
    kinds = {dtype.kind, aval_of(minval).dtype.kind, aval_of(maxval).dtype.kind}
    if not kinds <= {"i", "u"}:
        raise ArgumentError(
            f"random.randint: bounds {aval_of(minval)} and {aval_of(maxval)} and dtype={dtype} "
            f"have to be integers{where()}"
        )
    shape = _shape(shape)
    out = _random.random_integers(key, minval, maxval, shape=shape, dtype=dtype)
    return _of_shape("randint", out, shape)


def permutation(key: Any, x: Any, axis: int = 0) -> Any:
    """`x` with the parts along `axis` in random order; for an integer, ``0, ..., x - 1``.

    Derivative: linear in `x`.
    Raises: ArgumentError: `key` is no key. ShapeError: there is no such axis.

    >>> sorted(permutation(PRNGKey(0), 4).tolist())
    [0, 1, 2, 3]
    """
    if _is_int(x):
        return _random.random_permutation(key, n=int(x))
    axis = normal_axis("random.permutation", axis, fnp.ndim(x))
    order = _random.random_permutation(key, n=fnp.shape(x)[axis])
    return fnp.take(x, order, axis=axis)


def choice(
    key: Any,
    a: Any,
    shape: Shape = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
) -> Any:
    """Parts of `a` along `axis`, or integers below `a`, each with probability `p`.

    Derivative: linear in `a`; zero in `p`.
    Raises: ArgumentError: `key` is no key. ShapeError: `p` has not one entry for each part, or more
    parts are wanted than there are, without replacement.

    >>> choice(PRNGKey(0), np.array([10.0, 20.0, 30.0]), (4,)).shape
    (4,)
    """
    shape = _shape(shape)
    count = math.prod(shape)
    axis = 0 if _is_int(a) else normal_axis("random.choice", axis, fnp.ndim(a))
    n = int(a) if _is_int(a) else fnp.shape(a)[axis]
    if count and (n < 1 or (count > n and not replace)):
        kind = "with" if replace else "without"
        raise ShapeError(f"random.choice: {count} of {n} parts {kind} replacement{where()}")
    if p is not None and fnp.shape(p) != (n,):
        raise ShapeError(f"random.choice: p is {aval_of(p)}, for {n} parts{where()}")
    if not count:
        places = randint(key, shape, 0, 1)
    elif p is None:
        places = randint(key, shape, 0, n) if replace else permutation(key, n)[:count]
    else:
        places = _weighted(key, p, count, shape, replace)
    places = fnp.reshape(places, shape)
    return places if _is_int(a) else fnp.take(a, places, axis=axis)


def _weighted(key: Any, p: Any, count: int, shape: tuple[int, ...], replace: bool) -> Any:
    """Places drawn with the weights `p`: by inversion, or the largest of perturbed logarithms."""
    dtype = aval_of(p).dtype if aval_of(p).dtype.kind == "f" else np.dtype(float)
    if replace:
        sums = fnp.cumsum(p)
        return fnp.searchsorted(sums, sums[-1] * (1 - uniform(key, shape, dtype)))
    perturbed = gumbel(key, fnp.shape(p), dtype) + fnp.log(p)
    return fnp.argsort(-perturbed, stable=True)[:count]


def categorical(key: Any, logits: Any, axis: int = -1, shape: Shape | None = None) -> Any:
    """Places along `axis` of `logits`, with probability proportional to ``exp(logits)``.

    `shape` is that of `logits` without `axis`, or ends in it: more draws for each.

    Raises: ArgumentError: `key` is no key. ShapeError: `shape` does not end in that of the batch.
    Source: the largest of the logits with Gumbel noise; Maddison, Tarlow & Minka, "A* sampling",
    NeurIPS 2014.

    >>> categorical(PRNGKey(0), np.array([0.0, -np.inf, 0.0]), shape=(4,)).tolist()
    [2, 0, 0, 0]
    """
    aval = aval_of(logits)
    axis = axis % aval.ndim - aval.ndim
    batch = tuple(n for i, n in enumerate(aval.shape, -aval.ndim) if i != axis)
    shape = batch if shape is None else _shape(shape)
    more = shape[: len(shape) - len(batch)]
    if shape != (*more, *batch):
        raise ShapeError(f"random.categorical: shape={shape} does not end in {batch}{where()}")
    dtype = aval.dtype if aval.dtype.kind == "f" else np.dtype(float)
    noise = gumbel(key, (*more, *aval.shape), dtype)
    return fnp.argmax(fnp.add(noise, logits), axis=axis)
