"""Named batches: functions of all examples are those of the whole batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad import lax
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.testing import check_all

N = 4
X = np.random.default_rng(0).normal(size=(N, 3))
HALVES = [[0, 2], [3, 1]]
OF_HALF = np.array([0, 1, 0, 1])  # which of them an example is in


def by_half(reduce: Any) -> Any:
    """A reduction of the first axis, of each half of the examples, for every example."""
    return lambda xs: np.stack([reduce(xs[half]) for half in HALVES])[OF_HALF]


# A function of an example and the same of the whole batch.
PAIRS: dict[str, tuple[Any, Any]] = {
    "psum": (lambda x: x / lax.psum(x * x, "i"), lambda xs: xs / np.sum(xs * xs, 0)),
    "pmean": (
        lambda x: (x - lax.pmean(x, "i")) / np.sqrt(lax.pmean((x - lax.pmean(x, "i")) ** 2, "i")),
        lambda xs: (xs - np.mean(xs, 0)) / np.std(xs, 0),
    ),
    "pmax": (lambda x: np.exp(x - lax.pmax(x, "i")), lambda xs: np.exp(xs - np.max(xs, 0))),
    "pmin": (lambda x: x * lax.pmin(x, "i"), lambda xs: xs * np.min(xs, 0)),
    "all_gather": (
        lambda x: np.sin(lax.all_gather(x, "i", axis=1)) @ np.arange(N),
        lambda xs: np.broadcast_to(np.sin(xs.T) @ np.arange(N), xs.shape),
    ),
    "tiled": (
        lambda x: np.sum(lax.all_gather(x, "i", tiled=True)) * x,
        lambda xs: np.sum(xs) * xs,
    ),
    "psum, groups": (
        lambda x: (
            x
            / lax.psum(x * x, "i", axis_index_groups=HALVES)
            / lax.psum(1, "i", axis_index_groups=HALVES)
        ),
        lambda xs: xs / by_half(lambda x: np.sum(x * x, 0))(xs) / 2,
    ),
    "pmean, groups": (
        lambda x: np.sin(x * lax.pmean(x, "i", axis_index_groups=HALVES)),
        lambda xs: np.sin(xs * by_half(lambda x: np.mean(x, 0))(xs)),
    ),
    "pmax, groups": (
        lambda x: x * lax.pmax(x, "i", axis_index_groups=HALVES),
        lambda xs: xs * by_half(lambda x: np.max(x, 0))(xs),
    ),
    "all_gather, groups": (
        lambda x: np.sin(lax.all_gather(x, "i", axis_index_groups=HALVES)[1]) * x,
        lambda xs: np.sin(by_half(lambda x: x[1])(xs)) * xs,
    ),
    "ppermute": (
        lambda x: np.sin(lax.ppermute(x, "i", [(i, (i + 1) % N) for i in range(N)])) * x,
        lambda xs: np.sin(np.roll(xs, 1, axis=0)) * xs,
    ),
    "all_to_all": (
        lambda x: np.sin(lax.all_to_all(np.outer(np.arange(N), x), "i", 0, 1)) @ np.arange(N),
        lambda xs: np.sin(np.arange(N)[:, None, None] * xs.T) @ np.arange(N),
    ),
    "all_to_all, tiled": (
        lambda x: np.sin(lax.all_to_all(np.outer(x, np.arange(N)), "i", 1, 0, tiled=True))[-3:, 0],
        lambda xs: np.sin(np.arange(N)[:, None] * xs[-1]),
    ),
    "psum_scatter": (
        lambda x: np.sin(lax.psum_scatter(np.outer(x, np.arange(N)), "i", scatter_dimension=1)),
        lambda xs: np.sin(np.arange(N)[:, None] * np.sum(xs, 0)),
    ),
    "psum_scatter, tiled": (
        lambda x: np.sin(lax.psum_scatter(np.tile(x, 2 * N), "i", tiled=True))[3:],
        lambda xs: np.broadcast_to(np.sin(np.sum(xs, 0)), xs.shape),
    ),
    "axis_index": (
        lambda x: x * (lax.axis_index("i") + 1) / lax.axis_size("i") / lax.psum(1, "i"),
        lambda xs: xs * np.arange(1, N + 1)[:, None] / N**2,
    ),
    "in a scan": (
        lambda x: lax.scan(lambda c, r: (np.tanh(c + lax.pmean(x * r, "i")), c), x, X[0])[0],
        lambda xs: lax.scan(lambda c, r: (np.tanh(c + np.mean(xs * r, 0)), c), xs, X[0])[0],
    ),
    "in the carry": (
        lambda x: lax.scan(lambda c, r: (np.tanh(lax.psum(c * r, "i")) + x, c), x, X[0])[0],
        lambda xs: lax.scan(lambda c, r: (np.tanh(np.sum(c * r, 0)) + xs, c), xs, X[0])[0],
    ),
    "in another batch": (
        lambda x: funcgrad.vmap(lambda y: y * lax.psum(y * x[0], "i"))(x),
        lambda xs: xs * np.sum(xs * xs[:, :1], 0),
    ),
    "of two": (
        lambda x: funcgrad.vmap(lambda y: y / lax.psum(y * y, ("i", "j")), axis_name="j")(x),
        lambda xs: xs / np.sum(xs * xs),
    ),
}
WRAPS: dict[str, Any] = {
    "value": lambda f: f,
    "jit": funcgrad.jit,
    "jacrev": funcgrad.jacrev,
    "jacfwd": funcgrad.jacfwd,
    "jit of jacrev": lambda f: funcgrad.jit(funcgrad.jacrev(f)),
    "hessian": lambda f: funcgrad.hessian(lambda x: np.sum(f(x) ** 2)),
    "vmap": lambda f: lambda x: funcgrad.vmap(f)(np.stack([x, 2 * x])),
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("name", PAIRS)
def test_as_functions_of_the_whole_batch(name: str, wrap: str) -> None:
    one, whole = PAIRS[name]
    mapped = funcgrad.vmap(one, axis_name="i")
    found, expected = (WRAPS[wrap](f)(X) for f in (mapped, whole))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", PAIRS)
def test_derivatives_inside_are_those_of_the_sum(name: str) -> None:
    one, whole = PAIRS[name]
    inside = funcgrad.vmap(funcgrad.grad(lambda x: np.sum(one(x) ** 2)), axis_name="i")
    expected = funcgrad.grad(lambda xs: np.sum(whole(xs) ** 2))(X)
    for f in (inside, funcgrad.jit(inside)):
        np.testing.assert_allclose(f(X), expected, rtol=1e-9, atol=1e-11)


@given(st.integers(1, 5), st.integers(0, 2), st.booleans())
def test_all_checks(n: int, axis: int, second: bool) -> None:
    """Trees, any batch axis, values that all examples share."""
    x = np.random.default_rng(n).normal(size=(n, n, n))

    def f(x: Any, w: Any) -> Any:
        total = lax.psum({"x": x * w, "w": w}, "i")
        return total["x"] * total["w"] if second else total["x"] + x

    mapped = funcgrad.vmap(f, (axis, None), axis_name="i")
    report = check_all(mapped, (x, 0.7))
    assert report.ok, str(report)


def test_errors() -> None:
    f = lambda x: lax.pmean(x, "i")  # noqa: E731
    compiled = funcgrad.jit(f)
    np.testing.assert_allclose(funcgrad.vmap(compiled, axis_name="i")(X)[1], X.mean(0))
    for call, message in (
        (lambda: f(X), "none has a name"),
        (lambda: funcgrad.vmap(f)(X), "none has a name"),
        (lambda: funcgrad.vmap(f, axis_name="j")(X), r"found \['j'\]"),
        (lambda: funcgrad.vmap(f, axis_name="i", chunk_size=2)(X), "chunks"),
        (lambda: funcgrad.vmap(compiled, axis_name="i")(X[:2]), "a batch of 4"),
        (lambda: compiled(X[0]), "no axis is called"),
        (
            lambda: funcgrad.vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")(X),
            r"axis 0 of f64\[3\] for 4 examples; need 4 entries",
        ),
        (
            lambda: funcgrad.vmap(lambda x: lax.psum_scatter(x, "i", tiled=True), axis_name="i")(X),
            "need a multiple of 4 entries",
        ),
        (
            lambda: funcgrad.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (2, 1)]), axis_name="i")(
                X
            ),
            "every number once",
        ),
        (
            lambda: funcgrad.vmap(
                lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2]]), axis_name="i"
            )(X),
            r"axis_index_groups=\[\[0, 1\], \[2\]\] for 4 examples; need every number once",
        ),
    ):
        with pytest.raises((ArgumentError, ShapeError), match=message):
            call()
