"""Functions of SciPy under SciPy's names and signatures, differentiable."""

import typing as _typing
from importlib import import_module as _import_module

from . import special

__all__ = [
    "cluster", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize",
    "signal", "sparse", "spatial", "special", "stats",
]  # fmt: skip

# These are loaded when they are looked at: some need transforms, and traced arrays need this package.
_LATE = tuple(name for name in __all__ if name != "special")


def __getattr__(name: str) -> _typing.Any:
    if name in _LATE:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
