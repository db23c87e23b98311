"""`jit` never answers with what was read earlier: imports, and what holds other things out of sight."""

from __future__ import annotations

import array
import collections
import ctypes
import functools
import importlib
import operator
import os
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import jit


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Whoever changes the world all the time is told so; that is tested with `jit`."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="jit has compiled")
        yield


# ---------------------------------------------------------------- imports


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """A module, and a package with one, that functions import as they run."""
    package = tmp_path / "holders_package"
    package.mkdir()
    (tmp_path / "holders_settings.py").write_text("scale = 2.0\n")
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("scale = 2.0\n")
    reader = "def read(x):\n    from .part import scale\n    return x * scale\n"
    (package / "reader.py").write_text(reader)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield importlib.import_module("holders_settings")
    for name in list(sys.modules):
        if name.startswith("holders_"):
            del sys.modules[name]


def whole(x: Any) -> Any:
    import holders_settings

    return x * holders_settings.scale


def name_of(x: Any) -> Any:
    from holders_settings import scale

    return x * scale


def dotted(x: Any) -> Any:
    import holders_package.part

    return x * holders_package.part.scale


def renamed(x: Any) -> Any:
    import holders_package.part as p

    return x * p.scale


def submodule(x: Any) -> Any:
    from holders_package import part

    return x * part.scale


def called(x: Any) -> Any:
    def f() -> Any:
        return whole(x)

    return f()


def inside(x: Any) -> Any:
    def f() -> Any:
        import holders_settings

        return x * holders_settings.scale

    return f()


def relative(x: Any) -> Any:
    from holders_package.reader import read

    return read(x)


def by_string(x: Any) -> Any:
    return x * importlib.import_module("holders_settings").scale


def looked_up(x: Any) -> Any:
    return x * sys.modules["holders_settings"].scale  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "f",
    [whole, name_of, dotted, renamed, submodule, called, inside, relative, by_string, looked_up],
    ids=lambda f: f.__name__,
)
def test_modules_that_are_imported_inside(f: Any, settings: types.ModuleType) -> None:
    compiled = jit(f)
    assert compiled(1.0) == 2.0 == compiled(1.0)
    for module in (settings, sys.modules.get("holders_package.part")):
        if module is not None:
            module.scale = 3.0  # type: ignore[attr-defined]
    assert compiled(1.0) == 3.0 == f(1.0)
    other = types.ModuleType(settings.__name__)
    other.scale = 5.0  # type: ignore[attr-defined]
    sys.modules[settings.__name__] = other
    assert compiled(1.0) == f(1.0)


def test_a_module_that_comes_later() -> None:
    name = "holders_that_come"

    def f(x: Any) -> Any:
        try:
            import holders_that_come  # type: ignore[import-not-found]
        except ImportError:
            return x
        return x * holders_that_come.scale

    compiled = jit(f)
    assert compiled(1.0) == compiled(1.0) == 1.0
    sys.modules[name] = types.ModuleType(name)
    try:
        sys.modules[name].scale = 3.0  # type: ignore[attr-defined]
        assert compiled(1.0) == 3.0
    finally:
        del sys.modules[name]


def test_a_module_that_makes_its_attributes_up(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = types.ModuleType("holders_lazy")
    code = """
table = {"scale": 2.0}
def __getattr__(name):
    if name in table:
        return table[name]
    raise AttributeError(name)
"""
    exec(code, vars(made))
    monkeypatch.setitem(sys.modules, "holders_lazy", made)

    def f(x: Any) -> Any:
        from holders_lazy import scale  # type: ignore[import-not-found]

        return x * scale * made.scale

    compiled = jit(f)
    assert compiled(1.0) == compiled(1.0) == 4.0
    made.table.update(scale=3.0)
    assert compiled(1.0) == 9.0


def test_modules_that_name_each_other() -> None:
    made: Any = types.ModuleType("made")
    made.maths, made.own, made.scale = __import__("math"), made, 2.0
    f = jit(lambda x: x * made.own.scale * made.maths.sqrt(4.0))
    assert f(1.0) == 4.0
    made.scale = 3.0
    assert f(1.0) == 6.0


# ---------------------------------------------------------------- holders


class Thing:
    """Only who sets it names its attribute."""

    v: Any

    def total(self) -> Any:
        return sum(vars(self).values())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__dict__.values())


def thing(v: Any = 2.0) -> Any:
    made = Thing()
    made.v = v
    return made


class Private:
    __slots__ = ("__v", "later")

    def __init__(self) -> None:
        self.set(2.0)

    def set(self, v: float) -> None:
        self.__v = v

    def get(self) -> float:
        return self.__v


class Number(float):
    k: float


class Pair(tuple):
    k: float


class Point(NamedTuple):
    a: float


class Scaled(Point):
    k = 2.0


class Quantity(np.ndarray):
    k: float


class Meta(type):
    scale = 2.0


class Made(metaclass=Meta):
    @classmethod
    def scaled(cls, x: Any) -> Any:
        return x * cls.scale


class Base:
    factor = 2.0


class Derived(Base):
    pass


class Dispatching:
    k = 2.0

    @functools.singledispatchmethod
    def times(self, x: Any) -> Any:
        return x * self.k

    def scaled(self, by: float, x: Any) -> Any:
        return x * by * self.k

    doubled = functools.partialmethod(scaled, 1.0)


class Struct(ctypes.Structure):
    _fields_ = [("v", ctypes.c_double)]


class Mapping(collections.UserDict[str, Any]):
    pass


class Local(threading.local):
    w = 2.0


def with_k(x: Any) -> Any:
    x.k = 2.0
    return x


def reset_k(x: Any) -> Callable[[], None]:
    return lambda: setattr(x, "k", 3.0)


def holders() -> Iterator[tuple[str, Callable[[Any], Any], Callable[[], Any]]]:
    """What is read, which gives 2.0 at first, and a change of it."""
    o = thing()
    key = thing()
    d: dict[str, Any] = {"v": 2.0}
    change, update = lambda: setattr(o, "v", 3.0), lambda: d.update(v=3.0)
    yield "vars", lambda x: x * o.total(), change
    yield "all of the attributes", lambda x: x * sum(o), change
    for kind in (lambda y: {y}, lambda y: frozenset([y]), lambda y: {y: 1.0}):
        held = kind(o)
        name = type(held).__name__
        yield f"in a {name}", lambda x, held=held: x * sum(k.v for k in held), change
    table = {(key,): 1.0}
    yield "in a key", lambda x: x * next(iter(table))[0].v, lambda: setattr(key, "v", 3.0)
    private = Private()
    yield "a private slot", lambda x: x * private.get(), lambda: private.set(3.0)
    late = Private()
    later = lambda: setattr(late, "later", 3.0)  # noqa: E731
    yield "a slot that is set later", lambda x: x * getattr(late, "later", 2.0), later
    ref, proxy = weakref.ref(o), weakref.proxy(o)
    yield "a weak reference", lambda x: x * ref().v, change  # type: ignore[union-attr]
    yield "a weak proxy", lambda x: x * proxy.v, change
    weak = weakref.WeakValueDictionary({"o": o})
    yield "a weak dictionary", lambda x: x * weak["o"].v, change
    user, mine = collections.UserDict(v=2.0), Mapping(v=2.0)
    yield "UserDict", lambda x: x * user["v"], lambda: user.update(v=3.0)
    yield "a class of it", lambda x: x * mine["v"], lambda: mine.update(v=3.0)
    numbers = collections.UserList([2.0])
    yield "UserList", lambda x: x * numbers[0], lambda: numbers.__setitem__(0, 3.0)
    chain = collections.ChainMap({}, d)
    yield "ChainMap", lambda x: x * chain["v"], update
    shown, values, items = types.MappingProxyType(d), d.values(), d.items()
    yield "a proxy of a dict", lambda x: x * shown["v"], update
    yield "values", lambda x: x * sum(values), update
    yield "items", lambda x: x * sum(v for _, v in items), update
    local, unset = threading.local(), Local()
    local.v = 2.0
    yield "threading.local", lambda x: x * local.v, lambda: setattr(local, "v", 3.0)
    yield "its class", lambda x: x * unset.w, lambda: setattr(unset, "w", 3.0)
    attribute, item = operator.attrgetter("v"), operator.itemgetter("v")
    method, name = operator.methodcaller("total"), "v"
    yield "attrgetter", lambda x: x * attribute(o), change
    yield "itemgetter", lambda x: x * item(d), update
    yield "methodcaller", lambda x: x * method(o), change
    yield "a name in a variable", lambda x: x * getattr(o, name), change
    for made in (Number(1.0), Pair((1.0,)), np.ones(2).view(Quantity)):
        with_k(made)
        kind = type(made).__name__
        yield f"an attribute of a {kind}", lambda x, y=made: x * y.k, reset_k(made)
    named = Scaled(1.0)
    yield "a class of a NamedTuple", lambda x: x * named.k, reset_k(Scaled)
    counted = [with_k(Number(1.0))]
    again = Number(1.0)
    again.k = 3.0
    yield "an equal number", lambda x: x * counted[0].k, lambda: counted.__setitem__(0, again)
    yield "a metaclass", lambda x: x * Made.scale, lambda: setattr(Meta, "scale", 3.0)
    of_class = Made.scaled
    yield "a metaclass of cls", lambda x: of_class(x), lambda: setattr(Meta, "scale", 3.0)
    derived = Derived()
    hide = lambda: setattr(Derived, "factor", 3.0)  # noqa: E731
    yield "an entry that hides a base's", lambda x: x * derived.factor, hide
    dispatching = with_k(Dispatching())
    yield "singledispatchmethod", lambda x: dispatching.times(x), reset_k(dispatching)
    yield "partialmethod", lambda x: dispatching.doubled(x), reset_k(dispatching)
    objects = np.array([{"v": 2.0}, [np.full(2, 2.0)], None], dtype=object)
    yield "a dict in an array", lambda x: x * objects[0]["v"], lambda: objects[0].update(v=3.0)
    fill = lambda: objects[1][0].fill(3.0)  # noqa: E731
    yield "an array in it", lambda x: x * float(objects[1][0][0]), fill
    masked = np.ma.array([2.0, 4.0], mask=[False, True])
    unmask = lambda: masked.mask.__setitem__(1, False)  # noqa: E731
    yield "a mask", lambda x: x * float(masked.mean()), unmask
    filled = np.ma.array([2.0, 4.0], mask=[True, True], fill_value=2.0)
    refill = lambda: setattr(filled, "fill_value", 3.0)  # noqa: E731
    yield "what fills it", lambda x: x * filled.filled()[0], refill
    struct, row, cell = Struct(2.0), (ctypes.c_double * 9000)(2.0), ctypes.c_double(2.0)
    yield "a struct", lambda x: x * struct.v, lambda: setattr(struct, "v", 3.0)
    yield "an array of ctypes", lambda x: x * row[0], lambda: row.__setitem__(0, 3.0)
    yield "a number of ctypes", lambda x: x * cell.value, lambda: setattr(cell, "value", 3.0)
    typed = array.array("d", [2.0])
    every = memoryview(typed)[::1]
    yield "a view of memory", lambda x: x * every[0], lambda: typed.__setitem__(0, 3.0)
    os.environ["FUNCGRAD_HOLDERS"] = "2"
    environ = lambda: os.environ.update(FUNCGRAD_HOLDERS="3")  # noqa: E731
    yield "the environment", lambda x: x * float(os.environ["FUNCGRAD_HOLDERS"]), environ
    getenv: Any = os.getenv
    yield "getenv", lambda x: x * float(getenv("FUNCGRAD_HOLDERS")), environ
    yield "os.getenv", lambda x: x * float(os.getenv("FUNCGRAD_HOLDERS", "")), environ
    count = len(sys.argv)
    yield "arguments", lambda x: x * (2 + len(sys.argv) - count), lambda: sys.argv.append("more")


@pytest.mark.parametrize("name", [name for name, _, _ in holders()])
def test_what_is_held_may_change(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, attribute in ((Meta, "scale"), (Scaled, "k")):
        monkeypatch.setattr(owner, attribute, 2.0)
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setenv("FUNCGRAD_HOLDERS", "2")
    monkeypatch.setattr(Base, "factor", 2.0)
    if "factor" in vars(Derived):
        monkeypatch.delattr(Derived, "factor")
    f, change = next((f, c) for n, f, c in holders() if n == name)
    compiled = jit(f)
    assert compiled(1.0) == compiled(1.0) == 2.0 == f(1.0)
    change()
    assert compiled(1.0) == compiled(1.0) == 3.0 == f(1.0)


def test_what_is_behind_weak_references_may_go() -> None:
    o = thing()
    ref = weakref.ref(o)

    def f(x: Any) -> Any:
        found = ref()
        return x if found is None else x * found.v

    compiled = jit(f)
    assert compiled(1.0) == compiled(1.0) == 2.0
    assert "weak reference" in compiled.explain()
    del o
    assert compiled(1.0) == 1.0


def test_each_thread_reads_its_own() -> None:
    local = threading.local()
    local.v = 2.0
    compiled = jit(lambda x: x * getattr(local, "v", 5.0))
    found = [compiled(1.0)]
    other = threading.Thread(target=lambda: found.append(compiled(1.0)))
    other.start()
    other.join()
    assert [*found, compiled(1.0)] == [2.0, 5.0, 2.0]


def test_single_dispatch_is_traced_once() -> None:
    traced = []

    @functools.singledispatch
    def times(k: Any, x: Any) -> Any:
        traced.append(1)
        return x * k

    compiled = jit(lambda x: times(2.0, x))
    for _ in range(5):
        assert compiled(1.0) == 2.0
    assert len(traced) <= 2
    times.register(float, lambda k, x: x * k * 5.0)
    assert compiled(1.0) == 10.0


# Each puts a value into something, and says how it is read from there.
WRAPPERS: dict[str, Callable[[Any], tuple[Any, Callable[[Any], Any]]]] = {
    "list": lambda v: ([v], lambda h: h[0]),
    "tuple": lambda v: ((v,), lambda h: h[0]),
    "deque": lambda v: (collections.deque([v]), lambda h: h[0]),
    "set": lambda v: ({thing(v)}, lambda h: next(iter(h)).v),
    "key": lambda v: ({thing(v): 0}, lambda h: next(iter(h)).v),
    "values": lambda v: ({"a": v}.values(), lambda h: next(iter(h))),
    "proxy": lambda v: (types.MappingProxyType({"a": v}), lambda h: h["a"]),
    "UserList": lambda v: (collections.UserList([v]), lambda h: h[0]),
    "ChainMap": lambda v: (collections.ChainMap({}, {"a": v}), lambda h: h["a"]),
    "array": lambda v: (np.array([v, None], dtype=object), lambda h: h[0]),
    "namespace": lambda v: (types.SimpleNamespace(v=v), lambda h: vars(h)["v"]),
    "partial": lambda v: (functools.partial(lambda a: a, v), lambda h: h()),
    "weak": lambda v: (_kept(v), lambda h: h().v),
}
_alive: list[Any] = []


def _kept(v: Any) -> Any:
    _alive.append(thing(v))
    return weakref.ref(_alive[-1])


@given(st.lists(st.sampled_from(sorted(WRAPPERS)), min_size=1, max_size=4))
def test_holders_in_holders(names: list[str]) -> None:
    leaf = thing()
    held: Any = leaf
    reads = []
    for name in names:
        held, read = WRAPPERS[name](held)
        reads.insert(0, read)

    def f(x: Any) -> Any:
        found = held
        for read in reads:
            found = read(found)
        return x * found.v

    compiled = jit(f)
    assert compiled(1.0) == compiled(1.0) == 2.0
    leaf.v = 3.0
    assert compiled(1.0) == 3.0
    _alive.clear()
