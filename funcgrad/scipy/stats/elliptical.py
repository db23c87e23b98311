"""Distributions of vectors that depend on a covariance: the normal one and Student's t."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import aval_of
from ...errors import ShapeError, where
from ...numpy._arguments import array_of, arrays_of, beside, module_of
from ...numpy.linalg import eigvalsh, pinv
from ...numpy.matrices import diagonal, trace
from ...numpy.ordering import swapaxes
from ...numpy.reductions import sum as sum_of
from ...numpy.shaping import expand_dims, squeeze
from ...ops.beta import betaln, digamma_gap
from ...ops.contract import matmul
from ...ops.decompose import cholesky
from ...ops.exponential import exp, log, log1p, sqrt
from ...ops.logic import isinf
from ...ops.rounding import rint
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from ...ops.solve import triangular_solve
from ...ops.structural import broadcast_to, reshape, sum
from ..probabilities import in_one_dtype
from .distribution import Frozen, NamedDistribution, doubled, valid_only
from .normal import LOG_2PI


class Elliptical(NamedDistribution):
    """A distribution with a centre and a matrix, either of which may be given short."""

    def _parts(self, method: str, centre: Any, matrix: Any) -> tuple[Any, Any]:
        """The centre ``(*p, n)`` and the lower factor ``(*q, n, n)`` of the matrix.

        Raises: ShapeError: they do not fit. LinAlgError: the matrix is not positive definite.
        """
        centre, matrix = self._given(method, centre, matrix)
        return centre, self._factor(method, matrix)

    def _given(self, method: str, centre: Any, matrix: Any) -> tuple[Any, Any]:
        """The centre ``(*p, n)`` and the whole matrix ``(*q, n, n)``.

        Raises: ShapeError: they do not fit.
        """
        matrix = array_of(1.0 if matrix is None else matrix)
        if centre is None:
            centre = beside(matrix, np.zeros(1 if matrix.ndim < 2 else matrix.shape[-1]))
        centre, matrix = arrays_of(centre, matrix)
        centre = reshape(centre, shape=(1,)) if centre.ndim == 0 else centre
        centre, matrix = in_one_dtype(centre, matrix)
        n = centre.shape[-1]
        if matrix.ndim < 2:
            spread = broadcast_to(matrix, shape=(n,)) if matrix.size == 1 else matrix
            matrix = reshape(spread, shape=(*spread.shape, 1)) * beside(
                spread, np.eye(spread.size, dtype=matrix.dtype)
            )
        if matrix.shape[-2:] != (n, n):
            raise ShapeError(
                f"{self.name}.{method}: the matrix has shape {list(matrix.shape)}, but the centre "
                f"has {n} components; need [{n}, {n}], [{n}] for a diagonal or a number{where()}"
            )
        return centre, matrix

    def _factor(self, method: str, matrix: Any) -> Any:
        try:
            return cholesky(matrix)
        except np.linalg.LinAlgError:
            raise np.linalg.LinAlgError(
                f"{self.name}.{method}: the matrix is not positive definite; need a symmetric one "
                f"with positive eigenvalues{where()}"
            ) from None

    def _points(self, method: str, x: Any, n: int) -> Any:
        """`x` with the components along its last axis.

        Raises: ShapeError: there are not `n` of them.
        """
        x = array_of(x)
        if x.ndim == 0 or (x.ndim == 1 and n == 1):
            x = reshape(x, shape=(*x.shape, 1))
        if x.shape[-1] != n:
            raise ShapeError(
                f"{self.name}.{method}: x has shape {list(x.shape)}; need {n} components along its "
                f"last axis{where()}"
            )
        return x

    def _distances(self, method: str, x: Any, centre: Any, factor: Any) -> Any:
        """The squares of Mahalanobis' distances of the points from the centre."""
        n = factor.shape[-1]
        off = self._points(method, array_of(x, module_of(centre)), n) - centre
        if factor.ndim == 2:
            rows = reshape(off, shape=(math.prod(off.shape[:-1]), n))
            z = triangular_solve(factor, swapaxes(rows, 0, 1), lower=True, unit_diagonal=False)
            return reshape(sum(z * z, axis=(0,)), shape=off.shape[:-1])
        z = triangular_solve(
            factor, reshape(off, shape=(*off.shape, 1)), lower=True, unit_diagonal=False
        )
        return sum(z * z, axis=(z.ndim - 2, z.ndim - 1))


def _cut(dtype: Any) -> float:
    """Which part of the largest eigenvalue counts as 0."""
    return float(np.finfo(dtype).eps) * (1e3 if dtype == np.float32 else 1e6)


def half_log_det(factor: Any) -> Any:
    """Half the logarithm of the determinant of ``factor @ factor.T``."""
    y = log(diagonal(factor, axis1=-2, axis2=-1))
    return sum(y, axis=(y.ndim - 1,))


class MultivariateNormal(Elliptical):
    """The normal distribution of vectors of n components:
    ``f(x) = exp(-(x - mean) cov^-1 (x - mean) / 2) / sqrt((2 pi)**n det(cov))``.

    Shapes: ``x: (*a, n), mean: (n,), cov: (n, n) -> (*a)`` without axes of length 1, as SciPy;
    `cov` may be a diagonal ``(n,)`` or a number, and matrices ``(*b, n, n)`` and means ``(*b, n)``
    broadcast.
    Dtypes: real; integers give float64.
    Derivative: by `x`, `mean` and `cov`, which counts by its symmetric part.
    Raises: LinAlgError: `cov` is not positive definite, or with `allow_singular` has a negative
    eigenvalue. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.stats.multivariate_normal``.

    With `allow_singular` the density is one in the range of `cov`, and 0 outside; its derivatives are
    those where the rank stays.

    >>> float(multivariate_normal.logpdf([1.0, 0.0], [0.0, 0.0], np.eye(2)).round(4))
    -2.3379
    """

    def __call__(self, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Frozen:
        """The distribution with its parameters held."""
        return Frozen(self, {"mean": mean, "cov": cov, "allow_singular": allow_singular})

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
        """The logarithm of the density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.multivariate_normal``.

        >>> float(multivariate_normal.logpdf(0.0).round(4))
        -0.9189
        """
        if allow_singular:
            return self._in_range(x, mean, cov)
        mean, factor = self._parts("logpdf", mean, cov)
        squares = self._distances("logpdf", x, mean, factor)
        log_norm = half_log_det(factor) + 0.5 * factor.shape[-1] * LOG_2PI
        return squeeze(squares * -0.5 - log_norm)

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
        """The density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.multivariate_normal``.

        >>> float(multivariate_normal.pdf([0.0, 0.0], cov=[1.0, 4.0], mean=[0.0, 0.0]).round(4))
        0.0796
        """
        return exp(self.logpdf(x, mean, cov, allow_singular))

    def entropy(self, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
        """The differential entropy: ``n log(2 pi e) / 2 + log(det(cov)) / 2``.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.multivariate_normal``.

        >>> float(multivariate_normal.entropy([0.0, 0.0]).round(4))
        2.8379
        """
        if allow_singular:
            _, cov = self._given("entropy", mean, cov)
            _, _, half, rank = self._range("entropy", cov)
            return half + 0.5 * rank * (LOG_2PI + 1.0)
        _, factor = self._parts("entropy", mean, cov)
        return half_log_det(factor) + 0.5 * factor.shape[-1] * (LOG_2PI + 1.0)

    def _range(self, method: str, cov: Any) -> tuple[Any, Any, Any, Any]:
        """The projection on what `cov` does not reach, the factor of `cov` with a multiple of that,
        half of the logarithm of the product of its own eigenvalues, and how many these are.
        """
        n, dtype = cov.shape[-1], cov.dtype
        inverse = pinv(cov, rcond=_cut(dtype))
        beyond = np.eye(n, dtype=dtype) - matmul(cov, inverse)
        size = stop_gradient(trace(cov, axis1=-2, axis2=-1)) / n
        size = choose(size > 0, size, 1.0)
        factor = self._factor(method, cov + beyond * expand_dims(size, (-2, -1)))
        rank = n - rint(stop_gradient(trace(beyond, axis1=-2, axis2=-1)))
        return beyond, factor, half_log_det(factor) - 0.5 * (n - rank) * log(size), rank

    def _in_range(self, x: Any, centre: Any, cov: Any) -> Any:
        centre, cov = self._given("logpdf", centre, cov)
        beyond, factor, half, rank = self._range("logpdf", cov)
        off = self._points("logpdf", x, cov.shape[-1]) - centre
        away = sum_of(expand_dims(off, -2) * beyond, axis=-1)
        largest = eigvalsh(stop_gradient(cov))[..., -1]
        far = sqrt(sum_of(stop_gradient(away) ** 2, axis=-1))
        inside = far < 1e3 * _cut(cov.dtype) * largest
        squares = self._distances("logpdf", off - away, 0.0 * centre, factor)
        return squeeze(choose(inside, -0.5 * squares - half - 0.5 * rank * LOG_2PI, -math.inf))


class MultivariateT(Elliptical):
    """Student's t distribution of vectors of n components, `df` > 0, for a matrix `shape`:
    ``f(x) = c (1 + (x - loc) shape^-1 (x - loc) / df)**(-(df + n) / 2)``, with
    ``c = gamma((df + n) / 2) / (gamma(df / 2) sqrt((df pi)**n det(shape)))``.

    Shapes, Dtypes, Derivative, Raises: as `multivariate_normal`; also by `df`, a number.
    Source: SciPy reference, ``scipy.stats.multivariate_t``.

    >>> float(multivariate_t.pdf(0.0, df=1.0).round(4))
    0.3183
    """

    def __call__(
        self, loc: Any = None, shape: Any = 1, df: Any = 1, allow_singular: Any = False
    ) -> Frozen:
        """The distribution with its parameters held."""
        self._regular("__call__", allow_singular)
        return Frozen(self, {"loc": loc, "shape": shape, "df": df})

    @doubled
    def logpdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        """The logarithm of the density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.multivariate_t``.

        >>> float(multivariate_t.logpdf([0.0, 0.0], [0.0, 0.0], 1.0, 2.0).round(4))
        -1.8379
        """
        loc, factor = self._parts("logpdf", loc, shape)
        squares = self._distances("logpdf", x, loc, factor)
        n, normal, df = self._freedom(factor, df)
        half = 0.5 * (df + n)
        peak = self._peak(n, df)
        tail = choose(normal, -0.5 * squares, -half * log1p(squares / df))
        return squeeze(tail + choose(normal, -0.5 * n * LOG_2PI, peak) - half_log_det(factor))

    @doubled
    def pdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        """The density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.multivariate_t``.

        >>> float(multivariate_t.pdf([0.0, 0.0], [0.0, 0.0], 1.0, 2.0).round(4))
        0.1592
        """
        return exp(self.logpdf(x, loc, shape, df))

    @doubled
    def entropy(self, loc: Any = None, shape: Any = 1, df: Any = 1) -> Any:
        """The differential entropy.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.multivariate_t``.

        >>> float(multivariate_t.entropy(df=1.0).round(4))
        2.531
        """
        _, factor = self._parts("entropy", loc, shape)
        n, normal, df = self._freedom(factor, df)
        half = 0.5 * (df + n)
        inner = -self._peak(n, df) - half * digamma_gap(0.5 * df, 0.5 * n)
        return choose(normal, 0.5 * n * (LOG_2PI + 1.0), inner) + half_log_det(factor)

    def _peak(self, n: int, df: Any) -> Any:
        """``log(gamma((df + n) / 2) / gamma(df / 2) / (df pi)**(n / 2))``, also for large `df`."""
        return math.lgamma(0.5 * n) - betaln(0.5 * df, 0.5 * n) - 0.5 * n * log(df * math.pi)

    def _freedom(self, factor: Any, df: Any) -> tuple[int, Any, Any]:
        """The dimension, whether `df` is infinite, and `df` itself: nan for what is not positive."""
        df = in_one_dtype(df, np.ones(0, aval_of(factor).dtype))[0]
        normal = isinf(df)
        df = choose(normal, 1.0, df)
        return factor.shape[-1], normal, valid_only(df, df > 0)

    def _regular(self, method: str, allow_singular: Any) -> None:
        if allow_singular:
            self.refuse(method, "allow_singular=True is not supported; need a regular shape")


multivariate_normal = MultivariateNormal("multivariate_normal")
multivariate_t = MultivariateT("multivariate_t")
