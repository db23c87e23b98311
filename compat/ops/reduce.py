"""Reductions: sums, means, extrema, norms, variances; `dim` is an axis, several, or None for all."""

from __future__ import annotations

from typing import Any

from funcgrad.ops import structural

from .. import dtypes
from ..autograd import printed
from ..autograd.tape import record
from ._apply import finish
from ._operands import convert, dtype_of, operand


def axes_of(name: str, ndim: int, dim: Any) -> tuple[int, ...]:
    """The axes that `dim` names, in order and not negative; None and () are all of them.

    Raises: IndexError: there is no such axis. RuntimeError: one is named twice.
    """
    if dim is None or (isinstance(dim, tuple | list) and not dim):
        return tuple(range(ndim))
    found = []
    for d in dim if isinstance(dim, tuple | list) else (dim,):
        axis = axis_of(ndim, d)
        if axis in found:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
        found.append(axis)
    return tuple(sorted(found)) if ndim else ()


def axis_of(ndim: int, dim: int) -> int:
    """`dim`, counted from the front.

    Raises: IndexError: there is no such axis.
    """
    n = max(ndim, 1)
    if not -n <= dim < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim % n


def keep(x: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    """A reduced tensor with the axes put back, of length 1, if `keepdim`."""
    return record(structural.expand_dims, (x,), {"axis": axes}) if keepdim and axes else x


@printed.total(structural.sum, "SumBackward0")
def sum(
    input: Any,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """The sum of the elements, along `dim`.

    >>> import compat as torch
    >>> torch.sum(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([4., 6.])
    """
    input = operand("sum", 1, "input", input)
    x = input
    if dtype is not None:
        x = convert(x, dtypes.as_dtype(dtype))
    elif dtype_of(x).category < 2:
        x = convert(x, dtypes.int64)
    axes = axes_of("sum", len(x._array.shape), dim)
    node = "SumBackward0" if dim is None else "SumBackward1"
    result = keep(record(structural.sum, (x,), {"axis": axes}, node), axes, keepdim)
    return finish("sum", result, out, (input,))


class ReduceMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    sum = sum


__all__ = ["sum"]
