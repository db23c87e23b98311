"""The distribution `Uniform`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import compat as torch

from . import _draws, constraints
from .distribution import EMPTY, Distribution
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor


class Uniform(Distribution):
    """All numbers of ``low <= x < high`` equally likely.

    Raises: ValueError: a bound `low` is not below `high`.

    >>> import compat as torch
    >>> Uniform(0.0, 2.0).cdf(torch.tensor([0.5, 1.0]))
    tensor([0.2500, 0.5000])
    """

    has_rsample = True

    @property
    def arg_constraints(self) -> Any:
        low, high = constraints.less_than(self.high), constraints.greater_than(self.low)
        return {"low": low, "high": high}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Uniform, batch_shape, _instance, "low", "high")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        noise = _draws.uniform(self.low, self._extended_shape(sample_shape))
        return self.low + noise * (self.high - self.low)

    def log_prob(self, value: Any) -> Tensor:
        value = self._checked(value)
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return torch.log(inside) - torch.log(self.high - self.low)

    def cdf(self, value: Any) -> Tensor:
        return ((self._checked(value) - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return torch.log(self.high - self.low)
