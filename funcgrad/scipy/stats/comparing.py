"""Tests of whether samples differ: a statistic, and the probability of one as far out by chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core import Tracer
from ...errors import ArgumentError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, axes_of, axis_of, converted
from ...numpy.reductions import mean as mean_of
from ...numpy.reductions import sum as sum_of
from ...numpy.reductions import var
from ...numpy.shaping import squeeze
from ...ops.arithmetic import absolute, divide, power
from ...ops.exponential import sqrt, xlogy
from ...ops.logic import equal
from ...ops.select import where as choose
from ..probabilities import in_one_dtype
from .betas import f, t
from .descriptive import count_of, kurtosis, sample_of, skew
from .gammas import chi2
from .results import Result

_SIDES = ("two-sided", "less", "greater")


class ChanceResult(NamedTuple):
    """A statistic, and the probability of one as far out by chance."""

    statistic: Any
    pvalue: Any


class TtestResult(Result):
    """What a t-test says: ``statistic, pvalue = ...``, and the degrees of freedom `df`."""

    _fields = ("statistic", "pvalue")

    def __init__(self, statistic: Any, df: Any, alternative: str) -> None:
        self.statistic, self.df = statistic, df
        self.pvalue = chance(statistic, lambda v: t.sf(v, df), alternative)

    def __repr__(self) -> str:
        return f"TtestResult(statistic={self.statistic}, pvalue={self.pvalue}, df={self.df})"


def require_side(name: str, alternative: str) -> str:
    """Raises: ArgumentError: no such alternative."""
    if alternative not in _SIDES:
        raise ArgumentError(
            f"stats.{name}: alternative={alternative!r}; need one of {', '.join(map(repr, _SIDES))}"
            f"{where()}"
        )
    return alternative


def chance(statistic: Any, sf: Callable[[Any], Any], alternative: str) -> Any:
    """The probability of a number as far out, for a symmetric distribution with the given `sf`."""
    if alternative == "two-sided":
        return 2.0 * sf(absolute(statistic))
    return sf(-statistic if alternative == "less" else statistic)


def ttest_1samp(
    a: Any,
    popmean: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> TtestResult:
    """``(mean(a) - popmean) / (std(a, ddof=1) / sqrt(n))`` along the axis, and its t-test.

    The result has ``statistic``, ``pvalue`` and ``df``, and gives the first two when it is unpacked.

    Shapes: ``a: (*a, n, *b), popmean: () or (*a, *b) -> (*a, *b)``.
    Dtypes: real; integers give float64.
    Derivative: by `a` and `popmean`; nan where all are the same; that of a two-sided `pvalue` is 0
    where the statistic is.
    Raises: ArgumentError: no such `alternative`, or `nan_policy` is not 'propagate'. ShapeError: more
    than one `popmean` along the axis.
    Source: SciPy reference, ``scipy.stats.ttest_1samp``.

    >>> found = ttest_1samp([1.0, 2.0, 3.0], 0.0)
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4)), found.df
    (3.4641, 0.0742, 2)
    """
    alternative = require_side("ttest_1samp", alternative)
    a = sample_of("ttest_1samp", a, nan_policy)
    n = count_of("ttest_1samp", a, axis)
    popmean = converted(array_of(popmean), a.dtype)
    if popmean.ndim and popmean.ndim == a.ndim:
        axes = axes_of("ttest_1samp", axis, a.ndim)
        if any(popmean.shape[i] != 1 for i in axes):
            raise ShapeError(
                f"stats.ttest_1samp: popmean has shape {list(popmean.shape)}; need one along the axis, "
                f"or none{where()}"
            )
        popmean = popmean if keepdims else squeeze(popmean, axes)
    off = mean_of(a, axis=axis, keepdims=keepdims) - popmean
    square = var(a, axis=axis, ddof=1, keepdims=keepdims)
    return TtestResult(off / sqrt(square / n), n - 1, alternative)


def ttest_rel(
    a: Any,
    b: Any,
    axis: Any = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    *,
    keepdims: bool = False,
) -> TtestResult:
    """`ttest_1samp` of the differences ``a - b`` of pairs.

    Shapes: ``a, b: (*a, n, *b) -> (*a, *b)``.   Dtypes, Derivative, Raises: as `ttest_1samp`.
    Source: SciPy reference, ``scipy.stats.ttest_rel``.

    >>> float(ttest_rel([1.0, 2.0, 4.0], [0.0, 0.0, 1.0]).statistic.round(4))
    3.4641
    """
    one, other = (sample_of("ttest_rel", x, nan_policy) for x in (a, b))
    return ttest_1samp(one - other, 0.0, axis, nan_policy, alternative, keepdims=keepdims)


def _two_means(
    means: Any, squares: Any, counts: Any, equal_var: bool, alternative: str
) -> TtestResult:
    (v1, v2), (n1, n2) = squares, counts
    if equal_var:
        df = n1 + n2 - 2.0
        spread = sqrt(((n1 - 1.0) * v1 + (n2 - 1.0) * v2) / df * (1.0 / n1 + 1.0 / n2))
    else:
        e1, e2 = v1 / n1, v2 / n2
        total = e1 + e2
        shares = e1 * e1 / (n1 - 1.0) + e2 * e2 / (n2 - 1.0)
        still = equal(shares, 0.0)  # without any spread the statistic is infinite, for every df
        df = choose(still, 1.0, total * total / choose(still, 1.0, shares))
        spread = sqrt(total)
    return TtestResult((means[0] - means[1]) / spread, df, alternative)


def ttest_ind(
    a: Any,
    b: Any,
    *,
    axis: Any = 0,
    equal_var: bool = True,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
    trim: Any = 0,
    method: Any = None,
    keepdims: bool = False,
) -> TtestResult:
    """The t-test of the means of two samples: with one variance, or Welch's if not `equal_var`.

    Shapes: ``a: (*a, n, *b), b: (*a, m, *b) -> (*a, *b)``.   Dtypes, Derivative: as `ttest_1samp`.
    Raises: as `ttest_1samp`; ArgumentError: `trim` or `method` is given.
    Source: SciPy reference, ``scipy.stats.ttest_ind``.

    >>> found = ttest_ind([1.0, 2.0, 3.0], [2.0, 3.0, 7.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (-1.2247, 0.2879)
    """
    if trim or method is not None:
        raise ArgumentError(f"stats.ttest_ind: trim= and method= are not supported{where()}")
    alternative = require_side("ttest_ind", alternative)
    samples = [sample_of("ttest_ind", x, nan_policy) for x in (a, b)]
    means = [mean_of(x, axis=axis, keepdims=keepdims) for x in samples]
    squares = [var(x, axis=axis, ddof=1, keepdims=keepdims) for x in samples]
    counts = [float(count_of("ttest_ind", x, axis)) for x in samples]
    return _two_means(means, squares, counts, equal_var, alternative)


def ttest_ind_from_stats(
    mean1: Any,
    std1: Any,
    nobs1: Any,
    mean2: Any,
    std2: Any,
    nobs2: Any,
    equal_var: bool = True,
    alternative: str = "two-sided",
) -> TtestResult:
    """`ttest_ind` of samples of which means, standard deviations (``ddof=1``) and sizes are known.

    Shapes: broadcast.   Dtypes: real; integers give float64.
    Derivative: by every number.
    Raises: ArgumentError: no such `alternative`.
    Source: SciPy reference, ``scipy.stats.ttest_ind_from_stats``.

    >>> float(ttest_ind_from_stats(2.0, 1.0, 3, 4.0, 7**0.5, 3).statistic.round(4))
    -1.2247
    """
    alternative = require_side("ttest_ind_from_stats", alternative)
    m1, s1, n1, m2, s2, n2 = in_one_dtype(mean1, std1, nobs1, mean2, std2, nobs2)
    return _two_means((m1, m2), (s1 * s1, s2 * s2), (n1, n2), equal_var, alternative)


def f_oneway(
    *samples: Any,
    axis: int = 0,
    equal_var: bool = True,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> ChanceResult:
    """The quotient of the variances between and within samples, and the F-test that the means agree.

    Shapes: ``(*a, n_i, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by every sample; nan where there is no variance.
    Raises: ArgumentError: fewer than two samples, or `equal_var` is False.
    Source: SciPy reference, ``scipy.stats.f_oneway``.

    >>> found = f_oneway([1.0, 2.0, 3.0], [2.0, 3.0, 7.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (1.5, 0.2879)
    """
    if len(samples) < 2 or not equal_var:
        raise ArgumentError(
            f"stats.f_oneway: need two samples or more, and equal_var=True{where()}"
        )
    found = in_one_dtype(*(sample_of("f_oneway", x, nan_policy) for x in samples))
    counts = [x.shape[axis_of("f_oneway", axis, x.ndim)] for x in found]
    means = [mean_of(x, axis=axis, keepdims=True) for x in found]
    n, k = sum(counts), len(found)
    middle: Any = 0.0
    for count, m in zip(counts, means, strict=True):
        middle = middle + m * (count / n)
    between: Any = 0.0
    within: Any = 0.0
    for x, count, m in zip(found, counts, means, strict=True):
        d, e = m - middle, x - m
        between = between + count * sum_of(d * d, axis=axis, keepdims=keepdims)
        within = within + sum_of(e * e, axis=axis, keepdims=keepdims)
    statistic = (between / (k - 1)) / (within / (n - k))
    return ChanceResult(statistic, f.sf(statistic, k - 1, n - k))


def chisquare(
    f_obs: Any,
    f_exp: Any = None,
    ddof: Any = 0,
    axis: Any = 0,
    *,
    sum_check: bool = True,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> ChanceResult:
    """``sum((f_obs - f_exp)**2 / f_exp)`` along the axis, and Pearson's test of the frequencies.

    Without `f_exp` all are expected to be equal. `sum_check`: that the sums agree, where known.

    Shapes: ``(*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by `f_obs` and `f_exp`.
    Raises: ArgumentError: the sums of the frequencies do not agree.
    Source: SciPy reference, ``scipy.stats.chisquare``.

    >>> found = chisquare([16.0, 18.0, 16.0, 14.0, 12.0, 12.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (2.0, 0.8491)
    """
    return _divergence("chisquare", f_obs, f_exp, ddof, axis, 1.0, sum_check, nan_policy, keepdims)


_POWERS = {
    "pearson": 1.0,
    "log-likelihood": 0.0,
    "freeman-tukey": -0.5,
    "mod-log-likelihood": -1.0,
    "neyman": -2.0,
    "cressie-read": 2 / 3,
}


def power_divergence(
    f_obs: Any,
    f_exp: Any = None,
    ddof: Any = 0,
    axis: Any = 0,
    lambda_: Any = None,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> ChanceResult:
    """``2 / (l (l + 1)) sum(f_obs ((f_obs / f_exp)**l - 1))`` along the axis, and its test.

    `lambda_`, a number or "pearson" (1, as `chisquare`), "log-likelihood" (0, the G-test),
    "freeman-tukey" (-1/2), "mod-log-likelihood" (-1), "neyman" (-2), "cressie-read" (2/3).

    Shapes: ``(*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by `f_obs` and `f_exp`; none by `lambda_`.
    Raises: ArgumentError: the sums of the frequencies do not agree, `lambda_` is not known.
    Source: Cressie & Read, J. R. Stat. Soc. B 46 (1984); SciPy reference,
    ``scipy.stats.power_divergence``.

    >>> found = power_divergence([16.0, 18.0, 16.0, 14.0, 12.0, 12.0], lambda_="log-likelihood")
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (2.0066, 0.8482)
    """
    return _divergence(
        "power_divergence", f_obs, f_exp, ddof, axis, power_of(lambda_), True, nan_policy, keepdims
    )


def power_of(lambda_: Any) -> float:
    """The number of a power divergence.

    Raises: ArgumentError: there is no such name, or it is traced.
    """
    found = 1.0 if lambda_ is None else lambda_
    found = _POWERS.get(found, math.nan) if isinstance(found, str) else found
    if isinstance(found, Tracer) or np.ndim(found) or math.isnan(found):
        raise ArgumentError(
            f"stats.power_divergence: lambda_={lambda_!r}; need a constant, or one of "
            f"{', '.join(map(repr, _POWERS))}{where()}"
        )
    return float(found)


def _divergence(
    name: str,
    f_obs: Any,
    f_exp: Any,
    ddof: Any,
    axis: Any,
    by: float,
    sum_check: bool,
    nan_policy: str,
    keepdims: bool,
) -> ChanceResult:
    seen = sample_of(name, f_obs, nan_policy)
    if f_exp is None:
        expected = mean_of(seen, axis=axis, keepdims=True)
    else:
        seen, expected = in_one_dtype(seen, sample_of(name, f_exp, nan_policy))
        if sum_check:
            _require_same_sums(name, seen, expected, axis)
    count = count_of(name, seen - expected, axis)
    statistic = sum_of(_terms(seen, expected, by), axis=axis, keepdims=keepdims)
    return ChanceResult(statistic, chi2.sf(statistic, count - 1 - ddof))


def _terms(seen: Any, expected: Any, by: float) -> Any:
    off = seen - expected
    if by == 1.0:
        return divide(off * off, expected)
    if by == 0.0:
        return 2.0 * xlogy(seen, divide(seen, expected))
    if by == -1.0:
        return 2.0 * xlogy(expected, divide(expected, seen))
    return 2.0 / (by * (by + 1.0)) * seen * (power(divide(seen, expected), by) - 1.0)


def _require_same_sums(name: str, seen: Any, expected: Any, axis: Any) -> None:
    found = [known(sum_of(x, axis=axis)) for x in (seen, expected)]
    if any(x is None for x in found):
        return
    a, b = found
    loose = math.sqrt(np.finfo(seen.dtype).eps)
    if (abs(a - b) > loose * np.minimum(abs(a), abs(b))).any():
        raise ArgumentError(
            f"stats.{name}: the sums of the frequencies are {a} and {b}; need the same{where()}"
        )


def jarque_bera(
    x: Any, *, axis: Any = None, nan_policy: str = "propagate", keepdims: bool = False
) -> ChanceResult:
    """``n (skew**2 + kurtosis**2 / 4) / 6`` along the axis, and the test of a normal distribution.

    Shapes: ``(*a, n, *b) -> (*a, *b)``, ``()`` if `axis` is None.
    Dtypes: real; integers give float64.
    Derivative: that of `skew` and `kurtosis`.
    Raises: ShapeError: there are no observations, or no such axis.
    Source: SciPy reference, ``scipy.stats.jarque_bera``.

    >>> float(jarque_bera([1.0, 2.0, 6.0]).statistic.round(4))
    0.4583
    """
    x = sample_of("jarque_bera", x, nan_policy)
    n = count_of("jarque_bera", x, axis)
    if not n:
        raise ShapeError(f"stats.jarque_bera: there are no observations{where()}")
    s, k = (g(x, axis=axis, keepdims=keepdims) for g in (skew, kurtosis))
    statistic = n / 6.0 * (s * s + 0.25 * k * k)
    return ChanceResult(statistic, chi2.sf(statistic, 2.0))
