"""Writing into traced arrays: random programs of reads, writes and views against plain NumPy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax
from funcgrad.core import Tracer
from funcgrad.errors import MutationError
from funcgrad.ops.strided import strided

N = 4
Step = tuple[Any, ...]

INDICES = st.one_of(
    st.integers(-N, N - 1),
    st.builds(slice, st.integers(0, 2), st.integers(2, N), st.sampled_from([1, 2])),
    st.just(slice(None, None, -1)),
    st.just(...),
    st.lists(st.integers(-N, N - 1), min_size=1, max_size=N),  # duplicates too
)
STEPS = st.one_of(
    st.tuples(st.just("set"), INDICES, st.integers(0, N - 1)),
    st.tuples(st.just("add"), INDICES, st.integers(0, N - 1)),
    st.tuples(st.just("scale"), INDICES),
    st.tuples(st.just("view"), INDICES, INDICES),
    st.tuples(st.just("mask"), st.floats(-1, 1)),
    st.tuples(st.just("sum"), st.integers(0, N - 1)),
    st.tuples(st.just("square")),
    st.tuples(st.just("alias"), st.integers(0, N - 1)),
    st.tuples(st.just("element"), st.integers(-N, N - 1)),
    st.tuples(st.just("squeezed"), st.integers(0, N - 1)),
)


def run(steps: list[Step], x: Any, z: Any) -> Any:
    """Write into `z`, a fresh array, as the steps say; the same code for plain and traced arrays."""
    total = x.sum() * 0.0
    view = z[1:]
    element = z[..., 0]  # a 0-d array that shows z[0], where z[0] itself would be a number
    for name, *rest in steps:
        if name == "set":
            z[rest[0]] = x[rest[1]] * 1.5
        elif name == "add":
            z[rest[0]] += x[rest[1]]
        elif name == "scale":
            z[rest[0]] *= 0.5
        elif name == "view":
            part = z[rest[0]]
            if part.ndim and len(part):
                part[rest[1] if isinstance(rest[1], slice) else 0] = total + x[0]
        elif name == "mask":
            z[z > rest[0]] *= 2.0
        elif name == "sum":
            total = total + z[rest[0]] * z[rest[0] - 1] * view[0]
        elif name == "square":
            z = z * z * 0.3
            view = z[1:]
        elif name == "element":
            element[...] = x[0]
            element = z[..., rest[0]]
        elif name == "squeezed":
            element += 0.5
            element = z[rest[0] : rest[0] + 1].squeeze()
        else:
            other = z
            other[rest[0]] = x[rest[0]] * view[-1]
    return total + (z * z).sum() + view.sum() + 0.3 * element**2


def program(steps: list[Step]) -> Callable[[Any], Any]:
    return lambda x: run(steps, x, x * 1.0)


POINT = np.array([0.7, -0.4, 0.3, 0.9])


@given(st.lists(STEPS, max_size=8))
def test_values_are_numpys(steps: list[Step]) -> None:
    f = program(steps)
    value, _ = funcgrad.value_and_grad(f)(POINT)
    np.testing.assert_allclose(value, f(POINT), rtol=1e-12)


@given(st.lists(STEPS, max_size=8))
def test_transforms_agree(steps: list[Step]) -> None:
    f = program(steps)
    gradient = funcgrad.grad(f)(POINT)
    np.testing.assert_allclose(funcgrad.jacfwd(f)(POINT), gradient, rtol=1e-10, atol=1e-12)
    _, f_vjp = funcgrad.vjp(f, POINT)
    np.testing.assert_allclose(f_vjp(1.0)[0], gradient, rtol=1e-12)
    np.testing.assert_allclose(f_vjp(2.0)[0], 2 * gradient, rtol=1e-12)
    np.testing.assert_allclose(funcgrad.jacrev(f)(POINT), gradient, rtol=1e-12)
    nested = funcgrad.jacrev(funcgrad.grad(f))(POINT)
    np.testing.assert_allclose(funcgrad.hessian(f)(POINT), nested, rtol=1e-9, atol=1e-11)


@given(st.lists(STEPS.filter(lambda s: s[0] != "mask"), max_size=6))
def test_batched_and_recorded(steps: list[Step]) -> None:
    f = program(steps)
    points = np.stack([POINT, POINT[::-1]])
    batched = funcgrad.vmap(funcgrad.grad(f))(points)
    for x, g in zip(points, batched, strict=True):
        np.testing.assert_allclose(funcgrad.grad(f)(x), g, rtol=1e-10, atol=1e-12)
    jaxpr = funcgrad.make_jaxpr(funcgrad.grad(f))(POINT)
    funcgrad.check_jaxpr(jaxpr)
    (replayed,) = funcgrad.eval_jaxpr(jaxpr, POINT)
    np.testing.assert_allclose(replayed, funcgrad.grad(f)(POINT), rtol=1e-10, atol=1e-12)


def test_the_caller_keeps_its_array() -> None:
    x = POINT.copy()

    def f(x: Any) -> Any:
        x *= 2.0
        x[0] = 1.0
        return (x * x).sum()

    assert funcgrad.grad(f)(x).tolist() == [0.0, *(8 * POINT[1:]).tolist()]
    assert x.tolist() == POINT.tolist()


def test_numbers_rebind_and_arrays_change() -> None:
    def f(x: Any) -> Any:
        y = x
        x += 1.0
        return (x * y).sum()

    assert float(funcgrad.grad(f)(2.0)) == 5.0  # (x + 1) x, as for a Python number
    assert funcgrad.grad(f)(np.array([2.0, 3.0])).tolist() == [6.0, 8.0]  # (x + 1)^2, as NumPy


@pytest.mark.parametrize("make", [fnp.zeros, fnp.ones, fnp.empty, lambda n: fnp.full(n, 2.0)])
def test_creation_functions_give_arrays_to_write_into(make: Callable[[int], Any]) -> None:
    def f(x: Any) -> Any:
        z = make(3)
        z[0] = x[0]
        z[1:] = x[1:] * x[0]
        return (z * z).sum()

    x = np.array([2.0, 3.0, 4.0])
    expected = [2 * 2 * (1 + 9 + 16), 2 * 3 * 4, 2 * 4 * 4]
    assert funcgrad.grad(f)(x).tolist() == expected
    assert funcgrad.jacfwd(f)(x).tolist() == expected
    assert funcgrad.vmap(funcgrad.grad(f))(x[None])[0].tolist() == expected


def test_a_reshape_that_numpy_has_to_copy_is_no_view() -> None:
    def f(x: Any) -> Any:
        y = x.reshape(2, 2) * 1.0
        copy, view = y.T.reshape(-1), y.reshape(-1)
        y *= 10.0
        copy *= 2.0
        return copy.sum() + 100 * view.sum() + y.sum()

    value, gradient = funcgrad.value_and_grad(f)(POINT)
    expected = f(POINT)
    assert value == expected
    assert gradient.tolist() == [2 + 1000 + 10] * 4


# ---------------------------------------------------------------- parts of complex numbers

PARTS = st.sampled_from(["real", "imag", "row", "flip", "turn"])
PART_STEPS = st.tuples(st.lists(PARTS, max_size=3), st.sampled_from(["set", "scale", "add"]))


def parts(steps: list[Any], x: Any) -> Any:
    """Write through chains of views of complex `z`, some of which are kept to be read at the end."""
    z = (x * (1 + 2j)).reshape(2, 2) * x[0]
    kept = [z.imag, z.T.real]
    for chain, what in steps:
        part = z
        for name in chain:
            if name in ("real", "imag"):
                part = getattr(part, name) if part.dtype.kind == "c" else part
            elif name == "row":
                part = part[-1:]
            else:
                part = part.T if name == "turn" else part[::-1]
        if what == "set":
            part[...] = x[1] * x[2]
        elif what == "scale":
            part *= 0.5 + (1j if part.dtype.kind == "c" else 0)
        else:
            part += x[3]
        kept.append(part)
    return sum((k * k.conj()).real.sum() + k.real[0, 0] + k.imag[0, 0] for k in kept)


@given(st.lists(PART_STEPS, max_size=4))
def test_writes_into_real_and_imaginary_parts(steps: list[Any]) -> None:
    def f(x: Any) -> Any:
        return parts(steps, x)

    value, gradient = funcgrad.value_and_grad(f)(POINT)
    np.testing.assert_allclose(value, f(POINT), rtol=1e-12)
    h = 1e-6
    numerical = [(f(POINT + h * e) - f(POINT - h * e)) / (2 * h) for e in np.eye(N)]
    np.testing.assert_allclose(gradient, numerical, rtol=1e-6, atol=1e-6)
    points = np.stack([POINT[::-1], POINT])
    for other in (
        funcgrad.jacfwd(f)(POINT),
        funcgrad.jacrev(f)(POINT),
        funcgrad.vmap(funcgrad.grad(f))(points)[1],
        funcgrad.eval_jaxpr(funcgrad.make_jaxpr(funcgrad.grad(f))(POINT), POINT)[0],
    ):
        np.testing.assert_allclose(other, gradient, rtol=1e-9, atol=1e-11)
    nested = funcgrad.jacrev(funcgrad.grad(f))(POINT)
    np.testing.assert_allclose(funcgrad.hessian(f)(POINT), nested, rtol=1e-9, atol=1e-11)


def test_compiled_writes_into_parts() -> None:
    def f(x: Any) -> Any:
        return parts([(["imag", "row"], "scale"), (["real"], "set"), (["turn"], "scale")], x)

    compiled = funcgrad.jit(funcgrad.value_and_grad(f))
    for point in (POINT, 2 * POINT):
        for a, b in zip(compiled(point), funcgrad.value_and_grad(f)(point), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_windows_that_overlap_are_not_written_into() -> None:
    def f(x: Any) -> Any:
        windows = strided(x * 1.0, shape=(3, 2), strides=(1, 1), offset=0)
        windows *= 2.0
        return windows.sum()

    for transform in (funcgrad.grad, funcgrad.jacfwd, funcgrad.make_jaxpr):
        with pytest.raises(MutationError, match="windows that overlap"):
            transform(f)(POINT)


def test_windows_follow_the_array() -> None:
    def f(x: Any) -> Any:
        z = x * 1.0
        windows = strided(z, shape=(3, 2), strides=(1, 1), offset=0)
        apart = strided(z, shape=(2,), strides=(3,), offset=0)
        z *= 3.0
        apart *= 2.0
        return windows.sum()

    assert funcgrad.grad(f)(POINT).tolist() == [6.0, 6.0, 6.0, 6.0]
    assert funcgrad.jacfwd(f)(POINT).tolist() == [6.0, 6.0, 6.0, 6.0]


# ---------------------------------------------------------------- arrays as a whole


def test_flat_reads_and_writes_in_order() -> None:
    def f(x: Any) -> Any:
        z = x.reshape(2, 2) * 1.0
        flat = z.T.flat
        z.flat[0] = 10.0 * x[3]
        part = z.flat[1:3]
        part[0] = 0.0  # a copy, as in NumPy
        assert (len(flat), flat is iter(flat)) == (4, True)
        return z.flat[0] + 2.0 * next(flat) + sum(3.0 * y for y in flat) + 5.0 * z.flat[-1]

    # The elements of z are 10 x3, x1, x2, x3; those of z.T are 10 x3, x2, x1, x3.
    gradient = funcgrad.grad(f)(np.arange(1.0, 5.0))
    assert gradient.tolist() == [0.0, 3.0, 3.0, 38.0]
    assert float(funcgrad.jvp(f, (np.ones(4),), (np.ones(4),))[1]) == 44.0


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("index", [slice(None, None, 2), [4, 0, 1], np.arange(6) % 2 == 0], ids=str)
def test_flat_takes_values_that_are_too_many_or_too_few(index: Any, count: int) -> None:
    def f(x: Any) -> Any:
        z = x[0] * np.ones((2, 3))
        z.flat[index] = x[:count]
        return z

    x = np.arange(1.0, 6.0)
    np.testing.assert_array_equal(funcgrad.jit(f)(x), f(x))
    identity = np.eye(5)
    expected = np.stack([f(row) for row in identity], axis=-1)  # the function is linear
    np.testing.assert_array_equal(funcgrad.jacrev(f)(x), expected)


def test_shape_and_dtype_must_fit() -> None:
    def wider(x: Any) -> Any:
        x += np.ones((2, 4))
        return x.sum()

    with pytest.raises(MutationError, match=r"shape \[2, 4\]"):
        funcgrad.grad(wider)(POINT)

    def complex_into_real(x: Any) -> Any:
        x *= 1j
        return x.sum()

    with pytest.raises(MutationError, match="c128"):
        funcgrad.grad(complex_into_real)(POINT)


def test_a_loop_over_elements_is_linear_in_its_length() -> None:
    def f(x: Any) -> Any:
        z = fnp.zeros(len(x))
        for i in range(1, len(x)):
            z[i] = 0.5 * z[i - 1] + x[i]
        return z.sum()

    def per_step(n: int) -> float:
        start = time.process_time()
        funcgrad.grad(f)(np.ones(n))
        return (time.process_time() - start) / n

    per_step(100)
    assert per_step(40_000) < 4 * per_step(2_000)


# ---------------------------------------------------------------- what is a view, and what a copy


VIEWS_OR_COPIES: dict[str, Callable[[Any], Any]] = {
    "rows": lambda z: z[::2].ravel(),
    "backwards": lambda z: z[::-1].ravel(),
    "column": lambda z: z[:, 0].ravel(),
    "np.ravel": lambda z: np.ravel(z[:, 1]),
    "whole": lambda z: z.ravel(),
    "lower rows": lambda z: np.ravel(z[1:]),
    "flat, every other": lambda z: z.reshape(-1)[::2].reshape(-1),
    "transposed": lambda z: z.T.ravel(),
    "transposed F": lambda z: z.T.ravel("F"),
    "transposed A": lambda z: z.T.ravel("A"),
    "transposed K": lambda z: z.T.ravel("K"),
    "columns backwards K": lambda z: z[:, ::-1].ravel("K"),
    "reshaped F": lambda z: z.T.reshape(-1, order="F"),
    "reshaped F, a copy": lambda z: z.reshape(-1, order="F"),
    "same dtype": lambda z: z.astype(float, copy=False),
    "same dtype, a copy": lambda z: z.astype(float),
    "conj": lambda z: z.conj(),
    "conjugate": lambda z: z.conjugate(),
}


@pytest.mark.parametrize("name", VIEWS_OR_COPIES)
def test_writes_reach_what_numpys_reach(name: str) -> None:
    take = VIEWS_OR_COPIES[name]

    def f(x: Any) -> Any:
        z = x * 1.0
        w = take(z)
        before = (w * np.arange(float(w.size)).reshape(w.shape)).sum()
        w *= 3.0
        return (z**2).sum() + before

    x = np.arange(1.0, 7.0).reshape(3, 2)
    for found in (
        funcgrad.value_and_grad(f)(x)[0],
        funcgrad.jit(f)(x),
        funcgrad.vmap(f)(x[None])[0],
        funcgrad.jvp(f, (x,), (x,))[0],
    ):
        assert found == f(x)


def test_numbers_in_place_of_nan_in_place() -> None:
    def f(x: Any) -> Any:
        z = x * 1.0
        np.nan_to_num(z, copy=False)
        return z.sum()

    value, slope = funcgrad.value_and_grad(f)(np.array([1.0, np.nan]))
    assert value == 1.0 and slope.tolist() == [1.0, 0.0]
    by_number = funcgrad.grad(lambda a: fnp.nan_to_num(np.array([1.0, np.nan]), nan=a).sum())
    assert by_number(0.3) == 1.0


def test_broadcast_arrays_are_views_to_be_read() -> None:
    def f(x: Any) -> Any:
        z = x * 1.0
        rows, (other, _) = np.broadcast_to(z, (2, 2)), np.broadcast_arrays(z, np.ones((2, 2)))
        z *= 3.0
        return (rows**2).sum() + (other * np.arange(4.0).reshape(2, 2)).sum()

    x = np.array([1.0, 2.0])
    value, slope = funcgrad.value_and_grad(f)(x)
    assert value == f(x) and slope.tolist() == [18 * 2 * 1.0 + 6.0, 18 * 2 * 2.0 + 12.0]
    with pytest.raises(MutationError, match="only to be read"):
        funcgrad.grad(lambda x: np.broadcast_to(x, (2, 2)).__setitem__(0, 1.0))(x)


COPIES = {
    "array": fnp.array,
    "copy": fnp.copy,
    "method": lambda x: x.copy() if isinstance(x, Tracer) else fnp.array(x),
    "astype": lambda x: x.astype(float) if isinstance(x, Tracer) else fnp.array(x),
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("transform", [lambda f: f, funcgrad.jit])
def test_copies_of_outer_values_are_of_the_inner_function(copy: Any, transform: Any) -> None:
    """What an inner function copies it can write into, also values that it alone traces."""

    def in_scan(outer: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            z = copy(outer)
            z[0] = c
            return z.sum() + x, z

        return lax.scan(step, outer[1], outer)

    def in_gradient(outer: Any) -> Any:
        def inner(c: Any) -> Any:
            z = copy(outer)
            z[0] = c
            return (z * z).sum()

        return funcgrad.grad(inner)(outer[1]), funcgrad.vmap(inner)(outer)

    x = np.array([1.0, 2.0, 3.0])
    for f in (in_scan, in_gradient):
        found, expected = transform(f)(x), f(x.copy())
        for a, b in zip(funcgrad.tree.leaves(found), funcgrad.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b)

        def total(x: Any) -> Any:
            return sum(fnp.sum(leaf) for leaf in funcgrad.tree.leaves(f(x)))  # noqa: B023

        forward, backward = funcgrad.jacfwd(total)(x), transform(funcgrad.grad(total))(x)
        np.testing.assert_allclose(forward, backward)
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])


NUMBERS: dict[str, Callable[[Any], Any]] = {
    "sin": lambda x: np.sin(x[0]),
    "sum": lambda x: x.sum(),
    "element": lambda x: x[0],
    "argument": lambda x: x[1] * 2.0,
    "given": lambda x: (lambda y: (fnp.asarray(y), y)[1])(np.sin(x[0])),
    "kept": lambda x: x[:1].sum(keepdims=True).reshape(()),
    "place": lambda x: x[0, ...],
    "where": lambda x: np.where(x[0] > 0.0, x[0], 1.0),
    "select": lambda x: np.select([x[0] > 0.0], [x[0]]),
    "copy": lambda x: np.copy(np.sin(x[0])),
    "like": lambda x: np.zeros_like(x[0]),
    "dots": lambda x: np.sin(x[0])[...],
}
ONE_AXIS: dict[str, Callable[[Any], Any]] = {
    "None": lambda y: y[None],
    "reshape": lambda y: np.reshape(y, 1),
    "method": lambda y: y.reshape(1),
    "ravel": lambda y: y.ravel(),
    "expand_dims": lambda y: np.expand_dims(y, 0),
    "atleast_1d": np.atleast_1d,
    "twice": lambda y: y[None][:],
}


@pytest.mark.parametrize("view", ONE_AXIS.values(), ids=ONE_AXIS)
@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_views_of_numbers_are_copies_and_of_arrays_without_axes_are_not(
    number: Any, view: Any
) -> None:
    """`np.sin` of a number gives a number, `np.where` an array without axes: NumPy says which."""

    def f(x: Any) -> Any:
        x = x * 1.0
        y = number(x)
        v = view(y)
        v[0] = 7.0 * x[2]
        return y + v.sum() * 10.0

    x = np.array([0.5, 1.5, 2.5])
    expected = f(x)
    for found in (
        funcgrad.jit(f)(x),
        funcgrad.vmap(f)(x[None])[0],
        funcgrad.value_and_grad(f)(x)[0],
    ):
        np.testing.assert_allclose(found, expected)
    funcgrad.testing.check_grads(f, (x,))


@pytest.mark.parametrize("wrap", [funcgrad.jit, funcgrad.checkpoint], ids=["jit", "checkpoint"])
def test_writes_into_outer_values_between_reads(wrap: Any) -> None:
    def f(x: Any, wrap: Any = lambda g: g) -> Any:
        y = x * 1.0

        def g(z: Any) -> Any:
            before = z * y
            y[0] = 5.0
            y.T[1:] *= x[:1]
            return before + z * y

        return (wrap(g)(x) * np.array([1.0, 2.0])).sum() + (y**3).sum()

    x = np.array([2.0, 3.0])
    for transform in (funcgrad.grad, funcgrad.jit, lambda f: funcgrad.jit(funcgrad.grad(f))):
        want, found = transform(f)(x), transform(lambda x: f(x, wrap))(x)
        np.testing.assert_array_equal(found, want)


BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "scan": lambda g, z: lax.scan(lambda c, r: (g(r), ()), z * 0.0, z[None])[0],
    "cond": lambda g, z: lax.cond(z[0] > 0, g, lambda z: z, z),
    "while": lambda g, z: lax.while_loop(lambda c: c.sum() < 9.0, g, z),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize(
    "write", [lambda y: y.fill(5.0), lambda y: y[1:].fill(5.0), lambda y: y.T[:1].fill(5.0)]
)
def test_bodies_write_into_nothing_outside(name: str, write: Callable[[Any], None]) -> None:
    def f(x: Any) -> Any:
        y = x * 1.0

        def g(z: Any) -> Any:
            write(y)
            return z + y

        return BODIES[name](g, x).sum() + y.sum()

    x = np.array([1.0, 2.0])
    for transform in (funcgrad.jit, lambda f: funcgrad.jit(funcgrad.grad(f))):
        with pytest.raises(MutationError, match="from outside"):
            transform(f)(x)
