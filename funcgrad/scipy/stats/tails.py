"""Logarithms of the incomplete gamma and beta functions, also where these underflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import Tracer, aval_of
from ...numpy._arguments import converted
from ...ops.beta import beta_beyond, betainc, betaincc, log_beta_density
from ...ops.exponential import log, log1p
from ...ops.gamma import (
    gamma_integral,
    gammainc,
    gammaincc,
    gammaln,
    log_gamma_density,
    log_ratio,
)
from ...ops.logic import greater, isinf, less, less_equal
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from .logs import log_of


def log_gammainc(a: Any, x: Any) -> Any:
    """``log(gammainc(a, x))`` for x >= 0.

    >>> float(log_gammainc(np.array(500.0), np.array(1e-3)).round(3))
    -6065.209
    """
    return _log_or_far(gammainc(a, x), gammaincc(a, x), x > 0, _far_gamma, a, x)


def log_gammaincc(a: Any, x: Any) -> Any:
    """``log(gammaincc(a, x))`` for x >= 0.

    >>> float(log_gammaincc(np.array(2.0), np.array(1e3)).round(3))
    -993.091
    """
    return _log_or_far(gammaincc(a, x), gammainc(a, x), x > 0, _far_gamma, a, x)


def _far_gamma(a: Any, x: Any) -> Any:
    """The logarithm of the probability beyond `x`, seen from the mean `a`."""
    over, far = isinf(x), greater(x, 100.0 * (1.0 + a))
    off = log_ratio(choose(far, a, x), a)
    peak = stop_gradient(log_gamma_density(a, off))
    inner = log(gamma_integral(a, off, peak, less_equal(x, a), None)) + peak

    # far above, where the integral has no width, by the asymptotic series in 1 / x
    y = choose(far & ~over, x, 100.0 * (1.0 + a))
    total: Any = 1.0
    for k in range(9, 0, -1):
        total = 1.0 + total * (a - float(k)) / y
    outer = (a - 1.0) * log(y) - y - gammaln(a) + log(total)
    return choose(over, -x, choose(far, outer, inner))


def log_betainc(a: Any, b: Any, x: Any) -> Any:
    """``log(betainc(a, b, x))`` for 0 <= x <= 1.

    >>> float(log_betainc(np.array(500.0), np.array(2.0), np.array(0.1)).round(3))
    -1145.181
    """
    inner = (x > 0) & (x < 1)
    return _log_or_far(betainc(a, b, x), betaincc(a, b, x), inner, _far_beta, a, b, x)


def log_betaincc(a: Any, b: Any, x: Any) -> Any:
    """``log(betaincc(a, b, x))`` for 0 <= x <= 1.

    >>> float(log_betaincc(np.array(2.0), np.array(500.0), np.array(0.9)).round(3))
    -1145.181
    """
    inner = (x > 0) & (x < 1)
    return _log_or_far(betaincc(a, b, x), betainc(a, b, x), inner, _far_beta_above, a, b, x)


def _far_beta(a: Any, b: Any, x: Any) -> Any:
    """The logarithm of the probability below `x`."""
    return _far_odds(a, b, log(x) - log1p(-x))


def _far_beta_above(a: Any, b: Any, x: Any) -> Any:
    """The logarithm of the probability above `x`."""
    return _far_odds(b, a, log1p(-x) - log(x))


def _far_odds(a: Any, b: Any, odds: Any) -> Any:
    peak = stop_gradient(log_beta_density(a, b, odds))
    return log(beta_beyond(a, b, odds, peak)) + peak


def _log_or_far(p: Any, rest: Any, inner: Any, far: Callable[..., Any], *xs: Any) -> Any:
    """``log(p)`` for ``p = 1 - rest``; by the function `far` of `xs` where `p` underflows inside."""
    dtype = aval_of(p).dtype
    lost = less(p, float(np.finfo(dtype).tiny) * 1e15) & inner
    near = log_of(choose(lost, 0.5, p), choose(lost, 0.5, rest))
    if not isinstance(lost, Tracer) and not lost.any():
        return near
    # in float64; where nothing is lost at a place where the integral is sound
    *shapes, x = (converted(x, np.float64) for x in xs)
    places = [*(choose(lost, s, 1.0) for s in shapes), choose(lost, x, 0.5)]
    return choose(lost, converted(far(*places), dtype), near)
