"""SciPy's functions of arrays of another module: values, gradients and programs stay there.

What is not offered there says so.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import funcgrad
from funcgrad.compile import cuda_source
from funcgrad.errors import ArgumentError
from funcgrad.scipy import (
    fft,
    integrate,
    interpolate,
    ndimage,
    optimize,
    signal,
    spatial,
    special,
    stats,
)

pytest.importorskip("scipy")

X = np.array([0.3, 0.8, 1.7, 2.1])
Y = np.array([0.4, -1.1, 0.6, 2.0])
T = np.array([0.0, 0.5, 1.25, 2.0, 3.0])
V = np.array([1.0, 0.2, -0.4, 0.7, 0.3])
IMAGE = np.sin(np.arange(20.0)).reshape(4, 5)
SIGNAL = np.cos(np.arange(16.0) ** 1.3)
POINTS = np.array([[0.1, 0.2], [1.0, -0.3], [0.4, 1.1], [0.9, 0.8]])
PLACE = np.array([0.2, 0.7, 1.9])

# A function of arrays, and the arrays.
WORK: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "stats.norm": (lambda x: stats.norm.logpdf(x, 0.5, 2.0), (X,)),
    "stats.gamma": (lambda x: stats.gamma.logpdf(x, 2.0, scale=3.0), (X,)),
    "stats.gamma of its shape": (lambda a: stats.gamma.logpdf([1.0, 2.0, 0.5, 3.0], a), (X,)),
    "stats.beta": (lambda x: stats.beta.logpdf(0.3 * x, 2.0, 3.0), (X,)),
    "stats.t": (lambda x: stats.t.logpdf(x, 4.0), (X,)),
    "stats.weibull_min": (lambda x: stats.weibull_min.logsf(x, 1.5), (X,)),
    "stats.skellam": (lambda mu: stats.skellam.sf(2, mu, 3.0), (X,)),
    "stats.ncx2": (lambda x: stats.ncx2.sf(x, 2.0, 3.0), (X,)),
    "stats.pearson3": (lambda x: stats.pearson3.cdf(x, 0.4), (X,)),
    "stats.poisson, entropy": (lambda mu: stats.poisson.entropy(mu), (X,)),
    "stats.poisson": (lambda mu: stats.poisson.logpmf(2, mu), (X,)),
    "stats.binom": (lambda p: stats.binom.logpmf(2, 5, 0.3 * p), (X,)),
    "stats.truncnorm": (lambda x: stats.truncnorm.logpdf(x, -1.0, 4.0), (X,)),
    "stats.multivariate_normal": (stats.multivariate_normal.logpdf, (POINTS, X[:2], np.eye(2))),
    "stats.gaussian_kde": (lambda x: stats.gaussian_kde(x)(0.5), (X,)),
    "stats.rankdata": (stats.rankdata, (Y,)),
    "stats.energy_distance": (stats.energy_distance, (X, Y)),
    "stats.tmean": (lambda x: stats.tmean(x, (0.5, 2.0)), (X,)),
    "stats.trim_mean": (lambda x: stats.trim_mean(x, 0.25), (X,)),
    "special.elliprf": (lambda x: special.elliprf(x, 1.0, 2.0), (X,)),
    "special.gdtr": (lambda x: special.gdtr(1.0, 2.0, x), (X,)),
    "fft.fht": (lambda x: fft.fht(x, 0.5, 0.0), (X,)),
    "fft.dct": (fft.dct, (X,)),
    "integrate.trapezoid": (integrate.trapezoid, (X,)),
    "integrate.trapezoid at places": (integrate.trapezoid, (V, T)),
    "integrate.simpson": (lambda y: integrate.simpson(y, dx=0.5), (V,)),
    "integrate.cumulative_simpson": (lambda y: integrate.cumulative_simpson(y, initial=0), (V,)),
    "integrate.fixed_quad": (lambda a: integrate.fixed_quad(np.sin, 0.0, a)[0], (np.array(1.3),)),
    "integrate.odeint": (lambda y: integrate.odeint(lambda y, t: -y * y, y, [0.0, 0.5]), (X,)),
    "integrate.solve_ivp": (
        lambda y, t: integrate.solve_ivp(lambda t, y: -y, (0.0, 3.0), y, t_eval=t).y,
        (X, T),
    ),
    "interpolate.CubicSpline": (lambda x, y, v: interpolate.CubicSpline(x, y)(v), (T, V, PLACE)),
    "interpolate.CubicSpline at a number": (
        lambda x, y: interpolate.CubicSpline(x, y, bc_type="natural")(0.7),
        (T, V),
    ),
    "interpolate.PchipInterpolator": (
        lambda x, y, v: interpolate.PchipInterpolator(x, y)(v),
        (T, V, PLACE),
    ),
    "interpolate.make_interp_spline": (
        lambda x, y, v: interpolate.make_interp_spline(x, y)(v),
        (T, V, PLACE),
    ),
    "interpolate.UnivariateSpline": (
        lambda x, y, v: interpolate.UnivariateSpline(x, y, s=0)(v),
        (T, V, PLACE),
    ),
    "interpolate.interp1d": (lambda x, y, v: interpolate.interp1d(x, y)(v), (T, V, PLACE)),
    "interpolate.RegularGridInterpolator": (
        lambda x, y, v: interpolate.RegularGridInterpolator((x,), y)(v),
        (T, V, PLACE),
    ),
    "interpolate.BarycentricInterpolator": (
        lambda x, y, v: interpolate.BarycentricInterpolator(x, y)(v),
        (T, V, PLACE),
    ),
    "interpolate.RBFInterpolator": (
        lambda p, d, v: interpolate.RBFInterpolator(p, d)(v),
        (POINTS, X, POINTS[:2] + 0.1),
    ),
    "ndimage.gaussian_filter": (lambda x: ndimage.gaussian_filter(x, 0.8), (IMAGE,)),
    "ndimage.uniform_filter": (lambda x: ndimage.uniform_filter(x, 3), (IMAGE,)),
    "ndimage.sobel": (ndimage.sobel, (IMAGE,)),
    "ndimage.correlate": (lambda x: ndimage.correlate1d(x, [1.0, 2.0, 1.0]), (IMAGE,)),
    "ndimage.map_coordinates": (
        lambda x, v: ndimage.map_coordinates(x, v, order=3),
        (IMAGE, np.array([[0.5, 1.2], [2.1, 3.3]])),
    ),
    "ndimage.shift": (lambda x: ndimage.shift(x, 0.3), (IMAGE,)),
    "ndimage.zoom": (lambda x: ndimage.zoom(x, 1.5), (IMAGE,)),
    "ndimage.rotate": (lambda x: ndimage.rotate(x, 30.0, order=1), (IMAGE,)),
    "ndimage.fourier_gaussian": (lambda x: ndimage.fourier_gaussian(x, 1.0), (IMAGE,)),
    "ndimage.center_of_mass": (lambda x: ndimage.center_of_mass(x + 2.0), (IMAGE,)),
    "signal.welch": (lambda x: signal.welch(x, nperseg=8)[1], (SIGNAL,)),
    "signal.stft": (lambda x: signal.stft(x, nperseg=8)[2], (SIGNAL,)),
    "signal.lfilter": (signal.lfilter, (X, np.array([1.0, -0.3]), SIGNAL[:6])),
    "signal.resample_poly": (lambda x: signal.resample_poly(x, 2, 1), (SIGNAL,)),
    "signal.deconvolve": (lambda x, d: signal.deconvolve(x, d)[0], (SIGNAL[:6], X)),
    "signal.hilbert2": (signal.hilbert2, (IMAGE,)),
    "spatial.pdist": (spatial.distance.pdist, (POINTS,)),
    "spatial.squareform": (spatial.distance.squareform, (X[:3],)),
    "spatial.Rotation.apply": (
        lambda r, v: spatial.transform.Rotation.from_rotvec(r).inv().apply(v),
        (X[:3], Y[:3]),
    ),
    "spatial.Rotation.from_euler": (
        lambda a: spatial.transform.Rotation.from_euler("xyz", a).as_matrix(),
        (X[:3],),
    ),
}  # fmt: skip


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    """A number of all results of `f`."""

    def summed(*xs: Any) -> Any:
        found = funcgrad.tree.leaves(f(*xs))
        return sum(np.sum(np.cos(y.real) * y.real) for y in found)

    return summed


@pytest.mark.parametrize("name", WORK)
def test_values_gradients_and_programs(
    name: str, cupy: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_source, "is_worth_it", lambda group: False)
    f, arrays = WORK[name]
    there = tuple(cupy.asarray(x) for x in arrays)
    expected = funcgrad.tree.leaves(f(*arrays))
    for x, y in zip(funcgrad.tree.leaves(f(*there)), expected, strict=True):
        assert type(x) is cupy.ndarray
        np.testing.assert_allclose(x.get(), y, rtol=1e-9, atol=1e-12)
    gradient = funcgrad.grad(total(f), tuple(range(len(arrays))))
    slopes = gradient(*arrays)
    for transform in (gradient, funcgrad.jit(gradient)):
        for x, y in zip(transform(*there), slopes, strict=True):
            assert type(x) is cupy.ndarray
            np.testing.assert_allclose(x.get(), y, rtol=1e-7, atol=1e-10)


# What is not offered there.
REFUSED: dict[str, Callable[[Any], Any]] = {
    "butter": lambda x: signal.butter(2, x[0]),
    "firwin": lambda x: signal.firwin(5, x[0]),
    "lsim": lambda x: signal.lsim(([1.0], [1.0, 1.0]), x, [0.0, 1.0, 2.0, 3.0]),
    "lagrange": lambda x: interpolate.lagrange(x, x),
    "minimize": lambda x: optimize.minimize(lambda p: (p * p).sum(), x),
    "brentq": lambda x: optimize.brentq(lambda p, a: p - a, 0.0, 3.0, (x[0],)),
    "least_squares": lambda x: optimize.least_squares(lambda p: p - 1.0, x),
    "quad": lambda x: integrate.quad(np.sin, 0.0, x[0]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_offered_there_says_so(name: str, cupy: ModuleType) -> None:
    with pytest.raises(ArgumentError, match=f"{name} needs NumPy arrays, found arrays of cupy"):
        REFUSED[name](cupy.asarray(X / 4.0))
