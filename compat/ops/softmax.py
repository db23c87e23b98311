"""The family of the softmax: logsumexp, softmax, log_softmax, softmin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from funcgrad.ops import softmax as primitives
from funcgrad.ops import structural
from funcgrad.ops.arithmetic import negative
from funcgrad.ops.complex import real
from funcgrad.ops.exponential import exp, log
from funcgrad.ops.logic import isfinite
from funcgrad.ops.reduce import max as largest
from funcgrad.ops.select import stop_gradient, where

from .. import dtypes
from ..autograd import sites
from ..autograd.remembered import remembered
from ..autograd.tape import record
from ._apply import finish
from ._axes import axes_of, axis_of
from ._compose import composed, keep, require_real_floats
from ._fused import fused
from ._layout import in_order
from ._operands import convert, dtype_of, operand

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- logsumexp


@remembered
def logsumexp(input: Any, dim: Any, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """``log(sum_i exp(input_i))`` along `dim`, without overflow; -inf of nothing.

    Its derivative is the softmax; where everything is -inf it is 0.

    >>> import compat as torch
    >>> torch.logsumexp(torch.tensor([1000.0, 1000.0]), dim=0)
    tensor(1000.6932)
    """
    input = operand("logsumexp", 1, "input", input)
    x = input
    if dtype_of(x).category < 2:
        x = convert(x, dtypes.get_default_dtype())
    axes = axes_of("logsumexp", len(x._array.shape), dim)
    node = "LogsumexpBackward0"
    if dtype_of(x).category == 3:
        y = composed(node, _complex_logsumexp, x, axis=axes)
    else:
        y = fused(node, primitives.logsumexp, x, axis=axes)
    return finish("logsumexp", keep(y, axes, keepdim), out, (input,))


def _complex_logsumexp(x: Any, /, *, axis: tuple[int, ...]) -> Any:
    """As for real numbers, shifted by the largest real part."""
    if not math.prod(x.shape[a] for a in axis):
        return log(structural.sum(x, axis=axis))
    m = stop_gradient(largest(real(x), axis=axis))
    m = where(isfinite(m), m, 0.0)
    total = structural.sum(exp(x - m.reshape(structural.kept(x.shape, axis))), axis=axis)
    return log(total) + m


# ---------------------------------------------------------------- softmax


def _softmax(name: str, prim: Any, input: Any, dim: int, dtype: Any, out: Any) -> Tensor:
    input = operand(name, 1, "input", input)
    x = input if dtype is None else convert(input, dtypes.as_dtype(dtype))
    require_real_floats(f"{name}_lastdim_kernel_impl", x)
    ndim = len(x._array.shape)
    axis = axis_of(ndim, dim)
    node = f"{name.title().replace('_', '')}Backward0"
    y = in_order(fused(node, prim, x, axis=(axis,) if ndim else ()))
    return finish(name, y, out, (input,))


@remembered
def softmax(input: Any, dim: int, dtype: Any = None, *, out: Any = None) -> Tensor:
    """``exp(input_i) / sum_j exp(input_j)`` along `dim`, without overflow.

    Raises: NotImplementedError: integers; `dtype` makes them floats.

    >>> import compat as torch
    >>> torch.softmax(torch.tensor([0.0, 0.0, 1000.0]), dim=0)
    tensor([0., 0., 1.])
    """
    return _softmax("softmax", primitives.softmax, input, dim, dtype, out)


@remembered
def log_softmax(input: Any, dim: int, dtype: Any = None, *, out: Any = None) -> Tensor:
    """``input_i - log(sum_j exp(input_j))`` along `dim`, without overflow.

    Raises: NotImplementedError: integers; `dtype` makes them floats.

    >>> import compat as torch
    >>> torch.log_softmax(torch.tensor([0.0, 0.0]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    return _softmax("log_softmax", primitives.log_softmax, input, dim, dtype, out)


# ---------------------------------------------------------------- as in nn.functional


def _chosen_dim(name: str, x: Any, dim: int | None) -> int:
    """`dim`, or the one that PyTorch used to choose, with its warning."""
    if dim is not None:
        return dim
    sites.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        f"dim=X as an argument."
    )
    return 0 if len(x.shape) in (0, 1, 3) else 1


def functional_softmax(
    input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`softmax` as `nn.functional` has it: without `dim` it warns, and chooses one.

    >>> import compat as torch
    >>> torch.nn.functional.softmax(torch.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    x = operand("softmax", 1, "input", input)
    return softmax(x, _chosen_dim("softmax", x, dim), dtype)


def functional_log_softmax(
    input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`log_softmax` as `nn.functional` has it: without `dim` it warns, and chooses one.

    >>> import compat as torch
    >>> torch.nn.functional.log_softmax(torch.tensor([0.0, 0.0]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    x = operand("log_softmax", 1, "input", input)
    return log_softmax(x, _chosen_dim("log_softmax", x, dim), dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """``exp(-input_i) / sum_j exp(-input_j)`` along `dim`.

    >>> import compat as torch
    >>> softmin(torch.tensor([0.0, 1000.0]), dim=0)
    tensor([1., 0.])
    """
    x = operand("softmin", 1, "input", input)
    dim = _chosen_dim("softmin", x, dim)
    return softmax(record(negative, (x,), None, "NegBackward0"), dim, dtype)


class SoftmaxMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    log_softmax = log_softmax
    logsumexp = logsumexp
    softmax = softmax


__all__ = ["log_softmax", "logsumexp", "softmax"]
