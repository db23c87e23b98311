"""Elements by number in C: what NumPy's indexing gives, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax
from funcgrad.compile import c_compiler

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")

X = np.arange(12.0).reshape(4, 3) + 0.5


def in_c(f: Callable[..., Any], *args: Any) -> tuple[Any, str]:
    compiled = funcgrad.jit(f)
    with funcgrad.config("c"):
        return compiled(*args), compiled.code


def written(x: Any, index: Any, value: Any) -> Any:
    y = x + 0.0
    y[index] = value
    return y


# Functions of an array (4, 3) and of a number between 0 and 3.
READS: dict[str, Callable[..., Any]] = {
    "a row": lambda x, i: x[i] * 2,
    "an element": lambda x, i: x[i, 1] * 2,
    "from the end": lambda x, i: x[i - 4] * 2,
    "a column": lambda x, i: x[:, i % 3] * 2,
    "new axes and a step": lambda x, i: x[None, i, ::2, None] * 2,
    "backwards": lambda x, i: x[i, 1::-1] * 2,
    "several rows": lambda x, i: x[np.array([0, 1, -1]) * i] * 2,
    "arrays of an array": lambda x, i: x[np.array([[0, 1], [1, 0]]) * i] * 2,
    "two arrays": lambda x, i: x[np.array([0, 1, 2]), np.array([0, 1, 1]) * i % 3] * 2,
    "arrays apart": lambda x, i: np.stack([x, x])[i % 2, :, np.array([0, 1]) * i % 3] * 2,
    "along an axis": lambda x, i: (
        np.take_along_axis(x, np.array([[0], [1], [0], [0]]) * i % 3, axis=1) * 2
    ),
    "short integers": lambda x, i: x[i.astype(np.int32)] + x[i.astype(np.uint32)],
    "of an index of an index": lambda x, i: x[(np.arange(4) * i % 4)[i]] * 2,
    "a slice": lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 2)) * 2,
    "a row written": lambda x, i: written(x, i, 7.0) * 2,
    "an element written": lambda x, i: written(x, (i, 1), x[i, 0]) * 2,
    "the last write counts": lambda x, i: (
        written(x, np.array([1, 1, 0]) * i % 4, np.arange(9.0).reshape(3, 3)) * 2
    ),
    "a slice written": lambda x, i: lax.dynamic_update_slice(x, np.ones((2, 2)), (i, 1)) * 2,
    "a slice of arrays written": lambda x, i: written(x, (slice(1, 3), i % 3), x[i, :2]) * 2,
    "integers": lambda x, i: (x.astype(int)[i] * 2) ** i,
    "truth values": lambda x, i: (x > 5)[i] & (x < 9)[i],
    "one element": lambda x, i: x[:1, :1][i * 0] * 2,
    "a loop that reads": lambda x, i: lax.fori_loop(
        0, 4, lambda j, c: c + x[j] * x[(j + i) % 4], np.zeros(3)
    ),
    "a loop that writes": lambda x, i: lax.fori_loop(
        1,
        4,
        lambda j, t: lax.dynamic_update_index_in_dim(t, t[j - 1] * 0.5 + x[j], j, 0),
        x * i,
    ),
    "a loop that writes and keeps": lambda x, i: lax.scan(
        lambda t, j: (written(t, j, t[j - 1] + i), (t, t[0])), x, np.array([1, 3, 0])
    ),
    "a loop with a test": lambda x, i: lax.while_loop(
        lambda s: (s[0] < 4) & (x[s[0] % 4, 0] < 8),
        lambda s: (s[0] + 1, written(s[1], s[0] % 3, x[s[0], 0])),
        (i * 0, x[i]),
    ),
    "branches": lambda x, i: lax.cond(i > 1, lambda: x[i], lambda: written(x[0], i, 0.0)),
}
NOT_IN_C = {"integers"}  # powers of integers


@pytest.mark.parametrize("name", READS)
def test_reads_and_writes(name: str) -> None:
    f = READS[name]
    for i in range(4):
        place = np.array(i)
        found, code = in_c(f, X, place)
        expected = funcgrad.tree.leaves(f(X, place))
        for x, y in zip(funcgrad.tree.leaves(found), expected, strict=True):
            assert (x.shape, x.dtype) == (y.shape, y.dtype)
            np.testing.assert_allclose(x, y, rtol=1e-14)
        left = [w for w in ("gather", "scatter", "while", "cond", "for ") if f"call_{w}" in code]
        assert not left or name in NOT_IN_C, code


@pytest.mark.parametrize("name", [n for n in READS if n not in ("integers", "truth values")])
def test_gradients(name: str) -> None:
    def total(x: Any, i: Any) -> Any:
        return sum(np.sum(np.sin(y)) for y in funcgrad.tree.leaves(READS[name](x, i)))

    for i in (0, 3):
        found, _ = in_c(funcgrad.grad(total), X, np.array(i))
        np.testing.assert_allclose(found, funcgrad.grad(total)(X, np.array(i)), rtol=1e-12)


@pytest.mark.parametrize("name", ["a row", "a column", "two arrays", "a slice written"])
def test_batches(name: str) -> None:
    f, places = READS[name], np.arange(4)
    found, _ = in_c(funcgrad.vmap(f, in_axes=(None, 0)), X, places)
    np.testing.assert_allclose(found, np.stack([f(X, i) for i in places]), rtol=1e-14)


def _sum(x: Any, i: Any) -> Any:
    return lax.fori_loop(0, 3, lambda j, c: c + x[j + i] * x[i, 0], np.zeros(3))


@pytest.mark.parametrize(
    ("f", "bad"),
    [
        (lambda x, i: x[i] * 2, [4, -5, 2**40]),
        (lambda x, i: x[0, i] * 2, [3, -4]),
        (lambda x, i: x[np.array([0, 1]) * i] * 2, [4, -5]),
        (lambda x, i: written(x, i, 1.0) * 2, [4, -5]),
        (_sum, [2, -5]),
        (lambda x, i: lax.scan(lambda c, j: (c, x[i + j] * 2), 0.0, np.arange(2))[1], [3]),
        (lambda x, i: lax.cond(i > 0, lambda: x[i], lambda: x[0]), [4]),
    ],
)
def test_out_of_bounds(f: Callable[..., Any], bad: list[int]) -> None:
    compiled = funcgrad.jit(f)
    with funcgrad.config("c"):
        good = np.array(1)
        for i in bad:
            with pytest.raises(IndexError, match="out of bounds") as found:
                compiled(X, np.array(i))
            with pytest.raises(IndexError) as expected:
                f(X, np.array(i))
            assert str(found.value).split(" (")[0] == str(expected.value).split(" (")[0]
            np.testing.assert_allclose(compiled(X, good), f(X, good))  # nothing is left behind


def test_branches_that_are_not_taken_do_not_count() -> None:
    f = lambda x, i: lax.cond(i < 4, lambda: x[i], lambda: x[0])  # noqa: E731
    found, code = in_c(f, X, np.array(77))
    np.testing.assert_array_equal(found, X[0])
    assert "cond" not in code


def test_given_arrays_are_whole_after_an_error() -> None:
    def step(x: Any, i: Any) -> Any:
        return x * 2.0 + x[i], x[0] * 1.0

    compiled = funcgrad.jit(step, donate_argnums=0)
    with funcgrad.config("c"):
        x = X.copy()
        with pytest.raises(IndexError):
            compiled(x, np.array(4))
        np.testing.assert_array_equal(x, X)
        found = compiled(x, np.array(2))
    np.testing.assert_array_equal(found[0], X * 2 + X[2])


def test_arrays_that_do_not_lie_in_order() -> None:
    for x in (X.T.copy().T, np.repeat(X, 2, axis=1)[:, ::2], X[::-1][::-1]):
        found, _ = in_c(READS["a loop that reads"], x, np.array(2))
        np.testing.assert_allclose(found, READS["a loop that reads"](X, np.array(2)))


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_random_indices(data: Any) -> None:
    """Any index of numbers, slices, new axes and arrays, read, written and added to."""
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    x = np.random.default_rng(0).normal(size=shape)
    block = data.draw(st.sampled_from([(), (2,), (1,), (2, 3), (3,)]))
    index: list[Any] = []
    arrays: list[Any] = []
    for n in shape:
        kind = data.draw(st.sampled_from(["array", "slice", "number", "new"]))
        if kind == "new":
            index.append(None)
            kind = "slice"
        if kind == "array":
            dims = block[data.draw(st.integers(0, len(block))) :]
            values = data.draw(st.lists(st.integers(-n, n - 1), min_size=6, max_size=6))
            arrays.append(np.resize(np.array(values), dims))
            index.append(len(arrays) - 1)
        elif kind == "slice":
            step = data.draw(st.sampled_from([1, 2, -1]))
            index.append(slice(None, None, step))
        else:
            index.append(np.array(data.draw(st.integers(-n, n - 1))))

    def of(arrays: Any) -> tuple[Any, ...]:
        return tuple(arrays[i] if isinstance(i, int) else i for i in index)

    def f(x: Any, *arrays: Any) -> Any:
        part = x[of(arrays)]
        y = x * 1.0
        y[of(arrays)] = np.cos(part) + np.arange(part.size).reshape(part.shape)
        return part * 2, y

    def total(x: Any, *arrays: Any) -> Any:
        return sum(np.sum(np.sin(y)) for y in f(x, *arrays))

    for g in (f, funcgrad.grad(total)):
        found = funcgrad.tree.leaves(in_c(g, x, *arrays)[0])
        for a, b in zip(found, funcgrad.tree.leaves(g(x, *arrays)), strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 1000])
def test_searches_among_many(n: int, dtype: str, side: str) -> None:
    """By halves; numbers that are not are more than all."""
    rng = np.random.default_rng(n)
    a, v = np.sort(rng.integers(-50, 50, n)).astype(dtype), rng.integers(-60, 60, (200, 100))
    v = v.astype(dtype)
    if dtype[0] == "f":
        v[0, :4] = np.nan, np.inf, -np.inf, -0.0
        a[max(n - 2, 1) :] = np.nan

    def f(a: Any, v: Any) -> Any:
        return fnp.searchsorted(a, v, side=side)

    for g, args in ((f, (a, v)), (lambda v: f(a, v), (v,))):
        found, code = in_c(g, *args)
        assert "kernel0(" in code and "searchsorted" not in code
        np.testing.assert_array_equal(found, np.searchsorted(a, v, side))


@pytest.mark.parametrize("shape", [(1000, 64), (50, 7), (30, 4, 5), (40, 1)])
def test_rows_by_number_are_loops_in_vectors(shape: tuple[int, ...]) -> None:
    """Where a row is is looked up once, where each row of the index is one."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape)
    i, j = rng.integers(-len(x), len(x), 70), rng.integers(0, shape[1], (3, 9))

    def f(x: Any, i: Any, j: Any) -> Any:
        taken, columns = x[i] * 2.0, x[:, j] * 3.0
        return (taken**2).sum() + (columns**2).sum() + (x[i[:27].reshape(3, 9), j] ** 3).sum()

    def g(x: Any, i: Any, j: Any) -> Any:
        return [x[i] * 2.0, x[:, j], funcgrad.grad(f)(x, i, j), fnp.at(x)[:, j[0]].set(1.0)]

    found, code = in_c(g, x, i, j)
    assert "kernel0(" in code and "call_" not in code
    for a, b in zip(found, g(x, i, j), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


SLICES = st.slices(4), st.slices(3)


@settings(deadline=None, max_examples=60)
@given(rows=SLICES[0], columns=SLICES[1], adds=st.booleans(), by_row=st.booleans())
def test_random_slices_written(rows: slice, columns: slice, adds: bool, by_row: bool) -> None:
    """Empty ones, too, into which nothing is written."""
    index = rows if by_row else (rows, columns)

    def f(x: Any) -> Any:
        y = x * 1.5
        y[index] = y[index] * 2 + x[0, 0] if adds else x[1, 1]
        return y * np.cos(X)

    x = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
    found, code = in_c(f, x)
    assert "kernel" in code
    np.testing.assert_allclose(found, f(x), rtol=1e-12)
    total = funcgrad.grad(lambda x: np.sum(f(x)))
    np.testing.assert_allclose(in_c(total, x)[0], total(x), rtol=1e-12)


def test_writes_of_a_loop_that_begin_with_nothing() -> None:
    def f(x: Any) -> Any:
        y = x * 1.5
        for i in range(3):
            y[:i] += x[i]
            y[3 - i :] = 7.0
        return np.sum(y * np.cos(np.arange(3)))

    x = np.array([1.0, 2.0, 3.0])
    for g in (f, funcgrad.grad(f)):
        np.testing.assert_allclose(in_c(g, x)[0], g(x), rtol=1e-12)
