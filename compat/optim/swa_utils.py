"""Averages of a model's weights along the training, and the rate that goes with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, Literal

import numpy as np

from ..autograd import no_grad
from ..autograd.base import tensor
from ..nn.module import Module
from ..nn.normalization import _BatchNorm
from .cycles import for_groups, require_strategy
from .optimizer import Optimizer
from .schedules import LRScheduler

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _require_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def _moved(averages: Any, currents: Any, share: float, of_integers: Callable[..., Any]) -> None:
    """Move the averages towards the values; integers become ``of_integers(old, value)``."""
    for average, current in zip(averages, currents, strict=True):
        if average.is_floating_point() or average.is_complex():
            average.lerp_(current.to(average.dtype), share)
        else:
            average.copy_(of_integers(average, current))


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """A function that moves averages towards values by the share ``1 - decay``."""
    _require_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        def blend(average: Any, current: Any) -> Any:
            return average * decay + current * (1 - decay)

        _moved(ema_param_list, current_param_list, 1 - decay, blend)

    return ema_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """A function that takes values into averages of `num_averaged` others, all alike."""

    @no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        def mean(average: Any, current: Any) -> Any:
            return average + (current - average) / (num_averaged + 1)

        _moved(averaged_param_list, current_param_list, 1 / (float(num_averaged) + 1), mean)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """A function of an average and a value that gives the new average."""
    _require_decay(decay)

    @no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Any]:
    """A function of an average of `num_averaged` values and one more that gives the new average."""

    @no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those that `update_parameters` has seen.

    `avg_fn(average, current, count)` gives the new average of one parameter,
    `multi_avg_fn(averages, currents, count)` writes those of all; else all count alike. Buffers are
    averaged with `use_buffers`, else copied.

    Source: Izmailov et al., "Averaging weights leads to wider optima and better generalization", UAI
    (2018).

    >>> import compat as torch
    >>> model = torch.nn.Linear(1, 1, bias=False)
    >>> average = torch.optim.swa_utils.AveragedModel(model)
    >>> for w in (1.0, 2.0, 6.0):
    ...     _ = torch.nn.init.constant_(model.weight, w)
    ...     average.update_parameters(model)
    >>> average(torch.ones(1)).item()
    3.0
    """

    n_averaged: Any

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module: Any = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(np.zeros((), np.int64)))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of `model` into the averages."""
        with no_grad():
            ours, theirs = self._averaged(self.module), self._averaged(model)
            count = self.n_averaged.item()
            if count == 0:
                for average, current in zip(ours, theirs, strict=True):
                    average.copy_(current)
            elif self.avg_fn is None:
                update = self.multi_avg_fn or get_swa_multi_avg_fn()
                for dtype in dict.fromkeys(x.dtype for x in ours):
                    at = [i for i, x in enumerate(ours) if x.dtype is dtype]
                    update([ours[i] for i in at], [theirs[i] for i in at], self.n_averaged)
            else:
                for average, current in zip(ours, theirs, strict=True):
                    average.copy_(self.avg_fn(average, current, self.n_averaged))
            if not self.use_buffers:
                for own, other in zip(self.module.buffers(), model.buffers(), strict=True):
                    own.copy_(other)
            self.n_averaged.add_(1)

    def _averaged(self, model: Module) -> list[Any]:
        buffers = model.buffers() if self.use_buffers else ()
        return [x.detach() for x in chain(model.parameters(), buffers)]


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Make the running means and variances of batch normalisation anew, from the inputs in `loader`."""
    momenta = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    with no_grad():
        for batch in loader:
            first = batch[0] if isinstance(batch, list | tuple) else batch
            model(first if device is None else first.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """The rate moves to `swa_lr` in `anneal_epochs` epochs, on a line or half a wave of a cosine.

    Raises: ValueError: an option is out of its range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float,
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = for_groups("swa_lr", optimizer, swa_lr)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        require_strategy(anneal_strategy)
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now, rates = self._share(step - 1), self._share(step), []
        for group in self.optimizer.param_groups:
            goal, rate = group["swa_lr"], group["lr"]
            start = goal if before == 1 else (rate - before * goal) / (1 - before)
            rates.append(goal * now + start * (1 - now))
        return rates
