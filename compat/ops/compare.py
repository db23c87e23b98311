"""Element by element: comparisons, truth values, bits. The results are constants.

`equal` and `allclose` compare whole tensors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.core import Tracer
from funcgrad.ops import logic
from funcgrad.ops.complex import imag

from .. import dtypes
from ..autograd.base import tensor
from ..autograd.deferring import asks
from ..autograd.tape import record, through
from ._apply import _type_word, check_broadcast, finish, inplace
from ._compose import not_implemented
from ._elementwise import numbers_too, require_real, require_whole, tensors
from ._operands import dtype_of, operand, plain_number, promoted
from .pointwise import in_place_operator, operator

if TYPE_CHECKING:
    from .._tensor import Tensor

ndarray = np.ndarray
_F = TypeVar("_F", bound=Callable[..., Any])

# ---------------------------------------------------------------- comparisons


def _quick(ufunc: Any) -> Callable[[_F], _F]:
    """Give the decorated comparison a fast path for arrays of one floating dtype, and for numbers.

    Nothing is recorded of a constant, so there is nothing else to do.
    """

    def decorate(general: Any) -> Any:
        strange = asks(general)

        @functools.wraps(general)
        def compare(input: Any, other: Any, *, out: Any = None) -> Any:
            try:
                x = input._array
                y = other if other.__class__ in (float, int) else other._array
            except AttributeError:
                return strange(input, other, out=out)
            if (
                x.__class__ is not ndarray
                or x.dtype.kind != "f"
                or input._view is not None
                or out is not None
            ):
                return general(input, other, out=out)
            if y is not other and (
                y.__class__ is not ndarray
                or y.dtype is not x.dtype
                or y.shape != x.shape
                or other._view is not None
            ):
                return general(input, other, out=out)
            return tensor(ufunc(x, y))

        return compare

    return decorate


def _compared(name: str, prim: Any, input: Any, other: Any, out: Any) -> Any:
    x = operand(name, 1, "input", input)
    y = operand(name, 2, "other", other, number=True)
    if name not in ("eq", "ne"):
        require_real(f"{name}_cpu", x, y)
    check_broadcast(x, y)
    return finish(name, record(prim, promoted((x, y))), out, (x, y))


@_quick(np.equal)
def eq(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Whether ``input == other``.

    >>> import compat as torch
    >>> torch.eq(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([False,  True, False])
    """
    return _compared("eq", logic.equal, input, other, out)


@_quick(np.not_equal)
def ne(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Whether ``input != other``.

    >>> import compat as torch
    >>> torch.ne(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([ True, False,  True])
    """
    return _compared("ne", logic.not_equal, input, other, out)


@_quick(np.less)
def lt(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Whether ``input < other``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.lt(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([ True, False, False])
    """
    return _compared("lt", logic.less, input, other, out)


@_quick(np.less_equal)
def le(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Whether ``input <= other``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.le(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([ True,  True, False])
    """
    return _compared("le", logic.less_equal, input, other, out)


@_quick(np.greater)
def gt(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Whether ``input > other``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.gt(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([False, False,  True])
    """
    return _compared("gt", logic.greater, input, other, out)


@_quick(np.greater_equal)
def ge(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Whether ``input >= other``.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.ge(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([False,  True,  True])
    """
    return _compared("ge", logic.greater_equal, input, other, out)


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and the same elements.

    >>> import compat as torch
    >>> torch.equal(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0]))
    True
    """
    x, y = operand("equal", 1, "input", input), operand("equal", 2, "other", other)
    if x._array.shape != y._array.shape:
        return False
    return _whole(through(fnp.all, eq(x, y)))


def _whole(x: Any) -> Any:
    """One truth value as Python's; as a tensor where a transform does not know it."""
    return x if isinstance(x._array, Tracer) else bool(x._array)


def _of_one_dtype(input: Any, other: Any) -> tuple[Any, Any]:
    x, y = operand("isclose", 1, "input", input), operand("isclose", 2, "other", other)
    if dtype_of(x) is not dtype_of(y):
        words = [_type_word(dtype_of(a)) for a in (x, y)]
        raise RuntimeError(f"{words[0]} did not match {words[1]}")
    check_broadcast(x, y)
    return x, y


def isclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether ``|input - other| <= atol + rtol * |other|``, or both are infinite in the same way.

    Raises: RuntimeError: different dtypes, or negative tolerances.

    >>> import compat as torch
    >>> torch.isclose(torch.tensor([1.0, 1.1]), torch.tensor([1.0, 1.0]))
    tensor([ True, False])
    """
    x, y = _of_one_dtype(input, other)
    rtol, atol = plain_number("isclose", "rtol", rtol), plain_number("isclose", "atol", atol)
    if rtol < 0 or atol < 0:
        which, value = ("rtol", rtol) if rtol < 0 else ("atol", atol)
        raise RuntimeError(f"{which} must be greater than or equal to zero, but got {value}")
    if dtype_of(x) is dtypes.bool:
        return record(logic.equal, (x, y))
    return through(fnp.isclose, x, y, rtol, atol, equal_nan)


def allclose(
    input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether `isclose` holds everywhere.

    Raises: RuntimeError: different dtypes, or negative tolerances.

    >>> import compat as torch
    >>> torch.allclose(torch.tensor([1.0, 1.1]), torch.tensor([1.0, 1.0]))
    False
    """
    return _whole(through(fnp.all, isclose(input, other, rtol, atol, equal_nan)))


# ---------------------------------------------------------------- kinds of numbers


def isnan(input: Any) -> Tensor:
    """Whether `input` is not a number.

    >>> import compat as torch
    >>> torch.isnan(torch.tensor([1.0, torch.inf, torch.nan]))
    tensor([False, False,  True])
    """
    return record(logic.isnan, (operand("isnan", 1, "input", input),))


def isinf(input: Any) -> Tensor:
    """Whether `input` is infinite, in either part.

    >>> import compat as torch
    >>> torch.isinf(torch.tensor([1.0, torch.inf, torch.nan]))
    tensor([False,  True, False])
    """
    return record(logic.isinf, (operand("isinf", 1, "input", input),))


def isfinite(input: Any) -> Tensor:
    """Whether `input` is neither infinite nor not a number.

    >>> import compat as torch
    >>> torch.isfinite(torch.tensor([1.0, torch.inf, torch.nan]))
    tensor([ True, False, False])
    """
    return record(logic.isfinite, (operand("isfinite", 1, "input", input),))


def isposinf(input: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is plus infinity.

    Raises: RuntimeError: complex numbers.

    >>> import compat as torch
    >>> torch.isposinf(torch.tensor([1.0, torch.inf, -torch.inf]))
    tensor([False,  True, False])
    """
    return _infinite("isposinf", math.inf, input, out)


def isneginf(input: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is minus infinity.

    Raises: RuntimeError: complex numbers.

    >>> import compat as torch
    >>> torch.isneginf(torch.tensor([1.0, torch.inf, -torch.inf]))
    tensor([False, False,  True])
    """
    return _infinite("isneginf", -math.inf, input, out)


def _infinite(name: str, value: float, input: Any, out: Any) -> Any:
    x = operand(name, 1, "input", input)
    if dtype_of(x).category == 3:
        raise RuntimeError(f"{name} does not support complex inputs.")
    return finish(name, record(logic.equal, (x, value)), out, (x,))


def isreal(input: Any) -> Tensor:
    """Whether the imaginary part of `input` is 0.

    >>> import compat as torch
    >>> torch.isreal(torch.tensor([1 + 1j, 1 + 0j]))
    tensor([False,  True])
    """
    x = operand("isreal", 1, "input", input)
    if dtype_of(x).category == 3:
        return record(logic.equal, (record(imag, (x,)), 0.0))
    return record(logic.logical_or, (x, True))


# ---------------------------------------------------------------- truth values


def is_nonzero(input: Any) -> bool:
    """Whether the one number in `input` is not 0.

    Raises: RuntimeError: there is none, or several.

    >>> import compat as torch
    >>> torch.is_nonzero(torch.tensor([2.0]))
    True
    """
    return bool(operand("is_nonzero", 1, "input", input))


def logical_not(input: Any, *, out: Any = None) -> Tensor:
    """Whether `input` is 0.

    >>> import compat as torch
    >>> torch.logical_not(torch.tensor([0.0, 0.5]))
    tensor([ True, False])
    """
    x = operand("logical_not", 1, "input", input)
    return finish("logical_not", record(logic.logical_not, (x,)), out, (x,))


def logical_and(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Whether both `input` and `other` are not 0.

    Raises: TypeError: an operand is no tensor.

    >>> import compat as torch
    >>> torch.logical_and(torch.tensor([0, 0, 2]), torch.tensor([0.0, 1.0, 1.0]))
    tensor([False, False,  True])
    """
    x, y = tensors("logical_and", input, other)
    return finish("logical_and", record(logic.logical_and, (x, y)), out, (x, y))


def logical_or(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Whether `input` or `other` is not 0.

    Raises: TypeError: an operand is no tensor.

    >>> import compat as torch
    >>> torch.logical_or(torch.tensor([0, 0, 2]), torch.tensor([0.0, 1.0, 1.0]))
    tensor([False,  True,  True])
    """
    x, y = tensors("logical_or", input, other)
    return finish("logical_or", record(logic.logical_or, (x, y)), out, (x, y))


def logical_xor(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """Whether exactly one of `input` and `other` is not 0.

    Raises: TypeError: an operand is no tensor.

    >>> import compat as torch
    >>> torch.logical_xor(torch.tensor([0, 0, 2]), torch.tensor([0.0, 1.0, 1.0]))
    tensor([False,  True, False])
    """
    x, y = tensors("logical_xor", input, other)
    return finish("logical_xor", record(logic.logical_xor, (x, y)), out, (x, y))


# ---------------------------------------------------------------- bits


def bitwise_not(input: Any, *, out: Any = None) -> Tensor:
    """``~input``, bit by bit; of booleans whether `input` is false.

    Raises: NotImplementedError: no integers or booleans.

    >>> import compat as torch
    >>> torch.bitwise_not(torch.tensor([0, 5]))
    tensor([-1, -6])
    """
    x = operand("bitwise_not", 1, "input", input)
    if dtype_of(x).category > 1:
        raise not_implemented("bitwise_not_cpu", x)
    return finish("bitwise_not", record(logic.invert, (x,)), out, (x,))


def _bits(name: str, prim: Any, kernel: str, input: Any, other: Any, out: Any) -> Any:
    x, y = numbers_too(name, input, other)
    require_whole(kernel, x, y, booleans="shift" not in kernel)
    return finish(name, record(prim, promoted((x, y))), out, (x, y))


def bitwise_and(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input & other``, bit by bit.

    Raises: NotImplementedError: no integers or booleans.

    >>> import compat as torch
    >>> torch.bitwise_and(torch.tensor([1, 3]), 2)
    tensor([0, 2])
    """
    return _bits("bitwise_and", logic.bitwise_and, "bitwise_and_cpu", input, other, out)


def bitwise_or(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input | other``, bit by bit.

    Raises: NotImplementedError: no integers or booleans.

    >>> import compat as torch
    >>> torch.bitwise_or(torch.tensor([1, 3]), 2)
    tensor([3, 3])
    """
    return _bits("bitwise_or", logic.bitwise_or, "bitwise_or_cpu", input, other, out)


def bitwise_xor(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input ^ other``, bit by bit.

    Raises: NotImplementedError: no integers or booleans.

    >>> import compat as torch
    >>> torch.bitwise_xor(torch.tensor([1, 3]), 2)
    tensor([3, 1])
    """
    return _bits("bitwise_xor", logic.bitwise_xor, "bitwise_xor_cpu", input, other, out)


def bitwise_left_shift(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input << other``, which is ``input * 2**other``.

    Raises: NotImplementedError: no integers.

    >>> import compat as torch
    >>> torch.bitwise_left_shift(torch.tensor([1, 3]), 2)
    tensor([ 4, 12])
    """
    return _bits("bitwise_left_shift", logic.left_shift, "lshift_cpu", input, other, out)


def bitwise_right_shift(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input >> other``, which is ``floor(input / 2**other)``.

    Raises: NotImplementedError: no integers.

    >>> import compat as torch
    >>> torch.bitwise_right_shift(torch.tensor([4, 13]), 2)
    tensor([1, 3])
    """
    return _bits("bitwise_right_shift", logic.right_shift, "rshift_cpu", input, other, out)


def _inverted(self: Any) -> Tensor:
    """The operator ``~``."""
    if dtype_of(self).category > 1:
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return bitwise_not(self)


greater = gt
greater_equal = ge
less = lt
less_equal = le
not_equal = ne


class CompareMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    allclose = allclose
    bitwise_and = bitwise_and
    bitwise_and_ = inplace(bitwise_and)
    bitwise_left_shift = bitwise_left_shift
    bitwise_left_shift_ = inplace(bitwise_left_shift)
    bitwise_not = bitwise_not
    bitwise_not_ = inplace(bitwise_not)
    bitwise_or = bitwise_or
    bitwise_or_ = inplace(bitwise_or)
    bitwise_right_shift = bitwise_right_shift
    bitwise_right_shift_ = inplace(bitwise_right_shift)
    bitwise_xor = bitwise_xor
    bitwise_xor_ = inplace(bitwise_xor)
    eq = eq
    eq_ = inplace(eq)
    equal = equal
    ge = ge
    ge_ = inplace(ge)
    greater = gt
    greater_equal = ge
    gt = gt
    gt_ = inplace(gt)
    is_nonzero = is_nonzero
    isclose = isclose
    isfinite = isfinite
    isinf = isinf
    isnan = isnan
    isneginf = isneginf
    isposinf = isposinf
    isreal = isreal
    le = le
    le_ = inplace(le)
    less = lt
    less_equal = le
    logical_and = logical_and
    logical_and_ = inplace(logical_and)
    logical_not = logical_not
    logical_not_ = inplace(logical_not)
    logical_or = logical_or
    logical_or_ = inplace(logical_or)
    logical_xor = logical_xor
    logical_xor_ = inplace(logical_xor)
    lt = lt
    lt_ = inplace(lt)
    ne = ne
    ne_ = inplace(ne)
    not_equal = ne
    greater_ = gt_
    greater_equal_ = ge_
    less_ = lt_
    less_equal_ = le_
    not_equal_ = ne_

    if TYPE_CHECKING:  # checkers take what is assigned to be as in `object`: Booleans

        def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...

    else:
        __eq__ = _quick(np.equal)(operator(eq.__wrapped__, "__eq__"))
        __ne__ = _quick(np.not_equal)(operator(ne.__wrapped__, "__ne__"))
        __lt__ = _quick(np.less)(operator(lt.__wrapped__, "__lt__"))
        __le__ = _quick(np.less_equal)(operator(le.__wrapped__, "__le__"))
        __gt__ = _quick(np.greater)(operator(gt.__wrapped__, "__gt__"))
        __ge__ = _quick(np.greater_equal)(operator(ge.__wrapped__, "__ge__"))
    __hash__ = object.__hash__
    __invert__ = _inverted
    __and__ = __rand__ = operator(bitwise_and, "__and__")
    __iand__ = in_place_operator(bitwise_and_)
    __or__ = __ror__ = operator(bitwise_or, "__or__")
    __ior__ = in_place_operator(bitwise_or_)
    __xor__ = __rxor__ = operator(bitwise_xor, "__xor__")
    __ixor__ = in_place_operator(bitwise_xor_)
    __lshift__ = operator(bitwise_left_shift, "__lshift__")
    __rlshift__ = operator(bitwise_left_shift, "__rlshift__", swapped=True)
    __ilshift__ = in_place_operator(bitwise_left_shift_)
    __rshift__ = operator(bitwise_right_shift, "__rshift__")
    __rrshift__ = operator(bitwise_right_shift, "__rrshift__", swapped=True)
    __irshift__ = in_place_operator(bitwise_right_shift_)


__all__ = [
    "allclose",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "eq",
    "equal",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "is_nonzero",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "le",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
    "not_equal",
]
