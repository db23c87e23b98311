"""Element by element: trigonometric and hyperbolic functions, and their inverses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from funcgrad.ops import arithmetic, trigonometric

from .. import dtypes
from ..autograd import printed
from ._apply import finish, inplace, pointwise
from ._compose import not_implemented
from ._elementwise import require_real, tensors
from ._fused import LONG, by_length
from ._operands import dtype_of, operand

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- circular


@printed.unary(trigonometric.sin, "SinBackward0", out=None)
def sin(input: Any, *, out: Any = None) -> Tensor:
    """``sin(input)``, of radians.

    >>> import compat as torch
    >>> torch.sin(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8415])
    """
    prim = trigonometric.sin
    return pointwise("sin", prim, (input,), out=out, node="SinBackward0", floating=True)


@printed.unary(trigonometric.cos, "CosBackward0", out=None)
def cos(input: Any, *, out: Any = None) -> Tensor:
    """``cos(input)``, of radians.

    >>> import compat as torch
    >>> torch.cos(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 0.5403])
    """
    prim = trigonometric.cos
    return pointwise("cos", prim, (input,), out=out, node="CosBackward0", floating=True)


@printed.unary(trigonometric.tan, "TanBackward0", out=None)
def tan(input: Any, *, out: Any = None) -> Tensor:
    """``tan(input)``, of radians.

    >>> import compat as torch
    >>> torch.tan(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5574])
    """
    prim = trigonometric.tan
    return pointwise("tan", prim, (input,), out=out, node="TanBackward0", floating=True)


@printed.unary(trigonometric.arcsin, "AsinBackward0", out=None)
def asin(input: Any, *, out: Any = None) -> Tensor:
    """The angle in [-pi/2, pi/2] with sine `input`; NaN outside of [-1, 1].

    Derivative: ``1 / sqrt(1 - input**2)``, infinite at the ends.

    >>> import compat as torch
    >>> torch.asin(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.5708])
    """
    prim = trigonometric.arcsin
    return pointwise("asin", prim, (input,), out=out, node="AsinBackward0", floating=True)


@printed.unary(trigonometric.arccos, "AcosBackward0", out=None)
def acos(input: Any, *, out: Any = None) -> Tensor:
    """The angle in [0, pi] with cosine `input`; NaN outside of [-1, 1].

    Derivative: ``-1 / sqrt(1 - input**2)``, infinite at the ends.

    >>> import compat as torch
    >>> torch.acos(torch.tensor([0.0, 1.0]))
    tensor([1.5708, 0.0000])
    """
    prim = trigonometric.arccos
    return pointwise("acos", prim, (input,), out=out, node="AcosBackward0", floating=True)


@printed.unary(trigonometric.arctan, "AtanBackward0", out=None)
def atan(input: Any, *, out: Any = None) -> Tensor:
    """The angle in [-pi/2, pi/2] with tangent `input`.

    >>> import compat as torch
    >>> torch.atan(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7854])
    """
    prim = trigonometric.arctan
    return pointwise("atan", prim, (input,), out=out, node="AtanBackward0", floating=True)


@printed.binary(trigonometric.arctan2, "Atan2Backward0", most=LONG, out=None)
def atan2(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The angle of the point (other, input) from the x-axis, in [-pi, pi].

    Derivative: ``other / r**2`` and ``-input / r**2``; 0 and 0 at the origin.
    Raises: TypeError: an operand is no tensor. NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.atan2(torch.tensor([0.0, 1.0]), torch.tensor([-1.0, 1.0]))
    tensor([3.1416, 0.7854])
    """
    x, y = tensors("atan2", input, other, floating=True)
    require_real("atan2_cpu", x, y)
    y = by_length("Atan2Backward0", trigonometric.arctan2, x, y)
    return finish("atan2", y, out, (input, other))


@printed.binary(arithmetic.hypot, "HypotBackward0", most=LONG, out=None)
def hypot(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``sqrt(input**2 + other**2)`` without overflow.

    Derivative: ``input / result`` and ``other / result``; 0 and 0 at the origin.
    Raises: TypeError: an operand is no tensor. NotImplementedError: integers, complex numbers.

    >>> import compat as torch
    >>> torch.hypot(torch.tensor([3.0]), torch.tensor([4.0]))
    tensor([5.])
    """
    x, y = tensors("hypot", input, other)
    if dtype_of(x).category != 2:
        raise not_implemented("hypot_cpu", x)
    y = by_length("HypotBackward0", arithmetic.hypot, x, y)
    return finish("hypot", y, out, (input, other))


def _degrees(name: str, prim: Any, input: Any, out: Any, node: str) -> Any:
    x = operand(name, 1, "input", input)
    if dtype_of(x) in (dtypes.complex64, dtypes.complex128):
        raise RuntimeError(f"{name} is not supported for complex tensors.")
    return pointwise(name, prim, (x,), out=out, node=node, floating=True)


@printed.unary(trigonometric.deg2rad, "Deg2RadBackward0", out=None)
def deg2rad(input: Any, *, out: Any = None) -> Tensor:
    """``input * pi / 180``: degrees in radians.

    Raises: RuntimeError: complex numbers.

    >>> import compat as torch
    >>> torch.deg2rad(torch.tensor([0.0, 180.0]))
    tensor([0.0000, 3.1416])
    """
    return _degrees("deg2rad", trigonometric.deg2rad, input, out, "Deg2RadBackward0")


@printed.unary(trigonometric.rad2deg, "Rad2DegBackward0", out=None)
def rad2deg(input: Any, *, out: Any = None) -> Tensor:
    """``input * 180 / pi``: radians in degrees.

    Raises: RuntimeError: complex numbers.

    >>> import compat as torch
    >>> torch.rad2deg(torch.tensor([0.0, 1.0]))
    tensor([ 0.0000, 57.2958])
    """
    return _degrees("rad2deg", trigonometric.rad2deg, input, out, "Rad2DegBackward0")


def sinc(input: Any, *, out: Any = None) -> Tensor:
    """``sin(pi input) / (pi input)``, 1 at 0.

    >>> import compat as torch
    >>> torch.sinc(torch.tensor([0.0, 0.5]))
    tensor([1.0000, 0.6366])
    """
    prim = trigonometric.sinc
    return pointwise("sinc", prim, (input,), out=out, node="SincBackward0", floating=True)


# ---------------------------------------------------------------- hyperbolic


@printed.unary(trigonometric.sinh, "SinhBackward0", out=None)
def sinh(input: Any, *, out: Any = None) -> Tensor:
    """``(e**input - e**-input) / 2``.

    >>> import compat as torch
    >>> torch.sinh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.1752])
    """
    prim = trigonometric.sinh
    return pointwise("sinh", prim, (input,), out=out, node="SinhBackward0", floating=True)


@printed.unary(trigonometric.cosh, "CoshBackward0", out=None)
def cosh(input: Any, *, out: Any = None) -> Tensor:
    """``(e**input + e**-input) / 2``.

    >>> import compat as torch
    >>> torch.cosh(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 1.5431])
    """
    prim = trigonometric.cosh
    return pointwise("cosh", prim, (input,), out=out, node="CoshBackward0", floating=True)


@printed.unary(trigonometric.tanh, "TanhBackward0", out=None)
def tanh(input: Any, *, out: Any = None) -> Tensor:
    """``tanh(input)``.

    >>> import compat as torch
    >>> torch.tanh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7616])
    """
    prim = trigonometric.tanh
    return pointwise("tanh", prim, (input,), out=out, node="TanhBackward0", floating=True)


@printed.unary(trigonometric.arcsinh, "AsinhBackward0", out=None)
def asinh(input: Any, *, out: Any = None) -> Tensor:
    """The number with hyperbolic sine `input`.

    >>> import compat as torch
    >>> torch.asinh(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8814])
    """
    prim = trigonometric.arcsinh
    return pointwise("asinh", prim, (input,), out=out, node="AsinhBackward0", floating=True)


@printed.unary(trigonometric.arccosh, "AcoshBackward0", out=None)
def acosh(input: Any, *, out: Any = None) -> Tensor:
    """The number that is not negative and has the hyperbolic cosine `input`; NaN below 1.

    >>> import compat as torch
    >>> torch.acosh(torch.tensor([1.0, 2.0]))
    tensor([0.0000, 1.3170])
    """
    prim = trigonometric.arccosh
    return pointwise("acosh", prim, (input,), out=out, node="AcoshBackward0", floating=True)


@printed.unary(trigonometric.arctanh, "AtanhBackward0", out=None)
def atanh(input: Any, *, out: Any = None) -> Tensor:
    """The number with hyperbolic tangent `input`; NaN outside of [-1, 1].

    >>> import compat as torch
    >>> torch.atanh(torch.tensor([0.0, 0.5]))
    tensor([0.0000, 0.5493])
    """
    prim = trigonometric.arctanh
    return pointwise("atanh", prim, (input,), out=out, node="AtanhBackward0", floating=True)


acos_ = inplace(acos)
acosh_ = inplace(acosh)
asin_ = inplace(asin)
asinh_ = inplace(asinh)
atan_ = inplace(atan)
atanh_ = inplace(atanh)
cos_ = inplace(cos)
cosh_ = inplace(cosh)
deg2rad_ = inplace(deg2rad)
rad2deg_ = inplace(rad2deg)
sin_ = inplace(sin)
sinc_ = inplace(sinc)
sinh_ = inplace(sinh)
tan_ = inplace(tan)
tanh_ = inplace(tanh)

arccos = acos
arccosh = acosh
arcsin = asin
arcsinh = asinh
arctan = atan
arctanh = atanh
arctan2 = atan2
arccos_ = acos_
arccosh_ = acosh_
arcsin_ = asin_
arcsinh_ = asinh_
arctan_ = atan_
arctanh_ = atanh_


class TrigonometricMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    acos = acos
    acos_ = acos_
    acosh = acosh
    acosh_ = acosh_
    arccos = acos
    arccos_ = acos_
    arccosh = acosh
    arccosh_ = acosh_
    arcsin = asin
    arcsin_ = asin_
    arcsinh = asinh
    arcsinh_ = asinh_
    arctan = atan
    arctan2 = atan2
    arctan_ = atan_
    arctanh = atanh
    arctanh_ = atanh_
    asin = asin
    asin_ = asin_
    asinh = asinh
    asinh_ = asinh_
    atan = atan
    atan2 = atan2
    atan2_ = inplace(atan2)
    arctan2_ = atan2_
    atan_ = atan_
    atanh = atanh
    atanh_ = atanh_
    cos = cos
    cos_ = cos_
    cosh = cosh
    cosh_ = cosh_
    deg2rad = deg2rad
    deg2rad_ = deg2rad_
    hypot = hypot
    hypot_ = inplace(hypot)
    rad2deg = rad2deg
    rad2deg_ = rad2deg_
    sin = sin
    sin_ = sin_
    sinc = sinc
    sinc_ = sinc_
    sinh = sinh
    sinh_ = sinh_
    tan = tan
    tan_ = tan_
    tanh = tanh
    tanh_ = tanh_


__all__ = [
    "acos",
    "acos_",
    "acosh",
    "acosh_",
    "arccos",
    "arccos_",
    "arccosh",
    "arccosh_",
    "arcsin",
    "arcsin_",
    "arcsinh",
    "arcsinh_",
    "arctan",
    "arctan2",
    "arctan_",
    "arctanh",
    "arctanh_",
    "asin",
    "asin_",
    "asinh",
    "asinh_",
    "atan",
    "atan2",
    "atan_",
    "atanh",
    "atanh_",
    "cos",
    "cos_",
    "cosh",
    "cosh_",
    "deg2rad",
    "deg2rad_",
    "hypot",
    "rad2deg",
    "rad2deg_",
    "sin",
    "sin_",
    "sinc",
    "sinc_",
    "sinh",
    "sinh_",
    "tan",
    "tan_",
    "tanh",
    "tanh_",
]
