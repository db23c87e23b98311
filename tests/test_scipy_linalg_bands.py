"""RQ factors, eigenvalues of bands, angles between subspaces and signs of matrices beside SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.scipy.linalg as fsl
from funcgrad.errors import ArgumentError, FuncgradError, MissingRuleError
from funcgrad.testing import check_all

sl = pytest.importorskip("scipy.linalg")

CHECKS = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]
sizes = st.integers(1, 5)


def matrices(*shape: int, dtype: str = "d", seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype in "DF" else x).astype(dtype)


# ---------------------------------------------------------------- RQ


@given(m=sizes, n=sizes, dtype=st.sampled_from("dD"), seed=st.integers(0, 99))
def test_rq_is_scipys(m: int, n: int, dtype: str, seed: int) -> None:
    a = matrices(2, m, n, dtype=dtype, seed=seed)
    for mode in ("full", "economic"):
        r, q = fsl.rq(a, mode=mode)
        for i in range(2):
            for found, expected in zip((r[i], q[i]), sl.rq(a[i], mode=mode), strict=True):
                assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            np.testing.assert_allclose(r[i] @ q[i], a[i], atol=1e-12)
        k = min(m, n)
        low = r[0][-k:, r.shape[-1] - k :]
        np.testing.assert_allclose(low, np.triu(low), atol=1e-12)
        np.testing.assert_allclose(low, sl.rq(a[0], mode=mode)[0][-k:, -k:], atol=1e-10)
    np.testing.assert_array_equal(fsl.rq(a, mode="r"), fsl.rq(a)[0])


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2)])
@pytest.mark.parametrize("dtype", ["d", "D"])
def test_derivatives_of_rq(shape: tuple[int, int], dtype: str) -> None:
    a = matrices(*shape, dtype=dtype)
    check_all(lambda a: fsl.rq(a, mode="economic"), (a,), only=CHECKS).raise_if_failed()
    if shape == (2, 4):
        with pytest.raises(MissingRuleError):
            funcgrad.grad(lambda a: abs(fsl.rq(a)[1]).sum())(a)


# ---------------------------------------------------------------- bands


@given(
    n=sizes, u=st.integers(0, 4), lower=st.booleans(), dtype=st.sampled_from("dD"),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_eigenvalues_of_bands_are_scipys(
    n: int, u: int, lower: bool, dtype: str, seed: int
) -> None:
    ab = matrices(min(u, n - 1) + 1, n, dtype=dtype, seed=seed)
    ab[0 if lower else -1] = ab[0 if lower else -1].real
    w, v = fsl.eig_banded(ab, lower)
    theirs = sl.eig_banded(ab, lower)
    np.testing.assert_allclose(w, theirs[0], atol=1e-12)
    np.testing.assert_allclose(abs(v), abs(theirs[1]), atol=1e-6)
    np.testing.assert_allclose(fsl.eigvals_banded(ab, lower), w, atol=1e-12)
    for options in (
        {"select": "i", "select_range": (0, n // 2)},
        {"select": "v", "select_range": (-1.0, 1.0)},
    ):
        found, expected = (m.eigvals_banded(ab, lower, **options) for m in (fsl, sl))
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("lower", [True, False])
def test_derivatives_of_eigenvalues_of_bands(lower: bool) -> None:
    ab = matrices(2, 3, 4)
    check_all(lambda ab: fsl.eigvals_banded(ab, lower), (ab,), only=CHECKS).raise_if_failed()
    slope = funcgrad.grad(lambda ab: (fsl.eigvals_banded(ab, lower) ** 2).sum())(ab[0])
    outside = slope[1, -1], slope[2, -2:] if lower else slope[0, :2]
    if lower:
        assert not np.any(np.concatenate([np.atleast_1d(x) for x in outside]))
    else:
        assert not np.any(slope[0, :2]) and not slope[1, 0]


# ---------------------------------------------------------------- angles, signs


@given(m=st.integers(2, 6), n=sizes, k=sizes, dtype=st.sampled_from("dD"), seed=st.integers(0, 99))
def test_angles_are_scipys(m: int, n: int, k: int, dtype: str, seed: int) -> None:
    a, b = matrices(m, n, dtype=dtype, seed=seed), matrices(m, k, dtype=dtype, seed=seed + 1)
    np.testing.assert_allclose(fsl.subspace_angles(a, b), sl.subspace_angles(a, b), atol=1e-6)
    rank = min(m, n) - 1  # of small angles SciPy has half of the digits
    if rank:
        low = a[:, :rank] @ matrices(rank, n, dtype=dtype)
        np.testing.assert_allclose(
            fsl.subspace_angles(low, b), sl.subspace_angles(low, b), atol=1e-6
        )


def test_small_angles_keep_their_digits() -> None:
    a, b = np.eye(4)[:, :2], np.array([[1.0, 0, 0, 0], [0, 0, 0, 1]]).T
    b[2, 0] = 1e-12
    np.testing.assert_allclose(fsl.subspace_angles(a, b), [np.pi / 2, 1e-12], rtol=1e-14)


def test_derivatives_of_angles_and_signs() -> None:
    for dtype in "dD":
        a, b = matrices(5, 2, dtype=dtype), matrices(5, 3, dtype=dtype, seed=1)
        check_all(fsl.subspace_angles, (a, b), only=CHECKS).raise_if_failed()
        check_all(fsl.signm, (matrices(2, 3, 3, dtype=dtype),), only=CHECKS[:-1]).raise_if_failed()


@given(n=sizes, dtype=st.sampled_from("dD"), seed=st.integers(0, 99))
def test_signs_are_scipys(n: int, dtype: str, seed: int) -> None:
    v, signs = matrices(n, n, dtype=dtype, seed=seed), np.where(np.arange(n) % 2, -1.0, 1.0)
    a = v @ np.diag(signs * np.arange(1, n + 1)) @ np.linalg.inv(v)
    found, expected = fsl.signm(a), v @ np.diag(signs) @ np.linalg.inv(v)
    assert found.dtype == a.dtype
    scale = np.linalg.cond(v) ** 2
    np.testing.assert_allclose(found, expected, atol=1e-13 * scale)
    np.testing.assert_allclose(found, sl.signm(a), atol=1e-12 * scale)


A = matrices(3, 3)
MISTAKES = [
    (lambda: fsl.rq(A, mode="all"), "mode='all'"),
    (lambda: fsl.eig_banded(A, select="x"), "eig_banded: select='x'"),
    (lambda: fsl.subspace_angles(A, A[:2]), "as many rows"),
    (lambda: fsl.signm(A[:2]), "square"),
    (lambda: fsl.signm([[0.0, 1.0], [-1.0, 0.0]]), "complex"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_mistakes_with_bands_and_angles(call: Any, words: str) -> None:
    with pytest.raises(FuncgradError, match=words):
        call()


def test_dependent_columns_have_no_derivatives() -> None:
    for a in (np.ones((3, 2)), np.ones((2, 3))):
        with pytest.raises(ArgumentError, match="dependent"):
            funcgrad.grad(lambda a: fsl.subspace_angles(a, np.eye(len(a))[:, :1]).sum())(a)
