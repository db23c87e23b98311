"""What operands become before a primitive sees them: tensors and numbers of one dtype."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from funcgrad.core import Tracer, aval_of
from funcgrad.ops.cast import cast, cast_constant

from .. import dtypes
from ..autograd import sites
from ..autograd.base import TensorBase, tensor
from ..autograd.tape import record
from ._layout import in_order

_NUMBERS = (bool, int, float, complex, np.number, np.bool)


def dtype_of(x: TensorBase) -> dtypes.dtype:
    """The tensor's dtype."""
    return dtypes.of(x._array.dtype)


def is_index_dtype(dtype: Any) -> bool:
    """Whether it is int64 or int32; its name, which NumPy puts together, would take 4 us."""
    return dtype.kind == "i" and dtype.itemsize >= 4


def in_dtype_of(out: Any, dtype: Any) -> Any:
    """The dtype to compute in: the one asked for, or that of `out`; None if there is neither.

    Raises: RuntimeError: both are given and differ.
    """
    if not isinstance(out, TensorBase):
        return dtype
    found = dtype_of(out)
    if dtype is not None and dtypes.as_dtype(dtype) is not found:
        raise RuntimeError(
            f"Expected out tensor to have dtype {dtypes.as_dtype(dtype).name}, but got {found.name} "
            f"instead"
        )
    return found


def is_number(x: Any) -> bool:
    return isinstance(x, _NUMBERS)


def operand(name: str, position: int, argument: str, x: Any, *, number: bool = False) -> Any:
    """`x`, which must be a tensor (or a number, if `number`); an array becomes a tensor.

    Raises: TypeError: it is neither.
    """
    if isinstance(x, TensorBase):
        return x
    if number and isinstance(x, _NUMBERS):
        return x
    if isinstance(x, np.ndarray | Tracer):
        return tensor(x)
    raise _wrong(name, position, argument, "Tensor or Number" if number else "Tensor", x)


def optional(name: str, position: int, argument: str, x: Any) -> Any:
    """`operand`, or None.

    Raises: TypeError: `x` is neither None, a tensor nor an array.
    """
    return None if x is None else operand(name, position, argument, x)


def require_tensor(name: str, x: Any) -> None:
    """Require that what is written in place, the first argument, is a tensor.

    Raises: TypeError: it is none.
    """
    if not isinstance(x, TensorBase):
        raise _wrong(name, 1, "input", "Tensor", x)


def _wrong(name: str, position: int, argument: str, needed: str, x: Any) -> TypeError:
    return TypeError(
        f"{name}(): argument '{argument}' (position {position}) must be {needed}, not "
        f"{type(x).__name__}"
    )


def result_type(*xs: Any) -> dtypes.dtype:
    """The dtype of an operation on tensors and numbers, by PyTorch's promotion.

    >>> import compat as torch
    >>> result_type(torch.ones(2, dtype=torch.int64), 1.5)
    torch.float32
    """
    found: list[tuple[dtypes.dtype | None, int, int]] = []
    for x in xs:
        if isinstance(x, TensorBase):
            d = dtype_of(x)
            found.append((d, d.category, len(x._array.shape)))
        else:
            found.append((None, dtypes.scalar_category(x), 0))
    return dtypes.result_type_of(found)


def convert(x: Any, dtype: dtypes.dtype) -> Any:
    """A tensor in another dtype, recorded; the same object if it has it already."""
    target = dtype.numpy
    found = aval_of(x._array).dtype
    if found == target:
        return x
    inexact = target.kind in "fcV" and found.kind in "fcV"
    prim = cast if inexact else cast_constant
    out = record(prim, (x,), {"dtype": target}, "ToCopyBackward0")
    # Axes that are repeated without a copy have no order that could be kept.
    array = x._array
    return in_order(out) if array.__class__ is np.ndarray and 0 in array.strides else out


def alike(*xs: Any) -> tuple[Any, ...]:
    """Tensors in the dtype that they have in common once they are broadcast.

    One without axes counts in full then.
    """
    dtype = functools.reduce(dtypes.promote_types, map(dtype_of, xs))
    return tuple(convert(x, dtype) for x in xs)


def number(x: Any, dtype: dtypes.dtype) -> Any:
    """A number as an operand that does not widen tensors of `dtype`."""
    if dtype.category == 3:
        return complex(x)
    if dtype.category == 2:  # bfloat16 is unknown to NumPy, which would widen it
        return float(x) if dtype.numpy.kind == "f" else np.asarray(x, dtype.numpy)
    return np.asarray(x).astype(dtype.numpy)[()]  # wraps around, as PyTorch does


def number_for(dtype: dtypes.dtype, value: Any) -> Any:
    """A Python number, or what `plain_number` takes as one, as an element of a tensor of `dtype`.

    Raises: RuntimeError: it is too large, or complex where the tensor is not.
        TypeError: it is a tensor that is no plain number.
    """
    if value.__class__ is float and dtype.numpy.kind == "f" and -6e4 < value < 6e4:
        return value  # in the range of all of them
    value = plain_number("number", "value", value)
    category = dtypes.scalar_category(value)
    fits = True
    if category == 3 and 0 < dtype.category < 3:
        fits, value = value.imag == 0, value.real
    if dtype.category == 1:
        limits = dtypes.iinfo(dtype)
        wraps = limits.min == 0 and category < 2  # PyTorch lets the integer -1 wrap around
        low = -limits.max if wraps else limits.min
        fits = fits and low <= value <= limits.max
        value = int(value) if fits else value
    elif dtype.category == 2 and math.isfinite(value):
        fits = fits and abs(value) <= dtypes.finfo(dtype).max
    if not fits:
        raise RuntimeError(
            f"value cannot be converted to type {_C_NAMES[dtype.name]} without overflow"
        )
    return number(value, dtype) if dtype.category else bool(value)


_C_NAMES = {
    "float32": "float",
    "float64": "double",
    "float16": "at::Half",
    "bfloat16": "at::BFloat16",
    "int64": "int64_t",
    "int32": "int",
    "int16": "int16_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
}


def plain_number(name: str, argument: str, x: Any) -> Any:
    """The number that an argument is: a tensor of no axes that needs no gradient is one too.

    Raises: TypeError: another tensor.
    """
    if not isinstance(x, TensorBase):
        return x
    if x._array.shape or x._node is not None:
        raise TypeError(f"{name}(): argument '{argument}' must be Number, not Tensor")
    return x._array.item()


def plain_options(options: dict[str, Any]) -> dict[str, Any]:
    """Options of a function, tensors of no axes as `plain_number` has them.

    Raises: TypeError: one of those needs a gradient, which it would not get.
    """
    for x in options.values():
        if isinstance(x, TensorBase) and not x._array.shape:
            return {
                k: v if getattr(v, "shape", None) else plain_number("function", k, v)
                for k, v in options.items()
            }
    return options


def old_order(name: str, value: Any, *tensors: Any) -> tuple[Any, ...]:
    """The arguments of a call with the factor first, as old programs have it, after a warning.

    Raises: TypeError: it is no number, or there are too many arguments.
    """
    if not is_number(value) and not (isinstance(value, TensorBase) and not value._array.shape):
        raise TypeError(f"{name}(): a number goes before the tensors, or as a keyword after them")
    if len(tensors) > 2:
        raise TypeError(f"{name}(): too many arguments")
    sites.warn(
        f"This overload of {name} is deprecated: give the number as a keyword after the tensors"
    )
    return value, *tensors


def promoted(xs: tuple[Any, ...], *, floating: bool = False) -> tuple[Any, ...]:
    """The operands in their common dtype; `floating`: at least the default dtype."""
    if not floating and all(isinstance(x, TensorBase) for x in xs):
        first = xs[0]._array.dtype
        if all(x._array.dtype is first for x in xs):
            return xs
    dtype = result_type(*xs)
    if floating and dtype.category < 2:
        dtype = dtypes.get_default_dtype()
    return tuple(convert(x, dtype) if isinstance(x, TensorBase) else number(x, dtype) for x in xs)
