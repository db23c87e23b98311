"""Series of Chebyshev's polynomials of the first kind: ``numpy.polynomial.chebyshev``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.polynomial import chebyshev as _theirs

from ...errors import ArgumentError, where
from ...ops.exponential import sqrt
from .._arguments import array_of, beside
from ..products import tensordot
from ._families import Family

_family = Family("cheb", _theirs, lambda k: (1.0 if k == 0 else 2.0, 0.0, 1.0))
chebadd = _family.add
chebcompanion = _family.companion
chebder = _family.der
chebdiv = _family.div
chebfit = _family.fit
chebfromroots = _family.fromroots
chebgauss = _theirs.chebgauss
chebgrid2d = _family.grid2d
chebgrid3d = _family.grid3d
chebint = _family.int
chebline = _family.line
chebmul = _family.mul
chebmulx = _family.mulx
chebpow = _family.pow
chebpts1 = _theirs.chebpts1
chebpts2 = _theirs.chebpts2
chebroots = _family.roots
chebsub = _family.sub
chebval = _family.val
chebval2d = _family.val2d
chebval3d = _family.val3d
chebvander = _family.vander
chebvander2d = _family.vander2d
chebvander3d = _family.vander3d
cheb2poly = _family.to_poly
poly2cheb = _family.from_poly


def chebweight(x: Any) -> Any:
    """The weight with which these polynomials are orthogonal: ``1 / sqrt(1 - x**2)``.

    Shapes: ``(*a) -> (*a)``.   Dtypes: numbers; integers give floats.
    Derivative: smooth for ``|x| < 1``.   Raises: nothing of its own.
    Source: NumPy reference, ``numpy.polynomial.chebyshev.chebweight``.

    >>> chebweight([0.0, 0.5]).round(4).tolist()
    [1.0, 1.1547]
    """
    x = array_of(x)
    return 1.0 / (sqrt(1.0 + x) * sqrt(1.0 - x))


def chebinterpolate(func: Callable[..., Any], deg: int, args: tuple[Any, ...] = ()) -> Any:
    """The series of degree `deg` that meets ``func(x, *args)`` in Chebyshev's points.

    Shapes: `func` of ``(deg + 1,)`` gives ``(deg + 1, *b)``, as does this.
    Dtypes: numbers; integers give floats.
    Derivative: linear in what `func` gives.   Raises: ArgumentError: `deg` is negative.
    Source: NumPy reference, ``numpy.polynomial.chebyshev.chebinterpolate``.

    >>> chebinterpolate(lambda x: x**2, 2).round(4).tolist()
    [0.5, 0.0, 0.5]
    """
    if deg < 0:
        raise ArgumentError(f"chebinterpolate: deg={deg}; need 0 or more{where()}")
    points = chebpts1(deg + 1)
    table = _theirs.chebvander(points, deg).T * (2.0 / (deg + 1))
    table[0] *= 0.5
    y = array_of(func(points, *args))
    return tensordot(beside(y, table), y, 1)


__all__ = [
    "cheb2poly",
    "chebadd",
    "chebcompanion",
    "chebder",
    "chebdiv",
    "chebfit",
    "chebfromroots",
    "chebgauss",
    "chebgrid2d",
    "chebgrid3d",
    "chebint",
    "chebinterpolate",
    "chebline",
    "chebmul",
    "chebmulx",
    "chebpow",
    "chebpts1",
    "chebpts2",
    "chebroots",
    "chebsub",
    "chebval",
    "chebval2d",
    "chebval3d",
    "chebvander",
    "chebvander2d",
    "chebvander3d",
    "chebweight",
    "poly2cheb",
]
