"""The distribution `RelaxedBernoulli`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from . import _draws, constraints
from ._probs_or_logits import BinaryParameter
from .distribution import EMPTY, Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs

if TYPE_CHECKING:
    from .._tensor import Tensor


class LogitRelaxedBernoulli(BinaryParameter, Distribution):
    """``(logits + log u - log(1 - u)) / temperature`` for uniform u.

    Raises: ValueError: both parameters are given or none, or a probability is not in [0, 1].
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.real

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._set_parameter(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        names = ("probs", "logits", "_param")
        new = self._expanded(LogitRelaxedBernoulli, batch_shape, _instance, *names)
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(_draws.uniform(probs, shape))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        d = logits - value.mul(self.temperature)
        return self.temperature.log() + d - 2 * torch.logaddexp(d, torch.zeros_like(d))


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in (0, 1) that are nearly those of a `Bernoulli` for small temperatures.

    Raises: ValueError: see `LogitRelaxedBernoulli`.

    >>> import compat as torch
    >>> RelaxedBernoulli(torch.tensor(1.0), torch.tensor(0.5)).log_prob(torch.tensor(0.5))
    tensor(0.)
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(RelaxedBernoulli, _instance))

    @property
    def temperature(self) -> Any:
        """How far from discrete the samples are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The parameter in logarithms."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The probabilities of the discrete distribution."""
        return self.base_dist.probs
