"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from .optimizer import Group, RuleOptimizer, check_fused, check_lr


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
        check_lr(lr)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_fused(fused, foreach, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    @staticmethod
    def rule(p: Any, g: Any, state: dict[str, Any], group: Group) -> tuple[Any, dict[str, Any]]:
        """One step."""
        if group["maximize"]:
            g = -g
        if group["weight_decay"] != 0:
            g = g + p * group["weight_decay"]
        momentum = group["momentum"]
        changes = {}
        if momentum != 0:
            b = state.get("momentum_buffer")
            b = g if b is None else b * momentum + g * (1 - group["dampening"])
            changes["momentum_buffer"] = b
            g = g + b * momentum if group["nesterov"] else b
        return p - g * group["lr"], changes
