"""The distribution `Gamma`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from ..ops.gamma_draws import _standard_gamma
from . import constraints
from .distribution import EMPTY
from .exp_family import ExponentialFamily
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor


class Gamma(ExponentialFamily):
    """``p(x) = rate**a x**(a - 1) e**(-rate x) / gamma(a)`` for the concentration a.

    Raises: ValueError: a parameter is not positive.

    >>> import compat as torch
    >>> Gamma(2.0, 4.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Gamma, batch_shape, _instance, "concentration", "rate")

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        found = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return found.clamp(min=torch.finfo(found.dtype).tiny)

    def log_prob(self, value: Any) -> Tensor:
        value = torch.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        self._checked(value)
        a, rate = self.concentration, self.rate
        powers = torch.xlogy(a, rate) + torch.xlogy(a - 1, value)
        return powers - rate * value - torch.lgamma(a)

    def cdf(self, value: Any) -> Tensor:
        return torch.special.gammainc(self.concentration, self.rate * self._checked(value))

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - torch.log(self.rate) + torch.lgamma(a) + (1.0 - a) * torch.digamma(a)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return torch.lgamma(x + 1) + (x + 1) * torch.log(-y.reciprocal())
