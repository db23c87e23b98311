"""Elementwise primitives under JAX's names, and those of JAX's that are never met here."""

from typing import Any

from .... import lax
from ....core import REGISTRY, Primitive
from ..._absent import absent

_INSTEAD = "the primitives of funcgrad are in its own programs"

call_p = absent("call_p", _INSTEAD)
closed_call_p = absent("closed_call_p", _INSTEAD)
jit_p = absent("jit_p", _INSTEAD)

_OTHERS = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "not": "invert"}
_COMPOSED = ("integer_pow", "logistic", "rsqrt")
ELEMENTWISE: dict[str, Any] = {
    f"{name}_p": value
    for name, value in vars(lax).items()
    if isinstance(value, Primitive) and not name.startswith("bitwise") and name != "stop_gradient_p"
}
ELEMENTWISE |= {
    f"{name}_p": REGISTRY[own]
    for name, own in {"conj": "conjugate", "div": "divide", **_OTHERS}.items()
}
ELEMENTWISE |= {
    f"{name}_p": absent(f"{name}_p", f"{name} is several operations of its program")
    for name in _COMPOSED
}
globals().update(ELEMENTWISE)
