"""Splines by FITPACK's names, near values, of two variables, and values at scattered points."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import interpolate as ours
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.interpolate")
CHECKS = ["types", "transpose", "numerical", "jit", "vmap", "second order"]
seeds, degrees = st.integers(0, 10**6), st.integers(1, 5)


def data(seed: int, n: int = 12) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.2, 1.0, n))
    return x, rng.normal(size=n), rng.uniform(0.5, 2.0, n)


def places(x: np.ndarray) -> np.ndarray:
    return np.concatenate([np.linspace(x[0] - 0.5, x[-1] + 0.5, 25), x])


def close(a: Any, b: Any, atol: float = 1e-8) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-7, atol=atol)


@settings(max_examples=30)
@given(seeds, degrees, st.integers(6, 14))
def test_tuples(seed: int, k: int, n: int) -> None:
    x, y, _ = data(seed, n)
    v = places(x)
    a, b = theirs.splrep(x, y, k=k), ours.splrep(x, y, k=k)
    for p, q in zip(a, b, strict=True):
        close(p, q)
    for der in range(k + 1):
        for ext in (0, 1, 3):
            close(theirs.splev(v, a, der, ext), ours.splev(v, b, der, ext), 1e-5)
        for p, q in zip(theirs.splder(a, der), ours.splder(b, der), strict=True):
            close(p, q, 1e-5)
    close(theirs.splint(x[0] - 1, x[3], a), ours.splint(x[0] - 1, x[3], b))
    t, c, m = ours.splantider(b)
    close(theirs.splantider(a)[1][: len(t) - m - 1], c[: len(t) - m - 1])
    close(theirs.spalde(x[2], a), ours.spalde(x[2], b), 1e-6)
    ends = {"xb": x[0] - 0.3, "xe": x[-1] + 0.1}
    close(theirs.splrep(x, y, k=k, **ends)[0], ours.splrep(x, y, k=k, **ends)[0])


@settings(max_examples=30)
@given(seeds, degrees, st.booleans())
def test_classes(seed: int, k: int, boxed: bool) -> None:
    x, y, w = data(seed)
    v, box = places(x), [x[0] - 0.2, x[-1] + 0.4] if boxed else [None, None]
    inner = [x[5] + 0.05, x[7] - 0.05]
    pairs = [
        [m.InterpolatedUnivariateSpline(x, y, bbox=box, k=k) for m in (theirs, ours)],
        [m.LSQUnivariateSpline(x, y, inner, w, bbox=box, k=k) for m in (theirs, ours)],
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's, of too many iterations
        pairs.append([m.UnivariateSpline(x, y, w, k=k, s=4.0) for m in (theirs, ours)])
    for a, b in pairs:
        close(a.get_residual(), b.get_residual(), 1e-6)
        close(a.get_knots(), b.get_knots())
        close(a.get_coeffs(), b.get_coeffs(), 1e-6)
        close(a.derivatives(x[3]), b.derivatives(x[3]), 1e-5)
        close(a.integral(x[0] - 2, x[5]), b.integral(x[0] - 2, x[5]), 1e-6)
        for ext in ("extrapolate", "zeros", "const"):
            close(a(v, ext=ext), b(v, ext=ext), 1e-6)
        close(
            a.antiderivative()(v, ext=3) if k < 5 else 0,
            b.antiderivative()(v, ext=3) if k < 5 else 0,
        )
        a.ext = b.ext = 3
        if k > 1:
            close(a.derivative()(v), b.derivative()(v), 1e-5)


@settings(max_examples=30)
@given(seeds, degrees)
def test_near_values(seed: int, k: int) -> None:
    x, y, w = data(seed)
    t = np.concatenate([[x[0]] * (k + 1), [x[5] + 0.05, x[7] - 0.05], [x[-1]] * (k + 1)])
    z = np.stack([y, y**2])
    for weights in (None, w):
        a, b = (m.make_lsq_spline(x, z, t, k, weights, axis=1) for m in (theirs, ours))
        close(a(x), b(x))
        for lam in (0.0, 0.3, None):
            a, b = (m.make_smoothing_spline(x, y, weights, lam) for m in (theirs, ours))
            close(a(places(x)), b(places(x)))
    a, b = (m.make_interp_spline(x, z, k=k, axis=1) for m in (theirs, ours))
    c, d = (s.insert_knot(x[4] + 0.01, min(k, 2)) for s in (a, b))
    close(c.t, d.t)
    close(c(places(x)), b(places(x)), 1e-5)
    close(d(places(x)), b(places(x)), 1e-5)


def test_derivatives_of_fits() -> None:
    x, y, w = data(3, 9)
    v = np.array([x[0] + 0.1, x[4] + 0.2, x[-1] - 0.3])
    t = np.array([x[4] - 0.05])
    cases = [
        (lambda x, y, v: ours.splev(v, ours.splrep(x, y), 1), (x, y, v)),
        (lambda x, y, v: ours.InterpolatedUnivariateSpline(x, y, k=4)(v), (x, y, v)),
        (lambda x, y, w, t: ours.LSQUnivariateSpline(x, y, t, w)(v), (x, y, w, t)),
        (lambda y, w, lam: ours.make_smoothing_spline(x, y, w, lam)(v), (y, w, np.float64(0.4))),
        (lambda y: ours.splint(v[0], v[1], ours.splrep(x, y)), (y,)),
        (lambda a, b: fnp.stack(ours.splev(v / 10, ours.splprep([a, b], s=0)[0])), (y, w)),
        (lambda u: ours.make_interp_spline(x, y).insert_knot(u).c, (np.float64(x[4] + 0.1),)),
    ]
    for f, args in cases:
        report = check_all(f, args, only=CHECKS)
        assert not report.failures, str(report)
    close(*(np.stack(m.splprep([y, w], s=0)[0][1])[:, :9] for m in (theirs, ours)))


def test_what_has_no_derivative_is_refused() -> None:
    x, y, _ = data(0)
    for f in (
        lambda y: ours.UnivariateSpline(x, y)(1.0),
        lambda y: ours.splev(1.0, ours.splrep(x, y, s=3.0)),
        lambda y: ours.make_smoothing_spline(x, y)(1.0),
        lambda y: ours.RectBivariateSpline(x[:6], x[:6], fnp.outer(y[:6], y[:6]), s=1.0).ev(
            1.0, 1.0
        ),
        lambda y: ours.griddata((y, x), y, (1.0, 1.0)),
    ):
        with pytest.raises(ArgumentError, match="traced"):
            funcgrad.grad(f)(y)
    for f in (
        lambda s: ours.UnivariateSpline(x, y, s=s)(1.0),
        lambda s: ours.RectBivariateSpline(x[:5], x[:5], fnp.outer(y[:5], y[:5]), s=s).ev(1.0, 1.0),
        lambda s: ours.splprep([x, y], s=s)[1][1],
    ):
        with pytest.raises(ArgumentError, match="s="):
            funcgrad.grad(f)(0.5)
    f = ours.UnivariateSpline(x, y)
    slope = funcgrad.grad(f)(x[4] + 0.1)
    close(slope, f.derivative()(x[4] + 0.1))


def test_bad_fits() -> None:
    x, y, w = data(0)
    for call, cause in (
        (lambda: ours.splrep(x[::-1], y), "must rise"),
        (lambda: ours.splrep(x, y, k=6), "k=6; need 1 to 5"),
        (lambda: ours.splrep(x, y, per=1), "per=1 is not supported"),
        (lambda: ours.splrep(x[:3], y[:3]), "more than k=3"),
        (lambda: ours.splrep(x, y[:3]), "the same length"),
        (lambda: ours.splev(0.0, ours.splrep(x, y), 4), "der=4; need 0 to 3"),
        (lambda: ours.splev(0.0, ours.splrep(x, y), ext=2), "beyond"),
        (lambda: ours.splev(0.0, ours.splrep(x, y), ext=7), "ext=7"),
        (lambda: ours.splder(ours.splrep(x, y), 4), "n=4; need at most 3"),
        (lambda: ours.splprep([x, y]), "need s=0"),
        (
            lambda: ours.LSQUnivariateSpline(x, y, x[2] + np.arange(1, 6) / 99),
            "too few",
        ),
        (lambda: ours.LSQUnivariateSpline(x, y, [x[2]], bbox=[x[1], None]), "points are in"),
        (lambda: ours.make_smoothing_spline(x, y, lam=-1.0), "lam=-1"),
        (lambda: ours.make_smoothing_spline(x, y, -w, lam=1.0), "positive"),
        (lambda: ours.make_interp_spline(x, y).insert_knot(x[0] - 1), "need a number from"),
        (lambda: ours.make_interp_spline(x, y).insert_knot(x[2], 0), "m=0"),
        (lambda: ours.RBFInterpolator(x[:, None], y, kernel="no"), "kernel='no'"),
        (lambda: ours.RBFInterpolator(x[:, None], y, kernel="gaussian"), "epsilon"),
        (lambda: ours.RBFInterpolator(x[:, None], y, degree=20), "21 points"),
        (lambda: ours.RBFInterpolator(x, y), "need \\(n, k\\)"),
        (lambda: ours.griddata(x, y, 1.0, "cubic"), "method='cubic'"),
        (lambda: ours.RectBivariateSpline(x, x, y), "z has shape"),
        (lambda: ours.RectBivariateSpline(x[:3], x[:3], np.ones((3, 3))), "degree 3 for 3 points"),
    ):
        with pytest.raises((ArgumentError, ShapeError), match=cause):
            call()


# ---------------------------------------------------------------- two variables


@settings(max_examples=20)
@given(seeds, degrees, degrees, st.booleans())
def test_surfaces(seed: int, kx: int, ky: int, boxed: bool) -> None:
    x, y = data(seed, 8)[0], data(seed + 1, 7)[0]
    z = np.random.default_rng(seed).normal(size=(8, 7))
    box = [x[0] - 0.1, None, None, y[-1] + 0.1] if boxed else [None] * 4
    a, b = (m.RectBivariateSpline(x, y, z, box, kx, ky) for m in (theirs, ours))
    for p, q in zip(a.get_knots(), b.get_knots(), strict=True):
        close(p, q)
    close(a.get_coeffs(), b.get_coeffs(), 1e-5)
    u, v = np.sort(places(x)), np.sort(places(y))
    for dx in range(kx):
        for dy in range(ky):
            close(a(u, v, dx, dy), b(u, v, dx, dy), 1e-3)
            close(a.ev(u[:30], v[:30], dx, dy), b.ev(u[:30], v[:30], dx, dy), 1e-3)
    if min(kx, ky) > 1:
        close(a.partial_derivative(1, 1)(u, v), b.partial_derivative(1, 1)(u, v), 1e-3)
    close(a.integral(u[3], u[9], v[0] - 3, v[9]), b.integral(u[3], u[9], v[0] - 3, v[9]), 1e-5)
    with pytest.raises(ArgumentError, match="fall"):
        b(x[::-1], y)
    with pytest.raises(ArgumentError, match="less than the degrees"):
        b(x, y, kx)


def test_derivatives_of_surfaces() -> None:
    x, y = data(0, 5)[0], data(1, 6)[0]
    z = np.random.default_rng(0).normal(size=(5, 6))
    u, v = np.array([x[0] + 0.1, x[2] + 0.2]), np.array([y[1] + 0.1, y[4] + 0.15])
    for f, args in (
        (lambda z, u, v: ours.RectBivariateSpline(x, y, z)(u, v), (z, u, v)),
        (lambda z, u, v: ours.RectBivariateSpline(x, y, z, kx=2).ev(u, v, 1, 0), (z, u, v)),
        (lambda x, y: ours.RectBivariateSpline(x, y, z).ev(u, v), (x, y)),
    ):
        report = check_all(f, args, only=CHECKS)
        assert not report.failures, str(report)
    smooth = [m.RectBivariateSpline(x, y, z, s=3.0) for m in (theirs, ours)]
    close(smooth[0].ev(u, v), smooth[1].ev(u, v))


# ---------------------------------------------------------------- scattered points

SCALED = ["multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian"]
KERNELS = ["linear", "thin_plate_spline", "cubic", "quintic", *SCALED]


@pytest.mark.parametrize("kernel", KERNELS)
def test_radial_functions(kernel: str) -> None:
    rng = np.random.default_rng(0)
    y, d, x = rng.normal(size=(12, 2)), rng.normal(size=(12, 3)), rng.normal(size=(5, 2))
    options: dict[str, Any] = {"kernel": kernel}
    if kernel in SCALED:
        options["epsilon"] = 1.3
    for more in ({}, {"smoothing": 0.1}, {"smoothing": np.linspace(0.1, 1, 12)}, {"degree": 2}):
        a, b = (m.RBFInterpolator(y, d, **options, **more) for m in (theirs, ours))
        close(a(x), b(x))
        close(a(y), b(y))
    z = d[:, 0] + 1j * d[:, 1]
    close(*(m.RBFInterpolator(y, z, **options)(x) for m in (theirs, ours)))

    def f(y: Any, d: Any, x: Any, s: Any) -> Any:
        return ours.RBFInterpolator(y, d, smoothing=s, **options)(x)

    report = check_all(f, (y[:7], d[:7, :1], x[:2], np.float64(0.1)), only=CHECKS)
    assert not report.failures, str(report)
    slopes = funcgrad.jacrev(lambda x: ours.RBFInterpolator(y, d, **options)(x))(y[:2])
    assert np.isfinite(slopes).all()


def test_triangles_and_nearest_points() -> None:
    rng = np.random.default_rng(0)
    points, x = rng.uniform(size=(20, 2)), rng.uniform(-0.1, 1.1, (6, 4, 2))
    values = rng.normal(size=(20, 3))
    for name in ("LinearNDInterpolator", "NearestNDInterpolator"):
        a, b = (getattr(m, name)(points, values) for m in (theirs, ours))
        close(a(x), b(x))
        close(a(x[..., 0], x[..., 1]), b(x[..., 0], x[..., 1]))
    for method in ("linear", "nearest"):
        for args in (
            (points, values, x),
            ((points[:, 0], points[:, 1]), values[:, 0], (x[0], x[1])),
        ):
            close(*(m.griddata(*args, method) for m in (theirs, ours)))
        close(
            *(
                m.griddata(points[:, 0], values[:, 0], x[..., 0], method, 7.0)
                for m in (theirs, ours)
            )
        )
    inside = np.array([[0.4, 0.5], [0.3, 0.6]])
    report = check_all(
        lambda v, x: ours.griddata(points, v, x), (values[:, 0], inside), only=CHECKS
    )
    assert not report.failures, str(report)
    mesh = pytest.importorskip("scipy.spatial").Delaunay(points)
    close(
        ours.LinearNDInterpolator(mesh, values, 0.0)(inside), ours.griddata(points, values, inside)
    )
    with pytest.raises(ShapeError, match="places have shape"):
        ours.NearestNDInterpolator(points, values)(np.ones(3))


def test_places_on_a_row() -> None:
    """Of any shape, one place too; those that are no numbers, or beyond, are in no derivative."""
    x, y, _ = data(3)
    order = np.random.default_rng(0).permutation(len(x))
    for method in ("linear", "nearest"):
        for v in (x[3] + 0.1, x[3:4] + 0.1, x[:, None] + 0.02, x.reshape(3, 4) + 0.02):
            for args in ((x[order], y[order], v), (x[order, None], y[order], v)):
                found, expected = (m.griddata(*args, method, 7.0) for m in (ours, theirs))
                close(found, expected)
                assert np.shape(found) == np.shape(expected)
    v = np.array([x[2] + 0.1, np.nan, np.inf, x[-1] + 1.0])
    close(ours.griddata(x, y, v, fill_value=7.0), theirs.griddata(x, y, v, fill_value=7.0))
    slopes = funcgrad.grad(lambda y: ours.griddata(x, y, v, fill_value=0.0)[0])(y)
    close(slopes, funcgrad.grad(lambda y: ours.griddata(x, y, v[:1])[0])(y))


@pytest.mark.parametrize("beyond", [np.nan, np.inf, 9.0])
def test_places_beyond_the_triangles_are_in_no_derivative(beyond: float) -> None:
    rng = np.random.default_rng(0)
    points, values = rng.uniform(size=(9, 2)), rng.normal(size=9)
    x = np.array([[0.4, 0.5], [beyond, 0.3]])
    f = lambda values, x: fnp.sum(ours.griddata(points, values, x, fill_value=0.0))  # noqa: E731
    for slope, one in zip(
        *(funcgrad.grad(f, argnums=(0, 1))(values, v) for v in (x, x[:1])), strict=True
    ):
        close(slope[: len(one)], one)
        assert np.isfinite(slope).all()


def test_places_at_infinity() -> None:
    x, y, _ = data(1)
    v = np.array([x[2] + 0.1, np.inf])
    f = lambda y, v: fnp.sum(ours.splev(v, ours.splrep(x, y), ext=1))  # noqa: E731
    close(funcgrad.grad(f)(y, v), funcgrad.grad(f)(y, v[:1]))


def test_curves_as_matrices() -> None:
    (t, c, k), u = theirs.splprep(np.random.default_rng(0).normal(size=(3, 9)), s=0)
    for rows in (np.array(c), np.tile(c, (3, 1))):  # of as many rows as columns, too
        close(theirs.splev(u, (t, rows, k)), ours.splev(u, (t, rows, k)))
