"""`segment_reduce` and `histogramdd`: against PyTorch, NumPy and differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from elementwise import agree, needs_torch
from harness import Call, Distinct, Draw, F, call, check
from hypothesis import given
from hypothesis import strategies as st

import compat

HOW = ("sum", "mean", "max", "min", "prod")


def Whole(*values: Any) -> Draw:
    return Draw(lambda _: np.array(values), False)


CALLS = [
    *(call("segment_reduce", Distinct(6), how, lengths=Whole(1, 3, 2)) for how in HOW),
    *(call("segment_reduce", Distinct(6, 2), how, offsets=Whole(0, 1, 4, 6)) for how in HOW),
    *(call("segment_reduce", F(3), how, lengths=Whole(1, 0, 2)) for how in HOW),
    *(call("segment_reduce", F(3), how, lengths=Whole(1, 0, 2), initial=0.5) for how in HOW),
    *(
        call("segment_reduce", Distinct(2, 4, 3), how, lengths=Whole([1, 3], [4, 0]), axis=1)
        for how in ("sum", "mean", "max")
    ),
    *(call("segment_reduce", F(5), how, lengths=Whole(1, 2), unsafe=True) for how in HOW),
    call("segment_reduce", F(0), "max", lengths=Whole(0, 0)),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_segments(c: Call) -> None:
    finite = c.args[1] in ("sum", "prod") or "initial" in c.kwargs
    check(c, kinked=not finite and "0" in repr(c.kwargs))


@given(st.integers(0, 9999), st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_segments_are_the_functions_of_the_runs(seed: int, lengths: list[int]) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(sum(lengths), 2))
    ends = np.cumsum(lengths)
    for how, f in zip(HOW, (np.sum, np.mean, np.max, np.min, np.prod), strict=True):
        y = compat.segment_reduce(compat.tensor(x), how, lengths=compat.tensor(lengths)).numpy()
        for row, end, n in zip(y, ends, lengths, strict=True):
            empty = {"sum": 0.0, "mean": math.nan, "max": -math.inf, "min": math.inf, "prod": 1.0}
            expected = f(x[end - n : end], 0) if n else [empty[how]] * 2
            np.testing.assert_allclose(row, expected, rtol=1e-12, atol=1e-15)


def test_equal_extremes_share() -> None:
    x = compat.tensor([2.0, 2.0, 1.0, 5.0], requires_grad=True)
    compat.segment_reduce(x, "max", lengths=compat.tensor([3, 1])).sum().backward()
    assert x.grad.tolist() == [0.5, 0.5, 0.0, 1.0]


def test_mapped_data() -> None:
    x = compat.tensor(np.random.default_rng(0).normal(size=(3, 5)))
    lengths = compat.tensor([2, 3])
    for how in HOW:
        found = compat.func.vmap(lambda r, h=how: compat.segment_reduce(r, h, lengths=lengths))(x)
        rows = [compat.segment_reduce(r, how, lengths=lengths) for r in x]
        np.testing.assert_allclose(found.numpy(), compat.stack(rows).numpy(), rtol=1e-12)


SEGMENTS: list[Any] = [
    lambda th, x: th.segment_reduce(x, "sum"),
    lambda th, x: th.segment_reduce(x, "most", lengths=th.tensor([4])),
    lambda th, x: th.segment_reduce(x, "sum", lengths=th.tensor([3])),
    lambda th, x: th.segment_reduce(x, "sum", lengths=th.tensor([5, -1])),
    lambda th, x: th.segment_reduce(x, "sum", lengths=th.tensor([4]), axis=1),
    lambda th, x: th.segment_reduce(x, "sum", lengths=th.tensor([4.0])),
    lambda th, x: th.segment_reduce(x, "sum", indices=th.tensor([4])),
    lambda th, x: th.segment_reduce(x.long(), "sum", lengths=th.tensor([4])),
]
POINTS = np.array([[1.0, 2.0], [0.0, 1.0], [2.0, 2.0], [0.5, 1.5]])
HISTOGRAMS: list[Any] = [
    lambda th, d, w: th.histogramdd(d, [2, 3]),
    lambda th, d, w: th.histogramdd(d, 2, weight=w, density=True),
    lambda th, d, w: th.histogramdd(d, [2, 2], range=[0.0, 1.0, 0.0, 3.0]),
    lambda th, d, w: th.histogramdd(d, [2, 2], range=[0.0, 0.0, 0.0, 1.0]),
    lambda th, d, w: th.histogramdd(d.reshape(2, 2, 2), [2, 2], weight=w.reshape(2, 2)),
    lambda th, d, w: th.histogramdd(d, [th.tensor([0.0, 1, 2]), th.tensor([1.0, 1.5, 3])]),
    lambda th, d, w: th.histogramdd(d[:0], [2, 2]),
    lambda th, d, w: th.histogramdd(d * 0, [2, 2]),
    lambda th, d, w: th.histogramdd(d, [2]),
    lambda th, d, w: th.histogramdd(d, [2, 0]),
    lambda th, d, w: th.histogramdd(d, [2, 2], range=[0.0, 1.0]),
    lambda th, d, w: th.histogramdd(d, [2, 2], range=[1.0, 0.0, 0.0, 1.0]),
    lambda th, d, w: th.histogramdd(d, [2, 2], range=[0.0, math.inf, 0.0, 1.0]),
    lambda th, d, w: th.histogramdd(d, [2, 2], weight=w[:3]),
    lambda th, d, w: th.histogramdd(d, [2, 2], weight=w.double()),
    lambda th, d, w: th.histogramdd(d.long(), [2, 2]),
    lambda th, d, w: th.histogramdd(w, [2]),
]


@needs_torch
@pytest.mark.parametrize("f", SEGMENTS)
def test_segments_that_do_not_fit(f: Any) -> None:
    agree(lambda th: f(th, th.ones(4)))


@needs_torch
@pytest.mark.parametrize("f", HISTOGRAMS)
def test_histograms(f: Any) -> None:
    def facts(th: Any) -> Any:
        found = f(th, th.tensor(POINTS).float(), th.tensor([1.0, 2.0, 3.0, 4.0]))
        return th.cat([found.hist.flatten(), *found.bin_edges])

    agree(facts)


@given(st.integers(0, 9999), st.integers(1, 4), st.integers(1, 4))
def test_histograms_are_numpys(seed: int, a: int, b: int) -> None:
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(20, 2)), rng.normal(size=20)
    for options in ({}, {"density": True}, {"weight": compat.tensor(w)}):
        found = compat.histogramdd(compat.tensor(x), [a, b], **options)
        weights = w if "weight" in options else None
        density = options.get("density", False)
        expected, edges = np.histogramdd(x, [a, b], density=density, weights=weights)
        np.testing.assert_allclose(found.hist.numpy(), expected, rtol=1e-12, atol=1e-12)
        for p, q in zip(found.bin_edges, edges, strict=True):
            np.testing.assert_allclose(p.numpy(), q, rtol=1e-12)
