"""Middles and widths of samples, power transforms, and means of angles."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, axis_of, beside
from ...numpy.reductions import max as max_of
from ...numpy.reductions import mean as mean_of
from ...numpy.reductions import min as min_of
from ...numpy.reductions import std, var
from ...numpy.reductions import sum as sum_of
from ...numpy.shaping import ravel
from ...numpy.sorting import sort
from ...numpy.statistics import median, percentile
from ...ops.arithmetic import absolute, hypot, remainder
from ...ops.exponential import exp, log, log1p, sqrt
from ...ops.index import take
from ...ops.logic import equal, greater, greater_equal
from ...ops.select import clip
from ...ops.select import where as choose
from ...ops.trigonometric import arctan2, cos, sin
from ..probabilities import in_one_dtype
from ..special import boxcox as power_transform
from ..special import boxcox1p
from .descriptive import count_of, kurtosis, sample_of, skew

_NORMAL_QUARTILE = 0.6744897501960817  # three quarters of a normal variable are below


class DescribeResult(NamedTuple):
    """The size of a sample, its ends and its first moments."""

    nobs: Any
    minmax: tuple[Any, Any]
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


def describe(
    a: Any, axis: Any = 0, ddof: int = 1, bias: bool = True, nan_policy: str = "propagate"
) -> DescribeResult:
    """The size, least and greatest, mean, variance, skewness and kurtosis along the axis.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)`` each.   Dtypes: real; integers give float64.
    Derivative: those of the parts.
    Raises: ShapeError: there are no elements, or no such axis.
    Source: SciPy reference, ``scipy.stats.describe``.

    >>> found = describe([1.0, 2.0, 6.0])
    >>> found.nobs, float(found.mean), float(found.variance)
    (3, 3.0, 7.0)
    """
    a = sample_of("describe", a, nan_policy)
    n = count_of("describe", a, axis)
    if not n:
        raise ShapeError(f"stats.describe: there are no elements{where()}")
    return DescribeResult(
        n,
        (min_of(a, axis=axis), max_of(a, axis=axis)),
        mean_of(a, axis=axis),
        var(a, axis=axis, ddof=ddof),
        skew(a, axis, bias),
        kurtosis(a, axis, bias=bias),
    )


def iqr(
    x: Any,
    axis: Any = None,
    rng: Any = (25, 75),
    scale: Any = 1.0,
    nan_policy: str = "propagate",
    interpolation: str = "linear",
    keepdims: bool = False,
) -> Any:
    """The difference of two percentiles `rng` over `scale`; "normal" is that of a normal variable.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``, ``()`` if `axis` is None.
    Dtypes: real; integers give float64.
    Derivative: that of `percentile`; also by `scale`.
    Raises: ArgumentError: `scale` is another word.
    Source: SciPy reference, ``scipy.stats.iqr``.

    >>> float(iqr([1.0, 2.0, 4.0, 9.0, 11.0]))
    7.0
    """
    x = sample_of("iqr", x, nan_policy)
    low, high = sorted(rng)
    ends = [percentile(x, q, axis, method=interpolation, keepdims=keepdims) for q in (low, high)]
    return (ends[1] - ends[0]) / _scale("iqr", scale, 2.0 * _NORMAL_QUARTILE)


def median_abs_deviation(
    x: Any,
    axis: Any = 0,
    center: Any = None,
    scale: Any = 1.0,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """``median(|x - median(x)|) / scale`` along the axis; "normal" is that of a normal variable.

    `center` is the median if it is None, or a function of an array and an axis.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``, ``()`` if `axis` is None.
    Dtypes: real; integers give float64.
    Derivative: that of `median`; also by `scale`.
    Raises: ArgumentError: `scale` is another word.
    Source: SciPy reference, ``scipy.stats.median_abs_deviation``.

    >>> float(median_abs_deviation([1.0, 2.0, 4.0, 9.0, 11.0]))
    3.0
    """
    x = sample_of("median_abs_deviation", x, nan_policy)
    if axis is None:
        x, axis, whole = ravel(x), 0, x.ndim
    else:
        axis, whole = axis_of("median_abs_deviation", axis, x.ndim), 0
    middle = (median if center is None else center)(x, axis=axis)
    middle = array_of(middle)
    off = absolute(x - middle.reshape((*x.shape[:axis], 1, *x.shape[axis + 1 :])))
    y = median(off, axis, keepdims=keepdims)
    y = y / _scale("median_abs_deviation", scale, _NORMAL_QUARTILE)
    return y.reshape((1,) * whole) if keepdims and whole else y


def _scale(name: str, scale: Any, of_normal: float) -> Any:
    if isinstance(scale, str):
        if scale.lower() != "normal":
            raise ArgumentError(
                f"stats.{name}: scale={scale!r}; need a number or 'normal'{where()}"
            )
        return of_normal
    return scale


def trim_mean(
    a: Any,
    proportiontocut: float,
    axis: Any = 0,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The mean along the axis without the share `proportiontocut` of the least, and of the greatest.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, ``()`` if `axis` is None.
    Dtypes: real; integers give float64.
    Derivative: ``1 / m`` by each of the m elements that are left.
    Raises: ArgumentError: nothing is left, or the share is negative or traced.
    Source: SciPy reference, ``scipy.stats.trim_mean``.

    >>> float(trim_mean([1.0, 2.0, 4.0, 90.0], 0.25))
    3.0
    """
    a = sample_of("trim_mean", a, nan_policy)
    share = known(proportiontocut)
    if share is None or not 0 <= share < 0.5:
        raise ArgumentError(
            f"stats.trim_mean: proportiontocut={proportiontocut!r}; need a constant of at least 0 and "
            f"below 0.5{where()}"
        )
    whole = a.ndim if axis is None else 0
    a, axis = (ravel(a), 0) if axis is None else (a, axis_of("trim_mean", axis, a.ndim))
    n = a.shape[axis]
    cut = int(share * n)
    kept = take(sort(a, axis=axis), beside(a, np.arange(cut, n - cut)), axis=axis, bounds="known")
    y = mean_of(kept, axis=axis, keepdims=keepdims)
    return y.reshape((1,) * whole) if keepdims and whole else y


def gstd(
    a: Any,
    axis: Any = 0,
    ddof: int = 1,
    *,
    keepdims: bool = False,
    nan_policy: str = "propagate",
) -> Any:
    """``exp(std(log(a), ddof))`` along the axis.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: that of `std`.
    Raises: ShapeError: no such axis.
    Source: SciPy reference, ``scipy.stats.gstd``.

    >>> float(gstd([1.0, 2.0, 4.0]).round(6))
    2.0
    """
    return exp(std(log(sample_of("gstd", a, nan_policy)), axis=axis, ddof=ddof, keepdims=keepdims))


def zmap(
    scores: Any, compare: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate"
) -> Any:
    """``(scores - mean(compare)) / std(compare, ddof)`` along the axis.

    Shapes: ``scores: (*a), compare: (*b) -> (*a)``, which broadcast but for the axis.
    Dtypes: real; integers give float64.
    Derivative: by both; nan, as the value, where all of `compare` are the same.
    Raises: ShapeError: no such axis.
    Source: SciPy reference, ``scipy.stats.zmap``.

    >>> zmap([2.0, 3.0], [1.0, 3.0]).tolist()
    [0.0, 1.0]
    """
    scores, compare = in_one_dtype(
        sample_of("zmap", scores, nan_policy), sample_of("zmap", compare, nan_policy)
    )
    spread = std(compare, axis=axis, ddof=ddof, keepdims=True)
    middle = mean_of(compare, axis=axis, keepdims=True)
    return (scores - middle) / choose(equal(spread, 0.0), math.nan, spread)


# ---------------------------------------------------------------- power transforms


def boxcox(x: Any, lmbda: Any = None, alpha: Any = None) -> Any:
    """``(x**lmbda - 1) / lmbda``; ``log(x)`` where lmbda is 0.

    The `lmbda` of the greatest likelihood is found with ``optimize.minimize_scalar`` of `boxcox_llf`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: by `x` and `lmbda`.
    Raises: ArgumentError: there is no `lmbda`, or an `alpha`.
    Source: Box & Cox, J. R. Stat. Soc. B 26 (1964); SciPy reference, ``scipy.stats.boxcox``.

    >>> boxcox([1.0, 4.0], 0.5).tolist()
    [0.0, 2.0]
    """
    _require_lmbda("boxcox", lmbda, alpha)
    return power_transform(sample_of("boxcox", x), lmbda)


def yeojohnson(x: Any, lmbda: Any = None) -> Any:
    """``((1 + x)**lmbda - 1) / lmbda`` for x >= 0, and the same of ``-x`` and ``2 - lmbda``, negated.

    The `lmbda` of the greatest likelihood is found with ``optimize.minimize_scalar`` of
    `yeojohnson_llf`.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: real; integers give float64.
    Derivative: by `x` and `lmbda`.
    Raises: ArgumentError: there is no `lmbda`.
    Source: Yeo & Johnson, Biometrika 87 (2000); SciPy reference, ``scipy.stats.yeojohnson``.

    >>> yeojohnson([3.0, -3.0], 0.5).round(4).tolist()
    [2.0, -4.6667]
    """
    _require_lmbda("yeojohnson", lmbda, None)
    x, lmbda = in_one_dtype(sample_of("yeojohnson", x), lmbda)
    up = greater_equal(x, 0.0)
    above = boxcox1p(choose(up, x, 0.0), lmbda)
    return choose(up, above, -boxcox1p(choose(up, 0.0, -x), 2.0 - lmbda))


def _require_lmbda(name: str, lmbda: Any, alpha: Any) -> None:
    if lmbda is None or alpha is not None:
        raise ArgumentError(
            f"stats.{name}: need lmbda=, and no alpha=; the best one is "
            f"optimize.minimize_scalar(lambda l: -stats.{name}_llf(l, x)).x{where()}"
        )


def boxcox_llf(
    lmb: Any, data: Any, *, axis: Any = 0, keepdims: bool = False, nan_policy: str = "propagate"
) -> Any:
    """``(lmb - 1) sum(log(x)) - n log(var(boxcox(x, lmb))) / 2`` along the axis.

    Shapes: ``data: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by `lmb` and `data`.
    Raises: ShapeError: no such axis.
    Source: Box & Cox, J. R. Stat. Soc. B 26 (1964); SciPy reference, ``scipy.stats.boxcox_llf``.

    >>> float(boxcox_llf(1.0, [1.0, 2.0, 3.0]).round(4))
    0.6082
    """
    x = sample_of("boxcox_llf", data, nan_policy)
    n = count_of("boxcox_llf", x, axis)
    # Over their geometric mean, numbers have powers that neither vanish nor overflow together.
    middle = mean_of(log(x), axis=axis, keepdims=True)
    square = var(power_transform(x / exp(middle), lmb), axis=axis, keepdims=keepdims)
    total = n * middle if keepdims else sum_of(log(x), axis=axis)
    return -total - 0.5 * n * log(square)


def yeojohnson_llf(
    lmb: Any, data: Any, *, axis: Any = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> Any:
    """``(lmb - 1) sum(sign(x) log(1 + |x|)) - n log(var(yeojohnson(x, lmb))) / 2`` along the axis.

    Shapes: ``data: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by `lmb` and `data`.
    Raises: ShapeError: no such axis.
    Source: Yeo & Johnson, Biometrika 87 (2000); SciPy reference, ``scipy.stats.yeojohnson_llf``.

    >>> float(yeojohnson_llf(1.0, [1.0, 2.0, 3.0]).round(4))
    0.6082
    """
    x = sample_of("yeojohnson_llf", data, nan_policy)
    n = count_of("yeojohnson_llf", x, axis)
    square = var(yeojohnson(x, lmb), axis=axis, keepdims=keepdims)
    up = greater(x, 0.0)
    size = choose(up, log1p(choose(up, x, 0.0)), -log1p(choose(up, 0.0, -x)))
    return (lmb - 1.0) * sum_of(size, axis=axis, keepdims=keepdims) - 0.5 * n * log(square)


# ---------------------------------------------------------------- angles


def _resultant(
    name: str, samples: Any, high: Any, low: Any, axis: Any, nan_policy: str, keepdims: bool
) -> tuple[Any, Any, Any]:
    """The mean sine and cosine, and the length of a radian."""
    x = sample_of(name, samples, nan_policy)
    unit = (high - low) / (2.0 * math.pi)
    angle = x / unit
    s, c = (mean_of(g(angle), axis=axis, keepdims=keepdims) for g in (sin, cos))
    return s, c, unit


def circmean(
    samples: Any,
    high: Any = 2.0 * math.pi,
    low: Any = 0,
    axis: Any = None,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """The direction of the mean of unit vectors at the angles, which go from `low` to `high`.

    Shapes: ``samples: (*a, n, *b) -> (*a, *b)``, ``()`` if `axis` is None.
    Dtypes: real; integers give float64.
    Derivative: smooth but where the mean vector is 0.
    Raises: ShapeError: no such axis.
    Source: Fisher, "Statistical Analysis of Circular Data", 1993; SciPy reference,
    ``scipy.stats.circmean``.

    >>> float(circmean([10.0, 350.0, 30.0], high=360).round(6))
    10.0
    """
    s, c, unit = _resultant("circmean", samples, high, low, axis, nan_policy, keepdims)
    return remainder(arctan2(s, c) * unit - low, high - low) + low


def circvar(
    samples: Any,
    high: Any = 2.0 * math.pi,
    low: Any = 0,
    axis: Any = None,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Any:
    """``1 - R`` for the length R of the mean of unit vectors at the angles.

    Shapes, Dtypes, Derivative, Raises: as `circmean`.
    Source: as `circmean`; SciPy reference, ``scipy.stats.circvar``.

    >>> float(circvar([0.0, 90.0], high=360).round(6))
    0.292893
    """
    s, c, _ = _resultant("circvar", samples, high, low, axis, nan_policy, keepdims)
    return 1.0 - clip(hypot(s, c), -math.inf, 1.0)


def circstd(
    samples: Any,
    high: Any = 2.0 * math.pi,
    low: Any = 0,
    axis: Any = None,
    nan_policy: str = "propagate",
    *,
    normalize: bool = False,
    keepdims: bool = False,
) -> Any:
    """``sqrt(-2 log(R))`` for the R of `circvar`, in units of the angles, or radians if `normalize`.

    Shapes, Dtypes, Raises: as `circmean`.
    Derivative: as `circmean`; infinite or nan where all angles are the same.
    Source: as `circmean`; SciPy reference, ``scipy.stats.circstd``.

    >>> float(circstd([0.0, 90.0], high=360).round(4))
    47.7019
    """
    s, c, unit = _resultant("circstd", samples, high, low, axis, nan_policy, keepdims)
    y = sqrt(-2.0 * log(clip(hypot(s, c), -math.inf, 1.0)))
    return y if normalize else y * unit
