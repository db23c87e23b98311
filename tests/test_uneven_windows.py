"""`funcgrad.nn`: pooling at random distances, and resampling with a kernel as wide as its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad import nn
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.testing import check_all

CHECKS = ["differentiable", "types", "transpose", "numerical", "jit", "vmap", "own memory"]
X = np.random.default_rng(0).normal(size=(2, 3, 6, 5))
DRAWN = np.random.default_rng(1).random((2, 3, 2))

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "fractional": lambda x: nn.fractional_max_pool(x, (2, 1), (3, 4), DRAWN[: x.shape[0]])[0],
    "one window": lambda x: nn.fractional_max_pool(x, (2, 3), (1, 1), DRAWN[: x.shape[0]])[0],
    "narrower": lambda x: nn.resample(x, (2, 3), antialias=True),
    "cubic": lambda x: nn.resample(x, (4, 9), "cubic", antialias=True),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    check_all(FUNCTIONS[name], (X,), only=CHECKS).raise_if_failed()


def test_every_window_has_its_own_maximum() -> None:
    """The places are within the windows, which go from the first element to the last."""
    x = np.arange(9.0)
    for u in np.linspace(0, 0.99, 12):
        y, places = nn.fractional_max_pool(x, (2,), (4,), np.array([u]))
        np.testing.assert_array_equal(y, places)
        assert places[-1] == 8 and set(np.diff(places)) <= {2, 3} and places[0] == 1


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("lead", [(0, 2), (2, 0), (0,)])
def test_no_planes(n: int, lead: tuple[int, ...]) -> None:
    x, drawn = np.zeros((*lead, *(5,) * n)), np.zeros((*lead, n))
    for found in nn.fractional_max_pool(x, (2,) * n, (2,) * n, drawn):
        assert found.shape == (*lead, *(2,) * n)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_wide_kernels_keep_the_mean(mode: str) -> None:
    """Half as many elements: every one counts the same but near the edges, and constants stay."""
    weights = funcgrad.jacrev(lambda x: nn.resample(x, (16,), mode, antialias=True))(np.zeros(32))
    np.testing.assert_allclose(weights.sum(1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(weights.sum(0)[10:22], 0.5, rtol=1e-12)


def test_errors() -> None:
    with pytest.raises(ShapeError, match="do not fit"):
        nn.fractional_max_pool(X, (4, 2), (4, 2), DRAWN)
    with pytest.raises(ArgumentError, match="traced"):
        funcgrad.jit(lambda u: nn.fractional_max_pool(X, (2, 2), (2, 2), u)[0])(DRAWN)
