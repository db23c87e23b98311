"""How a tensor lies in memory: copies, strides, storages, any view of it; its shape in place."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import aval_of, current
from funcgrad.ops.arithmetic import positive
from funcgrad.ops.complex import as_complex, as_real

from .. import dtypes
from ..autograd import modes, printed, views
from ..autograd.base import View, tensor
from ..autograd.node import AccumulateGrad
from ..autograd.tape import record
from ..size import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from ..storage import TypedStorage, UntypedStorage, numbers_of
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
)
from ._operands import operand, require_tensor
from .part import narrow, permuted, strided
from .shape import reshape, squeeze, swapaxes, swapdims, t, transpose, unsqueeze, view

if TYPE_CHECKING:
    from .._tensor import Tensor

ndarray = np.ndarray

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
    """Where the first element lies in the memory of the tensor that this one shows a part of."""
    _require_told(self, "storage_offset()")
    return views.storage_offset(self)


def is_set_to(self: Any, tensor: Any) -> bool:
    """Whether both show the same elements of the same memory in the same order.

    >>> import compat as torch
    >>> x = torch.zeros(2, 3)
    >>> x.is_set_to(x.view(2, 3)), x.is_set_to(x.view(3, 2)), x.is_set_to(x.clone())
    (True, False, False)
    """
    other = operand("is_set_to", 1, "tensor", tensor)
    a, b = (views.layout(x) for x in (self, other))
    return bool(
        np.may_share_memory(self._array, other._array)
        and a.size
        and a.ctypes.data == b.ctypes.data
        and a.shape == b.shape
        and strides_of(a) == strides_of(b)
    )


def dim_order(self: Any, *, ambiguity_check: bool | list[Any] = False) -> tuple[int, ...]:
    """The axes as they lie in memory, the slowest first.

    `ambiguity_check`: refuse where axes of length 1 or of equal strides allow several orders; of
    memory formats, where not exactly one of them fits.

    Raises: RuntimeError: it is ambiguous. TypeError: the argument is something else.

    >>> import compat as torch
    >>> torch.zeros(2, 3).t().dim_order()
    (1, 0)
    """
    is_list = isinstance(ambiguity_check, list)
    formats: Any = ambiguity_check if is_list else ()
    if not is_list and not isinstance(ambiguity_check, bool):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    if not all(isinstance(each, memory_format) for each in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    steps, sizes = stride(self), self._array.shape
    if is_list or ambiguity_check:
        several = 1 in sizes or any(a == b for a, b in itertools.pairwise(steps))
        if several and sum(lies_so(self, each) for each in formats) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given "
                "memory formats."
            )
    axes = tuple(range(len(sizes)))
    in_rows, last = lies_so(self), len(sizes) == 4 and lies_so(self, channels_last)
    if in_rows != last:
        return axes if in_rows else (0, 2, 3, 1)
    return tuple(sorted(axes, key=lambda a: (-steps[a], -sizes[a])))


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


def from_file(
    filename: Any,
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The first `size` numbers of a file; `shared`: what is written into the tensor is in the file.

    Raises: RuntimeError: the file is not there or shorter, and not shared.

    >>> import compat as torch
    >>> import numpy as np
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     np.arange(4, dtype="f4").tofile(file.name)
    ...     torch.from_file(file.name, size=3)
    tensor([0., 1., 2.])
    """
    wanted = dtypes.get_default_dtype() if dtype is None else dtype
    storage = UntypedStorage.from_file(filename, bool(shared), size * wanted.itemsize)
    return tensor(numbers_of(storage, wanted)).requires_grad_(requires_grad)


# ---------------------------------------------------------------- views of memory


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
    last = start + sum((n - 1) * s for n, s in zip(sizes, steps, strict=True))
    whole, before = _whole(input, start, last)
    memory = _memory(whole, input)
    if 0 not in sizes and not before <= start <= last < before + memory.numel():
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(steps)}, storage offset {start}, and "
            f"itemsize {input.itemsize} requiring a storage size of {(last + 1) * input.itemsize} are "
            f"out of bounds for storage of size {memory.numel() * input.itemsize}"
        )
    return strided(memory, sizes, steps, start - before, "AsStridedBackward0")


def _whole(x: Any, first: int, last: int) -> tuple[Any, int]:
    """The tensor with those elements of the memory of `x`, and how many lie before it in the memory.

    What was detached from a part of a tensor is its own base. Elements that are not its own have no
    gradient, so without one it may be the whole.
    """
    whole: Any = x if x._view is None else views.base_of(x._view)
    if views.edge(whole) is None and views.edge(x) is not None:  # a leaf, view of a constant
        whole = x
    before = views.storage_offset(whole) * whole.itemsize // x.itemsize
    if whole._memory is None or whole._memory[0] is None or views.edge(whole) is not None:
        return whole, before
    array = views.layout(whole)
    if _is_filled(array) and before <= first and (last - before) * x.itemsize < array.nbytes:
        return whole, before
    found = tensor(whole._memory[0])
    found._counter = whole._counter
    found.__dict__.update({k: v for k, v in whole.__dict__.items() if k == views.IS_DATA})
    return found, 0


def _memory(base: Any, like: Any) -> Any:
    """The memory of `base` as a vector of numbers like those of `like`, a view of it.

    Raises: RuntimeError: it has gaps, or `like` is a conjugate.
    """
    chain = () if like is base or like._view is None else like._view.chain
    if any(prim.own_inverse for prim, _ in chain):
        raise RuntimeError("as_strided of a conjugate: use x.resolve_conj() first")
    array = views.layout(base)
    base = permuted(base, _outer_first(array), "PermuteBackward0")
    if not _is_filled(array):
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


def _outer_first(array: Any) -> tuple[int, ...]:
    """The axes in the order in which they lie in memory."""
    return tuple(sorted(range(array.ndim), key=lambda a: -array.strides[a]))


def _is_filled(array: Any) -> bool:
    """Whether there are no gaps between the elements."""
    return bool(array.transpose(_outer_first(array)).flags.c_contiguous)


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
            if self._view is None:
                self._memory = views.memory_of(new)
        else:
            made = new._view
            if made is not None and self._view is None:
                if made.base is not self:
                    raise RuntimeError(f"{name}: some of the elements are not the tensor's own")
                base = tensor(self._array, node)
                base._counter, base._memory = self._counter, self._memory
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

    The elements are taken as they lie in memory; `memory_format`: in which order the axes then do.

    Raises: RuntimeError: it requires grad, or would have to grow: its views would lose it.
    """
    shape = ints_of("resize_", "size", sizes)
    if views.edge(self) is not None:
        raise RuntimeError("cannot resize variables that require grad")
    axes = None if memory_format is None else memory_axes(memory_format, len(shape))
    old, count = self._array, math.prod(shape)
    if shape == old.shape and (axes is None or lies_in(views.layout(self), axes)):
        return self
    if old.size == 0 < count:
        axes = axes or tuple(range(len(shape)))
        self._array = np.zeros([shape[a] for a in axes], old.dtype).transpose(np.argsort(axes))
        views.touch(self, "resize_")
        return self
    if count > old.size:
        raise RuntimeError(
            f"resize_: {old.size} elements cannot become {count}; make a tensor of the size needed"
        )
    return _shrunk(self, count, shape, axes)


def resize_as_(self: Any, the_template: Any, *, memory_format: Any = None) -> Tensor:
    """`resize_` to the shape of `the_template`, also to its order if `memory_format` preserves that.

    >>> import compat as torch
    >>> torch.resize_as_(torch.tensor([1.0, 2.0, 3.0]), torch.zeros(1, 2))
    tensor([[1., 2.]])
    """
    template = operand("resize_as_", 2, "the_template", the_template)
    if memory_format is preserve_format:
        formats = (contiguous_format, channels_last, channels_last_3d)
        memory_format = next((each for each in formats if lies_so(template, each)), None)
    return resize_(self, tuple(template._array.shape), memory_format=memory_format)


def _first(x: Any, count: int, shape: tuple[int, ...], axes: tuple[int, ...] | None) -> Any:
    """What lies one after another from the first element on, `shape` of it, with its axes in order."""
    if x.is_contiguous() and axes is None:
        return view(narrow(view(x, -1), 0, 0, count), shape)
    order = axes or tuple(range(len(shape)))
    steps = [math.prod(shape[a] for a in order[order.index(k) + 1 :]) for k in range(len(shape))]
    return as_strided(x, shape, steps)


_shrunk = _in_place(_first, "resize_")
as_strided_ = _in_place(as_strided, "as_strided_")


class MemoryMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    as_strided = as_strided
    as_strided_ = as_strided_
    as_strided_scatter = as_strided_scatter
    clone = clone
    contiguous = contiguous
    dim_order = dim_order
    is_contiguous = is_contiguous
    is_set_to = is_set_to
    resize_ = resize_
    resize_as_ = resize_as_
    squeeze_ = _in_place(squeeze, "squeeze_")
    storage = storage
    storage_offset = storage_offset
    stride = stride
    swapaxes_ = _in_place(swapaxes, "swapaxes_")
    swapdims_ = _in_place(swapdims, "swapdims_")
    t_ = _in_place(t, "t_")
    transpose_ = _in_place(transpose, "transpose_")
    unsqueeze_ = _in_place(unsqueeze, "unsqueeze_")
    untyped_storage = untyped_storage


__all__ = ["as_strided", "as_strided_", "as_strided_scatter", "clone", "from_file", "resize_as_"]
