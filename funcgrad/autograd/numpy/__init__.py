"""``import autograd.numpy``: `funcgrad.numpy`, and the rest of NumPy as it is.

Thus `random`, `testing` and `ma` are NumPy's own, as they are with autograd.
"""

import typing as _typing

import numpy as _plain

from ... import numpy as _numpy
from ...numpy import *  # noqa: F403
from ...numpy import vstack as row_stack
from . import numpy_boxes, numpy_vjps, random
from .diagonals import make_diagonal
from .where import where  # type: ignore[assignment]  # autograd's, not NumPy's

__all__ = [
    *_numpy.__all__,
    "make_diagonal",
    "numpy_boxes",
    "numpy_vjps",
    "random",
    "row_stack",
    "where",
]


def __getattr__(name: str) -> _typing.Any:
    return getattr(_numpy if hasattr(_numpy, name) else _plain, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_numpy), *dir(_plain)})
