"""Sums of products of matrices as one product: the same numbers, from fewer equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.compile.simplify import simplify


def products(jaxpr: Any) -> int:
    return sum(eqn.prim.name in ("matmul", "dot_general") for eqn in jaxpr.eqns)


def unrolled(w: Any, u: Any, xs: Any) -> Any:
    h = np.zeros((xs.shape[1], len(w)), xs.dtype)
    for x in xs:
        h = np.tanh(x @ u.T + h @ w.T)
    return (h * h).sum()


def test_gradients_of_an_unrolled_loop_take_one_product_each() -> None:
    rng = np.random.default_rng(0)
    w, u, xs = rng.normal(size=(20, 20)), rng.normal(size=(20, 30)), rng.normal(size=(6, 3, 30))
    gradient = funcgrad.grad(unrolled, (0, 1))
    program = simplify(funcgrad.make_jaxpr(gradient)(w, u, xs))
    # 11 forwards (the first state is 0), 5 for the states on the way back, 2 for the weights.
    assert products(program) <= 6 + 6 + 5 + 2
    for kind in ("numpy", "c"):
        with funcgrad.config(kind):
            found = funcgrad.jit(gradient)(w, u, xs)
        for a, b in zip(found, gradient(w, u, xs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_sums_of_any_terms(data: st.DataObject) -> None:
    """Products of either orientation, turned or not, other terms among them, some read twice."""
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    m, n = 6, 8
    arrays, steps = [], []
    for _ in range(data.draw(st.integers(2, 8))):
        rows = data.draw(st.integers(1, 4))
        turned, flipped_x, flipped_y = (data.draw(st.booleans()) for _ in range(3))
        kind = data.draw(st.sampled_from(["product", "product", "product", "other", "number"]))
        a, b = (n, m) if turned else (m, n)
        x = rng.normal(size=(rows, a) if flipped_x else (a, rows))
        y = rng.normal(size=(b, rows) if flipped_y else (rows, b))
        steps.append((kind, turned, flipped_x, flipped_y, len(arrays)))
        arrays += [x, y] if kind == "product" else [rng.normal(size=(m, n))]

    def terms(*xs: Any) -> list[Any]:
        found = []
        for kind, turned, flipped_x, flipped_y, i in steps:
            if kind != "product":
                found.append(2.0 if kind == "number" else xs[i])
                continue
            p = (xs[i].T if flipped_x else xs[i]) @ (xs[i + 1].T if flipped_y else xs[i + 1])
            found.append(p.T if turned else p)
        return found

    again = data.draw(st.booleans())

    def f(*xs: Any) -> Any:
        parts = terms(*xs)
        total = np.zeros((m, n))
        for p in parts:
            total = total + p
        return (total, parts[0] * 2.0) if again else (total * total,)

    for kind in ("numpy", "c"):
        with funcgrad.config(kind):
            found = funcgrad.jit(f)(*arrays)
        for a, b in zip(found, f(*arrays), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("rows", [2, 40])
def test_only_where_it_saves(rows: int) -> None:
    xs = [np.ones((rows, 10)) for _ in range(8)]

    def f(*xs: Any) -> Any:
        return sum(x.T @ x for x in xs)

    assert products(simplify(funcgrad.make_jaxpr(f)(*xs))) == (1 if rows == 2 else 8)


def test_transposed_products_are_turned() -> None:
    x, g = np.arange(12.0).reshape(4, 3), np.ones((4, 5))
    program = simplify(funcgrad.make_jaxpr(lambda x, g: (x.T @ g).T * 2.0)(x, g))
    assert [eqn.prim.name for eqn in program.eqns] == ["dot_general", "multiply"]
    both = simplify(funcgrad.make_jaxpr(lambda x, g: (x.T @ g).T @ (x.T @ g))(x, g))
    assert products(both) == 2  # read both ways, it is computed once


def test_sums_of_sums() -> None:
    """What was put together is an operand of the next product, turned or not."""
    rng = np.random.default_rng(0)
    xs = [rng.normal(size=(2, 8)) for _ in range(5)]
    w = rng.normal(size=(2, 8))

    def f(w: Any, *xs: Any) -> Any:
        first = sum((x.T @ x for x in xs), start=np.zeros((8, 8)))
        second = sum((x.T @ (x @ first) for x in xs), start=first)
        third = (w @ second).T @ w
        return first, third.T + second, (second.T @ first).T

    for kind in ("numpy", "c"):
        with funcgrad.config(kind):
            for a, b in zip(funcgrad.jit(f)(w, *xs), f(w, *xs), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-11)
