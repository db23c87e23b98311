"""The primitives, one file per family; a linear primitive lives beside its adjoint.

Layer 3. Each decorated function is the primitive and the function that rules call. Parameters are
in normal form here (non-negative axes, tuples); `funcgrad.numpy` offers NumPy's signatures.

The functions of ``jax.ops`` are here too: `segment_sum`, `segment_prod`, `segment_max`, `segment_min`.
They stand on `funcgrad.numpy`, so they are loaded when they are first looked at.
"""

import typing as _typing
from importlib import import_module as _import_module

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]

if _typing.TYPE_CHECKING:
    from .segments import segment_max as segment_max
    from .segments import segment_min as segment_min
    from .segments import segment_prod as segment_prod
    from .segments import segment_sum as segment_sum
else:

    def __getattr__(name):
        if name in __all__:
            return getattr(_import_module(f"{__name__}.segments"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
