"""Distributions that are another one with other shapes, scaled or mirrored."""

from __future__ import annotations

from typing import Any

from ...ops.exponential import log
from .continuous import ContinuousDistribution
from .distribution import fixed_at_zero


class ScaledDistribution(ContinuousDistribution):
    """``factor`` times a variable of another distribution, whose shapes are made of these."""

    exact_ends = False

    def _base(self, *shapes: Any) -> tuple[ContinuousDistribution, tuple[Any, ...], Any]:
        """The other distribution, its shapes and the factor."""
        raise NotImplementedError

    def _at_base(self, method: str, z: Any, shapes: tuple[Any, ...]) -> Any:
        base, inner, factor = self._base(*shapes)
        factor = fixed_at_zero(factor, z, base._steep(method, *inner))
        f = getattr(base, "_edge" if method == "pdf" else "_" + method)
        return f(z / factor, *inner)

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        return self._at_base("logpdf", z, shapes) - log(self._base(*shapes)[2])

    def _edge(self, z: Any, *shapes: Any) -> Any:
        return self._at_base("pdf", z, shapes) / self._base(*shapes)[2]

    def _powers(self, *shapes: Any) -> tuple[Any, Any] | None:
        base, inner, _ = self._base(*shapes)
        return base._powers(*inner)

    def _reach(self, *shapes: Any) -> tuple[Any, Any]:
        base, inner, factor = self._base(*shapes)
        low, high = base._reach(*inner)
        return low * factor, high * factor

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return self._at_base("cdf", z, shapes)

    def _sf(self, z: Any, *shapes: Any) -> Any:
        return self._at_base("sf", z, shapes)

    def _logcdf(self, z: Any, *shapes: Any) -> Any:
        return self._at_base("logcdf", z, shapes)

    def _logsf(self, z: Any, *shapes: Any) -> Any:
        return self._at_base("logsf", z, shapes)

    def _ppf(self, q: Any, *shapes: Any) -> Any:
        base, inner, factor = self._base(*shapes)
        return base._ppf(q, *inner) * factor

    def _isf(self, q: Any, *shapes: Any) -> Any:
        base, inner, factor = self._base(*shapes)
        return base._isf(q, *inner) * factor

    def _mean(self, *shapes: Any) -> Any:
        base, inner, factor = self._base(*shapes)
        return base._mean(*inner) * factor

    def _var(self, *shapes: Any) -> Any:
        base, inner, factor = self._base(*shapes)
        return base._var(*inner) * (factor * factor)

    def _entropy(self, *shapes: Any) -> Any:
        base, inner, factor = self._base(*shapes)
        return base._entropy(*inner) + log(factor)


class MirroredDistribution(ContinuousDistribution):
    """Minus a variable of another distribution, which has the same shapes."""

    def __init__(self, name: str, base: ContinuousDistribution) -> None:
        super().__init__(name)
        self.base = base

    def _powers(self, *shapes: Any) -> tuple[Any, Any] | None:
        return self.base._powers(*shapes)

    def _reach(self, *shapes: Any) -> tuple[Any, Any]:
        low, high = self.base._reach(*shapes)
        return -high, -low

    def _logpdf(self, z: Any, *shapes: Any) -> Any:
        return self.base._logpdf(-z, *shapes)

    def _cdf(self, z: Any, *shapes: Any) -> Any:
        return self.base._sf(-z, *shapes)

    def _sf(self, z: Any, *shapes: Any) -> Any:
        return self.base._cdf(-z, *shapes)

    def _logcdf(self, z: Any, *shapes: Any) -> Any:
        return self.base._logsf(-z, *shapes)

    def _logsf(self, z: Any, *shapes: Any) -> Any:
        return self.base._logcdf(-z, *shapes)

    def _ppf(self, q: Any, *shapes: Any) -> Any:
        return -self.base._isf(q, *shapes)

    def _isf(self, q: Any, *shapes: Any) -> Any:
        return -self.base._ppf(q, *shapes)

    def _mean(self, *shapes: Any) -> Any:
        return -self.base._mean(*shapes)

    def _var(self, *shapes: Any) -> Any:
        return self.base._var(*shapes)

    def _entropy(self, *shapes: Any) -> Any:
        return self.base._entropy(*shapes)
