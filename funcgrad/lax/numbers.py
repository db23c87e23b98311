"""Functions of numbers that ``jax.lax`` has beside NumPy's: precision, halves of products, gammas."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, ShapeError, where
from ..numpy._arguments import array_of, arrays_of
from ..ops.bits import bitcast
from ..ops.gamma import gammainc, log_gamma_moved
from ..ops.logic import right_shift
from ..ops.select import stop_gradient
from ..scipy import special as _special
from ..transforms.jvp import jvp
from ._arguments import integral, ints


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """`operand` in another dtype; a complex one made real keeps its real part.

    Shapes: ``(*a) -> (*a)``.   Dtypes: all ``-> new_dtype``.
    Derivative: linear between floating and complex dtypes, else zero.
    Raises: nothing of its own.
    Source: XLA's operation semantics, "ConvertElementType".

    >>> convert_element_type(np.array([1.7, -1.7]), int).tolist()
    [1, -1]
    """
    return fnp.astype(array_of(operand), new_dtype)


def conj(x: Any) -> Any:
    """The complex conjugate; of real numbers too a complex number.

    Shapes: ``(*a) -> (*a)``.   Dtypes: floating, complex; gives complex ones.
    Derivative: linear over the real numbers.
    Raises: ArgumentError: `x` holds no numbers.
    Source: JAX, ``jax.lax.conj``.

    >>> conj(np.array([1.0, 2j])).tolist()
    [(1-0j), -2j]
    """
    x = array_of(x)
    dtype = aval_of(x).dtype
    return fnp.conjugate(fnp.astype(x, np.result_type(dtype, np.complex64)))


def logistic(x: Any) -> Any:
    """``1 / (1 + exp(-x))``.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``y (1 - y)``.
    Raises: ArgumentError: `x` holds no numbers.
    Source: XLA's operation semantics, "Logistic".

    >>> logistic(np.array([0.0, 100.0])).tolist()
    [0.5, 1.0]
    """
    x = array_of(x)
    if aval_of(x).dtype.kind != "c":
        return _special.expit(x)
    right = fnp.real(x) >= 0
    small = fnp.exp(fnp.where(right, -x, x))
    return fnp.where(right, 1, small) / (1 + small)


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """The nearest number with so many bits of exponent and mantissa, in the dtype of `operand`.

    Halves go to the even one; what is too large is infinite, and what would have no leading 1 is 0.

    Shapes: ``(*a) -> (*a)``.   Dtypes: floating.
    Derivative: 1, that of numbers that are not rounded.
    Raises: ArgumentError: `operand` is not floating, or there are no such numbers of bits.
    Source: XLA's operation semantics, "ReducePrecision".

    >>> reduce_precision(np.array([1.2345678, 1e39, 1e-39]), 8, 7).tolist()
    [1.234375, inf, 0.0]
    """
    x = array_of(operand)
    dtype = aval_of(x).dtype
    exponent, mantissa = ints("reduce_precision", "bits", (exponent_bits, mantissa_bits))
    if dtype.kind != "f" or exponent < 1 or mantissa < 0:
        raise ArgumentError(
            f"lax.reduce_precision: {aval_of(x)} to {exponent} and {mantissa} bits; need floating "
            f"numbers, 1 or more and 0 or more{where()}"
        )
    still = stop_gradient(x)
    near = _rounded(still, dtype, mantissa)
    if exponent < np.finfo(dtype).nexp:
        largest, size = 2 ** (exponent - 1) - 1, fnp.absolute(near)
        near = fnp.where(size >= 2.0 ** (largest + 1), fnp.copysign(np.inf, near), near)
        near = fnp.where(size < 2.0 ** (1 - largest), fnp.copysign(0.0, near), near)
    finite = fnp.isfinite(still)
    # what is taken away is +0, so that -0 stays; its derivative is -1
    return near - (fnp.where(finite, still, 0) - fnp.where(finite, x, 0))


def _rounded(x: Any, dtype: Any, mantissa: int) -> Any:
    """The nearest number with so many bits of mantissa, halves to the even one."""
    drop = np.finfo(dtype).nmant - mantissa
    if drop <= 0:
        return x
    word = np.dtype(f"uint{8 * dtype.itemsize}")
    bits = bitcast(x, dtype=word)
    odd = right_shift(bits, word.type(drop)) & word.type(1)
    bits = bits + (odd + word.type((1 << (drop - 1)) - 1))
    kept = bits & word.type((1 << (8 * dtype.itemsize)) - (1 << drop))
    return fnp.where(fnp.isfinite(x), bitcast(kept, dtype=dtype), x)


def mulhi(x: Any, y: Any, /) -> Any:
    """The upper half of the bits of ``x * y``.

    Shapes: broadcast.   Dtypes: integers, both the same.   Derivative: zero.
    Raises: ArgumentError: the operands are no integers, or of different dtypes.
    Source: JAX, ``jax.lax.mulhi``.

    >>> mulhi(np.array([2**31 - 1], np.int32), np.array([4], np.int32)).tolist()
    [1]
    """
    x, y = (integral("mulhi", z) for z in arrays_of(x, y))
    dtype = aval_of(x).dtype
    if aval_of(y).dtype != dtype:
        raise ArgumentError(f"lax.mulhi: {aval_of(x)} and {aval_of(y)}; need one dtype{where()}")
    bits = 8 * dtype.itemsize
    if bits < 64:
        wide = np.dtype("int64" if dtype.kind == "i" else "uint64")
        product = fnp.astype(x, wide) * fnp.astype(y, wide)
        return fnp.astype(right_shift(product, wide.type(bits)), dtype)
    return _upper_half(x, y)


def _upper_half(x: Any, y: Any) -> Any:
    """`mulhi` of 64 bits: products of halves; of signed ones the high parts count with their sign."""
    dtype = aval_of(x).dtype
    half = dtype.type(32)
    mask = dtype.type(2**32 - 1)
    x1, x0 = right_shift(x, half), x & mask
    y1, y0 = right_shift(y, half), y & mask
    # the low product needs all 64 bits without a sign
    low = fnp.astype(x0, np.uint64) * fnp.astype(y0, np.uint64)
    carry = fnp.astype(right_shift(low, np.uint64(32)), dtype)
    cross = x1 * y0 + carry
    other = x0 * y1 + (cross & mask)
    return x1 * y1 + right_shift(cross, half) + right_shift(other, half)


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """`x` with axes of length 1 in front, so that there are `rank`.

    Shapes: ``(*a) -> (1, ..., 1, *a)``.   Dtypes: all.   Derivative: linear.
    Raises: ShapeError: `x` has more axes.
    Source: JAX, ``jax.lax.broadcast_to_rank``.

    >>> broadcast_to_rank(np.ones(3), 3).shape
    (1, 1, 3)
    """
    x = array_of(x)
    (count,) = ints("broadcast_to_rank", "rank", (rank,))
    if x.ndim > count:
        raise ShapeError(f"lax.broadcast_to_rank: {aval_of(x)} to {count} axes{where()}")
    return fnp.reshape(x, (1,) * (count - x.ndim) + x.shape)


def igamma_grad_a(a: Any, x: Any) -> Any:
    """The derivative of ``igamma(a, x)`` by `a`.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: smooth inside the domain, a, x > 0.
    Raises: ShapeError: the shapes do not broadcast.
    Source: DLMF 8.2.4.

    >>> float(igamma_grad_a(np.array(1.0), np.array(1.0)).round(6))
    -0.43173
    """
    a, x = _floating(a, x)
    return jvp(lambda a: gammainc(a, x), (a,), (fnp.ones_like(a),))[1]


def random_gamma_grad(a: Any, x: Any) -> Any:
    """How fast a gamma variable `x` of shape `a` moves with `a` if its probability stays.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: smooth inside the domain, a, x > 0.
    Raises: ShapeError: the shapes do not broadcast.
    Source: Figurnov, Mohamed & Mnih, "Implicit reparameterization gradients", NeurIPS 2018.

    >>> float(random_gamma_grad(np.array(1.0), np.array(1.0)).round(6))
    1.173563
    """
    a, x = _floating(a, x)
    positive = x > 0
    safe = fnp.where(positive, x, 1)
    moved = fnp.astype(log_gamma_moved(a, fnp.log(safe)), aval_of(safe).dtype)
    return fnp.where(positive, safe * moved, 0 * x)


def _floating(*xs: Any) -> tuple[Any, ...]:
    """The numbers broadcast, in one floating dtype."""
    found = arrays_of(*xs)
    dtype = np.result_type(*(aval_of(x).promoting() for x in found))
    dtype = dtype if dtype.kind == "f" else np.dtype(float)
    return fnp.broadcast_arrays(*(fnp.astype(x, dtype) for x in found))
