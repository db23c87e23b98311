"""The distribution `ContinuousBernoulli`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from . import _draws, constraints
from ._probs_or_logits import BinaryParameter, cross_entropy
from .distribution import EMPTY
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

if TYPE_CHECKING:
    from .._tensor import Tensor


class ContinuousBernoulli(BinaryParameter, ExponentialFamily):
    """``p(x) = c(p) p**x (1 - p)**(1 - x)`` on [0, 1].

    Between the limits `lims`, near p = 1 / 2, series stand for quotients of differences.
    Raises: ValueError: both parameters are given or none, or a probability is not in [0, 1].

    >>> import compat as torch
    >>> ContinuousBernoulli(torch.tensor(0.5)).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._set_parameter(probs, logits)
        if probs is not None:
            # Probabilities out of range are brought into it unless validation is asked for.
            if validate_args and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = self._param = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        names = ("probs", "logits", "_param")
        new = self._expanded(ContinuousBernoulli, batch_shape, _instance, *names)
        new._lims = self._lims
        return new

    @lazy_property
    def probs(self) -> Any:
        """The parameter p, kept away from 0 and 1: the normalizer is infinite there."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self) -> Any:
        low, high = self._lims
        return (self.probs <= low) | (self.probs > high)

    def _cut_probs(self) -> Any:
        return torch.where(self._outside_unstable_region(), self.probs, self._lims[0])

    def _either(self, exact: Any, series: Any) -> Any:
        return torch.where(self._outside_unstable_region(), exact, series)

    def _cont_bern_log_norm(self) -> Any:
        """``log(2 atanh(1 - 2 p) / (1 - 2 p))``."""
        p = self._cut_probs()
        exact = torch.log(torch.abs(torch.log1p(-p) - torch.log(p))) - torch.log(
            torch.abs(1.0 - 2.0 * p)
        )
        square = (self.probs - 0.5).pow(2)
        return self._either(exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square)

    @property
    def mean(self) -> Tensor:
        p, x = self._cut_probs(), self.probs - 0.5
        exact = p / (2.0 * p - 1.0) + 1.0 / (torch.log1p(-p) - torch.log(p))
        return self._either(exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def stddev(self) -> Tensor:
        return torch.sqrt(self.variance)

    @property
    def variance(self) -> Tensor:
        p, square = self._cut_probs(), (self.probs - 0.5).pow(2)
        exact = p * (p - 1.0) / (1.0 - 2.0 * p).pow(2)
        exact = exact + 1.0 / (torch.log1p(-p) - torch.log(p)).pow(2)
        return self._either(exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square)

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        return self.icdf(_draws.uniform(self.probs, self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        return -cross_entropy(logits, value) + self._cont_bern_log_norm()

    def cdf(self, value: Any) -> Tensor:
        value, p = self._checked(value), self._cut_probs()
        exact = p.pow(value) * (1.0 - p).pow(1.0 - value) + p - 1.0
        found = self._either(exact / (2.0 * p - 1.0), value)
        found = torch.where(value <= 0.0, torch.zeros_like(found), found)
        return torch.where(value >= 1.0, torch.ones_like(found), found)

    def icdf(self, value: Any) -> Tensor:
        p = self._cut_probs()
        exact = torch.log1p(-p + value * (2.0 * p - 1.0)) - torch.log1p(-p)
        return self._either(exact / (torch.log(p) - torch.log1p(-p)), value)

    def entropy(self) -> Tensor:
        log_p0, log_p1 = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (log_p0 - log_p1) - self._cont_bern_log_norm() - log_p0

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        safe = torch.where(outside, x, (self._lims[0] - 0.5) * torch.ones_like(x))
        exact = torch.log(torch.abs(torch.special.expm1(safe))) - torch.log(torch.abs(safe))
        return torch.where(outside, exact, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)
