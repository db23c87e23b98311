"""Element by element: arithmetic, powers, exponentials, trigonometry, rounding, special functions."""

from __future__ import annotations

from typing import Any

from funcgrad.ops import arithmetic, exponential, trigonometric

from ..autograd import printed
from ._apply import inplace, pointwise

# ---------------------------------------------------------------- arithmetic


@printed.binary(arithmetic.add, "AddBackward0", "AddBackward0", alpha=1, out=None)
def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """``input + alpha * other``.

    >>> import compat as torch
    >>> torch.add(torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), alpha=2)
    tensor([21., 42.])
    """
    if alpha != 1:
        other = mul(other, alpha)
    return pointwise("add", arithmetic.add, (input, other), out=out, node="AddBackward0")


@printed.binary(arithmetic.subtract, "SubBackward0", "SubBackward0", alpha=1, out=None)
def sub(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """``input - alpha * other``.

    >>> import compat as torch
    >>> torch.sub(torch.tensor([1.0, 2.0]), 3)
    tensor([-2., -1.])
    """
    if alpha != 1:
        other = mul(other, alpha)
    return pointwise("sub", arithmetic.subtract, (input, other), out=out, node="SubBackward0")


@printed.binary(arithmetic.multiply, "MulBackward0", "MulBackward0", out=None)
def mul(input: Any, other: Any, *, out: Any = None) -> Any:
    """``input * other``.

    >>> import compat as torch
    >>> torch.mul(torch.tensor([1.0, 2.0]), 3)
    tensor([3., 6.])
    """
    return pointwise("mul", arithmetic.multiply, (input, other), out=out, node="MulBackward0")


@printed.unary(exponential.exp, "ExpBackward0", out=None)
def exp(input: Any, *, out: Any = None) -> Any:
    """``e ** input``.

    >>> import compat as torch
    >>> torch.exp(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """
    return pointwise("exp", exponential.exp, (input,), out=out, node="ExpBackward0", floating=True)


@printed.unary(trigonometric.sin, "SinBackward0", out=None)
def sin(input: Any, *, out: Any = None) -> Any:
    """``sin(input)``, of radians.

    >>> import compat as torch
    >>> torch.sin(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])
    """
    return pointwise(
        "sin", trigonometric.sin, (input,), out=out, node="SinBackward0", floating=True
    )


@printed.unary(trigonometric.tanh, "TanhBackward0", out=None)
def tanh(input: Any, *, out: Any = None) -> Any:
    """``tanh(input)``.

    >>> import compat as torch
    >>> torch.tanh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    return pointwise(
        "tanh", trigonometric.tanh, (input,), out=out, node="TanhBackward0", floating=True
    )


# ---------------------------------------------------------------- operators


@printed.binary(arithmetic.add, "AddBackward0", "AddBackward0")
def plus(input: Any, other: Any) -> Any:
    """The operator ``+``."""
    return _operator("add", arithmetic.add, input, other, "AddBackward0")


@printed.binary(arithmetic.subtract, "SubBackward0", "SubBackward0")
def minus(input: Any, other: Any) -> Any:
    """The operator ``-``."""
    return _operator("sub", arithmetic.subtract, input, other, "SubBackward0")


@printed.reflected(arithmetic.subtract, "RsubBackward1")
def reflected_minus(input: Any, other: Any) -> Any:
    """``other - input``."""
    return _operator("rsub", arithmetic.subtract, other, input, "RsubBackward1")


@printed.binary(arithmetic.multiply, "MulBackward0", "MulBackward0")
def times(input: Any, other: Any) -> Any:
    """The operator ``*``."""
    return _operator("mul", arithmetic.multiply, input, other, "MulBackward0")


def _operator(name: str, prim: Any, x: Any, y: Any, node: str, **options: Any) -> Any:
    """A Python operator: `NotImplemented` if an operand is nothing that can be an operand."""
    try:
        return pointwise(name, prim, (x, y), node=node, **options)
    except TypeError as error:
        if "must be Tensor" in str(error):
            return NotImplemented
        raise


class PointwiseMethods:
    """The methods of `Tensor` in this family; each is the function of the same name."""

    __slots__ = ()

    add = add
    add_ = inplace(add)
    sub = sub
    sub_ = inplace(sub)
    mul = mul
    mul_ = inplace(mul)
    exp = exp
    exp_ = inplace(exp)
    sin = sin
    sin_ = inplace(sin)
    tanh = tanh
    tanh_ = inplace(tanh)

    __add__ = plus
    __radd__ = plus
    __iadd__ = inplace(plus, "add_")
    __sub__ = minus
    __rsub__ = reflected_minus
    __isub__ = inplace(minus, "sub_")
    __mul__ = times
    __rmul__ = times
    __imul__ = inplace(times, "mul_")


__all__ = ["add", "exp", "mul", "sin", "sub", "tanh"]
