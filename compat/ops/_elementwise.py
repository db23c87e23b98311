"""What the functions of every element by itself have in common: operands, dtypes, refusals, steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core import Primitive, Tracer
from funcgrad.ops.arithmetic import add
from funcgrad.ops.select import stop_gradient, where

from .. import dtypes
from ..autograd.base import TensorBase
from ..autograd.tape import record
from ._apply import check_broadcast, finish, requires_grad
from ._compose import composed, not_implemented
from ._operands import convert, dtype_of, is_number, operand, promoted, result_type

# ---------------------------------------------------------------- operands


def floats(name: str, input: Any, complex_kernel: str = "") -> Any:
    """The one operand of a function, integers in the default dtype.

    Raises: NotImplementedError: it is complex, and `complex_kernel` is what PyTorch lacks for that.
    """
    x = operand(name, 1, "input", input)
    if complex_kernel and dtype_of(x).category == 3:
        raise not_implemented(complex_kernel, x)
    return promoted((x,), floating=True)[0]


def tensors(name: str, *xs: Any, second: str = "other", floating: bool = False) -> tuple[Any, ...]:
    """Operands that must be tensors, in their common dtype.

    Raises: TypeError: one is a number. RuntimeError: the shapes do not broadcast.
    """
    names = ("input", second)
    found = tuple(operand(name, i + 1, names[i], x) for i, x in enumerate(xs))
    check_broadcast(*found)
    return promoted(found, floating=floating)


def numbers_too(name: str, x: Any, y: Any, second: str = "other") -> tuple[Any, Any]:
    """Two operands of which either may be a number, but not both.

    Raises: TypeError: both are. RuntimeError: the shapes do not broadcast.
    """
    x = operand(name, 1, "input", x, number=True)
    y = operand(name, 2, second, y, number=True)
    if not isinstance(x, TensorBase) and not isinstance(y, TensorBase):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got "
            f"({type(x).__name__}, {type(y).__name__}); one of them must be a Tensor"
        )
    check_broadcast(x, y)
    return x, y


def is_operand(x: Any) -> bool:
    """Whether an operator takes `x`: a tensor, a number or an array."""
    return isinstance(x, TensorBase | np.ndarray | Tracer) or is_number(x)


_PLAIN = frozenset({int, float, type(None)})


def is_plain(x: Any, *numbers: Any) -> bool:
    """Whether `x` is a tensor of floats and the others are Python's numbers, or None.

    Then there is nothing to promote and nothing to refuse.
    """
    return (
        isinstance(x, TensorBase)
        and x._array.dtype.kind == "f"
        and all(n.__class__ in _PLAIN for n in numbers)
    )


def is_half(x: Any) -> bool:
    """Whether `x` is a tensor of real floats of 16 bits."""
    return isinstance(x, TensorBase) and dtype_of(x).category == 2 and dtype_of(x).itemsize < 4


def is_finer(number: Any, x: Any) -> bool:
    """Whether `x` is a tensor of halves, and `number` a real one that a half may not hold.

    A tensor without axes counts as a number.
    """
    if not is_half(x):
        return False
    dtype = dtype_of(x)
    if isinstance(number, TensorBase):
        other = dtype_of(number)
        has_axes, has_none = bool(x._array.shape), not number._array.shape
        return has_axes and has_none and other is not dtype and other.category < 3
    if not isinstance(number, int | float | np.integer | np.floating):
        return False
    return not (-6e4 < number < 6e4 and float(dtype.numpy.type(number)) == number)


# ---------------------------------------------------------------- refusals


def require_whole(kernel: str, *xs: Any, booleans: bool = True) -> None:
    """Raises: NotImplementedError: the common dtype is not one of integers or booleans."""
    category = result_type(*xs).category
    if category > 1 or (category == 0 and not booleans):
        raise not_implemented_for(kernel, result_type(*xs))


def require_real(kernel: str, *xs: Any, booleans: bool = True) -> None:
    """Raises: NotImplementedError: the common dtype is complex, or bool if those are refused."""
    category = result_type(*xs).category
    if category == 3 or (category == 0 and not booleans):
        raise not_implemented_for(kernel, result_type(*xs))


def not_implemented_for(kernel: str, dtype: dtypes.dtype) -> NotImplementedError:
    """PyTorch's error for operands whose common dtype it has no kernel for."""
    return not_implemented(kernel, _Empty(dtype))  # type: ignore[arg-type]


class _Empty:
    """Stands for a tensor of a dtype."""

    def __init__(self, dtype: dtypes.dtype) -> None:
        self._array = np.empty(0, dtype.numpy)


def refuse_zero(x: Any, divisor: Any) -> None:
    """Require that integers are not divided by zero.

    Raises: RuntimeError: they are.
    """
    if result_type(x, divisor).category > 1:
        return
    array = divisor._array if isinstance(divisor, TensorBase) else divisor
    if not isinstance(array, Tracer) and not np.all(array):
        raise RuntimeError("ZeroDivisionError: integers cannot be divided by zero")


# ---------------------------------------------------------------- results


def stepped(node: str, y: Any, *xs: Any) -> Any:
    """`y`, a piecewise constant function of `xs`, with a node that hands them zeros.

    PyTorch's rounding functions have one, so that `backward` goes through them.
    """
    if not requires_grad(*xs):
        return y
    total = xs[0] if len(xs) == 1 else record(add, xs)
    return record(where, (True, y, total), None, node)


def step(
    name: str,
    prim: Primitive,
    input: Any,
    out: Any,
    node: str,
    kernel: str,
    *,
    booleans: bool = False,
) -> Any:
    """A piecewise constant primitive of real numbers; of integers it is the identity.

    Raises: NotImplementedError: complex numbers, or booleans if those are refused.
    """
    x = operand(name, 1, "input", input)
    category = dtype_of(x).category
    if category == 3 or (category == 0 and not booleans):
        raise not_implemented(kernel, x)
    y = record(prim if category == 2 else stop_gradient, (x,))
    return finish(name, stepped(node, y, x), out, (x,))


def scaled(node: str, prim: Primitive, x: Any, y: Any) -> Any:
    """``prim(x, y)`` of halves and a number: in single precision, which PyTorch rounds once.

    In half precision the number would be rounded first, to infinity from 65,520 on.
    """
    check_broadcast(x, y)
    return composed(node, _scaled, x, y, prim=prim, dtype=dtype_of(x if is_half(x) else y))


def _scaled(x: Any, y: Any, /, *, prim: Primitive, dtype: dtypes.dtype) -> Any:
    pair = [a.astype(np.float32) if hasattr(a, "astype") else float(a) for a in (x, y)]
    return prim(*pair).astype(dtype.numpy)


def narrow(f: Callable[..., Any], *xs: Any) -> Any:
    """``f(*xs)`` by way of float32 if the dtype is narrower, which SciPy's functions do not have."""
    dtype = result_type(*xs)
    if dtype.category == 3 or dtype.itemsize >= 4:
        return f(*xs)
    wide = [convert(x, dtypes.float32) if isinstance(x, TensorBase) else x for x in xs]
    return convert(f(*wide), dtype)


def special(
    name: str, prim: Any, input: Any, out: Any, node: str, kernel: str, **params: Any
) -> Any:
    """A real function of one operand: `kernel` is what PyTorch lacks for complex numbers."""
    x = floats(name, input, kernel)
    return finish(name, narrow(lambda a: record(prim, (a,), params, node), x), out, (x,))


def special_of_two(name: str, prim: Any, input: Any, other: Any, out: Any, node: str) -> Any:
    """A real function of two operands, of which one may be a number.

    Raises: TypeError: both are numbers. NotImplementedError: complex numbers.
    """
    x, y = numbers_too(name, input, other)
    require_real(f"{name}_cpu", x, y)
    z = narrow(lambda *pair: record(prim, pair, {}, node), *promoted((x, y), floating=True))
    return finish(name, z, out, (x, y))


__all__ = [
    "floats",
    "is_finer",
    "is_half",
    "is_operand",
    "is_plain",
    "narrow",
    "not_implemented_for",
    "numbers_too",
    "refuse_zero",
    "require_real",
    "require_whole",
    "scaled",
    "special",
    "special_of_two",
    "step",
    "stepped",
    "tensors",
]
