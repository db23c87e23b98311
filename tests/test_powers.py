"""Powers to whole and half numbers are products and roots, eagerly, in printed NumPy and in C."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp

EXPONENTS = [n / 2 for n in range(-34, 35)]  # two beyond those that are products
WAYS = ["eager", "numpy", "c"]
FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, np.nan, -2.0, 1e-300, -1e-200, 1e150, 3.0]


def in_every_way(f: Any, *args: Any) -> dict[str, Any]:
    found = {"eager": f(*args)}
    for way in WAYS[1:]:
        with funcgrad.config(way):
            found[way] = funcgrad.jit(f)(*args)
    return found


@FLOATS
@settings(max_examples=settings().max_examples // 4)
@given(bits=st.integers(0, 2**32))
def test_within_as_many_roundings_as_the_exponent_says(dtype: type, bits: int) -> None:
    x = np.random.default_rng(bits).uniform(0.05, 20.0, 7).astype(dtype)
    exact = x.astype(np.longdouble)
    for y in EXPONENTS:
        found = in_every_way(lambda x, y=y: funcgrad.vjp(lambda x: x**y, x)[0], x)
        for way, value in found.items():
            assert value.dtype == dtype
            error = np.abs(value - exact**y) / exact**y / np.finfo(dtype).eps
            assert error.max() <= max(abs(y), 1), (way, y)


@pytest.mark.parametrize("y", EXPONENTS)
def test_slopes(y: float) -> None:
    x = np.linspace(0.3, 4.0, 9)
    first, second = y * x ** np.float64(y - 1), y * (y - 1) * x ** np.float64(y - 2)
    once = funcgrad.elementwise_grad(lambda x: x**y)
    for slope in in_every_way(once, x).values():
        np.testing.assert_allclose(slope, first, rtol=1e-14)
    for slope in in_every_way(funcgrad.elementwise_grad(once), x).values():
        np.testing.assert_allclose(slope, second, rtol=1e-14)


@FLOATS
@pytest.mark.parametrize("y", EXPONENTS)
def test_zeros_infinities_and_nan(dtype: type, y: float) -> None:
    """As C's `pow` says. Half powers of -inf are NaN, like those of other negative numbers."""
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL).astype(dtype)
        expected = np.power(x, np.full_like(x, y))
        if y == 0.5:
            expected = np.sqrt(x)  # NumPy's operator says -0.0 of -0.0
        for way, value in in_every_way(lambda x: fnp.power(x, y), x).items():
            np.testing.assert_allclose(value, expected, rtol=20 * np.finfo(dtype).eps, err_msg=way)
            signed = ~np.isnan(expected)
            assert np.array_equal(np.signbit(value)[signed], np.signbit(expected)[signed]), way
            if y % 1:
                assert np.isnan(fnp.power(np.array([-np.inf], dtype), y)).all() or abs(y) > 16


def test_integers_halves_and_complex_numbers_are_as_numpy_says() -> None:
    for x in (np.array([3, -2]), np.array([1.5, 3.3], np.float16), np.array([1 + 2j, 3.0])):
        for value in in_every_way(lambda x: x**5, x).values():
            assert value.dtype == x.dtype
            np.testing.assert_allclose(value, x**5, rtol=1e-15)
    with pytest.raises(ValueError, match="negative"):
        fnp.power(np.array([2, 3]), -3)


def test_slopes_by_exponents_of_powers_of_zero() -> None:
    """``x**y log(x)`` as x goes to 0: 0 for y > 0, minus infinity below, 0 at 0 by choice."""
    y = np.array([-2.5, -1.0, 0.0, 0.5, 3.0])
    expected = [-np.inf, -np.inf, 0.0, 0.0, 0.0]
    for base in (0.0, np.zeros(5)):
        with np.errstate(divide="ignore"):
            found = in_every_way(funcgrad.grad(lambda y, b=base: fnp.sum(b**y)), y)
        for value in found.values():
            np.testing.assert_array_equal(value, expected)
