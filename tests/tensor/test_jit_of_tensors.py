"""`funcgrad.jit` of functions that read tensors and modules from outside: never stale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compat as torch
import funcgrad
from compat import nn

W = torch.ones(3, 4)

PARTS: dict[str, Callable[[], Any]] = {
    "itself": lambda: W[0] * 1.0,
    "printed": lambda: torch.exp(W)[0],
    "planned": lambda: torch.cat([W, W.clamp(0.0, 10.0)])[0],
    "a reduction": lambda: W.amax(0),
    "a view": lambda: W.T.reshape(-1)[:4],
    "a program": lambda: torch.softmax(W, 1)[0],
}


@pytest.mark.parametrize("part", PARTS)
def test_what_is_computed_from_tensors_alone(part: str) -> None:
    compute = PARTS[part]
    W.fill_(1.0)
    f = funcgrad.jit(lambda v: (torch.as_tensor(v) * compute())._array)
    x = np.arange(4.0, dtype=np.float32)
    for _ in range(3):
        f(x)
    for _ in range(2):
        W.add_(1.0)
        W[0, 1] = 7.0
        np.testing.assert_allclose(f(x), x * compute().numpy(), rtol=1e-6)
    before = f.explain()
    f(x)
    assert f.explain() == before  # nothing is made again where nothing has changed


def changed_weight(m: Any) -> None:
    with torch.no_grad():
        m[0].weight.mul_(2.0)


def other_weight(m: Any) -> None:
    m[0].weight = nn.Parameter(torch.full((2, 4), 3.0))


def changed_buffer(m: Any) -> None:
    m[1].running_mean.add_(1.0)


def other_layer(m: Any) -> None:
    m[2] = nn.Tanh()


def other_mode(m: Any) -> None:
    m[3].p = 0.0  # so that nothing is drawn
    m[3].train()


@pytest.mark.parametrize(
    "change", [changed_weight, other_weight, changed_buffer, other_layer, other_mode]
)
def test_modules(change: Callable[[Any], None]) -> None:
    m = nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2), nn.ReLU(), nn.Dropout(0.5)).eval()
    f = funcgrad.jit(lambda v: m(torch.as_tensor(v)).detach()._array)
    x = np.linspace(0.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
    for _ in range(3):
        f(x)
    change(m)
    np.testing.assert_allclose(f(x), m(torch.as_tensor(x)).detach().numpy(), rtol=1e-6)


def test_a_mode_is_read() -> None:
    m = nn.Dropout(0.5).eval()
    f = funcgrad.jit(lambda v: m(torch.as_tensor(v))._array)
    x = np.ones(64, np.float32)
    for _ in range(3):
        assert f(x).min() == 1.0
    m.train()
    assert f(x).min() == 0.0 and f(x).max() == 2.0
    m.eval()
    assert f(x).min() == 1.0


def curved(direction: Any, classes: Any) -> Any:
    """The Hessian of a loss by `bias`, times a direction."""
    bias = torch.zeros(3, requires_grad=True)
    outputs = torch.arange(15.0).view(5, 3).sin() + bias
    loss = nn.functional.nll_loss(nn.functional.log_softmax(outputs, 1), classes)
    (slope,) = torch.autograd.grad(loss, [bias], create_graph=True)
    return torch.autograd.grad(slope @ direction, [bias])[0].detach()


COMPILED = torch.compile(curved)
TRANSFORMS: dict[str, Callable[[Any, Any], Any]] = {
    "compile": lambda v, classes: COMPILED(v, classes),
    "jit": lambda v, classes: torch.as_tensor(
        funcgrad.jit(lambda v, y: curved(*map(torch.as_tensor, (v, y)))._array)(
            v.numpy(), classes.numpy()
        )
    ),
    "vmap": lambda v, classes: torch.func.vmap(lambda y: curved(v, y))(classes[None])[0],
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_gradients_of_gradients_where_integers_are_traced(name: str) -> None:
    v, classes = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([0, 1, 2, 0, 2])
    transform, expected = TRANSFORMS[name], curved(v, classes)
    for _ in range(3):
        np.testing.assert_allclose(transform(v, classes), expected, rtol=1e-5)
