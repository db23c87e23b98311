"""Element by element: exponentials, logarithms and the logistic function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from funcgrad.ops import exponential, special
from funcgrad.ops.arithmetic import reciprocal
from funcgrad.ops.complex import real
from funcgrad.ops.logic import greater, greater_equal, less
from funcgrad.ops.select import clip, where

from .. import dtypes
from ..autograd import printed
from ..autograd.remembered import remembered_of_several
from ..autograd.tape import record
from ._apply import finish, inplace, pointwise
from ._compose import composed, not_implemented
from ._elementwise import floats, numbers_too, require_real, tensors
from ._fused import LONG, by_length
from ._operands import dtype_of, is_number, operand, plain_number, promoted

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- exponentials


@printed.unary(exponential.exp, "ExpBackward0", out=None)
def exp(input: Any, *, out: Any = None) -> Tensor:
    """``e ** input``.

    >>> import compat as torch
    >>> torch.exp(torch.tensor([0.0, 1.0]))
    tensor([1.0000, 2.7183])
    """
    return pointwise("exp", exponential.exp, (input,), out=out, node="ExpBackward0", floating=True)


@printed.unary(exponential.exp2, "Exp2Backward0", out=None)
def exp2(input: Any, *, out: Any = None) -> Tensor:
    """``2 ** input``.

    >>> import compat as torch
    >>> torch.exp2(torch.tensor([0.0, 3.0]))
    tensor([1., 8.])
    """
    prim = exponential.exp2
    return pointwise("exp2", prim, (input,), out=out, node="Exp2Backward0", floating=True)


@printed.unary(exponential.expm1, "Expm1Backward0", out=None)
def expm1(input: Any, *, out: Any = None) -> Tensor:
    """``e ** input - 1``, accurate near 0.

    >>> import compat as torch
    >>> torch.expm1(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 1.7183])
    """
    prim = exponential.expm1
    return pointwise("expm1", prim, (input,), out=out, node="Expm1Backward0", floating=True)


# ---------------------------------------------------------------- logarithms


@printed.unary(exponential.log, "LogBackward0", out=None)
def log(input: Any, *, out: Any = None) -> Tensor:
    """``log(input)``, to base e: minus infinity at 0, NaN below.

    >>> import compat as torch
    >>> torch.log(torch.tensor([1.0, 10.0]))
    tensor([0.0000, 2.3026])
    """
    return pointwise("log", exponential.log, (input,), out=out, node="LogBackward0", floating=True)


@printed.unary(exponential.log2, "Log2Backward0", out=None)
def log2(input: Any, *, out: Any = None) -> Tensor:
    """``log(input) / log(2)``.

    >>> import compat as torch
    >>> torch.log2(torch.tensor([1.0, 8.0]))
    tensor([0., 3.])
    """
    prim = exponential.log2
    return pointwise("log2", prim, (input,), out=out, node="Log2Backward0", floating=True)


@printed.unary(exponential.log10, "Log10Backward0", out=None)
def log10(input: Any, *, out: Any = None) -> Tensor:
    """``log(input) / log(10)``.

    >>> import compat as torch
    >>> torch.log10(torch.tensor([1.0, 1000.0]))
    tensor([0., 3.])
    """
    prim = exponential.log10
    return pointwise("log10", prim, (input,), out=out, node="Log10Backward0", floating=True)


@printed.unary(exponential.log1p, "Log1PBackward0", out=None)
def log1p(input: Any, *, out: Any = None) -> Tensor:
    """``log(1 + input)``, accurate near 0.

    >>> import compat as torch
    >>> torch.log1p(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.6931])
    """
    prim = exponential.log1p
    return pointwise("log1p", prim, (input,), out=out, node="Log1PBackward0", floating=True)


@printed.binary(exponential.logaddexp, "LogaddexpBackward0", most=LONG, out=None)
@remembered_of_several
def logaddexp(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``log(e**input + e**other)`` without overflow.

    Raises: TypeError: an operand is no tensor. NotImplementedError: integers.

    >>> import compat as torch
    >>> torch.logaddexp(torch.tensor([0.0, 1000.0]), torch.tensor([0.0, 0.0]))
    tensor([6.9315e-01, 1.0000e+03])
    """
    x, y = tensors("logaddexp", input, other)
    if dtype_of(x).category == 3:
        z = composed("LogaddexpBackward0", _complex_logaddexp, x, y)
        return finish("logaddexp", z, out, (input, other))
    return _log_of_sum("logaddexp", exponential.logaddexp, input, other, out)


def _complex_logaddexp(x: Any, y: Any, /) -> Any:
    first = greater_equal(real(x), real(y))
    larger, smaller = where(first, x, y), where(first, y, x)
    return larger + exponential.log1p(exponential.exp(smaller - larger))


@printed.binary(exponential.logaddexp2, "Logaddexp2Backward0", most=LONG, out=None)
@remembered_of_several
def logaddexp2(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``log2(2**input + 2**other)`` without overflow.

    Raises: TypeError: an operand is no tensor. NotImplementedError: integers, complex numbers.

    >>> import compat as torch
    >>> torch.logaddexp2(torch.tensor([0.0, 3000.0]), torch.tensor([0.0, 0.0]))
    tensor([1.0000e+00, 3.0000e+03])
    """
    return _log_of_sum("logaddexp2", exponential.logaddexp2, input, other, out)


def _log_of_sum(name: str, prim: Any, input: Any, other: Any, out: Any) -> Any:
    x, y = tensors(name, input, other)
    if dtype_of(x).category != 2:
        raise not_implemented(f"{name}_cpu", x)
    z = by_length(f"{name.capitalize()}Backward0", prim, x, y)
    return finish(name, z, out, (input, other))


@remembered_of_several
def xlogy(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input * log(other)``, 0 where `input` is 0 and `other` no NaN.

    Derivative: ``log(other)`` and ``input / other``; 0 and 0 at (0, 0).
    Raises: TypeError: no operand is a tensor. NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.xlogy(torch.tensor([0.0, 2.0]), torch.tensor([0.0, 1.0]))
    tensor([0., 0.])
    """
    return times_log("xlogy", exponential.xlogy, input, other, out, "Xlogy")


def times_log(name: str, prim: Any, input: Any, other: Any, out: Any, node: str) -> Any:
    """The primitive `xlogy` or `xlog1py`, of two operands of which one may be a number."""
    x, y = numbers_too(name, input, other)
    require_real(f"{name}_cpu", x, y)
    number = 2 if is_number(y) else int(is_number(x))
    z = record(prim, promoted((x, y), floating=True), None, f"{node}Backward{number}")
    return finish(name, z, out, (x, y))


# ---------------------------------------------------------------- the logistic function


@printed.unary(exponential.sigmoid, "SigmoidBackward0", most=LONG, out=None)
def sigmoid(input: Any, *, out: Any = None) -> Tensor:
    """``1 / (1 + e**-input)``, without overflow.

    >>> import compat as torch
    >>> torch.sigmoid(torch.tensor([0.0, -1000.0]))
    tensor([0.5000, 0.0000])
    """
    x = floats("sigmoid", input)
    if dtype_of(x).category == 3:
        return finish("sigmoid", composed("SigmoidBackward0", _complex_sigmoid, x), out, (x,))
    return finish("sigmoid", by_length("SigmoidBackward0", exponential.sigmoid, x), out, (x,))


def _complex_sigmoid(x: Any, /) -> Any:
    return reciprocal(1.0 + exponential.exp(-x))


def logit(input: Any, eps: float | None = None, *, out: Any = None) -> Tensor:
    """``log(input / (1 - input))``; `input` is first brought into ``[eps, 1 - eps]``, if given.

    Derivative: 0 where it was brought there.
    Raises: NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.logit(torch.tensor([0.5, 0.75]))
    tensor([0.0000, 1.0986])
    """
    x = floats("logit", input, "logit_cpu")
    eps = plain_number("logit", "eps", eps)
    inside = x if eps is None else _between(x, float(eps), 1.0 - float(eps))
    return finish("logit", record(special.logit, (inside,), None, "LogitBackward0"), out, (x,))


def _between(x: Any, low: float, high: float) -> Any:
    """`x` brought into the interval; what is below `low` is `low`, be that above `high`."""
    if low <= high:
        return record(clip, (x, low, high))
    inside = record(where, (record(greater, (x, high)), high, x))
    return record(where, (record(less, (x, low)), low, inside))


@printed.unary(special.relu, "ReluBackward0")
def relu(input: Any) -> Tensor:
    """``max(input, 0)``; the derivative is 0 at 0.

    Raises: RuntimeError: booleans. NotImplementedError: complex numbers.

    >>> import compat as torch
    >>> torch.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    x = operand("relu", 1, "input", input)
    if dtype_of(x) is dtypes.bool:
        raise RuntimeError("Boolean inputs not supported for relu")
    if dtype_of(x).category == 3:
        raise NotImplementedError("clamp is not supported for complex types")
    return record(special.relu, (x,), None, "ReluBackward0")


exp_ = inplace(exp)
exp2_ = inplace(exp2)
expm1_ = inplace(expm1)
log_ = inplace(log)
log10_ = inplace(log10)
log1p_ = inplace(log1p)
log2_ = inplace(log2)
logit_ = inplace(logit)
relu_ = inplace(relu)
sigmoid_ = inplace(sigmoid)
xlogy_ = inplace(xlogy)


class ExponentialMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    exp = exp
    exp2 = exp2
    exp2_ = exp2_
    exp_ = exp_
    expm1 = expm1
    expm1_ = expm1_
    log = log
    log10 = log10
    log10_ = log10_
    log1p = log1p
    log1p_ = log1p_
    log2 = log2
    log2_ = log2_
    log_ = log_
    logaddexp = logaddexp
    logaddexp2 = logaddexp2
    logit = logit
    logit_ = logit_
    relu = relu
    relu_ = relu_
    sigmoid = sigmoid
    sigmoid_ = sigmoid_
    xlogy = xlogy
    xlogy_ = xlogy_


__all__ = [
    "exp",
    "exp2",
    "exp2_",
    "exp_",
    "expm1",
    "expm1_",
    "log",
    "log1p",
    "log1p_",
    "log2",
    "log2_",
    "log10",
    "log10_",
    "log_",
    "logaddexp",
    "logaddexp2",
    "logit",
    "logit_",
    "relu",
    "relu_",
    "sigmoid",
    "sigmoid_",
    "xlogy",
    "xlogy_",
]
