"""`funcgrad.numpy.polynomial` against ``numpy.polynomial``: every function of every family."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.numpy import polynomial as ours
from funcgrad.testing import check_grads

PREFIXES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "hermite": "herm",
    "hermite_e": "herme",
    "laguerre": "lag",
}

Call = tuple[str, tuple[Any, ...], dict[str, Any]]


def arguments(rng: np.random.Generator, dtype: Any) -> list[Call]:
    """A call of every function, with a leading coefficient that is not small."""

    def some(*shape: int) -> np.ndarray:
        return rng.uniform(0.4, 1.6, shape).astype(dtype)

    m, n = rng.integers(1, 6, 2)
    x, t = some(2, 3), some(7) + np.arange(7, dtype=dtype)
    return [
        ("val", (x, some(m)), {}),
        ("val", (some(3), some(n, 2)), {}),
        ("val", (some(3), some(n, 3), False), {}),
        ("val2d", (x, some(2, 3), some(m, n)), {}),
        ("val3d", (x, some(2, 3), some(2, 3), some(2, m, n)), {}),
        ("grid2d", (some(2), some(3), some(m, n)), {}),
        ("grid3d", (some(2), some(3), some(2), some(2, m, n)), {}),
        ("vander", (x, int(m)), {}),
        ("der", (some(m + 1),), {"m": int(rng.integers(0, 4)), "scl": 2.0}),
        ("der", (some(2, m + 1),), {"axis": 1}),
        ("int", (some(m),), {"m": 2, "k": [0.5, 1.5], "lbnd": 0.5, "scl": 2.0}),
        ("int", (some(m, 2),), {"m": 1, "k": 0.25}),
        ("int", (some(2, m),), {"m": 1, "axis": -1}),
        ("mulx", (some(m),), {}),
        ("add", (some(m), some(n)), {}),
        ("sub", (some(m), some(n)), {}),
        ("mul", (some(m), some(n)), {}),
        ("pow", (some(m), int(n) - 1), {}),
        ("fromroots", (some(m),), {}),
        ("companion", (some(m + 1),), {}),
        ("fit", (t, some(7), min(int(m), 3)), {}),
        ("fit", (t, some(7, 2), 2), {"w": some(7)}),
        ("fit", (t, some(7), [3, 0, 1]), {}),
        ("line", (0.5, 1.5), {}),
        ("vander2d", (x, some(2, 3), (int(m), 2)), {}),
        ("vander3d", (x, some(2, 3), some(2, 3), (1, int(m), 2)), {}),
        ("weight", (some(3) - 0.7,), {}),
        ("valfromroots", (x, some(m)), {}),
        ("valfromroots", (some(3), some(n, 3), False), {}),
        ("2poly", (some(m),), {}),
        ("poly2", (some(m),), {}),
    ]


def functions(family: str, name: str) -> tuple[Any, Any] | None:
    prefix = PREFIXES[family]
    full = name + prefix if name == "poly2" else prefix + name
    space = getattr(np.polynomial, family)
    return (
        (getattr(getattr(ours, family), full), getattr(space, full))
        if hasattr(space, full)
        else None
    )


@pytest.mark.parametrize("family", PREFIXES)
@given(seed=st.integers(0, 10**6), dtype=st.sampled_from([np.float64, np.float32]))
def test_values(family: str, seed: int, dtype: Any) -> None:
    for name, args, options in arguments(np.random.default_rng(seed), dtype):
        pair = functions(family, name)
        if pair is None:
            continue
        found, expected = (f(*args, **options) for f in pair)
        assert found.shape == expected.shape, name
        assert found.dtype == (np.float64 if name == "line" else dtype), name
        scale = max(np.abs(expected).max(initial=0), 1)
        loose = 3e-2 if name == "fit" else 1e-4
        tolerance = loose if dtype is np.float32 else 1e-9
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("family", PREFIXES)
def test_derivatives(family: str) -> None:
    """Of all functions; they share their code, so what has no recurrence once only."""
    for name, args, options in arguments(np.random.default_rng(3), np.float64):
        pair = functions(family, name)
        if pair is None or (family != "laguerre" and name not in ("val", "vander", "mul")):
            continue
        places = [i for i, a in enumerate(args) if isinstance(a, np.ndarray)]
        if not places:
            continue

        def f(
            *xs: Any,
            pair: Any = pair,
            args: Any = args,
            options: Any = options,
            places: Any = places,
        ) -> Any:
            given = list(args)
            for i, x in zip(places, xs, strict=True):
                given[i] = x
            return pair[0](*given, **options)

        check_grads(f, tuple(args[i] for i in places))


@pytest.mark.parametrize("family", PREFIXES)
def test_roots(family: str) -> None:
    c = np.array([-0.3, 0.2, -1.1, 0.7])
    roots, _ = functions(family, "roots")
    val = functions(family, "val")[0]
    fromroots = functions(family, "fromroots")[0]
    np.testing.assert_allclose(np.sort(roots(c)), np.sort_complex(functions(family, "roots")[1](c)))
    np.testing.assert_allclose(val(roots(c), c), 0, atol=1e-12)
    simple = np.array([0.3, 1.1, 2.4])
    jacobian = funcgrad.jacrev(lambda r: roots(fromroots(r)).real)(simple)
    np.testing.assert_allclose(jacobian, np.eye(3), atol=1e-8)


def test_integers_and_complex_numbers() -> None:
    for family, prefix in PREFIXES.items():
        val, theirs = functions(family, "val")
        assert val(2, [1, 2, 3]).dtype == theirs(2, [1, 2, 3]).dtype == np.float64, prefix
        z = np.array([0.5 + 1j, -1j])
        np.testing.assert_allclose(val(z, [1, 2j, 3]), theirs(z, [1, 2j, 3]), rtol=1e-12)
        check_grads(
            lambda c, k, family=family: functions(family, "int")[0](c, 1, k), (np.ones(3), 2.0)
        )


def test_what_is_refused() -> None:
    cheb = ours.chebyshev
    with pytest.raises(ShapeError, match="chebval2d: points"):
        cheb.chebval2d([1.0], [1.0, 2.0], np.eye(2))
    with pytest.raises(ArgumentError, match="chebfit"):
        cheb.chebfit([1.0, 2.0], [1.0, 2.0], [0, -1])
    with pytest.raises(ArgumentError, match="chebpow"):
        cheb.chebpow([1.0, 2.0], 0.5)
    with pytest.raises(ShapeError, match="a series of shape"):
        cheb.chebmul([], [1.0])


@pytest.mark.parametrize("family", PREFIXES)
@given(seed=st.integers(0, 10**6))
def test_quotients(family: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 7, 2)
    a, b = rng.uniform(0.4, 1.6, m), rng.uniform(0.4, 1.6, n)
    div, theirs = functions(family, "div")
    mul, add = functions(family, "mul")[0], functions(family, "add")[0]
    quotient, remainder = div(a, b)
    for found, expected in zip((quotient, remainder), theirs(a, b), strict=True):
        np.testing.assert_allclose(found[: expected.size], expected, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(found[expected.size :], 0.0, atol=1e-7)
    whole = add(mul(quotient, b), remainder)
    np.testing.assert_allclose(whole[:m], a, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(whole[m:], 0.0, atol=1e-7)


@pytest.mark.parametrize("family", PREFIXES)
def test_derivatives_by_options(family: str) -> None:
    c, root = np.array([0.5, 1.0, 2.0, 0.7]), np.array([0.3, 0.9, 1.4])
    der, integral, fit, div = (functions(family, n)[0] for n in ("der", "int", "fit", "div"))
    check_grads(lambda c, s: der(c, 2, s), (c, 1.5))
    check_grads(lambda c, k, b, s: integral(c, 2, [k, 0.5], b, s), (c, 0.2, 0.4, 1.5))
    check_grads(lambda x, y: fit(x, y, [0, 2], full=True)[:1], (root, root**2 + 1))
    check_grads(lambda a, b: div(a, b), (c, root))
    check_grads(functions(family, "line")[0], (np.array(0.3), np.array(0.4)))


def test_interpolation_and_constants() -> None:
    theirs = np.polynomial.chebyshev
    f = lambda x, a: np.exp(a * x)  # noqa: E731
    np.testing.assert_allclose(
        ours.chebyshev.chebinterpolate(f, 5, (0.5,)), theirs.chebinterpolate(f, 5, (0.5,))
    )
    check_grads(lambda a: ours.chebyshev.chebinterpolate(f, 3, (a,)), (np.array(0.5),))
    assert ours.chebyshev.chebpts2(4).tolist() == theirs.chebpts2(4).tolist()
    for family, prefix in PREFIXES.items():
        assert functions(family, "fromroots")[0]([]).tolist() == [1.0]
        if family != "polynomial":
            found, expected = (f(3) for f in functions(family, "gauss"))
            np.testing.assert_array_equal(found, expected)
            assert getattr(ours, family).__dict__[f"{prefix}weight"](0.5).shape == ()
