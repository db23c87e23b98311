"""Convolution against its definition, written as loops, and its transpose against the gradient."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.ops.conv import conv, conv_transpose

Params = dict[str, Any]


def by_definition(x: np.ndarray, w: np.ndarray, p: Params) -> np.ndarray:
    """``z[n, o, q] = sum x[n, c, q * stride + k * dilation] * w[o, c, k]`` on the padded input."""
    spatial = x.ndim - 2
    spread = np.zeros(
        x.shape[:2]
        + tuple(
            max((n - 1) * d + 1, 0) + lo + hi
            for n, d, (lo, hi) in zip(x.shape[2:], p["lhs_dilation"], p["padding"], strict=True)
        )
    )
    inside = tuple(
        slice(lo, size - hi, d)
        for size, (lo, hi), d in zip(spread.shape[2:], p["padding"], p["lhs_dilation"], strict=True)
    )
    spread[(..., *inside)] = x
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], p["rhs_dilation"], strict=True)]
    places = [
        (size - r) // s + 1
        for size, r, s in zip(spread.shape[2:], reach, p["strides"], strict=True)
    ]
    out = np.zeros((len(x), len(w), *places))
    share = len(w) // p["groups"]
    for o in range(len(w)):
        first = (o // share) * w.shape[1]
        channels = spread[:, first : first + w.shape[1]]
        for q in itertools.product(*map(range, places)):
            for k in itertools.product(*map(range, w.shape[2:])):
                at = [q[a] * p["strides"][a] + k[a] * p["rhs_dilation"][a] for a in range(spatial)]
                out[(slice(None), o, *q)] += channels[(..., *at)] @ w[(o, slice(None), *k)]
    return out


@st.composite
def convolutions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, Params]:
    spatial = draw(st.integers(1, 3))

    def each(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.integers(low, high)) for _ in range(spatial))

    groups = draw(st.integers(1, 2))
    kernel, dilation = each(1, 2), each(1, 2)
    image = tuple(
        (k - 1) * d + 1 + draw(st.integers(0, 2)) for k, d in zip(kernel, dilation, strict=True)
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.normal(size=(draw(st.integers(1, 2)), groups * draw(st.integers(1, 2)), *image))
    w = rng.normal(size=(groups * draw(st.integers(1, 2)), x.shape[1] // groups, *kernel))
    padding = tuple(zip(each(0, 1), each(0, 1), strict=True))
    params = {"padding": padding, "lhs_dilation": each(1, 2), "groups": groups}
    return x, w, params | {"strides": each(1, 2), "rhs_dilation": dilation}


@given(convolutions())
def test_conv_is_its_definition(case: tuple[np.ndarray, np.ndarray, Params]) -> None:
    x, w, params = case
    np.testing.assert_allclose(conv(x, w, **params), by_definition(x, w, params), atol=1e-12)


@given(convolutions())
def test_conv_transpose_is_the_pullback(case: tuple[np.ndarray, np.ndarray, Params]) -> None:
    x, w, params = case
    params["lhs_dilation"] = (1,) * (x.ndim - 2)
    y, f_vjp = funcgrad.vjp(lambda x: conv(x, w, **params), x)
    ct = np.arange(float(y.size)).reshape(y.shape)
    left = []
    for n, k, s, d, (lo, hi) in zip(
        x.shape[2:],
        w.shape[2:],
        params["strides"],
        params["rhs_dilation"],
        params["padding"],
        strict=True,
    ):
        left.append((n + lo + hi - (k - 1) * d - 1) % s)
    found = conv_transpose(
        ct,
        w,
        strides=params["strides"],
        padding=params["padding"],
        output_padding=tuple(left),
        rhs_dilation=params["rhs_dilation"],
        groups=params["groups"],
    )
    np.testing.assert_allclose(found, f_vjp(ct)[0], atol=1e-10)
