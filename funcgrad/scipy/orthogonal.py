"""Polynomials of ``scipy.special`` on other intervals, Legendre's functions, Dirichlet's kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..core import aval_of
from ..errors import ArgumentError, where
from ..numpy._arguments import array_of, operand
from ..ops.arithmetic import divide, power
from ..ops.beta import binom, poch
from ..ops.hypergeometric import ellipkm1
from ..ops.logic import greater, less, not_equal
from ..ops.polynomials import eval_chebyt, eval_chebyu, eval_jacobi, eval_legendre
from ..ops.select import where as _where
from ..ops.trigonometric import cos
from .probabilities import in_one_dtype


def eval_sh_legendre(n: Any, x: Any, /) -> Any:
    """Legendre's polynomial shifted to 0 .. 1: ``P_n(2 x - 1)``.

    Shapes: broadcast.   Dtypes: `x` real; integers give floats.
    Derivative: by `x`; smooth everywhere for whole `n`.
    Raises: MissingRuleError: the derivative by `n`.
    Source: SciPy reference, ``scipy.special.eval_sh_legendre``.

    >>> float(eval_sh_legendre(2, 1.0))
    1.0
    """
    return eval_legendre(n, 2.0 * array_of(x) - 1.0)


def eval_sh_chebyt(n: Any, x: Any, /) -> Any:
    """Chebyshev's polynomial of the first kind shifted to 0 .. 1: ``T_n(2 x - 1)``.

    Shapes: broadcast.   Dtypes: `x` real; integers give floats.
    Derivative: by `x`; smooth everywhere for whole `n`.
    Raises: MissingRuleError: the derivative by `n`.
    Source: SciPy reference, ``scipy.special.eval_sh_chebyt``.

    >>> float(eval_sh_chebyt(2, 1.0))
    1.0
    """
    return eval_chebyt(n, 2.0 * array_of(x) - 1.0)


def eval_sh_chebyu(n: Any, x: Any, /) -> Any:
    """Chebyshev's polynomial of the second kind shifted to 0 .. 1: ``U_n(2 x - 1)``.

    Shapes: broadcast.   Dtypes: `x` real; integers give floats.
    Derivative: by `x`; smooth everywhere for whole `n`.
    Raises: MissingRuleError: the derivative by `n`.
    Source: SciPy reference, ``scipy.special.eval_sh_chebyu``.

    >>> float(eval_sh_chebyu(2, 1.0))
    3.0
    """
    return eval_chebyu(n, 2.0 * array_of(x) - 1.0)


def eval_chebyc(n: Any, x: Any, /) -> Any:
    """Chebyshev's polynomial of the first kind on -2 .. 2: ``2 T_n(x / 2)``.

    Shapes: broadcast.   Dtypes: `x` real; integers give floats.
    Derivative: by `x`; smooth everywhere for whole `n`.
    Raises: MissingRuleError: the derivative by `n`.
    Source: SciPy reference, ``scipy.special.eval_chebyc``.

    >>> float(eval_chebyc(2, 1.0))
    -1.0
    """
    return 2.0 * eval_chebyt(n, 0.5 * array_of(x))


def eval_chebys(n: Any, x: Any, /) -> Any:
    """Chebyshev's polynomial of the second kind on -2 .. 2: ``U_n(x / 2)``.

    Shapes: broadcast.   Dtypes: `x` real; integers give floats.
    Derivative: by `x`; smooth everywhere for whole `n`.
    Raises: MissingRuleError: the derivative by `n`.
    Source: SciPy reference, ``scipy.special.eval_chebys``.

    >>> float(eval_chebys(2, 1.0))
    0.0
    """
    return eval_chebyu(n, 0.5 * array_of(x))


def eval_sh_jacobi(n: Any, p: Any, q: Any, x: Any, /) -> Any:
    """Jacobi's polynomial shifted to 0 .. 1: ``P_n^(p - q, q - 1)(2 x - 1) / binom(2 n + p - 1, n)``.

    Shapes: broadcast.   Dtypes: `x` real; integers give floats.
    Derivative: by `x`; smooth everywhere for whole `n`.
    Raises: MissingRuleError: the derivative by `n`, `p` or `q`.
    Source: SciPy reference, ``scipy.special.eval_sh_jacobi``.

    >>> float(eval_sh_jacobi(1, 2.0, 1.0, 1.0).round(4))
    0.6667
    """
    n, p, q = array_of(n), array_of(p), array_of(q)
    value = eval_jacobi(n, p - q, q - 1.0, 2.0 * array_of(x) - 1.0)
    return divide(value, binom(2.0 * n + p - 1.0, n))


def lpmv(m: Any, v: Any, x: Any, /) -> Any:
    """Legendre's associated function of order `m`, a whole number that is no array, and degree `v`.

    ``(-1)^m (1 - x^2)^(m / 2)`` times the m-th derivative of ``P_v(x)``, for -1 <= x <= 1; elsewhere
    nan unless `m` is 0, and for m < -v.

    Shapes: broadcast.   Dtypes: `x` real; integers give floats.
    Derivative: by `x`; at the ends infinite where m is 1; nan outside.
    Raises: ArgumentError: `m` is no whole number. MissingRuleError: the derivative by `v`.
    Source: DLMF 14.3.1, 18.5.7; SciPy reference, ``scipy.special.lpmv``.

    >>> float(lpmv(1, 2, 0.5).round(4))
    -1.299
    """
    if aval_of(operand(m)).ndim or isinstance(m, bool) or float(m) != int(m):
        raise ArgumentError(f"lpmv: m={m!r}; need a whole number{where()}")
    order, v, x = abs(int(m)), array_of(v), array_of(x)
    if not order:
        return eval_legendre(v, x)
    x = _where(greater(x * x, 1.0), math.nan, x)
    degree, missing = v - order, less(v, order) & (v.dtype.kind in "iu")
    factor = (-0.5) ** order * poch(v + 1.0, order)
    if m < 0:  # (-1)^m Gamma(v - |m| + 1) / Gamma(v + |m| + 1) times that of order |m|
        factor = divide(0.5**order, _where(missing, math.nan, poch(v + 1.0 - order, order)))
    value = eval_jacobi(_where(missing, 0, degree), order, order, x)
    value = _where(missing, 0.0 * x, value) * factor
    return value * power((1.0 - x) * (1.0 + x), 0.5 * order)


def diric(x: Any, n: int) -> Any:
    """Dirichlet's kernel, the periodic sinc: ``sin(n x / 2) / (n sin(x / 2))``.

    Shapes: ``x: (*a) -> (*a)``, `n` one whole number.   Dtypes: real; integers give floats.
    Derivative: by `x`; smooth everywhere.
    Raises: ArgumentError: `n` is no positive whole number.
    Source: SciPy reference, ``scipy.special.diric``.

    >>> diric(np.array([0.0, np.pi]), 3).round(4).tolist()
    [1.0, -0.3333]
    """
    if float(n) != int(n) or n < 1:
        raise ArgumentError(f"diric: n={n!r}; need a whole number of 1 or more{where()}")
    return eval_chebyu(int(n) - 1, cos(0.5 * array_of(x))) * (1.0 / int(n))


def agm(a: Any, b: Any, /) -> Any:
    """The arithmetic-geometric mean of two numbers of one sign, to which both means come when they are
    taken again and again; nan for others, 0 if one is 0.

    Shapes: broadcast.   Dtypes: real; integers give floats.
    Derivative: by both; infinite where one is 0.
    Raises: ArgumentError: complex numbers.
    Source: DLMF 19.8.5; SciPy reference, ``scipy.special.agm``.

    >>> float(agm(1.0, 2.0).round(4))
    1.4568
    """
    a, b = in_one_dtype(a, b)
    total = a + b
    same = greater(a * b, 0.0)
    whole = _where(same, total, 2.0)
    share = 4.0 * divide(_where(same, a, 1.0), whole) * divide(_where(same, b, 1.0), whole)
    mean = total * divide(math.pi / 4.0, ellipkm1(share))
    return _where(same, mean, _where(not_equal(a * b, 0.0), math.nan, 0.0 * total))
