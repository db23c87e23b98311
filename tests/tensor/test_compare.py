"""Comparisons, truth values and bits against PyTorch; operators and their refusals."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from elementwise import agree, needs_torch
from hypothesis import given, settings
from hypothesis import strategies as st

import compat

nan, inf = float("nan"), float("inf")
COMPARISONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


@pytest.mark.parametrize("name", COMPARISONS)
@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(["float32", "float64", "int64", "uint8", "bool"]),
    st.sampled_from(["float32", "float64", "int64", "uint8", "bool"]),
    st.sampled_from([((3,), (3,)), ((2, 3), (3,)), ((), (2,)), ((0,), ()), ((2, 1), (1, 2))]),
    st.integers(0, 100),
)
def test_comparison(name: str, dtype: str, other: str, shapes: tuple[Any, Any], seed: int) -> None:
    """The function, the operator, the alias and the method agree with NumPy."""
    rng = np.random.default_rng(seed)
    a = np.asarray(rng.integers(0, 3, shapes[0])).astype(dtype)
    b = np.asarray(rng.integers(0, 3, shapes[1])).astype(other)
    x, y = compat.from_numpy(a), compat.from_numpy(b)
    f = COMPARISONS[name]
    for found in (getattr(compat, name)(x, y), f(x, y), getattr(x, name)(y)):
        assert found.dtype is compat.bool and not found.requires_grad
        np.testing.assert_array_equal(found.numpy(), f(a, b))
    np.testing.assert_array_equal(f(x, 1).numpy(), f(a, 1))
    np.testing.assert_array_equal(f(1, y).numpy(), f(1, b))
    if np.broadcast_shapes(a.shape, b.shape) == a.shape:
        written = compat.from_numpy(a.copy())
        assert getattr(written, f"{name}_")(y) is written
        np.testing.assert_array_equal(written.numpy(), f(a, b).astype(dtype))


def test_aliases() -> None:
    pairs = {
        "greater": "gt",
        "greater_equal": "ge",
        "less": "lt",
        "less_equal": "le",
        "not_equal": "ne",
    }
    for alias, name in pairs.items():
        assert getattr(compat, alias) is getattr(compat, name)
        assert getattr(compat.Tensor, f"{alias}_") is getattr(compat.Tensor, f"{name}_")


def test_no_gradient_and_no_hash_by_value() -> None:
    x = compat.tensor([1.0, 2.0], requires_grad=True)
    assert not (x > 1).requires_grad and (x * (x > 1)).requires_grad
    y = (x * 1)[:1]
    assert (y == 1).tolist() == [True] and (y < x[1:]).tolist() == [True]
    assert len({x, compat.tensor([1.0, 2.0])}) == 2 and x in {x: 1}
    assert (x == None) is False and (x != "a") is True  # noqa: E711
    with pytest.raises(TypeError):
        x < None  # noqa: B015


def test_comparisons_while_transformed() -> None:
    x = compat.tensor([1.0, -2.0, 3.0])
    found = compat.func.grad(lambda v: (v * (v > 0)).sum())(x)
    assert found.tolist() == [1.0, 0.0, 1.0]
    assert compat.vmap(lambda v: v == 1)(x).tolist() == [True, False, False]
    with compat.inference_mode():
        assert (x > 0).is_inference()


VALUES: list[Callable[[Any], Any]] = [
    lambda m: m.tensor([nan, inf, 1.0]) == m.tensor([nan, inf, 1.0]),
    lambda m: m.tensor([0.1]) == 0.1,
    lambda m: m.tensor([1, 2]) > 1.5,
    lambda m: m.tensor([100], dtype=m.int8) < 300,
    lambda m: m.tensor([1j]) == 1j,
    lambda m: m.tensor([1j]) < 1,
    lambda m: m.eq(2, m.tensor([3])) if False else m.eq(m.tensor([3]), 2),
    lambda m: m.tensor([1.0, 2.0]) == m.tensor([1.0, 2.0, 3.0]),
    lambda m: m.tensor([1.0]) < m.tensor([2], dtype=m.int64),
    lambda m: m.gt(m.tensor([1.0]), 0, out=m.tensor([False])),
    lambda m: m.gt(m.tensor([1.0]), 0, out=m.tensor([0.0])),
    lambda m: m.equal(m.tensor([1, 2]), m.tensor([1, 2])),
    lambda m: m.equal(m.tensor([1, 2]), m.tensor([1, 3])),
    lambda m: m.equal(m.tensor([1]), m.tensor([1, 1])),
    lambda m: m.equal(m.tensor([nan]), m.tensor([nan])),
    lambda m: m.equal(m.tensor([]), m.tensor([])),
    lambda m: m.equal(m.tensor([1.0]), 1),
    lambda m: m.isclose(m.tensor([1.0, 1.1, inf, nan]), m.tensor([1.0, 1.0, inf, nan])),
    lambda m: m.isclose(m.tensor([nan]), m.tensor([nan]), equal_nan=True),
    lambda m: m.isclose(m.tensor([10, 11]), m.tensor([10, 10]), rtol=0.2),
    lambda m: m.isclose(m.tensor([True]), m.tensor([True])),
    lambda m: m.isclose(m.tensor([1.0]), m.tensor([1.0], dtype=m.float64)),
    lambda m: m.isclose(m.tensor([1.0]), m.tensor([1.0]), rtol=-1),
    lambda m: m.isclose(m.tensor([1.0]), m.tensor([1.0]), atol=-1),
    lambda m: m.isclose(m.tensor([1j, 1.0 + 1e-9]), m.tensor([1j, 1 + 0j])),
    lambda m: m.allclose(m.tensor([1.0, 1.1]), m.tensor([1.0, 1.0])),
    lambda m: m.allclose(m.tensor([1.0, 1.1]), m.tensor([1.0, 1.0]), 0.2),
    lambda m: m.allclose(m.tensor([1]), m.tensor([1.0])),
    lambda m: m.is_nonzero(m.tensor([2.0])),
    lambda m: m.tensor([[0]]).is_nonzero(),
    lambda m: m.is_nonzero(m.tensor([1, 2])),
    lambda m: m.is_nonzero(m.tensor([])),
    lambda m: m.isnan(m.tensor([1.0, nan, inf])),
    lambda m: m.isinf(m.tensor([complex(1, inf)])),
    lambda m: m.isfinite(m.tensor([1, 2])),
    lambda m: m.isposinf(m.tensor([inf, -inf])),
    lambda m: m.isneginf(m.tensor([inf, -inf])),
    lambda m: m.isposinf(m.tensor([1j])),
    lambda m: m.isreal(m.tensor([1j, 1 + 0j])),
    lambda m: m.isreal(m.tensor([nan, 0.0])),
    lambda m: m.logical_and(m.tensor([0, 2]), m.tensor([1.5, nan])),
    lambda m: m.logical_or(m.tensor([0, 2]), m.tensor([0.0, 0.0])),
    lambda m: m.logical_xor(m.tensor([True, False]), m.tensor([[True], [False]])),
    lambda m: m.logical_and(m.tensor([1]), 2),
    lambda m: m.logical_not(m.tensor([0.0, 3.0])),
    lambda m: m.logical_not(m.tensor([0, 3]), out=m.tensor([7, 7])),
    lambda m: m.tensor([1, 0]).logical_not_(),
    lambda m: m.tensor([1]).logical_and_(m.tensor([2.0])),
    lambda m: m.tensor([1.0]).eq_(1),
    lambda m: ~m.tensor([True, False]),
    lambda m: ~m.tensor([0, 5], dtype=m.uint8),
    lambda m: ~m.tensor([1.0]),
    lambda m: m.bitwise_not(m.tensor([1.0])),
    lambda m: m.tensor([6, 3]) & 5,
    lambda m: 5 & m.tensor([6, 3]),
    lambda m: m.tensor([6, 3]) | m.tensor([1, 8]),
    lambda m: m.tensor([True, False]) ^ True,
    lambda m: m.tensor([True]) & 1,
    lambda m: m.tensor([1]) & 1.0,
    lambda m: m.tensor([1.0]) & 1,
    lambda m: m.tensor([1]) & "a",
    lambda m: m.tensor([1, 3]) << 2,
    lambda m: 1 << m.tensor([3, 0]),
    lambda m: m.tensor([-8, 13]) >> 2,
    lambda m: 64 >> m.tensor([3, 0]),
    lambda m: m.tensor([1]) << 70,
    lambda m: m.tensor([1]) << -1,
    lambda m: m.tensor([1.0]) << 2,
    lambda m: m.tensor([True]) << True,
    lambda m: operator.iand(m.tensor([7]), 5),
    lambda m: operator.ior(m.tensor([2]), 5),
    lambda m: operator.ixor(m.tensor([2]), 3),
    lambda m: operator.ilshift(m.tensor([2]), 3),
    lambda m: operator.irshift(m.tensor([200], dtype=m.uint8), 3),
    lambda m: m.tensor([3.0]).bitwise_and_(1),
    lambda m: m.bitwise_xor(m.tensor([3]), m.tensor([1], dtype=m.int8)),
]


@needs_torch
@pytest.mark.parametrize("index", range(len(VALUES)))
def test_value(index: int) -> None:
    agree(VALUES[index])
