"""More losses of `functional`: robust distances, divergences, and likelihoods of distributions.

`reduction` is "mean", "sum" or "none"; `size_average` and `reduce` are its old forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import Tracer
from funcgrad.nn import loss_terms
from funcgrad.ops.arithmetic import multiply
from funcgrad.ops.select import clip

from .. import dtypes
from ..autograd import sites
from ..autograd.base import tensor
from ..autograd.tape import record
from ..ops._apply import _type_word as type_word
from ..ops._apply import check_broadcast
from ..ops._compose import require_real_floats
from ..ops._fused import fused
from ..ops._operands import convert, dtype_of, is_number, operand, plain_number, promoted
from ..ops.pointwise import sub
from ..ops.shape import unsqueeze
from .loss_functions import (
    _check_reduction,
    _compared,
    _reduced,
    l1_loss,
    reduction_of,
)

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- robust distances


def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """``d^2 / (2 beta)`` where ``|d| < beta``, elsewhere ``|d| - beta / 2``, for ``d = x - y``.

    Raises: RuntimeError: `beta` is negative. ValueError: there is no such reduction.

    >>> import compat as torch
    >>> smooth_l1_loss(torch.tensor([0.5, 3.0]), torch.zeros(2), reduction="none")
    tensor([0.1250, 2.5000])
    """
    reduction = reduction_of(size_average, reduce, reduction)
    _check_reduction(reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    x, y = _compared("smooth_l1_loss", input, target, None)
    require_real_floats("smooth_l1_cpu", x)
    node = "SmoothL1LossBackward0"
    losses = fused(node, _huber, sub(x, y), delta=float(beta), scale=1.0 / beta)
    return _reduced(losses, reduction, node, node)


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Tensor:
    """``d^2 / 2`` where ``|d| <= delta``, elsewhere ``delta (|d| - delta / 2)``, for ``d = x - y``.

    `weight` is multiplied by; the mean is still over all elements.

    Raises: RuntimeError: `delta` is not positive. ValueError: there is no such reduction.

    >>> import compat as torch
    >>> huber_loss(torch.tensor([0.5, 3.0]), torch.zeros(2), reduction="none", delta=2.0)
    tensor([0.1250, 4.0000])
    """
    _check_reduction(reduction)
    delta = plain_number("huber_loss", "delta", delta)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    x, y = _compared("huber_loss", input, target, weight)
    kept = dtype_of(operand("huber_loss", 1, "input", input))
    if dtype_of(x).category > kept.category:
        raise RuntimeError(
            f"result type {type_word(dtype_of(x))} can't be cast to the desired output type "
            f"{type_word(kept)}: the loss has the dtype of the input"
        )
    require_real_floats("huber_cpu", x)
    losses = fused("HuberLossBackward0", _huber, sub(x, y), delta=float(delta), scale=1.0)
    losses = convert(losses, kept)
    if weight is not None:
        losses = record(multiply, promoted((losses, weight)), None, "MulBackward0")
        return _reduced(losses, reduction, "MeanBackward0", "SumBackward0")
    return _reduced(losses, reduction, "HuberLossBackward0", "HuberLossBackward0")


def _huber(d: Any, /, *, delta: float, scale: float) -> Any:
    """``c (d - c / 2) * scale`` with c = d in its bounds; smooth there, since ``d - c`` is 0."""
    c = clip(d, -delta, delta)
    return (c if scale == 1.0 else c * scale) * (d - 0.5 * c)


# ---------------------------------------------------------------- divergences and likelihoods


def kl_div(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """``y (log y - x)`` of log-probabilities x; with `log_target` the target holds logarithms too.

    `reduction` may be "batchmean": the sum divided by the length of the first axis, which is the
    mean of the divergences.

    Raises: RuntimeError: integers. ValueError: there is no such reduction.

    >>> import compat as torch
    >>> y = torch.tensor([[0.5, 0.5]])
    >>> kl_div(torch.tensor([[0.25, 0.75]]).log(), y, reduction="batchmean")
    tensor(0.1438)
    """
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    elif reduction == "mean":
        sites.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release."
        )
    x, y = operand("kl_div", 1, "input", input), operand("kl_div", 2, "target", target)
    batch = reduction == "batchmean"
    _check_reduction("sum" if batch else reduction)
    if dtype_of(x).category < 2 or dtype_of(y).category < 2:
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if 3 in (dtype_of(x).category, dtype_of(y).category):
        raise RuntimeError("kl_div: Complex inputs not supported.")
    check_broadcast(x, y)
    f = loss_terms.kl_of_logarithms if log_target else loss_terms.kl
    node = "MulBackward0" if log_target else "SubBackward0"
    losses = fused(node, f, *promoted((x, y)))
    total = _reduced(losses, "sum" if batch else reduction, "MeanBackward0", "SumBackward0")
    shape = x._array.shape
    return total / shape[0] if batch and shape else total


def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """``exp(x) - y x``, or ``x - y log(x + eps)`` without `log_input`: of Poisson's distribution.

    `full` adds Stirling's approximation of ``log y!`` where y is greater than 1.

    Raises: ValueError: there is no such reduction.

    >>> import compat as torch
    >>> poisson_nll_loss(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0]), reduction="none")
    tensor([1.0000, 0.7183])
    """
    reduction = reduction_of(size_average, reduce, reduction)
    x = operand("poisson_nll_loss", 1, "input", input)
    y = operand("poisson_nll_loss", 2, "target", target)
    _check_reduction(reduction)
    check_broadcast(y, x)
    if dtype_of(x).category < 2:
        x = convert(x, dtypes.get_default_dtype())
    x, y = promoted((x, y))
    node = "AddBackward0" if full else "SubBackward0"
    losses = fused(node, loss_terms.poisson, x, y, log_input=log_input, full=full, eps=eps)
    return _reduced(losses, reduction, "MeanBackward0", "SumBackward0")


def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """``(log v + (x - y)^2 / v) / 2`` of normal distributions of mean x and variance v.

    The variance is `eps` at least, where its derivative is still taken; `full` adds the constant.

    Shapes: `var` is that of `input`, without the last axis or with one axis of length 1, or a number.
    Raises: ValueError: the variance does not fit, or is negative, or there is no such reduction.

    >>> import compat as torch
    >>> gaussian_nll_loss(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]), 4.0)
    tensor(0.9431)
    """
    x = operand("gaussian_nll_loss", 1, "input", input)
    y = operand("gaussian_nll_loss", 2, "target", target)
    if is_number(var):
        var = tensor(np.full(x._array.shape, var, x._array.dtype))
    var = _variances(operand("gaussian_nll_loss", 3, "var", var), tuple(x._array.shape))
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not valid")
    if dtype_of(var).category < 2:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {type_word(dtype_of(var))}"
        )
    check_broadcast(x, y, var)
    node = "AddBackward0" if full else "MulBackward0"
    losses = fused(node, loss_terms.gaussian, *promoted((x, y, var)), full=full, eps=eps)
    return _reduced(losses, reduction, "MeanBackward0", "SumBackward0")


def _variances(var: Any, shape: tuple[int, ...]) -> Any:
    found = tuple(var._array.shape)
    if found != shape:
        if found == shape[:-1]:
            var = unsqueeze(var, -1)
        elif len(found) != len(shape) or _unequal(found, shape) != [1]:
            raise ValueError("var is of incorrect size")
    if not isinstance(var._array, Tracer) and (var._array < 0).any():
        raise ValueError("var has negative entry/entries")
    return var


def _unequal(found: tuple[int, ...], shape: tuple[int, ...]) -> list[int]:
    """The lengths that are not those of `shape`."""
    return [n for n, m in zip(found, shape, strict=True) if n != m]


__all__ = ["gaussian_nll_loss", "huber_loss", "kl_div", "poisson_nll_loss", "smooth_l1_loss"]
