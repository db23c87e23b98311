"""``scipy.optimize``: roots, minima and fits, with derivatives by the implicit function theorem."""

from .assigned import isotonic_regression, linear_sum_assignment
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
    "isotonic_regression",
    "least_squares",
    "leastsq",
    "linear_sum_assignment",
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
