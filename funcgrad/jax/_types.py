"""NumPy's types of numbers as JAX has them: ``jnp.float32(x)`` converts traced values, too.

They are classes above NumPy's, equal to them and with their instances; what they make is NumPy's.
"""

from __future__ import annotations

import copyreg
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import Tracer
from ..numpy._arguments import contains_foreign

_NAMES = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
    *("half", "single", "double", "csingle", "cdouble", "int_", "uint", "intp", "uintp"),
)


class _Converting(type):
    """The type of these types; `own` is NumPy's."""

    own: type[np.generic]

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if args and (isinstance(args[0], Tracer) or contains_foreign(args[0])):
            return fnp.asarray(args[0], cls.own)
        return cls.own(*args, **options)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, cls.own)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.own)

    def __eq__(cls, other: object) -> bool:
        return (
            other is cls or other is cls.own or (isinstance(other, np.dtype) and other == cls.own)
        )

    def __hash__(cls) -> int:
        return hash(cls.own)

    def __repr__(cls) -> str:
        return repr(cls.own)


copyreg.pickle(_Converting, lambda cls: (type, (cls.own(0),)))  # type: ignore[arg-type, return-value]


def _above(own: type[np.generic]) -> type:
    body = {"own": own, "__module__": own.__module__, "__qualname__": own.__qualname__}
    return _Converting(own.__name__, (own,), body)


_OWN = {name: getattr(np, name) for name in _NAMES}
_MADE = {own: _above(own) for own in set(_OWN.values())}


def set_types() -> None:
    """Put them in the place of NumPy's in `funcgrad.numpy`."""
    vars(fnp).update({name: _MADE[own] for name, own in _OWN.items()})


def take_types() -> None:
    """Undo `set_types`."""
    vars(fnp).update(_OWN)
