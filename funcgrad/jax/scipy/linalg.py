"""``jax.scipy.linalg``: as `funcgrad.scipy.linalg`, with the options that only JAX has."""

from __future__ import annotations

from typing import Any

from ...scipy import linalg as _linalg


def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Any:
    """The exponential of a matrix; the options change nothing.

    Source: JAX, ``jax.scipy.linalg.expm``.

    >>> import numpy as np
    >>> expm(np.zeros((2, 2)), max_squarings=32).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _linalg.expm(A)


def __getattr__(name: str) -> Any:
    return getattr(_linalg, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_linalg)})
