"""Filters by functions of the user's beside SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import FuncgradError
from funcgrad.scipy import ndimage
from funcgrad.testing import check_all

sn = pytest.importorskip("scipy.ndimage")

CHECKS = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]
MODES = ["reflect", "constant", "nearest", "mirror", "wrap"]
X = np.random.default_rng(0).normal(size=(4, 5))


def roughness(window: Any, weight: Any = 1.0, shift: Any = 0.0) -> Any:
    return weight * np.sum((window - window.mean()) ** 2) + shift * window[0]


@given(
    mode=st.sampled_from(MODES),
    size=st.sampled_from([2, 3, (3, 1)]),
    footprint=st.booleans(),
    origin=st.integers(-1, 0),
)
def test_windows_are_scipys(mode: str, size: Any, footprint: bool, origin: int) -> None:
    options: dict[str, Any] = {"mode": mode, "cval": 0.7}
    options |= {"footprint": [[1, 0], [1, 1]]} if footprint else {"size": size}
    options |= {} if size == (3, 1) else {"origin": origin}
    more = {"extra_arguments": (2.0,), "extra_keywords": {"shift": 0.3}}
    found, expected = (m.generic_filter(X, roughness, **options, **more) for m in (ndimage, sn))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_derivatives_of_windows() -> None:
    def f(x: Any, weight: Any) -> Any:
        return ndimage.generic_filter(x, lambda w: roughness(w, weight), size=(2, 3))

    check_all(f, (X, np.array(1.3)), only=CHECKS).raise_if_failed()


@pytest.mark.parametrize("mode", MODES)
def test_sums_along_axes_are_scipys(mode: str) -> None:
    for axes in (None, (0,), (1, 0)):
        for name, way in (("generic_laplace", "prewitt"), ("generic_gradient_magnitude", "sobel")):
            found, expected = (
                getattr(m, name)(X, getattr(m, way), mode=mode, cval=0.4, axes=axes)
                for m in (ndimage, sn)
            )
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    for g in (ndimage.generic_laplace, ndimage.generic_gradient_magnitude):
        check_all(
            lambda x, g=g: g(x, ndimage.sobel, mode=mode), (X,), only=CHECKS
        ).raise_if_failed()


MISTAKES = [
    (lambda: ndimage.generic_filter(X, roughness), "need size="),
    (lambda: ndimage.generic_filter(X, lambda w: w, size=2), "need a number"),
    (lambda: ndimage.generic_filter(X, roughness, 2, output=X), "output="),
    (lambda: ndimage.generic_laplace(X, 3), "generic_laplace"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_mistakes_with_generic_filters(call: Any, words: str) -> None:
    with pytest.raises(FuncgradError, match=words):
        call()


def test_empty_images() -> None:
    assert ndimage.generic_filter(np.zeros((0, 3)), roughness, size=2).shape == (0, 3)
    slope = funcgrad.grad(lambda x: ndimage.generic_filter(x, roughness, size=2).sum())
    assert slope(np.zeros((0, 3))).shape == (0, 3)
