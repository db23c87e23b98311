"""Indexing, masks, gather and scatter: values, gradients, memory and errors."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import B, C, Call, Distinct, Draw, F, I, call, check
from hypothesis import assume, given
from hypothesis import strategies as st

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="compares with PyTorch")
MODULES = [compat] if torch is None else [compat, torch]


def With(values: Any, dtype: Any = None, *, grad: bool = False) -> Draw:
    """These numbers."""
    return Draw(lambda _: np.array(values, dtype), grad)


def Perm(*shape: int, axis: int = 0) -> Draw:
    """Places along an axis, each at most once: for writes, of which PyTorch's gradient is right."""
    return Draw(lambda rng: rng.permuted(np.indices(shape)[axis], axis=axis), False)


AT = With([2, 0])
CALLS: list[Call] = [
    call("gather", F(3, 4), 0, I(2, 3, high=3)),
    call("gather", F(3, 4), 1, I(3, 6, high=4)),
    call("gather", F(3, 4), -1, With([[0], [3]], np.int32)),
    call("gather", F(4), 0, With(2)),
    call("gather", F(), 0, With([0])),
    call("gather", F(), 0, With(0)),
    call("gather", F(3, 4), 0, With(np.zeros((0, 4), int))),
    call("gather", F(3, 4), 0, With(np.zeros(0, int))),
    call("gather", I(3, 4), 1, I(3, 2, high=4)),
    call("take_along_dim", F(3, 4), I(3, 2, high=4), 1),
    call("take_along_dim", F(3, 4), With([[1], [-1], [0]]), 1),
    call("take_along_dim", F(3, 1), I(1, 4, high=1), 1),
    call("take_along_dim", F(3, 4), I(5, high=12)),
    call("scatter", F(3, 4), 0, Perm(3, 4), F(3, 4)),
    call("scatter", F(3, 4), 1, Perm(3, 2, axis=1), F(3, 2)),
    call("scatter", F(3, 4), 0, I(2, 2, high=3), 2.5),
    call("scatter", F(3, 4), 0, I(2, 2, high=3), value=1),
    call("scatter", F(3, grad=False), 0, I(5, high=3), F(5, grad=False), reduce="add"),
    call("scatter", F(3, grad=False), 0, I(5, high=3), F(5, grad=False), reduce="multiply"),
    call("scatter", F(3, grad=False), 0, I(5, high=3), 2.0, reduce="multiply"),
    call("scatter", F(), 0, With(0), F()),
    call("scatter", F(3), 0, With(np.zeros(0, int)), F(0)),
    *[
        call(name, F(3, 2), 0, With(np.zeros(empty, int)), F(*empty), *how)
        for empty in ((0,), (0, 2), (2, 0))
        for name, *how in (
            ("scatter",),
            ("scatter_add",),
            ("scatter_reduce", "sum"),
            ("scatter_reduce", "prod"),
            ("scatter_reduce", "amax"),
        )
    ],
    call("scatter", I(3, 4), 0, Perm(3, 4), I(3, 4)),
    call(".scatter_", F(3, 4), 0, Perm(3, 4), F(3, 4)),
    call("scatter_add", F(3, 4), 0, I(5, 4, high=3), F(5, 4)),
    call("scatter_add", F(3, 4), 1, I(3, 2, high=4), F(3, 2)),
    call("scatter_add", I(3), 0, I(5, high=3), I(5)),
    call(".scatter_add_", F(3, 4), 0, I(5, 4, high=3), F(5, 4)),
    *[
        call("scatter_reduce", Distinct(3, 2), 0, I(5, 2, high=3), Distinct(5, 2), how, **given)
        for how in ("sum", "prod", "mean", "amax", "amin")
        for given in ({}, {"include_self": False})
    ],
    *[
        call("scatter_reduce", I(3), 0, I(5, high=3), I(5, low=-3), how, **given)
        for how in ("sum", "prod", "mean", "amax", "amin")
        for given in ({}, {"include_self": False})
    ],
    call("scatter_reduce", With([0.0, 2, 3], grad=True), 0, With([0, 0, 1, 1]), F(4), "prod"),
    call("scatter_reduce", F(3), 0, With([0, 0, 0, 1]), With([0.0, 0, 2, 0], grad=True), "prod"),
    call(".scatter_reduce_", F(3), 0, I(5, high=3), F(5), "mean"),
    *[
        call("index_reduce", Distinct(3, 2), 0, I(4, high=3), Distinct(4, 2), how, **given)
        for how in ("prod", "mean", "amax", "amin")
        for given in ({}, {"include_self": False})
    ],
    call(".index_reduce_", F(2, 3), 1, With([1, 1]), F(2, 2), "prod"),
    call("index_select", F(3, 4), 0, AT),
    call("index_select", F(3, 4), 1, With([1, 1, 3])),
    call("index_select", F(3, 4), 1, With(1)),
    call("index_select", F(), 0, With([0])),
    call("index_select", I(3, 4), -1, AT),
    call("index_add", F(3, 4), 0, With([1, 1]), F(2, 4)),
    call("index_add", F(3, 4), 1, With([1, 1]), F(3, 2), alpha=0.5),
    call("index_add", F(), 0, With(0), F()),
    call("index_add", I(3), 0, AT, I(2), alpha=2),
    call(".index_add_", F(3, 4), 0, With([1, 1]), F(2, 4)),
    call("index_copy", F(3, 4), 0, AT, F(2, 4)),
    call("index_copy", F(3, 4), 1, AT, F(3, 2)),
    call(".index_copy_", F(3, 4), 0, AT, F(2, 4)),
    call("index_fill", F(3, 4), 0, AT, 2.0),
    call("index_fill", F(3, 4), 1, With([3]), F()),
    call("index_fill", F(3, 4, grad=False), 1, With([-1]), 2),
    call(".index_fill_", F(3, 4), 0, AT, 2),
    call("index_put", F(3, 4), (AT,), F(2, 4)),
    call("index_put", F(3, 4), (AT, With([1, 1])), F(2)),
    call("index_put", F(3, 4), [With([1, 1])], F(4), accumulate=True),
    call("index_put", F(3, 4), [With([[True, False, True, False]] * 3)], F()),
    call("index_put", F(3, 4), [With([True, False, True])], F(2, 1), accumulate=True),
    call(".index_put_", F(3, 4), (AT,), F(4)),
    call(".index_put_", F(3, 4), (With([1, 1]), With([0, 0])), F(2), accumulate=True),
    call("masked_fill", F(3, 4), B(3, 4), 2.0),
    call("masked_fill", F(3, 4), B(4), F()),
    call("masked_fill", F(3), B(2, 3), 1),
    call("masked_fill", I(3), B(3), 1.5),
    call("masked_fill", I(3), B(3), F(grad=False)),
    call("masked_fill", C(3), B(3), 1j),
    call(".masked_fill_", F(3, 4), B(3, 4), -1),
    call("masked_select", F(3, 4), B(3, 4)),
    call("masked_select", F(3, 4), B(4)),
    call("masked_select", F(), B()),
    call("masked_scatter", F(3, 4), B(3, 4), F(12)),
    call("masked_scatter", F(3, 4), B(4), F(3, 4)),
    call("masked_scatter", F(), With(True), F(1)),
    call(".masked_scatter_", F(3, 4), B(3, 4), F(12)),
    call("take", F(3, 4), I(2, 3, low=-12, high=12)),
    call("take", F(), With([0])),
    call(".put", F(3, 4), With([3, -1]), F(2)),
    call(".put", F(3, 4), With([3, 3]), F(2), True),
    call(".put_", F(3, 4), With([[3], [0]]), F(2)),
    call("where", B(3, 4), F(3, 4), F(4)),
    call("where", B(3), F(3), 0),
    call("where", B(3), 1.5, F(3)),
    call("where", B(3), I(3), 1.5),
    call("where", B(3), 1, 0),
    call("where", B(3), 1.0, 0),
    call("where", B(3), I(3), F(3)),
    call("where", B(3), C(3), C(3)),
    call("where", B(3), C(3), F(3, grad=False)),
    call("where", B(2, 2)),
    call(".where", F(3), B(3), F(3)),
    call(".where", F(3), B(3), 0),
    call("nonzero", I(3, 4, high=2)),
    call("nonzero", I(3, 4, high=2), as_tuple=True),
    call("nonzero", With(2.0)),
    call("nonzero", With(2.0), as_tuple=True),
    *(call("nonzero_static", I(3, 4, high=2), size=n) for n in (0, 3, 20)),
    call(".nonzero_static", With(2.0), size=2, fill_value=7),
    call("argwhere", I(3, 4, high=2)),
    call(".fill_", F(3, 4), 2),
    call(".fill_", F(3, 4), F()),
    call(".zero_", F(3)),
    call(".copy_", F(3, 4), F(4)),
    call(".copy_", F(3, 4), I(3, 1)),
    call(".copy_", F(3, 4), 5),
    call(".fill_diagonal_", F(3, 4), 5),
    call(".fill_diagonal_", F(7, 3), 5, True),
    call(".fill_diagonal_", F(7, 3), 5),
    call(".fill_diagonal_", F(2, 2, 2), 5),
    call("unravel_index", I(2, 3, high=12), (3, 4)),
    call("unravel_index", With(5), 7),
    call("isin", I(5), I(3)),
    call("isin", I(5), 2),
    call("isin", 3, I(5)),
    call("isin", I(5), F(3, grad=False), invert=True),
]


@pytest.mark.parametrize("c", CALLS, ids=[c.name for c in CALLS])
def test_call(c: Call) -> None:
    check(c)


# ---------------------------------------------------------------- reading

ROWS = [[True, False, True]]
# Indices of a tensor of shape (2, 3, 4); lists in a tuple stand for index tensors.
INDICES: list[Any] = [
    0,
    -1,
    slice(1, None),
    slice(None, None, 2),
    slice(5, 2),
    ...,
    None,
    (),
    (0, 1),
    (0, slice(1, 3)),
    (slice(None), 0, None),
    (None, 0, ..., None, 1),
    (..., 0),
    (..., 0, ...),
    (Ellipsis, Ellipsis),
    np.int64(1),
    np.array(1),
    np.array([1, 0]),
    np.array([True, False]),
    True,
    False,
    (None, True),
    (True, 0),
    [1, 0],
    [[1], [0]],
    [True, False],
    [],
    (slice(None), []),
    ([0, 1], [0, 2]),
    ([0, 1], 0),
    (0, slice(None), [0, 1]),
    (slice(None), 0, [0, 1]),
    ([0, 1], slice(None), [0, 1]),
    ([0, 1], slice(None), 0),
    ([[0], [1]], [0, 1, 2]),
    (slice(None), [[0, 1], [1, 2]]),
    (0, [0, 1], None, [0, 1]),
    ([0, 1], None, [0, 1]),
    (None, [0, 1]),
    (..., [0, 1]),
    ([1, -2],),
    ([1, 1, 0],),
    (np.array([[True, False, True], [False, False, True]]),),
    (np.array([[True, False, True], [False, False, True]]), 0),
    (slice(None), [True, False, True]),
    ([True, False], [True, False, True]),
    ([True, True], [0, 1]),
    (0, np.ones((3, 4), dtype=bool)),
    range(2),
]


def as_index(m: Any, index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(as_index(m, i) for i in index)
    if isinstance(index, np.ndarray) and index.ndim:
        return m.from_numpy(index)
    return index


def made(m: Any, shape: tuple[int, ...], *, grad: bool = True) -> Any:
    x = m.from_numpy(np.random.default_rng(sum(shape)).normal(size=shape))
    return x.requires_grad_(grad)


@pytest.mark.parametrize("index", INDICES, ids=map(str, range(len(INDICES))))
def test_reading(index: Any) -> None:
    found = []
    for m in MODULES:
        leaf = made(m, (2, 3, 4))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                y = leaf[as_index(m, index)]
            except IndexError as error:
                assert m is torch, error
                continue
        size = int(np.prod(y.shape))
        weights = m.from_numpy(np.cos(np.arange(size)).reshape(tuple(y.shape)))
        (y * weights).sum().backward()
        numbers = y.detach().numpy(), leaf.grad.numpy()
        found.append((tuple(y.shape), y._is_view(), type(y.grad_fn).__name__, *numbers))
    if len(found) == 2:
        assert found[0][:3] == found[1][:3]
        for ours, theirs in zip(found[0][3:], found[1][3:], strict=True):
            np.testing.assert_allclose(ours, theirs)


def test_reading_adds_up() -> None:
    x = compat.tensor([1.0, 2.0], requires_grad=True)
    x[[0, 0, 1]].sum().backward()
    assert x.grad.tolist() == [2, 1]


def test_a_number_has_views_of_itself() -> None:
    for m in MODULES:
        x = m.tensor(2.0, requires_grad=True)
        for index in ((), ..., None, (None, None), True):
            assert x[index].sum().item() == 2
        assert x[False].shape == (0,)


def test_the_index_must_not_change_before_backward() -> None:
    for m in MODULES:
        x = m.tensor([1.0, 2.0, 3.0], requires_grad=True)
        at = m.tensor([0, 1])
        y = x[at] * 2
        at.fill_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_lists_with_more_than_numbers_are_tuples() -> None:
    for m in MODULES:
        x = m.tensor([[1.0, 2.0], [3.0, 4.0]])
        with pytest.warns(UserWarning, match="non-tuple sequence for multidimensional indexing"):
            assert x[[[0, 1], [1, 0]]].tolist() == [2, 3]
        with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
            assert x[m.tensor([0, 1], dtype=m.uint8)].tolist() == [[3, 4]]


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize("index", INDICES, ids=map(str, range(len(INDICES))))
@pytest.mark.parametrize("value", ["number", "element", "whole", "row"])
@pytest.mark.parametrize("recorded", [True, False])
def test_writing(index: Any, value: str, recorded: bool) -> None:
    found = []
    for m in MODULES:
        leaf = made(m, (2, 3, 4), grad=recorded)
        x = leaf * 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                places = m.from_numpy(np.arange(24).reshape(2, 3, 4))[as_index(m, index)].numpy()
            except IndexError as error:
                assert m is torch, error
                continue
            part = places.shape
            shape = {"element": (), "whole": part, "row": (1, *part[-1:])}.get(value)
            new: Any = 3.5 if shape is None else made(m, shape, grad=recorded)
            x[as_index(m, index)] = new
        assert x._version == (index is not False or m is compat)
        found.append([x.detach().numpy()])
        if recorded:
            weights = m.from_numpy(np.cos(np.arange(24)).reshape(2, 3, 4))
            (x * weights).sum().backward()
            found[-1] += [leaf.grad.numpy()]
            once = np.unique(places).size == places.size  # else PyTorch's gradient is wrong
            if shape is not None and once:
                found[-1] += [np.zeros(shape) if new.grad is None else new.grad.numpy()]
    for numbers in zip(*found, strict=True):
        if len(numbers) == 2:
            np.testing.assert_allclose(*numbers)


@given(st.data())
def test_writing_into_parts(data: Any) -> None:
    """By index arrays of any shape, into what does not lie in order; as NumPy, recorded or not."""
    base = np.arange(120.0).reshape(4, 5, 6)
    view = data.draw(
        st.sampled_from(
            [
                lambda x: x[::2],
                lambda x: x[:, 1],
                lambda x: x.T if isinstance(x, np.ndarray) else x.permute(2, 1, 0),
                lambda x: x[1:, :, ::3],
                lambda x: x[..., 2],
                lambda x: x,
            ]
        )
    )
    shape = view(base).shape
    count = data.draw(st.integers(1, len(shape)))
    block = data.draw(st.sampled_from([(2, 1), (1, 2), (2, 2), (3,), ()]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    places = [rng.integers(0, n, block[rng.integers(0, len(block) + 1) :]) for n in shape[:count]]
    index = [slice(None)] * (len(shape) - count) + list(places)
    index = [
        slice(None, None) if isinstance(i, slice) else i % n
        for i, n in zip(index, shape, strict=True)
    ]
    expected = base.copy()
    part = view(expected)[tuple(index)]
    value = 0.5 + rng.integers(0, 9, part.shape).astype(float)
    flat = view(np.arange(120).reshape(4, 5, 6))[tuple(index)]
    assume(len(np.unique(flat)) == flat.size)  # else NumPy keeps any of the values
    view(expected)[tuple(index)] = value
    for grad in (False, True):
        x = compat.tensor(base, requires_grad=grad) * 1.0
        at = tuple(compat.tensor(i) if isinstance(i, np.ndarray) else i for i in index)
        view(x)[at] = compat.tensor(value)
        np.testing.assert_array_equal(x.detach().numpy(), expected)
    plain = base.copy()
    view(plain)[tuple(index)] += 1.0
    x = compat.tensor(base)
    view(x)[at] += 1.0
    np.testing.assert_array_equal(x.numpy(), plain)


def test_the_last_value_is_kept_and_gets_the_gradient() -> None:
    v = compat.tensor([1.0, 2.0], requires_grad=True)
    for write in (
        lambda b: b.__setitem__([0, 0], v),
        lambda b: b.index_put_((compat.tensor([0, 0]),), v),
        lambda b: b.scatter_(0, compat.tensor([0, 0]), v),
        lambda b: b.index_copy_(0, compat.tensor([0, 0]), v),
        lambda b: b.put_(compat.tensor([0, 0]), v),
    ):
        v.grad = None
        b = compat.tensor([5.0, 0.0])
        write(b)
        b.sum().backward()
        assert b.tolist() == [2, 0] and v.grad.tolist() == [0, 1]


def test_dtypes_of_written_values() -> None:
    for m in MODULES:
        x = m.tensor([0, 0, 0])
        x[0] = 1.7
        x[1] = m.tensor(2.7, requires_grad=True)
        x[[2]] = 3.7
        assert x.tolist() == [1, 2, 3] and not x.requires_grad
        y = m.tensor([0.0, 0.0])
        y[0] = m.tensor(1.5, dtype=m.float64)
        y[m.tensor([False, True])] = m.tensor(2.5, dtype=m.float64)
        assert y.tolist() == [1.5, 2.5] and y.dtype is m.float32
        z = m.tensor([0], dtype=m.uint8)
        z[0] = -1
        assert z.tolist() == [255]
        b = m.tensor([False])
        b[0] = 2
        assert b.tolist() == [True]


def test_the_gradient_comes_back_in_the_dtype_of_the_value() -> None:
    v = compat.tensor([1.0, 2.0], dtype=compat.float64, requires_grad=True)
    x = compat.tensor([0.0, 0.0])
    x[:] = v
    x.copy_(v * x)
    x.sum().backward()
    assert v.grad.dtype is compat.float64 and v.grad.tolist() == [2, 4]


def test_arrays_may_be_written() -> None:
    """More than PyTorch allows."""
    x = compat.tensor([0.0, 0.0, 0.0])
    x[1:] = np.array([1, 2])
    x[[0]] = np.float32(3)
    assert x.tolist() == [3, 1, 2]


def test_filling_what_is_expanded() -> None:
    for m in MODULES:
        for f in (lambda x: x.fill_(2), lambda x: x.zero_()):
            x = m.tensor([1.0, 1.0])
            f(x.expand(3, 2))
            assert x.tolist() in ([2, 2], [0, 0])
    v = compat.tensor(2.0, requires_grad=True)
    x = compat.tensor([1.0, 1.0])
    x.expand(3, 2).fill_(v)
    x.sum().backward()
    assert v.grad.item() == 2


# ---------------------------------------------------------------- reductions with ties


def test_ties_share_the_cotangent() -> None:
    for how in ("amax", "amin"):
        x = compat.tensor([1.0, 1.0], requires_grad=True)
        src = compat.tensor([1.0, 1.0, 1.0], requires_grad=True)
        y = compat.scatter_reduce(x, 0, compat.tensor([0, 0, 1]), src, how)
        (y * compat.tensor([3.0, 4.0])).sum().backward()
        assert x.grad.tolist() == [1, 2] and src.grad.tolist() == [1, 1, 2]


@needs_torch
@pytest.mark.parametrize("how", ["amax", "amin", "prod", "mean", "sum"])
@pytest.mark.parametrize("include_self", [True, False])
def test_special_values(how: str, include_self: bool) -> None:
    nan, inf = np.nan, np.inf
    for dtype in (np.float32, np.float64):
        found = []
        for m in MODULES:
            x = m.from_numpy(np.array([1, inf, -inf, nan, 0, -1], dtype))
            src = m.from_numpy(np.array([inf, 2, -inf, 1, nan, 0, -inf, 1e30, 1e30], dtype))
            at = m.tensor([0, 1, 2, 3, 4, 4, 1, 5, 5])
            found.append(m.scatter_reduce(x, 0, at, src, how, include_self=include_self).numpy())
        assert found[0].dtype == found[1].dtype
        np.testing.assert_array_equal(found[0], found[1])


@needs_torch
@given(st.integers(1, 5), st.lists(st.integers(0, 4), max_size=12), st.data())
def test_reductions_of_any_groups(count: int, places: list[int], data: Any) -> None:
    places = [p % count for p in places]
    how = data.draw(st.sampled_from(["sum", "prod", "mean", "amax", "amin"]))
    include_self = data.draw(st.booleans())
    rng = np.random.default_rng(data.draw(st.integers(0, 3)))
    # PyTorch counts what was there among the ties even where it is not included.
    values = (
        0.25 + rng.integers(-2, 3, count).astype(float),
        rng.integers(-2, 3, len(places)).astype(float),
    )
    found = []
    for m in MODULES:
        x, src = (m.from_numpy(v.copy()).requires_grad_() for v in values)
        at = m.from_numpy(np.array(places, dtype=np.int64))
        y = m.scatter_reduce(x, 0, at, src, how, include_self=include_self)
        (y * m.from_numpy(np.arange(1.0, count + 1))).sum().backward()
        grads = [
            np.zeros(v.shape) if t.grad is None else t.grad.numpy()
            for t, v in zip((x, src), values, strict=True)
        ]
        found.append([y.detach().numpy(), *grads])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


# ---------------------------------------------------------------- errors


def _write(index: Any, value: Any) -> Callable[..., Any]:
    return lambda m, x, v, s, i: x.__setitem__(
        index(m) if callable(index) else index, value(m) if callable(value) else value
    )


BOUNDS = "index 5 is out of bounds for dimension 0 with size 3"
NO_INDEX = "tensors used as indices must be long, int, byte or bool tensors"
ERRORS: list[tuple[Callable[..., Any], type[Exception], str]] = [
    (lambda m, x, v, s, i: x[5], IndexError, BOUNDS),
    (lambda m, x, v, s, i: x[-4], IndexError, "index -4 is out of bounds for dimension 0 with"),
    (lambda m, x, v, s, i: x[[5]], IndexError, BOUNDS),
    (
        lambda m, x, v, s, i: x[0, [7]],
        IndexError,
        "index 7 is out of bounds for dimension 0 with size 4",
    ),
    (lambda m, x, v, s, i: x[0, 0, 0], IndexError, "too many indices for tensor of dimension 2"),
    (lambda m, x, v, s, i: x[0, [1], 0], IndexError, "too many indices for tensor of dimension 2"),
    (lambda m, x, v, s, i: x[::-1], ValueError, "step must be greater than zero"),
    (lambda m, x, v, s, i: x[::0], ValueError, "slice step cannot be zero"),
    (lambda m, x, v, s, i: x[0.5:], TypeError, "slice indices must be integers"),
    (lambda m, x, v, s, i: x[1.0], IndexError, "are valid indices (got float)"),
    (lambda m, x, v, s, i: x[{}], IndexError, "are valid indices (got dict)"),
    (lambda m, x, v, s, i: x[v], IndexError, NO_INDEX),
    (lambda m, x, v, s, i: x[i.to(m.int16)] if hasattr(i, "to") else x[v], IndexError, NO_INDEX),
    (lambda m, x, v, s, i: s[0], IndexError, "invalid index of a 0-dim tensor."),
    (lambda m, x, v, s, i: s[:], IndexError, "slice() cannot be applied to a 0-dim tensor."),
    (
        lambda m, x, v, s, i: x[[True, False]],
        IndexError,
        "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor [3, 4]",
    ),
    (
        lambda m, x, v, s, i: x[[0, 1], [0, 1, 2]],
        IndexError,
        "indexing tensors could not be broadcast together with shapes [2], [3]",
    ),
    (
        lambda m, x, v, s, i: v[:0][[0]],
        IndexError,
        "index is out of bounds for dimension with size 0",
    ),
    (_write(5, 1), IndexError, BOUNDS),
    (_write([5], 1), IndexError, BOUNDS),
    (_write(0, [1]), TypeError, "can't assign a list to a torch.DoubleTensor"),
    (_write([0], None), TypeError, "can't assign a NoneType to a torch.DoubleTensor"),
    (_write(0, lambda m: m.tensor([1.0, 2.0])), RuntimeError, "must match the existing size (2)"),
    (
        _write([0], lambda m: m.tensor([1.0, 2.0], dtype=m.float64)),
        RuntimeError,
        "value tensor of shape [2] cannot be broadcast to indexing result of shape [1, 4]",
    ),
    (
        _write([0], lambda m: m.tensor(1.0)),
        RuntimeError,
        "destination dtypes match, got Double for the destination and Float for the source.",
    ),
    (_write(0, 1j), RuntimeError, "value cannot be converted to type double without overflow"),
    (
        lambda m, x, v, s, i: x.requires_grad_().__setitem__(0, 1),
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation",
    )
    if torch is None
    else (_write(7, 1), IndexError, "out of bounds"),
    (
        lambda m, x, v, s, i: x.requires_grad_()[0].zero_(),
        RuntimeError,
        "a view of a leaf Variable that requires grad is being used in an in-place operation",
    ),
    (lambda m, x, v, s, i: i.fill_(2**63), RuntimeError, "cannot be converted to type int64_t"),
    (
        lambda m, x, v, s, i: x.fill_(v),
        RuntimeError,
        "fill_ only supports 0-dimension value tensor",
    ),
    (lambda m, x, v, s, i: x.copy_(v[:3]), RuntimeError, "The size of tensor a (4) must match"),
    (lambda m, x, v, s, i: v.copy_(x), RuntimeError, "doesn't match the broadcast shape [3, 4]"),
    (lambda m, x, v, s, i: v.fill_diagonal_(1), RuntimeError, "dimensions must larger than 1"),
    (lambda m, x, v, s, i: x[None].fill_diagonal_(1), RuntimeError, "must be of equal length"),
    (lambda m, x, v, s, i: x.masked_fill(x, 0), RuntimeError, "masked_fill_ only supports boolean"),
    (lambda m, x, v, s, i: x.masked_fill(v == v, v), RuntimeError, "0-dimensional value tensor"),
    (
        lambda m, x, v, s, i: i.masked_fill(i == i, 1j),
        RuntimeError,
        "type int64_t without overflow",
    ),
    (lambda m, x, v, s, i: x.masked_select(x), RuntimeError, "expected BoolTensor for mask"),
    (lambda m, x, v, s, i: x.masked_scatter(x == x, v), RuntimeError, "source < number of ones"),
    (
        lambda m, x, v, s, i: x.masked_scatter(x == x, i),
        RuntimeError,
        "to have same dtypes but got",
    ),
    (
        lambda m, x, v, s, i: v.masked_fill_(x == x, 0),
        RuntimeError,
        "output with shape [4] doesn't",
    ),
    (lambda m, x, v, s, i: m.where(x, x, x), RuntimeError, "to be a boolean tensor"),
    (lambda m, x, v, s, i: m.where(x == x, x, v[:3]), RuntimeError, "non-singleton dimension 1"),
    (
        lambda m, x, v, s, i: m.gather(x, 1, i),
        RuntimeError,
        "Index tensor must have the same number",
    ),
    (lambda m, x, v, s, i: m.gather(x, 2, i), IndexError, "Dimension out of range"),
    (lambda m, x, v, s, i: m.gather(v, 0, v), RuntimeError, "Expected dtype int32/int64 for index"),
    (lambda m, x, v, s, i: m.gather(v, 0, i + 3), RuntimeError, "index 4 is out of bounds for dim"),
    (lambda m, x, v, s, i: m.gather(v, 0, i - 1), RuntimeError, "index -1 is out of bounds"),
    (
        lambda m, x, v, s, i: m.gather(x, 1, i.expand(5, 2)),
        RuntimeError,
        "Size does not match at dimension 0 expected index [5, 2] to be no larger than self [3, 4]",
    ),
    (lambda m, x, v, s, i: m.scatter(v, 0, i, v[:1]), RuntimeError, "no larger size than src [1]"),
    (
        lambda m, x, v, s, i: m.scatter(v, 0, i, i),
        RuntimeError,
        "Expected self.dtype to be equal to",
    ),
    (
        lambda m, x, v, s, i: m.scatter(v, 0, i, v, reduce="a"),
        RuntimeError,
        "either add or multiply",
    ),
    (lambda m, x, v, s, i: m.scatter_add(v, 0, i, 1.0), TypeError, "must be Tensor, not float"),
    (lambda m, x, v, s, i: m.scatter_add(v, 0, i + 3, v), RuntimeError, "index 4 is out of bounds"),
    (lambda m, x, v, s, i: m.scatter_reduce(v, 0, i, v, "m"), RuntimeError, "amin"),
    (lambda m, x, v, s, i: m.index_select(v, 0, i + 3), IndexError, "index out of range in self"),
    (lambda m, x, v, s, i: m.index_select(v, 0, i[None]), IndexError, "supposed to be a vector"),
    (lambda m, x, v, s, i: m.index_select(v, 0, v), RuntimeError, "Expected dtype int32 or int64"),
    (
        lambda m, x, v, s, i: m.index_add(v, 0, i, v),
        RuntimeError,
        "Number of indices (2) should be",
    ),
    (lambda m, x, v, s, i: m.index_add(v, 0, i[:1], v[0]), RuntimeError, "must match self tensor"),
    (lambda m, x, v, s, i: m.index_add(v[0], 0, i[:1], v[:1]), RuntimeError, "must match self"),
    (lambda m, x, v, s, i: m.index_reduce(v, 0, i[:1], v[0], "prod"), RuntimeError, "must match"),
    (lambda m, x, v, s, i: m.index_add(v, 0, i, i), RuntimeError, "must have the same scalar type"),
    (
        lambda m, x, v, s, i: m.index_add(v, 0, i + 3, v[:2]),
        IndexError,
        "index out of range in self",
    ),
    (lambda m, x, v, s, i: m.index_add(x, 0, i + 3, x[:2]), RuntimeError, "is out of bounds"),
    (lambda m, x, v, s, i: m.index_copy(v, 0, i, v), IndexError, "Number of indices (2) should be"),
    (
        lambda m, x, v, s, i: m.index_copy(v, 0, i, i),
        RuntimeError,
        "expected to have the same dtype",
    ),
    (lambda m, x, v, s, i: m.index_copy(x, 0, i, v[:2]), IndexError, "dimensionality must match"),
    (lambda m, x, v, s, i: m.index_copy(x, 0, i, x[:2, :1]), RuntimeError, "same slice shapes"),
    (lambda m, x, v, s, i: m.index_copy(v, 0, i + 3, v[:2]), IndexError, "is out of bounds"),
    (lambda m, x, v, s, i: m.index_fill(v, 0, i, v), RuntimeError, "0-dimensional value tensor"),
    (lambda m, x, v, s, i: m.index_fill(v, 0, i + 3, 1), IndexError, "index 4 is out of bounds"),
    (lambda m, x, v, s, i: m.index_reduce(v, 0, i, v[:2], "sum"), RuntimeError, "but got sum."),
    (
        lambda m, x, v, s, i: v.index_put((i, i), s),
        IndexError,
        "too many indices for tensor of dim",
    ),
    (lambda m, x, v, s, i: v.index_put((v,), s), IndexError, NO_INDEX),
    (
        lambda m, x, v, s, i: m.take(v, i + 3),
        IndexError,
        "tried to access index 4 on a tensor of 4",
    ),
    (lambda m, x, v, s, i: m.take(v, v), RuntimeError, "Expected a long tensor for index, but got"),
    (lambda m, x, v, s, i: v.put(i, v), IndexError, "source.numel() = 4, index.numel() = 2"),
    (
        lambda m, x, v, s, i: m.take_along_dim(x, i, 1),
        RuntimeError,
        "but got 2 dimensions for input",
    ),
    (lambda m, x, v, s, i: m.take_along_dim(x, i[:, None], 1), RuntimeError, "must match the size"),
    (lambda m, x, v, s, i: m.unravel_index(v, (2, 2)), Exception, "indices"),
]


@pytest.mark.parametrize(("f", "error", "words"), ERRORS)
def test_errors(f: Callable[..., Any], error: type[Exception], words: str) -> None:
    for m in MODULES:
        x, v = (m.from_numpy(np.ones(shape)) for shape in ((3, 4), (4,)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(error) as found:
                f(m, x, v, m.tensor(1.0, dtype=m.float64), m.tensor([0, 1]))
        assert words in str(found.value)


@pytest.mark.parametrize("include_self", [False, True])
def test_means_of_integers_are_rounded_down(include_self: bool) -> None:
    at, values = [0, 0, 2, 2, 2], [-3, -4, 5, 3, 3]
    for m in MODULES:
        x = m.tensor([-4, 7, 0])
        y = m.scatter_reduce(
            x, 0, m.tensor(at), m.tensor(values), "mean", include_self=include_self
        )
        assert y.tolist() == ([-4, 7, 2] if include_self else [-4, 7, 3])
        assert y.dtype is m.int64


def test_small_integers_in_places() -> None:
    at = compat.tensor([0, 0])
    x, y = (
        compat.tensor([-3, -4], dtype=compat.int16),
        compat.tensor([12345, 6789], dtype=compat.int16),
    )
    zero, one = compat.zeros(1, dtype=compat.int16), compat.ones(1, dtype=compat.int16)
    assert zero.scatter_reduce(0, at, x, "mean", include_self=False).tolist() == [-4]
    assert one.scatter_reduce(0, at, y, "prod").tolist() == [(12345 * 6789 + 2**15) % 2**16 - 2**15]
