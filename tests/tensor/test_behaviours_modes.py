"""Sections 2 and 3 of the table of behaviours: cutting and switching; second derivatives.

One test per row; its docstring has the row: what is tried, then what is expected. Each runs on
`compat` and, where it is installed, on PyTorch. The differences are in `test_behaviours.py`.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import compat


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def leaf(torch: Any, data: Any) -> Any:
    return torch.tensor(data, requires_grad=True)


def same_memory(a: Any, b: Any) -> bool:
    return np.shares_memory(a.detach().numpy(), b.detach().numpy())


# ---------------------------------------------------------------- detach


def test_backward_of_what_was_detached(torch: Any) -> None:
    """w=y.detach(); z=w@tensor([4.,7.,9.]); z.backward() raises "element 0 of tensors does not..."."""
    y = leaf(torch, [1.0, 2.0, 3.0]) * 2
    w = y.detach()
    assert (w.requires_grad, w.is_leaf, w.grad_fn) == (False, True, None)
    z = w @ torch.tensor([4.0, 7.0, 9.0])
    message = "element 0 of tensors does not require grad and does not have a grad_fn"
    with pytest.raises(RuntimeError, match=message):
        z.backward()


def test_a_detached_tensor_becomes_a_leaf(torch: Any) -> None:
    """Then w.requires_grad_(), again: w.grad [4,7,9], w a leaf, x.grad None, DotBackward0."""
    x = leaf(torch, [1.0, 2.0, 3.0])
    w = (x * 2).detach()
    assert w.requires_grad_() is w
    z = w @ torch.tensor([4.0, 7.0, 9.0])
    assert z.grad_fn.name() == "DotBackward0"
    assert z.item() == 2 * 4 + 4 * 7 + 6 * 9
    z.backward()
    assert w.grad.tolist() == [4.0, 7.0, 9.0]
    assert w.is_leaf
    assert x.grad is None


def test_detach_shares_storage_and_version(torch: Any) -> None:
    """y=a.exp(); y.detach().zero_(); y.sum().backward() raises; for y=a*a it is legal."""
    a = leaf(torch, [1.0, 2.0])
    y = a.exp()
    cut = y.detach()
    assert same_memory(cut, y)
    before = y._version
    cut.zero_()
    assert y._version == cut._version == before + 1
    assert y.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = a * a
    y.detach().zero_()
    y.sum().backward()
    assert a.grad.tolist() == [2.0, 4.0]


# ---------------------------------------------------------------- grad modes


@pytest.mark.parametrize("name", ["no_grad", "inference_mode"])
def test_recording_is_switched_off(torch: Any, name: str) -> None:
    """no_grad(), inference_mode() as context managers: on the way out all is as before."""
    a = leaf(torch, [1.0])
    mode = getattr(torch, name)
    with mode():
        assert not torch.is_grad_enabled()
        assert not (a * 2).requires_grad
    assert torch.is_grad_enabled()
    with pytest.raises(ValueError, match="mine"), mode():
        raise ValueError("mine")
    assert torch.is_grad_enabled()
    assert (a * 2).requires_grad


def test_modes_nest(torch: Any) -> None:
    """no_grad, enable_grad, set_grad_enabled(b), inference_mode, inside one another."""
    seen = []
    with torch.no_grad():
        seen.append(torch.is_grad_enabled())
        with torch.enable_grad():
            seen.append(torch.is_grad_enabled())
            with torch.set_grad_enabled(False):
                seen.append(torch.is_grad_enabled())
            seen.append(torch.is_grad_enabled())
        seen.append(torch.is_grad_enabled())
        with torch.inference_mode():
            seen.append(torch.is_inference_mode_enabled())
            with torch.inference_mode(False):
                seen.append((torch.is_inference_mode_enabled(), torch.is_grad_enabled()))
        seen.append((torch.is_inference_mode_enabled(), torch.is_grad_enabled()))
    seen.append(torch.is_grad_enabled())
    assert seen == [False, True, False, True, False, True, (False, True), (False, False), True]


def test_set_grad_enabled_as_a_function(torch: Any) -> None:
    """set_grad_enabled(b): in force from the call on."""
    a = leaf(torch, [1.0])
    try:
        torch.set_grad_enabled(False)
        assert not (a * 2).requires_grad
        torch.set_grad_enabled(True)
        assert (a * 2).requires_grad
    finally:
        torch.set_grad_enabled(True)


def test_modes_decorate(torch: Any) -> None:
    """The same as decorators: of functions, with and without parentheses, and of methods."""
    a = leaf(torch, [1.0])

    @torch.no_grad()
    def off(x: Any, factor: float = 1.0) -> Any:
        """Doc."""
        return x * factor

    @torch.no_grad
    def bare(x: Any) -> Any:
        return x * 2

    @torch.enable_grad()
    def on(x: Any) -> Any:
        return x * 2

    @torch.set_grad_enabled(False)
    def set_off(x: Any) -> Any:
        return x * 2

    @torch.inference_mode()
    def inference(x: Any) -> Any:
        return x * 2

    assert torch.is_grad_enabled()  # decorating changes nothing
    assert (off.__name__, off.__doc__) == ("off", "Doc.")
    assert off(a, factor=3.0).tolist() == [3.0]
    for f in (off, bare, set_off, inference):
        assert not f(a).requires_grad
        assert torch.is_grad_enabled()
    assert inference(a).is_inference()
    with torch.no_grad():
        assert on(a).requires_grad


def test_modes_decorate_generators(torch: Any) -> None:
    """Generators too: the mode is in force between the yields, and not in the caller."""
    a = leaf(torch, [1.0])

    @torch.no_grad()
    def generate() -> Iterator[Any]:
        sent = yield a * 2
        yield a * sent

    running = generate()
    assert not next(running).requires_grad
    assert torch.is_grad_enabled()
    out = running.send(5)
    assert (out.tolist(), out.requires_grad) == ([5.0], False)
    assert torch.is_grad_enabled()
    assert (a * 2).requires_grad


def test_modes_are_per_thread(torch: Any) -> None:
    """Grad modes are per thread: a new one records, whatever the mode of the one that starts it."""
    a, seen = leaf(torch, [1.0]), []

    def run() -> None:
        seen.append((torch.is_grad_enabled(), (a * 2).requires_grad))
        torch.set_grad_enabled(False)
        seen.append((torch.is_grad_enabled(), (a * 2).requires_grad))

    with torch.no_grad():
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    assert seen == [(True, True), (False, False)]


def test_under_no_grad(torch: Any) -> None:
    """Under no_grad: no requires_grad, no grad_fn; in-place on a requiring leaf is allowed."""
    a = leaf(torch, [1.0, 2.0])
    with torch.no_grad():
        b = a * 2
        assert (b.requires_grad, b.grad_fn, b.is_leaf) == (False, None, True)
        same = a
        a += 1
        a.mul_(2)
        a[0] = 10.0
    assert a is same
    assert (a.requires_grad, a.is_leaf, a.tolist()) == (True, True, [10.0, 6.0])
    (a * a).sum().backward()
    assert a.grad.tolist() == [20.0, 12.0]


def test_inference_tensors(torch: Any) -> None:
    """A tensor of inference mode used with a outside raises; so does d.requires_grad_()."""
    a = leaf(torch, [1.0, 2.0])
    with torch.inference_mode():
        d = torch.ones(2)
        e = a * 3
    assert d.is_inference()
    assert e.is_inference()
    assert not e.requires_grad
    assert not a.is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        d * a
    message = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"
    with pytest.raises(RuntimeError, match=message):
        d.requires_grad_()
    (d.clone() * a).sum().backward()
    assert a.grad.tolist() == [1.0, 1.0]
    (d + a).sum().backward()  # legal: nothing is saved
    assert a.grad.tolist() == [2.0, 2.0]
    with torch.no_grad():
        assert (d * a).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        d._version  # noqa: B018
    with pytest.raises(
        RuntimeError, match="Inplace update to inference tensor outside InferenceMode"
    ):
        d.add_(1)


# ---------------------------------------------------------------- modules


def test_eval_changes_dropout_and_batch_norm_only(torch: Any) -> None:
    """module.eval(): dropout and batch norm change, requires_grad never does."""
    nn = torch.nn
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    x = torch.tensor(np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32))
    module(x)
    mean = module[1].running_mean.tolist()
    assert mean != [0.0] * 4
    assert module.training
    assert module.eval() is module
    assert not any(m.training for m in module.modules())
    assert all(p.requires_grad for p in module.parameters())
    first, second = module(x), module(x)
    assert first.tolist() == second.tolist()
    assert 0.0 not in first.flatten().tolist()
    assert module[1].running_mean.tolist() == mean
    first.sum().backward()
    assert all(p.grad is not None for p in module.parameters())
    module.train()
    assert 0.0 in module(x).flatten().tolist()


@pytest.mark.parametrize("how", ["module.requires_grad_(False)", "loop over parameters()"])
def test_frozen_modules(torch: Any, how: str) -> None:
    """A frozen part builds no graph and keeps no buffers; a new last Linear trains alone."""
    nn = torch.nn
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    if how.startswith("module"):
        assert module.requires_grad_(False) is module
    else:
        for p in module.parameters():
            p.requires_grad = False
    x = torch.ones(5, 3)
    assert module(x).grad_fn is None
    module[2] = nn.Linear(4, 2)
    hidden = module[1](module[0](x))
    assert hidden.grad_fn is None
    out = module(x)
    assert sum(p.requires_grad for p in module.parameters()) == 2
    out.sum().backward()
    assert [p.grad is None for p in module.parameters()] == [True, True, False, False]
    assert module[2].bias.grad.tolist() == [5.0, 5.0]
    reached, found = [out.grad_fn], set()
    for node in reached:
        found.add(node.name())
        reached += [n for n, _ in node.next_functions if n is not None]
    assert "TanhBackward0" not in found


# ---------------------------------------------------------------- second derivatives


def test_gradient_of_a_gradient_that_was_not_recorded(torch: Any) -> None:
    """z.backward(); autograd.grad(x.grad, x) raises "does not require grad"."""
    x = leaf(torch, 5.0)
    torch.log(x**3).backward()
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(x.grad, x)


def test_backward_that_is_recorded(torch: Any) -> None:
    """z.backward(create_graph=True): x.grad has a grad_fn; its grad is (tensor(-0.1200),);
    one UserWarning about the cycle."""
    if hasattr(torch, "set_warn_always"):
        torch.set_warn_always(True)  # PyTorch gives it once per process otherwise
    x = leaf(torch, 5.0)
    z = torch.log(x**3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        z.backward(create_graph=True)
    if hasattr(torch, "set_warn_always"):
        torch.set_warn_always(False)
    assert [w.category for w in caught] == [UserWarning]
    assert "create_graph=True will create a reference cycle" in str(caught[0].message)
    assert torch is not compat or "Here nothing leaks" in str(caught[0].message)
    assert x.grad.requires_grad
    assert x.grad.grad_fn is not None
    assert x.grad.item() == pytest.approx(0.6)
    second = torch.autograd.grad(x.grad, x)
    assert str(second) == "(tensor(-0.1200),)"
    x.grad = None


def test_grad_takes_outputs_inputs_and_grad_outputs(torch: Any) -> None:
    """autograd.grad(outputs, inputs, grad_outputs): one or several, a tuple comes back."""
    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    assert torch.autograd.grad((x * y).sum(), x)[0].tolist() == [3.0, 4.0]
    gx, gy = torch.autograd.grad(x * y, (x, y), torch.tensor([1.0, 10.0]))
    assert (gx.tolist(), gy.tolist()) == ([3.0, 40.0], [1.0, 20.0])
    found = torch.autograd.grad(
        outputs=[(x * y).sum(), x * 2], inputs=[x], grad_outputs=[None, torch.ones(2)]
    )
    assert isinstance(found, tuple)
    assert found[0].tolist() == [5.0, 6.0]
    assert (x.grad, y.grad) == (None, None)
    with pytest.raises(
        RuntimeError, match="grad can be implicitly created only for scalar outputs"
    ):
        torch.autograd.grad(x * y, x)


def test_grad_by_what_is_inside_the_graph(torch: Any) -> None:
    """inputs may be non-leaves."""
    x = leaf(torch, [1.0, 2.0])
    y = x * 3
    out = (y * y).sum()
    gy, gx = torch.autograd.grad(out, [y, x])
    assert (gy.tolist(), gx.tolist()) == ([6.0, 12.0], [18.0, 36.0])


def test_grad_retains_and_creates(torch: Any) -> None:
    """retain_graph, create_graph: as for backward; the second derivatives of x**3 are 6x, 6."""
    x = leaf(torch, 5.0)
    y = x**3
    torch.autograd.grad(y, x, retain_graph=True)
    torch.autograd.grad(y, x)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        torch.autograd.grad(y, x)
    found = [x**3]
    for _ in range(3):
        found += torch.autograd.grad(found[-1], x, create_graph=True)
    assert [v.item() for v in found] == [125.0, 75.0, 30.0, 6.0]
    assert x.grad is None


def test_grad_of_an_unused_input(torch: Any) -> None:
    """Unused raises "appears to not have been used"; allow_unused: None; materialize: zeros."""
    x, u = leaf(torch, [1.0, 2.0]), leaf(torch, [[1.0, 2.0]])
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad((x * 2).sum(), [x, u])
    g, none = torch.autograd.grad((x * 2).sum(), [x, u], allow_unused=True)
    assert (g.tolist(), none) == ([2.0, 2.0], None)
    g, zeros = torch.autograd.grad((x * 2).sum(), [x, u], materialize_grads=True)
    assert (g.tolist(), zeros.tolist(), zeros.dtype) == ([2.0, 2.0], [[0.0, 0.0]], torch.float32)
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed"):
        torch.autograd.grad((x * 2).sum(), u, allow_unused=False, materialize_grads=True)


def test_grad_of_a_batch_of_cotangents(torch: Any) -> None:
    """is_grads_batched: grad_outputs has one more axis in front, and so has the answer."""
    x = leaf(torch, [1.0, 2.0, 3.0])
    rows = torch.eye(3)
    (jacobian,) = torch.autograd.grad(x * x, x, rows, is_grads_batched=True)
    assert jacobian.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    (recorded,) = torch.autograd.grad(x * x, x, rows, is_grads_batched=True, create_graph=True)
    assert torch.autograd.grad(recorded.sum(), x)[0].tolist() == [2.0, 2.0, 2.0]


# ---------------------------------------------------------------- beyond the table


def test_arrays_of_leaves_under_no_grad(torch: Any) -> None:
    x = leaf(torch, [1.0, 2.0])
    with torch.no_grad():
        assert x.numpy().tolist() == np.asarray(x).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        x.numpy()


def test_modes_are_booleans(torch: Any) -> None:
    with pytest.raises(TypeError, match=r"argument 'enabled' .* must be bool, not str"):
        torch.set_grad_enabled("yes")
    assert torch.is_grad_enabled()


def test_gradients_by_nothing(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.grad(leaf(torch, [1.0]).sum(), [])


def test_functions_take_arguments_by_name(torch: Any) -> None:
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: float = 1.0) -> Any:
            ctx.k = k
            return x * k

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.k, None

    x = leaf(torch, [1.0, 2.0])
    for given, expected in (({"k": 3.0}, 3.0), ({}, 1.0)):
        (slope,) = torch.autograd.grad(Times.apply(x, **given).sum(), x)
        assert slope.tolist() == [expected] * 2
