"""Names and arguments of `jax.lax` beside the common ones: numbers, matrices, loops, branches."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.testing import check_all


class Row(NamedTuple):
    """A function of a `lax` and of arrays of the given shapes, all elements positive."""

    name: str
    f: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    smooth: bool = True

    def draw(self, seed: int) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        return [rng.uniform(0.3, 3.0, s) for s in self.shapes]


M, S = (3, 4), (2, 3, 3)
PLACES = np.array([2, 0, 2]), np.array([1, 3, 1])


def phased(m: Any, y: Any) -> Any:
    """What does not depend on the signs of eigenvectors."""
    return m.abs(y)


ROWS = [
    Row("igamma_grad_a", lambda m, a, x: m.igamma_grad_a(a, x), (M, M)),
    Row("random_gamma_grad", lambda m, a, x: m.random_gamma_grad(a, x), (M, M)),
    Row("logistic", lambda m, x: m.real(m.logistic(m.complex(x - 2, -x))), (M,)),
    Row("logistic of real numbers", lambda m, x: m.logistic(x - 1), (M,)),
    Row("conj", lambda m, x: m.imag(m.conj(x) * m.complex(x, x * x)), (M,)),
    Row("conj of complex numbers", lambda m, x: m.imag(m.conj(m.complex(x, x * x))), (M,)),
    Row("convert", lambda m, x: m.convert_element_type(operand=x, new_dtype=np.float32), (M,), False),
    Row("tile", lambda m, operand: m.tile(operand=operand, reps=(2, 3)), (M,)),
    Row("broadcast_to_rank", lambda m, x: m.broadcast_to_rank(x, 4), (M,)),
    Row("index_take", lambda m, x: m.index_take(x, PLACES, (0, 1)), ((3, 4, 2),)),
    Row("index_take of the last", lambda m, x: m.index_take(x, PLACES[:1], (2,)), (S,)),
    Row("approx_max_k", lambda m, x: m.approx_max_k(x, 2, 0)[0], (M,)),
    Row("approx_min_k", lambda m, x: m.approx_min_k(x, 2)[0], (M,)),
    Row("places", lambda m, x: m.approx_min_k(x, 3, 1)[1], (M,), False),
    Row("lu", lambda m, x: m.linalg.lu(x)[0], (S,)),
    Row("order of lu", lambda m, x: m.linalg.lu(x)[2], ((4, 2),), False),
    Row("eig", lambda m, x: phased(m, m.linalg.eig(
        x, compute_left_eigenvectors=False, enable_eigvec_derivs=True)[1]), (S,)),
    Row("left", lambda m, x: phased(m, m.linalg.eig(x)[1]), (S,), False),
    Row("eig alone", lambda m, x: phased(m, m.linalg.eig(
        x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]), (S,)),
    Row("schur", lambda m, x: m.linalg.schur(x, compute_schur_vectors=False)[0], (S,), False),
    Row("householder_product", lambda m, a, t: m.linalg.householder_product(a, t),
        ((2, 4, 3), (2, 2))),
    Row("tridiagonal_solve", lambda m, low, d, up, b: m.linalg.tridiagonal_solve(low, d + 5, up, b),
        ((2, 4), (2, 4), (2, 4), (2, 4, 2))),
    Row("symmetric_product", lambda m, a: m.linalg.symmetric_product(
        a, np.eye(3), alpha=2.0, beta=0.5, symmetrize_output=True), ((3, 2),)),
    Row("cholesky_update", lambda m, r, w: np.tri(3).T * m.linalg.cholesky_update(
        np.tri(3).T * r, w), ((3, 3), (3,))),
    Row("fft", lambda m, x: m.abs(m.fft(m.complex(x, x * x), "FFT", (3, 4))), (M,)),
    Row("ifft", lambda m, x: m.abs(m.fft(m.complex(x, x), m.FftType.IFFT, (4,))), (M,)),
    Row("rfft", lambda m, x: m.imag(m.fft(x, m.FftType.RFFT, fft_lengths=(3, 3))), (S,)),
    Row("irfft", lambda m, x: m.fft(m.complex(x, -x), "irfft", (3, 7)), (M,)),
    Row("irfft of even length", lambda m, x: m.fft(m.complex(x, -x), "IRFFT", (6,)), (M,)),
    Row("ragged_dot", lambda m, a, b: m.ragged_dot(a, b, np.array([2, 0, 1])), ((5, 3), (3, 3, 2))),
    Row("platform_dependent", lambda m, x: m.platform_dependent(
        x, cpu=lambda x: x * x, default=lambda x: -x), (M,)),
    Row("default", lambda m, x: m.platform_dependent(
        x, tpu=lambda x: x * x, default=lambda x: -x), (M,)),
    Row("composite", lambda m, x: m.composite(lambda x: m.sin(x), "my.sin")(x), (M,), False),
    Row("qdwh", lambda m, x: m.linalg.qdwh(x)[0] @ m.linalg.qdwh(x)[1] @ m.linalg.qdwh(x)[1],
        ((4, 3),)),
]  # fmt: skip
NO_DERIVATIVE_THERE = ("cholesky_update", "random_gamma_grad", "igamma_grad_a", "qdwh")
NO_DERIVATIVE_THERE += ("householder_product", "symmetric_product", "tridiagonal_solve")


@pytest.fixture(scope="module")
def theirs() -> Any:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield jax


@pytest.fixture(scope="module")
def expected(theirs: Any) -> dict[str, Any]:
    """What JAX gives for every row, compiled together: values, and cotangents where it has them."""

    def run(inputs: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for row in ROWS:

            def f(*xs: Any, row: Row = row) -> Any:
                return row.f(theirs.lax, *xs)

            found[row.name] = f(*inputs[row.name]), None
            if row.smooth and row.name not in NO_DERIVATIVE_THERE:
                y, pull = theirs.vjp(f, *inputs[row.name])
                found[row.name] = y, pull(np.cos(np.arange(float(y.size))).reshape(y.shape))
        return found

    return theirs.jit(run)({row.name: row.draw(0) for row in ROWS})


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
def test_values_and_gradients_are_those_of_jax(row: Row, expected: Any) -> None:
    y, cts = expected[row.name]
    xs = row.draw(0)
    found = row.f(lax, *xs)
    assert found.dtype == y.dtype
    assert found.shape == y.shape
    np.testing.assert_allclose(found, y, rtol=1e-9, atol=1e-12)
    if cts is not None:
        pull = funcgrad.vjp(lambda *xs: row.f(lax, *xs), *xs)[1]
        weights = np.cos(np.arange(float(y.size))).reshape(y.shape)
        for a, b in zip(pull(weights), cts, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("row", [r for r in ROWS if r.smooth], ids=lambda r: r.name)
def test_derivatives_agree_with_each_other(row: Row) -> None:
    names = ["transpose", "types", "vmap", "program", "jit", "own memory", "numerical"]
    report = check_all(lambda *xs: row.f(lax, *xs), tuple(row.draw(1)), only=names)
    assert report.ok, str(report)


@pytest.mark.parametrize("padding", ["SAME", "same_lower", "VALID"])
@settings(max_examples=30)
@given(axes=st.lists(st.tuples(*[st.integers(1, 9)] * 3), min_size=1, max_size=3))
def test_paddings_are_those_of_jax(padding: str, axes: Any, theirs: Any) -> None:
    given = [tuple(lengths) for lengths in zip(*axes, strict=True)]
    assert lax.padtype_to_pads(*given, padding) == theirs.lax.padtype_to_pads(*given, padding)


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_eigenvectors_of_nothing(shape: tuple[int, ...]) -> None:
    values, left, right = lax.linalg.eig(np.ones(shape, np.float32))
    assert values.shape == shape[:-1] and left.shape == right.shape == shape
    assert values.dtype == left.dtype == right.dtype == np.complex64


@pytest.mark.parametrize("order", [(0, 2), (2, 0), (1, 2), (2, 1)])
def test_axes_go_where_they_are_sent(order: tuple[int, int]) -> None:
    """What `broadcast_in_dim` does is `einsum` with ones."""
    x, shape = np.arange(2.0)[:, None] + 1, [3, 3, 3]
    shape[order[0]] = 2
    found = lax.broadcast_in_dim(x, tuple(shape), order)
    letters = "".join("abc"[i] for i in order)
    ones = [np.ones(n) for n in shape]
    wide = np.broadcast_to(x, [shape[i] for i in order])
    np.testing.assert_array_equal(found, np.einsum(f"{letters},a,b,c->abc", wide, *ones))


def test_what_does_not_fit_is_told() -> None:
    x = np.ones((2, 4))
    for call, error, text in [
        (lambda: lax.fft(x, "DCT", (4,)), ArgumentError, "need one of FFT, IFFT, RFFT, IRFFT"),
        (lambda: lax.fft(x, "RFFT", (3,)), ShapeError, r"last axes of \(3,\)"),
        (lambda: lax.fft(x, "IRFFT", (8,)), ShapeError, r"last axes of \(5,\)"),
        (lambda: lax.fft(x, "FFT", ()), ShapeError, "one to three"),
        (lambda: lax.fft(x, "FFT", (1, 2, 4)), ShapeError, "last axes"),
        (lambda: lax.platform_dependent(x, tpu=abs), ArgumentError, "need cpu="),
        (lambda: lax.ragged_dot(x, x, np.array([2])), ShapeError, r"\(g, k, n\)"),
        (lambda: lax.ragged_dot(x, x[..., None], np.array([2.0, 0.0])), ArgumentError, "integers"),
    ]:
        with pytest.raises(error, match=text):
            call()


# ---------------------------------------------------------------- bits

BITS = [(8, 7), (5, 10), (8, 23), (11, 52), (2, 1), (5, 2), (8, 0), (11, 60)]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_precision_is_that_of_jax(dtype: str, theirs: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200) * 10.0 ** rng.integers(-45, 45, 200)
    edges = [0, -0.0, np.inf, -np.inf, np.nan, 1e39, -1e-39, 65519.99, 65520.0, 6.1e-5, -6.1e-5]
    with np.errstate(over="ignore"):
        x = np.append(x, edges).astype(dtype)
    for bits in BITS:
        expected = np.asarray(theirs.lax.reduce_precision(x, *bits))
        for found in (
            lax.reduce_precision(x, *bits),
            funcgrad.jit(lambda x, bits=bits: lax.reduce_precision(x, *bits))(x),
        ):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected, err_msg=str(bits))
            held = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found)[held], np.signbit(expected)[held])
        slope = funcgrad.grad(lambda x, bits=bits: fnp.sum(lax.reduce_precision(x, *bits)))
        assert (slope(np.array([1.3, 0.0, -2.1]).astype(dtype)) == 1).all()


@given(data=st.data(), dtype=st.sampled_from(
    ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]))  # fmt: skip
def test_the_upper_half_of_products(data: Any, dtype: str) -> None:
    limits = np.iinfo(dtype)
    numbers = st.lists(st.integers(int(limits.min), int(limits.max)), min_size=4, max_size=4)
    x, y = data.draw(numbers), data.draw(numbers)
    bits = 8 * np.dtype(dtype).itemsize
    exact = np.array([(a * b) >> bits for a, b in zip(x, y, strict=True)], dtype)
    for f in (lax.mulhi, funcgrad.jit(lax.mulhi)):
        found = f(np.array(x, dtype), np.array(y, dtype))
        assert found.dtype == exact.dtype
        np.testing.assert_array_equal(found, exact)


def test_some_of_the_eigenvalues_and_singular_values() -> None:
    x = np.random.default_rng(3).normal(size=(2, 4, 4))
    some = slice(1, 3)
    for f in (lambda f: f, funcgrad.jit):
        u, s, vh = f(lambda x: lax.linalg.svd(x, full_matrices=False, subset_by_index=(1, 3)))(x)
        all_u, all_s, all_vh = np.linalg.svd(x, full_matrices=False)
        np.testing.assert_allclose(s, all_s[:, some], rtol=1e-12)
        part = all_u[..., some] * all_s[:, None, some] @ all_vh[:, some]
        np.testing.assert_allclose(u * s[:, None] @ vh, part, rtol=1e-10, atol=1e-12)
        alone = lax.linalg.svd(x, compute_uv=False, subset_by_index=(1, 3), algorithm=None)
        np.testing.assert_allclose(alone, s, rtol=1e-12)
        vectors, values = f(lambda x: lax.linalg.eigh(x, subset_by_index=(1, 3)))(x)
        symmetric = (x + np.matrix_transpose(x)) / 2
        np.testing.assert_allclose(values, np.linalg.eigvalsh(symmetric)[:, some], rtol=1e-10)
        np.testing.assert_allclose(symmetric @ vectors, vectors * values[:, None], atol=1e-12)


@pytest.mark.parametrize("f", [
    lambda x: lax.linalg.cholesky(x, symmetrize_input=False),
    lambda x: lax.linalg.eigh(x, symmetrize_input=False)[1],
])  # fmt: skip
def test_one_triangle_is_enough(f: Any) -> None:
    x = np.random.default_rng(5).normal(size=(2, 3, 4))
    whole = x @ np.matrix_transpose(x)
    low = np.tril(whole)
    np.testing.assert_allclose(f(low), f(whole), rtol=1e-12)
    report = check_all(f, (low,))
    assert report.ok, str(report)


def test_columns_of_a_qr_in_an_order() -> None:
    x = np.random.default_rng(4).normal(size=(4, 3)) * [1.0, 9.0, 3.0]
    for full in (True, False):
        q, r, order = lax.linalg.qr(x, pivoting=True, full_matrices=full)
        assert q.shape == (4, 4 if full else 3) and order[0] == 1
        np.testing.assert_allclose(q @ r, x[:, order], atol=1e-12)


# ---------------------------------------------------------------- loops and branches


@settings(max_examples=10)
@given(n=st.integers(1, 7), size=st.integers(1, 8))
def test_map_of_batches(n: int, size: int) -> None:
    x = {"a": np.random.default_rng(n).normal(size=(n, 3)), "b": np.arange(float(n))}

    def f(row: Any) -> Any:
        return fnp.sin(row["a"]) * row["b"], row["a"].sum()

    def g(x: Any) -> Any:
        return lax.map(f, x, batch_size=size)

    for found in (g(x), funcgrad.jit(g)(x)):
        for a, b in zip(found, lax.map(f, x), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)
    slope = funcgrad.grad(lambda x: fnp.sum(g(x)[0] ** 2))(x)
    expected = funcgrad.grad(lambda x: fnp.sum(lax.map(f, x)[0] ** 2))(x)
    np.testing.assert_allclose(slope["a"], expected["a"], rtol=1e-13)


def test_operands_by_name() -> None:
    def f(x: Any) -> Any:
        y = lax.cond(x > 1, lambda x: x * x, lambda x: -x, operand=x)
        y = lax.fori_loop(0, 3, lambda i, c: c * x, y, unroll=True)
        return y + lax.switch(1, [lambda _: 0.0, lambda x: x], operand=x)

    for g in (funcgrad.grad(f), funcgrad.jit(funcgrad.grad(f))):
        assert [float(g(2.0)), float(g(0.5))] == [5 * 2.0**4 + 1, -4 * 0.5**3 + 1]
    assert lax.cond(False, lambda _: 1, lambda _: 2, operand=None) == 2


X = np.ones((3, 4))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: lax.cond(True, abs, abs, 1.0, operand=1.0), ArgumentError, "operand="),
        (lambda: lax.switch(0, [abs], 1.0, operand=1.0), ArgumentError, "operand="),
        (lambda: lax.map(abs, X, batch_size=0), ArgumentError, "batch_size=0"),
        (lambda: lax.map(abs, {"a": X, "b": X[:2]}, batch_size=2), ShapeError, ""),
        (lambda: lax.reduce_precision(X.astype(int), 8, 7), ArgumentError, "floating"),
        (lambda: lax.reduce_precision(X, 0, 7), ArgumentError, "bits"),
        (lambda: lax.mulhi(X, X), ArgumentError, "integers"),
        (lambda: lax.mulhi(np.int8(1), np.int16(1)), ArgumentError, "one dtype"),
        (lambda: lax.broadcast_to_rank(X, 1), ShapeError, "1 axes"),
        (lambda: lax.index_take(X, (np.arange(2),), (0, 1)), ShapeError, "need vectors"),
        (lambda: lax.approx_min_k(X, 5), ShapeError, "k=5"),
        (lambda: lax.approx_max_k(X, 2, aggregate_to_topk=False), ArgumentError, "aggregate"),
        (lambda: lax.linalg.schur(X[:, :3], sort_eig_vals=True), ArgumentError, "sort="),
        (lambda: lax.linalg.householder_product(X, X[0]), ShapeError, "with"),
        (lambda: lax.linalg.tridiagonal_solve(X, X, X, X), ShapeError, "and"),
        (lambda: lax.linalg.tridiagonal_solve(X, X, X, X[..., None], perturb_singular=True),
         ArgumentError, "perturb"),
        (lambda: lax.linalg.symmetric_product(X, X), ShapeError, "with"),
        (lambda: lax.linalg.cholesky_update(X, X), ShapeError, "with"),
        (lambda: lax.linalg.qdwh(X), ShapeError, "rows"),
        (lambda: lax.linalg.svd(X, subset_by_index=(0, 1)), ArgumentError, "full_matrices=True"),
        (lambda: lax.linalg.eigh(X[:, :3], subset_by_index=(1, 4)), ArgumentError, "of 3; need"),
        (lambda: lax.linalg.qr(X[None], pivoting=True), ArgumentError, "one matrix"),
        (lambda: lax.linalg.qdwh(X.T, dynamic_shape=(1, 1)), ArgumentError, "dynamic_shape"),
        (lambda: lax.linalg.lu_pivots_to_permutation(X, 3), ArgumentError, "integers"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says or None):
        call()


def test_precisions_by_name() -> None:
    for name in ("default", "high", "highest"):
        assert lax.Precision(name) is lax.Precision[name.upper()]
    assert lax.Precision(None) is lax.Precision.DEFAULT
    with pytest.raises(ValueError, match="bfloat"):
        lax.Precision("bfloat")


def test_types_in_annotations() -> None:
    given = typing.get_args(lax.PrecisionLike)
    assert str in given and lax.Precision in given
    assert lax.ConvDimensionNumbers in typing.get_args(lax.ConvGeneralDilatedDimensionNumbers)
    assert len(typing.get_args(lax.DotDimensionNumbers)) == 2


def test_methods_of_rounding_by_name() -> None:
    x, methods = np.array([0.5, 1.5, -2.5]), lax.RoundingMethod
    assert lax.round(x, methods.AWAY_FROM_ZERO).tolist() == [1.0, 2.0, -3.0]
    assert lax.round(x, methods.TO_NEAREST_EVEN).tolist() == [0.0, 2.0, -2.0]
