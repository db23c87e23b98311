"""Taylor polynomials along a path: ``jax.experimental.jet``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.jax.experimental.jet import jet

COEFFICIENTS = st.lists(st.floats(-2, 2), min_size=2, max_size=5)


def product(a: list[float], b: list[float]) -> list[float]:
    """Of two polynomials, without what is of higher order."""
    return [math.fsum(a[j] * b[k - j] for j in range(k + 1)) for k in range(len(a))]


@settings(max_examples=20)
@given(rows=COEFFICIENTS.flatmap(lambda a: st.tuples(
    st.just(a), st.lists(st.floats(-2, 2), min_size=len(a), max_size=len(a)))))  # fmt: skip
def test_products_of_paths_are_products_of_polynomials(rows: Any) -> None:
    a, b = rows
    value, terms = jet(lambda x, y: x * y, (a[0], b[0]), (a[1:], b[1:]), factorial_scaled=False)
    np.testing.assert_allclose([value, *terms], product(a, b), rtol=1e-12, atol=1e-12)


@settings(max_examples=20)
@given(a=COEFFICIENTS)
def test_terms_are_derivatives_where_they_are_scaled(a: list[float]) -> None:
    value, terms = jet(np.sin, (a[0],), (a[1:],))
    path = lambda t: sum(c * t**k / math.factorial(k) for k, c in enumerate(a))  # noqa: E731
    f = lambda t: np.sin(path(t))  # noqa: E731
    assert value == np.sin(a[0])
    for term in terms:
        f = funcgrad.grad(f)
        np.testing.assert_allclose(term, f(0.0), rtol=1e-10, atol=1e-10)


def test_a_path_goes_there_and_back() -> None:
    x, series = np.array([0.3, 1.2]), [np.array([1.0, -0.5]), np.array([0.2, 0.1]), np.ones(2)]
    value, terms = jet(fnp.exp, (x,), (series,))
    back, found = jet(fnp.log, (value,), (terms,))
    np.testing.assert_allclose(back, x, rtol=1e-14)
    np.testing.assert_allclose(found, series, rtol=1e-12, atol=1e-12)


def test_results_may_be_trees_and_be_traced() -> None:
    def f(x: Any) -> Any:
        return jet(lambda x: {"a": x @ x, "b": (2 * x,)}, (x,), ((x, fnp.zeros_like(x)),))

    x = np.array([1.0, 2.0])
    for g in (f, funcgrad.jit(f)):
        value, terms = g(x)
        assert float(value["a"]) == 5.0
        assert [float(t) for t in terms["a"]] == [10.0, 10.0]
        assert [t.tolist() for t in terms["b"][0]] == [[2.0, 4.0], [0.0, 0.0]]
    many = funcgrad.vmap(f)(np.stack([x, 2 * x]))
    assert many[1]["a"][1].tolist() == [10.0, 40.0]
    assert funcgrad.grad(lambda x: f(x)[1]["a"][1])(x).tolist() == [4.0, 8.0]
    assert f(x.astype(np.float32))[1]["a"][0].dtype == np.float32


def test_terms_that_do_not_fit_are_told() -> None:
    with pytest.raises(ShapeError, match=r"2 points and \[1, 2\] terms"):
        jet(np.add, (1.0, 2.0), ((1.0,), (1.0, 0.0)))
    with pytest.raises(ShapeError, match="terms of"):
        jet(np.sin, (np.ones(2),), ((1.0,),))
    with pytest.raises(ArgumentError, match="a point is"):
        jet(np.sin, ([1.0, 2.0],), ((1.0,),))
