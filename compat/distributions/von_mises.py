"""The distribution `VonMises`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from ..ops.gamma_draws import drawn
from . import constraints
from .distribution import EMPTY, Distribution
from .utils import broadcast_all, lazy_property

if TYPE_CHECKING:
    from .._tensor import Tensor


class VonMises(Distribution):
    """``p(x) = exp(k cos(x - loc)) / (2 pi I0(k))`` on a circle, for the concentration k.

    Raises: ValueError: a concentration is not positive.

    >>> import compat as torch
    >>> VonMises(torch.tensor(0.0), torch.tensor(1.0)).log_prob(torch.tensor(0.0))
    tensor(-1.0738)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, EMPTY, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(VonMises, batch_shape, _instance, "loc", "concentration")

    def log_prob(self, value: Any) -> Tensor:
        k = self.concentration
        log_i0 = torch.special.i0e(k).log() + k
        found = k * torch.cos(self._checked(value) - self.loc)
        return found - math.log(2 * math.pi) - log_i0

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        shape = self._extended_shape(sample_shape)
        loc, k = self.loc.detach().expand(shape), self.concentration.detach().expand(shape)
        turned = drawn("von_mises", lambda s, a: s.vonmises(0.0, a), k)
        return (turned + math.pi + loc) % (2 * math.pi) - math.pi

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance ``1 - I1(k) / I0(k)``."""
        k = self.concentration
        return 1 - torch.special.i1e(k) / torch.special.i0e(k)
