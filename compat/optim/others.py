"""Averaged descent, Adafactor and Muon."""

from __future__ import annotations

from typing import Any

from funcgrad.optim.descent import ASGD as ASGD_RULE
from funcgrad.optim.factored import ADAFACTOR
from funcgrad.optim.orthogonal import COEFFICIENTS, MUON

from .optimizer import RuleOptimizer, taken


class ASGD(RuleOptimizer):
    """See `funcgrad.optim.asgd`: descent with a fading rate; the state "ax" is the mean from `t0` on.

    `foreach` and `capturable` are accepted and change nothing.

    Raises: ValueError: an option is out of its range.
    """

    rule = ASGD_RULE
    rounded = frozenset({"eta", "mu"})

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


class Muon(RuleOptimizer):
    """See `funcgrad.optim.muon`: momentum made nearly orthogonal, for parameters with two axes.

    All is computed in the dtype of the parameter, where PyTorch rounds to bfloat16.

    Raises: ValueError: an option is out of its range, or a parameter is no matrix.
    """

    rule = MUON

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        super().__init__(params, taken(locals()))

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            if p.ndim != 2:
                raise ValueError(
                    "Muon only supports 2D parameters whereas we found a parameter with size: "
                    f"{p.size()}"
                )
            if p.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
