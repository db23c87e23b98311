"""The gradients of convolutions as functions, `torch.nn.grad`, against PyTorch's."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

pytestmark = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")


@given(data=st.data(), n=st.integers(1, 3), seed=st.integers(0, 9))
def test_gradients_and_theirs(data: Any, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    each = lambda low, high: tuple(data.draw(st.integers(low, high)) for _ in range(n))  # noqa: E731
    size, kernel, stride, padding, dilation = (
        each(2, 5),
        each(1, 3),
        each(1, 2),
        each(0, 1),
        each(1, 2),
    )
    groups = data.draw(st.integers(1, 2))
    options = (stride, padding, dilation, groups)
    x, w = rng.normal(size=(2, 2, *size)), rng.normal(size=(4, 2 // groups, *kernel))
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    assume(all(s + 2 * p >= r for s, p, r in zip(size, padding, reach, strict=True)))
    found = []
    for th in (compat, torch):
        a, b = (th.tensor(v, requires_grad=True) for v in (x, w))
        y = getattr(th.nn.functional, f"conv{n}d")(a, b, None, *options)
        g = th.tensor(np.sin(np.arange(y.numel())).reshape(tuple(y.shape)), requires_grad=True)
        by_x = getattr(th.nn.grad, f"conv{n}d_input")(a.shape, b, g, *options)
        by_w = getattr(th.nn.grad, f"conv{n}d_weight")(a, b.shape, g, *options)
        slopes = th.autograd.grad((by_x**2).sum() + (by_w**2).sum(), (a, b, g))
        found.append([t.detach().numpy() for t in (by_x, by_w, *slopes)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("th", [compat, torch], ids=["compat", "torch"])
def test_without_gradients_of_gradients(th: Any) -> None:
    with th.no_grad():
        found = th.nn.grad.conv1d_input((1, 1, 4), th.tensor([[[1.0, 2.0]]]), th.ones(1, 1, 3))
    assert found.tolist() == [[[1.0, 3.0, 3.0, 2.0]]] and not found.requires_grad


@pytest.mark.parametrize("th", [compat, torch], ids=["compat", "torch"])
def test_sizes_that_do_not_fit(th: Any) -> None:
    with pytest.raises(RuntimeError):
        th.nn.grad.conv1d_input((1, 1, 4), th.ones(1, 1, 2), th.ones(1, 2, 3))
    with pytest.raises(RuntimeError):
        th.nn.grad.conv1d_weight(th.ones(1, 1, 4), (1, 2, 2), th.ones(1, 1, 3))
