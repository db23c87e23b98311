"""Products with sparse matrices, and solvers: values, derivatives and ends as those of dense matrices.

And of SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg as theirs
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import tree
from funcgrad.errors import ArgumentError, HandoverError, ShapeError
from funcgrad.scipy.sparse import linalg as ours

METHODS = ["cg", "bicgstab", "gmres", "minres"]
HERMITIAN = ("cg", "minres")
TRANSFORMS: dict[str, Any] = {
    "value": lambda f: f,
    "jacrev": lambda f: funcgrad.jacrev(f, (0, 1)),
    "jacfwd": lambda f: funcgrad.jacfwd(f, (0, 1)),
    "jit": lambda f: funcgrad.jit(funcgrad.jacrev(f, (0, 1))),
    "vmap": lambda f: (
        lambda a, b: funcgrad.vmap(funcgrad.jacrev(f), (None, 0))(a, np.stack([b, 2 * b]))
    ),
    "hessian": lambda f: funcgrad.hessian(lambda a, b: fnp.sum(fnp.absolute(f(a, b)) ** 2), (0, 1)),
}


def system(name: str, n: int, seed: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, n)), rng.normal(size=n)
    if np.dtype(dtype).kind == "c":
        a, b = a + 1j * rng.normal(size=(n, n)), b + 1j * rng.normal(size=n)
    if name == "minres":  # half of the eigenvalues are negative
        a = a + a.conj().T + np.diag(4.0 * n * (-1.0) ** np.arange(n))
    else:
        a = a @ a.conj().T + n * np.eye(n) if name == "cg" else a + 2 * n * np.eye(n)
    return a.astype(dtype), b.astype(dtype)


def made(name: str, a: Any) -> Any:
    """A matrix that suits the method, of any near to one that does."""
    return (a + fnp.conj(a).T) / 2 if name in HERMITIAN else a


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("transform", list(TRANSFORMS))
def test_solutions_and_derivatives(name: str, transform: str) -> None:
    a, b = system(name, 4, 0)

    def iterative(a: Any, b: Any) -> Any:
        return getattr(ours, name)(made(name, a), b, rtol=1e-13)[0]

    t = TRANSFORMS[transform]
    expected = t(lambda a, b: fnp.linalg.solve(made(name, a), b))(a, b)
    for x, y in zip(tree.leaves(t(iterative)(a, b)), tree.leaves(expected), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-9)


@given(
    st.sampled_from(METHODS),
    st.integers(1, 30),
    st.integers(0, 99),
    st.sampled_from([np.float32, np.float64, np.complex128]),
    st.booleans(),
)
def test_as_scipy(name: str, n: int, seed: int, dtype: Any, preconditioned: bool) -> None:
    a, b = system(name, n, seed, dtype)
    near = np.diag(1 / np.abs(np.diag(a))) if preconditioned else None
    x, info = getattr(ours, name)(a, b, rtol=1e-4, M=near)
    assert x.dtype == dtype and info == 0
    if name == "minres":  # SciPy's is for real numbers, and ends by an estimate
        assert np.linalg.norm(b - a @ x) <= 1.1e-4 * np.linalg.norm(b)
        return
    y, end = getattr(theirs, name)(a, b, rtol=1e-4, M=near)
    assert end == 0
    for found in (x, y):
        assert np.linalg.norm(b - a @ found) <= 1.1e-4 * np.linalg.norm(b)


@pytest.mark.parametrize("name", METHODS)
def test_ends(name: str) -> None:
    """Nothing to do, too few steps, a good start, gradients of complex systems."""
    a, b = system(name, 8, 1)
    solve = getattr(ours, name)
    assert solve(a, 0 * b)[0].tolist() == [0.0] * 8
    options = {"restart": 1, "solve_method": "incremental"} if name == "gmres" else {}
    assert solve(a, b, rtol=1e-14, maxiter=1, **options)[1] == 1
    assert solve(a, b, np.linalg.solve(a, b), rtol=1e-9, maxiter=0)[1] == 0
    a, b = system(name, 3, 2, np.complex128)
    f = lambda g: lambda b: fnp.real(fnp.sum(g(a, b) ** 2))  # noqa: E731
    found = funcgrad.grad(f(lambda a, b: solve(a, b, rtol=1e-13)[0]))(b)
    np.testing.assert_allclose(found, funcgrad.grad(f(fnp.linalg.solve))(b), rtol=1e-8)


@pytest.mark.parametrize("name", METHODS)
def test_wider_matrices(name: str) -> None:
    """Solutions have the dtype that A and b have together, which no step may lose."""
    solve = getattr(ours, name)
    a, _ = system(name, 3, 2, np.complex128)
    b = np.array([1.0, 2.0, -1.0])
    expected = np.linalg.solve(a, b)
    for matrix in (a, lambda x: a @ x, scipy.sparse.csr_array(a)):
        for right in (b, b.astype(np.float32), b.astype(int)):
            np.testing.assert_allclose(solve(matrix, right, rtol=1e-12)[0], expected, rtol=1e-9)
    np.testing.assert_allclose(solve(a, b.tolist(), rtol=1e-12)[0], expected, rtol=1e-9)
    single = solve(a.real.astype(np.float32), b.astype(np.float32))[0]
    assert single.dtype == np.float32
    found = funcgrad.grad(lambda b: fnp.sum(fnp.absolute(solve(a, b, rtol=1e-13)[0]) ** 2))(b)
    exact = funcgrad.grad(lambda b: fnp.sum(fnp.absolute(fnp.linalg.solve(a, b)) ** 2))(b)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, exact, rtol=1e-8)


@given(st.integers(2, 30), st.integers(0, 99), st.floats(-1.0, 1.0))
def test_least_residuals_of_shifted_matrices(n: int, seed: int, shift: float) -> None:
    a, b = system("minres", n, seed)
    x, info = ours.minres(a, b, shift=shift, rtol=1e-11)
    np.testing.assert_allclose(x, np.linalg.solve(a - shift * np.eye(n), b), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        theirs.minres(a, b, shift=shift, rtol=1e-12)[0], x, rtol=1e-5, atol=1e-6
    )
    slope = funcgrad.grad(lambda s: fnp.sum(ours.minres(a, b, shift=s, rtol=1e-12)[0]))(shift)
    expected = np.linalg.solve(
        a - shift * np.eye(n), np.linalg.solve(a - shift * np.eye(n), b)
    ).sum()
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8)
    assert info == 0


@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
def test_sparse_matrices(columns: tuple[int, ...], kind: Any) -> None:
    rng = np.random.default_rng(0)
    a = scipy.sparse.random(9, 9, 0.3, random_state=1, format="csr") + 3 * scipy.sparse.eye(9)
    a, b = a.astype(kind), rng.normal(size=(9, *columns))
    found = ours.spsolve(a, b.astype(kind))
    rtol = 1e-4 if kind is np.float32 else 1e-10
    assert found.dtype == kind
    np.testing.assert_allclose(found, np.linalg.solve(a.toarray(), b), rtol=rtol)
    if kind is np.float32:
        return
    sparse = lambda b: fnp.sum(fnp.absolute(ours.spsolve(a, b)) ** 3)  # noqa: E731
    dense = lambda b: fnp.sum(fnp.absolute(ours.spsolve(a.toarray(), b)) ** 3)  # noqa: E731
    for t in (funcgrad.grad, lambda f: funcgrad.jit(funcgrad.grad(f)), funcgrad.hessian):
        np.testing.assert_allclose(t(sparse)(b), t(dense)(b), rtol=1e-8, atol=1e-10)
    pair = np.stack([b, 2 * b])
    column = b.reshape(b.shape[0], -1)[:, :1]  # of which SciPy gives a vector
    assert ours.spsolve(a, column).shape == theirs.spsolve(a, column).shape
    mapped = funcgrad.vmap(lambda b: ours.spsolve(a, b))(pair)
    np.testing.assert_allclose(mapped, [ours.spsolve(a, b) for b in pair], rtol=1e-12)
    if not columns:
        normal = (a.conj().T @ a + scipy.sparse.eye(9)).tocsc()
        x, _ = ours.cg(normal, b.astype(kind), rtol=1e-13)
        np.testing.assert_allclose(x, ours.spsolve(normal, b), rtol=1e-9)


def test_functions_of_trees() -> None:
    """The matrix as a function of what a linear model's parameters are; here of rank one and more."""
    rng = np.random.default_rng(3)
    u, b = rng.normal(size=5), {"w": rng.normal(size=(2, 2)), "c": rng.normal()}

    def solved(u: Any, solve: Any) -> Any:
        def matvec(p: Any) -> Any:
            flat, unravel = funcgrad.flatten_util.ravel_pytree(p)
            return unravel(3.0 * flat + u * fnp.dot(u, flat))

        return solve(matvec)

    def iterative(u: Any) -> Any:
        x, _ = solved(u, lambda f: ours.cg(f, b, rtol=1e-13))
        return fnp.sum(x["w"]) * x["c"]

    def direct(u: Any) -> Any:
        flat, unravel = funcgrad.flatten_util.ravel_pytree(b)
        x = unravel(fnp.linalg.solve(3.0 * np.eye(5) + fnp.outer(u, u), flat))
        return fnp.sum(x["w"]) * x["c"]

    np.testing.assert_allclose(funcgrad.grad(iterative)(u), funcgrad.grad(direct)(u), rtol=1e-9)


def test_errors() -> None:
    a, b = system("gmres", 3, 0)
    for call, error in (
        (lambda: ours.cg(a, np.ones(4)), ShapeError),
        (lambda: ours.gmres(a, b, M=np.eye(2)), ShapeError),
        (lambda: ours.gmres(a, b, restart=0), ArgumentError),
        (lambda: ours.cg(a, b, callback=print), ArgumentError),
        (lambda: ours.minres(a, b, show=True), ArgumentError),
        (lambda: ours.spsolve(a, np.ones(4)), ShapeError),
        (lambda: ours.spsolve(0 * a, b), np.linalg.LinAlgError),
        (lambda: ours.spsolve(scipy.sparse.csc_matrix((3, 3)), b), np.linalg.LinAlgError),
    ):
        with pytest.raises(error):
            call()


# ---------------------------------------------------------------- products with constant matrices

FORMATS = ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"]
PRODUCTS: dict[str, Any] = {
    "A @ x": lambda a, x: a @ x,
    "x @ A.T": lambda a, x: x @ a.T,
    "A.T.T @ X": lambda a, x: (a.T.T @ fnp.stack([x, x**2], 1)).sum(1),
    "X @ A.T": lambda a, x: (fnp.stack([x, x**2]) @ a.T).sum(0),
    "np.matmul": lambda a, x: np.matmul(a, x),
    "in a loop": lambda a, x: funcgrad.lax.map(lambda v: a @ v, fnp.stack([x, x**2]))[1],
}


@given(
    st.sampled_from(FORMATS),
    st.sampled_from([scipy.sparse.coo_array, scipy.sparse.coo_matrix]),
    st.sampled_from(sorted(PRODUCTS)),
    st.sampled_from(["value", "jacrev", "jacfwd", "jit", "vmap", "hessian"]),
    st.integers(0, 9),
)
def test_products_with_constant_matrices(
    form: str, kind: Any, product: str, transform: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(3, 4)) * (rng.random((3, 4)) < 0.6)
    x = rng.normal(size=4)
    t = {
        "value": lambda f: funcgrad.jit(f),
        "jacrev": funcgrad.jacrev,
        "jacfwd": funcgrad.jacfwd,
        "jit": lambda f: funcgrad.jit(funcgrad.jacrev(f)),
        "vmap": lambda f: lambda x: funcgrad.vmap(funcgrad.jacrev(f))(np.stack([x, 2 * x])),
        "hessian": lambda f: funcgrad.hessian(lambda x: fnp.sum(f(x) ** 3)),
    }[transform]
    f = PRODUCTS[product]
    sparse = kind(dense).asformat(form)
    found, expected = t(lambda x: f(sparse, x))(x), t(lambda x: f(dense, x))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_the_older_class_multiplies_matrices_by_a_star() -> None:
    a, x = scipy.sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), np.array([1.0, -1.0])
    gradient = funcgrad.grad(lambda x: fnp.sum((a * x) ** 2))(x)
    np.testing.assert_allclose(gradient, 2 * a.toarray().T @ (a.toarray() @ x))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "f",
    [
        lambda a, x: a @ x,
        lambda a, x: a.T @ x,
        lambda a, x: a.toarray() @ x,
        lambda a, x: (a @ np.ones(3)) * x,
    ],
)
def test_programs_see_what_is_written_into_the_matrix(form: str, f: Any) -> None:
    a = scipy.sparse.csr_array(np.diag([1.0, 2.0, 3.0])).asformat(form)
    x, g = np.ones(3), f
    f = funcgrad.jit(funcgrad.grad(lambda x: fnp.sum(g(a, x))))
    assert f(x).tolist() == [1, 2, 3]
    if form in ("lil", "dok"):
        a[0, 0] = 7.0
    else:
        a.data *= np.where(a.data == 1, 7.0, 1.0)
    assert f(x).tolist() == [7, 2, 3]


def test_products_that_do_not_fit() -> None:
    a = scipy.sparse.csr_array(np.eye(3))
    x = np.ones(3)

    def gradient(f: Any) -> Any:
        return funcgrad.grad(lambda x: fnp.sum(f(x)))(x)

    with pytest.raises(ShapeError, match=r"shape \[3, 3\] times an array of shape \[2\]"):
        gradient(lambda x: a @ x[:2])
    with pytest.raises(
        ShapeError, match=r"sparse array of shape \[3, 3\] and an array of shape \[3, 1, 1\]"
    ):
        gradient(lambda x: a @ x[:, None, None])
    with pytest.raises(ShapeError, match=r"a sparse array of shape .* and a sparse array"):
        fnp.matmul(a, a)
    with pytest.raises(ShapeError, match="need a sparse matrix and an array of one or two axes"):
        gradient(lambda x: x[0] @ a)
    with pytest.raises(HandoverError, match="use A @ x or x @ A"):
        gradient(lambda x: scipy.sparse.csr_array(x[None]))
    with pytest.raises(TypeError):
        fnp.matmul("a", x)
