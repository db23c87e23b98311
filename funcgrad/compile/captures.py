"""What a function reads besides its arguments, and whether that is still the same.

Layer 4½. A compiled program is stale as soon as something that its function closes over is bound to
something else. So the names that the function's code reads are looked up: variables of the enclosing
functions, globals, and the attributes of the objects found there, as far as the code names them. An
array becomes an input of the program. Everything else is checked for identity before every call.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import Primitive, Tracer

MOST_ITEMS = 1000  # of a list or dict that are looked at
LIBRARIES = ("funcgrad", "compat", "numpy", "scipy", "cupy", "builtins")
_MISSING = object()


class Place:
    """Where a value is found: a cell, an entry of a dict, a list or a tuple, or an attribute."""

    __slots__ = ("holder", "key", "value")

    def __init__(self, holder: Any, key: Any, value: Any) -> None:
        self.holder = holder
        self.key = key
        self.value = value

    def get(self) -> Any:
        """What is there now."""
        holder = self.holder
        try:
            if holder.__class__ is types.CellType:
                return holder.cell_contents
            if self.key.__class__ is attribute:
                return getattr(holder, self.key)
            return holder[self.key]
        except (KeyError, IndexError, AttributeError, ValueError):
            return _MISSING

    def is_same(self) -> bool:
        found = self.get()
        if found is self.value:
            return True
        numbers = bool | int | float | complex | str | bytes
        return found.__class__ is self.value.__class__ is not float and (
            isinstance(found, numbers) and found == self.value
        )


class attribute(str):
    """The key of a place that is an attribute."""

    __slots__ = ()


def captures(f: Any) -> list[Place]:
    """The places that the code of `f`, and of what it calls, reads by name."""
    found: list[Place] = []
    seen: set[int] = set()
    names: set[str] = set()
    waiting: list[Any] = [f]
    objects: list[Any] = []

    def meet(places: Iterator[Place]) -> None:
        for place in places:
            if not _is_constant(place.value):
                found.append(place)
                waiting.append(place.value)

    while waiting:
        x = waiting.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, types.FunctionType):
            names.update(_names(x.__code__))
            meet(_of_function(x))
        elif isinstance(x, types.MethodType):
            waiting += [x.__self__, x.__func__]
        elif isinstance(x, functools.partial):
            waiting += [x.func, *x.args, *x.keywords.values()]
        elif isinstance(x, list | tuple):
            meet(Place(x, i, v) for i, v in enumerate(x[:MOST_ITEMS]))
        elif isinstance(x, dict):
            meet(Place(x, k, x[k]) for k in list(x)[:MOST_ITEMS])
        elif hasattr(x, "__wrapped__"):
            waiting.append(x.__wrapped__)
        elif not isinstance(x, np.ndarray | np.generic | Tracer):
            objects.append(x)
        if not waiting:  # then the attributes: all names are known now
            while objects:
                meet(_attributes(objects.pop(), names))
    return found


def _is_constant(x: Any) -> bool:
    """Whether nobody rebinds this, or nobody could see it: modules and code of libraries, types."""
    if isinstance(x, types.BuiltinFunctionType | np.ufunc | Primitive | type):
        return True
    if isinstance(x, types.ModuleType):
        return _is_library(x.__name__)
    return isinstance(x, types.FunctionType) and _is_library(x.__module__ or "")


def _is_library(name: str) -> bool:
    return name.partition(".")[0] in LIBRARIES


def _names(code: types.CodeType) -> set[str]:
    """The names of globals and attributes that code reads, with that of functions inside it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _of_function(f: types.FunctionType) -> Iterator[Place]:
    for cell in f.__closure__ or ():
        try:
            yield Place(cell, None, cell.cell_contents)
        except ValueError:  # an empty cell
            continue
    for name in _names(f.__code__):
        if name in f.__globals__:
            yield Place(f.__globals__, name, f.__globals__[name])
    for i, value in enumerate(f.__defaults__ or ()):
        yield Place(f.__defaults__, i, value)
    for name, value in (f.__kwdefaults__ or {}).items():
        yield Place(f.__kwdefaults__, name, value)


def _attributes(x: Any, names: set[str]) -> Iterator[Place]:
    if isinstance(x, types.ModuleType):
        entries = vars(x)
        for name in names & entries.keys():
            yield Place(entries, name, entries[name])
        return
    for name, value in list(getattr(x, "__dict__", {}).items()):
        if name in names:
            yield Place(x.__dict__, name, value)
    for cls in type(x).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in names and hasattr(x, name):
                yield Place(x, attribute(name), getattr(x, name))
        if not _is_library(cls.__module__):
            for name in names & cls.__dict__.keys():
                member = cls.__dict__[name]
                if isinstance(member, types.FunctionType):
                    yield Place(_Class(cls), attribute(name), member)


class _Class:
    """A class as a holder of its functions, which are looked up without binding them."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __getattr__(self, name: str) -> Any:
        return self.cls.__dict__[name]


def checker(places: list[Place]) -> Callable[[], bool]:
    """Whether the places hold what they held: one function, printed, as it runs at every call."""
    lines = ["def fresh():", "    try:"]
    scope: dict[str, Any] = {}
    for i, place in enumerate(places):
        scope[f"holder{i}"], scope[f"value{i}"] = place.holder, place.value
        if place.holder.__class__ is types.CellType:
            text = f"holder{i}.cell_contents"
        elif place.key.__class__ is attribute:
            text = f"holder{i}.{place.key}"
        else:
            scope[f"key{i}"] = place.key
            text = f"holder{i}[key{i}]"
        scope[f"same{i}"] = place.is_same
        lines.append(f"        if {text} is not value{i} and not same{i}():")
        lines.append("            return False")
    lines += ["        return True", "    except (LookupError, AttributeError, ValueError):"]
    lines.append("        return False")
    exec(compile("\n".join(lines), "<funcgrad printed>", "exec"), scope)
    return scope["fresh"]
