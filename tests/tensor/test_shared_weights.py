"""Gradients of tensors that several operations share, and inputs that programs write into."""

import warnings

import numpy as np
import pytest

import compat as torch
import funcgrad as fg
from compat.nn.functional import linear, mse_loss


def leaf(*shape: int) -> torch.Tensor:
    values = np.random.default_rng(len(shape)).standard_normal(shape)
    return torch.tensor(values, requires_grad=True)


@pytest.mark.parametrize("first", [False, True])
def test_of_both_operands_of_a_loss(first: bool) -> None:
    # The cotangent of one operand is computed from that of the other, which others add to.
    x, y = leaf(2, 3), leaf(3, 2)
    target = y.t()
    loss = mse_loss(target, x) if first else mse_loss(x, target)
    (loss + (x * 3).sum() + (target * 5).sum()).backward()
    expected = (x - target).detach() / 3
    torch.testing.assert_close(x.grad, expected + 3)
    torch.testing.assert_close(y.grad, (5 - expected).t())


PENALTIES = {
    "square": lambda w: (w * w).sum(),
    "loss": lambda w: mse_loss(w, torch.zeros_like(w)),
    "input": lambda w: linear(
        w, torch.ones(3, 3, dtype=w.dtype), torch.zeros(3, dtype=w.dtype)
    ).sum(),
    "product": lambda w: (w @ w).sum(),
}


@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
def test_of_weights_that_something_else_has_used_before(penalty) -> None:
    w, b, x = leaf(3, 3), leaf(3), leaf(2, 3)

    def loss(layer):
        total = penalty(w)
        return total + layer(layer(layer(x))).sum()

    found = torch.autograd.grad(loss(lambda h: linear(h, w, b)), [w, b, x])
    expected = torch.autograd.grad(loss(lambda h: h @ w.t() + b), [w, b, x])
    for a, e in zip(found, expected, strict=True):
        torch.testing.assert_close(a, e)


def test_a_hook_may_change_an_input_when_its_gradient_is_there() -> None:
    def step(p: torch.Tensor) -> None:
        p.add_(p.grad, alpha=-0.1)

    results = []
    for layer in (linear, lambda x, w, b: x @ w.t() + b):
        x, w, b = leaf(2, 3), leaf(3, 3), leaf(3)
        x.register_post_accumulate_grad_hook(step)
        (layer(x, w, b) ** 2 + layer(x, w, b)).sum().backward()
        results.append((x.detach(), w.grad))
    for a, e in zip(*results, strict=True):
        torch.testing.assert_close(a, e)


def test_a_donated_array_that_repeats_elements_is_not_written() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns of what is to become read-only
        x, _ = np.broadcast_arrays(np.arange(2.0), np.ones((3, 1)))
        step = np.arange(6.0).reshape(3, 2)
        found = fg.jit(lambda a: a + step, donate_argnums=0)(x)
    np.testing.assert_array_equal(found, np.arange(2.0) + step)


def test_compiled_code_that_fails_has_written_nothing() -> None:
    p = torch.ones(3)

    def step(m):
        q = p * 2
        found = torch.linalg.inv(m)
        p.copy_(q)
        return found

    compiled = torch.compile(step)
    for _ in range(3):
        compiled(torch.eye(2))
    with pytest.raises(RuntimeError, match="singular"):
        compiled(torch.zeros(2, 2))
    assert p.tolist() == [8.0] * 3
