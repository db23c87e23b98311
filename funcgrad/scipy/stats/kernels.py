"""A density estimated from a sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import array_of, beside, module_of
from ...numpy.shaping import atleast_2d, reshape
from ...numpy.statistics import cov
from ...ops.arithmetic import divide
from ...ops.decompose import cholesky
from ...ops.exponential import exp
from ...ops.solve import triangular_solve
from ...ops.structural import sum
from ..probabilities import in_one_dtype
from ..special import logsumexp
from .elliptical import half_log_det
from .normal import LOG_2PI


class gaussian_kde:
    """The mean of normal densities around the points of a sample: ``sum_i w_i N(x; x_i, h**2 C)``
    for the covariance C of the sample and the factor h.

    `bw_method`: 'scott' (``neff**(-1 / (d + 4))``, also for None), 'silverman'
    (``(neff (d + 2) / 4)**(-1 / (d + 4))``), a number, or a function of the estimate, gives h.

    Shapes: ``dataset: (d, n) or (n,), weights: (n,)``; points ``(d, m) or (m,) -> (m,)``.
    Dtypes: real; integers give float64.
    Derivative: by points, sample, weights and a number `bw_method`.
    Raises: LinAlgError: the covariance is singular. ShapeError: the shapes do not fit.
    ArgumentError: there are fewer than two points, or no such `bw_method`.
    Source: Scott, "Multivariate Density Estimation", 1992; SciPy reference,
    ``scipy.stats.gaussian_kde``.

    >>> float(gaussian_kde([-1.0, 1.0], bw_method=1.0)(0.0)[0].round(4))
    0.2197
    """

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        (self.dataset,) = in_one_dtype(atleast_2d(array_of(dataset)))
        self.d, self.n = self.dataset.shape
        if self.n < 2:
            raise ArgumentError(f"gaussian_kde: need two points or more, found {self.n}{where()}")
        if weights is None:
            weights = beside(self.dataset, np.full(self.n, 1.0 / self.n, self.dataset.dtype))
        weights, _ = in_one_dtype(array_of(weights, module_of(self.dataset)), self.dataset)
        if weights.shape != (self.n,):
            raise ShapeError(
                f"gaussian_kde: weights have shape {list(weights.shape)}; need [{self.n}]{where()}"
            )
        self.weights = weights / sum(weights, axis=(0,))
        self.neff = divide(1.0, sum(self.weights * self.weights, axis=(0,)))
        self.factor = self._factor(bw_method)
        spread = atleast_2d(cov(self.dataset, rowvar=True, bias=False, aweights=self.weights))
        self._root = self._cholesky(spread) * self.factor
        self.covariance = spread * (self.factor * self.factor)

    def _cholesky(self, spread: Any) -> Any:
        try:
            return cholesky(spread)
        except np.linalg.LinAlgError:
            raise np.linalg.LinAlgError(
                f"gaussian_kde: the covariance of the sample is singular: its points lie in a plane "
                f"of fewer than {self.d} dimensions{where()}"
            ) from None

    def _factor(self, bw_method: Any) -> Any:
        if bw_method is None or (isinstance(bw_method, str) and bw_method == "scott"):
            return self.scotts_factor()
        if isinstance(bw_method, str):
            if bw_method == "silverman":
                return self.silverman_factor()
            raise ArgumentError(
                f"gaussian_kde: bw_method={bw_method!r}; need 'scott', 'silverman', a number or a "
                f"function{where()}"
            )
        return bw_method(self) if callable(bw_method) else array_of(bw_method)

    def scotts_factor(self) -> Any:
        return self.neff ** (-1.0 / (self.d + 4))

    def silverman_factor(self) -> Any:
        return (self.neff * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4))

    def _log_kernels(self, points: Any) -> Any:
        """The logarithm of the density around every point of the sample, ``(n, m)``."""
        points, dataset = in_one_dtype(
            atleast_2d(array_of(points, module_of(self.dataset))), self.dataset
        )
        if points.shape[0] != self.d:
            if points.shape != (1, self.d):
                raise ShapeError(
                    f"gaussian_kde: points have shape {list(points.shape)}; need {self.d} "
                    f"rows{where()}"
                )
            points = reshape(points, (self.d, 1))
        m = points.shape[1]
        off = reshape(dataset, (self.d, self.n, 1)) - reshape(points, (self.d, 1, m))
        flat = reshape(off, (self.d, self.n * m))
        z = triangular_solve(self._root, flat, lower=True, unit_diagonal=False)
        squares = reshape(sum(z * z, axis=(0,)), (self.n, m))
        return squares * -0.5 - half_log_det(self._root) - 0.5 * self.d * LOG_2PI

    def evaluate(self, points: Any) -> Any:
        """The density at the points.

        Shapes, Dtypes, Derivative, Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.gaussian_kde``.

        >>> float(gaussian_kde([-1.0, 1.0], bw_method=1.0).evaluate([0.0])[0].round(4))
        0.2197
        """
        return sum(reshape(self.weights, (self.n, 1)) * exp(self._log_kernels(points)), axis=(0,))

    __call__ = pdf = evaluate

    def logpdf(self, x: Any) -> Any:
        """The logarithm of the density at the points, also where that underflows.

        Shapes, Dtypes, Derivative, Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.gaussian_kde``.

        >>> float(gaussian_kde([-1.0, 1.0], bw_method=1.0).logpdf([0.0])[0].round(4))
        -1.5155
        """
        return logsumexp(self._log_kernels(x), axis=0, b=reshape(self.weights, (self.n, 1)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("integrate", "resample", "marginal", "set_bandwidth")):
            raise ArgumentError(
                f"gaussian_kde.{name}: not offered; the density is evaluate(points){where()}"
            )
        raise AttributeError(f"gaussian_kde has no attribute {name!r}")
