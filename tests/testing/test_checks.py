"""The checks on users' functions: what passes, what fails and what is said about it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad.errors import ArgumentError
from funcgrad.scipy.special import log_softmax, logsumexp
from funcgrad.testing import GradientError, check_all, check_grads
from funcgrad.testing.checks import CHECKS
from funcgrad.testing.explain import suggestion
from funcgrad.testing.kinks import passage
from funcgrad.testing.numerical import central, complex_step, derivative, one_sided

X = np.array([0.5, 1.2, 2.0])
M = np.array([[0.9, -0.4, 0.3], [0.2, 1.1, -0.5], [-0.3, 0.4, 1.3]])


# ---------------------------------------------------------------- what is right


def gaussian_mixture(means: Any, scales: Any, weights: Any, data: Any) -> Any:
    """About thirty lines of plain NumPy, as users write it."""
    terms = []
    for k in range(means.shape[0]):
        z = (data - means[k]) / scales[k]
        log_density = -0.5 * np.sum(z**2, axis=-1) - np.sum(np.log(scales[k]))
        terms.append(log_density + np.log(weights[k] / np.sum(weights)))
    stacked = np.stack(terms)
    highest = np.max(stacked, axis=0)
    total = highest + np.log(np.sum(np.exp(stacked - highest), axis=0))
    penalty = np.sum(np.abs(means)) + np.sum(np.maximum(scales - 1.0, 0.0) ** 2)
    smooth = np.linalg.norm(means, axis=-1).mean()
    return np.mean(total) - 0.01 * penalty + 0.1 * smooth


def test_plain_numpy_code() -> None:
    rng = np.random.default_rng(0)
    args = (rng.normal(size=(2, 3)), rng.uniform(0.5, 2, (2, 3)), np.array([0.3, 0.7]))
    report = check_all(gaussian_mixture, args, {"data": rng.normal(size=(5, 3)).tolist()[0]})
    assert report.ok, str(report)


RIGHT: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (scipy.special.betaln, (X, X + 1)),
    (scipy.special.gammaln, (X,)),
    (scipy.special.expit, (X,)),
    (scipy.special.logit, (X / 3,)),
    (scipy.special.xlogy, (X, X)),
    (scipy.special.entr, (X,)),
    (scipy.special.rel_entr, (X, X[::-1].copy())),
    (scipy.special.log_ndtr, (X,)),
    (scipy.special.erfinv, (X / 3,)),
    (scipy.special.huber, (1.0, X)),
    (logsumexp, (X,)),
    (log_softmax, (X,)),
    (np.linalg.norm, (X,)),
    (np.linalg.solve, (M, X)),
    (np.linalg.slogdet, (M,)),
    (np.interp, (X, np.array([0.0, 1, 2, 3]), np.array([0.0, 1, 4, 9]))),
    (np.median, (X,)),
    (np.convolve, (X, X)),
    (np.fft.fft, (X,)),
    (np.sinc, (X,)),
]


@pytest.mark.parametrize(("f", "args"), RIGHT, ids=lambda x: getattr(x, "__name__", ""))
def test_functions_that_users_would_test(f: Any, args: Any) -> None:
    report = check_all(f, args)
    assert report.ok, str(report)


@pytest.mark.parametrize("f", [scipy.optimize.rosen, scipy.special.logsumexp, scipy.special.itairy])
def test_what_cannot_be_differentiated_is_explained_once(f: Any) -> None:
    report = check_all(f, (X,))
    (failure,) = report.failures
    assert failure.name == "differentiable" and "HandoverError" in failure.detail
    assert "there are none" in str(report)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_dtypes(dtype: Any) -> None:
    x = (X + (0.3j * X if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
    report = check_all(lambda x: np.abs(np.exp(x) * x).sum(), (x,))
    assert report.ok, str(report)
    assert check_grads(lambda x: x * x, (x,)).ok


def test_trees_and_constants() -> None:
    def f(model: dict[str, Any], n: int, *, scale: float) -> Any:
        return {"out": np.sum(model["w"] * scale) ** n, "count": n}

    report = check_all(f, ({"w": X, "b": 1}, 2), {"scale": 0.5})
    assert report.ok, str(report)


def test_every_check_is_run_on_something() -> None:
    report = check_all(lambda x: np.sin(x) * np.max(x), (X,))
    assert set(CHECKS) <= {o.name for o in report.outcomes}
    assert {o.name for o in report.outcomes if o.status == "skipped"} <= {"0-d", "empty"}


def test_branches_on_values_skip_only_what_needs_programs() -> None:
    report = check_all(lambda x: np.sum(x * x) if x[0] > 0 else np.sum(x), (X,))
    assert report.ok and report["vmap"].status == report["program"].status == "skipped"


# ---------------------------------------------------------------- kinks


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (np.abs, np.zeros(2)),
        (lambda x: np.maximum(x, 0.0), np.array([0.0, 1.0])),
        (np.max, np.array([1.0, 1.0, 0.0])),
        (lambda x: np.clip(x, 0, 1), np.array([0.0, 0.5, 1.0])),
        (np.linalg.norm, np.zeros(2)),
        (lambda x: np.where(x > 1.0, x, x**2), np.array([1.0, 2.0])),
        (lambda x: np.sort(x)[0], np.array([1.0, 1.0])),
    ],
)
def test_kinks_are_classified(f: Any, x: Any) -> None:
    report = check_all(f, (x,), expect_kink=True)
    assert report.ok, str(report)
    assert report.kinks[0].margin == 0 and "test_checks.py" in report.kinks[0].line


def test_near_a_kink_the_steps_are_small_enough() -> None:
    report = check_all(np.abs, (np.array([1e-7, -1e-5, 3.0]),), only=["numerical"])
    assert report.ok and report.kinks[0].margin == 1e-7


def test_a_wrong_value_at_a_kink() -> None:
    @funcgrad.custom_jvp
    def f(x: Any) -> Any:
        return np.abs(x)

    @f.defjvp
    def f_jvp(primals: Any, tangents: Any) -> Any:
        return f(*primals), 3.0 * tangents[0]

    report = check_all(lambda x: f(x) + 0 * np.abs(x), (np.zeros(1),), only=["numerical"])
    assert "not between the slopes" in report["numerical"].detail


def test_expected_kink_that_is_none() -> None:
    assert not check_all(np.sin, (X,), expect_kink=True).ok


def test_passage_notes_decisions() -> None:
    f = lambda x: [np.where(x > 1, x, 0.0)]  # noqa: E731
    same = (
        passage(f, [np.array([0.5, 2.0])]).decisions == passage(f, [np.array([0.6, 3.0])]).decisions
    )
    other = (
        passage(f, [np.array([0.5, 2.0])]).decisions == passage(f, [np.array([1.6, 3.0])]).decisions
    )
    assert same and not other


# ---------------------------------------------------------------- what is wrong, and what is said


def wrong(rule: Callable[..., Any], f: Callable[..., Any] = np.sin) -> Any:
    """A function whose tangent is `rule`."""
    made = funcgrad.custom_jvp(f)

    @made.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return f(*primals), rule(*primals, *tangents)

    return made


@pytest.mark.parametrize(
    ("f", "x", "words"),
    [
        (wrong(lambda x, t: -np.cos(x) * t), X, "the sign is wrong"),
        (wrong(lambda x, t: 2 * np.cos(x) * t), X, "a factor 2 too much"),
        (wrong(lambda x, t: 0 * t), X, "cut off"),
        (wrong(lambda x, t: x @ t.T, lambda x: x @ x.T), M, "differs"),
        (wrong(lambda x, t: t.T, lambda x: x), M, "transpose"),
        (wrong(lambda x, t: t.conj(), lambda x: x), X + 1j, "conjugate"),
        (wrong(lambda x, t: t[::-1], lambda x: x), X, "reversed"),
        (wrong(lambda x, t: np.sum(t), np.mean), X, "a sum in place of a mean"),
    ],
)
def test_failures_say_what_they_suggest(f: Any, x: Any, words: str) -> None:
    with pytest.raises(GradientError, match=words):
        check_grads(f, (x,), modes=["fwd"], order=1)


def test_failures_name_the_leaf() -> None:
    @funcgrad.custom_vjp
    def f(w: Any, b: Any) -> Any:
        return np.sum(w["k"] * b)

    f.defvjp(lambda w, b: (f(w, b), (w, b)), lambda r, ct: ({"k": ct * r[1]}, ct * r[0]["k"] * 2))
    report = check_all(f, ({"k": X}, X[::-1].copy()), only=["numerical"])
    assert "along b alone" in report["numerical"].detail


def test_changed_arguments() -> None:
    def writes(x: Any, n: Any) -> Any:
        n[0] += 1
        return np.sum(x)

    report = check_all(writes, (X, np.zeros(2, int)), only=["deterministic"])
    assert "the argument n is changed" in report["deterministic"].detail


def test_drift() -> None:
    state = iter(range(1000))
    report = check_all(lambda x: np.sum(x) * (1 + next(state)), (X,), only=["deterministic"])
    assert "different results" in report["deterministic"].detail


def test_not_finite() -> None:
    report = check_all(lambda x: np.sqrt(np.sum(x * x)), (np.zeros(2),), only=["finite"])
    assert "not finite" in report["finite"].detail


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        (np.ones((2, 3)), np.ones(3), "a sum over the broadcast axes is missing"),
        (np.ones(2), np.ones(3), "shape"),
        (np.array([1.0, np.nan]), np.ones(2), "not finite"),
        (np.array([2.0, 1.0, 3.0]), np.array([1.0, 2.0, 3.0]), "other places"),
        (np.array([1.0, 2.0, 9.0]), np.array([1.0, 2.0, 3.0]), "1 of 3 elements"),
        (3.7 * X, X, "the ratio is 3.7"),
        (1j * X, X + 0j, "complex factor"),
    ],
)
def test_suggestions(found: Any, expected: Any, words: str) -> None:
    assert words in suggestion(found, expected)


def test_swapped_operands() -> None:
    assert "swapped" in suggestion(X, M[0], [X, M[1]])


# ---------------------------------------------------------------- arguments


def test_errors_of_arguments() -> None:
    with pytest.raises(ArgumentError, match="no floating"):
        check_all(np.sin, (1,))
    with pytest.raises(ArgumentError, match="no check 'speed'"):
        check_all(np.sin, (X,), only=["speed"])
    with pytest.raises(ArgumentError, match="modes"):
        check_grads(np.sin, (X,), modes=["sideways"])
    with pytest.raises(ZeroDivisionError):
        check_all(lambda x: x * (1 // 0), (X,))  # the function's own error is the caller's
    with pytest.raises(KeyError):
        check_all(np.sin, (X,), only=["types"])["numerical"]


def test_higher_orders() -> None:
    assert (
        check_grads(lambda x: np.sum(x**3 * np.exp(x)), (X,), order=4)["order 4"].status == "passed"
    )


# ---------------------------------------------------------------- differences


@given(st.floats(-2, 2), st.sampled_from([np.sin, np.exp, np.tanh, lambda x: x**3, np.cosh]))
def test_differences_know_their_error(x: float, f: Any) -> None:
    xs, ts = [np.array(x)], [np.array(1.0)]
    _, (exact,) = funcgrad.jvp(lambda x: [f(x)], tuple(xs), tuple(ts))
    for found in (central(lambda x: [f(x)], xs, ts), one_sided(lambda x: [f(x)], xs, ts, 2.0**-6)):
        assert abs(float(found.values[0]) - float(exact)) <= found.error
    assert central(lambda x: [f(x)], xs, ts).error < 1e-8


def test_complex_step_is_refused_where_it_would_lie() -> None:
    one = [np.array([1.5])], [np.array([1.0])]
    assert complex_step(lambda x: [np.abs(x)], *one) is None
    (exact,) = complex_step(lambda x: [np.exp(x)], *one) or [None]
    assert exact == pytest.approx(np.exp(1.5), rel=1e-15)
    assert derivative(lambda x: [np.exp(x)], *one).error < 1e-11


def test_no_test_forgets_to_look() -> None:
    """`check_all` raises nothing: its report has to be asked."""
    forgotten = []
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        if path.parent == Path(__file__).parent:
            continue  # where its own errors are tested
        for node in ast.walk(ast.parse(path.read_text())):
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "check_all":
                forgotten.append(f"{path.name}:{node.lineno}")
    assert not forgotten


@pytest.mark.parametrize("reach", [0.5, 0.05, 2e-3])
def test_functions_that_raise_outside_of_a_small_domain(reach: float) -> None:
    def guarded(x):
        if not 1.0 - reach < x < 1.0 + reach:
            raise ValueError("outside")
        return x**3

    check_grads(guarded, (1.0,), order=2)
    calls = []

    def wrong(x):
        calls.append(x)
        if x != 1.0:
            raise ValueError("outside")
        return x**3

    with pytest.raises(GradientError, match=r"numerical +failed: ValueError: outside"):
        check_grads(wrong, (1.0,), order=1)
    assert len(calls) < 50
