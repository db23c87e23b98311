"""Distributions of shares and of counts in classes: Dirichlet's, the multinomial one, and both."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, arrays_of, beside, converted
from ...numpy.joining import concatenate
from ...numpy.products import outer
from ...numpy.shaping import expand_dims
from ...ops.beta import betaln
from ...ops.exponential import exp, log, xlogy
from ...ops.gamma import digamma, gammaln
from ...ops.logic import equal, greater_equal
from ...ops.rounding import floor
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from ...ops.structural import reshape, sum
from ..probabilities import in_one_dtype
from .distribution import Frozen, NamedDistribution, doubled, valid_only

_LOOSE = 1e-4  # what rounding in float32 and many terms may leave of a sum of 1


class Dirichlet(NamedDistribution):
    """Dirichlet's distribution of k shares that sum to 1, `alpha` > 0:
    ``f(x) = prod(x**(alpha - 1)) / beta(alpha)``, with ``beta(alpha) = prod(gamma(alpha)) /
    gamma(sum(alpha))``.

    Shapes: ``x: (k, *a) or (k - 1, *a), alpha: (k,) -> (*a)``; the components come first.
    Dtypes: real; integers give float64.
    Derivative: by `alpha`, and by every component of `x` as if it were free.
    Raises: ShapeError: the shapes do not fit. ArgumentError: `alpha` is not positive, `x` is
    negative or does not sum to 1; where a transform knows only types this is not asked.
    Source: SciPy reference, ``scipy.stats.dirichlet``.

    >>> float(dirichlet.pdf([0.5, 0.5], [2.0, 2.0]).round(4))
    1.5
    """

    def __call__(self, alpha: Any) -> Frozen:
        """The distribution with its parameter held."""
        return Frozen(self, {"alpha": alpha})

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """The logarithm of the density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.dirichlet``.

        >>> float(dirichlet.logpdf([0.5, 0.5], [1.0, 1.0]))
        0.0
        """
        density, dtype = self._log_density("logpdf", x, alpha)
        return converted(density, dtype)

    def _log_density(self, method: str, x: Any, alpha: Any) -> tuple[Any, Any]:
        """It in double precision, which what is large and cancels needs; and the dtype asked for."""
        alpha = self._alpha(method, alpha)
        x, alpha = in_one_dtype(self._shares(method, x, alpha.shape[0]), alpha)
        dtype, x, alpha = x.dtype, *_in_double(x, alpha)
        rows = reshape(alpha, shape=(*alpha.shape, *(1,) * (x.ndim - 1)))
        return sum(xlogy(rows - 1.0, x), axis=(0,)) - _log_beta(alpha), dtype

    def pdf(self, x: Any, alpha: Any) -> Any:
        """The density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.dirichlet``.

        >>> float(dirichlet.pdf([0.2, 0.3, 0.5], [1.0, 1.0, 1.0]).round(4))
        2.0
        """
        density, dtype = self._log_density("pdf", x, alpha)
        return converted(exp(density), dtype)

    def mean(self, alpha: Any) -> Any:
        """The mean shares: ``alpha / sum(alpha)``.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.dirichlet``.

        >>> dirichlet.mean([1.0, 3.0]).tolist()
        [0.25, 0.75]
        """
        alpha = self._alpha("mean", alpha)
        return alpha / sum(alpha, axis=(0,))

    def var(self, alpha: Any) -> Any:
        """The variances of the shares: ``m (1 - m) / (sum(alpha) + 1)`` for their means m.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.dirichlet``.

        >>> dirichlet.var([1.0, 3.0]).tolist()
        [0.0375, 0.0375]
        """
        mean = self.mean(alpha)
        return mean * (1.0 - mean) / (sum(self._alpha("var", alpha), axis=(0,)) + 1.0)

    def entropy(self, alpha: Any) -> Any:
        """The differential entropy.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.dirichlet``.

        >>> float(dirichlet.entropy([1.0, 1.0]))
        0.0
        """
        alpha = self._alpha("entropy", alpha)
        dtype, (alpha,) = alpha.dtype, _in_double(alpha)
        total = sum(alpha, axis=(0,))
        rest = sum((alpha - 1.0) * digamma(alpha), axis=(0,))
        found = _log_beta(alpha) + (total - alpha.shape[0]) * digamma(total) - rest
        return converted(found, dtype)

    def _alpha(self, method: str, alpha: Any) -> Any:
        (alpha,) = in_one_dtype(array_of(alpha))
        if alpha.ndim != 1:
            raise ShapeError(
                f"{self.name}.{method}: alpha has shape {list(alpha.shape)}; need one axis{where()}"
            )
        values = known(alpha)
        if values is not None and not (values > 0).all():
            self.refuse(method, f"alpha is {values}; need positive numbers")
        return alpha

    def _shares(self, method: str, x: Any, k: int) -> Any:
        """`x` with all its `k` components."""
        x = array_of(x)
        if x.ndim == 0 or x.shape[0] not in (k, k - 1):
            raise ShapeError(
                f"{self.name}.{method}: x has shape {list(x.shape)}; need {k} or {k - 1} "
                f"components along its first axis{where()}"
            )
        if x.shape[0] == k - 1:
            x = concatenate([x, expand_dims(1.0 - sum(x, axis=(0,)), 0)], axis=0)
        _require_shares(self, method, "x", x, 0)
        return x


def _in_double(*xs: Any) -> list[Any]:
    return [converted(x, np.promote_types(x.dtype, np.float64)) for x in xs]


def _log_beta(alpha: Any) -> Any:
    return sum(gammaln(alpha), axis=(0,)) - gammaln(sum(alpha, axis=(0,)))


def _require_shares(dist: NamedDistribution, method: str, name: str, x: Any, axis: int) -> None:
    """
    Raises: ArgumentError: `x` is known, and has negative entries or does not sum to 1.
    """
    values = known(x)
    if values is None or not values.size:
        return
    if (values < 0).any() or (abs(values.sum(axis) - 1.0) > _LOOSE).any():
        dist.refuse(
            method,
            f"{name} is {values}; need numbers of at least 0 that sum to 1 along axis {axis}",
        )


class Multinomial(NamedDistribution):
    """The counts of k classes of probabilities `p` among `n` things:
    ``f(x) = n! prod(p**x / x!)`` where ``sum(x) = n``.

    Shapes: ``x: (*a, k), n: (*a), p: (*a, k) -> (*a)``, which broadcast.
    Dtypes: real; integers give float64.
    Derivative: by every component of `p` as if it were free; zero by `x` and `n`.
    Raises: ShapeError: the shapes do not fit. ArgumentError: `p` does not sum to 1, of which SciPy
    ignores the last entry; where a transform knows only types this is not asked.
    Source: SciPy reference, ``scipy.stats.multinomial``.

    >>> float(multinomial.pmf([1, 1], 2, [0.5, 0.5]).round(4))
    0.5
    """

    def __call__(self, n: Any, p: Any) -> Frozen:
        """The distribution with its parameters held."""
        return Frozen(self, {"n": n, "p": p})

    def logpmf(self, x: Any, n: Any, p: Any) -> Any:
        """The logarithm of the probability of the counts `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.multinomial``.

        >>> float(multinomial.logpmf([2, 0], 2, [1.0, 0.0]))
        0.0
        """
        x, n, p = self._ready("logpmf", x, n, p)
        x, n = stop_gradient(x), stop_gradient(n)
        whole = equal(x, floor(x)) & greater_equal(x, 0.0)
        last = (x.ndim - 1,)
        total = sum(choose(whole, x, -1.0), axis=last)
        fits = equal(total, n) & equal(sum(choose(whole, 0.0, 1.0), axis=last), 0.0)
        inner = xlogy(choose(whole, x, 0.0), p)
        inner = sum(inner - gammaln(choose(whole, x, 0.0) + 1.0), axis=(inner.ndim - 1,))
        valid = greater_equal(n, 0.0) & equal(n, floor(n))
        y = choose(fits, inner + gammaln(choose(valid, n, 0.0) + 1.0), -math.inf)
        return choose(valid, y, math.nan)

    def pmf(self, x: Any, n: Any, p: Any) -> Any:
        """The probability of the counts `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.multinomial``.

        >>> float(multinomial.pmf([1, 2], 3, [0.5, 0.5]).round(4))
        0.375
        """
        return exp(self.logpmf(x, n, p))

    def mean(self, n: Any, p: Any) -> Any:
        """The mean counts: ``n p``.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.multinomial``.

        >>> multinomial.mean(4, [0.25, 0.75]).tolist()
        [1.0, 3.0]
        """
        _, n, p = self._ready("mean", 0, n, p)
        return expand_dims(n, -1) * p

    def cov(self, n: Any, p: Any) -> Any:
        """The covariances of the counts: ``n (diag(p) - p p^T)``.

        Shapes: ``n: (), p: (k,) -> (k, k)``.   Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.multinomial``.

        >>> multinomial.cov(4, [0.5, 0.5]).tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
        """
        _, n, p = self._ready("cov", 0, n, p)
        if p.ndim != 1 or n.ndim:
            raise ShapeError(f"{self.name}.cov: need one number n and one axis of p{where()}")
        return n * (beside(p, np.eye(p.shape[0], dtype=p.dtype)) * p - outer(p, p))

    def _ready(self, method: str, x: Any, n: Any, p: Any) -> tuple[Any, Any, Any]:
        x, n, p = in_one_dtype(*arrays_of(x, n, p))
        if p.ndim == 0 or (x.ndim and x.shape[-1] != p.shape[-1]):
            raise ShapeError(
                f"{self.name}.{method}: p has shape {list(p.shape)}, x {list(x.shape)}; need as many "
                f"classes along the last axes{where()}"
            )
        _require_shares(self, method, "p", p, -1)
        return x, n, p


class DirichletMultinomial(NamedDistribution):
    """The counts of k classes among `n` things whose probabilities are Dirichlet's of `alpha` > 0:
    ``f(x) = n B(n, sum(alpha)) / prod(x B(x, alpha))`` where ``sum(x) = n``, without the factors of
    counts of 0.

    Shapes: ``x: (*a, k), alpha: (*a, k), n: (*a) -> (*a)``, which broadcast.
    Dtypes: real; integers give float64.
    Derivative: by `alpha`; zero by `x` and `n`. It is nan for what is not positive.
    Raises: ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.stats.dirichlet_multinomial``.

    >>> float(dirichlet_multinomial.pmf([1, 1], [1.0, 1.0], 2).round(4))
    0.3333
    """

    def __call__(self, alpha: Any, n: Any) -> Frozen:
        """The distribution with its parameters held."""
        return Frozen(self, {"alpha": alpha, "n": n})

    @doubled
    def logpmf(self, x: Any, alpha: Any, n: Any) -> Any:
        """The logarithm of the probability of the counts `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.dirichlet_multinomial``.

        >>> float(dirichlet_multinomial.logpmf([2, 0], [1.0, 1.0], 2).round(4))
        -1.0986
        """
        x, alpha, total, n = self._ready("logpmf", x, alpha, n)
        x, n = stop_gradient(x), stop_gradient(n)
        counted = equal(x, floor(x)) & greater_equal(x, 1.0)
        known_zero = equal(x, 0.0)
        last = (x.ndim - 1,)
        fits = equal(sum(x, axis=last), n) & equal(
            sum(choose(counted | known_zero, 0.0, 1.0), axis=last), 0.0
        )
        inner = choose(counted, self._log_share(choose(counted, x, 1.0), alpha), 0.0)
        some = greater_equal(n, 1.0)
        whole = choose(some, self._log_share(choose(some, n, 1.0), total), 0.0)
        y = choose(fits, whole - sum(inner, axis=(inner.ndim - 1,)), -math.inf)
        return choose(greater_equal(n, 0.0) & equal(n, floor(n)), y, math.nan)

    @doubled
    def pmf(self, x: Any, alpha: Any, n: Any) -> Any:
        """The probability of the counts `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.dirichlet_multinomial``.

        >>> float(dirichlet_multinomial.pmf([2, 0], [1.0, 1.0], 2).round(4))
        0.3333
        """
        return exp(self.logpmf(x, alpha, n))

    def mean(self, alpha: Any, n: Any) -> Any:
        """The mean counts: ``n alpha / sum(alpha)``.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.dirichlet_multinomial``.

        >>> dirichlet_multinomial.mean([1.0, 3.0], 8).tolist()
        [2.0, 6.0]
        """
        _, alpha, total, n = self._ready("mean", 0, alpha, n)
        return expand_dims(n, -1) * alpha / expand_dims(total, -1)

    def var(self, alpha: Any, n: Any) -> Any:
        """The variances of the counts: ``n m (1 - m) (n + a) / (1 + a)`` for ``a = sum(alpha)`` and the
        mean shares m.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.dirichlet_multinomial``.

        >>> dirichlet_multinomial.var([1.0, 1.0], 2).round(4).tolist()
        [0.6667, 0.6667]
        """
        _, alpha, total, n = self._ready("var", 0, alpha, n)
        n, total = expand_dims(n, -1), expand_dims(total, -1)
        share = alpha / total
        return n * share * (1.0 - share) * (n + total) / (1.0 + total)

    def cov(self, alpha: Any, n: Any) -> Any:
        """The covariances of the counts: ``n (n + a) / (1 + a) (diag(m) - m m^T)``, as in `var`.

        Shapes: ``alpha: (k,), n: () -> (k, k)``.   Dtypes, Derivative: those of the class.
        Raises: ShapeError: `alpha` has not one axis, or `n` is no number.
        Source: SciPy reference, ``scipy.stats.dirichlet_multinomial``.

        >>> dirichlet_multinomial.cov([1.0, 1.0], 2).round(4).tolist()
        [[0.6667, -0.6667], [-0.6667, 0.6667]]
        """
        _, alpha, total, n = self._ready("cov", 0, alpha, n)
        if alpha.ndim != 1 or n.ndim:
            raise ShapeError(f"{self.name}.cov: need one number n and one axis of alpha{where()}")
        share = alpha / total
        spread = beside(alpha, np.eye(alpha.shape[0], dtype=alpha.dtype)) * share - outer(
            share, share
        )
        return n * (n + total) / (1.0 + total) * spread

    def _log_share(self, count: Any, alpha: Any) -> Any:
        """``log(count B(count, alpha))``."""
        return log(count) + betaln(count, alpha)

    def _ready(self, method: str, x: Any, alpha: Any, n: Any) -> tuple[Any, Any, Any, Any]:
        """The counts, `alpha`, its sum, and `n`."""
        x, alpha, n = in_one_dtype(*arrays_of(x, alpha, n))
        if alpha.ndim == 0 or (x.ndim and x.shape[-1] != alpha.shape[-1]):
            raise ShapeError(
                f"{self.name}.{method}: alpha has shape {list(alpha.shape)}, x {list(x.shape)}; need "
                f"as many classes along the last axes{where()}"
            )
        alpha = valid_only(alpha, alpha > 0)
        return x, alpha, sum(alpha, axis=(alpha.ndim - 1,)), n


dirichlet = Dirichlet("dirichlet")
dirichlet_multinomial = DirichletMultinomial("dirichlet_multinomial")
multinomial = Multinomial("multinomial")
