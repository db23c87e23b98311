"""Derivatives of elementwise functions far out, where the obvious formulas have no digits left."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp


@settings(deadline=None)
@given(x=st.floats(-700.0, 700.0))
def test_the_slope_of_expm1_keeps_its_digits(x: float) -> None:
    slope = funcgrad.grad(fnp.expm1)
    for f in (slope, funcgrad.grad(slope), funcgrad.jit(slope)):
        np.testing.assert_allclose(f(x), np.exp(x), rtol=1e-14)
