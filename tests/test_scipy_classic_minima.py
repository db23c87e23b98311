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


def walled(name: str, c: Any) -> Any:
    """The least of `bowl` where ``x[0] + x[1]`` is `c`, or for `fmin_tnc` where x[0] is at most 1."""
    start, solve = [0.1, 0.2], getattr(optimize, name)
    if name == "fmin_ncg":
        return solve(bowl, start, args=(c,), avextol=1e-12, disp=0)
    if name == "fmin_tnc":
        walls = [(None, 1.0), (None, None)]
        return solve(bowl, start, args=(c,), approx_grad=1, bounds=walls, pgtol=1e-12, ftol=1e-15)[
            0
        ]
    if name == "fmin_slsqp":
        line = lambda x, c: x[0] + x[1] - c  # noqa: E731
        return solve(bowl, start, [line], args=(c,), acc=1e-14, iprint=0)
    below = lambda x, c: c - x[0] - x[1]  # noqa: E731
    return solve(bowl, start, [below], args=(c,), rhoend=1e-9, catol=1e-9)


def on_line(c: float) -> tuple[Any, Any]:
    """The least of `bowl` on the line and how it moves with `c`, by what its gradient says."""
    p = 1.0 + 0.5 * c
    x = (c + 2.0 * p * c) / (1.0 + 2.0 * p * p)
    top, bottom = 3.0 * c + c * c, 1.0 + 2.0 * p * p
    slope = (3.0 + 2.0 * c) / bottom - top * 2.0 * p / bottom**2
    return np.array([x, c - x]), np.array([slope, 1.0 - slope])


@pytest.mark.parametrize("name", ["fmin_ncg", "fmin_tnc", "fmin_slsqp", "fmin_cobyla"])
def test_places_at_walls_move_as_formulas_say(name: str) -> None:
    expected = {"fmin_ncg": ([1.5, 1.125], [1.0, 1.5]), "fmin_tnc": ([1.0, 0.75], [0.0, 0.5])}
    place, slope = expected.get(name, on_line(1.5))
    for f in (lambda c: walled(name, c), funcgrad.jit(lambda c: walled(name, c))):
        np.testing.assert_allclose(f(1.5), place, rtol=2e-5)
        np.testing.assert_allclose(funcgrad.jacrev(f)(1.5), slope, rtol=2e-4, atol=1e-7)


def test_results_at_walls_are_scipys() -> None:
    x0, slope = [0.1, 0.2], funcgrad.grad(bowl)
    for solve in (optimize, theirs):
        ncg = solve.fmin_ncg(bowl, x0, slope, args=(0.7,), disp=0, full_output=1)
        np.testing.assert_allclose(ncg[0], [0.7, 0.245], atol=1e-4)
        assert len(ncg) == 6 and ncg[5] == 0
        tnc = solve.fmin_tnc(bowl, x0, slope, args=(0.7,), messages=0)
        np.testing.assert_allclose(tnc[0], [0.7, 0.245], atol=1e-3)
        assert len(tnc) == 3
        row = lambda x, c: np.array([x[0] + x[1] - c])  # noqa: E731
        found = solve.fmin_slsqp(
            bowl, x0, f_eqcons=row, fprime=slope, args=(0.7,), iprint=0, full_output=1
        )
        np.testing.assert_allclose(found[0], on_line(0.7)[0], atol=1e-3)
        assert len(found) == 5 and found[3] == 0 and found[4].startswith("Optimization terminated")
        cons = lambda x: 0.7 - x[0] - x[1]  # noqa: E731
        at = solve.fmin_cobyla(bowl, x0, cons, args=(0.7,), consargs=(), rhoend=1e-7)
        np.testing.assert_allclose(at, on_line(0.7)[0], atol=1e-3)


def test_refusals_at_walls() -> None:
    with pytest.raises(ArgumentError, match="fmin_cobyla: cons= has no function"):
        optimize.fmin_cobyla(bowl, [0.0, 0.0], [], args=(1.0,))
    with pytest.raises(ArgumentError, match="fmin_ncg: retall= is not supported"):
        optimize.fmin_ncg(bowl, [0.0, 0.0], args=(1.0,), retall=1)
    with pytest.raises(ArgumentError, match="fmin_slsqp"):
        optimize.fmin_slsqp(bowl, [0.0, 0.0], [3], args=(1.0,))
