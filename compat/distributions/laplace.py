"""The distribution `Laplace`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from . import _draws, constraints
from .distribution import EMPTY, Distribution
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor


class Laplace(Distribution):
    """``p(x) = e**(-|x - loc| / scale) / (2 scale)``.

    Raises: ValueError: a scale is not positive.

    >>> import compat as torch
    >>> Laplace(0.0, 1.0).log_prob(torch.tensor(1.0))
    tensor(-1.6931)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Laplace, batch_shape, _instance, "loc", "scale")

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        noise = _draws.uniform(self.loc, self._extended_shape(sample_shape))
        u = 2 * noise - 1 + torch.finfo(self.loc.dtype).eps  # above -1, whose logarithm is infinite
        u = u.clamp(max=1 - torch.finfo(self.loc.dtype).eps)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value: Any) -> Tensor:
        value = self._checked(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value: Any) -> Tensor:
        d = self._checked(value) - self.loc
        return 0.5 - 0.5 * d.sign() * torch.expm1(-d.abs() / self.scale)

    def icdf(self, value: Any) -> Tensor:
        d = value - 0.5
        return self.loc - self.scale * d.sign() * torch.log1p(-2 * d.abs())

    def entropy(self) -> Tensor:
        return 1 + torch.log(2 * self.scale)
