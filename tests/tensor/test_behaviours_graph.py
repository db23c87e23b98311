"""Section 5 of the table of behaviours, second part: deep graphs, what outlives backward, threads.

One test per row; its docstring has the row: what is tried, then what is expected. Each runs on
`compat` and, where it is installed, on PyTorch. PyTorch leaks with `create_graph=True`: those tests run
on `compat` only, and the difference is listed in `test_behaviours.py`.
"""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import compat

DEPTH = 60_000


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Only reference counts free anything inside."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def leaf(torch: Any, data: Any) -> Any:
    return torch.tensor(data, requires_grad=True)


# ---------------------------------------------------------------- deep graphs


def deep(torch: Any, x: Any, steps: int = DEPTH) -> Any:
    """`steps` operations, of which half save something; the value stays near x."""
    one = torch.tensor(1.0)
    for _ in range(steps // 2):
        x = x * one
        x = x + 0.0
    return x


def test_deep_graph_builds_runs_and_is_freed(torch: Any, no_collector: None) -> None:
    """A graph 60 000 nodes deep builds, runs backward and is freed without a recursion error."""
    x = leaf(torch, [1.0, 2.0])
    y = deep(torch, x)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    last = weakref.ref(y)
    del y
    assert last() is None
    y = deep(torch, x)  # freed before it has run
    last = weakref.ref(y)
    del y
    assert last() is None


def test_deep_graph_prints(torch: Any) -> None:
    """It prints: the result, its grad_fn and the leaves."""
    x = leaf(torch, [1.0, 2.0])
    y = deep(torch, x)
    assert str(y) == "tensor([1., 2.], grad_fn=<AddBackward0>)"
    assert str(x) == "tensor([1., 2.], requires_grad=True)"
    assert repr(y.grad_fn).startswith("<AddBackward0 object at 0x")


def test_deep_graph_is_walked(no_collector: None) -> None:
    """Ours only: all nodes can be held and dropped (PyTorch 2.13 overflows the C stack, and dies)."""
    x = leaf(compat, [1.0, 2.0])
    y = deep(compat, x)
    nodes = [y.grad_fn]
    while nodes[-1].next_functions:
        nodes.append(nodes[-1].next_functions[0][0])
    assert len(nodes) == DEPTH + 1
    assert nodes[-1].variable is x
    del y, nodes


def test_leaves_of_a_deep_graph_pickle(torch: Any) -> None:
    """It pickles and copies its leaves."""
    x = leaf(torch, [1.0, 2.0])
    y = deep(torch, x)
    y.sum().backward(retain_graph=True)
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert type(made) is torch.Tensor
        assert made is not x
        assert (made.tolist(), made.dtype) == ([1.0, 2.0], torch.float32)
        assert (made.is_leaf, made.requires_grad, made.grad_fn) == (True, True, None)
    grad = pickle.loads(pickle.dumps(x.grad))
    assert (grad.tolist(), grad.requires_grad) == ([1.0, 1.0], False)
    parameter = torch.nn.Parameter(torch.tensor([1.0]))
    z = deep(torch, parameter)
    made = pickle.loads(pickle.dumps(parameter))
    assert type(made) is torch.nn.Parameter
    assert (made.tolist(), made.requires_grad, z.item()) == ([1.0], True, 1.0)


def test_deep_graph_of_second_derivatives(torch: Any) -> None:
    """create_graph=True: the graph of the gradient is as deep, and is walked and freed as well."""
    x = leaf(torch, 1.0)
    y = deep(torch, x * x * x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert g.item() == 3.0
    del y
    assert torch.autograd.grad(g, x)[0].item() == 6.0
    del g


def test_deep_graph_of_a_view_that_is_written(torch: Any) -> None:
    """The same with in-place operations on one tensor and a view of it, which looks last."""
    a = leaf(torch, [1.0, 2.0])
    b = a * 1
    v = b[0]
    for _ in range(DEPTH // 10):
        b += 0.0
    v.mul_(3)
    b.sum().backward()
    assert a.grad.tolist() == [3.0, 1.0]


# ---------------------------------------------------------------- what survives


def chain(torch: Any, x: Any) -> list[Any]:
    """A small computation with everything in it; the tensors that it made, the loss last."""
    y = torch.exp(x * x)
    view = y[0]
    w = y * 1
    w[1:] *= 2.0
    z = torch.cat([y, w]).reshape(2, -1)
    return [y, view, w, z, (z * torch.sin(z)).sum() + view]


def references(tensors: list[Any]) -> list[weakref.ref[Any]]:
    return [weakref.ref(t) for t in tensors]


def dead(refs: list[weakref.ref[Any]]) -> list[bool]:
    return [r() is None for r in refs]


def test_nothing_survives_backward(torch: Any, no_collector: None) -> None:
    """After backward and del, with gc.disable(): no tensor survives."""
    x = leaf(torch, [0.5, 0.25, 0.125])
    made = chain(torch, x)
    refs = references(made)
    made[-1].backward()
    del made
    assert dead(refs) == [True] * 5
    made = chain(torch, x)  # without backward
    refs = references(made)
    del made
    assert dead(refs) == [True] * 5
    ref = weakref.ref(x)
    del x
    assert ref() is None


def test_nothing_survives_with_hooks(torch: Any, no_collector: None) -> None:
    """The same with hooks, retained gradients, and a graph kept by retain_graph."""
    x = leaf(torch, [0.5, 0.25, 0.125])
    made = chain(torch, x)
    made[0].retain_grad()
    made[0].register_hook(lambda g: g * 2)
    made[3].grad_fn.register_hook(lambda gi, go: None)
    x.register_hook(lambda g: None)
    made[-1].backward(retain_graph=True)
    made[-1].backward()
    refs = [*references(made), weakref.ref(made[0].grad), weakref.ref(x)]
    del made, x
    assert dead(refs) == [True] * 7


def test_nothing_survives_a_custom_function(torch: Any, no_collector: None) -> None:
    """The same with an `autograd.Function` that saves its input, its output, and keeps an attribute."""

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.factor = torch.ones(3)
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[1] * ctx.factor

    x = leaf(torch, [0.5, 0.25, 0.125])
    for run in (True, False):
        y = Exp.apply(x)
        kept = weakref.ref(y.grad_fn.factor)
        refs = [weakref.ref(y), kept]
        if run:
            y.sum().backward()
        del y
        assert dead(refs) == [True] * 2
    ref = weakref.ref(x)
    del x
    assert ref() is None


def test_buffers_are_freed_by_backward(torch: Any, no_collector: None) -> None:
    """Saved buffers go when backward has run, though the loss is still there."""
    x = leaf(torch, [0.5, 0.25, 0.125])
    factor = torch.ones(3)
    kept = weakref.ref(factor) if torch is not compat else weakref.ref(factor._array)
    loss = (x * factor).sum()
    del factor
    assert kept() is not None
    loss.backward()
    assert kept() is None
    assert loss.item() == 0.875


def arrays_in(saved: Any) -> list[np.ndarray]:
    """The arrays among what a node has saved: bare ones, and those of `Saved` entries."""
    if isinstance(saved, tuple | list):
        return [a for entry in saved for a in arrays_in(entry)]
    saved = getattr(saved, "array", saved)
    return [saved] if isinstance(saved, np.ndarray) else []


def behind(x: Any) -> list[weakref.ref[Any]]:
    """Weak references to the nodes that lead to x, and to the arrays that they have saved."""
    nodes = [x.grad_fn]
    refs: list[weakref.ref[Any]] = []
    for node in nodes:
        refs += [weakref.ref(o) for o in (node, *arrays_in(getattr(node, "saved", ())))]
        nodes += [n for n, _ in node.next_functions if n is not None and n not in nodes]
    return refs


@pytest.mark.parametrize("create_graph", [False, True])
def test_no_node_and_no_buffer_survives(no_collector: None, create_graph: bool) -> None:
    """No tensor, node or buffer survives (weak references prove it), create_graph=True included."""
    x = leaf(compat, [0.5, 0.25, 0.125])
    loss = chain(compat, x)[-1]
    refs = [weakref.ref(loss), *behind(loss)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss.backward(create_graph=create_graph)
    if create_graph:
        refs += [weakref.ref(x.grad), *behind(x.grad)]
        x.grad = None
    kept = (x, x._array, (x * 1).grad_fn.next_functions[0][0])  # what the leaf itself keeps
    refs = [r for r in refs if not any(r() is o for o in kept)]
    assert len(refs) > (40 if create_graph else 15)
    del loss
    assert [r() for r in refs if r() is not None] == []
    ref = weakref.ref(x)
    del x, kept
    assert ref() is None


def test_a_recorded_gradient_on_its_leaf_is_freed(no_collector: None) -> None:
    """backward(create_graph=True), del x: x, its .grad and the graph between them are gone."""
    x = leaf(compat, [0.5, 0.25, 0.125])
    made = chain(compat, x)
    with pytest.warns(UserWarning, match="reference cycle"):
        made[-1].backward(create_graph=True)
    assert x.grad.requires_grad
    refs = [weakref.ref(x), weakref.ref(x.grad), *behind(x.grad), *references(made)]
    assert len(refs) > 40
    del x, made
    assert [r() for r in refs if r() is not None] == []


def test_gradients_of_gradients_leave_nothing(torch: Any, no_collector: None) -> None:
    """autograd.grad(..., create_graph=True), three times over: nothing survives, in PyTorch neither."""
    x = leaf(torch, 0.5)
    found = [torch.exp(x * x)]
    for _ in range(3):
        found += torch.autograd.grad(found[-1], x, create_graph=True)
    refs = references(found)
    del found
    assert dead(refs) == [True] * 4
    ref = weakref.ref(x)
    del x
    assert ref() is None


# ---------------------------------------------------------------- threads


def in_threads(count: int, f: Callable[[int], None]) -> None:
    """Run f(0), ... at the same time; what one raises is raised."""
    failed: list[BaseException] = []
    start = threading.Barrier(count)

    def run(i: int) -> None:
        try:
            start.wait()
            f(i)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def test_threads_share_leaves(torch: Any) -> None:
    """Two threads call backward on graphs that share leaves: right sums, no race."""
    w = torch.zeros(100, requires_grad=True)
    v = torch.ones(100, requires_grad=True)
    w.grad = torch.zeros(100)
    v.grad = torch.zeros(100)
    rounds = 300

    def work(i: int) -> None:
        for _ in range(rounds):
            y = (w + v) * float(i + 1)
            y = y * v
            y.sum().backward()

    in_threads(2, work)
    total = float(rounds * (1 + 2))
    assert set(w.grad.tolist()) == {total}
    assert set(v.grad.tolist()) == {2 * total}


def test_threads_share_a_graph(torch: Any) -> None:
    """The same where they share nodes, too, which are retained."""
    w = torch.ones(10, requires_grad=True)
    w.grad = torch.zeros(10)
    shared = torch.exp(w * 0.0) * w

    def work(i: int) -> None:
        for _ in range(100):
            (shared * float(i + 1)).sum().backward(retain_graph=True)

    in_threads(2, work)
    assert set(w.grad.tolist()) == {300.0}


def test_grad_modes_stay_per_thread(torch: Any) -> None:
    """Grad modes stay per thread while two run: one records, the other does not."""
    w, seen = leaf(torch, 1.0), {0: set(), 1: set()}

    def work(i: int) -> None:
        for _ in range(300):
            if i:
                with torch.no_grad():
                    seen[i].add((w * 2).requires_grad)
            else:
                seen[i].add((w * 2).requires_grad)

    in_threads(2, work)
    assert seen == {0: {True}, 1: {False}}


def test_hooks_may_run_backward(torch: Any) -> None:
    """A backward inside a hook of another backward: both are right."""
    a, b = leaf(torch, 2.0), leaf(torch, 3.0)

    def inner(g: Any) -> None:
        with torch.enable_grad():
            (b * b).backward()

    y = a * 1
    y.register_hook(inner)
    (y * y).backward()
    assert (a.grad.item(), b.grad.item()) == (4.0, 6.0)


def _hook_of_a_tensor(torch: Any, x: Any, act: Callable[..., None]) -> Any:
    y = x * 2
    y.register_hook(lambda g: act())
    return y


def _hook_before_a_node(torch: Any, x: Any, act: Callable[..., None]) -> Any:
    y = x * 2
    y.grad_fn.register_prehook(lambda given: act())
    return y


def _hook_after_a_node(torch: Any, x: Any, act: Callable[..., None]) -> Any:
    y = x * 2
    y.grad_fn.register_hook(lambda found, given: act())
    return y


def _hook_after_a_leaf(torch: Any, x: Any, act: Callable[..., None]) -> Any:
    x.register_post_accumulate_grad_hook(lambda leaf: act())
    return x * 2


def _hook_of_several(torch: Any, x: Any, act: Callable[..., None]) -> Any:
    y = x * 1
    torch.autograd.graph.register_multi_grad_hook((x, y), lambda grads: act())
    return y * 2


def _hook_that_unpacks(torch: Any, x: Any, act: Callable[..., None]) -> Any:
    def unpack(kept: Any) -> Any:
        act()
        return kept

    with torch.autograd.graph.saved_tensors_hooks(lambda kept: kept, unpack):
        return x * torch.full((3,), 2.0)


def _custom_function(torch: Any, x: Any, act: Callable[..., None]) -> Any:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            act()
            return g * 2

    return Double.apply(x)


def _part_that_runs_again(torch: Any, x: Any, act: Callable[..., None]) -> Any:
    def part(a: Any) -> Any:
        return _hook_of_a_tensor(torch, a, act) if torch.is_grad_enabled() else a * 2

    return torch.utils.checkpoint.checkpoint(part, x, use_reentrant=True)


CODE_IN_BACKWARD = [
    _custom_function,
    _hook_after_a_leaf,
    _hook_after_a_node,
    _hook_before_a_node,
    _hook_of_a_tensor,
    _hook_of_several,
    _hook_that_unpacks,
    _part_that_runs_again,
]


@pytest.mark.parametrize("make", CODE_IN_BACKWARD)
def test_code_in_backward_may_wait_for_a_backward_in_a_thread(torch: Any, make: Any) -> None:
    """That thread ends, also where it runs over nodes and leaves of the pass that waits."""
    w, ended = leaf(torch, [1.0, 2.0, 3.0]), []
    shared = w * 5

    def other() -> None:
        with torch.enable_grad():
            (shared * w).sum().backward(retain_graph=True)

    def act() -> None:
        thread = threading.Thread(target=other, daemon=True)
        thread.start()
        thread.join(20)
        ended.append(not thread.is_alive())

    x = leaf(torch, [1.0, 1.0, 1.0])
    (make(torch, x, act) * shared).sum().backward()
    assert set(ended) == {True}
    assert x.grad.tolist() == [10.0, 20.0, 30.0]
    several = len(ended)
    assert w.grad.tolist() == [10.0 + several * 10.0 * v for v in (1, 2, 3)]


def test_hooks_of_two_threads_may_meet(torch: Any) -> None:
    """Passes over the same nodes go on in any order after that; sums are exact."""
    w, rounds = torch.ones(5, requires_grad=True), 50
    w.grad = torch.zeros(5)
    shared = torch.exp(w * 0.0) * w
    meeting = threading.Barrier(3, timeout=20)

    def work(i: int) -> None:
        for _ in range(rounds):
            y = shared * float(i + 1)
            y.register_hook(lambda g: (meeting.wait(), g * 2)[1])
            z = y * 3
            z.register_hook(lambda g: (meeting.wait(), None)[1])
            (z + shared).sum().backward(retain_graph=True)

    in_threads(3, work)
    assert set(w.grad.tolist()) == {rounds * (6.0 * (1 + 2 + 3) + 3)}


def test_errors_in_the_hooks_of_one_thread_do_not_touch_the_other(torch: Any) -> None:
    """A pass that fails while another waits in a hook leaves nothing on the nodes of that."""
    w = torch.ones(3, requires_grad=True)
    shared = torch.exp(w * 0.0) * w
    meeting = threading.Barrier(2, timeout=20)

    def fail(g: Any) -> None:
        meeting.wait()
        raise ValueError("planned")

    def work(i: int) -> None:
        y = shared * 2
        z = y * shared
        if i:
            y.register_hook(fail)
            with pytest.raises(ValueError, match="planned"):
                z.sum().backward(retain_graph=True)
        else:
            y.register_hook(lambda g: (meeting.wait(), None)[1])
            z.sum().backward(retain_graph=True)

    in_threads(2, work)
    assert w.grad.tolist() == [4.0, 4.0, 4.0]
