"""Small matrices in C: LAPACK's results, and its errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax
from funcgrad.compile import c_compiler, c_linalg
from funcgrad.core import REGISTRY
from funcgrad.scipy.linalg import solve_banded, solve_triangular

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="no C compiler")

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "solve": np.linalg.solve,
    "a vector": lambda a, b: np.linalg.solve(a, b[..., 0]),
    "inv": lambda a, b: np.linalg.inv(a) @ b,
    "cholesky": lambda a, b: np.linalg.cholesky(a @ np.swapaxes(a, -1, -2)) @ b,
    "lower": lambda a, b: solve_triangular(a, b, lower=True),
    "upper": lambda a, b: solve_triangular(a, b),
    "ones": lambda a, b: solve_triangular(a, b, lower=True, unit_diagonal=True),
    "both": lambda a, b: solve_triangular(
        a, solve_triangular(a, b, lower=True, unit_diagonal=True)
    ),
    "turned": lambda a, b: solve_triangular(a, b, trans=1),
    "det": lambda a, b: np.linalg.det(a / 5)[..., None, None] * b,
    "slogdet": lambda a, b: (lambda s, log: (s * log)[..., None, None] * b)(*np.linalg.slogdet(a)),
    "qr": lambda a, b: (lambda q, r: q @ b + r @ b)(*np.linalg.qr(a)),
    "tall": lambda a, b: (lambda q, r: q @ r @ b[..., :-1, :])(*np.linalg.qr(a[..., :-1])),
    "wide": lambda a, b: (lambda q, r: q @ r @ b)(*np.linalg.qr(a[..., :-1, :])),
    "cofactor": lambda a, b: REGISTRY["cofactor"](a / 5) @ b,
}


def in_loop(f: Callable[..., Any], *args: Any) -> tuple[Any, str]:
    """Of a scan whose body is `f`, which C has to take as a whole."""

    def run(*args: Any) -> Any:
        return lax.scan(lambda c, _: (c * 1.0, f(c, *args[1:])), args[0], None, length=2)[1]

    compiled = funcgrad.jit(run)
    with funcgrad.config("c"):
        return compiled(*args), compiled.code


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@settings(deadline=None, max_examples=3)
@given(n=st.sampled_from([1, 2, 3, 5, 6, 7, 24]), k=st.sampled_from([1, 2, 5]), data=st.data())
def test_functions(name: str, dtype: str, n: int, k: int, data: Any) -> None:
    lead = data.draw(st.sampled_from([(), (3,), (2, 2)]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    a = (rng.normal(size=(*lead, n, n)) + 3 * np.eye(n)).astype(dtype)
    if data.draw(st.booleans()):
        a = np.ascontiguousarray(np.swapaxes(a, -1, -2)).swapaxes(-1, -2)
    b = rng.normal(size=(*lead, n, k)).astype(dtype)
    f = FUNCTIONS[name]
    if name in ("a vector", "lower", "upper", "ones", "both", "turned") and lead:
        return  # these are of one matrix
    found, code = in_loop(f, a, b)
    assert "for " not in code, code
    expected = np.stack([f(a, b)] * 2)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-3 if dtype == "float32" else 1e-9)

    def total(a: Any) -> Any:
        return np.sum(np.sin(f(a, b)))

    slope = in_loop(funcgrad.grad(total), a)[0][0]
    expected = funcgrad.grad(total)(a)
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(slope, expected, atol=(1e-3 if dtype == "float32" else 1e-9) * scale)


@pytest.mark.parametrize(
    ("f", "bad"),
    [
        (FUNCTIONS["solve"], np.zeros((3, 3))),
        (FUNCTIONS["inv"], np.ones((3, 3))),
        (lambda a, b: np.linalg.cholesky(a) @ b, -np.eye(3)),
        (FUNCTIONS["lower"], np.diag([1.0, 0.0, 2.0])),
    ],
)
def test_what_has_no_solution_raises(f: Callable[..., Any], bad: Any) -> None:
    b = np.ones((3, 2))

    def run(a: Any) -> Any:
        return lax.scan(lambda c, _: (c * 1.0, f(c, b)), a, None, length=2)[1]

    compiled = funcgrad.jit(run)
    with funcgrad.config("c"):
        good = compiled(np.eye(3) * 2)
        assert "for " not in compiled.code
        with pytest.raises(np.linalg.LinAlgError) as found:
            compiled(bad)
        with pytest.raises(np.linalg.LinAlgError) as expected:
            f(bad, b)
        assert str(found.value) == str(expected.value)
        np.testing.assert_array_equal(compiled(np.eye(3) * 2), good)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_determinants_of_odd_matrices(n: int, dtype: str) -> None:
    """Singular ones, with NaN, and of whose elements the products are no numbers."""
    tiny, huge = np.eye(n), np.eye(n)
    tiny[:1], huge[-1:] = np.finfo(dtype).tiny * np.eye(n)[:1], np.finfo(dtype).max * np.eye(n)[-1:]
    unknown = np.triu(np.ones((n, n)))
    unknown[0, -1] = np.nan
    odd = [np.zeros((n, n)), np.ones((n, n)), -np.eye(n)[::-1], tiny, huge, tiny @ huge, unknown]
    a = np.stack(odd).astype(dtype)

    def both(a: Any) -> Any:
        return np.stack([fnp.linalg.det(a), *fnp.linalg.slogdet(a)])

    slope = funcgrad.vmap(funcgrad.grad(np.linalg.det))
    with np.errstate(all="ignore"):
        found, code = in_loop(both, a)
        assert "for " not in code
        np.testing.assert_allclose(found[1], both(a), rtol=1e-4 if dtype == "float32" else 1e-12)
        found, _ = in_loop(slope, a[:-1])
        np.testing.assert_allclose(found[1], slope(a[:-1]), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (1, 3), (3, 1)])
def test_signs_and_scales_of_qr(shape: tuple[int, int]) -> None:
    """Which of the many factors there are is LAPACK's choice, also of columns that are zero or huge."""
    x = np.random.default_rng(0).normal(size=shape)
    lower, upper = np.tril(x), np.triu(x)
    a = np.stack([0 * x, x, -x, lower, upper, -upper, 1e200 * x, 1e-200 * x, np.sign(x)])
    (q, r), code = in_loop(np.linalg.qr, a)
    assert "for " not in code
    for found, expected in zip((q[1], r[1]), np.linalg.qr(a), strict=True):
        scale = np.max(np.abs(expected), axis=(1, 2), keepdims=True) + (expected == 0)
        np.testing.assert_allclose(found / scale, expected / scale, atol=1e-14)
    a[0, 0, -1] = np.nan
    (q, r), _ = in_loop(np.linalg.qr, a)
    assert np.isnan(r[1, 0]).any() and np.isfinite(r[1, 1:]).all()


def test_what_is_no_number_stays() -> None:
    a = np.array([[np.nan, 1.0], [1.0, 2.0]])
    found, _ = in_loop(np.linalg.solve, a, np.ones((2, 1)))
    assert np.isnan(found).any()


def test_pivots() -> None:
    """Without exchanging rows the result would be wrong by 1."""
    a, b = np.array([[1e-20, 1.0], [1.0, 1.0]]), np.array([[1.0], [2.0]])
    found, _ = in_loop(np.linalg.solve, a, b)
    np.testing.assert_allclose(found[0], np.linalg.solve(a, b), rtol=1e-14)


def test_a_filter_is_one_function() -> None:
    """Kalman's filter and the gradient of its likelihood, without a call of LAPACK."""
    rng = np.random.default_rng(0)
    turn, seen = np.array([[1.0, 0.1], [-0.1, 0.95]]), np.array([[1.0, 0.0]])
    ys = rng.normal(size=(20, 1))

    def likelihood(noise: Any) -> Any:
        def step(carry: Any, y: Any) -> Any:
            mean, cov, total = carry
            mean, cov = turn @ mean, turn @ cov @ turn.T + noise * np.eye(2)
            spread = seen @ cov @ seen.T + 0.5 * np.eye(1)
            gain = np.linalg.solve(spread + np.zeros((1, 1)), seen @ cov).T
            off = y - seen @ mean
            root = np.linalg.cholesky(cov)
            total = total - 0.5 * np.sum(off @ np.linalg.inv(spread) @ off) + root[1, 1]
            total = total - np.linalg.slogdet(spread)[1] - np.linalg.det(cov)
            return (mean + gain @ off, cov - gain @ seen @ cov, total), None

        return lax.scan(step, (np.zeros(2), np.eye(2), 0.0), ys)[0][2]

    compiled = funcgrad.jit(funcgrad.value_and_grad(likelihood))
    with funcgrad.config("c"):
        found = compiled(0.3)
        assert "for " not in compiled.code
    np.testing.assert_allclose(found, funcgrad.value_and_grad(likelihood)(0.3), rtol=1e-10)


def test_names_are_primitives() -> None:
    assert set(c_linalg.NAMES) <= set(REGISTRY)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("n", [1, 2, 4, 7, 12, 24])
@pytest.mark.parametrize("size", [1e-9, 0.1, 3.0, 60.0])
def test_exponentials(n: int, size: float) -> None:
    """Scaled as in NumPy, of matrices far from normal by their powers; nothing is a call."""
    rng = np.random.default_rng(n)
    a = rng.normal(size=(6, n, n)) * size / n
    a[1] = np.triu(a[1])
    a[2] -= np.swapaxes(a[2], 0, 1).copy()
    a[3] = 0.0
    a[4] = np.diag(np.full(n, -size))
    a[4, 0, -1] += 1e6 * (n > 1)
    a[5, 0, 0] = np.nan
    expm, frechet = REGISTRY["expm"], REGISTRY["expm_frechet"]
    e = rng.normal(size=(6, n, n))
    functions: list[Callable[..., Any]] = [lambda a, e: expm(a)]
    if n <= 12:
        functions.append(frechet)
        functions.append(funcgrad.grad(lambda a, e: (expm(a[:5]) * e[:5]).sum()))
    for f in functions:
        expected = f(a, e)
        with funcgrad.config("c"):
            compiled = funcgrad.jit(f)
            found = compiled(a, e)
        assert "kernel0(" in compiled.code and "call_" not in compiled.code
        for x, y in zip(found, expected, strict=True):
            scale = np.max(np.abs(y), initial=0.0, where=np.isfinite(y))
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12 * scale * max(size, 1.0))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@settings(deadline=None, max_examples=12)
@given(
    bands=st.sampled_from([(0, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 4), (12, 11)]),
    n=st.sampled_from([1, 2, 3, 7, 40]),
    leads=st.sampled_from([((), ()), ((), (3,)), ((1,), (2,)), ((3,), (3,))]),
    k=st.sampled_from([0, 1, 2]),
    seed=st.integers(0, 99),
)
def test_banded_systems(dtype: str, bands: Any, n: int, leads: Any, k: int, seed: int) -> None:
    """As SciPy solves them, with rows that change places and whatever lies outside of the bands."""
    rng = np.random.default_rng(seed)
    leads = leads if k else ((), ())
    ab = rng.normal(size=(*leads[0], sum(bands) + 1, n))
    ab[..., bands[1], :] += np.where(seed % 2, 6.0, 0.0)  # without, rows change places
    b = rng.normal(size=(*leads[1], n, k) if k else (n,))
    if dtype == "float32" or np.linalg.cond(full(ab.reshape(-1, *ab.shape[-2:])[0], bands)) > 1e4:
        ab[..., bands[1], :] += 9.0 * sum(bands)
    ab, b = ab.astype(dtype), b.astype(dtype)

    def f(ab: Any, b: Any) -> Any:
        return solve_banded(bands, ab, b)

    found, code = in_loop(f, ab, b)
    assert "for " not in code, code
    expected = np.stack([f(ab, b)] * 2)
    tolerance = 1e-3 if dtype == "float32" else 1e-8
    np.testing.assert_allclose(found, expected, atol=tolerance * np.max(np.abs(expected)))

    def total(ab: Any) -> Any:
        return np.sum(np.sin(f(ab, b)))

    slope = in_loop(funcgrad.grad(total), ab)[0][0]
    expected = funcgrad.grad(total)(ab)
    np.testing.assert_allclose(slope, expected, atol=tolerance * np.max(np.abs(expected)))


def full(ab: np.ndarray, bands: tuple[int, int]) -> np.ndarray:
    """The matrix with these diagonals."""
    n = ab.shape[1]
    rows = [
        np.diag(ab[bands[1] - d, max(d, 0) : n + min(d, 0)], d)
        for d in range(-bands[0], bands[1] + 1)
        if abs(d) < n
    ]
    return np.sum(rows, axis=0)


def test_a_banded_system_without_solution_raises_and_nan_goes_through() -> None:
    def run(ab: Any) -> Any:
        return lax.scan(lambda c, _: (c, solve_banded((1, 1), c, np.ones(3))), ab, None, length=2)[
            1
        ]

    compiled = funcgrad.jit(run)
    with funcgrad.config("c"):
        assert compiled(np.array([[1.0] * 3, [3.0] * 3, [1.0] * 3])).shape == (2, 3)
        assert "for " not in compiled.code
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            compiled(np.zeros((3, 3)))
        assert np.isnan(compiled(np.full((3, 3), np.nan))).all()
