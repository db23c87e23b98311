"""Activation functions, element by element, with the signatures of `nn.functional`.

`relu`, `sigmoid` and `tanh` are with the other elementwise functions, the softmax in `softmax.py`.
Those that PyTorch has as ``torch.<name>`` too are in `__all__`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import aval_of
from funcgrad.nn import activations
from funcgrad.ops import arithmetic, exponential
from funcgrad.ops.cumulative import part
from funcgrad.ops.exponential import logaddexp
from funcgrad.ops.logic import greater, less_equal
from funcgrad.ops.rounding import sign
from funcgrad.ops.select import where

from ..autograd import printed
from ..autograd.remembered import remembered
from ..autograd.tape import record, through
from ._apply import _type_word, finish
from ._apply import inplace as in_place
from ._axes import axis_of
from ._compose import composed, not_implemented, require_real_floats
from ._elementwise import is_half
from ._fused import LONG, by_length, fused, is_long
from ._layout import in_order
from ._operands import dtype_of, is_number, number_for, operand, plain_number, promoted
from .exponential import sigmoid
from .like import empty_like
from .pointwise import add, mul
from .rounding import clamp
from .special import ndtr
from .trigonometric import tanh

if TYPE_CHECKING:
    from .._tensor import Tensor


def _floats(name: str, input: Any, kernel: str) -> Any:
    """The operand, a tensor of real floats."""
    x = operand(name, 1, "input", input)
    require_real_floats(kernel, x)
    return x


def _rounded(node: str, f: Callable[..., Any], x: Any, **options: Any) -> Any:
    """`fused` of one tensor; halves are computed in single precision and rounded once, as the
    products of slopes in half precision lose all digits where these are small.
    """
    if is_half(x):
        return composed(node, _in_single, x, f=f, **options)
    return fused(node, f, x, **options)


def _in_single(x: Any, /, *, f: Callable[..., Any], **options: Any) -> Any:
    return f(x.astype(np.float32), **options).astype(aval_of(x).dtype)


def _gate(node: str) -> Callable[[Any, Any], Any]:
    """The product of two tensors that ends an activation, whose node is called `node`."""

    @printed.binary(arithmetic.multiply, node, node)
    def gate(input: Any, other: Any) -> Any:
        return record(arithmetic.multiply, (input, other), None, node)

    return gate


_gelu, _glu, _mish, _silu = (_gate(f"{n}Backward0") for n in ("Gelu", "Glu", "Mish", "Silu"))


@printed.unary(exponential.sigmoid, "SigmoidBackward0")
def _sigmoid(input: Any) -> Any:
    return record(exponential.sigmoid, (input,), None, "SigmoidBackward0")


# ---------------------------------------------------------------- bent at 0


@remembered
def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`input` where it is positive, elsewhere `negative_slope` times it; at 0 the latter's slope.

    >>> import compat as torch
    >>> leaky_relu(torch.tensor([-1.0, 2.0]), 0.5)
    tensor([-0.5000,  2.0000])
    """
    if inplace:
        return leaky_relu_(input, negative_slope)
    x = _floats("leaky_relu", input, "leaky_relu_cpu")
    slope = number_for(dtype_of(x), negative_slope)
    return _rounded("LeakyReluBackward0", _bent, x, slope=slope)


def _bent(x: Any, slope: Any) -> Any:
    return where(greater(x, 0.0), x, x * slope)


def rrelu(
    input: Any,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """`leaky_relu` with the slope ``(lower + upper) / 2``; in `training` each has its own, between.

    Raises: RuntimeError: `lower` is greater than `upper`.

    >>> import compat as torch
    >>> torch.rrelu(torch.tensor([-1.0, 2.0]), 0.25, 0.75)
    tensor([-0.5000,  2.0000])
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        raise RuntimeError(f"rrelu: expected finite bounds, but got {lower} and {upper}")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if inplace:
        return rrelu_(input, lower, upper, training)
    x = _floats("rrelu", input, "rrelu_with_noise_out_cpu")
    node = "RreluWithNoiseBackward0"
    if training:
        slopes = empty_like(x, requires_grad=False)
        return fused(node, _bent, x, slopes.uniform_(lower, upper))
    return fused(node, _bent, x, slope=(lower + upper) / 2)


def prelu(input: Any, weight: Any) -> Tensor:
    """`leaky_relu` whose slope is learnt: one number, or one per channel, which axis 1 counts.

    Raises: RuntimeError: the weights do not fit, or are of another dtype.

    >>> import compat as torch
    >>> torch.prelu(torch.tensor([-1.0, 2.0]), torch.tensor(0.25))
    tensor([-0.2500,  2.0000])
    """
    x, w = operand("prelu", 1, "input", input), operand("prelu", 2, "weight", weight)
    if dtype_of(x) is not dtype_of(w):
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {_type_word(dtype_of(x))} and "
            f"{_type_word(dtype_of(w))}"
        )
    shape, given = x._array.shape, w._array.shape
    if len(given) > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {len(given)}"
        )
    count = math.prod(given)
    if count != 1:
        channels = shape[1] if len(shape) > 1 else 1
        if count != channels:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{count} and channel size = {channels}."
            )
    return fused("PreluKernelBackward0", _prelu, x, w)


def _prelu(x: Any, w: Any, /) -> Any:
    w = w.reshape((-1,) + (1,) * (x.ndim - 2) if w.size != 1 else ())
    return where(greater(x, 0), x, w * x)


@remembered
def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where it is positive, elsewhere ``alpha * (exp(input) - 1)``; at 0 the latter's slope.

    >>> import compat as torch
    >>> elu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    if inplace:
        return elu_(input, alpha)
    x = _floats("elu", input, "elu_cpu")
    alpha = number_for(dtype_of(x), alpha)
    return fused("EluBackward0", activations.elu, x, alpha=alpha)


@remembered
def selu(input: Any, inplace: bool = False) -> Tensor:
    """``scale * elu(input, alpha)`` with the constants that keep mean 0 and variance 1.

    >>> import compat as torch
    >>> torch.selu(torch.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    if inplace:
        return selu_(input)
    x = _floats("selu", input, "elu_cpu")
    return _rounded("EluBackward0", activations.selu, x)


@remembered
def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where it is positive, elsewhere ``alpha * (exp(input / alpha) - 1)``: slope 1 at 0.

    Raises: RuntimeError: `alpha` is 0.

    >>> import compat as torch
    >>> torch.celu(torch.tensor([-1.0, 2.0]), 2.0)
    tensor([-0.7869,  2.0000])
    """
    if inplace:
        return celu_(input, alpha)
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    x = _floats("celu", input, "elu_cpu")
    if alpha == 1:
        return _rounded("CeluBackward0", activations.elu, x)
    return _rounded("CeluBackward0", activations.celu, x, alpha=alpha)


# ---------------------------------------------------------------- smooth


def gelu(input: Any, *, approximate: str = "none", out: Any = None) -> Tensor:
    """`input` times the normal distribution function of it; "tanh" is an approximation.

    Raises: RuntimeError: `approximate` is neither "none" nor "tanh".

    >>> import compat as torch
    >>> gelu(torch.tensor([-1.0, 2.0]))
    tensor([-0.1587,  1.9545])
    """
    x = _floats("gelu", input, "GeluKernelImpl")
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    if is_long(x) or is_half(x):
        y = _rounded("GeluBackward0", activations.gelu, x, approximate=approximate == "tanh")
        return finish("gelu", y, out, (x,))
    if approximate == "none":
        return finish("gelu", _gelu(x, ndtr(x)), out, (x,))
    # (1 + tanh(u)) / 2 is sigmoid(2 u), which does not cancel
    near = clamp(x, -activations.GELU_ENDS, activations.GELU_ENDS)
    inner = mul(mul(add(mul(mul(near, near), 0.044715), 1.0), near), math.sqrt(8.0 / math.pi))
    return finish("gelu", _gelu(x, _sigmoid(inner)), out, (x,))


def silu(input: Any, inplace: bool = False) -> Tensor:
    """``input / (1 + exp(-input))``.

    >>> import compat as torch
    >>> silu(torch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    if inplace:
        return silu_(input)
    x = operand("silu", 1, "input", input)
    if dtype_of(x).category < 2:
        raise not_implemented("silu_cpu", x)
    if is_long(x) or is_half(x):
        return _rounded("SiluBackward0", activations.silu, x)
    return _silu(x, _sigmoid(x) if dtype_of(x).category == 2 else sigmoid(x))


@remembered
def mish(input: Any, inplace: bool = False) -> Tensor:
    """``input * tanh(log(1 + exp(input)))``.

    >>> import compat as torch
    >>> mish(torch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """
    if inplace:
        return mish_(input)
    x = _floats("mish", input, "mish_cpu")
    if is_long(x) or is_half(x):
        return _rounded("MishBackward0", activations.mish, x)
    return _mish(x, tanh(record(logaddexp, (x, 0.0), None, "SoftplusBackward0")))


@remembered
def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0, *, out: Any = None) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``; `input` itself where ``beta * input > threshold``.

    >>> import compat as torch
    >>> softplus(torch.tensor([0.0, 1000.0]))
    tensor([6.9315e-01, 1.0000e+03])
    """
    x = _floats("softplus", input, "softplus_cpu")
    for name, given in (("beta", beta), ("threshold", threshold)):
        if not is_number(plain_number("softplus", name, given)):
            raise TypeError(
                f"softplus(): argument '{name}' must be Number, not {type(given).__name__}"
            )
    y = _rounded("SoftplusBackward0", _softplus, x, beta=beta, threshold=threshold)
    return finish("softplus", y, out, (x,))


def _softplus(x: Any, /, *, beta: float, threshold: float) -> Any:
    stretched = x * beta
    linear = greater(stretched, threshold)
    return where(linear, x, logaddexp(where(linear, 0.0, stretched), 0.0) / beta)


@printed.unary(exponential.log_expit, "LogSigmoidBackward0", most=LONG, out=None)
@remembered
def logsigmoid(input: Any, *, out: Any = None) -> Tensor:
    """``-log(1 + exp(-input))``, without overflow.

    >>> import compat as torch
    >>> logsigmoid(torch.tensor([0.0, -1000.0]))
    tensor([-6.9315e-01, -1.0000e+03])
    """
    x = _floats("logsigmoid", input, "log_sigmoid_cpu")
    y = by_length("LogSigmoidBackward0", exponential.log_expit, x)
    return finish("logsigmoid", y, out, (x,), quiet=True)


@remembered
def softsign(input: Any) -> Tensor:
    """``input / (1 + |input|)``.

    >>> import compat as torch
    >>> softsign(torch.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """
    (x,) = promoted((operand("softsign", 1, "input", input),), floating=True)
    return fused("DivBackward0", activations.soft_sign, x)


@remembered
def tanhshrink(input: Any) -> Tensor:
    """``input - tanh(input)``.

    >>> import compat as torch
    >>> tanhshrink(torch.tensor([-1.0, 2.0]))
    tensor([-0.2384,  1.0360])
    """
    (x,) = promoted((operand("tanhshrink", 1, "input", input),), floating=True)
    return record(arithmetic.subtract, (x, tanh(x)), None, "SubBackward0")


@remembered
def glu(input: Any, dim: int = -1) -> Tensor:
    """``a * sigmoid(b)`` of the two halves of `input` along `dim`.

    Raises: RuntimeError: the two halves are not equally long, or there is no dimension.

    >>> import compat as torch
    >>> glu(torch.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """
    x = _floats("glu", input, "glu_cpu")
    shape = x._array.shape
    if not shape:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    axis = axis_of(len(shape), dim)
    half, odd = divmod(shape[axis], 2)
    if odd:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {axis} is size {shape[axis]}"
        )
    if is_long(x) or is_half(x):
        return in_order(_rounded("GluBackward0", activations.glu, x, axis=axis))
    return in_order(_glu(through(part, x, axis, 0, half), _sigmoid(through(part, x, axis, half))))


# ---------------------------------------------------------------- with constant parts


@remembered
def hardtanh(
    input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """``min(max(input, min_val), max_val)``; at the bounds the derivative is 0.

    Raises: ValueError: `min_val` is greater than `max_val`.

    >>> import compat as torch
    >>> hardtanh(torch.tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return hardtanh_(input, min_val, max_val)
    x = operand("hardtanh", 1, "input", input)
    low, high = (number_for(dtype_of(x), v) for v in (min_val, max_val))
    return fused("HardtanhBackward0", activations.between, x, low=low, high=high)


@remembered
def relu6(input: Any, inplace: bool = False) -> Tensor:
    """``min(max(input, 0), 6)``; at the bounds the derivative is 0.

    >>> import compat as torch
    >>> relu6(torch.tensor([-1.0, 2.0, 7.0]))
    tensor([0., 2., 6.])
    """
    x = operand("relu6", 1, "input", input)
    return hardtanh(x, 0.0, 6.0, inplace)


@remembered
def hardsigmoid(input: Any, inplace: bool = False) -> Tensor:
    """``min(max(input / 6 + 1 / 2, 0), 1)``; at the bounds the derivative is 0.

    >>> import compat as torch
    >>> hardsigmoid(torch.tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """
    if inplace:
        return hardsigmoid_(input)
    x = _floats("hardsigmoid", input, "hardsigmoid_cpu")
    return _rounded("HardsigmoidBackward0", activations.hard_sigmoid, x)


@remembered
def hardswish(input: Any, inplace: bool = False) -> Tensor:
    """``input * min(max(input + 3, 0), 6) / 6``; the slope at -3 is 0, at 3 it is 1.

    >>> import compat as torch
    >>> hardswish(torch.tensor([1.0, 4.0]))
    tensor([0.6667, 4.0000])
    """
    if inplace:
        return hardswish_(input)
    x = _floats("hardswish", input, "hardswish_cpu")
    return _rounded("HardswishBackward0", activations.hard_silu, x)


@remembered
def softshrink(input: Any, lambd: float = 0.5, *, out: Any = None) -> Tensor:
    """`input` brought nearer to 0 by `lambd`; 0, with derivative 0, where ``|input| <= lambd``.

    Raises: RuntimeError: `lambd` is negative.

    >>> import compat as torch
    >>> softshrink(torch.tensor([-1.0, 0.25, 2.0]))
    tensor([-0.5000,  0.0000,  1.5000])
    """
    x = _floats("softshrink", input, "softshrink_check")
    if lambd < 0:
        raise RuntimeError(
            f"lambda must be in range [0, inf) for input dtype {_type_word(dtype_of(x))}, but found "
            f"{lambd:g}"
        )
    return finish(
        "softshrink", _rounded("SoftshrinkBackward0", _softshrink, x, by=lambd), out, (x,)
    )


def _softshrink(x: Any, /, *, by: float) -> Any:
    return where(less_equal(arithmetic.absolute(x), by), 0.0, x - sign(x) * by)


@remembered
def hardshrink(input: Any, lambd: float = 0.5, *, out: Any = None) -> Tensor:
    """`input`, but 0, with derivative 0, where ``|input| <= lambd``.

    >>> import compat as torch
    >>> torch.hardshrink(torch.tensor([-1.0, 0.25, 2.0]))
    tensor([-1.,  0.,  2.])
    """
    x = _floats("hardshrink", input, "hardshrink_cpu")
    bound = number_for(dtype_of(x), lambd)
    return finish(
        "hardshrink", fused("HardshrinkBackward0", _hardshrink, x, bound=bound), out, (x,)
    )


def _hardshrink(x: Any, /, *, bound: float) -> Any:
    return where(less_equal(arithmetic.absolute(x), bound), 0.0, x)


@remembered
def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`input` where it is greater than `threshold`, elsewhere `value`, with derivative 0.

    >>> import compat as torch
    >>> torch.threshold(torch.tensor([-1.0, 2.0]), 0.0, 5.0)
    tensor([5., 2.])
    """
    if inplace:
        return threshold_(input, threshold, value)
    x = operand("threshold", 1, "input", input)
    bound, new = (number_for(dtype_of(x), v) for v in (threshold, value))
    return fused("ThresholdBackward0", _threshold, x, bound=bound, new=new)


def _threshold(x: Any, /, *, bound: float, new: float) -> Any:
    return where(less_equal(x, bound), new, x)


celu_ = in_place(celu)
elu_ = in_place(elu)
hardsigmoid_ = in_place(hardsigmoid)
hardswish_ = in_place(hardswish)
hardtanh_ = in_place(hardtanh)
leaky_relu_ = in_place(leaky_relu)
mish_ = in_place(mish)
rrelu_ = in_place(rrelu)
selu_ = in_place(selu)
silu_ = in_place(silu)
threshold_ = in_place(threshold)


class ActivationMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    hardshrink = hardshrink
    prelu = prelu


__all__ = [
    "celu",
    "celu_",
    "hardshrink",
    "prelu",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "threshold",
    "threshold_",
]
