"""Series of Legendre's polynomials: ``numpy.polynomial.legendre``."""

from numpy.polynomial import legendre as _theirs

from ._families import Family

_family = Family("leg", _theirs, lambda k: ((2 * k + 1) / (k + 1), 0.0, k / (k + 1)))

legadd = _family.add
legcompanion = _family.companion
legder = _family.der
legfit = _family.fit
legfromroots = _family.fromroots
leggrid2d = _family.grid2d
leggrid3d = _family.grid3d
legint = _family.int
legmul = _family.mul
legmulx = _family.mulx
legpow = _family.pow
legroots = _family.roots
legsub = _family.sub
legval = _family.val
legval2d = _family.val2d
legval3d = _family.val3d
legvander = _family.vander
leg2poly = _family.to_poly
poly2leg = _family.from_poly

__all__ = [
    "leg2poly",
    "legadd",
    "legcompanion",
    "legder",
    "legfit",
    "legfromroots",
    "leggrid2d",
    "leggrid3d",
    "legint",
    "legmul",
    "legmulx",
    "legpow",
    "legroots",
    "legsub",
    "legval",
    "legval2d",
    "legval3d",
    "legvander",
    "poly2leg",
]
