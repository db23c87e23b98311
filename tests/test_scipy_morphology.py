"""Grey morphology, labelled regions, transforms of images and by mappings, against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ConcretizationError, ShapeError
from funcgrad.scipy import ndimage as ours
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.ndimage")
CHECKS = ["types", "transpose", "numerical", "jit", "vmap", "second order"]
GREY = [
    "grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "white_tophat", "black_tophat",
    "morphological_gradient", "morphological_laplace",
]  # fmt: skip
seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("name", GREY)
@settings(max_examples=25)
@given(
    seed=seeds,
    size=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    mode=st.sampled_from(["reflect", "constant", "nearest", "mirror", "wrap"]),
    origin=st.sampled_from([0, -1]),
)
def test_morphology(name: str, seed: int, size: Any, mode: str, origin: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(6, 7))
    print_ = rng.uniform(size=size) < 0.7
    print_.flat[0] = True
    heights = rng.normal(size=size)
    origin = 0 if min(size) < 3 else origin
    f, g = getattr(ours, name), getattr(theirs, name)
    for options in (
        {"size": size},
        {"footprint": print_},
        {"structure": heights},
        {"footprint": print_, "structure": heights},
    ):
        more = {**options, "mode": mode, "cval": 0.3, "origin": origin}
        np.testing.assert_allclose(f(x, **more), g(x, **more), rtol=1e-12, atol=1e-12)
    a, b = (h(x, size=3, axes=(1,)) for h in (f, g))
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", GREY)
def test_derivatives_of_morphology(name: str) -> None:
    x = np.random.default_rng(0).normal(size=(4, 5))
    s = np.array([[0.1, 0.0, 0.2], [-0.3, 0.05, 0.0]])
    report = check_all(lambda x, s: getattr(ours, name)(x, structure=s), (x, s), only=CHECKS)
    assert not report.failures, str(report)
    with pytest.raises(ArgumentError, match="need size= or footprint="):
        getattr(ours, name)(x)
    with pytest.raises(ShapeError, match="the structure has shape"):
        getattr(ours, name)(x, structure=[1.0])


REGIONS = [
    "sum_labels", "mean", "variance", "standard_deviation", "minimum", "maximum", "center_of_mass",
]  # fmt: skip


@pytest.mark.parametrize("name", REGIONS)
@given(seed=seeds)
def test_regions(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, labels = rng.uniform(0.1, 1.0, (4, 5)), rng.integers(-1, 4, (4, 5))
    labels.flat[:4] = [0, 1, 2, 3]
    f, g = getattr(ours, name), getattr(theirs, name)
    for args in ((), (labels,), (labels, 2), (labels, [3, 1, 0]), (labels[0], [int(labels[0, 2])])):
        np.testing.assert_allclose(f(x, *args), g(x, *args), rtol=1e-11, atol=1e-14)
    missing = f(x, labels, [7])
    if name in ("sum_labels", "minimum", "maximum"):
        assert missing.tolist() == [0.0]
    else:
        assert np.isnan(missing).all()
    with pytest.raises(ArgumentError, match="without labels"):
        f(x, None, [1])


@pytest.mark.parametrize("name", REGIONS)
def test_derivatives_of_regions(name: str) -> None:
    x = np.random.default_rng(0).uniform(0.1, 1.0, (3, 4))
    labels = np.array([[0, 1, 1, 2], [2, 2, 1, 0], [1, 0, 2, 2]])

    def f(x: Any) -> Any:
        return fnp.asarray(getattr(ours, name)(x, labels, [2, 1]))

    report = check_all(f, (x,), only=CHECKS)
    assert not report.failures, str(report)
    found = funcgrad.jit(lambda x, k: fnp.asarray(getattr(ours, name)(x, k, [2, 1])))(x, labels)
    np.testing.assert_allclose(found, f(x), rtol=1e-12)


@pytest.mark.parametrize("name", REGIONS)
@pytest.mark.parametrize("beside", [np.nan, np.inf])
def test_what_is_beside_the_regions_has_no_influence(name: str, beside: float) -> None:
    x, labels = np.array([beside, 1.0, 2.0, 4.0, 3.5, beside]), np.array([0, 0, 1, 1, 1, 2])
    slopes = funcgrad.grad(lambda x: fnp.sum(fnp.asarray(getattr(ours, name)(x, labels, 1))))
    expected = slopes(np.where(np.isfinite(x), x, 0.0))
    assert slopes(x).tolist() == expected.tolist()
    assert not expected[labels != 1].any()


@pytest.mark.parametrize("name", ["fourier_gaussian", "fourier_uniform", "fourier_shift"])
def test_filters_of_transforms(name: str) -> None:
    x = np.random.default_rng(0).normal(size=(4, 5))
    z, half = np.fft.fft2(x), np.fft.rfft2(x)
    f, g = getattr(ours, name), getattr(theirs, name)
    for value in (1.3, [0.4, 2.0]):
        np.testing.assert_allclose(f(z, value), g(z, value), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(f(half, value, 5), g(half, value, 5), rtol=1e-10, atol=1e-12)
    assert f(x[:0], 1.3).shape == (0, 5)
    report = check_all(lambda x, v: f(x, v), (x, np.float64(1.3)), only=CHECKS)
    assert not report.failures, str(report)


def test_mappings() -> None:
    x = np.random.default_rng(0).normal(size=(5, 6))

    def turned(i: Any, by: Any) -> Any:
        return i[0] + by * i[1] - 0.3, i[1] - by * i[0] + 0.2

    for options in ({}, {"order": 1, "mode": "wrap"}, {"output_shape": (3, 4), "cval": 2.0}):
        a, b = (
            m.geometric_transform(x, turned, extra_arguments=(0.1,), **options)
            for m in (ours, theirs)
        )
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)
    report = check_all(
        lambda x, by: ours.geometric_transform(
            x, turned, mode="nearest", extra_keywords={"by": by}
        ),
        (x, np.float64(0.1)),
        only=CHECKS,
    )
    assert not report.failures, str(report)
    with pytest.raises(ConcretizationError):
        ours.geometric_transform(x, lambda i: i if i[0] > 1 else (0, 0))
