"""Operators of arrays as code for JAX has them, in which arrays never change, and take traced indices.

``x += y`` and ``x.sort()`` make new arrays there, since names may share the old one, ``x[i]`` is
traced where i is, though x be NumPy's, and reads the nearest element where i is out of bounds;
``x.at[i]`` drops what is written there. ``x + y`` is for y to say where that is no array and has
`__radd__`. NumPy's types are written in C, and so are their operators: a type keeps addresses of
functions. Those of a class in Python look methods up by name; NumPy's type is given these addresses,
and the methods to be found.
"""

from __future__ import annotations

import ctypes
import functools
import numbers
import sys
from collections.abc import Callable
from decimal import Decimal
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..array import TracedArray
from ..errors import HandoverError
from ..indexing import read
from ..numpy.sorting import sort as sorted_copy
from ..numpy.updates import Places, at, clipped

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
_BINARY = {
    "__add__": 0,
    "__sub__": 1,
    "__mul__": 2,
    "__mod__": 3,
    "__pow__": 5,
    "__lshift__": 11,
    "__rshift__": 12,
    "__and__": 13,
    "__xor__": 14,
    "__or__": 15,
    "__floordiv__": 29,
    "__truediv__": 30,
    "__matmul__": 34,
}
_AS_NUMBER, _AS_MAPPING = 10, 12  # pointers of a type to its tables, after what all objects have
_SUBSCRIPT = 1  # in `PyMappingMethods`
_READ = np.ndarray.__getitem__
_READ_TRACED = TracedArray.__getitem__
OWN: dict[type, dict[str, Any]] = {
    np.ndarray: {
        "at": None,
        "__getitem__": _READ,
        "sort": np.ndarray.sort,
        **{name: vars(np.ndarray)[name] for name in (*_IN_PLACE, *_BINARY)},
    },
    TracedArray: {
        "at": None,  # inherited, as is the next
        "sort": None,
        **{name: vars(TracedArray)[name] for name in ("__getitem__", *_IN_PLACE)},
    },
    np.generic: {"at": None},
}
_LOOKED_UP = type("_LookedUp", (), dict.fromkeys(OWN[np.ndarray], lambda x, y: NotImplemented))
_ARRAYS = frozenset({np.ndarray, float, int, complex, bool, np.float64, np.float32, np.int64})
_FOR_NUMPY = ("__array_ufunc__", "__array_priority__", "__array__", "__array_interface__")
_FOR_JAX: dict[CodeType, tuple[CodeType, bool]] = {}  # equal code may be that of other modules


def methods() -> dict[type, dict[str, Any]]:
    """The operators of NumPy's arrays and of traced ones that code for JAX is to have, and `at`."""
    found: dict[type, dict[str, Any]] = {kind: {"at": property(_at)} for kind in OWN}
    for kind in (np.ndarray, TracedArray):
        found[kind].update({name: _replacing(OWN[kind][name]) for name in _IN_PLACE})
        found[kind]["sort"] = _sorting(kind.sort)
    found[np.ndarray]["__getitem__"] = _getitem
    found[TracedArray]["__getitem__"] = _getitem_of_traced
    for name in _BINARY:
        found[np.ndarray][name] = _yielding(name, OWN[np.ndarray][name])
    return found


@functools.wraps(_READ)
def _getitem(x: Any, index: Any) -> Any:
    try:
        return _READ(x, index)
    except HandoverError:  # NumPy has asked a traced index for its value
        return read(x, clipped(x, index) if _is_for_jax(sys._getframe(1)) else index)
    except IndexError:
        if not _is_for_jax(sys._getframe(1)):
            raise
        return _READ(x, clipped(x, index))


@functools.wraps(_READ_TRACED)
def _getitem_of_traced(x: Any, index: Any) -> Any:
    entries = index if index.__class__ is tuple else (index,)
    if any(isinstance(i, TracedArray) and i.dtype.kind in "iu" for i in entries):
        if not _is_for_jax(sys._getframe(1)):
            return _READ_TRACED(x, index)
    else:
        try:
            return _READ_TRACED(x, index)
        except IndexError:
            if not _is_for_jax(sys._getframe(1)):
                raise
    return _READ_TRACED(x, clipped(x, index))


class _LenientAt(at):
    __slots__ = ()

    def __getitem__(self, index: Any) -> Places:
        return Places(self.array, index, lenient=True)


def _at(x: Any) -> at:
    return (_LenientAt if _is_for_jax(sys._getframe(1)) else at)(x)


def _replacing(own: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    @functools.wraps(own)
    def operator(x: Any, y: Any) -> Any:
        frame = sys._getframe(1)
        # Python adds and makes a new array then.
        return NotImplemented if _is_for_jax(frame) else own(x, y)

    return operator


def _sorting(own: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(own)
    def sort(x: Any, *args: Any, **options: Any) -> Any:
        if _is_for_jax(sys._getframe(1)):
            return sorted_copy(x, *args, **options)
        return own(x, *args, **options)

    return sort


def _yielding(name: str, own: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator that leaves y its turn, which NumPy would ask for every element of x alone."""
    reflected = "__r" + name[2:]

    @functools.wraps(own)
    def operator(x: Any, y: Any) -> Any:
        is_other = y.__class__ not in _ARRAYS and _takes_arrays(y.__class__, reflected)
        if is_other and x.dtype != object and _is_for_jax(sys._getframe(1)):
            return NotImplemented
        return own(x, y)

    return operator


@functools.lru_cache(4096)
def _takes_arrays(kind: type, reflected: str) -> bool:
    """Whether a class has this operator, and is none that NumPy knows or has asked by itself."""
    if kind.__module__ == "builtins" or issubclass(kind, numbers.Number | np.generic | Decimal):
        return False
    return hasattr(kind, reflected) and not any(hasattr(kind, name) for name in _FOR_NUMPY)


def _is_for_jax(frame: FrameType) -> bool:
    code = frame.f_code
    known = _FOR_JAX.get(code)
    if known is None or known[0] is not code:
        if len(_FOR_JAX) >= 4096:
            _FOR_JAX.clear()
        known = _FOR_JAX[code] = code, _imports_jax(code, frame.f_globals)
    return known[1]


def _imports_jax(code: CodeType, names: dict[str, Any]) -> bool:
    """Whether a function is in a module that has imported JAX, or does so itself.

    Modules of a package count as well that have imported one of its modules which has: they need
    nothing of JAX's own to handle arrays.
    """
    own = names.get("__name__")
    root = _root(own)
    if root in ("funcgrad", "compat"):
        return False
    if any(_root(name) == "jax" for name in code.co_names) or _names_jax(names):
        return True
    if own == root:
        return False
    near = {home for value in list(names.values()) if _root(home := _home(value)) == root}
    return any(_names_jax(vars(sys.modules[home])) for home in near if home in sys.modules)


def _names_jax(names: dict[str, Any]) -> bool:
    return any(_root(_home(value)) == "funcgrad" for value in list(names.values()))


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
    for place in (*_IN_PLACE.values(), *_BINARY.values()):
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
