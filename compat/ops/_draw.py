"""Arrays of random numbers in any dtype, and the checks of what distributions take."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd import views
from ..autograd.base import TensorBase
from ._apply import _type_word
from ._compose import values_of

Stream = np.random.Generator
Shape = tuple[int, ...]

_BITS = {"float16": 11, "bfloat16": 8}  # so many bits have numbers below 1 that never round to 1
_C_WORDS = {
    "float32": "float",
    "float64": "double",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
}


def c_word(dtype: dtypes.dtype) -> str:
    """How PyTorch's messages about limits call a dtype."""
    return _C_WORDS[dtype.name]


def real(name: str, argument: str, position: int, x: Any) -> float:
    """A parameter of a distribution: a real number, or a tensor of one that has no axes.

    Raises: TypeError: it is something else, or requires grad.
    """
    if isinstance(x, TensorBase) and not x._array.shape and views.edge(x) is None:
        x = values_of(name, x).item()
    if isinstance(x, int | float | np.bool | np.integer | np.floating):
        return float(x)
    raise TypeError(
        f"{name}(): argument '{argument}' (position {position}) must be float, not "
        f"{type(x).__name__}"
    )


def whole(name: str, argument: str, position: int, x: Any) -> int:
    """A bound or a count.

    Raises: TypeError: it is no integer, or a truth value.
    """
    if not hasattr(type(x), "__index__") or isinstance(x, bool | np.bool):
        raise TypeError(
            f"{name}(): argument '{argument}' (position {position}) must be int, not "
            f"{type(x).__name__}"
        )
    return operator.index(x)


def require(kernel: str, dtype: dtypes.dtype, *categories: int) -> None:
    """Raises: NotImplementedError: the dtype is of another category; as PyTorch's kernel says it."""
    if dtype.category not in categories:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{_type_word(dtype)}'. Draw the numbers in another "
            f"dtype and convert them."
        )


def uniform(source: Stream, shape: Shape, dtype: dtypes.dtype) -> Any:
    """Numbers with ``0 <= x < 1``, floats; the parts of complex ones."""
    require("check_uniform_bounds", dtype, 2, 3)
    if dtype.category == 3:
        parts = source.random((2, *shape), dtype.to_real().numpy)
        return (parts[0] + dtype.numpy.type(1j) * parts[1]).astype(dtype.numpy)
    bits = _BITS.get(dtype.name)
    if bits is None:
        return np.asarray(source.random(shape, dtype.numpy))
    whole = source.integers(0, 2**bits, shape)
    return np.asarray(whole / 2.0**bits).astype(dtype.numpy)


def normal(source: Stream, shape: Shape, dtype: dtypes.dtype) -> Any:
    """Numbers of mean 0 and variance 1; the parts of complex ones have half the variance."""
    require("normal_kernel_cpu", dtype, 2, 3)
    if dtype.category == 3:
        parts = source.standard_normal((2, *shape), dtype.to_real().numpy)
        return ((parts[0] + dtype.numpy.type(1j) * parts[1]) * np.sqrt(0.5)).astype(dtype.numpy)
    return np.asarray(source.standard_normal(shape, _computed(dtype))).astype(dtype.numpy)


def exponential(source: Stream, shape: Shape, dtype: dtypes.dtype) -> Any:
    """Exponential numbers of mean 1."""
    return np.asarray(source.standard_exponential(shape, _computed(dtype))).astype(dtype.numpy)


def _computed(dtype: dtypes.dtype) -> Any:
    """The dtype that NumPy draws them in."""
    return np.float64 if dtype is dtypes.float64 else np.float32


def integers(source: Stream, shape: Shape, low: int, high: int, dtype: dtypes.dtype) -> Any:
    """Integers with ``low <= x < high`` in any real dtype.

    Raises: RuntimeError: there are none, or the dtype cannot hold them.
    """
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    first, last = limits(dtype)
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not first <= bound <= last:
            raise RuntimeError(
                f"{name} is out of bounds for {c_word(dtype)}: {bound} is not between {first} and "
                f"{last}"
            )
    return np.asarray(source.integers(low, high, shape, np.int64)).astype(dtype.numpy)


def limits(dtype: dtypes.dtype) -> tuple[int, int]:
    """The smallest and the largest integer of a real dtype."""
    if not dtype.category:
        return 0, 1
    found: Any = dtypes.iinfo(dtype) if dtype.category == 1 else dtypes.finfo(dtype)
    return int(found.min), int(found.max)


def require_probabilities(p: Any) -> None:
    """Raises: RuntimeError: a number in the array is not between 0 and 1."""
    if not bool(((p >= 0) & (p <= 1)).all()):
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false. Probabilities are between "
            "0 and 1."
        )
