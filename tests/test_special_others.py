"""Shifted polynomials, Legendre's functions, means and inverse probabilities beside SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError
from funcgrad.scipy import special
from funcgrad.testing import check_all

sp = pytest.importorskip("scipy.special")

CHECKS = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]
X = np.array([-0.7, 0.1, 0.85])
POLYNOMIALS = ["sh_legendre", "sh_chebyt", "sh_chebyu", "chebyc", "chebys"]


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_shifted_polynomials(name: str) -> None:
    ours, theirs = (getattr(m, f"eval_{name}") for m in (special, sp))
    for n in (0, 1, 4, np.arange(5)[:, None]):
        np.testing.assert_allclose(ours(n, X), theirs(n, X), rtol=1e-12, atol=1e-14)
    check_all(lambda x: ours(4, x), (X,), only=CHECKS).raise_if_failed()


@given(n=st.integers(0, 5), p=st.floats(1.5, 4.0), q=st.floats(0.2, 2.0))
def test_shifted_jacobi_polynomials(n: int, p: float, q: float) -> None:
    found, expected = (m.eval_sh_jacobi(n, p, q, X) for m in (special, sp))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@given(m=st.integers(-3, 4), v=st.integers(0, 6), x=st.floats(-1.0, 1.0))
def test_legendre_functions_are_scipys(m: int, v: int, x: float) -> None:
    found, expected = special.lpmv(m, v, x), sp.lpmv(m, v, x)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    if abs(x) < 0.95 and m >= 0:
        found, expected = special.lpmv(m, v + 0.5, x), sp.lpmv(m, v + 0.5, x)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("m", [-2, 0, 1, 2, 3])
def test_derivatives_of_legendre_functions(m: int) -> None:
    for v in (3, np.array([2, 3, 4])):
        check_all(lambda x, v=v: special.lpmv(m, v, x), (X,), only=CHECKS).raise_if_failed()
    with pytest.raises(ArgumentError, match=r"m=1\.5"):
        special.lpmv(1.5, 2, 0.3)


@given(n=st.integers(1, 9), x=st.floats(-20.0, 20.0))
def test_dirichlets_kernel(n: int, x: float) -> None:
    np.testing.assert_allclose(special.diric(x, n), sp.diric(x, n), rtol=1e-7, atol=1e-9)


def test_derivatives_of_dirichlets_kernel() -> None:
    for n in (1, 4, 5):
        check_all(
            lambda x, n=n: special.diric(x, n),
            (np.array([0.0, 0.3, np.pi, 2 * np.pi]),),
            only=CHECKS,
        ).raise_if_failed()
    with pytest.raises(ArgumentError, match="n=0"):
        special.diric(0.3, 0)


@given(a=st.floats(-5.0, 5.0), b=st.floats(-5.0, 5.0))
def test_means_are_scipys(a: float, b: float) -> None:
    np.testing.assert_allclose(special.agm(a, b), sp.agm(a, b), rtol=1e-13)


def test_derivatives_of_means() -> None:
    args = np.array([1.0, 2.0, -0.3, 5.0]), np.array([1.0, 0.01, -4.0, 1e9])
    check_all(special.agm, args, only=CHECKS).raise_if_failed()
    assert funcgrad.grad(lambda a: special.agm(a, a) / a)(2.0) == pytest.approx(0.0, abs=1e-15)


PROBABILITIES: dict[str, tuple[Any, ...]] = {
    "nbdtr": (np.array([0.0, 3.0, 7.0]), 4.0, np.array([0.2, 0.5, 0.9])),
    "nbdtrc": (np.array([0.0, 3.0, 7.0]), 4.0, np.array([0.2, 0.5, 0.9])),
    "chdtri": (np.array([0.7, 3.0, 40.0]), np.array([0.01, 0.4, 0.999])),
    "fdtri": (np.array([0.7, 3.0, 40.0]), 5.0, np.array([0.01, 0.4, 0.999])),
    "betainccinv": (np.array([0.7, 3.0, 9.0]), 5.0, np.array([0.01, 0.4, 0.999])),
}


@pytest.mark.parametrize("name", PROBABILITIES)
def test_probabilities_are_scipys(name: str) -> None:
    ours, theirs = getattr(special, name), getattr(sp, name)
    args = PROBABILITIES[name]
    np.testing.assert_allclose(ours(*args), theirs(*args), rtol=1e-10)
    if name.startswith("nbdtr"):
        check_all(lambda p: ours(*args[:2], p), args[2:], only=CHECKS).raise_if_failed()
    else:
        check_all(ours, tuple(map(np.asarray, args)), only=CHECKS[:-1]).raise_if_failed()
