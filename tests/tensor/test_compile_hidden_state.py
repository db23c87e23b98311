"""What compiled code goes by beside its arguments and what it reads by name, as PyTorch sees it."""

from __future__ import annotations

import collections
import sys
import threading
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compat as torch


def both(make: Callable[[Callable[[Any], Any]], list[Any]]) -> None:
    """The same numbers from code as it is and compiled; `make` is given what wraps a function."""
    expected, found = make(lambda f: f), make(torch.compile)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-6)


# ---------------------------------------------------------------- optimizers and parameters


@pytest.mark.parametrize("change", ["swap", "pop"])
def test_members_of_groups(change: str) -> None:
    def run(compile: Any) -> list[Any]:
        a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
        optimizer = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)

        @compile
        def step(x: Any) -> None:
            optimizer.zero_grad()
            ((a + b) * x).sum().backward()
            optimizer.step()

        for i in range(6):
            if i == 3 and change == "swap":
                g, h = optimizer.param_groups
                g["params"], h["params"] = h["params"], g["params"]
            elif i == 3:
                optimizer.param_groups[1]["params"].pop()
            step(torch.ones(2))
        return [a.tolist(), b.tolist()]

    both(run)


@pytest.mark.parametrize("how", ["number", "tensor written", "tensor replaced"])
def test_attributes_of_parameters(how: str) -> None:
    def run(compile: Any) -> list[Any]:
        m = torch.nn.Linear(2, 1)
        torch.nn.init.ones_(m.weight)
        for p in m.parameters():
            p.rate, p.momentum = 0.1, torch.zeros_like(p)

        @compile
        def step(x: Any) -> Any:
            m.zero_grad()
            m(x).sum().backward()
            with torch.no_grad():
                for p in m.parameters():
                    if how == "tensor written":
                        p.momentum.mul_(0.9).add_(p.grad)
                    elif how == "tensor replaced":
                        p.momentum = p.momentum * 0.9 + p.grad
                    p -= p.rate * (p.grad if how == "number" else p.momentum)

        found = []
        for i in range(6):
            if i == 3:
                m.weight.rate = 0.0
            step(torch.ones(1, 2))
            found += [m.weight.tolist(), m.weight.momentum.tolist()]
        return found

    both(run)


def test_attributes_that_arguments_are_given() -> None:
    @torch.compile
    def f(x: Any) -> Any:
        x.seen = x * 2
        return x + 1

    for _ in range(4):
        x = torch.ones(2)
        f(x)
        assert x.seen.tolist() == [2.0, 2.0]


def test_lazy_modules() -> None:
    m = torch.compile(torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.ReLU()))
    for _ in range(3):
        assert m(torch.ones(2, 4)).shape == (2, 3)


# ---------------------------------------------------------------- functions


def test_custom_functions_are_read() -> None:
    def run(compile: Any) -> list[Any]:
        settings = {"slope": 1.0}

        class Spike(torch.autograd.Function):
            calls = 0

            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                Spike.calls += 1
                return (x > 0) * settings["slope"]

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * settings["slope"]

        f = compile(lambda x: Spike.apply(x))
        found = []
        for i in range(5):
            settings["slope"] = 5.0 if i == 4 else 1.0
            x = torch.ones(1, requires_grad=True)
            y = f(x)
            y.backward()
            found += [y.item(), x.grad.item(), Spike.calls]
        return found

    both(run)


def test_attributes_of_functions() -> None:
    def run(compile: Any) -> list[Any]:
        def schedule() -> float:
            schedule.calls += 1
            return schedule.calls * schedule.factor

        schedule.calls, schedule.factor = 0, 1.0
        f = compile(lambda x: x * schedule())
        found = []
        for i in range(6):
            schedule.factor = 1.0 if i < 4 else 5.0
            found.append(f(torch.ones(1)).item())
        return [*found, schedule.calls]

    both(run)


# ---------------------------------------------------------------- imports and holders


def imported(x: Any) -> Any:
    import settings_of_compile  # type: ignore[import-not-found]

    return x * settings_of_compile.scale


def test_modules_that_are_imported_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: Any = types.ModuleType("settings_of_compile")
    monkeypatch.setitem(sys.modules, "settings_of_compile", settings)
    f = torch.compile(lambda x: imported(x))
    for i in range(6):
        settings.scale = 2.0 if i < 4 else 3.0
        assert f(torch.ones(1)).item() == settings.scale
    assert f(torch.ones(1)).item() == 3.0
    assert f.explain() == "1 programs"


def test_a_module_that_is_first_imported_by_what_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings_of_compile.py").write_text("scale = 2.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    f = torch.compile(imported)
    assert [f(torch.ones(1)).item() for _ in range(4)] == [2.0] * 4
    sys.modules["settings_of_compile"].scale = 3.0
    assert [f(torch.ones(1)).item() for _ in range(4)] == [3.0] * 4
    assert f.explain() == "1 programs"
    del sys.modules["settings_of_compile"]


class Bag:
    rates: Any

    def total(self) -> Any:
        return sum(vars(self).values())


def test_what_is_held_may_change() -> None:
    bag, local = Bag(), threading.local()
    reads: list[Callable[[Any], Any]] = [
        lambda x: x * bag.total(),
        lambda x, held={bag}: x * sum(b.total() for b in held),
        lambda x: x * getattr(local, "v", bag.total()),
        lambda x, held=collections.UserDict(bag=bag): x * held["bag"].total(),
    ]
    for read in reads:
        f = torch.compile(read)
        for i in range(8):
            bag.rates = 2.0 if i < 4 else 3.0
            assert f(torch.ones(1)).item() == bag.rates
        assert f.explain() == "1 programs"


def test_weak_references_make_the_code_run_as_it_is() -> None:
    bag = Bag()
    ref = weakref.ref(bag)
    f = torch.compile(lambda x: x * ref().rates)  # type: ignore[union-attr]
    for i in range(6):
        bag.rates = float(i)
        assert f(torch.ones(1)).item() == float(i)
    assert "weak reference" in f.explain()


def test_a_module_that_reads_all_of_its_attributes() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.k = torch.nn.Linear(1, 1), 2.0

        def forward(self, x: Any) -> Any:
            return self.inner(x) * sum(v for v in vars(self).values() if type(v) is float)

    net = Net()
    f = torch.compile(net)
    for i in range(8):
        net.k = 2.0 if i < 4 else 3.0
        assert f(torch.ones(1, 1)).item() == net(torch.ones(1, 1)).item()
    assert f.explain() == "1 programs"


# ---------------------------------------------------------------- what is returned


class Output(dict):
    pass


class Record:
    def __init__(self, y: Any) -> None:
        self.y = y


MADE = {
    "a dict of its own": lambda y: Output(y=y),
    "an object": Record,
    "a namespace": lambda y: types.SimpleNamespace(y=y),
    "a set": lambda y: {y},
    "a deque": lambda y: collections.deque([y]),
    "an iterator": lambda y: iter([y]),
    "a function": lambda y: lambda: y,
    "a generator": lambda y: (z for z in [y]),
}


def content(x: Any) -> Any:
    if isinstance(x, dict):
        return x["y"]
    if isinstance(x, Record | types.SimpleNamespace):
        return x.y
    return x() if callable(x) else next(iter(x))


@pytest.mark.parametrize("kind", MADE)
def test_objects_that_are_made_inside(kind: str) -> None:
    f = torch.compile(lambda x: MADE[kind](x * 2))
    for i in range(4):
        assert content(f(torch.full((2,), float(i)))).tolist() == [2.0 * i] * 2
    with pytest.raises(RuntimeError, match="it returns an object of type"):
        g = torch.compile(lambda x: MADE[kind](x * 2), fullgraph=True)
        for _ in range(2):
            g(torch.ones(2))


def test_arrays_that_are_made_inside_are_new_at_every_call() -> None:
    f = torch.compile(lambda x: (np.zeros(2), x * 2))
    for _ in range(4):
        array, _ = f(torch.ones(2))
        assert array.tolist() == [0.0, 0.0]
        array[0] = 5.0


def test_known_objects_may_be_returned() -> None:
    config = object()
    f = torch.compile(lambda x: (x * 2, config, torch.float32, "name", None, x.shape))
    for _ in range(3):
        found = f(torch.ones(2))
    assert found[1:] == (config, torch.float32, "name", None, (2,))
    assert f.explain() == "1 programs"


def test_history_made_under_no_grad() -> None:
    w = torch.ones(2, requires_grad=True)

    @torch.compile
    def f(x: Any) -> Any:
        with torch.enable_grad():
            return w * x

    with torch.no_grad():
        assert [f(torch.ones(2)).requires_grad for _ in range(3)] == [True] * 3


# ---------------------------------------------------------------- layouts

WRITES = {
    "contiguous": lambda x: x.contiguous().add_(1),
    "reshape": lambda x: x.reshape(-1).add_(1),
    "flatten": lambda x: x.flatten().add_(1),
    "ravel": lambda x: x.ravel().add_(1),
    "rows": lambda x: x[0].contiguous().mul_(3),
}


@pytest.mark.parametrize("first", ["rows", "columns"])
@pytest.mark.parametrize("name", WRITES)
def test_writes_into_what_may_be_a_copy(name: str, first: str) -> None:
    def inputs(order: str) -> Any:
        return torch.zeros(2, 3) if order == "rows" else torch.zeros(3, 2).t()

    f = torch.compile(WRITES[name])
    for order in (first, first, first, "rows", "columns", "columns", "columns", "rows"):
        x, y = inputs(order), inputs(order)
        f(x)
        WRITES[name](y)
        assert x.tolist() == y.tolist()


def test_layouts_behind_transforms() -> None:
    def f(x: Any) -> Any:
        z = x * 2
        z.contiguous().add_(x.sum())
        return z.sum()

    x = torch.ones(3, 2).t().requires_grad_()
    f(x).backward()
    assert torch.func.grad(f)(x.detach()).tolist() == x.grad.tolist() == [[2.0] * 3] * 2
