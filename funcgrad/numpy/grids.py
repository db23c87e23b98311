"""Arrays written down in brackets: `r_` and `c_`.

NumPy's own join plain arrays; these take traced ones too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError, where
from ._arguments import arrays_of
from .joining import concatenate
from .ordering import transpose
from .shaping import reshape


class _Joining:
    """``r_[...]`` joins its entries along axis `axis` after they have `ndmin` axes.

    An axis that an entry lacks is put in front, but behind the entry's own for ``front = 0``.
    """

    def __init__(self, name: str, axis: int, ndmin: int, front: int) -> None:
        self._name, self._usual = name, (axis, ndmin, front)

    def __getitem__(self, key: Any) -> Any:
        entries = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, front = self._usual
        if entries and isinstance(entries[0], str):
            axis, ndmin, front = self._directive(entries.pop(0))
        numbers = arrays_of(*[np.r_[e] if isinstance(e, slice) else e for e in entries])
        return concatenate([_with_axes(x, ndmin, front) for x in numbers], axis=axis)

    def _directive(self, text: str) -> tuple[int, int, int]:
        """
        Raises: ArgumentError: it is not one to three integers with commas between them.
        """
        try:
            found = [int(part) for part in text.split(",")]
        except ValueError:
            found = []
        if not 1 <= len(found) <= 3:
            raise ArgumentError(
                f"fnp.{self._name}[{text!r}, ...]: need up to three integers, as in '0,2'; for a "
                f"matrix use reshape{where()}"
            )
        return tuple(found + list(self._usual[len(found) :]))  # type: ignore[return-value]


def _with_axes(x: Any, ndmin: int, front: int) -> Any:
    missing = ndmin - x.ndim
    if missing <= 0:
        return x
    x = reshape(x, (1,) * missing + x.shape)
    first = front if front >= 0 else front + missing + 1
    axes = list(range(ndmin))
    return transpose(x, [*axes[:first], *axes[missing:], *axes[first:missing]])


r_ = _Joining("r_", 0, 1, -1)
c_ = _Joining("c_", -1, 2, 0)
