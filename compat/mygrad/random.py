"""NumPy's random numbers as tensors, from its global generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._creation import Maker
from .tensor_base import Tensor

__all__ = ["rand", "randint", "randn", "random", "random_sample", "ranf", "sample", "seed"]


class _Sampler(Maker):
    """Numbers of a shape, evenly between 0 and 1."""

    def __call__(self, shape: Any = None, *, constant: bool | None = None) -> Tensor:
        return Tensor(self.numpy(shape), constant=constant, copy=False)


rand = Maker("rand", np.random.rand)
randn = Maker("randn", np.random.randn)
random = _Sampler("random", np.random.random)
random_sample = _Sampler("random_sample", np.random.random_sample)
ranf = _Sampler("ranf", np.random.random_sample)
sample = _Sampler("sample", np.random.random_sample)


def randint(low: Any, high: Any = None, shape: Any = None, dtype: Any = int) -> Tensor:
    """Integers from `low` on, below `high`; below `low` if only that is given."""
    return Tensor(np.random.randint(low, high, shape, dtype), copy=False)


def seed(seed_number: Any) -> None:
    """Begin NumPy's random numbers anew."""
    np.random.seed(seed_number)
