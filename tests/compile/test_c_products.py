"""Matrix products in tiles: NumPy's results, however the operands lie, and code without a call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import lax
from funcgrad.compile import c_compiler, c_products
from funcgrad.compile.steps import CALL, Step, Value

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")

# How an operand lies in memory: views of the array that a program is given.
LIES = {
    "rows": lambda a: a,
    "columns": lambda a: np.swapaxes(a, -1, -2),
    "backwards": lambda a: a[..., ::-1, ::-1],
    "every other": lambda a: a[..., ::2],
}


def _made(rng: Any, shape: tuple[int, ...], lies: str, dtype: str) -> Any:
    """What looks as an array of this shape."""
    *lead, n, k = shape
    given = {"columns": (*lead, k, n), "every other": (*lead, n, 2 * k)}.get(lies, shape)
    return rng.normal(size=given).astype(dtype)


@settings(deadline=None, max_examples=40)
@given(
    sizes=st.tuples(*[st.sampled_from([2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 24, 33, 50])] * 3),
    lies=st.tuples(*[st.sampled_from(sorted(LIES))] * 2),
    dtype=st.sampled_from(["float64", "float32"]),
    lead=st.sampled_from([(), (3,), (2, 2)]),
    turned=st.booleans(),
)
def test_products(sizes: Any, lies: Any, dtype: str, lead: Any, turned: bool) -> None:
    rows, columns, terms = sizes
    rng = np.random.default_rng(sum(sizes))
    a = _made(rng, (*lead, rows, terms), lies[0], dtype)
    b = _made(rng, (terms, columns) if lead == (3,) else (*lead, terms, columns), lies[1], dtype)

    def product(a: Any, b: Any) -> Any:
        found = np.matmul(LIES[lies[0]](a), LIES[lies[1]](b))
        return np.swapaxes(found, -1, -2) + 1.0 if turned else found

    def run(a: Any, b: Any) -> Any:
        return lax.scan(lambda c, x: (c + x, product(c, b)), a, np.zeros(2, dtype))[1][1]

    compiled = funcgrad.jit(run)
    with funcgrad.config("c"):
        found = compiled(a, b)
    assert "matmul" not in compiled.code and "dot" not in compiled.code, compiled.code
    expected = product(a, b)
    assert found.dtype == expected.dtype
    scale = terms * np.finfo(dtype).eps * 10
    np.testing.assert_allclose(found, expected, atol=scale, rtol=scale)


@pytest.mark.parametrize("lies", sorted(LIES))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_blocks_of_rows(lies: str, dtype: str) -> None:
    """Of more rows than go over a strip at once, whose terms lie apart."""
    a, b = (_made(np.random.default_rng(0), s, lies, dtype) for s in ((2, 130, 9), (9, 70)))

    def run(a: Any, b: Any) -> Any:
        return lax.scan(lambda c, x: (c, LIES[lies](x) @ LIES[lies](b)), 0.0, a)[1]

    compiled = funcgrad.jit(run)
    with funcgrad.config("c"):
        found = compiled(a, b)
    assert "matmul" not in compiled.code and "dot" not in compiled.code, compiled.code
    scale = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(found, LIES[lies](a) @ LIES[lies](b), rtol=scale, atol=scale)


@settings(deadline=None, max_examples=40)
@given(
    sizes=st.tuples(*[st.sampled_from([1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 33, 70, 100])] * 2),
    lies=st.tuples(*[st.sampled_from(sorted(LIES))] * 2),
    dtype=st.sampled_from(["float64", "float32"]),
    by_left=st.booleans(),
)
def test_products_of_vectors(sizes: Any, lies: Any, dtype: str, by_left: bool) -> None:
    columns, terms = sizes
    rng = np.random.default_rng(sum(sizes))
    matrix = (terms, columns) if by_left else (columns, terms)
    a = _made(rng, matrix, lies[0], dtype)
    v = _made(rng, (1, terms), lies[1], dtype)

    def product(a: Any, v: Any) -> Any:
        a, v = LIES[lies[0]](a), LIES[lies[1]](v)[0]
        return v @ a if by_left else a @ v

    def run(a: Any, v: Any) -> Any:
        return lax.scan(lambda c, _: (c + 1, product(a, v * c)), v.dtype.type(1), length=2)[1][1]

    compiled = funcgrad.jit(run)
    with funcgrad.config("c"):
        found = compiled(a, v)
    assert "matmul" not in compiled.code and "dot" not in compiled.code, compiled.code
    expected = product(a, 2 * v)
    assert found.dtype == expected.dtype
    scale = terms * np.finfo(dtype).eps * 10
    np.testing.assert_allclose(found, expected, atol=scale, rtol=scale)


def test_products_with_one_term() -> None:
    """A vector of one element is a variable in C, and has no place."""
    x = np.random.default_rng(0).normal(size=(5, 1))

    def f(x: Any) -> Any:
        return np.sum(np.exp(x)) + np.sum(np.sin(1.5 * (x.T @ x))) + np.sum(x.T @ x)

    compiled = funcgrad.jit(funcgrad.grad(f))
    with funcgrad.config("c"):
        found = compiled(x)
    assert "dot" not in compiled.code, compiled.code
    np.testing.assert_allclose(found, funcgrad.grad(f)(x), rtol=1e-12)


def test_long_sums_of_few_rows_are_not_in_tiles() -> None:
    most = c_products.MOST_TERMS
    assert c_products.are_tiled(16, 16, most + 1, 8)
    assert c_products.are_tiled(3, 16, most, 8)
    assert not c_products.are_tiled(3, 16, most + 1, 8)
    assert not c_products.are_tiled(1, 16, 16, 8)
    assert not c_products.are_tiled(3, 3, 16, 8)


def test_sizes() -> None:
    kind = np.dtype(float)
    for x, y, out, expected in (
        ((2, 3), (3, 4), (2, 4), (2, 4, 3)),
        ((3,), (3, 4), (4,), (1, 4, 3)),
        ((5, 2, 3), (3,), (5, 2), (2, 1, 3)),
    ):
        operands = [Value(x, kind), Value(y, kind)]
        step = Step(CALL, np.matmul, operands, [Value(out, kind)], {})
        assert c_products.is_product(step) and c_products.sizes(step) == expected


def test_numbers_that_are_not_finite() -> None:
    """A vector that ends where a row does takes nothing from behind it."""
    a = np.zeros((2, 5, 10))
    a[0, 1, 3], a[1] = np.inf, np.nan
    b = np.ones((10, 9))

    def run(a: Any, b: Any) -> Any:
        return lax.scan(lambda c, x: (c, x @ b), 0.0, a)[1]

    with funcgrad.config("c"), np.errstate(all="raise"):
        found = funcgrad.jit(run)(a, b)
    with np.errstate(invalid="ignore"):  # which some kernels of BLAS say
        np.testing.assert_array_equal(found, a @ b)
