"""Histograms: the edges that are given, the ranges that are given, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import compat


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


@pytest.mark.parametrize("at", [0.0, 1.0, -2.5])
def test_an_empty_range_is_widened_by_a_half_on_both_sides(torch: Any, at: float) -> None:
    x = torch.arange(6.0)
    counts, edges = torch.histogram(x, 4, range=(at, at))
    np.testing.assert_allclose(edges.numpy(), np.linspace(at - 0.5, at + 0.5, 5))
    wanted, _ = np.histogram(x.numpy(), edges.numpy())
    assert counts.tolist() == wanted.tolist()


def test_one_dimension_is_that_of_several(torch: Any) -> None:
    x = torch.tensor(np.random.default_rng(1).standard_normal((4, 5)))
    w = torch.tensor(np.random.default_rng(2).random((4, 5)))
    edges = torch.tensor([-1.0, 0.0, 0.25, 2.0], dtype=x.dtype)
    for bins, options in ((edges, {}), (5, {}), (5, {"range": (-1.0, 1.0)})):
        for density in (False, True):
            one = torch.histogram(x, bins, weight=w, density=density, **options)
            bins_of_axes = [bins] if bins is edges else bins
            many = torch.histogramdd(
                x[..., None], bins_of_axes, weight=w, density=density, **options
            )
            torch.testing.assert_close(one.hist, many.hist)
            torch.testing.assert_close(one.bin_edges, many.bin_edges[0])


WRONG: dict[str, Any] = {
    "a matrix of edges": lambda t, x: t.histogram(x, t.ones(2, 3)),
    "a number of bins in a tensor": lambda t, x: t.histogram(x, t.tensor(3.0)),
    "no edges": lambda t, x: t.histogram(x, t.ones(0)),
    "one edge": lambda t, x: t.histogram(x, t.ones(1)),
    "edges of integers": lambda t, x: t.histogram(x, t.tensor([1, 2])),
    "edges of another dtype": lambda t, x: t.histogram(x, t.tensor([1.0, 2.0]).double()),
    "edges of another dtype for points": lambda t, x: t.histogramdd(
        x[:, None], [t.tensor([1.0, 2.0]).double()]
    ),
    "a range of three": lambda t, x: t.histogram(x, 3, range=(0.0, 1.0, 2.0)),
    "too few weights": lambda t, x: t.histogram(x, 3, weight=t.ones(5)),
    "weights of another dtype": lambda t, x: t.histogram(x, 3, weight=t.ones(6).double()),
    "an out of another dtype": lambda t, x: t.histogram(
        x, 3, out=(t.empty(3), t.empty(4).double())
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_refused(torch: Any, case: str) -> None:
    with pytest.raises(RuntimeError):
        WRONG[case](torch, torch.arange(6.0))


def test_edges_and_a_range_are_refused(torch: Any) -> None:
    with pytest.raises(TypeError):
        torch.histogram(torch.arange(6.0), torch.tensor([0.0, 1.0]), range=(0.0, 1.0))


def test_edges_that_decrease_are_refused() -> None:
    with pytest.raises(ValueError, match="monotonically"):
        compat.histogram(compat.arange(6.0), compat.tensor([3.0, 1.0]))


@pytest.mark.parametrize("shape", [(3, 0), (3, 4, 0), (0, 0)], ids=str)
def test_points_without_coordinates(torch: Any, shape: tuple[int, ...]) -> None:
    x = torch.empty(shape)
    assert torch.histogramdd(x, []).hist.item() == 0
    found = torch.histogramdd(x, [], density=True)
    assert math.isnan(found.hist.item()) and not found.bin_edges
