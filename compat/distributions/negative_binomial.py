"""The distribution `NegativeBinomial`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from ..nn import functional as F
from . import constraints
from ._probs_or_logits import BinaryParameter
from .distribution import EMPTY, Distribution
from .gamma import Gamma
from .utils import lazy_property

if TYPE_CHECKING:
    from .._tensor import Tensor


class NegativeBinomial(BinaryParameter, Distribution):
    """How many trials succeed, with the probability `probs`, before `total_count` failures.

    Raises: ValueError: both parameters are given or none, or one is out of range.

    >>> import compat as torch
    >>> NegativeBinomial(1, torch.tensor(0.5)).log_prob(torch.tensor(1.0)).exp()
    tensor(0.2500)
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._set_parameter(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        names = ("total_count", "probs", "logits", "_param")
        return self._expanded(NegativeBinomial, batch_shape, _instance, *names)

    @property
    def mean(self) -> Tensor:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Any:
        # A count of 0 would be an invalid concentration.
        return Gamma(
            concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False
        )

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Tensor:
        value, n = self._checked(value), self.total_count
        chances = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        ways = torch.lgamma(n + value) - torch.lgamma(1.0 + value) - torch.lgamma(n)
        return chances + torch.where(n + value == 0.0, torch.zeros_like(ways), ways)
