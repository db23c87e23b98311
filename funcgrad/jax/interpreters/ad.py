"""Derivatives of primitives of one's own, by the primitive: ``jax.interpreters.ad``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ... import numpy as fnp
from ...transforms.jvp import JVPTracer

__all__ = [
    "JVPTracer",
    "UndefinedPrimal",
    "Zero",
    "instantiate_zeros",
    "is_undefined_primal",
    "primitive_jvps",
    "primitive_transposes",
]

primitive_jvps: dict[Any, Callable[..., Any]] = {}
primitive_transposes: dict[Any, Callable[..., Any]] = {}


@dataclass(frozen=True)
class Zero:
    """A tangent or cotangent of a type that is 0, as rules are given it and may return it."""

    aval: Any = field(metadata={"static": True})


@dataclass(frozen=True)
class UndefinedPrimal:
    """In a transpose rule an operand in which the primitive is linear, by its type."""

    aval: Any = field(metadata={"static": True})


def is_undefined_primal(x: Any) -> bool:
    """Whether `x` is one."""
    return isinstance(x, UndefinedPrimal)


def instantiate_zeros(x: Any) -> Any:
    """`x`, or an array of zeros for a `Zero`.

    >>> import numpy as np
    >>> from funcgrad.core import Aval
    >>> instantiate_zeros(Zero(Aval((2,), np.dtype(float)))).tolist(), instantiate_zeros(3.0)
    ([0.0, 0.0], 3.0)
    """
    return fnp.zeros(x.aval.shape, x.aval.dtype) if isinstance(x, Zero) else x
