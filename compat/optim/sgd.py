"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from funcgrad.optim.descent import SGD as RULE

from .optimizer import Group, RuleOptimizer, taken


class SGD(RuleOptimizer):
    """``p -= lr * g``, with momentum ``b = momentum * b + (1 - dampening) * g`` in place of ``g``.

    `weight_decay` adds ``weight_decay * p`` to the gradient; `nesterov` steps along
    ``g + momentum * b``; `maximize` goes up. The first ``b`` is the gradient itself. `foreach` and
    `fused` are accepted and change nothing.

    Raises: ValueError: an option is negative, or `nesterov` has no momentum or is dampened.

    >>> import compat as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([x], lr=0.5, momentum=0.9)
    >>> for _ in range(2):
    ...     optimizer.zero_grad()
    ...     (3 * x).sum().backward()
    ...     optimizer.step()
    >>> x
    tensor([-3.3500], requires_grad=True)
    """

    rule = RULE

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, taken(locals()))

    def _begin(self, param: Any, options: Group) -> dict[str, Any]:
        return {}  # the first gradient is the first buffer
