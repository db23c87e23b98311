"""LDL decompositions, and what is solved with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import compat

LDL_KINDS = [("float64", False), ("float32", False), ("complex128", False), ("complex128", True)]


@pytest.mark.parametrize("dtype, hermitian", LDL_KINDS)
@pytest.mark.parametrize("batch, n", [((), 1), ((), 5), ((2, 3), 4), ((2,), 0)])
def test_ldl_solves_what_it_has_decomposed(batch: Any, n: int, dtype: str, hermitian: bool) -> None:
    rng = np.random.default_rng(n)
    a = rng.standard_normal((*batch, n, n)) + 1j * rng.standard_normal((*batch, n, n))
    a[..., range(n), range(n)] *= 0.01  # so that there are blocks of size 2
    a = a if dtype[0] == "c" else a.real
    lower = np.tril(a, -1)
    a = lower + (lower.conj() if hermitian else lower).swapaxes(-1, -2)
    a = (a + np.eye(n) * 0.1).astype(dtype)
    b = rng.standard_normal((n, 2)).astype(dtype)
    found = compat.linalg.ldl_factor(compat.tensor(np.tril(a)), hermitian=hermitian)
    x = compat.linalg.ldl_solve(*found, compat.tensor(b), hermitian=hermitian).numpy()
    np.testing.assert_allclose(
        a @ x, np.broadcast_to(b, x.shape), 0, 1e-3 if "32" in dtype else 1e-9
    )
    peer = pytest.importorskip("torch")
    theirs = peer.linalg.ldl_factor_ex(peer.tensor(a), hermitian=hermitian)
    for mine, yours in zip(found, theirs[:2], strict=True):
        np.testing.assert_allclose(mine.numpy(), yours.numpy(), 0, 1e-4 if "32" in dtype else 1e-9)


def test_ldl_refuses_what_it_cannot_do() -> None:
    x = compat.eye(2, requires_grad=True)
    found = compat.linalg.ldl_factor(x)
    with pytest.raises(NotImplementedError, match="derivatives of linalg"):
        found.LD.sum().backward()
    with pytest.raises(RuntimeError, match="a block of D is singular"):
        compat.linalg.ldl_factor(compat.zeros(2, 2))
    assert compat.linalg.ldl_factor_ex(compat.zeros(2, 2)).info.item() == 1
    with pytest.raises(RuntimeError, match="from 1 to 2"):
        compat.linalg.ldl_solve(compat.eye(2), compat.zeros(2, dtype=compat.int32), compat.eye(2))
