"""Distributions of matrices: Wishart's, its inverse's, and the normal one with two covariances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, beside
from ...numpy.matrices import diagonal
from ...numpy.ordering import moveaxis, swapaxes
from ...numpy.products import outer
from ...numpy.shaping import squeeze
from ...ops.decompose import cholesky
from ...ops.exponential import exp
from ...ops.gamma import digamma
from ...ops.solve import triangular_solve
from ...ops.structural import broadcast_to, reshape, sum
from ..probabilities import in_one_dtype
from ..special import multigammaln
from .distribution import Frozen, NamedDistribution, doubled
from .elliptical import half_log_det
from .normal import LOG_2PI

_LOG_2 = math.log(2.0)


class _OfMatrices(NamedDistribution):
    """What distributions of matrices share."""

    def _square(self, method: str, what: str, matrix: Any) -> Any:
        """A number, a diagonal or a matrix as a matrix.

        Raises: ShapeError: it is no square matrix.
        """
        matrix = array_of(matrix)
        if matrix.ndim == 0:
            matrix = reshape(matrix, shape=(1, 1))
        elif matrix.ndim == 1:
            (matrix,) = in_one_dtype(matrix)
            matrix = reshape(matrix, shape=(*matrix.shape, 1)) * np.eye(
                matrix.shape[0], dtype=matrix.dtype
            )
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ShapeError(
                f"{self.name}.{method}: {what} has shape {list(matrix.shape)}; need a square matrix"
                f"{where()}"
            )
        return matrix

    def _factor(self, method: str, what: str, matrix: Any) -> Any:
        try:
            return cholesky(matrix)
        except np.linalg.LinAlgError:
            raise np.linalg.LinAlgError(
                f"{self.name}.{method}: {what} is not positive definite{where()}"
            ) from None


class Wishart(_OfMatrices):
    """Wishart's distribution of symmetric, positive definite matrices, ``df > n - 1``:
    ``f(x) = det(x)**((df - n - 1) / 2) exp(-trace(scale^-1 x) / 2) / c``, with
    ``c = 2**(df n / 2) det(scale)**(df / 2) gamma_n(df / 2)``.

    Shapes: ``x: (n, n, *a), df: (), scale: (n, n) -> (*a)`` without axes of length 1, as SciPy; `scale`
    may be a diagonal or a number, `x` a diagonal ``(n,)``, or numbers ``(*a)`` for n = 1.
    Dtypes: real; integers give float64.
    Derivative: by `x`, `df` and `scale`; matrices count by their symmetric parts.
    Raises: LinAlgError: a matrix is not positive definite. ShapeError: the shapes do not fit.
    ArgumentError: ``df <= n - 1``; where a transform knows only types this is not asked.
    Source: SciPy reference, ``scipy.stats.wishart``.

    >>> float(wishart.logpdf(2.0, 3.0, 1.0).round(4))
    -1.5724
    """

    def __call__(self, df: Any = None, scale: Any = None) -> Frozen:
        """The distribution with its parameters held."""
        return Frozen(self, {"df": df, "scale": scale})

    @doubled
    def logpdf(self, x: Any, df: Any, scale: Any) -> Any:
        """The logarithm of the density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.wishart``.

        >>> float(wishart.logpdf(np.eye(2), 3.0, np.eye(2)).round(4))
        -3.531
        """
        factor, df, inner = self._at("logpdf", x, df, scale)
        n = factor.shape[-1]
        z = triangular_solve(
            broadcast_to(factor, shape=inner.shape), inner, lower=True, unit_diagonal=False
        )
        squares = sum(z * z, axis=(z.ndim - 2, z.ndim - 1))
        constant = 0.5 * df * n * _LOG_2 + df * half_log_det(factor) + multigammaln(0.5 * df, n)
        return squeeze((df - n - 1.0) * half_log_det(inner) - 0.5 * squares - constant)

    @doubled
    def pdf(self, x: Any, df: Any, scale: Any) -> Any:
        """The density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.wishart``.

        >>> float(wishart.pdf(2.0, 3.0, 1.0).round(4))
        0.2076
        """
        return exp(self.logpdf(x, df, scale))

    def mean(self, df: Any, scale: Any) -> Any:
        """The mean: ``df scale``.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.wishart``.

        >>> wishart.mean(3.0, np.eye(2)).tolist()
        [[3.0, 0.0], [0.0, 3.0]]
        """
        _, df, scale = self._parameters("mean", df, scale)
        return squeeze(df * scale)

    def var(self, df: Any, scale: Any) -> Any:
        """The variances of the elements: ``df (scale_ij**2 + scale_ii scale_jj)``.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.wishart``.

        >>> wishart.var(3.0, np.eye(2)).tolist()
        [[6.0, 3.0], [3.0, 6.0]]
        """
        _, df, scale = self._parameters("var", df, scale)
        line = diagonal(scale)
        return squeeze(df * (scale * scale + outer(line, line)))

    @doubled
    def entropy(self, df: Any, scale: Any) -> Any:
        """The differential entropy.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.wishart``.

        >>> float(wishart.entropy(3.0, 1.0).round(4))
        2.0541
        """
        n, df, scale = self._parameters("entropy", df, scale)
        half = half_log_det(self._factor("entropy", "scale", scale))
        slopes = sum(
            digamma(0.5 * (df - beside(scale, np.arange(n).astype(scale.dtype)))), axis=(0,)
        )
        inner = (n + 1.0) * half + 0.5 * n * (n + 1.0) * _LOG_2 + multigammaln(0.5 * df, n)
        return inner - 0.5 * (df - n - 1.0) * slopes + 0.5 * df * n

    def _parameters(self, method: str, df: Any, scale: Any) -> tuple[int, Any, Any]:
        scale = self._square(method, "scale", 1.0 if scale is None else scale)
        n = scale.shape[0]
        df, scale = in_one_dtype(n if df is None else df, scale)
        value = known(df)
        if df.ndim or (value is not None and not value > n - 1):
            self.refuse(method, f"df is {df}; need a number above {n - 1}")
        return n, df, scale

    def _at(self, method: str, x: Any, df: Any, scale: Any) -> tuple[Any, Any, Any]:
        """The factor of `scale`, `df`, and the factors of matrices ``(*a, n, n)``."""
        n, df, scale = self._parameters(method, df, scale)
        x = array_of(x)
        if x.ndim == 0:
            x = reshape(x, shape=(1, 1)) * beside(scale, np.eye(n))
        elif x.ndim == 1:
            x = reshape(x, shape=(1, 1, *x.shape)) if n == 1 else self._square(method, "x", x)
        if x.shape[:2] != (n, n):
            raise ShapeError(
                f"{self.name}.{method}: x has shape {list(x.shape)}; need {[n, n]} first{where()}"
            )
        x, scale, df = in_one_dtype(moveaxis(x, (0, 1), (-2, -1)), scale, df)
        return self._factor(method, "scale", scale), df, self._factor(method, "x", x)


class InverseWishart(Wishart):
    """The distribution of the inverse of a matrix of Wishart's with ``scale^-1``, ``df > n - 1``:
    ``f(x) = det(x)**(-(df + n + 1) / 2) exp(-trace(scale x^-1) / 2) / c``, with
    ``c = 2**(df n / 2) det(scale)**(-df / 2) gamma_n(df / 2)``.

    Shapes, Dtypes, Derivative, Raises: as `wishart`.
    Source: SciPy reference, ``scipy.stats.invwishart``.

    >>> float(invwishart.logpdf(2.0, 3.0, 1.0).round(4))
    -2.9018
    """

    @doubled
    def logpdf(self, x: Any, df: Any, scale: Any) -> Any:
        """The logarithm of the density at `x`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.invwishart``.

        >>> float(invwishart.logpdf(np.eye(2), 3.0, np.eye(2)).round(4))
        -3.531
        """
        factor, df, inner = self._at("logpdf", x, df, scale)
        n = factor.shape[-1]
        z = triangular_solve(
            inner, broadcast_to(factor, shape=inner.shape), lower=True, unit_diagonal=False
        )
        squares = sum(z * z, axis=(z.ndim - 2, z.ndim - 1))
        constant = 0.5 * df * n * _LOG_2 - df * half_log_det(factor) + multigammaln(0.5 * df, n)
        return squeeze(-(df + n + 1.0) * half_log_det(inner) - 0.5 * squares - constant)

    def mean(self, df: Any, scale: Any) -> Any:
        """The mean: ``scale / (df - n - 1)``, for ``df > n + 1``.

        Shapes, Dtypes, Derivative: those of the class.
        Raises: as the class; ArgumentError: there is no mean.
        Source: SciPy reference, ``scipy.stats.invwishart``.

        >>> invwishart.mean(5.0, np.eye(2)).tolist()
        [[0.5, 0.0], [0.0, 0.5]]
        """
        n, df, scale = self._parameters("mean", df, scale)
        self._require_above("mean", df, n + 1)
        return squeeze(scale / (df - n - 1.0))

    def var(self, df: Any, scale: Any) -> Any:
        """The variances of the elements, for ``df > n + 3``.

        Shapes, Dtypes, Derivative: those of the class.
        Raises: as the class; ArgumentError: there is no variance.
        Source: SciPy reference, ``scipy.stats.invwishart``.

        >>> invwishart.var(7.0, np.eye(2)).round(4).tolist()
        [[0.0625, 0.025], [0.025, 0.0625]]
        """
        n, df, scale = self._parameters("var", df, scale)
        self._require_above("var", df, n + 3)
        line, rest = diagonal(scale), df - n
        found = (rest + 1.0) * scale * scale + (rest - 1.0) * outer(line, line)
        return squeeze(found / (rest * (rest - 1.0) * (rest - 1.0) * (rest - 3.0)))

    @doubled
    def entropy(self, df: Any, scale: Any) -> Any:
        """The differential entropy.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.invwishart``.

        >>> float(invwishart.entropy(3.0, 1.0).round(4))
        0.5948
        """
        n, df, scale = self._parameters("entropy", df, scale)
        half = half_log_det(self._factor("entropy", "scale", scale))
        slopes = sum(
            digamma(0.5 * (df - beside(scale, np.arange(n).astype(scale.dtype)))), axis=(0,)
        )
        inner = 0.5 * (n + 1.0) * (2.0 * half - _LOG_2) + multigammaln(0.5 * df, n)
        return inner - 0.5 * (df + n + 1.0) * slopes + 0.5 * df * n

    def _require_above(self, method: str, df: Any, least: int) -> None:
        value = known(df)
        if value is not None and not value > least:
            self.refuse(method, f"df is {df}; need a number above {least}")


class MatrixNormal(_OfMatrices):
    """The normal distribution of r x c matrices whose rows and whose columns are correlated: that of
    vectors with the covariance ``colcov (x) rowcov`` of stacked columns.

    Shapes: ``X: (*a, r, c), mean: (r, c), rowcov: (r, r), colcov: (c, c) -> (*a)``; covariances may be
    diagonals or numbers.
    Dtypes: real; integers give float64.
    Derivative: by all four; covariances count by their symmetric parts.
    Raises: LinAlgError: a covariance is not positive definite. ShapeError: the shapes do not fit.
    Source: SciPy reference, ``scipy.stats.matrix_normal``.

    >>> float(matrix_normal.logpdf(np.zeros((2, 2)), np.zeros((2, 2))).round(4))
    -3.6758
    """

    def __call__(self, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Frozen:
        """The distribution with its parameters held."""
        return Frozen(self, {"mean": mean, "rowcov": rowcov, "colcov": colcov})

    def logpdf(self, X: Any, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Any:
        """The logarithm of the density at `X`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.matrix_normal``.

        >>> float(matrix_normal.logpdf([[1.0]], [[0.0]], 4.0).round(4))
        -1.7371
        """
        mean, rows, columns = self._ready("logpdf", mean, rowcov, colcov)
        X, mean = in_one_dtype(array_of(X), mean)
        if X.shape[-2:] != mean.shape:
            raise ShapeError(
                f"{self.name}.logpdf: X has shape {list(X.shape)}; need {list(mean.shape)} last"
                f"{where()}"
            )
        z = X - mean
        for factor in (rows, columns):
            lead = broadcast_to(factor, shape=(*z.shape[:-2], *factor.shape))
            z = swapaxes(triangular_solve(lead, z, lower=True, unit_diagonal=False), -2, -1)
        r, c = mean.shape
        constant = 0.5 * r * c * LOG_2PI + c * half_log_det(rows) + r * half_log_det(columns)
        return squeeze(-0.5 * sum(z * z, axis=(z.ndim - 2, z.ndim - 1)) - constant)

    def pdf(self, X: Any, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Any:
        """The density at `X`.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.matrix_normal``.

        >>> float(matrix_normal.pdf([[1.0]], [[1.0]]).round(4))
        0.3989
        """
        return exp(self.logpdf(X, mean, rowcov, colcov))

    def entropy(self, mean: Any = None, rowcov: Any = 1, colcov: Any = 1) -> Any:
        """The differential entropy.

        Shapes, Dtypes, Derivative and Raises: those of the class.
        Source: SciPy reference, ``scipy.stats.matrix_normal``.

        >>> float(matrix_normal.entropy(np.zeros((1, 1))).round(4))
        1.4189
        """
        mean, rows, columns = self._ready("entropy", mean, rowcov, colcov)
        r, c = mean.shape
        return 0.5 * r * c * (1.0 + LOG_2PI) + c * half_log_det(rows) + r * half_log_det(columns)

    def _ready(self, method: str, mean: Any, rowcov: Any, colcov: Any) -> tuple[Any, Any, Any]:
        """The mean, and the factors of the covariances."""
        found = [array_of(v) for v in (rowcov, colcov)]
        if mean is None:
            mean = np.zeros([v.shape[0] if v.ndim else 1 for v in found])
        mean = array_of(mean)
        if mean.ndim != 2:
            raise ShapeError(f"{self.name}.{method}: the mean must be a matrix{where()}")
        mean, *found = in_one_dtype(mean, *found)
        factors = []
        for what, v, n in zip(("rowcov", "colcov"), found, mean.shape, strict=True):
            whole = v * np.eye(n, dtype=v.dtype) if v.ndim == 0 else self._square(method, what, v)
            if whole.shape != (n, n):
                raise ShapeError(
                    f"{self.name}.{method}: {what} has shape {list(whole.shape)}; need {[n, n]}"
                    f"{where()}"
                )
            factors.append(self._factor(method, what, whole))
        return mean, factors[0], factors[1]


wishart = Wishart("wishart")
invwishart = InverseWishart("invwishart")
matrix_normal = MatrixNormal("matrix_normal")
