"""The distribution `Geometric`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from . import _draws, constraints
from ._probs_or_logits import BinaryParameter, cross_entropy
from .distribution import EMPTY, Distribution
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor


class Geometric(BinaryParameter, Distribution):
    """How many trials fail before the first success: ``p(k) = (1 - probs)**k probs``.

    Raises: ValueError: both parameters are given or none, or a probability is not in (0, 1].

    >>> import compat as torch
    >>> Geometric(torch.tensor(0.5)).log_prob(torch.tensor(1.0)).exp()
    tensor(0.2500)
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._set_parameter(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs of distribution {self!r} to be positive but found "
                f"invalid values:\n{self.probs}"
            )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Geometric, batch_shape, _instance, "probs", "logits", "_param")

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        with torch.no_grad():
            u = _draws.uniform(self.probs, self._extended_shape(sample_shape))
            u = u.clamp(min=torch.finfo(self.probs.dtype).tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Tensor:
        value, probs = broadcast_all(self._checked(value), self.probs)
        return torch.special.xlog1py(value, -probs) + self.probs.log()

    def entropy(self) -> Tensor:
        return cross_entropy(self.logits, self.probs) / self.probs
