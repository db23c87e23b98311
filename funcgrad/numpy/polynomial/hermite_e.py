"""Series of Hermite's polynomials of the probabilists: ``numpy.polynomial.hermite_e``."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import hermite_e as _theirs

from ...ops.exponential import exp
from .._arguments import array_of
from ._families import Family

_family = Family("herme", _theirs, lambda k: (1.0, 0.0, float(k)))
hermeadd = _family.add
hermecompanion = _family.companion
hermeder = _family.der
hermediv = _family.div
hermefit = _family.fit
hermefromroots = _family.fromroots
hermegauss = _theirs.hermegauss
hermegrid2d = _family.grid2d
hermegrid3d = _family.grid3d
hermeint = _family.int
hermeline = _family.line
hermemul = _family.mul
hermemulx = _family.mulx
hermepow = _family.pow
hermeroots = _family.roots
hermesub = _family.sub
hermeval = _family.val
hermeval2d = _family.val2d
hermeval3d = _family.val3d
hermevander = _family.vander
hermevander2d = _family.vander2d
hermevander3d = _family.vander3d
herme2poly = _family.to_poly
poly2herme = _family.from_poly


def hermeweight(x: Any) -> Any:
    """The weight with which these polynomials are orthogonal: ``exp(-x**2 / 2)``.

    Shapes: ``(*a) -> (*a)``.   Dtypes: numbers; integers give floats.
    Derivative: smooth.   Raises: nothing of its own.
    Source: NumPy reference, ``numpy.polynomial.hermite_e.hermeweight``.

    >>> hermeweight([0.0, 0.5]).round(4).tolist()
    [1.0, 0.8825]
    """
    x = array_of(x)
    return exp(-0.5 * x**2)


__all__ = [
    "herme2poly",
    "hermeadd",
    "hermecompanion",
    "hermeder",
    "hermediv",
    "hermefit",
    "hermefromroots",
    "hermegauss",
    "hermegrid2d",
    "hermegrid3d",
    "hermeint",
    "hermeline",
    "hermemul",
    "hermemulx",
    "hermepow",
    "hermeroots",
    "hermesub",
    "hermeval",
    "hermeval2d",
    "hermeval3d",
    "hermevander",
    "hermevander2d",
    "hermevander3d",
    "hermeweight",
    "poly2herme",
]
