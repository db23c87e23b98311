"""``scipy.interpolate``: splines and tables, differentiable by places, points and values."""

from .bsplines import BSpline, make_interp_spline
from .piecewise import CubicHermiteSpline, PPoly
from .splines import Akima1DInterpolator, CubicSpline, PchipInterpolator
from .tables import RegularGridInterpolator, interp1d, interpn

__all__ = [
    "Akima1DInterpolator",
    "BSpline",
    "CubicHermiteSpline",
    "CubicSpline",
    "PPoly",
    "PchipInterpolator",
    "RegularGridInterpolator",
    "interp1d",
    "interpn",
    "make_interp_spline",
]
