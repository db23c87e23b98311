"""`funcgrad.ops.segment_sum` and its relatives against loops, JAX, and in every transform."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import ops
from funcgrad.errors import ArgumentError, ConcretizationError, FuncgradError, ShapeError
from funcgrad.testing import check_all

# Name, what makes one of two, and what is there of none.
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
    "segment_sum": (np.add, lambda _: 0),
    "segment_prod": (np.multiply, lambda _: 1),
    "segment_max": (
        np.maximum,
        lambda dtype: -np.inf if dtype.kind == "f" else np.iinfo(dtype).min,
    ),
    "segment_min": (np.minimum, lambda dtype: np.inf if dtype.kind == "f" else np.iinfo(dtype).max),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def by_loop(name: str, x: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
    combine, none = FUNCTIONS[name]
    y = np.full((count, *x.shape[1:]), none(x.dtype), x.dtype)
    for row, k in zip(x, ids, strict=True):
        if 0 <= k < count:
            y[k] = combine(y[k], row)
    return y


@st.composite
def rows(draw: Any, least: int = 0, dtypes: str = "dfqb") -> tuple[np.ndarray, np.ndarray, int]:
    """Data, numbers of segments of any integer dtype, and how many segments there are."""
    n, count = draw(st.integers(least, 7)), draw(st.integers(1, 4))
    shape = (n, *draw(st.sampled_from([(), (2,), (1, 3)])))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    x = rng.permutation(np.linspace(-2, 2, n * int(np.prod(shape[1:])))).reshape(shape)
    if draw(st.booleans()):
        x[rng.random(shape) < 0.2] = 0
    ids = rng.integers(0, count, n).astype(draw(st.sampled_from("bBiqL")))
    return x.astype(dtype), ids, count


@every_function
@given(case=rows())
def test_values_are_those_of_a_loop(name: str, case: Any) -> None:
    x, ids, count = case
    f = getattr(ops, name)
    y = f(x, ids, count)
    assert y.dtype == x.dtype
    close = functools.partial(np.testing.assert_allclose, rtol=1e-6 if x.dtype == "f" else 1e-14)
    close(y, by_loop(name, x, ids, count), atol=1e-6 if x.dtype == "f" else 1e-14)
    fewer = int(ids.max()) + 1 if ids.size else 0
    np.testing.assert_array_equal(f(x, ids), y[:fewer])
    np.testing.assert_array_equal(f(x, ids, count, True, False), y)


@every_function
@given(case=rows(), mode=st.sampled_from(["drop", "fill", "clip"]), seed=st.integers(0, 99))
def test_rows_of_no_segment(name: str, case: Any, mode: str, seed: int) -> None:
    x, _, count = case
    ids = np.random.default_rng(seed).integers(-2, count + 2, len(x))
    f = getattr(ops, name)
    expected = by_loop(name, x, np.clip(ids, 0, count - 1) if mode == "clip" else ids, count)
    tolerance = 1e-6 if x.dtype == "f" else 1e-14
    run = funcgrad.jit(lambda x, ids: f(x, ids, count, mode=mode))
    for found in (f(x, ids, count, mode=mode), run(x, ids)):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    if x.size and (ids.min() < 0 or ids.max() >= count):
        for attempt in (
            lambda: f(x, ids, count),
            lambda: funcgrad.jit(lambda x, ids: f(x, ids, count))(x, ids),
            lambda: funcgrad.vmap(lambda i: f(x, i, count))(np.stack([ids, ids])),
        ):
            with pytest.raises(IndexError):
                attempt()


@every_function
@settings(max_examples=6)
@given(case=rows(least=1, dtypes="d"))
def test_derivatives(name: str, case: Any) -> None:
    x, ids, count = case
    there = np.unique(ids).astype(int)
    f = getattr(ops, name)
    check_all(lambda x: f(x, ids, count)[there], (x,)).raise_if_failed()


@every_function
@settings(max_examples=8)
@given(case=rows(dtypes="d"), seed=st.integers(0, 99))
def test_batches_of_data_and_numbers(name: str, case: Any, seed: int) -> None:
    x, ids, count = case
    f = lambda x, ids: getattr(ops, name)(x, ids, count)  # noqa: E731
    rng = np.random.default_rng(seed)
    xs, many = np.stack([x, 0.5 - x, 2 * x]), rng.integers(0, count, (3, len(x)))
    for axes, expected in (
        ((0, None), [f(x, ids) for x in xs]),
        ((None, 0), [f(x, i) for i in many]),
        ((0, 0), [f(x, i) for x, i in zip(xs, many, strict=True)]),
    ):
        args = [
            a if axis == 0 else b for a, b, axis in zip((xs, many), (x, ids), axes, strict=True)
        ]
        for run in (funcgrad.vmap(f, axes), funcgrad.jit(funcgrad.vmap(f, axes))):
            np.testing.assert_allclose(run(*args), expected, rtol=1e-14, atol=1e-14)


@every_function
def test_ties_zeros_and_infinities(name: str) -> None:
    x, ids = np.array([2.0, 2.0, 2.0, 0.0, 0.0, np.inf, np.inf, np.nan]), [0, 0, 0, 1, 1, 2, 2, 3]
    slope = {
        "segment_sum": [1.0] * 8,
        "segment_prod": [4.0, 4.0, 4.0, 0.0, 0.0, np.inf, np.inf, 1.0],
    }.get(name, [1 / 3, 1 / 3, 1 / 3, 0.5, 0.5, 0.5, 0.5, np.nan])
    gradient = funcgrad.grad(lambda x, ids: getattr(ops, name)(x, ids, 4).sum())
    for run in (gradient, funcgrad.jit(gradient)):
        np.testing.assert_allclose(run(x, np.array(ids)), slope)


@every_function
@settings(max_examples=2)
@given(case=rows(least=3, dtypes="d"), mode=st.sampled_from(["drop", "clip"]))
def test_values_and_gradients_are_those_of_jax(name: str, case: Any, mode: str) -> None:
    jax = pytest.importorskip("jax")
    x, ids, count = case
    x = x + 1e-3 * np.arange(x.size).reshape(x.shape)  # without ties, which JAX shares otherwise
    ids = ids.astype(int) - (ids == 1)
    ours, theirs = getattr(ops, name), getattr(jax.ops, name)
    with jax.enable_x64(True):
        np.testing.assert_allclose(
            ours(x, ids, count, mode=mode), theirs(x, ids, count, mode=mode), rtol=1e-13, atol=1e-13
        )
        if name == "segment_prod":
            return  # JAX has no derivative where a segment has several rows
        w = np.cos(np.arange(count * x[0].size)).reshape(count, *x.shape[1:])
        here = np.unique(ids % count)
        a = funcgrad.grad(lambda x: (ours(x, ids, count, mode=mode) * w)[here].sum())(x)
        b = jax.grad(lambda x: (theirs(x, ids, count, mode=mode) * w)[here].sum())(x)
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


X, IDS = np.ones(3), np.zeros(3, int)
MISTAKES = [
    (lambda f: f(X, X), ArgumentError, "need integers"),
    (lambda f: f(X, IDS[:2]), ShapeError, "one number for each row"),
    (lambda f: f(1.0, 0), ShapeError, "one number for each row"),
    (lambda f: f(np.ones((2, 2)), np.zeros((2, 2), int)), ShapeError, "for each row"),
    (lambda f: f(X, IDS, 1.5), ArgumentError, "known while tracing"),
    (lambda f: f(X, IDS, -1), ArgumentError, "negative"),
    (lambda f: f(X, IDS, mode="wrap"), ArgumentError, "mode='wrap'"),
    (lambda f: f(X, IDS, bucket_size=2), ArgumentError, "bucket_size"),
    (lambda f: funcgrad.jit(lambda x, i: f(x, i))(X, IDS), ConcretizationError, "num_segments"),
    (lambda f: f(np.array(["a"]), IDS[:1]), FuncgradError, "a"),
]


@every_function
@pytest.mark.parametrize(("mistake", "error", "text"), MISTAKES)
def test_mistakes_are_named(name: str, mistake: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        mistake(getattr(ops, name))


def test_dtypes_without_order_or_sum() -> None:
    for name in ("segment_max", "segment_min"):
        with pytest.raises(ArgumentError, match="has no m"):
            getattr(ops, name)(X * 1j, IDS)
        assert getattr(ops, name)(X == 1, np.array([0, 0, 2])).tolist()[1] is (name[-1] == "n")
    for name in ("segment_sum", "segment_prod"):
        with pytest.raises(ArgumentError, match="make integers of booleans"):
            getattr(ops, name)(X == 1, IDS)
        np.testing.assert_allclose(
            getattr(ops, name)(X * 2j, IDS), by_loop(name, X * 2j, IDS, 1), rtol=1e-15
        )


@every_function
def test_arrays_of_another_module(name: str, cupy: Any) -> None:
    f = getattr(ops, name)
    x, ids = np.arange(10.0).reshape(5, 2), np.array([0, 2, 2, 1, 0])
    there = cupy.asarray(x), cupy.asarray(ids)
    for options in ({"num_segments": 4}, {}, {"num_segments": 2, "mode": "drop"}):
        y = f(*there, **options)
        assert isinstance(y, cupy.ndarray)
        np.testing.assert_array_equal(y.get(), f(x, ids, **options))
    slope = funcgrad.grad(lambda x: f(x, there[1], 3).sum())(there[0])
    expected = funcgrad.grad(lambda x: f(x, ids, 3).sum())(x)
    np.testing.assert_array_equal(slope.get(), expected)
    with pytest.raises(IndexError, match="none of 2 segments"):
        f(*there, 2)
