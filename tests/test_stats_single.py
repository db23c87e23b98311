"""`funcgrad.scipy.stats` in single precision: what double precision gives, rounded."""

from __future__ import annotations

import numpy as np
import pytest
from test_stats import AT_CHANCES, AT_PLACES, CONTINUOUS, DISCRETE, ONE, Family

import funcgrad
from funcgrad.scipy import stats

theirs = pytest.importorskip("scipy.stats")

ROUNDING = float(np.finfo(np.float32).eps)
SIZES = [1e-30, 1e-10, 1e-3, 0.1, 0.5, 0.9, 1.0, 2.0, 5.0, 9.0, 15.0, 50.0, 1e3, 1e6, 1e10, 1e20]
CHANCES = [1e-35, 1e-20, 1e-6, 0.1, 0.5, 0.9, 0.999, 1.0 - 2.0**-23]
AT_COUNTS = [*ONE, "cdf", "sf", "logcdf", "logsf"]


def value_and_slopes(f, args):
    """Of one number each, by all arguments."""
    slopes = funcgrad.grad(lambda *a: f(*a).sum(), argnums=tuple(range(len(args))))(*args)
    return np.array([f(*args), *slopes])


@np.errstate(all="ignore")
def compare(family: Family, method: str, x: list[float], shapes: list[float]) -> None:
    ours = getattr(stats, family.name)
    single = [
        np.full(len(x), v, np.float32) if np.ndim(v) == 0 else np.array(v, np.float32)
        for v in (x, *shapes)
    ]
    f = getattr(ours, method)
    found = value_and_slopes(f, single)
    assert found.dtype == np.float32
    expected = value_and_slopes(f, [v.astype(np.float64) for v in single])
    if not ours.single:
        np.testing.assert_array_equal(found, expected.astype(np.float32), err_msg=method)
        return
    room = np.abs(expected) * 4 * ROUNDING + 1e-37  # the condition comes on top
    for i in range(len(single)):
        moved = [u.astype(np.float64) for u in single]
        moved[i] = moved[i] * (1 + ROUNDING)
        room = room + 64 * np.abs(value_and_slopes(f, moved) - expected)
    known = np.isfinite(expected) & (np.abs(expected) < 1e37)
    assert (np.abs(found - expected)[known] <= room[known]).all(), method


@pytest.mark.parametrize("family", CONTINUOUS, ids=lambda f: f.name)
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_densities_and_probabilities_in_single_precision(family: Family, share: float) -> None:
    shapes = [low + (high - low) * share for low, high in family.shapes]
    centre = np.float32(getattr(theirs, family.name).median(*shapes))
    x = [float(centre), *SIZES, *[-v for v in SIZES]]
    for method in AT_PLACES + AT_CHANCES:
        if method not in family.without.split():
            compare(family, method, CHANCES if method in AT_CHANCES else x, shapes)


@pytest.mark.parametrize("family", DISCRETE, ids=lambda f: f.name)
def test_probabilities_of_counts_in_single_precision(family: Family) -> None:
    shapes = [0.5 * (low + high) for low, high in family.shapes]
    for method in AT_COUNTS:
        if method not in family.without.split():
            compare(family, method, [0.0, 1.0, 3.0, 40.0, 1e3], shapes)


def test_turns_do_not_change_their_sign() -> None:
    """Twice pi is larger in single precision, and the angle of `sf` went once around."""
    x = np.array([0.0, 1e-30, 1e-8], np.float32)
    np.testing.assert_array_equal(stats.wrapcauchy.sf(x, np.float32(0.14)), 1.0)


def test_many_shares_in_single_precision() -> None:
    """Logarithms of gamma functions of thousands cancel."""
    x = np.array([0.2, 0.3, 0.5], np.float32)
    alpha = np.array([2000.0, 3000.0, 5010.0], np.float32)
    for f, args in (
        (stats.dirichlet.logpdf, (x, alpha)),
        (stats.dirichlet.pdf, (x, alpha)),
        (stats.dirichlet.entropy, (alpha,)),
    ):
        places = tuple(range(len(args)))
        wide = [v.astype(np.float64) for v in args]
        found = [f(*args), *funcgrad.grad(f, places)(*args)]
        expected = [f(*wide), *funcgrad.grad(f, places)(*wide)]
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == np.float32
            np.testing.assert_allclose(one, other, rtol=2 * ROUNDING)
