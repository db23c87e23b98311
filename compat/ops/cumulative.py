"""Along an axis: running sums, products and extremes, differences, integrals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.ops import cumulative as primitives
from funcgrad.ops import structural
from funcgrad.ops.arithmetic import divide
from funcgrad.ops.cast import cast, cast_constant
from funcgrad.ops.complex import imag, real
from funcgrad.ops.cumulative import part
from funcgrad.ops.exponential import exp, log
from funcgrad.ops.index import along_axis, gather
from funcgrad.ops.join import concatenate
from funcgrad.ops.logic import equal, greater_equal, isfinite, isnan, less, logical_and, logical_or
from funcgrad.ops.rounding import rint
from funcgrad.ops.select import stop_gradient, where

from .. import dtypes
from ..autograd.base import TensorBase
from ..autograd.remembered import remembered
from ..autograd.tape import record, through
from . import return_types
from ._apply import check_broadcast, finish, inplace
from ._axes import axis_of
from ._compose import (
    as_before,
    at_least_1d,
    composed,
    finish_named,
    not_implemented,
    require_real_floats,
)
from ._layout import axes_in, in_order
from ._operands import convert, dtype_of, in_dtype_of, is_number, operand, promoted

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- sums and products


def _running(name: str, prim: Any, input: Any, dim: int, dtype: Any, out: Any) -> Any:
    input, dtype = operand(name, 1, "input", input), in_dtype_of(out, dtype)
    x = input
    if dtype is not None:
        x = convert(x, dtypes.as_dtype(dtype))
    elif dtype_of(x).category < 2:
        x = convert(x, dtypes.int64)
    axis = axis_of(len(x._array.shape), dim)
    params = {"axis": axis, "reverse": False}
    y = record(prim, (at_least_1d(x),), params, f"{name.title()}Backward0")
    y = as_before(in_order(y), x)
    if dtype is not None:
        y = convert(y, dtypes.as_dtype(dtype))  # NumPy's of small integers is wider
    return finish(name, y, out, (input,))


@remembered
def cumsum(input: Any, dim: int, *, dtype: Any = None, out: Any = None) -> Tensor:
    """``y_i = sum_(j <= i) input_j`` along `dim`; integers give int64 unless `dtype` is given.

    >>> import compat as torch
    >>> torch.cumsum(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 3., 6.])
    """
    return _running("cumsum", primitives.cumsum, input, dim, dtype, out)


@remembered
def cumprod(input: Any, dim: int, *, dtype: Any = None, out: Any = None) -> Tensor:
    """``y_i = prod_(j <= i) input_j`` along `dim`; integers give int64 unless `dtype` is given.

    Zeros are nothing special: the derivative needs no division.

    >>> import compat as torch
    >>> torch.cumprod(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 2., 6.])
    """
    return _running("cumprod", primitives.cumprod, input, dim, dtype, out)


@remembered
def logcumsumexp(input: Any, dim: int, *, out: Any = None) -> Tensor:
    """``y_i = log(sum_(j <= i) exp(input_j))`` along `dim`, without overflow.

    Of complex numbers each imaginary part is near that of the larger of the two it is the sum of.

    Raises: NotImplementedError: integers.

    >>> import compat as torch
    >>> torch.logcumsumexp(torch.tensor([0.0, 0.0]), dim=0)
    tensor([0.0000, 0.6931])
    """
    x = operand("logcumsumexp", 1, "input", input)
    if dtype_of(x).category == 3:
        axis = axis_of(len(x._array.shape), dim)
        rows = at_least_1d(x)
        y = composed("LogcumsumexpBackward0", _complex_logcumsumexp, rows, axis=axis)
        return finish("logcumsumexp", as_before(y, x), out, (x,))
    require_real_floats("logcumsumexp_out_cpu", x)
    y = _running("logcumsumexp", primitives.logcumsumexp, x, dim, None, None)
    return finish("logcumsumexp", y, out, (x,))


def _complex_logcumsumexp(x: Any, /, *, axis: int) -> Any:
    """The sums are of numbers scaled by those of the absolute values, which only grow.

    Infinite ones are added up as if they were equally large: what is finite is nothing beside them.
    """
    n = x.shape[axis]
    if not n:
        return x + 0
    size = stop_gradient(real(x))
    x = where(equal(size, -math.inf), complex(-math.inf), x)
    top = stop_gradient(primitives.logcumsumexp(size, axis=axis, reverse=False))
    finite, endless = isfinite(top), equal(top, math.inf)
    scale = where(finite, top, 0.0)
    of_one = where(equal(size, math.inf), 1j * imag(x), x - scale)
    of_one = where(logical_and(endless, less(size, math.inf)), complex(-math.inf), of_one)
    decay = where(
        part(finite, axis, 0, n - 1), exp(part(scale, axis, 0, n - 1) - part(scale, axis, 1)), 0.0
    )
    decay = where(part(endless, axis, 1), part(endless, axis, 0, n - 1), decay)
    sums = primitives.recurrence(decay.astype(x.dtype), exp(of_one), axis=axis, reverse=False)
    y = log(sums) + where(endless, top, scale)
    return y + 2j * math.pi * _turns(stop_gradient(y), stop_gradient(x), axis)


def _turns(y: Any, x: Any, axis: int) -> Any:
    """How often the angles have gone round, if each follows that of the larger of its two terms."""
    n = x.shape[axis]
    later, before = part(y, axis, 1), part(y, axis, 0, n - 1)
    grows = greater_equal(real(before), real(part(x, axis, 1)))
    own = imag(part(x, axis, 1))
    step = where(grows, _within(imag(later) - imag(before)), own + _within(imag(later) - own))
    steps = concatenate(imag(part(x, axis, 0, 1)), step, axis=axis)
    angle = primitives.recurrence(grows.astype(steps.dtype), steps, axis=axis, reverse=False)
    return rint((angle - imag(y)) / (2 * math.pi)).astype(x.dtype)


def _within(angle: Any) -> Any:
    """The angle between -pi and pi."""
    return angle - 2 * math.pi * rint(angle / (2 * math.pi))


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
) -> Tensor:
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
    if n == 0:  # whatever the ends are
        found = x._array.dtype
        y = record(cast if found.kind in "fcV" else cast_constant, (x,), {"dtype": found})
    else:
        x, *others = promoted((x, *ends.values()))
        y = through(fnp.diff, x, n=n, axis=axis, **dict(zip(ends, others, strict=True)))
    return finish("diff", y, out, (x,))


def gradient(
    input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Central differences along each of `dim`, one-sided at the ends: derivatives from samples.

    `spacing` is the distance of the samples, one for each axis, or vectors of coordinates.

    Raises: RuntimeError: an axis is too short, or the spacings do not fit.

    >>> import compat as torch
    >>> torch.gradient(torch.tensor([1.0, 2.0, 4.0]))
    (tensor([1.0000, 1.5000, 2.0000]),)
    """
    x = operand("gradient", 1, "input", input)
    shape = x._array.shape
    dims: Any = range(len(shape)) if dim is None else np.atleast_1d(dim)
    axes = axes_in(len(shape), dims)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if dtype_of(x).category < 2:
        _require_differences(x)
        x = convert(x, dtypes.get_default_dtype())
    if any(shape[a] <= edge_order for a in axes):
        raise RuntimeError(
            "torch.gradient expected each dimension size to be at least edge_order+1"
        )
    steps = _spacings(spacing, axes, dim, len(shape))
    return tuple(
        _along_one(x, h, axis=a, edge_order=edge_order) for a, h in zip(axes, steps, strict=True)
    )


def _along_one(x: Any, h: Any, **options: Any) -> Any:
    """The differences along one axis, in the common dtype of the samples and the distances."""
    if isinstance(h, TensorBase):
        x, h = promoted((x, h))
    elif isinstance(h, complex):
        x = convert(x, dtypes.promote_types(dtype_of(x), dtypes.complex64))
    return through(fnp.gradient, x, h, **options)


def _require_differences(x: Any) -> None:
    """Raises: RuntimeError: the dtype is one that PyTorch does not subtract here."""
    if dtype_of(x).category == 0:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if dtype_of(x) is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")


def _spacings(spacing: Any, axes: tuple[int, ...], dim: Any, ndim: int) -> list[Any]:
    """The distance, or the coordinates, along each of the axes.

    Raises: RuntimeError: not as many as axes, or coordinates that are no vectors.
    """
    if isinstance(spacing, TensorBase) and not spacing._array.shape:
        spacing = spacing.item()  # type: ignore[attr-defined]
    if spacing is None or is_number(spacing):
        return [1 if spacing is None else spacing] * len(axes)
    if not isinstance(spacing, tuple | list):
        raise TypeError(
            f"gradient() received an invalid combination of arguments: spacing is a number, a list "
            f"of numbers or of vectors, not {type(spacing).__name__}"
        )
    if len(spacing) != len(axes):
        wanted = (
            f"a list of length equal to 'self.dim() = {ndim}', since dim argument was not given, but "
            f"got a list of length {len(spacing)}"
            if dim is None
            else f"it's spacing and dim arguments to have the same length, but got a spacing "
            f"argument of length {len(spacing)} and a dim argument of length {len(axes)}."
        )
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar or {wanted}"
        )
    for h in spacing:
        if isinstance(h, TensorBase) and len(h._array.shape) != 1:
            raise RuntimeError(
                f"torch.gradient expected each element of spacing to have one dimension, but got an "
                f"element with {len(h._array.shape)} dimensions!"
            )
    return list(spacing)


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
    if isinstance(dx, bool | complex | np.bool):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")
    y, *rest = promoted(given, floating=True)
    points = rest[0] if rest else None
    if points is not None:
        lengths = points._array.shape
        along = axis if len(lengths) == y._array.ndim else len(lengths) - (y._array.ndim - axis)
        if lengths[0 if len(lengths) == 1 else along] != y._array.shape[axis]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        if len(lengths) > 1:
            check_broadcast(y, points)
    return through(_areas, y, points, axis=axis, dx=1.0 if dx is None else dx), axis


def trapezoid(y: Any, x: Any = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """``sum_i (x_(i + 1) - x_i) (y_i + y_(i + 1)) / 2`` along `dim`; `dx` apart without `x`.

    Raises: RuntimeError: not one `x` for each `y`, or booleans. TypeError: both `x` and `dx`.

    >>> import compat as torch
    >>> torch.trapezoid(torch.tensor([1.0, 2.0, 3.0]))
    tensor(4.)
    """
    areas, axis = _integrand("trapezoid", y, x, dx, dim)
    total = record(structural.sum, (areas,), {"axis": (axis,)})
    return record(divide, (total, 2.0), None, "DivBackward0")


def trapz(y: Any, x: Any = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """`trapezoid` under its old name.

    >>> import compat as torch
    >>> torch.trapz(torch.tensor([1.0, 2.0, 3.0]))
    tensor(4.)
    """
    return trapezoid(y, x, dx=dx, dim=dim)


def cumulative_trapezoid(
    y: Any, x: Any = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
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
    "gradient",
    "logcumsumexp",
    "trapezoid",
    "trapz",
]
