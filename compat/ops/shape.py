"""Shapes: views of a tensor under another shape, in another order of its axes, or repeated.

What PyTorch makes a view is one here: it shares the memory and the version of its base.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.ops.structural import broadcast_to as broadcast_primitive
from funcgrad.ops.structural import expand_dims
from funcgrad.ops.structural import reshape as reshape_primitive
from funcgrad.ops.structural import squeeze as squeeze_primitive
from funcgrad.ops.structural import transpose as transpose_primitive

from .. import dtypes
from ..autograd import sites, views
from ..autograd.base import tensor
from ..autograd.remembered import remembered
from ..autograd.tape import record
from ._apply import _type_word, mismatch
from ._axes import axis_of
from ._layout import alias, as_dtype, axes_in, ints_of, shape_for, unlocked, viewable
from ._operands import dtype_of, operand
from .complex import mirrored

if TYPE_CHECKING:
    from .._tensor import Tensor

ndarray = np.ndarray

# ---------------------------------------------------------------- another shape


@remembered
def view(input: Any, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """``y_j = x_i`` with ``i`` and ``j`` at the same place in C order: `input` under another shape.

    With a dtype: the same bytes under another dtype, which is not differentiable. One length may be
    -1.

    Shapes: ``(*a) -> shape``.
    Raises: RuntimeError: the sizes differ, or it cannot be done without a copy (use `reshape`).

    >>> import compat as torch
    >>> torch.tensor([1.0, 2.0, 3.0, 4.0]).view(2, -1)
    tensor([[1., 2.],
            [3., 4.]])
    """
    input = operand("view", 1, "input", input)
    if dtype is not None or (len(shape) == 1 and shape[0].__class__ is dtypes.dtype):
        return _bytes_as(input, shape[0] if shape else dtype)
    new = shape_for(input.numel(), ints_of("view", "size", shape, size))
    if not viewable(input._array, new):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return record(reshape_primitive, (input,), {"shape": new}, "ViewBackward0")


def _bytes_as(x: Any, dtype: Any) -> Any:
    """The memory of `x` read as another dtype."""
    found: Any = dtype_of(x)
    array = x._array
    names = f"{_type_word(found)} as {_type_word(dtype)} (different element sizes)"
    if found.itemsize != dtype.itemsize:
        if not array.shape:
            raise RuntimeError(f"self.dim() cannot be 0 to view {names}")
        times = dtype.itemsize // found.itemsize
        if times and array.shape[-1] % times:
            raise RuntimeError(
                f"self.size(-1) must be divisible by {times} to view {names}, but got "
                f"{array.shape[-1]}"
            )
        if array.strides[-1] != found.itemsize:
            raise RuntimeError(
                f"self.stride(-1) must be 1 to view {names}, but got "
                f"{array.strides[-1] // found.itemsize}"
            )
    out = tensor(array.view(dtype.numpy))
    out._counter = x._counter
    memory = views.memory_of(x)
    if memory is not None:
        whole, before = memory
        out._memory = as_dtype(whole, dtype), before * found.itemsize // dtype.itemsize
    return out


def view_as(self: Any, other: Any) -> Tensor:
    """`self` as a view of the shape of `other`."""
    return view(self, operand("view_as", 1, "other", other)._array.shape)


@remembered
def reshape(input: Any, *args: Any, shape: Any = None) -> Tensor:
    """``y_j = x_i`` with ``i`` and ``j`` at the same place in C order; a view where possible.

    Shapes: ``(*a) -> shape``; one length may be -1.
    Raises: RuntimeError: the sizes differ.

    >>> import compat as torch
    >>> torch.reshape(torch.tensor([1.0, 2.0, 3.0, 4.0]), (2, 2))
    tensor([[1., 2.],
            [3., 4.]])
    """
    input = operand("reshape", 1, "input", input)
    return reshaped(input, shape_for(input.numel(), ints_of("reshape", "shape", args, shape)))


def reshaped(x: Any, shape: tuple[int, ...]) -> Any:
    array = x._array
    name = "ViewBackward0"
    if array.__class__ is ndarray and not array.flags.c_contiguous:
        name = "ReshapeAliasBackward0" if viewable(array, shape) else "UnsafeViewBackward0"
    return record(reshape_primitive, (x,), {"shape": shape}, name)


def reshape_as(self: Any, other: Any) -> Tensor:
    """`self` in the shape of `other`."""
    return reshape(self, operand("reshape_as", 1, "other", other)._array.shape)


@remembered
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from `start_dim` to `end_dim` merged into one.

    Shapes: ``(*a, *m, *b) -> (*a, prod(m), *b)``; the input itself if there is one axis to merge.
    Raises: RuntimeError: `start_dim` comes after `end_dim`.

    >>> import compat as torch
    >>> torch.flatten(torch.ones(2, 3, 4), 1).shape
    torch.Size([2, 12])
    """
    input = operand("flatten", 1, "input", input)
    shape = input._array.shape
    start, end = axis_of(len(shape), start_dim), axis_of(len(shape), end_dim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshaped(input, (1,))
    if start == end:
        return input
    return reshaped(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


def ravel(input: Any) -> Tensor:
    """All elements in C order, on one axis; a view if the memory is in that order.

    >>> import compat as torch
    >>> torch.ravel(torch.tensor([[1.0], [2.0]]))
    tensor([1., 2.])
    """
    x = operand("ravel", 1, "input", input)
    is_flat = views.layout(x).flags.c_contiguous
    return reshaped(x if is_flat else x.contiguous(), (x.numel(),))


def unflatten(input: Any, dim: int, sizes: Any) -> Tensor:
    """The axis `dim` cut into several of the lengths `sizes`, of which one may be -1.

    Shapes: ``(*a, n, *b) -> (*a, *sizes, *b)``.
    Raises: RuntimeError: the product of `sizes` is not the length of the axis.

    >>> import compat as torch
    >>> torch.unflatten(torch.ones(2, 6), 1, (2, -1)).shape
    torch.Size([2, 2, 3])
    """
    input = operand("unflatten", 1, "input", input)
    shape = input._array.shape
    axis = axis_of(len(shape), dim)
    parts = ints_of("unflatten", "sizes", (sizes,))
    if not parts:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        lengths = shape_for(shape[axis], parts)
    except RuntimeError as error:
        if "only one dimension" in str(error):
            raise
        raise RuntimeError(
            f"unflatten: Provided sizes {list(parts)} don't multiply up to the size of dim {axis} "
            f"({shape[axis]}) in the input tensor"
        ) from None
    return view(input, (*shape[:axis], *lengths, *shape[axis + 1 :]))


# ---------------------------------------------------------------- axes of length 1


@remembered
def squeeze(input: Any, dim: Any = None) -> Tensor:
    """`input` without its axes of length 1: all, or those among `dim`.

    Shapes: ``(*a, 1, *b) -> (*a, *b)``; axes that are longer stay.

    >>> import compat as torch
    >>> torch.squeeze(torch.ones(1, 2, 1)).shape, torch.squeeze(torch.ones(1, 2, 1), 0).shape
    (torch.Size([2]), torch.Size([2, 1]))
    """
    input = operand("squeeze", 1, "input", input)
    shape = input._array.shape
    if dim is None:
        axes, name = tuple(range(len(shape))), "SqueezeBackward0"
    elif isinstance(dim, tuple | list):
        axes, name = axes_in(len(shape), dim), "SqueezeBackward2"
    else:
        axes, name = (axis_of(len(shape), dim),), "SqueezeBackward1"
    gone = tuple(sorted(a for a in axes if shape and shape[a] == 1))
    return record(squeeze_primitive, (input,), {"axis": gone}, name)


@remembered
def unsqueeze(input: Any, dim: int) -> Tensor:
    """`input` with a new axis of length 1 at the place `dim` of the result.

    >>> import compat as torch
    >>> torch.unsqueeze(torch.ones(2, 3), 1).shape
    torch.Size([2, 1, 3])
    """
    input = operand("unsqueeze", 1, "input", input)
    axis = axis_of(len(input._array.shape) + 1, dim)
    return record(expand_dims, (input,), {"axis": (axis,)}, "UnsqueezeBackward0")


# ---------------------------------------------------------------- the order of the axes


def _permuted(x: Any, axes: tuple[int, ...], name: str) -> Any:
    return record(transpose_primitive, (x,), {"axes": axes}, name)


@remembered
def permute(input: Any, *args: Any, dims: Any = None) -> Tensor:
    """The axes in another order: axis ``i`` of the result is axis ``dims[i]`` of `input`.

    Raises: RuntimeError: `dims` is no permutation of the axes.

    >>> import compat as torch
    >>> torch.permute(torch.ones(2, 3, 4), (2, 0, 1)).shape
    torch.Size([4, 2, 3])
    """
    input = operand("permute", 1, "input", input)
    given = ints_of("permute", "dims", args, dims)
    ndim = len(input._array.shape)
    if len(given) != ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {ndim} is not equal "
            f"to len(dims) = {len(given)}"
        )
    axes = tuple(axis_of(ndim, d) for d in given)
    if len(set(axes)) < ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return _permuted(input, axes, "PermuteBackward0")


def _swapped(x: Any, dim0: int, dim1: int, name: str) -> Any:
    ndim = len(x._array.shape)
    a, b = axis_of(ndim, dim0), axis_of(ndim, dim1)
    axes = list(range(ndim))
    if ndim:
        axes[a], axes[b] = b, a
    return _permuted(x, tuple(axes), name)


@remembered
def transpose(input: Any, dim0: int, dim1: int) -> Tensor:
    """`input` with two axes exchanged.

    >>> import compat as torch
    >>> torch.transpose(torch.ones(2, 3), 0, 1).shape
    torch.Size([3, 2])
    """
    input = operand("transpose", 1, "input", input)
    return _swapped(input, dim0, dim1, "TransposeBackward0")


def swapaxes(input: Any, axis0: int, axis1: int) -> Tensor:
    """`transpose` under NumPy's name."""
    return transpose(input, axis0, axis1)


swapdims = transpose


def t(input: Any) -> Tensor:
    """``y_ij = x_ji`` of a matrix; vectors and numbers stay.

    Raises: RuntimeError: more than two axes.

    >>> import compat as torch
    >>> torch.t(torch.tensor([[1.0, 2.0]]))
    tensor([[1.],
            [2.]])
    """
    input = operand("t", 1, "input", input)
    ndim = len(input._array.shape)
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return _permuted(input, (1, 0) if ndim == 2 else tuple(range(ndim)), "TBackward0")


def movedim(input: Any, source: Any, destination: Any) -> Tensor:
    """The axes `source` moved to the places `destination`; the others keep their order.

    Raises: RuntimeError: not as many of both, or one twice.

    >>> import compat as torch
    >>> torch.movedim(torch.ones(2, 3, 4), 0, -1).shape
    torch.Size([3, 4, 2])
    """
    input = operand("movedim", 1, "input", input)
    sources = ints_of("movedim", "source", (source,))
    places = ints_of("movedim", "destination", (destination,))
    if len(sources) != len(places):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(sources)} dims) should "
            f"contain the same number of dims as destination ({list(places)} dims)"
        )
    ndim = len(input._array.shape)
    origin = [axis_of(ndim, d) for d in sources]
    target = [axis_of(ndim, d) for d in places]
    for name, axes in (("source", origin), ("destination", target)):
        if len(set(axes)) < len(axes):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({axes})")
    if not ndim:
        return _permuted(input, (), "PermuteBackward0")
    moved = dict(zip(target, origin, strict=True))
    others = iter([a for a in range(ndim) if a not in origin])
    order = tuple(moved[a] if a in moved else next(others) for a in range(ndim))
    return _permuted(input, order, "PermuteBackward0")


moveaxis = movedim


def _reversed_axes(self: Any) -> Tensor:
    """``x.T``: the axes in reverse order."""
    ndim = len(self._array.shape)
    if ndim != 2:
        sites.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor."
        )
        return _permuted(self, tuple(reversed(range(ndim))), "PermuteBackward0")
    return _reversed_matrix(self)


@remembered
def _reversed_matrix(x: Any) -> Any:
    return _permuted(x, (1, 0), "PermuteBackward0")


def _require_matrix(x: Any, name: str) -> None:
    ndim = len(x._array.shape)
    if ndim == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got {ndim}-D "
            f"tensor."
        )


def _matrix_transpose(self: Any) -> Tensor:
    """``x.mT``: the last two axes exchanged."""
    _require_matrix(self, "mT")
    return _transposed(self)


def _transposed(x: Any) -> Any:
    return _swapped(x, -2, -1, "TransposeBackward0") if x._array.shape else alias(x)


def adjoint(input: Any) -> Tensor:
    """``y_ij = conj(x_ji)`` of the last two axes.

    Raises: RuntimeError: one axis.

    >>> import compat as torch
    >>> torch.adjoint(torch.ones(4, 2, 3)).shape
    torch.Size([4, 3, 2])
    """
    input = operand("adjoint", 1, "input", input)
    _require_matrix(input, "adjoint()")
    return mirrored(_transposed(input))


def _adjoint_of_matrices(self: Any) -> Tensor:
    """``x.mH``: `adjoint`."""
    _require_matrix(self, "mH")
    return adjoint(self)


def _adjoint_of_matrix(self: Any) -> Tensor:
    """``x.H``: the conjugate transpose of a matrix."""
    ndim = len(self._array.shape)
    if ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor."
        )
    return _adjoint_of_matrices(self)


# ---------------------------------------------------------------- repeated without a copy


def _expand(x: Any, sizes: tuple[int, ...]) -> Any:
    """`x` as a view of the shape `sizes`, where -1 keeps a length.

    Raises: RuntimeError: it does not broadcast to that.
    """
    shape = x._array.shape
    lead = len(sizes) - len(shape)
    if lead < 0:
        kind = f"torch.{_type_word(dtype_of(x))}Tensor{{{list(shape)}}}"
        raise RuntimeError(
            f"expand({kind}, size={list(sizes)}): the number of sizes provided ({len(sizes)}) must "
            f"be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    new = list(sizes)
    for i, n in reversed(list(enumerate(sizes))):
        if n == -1:
            if i < lead:
                raise RuntimeError(
                    f"The expanded size of the tensor ({n}) isn't allowed in a leading, "
                    f"non-existing dimension {i}"
                )
            new[i] = shape[i - lead]
        elif i >= lead and n != shape[i - lead] and (shape[i - lead] != 1 or n < 0):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size "
                f"({shape[i - lead]}) at non-singleton dimension {i}.  Target sizes: "
                f"{list(sizes)}.  Tensor sizes: {list(shape)}"
            )
        elif n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}")
    return unlocked(record(broadcast_primitive, (x,), {"shape": tuple(new)}, "ExpandBackward0"), x)


@remembered
def expand(input: Any, *args: Any, size: Any = None, implicit: bool = False) -> Tensor:
    """`input` repeated along new leading axes and axes of length 1, without a copy.

    Shapes: ``(*a) -> size``; -1 keeps a length.   Several elements are one place in memory, so
    writing into the result raises.
    Raises: RuntimeError: it does not broadcast to that.

    >>> import compat as torch
    >>> torch.tensor([[1.0], [2.0]]).expand(-1, 3)
    tensor([[1., 1., 1.],
            [2., 2., 2.]])
    """
    input = operand("expand", 1, "input", input)
    return _expand(input, ints_of("expand", "size", args, size))


def expand_as(self: Any, other: Any) -> Tensor:
    """`self` expanded to the shape of `other`."""
    return _expand(self, operand("expand_as", 1, "other", other)._array.shape)


def broadcast_to(input: Any, *args: Any, size: Any = None) -> Tensor:
    """`expand` under NumPy's name.

    >>> import compat as torch
    >>> torch.broadcast_to(torch.tensor([1.0, 2.0]), (2, 2))
    tensor([[1., 2.],
            [1., 2.]])
    """
    return _expand(
        operand("broadcast_to", 1, "input", input), ints_of("broadcast_to", "size", args, size)
    )


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors expanded to their common shape, a tuple.

    Raises: RuntimeError: they do not broadcast together.

    >>> import compat as torch
    >>> [x.shape for x in torch.broadcast_tensors(torch.ones(2, 1), torch.ones(3))]
    [torch.Size([2, 3]), torch.Size([2, 3])]
    """
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        tensors = tuple(tensors[0])
    given = [operand("broadcast_tensors", 1, "tensors", x) for x in tensors]
    shape: tuple[int, ...] = ()
    for x in given:
        try:
            shape = np.broadcast_shapes(shape, x._array.shape)
        except ValueError:
            raise mismatch(shape, x._array.shape) from None
    return tuple(x if x._array.shape == shape else _expand(x, shape) for x in given)


class ShapeMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    T: Tensor = property(_reversed_axes)  # type: ignore[assignment]
    mT: Tensor = property(_matrix_transpose)  # type: ignore[assignment]
    H: Tensor = property(_adjoint_of_matrix)  # type: ignore[assignment]
    mH: Tensor = property(_adjoint_of_matrices)  # type: ignore[assignment]
    adjoint = adjoint
    broadcast_to = broadcast_to
    expand = expand
    expand_as = expand_as
    flatten = flatten
    moveaxis = moveaxis
    movedim = movedim
    permute = permute
    ravel = ravel
    reshape = reshape
    reshape_as = reshape_as
    squeeze = squeeze
    swapaxes = swapaxes
    swapdims = swapdims
    t = t
    transpose = transpose
    unflatten = unflatten
    unsqueeze = unsqueeze
    view = view
    view_as = view_as


__all__ = [
    "adjoint",
    "broadcast_tensors",
    "broadcast_to",
    "flatten",
    "moveaxis",
    "movedim",
    "permute",
    "ravel",
    "reshape",
    "squeeze",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
    "unflatten",
    "unsqueeze",
]
