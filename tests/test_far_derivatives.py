"""Derivatives of elementwise functions far out, where the obvious formulas have no digits left."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.scipy import special, stats

pytest.importorskip("scipy")


@settings(deadline=None)
@given(x=st.floats(-700.0, 700.0))
def test_the_slope_of_expm1_keeps_its_digits(x: float) -> None:
    slope = funcgrad.grad(fnp.expm1)
    for f in (slope, funcgrad.grad(slope), funcgrad.jit(slope)):
        np.testing.assert_allclose(f(x), np.exp(x), rtol=1e-14)


def normal_slopes(mpmath: Any, x: float) -> list[float]:
    """The first three derivatives of the logarithm of the normal probability."""
    with mpmath.workdps(60 + 6 * round(math.log10(1.0 + abs(x)))):
        x = mpmath.mpf(x)
        slope = 2 * mpmath.npdf(x) / mpmath.erfc(-x / mpmath.sqrt(2))
        bend = -slope * (x + slope)
        return [float(v) for v in (slope, bend, -bend * (x + slope) - slope * (1 + bend))]


@settings(deadline=None)
@given(x=st.floats(-1e4, 30.0))
def test_slopes_of_log_ndtr(x: float) -> None:
    """The second is ``-y (x + y)`` for the first, y, which is -x but for its last digits far down."""
    mpmath = pytest.importorskip("mpmath")
    first = funcgrad.grad(special.log_ndtr)
    second = funcgrad.grad(first)
    tolerances = (
        1e-13 + 1e-15 * x * x * (x > 0),
        1e-12,
        1e-8,
    )  # the density has the error of x**2 / 2
    for f, exact, rtol in zip(
        (first, second, funcgrad.grad(second)), normal_slopes(mpmath, x), tolerances, strict=True
    ):
        np.testing.assert_allclose(f(x), exact, rtol=rtol)
    np.testing.assert_allclose(funcgrad.jit(second)(x), second(x), rtol=1e-12)


@pytest.mark.parametrize("x", [-1e20, -1e80, -1e155, -1e160, -1e300])
def test_slopes_of_log_ndtr_beyond_squares(x: float) -> None:
    first = funcgrad.grad(special.log_ndtr)
    for f in (first, funcgrad.grad(lambda x: stats.norm.logcdf(x))):
        np.testing.assert_allclose(f(x), -x, rtol=1e-15)
        np.testing.assert_allclose(funcgrad.grad(f)(x), -1.0, rtol=1e-15)
    assert funcgrad.grad(first)(-x) == 0.0
    np.testing.assert_allclose(funcgrad.hessian(stats.norm.logsf)(-x), -1.0, rtol=1e-15)
    np.testing.assert_allclose(funcgrad.hessian(stats.halfnorm.logsf)(-x), -1.0, rtol=1e-15)
