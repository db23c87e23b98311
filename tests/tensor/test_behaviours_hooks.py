"""Section 5 of the table of behaviours, first part: hooks, and the graph as users see it.

One test per row; its docstring has the row: what is tried, then what is expected. Each runs on
`compat` and, where it is installed, on PyTorch. The differences are in `test_behaviours.py`, how long
graphs live and how deep they get in `test_behaviours_graph.py`.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

import compat


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def leaf(torch: Any, data: Any) -> Any:
    return torch.tensor(data, requires_grad=True)


# ---------------------------------------------------------------- hooks on tensors


def test_hook_sees_and_replaces_the_gradient(torch: Any) -> None:
    """out1.register_hook(fn): called with the gradient; a returned tensor replaces it."""
    a, seen = leaf(torch, [1.0, 2.0]), []
    out1 = a * 3

    def double(grad: Any) -> Any:
        seen.append(grad)
        return grad * 2

    out1.register_hook(seen.append)
    out1.register_hook(double)
    out1.sum().backward()
    assert [type(g) for g in seen] == [torch.Tensor] * 2
    assert [g.tolist() for g in seen] == [[1.0, 1.0]] * 2
    assert [g.requires_grad for g in seen] == [False, False]
    assert a.grad.tolist() == [6.0, 6.0]


def test_handle_removes_the_hook(torch: Any) -> None:
    """The handle has .remove() and is a context manager."""
    a, seen = leaf(torch, 1.0), []
    handle = a.register_hook(lambda g: seen.append("removed"))
    handle.remove()
    handle.remove()  # once more is allowed
    with a.register_hook(lambda g: seen.append("inside")):
        (a * 1).backward()
    (a * 1).backward()
    assert seen == ["inside"]


def test_hook_on_a_tensor_that_needs_no_gradient(torch: Any) -> None:
    """Registering on a tensor that needs no grad raises."""
    with pytest.raises(
        RuntimeError, match="cannot register a hook on a tensor that doesn't require"
    ):
        torch.tensor(1.0).register_hook(print)


def test_hook_returns_another_shape(torch: Any) -> None:
    """A result of another shape raises "has changed the size of value"."""
    a = leaf(torch, [1.0, 2.0])
    b = a * 1

    def wrong(grad: Any) -> Any:
        return torch.ones(5)

    b.register_hook(wrong)
    with pytest.raises(RuntimeError, match="hook 'wrong' has changed the size of value"):
        b.sum().backward()
    assert a.grad is None
    c = a * 1
    c.register_hook(lambda grad: 3)
    with pytest.raises(TypeError, match="hook"):
        c.sum().backward()


def test_what_is_retained_comes_after_all_hooks(torch: Any) -> None:
    """Hooks h1(x2), retain_grad, h2(x10) on b: order h1, h2; b.grad 20."""
    a, order = leaf(torch, [1.0, 1.0]), []
    b = a * 1

    def h1(grad: Any) -> Any:
        order.append("h1")
        return grad * 2

    def h2(grad: Any) -> Any:
        order.append("h2")
        return grad * 10

    b.register_hook(h1)
    b.retain_grad()
    b.register_hook(h2)
    b.sum().backward()
    assert order == ["h1", "h2"]
    assert b.grad.tolist() == [20.0, 20.0]
    assert a.grad.tolist() == [20.0, 20.0]


def test_hooks_stay_and_retain_grad_moves(torch: Any) -> None:
    """a=clone(1.); hook1; retain_grad; a.mul_(2); b=a.clone(); hook2 on a: 2.0, 1.0, a.grad 1.0."""
    seen: dict[str, float] = {}
    a = leaf(torch, 1.0).clone()
    a.register_hook(lambda g: seen.update(hook1=g.item()))
    a.retain_grad()
    a.mul_(2)
    b = a.clone()
    a.register_hook(lambda g: seen.update(hook2=g.item()))
    (b + 1).sum().backward()
    assert list(seen.items()) == [("hook2", 1.0), ("hook1", 2.0)]
    assert a.grad.item() == 1.0


def test_hooks_on_a_leaf(torch: Any) -> None:
    """Leaf hooks, backwards of 3, then 4: pre 3 (grad None), post the parameter (3), pre 4, post 7."""
    p, seen = leaf(torch, 1.0), []

    def value() -> Any:
        return None if p.grad is None else p.grad.item()

    p.register_hook(lambda g: seen.append(("pre", g.item(), value())))
    handle = p.register_post_accumulate_grad_hook(lambda q: seen.append(("post", q is p, value())))
    (p * 3).backward()
    (p * 4).backward()
    assert seen == [("pre", 3.0, None), ("post", True, 3.0), ("pre", 4.0, 3.0), ("post", True, 7.0)]
    handle.remove()
    (p * 1).backward()
    assert len(seen) == 5


def test_post_hook_may_use_the_gradient_up(torch: Any) -> None:
    """A post hook may step and set `.grad` to None: an optimizer inside backward."""
    p = leaf(torch, 1.0)

    def step(q: Any) -> None:
        with torch.no_grad():
            q -= 0.5 * q.grad
        q.grad = None

    p.register_post_accumulate_grad_hook(step)
    (p * 3).backward()
    assert (p.item(), p.grad) == (-0.5, None)


def test_post_hook_on_a_non_leaf(torch: Any) -> None:
    """A post hook on a non-leaf raises."""
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (leaf(torch, 1.0) * 1).register_post_accumulate_grad_hook(print)


# ---------------------------------------------------------------- hooks on nodes


def test_node_hooks(torch: Any) -> None:
    """node.register_prehook may replace what comes in, node.register_hook what goes out."""
    x, w, seen = leaf(torch, 3.0), leaf(torch, 5.0), []
    y = x * w
    node = y.grad_fn

    def before(grad_outputs: Any) -> Any:
        seen.append([g.item() for g in grad_outputs])
        return (grad_outputs[0] * 2,)

    def after(grad_inputs: Any, grad_outputs: Any) -> Any:
        seen.append([[g.item() for g in gs] for gs in (grad_inputs, grad_outputs)])
        return grad_inputs[0] + 100, grad_inputs[1]

    first, second = node.register_prehook(before), node.register_hook(after)
    y.backward(retain_graph=True)
    assert seen == [[1.0], [[10.0, 6.0], [2.0]]]
    assert (x.grad.item(), w.grad.item()) == (110.0, 6.0)
    first.remove()
    second.remove()
    y.backward()
    assert len(seen) == 2
    assert (x.grad.item(), w.grad.item()) == (115.0, 9.0)


def test_node_hook_of_an_input_that_needs_none(torch: Any) -> None:
    """grad_inputs has None for it."""
    x, seen = leaf(torch, 3.0), []
    y = x * torch.tensor(5.0)
    y.grad_fn.register_hook(lambda gi, go: seen.append(gi))
    y.backward()
    assert len(seen) == 1
    assert seen[0][0].item() == 5.0
    assert seen[0][1] is None


def test_node_metadata(torch: Any) -> None:
    """Node.metadata: a dict that stays with the node."""
    x = leaf(torch, 3.0)
    y = x * x
    y.grad_fn.metadata["mine"] = 1
    assert y.grad_fn.metadata == {"mine": 1}
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert issubclass(type(y.grad_fn), torch.autograd.graph.Node)


# ---------------------------------------------------------------- what is saved


def test_saved_tensors_hooks(torch: Any) -> None:
    """saved_tensors_hooks(pack, unpack): once per saved tensor each, unpack only in backward."""
    a, b, log = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0]), []

    def pack(x: Any) -> Any:
        log.append(("pack", x.tolist()))
        return x.detach().numpy().copy()

    def unpack(x: Any) -> Any:
        log.append(("unpack", x.tolist()))
        return torch.from_numpy(x) * 10

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = a * b
        z = y + 1  # saves nothing
    assert sorted(log) == [("pack", [1.0, 2.0]), ("pack", [3.0, 4.0])]
    log.clear()
    (z * a).sum().backward()
    assert sorted(log) == [("unpack", [1.0, 2.0]), ("unpack", [3.0, 4.0])]
    assert b.grad.tolist() == [10.0, 40.0]  # 10 a, times a
    assert a.grad.tolist() == [30.0 + 4.0, 80.0 + 9.0]


def test_save_on_cpu(torch: Any) -> None:
    """save_on_cpu(): the gradient is the same."""
    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.save_on_cpu():
        y = (x.exp() * x).sum()
    y.backward()
    expected = [2 * 2.718281828459045, 3 * 7.38905609893065]
    assert x.grad.tolist() == pytest.approx(expected)


def test_disable_saved_tensors_hooks(torch: Any) -> None:
    """disable_saved_tensors_hooks(message): hooks inside raise RuntimeError(message)."""
    graph = torch.autograd.graph
    x = leaf(torch, 2.0)
    with (
        graph.disable_saved_tensors_hooks("no hooks here"),
        pytest.raises(RuntimeError, match="no hooks here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        x * x
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):  # allowed again
        y = x * x
    y.backward()
    assert x.grad.item() == 4.0


# ---------------------------------------------------------------- several tensors, edges


def test_multi_grad_hook(torch: Any) -> None:
    """register_multi_grad_hook(tensors, fn): once per backward; None for what is not reached."""
    u, v, seen = leaf(torch, 1.0), leaf(torch, 2.0), []
    y = u * 5

    def fn(grads: Any) -> None:
        seen.append([None if g is None else g.item() for g in grads])

    handle = torch.autograd.graph.register_multi_grad_hook((y, v), fn)
    (y * v).backward(retain_graph=True)
    (y * 2).backward(retain_graph=True)
    (u * 2).backward()
    assert seen == [[2.0, 5.0], [2.0, None]]
    handle.remove()
    (y * v).backward()
    assert len(seen) == 2


def test_multi_grad_hook_of_any(torch: Any) -> None:
    """mode="any": fn(grad) with the first gradient that is known."""
    u, v, seen = leaf(torch, 1.0), leaf(torch, 2.0), []
    torch.autograd.graph.register_multi_grad_hook((u, v), seen.append, mode="any")
    (v * 3).backward()
    (u * v).backward()
    assert len(seen) == 2
    assert seen[0].item() == 3.0


def test_gradient_edges(torch: Any) -> None:
    """GradientEdge, get_gradient_edge: usable in place of tensors in `grad` and `backward`."""
    graph = torch.autograd.graph
    x = leaf(torch, [1.0, 2.0])
    y = x * 3
    edge = graph.get_gradient_edge(y)
    assert isinstance(edge, graph.GradientEdge)
    assert (edge.node, edge.output_nr) == (y.grad_fn, 0)
    out = (y * y).sum()
    (g,) = torch.autograd.grad(out, edge, retain_graph=True)
    assert g.tolist() == [6.0, 12.0]
    (g,) = torch.autograd.grad(out, graph.get_gradient_edge(x), retain_graph=True)
    assert g.tolist() == [18.0, 36.0]
    (g,) = torch.autograd.grad(edge, x, torch.tensor([1.0, 10.0]))
    assert g.tolist() == [3.0, 30.0]
    with pytest.raises(RuntimeError, match="not possible to get the gradient edge"):
        graph.get_gradient_edge(torch.ones(2))
    (g,) = torch.autograd.grad(graph.get_gradient_edge((x * 5).sum()), x)
    assert g.tolist() == [5.0, 5.0]
    torch.autograd.backward(graph.get_gradient_edge((x * 4).sum()))
    assert x.grad.tolist() == [4.0, 4.0]
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        torch.autograd.grad(edge, x)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        torch.autograd.grad(edge, x, torch.ones(3))


def test_backward_by_some_inputs(torch: Any) -> None:
    """y.backward(inputs=[...]): only those get a gradient, non-leaves too."""
    a, b = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    y = a * b
    out = (y * y).sum()
    out.backward(inputs=[y, b], retain_graph=True)
    assert a.grad is None
    assert b.grad.tolist() == [2 * 3.0, 2 * 8.0 * 2]
    assert y.grad.tolist() == [6.0, 16.0]
    out.backward(inputs=a)
    assert a.grad.tolist() == [2 * 3.0 * 3, 2 * 8.0 * 4]
    assert b.grad.tolist() == [6.0, 32.0]
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (a * b).sum().backward(inputs=[])


def test_backward_by_inputs_that_are_no_leaves(torch: Any) -> None:
    """out.backward(inputs=[y]): as if y.retain_grad() had been called, and not twice if it has."""
    a = leaf(torch, [1.0, 2.0])
    for retained in (False, True):
        y = a * 2
        if retained:
            y.retain_grad()
        out = (y * y).sum()
        out.backward(inputs=[y], retain_graph=True)
        assert (y.retains_grad, y.grad.tolist(), a.grad) == (True, [4.0, 8.0], None)
        out.backward(inputs=[y, a])
        assert (y.grad.tolist(), a.grad.tolist()) == ([8.0, 16.0], [8.0, 16.0])
        a.grad = None


def test_hooks_of_nodes_when_inputs_are_given(torch: Any) -> None:
    """The gradient by y is not that after hooks before y's node; a leaf's own hooks run if its .grad
    is filled, not in grad()."""
    a, seen = leaf(torch, [1.0, 2.0]), []
    a.register_post_accumulate_grad_hook(lambda x: seen.append(x.grad.tolist()))
    y = a * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 3,))
    y.grad_fn.next_functions[0][0].register_prehook(lambda grads: (grads[0] * 5,))
    found = torch.autograd.grad((y * 2).sum(), [y, a], retain_graph=True)
    assert [g.tolist() for g in found] == [[2.0, 2.0], [12.0, 12.0]]
    assert seen == []
    (y * 2).sum().backward(inputs=[a])
    assert seen == [a.grad.tolist()] == [[60.0, 60.0]]


def test_deepcopy_of_a_non_leaf(torch: Any) -> None:
    """deepcopy of a non-leaf raises; of a leaf it is a new leaf with a copy of `.grad`."""
    a = leaf(torch, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(a * 1)
    (a * 2).sum().backward()
    b = copy.deepcopy(a)
    assert (b.is_leaf, b.requires_grad, b.tolist()) == (True, True, [1.0, 2.0])
    assert b.grad.tolist() == [2.0, 2.0]
    with torch.no_grad():
        b.add_(1)
        b.grad.zero_()
    assert (a.tolist(), a.grad.tolist()) == ([1.0, 2.0], [2.0, 2.0])


# ---------------------------------------------------------------- hooks on modules


def test_forward_hooks_of_modules(torch: Any) -> None:
    """forward_pre(module, args), forward(module, args, output): a result replaces them."""
    layer, seen = torch.nn.Linear(2, 1), []
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0]]))
        layer.bias.zero_()

    def pre(module: Any, args: Any) -> Any:
        seen.append(("pre", module is layer, args[0].tolist()))
        return (args[0] * 2,)

    def post(module: Any, args: Any, output: Any) -> Any:
        seen.append(("post", module is layer, args[0].tolist(), output.tolist()))
        return output + 100

    handles = [layer.register_forward_pre_hook(pre), layer.register_forward_hook(post)]
    x = torch.tensor([1.0, 1.0])
    assert layer(x).tolist() == [106.0]
    assert seen == [("pre", True, [1.0, 1.0]), ("post", True, [2.0, 2.0], [6.0])]
    for handle in handles:
        handle.remove()
    assert layer(x).tolist() == [3.0]
    assert len(seen) == 2


def test_forward_hooks_with_keywords(torch: Any) -> None:
    """with_kwargs=True: hooks see the keyword arguments; prepend=True comes first."""

    class Scale(torch.nn.Module):
        def forward(self, x: Any, scale: float = 1.0) -> Any:
            return x * scale

    module, seen = Scale(), []
    module.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"scale": kwargs["scale"] * 10}), with_kwargs=True
    )
    module.register_forward_hook(lambda m, args, out: seen.append("second"))
    module.register_forward_hook(
        lambda m, args, kwargs, out: seen.append(kwargs), with_kwargs=True, prepend=True
    )
    assert module(torch.ones(1), scale=3.0).tolist() == [30.0]
    assert seen == [{"scale": 30.0}, "second"]


def test_backward_hooks_of_modules(torch: Any) -> None:
    """full_backward_pre(module, grad_output), full_backward(module, grad_input, grad_output)."""
    layer, seen = torch.nn.Linear(2, 1, bias=False), []
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0]]))

    def pre(module: Any, grad_output: Any) -> Any:
        seen.append(("pre", module is layer, grad_output[0].tolist()))
        return (grad_output[0] * 2,)

    def post(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append(("post", grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] * 10,)

    layer.register_full_backward_pre_hook(pre)
    layer.register_full_backward_hook(post)
    x = torch.tensor([[3.0, 5.0]], requires_grad=True)
    layer(x).sum().backward()
    assert seen == [("pre", True, [[1.0]]), ("post", [[2.0, 4.0]], [[2.0]])]
    assert layer.weight.grad.tolist() == [[6.0, 10.0]]
    assert x.grad.tolist() == [[20.0, 40.0]]


def test_state_dict_hooks_of_modules(torch: Any) -> None:
    """state_dict (pre and post) and load_state_dict (pre and post) hooks."""
    layer, seen = torch.nn.Linear(2, 1), []
    layer.register_state_dict_pre_hook(
        lambda module, prefix, keep_vars: seen.append(("saving", module is layer, prefix))
    )

    def saved(module: Any, state: Any, prefix: str, metadata: Any) -> None:
        seen.append(("saved", sorted(state), prefix))
        state[prefix + "extra"] = torch.ones(1)

    def loading(module: Any, state: Any, prefix: str, *_: Any) -> None:
        seen.append(("loading", sorted(state)))
        del state["extra"]

    layer.register_state_dict_post_hook(saved)
    layer.register_load_state_dict_pre_hook(loading)
    layer.register_load_state_dict_post_hook(
        lambda module, keys: seen.append(("loaded", keys.missing_keys, keys.unexpected_keys))
    )
    state = layer.state_dict()
    assert sorted(state) == ["bias", "extra", "weight"]
    layer.load_state_dict(state)
    assert seen == [
        ("saving", True, ""),
        ("saved", ["bias", "weight"], ""),
        ("loading", ["bias", "extra", "weight"]),
        ("loaded", [], []),
    ]


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_old_backward_hooks_of_modules(torch: Any) -> None:
    """register_backward_hook: the gradients of the last operation; what is returned replaces them."""
    m, a, seen = torch.nn.ReLU(), leaf(torch, [1.0, 2.0]), []

    def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append((module is m, grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] * 3,)

    handle = m.register_backward_hook(hook)
    m(a * 2).sum().backward()
    assert seen == [(True, [1.0, 1.0], [1.0, 1.0])] and a.grad.tolist() == [6.0, 6.0]
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks"):
        m.register_full_backward_hook(hook)
    handle.remove()
    m(a).sum().backward()
    assert len(seen) == 1
    other = torch.nn.ReLU()
    other.register_full_backward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks"):
        other.register_backward_hook(hook)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_old_backward_hooks_of_results_in_containers(torch: Any) -> None:
    class Pair(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return ({"n": 1, "a": x * 2}, x * 3)

    m, seen = Pair(), []
    m.register_backward_hook(lambda _m, _gi, go: seen.append(go[0].item()))
    x = leaf(torch, 1.0)
    first, second = m(x)
    (first["a"] * 5 + second * 7).backward()
    assert seen == [5.0] and x.grad.item() == 31.0
    m(torch.ones(2))  # which needs no gradient


def test_hooks_after_accumulation_return_nothing(torch: Any) -> None:
    """A result, which a user may take for a new gradient, is an error and not ignored."""
    x = leaf(torch, [1.0, 2.0])
    handle = x.register_post_accumulate_grad_hook(lambda p: p.grad * 2)
    with pytest.raises(RuntimeError, match="should return None"):
        x.sum().backward()
    handle.remove()
    x.grad = None
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_zeros_in_place_of_missing_gradients_are_part_of_a_graph(torch: Any) -> None:
    """grad(materialize_grads=True, create_graph=True): what it gives can be differentiated again."""
    x, a = leaf(torch, 0.5), leaf(torch, 1.0)
    options = {"create_graph": True, "materialize_grads": True}
    first = torch.autograd.grad(x * a, x, **options)
    second = torch.autograd.grad(first, x, **options)
    third = torch.autograd.grad(second, x, materialize_grads=True)
    assert second[0].requires_grad and not third[0].requires_grad
    assert second[0].item() == third[0].item() == 0.0


def test_integers_are_no_data_of_what_requires_gradients(torch: Any) -> None:
    x = leaf(torch, [1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"requires? gradients"):
        x.data = torch.tensor([1, 2])
    assert x.dtype == torch.float32 and x.tolist() == [1.0, 2.0]


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_old_backward_hooks_come_after_hooks_of_forward(torch: Any) -> None:
    m, a, seen = torch.nn.ReLU(), leaf(torch, [1.0, 2.0]), []
    m.register_backward_hook(lambda _m, gi, go: seen.append((gi[0].tolist(), go[0].tolist())))
    m.register_forward_hook(lambda _m, _args, out: out * 5)
    m(a * 1).sum().backward()
    assert seen == [([5.0, 5.0], [1.0, 1.0])]


@pytest.mark.parametrize("nested", [False, True], ids=["flat", "nested"])
def test_old_backward_hooks_say_what_they_miss(torch: Any, nested: bool) -> None:
    class Two(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return (x.relu(), [x.exp()]) if nested else (x.relu(), x.exp())

    m = Two()
    m.register_backward_hook(lambda *_: None)
    with pytest.warns(FutureWarning, match="register_full_backward_hook"):
        m(leaf(torch, [1.0]) * 2)


def test_old_backward_hooks_of_one_operation_say_nothing(
    torch: Any, recwarn: pytest.WarningsRecorder
) -> None:
    m = torch.nn.ReLU()
    m.register_backward_hook(lambda *_: None)
    m(leaf(torch, [1.0]) * 2)
    assert not [w for w in recwarn if issubclass(w.category, FutureWarning)]


def test_old_backward_hooks_of_all_modules(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """register_module_backward_hook: before those of the module; not with full ones."""
    everywhere, seen = torch.nn.modules.module, []
    # PyTorch keeps the form when all hooks are gone.
    monkeypatch.setattr(everywhere, "_global_is_full_backward_hook", None, raising=False)
    m, a = torch.nn.Sequential(torch.nn.ReLU()), leaf(torch, [1.0, 2.0])
    m[0].register_backward_hook(lambda _m, gi, _go: seen.append(("own", gi[0].tolist())))

    def hook(module: Any, grad_input: Any, _: Any) -> Any:
        seen.append((type(module).__name__, grad_input[0].tolist()))
        return (grad_input[0] * 3,)

    with everywhere.register_module_backward_hook(hook):
        m(a * 2).sum().backward()
    assert seen == [("ReLU", [1.0, 1.0]), ("own", [3.0, 3.0]), ("Sequential", [3.0, 3.0])]
    assert a.grad.tolist() == [18.0, 18.0]
    m(a * 2).sum().backward()
    assert len(seen) == 4


@pytest.mark.parametrize("bad", [lambda g: g[:-1], lambda g: g * 2], ids=["fewer", "more"])
def test_old_backward_hooks_that_return_another_number(torch: Any, bad: Any) -> None:
    m = torch.nn.ReLU()
    m.register_backward_hook(lambda _m, gi, _go: bad(gi))
    with pytest.raises(RuntimeError, match="but expected 1"):
        m(leaf(torch, [1.0]) * 2).sum().backward()


def test_backward_hooks_of_all_modules_are_of_one_form() -> None:
    everywhere = compat.nn.modules.module
    forms = (
        everywhere.register_module_backward_hook,
        everywhere.register_module_full_backward_hook,
    )
    for first, second in (forms, forms[::-1]):
        with first(lambda *_: None), pytest.raises(RuntimeError, match="Cannot use both"):
            second(lambda *_: None)
        second(lambda *_: None).remove()


def test_gradients_are_written_into_one_by_one() -> None:
    """Sums, copies and views hand one cotangent on to all; what is kept is nobody else's (in
    PyTorch leaves may share it).
    """
    given = compat.tensor([1.0, 2.0, 3.0])
    for number in range(6):
        x, y = (compat.ones(3, requires_grad=True) for _ in range(2))
        total = x + y
        copied = total.clone()
        shown = copied.view(3)
        tensors = (x, y, total, copied, shown)
        for t in tensors[2:]:
            t.retain_grad()
        shown.backward(given)
        found = [t.grad for t in tensors] + [given.clone()]
        found[number].mul_(10.0)
        for k, grad in enumerate(found):
            assert grad.tolist() == (given * (10.0 if k == number else 1.0)).tolist()
