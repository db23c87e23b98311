"""Attributes of JAX's arrays, for NumPy's.

NumPy's types are written in C and take no attributes; their dictionaries do.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import sys
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..array_methods import ArrayMethods
from ..core import Trace, Tracer, aval_of
from ..errors import ArgumentError, where
from ..numpy._arguments import of_numpy
from ..transforms.jvp import JVPTracer
from ..treedef import TreeDef
from . import _operators, _reading, _types
from ._nodes import composed
from .devices import devices

ATTRIBUTES: dict[str, Any] = {
    "aval": property(aval_of),
    "block_until_ready": lambda x: x,
    "devices": lambda _: set(devices("cpu")),
    "ptp": fnp.ptp,
    "weak_type": property(lambda _: False),
}


_DTYPE = vars(np.generic)["dtype"]


class _Dtype:
    """``np.int8.dtype`` is its dtype, not only that of its numbers."""

    def __get__(self, x: Any, kind: type[np.generic]) -> Any:
        if x is not None:
            return _DTYPE.__get__(x)
        with contextlib.suppress(TypeError):  # which np.generic and other kinds of types raise
            return np.dtype(kind)
        return _DTYPE


_KINDS = (np.ndarray, np.generic)
_REDUCTIONS = ("sum", "prod", "mean", "var", "std", "max", "min", "all", "any")
_CHANGED = (*_REDUCTIONS, "argsort")
_OWN = {kind: {name: vars(kind)[name] for name in _CHANGED} for kind in _KINDS}


def set_attributes() -> None:
    """Give NumPy's arrays and numbers what JAX's arrays have.

    What code for JAX does in place makes new arrays, and indices may be traced. Reductions take
    ``where=None`` for no mask, and `argsort` leaves what is equal in its order.

    Raises: ArgumentError: this is not CPython.
    """
    if sys.implementation.name != "cpython":
        raise ArgumentError(
            f"install: NumPy's types take attributes under CPython only; this is "
            f"{sys.implementation.name}{where()}"
        )
    for kind, own in _OWN.items():
        masked = {name: _masked(own[name]) for name in _REDUCTIONS}
        _write(kind, ATTRIBUTES | masked | {"argsort": _stable(own["argsort"])})
    _write(np.generic, {"dtype": _Dtype()})
    for changed, methods in _operators.methods().items():
        _write(changed, methods)
    _operators.look_up(by_name=True)
    ArrayMethods.reducing = staticmethod(_without_none)
    Tracer._trace = property(_trace)  # type: ignore[attr-defined]
    Trace.main = property(lambda trace: trace)  # type: ignore[attr-defined]
    TreeDef.compose = composed  # type: ignore[attr-defined]
    _reading.set_names()
    _types.set_types()


def take_attributes() -> None:
    """Undo `set_attributes`."""
    for kind, own in _OWN.items():
        _write(kind, dict.fromkeys(ATTRIBUTES) | own)
    _write(np.generic, {"dtype": _DTYPE})
    _operators.look_up(by_name=False)
    for changed, methods in _operators.OWN.items():
        _write(changed, methods)
    ArrayMethods.reducing = staticmethod(of_numpy)
    del Tracer._trace, Trace.main, TreeDef.compose  # type: ignore[attr-defined]
    _reading.take_names()
    _types.take_types()


def _trace(x: Tracer) -> Trace | None:
    """The transform that `x` is traced by: what does not move is a value to it, as in JAX."""
    return x.owner.parent if isinstance(x, JVPTracer) and not x.moves else x.owner


def _write(kind: type, attributes: dict[str, Any]) -> None:
    (own,) = gc.get_referents(kind.__dict__)  # what the read-only proxy refers to
    for name, value in attributes.items():
        if value is None:
            own.pop(name, None)
        else:
            own[name] = value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


def _masked(method: Any) -> Any:
    """A reduction of NumPy's, to which None would be False: 0 for every sum."""

    @functools.wraps(method)
    def reduced(x: Any, *args: Any, **options: Any) -> Any:
        return method(x, *args, **_without_none(options))

    return reduced


def _stable(method: Any) -> Any:
    """`argsort` of NumPy's, which may exchange what is equal unless told otherwise."""

    @functools.wraps(method)
    def argsort(x: Any, axis: Any = -1, kind: Any = None, order: Any = None, **options: Any) -> Any:
        if options.get("descending"):
            return fnp.argsort(x, axis, kind, order, **options)
        if kind is None and options.get("stable") is None:
            kind = "stable"
        options.pop("descending", None)
        return method(x, axis, kind, order, **options)

    return argsort


def _without_none(options: dict[str, Any]) -> dict[str, Any]:
    if options.get("where", True) is None:
        del options["where"]
    return options
