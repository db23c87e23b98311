"""Order: sort, argsort, topk, unique, and searching in what is sorted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import Tracer
from funcgrad.ops import select, structural
from funcgrad.ops import sort as primitives
from funcgrad.ops.index import along_axis, gather
from funcgrad.ops.index_layout import FULL, ArrayIndex
from funcgrad.ops.logic import isnan

from .. import dtypes
from ..autograd.base import tensor
from ..autograd.tape import record, through
from . import return_types
from ._apply import _type_word, finish
from ._axes import axis_of, whole
from ._compose import as_before, at_least_1d, finish_named, values_of
from ._layout import own
from ._operands import convert, dtype_of, is_number, operand

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- sort


def _order(x: Any, /, *, axis: int, descending: bool) -> Any:
    """The places of the elements in order, stable; NaN counts as largest."""
    if not descending:
        return primitives.argsort(x, axis=axis)
    # Ascending, with what is last counted first, read from the end.
    ascending = primitives.argsort(structural.flip(x, axis=(axis,)), axis=axis)
    return (x.shape[axis] - 1) - structural.flip(ascending, axis=(axis,))


def _in_order(name: str, find: Any, input: Any, dim: int, node: str, **options: Any) -> Any:
    """The elements at the places that `find` gives, and the places."""
    x = operand(name, 1, "input", input)
    if dtype_of(x).category == 3:
        raise RuntimeError(f"{name}: Sort does not support complex dtypes on CPU")
    axis = axis_of(len(x._array.shape), dim)
    rows = at_least_1d(x)
    places = through(find, rows, axis=axis, **options)
    if places._view is not None:  # of all of them
        places = own(places)
    index = along_axis(rows._array.shape, axis, "known")
    values = record(gather, (rows, places), {"index": index}, node)
    return as_before(values, x), as_before(places, x)


def sort(
    input: Any,
    dim: int = -1,
    descending: bool = False,
    stable: bool | None = None,
    *,
    out: Any = None,
) -> Any:
    """The elements along `dim` in order, and where each was; always stable, NaN is largest.

    The gradient goes back to where each element was.

    >>> import compat as torch
    >>> torch.sort(torch.tensor([3.0, 1.0, 2.0]))
    torch.return_types.sort(
    values=tensor([1., 2., 3.]),
    indices=tensor([1, 2, 0]))
    """
    node = "SortBackward0" if stable is None else "SortBackward1"
    found = _in_order("sort", _order, input, dim, node, descending=bool(descending))
    return finish_named("sort", return_types.sort, found, out, (input,))


def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The places of the elements along `dim` in order; always stable, NaN is largest.

    >>> import compat as torch
    >>> torch.argsort(torch.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    return sort(input, dim, descending).indices


def msort(input: Any, *, out: Any = None) -> Tensor:
    """The elements along the first dimension in ascending order.

    >>> import compat as torch
    >>> torch.msort(torch.tensor([3.0, 1.0, 2.0]))
    tensor([1., 2., 3.])
    """
    return finish("msort", sort(input, 0).values, out, (input,))


def topk(
    input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None
) -> Any:
    """The `k` largest (or smallest) elements along `dim`, in order, and where they are.

    Raises: RuntimeError: there are fewer than `k` elements.

    >>> import compat as torch
    >>> torch.topk(torch.tensor([3.0, 1.0, 2.0]), 2)
    torch.return_types.topk(
    values=tensor([3., 2.]),
    indices=tensor([0, 2]))
    """
    x = operand("topk", 1, "input", input)
    axis = axis_of(len(x._array.shape), dim)
    k = whole(k, "k")
    if not 0 <= k <= (x._array.shape[axis] if x._array.shape else 1):
        raise RuntimeError(
            f"selected index k out of range: k={k}, input of shape {list(x._array.shape)}, dim={dim}"
        )
    if dtype_of(x).category == 0:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    count = k if x._array.shape else 1
    found = _in_order(
        "topk", primitives.argtopk, x, dim, "TopkBackward0", k=count, largest=bool(largest)
    )
    return finish_named("topk", return_types.topk, found, out, (x,))


# ---------------------------------------------------------------- equal elements


def _rows(name: str, x: Any, dim: int) -> int:
    """The axis that `dim` names, along which slices are compared.

    Raises: IndexError: there is none. RuntimeError: the slices are empty.
    """
    axis = axis_of(len(x._array.shape), dim)
    shape = x._array.shape
    if 0 in shape[:axis] + shape[axis + 1 :]:
        raise RuntimeError(
            f"{name}: There are 0 sized dimensions, and they aren't selected, so unique cannot be "
            f"applied"
        )
    return axis


def _unique_result(
    x: Any,
    axis: int | None,
    places: Any,
    inverse: Any,
    counts: Any,
    wanted: tuple[bool, bool],
    node: str,
) -> Any:
    """The elements or slices at the places, and what else is wanted."""
    if axis is None:
        shape = x._array.shape
        inverse = inverse.reshape(shape)
        x, axis = record(structural.reshape, (x,), {"shape": (math.prod(shape),)}), 0
    rest = len(x._array.shape) - axis - 1
    index = (FULL,) * axis + (ArrayIndex(0, "known"),) + (FULL,) * rest
    values = record(gather, (at_least_1d(x), places), {"index": index}, node)
    more = [tensor(a) for a, w in zip((inverse, counts), wanted, strict=True) if w]
    return (values, *more) if more else values


def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements, or slices along `dim`, in ascending order.

    With the options also the places that rebuild `input` from them, and how often each is there.
    The gradient is that of the first of equal elements, where PyTorch has none.

    >>> import compat as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    x = operand("unique", 1, "input", input)
    axis = None if dim is None else _rows("unique", x, dim)
    values = values_of("unique", x)
    _, places, inverse, counts = np.unique(values, True, True, True, axis, equal_nan=False)
    wanted = bool(return_inverse), bool(return_counts)
    node = "Unique2Backward0" if axis is None else "UniqueDimBackward0"
    return _unique_result(x, axis, places, inverse.reshape(-1), counts, wanted, node)


def unique_consecutive(
    input: Any,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The elements, or slices along `dim`, without those that equal the one before.

    With the options also the places that rebuild `input` from them, and how often each is there.
    The gradient is that of the first of equal elements, where PyTorch has none.

    >>> import compat as torch
    >>> torch.unique_consecutive(torch.tensor([3, 3, 1, 3]))
    tensor([3, 1, 3])
    """
    x = operand("unique_consecutive", 1, "input", input)
    axis = None if dim is None else _rows("unique_consecutive", x, dim)
    values = values_of("unique_consecutive", x)
    rows = values.reshape(-1, 1) if axis is None else np.moveaxis(np.atleast_1d(values), axis, 0)
    rows = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    places = new.nonzero()[0]
    counts = np.diff(places, append=len(rows))
    wanted = bool(return_inverse), bool(return_counts)
    inverse = np.cumsum(new) - 1
    return _unique_result(x, axis, places, inverse, counts, wanted, "UniqueConsecutiveBackward0")


# ---------------------------------------------------------------- in a sorted sequence


def _side(right: bool, side: str | None) -> str:
    if side is None:
        return "right" if right else "left"
    if side not in ("left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if right and side == "left":
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while "
            "right was True"
        )
    return side


def _sorted_by(sequence: Any, sorter: Any) -> Any:
    """``sequence[..., sorter]``."""
    shapes = sequence._array.shape, sorter._array.shape
    if shapes[0] != shapes[1]:
        raise RuntimeError(
            f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {list(shapes[0])} and got sorter tensor {list(shapes[1])}"
        )
    if dtype_of(sorter) is not dtypes.int64:
        raise RuntimeError(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
            f"{_type_word(dtype_of(sorter))}"
        )
    length, places = shapes[0][-1], sorter._array
    if not isinstance(places, Tracer) and not ((places >= 0) & (places < length)).all():
        raise RuntimeError(
            f"torch.searchsorted(): sorter index out of range: the sequence has {length} elements"
        )
    index = along_axis(shapes[0], len(shapes[0]) - 1)
    return record(gather, (sequence, sorter), {"index": index})


def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
    out: Any = None,
) -> Tensor:
    """Where to insert each number into the ascending sequence: how many elements are smaller.

    With ``side="right"`` how many are smaller or equal. More axes of the sequence are paired with
    those of `input`; `sorter` are the places that sort it.

    Raises: RuntimeError: the leading dimensions differ, or the arguments contradict each other.

    >>> import compat as torch
    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 4]))
    tensor([1, 2])
    """
    a = operand("searchsorted", 1, "sorted_sequence", sorted_sequence)
    v = (
        tensor(np.asarray(input))
        if is_number(input)
        else operand("searchsorted", 2, "input", input)
    )
    side = _side(right, side)
    if sorter is not None:
        a = _sorted_by(a, operand("searchsorted", 3, "sorter", sorter))
    shape, wanted = a._array.shape, v._array.shape
    if not shape:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if len(shape) > 1 and (len(shape) != len(wanted) or shape[:-1] != wanted[:-1]):
        raise RuntimeError(
            f"torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            f"dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(shape)} and input value tensor {list(wanted)}"
        )
    places = record(primitives.searchsorted, (a, v), {"side": side})
    if side == "left" and dtype_of(v).category == 2:  # NaN comes after all, other NaN included
        places = record(select.where, (record(isnan, (v,)), shape[-1], places))
    if out_int32:
        places = convert(places, dtypes.int32)
    return finish("searchsorted", places, out, (a, v))


def bucketize(
    input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False, out: Any = None
) -> Tensor:
    """In which of the intervals between ascending boundaries each number lies.

    ``boundaries[i - 1] < input <= boundaries[i]``; with `right` it is ``<=`` below and ``<`` above.

    Raises: RuntimeError: the boundaries have not one dimension.

    >>> import compat as torch
    >>> torch.bucketize(torch.tensor([3, 4]), torch.tensor([1, 3, 5]))
    tensor([1, 2])
    """
    b = operand("bucketize", 2, "boundaries", boundaries)
    if len(b._array.shape) != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({len(b._array.shape)})"
        )
    return searchsorted(b, input, out_int32=out_int32, right=right, out=out)


class SortMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    argsort = argsort
    msort = msort
    sort = sort
    topk = topk
    unique = unique
    unique_consecutive = unique_consecutive


__all__ = [
    "argsort",
    "bucketize",
    "msort",
    "searchsorted",
    "sort",
    "topk",
    "unique",
    "unique_consecutive",
]
