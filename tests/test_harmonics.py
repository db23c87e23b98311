"""Spherical harmonics, rows of Bessel functions, Bernoulli's numbers: SciPy, mpmath, JAX, laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError, MissingRuleError
from funcgrad.scipy import special
from funcgrad.testing import check_all

pytest.importorskip("scipy", minversion="1.15")
ss = pytest.importorskip("scipy.special")

degrees = st.integers(0, 12)


@st.composite
def points(draw: Any, dtype: str = "d") -> tuple[Any, ...]:
    """Degrees, orders (also too large ones) and angles that broadcast."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    n = rng.integers(0, draw(degrees) + 1, (3, 1))
    m = rng.integers(-n.max() - 1, n.max() + 2, 4)
    return n, m, rng.uniform(0, np.pi, 4).astype(dtype), rng.uniform(-7, 7, (3, 1)).astype(dtype)


# ---------------------------------------------------------------- spherical harmonics


@given(at=points(), single=st.booleans())
def test_harmonics_are_scipys(at: Any, single: bool) -> None:
    n, m, theta, phi = at
    expected = ss.sph_harm_y(n, m, theta, phi)
    kind = np.float32 if single else np.float64
    y = special.sph_harm_y(n, m, theta.astype(kind), phi.astype(kind))
    assert y.dtype == (np.complex64 if single else np.complex128)
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-4 if single else 1e-15)
    if not single:
        run = funcgrad.jit(lambda theta, phi: special.sph_harm_y(n, m, theta, phi))
        np.testing.assert_allclose(run(theta, phi), expected, rtol=1e-14, atol=1e-15)


@given(at=points())
def test_harmonics_are_eigenfunctions(at: Any) -> None:
    """``Y_tt + cot(t) Y_t + Y_pp / sin(t)^2 = -n (n + 1) Y``, by derivatives of both orders."""
    n, m, theta, phi = np.broadcast_arrays(*at)
    theta = np.clip(theta, 0.2, 2.9)
    ones = np.ones_like(theta)

    def along(f: Any, i: int) -> Any:
        ts = (ones, 0 * ones) if i == 0 else (0 * ones, ones)
        return lambda *x: funcgrad.jvp(f, x, ts)[1]

    f = lambda theta, phi: special.sph_harm_y(n, m, theta, phi)  # noqa: E731
    x = theta, phi
    left = along(along(f, 0), 0)(*x) + along(f, 0)(*x) / np.tan(theta)
    left = left + along(along(f, 1), 1)(*x) / np.sin(theta) ** 2
    np.testing.assert_allclose(left, -n * (n + 1) * f(*x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
@given(at=points())
def test_derivatives_are_scipys(order: int, at: Any) -> None:
    n, m, theta, phi = np.broadcast_arrays(*at)
    theta = np.clip(theta, 0.1, 3.0)
    expected = ss.sph_harm_y(n, m, theta, phi, diff_n=order)[-1]
    f = lambda x: special.sph_harm_y(n.ravel(), m.ravel(), x[0], x[1])  # noqa: E731
    x = np.stack([theta.ravel(), phi.ravel()])
    for _ in range(order):
        f = _gradient(f)
    found = f(x).reshape(*(2,) * order, *theta.shape)
    found = np.moveaxis(found, tuple(range(order)), tuple(range(-order, 0)))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def _gradient(f: Any) -> Any:
    """The derivatives by both angles in front, element by element."""

    def g(x: Any) -> Any:
        moved = [np.stack([1.0 + 0 * x[0], 0 * x[0]]), np.stack([0 * x[0], 1.0 + 0 * x[0]])]
        return np.stack([funcgrad.jvp(f, (x,), (t,))[1] for t in moved])

    return g


def test_derivatives_at_the_poles() -> None:
    phi = np.array([0.3])
    for n in range(4):
        for m in range(-n, n + 1):
            for pole, inside in ((0.0, 1e-6), (np.pi, -1e-6)):
                f = lambda t: special.sph_harm_y(n, m, t, phi)  # noqa: B023, E731
                _, slope = funcgrad.jvp(f, (np.array([pole]),), (np.ones(1),))
                around = np.array([pole + inside])
                expected = (f(around) - f(np.array([pole]))) / inside
                np.testing.assert_allclose(slope, expected, atol=1e-4)


def test_transforms_of_harmonics() -> None:
    n, m = np.array([1, 2, 3]), np.array([0, -2, 1])
    x = np.array([0.4, 1.1, 2.2]), np.array([0.3, -1.0, 2.0])
    check_all(lambda theta, phi: special.sph_harm_y(n, m, theta, phi), x).raise_if_failed()
    rows = funcgrad.vmap(special.sph_harm_y, in_axes=(0, None, None, 0))(n, 1, x[0], x[1])
    expected = ss.sph_harm_y(n[:, None], 1, x[0], x[1][:, None])
    np.testing.assert_allclose(rows, expected, rtol=1e-13, atol=1e-15)
    for mistake, error, text in (
        (lambda: special.sph_harm_y(1.0, 0, 1.0, 1.0), ArgumentError, "n must be integers"),
        (lambda: special.sph_harm_y(1, m * 1.0, 1.0, 1.0), ArgumentError, "m must be integers"),
        (lambda: special.sph_harm_y(1, 0, 1j, 1.0), ArgumentError, "complex"),
        (
            lambda: funcgrad.jvp(lambda n: special.sph_harm_y(n, 0, 1.0, 1.0), (1.0,), (1.0,)),
            (MissingRuleError, ArgumentError),
            "sph_harm_y",
        ),
    ):
        with pytest.raises(error, match=text):
            mistake()


# ---------------------------------------------------------------- Bessel functions, Bernoulli


@settings(max_examples=10)
@given(v=st.integers(0, 6), shape=st.sampled_from([(), (3,), (2, 2)]), dtype=st.sampled_from("dfD"))
def test_rows_of_bessel_functions(v: int, shape: tuple[int, ...], dtype: str) -> None:
    z = np.random.default_rng(v).uniform(-9, 9, shape).astype(dtype)
    y = special.bessel_jn(z, v=v)
    assert (y.shape, y.dtype) == ((v + 1, *shape), z.dtype)
    for k in range(v + 1):
        np.testing.assert_allclose(y[k], ss.jv(k, z), rtol=1e-5 if dtype == "f" else 1e-13)
    if dtype == "d" and shape:
        _, slope = funcgrad.jvp(lambda z: special.bessel_jn(z, v=v), (z,), (np.ones(shape),))
        expected = [ss.jvp(k, z) for k in range(v + 1)]
        np.testing.assert_allclose(slope, expected, rtol=1e-10, atol=1e-14)
        check_all(lambda z: special.bessel_jn(z, v=2, n_iter=70), (z,)).raise_if_failed()


def test_rows_of_bessel_functions_are_those_of_jax() -> None:
    jax = pytest.importorskip("jax")
    z = np.array([0.3, 1.5, 9.0])
    with jax.enable_x64(True):
        expected = jax.scipy.special.bessel_jn(z, v=4)
    np.testing.assert_allclose(special.bessel_jn(z, v=4), expected, rtol=1e-12, atol=1e-13)


def test_bernoullis_numbers() -> None:
    for n in (0, 1, 2, 3, 9, 60, 259, 270):
        found = special.bernoulli(n)
        assert (found.shape, found.dtype) == ((n + 1,), np.float64)
        np.testing.assert_allclose(found, ss.bernoulli(n)[: n + 1], rtol=1e-10)
    mpmath = pytest.importorskip("mpmath")
    exact = [float(mpmath.bernoulli(k)) for k in range(2, 259)]
    assert special.bernoulli(258)[2:].tolist() == exact
    for wrong in (-1, 1.5, "a"):
        with pytest.raises(ArgumentError, match="bernoulli"):
            special.bernoulli(wrong)
        with pytest.raises(ArgumentError, match="bessel_jn"):
            special.bessel_jn(1.0, v=wrong)
