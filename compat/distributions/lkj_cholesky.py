"""The distribution `LKJCholesky`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from ..size import Size
from . import _draws, constraints
from .beta import Beta
from .distribution import EMPTY, Distribution
from .utils import broadcast_all

if TYPE_CHECKING:
    from .._tensor import Tensor


class LKJCholesky(Distribution):
    """Cholesky factors L of correlation matrices, with ``p(L L')`` in ``det(L L')**(eta - 1)``.

    `concentration` is eta: 1 for all matrices equally likely. Shapes: values (*batch, dim, dim).
    Raises: ValueError: `dim` is less than 2, or a concentration is not positive.

    >>> LKJCholesky(3, 0.5).sample().shape
    torch.Size([3, 3])
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        eta = self.concentration
        # Row i of the factor: the square of its length below the diagonal has a beta distribution.
        rows = torch.arange(dim - 1, dtype=eta.dtype, device=eta.device)
        rows = torch.cat([rows.new_zeros((1,)), rows])
        last = (eta + 0.5 * (dim - 2)).unsqueeze(-1)
        self._beta = Beta(rows + 0.5, last - 0.5 * rows)
        super().__init__(eta.size(), Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(LKJCholesky, _instance)
        shape = Size(batch_shape)
        new.dim = self.dim
        new.concentration = self.concentration.expand(shape)
        new._beta = self._beta.expand((*shape, self.dim))
        super(LKJCholesky, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        with torch.no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            z = _draws.normal(y, self._extended_shape(sample_shape)).tril(-1)
            length = z.norm(dim=-1, keepdim=True)
            below = torch.sqrt(y) * z / torch.where(length == 0, 1.0, length)
            rest = torch.clamp(1 - torch.sum(below**2, dim=-1), min=torch.finfo(y.dtype).tiny)
            return below + torch.diag_embed(rest.sqrt())

    def log_prob(self, value: Any) -> Tensor:
        value, eta, less = self._checked(value), self.concentration, self.dim - 1
        order = torch.arange(2, self.dim + 1, device=eta.device)
        order = 2 * (eta - 1).unsqueeze(-1) + self.dim - order
        found = (order * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log()).sum(-1)
        alpha = eta + 0.5 * less
        normalizer = 0.5 * less * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, less)
        return found - (normalizer - torch.lgamma(alpha) * less)
