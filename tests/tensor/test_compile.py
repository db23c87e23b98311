"""Training steps under `compat.compile`, and changes between the calls; see `worlds.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import (
    OPTIMIZERS,
    Change,
    World,
    assert_compiled,
    assert_same,
    check,
    data,
    network,
    one,
    train,
)

import compat as torch


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_step(optimizer: str) -> None:
    compiled = check(network(optimizer), train, [None] * 8, one, results=False)
    assert compiled.explain() in ("1 programs", "2 programs")


def accumulate(world: World, x: Any) -> Any:
    loss = world.model(x).sum()
    loss.backward()
    return loss


def zero_in_place(world: World, x: Any) -> Any:
    world.optimizer.zero_grad(set_to_none=False)
    loss = world.model(x).pow(2).sum()
    loss.backward()
    world.optimizer.step()
    return loss


def by_flag(world: World, x: Any) -> Any:
    world.model(x).pow(2).mean().backward()
    if world.flag:
        world.optimizer.step()
        world.optimizer.zero_grad()


def twice(world: World, x: Any) -> Any:
    world.model(x).sum().backward()
    world.model(x * x).mean().backward()


def gradients(world: World, x: Any) -> Any:
    return torch.autograd.grad((world.model(x) ** 2).mean(), list(world.model.parameters()))


STEPS = {f.__name__: f for f in (train, accumulate, zero_in_place, by_flag, twice, gradients)}


@pytest.mark.parametrize("code", STEPS.values(), ids=STEPS)
def test_parts_of_a_step(code: Any) -> None:
    assert_compiled(check(network("momentum"), code, [None] * 6, one, results=False))


def clip_norm(world: World, x: Any) -> Any:
    accumulate(world, x)
    return torch.nn.utils.clip_grad_norm_(world.model.parameters(), 0.5)


def clip_value(world: World, x: Any) -> Any:
    accumulate(world, x)
    torch.nn.utils.clip_grad_value_(world.model.parameters(), 0.5)


def detached_write(world: World, x: Any) -> Any:
    world.model[0].weight.data.mul_(x.mean())


def counts(world: World, x: Any) -> Any:
    world.count += 1
    world.model(x).sum().backward()


def logs(world: World, x: Any) -> Any:
    loss = accumulate(world, x)
    world.log.append(loss.detach())


def keeps(world: World, x: Any) -> Any:
    accumulate(world, x)
    world.kept = x.sum()


def schedules(world: World, x: Any) -> Any:
    train(world, x)
    world.optimizer.param_groups[0]["lr"] *= 0.5


def branches(world: World, x: Any) -> Any:
    return x * 2 if x.sum() > 0 else x + 1


def reads(world: World, x: Any) -> Any:
    return x.sum().item()


def seeds(world: World, x: Any) -> Any:
    torch.manual_seed(0)
    return torch.nn.functional.dropout(x, 0.5)


def constant_inside(world: World, x: Any) -> Any:
    with torch.no_grad():
        y = world.model[0].weight * 2
    return (y * world.model[0].weight).sum() * x


AS_IT_IS = {
    f.__name__: f
    for f in (
        *(clip_norm, clip_value, detached_write, counts, logs, keeps, schedules, branches),
        *(reads, seeds, constant_inside),
    )
}


@pytest.mark.parametrize("code", AS_IT_IS.values(), ids=AS_IT_IS)
def test_code_that_is_right_without_a_program(code: Any) -> None:
    check(network("sgd"), code, [None] * 5, one, results=False)
    eager, world = network("sgd")(), network("sgd")()
    compiled = torch.compile(lambda x: code(world, x))
    for i in range(4):
        code(eager, data(i))
        compiled(data(i))
        assert_same(world.log, eager.log)
        assert world.count == eager.count and hasattr(world, "kept") == hasattr(eager, "kept")
        if hasattr(world, "kept"):
            assert_same(world.kept, eager.kept)
            del world.kept


@pytest.mark.parametrize("code", [branches, reads, seeds], ids=lambda f: f.__name__)
def test_fullgraph(code: Any) -> None:
    compiled = torch.compile(lambda x: code(None, x), fullgraph=True)
    compiled(data(0))
    with pytest.raises(RuntimeError, match="fullgraph"):
        compiled(data(1))
    free = torch.compile(lambda x: code(None, x))
    for i in range(3):
        free(data(i))
    assert "runs as it is" in free.explain()


# ---------------------------------------------------------------- the world changes


def group(**options: Any) -> Change:
    return lambda world: world.optimizer.param_groups[0].update(options)


def weight(change: Callable[[Any], Any]) -> Change:
    return lambda world: change(world.model[0].weight)


def replace_parameter(world: World) -> None:
    world.model[0].weight = torch.nn.Parameter(torch.full((5, 3), 0.3).double())


def replace_layer(world: World) -> None:
    world.model[2] = torch.nn.Linear(5, 1).double()
    torch.nn.init.ones_(world.model[2].weight)
    torch.nn.init.ones_(world.model[2].bias)


def set_data(w: Any) -> None:
    w.data = torch.full((5, 3), 0.25).double()


def fill(w: Any) -> None:
    with torch.no_grad():
        w.fill_(0.5)


def set_grad(w: Any) -> None:
    w.grad = torch.ones(5, 3).double()


def grad_is_data(w: Any) -> None:
    w.grad = w.detach()


def hook_gradient(world: World) -> None:
    world.hook = world.model[0].weight.requires_grad_().register_hook(lambda g: g * 2)


def hook_forward(world: World) -> None:
    world.hook = world.model[0].register_forward_hook(lambda m, xs, y: y * 2)


def double_gradient(p: torch.Tensor) -> None:
    p.grad.mul_(2)


def hook_after(world: World) -> None:
    weight = world.model[0].weight.requires_grad_()
    world.hook = weight.register_post_accumulate_grad_hook(double_gradient)


def unhook(world: World) -> None:
    if hasattr(world, "hook"):
        world.hook.remove()


def set_layer(world: World) -> None:
    world.model[1] = torch.nn.ReLU() if type(world.model[1]) is torch.nn.Tanh else torch.nn.Tanh()


def set_flag(world: World) -> None:
    world.flag = not world.flag


CHANGES: dict[str, Change] = {
    "lr": group(lr=0.01),
    "lr back": group(lr=0.1),
    "momentum": group(momentum=0.5),
    "no momentum": group(momentum=0.0),
    "freeze": weight(lambda w: w.requires_grad_(False)),
    "thaw": weight(lambda w: w.requires_grad_(True)),
    "replace parameter": replace_parameter,
    "replace layer": replace_layer,
    "replace activation": set_layer,
    "data": weight(set_data),
    "fill": weight(fill),
    "grad": weight(set_grad),
    "grad is data": weight(grad_is_data),
    "no grads": lambda world: world.model.zero_grad(),
    "zero grads": lambda world: world.model.zero_grad(set_to_none=False),
    "hook a gradient": hook_gradient,
    "hook a module": hook_forward,
    "hook after": hook_after,
    "unhook": unhook,
    "flag": set_flag,
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("code", [train, accumulate, by_flag], ids=lambda f: f.__name__)
def test_changes_are_seen(code: Any, name: str) -> None:
    change = CHANGES[name]
    check(
        network("momentum"), code, [None] * 3 + [change] + [None] * 3 + [change], one, results=False
    )


# A gradient that is the data shares its version counter, and traced additions count none.
NAMES = sorted(CHANGES.keys() - {"grad is data"})


@given(
    st.sampled_from([train, accumulate, by_flag, zero_in_place]),
    st.lists(st.none() | st.sampled_from(NAMES), min_size=3, max_size=12),
)
def test_any_sequence_of_changes(code: Any, names: list[str | None]) -> None:
    changes = [None if n is None else CHANGES[n] for n in names]
    check(network("momentum"), code, [None, None, None, *changes], one, results=False)


@pytest.mark.parametrize("values", [[2.0, 3.0], [0.0, -0.0], [1, True], [2, 2.0]], ids=str)
def test_numbers_that_a_function_closes_over_or_is_given(values: list[Any]) -> None:
    for code in (
        lambda world, x, k: torch.atan2(x * 0, torch.ones(1) * k),
        lambda world, x, k: {"scaled": x * k, "number": k},
    ):
        order = [values[i] for i in (0, 0, 0, 1, 1, 1, 0, 0)]
        compiled = check(World, code, [None] * 8, lambda i: (data(i), order[i]))  # noqa: B023
        assert_compiled(compiled)
    k = values[0]
    compiled = torch.compile(lambda x: torch.atan2(x * 0, torch.ones(1) * k) + x * k)
    for i, v in enumerate(order):
        k = v
        assert_same(compiled(data(i)), torch.atan2(data(i) * 0, torch.ones(1) * v) + data(i) * v)


def test_optimizer_hooks_run() -> None:
    world, calls = network("sgd")(), []
    compiled = torch.compile(lambda x: train(world, x))
    for i in range(3):
        compiled(data(i))
    world.optimizer.register_step_post_hook(lambda *args: calls.append(1))
    for i in range(3):
        compiled(data(i))
    assert len(calls) == 3 and "hooks" in compiled.explain()


@pytest.mark.parametrize(
    "options",
    [{"backend": name} for name in torch.compiler.list_backends()]
    + [
        {"backend": "inductor", "mode": mode, "fullgraph": True, "dynamic": dynamic}
        for mode in ("default", "reduce-overhead", "max-autotune")
        for dynamic in (None, True, False)
    ],
)
def test_pytorchs_options_are_taken(options: Any) -> None:
    f = torch.compile(lambda x: (x * 2).sin(), **options)
    x = torch.ones(3)
    for _ in range(3):
        assert torch.equal(f(x), (x * 2).sin())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"backend": "tensorrt"}, "unknown backend 'tensorrt'.*inductor"),
        ({"backend": lambda graph, inputs: graph.forward}, "FX graphs.*inductor"),
        ({"mode": "fast"}, "unknown mode 'fast'.*reduce-overhead"),
        ({"mode": "default", "options": {}}, "one of them at most"),
    ],
)
def test_other_options_are_named(options: Any, words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        torch.compile(lambda x: x, **options)
