"""Code whose surroundings change between calls gives, compiled, what it gives as it is."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compat as torch
from compat import nn, optim

Wrap = Callable[[Any], Any]
SCENARIOS: list[Callable[[Wrap], Any]] = []


def scenario(f: Callable[[Wrap], Any]) -> Callable[[Wrap], Any]:
    """A function that runs code, wrapped or as it is, and returns what there is to see."""
    SCENARIOS.append(f)
    return f


def weights(*values: float) -> list[Any]:
    return [torch.full((1,), v, requires_grad=True) for v in values]


@scenario
def a_group_is_added(wrap: Wrap) -> Any:
    a, b = weights(1.0, 1.0)
    optimizer = optim.SGD([a], lr=0.1)

    def step(x: Any) -> None:
        optimizer.zero_grad()
        ((a + b - x) ** 2).sum().backward()
        optimizer.step()

    run, seen = wrap(step), []
    for i in range(7):
        run(torch.tensor([3.0]))
        seen.append(round(b.item(), 4))
        if i == 3:
            optimizer.add_param_group({"params": [b]})
    return seen


@scenario
def numpy_arrays_are_written_into(wrap: Wrap) -> Any:
    d, seen = np.zeros(3, np.float32), []
    model = nn.Linear(3, 1)
    model.offsets = np.zeros((100, 100))
    run = wrap(lambda t: t + torch.tensor(d) + float(d.sum()) + d[1] + model.offsets.mean())
    for i in range(6):
        seen.append(run(torch.ones(3)).tolist())
        d[1] = i // 3
        model.offsets[...] = i // 2
    return seen


@scenario
def what_stands_far_in_a_list_or_first_in_a_dict(wrap: Wrap) -> Any:
    many, seen = [torch.ones(1) for _ in range(1500)], []
    order = {"a": 1.0, "b": 2.0}
    run = wrap(lambda t: t + many[1200] * next(iter(order.values())))
    for i in range(6):
        seen.append(run(torch.ones(3)).tolist())
        if i == 2:
            many[1200] = torch.full((1,), 9.0)
        if i == 4:
            order["a"] = order.pop("a")
    return seen


@scenario
def tensors_as_keys(wrap: Wrap) -> Any:
    keys, seen = [torch.ones(2), torch.ones(2)], []
    table = dict(zip(keys, (2.0, 3.0), strict=True))
    run = wrap(lambda t: t * next(iter(table.values())))
    for i in range(6):
        seen.append(run(torch.ones(3)).tolist())
        if i == 3:
            table[keys[0]] = table.pop(keys[0])
    return seen


@scenario
def defaults_are_replaced(wrap: Wrap) -> Any:
    def scaled(t: Any, k: float = 2.0) -> Any:
        return t * k

    run, seen = wrap(lambda t: scaled(t)), []
    for i in range(6):
        seen.append(run(torch.ones(3)).tolist())
        scaled.__defaults__ = (float(i // 2),)
    return seen


@scenario
def the_optimizers_state_is_loaded(wrap: Wrap) -> Any:
    (w,) = weights(1.0)
    optimizer = optim.SGD([w], lr=0.1, momentum=0.9)

    def step(x: Any) -> None:
        optimizer.zero_grad()
        ((w - x) ** 2).sum().backward()
        optimizer.step()

    run, seen, saved = wrap(step), [], None
    for i in range(8):
        if i == 1:
            saved = copy.deepcopy(optimizer.state_dict())
        run(torch.tensor([3.0]))
        seen.append(round(w.item(), 4))
        if i == 4:
            optimizer.load_state_dict(saved)
        if i == 6:
            optimizer.state.clear()
    return seen


@scenario
def a_module_grows(wrap: Wrap) -> Any:
    class Layers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(1, 1)])

        def forward(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x)
            return x

    torch.manual_seed(0)
    model = Layers()

    def step(x: Any) -> None:
        model.zero_grad()
        model(x).sum().backward()

    run = wrap(step)
    for i in range(7):
        run(torch.ones(1, 1))
        if i == 4:
            model.layers.append(nn.Linear(1, 1))
    return [None if p.grad is None else p.grad.tolist() for p in model.parameters()]


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale, self.options, self.factors = torch.ones(1), {"k": 1.0}, [1.0]

    def forward(self, x: Any) -> Any:
        return x * self.scale * self.options["k"] * self.factors[0]


@scenario
def an_inner_module_changes(wrap: Wrap) -> Any:
    model = nn.Sequential(Scaled())
    run, seen = wrap(model), []
    for i in range(9):
        seen.append(run(torch.ones(1)).item())
        if i == 2:
            model[0].scale = torch.tensor([5.0])
        if i == 4:
            model[0].options["k"] = 3.0
        if i == 5:
            model[0].factors[0] = 2.0
        if i == 6:
            model[0].scale.fill_(7.0)
    return seen


@scenario
def a_module_remembers(wrap: Wrap) -> Any:
    class Memory(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.state = torch.zeros(1)

        def forward(self, x: Any) -> Any:
            self.state = self.state * 0.5 + x
            self.last = x * 2
            return self.state

    model = nn.Sequential(Memory())
    run = wrap(model)
    return [run(torch.ones(1)).item() for _ in range(5)], model[0].last.tolist()


@scenario
def iterators(wrap: Wrap) -> Any:
    rows = iter(torch.arange(10.0))
    run = wrap(lambda: next(rows) * 2)
    return [run().item() for _ in range(5)]


@scenario
def a_scheduler_inside(wrap: Wrap) -> Any:
    (w,) = weights(1.0)
    optimizer = optim.SGD([w], lr=1.0)
    scheduler = optim.lr_scheduler.StepLR(optimizer, 2, 0.5)

    def step() -> None:
        optimizer.zero_grad()
        (w * 1).sum().backward()
        optimizer.step()
        scheduler.step()

    run, seen = wrap(step), []
    for _ in range(5):
        run()
        seen.append((optimizer.param_groups[0]["lr"], scheduler.last_epoch))
    return seen


@scenario
def random_numbers(wrap: Wrap) -> Any:
    random.seed(0)
    np.random.seed(0)
    generator, rng = torch.Generator(), np.random.default_rng(0)
    generator.manual_seed(1)
    runs = [
        wrap(lambda x: x * random.random()),
        wrap(lambda x: x * np.random.rand()),
        wrap(lambda x: x * torch.rand(1, generator=generator)),
        wrap(lambda x: x * rng.random()),
    ]
    return [[run(torch.ones(1)).item() for run in runs] for _ in range(5)]


@scenario
def results_that_nobody_uses(wrap: Wrap) -> Any:
    a, b = weights(1.0, 1.0)
    optimizer = optim.SGD([a, b], lr=0.1, weight_decay=1.0)
    run = wrap(lambda x: (x * a, x * b))
    for _ in range(4):
        optimizer.zero_grad()
        run(torch.ones(1))[0].sum().backward()
        optimizer.step()
    return a.item(), b.item(), b.grad


@scenario
def arrays_and_texts(wrap: Wrap) -> Any:
    array, text = wrap(lambda x: (x * 2).numpy()), wrap(lambda x: str(x.sum()))
    return [(type(array(torch.ones(2))).__name__, text(torch.ones(2) * i)) for i in range(4)]


@scenario
def containers_that_are_written(wrap: Wrap) -> Any:
    rows, log = [torch.ones(1)], {}  # type: ignore[var-annotated]

    def doubled(rows: Any) -> Any:
        rows[0] = rows[0] * 2
        return rows[0] + 0

    def noted(x: Any) -> Any:
        log["y"] = x * 2
        return log["y"] + 1

    run, note = wrap(doubled), wrap(noted)
    seen = [(run(rows).item(), note(torch.ones(1) * i).item()) for i in range(4)]
    return seen, rows[0].tolist(), log["y"].tolist()


@scenario
def two_runs_forward_then_two_backward(wrap: Wrap) -> Any:
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    run = wrap(model)
    for _ in range(4):
        a, b = run(torch.ones(1)), run(torch.ones(1) * 2)
        a.sum().backward()
        b.sum().backward()
    return model.weight.grad.tolist()


@scenario
def arguments_change_their_shape(wrap: Wrap) -> Any:
    run, seen = wrap(lambda x: x.squeeze_()), []
    for _ in range(4):
        x = torch.ones(1, 2)
        run(x)
        seen.append((tuple(x.shape), (x + 1).tolist()))
    return seen


@scenario
def the_default_dtype_changes(wrap: Wrap) -> Any:
    run, seen = wrap(lambda: torch.ones(1) * 1), []
    try:
        for i in range(5):
            if i == 3:
                torch.set_default_dtype(torch.float64)
            seen.append(str(run().dtype))
    finally:
        torch.set_default_dtype(torch.float32)
    return seen


@pytest.mark.parametrize("run", SCENARIOS, ids=lambda f: f.__name__)
def test_compiled_as_it_is(run: Callable[[Wrap], Any]) -> None:
    assert run(torch.compile) == run(lambda f: f)


def test_a_compiled_module_has_what_the_module_has() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    model.extra = 5
    compiled = torch.compile(model)
    x = torch.ones(1, 2)
    for _ in range(3):
        compiled(x)
    assert compiled.extra == 5 and len(compiled) == 2 and compiled[0] is model[0]
    assert [type(m) for m in compiled] == [nn.Linear, nn.ReLU]
    with pytest.raises(AttributeError, match="nothing"):
        _ = compiled.nothing
    for other in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert other is not compiled and other(x).tolist() == compiled(x).tolist()
        assert list(other.state_dict()) == list(compiled.state_dict())
