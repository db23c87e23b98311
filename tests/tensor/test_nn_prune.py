"""Pruning: masks, states, outputs and gradients beside PyTorch's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from modules import torch

import compat

beside = pytest.mark.skipif(torch is None, reason="compares with PyTorch")
if torch is not None:
    importlib.import_module("torch.nn.utils.prune")  # `torch` alone does not load it

WORLDS = [compat] if torch is None else [compat, torch]
worlds = pytest.mark.parametrize("th", WORLDS, ids=lambda th: th.__name__)


def pruned_globally(th: Any, net: Any) -> Any:
    prune = th.nn.utils.prune
    return prune.global_unstructured(
        [(net[0], "weight"), (net[1], "weight"), (net[1], "bias")], prune.L1Unstructured, amount=0.4
    )


# What prunes a Linear(4, 5) and a Linear(5, 3), with no choice.
PRUNINGS: dict[str, Callable[[Any, Any], Any]] = {
    "part": lambda th, net: th.nn.utils.prune.l1_unstructured(net[0], "weight", 0.3),
    "number": lambda th, net: th.nn.utils.prune.l1_unstructured(net[0], "weight", 7),
    "nothing": lambda th, net: th.nn.utils.prune.l1_unstructured(net[0], "weight", 0),
    "all": lambda th, net: th.nn.utils.prune.l1_unstructured(net[0], "weight", 1.0),
    "scores": lambda th, net: th.nn.utils.prune.l1_unstructured(
        net[0], "weight", 3, importance_scores=th.arange(20.0).reshape(5, 4)
    ),
    "rows": lambda th, net: th.nn.utils.prune.ln_structured(net[0], "weight", 2, 2, 0),
    "columns": lambda th, net: th.nn.utils.prune.ln_structured(net[1], "weight", 0.5, 1, -1),
    "mask": lambda th, net: th.nn.utils.prune.custom_from_mask(
        net[1], "bias", th.tensor([True, False, True])
    ),
    "identity": lambda th, net: th.nn.utils.prune.identity(net[0], "bias"),
    "elements twice": lambda th, net: [
        th.nn.utils.prune.l1_unstructured(net[0], "weight", 0.5) for _ in range(2)
    ],
    "rows, elements, columns": lambda th, net: [
        th.nn.utils.prune.ln_structured(net[0], "weight", 1, 2, 0),
        th.nn.utils.prune.l1_unstructured(net[0], "weight", 0.25),
        th.nn.utils.prune.ln_structured(net[0], "weight", 1, float("inf"), 1),
    ],
    "rows twice": lambda th, net: [
        th.nn.utils.prune.ln_structured(net[0], "weight", 2, 2, 0) for _ in range(2)
    ],
    "globally": pruned_globally,
    "globally twice": lambda th, net: [pruned_globally(th, net) for _ in range(2)],
    "removed": lambda th, net: th.nn.utils.prune.remove(
        th.nn.utils.prune.l1_unstructured(net[0], "weight", 0.5), "weight"
    ),
}


def two_layers(th: Any) -> Any:
    """Two linear layers whose weights are the same in both worlds."""
    net = th.nn.Sequential(th.nn.Linear(4, 5), th.nn.Linear(5, 3)).to(th.float64)
    rng = np.random.default_rng(5)
    net.load_state_dict(
        {k: th.tensor(rng.normal(size=v.shape)) for k, v in net.state_dict().items()}
    )
    return net


def pruned_outcome(th: Any, name: str) -> dict[str, Any]:
    """The state, the output and the gradients of a pruned net."""
    net = two_layers(th)
    PRUNINGS[name](th, net)
    out = net(th.ones(2, 4, dtype=th.float64))
    (out * out).sum().backward()
    found = {k: v.numpy() for k, v in net.state_dict().items()}
    found |= {f"{k}.grad": p.grad.numpy() for k, p in net.named_parameters()}
    return {
        **found,
        "out": out.detach().numpy(),
        "pruned": np.array(th.nn.utils.prune.is_pruned(net)),
    }


@beside
@pytest.mark.parametrize("name", PRUNINGS)
def test_pruning_is_pytorchs(name: str) -> None:
    found, expected = pruned_outcome(compat, name), pruned_outcome(torch, name)
    assert list(found) == list(expected)
    for key, value in expected.items():
        assert found[key].dtype == value.dtype
        np.testing.assert_allclose(found[key], value, rtol=1e-10, atol=1e-12, err_msg=key)


@worlds
def test_random_pruning_prunes_that_many(th: Any) -> None:
    prune = th.nn.utils.prune
    net = two_layers(th)
    prune.random_unstructured(net[0], "weight", 0.5)
    prune.random_unstructured(net[0], "weight", 5)
    prune.random_structured(net[1], "weight", 2, dim=1)
    assert (net[0].weight_mask == 0).sum() == 15
    assert sorted(net[1].weight_mask.sum(0).tolist()) == [0, 0, 3, 3, 3]
    assert sorted(set(net[1].weight_mask.flatten().tolist())) == [0, 1]


@worlds
def test_own_methods_of_pruning(th: Any) -> None:
    prune: Any = th.nn.utils.prune
    Method: Any = prune.BasePruningMethod

    class EveryOther(Method):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    net = two_layers(th)
    EveryOther.apply(net[1], "bias")
    assert net[1].bias_mask.tolist() == [0, 1, 0]
    EveryOther.apply(net[1], "bias")
    assert net[1].bias_mask.tolist() == [0, 0, 0] and not net[1].bias.any()
    assert EveryOther().prune(th.ones(5)).tolist() == [0, 1, 0, 1, 0]


def prune_error(error: type[Exception], f: Callable[[Any, Any], Any]) -> Any:
    return error, lambda th, layer: f(th.nn.utils.prune, layer)


BAD_PRUNINGS: dict[str, tuple[type[Exception], Callable[[Any, Any], Any]]] = {
    "no name": prune_error(AttributeError, lambda p, m: p.l1_unstructured(m, "x", 1)),
    "a word": prune_error(TypeError, lambda p, m: p.l1_unstructured(m, "weight", "all")),
    "negative": prune_error(ValueError, lambda p, m: p.l1_unstructured(m, "weight", -1)),
    "above one": prune_error(ValueError, lambda p, m: p.random_unstructured(m, "weight", 1.5)),
    "too many": prune_error(ValueError, lambda p, m: p.l1_unstructured(m, "weight", 7)),
    "rows of a vector": prune_error(ValueError, lambda p, m: p.ln_structured(m, "bias", 1, 2, 0)),
    "axis": prune_error(IndexError, lambda p, m: p.random_structured(m, "weight", 1, 2)),
    "mask": prune_error(AssertionError, lambda p, m: p.custom_from_mask(m, "weight", m.bias)),
    "scores": prune_error(
        AssertionError, lambda p, m: p.l1_unstructured(m, "weight", 1, importance_scores=m.bias)
    ),
    "not pruned": prune_error(ValueError, lambda p, m: p.remove(m, "weight")),
    "no pairs": prune_error(TypeError, lambda p, m: p.global_unstructured(1, p.L1Unstructured)),
    "structured globally": prune_error(
        TypeError,
        lambda p, m: p.global_unstructured([(m, "weight")], p.LnStructured, amount=1, n=2),
    ),
    "no method": prune_error(TypeError, lambda p, m: p.PruningContainer().add_pruning_method(1)),
}


@worlds
@pytest.mark.parametrize("case", BAD_PRUNINGS)
def test_errors_of_pruning(th: Any, case: str) -> None:
    error, f = BAD_PRUNINGS[case]
    layer = th.nn.Linear(2, 3)
    with pytest.raises(error) as found:
        f(th, layer)
    assert found.type is error
    assert list(layer.state_dict()) in (["weight", "bias"], ["bias", "weight"])
