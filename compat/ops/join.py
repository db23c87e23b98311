"""Joining tensors: cat, stack; cutting them into views: split, chunk, unbind."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from funcgrad.ops.index import getitem
from funcgrad.ops.index_layout import Slice
from funcgrad.ops.join import along, stack_arrays
from funcgrad.ops.join import concatenate as concatenate_primitive

from .. import dtypes
from ..autograd.base import TensorBase
from ..autograd.remembered import remembered, remembered_of_sequence
from ..autograd.tape import record
from ._apply import _type_word, finish
from ._axes import axis_of
from ._layout import in_order, ints_of
from ._operands import convert, dtype_of, operand, result_type
from .atleast import atleast_1d, atleast_2d, atleast_3d
from .shape import reshape

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- joining


def _several(name: str, tensors: Any) -> list[Any]:
    """The tensors of a sequence.

    Raises: TypeError: it is none, or something in it is no tensor.
    """
    if not isinstance(tensors, tuple | list):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{type(tensors).__name__}"
        )
    for i, x in enumerate(tensors):
        if not isinstance(x, TensorBase):
            raise TypeError(
                f"expected Tensor as element {i} in argument 0, but got {type(x).__name__}"
            )
    return list(tensors)


def _in_one_dtype(xs: Sequence[Any]) -> list[Any]:
    dtype = result_type(*xs)
    return [convert(x, dtype) for x in xs]


@remembered_of_sequence
def cat(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """The tensors one after another along the axis `dim`, which they have.

    Shapes: ``(*a, n1, *b), (*a, n2, *b), ... -> (*a, n1 + n2 + ..., *b)``; empty vectors are left
    out.   Dtypes: promoted.
    Raises: RuntimeError: the shapes differ along another axis.

    >>> import compat as torch
    >>> torch.cat([torch.tensor([1.0]), torch.tensor([2.0, 3.0])])
    tensor([1., 2., 3.])
    """
    given = _several("cat", tensors)
    if not given:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for i, x in enumerate(given):
        if not x._array.shape:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    xs = _in_one_dtype(given)
    parts = [x for x in xs if x._array.shape != (0,)]
    along_axis = axis_of(len(parts[0]._array.shape), dim) if parts else 0
    parts = parts or xs[:1]
    _require_fit(parts, along_axis)
    result = record(concatenate_primitive, parts, {"axis": along_axis}, "CatBackward0")
    return _finished("cat", in_order(result, channels=True), out, tuple(given))


def _finished(name: str, result: Any, out: Any, given: tuple[Any, ...]) -> Any:
    """`finish`, which here raises a TypeError where `out` cannot hold the dtype."""
    if isinstance(out, TensorBase) and dtype_of(result).category > dtype_of(out).category:
        raise TypeError(
            f"torch.cat(): input types can't be cast to the desired output type "
            f"{_type_word(dtype_of(out))}"
        )
    return finish(name, result, out, given)


def _require_fit(parts: Sequence[Any], axis: int) -> None:
    """Require that the tensors have one shape, apart from the length along `axis`."""
    first = parts[0]._array.shape
    for i, x in enumerate(parts):
        shape = x._array.shape
        if len(shape) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            )
        for a, (expected, found) in enumerate(zip(first, shape, strict=True)):
            if expected != found and a != axis:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size "
                    f"{expected} but got size {found} for tensor number {i} in the list."
                )


concat = cat
concatenate = cat


@remembered_of_sequence
def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """The tensors one after another along a new axis.

    Shapes: ``(*a, *b), ... -> (*a, n, *b)`` for `n` tensors.   Dtypes: promoted.
    Raises: RuntimeError: the shapes differ.

    >>> import compat as torch
    >>> torch.stack([torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])])
    tensor([[1., 2.],
            [3., 4.]])
    """
    given = _several("stack", tensors)
    if not given:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = given[0]._array.shape
    for i, x in enumerate(given):
        if x._array.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(x._array.shape)} at entry {i}"
            )
    axis = axis_of(len(first) + 1, dim)
    result = record(stack_arrays, _in_one_dtype(given), {"axis": axis}, "StackBackward0")
    return _finished("stack", result, out, tuple(given))


def _with_axes(name: str, tensors: Any, f: Any) -> tuple[Any, ...]:
    given = _several(name, tensors)
    if not given:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tuple(map(f, given))


def hstack(tensors: Any, *, out: Any = None) -> Tensor:
    """`cat` along the second axis, of vectors along the first.

    >>> import compat as torch
    >>> torch.hstack([torch.tensor([1.0]), torch.tensor([2.0])])
    tensor([1., 2.])
    """
    xs = _with_axes("hstack", tensors, atleast_1d)
    return cat(xs, 0 if len(xs[0]._array.shape) == 1 else 1, out=out)


def vstack(tensors: Any, *, out: Any = None) -> Tensor:
    """`cat` along the first axis; vectors are rows.

    >>> import compat as torch
    >>> torch.vstack([torch.tensor([1.0]), torch.tensor([2.0])])
    tensor([[1.],
            [2.]])
    """
    return cat(_with_axes("vstack", tensors, atleast_2d), 0, out=out)


row_stack = vstack


def dstack(tensors: Any, *, out: Any = None) -> Tensor:
    """`cat` along the third axis; a matrix is one slice.

    >>> import compat as torch
    >>> torch.dstack([torch.tensor([1.0]), torch.tensor([2.0])])
    tensor([[[1., 2.]]])
    """
    return cat(_with_axes("dstack", tensors, atleast_3d), 2, out=out)


def _column(x: Any) -> Any:
    return x if len(x._array.shape) > 1 else reshape(x, (x.numel(), 1))


def column_stack(tensors: Any, *, out: Any = None) -> Tensor:
    """`cat` along the second axis; vectors are columns.

    >>> import compat as torch
    >>> torch.column_stack([torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])])
    tensor([[1., 3.],
            [2., 4.]])
    """
    return cat(_with_axes("column_stack", tensors, _column), 1, out=out)


# ---------------------------------------------------------------- cutting


def _slices(
    x: Any, axis: int, bounds: Sequence[tuple[int, int]], node: str, origin: str = ""
) -> tuple[Tensor, ...]:
    """The views ``x[..., start:stop, ...]``."""
    ndim = len(x._array.shape)
    return tuple(
        record(getitem, (x,), {"index": along(ndim, axis, Slice(a, max(a, b), 1))}, node, origin)
        for a, b in bounds
    )


@remembered
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of consecutive slices along `dim`: of one length, the last may be shorter, or of several.

    Raises: RuntimeError: the lengths do not add up, or one is negative; writing into a result.

    >>> import compat as torch
    >>> torch.split(torch.tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    tensor = operand("split", 1, "tensor", tensor)
    if isinstance(split_size_or_sections, tuple | list):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    size = operator.index(split_size_or_sections)
    shape = tensor._array.shape
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    axis = axis_of(len(shape), dim)
    length = shape[axis]
    if size == 0 and length:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}"
        )
    bounds = [(a, min(a + size, length)) for a in range(0, length, size or 1)] or [(0, 0)]
    return _slices(tensor, axis, bounds, "SplitBackward0", "several")


@remembered
def split_with_sizes(input: Any, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of consecutive slices along `dim` of the lengths `split_sizes`.

    Raises: RuntimeError: the lengths do not add up, or one is negative; writing into a result.

    >>> import compat as torch
    >>> torch.split_with_sizes(torch.tensor([1.0, 2.0, 3.0]), [1, 2])
    (tensor([1.]), tensor([2., 3.]))
    """
    input = operand("split_with_sizes", 1, "input", input)
    sizes = ints_of("split_with_sizes", "split_sizes", (split_sizes,))
    shape = input._array.shape
    if not shape:
        raise RuntimeError("split_with_sizes expects at least a 1-dimensional tensor")
    axis = axis_of(len(shape), dim)
    if any(n < 0 for n in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(sizes)}"
        )
    if sum(sizes) != shape[axis]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[axis]} (input tensor's "
            f"size at dimension {axis}), but got split_sizes={list(sizes)}"
        )
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    bounds = [(end - n, end) for end, n in zip(ends, sizes, strict=True)]
    return _slices(input, axis, bounds, "SplitWithSizesBackward0", "several")


@remembered
def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of consecutive slices along `dim`, of one length but for the last.

    Raises: RuntimeError: `chunks` is not positive; writing into a result.

    >>> import compat as torch
    >>> torch.chunk(torch.tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    input = operand("chunk", 1, "input", input)
    shape = input._array.shape
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    axis = axis_of(len(shape), dim)
    size = -(-shape[axis] // chunks)
    if size == 0:
        return split_with_sizes(input, (0,) * chunks, dim)
    return split(input, size, dim)


def tensor_split(
    input: Any,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
) -> tuple[Tensor, ...]:
    """Views of slices along `dim`: cut at the places given, or into as many as equal as possible.

    Raises: RuntimeError: a number of sections that is not positive, places that are no vector of int64.

    >>> import compat as torch
    >>> torch.tensor_split(torch.tensor([1.0, 2.0, 3.0]), (1,))
    (tensor([1.]), tensor([2., 3.]))
    """
    input = operand("tensor_split", 1, "input", input)
    shape = input._array.shape
    if not shape:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    axis = axis_of(len(shape), dim)
    given = next((x for x in (indices_or_sections, indices, sections) if x is not None), None)
    if given is None:
        raise TypeError("tensor_split(): need the places to cut at, or the number of sections")
    if isinstance(given, TensorBase):
        if dtype_of(given) is not dtypes.int64:
            raise RuntimeError(
                f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                f"{_type_word(dtype_of(given))}"
            )
        if len(given._array.shape) > 1:
            raise RuntimeError(
                f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                f"one-dimensional tensor, but got a tensor with {len(given._array.shape)} dims"
            )
        given = given._array.tolist()
    length = shape[axis]
    if isinstance(given, tuple | list):
        at = [min(max(i + length if i < 0 else i, 0), length) for i in given]
    else:
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        small, more = divmod(length, given)
        at = [i * small + min(i, more) for i in range(1, given)]
    bounds = list(zip([0, *at], [*at, length], strict=True))
    return _slices(input, axis, bounds, "SliceBackward0")


def _numbered_split(name: str, x: Any, given: Any, dim: int, needed: int) -> tuple[Tensor, ...]:
    x = operand(name, 1, "input", x)
    shape = x._array.shape
    if len(shape) < needed:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {needed} dimension, but got a tensor "
            f"with {len(shape)} dimensions!"
        )
    if not isinstance(given, tuple | list) and (given <= 0 or shape[dim] % given):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the "
            f"dimension {shape[dim]} is not divisible by the split_size {given}!"
        )
    return tensor_split(x, given, dim)


def hsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` along the second axis, of vectors along the first, into equal parts.

    >>> import compat as torch
    >>> torch.hsplit(torch.tensor([1.0, 2.0]), 2)
    (tensor([1.]), tensor([2.]))
    """
    input = operand("hsplit", 1, "input", input)
    dim = 0 if len(input._array.shape) == 1 else 1
    return _numbered_split("hsplit", input, indices_or_sections, dim, 1)


def vsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` along the first axis, into equal parts.

    >>> import compat as torch
    >>> torch.vsplit(torch.tensor([[1.0], [2.0]]), 2)
    (tensor([[1.]]), tensor([[2.]]))
    """
    return _numbered_split("vsplit", input, indices_or_sections, 0, 2)


def dsplit(input: Any, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` along the third axis, into equal parts.

    >>> import compat as torch
    >>> torch.dsplit(torch.tensor([[[1.0, 2.0]]]), 2)
    (tensor([[[1.]]]), tensor([[[2.]]]))
    """
    return _numbered_split("dsplit", input, indices_or_sections, 2, 3)


@remembered
def unbind(input: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """The views ``x[..., i, ...]`` for all `i` along `dim`.

    Raises: RuntimeError: writing into a result.

    >>> import compat as torch
    >>> torch.unbind(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    (tensor([1., 2.]), tensor([3., 4.]))
    """
    input = operand("unbind", 1, "input", input)
    shape = input._array.shape
    if not shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    axis = axis_of(len(shape), dim)
    return tuple(
        record(
            getitem, (input,), {"index": along(len(shape), axis, i)}, "UnbindBackward0", "several"
        )
        for i in range(shape[axis])
    )


def _split_method(self: Any, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    return split(self, split_size, dim)


_split_method.__name__ = "split"
_split_method.__doc__ = split.__doc__


class JoinMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    chunk = chunk
    dsplit = dsplit
    hsplit = hsplit
    split = _split_method
    split_with_sizes = split_with_sizes
    tensor_split = tensor_split
    unbind = unbind
    vsplit = vsplit


__all__ = [
    "cat",
    "chunk",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "row_stack",
    "split",
    "split_with_sizes",
    "stack",
    "tensor_split",
    "unbind",
    "vsplit",
    "vstack",
]
