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


NARROW = ["float16", "bfloat16"]
WITH_NUMBERS: dict[str, Callable[[Any, Any, float], Any]] = {
    "times": lambda m, x, s: x * s,
    "number times": lambda m, x, s: s * x,
    "over": lambda m, x, s: x / s,
    "number over": lambda m, x, s: s / x,
    "in place": lambda m, x, s: (x + 0).mul_(s),
    "over, in place": lambda m, x, s: (x + 0).div_(s),
    "out": lambda m, x, s: m.mul(x.detach(), s, out=m.empty_like(x)),
    "tensor without axes": lambda m, x, s: x * m.tensor(s),
    "over a tensor without axes": lambda m, x, s: x / m.tensor(s),
    "rounded down": lambda m, x, s: m.div(x, s, rounding_mode="floor"),
    "addcmul": lambda m, x, s: m.addcmul(x, x, x, value=s),
    "addcdiv": lambda m, x, s: m.addcdiv(x, x, x + 1, value=s),
    "lerp": lambda m, x, s: m.lerp(x, x * 2, min(s, 0.3)),
    "celu": lambda m, x, s: m.celu(-x, s),
    "softshrink": lambda m, x, s: m.nn.functional.softshrink(x, min(s, 0.3)),
}


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_numbers_are_not_rounded_to_halves(name: str, dtype: str) -> None:
    peer = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    values, cotangent = rng.uniform(0.01, 3.0, (2, 50)).astype(np.float32)
    for s in (0.1, 0.7, 3, 2.0, 65_536.0, 1e-6):
        found = []
        for m in (torch, peer):
            if not hasattr(m, dtype):
                pytest.skip("needs ml_dtypes")
            x = m.tensor(values).to(getattr(m, dtype)).requires_grad_()
            y = WITH_NUMBERS[name](m, x, s)
            assert y.dtype is x.dtype
            found.append(y.float().tolist())
            if y.requires_grad and ("times" in name or "over" in name) and name != "number over":
                y.backward(m.tensor(cotangent).to(x.dtype))
                found[-1] += x.grad.float().tolist()
        assert found[0] == found[1], s


def test_numbers_beyond_the_range_of_halves_scale() -> None:
    x = torch.tensor([1e-5, 100.0], dtype=torch.float16, requires_grad=True)
    y = x / 1e5
    assert y.tolist() == [0.0, 0.0010004043579101562]
    assert y.grad_fn.name() == "DivBackward0"
    y.backward(torch.tensor([2.0, 4.0], dtype=torch.float16))
    assert x.grad.tolist() == [float(np.float16(ct / 1e5)) for ct in (2.0, 4.0)]


def test_the_next_bfloat16_is_one_of_bfloat16() -> None:
    if not hasattr(torch, "bfloat16"):
        pytest.skip("needs ml_dtypes")
    x = torch.tensor([1.0, 0.0, -2.0], dtype=torch.bfloat16)
    y = torch.nextafter(x, torch.full_like(x, 3.0))
    assert ((y - x).view(torch.int16) != 0).all()
    assert (y.view(torch.int16) - x.view(torch.int16)).abs().tolist() == [1, 1, 1]
