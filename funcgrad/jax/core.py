"""Types, traced values and programs under the names of ``jax.core``."""

from ..core import Tracer
from ..core import aval_of as get_aval
from ..jaxpr import Jaxpr, eval_jaxpr
from ..transforms.trace import ShapeDtypeStruct as ShapedArray
from .settings import ensure_compile_time_eval

__all__ = [
    "Jaxpr",
    "ShapedArray",
    "Tracer",
    "ensure_compile_time_eval",
    "eval_jaxpr",
    "get_aval",
]
