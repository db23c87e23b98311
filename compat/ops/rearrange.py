"""Copies with the elements elsewhere: flip, roll, tile, repeat, triangles, diagonals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.indexing import known
from funcgrad.ops.cumulative import cumsum
from funcgrad.ops.index import take as take_primitive
from funcgrad.ops.join import repeat as repeat_primitive
from funcgrad.ops.join import roll as roll_primitive
from funcgrad.ops.join import tile as tile_primitive
from funcgrad.ops.structural import diagonal_embed
from funcgrad.ops.structural import flip as flip_primitive
from funcgrad.ops.structural import sum as sum_primitive
from funcgrad.ops.structural import transpose as transpose_primitive
from funcgrad.ops.structural import tril as tril_primitive
from funcgrad.ops.structural import triu as triu_primitive

from .. import dtypes
from ..autograd.base import tensor
from ..autograd.remembered import remembered
from ..autograd.tape import record, through
from ._apply import _type_word, finish, inplace
from ._axes import axis_of
from ._compose import composed, rename, values_of
from ._layout import apart, axes_in, in_order, in_shape, ints_of, own
from ._operands import convert, dtype_of, operand
from .memory import lies_so
from .part import diagonal
from .reduce import sum as reduced
from .shape import ravel, reshape

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- turned and moved


@remembered
def flip(input: Any, *args: Any, dims: Any = None) -> Tensor:
    """``y_i = x_(n - 1 - i)`` along the axes `dims`; a copy.

    >>> import compat as torch
    >>> torch.flip(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), (0,))
    tensor([[3., 4.],
            [1., 2.]])
    """
    input = operand("flip", 1, "input", input)
    axes = axes_in(len(input._array.shape), ints_of("flip", "dims", args, dims))
    axes = axes if input._array.shape else ()
    return own(record(flip_primitive, (input,), {"axis": axes}, "FlipBackward0"), "K")


def fliplr(input: Any) -> Tensor:
    """`flip` of axis 1, left to right.

    >>> import compat as torch
    >>> torch.fliplr(torch.tensor([[1.0, 2.0]]))
    tensor([[2., 1.]])
    """
    input = operand("fliplr", 1, "input", input)
    if len(input._array.shape) < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, 1)


def flipud(input: Any) -> Tensor:
    """`flip` of axis 0, up and down.

    >>> import compat as torch
    >>> torch.flipud(torch.tensor([1.0, 2.0]))
    tensor([2., 1.])
    """
    input = operand("flipud", 1, "input", input)
    if not input._array.shape:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, 0)


@remembered
def roll(input: Any, shifts: Any, dims: Any = None) -> Tensor:
    """``y_(i + shift) = x_i``, cyclically, along each of `dims`; of the flattened tensor without.

    Raises: RuntimeError: not one shift per dim.

    >>> import compat as torch
    >>> torch.roll(torch.tensor([1.0, 2.0, 3.0]), 1)
    tensor([3., 1., 2.])
    """
    input = operand("roll", 1, "input", input)
    steps = ints_of("roll", "shifts", (shifts,))
    axes = () if dims is None else ints_of("roll", "dims", (dims,))
    if not steps:
        raise RuntimeError("`shifts` required")
    if len(steps) != len(axes) and (axes or len(steps) != 1):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(axes)}"
        )
    shape = input._array.shape
    if axes and not shape:
        raise IndexError(f"Dimension specified as {axes[0]} but tensor has no dimensions")
    if not axes:
        flat = _rolled(ravel(input), {0: steps[0]})
        return in_shape(flat, shape, _ROLL)
    total: dict[int, int] = {}
    for axis, step in zip((axis_of(len(shape), d) for d in axes), steps, strict=True):
        total[axis] = total.get(axis, 0) + step
    return _rolled(input, total)


_ROLL = "RollBackward0"


def _rolled(x: Any, total: dict[int, int]) -> Any:
    params = {"shift": tuple(total.values()), "axis": tuple(total)}
    out = record(roll_primitive, (x,), params, _ROLL)
    return out if lies_so(out) else own(out)


def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """`input` turned by ``90 k`` degrees in the plane of two axes, from the first to the second.

    Raises: RuntimeError: not two axes.

    >>> import compat as torch
    >>> torch.rot90(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[2., 4.],
            [1., 3.]])
    """
    input = operand("rot90", 1, "input", input)
    given = ints_of("rot90", "dims", (dims,))
    ndim = len(input._array.shape)
    if len(given) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(given)}")
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    a, b = (axis_of(ndim, d) for d in given)
    if a == b:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {given[0]} and dim1 = "
            f"{given[1]}"
        )
    axes = list(range(ndim))
    order = "K" if k % 4 else "C"
    turned = {0: (), 1: (b,), 2: (a, b), 3: (a,)}[k % 4]
    if k % 2:
        axes[a], axes[b] = b, a
    out = record(flip_primitive, (input,), {"axis": turned})
    return own(record(transpose_primitive, (out,), {"axes": tuple(axes)}, "Rot90Backward0"), order)


# ---------------------------------------------------------------- more than once


@remembered
def tile(input: Any, *args: Any, dims: Any = None) -> Tensor:
    """`input` side by side ``dims[i]`` times along axis ``i``, counted from the last.

    >>> import compat as torch
    >>> torch.tile(torch.tensor([1.0, 2.0]), (2,))
    tensor([1., 2., 1., 2.])
    """
    input = operand("tile", 1, "input", input)
    return _tiled(input, ints_of("tile", "dims", args, dims))


@remembered
def repeat(self: Any, *args: Any, repeats: Any = None) -> Tensor:
    """`self` side by side ``repeats[i]`` times along axis ``i``, at least one number per axis.

    Raises: RuntimeError: fewer numbers than axes.

    >>> import compat as torch
    >>> torch.tensor([1.0, 2.0]).repeat(2, 1)
    tensor([[1., 2.],
            [1., 2.]])
    """
    counts = ints_of("repeat", "repeats", args, repeats)
    if len(counts) < len(self._array.shape):
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    return _tiled(self, counts)


def _tiled(x: Any, counts: tuple[int, ...]) -> Any:
    for n in counts:
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {counts}")
    return apart(composed("RepeatBackward0", tile_primitive, x, reps=counts), x)


def repeat_interleave(
    input: Any, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Every element along `dim` several times in a row; of the flattened tensor without `dim`.

    `repeats` is a number or a tensor with one per element. Alone, ``repeat_interleave(repeats)``
    gives the place that every element comes from. Where a transform knows only the type of `repeats`,
    `output_size` has to be given.

    Raises: RuntimeError: not one number per element, or a negative one.

    >>> import compat as torch
    >>> torch.repeat_interleave(torch.tensor([1.0, 2.0]), torch.tensor([1, 2]))
    tensor([1., 2., 2.])
    """
    input = operand("repeat_interleave", 1, "input", input)
    if repeats is None:
        return _sources(input)
    if dim is None:
        input, dim = ravel(input), 0
    elif not input._array.shape:
        input = reshape(input, (1,))
    axis = axis_of(len(input._array.shape), dim)
    if isinstance(repeats, int):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        params = {"repeats": repeats, "axis": axis}
        return record(repeat_primitive, (input,), params, "ViewBackward0")
    counts = operand("repeat_interleave", 2, "repeats", repeats)
    length = input._array.shape[axis]
    if counts.numel() == 1:
        counts = tensor(np.broadcast_to(counts._array.reshape(-1), (length,)))
    elif len(counts._array.shape) != 1 or counts.numel() != length:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.numel()} and input.size({axis}) = {length}"
        )
    if output_size is not None and known(counts._array) is None:
        places = through(_found_sources, counts, output_size)
    else:
        places = _sources(counts)._array
        if output_size is not None and output_size != places.size:
            raise RuntimeError("allocated size does not match required size")
    return composed(
        "IndexSelectBackward0", take_primitive, input, places, axis=axis, bounds="known"
    )


def _found_sources(counts: Any, size: int, /) -> Any:
    """The place that every one of `size` elements comes from."""
    ends = cumsum(counts, axis=0, reverse=False)
    return fnp.searchsorted(ends, np.arange(size), side="right")


def _sources(repeats: Any) -> Any:
    counts = values_of("repeat_interleave", repeats)
    if counts.dtype.kind not in "iu":
        raise NotImplementedError(
            f"\"repeat_interleave_cpu\" not implemented for '{_type_word(dtype_of(repeats))}'"
        )
    if counts.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if counts.size and counts.min() < 0:
        raise RuntimeError("repeats can not be negative")
    return tensor(np.repeat(np.arange(counts.size, dtype=counts.dtype), counts))


# ---------------------------------------------------------------- triangles and diagonals


def _triangle(name: str, prim: Any, x: Any, k: int, out: Any) -> Any:
    x = operand(name, 1, "input", x)
    if len(x._array.shape) < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    result = in_order(record(prim, (x,), {"k": int(k)}, f"{name.capitalize()}Backward0"))
    return finish(name, result, out, (x,))


@remembered
def tril(input: Any, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """``y_ij = x_ij if j <= i + diagonal else 0``, of the last two axes.

    >>> import compat as torch
    >>> torch.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    return _triangle("tril", tril_primitive, input, diagonal, out)


@remembered
def triu(input: Any, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """``y_ij = x_ij if j >= i + diagonal else 0``, of the last two axes.

    >>> import compat as torch
    >>> torch.triu(torch.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    return _triangle("triu", triu_primitive, input, diagonal, out)


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last axis of `input` on a diagonal, along the axes `dim1` and `dim2`.

    Shapes: ``(*a, n) -> (*a, n + |offset|, n + |offset|)``.
    Raises: RuntimeError: `dim1` and `dim2` are one axis.

    >>> import compat as torch
    >>> torch.diag_embed(torch.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    input = operand("diag_embed", 1, "input", input)
    shape = input._array.shape
    ndim = len(shape) + 1
    a, b = axis_of(ndim, dim1), axis_of(ndim, dim2)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    lengths = iter(shape[:-1])
    n = shape[-1] + abs(offset)
    full = tuple(n if i in (a, b) else next(lengths) for i in range(ndim))
    params = {"shape": full, "offset": offset, "axis1": a, "axis2": b}
    return record(diagonal_embed, (input,), params, "DiagEmbedBackward0")


@remembered
def diag(input: Any, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The matrix with a vector on its diagonal, or a copy of the diagonal of a matrix.

    Raises: RuntimeError: neither a vector nor a matrix.

    >>> import compat as torch
    >>> torch.diag(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    input = operand("diag", 1, "input", input)
    ndim = len(input._array.shape)
    if ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    if ndim == 1:
        return finish("diag", diag_embed(input, diagonal), out, (input,))
    result = own(_diagonal(input, diagonal))
    if result._node is not None:
        rename(result._node, "DiagonalBackward0_copy")
    return finish("diag", result, out, (input,))


_diagonal = diagonal


def diagflat(input: Any, offset: int = 0) -> Tensor:
    """The matrix with all elements of `input` on a diagonal.

    >>> import compat as torch
    >>> torch.diagflat(torch.tensor([1.0, 2.0]), 1)
    tensor([[0., 1., 0.],
            [0., 0., 2.],
            [0., 0., 0.]])
    """
    return diag_embed(ravel(input), offset)


@remembered
def trace(input: Any) -> Tensor:
    """``sum_i x_ii`` of a matrix.

    Raises: RuntimeError: it is no matrix.

    >>> import compat as torch
    >>> torch.trace(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor(5.)
    """
    input = operand("trace", 1, "input", input)
    ndim = len(input._array.shape)
    if ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {ndim}")
    category = dtype_of(input).category
    if category == 0:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    x = diagonal(convert(input, dtypes.int64) if category == 1 else input)
    return record(sum_primitive, (x,), {"axis": (0,)}, "TraceBackward0")


# ---------------------------------------------------------------- summed


def sum_to_size(self: Any, *size: Any) -> Tensor:
    """`self` summed over the axes that broadcasting from `size` would add or make longer.

    Raises: RuntimeError: `size` does not broadcast to the shape of `self`.

    >>> import compat as torch
    >>> torch.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    wanted, shape = ints_of("sum_to_size", "size", size), tuple(self._array.shape)
    new = len(shape) - len(wanted)
    if new < 0 or any(n not in (1, m) for n, m in zip(wanted, shape[new:], strict=True)):
        raise RuntimeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(shape)}}}.")
    if not wanted:
        return reduced(self)
    axes = [a for a, m in enumerate(shape) if a < new or wanted[a - new] != m]
    summed = reduced(self, axes, keepdim=True) if axes else self
    return reshape(summed, wanted) if new else summed


class RearrangeMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    diag = diag
    diag_embed = diag_embed
    diagflat = diagflat
    flip = flip
    fliplr = fliplr
    flipud = flipud
    repeat = repeat
    repeat_interleave = repeat_interleave
    roll = roll
    rot90 = rot90
    sum_to_size = sum_to_size
    tile = tile
    trace = trace
    tril = tril
    tril_ = inplace(tril)
    triu = triu
    triu_ = inplace(triu)


__all__ = [
    "diag",
    "diag_embed",
    "diagflat",
    "flip",
    "fliplr",
    "flipud",
    "repeat_interleave",
    "roll",
    "rot90",
    "tile",
    "trace",
    "tril",
    "triu",
]
