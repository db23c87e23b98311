"""`lsqr`, `lsmr`, `eigsh`, `svds`: values as SciPy's, derivatives as those of the dense functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import tree
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy.sparse import linalg as ours

sparse = pytest.importorskip("scipy.sparse")
theirs = pytest.importorskip("scipy.sparse.linalg")

TIGHT = {"atol": 1e-14, "btol": 1e-14, "conlim": 0}
SHAPES = [(5, 3), (3, 5), (4, 4)]


def matrix(m: int, n: int, seed: int, kind: str = "f") -> Any:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(m, n))
    return a + 1j * rng.normal(size=(m, n)) if kind == "c" else a


def size(x: Any) -> Any:
    """A number that has every derivative."""
    return fnp.sum(fnp.absolute(x - 0.3) ** 2 * fnp.arange(1.0, 1.0 + x.size).reshape(x.shape))


def same(f: Any, g: Any, *args: Any, rtol: float = 1e-6) -> None:
    """Equal gradients, by both modes and compiled, and second derivatives."""
    places = tuple(range(len(args)))
    expected = funcgrad.grad(g, places)(*args)
    for t in (f, funcgrad.jit(f)):
        for x, y in zip(funcgrad.grad(t, places)(*args), expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)
    dots = tree.map(np.cos, args)
    found, slope = funcgrad.jvp(f, args, dots)
    np.testing.assert_allclose(found, g(*args), rtol=rtol)
    np.testing.assert_allclose(slope, funcgrad.jvp(g, args, dots)[1], rtol=rtol, atol=rtol)

    def bend(h: Any) -> Any:
        return funcgrad.jvp(funcgrad.grad(h, places), args, dots)[1]

    for x, y in zip(bend(f), bend(g), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e2 * rtol, atol=1e2 * rtol)


# ---------------------------------------------------------------- least squares


@given(
    st.sampled_from(["lsqr", "lsmr"]), st.sampled_from(SHAPES), st.integers(0, 99), st.booleans()
)
def test_least_squares_are_scipys(
    name: str, shape: tuple[int, int], seed: int, start: bool
) -> None:
    a, b = matrix(*shape, seed), matrix(shape[0], 1, seed + 1)
    x0 = matrix(shape[1], 1, seed + 2)[:, 0] if start else None
    for damp in (0.0, 0.7):
        expected = getattr(theirs, name)(a, b, damp, x0=x0)
        solve = getattr(ours, name)
        for given_matrix in (a, sparse.csr_array(a), ours.LinearOperator(shape, lambda x: a @ x)):
            for found in (
                solve(given_matrix, b, damp, x0=x0),
                funcgrad.jit(lambda b, a=given_matrix: solve(a, b, damp, x0=x0))(b),  # noqa: B023
            ):
                assert len(found) == len(expected)
                for x, y in zip(found, expected, strict=True):
                    np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["lsqr", "lsmr"])
@pytest.mark.parametrize("kind", ["f", "c"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_slopes_of_least_squares(name: str, kind: str, shape: tuple[int, int]) -> None:
    if name == "lsmr" and kind == "c":  # SciPy's compares complex numbers
        return
    a, b = matrix(*shape, 0, kind), matrix(shape[0], 1, 1, kind)[:, 0]
    solve = getattr(ours, name)

    def dense(a: Any, b: Any) -> Any:
        return size(fnp.linalg.pinv(a) @ b)

    same(lambda a, b: size(solve(a, b, **TIGHT)[0]), dense, a, b)

    def damped(a: Any, b: Any, damp: Any, x0: Any) -> Any:
        n = a.shape[1]
        normal = fnp.conj(a).T @ a + damp**2 * np.eye(n)
        return size(fnp.linalg.solve(normal, fnp.conj(a).T @ b + damp**2 * x0))

    x0 = matrix(shape[1], 1, 2, kind)[:, 0]
    same(
        lambda a, b, d, x: size(solve(a, b, d, x0=x, **TIGHT)[0]), damped, a, b, np.float64(0.6), x0
    )
    # undamped, what A does not see of x0 stays
    same(
        lambda a, x: size(solve(a, b, x0=x, **TIGHT)[0]),
        lambda a, x: size(x + fnp.linalg.pinv(a) @ (b - a @ x)),
        a,
        x0,
    )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_least_squares_of_operators(shape: tuple[int, int]) -> None:
    """By what a function closes over; of sparse matrices by the right side, of many at once."""
    a, b = matrix(*shape, 3), matrix(shape[0], 1, 4)[:, 0]

    def operator(t: Any) -> Any:
        return ours.LinearOperator(shape, lambda x: a @ (fnp.exp(t) * x) + t * fnp.sum(x))

    def dense(t: Any) -> Any:
        return a * fnp.exp(t) + t

    same(
        lambda t, b: size(ours.lsqr(operator(t), b, **TIGHT)[0]),
        lambda t, b: size(fnp.linalg.pinv(dense(t)) @ b),
        np.float64(0.3),
        b,
    )
    held = sparse.csr_array(a)
    same(
        lambda b: size(ours.lsmr(held, b, **TIGHT)[0]),
        lambda b: size(np.linalg.pinv(a) @ b),
        b,
    )
    rows = np.stack([b, 2 * b, -b])
    found = funcgrad.vmap(funcgrad.grad(lambda b: size(ours.lsqr(held, b, **TIGHT)[0])))(rows)
    expected = funcgrad.vmap(funcgrad.grad(lambda b: size(np.linalg.pinv(a) @ b)))(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def test_matrices_of_low_rank() -> None:
    """Among matrices of one rank the derivative of the pseudoinverse is known, too."""
    u, v, b = matrix(6, 2, 0), matrix(2, 5, 1), matrix(6, 1, 2)[:, 0]
    same(
        lambda u, v: size(ours.lsqr(u @ v, b, **TIGHT)[0]),
        lambda u, v: size(fnp.linalg.pinv(v) @ fnp.linalg.pinv(u) @ b),
        u,
        v,
    )


# ---------------------------------------------------------------- eigenvalues


def hermitian(n: int, seed: int, kind: str = "f") -> Any:
    a = matrix(n, n, seed, kind)
    return a + a.conj().T


@given(st.integers(4, 12), st.integers(0, 99), st.sampled_from("fc"), st.sampled_from(["LM", "SA"]))
def test_eigenvalues_are_scipys(n: int, seed: int, kind: str, which: str) -> None:
    a = hermitian(n, seed, kind)
    expected = theirs.eigsh(a, 2, which=which, return_eigenvectors=False)
    op = ours.LinearOperator((n, n), lambda x: a @ x, dtype=a.dtype)
    for given_matrix in (a, sparse.csr_array(a), op):
        found = ours.eigsh(given_matrix, 2, which=which, return_eigenvectors=False)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        w, v = funcgrad.jit(lambda t, a=given_matrix: ours.eigsh(a, 2, which=which))(0.0)
        np.testing.assert_allclose(np.sort(w), np.sort(expected), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(a @ v, v * w, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", ["f", "c"])
@pytest.mark.parametrize("options", [{"which": "LA"}, {"which": "SA"}, {"sigma": 0.1}], ids=str)
def test_slopes_of_eigenvalues(kind: str, options: dict[str, Any]) -> None:
    a, b = hermitian(7, 0, kind), hermitian(7, 1, kind)
    w = np.linalg.eigvalsh(a)
    at = {"LA": [5, 6], "SA": [0, 1]}.get(options.get("which", ""))
    chosen = np.sort(np.argsort(np.abs(w - 0.1))[:2]) if at is None else at

    def by(values: Any, vectors: Any) -> Any:
        # neither signs, phases nor the order count
        inside = fnp.absolute(fnp.conj(vectors).T @ (b @ vectors))
        return fnp.sum(values**3) + fnp.sum(fnp.sin(fnp.diagonal(inside) * values))

    def large(a: Any) -> Any:
        return by(*ours.eigsh(a, 2, **options))

    def dense(a: Any) -> Any:
        values, vectors = fnp.linalg.eigh(a)
        return by(values[chosen], vectors[:, chosen])

    same(large, dense, a, rtol=1e-5)

    def operator(t: Any) -> Any:
        return ours.LinearOperator((7, 7), lambda x: a @ x + t * (b @ x), dtype=a.dtype)

    if "sigma" not in options:
        same(lambda t: large(operator(t)), lambda t: dense(a + t * b), np.float64(0.1), rtol=1e-5)


@pytest.mark.parametrize("kind", ["f", "c"])
@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (6, 6)], ids=str)
def test_singular_values(kind: str, shape: tuple[int, int]) -> None:
    a, b = matrix(*shape, 0, kind), matrix(*shape, 1, kind)

    def by(u: Any, s: Any, vh: Any) -> Any:
        return fnp.sum(s**2) + fnp.sum(fnp.absolute(fnp.conj(u).T @ b @ fnp.conj(vh).T))

    def dense(a: Any) -> Any:
        u, s, vh = fnp.linalg.svd(a, full_matrices=False)
        return by(u[:, :2], s[:2], vh[:2])

    same(lambda a: by(*ours.svds(a, 2)), dense, a, rtol=1e-5)
    found = funcgrad.jit(lambda a: ours.svds(a, 2, return_singular_vectors=False))(a)
    np.testing.assert_allclose(found, theirs.svds(a, 2, return_singular_vectors=False), rtol=1e-9)
    rebuilt = funcgrad.jit(lambda a: ours.svds(a, 2))(a)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    np.testing.assert_allclose(
        (rebuilt[0] * rebuilt[1]) @ rebuilt[2], (u[:, :2] * s[:2]) @ vh[:2], atol=1e-9
    )


def test_only_part_of_a_matrix_counts() -> None:
    """The Hermitian one, as for `eigh`."""
    a = hermitian(5, 2)
    v0 = np.ones(5)
    slope = funcgrad.grad(lambda a: ours.eigsh(a, 1, v0=v0)[1][0, 0])(a)
    np.testing.assert_allclose(slope, slope.T, atol=1e-12)


def test_single_precision() -> None:
    a, b = matrix(6, 4, 0).astype(np.float32), np.ones(6, np.float32)
    square = a @ a.T
    for f in (
        lambda a: size(ours.lsqr(a, b)[0]),
        lambda a: size(ours.lsqr(a, b, 0.5)[0]),
        lambda a: size(fnp.absolute(ours.eigsh(a @ a.T, 1)[1])),
        lambda a: size(fnp.absolute(ours.svds(a, 1)[0])),
    ):
        found, expected = funcgrad.grad(f)(a), funcgrad.grad(f)(a.astype(np.float64))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=2e-2, atol=2e-3)
    assert funcgrad.jit(lambda a: ours.eigsh(a, 1)[0])(square).dtype == np.float32


def test_double_eigenvalues() -> None:
    """Their vectors have no derivative; that is said."""
    a = np.diag([3.0, 3.0, 1.0, 0.5, 0.2, 0.1])

    def part(t: Any) -> Any:
        e = np.zeros((6, 6))
        e[0, 1] = e[1, 0] = 1.0
        return ours.eigsh(a + t * e, 1, v0=np.eye(6)[0] + 0.01)[1][0, 0]

    assert not abs(funcgrad.grad(part)(0.0)) < 1e6


# ---------------------------------------------------------------- refusals


def test_refusals() -> None:
    a, b = matrix(4, 3, 0), np.ones(4)
    with pytest.raises(ShapeError, match="lsqr: A has shape"):
        ours.lsqr(a, np.ones(3))
    with pytest.raises(ShapeError, match="eigsh: A has shape"):
        ours.eigsh(a, 1)
    with pytest.raises(ArgumentError, match="svds: A is function"):
        ours.svds(lambda x: x, 1)
    with pytest.raises(ArgumentError, match="lsqr: calc_var"):
        funcgrad.grad(lambda b: fnp.sum(ours.lsqr(a, b, calc_var=True)[0]))(b)
    with pytest.raises(ArgumentError, match="eigsh: M="):
        funcgrad.grad(lambda t: ours.eigsh(t * np.eye(4), 1, M=np.eye(4))[0][0])(1.0)
    with pytest.raises(ArgumentError, match="lsmr: damp"):
        funcgrad.grad(lambda d: fnp.sum(ours.lsmr(a, b, d)[0]))(np.ones(2))
    with pytest.raises(ArgumentError, match="svds: return_singular_vectors"):
        funcgrad.grad(lambda t: ours.svds(t * a, 1, return_singular_vectors="u")[0][0, 0])(1.0)
