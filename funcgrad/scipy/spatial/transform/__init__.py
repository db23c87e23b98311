"""``scipy.spatial.transform``: rotations, differentiable."""

from .rotation import Rotation
from .slerp import Slerp

__all__ = ["Rotation", "Slerp"]
