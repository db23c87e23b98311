"""Splines on grids: `RegularGridInterpolator` and `interpn`, against SciPy, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import interpolate
from funcgrad.testing import check_all

si = pytest.importorskip("scipy.interpolate")
sl = pytest.importorskip("scipy.sparse.linalg")

METHODS = {"slinear": 2, "cubic": 4, "quintic": 6, "pchip": 4}


def table(shape: tuple[int, ...], rest: tuple[int, ...], seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    grid = tuple(np.cumsum(rng.uniform(0.5, 1.0, n)) for n in shape)
    places = np.stack([rng.uniform(p[0] - 0.4, p[-1] + 0.4, (2, 3)) for p in grid], -1)
    places[0, 0] = [p[1] for p in grid]
    return grid, rng.normal(size=(*shape, *rest)), places


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=settings().max_examples // 6)
@given(
    more=st.lists(st.integers(0, 2), min_size=1, max_size=2),
    rest=st.sampled_from([(), (2,)]),
    fill=st.sampled_from([None, np.nan, 3.0]),
    falls=st.booleans(),
    seed=st.integers(0, 99),
)
def test_values_are_scipys(
    method: str, more: list[int], rest: Any, fill: Any, falls: bool, seed: int
) -> None:
    grid, values, places = table(tuple(METHODS[method] + n for n in more), rest, seed)
    if falls:
        grid, values = (grid[0][::-1], *grid[1:]), values[::-1]
    options = {"bounds_error": False, "fill_value": fill, "method": method}
    # SciPy solves by iterations, unless told otherwise.
    exact = {} if method == "pchip" else {"solver": sl.spsolve}
    ours = interpolate.RegularGridInterpolator(grid, values, **options)
    theirs = si.RegularGridInterpolator(grid, values, **options, **exact)
    np.testing.assert_allclose(ours(places), theirs(places), rtol=1e-8, atol=1e-8)
    if method != "pchip":
        nu = tuple(k % 2 for k in range(len(grid)))
        np.testing.assert_allclose(ours(places, nu=nu), theirs(places, nu=nu), rtol=1e-7, atol=1e-7)
    found = funcgrad.jit(lambda v, x: interpolate.interpn(grid, v, x, **options))(values, places)
    np.testing.assert_allclose(found, ours(places), rtol=1e-12, atol=1e-12)
    places[1, 1, 0] = np.nan
    assert np.isnan(ours(places)[1, 1]).all()


@pytest.mark.parametrize("method", METHODS)
def test_derivatives(method: str) -> None:
    n = METHODS[method]
    grid, values, places = table((n + 1, n), (), 3)
    places = np.stack(
        [np.clip(places[0, :, i], p[0] + 0.1, p[-1] - 0.1) for i, p in enumerate(grid)], -1
    )

    def f(p: Any, q: Any, values: Any, places: Any) -> Any:
        return interpolate.interpn((p, q), values, places, method, False, None)

    only = ["types", "finite", "transpose", "numerical", "vmap", "jit", "second order"]
    check_all(f, (*grid, values, places + 0.05), only=only).raise_if_failed()


def test_nu_is_the_derivative() -> None:
    grid, values, _ = table((6, 7), (), 1)
    f = interpolate.RegularGridInterpolator(grid, values, "quintic")
    at = np.array([p[2] + 0.3 for p in grid])
    np.testing.assert_allclose(
        f(at, nu=(0, 1))[0], funcgrad.grad(lambda x: f(x)[0])(at)[1], rtol=1e-10
    )


def test_gradients_by_values_pass_by_places_that_are_nan() -> None:
    grid, values, places = table((4, 4), (), 0)
    places[1, 1, 0] = np.nan
    for method in ("linear", "cubic"):

        def f(v: Any, method: str = method) -> Any:
            found = interpolate.interpn(
                grid, v, places, method, bounds_error=False, fill_value=None
            )
            return found[0].sum()

        assert np.isfinite(funcgrad.grad(f)(values)).all()


def test_mistakes_are_named() -> None:
    grid, values, _ = table((4, 4), (), 0)
    f = interpolate.RegularGridInterpolator(grid, values, "cubic")
    at = np.array([p[1] for p in grid])
    for call, error, text in (
        (lambda: interpolate.interpn(grid, values, at, "quintic"), ShapeError, "at least 6"),
        (lambda: f(at, nu=(1,)), ArgumentError, "order from 0 to 3"),
        (lambda: f(at, nu=(4, 0)), ArgumentError, "order from 0 to 3"),
        (lambda: f(at, "linear", nu=(1, 0)), ArgumentError, "need a spline"),
    ):
        with pytest.raises(error, match=text):
            call()
