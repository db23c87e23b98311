"""Series of Hermite's polynomials of the physicists: ``numpy.polynomial.hermite``."""

from numpy.polynomial import hermite as _theirs

from ._families import Family

_family = Family("herm", _theirs, lambda k: (2.0, 0.0, 2.0 * k))

hermadd = _family.add
hermcompanion = _family.companion
hermder = _family.der
hermfit = _family.fit
hermfromroots = _family.fromroots
hermgrid2d = _family.grid2d
hermgrid3d = _family.grid3d
hermint = _family.int
hermmul = _family.mul
hermmulx = _family.mulx
hermpow = _family.pow
hermroots = _family.roots
hermsub = _family.sub
hermval = _family.val
hermval2d = _family.val2d
hermval3d = _family.val3d
hermvander = _family.vander
herm2poly = _family.to_poly
poly2herm = _family.from_poly

__all__ = [
    "herm2poly",
    "hermadd",
    "hermcompanion",
    "hermder",
    "hermfit",
    "hermfromroots",
    "hermgrid2d",
    "hermgrid3d",
    "hermint",
    "hermmul",
    "hermmulx",
    "hermpow",
    "hermroots",
    "hermsub",
    "hermval",
    "hermval2d",
    "hermval3d",
    "hermvander",
    "poly2herm",
]
