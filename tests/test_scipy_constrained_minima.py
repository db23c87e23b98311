"""`minimize` under constraints: SciPy's minima, with derivatives of the equations that hold."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import optimize

theirs = pytest.importorskip("scipy.optimize")

pytestmark = [  # SciPy's, of steps it takes
    pytest.mark.filterwarnings("ignore:delta_grad == 0.0"),
    pytest.mark.filterwarnings("ignore:Singular Jacobian"),
]

METHODS: dict[str, dict[str, Any]] = {
    "SLSQP": {"tol": 1e-14, "options": {"maxiter": 500}},
    "trust-constr": {"options": {"gtol": 1e-12, "xtol": 1e-14, "barrier_tol": 1e-13, "maxiter": 900}},
}  # fmt: skip
methods = pytest.mark.parametrize("method", list(METHODS))


def loss(x: Any, c: Any) -> Any:
    return fnp.sum((x - c) ** 2) + 0.1 * fnp.sum(x**4) + fnp.sin(x[0] * x[1])


def near(x: Any, c: Any) -> Any:
    return fnp.sum((x - c) ** 2)


def differences(f: Any, x: Any, step: float = 1e-4) -> Any:
    """The Jacobian, by central differences."""
    columns = [(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(x.size)]
    return np.stack(columns, axis=-1)


C = np.array([1.2, -0.4, 0.7])
# equality, one that binds and one that does not, two-sided, linear, and bounds
CASES: dict[str, Any] = {
    "equal": lambda c: {"constraints": {"type": "eq", "fun": lambda x: x[0] * x[1] - c[2]}},
    "binding": lambda c: {
        "constraints": [
            {"type": "ineq", "fun": lambda x: 0.5 * c[0] ** 2 - x @ x},
            {"type": "ineq", "fun": lambda x: 99.0 - x.sum()},
        ]
    },
    "two sides": lambda c: {
        "constraints": optimize.NonlinearConstraint(
            lambda x: fnp.stack([x[0] + c[1] * x[1], x @ x]), [-9.0, 0.0], [0.3, 1.1]
        )
    },
    "linear": lambda c: {
        "constraints": [
            optimize.LinearConstraint([[1.0, 1.0, 1.0]], 1.0, 1.0),
            optimize.LinearConstraint([[1.0, -1.0, 0.0]], -np.inf, 0.2),
        ]
    },
    "bounds": lambda c: {
        "constraints": {"type": "eq", "fun": lambda x, k: fnp.sum(x) - k, "args": (1.5,)},
        "bounds": [(None, 0.5), (0.1, None), (None, None)],
    },
}  # fmt: skip


@methods
@pytest.mark.parametrize("case", list(CASES))
def test_minima_under_constraints(method: str, case: str) -> None:
    options = {"method": method, **METHODS[method]}

    def at(c: Any) -> Any:
        start = np.array([0.4, 0.5, 0.3])
        return optimize.minimize(loss, start, (c,), **CASES[case](c), **options).x

    with np.errstate(all="ignore"):
        x = at(C)
        best = theirs.minimize(
            lambda x: loss(x, C), [0.4, 0.5, 0.3], **CASES[case](C), **METHODS["SLSQP"]
        )
        np.testing.assert_allclose(x, best.x, atol=2e-5)
        expected = differences(at, C)
        for t in (funcgrad.jacrev, funcgrad.jacfwd, lambda f: funcgrad.jit(funcgrad.jacrev(f))):
            np.testing.assert_allclose(t(at)(C), expected, rtol=1e-3, atol=1e-3)


@given(st.integers(2, 5), st.integers(0, 99), st.sampled_from(["eq", "ineq"]), st.floats(-1.0, 1.0))
def test_the_nearest_point_of_a_plane(n: int, seed: int, kind: str, c: float) -> None:
    """It has a formula; an inequality that holds anyway changes nothing."""
    rng = np.random.default_rng(seed)
    normal, p = rng.normal(size=n), rng.normal(size=n)

    def found(c: Any, p: Any) -> Any:
        plane = {"type": kind, "fun": lambda x: normal @ x - c}
        return optimize.minimize(near, np.zeros(n), (p,), constraints=plane, tol=1e-12).x

    def exact(c: Any, p: Any) -> Any:
        off = c - normal @ p
        off = fnp.maximum(off, 0.0) if kind == "ineq" else off
        return p + off / (normal @ normal) * normal

    if abs(c - normal @ p) < 1e-2:  # a kink
        return
    for order in (found, lambda *a: funcgrad.jacrev(found, (0, 1))(*a)):
        expected = exact if order is found else funcgrad.jacrev(exact, (0, 1))
        for x, y in zip(order(c, p), expected(c, p), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)


def test_second_derivatives_and_many_at_once() -> None:
    def on_sphere(c: Any) -> Any:
        ball = {"type": "eq", "fun": lambda x: x @ x - c @ c / 4.0}
        return optimize.minimize(near, np.full(2, 0.1), (c**2,), constraints=ball, tol=1e-14).x

    def exact(c: Any) -> Any:
        p = c**2
        return p * fnp.sqrt(c @ c / 4.0 / (p @ p))

    c = np.array([0.8, 1.3])
    found = funcgrad.jacfwd(funcgrad.jacrev(on_sphere))(c)
    np.testing.assert_allclose(found, funcgrad.jacfwd(funcgrad.jacrev(exact))(c), atol=1e-5)
    rows = np.stack([c, c[::-1], 2 * c])
    found = funcgrad.vmap(funcgrad.jacrev(on_sphere))(rows)
    np.testing.assert_allclose(found, funcgrad.vmap(funcgrad.jacrev(exact))(rows), atol=1e-6)
    single = c.astype(np.float32)
    assert (
        funcgrad.jit(
            lambda c: (
                optimize.minimize(
                    near, single, (c,), constraints={"type": "eq", "fun": lambda x: x[0] - c[1]}
                ).x
            )
        )(single).dtype
        == np.float32
    )


def test_derivatives_given_by_hand() -> None:
    """The same with a jac of one's own, of the function and of the constraint."""
    calls = []

    def slope(x: Any) -> Any:
        calls.append(1)
        return fnp.stack([x[1], x[0]])

    def at(c: Any) -> Any:
        curve = {"type": "eq", "fun": lambda x: x[0] * x[1] - c, "jac": slope}
        return optimize.minimize(
            near, np.ones(2), (np.array([1.0, 2.0]),), jac=lambda x, p: 2 * (x - p),
            constraints=[curve], tol=1e-13,
        ).x  # fmt: skip

    expected = differences(lambda c: at(c[0]), np.array([1.4]))[:, 0]
    assert calls
    np.testing.assert_allclose(funcgrad.jacrev(at)(1.4), expected, rtol=1e-5)


@methods
def test_without_a_transform_it_is_scipys(method: str) -> None:
    """With our derivatives in place of differences; its result says what SciPy's does."""
    given = CASES["binding"](C)
    found = optimize.minimize(loss, np.full(3, 0.1), (C,), method=method, **given)
    expected = theirs.minimize(loss, np.full(3, 0.1), (C,), method=method, **given)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-3)
    assert set(found) == set(expected) and found.success


def test_what_was_not_found_has_no_derivative() -> None:
    def at(c: Any) -> Any:
        far = {"type": "ineq", "fun": lambda x: c - x[0]}
        return optimize.minimize(
            near, np.zeros(2), (np.full(2, 3.0),), constraints=far, options={"maxiter": 1}
        ).x[0]

    def impossible(c: Any) -> Any:
        none = {"type": "eq", "fun": lambda x: x @ x + c}
        return optimize.minimize(near, np.ones(2), (np.ones(2),), constraints=none).x[0]

    assert np.isnan(funcgrad.grad(at)(1.0)) or abs(funcgrad.grad(at)(1.0) - 1.0) < 1e-6
    with contextlib.suppress(np.linalg.LinAlgError):
        assert np.isnan(funcgrad.grad(impossible)(1.0))


def test_refusals() -> None:
    def at(**constraint: Any) -> Any:
        return lambda c: optimize.minimize(near, np.ones(2), (c,), constraints=constraint).x[0]

    with pytest.raises(ArgumentError, match="a constraint has the type 'le'"):
        funcgrad.grad(at(type="le", fun=fnp.sum))(1.0)
    with pytest.raises(ShapeError, match="a constraint gives"):
        funcgrad.grad(at(type="eq", fun=lambda x: x[:, None]))(1.0)
    with pytest.raises(ArgumentError, match="a constraint is int"):
        optimize.minimize(near, np.ones(2), (1.0,), constraints=[3])
    twice = [{"type": "eq", "fun": fnp.sum}, {"type": "eq", "fun": lambda x: 2.0 * fnp.sum(x)}]
    with pytest.raises(np.linalg.LinAlgError):
        funcgrad.grad(
            lambda c: optimize.minimize(
                near, np.ones(2), (c,), constraints=twice, method="trust-constr"
            ).x[0]
        )(1.0)
