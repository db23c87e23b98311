"""Programs and what they consist of: ``jax.extend.core``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core import Aval, Trace, current
from ....jaxpr import Eqn as JaxprEqn
from ....jaxpr import Jaxpr, Literal, Var
from ....jaxpr import Jaxpr as ClosedJaxpr
from ..._absent import absent
from ...core import valid_jaxtype
from . import primitives
from .primitive import Primitive

__all__ = [
    "ClosedJaxpr",
    "DropVar",
    "Effect",
    "Jaxpr",
    "JaxprEqn",
    "Literal",
    "Primitive",
    "TraceTag",
    "Var",
    "find_top_trace",
    "get_opaque_trace_state",
    "mapped_aval",
    "primitives",
    "set_current_trace",
    "take_current_trace",
    "unmapped_aval",
    "valid_jaxtype",
]

_OWN = "interpreters of one's own are no part of programs; make_jaxpr gives what they would see"

TraceTag = absent("TraceTag", _OWN)
set_current_trace = absent("set_current_trace", _OWN)
take_current_trace = absent("take_current_trace", _OWN)


class DropVar(Var):
    """A result that nothing reads; here it has a name like all others, so that there are none."""


class Effect:
    """What a primitive does beside computing; in programs here it is done in its place."""


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


def find_top_trace(xs: Any) -> Trace:
    """The innermost transform that is running.

    >>> import funcgrad
    >>> funcgrad.jvp(lambda x: (x, find_top_trace([x]) is x.owner), (1.0,), (1.0,), has_aux=True)[2]
    True
    """
    return current.get()


def mapped_aval(size: int, axis: int | None, aval: Aval) -> Aval:
    """The type of one of `size` examples that lie along an axis.

    >>> mapped_aval(3, 0, Aval((3, 2), float))
    f64[2]
    """
    shape = aval.shape if axis is None else (*aval.shape[:axis], *aval.shape[axis + 1 :])
    return Aval(shape, np.dtype(aval.dtype))


def unmapped_aval(size: int, axis: int | None, aval: Aval) -> Aval:
    """The type of `size` examples that lie along an axis.

    >>> unmapped_aval(3, 0, Aval((2,), float))
    f64[3,2]
    """
    shape = aval.shape if axis is None else (*aval.shape[:axis], size, *aval.shape[axis:])
    return Aval(shape, np.dtype(aval.dtype))
