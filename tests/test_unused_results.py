"""Results that nothing uses have no part in the gradient, whatever ran to make them.

An infinite slope times a cotangent of zeros would be NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import config, grad, jit, lax

STEEP = [
    lambda a, _: np.sqrt(a - a),
    lambda a, _: np.log(0 * a),
    lambda _, b: b / (b - b),
]
SMOOTH = [
    lambda a, b: a * b,
    lambda a, _: np.sin(a),
    lambda a, b: a - 0.5 * b,
    lambda a, _: a,
]


def several(steps: list[Any]) -> Callable[[Any, Any], tuple[Any, ...]]:
    """A function of two numbers with several results."""
    return lambda a, b: tuple(f(a, b) for f in steps)


def through_scan(f: Any, a: Any, b: Any) -> tuple[Any, ...]:
    """Also a carry that nobody needs."""

    def step(carry: Any, x: Any) -> Any:
        outs = f(carry[0], x)
        return (carry[0], np.sqrt(carry[1] * 0) + outs[0]), outs

    (_, _), rows = lax.scan(step, (a, b), b[None])
    return tuple(row[0] for row in rows)


def through_while(f: Any, a: Any, b: Any) -> tuple[Any, ...]:
    def step(carry: Any) -> Any:
        i, a, b, *_ = carry
        return (i + 1, a, b, *f(a, b))

    return tuple(lax.while_loop(lambda c: c[0] < 2, step, (0, a, b, *f(a, b)))[3:])


WAYS = {
    "called": lambda f, a, b: f(a, b),
    "jit": lambda f, a, b: jit(f)(a, b),
    "checkpoint": lambda f, a, b: funcgrad.checkpoint(f)(a, b),
    "cond": lambda f, a, b: lax.cond(a < 99, f, lambda a, b: (a,) * len(f(a, b)), a, b),
    "scan": through_scan,
    "map": lambda f, a, b: tuple(y[0] for y in lax.map(lambda x: f(*x), (a[None], b[None]))),
    "while": through_while,
    "nested": lambda f, a, b: jit(lambda a, b: through_scan(funcgrad.checkpoint(f), a, b))(a, b),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("way", WAYS)
def test_only_what_is_used_counts(way: str) -> None:
    @settings(deadline=None, max_examples=15)
    @given(
        st.lists(st.sampled_from(SMOOTH), min_size=1, max_size=3),
        st.lists(st.sampled_from(STEEP), min_size=1, max_size=2),
        st.randoms(use_true_random=False),
        st.sampled_from(["python", "numpy"]),
    )
    def check(smooth: list[Any], steep: list[Any], random: Any, compiler: str) -> None:
        steps = [*smooth, *steep]
        random.shuffle(steps)
        f = several(steps)

        def loss(through: Any) -> Callable[..., Any]:
            def of(a: Any, b: Any) -> Any:
                outs = through(f, a, b)
                return sum(y * y for y, s in zip(outs, steps, strict=True) if s in smooth)

            return of

        at = np.float64(1.5), np.float64(-0.5)
        expected = grad(loss(WAYS["called"]), argnums=(0, 1))(*at)
        assert np.isfinite(expected).all()
        with config(compiler):
            for found in (
                grad(loss(WAYS[way]), argnums=(0, 1))(*at),
                jit(grad(loss(WAYS[way]), argnums=(0, 1)))(*at),
            ):
                np.testing.assert_allclose(found, expected, rtol=1e-12)

    check()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("way", ["jit", "scan", "while", "nested"])
def test_in_c(way: str) -> None:
    f = several([SMOOTH[0], STEEP[0], SMOOTH[1]])

    def loss(a: Any, b: Any) -> Any:
        outs = WAYS[way](f, a, b)
        return outs[0] * outs[2]

    with config("c"):
        compiled = jit(grad(loss, argnums=(0, 1)))
        found = compiled(np.float64(1.5), np.float64(-0.5))
    assert way == "jit" or "kernel0(" in compiled.code  # numbers alone are Python's
    expected = (-0.5 * np.sin(1.5) + 1.5 * -0.5 * np.cos(1.5), 1.5 * np.sin(1.5))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_auxiliary_results() -> None:
    f = jit(lambda x: ((x * x).sum(), {"size": np.sqrt(((x - x) ** 2).sum()), "x": x}))
    g, aux = grad(f, has_aux=True)(np.arange(3.0))
    assert (g.tolist(), float(aux["size"])) == ([0.0, 2.0, 4.0], 0.0)


def test_carries_that_nobody_needs_are_not_pulled_back() -> None:
    """Nor are there rows for them: the gradient's loop has one carry."""

    def loss(x: Any) -> Any:
        step = lambda i, c: (np.sin(c[0]), c[1] + np.exp(c[1] * c[0]))  # noqa: E731
        return lax.fori_loop(0, 5, step, (x, x))[0]

    jaxpr = funcgrad.make_jaxpr(grad(loss))(np.float64(0.5))
    loops = [eqn for eqn in jaxpr.eqns if eqn.prim.name == "scan"]
    assert len(loops) == 2
    assert loops[1].params["counts"].carries == 1


# ---------------------------------------------------------------- carries that change places

MOVES = {
    "constant": lambda c, x, j, k: x * 1.0,
    "another": lambda c, x, j, k: c[j],
    "product": lambda c, x, j, k: c[j] * c[k],
    "sine": lambda c, x, j, k: np.sin(c[j]) + x,
    "steep": lambda c, x, j, k: np.sqrt(c[j] * 0.0),
}
MOVE = st.tuples(st.sampled_from(sorted(MOVES)), st.integers(0, 2), st.integers(0, 2))


def in_python(step: Any, carry: Any, length: int) -> Any:
    for _ in range(length):
        carry = step(carry)
    return carry


LOOPS: dict[str, Callable[..., Any]] = {
    "fori_loop": lambda step, c, n: lax.fori_loop(0, n, lambda i, c: step(c), c),
    "scan": lambda step, c, n: lax.scan(lambda c, _: (step(c), c[1]), c, None, n)[0],
    "while_loop": lambda step, c, n: lax.while_loop(
        lambda s: s[0] < n, lambda s: (s[0] + 1, step(s[1])), (0, c)
    )[1],
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("compiler", ["python", "numpy", "c"])
def test_carries_that_change_places(loop: str, compiler: str) -> None:
    """Cotangents of what a step drops, passes on or makes anew, of no step too."""

    @settings(deadline=None, max_examples=8 if compiler == "c" else 40)
    @given(
        st.lists(MOVE, min_size=3, max_size=3),
        st.lists(st.booleans(), min_size=3, max_size=3),
        st.integers(0, 3),
    )
    def check(moves: list[Any], used: list[bool], length: int) -> None:
        x = np.array([1.2, 0.7])

        def loss(run: Any) -> Callable[..., Any]:
            def of(a: Any, b: Any) -> Any:
                step = lambda c: tuple(MOVES[f](c, x * b, j, k) for f, j, k in moves)  # noqa: E731
                ends = run(step, (a, b, a * b), length)
                return sum((np.sum(e * e) for e, u in zip(ends, used, strict=True) if u), b.sum())

            return of

        at = np.array([0.5, -1.3]), np.array([0.9, 0.4])
        expected = grad(loss(in_python), argnums=(0, 1))(*at)
        if not np.isfinite(expected).all():  # a loop pulls back all its steps alike
            return
        with config(compiler):
            for f in (
                grad(loss(LOOPS[loop]), argnums=(0, 1)),
                jit(grad(loss(LOOPS[loop]), argnums=(0, 1))),
                grad(jit(loss(LOOPS[loop])), argnums=(0, 1)),
            ):
                np.testing.assert_allclose(f(*at), expected, rtol=1e-10, atol=1e-14)
        if compiler == "python":
            slope = lambda f: lambda a, b: sum(np.sum(np.sin(g)) for g in grad(f, (0, 1))(a, b))  # noqa: E731
            second = grad(slope(loss(in_python)), argnums=(0, 1))(*at)
            found = grad(slope(jit(loss(LOOPS[loop]))), argnums=(0, 1))(*at)
            np.testing.assert_allclose(found, second, rtol=1e-10, atol=1e-14)

    check()


def test_linear_loops_with_carries_that_change_places() -> None:
    def f(y: Any) -> Any:
        step = lambda i, c: (np.zeros(2), c[0], c[2] + c[1])  # noqa: E731
        return lax.fori_loop(0, 3, step, (y, y * 2, y * 3))[2]

    (found,) = funcgrad.linear_transpose(f, np.ones(2))(np.ones(2))
    assert found.tolist() == [6.0, 6.0]


def test_results_that_are_the_same_value() -> None:
    f = funcgrad.checkpoint(lambda p, q: (p * q, q, q))
    for g in (grad(lambda x: f(x, x)[1].sum()), jit(grad(lambda x: f(x, x)[2].sum()))):
        assert g(np.ones(2)).tolist() == [1.0, 1.0]
