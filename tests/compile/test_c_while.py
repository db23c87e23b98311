"""Loops with a test and branches in C: what Python's loops and branches give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax, random
from funcgrad.compile import c_compiler
from funcgrad.testing.programs import Program, programs

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")

MATRIX = np.diag(np.arange(1.0, 9.0)) + 0.1


def newton(x: Any) -> Any:
    return lax.while_loop(lambda y: abs(y * y - x) > 1e-13 * x, lambda y: 0.5 * (y + x / y), x)


def power(v: Any) -> Any:
    """Arrays in the carry, one of which is what the other was."""

    def step(s: Any) -> Any:
        v, _, i = s
        w = MATRIX @ v
        return w / np.sqrt(np.sum(w * w)), v, i + 1

    return lax.while_loop(
        lambda s: (np.sum((s[0] - s[1]) ** 2) > 1e-20) & (s[2] < 500), step, (v, 0 * v, 0)
    )


def collatz(n: Any) -> Any:
    def step(s: Any) -> Any:
        n, count = s
        return lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), count + 1

    return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))


def nested(x: Any) -> Any:
    """A loop in a loop in a scan, over closed-over arrays."""
    weights = np.arange(3.0)

    def inner(c: Any) -> Any:
        return lax.while_loop(lambda c: np.sum(c) < 5.0, lambda c: c + weights * 0.7 + 0.1, c)

    def outer(c: Any, row: Any) -> Any:
        c = lax.while_loop(lambda c: np.max(c) > 2.0, lambda c: 0.5 * c, inner(c + row))
        return c, c[0]

    return lax.scan(outer, x, np.outer(np.arange(4.0), x))


def swapped(x: Any) -> Any:
    """Carries change places, one of them with a constant of the program."""
    step = lambda s: (s[1], s[0] * 0.5, s[3] + 1, s[2])  # noqa: E731
    return lax.while_loop(lambda s: s[2] < 7, step, (x, x + 1, 0, 1))


def branches(x: Any) -> Any:
    """Results that are operands, numbers, the same twice, views, sums."""
    takes = [
        lambda x: (x, x, np.sum(x), 1.0),
        lambda x: (x[::-1], x * 2, x[0], x[1]),
        lambda x: (np.sin(x),) * 2 + (3.0, np.max(x)),
    ]

    def step(c: Any, i: Any) -> Any:
        x, y, a, b = lax.switch(i, takes, c)
        return x + 0.1 * y, (x, y, a, b)

    return lax.scan(step, x, np.array([0, 1, 2, 1, 0, 2]))


def rejection(key: Any) -> Any:
    """The first number above 2: random numbers in a loop with a test."""

    def draw(s: Any) -> Any:
        key, own = random.split(s[0])
        return key, random.normal(own)

    return lax.while_loop(lambda s: s[1] < 2.0, draw, (key, 0.0))[1]


def never(x: Any) -> Any:
    return lax.while_loop(lambda c: c[0] < -1e9, lambda c: np.exp(c) / 0.0, x)


def constant_branch(x: Any) -> Any:
    return lax.cond(np.sum(x) > 0, lambda: np.ones(4), lambda: np.arange(4.0)), 2.0 * x


def types(x: Any) -> Any:
    """Numbers that become the carry's type, truth values and integers in the carry."""

    def step(s: Any) -> Any:
        flag, i, y = s
        return np.logical_not(flag), i * 3 % 7, np.where(flag, y * 3, y - 1)

    return lax.while_loop(lambda s: s[1] != 5, step, (True, 1, fnp.astype(x, np.float32)))


X = np.array([0.3, -1.2, 0.8])
LOOPS: dict[str, tuple[Callable[..., Any], Any]] = {
    "newton": (newton, np.array(2.0)),
    "power": (power, np.ones(8)),
    "collatz": (collatz, np.array(27)),
    "nested": (nested, X + 2),
    "swapped": (swapped, X),
    "branches": (branches, X),
    "rejection": (rejection, random.key(0)),
    "never": (never, X),
    "constants": (constant_branch, X),
    "types": (types, X),
}


def assert_same(found: Any, expected: Any) -> None:
    found, expected = (funcgrad.tree.leaves(t) for t in (found, expected))
    for x, y in zip(found, expected, strict=True):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name: str) -> None:
    f, x = LOOPS[name]
    compiled = funcgrad.jit(f)
    with funcgrad.config("c"):
        assert_same(compiled(x), f(x))
        assert not any(word in compiled.code for word in ("while", "cond", "for ", "random"))
        assert_same(compiled(x), f(x))


@pytest.mark.parametrize("name", ["newton", "nested", "branches", "swapped"])
def test_derivatives_and_batches(name: str) -> None:
    f, x = LOOPS[name]

    def total(x: Any) -> Any:
        return sum(np.sum(np.cos(leaf)) for leaf in funcgrad.tree.leaves(f(x)))

    batch = np.stack([x, x * 0.9, x + 0.05])
    with funcgrad.config("c"):
        assert_same(funcgrad.jit(funcgrad.grad(total))(x), funcgrad.grad(total)(x))
        assert_same(funcgrad.jit(funcgrad.vmap(total))(batch), np.stack([total(b) for b in batch]))
        tangent = funcgrad.jit(lambda x: funcgrad.jvp(total, (x,), (x,)))
        assert_same(tangent(x), funcgrad.jvp(total, (x,), (x,)))


def flagged(x: Any, w: Any) -> Any:
    """How many steps there are depends on values by a flag only; each is linear in the carry."""
    start = (True, x)
    return lax.while_loop(lambda s: s[0], lambda s: (np.sum(s[1]) < 5.0, s[1] * 1.7 + w), start)[1]


def within_limit(x: Any, limit: Any) -> Any:
    """Closed-over values that are read by the test only, or by both."""
    c = lax.while_loop(lambda c: np.sum(c) < limit, lambda c: c * 1.5 + 0.1, np.exp(x))
    return lax.while_loop(lambda c: np.sum(c) < 3 * limit, lambda c: c * limit, c)


def by_table(x: Any, table: Any) -> Any:
    step = lambda s: (s[0] + 1, s[1] * fnp.take(table, s[0] % 3))  # noqa: E731
    return lax.while_loop(lambda s: s[0] < 4, step, (0, x))[1]


def put_back(x: Any, w: Any) -> Any:
    """A carry that is made anew in every step, one that is passed on, one that only counts."""
    step = lambda s: (s[0] * s[1] + w, 2.0 + 0.1 * s[0], s[2], s[3] + s[2])  # noqa: E731
    a, b, c, _ = lax.while_loop(lambda s: s[3] < 3, step, (x, x, 1.0, 0.0))
    return a * b + c


def of_bodies(x: Any, w: Any) -> Any:
    """A loop in a loop, a scan, a branch and a gradient in loops; a loop in a scan."""
    f = lambda c: np.sum(c**4 - w * c**2)  # noqa: E731
    rows = np.arange(1.0, 4.0, dtype=x.dtype)

    def step(s: Any) -> Any:
        c = lax.while_loop(lambda c: np.sum(c * c) < 4.0, lambda c: c * 1.3, s[1])
        c = lax.scan(lambda c, k: (np.tanh(c * k) + w, None), c, rows)[0]
        c = lax.cond(np.sum(c) > 1.0, lambda c: c - 0.1 * funcgrad.grad(f)(c), np.sin, c)
        return s[0] + 1, c

    c = lax.while_loop(lambda s: s[0] < 3, step, (0, x))[1]
    halved = lambda c: lax.while_loop(lambda c: np.sum(c * c) > 1.0, lambda c: 0.5 * c * w, c)  # noqa: E731
    return lax.scan(lambda c, k: (halved(c * (k + w)), c), c, rows)[1]


@funcgrad.custom_vjp
def steep(x: Any) -> Any:
    return x * x


steep.defvjp(lambda x: (steep(x), x), lambda x, g: (np.clip(g, -0.1, 0.1) * 7.0 * x,))


@funcgrad.custom_jvp
def bent(x: Any) -> Any:
    return np.sin(x)


bent.defjvp(lambda primals, ts: (bent(*primals), 3.0 * ts[0]))


def with_rules(x: Any, w: Any) -> Any:
    """Rules of functions' own, and constants to derivatives: no program has them when it is printed."""

    def step(s: Any) -> Any:
        c = s[1] * funcgrad.stop_gradient(s[1] + w) + bent(w * s[1])
        return s[0] + 1, funcgrad.jit(lambda c: steep(c) * funcgrad.stop_gradient(w))(c)

    return lax.while_loop(lambda s: s[0] < 3, step, (0, x))[1]


BY_TWO: dict[str, tuple[Callable[..., Any], Any]] = {
    "flagged": (flagged, 0.4),
    "limit": (within_limit, 9.0),
    "table": (by_table, np.array([1.5, -0.3, 2.0])),
    "put back": (put_back, -0.7),
    "bodies": (of_bodies, 0.9),
    "rules": (with_rules, 0.5),
}


@pytest.mark.parametrize("name", BY_TWO)
@pytest.mark.parametrize("printer", ["numpy", "c"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradients(name: str, printer: str, dtype: Any) -> None:
    """By all that a loop starts with and closes over, once and for a batch."""
    f, w = BY_TWO[name]
    x, w = X.astype(dtype), np.asarray(w, dtype)
    g = funcgrad.grad(lambda x, w: np.sum(np.sin(f(x, w))), (0, 1))
    scales = np.array([1.0, 0.6, 1.3], dtype)
    xs, ws = np.multiply.outer(scales, x), np.multiply.outer(scales, w)
    rtol = 1e-9 if dtype is np.float64 else 2e-3
    for function, args in ((g, (x, w)), (funcgrad.vmap(g), (xs, ws))):
        compiled = funcgrad.jit(function)
        with funcgrad.config(printer):
            found = compiled(*args)
            assert printer == "numpy" or "while" not in compiled.code or name == "bodies"
        for a, b in zip(found, function(*args), strict=True):
            assert np.asarray(a).dtype == dtype
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def test_memory_for_many_steps() -> None:
    """As many rows as there are steps, none too; they are known when the program runs."""

    def power(r: Any, n: Any) -> Any:
        return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * r), (0, 1.0))[1]

    compiled = funcgrad.jit(funcgrad.grad(power))
    with funcgrad.config("c"):
        assert [compiled(1.0, n) for n in (0, 1, 7, 100_000, 3)] == [0.0, 1.0, 7.0, 1e5, 3.0]


def test_what_c_cannot_say_stays_a_loop_of_python() -> None:
    def f(x: Any) -> Any:
        sort = lambda c: np.sort(c)[::-1] * 0.9  # noqa: E731
        return lax.while_loop(lambda c: c[0] > 0.1, sort, x) + newton(2.0 + x[0] ** 2)

    compiled = funcgrad.jit(f)
    with funcgrad.config("c"):
        assert_same(compiled(X), f(X))
        assert "call_while_loop" in compiled.code


@settings(deadline=None, max_examples=15)
@given(programs(dtypes=(np.float64,), most=5), st.integers(0, 4), st.booleans())
def test_random_programs(p: Program, count: int, flag: bool) -> None:
    """A random program as the body of a loop with a test, and as a branch in it."""
    args = [x for x in p.args if x.dtype.kind == "f"]

    def f(n: Any, flag: Any, *args: Any) -> Any:
        floats = iter(args)
        rest = [next(floats) if x.dtype.kind == "f" else x for x in p.args]

        def step(s: Any) -> Any:
            i, c = s
            outs = funcgrad.tree.leaves(p(*rest))
            new = sum(np.sum(np.tanh(fnp.absolute(y) + c)) for y in outs)
            return i + 1, lax.cond(flag, lambda: new, lambda: c - 1.0)

        return lax.while_loop(lambda s: s[0] < n, step, (0, 0.5))[1]

    operands = (np.array(count), np.array(flag), *args)
    with funcgrad.config("c"):
        found = funcgrad.jit(f)(*operands)
    np.testing.assert_allclose(found, f(*operands), rtol=1e-6, atol=1e-6)
