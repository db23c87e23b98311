"""Activations: `funcgrad.nn`'s, with MyGrad's arguments."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

import compat as torch
from funcgrad import nn

from .._function import Function
from .._graph import apply, array_of, traced
from .._math import NAMES

__all__ = [
    "elu",
    "glu",
    "hard_tanh",
    "leaky_relu",
    "logsoftmax",
    "relu",
    "selu",
    "sigmoid",
    "soft_sign",
    "softmax",
    "tanh",
]


def number(name: str, value: Any) -> Any:
    """A parameter that is one real number, or a tensor of one.

    Raises: TypeError: it is not.
    """
    found = value if isinstance(value, Real) else array_of(value)
    found = found.item() if isinstance(found, np.ndarray) and found.size == 1 else found
    if not isinstance(found, Real):
        raise TypeError(f"{name}={value!r}: need one real number, found {type(value).__name__}")
    return found


class _Activation(Function):
    """An activation with numbers as parameters, and what these are if they are not given."""

    def __init__(self, name: str, f: Any, given: dict[str, Any], does: str) -> None:
        super().__init__(name, f, " ".join(given), operands="x", does=does)
        self.given = given

    def __call__(self, *args: Any, constant: bool | None = None, **options: Any) -> Any:
        operands, options = self._arguments(args, options)
        values = []
        for name, usual in self.given.items():
            if name not in options and usual is None:
                raise TypeError(f"{self.__name__}() missing 1 required argument: {name!r}")
            values.append(number(name, options.get(name, usual)))
        return apply(self, operands, values, constant=constant)


class _AlongAxis(Function):
    """A function along an axis, or several; the last if that is not said."""

    def __call__(self, x: Any, axis: Any = -1, *, constant: bool | None = None) -> Any:
        axis = axis if axis is None or isinstance(axis, tuple) else int(number("axis", axis))
        return apply(self, (x,), (axis,), constant=constant)


def _floating(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function along all axes for None, of floating numbers for integers, 1 for a number."""

    def along(x: Any, axis: Any) -> Any:
        x = x if x.dtype.kind == "f" else x.astype(float)
        if x.ndim == 0:
            return f(x.reshape(1), 0).reshape(())
        return f(x, tuple(range(x.ndim)) if axis is None else axis)

    return along


def _quick(f: Callable[..., Any], general: Callable[..., Any]) -> Callable[..., Any]:
    """The function on tensors of `compat`, where there is one axis."""
    return lambda t, axis: (
        f(t, axis) if axis.__class__ is int and t.ndim else traced(general, [t], (axis,), {})
    )


def _halved(x: Any, axis: Any) -> Any:
    n = x.shape[axis]
    if n % 2:
        raise ValueError(f"glu: the axis of length {n} has no two halves; need an even length")
    return nn.glu(x, axis)


relu = Function(
    "relu",
    lambda x: np.maximum(x, 0),
    operands="x",
    traced=nn.relu,
    fast=torch.relu,
    does="``max(x, 0)``, with a slope of 0 at 0.",
)
sigmoid = Function(
    "sigmoid",
    lambda x: nn.sigmoid(x if x.dtype.kind == "f" else x.astype(float)),
    operands="x",
    traced=nn.sigmoid,
    fast=torch.sigmoid,
    does="``1 / (1 + exp(-x))``.",
)
tanh = NAMES["tanh"]
selu = Function(
    "selu", nn.selu, operands="x", does="ELU with the scale that keeps mean and variance."
)
soft_sign = Function("soft_sign", nn.soft_sign, operands="x", does="``x / (1 + |x|)``.")
elu = _Activation("elu", nn.elu, {"alpha": None}, "``x`` above 0, ``alpha (exp(x) - 1)`` below.")
leaky_relu = _Activation(
    "leaky_relu", nn.leaky_relu, {"slope": None}, "``x`` above 0, ``slope x`` below."
)
hard_tanh = _Activation(
    "hard_tanh",
    lambda x, low, high: np.clip(x, low, high),
    {"lower_bound": -1, "upper_bound": 1},
    "``x``, cut off at the two bounds.",
)
glu = _AlongAxis("glu", _halved, "axis", does="The first half times the sigmoid of the second.")
_softmax, _log_softmax = _floating(nn.softmax), _floating(nn.log_softmax)
softmax = _AlongAxis(
    "softmax",
    _softmax,
    fast=_quick(torch.softmax, _softmax),
    does="``exp(x) / sum(exp(x))`` along axes.",
)
logsoftmax = _AlongAxis(
    "logsoftmax",
    _log_softmax,
    fast=_quick(torch.log_softmax, _log_softmax),
    does="``x - log(sum(exp(x)))`` along axes.",
)
