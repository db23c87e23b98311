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
from .piecewise import CubicHermiteSpline, PPoly
from .scattered import LinearNDInterpolator, NearestNDInterpolator, RBFInterpolator, griddata
from .splines import Akima1DInterpolator, CubicSpline, PchipInterpolator
from .surfaces import RectBivariateSpline
from .tables import RegularGridInterpolator, interp1d, interpn

__all__ = [
    "Akima1DInterpolator",
    "BSpline",
    "CubicHermiteSpline",
    "CubicSpline",
    "InterpolatedUnivariateSpline",
    "LSQUnivariateSpline",
    "LinearNDInterpolator",
    "NearestNDInterpolator",
    "PPoly",
    "PchipInterpolator",
    "RBFInterpolator",
    "RectBivariateSpline",
    "RegularGridInterpolator",
    "UnivariateSpline",
    "griddata",
    "interp1d",
    "interpn",
    "make_interp_spline",
    "make_lsq_spline",
    "make_smoothing_spline",
    "spalde",
    "splantider",
    "splder",
    "splev",
    "splint",
    "splprep",
    "splrep",
]
