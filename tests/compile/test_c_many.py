"""Calls of one loop for many arrays are one call: the same numbers, places, and words."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat
import funcgrad
from funcgrad.compile import c_compiler
from funcgrad.compile.program import Program, program_of

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")
CLOSE = {np.float64: 1e-13, np.float32: 1e-5}


def momentum(rate: Any, *arrays: Any) -> Any:
    """For parameters, their momenta and gradients."""
    n = len(arrays) // 3
    ps, ms, gs = arrays[:n], arrays[n : 2 * n], arrays[2 * n :]
    ms = [m * 0.5 + g for m, g in zip(ms, gs, strict=True)]
    return [p - rate * np.sqrt(np.abs(m)) for p, m in zip(ps, ms, strict=True)] + ms


def drawn(count: int, shape: Any, dtype: Any, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(dtype) for _ in range(3 * count)]


def program(args: list[Any], into: Any = ()) -> Program:
    made = Program(funcgrad.make_jaxpr(momentum)(*args), "c", into)
    assert "_each(" in made.source and "enum { CALLS = " in made.c_source
    return made


def same(found: Any, args: list[Any]) -> None:
    for x, y in zip(found, momentum(*args), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=CLOSE[y.dtype.type], atol=CLOSE[y.dtype.type])


@settings(deadline=None, max_examples=20)
@given(
    count=st.integers(16, 40),
    shape=st.sampled_from([(7,), (3, 50), (2, 3, 4), (1,), (181, 181)]),
    dtype=st.sampled_from([np.float64, np.float32]),
    seed=st.integers(0, 1000),
)
def test_same_numbers(count: int, shape: Any, dtype: Any, seed: int) -> None:
    args = [dtype(0.1), *drawn(count, shape, dtype, seed)]
    same(program(args).run(*args), args)


def test_few_calls_and_long_loops_stay_calls() -> None:
    for count, shape in ((3, (4, 5)), (12, (182, 182))):
        args = [0.1, *drawn(count, shape, np.float64)]
        made = Program(funcgrad.make_jaxpr(momentum)(*args), "c")
        assert "kernel0(" in made.source and "_each(" not in made.source


def test_what_is_read_later_is_made_before() -> None:
    """Only what nothing reads can come last; the loops that make what others read are calls."""

    def f(*xs: Any) -> Any:
        once = [np.sin(x) * 2 for x in xs]
        sums = [x.sum() for x in once]
        return [*once, *[np.cos(x + sum(sums)) for x in xs]]

    xs = drawn(8, (100, 30), np.float64)
    made = Program(funcgrad.make_jaxpr(f)(*xs), "c")
    assert "_each(" in made.source
    for x, y in zip(made.run(*xs), f(*xs), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


class Labelled(np.ndarray):
    """An array of a class of its own."""


def between(x: Any) -> Any:
    """The same numbers where no number of this type is to lie."""
    raw = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    raw[...] = x
    return raw


ODD = {
    "by columns": np.asfortranarray,
    "backwards": lambda x: x[::-1].copy()[::-1],
    "every second": lambda x: np.repeat(x, 2, axis=0)[::2],
    "repeated": lambda x: np.broadcast_to(x[:1], x.shape),
    "between places": between,
    "another class": lambda x: x.view(Labelled),
    "of other bytes": lambda x: x.astype(x.dtype.newbyteorder()),
    "only to be read": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "of a dtype of its own": lambda x: x.astype(np.dtype(x.dtype, metadata={"a": 1})),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_that_lie_otherwise(odd: str, dtype: Any) -> None:
    args = [dtype(0.1), *drawn(16, (6, 5), dtype)]
    made = program(args)
    for places in ([1], [20, 40], range(1, 49)):
        given_now = [ODD[odd](x) if i in places else x for i, x in enumerate(args)]
        before = [np.array(x) for x in given_now]
        same(made.run(*given_now), before)
        for x, y in zip(given_now, before, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    "rate", [0.1, np.float64(0.1), np.array(0.1), np.ones(3)[1], np.array([0.1, 0.2])[::2][0], 1]
)
def test_numbers_of_all_kinds(rate: Any) -> None:
    args = drawn(16, (6, 5), np.float64)
    same(program([0.1, *args]).run(rate, *args), [rate, *args])


def test_counters_and_truth_values() -> None:
    def f(flag: Any, *xs: Any) -> Any:
        return [np.where(flag, x + 1, x * 2) for x in xs]

    xs = [np.arange(40) + i for i in range(70)]
    made = Program(funcgrad.make_jaxpr(f)(np.bool_(True), *xs), "c")
    for flag in (np.bool_(True), np.bool_(False), np.array(True), True):
        for x, y in zip(made.run(flag, *xs), f(flag, *xs), strict=True):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("odd", [None, "by columns", "every second"])
def test_in_place(odd: str | None) -> None:
    """Results are in the memory that was given for them, however it lies."""
    args = [np.array(0.1), *drawn(16, (6, 5), np.float64)]
    if odd:
        args[2], args[18] = ODD[odd](args[2]), ODD[odd](args[18])
    expected = momentum(*[np.array(x) for x in args])
    found = program(args, tuple((i, i + 1) for i in range(32))).run(*args)
    assert all(x is y for x, y in zip(found, args[1:33], strict=True))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-13)


def test_what_it_says() -> None:
    """Overflow is one word of the call; a NaN that came in is none, also written over."""

    def f(*xs: Any) -> Any:
        return [np.exp(x) * 2 for x in xs]

    xs = [np.zeros((6, 5)) for _ in range(40)]
    jaxpr = funcgrad.make_jaxpr(f)(*xs)
    for into in ((), tuple((i, i) for i in range(40))):
        made = Program(jaxpr, "c", into)
        assert "_each(" in made.source
        for odd in (np.nan, np.inf, -np.inf):
            given_now = [x.copy() for x in xs]
            given_now[7][2, 3] = odd
            with np.errstate(all="raise"):
                made.run(*given_now)
        given_now[7][2, 3] = 1e4
        with pytest.warns(RuntimeWarning, match=r"overflow encountered in kernel\d_each \(exp"):
            made.run(*given_now)


def test_threads() -> None:
    args = [0.1, *drawn(16, (30, 50), np.float64)]
    made, wrong = program(args), []

    def work(seed: int) -> None:
        own = [0.1, *drawn(16, (30, 50), np.float64, seed)]
        for _ in range(50):
            try:
                same(made.run(*own), own)
            except AssertionError as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_step_of_adam_is_one_call() -> None:
    """Of a compiled optimizer, whose parameters and state stay in their memory."""
    params = [compat.nn.Parameter(compat.randn(10, 20)) for _ in range(20)]
    twins = [compat.nn.Parameter(p.detach().clone()) for p in params]
    own, other = (compat.optim.Adam(ps, lr=0.1) for ps in (params, twins))
    memory = [id(p._array) for p in params]
    step: Any = compat.compile(own.step)
    with funcgrad.config("c"):
        for i in range(6):
            for p, q in zip(params, twins, strict=True):
                p.grad = compat.full((10, 20), 0.1 * i)
                q.grad = p.grad.clone()
            step()
            other.step()
    (made,) = step._programs.values()
    with funcgrad.config("c"):
        assert "_each(" in program_of(made.jaxpr, (), made.into).source
    assert memory == [id(p._array) for p in params]
    for p, q in zip(params, twins, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-5)
