"""``jax.scipy.interpolate``: places outside of a table are no errors there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...scipy import interpolate as _interpolate


class RegularGridInterpolator(_interpolate.RegularGridInterpolator):
    """`funcgrad.scipy.interpolate.RegularGridInterpolator`, with `fill_value` outside as a rule.

    Source: JAX reference, ``jax.scipy.interpolate.RegularGridInterpolator``.

    >>> RegularGridInterpolator(([0.0, 1.0],), [1.0, 3.0])([[0.5], [2.0]]).tolist()
    [2.0, nan]
    """

    def __init__(
        self,
        points: Sequence[Any],
        values: Any,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = np.nan,
    ) -> None:
        super().__init__(points, values, method, bounds_error, fill_value)


def __getattr__(name: str) -> Any:
    return getattr(_interpolate, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_interpolate)})
