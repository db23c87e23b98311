"""`torch.quasirandom` beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat import float64, manual_seed
from compat.quasirandom import SobolEngine

pytestmark = pytest.mark.filterwarnings("ignore:The balance properties")


@given(
    st.integers(1, 40),
    st.lists(st.tuples(st.sampled_from(["draw", "fast_forward", "reset"]), st.integers(1, 9))),
)
def test_points_are_pytorchs(dimension: int, calls: list[tuple[str, int]]) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = SobolEngine(dimension), torch.quasirandom.SobolEngine(dimension)
    assert repr(ours) == repr(theirs)
    for name, n in calls:
        if name == "reset":
            assert ours.reset() is ours and theirs.reset() is theirs
        elif name == "fast_forward":
            ours.fast_forward(n)
            theirs.fast_forward(n)
        else:
            for kind in (None, "float64"):
                found = ours.draw(n, dtype=kind and float64)
                wanted = theirs.draw(n, dtype=kind and torch.float64)
                assert np.array_equal(found.numpy(), wanted.numpy())
        assert ours.num_generated == theirs.num_generated


@given(st.integers(1, 6), st.integers(0, 100))
def test_scrambled_points_fill_the_cube(dimension: int, seed: int) -> None:
    def points(seed: int | None) -> Any:
        return SobolEngine(dimension, scramble=True, seed=seed).draw_base2(6, dtype=float64).numpy()

    found = points(seed)
    for column in found.T:  # one in every 64th
        assert sorted((column * 64).astype(int)) == list(range(64))
    assert np.array_equal(found, points(seed)) and not np.array_equal(found, points(seed + 1))
    manual_seed(seed)
    first = points(None)
    manual_seed(seed)
    assert np.array_equal(first, points(None))


@pytest.mark.parametrize("dimension", [0, 21202])
def test_dimensions_that_there_are_not(dimension: int) -> None:
    with pytest.raises(ValueError, match="Supported range of dimensionality"):
        SobolEngine(dimension)


def test_points_that_lose_their_balance() -> None:
    engine = SobolEngine(2)
    engine.draw(3)
    with pytest.raises(ValueError, match=r"n=3\+2\*\*2=7"):
        engine.draw_base2(2)
