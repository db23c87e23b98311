"""Whole slices by their place along one axis: index_select, index_add, index_copy, index_fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.ops.arithmetic import add, multiply
from funcgrad.ops.index import gather as gather_primitive
from funcgrad.ops.index import scatter_add as scatter_add_primitive
from funcgrad.ops.index import scatter_set
from funcgrad.ops.index_layout import ArrayIndex
from funcgrad.ops.join import along

from ..autograd.base import TensorBase, tensor
from ..autograd.remembered import remembered_of_several
from ..autograd.tape import record
from ._apply import _type_word, finish, inplace
from ._axes import axis_of
from ._layout import in_shape
from ._operands import convert, dtype_of, is_index_dtype, number_for, operand
from .scatter import REDUCTIONS, at_least_1d, element, require_bounds, scatter_reduced
from .shape import expand, reshape

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- arguments


def _vector(name: str, index: Any, error: type[Exception] = IndexError) -> Any:
    """The index tensor of slices, as a vector.

    Raises: RuntimeError: it is no integer tensor. IndexError: it has several axes.
    """
    index = operand(name, 3, "index", index)
    if not is_index_dtype(index._array.dtype):
        raise RuntimeError(f"{name}(): Expected dtype int32 or int64 for index")
    if len(index._array.shape) > 1:
        raise error(f"{name}(): Index is supposed to be a vector")
    return at_least_1d(index)


def _slices(ndim: int, axis: int, bounds: str) -> tuple[Any, ...]:
    return along(ndim, axis, ArrayIndex(0, bounds))


@remembered_of_several
def index_select(input: Any, dim: int, index: Any, *, out: Any = None) -> Tensor:
    """``y[..., i, ...] = x[..., index[i], ...]``: slices by their place along `dim`.

    A slice that is taken several times gets the sum of the cotangents.

    Raises: IndexError: a place is out of range along the first axis, or `index` has several axes.
    RuntimeError: a place is out of range along another.

    >>> import compat as torch
    >>> torch.index_select(torch.tensor([1.0, 2.0, 3.0]), 0, torch.tensor([2, 0]))
    tensor([3., 1.])
    """
    input, index = operand("index_select", 1, "input", input), _vector("index_select", index)
    axis = axis_of(len(input._array.shape), dim)
    x = at_least_1d(input)
    length = x._array.shape[axis]
    require_bounds(
        index,
        0,
        length,
        lambda i: (RuntimeError if axis or not length else IndexError)(
            f"index out of range in self: {i} along dimension {axis} of size {length}"
        ),
    )
    if not input._array.shape and index.numel() != 1:
        raise RuntimeError("index_select(): Index to scalar can have only 1 value")
    params = {"index": _slices(len(x._array.shape), axis, "known")}
    result = record(gather_primitive, (x, index), params, "IndexSelectBackward0")
    if not input._array.shape:
        result = in_shape(result, (), "IndexSelectBackward0")
    return finish("index_select", result, out, (input,))


def _source(
    name: str, input: Any, dim: int, index: Any, source: Any, error: type[Exception]
) -> tuple[Any, ...]:
    """(axis, input, index, source) with at least one axis each.

    Raises: RuntimeError, IndexError: the sizes do not fit, or a place is out of bounds.
    """
    axis = axis_of(len(input._array.shape), dim)
    x, y = at_least_1d(input), at_least_1d(source)
    shape, found, count = x._array.shape, y._array.shape, index.numel()
    if len(found) != len(shape):
        raise error(
            f"{name}_(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({len(found)}), destination dimensionality "
            f"({len(shape)})"
        )
    if found[axis] != count:
        raise error(
            f"{name}_(): Number of indices ({count}) should be equal to source.size(dim): "
            f"({found[axis]}), for dim: {axis}"
        )
    if any(m != n for a, (m, n) in enumerate(zip(found, shape, strict=True)) if a != axis):
        raise RuntimeError(
            f"{name}_(): Source/destination tensor must have same slice shapes. Destination slice "
            f"shape: {list(shape)}, source slice shape: {list(found)} at dimension {axis}"
        )
    require_bounds(
        index,
        0,
        shape[axis],
        lambda i: (IndexError if len(shape) == 1 else error)(
            f"{name}_(): index out of range in self: index {i} is out of bounds for dimension "
            f"{axis} with size {shape[axis]}"
        ),
    )
    return axis, x, y


def _same_axes(input: Any, source: Any) -> None:
    """Raises: RuntimeError: a number is to be added to a vector, or the other way round."""
    shape, found = input._array.shape, source._array.shape
    if len(shape) != len(found):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(shape)} source.shape = {list(found)}"
        )


@remembered_of_several
def index_add(
    input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1, out: Any = None
) -> Tensor:
    """A copy of `input` after ``x[..., index[i], ...] += alpha * source[..., i, ...]``.

    Raises: RuntimeError: the sizes or dtypes do not fit, or a place is out of bounds.

    >>> import compat as torch
    >>> torch.index_add(torch.zeros(2), 0, torch.tensor([1, 1]), torch.tensor([1.0, 2.0]))
    tensor([0., 3.])
    """
    input, index = operand("index_add", 1, "input", input), _vector("index_add", index)
    source = operand("index_add", 4, "source", source)
    if dtype_of(input) is not dtype_of(source):
        raise RuntimeError(
            f"index_add_(): self ({_type_word(dtype_of(input))}) and source "
            f"({_type_word(dtype_of(source))}) must have the same scalar type"
        )
    _same_axes(input, source)
    axis, x, y = _source("index_add", input, dim, index, source, RuntimeError)
    if alpha != 1:
        y = record(multiply, (y, element(input, alpha)))
    template = _slices(len(x._array.shape), axis, "known")
    sums = record(scatter_add_primitive, (y, index), {"shape": x._array.shape, "index": template})
    result = record(add, (x, sums), {}, "IndexAddBackward0")
    return finish(
        "index_add", in_shape(result, input._array.shape, "IndexAddBackward0"), out, (input, source)
    )


def index_copy(input: Any, dim: int, index: Any, source: Any, *, out: Any = None) -> Tensor:
    """A copy of `input` after ``x[..., index[i], ...] = source[..., i, ...]``; the last one is kept.

    Raises: IndexError: the sizes do not fit, or a place is out of bounds.

    >>> import compat as torch
    >>> torch.index_copy(torch.zeros(3), 0, torch.tensor([2, 0]), torch.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
    """
    input, index = operand("index_copy", 1, "input", input), _vector("index_copy", index)
    source = operand("index_copy", 4, "source", source)
    if dtype_of(input) is not dtype_of(source):
        raise RuntimeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{_type_word(dtype_of(input))} and (source) {_type_word(dtype_of(source))}"
        )
    axis, x, y = _source("index_copy", input, dim, index, source, IndexError)
    params = {"index": _slices(len(x._array.shape), axis, "known")}
    result = record(scatter_set, (x, y, index), params, "IndexCopyBackward0")
    return finish(
        "index_copy",
        in_shape(result, input._array.shape, "IndexCopyBackward0"),
        out,
        (input, source),
    )


def index_fill(input: Any, dim: int, index: Any, value: Any) -> Tensor:
    """A copy of `input` after ``x[..., index[i], ...] = value``, a number or tensor without axes.

    Raises: IndexError: a place is out of bounds. RuntimeError: `value` has axes.

    >>> import compat as torch
    >>> torch.index_fill(torch.zeros(3), 0, torch.tensor([0, 2]), 1.0)
    tensor([1., 0., 1.])
    """
    input = operand("index_fill", 1, "input", input)
    index = _vector("index_fill", index, RuntimeError)
    if isinstance(value, complex) and dtype_of(input).category < 3:
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    node = "IndexFillBackward0"
    if isinstance(value, TensorBase):
        if value._array.shape:
            raise RuntimeError(
                f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{len(value._array.shape)} dimension(s)."
            )
        value, node = convert(value, dtype_of(input)), "IndexFillBackward1"
    else:
        value = number_for(dtype_of(input), value)
    axis = axis_of(len(input._array.shape), dim)
    x = at_least_1d(input)
    length = x._array.shape[axis]
    require_bounds(
        index,
        -length,
        length,
        lambda i: IndexError(f"index {i} is out of bounds for dimension {axis} with size {length}"),
    )
    params = {"index": _slices(len(x._array.shape), axis, "checked")}
    result = record(scatter_set, (x, value, index), params, node)
    return in_shape(result, input._array.shape, node)


def index_reduce(
    input: Any,
    dim: int,
    index: Any,
    source: Any,
    reduce: str,
    *,
    include_self: bool = True,
    out: Any = None,
) -> Tensor:
    """`scatter_reduce` of whole slices along `dim`; `reduce` is "prod", "mean", "amax" or "amin".

    Raises: RuntimeError: the sizes or dtypes do not fit, or a place is out of bounds.

    >>> import compat as torch
    >>> at = torch.tensor([1, 1])
    >>> torch.index_reduce(torch.ones(2), 0, at, torch.tensor([2.0, 3.0]), "amax")
    tensor([1., 3.])
    """
    input, index = operand("index_reduce", 1, "input", input), _vector("index_reduce", index)
    source = operand("index_reduce", 4, "source", source)
    if reduce not in REDUCTIONS[1:]:
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    if dtype_of(input) is not dtype_of(source):
        raise RuntimeError(
            f"index_reduce(): self ({_type_word(dtype_of(input))}) and source "
            f"({_type_word(dtype_of(source))}) must have the same scalar type"
        )
    _same_axes(input, source)
    axis, x, y = _source("index_reduce", input, dim, index, source, RuntimeError)
    shape = y._array.shape
    rows = reshape(index, (-1,) + (1,) * (len(shape) - axis - 1)) if index.numel() else index
    places = expand(rows, shape) if index.numel() else tensor(np.zeros(shape, dtype=np.intp))
    result = scatter_reduced(x, axis, places, y, reduce, include_self, "IndexReduceBackward0")
    return finish(
        "index_reduce",
        in_shape(result, input._array.shape, "IndexReduceBackward0"),
        out,
        (input, source),
    )


class SlicesMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    index_add = index_add
    index_add_ = inplace(index_add, apart=True)
    index_copy = index_copy
    index_copy_ = inplace(index_copy, apart=True)
    index_fill = index_fill
    index_fill_ = inplace(index_fill, read_first=True, apart=True)
    index_reduce = index_reduce
    index_reduce_ = inplace(index_reduce, apart=True)
    index_select = index_select


__all__ = [
    "index_add",
    "index_copy",
    "index_fill",
    "index_reduce",
    "index_select",
]
