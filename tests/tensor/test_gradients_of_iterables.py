"""What `grad` and `backward` take besides one tensor: lists, generators, views of dicts."""

from __future__ import annotations

from typing import Any

import pytest

import compat as torch


def model_and_loss() -> tuple[Any, Any]:
    model = torch.nn.Linear(2, 2)
    return model, model(torch.ones(1, 2)).sum()


@pytest.mark.parametrize(
    "make", [iter, tuple, set, lambda ps: dict(enumerate(ps)).values(), torch.nn.ParameterList]
)
def test_inputs(make: Any) -> None:
    model, loss = model_and_loss()
    found = torch.autograd.grad(loss, make(list(model.parameters())))
    assert sorted(g.numel() for g in found) == [2, 4]
    assert all((g == 1.0).all() for g in found)
    model, loss = model_and_loss()
    loss.backward(inputs=make([model.weight]))
    assert model.weight.grad is not None and model.bias.grad is None


def test_outputs() -> None:
    x = torch.ones(2, requires_grad=True)
    (g,) = torch.autograd.grad((y for y in (x.sum(), 2 * x.sum())), x)
    assert g.tolist() == [3.0, 3.0]
    torch.autograd.backward(y for y in (x.sum(), 2 * x.sum()))
    assert x.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("wrong", [3, [3], ["x"]])
def test_what_is_no_tensor(wrong: Any) -> None:
    _, loss = model_and_loss()
    with pytest.raises(TypeError, match="all inputs have to be Tensors or GradientEdges, but got"):
        torch.autograd.grad(loss, wrong)
