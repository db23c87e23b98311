"""`funcgrad.scipy`, but for what means something else under the names of ``jax.scipy``."""

import typing as _typing
from importlib import import_module as _import_module

from ... import scipy as _scipy


def __getattr__(name: str) -> _typing.Any:
    if name in ("interpolate", "linalg", "ndimage"):
        return _import_module(f"{__name__}.{name}")
    return getattr(_scipy, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_scipy)})
