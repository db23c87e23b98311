"""`torch.autograd.graph` beyond the table of behaviours, and anomaly detection.

Each test runs on `compat` and, where it is installed, on PyTorch; those named so on `compat` only.
`test_behaviours_hooks.py` has what the table asks of hooks, edges and saved tensors.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def leaf(torch: Any, data: Any) -> Any:
    return torch.tensor(data, requires_grad=True)


def same(x: Any) -> Any:
    return x


# ---------------------------------------------------------------- saved_tensors_hooks


def test_the_innermost_hooks_hold(torch: Any) -> None:
    log: list[str] = []

    def hooks(name: str) -> Any:
        return torch.autograd.graph.saved_tensors_hooks(
            lambda t: log.append(f"pack {name}") or t, lambda t: log.append(f"unpack {name}") or t
        )

    x = leaf(torch, [1.0, 2.0])
    with hooks("a"):
        y = x.exp()
        with hooks("b"):
            z = y.sin()
        w = z.cos()
    v = w.sin()
    assert log == ["pack a", "pack b", "pack a"]
    v.sum().backward()
    assert log[3:] == ["unpack a", "unpack b", "unpack a"]


def test_unpack_runs_in_every_pass(torch: Any) -> None:
    counts = {"pack": 0, "unpack": 0}

    def count(name: str) -> Callable[[Any], Any]:
        def hook(t: Any) -> Any:
            counts[name] += 1
            return t

        return hook

    x = leaf(torch, 3.0)
    with torch.autograd.graph.saved_tensors_hooks(count("pack"), count("unpack")):
        y = x.exp()
    y.backward(retain_graph=True)
    y.backward()
    assert counts == {"pack": 1, "unpack": 2}


def test_what_is_unpacked_is_what_counts(torch: Any) -> None:
    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.saved_tensors_hooks(same, lambda t: t * 2):
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_hooks_and_second_derivatives(torch: Any) -> None:
    """Copies keep their place in the graph; hooks run without recording."""
    modes: list[bool] = []

    def copied(t: Any) -> Any:
        modes.append(torch.is_grad_enabled())
        return t.clone()

    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.saved_tensors_hooks(copied, lambda t: t):
        y = (x**3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == [6.0, 12.0]
    assert not any(modes)


def test_hooks_and_a_custom_function(torch: Any) -> None:
    class Scaled(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * x

    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 10, same):
        y = Scaled.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 20.0]


def test_hooks_that_fail(torch: Any) -> None:
    hooks = torch.autograd.graph.saved_tensors_hooks
    x = leaf(torch, [1.0, 2.0])

    def fails(t: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), hooks(fails, same):
        x.exp()
    with hooks(same, fails):
        y = x.exp()
    with pytest.raises(KeyError, match="mine"):
        y.sum().backward()
    with hooks(same, lambda t: 3):
        y = x.exp()
    with pytest.raises(
        TypeError, match="unpack_hook expected to be a Tensor but got result of type"
    ):
        y.sum().backward()
    with (
        pytest.raises(RuntimeError, match="pack hook is modifying its input in place"),
        hooks(lambda t: t.mul_(2), same),
    ):
        (x * 1).exp()
    x.exp().sum().backward()  # the hooks are gone, whatever happened
    assert x.grad.tolist() == pytest.approx([np.e, np.e**2])


def test_disabled_while_in_force(torch: Any) -> None:
    graph = torch.autograd.graph
    with graph.disable_saved_tensors_hooks("outer"):
        with (
            graph.disable_saved_tensors_hooks("inner"),
            pytest.raises(RuntimeError, match="inner"),
            graph.saved_tensors_hooks(same, same),
        ):
            pass
        with pytest.raises(RuntimeError, match="outer"), graph.save_on_cpu():
            pass


def test_save_on_cpu_copies_nothing_that_is_written(torch: Any) -> None:
    """With `pin_memory` too; a second derivative works through it."""
    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.save_on_cpu(pin_memory=False):
        y = (x.exp() * x).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == pytest.approx([3 * np.e, 4 * np.e**2])


# ---------------------------------------------------------------- hooks on several tensors


def hooked(torch: Any, mode: str = "all") -> tuple[Any, Any, Any, list[Any], Any]:
    a, b, c = leaf(torch, 1.0), leaf(torch, 2.0), leaf(torch, 3.0)
    log: list[Any] = []

    def fn(grads: Any) -> None:
        several = isinstance(grads, tuple | list)
        log.append([None if g is None else g.item() for g in grads] if several else grads.item())

    handle = torch.autograd.graph.register_multi_grad_hook((a, b, c), fn, mode=mode)
    return a, b, c, log, handle


def test_multi_grad_hook_and_removal(torch: Any) -> None:
    a, b, c, log, handle = hooked(torch)
    (a * b).backward()
    (a * c).backward()
    (b * 0).backward()
    assert log == [[2.0, 1.0, None], [3.0, None, 1.0], [None, 0.0, None]]
    with handle:
        (a * b * c).backward()
    assert log[3:] == [[6.0, 3.0, 2.0]]
    (a * b).backward()
    assert len(log) == 4


def test_multi_grad_hook_mode_any(torch: Any) -> None:
    a, b, c, log, handle = hooked(torch, "any")
    (c * 5).backward()
    (a * b * c).backward()
    assert log[0] == 5.0 and len(log) == 2
    handle.remove()
    (a * b).backward()
    assert len(log) == 2


def test_multi_grad_hook_returns_nothing(torch: Any) -> None:
    a, b = leaf(torch, 1.0), leaf(torch, 2.0)
    for mode in ("all", "any"):
        torch.autograd.graph.register_multi_grad_hook((a, b), lambda grads: 5, mode=mode)
    (a * b).backward()
    assert (a.grad.item(), b.grad.item()) == (2.0, 1.0)


def test_multi_grad_hook_of_one_tensor_twice(torch: Any) -> None:
    a, seen = leaf(torch, 1.0), []
    torch.autograd.graph.register_multi_grad_hook((a, a), seen.append)
    (a * 2).backward()
    assert [[g.item() for g in grads] for grads in seen] == [[2.0, 2.0]]


def test_multi_grad_hook_in_a_recorded_pass(torch: Any) -> None:
    a, b, seen = leaf(torch, 2.0), leaf(torch, 3.0), []
    torch.autograd.graph.register_multi_grad_hook((a, b), seen.append)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (a * a * b).backward(create_graph=True)
    assert [g.requires_grad for g in seen[0]] == [True, True]
    a.grad = b.grad = None


def test_multi_grad_hook_that_fails(torch: Any) -> None:
    a, b = leaf(torch, 1.0), leaf(torch, 2.0)

    def fails(grads: Any) -> None:
        raise KeyError("mine")

    handle = torch.autograd.graph.register_multi_grad_hook((a, b), fails)
    with pytest.raises(KeyError, match="mine"):
        (a * b).backward()
    handle.remove()
    a.grad = b.grad = None
    (a * b).backward()
    assert (a.grad.item(), b.grad.item()) == (2.0, 1.0)


def test_multi_grad_hook_that_is_refused(torch: Any) -> None:
    register = torch.autograd.graph.register_multi_grad_hook
    with pytest.raises(
        ValueError, match=r"Expects mode to be one of \('all', 'any'\) but got some"
    ):
        register((leaf(torch, 1.0),), print, mode="some")
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        register((torch.tensor(1.0),), print)


def test_compat_multi_grad_hook_in_grad() -> None:
    """PyTorch refuses hooks of leaves in `grad`."""
    a, b, _, log, _ = hooked(compat)
    compat.autograd.grad(a * b, [a])
    assert log == [[2.0, None, None]]


# ---------------------------------------------------------------- mutation


def mutated(torch: Any, f: Callable[[Any, Any], Any]) -> Any:
    """The gradient by `x` of what `f` makes of a copy of it, writes allowed."""
    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as context:
        out = f(torch, x.clone())
        out.sum().backward()
    assert context is not None
    return x.grad.tolist()


def write_after(torch: Any, x: Any) -> Any:
    y = (x**2).sum()
    x.sin_()
    return y


def write_a_view(torch: Any, x: Any) -> Any:
    y = (x[:1] ** 2).sum() + (x**2).sum()
    x[:1].mul_(100)
    x[1] = 5.0
    return y


def write_a_result(torch: Any, x: Any) -> Any:
    y = x.exp()
    z = y * 1
    z.add_(y)
    y.mul_(2)
    return z


def write_twice(torch: Any, x: Any) -> Any:
    first = (x**2).sum()
    x.mul_(2)
    second = (x**2).sum()
    x.mul_(3)
    return first + second + x.sum()


def write_in_between(torch: Any, x: Any) -> Any:
    y = x * x
    x.add_(1)
    z = x * x
    return y * z


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (write_after, [2.0, 4.0]),
        (write_a_view, [4.0, 4.0]),
        (write_a_result, [2 * np.e, 2 * np.e**2]),
        (write_twice, [2 + 8 + 6.0, 4 + 16 + 6.0]),
        (write_in_between, [2 * 4 + 1 * 4.0, 4 * 9 + 4 * 6.0]),
    ],
)
def test_mutation_is_allowed(torch: Any, f: Callable[..., Any], expected: list[float]) -> None:
    assert mutated(torch, f) == pytest.approx(expected)


def test_mutation_of_a_leaf_without_recording(torch: Any) -> None:
    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = (x**2).sum()
        with torch.no_grad():
            x.mul_(10)
        y.backward()
    assert x.grad.tolist() == [2.0, 4.0] and x.tolist() == [10.0, 20.0]


def test_where_mutation_is_not_allowed(torch: Any) -> None:
    graph = torch.autograd.graph
    x = leaf(torch, [1.0, 2.0])
    y = x.clone()
    before = (y**2).sum()
    with graph.allow_mutation_on_saved_tensors() as context:
        y.sin_()
        with (
            pytest.raises(RuntimeError, match="contexts cannot be nested"),
            graph.allow_mutation_on_saved_tensors(),
        ):
            pass
        cleared = (y**2).sum()
        context.clear()
        with pytest.raises(AssertionError, match="Trying to backward outside of the"):
            cleared.backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        before.backward()
    with graph.allow_mutation_on_saved_tensors():
        inside = (x.clone() ** 2).sum()
    with pytest.raises(AssertionError, match="Trying to backward outside of the"):
        inside.backward()


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(["read", "scale", "part", "shift", "square"]), max_size=6))
def test_compat_mutation_agrees_with_copies(steps: list[str]) -> None:
    """Any program of reads and writes has the gradient of the one without writes."""

    def run(x: Any, inplace: bool) -> Any:
        total = x.sum() * 0
        for step in steps:
            if step == "read":
                total = total + (x**2).sum()
            elif step == "part" and inplace:
                x[:1].mul_(3)
            elif step == "part":
                x = compat.cat([x[:1] * 3, x[1:]])
            elif inplace:
                x = {"scale": x.mul_, "shift": x.add_, "square": x.mul_}[step](
                    x.clone() if step == "square" else 2
                )
            else:
                x = {"scale": x * 2, "shift": x + 2, "square": x * x}[step]
        return total + (x**2).sum()

    p, q = (leaf(compat, [0.3, -0.7]) for _ in range(2))
    with compat.autograd.graph.allow_mutation_on_saved_tensors():
        run(p.clone(), True).backward()
    run(q, False).backward()
    np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), 1e-5)


# ---------------------------------------------------------------- edges, versions


def test_edge_keeps_its_place(torch: Any) -> None:
    """The tensor may go; the edge still stands for its place."""
    x = leaf(torch, 3.0)
    y = x * x
    edge = torch.autograd.graph.get_gradient_edge(y)
    assert edge.node.name() == "MulBackward0" and edge._fields[:2] == ("node", "output_nr")
    z = y.exp()
    del y
    (g,) = torch.autograd.grad(z, edge)
    assert g.item() == pytest.approx(np.exp(9.0))


def test_edge_made_by_hand(torch: Any) -> None:
    x = leaf(torch, 3.0)
    y = x * 2
    edge = torch.autograd.graph.GradientEdge(y.grad_fn, 0)
    assert torch.autograd.grad(y * y, edge)[0].item() == 12.0
    torch.autograd.backward(torch.autograd.graph.get_gradient_edge(y * 5), torch.tensor(2.0))
    assert x.grad.item() == 20.0


def test_backward_by_the_edge_of_a_leaf(torch: Any) -> None:
    x, y = leaf(torch, 3.0), leaf(torch, 2.0)
    (x * y).backward(inputs=[torch.autograd.graph.get_gradient_edge(x)])
    assert x.grad.item() == 2.0 and y.grad is None


def test_compat_backward_by_the_edge_of_a_non_leaf() -> None:
    """PyTorch does nothing."""
    y = leaf(compat, 3.0) * 2
    with pytest.raises(RuntimeError, match="no leaf"):
        (y * y).backward(inputs=[compat.autograd.graph.get_gradient_edge(y)])


def test_edge_of_one_of_several_results(torch: Any) -> None:
    x = leaf(torch, [2.0, 1.0])
    values, _ = x.sort()
    edge = torch.autograd.graph.get_gradient_edge(values)
    assert torch.autograd.grad((values * values).sum(), edge)[0].tolist() == [2.0, 4.0]


def test_edge_that_is_not_used(torch: Any) -> None:
    x = leaf(torch, 3.0)
    other = torch.autograd.graph.get_gradient_edge(leaf(torch, 1.0))
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(x * x, other)
    g, none = torch.autograd.grad(x * x, [x, other], allow_unused=True)
    assert g.item() == 6.0 and none is None


def test_increment_version(torch: Any) -> None:
    increment = torch.autograd.graph.increment_version
    x = leaf(torch, [1.0, 2.0])
    y, z = x.exp(), x * 1
    increment(y)
    assert (y._version, y.detach()._version, z._version) == (1, 1, 0)
    increment([y, z])
    increment((z,))
    assert (y._version, z._version) == (2, 2)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*is at version 2"):
        y.sum().backward()
    with torch.inference_mode():
        increment(torch.ones(2))  # counts nothing, and is no error
    with pytest.raises(RuntimeError, match=r"increment_version expect a Iterable\[Tensor\]"):
        increment(3)


# ---------------------------------------------------------------- hooks on nodes


def test_order_of_hooks(torch: Any) -> None:
    """Of a tensor, then of its node before and after, then of those further up."""
    x, log = leaf(torch, [1.0, 2.0]), []
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: log.append("after"))
    y.grad_fn.register_prehook(lambda go: log.append("before"))
    y.register_hook(lambda g: log.append("tensor"))
    x.register_hook(lambda g: log.append("leaf"))
    y.sum().backward()
    assert log == ["tensor", "before", "after", "leaf"]


def test_node_hooks_are_called_in_order(torch: Any) -> None:
    """Each gets what the one before has returned."""
    x = leaf(torch, 1.0)
    y = x * x
    for factor in (2, 3):
        y.grad_fn.register_prehook(lambda go, factor=factor: (go[0] * factor,))
        y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1, gi[1] + 1))
    y.backward()
    assert x.grad.item() == 2 * (6 + 2)


def test_hooks_on_the_node_of_a_leaf(torch: Any) -> None:
    x, log = leaf(torch, [1.0, 2.0]), []
    node = (x * 1).grad_fn.next_functions[0][0]
    assert isinstance(node, torch.autograd.graph.Node) and node.variable is x
    first = node.register_prehook(lambda go: (go[0] * 3,))
    second = node.register_hook(lambda gi, go: log.append((gi, go[0].tolist())))
    (x * 1).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and log == [((), [3.0, 3.0])]
    first.remove()
    second.remove()
    (x * 1).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0] and len(log) == 1


def test_node_prehook_that_returns_no_tensor(torch: Any) -> None:
    y = leaf(torch, [1.0, 2.0]) * 2
    y.grad_fn.register_prehook(lambda go: 3)
    with pytest.raises(TypeError):
        y.sum().backward()


def two_results(torch: Any) -> tuple[Any, Any, Any]:
    """A leaf, and twice and three times of it from one node."""

    class Two(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            return (0 if g is None else g * 2) + (0 if h is None else h * 3)

    x = leaf(torch, 1.0)
    return x, *Two.apply(x)


def test_node_hooks_see_all_results_in_order(torch: Any) -> None:
    """None for a result that is not used; a gradient that comes first is not the first."""
    log: list[Any] = []

    def note(*several: Any) -> None:
        log.append([None if g is None else g.item() for g in several[-1]])

    for use in (lambda a, b: a, lambda a, b: b, lambda a, b: b + a * 0.5):
        _, a, b = two_results(torch)
        a.grad_fn.register_prehook(note)
        a.grad_fn.register_hook(note)
        use(a, b).backward()
    assert log == [[1.0, None]] * 2 + [[None, 1.0]] * 2 + [[0.5, 1.0]] * 2


def test_node_prehook_replaces_by_position(torch: Any) -> None:
    for hook, expected in (
        (lambda go: (go[0] * 10, go[1]), 23.0),
        (lambda go: (None, go[1]), 3.0),
    ):
        x, a, b = two_results(torch)
        a.grad_fn.register_prehook(hook)
        (b + a).backward()
        assert x.grad.item() == expected


@pytest.mark.parametrize("kind", ["register_prehook", "register_hook"])
def test_node_hooks_that_return_something_else(torch: Any, kind: str) -> None:
    for hook, error, message in (
        (lambda *gs: gs[0][0], TypeError, "expected tuple, but hook returned 'Tensor'"),
        (lambda *gs: 3, TypeError, "expected tuple, but hook returned 'int'"),
        (lambda *gs: gs[0] * 2, RuntimeError, "has returned an incorrect number of values"),
        (lambda *gs: (gs[0][0][:1], *gs[0][1:]), RuntimeError, "has changed the size of value"),
    ):
        y = leaf(torch, [1.0, 2.0]) * 2
        getattr(y.grad_fn, kind)(hook)
        with pytest.raises(error, match=message):
            y.sum().backward()


def test_node_that_does_not_run(torch: Any) -> None:
    """`grad` by a tensor runs the tensor's hooks and not those of its node."""
    y, log = leaf(torch, 1.0) * 2, []
    y.grad_fn.register_prehook(lambda go: log.append("node"))
    y.register_hook(lambda g: log.append("tensor"))
    torch.autograd.grad(y * 3, y)
    assert log == ["tensor"]


def test_numbers_of_nodes(torch: Any) -> None:
    x = leaf(torch, 1.0)
    y = x * 2
    z = y + 1
    assert z.grad_fn._sequence_nr() > y.grad_fn._sequence_nr()
    assert z.grad_fn.next_functions[0] == (y.grad_fn, 0)


# ---------------------------------------------------------------- anomaly detection


@contextlib.contextmanager
def anomaly(torch: Any, **options: Any) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly(**options):
            yield


def test_detect_anomaly_finds_nan(torch: Any) -> None:
    x = leaf(torch, [0.0, 1.0])
    message = "Function 'SqrtBackward0' returned nan values in its 0th output"
    with pytest.raises(RuntimeError, match=message), anomaly(torch):
        (x.sqrt() * 0).sum().backward()
    with anomaly(torch):  # what is right runs as ever
        ((x + 1).sqrt() * 0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_detect_anomaly_without_looking(torch: Any) -> None:
    x = leaf(torch, [0.0, 1.0])
    with anomaly(torch, check_nan=False):
        (x.sqrt() * 0).sum().backward()
    assert np.isnan(x.grad[0].item()) and x.grad[1].item() == 0.0


def test_detect_anomaly_says_where_forward_was(torch: Any) -> None:
    """As a warning, of a failing backward of the user's too."""

    class Fails(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise ValueError("mine")

    x = leaf(torch, [0.0, 1.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="mine"), torch.autograd.detect_anomaly():
            y = Fails.apply(x)
            y.sum().backward()
        with pytest.raises(RuntimeError, match="nan values"), torch.autograd.detect_anomaly():
            (x.sqrt() * 0).sum().backward()
    texts = [str(w.message) for w in caught]
    assert any("Anomaly Detection has been enabled" in t for t in texts)
    for name, line in (("FailsBackward", "y = Fails.apply(x)"), ("SqrtBackward0", "x.sqrt()")):
        (text,) = [t for t in texts if f"Error detected in {name}" in t]
        assert "Traceback of forward call that caused the error" in text and line in text


def test_detect_anomaly_knows_forward_only_inside(torch: Any) -> None:
    y = (leaf(torch, [0.0]).sqrt() * 0).sum()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="nan values"), torch.autograd.detect_anomaly():
            y.backward()
    assert any("No forward pass information available" in str(w.message) for w in caught)


def test_detect_anomaly_and_second_derivatives(torch: Any) -> None:
    x = leaf(torch, 2.0)
    with anomaly(torch):
        (g,) = torch.autograd.grad(x**3, x, create_graph=True)
        g.backward()
    assert x.grad.item() == 12.0
    x.grad = None
    message = "previous calculation|nan values"
    with pytest.raises(RuntimeError, match=message), anomaly(torch):
        (g,) = torch.autograd.grad((x - 2) ** 1.5, x, create_graph=True)
        (g * 0).backward()


def test_metadata_of_a_node(torch: Any) -> None:
    x = leaf(torch, 2.0)
    with anomaly(torch):
        y = x * 2
    assert "y = x * 2" in "".join(y.grad_fn.metadata["traceback_"])
    assert "traceback_" not in (x * 2).grad_fn.metadata


def test_whether_anomaly_detection_is_on(torch: Any) -> None:
    autograd = torch.autograd

    def state() -> tuple[bool, bool]:
        is_on = torch.is_anomaly_enabled()
        return is_on, is_on and torch.is_anomaly_check_nan_enabled()

    assert state() == (False, False)
    with autograd.set_detect_anomaly(True):
        assert state() == (True, True)
        with autograd.set_detect_anomaly(False):
            assert state() == (False, False)
        assert state() == (True, True)
    autograd.set_detect_anomaly(True, check_nan=False)
    assert state() == (True, False)
    autograd.set_detect_anomaly(False)
    with contextlib.suppress(KeyError), anomaly(torch):
        raise KeyError
    assert state() == (False, False)


def test_set_detect_anomaly(torch: Any) -> None:
    x = leaf(torch, [0.0])
    torch.autograd.set_detect_anomaly(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(RuntimeError, match="nan values"):
                (x.sqrt() * 0).sum().backward()
    finally:
        torch.autograd.set_detect_anomaly(False)
    (x.sqrt() * 0).sum().backward()
    assert np.isnan(x.grad.item())


def test_dir_of_a_node_lists_what_can_be_read() -> None:
    x = compat.ones(3, requires_grad=True)
    for out in (x * x, x.mean(), x.exp(), compat.nn.functional.linear(x, x.reshape(1, 3))):
        names = [n for n in dir(out.grad_fn) if n.startswith("_saved_")]
        for name in names:
            getattr(out.grad_fn, name)
    out.sum().backward()
    assert set(names) <= set(dir(out.grad_fn))
