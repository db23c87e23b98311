"""`funcgrad.scipy.cluster.vq` against SciPy and JAX, and its derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import cluster
from funcgrad.testing import check_all

vq = cluster.vq.vq
sv = pytest.importorskip("scipy.cluster.vq")


@st.composite
def rows(draw: Any, dtypes: str = "dfi") -> tuple[np.ndarray, np.ndarray]:
    m, n, k = draw(st.integers(1, 6)), draw(st.integers(1, 7)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    shapes = ((m, n), (k, n)) if draw(st.booleans()) else ((m,), (k,))
    dtype = draw(st.sampled_from(dtypes))
    obs, codes = (rng.uniform(-9, 9, shape).astype(dtype) for shape in shapes)
    return obs, codes


@given(case=rows())
def test_values_are_scipys(case: Any) -> None:
    obs, codes = case
    for run in (vq, funcgrad.jit(vq)):
        nearest, distance = run(obs, codes)
        theirs = sv.vq(obs.astype(float), codes.astype(float))
        assert nearest.dtype == np.int32
        assert distance.dtype == (obs.dtype if obs.dtype.kind == "f" else np.float64)
        np.testing.assert_allclose(distance, theirs[1], rtol=1e-5 if obs.dtype == "f" else 1e-13)
        if obs.dtype.kind == "f":
            np.testing.assert_array_equal(nearest, theirs[0])


@settings(max_examples=8)
@given(case=rows("d"))
def test_derivatives(case: Any) -> None:
    obs, codes = case
    check_all(lambda obs, codes: vq(obs, codes)[1], (obs, codes)).raise_if_failed()
    many = np.stack([obs, obs[::-1] + 0.1])
    found = funcgrad.vmap(vq, in_axes=(0, None))(many, codes)
    for k, x in enumerate(many):
        np.testing.assert_array_equal(found[0][k], vq(x, codes)[0])
        np.testing.assert_allclose(found[1][k], vq(x, codes)[1], rtol=1e-14)


def test_gradients_are_those_of_jax() -> None:
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(0)
    obs, codes = rng.normal(size=(9, 4)), rng.normal(size=(3, 4))
    with jax.enable_x64(True):
        theirs = jax.grad(lambda c: (jax.scipy.cluster.vq.vq(obs, c)[1] ** 2).sum())(codes)
    ours = funcgrad.grad(lambda c: (vq(obs, c)[1] ** 2).sum())(codes)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_ties_and_hits() -> None:
    nearest, distance = vq([[0.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    assert (nearest.tolist(), distance.tolist()) == ([0, 0], [1.0, 0.0])
    slope = funcgrad.grad(lambda c: vq(np.ones((1, 2)), c)[1].sum())(np.ones((1, 2)))
    assert slope.tolist() == [[0.0, 0.0]]
    far = 1e8 + np.array([[0.0], [1e-3], [2e-3]])
    assert vq(far, far)[0].tolist() == [0, 1, 2]


def test_mistakes_are_named() -> None:
    x = np.ones((2, 3))
    for args, error, text in (
        ((x, x[0]), ShapeError, "rows of one length"),
        ((x, x[:, :2]), ShapeError, "rows of one length"),
        ((1.0, 1.0), ShapeError, "rows of one length"),
        ((x, x[:0]), ShapeError, "need a row"),
        ((x * 1j, x), ArgumentError, "real numbers"),
    ):
        with pytest.raises(error, match=text):
            vq(*args)
    assert [y.shape for y in vq(x[:0], x)] == [(0,), (0,)]
