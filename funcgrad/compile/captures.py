"""What a function reads besides its arguments, and whether that is still the same.

Layer 4½. A compiled program is stale as soon as something that its function closes over is bound to
something else. So the names that the function's code reads are looked up: variables of the enclosing
functions, globals, and the attributes of the objects found there, as far as some code that may be
called names them. An array that the program reads becomes an input of it. Everything else is checked
before every call: what it is and, of numbers and arrays, how much it is; `freshness.py` does that.

What cannot be seen: large arrays that plain NumPy code reads are compared at some of their elements; of
installed packages, what is no attribute of an object and no number or array of a module; what is
reached only by C code, or by a name that is made up as the program runs.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import pickle
import random
import sys
import sysconfig
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..core import Tracer
from ..transforms.arguments import is_bound
from .freshness import (
    NUMBERS,
    Class,
    Code,
    Contents,
    Items,
    Place,
    Size,
    as_elements,
    attribute,
    member,
    variable,
)

MOST_ITEMS = 1000  # of a list or dict that are looked at one by one
LIBRARIES = ("funcgrad", "compat", "numpy", "scipy")
_INSTALLED = tuple({sysconfig.get_path(p) + os.sep for p in ("purelib", "platlib")})
_STANDARD = sysconfig.get_path("stdlib") + os.sep
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)


class Captured:
    """All places, and the containers whose size or contents count."""

    def __init__(self, places: list[Place], containers: list[Any]) -> None:
        self.places = places
        self.containers = containers
        self.generators: list[Any] = []  # of random numbers

    def has_changed(self) -> bool:
        """Whether the function has put something into a container: into a log, or an attribute."""
        return not all(c.is_same() for c in self.containers)

    def renew(self, after: Captured) -> None:
        """Leave out the containers that have changed; add what is new in a later search."""
        known = {(id(p.holder), p.key) for p in self.places}
        self.places += [p for p in after.places if (id(p.holder), p.key) not in known]
        before = {_what(c) for c in self.containers}
        same = [c for c in self.containers if c.is_same()]
        self.containers = [*same, *(c for c in after.containers if _what(c) not in before)]


def _what(container: Any) -> tuple[Any, ...]:
    """What a container compares, and of what."""
    of = container.of if isinstance(container, Code | Class) else container.holder
    return type(container), id(of), getattr(container, "take", None)


def captures(
    f: Any, *objects: Any, names: Iterable[str] = (), looks_inside: bool = True
) -> Captured:
    """What the code of `f`, of what it may call and of the `objects`' methods, reads by name.

    `names`: of methods that are called. `looks_inside`: into what objects of ours hold, by the names in
    their class's `__program_reads__`: the arrays of tensors, which plain code may read.
    """
    return _Search([f, *objects], names, looks_inside).found


def random_states(found: Captured) -> list[Any]:
    """Where generators of random numbers are: Python's, NumPy's, and those that were found."""
    states: list[Any] = [random.getstate(), np.random.get_state(legacy=False)]
    for x in found.generators:
        if isinstance(x, np.random.Generator):
            states.append(x.bit_generator.state)
        else:
            states.append(x.getstate() if isinstance(x, random.Random) else x.get_state())
    return [pickle.dumps(state) for state in states]  # their arrays can be compared so


class _Search:
    def __init__(self, waiting: list[Any], names: Iterable[str], looks_inside: bool) -> None:
        self.found = Captured([], [])
        self.looks_inside = looks_inside
        self.names: set[str] = set(names)
        self.seen: dict[int, Any] = {}
        self.known: set[tuple[int, Any]] = set()
        self.objects: list[Any] = []
        self.waiting: list[Any] = waiting
        scanned = -1
        while self.waiting or len(self.names) != scanned:
            while self.waiting:
                self.look_at(self.waiting.pop())
            scanned = len(self.names)
            for x in list(self.objects):  # again and again, until no name is new
                self.meet(_attributes(x, self.names))

    def meet(self, places: Iterable[Place]) -> None:
        for place in places:
            where = id(place.holder), place.key
            if where not in self.known and not _is_library_module(place.value):
                self.known.add(where)
                self.seen[id(place.holder)] = place.holder  # so that its id stays its own
                self.found.places.append(place)
                self.waiting.append(place.value)

    def look_at(self, x: Any) -> None:
        if id(x) in self.seen and x is self.seen[id(x)] and not isinstance(x, dict | list | tuple):
            return
        if (id(x), "looked at") in self.known:
            return
        self.known.add((id(x), "looked at"))
        self.seen[id(x)] = x
        if isinstance(x, types.FunctionType):
            if _is_installed(x.__module__):  # what it closes over may still be the user's
                self.waiting += [c.cell_contents for c in x.__closure__ or () if is_bound(c)]
                return
            self.names.update(_names(x.__code__))
            self.found.containers += [Code(x), Size(vars(x))]
            self.objects.append(x)
            self.meet(_of_function(x))
            self.meet(_attributes(x, self.names))
        elif isinstance(x, types.MethodType):
            self.waiting += [x.__self__, x.__func__]
        elif isinstance(x, types.BuiltinMethodType):
            self.waiting.append(x.__self__)
        elif isinstance(x, (np.random.Generator, np.random.RandomState, random.Random)):
            self.found.generators.append(x)
        elif isinstance(x, functools.partial):
            self.waiting += [x.func, x.args, x.keywords]
        elif isinstance(x, staticmethod | classmethod):
            self.waiting.append(x.__func__)
        elif isinstance(x, property | functools.cached_property):
            getters = (x.fget,) if isinstance(x, property) else (x.func,)
            self.waiting += [g for g in getters if g is not None]
        elif isinstance(x, list | tuple | deque | dict | set | frozenset):
            self.look_into(x)
        elif isinstance(x, (np.ndarray, Tracer, types.CodeType, *NUMBERS)) or x is None:
            pass  # an array's elements are compared by whoever knows which are inputs
        elif isinstance(x, contextvars.ContextVar):
            self.meet([Place(x, variable("get"), x.get(None))])
        elif "__wrapped__" in _own(x):
            self.waiting.append(_own(x)["__wrapped__"])
        else:
            self.objects.append(x)
            if not isinstance(x, types.ModuleType | type):
                self.look_at_object(x)
            self.meet(_attributes(x, self.names))

    def look_at_object(self, x: Any) -> None:
        if self.looks_inside:
            held = getattr(type(x), "__program_reads__", ())
            self.meet(Place(x, attribute(name), getattr(x, name)) for name in held)
        if hasattr(x, "__dict__"):
            self.found.containers.append(Size(_own(x)))  # an attribute may come to hide a class's
        if not _is_library(type(x).__module__):
            self.found.containers.append(Class(x))
            if hasattr(type(x), "__array__"):  # a table of pandas, for instance
                with contextlib.suppress(TypeError, ValueError, RuntimeError):
                    self.found.containers.append(Contents(x, as_elements))
        elif isinstance(x, (bytearray, memoryview)) or type(x).__module__ in ("array", "ctypes"):
            self.found.containers.append(Contents(x, bytes))

    def look_into(self, x: Any) -> None:
        if isinstance(x, set | frozenset):
            self.found.containers.append(Contents(x, frozenset))
            return
        if len(x) > MOST_ITEMS:
            self.found.containers.append(Items(x))
        elif not isinstance(x, tuple):
            self.found.containers.append(Contents(x, tuple if isinstance(x, dict) else len))
        keys = list(x)[:MOST_ITEMS] if isinstance(x, dict) else range(min(len(x), MOST_ITEMS))
        self.meet(Place(x, k, x[k]) for k in keys)
        if not isinstance(x, tuple) and type(x) not in (list, dict, deque):
            self.objects.append(x)


def _own(x: Any) -> dict[str, Any]:
    """The attributes of an instance; without its own `__getattr__`, which may do anything."""
    try:
        found = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}


def _is_library_module(x: Any) -> bool:
    """Whether a value is a module that nobody rebinds parts of."""
    return isinstance(x, types.ModuleType) and _is_library(x.__name__)


@functools.cache
def _is_library(name: str | None) -> bool:
    """Whether a module is ours, Python's or NumPy's: then nobody changes it while a program runs."""
    if not name or name == "__main__":
        return False
    if name.partition(".")[0] in LIBRARIES:
        return True
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if file is None:
        return getattr(getattr(module, "__spec__", None), "origin", None) in ("built-in", "frozen")
    return file.startswith(_STANDARD) and not file.startswith(_INSTALLED)


@functools.cache
def _is_installed(name: str | None) -> bool:
    """Whether a module's code is fixed, though its objects may change."""
    file = getattr(sys.modules.get(name or ""), "__file__", None) or ""
    return _is_library(name) or (name != "__main__" and file.startswith(_INSTALLED))


def _names(code: types.CodeType) -> set[str]:
    """The names of globals and attributes that code reads, by `getattr` and in functions inside too."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
        elif isinstance(constant, str) and constant.isidentifier():
            found.add(constant)
    return found


def _of_function(f: types.FunctionType) -> Iterator[Place]:
    for cell in f.__closure__ or ():
        if is_bound(cell):
            yield Place(cell, None, cell.cell_contents)
    for name in _names(f.__code__):
        if name in f.__globals__:
            yield Place(f.__globals__, name, f.__globals__[name])
    for i, value in enumerate(f.__defaults__ or ()):
        yield Place(f.__defaults__, i, value)
    for name, value in (f.__kwdefaults__ or {}).items():
        yield Place(f.__kwdefaults__, name, value)


def _attributes(x: Any, names: set[str]) -> Iterator[Place]:
    """The attributes of an object, module or class that have one of the names, and what its class
    runs for operators. Of an object of an installed package all: its code is not searched for names.
    """
    if isinstance(x, types.ModuleType):
        if not _is_installed(x.__name__):
            yield from _entries(vars(x), names)
        elif not _is_library(x.__name__):
            data = {k for k in names & vars(x).keys() if not isinstance(vars(x)[k], _CODE)}
            yield from _entries(vars(x), data)
        return
    if not isinstance(x, type):
        own, module = _own(x), type(x).__module__
        is_foreign = _is_installed(module) and not _is_library(module)
        yield from _entries(own, {k for k in own if type(k) is str} if is_foreign else names)
    for cls in (x if isinstance(x, type) else type(x)).__mro__:
        if _is_installed(cls.__module__):
            continue
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in names and not isinstance(x, type) and hasattr(x, name):
                yield Place(x, attribute(name), getattr(x, name))
        for name, entry in list(cls.__dict__.items()):
            is_operator = name.startswith("__") and isinstance(entry, types.FunctionType)
            is_slot = isinstance(entry, types.MemberDescriptorType)
            if is_operator or (name in names and not is_slot):
                yield Place(cls, member(name), entry)


def _entries(entries: dict[str, Any], names: set[str]) -> Iterator[Place]:
    for name in names & entries.keys():
        yield Place(entries, name, entries[name])
