"""`ExponentialFamily`: densities of the form ``h(x) exp(n . t(x) - A(n))``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import compat as torch

from .distribution import Distribution
from .utils import _sum_rightmost

if TYPE_CHECKING:
    from .._tensor import Tensor


class ExponentialFamily(Distribution):
    """A distribution with natural parameters ``n`` and a log normalizer ``A(n)``."""

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        """The natural parameters."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        """``A(n)``, differentiable."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        """The expectation of ``log h(x)``."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """``A(n) - n . grad A(n) - E[log h(x)]``; the gradient comes from the tape."""
        with torch.enable_grad():
            naturals = [p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*naturals)
            slopes = torch.autograd.grad(normalizer.sum(), naturals, create_graph=True)
        found = normalizer - self._mean_carrier_measure
        for p, slope in zip(naturals, slopes, strict=True):
            axes = p.dim() - len(self._batch_shape)
            found = found - _sum_rightmost(p * slope, axes)
        return found
