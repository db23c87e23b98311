"""``numpy.polynomial``: series of polynomials under NumPy's names, differentiable.

The classes (``Polynomial``, ``Chebyshev``, ...) keep plain coefficients; these are the functions.
"""

from . import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

__all__ = ["chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial"]
