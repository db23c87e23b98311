"""Adam, and Adam with decoupled weight decay."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.core import Tracer

from ..autograd import base
from ..autograd.base import TensorBase
from .optimizer import Group, RuleOptimizer, check_fused, check_lr


class Adam(RuleOptimizer):
    """``p -= lr * m / (sqrt(v) + eps)`` with ``m`` and ``v`` the running means of ``g`` and ``g^2``.

    ``m = b1 m + (1 - b1) g`` and ``v = b2 v + (1 - b2) g^2`` with `betas` ``(b1, b2)``, both divided
    by ``1 - b^t`` at step ``t`` since they start at 0. `weight_decay` adds ``weight_decay * p`` to
    the gradient, or with `decoupled_weight_decay` shrinks ``p`` by ``1 - lr * weight_decay`` first.
    `amsgrad` divides by the largest ``v`` so far; `maximize` goes up. `foreach`, `fused` and
    `capturable` are accepted and change nothing.

    Raises: ValueError: an option is out of its range.
    Source: Kingma & Ba, "Adam: a method for stochastic optimization", ICLR (2015).

    >>> import compat as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.Adam([x], lr=0.1)
    >>> (3 * x).sum().backward()
    >>> optimizer.step()
    >>> x
    tensor([0.9000], requires_grad=True)
    """

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
        check_lr(lr)
        if not eps >= 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if isinstance(betas[0], TensorBase) != isinstance(betas[1], TensorBase):
            raise ValueError("betas must be either both floats or both Tensors")
        check_fused(fused, foreach, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def _begin(self, param: Any, group: Group) -> dict[str, Any]:
        array = param._array
        state = {"step": base.tensor(np.zeros((), np.float32))}
        for name in _MOMENTS if group["amsgrad"] else _MOMENTS[:2]:
            state[name] = base.tensor(np.zeros(array.shape, array.dtype))
        return state

    @staticmethod
    def rule(p: Any, g: Any, state: dict[str, Any], group: Group) -> tuple[Any, dict[str, Any]]:
        """One step; of complex numbers, one for the real and one for the imaginary parts."""
        if group["maximize"]:
            g = -g
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p = p * (1 - group["lr"] * group["weight_decay"])
            else:
                g = g + p * group["weight_decay"]
        step = state["step"] + 1
        moments = [state[k] for k in _MOMENTS if k in state]
        if getattr(p, "_array", p).dtype.kind == "c":
            real = _moved(p.real, g.real, [x.real for x in moments], step, group)
            imag = _moved(p.imag, g.imag, [x.imag for x in moments], step, group)
            p, *moments = (x + y * 1j for x, y in zip(real, imag, strict=True))
        else:
            p, *moments = _moved(p, g, moments, step, group)
        return p, {"step": step, **dict(zip(_MOMENTS, moments, strict=False))}


_MOMENTS = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")


def _moved(p: Any, g: Any, moments: list[Any], step: Any, group: Group) -> tuple[Any, ...]:
    """The new parameter and moments; `step` counts from 1."""
    m, v, *largest = moments
    b1, b2 = group["betas"]
    m = m + (g - m) * (1 - b1)
    v = v * b2 + g * g * (1 - b2)
    if largest:
        largest = [np.maximum(largest[0], v)]
    root = _number_for(p, (1 - b2**step) ** 0.5)
    rate = _number_for(p, group["lr"] / (1 - b1**step))
    denominator = np.sqrt(largest[0] if largest else v) / root + group["eps"]
    return p - m / denominator * rate, m, v, *largest


def _number_for(p: Any, x: Any) -> Any:
    """A number as it is; a traced one, which has a dtype, in that of the parameter."""
    is_traced = isinstance(x, Tracer) and not isinstance(p, TensorBase)
    return fnp.astype(x, p.dtype) if is_traced else x


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
