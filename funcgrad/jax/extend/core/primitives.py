"""JAX's operations that hold a program; here they are others, so that none of these is ever met."""

from ..._absent import absent

_INSTEAD = "the primitives of funcgrad are in its own programs"

call_p = absent("call_p", _INSTEAD)
closed_call_p = absent("closed_call_p", _INSTEAD)
jit_p = absent("jit_p", _INSTEAD)
