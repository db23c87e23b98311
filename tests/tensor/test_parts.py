"""Gradients of tensors of which many parts are taken: what is added in one place changes no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat as torch

UPSTREAM: list[Callable[[Any], Any]] = [
    lambda x: x,  # a leaf
    lambda x: x * 1.0,
    lambda x: x.reshape(2, 12).reshape(4, 6),  # whose cotangent is handed on as a view
    lambda x: x + torch.zeros(4, 6, dtype=x.dtype),
    lambda x: x.unbind(0)[1].expand(4, 6),
]

TERMS: dict[str, Callable[[Any], Any]] = {
    "row": lambda x: x[1] * 2.0,
    "same row": lambda x: x[1].exp(),
    "columns": lambda x: x[:, 1:4] ** 2,
    "every second": lambda x: x[::2, 1::3].sin(),
    "number": lambda x: x[2, 3] * 3.0,
    "rows": lambda x: torch.stack(list(x.unbind(0))).sum(0) * 5.0,
    "halves": lambda x: x.chunk(2, 1)[0] * x.chunk(2, 1)[1],
    "new axis": lambda x: x[None, 0] * 7.0,
    "all": lambda x: x * x,
    "product": lambda x: x @ torch.ones(6, 2, dtype=x.dtype),
    "of a part": lambda x: x[1:][1:, 2] * 11.0,
    "detached": lambda x: x[0].detach() * x[0],
}


@st.composite
def programs(draw: Any) -> tuple[Callable[[Any], Any], list[str]]:
    terms = draw(st.lists(st.sampled_from(sorted(TERMS)), min_size=1, max_size=6))
    return draw(st.sampled_from(UPSTREAM)), terms


def gradient(program: Any, how: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """The gradient, and the cotangents that hooks have seen."""
    upstream, terms = program
    leaf = torch.tensor(np.linspace(-1.0, 1.0, 24).reshape(4, 6), requires_grad=True)
    x = upstream(leaf)
    seen: list[np.ndarray] = []
    if how == "hook":
        x.register_hook(lambda g: seen.append(g.numpy().copy()))
    loss = sum(TERMS[t](x).sum() for t in terms)
    if how in ("grad", "recorded"):
        (g,) = torch.autograd.grad(loss, [leaf], create_graph=how == "recorded")
        return g.detach().numpy(), seen
    if how == "twice":
        loss.backward(retain_graph=True)
        first = leaf.grad.numpy().copy()
        loss.backward()
        assert np.array_equal(2 * first, leaf.grad.numpy())
        return first, seen
    loss.backward()
    return leaf.grad.detach().numpy(), seen


@settings(deadline=None)
@given(programs())
def test_gradients_of_parts(program: Any) -> None:
    """All ways of running backward agree with that which records itself, part by part."""
    expected, _ = gradient(program, "recorded")
    for how in ("plain", "grad", "twice", "hook"):
        found, seen = gradient(program, how)
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=how)
        assert len(seen) == (how == "hook")


def test_a_cotangent_that_goes_two_ways_stays_as_it_is() -> None:
    x = torch.ones(3, requires_grad=True)
    y = torch.ones(3, requires_grad=True)
    both = x + y  # hands the same array to both
    (x[0] * 10.0 + both.sum() + x[1] * 100.0).backward()
    assert x.grad.tolist() == [11.0, 101.0, 1.0]
    assert y.grad.tolist() == [1.0, 1.0, 1.0]


def test_the_gradient_that_is_handed_in_is_not_written_into() -> None:
    x = torch.ones(3, requires_grad=True)
    given_in = torch.tensor([1.0, 2.0, 3.0])
    torch.autograd.backward([x * 1.0, x[0] * 1.0, x[1] * 1.0], [given_in, None, None])
    assert given_in.tolist() == [1.0, 2.0, 3.0]
    assert x.grad.tolist() == [2.0, 3.0, 3.0]


@pytest.mark.parametrize("length", [1, 2, 50])
def test_steps_of_a_loop(length: int) -> None:
    x = torch.arange(3.0 * length).reshape(3, length).requires_grad_()
    sum(x[:, t] * (t + 1) for t in range(length)).sum().backward()
    assert x.grad.tolist() == [[t + 1.0 for t in range(length)]] * 3
