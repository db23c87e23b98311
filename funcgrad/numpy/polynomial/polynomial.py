"""Series of powers of x: ``numpy.polynomial.polynomial``."""

from numpy.polynomial import polynomial as _theirs

from ._families import Family

_family = Family("poly", _theirs, lambda k: (1.0, 0.0, 0.0))

polyadd = _family.add
polycompanion = _family.companion
polyder = _family.der
polyfit = _family.fit
polyfromroots = _family.fromroots
polygrid2d = _family.grid2d
polygrid3d = _family.grid3d
polyint = _family.int
polymul = _family.mul
polymulx = _family.mulx
polypow = _family.pow
polyroots = _family.roots
polysub = _family.sub
polyval = _family.val
polyval2d = _family.val2d
polyval3d = _family.val3d
polyvander = _family.vander

__all__ = [
    "polyadd",
    "polycompanion",
    "polyder",
    "polyfit",
    "polyfromroots",
    "polygrid2d",
    "polygrid3d",
    "polyint",
    "polymul",
    "polymulx",
    "polypow",
    "polyroots",
    "polysub",
    "polyval",
    "polyval2d",
    "polyval3d",
    "polyvander",
]
