"""Python data as arrays: numbers, nested sequences of numbers, tensors and arrays."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd.base import TensorBase
from ._operands import dtype_of

_NUMBERS = (bool, int, float, complex)
_PLAIN = frozenset(_NUMBERS)
_ARRAYS = (np.ndarray, np.generic)


def array_of(data: Any, dtype: dtypes.dtype | None) -> np.ndarray:
    """An array of Python data that shares nothing with it; Python's floats have the default dtype.

    Raises: ValueError: rows of different lengths, integers of more than 64 bits. TypeError: strings,
    a number among rows. RuntimeError: something is no number, or too large for `dtype`.
    """
    try:
        types = _leaf_types(data)
    except RecursionError:
        raise TypeError("new(): self-referential lists are incompatible") from None
    try:
        if types <= _PLAIN:
            array = _of_known_size(np.array(data), dtype)
            own = _promoted(types) if types else dtypes.get_default_dtype()
        elif all(issubclass(t, _ARRAYS) for t in types):
            own = dtype_in(data)
            array = np.array(data, (dtype or own).numpy)
        else:
            array, own = _element_by_element(data, dtype)
    except (ValueError, TypeError):
        array, own = _element_by_element(
            data, dtype
        )  # it says what is wrong, or there is nothing in it
    return _fitted(array, dtype or own)


def _leaf_types(data: Any) -> set[type]:
    """The classes of what lists and tuples hold in the end."""
    if data.__class__ is not list and data.__class__ is not tuple:
        return {data.__class__}
    found = set(map(type, data))
    if list in found or tuple in found:
        found -= {list, tuple}
        for part in data:
            if part.__class__ is list or part.__class__ is tuple:
                found |= _leaf_types(part)
    return found


def _promoted(types: set[type]) -> dtypes.dtype:
    """The dtype of Python's numbers of these classes."""
    return dtypes.default_of(max(dtypes.scalar_category(t()) for t in types))


# ---------------------------------------------------------------- dtypes


def dtype_in(data: Any) -> dtypes.dtype:
    """The dtype that the numbers in `data` have in common.

    Raises: RuntimeError: something is no number. TypeError: something is a string.
    """
    if isinstance(data, TensorBase):
        return dtype_of(data)
    if isinstance(data, _ARRAYS):
        return dtypes.of(data.dtype)
    if isinstance(data, _NUMBERS):
        return dtypes.default_of(dtypes.scalar_category(data))
    if isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if not _is_sequence(data):
        raise RuntimeError(
            f"Could not infer dtype of {type(data).__name__}: tensors are made of numbers, nested "
            f"sequences of numbers, arrays and tensors"
        )
    if not len(data):
        return dtypes.get_default_dtype()
    return functools.reduce(dtypes.promote_types, map(dtype_in, data))


def _is_sequence(x: Any) -> bool:
    """Whether PyTorch looks into `x`."""
    if hasattr(x, "ndim"):
        return not isinstance(x, TensorBase) and x.ndim > 0
    if isinstance(x, dict | set | frozenset | str | bytes):
        return False
    return isinstance(x, Sequence) or (hasattr(x, "__len__") and hasattr(x, "__getitem__"))


def _of_known_size(array: np.ndarray, dtype: dtypes.dtype | None) -> np.ndarray:
    """Python's numbers in an array of numbers: those of more than 64 bits only as floats.

    Raises: ValueError: one has more, and `dtype` is none of floats.
    """
    if array.dtype.kind not in "uO":
        return array
    if dtype is None or dtype.category == 1:
        raise ValueError("Overflow when unpacking long long")
    return array.astype(np.complex128 if dtype.category == 3 else np.float64)


def _fitted(array: np.ndarray, dtype: dtypes.dtype) -> np.ndarray:
    """Python's numbers in the dtype.

    Raises: RuntimeError: one is too large. TypeError: they are complex, and the dtype is not.
    """
    kind = array.dtype.kind
    if array.dtype == dtype.numpy:
        return array
    if kind == "c" and dtype.category in (1, 2):
        raise TypeError(
            "must be real number, not complex"
            if dtype.category == 2
            else "'complex' object cannot be interpreted as an integer"
        )
    if dtype.category == 1 and kind in "fiu" and array.size:
        limits = dtypes.iinfo(dtype)
        low = -limits.max if limits.min == 0 else limits.min  # PyTorch lets -1 wrap around
        if not (np.all(array >= low) and np.all(array <= limits.max)):
            raise RuntimeError(
                f"value cannot be converted to type {dtype.name} without overflow: it holds "
                f"{low} to {limits.max}"
            )
        if kind == "f":
            array = array.astype(np.int64)
    with np.errstate(all="ignore"):
        return array.astype(dtype.numpy)


# ---------------------------------------------------------------- the slow way


def _element_by_element(data: Any, wanted: dtypes.dtype | None) -> tuple[np.ndarray, dtypes.dtype]:
    """The array of any nested sequences, and the dtype in it; raises what PyTorch raises."""
    sizes = _sizes(data)
    dtype = dtype_in(data)
    if 0 in sizes:
        return np.zeros(sizes, dtype.numpy), dtype
    found: list[Any] = []
    _collect(data, sizes, 0, dtype.category, found)
    return _of_known_size(np.array(found), wanted).reshape(sizes), dtype


def _sizes(data: Any) -> tuple[int, ...]:
    """The shape, as the first elements have it."""
    sizes = []
    while _is_sequence(data):
        sizes.append(len(data))
        if not sizes[-1]:
            break
        data = data[0]
    if sizes and isinstance(data, str | bytes):
        raise ValueError(f"too many dimensions '{type(data).__name__}'")
    return tuple(sizes)


def _collect(x: Any, sizes: tuple[int, ...], dim: int, category: int, found: list[Any]) -> None:
    """Append the numbers in `x`, in order.

    Raises: ValueError: a row of another length, a tensor with axes. TypeError: a number for a row, a
    row for a number.
    """
    if dim == len(sizes):
        found.append(_number(x, category))
        return
    if not _is_sequence(x):
        raise TypeError(f"not a sequence: found {x!r} where a row of {sizes[dim]} numbers must be")
    if len(x) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(x)})")
    for part in x:
        _collect(part, sizes, dim + 1, category, found)


def _number(x: Any, category: int) -> Any:
    if isinstance(x, TensorBase):
        array = x._array
        if x.numel() != 1:  # type: ignore[attr-defined]
            raise ValueError("only one element tensors can be converted to Python scalars")
        return array.item() if hasattr(array, "item") else complex(array)
    if isinstance(x, _ARRAYS):
        return x.item()
    if isinstance(x, _NUMBERS):
        return x
    if category == 1:
        raise TypeError(f"'{type(x).__name__}' object cannot be interpreted as an integer")
    raise TypeError(f"must be real number, not {type(x).__name__}")
