"""Orthogonal polynomials, element by element: the derivative is one of the family's next weight.

NOTE [Degrees] Integers select SciPy's recurrences, which are more accurate than its hypergeometric
series for any degree; so an array of integers stays one.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from ..errors import ArgumentError
from ..errors import where as user_line
from .arithmetic import absolute
from .from_scipy import by_nothing, scipy_function, together
from .logic import equal, less
from .select import where


def _is_integer(n: Any) -> bool:
    return n.dtype.kind in "biu" if hasattr(n, "dtype") else isinstance(n, int)


def _evaluated(xp: ModuleType, name: str, n: Any, *xs: Any) -> Any:
    """SciPy's polynomial `name` in the dtype of `xs`.

    Raises: ArgumentError: one is complex.
    """
    if not _is_integer(n):
        return scipy_function(xp, name)(*together(xp, name, n, *xs))
    xs = together(xp, name, *xs)
    y = scipy_function(xp, name)(n.astype(xp.int64) if hasattr(n, "dtype") else n, *xs)
    return y.astype(next((x.dtype for x in xs if hasattr(x, "dtype")), y.dtype))


def _integer_degree(xp: ModuleType, name: str, n: Any, x: Any) -> Any:
    """`_evaluated`, of integers `n` only.

    Raises: ArgumentError: `n` is no integer.
    """
    if not _is_integer(n):
        raise ArgumentError(f"{name}: the degree `n` must be integers{user_line()}")
    return _evaluated(xp, name, n, x)


def _below(n: Any) -> Any:
    """The degree ``n - 1``, and 0 for 0: SciPy has NaN or anything at -1."""
    return where(equal(n, 0), 1, n) - 1


def _unless_0(n: Any, slope: Any) -> Any:
    """The slope of a polynomial of degree `n`, which is 0 for a constant."""
    return where(equal(n, 0), 0.0, slope)


# ---------------------------------------------------------------- Jacobi and its special cases


@elementwise(
    by_nothing("eval_jacobi", "n"),
    by_nothing("eval_jacobi", "alpha"),
    by_nothing("eval_jacobi", "beta"),
    lambda _y, n, alpha, beta, x: _unless_0(
        n, (n + 1.0 + alpha + beta) * 0.5 * eval_jacobi(_below(n), alpha + 1.0, beta + 1.0, x)
    ),
)
def eval_jacobi(xp, n, alpha, beta, x, /):
    """The Jacobi polynomial ``P_n^(alpha, beta)(x)``.

    Shapes: broadcast.   Dtypes: floating, `n` integers too; other integers give floats.
    Derivative: ``(n + alpha + beta + 1) / 2 P_(n-1)^(alpha+1, beta+1)(x)``; none by the others;
    smooth inside its domain.
    Raises: ArgumentError: complex numbers. MissingRuleError: the derivative by `n`, `alpha` or
    `beta`. ImportError: SciPy is not installed.
    Source: DLMF 18.9.15; SciPy reference, ``scipy.special.eval_jacobi``.

    >>> eval_jacobi(2, 1.0, 0.0, np.array([0.0, 1.0])).tolist()
    [-0.5, 3.0]
    """
    return _evaluated(xp, "eval_jacobi", n, alpha, beta, x)


@elementwise(
    by_nothing("eval_gegenbauer", "n"),
    by_nothing("eval_gegenbauer", "alpha"),
    lambda _y, n, alpha, x: _unless_0(n, 2.0 * alpha * eval_gegenbauer(_below(n), alpha + 1.0, x)),
)
def eval_gegenbauer(xp, n, alpha, x, /):
    """The Gegenbauer polynomial ``C_n^(alpha)(x)``.

    Shapes: broadcast.   Dtypes: floating, `n` integers too; other integers give floats.
    Derivative: ``2 alpha C_(n-1)^(alpha+1)(x)``; none by `n` and `alpha`; smooth inside its domain.
    Raises: ArgumentError: complex numbers. MissingRuleError: the derivative by `n` or `alpha`.
    ImportError: SciPy is not installed.
    Source: DLMF 18.9.19; SciPy reference, ``scipy.special.eval_gegenbauer``.

    >>> eval_gegenbauer(2, 1.0, np.array([0.0, 1.0])).tolist()
    [-1.0, 3.0]
    """
    return _evaluated(xp, "eval_gegenbauer", n, alpha, x)


def _legendre_slope(n: Any, x: Any) -> Any:
    n = where(less(n, 0), -1 - n, n)  # the same polynomial
    return _unless_0(n, eval_gegenbauer(_below(n), 1.5, x))


@elementwise(by_nothing("eval_legendre", "n"), lambda _y, n, x: _legendre_slope(n, x))
def eval_legendre(xp, n, x, /):
    """The Legendre polynomial ``P_n(x)``.

    Shapes: broadcast.   Dtypes: floating, `n` integers too; other integers give floats.
    Derivative: ``C_(n-1)^(3/2)(x)``, a Gegenbauer polynomial; none by `n`.
    Raises: ArgumentError: complex numbers. MissingRuleError: the derivative by `n`.
    ImportError: SciPy is not installed.
    Source: DLMF 18.7.9, 18.9.19; SciPy reference, ``scipy.special.eval_legendre``.

    >>> eval_legendre(2, np.array([0.0, 1.0])).tolist()
    [-0.5, 1.0]
    """
    return _evaluated(xp, "eval_legendre", n, x)


# ---------------------------------------------------------------- Chebyshev


@elementwise(
    by_nothing("eval_chebyt", "n"),
    lambda _y, n, x: absolute(n) * eval_chebyu(absolute(n) - 1, x),
)
def eval_chebyt(xp, n, x, /):
    """The Chebyshev polynomial of the first kind: ``T_n(cos(t)) = cos(n t)``.

    Shapes: broadcast.   Dtypes: floating, `n` integers too; other integers give floats.
    Derivative: ``n U_(n-1)(x)``; none by `n`; smooth inside its domain.
    Raises: ArgumentError: complex numbers. MissingRuleError: the derivative by `n`.
    ImportError: SciPy is not installed.
    Source: DLMF 18.9.21; SciPy reference, ``scipy.special.eval_chebyt``.

    >>> eval_chebyt(2, np.array([0.0, 1.0])).tolist()
    [-1.0, 1.0]
    """
    return _evaluated(xp, "eval_chebyt", n, x)


def _chebyu_slope(n: Any, x: Any) -> Any:
    mirrored = less(n, -1)
    n = where(mirrored, -2 - n, n)  # the same polynomial, but for the sign
    n = where(equal(n, -1), 0, n)
    return where(mirrored, -2.0, 2.0) * _unless_0(n, eval_gegenbauer(_below(n), 2.0, x))


@elementwise(by_nothing("eval_chebyu", "n"), lambda _y, n, x: _chebyu_slope(n, x))
def eval_chebyu(xp, n, x, /):
    """The Chebyshev polynomial of the second kind: ``U_n(cos(t)) = sin((n + 1) t) / sin(t)``.

    Shapes: broadcast.   Dtypes: floating, `n` integers too; other integers give floats.
    Derivative: ``2 C_(n-1)^(2)(x)``, a Gegenbauer polynomial; none by `n`; smooth inside its domain.
    Raises: ArgumentError: complex numbers. MissingRuleError: the derivative by `n`.
    ImportError: SciPy is not installed.
    Source: DLMF 18.7.4, 18.9.19; SciPy reference, ``scipy.special.eval_chebyu``.

    >>> eval_chebyu(2, np.array([0.0, 1.0])).tolist()
    [-1.0, 3.0]
    """
    return _evaluated(xp, "eval_chebyu", n, x)


# ---------------------------------------------------------------- Laguerre


@elementwise(
    by_nothing("eval_genlaguerre", "n"),
    by_nothing("eval_genlaguerre", "alpha"),
    lambda _y, n, alpha, x: _unless_0(n, -eval_genlaguerre(_below(n), alpha + 1.0, x)),
)
def eval_genlaguerre(xp, n, alpha, x, /):
    """The generalized Laguerre polynomial ``L_n^(alpha)(x)``.

    Shapes: broadcast.   Dtypes: floating, `n` integers too; other integers give floats.
    Derivative: ``-L_(n-1)^(alpha+1)(x)``; none by `n` and `alpha`; smooth inside its domain.
    Raises: ArgumentError: complex numbers. MissingRuleError: the derivative by `n` or `alpha`.
    ImportError: SciPy is not installed.
    Source: DLMF 18.9.23; SciPy reference, ``scipy.special.eval_genlaguerre``.

    >>> eval_genlaguerre(1, 2.0, np.array([0.0, 1.0])).tolist()
    [3.0, 2.0]
    """
    return _evaluated(xp, "eval_genlaguerre", n, alpha, x)


@elementwise(
    by_nothing("eval_laguerre", "n"),
    lambda _y, n, x: _unless_0(n, -eval_genlaguerre(_below(n), 1.0, x)),
)
def eval_laguerre(xp, n, x, /):
    """The Laguerre polynomial ``L_n(x)``.

    Shapes: broadcast.   Dtypes: floating, `n` integers too; other integers give floats.
    Derivative: ``-L_(n-1)^(1)(x)``; none by `n`; smooth inside its domain.
    Raises: ArgumentError: complex numbers. MissingRuleError: the derivative by `n`.
    ImportError: SciPy is not installed.
    Source: DLMF 18.9.23; SciPy reference, ``scipy.special.eval_laguerre``.

    >>> eval_laguerre(1, np.array([0.0, 1.0])).tolist()
    [1.0, 0.0]
    """
    return _evaluated(xp, "eval_laguerre", n, x)


# ---------------------------------------------------------------- Hermite


@elementwise(
    by_nothing("eval_hermite", "n"),
    lambda _y, n, x: _unless_0(n, 2.0 * n * eval_hermite(_below(n), x)),
)
def eval_hermite(xp, n, x, /):
    """The physicist's Hermite polynomial ``H_n(x)``, orthogonal with weight ``e**(-x**2)``.

    Shapes: broadcast.   Dtypes: `n` integers, `x` floating; integers give floats.
    Derivative: ``2 n H_(n-1)(x)``; none by `n`; smooth inside its domain.
    Raises: ArgumentError: complex numbers; `n` is no integer. ImportError: SciPy is not installed.
    Source: DLMF 18.9.25; SciPy reference, ``scipy.special.eval_hermite``.

    >>> eval_hermite(2, np.array([0.0, 1.0])).tolist()
    [-2.0, 2.0]
    """
    return _integer_degree(xp, "eval_hermite", n, x)


@elementwise(
    by_nothing("eval_hermitenorm", "n"),
    lambda _y, n, x: _unless_0(n, n * eval_hermitenorm(_below(n), x)),
)
def eval_hermitenorm(xp, n, x, /):
    """The probabilist's Hermite polynomial ``He_n(x)``, orthogonal with weight ``e**(-x**2/2)``.

    Shapes: broadcast.   Dtypes: `n` integers, `x` floating; integers give floats.
    Derivative: ``n He_(n-1)(x)``; none by `n`; smooth inside its domain.
    Raises: ArgumentError: complex numbers; `n` is no integer. ImportError: SciPy is not installed.
    Source: DLMF 18.9.27; SciPy reference, ``scipy.special.eval_hermitenorm``.

    >>> eval_hermitenorm(2, np.array([0.0, 1.0])).tolist()
    [-1.0, 0.0]
    """
    return _integer_degree(xp, "eval_hermitenorm", n, x)
