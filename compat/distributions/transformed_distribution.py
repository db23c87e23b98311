"""The distribution `TransformedDistribution`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from ..size import Size
from . import constraints
from .distribution import EMPTY, Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

if TYPE_CHECKING:
    from .._tensor import Tensor


class TransformedDistribution(Distribution):
    """``y = t(x)`` for `x` of a distribution: ``log p(y) = log p(x) - log |det dy/dx|``.

    Raises: ValueError: `transforms` are none, or the distribution has too few axes for them.

    >>> import compat as torch
    >>> from compat.distributions import ExpTransform, Normal
    >>> TransformedDistribution(Normal(0.0, 1.0), ExpTransform()).log_prob(torch.tensor(1.0))
    tensor(-0.9189)
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self, base_distribution: Any, transforms: Any, validate_args: bool | None = None
    ) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        if not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        shape = base_distribution.batch_shape + base_distribution.event_shape
        base_events = len(base_distribution.event_shape)
        whole = ComposeTransform(transforms)
        if len(shape) < whole.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least "
                f"{whole.domain.event_dim}, but got {base_distribution}."
            )
        made = whole.forward_shape(shape)
        wanted = whole.inverse_shape(made)
        if wanted != shape:  # the parameters of the transforms have a larger batch
            batch = wanted[: len(wanted) - base_events]
            base_distribution = base_distribution.expand(batch)
        more = whole.domain.event_dim - base_events
        if more > 0:
            base_distribution = Independent(base_distribution, more)
        self.base_dist = base_distribution
        events = whole.codomain.event_dim + max(base_events - whole.domain.event_dim, 0)
        if len(made) < events:
            raise ValueError("The transforms do not fit the distribution")
        cut = len(made) - events
        super().__init__(made[:cut], made[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        shape = Size(batch_shape)
        before = shape + self.event_shape
        for t in reversed(self.transforms):
            before = t.inverse_shape(before)
        batch = before[: len(before) - len(self.base_dist.event_shape)]
        new.base_dist = self.base_dist.expand(batch)
        new.transforms = self.transforms
        super(TransformedDistribution, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        more = len(self.event_shape) - found.event_dim
        return constraints.independent(found, more) if more > 0 else found

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        with torch.no_grad():
            return self._forward(self.base_dist.sample(sample_shape)).detach()

    def rsample(self, sample_shape: Any = EMPTY) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t(x)
        return x

    def log_prob(self, value: Any) -> Tensor:
        y = self._checked(value)
        dims, found = len(self.event_shape), 0.0
        for t in reversed(self.transforms):
            x = t.inv(y)
            dims += t.domain.event_dim - t.codomain.event_dim
            term = t.log_abs_det_jacobian(x, y)
            found = found - _sum_rightmost(term, dims - t.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return found + _sum_rightmost(base, dims - len(self.base_dist.event_shape))

    def _increasing(self, value: Any) -> Any:
        """`value`, or one minus it where the transforms decrease."""
        sign: Any = 1
        for t in self.transforms:
            sign = sign * t.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value, with_end=True)
        for t in reversed(self.transforms):
            value = t.inv(value)
        return self._increasing(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Tensor:
        return self._forward(self.base_dist.icdf(self._increasing(value)))
