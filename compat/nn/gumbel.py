"""Random choices that have a gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ops._operands import operand
from ..ops.like import empty_like, zeros_like
from ..ops.softmax import functional_softmax

if TYPE_CHECKING:
    from .._tensor import Tensor


def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """``softmax((logits + G) / tau)`` along `dim`, with ``G`` from Gumbel's distribution.

    The largest entry is at `i` with the probability ``softmax(logits)[i]``. `hard`: 1 there and 0
    elsewhere, with the gradient of the soft choice. `eps` is not used.

    Source: Jang, Gu & Poole, "Categorical reparameterization with Gumbel-softmax", ICLR (2017).

    >>> import compat as torch
    >>> gumbel_softmax(torch.zeros(2, 3), hard=True).sum(-1)
    tensor([1., 1.])
    """
    x = operand("gumbel_softmax", 1, "logits", logits)
    noise = -empty_like(x.detach()).exponential_().log()
    y = functional_softmax((x + noise) / tau, dim)
    if not hard:
        return y
    place = y.max(dim, keepdim=True)[1]
    return zeros_like(x.detach()).scatter_(dim, place, 1.0) - y.detach() + y


__all__ = ["gumbel_softmax"]
