"""Complex numbers in C, which are pairs of real ones: as NumPy's in values, gradients and types."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax
from funcgrad.compile import c_compiler
from funcgrad.compile.c_complex import FUNCTIONS
from funcgrad.core import REGISTRY

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="there is no C compiler")

REAL = [0.0, -0.0, 1.0, -1.0, 0.75, -2.5, 1e-3, 3e10]
SPECIAL = [np.inf, -np.inf, np.nan]
rng = np.random.default_rng(0)


def grid(parts, dtype):
    return np.array([complex(a, b) for a, b in itertools.product(parts, parts)], dtype)


def in_c(f, *xs):
    with funcgrad.config("c"):
        jitted = funcgrad.jit(f)
        found = jitted(*xs)
        again = jitted(*xs)
    assert "kernel0(" in jitted.code, jitted.code
    for x, y in zip(funcgrad.tree.leaves(found), funcgrad.tree.leaves(again), strict=True):
        np.testing.assert_array_equal(x, y)
    return found


def assert_same(found, expected, rtol=1e-12):
    for x, y in zip(funcgrad.tree.leaves(found), funcgrad.tree.leaves(expected), strict=True):
        assert np.shape(x) == np.shape(y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
        tolerance = rtol if np.asarray(x).dtype in (np.complex128, np.float64) else 3e-5
        scale = np.max(np.abs(y), initial=0.0, where=np.isfinite(y))
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * scale)


# ---------------------------------------------------------------- functions


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("ufunc", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_are_numpys(ufunc, dtype):
    parts = REAL + SPECIAL
    if ufunc in (np.exp, np.log, np.sqrt):  # with an infinite part C99 has a table
        parts = [*REAL, 80.0, -70.0]
    x = grid(parts, dtype)
    operands = (x,) if ufunc.nin == 1 else (np.repeat(x, x.size), np.tile(x, x.size))
    f = getattr(fnp, ufunc.__name__)
    found = in_c(lambda *xs: np.concatenate([f(*xs), f(*(y[::-1] for y in xs))]), *operands)
    with np.errstate(all="ignore"):
        half = ufunc(*operands)
        scale = np.abs(operands[0]) * np.abs(operands[-1])  # products cancel
    expected = np.concatenate([half, half[::-1]])
    assert found.dtype == expected.dtype
    eps = 8 * np.finfo(dtype).eps
    for part in ("real", "imag"):
        a, b = getattr(found, part), getattr(expected, part)
        if b.dtype == bool:
            np.testing.assert_array_equal(a, b)
            continue
        allowed = eps * np.abs(b)
        if ufunc in (np.multiply, np.square):
            allowed += eps * np.concatenate([scale, scale[::-1]])
        finite = np.isfinite(b)
        np.testing.assert_array_equal(a[~finite], b[~finite])
        assert np.all(np.abs(a - b)[finite] <= allowed[finite])
        zero = finite & (b == 0) & (a == 0)
        np.testing.assert_array_equal(np.signbit(a[zero]), np.signbit(b[zero]))


def test_roots_and_logarithms_far_out():
    x = np.array(
        [1e300 + 1e300j, 1e-300 - 1e-300j, -1e200 + 0j, 1e-8j, 1 + 1e-9j, 0.6 + 0.8j, -1 - 1e-12j]
    )
    assert_same(in_c(lambda x: np.sqrt(x), x), np.sqrt(x), 1e-14)
    np.testing.assert_allclose(in_c(lambda x: np.log(x), x), np.log(x), rtol=1e-14, atol=1e-16)
    large = np.array([709.9 + 1.5707963267948966j, 1000.0 + 1j, -1000.0 + 1j, 3.0 + 0j])
    with np.errstate(all="ignore"):
        expected = np.exp(large)
        found = in_c(lambda x: np.exp(x), large)
    np.testing.assert_allclose(found.real, expected.real, rtol=1e-12)
    np.testing.assert_allclose(found.imag, expected.imag, rtol=1e-12)


# ---------------------------------------------------------------- programs

U = np.linalg.qr(rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)))[0]


def W(z):
    return U.astype(z.dtype)


STEPS = {
    "times a number": lambda z, x: (z * (1.5 - 0.5j), x),
    "number minus": lambda z, x: (2.0 - z, x),
    "times real": lambda z, x: (z * x, x),
    "by real": lambda z, x: (z / (x * x + 1.0), x),
    "by complex": lambda z, x: (z / (2.0 + z * z.conj() + 0.5j * x), x),
    "phase": lambda z, x: (np.exp(1j * x) * z, x),
    "size": lambda z, x: (z, np.abs(z + 3.0) - 1.0),
    "real part": lambda z, x: (z + 1j, z.real * 0.5 + x),
    "imaginary part": lambda z, x: (z.conj(), z.imag - x),
    "put together": lambda z, x: (x + 1j * z.imag, x),
    "angle": lambda z, x: (z, np.angle(z + 3.0) + x),
    "root": lambda z, x: (np.sqrt(z + 3.0), x),
    "logarithm": lambda z, x: (np.log(z + 3.0), x),
    "turned": lambda z, x: (z.T.reshape(4, 3).T[:, ::-1], x),
    "rolled": lambda z, x: (np.roll(z, 1, axis=1), x),
    "joined": lambda z, x: (np.concatenate([z[:1], z[1:] * 2.0]), x),
    "with real rows": lambda z, x: (np.concatenate([x[:1], z[1:]]), x),
    "sum": lambda z, x: (z - z.sum(axis=0) / 3.0, x),
    "mean": lambda z, x: (z - z.mean(), x),
    "product": lambda z, x: (U @ z, x),
    "product with real": lambda z, x: (U.real @ z + (x.T @ (U @ z))[:3], x),
    "solution": lambda z, x: (
        np.linalg.solve(z[:, :3] + 8.0 * np.eye(3).astype(z.dtype), z) * 8.0
        + np.linalg.inv(W(z)) @ z,
        x,
    ),
    "exponential": lambda z, x: (REGISTRY["expm"](z[:, :3] * 0.3j) @ z, x),
    "chosen": lambda z, x: (np.where(x > 0, z, 0.5j), x),
    "picked": lambda z, x: (z[np.array([2, 0, 0])], x),
    "added at": lambda z, x: (fnp.at(z)[np.array([2, 0, 2]), 1].add(z[:, 0]), x),
    "set": lambda z, x: (fnp.at(z)[1:, 1:3].set(z[:2, :2] * 1j), x),
    "scan": lambda z, x: (lax.scan(lambda c, r: (0.5 * c * c.conj() + r, c * 1j), z[0], z)[1], x),
    "scan of products": lambda z, x: (
        lax.scan(lambda c, r: (W(z) @ c * r, None), z, x[:, :1, None])[0],
        x,
    ),
    "counted": lambda z, x: (lax.fori_loop(0, 3, lambda i, c: c * (c.real + 1j) * (i > 0), z), x),
    "while": lambda z, x: (
        lax.while_loop(lambda c: np.abs(c).max() > 0.7, lambda c: c * (0.6 + 0.1j), z),
        x,
    ),
    "branch": lambda z, x: (lax.cond(x[0, 0] > 0, lambda z: z * 2j, lambda z: z.conj(), z), x),
    "inside only": lambda z, x: (
        z,
        lax.scan(lambda c, r: (c, np.abs(np.exp(1j * r) + 1.0)), 0.0, x)[1],
    ),
    "truth": lambda z, x: (z, np.where((z == z.conj()) | np.isfinite(z), x, 0.0)),
    "mapped": lambda z, x: (funcgrad.vmap(lambda r: r * r.sum())(z), x),
    "python": lambda z, x: (np.fft.ifft(np.fft.fft(z, axis=1) * np.exp(-1j * x), axis=1), x),
}


def program(names, dtype):
    def f(z, x):
        for name in names:
            z, x = STEPS[name](z, x)
            z, x = z.astype(dtype), x.astype(PART[dtype])
            z = z / (1.0 + np.abs(z).max())
        return z, x, (np.abs(z) ** 2).sum() + (x * z.real).sum() + z.imag[0, 0]

    return f


PART = {np.complex128: np.float64, np.complex64: np.float32}
Z = rng.normal(size=(3, 4)) + 1j * rng.normal(size=(3, 4))
X = rng.normal(size=(3, 4))


def check(names, dtype, z=Z, x=X):
    z, x = z.astype(dtype), x.astype(PART[dtype])
    f = program(names, dtype)
    assert_same(in_c(f, z, x), f(z, x), 1e-10)

    def loss(z, x):
        return f(z, x)[2]

    gradient = funcgrad.grad(loss, (0, 1))
    assert_same(in_c(gradient, z, x), gradient(z, x), 1e-9)


@pytest.mark.parametrize("dtype", PART)
@pytest.mark.parametrize("name", STEPS)
def test_each_step(name, dtype):
    check([name], dtype)


@settings(deadline=None, max_examples=12)
@given(st.lists(st.sampled_from(list(STEPS)), min_size=2, max_size=5), st.sampled_from(list(PART)))
def test_random_programs(names, dtype):
    check(names, dtype)


def test_memory_of_any_order():
    wide = rng.normal(size=(6, 8)) + 1j * rng.normal(size=(6, 8))
    for z in (wide[::2, ::2], wide[:4, :3].T, wide[5:2:-1, 4:]):
        check(["phase", "product", "scan"], np.complex128, z)


def test_numbers_and_arrays_without_axes():
    def f(a, b, c):
        return a * b + np.exp(1j * c), np.abs(a) * c, (a / b).real

    for xs in (
        (1 + 2j, np.complex128(2 - 1j), 0.5),
        (np.array(1 + 2j), np.array([1j, 2.0]), np.float64(2.0)),
    ):
        assert_same(in_c(f, *xs), f(*xs))
    assert isinstance(in_c(f, np.complex128(1j), np.complex128(2.0), 0.5)[0], np.complex128)


def test_results_are_arrays_of_their_own():
    z = Z.copy()
    found = in_c(lambda z: (z * 1j + 1.0, z), z)
    assert found[0].flags.writeable and not np.shares_memory(found[0], z)
    found[0][0, 0] = 5.0
    with funcgrad.config("c"):
        f = funcgrad.jit(lambda z: z * 1j + 1.0, donate_argnums=0)
        expected = z * 1j + 1.0
        for _ in range(3):
            np.testing.assert_allclose(f(z.copy()), expected)


def test_loops_are_one_function():
    """What a loop carries is complex: Python ran it step by step."""

    def f(z):
        z, sizes = lax.scan(lambda c, _: (U @ c, np.abs(c[0])), z, None, length=50)
        return lax.while_loop(lambda c: np.abs(c[0]) > 1e-3, lambda c: c * (0.5 + 0.1j), z), sizes

    with funcgrad.config("c"):
        stages = funcgrad.jit(f).lower(Z[:, 0])
    assert stages.code.count("kernel") == 1
    assert "call_" not in stages.code
    assert_same(in_c(f, Z[:, 0]), f(Z[:, 0]))


def test_what_python_does_stays_whole():
    """Eigenvalues of complex matrices are LAPACK's: a loop around them is not taken apart."""
    h = U + U.conj().T

    def f(h):
        return lax.fori_loop(0, 3, lambda i, h: np.diag(np.linalg.eigvalsh(h)) * 0.5 + h, h)

    with funcgrad.config("c"):
        compiled = funcgrad.jit(f)
        found = compiled(h)
    assert "view" not in compiled.code
    assert_same(found, f(h))


def test_parts_that_nobody_reads():
    """They are no steps: a region of them alone had no result."""
    check(
        ["set", "scan of products", "by complex", "logarithm", "solution", "product"], np.complex64
    )

    def f(z, x):
        w = np.exp(1j * x) * z  # of which the real part is read
        return np.linalg.solve(W(z), w).real.sum() + w.real[0, 0]

    assert_same(in_c(f, Z, X), f(Z, X))
    assert_same(in_c(funcgrad.grad(f, 1), Z, X), funcgrad.grad(f, 1)(Z, X))
