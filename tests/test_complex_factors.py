"""Factors of complex matrices: pivots in batches, and what moves without regard to phases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.scipy.linalg as fsl

shapes = st.tuples(st.integers(1, 5), st.integers(1, 5))
seeds = st.integers(0, 1000)


def matrices(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


@given(seed=seeds, shape=shapes)
def test_batches_have_the_pivots_of_lapack(seed: int, shape: tuple[int, int]) -> None:
    sl = pytest.importorskip("scipy.linalg")
    x = matrices(seed, 3, *shape)
    for a, lu, piv in zip(x, *fsl.lu_factor(x), strict=True):
        expected, expected_piv = sl.lu_factor(a)
        assert piv.tolist() == expected_piv.tolist()
        np.testing.assert_allclose(lu, expected, atol=1e-10 * max(1.0, abs(expected).max()))


@given(seed=seeds, shape=shapes)
def test_singular_vectors_and_values_move_as_their_product(
    seed: int, shape: tuple[int, int]
) -> None:
    x, t = matrices(seed, 2, *shape)

    def svd(x: Any) -> Any:
        return np.linalg.svd(x, full_matrices=False)

    (u, s, vh), (du, ds, dvh) = funcgrad.jvp(svd, (x,), (t,))
    assert ds.dtype == s.dtype
    scale = (
        abs(t).max()
        * s.max()
        / np.append(s, abs(np.subtract.outer(s, s) + 9 * np.eye(len(s)))).min()
    )
    np.testing.assert_allclose(
        (du * s) @ vh + (u * ds) @ vh + (u * s) @ dvh, t, atol=1e-10 * max(1.0, scale)
    )
    for q, dq in [(u, du), (vh.conj().T, dvh.conj().T)]:  # the columns stay orthonormal
        np.testing.assert_allclose(
            q.conj().T @ dq + dq.conj().T @ q, 0.0, atol=1e-10 * max(1.0, scale)
        )
