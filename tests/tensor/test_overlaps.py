"""Writes to places by number do not read the memory that they write."""

from __future__ import annotations

from typing import Any

import pytest

import compat


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


WRITES: dict[str, Any] = {
    "index_add_": lambda x, i, y: x.index_add_(0, i, y),
    "index_copy_": lambda x, i, y: x.index_copy_(0, i, y),
    "index_reduce_": lambda x, i, y: x.index_reduce_(0, i, y, "prod"),
    "put_": lambda x, i, y: x.put_(i, y),
    "scatter_": lambda x, i, y: x.scatter_(0, i, y),
    "scatter_add_": lambda x, i, y: x.scatter_add_(0, i, y),
    "scatter_reduce_": lambda x, i, y: x.scatter_reduce_(0, i, y, "sum"),
}


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("name", WRITES)
def test_source_and_places_lie_elsewhere(torch: Any, name: str) -> None:
    f = WRITES[name]
    x = torch.tensor([2, 1, 0])
    for i, y in ((x, x.clone()), (x.clone(), x), (x, x), (x.clone(), x[:])):
        before = x.clone()
        with pytest.raises(RuntimeError, match="single memory location"):
            f(x, i, y)
        assert torch.equal(x, before)
    f(x, x.clone(), x.clone())


def test_the_places_to_fill_lie_elsewhere(torch: Any) -> None:
    x = torch.tensor([2, 1, 0])
    with pytest.raises(RuntimeError, match="single memory location"):
        x.index_fill_(0, x, 0)
    assert x.tolist() == [2, 1, 0]


def test_a_transpose_is_not_what_is_written(torch: Any) -> None:
    """It fills the same memory in another order."""
    for f in (lambda x, y: x.add_(y), lambda x, y: x.mul_(y), lambda x, y: torch.sub(x, y, out=x)):
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        with pytest.raises(RuntimeError, match="single memory location"):
            f(x, x.t())
        assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
        f(x, x)


def test_gradients_of_a_sum_are_apart() -> None:
    """The same numbers, but other memory, also than that of what was given; not so in PyTorch."""
    x, y = (compat.ones(3, requires_grad=True) for _ in range(2))
    given = compat.tensor([1.0, 2.0, 3.0])
    first, second = compat.autograd.grad(x + y, (x, y), given)
    first.add_(10.0)
    assert second.tolist() == given.tolist() == [1.0, 2.0, 3.0]
    second.zero_()
    assert given.tolist() == [1.0, 2.0, 3.0]
