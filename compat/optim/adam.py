"""Adam, and Adam with decoupled weight decay."""

from __future__ import annotations

from typing import Any

from funcgrad.optim.moments import ADAM

from ..autograd.base import TensorBase
from .optimizer import RuleOptimizer, taken


class Adam(RuleOptimizer):
    """``p -= lr * m / (sqrt(v) + eps)`` with ``m`` and ``v`` the running means of ``g`` and ``g^2``.

    ``m = b1 m + (1 - b1) g`` and ``v = b2 v + (1 - b2) g^2`` with `betas` ``(b1, b2)``, both divided
    by ``1 - b^t`` at step ``t`` since they start at 0. `weight_decay` adds ``weight_decay * p`` to
    the gradient, or with `decoupled_weight_decay` shrinks ``p`` by ``1 - lr * weight_decay`` first.
    `amsgrad` divides by the largest ``v`` so far; `maximize` goes up. `foreach`, `fused` and
    `capturable` are accepted and change nothing.

    Raises: ValueError: an option is out of its range, or a tensor where `foreach` has to have a
        number (without `capturable`).
    Source: Kingma & Ba, "Adam: a method for stochastic optimization", ICLR (2015).

    >>> import compat as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.Adam([x], lr=0.1)
    >>> (3 * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([0.9000], requires_grad=True)
    """

    rule = ADAM

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: Any = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if foreach and not capturable:
            _require_numbers({"lr": lr, "betas[0]": betas[0], "betas[1]": betas[1]})
        if isinstance(betas[0], TensorBase) != isinstance(betas[1], TensorBase):
            raise ValueError("betas must be either both floats or both Tensors")
        super().__init__(params, taken(locals()))


def _require_numbers(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if isinstance(value, TensorBase):
            raise ValueError(
                f"{name} as a Tensor is not supported for capturable=False and foreach=True"
            )


class AdamW(Adam):
    """Adam with decoupled weight decay: ``p`` shrinks by ``1 - lr * weight_decay`` at each step.

    Source: Loshchilov & Hutter, "Decoupled weight decay regularization", ICLR (2019).
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: Any = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        # State that Adam has saved does not switch this off.
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
