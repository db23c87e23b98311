"""Programs on their way to be compiled: ``jax.stages``; they compile themselves."""

from functools import partial as Compiled

from ..compile.jit import Stages as Lowered
from ..compile.jit import _Jitted as Wrapped

__all__ = ["Compiled", "Lowered", "Wrapped"]
