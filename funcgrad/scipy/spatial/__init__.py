"""``scipy.spatial``: what of it has a derivative."""

from . import distance, transform
from .procrustes import geometric_slerp, procrustes
from .tables import distance_matrix, minkowski_distance, minkowski_distance_p

__all__ = [
    "distance",
    "distance_matrix",
    "geometric_slerp",
    "minkowski_distance",
    "minkowski_distance_p",
    "procrustes",
    "transform",
]
