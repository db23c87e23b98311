"""``scipy.optimize``: roots, minima and fits, with derivatives by the implicit function theorem."""

from .differences import approx_fprime, check_grad
from .fits import curve_fit, least_squares, leastsq
from .linear import lsq_linear, nnls
from .minima import minimize, minimize_scalar
from .roots import bisect, brenth, brentq, newton, ridder, root_scalar, toms748
from .systems import fixed_point, fsolve, root

__all__ = [
    "approx_fprime",
    "bisect",
    "brenth",
    "brentq",
    "check_grad",
    "curve_fit",
    "fixed_point",
    "fsolve",
    "least_squares",
    "leastsq",
    "lsq_linear",
    "minimize",
    "minimize_scalar",
    "newton",
    "nnls",
    "ridder",
    "root",
    "root_scalar",
    "toms748",
]
