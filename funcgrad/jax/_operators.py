"""Operators of arrays as code for JAX has them, in which arrays never change, and take traced indices.

``x += y`` makes a new array there, since names may share the old one, and ``x[i]`` is traced where i
is, though x be NumPy's. Its types are written in C, and so are their operators: a type keeps addresses
of functions. Those of a class in Python look methods up by name; NumPy's type is given these
addresses, and the methods to be found.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..array import TracedArray
from ..errors import HandoverError
from ..indexing import read

# Where each operator's function is in `PyNumberMethods`, which is part of CPython's stable ABI.
_IN_PLACE = {
    "__iadd__": 19,
    "__isub__": 20,
    "__imul__": 21,
    "__imod__": 22,
    "__ipow__": 23,
    "__ilshift__": 24,
    "__irshift__": 25,
    "__iand__": 26,
    "__ixor__": 27,
    "__ior__": 28,
    "__ifloordiv__": 31,
    "__itruediv__": 32,
    "__imatmul__": 35,
}
_AS_NUMBER, _AS_MAPPING = 10, 12  # pointers of a type to its tables, after what all objects have
_SUBSCRIPT = 1  # in `PyMappingMethods`
_READ = np.ndarray.__getitem__
OWN: dict[type, dict[str, Any]] = {
    np.ndarray: {"__getitem__": _READ, **{name: vars(np.ndarray)[name] for name in _IN_PLACE}},
    TracedArray: {name: vars(TracedArray)[name] for name in _IN_PLACE},
}
_LOOKED_UP = type("_LookedUp", (), dict.fromkeys(OWN[np.ndarray], lambda x, y: NotImplemented))
_FOR_JAX: dict[CodeType, bool] = {}


def methods() -> dict[type, dict[str, Any]]:
    """The operators of NumPy's arrays and of traced ones that code for JAX is to have."""
    found = {kind: {name: _replacing(own[name]) for name in _IN_PLACE} for kind, own in OWN.items()}
    found[np.ndarray]["__getitem__"] = _getitem
    return found


@functools.wraps(_READ)
def _getitem(x: Any, index: Any) -> Any:
    try:
        return _READ(x, index)
    except HandoverError:  # NumPy has asked a traced index for its value
        return read(x, index)


def _replacing(own: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    @functools.wraps(own)
    def operator(x: Any, y: Any) -> Any:
        frame = sys._getframe(1)
        code = frame.f_code
        known = _FOR_JAX.get(code)
        if known is None:
            if len(_FOR_JAX) >= 4096:
                _FOR_JAX.clear()
            known = _FOR_JAX[code] = _is_for_jax(code, frame.f_globals)
        return NotImplemented if known else own(x, y)  # Python adds and makes a new array then

    return operator


def _is_for_jax(code: CodeType, names: dict[str, Any]) -> bool:
    """Whether a function is in a module that has imported JAX, or does so itself."""
    if _root(names.get("__name__")) in ("funcgrad", "compat"):
        return False
    return any(_root(name) == "jax" for name in code.co_names) or any(
        _root(_home(value)) == "funcgrad" for value in list(names.values())
    )


def _root(name: Any) -> Any:
    return name.partition(".")[0] if isinstance(name, str) else None


def _home(value: Any) -> Any:
    if isinstance(value, ModuleType):
        return value.__name__
    return value.__module__ if isinstance(value, FunctionType | type) else None


def look_up(by_name: bool) -> None:
    """Have the operators of NumPy's arrays look methods up, or not any more."""
    numbers, subscript = _addresses()  # known before they are replaced
    if by_name:
        numbers = list(_table(_LOOKED_UP, _AS_NUMBER))
        subscript = _table(_LOOKED_UP, _AS_MAPPING)[_SUBSCRIPT]
    for place in _IN_PLACE.values():
        _table(np.ndarray, _AS_NUMBER)[place] = numbers[place]
    _table(np.ndarray, _AS_MAPPING)[_SUBSCRIPT] = subscript


def _table(kind: type, which: int) -> Any:
    at = id(kind) + object.__basicsize__ + which * ctypes.sizeof(ctypes.c_void_p)
    table = ctypes.c_void_p.from_address(at).value
    assert table is not None
    return (ctypes.c_void_p * (3 if which == _AS_MAPPING else 36)).from_address(table)


@functools.cache
def _addresses() -> tuple[list[Any], Any]:
    """What NumPy's type has had."""
    return list(_table(np.ndarray, _AS_NUMBER)), _table(np.ndarray, _AS_MAPPING)[_SUBSCRIPT]
