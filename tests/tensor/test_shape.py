"""Shapes, views, parts, copies in another order, grids: values, gradients, memory and errors."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import B, C, Call, Draw, F, I, call, check
from hypothesis import given
from hypothesis import strategies as st

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="compares with PyTorch")
MODULES = [compat] if torch is None else [compat, torch]


def With(values: Any, *, grad: bool = False) -> Draw:
    """These numbers."""
    return Draw(lambda _: np.array(values), grad)


Z = F(2, 3, 4)
CALLS: list[Call] = [
    call(".view", F(3, 4), -1),
    call(".view", F(3, 4), 2, 6),
    call(".view", F(3, 4), (4, -1)),
    call(".view", F(), 1, 1),
    call(".view", F(0, 3), 3, -1),
    call(".view", C(2, 2), 4),
    call(".view_as", F(2, 3), F(6)),
    call("reshape", F(3, 4), (2, -1)),
    call(".reshape", F(3, 4), 12),
    call(".reshape_as", F(2, 3), F(3, 2)),
    call("flatten", Z),
    call("flatten", Z, 1),
    call("flatten", Z, 0, 1),
    call("flatten", F()),
    call("ravel", Z),
    call("unflatten", F(2, 6), 1, (2, 3)),
    call("unflatten", F(6), 0, (-1, 2)),
    call("squeeze", F(1, 2, 1)),
    call("squeeze", F(1, 2, 1), 0),
    call("squeeze", F(1, 2, 1), (0, 1)),
    call("squeeze", F(1, 2, 1), -1),
    call("squeeze", F(), 0),
    call("alias_copy", F(2, 3)),
    call("as_strided_copy", F(6), (2, 3), (1, 2)),
    call("diagonal_copy", F(3, 3), 1),
    call("expand_copy", F(3, 1), (2, 3, 4)),
    call("narrow_copy", F(4, 2), 0, 1, 2),
    call(".narrow_copy", F(4, 2), 1, 0, 1),
    call("permute_copy", Z, (2, 0, 1)),
    call("select_copy", Z, 1, -1),
    call("slice_copy", F(5), 0, 1, 5, 2),
    call("split_copy", F(5), 2),
    call("split_with_sizes_copy", F(5, 2), (2, 3)),
    call("squeeze_copy", F(1, 2)),
    call("squeeze_copy", F(2)),
    call("t_copy", F(2, 3)),
    call("transpose_copy", Z, 0, 2),
    call("unbind_copy", F(2, 3), 1),
    call("unfold_copy", F(5), 0, 3, 1),
    call("unsqueeze_copy", F(2), 0),
    call("view_copy", F(2, 3), (3, 2)),
    call("view_as_real_copy", C(2, 3)),
    call("view_as_complex_copy", F(3, 2, grad=False)),
    call("unsafe_chunk", F(5), 2),
    call("unsafe_split", F(5, 2), 2),
    call(".unsafe_split_with_sizes", F(5), (1, 4)),
    call(".sum_to_size", F(2, 3), 2, 1),
    call(".sum_to_size", F(4, 2, 3), (3,)),
    call(".sum_to_size", F(2, 3), 2, 3),
    call(".sum_to_size", C(2, 3), ()),
    call(".sum_to_size", I(2, 3), 1),
    call("unsqueeze", F(2), -1),
    call("unsqueeze", F(), 0),
    call("transpose", Z, 0, -1),
    call("swapaxes", Z, 0, 1),
    call("swapdims", Z, 2, 1),
    call("t", F(2, 3)),
    call("t", F(2)),
    call("permute", Z, (2, 0, 1)),
    call(".permute", Z, -1, 0, 1),
    call("movedim", Z, 0, 2),
    call("movedim", Z, (0, 1), (2, 0)),
    call("moveaxis", Z, -1, 0),
    call("adjoint", Z),
    call(".expand", F(3, 1), 2, 3, 4),
    call(".expand", F(3, 1), (-1, 4)),
    call(".expand", F(), 2),
    call(".expand_as", F(3), F(2, 3)),
    call("broadcast_to", F(3), (2, 3)),
    call("broadcast_tensors", F(3), F(2, 1)),
    call("atleast_1d", F()),
    call("atleast_2d", F(3)),
    call("atleast_3d", F(3), F(), F(2, 3)),
    call("diagonal", F(3, 4)),
    call("diagonal", F(3, 4), -1),
    call("diagonal", Z, 1, 2, 0),
    call("diagonal", F(3, 4), 9),
    call("select", F(3, 4), 1, -1),
    call("narrow", F(3, 4), 1, 1, 2),
    call("narrow", F(3, 4), 1, -2, 2),
    call("narrow", F(3, 4), 0, 3, 0),
    call(".unfold", F(5), 0, 2, 1),
    call(".unfold", F(6, 2), 0, 2, 3),
    call(".unfold", F(2, 5), 1, 3, 2),
    call(".unfold", F(5), 0, 2, 3),
    call(".unfold", F(), 0, 1, 1),
    call("as_strided", F(3, 4), (3, 2), (1, 2)),
    call("as_strided", F(3, 4), (3, 2), (1, 2), 5),
    call("as_strided", F(4), (), (), 2),
    call("as_strided", F(4), (2, 2), (0, 1)),
    call("select_scatter", F(3, 4), F(3), 1, 2),
    call("slice_scatter", F(3, 4), F(3, 2), 1, 0, 4, 2),
    call("slice_scatter", F(4), F(2), start=-2),
    call("diagonal_scatter", F(3, 4), F(3), 1),
    call("as_strided_scatter", F(3, 4, grad=False), F(3, 2), (3, 2), (1, 4)),
    call("as_strided_scatter", F(3, 4, grad=False), F(2, 2), (2, 2), (1, 2), 5),
    call("as_strided_scatter", F(4, grad=False), F(), (), (), 2),
    call("clone", Z),
    call(".contiguous", Z),
    call("flip", F(2, 3), (0, 1)),
    call(".flip", F(2, 3), -1),
    call("flip", F(), ()),
    call("fliplr", F(2, 3)),
    call("flipud", F(2)),
    call("roll", F(2, 3), 1),
    call("roll", F(2, 3), (1, -1), (0, 1)),
    call("roll", F(2, 3), (2, 2), (1, 1)),
    call("roll", F(), 1),
    *[call("rot90", Z, k, (0, 2)) for k in range(-1, 4)],
    call("tile", F(2, 3), (2,)),
    call("tile", F(2), (2, 1, 2)),
    call("tile", F(2, 3), (1, 1)),
    call(".repeat", F(2, 3), 2, 1, 2),
    call(".repeat", F(4), 3, 1),
    call(".repeat", F(4), 0),
    call("repeat_interleave", F(2, 3), 2),
    call("repeat_interleave", F(2, 3), 2, 1),
    call("repeat_interleave", F(2, 3), With([1, 0, 2]), 1),
    call("repeat_interleave", F(3), With([2])),
    call("repeat_interleave", With([1, 0, 2])),
    call("tril", F(3, 4), 1),
    call("triu", Z, -1),
    call(".tril_", F(3, 3)),
    call(".triu_", F(3, 3), 1),
    call("tril", B(3, 3)),
    call("diag", F(3)),
    call("diag", F(3), -1),
    call("diag", F(3, 4), 1),
    call("diag_embed", F(2, 3)),
    call("diag_embed", F(2, 3), 1, 0, 1),
    call("diag_embed", F(2, 3), -1, 0, -1),
    call("diagflat", F(2, 2), 1),
    call("diagflat", F()),
    call("trace", F(3, 4)),
    call("trace", I(3, 3)),
    call("block_diag", F(2, 3), F(2), F()),
    call("block_diag", I(2, 3), F(2)),
    call("meshgrid", F(2), F(3), indexing="ij"),
    call("meshgrid", [F(2), F(3), F()], indexing="xy"),
    call("cartesian_prod", F(2), F(3)),
    call("cartesian_prod", F(2)),
    call("combinations", F(4)),
    call("combinations", F(3), 2, True),
    call("combinations", F(2), 3),
    call("combinations", F(2), 0),
    call("vander", I(3)),
    call("vander", B(3)),
    call("vander", F(3, grad=False), 0),
    call("vander", F(3, grad=False), 4, True),
    call("tril_indices", 3, 4, -1),
    call("triu_indices", 3, 2, 1),
    call("tril_indices", 0, 2),
    call("unsqueeze", I(2, 3), 1),
    call("transpose", B(2, 3), 0, 1),
    call("flip", C(3), (0,)),
]


@pytest.mark.parametrize("c", CALLS, ids=[c.name for c in CALLS])
def test_call(c: Call) -> None:
    check(c)


def test_adjoints_conjugate() -> None:
    for m in MODULES:
        x = m.tensor([[1 + 2j, 3j]], requires_grad=True)
        for y in (x.adjoint(), x.mH, x.H):
            assert y.tolist() == [[1 - 2j], [-3j]]
        y.imag.sum().backward()
        assert x.grad.tolist() == [[-1j, -1j]]


def test_vander_is_differentiable_at_zero() -> None:
    """PyTorch's backward raises."""
    x = compat.tensor([0.0, 2.0], requires_grad=True)
    y = compat.vander(x, 3, increasing=True)
    (y * compat.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])).sum().backward()
    assert y.tolist() == [[1, 0, 0], [1, 2, 4]] and x.grad.tolist() == [2, 14]


# ---------------------------------------------------------------- memory

# What shares the memory of a tensor of shape (3, 4), and what does not.
VIEWS: list[Callable[[Any], Any]] = [
    lambda x: x.view(4, 3),
    lambda x: x.reshape(-1),
    lambda x: x.flatten(),
    lambda x: x.unflatten(1, (2, 2)),
    lambda x: x.squeeze(),
    lambda x: x.unsqueeze(0),
    lambda x: x.transpose(0, 1),
    lambda x: x.t(),
    lambda x: x.T,
    lambda x: x.mT,
    lambda x: x.H,
    lambda x: x.permute(1, 0),
    lambda x: x.movedim(0, 1),
    lambda x: x.expand(2, 3, 4),
    lambda x: x.expand(3, 4),
    lambda x: x.diagonal(),
    lambda x: x.select(0, 1),
    lambda x: x.narrow(1, 1, 2),
    lambda x: x.unfold(1, 2, 2),
    lambda x: x[:, :2].reshape(3, 2, 1),
    lambda x: x.expand(2, 3, 4)[0],
]
COPIES: list[Callable[[Any], Any]] = [
    lambda x: x.t().reshape(-1),
    lambda x: x.t().contiguous(),
    lambda x: x.clone(),
    lambda x: x.flip(0),
    lambda x: x.roll(0),
    lambda x: x.roll(0, 0),
    lambda x: x.rot90(0),
    lambda x: x.rot90(),
    lambda x: x.repeat(1, 1),
    lambda x: x.repeat(2, 1, 1),
    lambda x: x.tile(1),
    lambda x: x.tril(),
    lambda x: x.diag(),
    lambda x: x[:, :1].repeat(1, 1),
]


@pytest.mark.parametrize("f", VIEWS)
def test_views_share_memory_and_version(f: Callable[[Any], Any]) -> None:
    for m in MODULES:
        x = m.tensor(np.arange(12.0).reshape(3, 4))
        y = f(x)
        assert y._is_view() and y._base is x and x._version == 0
        before = y.clone()
        x += 1
        assert y._version == 1
        assert (y - before).numpy().min() == 1


@pytest.mark.parametrize("f", COPIES)
def test_copies_do_not(f: Callable[[Any], Any]) -> None:
    for m in MODULES:
        x = m.tensor(np.arange(12.0).reshape(3, 4))
        y = f(x)
        assert not y._is_view() and y._base is None
        before = y.numpy().copy()
        x += 1
        assert y._version == 0
        np.testing.assert_array_equal(y.numpy(), before)


@pytest.mark.parametrize("f", VIEWS + COPIES)
@needs_torch
def test_layout(f: Callable[[Any], Any]) -> None:
    for start in (lambda x: x, lambda x: x.t(), lambda x: x[:, 1:]):
        found = []
        for m in MODULES:
            x = start(m.tensor(np.arange(16.0).reshape(4, 4)))
            try:
                y = f(x)
            except RuntimeError as error:
                found.append(str(error).split(" (")[0])
                continue
            found.append((tuple(y.stride()), y.storage_offset(), y.is_contiguous(), tuple(y.shape)))
        assert found[0] == found[1]


def test_contiguous_and_flatten_return_the_tensor_itself() -> None:
    x, v = compat.tensor([[1.0]]), compat.tensor([1.0])
    assert x.contiguous() is x and v.flatten() is v and compat.atleast_1d(v) is v


def test_common_shapes() -> None:
    for m in MODULES:
        assert m.broadcast_shapes((2, 1), (3,)) == (2, 3) == m.broadcast_shapes((2, 1), 3)
        assert m.broadcast_shapes() == ()


def test_addresses() -> None:
    x = compat.tensor([1.0, 2.0])
    assert x[1:].data_ptr() == x.data_ptr() + 4 and x.clone().data_ptr() != x.data_ptr()


def test_bytes_as_another_dtype() -> None:
    for m in MODULES:
        x = m.tensor([[1.0, 2.0]], requires_grad=True)
        y = x.view(m.int32)
        assert y.tolist() == [[1065353216, 1073741824]] and not y.requires_grad
        assert x.view(m.float64).shape == (1, 1) and x.view(m.int16).shape == (1, 4)
        z = m.tensor([0.0])
        z.view(m.int32).fill_(1065353216)
        assert z.item() == 1 and z._version == 1


def test_resize() -> None:
    for m in MODULES:
        x = m.tensor([0.0, 1.0, 2.0, 3.0, 4.0])
        y = x[1:]
        assert y.resize_(2, 1).tolist() == [[1.0], [2.0]]
        assert x.resize_(2, 2).tolist() == [[0.0, 1.0], [2.0, 3.0]]
        y[0] = 7
        assert x.tolist() == [[0.0, 7.0], [2.0, 3.0]]
        assert m.tensor([]).resize_(2).shape == (2,)
        for part, values in (  # what lies one after another in memory, from the first element on
            (m.arange(9).reshape(3, 3).diagonal().resize_(2), [0, 1]),
            (m.arange(6).reshape(2, 3).t().resize_(2, 2), [[0, 1], [2, 3]]),
            (m.arange(12).reshape(3, 4)[1:, 1:].resize_(4), [5, 6, 7, 8]),
            (m.arange(12)[::3].resize_(2, 2), [[0, 1], [2, 3]]),
        ):
            assert part.tolist() == values and part.is_contiguous()
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            m.tensor([1.0], requires_grad=True).resize_(1)


def test_windows_that_overlap_are_only_to_be_read() -> None:
    y = compat.tensor([1.0, 2.0, 3.0]).unfold(0, 2, 1)
    with pytest.raises(RuntimeError, match="refers to a single memory location"):
        y.add_(1)


# ---------------------------------------------------------------- metadata in place

IN_PLACE: list[Callable[[Any], Any]] = [
    lambda x: x.t_(),
    lambda x: x.transpose_(0, 1),
    lambda x: x.swapaxes_(0, 1),
    lambda x: x.swapdims_(-1, 0),
    lambda x: x.unsqueeze_(1),
    lambda x: x.squeeze_(),
]


@pytest.mark.parametrize("f", IN_PLACE)
def test_metadata_in_place(f: Callable[[Any], Any]) -> None:
    """Views made before go on showing what they showed."""
    found = []
    for m in MODULES:
        leaf = m.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
        x = leaf * 1
        row = x[1]
        assert f(x) is x and x._version == 1
        x.mul_(2)
        row.mul_(3)
        (x * x).sum().backward()
        found.append((x.tolist(), row.tolist(), leaf.grad.tolist()))
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
            f(leaf)
        with m.no_grad():
            f(leaf)
        assert leaf.is_leaf and leaf.requires_grad
    assert found[0] == found[-1]


def test_the_retained_gradient_has_the_new_shape() -> None:
    """In PyTorch this is an internal error."""
    x = compat.tensor([[1.0, 2.0]], requires_grad=True) * 1
    x.retain_grad()
    x.t_()
    x.mul_(2)
    (x * x).sum().backward()
    assert x.grad.tolist() == [[4.0], [8.0]]


@pytest.mark.parametrize("f", IN_PLACE)
def test_metadata_in_place_of_views_and_data(f: Callable[[Any], Any]) -> None:
    found = []
    for m in MODULES:
        leaf = m.tensor(np.arange(12.0).reshape(2, 2, 3), requires_grad=True)
        base = leaf * 1
        view = base[1]
        f(view)
        view.mul_(2)
        base.sum().backward()
        data = m.tensor([[1.0, 2.0]])
        f(data)
        data.requires_grad_()
        with m.no_grad():
            data.mul_(3)
        (data * data).sum().backward()
        found.append((base.tolist(), view.tolist(), leaf.grad.tolist(), data.grad.tolist()))
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
            data.mul_(3)
    assert found[0] == found[-1]


# ---------------------------------------------------------------- errors

X, V = np.ones((3, 4)), np.ones(4)
NO_AXIS = "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
# (what is called on the module and tensors of shapes (3, 4), (4,), ()), the error, PyTorch's words)
ERRORS: list[tuple[Callable[..., Any], type[Exception], str]] = [
    (lambda m, x, v, s: x.t().view(-1), RuntimeError, "Use .reshape(...) instead."),
    (
        lambda m, x, v, s: x.view(5, 5),
        RuntimeError,
        "shape '[5, 5]' is invalid for input of size 12",
    ),
    (lambda m, x, v, s: x.view(5, -1), RuntimeError, "shape '[5, -1]' is invalid"),
    (lambda m, x, v, s: x.view(-1, -1), RuntimeError, "only one dimension can be inferred"),
    (lambda m, x, v, s: x.view(-2, 6), RuntimeError, "invalid shape dimension -2"),
    (lambda m, x, v, s: x[:0].view(0, -1), RuntimeError, "can be any value and is ambiguous"),
    (lambda m, x, v, s: x.view(), TypeError, "view()"),
    (lambda m, x, v, s: x.reshape("a"), TypeError, "must be tuple of ints, not str"),
    (lambda m, x, v, s: x.reshape(), TypeError, "missing 1 required positional arguments"),
    (lambda m, x, v, s: x.t().view(m.int16), RuntimeError, "self.stride(-1) must be 1 to view"),
    (lambda m, x, v, s: s.view(m.int16), RuntimeError, "self.dim() cannot be 0 to view"),
    (lambda m, x, v, s: x[:, :1].clone().view(m.complex128), RuntimeError, "must be divisible by"),
    (lambda m, x, v, s: x.flatten(1, 0), RuntimeError, "start_dim cannot come after end_dim"),
    (
        lambda m, x, v, s: v.unflatten(0, (3, 2)),
        RuntimeError,
        "don't multiply up to the size of dim",
    ),
    (lambda m, x, v, s: v.unflatten(0, ()), RuntimeError, "sizes must be non-empty"),
    (lambda m, x, v, s: x.squeeze(2), IndexError, NO_AXIS),
    (lambda m, x, v, s: x.squeeze((0, 0)), RuntimeError, "dim 0 appears multiple times"),
    (lambda m, x, v, s: x.unsqueeze(3), IndexError, "expected to be in range of [-3, 2]"),
    (lambda m, x, v, s: x.transpose(0, 2), IndexError, NO_AXIS),
    (lambda m, x, v, s: x[None].t(), RuntimeError, "t() expects a tensor with <= 2 dimensions"),
    (lambda m, x, v, s: v.mT, RuntimeError, "only supported on matrices or batches of matrices"),
    (lambda m, x, v, s: v.H, RuntimeError, "only supported on matrices (2-D tensors). Got 1-D"),
    (lambda m, x, v, s: v.adjoint(), RuntimeError, "only supported on matrices or batches"),
    (lambda m, x, v, s: x.permute(0), RuntimeError, "does not match the length of the desired"),
    (lambda m, x, v, s: x.permute(0, 0), RuntimeError, "duplicate dims are not allowed"),
    (lambda m, x, v, s: x.movedim((0, 0), (0, 1)), RuntimeError, "repeated dim in `source`"),
    (
        lambda m, x, v, s: x.movedim((0, 1), (0,)),
        RuntimeError,
        "Invalid source or destination dims",
    ),
    (
        lambda m, x, v, s: x.expand(3, 5),
        RuntimeError,
        "Target sizes: [3, 5].  Tensor sizes: [3, 4]",
    ),
    (
        lambda m, x, v, s: x.expand(4),
        RuntimeError,
        "the number of sizes provided (1) must be greater",
    ),
    (lambda m, x, v, s: x.expand(-1, 3, 4), RuntimeError, "leading, non-existing dimension 0"),
    (
        lambda m, x, v, s: m.broadcast_tensors(v, v[:3]),
        RuntimeError,
        "size of tensor a (4) must match",
    ),
    (
        lambda m, x, v, s: x.diagonal(0, 1, 1),
        RuntimeError,
        "diagonal dimensions cannot be identical",
    ),
    (
        lambda m, x, v, s: x.select(0, 5),
        IndexError,
        "index 5 out of range for tensor of size [3, 4]",
    ),
    (
        lambda m, x, v, s: s.select(0, 0),
        IndexError,
        "select() cannot be applied to a 0-dim tensor.",
    ),
    (lambda m, x, v, s: x.narrow(0, 2, 2), RuntimeError, "start (2) + length (2) exceeds"),
    (lambda m, x, v, s: x.narrow(0, 4, 0), IndexError, "start out of range"),
    (lambda m, x, v, s: x.narrow(0, 0, -1), RuntimeError, "length must be non-negative"),
    (lambda m, x, v, s: s.narrow(0, 0, 1), RuntimeError, "cannot be applied to a 0-dim tensor"),
    (lambda m, x, v, s: v.unfold(0, 5, 1), RuntimeError, "maximum size for tensor at dimension 0"),
    (lambda m, x, v, s: v.unfold(0, 1, 0), RuntimeError, "step is 0 but must be > 0"),
    (lambda m, x, v, s: v.as_strided((9,), (1,)), RuntimeError, "are out of bounds for storage"),
    (lambda m, x, v, s: v.as_strided((2,), (-1,)), RuntimeError, "Negative strides are not"),
    (lambda m, x, v, s: v.as_strided((2,), (1, 1)), RuntimeError, "mismatch in length of strides"),
    (
        lambda m, x, v, s: x.select_scatter(v[:3], 0, 0),
        RuntimeError,
        "src size = [3], slice size = [4]",
    ),
    (
        lambda m, x, v, s: x.as_strided_scatter(v[:3], (2,), (1,)),
        RuntimeError,
        "src size = [3], slice size = [2]",
    ),
    (
        lambda m, x, v, s: v[:2].clone().as_strided_scatter(v[:2], (2,), (3,)),
        RuntimeError,
        "are out of bounds for storage",
    ),
    (lambda m, x, v, s: v.as_strided_scatter(v[:2], (2,), (0,)), RuntimeError, ""),
    (lambda m, x, v, s: v.slice_scatter(v, step=-1), RuntimeError, "slice step must be positive"),
    (lambda m, x, v, s: x.stride(2), IndexError, NO_AXIS),
    (lambda m, x, v, s: x.flip(0, 0), RuntimeError, "dim 0 appears multiple times"),
    (lambda m, x, v, s: v.fliplr(), RuntimeError, "Input must be >= 2-d."),
    (lambda m, x, v, s: s.flipud(), RuntimeError, "Input must be >= 1-d."),
    (lambda m, x, v, s: x.roll((1, 2), 0), RuntimeError, "shifts and dimensions must align"),
    (lambda m, x, v, s: x.roll(()), RuntimeError, "`shifts` required"),
    (lambda m, x, v, s: x.rot90(1, (0,)), RuntimeError, "expected total rotation dims == 2"),
    (lambda m, x, v, s: x.rot90(1, (0, 0)), RuntimeError, "expected rotation dims to be different"),
    (lambda m, x, v, s: v.rot90(), RuntimeError, "expected total dims >= 2"),
    (
        lambda m, x, v, s: x.repeat(2),
        RuntimeError,
        "Number of dimensions of repeat dims can not be",
    ),
    (lambda m, x, v, s: v.repeat(-1), RuntimeError, "negative dimension"),
    (lambda m, x, v, s: v.repeat_interleave(-1), RuntimeError, "must be non-negative"),
    (
        lambda m, x, v, s: v.repeat_interleave(m.tensor([1, 2])),
        RuntimeError,
        "repeats must have the same size as input along dim",
    ),
    (lambda m, x, v, s: m.repeat_interleave(v), NotImplementedError, "repeat_interleave_cpu"),
    (
        lambda m, x, v, s: v.tril(),
        RuntimeError,
        "tril: input tensor must have at least 2 dimensions",
    ),
    (lambda m, x, v, s: s.diag(), RuntimeError, "diag(): Supports 1D or 2D tensors. Got 0D"),
    (
        lambda m, x, v, s: v.trace(),
        RuntimeError,
        "trace: expected a matrix, but got tensor with dim 1",
    ),
    (lambda m, x, v, s: s.diag_embed(), IndexError, "Dimension out of range"),
    (lambda m, x, v, s: m.block_diag(x[None]), RuntimeError, "must have 2 or fewer dimensions"),
    (lambda m, x, v, s: m.meshgrid(x, indexing="ij"), RuntimeError, "Expected 0D or 1D tensor"),
    (lambda m, x, v, s: m.meshgrid(v, indexing="a"), RuntimeError, 'must be one of "xy" or "ij"'),
    (lambda m, x, v, s: m.meshgrid(indexing="ij"), RuntimeError, "non-empty TensorList"),
    (
        lambda m, x, v, s: m.cartesian_prod(x),
        RuntimeError,
        "Expect a 1D vector, but got shape [3, 4]",
    ),
    (lambda m, x, v, s: m.combinations(v, -1), RuntimeError, "Expect a non-negative number"),
    (lambda m, x, v, s: m.vander(x), RuntimeError, "x must be a one-dimensional tensor."),
    (lambda m, x, v, s: m.vander(v, -1), RuntimeError, "N must be non-negative."),
    (lambda m, x, v, s: m.tril_indices(-1, 2), RuntimeError, "row must be non-negative"),
    (lambda m, x, v, s: v.expand(2, 4).add_(1), RuntimeError, "refers to a single memory location"),
]


@pytest.mark.parametrize(("f", "error", "words"), ERRORS)
def test_errors(f: Callable[..., Any], error: type[Exception], words: str) -> None:
    for m in MODULES:
        given = [m.from_numpy(a.copy()) for a in (X, V, np.ones(()))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(error) as found:
                f(m, *given)
        assert words in str(found.value)


# ---------------------------------------------------------------- at random

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@needs_torch
@given(shapes, st.data())
def test_reshape_and_permute_of_any_shape(shape: tuple[int, ...], data: Any) -> None:
    x = np.random.default_rng(0).normal(size=shape)
    axes = data.draw(st.permutations(range(len(shape))))
    lengths = data.draw(st.permutations([n for n in shape if n != 1] + [1]))
    found = []
    for m in MODULES:
        y = m.from_numpy(x.copy()).permute(*axes) if shape else m.from_numpy(x.copy())
        results = [y.reshape(tuple(lengths)), y.flatten(), y.contiguous(), y.clone()]
        try:
            results.append(y.view(tuple(lengths)))
        except RuntimeError:
            results.append(None)
        found.append(results)
    for ours, theirs in zip(*found, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours._is_view() == theirs._is_view()
            assert tuple(ours.shape) == tuple(theirs.shape)
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_gradients_of_what_is_replaced() -> None:
    """PyTorch gives the input the gradient of what is replaced instead of what is left."""
    x = compat.arange(12.0).reshape(4, 3).t().requires_grad_()
    y = compat.as_strided_scatter(x, compat.tensor([7.0, 8.0]), (2,), (5,), 1)
    assert y.t().flatten().tolist() == [
        0.0,
        7.0,
        2.0,
        3.0,
        4.0,
        5.0,
        8.0,
        *map(float, range(7, 12)),
    ]
    y.sum().backward()
    assert x.grad.t().flatten().tolist() == [1.0, 0.0, *[1.0] * 4, 0.0, *[1.0] * 5]
    with pytest.raises(RuntimeError, match="do not fill their memory"):
        compat.as_strided_scatter(compat.ones(4)[::2], compat.ones(1), (1,), (1,))
