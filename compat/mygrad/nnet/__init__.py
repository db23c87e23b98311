"""MyGrad's functions for networks: activations, losses, layers, and first values of weights."""

from . import activations, initializers, layers, losses
from .activations import *
from .initializers import *
from .layers import *
from .losses import *

__all__ = [
    "activations",
    "initializers",
    "layers",
    "losses",
    *activations.__all__,
    *initializers.__all__,
    *layers.__all__,
    *losses.__all__,
]
