"""Choosing by masks: where, masked_fill, masked_select, masked_scatter."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from funcgrad.indexing import known
from funcgrad.ops.cumulative import cumsum
from funcgrad.ops.index import take
from funcgrad.ops.select import maximum
from funcgrad.ops.select import where as where_primitive

from .. import dtypes
from ..autograd import sites
from ..autograd.base import TensorBase, tensor
from ..autograd.remembered import remembered_of_several
from ..autograd.tape import record
from ._apply import _type_word, check_broadcast, finish, inplace, is_traced
from ._compose import composed, values_of
from ._index import (
    plan,
    read,
)
from ._layout import in_order
from ._operands import (
    convert,
    dtype_of,
    is_number,
    number_for,
    operand,
    promoted,
    result_type,
)
from .places import nonzero
from .shape import broadcast_tensors, ravel

if TYPE_CHECKING:
    from .._tensor import Tensor

ndarray = np.ndarray


def _require_mask(message: str, mask: Any) -> Any:
    if mask._array.dtype.kind != "b":
        raise RuntimeError(message.format(word=_type_word(dtype_of(mask))))
    return mask


def _filled(input: Any, mask: Any, value: Any) -> Any:
    if isinstance(value, TensorBase):
        if value._array.shape:
            raise RuntimeError(
                f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{len(value._array.shape)} dimension(s)."
            )
        if dtype_of(value).category == 3 and not is_traced(value):
            number_for(dtype_of(input), value._array.item())  # raises if it does not fit
        value, node = convert(value, dtype_of(input)), "MaskedFillBackward1"
    else:
        value, node = number_for(dtype_of(input), value), "MaskedFillBackward0"
        if dtype_of(input).category < 2:
            value = tensor(np.asarray(value, input._array.dtype))
    check_broadcast(mask, input)
    return record(where_primitive, (mask, value, input), {}, node)


filled_in_place = inplace(_filled, "masked_fill_", read_first=True)


@remembered_of_several
def masked_fill(input: Any, mask: Any, value: Any) -> Tensor:
    """`value` where `mask` holds, `input` elsewhere.

    Shapes: `mask` and `input` broadcast; `value` is a number or a tensor without axes.
    Raises: RuntimeError: `mask` is not boolean, or `value` has axes.

    >>> import compat as torch
    >>> torch.masked_fill(torch.tensor([1.0, 2.0]), torch.tensor([True, False]), 0.0)
    tensor([0., 2.])
    """
    input = operand("masked_fill", 1, "input", input)
    mask = operand("masked_fill", 2, "mask", mask)
    message = "masked_fill_ only supports boolean masks, but got mask with dtype {word}"
    return in_order(_filled(input, _require_mask(message, mask), value))


def masked_select(input: Any, mask: Any, *, out: Any = None) -> Tensor:
    """The elements that `mask` holds for, as a vector.

    Shapes: ``(*a), (*b) -> (count,)``, after broadcasting.
    Raises: RuntimeError: `mask` is not boolean.

    >>> import compat as torch
    >>> torch.masked_select(torch.tensor([1.0, 2.0]), torch.tensor([False, True]))
    tensor([2.])
    """
    x = operand("masked_select", 1, "input", input)
    mask = operand("masked_select", 2, "mask", mask)
    _require_mask("masked_select: expected BoolTensor for mask", mask)
    x, mask = broadcast_tensors(x, mask)
    p = plan((x.numel(),), {0: tensor(values_of("masked_select", mask).ravel())})
    return finish("masked_select", read(ravel(x), p, "MaskedSelectBackward0"), out, (input,))


def masked_scatter(input: Any, mask: Any, source: Any) -> Tensor:
    """The elements of `input` that `mask` holds for replaced by those of `source`, one by one.

    Shapes: `mask` and `input` broadcast; `source` has as many elements as `mask` holds for, or more.
    Raises: RuntimeError: `source` is too short or of another dtype, or `mask` is not boolean.

    >>> import compat as torch
    >>> mask = torch.tensor([True, False, True])
    >>> torch.masked_scatter(torch.zeros(3), mask, torch.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    x = operand("masked_scatter", 1, "input", input)
    mask = operand("masked_scatter", 2, "mask", mask)
    source = operand("masked_scatter", 3, "source", source)
    _require_mask(
        "masked_scatter_ only supports boolean masks, but got mask with dtype {word}", mask
    )
    if dtype_of(source) is not dtype_of(x):
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got "
            f"{_type_word(dtype_of(x))} and {_type_word(dtype_of(source))}"
        )
    x, mask = broadcast_tensors(x, mask)
    values = known(mask._array)
    if values is not None and source.numel() < values.sum():
        raise RuntimeError("Number of elements of source < number of ones in mask")
    if not source.numel():
        return x.clone()
    return composed("MaskedScatterBackward0", _in_order, x, mask, ravel(source))


def _in_order(x: Any, mask: Any, source: Any, /) -> Any:
    """`x`, where `mask` holds for the n-th time the n-th number of the vector `source`."""
    turn = cumsum(mask.reshape(-1), axis=0, reverse=False) - 1
    taken = take(source, maximum(turn, 0), axis=0)
    return where_primitive(mask, taken.reshape(mask.shape), x)


@overload
def where(condition: Any) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Any, input: Any, other: Any, *, out: Any = ...) -> Tensor: ...
@remembered_of_several
def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """`input` where `condition` holds, `other` elsewhere; alone, `nonzero` as a tuple.

    Shapes: broadcast.   Dtypes: promoted.
    Derivative: each gets the cotangent where it was chosen, exact zeros elsewhere.
    Raises: RuntimeError: `condition` is not boolean, or the shapes do not broadcast.

    >>> import compat as torch
    >>> torch.where(torch.tensor([True, False]), torch.tensor([1.0, 2.0]), 0)
    tensor([1., 0.])
    """
    condition = operand("where", 1, "condition", condition)
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise TypeError("where() needs both `input` and `other`, or neither")
    if condition._array.dtype == np.uint8:
        sites.warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be "
            "removed in a future version of PyTorch. Use a boolean condition instead."
        )
        condition = convert(condition, dtypes.bool)
    _require_mask(
        "where expected condition to be a boolean tensor, but got a tensor with dtype {word}",
        condition,
    )
    pair = (
        operand("where", 2, "input", input, number=True),
        operand("where", 3, "other", other, number=True),
    )
    if not any(isinstance(x, TensorBase) for x in pair):
        dtype = result_type(*pair)
        pair = tuple(tensor(np.asarray(x, dtype.numpy)) for x in pair)
    elif any(is_number(x) for x in pair):
        dtype = result_type(*pair)
        if dtype.category < 2 or dtype.itemsize > 2:  # too large for half precision is infinity
            pair = tuple(number_for(dtype, x) if is_number(x) else x for x in pair)
    for two in itertools.combinations((condition, *pair), 2):
        check_broadcast(*two)
    result = record(where_primitive, (condition, *promoted(pair)), {}, "WhereBackward0")
    return finish("where", result, out, pair)


def _where(self: Any, condition: Any, other: Any) -> Tensor:
    """`self` where `condition` holds, `other` elsewhere."""
    return where(condition, self, other)


class MaskMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    masked_fill = masked_fill
    masked_fill_ = inplace(masked_fill, read_first=True)
    masked_scatter = masked_scatter
    masked_scatter_ = inplace(masked_scatter)
    masked_select = masked_select
    where = _where


__all__ = ["masked_fill", "masked_scatter", "masked_select", "where"]
