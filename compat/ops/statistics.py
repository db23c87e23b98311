"""Medians, modes, quantiles, covariances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.algebra import concrete_namespace
from funcgrad.core import Tracer
from funcgrad.ops import reduce as reductions
from funcgrad.ops import structural
from funcgrad.ops.arithmetic import zero_preserving_multiply
from funcgrad.ops.cumulative import last_change
from funcgrad.ops.index import scatter_add, take_along_axis
from funcgrad.ops.index_layout import ArrayIndex
from funcgrad.ops.join import concatenate
from funcgrad.ops.logic import equal, isinf, isnan, logical_and, logical_or
from funcgrad.ops.reduce import argmax, count_nonzero
from funcgrad.ops.rounding import ceil, floor, rint
from funcgrad.ops.select import maximum, minimum, where
from funcgrad.ops.sort import argrank, argsort, sort

from .. import dtypes
from ..autograd import sites
from ..autograd.base import TensorBase, tensor
from ..autograd.tape import record, through, watchers
from . import return_types
from ._apply import _type_word, finish
from ._axes import axes_of, require_elements, whole
from ._compose import (
    at_least_1d,
    composed,
    finish_named,
    keep,
    not_implemented,
    pick,
    values_of,
)
from ._layout import own
from ._operands import convert, dtype_of, is_number, operand, result_type
from .histograms import histc, histogram

if TYPE_CHECKING:
    from .._tensor import Tensor

ndarray = np.ndarray

# ---------------------------------------------------------------- one element by its rank


def _by_place(
    name: str,
    find: Any,
    input: Any,
    dim: int,
    keepdim: bool,
    out: Any,
    node: str,
    **options: Any,
) -> Any:
    """The elements at the places that ``find(array, axis=...)`` gives, and the places."""
    x = operand(name, 1, "input", input)
    if dtype_of(x).category == 3:
        raise not_implemented(f"{name}_out_impl", x)
    axes = axes_of(name, len(x._array.shape), whole(dim))
    require_elements(name, x, dim)
    rows = at_least_1d(x)
    axis = axes[0] if axes else 0
    places = own(_places(find, rows, axis=axis, **options))
    found = keep(pick(rows, places, axis, node), axes, keepdim), keep(places, axes, keepdim)
    return finish_named(name, getattr(return_types, name), found, out, (x,))


def _places(find: Any, x: Any, **options: Any) -> Any:
    """``find(array, ...)``, which nobody differentiates: nothing is recorded of plain arrays."""
    array = x._array
    if array.__class__ is ndarray and not watchers:
        return tensor(find(array, **options))
    return through(find, x, **options)


def _at(order: Any, rank: Any, axis: int) -> Any:
    """``order[..., rank[...], ...]``, one per row."""
    rank = structural.expand_dims(rank, axis=(axis,))
    found = take_along_axis(order, rank, axis=axis, bounds="known")
    return structural.squeeze(found, axis=(axis,))


def _middle(x: Any, /, *, axis: int, skip_nan: bool) -> Any:
    """The places of the medians, of an even number the lower one; of a NaN if there is one."""
    n = x.shape[axis]
    numbers = count_nonzero(equal(x, x), axis=(axis,))
    if not skip_nan:
        numbers = where(equal(numbers, n), n, 2 * numbers + 1)  # NaN are last
    rank = structural.expand_dims(maximum(numbers - 1, 0) // 2, axis=(axis,))
    return structural.squeeze(argrank(x, rank, axis=axis), axis=(axis,))


def _median(name: str, input: Any, dim: int | None, keepdim: bool, out: Any, skip_nan: bool) -> Any:
    node = name.title()
    if dim is not None:
        return _by_place(
            name, _middle, input, dim, keepdim, out, f"{node}Backward1", skip_nan=skip_nan
        )
    x = operand(name, 1, "input", input)
    flat = record(structural.reshape, (x,), {"shape": (math.prod(x._array.shape),)})
    if 0 in x._array.shape:
        if dtype_of(x).category < 2:  # NaN as processors convert it: by way of 32 or 64 bits
            bits = max(x._array.dtype.itemsize, 4)
            none = np.asarray(np.iinfo(f"i{bits}").min)
            return tensor(none.astype(x._array.dtype))
        return record(structural.sum, (flat,), {"axis": (0,)}) * math.nan
    places = _places(_middle, flat, axis=0, skip_nan=skip_nan)
    value = pick(flat, places, 0, f"{node}Backward0")
    if dtype_of(x).category == 2 and (value._node is not None or isinstance(value._array, Tracer)):
        value = composed(f"{node}Backward0", _shared, flat, value.detach())
    return finish(name, value, out, (x,))


def _shared(x: Any, value: Any, /) -> Any:
    """`value`, whose gradient is shared by the elements of the vector that are equal to it."""
    here = logical_or(equal(x, value), logical_and(isnan(x), isnan(value)))
    return reductions.max(where(here, x, -math.inf), axis=(0,))


@overload
def median(input: Any, *, out: Any = ...) -> Tensor: ...
@overload
def median(input: Any, dim: int | None = ..., keepdim: bool = ..., *, out: Any = ...) -> Any: ...
def median(input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The middle one of the sorted elements, of an even number the lower; with `dim` also where.

    NaN if any element is. Equal elements share the gradient; along `dim` the one whose index is
    returned gets all of it.

    >>> import compat as torch
    >>> torch.median(torch.tensor([4.0, 1.0, 3.0, 2.0]))
    tensor(2.)
    """
    return _median("median", input, dim, keepdim, out, False)


@overload
def nanmedian(input: Any, *, out: Any = ...) -> Tensor: ...
@overload
def nanmedian(input: Any, dim: int | None = ..., keepdim: bool = ..., *, out: Any = ...) -> Any: ...
def nanmedian(input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """`median` of what is not NaN.

    >>> import compat as torch
    >>> torch.nanmedian(torch.tensor([4.0, torch.nan, 3.0]))
    tensor(3.)
    """
    return _median("nanmedian", input, dim, keepdim, out, True)


def _most_frequent(x: Any, /, *, axis: int) -> Any:
    """The last place of the smallest among the most frequent elements.

    Sorted, equal elements are a run; its end is the first place where the run is that long.
    """
    ordered = sort(x, axis=axis)
    places = np.arange(x.shape[axis]).reshape((-1,) + (1,) * (x.ndim - axis - 1))
    run = places - last_change(ordered, axis=axis, reverse=False)
    return _at(argsort(x, axis=axis), argmax(run, axis=axis), axis)


def mode(input: Any, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The most frequent element along `dim`, of several the smallest, and its last place.

    >>> import compat as torch
    >>> torch.mode(torch.tensor([3.0, 1.0, 3.0]))
    torch.return_types.mode(
    values=tensor(3.),
    indices=tensor(2))
    """
    return _by_place("mode", _most_frequent, input, dim, keepdim, out, "ModeBackward0")


def _ranked(x: Any, /, *, axis: int, rank: int) -> Any:
    ranks = concrete_namespace(x).full((1,) * x.ndim, rank)
    return structural.squeeze(argrank(x, ranks, axis=axis), axis=(axis,))


def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The `k`-th smallest element along `dim`, counted from 1, and where it is.

    Raises: RuntimeError: there are fewer than `k` elements, or `k` is not positive.

    >>> import compat as torch
    >>> torch.kthvalue(torch.tensor([3.0, 1.0, 2.0]), 2)
    torch.return_types.kthvalue(
    values=tensor(2.),
    indices=tensor(2))
    """
    x = operand("kthvalue", 1, "input", input)
    shape = x._array.shape or (1,)
    axis = (axes_of("kthvalue", len(x._array.shape), whole(dim)) or (0,))[0]
    require_elements("kthvalue", x, dim)
    if not 0 < whole(k, "k") <= shape[axis]:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    return _by_place("kthvalue", _ranked, x, dim, keepdim, out, "KthvalueBackward0", rank=k - 1)


# ---------------------------------------------------------------- quantiles

_ROUNDINGS = {"lower": floor, "higher": ceil, "nearest": rint}
_INTERPOLATIONS = ("linear", "midpoint", *_ROUNDINGS)


def _quantiles(
    x: Any, q: Any, /, *, axis: tuple[int, ...], interpolation: str, skip_nan: bool
) -> Any:
    """The quantiles of an array, those of one share after the other along a first axis."""
    rest = tuple(i for i in range(x.ndim) if i not in axis)
    rows = structural.transpose(x, axes=rest + axis)
    rows = rows.reshape((*(x.shape[i] for i in rest), -1))
    last = len(rest)
    n = rows.shape[last]
    numbers = count_nonzero(equal(rows, rows), axis=(last,)).astype(x.dtype)
    numbers = structural.expand_dims(numbers, axis=(last,))
    top = maximum(numbers - 1.0, 0.0)
    position = q * (top if skip_nan else n - 1.0)
    if not skip_nan:
        position = where(equal(numbers, n), position, n - 1.0)  # to a NaN, which are last
        top = n - 1.0
    if interpolation in _ROUNDINGS:
        position = _ROUNDINGS[interpolation](position)
    elif interpolation == "midpoint":
        position = 0.5 * (floor(position) + ceil(position))
    low = floor(position)
    high = minimum(low + 1.0, top)
    ranks = concatenate(low, high, axis=last).astype(np.intp)
    found = take_along_axis(rows, argrank(rows, ranks, axis=last), axis=last, bounds="known")
    count = low.shape[last]
    below, above = found[..., :count], found[..., count:]
    same = logical_and(equal(above, below), isinf(below))  # infinities are not apart
    apart = where(same, 0.0, above - below)
    y = below + zero_preserving_multiply(position - low, apart)
    return structural.transpose(y, axes=(last, *range(last)))


def _quantile(
    name: str, input: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, out: Any
) -> Any:
    x = operand(name, 1, "input", input)
    if 0 in x._array.shape:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if x._array.dtype not in (np.float32, np.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but "
            f"got {interpolation}"
        )
    shares = _shares(name, q, x)
    ndim = len(x._array.shape)
    axes = axes_of(name, ndim, None if dim is None else whole(dim))
    lead = tuple(shares._array.shape)
    y = through(
        _quantiles,
        at_least_1d(x),
        record(structural.reshape, (shares,), {"shape": (math.prod(lead),)}),
        axis=axes or (0,),
        interpolation=interpolation,
        skip_nan=name == "nanquantile",
    )
    rest = [1 if i in axes else n for i, n in enumerate(x._array.shape) if keepdim or i not in axes]
    y = record(structural.reshape, (y,), {"shape": (*lead, *rest)})
    y._view = None  # of what nobody sees
    if isinstance(out, TensorBase) and dtype_of(out) is not dtype_of(x):
        raise RuntimeError(f"{name}() out tensor must be same dtype as the input tensor")
    return finish(name, y, out, (x,))


def _shares(name: str, q: Any, x: Any) -> Any:
    """The shares as a tensor of the dtype of `x`.

    Raises: RuntimeError: they are not between 0 and 1, or of another dtype.
    """
    if is_number(q):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        return tensor(np.asarray(q, x._array.dtype))
    q = operand(name, 2, "q", q)
    if len(q._array.shape) > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if q._array.dtype != x._array.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    array = q._array
    if isinstance(array, np.ndarray) and not ((array >= 0) & (array <= 1)).all():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    return q


def quantile(
    input: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Any = None,
) -> Tensor:
    """The number that a share `q` of the elements along `dim` is below, between two of the sorted.

    The axis of a vector `q` comes first in the result. NaN if any element is. Differentiable by
    `input` and, where it interpolates linearly, by `q`.

    Raises: RuntimeError: `q` is not between 0 and 1 or of another dtype; nothing, or no floats.

    >>> import compat as torch
    >>> torch.quantile(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.25, 0.5]))
    tensor([1.5000, 2.0000])
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, out)


def nanquantile(
    input: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
    out: Any = None,
) -> Tensor:
    """`quantile` of what is not NaN; NaN if there is nothing else.

    >>> import compat as torch
    >>> torch.nanquantile(torch.tensor([1.0, torch.nan, 3.0]), 0.5)
    tensor(2.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, out)


# ---------------------------------------------------------------- covariances


def _observed(name: str, input: Any) -> Any:
    x = operand(name, 1, "input", input)
    ndim = len(x._array.shape)
    if ndim > 2:
        raise RuntimeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with {ndim} "
            f"dimensions"
        )
    return convert(x, dtypes.get_default_dtype()) if dtype_of(x).category < 2 else x


def _observation_weights(name: str, given: Any, count: int, x: Any) -> Any:
    """The weights of the observations in the dtype of `x`.

    Raises: RuntimeError: they are not one per observation, negative, or of a wrong dtype.
    """
    if given is None:
        return None
    w = operand("cov", 1, name, given)
    if len(w._array.shape) > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{len(w._array.shape)} dimensions"
        )
    floating = dtype_of(w).category == 2
    if floating is (name == "fweights"):
        kind = "floating point" if name == "aweights" else "integral"
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with "
            f"{_type_word(dtype_of(w))} dtype"
        )
    if math.prod(w._array.shape) != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input "
            f"but got {math.prod(w._array.shape)} != {count}"
        )
    if isinstance(w._array, np.ndarray) and (w._array < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")
    real = dtype_of(x).to_real() if dtype_of(x).category == 3 else dtype_of(x)
    return convert(record(structural.reshape, (w,), {"shape": (count,)}), real)


def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariances of the variables in the rows of `input`; of a vector its variance.

    `fweights` says how often each observation was made, `aweights` how much it counts.

    Raises: RuntimeError: more than two dimensions, or weights that do not fit.

    >>> import compat as torch
    >>> torch.cov(torch.tensor([[1.0, 2.0], [1.0, 3.0]]))
    tensor([[0.5000, 1.0000],
            [1.0000, 2.0000]])
    """
    x = _observed("cov", input)
    if isinstance(aweights, TensorBase):
        x = convert(x, result_type(x, aweights))
    count = x._array.shape[-1] if x._array.shape else 1
    weights = {
        name: _observation_weights(name, w, count, x)
        for name, w in (("fweights", fweights), ("aweights", aweights))
    }
    if fweights is None and aweights is None and correction >= count:
        sites.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number "
            "of observations."
        )
        correction = count
    if not count:
        rows = x._array.shape[0] if len(x._array.shape) == 2 else 1
        nothing = np.full((rows, rows) if rows > 1 else (), math.nan, x._array.dtype)
        return tensor(nothing)
    return through(fnp.cov, x, ddof=correction, dtype=x._array.dtype, **weights)


def corrcoef(input: Any) -> Tensor:
    """The correlations of the variables in the rows of `input`, between -1 and 1.

    Raises: RuntimeError: more than two dimensions.

    >>> import compat as torch
    >>> torch.corrcoef(torch.tensor([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]]))
    tensor([[1.0000, 0.5000],
            [0.5000, 1.0000]])
    """
    x = _observed("corrcoef", input)
    return through(fnp.corrcoef, x, dtype=x._array.dtype)


# ---------------------------------------------------------------- counting


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, ... is in a vector of integers; or the sum of its weights.

    Differentiable by `weights`.

    Raises: RuntimeError: no vector, negative numbers, or weights of another length.

    >>> import compat as torch
    >>> torch.bincount(torch.tensor([0, 2, 2]))
    tensor([1, 0, 2])
    """
    x = operand("bincount", 1, "input", input)
    if dtype_of(x).category != 1:
        raise not_implemented("bincount_cpu", x)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    places = values_of("bincount", x).astype(np.int64)
    if places.ndim != 1 or (places.size and places.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return tensor(np.bincount(places, minlength=minlength))
    w = operand("bincount", 2, "weights", weights)
    if w._array.shape != places.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if dtype_of(w) is not dtypes.float32:
        w = convert(w, dtypes.float64)
    length = max(int(places.max(initial=-1)) + 1, minlength)
    params = {"shape": (length,), "index": (ArrayIndex(0, "known"),)}
    return record(scatter_add, (w, places), params, "BincountBackward0")


class StatisticsMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    bincount = bincount
    corrcoef = corrcoef
    cov = cov
    histc = histc
    histogram = histogram
    kthvalue = kthvalue
    median = median
    mode = mode
    nanmedian = nanmedian
    nanquantile = nanquantile
    quantile = quantile


__all__ = [
    "bincount",
    "corrcoef",
    "cov",
    "kthvalue",
    "median",
    "mode",
    "nanmedian",
    "nanquantile",
    "quantile",
]
