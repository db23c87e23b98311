"""Whether what a program was made from is still as it was: one printed function, run at every call.

Layer 4½. `captures.py` finds what that is.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core import Tracer, aval_of, current

SMALL = 1 << 16  # bytes of an array that are all compared
SAMPLE = 256  # elements of a larger one
NUMBERS = (bool, int, float, complex, str, bytes, np.generic)
MISSING = object()  # the value of a place where nothing is


class attribute(str):
    """The key of a place that is an attribute."""

    __slots__ = ()


class member(str):
    """The key of a place that is an entry of a class."""

    __slots__ = ()


class variable(str):
    """The key of a place that is the value of a context variable."""

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
            if self.key.__class__ is variable:
                return holder.get(None)
            return holder[self.key]
        except (LookupError, AttributeError, ValueError):
            return MISSING

    def put_back(self) -> None:
        """Bind the place to what it held again; a module that was imported stays."""
        if self.value is MISSING:
            return
        if self.holder.__class__ is types.CellType:
            self.holder.cell_contents = self.value
        elif self.key.__class__ in (attribute, member):
            setattr(self.holder, self.key, self.value)
        elif self.key.__class__ is variable:
            self.holder.set(self.value)
        elif not isinstance(self.holder, tuple):
            self.holder[self.key] = self.value

    def is_same(self) -> bool:
        """Whether the same is there, or a number of the same type, size and sign of zero."""
        found, value = self.get(), self.value
        if found is value or _are_left_behind(found, value):
            return True
        same = found.__class__ is value.__class__ and isinstance(found, NUMBERS)
        return same and repr(found) == repr(value) and not hasattr(found, "__dict__")

    def text(self, holder: str, key: str) -> str:
        """What is there, in Python, for a holder and a key of these names."""
        if self.holder.__class__ is types.CellType:
            return f"{holder}.cell_contents"
        if self.key.__class__ is attribute:
            return f"{holder}.{self.key}"
        if self.key.__class__ is member:
            return f"{holder}.__dict__[{str(self.key)!r}]"
        if self.key.__class__ is variable:
            return f"{holder}.get(None)"
        return f"{holder}[{key}]"


def _are_left_behind(x: Any, y: Any) -> bool:
    """Whether both are values, of one type, of traces that have ended: nothing computes with them."""
    if x.__class__ is not y.__class__ or not isinstance(x, Tracer):
        return False
    running = current.get()
    ended = not running.is_inside(x.owner) and not running.is_inside(y.owner)
    return ended and aval_of(x) == aval_of(y)


class Contents:
    """A copy of what is in a container, or of a property of it."""

    __slots__ = ("copy", "holder", "take")

    def __init__(self, holder: Any, take: Callable[[Any], Any]) -> None:
        self.holder = holder
        self.take = take
        self.copy = take(holder)

    def is_same(self) -> bool:
        try:
            return bool(self.take(self.holder) == self.copy)
        except (TypeError, ValueError, RuntimeError):  # keys or tables that cannot be compared
            return False


class Size:
    """How many entries a container has."""

    __slots__ = ("copy", "holder")

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        self.copy = len(holder)

    def is_same(self) -> bool:
        return len(self.holder) == self.copy


class Items:
    """Which objects are in a long container."""

    __slots__ = ("copy", "holder")

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        self.copy = self._now()

    def _now(self) -> list[Any]:
        holder = self.holder
        return [*holder, *holder.values()] if isinstance(holder, dict) else list(holder)

    def is_same(self) -> bool:
        now = self._now()
        return len(now) == len(self.copy) and all(map(operator.is_, now, self.copy))


class Code:
    """The code and the defaults of a function."""

    __slots__ = ("copy", "of")

    def __init__(self, of: types.FunctionType) -> None:
        self.of = of
        self.copy = of.__code__, of.__defaults__, of.__kwdefaults__

    def is_same(self) -> bool:
        now = self.of.__code__, self.of.__defaults__, self.of.__kwdefaults__
        return all(map(operator.is_, now, self.copy))


class Class:
    """The class of an object."""

    __slots__ = ("copy", "of")

    def __init__(self, of: Any) -> None:
        self.of = of
        self.copy = of.__class__

    def is_same(self) -> bool:
        return self.of.__class__ is self.copy


def some_elements(x: np.ndarray) -> np.ndarray:
    """A view of all elements of a small array, of some of a large one."""
    plain = x.view(np.ndarray)
    if plain.nbytes <= SMALL or not plain.size:
        return plain
    for flat in (plain, plain.T):
        if flat.flags.c_contiguous:
            return flat.reshape(-1)[:: -(-plain.size // SAMPLE)]
    most = round(SAMPLE ** (1 / plain.ndim))
    return plain[tuple(slice(None, None, -(-n // most)) for n in plain.shape)]


def as_elements(x: Any) -> Any:
    """The elements of something that can be made an array of."""
    found = np.asarray(x)
    if found.dtype.hasobject:
        return found.shape, repr(found.reshape(-1)[:SAMPLE].tolist())
    return found.shape, found.dtype, some_elements(found).tobytes()


def as_sparse(x: Any) -> Any:
    """Some elements of the arrays in which a sparse matrix of SciPy's is kept."""
    kept = x.tocoo() if x.format in ("lil", "dok") else x
    held = [y for v in vars(kept).values() for y in (v if isinstance(v, tuple) else (v,))]
    arrays = [y for y in held if isinstance(y, np.ndarray)]
    return x.format, x.shape, [(y.dtype, some_elements(y).tobytes()) for y in arrays]


class Elements:
    """What is in an array."""

    __slots__ = ("copy", "part")

    def __init__(self, x: np.ndarray) -> None:
        self.part = some_elements(x)
        self.copy = self.part.tobytes()

    def is_same(self) -> bool:
        return self.part.tobytes() == self.copy


class ElementsAt:
    """What is in the array in a place, which may come to hold another array."""

    __slots__ = ("copy", "is_small", "place")

    def __init__(self, place: Place) -> None:
        self.place = place
        part = some_elements(place.value)
        self.copy = part.tobytes()
        self.is_small = part.size == place.value.size

    def is_same(self) -> bool:
        found = self.place.get()
        return isinstance(found, np.ndarray) and some_elements(found).tobytes() == self.copy


def watched_arrays(places: Iterable[Place], skipped: Iterable[Any]) -> list[Elements]:
    """What is in the arrays that are in places, but for those that are `skipped`."""
    known = {id(x) for x in skipped}
    arrays = {id(p.value): p.value for p in places if isinstance(p.value, np.ndarray)}
    return [Elements(x) for k, x in arrays.items() if k not in known]


# ---------------------------------------------------------------- the function


def checker(
    places: Iterable[Place], contents: Iterable[Any], twins: Iterable[tuple[Place, Place]] = ()
) -> Callable[[], bool]:
    """Whether everything is as it was: one function, printed, as it runs at every call.

    `twins`: places that held one array, and must hold one.
    """
    printer = _Printer()
    for place in places:
        printer.add_place(place)
    for one, other in twins:
        printer.require(f"{printer.text(one)} is {printer.text(other)}")
    for x in contents:
        printer.add_contents(x)
    return printer.function()


class _Printer:
    def __init__(self) -> None:
        self.lines = ["def fresh():", "    try:"]
        self.scope: dict[str, Any] = {}

    def name(self, x: Any) -> str:
        name = f"x{len(self.scope)}"
        self.scope[name] = x
        return name

    def require(self, condition: str) -> None:
        self.lines.append(f"        if not ({condition}): return False")

    def text(self, place: Place) -> str:
        return place.text(self.name(place.holder), self.name(place.key))

    def add_place(self, place: Place) -> None:
        value, same = self.name(place.value), self.name(place.is_same)
        if place.value is MISSING:
            self.require(f"{same}()")
        else:
            self.require(f"{self.text(place)} is {value} or {same}()")

    def add_contents(self, x: Any) -> None:
        if x.__class__ is Size:
            self.require(f"len({self.name(x.holder)}) == {x.copy}")
        elif x.__class__ is Elements:
            self.require(f"{self.name(x.part)}.tobytes() == {self.name(x.copy)}")
        elif x.__class__ is ElementsAt and x.is_small:
            self.require(f"{self.text(x.place)}.tobytes() == {self.name(x.copy)}")
        elif x.__class__ is Class:
            self.require(f"{self.name(x.of)}.__class__ is {self.name(x.copy)}")
        elif x.__class__ is Code:
            f = self.name(x.of)
            names = ("__code__", "__defaults__", "__kwdefaults__")
            same = [f"{f}.{k} is {self.name(v)}" for k, v in zip(names, x.copy, strict=True)]
            self.require(" and ".join(same))
        else:
            self.require(f"{self.name(x.is_same)}()")

    def function(self) -> Callable[[], bool]:
        lines = [*self.lines, "        return True"]
        lines += ["    except (LookupError, AttributeError, ValueError):", "        return False"]
        exec(compile("\n".join(lines), "<funcgrad printed>", "exec"), self.scope)
        return self.scope.pop("fresh")  # no cycle
