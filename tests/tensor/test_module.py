"""Modules: what is registered, saved, moved, printed and hooked.

Most tests are PyTorch code that is run on `compat` and, where it is installed, on PyTorch itself, so
that what they expect is what PyTorch does.
"""

from __future__ import annotations

import copy
import gc
import importlib
import pickle
import warnings
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import compat

try:
    torch: Any = importlib.import_module("torch")
except ImportError:
    torch = None

LIBRARIES = [pytest.param(compat, id="compat")]
if torch is not None:
    LIBRARIES.append(pytest.param(torch, id="torch"))


@pytest.fixture(params=LIBRARIES)
def th(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def oracle() -> Any:
    return pytest.importorskip("torch")


def numbers(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def test_functions_in_the_body_of_a_class_get_no_self(th: Any) -> None:
    """As in kornia's losses, with a convolution; methods of other classes are methods still."""

    class Layer(th.nn.Module):  # type: ignore[misc]
        act, product, special = th.tanh, th.matmul, th.special.expit
        extra_repr = th.nn.Dropout.extra_repr
        p, inplace = 0.5, False

        @th.no_grad()
        def marked(self, x: Any) -> Any:
            return self, self.act(x)

    class Below(Layer):
        pass

    layer, x = Below(), th.tensor([[0.5]])
    got = [layer.act(x), layer.product(x, x), layer.special(x)]
    assert [g.item() for g in got] == pytest.approx([np.tanh(0.5), 0.25, 1 / (1 + np.exp(-0.5))])
    assert layer.marked(x)[0] is layer
    assert layer.extra_repr() == "p=0.5, inplace=False"


def net(th: Any) -> Any:
    nn = th.nn
    return nn.Sequential(
        OrderedDict(
            first=nn.Linear(3, 4), act=nn.ReLU(), norm=nn.BatchNorm1d(4), last=nn.Linear(4, 2)
        )
    )


def names(pairs: Any) -> list[str]:
    return [name for name, _ in pairs]


# ---------------------------------------------------------------- registration


def test_members_are_registered_by_assignment(th: Any) -> None:
    m = th.nn.Module()
    m.w = th.nn.Parameter(th.ones(2))
    m.child = th.nn.Linear(1, 1)
    m.register_buffer("b", th.zeros(3))
    m.register_buffer("skipped", th.zeros(1), persistent=False)
    m.plain = 3
    assert names(m.named_parameters()) == ["w", "child.weight", "child.bias"]
    assert names(m.named_buffers()) == ["b", "skipped"]
    assert names(m.named_modules()) == ["", "child"]
    assert names(m.named_children()) == ["child"]
    assert m.w.requires_grad and m.w.is_leaf and isinstance(m.w, th.Tensor)
    assert m.plain == 3 and m.b.shape == (3,)
    assert list(m.state_dict()) == ["w", "b", "child.weight", "child.bias"]
    assert {"w", "child", "b", "plain"} <= set(dir(m))


def test_assigning_again_keeps_the_place(th: Any) -> None:
    m = th.nn.Module()
    m.a, m.b = th.nn.Parameter(th.ones(1)), th.nn.Parameter(th.ones(1))
    m.a = th.nn.Parameter(th.zeros(1))
    assert names(m.named_parameters()) == ["a", "b"] and m.a.item() == 0
    m.a = None
    assert names(m.named_parameters()) == ["b"] and m.a is None
    m.a = th.nn.Parameter(th.zeros(1))
    assert names(m.named_parameters()) == ["a", "b"]


def test_a_name_has_one_member(th: Any) -> None:
    m = th.nn.Module()
    m.x = 1
    m.x = th.nn.Linear(1, 1)
    assert names(m.named_children()) == ["x"] and "x" not in m.__dict__
    m.x = th.nn.Parameter(th.ones(1))
    assert names(m.named_children()) == [] and names(m.named_parameters()) == ["x"]
    del m.x
    assert not hasattr(m, "x") and names(m.named_parameters()) == []
    m.register_buffer("x", None)
    m.x = th.ones(2)
    assert names(m.named_buffers()) == ["x"]
    del m.x
    m.x = th.ones(2)
    assert names(m.named_buffers()) == []


def test_shared_members_are_found_once(th: Any) -> None:
    layer = th.nn.Linear(2, 2)
    m = th.nn.Sequential(layer, layer)
    m.tied = layer.weight
    assert names(m.named_parameters()) == ["tied", "0.bias"]
    assert names(m.named_parameters(remove_duplicate=False)) == [
        "tied", "0.weight", "0.bias", "1.weight", "1.bias",
    ]  # fmt: skip
    assert len(list(m.modules())) == 2 and len(list(m.children())) == 1
    assert len(list(m.modules(remove_duplicate=False))) == 3
    assert names(m.named_parameters(prefix="p", recurse=False)) == ["p.tied"]


ERRORS = [
    ("m.w = 3", TypeError, "cannot assign 'int' as parameter 'w'"),
    ("m.w = nn.ReLU()", TypeError, "as parameter 'w'"),
    ("m.w = th.ones(2)", TypeError, "cannot assign 'torch.FloatTensor' as parameter 'w'"),
    ("m.child = 3", TypeError, "cannot assign 'int' as child module 'child'"),
    ("m.b = 3", TypeError, "cannot assign 'int' as buffer 'b'"),
    ("m.q", AttributeError, "'Module' object has no attribute 'q'"),
    ("del m.q", AttributeError, "q"),
    ("m.register_parameter('w.v', None)", KeyError, 'parameter name can\'t contain "."'),
    ("m.register_parameter('', None)", KeyError, "can't be empty string"),
    ("m.register_parameter(3, None)", TypeError, "parameter name should be a string. Got int"),
    ("m.register_parameter('train', None)", KeyError, "attribute 'train' already exists"),
    ("m.register_parameter('v', th.ones(1))", TypeError, "torch.nn.Parameter or None required"),
    ("m.register_buffer('w', None)", KeyError, "attribute 'w' already exists"),
    ("m.register_buffer('v', 3)", TypeError, "cannot assign 'int' object to buffer 'v'"),
    ("m.add_module('v', 3)", TypeError, "int is not a Module subclass"),
    ("nn.Sequential(nn.Linear, nn.ReLU)", TypeError, "Linear is not a Module subclass"),
    ("nn.ModuleList([type(m)])", TypeError, "is not a Module subclass"),
    ("nn.Linear(3, 2)([1, 2, 3])", TypeError, "linear(): argument 'input' (position 1) must be"),
    (
        "nn.Linear(3, 2)(th.ones(1, 3).long())",
        RuntimeError,
        "mat1 and mat2 must have the same dtype",
    ),
    ("m.add_module('v.w', nn.ReLU())", KeyError, "module name can't contain"),
    ("m.get_submodule('child.w')", AttributeError, "Linear has no attribute `w`"),
    ("m.get_submodule('child.weight')", AttributeError, "`weight` is not an nn.Module"),
    ("m.get_parameter('b')", AttributeError, "`b` is not an nn.Parameter"),
    ("m.get_buffer('w')", AttributeError, "`w` is not a buffer"),
    ("m.set_submodule('', nn.ReLU())", ValueError, "without a target name"),
    ("m.set_submodule('child', 3)", ValueError, "is not an nn.Module"),
    ("m(3)", NotImplementedError, 'is missing the required "forward" function'),
    ("m.train(3)", ValueError, "training mode is expected to be boolean"),
    ("m.to(th.int64)", TypeError, "nn.Module.to only accepts floating point or complex dtypes"),
    ("m.to('cpu', True)", TypeError, ""),
    ("m.to(None, True)", TypeError, ""),
    ("m.to(th.float64, th.float64)", TypeError, ""),
    ("m.to(other=th.ones(1))", TypeError, ""),
    ("m.to(th.float64, copy=True)", RuntimeError, "does not accept copy"),
    ("m.to('cpu', th.float64, True, True)", RuntimeError, "does not accept copy"),
    ("m.load_state_dict(3)", TypeError, "Expected state_dict to be dict-like"),
    ("nn.Module(3)", TypeError, "takes 1 positional argument but 2 were given"),
    ("nn.Module(a=3)", TypeError, "unexpected keyword argument 'a'"),
    ("nn.Dropout(2)", ValueError, "dropout probability has to be between 0 and 1"),
    ("nn.Sequential(nn.ReLU())[1]", IndexError, "index 1 is out of range"),
    ("nn.ModuleList([nn.ReLU()])[-2]", IndexError, "index -2 is out of range"),
    ("nn.ModuleList(3)", TypeError, "int"),
    ("nn.ModuleDict({'a': 3})", TypeError, "is not a Module subclass"),
    ("nn.BatchNorm1d(3)(th.ones(3))", ValueError, "expected 2D or 3D input"),
    ("nn.BatchNorm1d(3)(th.ones(1, 3))", ValueError, "Expected more than 1 value per channel"),
    ("nn.BatchNorm1d(3)(th.ones(2, 4))", RuntimeError, "running_mean should contain 4 elements"),
    ("nn.BatchNorm1d(3)(th.ones(2, 3).double())", RuntimeError, "mixed dtype (CPU)"),
    ("nn.Linear(2, 3)(th.ones(4, 3))", RuntimeError, "cannot be multiplied (4x3 and 2x3)"),
    ("nn.init.eye_(th.ones(2))", ValueError, "Only tensors with 2 dimensions"),
    ("nn.init.xavier_normal_(th.ones(2))", ValueError, "fewer than 2 dimensions"),
    ("nn.init.calculate_gain('x')", ValueError, "Unsupported nonlinearity x"),
    ("nn.init.kaiming_normal_(th.ones(2, 2), mode='x')", ValueError, "Mode x not supported"),
    ("nn.init.orthogonal_(th.ones(2))", ValueError, "2 or more dimensions"),
    ("nn.utils.vector_to_parameters(3, [])", TypeError, "expected torch.Tensor, but got: int"),
]


@pytest.mark.parametrize(("code", "kind", "words"), ERRORS, ids=[c for c, _, _ in ERRORS])
def test_errors(th: Any, code: str, kind: type[Exception], words: str) -> None:
    m = th.nn.Module()
    m.w, m.child = th.nn.Parameter(th.ones(2)), th.nn.Linear(1, 1)
    m.register_buffer("b", th.ones(1))
    with pytest.raises(kind) as caught:
        exec(code, {"th": th, "nn": th.nn, "m": m})
    assert words in str(caught.value.args[0])


def test_a_class_in_place_of_a_module_says_how_to_make_one() -> None:
    class Own(compat.nn.Module):
        pass

    with pytest.raises(TypeError, match=r"Linear is a class: write nn\.Linear\(\.\.\.\)$"):
        compat.nn.Sequential(compat.nn.Linear, compat.nn.ReLU)
    with pytest.raises(TypeError, match=r"Own is a class: write Own\(\.\.\.\)$"):
        compat.nn.ModuleList([Own])


def test_members_before_init(th: Any) -> None:
    class Early(th.nn.Module):
        def __init__(self, what: Any) -> None:
            self.x = what

    with pytest.raises(AttributeError, match=r"cannot assign module before Module\.__init__"):
        Early(th.nn.ReLU())
    with pytest.raises(AttributeError, match="cannot assign parameters before"):
        Early(th.nn.Parameter(th.ones(1)))


# ---------------------------------------------------------------- paths, apply, modes


def test_members_by_their_path(th: Any) -> None:
    m = th.nn.Sequential(net(th), th.nn.ReLU())
    assert m.get_submodule("0.last") is m[0].last and m.get_submodule("") is m
    assert m.get_parameter("0.last.bias") is m[0].last.bias
    assert m.get_buffer("0.norm.running_mean") is m[0].norm.running_mean
    m.set_submodule("0.last", th.nn.Identity())
    assert isinstance(m[0].last, th.nn.Identity)
    with pytest.raises(AttributeError, match="has no attribute `new`"):
        m.set_submodule("0.new", th.nn.ReLU(), strict=True)


def test_apply_goes_from_the_inside_out(th: Any) -> None:
    seen: list[str] = []
    m = th.nn.Sequential(th.nn.Sequential(th.nn.ReLU()), th.nn.Linear(1, 1))
    assert m.apply(lambda part: seen.append(type(part).__name__)) is m
    assert seen == ["ReLU", "Sequential", "Linear", "Sequential"]


def test_modes_change_dropout_and_batch_norm_only(th: Any) -> None:
    m = th.nn.Sequential(net(th), th.nn.Dropout(0.5))
    required = [p.requires_grad for p in m.parameters()]
    assert m.eval() is m and not any(part.training for part in m.modules())
    assert [p.requires_grad for p in m.parameters()] == required == [True] * 6
    x = th.ones(4, 3)
    assert m(x).requires_grad
    assert th.equal(m(x), m(x))
    assert m.train() is m and all(part.training for part in m.modules())


def test_moving_keeps_the_parameters(th: Any) -> None:
    m = net(th)
    m(th.ones(4, 3) * 2).sum().backward()
    before = list(m.parameters())
    grads = [p.grad for p in before]
    assert m.double() is m
    assert all(a is b for a, b in zip(before, m.parameters(), strict=True))
    assert {p.dtype for p in before} == {th.float64} == {p.grad.dtype for p in before}
    assert all(p.grad is g for p, g in zip(before, grads, strict=True))
    assert all(p.requires_grad and p.is_leaf for p in before)
    assert m.norm.running_mean.dtype == th.float64
    assert m.norm.num_batches_tracked.dtype == th.int64
    m(th.ones(4, 3, dtype=th.float64)).sum().backward()
    assert before[0].grad.dtype == th.float64
    for change in ("float", "double", "cpu"):
        assert getattr(m, change)() is m
    m.to(th.float32).to("cpu")
    assert m.to("cpu", th.float64) is m and before[0].dtype == th.float64
    m.to(th.ones(1))
    assert m.to(tensor=th.ones(1, dtype=th.float64)) is m and before[0].dtype == th.float64
    m.to(th.ones(1), True)
    assert before[0].dtype == th.float32


def test_zero_grad(th: Any) -> None:
    m = th.nn.Linear(2, 1)
    m(th.ones(1, 2)).sum().backward()
    grad = m.weight.grad
    m.zero_grad(set_to_none=False)
    assert m.weight.grad is grad and grad.tolist() == [[0.0, 0.0]]
    m.zero_grad()
    assert m.weight.grad is None and m.bias.grad is None


def test_a_frozen_part_builds_no_graph(th: Any) -> None:
    m = th.nn.Sequential(th.nn.Linear(3, 4), th.nn.Tanh(), th.nn.Linear(4, 2))
    assert m.requires_grad_(False) is m
    assert m(th.ones(2, 3)).grad_fn is None
    m[2] = th.nn.Linear(4, 1)
    x = th.ones(2, 3)
    hidden = m[1](m[0](x))
    assert hidden.grad_fn is None and not hidden.requires_grad
    m(x).sum().backward()
    assert m[0].weight.grad is None
    assert m[2].weight.grad is not None
    assert th.allclose(m[2].weight.grad, hidden.sum(0, keepdim=True))


def test_nothing_of_a_frozen_part_is_kept() -> None:
    m = compat.nn.Sequential(compat.nn.Linear(3, 4), compat.nn.Tanh(), compat.nn.Linear(4, 2))
    m[0].requires_grad_(False)
    kept: list[Any] = []
    hooks = [
        part.register_forward_hook(lambda _m, _a, out: kept.append(weakref.ref(out._array)))
        for part in m
    ]
    out = m(compat.ones(2, 3))
    gc.collect()
    alive = [ref() is not None for ref in kept]
    assert alive == [False, True, True]  # the last layer needs its input, and the result is `out`
    assert out.requires_grad
    for hook in hooks:
        hook.remove()


# ---------------------------------------------------------------- printing


REPRS = [
    ("nn.Linear(2, 3)", "Linear(in_features=2, out_features=3, bias=True)"),
    ("nn.Linear(2, 3, bias=False)", "Linear(in_features=2, out_features=3, bias=False)"),
    ("nn.Module()", "Module()"),
    ("nn.ReLU(inplace=True)", "ReLU(inplace=True)"),
    ("nn.Identity(3, a=1)", "Identity()"),
    ("nn.Dropout(0.2)", "Dropout(p=0.2, inplace=False)"),
    ("nn.LogSoftmax(dim=1)", "LogSoftmax(dim=1)"),
    ("nn.CrossEntropyLoss()", "CrossEntropyLoss()"),
    (
        "nn.BatchNorm1d(3)",
        "BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
    ),
    (
        "nn.Sequential(nn.Tanh(), nn.Sequential(nn.Sigmoid()))",
        "Sequential(\n  (0): Tanh()\n  (1): Sequential(\n    (0): Sigmoid()\n  )\n)",
    ),
    (
        "nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Sequential(nn.Tanh())])",
        "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Sequential(\n    (0): Tanh()\n  )\n)",
    ),
    ("nn.ModuleList()", "ModuleList()"),
    ("nn.ModuleDict({'a': nn.ReLU()})", "ModuleDict(\n  (a): ReLU()\n)"),
    (
        "nn.ParameterList([th.ones(2, 3), th.ones(1)])",
        "ParameterList(\n    (0): Parameter containing: [torch.float32 of size 2x3]\n"
        "    (1): Parameter containing: [torch.float32 of size 1]\n)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text"), REPRS, ids=[c for c, _ in REPRS])
def test_repr(th: Any, code: str, text: str) -> None:
    assert repr(eval(code, {"nn": th.nn, "th": th})) == text


def test_extra_repr(th: Any) -> None:
    class Two(th.nn.Module):
        def extra_repr(self) -> str:
            return "a=1\nb=2"

    class One(th.nn.Module):
        def extra_repr(self) -> str:
            return "a=1"

    m = One()
    m.part = Two()
    assert repr(Two()) == "Two(\n  a=1\n  b=2\n)"
    assert repr(One()) == "One(a=1)"
    assert repr(m) == "One(\n  a=1\n  (part): Two(\n    a=1\n    b=2\n  )\n)"


# ---------------------------------------------------------------- containers


def test_sequential(th: Any) -> None:
    nn = th.nn
    a, b, c = nn.ReLU(), nn.Tanh(), nn.Sigmoid()
    m = nn.Sequential(a, b)
    assert m[0] is a and m[-1] is b and len(m) == 2 and list(m) == [a, b]
    assert m.append(c) is m and names(m.named_children()) == ["0", "1", "2"]
    assert [type(x).__name__ for x in m[1:]] == ["Tanh", "Sigmoid"]
    assert names(m[1:].named_children()) == ["1", "2"]
    del m[0]
    assert names(m.named_children()) == ["0", "1"] and m[0] is b
    m.insert(0, a)
    assert list(m) == [a, b, c] and names(m.named_children()) == ["0", "1", "2"]
    assert m.pop(1) is b and list(m) == [a, c]
    assert list(m + nn.Sequential(b)) == [a, c, b]
    m.extend([b])
    m[0] = b
    assert m[0] is b and len(m) == 3
    assert len(m * 2) == 6
    x = th.tensor([-1.0, 1.0])
    assert th.equal(nn.Sequential(a, b)(x), b(a(x)))
    assert nn.Sequential()(x) is x


def test_lists_and_dictionaries(th: Any) -> None:
    nn = th.nn
    layers = nn.ModuleList([nn.Linear(1, 1)])
    layers.append(nn.ReLU()).extend([nn.Tanh()])
    layers += [nn.Sigmoid()]
    layers.insert(1, nn.Identity())
    assert [type(x).__name__ for x in layers] == ["Linear", "Identity", "ReLU", "Tanh", "Sigmoid"]
    assert len(layers[1:3]) == 2 and isinstance(layers[1:3], nn.ModuleList)
    del layers[1:3]
    assert names(layers.named_children()) == ["0", "1", "2"] and len(layers + layers) == 6
    assert names(layers.named_parameters()) == ["0.weight", "0.bias"]

    table = nn.ModuleDict({"a": nn.ReLU()})
    table.update([("b", nn.Linear(1, 1))])
    table["c"] = nn.Tanh()
    assert list(table) == list(table.keys()) == ["a", "b", "c"] and "b" in table
    assert len(table.values()) == 3 and isinstance(table.pop("a"), nn.ReLU) and len(table) == 2
    del table["b"]
    table.clear()
    assert len(table) == 0

    params = nn.ParameterList([th.ones(2)])
    params.append(nn.Parameter(th.zeros(1)))
    params += [th.ones(3)]
    assert len(params) == 3 and names(params.named_parameters()) == ["0", "1", "2"]
    assert isinstance(params[0], nn.Parameter) and params[-1].shape == (3,)
    assert [p.shape[0] for p in params] == [2, 1, 3] and len(params[1:]) == 2

    by_name = nn.ParameterDict({"w": th.ones(2), "v": th.ones(1)})
    assert names(by_name.named_parameters()) == ["v", "w"] and "w" in by_name
    assert by_name.pop("w").shape == (2,) and list(by_name.keys()) == ["v"]
    assert by_name.get("w") is None and len(by_name) == 1


# ---------------------------------------------------------------- saving and loading


def test_state_dict(th: Any) -> None:
    m = net(th)
    state = m.state_dict()
    assert list(state) == [
        "first.weight", "first.bias", "norm.weight", "norm.bias", "norm.running_mean",
        "norm.running_var", "norm.num_batches_tracked", "last.weight", "last.bias",
    ]  # fmt: skip
    assert dict(state._metadata) == {
        "": {"version": 1}, "first": {"version": 1}, "act": {"version": 1},
        "norm": {"version": 2}, "last": {"version": 1},
    }  # fmt: skip
    assert not state["first.weight"].requires_grad and state["first.weight"] is not m.first.weight
    with th.no_grad():
        m.first.weight.zero_()
    assert not state["first.weight"].any()
    assert m.state_dict(keep_vars=True)["last.bias"] is m.last.bias
    assert list(m.last.state_dict(prefix="p.")) == ["p.weight", "p.bias"]
    into: dict[str, Any] = {}
    assert m.last.state_dict(destination=into) is into and list(into) == ["weight", "bias"]


def test_loading_copies_in_place(th: Any) -> None:
    a, b = net(th), net(th)
    before = list(b.parameters())
    version = before[0]._version
    answer = b.load_state_dict(a.state_dict())
    assert str(answer) == "<All keys matched successfully>" and answer.missing_keys == []
    assert all(x is y for x, y in zip(before, b.parameters(), strict=True))
    assert all(th.equal(x, y) for x, y in zip(a.parameters(), before, strict=True))
    assert before[0]._version == version + 1 and before[0].requires_grad
    b.double().load_state_dict(a.state_dict())
    assert before[0].dtype == th.float64
    with th.no_grad():
        a.first.weight.zero_()
    assert before[0].any()


def test_loading_what_does_not_fit(th: Any) -> None:
    m = th.nn.Sequential(th.nn.Linear(2, 3), th.nn.ReLU())
    state = {"0.weight": th.ones(3, 3), "0.c": th.ones(1), "2.x": th.ones(1)}
    with pytest.raises(RuntimeError) as caught:
        m.load_state_dict(state)
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "0.bias". \n'
        '\tUnexpected key(s) in state_dict: "2.x", "0.c". \n'
        "\tsize mismatch for 0.weight: copying a param with shape torch.Size([3, 3]) from "
        "checkpoint, the shape in current model is torch.Size([3, 2])."
    )
    state["0.weight"] = th.ones(3, 2)
    answer = m.load_state_dict(state, strict=False)
    assert answer.missing_keys == ["0.bias"] and answer.unexpected_keys == ["2.x", "0.c"]
    assert m[0].weight.sum().item() == 6
    with pytest.raises(RuntimeError, match=r"expected torch\.Tensor or Tensor-like object"):
        m.load_state_dict({"0.weight": 3, "0.bias": th.ones(3)})


def test_loading_by_assignment(th: Any) -> None:
    m = th.nn.Linear(2, 2)
    state = {"weight": th.ones(2, 2), "bias": th.nn.Parameter(th.ones(2))}
    m.load_state_dict(state, assign=True)
    assert m.bias is state["bias"] and isinstance(m.weight, th.nn.Parameter)
    state["weight"].zero_()
    assert not m.weight.any() and m.weight.requires_grad


def test_state_dict_hooks(th: Any) -> None:
    seen: list[Any] = []
    m = th.nn.Sequential(th.nn.Linear(1, 1))
    m[0].register_state_dict_pre_hook(lambda _m, prefix, keep: seen.append((prefix, keep)))
    m[0].register_state_dict_post_hook(
        lambda _m, state, prefix, meta: state.update({prefix + "extra": meta["version"]})
    )
    handle = m._register_state_dict_hook(lambda _m, state, _p, _l: {"all": state})
    state = m.state_dict()
    assert seen == [("0.", False)] and list(state) == ["all"]
    handle.remove()
    state = m.state_dict()
    assert list(state) == ["0.weight", "0.bias", "0.extra"] and state["0.extra"] == 1

    m[0]._register_load_state_dict_pre_hook(
        lambda state, prefix, *_: seen.append(state.pop(prefix + "extra", None))
    )
    m[0].register_load_state_dict_pre_hook(
        lambda module, _s, prefix, *_: seen.append((type(module).__name__, prefix))
    )
    m.register_load_state_dict_post_hook(lambda _m, keys: keys.missing_keys.clear())
    m.load_state_dict({"0.weight": th.ones(1, 1), "0.extra": 7})
    assert seen[2:] == [7, ("Linear", "0.")] and m[0].weight.item() == 1


def test_extra_state_and_own_loading(th: Any) -> None:
    class Counting(th.nn.Module):
        count = 0

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    m, other = th.nn.Sequential(Counting()), th.nn.Sequential(Counting())
    m[0].count = 3
    state = m.state_dict()
    assert list(state) == ["0._extra_state"]
    other.load_state_dict(state)
    assert other[0].count == 3
    with pytest.raises(RuntimeError, match=r'Missing key.* "0._extra_state"'):
        other.load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected key.* "_extra_state"'):
        th.nn.ReLU().load_state_dict({"_extra_state": 1})


def test_old_batch_norm_state(th: Any) -> None:
    m = th.nn.BatchNorm1d(2)
    state = m.state_dict()
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        m.load_state_dict(state)
    del state._metadata
    m.load_state_dict(state)


def test_copies_and_pickles(th: Any) -> None:
    m = net(th)
    m.tied = m.last.weight
    for other in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert repr(other) == repr(m) and other.tied is other.last.weight
        assert names(other.named_parameters()) == names(m.named_parameters())
        for (_, a), (_, b) in zip(m.named_parameters(), other.named_parameters(), strict=True):
            assert a is not b and th.equal(a, b) and isinstance(b, th.nn.Parameter)
            assert b.requires_grad and b.is_leaf
        with th.no_grad():
            other.last.bias.add_(1)
        assert not th.equal(other.last.bias, m.last.bias)
        assert other(th.ones(3, 3)).shape == (3, 2)
    state = pickle.loads(pickle.dumps(m.state_dict()))
    assert m.load_state_dict(state).missing_keys == []


# ---------------------------------------------------------------- hooks


class _Scale:
    """Makes a module whose output is ``x * factor``, with a keyword for the factor."""

    def __new__(cls, th: Any) -> Any:
        class Scale(th.nn.Module):
            def forward(self, x: Any, factor: float = 2.0) -> Any:
                if factor == 0:
                    raise ZeroDivisionError
                return x * factor

        return Scale()


def test_forward_hooks(th: Any) -> None:
    m, seen = _Scale(th), []
    x = th.ones(1)
    m.register_forward_pre_hook(lambda _m, args: seen.append("pre") or (args[0] + 1,))
    m.register_forward_pre_hook(lambda _m, _a: seen.append("first"), prepend=True)
    m.register_forward_pre_hook(lambda _m, args: args[0] + 1)
    m.register_forward_hook(lambda _m, args, out: seen.append((args[0].item(), out.item())))
    replacing = m.register_forward_hook(lambda _m, _a, out: out + 100)
    assert m(x).item() == 106 and seen == ["first", "pre", (3.0, 6.0)]
    replacing.remove()
    assert m(x).item() == 6
    with m.register_forward_hook(lambda _m, _a, out: -out):
        assert m(x).item() == -6
    assert m(x).item() == 6


def test_forward_hooks_with_keywords(th: Any) -> None:
    m, seen = _Scale(th), []
    handle = m.register_forward_pre_hook(
        lambda _m, args, kwargs: (args, {"factor": kwargs["factor"] + 1}), with_kwargs=True
    )
    m.register_forward_hook(
        lambda _m, _a, kwargs, out: seen.append((kwargs, out.item())), with_kwargs=True
    )
    assert m(th.ones(1), factor=2.0).item() == 3 and seen == [({"factor": 3.0}, 3.0)]
    handle.remove()
    m.register_forward_pre_hook(lambda *_: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="forward pre-hook must return None or a tuple"):
        m(th.ones(1))


def test_hooks_are_kept_as_they_are_given(th: Any) -> None:
    """Under PyTorch's names, with how they are called beside them: tools look at these."""
    m = _Scale(th)

    def hook(_module: Any, args: Any, *_: Any) -> None:
        pass

    handles = [
        m.register_forward_pre_hook(hook),
        m.register_forward_pre_hook(hook, with_kwargs=True),
        m.register_forward_hook(hook, with_kwargs=True, always_call=True),
    ]
    numbers = [handle.id for handle in handles]
    tables = [m._forward_pre_hooks, m._forward_hooks]
    marks = [
        m._forward_pre_hooks_with_kwargs,
        m._forward_hooks_with_kwargs,
        m._forward_hooks_always_called,
    ]
    assert [list(table.items()) for table in tables] == [
        [(numbers[0], hook), (numbers[1], hook)],
        [(numbers[2], hook)],
    ]
    assert [list(mark) for mark in marks] == [numbers[1:2], numbers[2:], numbers[2:]]
    assert handles[2].hooks_dict_ref() is m._forward_hooks
    again, copied = copy.deepcopy((m, handles))
    for module, ones in ((again, copied), (m, handles)):
        for handle in ones:
            handle.remove()
        assert not any(len(getattr(module, name)) for name in vars(module) if "_forward_" in name)
    m._forward_pre_hooks[0] = lambda _m, args: (args[0] + 1,)
    assert m(th.ones(1)).item() == 4


def test_forward_hooks_that_always_run(th: Any) -> None:
    m, seen = _Scale(th), []
    m.register_forward_hook(lambda _m, _a, out: seen.append("usual"))
    m.register_forward_hook(lambda _m, _a, out: seen.append(("always", out)), always_call=True)
    with pytest.raises(ZeroDivisionError):
        m(th.ones(1), 0)
    assert seen == [("always", None)]

    def failing(*_: Any) -> None:
        raise ValueError("again")

    m.register_forward_hook(failing, always_call=True, prepend=True)
    with pytest.warns(UserWarning, match="silenced"), pytest.raises(ZeroDivisionError):
        m(th.ones(1), 0)


def test_backward_hooks(th: Any) -> None:
    m, seen = th.nn.Linear(2, 2), []
    m.register_full_backward_hook(lambda mod, gi, go: seen.append(("hook", mod, gi, go)))
    m.register_full_backward_pre_hook(lambda mod, go: seen.append(("pre", mod, go)))
    x = th.ones(1, 2, requires_grad=True)
    out = m(x)
    (out * th.tensor([[2.0, 3.0]])).sum().backward()
    assert [s[0] for s in seen] == ["pre", "hook"] and seen[0][1] is seen[1][1] is m
    assert seen[0][2][0].tolist() == [[2.0, 3.0]] == seen[1][3][0].tolist()
    assert th.allclose(seen[1][2][0], x.grad) and len(seen[1][2]) == 1
    assert th.allclose(x.grad, th.tensor([[2.0, 3.0]]) @ m.weight.detach())
    assert out.grad_fn.name() == "BackwardHookFunctionBackward"
    m._backward_hooks.clear()
    m._backward_pre_hooks.clear()
    assert m(x).grad_fn.name() == "AddmmBackward0"


def test_backward_hooks_replace_gradients(th: Any) -> None:
    m = _Scale(th)
    x = th.ones(2, requires_grad=True)
    m.register_full_backward_pre_hook(lambda _m, go: (go[0] * 10,))
    m.register_full_backward_hook(lambda _m, gi, _go: (gi[0] + 1,))
    m(x).sum().backward()
    assert x.grad.tolist() == [21.0, 21.0]
    m.register_full_backward_hook(lambda _m, gi, _go: (gi[0], gi[0]))
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        m(x).sum().backward()


def test_backward_hooks_with_several_values(th: Any) -> None:
    class Two(th.nn.Module):
        def forward(self, x: Any, n: int, y: Any, unused: Any) -> Any:
            return x * n, "text", y * 3, x * 7

    m, seen = Two(), []
    m.register_full_backward_hook(lambda _m, gi, go: seen.append((gi, go)))
    x, y, unused = th.ones(2, requires_grad=True), th.ones(2), th.ones(1, requires_grad=True)
    a, text, b, c = m(x, 5, y, unused)
    assert text == "text" and a.requires_grad and not b.requires_grad and c.requires_grad
    a.sum().backward()
    ((gi, go),) = seen
    assert gi[0].tolist() == [5.0, 5.0] and gi[1] is None and gi[3].tolist() == [0.0]
    assert go[0].tolist() == [1.0, 1.0] and go[1:] == (None, None, None)
    assert x.grad.tolist() == [5.0, 5.0] and unused.grad.tolist() == [0.0]


def test_backward_hooks_without_inputs_that_need_gradients(th: Any) -> None:
    m, seen = th.nn.Linear(1, 1), []
    m.register_full_backward_hook(lambda _m, gi, go: seen.append((gi, go[0].tolist())))
    out = m(th.ones(1, 1))
    with pytest.warns(UserWarning, match="Full backward hook is firing"):
        out.sum().backward()
    assert seen == [((None,), [[1.0]])] and m.weight.grad.tolist() == [[1.0]]
    with th.no_grad():
        assert m(th.ones(1, 1)).grad_fn is None


def test_backward_hooks_can_be_differentiated(th: Any) -> None:
    m, seen = _Scale(th), []
    m.register_full_backward_hook(lambda _m, gi, _go: seen.append(gi[0].requires_grad))
    x = th.tensor([3.0], requires_grad=True)
    (g,) = th.autograd.grad((m(x) ** 3).sum(), x, create_graph=True)
    assert g.tolist() == [6 * 36.0] and seen == [True]
    (h,) = th.autograd.grad(g.sum(), x)
    assert h.tolist() == [3 * 2 * 8 * 3.0]


def test_hooked_modules_leave_no_cycles() -> None:
    m = compat.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda *_: None)
    m.register_forward_hook(lambda *_: None)
    gc.collect()
    gc.disable()
    try:
        x = compat.ones(1, 2, requires_grad=True)
        out = m(x)
        refs = [weakref.ref(out), weakref.ref(out.grad_fn)]
        out.sum().backward()
        del out
        assert [r() for r in refs] == [None, None]
    finally:
        gc.enable()


# ---------------------------------------------------------------- layers


LAYERS = [
    ("nn.Linear(3, 4)", (2, 3)),
    ("nn.Linear(3, 4)", (3,)),
    ("nn.Linear(3, 4, bias=False)", (2, 5, 3)),
    ("nn.Linear(3, 4)", (0, 3)),
    ("nn.ReLU()", (2, 3)),
    ("nn.Tanh()", (2, 3)),
    ("nn.Sigmoid()", ()),
    ("nn.Softmax(dim=-1)", (2, 3)),
    ("nn.LogSoftmax(dim=0)", (2, 3)),
    ("nn.Identity()", (2,)),
    ("nn.BatchNorm1d(3)", (4, 3)),
    ("nn.BatchNorm1d(3)", (4, 3, 2)),
    ("nn.BatchNorm1d(3, momentum=None)", (4, 3)),
    ("nn.BatchNorm1d(3, affine=False, eps=0.1)", (4, 3)),
    ("nn.BatchNorm1d(3, bias=False)", (4, 3)),
    ("nn.BatchNorm1d(3, track_running_stats=False)", (4, 3)),
    ("nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))", (4, 3)),
    ("nn.Sequential(nn.Identity(), nn.Dropout(0.0))", (2, 3)),
]


def _run(th: Any, m: Any, x: Any, weights: Any) -> dict[str, Any]:
    x = th.from_numpy(x.copy()).requires_grad_()
    out = m(x)
    if out.requires_grad:
        (out * th.from_numpy(weights)).sum().backward()
    found = {"out": out.detach(), "x": x.grad}
    found.update((name, p.grad) for name, p in m.named_parameters())
    found.update((name, b) for name, b in m.named_buffers())
    return {k: None if v is None else v.numpy() for k, v in found.items()}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("code", "shape"), LAYERS)
def test_layers_as_in_torch(oracle: Any, code: str, shape: Any, dtype: str) -> None:
    ours = eval(code, {"nn": compat.nn}).to(getattr(compat, dtype))
    theirs = eval(code, {"nn": oracle.nn}).to(getattr(oracle, dtype))
    rng = np.random.default_rng(0)
    with oracle.no_grad():
        for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
            b.copy_(oracle.from_numpy(rng.normal(size=tuple(b.shape)).astype(dtype)))
            a.data = compat.from_numpy(b.detach().numpy().copy())
    x = np.asarray(rng.normal(size=shape).astype(dtype))
    with compat.no_grad():
        shape = tuple(ours(compat.from_numpy(x)).shape)
    with oracle.no_grad():
        theirs(oracle.from_numpy(x))
    weights = np.asarray(rng.normal(size=shape).astype(dtype))
    tolerance = 2e-6 if dtype == "float32" else 1e-10
    for training in (True, False, True):
        ours.train(training), theirs.train(training)
        a, b = _run(compat, ours, x, weights), _run(oracle, theirs, x, weights)
        assert a.keys() == b.keys()
        for name in a:
            if a[name] is None or b[name] is None:
                assert a[name] is b[name], name
            else:
                assert a[name].dtype == b[name].dtype and a[name].shape == b[name].shape, name
                np.testing.assert_allclose(
                    a[name], b[name], rtol=tolerance, atol=tolerance, err_msg=name
                )


def test_batch_norm_by_hand() -> None:
    m = compat.nn.BatchNorm1d(1).double()
    x = compat.tensor([[0.0], [2.0], [4.0]], dtype=compat.float64)
    out = m(x)
    assert out.grad_fn.name() == "NativeBatchNormBackward0"
    root = np.sqrt(8 / 3 + 1e-5)
    np.testing.assert_allclose(out.detach().numpy(), [[-2 / root], [0], [2 / root]])
    np.testing.assert_allclose(m.running_mean.numpy(), [0.2])
    np.testing.assert_allclose(m.running_var.numpy(), [0.9 + 0.1 * 4.0])
    assert m.num_batches_tracked.item() == 1
    out = m.eval()(x)
    np.testing.assert_allclose(out.detach().numpy()[0], -0.2 / np.sqrt(1.3 + 1e-5))
    assert m.num_batches_tracked.item() == 1


def test_dropout(th: Any) -> None:
    th.manual_seed(0)
    m = th.nn.Dropout(0.25)
    x = th.ones(4000, requires_grad=True)
    out = m(x)
    values = set(out.detach().numpy().tolist())
    assert values == {0.0, float(np.float32(4 / 3))}
    assert abs((out == 0).sum().item() - 1000) < 150
    out.sum().backward()
    assert th.equal(x.grad, out.detach())
    assert m.eval()(x) is x
    m.train().p = 1.0
    assert not m(x).any()
    y = th.ones(1000)
    assert th.nn.Dropout(0.5, inplace=True)(y) is y and (y == 0).any()


def test_dropout_is_repeatable() -> None:
    m, x = compat.nn.Dropout(0.5), compat.ones(100)
    compat.manual_seed(3)
    a = m(x)
    b = m(x)
    compat.manual_seed(3)
    assert compat.equal(a, m(x)) and not compat.equal(a, b)


# ---------------------------------------------------------------- initial numbers


def test_linear_starts_as_in_torch(th: Any) -> None:
    th.manual_seed(0)
    m = th.nn.Linear(400, 300)
    assert m.weight.shape == (300, 400) and m.bias.shape == (300,)
    assert m.weight.dtype == m.bias.dtype == th.float32
    for p in m.parameters():
        values = p.detach().numpy()
        assert np.abs(values).max() <= 0.05 and np.abs(values).max() > 0.049
        assert abs(values.std() - 0.05 / np.sqrt(3)) < 2e-3 and abs(values.mean()) < 4e-3
    assert th.nn.Linear(2, 3, dtype=th.float64).weight.dtype == th.float64
    with pytest.warns(UserWarning, match="no-op"):
        assert th.nn.Linear(0, 3).bias.tolist() == [0.0, 0.0, 0.0]


INITS = [
    ("uniform_(w, -3, 1)", -1.0, 4 / np.sqrt(12), 2.0),
    ("normal_(w, 2, 0.5)", 2.0, 0.5, None),
    ("zeros_(w)", 0.0, 0.0, 0.0),
    ("ones_(w)", 1.0, 0.0, 0.0),
    ("constant_(w, 4.5)", 4.5, 0.0, 0.0),
    ("xavier_uniform_(w, gain=2)", 0.0, 2 * np.sqrt(2 / 500), 2 * np.sqrt(6 / 500)),
    ("xavier_normal_(w)", 0.0, np.sqrt(2 / 500), None),
    ("kaiming_uniform_(w)", 0.0, np.sqrt(2 / 200), np.sqrt(6 / 200)),
    ("kaiming_normal_(w, mode='fan_out', nonlinearity='relu')", 0.0, np.sqrt(2 / 300), None),
    ("kaiming_normal_(w, a=2.0)", 0.0, np.sqrt(2 / 5 / 200), None),
    ("trunc_normal_(w)", 0.0, 0.8796, 2.0),
    ("trunc_normal_(w, 1.0, 2.0, 0.0, 5.0)", 1.8915, 1.2273, None),
    ("orthogonal_(w, gain=3)", 0.0, 3 / np.sqrt(300), None),
]


@pytest.mark.parametrize(("code", "mean", "std", "bound"), INITS, ids=[c for c, *_ in INITS])
def test_init(th: Any, code: str, mean: float, std: float, bound: float | None) -> None:
    th.manual_seed(0)
    w = th.nn.Parameter(th.empty(300, 200))
    version = w._version
    assert eval(f"init.{code}", {"init": th.nn.init, "w": w}) is w
    values = w.detach().numpy()
    assert abs(values.mean() - mean) < 0.02 + 0.01 * std
    assert abs(values.std() - std) <= 0.02 * max(std, 0.1)
    if bound is not None:
        assert np.abs(values - mean).max() <= bound * (1 + 1e-6)
    assert w._version > version and w.requires_grad and w.grad_fn is None


def test_init_matrices(th: Any) -> None:
    assert th.nn.init.eye_(th.empty(2, 3)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    for shape in ((3, 5), (5, 3), (2, 2, 2)):
        w = th.nn.init.orthogonal_(th.empty(*shape, dtype=th.float64)).numpy()
        w = w.reshape(shape[0], -1)
        gram = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
        np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-12)
    gains = {"linear": 1, "conv2d": 1, "tanh": 5 / 3, "relu": 2**0.5, "selu": 0.75}
    for name, gain in gains.items():
        assert th.nn.init.calculate_gain(name) == pytest.approx(gain)
    assert th.nn.init.calculate_gain("leaky_relu", 1.0) == pytest.approx(1.0)
    with pytest.warns(UserWarning, match="mean is more than 2 std"):
        th.nn.init.trunc_normal_(th.empty(2), mean=10)


# ---------------------------------------------------------------- functions, utilities


def test_normalize_and_one_hot(th: Any) -> None:
    f = th.nn.functional
    x = th.tensor([[3.0, 4.0], [0.0, 0.0]], requires_grad=True)
    y = f.normalize(x)
    np.testing.assert_allclose(y.detach().numpy(), [[0.6, 0.8], [0.0, 0.0]], rtol=1e-6)
    y[0, 0].backward()
    np.testing.assert_allclose(x.grad.numpy()[0], [0.128, -0.096], rtol=1e-5)
    assert np.isfinite(x.grad.numpy()).all()
    assert f.normalize(th.ones(2, 4), p=1.0, dim=0).tolist() == [[0.5] * 4] * 2
    assert f.one_hot(th.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert f.one_hot(th.tensor([[1]]), 3).shape == (1, 1, 3)
    assert f.one_hot(th.tensor(1)).tolist() == [0, 1] and f.one_hot(th.tensor(1)).dtype == th.int64
    with pytest.raises(RuntimeError, match="must be smaller than num_classes"):
        f.one_hot(th.tensor([3]), 2)
    with pytest.raises(RuntimeError, match="must be non-negative"):
        f.one_hot(th.tensor([-1]))
    with pytest.raises(RuntimeError, match="index tensor of type LongTensor"):
        f.one_hot(th.ones(2))
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        f.softmax(th.ones(2))


def test_clipping(th: Any) -> None:
    a, b = (th.zeros(n, requires_grad=True) for n in (2, 3))
    (a.sum() * 3 + b.sum() * 4).backward()
    grad, version = a.grad, a.grad._version
    total = th.nn.utils.clip_grad_norm_([a, b], 1.0)
    assert total.item() == pytest.approx(np.sqrt(18 + 48)) and a.grad is grad
    assert a.grad.tolist() == pytest.approx([3 / np.sqrt(66)] * 2, rel=1e-5)
    assert grad._version > version
    assert th.nn.utils.clip_grad_norm_([a, b], 1e3, norm_type=float("inf")).item() == pytest.approx(
        4 / np.sqrt(66), rel=1e-5
    )
    assert b.grad.tolist() == pytest.approx([4 / np.sqrt(66)] * 3, rel=1e-5)
    a.grad = th.tensor([5.0, -7.0])
    th.nn.utils.clip_grad_value_(a, 6.0)
    assert a.grad.tolist() == [5.0, -6.0]
    version = a.grad._version
    th.nn.utils.clip_grad_value_(a, 1.0)
    assert a.grad.tolist() == [1.0, -1.0] and a.grad._version > version
    with pytest.raises(RuntimeError):
        th.nn.utils.clip_grad_value_(a, 1e300)
    assert th.nn.utils.clip_grad_norm_([th.ones(2)], 1.0).item() == 0
    a.grad = th.tensor([float("inf"), 1.0])
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        th.nn.utils.clip_grad_norm_(a, 1.0, error_if_nonfinite=True)


def test_clipping_of_halves(th: Any) -> None:
    """The squares are beyond what halves hold."""
    a, b = (th.zeros(n, dtype=th.float16, requires_grad=True) for n in (1, 2))
    a.grad, b.grad = th.tensor([300.0]).half(), th.tensor([0.0, -400.0]).half()
    total = th.nn.utils.clip_grad_norm_([a, b], 5.0)
    assert total.dtype is th.float16 and total.item() == 500.0
    np.testing.assert_allclose([a.grad.item(), b.grad[1].item()], [3.0, -4.0], rtol=2e-3)


def test_parameters_as_a_vector(th: Any) -> None:
    m = th.nn.Linear(2, 2)
    vector = th.nn.utils.parameters_to_vector(m.parameters())
    assert vector.shape == (6,) and vector.requires_grad
    before = m.weight
    th.nn.utils.vector_to_parameters(th.arange(6.0), m.parameters())
    assert m.weight is before and m.weight.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert m.bias.tolist() == [4.0, 5.0] and m.bias.is_leaf


def test_modules_under_transforms() -> None:
    """A module is only code on tensors: the functional transforms go through it."""
    m = compat.nn.Sequential(
        compat.nn.Linear(3, 4), compat.nn.Tanh(), compat.nn.Linear(4, 1)
    ).double()
    x = compat.from_numpy(numbers(5, 3, dtype=np.float64))

    def loss(row: Any) -> Any:
        return m(row).sum()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        each = compat.func.vmap(compat.func.grad(loss))(x)
    rows = x.clone().requires_grad_()
    m(rows).sum().backward()
    np.testing.assert_allclose(each.detach().numpy(), rows.grad.numpy(), atol=1e-12)
