"""Single precision stays single where NumPy's does, on plain arrays and in every transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.scipy import interpolate

X = np.array([0.5, 1.5, 2.5, 4.0], np.float32)

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "linspace": lambda x: np.linspace(x[0], x[1], 5),
    "linspace to a number": lambda x: np.linspace(x, 2, 5, axis=1),
    "logspace": lambda x: np.logspace(x[0], x[1], 3),
    "geomspace": lambda x: np.geomspace(x[0], x[1], 3),
    "round": lambda x: fnp.round(x, np.int64(1)),
    "gradient, a whole spacing": lambda x: np.gradient(x, np.int64(2)),
    "gradient, coordinates": lambda x: np.gradient(x, np.arange(4)),
    "norm": lambda x: np.linalg.norm(x, 3),
    "mean and deviation": lambda x: (x - x.mean()) / x.std(),
    "interp": lambda x: np.interp(1.2, X, x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_numpys(name: str) -> None:
    f = FUNCTIONS[name]
    expected = np.asarray(f(X))
    double = name in ("interp", "geomspace")  # which NumPy always computes in double precision
    for g in (
        funcgrad.jit(f),
        lambda x: funcgrad.vmap(f)(x[None])[0],
        lambda x: funcgrad.vjp(f, x)[0],
        lambda x: funcgrad.jvp(f, (x,), (x,))[0],
    ):
        found = np.asarray(g(X))
        assert found.dtype == (np.float64 if double else np.float32) == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert funcgrad.grad(lambda x: np.sum(f(x)))(X).dtype == np.float32


@pytest.mark.parametrize("run", [fnp.sinc, funcgrad.jit(fnp.sinc), funcgrad.vmap(fnp.sinc)])
def test_sinc_of_halves(run: Callable[[Any], Any]) -> None:
    x = np.array([0.0, 0.5, 1.0, 95.0, 100.25], np.float16)
    found = run(x)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, np.sinc(x.astype(float)), rtol=1e-3, atol=1e-7)


def test_tables() -> None:
    for fill in (np.nan, 0, (1.0, 2.0)):
        table = interpolate.interp1d(X, X**2, bounds_error=False, fill_value=fill)
        assert table(np.float32(1.0)).dtype == table(X * 2).dtype == np.float32


@pytest.mark.parametrize("order", [1, 1.5, 2, 3, 4, np.inf])
def test_norms_at_zero_have_gradient_zero(order: float) -> None:
    slope = funcgrad.grad(lambda x: np.linalg.norm(x, order))
    assert slope(np.zeros(2)).tolist() == funcgrad.jit(slope)(np.zeros(2)).tolist() == [0.0, 0.0]
    rows = np.array([[0.0, 0.0], [3.0, -4.0]])
    found = funcgrad.grad(lambda x: np.linalg.norm(x, order, axis=1).sum())(rows)
    assert np.isfinite(found).all() and found[0].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(
        fnp.linalg.norm(rows, order, axis=1), np.linalg.norm(rows, order, axis=1)
    )


def test_second_derivatives_of_determinants_are_right() -> None:
    """That by the first two elements of the diagonal is the third."""
    second = funcgrad.hessian(np.linalg.det)
    forwards = funcgrad.jacfwd(funcgrad.grad(np.linalg.det))
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]])  # of rank 2
    for shift in (0.0, 1e-6, 1.0):
        b = a + np.diag([0.0, 0.0, shift])
        for found in (second(b), forwards(b)):
            np.testing.assert_allclose(found[0, 0, 1, 1], b[2, 2], rtol=1e-8)
    np.testing.assert_allclose(second(np.eye(3) * 1e100)[0, 0, 1, 1], 1e100)


def test_parts_of_complex_numbers_are_assigned() -> None:
    def f(z: Any) -> Any:
        z = fnp.array(z)
        z.real = z.imag + 1.0
        z.imag *= 2.0
        return z

    z = np.array([1.0 + 2.0j, 3.0 - 1.0j])
    np.testing.assert_array_equal(funcgrad.jit(f)(z), f(z))
    with pytest.raises(TypeError, match="imaginary part"):
        funcgrad.jit(lambda x: setattr(x, "imag", 1.0))(np.ones(2))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x / 3.0,
        lambda x: 3.0 / x,
        lambda x: np.logaddexp(x, 0.0),
        lambda x: np.logaddexp(1.5, x),
        lambda x: np.hypot(x, 2.0),
        lambda x: np.arctan2(x, 2.0),
        lambda x: np.power(x, 2.5),
        lambda x: np.maximum(x, 2.0),
    ],
    ids=["over", "under", "logaddexp", "from", "hypot", "arctan2", "power", "maximum"],
)
def test_numbers_do_not_widen_derivatives_in_single_precision(f: Any) -> None:
    """What is made of a number only is no array of doubles in between."""
    x = np.linspace(0.5, 4, 5, dtype="f")
    programs = [
        funcgrad.make_jaxpr(funcgrad.grad(lambda x: f(x).sum()))(x),
        funcgrad.make_jaxpr(lambda t: funcgrad.jvp(f, (x,), (t,)))(x),
        funcgrad.make_jaxpr(funcgrad.hessian(lambda x: f(x).sum()))(x),
    ]
    for program in programs:
        assert "f64[5" not in str(program)
    double = funcgrad.grad(lambda x: f(x).sum())(x.astype(float))
    np.testing.assert_allclose(funcgrad.grad(lambda x: f(x).sum())(x), double, 2e-6)
