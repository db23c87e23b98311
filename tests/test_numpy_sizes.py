"""Lengths that are given instead of found (`size=`), `mode="fill"` and JAX's other options of NumPy's
functions: against NumPy's results cut or filled, against JAX, and under every transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, ConcretizationError, ShapeError
from funcgrad.testing import check_all

FILL = -7


class Row(NamedTuple):
    """A function of arrays with a size, and what it is without one; `axis` is the one that is cut."""

    name: str
    sized: Callable[..., Any]
    plain: Callable[..., Any]
    count: int = 1  # arrays that it takes
    smooth: bool = True  # it is differentiated by the last one
    axis: int = 0


def same(name: str, count: int = 1, smooth: bool = True, axis: int = 0, **how: Any) -> Row:
    """The function under that name."""

    def sized(m: Any, n: int, fill: Any, *xs: Any) -> Any:
        return getattr(m, name)(*xs, size=n, fill_value=fill, **how)

    return Row(f"{name}{how or ''}", sized, lambda *xs: getattr(np, name)(*xs, **how), count,
               smooth, axis)  # fmt: skip


def mask(x: Any) -> Any:
    return x > 0


ROWS = [
    Row("nonzero", lambda m, n, v, x: m.nonzero(mask(x), size=n, fill_value=v),
        lambda x: np.nonzero(mask(x)), 1, False),
    Row("where", lambda m, n, v, x: m.where(mask(x), size=n, fill_value=v),
        lambda x: np.where(mask(x)), 1, False),
    Row("flatnonzero", lambda m, n, v, x: m.flatnonzero(mask(x), size=n, fill_value=v),
        lambda x: np.flatnonzero(mask(x)), 1, False),
    Row("argwhere", lambda m, n, v, x: m.argwhere(mask(x), size=n, fill_value=v),
        lambda x: np.argwhere(mask(x)), 1, False),
    same("unique"),
    Row("compress", lambda m, n, v, x, y: m.compress(mask(x[:, 0]), y, 0, size=n, fill_value=v),
        lambda x, y: np.compress(mask(x[:, 0]), y, 0), 2),
    Row("compress 1", lambda m, n, v, x, y: m.compress(mask(x[0]), y, 1, size=n, fill_value=v),
        lambda x, y: np.compress(mask(x[0]), y, 1), 2, True, 1),
    Row("extract", lambda m, n, v, x, y: m.extract(mask(x), y, size=n, fill_value=v),
        lambda x, y: np.extract(mask(x), y), 2),
    same("union1d", 2),
    same("intersect1d", 2, False),
    same("setdiff1d", 2, False),
    same("setxor1d", 2),
]  # fmt: skip
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda r: r.name)
few = settings(max_examples=8)
SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 4))


@pytest.fixture(scope="module")
def theirs() -> Any:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield jax


def drawn(seed: int, shape: tuple[int, ...], count: int) -> list[np.ndarray]:
    """Arrays with many equal elements, among themselves too."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-2, 3, shape).astype(float) for _ in range(count)]


def resized(y: Any, n: int, axis: int = 0) -> Any:
    """`y` cut or filled to a length."""
    y = np.moveaxis(y, axis, 0)[:n]
    rest = np.full((n - len(y), *y.shape[1:]), FILL, y.dtype)
    return np.moveaxis(np.concatenate([y, rest]), 0, axis)


@every_row
@given(seed=st.integers(0, 10**6), shape=SHAPES, size=st.integers(0, 12))
def test_sizes_cut_or_fill_what_numpy_finds(row: Row, seed: int, shape: Any, size: int) -> None:
    xs = drawn(seed, shape, row.count)
    plain = row.plain(*xs)
    parts = plain if isinstance(plain, tuple) else (plain,)
    expected = [resized(y, size, row.axis) for y in parts]

    def f(*xs: Any) -> Any:
        y = row.sized(fnp, size, FILL, *xs)
        return y if isinstance(y, tuple) else (y,)

    others = [x[::-1, ::-1].copy() for x in xs]
    both = [np.stack(pair) for pair in zip(xs, others, strict=True)]
    mapped = funcgrad.vmap(f)(*both)
    second = f(*others)
    found = f(*xs)
    in_jit = funcgrad.jit(f)(*xs)
    for k, y in enumerate(expected):
        assert found[k].dtype == y.dtype
        np.testing.assert_array_equal(found[k], y)
        np.testing.assert_array_equal(in_jit[k], y)
        np.testing.assert_array_equal(mapped[k], np.stack([y, second[k]]))


JAXS = [(row, size, fill) for row in ROWS for size in (1, 5) for fill in (None, 2)]
JAXS = [
    (row, size, 0 if fill is None and row.name[:7] in ("compres", "extract") else fill)
    for row, size, fill in JAXS
    if not row.name.startswith("compress") or size == 1  # they refuse more than there may be
]


def test_sizes_are_those_of_jax(theirs: Any) -> None:
    def run(inputs: Any) -> Any:
        return [r.sized(theirs.numpy, n, v, *x) for (r, n, v), x in zip(JAXS, inputs, strict=True)]

    inputs = [drawn(5, (3, 2), row.count) for row, _, _ in JAXS]
    options = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    expected = theirs.jit(run, compiler_options=options)(inputs)
    for (row, size, fill), x, y in zip(JAXS, inputs, expected, strict=True):
        found = row.sized(fnp, size, fill, *x)
        pairs = zip(found, y, strict=True) if isinstance(y, tuple) else [(found, y)]
        for a, b in pairs:
            np.testing.assert_array_equal(a, b, err_msg=f"{row.name} {size} {fill}")


@pytest.mark.parametrize("row", [r for r in ROWS if r.smooth], ids=lambda r: r.name)
def test_derivatives_are_those_of_what_is_taken(row: Row) -> None:
    *masks, x = (y + np.random.default_rng(1).uniform(0, 0.1, (3, 4)) for y in drawn(0, (3, 4), 2))
    masks = masks[: row.count - 1]
    size = 3 if row.name.startswith("compress") else 14
    report = check_all(lambda x: row.sized(fnp, size, 0.5, *masks, x), (x,))
    assert report.ok, str(report)


# ---------------------------------------------------------------- unique, and who is in a set

SPECIAL = np.array([2.0, np.nan, 1.0, np.nan, 2.0, -0.0, 0.0, np.inf])
COLUMNS = np.array([[1.0, 2.0, 1.0], [0.0, 5.0, 0.0]])
UNIQUE = [
    (SPECIAL, {"size": 9}),
    (SPECIAL, {"size": 3}),
    (SPECIAL, {"size": 9, "equal_nan": False, "fill_value": 7.0}),
    (SPECIAL + 1j, {"size": 9}),
    (COLUMNS, {"size": 4, "axis": 1}),
    (COLUMNS, {"size": 1, "axis": 1}),
    (COLUMNS.T, {"size": 4, "axis": 0, "fill_value": 3.0}),
    (np.array([3, 1, 3], np.uint8), {"size": 5}),
    (np.array([True, True]), {"size": 2}),
    (COLUMNS.astype(np.float32), {"size": 5}),
]


@pytest.mark.parametrize("case", range(len(UNIQUE)))
def test_unique_is_that_of_jax(case: int, theirs: Any) -> None:
    x, how = UNIQUE[case]
    wanted = {"return_index": True, "return_inverse": True, "return_counts": True}
    expected = theirs.numpy.unique(x, **wanted, **how)

    def f(x: Any) -> Any:
        return fnp.unique(x, **wanted, **how)

    for found in (f(x), funcgrad.jit(f)(x)):
        for a, b in zip(found, expected, strict=True):
            assert a.shape == b.shape
            np.testing.assert_array_equal(a, b)
        assert found[0].dtype == x.dtype


@given(seed=st.integers(0, 10**6), n=st.integers(0, 6), m=st.integers(0, 6))
def test_sets_of_traced_numbers(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-2, 3, n).astype(float), rng.integers(-2, 3, m).astype(float)
    x[: n // 4], y[: m // 3] = np.nan, np.nan
    for invert in (False, True):
        found = funcgrad.jit(lambda x, y, i=invert: fnp.isin(x, y, invert=i))(x, y)
        np.testing.assert_array_equal(found, np.isin(x, y, invert=invert))
    at = fnp.intersect1d(x, y, return_indices=True, size=7)
    values, first, second = np.intersect1d(x, y, return_indices=True)
    k = len(values)
    np.testing.assert_array_equal(at[1][:k], first)
    np.testing.assert_array_equal(at[2][:k], second)
    assert (at[1][k:] == n).all()
    assert (at[2][k:] == m).all()


def test_unique_with_names() -> None:
    x = np.array([3.0, 1.0, 3.0])
    assert funcgrad.jit(lambda x: fnp.unique_values(x, size=3, fill_value=9.0))(x).tolist() == [
        1,
        3,
        9,
    ]
    assert fnp.unique_counts(x, size=3).counts.tolist() == [1, 2, 0]
    assert fnp.unique_inverse(x, size=3).inverse_indices.tolist() == [1, 0, 1]
    assert fnp.unique_all(x, size=2).indices.tolist() == [1, 0]


# ---------------------------------------------------------------- counts and repetitions


@few
@given(seed=st.integers(0, 10**6), n=st.integers(0, 8), length=st.integers(0, 7))
def test_bincount_of_a_length(seed: int, n: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    x, w = rng.integers(0, 6, n), rng.normal(size=n)
    for weights in (None, w):
        expected = np.bincount(x, weights, minlength=length)[:length]

        def f(x: Any, weights: Any = weights) -> Any:
            return fnp.bincount(x, weights, length=length)

        for found in (f(x), funcgrad.jit(f)(x)):
            np.testing.assert_allclose(found, expected, rtol=1e-14)
            assert found.dtype == (float if weights is not None else int)
    report = check_all(lambda w: fnp.bincount(x, w, length=length), (w,))
    assert report.ok, str(report)
    rows = funcgrad.vmap(lambda x: fnp.bincount(x, length=length))(np.stack([x, x[::-1] // 2]))
    np.testing.assert_array_equal(rows[1], np.bincount(x // 2, minlength=length)[:length])


@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), total=st.integers(0, 9))
def test_repeat_to_a_length(seed: int, n: int, total: int) -> None:
    rng = np.random.default_rng(seed)
    x, repeats = rng.normal(size=(2, n)), rng.integers(0, 4, n)
    whole = np.repeat(x, repeats, axis=1)[:, :total]
    missing = total - whole.shape[1]
    expected = np.concatenate([whole, np.repeat(x[:, -1:], missing, axis=1)], axis=1)

    def f(x: Any, r: Any) -> Any:
        return fnp.repeat(x, r, 1, total_repeat_length=total)

    np.testing.assert_array_equal(f(x, repeats), expected)
    np.testing.assert_array_equal(funcgrad.jit(f)(x, repeats), expected)
    mapped = funcgrad.vmap(f)(np.stack([x, x]), np.stack([repeats, repeats[::-1]]))
    np.testing.assert_array_equal(mapped[1], f(x, repeats[::-1]))
    report = check_all(lambda x: f(x, repeats), (x,))
    assert report.ok, str(report)


# ---------------------------------------------------------------- reading outside


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "int8", "uint16", "bool"])
@pytest.mark.parametrize("fill", [None, 1])
def test_fill_is_that_of_jax(dtype: str, fill: Any, theirs: Any) -> None:
    x = (np.arange(12.0).reshape(3, 4) % 5).astype(dtype)
    i, along = np.array([[-4, 3], [-5, 9]]), np.array([[0, -4, 4], [-5, 1, 3], [7, 2, -1]])
    fill = None if fill is None else np.ones((), dtype)[()]
    for f in (
        lambda m, x, i: m.take(x, i, 1, mode="fill", fill_value=fill),
        lambda m, x, i: m.take(x, i, mode="fill", fill_value=fill),
        lambda m, x, _: m.take_along_axis(x, along, 1, mode="fill", fill_value=fill),
        lambda m, x, _: m.take_along_axis(x, along, 1, mode="clip"),
        lambda m, x, _: m.take_along_axis(
            x, along, 1, "fill", fill, wrap_negative_indices=False),
    ):  # fmt: skip
        expected = np.asarray(f(theirs.numpy, x, i))
        for y in (f(fnp, x, i), funcgrad.jit(lambda x, i, f=f: f(fnp, x, i))(x, i)):
            assert y.dtype == expected.dtype
            np.testing.assert_array_equal(y, expected)


def test_derivatives_of_what_is_inside() -> None:
    x, i = np.arange(1.0, 7.0).reshape(2, 3), np.array([0, 3, -1, -4, 0])
    for f in (
        lambda x: fnp.take(x, i, 1, mode="fill", fill_value=0.5),
        lambda x: fnp.take_along_axis(x, np.stack([i, i[::-1]]), 1, "fill", 0.5),
    ):
        report = check_all(f, (x,))
        assert report.ok, str(report)
    g = funcgrad.grad(lambda x: fnp.sum(fnp.log(fnp.take(x, i, 1, mode="fill", fill_value=1.0))))
    np.testing.assert_allclose(g(x), np.array([[2.0, 0.0, 1.0]]) / x)


# ---------------------------------------------------------------- order, sums, polynomials


@given(seed=st.integers(0, 10**6), n=st.integers(0, 7))
def test_descending_order_is_stable(seed: int, n: int) -> None:
    x = np.random.default_rng(seed).integers(0, 4, (2, n)).astype(float)
    x[x == 3] = np.nan
    key = np.where(np.isnan(x), -np.inf, -x)
    expected = np.argsort(key, axis=1, kind="stable")
    for f in (lambda x: x, funcgrad.jit):
        found = f(lambda x: fnp.argsort(x, 1, descending=True))(x)
        np.testing.assert_array_equal(found, expected)
        found = f(lambda x: fnp.sort(x, 1, descending=True))(x)
        np.testing.assert_array_equal(found, np.take_along_axis(x, expected, 1))
    assert fnp.argsort(x, dtype=np.int32).dtype == np.int32
    smooth = np.random.default_rng(seed).normal(size=(2, n))
    report = check_all(lambda x: fnp.sort(x, 0, descending=True), (smooth,))
    assert report.ok, str(report)


def test_integers_that_stay(theirs: Any) -> None:
    x = np.array([[200, 100], [3, 50]], np.uint8)
    for name in ("sum", "prod"):
        found = getattr(fnp, name)(x, 1, promote_integers=False)
        expected = np.asarray(getattr(theirs.numpy, name)(x, 1, promote_integers=False))
        assert found.dtype == expected.dtype == np.uint8
        np.testing.assert_array_equal(found, expected)
        assert getattr(fnp, name)(x / 2, promote_integers=False).dtype == float
        assert getattr(fnp, name)(x).dtype == getattr(np, name)(x).dtype


def test_polynomials_with_zeros_in_front() -> None:
    p, q = [0.0, 1.0, 2.0], [0.0, 0.0, 3.0]
    assert fnp.polymul(p, q).tolist() == [0, 0, 0, 3, 6]
    assert fnp.polymul(p, q, trim_leading_zeros=True).tolist() == [3.0, 6.0]
    assert fnp.polymul([0.0], [0.0], trim_leading_zeros=True).tolist() == [0.0]
    c = np.array([2.0, -6.0, 4.0, 0.0])
    found = funcgrad.jit(lambda c: fnp.roots(c, strip_zeros=False))(c)
    np.testing.assert_allclose(np.sort(found.real), [0.0, 1.0, 2.0], atol=1e-12)
    with pytest.raises(ConcretizationError, match="strip_zeros=False"):
        funcgrad.jit(fnp.roots)(c)


@given(seed=st.integers(0, 10**6), up=st.booleans(), right=st.booleans())
def test_digitize_with_traced_bins(seed: int, up: bool, right: bool) -> None:
    rng = np.random.default_rng(seed)
    bins = np.sort(rng.integers(0, 5, 4).astype(float))[:: 1 if up else -1]
    x = rng.integers(-1, 6, 6).astype(float)
    found = funcgrad.jit(lambda x, b: fnp.digitize(x, b, right, method="sort"))(x, bins)
    np.testing.assert_array_equal(found, np.digitize(x, bins, right))


def test_mask_indices_and_signatures(theirs: Any) -> None:
    for size in (2, 9):
        for a, b in zip(
            fnp.mask_indices(3, fnp.triu, 1, size=size),
            theirs.numpy.mask_indices(3, theirs.numpy.triu, 1, size=size),
            strict=True,
        ):
            np.testing.assert_array_equal(a, b)
    a, b = np.arange(24.0).reshape(4, 2, 3), np.arange(15.0).reshape(5, 1, 3)

    def twice(a: Any, b: Any) -> Any:
        return a @ b, (a @ b).sum()

    how = {"signature": "(m,n), (n)->(m),()"}
    found, expected = fnp.vectorize(twice, **how)(a, b), np.vectorize(twice, **how)(a, b)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y)
    report = check_all(lambda a, b: fnp.vectorize(twice, **how)(a, b)[0], (a, b))
    assert report.ok, str(report)


# ---------------------------------------------------------------- errors

X = np.array([1.0, 0.0, 2.0])


@pytest.mark.parametrize("name", ["nonzero", "argwhere", "flatnonzero", "unique", "where"])
def test_errors_name_the_way_out(name: str) -> None:
    with pytest.raises(ConcretizationError, match="size="):
        funcgrad.jit(getattr(fnp, name))(X)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: funcgrad.jit(fnp.union1d)(X, X), ConcretizationError, "size="),
        (lambda: funcgrad.jit(fnp.intersect1d)(X, X), ConcretizationError, "size="),
        (lambda: funcgrad.jit(lambda x: fnp.compress(x > 0, x))(X), ConcretizationError, "size="),
        (lambda: funcgrad.jit(lambda x: fnp.extract(x > 0, x))(X), ConcretizationError, "size="),
        (lambda: funcgrad.jit(fnp.bincount)(np.arange(3)), ConcretizationError, "length="),
        (lambda: funcgrad.jit(lambda r: fnp.repeat(X, r))(np.arange(3)), ConcretizationError,
         "total_repeat_length="),
        (lambda: fnp.nonzero(X, size=-1), ArgumentError, "size=-1"),
        (lambda: fnp.nonzero(X, size=1.5), ArgumentError, "size=1.5"),
        (lambda: fnp.nonzero(X, fill_value=1), ArgumentError, "without size="),
        (lambda: fnp.nonzero(X, size=1, fill_value=(1, 2)), ArgumentError, "1 axes"),
        (lambda: fnp.nonzero(X, size=1, fill_value=0.5), ArgumentError, "cannot hold"),
        (lambda: fnp.nonzero(np.float64(1.0), size=1), ShapeError, "0-d"),
        (lambda: fnp.where(X > 0, X, X, size=2), ArgumentError, "without x and y"),
        (lambda: fnp.unique(np.zeros(0), size=2), ArgumentError, "needs fill_value="),
        (lambda: fnp.unique(X, size=2, fill_value=1j), ArgumentError, "cannot hold"),
        (lambda: fnp.setdiff1d(X, X, fill_value=1.0), ArgumentError, "without size="),
        (lambda: fnp.compress([True] * 4, X, size=2), ShapeError, "a condition of 4"),
        (lambda: fnp.bincount(X, length=2), ArgumentError, "integers"),
        (lambda: fnp.bincount([-1], length=2), ArgumentError, "negative"),
        (lambda: fnp.repeat(X, [1, 2], total_repeat_length=2), ShapeError, "3 elements"),
        (lambda: fnp.repeat(X, [1, -2, 1], total_repeat_length=2), ArgumentError, "-2 repeats"),
        (lambda: fnp.repeat(X, X, total_repeat_length=2), ArgumentError, "integers"),
        (lambda: fnp.repeat(X[:0], 2, total_repeat_length=2), ShapeError, "no elements"),
        (lambda: fnp.take(X, 0, fill_value=1.0), ArgumentError, "mode='fill'"),
        (lambda: fnp.take(X, 0.5, mode="fill"), IndexError, "integers"),
        (lambda: fnp.take(np.arange(3), 5, mode="fill", fill_value=0.5), ArgumentError, "hold"),
        (lambda: fnp.take(X, 0, mode="drop"), ArgumentError, "'fill'"),
        (lambda: fnp.take_along_axis(X, np.arange(2), 0, wrap_negative_indices=False),
         ArgumentError, "mode='fill'"),
        (lambda: fnp.take_along_axis(X, np.arange(5), 0), IndexError, "out of bounds"),
        (lambda: fnp.searchsorted(X, X, method="fast"), ArgumentError, "method"),
        (lambda: fnp.digitize(X, X[:, None]), ShapeError, "one axis"),
        (lambda: fnp.vectorize(np.sum, signature="n->()"), ArgumentError, "signature"),
        (lambda: fnp.vectorize(np.add, signature="(n),(n)->(n)")(X, X[:2]), ShapeError, "axes"),
        (lambda: fnp.vectorize(np.add, signature="(n),(n)->()")(X, X), ShapeError, "results"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        call()
