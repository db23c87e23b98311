"""Tests of shapes and spreads: normality, equal variances, tables of counts, p-values together."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np  # noqa: F401  (doctests)

from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, axis_of
from ...numpy.joining import concatenate
from ...numpy.linalg import norm as norm_of
from ...numpy.ordering import moveaxis
from ...numpy.reductions import mean as mean_of
from ...numpy.reductions import min as min_of
from ...numpy.reductions import sum as sum_of
from ...numpy.reductions import var
from ...numpy.shaping import ravel
from ...numpy.statistics import median
from ...ops.arithmetic import absolute, divide, power
from ...ops.exponential import log, log1p
from ...ops.logic import equal
from ...ops.rounding import sign
from ...ops.select import maximum, minimum
from ...ops.select import where as choose
from ...ops.special import ndtri
from ...ops.trigonometric import arcsinh
from ..probabilities import in_one_dtype
from .betas import beta, f, t
from .comparing import ChanceResult, chance, power_divergence, require_side
from .descriptive import count_of, kurtosis, sample_of, skew
from .gammas import chi2
from .normal import norm
from .ranks import rankdata
from .spread import trim_mean

# ---------------------------------------------------------------- of a normal distribution


def skewtest(
    a: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> ChanceResult:
    """D'Agostino's test of the skewness of a normal distribution, 0; of 8 observations or more.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: that of `skew`.
    Raises: ArgumentError: no such `alternative`, `nan_policy` is not 'propagate'. ShapeError: there
    are fewer observations, or no such axis.
    Source: D'Agostino, Biometrika 57 (1970); SciPy reference, ``scipy.stats.skewtest``.

    >>> found = skewtest([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 18.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (2.6916, 0.0071)
    """
    alternative = require_side("skewtest", alternative)
    a = sample_of("skewtest", a, nan_policy)
    n = _enough("skewtest", a, axis, 8)
    y = skew(a, axis=axis, keepdims=keepdims) * math.sqrt((n + 1) * (n + 3) / (6 * (n - 2)))
    fourth = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
    square = math.sqrt(2 * (fourth - 1)) - 1
    z = arcsinh(y / math.sqrt(2 / (square - 1))) / math.sqrt(0.5 * math.log(square))
    return ChanceResult(z, chance(z, norm.sf, alternative))


def _enough(name: str, a: Any, axis: Any, least: int) -> float:
    n = count_of(name, a, axis)
    if n < least:
        raise ShapeError(f"stats.{name}: there are {n} observations; need {least}{where()}")
    return float(n)


def kurtosistest(
    a: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> ChanceResult:
    """Anscombe and Glynn's test of the kurtosis of a normal distribution; of 5 observations or more.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: that of `kurtosis`.
    Raises: as `skewtest`.
    Source: Anscombe & Glynn, Biometrika 70 (1983); SciPy reference, ``scipy.stats.kurtosistest``.

    >>> found = kurtosistest([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 18.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (2.4164, 0.0157)
    """
    alternative = require_side("kurtosistest", alternative)
    a = sample_of("kurtosistest", a, nan_policy)
    n = _enough("kurtosistest", a, axis, 5)
    spread = 24 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    off = kurtosis(a, axis=axis, fisher=False, keepdims=keepdims) - 3 * (n - 1) / (n + 1)
    lean = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
    lean *= math.sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    freedom = 6 + 8 / lean * (2 / lean + math.sqrt(1 + 4 / lean**2))
    below = 1 + off * math.sqrt(2 / (freedom - 4) / spread)
    below = choose(equal(below, 0.0), math.nan, below)
    root = sign(below) * power(divide(1 - 2 / freedom, absolute(below)), 1 / 3)
    z = (1 - 2 / (9 * freedom) - root) / math.sqrt(2 / (9 * freedom))
    return ChanceResult(z, chance(z, norm.sf, alternative))


def normaltest(
    a: Any, axis: Any = 0, nan_policy: str = "propagate", *, keepdims: bool = False
) -> ChanceResult:
    """D'Agostino and Pearson's test of a normal distribution: the sum of the squares of the statistics
    of `skewtest` and `kurtosistest`.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by `a`.
    Raises: as `skewtest`.
    Source: D'Agostino & Pearson, Biometrika 60 (1973); SciPy reference, ``scipy.stats.normaltest``.

    >>> found = normaltest([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 18.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (13.0834, 0.0014)
    """
    s, k = (g(a, axis, nan_policy, keepdims=keepdims).statistic for g in (skewtest, kurtosistest))
    statistic = s * s + k * k
    return ChanceResult(statistic, chi2.sf(statistic, 2.0))


# ---------------------------------------------------------------- of equal variances


def _rows(name: str, samples: Any, axis: Any, nan_policy: str) -> list[Any]:
    """The samples with the axis last.

    Raises: ArgumentError: there are fewer than two.
    """
    if len(samples) < 2:
        raise ArgumentError(f"stats.{name}: need two samples or more{where()}")
    found = in_one_dtype(*(sample_of(name, x, nan_policy) for x in samples))
    if axis is None:
        return [ravel(x) for x in found]
    return [moveaxis(x, axis_of(name, axis, x.ndim), -1) for x in found]


def bartlett(*samples: Any, axis: Any = 0, nan_policy: str = "propagate") -> ChanceResult:
    """Bartlett's test of whether normal samples have the same variance.

    Shapes: ``(*a, n_i, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by every sample; nan where one has no variance.
    Raises: ArgumentError: fewer than two samples, or `nan_policy` is not 'propagate'.
    Source: Bartlett, Proc. R. Soc. A 160 (1937); SciPy reference, ``scipy.stats.bartlett``.

    >>> found = bartlett([1.0, 2.0, 3.0], [2.0, 3.0, 9.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (2.2579, 0.1329)
    """
    rows = _rows("bartlett", samples, axis, nan_policy)
    free = [x.shape[-1] - 1.0 for x in rows]
    squares = [var(x, axis=-1, ddof=1) for x in rows]
    total, k = sum(free) or math.nan, len(rows)
    pooled, logs = 0.0, 0.0
    for n, square in zip(free, squares, strict=True):
        pooled, logs = pooled + n / total * square, logs + n * log(square)
    scale = 1 + (sum(1 / n if n else math.nan for n in free) - 1 / total) / (3 * (k - 1))
    statistic = maximum((total * log(pooled) - logs) / scale, 0.0)
    return ChanceResult(statistic, chi2.sf(statistic, k - 1))


def _distances(name: str, rows: list[Any], center: str, cut: float) -> list[Any]:
    """How far every observation is from the middle of its sample."""
    middles = {
        "mean": lambda x: mean_of(x, axis=-1, keepdims=True),
        "median": lambda x: median(x, axis=-1, keepdims=True),
        "trimmed": lambda x: trim_mean(x, cut, axis=-1)[..., None],
    }
    if center not in middles:
        raise ArgumentError(
            f"stats.{name}: center={center!r}; need one of {', '.join(map(repr, middles))}{where()}"
        )
    return [absolute(x - middles[center](x)) for x in rows]


def levene(
    *samples: Any,
    center: str = "median",
    proportiontocut: float = 0.05,
    axis: Any = 0,
    nan_policy: str = "propagate",
) -> ChanceResult:
    """Levene's test of whether samples have the same variance: `f_oneway` of distances to the median
    (Brown and Forsythe), the mean, or, if `center` is "trimmed", `trim_mean`.

    Shapes: ``(*a, n_i, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by every sample; that of `absolute`, 0 at the middle.
    Raises: ArgumentError: fewer than two samples, another `center`, `nan_policy` is not 'propagate'.
    Source: Levene, 1960; Brown & Forsythe, J. Am. Stat. Assoc. 69 (1974); SciPy reference,
    ``scipy.stats.levene``.

    >>> found = levene([1.0, 2.0, 3.0], [2.0, 3.0, 9.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (0.7813, 0.4267)
    """
    rows = _rows("levene", samples, axis, nan_policy)
    off = _distances("levene", rows, center, proportiontocut)
    counts, k = [x.shape[-1] for x in off], len(off)
    means = [mean_of(z, axis=-1, keepdims=True) for z in off]
    middle = sum(n / sum(counts) * m for n, m in zip(counts, means, strict=True))
    between: Any = 0.0
    within: Any = 0.0
    for z, n, m in zip(off, counts, means, strict=True):
        between = between + n * ((m - middle) * (m - middle))[..., 0]
        within = within + sum_of((z - m) * (z - m), axis=-1)
    free = sum(counts) - k
    statistic = free * between / ((k - 1) * within)
    return ChanceResult(statistic, f.sf(statistic, k - 1, free))


def fligner(
    *samples: Any,
    center: str = "median",
    proportiontocut: float = 0.05,
    axis: Any = 0,
    nan_policy: str = "propagate",
) -> ChanceResult:
    """Fligner and Killeen's test of equal variances: `levene` by the ranks of all distances.

    Shapes: ``(*a, n_i, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: zero.
    Raises: as `levene`.
    Source: Conover, Johnson & Johnson, Technometrics 23 (1981); SciPy reference,
    ``scipy.stats.fligner``.

    >>> found = fligner([1.0, 2.0, 3.0], [2.0, 3.0, 9.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (0.3891, 0.5328)
    """
    rows = _rows("fligner", samples, axis, nan_policy)
    off = concatenate(_distances("fligner", rows, center, proportiontocut), axis=-1)
    scores = ndtri(rankdata(off, axis=-1) / (2 * (off.shape[-1] + 1.0)) + 0.5)
    middle = mean_of(scores, axis=-1)
    statistic: Any = 0.0
    start = 0
    for x in rows:
        n = x.shape[-1]
        away = mean_of(scores[..., start : start + n], axis=-1) - middle
        statistic, start = statistic + n * away * away, start + n
    statistic = statistic / var(scores, axis=-1, ddof=1)
    return ChanceResult(statistic, chi2.sf(statistic, len(rows) - 1))


# ---------------------------------------------------------------- of tables and of p-values


class Chi2ContingencyResult(NamedTuple):
    """The test of a table of counts, its degrees of freedom, and the counts that are expected."""

    statistic: Any
    pvalue: Any
    dof: int
    expected_freq: Any


def chi2_contingency(
    observed: Any, correction: bool = True, lambda_: Any = None, *, method: Any = None
) -> Chi2ContingencyResult:
    """`power_divergence` of a table of counts from the products of its margins: Pearson's test of
    whether the axes are independent. `correction`: Yates's, by up to 1/2, for one degree of freedom.

    Shapes: ``observed: (*a) -> ()``, and ``(*a)`` for the counts that are expected.
    Dtypes: real; integers give float64.
    Derivative: by `observed`; with a correction, that of a counts that do not move within 1/2 is 0.
    Raises: ArgumentError: there are no counts, a known one is negative, one is expected to be 0, or
    `method` is given.
    Source: SciPy reference, ``scipy.stats.chi2_contingency``.

    >>> found = chi2_contingency([[10.0, 20.0, 30.0], [6.0, 9.0, 17.0]])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4)), found.dof
    (0.2716, 0.873, 2)
    """
    if method is not None:
        raise ArgumentError(f"stats.chi2_contingency: method={method!r} is not supported{where()}")
    seen = sample_of("chi2_contingency", observed)
    values = known(seen)
    if not seen.size or not seen.ndim or (values is not None and (values < 0).any()):
        raise ArgumentError(
            f"stats.chi2_contingency: need a table of counts, none of them negative{where()}"
        )
    total = sum_of(seen)
    expected: Any = total
    for axis in range(seen.ndim):
        others = tuple(i for i in range(seen.ndim) if i != axis)
        expected = expected * (sum_of(seen, axis=others, keepdims=True) / total)
    values = known(expected)
    if values is not None and (values == 0).any():
        raise ArgumentError(f"stats.chi2_contingency: a count is expected to be 0{where()}")
    dof = seen.size - sum(seen.shape) + seen.ndim - 1
    if not dof:
        return Chi2ContingencyResult(0.0 * total, 1.0 + 0.0 * total, 0, expected)
    if dof == 1 and correction:
        off = expected - seen
        seen = seen + sign(off) * minimum(absolute(off), 0.5)
    found = power_divergence(seen, expected, seen.size - 1 - dof, None, lambda_)
    return Chi2ContingencyResult(*found, dof, expected)


def combine_pvalues(
    pvalues: Any,
    method: str = "fisher",
    weights: Any = None,
    *,
    axis: Any = 0,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> ChanceResult:
    """The p-value of independent tests of one hypothesis.

    `method`: "fisher" (minus twice the sum of logarithms), "pearson" (of ``1 - p``),
    "mudholkar_george" (of odds), "tippett" (the least), "stouffer" (normal scores, with `weights`).

    Shapes: ``pvalues: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by `pvalues` and `weights`.
    Raises: ArgumentError: no such `method`, or `nan_policy` is not 'propagate'. ShapeError: no such
    axis.
    Source: Heard & Rubin-Delanchy, Biometrika 105 (2018); SciPy reference,
    ``scipy.stats.combine_pvalues``.

    >>> float(combine_pvalues([0.1, 0.05, 0.02]).pvalue.round(4))
    0.0053
    """
    p = sample_of("combine_pvalues", pvalues, nan_policy)
    n = count_of("combine_pvalues", p, axis)

    def total(x: Any) -> Any:
        return sum_of(x, axis=axis, keepdims=keepdims)

    if method == "fisher":
        statistic = -2.0 * total(log(p))
        return ChanceResult(statistic, chi2.sf(statistic, 2 * n))
    if method == "pearson":
        statistic = 2.0 * total(log1p(-p))
        return ChanceResult(statistic, chi2.cdf(-statistic, 2 * n))
    if method == "mudholkar_george":
        statistic, free = total(log1p(-p)) - total(log(p)), 5 * n + 4
        scale = math.sqrt(3 / n * free / (free - 2)) / math.pi
        return ChanceResult(statistic, t.sf(statistic * scale, free))
    if method == "tippett":
        statistic = min_of(p, axis=axis, keepdims=keepdims)
        return ChanceResult(statistic, beta.cdf(statistic, 1, n))
    if method != "stouffer":
        raise ArgumentError(
            f"stats.combine_pvalues: method={method!r}; need 'fisher', 'pearson', "
            f"'mudholkar_george', 'tippett' or 'stouffer'{where()}"
        )
    w = p * 0.0 + 1.0 if weights is None else array_of(weights)
    p, w = in_one_dtype(p, w)
    statistic = total(w * norm.isf(p)) / norm_of(w + p * 0.0, axis=axis, keepdims=keepdims)
    return ChanceResult(statistic, norm.sf(statistic))
