"""Derivatives of complex functions on their branch cuts, against differences along the cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad

CUT: Any = {
    "arccos": 1.0,
    "arcsin": 1.0,
    "arctanh": 1.0,
    "arccosh": 1.0,
    "arcsinh": 1j,
    "arctan": 1j,
}


@pytest.mark.parametrize("name", CUT)
@given(
    x=st.floats(1.01, 30.0),
    sign=st.sampled_from([1.0, -1.0]),
    side=st.sampled_from([0.0, -0.0, 1e-300, -1e-300, 0.3, -0.3]),
)
def test_slopes_on_a_cut_are_those_of_its_side(
    name: str, x: float, sign: float, side: float
) -> None:
    """The sign of a zero says which side; values along the cut have the slope of that side."""
    f, along = getattr(np, name), CUT[name]

    def point(x: float) -> Any:
        return np.complex128(complex(x, side) if along == 1.0 else complex(side, x))

    x, h = sign * x, 1e-5 * (x - 1.0)
    slope = (f(point(x + h)) - f(point(x - h))) / (2 * h * along)
    assert np.isclose(funcgrad.jvp(f, (point(x),), (np.complex128(1),))[1], slope, 1e-4)
    got = funcgrad.grad(f, holomorphic=True)(point(x))
    assert np.isclose(got, slope, 1e-4)
    second = funcgrad.grad(funcgrad.grad(f, holomorphic=True), holomorphic=True)
    like = funcgrad.grad(f, holomorphic=True)
    change = (like(point(x + h)) - like(point(x - h))) / (2 * h * along)
    assert np.isclose(second(point(x)), change, 1e-3)
