"""`nnls`, `lsq_linear` and `leastsq` against SciPy, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import optimize
from funcgrad.testing import check_all

so = pytest.importorskip("scipy.optimize")

ONLY = ["types", "transpose", "numerical", "second order", "vmap", "jit"]


def problem(seed: int, m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, n)), rng.normal(size=m)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 5), more=st.integers(0, 3))
def test_no_negative_elements(seed: int, n: int, more: int) -> None:
    A, b = problem(seed, n + more, n)
    x, length = optimize.nnls(A, b)
    np.testing.assert_array_equal(x, so.nnls(A, b)[0])
    found, value = funcgrad.jit(optimize.nnls)(A, b)
    np.testing.assert_allclose(found, x)
    np.testing.assert_allclose(value, length, atol=1e-13)
    slopes = funcgrad.jacrev(lambda b: optimize.nnls(A, b)[0])(b)
    free = x > 0
    expected = np.zeros((n, n + more))
    expected[free] = np.linalg.pinv(A[:, free])
    np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-9 * (1 + abs(expected).max()))


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_without_negative_elements(seed: int) -> None:
    check_all(optimize.nnls, problem(seed, 5, 3), only=ONLY).raise_if_failed()


BOUNDS: list[Any] = [(-np.inf, np.inf), (0.0, np.inf), (-0.2, 0.3), (-np.inf, [0.1, -0.3, 0.2])]


@pytest.mark.parametrize("bounds", BOUNDS, ids=repr)
@pytest.mark.parametrize("method", ["trf", "bvls"])
@given(seed=st.integers(0, 10**6), more=st.integers(0, 3))
def test_between_bounds(bounds: Any, method: str, seed: int, more: int) -> None:
    A, b = problem(seed, 3 + more, 3)
    plain = optimize.lsq_linear(A, b, bounds, method)
    traced = funcgrad.jit(lambda A, b: optimize.lsq_linear(A, b, bounds, method).x)(A, b)
    exact = so.lsq_linear(A, b, bounds, "bvls").x
    for x in (plain.x, traced):
        np.testing.assert_allclose(A @ x, A @ exact, atol=1e-4)
    assert (traced >= np.asarray(bounds[0]) - 1e-12).all()
    assert (traced <= np.asarray(bounds[1]) + 1e-12).all()


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_between_bounds(seed: int) -> None:
    def f(A: Any, b: Any, low: Any, high: Any, method: str = "bvls") -> Any:
        found = optimize.lsq_linear(A, b, (low, high), method)
        return found.x, found.cost, found.fun

    args = *problem(seed, 5, 3), np.full(3, -0.2), np.array([0.1, 0.3, 0.4])
    check_all(f, args, only=ONLY).raise_if_failed()
    ways = [
        funcgrad.jacrev(lambda *xs, m=m: f(*xs, m)[0], argnums=(0, 1, 2, 3))(*args)
        for m in ("trf", "bvls")
    ]
    for one, other in zip(*ways, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


def test_at_the_border_and_where_it_is_not_one_solution() -> None:
    eye, b = np.eye(2), np.array([1.0, 0.0])
    slopes = funcgrad.jacrev(lambda b: optimize.nnls(eye, b)[0])(b)
    np.testing.assert_array_equal(slopes, [[1.0, 0.0], [0.0, 0.0]])
    same = np.ones((2, 2))
    slopes = funcgrad.jacrev(lambda b: optimize.lsq_linear(same, b).x)(b)
    assert np.isnan(slopes).all()


def test_leastsq() -> None:
    t = np.linspace(0.0, 2.0, 9)
    y = 2.0 * np.exp(-0.7 * t) + 0.05 * np.sin(9.0 * t)

    def residuals(p: Any, y: Any) -> Any:
        return p[0] * np.exp(p[1] * t) - y

    def columns(p: Any, y: Any) -> Any:
        return np.stack([np.exp(p[1] * t), p[0] * t * np.exp(p[1] * t)])

    theirs = so.leastsq(residuals, [1.0, 0.0], (y,), full_output=True)
    for options in ({}, {"Dfun": columns, "col_deriv": True}, {"diag": [2.0, 1.0]}):
        x, cov, about, message, status = optimize.leastsq(
            residuals, [1.0, 0.0], y, full_output=True, **options
        )
        np.testing.assert_allclose(x, theirs[0], rtol=1e-6)
        np.testing.assert_allclose(cov, theirs[1], rtol=1e-5)
        np.testing.assert_allclose(about["fvec"], theirs[2]["fvec"], atol=1e-7)
        assert status in (1, 2, 3, 4) and message and about["nfev"]

    def fit(y: Any) -> Any:
        return optimize.leastsq(residuals, [1.0, 0.0], y, xtol=1e-15, ftol=1e-15)[0]

    # It ends 1e-8 beside the minimum, which is too far for differences in double precision.
    check_all(fit, (y,), only=["types", "transpose", "vmap", "jit"]).raise_if_failed()
    steps = 1e-4 * np.eye(9)
    differences = [(fit(y + h) - fit(y - h)) / 2e-4 for h in steps]
    np.testing.assert_allclose(funcgrad.jacfwd(fit)(y), np.transpose(differences), atol=1e-3)
    assert int(funcgrad.jit(lambda y: optimize.leastsq(residuals, [1.0, 0.0], y)[1])(y)) in range(5)


def test_mistakes_with_least_squares() -> None:
    with pytest.raises(ShapeError, match="a number for each"):
        optimize.nnls(np.eye(2), np.ones(3))
    with pytest.raises(ArgumentError, match="lsq_solver"):
        optimize.lsq_linear(np.eye(2), np.ones(2), lsq_solver="lsmr")
    with pytest.raises(ArgumentError, match="factor=1"):
        optimize.leastsq(lambda x: x, [1.0], factor=1)
    with pytest.raises(ArgumentError, match="tol"):
        funcgrad.grad(lambda t: optimize.lsq_linear(np.eye(2), np.ones(2), tol=t).x.sum())(1e-3)
