"""The distribution `Multinomial`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from ..size import Size
from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import EMPTY, Distribution
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor


class Multinomial(Distribution):
    """How often each of K numbers comes in `total_count` draws of a `Categorical`.

    Shapes: probs and values (*batch, K).
    Raises: NotImplementedError: the counts differ within the batch. ValueError: see `Categorical`.

    >>> import compat as torch
    >>> Multinomial(2, torch.tensor([0.5, 0.5])).log_prob(torch.tensor([1.0, 1.0])).exp()
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    total_count: int

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        batch, event = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        super().__init__(batch, event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Multinomial, _instance)
        shape = Size(batch_shape)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(shape)
        new._binomial = Binomial(total_count=self.total_count, probs=new.probs)
        super(Multinomial, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """The probabilities, whose sum is 1."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        shape = Size(sample_shape)
        drawn = self._categorical.sample(Size((self.total_count,)) + shape)
        drawn = drawn.movedim(0, -1)
        counts = self.probs.new_zeros(self._extended_shape(shape))
        return counts.scatter_add(-1, drawn, torch.ones_like(drawn).to(counts.dtype))

    def log_prob(self, value: Any) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        ways = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        never = (value == 0) & (logits == -math.inf)
        return ways + (torch.where(never, torch.zeros_like(logits), logits) * value).sum(-1)

    def entropy(self) -> Tensor:
        n = self.probs.new_full((), self.total_count)
        found = n * self._categorical.entropy() - torch.lgamma(n + 1)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        chances = torch.exp(self._binomial.log_prob(counts))
        return found + (chances * torch.lgamma(counts + 1)).sum((0, -1))
