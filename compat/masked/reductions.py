"""Reductions of what a mask leaves: sums, means, products, variances, extremes, norms, medians.

The elements that are left out are replaced by numbers that change nothing: zeros in sums, ones in
products, infinities in extremes. So they get no gradient, whatever they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.errors import ConcretizationError
from funcgrad.errors import where as where_called
from funcgrad.indexing import known

from .. import dtypes
from ..autograd.base import tensor
from ..linalg.norms import vector_norm
from ..ops import reduce, softmax, statistics
from ..ops._compose import not_implemented
from ..ops._operands import dtype_of, operand
from ..ops.masks import where
from ..ops.power import sqrt
from ..ops.rounding import clamp_min
from ..ops.scatter import take_along_dim
from ..ops.sort import sort
from ._places import filled, highest, lowest, mask_of

if TYPE_CHECKING:
    from .._tensor import Tensor

Dims = int | tuple[int, ...] | None


def _axes(name: str, x: Any, dim: Dims) -> tuple[int, ...]:
    return reduce.axes_of(name, len(x._array.shape), dim)


def _as(y: Any, dtype: Any, x: Any) -> Any:
    """A result in the dtype asked for, or in that of the input."""
    return y.to(dtype_of(x) if dtype is None else dtypes.as_dtype(dtype))


def sum(
    input: Any,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """``sum_i input_i`` over the `i` that the mask has, along `dim`; 0 of none.

    Derivative: 0 for what is left out.
    Raises: IndexError, RuntimeError: the mask does not fit the input, or there is no such axis.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.sum(x, mask=mask)
    tensor(5.)
    """
    x = filled("sum", operand("sum", 1, "input", input), mask, 0)
    return reduce.sum(x, dim, keepdim, dtype=dtype)


def _numbers(name: str, x: Any, dim: Dims, keepdim: bool, mask: Any) -> Any:
    """How many elements the mask has, in the real dtype of `x`."""
    dtype = dtype_of(x)
    real = dtype.to_real() if dtype.category == 3 else dtype
    return reduce.sum(mask_of(name, x, mask), dim, keepdim).to(real)


def _mean(name: str, x: Any, dim: Dims, keepdim: bool, mask: Any) -> Any:
    if mask is None:
        return reduce.mean(x, dim, keepdim)
    dim = _axes(name, x, dim)
    total = reduce.sum(filled(name, x, mask, 0), dim, keepdim)
    return total / _numbers(name, x, dim, keepdim, mask)


def mean(
    input: Any,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """``sum_i input_i / n`` over the `n` elements that the mask has, along `dim`; NaN of none.

    Raises: ValueError: integers; `dtype` makes them floats. Others as `sum`.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.mean(x, mask=mask)
    tensor(2.5000)
    """
    x = operand("mean", 1, "input", input)
    wide = dtype_of(x) if dtype is None else dtypes.as_dtype(dtype)
    if wide.category < 2:
        raise ValueError(
            f"mean(): Could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype "
            f"must be either a floating point or complex dtype. Got: {wide}"
        )
    return _mean("mean", x.to(wide), dim, keepdim, mask)


def prod(
    input: Any,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """``prod_i input_i`` over the `i` that the mask has, along `dim`; 1 of none.

    Raises: as `sum`.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.prod(x, mask=mask)
    tensor(4.)
    """
    x = filled("prod", operand("prod", 1, "input", input), mask, 1)
    for axis in reversed(_axes("prod", x, dim)):
        x = reduce.prod(x, axis, keepdim, dtype=dtype)
    return reduce.prod(x, dtype=dtype) if not x._array.shape else x


def _wide(name: str, input: Any, dtype: Any) -> Any:
    """The operand in the dtype that deviations are computed in.

    Raises: RuntimeError: booleans.
    """
    x = operand(name, 1, "input", input)
    if not dtype_of(x).category:
        raise RuntimeError(f"{name}(): booleans have no deviations; convert them to integers")
    wide = dtype_of(x) if dtype is None else dtypes.as_dtype(dtype)
    if wide.category > 1:
        return x.to(wide)
    return x.to(dtypes.get_default_dtype()) if dtype_of(x).category == 1 else x


def _deviations(
    name: str, x: Any, dim: Dims, mask: Any, given: tuple[Any, Any]
) -> tuple[Any, Any, tuple[int, ...]]:
    """The distances from the mean, 0 of what is left out, the degrees of freedom, and the axes.

    Raises: AssertionError: both `unbiased` and `correction` are given.
    """
    unbiased, correction = given
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    if mask is None:
        mask = tensor(np.array(True))
    axes = _axes(name, x, dim)
    away = filled(name, x - _mean(name, x, axes, True, mask), mask, 0)
    return away, clamp_min(_numbers(name, x, axes, True, mask) - correction, 0), axes


def _dropped(y: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    return y if keepdim or not y._array.shape else y.squeeze(axes)


def var(
    input: Any,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """``sum_i |input_i - mean|^2 / (n - correction)`` over the `n` elements that the mask has.

    `correction` is 1; `unbiased` is its old name, 1 or 0. Without degrees of freedom it is infinite, or
    NaN where all are equal. Of complex numbers it is real, in their dtype.

    Raises: as `sum`; AssertionError: `unbiased` and `correction`. RuntimeError: booleans.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.var(x, mask=mask)
    tensor(4.5000)
    """
    x = _wide("var", input, dtype)
    away, freedom, axes = _deviations("var", x, dim, mask, (unbiased, correction))
    squares = (away * away.conj()).real if dtype_of(x).category == 3 else away * away
    found = reduce.sum(squares, axes, True) / freedom
    return _as(_dropped(found, axes, keepdim), dtype, x)


def std(
    input: Any,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The root of `var`; where all elements are equal its derivative is 0.

    Raises: as `var`.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.std(x, mask=mask)
    tensor(2.1213)
    """
    x = _wide("std", input, dtype)
    away, freedom, axes = _deviations("std", x, dim, mask, (unbiased, correction))
    found = vector_norm(away, 2, axes, True) / sqrt(freedom)
    return _dropped(found, axes, keepdim).to(dtype_of(x))


def amax(
    input: Any,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The largest of the elements that the mask has, along `dim`; equal ones share the gradient.

    Of none the lowest number of the dtype, which is minus infinity of floats.

    Raises: as `sum`; NotImplementedError: booleans with a mask. TypeError: complex numbers with one.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.amax(x, mask=mask)
    tensor(4.)
    """
    x = operand("amax", 1, "input", input)
    left = x if mask is None else filled("amax", x, mask, lowest("amax", x))
    return _as(reduce.amax(left, _axes("amax", x, dim), keepdim), dtype, x)


def amin(
    input: Any,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The smallest of the elements that the mask has, along `dim`; equal ones share the gradient.

    Of none the highest number of the dtype, which is infinity of floats.

    Raises: as `amax`.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.amin(x, mask=mask)
    tensor(1.)
    """
    x = operand("amin", 1, "input", input)
    left = x if mask is None else filled("amin", x, mask, highest("amin", x))
    return _as(reduce.amin(left, _axes("amin", x, dim), keepdim), dtype, x)


def argmax(
    input: Any,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """Where the first largest of the elements that the mask has is, in the dtype of the input.

    Raises: as `amax`; TypeError: `dim` is not one axis.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.argmax(x, mask=mask)
    tensor(2.)
    """
    x = operand("argmax", 1, "input", input)
    left = x if mask is None else filled("argmax", x, mask, lowest("argmax", x))
    return _as(reduce.argmax(left, dim, keepdim), dtype, x)


def argmin(
    input: Any,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """Where the first smallest of the elements that the mask has is, in the dtype of the input.

    Raises: as `amax`; TypeError: `dim` is not one axis.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.argmin(x, mask=mask)
    tensor(0.)
    """
    x = operand("argmin", 1, "input", input)
    left = x if mask is None else filled("argmin", x, mask, highest("argmin", x))
    return _as(reduce.argmin(left, dim, keepdim), dtype, x)


def norm(
    input: Any,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """``(sum_i |input_i|^ord)^(1/ord)`` over the `i` that the mask has, along `dim`.

    What is left out counts as 0, or as infinity where `ord` is minus infinity: other negative orders
    with a mask are 0, as in PyTorch.

    Raises: as `sum`; RuntimeError: integers. TypeError: `ord` is no number.

    >>> import compat as torch
    >>> x, mask = torch.tensor([3.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.norm(x, mask=mask)
    tensor(5.)
    """
    x = operand("norm", 1, "input", input)
    left = filled("norm", x, mask, math.inf if ord == -math.inf else 0)
    return vector_norm(left, ord, dim, keepdim, dtype=dtype)


def logsumexp(
    input: Any,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """``log(sum_i exp(input_i))`` over the `i` that the mask has, along `dim`, in the input's dtype.

    Of none it is minus infinity.

    Raises: as `sum`; NotImplementedError: booleans with a mask.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.logsumexp(x, mask=mask)
    tensor(4.0486)
    """
    x = operand("logsumexp", 1, "input", input)
    left = x
    if mask is not None:
        low = -math.inf if dtype_of(x).category == 3 else lowest("logsumexp", x)
        left = filled("logsumexp", x, mask, low)
    axes = _axes("logsumexp", x, dim)
    if dtype is not None:
        left = left.to(dtypes.as_dtype(dtype))
    return _as(softmax.logsumexp(left, axes, keepdim), dtype, x)


def _integer_median(x: Any, axis: int, keepdim: bool, mask: Any) -> Any:
    """Of integers, which have no NaN: what is left out is sorted to the end.

    Raises: ValueError: there are none. ConcretizationError: a transform does not know the mask.
    """
    here = mask_of("median", x, mask)
    found = known(reduce.any(here, axis)._array)
    if found is None:
        raise ConcretizationError(
            f"median(): whether integers are left depends on the numbers in {here._array!r}, which "
            f"are not known while tracing; use floats{where_called()}"
        )
    if not found.all():
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    end: Any = bool(dtype_of(x).category == 0) or np.iinfo(dtype_of(x).numpy).max
    ordered = sort(where(here, x, end), axis).values
    middle = (reduce.sum(here, axis, keepdim=True) - 1) // 2
    if not x._array.shape:
        return ordered
    return _dropped(take_along_dim(ordered, middle, axis), (axis,), keepdim)


def median(
    input: Any,
    dim: Dims = -1,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The smaller middle one of the elements that the mask has, along one axis, in the input's dtype.

    NaN is left out too if there is a mask; of no floats it is NaN. `dtype` changes nothing.

    Raises: as `sum`; ValueError: of no integers. NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> x, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    >>> torch.masked.median(x, mask=mask)
    tensor(1.)
    """
    x = operand("median", 1, "input", input)
    if dtype_of(x).category == 3:
        raise not_implemented("median", x)
    axis = (_axes("median", x, dim) or (0,))[0]
    if mask is None:
        return statistics.median(x, axis, keepdim).values
    if dtype_of(x).category == 2:
        left = filled("median", x, mask, math.nan)
        return statistics.nanmedian(left, axis, keepdim).values
    return _integer_median(x, axis, keepdim, mask)


__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "prod",
    "std",
    "sum",
    "var",
]
