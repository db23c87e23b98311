"""Writes through `.data`: an error where they change what was saved, and nothing where they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat as torch
from compat.autograd.views import MOST_WRITES

PARTS = st.tuples(
    st.one_of(st.integers(0, 3), st.builds(slice, st.integers(0, 3), st.integers(1, 4))),
    st.one_of(
        st.integers(0, 4),
        st.builds(slice, st.integers(0, 3), st.integers(1, 5), st.integers(1, 3)),
    ),
)
WRITES = {
    "setitem": lambda x, part: x.data.__setitem__(part, 7.0),
    "fill_": lambda x, part: x.data[part].fill_(7.0),
    "copy_": lambda x, part: x.data[part].copy_(torch.tensor(7.0)),
    "of a view": lambda x, part: x.data.view(4, 5)[part].zero_(),
}


@given(saved=PARTS, parts=st.lists(PARTS, max_size=3), how=st.sampled_from(sorted(WRITES)))
def test_what_is_written_elsewhere_is_as_it_was(saved: Any, parts: Any, how: str) -> None:
    x = torch.arange(20.0).reshape(4, 5).clone()
    w = torch.ones(4, 5, requires_grad=True)
    y = (x[saved] * w[saved]).sum()
    before = x.numpy().copy()
    for part in parts:
        WRITES[how](x, part)
    where = np.zeros((4, 5), bool)
    where[saved] = True
    if any(where[part].any() for part in parts):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()
    else:
        y.backward()
        assert np.array_equal(w.grad.numpy(), np.where(where, before, 0.0))


@given(st.booleans())
def test_other_writes_count_as_always(last: bool) -> None:
    x = torch.arange(4.0)
    w = torch.ones(2, requires_grad=True)
    if not last:
        x[3] = 1.0  # before it was saved
    y = (x[:2] * w).sum()
    x.data[2] = 5.0
    if last:
        x[3] = 1.0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()
    else:
        y.backward()
        assert w.grad.tolist() == [0.0, 1.0]


def test_many_writes_are_not_noted_for_ever() -> None:
    x = torch.zeros(3)
    w = torch.ones(2, requires_grad=True)
    y = (x[:2] * w).sum()
    for i in range(3 * MOST_WRITES):
        x.data[2] = float(i)
    assert len(x._counter[3]) <= MOST_WRITES + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_what_is_put_in_its_own_place_is_no_write() -> None:
    """A module that is moved to where it is before the way back, as BoTorch's models are."""
    layer = torch.nn.Linear(2, 1, bias=False)
    y = (layer.weight * layer.weight).sum()
    layer.to(torch.float32)
    layer.weight.data = layer.weight.data
    y.backward()
    assert torch.equal(layer.weight.grad, 2 * layer.weight)
    y = (layer.weight * layer.weight).sum()
    layer.weight.data = layer.weight.data + 1
    with pytest.raises(RuntimeError, match=r"modified by an assignment to \.data"):
        y.backward()


class Put(torch.autograd.Function):  # type: ignore[misc]
    """Stages of Runge-Kutta methods, as torchdiffeq stores them."""

    @staticmethod
    def forward(ctx: Any, scratch: Any, value: Any, index: Any) -> Any:
        ctx.index = index
        scratch.data[index] = value
        return scratch

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g, g[ctx.index], None


def test_stages_that_share_memory() -> None:
    def stages(a: Any, put: Any) -> Any:
        k = put(torch.zeros(2, 3), a * 1.5, 0)
        y = (k[:, :1] * 2.0).sum(-1)
        k = put(k, y * y, 1)
        z = (k[:, :2] * torch.tensor([3.0, 4.0])).sum(-1)
        k = put(k, z * y, 2)
        return (k * k).sum() + (z @ y)

    def stacked(k: Any, value: Any, i: int) -> Any:
        return torch.stack([value if j == i else k[:, j] for j in range(3)], -1)

    def in_place(k: Any, value: Any, i: int) -> Any:
        return Put.apply(k, value, (..., i))

    a, b = (torch.tensor([1.0, -2.0], requires_grad=True) for _ in range(2))
    stages(b, stacked).backward()
    # The last product saves all of k, which nothing changes afterwards.
    stages(a, in_place).backward()
    assert torch.allclose(a.grad, b.grad)
