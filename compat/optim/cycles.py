"""Learning rates that rise and fall, with the momentum against them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from ..autograd import sites
from .optimizer import Optimizer
from .schedules import LRScheduler, plain, set_option


def for_groups(name: str, optimizer: Optimizer, given: Any) -> list[Any]:
    """One value for each group; of a tensor, a copy, which steps of other schedules leave as it is.

    Raises: ValueError: there are not as many as there are groups.
    """
    count = len(optimizer.param_groups)
    if not isinstance(given, list | tuple):
        given = [given] * count
    if len(given) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(given)} "
            f"values, param_groups has {count}."
        )
    return [plain(x) for x in given]


def between(kind: str, start: float, end: float, share: float) -> float:
    """From `start` to `end`, on a line or on half a wave of a cosine."""
    if kind == "linear":
        return (end - start) * share + start
    return end + (start - end) / 2.0 * (1 + math.cos(math.pi * share))


class _WithMomentum(LRScheduler):
    """A schedule that may move the momentum, or the first of two betas."""

    cycle_momentum: bool
    use_beta1: bool

    def _find_momentum(self) -> None:
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in defaults

    def _set_momentum(self, group: dict[str, Any], value: Any) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_WithMomentum):
    """The rate goes up from `base_lr` to `max_lr` and down again, over and over, on lines.

    `mode`: "triangular", "triangular2" (every cycle is half as high) or "exp_range" (the height is
    ``gamma ** iteration``), or `scale_fn`, of the number of the cycle or, if `scale_mode` is
    "iterations", of the iteration.

    Raises: ValueError: the mode is unknown, or there is no momentum to cycle.
    Source: Smith, "Cyclical learning rates for training neural networks", WACV (2017).
    """

    _unsaved = ("_scale_fn_ref", "_scale_fn_custom")

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer)
        base_lrs = for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs, strict=True):
                set_option(group, "lr", rate)
        self.max_lrs = for_groups("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        in_iterations = scale_fn is None and mode == "exp_range"
        self.scale_mode = "iterations" if in_iterations else scale_mode if scale_fn else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum()
            self.base_momentums = for_groups("base_momentum", optimizer, base_momentum)
            self.max_momentums = for_groups("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                momenta = zip(self.base_momentums, self.max_momentums, strict=True)
                for group, (low, high) in zip(optimizer.param_groups, momenta, strict=True):
                    self._set_momentum(group, high)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The height of a cycle or iteration."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return 1.0 if self.mode == "triangular" else self.gamma**x

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        share *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            momenta = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, momenta, strict=True):
                self._set_momentum(group, high - (high - low) * share)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * share for low, high in pairs]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer; of `scale_fn` those that it has as an object."""
        f = self._scale_fn_custom
        saved = None if f is None or type(f).__name__ == "function" else dict(vars(f))
        return {**super().state_dict(), "_scale_fn_custom": saved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        saved = state_dict.get("_scale_fn_custom")
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        if saved is not None:
            vars(self._scale_fn_custom).update(saved)


class OneCycleLR(_WithMomentum):
    """The rate rises once from ``max_lr / div_factor`` to `max_lr`, and falls to almost nothing.

    `pct_start`: the share of the steps in which it rises. `three_phase`: it falls as fast as it has
    risen, and then on. The momentum falls and rises.

    Raises: ValueError: the number of steps is not given, or an option is out of its range.
    Source: Smith & Topin, "Super-convergence: very fast training of neural networks using large
    learning rates", arXiv:1708.07120 (2017).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer)
        self.total_steps = _count_of_steps(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = self._phases(pct_start, three_phase)
        require_strategy(anneal_strategy)
        self._anneal_func_type = anneal_strategy
        self.cycle_momentum = cycle_momentum
        max_lrs = for_groups("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, max_lrs, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self._find_momentum()
            momenta = zip(
                for_groups("base_momentum", optimizer, base_momentum),
                for_groups("max_momentum", optimizer, max_momentum),
                strict=True,
            )
            if last_epoch == -1:
                for group, (low, high) in zip(optimizer.param_groups, momenta, strict=True):
                    self._set_momentum(group, high)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)

    def _phases(self, start: float, three: bool) -> list[dict[str, Any]]:
        """When each phase ends, and between which entries of the groups it moves."""
        rise = float(start * self.total_steps) - 1
        points = [(rise, "max_lr", "base_momentum")]
        if three:
            points.append((float(2 * start * self.total_steps) - 2, "initial_lr", "max_momentum"))
        points.append((self.total_steps - 1, "min_lr", "max_momentum"))
        lr, momentum, phases = "initial_lr", "max_momentum", []
        for end, next_lr, next_momentum in points:
            phases.append(
                {
                    "end_step": end,
                    "start_lr": lr,
                    "end_lr": next_lr,
                    "start_momentum": momentum,
                    "end_momentum": next_momentum,
                }
            )
            lr, momentum = next_lr, next_momentum
        return phases

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"]:
                break
            start, last = phase["end_step"], start
        else:
            start = last
        share = (step - start) / (phase["end_step"] - start)
        kind, rates = self._anneal_func_type, []
        for group in self.optimizer.param_groups:
            rates.append(between(kind, group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                low, high = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, between(kind, low, high, share))
        return rates


def _count_of_steps(total: Any, epochs: Any, per_epoch: Any) -> int:
    named = {"total_steps": total}
    if total is None:
        if epochs is None or per_epoch is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        named = {"epochs": epochs, "steps_per_epoch": per_epoch}
    for name, x in named.items():
        if not isinstance(x, int) or x <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {x}")
    return math.prod(named.values())


def require_strategy(anneal_strategy: str) -> None:
    """Raises: ValueError: it is neither "cos" nor "linear"."""
    if anneal_strategy not in ("cos", "linear"):
        raise ValueError(
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
        )


class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate falls as half a wave of a cosine in `T_0` epochs, then in ``T_0 * T_mult``, and so on.

    Raises: ValueError: a number of epochs is not a positive integer.
    Source: Loshchilov & Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR (2017).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: Any = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to a given one, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            values = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set(values)

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            begun = self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i, self.T_cur = self.T_0 * self.T_mult**n, epoch - begun


class ReduceLROnPlateau(LRScheduler):
    """The rate is multiplied by `factor` when a metric has not improved for `patience` epochs.

    `mode`: whether less ("min") or more ("max") is better, by more than `threshold`, relative
    ("rel") or absolute ("abs"). After a change, `cooldown` epochs are not counted.

    Raises: ValueError: an option is out of its range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        self._take(optimizer)
        count = len(optimizer.param_groups)
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.default_min_lr, self.min_lrs = None, list(min_lr)
        else:
            self.default_min_lr, self.min_lrs = min_lr, [min_lr] * count
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = self._rates()
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self._reset()

    def _reset(self) -> None:
        """Forget what the metric was."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs are not counted at present."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Whether `a` is an improvement on `best`."""
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            return a * sign > best * (1.0 + sign * self.threshold) * sign
        return a * sign > (best + sign * self.threshold) * sign

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Look at the metric of an epoch."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            sites.warn(
                "The epoch parameter in `scheduler.step()` was not necessary and is being "
                "deprecated where possible. Please use `scheduler.step()` to step the scheduler."
            )
        self.last_epoch = epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._rates()

    def _reduce_lr(self, epoch: int) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    "The number of param groups in the `optimizer` "
                    f"({len(groups)}) differs from when `ReduceLROnPlateau` was initialized "
                    f"({len(self.min_lrs)}), usually due to a new param group being added to the "
                    "optimizer. Please modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_option(group, "lr", new)
