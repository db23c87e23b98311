"""``scipy.spatial``: what of it has a derivative."""

from . import distance, transform
from .tables import distance_matrix, minkowski_distance, minkowski_distance_p

__all__ = [
    "distance",
    "distance_matrix",
    "minkowski_distance",
    "minkowski_distance_p",
    "transform",
]
