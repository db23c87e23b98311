"""A linear layer and the cross entropy of its results as one function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import dtypes
from ..ops._operands import operand
from ..ops.matrix import linear
from .loss_functions import cross_entropy

if TYPE_CHECKING:
    from .._tensor import Tensor


@dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch divides the work to save memory; here it is done at once, whatever they say.

    Raises: ValueError: an option is unknown.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtypes.dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method in (None, "auto"):
            return
        name, colon, factor = str(self.chunking_method).partition(":")
        if name != "aspect_ratio" or (colon and not (factor.isdigit() and int(factor))):
            raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")


def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    A weight of shape ``(classes, *d, features)`` gives logits of shape ``(n, classes, *d)``. `options`
    change no number.

    Shapes: ``(n, features) or (features,), (classes, *d, features), (n, *d) -> () or (n, *d)``.
    Raises: RuntimeError: shapes do not fit, or `ignore_index` is given with probabilities.

    >>> import compat as torch
    >>> x, w = torch.ones(2, 3), torch.zeros(4, 3)
    >>> linear_cross_entropy(x, w, torch.tensor([0, 3]))
    tensor(1.3863)
    """
    x = operand("linear_cross_entropy", 1, "input", input)
    linear_weight = operand("linear_cross_entropy", 2, "linear_weight", linear_weight)
    target = operand("linear_cross_entropy", 3, "target", target)
    shape = tuple(linear_weight.shape)
    if x.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {x.dim()}")
    if len(shape) < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {len(shape)}"
        )
    if x.shape[-1] != shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{x.shape[-1]} and {shape[-1]}"
        )
    if linear_bias is not None and tuple(linear_bias.shape) != shape[:-1]:
        raise RuntimeError(
            f"expected linear_bias shape {shape[:-1]}, got {tuple(linear_bias.shape)}"
        )
    if len(shape) > 2 and x.dim() == 1:
        raise RuntimeError(
            f"a linear_weight of shape {shape} requires batched input (N, {shape[-1]}), got "
            f"{tuple(x.shape)}"
        )
    rows = linear_weight.reshape(-1, shape[-1])
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = linear(x, rows, bias).reshape(*x.shape[:-1], *shape[:-1])
    if tuple(target.shape) == tuple(logits.shape) and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    return cross_entropy(
        logits,
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )


__all__ = ["LinearCrossEntropyOptions", "linear_cross_entropy"]
