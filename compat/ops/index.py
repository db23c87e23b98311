"""Indexing: ``x[...]``, ``x[...] = v``, filling, copying; `masks.py` and `scatter.py` have the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.indexing import broadcasts
from funcgrad.ops.index import getitem as getitem_primitive
from funcgrad.ops.index_layout import FULL, Slice, assign

from .. import dtypes
from ..autograd import modes, sites, views
from ..autograd.base import TensorBase, tensor
from ..autograd.remembered import remembered_index
from ..autograd.tape import record
from ._apply import _type_word, is_traced, mismatch, requires_grad
from ._index import (
    Arrays,
    Parsed,
    Plan,
    fitted,
    mask_of_bytes,
    out_of_bounds,
    parse,
    plan,
    read,
    written,
)
from ._operands import (
    convert,
    dtype_of,
    is_number,
    number_for,
    operand,
    plain_number,
    require_tensor,
)
from .masks import filled_in_place
from .memory import lies_so
from .part import diagonal, narrow
from .shape import expand, reshape

if TYPE_CHECKING:
    from .._tensor import Tensor

ndarray = np.ndarray

# ---------------------------------------------------------------- reading


def _shown(x: Any, found: Parsed) -> Any:
    """What the basic step shows: a view, or `x` itself if index tensors follow all of it."""
    if found.arrays and found.shows_all:
        return x
    return record(getitem_primitive, (x,), {"index": found.link}, found.node)


@remembered_index
def getitem(self: Any, index: Any) -> Tensor:
    """``x[index]``: a view for integers, slices, None and Ellipsis; a copy with index tensors.

    An element that is taken several times gets the sum of the cotangents.

    Raises: IndexError: the index does not fit. ValueError: a step that is not positive.

    >>> import compat as torch
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> x[0], x[x > 2], x[:, [1, 0]]
    (tensor([1., 2.]), tensor([3., 4.]), tensor([[2., 1.],
            [4., 3.]]))
    """
    found = parse(index, self._array.shape)
    shown = _shown(self, found)
    return read(shown, plan(shown._array.shape, found.arrays)) if found.arrays else shown


# ---------------------------------------------------------------- writing


def setitem(self: Any, index: Any, value: Any) -> None:
    """``x[index] = value``, in place; of values for one element the last one is kept.

    Derivative: what is replaced gets no cotangent, and neither does a value that is overwritten.
    Raises: IndexError: the index does not fit. RuntimeError: `value` does not, or writing in place
    is forbidden. TypeError: `value` is neither a tensor nor a number.

    >>> import compat as torch
    >>> x = torch.zeros(3)
    >>> x[1:] = torch.tensor([1.0, 2.0])
    >>> x
    tensor([0., 1., 2.])
    """
    if views.is_plain(self) and _is_simple(index) and _written_at_once(self, index, value):
        return
    value = _value(self, value)
    found = parse(index, self._array.shape)
    if not found.arrays:
        target = self if found.shows_all else _shown(self, found)
        new = _for_part(target, value)
        views.check_writable(target, new, read_first=True)
        views.assign(target, new, "__setitem__", whole=True)
        return
    target = _shown(self, found)
    mask = _one_mask(found.arrays)
    if mask is not None and (is_number(value) or value.numel() == 1):
        _fill_masked(target, found.arrays, value)
    else:
        p = plan(target._array.shape, found.arrays)
        if isinstance(value, TensorBase):
            value = fitted(value, p.part)
        _put(target, p, value, accumulate=False)


def _is_simple(index: Any) -> bool:
    """Whether NumPy takes an index of integers and slices as PyTorch does."""
    cls = index.__class__
    if cls is tuple:
        return all(i.__class__ is not tuple and _is_simple(i) for i in index)
    return cls is int or (cls is slice and index.step is None)


def _written_at_once(x: Any, index: Any, value: Any) -> bool:
    """Write a number or a tensor without a gradient into a part of `x`, if that is all there is."""
    array = x._array
    if isinstance(value, TensorBase):
        given = value._array
        if (
            given.__class__ is not ndarray
            or given.dtype is not array.dtype
            or value._node is not None
            or value._view is not None
            or given is array
        ):
            return False
    elif (value.__class__ is float or value.__class__ is int) and array.dtype.kind == "f":
        given = number_for(dtype_of(x), value)
    else:
        return False
    try:
        array[index] = given
    except (IndexError, ValueError):
        return False
    views.touch(x, "__setitem__")
    return True


def _value(x: Any, value: Any) -> Any:
    """Raises: TypeError: it is neither a tensor, an array nor a number."""
    if isinstance(value, TensorBase) or is_number(value):
        return value
    if isinstance(value, ndarray):
        return convert(tensor(value), dtype_of(x))
    raise TypeError(
        f"can't assign a {type(value).__name__} to a torch.{_type_word(dtype_of(x))}Tensor; make "
        f"a tensor of it with torch.tensor(...)"
    )


def _for_part(target: Any, value: Any) -> Any:
    """`value` as what is written into all of `target`: converted, and without axes too many."""
    dtype, part = dtype_of(target), target._array.shape
    if not isinstance(value, TensorBase):
        return number_for(dtype, value)
    value = fitted(_converted(value, dtype), part)
    shape = value._array.shape
    if not broadcasts(shape, part):
        expand(value, part)  # which says what does not fit
    return value


def _converted(value: Any, dtype: dtypes.dtype) -> Any:
    if dtype_of(value).category == 3 and 0 < dtype.category < 3:
        sites.warn("Casting complex values to real discards the imaginary part")
    return convert(value, dtype)


def _one_mask(arrays: Arrays) -> Any:
    """The mask, if it is all there is of index tensors."""
    if len(arrays) != 1:
        return None
    (entry,) = arrays.values()
    array = entry._array if isinstance(entry, TensorBase) else entry
    return array if array.dtype.kind == "b" else None


def _fill_masked(target: Any, arrays: Arrays, value: Any) -> None:
    """One value wherever a mask holds, which need not be known."""
    ((axis, entry),) = arrays.items()
    mask = entry if isinstance(entry, TensorBase) else tensor(entry)
    shape = target._array.shape
    width = len(mask._array.shape)
    if mask._array.shape != shape[axis : axis + width]:
        plan(shape, arrays)  # which says what does not fit
    rows = reshape(mask, (*mask._array.shape, *(1,) * (len(shape) - axis - width)))
    if isinstance(value, TensorBase):
        value = convert(reshape(value, ()), dtype_of(target))
    else:
        value = number_for(dtype_of(target), value)
    if is_plain_write(target, value, rows):
        views.check_writable(target)
        np.copyto(target._array, getattr(value, "_array", value), where=rows._array)
        views.touch(target, "masked_fill_")
    else:
        filled_in_place(target, rows, value)


def _put(x: Any, p: Plan, value: Any, *, accumulate: bool) -> Any:
    """Write `value` into `x` at index tensors, or add it.

    Raises: RuntimeError: the dtypes or shapes differ.
    """
    value = _for_index(x, p, value)
    views.check_writable(x, value)
    if isinstance(value, TensorBase):
        views.check_overlap(x, value, same_allowed=False)
    direct = p.merged == p.shape or lies_so(x)
    if direct and not accumulate and is_plain_write(x, value, *p.arrays):
        array = x._array.reshape(p.merged)
        new = value._array if isinstance(value, TensorBase) else value
        try:
            assign(np, array, new, p.template, [getattr(a, "_array", a) for a in p.arrays])
        except IndexError as error:
            raise out_of_bounds(p, error) from None
        views.touch(x, "index_put_")
        return x
    new = written(x, p, value, accumulate=accumulate, node="IndexPutBackward0")
    return views.assign(x, new, "index_put_")


def is_plain_write(x: Any, value: Any, *others: Any) -> bool:
    """Whether nothing is recorded or traced, so that the numbers may be written where they are."""
    mode = modes.get()
    if mode is not modes.NO_GRAD and (mode is not modes.GRAD or requires_grad(x, value)):
        return False
    arrays = [getattr(a, "_array", a) for a in (x, value, *others)]
    return all(isinstance(a, ndarray) or is_number(a) for a in arrays)


def _for_index(x: Any, p: Plan, value: Any) -> Any:
    """`value` as what is written into ``x[index]``."""
    dtype = dtype_of(x)
    if not isinstance(value, TensorBase):
        return number_for(dtype, value)
    part = p.part
    if p.is_one_mask and value._array.size == 1:
        value = fitted(value, ())
    if not broadcasts(value._array.shape, part):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value._array.shape)} cannot be broadcast "
            f"to indexing result of shape {list(part)}"
        )
    if dtype_of(value) is not dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {_type_word(dtype)} "
            f"for the destination and {_type_word(dtype_of(value))} for the source."
        )
    return value


def _indices(x: Any, indices: Any) -> Plan:
    """Raises: IndexError: there are too many, or they do not fit."""
    if not isinstance(indices, tuple | list):
        raise TypeError("index_put_(): argument 'indices' (position 1) must be tuple of Tensors")
    shape = x._array.shape
    found: Arrays = {}
    axis = 0
    for i in indices:
        width = 1
        if i is not None:
            i = mask_of_bytes(operand("index_put_", 1, "indices", i))
            kind = i._array.dtype
            if kind.kind != "b" and kind.name not in ("int64", "int32"):
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
            found[axis] = i
            width = len(i._array.shape) if kind.kind == "b" else 1
        axis += width
    if axis > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)} (got {axis})")
    return plan(shape, found)


def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """A copy of `input` after ``input[indices] = values``, or ``+=`` if `accumulate`.

    Where `indices` name an element twice, the last value is kept, or the sum.

    Raises: RuntimeError: the dtypes or shapes differ. IndexError: out of bounds.

    >>> import compat as torch
    >>> at = torch.tensor([0, 0])
    >>> torch.index_put(torch.zeros(2), (at,), torch.tensor([1.0, 2.0]), accumulate=True)
    tensor([3., 0.])
    """
    input = operand("index_put", 1, "input", input)
    p = _indices(input, indices)
    value = _for_index(input, p, operand("index_put", 3, "values", values))
    return written(input, p, value, accumulate=accumulate, node="IndexPutBackward0")


def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """`index_put` in place."""
    values = operand("index_put_", 2, "values", values)
    return _put(self, _indices(self, indices), values, accumulate=accumulate)


# ---------------------------------------------------------------- filling and copying


def _each_once(x: Any) -> Any:
    """A view of every element in memory once, of an expanded tensor too."""
    array = x._array
    if array.__class__ is not ndarray or 0 not in array.strides:
        return x
    link = tuple(
        Slice(0, 1, 1) if s == 0 and n > 1 else FULL
        for s, n in zip(array.strides, array.shape, strict=True)
    )
    if all(i == FULL for i in link):
        return x
    return record(getitem_primitive, (x,), {"index": link})


def fill_(self: Any, value: Any) -> Tensor:
    """Set every element to `value`, a number or a tensor without axes.

    Raises: RuntimeError: `value` has axes, or writing in place is forbidden.

    >>> import compat as torch
    >>> torch.zeros(2).fill_(3)
    tensor([3., 3.])
    """
    return _fill(self, value, "fill_")


def fill(input: Any, value: Any) -> Tensor:
    """A tensor like `input` with every element set to `value`; `input` gets no cotangent.

    >>> import compat as torch
    >>> torch.fill(torch.zeros(2), 3)
    tensor([3., 3.])
    """
    return _fill(operand("fill", 1, "input", input).clone(), value, "fill_")


def _fill(x: Any, value: Any, name: str) -> Any:
    require_tensor(name, x)
    if isinstance(value, TensorBase):
        if value._array.shape:
            raise RuntimeError(
                f"{name} only supports 0-dimension value tensor but got tensor with "
                f"{len(value._array.shape)} dimensions."
            )
        value = convert(value, dtype_of(x))
    else:
        value = number_for(dtype_of(x), value)
        if views.is_plain(x):
            x._array.fill(value)
            views.touch(x, name)
            return x
    target = _each_once(x)
    views.check_writable(target, value, read_first=True)
    views.assign(target, value, name, whole=True)
    return x


def zero_(self: Any) -> Tensor:
    """Set every element to 0."""
    return _fill(self, 0, "zero_")


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Tensor:
    """Set the elements to those of `src`, converted and broadcast.

    Derivative: `src` gets the cotangent, what `self` was gets none.
    Raises: RuntimeError: `src` does not broadcast to `self`, or writing in place is forbidden.

    >>> import compat as torch
    >>> torch.zeros(2, dtype=torch.int64).copy_(torch.tensor([1.5, 2.5]))
    tensor([1, 2])
    """
    if is_number(src):
        return _fill(self, src, "copy_")
    src = _converted(operand("copy_", 1, "other", src), dtype_of(self))
    shape, part = src._array.shape, self._array.shape
    if shape == part and src._node is None and not is_traced(src) and views.is_plain(self):
        np.copyto(self._array, src._array)
        views.touch(self, "copy_")
        return self
    if not broadcasts(shape, part):
        if len(shape) > len(part) and broadcasts(part, shape):
            raise RuntimeError(
                f"output with shape {list(part)} doesn't match the broadcast shape {list(shape)}"
            )
        raise mismatch(part, shape)
    views.check_writable(self, src)
    return views.assign(self, src, "copy_", whole=True)


def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Tensor:
    """Set the elements whose indices are all equal; of a tall matrix again below it if `wrap`.

    Raises: RuntimeError: fewer than two axes, or more of different lengths.

    >>> import compat as torch
    >>> torch.zeros(2, 2).fill_diagonal_(1)
    tensor([[1., 0.],
            [0., 1.]])
    """
    fill_value = plain_number("fill_diagonal_", "fill_value", fill_value)
    shape = self._array.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2:
        if len(set(shape)) > 1:
            raise RuntimeError("all dimensions of input must be of equal length")
        part = self
        for _ in shape[1:]:
            part = diagonal(part, 0, 0, -1)
        fill_(part, fill_value)
        return self
    rows, columns = shape
    for start in range(0, rows if wrap else min(rows, 1), columns + 1):
        fill_(diagonal(narrow(self, 0, start, min(columns, rows - start))), fill_value)
    return self


def _no_deletion(self: Any, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items: select the others, or use torch.cat")


class IndexMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    __getitem__ = getitem
    __setitem__ = setitem
    __delitem__ = _no_deletion
    copy_ = copy_
    fill_ = fill_
    fill_diagonal_ = fill_diagonal_
    index_put = index_put
    index_put_ = index_put_
    zero_ = zero_


__all__ = [
    "fill",
    "fill_",
    "index_put",
    "index_put_",
    "zero_",
]
