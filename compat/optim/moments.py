"""The relatives of Adam: Adamax, NAdam and RAdam."""

from __future__ import annotations

from typing import Any

from funcgrad.optim.moments import ADAMAX, NADAM, RADAM

from .optimizer import RuleOptimizer, taken


class Adamax(RuleOptimizer):
    """See `funcgrad.optim.adamax`: Adam over a fading maximum of ``|g|``.

    `foreach` and `capturable` are accepted and change nothing.

    Raises: ValueError: an option is out of its range.
    """

    rule = ADAMAX

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, taken(locals()))


class NAdam(RuleOptimizer):
    """See `funcgrad.optim.nadam`: Adam with the momentum of Nesterov.

    `foreach` and `capturable` are accepted and change nothing.

    Raises: ValueError: an option is out of its range.
    """

    rule = NADAM

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, taken(locals()))


class RAdam(RuleOptimizer):
    """See `funcgrad.optim.radam`: Adam with small steps until the variance is known.

    `foreach` and `capturable` are accepted and change nothing.

    Raises: ValueError: an option is out of its range.
    """

    rule = RADAM

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, taken(locals()))
