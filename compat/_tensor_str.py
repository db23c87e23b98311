"""`torch._tensor_str`: how elements of tensors are shown, under the names of PyTorch's code."""

from __future__ import annotations

from typing import Any

from .printing import options as PRINT_OPTS
from .printing import text_of


def _tensor_str(self: Any, indent: int) -> str:
    """The elements as text whose further lines begin after `indent` spaces."""
    return text_of(self.detach().cpu().resolve_conj().numpy(), indent)


__all__ = ["PRINT_OPTS"]
