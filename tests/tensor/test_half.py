"""Half precision is added up in single, forth and back, as PyTorch does; NumPy stops at 2048."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compat as torch
import funcgrad
import funcgrad.numpy as fnp

N = 5000
ones = torch.ones(N, 2, dtype=torch.float16)
zero = torch.zeros(N, dtype=torch.int64)

VALUES: dict[str, tuple[Callable[[], Any], float]] = {
    "sum": (lambda: ones.sum(0), N),
    "cumsum": (lambda: ones[:, 0].cumsum(0)[-1], N),
    "einsum": (lambda: torch.einsum("ij->j", ones), N),
    "norm": (lambda: ones.norm(1, dim=0), N),
    "scatter_add": (lambda: torch.zeros(1).half().scatter_add(0, zero, ones[:, 0]), N),
    "scatter_reduce": (lambda: torch.zeros(1).half().scatter_reduce(0, zero, ones[:, 0], "sum"), N),
    "trapezoid": (lambda: torch.trapezoid(ones[:, 0]), N),
    "std": (lambda: ((torch.arange(2000) % 2) + 100).half().std(), 0.5),
    "std of equal ones": (lambda: ones.std(0), 0.0),
    "log_softmax": (lambda: torch.zeros(N, 2).half().log_softmax(0)[0], -8.515625),
    "logsumexp": (lambda: torch.zeros(N, 2).half().logsumexp(0), 8.515625),
    "logcumsumexp": (lambda: torch.zeros(N).half().logcumsumexp(0)[-1], 8.515625),
    "softmax": (lambda: torch.softmax(torch.zeros(70_000).half(), 0)[0], 1.430511474609375e-05),
    "cosine": (lambda: torch.cosine_similarity((ones * 10).t(), (ones * 10).t()), 1.0),
}


@pytest.mark.parametrize("f, expected", VALUES.values(), ids=VALUES)
def test_values(f: Callable[[], Any], expected: float) -> None:
    found = f()
    assert found.dtype is torch.float16
    assert set(found.flatten().tolist()) == {expected}


GRADIENTS: dict[str, Callable[[Any], Any]] = {
    "expand": lambda x: x.expand(N, 2).sum(),
    "broadcast": lambda x: (x * ones).sum(),
    "index": lambda x: x.repeat(2, 1)[zero].sum(),
    "gather": lambda x: x.t().gather(1, torch.zeros(2, N, dtype=torch.int64)).sum(),
}


@pytest.mark.parametrize("f", GRADIENTS.values(), ids=GRADIENTS)
def test_gradients(f: Callable[[Any], Any]) -> None:
    for _ in range(3):  # remembered and printed after the first
        x = torch.ones(1, 2, dtype=torch.float16, requires_grad=True)
        f(x).backward()
        assert x.grad.tolist() == [[N, N]]


def test_layers() -> None:
    layer = torch.nn.Linear(4, 2).half()
    for _ in range(3):
        layer.zero_grad()
        layer(torch.ones(N, 4, dtype=torch.float16)).backward(ones)
        assert layer.bias.grad.tolist() == [N, N]
    norm = torch.nn.BatchNorm1d(1).half()
    x = ((torch.arange(2000) % 2) + 100).half()[:, None]
    assert norm(x)[:2, 0].tolist() == [-1.0, 1.0]
    assert norm.running_mean.dtype is norm.running_var.dtype is torch.float16
    assert norm.running_var.item() == pytest.approx(0.925, abs=1e-3)
    norm.eval()
    assert norm(x).dtype is torch.float16
    p = torch.ones(N, dtype=torch.float16, requires_grad=True)
    p.grad = ones[:, 0] * 10
    assert torch.nn.utils.clip_grad_norm_([p], 1.0).item() == 707.0


def test_functions_of_arrays() -> None:
    x = np.ones((N, 2), np.float16)
    for f in (lambda x: fnp.sum(x, axis=0), lambda x: fnp.cumsum(x, axis=0)[-1]):
        for g in (f, funcgrad.jit(f)):
            assert g(x).dtype == np.float16
            assert g(x).tolist() == [N, N]
    gradient = funcgrad.grad(lambda w: fnp.sum(w * x).astype(np.float32))(np.ones(2, np.float16))
    assert gradient.tolist() == [N, N]


SMOOTH: dict[str, Callable[[Any], Any]] = {
    name: getattr(torch.nn.functional, name)
    for name in ("gelu", "hardsigmoid", "hardswish", "mish", "selu", "silu", "softplus")
}
SMOOTH["gelu, tanh"] = lambda x: torch.nn.functional.gelu(x, approximate="tanh")
SMOOTH["glu"] = lambda x: torch.nn.functional.glu(torch.stack([x, 0.5 * x.detach()]), 0)[0]


@pytest.mark.parametrize("half, eps", [("float16", 2.0**-11), ("bfloat16", 2.0**-8)])
@pytest.mark.parametrize("name", SMOOTH)
def test_activations_are_rounded_once(name: str, half: str, eps: float) -> None:
    if half == "bfloat16":
        pytest.importorskip("ml_dtypes")
    f, dtype = SMOOTH[name], getattr(torch, half)
    x = torch.linspace(-9, 9, 301).to(dtype).requires_grad_()
    wide = x.detach().double().requires_grad_()
    for _ in range(3):  # remembered and printed after the first
        y, expected = f(x), f(wide)
        slopes = torch.autograd.grad(y.sum(), x)[0], torch.autograd.grad(expected.sum(), wide)[0]
        assert y.grad_fn.name() == f(torch.ones(2).requires_grad_()).grad_fn.name()
        for one, other in ((y, expected), slopes):
            assert one.dtype is dtype
            off = (one.double() - other).abs() / other.abs().clamp(min=2.0**-13)
            assert off.max() <= eps
