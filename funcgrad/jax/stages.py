"""Programs on their way to be compiled: ``jax.stages``; they compile themselves."""

from functools import partial as Compiled
from typing import Any

from ..compile.jit import Stages as Lowered
from ..compile.jit import _Jitted as Wrapped

__all__ = ["Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]

CompilerOptions = dict[str, Any]
Traced = Lowered  # tracing and simplifying are one step
