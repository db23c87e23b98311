"""Distributions of `funcgrad.random`: their laws, their derivatives by parameters, JAX's streams."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import random
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.testing import check_all

stats = pytest.importorskip("scipy.stats")

KEY = random.PRNGKey(11)
MANY = 4000


class Law(NamedTuple):
    """A function that draws, parameters, and SciPy's distribution of them; how it is differentiated.

    `path`: "inverse", as the inverse distribution function; "smooth", another path; "" for none.
    """

    name: str
    parameters: tuple[float, ...]
    scipy: Callable[..., Any]
    path: str = "inverse"
    inverted: bool = False  # with differences of its own numbers, at a fixed key

    def draw(self, key: Any, *parameters: Any, shape: Any = (), **options: Any) -> Any:
        return getattr(random, self.name)(key, *parameters, shape=shape, **options)


def _double_maxwell(loc: float, scale: float) -> Any:
    class Both:
        def cdf(self, x: Any) -> Any:
            z = (np.asarray(x) - loc) / scale
            return 0.5 + 0.5 * np.sign(z) * stats.maxwell.cdf(np.abs(z))

    return Both()


def _triangular(left: float, mode: float, right: float) -> Any:
    width = right - left
    return stats.triang((mode - left) / width, left, width)


LAWS = [
    Law("cauchy", (), stats.cauchy),
    Law("laplace", (), stats.laplace),
    Law("logistic", (), stats.logistic),
    Law("maxwell", (), stats.maxwell),
    Law("double_sided_maxwell", (0.5, 2.0), _double_maxwell, "smooth", True),
    Law("lognormal", (0.7,), stats.lognorm, "inverse", True),
    Law("pareto", (2.5,), stats.pareto, "inverse", True),
    Law("rayleigh", (1.5,), lambda s: stats.rayleigh(scale=s), "inverse", True),
    Law("weibull_min", (2.0, 1.5), lambda s, c: stats.weibull_min(c, scale=s), "inverse", True),
    Law("triangular", (-1.0, 0.5, 2.0), _triangular, "inverse", True),
    Law("truncated_normal", (-1.0, 2.0), stats.truncnorm, "inverse", True),
    Law("truncated_normal", (5.0, 7.0), stats.truncnorm, "inverse", True),
    Law("wald", (1.5,), stats.invgauss),
    Law("wald", (0.3,), stats.invgauss),
    Law("gamma", (0.3,), stats.gamma),
    Law("gamma", (1.0,), stats.gamma),
    Law("gamma", (7.5,), stats.gamma),
    Law("loggamma", (0.4,), stats.loggamma),
    Law("chisquare", (3.0,), stats.chi2),
    Law("beta", (0.5, 2.0), stats.beta, "smooth"),
    Law("f", (5.0, 12.0), stats.f, "smooth"),
    Law("t", (7.0,), stats.t, "smooth"),
    Law("generalized_normal", (1.3,), stats.gennorm, "smooth"),
]
every_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.name}{law.parameters}")
DIFFERENTIABLE = [law for law in LAWS if law.parameters]
every_smooth_law = pytest.mark.parametrize(
    "law", DIFFERENTIABLE, ids=lambda law: f"{law.name}{law.parameters}"
)

COUNTS = [
    Law("geometric", (0.3,), stats.geom, ""),
    Law("geometric", (0.999,), stats.geom, ""),
    Law("poisson", (0.7,), stats.poisson, ""),
    Law("poisson", (9.0,), stats.poisson, ""),
    Law("poisson", (40.0,), stats.poisson, ""),
    Law("poisson", (1e6,), stats.poisson, ""),
    Law("binomial", (5.0, 0.3), stats.binom, ""),
    Law("binomial", (200.0, 0.02), stats.binom, ""),
    Law("binomial", (90.0, 0.4), stats.binom, ""),
    Law("binomial", (90.0, 0.98), stats.binom, ""),
    Law("binomial", (1e6, 0.7), stats.binom, ""),
]
every_count = pytest.mark.parametrize("law", COUNTS, ids=lambda law: f"{law.name}{law.parameters}")


# ---------------------------------------------------------------- laws


@every_law
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_follow_their_law(law: Law, dtype: str) -> None:
    x = law.draw(KEY, *law.parameters, shape=(MANY,), dtype=dtype)
    assert x.dtype == dtype
    assert stats.kstest(x.astype(float), law.scipy(*law.parameters).cdf).pvalue > 1e-3


@every_count
def test_counts_follow_their_law(law: Law) -> None:
    x = law.draw(KEY, *law.parameters, shape=(MANY,))
    expected = law.scipy(*law.parameters)
    assert np.all(x == np.floor(x))
    edges = np.unique(expected.ppf(np.linspace(0.05, 0.95, 10)))
    share = np.diff(np.concatenate([[0.0], expected.cdf(edges), [1.0]]))
    found = np.bincount(np.searchsorted(edges, x), minlength=len(share))
    keep = share > 1e-12
    assert found[~keep].sum() == 0
    if keep.sum() > 1:
        assert stats.chisquare(found[keep], share[keep] * MANY).pvalue > 1e-3


def test_signs() -> None:
    x = random.rademacher(KEY, (MANY,))
    assert x.dtype == int and set(x.tolist()) == {-1, 1} and abs(x.mean()) < 0.06
    assert random.rademacher(KEY, (2,), "float32").dtype == "float32"


def test_vectors_follow_their_law() -> None:
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.6], [0.6, 1.0]])
    for method in ("cholesky", "eigh", "svd"):
        x = random.multivariate_normal(KEY, mean, cov, (MANY,), method=method)
        z = np.linalg.solve(np.linalg.cholesky(cov), (x - mean).T).ravel()
        assert stats.kstest(z, "norm").pvalue > 1e-3
    alpha = np.array([0.4, 1.0, 2.5])
    x = random.dirichlet(KEY, alpha, (MANY,))
    np.testing.assert_allclose(x.sum(axis=-1), 1.0, rtol=1e-14)
    for i in range(3):
        marginal = stats.beta(alpha[i], alpha.sum() - alpha[i])
        assert stats.kstest(x[:, i], marginal.cdf).pvalue > 1e-3
    q = random.orthogonal(KEY, 3, (MANY,))
    np.testing.assert_allclose(
        q @ np.swapaxes(q, -1, -2), np.tile(np.eye(3), (MANY, 1, 1)), atol=1e-14
    )
    # a coordinate of a point of the sphere in three dimensions is evenly distributed
    assert stats.kstest(q[:, 0, 2], stats.uniform(-1, 2).cdf).pvalue > 1e-3
    for shape in ((2, 5), (5, 2)):
        q = random.orthogonal(KEY, shape[0], m=shape[1])
        assert q.shape == shape
        np.testing.assert_allclose(q @ q.T if shape[0] < 5 else q.T @ q, np.eye(2), atol=1e-15)


@pytest.mark.parametrize("p", [0.7, 1.0, 2.0, 6.0])
def test_balls_are_filled_evenly(p: float) -> None:
    radius = (np.abs(random.ball(KEY, 3, p, (MANY,))) ** p).sum(axis=-1) ** (1 / p)
    assert stats.kstest(radius**3, "uniform").pvalue > 1e-3


def test_multinomial_counts() -> None:
    p = np.array([0.1, 0.4, 0.0, 0.5])
    x = random.multinomial(KEY, 20, p, shape=(MANY, 4))
    np.testing.assert_array_equal(x.sum(axis=-1), 20)
    for i in range(4):
        expected = stats.binom(20, p[i])
        assert abs(x[:, i].mean() - expected.mean()) <= 5 * expected.std() / math.sqrt(MANY)
        assert abs(x[:, i].var() - expected.var()) <= 0.15 * expected.var()
    correlation = np.corrcoef(x[:, 1], x[:, 3])[0, 1]
    assert abs(correlation + math.sqrt(0.4 * 0.5 / (0.6 * 0.5))) < 0.05


@every_law
def test_keys_are_independent(law: Law) -> None:
    one, two = (law.draw(k, *law.parameters, shape=(MANY,)) for k in random.split(KEY))
    ranks = stats.spearmanr(one, two).statistic
    assert abs(ranks) < 4.5 / math.sqrt(MANY)
    assert np.mean(one == two) < 0.01


# ---------------------------------------------------------------- derivatives


def slopes(law: Law, parameters: Any, i: int, x: Any) -> Any:
    """``-(dF/dp) / (dF/dx)`` by differences of SciPy's distribution function."""
    h = 1e-5 * max(1.0, abs(parameters[i]))
    moved = [[*parameters[:i], parameters[i] + s, *parameters[i + 1 :]] for s in (h, -h)]
    low = x < law.scipy(*parameters).median()
    found = []
    for f, sign in (("cdf", 1), ("sf", -1)):  # each where it has its digits
        up, down = (getattr(law.scipy(*m), f)(x) for m in moved)
        found.append(-sign * (up - down) / (2 * h) / law.scipy(*parameters).pdf(x))
    return np.where(low, *found)


@every_smooth_law
def test_derivatives_are_those_of_the_inverse(law: Law) -> None:
    if law.path != "inverse":
        pytest.skip("the path is another one")
    for i in range(len(law.parameters)):

        def draw(p: Any, i: int = i) -> Any:
            at = [*law.parameters[:i], p, *law.parameters[i + 1 :]]
            return law.draw(KEY, *at, shape=(300,))

        x, t = funcgrad.jvp(draw, (law.parameters[i],), (1.0,))
        expected = slopes(law, law.parameters, i, x)
        np.testing.assert_allclose(t, expected, rtol=2e-5, atol=1e-6 * np.abs(expected).max())


MOMENTS: dict[str, Callable[..., Any]] = {
    "double_sided_maxwell": lambda loc, scale: loc**2 + 3 * scale**2,
    "beta": lambda a, b: a * (a + 1) / ((a + b) * (a + b + 1)),
    "f": lambda m, n: n**2 * (m + 2) / (m * (n - 2) * (n - 4)),
    "t": lambda n: n / (n - 2),
    "generalized_normal": lambda p: fnp.exp(
        funcgrad.scipy.special.gammaln(3 / p) - funcgrad.scipy.special.gammaln(1 / p)
    ),
    "gamma": lambda a: a * (a + 1),
    "wald": lambda m: m * m + m**3,
}


@pytest.mark.parametrize("name", MOMENTS)
def test_derivatives_of_expectations(name: str) -> None:
    law = next(law for law in LAWS if law.name == name)
    count = len(law.parameters)

    def square(*p: Any) -> Any:
        return law.draw(KEY, *p, shape=(20_000,)) ** 2

    for i in range(count):
        ts = tuple(float(j == i) for j in range(count))
        _, found = funcgrad.jvp(square, law.parameters, ts)
        expected = funcgrad.grad(MOMENTS[name], argnums=i)(*law.parameters)
        error = found.std() / math.sqrt(found.size)
        assert abs(found.mean() - expected) < 4.5 * error, (found.mean(), expected, error)


def test_derivatives_of_expectations_of_vectors() -> None:
    alpha = np.array([0.7, 1.5, 3.0])
    weights = np.array([1.0, -2.0, 0.5])
    found = funcgrad.jacfwd(lambda a: random.dirichlet(KEY, a, (20_000,)) @ weights)(alpha)
    expected = funcgrad.grad(lambda a: (a @ weights) / fnp.sum(a))(alpha)
    error = found.std(axis=0) / math.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - expected) < 4.5 * error)
    found = funcgrad.jacfwd(lambda p: (random.ball(KEY, 2, p, (20_000,)) ** 2).sum(axis=-1))(2.0)
    h = 1e-3
    exact = (_second_moment(2 + h) - _second_moment(2 - h)) / (2 * h)
    assert abs(found.mean() - exact) < 4.5 * found.std() / math.sqrt(found.size)


def _second_moment(p: float) -> float:
    """Of the length of points of the disc of the p-norm: ``2 E[x^2]``, by Dirichlet's integral."""
    g = math.gamma
    return 2 * g(3 / p) * g(1 + 2 / p) / (g(1 / p) * g(1 + 4 / p))


def test_second_derivatives_by_a_shape() -> None:
    """Against differences of the first ones at a fixed probability."""
    for draw, law, at in (
        (random.gamma, stats.gamma, 0.6),
        (random.gamma, stats.gamma, 4.0),
        (random.wald, stats.invgauss, 0.8),
    ):

        def f(a: Any, draw: Any = draw) -> Any:
            return draw(KEY, a, (50,))

        x = f(at)
        second = funcgrad.jacfwd(funcgrad.jacrev(f))(at)
        low = law.cdf(x, at)
        keep = (low > 0.05) & (low < 0.95)
        h = 1e-3 * at
        ends = [law.ppf(low, at + s) for s in (h, 0.0, -h)]
        expected = (ends[0] - 2 * ends[1] + ends[2]) / (h * h)
        np.testing.assert_allclose(second[keep], expected[keep], rtol=2e-4, atol=2e-4)


def test_small_shapes_have_logarithms() -> None:
    """``P(a, x)`` is nearly ``x**a / gamma(a + 1)``."""
    x, t = funcgrad.jvp(lambda a: random.loggamma(KEY, a, (100,)), (1e-4,), (1.0,))
    assert x.min() < -700
    expected = (funcgrad.scipy.special.digamma(1 + 1e-4) - x) / 1e-4
    np.testing.assert_allclose(t[x < -40], expected[x < -40], rtol=1e-9)
    single = funcgrad.grad(lambda a: fnp.sum(random.gamma(KEY, a, (9,), np.float32)))
    assert np.isfinite(single(np.float32(1e-4)))


@every_smooth_law
def test_derivatives_agree_with_each_other(law: Law) -> None:
    names = ["transpose", "linear", "types", "repeatable", "vmap", "program", "jit"]
    if law.inverted:
        names += ["numerical", "second order"]
    shapes = [(3,), (), (2, 1)]
    args = tuple(np.full(shapes[i % 3], p) for i, p in enumerate(law.parameters))
    report = check_all(lambda *p: law.draw(KEY, *p, shape=(2, 3)), args, only=names)
    assert report.ok, str(report)


@given(a=st.floats(0.05, 30.0), seed=st.integers(0, 1000))
def test_gamma_derivatives_at_any_shape(a: float, seed: int) -> None:
    key = random.PRNGKey(seed)
    x, t = funcgrad.jvp(lambda a: random.loggamma(key, a), (a,), (1.0,))
    if abs(x) < 30:
        expected = slopes(Law("", (), stats.loggamma), (a,), 0, x)
        np.testing.assert_allclose(t, expected, rtol=1e-4)


# ---------------------------------------------------------------- transforms

DRAWS: dict[str, Callable[[Any], Any]] = {
    **{
        f"{law.name}{law.parameters}": lambda key, law=law: law.draw(
            key, *law.parameters, shape=(3,)
        )
        for law in LAWS + COUNTS
        if 1e6 not in law.parameters
    },
    "poisson, both": lambda key: random.poisson(key, np.array([0.5, 20.0, 3.0])),
    "binomial, both": lambda key: random.binomial(key, np.array([9.0, 90.0]), 0.4),
    "multinomial": lambda key: random.multinomial(key, 9, np.array([0.2, 0.3, 0.5])),
    "rademacher": lambda key: random.rademacher(key, (5,)),
    "dirichlet": lambda key: random.dirichlet(key, np.array([0.5, 1.0, 2.0]), (2,)),
    "multivariate_normal": lambda key: random.multivariate_normal(key, np.zeros(2), np.eye(2)),
    "orthogonal": lambda key: random.orthogonal(key, 2),
    "ball": lambda key: random.ball(key, 3, shape=(2,)),
    "clone": random.clone,
}


@pytest.mark.parametrize("name", DRAWS)
def test_transforms_draw_the_same(name: str) -> None:
    draw, keys = DRAWS[name], random.split(KEY, 4)
    expected = np.stack([draw(key) for key in keys])
    np.testing.assert_array_equal(funcgrad.vmap(draw)(keys), expected)
    program = funcgrad.jit(draw)
    for key, y in zip(keys, expected, strict=True):
        np.testing.assert_allclose(program(key), y, rtol=1e-13)


@pytest.mark.parametrize(
    "law", DIFFERENTIABLE + COUNTS, ids=lambda law: f"{law.name}{law.parameters}"
)
def test_vmap_over_parameters_is_the_loop(law: Law) -> None:
    rows = np.array([law.parameters, law.parameters]) * np.array([[1.0], [0.875]])

    def draw(p: Any) -> Any:
        return law.draw(KEY, *p, shape=(3,))

    expected = np.stack([draw(row) for row in rows])
    np.testing.assert_allclose(funcgrad.vmap(draw)(rows), expected, rtol=1e-13)


# ---------------------------------------------------------------- edges and errors


def test_edges() -> None:
    a = np.array([0.0, -1.0, np.nan, np.inf])
    np.testing.assert_array_equal(random.gamma(KEY, a), [0.0, np.nan, np.nan, np.inf])
    lam = np.array([0.0, -1.0, np.nan, np.inf])
    assert random.poisson(KEY, lam).tolist() == [0, -1, -1, -1]
    n = np.array([0.0, -1.0, 3.0, 3.0, 3.0, np.inf, np.nan])
    p = np.array([0.5, 0.5, 0.0, 1.0, 1.5, 0.5, 0.5])
    expected = [0.0, np.nan, 0.0, 3.0, np.nan, np.inf, np.nan]
    np.testing.assert_array_equal(random.binomial(KEY, n, p), expected)
    assert random.geometric(KEY, np.array([1.0, 0.0, 1.5, np.nan])).tolist() == [1, -1, -1, -1]
    far = random.truncated_normal(KEY, 30.0, 31.0, (50,))
    assert np.all((far > 30.0) & (far < 31.0)) and far.mean() < 30.1
    for law in LAWS + COUNTS:
        assert law.draw(KEY, *law.parameters, shape=(0, 2)).shape == (0, 2)
        assert np.shape(law.draw(KEY, *law.parameters)) == ()


def test_keys_as_data() -> None:
    np.testing.assert_array_equal(random.key_data(KEY), KEY)
    for impl in ("threefry2x32", None, random.key_impl(KEY)):
        np.testing.assert_array_equal(random.wrap_key_data(KEY, impl=impl), KEY)
        np.testing.assert_array_equal(random.PRNGKey(7, impl=impl), random.PRNGKey(7))
    np.testing.assert_array_equal(random.bits(KEY, (2,), None), random.bits(KEY, (2,)))
    assert random.clone(KEY) is not KEY


@pytest.mark.parametrize(
    ("call", "error"),
    [
        *[
            (lambda law=law: law.draw(np.zeros(2), *law.parameters), ArgumentError)
            for law in LAWS + COUNTS
        ],
        *[
            (lambda law=law: law.draw(KEY, *law.parameters, dtype=bool), ArgumentError)
            for law in LAWS + COUNTS
        ],
        *[
            (
                lambda law=law: law.draw(KEY, np.ones(4), *law.parameters[1:], shape=(3,)),
                ShapeError,
            )
            for law in DIFFERENTIABLE + COUNTS
        ],
        (lambda: random.gamma(KEY, 1.0 + 1j), ArgumentError),
        (lambda: random.dirichlet(KEY, 1.0), ShapeError),
        (lambda: random.multinomial(KEY, 3, 1.0), ShapeError),
        (lambda: random.multivariate_normal(KEY, np.ones(2), np.eye(3)), ShapeError),
        (lambda: random.multivariate_normal(KEY, 1.0, np.eye(1)), ShapeError),
        (
            lambda: random.multivariate_normal(KEY, np.ones(2), np.eye(2), (), method="lu"),
            ArgumentError,
        ),
        (lambda: random.ball(KEY, 2, np.ones(3)), ShapeError),
        (lambda: random.wrap_key_data(np.zeros(2)), ArgumentError),
        (lambda: random.wrap_key_data(KEY, impl="rbg"), ArgumentError),
        (lambda: random.PRNGKey(7, impl="rbg"), ArgumentError),
        (lambda: random.key_impl(np.zeros(3)), ArgumentError),
    ],
)
def test_errors(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


# ---------------------------------------------------------------- JAX's streams

RECORDED: list[Any] = [  # as JAX 0.10 gives them with 64-bit types enabled
    (("cauchy", ()), [-0.15044679116104437, 3.8551106692819204]),
    (("laplace", ()), [0.09989154600336497, -1.8227829553382275]),
    (("logistic", ()), [-0.1907047599675693, 2.4316919279244527]),
    (("maxwell", ()), [1.6516181129155736, 2.438544773522517]),
    (("double_sided_maxwell", (0.5, 2.0)), [5.869003133810163, 3.677081895411125]),
    (("lognormal", (0.7,)), [0.9197988827549646, 2.664069239313089]),
    (("pareto", (2.5,)), [1.2724365257147499, 2.7356581707382097]),
    (("rayleigh", (1.5,)), [1.889093504709308, 0.61568818072279]),
    (("weibull_min", (2.0, 1.5)), [1.4264445650266144, 3.6996648245142314]),
    (("triangular", (-1.0, 0.5, 2.0)), [0.42692151232357745, 1.3970532348954992]),
    (("truncated_normal", (-1.0, 2.0)), [0.07286427924956798, 1.3476683651396093]),
    (("wald", (1.5,)), [0.11919557763749777, 1.3415548115716247]),
    (("wald", (0.3,)), [0.07742577407610982, 0.2853842915049193]),
    (("gamma", (0.3,)), [0.007270457358196199, 0.06930089785832406]),
    (("gamma", (1.0,)), [0.04223597471236221, 0.4337104640800638]),
    (("gamma", (7.5,)), [3.9023759016899655, 6.326350985218335]),
    (("loggamma", (0.4,)), [-3.9815405983106613, -1.9822316336112837]),
    (("chisquare", (3.0,)), [0.3785944157417969, 1.6957672875580343]),
    (("beta", (0.5, 2.0)), [0.00724440891623757, 0.10850944316967034]),
    (("f", (5.0, 12.0)), [1.4016861572418167, 1.239129150341318]),
    (("t", (7.0,)), [2.2655340386910963, 0.09262288590116732]),
    (("generalized_normal", (1.3,)), [0.18606564885615087, 0.5257677591946256]),
    (("geometric", (0.3,)), [3, 1]),
    (("geometric", (0.999,)), [1, 1]),
    (("poisson", (0.7,)), [1, 0]),
    (("poisson", (9.0,)), [7, 0]),
    (("poisson", (40.0,)), [37, 37]),
    (("binomial", (5.0, 0.3)), [2.0, 3.0]),
    (("binomial", (200.0, 0.02)), [5.0, 7.0]),
    (("binomial", (90.0, 0.4)), [27.0, 35.0]),
    (("binomial", (90.0, 0.98)), [88.0, 87.0]),
]


@pytest.mark.parametrize("name", ["weibull_min", "double_sided_maxwell", "triangular"])
def test_the_shape_is_that_of_the_parameters(name: str) -> None:
    first, *others = (np.full((2, 1), 0.5), np.array([1.0, 1.5, 2.0]), 3.0)
    given = (first, *others) if name == "triangular" else (first, others[0])
    found = getattr(random, name)(KEY, *given)
    np.testing.assert_array_equal(found, getattr(random, name)(KEY, *given, shape=(2, 3)))
    p = others[0]
    np.testing.assert_array_equal(
        random.generalized_normal(KEY, p), random.generalized_normal(KEY, p, (3,))
    )


def test_recorded_values() -> None:
    for (name, parameters), expected in RECORDED:
        found = getattr(random, name)(KEY, *parameters, shape=(2,))
        np.testing.assert_allclose(found, expected, rtol=1e-10, err_msg=name)
    for found, expected in (
        (
            random.dirichlet(KEY, np.array([0.5, 2.0, 1.0])),
            [0.010328133983147681, 0.3776675424535774, 0.612004323563275],
        ),
        (random.ball(KEY, 3, 1.5), [-0.7946205968503102, 0.3729076821226077, -0.09879666231038141]),
        (random.multinomial(KEY, 30, np.array([0.2, 0.5, 0.3])), [6.0, 17.0, 7.0]),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_streams_are_those_of_jax() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True), jax.threefry_partitionable(True):
        key = jax.random.PRNGKey(11)
        cov = np.array([[2.0, 0.5], [0.5, 1.0]])
        draws: dict[str, Callable[..., Any]] = {
            "wald": lambda r, k: r.wald(k, 0.7, (60,)),
            "triangular": lambda r, k: r.triangular(k, -1.0, 0.5, 2.0, (60,)),
            "truncated_normal": lambda r, k: r.truncated_normal(k, -1.0, 2.0, (60,)),
            "loggamma": lambda r, k: r.loggamma(k, np.linspace(0.01, 9.0, 60)),
            "poisson": lambda r, k: r.poisson(k, np.linspace(0.0, 30.0, 60)),
            "rademacher": lambda r, k: r.rademacher(k, (60,)),
            "multivariate": lambda r, k: r.multivariate_normal(k, np.ones(2), cov, (9,)),
            "orthogonal": lambda r, k: r.orthogonal(k, 3, (2,)),
        }
        for name, draw in draws.items():
            found, expected = draw(random, KEY), np.asarray(draw(jax.random, key))
            assert found.dtype == expected.dtype, name
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12, err_msg=name)
