"""Tests by order: of Kolmogorov and Smirnov, of ranks.

What ranks say has no derivative, so p-values without a formula are SciPy's own, of samples that are
known; they are computed when somebody asks for them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Tracer, aval_of
from ...errors import ArgumentError, ConcretizationError, ShapeError, where
from ...numpy._arguments import axis_of, beside, host
from ...ops.from_scipy import scipy_package
from ...ops.select import stop_gradient
from ..probabilities import in_one_dtype
from .comparing import ChanceResult, chance, require_side
from .descriptive import sample_of
from .gammas import chi2
from .normal import norm
from .ranks import rankdata, tie_correction
from .results import Result

_PAIRS = 1 << 22  # that are compared at a time


class OrderResult(Result):
    """``statistic, pvalue = ...``; the latter is found when it is asked for.

    Of Kolmogorov and Smirnov's tests also where the statistic is, and on which side.
    """

    _fields = ("statistic", "pvalue")

    def __init__(self, statistic: Any, pvalue: Callable[[], Any], **others: Any) -> None:
        self.statistic, self._pvalue = statistic, pvalue
        self.__dict__.update(others)

    def _parts(self) -> dict[str, Any]:
        try:
            found = self.pvalue
        except ConcretizationError:
            found = None
        return {**vars(self), "_pvalue": found}

    @property
    def pvalue(self) -> Any:
        """
        Raises: ConcretizationError: the samples are traced.
        """
        if self._pvalue is None:
            raise ConcretizationError(
                f"the p-value is found by SciPy, for samples that are known; these were traced{where()}"
            )
        return self._pvalue() if callable(self._pvalue) else self._pvalue

    def __repr__(self) -> str:
        return f"{type(self).__name__}(statistic={self.statistic})"


def _scipys(name: str, samples: Any, **options: Any) -> Callable[[], Any]:
    """The p-value that SciPy's function finds for the samples, when somebody asks."""

    def ask() -> Any:
        found = [host(f"stats.{name}", "a sample, for its p-value,", x) for x in samples]
        return getattr(_scipy_stats(name), name)(*found, **options).pvalue

    return ask


def _scipy_stats(name: str) -> Any:
    return scipy_package("stats", f"the p-value of stats.{name}")


def _row(name: str, x: Any, nan_policy: str = "propagate") -> Any:
    x = sample_of(name, x, nan_policy)
    if x.ndim != 1 or not x.shape[0]:
        raise ShapeError(
            f"stats.{name}: a sample has shape {list(x.shape)}; need a row that is not empty{where()}"
        )
    return x


def _or_nan(value: Any, *samples: Any) -> Any:
    """`value`, or nan where there is one in a sample."""
    lost = sum(fnp.any(fnp.isnan(x)) for x in samples) > 0
    return fnp.where(lost, np.nan, value)


# ---------------------------------------------------------------- Kolmogorov and Smirnov


def ks_1samp(
    x: Any,
    cdf: Callable[..., Any],
    args: Any = (),
    alternative: str = "two-sided",
    method: str = "auto",
    *,
    axis: Any = 0,
    nan_policy: str = "propagate",
) -> OrderResult:
    """The largest distance of ``cdf(x, *args)`` from the share of observations up to x.

    `alternative`: "two-sided", "greater" (how far that is above `cdf`) or "less". The result has
    ``statistic``, ``statistic_location``, ``statistic_sign``, and ``pvalue`` where the statistic is
    known: SciPy computes it.

    Shapes: ``x: (*a, n, *b) -> (*a, *b)``, ``()`` if `axis` is None.
    Dtypes: real; integers give float64.
    Derivative: of the statistic by `x`, `args` and what `cdf` closes over: that of `cdf` at the place
    of the distance, the first of several.
    Raises: ArgumentError: no such `alternative` or `method`, `pvalue` of a traced statistic.
    ShapeError: there are no observations.
    Source: SciPy reference, ``scipy.stats.ks_1samp``.

    >>> from funcgrad.scipy import stats
    >>> found = ks_1samp([-1.0, 0.2, 0.5, 1.5], stats.norm.cdf)
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (0.3293, 0.6758)
    """
    side = require_side("ks_1samp", alternative)
    if method not in ("auto", "exact", "approx", "asymp"):
        raise ArgumentError(
            f"stats.ks_1samp: method={method!r}; need 'auto', 'exact', 'approx' or 'asymp'{where()}"
        )
    (x,) = _last("ks_1samp", (x,), axis, nan_policy)
    x = fnp.sort(x, axis=-1)
    n = x.shape[-1]
    if not n:
        raise ShapeError(f"stats.ks_1samp: there are no observations{where()}")
    values = cdf(x, *args)
    above, at_above = _largest(beside(x, np.arange(1.0, n + 1) / n) - values, x)
    below, at_below = _largest(values - beside(x, np.arange(0.0, n) / n), x)
    upper = {"greater": True, "less": False}.get(side, above > below)
    statistic = fnp.where(upper, above, below)

    def pvalue() -> Any:
        if isinstance(statistic, Tracer):
            raise ArgumentError(
                f"stats.ks_1samp: SciPy finds the p-value, without its derivative by the statistic, "
                f"which is traced; use the statistic, or stop_gradient of what it is made of{where()}"
            )
        d = host("stats.ks_1samp", "the statistic", statistic)[()]
        theirs = _scipy_stats("ks_1samp")
        if side != "two-sided":
            return theirs.ksone.sf(d, n)
        if method == "asymp":
            return theirs.kstwobign.sf(d * np.sqrt(n))
        found = 2.0 * theirs.ksone.sf(d, n) if method == "approx" else theirs.kstwo.sf(d, n)
        return np.clip(found, 0.0, 1.0)

    return OrderResult(
        statistic,
        pvalue,
        statistic_location=fnp.where(upper, at_above, at_below),
        statistic_sign=fnp.broadcast_to(fnp.where(upper, 1, -1), aval_of(statistic).shape),
    )


def _largest(off: Any, x: Any) -> tuple[Any, Any]:
    """The largest element along the last axis, and that of `x` at the same place."""
    place = fnp.expand_dims(fnp.argmax(off, axis=-1), -1)
    found = [fnp.take_along_axis(v, place, -1)[..., 0] for v in (off, x)]
    return found[0], found[1]


def ks_2samp(
    data1: Any,
    data2: Any,
    alternative: str = "two-sided",
    method: str = "auto",
    *,
    nan_policy: str = "propagate",
) -> OrderResult:
    """The largest distance of the shares of two samples up to any number.

    `alternative`: "two-sided", "greater" (how far the first is above the second) or "less". The result
    has ``statistic``, ``statistic_location``, ``statistic_sign``, and ``pvalue`` where the samples are
    known: SciPy computes it, by `method`.

    Shapes: ``data1: (n,), data2: (m,) -> ()``.   Dtypes: real; gives float64.
    Derivative: of the statistic zero; of its place that of the observation.
    Raises: ArgumentError: no such `alternative`. ShapeError: a sample is no row. ConcretizationError:
    `pvalue` of traced samples.
    Source: SciPy reference, ``scipy.stats.ks_2samp``.

    >>> found = ks_2samp([1.0, 2.0, 3.0, 4.0], [2.5, 3.5, 4.5])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (0.5, 0.6571)
    """
    side = require_side("ks_2samp", alternative)
    rows = in_one_dtype(_row("ks_2samp", data1, nan_policy), _row("ks_2samp", data2, nan_policy))
    first, second = (fnp.sort(x) for x in rows)
    both = fnp.concatenate([first, second])
    shares = [
        fnp.searchsorted(x, stop_gradient(both), side="right") / x.shape[0] for x in (first, second)
    ]
    above, at_above = _largest(shares[0] - shares[1], both)
    below, at_below = _largest(shares[1] - shares[0], both)
    below = fnp.clip(below, 0.0, 1.0)
    upper = {"greater": True, "less": False}.get(side, above >= below)
    return OrderResult(
        _or_nan(fnp.where(upper, above, below), *rows),
        _scipys("ks_2samp", rows, alternative=side, method=method),
        statistic_location=_or_nan(fnp.where(upper, at_above, at_below), *rows),
        statistic_sign=fnp.where(upper, 1, -1),
    )


def kstest(
    rvs: Any,
    cdf: Any,
    args: Any = (),
    N: int = 20,
    alternative: str = "two-sided",
    method: str = "auto",
    *,
    nan_policy: str = "propagate",
) -> OrderResult:
    """`ks_1samp` of `rvs` and `cdf`, a function or the name of a distribution, or `ks_2samp` if `cdf`
    is another sample. `N` changes nothing.

    Shapes, Dtypes, Derivative, Raises: as these; ArgumentError: `rvs` is a name or a function.
    Source: SciPy reference, ``scipy.stats.kstest``.

    >>> float(kstest([-1.0, 0.2, 0.5, 1.5], "norm").statistic.round(4))
    0.3293
    """
    if isinstance(rvs, str) or callable(rvs):
        raise ArgumentError(f"stats.kstest: rvs={rvs!r}; need a sample: numbers{where()}")
    if isinstance(cdf, str):
        found: Any = getattr(importlib.import_module(__package__), cdf, None)
        if not callable(getattr(found, "cdf", None)):
            raise ArgumentError(f"stats.kstest: there is no distribution {cdf!r} here{where()}")
        cdf = found.cdf
    if callable(cdf):
        return ks_1samp(rvs, cdf, args, alternative, method, nan_policy=nan_policy)
    return ks_2samp(rvs, cdf, alternative, method, nan_policy=nan_policy)


# ---------------------------------------------------------------- ranks of pairs


def kendalltau(
    x: Any,
    y: Any,
    *,
    nan_policy: str = "propagate",
    method: str = "auto",
    variant: str = "b",
    alternative: str = "two-sided",
) -> OrderResult:
    """How many more pairs are in the same order in `x` and `y` than in the opposite one, as a share.

    `variant`: "b" (of the pairs without ties) or "c" (for tables that are not square). ``pvalue`` is
    SciPy's, where the samples are known.

    Shapes: ``x, y: (n,) -> ()``.   Dtypes: real; gives float64.
    Derivative: zero.
    Raises: ShapeError: `x` and `y` are no rows of one length. ArgumentError: no such `variant` or
    `alternative`. ConcretizationError: `pvalue` of traced samples.
    Source: Kendall, Biometrika 33 (1945); SciPy reference, ``scipy.stats.kendalltau``.

    >>> found = kendalltau([1.0, 2.0, 3.0, 5.0], [2.0, 1.0, 4.0, 5.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (0.6667, 0.3333)
    """
    side = require_side("kendalltau", alternative)
    if variant not in ("b", "c"):
        raise ArgumentError(f"stats.kendalltau: variant={variant!r}; need 'b' or 'c'{where()}")
    rows = [stop_gradient(_row("kendalltau", v, nan_policy)) for v in (x, y)]
    n = rows[0].shape[0]
    if rows[1].shape[0] != n:
        raise ShapeError(
            f"stats.kendalltau: the rows have {n} and {rows[1].shape[0]} elements{where()}"
        )
    x, y = (
        fnp.searchsorted(fnp.sort(v), v) * 1.0 for v in rows
    )  # infinities have differences, too
    balance, apart = _concordance(x, y)
    apart = [fnp.where(count == 0, np.nan, count) for count in apart]
    if variant == "b":
        tau = balance / fnp.sqrt(apart[0]) / fnp.sqrt(apart[1])
    else:
        kinds = fnp.minimum(*(1 + fnp.sum(fnp.diff(fnp.sort(v)) != 0) for v in (x, y)))
        tau = 2.0 * balance / (n * n * fnp.maximum(kinds - 1.0, 0.5) / kinds)  # nan below
    tau = fnp.clip(tau, -1.0, 1.0) + 0.0 * (apart[0] + apart[1])
    options = {"method": method, "variant": variant, "alternative": side}
    return OrderResult(_or_nan(tau, *rows), _scipys("kendalltau", rows, **options))


def _concordance(x: Any, y: Any) -> tuple[Any, list[Any]]:
    """The pairs in one order less those in opposite ones; the pairs without ties in `x`, and in `y`."""
    n = x.shape[0]
    block = max(_PAIRS // n, 1)
    total: list[Any] = [0.0, 0.0, 0.0]
    for start in range(0, n, block):
        a, b = (fnp.sign(v[start : start + block, None] - v) for v in (x, y))
        total = [t + 0.5 * fnp.sum(p) for t, p in zip(total, (a * b, a * a, b * b), strict=True)]
    return total[0], total[1:]


def mannwhitneyu(
    x: Any,
    y: Any,
    use_continuity: bool = True,
    alternative: str = "two-sided",
    axis: Any = 0,
    method: str = "auto",
    *,
    nan_policy: str = "propagate",
) -> OrderResult:
    """In how many pairs the element of `x` is greater than that of `y`; half for equal ones.

    ``pvalue`` is SciPy's, where the samples are known, by `method` and with `use_continuity`.

    Shapes: ``x: (*a, n, *b), y: (*a, m, *b) -> (*a, *b)``.   Dtypes: real; gives float64.
    Derivative: zero.
    Raises: ArgumentError: no such `alternative`. ConcretizationError: `pvalue` of traced samples.
    Source: Mann & Whitney, Ann. Math. Stat. 18 (1947); SciPy reference, ``scipy.stats.mannwhitneyu``.

    >>> found = mannwhitneyu([1.0, 4.0, 5.0], [2.0, 3.0])
    >>> float(found.statistic), float(found.pvalue.round(4))
    (4.0, 0.8)
    """
    side = require_side("mannwhitneyu", alternative)
    rows = [stop_gradient(v) for v in _last("mannwhitneyu", (x, y), axis, nan_policy)]
    n = rows[0].shape[-1]
    ranks = rankdata(fnp.concatenate(rows, axis=-1), axis=-1)
    u = fnp.sum(ranks[..., :n], axis=-1) - 0.5 * n * (n + 1)
    options = {"use_continuity": use_continuity, "alternative": side, "method": method}
    return OrderResult(u, _scipys("mannwhitneyu", rows, axis=-1, **options))


def _last(name: str, samples: Any, axis: Any, nan_policy: str) -> list[Any]:
    """The samples in one dtype with the axis last; raveled if it is None."""
    found = in_one_dtype(*(sample_of(name, v, nan_policy) for v in samples))
    if axis is None:
        return [fnp.ravel(v) for v in found]
    return [fnp.moveaxis(v, axis_of(name, axis, v.ndim), -1) for v in found]


def wilcoxon(
    x: Any,
    y: Any = None,
    zero_method: str = "wilcox",
    correction: bool = False,
    alternative: str = "two-sided",
    method: str = "auto",
    *,
    axis: Any = 0,
    nan_policy: str = "propagate",
) -> OrderResult:
    """The sum of the ranks of the sizes of positive ``x - y``; two-sided the lesser of that and the
    one of negative ones.

    `zero_method`: what to do with differences of 0: "wilcox" (leave them out), "pratt" (rank them, but
    do not count them) or "zsplit" (count one half on either side). ``pvalue`` is SciPy's, where the
    samples are known, by `method` and with `correction`.

    Shapes: ``x, y: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; gives float64.
    Derivative: zero.
    Raises: ArgumentError: no such `zero_method` or `alternative`. ConcretizationError: `pvalue` of
    traced samples.
    Source: Wilcoxon, Biometrics Bull. 1 (1945); SciPy reference, ``scipy.stats.wilcoxon``.

    >>> found = wilcoxon([1.0, -2.0, 3.0, 4.0, -0.5])
    >>> float(found.statistic), float(found.pvalue.round(4))
    (4.0, 0.4375)
    """
    side = require_side("wilcoxon", alternative)
    if zero_method not in ("wilcox", "pratt", "zsplit"):
        raise ArgumentError(
            f"stats.wilcoxon: zero_method={zero_method!r}; need 'wilcox', 'pratt' or 'zsplit'{where()}"
        )
    rows = _last("wilcoxon", (x,) if y is None else (x, y), axis, nan_policy)
    d = stop_gradient(rows[0] if y is None else rows[0] - rows[1])
    ranks = rankdata(fnp.absolute(d), axis=-1)
    zeros = fnp.sum(d == 0, axis=-1, keepdims=True)
    if zero_method == "wilcox":
        ranks = fnp.where(d == 0, 0.0, ranks - zeros)
    share = 0.5 if zero_method == "zsplit" else 0.0
    signs = [fnp.where(d == 0, share, s * d > 0) for s in (1, -1)]
    plus, minus = (fnp.sum(s * ranks, axis=-1) for s in signs)
    statistic = fnp.minimum(plus, minus) if side == "two-sided" else plus
    options = {"zero_method": zero_method, "correction": correction, "method": method}
    ask = _scipys("wilcoxon", (d,), axis=-1, alternative=side, **options)
    return OrderResult(statistic, ask)


# ---------------------------------------------------------------- sums of ranks


def ranksums(
    x: Any,
    y: Any,
    alternative: str = "two-sided",
    *,
    axis: Any = 0,
    nan_policy: str = "propagate",
) -> ChanceResult:
    """The sum of the ranks of `x` among all, in normal scores, and its test.

    Shapes: ``x: (*a, n, *b), y: (*a, m, *b) -> (*a, *b)``.   Dtypes: real; gives float64.
    Derivative: zero.
    Raises: ArgumentError: no such `alternative`. ShapeError: no such axis.
    Source: SciPy reference, ``scipy.stats.ranksums``.

    >>> found = ranksums([1.0, 4.0, 5.0], [2.0, 3.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (0.5774, 0.5637)
    """
    side = require_side("ranksums", alternative)
    rows = _last("ranksums", (x, y), axis, nan_policy)
    n, m = (v.shape[-1] for v in rows)
    total = fnp.sum(rankdata(fnp.concatenate(rows, axis=-1), axis=-1)[..., :n], axis=-1)
    z = (total - 0.5 * n * (n + m + 1)) / np.sqrt(n * m * (n + m + 1) / 12.0)
    return ChanceResult(z, chance(z, norm.sf, side))


def kruskal(*samples: Any, nan_policy: str = "propagate", axis: Any = 0) -> ChanceResult:
    """Kruskal and Wallis's H: `f_oneway` of ranks, corrected for ties, and its test.

    Shapes: ``(*a, n_i, *b) -> (*a, *b)``.   Dtypes: real; gives float64.
    Derivative: zero.
    Raises: ArgumentError: fewer than two samples. ShapeError: no such axis.
    Source: Kruskal & Wallis, J. Am. Stat. Assoc. 47 (1952); SciPy reference,
    ``scipy.stats.kruskal``.

    >>> found = kruskal([1.0, 3.0, 5.0], [2.0, 4.0, 6.0, 8.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (1.125, 0.2888)
    """
    if len(samples) < 2:
        raise ArgumentError(f"stats.kruskal: need two samples or more{where()}")
    rows = [stop_gradient(v) for v in _last("kruskal", samples, axis, nan_policy)]
    both = fnp.concatenate(rows, axis=-1)
    n = both.shape[-1]
    ranks = rankdata(both, axis=-1)
    squares: Any = 0.0
    start = 0
    for row in rows:
        m = row.shape[-1]
        total = fnp.sum(ranks[..., start : start + m], axis=-1)
        squares, start = squares + total * total / m, start + m
    h = 12.0 / (n * (n + 1)) * squares - 3 * (n + 1)
    h = h / (1.0 - tie_correction(both) / (n**3 - n))
    return ChanceResult(h, chi2.sf(h, len(rows) - 1))


def friedmanchisquare(*samples: Any, axis: Any = 0, nan_policy: str = "propagate") -> ChanceResult:
    """Friedman's statistic of the ranks of repeated measurements, corrected for ties, and its test.

    Shapes: ``(*a, n, *b) -> (*a, *b)``, all samples the same.   Dtypes: real; gives float64.
    Derivative: zero.
    Raises: ArgumentError: fewer than three samples. ShapeError: no such axis, or other shapes.
    Source: Friedman, J. Am. Stat. Assoc. 32 (1937); SciPy reference,
    ``scipy.stats.friedmanchisquare``.

    >>> found = friedmanchisquare([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], [3.0, 1.0, 5.0])
    >>> float(found.statistic.round(4)), float(found.pvalue.round(4))
    (2.0, 0.3679)
    """
    k = len(samples)
    if k < 3:
        raise ArgumentError(f"stats.friedmanchisquare: {k} samples; need three or more{where()}")
    rows = [stop_gradient(v) for v in _last("friedmanchisquare", samples, axis, nan_policy)]
    if len({aval_of(v).shape for v in rows}) > 1:
        raise ShapeError(f"stats.friedmanchisquare: the samples differ in shape{where()}")
    data = fnp.stack(rows, axis=-1)
    n = data.shape[-2]
    totals = fnp.sum(rankdata(data, axis=-1), axis=-2)
    ties = fnp.sum(tie_correction(data), axis=-1)
    q = 12.0 / (k * n * (k + 1)) * fnp.sum(totals * totals, axis=-1) - 3 * n * (k + 1)
    q = q / (1.0 - ties / (k * (k * k - 1) * n))
    return ChanceResult(q, chi2.sf(q, k - 1))
