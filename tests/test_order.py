"""Places in order: those found without sorting, or by an unstable sort, are those of a stable one."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.modulus import LONG
from funcgrad.ops.arithmetic import hypot
from funcgrad.ops.sort import MANY, RANKS, SMALL, argrank, argsort


@st.composite
def rows(draw: Any) -> Any:
    """Numbers along both axes, with ties, zeros of both signs, infinite ones and perhaps NaN."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([MANY, SMALL + 1]))
    x = rng.normal(size=(draw(st.integers(1, 3)), n))
    if draw(st.booleans()):
        x = x.round(draw(st.integers(0, 3)))  # many ties, or few
    special = draw(st.sampled_from([[0.0, -0.0], [np.inf, -np.inf], [np.nan, 0.5]]))
    x[rng.random(x.shape) < draw(st.sampled_from([0, 0.01, 0.1]))] = rng.choice(special)
    return x.astype(draw(st.sampled_from(["f4", "f8"])))


@given(x=rows(), axis=st.integers(0, 1))
def test_argsort_is_stable(x: Any, axis: int) -> None:
    x = np.moveaxis(x, -1, axis)
    found = argsort(x, axis=axis)
    np.testing.assert_array_equal(found, np.argsort(x, axis=axis, kind="stable"))


@given(x=rows(), count=st.sampled_from([1, 3, RANKS + 1]), seed=st.integers(0, 99))
def test_ranks_are_those_of_the_stable_order(x: Any, count: int, seed: int) -> None:
    rank = np.random.default_rng(seed).integers(0, x.shape[-1], (len(x), count))
    expected = np.take_along_axis(np.argsort(x, axis=1, kind="stable"), rank, axis=1)
    np.testing.assert_array_equal(argrank(x, rank, axis=1), expected)
    np.testing.assert_array_equal(argrank(x.T, rank.T, axis=0), expected.T)


@given(x=rows(), q=st.lists(st.floats(0, 1), min_size=1, max_size=3))
def test_quantiles_are_numpys(x: Any, q: list[float]) -> None:
    x[np.isinf(x)] = 9.0  # between infinite elements NumPy has conventions of its own
    for name, args in [("median", ()), ("quantile", (q,)), ("quantile", (q[0],))]:
        ours = funcgrad.jit(lambda x, n=name, a=args: getattr(fnp, n)(x, *a, axis=1))(x)
        np.testing.assert_allclose(ours, getattr(np, name)(x, *args, axis=1), rtol=1e-5, atol=1e-6)


@given(
    dtype=st.sampled_from([np.float32, np.float64]),
    n=st.sampled_from([LONG // 2 - 1, LONG]),
    seed=st.integers(0, 2**32),
)
def test_hypot_of_all_sizes(dtype: Any, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    limits = np.finfo(dtype)
    low, high = np.log2(limits.smallest_subnormal), np.log2(limits.max) - 1
    x, y = (2.0 ** rng.uniform(low, high, (2, n))).astype(dtype)
    y = np.where(rng.random(n) < 0.5, x * dtype(1.5), y)
    special = rng.choice(np.array([0, -0.0, np.inf, -np.inf, np.nan], dtype), (2, n))
    odd = rng.random((2, n)) < 0.1
    x, y = np.where(odd, special, [x, y]).astype(dtype)
    for a, b in [(x, y), (-x, y), (x, dtype(1)), (x[:, None], y[:3])]:
        np.testing.assert_array_max_ulp(hypot(a, b), np.hypot(a, b), maxulp=2)
