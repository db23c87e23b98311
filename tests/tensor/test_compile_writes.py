"""Writes between a compiled function and its backward pass: raise only where eager code does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compat as torch
from compat.nn import functional as F

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "matmul": lambda x, w, b, u: (x @ w).pow(2).sum(),
    "layer": lambda x, w, b, u: (x @ w + b).tanh(),
    "bias": lambda x, w, b, u: x * b + u,
    "square": lambda x, w, b, u: (b * b).sum() * x,
    "relu": lambda x, w, b, u: F.relu(x @ w + b) * u,
    "error": lambda x, w, b, u: F.mse_loss(x @ w + b, u.expand(2, 3)),
    "classes": lambda x, w, b, u: F.cross_entropy(x @ w + b, torch.tensor([0, 1])),
    "two layers": lambda x, w, b, u: torch.sigmoid(x @ w + b) @ w * u,
    "transposed": lambda x, w, b, u: (x @ w.t()).exp() @ w.t().contiguous(),
    "parts": lambda x, w, b, u: torch.exp(w[:2, 1:].reshape(-1)) * w.reshape(-1)[:4] + b.sum(),
    "divided": lambda x, w, b, u: (x / (1 + b * b)).sum(0) - w.sum(0) / u,
    "chosen": lambda x, w, b, u: torch.where(b > 0, b * w, w) + F.softmax(x @ w, 1).sum(),
    "views": lambda x, w, b, u: w.t() * w[:, [0]].expand(3, 3) * u.unsqueeze(1) + w.diagonal(),
}
WRITES: dict[str, Callable[..., Any]] = {
    "nothing": lambda y, x, w, b, u: None,
    "weights": lambda y, x, w, b, u: w.mul_(3.0),
    "a part of them": lambda y, x, w, b, u: w[0].sub_(7.0),
    "bias": lambda y, x, w, b, u: b.add_(1.0),
    "scale": lambda y, x, w, b, u: u.mul_(-1.0),
    "input": lambda y, x, w, b, u: x.add_(1.0),
}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "own memory": lambda w: w.clone(),
    "transposed": lambda w: w.clone().t(),
    "a view": lambda w: torch.cat([w, w])[:3],
}


def outcomes(f: Any, write: Any, layout: Any, wrap: Callable[[Any], Any]) -> list[Any]:
    """The gradients of three calls, the same each time, or "raises"."""
    rng, run, found = np.random.default_rng(5), wrap(f), []
    values = [torch.from_numpy(rng.normal(size=s)) for s in ((3, 3), (3,), (3,), (2, 3))]
    w, b, u = layout(values[0]).detach().requires_grad_(), values[1].requires_grad_(), values[2]
    kept = [x.detach().clone() for x in (w, b, u)]
    for _ in range(5):
        with torch.no_grad():
            for x, old in zip((w, b, u), kept, strict=True):
                x.copy_(old)
        w.grad = b.grad = None
        x = values[3].clone()
        y = run(x, w, b, u)
        with torch.no_grad():
            write(y, x, w, b, u)
        try:
            y.sum().backward()
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error)
            found.append("raises")
        else:
            found.append([None if x.grad is None else x.grad.numpy() for x in (w, b)])
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_the_way_back_does_not_read_may_change(name: str, write: str, layout: str) -> None:
    """The compiled gradient is that without the write, or an error where eager code has one."""
    f, change, lay = FUNCTIONS[name], WRITES[write], LAYOUTS[layout]
    true = outcomes(f, WRITES["nothing"], lay, lambda g: g)[-1]
    eager = outcomes(f, change, lay, lambda g: g)[-1]
    for found in outcomes(f, change, lay, torch.compile):
        if found == "raises":
            assert eager == "raises"
            continue
        for ours, theirs in zip(found, true, strict=True):
            assert (ours is None) == (theirs is None)
            if theirs is not None:
                np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_the_error_names_the_write() -> None:
    b = torch.ones(3, requires_grad=True)
    f = torch.compile(lambda x: x * b * b)
    for _ in range(4):
        y = f(torch.arange(3.0))
        with torch.no_grad():
            b.add_(1.0)
        with pytest.raises(
            RuntimeError, match=r"modified by an inplace operation.*modified by add_"
        ):
            y.sum().backward()


# ---------------------------------------------------------------- in-place functions with long operands

LONG = 40_000  # elements, from which some functions are programs of their own
IN_PLACE: dict[str, Callable[..., Any]] = {
    "silu": lambda y: F.silu(y, inplace=True),
    "mish": lambda y: F.mish(y, inplace=True),
    "elu": lambda y: F.elu(y, inplace=True),
    "atan2": lambda y: y.atan2_(torch.ones_like(y)),
    "hypot": lambda y: y.hypot_(y.detach() + 1),
    "a part": lambda y: F.silu(y[5:-5], inplace=True),
    "sigmoid": lambda y: y.sigmoid_(),
    "power": lambda y: y.pow_(3),
}


def gradients_through(name: str) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        x = x.detach().requires_grad_()
        y = 2 * x
        IN_PLACE[name](y)
        (y * y).sum().backward()
        return x.grad

    return run


@pytest.mark.parametrize("n", [LONG, 20])
@pytest.mark.parametrize("name", IN_PLACE)
def test_what_an_in_place_function_overwrites_is_kept_for_its_gradient(name: str, n: int) -> None:
    x = torch.from_numpy(np.random.default_rng(1).normal(size=n))
    run = gradients_through(name)
    expected = run(x)
    compiled = torch.compile(run)
    for _ in range(3):
        torch.testing.assert_close(compiled(x), expected, rtol=1e-9, atol=1e-9)
    both = torch.func.vmap(run)(torch.stack([x, -x]))
    torch.testing.assert_close(both, torch.stack([expected, run(-x)]), rtol=1e-9, atol=1e-9)
