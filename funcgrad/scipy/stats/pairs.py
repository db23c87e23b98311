"""How two samples depend on each other, and how far their distributions are apart."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, axis_of, beside, converted, module_of
from ...numpy.accumulating import cumsum, diff
from ...numpy.joining import concatenate
from ...numpy.linalg import norm as norm_of
from ...numpy.reductions import mean as mean_of
from ...numpy.reductions import sum as sum_of
from ...numpy.searching import all as all_of
from ...numpy.searching import searchsorted
from ...numpy.sorting import argsort
from ...numpy.sorting import sort as sorted_of
from ...ops.arithmetic import absolute, power
from ...ops.cumulative import part
from ...ops.exponential import sqrt
from ...ops.index import take
from ...ops.logic import equal
from ...ops.select import clip
from ...ops.select import where as choose
from ..probabilities import in_one_dtype
from .betas import beta, t
from .comparing import ChanceResult, chance, require_side
from .descriptive import sample_of
from .ranks import rankdata
from .results import Result

_TINY = 1e-20  # so that a perfect correlation has a finite statistic


def _pair(name: str, x: Any, y: Any, nan_policy: str = "propagate") -> list[Any]:
    found = in_one_dtype(*(sample_of(name, v, nan_policy) for v in (x, y)))
    shapes = [a.shape for a in found]
    if shapes[0] != shapes[1] or not found[0].ndim:
        raise ShapeError(
            f"stats.{name}: the samples have shapes {list(shapes[0])} and {list(shapes[1])}; need two "
            f"of the same{where()}"
        )
    return list(found)


def pearsonr(
    x: Any, y: Any, *, alternative: str = "two-sided", method: Any = None, axis: Any = 0
) -> ChanceResult:
    """``r = sum((x - mean(x)) (y - mean(y))) / (|x - mean(x)| |y - mean(y)|)`` along the axis.

    With the probability of an `r` as far out if `x` and `y` are normal and independent.

    Shapes: ``x, y: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by `x` and `y`; nan, as the value, where all of one are the same.
    Raises: ShapeError: `x` and `y` do not fit, or have fewer than two elements. ArgumentError:
    `method` is given, or no such `alternative`.
    Source: SciPy reference, ``scipy.stats.pearsonr``.

    >>> found = pearsonr([1.0, 2.0, 3.0, 5.0], [2.0, 1.0, 4.0, 5.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (0.8552, 0.1448)
    """
    alternative = require_side("pearsonr", alternative)
    if method is not None:
        raise ArgumentError(f"stats.pearsonr: method={method!r} is not supported{where()}")
    x, y = _pair("pearsonr", x, y)
    axis = axis_of("pearsonr", axis, x.ndim)
    n = x.shape[axis]
    if n < 2:
        raise ShapeError(f"stats.pearsonr: there are {n} observations; need two{where()}")
    units = []
    for a in (x, y):
        off = a - mean_of(a, axis=axis, keepdims=True)
        length = norm_of(off, axis=axis, keepdims=True)
        # The mean of equal numbers is rounded: what is left of them has a direction, but no meaning.
        same = all_of(equal(a, part(a, axis, 0, 1)), axis=axis, keepdims=True)
        units.append(off / choose(same, math.nan, length))
    r = clip(sum_of(units[0] * units[1], axis=axis), -1.0, 1.0)
    if n == 2:
        return ChanceResult(r, r * 0.0 + 1.0)
    half = 0.5 * n - 1.0
    p = chance(r, lambda v: beta.sf(v, half, half, loc=-1.0, scale=2.0), alternative)
    return ChanceResult(r, p)


def spearmanr(
    a: Any,
    b: Any = None,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
) -> ChanceResult:
    """`pearsonr` of the ranks of two rows, with Student's t-test for it.

    Shapes: ``a, b: (n,) -> ()``.   Dtypes: real; gives float64.
    Derivative: zero.
    Raises: ShapeError: `a` and `b` are no two rows of the same length. ArgumentError: there is no `b`,
    no such `alternative`, or nan is not to be passed on.
    Source: SciPy reference, ``scipy.stats.spearmanr``.

    >>> found = spearmanr([1.0, 2.0, 3.0, 5.0], [2.0, 1.0, 4.0, 5.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (0.8, 0.2)
    """
    alternative = require_side("spearmanr", alternative)
    if b is None:
        raise ArgumentError(f"stats.spearmanr: need two rows, a and b{where()}")
    a, b = _pair("spearmanr", a, b, nan_policy)
    if a.ndim != 1:
        raise ShapeError(
            f"stats.spearmanr: a has shape {list(a.shape)}; need two rows, of which the matrix is "
            f"numpy.corrcoef of rankdata(..., axis=...){where()}"
        )
    if axis is not None:
        axis_of("spearmanr", axis, 1)
    r = pearsonr(rankdata(a), rankdata(b)).statistic
    df = a.shape[0] - 2.0
    statistic = r * sqrt(df / ((r + 1.0) * (1.0 - r) + _TINY))
    return ChanceResult(r, chance(statistic, lambda v: t.sf(v, df), alternative))


class LinregressResult(Result):
    """A line through points: ``slope, intercept, rvalue, pvalue, stderr = ...``."""

    _fields = ("slope", "intercept", "rvalue", "pvalue", "stderr")

    def __init__(self, *five: Any, intercept_stderr: Any) -> None:
        self.slope, self.intercept, self.rvalue, self.pvalue, self.stderr = five
        self.intercept_stderr = intercept_stderr

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"LinregressResult({fields})"


def linregress(x: Any, y: Any, alternative: str = "two-sided") -> LinregressResult:
    """The line ``slope x + intercept`` with the least sum of squares from the `y`.

    The result has ``slope``, ``intercept``, ``rvalue``, ``pvalue`` (that the slope is 0), ``stderr``
    (of the slope), which it gives when it is unpacked, and ``intercept_stderr``.

    Shapes: ``x, y: (n,) -> ()``.   Dtypes: real; integers give float64.
    Derivative: by `x` and `y`; those of the errors are infinite where the points are on a line.
    Raises: ShapeError: `x` and `y` are no rows of the same length, or of fewer than three elements.
    ArgumentError: all `x` are the same, or no such `alternative`.
    Source: SciPy reference, ``scipy.stats.linregress``.

    >>> found = linregress([0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 4.0, 8.0])
    >>> [float(v.round(4)) for v in found]
    [2.2, 0.7, 0.9648, 0.0352, 0.4243]
    """
    alternative = require_side("linregress", alternative)
    x, y = _pair("linregress", x, y)
    n = x.shape[0]
    if x.ndim != 1 or n < 3:
        raise ShapeError(
            f"stats.linregress: x has shape {list(x.shape)}; need a row of at least 3{where()}"
        )
    values = known(x)
    if values is not None and (values == values[0]).all():
        raise ArgumentError(f"stats.linregress: all x are the same{where()}")
    centre = mean_of(x)
    dx, dy = x - centre, y - mean_of(y)
    xx, xy, yy = mean_of(dx * dx), mean_of(dx * dy), mean_of(dy * dy)
    r = clip(xy / sqrt(xx * yy), -1.0, 1.0)
    slope, df = xy / xx, n - 2.0
    statistic = r * sqrt(df / ((1.0 - r + _TINY) * (1.0 + r + _TINY)))
    p = chance(statistic, lambda v: t.sf(v, df), alternative)
    error = sqrt((1.0 - r * r) * yy / xx / df)
    other = error * sqrt(xx + centre * centre)
    return LinregressResult(slope, mean_of(y) - slope * centre, r, p, error, intercept_stderr=other)


# ---------------------------------------------------------------- distances of distributions


class _Sample(NamedTuple):
    places: Any
    sums: Any  # of the weights of those before, from 0 to 1


def _sample(name: str, values: Any, weights: Any) -> _Sample:
    values = sample_of(name, values)
    if values.ndim != 1 or not values.shape[0]:
        raise ShapeError(
            f"stats.{name}: values have shape {list(values.shape)}; need a row that is not empty"
            f"{where()}"
        )
    n = values.shape[0]
    if weights is None:
        shares = np.linspace(0.0, 1.0, n + 1).astype(values.dtype)
        return _Sample(sorted_of(values), beside(values, shares))
    weights = converted(array_of(weights, module_of(values)), values.dtype)
    found = known(weights)
    if weights.shape != values.shape:
        raise ShapeError(
            f"stats.{name}: {n} values have weights of shape {list(weights.shape)}{where()}"
        )
    if found is not None and ((found < 0).any() or not 0 < found.sum() < np.inf):
        raise ArgumentError(
            f"stats.{name}: weights are {found}; need numbers that are not negative, with a positive "
            f"and finite sum{where()}"
        )
    order = argsort(values)
    sums = cumsum(take(weights, order, axis=0, bounds="known"))
    whole = concatenate([sums[:1] * 0.0, sums])
    return _Sample(take(values, order, axis=0, bounds="known"), whole / sums[-1])


def _between(name: str, p: float, u: Any, v: Any, u_weights: Any, v_weights: Any) -> Any:
    """``int |U - V|**p`` for the cumulative distributions U and V."""
    samples = [_sample(name, u, u_weights), _sample(name, v, v_weights)]
    u, v = in_one_dtype(*(s.places for s in samples))
    every = sorted_of(concatenate([u, v]))
    below = []
    for places, (_, sums) in zip((u, v), samples, strict=True):
        i = searchsorted(places, every[:-1], side="right")
        below.append(take(sums, i, axis=0, bounds="known"))
    gaps, off = diff(every), absolute(below[0] - below[1])
    return sum_of(gaps * (off if p == 1 else power(off, p)))


def wasserstein_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """``int |U(x) - V(x)| dx`` for the cumulative distributions of two weighted samples.

    Shapes: ``u_values: (n,), v_values: (m,) -> ()``.   Dtypes: real; integers give float64.
    Derivative: by values and weights; where values meet, that of one of their orders.
    Raises: ShapeError: no rows, or weights that do not fit. ArgumentError: weights are negative.
    Source: Ramdas et al., Entropy 19 (2017); SciPy reference, ``scipy.stats.wasserstein_distance``.

    >>> float(wasserstein_distance([0.0, 1.0, 3.0], [5.0, 6.0, 8.0]))
    5.0
    """
    return _between("wasserstein_distance", 1, u_values, v_values, u_weights, v_weights)


def energy_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """``sqrt(2 int (U(x) - V(x))**2 dx)`` for the cumulative distributions of two weighted samples.

    Shapes, Dtypes, Raises: as `wasserstein_distance`.
    Derivative: as `wasserstein_distance`; infinite or nan where the distance is 0.
    Source: Székely & Rizzo, WIREs Comput. Stat. 8 (2016); SciPy reference,
    ``scipy.stats.energy_distance``.

    >>> float(energy_distance([0.0], [2.0]))
    2.0
    """
    return sqrt(2.0 * _between("energy_distance", 2, u_values, v_values, u_weights, v_weights))
