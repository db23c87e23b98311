"""Distributions that are others with some of their shapes, scaled or moved."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ...ops.arithmetic import divide, power
from ...ops.exponential import log
from ...ops.logic import less
from .betas import beta
from .burrs import burr, log_of_sum
from .continuous import ContinuousDistribution
from .distribution import fixed_at_zero
from .gammas import Gamma, invgamma
from .logs import LOG_2
from .normal import lognorm
from .scaled import MirroredDistribution, ScaledDistribution
from .skewed import invgauss


class Erlang(Gamma):
    """The gamma distribution with a whole number `a` > 0; others are taken, too.

    Source: SciPy reference, ``scipy.stats.erlang``.

    >>> float(erlang.pdf(1.0, 2).round(4))
    0.3679
    """


class Levy(ScaledDistribution):
    """The reciprocal of a normal variable's square: ``f(z) = exp(-1 / (2 z)) / sqrt(2 pi z**3)`` for
    z > 0.

    Source: SciPy reference, ``scipy.stats.levy``.

    >>> float(levy.pdf(1.0).round(4))
    0.242
    """

    low = 0.0
    inside = 1.0
    open = True
    _edge = None  # type: ignore[assignment]

    def _base(self) -> Any:
        return invgamma, (0.5,), 0.5


class Arcsine(ScaledDistribution):
    """The beta distribution of 1/2 and 1/2: ``f(z) = 1 / (pi sqrt(z (1 - z)))`` for 0 <= z <= 1.

    Source: SciPy reference, ``scipy.stats.arcsine``.

    >>> float(arcsine.pdf(0.5).round(4))
    0.6366
    """

    low, high = 0.0, 1.0

    def _base(self) -> Any:
        return beta, (0.5, 0.5), 1.0


class Wald(ScaledDistribution):
    """The inverse Gaussian distribution of `mu` 1:
    ``f(z) = exp(-(z - 1)**2 / (2 z)) / sqrt(2 pi z**3)`` for z > 0.

    Source: SciPy reference, ``scipy.stats.wald``.

    >>> float(wald.pdf(1.0).round(4))
    0.3989
    """

    low = 0.0
    inside = 1.0
    open = True
    _edge = None  # type: ignore[assignment]

    def _base(self) -> Any:
        return invgauss, (1.0,), 1.0


class Gibrat(ScaledDistribution):
    """The exponential of a standard normal variable: ``f(z) = exp(-log(z)**2 / 2) / (z sqrt(2 pi))``
    for z > 0.

    Source: SciPy reference, ``scipy.stats.gibrat``.

    >>> float(gibrat.pdf(1.0).round(4))
    0.3989
    """

    low = 0.0
    inside = 1.0
    open = True
    formulas_at_ends = False
    _edge = None  # type: ignore[assignment]

    def _base(self) -> Any:
        return lognorm, (1.0,), 1.0


class Kappa3(ScaledDistribution):
    """The kappa distribution of three parameters, `a` > 0: ``cdf(z) = z / (a + z**a)**(1 / a)`` for
    z >= 0.

    Source: SciPy reference, ``scipy.stats.kappa3``.

    >>> float(kappa3.cdf(1.0, 1.0))
    0.5
    """

    shapes = ("a",)
    low = 0.0
    inside = 1.0

    def _base(self, a: Any) -> Any:
        return burr, (a, divide(1.0, a)), power(a, divide(1.0, a))

    # that of `burr` has z to the power of a product that is 1 but for rounding
    def _powers(self, a: Any) -> tuple[Any, Any]:
        return 1.0, a

    def _logpdf(self, z: Any, a: Any) -> Any:
        _, (_, inverse), factor = self._base(a)
        inner = z / fixed_at_zero(factor, z, less(a, 1.0))
        return -log(factor) - (1.0 + inverse) * log_of_sum(inner, a)

    def _edge(self, z: Any, a: Any) -> Any:
        return a * power(a + power(z, a), -1.0 - divide(1.0, a))


class Mielke(ScaledDistribution):
    """Mielke's distribution, `k` > 0 and `s` > 0: ``f(z) = k z**(k - 1) / (1 + z**s)**(1 + k / s)`` for
    z >= 0.

    Source: SciPy reference, ``scipy.stats.mielke``.

    >>> float(mielke.cdf(1.0, 2.0, 2.0))
    0.5
    """

    shapes = ("k", "s")
    low = 0.0
    inside = 1.0

    def _base(self, k: Any, s: Any) -> Any:
        return burr, (s, k / s), 1.0


class RDist(ContinuousDistribution):
    """The symmetric beta distribution on -1 .. 1, `c` > 0:
    ``f(z) = (1 - z**2)**(c / 2 - 1) / beta(1 / 2, c / 2)``.

    Source: SciPy reference, ``scipy.stats.rdist``.

    >>> float(rdist.pdf(0.0, 2.0).round(4))
    0.5
    """

    shapes: tuple[str, ...] = ("c",)
    low, high = -1.0, 1.0
    inside = 0.0
    exact_ends = False

    def _of_beta(self, method: str, x: Any, c: Any) -> Any:
        return getattr(beta, method)(x, 0.5 * c, 0.5 * c)

    def _logpdf(self, z: Any, c: Any) -> Any:
        return self._of_beta("_logpdf", 0.5 * z + 0.5, c) - LOG_2

    def _edge(self, z: Any, c: Any) -> Any:
        return 0.5 * self._of_beta("_edge", 0.5 * z + 0.5, c)

    def _cdf(self, z: Any, c: Any) -> Any:
        return self._of_beta("_cdf", 0.5 * z + 0.5, c)

    def _sf(self, z: Any, c: Any) -> Any:
        return self._of_beta("_sf", 0.5 * z + 0.5, c)

    def _logcdf(self, z: Any, c: Any) -> Any:
        return self._of_beta("_logcdf", 0.5 * z + 0.5, c)

    def _logsf(self, z: Any, c: Any) -> Any:
        return self._of_beta("_logsf", 0.5 * z + 0.5, c)

    def _ppf(self, q: Any, c: Any) -> Any:
        return 2.0 * self._of_beta("_ppf", q, c) - 1.0

    def _isf(self, q: Any, c: Any) -> Any:
        return -self._ppf(q, c)

    def _mean(self, c: Any) -> Any:
        return 0.0 * c

    def _var(self, c: Any) -> Any:
        return divide(1.0, c + 1.0)

    def _entropy(self, c: Any) -> Any:
        return beta._entropy(0.5 * c, 0.5 * c) + LOG_2


class Semicircular(ScaledDistribution):
    """The semicircle's distribution, Wigner's: ``f(z) = 2 / pi sqrt(1 - z**2)`` for -1 <= z <= 1.

    Source: SciPy reference, ``scipy.stats.semicircular``.

    >>> float(semicircular.pdf(0.0).round(4))
    0.6366
    """

    low, high = -1.0, 1.0
    inside = 0.0

    def _base(self) -> Any:
        return rdist, (3.0,), 1.0


erlang = Erlang("erlang")
levy = Levy("levy")
arcsine = Arcsine("arcsine")
wald = Wald("wald")
gibrat = Gibrat("gibrat")
kappa3 = Kappa3("kappa3")
mielke = Mielke("mielke")
rdist = RDist("rdist")
semicircular = Semicircular("semicircular")


class LevyLeft(MirroredDistribution):
    """Minus a variable of Levy's distribution: ``f(z) = exp(1 / (2 z)) / sqrt(-2 pi z**3)`` for z < 0.

    Source: SciPy reference, ``scipy.stats.levy_l``.

    >>> float(levy_l.pdf(-1.0).round(4))
    0.242
    """

    low, high = -math.inf, 0.0
    inside = -1.0
    open = True
    exact_ends = False


levy_l = LevyLeft("levy_l", levy)
