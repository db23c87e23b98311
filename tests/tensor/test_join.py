"""Joining and cutting: values, gradients, dtypes, memory and errors."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import C, Call, Draw, F, I, call, check
from hypothesis import given
from hypothesis import strategies as st

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="compares with PyTorch")
MODULES = [compat] if torch is None else [compat, torch]


def f32(*shape: int) -> Draw:
    return Draw(lambda rng: rng.normal(size=shape).astype(np.float32), False)


CALLS: list[Call] = [
    call("cat", [F(2, 3), F(1, 3)]),
    call("cat", (F(2, 3), F(2, 1)), 1),
    call("cat", [F(2, 3), F(2, 1), F(2, 0)], dim=-1),
    call("cat", [F(0), F(2, 3)], 1),
    call("cat", [F(0), F(0)]),
    call("cat", [F(2), I(3)]),
    call("cat", [f32(2), I(3)]),
    call("cat", [C(2), F(2)]),
    call("cat", [F(3)]),
    call("concat", [F(2), F(1)], axis=0),
    call("concatenate", [F(2), F(1)]),
    call("stack", [F(2, 3), F(2, 3)]),
    call("stack", [F(2, 3), F(2, 3)], -1),
    call("stack", [F(), F(), F()]),
    call("stack", [F(2), I(2)], 1),
    call("hstack", [F(2), F(3)]),
    call("hstack", [F(2, 1), F(2, 2)]),
    call("hstack", [F(), F(2)]),
    call("vstack", [F(3), F(2, 3)]),
    call("row_stack", [F(3), F(3)]),
    call("dstack", [F(3), F(3)]),
    call("dstack", [F(2, 3), F(2, 3, 2)]),
    call("column_stack", [F(3), F(3, 2), F(3)]),
    call("column_stack", [F(), F()]),
    call("split", F(5, 2), 2),
    call("split", F(2, 5), 2, 1),
    call("split", F(5), [1, 0, 4]),
    call("split", F(0, 2), 3),
    call(".split_with_sizes", F(5), [3, 2]),
    call("split_with_sizes", F(2, 5), (3, 2), -1),
    call("chunk", F(5), 2),
    call("chunk", F(2, 5), 4, 1),
    call("chunk", F(0, 2), 3),
    call("tensor_split", F(5), 3),
    call("tensor_split", F(5), (1, 3)),
    call("tensor_split", F(2, 5), (-2, 9), 1),
    call("tensor_split", F(5), (3, 1)),
    call("tensor_split", F(5), indices=(2,)),
    call("hsplit", F(4), 2),
    call("hsplit", F(2, 4), (1,)),
    call("vsplit", F(4, 2), 2),
    call("dsplit", F(2, 1, 4), (1, 3)),
    call("unbind", F(2, 3)),
    call("unbind", F(2, 3), 1),
    call("unbind", F(0, 3)),
]


@pytest.mark.parametrize("c", CALLS, ids=[c.name for c in CALLS])
def test_call(c: Call) -> None:
    check(c)


def test_places_may_be_a_tensor() -> None:
    x = compat.tensor([0.0, 1.0, 2.0])
    assert [p.tolist() for p in x.tensor_split(compat.tensor([1]))] == [[0], [1, 2]]
    assert [p.tolist() for p in x.tensor_split(compat.tensor(2))] == [[0, 1], [2]]


def test_out() -> None:
    for m in MODULES:
        a = m.tensor([1.0, 2.0])
        out = m.tensor([0.0, 0.0, 0.0, 0.0])
        assert m.cat([a, a], out=out) is out and out.tolist() == [1, 2, 1, 2]
        with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
            m.stack([a, a.clone().requires_grad_()], out=m.tensor([[0.0, 0.0]] * 2))


SEVERAL: list[Callable[[Any], Any]] = [
    lambda x: x.split(1)[0],
    lambda x: x.split([1, 1])[1],
    lambda x: x.chunk(2)[0],
    lambda x: x.unbind()[1],
    lambda x: x.split(1)[0].view(-1),
]
SINGLE: list[Callable[[Any], Any]] = [
    lambda x: x.tensor_split(2)[0],
    lambda x: x.vsplit(2)[1],
    lambda x: x.hsplit(2)[1],
]


@pytest.mark.parametrize("f", SEVERAL)
def test_views_made_together_must_not_be_written(f: Callable[[Any], Any]) -> None:
    for m in MODULES:
        x = m.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) * 1
        y = f(x)
        assert y._is_view() and y._base is x
        with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
            y.mul_(2)
        with m.no_grad():
            y.mul_(2)
        assert x._version == 1
        plain = m.tensor([[1.0, 2.0], [3.0, 4.0]])
        f(plain).mul_(2)
        assert plain._version == 1


@pytest.mark.parametrize("f", SINGLE)
def test_views_of_slices_may(f: Callable[[Any], Any]) -> None:
    found = []
    for m in MODULES:
        leaf = m.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        x = leaf * 1
        f(x).mul_(2)
        x.sum().backward()
        found.append((x.tolist(), leaf.grad.tolist()))
    assert found[0] == found[-1]


ERRORS: list[tuple[Callable[..., Any], type[Exception], str]] = [
    (lambda m, x, v, s: m.cat([]), ValueError, "expected a non-empty list of Tensors"),
    (lambda m, x, v, s: m.cat(x), TypeError, "must be tuple of Tensors, not Tensor"),
    (lambda m, x, v, s: m.cat([x, 1]), TypeError, "expected Tensor as element 1 in argument 0"),
    (lambda m, x, v, s: m.cat([s, s]), RuntimeError, "zero-dimensional tensor (at position 0)"),
    (lambda m, x, v, s: m.cat([x, v]), RuntimeError, "same number of dimensions: got 2 and 1"),
    (
        lambda m, x, v, s: m.cat([x, x[:, :2]]),
        RuntimeError,
        "Expected size 4 but got size 2 for tensor number 1 in the list.",
    ),
    (lambda m, x, v, s: m.cat([x, x], 2), IndexError, "Dimension out of range"),
    (lambda m, x, v, s: m.stack([]), RuntimeError, "stack expects a non-empty TensorList"),
    (lambda m, x, v, s: m.stack([x, v]), RuntimeError, "got [3, 4] at entry 0 and [4] at entry 1"),
    (lambda m, x, v, s: m.hstack([]), RuntimeError, "hstack expects a non-empty TensorList"),
    (lambda m, x, v, s: x.split([1, 1]), RuntimeError, "to sum exactly to 3"),
    (lambda m, x, v, s: x.split([4, -1]), RuntimeError, "only non-negative entries"),
    (lambda m, x, v, s: x.split(0), RuntimeError, "split_size can only be 0 if"),
    (lambda m, x, v, s: x.split(-1), RuntimeError, "split_size be non-negative"),
    (lambda m, x, v, s: s.split(1), RuntimeError, "at least a 1-dimensional tensor"),
    (lambda m, x, v, s: x.chunk(0), RuntimeError, "`chunks` to be greater than 0, got: 0"),
    (lambda m, x, v, s: s.chunk(1), RuntimeError, "chunk expects at least a 1-dimensional"),
    (lambda m, x, v, s: x.tensor_split(0), RuntimeError, "sections must be larger than 0"),
    (lambda m, x, v, s: s.tensor_split(1), RuntimeError, "at least a 1-dimensional tensor"),
    (lambda m, x, v, s: x.hsplit(3), RuntimeError, "not divisible by the split_size 3!"),
    (
        lambda m, x, v, s: v.vsplit(2),
        RuntimeError,
        "torch.vsplit requires a tensor with at least 2",
    ),
    (lambda m, x, v, s: s.unbind(), IndexError, "Dimension specified as 0 but tensor has no"),
]


@pytest.mark.parametrize(("f", "error", "words"), ERRORS)
def test_errors(f: Callable[..., Any], error: type[Exception], words: str) -> None:
    for m in MODULES:
        given = [m.from_numpy(np.ones(shape)) for shape in ((3, 4), (4,))]
        with pytest.raises(error) as found:
            f(m, *given, m.tensor(1.0))
        assert words in str(found.value)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(0, 1), st.integers(1, 4))
def test_cutting_undoes_joining(lengths: list[int], dim: int, chunks: int) -> None:
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(n, 2) if dim == 0 else (2, n)) for n in lengths]
    joined = compat.cat([compat.from_numpy(p) for p in parts], dim)
    np.testing.assert_array_equal(joined.numpy(), np.concatenate(parts, dim))
    for found, part in zip(joined.split(lengths, dim), parts, strict=True):
        np.testing.assert_array_equal(found.numpy(), part)
    again = compat.cat(joined.chunk(chunks, dim), dim)
    np.testing.assert_array_equal(again.numpy(), joined.numpy())
    assert len(joined.tensor_split(chunks, dim)) == chunks
