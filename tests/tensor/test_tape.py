"""The tape itself: printed functions do what the general path does, nothing leaks, no rule is here."""

from __future__ import annotations

import ast
import gc
import tracemalloc
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat as torch
from compat import Tensor
from compat.autograd import printed
from compat.autograd.node import NOTHING
from funcgrad.algebra import sum_to

PACKAGE = Path(torch.__file__).parent


def printed_functions() -> dict[str, Any]:
    """Every function with a fast path, by name: module functions and methods of `Tensor`."""
    found: dict[str, Any] = {}
    for space in (torch, Tensor):
        for name in dir(space):
            f = getattr(space, name)
            code = getattr(f, "__code__", None)
            if code is not None and code.co_filename.startswith("<compat printed"):
                found.setdefault(f"{f.__name__} in {code.co_filename}", f)
    return found


PRINTED = printed_functions()


def operands(count: int, dtype: Any, shapes: list[tuple[int, ...]], seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    made = [rng.uniform(0.2, 0.9, s).astype(dtype) for s in shapes[:count]]
    return [torch.from_numpy(np.array(a)).requires_grad_() for a in made]


def results(f: Callable[..., Any], args: list[Any]) -> tuple[Any, ...]:
    """Value, node, gradients and gradients of gradients of one call."""
    for x in args:
        if isinstance(x, Tensor):
            x.grad = None
    leaves = [x for x in args if isinstance(x, Tensor)]
    out = f(*args)
    assert isinstance(out, Tensor)
    weights = torch.from_numpy(np.cos(np.arange(out.numel())).reshape(tuple(out.shape)))
    weights = weights.to(out.dtype)
    names = (type(out.grad_fn).__name__, out.dtype, tuple(out.shape))
    if not out.requires_grad:
        return names, [out.detach().numpy()]
    first = torch.autograd.grad((out * weights).sum(), leaves, create_graph=True, allow_unused=True)
    arrays = [out, *(g for g in first if g is not None)]
    squares = [(g * g).sum() for g in first if g is not None and g.requires_grad]
    if squares:
        total = squares[0] if len(squares) == 1 else squares[0] + squares[1]
        arrays += [
            g for g in torch.autograd.grad(total, leaves, allow_unused=True) if g is not None
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (f(*args) * weights).sum().backward()
        arrays += [x.grad for x in leaves if x.grad is not None]
    return names, [a.detach().numpy().copy() for a in arrays]


@pytest.mark.parametrize("name", PRINTED)
@settings(deadline=None, max_examples=12)
@given(data=st.data())
def test_printed_functions_do_what_the_general_path_does(name: str, data: st.DataObject) -> None:
    f = PRINTED[name]
    general = f.__wrapped__
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    matrix = "MmBackward0" in name
    shapes: Any = data.draw(
        st.sampled_from(
            [[(2, 3), (3, 2)]]
            if matrix
            else [[(2, 3), (2, 3)], [(2, 3), (3,)], [(2, 1), (1, 3)], [(), ()], [(0, 3), (3,)]]
        )
    )
    count = f.__code__.co_argcount if "dim" not in f.__code__.co_varnames else 1
    args = operands(count, dtype, shapes, data.draw(st.integers(0, 3)))
    if count == 2 and not matrix:
        kind = data.draw(st.sampled_from(["tensor", "number", "itself"]))
        with_number = getattr(f.__globals__.get("with_number"), "__code__", general.__code__)
        takes_numbers = with_number.co_filename.startswith("<compat printed")
        if kind == "number" and takes_numbers:
            args[1] = data.draw(st.sampled_from([2, -0.5, 0.0, 3.0, 1]))
        elif kind == "itself":
            args[1] = args[0]
    if "in place" in name:
        fast, slow = args[0].detach().clone(), args[0].detach().clone()
        other = args[1].detach() if isinstance(args[1], Tensor) else args[1]
        try:
            with torch.no_grad():
                general(slow, other)
        except RuntimeError as error:
            with torch.no_grad(), pytest.raises(type(error)):
                f(fast, other)
            return
        with torch.no_grad():
            assert f(fast, other) is fast
        np.testing.assert_array_equal(fast.numpy(), slow.numpy())
        assert fast._version == slow._version
        return
    fast_names, fast_arrays = results(f, args)
    slow_names, slow_arrays = results(general, args)
    assert fast_names == slow_names
    assert len(fast_arrays) == len(slow_arrays)
    for a, b in zip(fast_arrays, slow_arrays, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5 if dtype is np.float32 else 1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in PRINTED if "in place" not in name])
def test_what_printed_functions_saved_is_there_once(name: str) -> None:
    f = PRINTED[name]
    count = f.__code__.co_argcount if "dim" not in f.__code__.co_varnames else 1
    args = operands(count, np.float64, [(2, 2), (2, 2)], 0)
    out = f(*args)
    reads = out.grad_fn.saved is not NOTHING
    out.backward(torch.ones_like(out))
    if reads:
        with pytest.raises(RuntimeError, match="through the graph a second time"):
            out.backward(torch.ones_like(out))
    else:
        first = [x.grad.clone() for x in args]
        out.backward(torch.ones_like(out))
        for x, g in zip(args, first, strict=True):
            assert x.grad.tolist() == (2 * g).tolist()


LENGTHS = [1, 1000, 1001]  # short ones are treated otherwise than long ones
DTYPES = [np.float64, np.float32]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("total", [torch.sum, torch.mean])
def test_totals_of_any_length(total: Any, dtype: Any, length: int) -> None:
    x, y = operands(2, dtype, [(length,), (length,)], 0)
    part = 1 if total is torch.sum else 1 / length
    total(x + y).backward()
    total(x * x).backward()
    np.testing.assert_allclose(x.grad.numpy(), part * (1 + 2 * x.detach().numpy()), rtol=1e-6)
    x.grad.zero_()  # which is memory of its own
    np.testing.assert_allclose(y.grad.numpy(), np.full(length, part), rtol=1e-6)
    assert y.grad.numpy().dtype == dtype


@pytest.mark.parametrize("rows", [0, *LENGTHS])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3)])
def test_what_was_broadcast_gets_the_sum(shape: Any, dtype: Any, rows: int) -> None:
    x, y = operands(2, dtype, [(rows, 3), shape], 0)
    weights = np.cos(np.arange(rows * 3)).reshape(rows, 3).astype(dtype)
    (x + y).backward(torch.from_numpy(weights))
    expected = sum_to(weights.astype(np.float64), shape)
    np.testing.assert_allclose(y.grad.numpy(), expected, rtol=1e-4, atol=1e-4)
    assert y.grad.numpy().dtype == dtype
    np.testing.assert_array_equal(x.grad.numpy(), weights)


def test_there_are_printed_functions() -> None:
    assert len(PRINTED) > 30
    assert "def sin" in printed.source(torch.sin)
    for general in (torch.cumsum, torch.nn.Linear, len):
        with pytest.raises(ValueError, match=f"^{general.__name__} has no printed fast path"):
            printed.source(general)


# ---------------------------------------------------------------- no rule


RULE_MAKERS = {
    "elementwise",
    "elementwise_constant",
    "linear",
    "view",
    "bilinear",
    "general",
    "constant",
    "custom_rule",
    "custom_jvp",
}


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.relative_to(PACKAGE).as_posix()
)
def test_no_module_defines_a_derivative(path: Path) -> None:
    """No primitive is made here, and no rule: not by a decorator, a subclass or an attribute."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("funcgrad.algebra"):
            names = {a.name for a in node.names}
            assert not names & RULE_MAKERS, f"line {node.lineno} imports {names & RULE_MAKERS}"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("funcgrad."):
            kinds.update(a.asname or a.name for a in node.names)
        if isinstance(node, ast.ClassDef):
            bases = {getattr(b, "id", getattr(b, "attr", "")) for b in node.bases}
            made = bases & {"Primitive", "Elementwise", "Linear", "Bilinear", "General"}
            assert not made & kinds
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            assert node.attr not in ("tangent", "cotangents", "transposes")


# ---------------------------------------------------------------- memory


def test_nothing_survives_with_the_collector_off() -> None:
    gc.collect()
    gc.disable()
    try:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        for create_graph in (False, True):
            y = torch.exp(x * x)
            z = (y * torch.sin(y)).sum()
            refs = [weakref.ref(t) for t in (y, z)] + [weakref.ref(z.grad_fn)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                z.backward(create_graph=create_graph)
            if create_graph:
                refs.append(weakref.ref(x.grad))
                refs.append(weakref.ref(x.grad.grad_fn))
            x.grad = None
            del y, z
            assert [r() for r in refs] == [None] * len(refs)
        ref = weakref.ref(x)
        (x * x).sum().backward(create_graph=False)
        del x
        assert ref() is None
    finally:
        gc.enable()


def test_leaf_with_a_recorded_gradient_is_freed() -> None:
    """`x.grad` leads to the graph, which has saved x: PyTorch leaks this cycle."""
    gc.collect()
    gc.disable()
    try:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        with pytest.warns(UserWarning, match="reference cycle"):
            (x * x * x).sum().backward(create_graph=True)
        assert x.grad.requires_grad
        refs = [weakref.ref(x), weakref.ref(x.grad)]
        del x
        assert [r() for r in refs] == [None, None]
    finally:
        gc.enable()


def test_a_chain_keeps_one_array_per_step() -> None:
    x = torch.from_numpy(np.full(2**15, 0.5)).requires_grad_()
    steps, size = 60, 2**18
    tracemalloc.start()
    y: Any = x
    for _ in range(steps):
        y = torch.tanh(y)
    y.sum().backward()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (steps + 5) * size


def test_frozen_part_saves_nothing() -> None:
    w = torch.from_numpy(np.ones(3))
    x = torch.from_numpy(np.ones(3))
    y = torch.exp(w * x)
    assert y.grad_fn is None
    assert not y.requires_grad
    a = torch.from_numpy(np.ones(3)).requires_grad_()
    node = (a * y).grad_fn
    assert node._saved_self is None
    assert node._saved_other.tolist() == y.tolist()


def test_inference_mode_has_the_last_word() -> None:
    """Also within `enable_grad`, and for classes derived from it."""
    x = torch.ones(2, requires_grad=True)

    class Derived(torch.inference_mode):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(True)

    for mode in (torch.inference_mode(), Derived()):
        with mode, torch.enable_grad():
            y = x * 2
            assert torch.is_grad_enabled() and y.is_inference()
            assert not y.requires_grad and (2 * x).grad_fn is None
