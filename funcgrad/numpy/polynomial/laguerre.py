"""Series of Laguerre's polynomials: ``numpy.polynomial.laguerre``."""

from numpy.polynomial import laguerre as _theirs

from ._families import Family

_family = Family("lag", _theirs, lambda k: (-1.0 / (k + 1), (2 * k + 1) / (k + 1), k / (k + 1)))

lagadd = _family.add
lagcompanion = _family.companion
lagder = _family.der
lagfit = _family.fit
lagfromroots = _family.fromroots
laggrid2d = _family.grid2d
laggrid3d = _family.grid3d
lagint = _family.int
lagmul = _family.mul
lagmulx = _family.mulx
lagpow = _family.pow
lagroots = _family.roots
lagsub = _family.sub
lagval = _family.val
lagval2d = _family.val2d
lagval3d = _family.val3d
lagvander = _family.vander
lag2poly = _family.to_poly
poly2lag = _family.from_poly

__all__ = [
    "lag2poly",
    "lagadd",
    "lagcompanion",
    "lagder",
    "lagfit",
    "lagfromroots",
    "laggrid2d",
    "laggrid3d",
    "lagint",
    "lagmul",
    "lagmulx",
    "lagpow",
    "lagroots",
    "lagsub",
    "lagval",
    "lagval2d",
    "lagval3d",
    "lagvander",
    "poly2lag",
]
