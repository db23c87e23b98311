"""Complex numbers, element by element: their parts, conjugates and angles.

The parts are views. So is what `conj` gives, see NOTE [Mirrors] in `autograd/mirrors.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.ops import complex as parts
from funcgrad.ops.arithmetic import multiply
from funcgrad.ops.logic import isnan, less
from funcgrad.ops.select import where
from funcgrad.ops.trigonometric import cos, sin

from .. import dtypes
from ..autograd import mirrors, modes
from ..autograd.tape import connect, record
from ._apply import _type_word, check_broadcast, finish, inplace
from ._compose import composed
from ._elementwise import stepped
from ._layout import alias, own
from ._operands import convert, dtype_of, operand

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- parts


def real(input: Any) -> Tensor:
    """The real part, a view; `input` itself if it is real.

    >>> import compat as torch
    >>> torch.real(torch.tensor([1 + 2j]))
    tensor([1.])
    """
    x = operand("real", 1, "input", input)
    if dtype_of(x).category != 3:
        return x
    return record(parts.real, (x,), None, "SelectBackward0")


def imag(input: Any) -> Tensor:
    """The imaginary part, a view.

    Raises: RuntimeError: `input` is real.

    >>> import compat as torch
    >>> torch.imag(torch.tensor([1 + 2j]))
    tensor([2.])
    """
    x = operand("imag", 1, "input", input)
    if dtype_of(x).category != 3:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return record(parts.imag, (x,), None, "SelectBackward0")


def view_as_real(input: Any) -> Tensor:
    """The real and the imaginary part along a new last axis: a view.

    Shapes: ``(*a) -> (*a, 2)``.
    Raises: RuntimeError: `input` is real.

    >>> import compat as torch
    >>> torch.view_as_real(torch.tensor([1 + 2j, 3j]))
    tensor([[1., 2.],
            [0., 3.]])
    """
    x = operand("view_as_real", 1, "input", input)
    if dtype_of(x).category != 3:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return record(parts.as_real, (x,), None, "ViewAsRealBackward0")


def view_as_complex(input: Any) -> Tensor:
    """``x + i y`` of the pairs along the last axis: a view.

    Shapes: ``(*a, 2) -> (*a)``.
    Raises: RuntimeError: the last axis has not 2 elements, they are no floats, or pairs do not lie in
    memory as complex numbers do.

    >>> import compat as torch
    >>> torch.view_as_complex(torch.tensor([[1.0, 2.0], [0.0, 3.0]]))
    tensor([1.+2.j, 0.+3.j])
    """
    x = operand("view_as_complex", 1, "input", input)
    if dtype_of(x) not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            f"view_as_complex is only supported for half, float and double tensors, but got a tensor "
            f"of scalar type: {_type_word(dtype_of(x))}{_no_halves(x)}"
        )
    shape = x._array.shape
    if not shape:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2, but it has size {shape[-1]}"
        )
    if x._array.__class__ is np.ndarray and x._array.size:
        steps = x.stride()
        if steps[-1] != 1:
            raise RuntimeError("Tensor must have a last dimension with stride 1")
        if any(step % 2 for step, n in zip(steps, shape[:-1], strict=False) if n > 1):
            raise RuntimeError(
                "Tensor must have a stride divisible by 2 for all but last dimension"
            )
        if x.storage_offset() % 2:
            raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return record(parts.as_complex, (x,), None, "ViewAsComplexBackward0")


# ---------------------------------------------------------------- made of two parts


def _no_halves(*parts: Any) -> str:
    """What to do about halves, which PyTorch takes and NumPy has no complex numbers of."""
    if not any(dtype_of(x) is dtypes.float16 for x in parts):
        return ""
    return ". NumPy has no complex numbers of halves: convert them first, with x.float()"


def _two_parts(name: str, first: str, second: str, x: Any, y: Any) -> tuple[Any, Any]:
    x, y = operand(name, 1, first, x), operand(name, 2, second, y)
    words = [_type_word(dtype_of(a)) for a in (x, y)]
    if any(dtype_of(a) not in (dtypes.float32, dtypes.float64) for a in (x, y)):
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {words[0]} and "
            f"{words[1]}{_no_halves(x, y)}"
        )
    if words[0] != words[1]:
        raise RuntimeError(
            f"Expected object of scalar type {words[0]} but got scalar type {words[1]} for second "
            f"argument"
        )
    check_broadcast(x, y)
    return x, y


def complex(real: Any, imag: Any, *, out: Any = None) -> Tensor:
    """``real + i imag``.

    Raises: RuntimeError: the parts are no floats, or of different dtypes.

    >>> import compat as torch
    >>> torch.complex(torch.tensor([1.0]), torch.tensor([2.0]))
    tensor([1.+2.j])
    """
    x, y = _two_parts("complex", "real", "imag", real, imag)
    z = record(parts.complex_from, (x, y), None, "ComplexBackward0")
    return finish("complex", z, out, (x, y))


def polar(abs: Any, angle: Any, *, out: Any = None) -> Tensor:
    """``abs * (cos(angle) + i sin(angle))``.

    Raises: RuntimeError: the operands are no floats, or of different dtypes.

    >>> import compat as torch
    >>> torch.polar(torch.tensor([2.0]), torch.tensor([0.0]))
    tensor([2.+0.j])
    """
    r, phi = _two_parts("polar", "abs", "angle", abs, angle)
    return finish("polar", composed("PolarBackward0", _polar, r, phi), out, (r, phi))


def _polar(r: Any, phi: Any, /) -> Any:
    return parts.complex_from(multiply(r, cos(phi)), multiply(r, sin(phi)))


# ---------------------------------------------------------------- conjugates and angles


def conj(input: Any) -> Tensor:
    """``x - i y`` for ``x + i y``, a view; `input` itself if it is real.

    >>> import compat as torch
    >>> torch.conj(torch.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return mirrored(operand("conj", 1, "input", input))


def mirrored(x: Any) -> Any:
    """`conj` of a tensor: what PyTorch has as a view."""
    if dtype_of(x).category != 3:
        return x
    mode = modes.get()
    if mode.level is not None:
        x = mode.level.inside(x)
    out = record(parts.conjugate, (x,), None, "ConjBackward0")
    connect(out, x, parts.conjugate, {}, "", mode)
    shown = out._array
    if out._view is not None and shown.__class__ is x._array.__class__ is np.ndarray:
        mirrors.add(shown, x._array, parts.conjugate, out._counter)
    return out


def conj_physical(input: Any, *, out: Any = None) -> Tensor:
    """`conj` in memory of its own.

    >>> import compat as torch
    >>> torch.conj_physical(torch.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    x = y = operand("conj_physical", 1, "input", input)
    if dtype_of(x).category == 3:
        y = record(parts.conjugate, (x,), None, "ConjPhysicalBackward0")
    return finish("conj_physical", y, out, (input,))


def resolve_conj(input: Any) -> Tensor:
    """`input`, in memory of its own if it is a conjugate that follows another tensor.

    >>> import compat as torch
    >>> torch.resolve_conj(torch.tensor([1 + 2j]).conj())
    tensor([1.-2.j])
    """
    x = operand("resolve_conj", 1, "input", input)
    return own(alias(x, "CloneBackward0")) if is_conj(x) else x


def resolve_neg(input: Any) -> Tensor:
    """`input`: signs are never put off.

    >>> import compat as torch
    >>> torch.resolve_neg(torch.tensor([1.0]))
    tensor([1.])
    """
    return operand("resolve_neg", 1, "input", input)


def angle(input: Any, *, out: Any = None) -> Tensor:
    """The angle from the positive real axis, in [-pi, pi]; of real numbers 0 or pi.

    The derivative is 0 at 0, and for real numbers.

    >>> import compat as torch
    >>> torch.angle(torch.tensor([1j, -1 + 0j]))
    tensor([1.5708, 3.1416])
    """
    x = operand("angle", 1, "input", input)
    if dtype_of(x).category == 3:
        return finish("angle", composed("AngleBackward0", fnp.angle, x), out, (x,))
    if dtype_of(x).category < 2:
        x = convert(x, dtypes.get_default_dtype())
    half_turn = convert(record(less, (x, 0)), dtype_of(x)) * math.pi
    y = record(where, (record(isnan, (x,)), math.nan, half_turn))
    return finish("angle", stepped("AngleBackward0", y, x), out, (x,))


# ---------------------------------------------------------------- questions


def is_complex(input: Any) -> bool:
    """Whether the dtype is complex.

    >>> import compat as torch
    >>> torch.is_complex(torch.tensor([1j]))
    True
    """
    return dtype_of(operand("is_complex", 1, "input", input)).is_complex


def is_floating_point(input: Any) -> bool:
    """Whether the dtype is a floating one.

    >>> import compat as torch
    >>> torch.is_floating_point(torch.tensor([1.0]))
    True
    """
    return dtype_of(operand("is_floating_point", 1, "input", input)).is_floating_point


def is_conj(input: Any) -> bool:
    """Whether `input` is a conjugate that follows the tensor it is of.

    >>> import compat as torch
    >>> torch.is_conj(torch.tensor([1j]).conj())
    True
    """
    x = operand("is_conj", 1, "input", input)
    chain = () if x._view is None or dtype_of(x).category != 3 else x._view.chain
    return sum(prim.own_inverse for prim, _ in chain) % 2 == 1


def is_neg(input: Any) -> bool:
    """Whether a sign is put off: never.

    >>> import compat as torch
    >>> torch.is_neg(torch.tensor([1.0]))
    False
    """
    operand("is_neg", 1, "input", input)
    return False


# ---------------------------------------------------------------- attributes


def _set_real(self: Any, value: Any) -> None:
    """``x.real = value``."""
    real(self)[...] = value


def _set_imag(self: Any, value: Any) -> None:
    """``x.imag = value``."""
    imag(self)[...] = value


conj_physical_ = inplace(conj_physical)


class ComplexMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    angle = angle
    conj = conj
    conj_physical = conj_physical
    conj_physical_ = conj_physical_
    imag: Tensor = property(imag, _set_imag)  # type: ignore[assignment]
    is_conj = is_conj
    is_neg = is_neg
    real: Tensor = property(real, _set_real)  # type: ignore[assignment]
    resolve_conj = resolve_conj
    resolve_neg = resolve_neg


__all__ = [
    "angle",
    "complex",
    "conj",
    "conj_physical",
    "conj_physical_",
    "imag",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_neg",
    "polar",
    "real",
    "resolve_conj",
    "resolve_neg",
    "view_as_complex",
    "view_as_real",
]
