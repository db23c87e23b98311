"""Parts of a tensor: select, narrow, diagonals, windows."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import aval_of
from funcgrad.ops.index import getitem, view_update
from funcgrad.ops.index_layout import Slice
from funcgrad.ops.join import along
from funcgrad.ops.strided import strided as strided_primitive
from funcgrad.ops.structural import diagonal as diagonal_primitive
from funcgrad.ops.structural import transpose as transpose_primitive
from funcgrad.views import Link

from ..autograd.base import TensorBase
from ..autograd.remembered import remembered
from ..autograd.tape import record
from ._apply import finish
from ._axes import axis_of
from ._layout import (
    unlocked,
)
from ._operands import convert, dtype_of, operand
from .shape import reshape

if TYPE_CHECKING:
    from .._tensor import Tensor

ndarray = np.ndarray
_UNFOLD = "UnfoldBackward0"

# ---------------------------------------------------------------- along one axis


def _axis_with_elements(name: str, x: Any, dim: int) -> int:
    shape = x._array.shape
    if not shape:
        raise IndexError(f"{name}() cannot be applied to a 0-dim tensor.")
    return axis_of(len(shape), dim)


def _selected(x: Any, dim: int, index: Any) -> tuple[Any, ...]:
    """The index of one slice along `dim`.

    Raises: IndexError: out of range.
    """
    shape = list(x._array.shape)
    axis = _axis_with_elements("select", x, dim)
    i = int(index)
    if not -shape[axis] <= i < shape[axis]:
        raise IndexError(
            f"select(): index {i} out of range for tensor of size {shape} at dimension {axis}"
        )
    return along(len(shape), axis, i % shape[axis])


@remembered
def select(input: Any, dim: int, index: Any) -> Tensor:
    """``y[...] = x[..., index, ...]``: a view of one slice along `dim`, without that axis.

    Raises: IndexError: there is no such slice.

    >>> import compat as torch
    >>> torch.select(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 1, 0)
    tensor([1., 3.])
    """
    input = operand("select", 1, "input", input)
    return record(getitem, (input,), {"index": _selected(input, dim, index)}, "SelectBackward0")


@remembered
def narrow(input: Any, dim: int, start: Any, length: int) -> Tensor:
    """``y[..., i, ...] = x[..., start + i, ...]``: a view of `length` slices along `dim`.

    Raises: IndexError, RuntimeError: the slices are not all there.

    >>> import compat as torch
    >>> torch.narrow(torch.tensor([1.0, 2.0, 3.0]), 0, 1, 2)
    tensor([2., 3.])
    """
    input = operand("narrow", 1, "input", input)
    shape = input._array.shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    axis = axis_of(len(shape), dim)
    if isinstance(start, TensorBase) and (start._array.shape or dtype_of(start).category != 1):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    first, size = operator.index(start), shape[axis]
    if not -size <= first <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {first})"
        )
    first += size if first < 0 else 0
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return record(getitem, (input,), {"index": _piece(len(shape), axis, first, length)}, _SLICE)


_SLICE = "SliceBackward0"


def _piece(ndim: int, axis: int, start: int, length: int) -> tuple[Any, ...]:
    return along(ndim, axis, Slice(start, start + length, 1))


# ---------------------------------------------------------------- diagonals


def _diagonal_params(x: Any, offset: int, dim1: int, dim2: int) -> dict[str, int]:
    """Raises: RuntimeError: both axes are one."""
    ndim = len(x._array.shape)
    a, b = axis_of(ndim, dim1), axis_of(ndim, dim2)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return {"offset": offset, "axis1": a, "axis2": b}


@remembered
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """``y[..., i] = x[i, i + offset]`` along the axes `dim1` and `dim2`: a view.

    Shapes: ``(*a, m, *b, n, *c) -> (*a, *b, *c, k)``.
    Raises: RuntimeError: `dim1` and `dim2` are one axis.

    >>> import compat as torch
    >>> torch.diagonal(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    input = operand("diagonal", 1, "input", input)
    params = _diagonal_params(input, offset, dim1, dim2)
    return unlocked(record(diagonal_primitive, (input,), params, "DiagonalBackward0"), input)


# ---------------------------------------------------------------- windows


@remembered
def unfold(self: Any, dimension: int, size: int, step: int) -> Tensor:
    """``y[..., i, ..., j] = x[..., step * i + j, ...]``: windows along an axis, on a new last axis.

    A view, which must not be written into if windows overlap.

    Shapes: ``(*a, n, *b) -> (*a, (n - size) // step + 1, *b, size)``.
    Raises: RuntimeError: a window is longer than the axis, or `step` is not positive.

    >>> import compat as torch
    >>> torch.tensor([1.0, 2.0, 3.0]).unfold(0, 2, 1)
    tensor([[1., 2.],
            [2., 3.]])
    """
    if not self._array.shape:
        rows = unfold(reshape(self, (1,)), dimension, size, step)
        return record(getitem, (rows,), {"index": along(2, 0, 0)}, _UNFOLD)
    ndim = len(self._array.shape)
    axis = axis_of(ndim, dimension)
    length = self._array.shape[axis]
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {length} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    rows = permuted(self, (*(a for a in range(ndim) if a != axis), axis), _UNFOLD)
    windows = strided(rows, ((length - size) // step + 1, size), (step, 1), 0, _UNFOLD)
    order = list(range(ndim - 1))
    order.insert(axis, ndim - 1)
    return permuted(windows, (*order, ndim), _UNFOLD)


def permuted(x: Any, axes: tuple[int, ...], node: str) -> Any:
    """`x` with its axes in this order; `x` itself if that is how they are."""
    if axes == tuple(range(len(axes))):
        return x
    return record(transpose_primitive, (x,), {"axes": axes}, node)


def strided(x: Any, shape: Any, strides: Any, offset: int, node: str) -> Any:
    params = {"shape": shape, "strides": strides, "offset": offset}
    return record(strided_primitive, (x,), params, node)


# ---------------------------------------------------------------- a part replaced


def _replaced(x: Any, src: Any, link: Link, node: str) -> Any:
    """`x` with the part that `link` shows replaced by `src`, as a new tensor."""
    part = link.prim.aval(aval_of(x._array), **dict(link.params)).shape
    src = operand(node, 2, "src", src)
    if src._array.shape != part:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{list(src._array.shape)}, slice size = {list(part)}"
        )
    return record(view_update, (x, convert(src, dtype_of(x))), {"chain": (link,)}, node)


def select_scatter(input: Any, src: Any, dim: int, index: int) -> Tensor:
    """A copy of `input` with ``input.select(dim, index)`` replaced by `src`.

    >>> import compat as torch
    >>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    input = operand("select_scatter", 1, "input", input)
    link = Link(getitem, (("index", _selected(input, dim, index)),))
    return _replaced(input, src, link, "SelectScatterBackward0")


def slice_scatter(
    input: Any,
    src: Any,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """A copy of `input` with the slice ``start:end:step`` along `dim` replaced by `src`.

    >>> import compat as torch
    >>> torch.slice_scatter(torch.zeros(3), torch.ones(2), start=1)
    tensor([0., 1., 1.])
    """
    input = operand("slice_scatter", 1, "input", input)
    shape = input._array.shape
    axis = _axis_with_elements("slice_scatter", input, dim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last, _ = slice(start, end, step).indices(shape[axis])
    index = along(len(shape), axis, Slice(first, max(first, last), step))
    link = Link(getitem, (("index", index),))
    y = _replaced(input, src, link, "SliceScatterBackward0")
    return finish("slice_scatter", y, out, (input, src))


def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of `input` with a diagonal replaced by `src`.

    >>> import compat as torch
    >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    input = operand("diagonal_scatter", 1, "input", input)
    params = _diagonal_params(input, offset, dim1, dim2)
    link = Link(diagonal_primitive, tuple(params.items()))
    return _replaced(input, src, link, "DiagonalScatterBackward0")


class PartMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    diagonal = diagonal
    diagonal_scatter = diagonal_scatter
    narrow = narrow
    select = select
    select_scatter = select_scatter
    slice_scatter = slice_scatter
    unfold = unfold


__all__ = [
    "diagonal",
    "diagonal_scatter",
    "narrow",
    "select",
    "select_scatter",
    "slice_scatter",
]
