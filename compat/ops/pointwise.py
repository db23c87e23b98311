"""Element by element: arithmetic, and the operators of `Tensor` that do it.

Powers and roots are in `power.py`, comparisons, truth values and bits in `compare.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.ops import arithmetic, rounding
from funcgrad.ops.logic import less, logical_and, not_equal

from .. import dtypes
from ..autograd import deferring, printed
from ..autograd.base import TensorBase, tensor
from ..autograd.tape import record, through
from ._apply import check_broadcast, finish, inplace, pointwise
from ._compose import not_implemented
from ._elementwise import (
    is_finer,
    is_half,
    is_operand,
    numbers_too,
    refuse_zero,
    require_real,
    scaled,
    stepped,
)
from ._operands import (
    convert,
    dtype_of,
    is_number,
    number_for,
    old_order,
    operand,
    plain_number,
    promoted,
    result_type,
)
from .integers import gcd, gcd_, lcm, lcm_

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- sums and differences


def _times_alpha(name: str, input: Any, other: Any, alpha: Any) -> Any:
    """``alpha * other``, in the dtype of ``input + other``.

    Raises: RuntimeError: `alpha` is of a higher category than the operands.
    """
    x = operand(name, 1, "input", input, number=True)
    y = operand(name, 2, "other", other, number=True)
    dtype = result_type(x, y)
    alpha = plain_number(name, "alpha", alpha)
    if isinstance(alpha, bool) and dtype.category:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    category = dtypes.scalar_category(alpha)
    if dtype.category < 2 <= category:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if dtype.category == 2 < category:
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )
    if is_number(y):
        return y * alpha if dtype.category else y and alpha
    return mul(convert(y, dtype), number_for(dtype, alpha))


def refuse_bools(x: Any, y: Any) -> None:
    """Raises: RuntimeError: an operand of a difference is boolean."""
    bools = [
        dtype_of(a) is dtypes.bool if isinstance(a, TensorBase) else isinstance(a, bool | np.bool)
        for a in (x, y)
    ]
    if all(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if any(bools):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )


@printed.binary(arithmetic.add, "AddBackward0", "AddBackward0", alpha=1, out=None)
def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    """``input + alpha * other``.

    Raises: RuntimeError: `alpha` is of a higher category than the operands.

    >>> import compat as torch
    >>> torch.add(torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), alpha=2)
    tensor([21., 42.])
    """
    if alpha != 1 or alpha.__class__ is not int:
        other = _times_alpha("add", input, other, alpha)
    return pointwise("add", arithmetic.add, (input, other), out=out, node="AddBackward0")


@printed.binary(arithmetic.subtract, "SubBackward0", "SubBackward0", alpha=1, out=None)
def sub(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    """``input - alpha * other``.

    Raises: RuntimeError: an operand is boolean, or `alpha` of a higher category than they are.

    >>> import compat as torch
    >>> torch.sub(torch.tensor([1.0, 2.0]), 3)
    tensor([-2., -1.])
    """
    refuse_bools(input, other)
    if alpha != 1 or alpha.__class__ is not int:
        other = _times_alpha("sub", input, other, alpha)
    return pointwise("sub", arithmetic.subtract, (input, other), out=out, node="SubBackward0")


def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``other - alpha * input``.

    Raises: RuntimeError: as `sub`.

    >>> import compat as torch
    >>> torch.rsub(torch.tensor([1.0, 2.0]), 3)
    tensor([2., 1.])
    """
    input = operand("rsub", 1, "input", input)
    refuse_bools(input, other)
    if alpha != 1 or alpha.__class__ is not int:
        input = _times_alpha("rsub", other, input, alpha)
    node = "RsubBackward0" if isinstance(other, TensorBase) else "RsubBackward1"
    return pointwise("rsub", arithmetic.subtract, (other, input), node=node)


@printed.unary(arithmetic.negative, "NegBackward0", out=None)
def neg(input: Any, *, out: Any = None) -> Tensor:
    """``-input``.

    Raises: RuntimeError: booleans.

    >>> import compat as torch
    >>> torch.neg(torch.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
    """
    x = operand("neg", 1, "input", input)
    if dtype_of(x) is dtypes.bool:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return finish("neg", record(arithmetic.negative, (x,), None, "NegBackward0"), out, (x,))


def positive(input: Any) -> Tensor:
    """`input` itself.

    Raises: RuntimeError: booleans.

    >>> import compat as torch
    >>> torch.positive(torch.tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    x = operand("positive", 1, "input", input)
    if dtype_of(x) is dtypes.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return x


# ---------------------------------------------------------------- products and quotients


@printed.binary(arithmetic.multiply, "MulBackward0", "MulBackward0", out=None)
def mul(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input * other``.

    >>> import compat as torch
    >>> torch.mul(torch.tensor([1.0, 2.0]), 3)
    tensor([3., 6.])
    """
    return _product("mul", arithmetic.multiply, input, other, out, "MulBackward0")


def _product(
    name: str, prim: Any, input: Any, other: Any, out: Any, node: str, *, floating: bool = False
) -> Any:
    fine = is_finer(other, input) or (is_number(input) and is_finer(input, other))
    if not fine and floating and other.__class__ in (int, float) and other:
        fine = is_finer(1 / other, input)  # by which cotangents are multiplied
    if fine:
        return finish(name, scaled(node, prim, input, other), out, (input, other))
    return pointwise(name, prim, (input, other), out=out, node=node, floating=floating)


@printed.binary(arithmetic.divide, "DivBackward0", "DivBackward0", rounding_mode=None, out=None)
def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Tensor:
    """``input / other``; rounded towards 0 if `rounding_mode` is "trunc", down if it is "floor".

    Integers give the default dtype, unless the quotient is rounded. A rounded quotient has
    derivative 0.
    Raises: RuntimeError: another `rounding_mode`, integers divided by 0.

    >>> import compat as torch
    >>> torch.div(torch.tensor([7, -7]), 2, rounding_mode="trunc")
    tensor([ 3, -3])
    """
    if rounding_mode is None:
        return _product("div", arithmetic.divide, input, other, out, "DivBackward0", floating=True)
    x = operand("div", 1, "input", input, number=True)
    y = operand("div", 2, "other", other, number=True)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    return finish("div", _rounded_quotient(x, y, rounding_mode, "DivBackward2"), out, (x, y))


def _rounded_quotient(x: Any, y: Any, mode: str, node: str) -> Any:
    require_real(f"div_{mode}_cpu", x, y, booleans=False)
    refuse_zero(x, y)
    check_broadcast(x, y)
    if not isinstance(x, TensorBase) and not isinstance(y, TensorBase):
        x = tensor(np.asarray(x, result_type(x, y).numpy))
    if is_finer(x, y) or is_finer(y, x):
        half = x if is_half(x) else y
        wide = [convert(a, dtypes.float32) if isinstance(a, TensorBase) else a for a in (x, y)]
        return convert(_rounded_quotient(wide[0], wide[1], mode, node), dtype_of(half))
    x, y = promoted((x, y))
    if mode == "floor":
        return stepped(node, record(arithmetic.floor_divide, (x, y)), *_differentiated(x, y))
    if dtype_of(x if isinstance(x, TensorBase) else y).category < 2:
        return through(_integer_quotient, x, y)
    quotient = record(arithmetic.divide, (x, y))
    return stepped(node, record(rounding.trunc, (quotient,)), *_differentiated(x, y))


def _differentiated(*xs: Any) -> tuple[Any, ...]:
    return tuple(x for x in xs if isinstance(x, TensorBase))


def _integer_quotient(x: Any, y: Any, /) -> Any:
    """The quotient of integers, rounded towards 0."""
    below = arithmetic.floor_divide(x, y)
    inexact = not_equal(arithmetic.multiply(below, y), x)
    opposite = not_equal(less(x, 0), less(y, 0))
    return below + logical_and(inexact, opposite)


def floor_divide(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``floor(input / other)``; the derivative is 0.

    Raises: RuntimeError: integers divided by 0. NotImplementedError: booleans, complex numbers.

    >>> import compat as torch
    >>> torch.floor_divide(torch.tensor([7.0, -7.0]), 2)
    tensor([ 3., -4.])
    """
    x = operand("floor_divide", 1, "input", input, number=True)
    y = operand("floor_divide", 2, "other", other, number=True)
    quotient = _rounded_quotient(x, y, "floor", "FloorDivideBackward0")
    return finish("floor_divide", quotient, out, (x, y))


@printed.binary(arithmetic.remainder, "RemainderBackward1", "RemainderBackward0", out=None)
def remainder(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input - floor(input / other) * other``, with the sign of `other`.

    Derivative: 1 and ``-floor(input / other)``, at the jumps too.
    Raises: RuntimeError: integers divided by 0. NotImplementedError: booleans, complex numbers.

    >>> import compat as torch
    >>> torch.remainder(torch.tensor([-3.0, 3.0]), 2)
    tensor([1., 1.])
    """
    return _remainder("remainder", arithmetic.remainder, input, other, out)


@printed.binary(arithmetic.fmod, "FmodBackward1", "FmodBackward0", out=None)
def fmod(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input - trunc(input / other) * other``, with the sign of `input`.

    Derivative: 1 and ``-trunc(input / other)``, at the jumps too.
    Raises: RuntimeError: integers divided by 0. NotImplementedError: booleans, complex numbers.

    >>> import compat as torch
    >>> torch.fmod(torch.tensor([-3.0, 3.0]), 2)
    tensor([-1.,  1.])
    """
    return _remainder("fmod", arithmetic.fmod, operand("fmod", 1, "input", input), other, out)


def _remainder(name: str, prim: Any, input: Any, other: Any, out: Any) -> Any:
    x, y = numbers_too(name, input, other)
    require_real(f"{name}_cpu", x, y, booleans=False)
    refuse_zero(x, y)
    node = f"{name.capitalize()}Backward{int(isinstance(y, TensorBase))}"
    return finish(name, record(prim, promoted((x, y)), None, node), out, (x, y))


@printed.unary(arithmetic.reciprocal, "ReciprocalBackward0", out=None)
def reciprocal(input: Any, *, out: Any = None) -> Tensor:
    """``1 / input``.

    >>> import compat as torch
    >>> torch.reciprocal(torch.tensor([2.0, -4.0]))
    tensor([ 0.5000, -0.2500])
    """
    prim = arithmetic.reciprocal
    return pointwise(
        "reciprocal", prim, (input,), out=out, node="ReciprocalBackward0", floating=True
    )


@printed.unary(arithmetic.absolute, "AbsBackward0", out=None)
def abs(input: Any, *, out: Any = None) -> Tensor:
    """``|input|``, the modulus of complex numbers; the derivative is 0 at 0.

    Raises: NotImplementedError: booleans.

    >>> import compat as torch
    >>> torch.abs(torch.tensor([-1.5, 2.0]))
    tensor([1.5000, 2.0000])
    """
    x = operand("abs", 1, "input", input)
    if dtype_of(x) is dtypes.bool:
        raise not_implemented("abs_cpu", x)
    name = "abs of complex numbers" if dtype_of(x).category == 3 else "abs"
    return finish(name, record(arithmetic.absolute, (x,), None, "AbsBackward0"), out, (x,))


# ---------------------------------------------------------------- in place

# The usual case while nothing is recorded, as in optimisers, is one call of NumPy.
add_ = printed.in_place(np.add, alpha=1)(inplace(add))
sub_ = printed.in_place(np.subtract, alpha=1)(inplace(sub))
mul_ = printed.in_place(np.multiply)(inplace(mul))
div_ = printed.in_place(np.divide, rounding_mode=None)(inplace(div))


def _real_abs(input: Any) -> Any:
    if dtype_of(input).category == 3:
        raise RuntimeError(
            "In-place abs is not supported for complex tensors; their absolute values are real."
        )
    return abs(input)


abs_ = inplace(_real_abs, "abs_")
neg_ = inplace(neg)
reciprocal_ = inplace(reciprocal)

absolute = abs
divide = div
multiply = mul
negative = neg
negative_ = neg_
subtract = sub
true_divide = div

# ---------------------------------------------------------------- operators


def operator(f: Any, name: str, *, swapped: bool = False) -> Callable[[Any, Any], Tensor]:
    """`f` as a Python operator: `NotImplemented` for what cannot be an operand."""

    @deferring.operator
    def apply(self: Any, other: Any, **options: Any) -> Any:
        if not is_operand(other):
            return deferring.answer(apply if swapped else f, self, other)
        if other.__class__ is np.ndarray and not other.shape and self._array.shape:
            other = other.reshape(1)  # an array counts in full, be it without axes
        return f(other, self, **options) if swapped else f(self, other, **options)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"An operator; see `compat.{f.__name__}`."
    apply.__module__ = f.__module__
    return apply


def in_place_operator(f: Any) -> Callable[[Any, Any], Tensor]:
    """`f`, which writes, as a Python operator: `NotImplemented` for what cannot be an operand."""

    @deferring.operator
    def apply(self: Any, other: Any) -> Any:
        return f(self, other) if is_operand(other) else deferring.answer(f, self, other)

    apply.__name__ = apply.__qualname__ = f.__name__
    apply.__doc__ = f"An operator; see `Tensor.{f.__name__}`."
    apply.__module__ = f.__module__
    return apply


def _fast(
    f: Any, name: str, prim: Any, node: str, number_node: str = ""
) -> Callable[[Any, Any], Tensor]:
    """The operator of the printed function `f`, printed itself."""
    return printed.binary(prim, node, number_node or node)(operator(f.__wrapped__, name))


def _over(input: Any, other: Any) -> Any:
    """``input / other``; of a number it is ``reciprocal(other) * input``, as in PyTorch."""
    return div(input, other) if isinstance(input, TensorBase) else mul(reciprocal(other), input)


def _minuend(input: Any, other: Any) -> Any:
    return rsub(other, input)


def _old_too(f: Any) -> Callable[..., Tensor]:
    """``x.add_(other)``, and ``x.add_(alpha, other)`` as old programs have it."""

    @functools.wraps(f)
    def method(self: Any, other: Any, *old: Any, alpha: Any = 1) -> Any:
        if old:
            alpha, other = old_order(f.__name__, other, *old)
        return f(self, other, alpha=alpha)

    return method


class PointwiseMethods:
    """The methods of `Tensor` in this family; each is the function of the same name."""

    __slots__ = ()

    abs = abs
    abs_ = abs_
    absolute = abs
    absolute_ = abs_
    add = add
    add_ = _old_too(add_)
    div = div
    div_ = div_
    divide = div
    divide_ = div_
    floor_divide = floor_divide
    floor_divide_ = inplace(floor_divide)
    fmod = fmod
    fmod_ = inplace(fmod)
    gcd = gcd
    gcd_ = gcd_
    lcm = lcm
    lcm_ = lcm_
    mul = mul
    mul_ = mul_
    multiply = mul
    multiply_ = mul_
    neg = neg
    neg_ = neg_
    negative = neg
    negative_ = neg_
    positive = positive
    reciprocal = reciprocal
    reciprocal_ = reciprocal_
    remainder = remainder
    remainder_ = inplace(remainder)
    sub = sub
    sub_ = sub_
    subtract = sub
    subtract_ = sub_
    true_divide = div
    true_divide_ = div_

    __abs__ = abs
    __neg__ = neg
    __pos__ = positive
    __add__ = _fast(add, "plus", arithmetic.add, "AddBackward0")
    __radd__ = printed.of_number(arithmetic.add, "AddBackward0")(operator(add.__wrapped__, "plus"))  # type: ignore
    __iadd__ = in_place_operator(add_)
    __sub__ = _fast(sub, "minus", arithmetic.subtract, "SubBackward0")
    __rsub__ = printed.reflected(arithmetic.subtract, "RsubBackward1")(
        operator(_minuend, "reflected_minus", swapped=True)
    )
    __isub__ = in_place_operator(sub_)
    __mul__ = _fast(mul, "times", arithmetic.multiply, "MulBackward0")
    __rmul__ = printed.of_number(arithmetic.multiply, "MulBackward0")(
        operator(mul.__wrapped__, "times")  # type: ignore
    )
    __imul__ = in_place_operator(mul_)
    __truediv__ = _fast(div, "over", arithmetic.divide, "DivBackward0")
    __rtruediv__ = operator(_over, "reflected_over", swapped=True)
    __itruediv__ = in_place_operator(div_)
    __floordiv__ = operator(floor_divide, "floor_over")
    __rfloordiv__ = operator(floor_divide, "reflected_floor_over", swapped=True)
    __ifloordiv__ = in_place_operator(floor_divide_)
    __mod__ = _fast(
        remainder, "modulo", arithmetic.remainder, "RemainderBackward1", "RemainderBackward0"
    )
    __rmod__ = operator(remainder, "reflected_modulo", swapped=True)
    __imod__ = in_place_operator(remainder_)


__all__ = [
    "abs",
    "abs_",
    "absolute",
    "add",
    "div",
    "divide",
    "floor_divide",
    "fmod",
    "mul",
    "multiply",
    "neg",
    "neg_",
    "negative",
    "negative_",
    "positive",
    "reciprocal",
    "reciprocal_",
    "remainder",
    "rsub",
    "sub",
    "subtract",
    "true_divide",
]
