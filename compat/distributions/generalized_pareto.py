"""The distribution `GeneralizedPareto`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from . import _draws, constraints
from .distribution import EMPTY, Distribution
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor


class GeneralizedPareto(Distribution):
    """``P(X > x) = (1 + c (x - loc) / scale)**(-1 / c)``, ``e**-z`` for the concentration c = 0.

    Raises: ValueError: a scale is not positive.

    >>> GeneralizedPareto(0.0, 1.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        names = ("loc", "scale", "concentration")
        return self._expanded(GeneralizedPareto, batch_shape, _instance, *names)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        low = self.loc
        bounded = torch.where(self.concentration < 0, self.concentration, -1.0)
        high = torch.where(self.concentration < 0, low - self.scale / bounded, math.inf)
        return constraints.interval(low, high)

    def _near_zero(self) -> tuple[Any, Any]:
        """Where the concentration is 0, and one that is not 0 in its place."""
        c = self.concentration
        zero = torch.isclose(c, torch.zeros_like(c))
        return zero, torch.where(zero, torch.ones_like(c), c)

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        return self.icdf(_draws.uniform(self.loc, self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        z = (self._checked(value) - self.loc) / self.scale
        zero, c = self._near_zero()
        powers = -(1 + 1 / c) * torch.log1p(torch.where(zero, 0.0, c) * z)
        return torch.where(zero, -z, powers) - torch.log(self.scale)

    def log_survival_function(self, value: Any) -> Any:
        """``log P(X > value)``."""
        z = (self._checked(value) - self.loc) / self.scale
        zero, c = self._near_zero()
        return torch.where(zero, -z, -torch.log1p(torch.where(zero, 0.0, c) * z) / c)

    def log_cdf(self, value: Any) -> Any:
        """``log P(X <= value)``."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Tensor:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Tensor:
        zero, c = self._near_zero()
        powers = self.scale * torch.expm1(-c * torch.log1p(-value)) / c
        return self.loc + torch.where(zero, -self.scale * torch.log1p(-value), powers)

    @property
    def mean(self) -> Tensor:
        c = self.concentration
        finite = c < 1
        found = self.loc + self.scale / (1 - torch.where(finite, c, 0.5))
        return torch.where(finite, found, math.nan)

    @property
    def variance(self) -> Tensor:
        finite = self.concentration < 0.5
        c = torch.where(finite, self.concentration, 0.25)
        found = self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c))
        return torch.where(finite, found, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    def entropy(self) -> Tensor:
        return torch.log(self.scale) + self.concentration + 1
