"""Shapes up to a similarity and great circles beside SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.scipy.spatial as fss
from funcgrad.errors import FuncgradError
from funcgrad.testing import check_all

ss = pytest.importorskip("scipy.spatial")

CHECKS = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]


def unit(x: Any) -> Any:
    return x / np.sqrt((x * x).sum())


@given(n=st.integers(2, 8), d=st.integers(1, 4), seed=st.integers(0, 99))
def test_shapes_are_scipys(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n, d))
    found, expected = fss.procrustes(a, b), ss.procrustes(a, b)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(found[2], expected[2], atol=1e-12)
    if n > d:  # else there are several best turns
        np.testing.assert_allclose(found[1], expected[1], atol=1e-8)


def test_shapes_do_not_see_similarities() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 6, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    whole = fss.procrustes(a, b)[2]
    np.testing.assert_allclose(fss.procrustes(a, 3.0 * b @ turn + 1.0)[2], whole, rtol=1e-12)
    np.testing.assert_allclose(fss.procrustes(0.1 * a - 2.0, b)[2], whole, rtol=1e-12)
    check_all(fss.procrustes, (a, b), only=CHECKS).raise_if_failed()


@given(
    d=st.integers(2, 5),
    seed=st.integers(0, 99),
    t=st.lists(st.floats(-1.0, 2.0), max_size=4),
)
def test_circles_are_scipys(d: int, seed: int, t: list[float]) -> None:
    a, b = map(unit, np.random.default_rng(seed).normal(size=(2, d)))
    for places in (np.array(t), 0.3):
        found, expected = (m.geometric_slerp(a, b, places) for m in (fss, ss))
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-3, 0.7, 1.5, 3.0])
def test_derivatives_of_circles(apart: float) -> None:
    rng = np.random.default_rng(1)
    a = unit(rng.normal(size=3))
    b = unit(rng.normal(size=3) * np.array([1.0, 1.0, 1.0]))
    b = np.cos(apart) * a + np.sin(apart) * unit(b - (a @ b) * a)

    def f(x: Any, y: Any, t: Any) -> Any:
        return fss.geometric_slerp(unit(x), unit(y), t)

    only = CHECKS if apart < 2.0 else CHECKS[:-1]
    check_all(f, (a, b, np.array([0.0, 0.4, 1.0])), only=only).raise_if_failed()
    speed = funcgrad.jacfwd(lambda t: fss.geometric_slerp(a, b, t))(0.3)
    np.testing.assert_allclose(np.linalg.norm(speed), apart, atol=1e-12)


E = np.eye(3)
MISTAKES = [
    (lambda: fss.procrustes(E, E[:2]), "one shape"),
    (lambda: fss.procrustes(np.ones((3, 2)), E[:, :2]), "are one"),
    (lambda: fss.geometric_slerp(E[0], E[:2, 0], 0.5), "one length"),
    (lambda: fss.geometric_slerp(2 * E[0], E[1], 0.5), "not on the unit sphere"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_mistakes_with_shapes(call: Any, words: str) -> None:
    with pytest.raises(FuncgradError, match=words):
        call()


def test_opposite_ends_warn() -> None:
    with pytest.warns(UserWarning, match="opposite"), np.errstate(all="ignore"):
        fss.geometric_slerp(E[0], -E[0], 0.5)
