"""Functions of several primitives with a printed fast path do what their general path does."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat as torch
import compat.nn.functional as F
from compat.autograd import printed
from compat.autograd.printed_nodes import CompositeNode
from compat.viz import backward_table

# Each: the function, and shapes of operands that take its fast path.
COMPOSITES: dict[str, tuple[Callable[..., Any], list[tuple[tuple[int, ...], ...]]]] = {
    "linear": (F.linear, [((4, 3), (2, 3), (2,)), ((0, 3), (2, 3), (2,)), ((1, 1), (1, 1), (1,))]),
    "mse_loss": (F.mse_loss, [((2, 3), (2, 3)), ((), ()), ((5,), (5,))]),
}
TOLERANCE = {"float64": 1e-12, "float32": 2e-5}


def operands(shapes: Any, dtype: str, wanted: Any, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(rng.normal(size=shape)).astype(dtype) for shape in shapes]
    return [torch.from_numpy(a).requires_grad_(w) for a, w in zip(arrays, wanted, strict=True)]


def results(f: Callable[..., Any], xs: list[Any]) -> list[np.ndarray]:
    """The value, gradients in both ways, and gradients of a function of the gradients."""
    leaves = [x for x in xs if x.requires_grad]
    out = f(*xs)
    if not leaves:
        assert out.grad_fn is None
        return [out.numpy()]
    weights = torch.from_numpy(np.cos(np.arange(out.numel())).reshape(tuple(out.shape)))
    weights = weights.to(out.dtype)
    first = torch.autograd.grad((out * weights).sum(), leaves, create_graph=True)
    found = [out, *first]
    total = sum((g * g).sum() for g in first)
    if total.requires_grad:
        second = torch.autograd.grad(total, leaves, allow_unused=True)
        found += [
            torch.zeros_like(x) if g is None else g for x, g in zip(leaves, second, strict=True)
        ]
    for x in leaves:
        x.grad = None
    (f(*xs) * weights).sum().backward()
    return [x.detach().numpy() for x in (*found, *[x.grad for x in leaves])]


@pytest.mark.parametrize("name", COMPOSITES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_fast_and_general_agree(name: str, data: st.DataObject) -> None:
    f, shapes = COMPOSITES[name]
    shape = data.draw(st.sampled_from(shapes))
    dtype = data.draw(st.sampled_from(["float64", "float32"]))
    wanted = data.draw(st.tuples(*[st.booleans()] * len(shape)))
    seed = data.draw(st.integers(0, 9))
    fast = operands(shape, dtype, wanted, seed)
    slow = operands(shape, dtype, wanted, seed)
    if any(wanted):
        assert isinstance(f(*fast).grad_fn, CompositeNode)
    for a, b in zip(results(f, fast), results(f.__wrapped__, slow), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("name", COMPOSITES)
def test_what_is_saved(name: str) -> None:
    """Only what a wanted gradient reads; it is freed, and a write into it is found."""
    f, shapes = COMPOSITES[name]
    for wanted in itertools.product([False, True], repeat=len(shapes[0])):
        if not any(wanted):
            continue
        xs = operands(shapes[0], "float64", wanted, 0)
        node = f(*xs).grad_fn
        for i, key in enumerate(node.operands):
            held = key in node.reads and getattr(node, key) is not None
            ys = operands(shapes[0], "float64", wanted, 0)
            out = f(*ys).sum()
            with torch.no_grad():
                ys[i].add_(1)
            if held:
                with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                    out.backward()
            else:
                out.backward()
        out = f(*xs).sum()
        out.backward()
        if all(getattr(node, key) is None for key in node.reads):
            out.backward()
            continue
        with pytest.raises(RuntimeError, match="second time"):
            out.backward()


def test_frozen_weights_save_no_input() -> None:
    x, w, b = operands(COMPOSITES["linear"][1][0], "float64", (True, False, False), 0)
    node = F.linear(x, w, b).grad_fn
    assert node.x is None
    assert np.shares_memory(node.w, w.numpy())


@pytest.mark.parametrize("name", COMPOSITES)
def test_the_same_tensor_twice(name: str) -> None:
    f, _ = COMPOSITES[name]
    found = []
    for g in (f, f.__wrapped__):
        x = torch.tensor(np.arange(9.0).reshape(3, 3), requires_grad=True)
        b = torch.ones(3, dtype=torch.float64)
        out = g(x, x, b) if name == "linear" else g(x, x * 1)
        out.sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_hooks_and_anomaly() -> None:
    x, w, b = operands(COMPOSITES["linear"][1][0], "float64", (True, True, True), 0)
    assert "AddmmBackward0" in str(backward_table(F.linear(x, w, b).sum()))
    seen = []
    out = F.linear(x, w, b)
    out.grad_fn.register_hook(lambda inputs, outputs: seen.append([g.shape for g in inputs]))
    out.sum().backward()
    assert seen == [[x.shape, w.shape, b.shape]]
    w.data[0, 0] = float("nan")
    out = F.linear(x, w, b).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            torch.autograd.detect_anomaly(),
            pytest.raises(RuntimeError, match="Function 'AddmmBackward0' returned nan values"),
        ):
            out.backward()


def test_sources_can_be_read() -> None:
    for f, _ in COMPOSITES.values():
        assert printed.source(f).startswith(f"def {f.__name__}(")


@pytest.mark.parametrize("shape", [(4,), (5, 4), (3, 5, 4), (2, 3, 5, 4), (0, 3, 4)])
def test_layers_of_more_axes_are_of_matrices(shape: tuple[int, ...]) -> None:
    """As PyTorch's, whose output is a view of ``addmm``; not where the input cannot be one."""
    layer = torch.nn.Linear(4, 3)
    x = torch.randn(*shape, requires_grad=True)
    y = layer(x)
    assert y.shape == (*shape[:-1], 3)
    expected = ["AddmmBackward0"] if len(shape) == 2 else ["ViewBackward0", "AddmmBackward0"]
    node, names = y.grad_fn, []
    for _ in expected:
        names.append(node.name())
        node = node.next_functions[0][0]
    assert names == expected
    y.square().sum().backward()
    ct = 2 * y.detach().numpy()
    rows, cts = x.detach().numpy().reshape(-1, 4), ct.reshape(-1, 3)
    np.testing.assert_allclose(x.grad, ct @ layer.weight.detach().numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer.weight.grad, cts.T @ rows, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer.bias.grad, cts.sum(0), rtol=1e-4, atol=1e-5)
    turned = layer(torch.randn(5, 3, 4).transpose(0, 1))
    assert turned.grad_fn.name() == "AddBackward0"


@pytest.mark.parametrize("shape", [(3, 5, 4), (2, 3, 5, 4), (0, 3, 4)])
@pytest.mark.parametrize("is_linear", [False, True])
def test_products_of_more_axes_are_of_matrices(shape: tuple[int, ...], is_linear: bool) -> None:
    """By a matrix, as PyTorch's; the result is no view, and may be written into."""
    x = torch.randn(*shape, requires_grad=True)
    w = torch.randn(3, 4, requires_grad=True)
    for _ in range(3):  # the first calls record, later ones run what they recorded
        y = torch.nn.functional.linear(x, w) if is_linear else x @ w.t()
    assert y.shape == (*shape[:-1], 3) and not y._is_view()
    node, names = y.grad_fn, []
    for _ in range(3):
        names.append(node.name())
        node = node.next_functions[0][0]
    assert names == ["UnsafeViewBackward0", "MmBackward0", "ViewBackward0"]
    y.square_().sum().backward()
    ct = 2 * (x.detach() @ w.detach().t()).numpy()
    np.testing.assert_allclose(x.grad, ct @ w.detach().numpy(), rtol=1e-4, atol=1e-4)
    rows = x.detach().numpy().reshape(-1, 4)
    np.testing.assert_allclose(w.grad, ct.reshape(-1, 3).T @ rows, rtol=1e-4, atol=1e-4)
    turned = torch.randn(5, 3, 4).transpose(0, 1) @ w.t()
    assert turned.grad_fn.name() == "UnsafeViewBackward0"
