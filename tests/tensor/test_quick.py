"""Functions that run in C after a while: the same values, in every mode, and only where they may."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
import scipy.special

import compat as torch
import funcgrad
from funcgrad.compile import c_compiler, quick

SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-300,
    -1e-45,
    5e-324,
    1e10,
    -1e22,
    1e308,
    30.0,
    -40.0,
]
PLAIN: dict[str, Any] = {
    "sin": np.sin,
    "cos": np.cos,
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "special.ndtr": scipy.special.ndtr,
}


def named(name: str) -> Any:
    return (
        getattr(torch.special, name.removeprefix("special."))
        if "." in name
        else getattr(torch, name)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PLAIN)
def test_values_in_c(name: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        x = np.concatenate(
            [np.array(SPECIAL).astype(dtype), rng.normal(size=500).astype(dtype) * 3]
        )
        expected = PLAIN[name](x)
        with funcgrad.config("c"):
            found = named(name)(torch.from_numpy(x))
            also = named(name)(torch.from_numpy(x[::2]))
    assert found.dtype == getattr(torch, dtype)
    eps = np.finfo(dtype).eps
    # `ndtr` is `erfc` of a rounded number here, as PyTorch's, and loses digits where it vanishes.
    rtol, atol = (500 if name == "special.ndtr" else 50) * eps, np.finfo(dtype).tiny
    np.testing.assert_allclose(found.numpy(), expected, rtol, atol)
    np.testing.assert_allclose(also.numpy(), expected[::2], rtol, atol)


@pytest.mark.parametrize("name", PLAIN)
def test_gradients_in_c(name: str) -> None:
    x = torch.linspace(-3, 3, 200, dtype=torch.float64, requires_grad=True)
    gradients = []
    for code in ("numpy", "c"):
        with funcgrad.config(code):
            (g,) = torch.autograd.grad(named(name)(x).sum(), x)
        gradients.append(g.numpy())
    np.testing.assert_allclose(*gradients, rtol=1e-14, atol=1e-15)


def a_sine() -> tuple[Any, list[str]]:
    """A quick sine of its own, and who was asked."""
    asked = []

    def plain(x: Any) -> Any:
        asked.append("plain")
        return np.sin(x)

    return quick.quick(plain, lambda: np.sin, ["float64"]), asked


@pytest.mark.skipif(not c_compiler.has_vector_functions(), reason="no C compiler for vectors")
def test_c_comes_in_the_background_once_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    sine, asked = a_sine()
    x = np.linspace(0, 1, 100)
    for _ in range(3):
        sine(x)
    assert asked == ["plain"] * 3
    monkeypatch.setattr(quick, "MANY", 350)
    deadline = time.monotonic() + 60
    while asked and time.monotonic() < deadline:
        asked.clear()
        sine(x)
    assert not asked
    for other in (x[:10], x.astype("f4"), np.float64(0.5), x.astype(int)):  # short, of another type
        asked.clear()
        np.testing.assert_array_equal(sine(other), np.sin(other))
        assert asked == ["plain"]
    with funcgrad.config("numpy"):
        asked.clear()
        sine(x)
        assert asked == ["plain"]


def test_deterministic_algorithms_stay_in_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "MANY", 0)
    sine, asked = a_sine()
    torch.use_deterministic_algorithms(True)
    try:
        for _ in range(3):
            sine(np.linspace(0, 1, 100))
        assert asked == ["plain"] * 3
        compiled = funcgrad.jit(lambda x: np.exp(np.sin(x)) * 2)
        compiled(np.ones(100))
        assert "kernel" not in compiled.code
    finally:
        torch.use_deterministic_algorithms(False)


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_compiler, "has_vector_functions", lambda: False)
    sine, asked = a_sine()
    with funcgrad.config("c"):
        for _ in range(2):
            sine(np.linspace(0, 1, 100))
    assert asked == ["plain", "plain"]
