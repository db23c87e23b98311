"""The distribution `RelaxedOneHotCategorical`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from ..size import Size
from . import _draws, constraints
from .categorical import Categorical
from .distribution import EMPTY, Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

if TYPE_CHECKING:
    from .._tensor import Tensor


class ExpRelaxedCategorical(Distribution):
    """``log_softmax((logits + g) / temperature)`` for Gumbel noise g.

    Shapes: probs and values (*batch, K).
    Raises: ValueError: see `Categorical`.
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.real_vector  # the logarithms of a point of the simplex
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        batch, event = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        super().__init__(batch, event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        shape = Size(batch_shape)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(shape)
        super(ExpRelaxedCategorical, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """The probabilities, whose sum is 1."""
        return self._categorical.probs

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(_draws.uniform(self.logits, shape))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Tensor:
        count = self._categorical._num_events
        logits, value = broadcast_all(self.logits, self._checked(value))
        heat = torch.as_tensor(self.temperature, dtype=logits.dtype, device=logits.device)
        scale = math.lgamma(count) + (count - 1) * heat.log()
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex that are nearly those of a `OneHotCategorical` for small temperatures.

    Raises: ValueError: see `Categorical`.

    >>> import compat as torch
    >>> RelaxedOneHotCategorical(torch.tensor(0.5), torch.ones(3)).sample().shape
    torch.Size([3])
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    support = constraints.simplex
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(
            batch_shape, self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        )

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
