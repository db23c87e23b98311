"""`funcgrad.scipy.special` in single precision: what double precision gives, rounded."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.scipy import special

pytest.importorskip("scipy")

PLACES = [1e-20, 1e-8, 1e-3, 0.3, 1.0, 3.3, 12.0, 90.0, 1e8, 1e19]
SIGNED = [*PLACES, *(-x for x in PLACES)]
SHAPES = [1e-20, 1e-8, 1e-3, 0.5, 1.7, 11.0, 100.0, 1e8, 1e15]

ROUNDED: dict[str, tuple[list[float], ...]] = {
    "elliprc": (PLACES, SIGNED),
    "elliprd": (PLACES, PLACES, PLACES),
    "elliprf": (PLACES, PLACES, PLACES),
    "elliprg": (PLACES, PLACES, PLACES),
    "elliprj": (PLACES[1::2], PLACES[::3], PLACES[::2], SIGNED[::3]),
    "fdtr": (SHAPES, SHAPES, PLACES),
    "fdtrc": (SHAPES, SHAPES, PLACES),
    "gdtr": (PLACES, SHAPES, PLACES),
    "gdtrc": (PLACES, SHAPES, PLACES),
    "kl_div": ([0.5, 0.99, 1.0], [0.5, 0.99, 1.0]),
    "pseudo_huber": (PLACES, SIGNED),
    "stdtr": (SHAPES, SIGNED),
    "voigt_profile": (SIGNED, PLACES[3:8], PLACES[3:8]),
}


def value_and_slopes(f: Callable[..., Any], args: list[Any]) -> list[Any]:
    slopes = funcgrad.grad(lambda *a: f(*a).sum(), argnums=tuple(range(len(args))))(*args)
    return [f(*args), *slopes]


@np.errstate(all="ignore")
@pytest.mark.parametrize("name", ROUNDED)
def test_formulas_of_several_steps(name: str) -> None:
    f = getattr(special, name)
    single = [np.array(x, np.float32) for x in zip(*product(*ROUNDED[name]), strict=True)]
    found = value_and_slopes(f, single)
    expected = value_and_slopes(f, [x.astype(np.float64) for x in single])
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_array_equal(one, other.astype(np.float32))


@np.errstate(over="ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ratios_that_overflow_have_logarithms(dtype: Any) -> None:
    large = 1e30 if dtype == np.float32 else 1e200
    x, y = np.array([large, 1 / large], dtype), np.array([1 / large, large], dtype)
    slope = funcgrad.grad(lambda x: special.rel_entr(x, y).sum())(x)
    np.testing.assert_allclose(slope, 1 + np.log(x) - np.log(y), rtol=1e-6)
    assert funcgrad.grad(special.rel_entr)(0.0, 0.0) == 0.0


@given(x=st.floats(-5.0, 1e4, width=32))
def test_derivatives_of_the_scaled_error_function(x: float) -> None:
    """Up to where its asymptotic series begins they are what large terms leave."""
    first, second = funcgrad.grad(special.erfcx), funcgrad.hessian(special.erfcx)
    for f in (first, second):
        found = f(np.float32(x))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, f(np.float64(x)), rtol=3e-7)


@pytest.mark.parametrize("order", [1e-8, 1e-5, 1e-3])
def test_slopes_of_small_orders(order: float) -> None:
    """``iv(v, z)`` is ``(z / 2)**v`` for small z, whose slope ``v / z`` a rounded ``v - 1`` loses."""
    v, z = np.float32(order), np.float32(1e-8)
    slope = funcgrad.grad(special.iv, 1)(v, z)
    np.testing.assert_allclose(slope, v / z * special.iv(v, z), rtol=1e-5)
    wide = funcgrad.grad(special.ive, 1)(float(v), float(z))
    np.testing.assert_allclose(funcgrad.grad(special.ive, 1)(v, z), wide, rtol=1e-6)


def test_slopes_by_orders_in_single_precision() -> None:
    v, z = np.array([1e-8, 3.3, 11.0], np.float32), np.array([12.0, 90.0, 90.0], np.float32)
    for f in (special.iv, special.ive):
        slope = funcgrad.grad(lambda v, f=f: f(v, z).sum())
        expected = slope(v.astype(np.float64))
        np.testing.assert_allclose(slope(v), expected, rtol=1e-6)
