"""Runs of neighbours into one element each: `segment_reduce`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.base import tensor
from ._axes import axis_of
from ._compose import not_implemented, require_real_floats, values_of
from ._operands import dtype_of, operand
from ._segment import reduced
from .create import full
from .masks import where

if TYPE_CHECKING:
    from .._tensor import Tensor

_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
_WORDS = {"max": "amax", "min": "amin", "mean": "sum"}


def _lengths(data: Any, lengths: Any, offsets: Any) -> np.ndarray:
    """How long the runs are.

    Raises: RuntimeError: neither is given. NotImplementedError: they are no integers.
    """
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    name, given = ("offsets", offsets) if lengths is None else ("lengths", lengths)
    x = operand("segment_reduce", 2, name, given)
    if dtype_of(x).name not in ("int32", "int64"):
        raise not_implemented(f"_segment_reduce_{name}_cpu_kernel1", x)
    values = np.asarray(values_of("segment_reduce", x))
    return np.diff(values, axis=-1) if lengths is None else values


def _check(data: Any, lengths: np.ndarray, axis: int, unsafe: bool) -> None:
    """Raises: RuntimeError: the lengths do not fit the data."""
    shape = tuple(data._array.shape)
    if axis != lengths.ndim - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of lengths but got {axis}."
        )
    if lengths.ndim > len(shape) or lengths.shape[:-1] != shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): lengths of shape {list(lengths.shape)} do not fit data of shape "
            f"{list(shape)}: all axes but the last must be those of the data"
        )
    if (lengths < 0).any():
        raise RuntimeError("lengths contains negative value!")
    totals = lengths.sum(-1)
    if (totals > shape[axis]).any() or (not unsafe and (totals != shape[axis]).any()):
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to "
            "data.size(lengths.dim()-1) when !unsafe."
        )


def segment_reduce(
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    """The "sum", "mean", "max", "min" or "prod" of runs of neighbours along an axis of `data`.

    `lengths` says how long the runs are, or `offsets` where they begin and end; with axes before the
    last one they say so for each row. `initial` counts as one element more, but not for the length
    that a mean is divided by. `unsafe`: elements may be left over.

    Shapes: ``(*a, n, *b), (*a, s) -> (*a, s, *b)``, where `axis` is the number of axes in a.
    Derivative: equal maxima and minima share it.
    Raises: RuntimeError: lengths that do not fit. NotImplementedError: other dtypes than floats.

    >>> import compat as torch
    >>> torch.segment_reduce(torch.tensor([1.0, 2.0, 4.0]), "sum", lengths=torch.tensor([1, 2]))
    tensor([1., 6.])
    """
    if reduce not in _NEUTRAL:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    x = operand("segment_reduce", 1, "data", data)
    sizes = _lengths(x, lengths, offsets)
    require_real_floats("_segment_reduce_cpu", x)
    _check(x, sizes, axis_of(len(x._array.shape), axis), unsafe)
    start = _NEUTRAL[reduce] if initial is None else float(initial)
    found = _of_runs(x, sizes, _WORDS.get(reduce, reduce), start)
    if reduce != "mean":
        return found
    count = sizes.reshape(sizes.shape + (1,) * (len(x._array.shape) - sizes.ndim))
    empty = tensor((count == 0) & (initial is not None))  # the initial value then, undivided
    return found / where(empty, 1.0, tensor(count).to(x.dtype))


def _of_runs(x: Any, sizes: np.ndarray, how: str, start: float) -> Any:
    """`x`, whose first axes are those of `sizes`, reduced along the last of them."""
    shape, axis = tuple(x._array.shape), sizes.ndim - 1
    rest = shape[axis + 1 :]
    width = int(np.prod(rest))
    taken = np.arange(shape[axis]) < sizes.sum(-1, keepdims=True)  # what is left over, is not
    runs = np.repeat(np.arange(sizes.size), sizes.ravel())
    target = (runs[:, None] * width + np.arange(width)).ravel()
    source = x.reshape(-1, width)[tensor(taken.ravel())].reshape(-1)
    begun = full((sizes.size * width,), start, dtype=x.dtype)
    node = "SegmentReduceBackward0"
    y = reduced(begun, source, tensor(target), how, include_self=True, node=node)
    return y.reshape(*sizes.shape, *rest)


__all__ = ["segment_reduce"]
