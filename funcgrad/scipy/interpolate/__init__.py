"""``scipy.interpolate``: splines and tables, differentiable by places, points and values."""

from .bsplines import BSpline, make_interp_spline
from .fitpack import (
    InterpolatedUnivariateSpline,
    LSQUnivariateSpline,
    UnivariateSpline,
    spalde,
    splantider,
    splder,
    splev,
    splint,
    splprep,
    splrep,
)
from .fitting import make_lsq_spline, make_smoothing_spline
from .grids import NdBSpline
from .piecewise import CubicHermiteSpline, PPoly
from .polynomials import (
    BarycentricInterpolator,
    KroghInterpolator,
    barycentric_interpolate,
    krogh_interpolate,
    lagrange,
    pade,
    pchip_interpolate,
)
from .scattered import LinearNDInterpolator, NearestNDInterpolator, RBFInterpolator, griddata
from .splines import Akima1DInterpolator, CubicSpline, PchipInterpolator
from .surfaces import RectBivariateSpline
from .tables import RegularGridInterpolator, interp1d, interpn

__all__ = [
    "Akima1DInterpolator",
    "BSpline",
    "BarycentricInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "InterpolatedUnivariateSpline",
    "KroghInterpolator",
    "LSQUnivariateSpline",
    "LinearNDInterpolator",
    "NdBSpline",
    "NearestNDInterpolator",
    "PPoly",
    "PchipInterpolator",
    "RBFInterpolator",
    "RectBivariateSpline",
    "RegularGridInterpolator",
    "UnivariateSpline",
    "barycentric_interpolate",
    "griddata",
    "interp1d",
    "interpn",
    "krogh_interpolate",
    "lagrange",
    "make_interp_spline",
    "make_lsq_spline",
    "make_smoothing_spline",
    "pade",
    "pchip_interpolate",
    "spalde",
    "splantider",
    "splder",
    "splev",
    "splint",
    "splprep",
    "splrep",
]
