"""Modules on the device "meta": forms that are filled with the numbers of others, or refuse."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compat as torch
from compat import func, nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.last = nn.Linear(8, 8)
        self.last.bias = self.first.bias

    def forward(self, x: Any) -> Any:
        return self.last(torch.relu(self.norm(self.first(x))))


def test_an_ensemble_is_one_form_with_many_numbers() -> None:
    models = [Net().eval() for _ in range(3)]
    form = copy.deepcopy(models[0]).to("meta")
    x = torch.randn(5, 4)

    def loss(params: Any, buffers: Any) -> Any:
        return (func.functional_call(form, (params, buffers), (x,)) ** 2).sum()

    stacked = func.stack_module_state(models)
    gradients, losses = func.vmap(func.grad_and_value(loss))(*stacked)
    for i, model in enumerate(models):
        expected = (model(x) ** 2).sum()
        expected.backward()
        np.testing.assert_allclose(losses[i].item(), expected.item(), rtol=1e-6)
        for name, p in model.named_parameters():
            np.testing.assert_allclose(
                gradients[name][i].detach().numpy(), p.grad.numpy(), rtol=1e-4, atol=1e-5
            )


def test_a_form_has_shapes_dtypes_and_ties() -> None:
    model = Net().double()
    form = copy.deepcopy(copy.deepcopy(model).to("meta"))
    for (name, p), (_, q) in zip(model.named_parameters(), form.named_parameters(), strict=True):
        assert q.device.type == "meta" and isinstance(q, nn.Parameter), name
        assert (p.shape, p.dtype, p.ndim, p.numel(), p.requires_grad) == (
            *(q.shape, q.dtype, q.ndim, q.numel(), q.requires_grad),
        )
    assert [n for n, _ in form.named_buffers()] == [n for n, _ in model.named_buffers()]
    tied = copy.deepcopy(model).to(device="meta")
    assert tied.last.bias is tied.first.bias and tied.last.bias is not model.last.bias
    assert "device='meta', size=(8, 4), requires_grad=True" in repr(tied.first.weight)


@pytest.mark.parametrize("assign", [False, True])
def test_a_form_takes_memory_and_a_state(assign: bool) -> None:
    model, x = Net().eval(), torch.randn(2, 4)
    form = Net().eval().to("meta")
    if not assign:
        form.to_empty(device="cpu")
        assert form.last.bias is form.first.bias and form.last.bias.requires_grad
    form.load_state_dict(model.state_dict(), assign=assign)
    assert torch.equal(form(x), model(x))


USES: list[Callable[[Any], Any]] = [
    lambda form: form(torch.ones(2, 4)),
    lambda form: form.first.weight + 1,
    lambda form: form.first.weight.tolist(),
    lambda form: form.to("cpu"),
    lambda form: form.double(),
    lambda form: nn.init.zeros_(form.first.weight),
    lambda form: setattr(form.first.weight, "data", torch.ones(8, 4)),
    lambda form: func.functional_call(form, {"first.weight": torch.ones(8, 4)}, torch.ones(2, 4)),
]


@pytest.mark.parametrize("use", USES)
def test_without_numbers_nothing_is_computed(use: Callable[[Any], Any]) -> None:
    with pytest.raises(NotImplementedError, match="'meta'"):
        use(Net().to("meta"))
