"""Assignments and monotone fits: SciPy's, with the derivatives of what is smooth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import optimize
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.optimize")
CHECKS = ["types", "transpose", "numerical", "jit", "vmap", "second order"]


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_assignments(seed: int, n: int, m: int, maximize: bool) -> None:
    cost = np.random.default_rng(seed).normal(size=(n, m))
    found = optimize.linear_sum_assignment(cost, maximize)
    for a, b in zip(found, theirs.linear_sum_assignment(cost, maximize), strict=True):
        np.testing.assert_array_equal(a, b)


def test_sums_of_assignments_in_transforms() -> None:
    costs = np.random.default_rng(0).normal(size=(3, 4, 4))

    def least(cost: Any) -> Any:
        return fnp.sum(cost[optimize.linear_sum_assignment(cost)] ** 2)

    report = check_all(least, (costs[0],), only=CHECKS)
    assert not report.failures, str(report)
    mapped = funcgrad.vmap(funcgrad.grad(least))(costs)
    np.testing.assert_allclose(mapped, [funcgrad.grad(least)(c) for c in costs])
    with pytest.raises(ShapeError, match="need a matrix"):
        optimize.linear_sum_assignment(costs)
    with pytest.raises(ArgumentError, match="real numbers"):
        optimize.linear_sum_assignment(costs[0] * 1j)
    with pytest.raises(ValueError, match="invalid"):
        optimize.linear_sum_assignment(costs[0] * np.nan)


@given(st.integers(0, 10**6), st.integers(1, 12), st.booleans(), st.booleans())
def test_monotone_fits(seed: int, n: int, weighted: bool, increasing: bool) -> None:
    rng = np.random.default_rng(seed)
    y, w = rng.normal(size=n), rng.uniform(0.5, 2.0, n) if weighted else None
    a, b = (m.isotonic_regression(y, weights=w, increasing=increasing) for m in (optimize, theirs))
    for field in ("x", "weights", "blocks"):
        np.testing.assert_allclose(getattr(a, field), getattr(b, field), rtol=1e-10, atol=1e-12)


def test_derivatives_of_monotone_fits() -> None:
    y, w = np.array([1.0, 3.0, 2.0, 2.5, 5.0, 4.0]), np.array([1.0, 2.0, 0.5, 1.0, 1.5, 1.0])
    report = check_all(
        lambda y, w: optimize.isotonic_regression(y, weights=w).x, (y, w), only=CHECKS
    )
    assert not report.failures, str(report)
    with pytest.raises(ArgumentError, match="how many blocks"):
        funcgrad.jit(lambda y: optimize.isotonic_regression(y).weights)(y)
    with pytest.raises(ArgumentError, match="must be positive"):
        optimize.isotonic_regression(y, weights=-w)
    with pytest.raises(ShapeError, match="need rows"):
        optimize.isotonic_regression(y, weights=w[:2])


def test_callbacks_of_fits() -> None:
    seen: list[Any] = []

    def fit(c: Any, **options: Any) -> Any:
        return optimize.least_squares(lambda x: x**2 - c, [1.0], **options).x[0]

    def note(intermediate_result: Any) -> None:
        seen.append(intermediate_result.x)

    if theirs.least_squares.__code__.co_varnames.count("callback"):
        np.testing.assert_allclose(fit(4.0, callback=note), 2.0)
        assert seen
    with pytest.raises(ArgumentError, match="callback"):
        funcgrad.grad(lambda c: fit(c, callback=note))(4.0)
