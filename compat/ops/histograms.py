"""Histograms of numbers and of points in several dimensions."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.errors import ConcretizationError
from funcgrad.errors import where as where_called
from funcgrad.indexing import known

from ..autograd.base import TensorBase, tensor
from ..autograd.tape import through
from . import return_types
from ._apply import _type_word, finish
from ._compose import finish_named, require_real_floats, values_of
from ._operands import dtype_of, operand, plain_number

if TYPE_CHECKING:
    from .._tensor import Tensor

_NAME = "torch.histogramdd"


def _edges(
    name: str, x: TensorBase, bins: int, low: float, high: float, margin: float
) -> tuple[float, float]:
    """Between which numbers the bins lie: those given, or the extremes of the data.

    Extremes that are equal are moved apart by `margin` each.

    Raises: RuntimeError: no bins, or such a range. ConcretizationError: without a range, a transform
    knows only the type of the data.
    """
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if low == high and math.prod(x._array.shape):
        values = known(x._array)
        if values is None:
            raise ConcretizationError(
                f"{name}(): without a range the bins depend on the numbers in {x._array!r}, which "
                f"are not known while tracing; give the smallest and the largest{where_called()}"
            )
        low, high = float(values.min()), float(values.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.{name}: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.{name}: max must be larger than min")
    return (low - margin, high + margin) if low == high else (low, high)


def _range_of(k: int, x: Any, bins: int, given: Sequence[float] | None) -> tuple[float, float]:
    """Between which numbers the bins of dimension `k` lie: those given, or the extremes of the data.

    Raises: RuntimeError: a range that is not finite or reversed.
    """
    if given is None:
        return _edges("histogramdd", x[:, k], bins, 0.0, float(not x.numel()), 0.5)
    low, high = map(float, given[2 * k : 2 * k + 2])
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{_NAME}: dimension {k}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(
            f"{_NAME}: min should not exceed max, but got min {low:g} max {high:g} for dimension {k}"
        )
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _given_edges(k: int, x: Any, edges: Any) -> np.ndarray:
    """The edges along axis `k` that were given.

    Raises: RuntimeError: no vector of two or more numbers in the dtype of the data.
    """
    if dtype_of(edges) is not dtype_of(x):
        raise RuntimeError(
            f"{_NAME}: input tensor and bins tensors should have the same dtype, but got input with "
            f"dtype {_type_word(dtype_of(x)).lower()} and bins for dimension {k} with dtype "
            f"{_type_word(dtype_of(edges)).lower()}"
        )
    values = values_of("histogramdd", edges).copy()
    if values.ndim != 1:
        raise RuntimeError(
            f"{_NAME}: bins tensor should have one dimension, but got {values.ndim} dimensions in the "
            f"bins tensor for dimension {k}"
        )
    if values.size < 2:
        raise RuntimeError(
            f"{_NAME}: {values.size} edges for dimension {k} have no bin between them"
        )
    return values


def _all_edges(x: Any, bins: Any, given: Any) -> list[np.ndarray]:
    """The edges along every axis.

    Raises: RuntimeError: not one number of bins for each axis, no bins, or a wrong range.
    """
    dims = x._array.shape[1]
    bins = [bins] * dims if hasattr(type(bins), "__index__") else list(bins)
    if len(bins) != dims:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    if bins and all(isinstance(b, TensorBase) for b in bins):
        return [_given_edges(k, x, b) for k, b in enumerate(bins)]
    counts = [operator.index(b) for b in bins]
    for k, n in enumerate(counts):
        if n <= 0:
            raise RuntimeError(
                f"torch.histogram(): bins must be > 0, but got {n} for dimension {k}"
            )
    if given is not None and len(given) != 2 * dims:
        raise RuntimeError(
            f"{_NAME}: for a {dims}-dimensional histogram range should have {2 * dims} elements, but "
            f"got {len(given)}"
        )
    return [
        np.linspace(*_range_of(k, x, n, given), n + 1, dtype=x._array.dtype)
        for k, n in enumerate(counts)
    ]


def _weights(x: Any, given: Any) -> Any:
    """The weights as a vector; they have no derivative, as in PyTorch.

    Raises: RuntimeError: not one for each point, or another dtype.
    """
    w = operand("histogramdd", 4, "weight", given)
    if w._array.shape != x._array.shape[:-1]:
        raise RuntimeError(
            f"{_NAME}: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(x._array.shape)} and "
            f"weight with shape {list(w._array.shape)}"
        )
    if dtype_of(w) is not dtype_of(x):
        raise RuntimeError(
            f"{_NAME}: if weight tensor is provided, input tensor and weight tensor should have the "
            f"same dtype, but got input({_type_word(dtype_of(x)).lower()}), and "
            f"weight({_type_word(dtype_of(w)).lower()})"
        )
    return w.detach().reshape(-1)


def histogramdd(
    input: Any,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Any = None,
    density: bool = False,
) -> Any:
    """How many points, or how much weight, lie in each box; and the edges along every axis.

    A row of `input` is a point. `bins` is their number along every axis, or one for each axis, or a
    vector of edges for each; `range` the smallest and the largest number of each axis, one after
    another. With `density` the volume is 1.

    Shapes: ``(*a, d) -> (n_1, ..., n_d), d times (n_i + 1,)``; `weight`: ``a``.
    Derivative: none.
    Raises: RuntimeError: the sizes do not fit, no bins, or a range that is not finite or reversed.
    ValueError: edges that decrease. NotImplementedError: no real floats.

    >>> import compat as torch
    >>> torch.histogramdd(torch.tensor([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0]]), bins=[2, 2]).hist
    tensor([[1., 0.],
            [0., 2.]])
    """
    x = operand("histogramdd", 1, "input", input)
    if len(x._array.shape) < 2:
        raise RuntimeError(f"{_NAME}: input tensor should have at least 2 dimensions")
    require_real_floats("histogramdd", x)
    w = None if weight is None else _weights(x, weight)
    points = x.detach().reshape(math.prod(x._array.shape[:-1]), x._array.shape[-1])
    edges = _all_edges(points, bins, range)
    if not edges:
        return return_types.histogramdd(x.new_full((), math.nan if density else 0.0), ())
    counts, found = through(fnp.histogramdd, points, edges, density=density, weights=w)
    return return_types.histogramdd(counts.to(x.dtype), tuple(e.to(x.dtype) for e in found))


def histc(
    input: Any, bins: int = 100, min: float = 0, max: float = 0, *, out: Any = None
) -> Tensor:
    """How many elements lie in each of `bins` equal parts of ``[min, max]``; without, of the data.

    Raises: RuntimeError: no bins, or a range that is not finite or reversed.

    >>> import compat as torch
    >>> torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    x = operand("histc", 1, "input", input)
    require_real_floats("histogram_cpu", x)
    low, high = plain_number("histc", "min", min), plain_number("histc", "max", max)
    edges = _edges("histc", x, bins, low, high, 1.0)
    values = known(x._array)
    if values is None:
        counts = through(lambda a: fnp.histogram(a, bins, edges)[0], x.detach())
    else:
        counts = tensor(np.histogram(values, bins, edges)[0])
    return finish("histc", counts.to(x.dtype), out, (x,))


def histogram(
    input: Any,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Any = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """How many elements, or how much weight, lie in each bin; and the edges of the bins.

    `bins` is their number, or a vector of edges. With `density` the area is 1.

    Raises: RuntimeError: no bins, a range that is not finite or reversed, edges or weights of another
    dtype. ValueError: edges that decrease. TypeError: edges and a range.

    >>> import compat as torch
    >>> torch.histogram(torch.tensor([1.0, 2.0, 1.0]), bins=3, range=(0.0, 3.0))
    torch.return_types.histogram(
    hist=tensor([0., 2., 1.]),
    bin_edges=tensor([0., 1., 2., 3.]))
    """
    x = operand("histogram", 1, "input", input)
    require_real_floats("histogramdd", x)
    by_edges = isinstance(bins, TensorBase)
    if by_edges and range is not None:
        raise TypeError("histogram(): the edges say what the range is; give no range beside them")
    points = x.detach()[..., None]
    bins = [bins] if by_edges else operator.index(bins)
    (edges,) = _all_edges(points.reshape(-1, 1), bins, range)
    w = None if weight is None else _weights(points, weight)
    counts, edges = through(fnp.histogram, points.reshape(-1), edges, density=density, weights=w)
    found = counts.to(x.dtype), edges
    return finish_named("histogram", return_types.histogram, found, out, (x,))


__all__ = ["histc", "histogram", "histogramdd"]
