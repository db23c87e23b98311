"""``reduce``, ``accumulate``, ``reduceat``, ``outer``, ``at``, ``out=`` on traced values: as NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, HandoverError, ShapeError
from funcgrad.testing import check_grads

SMOOTH = [np.add, np.multiply, np.logaddexp, np.logaddexp2, np.hypot]
ORDERED = [np.maximum, np.minimum, np.fmax, np.fmin]
WHOLE = [np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.lcm]
TRUTH = [np.logical_and, np.logical_or, np.logical_xor]
ALL = [*SMOOTH, *ORDERED, *WHOLE, *TRUTH]
SHAPES = [(1,), (5,), (2, 3), (4, 1, 3), (3, 2, 2)]


def traced(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """What `f` gives for a traced array, as a plain one."""
    return np.asarray(funcgrad.vmap(f)(x[None]))[0]


def numbers(ufunc: Any, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if ufunc in WHOLE:
        return rng.integers(1, 50, shape)
    if ufunc in TRUTH:
        return rng.random(shape) < 0.5
    return rng.normal(size=shape)


@given(st.sampled_from(ALL), st.sampled_from(SHAPES), st.integers(0, 99), st.data())
def test_reduce(ufunc: Any, shape: tuple[int, ...], seed: int, data: st.DataObject) -> None:
    x = numbers(ufunc, shape, seed)
    axes = st.integers(-len(shape), len(shape) - 1)
    several = st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1).map(tuple)
    axis = data.draw(axes if ufunc is np.lcm else st.none() | axes | several)
    options: dict[str, Any] = {"axis": axis, "keepdims": data.draw(st.booleans())}
    if ufunc not in TRUTH and data.draw(st.booleans()):
        options["initial"] = abs(x.flat[0])
        if data.draw(st.booleans()):
            options["where"] = np.random.default_rng(seed).random(shape) < 0.6
    expected = ufunc.reduce(x, **options)
    found = traced(lambda x: ufunc.reduce(x, **options), x)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert found.dtype == expected.dtype and found.shape == expected.shape


@given(st.sampled_from(ALL), st.sampled_from(SHAPES), st.integers(0, 99), st.data())
def test_accumulate(ufunc: Any, shape: tuple[int, ...], seed: int, data: st.DataObject) -> None:
    x = numbers(ufunc, shape, seed)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    expected = ufunc.accumulate(x, axis=axis)
    found = traced(lambda x: ufunc.accumulate(x, axis=axis), x)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert found.dtype == expected.dtype


@given(st.sampled_from([*SMOOTH, *ORDERED, *WHOLE]), st.integers(0, 99), st.data())
def test_reduceat(ufunc: Any, seed: int, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, 1))
    x = numbers(ufunc, (5, 4), seed)
    indices = data.draw(st.lists(st.integers(0, x.shape[axis] - 1), min_size=1, max_size=5))
    expected = ufunc.reduceat(x, indices, axis=axis)
    found = traced(lambda x: ufunc.reduceat(x, indices, axis=axis), x)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("ufunc", [*SMOOTH, *ORDERED], ids=lambda u: u.__name__)
def test_derivatives(ufunc: Any) -> None:
    x = np.random.default_rng(1).normal(size=(3, 4))
    check_grads(lambda x: ufunc.reduce(x, axis=1), (x,))
    check_grads(lambda x: ufunc.reduce(x, axis=None), (x,))
    check_grads(lambda x: ufunc.accumulate(x, axis=1), (x,))
    check_grads(lambda x: ufunc.reduceat(x, [0, 3, 1], axis=1), (x,))
    check_grads(lambda x: ufunc.outer(x, x[0]), (x,))
    check_grads(lambda x: ufunc.reduce(x[:1]), (x,))


def test_outer() -> None:
    x, y = np.arange(3.0), np.arange(8.0).reshape(2, 4)
    for ufunc in (np.subtract, np.arctan2, np.power, np.less):
        found = traced(partial(ufunc.outer, y), x)
        np.testing.assert_array_equal(found, ufunc.outer(y, x))
    single = traced(lambda x: np.multiply.outer(x, y, dtype=np.float32), x)
    assert single.dtype == np.float32


def test_at() -> None:
    x, at = np.arange(4.0), [0, 2, 2, 1]

    def f(x: Any, ufunc: Any) -> Any:
        z = fnp.ones(3)
        ufunc.at(z, at, x)
        return z

    for ufunc, slope in ((np.add, 1.0), (np.subtract, -1.0)):
        z = np.ones(3)
        ufunc.at(z, at, x)
        g = partial(f, ufunc=ufunc)
        np.testing.assert_array_equal(traced(g, x), z)
        np.testing.assert_array_equal(funcgrad.vjp(g, x)[1](np.ones(3))[0], slope)


OUT: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "sum": (lambda x, out: np.sum(x, axis=1, out=out), (3,)),
    "mean": (lambda x, out: np.mean(x, axis=1, out=out), (3,)),
    "max": (lambda x, out: np.max(x, axis=0, out=out), (4,)),
    "cumsum": (lambda x, out: np.cumsum(x, axis=1, out=out), (3, 4)),
    "clip": (lambda x, out: np.clip(x, -0.5, 0.5, out=out), (3, 4)),
    "dot": (lambda x, out: np.dot(x, x.T, out=out), (3, 3)),
    "concatenate": (lambda x, out: np.concatenate([x, x], out=out), (6, 4)),
    "stack": (lambda x, out: np.stack([x, 2 * x], out=out), (2, 3, 4)),
    "add.reduce": (lambda x, out: np.add.reduce(x, axis=1, out=out), (3,)),
    "multiply.accumulate": (lambda x, out: np.multiply.accumulate(x, out=out), (3, 4)),
    "subtract.outer": (lambda x, out: np.subtract.outer(x[0], x[1], out=out), (4, 4)),
}


@pytest.mark.parametrize("name", OUT)
def test_out(name: str) -> None:
    f, shape = OUT[name]
    x = np.random.default_rng(0).normal(size=(3, 4))
    expected = np.zeros(shape)
    f(x, expected)

    def written(x: Any) -> Any:
        out = fnp.zeros(shape)
        assert f(x, out) is out
        return out

    np.testing.assert_allclose(traced(written, x), expected, rtol=1e-14)
    check_grads(written, (x,))
    with pytest.raises(HandoverError, match="plain NumPy array"):
        traced(lambda x: f(x, np.zeros(shape)), x)
    if name != "subtract.outer":  # ufuncs repeat their operands
        with pytest.raises(ShapeError, match="has a result of shape"):
            traced(lambda x: f(x, fnp.zeros((7, *shape))), x)


def test_what_is_refused() -> None:
    x = np.arange(6.0).reshape(2, 3)
    with pytest.raises(HandoverError, match=r"np.subtract.reduce .*lax.scan"):
        traced(lambda x: np.subtract.reduce(x), x)
    with pytest.raises(HandoverError, match=r"np.power.accumulate"):
        traced(lambda x: np.power.accumulate(x), x)
    with pytest.raises(HandoverError, match=r"np.multiply.at would store"):
        traced(lambda x: np.multiply.at(np.ones(3), [0], x[0, 0]), x)
    with pytest.raises(ShapeError, match="axis 5"):
        traced(lambda x: np.hypot.reduce(x, axis=5), x)
    with pytest.raises(ShapeError, match="no elements"):
        traced(lambda x: np.fmax.reduce(x[:0]), x)
    with pytest.raises(ShapeError, match="index 3 is outside"):
        traced(lambda x: np.add.reduceat(x, [0, 3]), x)
    with pytest.raises(ArgumentError, match="needs initial="):
        traced(lambda x: np.fmin.reduce(x, where=x > 1), x)
