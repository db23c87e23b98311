"""A linear layer and the cross entropy of its results as one loss."""

from __future__ import annotations

import math
from typing import Any

from .linear import Linear
from .linear_cross_entropy_functions import LinearCrossEntropyOptions, linear_cross_entropy
from .loss import _WeightedLoss


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of ``linear(input)``, where `linear` is a layer of the loss.

    Shapes: ``(n, in_features), (n, *out_features) -> ()``; see `functional.linear_cross_entropy`.
    Raises: RuntimeError: the weights are not one for each class, or the smoothing is no part of 1.

    >>> import compat as torch
    >>> loss = torch.nn.LinearCrossEntropyLoss(3, 4)
    >>> loss(torch.ones(2, 3), torch.tensor([0, 3])).shape
    torch.Size([])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Any = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(weight, None, None, reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        count = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, count, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Any, target: Any) -> Any:
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        linear = self.linear
        said = {
            "in_features": linear.in_features,
            "num_classes": self.num_classes,
            "out_features": self.out_features,
            "bias": linear.bias is not None,
        }
        names = ("reduction", "ignore_index", "label_smoothing", "options")
        said |= {name: getattr(self, name) for name in names}
        return ", ".join(f"{k}={v}" for k, v in said.items())


__all__ = ["LinearCrossEntropyLoss"]
