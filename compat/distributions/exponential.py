"""The distribution `Exponential`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from . import constraints
from .distribution import EMPTY
from .exp_family import ExponentialFamily
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor


class Exponential(ExponentialFamily):
    """``p(x) = rate e**(-rate x)`` for x >= 0.

    Raises: ValueError: a rate is not positive.

    >>> import compat as torch
    >>> Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Exponential, batch_shape, _instance, "rate")

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        noise = self.rate.new_empty(self._extended_shape(sample_shape)).exponential_()
        return noise / self.rate

    def log_prob(self, value: Any) -> Tensor:
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value: Any) -> Tensor:
        return 1 - torch.exp(-self.rate * self._checked(value))

    def icdf(self, value: Any) -> Tensor:
        return -torch.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - torch.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:
        return -torch.log(-x)
