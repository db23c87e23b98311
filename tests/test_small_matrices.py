"""Many small matrices at once give what they give one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.core import REGISTRY
from funcgrad.ops import solve
from funcgrad.ops.solve import _FEW, _MANY

cofactor, triangular_solve = REGISTRY["cofactor"], REGISTRY["triangular_solve"]
dtypes = pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])


def normals(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype in "FD" else x).astype(dtype)


@dtypes
@given(
    n=st.integers(1, _FEW),
    lower=st.booleans(),
    unit=st.booleans(),
    lead=st.sampled_from([(), (1,), (_MANY * _FEW,)]),
    seed=st.integers(0, 2**32),
)
def test_triangles(
    dtype: str, n: int, lower: bool, unit: bool, lead: tuple[int, ...], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    a = normals(rng, (_MANY * _FEW, n, n), dtype) + n * np.eye(n, dtype=dtype)
    other = np.triu(np.ones((n, n), bool), k=1 - unit)
    a[:, other if lower else other.T] = np.nan  # what is not to be read
    b = normals(rng, (*lead, n, 2), dtype)
    out = triangular_solve(a, b, lower=lower, unit_diagonal=unit)
    assert out.dtype == a.dtype and out.flags.c_contiguous
    part = np.tril if lower else np.triu
    whole = part(np.where(np.isnan(a), 0, a)) + unit * np.eye(n, dtype=dtype)
    near = 1e-12 if dtype in "dD" else 1e-3
    np.testing.assert_allclose(np.matmul(whole, out), np.broadcast_to(b, out.shape), near, near)


@dtypes
@given(
    n=st.sampled_from([1, 2, 3, 8, 20, 70]),
    lower=st.booleans(),
    unit=st.booleans(),
    lead=st.sampled_from([(), (2,), (_MANY * _FEW,)]),
    seed=st.integers(0, 2**32),
)
def test_triangles_are_solved_by_substitution(
    dtype: str, n: int, lower: bool, unit: bool, lead: tuple[int, ...], seed: int
) -> None:
    """Each row is right to its own size (Higham, theorem 8.5), and zeros are exact."""
    if lead == (_MANY * _FEW,):
        n = min(n, _FEW)
    rng = np.random.default_rng(seed)
    part = np.tril if lower else np.triu
    a = part(normals(rng, (*lead, n, n), dtype), 1 if part is np.triu else -1) / n
    a += np.eye(n, dtype=dtype)
    if not unit:
        a *= (2.0 ** rng.integers(-20, 20, (n, 1))).astype(a.real.dtype)  # rows of all sizes
    x = triangular_solve(a, np.eye(n, dtype=dtype), lower=lower, unit_diagonal=unit)
    np.testing.assert_array_equal(x, part(x))
    sizes = np.matmul(abs(a), abs(x))
    near = 8 * n * np.finfo(x.dtype).eps
    assert (abs(np.matmul(a, x) - np.eye(n)) <= near * sizes).all()


def test_a_singular_triangle_among_many_raises() -> None:
    a = np.tile(np.eye(3), (_MANY * 3, 1, 1))
    a[5, 1, 1] = 0
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        triangular_solve(a, a, lower=True, unit_diagonal=False)
    triangular_solve(a, a, lower=True, unit_diagonal=True)


@dtypes
def test_cofactors(dtype: str) -> None:
    rng = np.random.default_rng(0)
    x = normals(rng, (2 * _MANY, 3, 3), dtype)
    x[1, 2] = 2 * x[1, 0]  # rank 2
    x[2] = np.outer(x[2, 0], x[2, 1])  # rank 1
    x[3] = 0
    one_by_one = np.stack([cofactor(m) for m in x])
    near = 1e-13 if dtype in "dD" else 1e-4
    out = cofactor(x)
    assert out.dtype == one_by_one.dtype and out.flags.c_contiguous
    np.testing.assert_allclose(out, one_by_one, atol=near)
    assert not out[3].any()


@pytest.mark.parametrize("unknown", [np.nan, np.inf])
def test_cofactors_of_what_is_not_finite(unknown: float) -> None:
    x = np.random.default_rng(0).normal(size=(2 * _MANY, 3, 3))
    x[4, 0, 1] = unknown
    out = cofactor(x)
    assert np.isnan(out[4]).all() and np.isfinite(np.delete(out, 4, 0)).all()


@pytest.mark.parametrize("f", [np.linalg.det, np.linalg.cholesky, np.linalg.inv])
def test_gradients(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).normal(size=(_MANY * 3, 3, 3))
    x = x @ x.transpose(0, 2, 1) + np.eye(3)
    whole = funcgrad.grad(lambda x: (f(x) ** 2).sum())
    found = whole(x)
    monkeypatch.setattr(solve, "_MANY", len(x) + 1)
    np.testing.assert_allclose(found, whole(x), rtol=1e-10, atol=1e-10)
