"""Loops of `lax.scan` are printed as loops, and compute what Python's loop computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax

BODIES: dict[str, Any] = {
    "a number": (lambda c, x: (np.sin(c) * 0.9 + x, c * 2.0), 0.3, 1),
    "a number, math raises": (lambda c, x: (np.log(c) + x, np.exp(c * 300.0)), 0.3, 1),
    "a number unchanged": (lambda c, x: (c, c + x), 0.5, 1),
    "a branch": (lambda c, x: (np.where(c > x, c - 0.2, c + 0.3), c), 0.4, 1),
    "two numbers": (lambda c, x: ((c[1], c[0] * x), c[0]), (0.2, 0.7), 1),
    "an array": (lambda c, x: (np.tanh(c + x), np.sum(c * x)), np.array([0.1, -0.4]), 2),
    "array and number": (
        lambda c, x: ({"h": np.tanh(c["h"] * x), "n": c["n"] + np.sum(x)}, c["h"] + c["n"]),
        {"h": np.array([0.5, 1.0]), "n": 1.5},
        2,
    ),
    "rows reversed": (lambda c, x: (c[::-1] + x, c.reshape(2, 1)), np.array([1.0, 2.0]), 2),
    "a loop inside": (
        lambda c, x: (lax.scan(lambda d, y: (d * 0.5 + y, d), c, x)[0], c),
        0.7,
        2,
    ),
    "no results": (lambda c, x: (c * x, None), 1.1, 1),
    "written into": (lambda c, x: (_shifted(c, x), c), np.array([0.3, 0.6]), 1),
}


def _shifted(c: Any, x: Any) -> Any:
    out = fnp.zeros(2)
    out[0], out[1] = c[1], x
    return out


def rows(width: int, length: int) -> Any:
    x = np.linspace(0.2, 1.3, length * width).reshape(length, width)
    return x[:, 0] if width == 1 else x


def leaves(x: Any) -> list[Any]:
    return funcgrad.tree.flatten(x)[0]


def assert_same(found: Any, expected: Any) -> None:
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", BODIES)
@given(length=st.integers(0, 5), reverse=st.booleans(), data=st.data())
def test_scan(name: str, length: int, reverse: bool, data: Any) -> None:
    body, init, width = BODIES[name]
    xs = rows(width, length)

    def f(init: Any, xs: Any) -> Any:
        return lax.scan(body, init, xs, reverse=reverse)

    def loss(init: Any, xs: Any) -> Any:
        carry, ys = f(init, xs)
        total = sum(np.sum(np.cos(x)) for x in leaves(carry))
        return total + sum(np.sum(np.sin(y)) for y in leaves(ys))

    with np.errstate(all="ignore"), funcgrad.config(data.draw(st.sampled_from(["numpy", "c"]))):
        g = funcgrad.jit(f)
        assert_same(g(init, xs), f(init, xs))
        assert "    for " in g.code or "np_kernel" in g.code
        gradient = funcgrad.grad(loss, argnums=(0, 1))
        assert_same(funcgrad.jit(gradient)(init, xs), gradient(init, xs))


def test_results_are_their_own() -> None:
    init, xs = np.ones(2), np.ones((3, 2))
    f = funcgrad.jit(lambda c, xs: lax.scan(lambda c, x: (c, x), c, xs))
    carry, ys = f(init, xs)
    carry += 1.0
    ys += 1.0
    assert init.tolist() == [1.0, 1.0] and np.all(xs == 1.0)
    assert np.all(f(init, xs)[1] == 1.0)


def test_one_loop_forward_and_one_back() -> None:
    f = funcgrad.jit(
        funcgrad.grad(lambda x: lax.scan(lambda c, _: (np.sin(c), None), x, None, 9)[0])
    )
    f(0.3)
    assert f.code.count("    for ") == 2


@pytest.mark.parametrize("code", ["numpy", "c"])
def test_derivatives_of_while_loops_run_compiled_steps(code: Any) -> None:
    """Their programs are calls of compiled programs, at first and second order and under vmap."""

    def f(x: Any, a: Any) -> Any:
        def step(c: Any) -> Any:
            y, n = c
            return funcgrad.numpy.stack([y[0] + 0.1 * y[1], y[1] - 0.1 * a * np.sin(y[0])]), n + 1

        return funcgrad.lax.while_loop(lambda c: (c[1] < 9) & (c[0][0] < 5.0), step, (x, 0))[
            0
        ].sum()

    x, a = np.array([0.3, 0.8]), 1.3
    for g in (
        funcgrad.grad(f, (0, 1)),
        funcgrad.hessian(f),
        funcgrad.grad(lambda x, a: f(f(x, a) * x, a)),
    ):
        with funcgrad.config(code):
            compiled = funcgrad.jit(g)
            found = compiled(x, a)
            many = funcgrad.jit(funcgrad.vmap(g, in_axes=(0, None)))(np.stack([x, 2 * x]), a)
        for i, b in enumerate(map(funcgrad.tree.leaves, (found, many))):
            expected = (
                g(x, a) if i == 0 else funcgrad.vmap(g, in_axes=(0, None))(np.stack([x, 2 * x]), a)
            )
            for y, z in zip(b, funcgrad.tree.leaves(expected), strict=True):
                np.testing.assert_allclose(y, z, rtol=1e-11)
    jaxpr = funcgrad.jit(funcgrad.grad(f)).lower(x, a).simplified
    (eqn,) = [e for e in jaxpr.eqns if e.prim.name == "while_derivative"]
    assert "jit_call" in [e.prim.name for e in eqn.params["of"].function.body.eqns]


def test_what_is_stopped_in_a_loop_stays_stopped_in_its_derivative() -> None:
    """Simplified programs have no `stop_gradient` any more, so they are not differentiated."""

    def f(x: Any) -> Any:
        def step(c: Any) -> Any:
            size = funcgrad.stop_gradient(0.1 * c[0] * c[0])
            return c[0] * np.sin(x) + size * c[0] + np.cos(size), c[1] + 1

        return lax.while_loop(lambda c: c[1] < 4, step, (x, 0))[0]

    for g in (funcgrad.grad(f), funcgrad.grad(funcgrad.grad(f))):
        np.testing.assert_allclose(funcgrad.jit(g)(0.7), g(0.7), rtol=1e-12)
