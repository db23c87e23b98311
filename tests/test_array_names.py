"""Names of NumPy whose results are texts, iterators or objects, on plain and on traced arrays."""

from __future__ import annotations

import copy
import functools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ConcretizationError, HandoverError, ShapeError
from funcgrad.testing import check_grads

X = np.random.default_rng(0).uniform(0.3, 1.9, (2, 3))
C = np.array([1.5, -0.5, 2.0])


def seen(f: Any, x: Any = X) -> Any:
    """What `f` gives for a traced value, whatever that is."""
    found = []
    funcgrad.vjp(lambda x: found.append(f(x)) or fnp.sum(x), x)
    return found[0]


# ---------------------------------------------------------------- texts and facts


@pytest.mark.parametrize("name", ["array2string", "array_repr", "array_str"])
def test_texts(name: str) -> None:
    ours, theirs = getattr(fnp, name), getattr(np, name)
    assert ours(X, precision=2) == theirs(X, precision=2)
    assert seen(lambda x: ours(x, precision=2)) == theirs(X, precision=2)
    assert seen(theirs) == theirs(X)
    assert seen(lambda x: funcgrad.vmap(lambda y: len(ours(y)) + y)(x)).shape == X.shape


def test_facts() -> None:
    for value in (3, 300, -1, 2.5, np.int8(3), X):
        assert fnp.min_scalar_type(value) == np.min_scalar_type(value)
    assert seen(fnp.min_scalar_type) == seen(np.min_scalar_type) == np.float64
    assert not fnp.may_share_memory(X, X.copy()) and fnp.may_share_memory(X, X[0])
    assert seen(lambda x: fnp.may_share_memory(x, x[0]))
    assert not seen(lambda x: fnp.may_share_memory(x, x.copy()))


# ---------------------------------------------------------------- loops over elements


def test_iterators() -> None:
    for (i, x), (j, y) in zip(fnp.ndenumerate(X), np.ndenumerate(X), strict=True):
        assert i == j and x == y
    ours, theirs = fnp.broadcast(X, C[:1]), np.broadcast(X, C[:1])
    for name in ("shape", "ndim", "nd", "size", "numiter", "index"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert [tuple(map(float, p)) for p in ours] == [tuple(map(float, p)) for p in theirs]
    check_grads(lambda x: sum(y * i[1] for i, y in fnp.ndenumerate(x)), (X,))
    check_grads(lambda x, c: sum(a * b**2 for a, b in fnp.broadcast(x, c)), (X, C))
    with pytest.raises(ShapeError, match="broadcast"):
        fnp.broadcast(X, X.T)


def _choice(a: Any, b: Any = 0.5) -> Any:
    return a * b if a > b else b**2


def test_vectorize() -> None:
    for args in ((X, C), (X, 1.0), (1.2, 0.4), (C,)):
        found, expected = fnp.vectorize(_choice)(*args), np.vectorize(_choice)(*args)
        np.testing.assert_allclose(found, expected, rtol=1e-15)
        assert np.shape(found) == np.shape(expected)
    check_grads(fnp.vectorize(_choice), (X, C))
    check_grads(lambda x: fnp.vectorize(lambda a, b: (a * b, a - b))(x, b=x[0]), (X,))
    single = fnp.vectorize(_choice, otypes=[np.float32])
    assert single(X).dtype == np.float32 and single(X[:0]).shape == (0, 3)
    assert fnp.vectorize(lambda p, x: p[0] * x, excluded=[0])([2.0, 3.0], C).tolist() == [3, -1, 4]
    with pytest.raises(ShapeError, match="otypes"):
        fnp.vectorize(_choice)(X[:0])


# ---------------------------------------------------------------- polynomials


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 99))
def test_poly1d(m: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, t = rng.uniform(0.5, 2, m + 1), rng.uniform(0.5, 2, n + 1), rng.uniform(-1, 1, 3)

    def f(poly1d: Any, a: Any, b: Any, t: Any) -> list[Any]:
        p, q = poly1d(a), poly1d(b)
        parts = [p + q, p - 2 * q, p * q, -p, p**2, p.deriv(), q.integ(2, 1.5), (q / p)[0]]
        return [r(t) for r in parts] + [p(q(t)), p.coeffs, p[0] * t]

    for x, y in zip(f(fnp.poly1d, a, b, t), f(np.poly1d, a, b, t), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)
    check_grads(lambda a, b, t: f(fnp.poly1d, a, b, t), (a, b, t))
    check_grads(lambda a, t: np.poly1d(a)(t), (a, t))


def test_poly1d_of_roots_and_of_lists() -> None:
    check_grads(lambda r: fnp.poly1d(r, True)(0.3), (C,))
    check_grads(lambda c: fnp.poly1d([c[0], 1.0, c[1]]).deriv()(c[2]), (C,))
    check_grads(lambda c: fnp.poly1d(fnp.concatenate([[0.0], c])).coeffs, (C,))
    with pytest.raises(ConcretizationError):
        funcgrad.vmap(lambda c: fnp.poly1d(c)(0.5))(X)


# ---------------------------------------------------------------- lists, indices, methods


def test_lists_of_traced_values_are_arrays() -> None:
    check_grads(lambda x: fnp.exp([x[0], 2 * x[1]]), (X,))
    check_grads(lambda x: fnp.add([x[0], x[1]], 1.0), (X,))
    check_grads(lambda x: fnp.multiply.reduce([x[0, 0], x[1, 1], 2.0]), (X,))
    with pytest.raises(TypeError):
        funcgrad.grad(lambda x: fnp.add(x))(1.0)


def test_none_is_no_element() -> None:
    """As in NumPy: code asks ``x == None`` of what may be missing."""

    def f(x: Any) -> Any:
        assert (x == None).tolist() == [False, False]  # noqa: E711
        assert (x != None).tolist() == [True, True]  # noqa: E711
        return (x * x).sum()

    assert funcgrad.grad(f)(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_plain_arrays_do_not_take_traced_indices() -> None:
    table, at = np.arange(5.0), np.array([3, 1])
    with pytest.raises(HandoverError, match=r"fnp.take\(plain, i, axis=0\)"):
        funcgrad.vmap(lambda i: table[i])(at)
    for f in (lambda i: fnp.take(table, i, axis=0), lambda i: fnp.array(table)[i]):
        assert funcgrad.vmap(f)(at).tolist() == [3.0, 1.0]


ROUNDED: dict[str, tuple[Any, Any]] = {
    "floor": (math.floor, np.floor),
    "ceil": (math.ceil, np.ceil),
    "trunc": (math.trunc, np.trunc),
    "int": (int, np.trunc),
    "round": (round, np.round),
}


@pytest.mark.parametrize("name", ROUNDED)
@given(x=st.floats(-9.0, 9.0))
def test_whole_numbers_of_known_values_are_those_of_numpys_steps(name: str, x: float) -> None:
    pythons, numpys = ROUNDED[name]

    def by(step: Any) -> Any:
        return lambda x: x**3 * step(x) + np.sin(x) * step(2.0 * x)

    for transform in (funcgrad.grad, lambda f: funcgrad.grad(funcgrad.grad(f))):
        assert transform(by(pythons))(x) == transform(by(numpys))(x)
    assert funcgrad.jvp(by(pythons), (x,), (1.0,)) == funcgrad.jvp(by(numpys), (x,), (1.0,))


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "int"])
def test_whole_numbers_need_a_value_and_a_real_one(name: str) -> None:
    step = ROUNDED[name][0]
    for transform in (funcgrad.vmap, lambda f: funcgrad.jit(funcgrad.vmap(f))):
        with pytest.raises(ConcretizationError, match=rf"{name}\(\) of a traced value"):
            transform(lambda x: x * step(x))(np.ones(2))
    with pytest.raises(HandoverError, match=r"x\.real"):
        funcgrad.grad(lambda z: step(z) * abs(z))(1.5 + 2.0j)
    with pytest.raises(TypeError):
        funcgrad.grad(lambda x: step(x) * x.sum())(np.ones(2))


def test_traced_integers_are_given_as_numbers() -> None:
    """They have no derivative that could be cut."""

    def f(x: Any) -> Any:
        i = fnp.array([[1, 4], [9, 16]])
        assert i.tolist() == [[1, 4], [9, 16]] and i.item(3) == 16 and i[0, 1].item() == 4
        assert float(i[1, 0]) == 9.0 and complex(i[0, 0]) == 1.0 and math.sqrt(i[1, 1]) == 4.0
        i[0, 0] = 5
        assert i.tolist()[0] == [5, 4]
        return (x * x).sum()

    assert funcgrad.grad(f)(np.ones(2)).tolist() == [2.0, 2.0]
    assert funcgrad.jit(funcgrad.grad(f))(np.ones(2)).tolist() == [2.0, 2.0]
    for cut in (float, complex, lambda x: x.item(), lambda x: x.tolist()):
        with pytest.raises(HandoverError, match="would cut the derivative"):
            funcgrad.grad(lambda x, cut=cut: x * cut(x))(1.0)
        with pytest.raises(ConcretizationError):
            funcgrad.vmap(lambda i, cut=cut: i * cut(i))(np.arange(2))


def test_traced_values_are_no_keys() -> None:
    """A result remembered by a traced value would be another trace's."""
    for f in (functools.cache(np.sin), lambda x: x if x in {1.0, 2.0} else 2 * x):
        with pytest.raises(HandoverError, match=r"functools\.cache"):
            funcgrad.grad(f)(1.0)
    with pytest.raises(HandoverError, match=r"int\(x\)"):
        funcgrad.grad(lambda x: [3.0, 4.0][x] * x)(1.0)


def test_traced_values_are_not_sent_to_other_processes() -> None:
    with pytest.raises(HandoverError, match=r"pickling x.*TapeTracer\(f64\[\]\).*use threads"):
        funcgrad.grad(lambda x: pickle.loads(pickle.dumps(x * x)))(1.0)
    assert funcgrad.grad(lambda x: x * copy.deepcopy(x) * copy.copy(x))(1.0) == 3.0


@given(x=st.floats(-2.0, 2.0))
def test_a_flag_that_is_traced_is_a_mask(x: float) -> None:
    """Not an integer, so what it reads is a copy that is written back."""

    def f(x: Any, flag: Any) -> Any:
        h = x * x
        h[flag(x < 0)] += 3.0 * x
        return h

    x = x or 1.0
    got = funcgrad.grad(lambda x: f(fnp.stack([x])[..., 0], lambda m: fnp.array(bool(m))))(x)
    assert np.isclose(got, 2.0 * x + 3.0 * (x < 0))


METHODS: dict[str, Any] = {
    "argpartition": lambda x: x.argpartition(1).shape,
    "astype": lambda x: x.astype(np.float32, "C", "same_kind", True, False),
    "compress": lambda x: x.compress([True, False, True], axis=1),
    "contains": lambda x: 7.0 in x,
    "device": lambda x: x.device,
    "dot": lambda x: x.dot(x.T),
    "max": lambda x: x.max(1, None, True, initial=1.0, where=x > 0.5),
    "mean": lambda x: x.mean(0, where=x > 0.2),
    "reshape": lambda x: x.reshape(3, 2, copy=True),
    "std": lambda x: x.std(1, None, None, 1, keepdims=True),
    "sum": lambda x: x.sum(1, initial=2.0, where=x > 0.5),
    "to_device": lambda x: x.to_device("cpu"),
    "trace": lambda x: x.trace(1, dtype=np.float32),
    "view": lambda x: x.view() + x.view(np.float64),
    "all": lambda x: x.all(1, where=x > 0.5),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    f = METHODS[name]
    expected, found = f(X), seen(f)
    assert np.array_equal(
        np.asarray(expected),
        np.asarray(funcgrad.stop_gradient(found))
        if isinstance(found, np.ndarray)
        else _value(found),
    )


def _value(x: Any) -> Any:
    return getattr(x, "value", x)


def test_methods_in_place() -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        y.partition(1, axis=1)
        y.put([0, 4], x[0, :2])
        y.sort(axis=0)
        return y

    assert np.array_equal(f(X), _value(seen(f)))
    check_grads(f, (X,))


@pytest.mark.parametrize("name", ["strides", "flags", "base", "data", "tobytes", "resize"])
def test_what_needs_memory(name: str) -> None:
    with pytest.raises(AttributeError, match=f"x.{name} is about the memory"):
        seen(lambda x: getattr(x, name))
    assert not seen(lambda x: hasattr(x, name))


def test_conversions_that_are_refused() -> None:
    with pytest.raises(ArgumentError, match="by the rule 'safe'"):
        seen(lambda x: x.astype(int, casting="safe"))
    with pytest.raises(HandoverError, match="use astype"):
        seen(lambda x: x.view(np.int64))
    with pytest.raises(ArgumentError, match="stays where it is"):
        seen(lambda x: x.to_device("cuda"))
    with pytest.raises(ShapeError, match="infinities"):
        fnp.asarray_chkfinite([1.0, np.nan])
    with pytest.raises(HandoverError, match=r"np\.shares_memory is not supported"):
        seen(lambda x: np.shares_memory(x, x))
