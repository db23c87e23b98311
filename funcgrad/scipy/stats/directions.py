"""Distributions of directions: von Mises' and Fisher's on the unit sphere."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of
from ...ops.contract import matmul
from ...ops.exponential import exp, log
from ..probabilities import in_one_dtype
from .distribution import Frozen, NamedDistribution, doubled
from .logs import log_ive
from .normal import LOG_2PI

_LOOSE = 1e-5  # what rounding may leave of a length of 1


class VonMisesFisher(NamedDistribution):
    """The distribution of unit vectors of n components around the direction `mu`, `kappa` > 0:
    ``f(x) = kappa**v exp(kappa mu x) / ((2 pi)**(n / 2) I_v(kappa))`` with ``v = n / 2 - 1``.

    Shapes: ``x: (*a, n), mu: (n,), kappa: () -> (*a)``.
    Dtypes: real; integers give float64.
    Derivative: by `kappa`, and by `x` and `mu` as if their lengths were free.
    Raises: ShapeError: the shapes do not fit, or n < 2. ArgumentError: a length is not 1, or `kappa`
    not positive; where a transform knows only types this is not asked.
    Source: Fisher, "Dispersion on a sphere", 1953; SciPy reference, ``scipy.stats.vonmises_fisher``.

    >>> float(vonmises_fisher.logpdf([0.0, 0.0, 1.0], [0.0, 0.0, 1.0], 2.0).round(4))
    -1.1262
    """

    def __call__(self, mu: Any = None, kappa: Any = 1) -> Frozen:
        """The distribution with its parameters held."""
        return Frozen(self, {"mu": mu, "kappa": kappa})

    @doubled
    def logpdf(self, x: Any, mu: Any = None, kappa: Any = 1) -> Any:
        """The logarithm of the density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.vonmises_fisher``.

        >>> float(vonmises_fisher.logpdf([1.0, 0.0], [0.0, 1.0], 1.0).round(4))
        -2.0738
        """
        mu, kappa = self._parameters("logpdf", mu, kappa)
        x = array_of(x)
        if x.ndim == 0 or x.shape[-1] != mu.shape[0]:
            raise ShapeError(
                f"{self.name}.logpdf: x has shape {list(x.shape)}; need {mu.shape[0]} components along "
                f"its last axis{where()}"
            )
        self._require_unit("logpdf", "x", x)
        x, mu, kappa = in_one_dtype(x, mu, kappa)
        return self._log_factor(mu.shape[0], kappa) + kappa * (matmul(x, mu) - 1.0)

    def pdf(self, x: Any, mu: Any = None, kappa: Any = 1) -> Any:
        """The density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.vonmises_fisher``.

        >>> float(vonmises_fisher.pdf([1.0, 0.0], [0.0, 1.0], 1.0).round(4))
        0.1257
        """
        return exp(self.logpdf(x, mu, kappa))

    @doubled
    def entropy(self, mu: Any = None, kappa: Any = 1) -> Any:
        """The differential entropy.

        Shapes, Dtypes, Derivative and Raises: those of the class; constant in `mu`.
        Source: SciPy reference, ``scipy.stats.vonmises_fisher``.

        >>> float(vonmises_fisher.entropy([0.0, 1.0], 1.0).round(4))
        1.6274
        """
        mu, kappa = self._parameters("entropy", mu, kappa)
        v = np.array(0.5 * mu.shape[0] - 1.0)
        length = exp(log_ive(v + 1.0, kappa) - log_ive(v, kappa))  # of the mean vector
        return kappa * (1.0 - length) - self._log_factor(mu.shape[0], kappa)

    def _log_factor(self, n: int, kappa: Any) -> Any:
        """The logarithm of the density at `mu`."""
        v = np.array(0.5 * n - 1.0)
        return v * log(kappa) - 0.5 * n * LOG_2PI - log_ive(v, kappa)

    def _parameters(self, method: str, mu: Any, kappa: Any) -> tuple[Any, Any]:
        mu, kappa = array_of(np.nan if mu is None else mu), array_of(kappa)
        if mu.ndim != 1 or mu.shape[0] < 2 or kappa.ndim:
            raise ShapeError(
                f"{self.name}.{method}: mu has shape {list(mu.shape)} and kappa {list(kappa.shape)}; "
                f"need (n,) with n > 1, and a number{where()}"
            )
        self._require_unit(method, "mu", mu)
        value = known(kappa)
        if value is not None and not value > 0:
            self.refuse(method, f"kappa is {value}; need a positive number")
        return in_one_dtype(mu, kappa)

    def _require_unit(self, method: str, what: str, x: Any) -> None:
        values = known(x)
        if values is None:
            return
        lengths = (values * values).sum(axis=-1) ** 0.5
        off = float(abs(lengths - 1.0).max()) if lengths.size else 0.0
        if not off <= _LOOSE:
            self.refuse(method, f"the length of {what} is {off:.3g} off 1; need unit vectors")


vonmises_fisher = VonMisesFisher("vonmises_fisher")
