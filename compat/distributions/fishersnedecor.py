"""The distribution `FisherSnedecor`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from . import constraints
from .distribution import EMPTY, Distribution
from .gamma import Gamma
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor


class FisherSnedecor(Distribution):
    """``(v1 / df1) / (v2 / df2)`` for v1 of ``Chi2(df1)`` and v2 of ``Chi2(df2)``.

    Raises: ValueError: a parameter is not positive.

    >>> FisherSnedecor(1.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(FisherSnedecor, batch_shape, _instance, "df1", "df2")
        new._gamma1, new._gamma2 = (g.expand(batch_shape) for g in (self._gamma1, self._gamma2))
        return new

    @property
    def mean(self) -> Tensor:
        b = torch.where(self.df2 > 2, self.df2, math.nan)
        return b / (b - 2)

    @property
    def mode(self) -> Tensor:
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return torch.where(self.df1 > 2, found, math.nan)

    @property
    def variance(self) -> Tensor:
        a, b = self.df1, torch.where(self.df2 > 4, self.df2, math.nan)
        return 2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4))

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        above, below = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        return above / below.clamp(min=torch.finfo(below.dtype).tiny)

    def log_prob(self, value: Any) -> Tensor:
        value = self._checked(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        gammas = (a + b).lgamma() - a.lgamma() - b.lgamma()
        powers = a * ratio.log() + (a - 1) * torch.log(value)
        return gammas + powers - (a + b) * torch.log1p(ratio * value)
