"""Regions in C: random programs of small arrays give what eager evaluation gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import funcgrad as fg
import funcgrad.compile.call
import funcgrad.numpy as fnp
from funcgrad.compile import c_compiler, c_rows
from funcgrad.compile.groups import Group, kernels_of
from funcgrad.compile.lower import lower
from funcgrad.compile.program import Program
from funcgrad.compile.regions import with_regions
from funcgrad.compile.simplify import simplify
from funcgrad.compile.steps import KERNEL, VIEW

pytestmark = pytest.mark.skipif(c_compiler.compiler() is None, reason="there is no C compiler")

SIZES = (1, 2, 3, 5, 20)
Draw = Callable[[st.SearchStrategy], Any]


def shapes(most: int = 3) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.sampled_from(SIZES), max_size=most).map(tuple)


UNARY: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin,
    "tanh": np.tanh,
    "square": np.square,
    "negative": np.negative,
    "exp": lambda x: np.exp(np.minimum(x, 1.0)),
    "step": lambda x: np.where(x > 0.2, x, 0.5 * x),
    "integer": lambda x: (x > 0).astype(np.int64) * 3,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "multiply": np.multiply,
    "subtract": np.subtract,
    "maximum": np.maximum,
    "arctan2": np.arctan2,
    "select": lambda x, y: np.where(x < y, x, y),
}
REDUCE: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "max": np.max,
    "min": np.min,
    "mean": np.mean,
    "count": lambda x, axis, keepdims: 1.0 * np.sum(x > 0, axis=axis, keepdims=keepdims),
}


def axes_of(draw: Draw, ndim: int) -> tuple[int, ...]:
    return tuple(draw(st.sets(st.integers(0, ndim - 1), min_size=1)))


def slices(draw: Draw, shape: tuple[int, ...]) -> tuple[slice, ...]:
    found = []
    for n in shape:
        low = draw(st.integers(0, n - 1))
        high = draw(st.integers(low + 1, n))
        found.append(draw(st.sampled_from([slice(low, high), slice(None), slice(None, None, -1)])))
    return tuple(found)


def view(draw: Draw, shape: tuple[int, ...]) -> Callable[[Any], Any]:
    """Transposed, cut, with an axis more, of another shape, flattened, or broadcast."""
    kinds = ["transpose", "cut", "axis", "merged", "split", "flat", "broadcast"]
    kind = draw(st.sampled_from(kinds))
    if kind == "transpose":
        axes = draw(st.permutations(range(len(shape))))
        return lambda x: np.transpose(x, axes)
    if kind == "cut" and shape:
        index = slices(draw, shape)
        return lambda x: x[index]
    if kind == "axis":
        return lambda x: x[..., None]
    if kind == "merged" and len(shape) > 1:
        return lambda x: np.reshape(x, (-1, *shape[2:]))
    if kind == "split" and shape and shape[0] % 5 == 0:
        return lambda x: np.reshape(x, (5, -1, *shape[1:]))
    if kind == "broadcast":
        return lambda x: np.broadcast_to(x, (2, *shape))
    return lambda x: np.reshape(x, (-1,))


def joined(draw: Draw, shape: tuple[int, ...]) -> Callable[[Any], Any]:
    """Put together from itself, or into zeros."""
    axis = draw(st.integers(0, len(shape) - 1))
    before, after = draw(st.integers(0, 2)), draw(st.integers(1, 2))
    if draw(st.booleans()):
        return lambda x: np.concatenate([x, 2.0 * x, x], axis)
    widths = [(before, after) if a == axis else (0, 0) for a in range(len(shape))]
    return lambda x: np.pad(x, widths)


def gram(x: Any) -> Any:
    return np.matmul(np.swapaxes(x, -1, -2), x) if x.ndim > 1 else x @ x


def line(draw: Draw, known: list[tuple[int, ...]]) -> Callable[[list[Any]], Any]:
    """One more value from those that there are."""
    i = draw(st.integers(0, len(known) - 1))
    shape = known[i]
    kind = draw(st.sampled_from(["unary", "binary", "reduce", "view", "join", "product"]))
    if kind == "binary":
        j = draw(st.sampled_from([j for j in range(len(known)) if fit(shape, known[j])]))
        f = BINARY[draw(st.sampled_from(sorted(BINARY)))]
        return lambda values: f(values[i], values[j])
    if kind == "reduce" and shape:
        axis, keepdims = axes_of(draw, len(shape)), draw(st.booleans())
        reduce = REDUCE[draw(st.sampled_from(sorted(REDUCE)))]
        return lambda values: reduce(values[i], axis=axis, keepdims=keepdims)
    if kind == "view":
        g = view(draw, shape)
    elif kind == "join" and shape:
        g = joined(draw, shape)
    elif kind == "product" and shape:
        g = gram
    else:
        g = UNARY[draw(st.sampled_from(sorted(UNARY)))]
    return lambda values: g(values[i])


def program(draw: Draw, count: int) -> tuple[Callable[..., Any], list[tuple[int, ...]]]:
    """A function of two arrays, and their shapes; some of its values are its results."""
    known = [draw(shapes()), draw(shapes())]
    lines: list[Callable[[list[Any]], Any]] = []
    given_shapes = known[:]
    for _ in range(count):
        made = line(draw, known)
        with np.errstate(all="ignore"):
            shape = np.shape(made([np.zeros(s) for s in known]))
        if np.prod(shape) <= 20_000 and len(shape) <= 5:
            lines.append(made)
            known.append(shape)
    results = draw(st.lists(st.integers(0, len(known) - 1), min_size=3, max_size=6))

    def run(x: Any, y: Any) -> Any:
        values = [x, y]
        for made in lines:
            values.append(made(values))
        return [values[-1], *(values[k] for k in results)]

    return run, given_shapes


def fit(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True


def same(found: Any, expected: Any, dtype: Any) -> None:
    tight = dtype == np.float64
    for a, b in zip(found, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape and a.dtype == b.dtype
        scale = np.max(np.abs(b), initial=1.0, where=np.isfinite(b))
        np.testing.assert_allclose(
            a, b, rtol=1e-9 if tight else 1e-3, atol=scale * (1e-11 if tight else 1e-4)
        )


def in_c(f: Callable[..., Any], args: list[Any]) -> Callable[..., Any]:
    """The compiled function; what has regions has been compiled."""
    made = Program(fg.make_jaxpr(f)(*args), "c")
    assert made.c_source or not kernels_of(with_regions(made.lowered))
    return lambda *xs: made.run(*made.jaxpr.consts, *xs)


@contextmanager
def rows(in_cache: int | None) -> Iterator[None]:
    """Everything that can be a loop over rows of so many bytes is one, if there is a number."""
    with pytest.MonkeyPatch.context() as patch:
        if in_cache is not None:
            patch.setattr(c_rows, "IN_CACHE", in_cache)
            patch.setattr(c_rows, "SHORT", 1)
            patch.setattr(c_rows, "MANY", 1)
        yield


BY_ROWS = pytest.mark.parametrize("by_rows", [None, 0, 64])


@BY_ROWS
@settings(max_examples=40)
@given(data=st.data(), dtype=st.sampled_from([np.float64, np.float32]), count=st.integers(5, 40))
def test_programs(by_rows, data, dtype, count):
    f, given_shapes = program(data.draw, count)
    rng = np.random.default_rng(count)
    args = [np.asarray(rng.normal(size=s), dtype) for s in given_shapes]
    with rows(by_rows):
        compiled = in_c(f, args)
    with np.errstate(all="ignore"):
        same(compiled(*args), f(*args), dtype)
        # Of arrays that are not dense, and again, as memory was used before.
        strange = [np.repeat(a.T, 2, 0)[::2].T if a.ndim else a for a in args]
        same(compiled(*strange), f(*args), dtype)


@BY_ROWS
@settings(max_examples=25)
@given(data=st.data(), count=st.integers(3, 15))
def test_gradients(by_rows, data, count):
    f, given_shapes = program(data.draw, count)
    rng = np.random.default_rng(count)
    args = [np.asarray(rng.normal(size=s)) for s in given_shapes]

    def loss(x: Any, y: Any) -> Any:
        # Well-conditioned where products of products are large, as a sine is not.
        return sum(np.sum(np.arctan(v)) for v in f(x, y))

    slope = fg.grad(loss, (0, 1))
    with np.errstate(all="ignore"), rows(by_rows):
        same(in_c(slope, args)(*args), slope(*args), np.float64)


@settings(max_examples=25)
@given(st.data(), st.integers(1, 8), st.integers(1, 4), st.booleans())
def test_loops(data, count, length, reverse):
    """The carry is an array and a number; rows come and go; what is constant is read by every row."""
    body, (shape, row) = program(data.draw, count)
    rng = np.random.default_rng(count)
    args = [np.asarray(rng.normal(size=s)) for s in (shape, (length, *row))]

    def f(x: Any, rows: Any) -> Any:
        def step(carry: Any, y: Any) -> Any:
            a, b, total = carry
            made = body(np.tanh(a + x), y)
            total = total + sum(np.sum(np.tanh(v)) for v in made)
            return (b, np.cos(a) * np.tanh(total), total), (made[0], a, total)

        return fg.lax.scan(step, (x, 2.0 * x, np.float64(0)), rows, reverse=reverse)

    def flat(x: Any, rows: Any) -> Any:
        return fg.tree.leaves(f(x, rows))

    with np.errstate(all="ignore"):
        same(in_c(flat, args)(*args), flat(*args), np.float64)

        def loss(x: Any, rows: Any) -> Any:
            return sum(np.sum(v) for v in flat(x, rows))

        slope = fg.grad(loss, (0, 1))
        same(in_c(slope, args)(*args), slope(*args), np.float64)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("axis", [0, 1])
def test_joined_rows(width: int, axis: int) -> None:
    """What is chosen from two arrays is read from one: GCC 12 took masks of other rows."""
    rng = np.random.default_rng(0)
    for m, n in ((1, 1), (2, 3), (3, 2), (7, 4), (16, 9)):
        a, b = rng.normal(size=(m, width)), rng.normal(size=(n, width))
        a, b = (a, b) if axis == 0 else (a.T.copy(), b.T.copy())

        def f(a: Any, b: Any) -> Any:
            joined = np.concatenate([a, b * b, np.sin(a)], axis=axis)
            left = fg.numpy.pad(joined[1:] * 2.0, ((2, 1), (0, 1)))
            return [joined, left, left.sum(axis=0)]

        def loss(a: Any, b: Any) -> Any:
            return sum(np.sum(np.sin(v)) for v in f(a, b))

        args = [a, b]
        slope = fg.grad(loss, (0, 1))
        same(in_c(f, args)(*args), f(*args), np.float64)
        same(in_c(slope, args)(*args), slope(*args), np.float64)


@pytest.mark.parametrize("width", [2, 3, 4, 5, 6, 7])
def test_products_of_short_rows(width: int) -> None:
    """Rows that are written out: GCC 12 shuffles wide vectors of three wrongly."""
    rng = np.random.default_rng(0)
    for rows in (3, 8, 12, 33):
        for dtype in (np.float64, np.float32):
            args = [rng.normal(size=(rows, width)).astype(dtype)]

            def f(x: Any) -> Any:
                outer = x[:, None, :] * x[:, :, None]
                return [outer.sum(-1), outer.max(1), x - x.mean(1, keepdims=True)]

            def loss(x: Any) -> Any:
                return sum(np.sum(v * v) for v in f(x))

            same(in_c(f, args)(*args), f(*args), dtype)
            slope = fg.grad(loss)
            same(in_c(slope, args)(*args), [slope(*args)], dtype)


def test_more_results_than_a_ufunc_has_axes() -> None:
    x = np.arange(9.0).reshape(3, 3)

    def f(x: Any) -> Any:
        return [x * (k + x.sum()) for k in range(33)]

    same(in_c(f, [x])(x), f(x), np.float64)


@pytest.mark.parametrize("shape", [(16, 4, 64, 32), (12, 5, 40, 48), (6, 300, 2, 20)])
def test_large_arrays_are_not_read_in_many_places_at_once(shape: tuple[int, ...]) -> None:
    """A short outer axis that is written out makes every turn go to far places."""

    def f(x: Any) -> Any:
        turned = np.moveaxis(x, 0, -2).reshape(-1, shape[-1])
        both = np.concatenate([turned, turned * 2.0], axis=1)
        return [both, both.sum(axis=0)]

    x = np.random.default_rng(0).normal(size=shape)
    same(in_c(f, [x])(x), f(x), np.float64)
    nests = Program(fg.make_jaxpr(f)(x), "c").c_source.split("#pragma omp simd")
    assert max(nest.count("= a0[") for nest in nests) <= 4


@pytest.mark.parametrize("axis", [0, 1])
def test_joined_arrays_are_loops_one_after_another(axis: int) -> None:
    """Vectors are read from one array; where there are many arrays, places are chosen."""
    x, y = np.arange(40.0 * 30).reshape(40, 30), -np.arange(40.0 * 30).reshape(40, 30)

    def f(x: Any, y: Any) -> Any:
        padded = np.pad(x, 1)[1:-1, 1:-1] + np.pad(x * 2.0, [(0, 1), (2, 3)])[:-1, 3:-2]
        joined = np.concatenate([x, y + 1.0, x * y], axis=axis) * 3.0
        return [padded * y, joined, joined.sum(), joined.max(axis=1 - axis)]

    def many(x: Any, y: Any) -> Any:
        return [np.concatenate([x + k for k in range(150)] + [y], axis=axis) * 3.0]

    for g, chosen in ((f, False), (many, True)):
        made = Program(fg.make_jaxpr(g)(x, y), "c")
        assert ("? &" in made.c_source) == chosen
        same(in_c(g, [x, y])(x, y), g(x, y), np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("n", [8, 16, 24, 40, 64, 256, 520])
def test_rows_of_whole_vectors(n: int, dtype: Any) -> None:
    """Reductions of them are gathered in vectors, whose halves are joined; NaNs stay."""
    rng = np.random.default_rng(n)
    x = rng.integers(-9, 10, (20, n)).astype(dtype)
    y = rng.integers(-9, 10, (3, 20, n)).astype(dtype)
    if x.dtype.kind == "f":
        x[3, n // 2], x[4, 0], x[5, -1], x[6] = np.nan, np.inf, -np.inf, np.nan
        y[0, 7, 5] = np.nan

    def f(x: Any, y: Any) -> Any:
        low = np.where(x > 1, x, -x).min(axis=1)
        return [
            *(x.sum(axis=1), x.max(axis=1), low, (x * 0 + 2 * (x > 5)).max(axis=1)),
            *(y.sum(axis=(0, 2)), y.max(axis=(0, 2)), y.min(axis=2), (x * y[0]).sum(axis=1)),
            *(np.square(x).max(), (x + 1 - x).prod(axis=1), y.transpose(2, 0, 1).sum(axis=0)),
        ]

    with np.errstate(all="ignore"):
        same(in_c(f, [x, y])(x, y), f(x, y), np.float32)


@pytest.mark.parametrize(
    ("n", "dtype", "in_lanes"),
    [
        *((64, "f4", True), (24, "f4", True), (20, "f8", True), (256, "f8", True)),
        *((30, "f4", False), (1024, "f4", False), (21, "f8", False), (64, "i4", False)),
    ],
)
def test_which_rows_are_gathered_in_vectors(n: int, dtype: str, in_lanes: bool) -> None:
    x = np.ones((18, n), dtype)
    made = Program(fg.make_jaxpr(lambda x: np.square(x).sum(axis=1))(x), "c")
    assert ("lanes" in made.c_source) == in_lanes


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8, 10, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_written_out(n: int, dtype: Any) -> None:
    """Vectors go across them, in steps that GCC makes vectors of, or of which it knows nothing."""
    x = np.random.default_rng(n).normal(size=(50, n)).astype(dtype)

    def f(x: Any) -> Any:
        weights = np.exp(x - x.max(axis=1, keepdims=True))
        weights = weights / weights.sum(axis=1, keepdims=True)
        return [weights, (weights * x).sum(axis=1), x[:, 0] * x[:, 1]]

    same(in_c(f, [x])(x), f(x), dtype)
    source = Program(fg.make_jaxpr(f)(x), "c").c_source
    assert (f"= {n};" in source) == (n in (5, 6, 7, 10, 12))


SINGLE: dict[str, Callable[..., Any]] = {
    "sum": lambda x, y: x.sum(axis=1),
    "maximum": lambda x, y: x.max(axis=-1),
    "row": lambda x, y: x - y[0],
    "column": np.multiply,
    "joined": lambda x, y: np.concatenate([x, x], axis=1),
}


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize(
    ("n", "rows", "is_c"), [(5, 400, True), (5, 100, False), (300, 400, False)]
)
def test_single_steps_are_c_where_rows_are_many_and_short(
    name: str, n: int, rows: int, is_c: bool
) -> None:
    f, x, y = SINGLE[name], np.random.default_rng(0).normal(size=(rows, n)), np.ones((2, n))
    if name == "column":
        x, y = x[:, :1], y[0]
    found = with_regions(lower(simplify(fg.make_jaxpr(f)(x, y))))
    assert (KERNEL in [step.kind for step in found.steps]) == is_c
    same([funcgrad.jit(f)(x, y)], [f(x, y)], np.float64)


def test_what_numpy_does_in_several_passes_is_c_for_large_arrays() -> None:
    x = np.random.default_rng(0).normal(size=(300, 400))

    def f(x: Any) -> Any:
        low = np.tril(x) - np.triu(x, 2)
        return [x.var(axis=0), x.std(axis=1, ddof=1), low, np.cumsum(x, axis=1), x.var()]

    assert all(
        step.kind in (KERNEL, VIEW) for step in with_regions(lower(fg.make_jaxpr(f)(x))).steps
    )
    same(in_c(f, [x])(x), f(x), np.float64)


def test_layers_that_are_alike_are_one_function() -> None:
    def f(x: Any, w: Any, b: Any) -> Any:
        for _ in range(5):
            x = np.tanh(x @ w + b) * x
        return np.sin(x @ w - b)

    rng = np.random.default_rng(0)
    args = [rng.normal(size=shape) for shape in ((200, 300), (300, 300), (300,))]
    compiled = funcgrad.jit(f)
    with funcgrad.config("c"):
        np.testing.assert_allclose(compiled(*args), f(*args), rtol=1e-9, atol=1e-12)
        assert compiled.code.count("kernel0(") == 5 and compiled.code.count("kernel1(") == 1
        assert "kernel2" not in compiled.code


def test_neighbours_in_long_steps() -> None:
    """Vectors along the examples, whose rows are written out: GCC read all between, for minutes."""

    def pooled(x: Any) -> Any:
        rows = np.maximum(x[:, :, ::2], x[:, :, 1::2])
        return np.maximum(rows[..., ::2], rows[..., 1::2])

    x = np.random.default_rng(0).normal(size=(64, 32, 8, 8)).astype(np.float32)
    f = funcgrad.jit(pooled)
    with funcgrad.config("c"):
        np.testing.assert_array_equal(f(x), pooled(x))
        assert "kernel" in f.code


@pytest.mark.parametrize("width", [2, 3, 6, 8, 9, 12])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_small_matrices(width: int, dtype: Any) -> None:
    """Alone and among other steps, with transposed operands and with thin ones."""
    rng = np.random.default_rng(0)
    args = [rng.normal(size=(33, *s)).astype(dtype) for s in ((width, width), (width, 3))]

    def single(x: Any, _: Any) -> Any:
        return [x @ x.swapaxes(1, 2)]

    def f(x: Any, y: Any) -> Any:
        z = np.sin(x) @ x
        return [z @ y, y.swapaxes(1, 2) @ z * 2, (z @ z.swapaxes(1, 2)).sum(0)]

    def loss(*xs: Any) -> Any:
        return sum(np.sum(v * v) for v in f(*xs))

    for g in (single, f, fg.grad(loss, (0, 1))):
        same(in_c(g, args)(*args), g(*args), dtype)
    assert "kernel" in Program(fg.make_jaxpr(single)(*args), "c").source


def test_regions_with_too_many_arguments_are_split() -> None:
    """A ufunc takes so many arguments only; the others were left to NumPy, all of them."""
    rng = np.random.default_rng(0)
    args = [rng.normal(size=(3, 4)) for _ in range(70)]

    def f(*xs: Any) -> list[Any]:
        rows = [x.sum(1) for x in xs]
        return [*(np.sin(r) * rows[i - 1] for i, r in enumerate(rows)), sum(rows)]

    same(in_c(f, args)(*args), f(*args), np.float64)
    source = Program(fg.make_jaxpr(f)(*args), "c").source
    assert "kernel2" in source and "np_sin" not in source


def test_what_shares_nothing_is_split_from_what_is_too_large() -> None:
    """Fifty updates that share a step size are fifty flat loops in place, not two that make copies."""
    xs = [np.full((4, 5), float(i)) for i in range(70)]

    def f(rate: Any, *xs: Any) -> list[Any]:
        small = np.sqrt(rate) / (1 + rate)
        return [np.sin(x) * small + x for x in xs]

    args = (np.float64(0.3), *xs)
    same(in_c(f, args)(*args), f(*args), np.float64)
    found = kernels_of(with_regions(lower(fg.make_jaxpr(f)(*args))))
    assert sum(step.function.__class__ is Group for step in found) == len(xs)


WIDE: dict[str, Callable[..., Any]] = {
    "scan": lambda k, xs: fg.lax.scan(
        lambda xs, _: ([np.sin(a) + k * b for a, b in zip(xs, xs[::-1], strict=True)], xs[0]),
        xs,
        None,
        length=3,
    ),
    "fori_loop": lambda k, xs: fg.lax.fori_loop(
        0, k, lambda i, xs: [np.cos(a) * i + 0.5 * b for a, b in zip(xs, xs[::-1], strict=True)], xs
    ),
    "cond": lambda k, xs: fg.lax.cond(
        k > 0, lambda xs: [x[::-1] * x for x in xs], lambda xs: xs, xs
    ),
    "out of bounds": lambda k, xs: fg.lax.fori_loop(
        0, 2, lambda i, xs: [x + fnp.take(x, k + i, mode="clip") for x in xs], xs
    ),
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("k", [-1, 0, 2])
def test_loops_over_more_arrays_than_a_ufunc_takes(name: str, k: int) -> None:
    """Numbers, arrays that are not dense and of other dtypes, too."""
    xs: list[Any] = [np.linspace(-1.0, 1.0, 3) * i for i in range(66)]
    xs += [np.arange(6.0)[::2], np.arange(3.0, dtype=np.float32), np.arange(3.0).reshape(3, 1).T[0]]
    args = [k, *xs]

    def f(k: Any, *xs: Any) -> Any:
        return fg.tree.leaves(WIDE[name](k, list(map(fnp.asarray, xs))))

    if name != "cond":
        args[67:] = [np.asarray(x, np.float64) for x in args[67:]]
    made = Program(fg.make_jaxpr(f)(*args), "c")
    assert "arrays[i]" in made.c_source
    with fg.disable_jit():
        expected = f(*args)
    bytes_ = np.frombuffer(b"\0" + args[7].tobytes(), np.uint8)[1:]
    args[7] = bytes_.view(args[7].dtype)  # not aligned
    assert not args[7].flags.aligned
    found = made.run(*made.jaxpr.consts, *args)
    for x, y in zip(found, expected, strict=True):
        assert (np.shape(x), np.asarray(x).dtype) == (np.shape(y), np.asarray(y).dtype)
        np.testing.assert_allclose(x, y, rtol=1e-6 if np.asarray(y).dtype.itemsize == 4 else 1e-12)


def test_one_result_of_more_arrays_than_a_ufunc_takes() -> None:
    def f(*xs: Any) -> Any:
        return fg.lax.cond(xs[0][0] > 0.5, lambda *xs: sum(map(np.sin, xs)), lambda *xs: xs[1], *xs)

    xs = [np.linspace(i, i + 1.0, 3) for i in range(70)]
    with fg.config("c"):
        for first in (0.0, 1.0):
            xs[0] = np.full(3, first)
            found = fg.jit(f)(*xs)
            assert isinstance(found, np.ndarray)
            np.testing.assert_allclose(found, f(*xs), rtol=1e-13)


def test_many_arrays_by_columns_beside_one_between_places() -> None:
    """The second has all of them copied, row by row."""
    xs: list[Any] = [np.linspace(-1.0, 1.0, 12).reshape(3, 4) * i for i in range(66)]

    def f(*xs: Any) -> Any:
        def step(_: Any, xs: Any) -> Any:
            return [x * 0.5 + y for x, y in zip(xs, [*xs[1:], xs[0]], strict=True)]

        return fg.lax.fori_loop(0, 2, step, list(xs))

    made = Program(fg.make_jaxpr(f)(*xs), "c")
    assert "arrays[i]" in made.c_source
    expected = made.run(*made.jaxpr.consts, *xs)
    xs[5] = np.frombuffer(b"\0" + xs[5].tobytes(), np.uint8)[1:].view(float).reshape(3, 4)
    xs[7] = np.asfortranarray(xs[7])
    for x, y in zip(made.run(*made.jaxpr.consts, *xs), expected, strict=True):
        np.testing.assert_array_equal(x, y)


DIAGONALS = [
    ((3, 3), 0, 0, 1),
    ((3, 4), 1, 0, 1),
    ((4, 3), -2, 1, 0),
    ((2, 3, 4), 0, 1, 2),
    ((3, 2, 4), 1, 0, 2),
    ((2, 3, 5), 2, 2, 1),
    ((1, 2, 2), 1, 1, 2),
]


@pytest.mark.parametrize("case", DIAGONALS, ids=repr)
def test_gradients_of_diagonals_are_steps_of_a_region(case: Any) -> None:
    shape, offset, axis1, axis2 = case
    x = np.random.default_rng(0).normal(size=shape)

    def f(x: Any) -> Any:
        found = np.diagonal(np.sin(x), offset, axis1, axis2)
        return fnp.sum(found * found)

    gradient = fg.grad(f)
    compiled = in_c(gradient, [x])
    np.testing.assert_allclose(compiled(x)[0], gradient(x), rtol=1e-12)


def test_loops_over_diagonals_have_no_calls() -> None:
    def f(q: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            return 0.9 * c + q, fnp.log(fnp.diagonal(fnp.eye(2) * (1 + c * c))).sum()

        return fg.lax.scan(step, 0.0, length=30)[1].sum()

    made = Program(fg.make_jaxpr(fg.grad(f))(1.0), "c")
    assert "call_" not in made.source and "kernel0" in made.source, made.source


@pytest.mark.parametrize("number", [np.float64(-2.0), np.float32(0.5)])
def test_numbers_beside_traced_ones(number: Any) -> None:
    def f(x: Any) -> Any:
        return np.stack([number, np.exp(x), -number]) * x

    with funcgrad.config("c"):
        np.testing.assert_allclose(funcgrad.jit(f)(0.7), f(0.7))
        slope = funcgrad.jit(funcgrad.jacobian(f))(0.7)
    np.testing.assert_allclose(slope, funcgrad.jacobian(f)(0.7))


def _long(x: Any) -> Any:
    for _ in range(200):
        x = np.sin(x) * 1.01 + 0.1
    return x[0]


def _wide(*xs: Any) -> Any:
    return [np.sin(x) * y for x, y in itertools.pairwise(xs)]


@pytest.mark.parametrize(
    ("f", "count"),
    [(lambda x: [fg.grad(_long)(x)], 1), (_wide, 40)],
    ids=["many steps", "many arrays"],
)
def test_more_than_one_group(f: Any, count: int) -> None:
    """Elementwise steps over one shape, more than a loop of their own takes: not left to NumPy."""
    args = [np.linspace(0.1, 0.9, 1) + k for k in range(count)]
    same(in_c(f, args)(*args), f(*args), np.float64)
    source = Program(fg.make_jaxpr(f)(*args), "c").source
    assert "kernel" in source and "np_sin" not in source
