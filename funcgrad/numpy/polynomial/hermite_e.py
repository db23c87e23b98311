"""Series of Hermite's polynomials of the probabilists: ``numpy.polynomial.hermite_e``."""

from numpy.polynomial import hermite_e as _theirs

from ._families import Family

_family = Family("herme", _theirs, lambda k: (1.0, 0.0, float(k)))

hermeadd = _family.add
hermecompanion = _family.companion
hermeder = _family.der
hermefit = _family.fit
hermefromroots = _family.fromroots
hermegrid2d = _family.grid2d
hermegrid3d = _family.grid3d
hermeint = _family.int
hermemul = _family.mul
hermemulx = _family.mulx
hermepow = _family.pow
hermeroots = _family.roots
hermesub = _family.sub
hermeval = _family.val
hermeval2d = _family.val2d
hermeval3d = _family.val3d
hermevander = _family.vander
herme2poly = _family.to_poly
poly2herme = _family.from_poly

__all__ = [
    "herme2poly",
    "hermeadd",
    "hermecompanion",
    "hermeder",
    "hermefit",
    "hermefromroots",
    "hermegrid2d",
    "hermegrid3d",
    "hermeint",
    "hermemul",
    "hermemulx",
    "hermepow",
    "hermeroots",
    "hermesub",
    "hermeval",
    "hermeval2d",
    "hermeval3d",
    "hermevander",
    "poly2herme",
]
