"""`lax.gather` and `lax.scatter*`: against loops over windows, JAX, each other; transforms, errors."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.testing import check_all

UPDATES = {
    "scatter": lambda x, u: u,
    "scatter_add": lambda x, u: x + u,
    "scatter_sub": lambda x, u: x - u,
    "scatter_mul": lambda x, u: x * u,
    "scatter_min": np.minimum,
    "scatter_max": np.maximum,
}


class Case(NamedTuple):
    """An operand's shape, indices, numbers of axes, and sizes of windows that go together."""

    shape: tuple[int, ...]
    indices: np.ndarray
    numbers: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]

    def windows(self, clip: bool) -> Any:
        """For every place in the indices the elements of its window; None outside."""
        _, _, mapped, paired, pairing = self.numbers
        for at in np.ndindex(self.indices.shape[:-1]):
            start = np.zeros(len(self.shape), int)
            start[list(mapped)] = self.indices[at]
            for axis, k in zip(paired, pairing, strict=True):
                start[axis] = at[k]
            spare = np.subtract(self.shape, self.sizes)
            inside = bool(np.all((start >= 0) & (start <= spare)))
            start = np.clip(start, 0, spare)
            yield (
                at,
                tuple(map(slice, start, start + self.sizes)) if clip or inside else None,
            )

    def result(self) -> tuple[int, ...]:
        offset = self.numbers[0]
        kept = [n for a, n in enumerate(self.sizes) if a not in self.numbers[1] + self.numbers[3]]
        shape = dict(zip(offset, kept, strict=True))
        rest = iter(self.indices.shape[:-1])
        count = len(offset) + self.indices.ndim - 1
        return tuple(shape[k] if k in shape else next(rest) for k in range(count))

    def place(self, at: tuple[int, ...]) -> tuple[Any, ...]:
        """Where the window of one place lies in the result."""
        rest = iter(at)
        count = len(self.numbers[0]) + len(at)
        return tuple(slice(None) if k in self.numbers[0] else next(rest) for k in range(count))


@st.composite
def cases(draw: Any) -> Case:
    seed, ndim = draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 3))
    pairs, beside = draw(st.integers(0, min(ndim, 2))), draw(st.integers(0, 2))
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 5, ndim))
    axes = [int(a) for a in rng.permutation(ndim)]
    paired, free = sorted(axes[:pairs]), axes[pairs:]
    gone = sorted(free[: rng.integers(0, len(free) + 1)])
    mapped = [a for a in free if rng.random() < 0.7]
    sizes = [1 if a in paired + gone else int(rng.integers(0, n + 1)) for a, n in enumerate(shape)]
    sizes = [n if rng.random() < 0.3 and n > 0 and a not in paired + gone else s
             for a, (n, s) in enumerate(zip(shape, sizes, strict=True))]  # fmt: skip
    batch = [shape[a] for a in paired] + [int(n) for n in rng.integers(1, 4, beside)]
    order = [int(i) for i in rng.permutation(len(batch))]
    lead = tuple(batch[i] for i in order)
    starts = [rng.integers(-1, shape[a] - sizes[a] + 2, lead) for a in mapped]
    indices = np.stack(starts, -1) if starts else np.zeros((*lead, 0), int)
    count = ndim - len(paired) - len(gone)
    offset = np.sort(rng.choice(count + len(lead), count, replace=False))
    pairing = tuple(order.index(j) for j in range(len(paired)))
    numbers = tuple(map(int, offset)), tuple(gone), tuple(mapped), tuple(paired), pairing
    return Case(shape, indices, numbers, tuple(sizes))


def numbers_of(kind: Any, case: Case) -> Any:
    return kind(*case.numbers)


def gathered(case: Case, mode: Any = None, **options: Any) -> Any:
    numbers = numbers_of(lax.GatherDimensionNumbers, case)
    return lambda x, i=case.indices: lax.gather(x, i, numbers, case.sizes, mode=mode, **options)


def scattered(name: str, case: Case, mode: Any = None) -> Any:
    numbers = numbers_of(lax.ScatterDimensionNumbers, case)
    return lambda x, u, i=case.indices: getattr(lax, name)(x, i, u, numbers, mode=mode)


# ---------------------------------------------------------------- values


@given(case=cases(), mode=st.sampled_from([None, "clip", "fill", "promise_in_bounds"]))
def test_gather_reads_windows(case: Case, mode: Any) -> None:
    x = np.random.default_rng(0).normal(size=case.shape)
    expected = np.full(case.result(), np.nan)
    for at, window in case.windows(mode != "fill"):
        if window is not None:
            part = x[window]
            gone = case.numbers[1] + case.numbers[3]
            expected[case.place(at)] = part.squeeze(tuple(gone))
    f = gathered(case, mode)
    found = f(x)
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(funcgrad.jit(f)(x, case.indices), expected)


@given(case=cases(), name=st.sampled_from(sorted(UPDATES)), mode=st.sampled_from([None, "clip"]))
def test_scatter_writes_windows(case: Case, name: str, mode: Any) -> None:
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=case.shape), rng.normal(size=case.result())
    expected = x.copy()
    for at, window in case.windows(mode == "clip"):
        if window is not None:
            part = u[case.place(at)].reshape(case.sizes)
            expected[window] = UPDATES[name](expected[window], part)
    f = scattered(name, case, mode)
    np.testing.assert_allclose(f(x, u), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(
        funcgrad.jit(f)(x, u, case.indices), expected, rtol=1e-13, atol=1e-14
    )


@given(case=cases(), mode=st.sampled_from([None, "clip"]))
def test_apply_goes_through_elements_as_often_as_they_are_named(case: Case, mode: Any) -> None:
    x = np.random.default_rng(0).normal(size=case.shape)
    expected = x.copy()
    for _, window in case.windows(mode == "clip"):
        if window is not None:
            expected[window] = np.sin(expected[window]) + 0.5
    numbers = numbers_of(lax.ScatterDimensionNumbers, case)

    def f(x: Any, i: Any) -> Any:
        sizes = {"update_shape": case.result(), "mode": mode}
        return lax.scatter_apply(x, i, lambda x: fnp.sin(x) + 0.5, numbers, **sizes)

    np.testing.assert_allclose(f(x, case.indices), expected, rtol=1e-13)
    np.testing.assert_allclose(funcgrad.jit(f)(x, case.indices), expected, rtol=1e-13)
    pull = funcgrad.vjp(lambda x: f(x, case.indices), x)[1]
    turn = funcgrad.jvp(lambda x: f(x, case.indices), (x,), (np.ones_like(x),))[1]
    np.testing.assert_allclose(pull(np.ones_like(x))[0].sum(), turn.sum(), rtol=1e-12, atol=1e-12)


FIXED = [
    Case((5,), np.array([[0], [4], [1]]), ((1,), (), (0,), (), ()), (2,)),
    Case((3, 4), np.array([[2, 3], [0, 0]]), ((), (0, 1), (0, 1), (), ()), (1, 1)),
    Case((3, 4), np.array([[[2]], [[-1]], [[1]]]), ((2,), (), (1,), (0,), (0,)), (1, 2)),
    Case((3, 4, 2), np.array([[[1, 9], [0, 1]]]), ((0, 3), (1,), (1, 0), (), ()), (2, 1, 2)),
]


@pytest.fixture(scope="module")
def theirs() -> Any:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield jax


@pytest.mark.parametrize("case", FIXED, ids=range(len(FIXED)))
def test_values_and_gradients_are_those_of_jax(case: Case, theirs: Any) -> None:
    rng = np.random.default_rng(1)
    x, u = rng.normal(size=case.shape), rng.normal(size=case.result())
    numbers = numbers_of(theirs.lax.GatherDimensionNumbers, case)
    for mode in ("clip", "fill"):
        y, pull = theirs.vjp(
            lambda x, m=mode: theirs.lax.gather(x, case.indices, numbers, case.sizes, mode=m), x
        )
        found, back = funcgrad.vjp(gathered(case, mode), x)
        np.testing.assert_array_equal(found, y)
        np.testing.assert_allclose(back(u)[0], pull(u)[0], rtol=1e-14)
    numbers = numbers_of(theirs.lax.ScatterDimensionNumbers, case)
    for name, mode in itertools.product(("scatter", "scatter_add", "scatter_sub"), (None, "clip")):
        y, pull = theirs.vjp(
            lambda x, u, n=name, m=mode: getattr(theirs.lax, n)(
                x, case.indices, u, numbers, mode=m
            ),
            x,
            u,
        )
        found, back = funcgrad.vjp(scattered(name, case, mode), x, u)
        np.testing.assert_allclose(found, y, rtol=1e-14)
        for a, b in zip(back(x), pull(x), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int8", "uint64", "bool", "float16"])
def test_dtypes_stay_and_what_is_missing_is_theirs(dtype: str, theirs: Any) -> None:
    case = FIXED[0]
    x = (np.arange(5) % 2).astype(dtype)
    numbers = numbers_of(theirs.lax.GatherDimensionNumbers, case)
    expected = np.asarray(theirs.lax.gather(x, case.indices, numbers, (2,), mode="fill"))
    found = gathered(case, "fill")(x)
    assert found.dtype == expected.dtype == x.dtype
    np.testing.assert_array_equal(found, expected)
    given = gathered(case, "fill", fill_value=np.ones((), dtype))(x)
    assert given.dtype == x.dtype
    assert (given[1] == 1).all()
    numbers = numbers_of(lax.ScatterDimensionNumbers, case)
    for name in UPDATES:
        if dtype in ("bool", "complex64") and name not in ("scatter", "scatter_add"):
            continue
        y = getattr(lax, name)(x, case.indices, np.ones((3, 2), dtype), numbers)
        assert y.dtype == x.dtype, name


# ---------------------------------------------------------------- transforms


@settings(max_examples=8)
@given(case=cases(), name=st.sampled_from(["gather", *sorted(UPDATES)]))
def test_derivatives_agree_with_each_other(case: Case, name: str) -> None:
    rng = np.random.default_rng(2)
    x, u = rng.normal(size=case.shape), rng.normal(size=case.result())
    names = [
        "transpose",
        "types",
        "vmap",
        "program",
        "jit",
        "repeatable",
        "own memory",
        "numerical",
    ]
    f, xs = (gathered(case), (x,)) if name == "gather" else (scattered(name, case), (x, u))
    report = check_all(f, xs, only=names)
    assert report.ok, str(report)


@settings(max_examples=15)
@given(case=cases(), name=st.sampled_from(["gather", *sorted(UPDATES)]))
def test_indices_of_every_example(case: Case, name: str) -> None:
    rng = np.random.default_rng(3)
    x, u = rng.normal(size=(2, *case.shape)), rng.normal(size=(2, *case.result()))
    i = np.stack([case.indices, np.roll(case.indices, 1, -1)])
    f = gathered(case, "fill", fill_value=0.5) if name == "gather" else None
    g = f if f is not None else scattered(name, case)

    def total(i: Any, x: Any, u: Any) -> Any:
        return fnp.sum(fnp.sin(g(x, i) if f is not None else g(x, u, i)))

    pull = funcgrad.grad(total, argnums=(1, 2))
    rows = [pull(i[k], x[k], u[k]) for k in range(2)]
    for h in (funcgrad.vmap(pull), funcgrad.jit(funcgrad.vmap(pull))):
        for a, b in zip(h(i, x, u), map(np.stack, zip(*rows, strict=True)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


def test_products_with_factors_of_zero() -> None:
    numbers, at = lax.ScatterDimensionNumbers((), (0,), (0,)), np.array([[0], [0], [1], [1]])
    x, u = np.array([2.0, 0.0]), np.array([0.0, 3.0, 0.0, 5.0])
    pull = funcgrad.vjp(lambda x, u: lax.scatter_mul(x, at, u, numbers), x, u)[1]
    for found, expected in zip(pull(np.ones(2)), ([0, 0], [6, 0, 0, 0]), strict=True):
        np.testing.assert_array_equal(found, expected)


# ---------------------------------------------------------------- errors

X, AT = np.arange(12.0).reshape(3, 4), np.array([[0], [1]])
G, S = lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers
ROWS = S((1,), (0,), (0,))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: lax.gather(X, AT, G((1,), (0,), (0,)), (1,)), ShapeError, "slice_sizes"),
        (lambda: lax.gather(X, AT, G((1,), (0,), (0,)), (1, 5)), ShapeError, "windows of"),
        (lambda: lax.gather(X, AT, G((1,), (0,), (0,)), (2, 4)), ShapeError, "leave out"),
        (lambda: lax.gather(X, AT, G((1,), (0,), (0, 1)), (1, 4)), ShapeError, "entries"),
        (lambda: lax.gather(X, AT, G((0, 1), (0,), (0,)), (1, 4)), ShapeError, "lie along"),
        (lambda: lax.gather(X, AT, G((2,), (0,), (0,)), (1, 4)), ShapeError, "lie along"),
        (lambda: lax.gather(X, AT, G((1,), (0, 0), (0,)), (1, 4)), ShapeError, "leave out"),
        (lambda: lax.gather(X, AT, G((1,), (), (1,), (0,), (0,)), (1, 4)), ShapeError, "paired"),
        (lambda: lax.gather(X, AT + 0.5, G((1,), (0,), (0,)), (1, 4)), ArgumentError, "integers"),
        (lambda: lax.gather(X, 0, G((1,), (0,), (0,)), (1, 4)), ShapeError, "number"),
        (lambda: lax.gather(X, AT, None, (1, 4)), ArgumentError, "offset_dims"),
        (lambda: lax.gather(X, AT, G((1,), (0,), (0,)), (1, 4), mode="wrap"), ArgumentError, "mode"),
        (lambda: lax.scatter(X, AT, np.ones((2, 5)), ROWS), ShapeError, "windows of"),
        (lambda: lax.scatter(X, AT, np.ones((3, 4)), ROWS), ShapeError, r"need \[2, 4\]"),
        (lambda: lax.scatter(X, AT, np.ones(2), ROWS), ShapeError, "along the axes"),
        (lambda: lax.scatter(X, AT, np.ones((2, 4)), S((1,), (), (0,))), ShapeError, "operand of 2"),
        (lambda: lax.scatter(X.astype(int), AT, np.ones((2, 4)), ROWS), ArgumentError, "lose"),
        (lambda: lax.scatter_max(X + 0j, AT, np.ones((2, 4)), ROWS), ArgumentError, "no max"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call()
