"""Linear programs, and minima that are looked for widely, beside SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import FuncgradError
from funcgrad.scipy import optimize
from funcgrad.testing import check_all

so = pytest.importorskip("scipy.optimize")

CHECKS = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]


def program(n: int, m: int, k: int, seed: int) -> dict[str, Any]:
    """A bounded one, whose least point is a vertex."""
    rng = np.random.default_rng(seed)
    inside = rng.uniform(0.2, 0.8, n)
    above, equal = rng.normal(size=(m, n)), rng.normal(size=(k, n))
    return {
        "c": rng.normal(size=n),
        "A_ub": above,
        "b_ub": above @ inside + rng.uniform(0.1, 0.5, m),
        "A_eq": equal,
        "b_eq": equal @ inside,
    }


@settings(max_examples=20)
@given(n=st.integers(1, 5), m=st.integers(0, 4), k=st.integers(0, 2), seed=st.integers(0, 99))
def test_programs_are_scipys(n: int, m: int, k: int, seed: int) -> None:
    given_ = program(n, m, min(k, n - 1), seed)
    theirs = so.linprog(**given_, bounds=(0, 1))

    def fields(found: Any) -> list[Any]:
        parts = (found.eqlin, found.ineqlin, found.lower, found.upper)
        first = [found[name] for name in ("x", "fun", "slack", "con", "success", "status")]
        return first + [part[name] for part in parts for name in ("residual", "marginals")]

    found = funcgrad.jit(lambda given_: fields(optimize.linprog(**given_, bounds=(0, 1))))(given_)
    for ours, expected in zip(found, fields(theirs), strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-8)
    assert optimize.linprog(**given_, bounds=(0, 1)).fun == theirs.fun


@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 0), (3, 2, 1), (4, 5, 0)])
def test_derivatives_of_programs(n: int, m: int, k: int) -> None:
    given_ = program(n, m, k, 1)
    names = list(given_)

    def f(*values: Any) -> Any:
        *parts, low, high = values
        bounds = [(low[i], high[i]) for i in range(n)]
        found = optimize.linprog(**dict(zip(names, parts, strict=True)), bounds=bounds)
        return found.x, parts[0] @ found.x

    args = (*given_.values(), np.zeros(n), np.ones(n))
    check_all(f, args, only=CHECKS).raise_if_failed()


def test_marginals_are_derivatives() -> None:
    given_ = program(4, 3, 1, 2)

    def least(b_ub: Any, b_eq: Any) -> Any:
        found = optimize.linprog(**(given_ | {"b_ub": b_ub, "b_eq": b_eq}), bounds=(0, 1))
        return found.fun, (found.ineqlin.marginals, found.eqlin.marginals)

    slopes, marginals = funcgrad.grad(least, argnums=(0, 1), has_aux=True)(
        given_["b_ub"], given_["b_eq"]
    )
    for slope, marginal in zip(slopes, marginals, strict=True):
        np.testing.assert_allclose(slope, marginal, atol=1e-12)


def test_ways_to_give_bounds() -> None:
    c, above = np.array([-1.0, -2.0, 3.0]), np.array([[1.0, 1.0, -1.0]])
    for bounds in (
        (0, 3), [(0, 3), (None, 2), (-1, None)], np.array([[0.0, 3.0]] * 3), None,
        [(0, 3)] * 3,
    ):  # fmt: skip
        slope = funcgrad.grad(
            lambda b, bounds=bounds: optimize.linprog(c, above, b, bounds=bounds).fun
        )(np.array([4.0]))
        theirs = so.linprog(c, above, [4.0], bounds=(0, None) if bounds is None else bounds)
        np.testing.assert_allclose(slope, theirs.ineqlin.marginals, atol=1e-12)


def test_programs_without_a_least_value() -> None:
    for c, b in ((-1.0, 1.0), (1.0, -1.0)):
        above = [[-1.0]] if c < 0 else [[1.0]]
        value, slope = funcgrad.value_and_grad(
            lambda b, c=c, above=above: optimize.linprog([c], above, b).fun
        )(np.array([b]))
        assert np.isnan(value)
        assert np.isnan(slope).all()

    def said(b: Any) -> Any:
        found = optimize.linprog([1.0], [[1.0]], b)
        return found.status, found.success

    status, success = funcgrad.jit(said)(np.array([-1.0]))
    assert status == 2
    assert not success


# ---------------------------------------------------------------- minima far away


def loss(x: Any, c: Any) -> Any:
    return np.sum((x - c) ** 2 + 0.3 * (1 - np.cos(9 * (x - c)))) + 0.1 * x[0] * x[1]


BOX = [(-4.0, 4.0), (-3.0, 5.0)]
WAYS: dict[str, Any] = {
    "differential_evolution": lambda m, f: m.differential_evolution(f, BOX, rng=0, maxiter=60),
    "dual_annealing": lambda m, f: m.dual_annealing(f, BOX, rng=0, maxiter=60),
    "shgo": lambda m, f: m.shgo(f, BOX, n=64, sampling_method="sobol"),
    "basinhopping": lambda m, f: m.basinhopping(f, np.zeros(2), 40, rng=0),
}


@pytest.mark.parametrize("name", WAYS)
def test_wide_minima(name: str) -> None:
    c = np.array([1.0, 2.0])
    theirs = WAYS[name](so, lambda x: loss(x, c))
    ours = WAYS[name](optimize, lambda x: loss(x, c))
    np.testing.assert_array_equal(ours.x, theirs.x)

    def at(c: Any) -> Any:
        return WAYS[name](optimize, lambda x: loss(x, c)).x

    found, slope = at(c), funcgrad.jacrev(at)(c)
    hessian = funcgrad.hessian(loss)(found, c)
    mixed = funcgrad.jacfwd(funcgrad.grad(loss), argnums=1)(found, c)
    np.testing.assert_allclose(slope, -np.linalg.solve(hessian, mixed), rtol=1e-9, atol=1e-12)
    jitted = funcgrad.jit(funcgrad.jacrev(at))(c)
    np.testing.assert_allclose(jitted, slope, rtol=1e-6, atol=1e-9)


def test_a_wide_minimum_on_a_bound() -> None:
    def at(c: Any) -> Any:
        box = [(0.0, 1.0), (0.0, 3.0)]
        return optimize.differential_evolution(lambda x: np.sum((x - c) ** 2), box, rng=0).x

    slope = funcgrad.jacrev(at)(np.array([2.0, 2.0]))
    np.testing.assert_allclose(slope, [[0.0, 0.0], [0.0, 1.0]], atol=1e-6)


# ---------------------------------------------------------------- Rosenbrock


@given(n=st.integers(2, 5), seed=st.integers(0, 99))
def test_rosenbrocks_function(n: int, seed: int) -> None:
    x, p = np.random.default_rng(seed).normal(size=(2, n))
    for name in ("rosen", "rosen_der", "rosen_hess"):
        np.testing.assert_allclose(getattr(optimize, name)(x), getattr(so, name)(x), rtol=1e-12)
    np.testing.assert_allclose(
        optimize.rosen_hess_prod(x, p), so.rosen_hess_prod(x, p), rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(optimize.rosen(np.stack([x, p], 1)), so.rosen(np.stack([x, p], 1)))
    check_all(optimize.rosen_der, (x,), only=CHECKS).raise_if_failed()


Z = np.zeros((1, 2))
MISTAKES = [
    (lambda b: optimize.linprog([1.0], [[1.0]], b, method="highs-ipm"), "highs-ipm"),
    (lambda b: optimize.linprog([1.0], Z, b), "A_ub is"),
    (lambda b: optimize.linprog([1.0], [[1.0]]), "belong together"),
    (lambda b: optimize.linprog(Z, Z, b), "need a row"),
    (lambda b: optimize.linprog([1.0], [[1.0]], b, bounds=[(0, 1)] * 3), "3 bounds for 1"),
    (lambda b: optimize.linprog([1.0], [[1.0]], b, integrality=[1]), "integrality"),
    (lambda b: optimize.linprog([0.0, 0.0], [[1.0, 1.0]], b, bounds=(None, None)), "no vertex"),
    (lambda b: optimize.shgo(lambda x: x @ x, BOX, constraints={"type": "eq"}), "constraints"),
    (
        lambda b: optimize.basinhopping(
            lambda x: x @ x, [1.0], minimizer_kwargs={"bounds": [(0, 1)]}
        ),
        "bounds",
    ),
    (lambda b: optimize.rosen(1.0), "one axis"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_mistakes_with_programs(call: Any, words: str) -> None:
    with pytest.raises(FuncgradError, match=words):
        funcgrad.grad(lambda b: call(b).fun + 0.0 * b.sum())(np.array([1.0]))
