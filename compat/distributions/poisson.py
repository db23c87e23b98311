"""The distribution `Poisson`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from . import constraints
from .distribution import EMPTY
from .exp_family import ExponentialFamily
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor


class Poisson(ExponentialFamily):
    """``p(k) = rate**k e**-rate / k!``.

    Raises: ValueError: a rate is negative.

    >>> import compat as torch
    >>> Poisson(2.0).log_prob(torch.tensor(0.0))
    tensor(-2.)
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Poisson, batch_shape, _instance, "rate")

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        rate, value = broadcast_all(self.rate, self._checked(value))
        return torch.xlogy(value, rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (torch.log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:
        return torch.exp(x)
