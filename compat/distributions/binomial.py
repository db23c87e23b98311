"""The distribution `Binomial`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from . import constraints
from ._probs_or_logits import BinaryParameter
from .distribution import EMPTY, Distribution

if TYPE_CHECKING:
    from .._tensor import Tensor


class Binomial(BinaryParameter, Distribution):
    """How many of `total_count` trials succeed, with the probability `probs` each.

    Raises: ValueError: both parameters are given or none, or one is out of range.

    >>> import compat as torch
    >>> Binomial(2, torch.tensor(0.5)).log_prob(torch.tensor([0.0, 1.0])).exp()
    tensor([0.2500, 0.5000])
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._set_parameter(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        names = ("total_count", "probs", "logits", "_param")
        return self._expanded(Binomial, batch_shape, _instance, *names)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return torch.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Tensor:
        value, n = self._checked(value), self.total_count
        ways = torch.lgamma(n + 1) - torch.lgamma(value + 1) - torch.lgamma(n - value + 1)
        normalizer = n * torch.logaddexp(self.logits, torch.zeros_like(self.logits))
        return value * self.logits - normalizer + ways

    def _common_count(self, name: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{name}`.")
        return count

    def entropy(self) -> Tensor:
        self._common_count("entropy")
        found = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(found) * found).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        count = 1 + self._common_count("enumerate_support")
        values = torch.arange(count, dtype=self._param.dtype, device=self._param.device)
        values = values.view(-1, *[1] * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
