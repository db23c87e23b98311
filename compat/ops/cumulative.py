"""Along an axis: running sums, products and extremes, differences, integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.ops import cumulative as primitives
from funcgrad.ops import structural
from funcgrad.ops.arithmetic import divide
from funcgrad.ops.cast import cast, cast_constant
from funcgrad.ops.cumulative import part
from funcgrad.ops.index import along_axis, gather
from funcgrad.ops.logic import equal, isnan, logical_or
from funcgrad.ops.select import where

from .. import dtypes
from ..autograd.tape import record, through
from . import return_types
from ._apply import finish, inplace
from ._compose import as_before, at_least_1d, finish_named, not_implemented, require_real_floats
from ._operands import convert, dtype_of, operand, promoted
from .reduce import axis_of

# ---------------------------------------------------------------- sums and products


def _running(name: str, prim: Any, input: Any, dim: int, dtype: Any, out: Any) -> Any:
    input = operand(name, 1, "input", input)
    x = input
    if dtype is not None:
        x = convert(x, dtypes.as_dtype(dtype))
    elif dtype_of(x).category < 2:
        x = convert(x, dtypes.int64)
    axis = axis_of(len(x._array.shape), dim)
    params = {"axis": axis, "reverse": False}
    y = record(prim, (at_least_1d(x),), params, f"{name.title()}Backward0")
    y = as_before(y, x)
    if dtype is not None:
        y = convert(y, dtypes.as_dtype(dtype))  # NumPy's of small integers is wider
    return finish(name, y, out, (input,))


def cumsum(input: Any, dim: int, *, dtype: Any = None, out: Any = None) -> Any:
    """``y_i = sum_(j <= i) input_j`` along `dim`; integers give int64 unless `dtype` is given.

    >>> import compat as torch
    >>> torch.cumsum(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 3., 6.])
    """
    return _running("cumsum", primitives.cumsum, input, dim, dtype, out)


def cumprod(input: Any, dim: int, *, dtype: Any = None, out: Any = None) -> Any:
    """``y_i = prod_(j <= i) input_j`` along `dim`; integers give int64 unless `dtype` is given.

    Zeros are nothing special: the derivative needs no division.

    >>> import compat as torch
    >>> torch.cumprod(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 2., 6.])
    """
    return _running("cumprod", primitives.cumprod, input, dim, dtype, out)


def logcumsumexp(input: Any, dim: int, *, out: Any = None) -> Any:
    """``y_i = log(sum_(j <= i) exp(input_j))`` along `dim`, without overflow.

    Raises: NotImplementedError: integers, complex numbers.

    >>> import compat as torch
    >>> torch.logcumsumexp(torch.tensor([0.0, 0.0]), dim=0)
    tensor([0.0000, 0.6931])
    """
    x = operand("logcumsumexp", 1, "input", input)
    require_real_floats("logcumsumexp_out_cpu", x)
    return _running("logcumsumexp", primitives.logcumsumexp, x, dim, None, out)


# ---------------------------------------------------------------- extremes


def _latest(x: Any, /, *, axis: int, running: Any) -> Any:
    """The last place so far of what a running extreme shows; of NaN once there is one."""
    best = running(x, axis=axis, reverse=False)
    places = np.arange(x.shape[axis]).reshape((-1,) + (1,) * (x.ndim - axis - 1))
    found = where(logical_or(equal(x, best), isnan(x)), places, 0)
    return primitives.cummax(found, axis=axis, reverse=False)


def _running_extreme(name: str, running: Any, input: Any, dim: int, out: Any) -> Any:
    x = operand(name, 1, "input", input)
    if dtype_of(x).category == 3:
        raise not_implemented(f"{name}_cpu", x)
    axis = axis_of(len(x._array.shape), dim)
    rows = at_least_1d(x)
    places = through(_latest, rows.detach(), axis=axis, running=running)
    index = along_axis(rows._array.shape, axis, "known")
    values = record(gather, (rows, places), {"index": index}, f"{name.title()}Backward0")
    found = as_before(values, x), as_before(places, x)
    return finish_named(name, getattr(return_types, name), found, out, (x,))


def cummax(input: Any, dim: int, *, out: Any = None) -> Any:
    """``y_i = max_(j <= i) input_j`` along `dim`, and where: of equal elements the last so far.

    NaN is larger than all. The gradient goes to the elements whose indices are returned.

    >>> import compat as torch
    >>> torch.cummax(torch.tensor([1.0, 3.0, 2.0]), dim=0)
    torch.return_types.cummax(
    values=tensor([1., 3., 3.]),
    indices=tensor([0, 1, 1]))
    """
    return _running_extreme("cummax", primitives.cummax, input, dim, out)


def cummin(input: Any, dim: int, *, out: Any = None) -> Any:
    """``y_i = min_(j <= i) input_j`` along `dim`, and where: of equal elements the last so far.

    NaN is smaller than all. The gradient goes to the elements whose indices are returned.

    >>> import compat as torch
    >>> torch.cummin(torch.tensor([3.0, 1.0, 2.0]), dim=0)
    torch.return_types.cummin(
    values=tensor([3., 1., 1.]),
    indices=tensor([0, 1, 1]))
    """
    return _running_extreme("cummin", primitives.cummin, input, dim, out)


# ---------------------------------------------------------------- differences


def diff(
    input: Any,
    n: int = 1,
    dim: int = -1,
    prepend: Any = None,
    append: Any = None,
    *,
    out: Any = None,
) -> Any:
    """``y_i = input_(i + 1) - input_i`` along `dim`, `n` times over.

    `prepend` and `append` are put before and after first. Booleans: whether the two differ.

    Raises: RuntimeError: no dimension, `n` is negative, or the ends do not fit.

    >>> import compat as torch
    >>> torch.diff(torch.tensor([1.0, 3.0, 6.0]))
    tensor([2., 3.])
    """
    x = operand("diff", 1, "input", input)
    ndim = len(x._array.shape)
    if not ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = axis_of(ndim, dim)
    ends = {
        name: operand("diff", 4, name, e)
        for name, e in (("prepend", prepend), ("append", append))
        if e is not None
    }
    for e in ends.values():
        _require_fit(x._array.shape, e._array.shape, axis)
    if n == 0 and not ends:
        found = x._array.dtype
        y = record(cast if found.kind in "fc" else cast_constant, (x,), {"dtype": found})
    else:
        x, *others = promoted((x, *ends.values()))
        y = through(fnp.diff, x, n=n, axis=axis, **dict(zip(ends, others, strict=True)))
    return finish("diff", y, out, (x,))


def _require_fit(shape: tuple[int, ...], end: tuple[int, ...], axis: int) -> None:
    if len(shape) != len(end):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for i, (m, k) in enumerate(zip(shape, end, strict=True)):
        if i != axis and m != k:
            raise RuntimeError(
                f"diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({i}) = {m}, but got "
                f"tensor.size({i}) = {k}"
            )


# ---------------------------------------------------------------- integrals


def _areas(y: Any, x: Any, /, *, axis: int, dx: float) -> Any:
    """Twice the area between neighbours, of an array: their sum times their distance."""
    n = y.shape[axis]
    both = part(y, axis, 1) + part(y, axis, 0, max(n - 1, 0))
    if x is None:
        return both * dx
    if x.ndim == 1:
        x = x.reshape((-1,) + (1,) * (y.ndim - axis - 1))
    along = axis - y.ndim + x.ndim
    return both * (part(x, along, 1) - part(x, along, 0, max(x.shape[along] - 1, 0)))


def _integrand(name: str, y: Any, x: Any, dx: Any, dim: int) -> tuple[Any, int]:
    """Twice the areas between neighbours, and the axis they lie along."""
    y = operand(name, 1, "y", y)
    if x is not None and dx is not None:
        raise TypeError(
            f"{name}() received an invalid combination of arguments: give x or dx, not both"
        )
    if not y._array.shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    axis = axis_of(len(y._array.shape), dim)
    given = (y,) if x is None else (y, operand(name, 2, "x", x))
    for letter, t in zip("yx", given, strict=False):
        if dtype_of(t).category == 0:
            raise RuntimeError(
                f"{name}: received a bool input for `{letter}`, but bool is not supported"
            )
    y, *rest = promoted(given, floating=True)
    points = rest[0] if rest else None
    if points is not None:
        lengths = points._array.shape
        along = axis if len(lengths) == y._array.ndim else len(lengths) - (y._array.ndim - axis)
        if lengths[0 if len(lengths) == 1 else along] != y._array.shape[axis]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
    return through(_areas, y, points, axis=axis, dx=1.0 if dx is None else dx), axis


def trapezoid(y: Any, x: Any = None, *, dx: float | None = None, dim: int = -1) -> Any:
    """``sum_i (x_(i + 1) - x_i) (y_i + y_(i + 1)) / 2`` along `dim`; `dx` apart without `x`.

    Raises: RuntimeError: not one `x` for each `y`, or booleans. TypeError: both `x` and `dx`.

    >>> import compat as torch
    >>> torch.trapezoid(torch.tensor([1.0, 2.0, 3.0]))
    tensor(4.)
    """
    areas, axis = _integrand("trapezoid", y, x, dx, dim)
    total = record(structural.sum, (areas,), {"axis": (axis,)})
    return record(divide, (total, 2.0), None, "DivBackward0")


def trapz(y: Any, x: Any = None, *, dx: float | None = None, dim: int = -1) -> Any:
    """`trapezoid` under its old name.

    >>> import compat as torch
    >>> torch.trapz(torch.tensor([1.0, 2.0, 3.0]))
    tensor(4.)
    """
    return trapezoid(y, x, dx=dx, dim=dim)


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: float | None = None, dim: int = -1) -> Any:
    """`trapezoid` up to every point but the first.

    >>> import compat as torch
    >>> torch.cumulative_trapezoid(torch.tensor([1.0, 2.0, 3.0]))
    tensor([1.5000, 4.0000])
    """
    areas, axis = _integrand("cumulative_trapezoid", y, x, dx, dim)
    return record(divide, (cumsum(areas, axis), 2.0), None, "DivBackward0")


class CumulativeMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    cummax = cummax
    cummin = cummin
    cumprod = cumprod
    cumprod_ = inplace(cumprod)
    cumsum = cumsum
    cumsum_ = inplace(cumsum)
    diff = diff
    logcumsumexp = logcumsumexp


__all__ = [
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "diff",
    "logcumsumexp",
    "trapezoid",
    "trapz",
]
