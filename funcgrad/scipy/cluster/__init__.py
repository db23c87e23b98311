"""``scipy.cluster``: what of it has a derivative."""

from . import vq

__all__ = ["vq"]
