"""``scipy.spatial``: what of it has a derivative."""

from . import distance

__all__ = ["distance"]
