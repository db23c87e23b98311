"""`funcgrad.scipy.integrate` against closed forms, SciPy and JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ConcretizationError, FuncgradError, ShapeError
from funcgrad.scipy import integrate
from funcgrad.testing import check_all

si = pytest.importorskip("scipy.integrate")

ALGEBRA = ["types", "finite", "transpose", "linear", "repeatable", "program", "jit", "vmap"]


# ---------------------------------------------------------------- differential equations


class Problem(NamedTuple):
    """An equation, and its solution in closed form by the start and one parameter."""

    f: Callable[..., Any]
    solution: Callable[..., Any]
    start: tuple[float, ...]


def oscillation(t: Any, y: Any, w: Any) -> Any:
    c, s = np.cos(w * t), np.sin(w * t)
    return fnp.stack([y[0] * c + y[1] / w * s, y[1] * c - y[0] * w * s])


PROBLEMS = {
    "exponential": Problem(lambda y, t, r: -r * y, lambda t, y, r: y * np.exp(-r * t), (1.3,)),
    "logistic": Problem(
        lambda y, t, r: r * y * (1 - y),
        lambda t, y, r: y / (y + (1 - y) * np.exp(-r * t)),
        (0.2,),
    ),
    "oscillator": Problem(lambda y, t, w: [y[1], -w * w * y[0]], oscillation, (0.7, -0.4)),
    "forced": Problem(
        lambda y, t, r: r * np.cos(t) * y, lambda t, y, r: y * np.exp(r * np.sin(t)), (0.9,)
    ),
}
problems = pytest.mark.parametrize("name", PROBLEMS)


def end(problem: Problem, t1: Any, y0: Any, p: Any, tol: float = 1e-9) -> Any:
    return integrate.odeint(problem.f, y0, fnp.stack([0.0, t1]), (p,), rtol=tol, atol=tol)[-1]


@problems
@settings(max_examples=2)
@given(t1=st.floats(-1.5, 2.5), p=st.floats(0.4, 1.8), way=st.sampled_from(["plain", "jit"]))
def test_derivatives_of_closed_forms(name: str, t1: float, p: float, way: str) -> None:
    problem = PROBLEMS[name]
    args = (t1, np.array(problem.start), p)
    wrapped = funcgrad.jit if way == "jit" else lambda f: f

    def found(*args: Any) -> Any:
        return end(problem, *args)

    np.testing.assert_allclose(wrapped(found)(*args), problem.solution(*args), rtol=2e-8, atol=1e-8)
    for transform in (funcgrad.jacfwd, funcgrad.jacrev):
        a = wrapped(transform(found, argnums=(0, 1, 2)))(*args)
        b = transform(problem.solution, argnums=(0, 1, 2))(*args)
        for x, y in zip(a, b, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-7)


@problems
def test_second_derivatives(name: str) -> None:
    problem = PROBLEMS[name]
    args = (0.8, np.array(problem.start), 1.2)
    a = funcgrad.hessian(lambda *a: end(problem, *a).sum(), argnums=(0, 1, 2))(*args)
    b = funcgrad.hessian(lambda *a: problem.solution(*a).sum(), argnums=(0, 1, 2))(*args)
    for x, y in zip(a, b, strict=True):
        for u, v in zip(x, y, strict=True):
            np.testing.assert_allclose(u, v, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["forced"])
def test_algebra_of_derivatives(name: str) -> None:
    problem = PROBLEMS[name]

    def f(t1: Any, y0: Any, p: Any) -> Any:
        return end(problem, t1, y0, p, 1e-5)

    args = (np.array(0.8), np.array(problem.start), np.array(1.1))
    check_all(f, args, only=ALGEBRA).raise_if_failed()


def test_closed_over_values_are_differentiated() -> None:
    def f(rate: Any) -> Any:
        return integrate.odeint(lambda y, t: -rate * y, 1.0, [0.0, 1.0])[-1, 0]

    for way in (funcgrad.grad(f), funcgrad.jit(funcgrad.grad(f)), funcgrad.jacfwd(f)):
        np.testing.assert_allclose(way(0.7), -np.exp(-0.7), rtol=1e-6)
    rates = np.array([0.3, 3.0])
    np.testing.assert_allclose(funcgrad.vmap(funcgrad.grad(f))(rates), -np.exp(-rates), rtol=1e-6)


def test_a_step_that_overflows_does_not_spoil_the_gradient() -> None:
    """Torricelli's law: a step too far takes the root of a negative number."""

    def depth(k: Any) -> Any:
        found = integrate.solve_ivp(
            lambda t, y: -k * np.sqrt(y),
            (0.0, 1.8),
            [1.0],
            t_eval=[1.8],
            first_step=1.79,
            rtol=1e-9,
        )
        return found.y[0, 0]

    with np.errstate(invalid="ignore"):
        for way in (funcgrad.grad(depth), funcgrad.jit(funcgrad.grad(depth))):
            np.testing.assert_allclose(way(1.05), -1.8 * (1 - 1.05 * 0.9), rtol=1e-5)
        mapped = funcgrad.vmap(funcgrad.grad(depth))(np.array([1.05, 0.2]))
    np.testing.assert_allclose(mapped, -1.8 * (1 - np.array([1.05, 0.2]) * 0.9), rtol=1e-5)


def test_trees_precision_and_equal_times() -> None:
    def f(y: Any, t: Any) -> Any:
        return {"x": y["v"], "v": -y["x"]}

    y0 = {"x": np.ones((2, 1), np.float32), "v": np.zeros((2, 1), np.float32)}
    found = integrate.odeint(f, y0, [0.0, 0.0, 1.0, 1.0])
    assert found["x"].shape == (4, 2, 1) and found["x"].dtype == np.float32
    expected = np.broadcast_to(np.cos([0.0, 0.0, 1.0, 1.0])[:, None, None], (4, 2, 1))
    np.testing.assert_allclose(found["x"], expected, atol=1e-4)
    slopes = funcgrad.jacrev(lambda t: integrate.odeint(f, y0, t)["x"][:, 0, 0])(
        np.array([0.0, 0.0, 1.0, 1.0])
    )
    s = np.sin(1.0)  # y[1] is at a time of its own, though it is the first one
    np.testing.assert_allclose(slopes[1:], [[0, 0, 0, 0], [s, 0, -s, 0], [s, 0, 0, -s]], atol=1e-4)


def test_functions_that_write_into_arrays() -> None:
    def found(w: Any) -> Any:
        out = fnp.zeros(2)

        def f(y: Any, t: Any) -> Any:
            out[0] = y[1]
            out[1] = -w * w * y[0]
            y[0] = np.nan
            return out

        return integrate.odeint(f, [0.0, 1.0], [0.0, 1.0])[-1, 0]

    slope = np.cos(1.3) / 1.3 - np.sin(1.3) / 1.69
    np.testing.assert_allclose(found(1.3), np.sin(1.3) / 1.3, rtol=1e-6)
    for way in (funcgrad.grad(found), funcgrad.jacfwd(found)):
        np.testing.assert_allclose(way(1.3), slope, rtol=1e-6)


def test_complex_values() -> None:
    def f(w: Any) -> Any:
        found = integrate.solve_ivp(
            lambda t, y: 1j * w * y, (0, 1), [1 + 0j], t_eval=[1], rtol=1e-9, atol=1e-9
        )
        return found.y[0, 0].imag

    np.testing.assert_allclose(f(0.6), np.sin(0.6), rtol=1e-7)
    np.testing.assert_allclose(funcgrad.grad(f)(0.6), np.cos(0.6), rtol=1e-7)


@pytest.mark.parametrize("method", ["RK45", "RK23"])
@pytest.mark.parametrize("span", [(0.0, 3.0), (2.0, -1.0)])
def test_steps_are_scipys(method: str, span: tuple[float, float]) -> None:
    def f(t: Any, y: Any) -> Any:
        return [y[1], -2 * np.sin(y[0]) + 0.1 * t]

    a = si.solve_ivp(f, span, [1.0, 0.2], method=method, max_step=0.7)
    b = integrate.solve_ivp(f, span, [1.0, 0.2], method=method, max_step=0.7)
    assert (a.nfev, a.status, a.success, a.message) == (b.nfev, b.status, b.success, b.message)
    np.testing.assert_allclose(a.t, b.t, rtol=1e-8)
    np.testing.assert_allclose(a.y, b.y, rtol=1e-8)
    g = funcgrad.grad(lambda y: integrate.solve_ivp(f, span, y, method=method).y[0, -1])
    c = funcgrad.grad(
        lambda y: integrate.solve_ivp(f, span, y, method=method, t_eval=span[1:], rtol=1e-9).y[
            0, -1
        ]
    )
    np.testing.assert_allclose(g(np.array([1.0, 0.2])), c(np.array([1.0, 0.2])), rtol=2e-2)


def test_odeint_as_jaxs() -> None:
    jax = pytest.importorskip("jax")
    ode = pytest.importorskip("jax.experimental.ode")

    def lotka(xp: Any) -> Any:
        def f(y: Any, t: Any, a: Any) -> Any:
            meeting = y[0] * y[1]
            return xp.stack([a[0] * y[0] - a[1] * meeting, a[2] * meeting - a[3] * y[1]])

        return f

    y0, t, a = np.array([1.0, 0.5]), np.linspace(0.0, 3.0, 7), np.array([1.1, 0.7, 0.4, 0.9])
    ours = funcgrad.jacrev(lambda *x: integrate.odeint(lotka(fnp), x[0], t, x[1:]), (0, 1))(y0, a)
    with jax.enable_x64(True):
        f = jax.jacrev(
            lambda *x: ode.odeint(lotka(jax.numpy), x[0], t, x[1], rtol=1e-10, atol=1e-10), (0, 1)
        )
        theirs = f(y0, a)
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-6)


def test_no_solution_is_said() -> None:
    found = integrate.solve_ivp(lambda t, y: y**2, (0.0, 2.0), [1.0], t_eval=[0.5, 2.0])
    assert not found.success and found.status == -1 and "step size" in found.message
    np.testing.assert_allclose(found.y[0], [2.0, np.nan], rtol=1e-3)
    few = integrate.odeint(lambda y, t: -y, 1.0, [0.0, 50.0, 50.1], mxstep=3)
    assert np.isnan(few[1:]).all() and few[0, 0] == 1.0


def decay(t: Any, y: Any) -> Any:
    return -y


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: integrate.solve_ivp(decay, (0, 1), [1.0], method="BDF"), ArgumentError, "BDF"),
        (lambda: integrate.solve_ivp(decay, (0, 1), [1.0], events=decay), ArgumentError, "events"),
        (lambda: integrate.solve_ivp(decay, (0, 1), [1.0], dense_output=True), ArgumentError,
         "t_eval"),
        (lambda: integrate.solve_ivp(decay, (0, 1), [1.0], t_eval=[2.0]), ArgumentError, "outside"),
        (lambda: integrate.solve_ivp(decay, (0, 1), [[1.0]]), ShapeError, "row"),
        (lambda: integrate.odeint(lambda y, t: y[:1], [1.0, 2.0], [0.0, 1.0]), ShapeError,
         r"returns shape \[1\]"),
        (lambda: integrate.odeint(lambda y, t: 1j * y, [1.0], [0.0, 1.0]), ArgumentError, "complex"),
        (lambda: integrate.odeint(decay, [1.0], [0.0, 1.0, 0.5], tfirst=True), ArgumentError, "rise"),
        (lambda: integrate.odeint(decay, [1.0], [0.0, 1.0], full_output=True), ArgumentError,
         "full_output"),
        (lambda: funcgrad.jit(lambda y: integrate.solve_ivp(decay, (0, 1), y).y)(np.ones(1)),
         ConcretizationError, "t_eval"),
    ],
)  # fmt: skip
def test_errors_of_equations(call: Any, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        call()


# ---------------------------------------------------------------- samples


ROWS = {
    "trapezoid": 1,
    "simpson": 1,
    "cumulative_trapezoid": 1,
    "cumulative_simpson": 1,
    "romb": 2,
}


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=12)
@given(
    n=st.integers(1, 9),
    axis=st.sampled_from([0, 1, -1]),
    spacing=st.sampled_from(["none", "dx", "x", "rows of x"]),
    initial=st.booleans(),
    kind=st.sampled_from("dfD"),
    seed=st.integers(0, 99),
)
def test_samples(
    name: str, n: int, axis: int, spacing: str, initial: bool, kind: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    n = 2 ** (n % 4) + 1 if name == "romb" else n
    y = rng.normal(size=(n, 2) if axis == 0 else (2, n)) + (1j if kind == "D" else 0)
    y = y.astype(kind)
    options: dict[str, Any] = {"axis": axis}
    if name == "romb" or spacing == "dx":
        options["dx"] = 0.3
    elif spacing == "x":
        options["x"] = np.cumsum(rng.uniform(0.5, 1.5, n)).astype(kind.replace("D", "d"))
    elif spacing == "rows of x":
        options["x"] = np.cumsum(rng.uniform(0.5, 1.5, y.shape), axis=axis)
    if initial and name.startswith("cumulative"):
        options["initial"] = 0
    f, theirs = getattr(integrate, name), getattr(si, name)
    if n == 1 and name == "cumulative_simpson":
        return  # SciPy's fails
    found, expected = f(y, **options), theirs(y, **options)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-4 if kind == "f" else 1e-11, atol=1e-6)
    if kind == "f" and options.get("x") is None:
        assert found.dtype == np.float32


@pytest.mark.parametrize("name", ["trapezoid", "simpson", "cumulative_simpson"])
@pytest.mark.parametrize("n", [2, 5, 6])
def test_derivatives_by_samples_and_points(name: str, n: int) -> None:
    y, x = np.sin(np.arange(n) * 0.7) + 1.2, np.cumsum(np.linspace(0.5, 1.0, n))
    f = getattr(integrate, name)
    check_all(lambda y, x: f(y, x=x), (y, x)).raise_if_failed()


# ---------------------------------------------------------------- functions


class Area(NamedTuple):
    """An integrand with a parameter, and its integral between two limits in closed form."""

    f: Callable[..., Any]
    integral: Callable[..., Any]


AREAS = {
    "exponential": Area(
        lambda x, a: np.exp(-a * x), lambda lo, h, a: (np.exp(-a * lo) - np.exp(-a * h)) / a
    ),
    "power": Area(
        lambda x, a: a * x**2 + x, lambda lo, h, a: a * (h**3 - lo**3) / 3 + (h**2 - lo**2) / 2
    ),
    "wave": Area(lambda x, a: np.sin(a * x), lambda lo, h, a: (np.cos(a * lo) - np.cos(a * h)) / a),
    "lorentzian": Area(
        lambda x, a: a / (1 + (a * x) ** 2), lambda lo, h, a: np.arctan(a * h) - np.arctan(a * lo)
    ),
}


@pytest.mark.parametrize("name", AREAS)
@pytest.mark.parametrize("rule", ["quad", "quad_vec", "fixed_quad"])
@settings(max_examples=2)
@given(low=st.floats(-1.0, 0.5), high=st.floats(0.6, 2.0), a=st.floats(0.3, 1.5))
def test_integrals_and_their_derivatives(
    name: str, rule: str, low: float, high: float, a: float
) -> None:
    area, options = AREAS[name], {"n": 30} if rule == "fixed_quad" else {}

    def found(lo: Any, h: Any, a: Any) -> Any:
        return getattr(integrate, rule)(area.f, lo, h, args=(a,), **options)[0]

    args, nums = (low, high, a), (0, 1, 2)
    np.testing.assert_allclose(found(*args), area.integral(*args), rtol=1e-9, atol=1e-12)
    for way in (funcgrad.jacfwd, funcgrad.jacrev, lambda f, n: funcgrad.jit(funcgrad.grad(f, n))):
        a_, b_ = way(found, nums)(*args), funcgrad.grad(area.integral, nums)(*args)
        np.testing.assert_allclose(a_, b_, rtol=1e-8, atol=1e-10)
    a_, b_ = funcgrad.hessian(found, nums)(*args), funcgrad.hessian(area.integral, nums)(*args)
    np.testing.assert_allclose(a_, b_, rtol=1e-7, atol=1e-9)
    many = funcgrad.vmap(funcgrad.grad(found, 2), (0, 0, None))(
        *np.array([[low] * 2, [high] * 2]), a
    )
    np.testing.assert_allclose(many, [funcgrad.grad(area.integral, 2)(*args)] * 2, rtol=1e-8)


def test_singular_and_infinite_ends() -> None:
    f = lambda c: integrate.quad(lambda x: c / np.sqrt(x), 0.0, 1.0)[0]  # noqa: E731
    np.testing.assert_allclose(funcgrad.grad(f)(1.5), 2.0, rtol=1e-8)
    g = lambda a, end: integrate.quad(lambda x: np.exp(-a * x * x), -end, end)[0]  # noqa: E731
    by_a, by_end = funcgrad.grad(g, argnums=(0, 1))(2.0, np.inf)
    np.testing.assert_allclose([by_a, by_end], [-np.sqrt(np.pi / 2) / 4, 0.0], rtol=1e-8)


def test_integral_of_an_integral() -> None:
    def f(c: Any) -> Any:
        return integrate.dblquad(lambda y, x: np.cos(c * x * y), 0.0, c, 0.0, lambda x: c * x)[0]

    h = 1e-3
    rise = 8 * (f(1.1 + h) - f(1.1 - h)) - (f(1.1 + 2 * h) - f(1.1 - 2 * h))
    np.testing.assert_allclose(funcgrad.grad(f)(1.1), rise / (12 * h), rtol=1e-9)
    np.testing.assert_allclose(
        f(1.1), si.dblquad(lambda y, x: np.cos(1.1 * x * y), 0, 1.1, 0, lambda x: 1.1 * x)[0]
    )


def test_integrals_of_many_variables() -> None:
    """Of polynomials, for which no interval is halved."""

    def f(m: Any, c: Any) -> Any:
        sides = (0.0, c, 0.0, lambda x: c * x, lambda x, y: x, 2.0)
        return m.tplquad(lambda z, y, x, k: k * x * y * z, *sides, (0.7,))[0]

    def g(m: Any, c: Any) -> Any:
        ranges = [lambda y, k: (0.0, k * y), (0.0, c)]
        return m.nquad(lambda x, y, k: k * x * y, ranges, (1.3,), {"epsabs": 1e-10})[0]

    for h in (f, g):
        np.testing.assert_allclose(h(integrate, 0.9), h(si, 0.9), rtol=1e-10)
    slope = funcgrad.grad(lambda c: g(integrate, c))(0.9)
    np.testing.assert_allclose(slope, 1.3**3 / 2 * 0.9**3, rtol=1e-9)
    table = np.array([[0.0, 1.0], [0.0, 2.0]])
    np.testing.assert_allclose(integrate.nquad(lambda x, y: x * y, table)[0], 1.0)
    one = integrate.nquad(np.cos, [(0, 1)], opts=[{"limit": 20}])[0]
    np.testing.assert_allclose(one, np.sin(1.0))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: integrate.nquad(np.sin, []), "need ranges"),
        (lambda: integrate.nquad(np.sin, [(0, 1)], opts=[{"weight": "cos"}]), "options epsabs"),
        (lambda: integrate.nquad(np.sin, [(0, 1)], opts=[{}, {}]), "for all or each"),
        (lambda: integrate.quad(np.sin, 0, 1, weight="cos", wvar=2), "weight"),
        (lambda: integrate.quad(np.sin, 0, 1, full_output=1), "full_output"),
        (lambda: integrate.quad(np.sin, [0.0], 1), "need a real number"),
        (lambda: integrate.fixed_quad(np.sin, 0, np.inf), "finite"),
        (lambda: integrate.romb(np.ones(4)), "need 2"),
        (lambda: integrate.trapezoid(np.ones(4), np.ones(3)), "3 points"),
        (lambda: integrate.cumulative_trapezoid(np.ones(4), initial=1), "initial=1"),
        (lambda: funcgrad.grad(lambda c: integrate.quad(lambda x: c if x > 0 else 0.0, -1, 1)[0])(1.0),
         "branch"),
    ],
)  # fmt: skip
def test_errors_of_integrals(call: Any, says: str) -> None:
    with pytest.raises(FuncgradError, match=says):
        call()


# ---------------------------------------------------------------- nothing was found

LOST: dict[str, Callable[[Any], Any]] = {
    "odeint": lambda c: integrate.odeint(lambda y, t: c * y**2, 1.0, np.array([0.0, 2.0]))[-1, 0],
    "few steps": lambda c: integrate.odeint(
        lambda y, t: -c * y, 1.0, np.array([0.0, 9.0]), mxstep=2
    )[-1, 0],
    "solve_ivp": lambda c: integrate.solve_ivp(
        lambda t, y: c * y**2, (0.0, 2.0), [1.0], t_eval=[1.5, 2.0]
    ).y[0, -1],
}


@pytest.mark.parametrize("name", LOST)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_was_not_found_has_no_derivative(name: str) -> None:
    f = LOST[name]
    for way in (f, funcgrad.grad(f), funcgrad.jacfwd(f), funcgrad.jit(funcgrad.grad(f))):
        assert np.isnan(way(1.0))


def test_slopes_that_are_no_numbers_end() -> None:
    found = integrate.solve_ivp(lambda t, y: y * np.nan, (0.0, 1.0), [1.0], t_eval=[1.0])
    assert found.status == -1 and np.isnan(found.y).all()


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
def test_an_integral_that_diverges_has_no_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"epsabs": 1e-8, "epsrel": 1e-8, "norm": "max", "limit": 30}
    monkeypatch.setattr(integrate.quadrature._Tolerance, "of_many", lambda self: few)
    assert np.isnan(funcgrad.grad(lambda c: integrate.quad(lambda x: c / x, 0.0, 1.0)[0])(1.0))
    monkeypatch.undo()
    c = 1.3
    # what is 0 by rounding errors alone is known
    odd = funcgrad.grad(lambda c: integrate.quad(lambda x: np.sin(c * x**3), -1.0, 1.0)[0])(c)
    np.testing.assert_allclose(odd, 0.0, atol=1e-12)
