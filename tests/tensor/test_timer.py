"""`utils.benchmark.Timer`: statements are run as often as is said, and timed."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat as torch
from compat.utils.benchmark import Measurement, Timer


@given(number=st.integers(1, 50))
def test_statements_run_with_their_globals(number: int) -> None:
    x = torch.zeros(2)
    found = Timer("x.add_(one)", "one = 1", globals={"x": x}).timeit(number)
    assert found.number_per_run == number
    assert len(found.times) == 1
    assert x[0] >= number


def test_blocks_are_long_enough() -> None:
    clock = itertools.count().__next__  # each look at it is a second later
    found = Timer("pass", timer=clock).blocked_autorange(min_run_time=50)
    assert (found.number_per_run, sum(found.raw_times)) == (1, 50)
    assert (found.median, found.mean, found.iqr) == (1, 1, 0)


@given(times=st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=5))
def test_what_is_printed(times: list[float]) -> None:
    lines = repr(Measurement(1, times, "f(x)")).split("\n")
    assert lines[0] == "f(x)"
    value, unit = lines[1].split()
    seconds = float(value) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]
    assert seconds == pytest.approx(Measurement(1, times, "").median, rel=6e-3)


def test_threads_are_set_while_it_runs() -> None:
    seen: list[int] = []
    before = torch.get_num_threads()
    Timer("f()", globals={"f": lambda: seen.append(torch.get_num_threads())}, num_threads=3).timeit(
        1
    )
    assert set(seen) == {3}
    assert torch.get_num_threads() == before


def test_other_languages_are_refused() -> None:
    with pytest.raises(ValueError, match=r"language='c\+\+'"):
        Timer("x + 1;", language="c++")
