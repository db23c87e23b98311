"""Derivatives of complex functions on their branch cuts, against differences along the cut."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp

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


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_log1p_is_as_exact_near_zero_as_its_distance_from_one(dtype: Any) -> None:
    """NumPy takes the real part from ``|1 + z|``, of which nothing is left."""
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    sizes, angles = 10.0 ** rng.uniform(-30, 1, 300), rng.uniform(-np.pi, np.pi, 300)
    z = np.concatenate([sizes * np.exp(1j * angles), sizes * 1j, sizes + 0j]).astype(dtype)
    with mpmath.workdps(60):
        expected = [mpmath.log(1 + mpmath.mpc(complex(v))) for v in z]
        eps = np.finfo(dtype).eps
        for found in (fnp.log1p(z), funcgrad.jit(fnp.log1p)(z), fnp.log1p(z.conj()).conj()):
            assert found.dtype == dtype
            for y, e, v in zip(found, expected, z, strict=True):
                tiny = np.finfo(dtype).smallest_normal
                assert abs(mpmath.mpf(float(y.real)) - e.real) <= 3 * eps * abs(e) + tiny
                assert abs(mpmath.mpf(float(y.imag)) - e.imag) <= 3 * eps * abs(e) + tiny
                if v.real >= 0:
                    assert abs(mpmath.mpf(float(y.real)) / e.real - 1) < 8 * eps or e.real < tiny
