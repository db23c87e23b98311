"""Reductions: sums, means, products, variances, extremes, counts.

`dim` is an axis, several, or None for all. Norms are in `norm.py`, medians and quantiles in
`statistics.py`, `logsumexp` in `softmax.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

from funcgrad.ops import arithmetic, select, structural
from funcgrad.ops import reduce as reductions
from funcgrad.ops.logic import isnan, logical_not
from funcgrad.ops.structural import reshape

from .. import dtypes
from ..autograd import printed, sites
from ..autograd.base import TensorBase
from ..autograd.remembered import remembered
from ..autograd.tape import record
from . import return_types
from ._apply import _type_word, finish, pointwise
from ._axes import axes_of, require_elements, whole
from ._compose import at_least_1d, finish_named, keep, not_implemented, pick
from ._fused import fused
from ._numpy_names import accepting
from ._operands import convert, dtype_of, in_dtype_of, operand

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- sums, means, products


def _count(x: TensorBase, axes: tuple[int, ...]) -> int:
    return math.prod(x._array.shape[a] for a in axes)


def _summand(x: Any, dtype: Any) -> Any:
    """The operand of a sum or product: integers are added up as int64, unless `dtype` is given."""
    if dtype is not None:
        return convert(x, dtypes.as_dtype(dtype))
    return convert(x, dtypes.int64) if dtype_of(x).category < 2 else x


@printed.total(structural.sum, "SumBackward0")
@accepting
@remembered
def sum(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """``sum_i input_i``, along `dim`; integers give int64 unless `dtype` is given.

    >>> import compat as torch
    >>> torch.sum(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([4., 6.])
    """
    input, dtype = operand("sum", 1, "input", input), in_dtype_of(out, dtype)
    x = _summand(input, dtype)
    axes = axes_of("sum", len(x._array.shape), dim)
    node = "SumBackward0" if dim is None else "SumBackward1"
    result = keep(record(structural.sum, (x,), {"axis": axes}, node), axes, keepdim)
    return finish("sum", _narrowed(result, dtype), out, (input,))


def _narrowed(x: Any, dtype: Any) -> Any:
    """A sum in the dtype that was asked for: NumPy's of small integers is in a wider one."""
    return x if dtype is None else convert(x, dtypes.as_dtype(dtype))


def nansum(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """``sum_i input_i`` of what is not NaN, along `dim`; NaN gets no gradient.

    >>> import compat as torch
    >>> torch.nansum(torch.tensor([1.0, torch.nan, 2.0]))
    tensor(3.)
    """
    input, dtype = operand("nansum", 1, "input", input), in_dtype_of(out, dtype)
    if dtype_of(input).category == 3:
        raise RuntimeError("nansum on CPU does not support complex inputs; sum the parts")
    x = _summand(input, dtype)
    if dtype_of(x).category == 2:
        x = record(select.where, (record(isnan, (x,)), 0.0, x))
    axes = axes_of("nansum", len(x._array.shape), dim)
    result = keep(record(structural.sum, (x,), {"axis": axes}, "NansumBackward0"), axes, keepdim)
    return finish("nansum", _narrowed(result, dtype), out, (input,))


@printed.total(reductions.mean, "MeanBackward0")
@accepting
@remembered
def mean(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """``sum_i input_i / n``, along `dim`; NaN of nothing.

    Raises: RuntimeError: integers; `dtype` makes them floats.

    >>> import compat as torch
    >>> torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)
    tensor([2., 3.])
    """
    input = operand("mean", 1, "input", input)
    wide = in_dtype_of(out, dtype)
    if dtype_of(input).category > 1 and wide is not None and dtypes.as_dtype(wide).category > 1:
        dtype = wide
    x = input if dtype is None else convert(input, dtypes.as_dtype(dtype))
    if dtype_of(x).category < 2:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {'Input' if dtype is None else 'Optional'} "
            f"dtype must be either a floating point or complex dtype. Got: "
            f"{_type_word(dtype_of(x))}. Convert the tensor, for example with x.float()."
        )
    axes = axes_of("mean", len(x._array.shape), dim)
    node = "MeanBackward0" if dim is None else "MeanBackward1"
    if _count(x, axes):
        y = record(reductions.mean, (x,), {"axis": axes}, node)
    else:  # NumPy would warn
        y = record(arithmetic.divide, (record(structural.sum, (x,), {"axis": axes}), 0.0), {}, node)
    return finish("mean", keep(y, axes, keepdim), out, (input,))


def nanmean(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The mean of what is not NaN, along `dim`; NaN if there is nothing else.

    Raises: RuntimeError: integers.

    >>> import compat as torch
    >>> torch.nanmean(torch.tensor([1.0, torch.nan, 2.0]))
    tensor(1.5000)
    """
    input = operand("nanmean", 1, "input", input)
    if dtype_of(input).category < 2:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got "
            f"{_type_word(dtype_of(input))}"
        )
    in_dtype_of(out, dtype)
    total = nansum(input, dim, keepdim, dtype=dtype)
    here = record(logical_not, (record(isnan, (input,)),))
    numbers = convert(count_nonzero(here, dim), dtype_of(total))
    numbers = keep(numbers, axes_of("nanmean", len(input._array.shape), dim), keepdim)
    result = record(arithmetic.divide, (total, numbers), None, "DivBackward0")
    return finish("nanmean", result, out, (input,))


@remembered
def prod(
    input: Any, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """``prod_i input_i``, along `dim`, one axis; integers give int64 unless `dtype` is given.

    Zeros are nothing special: the derivative is the product of the others.

    >>> import compat as torch
    >>> torch.prod(torch.tensor([2.0, 3.0]))
    tensor(6.)
    """
    input, dtype = operand("prod", 1, "input", input), in_dtype_of(out, dtype)
    x = _summand(input, dtype)
    axes = axes_of("prod", len(x._array.shape), None if dim is None else whole(dim))
    node = "ProdBackward0" if dim is None else "ProdBackward1"
    result = keep(fused(node, reductions.prod, x, axis=axes), axes, keepdim)
    return finish("prod", _narrowed(result, dtype), out, (input,))


# ---------------------------------------------------------------- variances


def _spread(
    name: str, x: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any
) -> tuple[Any, Any, tuple[int, ...]]:
    """The variance or deviation, the operand and the axes; PyTorch's old and new arguments."""
    x = operand(name, 1, "input", x)
    if isinstance(dim, bool):  # var(x, unbiased)
        dim, unbiased = None, dim
    if unbiased is not None:
        if correction is not None:
            raise TypeError(
                f"{name}() received an invalid combination of arguments: unbiased= is "
                f"correction=1 or 0; give one of them"
            )
        correction = int(unbiased)
    correction = 1 if correction is None else correction
    if dtype_of(x).category < 2:
        raise RuntimeError(f"{name}: std and var only support floating point and complex dtypes")
    axes = axes_of(name, len(x._array.shape), dim)
    which = name.removesuffix("_mean")
    node = {"var": "VarBackward0", "std": "StdBackward0"}.get(name, f"{which.title()}MeanBackward0")
    count = _count(x, axes)
    if count > correction:
        prim = reductions.var if which == "var" else reductions.std
        y = record(prim, (x,), {"axis": axes, "correction": correction}, node)
    else:
        sites.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            f"reduction factor (input numel divided by output numel)."
        )
        y = _without_freedom(x, axes, which, count, node)
    return keep(y, axes, keepdim), x, axes


def _without_freedom(x: Any, axes: tuple[int, ...], which: str, count: int, node: str) -> Any:
    """What is divided by 0 degrees of freedom: infinite, NaN where all elements are equal."""
    if not count:
        return record(
            arithmetic.multiply, (record(reductions.norm2, (x,), {"axis": axes}), math.nan)
        )
    prim = reductions.var if which == "var" else reductions.std
    y = record(prim, (x,), {"axis": axes, "correction": 0})
    return record(arithmetic.multiply, (y, math.inf), None, node)


@remembered
def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Any = None,
) -> Tensor:
    """``sum_i |input_i - mean|^2 / (n - correction)``, along `dim`; `correction` is 1.

    `unbiased` is the old name: True is 1 and False is 0. A complex tensor has a real variance.

    >>> import compat as torch
    >>> torch.var(torch.tensor([1.0, 3.0]))
    tensor(2.)
    """
    y, x, _ = _spread("var", input, dim, unbiased, keepdim, correction)
    return finish("var", y, out, (x,))


@remembered
def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Any = None,
) -> Tensor:
    """The root of `var`; where all elements are equal its derivative is 0.

    >>> import compat as torch
    >>> torch.std(torch.tensor([1.0, 3.0]), correction=0)
    tensor(1.)
    """
    y, x, _ = _spread("std", input, dim, unbiased, keepdim, correction)
    return finish("std", y, out, (x,))


def var_mean(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """`var` and `mean`.

    >>> import compat as torch
    >>> torch.var_mean(torch.tensor([1.0, 3.0]))
    (tensor(2.), tensor(2.))
    """
    y, x, axes = _spread("var_mean", input, dim, unbiased, keepdim, correction)
    return y, mean(x, axes, keepdim)


def std_mean(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """`std` and `mean`.

    >>> import compat as torch
    >>> torch.std_mean(torch.tensor([1.0, 3.0]), correction=0)
    (tensor(1.), tensor(2.))
    """
    y, x, axes = _spread("std_mean", input, dim, unbiased, keepdim, correction)
    return y, mean(x, axes, keepdim)


# ---------------------------------------------------------------- extremes


def _extreme(name: str, prim: Any, x: Any, dim: Any, keepdim: bool, kernel: str, node: str) -> Any:
    """The largest or smallest elements along the axes; equal ones share the gradient."""
    if dtype_of(x).category == 3:
        raise not_implemented(kernel, x)
    require_elements(name, x, dim)
    axes = axes_of(name, len(x._array.shape), dim)
    return keep(record(prim, (x,), {"axis": axes}, node), axes, keepdim)


@remembered
def amax(input: Any, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The largest element, along `dim`; equal ones share the gradient.

    Raises: IndexError, RuntimeError: the maximum of nothing.

    >>> import compat as torch
    >>> torch.amax(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
    tensor([2., 4.])
    """
    x = operand("amax", 1, "input", input)
    y = _extreme("amax", reductions.max, x, dim, keepdim, "max_values_cpu", "AmaxBackward0")
    return finish("amax", y, out, (x,))


@remembered
def amin(input: Any, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The smallest element, along `dim`; equal ones share the gradient.

    Raises: IndexError, RuntimeError: the minimum of nothing.

    >>> import compat as torch
    >>> torch.amin(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1)
    tensor([1., 3.])
    """
    x = operand("amin", 1, "input", input)
    y = _extreme("amin", reductions.min, x, dim, keepdim, "min_values_cpu", "AminBackward0")
    return finish("amin", y, out, (x,))


def aminmax(input: Any, *, dim: int | None = None, keepdim: bool = False, out: Any = None) -> Any:
    """The smallest and the largest element, along `dim`; equal ones share the gradient.

    >>> import compat as torch
    >>> torch.aminmax(torch.tensor([1.0, 3.0, 2.0]))
    torch.return_types.aminmax(
    min=tensor(1.),
    max=tensor(3.))
    """
    x = operand("aminmax", 1, "input", input)
    if dim is None and 0 in x._array.shape:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity."
        )
    found = [
        _extreme("aminmax", prim, x, dim, keepdim, "aminmax", "AminmaxBackward0")
        for prim in (reductions.min, reductions.max)
    ]
    return finish_named("aminmax", return_types.aminmax, tuple(found), out, (x,))


def _overloads(name: str, x: Any, dim: Any, keepdim: bool, other: Any, out: Any, prims: Any) -> Any:
    """The three functions called `max`, and the three called `min`."""
    of_all, of_two, place, cls = prims
    if isinstance(dim, TensorBase):
        other, dim = dim, None
    if other is not None:
        x = operand(name, 1, "input", x)
        node = f"{of_two.name.title()}Backward0"
        return pointwise(of_two.name, of_two, (x, other), out=out, node=node)
    x = operand(name, 1, "input", x)
    if dim is None:
        y = _extreme(name, of_all, x, None, keepdim, f"{name}_all", f"{name.title()}Backward1")
        return finish(name, y, out, (x,))
    if dtype_of(x).category == 3:
        raise RuntimeError(f"{name}(): does not support complex input; take abs() first")
    axes = axes_of(name, len(x._array.shape), whole(dim))
    require_elements(name, x, dim)
    rows = at_least_1d(x)
    axis = axes[0] if axes else 0
    places = record(place, (rows,), {"axis": axis})
    values = pick(rows, places, axis, f"{name.title()}Backward0")
    found = keep(values, axes, keepdim), keep(places, axes, keepdim)
    return finish_named(name, cls, found, out, (x,))


_MAX = (reductions.max, select.maximum, reductions.argmax, return_types.max)
_MIN = (reductions.min, select.minimum, reductions.argmin, return_types.min)


@overload
def max(input: Any, *, out: Any = ...) -> Tensor: ...
@overload
def max(
    input: Any, dim: Any = ..., keepdim: bool = ..., *, other: Any = ..., out: Any = ...
) -> Any: ...
@remembered
def max(
    input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None
) -> Any:
    """The largest element; with `dim` the largest and where it is; of two tensors `maximum`.

    NaN is larger than all. Equal elements share the gradient, but along `dim` the first gets all of
    it: the one whose index is returned.

    Raises: IndexError, RuntimeError: the maximum of nothing.

    >>> import compat as torch
    >>> torch.max(torch.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
    torch.return_types.max(
    values=tensor([3., 4.]),
    indices=tensor([1, 0]))
    """
    return _overloads("max", input, dim, keepdim, other, out, _MAX)


@overload
def min(input: Any, *, out: Any = ...) -> Tensor: ...
@overload
def min(
    input: Any, dim: Any = ..., keepdim: bool = ..., *, other: Any = ..., out: Any = ...
) -> Any: ...
@remembered
def min(
    input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None
) -> Any:
    """The smallest element; with `dim` the smallest and where it is; of two tensors `minimum`.

    NaN is smaller than all. Gradients as for `max`.

    Raises: IndexError, RuntimeError: the minimum of nothing.

    >>> import compat as torch
    >>> torch.min(torch.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
    torch.return_types.min(
    values=tensor([1., 2.]),
    indices=tensor([0, 1]))
    """
    return _overloads("min", input, dim, keepdim, other, out, _MIN)


def _place(name: str, prim: Any, input: Any, dim: int | None, keepdim: bool, out: Any) -> Any:
    """The first place of an extreme along an axis, or in the flattened tensor."""
    x = operand(name, 1, "input", input)
    if dtype_of(x).category in (0, 3):
        kind = "complex" if dtype_of(x).category else "bool"
        raise RuntimeError(f"{name}(): does not support {kind} input")
    require_elements(name, x, dim)
    axes = axes_of(name, len(x._array.shape), None if dim is None else whole(dim))
    rows = at_least_1d(x)
    if dim is None and len(axes) > 1:
        rows = record(reshape, (x,), {"shape": (_count(x, axes),)})
    axis = axes[0] if dim is not None and axes else 0
    return finish(name, keep(record(prim, (rows,), {"axis": axis}), axes, keepdim), out, (x,))


@remembered
def argmax(input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Where the largest element is along `dim`, or in the flattened tensor: the first if several.

    Raises: IndexError: of nothing.

    >>> import compat as torch
    >>> torch.argmax(torch.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
    tensor([1, 0])
    """
    return _place("argmax", reductions.argmax, input, dim, keepdim, out)


@remembered
def argmin(input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Where the smallest element is along `dim`, or in the flattened tensor: the first if several.

    Raises: IndexError: of nothing.

    >>> import compat as torch
    >>> torch.argmin(torch.tensor([[1.0, 3.0], [4.0, 2.0]]), dim=1)
    tensor([0, 1])
    """
    return _place("argmin", reductions.argmin, input, dim, keepdim, out)


# ---------------------------------------------------------------- truth and counts


def _truth(name: str, prim: Any, input: Any, dim: Any, keepdim: bool, out: Any) -> Any:
    x, wanted = operand(name, 1, "input", input), in_dtype_of(out, None)
    if wanted not in (None, dtypes.bool, dtypes.uint8):
        raise RuntimeError(
            f"{name} only supports bool tensor for result, got: {_type_word(wanted)}"
        )
    nothing = isinstance(dim, tuple | list) and not dim
    axes = () if nothing else axes_of(name, len(x._array.shape), dim)
    y = keep(record(prim, (x,), {"axis": axes}), axes, keepdim)
    if dtype_of(x) is dtypes.uint8 and wanted is not dtypes.bool:  # PyTorch's first truth values
        y = convert(y, dtypes.uint8)
    return finish(name, y, out, (x,))


def all(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Whether every element along `dim` is not 0.

    >>> import compat as torch
    >>> torch.all(torch.tensor([[True, False], [True, True]]), dim=1)
    tensor([False,  True])
    """
    return _truth("all", reductions.all, input, dim, keepdim, out)


def any(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """Whether some element along `dim` is not 0.

    >>> import compat as torch
    >>> torch.any(torch.tensor([[True, False], [False, False]]), dim=1)
    tensor([ True, False])
    """
    return _truth("any", reductions.any, input, dim, keepdim, out)


def count_nonzero(input: Any, dim: Any = None) -> Tensor:
    """How many elements along `dim` are not 0.

    >>> import compat as torch
    >>> torch.count_nonzero(torch.tensor([[1.0, 0.0], [2.0, 3.0]]), dim=1)
    tensor([1, 2])
    """
    x = operand("count_nonzero", 1, "input", input)
    axes = axes_of("count_nonzero", len(x._array.shape), dim)
    return record(reductions.count_nonzero, (x,), {"axis": axes})


class ReduceMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    all = all
    amax = amax
    amin = amin
    aminmax = aminmax
    any = any
    argmax = argmax
    argmin = argmin
    count_nonzero = count_nonzero
    max = max
    mean = mean
    min = min
    nanmean = nanmean
    nansum = nansum
    prod = prod
    std = std
    sum = sum
    var = var


__all__ = [
    "all",
    "amax",
    "amin",
    "aminmax",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "nanmean",
    "nansum",
    "prod",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]
