"""Parts of arrays: in another order, chosen, or chosen with weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ShapeError, where
from ..ops import random as _random
from ..ops.contract import normal_axis
from ._arguments import Shape, is_int, shape_of
from .continuous import gumbel, uniform
from .discrete import randint
from .keys import bits, split


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """`x` with the parts along `axis` in random order; for an integer, ``0, ..., x - 1``.

    `independent`: each vector along the axis in an order of its own.

    Derivative: linear in `x`.
    Raises: ArgumentError: `key` is no key. ShapeError: there is no such axis.
    Source: JAX, ``jax.random.permutation``.

    >>> sorted(permutation(np.zeros(2, np.uint32), 4).tolist())
    [0, 1, 2, 3]
    """
    if is_int(x):
        return _random.random_permutation(_random.words_of(key), n=int(x))
    axis = normal_axis("random.permutation", axis, fnp.ndim(x))
    if independent and fnp.ndim(x) > 1:
        for _ in range(_random.rounds(fnp.size(x))):
            key, sub = split(key)
            order = fnp.argsort(bits(sub, fnp.shape(x), np.uint32), axis, stable=True)
            x = fnp.take_along_axis(x, order, axis)
        return x
    order = _random.random_permutation(_random.words_of(key), n=fnp.shape(x)[axis])
    return fnp.take(x, order, axis=axis)


def choice(
    key: Any,
    a: Any,
    shape: Shape = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Any:
    """Parts of `a` along `axis`, or integers below `a`, each with probability `p`.

    `mode` is that of `gumbel`, which draws parts with weights and without replacement.

    Derivative: linear in `a`; zero in `p`.
    Raises: ArgumentError: `key` is no key. ShapeError: `p` has not one entry for each part, or more
    parts are wanted than there are, without replacement.

    >>> choice(np.zeros(2, np.uint32), np.array([10.0, 20.0, 30.0]), (4,)).shape
    (4,)
    """
    shape = shape_of(shape)
    count = math.prod(shape)
    axis = 0 if is_int(a) else normal_axis("random.choice", axis, fnp.ndim(a))
    n = int(a) if is_int(a) else fnp.shape(a)[axis]
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
        places = _weighted(key, p, count, shape, replace, mode)
    places = fnp.reshape(places, shape)
    return places if is_int(a) else fnp.take(a, places, axis=axis)


def _weighted(
    key: Any, p: Any, count: int, shape: tuple[int, ...], replace: bool, mode: str | None
) -> Any:
    """Places drawn with the weights `p`: by inversion, or the largest of perturbed logarithms."""
    dtype = aval_of(p).dtype
    if dtype.kind != "f":
        dtype = np.dtype(np.float32 if dtype.kind == "b" else float)  # those of JAX's streams
    if replace:
        sums = fnp.cumsum(p)
        return fnp.searchsorted(sums, sums[-1] * (1 - uniform(key, shape, dtype)))
    perturbed = gumbel(key, fnp.shape(p), dtype, mode) + fnp.log(p)
    return fnp.argsort(-perturbed, stable=True)[:count]


def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Shape | None = None,
    replace: bool = True,
    mode: str | None = None,
) -> Any:
    """Places along `axis` of `logits`, with probability proportional to ``exp(logits)``.

    `shape` is that of `logits` without `axis`, or ends in it: more draws for each, without `replace`
    all different. `mode` is that of `gumbel`.

    Raises: ArgumentError: `key` is no key. ShapeError: `shape` does not end in that of the batch, or
    more draws are wanted than there are places, without replacement.
    Source: the largest of the logits with Gumbel noise; Maddison, Tarlow & Minka, "A* sampling",
    NeurIPS 2014; the k largest: Kool, van Hoof & Welling, "Stochastic beams", ICML 2019.

    >>> categorical(np.zeros(2, np.uint32), np.array([0.0, -np.inf, 0.0]), shape=(4,)).tolist()
    [2, 0, 0, 0]
    """
    aval = aval_of(logits)
    axis = axis % aval.ndim - aval.ndim
    batch = tuple(n for i, n in enumerate(aval.shape, -aval.ndim) if i != axis)
    shape = batch if shape is None else shape_of(shape)
    more = shape[: len(shape) - len(batch)]
    if shape != (*more, *batch):
        raise ShapeError(f"random.categorical: shape={shape} does not end in {batch}{where()}")
    dtype = aval.dtype if aval.dtype.kind == "f" else np.dtype(float)
    if replace:
        noise = gumbel(key, (*more, *aval.shape), dtype, mode)
        return fnp.argmax(fnp.add(noise, logits), axis=axis)
    count = math.prod(more)
    if count > aval.shape[axis]:
        raise ShapeError(
            f"random.categorical: {count} of {aval.shape[axis]} places without replacement{where()}"
        )
    perturbed = fnp.moveaxis(fnp.add(gumbel(key, aval.shape, dtype, mode), logits), axis, 0)
    return fnp.reshape(fnp.argsort(-perturbed, axis=0, stable=True)[:count], shape)
