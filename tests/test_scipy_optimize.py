"""`funcgrad.scipy.optimize` against closed forms, SciPy and differences of tight solutions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ConcretizationError, ShapeError
from funcgrad.scipy import integrate, optimize
from funcgrad.testing import check_all

so = pytest.importorskip("scipy.optimize")

# ---------------------------------------------------------------- one unknown


class Equation(NamedTuple):
    """An equation with a parameter, and its root above 0 in closed form."""

    f: Callable[..., Any]
    root: Callable[..., Any]


EQUATIONS = {
    "cubic": Equation(lambda x, c: x**3 - c, lambda c: c ** (1 / 3)),
    "logarithm": Equation(
        lambda x, c: np.exp(c * x) - 3.0 + c * x - c * x, lambda c: np.log(3) / c
    ),
    "tangent": Equation(lambda x, c: np.arctan(x) - 0.5 * c, lambda c: np.tan(0.5 * c)),
}
SOLVERS: dict[str, Callable[..., Any]] = {
    "brentq": lambda f, c: optimize.brentq(f, 0.0, 9.0, (c,)),
    "bisect": lambda f, c: optimize.bisect(f, 0.0, 9.0, args=(c,)),
    "brenth": lambda f, c: optimize.brenth(f, 0.0, 9.0, (c,)),
    "ridder": lambda f, c: optimize.ridder(f, 0.0, 9.0, (c,)),
    "toms748 of k": lambda f, c: optimize.toms748(f, 0.0, 9.0, (c,), k=2),
    "bracket": lambda f, c: optimize.root_scalar(f, (c,), bracket=[0.0, 9.0]).root,
    "toms748": lambda f, c: optimize.root_scalar(f, c, "toms748", (0.0, 9.0)).root,
    "secant": lambda f, c: optimize.root_scalar(f, c, x0=0.9, x1=1.0, xtol=1e-13).root,
    "newton": lambda f, c: optimize.root_scalar(f, c, x0=0.9, xtol=1e-12).root,
    "newton of arrays": lambda f, c: optimize.newton(f, 0.9, args=(c,), tol=1e-12),
    "fixed point": lambda f, c: optimize.fixed_point(lambda x: x - 0.2 * f(x, c), 0.9, xtol=1e-13),
    "minimum": lambda f, c: (
        optimize.minimize_scalar(lambda x: f(x, c) ** 2, bracket=(0.2, 2.0), tol=1e-14).x
    ),
}


@pytest.mark.parametrize("name", EQUATIONS)
@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=2)
@given(c=st.floats(0.8, 1.4))
def test_roots_and_their_derivatives(name: str, solver: str, c: float) -> None:
    f, root = EQUATIONS[name]
    tight = 2e-6 if solver == "minimum" else 1e-9

    def found(c: Any) -> Any:
        return SOLVERS[solver](f, c)

    np.testing.assert_allclose(found(c), root(c), rtol=tight)
    slope, bend = funcgrad.grad(root)(c), funcgrad.grad(funcgrad.grad(root))(c)
    for way in (funcgrad.grad, funcgrad.jacfwd, lambda f: funcgrad.jit(funcgrad.grad(f))):
        np.testing.assert_allclose(way(found)(c), slope, rtol=10 * tight)
    np.testing.assert_allclose(funcgrad.hessian(found)(c), bend, rtol=1e3 * tight, atol=1e3 * tight)
    many = np.array([c, 1.1])
    np.testing.assert_allclose(funcgrad.vmap(found)(many), root(many), rtol=tight)
    slopes = [funcgrad.grad(root)(c) for c in many]
    np.testing.assert_allclose(funcgrad.vmap(funcgrad.grad(found))(many), slopes, rtol=10 * tight)


def test_newton_element_by_element() -> None:
    def roots(c: Any) -> Any:
        return optimize.newton(lambda x: x**2 - c, np.ones(c.shape, c.dtype), tol=1e-13)

    c = np.array([[4.0, 9.0], [2.0, 0.5]])
    np.testing.assert_allclose(roots(c), np.sqrt(c), rtol=1e-12)
    check_all(
        roots, (c,), only=["types", "transpose", "numerical", "vmap", "jit"]
    ).raise_if_failed()
    z = np.array([-4.0 + 0.5j, 2.0 - 1.0j])
    holomorphic = funcgrad.jacrev(roots, holomorphic=True)(z)
    np.testing.assert_allclose(np.diag(holomorphic), 0.5 / roots(z), rtol=1e-10)


def test_derivatives_given_by_hand() -> None:
    def found(c: Any) -> Any:
        options = {"fprime": lambda x, c: 3 * x**2, "fprime2": lambda x, c: 6 * x}
        halley = optimize.root_scalar(lambda x, c: x**3 - c, (c,), "halley", x0=1.0, **options)
        pair = optimize.root_scalar(lambda x, c: (x**3 - c, 3 * x**2), (c,), x0=1.0, fprime=True)
        return halley.root + pair.root

    np.testing.assert_allclose(found(1.3), 2 * 1.3 ** (1 / 3))
    np.testing.assert_allclose(funcgrad.grad(found)(1.3), 2 / 3 * 1.3 ** (-2 / 3), rtol=1e-9)


# ---------------------------------------------------------------- systems


def system(x: Any, c: Any) -> list[Any]:
    return [x[0] + x[1] - c[0], x[0] - x[1] ** 3 * c[1]]


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "df-sane", "fsolve"])
@pytest.mark.parametrize("closed", [False, True])
def test_systems(method: str, closed: bool) -> None:
    c, options = np.array([3.0, 1.3]), {"method": method, "tol": 1e-12}

    def found(c: Any) -> Any:
        if method == "fsolve":
            f, args = ((lambda x: system(x, c)), ()) if closed else (system, (c,))
            return optimize.fsolve(f, [1.0, 1.0], args, xtol=1e-12)
        if closed:
            return optimize.root(lambda x: system(x, c), [1.0, 1.0], **options).x
        return optimize.root(system, [1.0, 1.0], (c,), **options).x

    x = found(c)
    np.testing.assert_allclose(system(x, c), 0.0, atol=1e-9)
    by_x = np.array([[1.0, 1.0], [1.0, -3 * c[1] * x[1] ** 2]])
    expected = -np.linalg.solve(by_x, np.diag([-1.0, -(x[1] ** 3)]))
    for way in (funcgrad.jacrev, funcgrad.jacfwd, lambda f: funcgrad.jit(funcgrad.jacrev(f))):
        np.testing.assert_allclose(way(found)(c), expected, rtol=1e-8)
    if method == "hybr":
        only = ["types", "transpose", "linear", "numerical", "vmap", "jit", "second order"]
        check_all(found, (c,), only=only).raise_if_failed()


@pytest.mark.parametrize("by_columns", [False, True])
def test_fsolve_gives_what_scipys_does(by_columns: bool) -> None:
    def slopes(x: Any, c: Any) -> Any:
        rows = np.array([[1.0, 1.0], [1.0, -3 * x[1] ** 2 * 1.3]])
        return rows.T if by_columns else rows

    given: dict[str, Any] = {"fprime": slopes, "full_output": True, "col_deriv": by_columns}
    ours, theirs = (
        solver.fsolve(system, [1.0, 1.0], (np.array([3.0, 1.3]),), **given)
        for solver in (optimize, so)
    )
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
    assert ours[1]["nfev"] == theirs[1]["nfev"]
    np.testing.assert_array_equal(ours[1]["fvec"], theirs[1]["fvec"])
    assert ours[2:] == theirs[2:]
    with pytest.warns(RuntimeWarning, match="calls to function"):
        optimize.fsolve(lambda x: np.exp(x) - 1e3, 0.0, maxfev=4)


def test_results_of_systems() -> None:
    theirs = so.root(lambda x: system(x, [3.0, 1.3]), [1.0, 1.0])
    ours = optimize.root(system, [1.0, 1.0], ([3.0, 1.3],))
    np.testing.assert_allclose(ours.x, theirs.x, rtol=1e-9)
    inside: list[Any] = []

    def keep(c: Any) -> Any:
        inside.append(optimize.root(system, [1.0, 1.0], (c,)))
        return inside[0].fun.sum()

    slope = funcgrad.grad(keep)(np.array([3.0, 1.3]))
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)  # it stays 0
    assert inside[0].success is True and inside[0].message == theirs.message


def test_a_fixed_point_of_many_numbers() -> None:
    a = np.array([[0.2, 0.3], [-0.1, 0.4]])

    def found(a: Any, b: Any) -> Any:
        return optimize.fixed_point(
            lambda x: a @ x + b, np.zeros(2), method="iteration", xtol=1e-14
        )

    b = np.array([1.0, 2.0])
    np.testing.assert_allclose(found(a, b), np.linalg.solve(np.eye(2) - a, b))
    only = ["types", "transpose", "linear", "numerical", "vmap", "second order"]
    check_all(found, (a, b), only=only).raise_if_failed()


# ---------------------------------------------------------------- minima

METHODS = ["BFGS", "CG", "L-BFGS-B", "Newton-CG", "trust-ncg", "trust-exact", "SLSQP", "TNC", None]


def bowl(x: Any, c: Any) -> Any:
    """Convex, with the minimum ``c, c**2``."""
    return np.cosh(x[0] - c) + (x[1] - x[0] ** 2) ** 2


@pytest.mark.parametrize("method", METHODS)
def test_minima_and_their_derivatives(method: str | None) -> None:
    tight = {"TNC": {"xtol": 1e-12, "ftol": 1e-16}, "L-BFGS-B": {"ftol": 1e-15}}.get(
        str(method), {}
    )

    def found(c: Any) -> Any:
        start = np.array([0.5, 0.3])
        return optimize.minimize(bowl, start, (c,), method, tol=1e-9, options=tight).x

    c = 0.8
    np.testing.assert_allclose(found(c), [c, c * c], rtol=2e-5)
    for way in (funcgrad.jacrev, funcgrad.jacfwd, lambda f: funcgrad.jit(funcgrad.jacrev(f))):
        np.testing.assert_allclose(way(found)(c), [1.0, 2 * c], rtol=2e-4)
    if method is None:
        np.testing.assert_allclose(funcgrad.jacfwd(funcgrad.jacrev(found))(c), [0, 2], atol=1e-5)
        many = np.array([0.6, 0.8])
        slopes = funcgrad.vmap(funcgrad.jacrev(found))(many)
        np.testing.assert_allclose(slopes, np.stack([[1, 1], 2 * many], 1), rtol=1e-5)
        check_all(found, (c,), only=["types", "transpose", "linear", "jit"]).raise_if_failed()


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell", "COBYLA"])
def test_minima_without_a_gradient(method: str) -> None:
    def found(c: Any) -> Any:
        return optimize.minimize(bowl, np.array([0.5, 0.3]), (c,), method, tol=1e-8).x

    np.testing.assert_allclose(funcgrad.jacrev(found)(0.8), [1.0, 1.6], rtol=1e-3)


def test_what_a_minimum_says() -> None:
    theirs = so.minimize(bowl, [0.5, 0.3], (0.8,), jac=lambda x, c: funcgrad.grad(bowl)(x, c))
    ours = optimize.minimize(bowl, [0.5, 0.3], (0.8,))
    assert (ours.nit, ours.nfev, ours.message) == (theirs.nit, theirs.nfev, theirs.message)
    np.testing.assert_array_equal(ours.x, theirs.x)

    def least(c: Any) -> Any:
        found = optimize.minimize(lambda x: bowl(x, c) + c * c, [0.5, 0.3], tol=1e-8)
        assert found.success is True and found.nit > 0 and found.message == theirs.message
        return found.fun

    np.testing.assert_allclose(funcgrad.grad(least)(0.8), 1.6, rtol=1e-7)  # the envelope


def test_minima_by_hand_written_derivatives() -> None:
    def found(c: Any) -> Any:
        a = optimize.minimize(
            lambda x, c: (x[0] - c) ** 2, [0.0], (c,), jac=lambda x, c: 2 * (x - c), tol=1e-9
        )
        b = optimize.minimize(
            lambda x: ((x[0] - c) ** 2, 2 * (x - c)), [0.0], jac=True, method="Newton-CG",
            hess=lambda x: fnp.array([[2.0]]),
        )  # fmt: skip
        return (a.x + b.x)[0]

    def product(x: Any, p: Any, c: Any) -> Any:
        return funcgrad.hvp(lambda x: bowl(x, c), (x,), (p,))

    x = optimize.minimize(bowl, [0.5, 0.3], (0.8,), "Newton-CG", hessp=product, tol=1e-9).x
    np.testing.assert_allclose(x, [0.8, 0.64], rtol=1e-6)
    np.testing.assert_allclose(found(1.7), 3.4, rtol=1e-6)
    np.testing.assert_allclose(funcgrad.grad(found)(1.7), 2.0, rtol=1e-9)


@pytest.mark.parametrize("method", [None, "TNC", "SLSQP", "Powell"])
def test_an_element_on_a_bound_stays_there(method: str | None) -> None:
    def f(x: Any, c: Any) -> Any:
        return (x[0] - c) ** 2 + (x[1] + x[0] - 2 * c) ** 2

    def found(c: Any) -> Any:
        bounds = [(0.0, 1.0), (None, None)]
        return optimize.minimize(f, [0.5, 0.5], (c,), method, bounds=bounds, tol=1e-10).x

    np.testing.assert_allclose(found(1.4), [1.0, 1.8], atol=1e-4)
    for way in (funcgrad.jacrev, funcgrad.jacfwd, lambda f: funcgrad.jit(funcgrad.jacrev(f))):
        np.testing.assert_allclose(way(found)(1.4), [0.0, 2.0], atol=1e-6)
        np.testing.assert_allclose(way(found)(0.4), [1.0, 1.0], atol=1e-6)


@pytest.mark.parametrize(("c", "slope"), [(0.5, 1.0), (0.99995, 1.0), (1.3, 0.0), (-2.0, 0.0)])
def test_a_number_between_bounds(c: float, slope: float) -> None:
    def found(c: Any) -> Any:
        return optimize.minimize_scalar(
            lambda x: np.cosh(x - c), bounds=(0.0, 1.0), options={"xatol": 1e-9}
        ).x

    np.testing.assert_allclose(found(c), np.clip(c, 0, 1), atol=1e-6)
    for way in (funcgrad.grad, funcgrad.jacfwd, lambda f: funcgrad.jit(funcgrad.grad(f))):
        np.testing.assert_allclose(way(found)(c), slope, atol=1e-9)


# ---------------------------------------------------------------- fits

T = np.linspace(0.0, 2.0, 7)
Y = 1.5 * np.exp(-0.8 * T) + 0.1 * np.cos(9 * T)


def model(t: Any, a: Any, b: Any) -> Any:
    return a * np.exp(-b * t)


@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_fits_with_every_loss(loss: str) -> None:
    tight = dict.fromkeys(["xtol", "ftol", "gtol"], 1e-15)

    def residuals(p: Any, y: Any) -> Any:
        return model(T, p[0], p[1]) - y

    def found(y: Any) -> Any:
        return optimize.least_squares(
            residuals, [1.0, 1.0], loss=loss, f_scale=0.07, args=(y,), **tight
        ).x

    def theirs(y: Any) -> Any:
        return so.least_squares(
            residuals, [1.0, 1.0], "cs", loss=loss, f_scale=0.07, args=(y,), **tight
        ).x

    np.testing.assert_allclose(found(Y), theirs(Y), rtol=1e-6)
    step = 1e-4 * np.eye(7)
    rises = np.stack([(theirs(Y + h) - theirs(Y - h)) / 2e-4 for h in step], axis=1)
    for way in (funcgrad.jacrev, funcgrad.jacfwd):
        np.testing.assert_allclose(way(found)(Y), rises, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(funcgrad.jit(found)(Y), found(Y), rtol=1e-9)


def test_a_fit_on_a_bound() -> None:
    """However near to the bound SciPy's method ends."""
    for method, tol in itertools.product(["trf", "dogbox"], [1e-4, 1e-8, 1e-12]):

        def found(y: Any, method: str = method, tol: float = tol) -> Any:
            return optimize.least_squares(
                lambda p: np.sinh(p) - y, [0.5, 0.5], method=method, xtol=tol, ftol=tol, gtol=tol,
                bounds=([0, 0], [1, 1]),
            ).x  # fmt: skip

        slope = funcgrad.jacrev(found)(np.array([2.0, 0.4]))
        np.testing.assert_allclose(slope, [[0, 0], [0, 1.16**-0.5]], atol=1e-4)


DEVIATIONS = {
    "none": None,
    "rows": 0.05 + 0.02 * np.arange(7),
    "matrix": 0.05 * np.eye(7) + 0.01 * np.exp(-np.abs(T[:, None] - T)),
}


@pytest.mark.parametrize("sigma", DEVIATIONS)
@pytest.mark.parametrize("absolute", [False, True])
def test_curves(sigma: str, absolute: bool) -> None:
    options = {"sigma": DEVIATIONS[sigma], "absolute_sigma": absolute}
    tight = dict.fromkeys(["xtol", "ftol", "gtol"], 1e-15)
    a = so.curve_fit(model, T, Y, **options, **tight)
    b = optimize.curve_fit(model, T, Y, **options, **tight)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-5)

    def found(y: Any, t: Any) -> Any:
        return optimize.curve_fit(model, t, y, **options, **tight)

    h = 1e-5 * np.sin(np.arange(7) + 1.0)
    ends = [so.curve_fit(model, T - s * h, Y + s * h, **options, **tight) for s in (1, -1)]
    _, slopes = funcgrad.jvp(found, (Y, T), (h, -h))
    for slope, high, low in zip(slopes, *ends, strict=True):
        np.testing.assert_allclose(slope, (high - low) / 2, rtol=5e-3, atol=2e-9)
    if sigma == "rows":
        report = check_all(found, (Y, T), only=["types", "transpose", "linear", "jit"])
        report.raise_if_failed()


def test_a_fit_of_a_differential_equation() -> None:
    """The derivative of the best parameters by the data, through the equation's own derivatives."""
    t = np.array([0.0, 0.5, 1.0])

    def best(data: Any) -> Any:
        def loss(p: Any) -> Any:
            y = integrate.odeint(lambda y, t: -p[0] * y, [p[1]], t, rtol=1e-11, atol=1e-11)
            return ((y[:, 0] - data) ** 2).sum()

        return optimize.minimize(loss, [0.5, 1.0], tol=1e-9).x

    data = np.array([2.0, 1.2, 0.7])
    exact = funcgrad.jacrev(
        lambda d: optimize.least_squares(lambda p: p[1] * np.exp(-p[0] * t) - d, [0.5, 1.0]).x
    )(data)
    np.testing.assert_allclose(funcgrad.jacrev(best)(data), exact, rtol=1e-5, atol=1e-6)


def test_a_minimum_of_minima() -> None:
    def inner(c: Any) -> Any:
        return optimize.minimize(
            lambda x: ((x - c) ** 2).sum() + (x**4).sum(), np.zeros(2), tol=1e-10
        ).x

    goal = np.array([0.5, 0.3])
    outer = optimize.minimize(lambda c: ((inner(c) - goal) ** 2).sum(), np.ones(2), tol=1e-9).x
    np.testing.assert_allclose(outer, goal + 2 * goal**3, rtol=1e-5)
    roots = funcgrad.hessian(
        lambda c: funcgrad.jit(funcgrad.vmap(lambda c: optimize.brentq(lambda x: x**3 - c, 0, 5)))(
            c
        ).sum()
    )(np.array([1.0, 8.0]))
    np.testing.assert_allclose(roots, np.diag([-2 / 9, -2 / 288]), rtol=1e-9)


def test_precision() -> None:
    start = np.zeros(2, np.float32)
    for f in (
        lambda c: optimize.minimize(lambda x: ((x - c) ** 2).sum(), start).x,
        lambda c: optimize.root(lambda x: x - c, start).x,
        lambda c: optimize.least_squares(lambda x: x - c, start).x,
    ):
        c = np.array([1.0, 2.0], np.float32)
        assert f(c).dtype == funcgrad.jit(f)(c).dtype == funcgrad.jacrev(f)(c).dtype == np.float32


# ---------------------------------------------------------------- differences and errors


def test_differences() -> None:
    x = np.array([0.3, -0.8])
    found = optimize.approx_fprime(x, bowl, 1e-8, 0.5)
    np.testing.assert_allclose(found, so.approx_fprime(x, bowl, 1e-8, 0.5), rtol=1e-6)
    distance = optimize.check_grad(bowl, funcgrad.grad(bowl), x, 0.5)
    np.testing.assert_allclose(
        distance, so.check_grad(bowl, funcgrad.grad(bowl), x, 0.5), atol=1e-12
    )
    wrong = optimize.check_grad(bowl, lambda x, c: -funcgrad.grad(bowl)(x, c), x, 0.5)
    assert wrong > 0.1 > 1e-6 > distance


def traced(f: Callable[..., Any]) -> Callable[[], Any]:
    return lambda: funcgrad.grad(f)(1.0)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: optimize.root_scalar(np.sin), ArgumentError, "where to start"),
        (traced(lambda c: optimize.brentq(lambda x: x * x + c, 0.0, 1.0)), ValueError, "signs"),
        (traced(lambda c: optimize.brentq(lambda x: x - c if x > 0 else x, -1, 2)),
         ConcretizationError, "branch"),
        (traced(lambda c: optimize.newton(lambda x: x - c, 0.0, full_output=True)[0]), ArgumentError,
         "full_output"),
        (traced(lambda c: optimize.root(lambda x: fnp.ones(3) * c, [0.0]).x[0]), ShapeError, "shape"),
        (traced(lambda c: optimize.root(lambda x: x * 0.0 + c - c, [0.0]).x[0]),
         np.linalg.LinAlgError, "ingular"),
        (traced(lambda c: optimize.root(lambda x: x - c, [0.0], callback=print).x[0]), ArgumentError,
         "callback"),
        (lambda: optimize.minimize(bowl, [0.0, 0.0], (1.0,), constraints=[{"type": "eq"}]),
         ArgumentError, "a constraint has the type 'eq'"),
        (traced(lambda c: optimize.minimize(lambda x: fnp.ones(2) * x * c, [0.0]).x[0]), ShapeError,
         "need a number"),
        (traced(lambda c: optimize.minimize(lambda x: (x[0] - c) ** 2, [0.0], method="trust-constr",
                                            bounds=[(0, 1)]).x[0]), ArgumentError, "near bounds"),
        (traced(lambda c: optimize.minimize(lambda x: (x[0] - c) ** 2, [0.0], bounds=[]).x[0]),
         ShapeError, "0 bounds"),
        (lambda: optimize.minimize(np.sum, np.ones((2, 2))), ShapeError, "row"),
        (lambda: optimize.least_squares(np.sin, [0.0], loss="odd"), ArgumentError, "odd"),
        (lambda: optimize.curve_fit(lambda x, *p: x, T, Y), ArgumentError, "Give p0"),
        (lambda: optimize.curve_fit(model, T, Y, sigma=np.ones(3)), ShapeError, r"need \[7\]"),
        (lambda: optimize.curve_fit(model, T, Y, full_output=True), ArgumentError, "full_output"),
        (lambda: optimize.check_grad(bowl, bowl, T, direction="random"), ArgumentError, "random"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        call()


# ---------------------------------------------------------------- nothing was found


def valley(x: Any, c: Any) -> Any:
    return (c - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


EARLY: dict[str, Callable[[Any], Any]] = {
    "minimize": lambda c: optimize.minimize(valley, [-1.2, 1.0], (c,), options={"maxiter": 2}).x[0],
    "minimize on bounds": lambda c: optimize.minimize(
        valley, [-1.2, 1.0], (c,), bounds=[(-2, 2)] * 2, options={"maxiter": 2}
    ).x[0],
    "minimize_scalar": lambda c: (
        optimize.minimize_scalar(lambda x: (x - c) ** 4 + np.exp(x), options={"maxiter": 2}).x
    ),
    "least_squares": lambda c: optimize.least_squares(
        lambda x: fnp.stack([10 * (x[1] - x[0] ** 2), c - x[0]]), [-1.2, 1.0], max_nfev=2
    ).x[0],
    "root": lambda c: optimize.root(lambda x: fnp.exp(x) - 1e3 * c, [0.0], options={"maxfev": 4}).x[
        0
    ],
    "root_scalar": lambda c: (
        optimize.root_scalar(lambda x: x**3 - c, bracket=[0.0, 50.0], maxiter=3).root
    ),
    "brentq": lambda c: optimize.brentq(lambda x: x**3 - c, 0.0, 50.0, maxiter=3, disp=False),
    "newton": lambda c: optimize.newton(lambda x: x**3 - c, 50.0, maxiter=3, disp=False),
}


@pytest.mark.parametrize("name", EARLY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_was_not_found_has_no_derivative(name: str) -> None:
    f = EARLY[name]
    assert np.isfinite(f(1.0))
    for way in (funcgrad.grad, funcgrad.jacfwd, lambda f: funcgrad.jit(funcgrad.grad(f))):
        assert np.isnan(way(f)(1.0))
    assert np.isnan(funcgrad.vmap(funcgrad.grad(f))(np.array([1.0, 1.1]))).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_newton_says_which_elements_were_found() -> None:
    def roots(c: Any) -> Any:
        return optimize.newton(lambda x: x**2 - c, np.ones(2), maxiter=9, disp=False)

    slope = funcgrad.grad(lambda c: roots(c)[0])(np.array([4.0, -1.0]))
    np.testing.assert_allclose(slope[0], 0.25)
    assert np.isnan(funcgrad.jacfwd(roots)(np.array([4.0, -1.0]))[1]).all()


def test_a_minimum_that_rounding_errors_hide_is_one() -> None:
    """Solvers that are asked for too much report no success."""

    def least(c: Any) -> Any:
        return optimize.minimize(lambda x: fnp.sum(fnp.cosh(x - c)), [-1.0, 3.0], tol=1e-16)

    assert not least(1.1).success
    np.testing.assert_allclose(funcgrad.jacfwd(lambda c: least(c).x)(1.1), 1.0, rtol=1e-6)


TRACED: dict[str, Callable[[Any], Any]] = {
    "bounds": lambda c: optimize.minimize(valley, [0.0, 0.0], (1.0,), bounds=[(0, c)] * 2).x[0],
    "f_scale": lambda c: optimize.least_squares(lambda x: x - c, [0.0], loss="cauchy", f_scale=c).x[
        0
    ],
    "xtol": lambda c: optimize.brentq(lambda x: x - c, 0.0, 5.0, xtol=c),
    "options": lambda c: optimize.root(lambda x: x - c, [0.0], options={"xtol": c}).x[0],
}


@pytest.mark.parametrize("option", TRACED)
def test_options_of_solvers_are_constants(option: str) -> None:
    with pytest.raises(ArgumentError, match=f"{option}= is traced; the solver needs a constant"):
        funcgrad.grad(TRACED[option])(2.0)


@pytest.mark.parametrize("method", ["BFGS", "Nelder-Mead", "L-BFGS-B"])
def test_functions_may_give_arrays_of_one_element(method):
    f = lambda x, c: np.sum((x - c) ** 2, keepdims=True)  # noqa: E731
    at = lambda c: optimize.minimize(f, np.zeros(2), (c,), method=method, tol=1e-10).x  # noqa: E731
    c = np.array([1.0, -2.0])
    np.testing.assert_allclose(at(c), c, atol=1e-4)
    np.testing.assert_allclose(funcgrad.jit(at)(c), c, atol=1e-4)
    np.testing.assert_allclose(funcgrad.jacrev(at)(c), np.eye(2), atol=1e-6)
    one = lambda c: optimize.minimize_scalar(lambda x: np.reshape((x - c) ** 2, (1,))).x  # noqa: E731
    assert funcgrad.grad(one)(3.0) == pytest.approx(1.0)


def test_methods_of_ones_own_find_minima_with_derivatives():
    def steps(fun, x, args, jac, **_):
        for _ in range(60):
            x = x - 0.25 * jac(x, *args)
        return optimize.minimize(fun, x, args)

    at = lambda c: optimize.minimize(lambda x: np.sum((x - c) ** 2), np.zeros(2), method=steps).x  # noqa: E731
    c = np.array([1.0, -2.0])
    np.testing.assert_allclose(at(c), c, atol=1e-6)
    np.testing.assert_allclose(funcgrad.jacrev(at)(c), np.eye(2), atol=1e-6)
