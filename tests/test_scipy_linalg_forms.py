"""Constant matrices, Schur's and Hessenberg's forms, `funm` and `qr_multiply` beside SciPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
import funcgrad.scipy.linalg as fsl
from funcgrad.errors import ArgumentError, MissingRuleError, ShapeError
from funcgrad.testing import check_all

sl = pytest.importorskip("scipy.linalg")

KINDS = [{"kind": k, "exact": e} for k in ("symmetric", "lower", "upper") for e in (True, False)]
CONSTANTS: dict[str, list[dict[str, Any]]] = {
    "hadamard": [{}, {"dtype": complex}],
    "helmert": [{}, {"full": True}],
    "invhilbert": [{}, {"exact": True}],
    "pascal": KINDS,
    "invpascal": KINDS,
}
sizes = st.integers(0, 4)


def matrices(*shape: int, dtype: str = "d", seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype in "DF" else x).astype(dtype)


# ---------------------------------------------------------------- constants


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_are_scipys(name: str) -> None:
    for options in CONSTANTS[name]:
        for n in (1, 2, 4, 8, 16, 32) if name == "hadamard" else range(1, 14):
            ours, theirs = (getattr(m, name)(n, **options) for m in (fsl, sl))
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    if name.startswith("inv"):
        inverse = getattr(fsl, name[3:])(6)
        np.testing.assert_allclose(getattr(fsl, name)(6) @ inverse, np.eye(6), atol=1e-9)
    traced = funcgrad.grad(lambda x: (getattr(fsl, name)(4) * x).sum())(2.0)
    assert float(traced) == getattr(fsl, name)(4).astype(float).sum()


@given(n=st.integers(1, 9), dtype=st.sampled_from("dfDF"), many=st.booleans())
def test_fiedlers_companion_is_scipys(n: int, dtype: str, many: bool) -> None:
    a = matrices(2, n + 1, dtype=dtype) + 3.0 * np.eye(1, n + 1).astype(dtype)
    found = fsl.fiedler_companion(a if many else a[0])
    assert found.dtype == a.dtype
    expected = np.stack([sl.fiedler_companion(row) for row in a]) if many else None
    np.testing.assert_allclose(
        found,
        expected if many else sl.fiedler_companion(a[0]),
        rtol=1e-6 if dtype in "fF" else 1e-14,
    )
    roots = np.sort_complex(np.linalg.eigvals(fsl.fiedler_companion(a[0].astype(complex))))
    np.testing.assert_allclose(
        np.abs(np.polyval(a[0], roots)), 0, atol=1e-3 if dtype in "fF" else 1e-8
    )


def test_fiedlers_companion_has_derivatives() -> None:
    for n in (1, 2, 5):
        check_all(fsl.fiedler_companion, (matrices(2, n + 1) + 3.0,)).raise_if_failed()


# ---------------------------------------------------------------- forms


@pytest.mark.parametrize("name", ["schur", "complex schur", "hessenberg"])
@given(n=sizes, dtype=st.sampled_from("dfDF"), lead=st.sampled_from([(), (2,), (0,), (2, 1)]))
def test_forms_are_scipys(name: str, n: int, dtype: str, lead: tuple[int, ...]) -> None:
    a = matrices(*lead, n, n, dtype=dtype)
    call = {
        "schur": lambda m, a: m.schur(a),
        "complex schur": lambda m, a: m.schur(a, output="complex"),
        "hessenberg": lambda m, a: m.hessenberg(a, calc_q=True),
    }[name]
    t, z = call(fsl, a)
    assert t.shape == z.shape == a.shape
    for place in np.ndindex(*lead):
        theirs, q = call(sl, a[place])
        assert (t.dtype, z.dtype) == (theirs.dtype, q.dtype)
        np.testing.assert_array_equal(t[place], theirs)
        np.testing.assert_array_equal(z[place], q)
    back = z @ t @ np.conj(np.swapaxes(z, -1, -2))
    np.testing.assert_allclose(back, a, atol=1e-5 if dtype in "fF" else 1e-13)
    if name == "schur" and lead != (0,):
        T, Z = fsl.rsf2csf(t, z)
        assert T.shape == a.shape
        np.testing.assert_allclose(np.tril(T, -1), 0, atol=1e-5 if dtype in "fF" else 1e-13)
        back = Z @ T @ np.conj(np.swapaxes(Z, -1, -2))
        np.testing.assert_allclose(back, a, atol=1e-5 if dtype in "fF" else 1e-13)


@pytest.mark.parametrize("name", ["schur", "hessenberg", "rsf2csf"])
def test_forms_under_transforms(name: str) -> None:
    def f(a: Any) -> Any:
        if name == "hessenberg":
            return fsl.hessenberg(a, calc_q=True)
        found = fsl.schur(a)
        return fsl.rsf2csf(*found) if name == "rsf2csf" else found

    a = matrices(2, 3, 4, 4)
    expected = f(a)
    for run in (funcgrad.vmap(f), funcgrad.vmap(funcgrad.vmap(f)), funcgrad.jit(f)):
        for found, y in zip(run(a), expected, strict=True):
            np.testing.assert_allclose(found, y, rtol=1e-14)
    turned = funcgrad.vmap(f, in_axes=-1, out_axes=-1)(np.moveaxis(a, 0, -1))
    np.testing.assert_allclose(np.moveaxis(turned[0], -1, 0), expected[0], rtol=1e-14)
    whole = funcgrad.grad(lambda a: (f(funcgrad.stop_gradient(a))[0].real * a).sum())(a)
    np.testing.assert_allclose(whole, expected[0].real, rtol=1e-14)


def test_sorted_forms() -> None:
    a = matrices(3, 4, 4)
    for sort in ("lhp", "rhp", lambda x, y=0: x > 0.5):
        for k, (t, z, count) in enumerate(zip(*fsl.schur(a, sort=sort), strict=True)):
            theirs = sl.schur(a[k], sort=sort)
            np.testing.assert_array_equal(t, theirs[0])
            np.testing.assert_array_equal(z, theirs[1])
            assert count == theirs[2]
    assert fsl.hessenberg([[1, 2], [3, 4]]).dtype == np.float64


A = matrices(3, 3)
MISTAKES = [
    (lambda: fsl.schur(np.ones((2, 3))), ShapeError, "square"),
    (lambda: fsl.schur(A, output="upper"), ArgumentError, "output='upper'"),
    (lambda: fsl.schur(A, sort="left"), ArgumentError, "sort='left'"),
    (lambda: fsl.rsf2csf(A, A[:2, :2]), ShapeError, "one shape"),
    (lambda: funcgrad.jit(lambda a: fsl.schur(a, sort="lhp"))(A), ArgumentError, "plain array"),
    *(
        (lambda t=t: t(A), MissingRuleError, "LAPACK chooses the form")
        for t in (
            funcgrad.grad(lambda a: fsl.schur(a)[0].sum()),
            funcgrad.jit(funcgrad.grad(lambda a: fsl.schur(a, "complex")[1].real.sum())),
            funcgrad.jacfwd(lambda a: fsl.hessenberg(a)),
            funcgrad.grad(lambda a: fsl.rsf2csf(a, np.eye(3))[0].real.sum()),
        )
    ),
    (lambda: fsl.funm(np.ones((2, 3)), np.exp), ShapeError, "square"),
    (lambda: fsl.funm(A, np.sum), ShapeError, "func made"),
    (lambda: fsl.qr_multiply(A, A, mode="up"), ArgumentError, "mode='up'"),
    (lambda: fsl.qr_multiply(A, A[:, :2]), ShapeError, "needs 3 columns"),
    (lambda: fsl.qr_multiply(A[:, :2], A, mode="left"), ShapeError, "needs 2 rows"),
    (lambda: fsl.qr_multiply(A, 1.0), ShapeError, "needs 3 columns"),
    (lambda: fsl.hadamard(6), ArgumentError, "no power of 2"),
    (lambda: fsl.hadamard(0), ArgumentError, "n=0; need 1 or more"),
    (lambda: fsl.helmert(1.5), ArgumentError, "n must be an integer"),
    (lambda: fsl.pascal(-1), ArgumentError, "n=-1"),
    (lambda: fsl.pascal(3, "left"), ArgumentError, "kind='left'"),
    (lambda: fsl.pascal(40), ArgumentError, "exact=False"),
    (lambda: fsl.invhilbert(30, exact=True), ArgumentError, "exact=False"),
    (lambda: fsl.fiedler_companion([1.0]), ShapeError, "two or more"),
]


@pytest.mark.parametrize(("mistake", "error", "text"), MISTAKES)
def test_mistakes_are_named(mistake: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        mistake()


# ---------------------------------------------------------------- products with Q


@settings(max_examples=20)
@given(
    m=st.integers(1, 4),
    n=st.integers(1, 4),
    p=st.integers(0, 3),
    left=st.booleans(),
    conjugate=st.booleans(),
    pivoting=st.booleans(),
    dtype=st.sampled_from("dD"),
)
def test_products_with_q_are_scipys(
    m: int, n: int, p: int, left: bool, conjugate: bool, pivoting: bool, dtype: str
) -> None:
    a, k = matrices(m, n, dtype=dtype), min(m, n)
    c = matrices(*((k, p) if left else (p, m)), dtype=dtype, seed=1)
    c = c if p else matrices(k if left else m, dtype=dtype, seed=2)  # a vector
    options = {"mode": "left" if left else "right", "pivoting": pivoting, "conjugate": conjugate}
    ours, r, *order = fsl.qr_multiply(a, c, **options)
    theirs, s, *their_order = sl.qr_multiply(a, c, **options)
    assert ours.shape == theirs.shape
    # Rows of R and what meets them may change their sign, or phase, together.
    turn = np.diagonal(s) / np.diagonal(r)
    assert [x.tolist() for x in order] == [x.tolist() for x in their_order]
    np.testing.assert_allclose(turn[:, None] * r, s, rtol=1e-9, atol=1e-12)
    turn = turn.conj() if conjugate else turn
    if left:
        column = turn.reshape(-1, *(1,) * (c.ndim - 1))
        turned = fsl.qr_multiply(a, c / column, **options)[0]
    else:
        turned = ours / turn
    np.testing.assert_allclose(turned, theirs, rtol=1e-9, atol=1e-12)


def test_products_with_q_have_derivatives() -> None:
    a, c = matrices(4, 3) + np.eye(4, 3), matrices(2, 4, seed=1)
    check_all(lambda a, c: fsl.qr_multiply(a, c), (a, c)).raise_if_failed()


# ---------------------------------------------------------------- functions of matrices

FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "exp": (lambda x: np.exp(x), fsl.expm),
    "sin": (lambda x: np.sin(x), fsl.sinm),
    "root": (lambda x: np.sqrt(x), fsl.sqrtm),
    "polynomial": (lambda x: x * x * x - 2 * x + 1, lambda a: a @ a @ a - 2 * a + np.eye(3)),
}
FAR_APART = np.diag([1.0, 2.5, 4.5])


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=10)
@given(dtype=st.sampled_from("dfDF"), seed=st.integers(0, 99), many=st.booleans())
def test_functions_of_matrices(name: str, dtype: str, seed: int, many: bool) -> None:
    f, exact = FUNCTIONS[name]
    a = (matrices(2, 3, 3, dtype=dtype, seed=seed) * 0.2 + FAR_APART).astype(dtype)
    a = a if many else a[0]
    y = fsl.funm(a, f)
    assert y.dtype == a.dtype
    single = dtype in "fF"
    np.testing.assert_allclose(
        y, exact(a), rtol=1e-4 if single else 1e-11, atol=1e-4 if single else 1e-11
    )
    if not many:
        np.testing.assert_allclose(
            y, sl.funm(a, f), rtol=1e-3 if single else 1e-10, atol=1e-3 if single else 1e-10
        )
    known = funcgrad.jit(lambda a: fsl.funm(a, f))(a)
    assert known.dtype.kind == "c"
    np.testing.assert_allclose(
        known, y, rtol=1e-4 if single else 1e-11, atol=1e-4 if single else 1e-11
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_functions_of_matrices(name: str) -> None:
    f, exact = FUNCTIONS[name]
    a, e = matrices(3, 3) * 0.2 + FAR_APART, matrices(3, 3, seed=1)
    for x, t in ((a, e), (a + 0.1j * e, e * 1j)):
        _, ours = funcgrad.jvp(lambda a: fsl.funm(a, f), (x,), (t,))
        _, theirs = funcgrad.jvp(exact, (x,), (t,))
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11)
    slopes = [
        funcgrad.grad(lambda a, g=g: (g(a) * e).sum())(a) for g in (lambda a: fsl.funm(a, f), exact)
    ]
    np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-11, atol=1e-11)
    bend = [
        funcgrad.grad(lambda s, g=g: funcgrad.grad(lambda s: (g(a + s * e) * e).sum())(s))(0.1)
        for g in (lambda a: fsl.funm(a, f), exact)
    ]
    np.testing.assert_allclose(bend[0], bend[1], rtol=1e-10)


def test_parameters_of_functions_of_matrices() -> None:
    a = matrices(3, 3) * 0.2 + FAR_APART
    slope = funcgrad.grad(lambda t: fsl.funm(a, lambda w: fnp.exp(t * w)).sum())(0.5)
    np.testing.assert_allclose(slope, (a @ fsl.expm(0.5 * a)).sum(), rtol=1e-12)


def test_errors_of_functions_of_matrices_are_estimated() -> None:
    near = np.array([[1.0, 1.0], [0.0, 1.0 + 1e-9]])
    with pytest.warns(UserWarning, match="funm: relative error of about"):
        fsl.funm(near, np.exp)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y, error = fsl.funm(near, np.exp, disp=False)
        fsl.funm(FAR_APART, np.exp)
    assert 1e-8 < error < 1e-5
    assert np.abs(y / np.exp(1) - [[1, 1], [0, 1]]).max() < error
    assert fsl.funm(np.ones((0, 0)), np.exp).shape == (0, 0)
