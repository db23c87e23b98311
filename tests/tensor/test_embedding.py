"""Rows of a table by their number: values, gradients and what is left out of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from harness import Call, F, I, call, check
from outcomes import both, module

import compat

E = "nn.functional.embedding"
CALLS: list[Call] = [
    call(E, I(3), F(5, 2)),
    call(E, I(2, 3), F(5, 4)),
    call(E, I(), F(5, 2)),
    call(E, I(0), F(5, 2)),
    call("embedding", F(5, 2), I(2, 2)),
]


@both()
def torch(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield module(request.param)


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


@pytest.mark.parametrize("padding", [1, -2])
def test_padding_gets_no_gradient(torch: Any, padding: int) -> None:
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    places = torch.tensor([1, 2, 1, 0])
    y = torch.nn.functional.embedding(places, w, padding_idx=padding)
    assert y.grad_fn.name() == "EmbeddingBackward0" and y[0].tolist() == [3.0, 4.0]
    y.sum().backward()
    assert w.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]


def test_gradients_by_how_often_a_row_is_taken(torch: Any) -> None:
    w = torch.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    places = torch.tensor([[1, 2], [1, 1]])
    y = torch.nn.functional.embedding(places, w, scale_grad_by_freq=True)
    (y * torch.tensor([[[1.0], [2.0]], [[3.0], [5.0]]])).sum().backward()
    assert y.flatten().tolist() == [2.0, 3.0, 2.0, 2.0]
    assert torch.allclose(w.grad, torch.tensor([[0.0], [3.0], [2.0]]))


def test_rows_that_are_too_long_become_shorter(torch: Any) -> None:
    w = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], requires_grad=True)
    y = torch.nn.functional.embedding(torch.tensor([0, 1, 0]), w, max_norm=1.0)
    expected = torch.tensor([[0.6, 0.8], [0.3, 0.4], [6.0, 8.0]])
    assert torch.allclose(w, expected) and torch.allclose(y, expected[[0, 1, 0]])
    y.sum().backward()
    assert w.grad.tolist() == [[2.0, 2.0], [1.0, 1.0], [0.0, 0.0]]


@pytest.mark.filterwarnings("ignore:.torch.jit.script")
def test_derivatives_of_both_modes_are_those_of_the_shortened_table(torch: Any) -> None:
    def rows(w: Any) -> Any:
        return torch.nn.functional.embedding(torch.tensor([2, 0]), w, max_norm=1.0)

    w = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    direction = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    _, along = torch.func.jvp(rows, (w.clone(),), (direction,))
    assert along.tolist() == [[5.0, 6.0], [1.0, 2.0]]
    _, back = torch.func.vjp(rows, w.clone())
    assert back(torch.ones(2, 2))[0].tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]


ERRORS = [
    ([3], {}, IndexError, "index out of range in self"),
    ([-1], {}, IndexError, "index out of range in self"),
    ([1.0], {}, RuntimeError, "to have one of the following scalar types: Long, Int; but got"),
    ([1], {"padding_idx": 3}, AssertionError, "Padding_idx must be within num_embeddings"),
]


@pytest.mark.parametrize("places, options, cls, words", ERRORS, ids=repr)
def test_errors(torch: Any, places: Any, options: Any, cls: Any, words: str) -> None:
    with pytest.raises(cls, match=words):
        torch.nn.functional.embedding(torch.tensor(places), torch.ones(3, 2), **options)


def test_errors_of_the_table(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="'weight' must be 2-D"):
        torch.nn.functional.embedding(torch.tensor([1]), torch.ones(3))
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        torch.nn.functional.embedding([1], torch.ones(3, 2))


def test_sparse_gradients_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="sparse gradients"):
        compat.nn.functional.embedding(compat.tensor([1]), compat.ones(3, 2), sparse=True)


def test_under_vmap(torch: Any) -> None:
    w = torch.tensor([[[1.0], [2.0]], [[3.0], [4.0]]])
    places = torch.tensor([1, 0, 1])
    y = torch.func.vmap(lambda table: torch.nn.functional.embedding(places, table))(w)
    assert y.squeeze(-1).tolist() == [[2.0, 1.0, 2.0], [4.0, 3.0, 4.0]]
