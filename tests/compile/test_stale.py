"""`jit` never answers with what was read earlier: what a function reads is changed between calls."""

from __future__ import annotations

import array
import contextvars
import copy
import functools
import pickle
import random
import sys
import sysconfig
import tempfile
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad import jit
from funcgrad.core import aval_of

X = np.array([1.0, -2.0, 3.0])


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Whoever changes the world all the time is told so; that is tested with `jit`."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="jit has compiled")
        yield


def same(found: Any, expected: Any) -> None:
    """The same type and numbers; a Python number counts as NumPy's."""
    kinds = [(aval_of(a).shape, aval_of(a).dtype) for a in (found, expected)]
    assert kinds[0] == kinds[1]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


class Lazy:
    @functools.cached_property
    def array(self) -> Any:
        return np.array([2.0, 3.0, 4.0])


class Doubler:
    def __call__(self, x: Any) -> Any:
        return x * 2.0


class Tripler(Doubler):
    def __call__(self, x: Any) -> Any:
        return x * 3.0


def make_scaled() -> Any:
    def scaled(x: Any, k: float = 2.0, *, by: float = 1.0) -> Any:
        return x * k * by

    return scaled


def installed() -> Any:
    """A module that looks as if it lay among the installed packages."""
    name = "a_package_for_tests"
    module: Any = types.ModuleType(name)
    module.__file__ = sysconfig.get_path("purelib") + f"/{name}.py"
    sys.modules[name] = module
    code = """
SCALE = 2.0
class Fitted:
    def __init__(self):
        self.fit(2.0)
        self.parts = {"p": [1.0]}
    def fit(self, scale):
        self.scale_ = scale
    def transform(self, x):
        return x * self.scale_
"""
    exec(compile(code, module.__file__, "exec"), module.__dict__)
    return module


class World:
    """What a function may read beside its arguments; every part can be changed."""

    def __init__(self) -> None:
        self.k = 2.0
        self.flag = True
        self.name = "sin"
        self.array = np.array([1.0, 2.0, 3.0])
        self.hidden = 4.0
        self.op: Any = np.sin
        self.dtype: Any = np.float64
        self.items: list[Any] = [1.0, np.ones(3)]
        self.table: dict[str, Any] = {"a": 1.0, "b": np.ones(3)}
        self.inner = types.SimpleNamespace(k=1.0, array=np.ones(3))
        self.long = np.zeros(1000)
        self.columns = np.asfortranarray(np.ones((120, 130)))
        with tempfile.TemporaryDirectory() as folder:
            self.mapped = np.memmap(f"{folder}/numbers", "f8", "w+", shape=3)
        self.buffer, self.typed = bytearray(b"\1\2\3"), array.array("d", [1.0, 2.0])
        self.many, self.large = [1.0] * 2000, dict.fromkeys(range(2000), 1.0)
        self.order = {"a": 1.0, "b": 2.0}
        self.scaled = make_scaled()
        self.partial = functools.partial(lambda a, x: x * a[0] * np.mean(a), np.array([1.0, 2.0]))
        self.lazy = Lazy()
        self.variable: Any = contextvars.ContextVar("variable", default=2.0)
        self.doubler = Doubler()
        self.module = types.ModuleType("made")
        self.module.act = np.tanh  # type: ignore[attr-defined]
        self.package = installed()
        self.fitted = self.package.Fitted()

    def method(self) -> Any:
        return self.hidden

    def deep(self) -> Any:
        return self.method()

    @property
    def doubled(self) -> Any:
        return self.hidden * 2

    def __getitem__(self, i: Any) -> Any:
        return self.hidden

    def __call__(self, x: Any) -> Any:
        return x * self.hidden


class Shared:
    value = 2.0


READS: dict[str, tuple[Callable[[World, Any], Any], Callable[[World], Any]]] = {
    "number": (lambda w, x: x * w.k, lambda w: setattr(w, "k", w.k + 1)),
    "bool": (lambda w, x: x if w.flag else -x, lambda w: setattr(w, "flag", not w.flag)),
    "string": (lambda w, x: getattr(np, w.name)(x), lambda w: setattr(w, "name", "cos")),
    "array rebound": (lambda w, x: x * w.array, lambda w: setattr(w, "array", w.array + 1)),
    "array written": (lambda w, x: x * w.array, lambda w: w.array.__iadd__(1)),
    "array's dtype": (
        lambda w, x: w.array * x,
        lambda w: setattr(w, "array", w.array.astype(complex)),
    ),
    "array's shape": (lambda w, x: w.array * x, lambda w: setattr(w, "array", np.ones((2, 3)))),
    "array to number": (lambda w, x: w.array * x, lambda w: setattr(w, "array", 7.0)),
    "item of a list": (lambda w, x: x * w.items[0], lambda w: w.items.__setitem__(0, 3.0)),
    "array in a list": (lambda w, x: x * w.items[1], lambda w: w.items.__setitem__(1, X)),
    "item of a dict": (lambda w, x: x * w.table["a"], lambda w: w.table.update(a=3.0)),
    "array in a dict": (lambda w, x: x * w.table["b"], lambda w: w.table.update(b=X)),
    "attribute of one": (lambda w, x: x * w.inner.k, lambda w: setattr(w.inner, "k", 5.0)),
    "its array": (lambda w, x: x * w.inner.array, lambda w: setattr(w.inner, "array", X)),
    "another object": (
        lambda w, x: x * w.inner.k,
        lambda w: setattr(w, "inner", types.SimpleNamespace(k=9.0)),
    ),
    "method": (lambda w, x: x * w.method(), lambda w: setattr(w, "hidden", 5.0)),
    "method of a method": (lambda w, x: x * w.deep(), lambda w: setattr(w, "hidden", 5.0)),
    "property": (lambda w, x: x * w.doubled, lambda w: setattr(w, "hidden", 5.0)),
    "item of an object": (lambda w, x: x * w[0], lambda w: setattr(w, "hidden", 5.0)),
    "call of an object": (lambda w, x: w(x), lambda w: setattr(w, "hidden", 5.0)),
    "ufunc": (lambda w, x: w.op(x), lambda w: setattr(w, "op", np.cos)),
    "dtype": (lambda w, x: x.astype(w.dtype), lambda w: setattr(w, "dtype", np.float32)),
    "list grows": (lambda w, x: x * len(w.items), lambda w: w.items.append(3.0)),
    "dict grows": (lambda w, x: x * w.table.get("c", 1.0), lambda w: w.table.update(c=3.0)),
    "class attribute": (
        lambda w, x: x * Shared.value,
        lambda w: setattr(Shared, "value", Shared.value + 1),
    ),
    "computed of an array": (lambda w, x: x * np.sin(w.array), lambda w: w.array.__iadd__(1)),
    "element of an array": (lambda w, x: x * w.array[0], lambda w: w.array.__iadd__(1)),
    "branch on an array": (
        lambda w, x: x if w.array[0] > 1 else -x,
        lambda w: w.array.__iadd__(1),
    ),
    "mask": (lambda w, x: x[w.array > 1], lambda w: w.array.__isub__(1)),
    "an input that plain code reads": (
        lambda w, x: x * w.array / np.sum(w.array),
        lambda w: w.array.__setitem__(0, 9.0),
    ),
    "an input rebound that plain code reads": (
        lambda w, x: x * w.array / np.sum(w.array),
        lambda w: setattr(w, "array", w.array**2),
    ),
    "an input that a branch reads": (
        lambda w, x: x * w.array if w.array[0] < 2 else x - w.array,
        lambda w: w.array.__setitem__(0, 9.0),
    ),
    "one element of thousand": (
        lambda w, x: x * np.sum(w.long * 2.0),
        lambda w: w.long.__setitem__(7, 1.0),
    ),
    "an array in the order of columns": (
        lambda w, x: x * np.sum(w.columns * 2.0),
        lambda w: w.columns.__iadd__(1.0),
    ),
    "a part of a large array": (
        lambda w, x: x * np.sum(w.columns[1::2, 1::2] * 2.0),
        lambda w: w.columns.__iadd__(1.0),
    ),
    "a mapped file": (lambda w, x: x * w.mapped.sum(), lambda w: w.mapped.__setitem__(0, 5.0)),
    "a buffer": (lambda w, x: x * w.buffer[1], lambda w: w.buffer.__setitem__(1, 5)),
    "an array of Python's": (lambda w, x: x * w.typed[1], lambda w: w.typed.__setitem__(1, 5)),
    "item of a long list": (lambda w, x: x * w.many[1500], lambda w: w.many.__setitem__(1500, 3.0)),
    "item of a large dict": (lambda w, x: x * w.large[1500], lambda w: w.large.update({1500: 3.0})),
    "the order of a dict": (
        lambda w, x: x * next(iter(w.order.values())),
        lambda w: w.order.update(a=w.order.pop("a")),
    ),
    "defaults": (lambda w, x: w.scaled(x), lambda w: setattr(w.scaled, "__defaults__", (3.0,))),
    "defaults by keyword": (
        lambda w, x: w.scaled(x),
        lambda w: setattr(w.scaled, "__kwdefaults__", {"by": 3.0}),
    ),
    "code": (
        lambda w, x: w.scaled(x),
        lambda w: setattr(w.scaled, "__code__", (lambda x, k=2.0, *, by=1.0: x - k).__code__),
    ),
    "an array in a partial function": (
        lambda w, x: w.partial(x),
        lambda w: w.partial.args[0].__setitem__(0, 9.0),
    ),
    "a cached property": (
        lambda w, x: x * w.lazy.array * np.sum(w.lazy.array),
        lambda w: w.lazy.array.__setitem__(0, 9.0),
    ),
    "a context variable": (lambda w, x: x * w.variable.get(), lambda w: w.variable.set(5.0)),
    "the class of an object": (
        lambda w, x: w.doubler(x),
        lambda w: setattr(w.doubler, "__class__", Tripler),
    ),
    "a module that was made": (
        lambda w, x: w.module.act(x),
        lambda w: setattr(w.module, "act", np.sin),
    ),
    "an object of an installed package": (
        lambda w, x: w.fitted.transform(x),
        lambda w: w.fitted.fit(5.0),
    ),
    "a number of an installed package": (
        lambda w, x: x * w.package.SCALE,
        lambda w: setattr(w.package, "SCALE", 5.0),
    ),
    "a list in an object of an installed package": (
        lambda w, x: x * w.fitted.parts["p"][0],
        lambda w: w.fitted.parts["p"].__setitem__(0, 5.0),
    ),
}


@pytest.mark.parametrize("name", READS)
def test_what_is_read_may_change(name: str) -> None:
    world = World()
    read, change = READS[name]

    def f(x: Any) -> Any:
        return read(world, x)

    compiled = jit(f)
    for _ in range(3):
        same(compiled(X), f(X))
    before = f(X)
    change(world)
    for _ in range(3):
        same(compiled(X), f(X))
    assert aval_of(before) != aval_of(f(X)) or not np.array_equal(before, f(X))


GLOBAL: Any = np.ones(3)


def helper(x: Any) -> Any:
    return x * 2.0


def rebind(name: str, value: Any) -> None:
    globals()[name] = value


def write(x: Any, v: float) -> None:
    """Into the array itself, if it is one."""
    if isinstance(x, np.ndarray):
        x[..., 1] = v


def actions(w: World, nonlocal_: list[Any]) -> dict[str, Callable[[float], None]]:
    """Changes to what `of_the_world` reads, by a number."""
    return {
        "nothing": lambda v: None,
        "global rebound": lambda v: rebind("GLOBAL", np.full(3, v)),
        "global written": lambda v: write(GLOBAL, v),
        "global number": lambda v: rebind("GLOBAL", v),
        "global float32": lambda v: rebind("GLOBAL", np.full(3, v, np.float32)),
        "global matrix": lambda v: rebind("GLOBAL", np.full((2, 3), v)),
        "closure": lambda v: nonlocal_[0](v),
        "attribute": lambda v: setattr(w, "k", v),
        "flag": lambda v: setattr(w, "flag", not w.flag),
        "nested": lambda v: setattr(w.inner, "array", np.full(3, v)),
        "entry": lambda v: w.table.update(a=v),
        "entry is an array": lambda v: w.table.update(a=np.full(3, v)),
        "item": lambda v: w.items.__setitem__(0, v),
        "helper": lambda v: rebind("helper", lambda x: x * v + 1.0),
        "same array twice": lambda v: rebind("GLOBAL", w.inner.array),
    }


ARGUMENTS: list[Any] = [X, X * 2, 2.5, 3, np.float32(1.5), X.astype(np.float32), np.ones((2, 3))]
TRANSFORMS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "value": lambda f: f,
    "grad": lambda f: lambda x: funcgrad.grad(lambda y: np.sum(f(y)))(x * 1.0),
    "vmap": lambda f: lambda x: funcgrad.vmap(f, in_axes=None, axis_size=2)(x),
    "jvp": lambda f: lambda x: funcgrad.jvp(f, (x * 1.0,), (x * 0.5,))[1],
}


# How the world is read: with traced values only, or also by plain NumPy before these come in.
FORMULAS: dict[str, Callable[..., Any]] = {
    "traced": lambda x, g, k, a, b: x * g * k + x * a + b,
    "plain": lambda x, g, k, a, b: x * (g * k) + a * b,
}


@pytest.mark.parametrize("formula", ["traced", "plain"])
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(sorted(actions(World(), []))),
            st.sampled_from([0.0, -0.0, 1.0, 2.5]),
            st.sampled_from(range(len(ARGUMENTS))),
            st.sampled_from(sorted(TRANSFORMS)),
        ),
        min_size=3,
        max_size=8,
    )
)
def test_a_world_that_changes(formula: str, steps: list[tuple[str, float, int, str]]) -> None:
    rebind("GLOBAL", np.ones(3))
    rebind("helper", lambda x: x * 2.0)
    w, k = World(), 1.0

    def change_closure(v: float) -> None:
        nonlocal k
        k = v

    def f(x: Any) -> Any:
        y = helper(x) if w.flag else -x
        read = FORMULAS[formula](y, GLOBAL, w.k, w.table["a"], w.inner.array)
        return read + y * k + x * w.items[0]

    change = actions(w, [change_closure])
    compiled = jit(f)
    for name, v, place, transform in steps:
        change[name](v)
        x = ARGUMENTS[place]
        same(TRANSFORMS[transform](compiled)(x), TRANSFORMS[transform](f)(x))


def test_what_nobody_reads_but_the_program_is_not_traced_again() -> None:
    traced = []
    w = np.ones(3)

    def f(x: Any) -> Any:
        traced.append(1)
        return np.sum(np.sin(x * w))

    compiled = jit(funcgrad.grad(f))
    for i in range(20):
        same(compiled(X), np.cos(X * w) * w)
        w += 0.1 * i
    first = len(traced)
    assert first <= 6
    for _ in range(20):
        w = w * 0.9
        same(compiled(X), np.cos(X * w) * w)
    assert len(traced) == first


def test_a_function_that_counts_and_keeps_a_log() -> None:
    log, calls = [], [0]

    def f(x: Any) -> Any:
        log.append("called")
        calls[0] += 1
        return x * calls[0]

    assert [float(y) for y in map(jit(f), [1.0, 1.0, 1.0])] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("transform", [lambda f: f, funcgrad.grad], ids=["values", "gradients"])
def test_what_a_layer_remembers_of_a_trace_makes_no_other_program(transform: Any) -> None:
    class Layer:
        x = None

        def forward(self, x: Any) -> Any:
            traced.append(1)
            self.x = 2 * x
            return np.sum(self.x**2)

    traced: list[int] = []
    layer = Layer()
    compiled = jit(transform(layer.forward))
    for k in range(4):
        same(compiled(k * X), transform(lambda x: np.sum(4 * x**2))(k * X))
    assert len(traced) <= 2
    assert compiled(X[:2]).shape == transform(layer.forward)(X[:2]).shape


def test_random_numbers_are_not_repeated() -> None:
    rng = np.random.default_rng(0)
    for draw in (rng.normal, np.random.rand, random.random):
        f = jit(lambda x, draw=draw: x + draw(), static_argnames="draw")
        assert len({float(f(1.0)) for _ in range(4)}) == 4
        assert "draws random numbers" in f.explain()


def test_threads_with_other_shapes() -> None:
    f = jit(lambda x: x * np.float64(x.size))
    wrong: list[Any] = []

    def work(n: int) -> None:
        x = np.ones(n)
        for _ in range(300):
            found = f(x)
            if found.shape != (n,) or found[0] != n:
                wrong.append((n, found))

    threads = [threading.Thread(target=work, args=(n,)) for n in (2, 3, 5)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong


@jit
def jitted(x: Any) -> Any:
    return np.sum(x**2)


def test_copies_and_pickles() -> None:
    same(jitted(X), 14.0)
    assert pickle.loads(pickle.dumps(jitted)) is jitted
    assert copy.deepcopy(jitted) is jitted and copy.copy(jitted) is jitted
    other = jit(World.__call__, static_argnums=0)
    again = pickle.loads(pickle.dumps(other))
    assert again is not other
    w = World()
    same(again(w, X), w(X))


def test_two_names_of_one_array() -> None:
    w = types.SimpleNamespace(p=X.copy())
    w.q = w.p

    def f(x: Any) -> Any:
        return x * w.p + w.q

    compiled = jit(f)
    same(compiled(X), f(X))
    for name in ("p", "q"):
        setattr(w, name, X * 3)
        same(compiled(X), f(X))


def test_tracers_of_other_transforms_may_be_captured() -> None:
    held: dict[str, Any] = {"v": 1.0}
    f = jit(lambda x: held["v"] * x)

    def outer(a: Any) -> Any:
        held["v"] = a
        return np.sum(f(X))

    for v in (2.0, 3.0):
        same(funcgrad.grad(outer)(X), X)
        same(jit(funcgrad.grad(outer))(X), X)
        held["v"] = v
        same(f(X), v * X)


class Holder:
    factor = 2.0

    def __init__(self) -> None:
        self._own, self.plain = 1.0, 1.0

    @property
    def own(self) -> float:
        return self._own

    def times(self, x: Any) -> Any:
        return x * 3.0

    def __call__(self, x: Any) -> Any:
        return x * self.factor


HIDDEN: dict[str, tuple[Callable[[Any], Any], str, Any]] = {
    "an attribute that comes": (lambda h: lambda x: x * getattr(h, "later", 1.0), "later", 5.0),
    "what a property reads": (lambda h: lambda x: x * h.own, "_own", 5.0),
    "one that hides the class's": (lambda h: lambda x: x * h.factor, "factor", 5.0),
    "a method of one object": (lambda h: lambda x: h.times(x), "times", lambda x: x * 5.0),
    "of what is called": (lambda h: h, "factor", 5.0),
    "plain": (lambda h: lambda x: x * h.plain, "plain", 5.0),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_attributes_that_are_set_later(name: str) -> None:
    make, attribute, value = HIDDEN[name]
    holder = Holder()
    f = make(holder)
    jitted = funcgrad.jit(f)
    for _ in range(3):
        assert jitted(1.0) == f(1.0)
    setattr(holder, attribute, value)
    assert jitted(1.0) == f(1.0) == 5.0
