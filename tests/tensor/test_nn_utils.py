"""`nn.utils`: modules whose weights are computed or fused, beside PyTorch's."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from modules import Case, check_module, torch

import compat

beside = pytest.mark.skipif(torch is None, reason="compares with PyTorch")
WORLDS = [compat] if torch is None else [compat, torch]
worlds = pytest.mark.parametrize("th", WORLDS, ids=lambda th: th.__name__)


class Changed(Case):
    """A module that `change(th, module)` is applied to."""

    def __init__(self, change: Callable[[Any, Any], Any], case: Case) -> None:
        super().__init__(
            case.name, *case.args, inputs=case.inputs, train=case.train, **case.options
        )
        self.change = change

    def __repr__(self) -> str:
        return f"{self.change.__doc__} of {super().__repr__()}"

    def make(self, th: Any, dtype: str) -> Any:
        module = super().make(th, dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            self.change(th, module)
        return module


LAYERS = (
    Case("Linear", 4, 3, inputs=[(5, 4)]),
    Case("Linear", 3, 5, inputs=[(2, 3)], bias=False),
    Case("Linear", 3, 3, inputs=[(2, 3)], train=False),
    Case("Conv1d", 2, 4, 3, inputs=[(2, 2, 6)]),
    Case("Conv2d", 2, 3, 2, inputs=[(1, 2, 4, 4)], train=False),
    Case("ConvTranspose1d", 3, 2, 2, inputs=[(2, 3, 4)]),
)


def changes(name: str, new: bool, **options: Any) -> Callable[[Any, Any], Any]:
    """``nn.utils.name(module, **options)``, or that of `parametrizations`, as a function."""

    def change(th: Any, module: Any) -> Any:
        utils = th.nn.utils
        return getattr(utils.parametrizations if new else utils, name)(module, **options)

    change.__doc__ = f"{'new' if new else 'old'} {name} with {options}"
    return change


def parametrized_twice(th: Any, module: Any) -> None:
    """two parametrizations"""
    utils = th.nn.utils
    utils.parametrizations.weight_norm(module)
    utils.parametrizations.spectral_norm(module, n_power_iterations=3)
    utils.parametrizations.weight_norm(module, "bias", dim=None)


CHANGES = [
    *(changes("weight_norm", new, dim=dim) for new in (True, False) for dim in (0, 1, -1, None)),
    *(
        changes("spectral_norm", new, **options)
        for new in (True, False)
        for options in ({}, {"dim": 1, "n_power_iterations": 4})
    ),
    *(
        changes("orthogonal", True, orthogonal_map=kind, use_trivialization=trivial)
        for kind in ("matrix_exp", "cayley", "householder")
        for trivial in (True, False)
    ),
]
CASES = [Changed(change, layer) for change in CHANGES for layer in LAYERS]
CASES += [Changed(parametrized_twice, LAYERS[i]) for i in (0, 3)]


@beside
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_changed_modules(case: Changed) -> None:
    check_module(case)


# ---------------------------------------------------------------- parametrizations


def symmetric(th: Any) -> Any:
    """A parametrization with a right inverse, by symmetric matrices."""

    class Symmetric(th.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).mT

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    return Symmetric()


def function(th: Any, forward: Callable[..., Any], **methods: Any) -> Any:
    """A module of this one function, without parameters."""
    members = {"forward": lambda self, *args: forward(*args)}
    members.update({k: staticmethod(f) for k, f in methods.items()})
    return type("F", (th.nn.Module,), members)()


@worlds
def test_assigning_goes_through_the_right_inverse(th: Any) -> None:
    utils = th.nn.utils.parametrize
    layer = th.nn.Linear(3, 3)
    original = layer.weight
    assert not utils.is_parametrized(layer)
    utils.register_parametrization(layer, "weight", symmetric(th))
    assert utils.is_parametrized(layer) and utils.is_parametrized(layer, "weight")
    assert not utils.is_parametrized(layer, "bias")
    assert utils.type_before_parametrizations(layer) is th.nn.Linear
    assert isinstance(layer, th.nn.Linear) and type(layer).__name__ == "ParametrizedLinear"
    assert layer.parametrizations.weight.original is original
    wanted = th.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])
    layer.weight = wanted
    assert th.equal(layer.weight, wanted)
    assert th.equal(layer.parametrizations.weight.original, wanted.triu())
    layer.weight.sum().backward()
    assert original.grad.tolist() == [[1, 2, 2], [0, 1, 2], [0, 0, 1]]


@worlds
@pytest.mark.parametrize("keep", [True, False])
def test_removing_keeps_the_parameter_object(th: Any, keep: bool) -> None:
    utils = th.nn.utils.parametrize
    layer = th.nn.Linear(2, 2)
    parameter = layer.weight
    start = parameter.detach().clone()
    utils.register_parametrization(layer, "weight", function(th, lambda x: 2 * x))
    utils.register_parametrization(layer, "bias", function(th, lambda x: 3 * x))
    utils.remove_parametrizations(layer, "weight", leave_parametrized=keep)
    assert layer.weight is parameter and type(layer) is not th.nn.Linear
    assert th.equal(layer.weight, start * (2 if keep else 1))
    utils.remove_parametrizations(layer, "bias")
    assert type(layer) is th.nn.Linear and list(layer.state_dict()) == ["weight", "bias"]


@worlds
def test_buffers_can_be_parametrized(th: Any) -> None:
    utils = th.nn.utils.parametrize
    module = th.nn.BatchNorm1d(2)
    utils.register_parametrization(module, "running_mean", function(th, lambda x: x + 1))
    assert module.running_mean.tolist() == [1, 1]
    assert dict(module.named_buffers())["parametrizations.running_mean.original"].tolist() == [0, 0]
    utils.remove_parametrizations(module, "running_mean")
    assert module.running_mean.tolist() == [1, 1] and "running_mean" in module._buffers


@worlds
def test_several_originals(th: Any) -> None:
    utils = th.nn.utils.parametrize
    layer = th.nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    product = function(th, lambda a, b: a * b, right_inverse=lambda x: (x.abs(), x.sign()))
    utils.register_parametrization(layer, "weight", product)
    names = [f"parametrizations.weight.original{i}" for i in (0, 1)]
    assert list(layer.state_dict()) == ["bias", *names] and th.equal(layer.weight, before)
    layer.weight = -before
    assert th.equal(layer.weight, -before)
    with pytest.raises(ValueError):
        utils.remove_parametrizations(layer, "weight", leave_parametrized=False)
    utils.remove_parametrizations(layer, "weight")
    assert isinstance(layer.weight, th.nn.Parameter) and th.equal(layer.weight, -before)


@worlds
def test_cached_values_live_as_long_as_the_outermost_context(th: Any) -> None:
    utils = th.nn.utils.parametrize
    calls = []
    layer = th.nn.Linear(2, 2)

    def counted(x: Any) -> Any:
        calls.append(0)
        return x * 1

    utils.register_parametrization(layer, "weight", function(th, counted), unsafe=True)
    with utils.cached():
        with utils.cached():
            first = layer.weight
        assert layer.weight is first
    assert len(calls) == 1
    assert layer.weight is not first and len(calls) == 2


@worlds
def test_transfer(th: Any) -> None:
    utils = th.nn.utils.parametrize
    source, target = th.nn.Linear(3, 3), th.nn.Linear(3, 3)
    utils.register_parametrization(source, "weight", symmetric(th))
    th.nn.utils.parametrizations.weight_norm(source, "bias")
    utils.transfer_parametrizations_and_params(source, target)
    assert th.equal(source.weight, target.weight) and th.equal(source.bias, target.bias)
    assert list(source.state_dict()) == list(target.state_dict())
    shared = target.parametrizations.weight.original
    assert shared is source.parametrizations.weight.original


def test_copies_share_nothing() -> None:
    """PyTorch's copies share a class, so that what is removed from one is gone from both."""
    utils = compat.nn.utils.parametrize
    layer = compat.nn.Linear(3, 3)
    utils.register_parametrization(layer, "weight", symmetric(compat))
    made = copy.deepcopy(layer)
    assert compat.equal(made.weight, layer.weight)
    made.weight = compat.eye(3)
    utils.remove_parametrizations(made, "weight")
    assert compat.equal(made.weight, compat.eye(3))
    assert compat.equal(layer.weight, layer.weight.T) and layer.weight[0, 1] != 0


def many(th: Any) -> Any:
    """Two functions of one value."""
    return function(th, lambda *args: args[0], right_inverse=lambda x: (x, x))


def register(th: Any, layer: Any, parametrization: Any, name: str = "weight") -> Any:
    return th.nn.utils.parametrize.register_parametrization(layer, name, parametrization)


def assign(module: Any, value: Any) -> Any:
    module.weight = value


# What raises, given the world and a `Linear(2, 3)`, and the type of the error.
BAD: dict[str, tuple[type[Exception], Callable[[Any, Any], Any]]] = {
    "no such tensor": (ValueError, lambda th, m: register(th, m, symmetric(th), "none")),
    "other shape": (ValueError, lambda th, m: register(th, m, function(th, lambda x: x.T))),
    "other dtype": (ValueError, lambda th, m: register(th, m, function(th, lambda x: x.double()))),
    "no tensor": (ValueError, lambda th, m: register(th, m, function(th, lambda x: 1))),
    "inverse is no tensor": (
        ValueError,
        lambda th, m: register(th, m, function(th, abs, right_inverse=lambda x: 1)),
    ),
    "inverse of other dtype": (
        ValueError,
        lambda th, m: register(th, m, function(th, abs, right_inverse=lambda x: x.double())),
    ),
    "inverse is a sequence of numbers": (
        ValueError,
        lambda th, m: register(th, m, function(th, abs, right_inverse=lambda x: [1, 2])),
    ),
    "second of other shape": (
        ValueError,
        lambda th, m: [register(th, m, function(th, f)) for f in (abs, lambda x: x.T)],
    ),
    "second of several": (ValueError, lambda th, m: [register(th, m, f(th)) for f in (many, many)]),
    "no functions": (
        ValueError,
        lambda th, m: th.nn.utils.parametrize.ParametrizationList([], m.weight),
    ),
    "no inverse": (
        RuntimeError,
        lambda th, m: [register(th, m, function(th, abs)), assign(m, th.ones(3, 2))],
    ),
    "removing nothing": (
        ValueError,
        lambda th, m: th.nn.utils.parametrize.remove_parametrizations(m, "weight"),
    ),
    "state": (
        RuntimeError,
        lambda th, m: [register(th, m, function(th, abs)), m.__getstate__()],
    ),
    "a parameter in its place": (
        KeyError,
        lambda th, m: [
            register(th, m, function(th, abs)),
            assign(m, th.nn.Parameter(th.ones(3, 2))),
        ],
    ),
    "orthogonal vector": (
        ValueError,
        lambda th, m: th.nn.utils.parametrizations.orthogonal(m, "bias"),
    ),
    "orthogonal map": (
        ValueError,
        lambda th, m: th.nn.utils.parametrizations.orthogonal(m, orthogonal_map="qr"),
    ),
    "orthogonal name": (ValueError, lambda th, m: th.nn.utils.parametrizations.orthogonal(m, "x")),
    "orthogonal of other shape": (
        ValueError,
        lambda th, m: assign(th.nn.utils.parametrizations.orthogonal(m), th.ones(2, 2)),
    ),
    "orthogonal without base": (
        NotImplementedError,
        lambda th, m: assign(
            th.nn.utils.parametrizations.orthogonal(
                m, orthogonal_map="cayley", use_trivialization=False
            ),
            th.ones(3, 2),
        ),
    ),
    "orthogonal complex": (
        ValueError,
        lambda th, m: th.nn.utils.parametrizations.orthogonal(
            th.nn.Linear(2, 3, dtype=th.complex64), orthogonal_map="householder"
        ),
    ),
    "spectral name": (ValueError, lambda th, m: th.nn.utils.parametrizations.spectral_norm(m, "x")),
    "spectral axis": (
        IndexError,
        lambda th, m: th.nn.utils.parametrizations.spectral_norm(m, dim=2),
    ),
    "spectral iterations": (
        ValueError,
        lambda th, m: th.nn.utils.parametrizations.spectral_norm(m, n_power_iterations=0),
    ),
    "weight norm name": (
        ValueError,
        lambda th, m: th.nn.utils.parametrizations.weight_norm(m, "x"),
    ),
    "weight norm axis": (
        IndexError,
        lambda th, m: th.nn.utils.parametrizations.weight_norm(m, dim=2),
    ),
    "old weight norm twice": (
        RuntimeError,
        lambda th, m: [th.nn.utils.weight_norm(m), th.nn.utils.weight_norm(m)],
    ),
    "old weight norm name": (AttributeError, lambda th, m: th.nn.utils.weight_norm(m, "x")),
    "old weight norm absent": (ValueError, lambda th, m: th.nn.utils.remove_weight_norm(m)),
    "old spectral norm twice": (
        RuntimeError,
        lambda th, m: [th.nn.utils.spectral_norm(m), th.nn.utils.spectral_norm(m)],
    ),
    "old spectral norm name": (KeyError, lambda th, m: th.nn.utils.spectral_norm(m, "x")),
    "old spectral iterations": (
        ValueError,
        lambda th, m: th.nn.utils.spectral_norm(m, n_power_iterations=0),
    ),
    "old spectral norm absent": (ValueError, lambda th, m: th.nn.utils.remove_spectral_norm(m)),
    "fused in training": (
        AssertionError,
        lambda th, m: th.nn.utils.fuse_linear_bn_eval(m, th.nn.BatchNorm1d(3)),
    ),
    "fused without statistics": (
        AssertionError,
        lambda th, m: th.nn.utils.fuse_linear_bn_eval(
            m.eval(), th.nn.BatchNorm1d(3, track_running_stats=False).eval()
        ),
    ),
    "fused features": (
        AssertionError,
        lambda th, m: th.nn.utils.fuse_linear_bn_eval(m.eval(), th.nn.BatchNorm1d(2).eval()),
    ),
    "skipped no module": (RuntimeError, lambda th, m: th.nn.utils.skip_init(int)),
    "skipped without device": (RuntimeError, lambda th, m: th.nn.utils.skip_init(th.nn.ReLU)),
}


@worlds
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("case", BAD)
def test_errors(th: Any, case: str) -> None:
    error, f = BAD[case]
    with pytest.raises(error) as found:
        f(th, th.nn.Linear(2, 3))
    assert found.type is error


# ---------------------------------------------------------------- what the weights are

MATRICES = ((4, 4), (5, 3), (3, 5), (2, 4, 3), (2, 3, 3))


def holder(th: Any, array: np.ndarray) -> Any:
    """A module that has only this weight."""
    module = th.nn.Module()
    module.weight = th.nn.Parameter(th.tensor(array))
    return module


def gram(array: np.ndarray) -> np.ndarray:
    """``Q^H Q``, or ``Q Q^H`` if Q is wide."""
    adjoint = array.conj().swapaxes(-1, -2)
    return adjoint @ array if array.shape[-2] >= array.shape[-1] else array @ adjoint


@worlds
@pytest.mark.parametrize("shape", MATRICES, ids=repr)
@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_orthogonal_matrices(th: Any, shape: tuple[int, ...], kind: str, dtype: str) -> None:
    if dtype == "complex128" and kind == "householder":
        return
    rng = np.random.default_rng(len(kind))
    start = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)
    one = np.broadcast_to(np.eye(min(shape[-2:])), gram(start).shape)
    module = th.nn.utils.parametrizations.orthogonal(holder(th, start), orthogonal_map=kind)
    first = module.weight.detach().numpy()
    np.testing.assert_allclose(gram(first), one, atol=1e-12)
    with th.no_grad():
        for p in module.parameters():
            p += 0.3 * th.tensor(rng.normal(size=shape) * (1 - np.eye(shape[-2], shape[-1])))
    moved = module.weight.detach().numpy()
    np.testing.assert_allclose(gram(moved), one, atol=1e-12)
    assert abs(moved - first).max() > 1e-3
    module.weight = th.tensor(first)
    np.testing.assert_allclose(module.weight.detach().numpy(), first, atol=1e-12)


@worlds
@pytest.mark.parametrize("shape", MATRICES, ids=repr)
def test_reflections_are_found_again(th: Any, shape: tuple[int, ...]) -> None:
    module = th.nn.utils.parametrizations.orthogonal(
        holder(th, np.random.default_rng(3).normal(size=shape)),
        orthogonal_map="householder",
        use_trivialization=False,
    )
    first = module.weight.detach().clone()
    np.testing.assert_allclose(gram(first.numpy())[..., 0, 0], 1)
    for value in (first, -first):
        module.weight = value
        np.testing.assert_allclose(module.weight.detach().numpy(), value.numpy(), atol=1e-12)


@worlds
@pytest.mark.parametrize("old", [True, False])
def test_spectral_norm_comes_to_one(th: Any, old: bool) -> None:
    th.manual_seed(1)
    utils = th.nn.utils
    layer = (utils if old else utils.parametrizations).spectral_norm(th.nn.Conv2d(2, 3, 2))
    for _ in range(100):
        layer(th.ones(1, 2, 3, 3))
    weight = layer.weight.detach().numpy().reshape(3, -1)
    assert np.linalg.norm(weight, 2) == pytest.approx(1, abs=1e-4)
    u = layer.state_dict()["weight_u" if old else "parametrizations.weight.0._u"].clone()
    layer.eval()(th.ones(1, 2, 3, 3))
    after = layer.state_dict()["weight_u" if old else "parametrizations.weight.0._u"]
    assert th.equal(u, after)


@worlds
def test_vectors_are_divided_by_their_norm(th: Any) -> None:
    layer = th.nn.utils.parametrizations.spectral_norm(th.nn.Linear(2, 5), "bias")
    assert float(layer.bias.norm().detach()) == pytest.approx(1)
    assert "parametrizations.bias.0._u" not in layer.state_dict()


# ---------------------------------------------------------------- the older hooks


@worlds
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm"])
def test_removed_hooks_leave_the_value(th: Any, name: str) -> None:
    utils = th.nn.utils
    layer = th.nn.Linear(3, 2)
    start = layer.weight.detach().clone()
    getattr(utils, name)(layer)
    x = th.ones(1, 3)
    layer(x)
    before = layer.eval()(x)
    assert getattr(utils, f"remove_{name}")(layer) is layer
    assert list(layer.state_dict()) in (["weight", "bias"], ["bias", "weight"])
    assert not layer._forward_pre_hooks and isinstance(layer.weight, th.nn.Parameter)
    np.testing.assert_allclose(layer(x).detach(), before.detach(), rtol=1e-6)
    if name == "weight_norm":
        np.testing.assert_allclose(layer.weight.detach(), start, rtol=1e-6)


def test_a_layer_without_its_hook_can_be_loaded() -> None:
    """PyTorch's still asks for the vectors of the removed spectral norm."""
    utils = compat.nn.utils
    layer = utils.remove_spectral_norm(utils.spectral_norm(compat.nn.Linear(3, 2)))
    assert str(layer.load_state_dict(layer.state_dict())) == "<All keys matched successfully>"


@worlds
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_new_weight_norm_loads_old_states(th: Any) -> None:
    utils = th.nn.utils
    with pytest.warns(FutureWarning, match="parametrizations"):
        old = th.nn.Sequential(utils.weight_norm(th.nn.Linear(3, 2)))
    new = th.nn.Sequential(utils.parametrizations.weight_norm(th.nn.Linear(3, 2)))
    new.load_state_dict(old.state_dict())
    assert th.equal(new[0].weight, old[0].weight)


# ---------------------------------------------------------------- fusion, and others


def normalised(th: Any, kind: str, n: int, affine: bool) -> Any:
    """Batch normalisation in evaluation, with statistics."""
    bn = getattr(th.nn, kind)(n, affine=affine).to(th.float64)
    rng = np.random.default_rng(n)
    bn.load_state_dict(
        {
            k: th.tensor(rng.uniform(0.5, 2, v.shape).astype(str(v.dtype)[6:]))
            for k, v in bn.state_dict().items()
        }
    )
    return bn.eval()


@worlds
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize(
    ("kind", "args", "bn", "shape"),
    [
        ("Conv1d", (2, 3, 2), "BatchNorm1d", (2, 2, 4)),
        ("Conv2d", (2, 3, 2), "BatchNorm2d", (2, 2, 4, 4)),
        ("ConvTranspose2d", (3, 2, 2), "BatchNorm2d", (2, 3, 4, 4)),
        ("Linear", (4, 3), "BatchNorm1d", (5, 4)),
    ],
)
def test_fused_layers_do_the_same(
    th: Any, kind: str, args: Any, bn: str, shape: Any, affine: bool, bias: bool
) -> None:
    if kind == "Linear" and not affine:
        return  # PyTorch refuses
    layer = getattr(th.nn, kind)(*args, bias=bias).to(th.float64).eval()
    norm = normalised(th, bn, 2 if "Transpose" in kind else 3, affine)
    x = th.tensor(np.random.default_rng(0).normal(size=shape))
    if kind == "Linear":
        fused = th.nn.utils.fuse_linear_bn_eval(layer, norm)
    else:
        fused = th.nn.utils.fuse_conv_bn_eval(layer, norm, "Transpose" in kind)
    np.testing.assert_allclose(fused(x).detach(), norm(layer(x)).detach(), rtol=1e-10, atol=1e-10)
    assert fused.weight.requires_grad and fused.bias.requires_grad == bias
    assert type(fused) is type(layer) and fused.weight is not layer.weight


@worlds
def test_stateless_call(th: Any) -> None:
    layer = th.nn.Linear(2, 1)
    before = layer.weight
    with pytest.warns(FutureWarning):
        found = th.nn.utils.stateless.functional_call(
            layer, {"weight": th.ones(1, 2), "bias": th.zeros(1)}, th.ones(1, 2)
        )
    assert found.tolist() == [[2]] and layer.weight is before


@worlds
def test_skipped_initialisation_draws_nothing(th: Any) -> None:
    th.manual_seed(3)
    layer = th.nn.utils.skip_init(th.nn.Linear, 3, 2, dtype=th.float64)
    assert layer.weight.shape == (2, 3) and layer.weight.dtype == th.float64
    found = th.rand(3)
    th.manual_seed(3)
    assert th.equal(found, th.rand(3))


@worlds
@pytest.mark.parametrize("size", [0.25, 4.0])
def test_clipping_by_a_known_norm(th: Any, size: float) -> None:
    made = [th.ones(3, requires_grad=True) for _ in range(3)]
    for x in made[:2]:
        (size * x).sum().backward()
    total = th.nn.utils.get_total_norm([x.grad for x in made[:2]])
    assert float(total) == pytest.approx(size * 6**0.5)
    th.nn.utils.clip_grads_with_norm_(made, 1.5, total)
    expected = min(size, 1.5 / 6**0.5)
    for x in made[:2]:
        np.testing.assert_allclose(x.grad, [expected] * 3, rtol=1e-5)
    assert made[2].grad is None


@worlds
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm", "orthogonal"])
def test_under_transforms(th: Any, name: str, old: bool, training: bool) -> None:
    """The gradient by `func.grad` is that of `backward`, and nothing traced is left behind."""
    if old and name == "orthogonal":
        return
    utils = th.nn.utils if old else th.nn.utils.parametrizations
    layer = getattr(utils, name)(th.nn.Linear(3, 3).to(th.float64)).train(training)
    x = th.tensor(np.random.default_rng(1).normal(size=(2, 3)))
    if training:
        for _ in range(300):  # until the power method stands still
            layer(x)
    parameters = {k: p.detach() for k, p in layer.named_parameters()}

    def loss(given: Any) -> Any:
        return (th.func.functional_call(layer, given, (x,)) ** 2).sum()

    found = th.func.grad(loss)(parameters)
    (layer(x) ** 2).sum().backward()
    for k, p in layer.named_parameters():
        np.testing.assert_allclose(found[k].numpy(), p.grad.numpy(), rtol=1e-6, atol=1e-8)
