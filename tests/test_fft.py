"""`funcgrad.numpy.fft` against NumPy: values, derivatives, transforms inside of transforms.

The checks of a call are those of `test_numpy.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import array, booleans, complexes, floats, integers, shapes
from test_numpy import (
    Call,
    Closed,
    Row,
    call,
    check_batches,
    check_cupy,
    check_dispatch,
    check_plain,
    check_traced,
    one_of,
)

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, HandoverError, ShapeError

REAL = floats(-3, 3)
REALS = [REAL, REAL.astype(np.float32), integers(-4, 4), booleans()]
NUMBERS = [*REALS, complexes(), complexes().astype(np.complex64)]
NORMS = st.sampled_from([None, "backward", "ortho", "forward"])

X = np.linspace(-1.0, 2.0, 12).reshape(3, 4) ** 2 - 1.0
Z = X + 1j * X.T.reshape(3, 4)

# ---------------------------------------------------------------- calls


@st.composite
def one_axis(draw: Any, *domains: Any, least: int = 1) -> Call:
    """Along one axis, with another number of points now and then."""
    shape = draw(shapes(ndim=(1, 3), side=(0, 5)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    where = axis % len(shape)
    n = draw(st.one_of(st.none(), st.integers(1, 7)))
    shape = tuple(max(m, least) if i == where else m for i, m in enumerate(shape))
    x = draw(array(draw(st.sampled_from(domains)), shape))
    kwargs = {"n": n, "axis": axis, "norm": draw(NORMS)}
    return Call((x,), {k: v for k, v in kwargs.items() if v is not None or draw(st.booleans())})


@st.composite
def several(draw: Any, *domains: Any, least: int = 1, default: bool = False) -> Call:
    """Along several axes, of which one may be given twice; `default`: two, the last, unless given."""
    shape = draw(shapes(ndim=(2 if default else 1, 3), side=(least, 4)))
    everywhere = st.integers(-len(shape), len(shape) - 1)
    axes = draw(st.one_of(st.none(), st.lists(everywhere, min_size=1, max_size=3)))
    kwargs: dict[str, Any] = {"norm": draw(NORMS)}
    count = (2 if default else len(shape)) if axes is None else len(axes)
    if axes is not None:
        kwargs["axes"] = tuple(axes)
    if draw(st.booleans()) and (axes is not None or default):
        lengths = draw(st.lists(st.integers(1, 6), min_size=count, max_size=count))
        kwargs["s"] = (*(-1 if n == 6 else n for n in lengths[:-1]), lengths[-1])
    x = draw(array(draw(st.sampled_from(domains)), shape))
    return Call((x,), kwargs)


ROWS: dict[str, Row] = {
    "fft": one_axis(*NUMBERS),
    "ifft": one_axis(*NUMBERS),
    "rfft": one_axis(*REALS),
    "irfft": one_axis(*NUMBERS, least=2),
    "hfft": one_axis(*NUMBERS, least=2),
    "ihfft": one_axis(*REALS),
    "fftn": one_of(several(*NUMBERS), call(Z, axes=()), call(np.array(2.0))),
    "ifftn": several(*NUMBERS),
    "rfftn": several(*REALS),
    "irfftn": several(*NUMBERS, least=2),
    "fft2": several(*NUMBERS, default=True),
    "ifft2": several(*NUMBERS, default=True),
    "rfft2": several(*REALS, default=True),
    "irfft2": several(*NUMBERS, least=2, default=True),
    "fftfreq": one_of(call(5), call(4, 0.5), call(1), call(3, np.array(0.7))),
    "rfftfreq": one_of(call(5), call(4, 0.5), call(1), call(3, np.array(0.7)), call(3, 2)),
    "fftshift": one_of(call(X), call(Z, 0), call(X, (0, -1)), call(Z, (1, 1)), call(X[:0], -1)),
    "ifftshift": one_of(call(X), call(Z, 0), call(X, (0, -1)), call(X[0, :3]), call([1, 2, 3])),
}
FREQUENCIES = {"fftfreq", "rfftfreq"}  # which NumPy does not dispatch
every_function = pytest.mark.parametrize("name", ROWS)


@every_function
@given(data=st.data())
def test_call(name: str, data: Any) -> None:
    drawn = data.draw(ROWS[name])
    ours, theirs = getattr(fnp.fft, name), getattr(np.fft, name)
    check_plain(ours, theirs, drawn)
    closed = Closed(ours, drawn)
    check_traced(closed, drawn, exact=True)
    check_batches(closed, needs_values=False)
    if name not in FREQUENCIES:
        check_dispatch(closed, Closed(theirs, drawn))


@every_function
@given(data=st.data())
def test_on_cupy(name: str, cupy: ModuleType, data: Any) -> None:
    if name not in FREQUENCIES:
        check_cupy(cupy, getattr(fnp.fft, name), data.draw(ROWS[name]))


@every_function
def test_signature(name: str) -> None:
    ours, theirs = (inspect.signature(getattr(m.fft, name)).parameters for m in (fnp, np))
    ours = {n: p for n, p in ours.items() if n != "dtype"}  # which only JAX has
    assert list(ours) == list(theirs)
    for p, q in zip(ours.values(), theirs.values(), strict=True):
        assert p.default == q.default and p.kind is q.kind


def test_everything_is_there() -> None:
    assert sorted(np.fft.__all__) == sorted(fnp.fft.__all__) == sorted(ROWS)


def test_frequencies_on_cupy(cupy: ModuleType) -> None:
    d = cupy.asarray(np.array(0.5))
    found = fnp.fft.fftfreq(4, d)
    assert type(found) is cupy.ndarray and found.tolist() == [0.0, 0.5, -1.0, -0.5]
    assert fnp.fft.rfftfreq(4, d).tolist() == [0.0, 0.5, 1.0]


# ---------------------------------------------------------------- what the transforms are


@given(n=st.integers(1, 9), inverse=st.booleans(), data=st.data())
def test_definition(n: int, inverse: bool, data: Any) -> None:
    """The sum in the docstring, term by term."""
    x = data.draw(array(complexes(), (n,)))
    k = np.arange(n)
    matrix = np.exp((2j if inverse else -2j) * np.pi * np.outer(k, k) / n)
    found = fnp.fft.ifft(x, norm="forward") if inverse else fnp.fft.fft(x)
    np.testing.assert_allclose(found, matrix @ x, atol=1e-12)
    jacobian = funcgrad.jacfwd(lambda x: fnp.fft.fft(x).real)(x.real)
    cosines = np.cos(2 * np.pi * np.outer(k, k) / n)
    np.testing.assert_allclose(jacobian, cosines, atol=1e-12)


@given(data=st.data())
def test_there_and_back(data: Any) -> None:
    norm = data.draw(NORMS)
    x = data.draw(array(REAL, data.draw(shapes(ndim=(1, 3), side=(1, 6)))))
    z = x + 1j * x[..., ::-1]
    n, f = x.shape[-1], fnp.fft
    shape, axes = x.shape, tuple(range(x.ndim))
    pairs = [
        (f.ifft(f.fft(z, norm=norm), norm=norm), z),
        (f.ifftn(f.fftn(z, norm=norm), norm=norm), z),
        (f.irfft(f.rfft(x, norm=norm), n, norm=norm), x),
        (f.irfftn(f.rfftn(x, norm=norm), shape, axes, norm=norm), x),
        (f.hfft(f.ihfft(x, norm=norm), n, norm=norm), x),
        (f.ifftshift(f.fftshift(z)), z),
        (f.rfft(x, norm=norm), f.fft(x, norm=norm)[..., : n // 2 + 1]),
    ]
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(data=st.data())
def test_energy_is_kept(data: Any) -> None:
    """Parseval: the gradient of the energy of the frequencies is that of the energy."""
    x = data.draw(array(REAL, data.draw(shapes(ndim=(1, 2), side=(1, 6)))))

    def energy(x: Any) -> Any:
        y = np.fft.fftn(x, norm="ortho")
        return (np.abs(y) ** 2).sum()

    np.testing.assert_allclose(energy(x), (x**2).sum(), atol=1e-10)
    np.testing.assert_allclose(funcgrad.grad(energy)(x), 2 * x, atol=1e-10)


def test_precision_stays() -> None:
    x = X.astype(np.float32)
    half = funcgrad.make_jaxpr(lambda x: np.fft.irfft(np.fft.rfft(x)))(x)
    assert "c64[3,3] = rfft" in str(half) and "f32[3,4] = irfft" in str(half)
    for f in (np.fft.fft, np.fft.rfft, np.fft.irfft):
        g = funcgrad.grad(lambda x, f=f: (np.abs(f(x)) ** 2).sum())(x)
        assert g.dtype == np.float32
        assert f(x).dtype == getattr(fnp.fft, f.__name__)(x).dtype


# ---------------------------------------------------------------- NumPy's functions, transformed


def smoothed(x: Any) -> Any:
    """A low-pass filter, in plain NumPy."""
    y = np.fft.rfft(x)
    return np.fft.irfft(y / (1.0 + np.fft.rfftfreq(x.shape[-1]) ** 2), x.shape[-1])


def loss(x: Any) -> Any:
    return (np.sin(smoothed(x)) ** 2 + np.abs(np.fft.fft(x, 7)) ** 2 @ np.arange(7.0)).sum()


def test_numpy_code_is_differentiated_as_it_is() -> None:
    x = X[1]
    g = funcgrad.grad(loss)(x)
    h = 1e-6
    steps = np.eye(4) * h
    expected = [(loss(x + s) - loss(x - s)) / (2 * h) for s in steps]
    np.testing.assert_allclose(g, expected, rtol=1e-7, atol=1e-7)
    t = np.array([1.0, -2.0, 0.5, 0.0])
    np.testing.assert_allclose(funcgrad.jvp(loss, (x,), (t,))[1], g @ t)
    hessian = funcgrad.hessian(loss)(x)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    gradient = funcgrad.grad(loss)
    numeric = [(gradient(x + s) - gradient(x - s)) / (2 * h) for s in steps]
    np.testing.assert_allclose(hessian, numeric, rtol=1e-6, atol=1e-6)
    rows = funcgrad.vmap(gradient)(X)
    np.testing.assert_allclose(rows, [gradient(row) for row in X])
    columns = funcgrad.vmap(gradient, in_axes=1)(X.T)
    np.testing.assert_allclose(columns, rows)
    matrix = funcgrad.linear_transpose(smoothed, x)
    np.testing.assert_allclose([matrix(e)[0] for e in np.eye(4)], funcgrad.jacfwd(smoothed)(x))


def test_convolution_theorem() -> None:
    """The gradient through frequencies is that through the sum."""
    x, y = X[0], X[1]

    def through(x: Any, y: Any) -> Any:
        n = 2 * x.size - 1
        return np.fft.irfft(np.fft.rfft(x, n) * np.fft.rfft(y, n), n)

    found, expected = (
        funcgrad.jacrev(f, argnums=(0, 1))(x, y) for f in (through, lambda x, y: np.convolve(x, y))
    )
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_frequencies_in_a_dtype() -> None:
    for f in (fnp.fft.fftfreq, fnp.fft.rfftfreq):
        found = f(5, 0.3, dtype=np.float32)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, f(5, 0.3).astype(np.float32))


def test_a_spacing_has_a_derivative() -> None:
    for f in (fnp.fft.fftfreq, np.fft.fftfreq):
        assert funcgrad.jacfwd(lambda d, f=f: f(4, d))(2.0).tolist() == [
            0.0,
            -0.0625,
            0.125,
            0.0625,
        ]


def test_frequencies_can_be_written_into() -> None:
    def f(x: Any) -> Any:
        k = fnp.fft.fftfreq(4)
        k[0] = x
        return (k * k).sum()

    assert funcgrad.grad(f)(3.0) == 6.0


# ---------------------------------------------------------------- errors

ERRORS: list[tuple[Callable[[], Any], type, str]] = [
    (lambda: fnp.fft.fft(X, 0), ShapeError, r"fft\.fft: a transform needs one point or more"),
    (lambda: fnp.fft.fft(X[:0], axis=0), ShapeError, "one point or more, found 0"),
    (lambda: fnp.fft.irfft(X[:, :1]), ShapeError, "one point or more, found 0"),
    (lambda: fnp.fft.rfftn(X[:0]), ShapeError, "one point or more, found 0"),
    (lambda: fnp.fft.fft(X, 3.0), ArgumentError, "must be an integer, found float"),
    (lambda: fnp.fft.fft(X, axis=2), ShapeError, r"fnp\.fft\.fft: axis 2 does not exist"),
    (lambda: fnp.fft.fft(2.0), ShapeError, "axis -1 does not exist"),
    (lambda: fnp.fft.fftn(X, axes=(0, 2)), ShapeError, "axis 2 does not exist"),
    (lambda: fnp.fft.fftn(X, (3,), (0, 1)), ShapeError, "1 lengths for 2 axes"),
    (lambda: fnp.fft.rfftn(X, axes=()), ShapeError, "no axis to transform"),
    (lambda: fnp.fft.irfftn(X, axes=()), ShapeError, "no axis to transform"),
    (lambda: fnp.fft.fft(X, norm="unit"), ArgumentError, "norm must be 'backward', 'ortho' or"),
    (lambda: fnp.fft.rfft(Z), ArgumentError, "of real numbers, found complex128; take a.real"),
    (lambda: fnp.fft.ihfft(Z), ArgumentError, r"fft\.ihfft: the transform is of real numbers"),
    (lambda: fnp.fft.rfft2(Z), ArgumentError, r"fft\.rfft2: the transform is of real numbers"),
    (lambda: fnp.fft.fft(X, out=Z), ArgumentError, "out= is not supported"),
    (lambda: fnp.fft.fftfreq(4.0), ArgumentError, "n must be an integer, found float"),
    (lambda: fnp.fft.fftfreq(4, device="cuda"), ArgumentError, "make arrays on the CPU"),
    (lambda: fnp.fft.fftshift(X, 2), ShapeError, "axis 2 does not exist"),
]


@pytest.mark.parametrize("index", range(len(ERRORS)))
def test_error(index: int) -> None:
    f, error, words = ERRORS[index]
    with pytest.raises(error, match=words):
        f()


def test_a_shift_of_no_axis_is_a_copy() -> None:
    x = np.array(1.0)
    assert fnp.fft.fftshift(x).tolist() == 1.0 and fnp.fft.fftshift(x) is not x


def test_axes_may_be_left_out() -> None:
    """As NumPy does it, which warns: the last axes, as many as there are lengths."""
    np.testing.assert_array_equal(fnp.fft.fftn(X, (3,)), np.fft.fftn(X, (3,), (-1,)))
    with pytest.raises(HandoverError):
        funcgrad.grad(lambda x: np.asarray(np.fft.fft(x)).real.sum())(X)
