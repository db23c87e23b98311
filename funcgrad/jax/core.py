"""Types, traced values and programs under the names of ``jax.core``."""

from ..core import EVAL, Trace, Tracer, current
from ..core import aval_of as get_aval
from ..jaxpr import Atom, Jaxpr, eval_jaxpr
from ..transforms.trace import ShapeDtypeStruct as ShapedArray
from .settings import ensure_compile_time_eval

__all__ = [
    "AbstractValue",
    "Atom",
    "Jaxpr",
    "ShapedArray",
    "Trace",
    "Tracer",
    "ensure_compile_time_eval",
    "eval_jaxpr",
    "get_aval",
    "trace_state_clean",
]

AbstractValue = ShapedArray  # the only kind of type


def trace_state_clean() -> bool:
    """Whether no transform is running."""
    return current.get() is EVAL
