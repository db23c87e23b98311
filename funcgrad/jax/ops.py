"""``jax.ops``: rows whose number is none of the segments' are left out, also negative ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import ops as _ops

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


def _leaving_out(segments: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(segments)
    def function(
        data: Any,
        segment_ids: Any,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        bucket_size: int | None = None,
        mode: Any = None,
    ) -> Any:
        options = indices_are_sorted, unique_indices, bucket_size, mode or "drop"
        return segments(data, segment_ids, num_segments, *options)

    return function


segment_sum = _leaving_out(_ops.segment_sum)
segment_prod = _leaving_out(_ops.segment_prod)
segment_max = _leaving_out(_ops.segment_max)
segment_min = _leaving_out(_ops.segment_min)
