"""What a derivative reads again later is what it was: writes in between raise, or change nothing."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad import lax, locks

ONES = np.ones(3)


def own_rule(c: Any) -> Any:
    @funcgrad.custom_vjp
    def f(x: Any) -> Any:
        return x * x * c

    f.defvjp(lambda x: (x * x * c, (x, c)), lambda r, g: (2 * g * r[0] * r[1],))
    return f


def own_tangent(c: Any) -> Any:
    @funcgrad.custom_jvp
    def f(x: Any) -> Any:
        return x * x * c

    f.defjvp(lambda xs, ts: (f(*xs), 2 * xs[0] * c * ts[0]))
    return f


# x * x * c, by functions that read c in their own ways.
READING: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "plain": lambda c: lambda x: x * x * c,
    "jit": lambda c: funcgrad.jit(lambda x: x * x * c),
    "checkpoint": lambda c: funcgrad.checkpoint(lambda x: x * x * c),
    "custom_vjp": own_rule,
    "custom_jvp": own_tangent,
    "map": lambda c: lambda x: lax.map(lambda row: row * row * c, x[None])[0],
    "scan": lambda c: funcgrad.jit(
        lambda x: lax.scan(lambda s, r: (s + r * r * c, 0), 0 * x, x[None])[0]
    ),
    "cond": lambda c: lambda x: lax.cond(x[0] > 0, lambda x: x * x * c, lambda x: x, x),
    "matmul": lambda c: lambda x: np.diag(c) @ (x * x),
}


class Foreign:
    """The memory of another library, which does not say whether it may be written into."""

    def __init__(self, count: int) -> None:
        self.memory = np.ones(count)
        self.__array_interface__ = self.memory.__array_interface__


def to_be_read() -> tuple[Any, Any]:
    """An array that must not be written into, and one of its owner's, who may write."""
    c = np.asarray(owner := Foreign(3))
    c.flags.writeable = False
    return c, owner.memory


# Arrays of ones, and other arrays through which they may be written.
HOLDERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "array": lambda: (c := np.ones(3), c),
    "view": lambda: ((base := np.ones(4))[:3], base[:2]),
    "diagonal": lambda: (np.diagonal(m := np.ones((3, 3))), m[0]),
    "broadcast": lambda: (np.broadcast_to(one := np.ones(1), (3,)), one),
    "memory map": lambda: (m := in_file(), m),
    "another library's": to_be_read,
}


def in_file() -> Any:
    with tempfile.TemporaryFile() as file:
        found = np.memmap(file, float, "w+", shape=3)
    found[:] = 1.0
    return found


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("name", READING)
@pytest.mark.parametrize("transform", ["vjp", "linearize"])
def test_pullbacks_keep_what_they_read(transform: str, name: str, holder: str) -> None:
    c, door = HOLDERS[holder]()
    _, linear = getattr(funcgrad, transform)(READING[name](c), ONES)
    door[0] = 100.0
    found = linear(ONES)
    np.testing.assert_array_equal(found[0] if transform == "vjp" else found, 2 * ONES)


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("name", READING)
def test_writes_while_the_function_runs(name: str, holder: str) -> None:
    """They raise, or come too late to be seen."""
    c, door = HOLDERS[holder]()
    g = READING[name](c)

    def f(x: Any) -> Any:
        y = g(x)
        door[0] = 100.0
        return y.sum()

    try:
        found = funcgrad.grad(f)(ONES)
    except ValueError as error:
        assert "read-only" in str(error)
    else:
        np.testing.assert_array_equal(found, 2 * ONES)
    door[0] = 3.0
    assert not locks._locks


@pytest.mark.parametrize("transform", ["vjp", "linearize"])
@pytest.mark.parametrize(
    "f", [np.exp, np.tanh, np.cumprod, np.linalg.norm, funcgrad.jit(np.exp), lambda x: np.sqrt(x)]
)
def test_results_may_be_written_into(f: Any, transform: str) -> None:
    x = np.array([0.5, 1.0, 2.0])
    y, linear = getattr(funcgrad, transform)(f, x)
    t = np.ones_like(y if transform == "vjp" else x)
    expected = linear(t)
    y, linear = getattr(funcgrad, transform)(f, x)
    y *= 10.0
    x[:] = 7.0
    np.testing.assert_array_equal(linear(t), expected)


@pytest.mark.parametrize("size", [3, 30_000])
@pytest.mark.parametrize("rows", [True, False])
def test_threads_that_share_data(size: int, rows: bool) -> None:
    """What one holds is no constant for another, and is writeable when the last one lets go."""
    data = np.ones((2, size))
    a, b = data if rows else (data[0], data[0])
    x = np.ones(size)
    ready, done = threading.Event(), threading.Event()
    gradients = []

    def slow(x: Any) -> Any:
        y = np.sum(x * x * a)
        ready.set()
        done.wait()
        return y

    thread = threading.Thread(target=lambda: gradients.append(funcgrad.grad(slow)(x)))
    thread.start()
    ready.wait()
    gradients.append(funcgrad.grad(lambda x: np.sum(x * x * b))(x))
    _, back = funcgrad.vjp(lambda x: np.sum(x * x * b), x)
    done.set()
    thread.join()
    assert a.flags.writeable and b.flags.writeable and data.flags.writeable
    data[:] = 100.0
    for found in (*gradients, back(1.0)[0]):
        np.testing.assert_array_equal(found, 2 * x)
    assert not locks._locks


@pytest.mark.parametrize("count", [8, 20_000])
def test_memory_of_other_libraries(count: int) -> None:
    """NumPy makes neither it nor views of it writeable again; so they are copied."""
    whole = np.asarray(Foreign(count))
    for c in (whole, whole[1:]):
        value, pull = funcgrad.vjp(lambda x, c=c: x * x * c, np.ones(c.shape))
        assert c.flags.writeable
        c[...] = 7.0
        np.testing.assert_array_equal(pull(np.ones(c.shape))[0], 2.0)
        c[...] = 1.0
        np.testing.assert_array_equal(funcgrad.grad(lambda x: (x * x).sum())(c), 2.0)
        np.testing.assert_array_equal(value, 1.0)


def test_arrays_that_c_has_made() -> None:
    """MINPACK's arguments neither own their memory nor say who does."""
    optimize = pytest.importorskip("scipy.optimize")
    slope = funcgrad.grad(lambda x: ((x - 2.0) ** 2).sum() + (x[1:] * x[1:]).sum())
    for options in ({}, {"fprime": funcgrad.jacrev(slope)}):
        found = optimize.fsolve(lambda x: slope(x), np.zeros(3), **options)
        np.testing.assert_allclose(found, [2.0, 1.0, 1.0], rtol=1e-8)


RECORDERS: dict[str, Callable[[Any], Any]] = {
    "jit": funcgrad.jit,
    "jit of grad": lambda f: lambda x: funcgrad.jit(funcgrad.grad(f))(x),
    "checkpoint": lambda f: lambda x: funcgrad.grad(funcgrad.checkpoint(f))(x),
    "make_jaxpr": funcgrad.make_jaxpr,
    "scan": lambda f: (
        lambda x: funcgrad.jit(lambda x: lax.scan(lambda c, r: (c + f(r), ()), 0.0, x[None])[0])(x)
    ),
}


@pytest.mark.parametrize("recorder", RECORDERS)
def test_programs_do_not_read_what_is_written_later(recorder: str) -> None:
    kept = []

    def f(x: Any, show: Any) -> Any:
        weights = np.ones(2)
        kept.append(weights)
        y = x * show(weights)
        weights[0] = 5.0
        return (y + x * weights).sum()

    for show in (lambda w: w, lambda w: w[:2]):
        with pytest.raises(ValueError, match="read-only"):
            RECORDERS[recorder](lambda x, show=show: f(x, show))(np.array([1.0, 2.0]))
        kept.pop()[0] = 7.0  # writeable again


def test_numbers_that_are_read_twice_are_inputs() -> None:
    c = np.array(2.0)
    f = funcgrad.jit(lambda x: np.sin(x * c) + c)
    assert "2.0" not in f.lower(1.0).code
