"""Modules in `compat.func`: calls with other parameters, stacked modules, batch norm."""

from __future__ import annotations

from typing import Any

import pytest

import compat
import compat.functorch

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning"
)


@pytest.fixture(params=["compat", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    """The module: ours, and PyTorch where it is installed."""
    return compat if request.param == "compat" else pytest.importorskip("torch")


def tied(torch: Any) -> Any:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Linear(2, 2, bias=False)
            self.b = torch.nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x: Any) -> Any:
            return self.a(x) + self.b(x)

    return Tied()


def counting(torch: Any) -> Any:
    class Counting(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", torch.zeros(1))
            self.scale = torch.ones(1)

        def forward(self, x: Any) -> Any:
            self.n = self.n + 1
            return x * self.scale + self.n

    return Counting()


def test_tied_weights(torch: Any) -> None:
    m, call = tied(torch), torch.func.functional_call
    x, w = torch.ones(1, 2), torch.eye(2)
    for names in (["a.weight"], ["b.weight"], ["a.weight", "b.weight"]):
        assert call(m, dict.fromkeys(names, w), x).tolist() == [[2.0, 2.0]]
        assert call(m, dict.fromkeys(names, w), x, strict=True).tolist() == [[2.0, 2.0]]
    different = {"a.weight": w, "b.weight": 2 * w}
    with pytest.raises(ValueError, match="which are tied"):
        call(m, different, x)
    assert call(m, different, x, tie_weights=False).tolist() == [[3.0, 3.0]]
    alone = call(m, {"b.weight": w}, x, tie_weights=False)
    assert torch.equal(alone, x + m.a(x))
    assert m.b.weight is m.a.weight


def test_names_that_the_module_does_not_have(torch: Any) -> None:
    m, call = torch.nn.Linear(2, 2), torch.func.functional_call
    given = {**dict(m.named_parameters()), "other": torch.ones(1)}
    assert torch.equal(call(m, given, torch.ones(1, 2)), m(torch.ones(1, 2)))
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\)"):
        call(m, given, torch.ones(1, 2), strict=True)
    with pytest.raises(RuntimeError, match=r"Missing key\(s\)"):
        call(m, {"weight": m.weight}, torch.ones(1, 2), strict=True)


def test_what_is_no_dict_of_tensors(torch: Any) -> None:
    m, call = torch.nn.Linear(2, 2), torch.func.functional_call
    parameters = dict(m.named_parameters())
    for given in (3, [parameters, 1], (parameters, {"bias": m.bias})):
        with pytest.raises(ValueError, match="dict"):
            call(m, given, torch.ones(1, 2))
    with pytest.raises(TypeError):
        call(m, {"weight": 3}, torch.ones(1, 2))


def test_a_module_with_other_parameters_for_a_while(torch: Any) -> None:
    layer, given = torch.nn.Linear(2, 1), {"weight": torch.ones(1, 2)}
    before = layer.weight
    with torch.nn.utils.stateless._reparametrize_module(layer, given):
        assert layer.weight is given["weight"]
        layer._parameters["weight"] = torch.zeros(1, 2)
    assert layer.weight is before and given["weight"].tolist() == [[0, 0]]


def test_what_the_module_puts_in_place_is_handed_back(torch: Any) -> None:
    m = counting(torch)
    given = {"n": torch.zeros(1), "scale": torch.full((1,), 3.0)}
    assert torch.func.functional_call(m, given, torch.ones(1)).tolist() == [4.0]
    assert given["n"].tolist() == [1.0]
    assert (m.n.tolist(), m.scale.tolist()) == ([0.0], [1.0])


def test_a_name_that_the_module_does_not_have_is_an_attribute_for_the_call(torch: Any) -> None:
    class Shifted(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x + self.shift + len(list(self.parameters()))

    m, call = Shifted(), torch.func.functional_call
    for shift, expected in ((torch.ones(1), 2.0), (torch.nn.Parameter(torch.ones(1)), 3.0)):
        given = {"shift": shift}
        assert call(m, given, torch.ones(1)).tolist() == [expected]
        assert given["shift"] is shift
        assert not hasattr(m, "shift") and not m._parameters


def test_a_parameter_in_place_of_a_plain_tensor_leaves_nothing_behind() -> None:
    m = counting(compat)
    before = m.scale
    given = {"scale": compat.nn.Parameter(compat.tensor([3.0]))}
    assert compat.func.functional_call(m, given, compat.ones(1)).tolist() == [4.0]
    assert m.scale is before and not m._parameters


def test_two_names_of_one_place_leave_nothing_behind() -> None:
    m = compat.nn.Sequential(compat.nn.Linear(1, 1))
    m.append(m[0])
    before = m[0].weight
    given = {"0.weight": compat.zeros(1, 1), "1.weight": compat.ones(1, 1)}
    compat.func.functional_call(m, given, compat.ones(1), tie_weights=False)
    assert m[0].weight is before


def test_none_takes_a_tensor_away(torch: Any) -> None:
    m = torch.nn.Linear(1, 1)
    given = {"weight": torch.ones(1, 1), "bias": None}
    assert torch.func.functional_call(m, given, torch.ones(1)).tolist() == [1.0]
    assert m.bias is not None


def test_modules_that_hold_each_other(torch: Any) -> None:
    m = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False))
    m[0].above = m
    given = {"0.above.0.weight": torch.full((1, 1), 3.0)}
    found = torch.func.functional_call(m, given, torch.ones(1), tie_weights=False)
    assert found.tolist() == [3.0]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("other.weight", AttributeError),
        ("in_features.weight", TypeError),
        ("in_features", TypeError),
        ("", KeyError),
    ],
)
def test_names_that_lead_nowhere(torch: Any, name: str, error: type[Exception]) -> None:
    m = torch.nn.Linear(1, 1)
    before = dict(m.named_parameters())
    with pytest.raises(error):
        torch.func.functional_call(
            m, {"weight": torch.ones(1, 1), name: torch.ones(1)}, torch.ones(1)
        )
    assert all(value is before[k] for k, value in m.named_parameters())


def test_modules_that_do_not_stack(torch: Any) -> None:
    stack, new = torch.func.stack_module_state, torch.nn.Linear
    with pytest.raises(RuntimeError, match="at least one model"):
        stack([])
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        stack([new(2, 2), new(2, 2).eval()])
    frozen = new(2, 2)
    frozen.weight.requires_grad_(False)
    with pytest.raises(
        RuntimeError, match=r"weight from each model to have the same .requires_grad"
    ):
        stack([new(2, 2), frozen])
    parameters, _ = stack([frozen, frozen])
    assert [v.requires_grad for v in parameters.values()] == [False, True]


def test_batch_norm_in_training_under_vmap(torch: Any) -> None:
    models = [torch.nn.BatchNorm1d(3) for _ in range(2)]
    parameters, buffers = torch.func.stack_module_state(models)
    x = torch.arange(30.0).reshape(2, 5, 3)

    def run(p: Any, b: Any, x: Any) -> Any:
        return torch.func.functional_call(models[0], (p, b), (x,))

    found = torch.func.vmap(run)(parameters, buffers, x)
    torch.func.vmap(torch.func.grad(lambda *args: run(*args).sum()))(parameters, buffers, x)
    for i in range(2):
        alone = torch.nn.BatchNorm1d(3)
        torch.testing.assert_close(found[i], alone(x[i]))
        alone(x[i])
        torch.testing.assert_close(buffers["running_mean"][i], alone.running_mean)
        torch.testing.assert_close(buffers["running_var"][i], alone.running_var)
        assert buffers["num_batches_tracked"][i] == 2
    assert models[0].running_mean.tolist() == [0.0, 0.0, 0.0]


def test_batch_norm_with_statistics_for_one(torch: Any) -> None:
    m, x = torch.nn.BatchNorm1d(3), torch.arange(30.0).reshape(2, 5, 3)
    with pytest.raises((RuntimeError, ValueError)):
        torch.func.vmap(m)(x)
    assert m.running_mean.tolist() == [0.0, 0.0, 0.0]
    assert m.eval()(x[0]).shape == (5, 3)
    both = torch.nn.Sequential(torch.nn.Linear(3, 3), m).train()
    assert torch.func.replace_all_batch_norm_modules_(both) is both
    assert m.running_mean is None
    assert not m.track_running_stats
    assert torch.func.vmap(both)(x).shape == (2, 5, 3)


@pytest.fixture(params=["compat", "torch"])
def old(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """Tensors, and what is `functorch` for them."""
    if request.param == "compat":
        return compat, compat.functorch
    return pytest.importorskip("torch"), pytest.importorskip("functorch")


def test_modules_as_functions(old: tuple[Any, Any]) -> None:
    torch, functorch = old
    f, params, buffers = functorch.make_functional_with_buffers(torch.nn.BatchNorm1d(2))
    x = torch.tensor([[1.0, 0.0], [3.0, 4.0]])
    assert f(params, buffers, x).round().tolist() == [[-1.0, -1.0], [1.0, 1.0]]
    assert buffers[0].tolist() == pytest.approx([0.2, 0.2])
    with pytest.raises(RuntimeError, match="has buffers"):
        functorch.make_functional(torch.nn.BatchNorm1d(2))
    g, params = functorch.make_functional(tied(torch))
    rows = functorch.vmap(functorch.grad(lambda p, x: g(p, x).sum()), (None, 0))(params, x)
    assert [r.tolist() for r in rows] == [[[[2.0, 0.0]] * 2, [[6.0, 8.0]] * 2]]
    _, constants = functorch.make_functional(tied(torch), disable_autograd_tracking=True)
    assert params[0].requires_grad and not constants[0].requires_grad


def test_ensembles(old: tuple[Any, Any]) -> None:
    torch, functorch = old
    models = [torch.nn.Linear(2, 1) for _ in range(3)]
    f, params, buffers = functorch.combine_state_for_ensemble(models)
    x = torch.ones(4, 2)
    out = functorch.vmap(f, (0, 0, None))(params, buffers, x)
    assert not out.requires_grad
    assert torch.equal(out, torch.stack([m(x) for m in models]).detach())
    with pytest.raises(RuntimeError, match="at least one"):
        functorch.combine_state_for_ensemble([])
