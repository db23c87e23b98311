"""Writes in place through chains of views, at random: values and gradients.

A program is a list of small integers. It makes views of views of one tensor with the functions of
the families `shape`, `part`, `join` and `index`, and writes into them. The numbers follow from memory
that is really shared, so the gradient is compared with differences; and both with PyTorch's, if that
is installed.

`PROGRAMS=20000 pytest tests/tensor/test_view_writes.py` runs that many.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat

try:
    pytorch: Any = importlib.import_module("torch")
except ImportError:
    pytorch = None

Instruction = tuple[int, int, int, int]
WEIGHTS = np.random.default_rng(0).normal(size=200)

# Each takes a tensor with axes and two numbers.
VIEWS: list[Callable[[Any, int, int], Any]] = [
    lambda x, i, j: x.select(i % x.dim(), j % x.shape[i % x.dim()]),
    lambda x, i, j: x[j % x.shape[0]],
    lambda x, i, j: x[j % 2 :: 1 + i % 2],
    lambda x, i, j: x[..., j % x.shape[-1]],
    lambda x, i, j: x[..., None, j % x.shape[-1] :],
    lambda x, i, j: x.narrow(i % x.dim(), j % x.shape[i % x.dim()], 1),
    lambda x, i, j: x.transpose(i % x.dim(), j % x.dim()),
    lambda x, i, j: x.permute(*reversed(range(x.dim()))),
    lambda x, i, j: x.movedim(i % x.dim(), j % x.dim()),
    lambda x, i, j: x.unsqueeze(i % (x.dim() + 1)),
    lambda x, i, j: x.squeeze(),
    lambda x, i, j: x.view(-1),
    lambda x, i, j: x.view(*x.shape[:-1], -1, 1),
    lambda x, i, j: x.reshape(-1),
    lambda x, i, j: x.flatten(i % x.dim()),
    lambda x, i, j: x.unflatten(i % x.dim(), (1, -1)),
    lambda x, i, j: x.diagonal(j % 2),
    lambda x, i, j: x.unfold(i % x.dim(), 1, 1),
    lambda x, i, j: x.unfold(i % x.dim(), 2, 2 + j % 2),
    lambda x, i, j: x.expand(2, *x.shape),
    lambda x, i, j: x.expand(*x.shape),
    lambda x, i, j: x.tensor_split(2, i % x.dim())[0],
    lambda x, i, j: x.mT,
    # No views: the graph goes on from a copy, which PyTorch may lay out otherwise.
    lambda x, i, j: x[[j % x.shape[0], 0]].contiguous(),
    lambda x, i, j: x.flip(i % x.dim()).contiguous(),
    lambda x, i, j: x.roll(1, i % x.dim()),
    lambda x, i, j: x.contiguous(),
    lambda x, i, j: x.clone().contiguous(),
]


def _mask(m: Any, x: Any, j: int) -> Any:
    size = int(np.prod(x.shape))
    return m.from_numpy(np.asarray(np.arange(size).reshape(x.shape) % 3 == j % 3))


def _set_item(index: Any) -> Callable[..., None]:
    def write(m: Any, x: Any, v: Any, i: int, j: int) -> None:
        x[index(m, x, i, j)] = v

    return write


def _exp_in_place(m: Any) -> Any:
    """A `Function` that writes into its input and saves what it wrote."""

    class Exp(m.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(0.3).exp_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0] * 0.3

    return Exp


# Each takes the module, a tensor with axes, a 0-d tensor that requires grad, and two numbers.
WRITES: list[Callable[..., Any]] = [
    lambda m, x, v, i, j: x.mul_(0.5 + 0.1 * j),
    lambda m, x, v, i, j: x.mul_(v),
    lambda m, x, v, i, j: x.add_(v),
    lambda m, x, v, i, j: x.sin_(),
    lambda m, x, v, i, j: _exp_in_place(m).apply(x),
    lambda m, x, v, i, j: x.copy_(v * v),
    lambda m, x, v, i, j: x.copy_(x.flip(0)),
    lambda m, x, v, i, j: x.t_(),
    lambda m, x, v, i, j: x.transpose_(i % x.dim(), j % x.dim()),
    lambda m, x, v, i, j: x.unsqueeze_(i % (x.dim() + 1)),
    lambda m, x, v, i, j: x.squeeze_(),
    _set_item(lambda m, x, i, j: j % x.shape[0]),
    _set_item(lambda m, x, i, j: (..., slice(j % 2, None))),
    _set_item(lambda m, x, i, j: (j % x.shape[0], None)),
    _set_item(lambda m, x, i, j: ...),
]
# PyTorch lets most of these write into expanded tensors, with a warning, and may fail in backward.
INDEXED: list[Callable[..., Any]] = [
    lambda m, x, v, i, j: x.fill_(v),
    lambda m, x, v, i, j: x.zero_(),
    lambda m, x, v, i, j: x.masked_fill_(_mask(m, x, j), v),
    lambda m, x, v, i, j: x.fill_diagonal_(0.3),
    lambda m, x, v, i, j: x.tril_(),
    lambda m, x, v, i, j: x.index_fill_(i % x.dim(), m.tensor([0]), v),
    lambda m, x, v, i, j: x.index_add_(0, m.tensor([0]), x[-1:] * 0.5),
    lambda m, x, v, i, j: x.index_copy_(0, m.tensor([0]), x[-1:] * 0.5),
    lambda m, x, v, i, j: x.scatter_(0, m.tensor(np.zeros((1,) * x.dim(), dtype=int)), 0.7),
    lambda m, x, v, i, j: x.index_put_((m.tensor([0]),), v),
    lambda m, x, v, i, j: x.index_put_((m.tensor([0, 0]),), v, accumulate=True),
    lambda m, x, v, i, j: x.masked_scatter_(_mask(m, x, j), x.flip(0) * 0.9),
    _set_item(lambda m, x, i, j: (..., [j % x.shape[-1]])),
    _set_item(lambda m, x, i, j: _mask(m, x, j)),
]


def run(module: Any, program: list[Instruction], leaves: list[np.ndarray], copied: int) -> Any:
    """The final weighted sum of all tensors, its leaves, and the steps that raised."""
    a, v = (module.from_numpy(x.copy()).requires_grad_() for x in leaves)
    base = a * 1 if copied == 0 else a.t() * 1 if copied == 1 else a[:, ::2] * 1
    tensors = [base]
    raised: list[Any] = []
    for op, k, i, j in program:
        x = tensors[k % len(tensors)]
        if not x.dim() or not int(np.prod(x.shape)):
            continue
        try:
            if op % 3:
                made = VIEWS[(op // 3 + 13 * k) % len(VIEWS)](x, i, j)
                if int(np.prod(made.shape)) <= 100 and made.dim() < 6:
                    tensors.append(made)
            else:
                expanded = any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True))
                writes = WRITES if op % 2 or expanded else INDEXED
                writes[(op // 6 + 11 * j) % len(writes)](module, x, v[i % 3], i, j)
        except (RuntimeError, IndexError) as error:
            raised.append((op, type(error)))
    total = (v * v).sum()
    for x in tensors:
        size = int(np.prod(x.shape))
        total = total + (x * module.from_numpy(WEIGHTS[:size].reshape(x.shape).copy())).sum()
    return total, (a, v), raised, tensors


def gradients(total: Any, leaves: Any) -> Any:
    """The leaves' gradients; None if something was modified that is needed."""
    try:
        total.backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error), error
        return None
    return [np.zeros(x.shape) if x.grad is None else x.grad.numpy() for x in leaves]


def check(program: list[Instruction], copied: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = [rng.uniform(0.5, 2, (3, 4)), rng.uniform(0.5, 2, 3)]
    total, leaves, raised, tensors = run(compat, program, arrays, copied)
    found = gradients(total, leaves)
    if pytorch is not None:
        expected, theirs, steps, others = run(pytorch, program, arrays, copied)
        assert raised == steps
        for x, y in zip(tensors, others, strict=True):
            assert tuple(x.shape) == tuple(y.shape)
            assert (x.grad_fn is None) == (y.grad_fn is None)
            np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=1e-10)
        wanted = gradients(expected, theirs)
        assert (found is None) == (wanted is None)
        for g, h in zip(found or (), wanted or (), strict=True):
            np.testing.assert_allclose(g, h, rtol=1e-8, atol=1e-10)
    if found is None:
        return
    steps = [rng.normal(size=x.shape) for x in arrays]
    h = 1e-6
    up, down = (
        run(compat, program, [x + s * h * t for x, t in zip(arrays, steps, strict=True)], copied)
        for s in (1, -1)
    )
    difference = (up[0].item() - down[0].item()) / (2 * h)
    along = sum(float((g * t).sum()) for g, t in zip(found, steps, strict=True))
    assert abs(difference - along) <= 1e-5 * max(1.0, abs(along)), (difference, along)


small = st.integers(0, 9)
instructions = st.tuples(st.integers(0, 90), small, small, small)
PROGRAMS = int(os.environ.get("PROGRAMS", "300"))


@settings(max_examples=PROGRAMS, deadline=None)
@given(st.lists(instructions, max_size=10), st.integers(0, 2), st.integers(0, 2))
def test_writes_through_views(program: list[Instruction], copied: int, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(program, copied, seed)


@pytest.mark.parametrize("module", [compat] if pytorch is None else [compat, pytorch])
def test_a_view_may_become_a_leaf(module: Any) -> None:
    """It stays one when its memory is written, as optimizers do."""
    base = module.tensor([[1.0, 2.0], [3.0, 4.0]])
    w = base.t().requires_grad_()
    (w * w).sum().backward()
    with module.no_grad():
        w -= 0.5 * w.grad
        base += 1
    assert w.requires_grad and w.is_leaf and w.tolist() == [[1, 1], [1, 1]]
    w.grad = None
    (w * w).sum().backward()
    assert w.grad.tolist() == [[2, 2], [2, 2]]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        w.mul_(2)


@pytest.mark.parametrize("module", [compat] if pytorch is None else [compat, pytorch])
def test_writing_through_a_reshape_of_a_transposed_base(module: Any) -> None:
    """`x` lies in memory in the order of its axes reversed, so that this reshape is a view."""
    a = module.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    v = module.tensor(7.0, requires_grad=True)
    x = a.t() * 1
    flat = x.t().view(-1)
    flat[1] = v
    flat.mul_(2)
    x[0, 0] = v
    (x * module.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
    assert x.tolist() == [[7, 6, 10], [14, 8, 12]]
    assert a.grad.tolist() == [[0, 0], [4, 10], [6, 12]] and v.grad.item() == 9


@pytest.mark.parametrize("module", [compat] if pytorch is None else [compat, pytorch])
def test_a_function_that_writes_through_a_view(module: Any) -> None:
    """The view, the result and the base have the Function's derivative, at once and later."""
    inside = np.array([[0, 1, 1], [1, 1, 0]])
    array = np.arange(6.0).reshape(2, 3)
    for place in range(3):
        a = module.from_numpy(array.copy()).requires_grad_()
        y = a.t() * 1
        v = y.t().view(-1)[1:5]
        w = _exp_in_place(module).apply(v)
        np.testing.assert_allclose(v.detach().numpy(), np.exp([0.3, 0.6, 0.9, 1.2]))
        (y, v, w)[place].sum().backward()
        outside = (1 - inside) * (place == 0)
        expected = outside + inside * 0.3 * np.exp(0.3 * array)
        np.testing.assert_allclose(a.grad.numpy(), expected)
