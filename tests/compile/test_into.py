"""Results that a program writes into inputs: the same numbers, in that memory, where that can be."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.compile import c_compiler
from funcgrad.compile.lower import lower
from funcgrad.compile.program import Program
from funcgrad.compile.straight import straight
from funcgrad.testing.programs import programs

KINDS = ["numpy"] + ["c"] * (c_compiler.compiler() is not None)


def check(f: Callable[..., Any], args: list[Any], into: dict[int, int], kind: str) -> set[int]:
    """Run `f`, whose results with these numbers may go into these inputs; those that have."""
    jaxpr = funcgrad.make_jaxpr(f)(*args)
    expected = [np.array(x) for x in f(*[np.array(a) for a in args])]
    start = len(jaxpr.consts)  # which are the program's first inputs
    program = Program(jaxpr, kind, tuple((i, start + k) for i, k in into.items()))
    found: set[int] = set()
    for _ in range(2):
        given_now = [np.array(a) for a in args]
        outs = program.run(*jaxpr.consts, *given_now)
        for i, (out, want) in enumerate(zip(outs, expected, strict=True)):
            np.testing.assert_allclose(out, want, rtol=1e-5 if want.dtype == np.float32 else 1e-9)
            homes = [k for k, x in enumerate(given_now) if np.may_share_memory(out, x)]
            if homes:
                assert homes == [into[i]] and out is given_now[into[i]]
                found.add(i)
        untouched = set(range(len(args))) - {into[i] for i in found}
        for k in untouched:
            np.testing.assert_array_equal(given_now[k], args[k])
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(3,), (40, 50), (300, 301)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_step_of_momentum_is_in_place(kind: str, shape: Any, dtype: Any) -> None:
    def step(p: Any, m: Any, g: Any, t: Any) -> Any:
        m = dtype(0.9) * m + g
        return p - (dtype(0.1) / (1 + t)).astype(dtype) * m, m, t + 1

    rng = np.random.default_rng(0)
    args = [*(rng.normal(size=shape).astype(dtype) for _ in range(3)), np.array(2.0)]
    found = check(step, args, {0: 0, 1: 1}, kind)
    assert kind == "c" or found == {0, 1}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_still_read_is_not_overwritten(kind: str) -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.ones((2, 3))

    cases: list[tuple[Callable[..., Any], dict[int, int], set[int]]] = [
        (lambda a, b: (b, a), {0: 0, 1: 1}, set()),  # exchanged
        (lambda a, b: (b * 2, a * 2), {0: 0, 1: 1}, {1}),  # the first is read by the second
        (lambda a, b: (a + 1, a.T), {0: 0}, set()),  # a view of the old value is returned
        (lambda a, b: (np.sin(a), np.sin(a)), {0: 0, 1: 1}, {0}),  # one value, two places
        (lambda a, b: (a.sum() + 0 * a, b), {0: 0}, {0}),
        (lambda a, b: (a + a.T.reshape(2, 3), b), {0: 0}, {0}),  # reads other elements too
    ]
    for f, into, allowed in cases:
        assert check(f, [x, y], into, kind) <= allowed


@settings(deadline=None, max_examples=60)
@given(program=programs(dtypes=[np.float64]), data=st.data())
def test_random_programs(program: Any, data: st.DataObject) -> None:
    args = [np.asarray(a) for a in program.args]

    def several(*xs: Any) -> Any:
        outs = program(*xs)
        outs = outs if isinstance(outs, tuple) else (outs,)
        return [x + 0.5 * y.mean() for x, y in zip(xs, outs * 3, strict=False)] + list(outs)

    chosen = data.draw(st.sets(st.sampled_from(range(len(args)))))
    check(several, args, {i: i for i in chosen}, data.draw(st.sampled_from(KINDS)))


def test_nothing_is_written_before_pythons_floats_may_raise() -> None:
    """`math` raises where NumPy gives inf: the program then runs again, on inputs as they were."""

    def step(p: Any, q: Any, t: Any) -> Any:
        p = p - 1.0
        rate = np.exp(p.sum() * t)  # overflows, after p could be written
        return p, q * rate

    args = [np.full(4, 900.0), np.ones(4), np.array(10.0)]
    with np.errstate(all="ignore"):
        check(step, args, {0: 0, 1: 1}, "numpy")
    jaxpr = funcgrad.make_jaxpr(step)(*args)
    text, _ = straight(lower(jaxpr), {0: 0, 1: 1})
    assert "math_exp" not in text

    def numbers_first(p: Any, q: Any, t: Any) -> Any:
        return p - 1.0, q * np.exp(t)

    text, run = straight(lower(funcgrad.make_jaxpr(numbers_first)(*args)), {0: 0, 1: 1})
    assert "math_exp" in text
    given_now = [np.ones(4), np.ones(4), np.array(1e4)]
    with np.errstate(all="ignore"):
        p, q = run(*given_now)
    assert p is given_now[0] and q is given_now[1]
    assert p.tolist() == [0.0] * 4 and math.isinf(q[0])


# ---------------------------------------------------------------- arguments that are given away


def momentum(params: Any, state: Any, gradient: Any, rate: float = 0.1) -> Any:
    state = {k: 0.9 * m + gradient[k] for k, m in state.items()}
    return {k: p - rate * state[k] for k, p in params.items()}, state


def trees(seed: int) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [{"w": rng.normal(size=(3, 4)), "b": rng.normal(size=4)} for _ in range(3)]


@pytest.mark.parametrize("donated", [(0, 1), (-4, -3), 0])
def test_donated_arguments_hold_the_results(donated: Any) -> None:
    f = funcgrad.jit(momentum, donate_argnums=donated)
    params, state, gradient = trees(0)
    for turn in range(4):
        expected = momentum(params, state, gradient)
        new, more = f(params, state, gradient)
        for k in ("w", "b"):
            np.testing.assert_allclose(new[k], expected[0][k], rtol=1e-14)
            np.testing.assert_allclose(more[k], expected[1][k], rtol=1e-14)
            assert new[k] is params[k], turn
            assert (more[k] is state[k]) == (donated != 0)
        params, state = new, more


def test_what_cannot_be_written_is_left_alone() -> None:
    f = funcgrad.jit(momentum, donate_argnums=(0, 1))
    both = np.ones((2, 3, 4))
    gradient = {"w": np.ones((3, 4))}
    for _ in range(3):  # the printed path too
        f({"w": both[0]}, {"w": both[1]}, gradient)  # two parts of one array
        assert (both == 1).all()
        one = np.ones((3, 4))
        f({"w": one}, {"w": one}, gradient)  # one array twice
        assert (one == 1).all()
        fixed = np.ones((3, 4))
        fixed.flags.writeable = False
        f({"w": fixed}, {"w": np.zeros((3, 4))}, gradient)
        assert (fixed == 1).all()


def test_transforms_leave_donated_arguments_alone() -> None:
    x = np.arange(3.0)
    f = funcgrad.jit(lambda x: x * x, donate_argnums=0)
    assert funcgrad.vmap(f)(x).tolist() == [0.0, 1.0, 4.0]
    assert funcgrad.grad(lambda x: f(x).sum())(x).tolist() == [0.0, 2.0, 4.0]
    assert x.tolist() == [0.0, 1.0, 2.0]
    assert f(x) is x
    assert x.tolist() == [0.0, 1.0, 4.0]


def test_unknown_donated_arguments_are_refused() -> None:
    with pytest.raises(funcgrad.errors.ArgumentError, match="donate_argnums=4, but momentum has"):
        funcgrad.jit(momentum, donate_argnums=4)
