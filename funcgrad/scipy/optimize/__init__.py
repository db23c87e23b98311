"""``scipy.optimize``: roots, minima and fits, with derivatives by the implicit function theorem."""

from typing import Any

from .assigned import isotonic_regression, linear_sum_assignment
from .classic import (
    brent,
    fmin,
    fmin_bfgs,
    fmin_cg,
    fmin_l_bfgs_b,
    fmin_powell,
    fminbound,
    golden,
)
from .classic_walls import fmin_cobyla, fmin_ncg, fmin_slsqp, fmin_tnc
from .differences import approx_fprime, check_grad
from .fits import curve_fit, least_squares, leastsq
from .implicit import scipy as _scipy
from .linear import lsq_linear, nnls
from .minima import minimize, minimize_scalar
from .roots import bisect, brenth, brentq, newton, ridder, root_scalar, toms748
from .rosenbrock import rosen, rosen_der, rosen_hess, rosen_hess_prod
from .systems import fixed_point, fsolve, root
from .vertices import linprog
from .widely import basinhopping, differential_evolution, dual_annealing, shgo

__all__ = [
    "approx_fprime",
    "basinhopping",
    "bisect",
    "brent",
    "brenth",
    "brentq",
    "check_grad",
    "curve_fit",
    "differential_evolution",
    "dual_annealing",
    "fixed_point",
    "fmin",
    "fmin_bfgs",
    "fmin_cg",
    "fmin_cobyla",
    "fmin_l_bfgs_b",
    "fmin_ncg",
    "fmin_powell",
    "fmin_slsqp",
    "fmin_tnc",
    "fminbound",
    "fsolve",
    "golden",
    "isotonic_regression",
    "least_squares",
    "leastsq",
    "linear_sum_assignment",
    "linprog",
    "lsq_linear",
    "minimize",
    "minimize_scalar",
    "newton",
    "nnls",
    "ridder",
    "root",
    "root_scalar",
    "rosen",
    "rosen_der",
    "rosen_hess",
    "rosen_hess_prod",
    "shgo",
    "toms748",
]


_OF_SCIPY = frozenset({"Bounds", "LinearConstraint", "NonlinearConstraint"})  # taken as they are


def __getattr__(name: str) -> Any:
    if name in _OF_SCIPY:
        return getattr(_scipy(name), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
