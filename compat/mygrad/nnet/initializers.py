"""First values of weights, from NumPy's global random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._creation import NAMES
from ..tensor_base import Tensor

__all__ = [
    "constant",
    "dirac",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "normal",
    "uniform",
]

identity = NAMES["identity"]


def _shape(shape: tuple[Any, ...]) -> Any:
    return shape[0] if len(shape) == 1 else shape


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def _require_floats(what: str, dtype: Any) -> None:
    if not np.issubdtype(dtype, np.floating):
        raise ValueError(f"{what}: dtype={np.dtype(dtype)}; need a floating one")


def _drawn(numbers: Any, dtype: Any, constant: bool | None) -> Tensor:
    return Tensor(numbers, dtype=dtype, constant=constant, copy=False)


def constant(*shape: Any, value: float = 0.0, dtype: Any = None, constant: Any = None) -> Tensor:
    """One number everywhere."""
    return NAMES["full"](_shape(shape), value, dtype=dtype, constant=constant)


def uniform(
    *shape: Any,
    lower_bound: Any = 0,
    upper_bound: Any = 1,
    dtype: Any = np.float32,
    constant: bool | None = None,
) -> Tensor:
    """Numbers evenly between two bounds.

    Raises: ValueError: the bounds are in the wrong order, or the dtype is not floating.
    """
    low, high = _number(lower_bound), _number(upper_bound)
    if low >= high:
        raise ValueError(f"uniform: need bounds in order, found {low} and {high}")
    _require_floats("Uniform", dtype)
    return _drawn(np.random.uniform(low, high, _shape(shape)), dtype, constant)


def normal(
    *shape: Any,
    mean: Any = 0,
    std: Any = 1,
    dtype: Any = np.float32,
    constant: bool | None = None,
) -> Tensor:
    """Normal numbers.

    Raises: ValueError: the deviation is negative, or the dtype is not floating.
    """
    _require_floats("Normal", dtype)
    if _number(std) < 0:
        raise ValueError(f"normal: std={std}; need 0 or more")
    return _drawn(np.random.normal(_number(mean), _number(std), _shape(shape)), dtype, constant)


class _Scaled:
    """Numbers whose spread depends on how many weights lead in and out: ``spread(fan in, out)``."""

    def __init__(
        self, name: str, title: str, is_normal: bool, spread: Callable[[Any, Any], Any], does: str
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = does
        self.title = title
        self.is_normal = is_normal
        self.spread = spread

    def __call__(
        self, *shape: Any, gain: Any = 1, dtype: Any = np.float32, constant: bool | None = None
    ) -> Tensor:
        sizes = _shape(shape)
        if (len(shape) == 1 and not hasattr(sizes, "__len__")) or len(sizes) < 2:
            raise ValueError(f"{self.title}: shape={sizes}; need two axes or more")
        _require_floats(self.title, dtype)
        window = float(np.prod(sizes[2:]))
        spread = float(_number(gain)) * self.spread(sizes[1] * window, sizes[0] * window)
        if self.is_normal:
            return _drawn(np.random.normal(0, spread, sizes), dtype, constant)
        return _drawn(np.random.uniform(-spread, spread, sizes), dtype, constant)


glorot_normal = _Scaled(
    "glorot_normal",
    "Glorot Normal",
    True,
    lambda fan_in, fan_out: np.sqrt(2 / (fan_in + fan_out)),
    "Normal numbers of the variance ``2 / (fan_in + fan_out)``.",
)
glorot_uniform = _Scaled(
    "glorot_uniform",
    "Glorot Uniform",
    False,
    lambda fan_in, fan_out: np.sqrt(6 / (fan_in + fan_out)),
    "Numbers evenly within ``sqrt(6 / (fan_in + fan_out))`` of 0.",
)
he_normal = _Scaled(
    "he_normal",
    "He Normal",
    True,
    lambda fan_in, fan_out: 1 / np.sqrt(fan_in),
    "Normal numbers of the variance ``gain^2 / fan_in``.",
)
he_uniform = _Scaled(
    "he_uniform",
    "He Uniform",
    False,
    lambda fan_in, fan_out: np.sqrt(3 / fan_in),
    "Numbers evenly within ``gain sqrt(3 / fan_in)`` of 0.",
)


def dirac(*shape: Any, dtype: Any = np.float32, constant: bool | None = None) -> Tensor:
    """Kernels that leave channels as they are: 1 in the middle, for channel ``i`` to ``i``.

    Raises: ValueError: there are fewer than two axes.
    """
    sizes = _shape(shape)
    if not hasattr(sizes, "__len__") or len(sizes) < 2:
        raise ValueError(f"dirac: shape={sizes}; need two axes or more")
    out = np.zeros(sizes, dtype)
    for i in range(min(sizes[:2])):
        out[(i, i, *(n // 2 for n in sizes[2:]))] = 1
    return Tensor(out, constant=constant)
