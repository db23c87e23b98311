"""Element by element: powers and roots.

NOTE [Exponents] The derivative of a power is long to write for an exponent that is not known; for a
number it is one product. So every common exponent gets a fast path of its own, printed from the rule
of `power` with the exponent put in, when it is first met.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from funcgrad.inline import Symbol
from funcgrad.ops import exponential
from funcgrad.ops.arithmetic import _slope_in_base, power, power_as_products, reciprocal
from funcgrad.ops.logic import bitwise_and, equal, less, logical_or
from funcgrad.ops.select import where

from .. import dtypes
from ..autograd import printed
from ..autograd.base import TensorBase
from ..autograd.tape import record, through
from ._apply import _type_word, finish, inplace, pointwise
from ._compose import composed
from ._elementwise import is_plain, not_implemented_for, numbers_too
from ._operands import (
    convert,
    dtype_of,
    is_number,
    number_for,
    operand,
    promoted,
    result_type,
)
from .pointwise import in_place_operator, operator

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- one exponent


class _To:
    """`power` with its second operand fixed: what printing, and a node, need of a primitive."""

    name = "power_to"
    multiple = False

    def __init__(self, exponent: float) -> None:
        self.exponent = exponent
        self.rules = (lambda _z, x: _slope_in_base(_printed_power, x, exponent),)

    def impl(self, xp: Any, x: Any) -> Any:
        short = power_as_products(xp, x, self.exponent)
        return xp.power(x, self.exponent) if short is None else short

    def saves(self, wanted: Sequence[bool]) -> tuple[bool, tuple[bool, ...]]:
        save_ans, save_xs = power.saves((*wanted, False))
        return save_ans, save_xs[:1]

    def cotangents(
        self, ct: Any, ans: Any, xs: Sequence[Any], wanted: Sequence[bool], params: dict[str, Any]
    ) -> list[Any]:
        operands = [*xs, self.exponent]
        return power.cotangents(ct, ans, operands, [*wanted, False], params)[:1]


def _printed_power(x: Symbol, exponent: float) -> Any:
    """What `power` is to its rule while that is printed."""
    prim: Any = _To(exponent)
    return x.program.apply(prim, [x], {})


_COMMON = frozenset({*range(-3, 9), *(n + 0.5 for n in range(-3, 4))} - {0, 1})


@functools.lru_cache(typed=True)
def _to(exponent: float, node: str) -> Callable[[Any], Any] | None:
    """The fast path for one exponent, None if that is not a common one."""
    if exponent not in _COMMON:
        return None

    def power_of(input: Any) -> Any:
        return _power("pow", input, exponent, None, node)

    power_of.__name__ = f"power_of_{exponent}".translate({ord("-"): "minus_", ord("."): "_"})
    prim: Any = _To(exponent)
    return printed._unary(prim, power_of, node, ("x",), {}, 2)


# ---------------------------------------------------------------- powers


def pow(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """``input ** exponent``.

    Derivative: ``exponent * input ** (exponent - 1)``, 0 at ``0 ** 0``; by `exponent`
    ``log(input)`` times the result, and 0 where `input` is 0.
    Raises: RuntimeError: integers to a negative number. NotImplementedError: booleans.

    >>> import compat as torch
    >>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    """
    cls = exponent.__class__
    if (cls is int or cls is float) and out is None:
        fast = _to(exponent, "PowBackward0")
        if fast is not None:
            return fast(input)
        if is_plain(input):
            return record(power, (input, exponent), None, "PowBackward0")
    return _power("pow", input, exponent, out)


def _power(name: str, input: Any, exponent: Any, out: Any, node: str = "") -> Any:
    """The general case of `pow`."""
    x, e = numbers_too(name, input, exponent, "exponent")
    dtype = result_type(x, e)
    if dtype is dtypes.bool:
        if not is_number(e):
            raise not_implemented_for("pow", dtype)
        return finish(name, record(logical_or, (x, not e)), out, (x,))
    if dtype.category == 1 and is_number(e) and e < 0:
        raise RuntimeError(
            "Integers to negative integer powers are not allowed. Convert them first, for example "
            "with x.float()."
        )
    if dtype.category == 1 and is_number(e):
        number_for(dtype, e)  # which raises if it does not fit
    if dtype.category == 1 and dtype.is_signed and isinstance(e, TensorBase):
        return finish(name, through(_of_integers, *promoted((x, e))), out, (x, e))
    if not node:
        node = f"PowBackward{0 if is_number(e) else 2 if is_number(x) else 1}"
    return finish(name, record(power, promoted((x, e)), None, node), out, (x, e))


def _of_integers(x: Any, e: Any, /) -> Any:
    """Integers to integers, of which some are negative: a fraction is cut off."""
    negative = less(e, 0)
    alternating = where(equal(bitwise_and(e, 1), 0), 1, x)
    fraction = where(equal(x, 1), x, where(equal(x, -1), alternating, x * 0))
    return where(negative, fraction, power(x, where(negative, 0, e)))


def float_power(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """``input ** exponent`` in float64, or complex128.

    >>> import compat as torch
    >>> torch.float_power(torch.tensor([2, 4]), -1)
    tensor([0.5000, 0.2500], dtype=torch.float64)
    """
    x, e = numbers_too("float_power", input, exponent, "exponent")
    wide = dtypes.complex128 if result_type(x, e).category == 3 else dtypes.float64
    x, e = (convert(a, wide) if isinstance(a, TensorBase) else a for a in (x, e))
    return finish("float_power", pow(x, e), out, (x, e))


def _double_power(input: Any, exponent: Any) -> Any:
    y = float_power(input, exponent)
    if dtype_of(y) is not dtype_of(input):
        raise RuntimeError(
            f"the base given to float_power_ has dtype {_type_word(dtype_of(input))} but the "
            f"operation's result requires dtype {_type_word(dtype_of(y))}"
        )
    return y


def square(input: Any, *, out: Any = None) -> Tensor:
    """``input ** 2``.

    >>> import compat as torch
    >>> torch.square(torch.tensor([3.0, -2.0]))
    tensor([9., 4.])
    """
    return pow(operand("square", 1, "input", input), 2, out=out)


# ---------------------------------------------------------------- roots


@printed.unary(exponential.sqrt, "SqrtBackward0", out=None)
def sqrt(input: Any, *, out: Any = None) -> Tensor:
    """``input ** (1 / 2)``; the derivative is infinite at 0.

    >>> import compat as torch
    >>> torch.sqrt(torch.tensor([4.0, 9.0]))
    tensor([2., 3.])
    """
    prim = exponential.sqrt
    return pointwise("sqrt", prim, (input,), out=out, node="SqrtBackward0", floating=True)


def rsqrt(input: Any, *, out: Any = None) -> Tensor:
    """``input ** (-1 / 2)``.

    >>> import compat as torch
    >>> torch.rsqrt(torch.tensor([4.0, 16.0]))
    tensor([0.5000, 0.2500])
    """
    x = operand("rsqrt", 1, "input", input)
    if dtype_of(x).category < 2:
        x = convert(x, dtypes.get_default_dtype())
    return finish("rsqrt", composed("RsqrtBackward0", _reciprocal_root, x), out, (x,))


def _reciprocal_root(x: Any, /) -> Any:
    return reciprocal(exponential.sqrt(x))


pow_ = inplace(pow)
rsqrt_ = inplace(rsqrt)
sqrt_ = inplace(sqrt)
square_ = inplace(square)


def _raised(self: Any, other: Any) -> Tensor:
    """The operator ``**``."""
    cls = other.__class__
    if cls is int or cls is float:
        fast = _to(other, "PowBackward0")
        if fast is not None:
            return fast(self)
    return _slowly_raised(self, other)


_slowly_raised = operator(pow, "raised")


class PowerMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    float_power = float_power
    float_power_ = inplace(_double_power, "float_power_")
    pow = pow
    pow_ = pow_
    rsqrt = rsqrt
    rsqrt_ = rsqrt_
    sqrt = sqrt
    sqrt_ = sqrt_
    square = square
    square_ = square_

    __pow__ = _raised
    __rpow__ = operator(pow, "reflected_raised", swapped=True)
    __ipow__ = in_place_operator(pow_)


__all__ = [
    "float_power",
    "pow",
    "rsqrt",
    "rsqrt_",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
]
