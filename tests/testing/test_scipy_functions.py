"""What users have: functions of SciPy and NumPy, and functions of their own, at default settings."""

from __future__ import annotations

import importlib
import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import funcgrad
import funcgrad.scipy.linalg as fsl
import funcgrad.scipy.special as fss
from funcgrad.errors import ArgumentError
from funcgrad.testing import GradientError, check_all, check_grads, given_gradients

sp = pytest.importorskip("scipy.special")

X = np.array([0.3, 0.55, 1.2])
P = np.array([0.2, 0.3, 0.5])
Q = P[::-1].copy()
T = np.array([-0.8, 0.25, 1.1])  # of both signs
A = np.array([[2.0, 0.5, -0.3], [0.4, 1.5, 0.2], [-0.6, 0.1, 1.8]])
B = np.array([[0.5, -1.0], [0.3, 0.8], [1.1, 0.4]])
DATA = np.array([[0.3, -0.9, 1.4, 0.2], [1.1, 0.6, -0.5, 0.8]])
TURN = 1 + 0.3j  # makes complex numbers of real ones


class Subject(NamedTuple):
    """A function, where it is checked, and the dtypes that make sense."""

    f: Callable[..., Any]
    args: tuple[np.ndarray, ...]
    dtypes: str = "df"
    label: str = ""

    @property
    def name(self) -> str:
        return self.label or self.f.__name__


SPECIAL = [
    Subject(sp.beta, (X, X + 1)),
    Subject(sp.betaln, (X, X + 1)),
    Subject(sp.cbrt, (X,)),
    Subject(sp.digamma, (X,)),
    Subject(sp.entr, (P,)),
    Subject(sp.erf, (T,)),
    Subject(sp.erfc, (T,)),
    Subject(sp.erfcx, (T,)),
    Subject(sp.erfinv, (P,)),
    Subject(sp.erfcinv, (P,)),
    Subject(sp.exp2, (T,)),
    Subject(sp.expit, (T,)),
    Subject(sp.expm1, (T,)),
    Subject(sp.gamma, (X,)),
    Subject(sp.gammaln, (X,)),
    Subject(sp.i0, (T,)),
    Subject(sp.i0e, (T,)),
    Subject(sp.i1, (T,)),
    Subject(sp.i1e, (T,)),
    Subject(sp.kl_div, (P, Q)),
    Subject(sp.rel_entr, (P, Q)),
    Subject(sp.log1p, (X,)),
    Subject(sp.log_expit, (T,)),
    Subject(sp.log_ndtr, (T,)),
    Subject(sp.logit, (P,)),
    Subject(sp.ndtr, (T,)),
    Subject(sp.ndtri, (P,)),
    Subject(sp.xlog1py, (T, X)),
    Subject(sp.xlogy, (T, X)),
    Subject(lambda r: sp.huber(1.0, r), (T,), label="huber"),
    Subject(lambda r: sp.pseudo_huber(1.0, r), (T,), label="pseudo_huber"),
    Subject(fss.logsumexp, (T,)),
    Subject(fss.softmax, (T,)),
    Subject(fss.log_softmax, (T,)),
    Subject(lambda a: fss.multigammaln(a, 2), (np.array(3.2),), label="multigammaln"),
    Subject(lambda x: fss.polygamma(1, x), (X,), label="polygamma"),
    Subject(fsl.solve_triangular, (A, B), "dfD"),
]

NUMPY = [
    Subject(np.cov, (DATA,), "dfD"),
    Subject(np.corrcoef, (DATA,)),
    Subject(np.mean, (DATA,), "dfD"),
    Subject(np.var, (DATA,), "dfD"),
    Subject(np.std, (DATA,)),
    Subject(np.median, (DATA,)),
    Subject(np.sort, (DATA,)),
    Subject(np.ptp, (DATA,)),
    Subject(lambda x: np.quantile(x, 0.3, axis=1), (DATA,), label="quantile"),
    Subject(np.average, (DATA,), "dfD"),
    Subject(np.cumsum, (DATA,), "dfD"),
    Subject(np.cumprod, (DATA,), "dfD"),
    Subject(np.diff, (DATA,), "dfD"),
    Subject(np.trapezoid, (DATA,), "dfD"),
    Subject(np.gradient, (T,), "dfD"),
    Subject(np.convolve, (T, Q), "dfD"),
    Subject(np.correlate, (T, Q), "dfD"),
    Subject(np.polyval, (T, X), "dfD"),
    Subject(np.vander, (T,), "dfD"),
    Subject(lambda f: np.interp([0.4, 1.7], [0.0, 1.0, 2.0], f), (T,), "dfD", "interp"),
    Subject(lambda x: np.interp(x, [0.0, 0.5, 2.0], [1.0, -1.0, 3.0]), (X,), label="interp at x"),
    Subject(np.logaddexp, (T, X)),
    Subject(np.hypot, (T, X)),
    Subject(np.arctan2, (T, X)),
    Subject(np.sinc, (T,)),
    Subject(np.unwrap, (4 * T,)),
    Subject(lambda x: np.clip(x, -0.5, 0.5), (T,), label="clip"),
    Subject(np.outer, (T, X), "dfD"),
    Subject(np.kron, (A, B), "dfD"),
    Subject(np.cross, (T, X), "dfD"),
    Subject(lambda a, b: np.einsum("ij,jk->ki", a, b), (A, B), "dfD", "einsum"),
    Subject(np.fft.fft, (T,), "dfD"),
    Subject(lambda x: np.abs(np.fft.rfft(x)) ** 2, (DATA,), label="power spectrum"),
    Subject(np.linalg.det, (A,), "dfD"),
    Subject(np.linalg.slogdet, (A,), "dfD"),
    Subject(np.linalg.inv, (A,), "dfD"),
    Subject(np.linalg.pinv, (B,), "dfD"),
    Subject(np.linalg.solve, (A, B), "dfD"),
    Subject(lambda b: np.linalg.cholesky(np.eye(3) + b @ b.mT.conj()), (B,), "dfD", "cholesky"),
    Subject(lambda a: np.linalg.eigvalsh(a + a.mT.conj()), (A,), "dfD", "eigvalsh"),
    Subject(lambda b: np.linalg.svd(b, compute_uv=False), (B,), "dfD", "singular values"),
    Subject(lambda b: np.linalg.qr(b)[1], (B,), "dfD", "qr"),
    Subject(np.linalg.norm, (B,), "dfD"),
    Subject(lambda a: np.linalg.matrix_power(a, 3), (A,), "dfD", "matrix_power"),
    Subject(lambda a, b: np.linalg.multi_dot([a, a, b]), (A, B), "dfD", "multi_dot"),
    Subject(lambda a, b: np.linalg.lstsq(a, b)[0], (B, DATA.T[:3]), "df", "lstsq"),
]


def cast(args: tuple[np.ndarray, ...], dtype: str) -> tuple[np.ndarray, ...]:
    return tuple((x * TURN if dtype == "D" else x).astype(dtype) for x in args)


# ---------------------------------------------------------------- functions of a user's own


def rosenbrock(x: Any) -> Any:
    """The banana function, any number of dimensions."""
    valley = x[1:] - x[:-1] ** 2
    slope = 1 - x[:-1]
    return np.sum(100 * valley**2 + slope**2)


def mixture(logits: Any, means: Any, log_scales: Any, x: Any) -> Any:
    """The log-likelihood of a mixture of Gaussians; one row of `means` per component."""
    weights = logits - np.log(np.sum(np.exp(logits)))
    total = 0.0
    for point in x:
        densities = []
        for k in range(len(means)):
            z = (point - means[k]) * np.exp(-log_scales[k])
            log_density = -0.5 * np.sum(z**2) - len(point) * (
                log_scales[k] + 0.5 * np.log(2 * np.pi)
            )
            densities.append(weights[k] + log_density)
        terms = np.stack(densities)
        peak = np.max(terms)
        total = total + peak + np.log(np.sum(np.exp(terms - peak)))
    return total


def kalman(transition: Any, noise: Any, observed: Any) -> Any:
    """The log-likelihood of observations of the first two of three states, by Kalman's filter."""
    n = len(transition)
    read = np.eye(2, n, dtype=transition.dtype)
    state = np.zeros(n, transition.dtype)
    spread = np.eye(n, dtype=transition.dtype)
    total = 0.0
    for z in observed:
        state = transition @ state
        spread = transition @ spread @ transition.T + noise[0] ** 2 * np.eye(n, dtype=noise.dtype)
        surprise = z - read @ state
        inner = read @ spread @ read.T + noise[1] ** 2 * np.eye(2, dtype=noise.dtype)
        gain = np.linalg.solve(inner, read @ spread).T
        _, log_volume = np.linalg.slogdet(2 * np.pi * inner)
        total = total - 0.5 * (surprise @ np.linalg.solve(inner, surprise) + log_volume)
        state = state + gain @ surprise
        spread = spread - gain @ read @ spread
    return total


def autoregression(coefficients: Any, log_scale: Any, series: Any) -> Any:
    """The conditional log-likelihood of an AR(2) process."""
    mean, first, second = coefficients
    centred = series - mean
    predicted = first * centred[1:-1] + second * centred[:-2]
    z = (centred[2:] - predicted) / np.exp(log_scale)
    return -0.5 * np.sum(z**2) - z.size * (log_scale + 0.5 * np.log(2 * np.pi))


def pendulum(start: Any, length: Any) -> Any:
    """The angle and its velocity after some steps of Runge and Kutta's method."""

    def slope(y: Any) -> Any:
        return np.stack([y[1], -9.81 / length * np.sin(y[0])])

    y, step = start, 0.05
    for _ in range(6):
        k1 = slope(y)
        k2 = slope(y + step / 2 * k1)
        k3 = slope(y + step / 2 * k2)
        k4 = slope(y + step * k3)
        y = y + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def normal_log_density(x: Any, mean: Any, root: Any) -> Any:
    """Of the multivariate normal distribution whose covariance is ``1 + root @ root^H``."""
    covariance = np.eye(len(mean), dtype=mean.dtype) + root @ root.mT.conj()
    factor = np.linalg.cholesky(covariance)
    z = np.linalg.solve(factor, x - mean)
    half_log_det = np.sum(np.log(np.diagonal(factor)))
    return -0.5 * (z @ z) - half_log_det - 0.5 * len(mean) * np.log(2 * np.pi)


def attention(x: Any, query: Any, key: Any, value: Any) -> Any:
    """Causal attention with one head, a residual connection and layer normalization."""
    q, k, v = x @ query, x @ key, x @ value
    scores = q @ k.T / np.sqrt(q.shape[-1])
    earlier = np.tril(np.ones(scores.shape, bool))
    scores = np.where(earlier, scores, -30.0)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    y = x + weights @ v
    centred = y - np.mean(y, axis=-1, keepdims=True)
    return centred / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + 1e-3)


def transmission(index: Any, thickness: Any) -> Any:
    """The amplitude that a stack of layers lets through: products of matrices, complex by nature."""
    matrix = np.eye(2, dtype=index.dtype)
    for n, d in zip(index, thickness, strict=True):
        phase = 2 * np.pi * n * d
        cos, sin = np.cos(phase), np.sin(phase)
        rows = [np.stack([cos, 1j * sin / n]), np.stack([1j * n * sin, cos])]
        matrix = matrix @ np.stack(rows)
    admittance = matrix @ np.array([1.0, 1.5])
    return 2 / (admittance[0] + admittance[1])


OWN = [
    Subject(rosenbrock, (T,), "dfD"),
    Subject(mixture, (T[:2], B[:2], X[:2], DATA.T)),
    Subject(kalman, (A / 3, np.array([0.4, 0.7]), DATA.T)),
    Subject(autoregression, (np.array([0.1, 0.6, -0.3]), np.array(-0.2), DATA.ravel()), "dfD"),
    Subject(pendulum, (np.array([0.8, -0.3]), np.array(1.3)), "dfD"),
    Subject(normal_log_density, (T, X, B), "dfD"),
    Subject(attention, (A, A, A.T.copy(), A - 1)),
    Subject(transmission, (X + 1, P), "dfD"),
]


# ---------------------------------------------------------------- what cannot be traced


class Refused(NamedTuple):
    """A function of SciPy's in a package, its arguments, and what the error says to use instead."""

    path: str
    args: tuple[Any, ...]
    instead: str


FORMULA = "use its formula in NumPy's functions, or bring a rule for it with custom_rule"
RULE = "has no derivative rule here; wrap it with funcgrad.custom_rule"
REFUSED = [
    Refused("scipy.special.logsumexp", (X,), "use funcgrad.scipy.special.logsumexp"),
    Refused("scipy.special.softmax", (X,), "use funcgrad.scipy.special.softmax"),
    Refused("scipy.special.log_softmax", (X,), "use funcgrad.scipy.special.log_softmax"),
    Refused("scipy.special.multigammaln", (3.2, 2), "use funcgrad.scipy.special.multigammaln"),
    Refused("scipy.special.polygamma", (1, X), "use funcgrad.scipy.special.polygamma"),
    Refused("scipy.special.comb", (X, 2), "use funcgrad.scipy.special.comb"),
    Refused("scipy.special.kolmogorov", (X,), RULE),
    Refused("scipy.special.mathieu_a", (1, X), RULE),
    Refused("scipy.special.itairy", (X,), RULE),
    Refused("scipy.special.mathieu_b", (1, X), RULE),
    Refused("scipy.linalg.det", (A,), "use funcgrad.scipy.linalg.det"),
    Refused("scipy.linalg.inv", (A,), "use funcgrad.scipy.linalg.inv"),
    Refused("scipy.linalg.solve", (A, B), "use funcgrad.scipy.linalg.solve"),
    Refused("scipy.linalg.expm", (A,), "use funcgrad.scipy.linalg.expm"),
    Refused("scipy.optimize.rosen", (X,), "use funcgrad.scipy.optimize.rosen"),
    Refused("scipy.integrate.trapezoid", (X,), "use funcgrad.scipy.integrate.trapezoid"),
    Refused("scipy.integrate.simpson", (X,), "use funcgrad.scipy.integrate.simpson"),
    Refused("scipy.signal.fftconvolve", (X, P), "use funcgrad.scipy.signal.fftconvolve"),
    Refused("scipy.signal.medfilt", (X,), "use funcgrad.scipy.signal.medfilt"),
    Refused("scipy.stats.zscore", (X,), "use funcgrad.scipy.stats.zscore"),
    Refused("scipy.stats.norm.logpdf", (X,), "use funcgrad.scipy.stats.norm.logpdf"),
    Refused("scipy.stats.poisson.pmf", (2, X), "use funcgrad.scipy.stats.poisson.pmf"),
    Refused("scipy.stats.multivariate_normal.pdf", (X,), "multivariate_normal.pdf (at"),
    Refused("scipy.stats.gaussian_kde", (X,), "use funcgrad.scipy.stats.gaussian_kde (at"),
    Refused("scipy.stats.nct.pdf", (X, 2.0, 1.0), FORMULA),
    Refused("scipy.stats.pearsonr", (X, P), "use funcgrad.scipy.stats.pearsonr"),
]


@pytest.mark.parametrize("refused", REFUSED, ids=lambda r: r.path)
def test_what_cannot_be_traced_is_named(refused: Refused) -> None:
    scipy, package, *names = refused.path.split(".")
    module = importlib.import_module(f"{scipy}.{package}")
    f = operator.attrgetter(".".join(names))(module)
    report = check_all(f, refused.args)
    assert not report.ok
    assert [o.name for o in report.outcomes] == ["differentiable"]
    detail = report["differentiable"].detail
    assert detail.startswith(f"HandoverError: {refused.path}")
    assert refused.instead in detail
    assert "gradients of" in str(report)
    assert "there are none" in str(report)


def forgets(x: Any) -> None:
    np.sin(x)


@pytest.mark.parametrize("f", [forgets, lambda x: 3.0, lambda x: math.sin(x[0])])
def test_no_array_to_differentiate_is_no_success(f: Any) -> None:
    with pytest.raises(
        GradientError, match=r"differentiable  failed: (the results hold no|Handov)"
    ):
        check_grads(f, (X,))


def test_integers_have_no_derivatives() -> None:
    report = check_all(lambda x: np.argmax(x), (X,))
    assert report.ok
    assert report["differentiable"].status == "skipped"


def test_a_wrong_dtype_is_no_missing_term() -> None:
    @funcgrad.custom_jvp
    def sine(x: Any) -> Any:
        return np.sin(x)

    sine.defjvp(lambda primals, tangents: (sine(*primals), tangents[0] * np.float64(1)))
    detail = check_all(sine, (X.astype(np.float32),), only=["types"])["types"].detail
    assert detail.endswith("is f64[3], need f32[3]")


def test_arguments_are_a_tuple() -> None:
    with pytest.raises(ArgumentError, match=r"as in \(x,\); found ndarray"):
        check_all(np.sin, X)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"@given_gradients\(x="):
        given_gradients(forgets)


# ---------------------------------------------------------------- the tests


def in_every_dtype(subjects: list[Subject]) -> Any:
    cases = [(s, dtype) for s in subjects for dtype in s.dtypes]
    ids = [f"{s.name}-{np.dtype(dtype)}" for s, dtype in cases]
    return pytest.mark.parametrize(("subject", "dtype"), cases, ids=ids)


@in_every_dtype([*SPECIAL, *NUMPY, *OWN])
def test_default_settings_pass(subject: Subject, dtype: str) -> None:
    report = check_all(subject.f, cast(subject.args, dtype))
    assert report.ok, str(report)
    assert {"transpose", "numerical"} <= {o.name for o in report.outcomes if o.status == "passed"}
