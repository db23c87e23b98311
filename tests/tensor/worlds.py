"""`compat.compile`: a compiled function and the same function as it is leave the same world behind.

Two worlds are made alike. The code runs as it is in one and compiled in the other, and after each call
what it returned, the tensors, their gradients and versions, and the optimizer's state are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

import compat as torch
from funcgrad import tree

World = SimpleNamespace

EXACT = 1e-11


def assert_same(found: Any, expected: Any, where: str = "", tolerance: float = EXACT) -> None:
    """Compare trees of tensors, arrays and plain values, to the last few bits."""
    leaves, treedef = tree.flatten(found)
    others, other_def = tree.flatten(expected)
    assert treedef == other_def, where
    for a, b in zip(leaves, others, strict=True):
        if isinstance(b, torch.Tensor):
            assert isinstance(a, torch.Tensor) and a.dtype == b.dtype, where
            assert type(a) is type(b) and a.requires_grad == b.requires_grad, where
            assert a.shape == b.shape and a.is_leaf == b.is_leaf, where
            a, b = a.detach().numpy(), b.detach().numpy()
            rtol = max(tolerance, 1e-5) if b.dtype.itemsize < 8 else tolerance
            np.testing.assert_allclose(a, b, rtol, rtol, err_msg=where)
        else:
            assert type(a) is type(b) and a == b, where


def state(world: World, versions: bool = True) -> Any:
    """All that the code of a world may change."""
    tensors = tensors_of(world)
    found: dict[str, Any] = {"tensors": tensors, "grads": [t.grad for t in tensors]}
    if versions:
        found["versions"] = [t._version for t in tensors]
    if hasattr(world, "optimizer"):
        found["optimizer"] = world.optimizer.state_dict()
    return found


def tensors_of(world: World) -> list[Any]:
    found = list(getattr(world, "tensors", []))
    if hasattr(world, "model"):
        found += [*world.model.parameters(), *world.model.buffers()]
    return found


Change = Callable[[World], Any]


def check(
    make: Callable[[], World],
    code: Callable[..., Any],
    changes: list[Change | None],
    arguments: Callable[[int], tuple[Any, ...]] = lambda i: (),
    results: bool = True,
    tolerance: float = EXACT,
    **options: Any,
) -> Any:
    """Run ``code(world, *arguments)`` in both worlds, after each of the changes; the compiled code.

    `results`: whether what is returned has the same history, too.
    """
    eager, world = make(), make()
    compiled = torch.compile(lambda *args: code(world, *args), **options)
    for i, change in enumerate(changes):
        if change is not None:
            change(eager)
            change(world)
        xs, ys = arguments(i), arguments(i)
        expected, found = code(eager, *xs), compiled(*ys)
        where = f"call {i}: {compiled.explain()}"
        if not results:
            expected, found = (detached(x) for x in (expected, found))
        assert_same(found, expected, where, tolerance)
        assert_same(state(world), state(eager), where, tolerance)
        assert_same(ys, xs, where)
        for a, b in zip(tree.flatten(ys)[0], tree.flatten(xs)[0], strict=True):
            if isinstance(a, torch.Tensor):
                assert a._version == b._version, where
                assert_same(a.grad, b.grad, where)
    return compiled


def detached(x: Any) -> Any:
    leaves, treedef = tree.flatten(x)
    return tree.unflatten(
        treedef, [a.detach() if isinstance(a, torch.Tensor) else a for a in leaves]
    )


def data(i: int, n: int = 4, dtype: Any = np.float64) -> Any:
    return torch.tensor(np.random.default_rng(i).normal(size=(n, 3)).astype(dtype))


# ---------------------------------------------------------------- training


def network(optimizer: str | None = None) -> Callable[[], World]:
    def make() -> World:
        torch.manual_seed(0)
        layers = torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1)
        world = World(model=torch.nn.Sequential(*layers).double(), flag=True, log=[], count=0)
        if optimizer is not None:
            world.optimizer = OPTIMIZERS[optimizer](world.model.parameters())
        return world

    return make


def train(world: World, x: Any) -> Any:
    world.optimizer.zero_grad()
    loss = ((world.model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    loss.backward()
    world.optimizer.step()
    return loss


SGD, Adam, AdamW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "sgd": lambda p: SGD(p, lr=0.1),
    "momentum": lambda p: SGD(p, lr=0.1, momentum=0.9, dampening=0.1),
    "nesterov": lambda p: SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    "maximize": lambda p: SGD(p, lr=0.001, maximize=True),
    "adam": lambda p: Adam(p, lr=0.1),
    "adam weight_decay": lambda p: Adam(p, lr=0.1, weight_decay=0.1),
    "adamw": lambda p: AdamW(p, lr=0.1),
    "amsgrad": lambda p: AdamW(p, lr=0.1, amsgrad=True, betas=(0.5, 0.6)),
    "tensor lr": lambda p: SGD(p, lr=torch.tensor(0.1)),
}


def one(i: int) -> tuple[Any, ...]:
    return (data(i),)


def assert_compiled(compiled: Any) -> None:
    assert not compiled.explain().startswith("0 programs"), compiled.explain()
