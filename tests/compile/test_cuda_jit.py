"""`jit` over arrays of a device, end to end, on the stand-in for CuPy."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import fakecupy
import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from test_cuda import OF_PROGRAMS

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax
from funcgrad.errors import DeviceError
from funcgrad.scipy import fft, signal, special
from funcgrad.testing.programs import programs

needs_compiler = pytest.mark.skipif(
    fakecupy.host_compiler() is None, reason="no C++ compiler that the shim knows"
)
EXAMPLES = max(settings().max_examples // 4, 3)
X = np.linspace(-1.0, 2.0, 12).reshape(3, 4)


def loss(x: Any, w: Any, scale: Any) -> Any:
    y = np.tanh(x @ w) * scale
    return np.sum(np.exp(y) / np.sum(np.exp(y), axis=-1, keepdims=True) * y)


@needs_compiler
@pytest.mark.parametrize(
    "transform",
    [
        lambda f: funcgrad.jit(f),
        lambda f: funcgrad.jit(funcgrad.grad(f, (0, 1))),
        lambda f: funcgrad.grad(funcgrad.jit(f), (0, 1)),
        lambda f: funcgrad.jit(funcgrad.vmap(f, (0, None, None))),
        lambda f: funcgrad.vmap(funcgrad.jit(f), (0, None, None)),
    ],
    ids=["jit", "jit(grad)", "grad(jit)", "jit(vmap)", "vmap(jit)"],
)
def test_transforms(transform: Any, cupy: ModuleType) -> None:
    """Nothing is read back, here and there in any order."""
    f, w = transform(loss), X.T * 0.5
    expected = funcgrad.tree.leaves(f(X, w, 1.5))
    there = [cupy.asarray(X), cupy.asarray(w)]
    with fakecupy.no_sync():
        for _ in range(2):
            found = funcgrad.tree.leaves(f(*there, 1.5))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.get(), b, rtol=1e-13, atol=1e-15)
    for a, b in zip(funcgrad.tree.leaves(f(X, w, 1.5)), expected, strict=True):
        assert not hasattr(a, "get")
        np.testing.assert_array_equal(a, b)


@needs_compiler
def test_the_source_is_shown(cupy: ModuleType) -> None:
    f = funcgrad.jit(lambda x: np.sin(x) * 2.0)
    stages = f.lower(cupy.asarray(X))
    assert "__global__" in stages.code and "__global__" in stages.c_code
    assert "__global__" not in f.lower(X).code


@needs_compiler
def test_other_shapes_and_captured_arrays(cupy: ModuleType) -> None:
    held = {"w": cupy.asarray(X)}
    f = funcgrad.jit(lambda x: np.exp(x) * held["w"] + np.sum(x))

    def check(x: Any) -> None:
        expected = np.exp(x) * held["w"].get() + np.sum(x)
        np.testing.assert_allclose(f(cupy.asarray(x)).get(), expected, rtol=1e-6)

    for x in (X, X[:1], X[0], X.astype(np.float32)):
        check(x)
    held["w"] = cupy.asarray(X + 1)
    check(X)
    held["w"] = cupy.asarray(np.stack([X, X]))
    check(X)
    with pytest.raises(DeviceError, match="two modules"):
        f(X)


@needs_compiler
@settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.generate))
@given(p=programs(most=6, only=OF_PROGRAMS))
def test_gradients_of_programs(p: Any, cupy: ModuleType) -> None:
    def total(*xs: Any) -> Any:
        return sum(np.sum(np.cos(y.real) * y.real) for y in funcgrad.tree.leaves(p(*xs)))

    assume(not p.jaxpr.consts)  # NumPy's arrays, which do not mix with those of a device
    live = tuple(range(len(p.args)))
    compiled = funcgrad.jit(funcgrad.grad(total, live))
    found = funcgrad.tree.leaves(compiled(*[cupy.asarray(x) for x in p.args]))
    expected = funcgrad.tree.leaves(funcgrad.grad(total, live)(*p.args))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.get(), b, rtol=1e-10, atol=1e-10)


def root_of(x: Any) -> Any:
    return lax.while_loop(
        lambda y: np.max(abs(y * y - x)) > 1e-12, lambda y: (y + x / y) / 2, x + 1.0
    )


CONSTANTS = {
    "nothing moves": lambda x: np.sign(x) + np.zeros_like(x),
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, y: y * np.cos(y + i), x),
    "while": lambda x: np.zeros_like(x) + root_of(funcgrad.lax.stop_gradient(x)) * x,
    "scan": lambda x: lax.scan(lambda c, t: (c + t, c * t), np.zeros_like(x[0]), x)[1],
    "branches": lambda x: lax.cond(np.sum(x) > 0, lambda x: x * x, np.zeros_like, x),
    "spectrum": lambda x: abs(np.fft.rfft(x)),
    "transform": lambda x: fft.dct(x),
    "convolution": lambda x: signal.fftconvolve(x, x),
    "shapes": lambda x: special.betainc(x + 1, 2.0, x / 3),
    "products": lambda x: np.cumprod(x[None] * x[:, None], axis=1),
    "determinant": lambda x: np.linalg.det(np.outer(x, x) + fnp.diag(x + 2)),
}


@needs_compiler
@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_are_made_on_the_device(name: str, cupy: ModuleType) -> None:
    """Those of derivatives too, and of the halves of a compiled function's gradient."""
    f = CONSTANTS[name]
    x = np.array([0.5, 1.5, 0.25, 0.75])

    def total(g: Any) -> Any:
        return lambda x: np.sum(np.cos(g(x)) * g(x))

    for g in (
        f,
        funcgrad.jit(f),
        funcgrad.jit(funcgrad.grad(total(f))),
        funcgrad.grad(total(funcgrad.jit(f))),
        funcgrad.jit(lambda x: funcgrad.jvp(f, (x,), (x,))),
        funcgrad.jit(lambda x: funcgrad.vmap(f)(np.stack([x, x + 0.1]))),
    ):
        found, expected = funcgrad.tree.leaves(g(cupy.asarray(x))), funcgrad.tree.leaves(g(x))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a.get(), b, rtol=1e-9, atol=1e-12)
