"""Dropout."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .module import Module


class Dropout(Module):
    """In training, each entry is 0 with probability `p`, else divided by ``1 - p``.

    >>> import compat as torch
    >>> torch.nn.Dropout(0.5).eval()(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        F.check_probability(p)
        self.p = p
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
