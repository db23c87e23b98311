"""Windows over an array's last axes, as a view."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np


def sliding_window_view(arr: Any, window_shape: Any, step: Any, dilation: Any = None) -> np.ndarray:
    """All windows of a shape over the last axes: ``(*places, *axes before, *window)``, read-only.

    Raises: TypeError: `window_shape` or `step` are no positive integers. ValueError: the windows do
    not fit into the array.

    >>> import numpy as np
    >>> sliding_window_view(np.arange(6), (2,), 2).tolist()
    [[0, 1], [2, 3], [4, 5]]
    """
    if not hasattr(window_shape, "__iter__") or not _are_positive(window_shape):
        raise TypeError(
            f"sliding_window_view: window_shape={window_shape}; need a tuple of lengths from 1 on"
        )
    window = tuple(int(n) for n in window_shape)
    count = len(window)
    if count > arr.ndim:
        raise ValueError(
            f"sliding_window_view: window_shape={window} for an array of {arr.ndim} axes"
        )
    steps = _for_each("step", step, count)
    apart = _for_each("dilation", 1 if dilation is None else dilation, count)
    spans = tuple((n - 1) * d + 1 for n, d in zip(window, apart, strict=True))
    sizes = arr.shape[arr.ndim - count :]
    if any(span > n for span, n in zip(spans, sizes, strict=True)):
        raise ValueError(
            f"sliding_window_view: windows that span {spans} are longer than the last axes, {sizes}"
        )
    axes = tuple(range(arr.ndim - count, arr.ndim))
    found = np.lib.stride_tricks.sliding_window_view(np.ascontiguousarray(arr), spans, axes)
    every = [slice(None, None, s) for s in steps], [slice(None, None, d) for d in apart]
    index: Any = (..., *every[0], *every[1])
    found = found[index]
    return np.moveaxis(found, axes, tuple(range(count)))


def _are_positive(found: Any) -> bool:
    return all(isinstance(n, Integral) and int(n) > 0 for n in found)


def _for_each(what: str, given: Any, count: int) -> tuple[int, ...]:
    if not isinstance(given, Integral) and not hasattr(given, "__iter__"):
        raise TypeError(
            f"sliding_window_view: {what}={given!r}; need an integer from 1 on, or several"
        )
    found = (given,) * count if isinstance(given, Integral) else tuple(given)
    if len(found) != count or not _are_positive(found):
        raise ValueError(
            f"sliding_window_view: {what}={given}; need an integer from 1 on, or {count} of them"
        )
    return tuple(int(n) for n in found)
