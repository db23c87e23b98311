"""The distribution `Categorical`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from .. import dtypes
from ..size import Size
from . import _draws, constraints
from .distribution import EMPTY, Distribution
from .utils import lazy_property, logits_to_probs, probs_to_logits

if TYPE_CHECKING:
    from .._tensor import Tensor


class Categorical(Distribution):
    """The numbers 0, ..., K - 1 with the probabilities `probs`, or in proportion to ``e**logits``.

    Shapes: probs (*batch, K), values (*batch). Probabilities are divided by their sum.
    Raises: ValueError: both parameters are given or none, or the one has no axis.

    >>> import compat as torch
    >>> Categorical(torch.tensor([1.0, 3.0])).log_prob(torch.tensor(1)).exp()
    tensor(0.7500)
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("probs", probs) if logits is None else ("logits", logits)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._param = self.probs if logits is None else self.logits
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Categorical, _instance)
        shape = Size(batch_shape)
        for name in ("probs", "logits", "_param"):
            if name in self.__dict__:
                new.__dict__[name] = self.__dict__[name].expand((*shape, self._num_events))
        new._num_events = self._num_events
        super(Categorical, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities, whose sum is 1."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

    @property
    def mean(self) -> Tensor:
        return self.probs.new_full(self._batch_shape, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        return self.probs.new_full(self._batch_shape, math.nan)

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        shape = Size(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        return _draws.places(rows, shape.numel()).reshape(self._extended_shape(shape))

    def log_prob(self, value: Any) -> Tensor:
        value = self._checked(value).long().unsqueeze(-1)
        value, logits = torch.broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        # 0 log 0 is 0
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        values = torch.arange(self._num_events, dtype=dtypes.int64, device=self._param.device)
        values = values.view(-1, *[1] * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
