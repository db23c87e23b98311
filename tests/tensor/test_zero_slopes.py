"""Second derivatives of piecewise linear functions are zeros and not missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compat

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "abs": lambda t, x: x.abs(),
    "relu": lambda t, x: x.relu(),
    "relu6": lambda t, x: t.nn.functional.relu6(x),
    "leaky_relu": lambda t, x: t.nn.functional.leaky_relu(x),
    "prelu": lambda t, x: t.nn.functional.prelu(x, t.full((1,), 0.25, dtype=x.dtype)),
    "rrelu": lambda t, x: t.nn.functional.rrelu(x, training=True),
    "threshold": lambda t, x: t.nn.functional.threshold(x, 0.1, 2.0),
    "hardtanh": lambda t, x: t.nn.functional.hardtanh(x),
    "hardshrink": lambda t, x: t.nn.functional.hardshrink(x),
    "softshrink": lambda t, x: t.nn.functional.softshrink(x),
    "l1_loss": lambda t, x: t.nn.functional.l1_loss(x, t.zeros_like(x)),
    "norm": lambda t, x: t.linalg.vector_norm(x, 1),
    "avg_pool1d": lambda t, x: t.nn.functional.avg_pool1d(x, 2),
    "avg_pool2d": lambda t, x: t.nn.functional.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, (2, 3)),
    "max_pool2d": lambda t, x: t.nn.functional.max_pool2d(x, 2),
    "adaptive_max_pool2d": lambda t, x: t.nn.functional.adaptive_max_pool2d(x, 2),
    "reflect": lambda t, x: t.nn.functional.pad(x, (1, 1), mode="reflect"),
    "replicate": lambda t, x: t.nn.functional.pad(x, (1, 1), mode="replicate"),
    "nll_loss": lambda t, x: t.nn.functional.nll_loss(x[0], t.tensor([0, 1, 2])),
}


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def leaf(torch: Any, *shape: int) -> Any:
    data = np.random.default_rng(3).standard_normal(shape)
    return torch.tensor(data, requires_grad=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_are_zeros(torch: Any, name: str) -> None:
    x = leaf(torch, 2, 3, 4)
    w = x * 2
    (g,) = torch.autograd.grad(FUNCTIONS[name](torch, w).sum(), w, create_graph=True)
    assert g.requires_grad and g.grad_fn is not None
    first, second = torch.autograd.grad(g.square().sum() + g.sum(), [w, x], retain_graph=True)
    assert first.shape == second.shape == x.shape and first.dtype == x.dtype
    assert not first.any() and not second.any()
    assert x.grad is None
    g.sum().backward()
    assert x.grad is not None and x.grad.shape == x.shape and not x.grad.any()


def test_other_derivatives_stay(torch: Any) -> None:
    """Zeros are added to nothing that is there: a penalty on the slope of a network."""
    x, w, b = leaf(torch, 5, 3), leaf(torch, 4, 3), leaf(torch, 4)
    y = torch.nn.functional.linear(x, w, b).relu().pow(2).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    expected = torch.autograd.grad(g.square().sum(), [x, w, b], retain_graph=True)
    g.square().sum().backward()
    for leaf_, e in zip((x, w, b), expected, strict=True):
        assert e.any() and torch.equal(leaf_.grad, e)


def test_a_step_is_taken_with_zeros(torch: Any) -> None:
    """Adam moves a bias on by its moments, where a penalty on slopes does not depend on it."""
    x, w, b = leaf(torch, 5, 3), leaf(torch, 4, 3), leaf(torch, 4)
    optimizer = torch.optim.Adam([w, b], lr=0.1)
    torch.nn.functional.linear(x, w, b).relu().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    before = b.detach().clone()
    (g,) = torch.autograd.grad(
        torch.nn.functional.linear(x, w, b).relu().sum(), x, create_graph=True
    )
    g.square().sum().backward()
    assert not b.grad.any() and w.grad.any()
    optimizer.step()
    assert (b != before).any()


def test_hooks_get_zeros(torch: Any) -> None:
    x = leaf(torch, 3)
    seen: list[Any] = []
    (g,) = torch.autograd.grad(x.relu().sum(), x, create_graph=True)
    x.register_hook(seen.append)
    g.sum().backward()
    assert len(seen) == 1 and not seen[0].any()


def test_only_reached_inputs_get_zeros(torch: Any) -> None:
    x, other = leaf(torch, 3), leaf(torch, 3)
    (g,) = torch.autograd.grad((x.relu() * 2).sum() + other.sum(), x, create_graph=True)
    found = torch.autograd.grad(g.sum(), [x, other], allow_unused=True, retain_graph=True)
    assert not found[0].any() and found[1] is None
    (first,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    assert not first.any()


@pytest.mark.parametrize("recorded", [False, True])
def test_a_batch_of_cotangents(torch: Any, recorded: bool) -> None:
    x = leaf(torch, 3)
    (g,) = torch.autograd.grad(x.relu().sum(), x, create_graph=True)
    eye = torch.eye(3, dtype=x.dtype)
    (found,) = torch.autograd.grad(g, x, eye, is_grads_batched=True, create_graph=recorded)
    assert found.shape == (3, 3) and not found.any()
