"""Sorting, the largest elements, equal elements, searching: against differences and PyTorch."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from harness import B, Call, Distinct, Draw, F, I, call, check
from hypothesis import given, settings
from hypothesis import strategies as st

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="compares with PyTorch")
nan = math.nan


def With(values: Any, *, grad: bool = True) -> Draw:
    """These numbers."""
    return Draw(lambda _: np.array(values), grad)


DIMS: list[dict[str, Any]] = [{}, {"dim": 0}, {"dim": -2}, {"dim": 1, "descending": True}]

CALLS = [
    *(call(f, Distinct(2, 3, 4), **d) for f in ("sort", "argsort") for d in DIMS),
    *(call("sort", I(2, 5), **d, stable=True) for d in DIMS),
    *(call(f, F(), 0) for f in ("sort", "argsort")),
    *(call(f, F(0, 3), 0) for f in ("sort", "argsort")),
    *(call(f, F(2, 0)) for f in ("sort", "argsort", "msort")),
    call(".sort", Distinct(4), 0, True),
    call("msort", Distinct(3, 4)),
    *(call("topk", Distinct(2, 3, 4), k, d) for k, d in [(2, -1), (1, 0), (0, 1), (3, -2)]),
    call("topk", Distinct(2, 5), 3, largest=False, sorted=True),
    call(".topk", Distinct(5), 2),
    call("topk", F(), 1),
    *(call(f, I(3, 4, high=3)) for f in ("unique", "unique_consecutive")),
    *(call(f, I(5, 2, high=2), dim=d) for f in ("unique", "unique_consecutive") for d in (0, -1)),
    *(
        call(f, I(6, 2, high=2), return_inverse=True, return_counts=c, dim=d)
        for f in ("unique", "unique_consecutive", ".unique", ".unique_consecutive")
        for c in (True, False)
        for d in (None, 0)
    ),
    *(call(f, B(5)) for f in ("unique", "unique_consecutive", "sort")),
    *(call(f, I()) for f in ("unique", "unique_consecutive")),
    *(call(f, F(0, grad=False)) for f in ("unique", "unique_consecutive")),
    call("unique", With([3.0, nan, 1.0, nan], grad=False), return_inverse=True),
    *(
        call("searchsorted", With([1.0, 2.0, 2.0, 4.0], grad=False), F(2, 3, high=5.0), **side)
        for side in ({}, {"right": True}, {"side": "left"}, {"side": "right", "out_int32": True})
    ),
    call("searchsorted", With([[1, 3], [2, 5]], grad=False), I(2, 3)),
    call("searchsorted", With([[[1, 3], [2, 5]]], grad=False), I(1, 2, 0)),
    call("searchsorted", With([1, 3], grad=False), 2),
    call("searchsorted", With([1, 3], grad=False), 2.5, right=True),
    call("searchsorted", With([1.0, 2.0, nan], grad=False), With([nan, 1.5], grad=False)),
    call(
        "searchsorted",
        With([[5, 1, 3]], grad=False),
        With([[2, 3]], grad=False),
        sorter=None,
    ),
    *(
        call("bucketize", F(2, 3), With([-1.0, 0.0, 1.0], grad=False), right=r)
        for r in (True, False)
    ),
    call("bucketize", 2, With([1, 2, 3], grad=False)),
]

# Ties and NaN: PyTorch says what the gradient is.
AT_KINKS = [
    call("sort", With([1.0, 1.0, 0.0]), stable=True),
    call("sort", With([1.0, 0.0, 1.0, 0.0]), stable=True, descending=True),
    call("sort", With([3.0, nan, 2.0])),
    call("sort", With([3.0, nan, 2.0]), descending=True),
    call("topk", With([3.0, nan, 2.0]), 2),
    call("topk", With([3.0, nan, 2.0]), 2, largest=False),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


@pytest.mark.parametrize("c", AT_KINKS, ids=repr)
def test_at_kinks(c: Call) -> None:
    check(c, kinked=True)


def test_equal_elements_keep_their_order() -> None:
    x = compat.tensor([1.0, 1.0, 0.0], requires_grad=True)
    y = compat.sort(x)
    (y.values * compat.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert y.indices.tolist() == [2, 0, 1] and x.grad.tolist() == [2, 3, 1]
    assert compat.sort(x, descending=True).indices.tolist() == [0, 1, 2]
    assert y.values.grad_fn.name() == "SortBackward0"
    assert compat.topk(x, 2).values.grad_fn.name() == "TopkBackward0"


def test_gradient_of_different_elements_is_that_of_the_first() -> None:
    x = compat.tensor([3.0, 1.0, 3.0], requires_grad=True)
    (compat.unique(x) * compat.tensor([1.0, 2.0])).sum().backward()
    assert x.grad.tolist() == [2, 1, 0]
    x.grad = None
    (compat.unique_consecutive(x) * compat.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [1, 2, 4]


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(0, 4), max_size=8), st.booleans(), st.data())
def test_order_of_any_list(values: list[int], descending: bool, data: Any) -> None:
    x = compat.tensor(values, dtype=compat.float32)
    found = compat.sort(x, descending=descending)
    places = sorted(range(len(values)), key=lambda i: -values[i] if descending else values[i])
    assert found.indices.tolist() == places
    assert found.values.tolist() == [values[i] for i in places]
    k = data.draw(st.integers(0, len(values)))
    assert compat.topk(x, k, largest=descending).indices.tolist() == places[:k]
    different, inverse, counts = compat.unique(x, return_inverse=True, return_counts=True)
    assert different.tolist() == sorted(set(values))
    assert [different.tolist()[i] for i in inverse.tolist()] == values
    assert counts.tolist() == [values.count(v) for v in sorted(set(values))]


@needs_torch
def test_sorter_and_dtypes() -> None:
    found = []
    for m in (compat, torch):
        a, order = m.tensor([[5, 1, 3], [2, 9, 4]]), m.tensor([[1, 2, 0], [0, 2, 1]])
        y = m.searchsorted(a, m.tensor([[2, 3], [3, 9]]), sorter=order, out_int32=True)
        z = m.topk(m.tensor([3, 1, 2], dtype=m.int32), 2)
        found.append([y.tolist(), str(y.dtype), z.values.tolist(), str(z.values.dtype)])
    assert found[0] == found[1]


ERRORS: list[tuple[str, Any, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    ("sort", [1.0], (1,), {}, IndexError, "Dimension out of range"),
    ("sort", [1j], (), {}, RuntimeError, "does not support complex dtypes"),
    ("topk", [1.0], (2,), {}, RuntimeError, "selected index k out of range"),
    ("topk", [1.0], (-1,), {}, RuntimeError, "selected index k out of range"),
    ("topk", [True], (1,), {}, RuntimeError, "does not support bool"),
    ("unique", [1.0], (), {"dim": 1}, IndexError, "Dimension out of range"),
    ("unique", [[], []], (), {"dim": 0}, RuntimeError, "0 sized dimensions"),
]


@pytest.mark.parametrize("name, values, args, options, cls, words", ERRORS, ids=repr)
def test_errors(
    name: str, values: Any, args: Any, options: Any, cls: type[Exception], words: str
) -> None:
    for module in (compat, torch) if torch is not None else (compat,):
        with pytest.raises(cls, match=words if module is compat else None):
            getattr(module, name)(module.tensor(values), *args, **options)


SEARCHES: list[tuple[Any, Any, dict[str, Any], str]] = [
    ([1, 3], [2], {"side": "left", "right": True}, "can't be set to opposites"),
    ([1, 3], [2], {"side": "foo"}, "can only be 'left' or 'right'"),
    (1.0, [2.0], {}, "positive dimension"),
    ([[1, 3]], [2], {}, "first N-1 dimensions"),
    ([[1, 3], [2, 4]], [[2]], {}, "first N-1 dimensions"),
    ([3, 1], [2], {"sorter": [0]}, "must have the same size"),
    ([3, 1], [2], {"sorter": [1.0, 0.0]}, "long dtype"),
]


@pytest.mark.parametrize("a, v, options, words", SEARCHES, ids=repr)
def test_errors_of_searches(a: Any, v: Any, options: Any, words: str) -> None:
    for m in (compat, torch) if torch is not None else (compat,):
        given = {k: m.tensor(x) if k == "sorter" else x for k, x in options.items()}
        with pytest.raises(RuntimeError, match=words):
            m.searchsorted(m.tensor(a), m.tensor(v), **given)
    with pytest.raises(RuntimeError, match="must be 1 dimension"):
        compat.bucketize(1, compat.tensor([[1, 2]]))


def test_under_vmap() -> None:
    x = np.random.default_rng(0).normal(size=(3, 5))
    found = compat.vmap(lambda r: compat.sort(r, descending=True).values)(compat.from_numpy(x))
    np.testing.assert_array_equal(found.numpy(), -np.sort(-x))
    found = compat.vmap(lambda r: compat.topk(r, 2).indices)(compat.from_numpy(x))
    np.testing.assert_array_equal(found.numpy(), np.argsort(-x)[:, :2])
