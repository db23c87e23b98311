"""Parts of arrays by integers that are known only as types are views, as those by numbers are."""

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

SHAPE = (3, 4, 2)

# What is shown, by numbers i, j < 3, of the array or of another part.
TAKES: list[Callable[[Any, Any, Any], Any]] = [
    lambda x, i, j: x[i],
    lambda x, i, j: x[i, 1:],
    lambda x, i, j: x[:, j],
    lambda x, i, j: x[..., i % 2],
    lambda x, i, j: x[None, i],
    lambda x, i, j: x[1:],
    lambda x, i, j: x.T,
    lambda x, i, j: x.reshape(-1),
    lambda x, i, j: x[i, j],
    lambda x, i, j: x[j].T,
]


def write_all(parts: list[Any], k: int, i: Any, j: Any) -> None:
    parts[k] *= 2.0


def write_some(parts: list[Any], k: int, i: Any, j: Any) -> None:
    parts[k][..., :1] = 7.0


def write_own(parts: list[Any], k: int, i: Any, j: Any) -> None:
    parts[k][i % parts[k].shape[0]] += 3.0


def write_sum(parts: list[Any], k: int, i: Any, j: Any) -> None:
    parts[k][...] = parts[k] + np.sum(parts[0])


def move(parts: list[Any], k: int, i: Any, j: Any) -> None:
    x = parts[0]
    x[i] = x[j]


def swap(parts: list[Any], k: int, i: Any, j: Any) -> None:
    x = parts[0]
    t = x[i]
    x[i] = x[j]
    x[j] = t


WRITES = [write_all, write_some, write_own, write_sum, move, swap]
# Out of bounds where only numbers can say so, nothing left, or a number that cannot be written.
NO_PROGRAM = (IndexError, ValueError, ZeroDivisionError, TypeError)
STEP = st.tuples(st.integers(0, 1), st.integers(0, 9), st.integers(0, 5))


def program(steps: list[tuple[int, int, int]]) -> Callable[[Any, Any, Any], Any]:
    def run(x: Any, i: Any, j: Any) -> Any:
        parts = [fnp.array(x)]
        for is_write, which, k in steps:
            of = k % len(parts)
            if is_write:
                WRITES[which % len(WRITES)](parts, of, i, j)
            elif parts[of].ndim > 1:
                parts.append(TAKES[which](parts[of], i, j))
        return sum(np.sum(np.sin(part) * (n + 1.0)) for n, part in enumerate(parts))

    return run


@settings(deadline=None, max_examples=300)
@given(st.lists(STEP, min_size=2, max_size=7), st.integers(0, 2), st.integers(0, 2))
def test_as_by_numbers(steps: list[Any], i: int, j: int) -> None:
    f = program(steps)
    x = np.arange(24.0).reshape(SHAPE) / 10
    try:
        expected = f(x, i, j)
    except NO_PROGRAM:
        return
    try:
        found = funcgrad.jit(f)(x, i, j)
    except IndexError:
        return
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    slope = funcgrad.grad(f)(x, i, j)
    np.testing.assert_allclose(funcgrad.jit(funcgrad.grad(f))(x, i, j), slope, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=150)
@given(st.lists(STEP, min_size=2, max_size=6))
def test_of_a_batch(steps: list[Any]) -> None:
    f = program(steps)
    x = np.arange(24.0).reshape(SHAPE) / 10
    pairs = [(0, 0), (1, 2), (2, 1)]
    try:
        expected = [f(x, i, j) for i, j in pairs]
    except NO_PROGRAM:
        return
    places = np.array(pairs)
    found = funcgrad.vmap(f, in_axes=(None, 0, 0))(x, places[:, 0], places[:, 1])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_rows_of_loops() -> None:
    def smooth(x: Any) -> Any:
        def body(i: Any, x: Any) -> Any:
            x = fnp.array(x)
            row = x[i]
            row += x[i - 1] * 0.5
            x[i, 1:] *= 2.0
            return x

        return lax.fori_loop(1, 3, body, x)

    x = np.arange(12.0).reshape(3, 4)
    expected = x.copy()
    for i in range(1, 3):
        row = expected[i]
        row += expected[i - 1] * 0.5
        expected[i, 1:] *= 2.0
    for f in (smooth, funcgrad.jit(smooth)):
        np.testing.assert_array_equal(f(x), expected)
    slope = funcgrad.grad(lambda x: np.sum(smooth(x) ** 2))
    np.testing.assert_allclose(funcgrad.jit(slope)(x), slope(x), rtol=1e-9, atol=1e-9)


def test_a_row_is_written_once() -> None:
    def add(x: Any, i: Any) -> Any:
        x = fnp.array(x)
        x[i] += 1.0
        return x

    eqns = funcgrad.make_jaxpr(add)(np.zeros((3, 2)), 1).eqns
    assert [eqn.prim.name for eqn in eqns] == ["gather", "add", "scatter_set"]


def test_slices_have_lengths_that_are_known() -> None:
    def write(x: Any, i: Any) -> Any:
        x[i : i + 2] = 0.0
        return x

    for f in (lambda x, i: x[i : i + 2], lambda x, i: x[:, :i], write):
        with pytest.raises(funcgrad.errors.ConcretizationError, match=r"lax\.dynamic_slice"):
            funcgrad.jit(f)(np.ones((3, 3)), 1)


@pytest.mark.parametrize("wrap", [funcgrad.jit, lambda f: funcgrad.vmap(f, in_axes=(None, 0))])
def test_by_arrays_and_elements_it_is_a_copy(wrap: Any) -> None:
    def f(x: Any, i: Any) -> Any:
        x = fnp.array(x)
        element, rows = x[i, 0], x[np.array([0, 1])]
        x *= 2.0
        return element + np.sum(rows)

    i = np.array([1, 2]) if wrap is not funcgrad.jit else 1
    x = np.ones((3, 2))
    np.testing.assert_array_equal(wrap(f)(x, i), np.full(np.shape(i), 5.0))


def test_results_of_vmap_can_be_written() -> None:
    """Those that do not depend on the batch, too; nobody else sees it."""
    w = np.ones(2)
    x, repeated = funcgrad.vmap(lambda x, w: (x * 2.0, w), in_axes=(0, None))(np.ones(3), w)
    single = funcgrad.vmap(lambda x, w: w, in_axes=(0, None), out_axes=None)(x, w)
    repeated[1] = 0.0
    single[0] = 5.0
    assert repeated.tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    assert w.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("how", ["fori_loop", "vmap"])
def test_writes_into_arrays_of_outside_are_refused(how: str) -> None:
    """By an integer that only the inner function knows: they would be lost."""

    def f(x: Any) -> Any:
        z = x * 1.0

        def body(i: Any, c: Any) -> Any:
            row = z[i]
            row[...] = 7.0
            return c + z.sum()

        if how == "vmap":
            return funcgrad.vmap(lambda i: body(i, 0.0))(np.arange(2)), z
        return lax.fori_loop(0, 2, body, 0.0), z

    with pytest.raises(funcgrad.errors.MutationError):
        funcgrad.jit(f)(np.ones((2, 2)))
