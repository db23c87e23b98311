"""What PyTorch's own database of operators found: transcripts, and what `out=` does when it resizes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from outcomes import Row, both, check, module, rows

import compat


@both()
def torch(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield module(request.param)


@pytest.mark.parametrize("row", rows("operators"), ids=str)
def test_transcript(torch: Any, row: Row) -> None:
    check(torch, row)


def test_out_of_another_shape_warns(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    for shape in ((3,), (2, 1)):
        out = torch.ones(shape)
        with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
            torch.exp(x, out=out)
        assert out.shape == (2,)


def test_out_without_elements_or_of_the_shape_does_not_warn(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    for shape in ((0,), (2,), (0, 5)):
        out = torch.ones(shape)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert torch.exp(x, out=out) is out
        assert out.tolist() == torch.exp(x).tolist()


def test_the_zeroth_norm_is_recorded() -> None:
    x = compat.tensor([1.0, 0.0, 2.0], requires_grad=True)
    y = compat.norm(x, 0)
    y.backward()
    assert y.item() == 2.0 and x.grad.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("how", ["amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_extremes_of_places_under_vmap(torch: Any, how: str, include_self: bool) -> None:
    places = torch.tensor([0, 1, 0, 0, 2])

    def f(x: Any, src: Any) -> Any:
        return torch.scatter_reduce(x, 0, places, src, how, include_self=include_self)

    x = torch.tensor([[0.5, 0.0, -1.0, 2.0], [5.0, 1.0, 1.0, 0.0]])
    src = torch.tensor([[1.0, -2.0, 3.0, 0.0, 0.5], [4.0, 0.0, 3.0, 9.0, -5.0]])
    many = torch.func.vmap(f)(x, src)
    assert torch.equal(many, torch.stack([f(x[0], src[0]), f(x[1], src[1])]))


def test_statistics_that_are_kept_are_numbers_under_jvp() -> None:
    mean, variance = compat.zeros(2), compat.ones(2)
    x = compat.tensor([[1.0, 2.0], [3.0, 8.0]])

    def f(x: Any) -> Any:
        return compat.nn.functional.batch_norm(x, mean, variance, training=True, momentum=0.5)

    compat.func.jvp(f, (x,), (compat.ones(2, 2),))
    assert mean.tolist() == [1.0, 2.5] and variance.tolist() == [1.5, 9.5]
    f(x)
    assert mean.tolist() == [1.5, 3.75]


def test_memory_of_a_leaf_that_is_a_view(torch: Any) -> None:
    x = torch.arange(6.0)[2:].requires_grad_()
    y = torch.as_strided(x, (2, 2), (1, 1))
    y.sum().backward()
    assert y.tolist() == [[2.0, 3.0], [3.0, 4.0]] and x.grad.tolist() == [1.0, 2.0, 1.0, 0.0]


def test_out_of_another_shape_is_all_right_for_new_numbers(torch: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = torch.ones(7)
        assert torch.zeros(2, 3, out=out) is out and out.shape == (2, 3)
        assert torch.linspace(0, 1, 3, out=out).tolist() == [0.0, 0.5, 1.0]
        assert torch.eye(2, out=out).shape == (2, 2)
        assert torch.nn.functional.logsigmoid(torch.zeros(3), out=out).shape == (3,)


OWN = [
    "torch.topk(z, 1).indices",
    "torch.kthvalue(m, 2, 0).indices",
    "torch.median(m, 0, keepdim=True).indices",
    "torch.mode(m).indices",
    "torch.gather(z, 0, torch.empty(0, dtype=torch.int64))",
    "torch.diff(m, 0, 0, m, m)",
    "torch.histogram(z, b).bin_edges",
    "torch.pixel_shuffle(m[None], 1)",
    "torch.pixel_unshuffle(m[None], 1)",
    "m.sum_to_size(2, 1)",
    "m.repeat(0, 1)",
    "torch.tile(z[:0], ())",
    "torch.diag(m)",
]


@pytest.mark.parametrize("expression", OWN)
def test_results_that_are_no_views(torch: Any, expression: str) -> None:
    given = {"z": torch.zeros(2), "m": torch.ones(2, 2), "b": torch.tensor([0.0, 1.0])}
    y = eval(expression, {"torch": torch} | given)
    assert not y._is_view()
    y.add_(7)
    assert given["z"].sum() == 0 and given["m"].sum() == 4 and given["b"].sum() == 1
