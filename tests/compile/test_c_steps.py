"""Random numbers in C are those of NumPy, to the last bit of every word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import lax, random
from funcgrad.compile import c_compiler, c_elements, c_steps, loops, program
from funcgrad.compile.simplify import simplify
from funcgrad.core import REGISTRY
from funcgrad.errors import ArgumentError

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")

KEY = random.key(3)
DRAWN: dict[str, Callable[[Any], Any]] = {
    "bits": lambda key: random.bits(key, (7,)),
    "bits of 64": lambda key: random.bits(key, (), np.uint64),
    "split": lambda key: random.split(key, 5)[1:],
    "fold_in": lambda key: random.fold_in(key, 7),
    "uniform": lambda key: random.uniform(key, (3, 5), minval=-2.0),
    "uniform of 32": lambda key: random.uniform(key, (3, 5), np.float32),
    "one number": random.uniform,
    "normal": lambda key: random.normal(key, (40,)),
    "normal of 32": lambda key: random.normal(key, (40,), np.float32),
    "integers": lambda key: random.randint(key, (11,), -3, 9),
    "large integers": lambda key: random.randint(key, (), 0, 2**40),
    "all integers": lambda key: random.randint(key, (5,), -(2**31), 2**31, np.int32),
    "keys": lambda key: funcgrad.vmap(lambda k: random.normal(k, (3,)))(random.split(key, 6)),
    "a chain": lambda key: random.uniform(random.split(random.fold_in(key, 3))[1], (4,)),
    "data": lambda key: random.fold_in(key, np.arange(6) * key[1])[:, 0],
    "exponential": lambda key: random.exponential(key, (5,)),
    "choice": lambda key: random.choice(key, np.arange(10.0), (4,)),
}


def in_c(f: Callable[..., Any], *args: Any) -> tuple[Any, str]:
    compiled = funcgrad.jit(f)
    with funcgrad.config("c"):
        return compiled(*args), compiled.code


def assert_same(found: Any, expected: Any) -> None:
    """Bits and what is made of them by arithmetic are equal; logarithms round in their own way."""
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    if found.dtype.kind == "u":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_array_almost_equal_nulp(found, expected, 4)


@pytest.mark.parametrize("name", DRAWN)
def test_draws(name: str) -> None:
    found, code = in_c(DRAWN[name], KEY)
    assert_same(found, DRAWN[name](KEY))
    assert "random_" not in code, "left to NumPy"


def test_every_draw_is_a_primitive() -> None:
    assert set(c_steps.DRAWS) <= set(REGISTRY)


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**64 - 1), st.sampled_from([1, 3, 16, 100, 2**15 + 3]))
def test_keys_and_lengths(seed: int, n: int) -> None:
    key = random.key(seed)
    f = FUNCTIONS.setdefault(
        n, funcgrad.jit(lambda key: (random.bits(key, (n,)), random.split(key)))
    )
    with funcgrad.config("c"):
        bits, keys = f(key)
    assert_same(bits, random.bits(key, (n,)))
    assert_same(keys, random.split(key))


FUNCTIONS: dict[int, Any] = {}


def test_a_chain_of_draws_in_a_loop() -> None:
    """A Metropolis walk: keys in the carry, a whole step in C."""

    def walk(key: Any, x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            key, x = carry
            key, first, second = random.split(key, 3)
            y = x + random.normal(first, x.shape)
            taken = np.log(random.uniform(second)) < 0.5 * (np.sum(x**2) - np.sum(y**2))
            x = np.where(taken, y, x)
            return (key, x), x

        return lax.scan(step, (key, x), None, length=30)

    found, code = in_c(walk, KEY, np.zeros(3))
    assert "random_" not in code and "for " not in code
    (key, _), path = walk(KEY, np.zeros(3))
    assert_same(found[0][0], key)
    np.testing.assert_allclose(found[1], path, rtol=1e-13)


def test_bounds_that_are_not_known_are_checked() -> None:
    def f(key: Any, high: Any) -> Any:
        return random.randint(key, (3,), 0, high, np.int32) + 1

    found, code = in_c(f, KEY, np.array(9))
    np.testing.assert_array_equal(found, f(KEY, np.array(9)))
    assert "random_integers" in code
    with funcgrad.config("c"), pytest.raises(ArgumentError, match="is beyond int32"):
        funcgrad.jit(f)(KEY, np.array(2**40))


def test_what_c_cannot_say_stays_a_call() -> None:
    def f(key: Any) -> Any:
        return random.bits(key, (9,), np.uint16), random.gamma(key, 2.0, (3,))

    found, code = in_c(f, KEY)
    assert "random_bits" in code
    for x, y in zip(found, f(KEY), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-13)


def test_steps_that_no_loop_takes_are_a_call_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_steps, "_outside", lambda program, made: set(made.values()))
    found, code = in_c(DRAWN["normal"], KEY)
    assert "random_normal" in code
    assert_same(found, DRAWN["normal"](KEY))


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_long_loops_do_not_wait_for_python(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(program, "PATIENCE", seconds)

    @funcgrad.jit
    def total(key: Any) -> Any:
        def add(carry: Any, _: Any) -> Any:
            key, sum = carry
            key, own = random.split(key)
            return (key, sum + random.uniform(own)), None

        return lax.scan(add, (key, 0.0), None, length=50)[0]

    total(KEY)
    assert ("np_kernel" in total.code) == (seconds == 0.0)


# ---------------------------------------------------------------- keys that are rows

KEYS = random.split(KEY, 6)
DATA = np.arange(6) * 3
IN_ROWS: dict[str, tuple[Callable[..., Any], bool]] = {
    "draws": (lambda key, i, own: random.normal(key, (3,)), True),
    "split": (lambda key, i, own: sum(random.uniform(k, (2,)) for k in random.split(key)), True),
    "integers": (lambda key, i, own: random.randint(key, (3,), -2, 5), True),
    "permutation": (lambda key, i, own: random.permutation(key, 4), True),
    "gamma": (lambda key, i, own: random.gamma(key, 2.5, (2,)), True),
    "a number": (lambda key, i, own: random.bits(random.fold_in(key, 4), (2,)), True),
    "data": (lambda key, i, own: random.uniform(random.fold_in(own, i)), True),
    "both": (lambda key, i, own: random.uniform(random.fold_in(key, i)), True),
    "several keys": (
        lambda key, i, own: random.bits(random.fold_in(random.split(key, 3), i), (2,)).sum(0),
        False,
    ),
    "several data": (
        lambda key, i, own: random.bits(random.fold_in(key, np.arange(2) + i), (2,)),
        False,
    ),
    "of the carry": (lambda key, i, own, c: random.randint(key, (), 0, c + 2), False),
}


@pytest.mark.parametrize("name", IN_ROWS)
@pytest.mark.parametrize("reverse", [False, True])
def test_rows_are_drawn_at_once(name: str, reverse: bool) -> None:
    f, is_drawn = IN_ROWS[name]

    def run(key: Any, data: Any, own: Any) -> Any:
        def step(c: Any, row: Any) -> Any:
            more = (c,) if name == "of the carry" else ()
            found = f(*row, own, *more)
            return c + np.sum(found), found

        start = 0 if name == "of the carry" else 0.0
        return lax.scan(step, start, (key, data), reverse=reverse)

    body = simplify(funcgrad.make_jaxpr(run)(KEYS, DATA, KEY)).eqns
    loop = next((e.params["jaxpr"] for e in body if e.prim.name == "scan"), None)
    left = [e.prim.name for e in loop.eqns if e.prim.name.startswith("random_")] if loop else []
    assert bool(left) != is_drawn, left
    for code in ("numpy", "c"):
        with funcgrad.config(code):
            found = funcgrad.jit(run)(KEYS, DATA, KEY)
        for x, y in zip(found, run(KEYS, DATA, KEY), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-13)


def test_too_many_numbers_are_drawn_in_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "MOST_BYTES", 100)

    def run(keys: Any) -> Any:
        return lax.scan(lambda c, k: (c + random.normal(k, (9,)), None), np.zeros(9), keys)[0]

    text = str(simplify(funcgrad.make_jaxpr(run)(KEYS)))
    assert text.index("scan") < text.index("random_normal")
    np.testing.assert_allclose(funcgrad.jit(run)(KEYS), run(KEYS), rtol=1e-13)


# ---------------------------------------------------------------- other functions

OTHERS: dict[str, Callable[[Any], Any]] = {
    "all": lambda x: (np.all(x > 0, axis=1), np.all(x > -9), np.all(x)),
    "any": lambda x: (np.any(x > 0, axis=(0, 1)), np.any(x > 9, axis=0), np.any(x)),
    "argmax": lambda x: (np.argmax(x, axis=1), np.argmax(x)),
    "argmin": lambda x: (np.argmin(x, axis=0), np.argmin(x)),
    "cumsum": lambda x: (np.cumsum(x, axis=0), np.cumsum(x), np.cumsum(x[0] > 0)),
    "cumsum from the end": lambda x: lax.cumsum(x, axis=1, reverse=True),
    "diagonal": lambda x: (np.diagonal(x), np.diagonal(x, 1) * 2, np.trace(x[:, :3])),
    "embed": lambda x: np.concatenate([x[::-1, ::-2], x[:, :2]], axis=1),
    "roll": lambda x: (np.roll(x, 1, axis=1), np.roll(x, (1, -2), axis=(0, 1)), np.roll(x, 3)),
    "roll of nothing": lambda x: np.roll(x[:, :0], (1, 2), axis=(0, 1)).sum() * x,
    "searchsorted": lambda x: (
        np.searchsorted(np.cumsum(np.exp(x[0])), x),
        np.searchsorted(np.cumsum(np.exp(x[0])), x[1], side="right"),
    ),
    "std": lambda x: (np.std(x, axis=1), np.std(x), np.std(x, ddof=1, axis=0)),
    "tril": lambda x: (np.tril(x), np.tril(x, -1), np.triu(x, 1)),
    "var": lambda x: (np.var(x, axis=(0, 1)), np.var(x, axis=0, keepdims=True)),
    "written": lambda x: np.pad(x, ((1, 0), (2, 1))) + 1,
    "remainder": lambda x: (x % 0.7, x // 0.3, np.divmod(x, -0.4), 0.7 % x),
}
NUMBERS = np.array([[0.3, -1.2, 0.8, 2.0], [-0.0, 0.0, 2.0, 2.0], [1.0, -1.0, 1.0, -3.5]])
SPECIAL = np.array(
    [[np.nan, 1.0, np.inf, 2.0], [0.0, -0.0, -np.inf, 1.0], [1.0, np.nan, 2, np.nan]]
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_others(name: str, dtype: str) -> None:
    """In a loop, which is C as a whole; their gradients are checked by the same programs."""

    def looped(x: Any) -> Any:
        return lax.scan(lambda c, _: (c, OTHERS[name](c)), x, None, length=2)[1]

    for x in (NUMBERS, NUMBERS.T[::-1].T, SPECIAL):
        x = x.astype(dtype)
        with np.errstate(all="ignore"):
            found, code = in_c(looped, x)
            expected = looped(x)
        assert "for " not in code, code
        for a, b in zip(funcgrad.tree.leaves(found), funcgrad.tree.leaves(expected), strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, rtol=1e-6 if dtype == "float32" else 1e-13)
            np.testing.assert_array_equal(np.signbit(a) & (a == 0), np.signbit(b) & (b == 0))


def test_every_other_is_a_primitive() -> None:
    assert set(c_steps.OTHERS) <= set(REGISTRY)
    assert set(c_elements.ELEMENTS) <= set(REGISTRY)


def test_large_arrays_are_left_to_numpy() -> None:
    x = np.arange(c_steps.SMALL + 1.0)
    found, code = in_c(lambda x: np.argmax(x * 2) + 1, x)
    assert found == len(x) and "call_argmax" in code


@pytest.mark.parametrize("shape", [(0, 3), (2, 0, 3)])
def test_variances_of_no_rows(shape: tuple[int, ...]) -> None:
    found, _ = in_c(lambda x: np.var(x, axis=-1), np.ones(shape))
    np.testing.assert_array_equal(found, np.ones(shape).var(axis=-1))
