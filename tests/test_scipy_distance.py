"""`funcgrad.scipy.spatial.distance` against SciPy, and its derivatives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import spatial
from funcgrad.scipy.spatial import distance
from funcgrad.testing import check_all

theirs = pytest.importorskip("scipy.spatial.distance")

W = np.array([0.5, 2.0, 0.0, 1.0])
VI = np.array([[2.0, 0.3, 0, 0], [0.3, 1, 0, 0.1], [0, 0, 3, 0], [0, 0.1, 0, 1.5]])
METRICS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski")),
    *((name, {}) for name in ("cosine", "correlation", "canberra", "braycurtis")),
    *((name, {"w": W}) for name in ("euclidean", "sqeuclidean", "cityblock", "chebyshev")),
    *((name, {"w": W}) for name in ("cosine", "correlation", "canberra", "braycurtis")),
    *(("minkowski", {"p": p}) for p in (0.5, 1, 2, 3.5, np.inf)),
    *(("minkowski", {"p": p, "w": W}) for p in (1, 2, 3.5, np.inf)),
    ("seuclidean", {"V": W + 0.5}),
    ("mahalanobis", {"VI": VI}),
]
every_metric = pytest.mark.parametrize(("name", "options"), METRICS, ids=str)


def passes(f: Any, args: Any, **options: Any) -> None:
    report = check_all(f, args, **options)
    assert all(o.status != "failed" for o in report.outcomes), str(report)


@st.composite
def rows(draw: Any, most: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Two sets of points, of which some are in both."""
    m, n = draw(st.integers(0, most)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    far = draw(st.sampled_from([0.0, 1.0, 1e3]))
    x, y = far + rng.normal(size=(m, 4)), far + rng.normal(size=(n, 4))
    shared = min(m, n) // 2
    y[:shared] = x[:shared]
    return x, y


@every_metric
@settings(max_examples=settings().max_examples // 4)
@given(case=rows())
def test_values_are_scipys(name: str, options: Any, case: Any) -> None:
    """To rounding; that of SciPy's cosines is larger than their distances may be."""
    x, y = case
    atol = 1e-13 * (1 + np.abs(y).max()) if name not in ("cosine", "correlation") else 4e-9
    for run in (lambda f: f, funcgrad.jit):
        found = run(lambda x, y: distance.cdist(x, y, name, **options))(x, y)
        expected = theirs.cdist(x, y, name, **options)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=atol)
    np.testing.assert_allclose(
        distance.pdist(x, name, **options),
        theirs.pdist(x, name, **options) if len(x) else [],
        rtol=1e-10,
        atol=atol,
    )
    if len(x):
        one, two = getattr(distance, name), getattr(theirs, name)
        found = one(x[0], y[-1], **options)
        np.testing.assert_allclose(found, two(x[0], y[-1], **options), rtol=1e-10, atol=atol)
        np.testing.assert_array_equal(distance.cdist(x, y, one, **options).shape, (len(x), len(y)))


BOOLEAN = ["dice", "jaccard", "hamming", "rogerstanimoto", "russellrao", "sokalsneath", "yule"]


@pytest.mark.parametrize("name", BOOLEAN)
@settings(max_examples=20)
@given(seed=st.integers(0, 999), weighted=st.booleans(), kind=st.sampled_from("?d"))
def test_truth_is_compared_as_scipys(name: str, seed: int, weighted: bool, kind: str) -> None:
    rng = np.random.default_rng(seed)
    x, y = ((rng.random((n, 6)) < 0.5).astype(kind) for n in (3, 4))
    options = {"w": rng.random(6)} if weighted else {}
    with np.errstate(all="ignore"):
        expected = theirs.cdist(x, y, name, **options)
        pairs = theirs.pdist(x, name, **options)
    np.testing.assert_allclose(
        distance.cdist(x, y, name, **options), expected, rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(distance.pdist(x, name, **options), pairs, rtol=1e-12, atol=1e-15)
    if (x[0] + y[0]).any():
        found = getattr(distance, name)(x[0], y[0], **options)
        np.testing.assert_allclose(found, getattr(theirs, name)(x[0], y[0], **options), rtol=1e-12)


@pytest.mark.parametrize("name", BOOLEAN)
def test_parts_of_truth(name: str) -> None:
    rng = np.random.default_rng(4)
    u, v, w = rng.random((3, 5))
    f = getattr(distance, name)
    report = check_all(f, (u, v, w))
    assert all(o.status != "failed" for o in report.outcomes), str(report)


def test_nothing_is_true() -> None:
    none = np.zeros(3)
    assert distance.jaccard(none, none) == distance.yule(none, none) == 0.0
    assert np.isnan(distance.dice(none, none))
    assert np.isnan(distance.cdist(none[None], none[None], "sokalsneath"))
    with pytest.raises(ArgumentError, match="nothing is true"):
        distance.sokalsneath(none, none)


@every_metric
def test_derivatives(name: str, options: Any) -> None:
    """By the points, the weights and the moments."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    arrays = {k: v for k, v in options.items() if not np.isscalar(v)}
    rest = {k: v for k, v in options.items() if np.isscalar(v)}

    def f(x: Any, y: Any, *given: Any) -> Any:
        return distance.cdist(x, y, name, **rest, **dict(zip(arrays, given, strict=True)))

    moving = [v + 0.1 for v in arrays.values()]
    passes(f, (x, y, *moving))
    passes(lambda x: distance.pdist(x, name, **options), (x,))


@every_metric
def test_equal_points(name: str, options: Any) -> None:
    """The distance is 0, and so are its derivatives, by products of matrices, too."""
    for count in (3, 40):
        x = np.random.default_rng(0).normal(size=(count, 4))

        def f(x: Any, y: Any) -> Any:
            d = distance.cdist(x, y, name, **options)
            return d[np.arange(len(x)), np.arange(len(x))].sum()

        np.testing.assert_allclose(f(x, x), 0.0, atol=1e-13)
        np.testing.assert_allclose(funcgrad.grad(f)(x, x), np.zeros_like(x), atol=1e-7)
        assert np.isfinite(funcgrad.grad(lambda x: f(x, x))(x)).all()


def test_weights_of_zero_have_slopes() -> None:
    u, v = np.array([1.0, 2.0]), np.array([2.0, 4.0])
    for name in ("euclidean", "cosine", "cityblock", "minkowski"):
        options = {"p": 3.0} if name == "minkowski" else {}

        def f(w: Any, name: str = name, options: Any = options) -> Any:
            return getattr(distance, name)(u, v + w[1], w=w, **options)

        at, step = np.array([1.0, 0.0]), np.array([0.0, 1e-7])
        slope = (f(at + step) - f(at)) / 1e-7
        np.testing.assert_allclose(funcgrad.grad(f)(at)[1], slope, rtol=1e-5, atol=1e-6)


def test_small_angles_keep_their_digits() -> None:
    """Where one minus the cosine has lost them."""
    for angle in (1e-3, 1e-6, 1e-9):
        u, v = np.array([3.0, 0.0]), np.array([2 * np.cos(angle), 2 * np.sin(angle)])
        np.testing.assert_allclose(distance.cosine(u, v), 2 * np.sin(angle / 2) ** 2, rtol=1e-6)
        slope = funcgrad.grad(lambda a: distance.cosine(u, [funcgrad.numpy.cos(a), np.sin(a)]))  # noqa: B023
        np.testing.assert_allclose(slope(angle), np.sin(angle), rtol=1e-6)


@settings(max_examples=settings().max_examples // 4)
@given(seed=st.integers(0, 999), m=st.integers(6, 30))
def test_moments_of_the_points(seed: int, m: int) -> None:
    """Variances and covariances are those of all points, if they are not given."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(m, 3)), rng.normal(size=(4, 3))
    for name in ("seuclidean", "mahalanobis"):
        found, expected = (d.cdist(x, y, name) for d in (distance, theirs))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        np.testing.assert_allclose(distance.pdist(x, name), theirs.pdist(x, name), rtol=1e-9)
    passes(lambda x: distance.pdist(x, "mahalanobis"), (x[:5, :2],), only=["numerical"])


@given(seed=st.integers(0, 999), base=st.sampled_from([None, 2.0]), axis=st.integers(-2, 1))
def test_entropies(seed: int, base: float | None, axis: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = rng.uniform(size=(2, 3, 4)) * rng.integers(0, 2, size=(2, 3, 4)) + np.eye(3, 4)
    p, q = p + 1e-3 * np.eye(3, 4)[::-1, ::-1], q + 1e-3 * np.eye(3, 4)[::-1, ::-1]
    for keepdims in (False, True):
        arguments = {"axis": axis, "keepdims": keepdims}
        found = distance.jensenshannon(p, q, base, **arguments)
        np.testing.assert_allclose(found, theirs.jensenshannon(p, q, base, **arguments), rtol=1e-9)
    slope = funcgrad.grad(lambda p: distance.jensenshannon(p, q, base, axis=axis).sum())
    assert np.isfinite(slope(p + 0.1)).all()
    assert (funcgrad.grad(lambda p: distance.jensenshannon(p, q[0]))(q[0]) == 0.0).all()
    passes(lambda p, q: distance.jensenshannon(p, q, base), (p + 0.1, q + 0.2), only=["numerical"])


@given(m=st.integers(0, 9), dtype=st.sampled_from("dfi"))
def test_square_forms(m: int, dtype: str) -> None:
    flat = np.arange(1, m * (m - 1) // 2 + 1).astype(dtype)
    square = distance.squareform(flat)
    assert square.dtype == flat.dtype
    np.testing.assert_array_equal(square, theirs.squareform(flat))
    np.testing.assert_array_equal(distance.squareform(square), flat)
    if dtype == "d":
        passes(distance.squareform, (flat,))
        passes(lambda x: distance.squareform(x, "tovector"), (np.ones((m, m)),))


def test_metrics_by_function_and_short_name() -> None:
    x = np.random.default_rng(0).normal(size=(5, 3))

    def largest(u: Any, v: Any, power: int = 1) -> Any:
        return funcgrad.numpy.max(abs(u - v)) ** power

    for metric, name in (("CB", "cityblock"), ("se", "seuclidean"), (distance.cosine, "cosine")):
        np.testing.assert_array_equal(distance.pdist(x, metric), distance.pdist(x, name))
    for f in (distance.pdist, lambda x, *a, **k: distance.cdist(x, x[1:], *a, **k)):
        np.testing.assert_array_equal(f(x, largest, power=2), f(x, "chebyshev") ** 2)
    x32 = x.astype(np.float32)
    assert distance.pdist(x32).dtype == distance.cdist(x32, x32, "cosine").dtype == np.float32
    out = np.zeros(10)
    assert distance.pdist(x, out=out) is out and out[0] == distance.euclidean(x[0], x[1])


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: distance.euclidean([1.0], [1.0, 2.0]), ShapeError, "two vectors of one length"),
    (lambda: distance.cityblock([1.0], [2.0], [-1.0]), ArgumentError, "must not be negative"),
    (lambda: distance.cdist([[1.0]], [[2.0]], w=[-1.0]), ArgumentError, "must not be negative"),
    (lambda: distance.cosine([1j], [1.0]), ArgumentError, "cosine: needs real numbers"),
    (lambda: distance.euclidean([1.0], [1.0], [1.0, 2.0]), ShapeError, r"w is .*need the shape"),
    (lambda: distance.minkowski([1.0], [1.0], 0.0), ArgumentError, "must be greater than 0"),
    (lambda: distance.cdist(np.ones((2, 2)), np.ones((2, 3))), ShapeError, "rows of one length"),
    (lambda: distance.pdist(np.ones(3)), ShapeError, "need a matrix"),
    (
        lambda: distance.pdist(np.ones((3, 2)), "kulsinski"),
        ArgumentError,
        "metric='kulsinski'; there are",
    ),
    (lambda: distance.pdist(np.ones((3, 2)), p=3), ArgumentError, "euclidean has no p="),
    (lambda: distance.pdist(np.ones((2, 3)), "mahalanobis"), ShapeError, "is singular"),
    (lambda: distance.squareform(np.ones(2)), ShapeError, "squareform: X is"),
    (lambda: distance.squareform(np.ones(3), "tovector"), ShapeError, "force='tovector'"),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED, ids=[m for _, _, m in REFUSED])
def test_what_does_not_fit_is_refused(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


# ---------------------------------------------------------------- of tables

POWERS = [1, 2, 2.5, np.inf]


@given(seed=st.integers(0, 99), p=st.sampled_from(POWERS), k=st.integers(1, 4))
def test_tables_are_scipys(seed: int, p: float, k: int) -> None:
    own = pytest.importorskip("scipy.spatial")
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(3, k)), rng.normal(size=(5, k))
    for name, args in (
        ("distance_matrix", (x, y)),
        ("minkowski_distance", (x[:, None], y)),
        ("minkowski_distance_p", (x[:, None], y)),
    ):
        found = getattr(spatial, name)(*args, p)
        with warnings.catch_warnings():  # SciPy 1.18 would have `cdist` called
            warnings.simplefilter("ignore", DeprecationWarning)
            expected = getattr(own, name)(*args, p)
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("p", POWERS)
def test_derivatives_of_tables(p: float) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    for name in ("distance_matrix", "minkowski_distance", "minkowski_distance_p"):
        passes(lambda x, y, name=name: getattr(spatial, name)(x, y, p), (x, y))
        slope = funcgrad.grad(lambda x, name=name: getattr(spatial, name)(x, y, p).sum())(y)
        assert np.isfinite(slope).all()


def test_tables_that_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"p=0\.5"):
        spatial.minkowski_distance([1.0], [2.0], 0.5)
    with pytest.raises(ArgumentError, match="p="):
        funcgrad.grad(lambda p: spatial.distance_matrix([[1.0]], [[2.0]], p).sum())(2.0)
    with pytest.raises(ArgumentError, match="real numbers"):
        spatial.minkowski_distance_p([1j], [2.0])
    with pytest.raises(ShapeError, match="rows of one length"):
        spatial.distance_matrix(np.ones((2, 2)), np.ones((2, 3)))
