"""Averaged descent, and Adafactor."""

from __future__ import annotations

from typing import Any

from funcgrad.optim.descent import ASGD as ASGD_RULE
from funcgrad.optim.factored import ADAFACTOR

from .optimizer import RuleOptimizer, taken


class ASGD(RuleOptimizer):
    """See `funcgrad.optim.asgd`: descent with a fading rate; the state "ax" is the mean from `t0` on.

    `foreach` and `capturable` are accepted and change nothing.

    Raises: ValueError: an option is out of its range.
    """

    rule = ASGD_RULE
    in_single = frozenset({"eta", "mu"})

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, taken(locals()))


class Adafactor(RuleOptimizer):
    """See `funcgrad.optim.adafactor`: squares of gradients known by rows and columns.

    `foreach` is accepted and changes nothing.

    Raises: ValueError: an option is out of its range.
    """

    rule = ADAFACTOR

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, taken(locals()))

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        if any(p.is_complex() for p in self.param_groups[-1]["params"]):
            raise RuntimeError("Adafactor does not support complex parameters")
