"""Index expressions: reading and writing traced arrays means what it means for NumPy's arrays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ConcretizationError, MutationError
from funcgrad.indexing import add_at, basic_link, normal_index, read, write
from funcgrad.ops import index as ops
from funcgrad.ops import join, structural
from funcgrad.ops.index_layout import FULL, ArrayIndex, Iota

# ---------------------------------------------------------------- index expressions


class Case(NamedTuple):
    """An array, an index of it, and the shape of what NumPy finds there."""

    x: np.ndarray
    index: Any

    @property
    def part(self) -> np.ndarray:
        return np.asarray(self.x[self.index])


@st.composite
def cases(draw: Any, *, arrays: bool = True) -> Case:
    """Any index that fits: basic, or mixed with arrays, lists and masks of any rank."""
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=4)))
    block = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    entries: list[Any] = []
    axis = 0
    while axis < len(shape) and draw(st.integers(0, 5)):
        kinds = ["int", "slice", "slice"]
        if arrays:
            kinds += ["array", "array", "list", "mask"]
        kind = draw(st.sampled_from(kinds))
        n = shape[axis]
        if kind == "mask":
            rank = draw(st.integers(0, min(2, len(shape) - axis)))
            mask, block = _mask(draw, shape[axis : axis + rank], block)
            entries.append(mask)
            axis += rank
            continue
        entries.append(_entry(draw, kind, n, block))
        axis += 1
    if draw(st.booleans()):
        # What follows an ellipsis that stands for axes would index others than it was drawn for.
        place = draw(st.integers(0, len(entries))) if axis == len(shape) else len(entries)
        entries.insert(place, ...)
    for _ in range(draw(st.integers(0, 1))):
        entries.insert(draw(st.integers(0, len(entries))), None)
    index = entries[0] if len(entries) == 1 and draw(st.booleans()) else tuple(entries)
    seed = draw(st.integers(0, 99))
    return Case(np.random.default_rng(seed).normal(size=shape), index)


def _entry(draw: Any, kind: str, n: int, block: tuple[int, ...]) -> Any:
    if kind == "slice" or n == 0:
        bounds = st.none() | st.integers(-5, 5)
        step = draw(st.sampled_from([None, 1, 2, -1, -2]))
        return slice(draw(bounds), draw(bounds), step)
    if kind == "int":
        return (
            draw(st.sampled_from([int, np.int8, np.uint64, np.int64]))(draw(st.integers(0, n - 1)))
            - (n if draw(st.booleans()) else 0) * 0
        )
    part = tuple(m if draw(st.integers(0, 3)) else 1 for m in block)
    part = part[draw(st.integers(0, len(part))) :]
    found = draw(_filled(part, st.integers(-n, n - 1)))
    if kind == "list":
        return found.tolist() if found.ndim else [found.item()]
    return found.astype(draw(st.sampled_from([np.int64, np.int32, np.int8])))


def _filled(shape: tuple[int, ...], elements: Any) -> Any:
    size = int(np.prod(shape))
    values = st.lists(elements, min_size=size, max_size=size)
    return values.map(lambda v: np.array(v, dtype=int).reshape(shape))


def _mask(draw: Any, shape: tuple[int, ...], block: tuple[int, ...]) -> Any:
    """A mask, and what other index arrays may have as their shape beside it."""
    mask = draw(_filled(shape, st.integers(0, 1))).astype(bool)
    if not shape:
        return draw(st.sampled_from([bool(mask), np.bool(mask), mask])), (1,)
    return mask, (int(mask.sum()),) if block != (1,) else block


def accepted_by_numpy(case: Case) -> bool:
    try:
        case.part  # noqa: B018
    except IndexError:
        return False
    return True


def mixed() -> Any:
    return cases().filter(accepted_by_numpy)


def traced(f: Callable[..., Any], *xs: Any) -> list[Any]:
    """The values of `f` under each transform: all have to be those of NumPy."""
    ones = tuple(np.ones_like(x) for x in xs)
    program = funcgrad.make_jaxpr(f)(*xs)
    funcgrad.check_jaxpr(program)
    (replayed,) = funcgrad.eval_jaxpr(program, *xs)
    batched = funcgrad.vmap(f)(*(np.stack([x, 2 * x]) for x in xs))[0]
    return [funcgrad.jvp(f, xs, ones)[0], funcgrad.vjp(f, *xs)[0], replayed, batched]


def assert_adjoint(f: Callable[..., Any], *xs: Any) -> None:
    """``<ct, J t> = <J^T ct, t>``, and `f` is linear, so that J t = f(t) - f(0)."""
    rng = np.random.default_rng(0)
    ts = tuple(rng.normal(size=x.shape) for x in xs)
    y, dy = funcgrad.jvp(f, xs, ts)
    ct = rng.normal(size=y.shape)
    found = funcgrad.vjp(f, *xs)[1](ct)
    np.testing.assert_allclose(
        np.sum(ct * dy), sum(np.sum(g * t) for g, t in zip(found, ts, strict=True)), atol=1e-12
    )
    zeros = tuple(np.zeros_like(x) for x in xs)
    np.testing.assert_allclose(dy, np.asarray(f(*ts)) - np.asarray(f(*zeros)), atol=1e-12)
    assert_second_order(f, xs, ts, ct)


def assert_second_order(f: Callable[..., Any], xs: Any, ts: Any, ct: Any) -> None:
    """Of ``f(x**2)``: forward over reverse is reverse over reverse."""

    def gradient(*xs: Any) -> Any:
        return funcgrad.vjp(lambda *xs: f(*(x * x for x in xs)), *xs)[1](ct)

    forward = funcgrad.jvp(gradient, xs, ts)[1]
    back = funcgrad.vjp(gradient, *xs)[1](ts)
    for a, b in zip(forward, back, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


# ---------------------------------------------------------------- reading


@given(mixed())
def test_reading_is_numpys(case: Case) -> None:
    found = read(case.x, case.index)
    assert found.dtype == case.x.dtype
    np.testing.assert_array_equal(found, case.part, strict=True)
    for y in traced(lambda x: read(x, case.index), case.x):
        np.testing.assert_array_equal(y, case.part, strict=True)


@given(cases())
def test_what_numpy_refuses_is_refused(case: Case) -> None:
    if not accepted_by_numpy(case):
        with pytest.raises(IndexError):
            read(case.x, case.index)


@given(mixed())
def test_reading_is_differentiable(case: Case) -> None:
    assert_adjoint(lambda x: read(x, case.index), case.x)


@given(cases(arrays=False))
def test_basic_links_have_one_entry_per_axis(case: Case) -> None:
    link = basic_link(case.index, case.x.shape)
    assert link is not None
    hash(link)
    assert len([i for i in link if i is not None]) == case.x.ndim
    np.testing.assert_array_equal(case.x[ops.as_index(link)], case.part)
    assert basic_link(ops.as_index(link), case.x.shape) == link


@given(mixed(), st.data())
def test_vmap_over_index_arrays(case: Case, data: Any) -> None:
    """All of the index arrays, or some, differ from example to example."""
    shape, template, arrays = normal_index(case.index, case.x.shape)
    if not arrays:
        return
    x = case.x.reshape(shape)
    entries = [i for i in template if i is not None and i is not ...]
    lengths = [n for n, i in zip(shape, entries, strict=True) if isinstance(i, ArrayIndex)]
    batches = [
        np.stack([a, (a + 1) % max(n, 1)], axis=-1) for a, n in zip(arrays, lengths, strict=True)
    ]
    xs = np.stack([x, 3 * x])
    for chosen in itertools.product((False, True), repeat=len(arrays)):
        for x_axis in (None, 0):
            axes = [-1 if c else None for c in chosen]
            if x_axis is None and not any(chosen):
                continue
            given_arrays = [b if c else a for a, b, c in zip(arrays, batches, chosen, strict=True)]

            def at(k: int, c: bool, a: Any, b: Any) -> Any:
                return b[..., k] if c else a

            for prim in (ops.gather, ops.gather_last):
                f = lambda x, *i, prim=prim: prim(x, *i, index=template)  # noqa: E731
                found = funcgrad.vmap(f, in_axes=(x_axis, *axes))(
                    x if x_axis is None else xs, *given_arrays
                )
                for k in range(2):
                    one = [at(k, c, a, b) for a, b, c in zip(arrays, batches, chosen, strict=True)]
                    expected = f(x if x_axis is None else xs[k], *one)
                    np.testing.assert_array_equal(found[k], expected)


def test_traced_integers_are_index_arrays() -> None:
    x = np.arange(12.0).reshape(3, 4)
    rows, columns = np.array([0, 2, 2]), np.array([1, -1, 0])
    found = funcgrad.vmap(lambda i, j: read(x, (i, j)))(rows, columns)
    np.testing.assert_array_equal(found, x[rows, columns])
    found = funcgrad.vmap(lambda i: read(x, (slice(None), i)))(columns)
    np.testing.assert_array_equal(found, x[:, columns].T)
    found = funcgrad.vmap(lambda i, j: read(x, [i, j]))(rows, columns % 3)
    np.testing.assert_array_equal(found, x[np.stack([rows, columns], axis=1) % 3])
    program = funcgrad.make_jaxpr(lambda i: read(x, (i, 2)))(1)
    assert "gather[index=(i0, 2)]" in str(program)


def test_an_integer_whose_value_is_known_gives_a_view() -> None:
    def f(x: Any) -> Any:
        order = fnp.zeros(2, int)
        order[0] = 1
        z = fnp.zeros((2, 3))
        row = z[order[0]]
        row[1] = x
        return z

    x = np.array([2.0, 3.0])
    np.testing.assert_array_equal(funcgrad.vmap(f)(x)[:, 1, 1], x)
    np.testing.assert_array_equal(funcgrad.jvp(f, (x[0],), (1.0,))[1], [[0, 0, 0], [0, 1, 0]])


# ---------------------------------------------------------------- writing


def numpy_write(x: np.ndarray, index: Any, value: Any) -> np.ndarray:
    """NumPy's assignment, one element after the other where its order matters."""
    out = x.copy()
    places = np.arange(x.size).reshape(x.shape)[index]
    values = np.broadcast_to(value, places.shape)
    for place, v in zip(places.ravel(), values.ravel(), strict=True):
        out.reshape(-1)[place] = v
    return out


def numpy_add(x: np.ndarray, index: Any, value: Any) -> np.ndarray:
    """``np.add.at``, which in NumPy 2.4 reads beyond values that broadcast along one axis."""
    out = x.copy()
    np.add.at(out, index, np.broadcast_to(value, x[index].shape).copy())
    return out


@st.composite
def writes(draw: Any) -> tuple[Case, np.ndarray]:
    case = draw(mixed())
    shape = case.part.shape
    shape = tuple(n if draw(st.integers(0, 3)) else 1 for n in shape)
    shape = shape[draw(st.integers(0, len(shape))) :] if draw(st.booleans()) else shape
    seed = draw(st.integers(0, 99))
    return case, np.random.default_rng(seed).normal(size=shape)


@given(writes())
def test_writing_is_numpys(drawn: Any) -> None:
    case, value = drawn
    expected = numpy_write(case.x, case.index, value)
    before = case.x.copy()
    np.testing.assert_array_equal(write(case.x, case.index, value), expected, strict=True)
    np.testing.assert_array_equal(case.x, before)
    for y in traced(lambda x, v: write(x, case.index, v), case.x, value):
        np.testing.assert_array_equal(y, expected, strict=True)


@given(writes())
def test_writing_is_differentiable(drawn: Any) -> None:
    case, value = drawn
    assert_adjoint(lambda x, v: write(x, case.index, v), case.x, value)


@given(writes())
def test_adding_is_numpys(drawn: Any) -> None:
    case, value = drawn
    expected = numpy_add(case.x, case.index, value)
    for y in [
        add_at(case.x, case.index, value),
        *traced(lambda x, v: add_at(x, case.index, v), case.x, value),
    ]:
        np.testing.assert_allclose(y, expected, rtol=1e-14, atol=1e-14)
        assert y.shape == expected.shape and y.dtype == expected.dtype


@given(writes())
def test_adding_is_differentiable(drawn: Any) -> None:
    case, value = drawn
    assert_adjoint(lambda x, v: add_at(x, case.index, v), case.x, value)


def test_the_last_write_wins_and_takes_the_whole_cotangent() -> None:
    base, v, ct = np.zeros(2), np.array([1.0, 2.0]), np.array([5.0, 7.0])
    y, pull = funcgrad.vjp(lambda b, v: write(b, [0, 0], v), base, v)
    np.testing.assert_array_equal(y, [2.0, 0.0])
    by_base, by_v = pull(ct)
    np.testing.assert_array_equal(by_base, [0.0, 7.0])
    np.testing.assert_array_equal(by_v, [0.0, 5.0])


def test_the_order_of_writes_does_not_depend_on_the_memory_layout() -> None:
    index = np.array([[1, 0], [0, 2]])
    value = np.array([[1.0, 2.0], [3.0, 4.0]])
    for i, v in itertools.product([index, np.asfortranarray(index)], [value, value.T.copy().T]):
        np.testing.assert_array_equal(write(np.zeros(3), i, v), [3.0, 1.0, 4.0])


def test_writing_many_duplicates() -> None:
    rng = np.random.default_rng(0)
    index = rng.integers(0, 50, 10_000)
    v = rng.normal(size=10_000)
    last = {int(i): k for k, i in enumerate(index)}
    y, pull = funcgrad.vjp(lambda v: write(np.zeros(50), index, v), v)
    (g,) = pull(np.ones(50))
    assert sorted(np.flatnonzero(g)) == sorted(last.values())
    np.testing.assert_array_equal(y, [v[last[i]] for i in range(50)])


# ---------------------------------------------------------------- masks


@given(st.data())
def test_one_value_can_be_written_where_a_traced_mask_is_true(data: Any) -> None:
    shape = tuple(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)))
    rank = data.draw(st.integers(1, len(shape)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.normal(size=(2, *shape))
    mask = rng.random((2, *shape[:rank])) < 0.5
    rest = shape[rank:]
    value = rng.normal(size=rest[data.draw(st.integers(0, len(rest))) :])
    found = funcgrad.vmap(lambda x, m: write(x, m, value))(x, mask)
    for k in range(2):
        expected = x[k].copy()
        expected[mask[k]] = value
        np.testing.assert_array_equal(found[k], expected, strict=True)


def test_masks_that_are_traced_say_what_to_use_instead() -> None:
    x, masks = np.arange(3.0), np.array([[True, False, True], [False, False, True]])
    with pytest.raises(ConcretizationError, match=r"fnp\.where\(mask, new, old\).*test_indexing"):
        funcgrad.vmap(lambda m: read(x, m))(masks)
    with pytest.raises(ConcretizationError, match=r"fnp\.where"):
        funcgrad.vmap(lambda m: write(x, m, np.ones(3)))(masks)
    with pytest.raises(ConcretizationError, match=r"fnp\.where"):
        funcgrad.make_jaxpr(lambda m: read(x, (m,)))(masks[0])


def test_masks_are_concrete_under_derivatives() -> None:
    x = np.array([-1.0, 2.0, -3.0])

    def clipped(x: Any) -> Any:
        return write(x, x < 0, 0.0)

    np.testing.assert_array_equal(funcgrad.jvp(clipped, (x,), (np.ones(3),))[1], [0.0, 1.0, 0.0])

    def doubled(x: Any) -> Any:
        return write(x, x < 0, read(x, x < 0) * 2.0)

    value, pull = funcgrad.vjp(doubled, x)
    np.testing.assert_array_equal(value, [-2.0, 2.0, -6.0])
    np.testing.assert_array_equal(pull(np.ones(3))[0], [2.0, 1.0, 2.0])


# ---------------------------------------------------------------- values and errors


def test_lists_of_traced_values_are_stacked() -> None:
    def f(a: Any, b: Any) -> Any:
        return write(np.zeros(3), slice(0, 2), [a, b])

    np.testing.assert_array_equal(funcgrad.jvp(f, (1.0, 2.0), (3.0, 4.0))[1], [3.0, 4.0, 0.0])
    y = write(np.zeros((2, 2)), ..., [[1, 2], [3, 4]])
    np.testing.assert_array_equal(y, [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(int, 1.5), (bool, 0.0), (np.uint8, np.ones(3)), (float, 1j), (np.float32, np.ones(3) + 0j)],
)
def test_values_that_would_lose_their_derivative_are_refused(dtype: Any, value: Any) -> None:
    x = np.zeros(3, dtype)
    name = np.dtype(dtype).name
    for change in (write, add_at):
        for index in (slice(None), [0, 1, 2]):
            with pytest.raises(MutationError, match=f"array of dtype {name}.*cut the derivative"):
                change(x, index, value)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128, np.int64])
@pytest.mark.parametrize("index", [0, [0, 0], np.array([True, False, True]), ...])
def test_writing_keeps_the_dtype(dtype: Any, index: Any) -> None:
    x = np.ones(3, dtype)
    for value in (2, np.int8(2), *((2.5, np.float64(2.5)) if x.dtype.kind != "i" else ())):
        expected = x.copy()
        expected[index] = value
        np.testing.assert_array_equal(write(x, index, value), expected, strict=True)
        assert add_at(x, index, value).dtype == dtype
        found = funcgrad.vmap(lambda x, v: write(x, index, v), (0, None))(x[None], value)
        np.testing.assert_array_equal(found[0], expected, strict=True)


def test_float32_gradients_stay_float32() -> None:
    x, v = np.ones(3, np.float32), np.ones(2, np.float32)
    for f in (write, add_at):
        for index in ([0, 0], slice(1, 3)):
            y, pull = funcgrad.vjp(lambda x, v: f(x, index, v), x, v)  # noqa: B023
            assert {y.dtype, *(g.dtype for g in pull(y))} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (5, "index 5 is out of bounds for axis 0 with size 2"),
        ((0, -4), "index -4 is out of bounds for axis 1 with size 3"),
        ((0, 0, 0), "too many indices for array: array is 2-dimensional, but 3 were indexed"),
        ((..., 0, ...), "single ellipsis"),
        (([0], 3), "index 3 is out of bounds for axis 1 with size 3"),
        ([2], "index 2 is out of bounds for axis 0 with size 2"),
        (np.array([-3]), "index -3 is out of bounds for axis 0 with size 2"),
        (1.0, "only integers, slices"),
        ("a", "only integers, slices"),
        (np.array([1.0]), "must be of integer"),
        ([0.5], "must be of integer"),
        ([None], "only integers, slices"),
        (np.ones(3, bool), "size of axis is 2 but size of corresponding boolean axis is 3"),
        ((0, np.ones(2, bool)), "axis 1; size of axis is 3"),
        (([0, 1], [0, 1, 2]), "shape mismatch"),
    ],
)
def test_errors_of_indices(index: Any, message: str) -> None:
    x = np.zeros((2, 3))
    f: Callable[..., Any]
    for f in (read, lambda x, i: write(x, i, 0.0), lambda x, i: add_at(x, i, 0.0)):
        with pytest.raises(IndexError, match=message):
            f(x, index)
        with pytest.raises(IndexError, match=message):
            funcgrad.jvp(lambda x: f(x, index), (x,), (x,))  # noqa: B023


def test_values_that_do_not_fit_are_refused() -> None:
    x = np.zeros((2, 3))
    for index in (0, [0, 1], np.array([True, False])):
        for f in (write, add_at):
            with pytest.raises(ValueError, match="broadcast"):
                f(x, index, np.ones(2))
            with pytest.raises(ValueError, match="broadcast"):
                funcgrad.make_jaxpr(lambda x: f(x, index, np.ones(2)))(x)  # noqa: B023


# ---------------------------------------------------------------- CuPy


def test_cupy_checks_bounds_and_keeps_the_order(cupy: ModuleType) -> None:
    x = cupy.asarray(np.arange(3.0))
    for bad in ([3], [-4, 0]):
        i = cupy.asarray(np.array(bad))
        for f in (read, lambda x, i: write(x, i, 1.0), lambda x, i: add_at(x, i, 1.0)):
            with pytest.raises(IndexError, match="out of bounds"):
                f(x, i)
    i = cupy.asarray(np.array([1, -2, 0, 1]))
    v = cupy.asarray(np.array([1.0, 2.0, 3.0, 4.0]))
    y, pull = funcgrad.vjp(lambda x, v: write(x, i, v), x, v)
    assert y.get().tolist() == [3.0, 4.0, 2.0]
    assert [g.get().tolist() for g in pull(cupy.asarray(np.array([5.0, 6.0, 7.0])))] == [
        [0.0, 0.0, 7.0],
        [0.0, 0.0, 5.0, 6.0],
    ]
    for index in (i, i.get()):  # CuPy's arrays take NumPy's as indices
        _, pull = funcgrad.vjp(lambda x, index=index: x[index], x)
        assert pull(v)[0].get().tolist() == [3.0, 7.0, 0.0]
    assert write(x, np.array([True, False, True]), 5.0).get().tolist() == [5.0, 1.0, 5.0]


@given(mixed())
def test_cupy_gives_numpys_numbers(cupy: ModuleType, case: Case) -> None:
    x = cupy.asarray(case.x)
    index = case.index if isinstance(case.index, tuple) else (case.index,)
    there = tuple(cupy.asarray(i) if isinstance(i, np.ndarray | list) else i for i in index)
    np.testing.assert_array_equal(read(x, there).get(), case.part)
    value = np.arange(float(case.part.size)).reshape(case.part.shape)
    expected = numpy_write(case.x, case.index, value)
    np.testing.assert_array_equal(write(x, there, cupy.asarray(value)).get(), expected)
    found = add_at(x, there, cupy.asarray(value)).get()
    np.testing.assert_allclose(found, numpy_add(case.x, case.index, value), atol=1e-12)


# ---------------------------------------------------------------- compositions of ops/join.py


@given(st.data())
def test_pad_is_numpys(data: Any) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    width = st.tuples(st.integers(0, 5), st.integers(0, 5))
    widths = tuple(data.draw(width) for _ in shape)
    x = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(join.pad(x, widths=widths), np.pad(x, widths), strict=True)
    values = [(float(2 * k), float(2 * k + 1)) for k in range(len(shape))]
    expected = np.pad(x, widths, constant_values=values)
    np.testing.assert_array_equal(join.pad_constant(x, values, widths=widths), expected)
    found = join.pad_constant(x, 2.0, widths=widths)
    np.testing.assert_array_equal(found, np.pad(x, widths, constant_values=2.0))
    for mode in ("edge", "reflect", "symmetric", "wrap"):

        def f(x: Any, mode: str = mode) -> Any:
            return join.pad_from_inside(x, widths=widths, mode=mode)

        np.testing.assert_array_equal(f(x), np.pad(x, widths, mode=mode), strict=True)
        assert_adjoint(f, x)
    assert_adjoint(lambda x, c: join.pad_constant(x, c, widths=widths), x, np.array(2.0))


@given(st.integers(0, 5), st.integers(-4, 4), st.integers(-4, 4), st.integers(0, 2))
def test_padding_may_cut_and_spread(n: int, low: int, high: int, interior: int) -> None:
    x = np.arange(1.0, n + 1)
    spread = np.zeros(n + max(n - 1, 0) * interior)
    spread[:: interior + 1] = x
    wide = np.pad(spread, 10)
    stop = max(10 + low * -1, 10 + len(spread) + high)
    expected = wide[10 - low : stop]
    found = join.pad(x, widths=((low, high, interior),))
    np.testing.assert_array_equal(found, expected, strict=True)


def test_split_and_tile_are_numpys() -> None:
    x = np.arange(24.0).reshape(4, 6)
    for at in ((1, 3), (3, 1), (-2, 9), ()):
        expected = np.split(x, at, axis=1)
        for a, b in zip(join.split(x, at=at, axis=1), expected, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
    for reps in ((2,), (2, 1, 3), (0, 2), ()):
        np.testing.assert_array_equal(join.tile(x, reps=reps), np.tile(x, reps), strict=True)
        assert_adjoint(lambda x: join.tile(x, reps=reps), x)  # noqa: B023
    y = join.stack(join.unstack(x, axis=1), axis=1)
    np.testing.assert_array_equal(y, x)


# ---------------------------------------------------------------- compositions of ops/index.py


@given(st.data())
def test_take_along_axis_is_numpys(data: Any) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    axis = data.draw(st.integers(0, len(shape) - 1))
    n = shape[axis]
    narrow = [1 if data.draw(st.integers(0, 3)) == 3 else m for m in shape]
    narrow[axis] = data.draw(st.integers(0, 4))
    indices = data.draw(_filled(tuple(narrow), st.integers(-n, n - 1)))
    x = np.random.default_rng(0).normal(size=shape)

    def f(x: Any) -> Any:
        return ops.take_along_axis(x, indices, axis=axis)

    expected = np.take_along_axis(x, indices, axis)
    for y in [f(x), *traced(f, x)]:
        np.testing.assert_array_equal(y, expected, strict=True)
    assert_adjoint(f, x)


def test_take_and_trace_are_numpys() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    indices = np.array([[0, -1], [1, 1]])
    for axis in range(3):
        expected = np.take(x, indices, axis=axis)
        np.testing.assert_array_equal(ops.take(x, indices, axis=axis), expected, strict=True)
        assert_adjoint(lambda x: ops.take(x, indices, axis=axis), x)  # noqa: B023
    for offset in (-3, -1, 0, 2):
        found = structural.trace(x, offset=offset, axis1=2, axis2=0)
        np.testing.assert_array_equal(found, np.trace(x, offset, 2, 0), strict=True)


# ---------------------------------------------------------------- long arrays


LONG_INDICES: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...]]] = {
    # the index, the shape that it is of, the shape of what it shows
    "rows": ((ArrayIndex(0), FULL), (40, 50), (400, 50)),
    "rows of matrices": ((FULL, ArrayIndex(0), FULL), (3, 40, 50), (3, 400, 50)),
    "elements": ((ArrayIndex(0), Iota(50, 0)), (40, 50), (400, 50)),
    "elements of rows": ((ArrayIndex(0), Iota(50, 0)), (40, 50), (400, 50)),
    "along the first axis": ((Iota(40, 1), ArrayIndex(0)), (40, 50), (40, 400)),
    "columns": ((FULL, ArrayIndex(0)), (40, 50), (40, 400)),
}


@pytest.mark.parametrize("case", LONG_INDICES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64", "float16"])
@pytest.mark.parametrize("with_scipy", [True, False])
def test_long_arrays(
    case: str, dtype: str, with_scipy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`gather`, `scatter_add`, `scatter_set` and `gather_last` beside NumPy's own indices."""
    template, shape, shown = LONG_INDICES[case]
    if not with_scipy:
        monkeypatch.setattr(ops, "scipy_if_there", lambda *_: None)
    rng = np.random.default_rng(0)
    length = 50 if case == "along the first axis" else 40 if case != "columns" else 50
    if Iota not in map(type, template):
        at = rng.integers(0, length, 400)
    elif case == "elements of rows":  # each for all elements of its row
        at = np.broadcast_to(rng.integers(0, length, (400, 1)), (400, 50))
    elif case == "elements":
        at = rng.integers(0, length, (400, 50))
    else:
        at = rng.integers(0, length, (40, 400))
    assert math.prod(shown) >= ops.MANY
    x = rng.integers(-9, 9, shape).astype(dtype)
    ct = rng.integers(-9, 9, shown).astype(dtype)
    plain = tuple(
        at
        if isinstance(i, ArrayIndex)
        else np.arange(i.size).reshape((i.size,) + (1,) * i.after)
        if isinstance(i, Iota)
        else slice(None)
        for i in template
    )
    assert np.array_equal(ops.gather(x, at, index=template), x[plain])
    sums = np.zeros(shape, dtype)
    np.add.at(sums, plain, ct)
    found = ops.scatter_add(ct, at, shape=shape, index=template)
    assert found.dtype == dtype and np.array_equal(found, sums)
    order = np.zeros(shape, np.int64)  # which write was the last one
    turns = np.arange(1, math.prod(shown) + 1).reshape(shown)
    np.maximum.at(order, plain, turns)
    won = order[plain] == turns
    last = np.zeros(shape, dtype)
    np.add.at(last, plain, np.where(won, ct, 0))
    assert np.array_equal(ops.scatter_set(x, ct, at, index=template), np.where(order > 0, last, x))
    assert np.array_equal(ops.gather_last(x, at, index=template), np.where(won, x[plain], 0))


def test_a_diagonal_is_no_rows() -> None:
    x = np.arange(9.0).reshape(3, 3)
    assert ops.gather(x, index=(Iota(3, 0), Iota(3, 0))).tolist() == [0.0, 4.0, 8.0]
    assert ops.gather(x, index=(Iota(3, 1), Iota(3, 0))).tolist() == x.tolist()


@given(
    st.integers(0, 2),
    st.one_of(
        st.lists(st.integers(0, 4), min_size=1, max_size=12),
        st.sampled_from([[4, 3, 2, 1, 0], [1, 0, 1, 2, 3, 4, 3], [0, 0, 0, 1, 2, 2], [3], [2, 2]]),
    ),
)
def test_take_known(axis: int, places: list[int]) -> None:
    """Slices of runs show, and pass back, what `take` does."""
    x, at = np.arange(125.0).reshape(5, 5, 5) + 1, np.array(places)
    found = join.take_known(x, at, axis=axis)
    assert found.tolist() == np.take(x, at, axis).tolist()
    assert found.flags.writeable and not np.may_share_memory(found, x)
    ct = np.arange(found.size, dtype=float).reshape(found.shape)
    expected = np.zeros_like(x)
    np.add.at(np.moveaxis(expected, axis, 0), at, np.moveaxis(ct, axis, 0))
    gradient = funcgrad.grad(lambda v: (join.take_known(v, at, axis=axis) * ct).sum())
    assert gradient(x).tolist() == expected.tolist()
    assert funcgrad.jit(gradient)(x).tolist() == expected.tolist()
