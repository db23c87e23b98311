"""Learning rates as functions of the epoch: the base class, and schedules without cycles.

A schedule gives the next rate from the present one (`get_lr`), so that several can act on the same
optimizer, one on top of the other. `_get_closed_form_lr` gives it from the epoch alone.
"""

from __future__ import annotations

import math
import types
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

from ..autograd import no_grad, sites
from ..autograd.base import TensorBase
from .optimizer import Optimizer

_DOCS = "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


def set_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Set an option; a tensor stays the same object."""
    old = group.get(name)
    if isinstance(old, TensorBase):
        with no_grad():
            old.fill_(value)  # type: ignore[attr-defined]
    else:
        group[name] = value


def plain(x: Any) -> Any:
    """An option; of a tensor, a copy."""
    return x.clone().detach() if isinstance(x, TensorBase) else x  # type: ignore[attr-defined]


class LRScheduler:
    """The base class: `get_lr` of a subclass says what the rates of the groups are next.

    `last_epoch`: -1, or from where to go on; then the groups have "initial_lr".

    Raises: TypeError, KeyError: it is no optimizer, or it has not been scheduled before.
    """

    _unsaved: tuple[str, ...] = ()  # attributes that a state dict leaves out, beside the optimizer

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self._take(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", plain(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0: load the optimizer's state first, or leave "
                    "last_epoch out"
                )
        self.base_lrs: list[Any] = [plain(g["initial_lr"]) for g in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._is_initial = False
        self._get_lr_called_within_step = False
        self._last_lr: list[Any] = []
        optimizer.watch_steps()
        self._initial_step()

    def _take(self, optimizer: Any) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer

    def _initial_step(self) -> None:
        self._is_initial, self._step_count = True, 0
        try:
            self.step()
        finally:
            self._is_initial = False

    def _undo_beginning(self) -> None:
        """Before the first epoch again: another schedule says when this one begins."""
        self.last_epoch -= 1

    def get_last_lr(self) -> list[Any]:
        """The rates of the groups that were set last."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates that come next."""
        raise NotImplementedError

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            sites.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`."
            )

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to a given one, and set the rates."""
        if self._step_count == 1:
            self._require_order()
        self._step_count += 1
        if epoch is not None:
            sites.warn(
                "The epoch parameter in `scheduler.step()` was not necessary and is being "
                "deprecated where possible. Please use `scheduler.step()` to step the scheduler. "
                f"See {_DOCS}"
            )
        self._update_lr(epoch)

    def _require_order(self) -> None:
        optimizer = self.optimizer
        if "step" in vars(optimizer):
            sites.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Please, make sure to call `optimizer.step()` before "
                f"`lr_scheduler.step()`. See {_DOCS}"
            )
        elif not optimizer._opt_called:
            sites.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in "
                "the opposite order: `optimizer.step()` before `lr_scheduler.step()`; otherwise "
                f"the first value of the learning rate schedule is skipped. See {_DOCS}"
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", self.get_lr)
                values = closed()
        finally:
            self._get_lr_called_within_step = False
        self._set(values)

    def _set(self, values: Iterable[Any]) -> None:
        groups = self.optimizer.param_groups
        for group, value in zip(groups, values, strict=False):
            set_option(group, "lr", value)
        self._last_lr = [plain(group["lr"]) for group in groups]

    def _rates(self) -> list[Any]:
        return [plain(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer, and functions."""
        return {k: v for k, v in vars(self).items() if k != "optimizer" and k not in self._unsaved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        vars(self).update(state_dict)


def functions(given: Any, count: int) -> list[Any]:
    """One function for each group."""
    found = list(given) if isinstance(given, list | tuple) else [given] * count
    if len(found) != count:
        raise ValueError(f"Expected {count} lr_lambdas, but got {len(found)}")
    for f in found:
        if not callable(f):
            raise TypeError(f"lr_lambda should be a function, but got {type(f).__name__}")
    return found


class _OfFunctions(LRScheduler):
    """A schedule by functions of the epoch; a state dict has the attributes of those with a class."""

    _unsaved = ("lr_lambdas",)

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer)
        self.lr_lambdas = functions(lr_lambda, len(optimizer.param_groups))
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        saved = [
            None if isinstance(f, types.FunctionType) else dict(vars(f)) for f in self.lr_lambdas
        ]
        return {**super().state_dict(), "lr_lambdas": saved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; plain functions stay those of this schedule."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for f, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if saved is not None:
                vars(f).update(saved)


class LambdaLR(_OfFunctions):
    """The first rate times ``lr_lambda(epoch)``."""

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * f(self.last_epoch) for base, f in pairs]


class MultiplicativeLR(_OfFunctions):
    """In every epoch the rate is multiplied by ``lr_lambda(epoch)``."""

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial:
            return self._rates()
        pairs = zip(self._rates(), self.lr_lambdas, strict=True)
        return [rate * f(self.last_epoch) for rate, f in pairs]


class _Factor(LRScheduler):
    """A schedule that multiplies the rates of all groups alike."""

    def _factor(self) -> Any:
        """From the last epoch to this one."""
        raise NotImplementedError

    def _whole_factor(self) -> Any:
        """From the first epoch to this one."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        factor = self._factor()
        return [rate * factor for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self._whole_factor()
        return [base * factor for base in self.base_lrs]


class StepLR(_Factor):
    """The rate is multiplied by `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> Any:
        is_turn = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return self.gamma if is_turn else 1

    def _whole_factor(self) -> Any:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_Factor):
    """The rate is multiplied by `gamma` at each of the epochs `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> Any:
        return self.gamma ** self.milestones[self.last_epoch]

    def _whole_factor(self) -> Any:
        passed = sum(n for epoch, n in self.milestones.items() if epoch <= self.last_epoch)
        return self.gamma**passed


class ConstantLR(_Factor):
    """The rate is multiplied by `factor` during the first `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> Any:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1

    def _whole_factor(self) -> Any:
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(_Factor):
    """The rate is multiplied by a factor that moves from `start_factor` to `end_factor`."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> Any:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        slope = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * slope
        return 1.0 + slope / before

    def _whole_factor(self) -> Any:
        slope = self.end_factor - self.start_factor
        share = min(self.total_iters, self.last_epoch) / self.total_iters
        return self.start_factor + slope * share


class ExponentialLR(_Factor):
    """The rate is multiplied by `gamma` in every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> Any:
        return 1 if self._is_initial else self.gamma

    def _whole_factor(self) -> Any:
        return self.gamma**self.last_epoch


class PolynomialLR(_Factor):
    """The rate falls to 0 in `total_iters` epochs, as ``(1 - epoch / total_iters) ** power``."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> Any:
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        left = 1.0 - self.last_epoch / self.total_iters
        return (left / (1.0 - (self.last_epoch - 1) / self.total_iters)) ** self.power

    def _whole_factor(self) -> Any:
        passed = min(self.total_iters, self.last_epoch)
        return (1.0 - passed / self.total_iters) ** self.power


class CosineAnnealingLR(LRScheduler):
    """The rate falls to `eta_min` in `T_max` epochs as half a wave of a cosine, and rises again.

    Source: Loshchilov & Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR (2017).
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial:
            return self._rates()
        epoch, turn = self.last_epoch, math.pi / self.T_max
        if self._step_count == 1 and epoch > 0:
            height = (1 + math.cos(epoch * turn)) / 2
            return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # there is nothing to multiply
            height = (1 - math.cos(turn)) / 2
            pairs = zip(self._rates(), self.base_lrs, strict=True)
            return [rate + (base - self.eta_min) * height for rate, base in pairs]
        factor = (1 + math.cos(epoch * turn)) / (1 + math.cos((epoch - 1) * turn))
        return [factor * (rate - self.eta_min) + self.eta_min for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


def require_one_optimizer(name: str, schedulers: Sequence[Any], optimizer: Any) -> None:
    """Raises: ValueError: a scheduler is of another optimizer, or takes more than the epoch."""
    for i, scheduler in enumerate(schedulers):
        kind = type(scheduler).__name__
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
        if kind == "ReduceLROnPlateau":
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional "
                f"kwargs to be specified when calling `step`, but got one at index {i} in the "
                "given schedulers sequence."
            )
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{kind} at index {i} has {scheduler.optimizer}, which is different from "
                f"{type(optimizer).__name__}."
            )


class _Joined(LRScheduler):
    """A schedule made of others, whose state dicts are in its own."""

    _unsaved = ("_schedulers",)
    _schedulers: Sequence[LRScheduler]

    def _undo_beginning(self) -> None:
        for scheduler in self._schedulers:
            scheduler._undo_beginning()

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, saved in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(deepcopy(saved))


class SequentialLR(_Joined):
    """One schedule after the other; the next one begins at each of the epochs `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        require_one_optimizer("SequentialLR", schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # What the schedules have done at their own beginnings is undone, and the first begins.
        for group in optimizer.param_groups:
            set_option(group, "lr", plain(group["initial_lr"]))
        for scheduler in schedulers:
            scheduler._undo_beginning()
        first = schedulers[self._at(0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def _at(self, epoch: int) -> int:
        return sum(m <= epoch for m in self._milestones)

    def _undo_beginning(self) -> None:
        super()._undo_beginning()
        self.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Go to the next epoch."""
        self.last_epoch += 1
        i = self._at(self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Joined):
    """Several schedules at once: what one makes of the rates, the next one goes on with."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        require_one_optimizer("ChainedScheduler", schedulers, self.optimizer)
        self._schedulers = schedulers
        self._last_lr = self._rates()

    def step(self) -> None:  # type: ignore[override]
        """Go to the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()
