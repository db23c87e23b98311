"""Dropout."""

from __future__ import annotations

from typing import Any

from . import dropout_functions as D
from .module import Module


class _Dropout(Module):
    """What all kinds of dropout have in common."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        D.check_probability(p)
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """In training, each entry is 0 with probability `p`, else divided by ``1 - p``.

    >>> import compat as torch
    >>> torch.nn.Dropout(0.5).eval()(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def forward(self, input: Any) -> Any:
        return D.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """In training, each channel is 0 with probability `p`, else divided by ``1 - p``.

    Shapes: ``(N, C, L)`` or ``(C, L)``.
    """

    def forward(self, input: Any) -> Any:
        return D.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """In training, each channel is 0 with probability `p`, else divided by ``1 - p``.

    Shapes: ``(N, C, H, W)``.
    """

    def forward(self, input: Any) -> Any:
        return D.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """In training, each channel is 0 with probability `p`, else divided by ``1 - p``.

    Shapes: ``(N, C, D, H, W)`` or ``(C, D, H, W)``.
    """

    def forward(self, input: Any) -> Any:
        return D.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean 0 and variance 1, after `SELU`; see `functional.alpha_dropout`."""

    def forward(self, input: Any) -> Any:
        return D.alpha_dropout(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels.

    Shapes: ``(N, C, *)``.
    """

    def forward(self, input: Any) -> Any:
        return D.feature_alpha_dropout(input, self.p, self.training, self.inplace)


__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]
