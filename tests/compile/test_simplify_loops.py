"""What `simplify` does to loops: their steps do less, and compute the same within rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import jit, lax, make_jaxpr
from funcgrad.compile.simplify import simplify
from funcgrad.jaxpr import Jaxpr, check_jaxpr, eval_jaxpr

RNG = np.random.default_rng(0)
W, V, A = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=3)


def _gradient(step: Callable[..., Any], argnum: int) -> Callable[..., Any]:
    """Of a loop of (weights, start, rows)."""

    def loss(*args: Any) -> Any:
        w, start, xs = args
        c, ys = lax.scan(lambda c, x: step(w, c, x), start, xs)
        return sum(np.sum(np.sin(leaf)) for leaf in funcgrad.tree.flatten((c, ys))[0])

    return funcgrad.grad(loss, argnum)


def _shifted_in(number: Any, c: Any) -> Any:
    return np.concatenate([fnp.broadcast_to(number, (2,)), c[:1]])


# A loop of (weights, start, rows), its weights, how long a row is, and what its steps still do.
LOOPS: dict[str, tuple[Callable[..., Any], Any, int, list[list[str]]]] = {
    "what does not change": (
        lambda w, c, xs: lax.scan(
            lambda c, x: (jit(lambda w, c: np.exp(w) * c)(w, c) + x, c), c, xs
        ),
        *(A, 3, [["multiply", "add"]]),
    ),
    "a view that does not change": (
        lambda w, c, xs: lax.scan(lambda c, x: (jit(lambda w, c: w.T @ c)(w, c) + x, None), c, xs),
        *(V, 3, [["matmul", "add"]]),
    ),
    "a carry that does not change": (
        lambda w, c, xs: lax.scan(lambda c, x: ((c[0], np.sin(c[0]) * c[1] + x), None), (w, c), xs),
        *(A, 3, [["multiply", "add"]]),
    ),
    "what is broadcast in the loop": (
        lambda w, c, xs: lax.scan(
            lambda c, x: (jit(_shifted_in)(w[0], c) * x, None),
            c,
            xs,
        ),
        *(A, 3, [["broadcast_to", "getitem", "concatenate", "multiply"]]),
    ),
    "a carry that is not read": (
        lambda w, c, xs: lax.scan(lambda c, x: (w * x, None), c, xs),
        *(A, 3, [["multiply"]]),
    ),
    "a number": (
        lambda w, c, xs: lax.scan(lambda c, x: ((c[0], c[1] * x), np.sin(c[0])), (1.0, c), xs),
        *(A, 3, [["multiply"]]),
    ),
    "what nobody reads": (
        lambda w, c, xs: lax.scan(lambda c, x: ((c[0] + x, c[1] * x), np.sin(x)), (c, c), xs)[0][1],
        *(A, 3, [["multiply"]]),
    ),
    "a row, a constant": (
        lambda w, c, xs: lax.scan(lambda c, x: (c * x, (x, w, c)), c, xs),
        *(A, 3, [["multiply"]]),
    ),
    "products of rows": (
        lambda w, c, xs: lax.scan(lambda c, x: (np.tanh(c + x @ w), None), c, xs),
        *(W, 4, [["add", "tanh"]]),
    ),
    "products with rows": (
        lambda w, c, xs: lax.scan(lambda c, x: (np.tanh(c + w @ x), None), c, xs),
        *(W.T, 4, [["add", "tanh"]]),
    ),
    "results that are products": (
        lambda w, c, xs: lax.scan(lambda c, x: (np.tanh(c + x), np.cos(c) @ w), c, xs),
        *(V, 3, [["add", "tanh", "cos"]]),
    ),
    "sums of products of rows": (
        lambda w, c, xs: lax.scan(lambda s, x: (s - x[:, None] * x, None), w, xs),
        *(V, 3, []),
    ),
    "sums of rows and more": (
        lambda w, c, xs: lax.scan(
            lambda s, x: ((s[0] + np.outer(x, x) + np.cos(s[1])[:, None], s[1] * 2.0), None),
            (w, c),
            xs,
        ),
        *(V, 3, [["multiply", "cos", "reshape", "add"]]),
    ),
    "weights of a recurrence": (
        _gradient(lambda w, c, x: (np.tanh(w @ c + x), None), 0),
        *(V, 3, [["matmul", "add", "tanh"], ["square", "subtract", "multiply", "matmul"]]),
    ),
    "rows of a recurrence": (
        _gradient(lambda w, c, x: (c * np.tanh(x @ w), None), 2),
        *(V, 3, [["tanh", "multiply"], ["multiply", "multiply", "square", "subtract", "multiply"]]),
    ),
    "a loop inside": (
        lambda w, c, xs: lax.scan(
            lambda c, x: (lax.scan(lambda d, _: (d * np.sin(w) + x, None), c, None, 2)[0], c), c, xs
        ),
        *(A, 3, [["scan"], ["multiply", "add"]]),
    ),
    "a sum that is read": (
        lambda w, c, xs: lax.scan(lambda s, x: (s + np.outer(x, x), s), w, xs),
        *(V, 3, [["reshape", "multiply", "add"]]),
    ),
    "a sum of integers": (
        lambda w, c, xs: lax.scan(lambda n, x: (n + 1, None), 0, xs)[0],
        *(A, 3, [["add"]]),
    ),
}


def bodies(jaxpr: Jaxpr) -> list[list[str]]:
    """The primitives of every loop's steps."""
    found = []
    for eqn in jaxpr.eqns:
        if eqn.prim.name == "scan":
            body = eqn.params["jaxpr"]
            found += [[e.prim.name for e in body.eqns], *bodies(body)]
    return found


@pytest.mark.parametrize("name", LOOPS)
def test_steps_of_a_loop_do_less(name: str) -> None:
    f, weights, width, expected = LOOPS[name]
    args = (weights, A, RNG.normal(size=(5, width)))
    found = bodies(simplify(make_jaxpr(f)(*args)))
    assert [sorted(names) for names in found] == [sorted(names) for names in expected], found


@pytest.mark.parametrize("name", LOOPS)
@given(length=st.integers(0, 4), data=st.data())
def test_loops_compute_the_same(name: str, length: int, data: Any) -> None:
    f, weights, width, _ = LOOPS[name]
    dtype = data.draw(st.sampled_from(["f8", "f4", "c16"]))
    xs = np.linspace(0.3, 1.2, 4 * width).reshape(4, width)[:length]
    args = [x.astype(dtype) for x in (weights, A, xs)]
    if dtype == "c16" and "recurrence" in name:
        return  # the loss is real there
    jaxpr = make_jaxpr(f)(*args)
    simple = simplify(jaxpr)
    check_jaxpr(simple)
    assert [a.dtype for a in simple.out_avals] == [a.dtype for a in jaxpr.out_avals]
    tolerance = 1e-5 if dtype == "f4" else 1e-13
    for a, b in zip(eval_jaxpr(simple, *args), eval_jaxpr(jaxpr, *args), strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", LOOPS)
def test_simplifying_a_loop_twice_changes_nothing(name: str) -> None:
    f, weights, width, _ = LOOPS[name]
    once = simplify(make_jaxpr(f)(weights, A, RNG.normal(size=(5, width))))
    assert str(simplify(once)) == str(once)


# ---------------------------------------------------------------- while_loop and cond


def _halved(w: Any, x: Any, total: int) -> Any:
    """Steps that use something of `w` alone, `total` of them."""

    @jit  # so that it stays in the loop until it is simplified
    def step(w: Any, state: Any) -> Any:
        i, y = state
        return i + 1, np.tanh(np.sin(w[0]) * y) + np.sum(w.T @ w) * 0.5

    return lax.while_loop(
        lambda state: state[0] < total, lambda state: step(w, state), (np.int64(0), x)
    )[1]


@given(total=st.integers(0, 3))
def test_while_loops_do_less(total: int) -> None:
    def f(w: Any, x: Any) -> Any:
        return _halved(w, x, total)

    jaxpr = make_jaxpr(f)(V, A)
    simple = simplify(jaxpr)
    check_jaxpr(simple)
    (loop,) = [e for e in simple.eqns if e.prim.name == "while_loop"]
    (call,) = loop.params["body"].eqns
    names = [e.prim.name for e in call.params["jaxpr"].eqns]
    assert sorted(names) == ["add", "add", "multiply", "tanh"]
    np.testing.assert_allclose(eval_jaxpr(simple, V, A)[0], f(V, A), rtol=1e-14)
    np.testing.assert_allclose(jit(f)(V, A), f(V, A), rtol=1e-14)
    assert str(simplify(simple)) == str(simple)


def test_what_could_raise_stays_in_a_while_loop() -> None:
    """As no step may be run: here the matrix has no inverse."""

    def f(w: Any, x: Any) -> Any:
        step = jit(lambda w, y: np.linalg.inv(w) @ y)
        return lax.while_loop(lambda y: np.sum(y) > 1.0, lambda y: step(w, y), x)

    singular = np.zeros((3, 3))
    np.testing.assert_array_equal(jit(f)(singular, np.zeros(3)), np.zeros(3))


def test_branches_are_simplified() -> None:
    def f(x: Any, w: Any) -> Any:
        more = lambda x, w: np.sin(x) * 1.0 + np.cos(w) / np.cos(w) - np.exp(0 - w)  # noqa: E731
        return lax.cond(np.sum(x) > 0, more, lambda x, w: x + -w, x, w)

    jaxpr = make_jaxpr(f)(A, A)
    simple = simplify(jaxpr)
    check_jaxpr(simple)
    branches = next(e for e in simple.eqns if e.prim.name == "cond").params["branches"]
    names = {tuple(e.prim.name for e in b.eqns) for b in branches}
    assert names == {("subtract",), ("jit_call",)}
    for x in (A - 10, A + 10):
        np.testing.assert_array_equal(eval_jaxpr(simple, x, A), eval_jaxpr(jaxpr, x, A))
        np.testing.assert_allclose(jit(f)(x, A), f(x, A), rtol=1e-14)


@pytest.mark.parametrize(
    "body, start",
    [
        (lambda c, x: (c + x, 0.0), V),
        (lambda c, x: (c + x, (True, 3, x)), V),
        (lambda c, x: ((c[0] + c[1], c[1]), c[1]), (V, V + 1.0)),
        (lambda c, x: ((c[0] + c[1], c[1]), (c[1], c[0])), (V, V + 1.0)),
        (lambda c, x: ((c[0] - c[1].T, c[1]), (c[1].T, c[1] * 2.0)), (V, V + 1.0)),
    ],
)
def test_columns_that_no_step_changes(body: Callable[..., Any], start: Any) -> None:
    """Numbers, and what the carry adds up as well."""

    def f(start: Any) -> Any:
        return lax.scan(body, start, np.ones(4))

    def total(start: Any) -> Any:
        return sum(np.sum(leaf * 1.0) for leaf in funcgrad.tree.leaves(f(start)))

    def mapped(start: Any) -> Any:
        return funcgrad.vmap(f)(funcgrad.tree.map(lambda x: np.stack([x, -x]), start))

    for g in (f, funcgrad.grad(total), mapped):
        found, expected = jit(g)(start), g(start)
        for x, y in zip(funcgrad.tree.leaves(found), funcgrad.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12)
