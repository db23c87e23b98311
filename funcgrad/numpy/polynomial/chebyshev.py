"""Series of Chebyshev's polynomials of the first kind: ``numpy.polynomial.chebyshev``."""

from numpy.polynomial import chebyshev as _theirs

from ._families import Family

_family = Family("cheb", _theirs, lambda k: (1.0 if k == 0 else 2.0, 0.0, 1.0))

chebadd = _family.add
chebcompanion = _family.companion
chebder = _family.der
chebfit = _family.fit
chebfromroots = _family.fromroots
chebgrid2d = _family.grid2d
chebgrid3d = _family.grid3d
chebint = _family.int
chebmul = _family.mul
chebmulx = _family.mulx
chebpow = _family.pow
chebroots = _family.roots
chebsub = _family.sub
chebval = _family.val
chebval2d = _family.val2d
chebval3d = _family.val3d
chebvander = _family.vander
cheb2poly = _family.to_poly
poly2cheb = _family.from_poly

__all__ = [
    "cheb2poly",
    "chebadd",
    "chebcompanion",
    "chebder",
    "chebfit",
    "chebfromroots",
    "chebgrid2d",
    "chebgrid3d",
    "chebint",
    "chebmul",
    "chebmulx",
    "chebpow",
    "chebroots",
    "chebsub",
    "chebval",
    "chebval2d",
    "chebval3d",
    "chebvander",
    "poly2cheb",
]
