"""What a function reads besides its arguments, and whether that is still the same.

Layer 4½. A compiled program is stale as soon as something that its function closes over is bound to
something else. So the names that the function's code reads are looked up: variables of the enclosing
functions, globals, and the attributes of the objects found there, as far as some code that may be
called names them. An array that the program reads becomes an input of it. Everything else is checked
before every call: what it is and, of numbers and arrays, how much it is; `freshness.py` does that.

Code of installed packages and of Python's own modules is not searched for names: so of their objects,
and of ours that inherit from them, all attributes are looked at (of Python's own: of containers and
descriptors). So are those of all objects where code reads `vars(x)` or `x.__dict__`.

What cannot be seen: large arrays that plain NumPy code reads are compared at some of their elements;
what objects hold that come after the first 1,000 of a container; of installed packages, what is no
attribute of an object and no number or array of a module; of Python's own modules, what is in no
container; what is reached only by C code, or by a name that is made up as the program runs; what an
iterator gives next. A check must not keep alive what weak references are to: `Captured.weak` says
that there are any.
"""

from __future__ import annotations

import contextlib
import contextvars
import dis
import functools
import gc
import importlib.util
import itertools
import os
import pickle
import random
import sys
import sysconfig
import threading
import types
import weakref
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np

from ..core import Tracer
from ..ops.sparse import is_sparse
from ..transforms.arguments import is_bound
from .freshness import (
    MISSING,
    NUMBERS,
    Class,
    Code,
    Contents,
    Items,
    Place,
    Size,
    as_elements,
    as_sparse,
    attribute,
    member,
    variable,
)

MOST_ITEMS = 1000  # of a list or dict that are looked at one by one
LIBRARIES = ("funcgrad", "compat", "numpy", "scipy")
_INSTALLED = tuple({sysconfig.get_path(p) + os.sep for p in ("purelib", "platlib")})
_STANDARD = sysconfig.get_path("stdlib") + os.sep
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)
_PLAIN = (np.ndarray, Tracer, types.CodeType, *NUMBERS, type(None))
_CONTAINERS = (list, tuple, deque, dict, set, frozenset)
_FRAMES = (types.FrameType, types.TracebackType)
_IMPORT = dis.opmap["IMPORT_NAME"]
_IMPORTERS = frozenset({"import_module", "__import__", "modules"})  # take modules' names as strings
_ALL = frozenset({"vars", "__dict__"})  # read attributes without their names
# Methods that store, copy or show what an object has: other code does not compute with that.
_STORING = ("__init__", "__repr__", "__getstate__", "__setstate__", "__getattr__", "__setattr__")


class Captured:
    """All places, and the containers whose size or contents count."""

    def __init__(self, places: list[Place], containers: list[Any]) -> None:
        self.places = places
        self.containers = containers
        self.generators: list[Any] = []  # of random numbers
        self.weak: list[Any] = []  # references to objects that may go, or change unseen

    def has_changed(self) -> bool:
        """Whether the function has put something somewhere: into a log, an attribute, an import."""
        missing = (p for p in self.places if p.value is MISSING)
        return not all(c.is_same() for c in (*self.containers, *missing))

    def renew(self, after: Captured) -> None:
        """Leave out what has changed that `has_changed` tells; add what is new in a later search."""
        self.places = [p for p in self.places if p.value is not MISSING or p.is_same()]
        self.weak = after.weak
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
            if where in self.known:
                continue
            self.known.add(where)
            self.seen[id(place.holder)] = place.holder  # so that its id stays its own
            if not _is_library_module(place.value):
                self.found.places.append(place)
                self.waiting.append(place.value)
            elif not _is_ours(_name_of(place.value)):  # Python's own: `sys.argv`, `os.environ`
                self.waiting.append(place.value)

    def look_at(self, x: Any) -> None:
        if type(x) in weakref.ProxyTypes:
            self.found.weak.append(x)
            return
        if (id(x), "looked at") in self.known:
            return
        self.known.add((id(x), "looked at"))
        self.seen[id(x)] = x
        if isinstance(x, types.FunctionType):
            if x is os.getenv:
                self.waiting.append(os.environ)
            if _is_installed(x.__module__):  # what it closes over may still be the user's
                self.waiting += [c.cell_contents for c in x.__closure__ or () if is_bound(c)]
                return
            self.names |= _names(x.__code__) - (_ALL if x.__name__ in _STORING else set())
            self.found.containers += [Code(x), Size(vars(x))]
            self.objects.append(x)
            self.meet(_of_function(x))
            self.meet(_imported(x))
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
        elif is_sparse(x):  # one kind is a dict, whose items are not its elements
            self.found.containers.append(Contents(x, as_sparse))
            self.look_at_object(x)
        elif isinstance(x, _CONTAINERS):
            self.look_into(x)
        elif isinstance(x, _PLAIN):
            self.look_at_plain(x)
        elif isinstance(x, contextvars.ContextVar):
            self.meet([Place(x, variable("get"), x.get(None))])
        elif isinstance(x, weakref.ref):
            self.look_behind(x)
        elif "__wrapped__" in _own(x):
            self.waiting.append(_own(x)["__wrapped__"])
        else:
            self.look_at_object(x)

    def look_at_object(self, x: Any) -> None:
        self.objects.append(x)
        module = _name_of(x) if isinstance(x, types.ModuleType) else _module_of(type(x))
        if isinstance(x, type):
            classes = [c for c in x.__mro__ if not _is_installed(_module_of(c))]
            self.found.containers += [Size(c.__dict__) for c in classes if self.is_new(c)]
            self.waiting.append(type(x))
        elif not isinstance(x, types.ModuleType):
            self.look_at_state(x, _is_library(module))
            if not _is_installed(module):
                self.waiting.append(type(x))
            elif _is_library(module) and not (_is_ours(module) or hasattr(x, "__dict__")):
                self.look_through(x)
        self.meet(_attributes(x, self.names))

    def is_new(self, cls: type) -> bool:
        """Whether the size of a class has not been noted; an entry may come to hide one of a base."""
        is_known = (id(cls), "size") in self.known
        self.known.add((id(cls), "size"))
        return not is_known

    def look_at_state(self, x: Any, is_library: bool) -> None:
        if self.looks_inside:
            held = getattr(type(x), "__program_reads__", ())
            self.meet(Place(x, attribute(name), getattr(x, name)) for name in held)
        if isinstance(x, threading.local):
            self.found.containers.append(Contents(x, _names_set))
        elif hasattr(x, "__dict__"):
            self.found.containers.append(Size(_own(x)))  # an attribute may come to hide a class's
        if not is_library:
            self.found.containers.append(Class(x))
        if isinstance(x, np.ndarray):
            return  # its elements are compared by whoever knows which are inputs
        if not is_library and hasattr(type(x), "__array__"):  # a table of pandas, for instance
            with contextlib.suppress(TypeError, ValueError, RuntimeError):
                self.found.containers.append(Contents(x, as_elements))
        elif _has_buffer(x):
            self.found.containers.append(Contents(x, bytes))

    def look_at_plain(self, x: Any) -> None:
        """A number, a string or an array, perhaps of a class that adds attributes."""
        if isinstance(x, str) and x.isidentifier():
            self.names.add(x)  # for `getattr`, or an `attrgetter`
        elif isinstance(x, np.ndarray) and x.dtype == object:
            items = ((i, x[i]) for i in itertools.islice(np.ndindex(x.shape), MOST_ITEMS))
            self.meet(Place(x, i, y) for i, y in items if not isinstance(y, NUMBERS))
        elif isinstance(x, np.ndarray) and x.dtype.hasobject:
            self.waiting += x.flat[:MOST_ITEMS].tolist()
        if not _is_library(_module_of(type(x))):
            self.look_at_object(x)
        elif isinstance(x, np.ndarray):  # a mask and what fills it
            self.meet(Place(x, attribute(name), held) for name, held in _own(x).items())

    def look_through(self, x: Any) -> None:
        """Something of Python's own without attributes, such as a view of a dict, or a getter."""
        if not isinstance(x, _FRAMES):
            self.waiting += [y for y in gc.get_referents(x) if y is not type(x)]

    def look_behind(self, x: Any) -> None:
        """Classes stay as a rule (`singledispatch` has weak references to them); no other object."""
        found = x()
        if isinstance(found, type):
            self.waiting.append(found)
        elif found is not None:
            self.found.weak.append(x)

    def look_into(self, x: Any) -> None:
        if x is sys.modules:
            return  # it grows with every import; `_imported` says what counts
        if isinstance(x, set | frozenset):
            self.found.containers.append(Contents(x, frozenset))
            self.waiting += list(x)[:MOST_ITEMS]
        else:
            if len(x) > MOST_ITEMS:
                self.found.containers.append(Items(x))
            elif not isinstance(x, tuple):
                self.found.containers.append(Contents(x, tuple if isinstance(x, dict) else len))
            keys = list(x)[:MOST_ITEMS] if isinstance(x, dict) else range(min(len(x), MOST_ITEMS))
            self.waiting += [k for k in keys if not isinstance(k, str | int)]
            self.meet(Place(x, k, x[k]) for k in keys)
        if not _is_library(_module_of(type(x))):
            self.look_at_object(x)


def _own(x: Any) -> dict[str, Any]:
    """The attributes of an instance; without its own `__getattr__`, which may do anything."""
    try:
        found = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}


def _names_set(x: Any) -> tuple[str, ...]:
    """The names of the attributes of a `threading.local` that this thread has set."""
    return tuple(vars(x))


def _has_buffer(x: Any) -> bool:
    """Whether an object lends its memory, as those of `array` and `ctypes` do."""
    try:
        memoryview(x).release()
    except (TypeError, ValueError, BufferError):
        return False
    return True


def _name_of(x: types.ModuleType) -> str:
    """The name that a module was imported by; packages written for another one may rename it."""
    spec = x.__spec__
    return x.__name__ if spec is None else spec.name


def _is_library_module(x: Any) -> bool:
    """Whether a value is a module that nobody rebinds parts of."""
    return isinstance(x, types.ModuleType) and _is_library(_name_of(x))


def _module_of(cls: type) -> str:
    """The module of a class; some that are made in C name none."""
    name = cls.__module__
    return name if isinstance(name, str) else "builtins"


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in LIBRARIES


@functools.cache
def _is_library(name: str | None) -> bool:
    """Whether a module is ours, Python's or NumPy's: then nobody changes it while a program runs."""
    if not name or name == "__main__":
        return False
    if _is_ours(name):
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
    for constant in _constants(code.co_consts):
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
        elif isinstance(constant, str) and constant.isidentifier():
            found.add(constant)
    return found


def _constants(found: Iterable[Any]) -> Iterator[Any]:
    for x in found:
        if isinstance(x, tuple | frozenset):
            yield from _constants(x)
        else:
            yield x


def _imports(code: types.CodeType) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The modules that code imports, in functions inside too, and the names that it takes from them."""
    if _IMPORT in code.co_code[::2]:
        steps = [i for i in dis.get_instructions(code) if i.opname != "EXTENDED_ARG"]
        for level, names, step in zip(steps, steps[1:], steps[2:], strict=False):
            if step.opcode == _IMPORT:
                yield "." * level.argval + step.argval, names.argval or ()
    is_by_name = not _IMPORTERS.isdisjoint(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _imports(constant)
        elif is_by_name and isinstance(constant, str) and constant in sys.modules:
            yield constant, ()


def _imported(f: types.FunctionType) -> Iterator[Place]:
    """The modules that a function imports as it runs; they may not be there before."""
    of = f.__globals__
    package = of.get("__package__")
    if package is None:
        package = of.get("__name__", "")
        package = package if "__path__" in of else package.rpartition(".")[0]
    for relative, names in _imports(f.__code__):
        try:
            name = importlib.util.resolve_name(relative, package)
        except ImportError:  # as it will be raised when the code runs
            continue
        for loaded in {name, name.partition(".")[0]}:
            yield Place(sys.modules, loaded, sys.modules.get(loaded, MISSING))
        module = sys.modules.get(name)
        if isinstance(module, types.ModuleType) and not _is_library(name):
            for missing in set(names) - vars(module).keys():
                yield Place(vars(module), missing, MISSING)


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
    runs for operators; all of an object that code reads which is not searched for names.
    """
    reads_all = not names.isdisjoint(_ALL)
    if isinstance(x, types.ModuleType):
        yield from _entries(vars(x), _names_in_module(x, names, reads_all))
        return
    if not isinstance(x, type):
        is_users = not _is_library(_module_of(type(x)))
        own = vars(x) if isinstance(x, threading.local) else _own(x)
        if (reads_all and is_users) or _is_read_elsewhere(x):
            read = {k for k in own if type(k) is str}
        else:
            read = names & own.keys()
        if isinstance(x, threading.local):  # each thread has its own
            yield from (Place(x, attribute(name), own[name]) for name in read)
        else:
            yield from _entries(own, read)
    classes = type(x).__mro__
    if isinstance(x, type):
        classes = x.__mro__ + classes
    for cls in classes:
        if _is_installed(_module_of(cls)):
            continue
        for name, entry in list(cls.__dict__.items()):
            is_operator = name.startswith("__") and isinstance(entry, types.FunctionType)
            if isinstance(entry, types.MemberDescriptorType):  # of `__slots__`
                if name in names and not isinstance(x, type):
                    yield Place(x, attribute(name), getattr(x, name, MISSING))
            elif is_operator or name in names:
                yield Place(cls, member(name), entry)


def _names_in_module(x: types.ModuleType, names: set[str], reads_all: bool) -> Iterable[str]:
    """Which entries of a module count: those that are named, and what makes others up; if it is
    installed, of these the data; of Python's own modules containers.
    """
    own = vars(x)
    named = (names | {"__getattr__"}) & own.keys()
    if not _is_installed(_name_of(x)):
        data = (k for k in own if reads_all and not k.startswith("__"))
        return named | {k for k in data if not isinstance(own[k], _CODE)}
    if not _is_library(_name_of(x)):
        return {k for k in named if not isinstance(own[k], _CODE)}
    kept = (k for k in named if not isinstance(own[k], (type, str, bytes, tuple)))
    return {k for k in kept if own[k] is os.getenv or isinstance(own[k], Collection)}


def _is_read_elsewhere(x: Any) -> bool:
    """Whether code that is not searched for names reads the attributes of an object."""
    for cls in type(x).__mro__[:-1]:
        module = _module_of(cls)
        if _is_installed(module) and not _is_library(module):
            return True
        is_pythons = _is_library(module) and not _is_ours(module) and module != "builtins"
        if is_pythons and (hasattr(cls, "__get__") or issubclass(cls, Collection)):
            return True
    return False


def _entries(entries: dict[str, Any], names: Iterable[str]) -> Iterator[Place]:
    for name in names:
        yield Place(entries, name, entries[name])
