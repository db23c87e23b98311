"""PyTorch's index expressions: a basic part, which gives a view, and then index tensors.

NOTE [Two steps] Integers, slices, None and the Ellipsis are applied first; index tensors index what
that shows. So, unlike in NumPy, an integer never counts as an index array: of ``x[0, :, i]`` the axis
of `i` is the last one.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from funcgrad.core import Tracer, aval_of
from funcgrad.errors import ConcretizationError, where
from funcgrad.indexing import known
from funcgrad.ops.arithmetic import add
from funcgrad.ops.index import gather, scatter_add, scatter_set
from funcgrad.ops.index_layout import FULL, ArrayIndex, Slice, layout
from funcgrad.ops.structural import broadcast_to, reshape

from ..autograd import sites
from ..autograd.base import TensorBase, tensor
from ..autograd.tape import record
from ._layout import in_shape
from ._operands import is_index_dtype

ndarray = np.ndarray
Shape = tuple[int, ...]
Arrays = dict[int, Any]  # by the first axis that they index


class Parsed(NamedTuple):
    """An index: the basic step, PyTorch's name of its node, and the index tensors after it."""

    link: tuple[Any, ...]
    node: str
    arrays: Arrays

    @property
    def shows_all(self) -> bool:
        return all(i == FULL for i in self.link)


# ---------------------------------------------------------------- the basic step


def parse(index: Any, shape: Shape) -> Parsed:
    """The two steps of ``x[index]``.

    Raises: IndexError: out of bounds, too many entries, or something that is no index. ValueError:
    a step that is not positive.
    """
    cls = index.__class__
    if cls is int and shape:
        return Parsed((_bounded(index, 0, shape), *(FULL,) * (len(shape) - 1)), _SELECT, {})
    if cls is list and _stands_for_tuple(index):
        index = tuple(index)
    entries = [_entry(i) for i in (index if isinstance(index, tuple) else (index,))]
    return _steps(entries, shape, len(shape) - sum(map(_width, entries)))


_SELECT = "SelectBackward0"


def _steps(entries: Sequence[Any], shape: Shape, rest: int) -> Parsed:
    """`rest`: how many axes an Ellipsis stands for."""
    if rest < 0:
        if not shape and not isinstance(entries[0], TensorBase):
            raise _of_number(entries[0])
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    link: list[Any] = []
    arrays: Arrays = {}
    node = "AliasBackward0"
    axis = place = 0  # of the tensor, and of what the basic step shows
    for i in entries:
        if i is Ellipsis:
            skipped = min(rest, len(shape) - axis)  # a second one stands for what is left
            link += (FULL,) * skipped
            axis, place = axis + skipped, place + skipped
            continue
        if i is None or i is True or i is False:
            link.append(None)
            node = "UnsqueezeBackward0"
            if i is not None:
                arrays[place] = np.array([i])
            place += 1
            continue
        width = _width(i)
        if axis + width > len(shape):
            raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
        if i.__class__ is int:
            link.append(_bounded(i, axis, shape))
            node = _SELECT
        elif i.__class__ is slice:
            link.append(_slice(i, shape[axis]))
            node = "SliceBackward0"
            place += 1
        else:
            link += (FULL,) * width
            arrays[place] = i
            place += width
        axis += width
    link += (FULL,) * (len(shape) - axis)
    return Parsed(tuple(link), node, arrays)


def _of_number(entry: Any) -> IndexError:
    if entry.__class__ is slice:
        return IndexError("slice() cannot be applied to a 0-dim tensor.")
    return IndexError(
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in "
        "C++ to convert a 0-dim tensor to a number"
    )


def _bounded(i: int, axis: int, shape: Shape) -> int:
    length = shape[axis]
    if not -length <= i < length:
        raise IndexError(f"index {i} is out of bounds for dimension {axis} with size {length}")
    return i + length if i < 0 else i


def _slice(part: slice, length: int) -> Slice:
    if part.start is None and part.stop is None and part.step is None:
        return FULL
    start, stop, step = part.indices(length)
    if step < 0:
        raise ValueError("step must be greater than zero")
    if start == 0 and stop == length and step == 1:
        return FULL
    return Slice(start, max(start, stop), step)


# ---------------------------------------------------------------- entries


def _stands_for_tuple(index: list[Any]) -> bool:
    """Whether PyTorch takes a list for a tuple: it has more in it than numbers."""
    nested = len(index) < 32 and any(
        i is None or i is Ellipsis or isinstance(i, slice | list | tuple | TensorBase | ndarray)
        for i in index
    )
    if nested:
        sites.warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated: x[[a, b]] is "
            "read as x[a, b]. Write x[a, b], or x[torch.tensor([a, b])] for one index tensor."
        )
    return nested


def _width(entry: Any) -> int:
    """How many axes of the tensor an entry indexes."""
    if entry is None or entry is Ellipsis or entry is True or entry is False:
        return 0
    if isinstance(entry, int | slice):
        return 1
    return len(entry.shape) if _is_mask(entry) else 1


def _is_mask(entry: Any) -> bool:
    return bool(_array(entry).dtype.kind == "b")


def _array(x: Any) -> Any:
    return x._array if isinstance(x, TensorBase) else x


def _entry(i: Any) -> Any:
    """An entry as an int, a slice, None, Ellipsis, True, False, a mask or an integer tensor."""
    cls = i.__class__
    if cls is int or cls is slice or i is None or i is Ellipsis or cls is bool:
        return i
    if isinstance(i, TensorBase):
        return _index_tensor(i)
    if isinstance(i, ndarray):
        return _index_tensor(tensor(i.copy()))
    if isinstance(i, Tracer):
        return _index_tensor(tensor(i))
    if isinstance(i, np.bool):
        return bool(i)
    if isinstance(i, str) or not isinstance(i, Sequence):
        if isinstance(i, SupportsIndex):
            return operator.index(i)
        raise IndexError(
            f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {cls.__name__})"
        )
    made = np.asarray(_plain(i))
    return _index_tensor(tensor(made if made.size else made.astype(np.intp)))


def _plain(x: Any) -> Any:
    if isinstance(x, TensorBase):
        return x._array
    return [_plain(y) for y in x] if isinstance(x, list | tuple) else x


def _index_tensor(i: Any) -> Any:
    """Raises: IndexError: of a dtype that is none of indices."""
    i = mask_of_bytes(i)
    array = i._array
    kind = array.dtype.kind
    if not array.shape and not isinstance(array, Tracer):
        if kind == "b":
            return bool(array)
        if kind == "i":
            return int(array)
    if kind != "b" and not is_index_dtype(array.dtype):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return i


def mask_of_bytes(i: Any) -> Any:
    """An index tensor of bytes as the mask that it stands for."""
    if i._array.dtype != np.uint8:
        return i
    sites.warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
    )
    return tensor(_known_mask(i) != 0)


def _known_mask(mask: Any) -> Any:
    found = known(_array(mask))
    if found is None:
        raise ConcretizationError(
            f"a traced boolean tensor is used as an index: how many elements it selects is not "
            f"known while the function is traced. Use torch.where(mask, new, old){where()}"
        )
    return found


# ---------------------------------------------------------------- the step with index tensors


class Plan(NamedTuple):
    """Index tensors as the primitives take them, for an operand reshaped to `merged`."""

    shape: Shape  # of the operand
    merged: Shape  # with the axes of a mask as one
    template: tuple[Any, ...]
    arrays: tuple[Any, ...]

    @property
    def part(self) -> Shape:
        """The shape of what is indexed."""
        shapes = [_array(a).shape for a in self.arrays]
        before, block, after = layout(self.merged, self.template, shapes)
        return before + block + after

    @property
    def is_one_mask(self) -> bool:
        places = [i for i in self.template if i.__class__ is ArrayIndex]
        return len(places) == 1 and places[0].bounds == "known"


def plan(shape: Shape, index: Arrays) -> Plan:
    """Raises: IndexError: a mask of another shape, or index tensors that do not broadcast."""
    merged: list[int] = []
    template: list[Any] = []
    arrays: list[Any] = []
    axis = 0
    while axis < len(shape):
        entry = index.get(axis)
        if entry is None:
            template.append(FULL)
            merged.append(shape[axis])
            axis += 1
            continue
        mask = _is_mask(entry)
        width = len(_array(entry).shape) if mask else 1
        if mask:
            found = _known_mask(entry)
            _require_mask_fits(found.shape, axis, shape)
            entry = np.flatnonzero(found)
        template.append(ArrayIndex(len(arrays), "known" if mask else "checked"))
        merged.append(math.prod(shape[axis : axis + width]))
        arrays.append(entry)
        axis += width
    _require_broadcast([_array(a).shape for a in arrays])
    return Plan(shape, tuple(merged), tuple(template), tuple(arrays))


def _require_mask_fits(mask: Shape, axis: int, shape: Shape) -> None:
    for j, n in enumerate(mask):
        if n != shape[axis + j]:
            raise IndexError(
                f"The shape of the mask {list(mask)} at index {j} does not match the shape of the "
                f"indexed tensor {list(shape)} at index {axis + j}"
            )


def _require_broadcast(shapes: Sequence[Shape]) -> None:
    if len(shapes) < 2:
        return
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(str(list(s)) for s in shapes)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}"
        ) from None


def out_of_bounds(p: Plan, error: IndexError) -> IndexError:
    """PyTorch's error for the first index that is out of bounds."""
    for axis, i in enumerate(p.template):
        if i.__class__ is not ArrayIndex:
            continue
        values, length = known(_array(p.arrays[i.position])), p.merged[axis]
        if values is None or not values.size:
            continue
        if not length:
            return IndexError("index is out of bounds for dimension with size 0")
        wrong = values[(values < -length) | (values >= length)]
        if wrong.size:
            return IndexError(
                f"index {wrong.flat[0]} is out of bounds for dimension {axis} with size {length}"
            )
    return error


def merged(x: Any, p: Plan) -> Any:
    return x if p.merged == p.shape else record(reshape, (x,), {"shape": p.merged}, _VIEW)


_VIEW = "ViewBackward0"


def read(x: Any, p: Plan, node: str = "IndexBackward0") -> Any:
    """The elements of `x` that are indexed, a copy."""
    try:
        return record(gather, (merged(x, p), *p.arrays), {"index": p.template}, node)
    except IndexError as error:
        raise out_of_bounds(p, error) from None


def written(x: Any, p: Plan, value: Any, *, accumulate: bool, node: str) -> Any:
    """`x` with `value` at the index, or added to what is there, as a new tensor."""
    target = merged(x, p)
    last = node if p.merged == p.shape else None
    try:
        if accumulate:
            if not isinstance(value, TensorBase):
                value = tensor(np.asarray(value, aval_of(x._array).dtype))
            spread = record(broadcast_to, (value,), {"shape": p.part})
            params = {"shape": p.merged, "index": p.template}
            sums = record(scatter_add, (spread, *p.arrays), params)
            out = record(add, (target, sums), {}, last)
        else:
            out = record(scatter_set, (target, value, *p.arrays), {"index": p.template}, last)
    except IndexError as error:
        raise out_of_bounds(p, error) from None
    return in_shape(out, p.shape, node)


# ---------------------------------------------------------------- values


def fitted(value: Any, part: Shape) -> Any:
    """A tensor without leading axes of length 1 that are more than those of `part`."""
    shape = value._array.shape
    extra = len(shape) - len(part)
    if extra > 0 and all(n == 1 for n in shape[:extra]):
        return record(reshape, (value,), {"shape": shape[extra:]}, _VIEW)
    return value
