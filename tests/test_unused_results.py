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
        found = jit(grad(loss, argnums=(0, 1)))(np.float64(1.5), np.float64(-0.5))
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
