"""Programs and what they consist of: ``jax.extend.core``."""

from __future__ import annotations

from typing import Any

from ....core import current
from ....jaxpr import Eqn as JaxprEqn
from ....jaxpr import Jaxpr, Literal, Var
from ..._absent import absent
from . import primitives

__all__ = [
    "DropVar",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "TraceTag",
    "Var",
    "get_opaque_trace_state",
    "primitives",
    "set_current_trace",
    "take_current_trace",
]

_OWN = "interpreters of one's own are no part of programs; make_jaxpr gives what they would see"

TraceTag = absent("TraceTag", _OWN)
set_current_trace = absent("set_current_trace", _OWN)
take_current_trace = absent("take_current_trace", _OWN)


class DropVar(Var):
    """A result that nothing reads; here it has a name like all others, so that there are none."""


def get_opaque_trace_state(convention: Any = None) -> Any:
    """What is equal to itself until another transform begins or ends.

    >>> import funcgrad
    >>> outside = get_opaque_trace_state()
    >>> outside == get_opaque_trace_state()
    True
    >>> funcgrad.jvp(
    ...     lambda x: (x, outside == get_opaque_trace_state()), (1.0,), (1.0,), has_aux=True
    ... )[2]
    False
    """
    return current.get()
