"""Linear algebra: every function against differences and PyTorch; singular matrices; refusals."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from elementwise import agree, needs_torch, outcome
from harness import SPD, C, Call, Draw, F, call, check, torch
from hypothesis import given, settings
from hypothesis import strategies as st

import compat


def Regular(n: int, *batch: int, complex: bool = False) -> Draw:
    """Matrices that are far from singular."""

    def make(rng: np.random.Generator) -> np.ndarray:
        a = rng.normal(size=(*batch, n, n))
        if complex:
            a = a + 1j * rng.normal(size=a.shape)
        return a + 3 * np.eye(n)

    return Draw(make, True)


def Hermitian(n: int, *batch: int) -> Draw:
    """Complex Hermitian positive definite matrices."""

    def make(rng: np.random.Generator) -> np.ndarray:
        a = rng.normal(size=(*batch, n, n)) + 1j * rng.normal(size=(*batch, n, n))
        return a @ np.swapaxes(a, -1, -2).conj() + n * np.eye(n)

    return Draw(make, True)


R = Regular
inf = math.inf

CALLS = [
    *(
        call(f"{where}{name}", a)
        for name in ("det", "slogdet", "inv", "matrix_exp")
        for where in ("linalg.",)
        for a in (R(3), R(2, 4), R(2, 2, 3), R(1), R(0), R(2, 0), R(3, complex=True))
    ),
    call("det", R(3)),
    call("det", F(3, 3)),
    call("logdet", SPD(3)),
    call("logdet", SPD(2, 3)),
    call("logdet", Hermitian(2)),
    call("slogdet", R(3)),
    call("inverse", R(3)),
    call(".inverse", R(2, 3)),
    call(".det", R(2, 3)),
    call(".logdet", SPD(3)),
    call(".slogdet", R(3)),
    call("matrix_exp", F(3, 3)),
    call("linalg.matrix_exp", F(3, 3, low=-9, high=9)),
    call("linalg.matrix_exp", F(3, 3, 3, low=-4, high=4)),
    call("linalg.inv_ex", R(2, 3)),
    call("linalg.solve", R(3), F(3)),
    call("linalg.solve", R(3), F(3, 2)),
    call("linalg.solve", R(3), F(3, 0)),
    call("linalg.solve", R(3, 4), F(3)),
    call("linalg.solve", R(3, 4), F(4, 3)),
    call("linalg.solve", R(3, 4), F(3, 2)),
    call("linalg.solve", R(3, 4, 1), F(5, 3, 2)),
    call("linalg.solve", R(3), F(2, 3), left=False),
    call("linalg.solve", R(3, 4), F(4, 2, 3), left=False),
    call("linalg.solve", R(3, complex=True), C(3, 2)),
    call("linalg.solve", R(3, complex=True), C(2, 3), left=False),
    call("linalg.solve_ex", R(3), F(3, 2)),
    *(
        call("linalg.solve_triangular", R(3), F(*s), upper=upper, left=s[-1] != 3, unitriangular=u)
        for s in ((3, 2), (2, 3), (4, 3, 2))
        for upper in (True, False)
        for u in (True, False)
    ),
    call("linalg.solve_triangular", R(3, complex=True), C(3, 2), upper=True),
    call("linalg.solve_triangular", R(3, complex=True), C(2, 3), upper=False, left=False),
    call("linalg.solve_triangular", R(0), F(0, 2), upper=True),
    call("linalg.cholesky", SPD(0)),
    call("linalg.cholesky", SPD(2, 0)),
    call("triangular_solve", F(3, 2), R(3)),
    call("triangular_solve", F(3, 2), R(3), upper=False, transpose=True),
    call("triangular_solve", F(3, 2), R(3), unitriangular=True),
    call("linalg.eigvalsh", SPD(0)),
    *(
        call(f"linalg.{name}", a)
        for name in ("svdvals", "pinv")
        for a in (F(3, 3), F(4, 2), F(2, 4), F(2, 4, 3), C(3, 2), F(0, 2), F(2, 0), F(0, 3, 2))
    ),
    call("pinverse", F(4, 2)),
    call("linalg.qr", F(3, 3)),
    call("linalg.qr", F(4, 2)),
    call("linalg.qr", F(2, 4)),
    call("linalg.qr", F(2, 4, 3)),
    call("linalg.qr", F(2, 4), mode="complete"),
    call("linalg.qr", F(0, 2)),
    call("linalg.qr", F(2, 0)),
    call("linalg.qr", C(3, 2)),
    call("qr", F(4, 2)),
    call("linalg.householder_product", F(4, 3), F(3)),
    call("linalg.householder_product", F(4, 3), F(2)),
    call("linalg.householder_product", F(2, 4, 3), F(2, 3)),
    call("linalg.householder_product", C(4, 2), C(2)),
    call("orgqr", F(3, 2), F(0)),
    *(
        call(f"linalg.{name}", a)
        for name in ("lu", "lu_factor", "lu_factor_ex")
        for a in (F(1, 1), F(2, 2), F(3, 3), F(5, 5), F(4, 2), F(2, 4), F(2, 3, 3), C(3, 3))
    ),
    call("linalg.lu", F(0, 0)),
    call("linalg.lu", F(0, 3)),
    call("linalg.matrix_power", R(3), 0),
    call("linalg.matrix_power", R(3), 1),
    call("linalg.matrix_power", R(3, 2), 5),
    call("linalg.matrix_power", R(3), -3),
    call(".matrix_power", R(3, complex=True), 2),
    call("linalg.multi_dot", [F(2, 3), F(3, 4), F(4, 2)]),
    call("linalg.tensorsolve", F(2, 3, 6), F(2, 3)),
    call("linalg.tensorsolve", F(2, 6, 3), F(2, 3), dims=(1,)),
    call("linalg.tensorinv", F(2, 3, 6)),
    call("linalg.tensorinv", F(4, 2, 2), ind=1),
    call("linalg.vander", F(3)),
    call("linalg.vander", F(2, 3), N=5),
    call("linalg.vander", C(3), N=2),
    call("linalg.vander", F(0), N=3),
    call("linalg.diagonal", F(2, 3, 4), offset=1),
    *(
        call("linalg.lstsq", a, b, driver=d)
        for a, b in (
            (F(4, 2), F(4)),
            (F(4, 2), F(4, 3)),
            (F(2, 4), F(2, 3)),
            (F(3, 4, 2), F(3, 4, 2)),
            (F(3, 4, 2), F(3, 4)),
            (F(3, 3), F(3, 1)),
            (C(4, 2), C(4, 1)),
        )
        for d in (None, "gels", "gelsd")
    ),
    *(
        call("linalg.matrix_norm", a, ord, **k)
        for ord in ("fro", "nuc", 1, -1, 2, -2, inf, -inf)
        for a, k in (
            (F(3, 4), {}),
            (F(2, 3, 4), {"keepdim": True}),
            (F(2, 3, 4), {"dim": (0, -1)}),
            (F(2, 3, 4), {"dim": (2, 0), "keepdim": True}),
            (C(3, 2), {}),
        )
    ),
    *(
        call("linalg.vector_norm", a, ord, **k)
        for ord in (0, 0.5, 1, 2, 3.5, inf, -inf, -1)
        for a, k in (
            (F(3, 4), {}),
            (F(3, 4), {"dim": 1}),
            (F(3, 4), {"dim": (0, -1), "keepdim": True}),
            (F(2, 3, 4), {"dim": (0, 2)}),
            (F(), {}),
            (C(3), {}),
        )
    ),
    call("linalg.vector_norm", F(0)),
    call("linalg.vector_norm", F(0, 3), 1, dim=0),
    call("linalg.vector_norm", F(0, 3), inf, dim=1),
    call("linalg.norm", F(3)),
    call("linalg.norm", F(3, 4)),
    call("linalg.norm", F(2, 3, 4)),
    call("linalg.norm", F(3), 1),
    call("linalg.norm", F(3, 4), 2),
    call("linalg.norm", F(3, 4), "nuc"),
    call("linalg.norm", F(2, 3, 4), inf, dim=(0, 1), keepdim=True),
    call("linalg.norm", F(2, 3, 4), 3, dim=1),
    call("linalg.norm", F(2, 3, 4), dim=(0, 1)),
    *(call("linalg.cond", a, p) for p in (None, 2, -2, "nuc") for a in (R(3), R(2, 3))),
    call("linalg.cond", F(2, 3)),
    *(call("cdist", F(3, 2), F(4, 2), p) for p in (0, 0.5, 1, 2, 3, inf)),
    call("cdist", F(5, 3, 2), F(4, 2)),
    call("cdist", F(5, 1, 3, 2), F(2, 4, 2)),
    call("cdist", F(0, 2), F(4, 2)),
    call("cdist", F(3, 0), F(4, 0)),
    *(call("pdist", F(4, 2), p) for p in (0, 0.5, 1, 2, 3, inf)),
    call("pdist", F(1, 2)),
    call("bilinear", F(5, 3), F(5, 4), F(2, 3, 4)),
    call("bilinear", F(2, 5, 3), F(2, 5, 4), F(2, 3, 4), F(2)),
    call("bilinear", F(3), F(4), F(2, 3, 4), F(2)),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


# ---------------------------------------------------------------- compositions

Function = Callable[..., Any]


def hermitian(a: Any) -> Any:
    """PyTorch's functions of Hermitian matrices read one triangle, and give Hermitian gradients."""
    return (a + a.mH) / 2


def reconstructed(m: Any, a: Any) -> Any:
    """Functions of U, S, Vh that do not depend on the phases of the vectors."""
    u, s, vh = m.linalg.svd(a, full_matrices=False)
    row = s.unsqueeze(-2)
    return u @ vh, (u * row) @ vh, (u * row**2) @ u.mH, s


def multiplied(u: Any, s: Any, v: Any) -> Any:
    return (u * s) @ v.mH


def factors(m: Any, a: Any) -> Any:
    w, v = m.linalg.eigh(hermitian(a))
    return (v * w.exp().to(v.dtype).unsqueeze(-2)) @ v.mH, w


def rebuilt(m: Any, a: Any) -> Any:
    """From what does not depend on order and phase."""
    w, v = m.linalg.eig(a)
    return (v * w.exp().unsqueeze(-2)) @ m.linalg.inv(v), (
        v.abs() ** 4 * w.real.unsqueeze(-2)
    ).sum()


COMPOSED: list[tuple[Function, list[Draw]]] = [
    *(
        (f, [a])
        for f in (
            lambda m, a: m.linalg.cholesky(hermitian(a)),
            lambda m, a: m.linalg.cholesky(hermitian(a), upper=True),
            lambda m, a: m.linalg.cholesky_ex(hermitian(a)),
            lambda m, a: m.cholesky(hermitian(a)),
            lambda m, a: hermitian(a).cholesky(upper=True),
            lambda m, a: m.linalg.eigvalsh(hermitian(a)),
            lambda m, a: m.linalg.eigvalsh(hermitian(a), UPLO="U"),
            lambda m, a: m.linalg.pinv(hermitian(a), hermitian=True),
            lambda m, a: m.cholesky_inverse(m.linalg.cholesky(hermitian(a))),
            lambda m, a: m.cholesky_inverse(m.linalg.cholesky(hermitian(a)).mH, upper=True),
            lambda m, a: m.cholesky_solve(a[..., :2], m.linalg.cholesky(hermitian(a))),
            lambda m, a: m.cholesky_solve(a[..., :2], m.linalg.cholesky(hermitian(a)).mH, True),
            factors,
        )
        for a in (SPD(3), SPD(2, 3), Hermitian(3))
    ),
    *((reconstructed, [a]) for a in (F(3, 3), F(4, 2), F(2, 3, 4), C(3, 2), C(2, 3))),
    *((rebuilt, [a]) for a in (F(3, 3), F(2, 3, 3), C(3, 3))),
    *((lambda m, a: m.linalg.eigvals(a).real.sum(-1), [a]) for a in (F(3, 3), C(2, 3, 3))),
    (lambda m, a: m.linalg.svd(a).S, [F(4, 2)]),
    (lambda m, a: m.svd(a)[1], [F(4, 2)]),
    (lambda m, a: multiplied(*m.svd(a)), [C(4, 2)]),
    (lambda m, a, b: m.linalg.vecdot(a, b, dim=0), [C(2, 3), C(2, 3)]),
    (lambda m, a, b: m.linalg.lu_solve(*m.linalg.lu_factor(a), b), [R(3), F(3, 2)]),
    (lambda m, a, b: m.linalg.lu_solve(*m.linalg.lu_factor(a), b, left=False), [R(3), F(2, 3)]),
    (
        lambda m, a, b: m.linalg.lu_solve(*m.linalg.lu_factor(a), b, adjoint=True),
        [R(3, 2), F(3, 2)],
    ),
    (
        lambda m, a, b: m.linalg.lu_solve(*m.linalg.lu_factor(a), b, left=False, adjoint=True),
        [R(3, complex=True), C(2, 3)],
    ),
    (lambda m, a, b: m.lu_solve(b, *m.linalg.lu_factor(a)), [R(3), F(3, 2)]),
    (lambda m, a: m.lu_unpack(*m.linalg.lu_factor(a)), [F(4, 3)]),
    (lambda m, a: m.linalg.lu_factor(a).LU, [R(7)]),
]


def gradients(module: Any, f: Function, arrays: list[np.ndarray]) -> tuple[list[Any], list[Any]]:
    """The results as arrays, and the gradients of their sum with fixed weights."""
    leaves = [module.from_numpy(a.copy()).requires_grad_() for a in arrays]
    found = f(module, *leaves)
    outs = list(found) if isinstance(found, tuple) else [found]
    rng = np.random.default_rng(7)
    total: Any = 0
    for o in outs:
        w = rng.normal(size=tuple(o.shape)) + 1j * rng.normal(size=tuple(o.shape))
        if o.requires_grad:
            kept = np.asarray(w if o.is_complex() else w.real)
            term = (o * module.from_numpy(kept)).sum()
            total = total + (term.real if o.is_complex() else term)
    total.backward()
    return [host(o) for o in outs], [host(x.grad) for x in leaves]


def host(x: Any) -> np.ndarray:
    return x.detach().resolve_conj().numpy()


def drawn(draws: list[Draw]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.asarray(d.make(rng)) for d in draws]


@pytest.mark.parametrize("index", range(len(COMPOSED)))
def test_composed(index: int) -> None:
    """Gradients are those of differences, and PyTorch's."""
    f, draws = COMPOSED[index]
    arrays = drawn(draws)
    leaves = [compat.from_numpy(a).requires_grad_() for a in arrays]
    assert compat.autograd.gradcheck(lambda *xs: f(compat, *xs), leaves, fast_mode=True)
    if torch is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = gradients(compat, f, arrays), gradients(torch, f, arrays)
    for ours, theirs in zip(*found, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


CONDITIONS = [(p, a) for p in ("fro", 1, -1, inf, -inf) for a in (R(3), R(2, 3))]


@pytest.mark.parametrize(("p", "a"), CONDITIONS)
def test_cond(p: Any, a: Draw) -> None:
    """PyTorch cannot differentiate these itself: its inverse is written over."""
    x = compat.from_numpy(drawn([a])[0]).requires_grad_()
    assert compat.autograd.gradcheck(lambda x: compat.linalg.cond(x, p), [x], fast_mode=True)


TWICE: list[tuple[Function, list[Draw]]] = [
    (lambda m, a: m.linalg.det(a), [R(3)]),
    (lambda m, a: m.linalg.inv(a), [R(3)]),
    (lambda m, a: m.linalg.slogdet(a)[1], [R(3)]),
    (lambda m, a, b: m.linalg.solve(a, b), [R(3), F(3, 2)]),
    (lambda m, a, b: m.linalg.solve_triangular(a, b, upper=True), [R(3), F(3, 2)]),
    (lambda m, a: m.linalg.cholesky(hermitian(a)), [SPD(3)]),
    (lambda m, a: m.linalg.eigvalsh(hermitian(a)), [SPD(3)]),
    (lambda m, a: m.linalg.svdvals(a), [F(3, 2)]),
    (lambda m, a: m.linalg.qr(a), [F(3, 2)]),
    (lambda m, a: m.linalg.pinv(a), [F(3, 2)]),
    (lambda m, a, b: m.linalg.lstsq(a, b)[0], [F(4, 2), F(4, 1)]),
    (lambda m, a: m.linalg.matrix_exp(a), [F(3, 3)]),
    (lambda m, a: m.linalg.lu(a)[1:], [R(3)]),
    (lambda m, a: m.linalg.matrix_norm(a, "nuc"), [F(3, 2)]),
    (lambda m, a, b: m.linalg.householder_product(a, b), [F(3, 2), F(2)]),
    (lambda m, a: m.pdist(a), [F(3, 2)]),
]


@pytest.mark.parametrize("index", range(len(TWICE)))
def test_second_derivative(index: int) -> None:
    f, draws = TWICE[index]
    leaves = [compat.from_numpy(a).requires_grad_() for a in drawn(draws)]
    assert compat.autograd.gradgradcheck(lambda *xs: f(compat, *xs), leaves, fast_mode=True)


BATCHED: list[Function] = [
    lambda m, a: m.linalg.det(a),
    lambda m, a: m.linalg.inv(a),
    lambda m, a: m.linalg.solve(a, a[0]),
    lambda m, a: m.linalg.cholesky(a @ a.mT + m.eye(3, dtype=m.float64)),
    lambda m, a: m.linalg.eigvalsh(a),
    lambda m, a: m.linalg.svdvals(a),
    lambda m, a: m.linalg.pinv(a),
    lambda m, a: m.linalg.matrix_exp(a),
    lambda m, a: m.linalg.matrix_norm(a, 1),
    lambda m, a: m.linalg.cond(a),
    lambda m, a: m.linalg.matrix_rank(a),
    lambda m, a: m.cdist(a, a[:2] + 5),
    lambda m, a: m.einsum("ij,kj->ik", a, a),
]


@pytest.mark.parametrize("index", range(len(BATCHED)))
def test_vmap(index: int) -> None:
    """What `vmap` gives is what a loop gives."""
    f = BATCHED[index]
    (array,) = drawn([R(3, 4)])
    x = compat.from_numpy(array)
    found = compat.vmap(lambda a: f(compat, a))(x)
    each = compat.stack([f(compat, a) for a in x])
    assert found.dtype is each.dtype
    np.testing.assert_allclose(found.numpy(), each.numpy(), rtol=1e-9, atol=1e-11)


# ---------------------------------------------------------------- dtypes, failures, refusals

HEAD = """
i = lambda *s: m.ones(s, dtype=m.int64)
f = lambda *s: m.ones(s)
e = m.eye
d = lambda *s: m.ones(s, dtype=m.float64)
h = m.ones(2, 2, dtype=m.float16)
g = lambda n: (m.eye(n) * 3).requires_grad_()
Z = m.zeros(2, 2)
ZB = m.stack([m.eye(2), m.zeros(2, 2)])
T = m.tensor([[2.0, 9.0], [1.0, 3.0]])
nan = m.tensor([[float("nan"), 1.0], [1.0, 1.0]])
inf = float("inf")
L = m.linalg
"""


def evaluated(module: Any, text: str) -> Any:
    scope = {"m": module}
    exec(HEAD, scope)
    return eval(text, scope)


VALUES = """
L.det(f(0, 0))
L.det(nan)
L.slogdet(Z)
L.slogdet(e(2) * 2)
m.logdet(-e(3))
m.logdet(Z)
L.inv(nan)
L.inv_ex(e(2))
L.inv_ex(ZB).info
L.solve(nan, f(2))
L.solve_ex(ZB, f(2, 2)).info
L.cholesky(m.tensor([[2.0, 5.0], [1.0, 2.0]]))
L.cholesky_ex(m.stack([e(3), -e(3), m.diag(m.tensor([1.0, 1.0, -1.0]))])).info
L.eigvalsh(m.tensor([[2.0, 5.0], [1.0, 2.0]]))
L.eigvalsh(m.tensor([[2.0, 5.0], [1.0, 2.0]]), UPLO='U')
L.svdvals(e(2) * 2)
L.solve_triangular(T, f(2, 1), upper=True)
L.solve_triangular(e(2).double(), f(2, 1), upper=True)
L.qr(T)
L.qr(f(2, 1), 'r').R
m.qr(f(2, 3))
L.pinv(f(2, 2), rcond=1e-3)
L.pinv(m.diag(m.tensor([1.0, 1e-3])), atol=1e-2)
L.pinv(m.diag(m.tensor([1.0, 1e-3])), rtol=1e-2)
L.pinv(m.stack([m.diag(m.tensor([1.0, 1e-3])), 9 * e(2)]), atol=1e-2)
L.pinv(m.stack([e(2), 9 * e(2)]), rtol=m.tensor([0.5, 2.0]))
L.matrix_power(i(2, 2), 2)
L.matrix_power(i(2, 2), 0)
L.matrix_rank(f(2, 2))
L.matrix_rank(e(2).expand(3, 2, 2))
L.matrix_rank(m.diag(m.tensor([1.0, 1e-3])), atol=1e-2)
L.matrix_rank(m.diag(m.tensor([1.0, 1e-3])), rtol=1e-2)
L.matrix_rank(m.diag(m.tensor([1.0, 1e-3])), 1e-2)
L.matrix_rank(m.diag(m.tensor([1.0, -1e-3])), hermitian=True)
L.matrix_rank(f(0, 2))
L.matrix_rank(e(2).expand(3, 2, 2), atol=m.tensor([0.5, 2.0, 0.5]))
L.matrix_exp(f(0, 0))
L.matrix_exp(m.stack([Z, e(2) * 6]))
L.matrix_exp(f(2, 2) * 1j)
L.cond(Z, 1)
L.cond(ZB, 1)
L.cond(f(0, 0))
L.cond(f(0, 0), 1)
L.lstsq(f(3, 2), f(3, 1))
L.lstsq(e(3)[:, :2], f(3), driver='gelsd')
L.lstsq(e(3)[:, :2].expand(2, 3, 2), f(2, 3), driver='gelsd')
L.lstsq(f(0, 2), f(0, 1)).solution
L.vander(m.tensor([1, 2, 3]))
L.vander(m.tensor(2.0), N=3)
L.vander(m.tensor(2), N=3)
L.vander(m.tensor(2.0))
L.matrix_power(e(2), 0)
L.pinv(T, rtol=m.tensor([0.1, 0.9]))
L.pinv(T, atol=m.tensor([[0.1], [9.0]]))
L.pinv(e(2).expand(2, 2, 2), rtol=m.tensor([[0.1], [2.0]]))
L.pinv(h, rtol=m.tensor([0.1, 0.9]), hermitian=True)
L.householder_product(f(0, 0), f(0))
L.householder_product(f(2, 2), f(0))
L.householder_product(f(2, 3, 2), f(2))
L.householder_product(f(2, 3, 2), f(3, 2))
L.householder_product(f(3, 2), m.tensor(1.0))
m.eye(2).lu(get_infos=True)
m.lu(Z, get_infos=True)
L.lu(f(3, 2))
L.lu_factor(m.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]]))
L.lu_factor_ex(Z)
m.lu(T)
m.lu(T, get_infos=True)
m.lu_unpack(*m.lu(T), unpack_data=False)
m.lu_unpack(*m.lu(T), unpack_pivots=False)
L.vector_norm(f(2), dtype=m.float64)
L.vector_norm(f(2, 3), dim=())
L.vector_norm(f(2, 3), keepdim=True)
L.matrix_norm(m.zeros(0, 2), 2)
L.matrix_norm(m.zeros(0, 2), 'nuc')
L.matrix_norm(m.zeros(2, 0), 1)
L.matrix_norm(m.zeros(0, 2), inf)
L.matrix_norm(h)
L.matrix_norm(f(2, 2), dtype=m.float64)
L.norm(f(2, 2), 2, dim=(0,))
L.norm(f(2, 2), dtype=m.float64)
m.triangular_solve(f(2, 1), T, upper=False)
m.triangular_solve(f(2, 1), T, upper=True, transpose=True)
m.cholesky_inverse(T)
m.svd(e(2) * 2, compute_uv=False)
m.pdist(f(0, 2))
m.cdist(f(3, 2), f(4, 2))
m.bilinear(f(3), f(4), f(2, 3, 4))
"""


@needs_torch
@pytest.mark.parametrize("text", VALUES.strip().splitlines())
def test_value(text: str) -> None:
    agree(lambda m: evaluated(m, text))


NAMED = """
L.slogdet(e(2)) L.inv_ex(e(2)) L.solve_ex(e(2),f(2)) L.cholesky_ex(e(2)) L.qr(e(2)) L.eigh(e(2))
L.svd(e(2)) L.lstsq(e(2),f(2,1)) L.lu(e(2)) L.lu_factor(e(2)) L.lu_factor_ex(e(2)) m.slogdet(e(2))
m.qr(e(2)) m.svd(e(2)) m.triangular_solve(f(2,1),e(2)) m.lu_unpack(*m.lu(e(2)))
m.lu(e(2),get_infos=True)
"""


@needs_torch
@pytest.mark.filterwarnings("ignore:torch.* is deprecated")
@pytest.mark.parametrize("text", NAMED.split())
def test_names_of_results(text: str) -> None:
    ours, theirs = evaluated(compat, text), evaluated(torch, text)
    assert type(ours).__name__ == type(theirs).__name__
    for name in ours._fields:
        assert getattr(ours, name) is ours[ours._fields.index(name)]
        assert getattr(theirs, name) is theirs[ours._fields.index(name)]


REFUSALS = {
    "L.det(f(2))": "The input tensor A must have at least 2 dimensions",
    "L.det(f(2, 3))": "linalg.det: A must be batches of square matrices, but they are 2 by 3",
    "L.det(i(2, 2))": "linalg.det: Expected a floating point or complex tensor as input. Got Long",
    "L.det(3)": "linalg_det(): argument 'A' (position 1) must be Tensor, not int",
    "L.det(h)": "\"lu_cpu\" not implemented for 'Half'",
    "L.slogdet(f(2, 3))": "linalg.slogdet: A must be batches of square matrices",
    "m.logdet(f(2, 3))": "logdet: A must be batches of square matrices",
    "L.inv(f(2, 3))": "linalg.inv: A must be batches of square matrices",
    "L.inv(Z)": "linalg.inv: The diagonal element 1 is zero, the inversion could not be completed",
    "L.inv(ZB)": "linalg.inv: (Batch element 1): The diagonal element 1 is zero",
    "L.inv(f(2, 2))": "The diagonal element 2 is zero",
    "L.inv(h)": "linalg.inv: Low precision dtypes not supported. Got Half",
    "L.inv_ex(Z, check_errors=True)": "linalg.inv_ex: The diagonal element 1 is zero",
    "L.solve(Z, f(2))": "torch.linalg.solve: The solver failed because the input matrix is",
    "L.solve(ZB, f(2, 2))": "torch.linalg.solve: (Batch element 1): The solver failed",
    "L.solve(f(2, 3), f(2))": "linalg.solve: A must be batches of square matrices",
    "L.solve(e(2), f(3))": "Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)",
    "L.solve(e(2), f(4, 3, 2))": "Incompatible shapes of A and B for the equation AX = B (2x2 and",
    "L.solve(e(2), f(2), left=False)": "for the equation XA = B (2x2 and 2x1)",
    "L.solve(e(2), d(2))": "but found A of type Float and B of type Double instead",
    "L.solve_ex(Z, f(2), check_errors=True)": "torch.linalg.solve_ex: The solver failed",
    "L.solve_triangular(e(2), f(2), upper=True)": "The input tensor B must have at least 2",
    "L.solve_triangular(e(2), f(3, 1), upper=True)": "for the equation AX = B (2x2 and 3x1)",
    "L.solve_triangular(i(2, 2), i(2, 1), upper=True)": '"triangular_solve_cpu" not implemented for',
    "L.cholesky(-e(2))": "(the leading minor of order 1 is not positive-definite).",
    "L.cholesky(-e(2).expand(2, 2, 2))": "linalg.cholesky: (Batch element 0): The factorization",
    "L.cholesky(m.diag(m.tensor([1.0, 2.0, -1.0])))": "the leading minor of order 3",
    "L.cholesky(nan)": "the leading minor of order 1",
    "L.cholesky(m.tensor([[2.0, 5.0], [1.0, 2.0]]), upper=True)": "the leading minor of order 2",
    "L.cholesky_ex(-e(2), check_errors=True)": "linalg.cholesky_ex: The factorization could",
    "m.cholesky(-e(2))": "cholesky: The factorization could not be completed",
    "L.qr(f(2))": "linalg.qr: The input tensor A must have at least 2 dimensions",
    "L.qr(f(2, 3), mode='x')": "qr received unrecognized mode 'x' but expected one of 'reduced'",
    "L.eigh(f(2, 3))": "linalg.eigh: A must be batches of square matrices",
    "L.eigh(i(2, 2))": '"linalg_eigh_cpu" not implemented for',
    "L.eigh(f(2, 2), UPLO='X')": "Expected UPLO argument to be 'L' or 'U', but got X",
    "L.svd(f(2))": "linalg.svd: The input tensor A must have at least 2 dimensions",
    "L.svd(nan)": "linalg.svd: The algorithm failed to converge because the input matrix contained",
    "L.svdvals(i(2, 2))": "linalg.svd: Expected a floating point or complex tensor as input. Got",
    "L.pinv(f(2))": "linalg.pinv(Float{[2]}): expected a tensor with 2 or more dimensions",
    "L.pinv(T, rtol=g(1))": "not differentiable with respect to argument 'rtol'. This input",
    "L.pinv(T, atol=g(1))": "not differentiable with respect to argument 'atol'. This input",
    "L.matrix_power(f(2, 3), 2)": "linalg.matrix_power: A must be batches of square matrices",
    "L.matrix_power(i(2, 2), -1)": "linalg.inv: Expected a floating point or complex tensor as",
    "L.matrix_power(Z, -1)": "linalg.inv: The diagonal element 1 is zero",
    "L.matrix_power(f(2, 2), 1.5)": "linalg_matrix_power(): argument 'n' (position 2) must be int,",
    "L.matrix_rank(f(2))": "The input tensor input must have at least 2 dimensions.",
    "L.matrix_rank(i(2, 2))": "This function doesn't handle types other than float and double",
    "L.matrix_exp(i(2, 2))": "linalg.matrix_exp: Expected a floating point or complex tensor as",
    "L.matrix_exp(f(2, 3))": "linalg.matrix_exp: A must be batches of square matrices",
    "L.cond(f(2))": "linalg.cond: The input tensor must have at least 2 dimensions.",
    "L.cond(f(2, 3), 1)": "linalg.cond(ord=1): A must be batches of square matrices",
    "L.cond(e(2), 'x')": "linalg.cond got an invalid norm type: x",
    "L.cond(e(2), 3)": "linalg.cond got an invalid norm type: 3",
    "L.lstsq(e(2), f(2, 1), driver='x')": "parameter `driver` should be one of (gels, gelsy,",
    "L.lstsq(f(3, 2), f(4, 1))": "torch.linalg.lstsq: input.size(-2) should match other.size(-2)",
    "L.lstsq(e(2), d(2, 1))": "but got input's dtype Float and other's dtype Double",
    "L.lstsq(i(2, 2), i(2, 1))": "This function doesn't handle types other than float and double",
    "L.lstsq(f(2), f(2))": "torch.linalg.lstsq: input must have at least 2 dimensions.",
    "L.tensorsolve(f(2, 3), f(2))": "prod(self.shape[:other.ndim]), but got 3 != 2",
    "L.tensorsolve(Z, f(2))": "The solver failed because the input matrix is singular.",
    "L.tensorinv(f(2, 3), ind=1)": "prod(self.shape[:ind]), but got 3 != 2",
    "L.tensorinv(f(2, 2), ind=0)": "Expected a strictly positive integer for 'ind', but got 0",
    "L.vander(m.tensor([1.0, 2.0]), N=1)": "N must be greater than 1",
    "L.vander(m.tensor([True]))": "linalg.vander supports floating point, complex, and integer",
    "L.householder_product(f(2, 3), f(2))": "input.shape[-2] must be greater than or equal to",
    "L.householder_product(f(3, 2), f(3))": "input.shape[-1] must be greater than or equal to",
    "L.householder_product(f(3), f(1))": "input must have at least 2 dimensions.",
    "L.lu_factor(Z)": "torch.linalg.lu_factor: U[1,1] is zero and using it on lu_solve would",
    "L.lu(f(2))": "linalg.lu: Expected tensor with 2 or more dimensions. Got size: [2] instead",
    "L.lu(f(2, 2), pivot=False)": "LU without pivoting is not implemented on the CPU",
    "L.lu_factor(i(2, 2))": '"lu_cpu" not implemented for',
    "L.lu_solve(*L.lu_factor(e(2)), f(2))": "linalg.lu_solve: The input tensor B must have at",
    "L.lu_solve(*L.lu_factor(e(2)), f(3, 1))": "for the equation AX = B (2x2 and 3x1)",
    "L.vector_norm(i(2))": "linalg.vector_norm: Expected a floating point or complex tensor as",
    "L.vector_norm(f(2), 'fro')": "linalg_vector_norm(): argument 'ord' (position 2) must be",
    "L.vector_norm(f(2, 3), dim=(0, 0))": "dim 0 appears multiple times in the list of dims",
    "L.vector_norm(f(2, 3), dim=5)": "Dimension out of range (expected to be in range of [-2, 1],",
    "L.vector_norm(f(0), inf)": "cannot compute the inf norm on an empty tensor because the",
    "L.vector_norm(f(0), -1)": "cannot compute the -1 norm on an empty tensor",
    "L.vector_norm(d(2), dtype=m.float32)": "the dtype of the input (Double) should be convertible",
    "L.vector_norm(f(2), dtype=m.complex64)": "dtype should be real for real inputs, but got",
    "L.matrix_norm(f(2))": "linalg.matrix_norm: The input tensor A must have at least 2 dimensions",
    "L.matrix_norm(i(2, 2))": "linalg.matrix_norm: Expected a floating point or complex tensor as",
    "L.matrix_norm(f(2, 2), 'x')": "linalg.matrix_norm: Order x not supported.",
    "L.matrix_norm(f(2, 2), 3)": "linalg.matrix_norm: Order 3 not supported.",
    "L.matrix_norm(f(2, 2), dim=(0,))": "linalg.matrix_norm: dim must be a 2-tuple. Got 0",
    "L.matrix_norm(f(2, 2), dim=(0, 0))": "linalg.matrix_norm: dims must be different. Got (0, 0)",
    "L.matrix_norm(f(2, 2), dim=(0, 2))": "Dimension out of range",
    "L.matrix_norm(h, 2)": "linalg.matrix_norm: Low precision dtypes not supported. Got Half",
    "L.norm(f(2), 'fro')": "linalg.matrix_norm: The input tensor A must have at least 2 dimensions",
    "L.norm(f(2, 2, 2), 'fro')": "the input must be 1D or 2D. Got 3D.",
    "L.norm(f(2, 2, 2), 2)": "If dim is not specified but ord is, the input must be 1D or 2D. Got",
    "L.norm(f(2, 2, 2), dim=(0, 1, 2))": "If dim is specified, it must be of length 1 or 2. Got",
    "L.norm(i(2))": "linalg.vector_norm: Expected a floating point or complex tensor as input. Got",
    "L.diagonal(f(2))": "Dimension out of range",
    "m.cholesky_inverse(Z)": "cholesky_inverse: The diagonal element 1 is zero",
    "m.cholesky_inverse(f(2, 3))": "cholesky_inverse: A must be batches of square matrices",
    "m.cholesky_solve(f(2), e(2))": "b should have at least 2 dimensions, but has 1 dimensions",
    "m.cholesky_solve(f(3, 1), e(2))": "each A matrix is 2 by 2 but each b matrix is 3 by 1",
    "m.triangular_solve(f(2), e(2))": "Expected b to have at least 2 dimensions, but it has 1",
    "m.cdist(f(3, 2), f(4, 3))": "X1 and X2 must have the same number of columns. X1: 2 X2: 3",
    "m.cdist(f(2), f(2))": "cdist only supports at least 2D tensors, X1 got: 1D",
    "m.cdist(i(3, 2), i(4, 2))": "cdist only supports floating-point dtypes, X1 got: Long",
    "m.cdist(f(3, 2), d(4, 2))": "expected scalar type Float but found Double",
    "m.cdist(f(3, 2), f(4, 2), p=-1)": "cdist only supports non-negative p values",
    "m.cdist(f(3, 2), f(4, 2), compute_mode='x')": "x is not a valid value for compute_mode",
    "m.cdist(f(5, 3, 2), f(3, 4, 2))": "The size of tensor a (5) must match the size of tensor b",
    "m.pdist(f(3))": "pdist only supports 2D tensors, got: 1D",
    "m.pdist(f(3, 2), -1)": "pdist only supports non-negative p values",
    "m.pdist(i(3, 2))": "pdist only supports floating-point dtypes",
    "m.bilinear(f(5, 3), f(5, 5), f(2, 3, 4))": "input2 size does not match weight size: got 5 but",
    "m.bilinear(f(5, 3), f(4, 4), f(2, 3, 4))": "input batch dimensions do not match at dim 0: got",
    "m.bilinear(f(3), f(4), f(2, 3, 4), f(3))": "bias size does not match weight size: got 3 but",
}


@pytest.mark.parametrize("text", REFUSALS)
def test_refusal(text: str) -> None:
    """The error has PyTorch's words, and its type."""
    ours = outcome(compat, lambda m: evaluated(m, text))
    assert isinstance(ours, Exception), ours
    assert REFUSALS[text] in str(ours)
    if torch is not None:
        theirs = outcome(None, lambda m: evaluated(m, text))
        assert type(ours).__name__ == type(theirs).__name__.lstrip("_"), (ours, theirs)
        assert REFUSALS[text] in str(theirs)


NODES = {
    "L.det(g(2))": "LinalgDetBackward0",
    "L.inv(g(2))": "LinalgInvExBackward0",
    "L.solve(g(2), f(2))": "LinalgSolveExBackward0",
    "L.solve_triangular(g(2), f(2, 1), upper=True)": "LinalgSolveTriangularBackward0",
    "L.cholesky(g(2))": "LinalgCholeskyExBackward0",
    "L.cholesky(g(2), upper=True)": "LinalgCholeskyExBackward0",
    "L.qr(g(2)).Q": "LinalgQrBackward0",
    "L.eigh(g(2)).eigenvalues": "LinalgEighBackward0",
    "L.eig(g(2)).eigenvalues": "LinalgEigBackward0",
    "L.eigvals(g(2))": "LinalgEigBackward0",
    "L.svd(g(2)).S": "LinalgSvdBackward0",
    "L.pinv(g(2))": "LinalgPinvBackward0",
    "L.matrix_exp(g(2))": "LinalgMatrixExpBackward0",
    "L.vector_norm(g(2))": "LinalgVectorNormBackward0",
    "m.slogdet(g(2)).logabsdet": "LinalgSlogdetBackward0",
    "m.cholesky(g(2))": "CholeskyBackward0",
    "m.cholesky_inverse(g(2))": "CholeskyInverseBackward0",
    "m.cholesky_solve(f(2, 1), g(2))": "CholeskySolveBackward0",
    "m.cdist(g(2), f(3, 2))": "CdistBackward0",
    "m.pdist(g(2))": "PdistBackward0",
}


@pytest.mark.parametrize("text", NODES)
def test_node(text: str) -> None:
    assert evaluated(compat, text).grad_fn.name() == NODES[text]
    if torch is not None:
        assert evaluated(torch, text).grad_fn.name() == NODES[text]


def test_failed_matrices_are_nan() -> None:
    x = compat.stack([compat.eye(2), compat.zeros(2, 2)]).requires_grad_()
    inverse, info = compat.linalg.inv_ex(x)
    assert info.tolist() == [0, 1] and bool(inverse[1].isnan().all())
    inverse[0].sum().backward()
    assert x.grad[1].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_complete_qr_has_no_derivative() -> None:
    x = compat.ones(3, 2, requires_grad=True)
    q, r = compat.linalg.qr(x, mode="complete")
    assert q.shape == (3, 3) and r.shape == (3, 2)
    with pytest.raises(RuntimeError, match="not differentiable when mode='complete'"):
        q.sum().backward()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2), st.booleans())
def test_decompositions_multiply_back(m: int, n: int, batch: int, complex: bool) -> None:
    rng = np.random.default_rng(m + 7 * n)
    array = rng.normal(size=(batch, m, n)) + (1j * rng.normal(size=(batch, m, n)) if complex else 0)
    x = compat.from_numpy(array)
    q, r = compat.linalg.qr(x)
    u, s, vh = compat.linalg.svd(x, full_matrices=False)
    p, low, up = compat.linalg.lu(x)
    full = compat.linalg.svd(x)
    k = min(m, n)
    for found in (q @ r, (u * s.unsqueeze(-2)) @ vh, p @ low @ up):
        np.testing.assert_allclose(found.numpy(), array, atol=1e-12)
    for v, size in ((full.U, m), (full.Vh.mH, n)):
        unit = (v.mH @ v).resolve_conj().numpy()
        np.testing.assert_allclose(unit, np.broadcast_to(np.eye(size), unit.shape), atol=1e-12)
    np.testing.assert_allclose(full.U[..., :k].numpy(), u.numpy())
    factors = compat.linalg.lu_factor_ex(x)
    assert all(
        bool((a == b).all())
        for a, b in zip(compat.lu_unpack(*factors[:2]), (p, low, up), strict=True)
    )


CONSTANT = [
    lambda m, x: m.linalg.matrix_power(x, 0),
    lambda m, x: m.linalg.householder_product(x, m.ones(0)),
    lambda m, x: m.linalg.householder_product(x[:0, :0], m.ones(0)),
    lambda m, x: m.linalg.lstsq(x, m.ones(2, 1)).residuals,
    lambda m, x: m.linalg.lstsq(m.ones(2, 1), x, driver="gelsy").residuals,
]


@pytest.mark.parametrize("index", range(len(CONSTANT)))
def test_constants_are_recorded(index: int) -> None:
    """What does not depend on the numbers requires grad all the same, as in PyTorch."""
    for m in (compat, torch) if torch is not None else (compat,):
        x = m.eye(2, requires_grad=True)
        assert CONSTANT[index](m, x).requires_grad
        assert not CONSTANT[index](m, x.detach()).requires_grad
    x = compat.eye(2, requires_grad=True)
    CONSTANT[index](compat, x).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("limits", [{"rtol": 0.2}, {"atol": 0.2}, {"rtol": 0.2, "atol": 0.1}])
def test_pinv_with_limits_that_are_tensors_under_vmap(limits: dict[str, float]) -> None:
    rng = np.random.default_rng(0)
    left, _, right = np.linalg.svd(rng.normal(size=(3, 4, 2)), full_matrices=False)
    values = np.array([[3.0, 2.0], [3.0, 0.05], [0.05, 0.01]])
    x = compat.tensor((left * values[:, None]) @ right)

    def energy(x: Any, f: Any) -> Any:
        y = compat.linalg.pinv(x, **{k: f(v) for k, v in limits.items()})
        return (y * compat.arange(8.0, dtype=compat.float64).reshape(2, 4)).sum()

    for f in (compat.tensor, float):
        found = compat.func.vmap(lambda x, f=f: energy(x, f))(x)
        expected = [energy(a, float).item() for a in x]
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-9)
    slopes = compat.func.vmap(compat.func.grad(lambda x: energy(x, compat.tensor)))(x)
    for slope, a in zip(slopes, x, strict=True):
        leaf = a.clone().requires_grad_()
        energy(leaf, float).backward()
        np.testing.assert_allclose(slope.numpy(), leaf.grad.numpy(), rtol=1e-8, atol=1e-8)


SINGULAR = [np.zeros((2, 2)), np.ones((3, 3)), np.stack([2 * np.eye(2), np.ones((2, 2))])]


@pytest.mark.parametrize("name", ["logdet", "slogdet"])
@pytest.mark.parametrize("complex_too", [False, True])
@pytest.mark.parametrize("a", SINGULAR, ids=["zero", "ones", "one of two"])
def test_determinants_of_singular_matrices(name: str, complex_too: bool, a: Any) -> None:
    """Minus infinity, whose derivatives are not finite; those of the others in a stack are."""

    def derivatives(m: Any, order: int) -> list[np.ndarray]:
        x = m.from_numpy(a.astype(complex) if complex_too else a.copy()).requires_grad_()
        y = getattr(m, name)(x)
        y = (y if name == "logdet" else y[1]).real
        found = [y]
        for _ in range(order):
            found += m.autograd.grad(found[-1].real.sum(), x, create_graph=order > 1)
        return [z.detach().resolve_conj().numpy() for z in found]

    value, *found = derivatives(compat, 2)
    singular = np.linalg.matrix_rank(a) < a.shape[-1]
    assert (value == -np.inf).tolist() == singular.tolist()
    for d in found:
        assert not np.isfinite(d[singular]).any() and np.isfinite(d[~singular]).all()
    if torch is not None:  # which raises for the second
        np.testing.assert_allclose(found[0][~singular], derivatives(torch, 1)[1][~singular])


def test_second_derivatives_of_small_determinants() -> None:
    """Of 2 x 2 matrices they are constants, singular or not."""
    x = compat.tensor([[1.0, 2.0], [2.0, 4.0]]).double()
    found = compat.func.hessian(compat.det)(x).reshape(4, 4)
    expected = np.fliplr(np.diag([1.0, -1.0, -1.0, 1.0]))
    np.testing.assert_array_equal(found.numpy(), expected)


def test_pivots_of_complex_batches() -> None:
    a = compat.tensor([[1.4 + 0j, 1], [0.9 + 0.9j, 1]], dtype=compat.complex128)
    alone, batched = compat.linalg.lu_factor(a), compat.linalg.lu_factor(a[None])
    assert alone[1].tolist() == batched[1][0].tolist() == [2, 2]
    compat.testing.assert_close(alone[0], batched[0][0])


def test_transforms_do_not_know_which_minor() -> None:
    indefinite = -compat.eye(2)[None]
    with pytest.raises(compat.linalg.LinAlgError, match=r"not positive-definite\.$"):
        compat.func.vmap(compat.linalg.cholesky)(indefinite)
