"""``scipy.ndimage``: filters and interpolation of images of any number of axes, differentiable."""

from .coordinates import affine_transform, map_coordinates, shift
from .filters import (
    convolve,
    convolve1d,
    correlate,
    correlate1d,
    laplace,
    prewitt,
    sobel,
    uniform_filter,
    uniform_filter1d,
)
from .gaussian import (
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient_magnitude,
    gaussian_laplace,
)

__all__ = [
    "affine_transform",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "laplace",
    "map_coordinates",
    "prewitt",
    "shift",
    "sobel",
    "uniform_filter",
    "uniform_filter1d",
]
