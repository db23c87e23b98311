"""Optimizers that divide by a root of squared gradients, or look at signs: Adagrad, RMSprop …"""

from __future__ import annotations

from typing import Any

from funcgrad.optim.scaled import ADADELTA, ADAGRAD, RMSPROP, RPROP

from .optimizer import RuleOptimizer, taken


class Adagrad(RuleOptimizer):
    """See `funcgrad.optim.adagrad`: steps over the root of the sum of ``g^2``.

    `foreach`, `capturable` and `fused` are accepted and change nothing.

    Raises: ValueError: an option is out of its range.
    """

    rule = ADAGRAD

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, taken(locals()))

        for group in self.param_groups:
            for param in group["params"]:
                self.state[param].update(self._begin(param, group))


class Adadelta(RuleOptimizer):
    """See `funcgrad.optim.adadelta`: steps as long as the last ones were.

    `foreach`, `capturable` and `fused` are accepted and change nothing.

    Raises: ValueError: an option is out of its range.
    """

    rule = ADADELTA

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, taken(locals()))


class RMSprop(RuleOptimizer):
    """See `funcgrad.optim.rmsprop`: steps over the root of the mean of ``g^2``, or the variance.

    `foreach`, `capturable` and `fused` are accepted and change nothing.

    Raises: ValueError: an option is out of its range.
    """

    rule = RMSPROP

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, taken(locals()))


class Rprop(RuleOptimizer):
    """See `funcgrad.optim.rprop`: steps by signs, longer while the sign of a gradient stays.

    `foreach`, `capturable` and `fused` are accepted and change nothing.

    Raises: ValueError: an option is out of its range.
    """

    rule = RPROP

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(params, taken(locals()))
