"""Element by element: rounding, signs, bounds, and floating-point numbers taken apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.numpy import elementwise
from funcgrad.ops import rounding
from funcgrad.ops.arithmetic import copysign as copysign_primitive
from funcgrad.ops.arithmetic import ldexp as ldexp_primitive
from funcgrad.ops.arithmetic import multiply
from funcgrad.ops.cast import cast
from funcgrad.ops.logic import greater_equal, isnan, less_equal, logical_or
from funcgrad.ops.select import clip as clip_primitive
from funcgrad.ops.select import maximum as maximum_primitive
from funcgrad.ops.select import minimum as minimum_primitive
from funcgrad.ops.select import nan_to_num as nan_to_num_primitive
from funcgrad.ops.select import stop_gradient, where

from .. import dtypes
from ..autograd import printed
from ..autograd.remembered import remembered_of_several
from ..autograd.tape import record, through
from . import return_types
from ._apply import check_broadcast, finish, inplace
from ._compose import composed, finish_named, not_implemented
from ._elementwise import is_plain, require_real, step, stepped, tensors
from ._operands import (
    convert,
    dtype_of,
    is_number,
    number_for,
    operand,
    plain_options,
    promoted,
    result_type,
)
from .power import pow

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- to whole numbers


def floor(input: Any, *, out: Any = None) -> Tensor:
    """The largest integer that is not above `input`; the derivative is 0.

    Raises: NotImplementedError: booleans, complex numbers.

    >>> import compat as torch
    >>> torch.floor(torch.tensor([-1.5, 1.5]))
    tensor([-2.,  1.])
    """
    return step("floor", rounding.floor, input, out, "FloorBackward0", "floor_vml_cpu")


def ceil(input: Any, *, out: Any = None) -> Tensor:
    """The smallest integer that is not below `input`; the derivative is 0.

    Raises: NotImplementedError: booleans, complex numbers.

    >>> import compat as torch
    >>> torch.ceil(torch.tensor([-1.5, 1.5]))
    tensor([-1.,  2.])
    """
    return step("ceil", rounding.ceil, input, out, "CeilBackward0", "ceil_vml_cpu")


def trunc(input: Any, *, out: Any = None) -> Tensor:
    """`input` rounded towards 0; the derivative is 0.

    Raises: NotImplementedError: booleans, complex numbers.

    >>> import compat as torch
    >>> torch.trunc(torch.tensor([-1.5, 1.5]))
    tensor([-1.,  1.])
    """
    return step("trunc", rounding.trunc, input, out, "TruncBackward0", "trunc_vml_cpu")


def round(input: Any, *, decimals: int = 0, out: Any = None) -> Tensor:
    """`input` rounded to `decimals` places after the point, halves to even; the derivative is 0.

    Raises: NotImplementedError: booleans, complex numbers, integers with `decimals`.

    >>> import compat as torch
    >>> torch.round(torch.tensor([0.5, 1.5, 1.75]))
    tensor([0., 2., 2.])
    """
    if not decimals:
        return step("round", rounding.rint, input, out, "RoundBackward0", "round_vml_cpu")
    x = operand("round", 1, "input", input)
    if not isinstance(decimals, int):
        raise TypeError(f"round(): argument 'decimals' must be int, not {type(decimals).__name__}")
    if dtype_of(x).category != 2:
        raise not_implemented("round_cpu", x)
    y = through(elementwise.round, x, decimals)
    return finish("round", stepped("RoundBackward1", y, x), out, (x,))


def frac(input: Any, *, out: Any = None) -> Tensor:
    """``input - trunc(input)``; the derivative is 1.

    Raises: NotImplementedError: no floats.

    >>> import compat as torch
    >>> torch.frac(torch.tensor([-1.5, 1.25]))
    tensor([-0.5000,  0.2500])
    """
    x = operand("frac", 1, "input", input)
    if dtype_of(x).category != 2:
        raise not_implemented("frac_cpu", x)
    return finish("frac", composed("FracBackward0", _fraction, x), out, (x,))


def _fraction(x: Any, /) -> Any:
    return x - rounding.trunc(x)


# ---------------------------------------------------------------- signs


def sign(input: Any, *, out: Any = None) -> Tensor:
    """-1, 0 or 1, the sign of `input`; 0 for NaN. The derivative is 0.

    Raises: NotImplementedError: complex numbers; see `sgn`.

    >>> import compat as torch
    >>> torch.sign(torch.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """
    x = operand("sign", 1, "input", input)
    if dtype_of(x).category == 3:
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
            "torch.sgn instead."
        )
    return finish("sign", stepped("SignBackward0", _sign(x), x), out, (x,))


def _sign(x: Any) -> Any:
    if dtype_of(x).category == 2:
        return record(where, (record(isnan, (x,)), 0.0, record(rounding.sign, (x,))))
    return record(rounding.sign if dtype_of(x).category else stop_gradient, (x,))


def sgn(input: Any, *, out: Any = None) -> Tensor:
    """``input / |input|``, 0 at 0: `sign` for complex numbers too.

    The derivative is 0 for real numbers, and for complex ones that of the quotient, 0 at 0.

    >>> import compat as torch
    >>> torch.sgn(torch.tensor([3 + 4j, 0j]))
    tensor([0.6000+0.8000j, 0.0000+0.0000j])
    """
    x = operand("sgn", 1, "input", input)
    if dtype_of(x).category == 3:
        return finish("sgn", composed("SgnBackward0", elementwise.sign, x), out, (x,))
    return finish("sgn", stepped("SgnBackward0", _sign(x), x), out, (x,))


def signbit(input: Any, *, out: Any = None) -> Tensor:
    """Whether the sign bit is set: ``input < 0``, or it is -0.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.signbit(torch.tensor([-1.0, -0.0, 0.0]))
    tensor([ True,  True, False])
    """
    x = operand("signbit", 1, "input", input)
    if dtype_of(x).category == 3:
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return finish("signbit", record(rounding.signbit, (x,)), out, (x,))


def copysign(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``|input|`` with the sign of `other`.

    Derivative: 1 or -1 by `input`, 0 where it is 0; 0 by `other`.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.copysign(torch.tensor([2.0, -2.0]), -1)
    tensor([-2., -2.])
    """
    x, y = (
        operand("copysign", 1, "input", input),
        operand("copysign", 2, "other", other, number=True),
    )
    check_broadcast(x, y)
    require_real("copysign_cpu", x, y)
    node = f"CopysignBackward{int(is_number(y))}"
    pair = promoted((x, y), floating=True)
    z = record(copysign_primitive, pair, None, node)
    return finish("copysign", z if is_number(y) else stepped(node, z, pair[1]), out, (x, y))


def heaviside(input: Any, values: Any, *, out: Any = None) -> Tensor:
    """0 where ``input < 0``, 1 where ``input > 0``, `values` where it is 0; 0 for NaN.

    Derivative: by `input` zero, by `values` 1 where ``input`` is 0.
    Raises: RuntimeError: different dtypes, complex numbers.

    >>> import compat as torch
    >>> torch.heaviside(torch.tensor([-1.0, 0.0, 2.0]), torch.tensor(0.5))
    tensor([0.0000, 0.5000, 1.0000])
    """
    x, v = operand("heaviside", 1, "input", input), operand("heaviside", 2, "values", values)
    if dtype_of(x).category == 3 or dtype_of(v).category == 3:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if dtype_of(x) is not dtype_of(v):
        raise RuntimeError(
            "heaviside is not yet implemented for tensors with different dtypes. Convert one of "
            "them first, for example with values.to(input.dtype)."
        )
    check_broadcast(x, v)
    y = convert(record(rounding.heaviside, (x, v)), dtype_of(x))
    if dtype_of(x).category == 2:  # NumPy's is NaN
        y = record(where, (record(isnan, (x,)), 0.0, y))
    return finish("heaviside", y, out, (x, v))


# ---------------------------------------------------------------- bounds


@remembered_of_several
def clamp(input: Any, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
    """``minimum(maximum(input, min), max)``; the bounds are numbers or tensors.

    Derivative: 1 by `input` between the bounds and at them; 1 by a bound where it was taken.
    Raises: RuntimeError: no bound. NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.clamp(torch.tensor([-1.0, 0.5, 2.0]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    node = f"ClampBackward{int(_are_numbers(min, max))}"
    return _clamped("clamp", input, min, max, out, node)


@remembered_of_several
def clamp_min(input: Any, min: Any, *, out: Any = None) -> Tensor:
    """``maximum(input, min)``, but with derivative 1 by `input` where they are equal.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.clamp_min(torch.tensor([-1.0, 2.0]), 0)
    tensor([0., 2.])
    """
    return _clamped(
        "clamp_min", input, min, None, out, f"ClampMinBackward{int(not is_number(min))}"
    )


@remembered_of_several
def clamp_max(input: Any, max: Any, *, out: Any = None) -> Tensor:
    """``minimum(input, max)``, but with derivative 1 by `input` where they are equal.

    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.clamp_max(torch.tensor([-1.0, 2.0]), 0)
    tensor([-1.,  0.])
    """
    return _clamped(
        "clamp_max", input, None, max, out, f"ClampMaxBackward{int(not is_number(max))}"
    )


def _are_numbers(*bounds: Any) -> bool:
    return all(b is None or is_number(b) for b in bounds)


def _are_small(*bounds: Any) -> bool:
    """Whether the bounds fit every dtype of floats."""
    return all(b is None or -65504 <= b <= 65504 or not math.isfinite(b) for b in bounds)


def _clamped(name: str, input: Any, low: Any, high: Any, out: Any, node: str) -> Any:
    if out is None and is_plain(input, low, high) and _are_small(low, high):
        ends = (-math.inf if low is None else low, math.inf if high is None else high)
        return record(clip_primitive, (input, *ends), None, node)
    given = [operand(name, 1, "input", input)]
    for i, (argument, bound) in enumerate((("min", low), ("max", high))):
        if bound is not None:
            given.append(operand(name, i + 2, argument, bound, number=True))
            check_broadcast(given[0], given[-1])
    dtype = result_type(*given)
    if dtype.category == 3:
        raise NotImplementedError("clamp is not supported for complex types")
    if dtype.category == 0 and (_are_numbers(low, high) or None not in (low, high)):
        raise not_implemented("clamp_scalar_cpu", given[0])
    for x in given[1:]:
        if is_number(x):
            number_for(dtype, x)  # which raises if it does not fit
    xs, ends = list(promoted(tuple(given))), _ends(dtype)
    if low is None:
        xs.insert(1, ends[0])
    if high is None:
        xs.append(ends[1])
    form = name if _are_numbers(low, high) else f"{name}.Tensor"  # whose `out` is converted to
    return finish(form, record(clip_primitive, tuple(xs), None, node), out, tuple(given))


def _ends(dtype: dtypes.dtype) -> tuple[Any, Any]:
    """Bounds that bound nothing; at one that does, `clip` gives all to `input`, `maximum` half."""
    if dtype.category == 2:
        return -math.inf, math.inf
    if not dtype.category:
        return False, True
    info = np.iinfo(dtype.numpy)
    return dtype.numpy.type(info.min), dtype.numpy.type(info.max)


def nan_to_num(
    input: Any,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """`input` with numbers in place of NaN and infinities: 0 and the dtype's largest, if not given.

    Derivative: 1, 0 where something was replaced.

    >>> import compat as torch
    >>> torch.nan_to_num(torch.tensor([1.0, torch.nan, torch.inf]), posinf=9.0)
    tensor([1., 0., 9.])
    """
    x = operand("nan_to_num", 1, "input", input)
    params = plain_options({"nan": nan, "posinf": posinf, "neginf": neginf})
    for name, given in params.items():
        if given is not None and (not is_number(given) or isinstance(given, complex)):
            raise TypeError(
                f"nan_to_num(): argument '{name}' must be float, not {type(given).__name__}"
            )
    if dtype_of(x).name == "bfloat16":  # computed in single, whose largest it would not hold
        largest = dtypes.finfo(dtypes.bfloat16).max
        ends = {"posinf": largest, "neginf": -largest}
        params |= {name: end for name, end in ends.items() if params[name] is None}
    params["nan"] = 0.0 if params["nan"] is None else params["nan"]
    if dtype_of(x).category < 2:
        return finish("nan_to_num", record(stop_gradient, (x,)), out, (x,))
    y = record(nan_to_num_primitive, (x,), params, "NanToNumBackward0")
    return finish("nan_to_num", y, out, (x,))


# ---------------------------------------------------------------- the larger, the smaller


def _extreme(name: str, prim: Any, input: Any, other: Any, out: Any) -> Any:
    x, y = _real_tensors(name, input, other)
    z = record(prim, (x, y), None, f"{name.capitalize()}Backward0")
    return finish(name, z, out, (input, other))


def _real_tensors(name: str, input: Any, other: Any) -> tuple[Any, ...]:
    xs = tensors(name, input, other)
    if dtype_of(xs[0]).category == 3:
        raise RuntimeError(f"{name} not implemented for complex tensors.")
    return xs


@printed.binary(maximum_primitive, "MaximumBackward0", out=None)
def maximum(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The larger of `input` and `other`; NaN if either is. Equal operands share the derivative.

    Raises: TypeError: an operand is no tensor. RuntimeError: complex numbers.

    >>> import compat as torch
    >>> torch.maximum(torch.tensor([1.0, 5.0]), torch.tensor(3.0))
    tensor([3., 5.])
    """
    return _extreme("maximum", maximum_primitive, input, other, out)


@printed.binary(minimum_primitive, "MinimumBackward0", out=None)
def minimum(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The smaller of `input` and `other`; NaN if either is. Equal operands share the derivative.

    Raises: TypeError: an operand is no tensor. RuntimeError: complex numbers.

    >>> import compat as torch
    >>> torch.minimum(torch.tensor([1.0, 5.0]), torch.tensor(3.0))
    tensor([1., 3.])
    """
    return _extreme("minimum", minimum_primitive, input, other, out)


def fmax(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The larger of `input` and `other`, or the other where one is NaN.

    Derivative: that of the operand taken; of equal ones `input`.
    Raises: TypeError: an operand is no tensor. RuntimeError: complex numbers.

    >>> import compat as torch
    >>> torch.fmax(torch.tensor([1.0, torch.nan]), torch.tensor(0.0))
    tensor([1., 0.])
    """
    return _preferred("fmax", greater_equal, input, other, out)


def fmin(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The smaller of `input` and `other`, or the other where one is NaN.

    Derivative: that of the operand taken; of equal ones `input`.
    Raises: TypeError: an operand is no tensor. RuntimeError: complex numbers.

    >>> import compat as torch
    >>> torch.fmin(torch.tensor([1.0, torch.nan]), torch.tensor(0.0))
    tensor([0., 0.])
    """
    return _preferred("fmin", less_equal, input, other, out)


def _preferred(name: str, before: Any, input: Any, other: Any, out: Any) -> Any:
    x, y = _real_tensors(name, input, other)
    first = record(logical_or, (record(before, (x, y)), record(isnan, (y,))))
    z = record(where, (first, x, y), None, f"{name.capitalize()}Backward0")
    return finish(name, z, out, (input, other))


# ---------------------------------------------------------------- floating-point numbers


def nextafter(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The floating-point number after `input` in the direction of `other`; the derivative is 1.

    Raises: TypeError: an operand is no tensor. NotImplementedError: no floats.

    >>> import compat as torch
    >>> (torch.nextafter(torch.tensor(1.0), torch.tensor(2.0)) - 1).item()
    1.1920928955078125e-07
    """
    x, y = tensors("nextafter", input, other)
    if dtype_of(x).category != 2:
        raise not_implemented("nextafter_cpu", x)
    z = record(rounding.nextafter, (x, y), None, "NextafterBackward0")
    return finish("nextafter", z, out, (input, other))


def _scaled(x: Any, e: Any, /) -> Any:
    """``x * 2**e``, where the power need not fit the dtype."""
    wide = cast(x, dtype=np.dtype(np.float64)) * 2.0 ** e.astype(np.float64)
    return cast(wide, dtype=np.dtype(x.dtype))


def ldexp(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input * 2**other``.

    Raises: TypeError: an operand is no tensor.

    >>> import compat as torch
    >>> torch.ldexp(torch.tensor([1.0, 3.0]), torch.tensor(2))
    tensor([ 4., 12.])
    """
    x, e = operand("ldexp", 1, "input", input), operand("ldexp", 2, "other", other)
    check_broadcast(x, e)
    if dtype_of(x).category == 2 and dtype_of(e).category < 2:
        if dtype_of(e) is dtypes.bool:
            raise not_implemented("ldexp_cpu_exp", e)
        y = composed("LdexpBackward0", _scaled, x, e)  # in the dtype of x, whatever the shapes
    else:
        y = record(multiply, promoted((x, pow(2.0, e))), None, "LdexpBackward0")
    return finish("ldexp", y, out, (x, e))


_frexp_type = return_types._named("frexp", "mantissa", "exponent")


def frexp(input: Any, *, out: Any = None) -> Any:
    """The mantissa, in [1/2, 1), and the exponent with ``input = mantissa * 2**exponent``.

    Derivative: of the mantissa ``2**-exponent``.
    Raises: RuntimeError: no floats.

    >>> import compat as torch
    >>> torch.frexp(torch.tensor([3.0, -5.0]))
    torch.return_types.frexp(
    mantissa=tensor([ 0.7500, -0.6250]),
    exponent=tensor([2, 3], dtype=torch.int32))
    """
    x = operand("frexp", 1, "input", input)
    if dtype_of(x).category != 2:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    exponent = record(rounding.binary_exponent, (x,))
    mantissa = record(ldexp_primitive, (x, -exponent), None, "FrexpBackward0")
    return finish_named("frexp", _frexp_type, (mantissa, exponent), out, (x,))


ceil_ = inplace(ceil)
clamp_ = inplace(clamp)
clamp_max_ = inplace(clamp_max)
clamp_min_ = inplace(clamp_min)
floor_ = inplace(floor)
frac_ = inplace(frac)
ldexp_ = inplace(ldexp)
nan_to_num_ = inplace(nan_to_num)
round_ = inplace(round)
trunc_ = inplace(trunc)

clip = clamp
clip_ = clamp_
fix = trunc
fix_ = trunc_


class RoundingMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    ceil = ceil
    ceil_ = ceil_
    clamp = clamp
    clamp_ = clamp_
    clamp_max = clamp_max
    clamp_max_ = clamp_max_
    clamp_min = clamp_min
    clamp_min_ = clamp_min_
    clip = clamp
    clip_ = clamp_
    copysign = copysign
    copysign_ = inplace(copysign)
    fix = trunc
    fix_ = trunc_
    floor = floor
    floor_ = floor_
    fmax = fmax
    fmin = fmin
    frac = frac
    frac_ = frac_
    frexp = frexp
    heaviside = heaviside
    heaviside_ = inplace(heaviside)
    ldexp = ldexp
    ldexp_ = ldexp_
    maximum = maximum
    minimum = minimum
    nan_to_num = nan_to_num
    nan_to_num_ = nan_to_num_
    nextafter = nextafter
    nextafter_ = inplace(nextafter)
    round = round
    round_ = round_
    sgn = sgn
    sgn_ = inplace(sgn)
    sign = sign
    sign_ = inplace(sign)
    signbit = signbit
    trunc = trunc
    trunc_ = trunc_


__all__ = [
    "ceil",
    "ceil_",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_max_",
    "clamp_min",
    "clamp_min_",
    "clip",
    "clip_",
    "copysign",
    "fix",
    "fix_",
    "floor",
    "floor_",
    "fmax",
    "fmin",
    "frac",
    "frac_",
    "frexp",
    "heaviside",
    "ldexp",
    "ldexp_",
    "maximum",
    "minimum",
    "nan_to_num",
    "nan_to_num_",
    "nextafter",
    "round",
    "round_",
    "sgn",
    "sign",
    "signbit",
    "trunc",
    "trunc_",
]
