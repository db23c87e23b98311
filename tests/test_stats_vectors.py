"""Distributions of vectors in `funcgrad.scipy.stats`, against SciPy and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy import stats
from funcgrad.testing import check_all
from funcgrad.testing.strategies import arrays, floats, positive, spd

theirs = pytest.importorskip("scipy.stats")

CHECKS = ["types", "transpose", "numerical", "jit", "second order"]


def same(found: Any, expected: Any, rtol: float = 1e-11) -> None:
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-13)


# ---------------------------------------------------------------- matrices


def points_and_matrix(n: int, kind: str, data: Any) -> tuple[Any, Any, Any]:
    """Points, a centre and a matrix: a full one, its diagonal or a number."""
    lead = data.draw(st.sampled_from([(), (1,), (4,), (2, 3)]))
    x = data.draw(arrays((*lead, n), domain=floats(-2.0, 2.0)))
    centre = data.draw(arrays(n, domain=floats(-1.0, 1.0)))
    matrix = data.draw(spd(n)) + 0.1 * np.eye(n)
    return x, centre, {"full": matrix, "diagonal": np.diag(matrix), "number": 0.7}[kind]


@pytest.mark.parametrize("kind", ["full", "diagonal", "number"])
@given(n=st.integers(1, 4), data=st.data())
def test_values_by_a_matrix_are_scipys(kind: str, n: int, data: Any) -> None:
    x, centre, matrix = points_and_matrix(n, kind, data)
    ours, his = stats.multivariate_normal, theirs.multivariate_normal
    same(ours.logpdf(x, centre, matrix), his.logpdf(x, centre, matrix), 1e-9)
    same(ours(centre, matrix).pdf(x), his(centre, matrix).pdf(x), 1e-9)
    same(ours.entropy(centre, matrix), his.entropy(centre, matrix))
    for df in (0.7, 5.0, np.inf):
        t, his_t = stats.multivariate_t, theirs.multivariate_t
        same(t.logpdf(x, centre, matrix, df), np.squeeze(his_t.logpdf(x, centre, matrix, df)), 1e-9)
        entropy = his_t(centre, matrix, df).entropy()  # of shape (1,) for one component
        same(t(centre, matrix, df).entropy(), np.squeeze(entropy), 1e-9)


@pytest.mark.parametrize("kind", ["full", "diagonal", "number"])
def test_derivatives_by_a_matrix(kind: str) -> None:
    centre = np.array([0.2, -0.5, 1.0])
    full = np.array([[2.0, 0.3, -0.4], [0.3, 1.0, 0.1], [-0.4, 0.1, 1.5]])
    matrix = {"full": full, "diagonal": np.diag(full), "number": np.array(0.7)}[kind]
    x = np.array([[0.1, 0.4, 0.7], [-1.0, 0.5, 0.2]])

    def f(x: Any, centre: Any, matrix: Any, df: Any) -> Any:
        matrix = 0.5 * (matrix + matrix.T) if kind == "full" else matrix
        normal = stats.multivariate_normal(centre, matrix)
        student = stats.multivariate_t(centre, matrix, df)
        rows = [normal.logpdf(x), normal.pdf(x), student.logpdf(x)]
        alone = [normal.entropy(), student.entropy()]
        return fnp.concatenate([*rows, fnp.stack(alone)])

    report = check_all(f, (x, centre, matrix, np.array(3.5)), only=[*CHECKS, "vmap"])
    assert all(o.status == "passed" for o in report.outcomes), str(report)


@given(n=st.integers(1, 4), rank=st.integers(0, 4), data=st.data())
def test_singular_matrices_are_scipys(n: int, rank: int, data: Any) -> None:
    rank = min(rank, n)
    root = np.random.default_rng(data.draw(st.integers(0, 99))).normal(size=(n, rank))
    cov, centre = root @ root.T, np.arange(n) * 0.3
    z = data.draw(arrays((3, rank), domain=floats(-2.0, 2.0)))
    x = np.concatenate([centre + z @ root.T, np.ones((1, n))])
    if rank:
        args = (centre, cov, True)
        his = np.squeeze(theirs.multivariate_normal.logpdf(x, *args))
        same(stats.multivariate_normal.logpdf(x, *args), his, 1e-6)
        same(
            stats.multivariate_normal(*args).entropy(),
            theirs.multivariate_normal(*args).entropy(),
            1e-8,
        )


def test_derivatives_in_a_range() -> None:
    """As those of the density of what is seen of a vector that has one."""
    rng = np.random.default_rng(2)
    root, z = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))

    def singular(root: Any, z: Any) -> Any:
        normal = stats.multivariate_normal(np.zeros(4), root @ root.T, allow_singular=True)
        return fnp.concatenate([normal.logpdf(z @ root.T), normal.entropy()[None]])

    def regular(root: Any, z: Any) -> Any:
        stretch = 0.5 * fnp.linalg.slogdet(root.T @ root)[1]
        normal = stats.multivariate_normal([0.0, 0.0], np.eye(2))
        return fnp.concatenate([normal.logpdf(z) - stretch, (normal.entropy() + stretch)[None]])

    for t in (
        lambda f: f,
        lambda f: funcgrad.jacrev(f, (0, 1)),
        lambda f: funcgrad.jacfwd(f, (0, 1)),
        lambda f: funcgrad.hessian(f, (0, 1)),
        lambda f: funcgrad.jit(funcgrad.jacrev(f, (0, 1))),
        lambda f: lambda r, z: funcgrad.vmap(f, (0, None))(np.stack([r, 2 * r]), z),
    ):
        for a, b in zip(
            funcgrad.tree.leaves(t(singular)(root, z)),
            funcgrad.tree.leaves(t(regular)(root, z)),
            strict=True,
        ):
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7)


def test_values_of_random_matrices_are_scipys() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3):
        root = rng.normal(size=(5, n, n))
        x = np.moveaxis(root @ np.swapaxes(root, -1, -2) + 0.2 * np.eye(n), 0, -1)
        scale = root[0] @ root[0].T + np.eye(n)
        for name in ("wishart", "invwishart"):
            ours, his = getattr(stats, name), getattr(theirs, name)
            for df, spread in ((n + 0.3, scale), (n + 4.5, np.diag(scale)), (2.0 * n + 5, 0.7)):
                if np.ndim(spread) < 1 and n > 1:
                    continue
                same(ours.logpdf(x, df, spread), his.logpdf(x, df, spread), 1e-10)
                same(ours(df, spread).pdf(x[..., 0]), his(df, spread).pdf(x[..., 0]), 1e-10)
                same(ours.entropy(df, spread), his(df, spread).entropy(), 1e-10)
                if df > n + 3:
                    same(ours.mean(df, spread), his.mean(df, spread), 1e-12)
                    same(ours.var(df, spread), his.var(df, spread), 1e-12)
        x, mean = rng.normal(size=(4, n, 3)), rng.normal(size=(n, 3))
        columns = np.cov(rng.normal(size=(3, 9)))
        ours, his = stats.matrix_normal, theirs.matrix_normal
        for args in (
            (mean, scale, columns),
            (None, scale, columns),
            (mean, 0.7, columns.diagonal()),
        ):
            same(ours.logpdf(x, *args), his.logpdf(x, *args), 1e-10)
            same(ours(*args).pdf(x[0]), his(*args).pdf(x[0]), 1e-10)
            same(ours.entropy(*args), his(*args).entropy(), 1e-10)


def test_derivatives_of_random_matrices() -> None:
    rng = np.random.default_rng(1)
    root, scale = rng.normal(size=(2, 2)), np.array([[1.5, 0.4], [0.4, 0.9]])

    def f(root: Any, scale: Any, df: Any) -> Any:
        x, scale = root @ root.T + 0.3 * np.eye(2), 0.5 * (scale + scale.T)
        found: list[Any] = []
        for name in ("wishart", "invwishart"):
            d = getattr(stats, name)(df, scale)
            found += [d.logpdf(x), d.pdf(x), d.entropy(), d.mean()[0, 1], d.var()[0, 1]]
        normal = stats.matrix_normal(root, x, scale)
        return fnp.stack([*found, normal.logpdf(scale), normal.entropy()])

    report = check_all(f, (root, scale, np.array(6.5)), only=[*CHECKS, "vmap"])
    assert all(o.status == "passed" for o in report.outcomes), str(report)


def test_many_matrices_at_once() -> None:
    matrices = np.stack([np.eye(2), np.array([[2.0, 0.5], [0.5, 1.0]])])
    x, means = np.array([0.3, -0.2]), np.array([[0.0, 0.0], [1.0, -1.0]])
    f = stats.multivariate_normal.logpdf
    alone = [
        theirs.multivariate_normal.logpdf(x, m, c) for m, c in zip(means, matrices, strict=True)
    ]
    same(f(x, means, matrices), alone)
    same(funcgrad.vmap(f, in_axes=(None, 0, 0))(x, means, matrices), alone)
    same(
        stats.multivariate_normal.entropy(means, matrices)[0],
        theirs.multivariate_normal.entropy(means[0]),
    )


# ---------------------------------------------------------------- shares and classes


@given(data=st.data(), k=st.integers(2, 5))
def test_values_of_shares_are_scipys(data: Any, k: int) -> None:
    alpha = data.draw(arrays(k, domain=positive()))
    lead = data.draw(st.sampled_from([(), (3,)]))
    x = data.draw(arrays((k, *lead), domain=positive()))
    x = x / x.sum(0)
    for method in ("logpdf", "pdf"):
        expected = getattr(theirs.dirichlet, method)(x, alpha)
        same(getattr(stats.dirichlet, method)(x, alpha), expected, 1e-10)
        same(getattr(stats.dirichlet(alpha), method)(x[:-1]), expected, 1e-9)
    for method in ("mean", "var", "entropy"):
        same(
            getattr(stats.dirichlet, method)(alpha), getattr(theirs.dirichlet, method)(alpha), 1e-9
        )


@given(data=st.data(), k=st.integers(1, 4))
def test_values_of_classes_are_scipys(data: Any, k: int) -> None:
    p = data.draw(arrays(k, domain=positive()))
    p = p / p.sum()
    x = data.draw(arrays((3, k), domain=floats(-0.4, 3.4)))
    x = np.round(x)
    n = int(abs(x[0]).sum())
    for method in ("logpmf", "pmf"):
        same(
            getattr(stats.multinomial, method)(x, n, p),
            getattr(theirs.multinomial, method)(x.astype(int), n, p),
            1e-9,
        )
    same(stats.multinomial(n, p).mean(), theirs.multinomial.mean(n, p))
    same(stats.multinomial.cov(n, p), theirs.multinomial.cov(n, p))
    assert np.isneginf(stats.multinomial.logpmf(x + 0.5, n, p)).all()
    assert np.isnan(stats.multinomial.logpmf(x, -1, p)).all()


def test_derivatives_of_shares_and_classes() -> None:
    def f(x: Any, alpha: Any) -> Any:
        d = stats.dirichlet(alpha)
        shares = x / x.sum()
        found = [d.logpdf(shares), d.pdf(shares[:-1]), d.entropy(), d.var()[0]]
        counts = stats.multinomial(6, alpha / alpha.sum())
        found += [counts.logpmf([1, 2, 3]), counts.pmf([4, 2, 0]), counts.cov()[0, 1]]
        return fnp.stack(found)

    report = check_all(f, (np.array([0.3, 0.5, 0.9]), np.array([0.7, 1.5, 2.0])), only=CHECKS)
    assert all(o.status == "passed" for o in report.outcomes), str(report)


# ---------------------------------------------------------------- errors


class Refused(NamedTuple):
    call: Callable[[], Any]
    error: type[Exception]
    message: str


M, D, C = stats.multivariate_normal, stats.dirichlet, stats.multinomial
REFUSED = [
    Refused(lambda: M.logpdf([0, 0], cov=np.ones((2, 2))), np.linalg.LinAlgError, "not positive"),
    Refused(lambda: M.logpdf(0.0, cov=-1.0), np.linalg.LinAlgError, "not positive definite"),
    Refused(lambda: M.pdf([0, 0], [0, 0], np.eye(3)), ShapeError, r"need \[2, 2\], \[2\]"),
    Refused(lambda: M.pdf([0, 0, 0], [0, 0]), ShapeError, "need 2 components"),
    Refused(
        lambda: M.logpdf([0, 0], cov=-np.eye(2), allow_singular=True),
        np.linalg.LinAlgError,
        "positive",
    ),
    Refused(lambda: stats.wishart.logpdf(np.eye(2), 1.0, np.eye(2)), ArgumentError, "above 1"),
    Refused(lambda: stats.wishart.logpdf(np.eye(3), 2.0, np.eye(2)), ShapeError, "first"),
    Refused(
        lambda: stats.wishart.logpdf(-np.eye(2), 2.0, np.eye(2)), np.linalg.LinAlgError, "x is"
    ),
    Refused(lambda: stats.wishart.mean(2.0, np.ones((2, 3))), ShapeError, "square"),
    Refused(lambda: stats.invwishart.mean(3.0, np.eye(2)), ArgumentError, "above 3"),
    Refused(lambda: stats.matrix_normal.logpdf(np.eye(3), np.eye(2)), ShapeError, "last"),
    Refused(lambda: stats.matrix_normal.logpdf(np.eye(2), rowcov=np.eye(3)), ShapeError, "last"),
    Refused(lambda: stats.matrix_normal.logpdf(np.eye(2), [1.0]), ShapeError, "a matrix"),
    Refused(lambda: stats.multivariate_t(allow_singular=True), ArgumentError, "allow_singular"),
    Refused(lambda: funcgrad.grad(lambda m: M.rvs(m, 1.0))(0.0), ArgumentError, "funcgrad.random"),
    Refused(lambda: D.pdf([0.5, 0.6], [1.0, 1.0]), ArgumentError, "sum to 1"),
    Refused(lambda: D.pdf([-0.5, 1.5], [1.0, 1.0]), ArgumentError, "at least 0"),
    Refused(lambda: D.pdf([0.5, 0.5], [1.0, 0.0]), ArgumentError, "positive"),
    Refused(lambda: D.pdf([0.5, 0.5], [[1.0, 1.0]]), ShapeError, "one axis"),
    Refused(lambda: D.pdf([0.5], [1.0] * 4), ShapeError, "need 4 or 3"),
    Refused(
        lambda: funcgrad.grad(lambda p: C.logpmf([1, 0], 1, p))(np.ones(2)), ArgumentError, "sum"
    ),
    Refused(lambda: C.logpmf([1, 0, 0], 1, [0.5, 0.5]), ShapeError, "as many classes"),
    Refused(lambda: C.cov([1, 2], [0.5, 0.5]), ShapeError, "one number n"),
]


@pytest.mark.parametrize("refused", REFUSED, ids=lambda r: r.message)
def test_what_does_not_fit_is_refused(refused: Refused) -> None:
    with pytest.raises(refused.error, match=refused.message):
        refused.call()
