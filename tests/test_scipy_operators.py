"""Matrices that are functions, products with exponentials, Hausdorff's distance, whitened columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import FuncgradError
from funcgrad.scipy import cluster, spatial
from funcgrad.scipy.sparse import linalg
from funcgrad.testing import check_all

ssl = pytest.importorskip("scipy.sparse.linalg")
sparse = pytest.importorskip("scipy.sparse")

CHECKS = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]
rng = np.random.default_rng(0)
A = rng.normal(size=(3, 4))
X, Y = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))

# ---------------------------------------------------------------- functions as matrices


@pytest.mark.parametrize("dtype", ["d", "D"])
@pytest.mark.parametrize("given_back", [True, False])
def test_operators_are_scipys(dtype: str, given_back: bool) -> None:
    a = (A * (1 + 0.5j) if dtype == "D" else A).astype(dtype)
    back = (lambda y: a.conj().T @ y) if given_back else None
    ours = linalg.LinearOperator(a.shape, lambda x: a @ x, back, dtype=dtype)
    theirs = ssl.aslinearoperator(a)
    for x, y in ((X, Y), (X[:, 0], Y[:, 0])):
        np.testing.assert_allclose(ours @ x, theirs @ x, rtol=1e-13)
        np.testing.assert_allclose(ours.matvec(x), a @ x, rtol=1e-13)
        np.testing.assert_allclose(ours.rmatvec(y), theirs.H @ y, rtol=1e-13)
        np.testing.assert_allclose(ours.H @ y, theirs.H @ y, rtol=1e-13)
        np.testing.assert_allclose(ours.H.H @ x, a @ x, rtol=1e-13)
    assert ours.H.shape == (4, 3)


def test_solvers_take_operators() -> None:
    def f(a: Any, b: Any) -> Any:
        square = linalg.LinearOperator((3, 3), lambda x: a @ (a.T @ x) + x)
        found = linalg.cg(square, b, rtol=1e-12)[0]
        return found, linalg.gmres(square, b, rtol=1e-12)[0], square @ b

    found, again, _ = f(A, Y[:, 0])
    np.testing.assert_allclose(found, np.linalg.solve(A @ A.T + np.eye(3), Y[:, 0]), rtol=1e-9)
    np.testing.assert_allclose(again, found, rtol=1e-9)
    check_all(f, (A, Y[:, 0]), only=CHECKS[:-1]).raise_if_failed()


# ---------------------------------------------------------------- exponentials


@given(n=st.integers(1, 5), size=st.floats(0.0, 30.0), seed=st.integers(0, 99))
def test_products_with_exponentials_are_scipys(n: int, size: float, seed: int) -> None:
    r = np.random.default_rng(seed)
    a = r.normal(size=(n, n)) - 2.0 * np.eye(n)
    a *= size / max(np.abs(a).sum(axis=0).max(), 1e-3)
    for b in (r.normal(size=n), r.normal(size=(n, 2))):
        expected = ssl.expm_multiply(a, b, traceA=np.trace(a))
        scale = 1e-12 * np.abs(expected).max() + 1e-13 * np.exp(min(size, 3.0))
        for matrix in (a, sparse.csr_array(a)):
            found = linalg.expm_multiply(matrix, b)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e3 * scale)


def test_times_of_exponentials() -> None:
    a = rng.normal(size=(3, 3))
    for options in ({"num": 4}, {"num": 4, "endpoint": False}, {}):
        found = linalg.expm_multiply(a, Y, start=0.1, stop=1.3, **options)
        expected = ssl.expm_multiply(a, Y, start=0.1, stop=1.3, **options)
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_derivatives_of_exponentials() -> None:
    a = rng.normal(size=(3, 3))
    check_all(linalg.expm_multiply, (a, Y), only=CHECKS).raise_if_failed()
    held = sparse.csr_array(2.0 * a)
    check_all(lambda b: linalg.expm_multiply(held, b), (Y,), only=CHECKS).raise_if_failed()


# ---------------------------------------------------------------- distances, columns


@given(m=st.integers(1, 6), n=st.integers(1, 6), k=st.integers(1, 3), seed=st.integers(0, 99))
def test_hausdorffs_distance_is_scipys(m: int, n: int, k: int, seed: int) -> None:
    r = np.random.default_rng(seed)
    u, v = r.normal(size=(m, k)), r.normal(size=(n, k))
    found = spatial.distance.directed_hausdorff(u, v)
    theirs = pytest.importorskip("scipy.spatial.distance").directed_hausdorff(u, v)
    np.testing.assert_allclose([float(x) for x in found], theirs, rtol=1e-12)
    only = ["types", "finite", "transpose", "numerical", "vmap", "jit"]
    f = spatial.distance.directed_hausdorff
    check_all(lambda u, v: f(u, v)[0], (u, v), only=only).raise_if_failed()


def test_whitened_columns() -> None:
    sv = pytest.importorskip("scipy.cluster.vq")
    for x in (A, A[:, 0], np.arange(6).reshape(3, 2)):
        np.testing.assert_allclose(cluster.vq.whiten(x), sv.whiten(x), rtol=1e-13)
    check_all(cluster.vq.whiten, (A,), only=CHECKS).raise_if_failed()
    still = np.stack([A[:, 0], np.ones(3)], axis=1)
    with pytest.warns(RuntimeWarning, match="constant"):
        found = cluster.vq.whiten(still)
    assert found[:, 1].tolist() == [1.0, 1.0, 1.0]
    with pytest.warns(RuntimeWarning, match="constant"):
        slope = funcgrad.grad(lambda x: (cluster.vq.whiten(x) ** 2).sum())(still)
    assert np.isfinite(slope).all()


MISTAKES = [
    (lambda: linalg.LinearOperator((3, 4), lambda x: A @ x) @ X[:3], "the operand is"),
    (lambda: linalg.expm_multiply(A, Y), "need \\(n, n\\)"),
    (lambda: linalg.expm_multiply(A[:, :3], Y, start=1.0), "need both"),
    (lambda: spatial.distance.directed_hausdorff(A, A[:0]), "rows of one length"),
    (lambda: cluster.vq.whiten(1j * A), "real numbers"),
    (lambda: cluster.vq.whiten(A[:0]), "need a row"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_mistakes_with_operators(call: Any, words: str) -> None:
    with pytest.raises(FuncgradError, match=words):
        call()
