"""Statistics of what lies within limits, and of spacings; unbiased cumulants."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import axis_of, beside, converted
from .descriptive import count_of, sample_of


def _within(name: str, a: Any, limits: Any, inclusive: Any, nan_policy: str) -> tuple[Any, Any]:
    """The sample, and where it is within the limits."""
    a = sample_of(name, a, nan_policy)
    inside = beside(a, np.ones(a.shape, bool))
    low, high = (None, None) if limits is None else limits
    if low is not None:
        inside = fnp.logical_and(inside, a >= low if inclusive[0] else a > low)
    if high is not None:
        inside = fnp.logical_and(inside, a <= high if inclusive[1] else a < high)
    return a, fnp.logical_or(inside, fnp.isnan(a))


def _mean_within(a: Any, inside: Any, axis: Any, ddof: Any = 0.0) -> tuple[Any, Any]:
    """The sum over count less `ddof`, nan where that is not positive; and the count."""
    count = fnp.sum(converted(inside, a.dtype), axis=axis, keepdims=True)
    free = fnp.where(count > ddof, count - ddof, np.nan)
    return fnp.sum(fnp.where(inside, a, 0.0), axis=axis, keepdims=True) / free, count


def tmean(
    a: Any,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Any = None,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The mean of what is within `limits`, a pair of numbers or None; nan if nothing is.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, ``()`` if `axis` is None.
    Dtypes: real; integers give float64.
    Derivative: by `a`, with the choice held; none by the limits.
    Raises: ShapeError: no such axis. ArgumentError: `nan_policy` is not 'propagate'.
    Source: SciPy reference, ``scipy.stats.tmean``.

    >>> float(tmean([1.0, 2.0, 3.0, 40.0], (None, 10)))
    2.0
    """
    a, inside = _within("tmean", a, limits, inclusive, nan_policy)
    value, _ = _mean_within(a, inside, axis)
    return value if keepdims else fnp.squeeze(value, axis=_all(a, axis))


def _all(a: Any, axis: Any) -> Any:
    return tuple(range(a.ndim)) if axis is None else axis


def tvar(
    a: Any,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Any = 0,
    ddof: Any = 1,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The variance of what is within `limits`, a pair of numbers or None; nan if that is too little.

    Shapes: ``a: (*a, n, *b) -> (*a, *b)``, ``()`` if `axis` is None.
    Dtypes, Derivative, Raises: as `tmean`.
    Source: SciPy reference, ``scipy.stats.tvar``.

    >>> float(tvar([1.0, 2.0, 3.0, 40.0], (None, 10)))
    1.0
    """
    a, inside = _within("tvar", a, limits, inclusive, nan_policy)
    middle, _ = _mean_within(a, inside, axis)
    off = fnp.where(inside, a - middle, 0.0)  # not the infinity that the limits leave out
    value, _ = _mean_within(fnp.square(off), inside, axis, float(ddof))
    return value if keepdims else fnp.squeeze(value, axis=_all(a, axis))


def tstd(
    a: Any,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Any = 0,
    ddof: Any = 1,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The square root of `tvar`.

    Shapes, Dtypes, Raises: as `tvar`.   Derivative: 0 where all are the same.
    Source: SciPy reference, ``scipy.stats.tstd``.

    >>> float(tstd([1.0, 3.0, 5.0, 40.0], (None, 10)))
    2.0
    """
    square = tvar(a, limits, inclusive, axis, ddof, nan_policy=nan_policy, keepdims=keepdims)
    zero = square == 0
    return fnp.where(zero, 0.0, fnp.sqrt(fnp.where(zero, 1.0, square)))


def tsem(
    a: Any,
    limits: Any = None,
    inclusive: Any = (True, True),
    axis: Any = 0,
    ddof: Any = 1,
    *,
    nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """The standard error of `tmean`: `tstd` over the root of the count.

    Shapes, Dtypes, Derivative, Raises: as `tstd`.
    Source: SciPy reference, ``scipy.stats.tsem``.

    >>> float(tsem([1.0, 3.0, 5.0, 40.0], (None, 10)).round(4))
    1.1547
    """
    x, inside = _within("tsem", a, limits, inclusive, nan_policy)
    count = fnp.sum(converted(inside, x.dtype), axis=axis, keepdims=keepdims)
    root = fnp.sqrt(fnp.where(count == 0, np.nan, count))
    return tstd(x, limits, inclusive, axis, ddof, keepdims=keepdims) / root


def kstat(data: Any, n: int = 2, *, axis: Any = None, nan_policy: str = "propagate") -> Any:
    """The unbiased estimate of the cumulant of order `n`, 1 to 4: of the mean, the variance, ...

    Shapes: ``data: (*a, m, *b) -> (*a, *b)``, ``()`` if `axis` is None.
    Dtypes: real; integers give float64.
    Derivative: smooth everywhere.
    Raises: ArgumentError: `n` is not in 1..4. ShapeError: no such axis, or fewer than `n` numbers.
    Source: SciPy reference, ``scipy.stats.kstat``.

    >>> [float(kstat([1.0, 2.0, 6.0, 7.0], n).round(6)) for n in (1, 2, 3)]
    [4.0, 8.666667, 0.0]
    """
    x = sample_of("kstat", data, nan_policy)
    if n not in (1, 2, 3, 4):
        raise ArgumentError(f"stats.kstat: n={n}; need 1 to 4{where()}")
    m = float(count_of("kstat", x, axis))
    if m < n:
        raise ShapeError(f"stats.kstat: {int(m)} observations; need {n}{where()}")
    middle = fnp.mean(x, axis=axis, keepdims=True)
    if n == 1:
        return fnp.squeeze(middle, axis=_all(x, axis))
    off = x - middle
    second, third, fourth = (fnp.sum(off**k, axis=axis) for k in (2, 3, 4))
    if n == 2:
        return second / (m - 1.0)
    if n == 3:
        return third * (m / ((m - 1.0) * (m - 2.0)))
    found = m * (m + 1.0) * fourth - 3.0 * (m - 1.0) * second * second
    return found / ((m - 1.0) * (m - 2.0) * (m - 3.0))


_WAYS = ("vasicek", "van es", "ebrahimi", "correa", "auto")


def differential_entropy(
    values: Any,
    *,
    window_length: Any = None,
    base: Any = None,
    axis: Any = 0,
    method: str = "auto",
    nan_policy: str = "propagate",
) -> Any:
    """The differential entropy of the distribution of a sample, estimated by the spacings of its
    ordered values that are `window_length` apart, about the root of their number by default.

    `method`: "vasicek", "van es", "ebrahimi", "correa", or "auto", which chooses by the number.

    Shapes: ``values: (*a, n, *b) -> (*a, *b)``.   Dtypes: real; integers give float64.
    Derivative: by `values`; infinite or nan where spacings are 0.
    Raises: ArgumentError: no such `method`, the window is no positive integer below ``n / 2``, `base`
    is not positive. ShapeError: no such axis.
    Source: Vasicek, J. R. Stat. Soc. B 38 (1976); SciPy reference,
    ``scipy.stats.differential_entropy``.

    >>> float(differential_entropy([0.1, 0.4, 0.45, 0.7, 0.95, 1.3], method="vasicek").round(4))
    -0.0115
    """
    x = sample_of("differential_entropy", values, nan_policy)
    x = fnp.sort(fnp.moveaxis(x, axis_of("differential_entropy", axis, x.ndim), -1), axis=-1)
    n = x.shape[-1]
    m = math.floor(math.sqrt(n) + 0.5) if window_length is None else operator.index(window_length)
    if not 2 <= 2 * m < n or method not in _WAYS or (base is not None and base <= 0):
        raise ArgumentError(
            f"stats.differential_entropy: method={method!r}, base={base}, {n} values, window {m}; "
            f"need one of {', '.join(map(repr, _WAYS))}, a positive base, and a window below {n} / 2"
            f"{where()}"
        )
    if method == "auto":
        method = "van es" if n <= 10 else "ebrahimi" if n <= 1000 else "vasicek"
    found = _by_spacings(x, n, m, method)
    return found if base is None else found / math.log(base)


def _by_spacings(x: Any, n: int, m: int, method: str) -> Any:
    if method == "van es":
        gaps = x[..., m:] - x[..., :-m]
        bias = float(np.sum(1.0 / np.arange(m, n + 1))) + math.log(m / (n + 1.0))
        return fnp.sum(fnp.log((n + 1.0) / m * gaps), axis=-1) / (n - m) + bias
    wide = fnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(m, m)], "edge")
    if method == "correa":
        windows = fnp.stack([wide[..., i : i + n] for i in range(2 * m + 1)], axis=-1)
        off = windows - fnp.mean(windows, axis=-1, keepdims=True)
        slopes = fnp.sum(off * np.arange(-m, m + 1, dtype=x.dtype), axis=-1)
        return -fnp.mean(fnp.log(slopes / (n * fnp.sum(off * off, axis=-1))), axis=-1)
    gaps = wide[..., 2 * m :] - wide[..., : -2 * m]
    shares: Any = 2.0
    if method == "ebrahimi":  # fewer values are within the windows near to the ends
        i = np.arange(n)
        shares = (1.0 + np.minimum(np.minimum(i, n - 1 - i), m) / m).astype(x.dtype)
    return fnp.mean(fnp.log(n / (m * shares) * gaps), axis=-1)
