"""``jax.experimental.hijax``: types and primitives above arrays, as far as they are imported.

flax.nnx defines its own when it is imported, and uses them where it is told to alone
(``nnx.var_defaults(hijax=True)``); applying one raises.
"""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentError, where
from .._absent import absent
from ..core import AbstractValue
from ..interpreters.ad import Zero, instantiate_zeros, is_undefined_primal

__all__ = [
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "HiPrimitive",
    "HiType",
    "MutableHiType",
    "Zero",
    "aval_method",
    "aval_property",
    "control_flow_allowed_effects",
    "instantiate_zeros",
    "is_undefined_primal",
    "register_hitype",
]

_INSTEAD = "values of programs are arrays; trees of them are taken apart"

AvalQDD = absent("AvalQDD", _INSTEAD)
AvalMutableQDD = absent("AvalMutableQDD", _INSTEAD)


class HiType:
    """A type of values that are no arrays; no value here has one."""


class MutableHiType(HiType):
    """The same, of values that change."""


class HiPrimitive:
    """An operation on values that are no arrays: it has a name, and cannot be applied.

    >>> HiPrimitive("box").bind(1.0)
    Traceback (most recent call last):
        ...
    funcgrad.errors.ArgumentError: box is an operation on values that are no arrays: ...
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def bind(self, *args: Any, **params: Any) -> Any:
        """Raise, as nothing can be said of such values."""
        raise ArgumentError(
            f"{self.name} is an operation on values that are no arrays: {_INSTEAD}{where()}"
        )


class aval_method:
    """A method that traced values would have through their type."""

    def __init__(self, fun: Any) -> None:
        self.fun = fun


class aval_property:
    """An attribute that traced values would have through their type."""

    def __init__(self, fget: Any) -> None:
        self.fget = fget


class _Effects:
    """Which effects loops may have: those of code are Python's own."""

    def add_type(self, effect: type) -> None:
        """Nothing."""


control_flow_allowed_effects = _Effects()


def register_hitype(cls: type, typeof: Any) -> None:
    """Nothing: arrays of the class would not be values of a program."""
