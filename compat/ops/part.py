"""Parts of a tensor: select, narrow, diagonals, windows; its memory layout; metadata in place."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import aval_of, current
from funcgrad.ops.arithmetic import positive
from funcgrad.ops.complex import as_complex, as_real
from funcgrad.ops.index import getitem, view_update
from funcgrad.ops.index_layout import Slice
from funcgrad.ops.join import along
from funcgrad.ops.strided import strided as strided_primitive
from funcgrad.ops.structural import diagonal as diagonal_primitive
from funcgrad.ops.structural import transpose as transpose_primitive
from funcgrad.views import Link

from ..autograd import modes, printed, views
from ..autograd.base import TensorBase, View, tensor
from ..autograd.node import AccumulateGrad
from ..autograd.remembered import remembered
from ..autograd.tape import record
from ..size import preserve_format
from ..storage import TypedStorage, UntypedStorage
from ._apply import finish
from ._axes import axis_of
from ._layout import (
    alias,
    copied_in_c_order,
    ints_of,
    laid_out,
    lies_in,
    memory_axes,
    own,
    strides_of,
    unlocked,
)
from ._operands import convert, dtype_of, operand, require_tensor
from .shape import reshape, squeeze, swapaxes, swapdims, t, transpose, unsqueeze, view

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
    rows = _permuted(self, (*(a for a in range(ndim) if a != axis), axis), _UNFOLD)
    windows = _strided(rows, ((length - size) // step + 1, size), (step, 1), 0, _UNFOLD)
    order = list(range(ndim - 1))
    order.insert(axis, ndim - 1)
    return _permuted(windows, (*order, ndim), _UNFOLD)


def _permuted(x: Any, axes: tuple[int, ...], node: str) -> Any:
    """`x` with its axes in this order; `x` itself if that is how they are."""
    if axes == tuple(range(len(axes))):
        return x
    return record(transpose_primitive, (x,), {"axes": axes}, node)


def _strided(x: Any, shape: Any, strides: Any, offset: int, node: str) -> Any:
    params = {"shape": shape, "strides": strides, "offset": offset}
    return record(strided_primitive, (x,), params, node)


def as_strided(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """``y_i = memory[storage_offset + sum_k stride_k i_k]``: a view.

    `memory` is that of `input`, or of the tensor that it is a view of; of what `vmap` maps, that of one
    entry in C order. An element that is there several times gets the sum of the cotangents; then the
    view must not be written into.

    Raises: RuntimeError: out of the memory's bounds, or it has gaps.

    >>> import compat as torch
    >>> torch.as_strided(torch.tensor([1.0, 2.0, 3.0]), (2, 2), (1, 1))
    tensor([[1., 2.],
            [2., 3.]])
    """
    input = operand("as_strided", 1, "input", input)
    sizes = ints_of("as_strided", "size", (size,))
    steps = ints_of("as_strided", "stride", (stride,))
    if len(sizes) != len(steps):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {len(sizes)} sizes, {len(steps)} strides"
        )
    if any(s < 0 for s in steps):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(steps)}"
        )
    start = input.storage_offset() if storage_offset is None else storage_offset
    whole = input if input._view is None else views.base_of(input._view)
    if views.edge(whole) is None and views.edge(input) is not None:  # a leaf, view of a constant
        whole, start = input, start - input.storage_offset()
    memory = _memory(whole, input)
    last = start + sum((n - 1) * s for n, s in zip(sizes, steps, strict=True))
    if 0 not in sizes and not 0 <= start <= last < memory.numel():
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(steps)}, storage offset {start}, and "
            f"itemsize {input.itemsize} requiring a storage size of {(last + 1) * input.itemsize} are "
            f"out of bounds for storage of size {memory.numel() * input.itemsize}"
        )
    return _strided(memory, sizes, steps, start, "AsStridedBackward0")


def _memory(base: Any, like: Any) -> Any:
    """The memory of `base` as a vector of numbers like those of `like`, a view of it.

    Raises: RuntimeError: it has gaps, or `like` is a conjugate.
    """
    chain = () if like is base or like._view is None else like._view.chain
    if any(prim.own_inverse for prim, _ in chain):
        raise RuntimeError("as_strided of a conjugate: use x.resolve_conj() first")
    array = views.layout(base)
    order = tuple(sorted(range(array.ndim), key=lambda a: -array.strides[a]))
    base = _permuted(base, order, "PermuteBackward0")
    if not array.transpose(order).flags.c_contiguous:
        raise RuntimeError(
            "as_strided: the elements do not fill their memory; use x.contiguous() first"
        )
    kind, wanted = (aval_of(x._array).dtype.kind for x in (base, like))
    if wanted != kind == "c":
        base = record(as_real, (base,), None, "ViewAsRealBackward0")
    memory = base if len(base._array.shape) == 1 else reshape(base, (base.numel(),))
    if kind != wanted == "c":
        pairs = reshape(memory, (memory.numel() // 2, 2))
        memory = record(as_complex, (pairs,), None, "ViewAsComplexBackward0")
    return memory


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


def as_strided_scatter(
    input: Any, src: Any, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:
    """A copy of `input` with what ``input.as_strided(size, stride)`` shows replaced by `src`.

    Raises: RuntimeError: out of the bounds of `input`, whose memory has gaps, or elements that are
    there several times.

    >>> import compat as torch
    >>> torch.as_strided_scatter(torch.zeros(2, 2), torch.ones(2), (2,), (3,))
    tensor([[1., 0.],
            [0., 1.]])
    """
    x = operand("as_strided_scatter", 1, "input", input)
    src = operand("as_strided_scatter", 2, "src", src)
    y = clone(x)
    if y.stride() != x.stride():
        raise RuntimeError(
            "as_strided_scatter: the elements do not fill their memory; use x.contiguous() first"
        )
    start = None if storage_offset is None else storage_offset - x.storage_offset()
    part = as_strided(y, size, stride, start)
    if part._array.shape != src._array.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{list(src._array.shape)}, slice size = {list(part._array.shape)}"
        )
    part.copy_(src)
    return y


# ---------------------------------------------------------------- memory


# Where the elements are repeated, a copy has them in C order.
@printed.unary(positive, "CloneBackward0", unless="0 in x.strides", memory_format=None)
def clone(input: Any, *, memory_format: Any = None) -> Tensor:
    """A copy of `input`, in memory of its own; in the same order, or in that of `memory_format`.

    Derivative: the identity.

    Raises: RuntimeError: the tensor has not the number of axes of its memory format.

    >>> import compat as torch
    >>> torch.clone(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    x = operand("clone", 1, "input", input)
    axes = None if memory_format is None else memory_axes(memory_format, len(x._array.shape))
    out = own(alias(x, "CloneBackward0"), "K")
    return out if axes is None else laid_out(out, axes)


def contiguous(self: Any, *, memory_format: Any = None) -> Tensor:
    """`self` if its elements lie in C order in memory, or in another one; else such a copy.

    Raises: RuntimeError: the tensor has not the number of axes of the order, or that is none.
    """
    if memory_format is None:
        return self if lies_so(self) else copied_in_c_order(self)
    if lies_so(self, memory_format):
        return self
    if memory_format is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    return clone(self, memory_format=memory_format)


def _require_told(x: Any, what: str) -> None:
    """Where `compile` traces, nobody knows how the elements of a tensor lie in memory."""
    unknown = getattr(current.get(), "unknown", None)
    if unknown is not None and x._array.__class__ is not ndarray:
        unknown(what)


def is_contiguous(self: Any, *, memory_format: Any = None) -> bool:
    """Whether the elements lie in C order in memory, or in another one, without gaps."""
    _require_told(self, "is_contiguous()")
    return lies_so(self, memory_format)


def lies_so(x: Any, memory_format: Any = None) -> bool:
    """`is_contiguous`, also while `compile` traces; the answer must not matter to the result."""
    array = views.layout(x)
    if memory_format is None or memory_format is preserve_format:
        return bool(array.flags.c_contiguous)
    try:
        axes = memory_axes(memory_format, array.ndim)
    except RuntimeError:
        return False
    return axes is not None and lies_in(array, axes)


def stride(self: Any, dim: int | None = None) -> Any:
    """How many elements of memory lie between neighbours along an axis; a tuple for all axes.

    >>> import compat as torch
    >>> torch.zeros(2, 3).stride(), torch.zeros(0, 3).stride(), torch.zeros(2, 0).stride()
    ((3, 1), (3, 1), (1, 1))
    """
    _require_told(self, "stride()")
    strides = strides_of(views.layout(self))
    return strides if dim is None else strides[axis_of(len(strides), dim)]


def storage_offset(self: Any) -> int:
    """Where the first element lies in the memory of the tensor that this one is a view of."""
    _require_told(self, "storage_offset()")
    return views.storage_offset(self)


def untyped_storage(self: Any) -> UntypedStorage:
    """The memory of this tensor and of all that share it.

    >>> import compat as torch
    >>> x = torch.zeros(4)
    >>> x[2:].untyped_storage().data_ptr() == x.data_ptr(), x[2:].untyped_storage().nbytes()
    (True, 16)
    """
    return UntypedStorage(self._array)


def storage(self: Any) -> TypedStorage:
    """The same memory, counted in elements."""
    return TypedStorage(self._array)


# ---------------------------------------------------------------- metadata in place


def _in_place(f: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """``x.f_(...)``: `x` becomes the view ``f(x, ...)`` of what it was.

    NOTE [Hidden base] Other tensors may be views of `x` under the shape it had. So what it was
    lives on as a tensor that nobody sees, the base of `x` and of those from now on.
    """

    @functools.wraps(f)
    def in_place(self: Any, *args: Any, **kwargs: Any) -> Any:
        require_tensor(name, self)
        views.check_history(self)
        node = views.edge(self)
        leaf = node.__class__ is AccumulateGrad
        with modes.enable_grad():
            new = f(self, *args, **kwargs)
        if leaf:
            node.array = new._array
        else:
            made = new._view
            if made is not None and self._view is None:
                base = tensor(self._array, node)
                base._counter = self._counter
                made = View(base, made.chain, made.seen, made.origin)
            views.move_retained(self, new._node)
            self._node, self._view = new._node, made
        self._array = new._array
        views.touch(self, name)
        if self._view is not None:
            self._view.seen = self._counter[0]
        return self

    in_place.__name__ = in_place.__qualname__ = name
    in_place.__doc__ = f"`{f.__name__}` of the tensor itself; its elements stay where they are."
    return in_place


def resize_(self: Any, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Give `self` another shape, of as many elements or fewer; new ones if it has none.

    Raises: RuntimeError: it requires grad, or would have to grow: its views would lose it.
    """
    shape = ints_of("resize_", "size", sizes)
    if views.edge(self) is not None:
        raise RuntimeError("cannot resize variables that require grad")
    old, count = self._array, math.prod(shape)
    if shape == old.shape:
        return self
    if old.size == 0 < count:
        self._array = np.zeros(shape, old.dtype)
        views.touch(self, "resize_")
        return self
    if count > old.size:
        raise RuntimeError(
            f"resize_: {old.size} elements cannot become {count}; make a tensor of the size needed"
        )
    return _shrunk(self, count, shape)


def resize_as_(self: Any, the_template: Any, *, memory_format: Any = None) -> Tensor:
    """`resize_` to the shape of `the_template`.

    >>> import compat as torch
    >>> torch.resize_as_(torch.tensor([1.0, 2.0, 3.0]), torch.zeros(1, 2))
    tensor([[1., 2.]])
    """
    template = operand("resize_as_", 2, "the_template", the_template)
    return resize_(self, tuple(template._array.shape))


def _first(x: Any, count: int, shape: tuple[int, ...]) -> Any:
    if x.is_contiguous():
        return view(narrow(view(x, -1), 0, 0, count), shape)
    steps = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    return as_strided(x, shape, steps)  # what lies one after another from its first element on


_shrunk = _in_place(_first, "resize_")
as_strided_ = _in_place(as_strided, "as_strided_")


class PartMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    as_strided = as_strided
    as_strided_ = as_strided_
    as_strided_scatter = as_strided_scatter
    clone = clone
    contiguous = contiguous
    storage = storage
    untyped_storage = untyped_storage
    diagonal = diagonal
    diagonal_scatter = diagonal_scatter
    is_contiguous = is_contiguous
    narrow = narrow
    resize_ = resize_
    resize_as_ = resize_as_
    select = select
    select_scatter = select_scatter
    slice_scatter = slice_scatter
    squeeze_ = _in_place(squeeze, "squeeze_")
    storage_offset = storage_offset
    stride = stride
    swapaxes_ = _in_place(swapaxes, "swapaxes_")
    swapdims_ = _in_place(swapdims, "swapdims_")
    t_ = _in_place(t, "t_")
    transpose_ = _in_place(transpose, "transpose_")
    unfold = unfold
    unsqueeze_ = _in_place(unsqueeze, "unsqueeze_")


__all__ = [
    "as_strided",
    "as_strided_",
    "as_strided_scatter",
    "clone",
    "diagonal",
    "diagonal_scatter",
    "narrow",
    "resize_as_",
    "select",
    "select_scatter",
    "slice_scatter",
]
