"""`fmin` and its relatives: SciPy's results where nothing is traced, derivatives where something is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError
from funcgrad.scipy import optimize

theirs = pytest.importorskip("scipy.optimize")

TIGHT: dict[str, dict[str, Any]] = {
    "fmin": {"xtol": 1e-10, "ftol": 1e-14},
    "fmin_powell": {"xtol": 1e-10, "ftol": 1e-14},
    "fmin_bfgs": {"gtol": 1e-10},
    "fmin_cg": {"gtol": 1e-10},
}
vectors = pytest.mark.parametrize("name", list(TIGHT))
numbers = pytest.mark.parametrize("name", ["brent", "golden", "fminbound"])


def bowl(x: Any, c: Any) -> Any:
    """Least at ``(c, c**2 / 2)``."""
    return (x[0] - c) ** 2 + 2.0 * (x[1] - 0.5 * c * x[0]) ** 2


def at_number(name: str, f: Any, args: Any) -> Any:
    if name == "fminbound":
        return optimize.fminbound(f, -4.0, 9.0, args, xtol=1e-10)
    return getattr(optimize, name)(f, args, tol=1e-10)


@vectors
def test_places_move_as_formulas_say(name: str) -> None:
    def at(c: Any) -> Any:
        return getattr(optimize, name)(bowl, [0.1, 0.2], args=(c,), disp=0, **TIGHT[name])

    for f in (at, funcgrad.jit(at)):
        np.testing.assert_allclose(f(1.5), [1.5, 1.125], rtol=1e-5)
        np.testing.assert_allclose(funcgrad.jacrev(f)(1.5), [1.0, 1.5], rtol=1e-5)
        np.testing.assert_allclose(funcgrad.jacfwd(f)(1.5), [1.0, 1.5], rtol=1e-5)
    rows = funcgrad.vmap(funcgrad.jacrev(at))(np.array([1.5, -2.0]))
    np.testing.assert_allclose(rows, [[1.0, 1.5], [1.0, -2.0]], rtol=1e-5)


@vectors
def test_results_are_scipys(name: str) -> None:
    """All of them, of a single further argument without a tuple, too."""
    for args in ((0.7,), 0.7):
        found = getattr(optimize, name)(bowl, [0.1, 0.2], args=args, disp=0, full_output=1)
        expected = getattr(theirs, name)(bowl, [0.1, 0.2], args=(0.7,), disp=0, full_output=1)
        assert len(found) == len(expected)
        np.testing.assert_allclose(found[0], expected[0], atol=1e-4)
        np.testing.assert_allclose(found[1], expected[1], atol=1e-8)


@numbers
def test_numbers_move_as_formulas_say(name: str) -> None:
    def at(c: Any) -> Any:
        return at_number(name, lambda x, c: fnp.cosh(x - c**2) + 0.0 * x, (c,))

    for f in (at, funcgrad.jit(at)):
        np.testing.assert_allclose(f(1.3), 1.69, rtol=1e-6)
        np.testing.assert_allclose(funcgrad.grad(f)(1.3), 2.6, rtol=1e-6)
        np.testing.assert_allclose(funcgrad.grad(funcgrad.grad(f))(1.3), 2.0, rtol=1e-5)


def test_full_results_of_numbers() -> None:
    def f(x: Any) -> Any:
        return np.cosh(x - 1.0)

    for name, args in (("brent", ()), ("golden", ()), ("fminbound", (-2.0, 5.0))):
        found = getattr(optimize, name)(f, *args, full_output=1)
        assert found == getattr(theirs, name)(f, *args, full_output=1)


def test_within_bounds() -> None:
    """A place on a bound stays; the value moves."""

    def found(c: Any, **given: Any) -> Any:
        return optimize.fmin_l_bfgs_b(
            bowl, [0.1, 0.2], args=(c,), bounds=[(None, 1.0), (None, None)], pgtol=1e-10, factr=10,
            **given,
        )  # fmt: skip

    x, least, about = found(1.5, approx_grad=True)
    assert least == pytest.approx(0.25)
    expected = theirs.fmin_l_bfgs_b(
        bowl, [0.1, 0.2], args=(1.5,), bounds=[(None, 1.0), (None, None)], approx_grad=True
    )
    np.testing.assert_allclose(x, expected[0], atol=1e-5)
    assert set(about) == set(expected[2]) and about["warnflag"] == 0
    np.testing.assert_allclose(
        funcgrad.jacrev(lambda c: found(c, approx_grad=True)[0])(1.5), [0.0, 0.5], atol=1e-7
    )
    slope = funcgrad.grad(lambda c: found(c, approx_grad=True)[1])(1.5)
    np.testing.assert_allclose(slope, 1.0, rtol=1e-6)  # of (1 - c)**2
    # with the gradient from the function itself, as the default is
    pair = lambda x, c: (bowl(x, c), funcgrad.grad(bowl)(x, c))  # noqa: E731
    at = lambda c: optimize.fmin_l_bfgs_b(pair, [0.1, 0.2], args=(c,), pgtol=1e-10, factr=10)[0]  # noqa: E731
    np.testing.assert_allclose(funcgrad.jacrev(at)(1.5), [1.0, 1.5], rtol=1e-5)


def test_gradients_of_ones_own() -> None:
    calls = []

    def slope(x: Any, c: Any) -> Any:
        calls.append(1)
        return funcgrad.grad(bowl)(x, c)

    for solve in (optimize.fmin_bfgs, optimize.fmin_cg):
        calls.clear()
        solve(bowl, [0.1, 0.2], slope, (1.5,), disp=0)
        assert calls
        at = lambda c, solve=solve: solve(bowl, [0.1, 0.2], slope, (c,), gtol=1e-10, disp=0)  # noqa: E731
        np.testing.assert_allclose(funcgrad.jacrev(at)(1.5), [1.0, 1.5], rtol=1e-5)


def test_refusals() -> None:
    for name in TIGHT:
        with pytest.raises(ArgumentError, match=f"{name}: full_output= is not supported"):
            funcgrad.jacrev(
                lambda c, name=name: getattr(optimize, name)(
                    bowl, [0.0, 0.0], args=(c,), full_output=1
                )
            )(1.0)
    with pytest.raises(ArgumentError, match="x1= is traced"):
        funcgrad.grad(lambda a: optimize.fminbound(np.cosh, a, 9.0))(1.0)
    with pytest.raises(ArgumentError, match="brent: full_output"):
        funcgrad.grad(lambda c: optimize.brent(lambda x: (x - c) ** 2, full_output=1)[0])(1.0)
    with pytest.raises(ArgumentError, match="fmin"):
        optimize.fmin(3, [0.0])
