"""What `jit` promises: the results of the plain function, whatever changed since the last call."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import inspect
import threading
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import jit
from funcgrad.core import EVAL, Tracer, aval_of, current
from funcgrad.errors import ArgumentError, ConcretizationError, FuncgradError, ShapeError

X = np.array([1.0, -2.0, 3.0])


@pytest.fixture(autouse=True)
def quiet_and_clean() -> Iterator[None]:
    """No test leaves a trace in force; warnings about many misses are tested on their own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="jit has compiled")
        yield
    assert current.get() is EVAL


def same(found: Any, expected: Any) -> None:
    """The same tree, types and numbers; a Python number counts as NumPy's."""
    leaves, treedef = funcgrad.tree.flatten(found)
    wanted, wanted_def = funcgrad.tree.flatten(expected)
    assert treedef == wanted_def
    for a, b in zip(leaves, wanted, strict=True):
        assert (aval_of(a).shape, aval_of(a).dtype) == (aval_of(b).shape, aval_of(b).dtype)
        np.testing.assert_allclose(a, b, rtol=1e-13)


# ---------------------------------------------------------------- trees of arguments and results


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclasses.dataclass
class Point:
    a: Any
    b: Any


TREES: dict[str, Any] = {
    "array": X,
    "number": 2.5,
    "dict": {"b": X, "a": 1.0},
    "list": [X, 2.0],
    "tuple": (X, (X, 2.0)),
    "namedtuple": Pair(X, 2.0),
    "dataclass": Point(X, {"k": 2.0}),
    "None": None,
    "nested": {"p": [Pair(None, X), (Point(1.0, ()), [])], "q": {}},
}
MAPS: dict[str, Callable[[Any], Any]] = {
    "changed": lambda t: funcgrad.tree.map(lambda x: x * 2 + 1, t),
    "itself": lambda t: t,
    "twice": lambda t: (t, [t]),
    "constant": lambda t: {"c": 1.5, "n": np.arange(3), "none": None},
    "nothing": lambda t: None,
    "empty": lambda t: ((), [], {}),
}


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("f", MAPS.values(), ids=MAPS)
def test_trees(name: str, f: Callable[[Any], Any]) -> None:
    compiled, t = jit(f), TREES[name]
    for _ in range(3):  # the entry that is printed for the last call is tried from the second on
        same(compiled(t), f(t))


def test_another_structure_is_another_program() -> None:
    f = jit(lambda t: funcgrad.tree.map(lambda x: x * 2, t))
    for t in [*TREES.values(), *reversed(TREES.values())]:
        same(f(t), funcgrad.tree.map(lambda x: x * 2, t))


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((X,), {}),
    ((X, 3.0), {}),
    ((X,), {"b": 3.0}),
    ((), {"a": X, "c": 2.0}),
    ((X, 1.0, 5.0), {"c": 2.0, "d": X}),
    ((X, 1.0, 5.0, X), {}),
]


@given(order=st.lists(st.sampled_from(CALLS), min_size=2, max_size=6))
def test_keywords_and_defaults(order: list[Any]) -> None:
    def f(a: Any, b: Any = 2.0, *rest: Any, c: Any = 1.0, **more: Any) -> Any:
        return a * b + c + sum(rest) + sum(more.values())

    compiled = jit(f)
    for args, kwargs in order:
        same(compiled(*args, **kwargs), f(*args, **kwargs))


# ---------------------------------------------------------------- static arguments


def repeated(x: Any, n: int, name: str = "sin") -> Any:
    for _ in range(n):
        x = getattr(np, name)(x)
    return x


STATIC: dict[str, dict[str, Any]] = {
    "numbers": {"static_argnums": (1, 2)},
    "names": {"static_argnames": ("n", "name")},
    "both": {"static_argnums": 1, "static_argnames": "name"},
    "an iterator": {"static_argnums": iter([1, 2])},
    "negative": {"static_argnums": (-1, -2)},
}


@pytest.mark.parametrize("options", STATIC.values(), ids=STATIC)
def test_static_arguments(options: dict[str, Any]) -> None:
    f = jit(repeated, **options)
    calls: list[tuple[Any, dict[str, Any]]] = [
        ((X, 2), {}),
        ((X, 3), {}),
        ((X, 2, "cos"), {}),
        ((X,), {"n": 2}),
        ((X,), {"name": "cos", "n": 1}),
        ((X, 0), {"name": "exp"}),
        ((X, 2), {}),
    ]
    for args, kwargs in calls:
        same(f(*args, **kwargs), repeated(*args, **kwargs))


def test_static_arguments_count_by_value_and_type() -> None:
    traces: list[Any] = []

    @jit(static_argnums=1)
    def f(x: Any, n: Any) -> Any:
        traces.append(n)
        return x * n

    for n in (1, True, 1.0, 2, 1, True, 1.0, 2):
        same(f(X, n), X * n)
    assert len(traces) == 4


def test_a_static_argument_without_hash_is_named() -> None:
    f = jit(repeated, static_argnames="n")
    with pytest.raises(ArgumentError, match=r"static argument n is \[1\], a list.*tuple.*test_jit"):
        f(X, n=[1])


def test_static_none_and_objects() -> None:
    f = jit(lambda x, k: x if k is None else k(x), static_argnums=1)
    for k in (None, np.sin, np.cos, None, np.abs):
        same(f(X, k), X if k is None else k(X))


# ---------------------------------------------------------------- what can be compiled


class Model:
    scale = 2.0

    def __init__(self, w: Any) -> None:
        self.w = w
        self.power = 2

    @jit
    def plain(self, x: Any) -> Any:
        return self.w * x**self.power

    @jit(static_argnames="n")
    def with_static(self, x: Any, n: int) -> Any:
        return repeated(x, n) * self.w

    @functools.partial(jit, static_argnums=2)
    def with_number(self, x: Any, n: int) -> Any:
        return repeated(x, n) * self.w

    @staticmethod
    @jit
    def static(x: Any) -> Any:
        return x * 2

    @classmethod
    @jit
    def of_class(cls, x: Any) -> Any:
        return x * cls.scale

    def __call__(self, x: Any) -> Any:
        return self.w * x


def test_methods() -> None:
    one, other = Model(2.0), Model(X.copy())
    for _ in range(3):
        for m in (one, other):
            same(m.plain(X), m.w * X**m.power)
            same(m.with_static(X, n=2), np.sin(np.sin(X)) * m.w)
            same(m.static(X), X * 2)
            same(Model.static(X), X * 2)
        one.power += 1
        one.w = one.w + 1.0
        other.w[0] += 1.0


def test_static_numbers_of_a_method() -> None:
    same(Model(2.0).with_number(X, 3), repeated(X, 3) * 2.0)


def test_methods_of_equal_instances_are_not_mixed() -> None:
    class Equal:
        def __init__(self, k: float) -> None:
            self.k = k

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 1

        @jit
        def f(self, x: Any) -> Any:
            return self.k * x

    for k in range(100):  # new objects may have an old one's address
        same(Equal(float(k)).f(X), k * X)


def test_partial_bound_and_callable_objects() -> None:
    model = Model(3.0)
    same(jit(functools.partial(repeated, n=2))(X), repeated(X, 2))
    same(jit(functools.partial(lambda a, b, c: a * b + c, X, c=1.0))(2.0), X * 2.0 + 1.0)
    same(jit(model)(X), 3.0 * X)
    same(jit(model.__call__)(X), 3.0 * X)
    same(jit(np.sin)(X), np.sin(X))


def test_decorator_forms() -> None:
    @jit
    def bare(x: Any) -> Any:
        """Doc."""
        return x * 2

    @jit()
    def called(x: Any) -> Any:
        return x * 2

    same(bare(X), called(X))
    assert (bare.__name__, bare.__doc__) == ("bare", "Doc.")
    assert list(inspect.signature(bare).parameters) == ["x"]


@pytest.mark.parametrize("f", [3, "f", X])
def test_what_is_no_function_is_refused(f: Any) -> None:
    with pytest.raises(ArgumentError, match="jit"):
        jit(f)


# ---------------------------------------------------------------- transforms


def cubes(x: Any) -> Any:
    return np.sum(x**3) + np.sin(x[0]) * x[1]


@funcgrad.custom_jvp
def halved(x: Any) -> Any:
    return x * x


@halved.defjvp
def halved_jvp(primals: Any, tangents: Any) -> Any:
    return halved(primals[0]), tangents[0] * 0.5  # not the derivative, so that one sees it is used


@funcgrad.custom_vjp
def doubled(x: Any) -> Any:
    return x * x


doubled.defvjp(lambda x: (x * x, x), lambda x, ct: (ct * 2.0,))


def written(x: Any) -> Any:
    z = fnp.zeros(4)
    z[0] = x[0]
    z[1:] = x * 2
    z[1:3] += x[1:]
    y = x.copy()
    y[::2] *= z[0]
    return np.sum(z**2) + np.sum(y)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "plain": cubes,
    "custom_jvp": lambda x: np.sum(halved(x) * x),
    "custom_vjp": lambda x: np.sum(doubled(x) * x),
    "writes": written,
    "checkpoint": lambda x: funcgrad.checkpoint(cubes)(x) * 2,
    "jit": lambda x: jit(cubes)(x) * jit(lambda y: np.sum(y * x))(x),
}
MADE: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "value": lambda f: f,
    "grad": funcgrad.grad,
    "value_and_grad": funcgrad.value_and_grad,
    "vjp": lambda f: lambda x: funcgrad.vjp(f, x)[1](2.0),
    "jvp": lambda f: lambda x: funcgrad.jvp(f, (x,), (X,)),
    "vmap": lambda f: lambda x: funcgrad.vmap(f)(np.stack([x, 2 * x])),
    "vmap of grad": lambda f: lambda x: funcgrad.vmap(funcgrad.grad(f))(np.stack([x, 2 * x])),
    "hessian": funcgrad.hessian,
    "linearize": lambda f: lambda x: funcgrad.linearize(f, x)[1](X),
    "checkpoint": funcgrad.checkpoint,
    "grad of checkpoint": lambda f: funcgrad.grad(funcgrad.checkpoint(f)),
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_transforms(name: str, made: str) -> None:
    f, transform = FUNCTIONS[name], MADE[made]
    expected = transform(f)(X)
    same(transform(jit(f))(X), expected)
    same(jit(transform(f))(X), expected)
    same(jit(transform(jit(f)))(X), expected)


def test_strong_zeros_inside_and_outside() -> None:
    x = np.array([0.0, 1.0])

    def f(y: Any) -> Any:
        return np.sum(np.where(y > 0, np.log(y), 0.0) * y)

    def with_zeros(y: Any) -> Any:
        with funcgrad.strong_zeros():
            return funcgrad.grad(f)(y)

    compiled, inside = jit(funcgrad.grad(f)), jit(with_zeros)
    with np.errstate(all="ignore"):
        for _ in range(2):
            same(compiled(x), funcgrad.grad(f)(x))
            with funcgrad.strong_zeros():
                same(compiled(x), funcgrad.grad(f)(x))
            same(inside(x), with_zeros(x))
        assert not np.array_equal(compiled(x), inside(x), equal_nan=True)


def test_random_keys_are_arguments() -> None:
    f = jit(lambda key, x: x + funcgrad.random.normal(key, (3,)))
    for seed in (0, 1, 0):
        key = funcgrad.random.key(seed)
        same(f(key, X), X + funcgrad.random.normal(key, (3,)))


# ---------------------------------------------------------------- numbers and arguments


@pytest.mark.parametrize(
    "x", [2.0, 2, True, 1j, np.float32(2), np.float64(2), np.int32(2)], ids=repr
)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "i4", "i8"])
def test_numbers_are_as_weak_as_in_numpy(x: Any, dtype: str) -> None:
    array = np.ones(3, dtype)

    def f(a: Any, b: Any) -> Any:
        return a * b + b, a * x

    same(jit(f)(array, x), f(array, x))


def test_writing_into_an_argument_is_an_error_or_stays_inside() -> None:
    def f(x: Any) -> Any:
        x[0] = 7.0
        return x * 2

    x = X.copy()
    with contextlib.suppress(FuncgradError):
        same(jit(f)(x), np.array([14.0, -4.0, 6.0]))
    np.testing.assert_array_equal(x, X)


def test_what_operators_make_of_numbers_widens_no_arrays() -> None:
    x = X.astype(np.float32)
    same(jit(lambda x, rate: x * rate)(x, 2.0), x * 2.0)
    same(jit(lambda x, rate: x * (rate * 0.5))(x, 2.0), x * 1.0)
    same(jit(lambda x, rate: x * np.sqrt(rate))(x, 4.0), x * np.sqrt(4.0))


def test_linear_functions_are_transposed() -> None:
    for wrap in (jit, funcgrad.checkpoint):
        f = wrap(lambda x: 2.0 * np.sin(3.0) * x + x[::-1])
        found = funcgrad.linear_transpose(f, X)(X)
        expected = funcgrad.linear_transpose(lambda x: 2.0 * np.sin(3.0) * x + x[::-1], X)(X)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)


# ---------------------------------------------------------------- errors


def test_branching_on_a_traced_value() -> None:
    def f(x: Any) -> Any:
        if x > 0:  # this line is named
            return x
        return -x

    with pytest.raises(ConcretizationError, match=r"where.*test_jit.py:\d+.*if x > 0:"):
        jit(f)(1.0)
    same(jit(f, static_argnums=0)(1.0), 1.0)


@pytest.mark.parametrize(
    ("args", "kwargs", "name"),
    [((X, "hello"), {}, "b"), ((X,), {"b": {"k": [object()]}}, "b"), (({1, 2}, X), {}, "a")],
)
def test_an_argument_that_is_no_array_is_named(args: Any, kwargs: Any, name: str) -> None:
    with pytest.raises(ArgumentError, match=rf"argument (\d|{name})\b.*static_argn"):
        jit(lambda a, b: a)(*args, **kwargs)


def test_an_array_of_objects_is_named() -> None:
    objects = np.array([1, None], object)
    with pytest.raises(ArgumentError, match=r"argument 1\['k'\] is object\[2\].*astype"):
        jit(lambda a, b: a)(X, {"k": objects})


def test_a_result_that_is_no_array() -> None:
    with pytest.raises(ArgumentError, match=r"output\['u'\].*str"):
        jit(lambda x: {"u": "text"})(X)


def test_errors_are_as_without_jit_and_leave_nothing_behind() -> None:
    trouble = True

    def f(x: Any, y: Any) -> Any:
        if trouble:
            raise KeyError("mine")
        return x @ y

    compiled = jit(f)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            compiled(X, X)
        assert current.get() is EVAL
    trouble = False
    same(compiled(X, X), X @ X)
    with pytest.raises(ShapeError, match="inner lengths differ"):
        compiled(X, np.ones(2))
    with pytest.raises(ShapeError, match="inner lengths differ"):
        funcgrad.grad(compiled)(X, np.ones(2))
    same(compiled(X, X), X @ X)


def test_missing_arguments_are_pythons_error() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        jit(lambda x: x)()


WARNED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "divide": (lambda x: 1 / x, np.zeros(2)),
    "invalid": (lambda x: np.log(x), -np.ones(2)),
    "overflow": (lambda x: np.exp(x * 1e3), np.ones(2)),
    "0-d": (lambda x: 1 / (x * 2), np.float64(0)),
}


@pytest.mark.parametrize("name", WARNED)
def test_floating_point_errors(name: str) -> None:
    f, x = WARNED[name]
    compiled = jit(f)
    for _ in range(2):
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            compiled(x)
        with pytest.warns(RuntimeWarning, match="encountered in"):
            compiled(x)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(compiled(x), f(x))


# ---------------------------------------------------------------- the cache


def test_what_is_kept_can_be_seen_and_forgotten() -> None:
    f = jit(lambda x: np.sin(x) * 2.0)
    with pytest.raises(ArgumentError, match="nothing has been compiled"):
        _ = f.code
    f(X)
    assert "np_sin" in f.code and "f64[3]" in f.explain() and "1 program" in f.explain()
    f(X.astype(np.float32))
    assert "f32[3], was f64[3]" in f.explain()
    stages = f.lower(X)
    assert stages.code in repr(stages) and "sin" in repr(stages.jaxpr)
    f.clear_cache()
    assert "0 programs" in f.explain()
    same(f(X), np.sin(X) * 2.0)


def test_many_misses_are_told_with_the_argument_and_the_line() -> None:
    f = jit(lambda x, scale: x * scale)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for n in range(100):
            f(np.ones(n), 1.0)
    assert len(found) == 1
    assert "argument 0 is f64[" in str(found[0].message)
    assert found[0].filename == __file__
    assert len(f.explain().splitlines()) < 70  # the cache is bounded
    same(f(np.ones(2), 1.0), np.ones(2))


MEMORY: dict[str, Callable[[Any], Any]] = {
    "value": jit(lambda x: {"s": np.sum(x * x), "y": np.sin(x)}),
    "gradient inside": jit(funcgrad.grad(cubes)),
    "gradient outside": funcgrad.grad(jit(cubes)),
}


@pytest.mark.parametrize("name", MEMORY)
def test_calls_leave_no_garbage(name: str) -> None:
    f = MEMORY[name]
    with funcgrad.config(code="numpy"):  # else C may come in between
        for _ in range(10):
            f(X)
        gc.collect()
        gc.disable()
        try:
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(1000):
                f(X)
            grown = tracemalloc.get_traced_memory()[0] - before
        finally:
            tracemalloc.stop()
            gc.enable()
    assert grown < 50_000


@pytest.mark.parametrize("code", ["numpy", "auto"])
def test_threads(code: str) -> None:
    """At once for the first time, with other types in every other thread, and later."""
    f = jit(lambda x: np.exp(x * 1e-3) * x + np.sin(x))
    start, wrong = threading.Barrier(8), list[Any]()

    def work(i: int) -> None:
        x = X * i if i % 2 else float(i)
        with funcgrad.config(code):
            start.wait()
            wrong.extend(x for _ in range(50) if not np.allclose(f(x), f.__wrapped__(x)))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_function_may_call_itself() -> None:
    @jit(static_argnums=1)
    def power(x: Any, n: int) -> Any:
        return x if n == 0 else x * power(x, n - 1)

    same(power(X, 6), X**7)
    same(funcgrad.grad(lambda x: power(x, 3))(2.0), np.float64(32.0))


def test_conditions_of_one_boolean_are_combined_as_booleans() -> None:
    def f(a: Any, b: Any) -> Any:
        first = (a > 0) & True
        return fnp.where(first, a, 0.0) * fnp.where((b > 0) & first, b, 0.0)

    assert float(jit(f)(np.array(2.5), np.array(2.0))) == 5.0


def test_without_programs_functions_run_as_they_are() -> None:
    calls: list[Any] = []

    class Model:
        @funcgrad.jit
        def __call__(self, x: Any, *, scale: float = 1.0) -> Any:
            calls.append(x)
            return x * scale if x > 0 else x

    model = Model()
    sign = jit(lambda n, x: (calls.append(x), x * n)[1], static_argnums=0)
    sign(2, 1.0)
    calls.clear()
    with funcgrad.disable_jit():
        assert [model(2.0, scale=3.0), model(-1.0), sign(2, 3.0)] == [6.0, -1.0, 6.0]
        assert funcgrad.grad(lambda x: model(x, scale=3.0))(2.0) == 3.0
        with funcgrad.disable_jit(False):
            sign(2, 3.0)
    assert calls[:3] == [2.0, -1.0, 3.0]
    assert isinstance(calls[-1], Tracer)
    funcgrad.jax.config.update("jax_disable_jit", True)
    try:
        assert sign(2, 5.0) == 10.0 and calls[-1] == 5.0
    finally:
        funcgrad.jax.config.update("jax_disable_jit", False)
    sign(2, 7.0)
    assert isinstance(calls[-1], Tracer) or calls[-1] == 5.0  # not 7.0


def test_static_arguments_that_are_equal_and_not_the_same() -> None:
    """2 and 2.0, also in tuples, and both zeros."""
    f = jit(lambda x, s: x * s[0], static_argnums=1)
    assert [f(np.array(3), s).dtype for s in ((2,), (2.0,), (2,))] == [np.int64, float, np.int64]
    g = jit(lambda x, s: np.copysign(x, s), static_argnums=1)
    assert [g(1.0, s) for s in (0.0, -0.0)] == [1.0, -1.0]
