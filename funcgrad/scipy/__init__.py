"""Functions of SciPy under SciPy's names and signatures, differentiable."""

import typing as _typing
from importlib import import_module as _import_module

from . import fft, linalg, signal, special, stats

__all__ = [
    "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "special", "stats",
]  # fmt: skip

# These need transforms, and traced arrays need this package: they are loaded when looked at.
_LATE = ("integrate", "interpolate", "ndimage", "optimize")

if _typing.TYPE_CHECKING:
    from . import integrate as integrate
    from . import interpolate as interpolate
    from . import ndimage as ndimage
    from . import optimize as optimize
else:

    def __getattr__(name):
        if name in _LATE:
            return _import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
