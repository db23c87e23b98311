"""Derivatives of determinants: polynomials, so they are there at singular matrices, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.numpy.linalg import det

SEEDS = st.integers(0, 10**6)


def of_rank(n: int, rank: int, seed: int, *, complex_too: bool = False) -> tuple[Any, Any]:
    """A matrix, and a direction."""
    rng = np.random.default_rng(seed)
    left, right, t = (
        rng.uniform(-1, 1, shape) + 1j * complex_too * rng.uniform(-1, 1, shape)
        for shape in ((n, rank), (rank, n), (n, n))
    )
    x = left @ right
    return (x, t) if complex_too else (x.real, t.real)


def coefficients(x: Any, t: Any) -> Any:
    """Of ``det(x + s t)`` as a polynomial of s, from its values on a circle."""
    n = len(x)
    points = np.exp(2j * np.pi * np.arange(n + 1) / (n + 1))
    return np.fft.fft([np.linalg.det(x + s * t) for s in points]) / (n + 1)


def along(f: Any, t: Any, order: int) -> Any:
    """The function whose value is that derivative of `f` along `t`."""
    for _ in range(order):
        f = lambda x, f=f: funcgrad.jvp(f, (x,), (t,))[1]  # noqa: E731
    return f


@given(st.integers(1, 6), st.integers(0, 6), SEEDS, st.booleans())
def test_second_derivatives_of_any_rank(n: int, rank: int, seed: int, complex_too: bool) -> None:
    x, t = of_rank(n, min(rank, n), seed, complex_too=complex_too)
    expected = 2 * coefficients(x, t)[2] if n > 1 else 0.0
    for f in (along(det, t, 2), funcgrad.jit(along(det, t, 2))):
        np.testing.assert_allclose(f(x), expected, rtol=1e-9, atol=1e-12)
    if not complex_too:
        slope = lambda x: (funcgrad.grad(det)(x) * t).sum()  # noqa: E731
        for g in (funcgrad.grad(slope), funcgrad.jit(funcgrad.grad(slope))):
            np.testing.assert_allclose((g(x) * t).sum(), expected.real, rtol=1e-9, atol=1e-12)
        stacked = funcgrad.vmap(funcgrad.grad(slope))(np.stack([x, t]))
        np.testing.assert_allclose((stacked[0] * t).sum(), expected.real, rtol=1e-9, atol=1e-12)


@given(st.integers(0, 3), SEEDS)
def test_third_derivatives_of_small_ones(rank: int, seed: int) -> None:
    x, t = of_rank(3, rank, seed)
    np.testing.assert_allclose(along(det, t, 3)(x), 6 * np.linalg.det(t), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("exactly", [True, False])
def test_third_derivatives_of_larger_ones_are_loud(exactly: bool) -> None:
    """Where rounding hides that a matrix is singular they are NaN, forward and backward."""
    x, t = of_rank(4, 4, 0)
    np.testing.assert_allclose(along(det, t, 3)(x), 6 * coefficients(x, t)[3].real, rtol=1e-9)
    x = np.diag([1.0, 1.0, 1.0, 0.0]) if exactly else of_rank(4, 3, 0)[0]
    second = along(det, t, 2)
    for third in (lambda: along(second, t, 1)(x), lambda: funcgrad.grad(second)(x)):
        if exactly:
            with pytest.raises(np.linalg.LinAlgError):
                third()
        else:
            assert np.isnan(third()).all()


@given(SEEDS, st.integers(-20, 20))
def test_rows_of_different_sizes(seed: int, step: int) -> None:
    """Cofactors of ``r x``, r a diagonal matrix, are ``det(r) r^-1`` times those of x."""
    x, t = of_rank(4, 3, seed)
    sizes = np.exp2(step * np.arange(-1.5, 2.0)).reshape(-1, 1)
    slope = lambda x: fnp.sum(funcgrad.grad(det)(x) * t)  # noqa: E731
    for size in (sizes, sizes.T):
        scaled = lambda x, size=size: fnp.sum(funcgrad.grad(det)(x) * (t * size))  # noqa: E731
        found = funcgrad.grad(scaled)(x * size) * size
        np.testing.assert_allclose(found, funcgrad.grad(slope)(x), rtol=1e-7, atol=1e-12)
