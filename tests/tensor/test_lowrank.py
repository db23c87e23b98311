"""Low-rank decompositions, and reflections: against PyTorch, differences and what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from harness import C, Call, Draw, F, call, check, torch
from hypothesis import given
from hypothesis import strategies as st

import compat

LIBRARIES = [compat] if torch is None else [compat, torch]


def Reflections(*shape: int) -> Draw:
    """What `geqrf` makes of random numbers, but for the scales."""
    return F(*shape, low=-1.0, high=1.0)


CALLS = [
    *(
        call("ormqr", Reflections(4, 3), F(3), F(4, 2) if left else F(2, 4), left, turned)
        for left in (True, False)
        for turned in (True, False)
    ),
    *(
        call("ormqr", C(2, 3, 2), C(2, 2), C(2, 3, 2) if left else C(2, 2, 3), left, turned)
        for left in (True, False)
        for turned in (True, False)
    ),
    call("ormqr", F(3, 5), F(3), F(3, 3)),
    call("ormqr", F(3, 1), F(1), F(3, 0)),
    *(
        call("geqrf", F(*shape, grad=False))
        for shape in ((4, 3), (3, 4), (2, 3, 3), (0, 3), (3, 0))
    ),
    call("geqrf", C(4, 2, grad=False)),
    call(".geqrf", F(2, 2, grad=False)),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


@given(st.integers(0, 9999), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_reflections_are_q(seed: int, m: int, n: int, complex_: bool) -> None:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(m, n)) + (1j * rng.normal(size=(m, n)) if complex_ else 0)
    x = compat.tensor(a)
    h, tau = compat.geqrf(x)
    r = h.triu()
    np.testing.assert_allclose(compat.ormqr(h, tau, r).numpy(), a, atol=1e-12)
    found = compat.ormqr(h, tau, x, transpose=True).numpy()
    np.testing.assert_allclose(found, r.numpy(), atol=1e-12)
    right = compat.ormqr(h, tau, x.mH, left=False).mH.numpy()
    np.testing.assert_allclose(right, r.numpy(), atol=1e-12)


def test_no_derivative_of_geqrf() -> None:
    for th in LIBRARIES:
        x = th.ones(2, 2, requires_grad=True)
        with pytest.raises(
            NotImplementedError, match="the derivative for 'geqrf' is not implemented"
        ):
            th.geqrf(x)[0].sum().backward()
    with pytest.raises(RuntimeError, match=r"use linalg\.qr"):
        compat.func.vmap(compat.geqrf)(compat.ones(2, 2, 2))


REFUSED: list[Any] = [
    lambda th: th.geqrf(th.ones(3)),
    lambda th: th.geqrf(th.ones(3, 3).long()),
    lambda th: th.ormqr(th.ones(4, 3), th.ones(3), th.ones(3, 3)),
    lambda th: th.ormqr(th.ones(4, 3), th.ones(2), th.ones(4, 3)),
    lambda th: th.ormqr(th.ones(4, 3), th.ones(3), th.ones(4, 3).double()),
    lambda th: th.ormqr(th.ones(2, 4, 3), th.ones(2, 3), th.ones(4, 3)),
    lambda th: th.ormqr(th.ones(4), th.ones(3), th.ones(4, 3)),
    lambda th: th.svd_lowrank(th.ones(4)),
    lambda th: th.svd_lowrank(th.ones(4, 2).long()),
    lambda th: th.svd_lowrank(th.ones(4, 2), -1),
    lambda th: th.svd_lowrank(th.ones(4, 2), 2, M=th.ones(3, 2)),
    lambda th: th.pca_lowrank(th.ones(4, 2), 3),
    lambda th: th.pca_lowrank(th.ones(4, 2), -1),
    lambda th: th.pca_lowrank(th.ones(4, 2), 1, niter=-1),
    lambda th: th.pca_lowrank(th.ones(4, 2).long()),
]


@pytest.mark.skipif(torch is None, reason="compared with PyTorch")
@pytest.mark.parametrize("f", REFUSED)
def test_refused(f: Any) -> None:
    with pytest.raises(Exception) as theirs:
        f(torch)
    with pytest.raises(theirs.type):
        f(compat)


# ---------------------------------------------------------------- low rank


def _of_rank(rng: np.random.Generator, shape: tuple[int, ...], rank: int) -> np.ndarray:
    *batch, m, n = shape
    return rng.normal(size=(*batch, m, rank)) @ rng.normal(size=(*batch, rank, n))


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (2, 6, 3)])
@pytest.mark.parametrize("name", ["svd_lowrank", "pca_lowrank"])
@given(seed=st.integers(0, 9999), q=st.integers(1, 3))
def test_exact_where_the_rank_is_low(name: str, shape: tuple[int, ...], seed: int, q: int) -> None:
    a = _of_rank(np.random.default_rng(seed), shape, q)
    u, s, v = getattr(compat, name)(compat.tensor(a), q)
    centred = a - a.mean(-2, keepdims=True) if name == "pca_lowrank" else a
    np.testing.assert_allclose(((u * s[..., None, :]) @ v.mH).numpy(), centred, atol=1e-9)
    values = np.linalg.svd(centred, compute_uv=False)[..., :q]
    np.testing.assert_allclose(s.numpy(), values, atol=1e-9)
    for columns in (u, v):
        eye = np.broadcast_to(np.eye(q), (*shape[:-2], q, q))
        np.testing.assert_allclose((columns.mH @ columns).numpy(), eye, atol=1e-9)


def test_shapes_and_options() -> None:
    for th in LIBRARIES:
        x = th.arange(15.0).reshape(5, 3).sin()
        for q, k in ((None, 3), (0, 0), (2, 2), (6, 3)):
            shapes = [tuple(y.shape) for y in th.svd_lowrank(x, q)]
            assert shapes == [(5, k), (k,), (3, k)]
        mean = x.mean(0, keepdim=True)
        s = th.svd_lowrank(x, 3, M=mean)[1]
        np.testing.assert_allclose(s.numpy(), th.pca_lowrank(x)[1].numpy(), 1e-5, 1e-6)
        free = th.pca_lowrank(x, 3, center=False)[1].numpy()
        np.testing.assert_allclose(free, th.svd_lowrank(x, 3, None)[1].numpy(), 1e-5, 1e-6)
        assert th.svd_lowrank(x * 1j, 2)[0].dtype is th.complex64


def test_more_iterations_are_closer() -> None:
    rng = np.random.default_rng(0)
    u, v = (np.linalg.qr(rng.normal(size=(60, 60)))[0] for _ in range(2))
    a = compat.tensor(u * 0.9 ** np.arange(60) @ v)
    best = 0.9 ** np.arange(5)
    errors = []
    for niter in (0, 2, 12):
        compat.manual_seed(0)
        errors.append(abs(compat.svd_lowrank(a, 5, niter)[1].numpy() - best).max())
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.02


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_gradients_of_matrices_of_low_rank(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    left, right = (compat.tensor(rng.normal(size=(n, 2)), requires_grad=True) for n in shape)

    def f(left: Any, right: Any) -> Any:
        compat.manual_seed(0)
        u, s, v = compat.svd_lowrank(left @ right.T, 2)
        return (u * s.exp()) @ v.mH

    assert compat.autograd.gradcheck(f, (left, right))
