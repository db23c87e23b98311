"""Inverse functions, powers and logarithms of special form, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np  # noqa: F401  (doctests)

from ..algebra import elementwise
from ..core import dtype_of
from .arithmetic import absolute, divide, polynomial, power
from .complex import imag, real
from .exponential import exp, expm1, log, log1p, sqrt, xlog1py, xlogy
from .from_scipy import floating, scipy_function, together
from .logic import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
)
from .rounding import sign
from .select import where
from .trigonometric import sin

# ---------------------------------------------------------------- Lambert's W

# NOTE [Branch points] Near its branch point -1/e Lambert's w is -1 + d with d of the size of the
# root of the distance, and the derivative goes with 1 / d. What 1 + w leaves of d is rounding errors
# of w, so d is computed from the distance, by its series in ``p = sqrt(2 (e z + 1))``. The branch
# point is no floating-point number: it is subtracted in parts, of which the first is one of single
# precision, so that the difference is exact.

BRANCH_POINT = (-0.3678794503211975, 9.149755188170102e-09, -6.446516260854533e-25)  # -1/e
PI = (3.1415927410125732, -8.742278000372485e-08, -5.343781467722031e-24)
NEARNESS = 0.005  # of e z + 1
# d / p, DLMF 4.13.6
DISTANCE = [
    1.0,
    -1 / 3,
    11 / 72,
    -43 / 540,
    769 / 17280,
    -221 / 8505,
    680863 / 43545600,
    -0.009616892024299432,
    0.006014543252956118,
    -0.0038112980348919993,
    0.0024408779911439826,
    -0.0015769303446867841,
    0.0010262633205076071,
    -0.0006720616311561362,
    0.0004424730618146209,
]


def _one_more(y: Any, s: Any, reversed_: Any, near: Any) -> Any:
    """``1 + y`` for a branch `y` of w with ``s = e z + 1``; by its series where `near` holds."""
    p = sqrt(where(near, s, 1.0))
    p = where(reversed_, -p, p) * math.sqrt(2.0)
    return where(near, p * polynomial(p, DISTANCE), 1.0 + y)


def _lambertw_slope(y: Any, z: Any, *, k: int, tol: float) -> Any:
    """``w / (z (1 + w))``, and ``1 / (e**w (1 + w))`` for small w."""
    z = z if dtype_of(z).kind == "c" else z + 0j
    s = z
    for part in BRANCH_POINT:
        s = s - part
    s = s * math.e
    # NaN, as at the number next to -1/e, counts as near; on other branches w is not.
    near = less(absolute(s), NEARNESS)
    near = logical_and(near, logical_not(greater_equal(absolute(1.0 + y), 0.5)))
    more = _one_more(y, s, k != 0, near)
    large = logical_and(greater(absolute(y), 1.0), logical_not(near))
    quotient = divide(y, where(large, z, 1.0))
    return divide(where(large, quotient, exp(where(large, 0.0, 1.0 - more))), more)


@elementwise(_lambertw_slope)
def lambertw(xp, z, /, *, k, tol):
    """The branch `k` of the inverse of ``w e**w``, to the relative accuracy `tol`: Lambert's W.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: numbers; gives complex128.
    Derivative: ``1 / (e**w (1 + w))``, 1 at 0 for k = 0; infinite at the branch point -1/e, NaN at
    the pole 0 of the other branches; smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: DLMF 4.13; Corless et al., "On the Lambert W function", 1996; SciPy reference,
    ``scipy.special.lambertw``.

    >>> lambertw(np.array([0.0, 1.0]), k=0, tol=1e-8).round(4).tolist()
    [0j, (0.5671+0j)]
    """
    return scipy_function(xp, "lambertw")(z, k, tol)


def _wrightomega_slope(y: Any, z: Any) -> Any:
    more = 1.0 + y
    if dtype_of(z).kind == "c":
        side = sign(imag(z))
        t = z + 1.0
        for part in PI:
            t = t - (1j * part) * side
        near = less(absolute(t), NEARNESS)
        s = -expm1(where(near, t, 0.0))
        root = sqrt(where(near, s, 1.0))
        reversed_ = less(real(root) * real(more) + imag(root) * imag(more), 0.0)
        more = _one_more(y, s, reversed_, near)
        y = where(near, more - 1.0, y)
    r = divide(1.0, more)
    large = greater(absolute(y), 1.0)  # y r, whose derivative cancels there
    return where(large, 1.0 - r, where(large, 0.0, y) * r)


@elementwise(_wrightomega_slope)
def wrightomega(xp, z, /):
    """The solution w of ``w + log(w) = z``, ``lambertw(e**z)`` on one of its branches.

    Shapes: ``z: (*a) -> (*a)``.   Dtypes: floating, complex; integers give floats.
    Derivative: ``w / (1 + w)``; infinite at the branch points ``-1 + i pi`` and ``-1 - i pi``;
    smooth inside its domain.
    Raises: ImportError: SciPy is not installed.
    Source: Corless & Jeffrey, "The Wright omega function", 2002; SciPy reference,
    ``scipy.special.wrightomega``.

    >>> wrightomega(np.array([0.0, 1.0])).round(4).tolist()
    [0.5671, 1.0]
    """
    return scipy_function(xp, "wrightomega")(floating(xp, z))


# ---------------------------------------------------------------- Box and Cox

# NOTE [Small exponents] The derivatives by lmbda are 0 / 0 at lmbda = 0 and cancel near it. There
# they are a power of what is transformed times a series.

# The derivative of ``(e**t - 1) / t``.
RISE = [(k + 1) / math.factorial(k + 2) for k in range(16)]
# ``(u / (1 + u) - log(1 + u)) / u**2``
FALL = [(-1.0) ** (k + 1) * (k + 1) / (k + 2) for k in range(18)]


def _power1p(x: Any, y: Any) -> Any:
    """``(1 + x)**y``, accurate for small `x`."""
    edge = less_equal(x, -1.0)
    return where(edge, power(where(edge, 1.0 + x, 1.0), y), exp(y * log1p(where(edge, 0.0, x))))


def _boxcox_by_lmbda(size: Any, y: Any, product: Any, lmbda: Any, edge: Any) -> Any:
    """``L**2 r(lmbda L)`` with the series r, or ``(product - y) / lmbda``; L is the logarithm
    `size`, `product` is ``e**(lmbda L) L``, and at `edge` L is minus infinity.
    """
    t = lmbda * size
    near = logical_and(less(absolute(t), 0.5), logical_not(edge))
    pole = logical_and(edge, less_equal(lmbda, 0.0))
    inside = size * size * polynomial(where(near, t, 0.0), RISE)
    besides = logical_or(near, pole)
    outside = where(besides, 1.0, product - y) / where(besides, 1.0, lmbda)
    return where(pole, math.inf, where(near, inside, outside))


def _boxcox_rule(y: Any, x: Any, lmbda: Any) -> Any:
    edge, pole = equal(x, 0.0), logical_and(equal(x, 0.0), less_equal(lmbda, 0.0))
    inner = where(pole, 1.0, x)
    product = xlogy(power(inner, lmbda), inner)
    return _boxcox_by_lmbda(log(where(edge, 1.0, x)), y, product, lmbda, edge)


@elementwise(lambda _y, x, lmbda: power(x, lmbda - 1.0), _boxcox_rule)
def boxcox(xp, x, lmbda, /):
    """``(x**lmbda - 1) / lmbda``, ``log(x)`` for lmbda = 0.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``x**(lmbda - 1)`` by `x`; ``(x**lmbda log(x) - y) / lmbda`` by `lmbda`, which for
    lmbda = 0 is ``log(x)**2 / 2``, 1 / lmbda**2 for x = 0.
    Raises: ShapeError: the shapes do not broadcast. ImportError: SciPy is not installed.
    Source: Box & Cox, "An analysis of transformations", 1964; SciPy reference,
    ``scipy.special.boxcox``.

    >>> boxcox(4.0, np.array([0.0, 0.5])).round(4).tolist()
    [1.3863, 2.0]
    """
    x, lmbda = together(xp, "boxcox", x, lmbda)
    return scipy_function(xp, "boxcox")(x, lmbda)


def _boxcox1p_rule(y: Any, x: Any, lmbda: Any) -> Any:
    edge, pole = equal(x, -1.0), logical_and(equal(x, -1.0), less_equal(lmbda, 0.0))
    inner = where(pole, 0.0, x)
    product = xlog1py(_power1p(inner, lmbda), inner)
    return _boxcox_by_lmbda(log1p(where(edge, 0.0, x)), y, product, lmbda, edge)


@elementwise(lambda _y, x, lmbda: _power1p(x, lmbda - 1.0), _boxcox1p_rule)
def boxcox1p(xp, x, lmbda, /):
    """``((1 + x)**lmbda - 1) / lmbda``, ``log(1 + x)`` for lmbda = 0.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``(1 + x)**(lmbda - 1)`` by `x`; ``((1 + x)**lmbda log(1 + x) - y) / lmbda`` by
    `lmbda`, which for lmbda = 0 is ``log(1 + x)**2 / 2``, 1 / lmbda**2 for x = -1;
    smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.boxcox1p``.

    >>> boxcox1p(3.0, np.array([0.0, 0.5])).round(4).tolist()
    [1.3863, 2.0]
    """
    x, lmbda = together(xp, "boxcox1p", x, lmbda)
    return scipy_function(xp, "boxcox1p")(x, lmbda)


def _inv_boxcox_by_y(x: Any, y: Any, lmbda: Any) -> Any:
    """``(1 + lmbda y)**(1 / lmbda - 1)``"""
    u = lmbda * y
    edge = equal(u, -1.0)
    exponent = divide(1.0, where(edge, lmbda, 1.0)) - 1.0
    return where(edge, power(where(edge, 1.0 + u, 1.0), exponent), x / where(edge, 1.0, 1.0 + u))


def _inv_boxcox_by_lmbda(x: Any, y: Any, lmbda: Any) -> Any:
    u = lmbda * y
    near = less(absolute(u), 0.1)
    inside = x * y * y * polynomial(where(near, u, 0.0), FALL)
    outer = where(near, 1.0, u)
    outside = where(near, 0.0, _inv_boxcox_by_y(x, y, lmbda) * y) - xlog1py(
        where(near, 0.0, x), outer
    ) / where(near, 1.0, lmbda)
    return where(near, inside, outside / where(near, 1.0, lmbda))


@elementwise(_inv_boxcox_by_y, _inv_boxcox_by_lmbda)
def inv_boxcox(xp, y, lmbda, /):
    """``(1 + lmbda y)**(1 / lmbda)``, ``e**y`` for lmbda = 0: the inverse of `boxcox`.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``x / (1 + lmbda y)`` by `y` and ``x (y / (1 + lmbda y) - log(x)) / lmbda`` by
    `lmbda`, which for lmbda = 0 is ``-x y**2 / 2``.
    Raises: ShapeError: the shapes do not broadcast. ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.inv_boxcox``.

    >>> inv_boxcox(2.0, np.array([0.0, 0.5])).round(4).tolist()
    [7.3891, 4.0]
    """
    y, lmbda = together(xp, "inv_boxcox", y, lmbda)
    return scipy_function(xp, "inv_boxcox")(y, lmbda)


@elementwise(
    lambda _x, y, lmbda: _inv_boxcox_by_y(inv_boxcox(y, lmbda), y, lmbda),
    lambda _x, y, lmbda: _inv_boxcox_by_lmbda(inv_boxcox(y, lmbda), y, lmbda),
)
def inv_boxcox1p(xp, y, lmbda, /):
    """``(1 + lmbda y)**(1 / lmbda) - 1``, ``e**y - 1`` for lmbda = 0: the inverse of `boxcox1p`.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: that of `inv_boxcox`; smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.inv_boxcox1p``.

    >>> inv_boxcox1p(2.0, np.array([0.0, 0.5])).round(4).tolist()
    [6.3891, 3.0]
    """
    y, lmbda = together(xp, "inv_boxcox1p", y, lmbda)
    return scipy_function(xp, "inv_boxcox1p")(y, lmbda)


# ---------------------------------------------------------------- less one


@elementwise(lambda _y, x: -sin(x))
def cosm1(xp, x, /):
    """``cos(x) - 1``, accurate near 0.

    Shapes: ``x: (*a) -> (*a)``.   Dtypes: floating; integers give floats.
    Derivative: ``-sin(x)``; smooth everywhere.
    Raises: ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.cosm1``.

    >>> cosm1(np.array([0.0, 1.0])).round(4).tolist()
    [0.0, -0.4597]
    """
    return scipy_function(xp, "cosm1")(x)


def _powm1_by_x(_z: Any, x: Any, y: Any) -> Any:
    both = logical_and(equal(x, 0), equal(y, 0))
    return y * power(x, where(both, 1.0, y) - 1.0)


@elementwise(_powm1_by_x, lambda _z, x, y: xlogy(power(x, y), where(greater(x, 0), x, 1.0)))
def powm1(xp, x, y, /):
    """``x**y - 1``, accurate where x**y is near 1.

    Shapes: broadcast.   Dtypes: floating; integers give floats.
    Derivative: ``y x**(y - 1)`` and ``x**y log(x)``; at and below x = 0 as that of `power`;
    smooth inside its domain.
    Raises: ShapeError: the shapes do not broadcast. ImportError: SciPy is not installed.
    Source: SciPy reference, ``scipy.special.powm1``.

    >>> powm1(2.0, np.array([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    x, y = together(xp, "powm1", x, y)
    return scipy_function(xp, "powm1")(x, y)
