"""Elements by their place: gather, scatter, take, put; `slices.py` has whole slices.

Where several values go to one element, `scatter` and `put` keep the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.indexing import known
from funcgrad.ops.arithmetic import add
from funcgrad.ops.index import along_axis, scatter_set
from funcgrad.ops.index import gather as gather_primitive
from funcgrad.ops.index import scatter_add as scatter_add_primitive
from funcgrad.ops.index_layout import ArrayIndex, positions
from funcgrad.ops.select import where

from ..autograd.base import tensor
from ..autograd.remembered import remembered_of_several
from ..autograd.tape import Check, record, tell, through, watchers
from ._apply import _type_word, finish, inplace, mismatch
from ._axes import axis_of
from ._layout import in_shape, own
from ._operands import dtype_of, is_index_dtype, is_number, number_for, operand
from ._segment import reduced
from .shape import expand, ravel, reshape

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- index tensors


def _places(name: str, index: Any, position: int) -> Any:
    """The index tensor; int32 is as good as int64, and of no elements every dtype is.

    Raises: RuntimeError: it is of another dtype.
    """
    index = operand(name, position, "index", index)
    if not is_index_dtype(index._array.dtype) and index.numel():
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    return index


def require_bounds(index: Any, low: int, high: int, error: Callable[[int], Exception]) -> None:
    """Require ``low <= index < high``, where the numbers are known."""
    if watchers:
        tell(Check(index, low, high))
    values = known(index._array)
    if values is None or not values.size:
        return
    least, greatest = int(values.min()), int(values.max())
    if least < low or greatest >= high:
        raise error(least if least < low else greatest)


def _out_of_range(axis: int, length: int) -> Callable[[int], Exception]:
    return lambda i: RuntimeError(
        f"index {i} is out of bounds for dimension {axis} with size {length}"
    )


def at_least_1d(x: Any) -> Any:
    return x if x._array.shape else reshape(x, (1,))


def _lead(x: Any, shape: tuple[int, ...]) -> Any:
    """The elements of `x` whose index is within `shape`."""
    if x._array.shape == shape:
        return x
    return x[tuple(slice(n) for n in shape)]


def _aligned(name: str, input: Any, dim: int, index: Any, *others: Any) -> tuple[Any, ...]:
    """(axis, input, index, *others) with at least one axis each, checked as `gather` needs it.

    An empty index may have any axes; it and the others get those of the input, of no length.

    Raises: RuntimeError: the sizes do not fit, or an index is out of bounds.
    """
    axis = axis_of(len(input._array.shape), dim)
    x, places, *rest = map(at_least_1d, (input, index, *others))
    shape, wanted = x._array.shape, places._array.shape
    for word, other in (("input", x), *(("src", y) for y in rest)):
        if len(other._array.shape) != len(wanted) and places.numel():
            raise RuntimeError(
                f"Index tensor must have the same number of dimensions as {word} tensor"
            )
    if places.numel():
        _require_within(axis, wanted, shape, [y._array.shape for y in rest])
        require_bounds(places, 0, shape[axis], _out_of_range(axis, shape[axis]))
    else:
        empty = (0,) * len(shape)
        places, rest = reshape(places, empty), [reshape(ravel(y)[:0], empty) for y in rest]
    return (axis, x, places, *rest)


def _require_within(axis: int, wanted: Any, shape: Any, sources: list[Any]) -> None:
    fits = all(n <= m for a, (n, m) in enumerate(zip(wanted, shape, strict=True)) if a != axis)
    if not sources and not fits:
        bad = next(a for a, n in enumerate(wanted) if a != axis and n > shape[a])
        raise RuntimeError(
            f"Size does not match at dimension {bad} expected index {list(wanted)} to be no larger "
            f"than self {list(shape)} apart from dimension {axis}"
        )
    for source in sources:
        if not fits or any(n > m for n, m in zip(wanted, source, strict=True)):
            raise RuntimeError(
                f"Expected index {list(wanted)} to be no larger than self {list(shape)} apart from "
                f"dimension {axis} and to be no larger size than src {list(source)}"
            )


# ---------------------------------------------------------------- gather


@remembered_of_several
def gather(
    input: Any, dim: int, index: Any, *, sparse_grad: bool = False, out: Any = None
) -> Tensor:
    """``y[i, j] = x[index[i, j], j]`` for `dim` 0, and so on: elements by their place along an axis.

    An element that is taken several times gets the sum of the cotangents.

    Shapes: `index` has the axes of `input` and is no longer along the others than `dim`.
    Raises: RuntimeError: the sizes do not fit, or an index is out of bounds.

    >>> import compat as torch
    >>> torch.gather(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 1, torch.tensor([[1], [0]]))
    tensor([[2.],
            [3.]])
    """
    input, index = operand("gather", 1, "input", input), _places("gather", index, 3)
    axis, x, places = _aligned("gather", input, dim, index)
    shape = index._array.shape
    if not places.numel():
        nothing = own(x[(slice(0),) * len(x._array.shape)])
        return finish("gather", in_shape(nothing, shape, "GatherBackward0"), out, (input,))
    params = {"index": along_axis(places._array.shape, axis, "known")}
    result = record(gather_primitive, (x, places), params, "GatherBackward0")
    return finish("gather", in_shape(result, shape, "GatherBackward0"), out, (input,))


def take_along_dim(input: Any, indices: Any, dim: int | None = None, *, out: Any = None) -> Tensor:
    """`gather` whose sizes broadcast; of the flattened tensor without `dim`.

    Raises: RuntimeError: not as many axes, or an index is out of bounds.

    >>> import compat as torch
    >>> torch.take_along_dim(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1]]), 1)
    tensor([[2.],
            [4.]])
    """
    input = operand("take_along_dim", 1, "input", input)
    index = _places("take_along_dim", indices, 2)
    if dim is None:
        return gather(ravel(input), 0, ravel(index), out=out)
    shape, wanted = input._array.shape, index._array.shape
    if len(shape) != len(wanted):
        raise RuntimeError(
            f"torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {len(shape)} dimensions for input, and {len(wanted)} dimensions for indices"
        )
    axis = axis_of(len(shape), dim)
    rest = [(*s[:axis], 1, *s[axis + 1 :]) for s in (shape, wanted)]
    try:
        full = np.broadcast_shapes(*rest)
    except ValueError:
        raise mismatch(*rest) from None
    x = expand(input, (*full[:axis], shape[axis], *full[axis + 1 :]))
    places = expand(index, (*full[:axis], wanted[axis], *full[axis + 1 :]))
    require_bounds(places, -shape[axis], shape[axis], _out_of_range(axis, shape[axis]))
    n = shape[axis]
    places = through(lambda i: where(i < 0, i + n, i), places)
    params = {"index": along_axis(places._array.shape, axis)}
    result = record(gather_primitive, (x, places), params, "GatherBackward0")
    return finish("take_along_dim", result, out, (input,))


# ---------------------------------------------------------------- scatter


def _require_same_dtype(name: str, x: Any, src: Any) -> None:
    if dtype_of(x) is not dtype_of(src):
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")


def scatter(
    input: Any,
    dim: int,
    index: Any,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
    out: Any = None,
) -> Tensor:
    """A copy of `input` after ``x[index[i, j], j] = src[i, j]`` for `dim` 0, and so on.

    `src` is a tensor or a number. `reduce` is "add" or "multiply", into what is there.
    Derivative: of several values for one element only the last one gets a cotangent.
    Raises: RuntimeError: the sizes or dtypes do not fit, or an index is out of bounds.

    >>> import compat as torch
    >>> torch.scatter(torch.zeros(2, 2), 1, torch.tensor([[1], [0]]), 5.0)
    tensor([[0., 5.],
            [5., 0.]])
    """
    input, index = operand("scatter", 1, "input", input), _places("scatter", index, 3)
    src = value if src is None else src
    if src is None:
        raise TypeError("scatter() needs `src` or `value`")
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    is_value = is_number(src)
    if is_value:
        src = expand(tensor(element(input, src)), index._array.shape)
    _require_same_dtype("scatter", input, operand("scatter", 4, "src", src))
    if reduce is not None:
        how = {"add": "sum", "multiply": "prod"}[reduce]
        return scatter_reduce(input, dim, index, src, how, out=out)
    node = "ScatterBackward1" if is_value else "ScatterBackward0"
    axis, x, places, values = _aligned("scatter", input, dim, index, src)
    params = {"index": along_axis(places._array.shape, axis, "known")}
    values = _lead(values, places._array.shape)
    result = record(scatter_set, (x, values, places), params, node)
    return finish("scatter", in_shape(result, input._array.shape, node), out, (input, src))


def element(x: Any, value: Any) -> Any:
    return np.asarray(number_for(dtype_of(x), value), x._array.dtype)


@remembered_of_several
def scatter_add(input: Any, dim: int, index: Any, src: Any, *, out: Any = None) -> Tensor:
    """A copy of `input` after ``x[index[i, j], j] += src[i, j]`` for `dim` 0, and so on.

    Raises: RuntimeError: the sizes or dtypes do not fit, or an index is out of bounds.

    >>> import compat as torch
    >>> torch.scatter_add(torch.zeros(2), 0, torch.tensor([1, 1]), torch.tensor([1.0, 2.0]))
    tensor([0., 3.])
    """
    input, index = operand("scatter_add", 1, "input", input), _places("scatter_add", index, 3)
    src = operand("scatter_add", 4, "src", src)
    _require_same_dtype("scatter", input, src)
    result = _scatter_summed(input, dim, index, src, "ScatterAddBackward0")
    return finish("scatter_add", result, out, (input, src))


def _scatter_summed(input: Any, dim: int, index: Any, src: Any, node: str) -> Any:
    axis, x, places, values = _aligned("scatter_add", input, dim, index, src)
    index_of = along_axis(places._array.shape, axis, "known")
    params = {"shape": x._array.shape, "index": index_of}
    sums = record(scatter_add_primitive, (_lead(values, places._array.shape), places), params)
    return in_shape(record(add, (x, sums), {}, node), input._array.shape, node)


def scatter_reduce(
    input: Any,
    dim: int,
    index: Any,
    src: Any,
    reduce: str,
    *,
    include_self: bool = True,
    out: Any = None,
) -> Tensor:
    """A copy of `input` with the elements of `src` that `index` sends to one place reduced to one.

    `reduce` is "sum", "prod", "mean", "amax" or "amin"; what was there counts if `include_self`.
    Derivative: ties of maxima and minima share the cotangent equally.
    Raises: RuntimeError: the sizes or dtypes do not fit, or an index is out of bounds.

    >>> import compat as torch
    >>> at = torch.tensor([0, 0, 1])
    >>> torch.scatter_reduce(torch.ones(2), 0, at, torch.tensor([2.0, 3.0, 4.0]), "prod")
    tensor([6., 4.])
    """
    input, index = operand("scatter_reduce", 1, "input", input), _places("scatter_reduce", index, 3)
    src = operand("scatter_reduce", 4, "src", src)
    if reduce not in REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}."
        )
    _require_same_dtype("scatter", input, src)
    node = "ScatterReduceBackward0"
    if reduce == "sum" and include_self:
        result = _scatter_summed(input, dim, index, src, node)
    else:
        result = scatter_reduced(input, dim, index, src, reduce, include_self, node)
    return finish("scatter_reduce", result, out, (input, src))


REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def scatter_reduced(
    input: Any, dim: int, index: Any, src: Any, how: str, include_self: bool, node: str
) -> Any:
    axis, x, places, values = _aligned("scatter_reduce", input, dim, index, src)
    if not x.numel():
        return input.clone()
    shape = places._array.shape
    index_of, size = along_axis(shape, axis, "known"), x._array.shape
    target = through(lambda a: positions(np, size, index_of, (a,)).reshape(-1), places)
    result = reduced(
        ravel(x), ravel(_lead(values, shape)), target, how, include_self=include_self, node=node
    )
    return in_shape(result, input._array.shape, node)


# ---------------------------------------------------------------- places in the flattened tensor


def _flat_places(name: str, input: Any, index: Any) -> Any:
    """Raises: RuntimeError: no int64 tensor. IndexError: out of range."""
    index = operand(name, 2, "index", index)
    if index._array.dtype.name != "int64":
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {_type_word(dtype_of(index))}"
        )
    size = input.numel()
    require_bounds(
        index,
        -size,
        size,
        lambda i: IndexError(
            f"out of range: tried to access index {i} on a tensor of {size} elements."
        ),
    )
    return index


def take(input: Any, index: Any, *, out: Any = None) -> Tensor:
    """``y_i = x.flatten()[index_i]``, in the shape of `index`.

    An element that is taken several times gets the sum of the cotangents.

    Raises: IndexError: a place is out of range.

    >>> import compat as torch
    >>> torch.take(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([3, 0]))
    tensor([4., 1.])
    """
    input = operand("take", 1, "input", input)
    index = _flat_places("take", input, index)
    params = {"index": (ArrayIndex(0),)}
    result = record(gather_primitive, (ravel(input), index), params, "TakeBackward0")
    return finish("take", result, out, (input,))


def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Tensor:
    """A copy of `input` after ``x.flatten()[index_i] = source_i``, or ``+=`` if `accumulate`.

    Raises: IndexError: a place is out of range, or not as many of both.

    >>> import compat as torch
    >>> torch.zeros(2, 2).put(torch.tensor([3, 0]), torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 1.]])
    """
    input, source = operand("put", 1, "input", input), operand("put", 3, "source", source)
    index = _flat_places("put_", input, index)
    if dtype_of(input) is not dtype_of(source):
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{_type_word(dtype_of(input))} and source.dtype = {_type_word(dtype_of(source))}"
        )
    if source.numel() != index.numel():
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )
    flat, new, places = ravel(input), ravel(source), ravel(index)
    template = (ArrayIndex(0),)
    if accumulate:
        params = {"shape": flat._array.shape, "index": template}
        sums = record(scatter_add_primitive, (new, places), params)
        result = record(add, (flat, sums), {}, "PutBackward0")
    else:
        result = record(scatter_set, (flat, new, places), {"index": template}, "PutBackward0")
    return in_shape(result, input._array.shape, "PutBackward0")


class ScatterMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    gather = gather
    put = put
    put_ = inplace(put, apart=True)
    scatter = scatter
    scatter_ = inplace(scatter, apart=True)
    scatter_add = scatter_add
    scatter_add_ = inplace(scatter_add, apart=True)
    scatter_reduce = scatter_reduce
    scatter_reduce_ = inplace(scatter_reduce, apart=True)
    take = take
    take_along_dim = take_along_dim


__all__ = [
    "gather",
    "put",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "take",
    "take_along_dim",
]
