"""`funcgrad.scipy.linalg` against SciPy, mpmath and JAX: values, derivatives, what is refused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
import funcgrad.scipy.linalg as fsl
from funcgrad.errors import ArgumentError, ConcretizationError, MissingRuleError, ShapeError
from funcgrad.testing import check_all

sl = pytest.importorskip("scipy.linalg")

# ---------------------------------------------------------------- operands


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    x = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.uniform(-1, 1, shape)
    return x.astype(dtype)


def spread(n: int) -> np.ndarray:
    """A diagonal with gaps."""
    return np.diag(np.arange(n) * 1.5 + 2.0)


def one_operand(kind: str, rng: np.random.Generator, n: int, dtype: Any) -> Any:
    """`kind` is a letter: an operand of that sort, of about `n` rows, never near singular."""
    square = numbers(rng, (n, n), dtype) * 0.5
    found = {
        "any": lambda: square * 3,
        "regular": lambda: square + spread(n),
        "near one": lambda: square * 0.6 + 1.5 * np.eye(n),
        "hermitian": lambda: square + square.conj().T + spread(n),
        "positive": lambda: square @ square.conj().T + spread(n),
        "tall": lambda: numbers(rng, (n + 1, n), dtype) + 2 * np.eye(n + 1, n),
        "wide": lambda: numbers(rng, (n, n + 2), dtype) + 2 * np.eye(n, n + 2),
        "columns": lambda: numbers(rng, (n, 2), dtype),
        "longer columns": lambda: numbers(rng, (n + 1, 2), dtype),
        "diagonals first": lambda: one_operand("diagonals", rng, n, dtype)[::-1],
        "input": lambda: numbers(rng, (n, 2), dtype) + 2 * np.eye(n, 2),
        "small input": lambda: numbers(rng, (n, 2), dtype) * 0.2,
        "weight": lambda: one_operand("positive", rng, 2, dtype),
        "vector": lambda: numbers(rng, (n,), dtype),
        "longer vector": lambda: numbers(rng, (n + 1,), dtype),
        "heavy vector": lambda: numbers(rng, (n,), dtype) * 0.3 + 3.0 * (np.arange(n) == 0),
        "bands": lambda: numbers(rng, (4, n), dtype) * 0.4 + 2.0 * (np.arange(4) == 1)[:, None],
        "diagonals": lambda: numbers(rng, (2, n), dtype) * 0.4 + 3.0 * (np.arange(2) == 1)[:, None],
    }[kind]()
    return found.astype(dtype)


class Row(NamedTuple):
    """A function, the kinds of its operands, other arguments, and how it is called."""

    name: str
    kinds: tuple[str, ...]
    kwargs: dict[str, Any] = {}  # noqa: RUF012  (never written)
    call: Callable[..., Any] | None = None  # of the module and the operands
    dtypes: str = "dfD"
    least: int = 1  # the smallest side that SciPy takes
    order: int = 2  # of the derivatives that are looked at

    def run(self, module: Any, *args: Any) -> Any:
        if self.call is not None:
            return self.call(module, *args)
        return getattr(module, self.name)(*args, **self.kwargs)

    @property
    def label(self) -> str:
        return "-".join([self.name, *self.kinds, *map(str, self.kwargs.values())])


def banded(m: Any, ab: Any, b: Any) -> Any:
    return m.solve_banded((2, 1), ab, b)


def cho(m: Any, a: Any, b: Any, lower: bool) -> Any:
    return m.cho_solve(m.cho_factor(a, lower=lower), b)


def inside_of(ab: np.ndarray, lower: bool) -> np.ndarray:
    """Where the diagonals have elements of the matrix."""
    k, j = np.indices(ab.shape)
    below = k if lower else len(ab) - 1 - k
    return j + below < ab.shape[1] if lower else j >= below


def factor_of_diagonals(m: Any, ab: Any, lower: bool) -> Any:
    ab = ab if lower else fnp.flip(ab, 0)
    return m.cholesky_banded(ab, lower=lower) * inside_of(ab, lower)


def cho_banded(m: Any, ab: Any, b: Any, lower: bool) -> Any:
    ab = fnp.flip(ab, 0) if lower else ab
    return m.cho_solve_banded((ab, lower), b)


def riccati(m: Any, *args: Any, function: str) -> Any:
    """SciPy's balance of generalised equations finds no solution where there is one."""
    more = dict(zip("es", args[4:], strict=False))
    return getattr(m, function)(*args[:4], **more, balanced=not more)


def lu(m: Any, a: Any, b: Any, trans: int) -> Any:
    return m.lu_solve(m.lu_factor(a), b, trans=trans)


def phases_removed(m: Any, *args: Any, function: str, **kwargs: Any) -> Any:
    """Vectors (columns) as their projections, which no phase changes."""
    found = getattr(m, function)(*args, **kwargs)
    w, v = found
    return w, v[:, None, :] * v[None, :, :].conj()


def factors_together(m: Any, a: Any, mode: str) -> Any:
    q, r = m.qr(a, mode=mode)
    signs = r.diagonal() / abs(r.diagonal())
    return q[:, : len(signs)] * signs, signs.conj()[:, None] * r[: len(signs)]


def of_svd(m: Any, a: Any) -> Any:
    u, s, vh = m.svd(a, full_matrices=False)
    return s, (u * s**2) @ vh, u @ u.conj().T


R = Row
ROWS = [
    R("det", ("any",)),
    R("inv", ("regular",)),
    R("norm", ("tall",)),
    R("norm", ("tall",), {"ord": 2}),
    R("norm", ("tall",), {"ord": 1, "axis": 0}),
    R("solve", ("regular", "columns")),
    R("solve", ("regular", "vector"), {"transposed": True}, dtypes="df"),
    R("solve", ("positive", "columns"), {"assume_a": "pos"}),
    R("solve", ("hermitian", "columns"), {"assume_a": "her"}),
    R("solve", ("hermitian", "vector"), {"assume_a": "sym"}, dtypes="df"),
    *(
        R("solve_triangular", ("regular", "columns"), {"trans": trans, "lower": lower})
        for trans, lower in ((0, False), (1, True), ("T", False), (2, False), ("C", True))
    ),
    R("solve_triangular", ("regular", "vector"), {"lower": True, "unit_diagonal": True}),
    R("lstsq", ("tall", "longer columns"), call=lambda m, a, b: m.lstsq(a, b)[:2]),
    R("lstsq", ("tall", "longer vector"), call=lambda m, a, b: m.lstsq(a, b)[:2]),
    R("pinv", ("tall",)),
    R("pinv", ("wide",)),
    R("pinvh", ("hermitian",)),
    R("solve_sylvester", ("regular", "near one", "any")),
    R("solve_continuous_lyapunov", ("regular", "any")),
    R("solve_discrete_lyapunov", ("regular", "any")),
    R("solve_discrete_lyapunov", ("regular", "any"), {"method": "bilinear"}),
    R("solve_banded", ("bands", "columns"), call=banded),
    R("solve_banded", ("bands", "vector"), call=banded),
    R("solveh_banded", ("diagonals", "columns"), least=2),
    *(
        row
        for lower in (True, False)
        for row in (
            R("cholesky_banded", ("diagonals first",), {"lower": lower}, least=2,
              call=functools.partial(factor_of_diagonals, lower=lower)),
            R("cho_solve_banded", ("diagonals", "columns"), {"lower": lower}, least=2,
              call=functools.partial(cho_banded, lower=lower)),
            R("cho_solve_banded", ("diagonals", "vector"), {"lower": lower}, least=2,
              call=functools.partial(cho_banded, lower=lower)),
        )
    ),
    *(
        R(name, ("any", "input", "positive", "weight", *more),
          call=functools.partial(riccati, function=name))
        for name in ("solve_continuous_are", "solve_discrete_are")
        for more in ((), ("near one",), ("near one", "small input"))
    ),
    R("solve_toeplitz", ("heavy vector", "columns")),
    R("solve_toeplitz", ("heavy vector", "vector"), call=lambda m, c, b: m.solve_toeplitz((c, c), b)),
    R("solve_circulant", ("heavy vector", "columns")),
    R("solve_circulant", ("heavy vector", "vector")),
    R("cholesky", ("positive",)),
    R("cholesky", ("positive",), {"lower": True}),
    R("cho_solve", ("positive", "columns"), call=functools.partial(cho, lower=False)),
    R("cho_solve", ("positive", "vector"), call=functools.partial(cho, lower=True)),
    R("lu_factor", ("any",), call=lambda m, a: m.lu_factor(a)[0]),
    *(
        R("lu_solve", ("regular", kind), call=functools.partial(lu, trans=trans))
        for trans, kind in ((0, "vector"), (1, "columns"), (2, "columns"))
    ),
    R("lu", ("any",), call=lambda m, a: m.lu(a)[1:]),
    R("lu", ("tall",), {"permute_l": True}),
    R("lu", ("wide",), call=lambda m, a: m.lu(a, p_indices=True)[1:]),
    R("qr", ("tall",), {"mode": "economic"}, functools.partial(factors_together, mode="economic")),
    R("qr", ("wide",), {"mode": "full"}, functools.partial(factors_together, mode="full")),
    R("qr", ("tall",), {"mode": "r"}, lambda m, a: abs(m.qr(a, mode="r")[0])),
    R("svd", ("tall",), call=of_svd),
    R("svdvals", ("wide",)),
    R("polar", ("tall",)),
    R("polar", ("wide",), {"side": "left"}),
    R("polar", ("regular",), {"side": "left"}),
    R("orthogonal_procrustes", ("tall", "tall"), dtypes="df"),
    R("eigvals", ("regular",), call=lambda m, a: m.eigvals(a).sum() + (m.eigvals(a) ** 3).sum()),
    R("eigh", ("hermitian",), call=functools.partial(phases_removed, function="eigh")),
    R("eigvalsh", ("hermitian",), {"subset_by_index": [0, 0]}),
    *(
        R("eigh", ("hermitian", "positive"), {"type": kind},
          functools.partial(phases_removed, function="eigh", type=kind))
        for kind in (1, 2, 3)
    ),
    R("eigvalsh", ("hermitian", "positive")),
    R("eigvalsh_tridiagonal", ("longer vector", "vector"), dtypes="df", least=2),
    R("expm", ("any",)),
    R("expm_frechet", ("any", "any")),
    R("sqrtm", ("near one",)),
    R("logm", ("near one",), dtypes="dD"),
    R("cosm", ("any",)),
    R("sinm", ("any",)),
    R("tanm", ("near one",)),
    R("coshm", ("any",)),
    R("sinhm", ("any",)),
    R("tanhm", ("near one",)),
    R("fractional_matrix_power", ("near one",), order=1,
      call=lambda m, a: m.fractional_matrix_power(a, 0.3)),
    R("fractional_matrix_power", ("near one",), call=lambda m, a: m.fractional_matrix_power(a, -2)),
    R("toeplitz", ("vector",)),
    R("toeplitz", ("vector", "longer vector")),
    R("hankel", ("vector",)),
    R("hankel", ("vector", "longer vector")),
    R("circulant", ("vector",)),
    R("companion", ("longer vector",)),
    R("fiedler", ("vector",), dtypes="df"),
    R("leslie", ("longer vector", "vector")),
    R("convolution_matrix", ("vector",), call=lambda m, a: m.convolution_matrix(a, 4)),
    R("convolution_matrix", ("vector",), call=lambda m, a: m.convolution_matrix(a, 2, "same")),
    R("convolution_matrix", ("vector",), call=lambda m, a: m.convolution_matrix(a, 5, "valid")),
    R("block_diag", ("any", "tall", "vector")),
    R("khatri_rao", ("any", "tall")),
    R("matmul_toeplitz", ("vector", "columns")),
    R("diagsvd", ("vector",), call=lambda m, s: m.diagsvd(s, s.shape[0] + 1, s.shape[0])),
]  # fmt: skip
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)


def drawn(row: Row, n: int, dtype: Any, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return tuple(one_operand(kind, rng, n, dtype) for kind in row.kinds)


def leaves(x: Any) -> list[Any]:
    return [y for part in x for y in leaves(part)] if isinstance(x, tuple | list) else [x]


# ---------------------------------------------------------------- values


@every_row
@given(data=st.data())
def test_values_are_those_of_scipy(row: Row, data: Any) -> None:
    dtype = np.dtype(data.draw(st.sampled_from(row.dtypes)))
    n = data.draw(st.integers(row.least, 4))
    args = drawn(row, n, dtype, data.draw(st.integers(0, 99)))
    found, expected = leaves(row.run(fsl, *args)), leaves(row.run(sl, *args))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        b = np.asarray(b)
        assert np.shape(a) == b.shape
        if dtype == np.float32:
            assert a.dtype.itemsize <= 8 and a.dtype in (np.float32, np.complex64)
        tol = (5e-4 if dtype == np.float32 else 1e-9) * max(1.0, float(abs(b).max(initial=0)))
        np.testing.assert_allclose(a, b, rtol=0, atol=tol)


@pytest.mark.parametrize("name", ["inv", "det", "expm", "lu", "cho_factor", "eigh", "polar", "qr"])
def test_batches_are_stacks(name: str) -> None:
    rng = np.random.default_rng(3)
    stack = np.stack([one_operand("positive", rng, 3, float) for _ in range(4)]).reshape(2, 2, 3, 3)
    found = leaves(getattr(fsl, name)(stack))
    for place in np.ndindex(2, 2):
        for a, b in zip(found, leaves(getattr(fsl, name)(stack[place])), strict=True):
            np.testing.assert_allclose(a if isinstance(a, bool) else a[place], b, atol=1e-12)


def test_integers_and_lists() -> None:
    a = [[2, 1], [1, 3]]
    for name in ("inv", "det", "expm", "cholesky", "svdvals", "sqrtm", "logm", "polar", "cosm"):
        for x in leaves(getattr(fsl, name)(a)):
            assert x.dtype == np.float64
    assert fsl.toeplitz([1, 2, 3]).dtype == int
    np.testing.assert_array_equal(fsl.block_diag(), sl.block_diag())
    np.testing.assert_array_equal(fsl.dft(4, "n").round(14), sl.dft(4, "n").round(14))


def test_an_order_of_columns() -> None:
    a = np.random.default_rng(0).normal(size=(5, 4)) * [1.0, 9.0, 0.1, 3.0]
    q, r, order = fsl.qr(a, mode="economic", pivoting=True)
    np.testing.assert_array_equal(order, sl.qr(a, mode="economic", pivoting=True)[2])
    np.testing.assert_allclose(q @ r, a[:, order], atol=1e-13)


def test_bases() -> None:
    a = np.arange(12.0).reshape(3, 4)
    for name, projection in (("orth", a @ np.linalg.pinv(a)),
                             ("null_space", np.eye(4) - np.linalg.pinv(a) @ a)):  # fmt: skip
        basis = getattr(fsl, name)(a)
        np.testing.assert_allclose(basis @ basis.T, projection, atol=1e-12)
        with pytest.raises(ArgumentError, match="LAPACK chooses the basis"):
            funcgrad.grad(lambda x, name=name: getattr(fsl, name)(x).sum())(a)


# ---------------------------------------------------------------- derivatives

ONLY = ["types", "transpose", "numerical", "second order", "vmap", "jit"]
FIRST = ["types", "transpose", "numerical"]


@every_row
def test_derivatives(row: Row) -> None:
    for dtype in sorted(set(row.dtypes) - {"f"}):
        args = drawn(row, 2, dtype, 5)
        only = FIRST if dtype == "D" or row.order == 1 else ONLY
        report = check_all(functools.partial(row.run, fsl), args, only=only)
        assert report.ok, str(report)


def test_the_derivative_of_an_exponential_of_matrices_far_from_normal() -> None:
    mp = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    large = [
        30.0 * rng.normal(size=(3, 3)),
        np.array([[1.0, 1e6], [0.0, -1.0]]),
        np.array([[-49.0, 24.0], [-64.0, 31.0]]),
        np.array([[1e-8, 1e8, 3.0], [0.0, 2e-8, 5.0], [1e-9, 0.0, 1.0]]),
    ]
    with mp.workdps(60):
        for a in large:
            n, e = len(a), rng.normal(size=a.shape)
            blocks = mp.matrix(np.block([[a, e], [0 * a, a]]).tolist())
            exact = np.array(mp.expm(blocks, method="taylor").tolist(), dtype=float)
            value, along = funcgrad.jvp(fsl.expm, (a,), (e,))
            for x, y in ((value, exact[:n, :n]), (along, exact[:n, n:])):
                np.testing.assert_allclose(x, y, rtol=0, atol=5e-14 * abs(y).max())


@pytest.mark.parametrize("size", [1e-200, 1e-15, 1e-8, 0.02])
@pytest.mark.parametrize("name", ["coshm", "sinhm", "tanhm", "cosm", "sinm", "tanm"])
@pytest.mark.parametrize("turn", [1.0, 1j])
def test_functions_of_small_matrices_keep_their_digits(name: str, size: float, turn: Any) -> None:
    """A matrix with the eigenvalues 1 and 2, beside numbers: of two exponentials little is left."""
    mp = pytest.importorskip("mpmath")
    f, unit = getattr(fsl, name), np.array([[1.0, 1.0], [0.0, 2.0]]) * turn
    number = getattr(mp, name.removesuffix("m"))

    def matrix(of: Callable[[Any], Any]) -> np.ndarray:
        with mp.workdps(450):
            one, other = (of(k * mp.mpmathify(turn) * mp.mpf(size)) for k in (1, 2))
            return np.array([[one, other - one], [0, other]]).astype(complex)

    found, slope = funcgrad.jvp(lambda s: f(unit * s), (size,), (size,))
    np.testing.assert_allclose(found, matrix(number), rtol=2e-15)
    expected = matrix(lambda x: x * mp.diff(number, x, h=mp.mpf(10) ** -230))
    np.testing.assert_allclose(slope, expected, rtol=1e-14, atol=1e-320)


def test_exponentials_at_the_edges() -> None:
    np.testing.assert_array_equal(fsl.expm([[0.0, 1e200], [0.0, 0.0]]), [[1.0, 1e200], [0.0, 1.0]])
    np.testing.assert_array_equal(fsl.expm(np.zeros((3, 3))), np.eye(3))
    assert fsl.expm(np.zeros((0, 0))).shape == (0, 0)
    mixed = np.stack([np.diag([1e-9, 0.0]), np.diag([300.0, -300.0]), np.full((2, 2), np.nan)])
    found = fsl.expm(mixed)
    assert np.isnan(found[2]).all()
    np.testing.assert_allclose(found[0], np.diag([np.exp(1e-9), 1.0]), rtol=1e-15)
    np.testing.assert_allclose(found[1].diagonal(), np.exp([300.0, -300.0]), rtol=1e-12)
    zero = np.zeros((2, 2))
    np.testing.assert_array_equal(funcgrad.jacfwd(fsl.expm)(zero).reshape(4, 4), np.eye(4))


@pytest.mark.parametrize("name", ["expm", "cholesky", "det", "inv", "svdvals", "eigvalsh"])
def test_gradients_are_those_of_jax(name: str) -> None:
    jax = pytest.importorskip("jax")
    module = pytest.importorskip("jax.scipy.linalg")
    other = getattr(module, name, None) or getattr(jax.numpy.linalg, name)
    a = one_operand("positive", np.random.default_rng(7), 3, np.float64)

    def total(f: Any, x: Any, tanh: Any) -> Any:
        return sum(tanh(0.1 * y).sum() for y in leaves(f(x)))

    with jax.enable_x64(True):
        expected = jax.grad(lambda x: total(other, (x + x.T) / 2, jax.numpy.tanh))(
            jax.numpy.array(a)
        )
    found = funcgrad.grad(lambda x: total(getattr(fsl, name), (x + x.T) / 2, np.tanh))(a)
    np.testing.assert_allclose(found, np.asarray(expected), atol=1e-10)


@pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 5),
    m=st.integers(1, 3),
    dtype=st.sampled_from("dD"),
)
def test_riccatis_equations(name: str, seed: int, n: int, m: int, dtype: str) -> None:
    """The equation holds, the closed loop is stable, and batches are stacks."""
    rng = np.random.default_rng(seed)
    a, b, e, s = (numbers(rng, shape, dtype) for shape in ((n, n), (n, m), (n, n), (n, m)))
    q, r = (one_operand("positive", rng, k, dtype) for k in (n, m))
    e, s = e * 0.3 + 1.5 * np.eye(n), s * 0.2
    solve = getattr(fsl, name)
    try:
        x = solve(a, b, q, r, e, s)
    except np.linalg.LinAlgError:  # what cannot be controlled
        reach = np.hstack([np.linalg.matrix_power(a, k) @ b for k in range(n)])
        assert np.linalg.cond(reach @ reach.conj().T) > 1e6
        return
    (A, B, E, S), (ah, bh, eh, sh) = (
        (a, b, e, s), (np.conj(v.T) for v in (a, b, e, s))
    )  # fmt: skip
    np.testing.assert_array_equal(x, np.conj(x.T))
    if name == "solve_continuous_are":
        k = np.linalg.solve(r, bh @ x @ E + sh)
        left = ah @ x @ E + eh @ x @ A - (eh @ x @ B + S) @ k + q
        assert np.linalg.eigvals(np.linalg.solve(E, A - B @ k)).real.max() < 0
    else:
        k = np.linalg.solve(r + bh @ x @ B, bh @ x @ A + sh)
        left = ah @ x @ A - eh @ x @ E - (ah @ x @ B + S) @ k + q
        assert abs(np.linalg.eigvals(np.linalg.solve(E, A - B @ k))).max() < 1
    np.testing.assert_allclose(left, 0, atol=1e-8 * (1.0 + abs(x).max() ** 2))
    both = solve(np.stack([a, a]), b, q, r[None], e)
    np.testing.assert_allclose(both[1], solve(a, b, q, r, e), atol=1e-9 * abs(x).max())


def test_discrete_riccati_with_singular_matrices() -> None:
    a, b = np.eye(3, k=1), np.eye(3)[:, 2:]
    for r in (0.0, 1e-9, 1.0, 1e9):
        args = (a, b, np.diag([1.0, 2.0, 3.0]), np.array([[r]]))
        np.testing.assert_allclose(
            fsl.solve_discrete_are(*args), sl.solve_discrete_are(*args), rtol=1e-12, atol=1e-12
        )
        if r in (0.0, 1.0):
            report = check_all(fsl.solve_discrete_are, args, only=FIRST)
            assert report.ok, str(report)


@pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
def test_riccati_without_a_solution(name: str) -> None:
    turning = np.array([[0.0, 1.0], [-1.0, 0.0]])
    one = np.eye(2)
    lost = {"continuous": [turning, 0 * one, one], "discrete": [turning, one, 2 * one]}
    for a in lost[name.split("_")[1]]:
        with pytest.raises(np.linalg.LinAlgError, match=r"no stabilising solution|Singular"):
            getattr(fsl, name)(a, np.zeros((2, 1)), one, np.eye(1))


def test_a_power_by_its_exponent() -> None:
    a = one_operand("near one", np.random.default_rng(1), 3, float)
    slope = funcgrad.jacfwd(lambda t: fsl.fractional_matrix_power(a, t))(0.7)
    np.testing.assert_allclose(slope, sl.logm(a) @ sl.fractional_matrix_power(a, 0.7), atol=1e-12)


def test_polar_factors_of_equal_singular_values() -> None:
    """They are smooth there, where singular vectors are not even continuous."""
    turn = np.array([[0.0, -2.0], [2.0, 0.0]])
    report = check_all(fsl.polar, (turn,), only=ONLY)
    assert report.ok, str(report)


# ---------------------------------------------------------------- real or complex


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_real_matrices_without_a_real_result(name: str) -> None:
    f, a = getattr(fsl, name), np.diag([-1.0, 4.0])
    np.testing.assert_allclose(f(a), getattr(sl, name)(a), atol=1e-12)
    slope = funcgrad.grad(lambda x: abs(f(x)).sum())(a)
    np.testing.assert_allclose(slope, funcgrad.grad(lambda x: abs(f(x + 0j)).sum())(a))
    with pytest.raises(ArgumentError, match=r"pass it as complex numbers"):
        funcgrad.jit(f)(a)
    assert f(np.diag([2.0, 4.0])).dtype == np.float64


# ---------------------------------------------------------------- what is refused

A, B = np.eye(2) + 0.1, np.array([1.0, 2.0])
LOW = np.array([[2.0, 0.0], [1.0, 2.0]])
ERRORS: list[tuple[Callable[[], Any], type, str]] = [
    (lambda: fsl.cholesky(LOW), ArgumentError, "cholesky: one triangle of the matrix is empty"),
    (lambda: fsl.eigh(LOW), ArgumentError, r"eigh: one triangle .* Pass all of the matrix"),
    (lambda: fsl.solve(LOW, B, assume_a="pos"), ArgumentError, "solve: one triangle"),
    (lambda: fnp.linalg.cholesky(LOW), ArgumentError, "one triangle .* where NumPy reads one"),
    (lambda: funcgrad.grad(lambda a: np.linalg.eigvalsh(a, "U")[0])(LOW.T), ArgumentError, "one tri"),
    (lambda: fsl.solve(A, B, assume_a="nice"), ArgumentError, "assume_a='nice'; need 'general'"),
    (lambda: fsl.solve_triangular(A, B, trans=3), ArgumentError, "trans=3; need 0, 1, 2"),
    (lambda: fsl.lu_solve(fsl.lu_factor(A), B, trans=3), ArgumentError, "trans=3; need 0, 1 or 2"),
    (lambda: fsl.qr(A, mode="raw"), ArgumentError, "mode='raw'; need 'full'"),
    (lambda: funcgrad.jvp(fsl.qr, (A[:, :1],), (A[:, :1],)), MissingRuleError, "SciPy's 'economic'"),
    (lambda: fsl.polar(A, "up"), ArgumentError, "side='up'"),
    (lambda: fsl.eig(A, left=True), ArgumentError, "eig: left=True is not supported"),
    (lambda: fsl.eigh(A, A, type=4), ArgumentError, "type=4; need 1, 2 or 3"),
    (lambda: fsl.eigh(A, subset_by_index=[1, 2]), ShapeError, r"subset_by_index=\[1, 2\] of 2"),
    (lambda: funcgrad.jit(lambda a: fsl.eigvalsh(a, subset_by_value=(0, 2)))(A),
     ConcretizationError, "subset_by_value"),
    (lambda: fsl.eigh_tridiagonal(B, B), ShapeError, "d has 2 elements, e has 2"),
    (lambda: fsl.expm(B), ShapeError, "expm: needs a square matrix"),
    (lambda: fsl.det(np.ones((2, 3))), ShapeError, "det: needs a square matrix"),
    (lambda: fsl.solve_sylvester(A, A, np.ones((3, 2))), ShapeError, "q needs the rows of a"),
    (lambda: fsl.solve_sylvester(A, -A, A), np.linalg.LinAlgError, "an eigenvalue in common"),
    (lambda: fsl.solve_banded((1, 1), A, B), ShapeError, r"need 1 \+ 1 \+ 1 rows in ab"),
    (lambda: fsl.solve_circulant([1.0, 1.0], B), np.linalg.LinAlgError, "near singular"),
    (lambda: fsl.solve_circulant(B, B, singular="lstsq"), ArgumentError, "only 'raise'"),
    (lambda: fsl.toeplitz(1.0), ShapeError, "toeplitz: needs a vector"),
    (lambda: fsl.companion([1.0]), ShapeError, "two or more coefficients"),
    (lambda: fsl.block_diag(A, A[None]), ShapeError, "differ in their leading axes"),
    (lambda: fsl.pinv(A[None], atol=1.0), ArgumentError, "atol= of a stack"),
    (lambda: fsl.solve_continuous_are(A, B[:, None], A, A), ShapeError, "r is .* need .1, 1."),
    (lambda: fsl.solve_discrete_are(A, A[:, :0], A, A[:0, :0]), ArgumentError, "no columns"),
    (lambda: fsl.solve_discrete_are(A, A, LOW, A), ArgumentError, "one triangle"),
    (lambda: fsl.cholesky_banded(-A), np.linalg.LinAlgError, "definite"),
    (lambda: fsl.cholesky_banded(A[:0]), ShapeError, "need the main one"),
    (lambda: fsl.sqrtm(A, disp=True), ArgumentError, "disp=True is not supported"),
]  # fmt: skip


@pytest.mark.parametrize("index", range(len(ERRORS)))
def test_error(index: int) -> None:
    f, error, words = ERRORS[index]
    with pytest.raises(error, match=words):
        f()


def test_one_triangle_is_named_only_where_numbers_are_known() -> None:
    """Diagonal matrices have no triangle; a program does not know its numbers."""
    np.testing.assert_array_equal(fsl.cholesky(4 * np.eye(2)), 2 * np.eye(2))
    assert funcgrad.jit(fsl.cholesky)(LOW).shape == (2, 2)


ON_THE_CUT: dict[str, Callable[[Any, Any], Any]] = {
    "sqrtm": lambda m, a: m.sqrtm(a),
    "logm": lambda m, a: m.logm(a),
    "fractional_matrix_power": lambda m, a: m.fractional_matrix_power(a, 0.3),
}


@pytest.mark.parametrize("name", ON_THE_CUT)
@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_negative_eigenvalues_are_above_the_branch_cut(name: str, seed: int) -> None:
    """Of real matrices, as in SciPy, with the derivative of that branch along real directions."""
    rng, f = np.random.default_rng(seed), ON_THE_CUT[name]
    basis = rng.uniform(-0.3, 0.3, size=(4, 4)) + np.eye(4)
    a = basis @ np.diag([-1.0, -2.2, 0.7, 1.9]) @ np.linalg.inv(basis)
    np.testing.assert_allclose(f(fsl, a), f(sl, a), atol=1e-8)
    np.testing.assert_allclose(f(fsl, np.stack([a, np.eye(4)]))[0], f(sl, a), atol=1e-8)
    d, h = rng.normal(size=(4, 4)), 1e-5
    slope = (f(sl, a + h * d) - f(sl, a - h * d)) / (2 * h)
    found = funcgrad.jvp(lambda a: f(fsl, a), (a,), (d,))[1]
    np.testing.assert_allclose(found, slope, atol=1e-5 * (1 + abs(slope).max()))
    w = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    back = funcgrad.grad(lambda a: fnp.real(fnp.sum(w * f(fsl, a))))(a)
    np.testing.assert_allclose(np.sum(back * d), np.real(np.sum(w * found)), rtol=1e-7)


def test_rounding_on_one_side_is_no_triangle() -> None:
    a = np.diag([2.0, 1.0])
    a[1, 0] = 1e-17
    for f in (np.linalg.eigvalsh, np.linalg.cholesky, fsl.eigvalsh):
        np.testing.assert_allclose(funcgrad.vjp(f, a)[0], f(np.diag([2.0, 1.0])), atol=1e-12)
