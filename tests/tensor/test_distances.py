"""`cdist` by products of matrices is as good as by differences, also where products cancel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat

PRODUCTS, DIFFERENCES = "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"


def points(seed: int, far: float, spread: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Points around a far one, of which some are in both sets and some almost."""
    rng = np.random.default_rng(seed)
    x = far * rng.normal(size=k) + spread * rng.normal(size=(7, k))
    y = np.concatenate([x[:3], x[2:5] + 1e-3 * spread, far * rng.normal(size=(4, k))])
    return x, y


def distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    wide = x.astype(np.longdouble)[:, None] - y.astype(np.longdouble)[None]
    return np.sqrt((wide * wide).sum(-1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(
    seed=st.integers(0, 999),
    far=st.sampled_from([0.0, 1.0, 1e3, 1e6]),
    spread=st.sampled_from([1e-3, 1.0, 1e4]),
    k=st.integers(1, 40),
)
def test_values(dtype: str, seed: int, far: float, spread: float, k: int) -> None:
    x, y = (a.astype(dtype) for a in points(seed, far, spread, k))
    found = compat.cdist(compat.from_numpy(x), compat.from_numpy(y), compute_mode=PRODUCTS).numpy()
    assert found.dtype == dtype
    np.testing.assert_allclose(found, distances(x, y), rtol=400 * np.finfo(dtype).eps, atol=0)
    assert (found[np.arange(3), np.arange(3)] == 0).all()


@given(seed=st.integers(0, 999), far=st.sampled_from([0.0, 10.0]), k=st.integers(1, 9))
def test_gradients(seed: int, far: float, k: int) -> None:
    """Of equal points it is 0."""
    found = []
    for mode in (PRODUCTS, DIFFERENCES):
        x, y = (compat.from_numpy(a).requires_grad_() for a in points(seed, far, 1.0, k))
        d = compat.cdist(x, y, compute_mode=mode)
        weights = compat.from_numpy(np.random.default_rng(seed).normal(size=d.shape))
        first = compat.autograd.grad((d * weights).sum(), (x, y), create_graph=True)
        second = compat.autograd.grad((first[0] ** 2).sum(), (x, y))
        found.append([g.detach().numpy() for g in (*first, *second)])
    for a, b, tolerance in zip(*found, [1e-9, 1e-9, 1e-6, 1e-6], strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * (1 + np.abs(b).max()))


@given(seed=st.integers(0, 999), far=st.sampled_from([2.0**10, 2.0**20]))
def test_gradients_far_from_the_origin(seed: int, far: float) -> None:
    """They are those of the same points around it: only differences count."""
    rng = np.random.default_rng(seed)
    near = rng.integers(-(2**20), 2**20, (30, 3)) / 2.0**20  # so that nothing is lost by moving
    weights = compat.from_numpy(rng.normal(size=(30, 30)))
    upper = np.triu_indices(30, 1)
    found = []
    for points in (near, near + far):
        x, y, z = (compat.from_numpy(points.copy()).requires_grad_() for _ in range(3))
        (compat.cdist(x, y) * weights).tril(-1).sum().backward()
        (compat.pdist(z) * weights[upper]).sum().backward()
        found.append([t.grad.numpy() for t in (x, y, z)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("mode", [None, "use_mm_for_euclid_dist_if_necessary", PRODUCTS])
def test_pytorch_agrees(mode: str | None) -> None:
    torch: Any = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 30, 5)), rng.normal(size=(28, 5))
    found = []
    for m in (compat, torch):
        x, y = (m.from_numpy(z.copy()).requires_grad_() for z in (a, b))
        d = m.cdist(x, y, compute_mode=mode) if mode else m.cdist(x, y)
        (d**2).sum().backward()
        found.append([z.detach().numpy() for z in (d, x.grad, y.grad)])
    for z, w in zip(*found, strict=True):
        np.testing.assert_allclose(z, w, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_infinities_and_nan() -> None:
    x = compat.tensor([[np.inf, 0.0], [np.nan, 0.0], [1e200, 0.0], [1.0, 1.0]]).double()
    for mode in (PRODUCTS, DIFFERENCES):
        found = compat.cdist(x, x[3:], compute_mode=mode)[:, 0].tolist()
        assert found[0] == np.inf and np.isnan(found[1]) and found[3] == 0
