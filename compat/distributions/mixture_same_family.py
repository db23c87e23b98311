"""The distribution `MixtureSameFamily`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import compat as torch

from ..size import Size
from . import constraints
from .categorical import Categorical
from .distribution import EMPTY, Distribution

if TYPE_CHECKING:
    from .._tensor import Tensor


class MixtureSameFamily(Distribution):
    """``p(x) = sum_k w_k p_k(x)``: `mixture_distribution` has the weights, the last batch axis of
    `component_distribution` the parts.

    Raises: ValueError: the weights are no `Categorical`, or the shapes do not fit.

    >>> import compat as torch
    >>> from compat.distributions import Categorical, Normal
    >>> weights = Categorical(torch.ones(2))
    >>> MixtureSameFamily(weights, Normal(torch.tensor([0.0, 2.0]), 1.0)).mean
    tensor(1.)
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution need to be an instance of torch.distributions.Distribution"
            )
        shape, count = component_distribution.batch_shape, mixture_distribution.logits.shape[-1]
        for a, b in zip(
            reversed(mixture_distribution.batch_shape), reversed(shape[:-1]), strict=False
        ):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_distribution.batch_shape}) is not "
                    f"compatible with `component_distribution.batch_shape` ({shape})"
                )
        if not shape or shape[-1] != count:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({shape[-1] if shape else None})"
            )
        self._num_component = count
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(shape[:-1], event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        shape = Size(batch_shape)
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand(
            (*shape, self._num_component)
        )
        new._mixture_distribution = self._mixture_distribution.expand(shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        super(MixtureSameFamily, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution of the parts."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The parts."""
        return self._component_distribution

    def _weighted(self, x: Any) -> Any:
        """The sum over the parts of `x` with their weights."""
        weights = self.mixture_distribution.probs
        weights = weights.reshape(weights.shape + (1,) * self._event_ndims)
        return (weights * x).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._weighted(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        within = self._weighted(self.component_distribution.variance)
        center = self.mean.unsqueeze(-1 - self._event_ndims)
        return within + self._weighted((self.component_distribution.mean - center).pow(2.0))

    def _for_parts(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def cdf(self, x: Any) -> Tensor:
        found = self.component_distribution.cdf(self._for_parts(x))
        return torch.sum(found * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Any) -> Tensor:
        found = self.component_distribution.log_prob(self._for_parts(self._checked(x)))
        weights = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(found + weights, dim=-1)

    def sample(self, sample_shape: Any = EMPTY) -> Tensor:
        shape = Size(sample_shape)
        with torch.no_grad():
            part = self.mixture_distribution.expand(self.batch_shape).sample(shape)
            found = self.component_distribution.sample(shape)
            part = part.reshape(part.shape + (1,) * (1 + self._event_ndims))
            axis = len(shape) + len(self.batch_shape)
            wanted = list(found.shape)
            wanted[axis] = 1
            return torch.gather(found, axis, part.expand(wanted)).squeeze(axis)

    def __repr__(self) -> str:
        return (
            f"{self.__class__.__name__}(\n  {self.mixture_distribution},\n  "
            f"{self.component_distribution})"
        )
