"""Samples of `funcgrad/ops/conv.py` and `funcgrad/ops/pool.py`: windows that fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from . import Array, Sample, array, complexes, distinct, floats, integers, shapes

NUMBERS = [floats(-2, 2), complexes()]


def sizes(n: int, low: int, high: int) -> SearchStrategy[tuple[int, ...]]:
    return st.tuples(*[st.integers(low, high)] * n)


@st.composite
def conv(draw: Any) -> Sample:
    """Every parameter at once; what would not fit is padded at the end."""
    n = draw(st.integers(1, 2))
    strides, left, right = (draw(sizes(n, 1, 2)) for _ in range(3))
    kernel, spatial = draw(sizes(n, 1, 3)), draw(sizes(n, 1, 4))
    padding = []
    for s, k, a, b in zip(spatial, kernel, left, right, strict=True):
        low = draw(st.integers(-1, 2))
        least = (k - 1) * b - (s - 1) * a - low
        padding.append((low, max(least, draw(st.integers(-1, 2)))))
    groups, out, channels = (draw(st.integers(1, 2)) for _ in range(3))
    batch = draw(st.integers(0, 2))
    channels *= draw(st.integers(0, 4)) > 0
    x = draw(array(draw(st.sampled_from(NUMBERS)), (batch, groups * channels, *spatial)))
    w = draw(array(draw(st.sampled_from(NUMBERS)), (groups * out, channels, *kernel)))
    params = {"strides": strides, "padding": tuple(padding), "groups": groups}
    return Sample((x, w), params | {"lhs_dilation": left, "rhs_dilation": right})


@st.composite
def windows(draw: Any) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    """The batch, the pooled axes before and after, and the parameters."""
    n = draw(st.integers(0, 2))
    window, strides = draw(sizes(n, 1, 3)), draw(sizes(n, 1, 3))
    padding = tuple(draw(sizes(2, 0, k - 1)) for k in window)
    spatial = tuple(
        max(draw(st.integers(1, 4)), k - low - high)
        for k, (low, high) in zip(window, padding, strict=True)
    )
    places = tuple(
        (m + low + high - k) // stride + 1
        for m, k, stride, (low, high) in zip(spatial, window, strides, padding, strict=True)
    )
    params = {"window": window, "strides": strides, "padding": padding}
    return draw(shapes(ndim=(0, 2))), spatial, places, params


@st.composite
def pooled(draw: Any, domains: list[Array], *, ties: bool) -> Sample:
    """`ties`: whether two elements of a floating input may be equal."""
    lead, spatial, _, params = draw(windows())
    domain = draw(st.sampled_from(domains))
    fill = array if ties or domain.dtype.kind != "f" else distinct
    return Sample((draw(fill(domain, lead + spatial)),), params)


@st.composite
def spread(draw: Any) -> Sample:
    lead, spatial, places, params = draw(windows())
    ct = draw(array(draw(st.sampled_from(NUMBERS)), lead + places))
    return Sample((ct,), {"spatial": spatial, **params})


@st.composite
def chosen(draw: Any, *, put: bool) -> Sample:
    """With the places of chosen elements, one for each window."""
    lead, spatial, places, params = draw(windows())
    x = draw(array(draw(st.sampled_from(NUMBERS)), lead + (places if put else spatial)))
    taps = integers(0, math.prod(params["window"]) - 1).astype(np.uint8)
    place = draw(array(taps, lead + places))
    return Sample((x, place), {"spatial": spatial, **params} if put else params)


@st.composite
def maxima(draw: Any) -> Sample:
    """An input, and numbers as large as its maxima or larger."""
    lead, spatial, places, params = draw(windows())
    x = draw(array(integers(-2, 2) * 1.0, lead + spatial))
    return Sample((x, draw(array(integers(2, 3) * 1.0, lead + places))), params)


SAMPLES = {
    "conv": conv(),
    "sum_windows": pooled(NUMBERS, ties=True),
    "spread_windows": spread(),
    "max_pool": pooled([floats(-3, 3, count=200), integers(-3, 3)], ties=False),
    "window_argmax": maxima(),
    "pick_windows": chosen(put=False),
    "put_windows": chosen(put=True),
}
