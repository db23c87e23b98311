"""Histograms of points in several dimensions; `statistics.py` has those of numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import funcgrad.numpy as fnp

from ..autograd.base import TensorBase
from ..autograd.tape import through
from . import return_types
from ._apply import _type_word
from ._compose import require_real_floats, values_of
from ._operands import dtype_of, operand
from .statistics import _edges

_NAME = "torch.histogramdd"


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
    if all(isinstance(b, TensorBase) for b in bins):
        return [values_of("histogramdd", b).astype(x._array.dtype) for b in bins]
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
    points = x.detach().reshape(-1, x._array.shape[-1])
    edges = _all_edges(points, bins, range)
    counts, found = through(fnp.histogramdd, points, edges, density=density, weights=w)
    return return_types.histogramdd(counts.to(x.dtype), tuple(e.to(x.dtype) for e in found))


__all__ = ["histogramdd"]
