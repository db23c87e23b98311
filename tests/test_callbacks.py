"""Python called from programs: once, in order, whatever is made of the program around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import debug, grad, io_callback, jit, jvp, lax, pure_callback, vjp, vmap
from funcgrad.errors import ArgumentError, MissingRuleError

log: list[Any] = []


def note(*xs: Any) -> None:
    debug.callback(lambda *xs: log.append([float(x) for x in xs]), *xs)


def straight(x: Any) -> Any:
    note(x)
    note()
    y = fnp.sin(x)
    note(y, 3.0)
    return y * x


def scanned(x: Any) -> Any:
    def step(c: Any, i: Any) -> Any:
        note(i, c)
        note()
        return c * x, c

    return lax.scan(step, x, np.arange(3.0))[0]


def carried_for_it_alone(x: Any) -> Any:
    def step(c: Any, _: Any) -> Any:
        y, count = c
        note(count)
        return (y * x, count + 1.0), None

    return lax.scan(step, (x, 0.0), None, length=3)[0][0]


def while_true(x: Any) -> Any:
    def body(s: Any) -> Any:
        note(s[1])
        note()
        return s[0] * x, s[1] + 1

    return lax.while_loop(lambda s: s[1] < 3, body, (x, 0))[0]


def branched(x: Any) -> Any:
    def double(x: Any) -> Any:
        note(x, 1.0)
        return x * 2.0

    def triple(x: Any) -> Any:
        note(x, 2.0)
        return x * 3.0

    return lax.cond(fnp.asarray(True), double, triple, x) + lax.switch(1, [double, triple], x)


def nested(x: Any) -> Any:
    return jit(scanned)(x) + jit(straight)(x)


def checkpointed(x: Any) -> Any:
    return funcgrad.checkpoint(straight)(x) * x


def _vjp(f: Any) -> Any:
    return lambda x: vjp(f, x)[1](1.0)


PROGRAMS = [
    *(straight, scanned, carried_for_it_alone, while_true, branched, nested, checkpointed),
]
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": grad,
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0,)),
    "vjp": _vjp,
    "linearize": lambda f: lambda x: funcgrad.linearize(f, x)[1](1.0),
    "hessian": lambda f: grad(grad(f)),
    "forward over reverse": lambda f: funcgrad.jacfwd(grad(f)),
    "vmap": lambda f: lambda x: vmap(f)(fnp.asarray(x)[None]),
    "vmap of grad": lambda f: lambda x: vmap(grad(f))(fnp.asarray(x)[None]),
    "grad of jit": lambda f: grad(jit(f)),
    "jvp of jit": lambda f: lambda x: jvp(jit(f), (x,), (1.0,)),
    "itself": lambda f: f,
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_happens_once_and_in_order(f: Any, name: str) -> None:
    log.clear()
    f(2.0)
    expected = list(log)
    transformed = TRANSFORMS[name](f)
    compiled = jit(transformed)
    for run in (transformed, compiled, compiled):
        log.clear()
        run(2.0)
        assert log == expected


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=4))
def test_a_batch_does_it_for_each_example(xs: list[float]) -> None:
    expected = []
    for x in xs:
        log.clear()
        scanned(x)
        expected.append([entry for entry in log if entry])
    for f in (vmap(scanned), jit(vmap(scanned)), jit(vmap(grad(scanned)))):
        log.clear()
        f(np.array(xs))
        steps = [entry for entry in log if entry]
        assert steps == [step for of_all in zip(*expected, strict=True) for step in of_all]


def test_results_that_are_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    @jit
    def f(x: Any) -> Any:
        debug.print("{} {y:.2f} {name}", x, y=x * 2.0, name="doubled")
        debug.print("done")
        return 1.0

    f(1.5)
    f(2.5)
    assert capsys.readouterr().out == "1.5 3.00 doubled\ndone\n2.5 5.00 doubled\ndone\n"


def test_what_it_keeps_is_not_overwritten() -> None:
    kept: list[Any] = []

    @jit
    def f(x: Any) -> Any:
        y = fnp.sin(x)
        debug.callback(kept.append, y)
        return fnp.exp(fnp.cos(y * 2.0) + 1.0).sum()

    xs = [np.full(5000, 1.0), np.full(5000, 2.0)]
    for x in xs:
        f(x)
    assert all(np.array_equal(k, np.sin(x)) for k, x in zip(kept, xs, strict=True))


def test_results_of_what_has_an_effect() -> None:
    state = iter(range(100))

    @jit
    def f(x: Any) -> Any:
        number = funcgrad.ShapeDtypeStruct((), int)
        first = io_callback(lambda: next(state), number)
        second = io_callback(lambda x: next(state) + int(x), number, x)
        return first, second

    assert [tuple(map(int, f(10.0))) for _ in range(2)] == [(0, 11), (2, 13)]


# ---------------------------------------------------------------- without effects


def _opaque(method: str | None) -> Callable[[Any], Any]:
    return lambda x: 2.0 * pure_callback(lambda v: np.sinc(v), x, x, vmap_method=method)


@given(st.integers(0, 3), st.integers(1, 3))
def test_pure_callbacks_are_values_like_others(n: int, m: int) -> None:
    x = np.arange(float(n * m)).reshape(n, m) / 7
    assert np.array_equal(jit(_opaque(None))(x), 2.0 * np.sinc(x))
    for method in ("sequential", "expand_dims", "broadcast_all"):
        f = _opaque(method)
        for mapped in (vmap(f), jit(vmap(f)), jit(vmap(vmap(f))), vmap(jit(f), 1, 1)):
            assert np.array_equal(mapped(x), 2.0 * np.sinc(x))


def test_a_callback_on_constants_runs_when_the_program_does() -> None:
    def refuse(x: Any) -> Any:
        raise ArithmeticError("this branch is not taken")

    def f(x: Any) -> Any:
        bad = lambda x: x * pure_callback(refuse, 1.0, 2.0)  # noqa: E731
        return lax.cond(x < 0.0, bad, np.sin, x)

    for code in ("numpy", "c"):
        with funcgrad.config(code):
            program = jit(grad(f))
            assert program(0.5) == np.cos(0.5)
            with pytest.raises(ArithmeticError, match="not taken"):
                program(-0.5)


def test_numbers_say_of_what_type_the_result_is() -> None:
    f = jit(lambda x: (pure_callback(np.tanh, x, x), pure_callback(lambda x: 3, 1, x)))
    for found in (f(0.5), f.__wrapped__(0.5)):
        assert found == (np.tanh(0.5), 3) and found[1].dtype == int


def test_arguments_that_are_not_mapped() -> None:
    shapes: list[Any] = []

    def f(x: Any, y: Any) -> Any:
        shapes.append((x.shape, y.shape))
        return x + y

    xs, y = np.ones((3, 2)), np.full(2, 5.0)
    for method, expected in (
        ("sequential", [((2,), (2,))] * 3),
        ("expand_dims", [((3, 2), (1, 2))]),
        ("broadcast_all", [((3, 2), (3, 2))]),
    ):
        shapes.clear()
        found = vmap(lambda x, m=method: pure_callback(f, y, x, y, vmap_method=m))(xs)
        assert shapes == expected and np.array_equal(found, xs + y)


@funcgrad.custom_jvp
def sine(x: Any) -> Any:
    return pure_callback(np.sin, x, x, vmap_method="sequential")


sine.defjvp(lambda xs, ts: (sine(*xs), fnp.cos(xs[0]) * ts[0]))


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["eager", "jit"])
def test_a_rule_gives_it_derivatives(wrap: Any) -> None:
    def f(x: Any) -> Any:
        return lax.scan(lambda c, _: (sine(c), c), x, None, length=3)[0]

    def same(x: Any) -> Any:
        return np.sin(np.sin(np.sin(x)))

    for transform in (grad, lambda f: grad(grad(f)), funcgrad.jacfwd):
        assert np.allclose(wrap(transform(f))(0.7), transform(same)(0.7), rtol=1e-14)
    xs = np.array([0.1, 0.5])
    assert np.allclose(wrap(vmap(grad(f)))(xs), vmap(grad(same))(xs), rtol=1e-14)


ERRORS = [
    (lambda x: grad(_opaque(None))(1.0), MissingRuleError, "give it one by custom_jvp"),
    (lambda x: jit(grad(_opaque(None)))(1.0), MissingRuleError, "give it one by custom_jvp"),
    (lambda x: vmap(_opaque(None))(x), ArgumentError, "give it vmap_method"),
    (lambda x: pure_callback(lambda v: v[:1], x, x), ArgumentError, r"returned \[f64\[1\]\]"),
    (lambda x: pure_callback(lambda v: v * 1j, x, x), ArgumentError, r"returned \[c128\[3\]\]"),
    (lambda x: pure_callback(lambda v: (v, v), x, x), ArgumentError, "result_shape_dtypes says"),
    (lambda x: pure_callback(np.sin, "f64", x), ArgumentError, "has a str in it"),
    (lambda x: pure_callback(3, x, x), ArgumentError, "must be a function"),
    (lambda x: pure_callback(np.sin, x, x, vmap_method="all"), ArgumentError, "need one of"),
]


@pytest.mark.parametrize(("f", "cls", "words"), ERRORS, ids=[w for _, _, w in ERRORS])
def test_errors(f: Any, cls: Any, words: str) -> None:
    with pytest.raises(cls, match=words):
        f(np.ones(3))


def test_what_the_function_raises_reaches_the_caller() -> None:
    def refuse(x: Any) -> None:
        raise KeyError("no")

    def f(x: Any) -> Any:
        debug.callback(refuse, x)
        return x

    for run in (f, jit(f), grad(f), jit(grad(f))):
        with pytest.raises(KeyError, match="no"):
            run(1.0)
