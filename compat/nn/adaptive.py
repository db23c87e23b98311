"""A softmax over many classes that spends less on rare ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..autograd.base import tensor
from ..ops._compose import values_of
from ..ops.join import cat
from . import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module


class _ASMoutput(NamedTuple):
    """The log-probability of each target, and minus their mean."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """`LogSoftmax` and `NLLLoss` over classes sorted by frequency, the most frequent first.

    The classes before ``cutoffs[0]`` are in the head, which also has a probability for each cluster
    of rarer ones, between two cutoffs. Cluster number i, from 0, has ``div_value ** (i + 1)`` times
    fewer features, and is computed only for targets in it.

    Shapes: ``(N, in_features), (N,) -> (N,), ()``, or without N.
    Raises: ValueError: `cutoffs` do not increase between 1 and ``n_classes - 1``.
    Source: Grave et al., "Efficient softmax approximation for GPUs", ICML 2017, section 4.

    >>> import compat as torch
    >>> adaptive = AdaptiveLogSoftmaxWithLoss(16, 10, [3, 6])
    >>> adaptive(torch.ones(2, 16), torch.tensor([0, 9])).output.shape
    torch.Size([2])
    >>> adaptive.log_prob(torch.ones(2, 16)).exp().sum(1)
    tensor([1.0000, 1.0000], grad_fn=<SumBackward1>)
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(set(cutoffs))
            or not 0 < cutoffs[0] <= cutoffs[-1] < n_classes
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                "order, where each value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i, size in enumerate(np.diff(self.cutoffs).tolist()):
            features = int(in_features // div_value ** (i + 1))
            down = Linear(in_features, features, False, device, dtype)
            self.tail.append(Sequential(down, Linear(features, size, False, device, dtype)))

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for layer in (self.head, *(layer for cluster in self.tail for layer in cluster)):
            layer.reset_parameters()

    def forward(self, input: Any, target: Any) -> _ASMoutput:
        one = target.dim() == 0
        self._check(input, target)
        if one:
            input, target = input.unsqueeze(0), target.unsqueeze(0)
        classes = values_of("AdaptiveLogSoftmaxWithLoss", target)
        if classes.size and not 0 <= classes.min() <= classes.max() < self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{classes.min()}, {classes.max()}] were found. "
            )
        # Cluster number -1 is the head.
        clusters = np.searchsorted(self.cutoffs, classes, side="right") - 1
        columns = np.where(clusters < 0, classes, self.shortlist_size + clusters)
        output = _picked(F.log_softmax(self.head(input), 1), columns)
        for i, layers in enumerate(self.tail):
            (rows,) = np.nonzero(clusters == i)
            if rows.size:
                places = tensor(rows)
                within = F.log_softmax(layers(input.index_select(0, places)), 1)
                found = _picked(within, classes[rows] - self.cutoffs[i])
                output = output.index_add(0, places, found)
        return _ASMoutput(output.squeeze(0) if one else output, -output.mean())

    def _check(self, input: Any, target: Any) -> None:
        """Raises: RuntimeError: the shapes do not fit."""
        if target.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.dim() == 0 and input.dim() != 1:
            raise RuntimeError("0D target tensor only supported with 1D input tensor")
        if target.dim() == 1 and (input.dim() != 2 or input.shape[0] != target.shape[0]):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")

    def log_prob(self, input: Any) -> Any:
        """The log-probabilities of all classes.

        Shapes: ``(N, in_features) -> (N, n_classes)``.
        """
        head = F.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for i, layers in enumerate(self.tail):
            k = self.shortlist_size + i
            parts.append(F.log_softmax(layers(input), 1) + head[:, k : k + 1])
        return cat(parts, 1)

    def predict(self, input: Any) -> Any:
        """The class with the largest probability.

        Shapes: ``(N, in_features) -> (N,)``.
        """
        return self.log_prob(input).argmax(1)


def _picked(x: Any, columns: Any) -> Any:
    """One element of each row."""
    return x.gather(1, tensor(columns[:, None])).squeeze(1)


__all__ = ["AdaptiveLogSoftmaxWithLoss"]
