"""`compat.fft` against differences and PyTorch: values, gradients, dtypes, errors, nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from elementwise import agree, needs_torch
from harness import C, Call, F, call, check
from hypothesis import given
from hypothesis import strategies as st

import compat

ONE = ("fft", "ifft", "irfft", "hfft")  # of complex numbers too
ONE_REAL = ("rfft", "ihfft")
SEVERAL = ("fftn", "ifftn", "irfftn", "hfftn")
SEVERAL_REAL = ("rfftn", "ihfftn")
TWO = ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2")

CALLS = [
    *(call(f"fft.{f}", x(3, 4)) for f in ONE for x in (F, C)),
    *(call(f"fft.{f}", C(5, 2), n=n, dim=0, norm="ortho") for f in ONE for n in (3, 6, 7)),
    *(
        call(f"fft.{f}", F(3, 5), n=n, dim=-2, norm="forward")
        for f in ONE_REAL
        for n in (None, 2, 5)
    ),
    *(call(f"fft.{f}", F(2, 1, 5), norm=n) for f in ONE_REAL for n in ("backward", None)),
    *(call(f"fft.{f}", x(2, 3, 4)) for f in SEVERAL for x in (F, C)),
    *(call(f"fft.{f}", C(2, 3, 4), s=(4, -1), dim=(2, 0), norm="ortho") for f in SEVERAL),
    *(call(f"fft.{f}", F(2, 3, 4)) for f in SEVERAL_REAL),
    *(call(f"fft.{f}", F(2, 3, 4), s=(5, 3), norm="forward") for f in SEVERAL_REAL),
    *(call(f"fft.{f}", F(2, 3, 4), dim=1) for f in (*SEVERAL, *SEVERAL_REAL)),
    *(call(f"fft.{f}", F(2, 3, 4)) for f in TWO),
    *(call(f"fft.{f}", F(2, 3), s=(3, 4), dim=(1, 0), norm="ortho") for f in TWO),
    *(call(f"fft.{f}", C(2, 3, 4), s=(-1, -1)) for f in ("fft2", "irfft2", "hfft2")),
    *(call(f"fft.{f}", x(2, 3), dim=()) for f in ("fftn", "ifftn") for x in (F, C)),
    *(call(f"fft.{f}", x) for f in ("fftn", "ifftn") for x in (F(), C())),
    call("fft.fft", F(1)),
    call("fft.irfft", C(3), n=1),
    call("fft.fft", C(3), 2, 0, "ortho"),
    *(call(f"fft.{f}", x) for f in ("fftshift", "ifftshift") for x in (F(5), F(2, 3), C(3, 4))),
    *(
        call(f"fft.{f}", F(4, 5), dim=d)
        for f in ("fftshift", "ifftshift")
        for d in (0, (1, 0), (1, 1))
    ),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


@given(
    shape=st.lists(st.integers(2, 5), min_size=1, max_size=3),
    norm=st.sampled_from([None, "backward", "ortho", "forward"]),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_any_call(shape: list[int], norm: Any, seed: int, data: Any) -> None:
    ndim = len(shape)
    several = data.draw(st.booleans())
    name = data.draw(st.sampled_from((SEVERAL + SEVERAL_REAL) if several else (ONE + ONE_REAL)))
    x = F if name in ONE_REAL + SEVERAL_REAL else data.draw(st.sampled_from([F, C]))
    length = st.integers(1, 7)
    if several:
        axes = data.draw(st.permutations(range(ndim)))[: data.draw(st.integers(1, ndim))]
        dim = [d - data.draw(st.sampled_from([0, ndim])) for d in axes]
        s = data.draw(st.none() | st.lists(length, min_size=len(dim), max_size=len(dim)))
        check(call(f"fft.{name}", x(*shape), s=s, dim=dim, norm=norm), seed)
    else:
        dim = data.draw(st.integers(-ndim, ndim - 1))
        n = data.draw(st.none() | length)
        check(call(f"fft.{name}", x(*shape), n=n, dim=dim, norm=norm), seed)


# ---------------------------------------------------------------- what PyTorch gives or raises


def x(m: Any, *shape: int, dtype: str = "float32") -> Any:
    size = int(np.prod(shape))
    return (m.arange(size).reshape(shape) ** 2 % 7).to(getattr(m, dtype))


def z(m: Any, *shape: int) -> Any:
    return x(m, *shape, dtype="complex64") * (1 + 2j)


NAMES = (*ONE, *ONE_REAL, *SEVERAL, *SEVERAL_REAL, *TWO)
VALUES: list[Callable[[Any], Any]] = [
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4)) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4, dtype="int64")) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4, dtype="bool")) for f in ("fft", "rfft2", "hfft")),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4, dtype="float64")) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(z(m, 3, 4)) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4, dtype="float16")) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(m.tensor(1.0)) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(m.zeros(0)) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), norm="unit") for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), norm=2) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), 0) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), 2.0) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), dim=2) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), dim=()) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), dim="rows") for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), dim=(0, -2)) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), (2, 3), dim=1) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), (2, -2)) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 4), (2, 3)) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)([1.0, 2.0]) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), out=m.zeros(1)) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), out=z(m, 1)) for f in NAMES),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 3, 4), out=2) for f in NAMES),
    lambda m: m.fft.fft(x(m, 3, 4), m.tensor(3)),
    lambda m: m.fft.fft(x(m, 3, 4), True),
    lambda m: m.fft.fft(x(m, 3, 4), dim=None),
    lambda m: m.fft.fftn(x(m, 3, 4), (True, 2)),
    lambda m: m.fft.fftn(x(m, 3, 4), 3),
    lambda m: m.fft.fftn(m.tensor(1.0), dim=0),
    lambda m: m.fft.fft(x(m, 2, 3).requires_grad_(), out=z(m, 1)),
    lambda m: m.fft.fft(x(m, 2, 3), out=z(m, 1).to(m.complex128)),
    lambda m: m.fft.irfft(z(m, 2, 1)),
    lambda m: m.fft.irfftn(z(m, 2, 1)),
    *(lambda m, n=n: m.fft.fftfreq(n) for n in (0, 1, 4, 5, -1, 2.0, True)),
    *(lambda m, n=n: m.fft.rfftfreq(n) for n in (1, 4, 5, 2.0)),
    *(lambda m, d=d: m.fft.fftfreq(4, d) for d in (0.5, 2, 0.0, 1j, "a")),
    lambda m: m.fft.fftfreq(4, m.tensor(0.25)),
    lambda m: m.fft.rfftfreq(6, 0.3, dtype=m.float64),
    *(
        lambda m, t=t: m.fft.fftfreq(4, dtype=getattr(m, t))
        for t in ("float16", "int64", "complex64")
    ),
    lambda m: m.fft.rfftfreq(4, dtype=m.int64),
    lambda m: m.fft.fftfreq(4, dtype="float32"),
    lambda m: m.fft.fftfreq(4, out=m.zeros(1)),
    lambda m: m.fft.rfftfreq(4, out=m.zeros(4, dtype=m.float64)),
    *(lambda m, f=f: getattr(m.fft, f)(x(m, 5, dtype="int64")) for f in ("fftshift", "ifftshift")),
    *(lambda m, d=d: m.fft.fftshift(x(m, 3, 4), d) for d in (2, (), "a", 1.0)),
    lambda m: m.fft.fftshift(m.tensor(1.0)),
    lambda m: m.fft.fftshift(m.zeros(0, 3)),
    lambda m: m.fft.ifftshift([1.0]),
]


@needs_torch
@pytest.mark.parametrize("index", range(len(VALUES)))
def test_value(index: int) -> None:
    agree(VALUES[index])


ERRORS: list[tuple[Callable[[], Any], type, str]] = [
    (lambda: compat.fft.fft(x(compat, 3), 0), RuntimeError, r"Invalid number of data points \(0\)"),
    (lambda: compat.fft.fft(x(compat, 3).half()), RuntimeError, "Unsupported dtype Half: convert"),
    (
        lambda: compat.fft.rfft(z(compat, 3)),
        RuntimeError,
        "rfft expects a real input tensor, but got",
    ),
    (lambda: compat.fft.rfft2(z(compat, 3, 3)), RuntimeError, "rfftn expects a real-valued input"),
    (lambda: compat.fft.ihfftn(z(compat, 3)), RuntimeError, "Only supports floating-point dtypes"),
    (
        lambda: compat.fft.fft(compat.tensor(1.0)),
        IndexError,
        "Dimension specified as -1 but tensor",
    ),
    (lambda: compat.fft.fftn(x(compat, 3), dim=(0, 0)), RuntimeError, "FFT dims must be unique"),
    (
        lambda: compat.fft.fftn(x(compat, 3), (1, 2)),
        RuntimeError,
        "Got shape with 2 values but input",
    ),
    (
        lambda: compat.fft.fftn(x(compat, 3), 2, ()),
        RuntimeError,
        "When given, dim and shape arguments",
    ),
    (
        lambda: compat.fft.rfftn(x(compat, 3), dim=()),
        RuntimeError,
        "rfftn must transform at least one",
    ),
    (
        lambda: compat.fft.fft(x(compat, 3), norm="u"),
        RuntimeError,
        'Invalid normalization mode: "u"',
    ),
    (
        lambda: compat.fft.fft(x(compat, 3), 2.0),
        TypeError,
        r"fft_fft\(\): argument 'n' must be int, not",
    ),
    (
        lambda: compat.fft.fft(2.0),
        TypeError,
        r"fft_fft\(\): argument 'input' \(position 1\) must be",
    ),
    (
        lambda: compat.fft.fft(x(compat, 3), out=compat.zeros(3)),
        RuntimeError,
        "fft expects a complex output tensor, but got Float",
    ),
    (
        lambda: compat.fft.fftfreq(2, dtype=compat.int64),
        RuntimeError,
        "fftfreq requires a floating",
    ),
]


@pytest.mark.parametrize("index", range(len(ERRORS)))
def test_error(index: int) -> None:
    f, error, words = ERRORS[index]
    with pytest.raises(error, match=words):
        f()


def test_dtypes() -> None:
    """Without PyTorch: integers count as the default dtype, and precision stays."""
    assert compat.fft.fft(x(compat, 3, dtype="int32")).dtype is compat.complex64
    assert compat.fft.rfft(x(compat, 3, dtype="float64")).dtype is compat.complex128
    assert compat.fft.irfft(x(compat, 3, dtype="bool")).dtype is compat.float32
    assert compat.fft.fftfreq(3).dtype is compat.float32
    assert compat.fft.fft(compat.zeros(0, 3)).shape == (0, 3)
    y = x(compat, 4).requires_grad_()
    compat.fft.rfft(y).abs().sum().backward()
    assert y.grad.dtype is compat.float32


# ---------------------------------------------------------------- the graph


def test_nodes() -> None:
    a, b = x(compat, 4, 4).requires_grad_(), z(compat, 4, 4).requires_grad_()
    f = compat.fft
    nodes = {
        "FftC2CBackward0": [
            f.fft(b),
            f.ifft(b),
            f.fftn(a),
            f.ifft2(b),
            f.ihfft2(a),
            f.fftn(a, dim=()),
        ],
        "FftR2CBackward0": [f.fft(a), f.rfft(a), f.rfft(a, 3), f.rfft(a, 9), f.rfftn(a)],
        "FftC2RBackward0": [f.irfft(a), f.irfft(b, 3), f.irfftn(b), f.hfft(b), f.hfft2(b)],
        "ConjBackward0": [f.ifft(a), f.ihfft(a), f.ihfftn(a, dim=0)],
        "RollBackward0": [f.fftshift(a), f.ifftshift(b, 0)],
    }
    for name, results in nodes.items():
        assert [y.grad_fn.name() for y in results] == [name] * len(results)


def test_second_derivatives() -> None:
    """``create_graph=True`` through a filter, against differences of the gradient."""
    y = x(compat, 6, dtype="float64").requires_grad_()

    def gradient(y: Any) -> Any:
        h = compat.fft.irfft(compat.fft.rfft(y, 8) ** 2, 7, norm="ortho")
        return compat.autograd.grad(h.sin().sum(), y, create_graph=True)[0]

    w = compat.linspace(-1, 1, 6, dtype=compat.float64)
    (found,) = compat.autograd.grad((gradient(y) * w).sum(), y)
    h = 1e-6
    up, down = (gradient((y.detach() + s * h * w).requires_grad_()) for s in (1, -1))
    expected = (up - down).detach() / (2 * h)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)


def test_numpys_functions_are_recorded() -> None:
    y = x(compat, 4).requires_grad_()
    (np.abs(np.fft.fft(y)) ** 2).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), 8 * y.detach().numpy(), atol=1e-5)


def test_under_transforms() -> None:
    rows = x(compat, 3, 4)

    def energy(row: Any) -> Any:
        return (compat.fft.rfft(row).abs() ** 2).sum()

    found = compat.func.vmap(compat.func.grad(energy))(rows)
    expected = [compat.func.grad(energy)(row).numpy() for row in rows]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_out_is_filled() -> None:
    out = compat.zeros(0, dtype=compat.complex64)
    assert compat.fft.fft(x(compat, 3), out=out) is out and out.shape == (3,)


@pytest.mark.parametrize("dim", [(0,), (0, 1), (1, 0)])
@pytest.mark.parametrize("name", ["ihfft2", "ihfftn"])
def test_out_takes_the_shape_of_the_result(name: str, dim: tuple[int, ...]) -> None:
    """PyTorch leaves it as it was, with garbage, where `dim` is one axis."""
    a = x(compat, 3, 4).real
    f = getattr(compat.fft, name)
    expected = f(a, dim=dim)
    out = compat.zeros(0, dtype=expected.dtype)
    assert f(a, dim=dim, out=out) is out
    assert out.shape == expected.shape and out.tolist() == expected.tolist()
