"""What a function reads besides its arguments, and whether that is still the same.

Layer 4½. A compiled program is stale as soon as something that its function closes over is bound to
something else. So the names that the function's code reads are looked up: variables of the enclosing
functions, globals, and the attributes of the objects found there, as far as some code that may be
called names them. An array that the program reads becomes an input of it. Everything else is checked
before every call: what it is and, of numbers and small arrays, how much it is.

What cannot be seen: a large array that the function reads by plain NumPy code alone is compared at 64
of its elements; what is reached only by C code, or by a name that is made up as the program runs.
"""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..core import Tracer

MOST_ITEMS = 1000  # of a list or dict that are looked at
SMALL = 4096  # bytes of an array that are all compared
LIBRARIES = ("funcgrad", "compat")
NUMBERS = (bool, int, float, complex, str, bytes, np.generic)
_INSTALLED = tuple({sysconfig.get_path(p) + os.sep for p in ("stdlib", "purelib", "platlib")})
_MISSING = object()


class attribute(str):
    """The key of a place that is an attribute."""

    __slots__ = ()


class member(str):
    """The key of a place that is an entry of a class."""

    __slots__ = ()


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
            if self.key.__class__ is member:
                return holder.__dict__[self.key]
            return holder[self.key]
        except (LookupError, AttributeError, ValueError):
            return _MISSING

    def put_back(self) -> None:
        """Bind the place to what it held again."""
        if self.holder.__class__ is types.CellType:
            self.holder.cell_contents = self.value
        elif self.key.__class__ in (attribute, member):
            setattr(self.holder, self.key, self.value)
        elif not isinstance(self.holder, tuple):
            self.holder[self.key] = self.value

    def is_same(self) -> bool:
        """Whether the same is there, or a number of the same type, size and sign of zero."""
        found, value = self.get(), self.value
        if found is value:
            return True
        same = found.__class__ is value.__class__ and isinstance(found, NUMBERS)
        return same and repr(found) == repr(value)


class _Contents:
    """A copy of what is in a container or array that the program does not take as an input."""

    __slots__ = ("copy", "holder", "take")

    def __init__(self, holder: Any, take: Callable[[Any], Any]) -> None:
        self.holder = holder
        self.take = take
        self.copy = take(holder)

    def is_same(self) -> bool:
        return self.take(self.holder) == self.copy


def _elements(x: np.ndarray) -> Any:
    """Of a large array, 64 of the elements."""
    part = x if x.nbytes <= SMALL else x.reshape(-1)[:: -(-x.size // 64)] if x.size else x
    return part.shape, part.dtype, part.tobytes()


class Captured:
    """All places, and the containers whose size or contents count."""

    def __init__(self, places: list[Place], containers: list[Any]) -> None:
        self.places = places
        self.containers = containers

    def forget_changes(self) -> None:
        """Leave out the containers that the function has put something into, such as a log."""
        self.containers = [c for c in self.containers if c.is_same()]


def captures(f: Any, *objects: Any, names: Iterable[str] = ()) -> Captured:
    """What the code of `f`, of what it may call and of the `objects`' methods, reads by name.

    `names`: of methods that are called.
    """
    return _Search([f, *objects], names).found


class Size:
    """How many entries a container has."""

    __slots__ = ("copy", "holder")

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        self.copy = len(holder)

    def is_same(self) -> bool:
        return len(self.holder) == self.copy


class _Search:
    def __init__(self, waiting: list[Any], names: Iterable[str]) -> None:
        self.found = Captured([], [])
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
            if _is_library(x.__module__):  # what it closes over may still be the user's
                self.waiting += [c.cell_contents for c in x.__closure__ or () if _is_filled(c)]
                return
            self.names.update(_names(x.__code__))
            self.meet(_of_function(x))
        elif isinstance(x, types.MethodType):
            self.waiting += [x.__self__, x.__func__]
        elif isinstance(x, functools.partial):
            self.waiting += [x.func, *x.args, *x.keywords.values()]
        elif isinstance(x, staticmethod | classmethod):
            self.waiting.append(x.__func__)
        elif isinstance(x, property | functools.cached_property):
            getters = (x.fget,) if isinstance(x, property) else (x.func,)
            self.waiting += [g for g in getters if g is not None]
        elif isinstance(x, list | tuple | deque | dict | set | frozenset):
            self.look_into(x)
        elif isinstance(x, (np.ndarray, Tracer, types.CodeType, *NUMBERS)) or x is None:
            pass
        elif "__wrapped__" in _own(x):
            self.waiting.append(_own(x)["__wrapped__"])
        else:
            self.objects.append(x)
            own = _own(x)
            if own and not isinstance(x, types.ModuleType | type):
                self.found.containers.append(Size(own))  # an attribute may come to hide a class's
            self.meet(_attributes(x, self.names))

    def look_into(self, x: Any) -> None:
        if isinstance(x, set | frozenset):
            self.found.containers.append(_Contents(x, frozenset))
            return
        if not isinstance(x, tuple):
            self.found.containers.append(_Contents(x, len))
        keys = list(x)[:MOST_ITEMS] if isinstance(x, dict) else range(min(len(x), MOST_ITEMS))
        self.meet(Place(x, k, x[k]) for k in keys)
        if not isinstance(x, tuple) and type(x) not in (list, dict, deque):
            self.objects.append(x)


def _is_filled(cell: Any) -> bool:
    """Whether a variable of an enclosing function is bound."""
    try:
        cell.cell_contents  # noqa: B018
        return True
    except ValueError:
        return False


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
    """Whether a module is ours, Python's or installed: then nobody changes it while a program runs."""
    if not name or name == "__main__":
        return False
    if name.partition(".")[0] in LIBRARIES:
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or file.startswith(_INSTALLED)


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
        if _is_filled(cell):
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
    runs for operators."""
    if isinstance(x, types.ModuleType):
        if not _is_library(x.__name__):
            yield from _entries(vars(x), names)
        return
    if not isinstance(x, type):
        yield from _entries(_own(x), names)
    for cls in (x if isinstance(x, type) else type(x)).__mro__:
        if _is_library(cls.__module__):
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


# ---------------------------------------------------------------- checking


def checker(
    places: Iterable[Place], containers: Iterable[Any], twins: Iterable[tuple[Place, Place]] = ()
) -> Callable[[], bool]:
    """Whether everything is as it was: one function, printed, as it runs at every call.

    `twins`: places that held one array, and must hold one.
    """
    lines = ["def fresh():", "    try:"]
    scope: dict[str, Any] = {}

    def text(place: Place) -> str:
        name = f"holder{len(scope)}"
        scope[name] = place.holder
        if place.holder.__class__ is types.CellType:
            return f"{name}.cell_contents"
        if place.key.__class__ is attribute:
            return f"{name}.{place.key}"
        if place.key.__class__ is member:
            return f"{name}.__dict__[{str(place.key)!r}]"
        scope[f"key{name}"] = place.key
        return f"{name}[key{name}]"

    def require(condition: str) -> None:
        lines.append(f"        if not ({condition}): return False")

    for place in places:
        value, same = f"value{len(scope)}", f"same{len(scope)}"
        scope[value], scope[same] = place.value, place.is_same
        require(f"{text(place)} is {value} or {same}()")
    for one, other in twins:
        require(f"{text(one)} is {text(other)}")
    for container in containers:
        same = f"same{len(scope)}"
        if container.__class__ is Size:
            scope[same] = container.holder
            require(f"len({same}) == {container.copy}")
            continue
        scope[same] = container.is_same
        require(f"{same}()")
    lines += ["        return True", "    except (LookupError, AttributeError, ValueError):"]
    lines.append("        return False")
    exec(compile("\n".join(lines), "<funcgrad printed>", "exec"), scope)
    return scope["fresh"]


def watched_arrays(places: Iterable[Place], inputs: Iterable[Any]) -> list[Any]:
    """What is in the arrays that are no inputs of the program; plain NumPy code may read them."""
    taken = {id(x) for x in inputs}
    arrays = {id(p.value): p.value for p in places if p.value.__class__ is np.ndarray}
    return [_Contents(x, _elements) for k, x in arrays.items() if k not in taken]
