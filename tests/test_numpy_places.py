"""Shifts, diagonals and places that are traced: the shape does not depend on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ConcretizationError, ShapeError

ROW = np.array([1.0, 2.0, 4.0, 3.0, 0.5])
MATRIX = np.arange(12.0).reshape(3, 4)
OF_AN_INTEGER: dict[str, Callable[[Any], Any]] = {
    "roll": lambda k: np.roll(ROW + 0 * k, k),
    "roll flat": lambda k: fnp.roll(MATRIX, k),
    "roll an axis": lambda k: fnp.roll(MATRIX, k, axis=-1),
    "roll axes alike": lambda k: fnp.roll(MATRIX, k, axis=(0, 1)),
    "roll axes": lambda k: fnp.roll(MATRIX, (k, 1), axis=(0, 1)),
    "roll twice": lambda k: fnp.roll(MATRIX, (k, 1), axis=(1, -1)),
    "roll nothing": lambda k: fnp.roll(np.zeros((0, 2)), k, axis=0),
    "eye": lambda k: fnp.eye(3, 4, k),
    "eye of integers": lambda k: fnp.eye(3, k=k, dtype=int),
    "tri": lambda k: fnp.tri(3, 4, k),
    "tri of truth values": lambda k: fnp.tri(3, k=k, dtype=bool),
    "tril": lambda k: fnp.tril(MATRIX, k),
    "tril of truth values": lambda k: fnp.tril(MATRIX > 1, k),
    "triu": lambda k: fnp.triu(MATRIX, k),
    "triu of matrices": lambda k: fnp.triu(np.ones((2, 3, 3), np.float32), k),
    "insert": lambda k: fnp.insert(ROW, k, 9.0),
    "insert in an axis": lambda k: fnp.insert(MATRIX, k, [7.0, 8.0, 9.0], axis=1),
    "insert many": lambda k: fnp.insert(ROW, k, [7.0, 8.0]),
    "insert a list": lambda k: fnp.insert(ROW, [k, 1, k], [7.0, 8.0, 9.0]),
    "insert once": lambda k: fnp.insert(MATRIX, [k], np.ones((3, 2)), axis=1),
}


@pytest.mark.parametrize("name", OF_AN_INTEGER)
@given(k=st.integers(-3, 3), dtype=st.sampled_from([np.int64, np.int32, np.int8]))
@settings(deadline=None, max_examples=15)
def test_traced_integers_are_as_good_as_known_ones(name: str, k: int, dtype: Any) -> None:
    f = OF_AN_INTEGER[name]
    expected = f(k)
    for found in (
        funcgrad.jit(f)(dtype(k)),
        funcgrad.jit(f)(k),
        funcgrad.vmap(f)(np.array([k, 0], dtype))[0],
    ):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@given(k=st.integers(-3, 3))
@settings(deadline=None, max_examples=15)
def test_derivatives_by_what_is_moved(k: int) -> None:
    for f in (
        lambda x, k: fnp.roll(x, k, axis=1) ** 2 * MATRIX,
        lambda x, k: fnp.tril(x, k) ** 2 * MATRIX,
        lambda x, k: fnp.triu(x, k) ** 2 * MATRIX,
        lambda x, k: fnp.insert(x, k, x[:, 0], axis=1) ** 2 * np.arange(15.0).reshape(3, 5),
    ):
        g = funcgrad.grad(lambda x, k, f=f: f(x, k).sum())
        np.testing.assert_allclose(funcgrad.jit(g)(MATRIX, k), g(MATRIX, k))
        each = funcgrad.vmap(g, in_axes=(None, 0))(MATRIX, np.array([k, 1]))
        np.testing.assert_allclose(each[0], g(MATRIX, k))


def test_traced_places_are_clipped() -> None:
    for k, place in ((9, 5), (-9, 0)):
        found = funcgrad.jit(lambda k: fnp.insert(ROW, k, 9.0))(k)
        np.testing.assert_array_equal(found, np.insert(ROW, place, 9.0))


@pytest.mark.parametrize(
    "f",
    [
        lambda k: fnp.roll(ROW, k),
        lambda k: fnp.tril(MATRIX, k),
        lambda k: fnp.triu(MATRIX, k),
        lambda k: fnp.eye(3, k=k),
        lambda k: fnp.tri(3, k=k),
    ],
)
def test_what_is_no_integer(f: Any) -> None:
    with pytest.raises(ArgumentError, match=r"fnp\.\w+: (shift|k) is f64.*; need integers"):
        funcgrad.jit(f)(1.5)


def test_what_is_no_scalar() -> None:
    with pytest.raises(ShapeError, match=r"fnp\.tril: k has shape \[2\]; need a scalar"):
        funcgrad.jit(lambda k: fnp.tril(MATRIX, k))(np.array([1, 2]))
    with pytest.raises(ShapeError, match=r"fnp\.roll: .* differ in length"):
        funcgrad.jit(lambda k: fnp.roll(MATRIX, k, axis=(0, 1)))(np.array([1, 2, 3]))


# ---------------------------------------------------------------- sizes are to be known

SIZES: dict[str, Callable[[Any], Any]] = {
    "zeros: shape": lambda n: fnp.zeros(n),
    "ones: shape": lambda n: fnp.ones((2, n)),
    "empty: shape": lambda n: fnp.empty([n]),
    "full: shape": lambda n: fnp.full(n, 1.0),
    "full: shape of": lambda n: fnp.full(n, 1.0 * n),
    "zeros_like: shape": lambda n: fnp.zeros_like(ROW, shape=n),
    "full_like: shape": lambda n: fnp.full_like(ROW, 1.0, shape=(n,)),
    "eye: N": lambda n: fnp.eye(n),
    "eye: M": lambda n: fnp.eye(2, n),
    "identity: n": lambda n: fnp.identity(n),
    "tri: N": lambda n: fnp.tri(n),
    "tri: M": lambda n: fnp.tri(2, n),
    "arange: start, stop and step": lambda n: fnp.arange(n),
    "arange: start, stop and step of": lambda n: fnp.arange(0, 9, n),
    "linspace: num": lambda n: fnp.linspace(0.0, 1.0, n),
    "logspace: num": lambda n: fnp.logspace(0.0, 1.0, n),
    "geomspace: num": lambda n: fnp.geomspace(1.0, 2.0, n),
    "indices: dimensions": lambda n: fnp.indices((n, 2)),
    "kaiser: M": lambda n: fnp.kaiser(n, 2.0),
    "reshape: shape": lambda n: fnp.reshape(MATRIX, (n, -1)),
    "reshape: shape of": lambda n: (ROW[:3] * n).reshape(n),
    "broadcast_to: shape": lambda n: fnp.broadcast_to(1.0, (n,)),
    "resize: new_shape": lambda n: fnp.resize(ROW, n),
    "tile: reps": lambda n: fnp.tile(ROW, n),
    "repeat: repeats": lambda n: fnp.repeat(ROW, n),
    "sum: axis": lambda n: fnp.sum(MATRIX, axis=n - 3),
    "concatenate: axis": lambda n: fnp.concatenate([MATRIX, MATRIX], axis=n - 3),
    "diag: k": lambda n: fnp.diag(MATRIX, n - 2),
    "diag: k of": lambda n: fnp.diag(ROW, n),
    "diagonal: offset": lambda n: fnp.diagonal(MATRIX, n - 2),
    "trace: offset": lambda n: fnp.trace(MATRIX, n - 2),
    "rot90: k": lambda n: fnp.rot90(MATRIX, n),
    "bincount: minlength": lambda n: fnp.bincount(np.array([0, 1, 1]), minlength=n),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_traced_size_is_named(name: str) -> None:
    f, said = SIZES[name], name.removesuffix(" of")
    found = rf"fnp\.{said} must be known while tracing, since the shape.*jit: static_argnums"
    for traced in (funcgrad.jit(f), lambda n: funcgrad.vmap(f)(np.array([n]))):
        with pytest.raises(ConcretizationError, match=found):
            traced(3)
    static = funcgrad.jit(f, static_argnums=0)(3)
    np.testing.assert_array_equal(static, f(3))


def test_a_traced_number_of_classes_is_named() -> None:
    with pytest.raises(ConcretizationError, match=r"nn\.one_hot: num_classes must be known"):
        funcgrad.jit(lambda n: funcgrad.nn.one_hot(np.array([0, 2]), n))(3)


# ---------------------------------------------------------------- flat places


@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    order=st.sampled_from(["C", "F"]),
    seed=st.integers(0, 99),
    data=st.data(),
)
@settings(deadline=None, max_examples=25)
def test_flat_places_may_be_traced(
    shape: tuple[int, ...], order: Any, seed: int, data: Any
) -> None:
    rng = np.random.default_rng(seed)
    flat = rng.integers(0, np.prod(shape), 5)
    apart = lambda i: fnp.unravel_index(i, shape, order)  # noqa: E731
    expected = np.unravel_index(flat, shape, order)
    for found in (funcgrad.jit(apart)(flat), funcgrad.vmap(apart)(flat)):
        np.testing.assert_array_equal(found, expected)
    modes = data.draw(st.tuples(*[st.sampled_from(["wrap", "clip"]) for _ in shape]))
    places = tuple(rng.integers(-6, 9, 5) for _ in shape)
    joined = lambda *p: fnp.ravel_multi_index(p, shape, modes, order)  # noqa: E731
    expected = np.ravel_multi_index(places, shape, modes, order)
    for found in (funcgrad.jit(joined)(*places), funcgrad.vmap(joined)(*places)):
        np.testing.assert_array_equal(found, expected)


def test_flat_places_that_do_not_exist() -> None:
    found = funcgrad.jit(lambda i: fnp.unravel_index(i, (2, 3)))(np.array([-4, 9]))
    np.testing.assert_array_equal(found, [[0, 1], [0, 2]])
    with pytest.raises(ConcretizationError, match="mode='raise' cannot be kept; give mode='clip'"):
        funcgrad.jit(lambda i: fnp.ravel_multi_index((i, 0), (2, 3)))(1)
    for bad in (
        lambda i: fnp.ravel_multi_index((i, 0), (2, 3), mode="last"),
        lambda i: fnp.ravel_multi_index((i, 0, 0), (2, 3), mode="clip"),
        lambda i: fnp.unravel_index(i, (2, 3), order="A"),
        lambda i: fnp.unravel_index(i * 1.5, (2, 3)),
    ):
        with pytest.raises(ArgumentError, match=r"fnp\.(un)?ravel"):
            funcgrad.jit(bad)(1)


REDUCTIONS = ("sum", "prod", "mean", "var", "std", "max", "min", "all", "any")


@pytest.mark.parametrize("name", [*REDUCTIONS, "nansum", "nanmean", "nanmax", "nanstd"])
def test_no_mask_is_none_for_functions_and_refused_for_numpy(name: str) -> None:
    """NumPy takes ``where=None`` for False: a sum is 0. JAX's code means that nothing is left out."""
    x = np.array([1.5, 0.5, 3.0])
    f = getattr(fnp, name)
    np.testing.assert_array_equal(f(x, where=None), f(x))
    if name not in ("all", "any"):
        found = funcgrad.grad(lambda x: f(x, where=None))(x)
        np.testing.assert_array_equal(found, funcgrad.grad(f)(x))
    with pytest.raises(ArgumentError, match="where=None: NumPy takes None for False"):
        funcgrad.make_jaxpr(lambda x: getattr(np, name)(x, where=None))(x)
    if name in REDUCTIONS:
        with pytest.raises(ArgumentError, match="where=None: NumPy takes None for False"):
            funcgrad.make_jaxpr(lambda x: getattr(x, name)(where=None))(x)


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.logaddexp])
def test_no_mask_is_refused_for_reductions_by_ufuncs(ufunc: np.ufunc) -> None:
    x = np.array([1.5, 0.5, 3.0])
    assert ufunc.reduce(x, where=None, initial=2.0) == 2.0
    with pytest.raises(ArgumentError, match="where=None: NumPy takes None for False"):
        funcgrad.grad(lambda x: ufunc.reduce(x, where=None, initial=2.0))(x)


LIKE: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: np.array([x[0], x[1] * x[0]], like=x),
    "asarray": lambda x: np.asarray([[x[0], 3.0]], like=x),
    "full": lambda x: np.full(3, x[0], like=x),
    "zeros": lambda x: filled(np.zeros(2, like=x), x),
    "ones": lambda x: filled(np.ones(2, like=x), x),
    "empty": lambda x: filled(np.empty(1, like=x), x),
    "eye": lambda x: filled(np.eye(2, like=x), x),
    "arange": lambda x: filled(np.arange(3.0, like=x), x),
}


def filled(z: Any, x: Any) -> Any:
    z[0] = x[0] * x[1]
    return z


@pytest.mark.parametrize("f", LIKE.values(), ids=LIKE)
def test_arrays_are_made_of_traced_values_by_like(f: Callable[[Any], Any]) -> None:
    x = np.array([1.5, -0.5])
    expected = f(x)
    assert type(expected) is np.ndarray
    np.testing.assert_array_equal(funcgrad.jit(f)(x), expected)
    np.testing.assert_array_equal(funcgrad.vmap(f)(x[None])[0], expected)
    funcgrad.testing.check_grads(f, (x,))
