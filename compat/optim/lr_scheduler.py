"""Schedules of learning rates, called after the optimizer: ``optimizer.step(); scheduler.step()``.

>>> import compat as torch
>>> w = torch.zeros(2, requires_grad=True)
>>> optimizer = torch.optim.SGD([w], lr=1.0)
>>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
>>> rates = []
>>> for _ in range(4):
...     optimizer.step()
...     rates += scheduler.get_last_lr()
...     scheduler.step()
>>> rates
[1.0, 1.0, 0.5, 0.5]
"""

from .cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR, ReduceLROnPlateau
from .optimizer import Optimizer
from .schedules import (
    ChainedScheduler,
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    SequentialLR,
    StepLR,
)

_LRScheduler = LRScheduler  # by which older code knows it

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "Optimizer",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
