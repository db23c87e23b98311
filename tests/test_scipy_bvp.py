"""`funcgrad.scipy.integrate.solve_bvp` against SciPy, closed forms and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ConcretizationError, FuncgradError
from funcgrad.scipy import integrate
from funcgrad.testing import check_all

si = pytest.importorskip("scipy.integrate")

MESH = np.linspace(0.0, 1.0, 6)


def bratu(c: Any, end: Any = 0.0) -> tuple[Any, Any]:
    """``y'' = -c exp(y)`` from 0 to `end`."""

    def fun(x: Any, y: Any) -> Any:
        return np.stack([y[1], -c * np.exp(y[0])])

    def bc(ya: Any, yb: Any) -> Any:
        return np.stack([ya[0], yb[0] - end])

    return fun, bc


def wave(end: Any) -> tuple[Any, Any]:
    """``y'' = -k**2 y`` with ``y(0) = 0``, ``y(1) = end`` and ``y'(0) = k``: ``y = sin(k x)``."""

    def fun(x: Any, y: Any, p: Any) -> Any:
        return np.vstack([y[1], -(p[0] ** 2) * y[0]])

    def bc(ya: Any, yb: Any, p: Any) -> Any:
        return np.stack([ya[0], yb[0] - end, ya[1] - p[0]])

    return fun, bc


def test_values_are_scipys() -> None:
    for args, p in ((bratu(1.0, 0.3), None), (wave(0.0), [6.0])):
        guess = np.zeros((2, 6))
        guess[0, 1:-1] = [1.0, 0.2, -0.2, -1.0]
        ours = integrate.solve_bvp(*args, MESH, guess, p, tol=1e-6)
        his = si.solve_bvp(*args, MESH, guess.copy(), p, tol=1e-6)
        assert ours.success and ours.status == 0 and ours.niter == his.niter
        for name in ("x", "y", "yp", "rms_residuals", *(["p"] if p else [])):
            np.testing.assert_allclose(ours[name], his[name], rtol=1e-12, atol=1e-12)
        places = np.linspace(-0.1, 1.1, 17)
        np.testing.assert_allclose(ours.sol(places), his.sol(places), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(ours.sol(places, 1), his.sol(places, 1), rtol=1e-9, atol=1e-9)


def test_derivatives_by_what_is_closed_over() -> None:
    places = np.array([0.2, 0.55])

    def f(c: Any, end: Any) -> Any:
        return integrate.solve_bvp(*bratu(c, end), MESH, np.zeros((2, 6)), tol=1e-8).sol(places)

    args = (np.array(0.8), np.array(0.3))
    check_all(f, args, only=["types", "transpose", "numerical", "second order"]).raise_if_failed()


def test_derivatives_of_parameters() -> None:
    """``y = sin(k x)``, so that ``dk / dend = 1 / cos(k)``, and so on."""

    def k(end: Any) -> Any:
        guess = np.stack([np.sin(2.9 * MESH), 2.9 * np.cos(2.9 * MESH)])
        return integrate.solve_bvp(*wave(end), MESH, guess, [2.9], tol=1e-9).p[0]

    exact = np.pi - np.arcsin(0.2)
    np.testing.assert_allclose(k(0.2), exact, rtol=1e-7)
    np.testing.assert_allclose(funcgrad.grad(k)(0.2), 1 / np.cos(exact), rtol=1e-6)
    second = np.sin(exact) / np.cos(exact) ** 3
    np.testing.assert_allclose(funcgrad.grad(funcgrad.grad(k))(0.2), second, rtol=1e-5)
    np.testing.assert_allclose(funcgrad.jacfwd(k)(0.2), 1 / np.cos(exact), rtol=1e-6)


def test_no_solution_has_no_derivative() -> None:
    """There is none beyond a c of 3.51."""

    def f(c: Any) -> Any:
        found = integrate.solve_bvp(*bratu(c), MESH, np.zeros((2, 6)), max_nodes=50)
        assert not found.success
        return found.y[0, 2]

    assert np.isnan(funcgrad.grad(f)(9.0))


def test_guesses_have_no_derivative() -> None:
    guess = np.zeros((2, 6))

    def f(y: Any) -> Any:
        return integrate.solve_bvp(*bratu(1.0), MESH, y).y[0].sum()

    assert not funcgrad.grad(f)(guess).any()
    assert not guess.any()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda s: s(*bratu(1.0), MESH, np.zeros((2, 6)), S=np.eye(2)), ArgumentError, "S="),
        (lambda s: s(*bratu(1.0), MESH, np.zeros((2, 6)) + 0j), ArgumentError, "complex"),
        (lambda s: s(*bratu(1.0), MESH, np.zeros(6)), FuncgradError, "2 axes"),
        (lambda s: s(*bratu(1.0), MESH, np.zeros((2, 5))), ValueError, "columns"),
        (lambda s: s(*bratu(1.0), MESH[::-1], np.zeros((2, 6))), ValueError, "increasing"),
        (lambda s: funcgrad.grad(lambda x: s(*bratu(1.0), x, np.zeros((2, 6))).y.sum())(MESH),
         ArgumentError, "x is traced"),
        (lambda s: funcgrad.jit(lambda c: s(*bratu(c), MESH, np.zeros((2, 6))).sol(0.5))(1.0),
         ConcretizationError, "fun closes over"),
        (lambda s: funcgrad.vmap(lambda c: s(*bratu(c), MESH, np.zeros((2, 6))).sol(0.5))(np.ones(2)),
         ConcretizationError, "fun closes over"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        call(integrate.solve_bvp)


def test_a_list_is_a_result_too() -> None:
    fun, bc = (lambda x, y: [y[1], -y[0]]), (lambda ya, yb: [ya[0], yb[0] - 1.0])
    found = integrate.solve_bvp(fun, bc, MESH, np.zeros((2, 6)), tol=1e-8)
    np.testing.assert_allclose(found.sol(0.5)[0], np.sin(0.5) / np.sin(1.0), rtol=1e-7)
    slope = funcgrad.grad(
        lambda e: integrate.solve_bvp(
            fun, lambda ya, yb: [ya[0], yb[0] - e], MESH, np.zeros((2, 6)), tol=1e-8
        ).sol(0.5)[0]
    )(2.0)
    np.testing.assert_allclose(slope, np.sin(0.5) / np.sin(1.0), rtol=1e-7)
    assert fnp.shape(found.y) == (2, len(found.x))
