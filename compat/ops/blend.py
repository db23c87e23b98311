"""Sums with a factor: addcmul, addcdiv, lerp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import aval_of
from funcgrad.ops import arithmetic
from funcgrad.ops.logic import less
from funcgrad.ops.select import where

from .. import dtypes
from ..autograd.base import TensorBase
from ..autograd.remembered import remembered_of_several
from ..autograd.tape import record
from ._apply import _type_word, check_broadcast, finish, inplace
from ._compose import composed, not_implemented
from ._elementwise import is_half
from ._fused import fused
from ._operands import dtype_of, is_number, number_for, old_order, operand, plain_number, promoted
from .pointwise import div, mul

if TYPE_CHECKING:
    from .._tensor import Tensor


def _three(name: str, input: Any, tensor1: Any, tensor2: Any) -> tuple[Any, ...]:
    xs = tuple(
        operand(name, i + 1, argument, x)
        for i, (argument, x) in enumerate(
            (("input", input), ("tensor1", tensor1), ("tensor2", tensor2))
        )
    )
    check_broadcast(xs[1], xs[2])
    return xs


def _scaled(x: Any, value: Any) -> Any:
    """``value * x``, in the dtype of `x`: a fraction of integers is cut off."""
    if isinstance(value, int | float) and value == 1:
        return x
    return mul(x, number_for(dtype_of(x), value))


def _plus(node: str, f: Any, prim: Any, xs: Any, value: Any) -> Any:
    """``x + value * f(a, b)``; halves are computed in single precision, and rounded once."""
    x, a, b = xs
    value = plain_number("addcmul", "value", value)
    if is_half(x):
        check_broadcast(x, a)
        check_broadcast(x, b)
        return composed(node, _in_single, x, a, b, f=prim, value=number_for(dtypes.float32, value))
    term = _scaled(f(a, b), value)
    check_broadcast(x, term)
    return record(arithmetic.add, (x, term), None, node)


def _in_single(x: Any, a: Any, b: Any, /, *, f: Any, value: float) -> Any:
    wide = [y.astype(np.float32) for y in (x, a, b)]
    return (wide[0] + value * f(*wide[1:])).astype(aval_of(x).dtype)


def addcmul(
    input: Any, tensor1: Any, tensor2: Any, *old: Any, value: Any = 1, out: Any = None
) -> Tensor:
    """``input + value * tensor1 * tensor2``; ``addcmul(input, value, tensor1, tensor2)`` is old.

    >>> import compat as torch
    >>> torch.addcmul(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([3.0]), value=0.5)
    tensor([4.])
    """
    if old:
        value, tensor1, tensor2 = old_order("addcmul", tensor1, tensor2, *old)
    given = _three("addcmul", input, tensor1, tensor2)
    y = _plus("AddcmulBackward0", mul, arithmetic.multiply, promoted(given), value)
    return finish("addcmul", y, out, given)


def addcdiv(
    input: Any, tensor1: Any, tensor2: Any, *old: Any, value: Any = 1, out: Any = None
) -> Tensor:
    """``input + value * tensor1 / tensor2``; ``addcdiv(input, value, tensor1, tensor2)`` is old.

    Raises: RuntimeError: `tensor1` and `tensor2` are integers.

    >>> import compat as torch
    >>> torch.addcdiv(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([4.0]), value=2)
    tensor([2.])
    """
    if old:
        value, tensor1, tensor2 = old_order("addcdiv", tensor1, tensor2, *old)
    given = _three("addcdiv", input, tensor1, tensor2)
    if dtype_of(given[1]).category < 2 and dtype_of(given[2]).category < 2:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv "
            "will perform a true division of tensor1 and tensor2. Convert them first, for example "
            "with x.float()."
        )
    y = _plus("AddcdivBackward0", div, arithmetic.divide, promoted(given), value)
    return finish("addcdiv", y, out, given)


@remembered_of_several
def lerp(input: Any, end: Any, weight: Any, *, out: Any = None) -> Tensor:
    """``input + weight * (end - input)``, exactly `end` where `weight` is 1.

    Raises: RuntimeError: different dtypes. NotImplementedError: integers.

    >>> import compat as torch
    >>> torch.lerp(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 6.0]), 0.25)
    tensor([1.5000, 3.0000])
    """
    x, e = operand("lerp", 1, "input", input), operand("lerp", 2, "end", end)
    w = operand("lerp", 3, "weight", weight, number=True)
    for name, other in (("end", e), ("weight", w)):
        if isinstance(other, TensorBase) and dtype_of(other) is not dtype_of(x):
            words = [_type_word(dtype_of(a)).lower() for a in (x, other)]
            raise RuntimeError(f"expected dtype {words[0]} for `{name}` but got dtype {words[1]}")
    if dtype_of(x).category < 2:
        kind = "tensor" if isinstance(w, TensorBase) else "scalar"
        raise not_implemented(f"lerp_kernel_{kind}", x)
    if is_number(w):
        number_for(dtype_of(x), w)  # which raises if it does not fit
    check_broadcast(x, e)
    node, f = f"LerpBackward{int(isinstance(w, TensorBase))}", _lerp
    if is_half(x):
        given = (x, e) if is_number(w) else (x, e, w)
        options = {"weight": float(w)} if is_number(w) else {}
        y = composed(node, _lerp_in_single, *given, **options)
    else:
        y = fused(node, f, x, e, weight=w) if is_number(w) else fused(node, f, x, e, w)
    return finish("lerp", y, out, (x, e, w))


def _lerp(x: Any, end: Any, weight: Any) -> Any:
    step = end - x
    near = less(arithmetic.absolute(weight), 0.5)
    if is_number(weight):
        return x + weight * step if near else end - step * (1 - weight)
    return where(near, x + weight * step, end - step * (1 - weight))


def _lerp_in_single(*xs: Any, **options: Any) -> Any:
    return _lerp(*[x.astype(np.float32) for x in xs], **options).astype(aval_of(xs[0]).dtype)


class BlendMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    addcdiv = addcdiv
    addcdiv_ = inplace(addcdiv)
    addcmul = addcmul
    addcmul_ = inplace(addcmul)
    lerp = lerp
    lerp_ = inplace(lerp)


__all__ = ["addcdiv", "addcmul", "lerp"]
