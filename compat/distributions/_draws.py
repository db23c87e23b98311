"""Random numbers for the distributions; see also `ops.gamma_draws`."""

from __future__ import annotations

from typing import Any

import compat as torch

from .. import dtypes


def normal(like: Any, shape: Any) -> Any:
    """Standard normal numbers in the dtype and on the device of `like`."""
    return torch.randn(shape, dtype=like.dtype, device=like.device)


def uniform(like: Any, shape: Any) -> Any:
    """Numbers with ``0 <= x < 1`` in the dtype and on the device of `like`."""
    return torch.rand(shape, dtype=like.dtype, device=like.device)


def places(rows: Any, count: int) -> Any:
    """For each row of probabilities `count` places drawn with them; shape (count, number of rows).

    Raises: RuntimeError: a row has a number that is negative or not finite, or only zeros.
    """

    if not count:
        return torch.empty((0, len(rows)), dtype=dtypes.int64)
    return torch.multinomial(rows.detach(), count, True).t()
