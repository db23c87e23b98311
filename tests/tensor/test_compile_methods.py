"""Compiled methods, and what programs do not go by: memory, modes, objects that run on."""

from __future__ import annotations

import copy
import functools
import gc
import pickle
import sys
import weakref
from typing import Any

import pytest
from worlds import assert_compiled, assert_same

import compat as torch


class Scaled(torch.nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.factor = factor

    @torch.compile
    def forward(self, x: Any) -> Any:
        return self.layer(x) * self.factor


class Plain:
    def __init__(self) -> None:
        self.w = torch.arange(3.0)

    @torch.compile
    def times(self, x: Any) -> Any:
        return x * self.w


class Slotted:
    __slots__ = ("w",)

    @torch.compile
    def times(self, x: Any) -> Any:
        return x * self.w


X = torch.arange(6.0).reshape(2, 3)


def test_methods_of_modules() -> None:
    models = Scaled(1.0), Scaled(2.0)
    for _ in range(4):
        for m in models:
            assert_same(m(X), m.layer(X) * m.factor)
    for m in models:
        assert_compiled(m.forward)
        m.factor = -1.0
        assert_same(m(X), -m.layer(X))
    assert isinstance(Scaled.forward.explain(), str)


def test_copies_have_programs_of_their_own() -> None:
    model = Scaled(2.0)
    before = [model(X) for _ in range(3)][-1]
    twin, other = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    with torch.no_grad():
        twin.layer.weight.zero_()
        twin.layer.bias.fill_(1.0)
    for _ in range(3):
        assert (twin(X) == 2.0).all()
        assert_same(model(X), before)
        assert_same(other(X).detach(), before.detach())


def test_methods_of_other_objects() -> None:
    plain, slotted = Plain(), Slotted()
    slotted.w = plain.w
    for _ in range(4):
        assert_same(plain.times(X), X * plain.w)
        assert_same(slotted.times(X), X * plain.w)
    assert_compiled(plain.times)
    plain.w = torch.ones(3)
    assert_same(plain.times(X), X)
    gone = weakref.ref(plain)
    del plain
    gc.collect()
    assert gone() is None


class Twofold(Plain):
    added = torch.compile(lambda self, x: x + self.w)
    taken = torch.compile(lambda self, x: x - self.w)

    @torch.compile
    def times(self, x: Any) -> Any:
        return super().times(x) * 2


def test_methods_of_one_name_are_not_mixed_up() -> None:
    one = Twofold()
    for _ in range(4):
        assert_same(one.times(X), X * one.w * 2)
        assert_same(one.added(X), X + one.w)
        assert_same(one.taken(X), X - one.w)
    other = copy.copy(one)
    other.w = torch.ones(3)
    for _ in range(4):
        assert_same(other.times(X), X * 2)
        assert_same(other.taken(X), X - 1)
        assert_same(one.times(X), X * one.w * 2)
    assert_compiled(one.taken)


def by_order(x: Any) -> Any:
    return x * 2 if x.is_contiguous() else x * 3


def by_strides(x: Any) -> Any:
    return x * x.stride(0)


def by_offset(x: Any) -> Any:
    return x * x.storage_offset()


def in_memory(x: Any) -> Any:
    return torch.as_strided(x, (2,), (x.stride(1),)) + 0


@pytest.mark.parametrize("code", [by_order, by_strides, by_offset, in_memory])
def test_how_elements_lie_in_memory(code: Any) -> None:
    whole = torch.arange(8.0)
    compiled = torch.compile(code)
    first = whole[:4].reshape(2, 2)
    for x in (first, first, first.T, first.T, whole[4:].reshape(2, 2)):
        assert_same(compiled(x), code(x))
    assert "runs as it is" in compiled.explain()


def test_flattening_is_compiled() -> None:
    compiled = torch.compile(lambda x: x.ravel() + x.contiguous().view(-1) + x.flatten())
    for x in (X, X, X.T, X.T):
        assert_same(compiled(x), 3 * x.reshape(-1))
    assert_compiled(compiled)


def test_a_scaler_runs_on() -> None:
    found = []
    for wrap in (lambda f: f, torch.compile):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)

        def step(x: Any) -> Any:
            optimizer.zero_grad()  # noqa: B023
            loss = (model(x) ** 2).mean()  # noqa: B023
            scaler.scale(loss).backward()  # noqa: B023
            scaler.step(optimizer)  # noqa: B023
            scaler.update()  # noqa: B023
            return loss.detach()

        run = wrap(step)
        found.append([[run(X) for _ in range(5)], scaler.get_scale(), model.weight.detach()])
    assert_same(*found)


def test_modes_are_switched_at_every_call() -> None:
    def code(x: Any) -> Any:
        torch.set_grad_enabled(False)
        return x * 2

    compiled = torch.compile(code)
    try:
        for _ in range(4):
            torch.set_grad_enabled(True)
            compiled(X)
            assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)


class Twice:
    def __call__(self, x: Any) -> Any:
        return x * 2


def test_callable_objects_are_no_methods() -> None:
    class Model:
        twice = torch.compile(Twice())
        partly = torch.compile(functools.partial(torch.mul, 2.0))

    for _ in range(3):
        assert_same(Model().twice(X), X * 2)
        if sys.version_info < (3, 14):  # from which on partial functions are methods
            assert_same(Model().partly(X), X * 2)
        else:
            with pytest.raises(TypeError):
                Model().partly(X)
