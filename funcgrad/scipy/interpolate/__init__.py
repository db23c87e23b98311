"""``scipy.interpolate``: splines and tables, differentiable by places, points and values."""

from .piecewise import CubicHermiteSpline, PPoly
from .splines import Akima1DInterpolator, CubicSpline, PchipInterpolator
from .tables import RegularGridInterpolator, interp1d, interpn

__all__ = [
    "Akima1DInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "PPoly",
    "PchipInterpolator",
    "RegularGridInterpolator",
    "interp1d",
    "interpn",
]
