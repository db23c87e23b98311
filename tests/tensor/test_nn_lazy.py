"""Lazy modules, tensors without a shape, and buffers that say so: the same code on both libraries.

Their numbers are compared in `test_nn_more.py`, once they were called.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from modules import compat, outputs, torch

pytestmark = [
    pytest.mark.skipif(torch is None, reason="PyTorch is not installed"),
    pytest.mark.filterwarnings("ignore:input's size at dim=1"),  # PyTorch's size stays 0 on loading
]

LAYERS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "linear": (lambda th: th.nn.LazyLinear(3), (2, 4)),
    "no bias": (lambda th: th.nn.LazyLinear(3, bias=False), (2, 4)),
    "conv": (lambda th: th.nn.LazyConv2d(4, 2), (1, 2, 3, 3)),
    "transposed": (lambda th: th.nn.LazyConvTranspose1d(4, 2, groups=2), (1, 2, 3)),
    "batch": (lambda th: th.nn.LazyBatchNorm1d(), (4, 3)),
    "not tracked": (lambda th: th.nn.LazyBatchNorm2d(track_running_stats=False), (2, 3, 2, 2)),
    "instance": (lambda th: th.nn.LazyInstanceNorm1d(affine=False), (2, 3, 4)),
    "double": (lambda th: th.nn.LazyLinear(3, dtype=th.float64), (2, 4)),
}
layer = pytest.mark.parametrize("name", LAYERS)


def said(f: Callable[[Any], Any], th: Any) -> Any:
    """What `f` returns, or the type of its error."""
    try:
        return f(th)
    except Exception as error:
        return type(error)


def alike(f: Callable[[Any], Any]) -> Any:
    """`f` gives the same on both libraries; that is returned."""
    ours, theirs = said(f, compat), said(f, torch)
    assert ours == theirs
    return ours


def mixin(th: Any) -> Any:
    return compat.nn.lazy.LazyModuleMixin if th is compat else th.nn.modules.lazy.LazyModuleMixin


def ones(th: Any, name: str) -> Any:
    return th.ones(*LAYERS[name][1], dtype=th.float64 if name == "double" else th.float32)


@layer
def test_before_and_after_the_first_call(name: str) -> None:
    def story(th: Any) -> Any:
        module = LAYERS[name][0](th)
        told = [repr(module), module.has_uninitialized_params(), sorted(module.state_dict())]
        told += [(k, repr(p), p.requires_grad) for k, p in module.named_parameters()]
        told += [k for k, _ in module.named_buffers()]
        module.reset_parameters()
        out = module(ones(th, name))
        told += [repr(module), type(module).__name__, tuple(out.shape)]
        told += [(k, tuple(v.shape), str(v.dtype)) for k, v in module.state_dict().items()]
        told += [type(p).__name__ for p in module.parameters()]
        told += [hasattr(module, "_initialize_hook"), hasattr(module, "_load_hook")]
        module(ones(th, name))
        return told

    assert isinstance(alike(story), list)


@layer
def test_loading_both_ways(name: str) -> None:
    """An uncalled module takes what a called one saved, and not the other way round."""

    def story(th: Any) -> Any:
        make = LAYERS[name][0]
        called, other, third = make(th), make(th), make(th)
        called(ones(th, name))
        told: list[Any] = [str(other.load_state_dict(called.state_dict()))]
        told += [other.has_uninitialized_params(), type(other).__name__]
        told.append([tuple(v.shape) for v in other.state_dict().values()])
        same = [
            bool((a == b).all())
            for a, b in zip(*(m.state_dict().values() for m in (called, other)), strict=True)
        ]
        other(ones(th, name))
        told += [same, type(other).__name__, str(third.load_state_dict(make(th).state_dict()))]
        told.append(said(lambda _: called.load_state_dict(make(th).state_dict()) and None, th))
        return told

    assert isinstance(alike(story), list)


def test_a_loaded_layer_refuses_other_sizes() -> None:
    def story(th: Any) -> Any:
        lazy = th.nn.LazyLinear(2)
        lazy.load_state_dict(th.nn.Linear(3, 2).state_dict())
        return lazy(th.ones(1, 4))

    assert alike(story) is AssertionError


@pytest.mark.parametrize("name", ["linear", "conv", "batch"])
def test_the_numbers_that_it_starts_from(name: str) -> None:
    """Those of the ordinary layer."""
    module = LAYERS[name][0](compat).eval()
    module(ones(compat, name))
    compat.manual_seed(4)
    module.reset_parameters()
    found = module.state_dict()
    weight = found["weight"].numpy()
    if name == "batch":
        assert [found[k].tolist() for k in ("weight", "bias", "running_var")] == [
            [1.0] * 3,
            [0.0] * 3,
            [1.0] * 3,
        ]
    else:
        assert 0 < np.abs(weight).max() <= 1 / np.sqrt(np.prod(weight.shape[1:]))


def test_in_a_model() -> None:
    """With other layers around it, moved to another dtype before, an optimizer after the first call."""

    def story(th: Any) -> Any:
        model = th.nn.Sequential(th.nn.LazyLinear(4), th.nn.Tanh(), th.nn.LazyLinear(1)).double()
        model(th.ones(2, 3, dtype=th.float64))
        optimizer = th.optim.SGD(model.parameters(), lr=0.1)
        model(th.ones(2, 3, dtype=th.float64)).sum().backward()
        optimizer.step()
        return repr(model), [(tuple(p.shape), str(p.dtype)) for p in model.parameters()]

    assert isinstance(alike(story), tuple)


def test_keyword_arguments_and_a_module_of_ones_own() -> None:
    def story(th: Any) -> Any:
        class Scale(mixin(th), th.nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.factor = th.nn.UninitializedParameter()
                self.seen = th.nn.UninitializedBuffer()

            def initialize_parameters(self, x: Any, scale: float = 1.0) -> None:
                with th.no_grad():
                    self.factor.materialize(x.shape[-1:])
                    self.factor.fill_(scale)
                    self.seen.materialize((1,))
                    self.seen.zero_()

            def forward(self, x: Any, scale: float = 1.0) -> Any:
                return self.factor * x

        module = Scale()
        out = module(th.ones(2, 3), scale=2.0)
        return out.tolist(), type(module).__name__, sorted(module.state_dict())

    assert isinstance(alike(story), tuple)


ERRORS: dict[str, Callable[[Any], Any]] = {
    "shape": lambda th: th.nn.UninitializedParameter().shape,
    "sum": lambda th: th.nn.UninitializedParameter() + 1,
    "exp": lambda th: th.exp(th.nn.UninitializedParameter()),
    "buffer": lambda th: th.nn.UninitializedBuffer() * 2,
    "spectral_norm": lambda th: th.nn.utils.spectral_norm(th.nn.LazyLinear(3)),
    "weight_norm": lambda th: th.nn.utils.weight_norm(th.nn.LazyLinear(3)),
    "share_memory_": lambda th: th.nn.UninitializedParameter().share_memory_(),
    "axes": lambda th: th.nn.LazyConv2d(3, 2)(th.ones(3, 4)),
    "groups": lambda th: th.nn.LazyConv1d(4, 2, groups=2)(th.ones(1, 3, 4)),
    "norm of too many axes": lambda th: th.nn.LazyBatchNorm1d()(th.ones(2, 3, 4, 5)),
    "no initialize_parameters": lambda th: type(
        "Bad", (mixin(th), th.nn.Module), {}
    )()(1),
    "not all": lambda th: type(
        "Bad",
        (mixin(th), th.nn.Linear),
        {"initialize_parameters": lambda self, x: setattr(
            self, "weight", th.nn.UninitializedParameter()
        )},
    )(2, 2)(th.ones(2)),
    "no out_features": lambda th: th.nn.LazyLinear(),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    assert isinstance(alike(ERRORS[name]), type)


@pytest.mark.parametrize("kind", ["UninitializedParameter", "UninitializedBuffer"])
def test_tensors_without_a_shape(kind: str) -> None:
    def story(th: Any) -> Any:
        x = getattr(th.nn, kind)(dtype=th.float64)
        told = [repr(x), str(x.dtype), str(x.device), x.requires_grad, x.is_floating_point()]
        told += [tuple(x.size()), x.is_leaf, x.grad is None, x.is_complex()]
        again = copy.deepcopy(x) if kind == "UninitializedParameter" else x
        told += [type(again).__name__, str(again.dtype)]
        x.materialize((2, 3))
        told += [type(x).__name__, tuple(x.shape), str(x.dtype), x.requires_grad]
        y = getattr(th.nn, kind)()
        y.materialize(1, dtype=th.float64)
        return [*told, str(y.dtype)]

    assert isinstance(alike(story), list)


def test_gradients_reach_what_was_materialized() -> None:
    w = compat.nn.UninitializedParameter()
    w.materialize((3,))
    with compat.no_grad():
        w.fill_(2.0)
    (w * w).sum().backward()
    assert w.grad.tolist() == [4.0, 4.0, 4.0]


def test_saved_whole() -> None:
    """Pickled and copied before the first call, a module waits for it still."""
    module = compat.nn.LazyLinear(3, dtype=compat.float64)
    for again in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        assert again.has_uninitialized_params() and again.weight.dtype is compat.float64
        assert again(compat.ones(2, 5, dtype=compat.float64)).shape == (2, 3)
    assert module.has_uninitialized_params()
    file = io.BytesIO()
    module(compat.ones(2, 5, dtype=compat.float64))
    compat.save(module.state_dict(), file)
    file.seek(0)
    other = compat.nn.LazyLinear(3, dtype=compat.float64)
    other.load_state_dict(compat.load(file))
    assert other.weight.tolist() == module.weight.tolist()


# ---------------------------------------------------------------- buffers


def test_buffers_that_say_so() -> None:
    def story(th: Any) -> Any:
        module = th.nn.Module()
        module.kept = th.nn.Buffer(th.ones(2))
        module.passing = th.nn.Buffer(th.zeros(1), persistent=False)
        module.plain = th.ones(3)
        told = [sorted(module.state_dict()), [k for k, _ in module.named_buffers()]]
        told += [isinstance(x, th.nn.Buffer) for x in (module.kept, module.plain, th.ones(1))]
        told += [isinstance(module.kept, th.nn.Parameter), type(module.kept) is th.Tensor]
        module.kept = th.zeros(2)
        told.append(module.state_dict()["kept"].tolist())
        module.kept = th.nn.Buffer(th.ones(4), persistent=False)
        told += [sorted(module.state_dict()), tuple(module.kept.shape)]
        del module.passing
        module.passing = th.nn.Parameter(th.ones(1))
        told += [sorted(module.state_dict()), tuple(th.nn.Buffer().shape)]
        module.double()
        return [*told, str(module.kept.dtype)]

    assert isinstance(alike(story), list)


def test_a_buffer_in_a_module_that_knows_of_no_others() -> None:
    def story(th: Any) -> Any:
        class Old(th.nn.Module):  # type: ignore[misc]
            def register_buffer(self, name: str, tensor: Any) -> None:
                super().register_buffer(name, tensor)

        module = Old()
        module.kept = th.nn.Buffer(th.ones(2))
        return sorted(module.state_dict())

    assert alike(story) == ["kept"]


def test_a_buffer_for_a_name_that_is_taken() -> None:
    def story(th: Any) -> Any:
        module = th.nn.Module()
        module.plain = th.ones(3)
        module.plain = th.nn.Buffer(th.ones(1))

    assert alike(story) is KeyError


def test_a_buffer_for_a_parameters_name() -> None:
    def story(th: Any) -> Any:
        module = th.nn.Linear(2, 2)
        module.weight = th.nn.Buffer(th.ones(2, 2))
        return outputs(module(th.ones(1, 2)))

    assert alike(story) is TypeError
