"""Reductions along short axes are NumPy's: to the last bit by slices, to rounding by products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.short import FEW, LEAST, MOST, SHORT, accumulated, reduced

UFUNCS = [np.add, np.multiply, np.maximum, np.minimum]


@st.composite
def arrays(draw: Any) -> Any:
    """Two or three axes, one of them short, in any order in memory, with infinite ones and NaN."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([1, 2, 3, FEW - 1, FEW, MOST, MOST + 1, SHORT, SHORT + 1]))
    lead = draw(st.sampled_from([(0,), (5,), (LEAST,), (3, LEAST), (2000,)]))
    shape = (*lead, n) if draw(st.booleans()) else (n, *lead)
    x = rng.normal(size=shape)
    x[rng.random(shape) < draw(st.sampled_from([0, 0.01]))] = rng.choice([np.inf, np.nan, 0.0])
    order = draw(st.permutations(range(len(shape))))
    x = np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
    dtype = draw(st.sampled_from(["f8", "f4", "f2", "i8", "i2", "u4", "?", "c8", "c16", "M8[s]"]))
    with np.errstate(invalid="ignore"):
        return (8 * x).astype("i8").astype(dtype) if dtype == "M8[s]" else (4 * x).astype(dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
@given(x=arrays(), first=st.booleans(), keepdims=st.booleans())
def test_reduced(ufunc: Any, x: Any, first: bool, keepdims: bool) -> None:
    axis = (0,) if first else (x.ndim - 1,)
    try:
        expected = ufunc.reduce(x, axis, keepdims=keepdims)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            reduced(ufunc, x, axis, keepdims)
        return
    found = reduced(ufunc, x, axis, keepdims)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    if ufunc is not np.add or x.shape[axis[0]] < FEW or x.dtype.char not in "fd":
        np.testing.assert_array_equal(found, expected)
    else:
        near = 1e-12 if x.dtype == float else 1e-4
        np.testing.assert_allclose(found, expected, rtol=near, atol=near * x.shape[axis[0]])


@pytest.mark.parametrize("n", [3, 10])
def test_printed_programs_reduce_alike(n: int) -> None:
    x = np.random.default_rng(0).normal(size=(1000, n))

    def f(x: Any) -> Any:
        return np.sum(np.sqrt(np.sum(x**2, axis=1)) * np.max(x, axis=1)) + np.sum(
            np.sum(x, axis=0) ** 2
        )

    with funcgrad.config("numpy"):
        step = funcgrad.jit(funcgrad.value_and_grad(f))
        assert "reduced(np_add" in step.lower(x).code
        value, slope = step(x)
    expected = funcgrad.value_and_grad(f)(x)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(slope, expected[1], rtol=1e-11, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ufunc", [*UFUNCS, np.logaddexp], ids=lambda ufunc: ufunc.__name__)
@given(x=arrays(), first=st.booleans())
def test_accumulated(ufunc: Any, x: Any, first: bool) -> None:
    axis = 0 if first else x.ndim - 1
    if ufunc is np.logaddexp and x.dtype.char not in "fd":
        return
    found = accumulated(ufunc, x, axis)
    if found is not None:
        expected = ufunc.accumulate(x, axis)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_sums_and_products_go_by_columns(name: str) -> None:
    x = np.random.default_rng(0).normal(size=(LEAST, 3))
    run = getattr(np, name)
    f = lambda x: (run(x, axis=1) ** 2).sum()  # noqa: E731
    rows = np.stack([funcgrad.grad(lambda row: (run(row) ** 2).sum())(row) for row in x])
    np.testing.assert_allclose(funcgrad.grad(f)(x), rows, rtol=1e-12)
    ufunc = {"cumsum": np.add, "cumprod": np.multiply}[name]
    np.testing.assert_array_equal(accumulated(ufunc, x, 1), run(x, axis=1))
