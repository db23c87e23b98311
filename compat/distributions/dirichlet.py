"""The distribution `Dirichlet`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from ..ops.gamma_draws import log_standard_gamma
from ..size import Size
from . import constraints
from .distribution import EMPTY
from .exp_family import ExponentialFamily

if TYPE_CHECKING:
    from .._tensor import Tensor


class Dirichlet(ExponentialFamily):
    """``p(x) = gamma(sum a) prod_k x_k**(a_k - 1) / gamma(a_k)`` on the simplex.

    Shapes: concentration (*batch, K). Samples are gamma variables over their sum; their gradient
    differs from PyTorch's for one sample, not in expectation.
    Raises: ValueError: a concentration is not positive, or there is no axis.

    >>> import compat as torch
    >>> Dirichlet(torch.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.independent(constraints.positive, 1)
    }
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Dirichlet, _instance)
        shape = Size(batch_shape)
        new.concentration = self.concentration.expand(shape + self.event_shape)
        super(Dirichlet, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        a = self.concentration.expand(self._extended_shape(sample_shape))
        return torch.softmax(log_standard_gamma(a), -1)

    def log_prob(self, value: Any) -> Tensor:
        value, a = self._checked(value), self.concentration
        powers = torch.xlogy(a - 1.0, value).sum(-1)
        return powers + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        a = self.concentration
        above = (a - 1).clamp(min=0.0)
        found = above / above.sum(-1, True)
        # with all below 1 the density is infinite at every corner: the first one is taken
        corner = torch.nn.functional.one_hot(found.argmax(dim=-1), a.shape[-1]).to(found)
        return torch.where((a < 1).all(dim=-1, keepdim=True), corner, found)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        total = a.sum(-1, True)
        return a * (total - a) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        a, count = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        found = torch.lgamma(a).sum(-1) - torch.lgamma(total)
        found = found - (count - total) * torch.digamma(total)
        return found - ((a - 1.0) * torch.digamma(a)).sum(-1)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))
