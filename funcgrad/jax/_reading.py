"""Names under which code for JAX reads programs: ``eqn.primitive.bind(*values, **eqn.params)``.

The primitives in them are those of funcgrad. Where an operation of JAX's is recorded as others
(`rsqrt` as a quotient), no primitive of that name is met.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from .. import lax
from ..core import Aval, Primitive
from ..jaxpr import Eqn, Jaxpr, Literal
from .extend.core.primitives import ELEMENTWISE


def _other(name: str) -> property:
    return property(attrgetter(name))


def _bind(prim: Primitive, *args: Any, **params: Any) -> Any:
    return prim(*args, **params)


def _get_bind_params(prim: Primitive, params: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """No functions beside the arguments, and the parameters."""
    return [], dict(params)


_NAMES: dict[type, dict[str, Any]] = {
    Aval: {"at_least_vspace": Aval.to_tangent_aval},
    Eqn: {"primitive": _other("prim"), "invars": _other("inputs"), "outvars": _other("outs")},
    Jaxpr: {
        "invars": _other("in_vars"),
        "outvars": _other("outs"),
        "constvars": _other("const_vars"),
        "literals": _other("consts"),
    },
    Literal: {"val": _other("value")},
    Primitive: {
        "bind": _bind,
        "get_bind_params": _get_bind_params,
        "multiple_results": _other("multiple"),
        "call_primitive": False,
        "map_primitive": False,
    },
}


def set_names() -> None:
    """Give programs and what they consist of JAX's names, and `funcgrad.lax` its primitives."""
    for kind, names in _NAMES.items():
        for name, value in names.items():
            setattr(kind, name, value)
    vars(lax).update(ELEMENTWISE)


def take_names() -> None:
    """Undo `set_names`."""
    for kind, names in _NAMES.items():
        for name in names:
            delattr(kind, name)
    for name in ELEMENTWISE:
        delattr(lax, name)
