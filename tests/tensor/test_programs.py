"""Random programs of operations, views and writes, run three ways that must agree.

A program is a list of small integers, so that Hypothesis shrinks it well. It runs on `compat`, on a
purely functional model (below), whose gradient `funcgrad.grad` takes, and on PyTorch if that is
installed. What `compat` computes must be what the model computes; where it raises, PyTorch must
raise at the same step, and nowhere else. `DIFFERENCES` lists what is different on purpose.

`PROGRAMS=20000 pytest tests/tensor/test_programs.py` runs that many.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat
import funcgrad
from funcgrad import stop_gradient
from funcgrad.indexing import write

try:
    pytorch: Any = importlib.import_module("torch")
except ImportError:
    pytorch = None

# What compat does otherwise than PyTorch, on purpose: instruction -> why.
DIFFERENCES = {
    "data": "writing through .data counts as a write, so backward raises; PyTorch is silently wrong",
    "itself": "x.mul_(x) has the gradient of x * x; in PyTorch backward raises",
    "put_twice": "of two values written to one place, the one that is lost has gradient 0",
}

Instruction = tuple[int, int, int, int]
WEIGHTS = np.random.default_rng(0).normal(size=64)


class Outcome(NamedTuple):
    """What a run gave: the values of all tensors, gradients, and the step at which it raised."""

    values: list[np.ndarray]
    grads: list[np.ndarray | None]
    error: str | None


# ---------------------------------------------------------------- the model


class Group:
    """Tensors with one history: a base and its views. `flat` is the base, traced."""

    def __init__(self, flat: Any, memory: list[Group]) -> None:
        self.flat = flat
        self.memory = memory  # all groups that share the numbers
        memory.append(self)


class Model:
    """A tensor of the model: which places of which group it shows. Nothing is ever changed."""

    def __init__(self, group: Group, places: np.ndarray) -> None:
        self.group = group
        self.places = places

    @classmethod
    def new(cls, array: Any) -> Model:
        size = int(np.prod(array.shape))
        flat = array.reshape((size,))
        return cls(Group(flat, []), np.arange(size).reshape(array.shape))

    @property
    def array(self) -> Any:
        return self.group.flat[self.places]

    def view(self, f: Callable[[np.ndarray], np.ndarray]) -> Model:
        return Model(self.group, f(self.places))

    def detach(self) -> Model:
        return Model(Group(stop_gradient(self.group.flat), self.group.memory), self.places)

    def store(self, value: Any, *, recorded: bool, places: np.ndarray | None = None) -> None:
        places = self.places if places is None else places
        value = value + np.zeros(places.shape)
        new = write(self.group.flat, places, value)
        for group in self.group.memory:
            if group is self.group and recorded:
                continue
            group.flat = group.flat + stop_gradient(new - group.flat)
        if recorded:
            self.group.flat = new


# ---------------------------------------------------------------- the instructions

UNARY: list[Callable[[Any, Any], Any]] = [
    lambda m, x: m.sin(x),
    lambda m, x: m.exp(x * 0.3),
    lambda m, x: m.tanh(x),
    lambda m, x: x * x,
    lambda m, x: x * -0.7,
    lambda m, x: x + 0.5,
]
BINARY: list[Callable[[Any, Any, Any], Any]] = [
    lambda m, x, y: x * y,
    lambda m, x, y: x + y,
    lambda m, x, y: x - y,
    lambda m, x, y: m.tanh(x) * y,
]


def view_of(kind: int, k: int, shape: tuple[int, ...]) -> Callable[[Any], Any] | None:
    """A view that exists for the shape."""
    n = len(shape)
    if kind % 4 == 0 and n and shape[0]:
        i = k % shape[0]
        return lambda x: x[i]
    if kind % 4 == 1 and n:
        a, b = k % (shape[0] + 1), shape[0]
        return lambda x: x[a:b]
    if kind % 4 == 2 and n >= 2:
        return lambda x: x.swapaxes(0, 1)
    if kind % 4 == 3 and n < 3:
        return lambda x: x[None]
    return None


def fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, into) == into
    except ValueError:
        return False


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True


def alike(x: Any, y: Any) -> bool:
    """Whether two tensors are the same numbers in the same memory; see DIFFERENCES["itself"]."""
    a, b = x.detach().numpy(), y.detach().numpy()
    return a.shape == b.shape and a.strides == b.strides and np.shares_memory(a, b)


def overlapping(x: Any, y: Any) -> bool:
    return np.may_share_memory(x.detach().numpy(), y.detach().numpy())


class Runner:
    """Runs a program on a module of tensors."""

    def __init__(self, module: Any, leaves: list[np.ndarray]) -> None:
        self.module = module
        self.leaves = [module.tensor(a) for a in leaves]
        for x in self.leaves[:2]:
            x.requires_grad_()
        self.tensors = list(self.leaves)
        self.shapes = [x.shape for x in leaves]
        self.hooked: list[np.ndarray] = []
        self.retained: list[Any] = []

    def add(self, x: Any) -> None:
        if int(np.prod(x.shape)) <= 64:
            self.tensors.append(x)

    def step(self, op: int, i: int, j: int, k: int) -> None:
        m = self.module
        x, y = self.tensors[i % len(self.tensors)], self.tensors[j % len(self.tensors)]
        shape = tuple(x.shape)
        _ = x.grad_fn  # PyTorch takes a view for a leaf until its new history was asked for
        if op < 3:
            self.add(UNARY[k % len(UNARY)](m, x))
        elif op < 6:
            if broadcast(shape, tuple(y.shape)):
                self.add(BINARY[k % len(BINARY)](m, x, y))
        elif op < 9:
            view = view_of(j, k, shape)
            if view is not None:
                self.add(view(x))
        elif op == 9:
            if fits(tuple(y.shape), shape):
                [x.add_, x.mul_, x.sub_][k % 3](y.clone() if alike(x, y) else y)
        elif op == 10:
            [lambda: x.mul_(0.5), lambda: x.exp_(), lambda: x.zero_(), lambda: x.sin_()][k % 4]()
        elif op == 11:
            view = view_of(j, k, shape)
            if view is not None and j % 4 < 2:
                part = view(x)
                source = self.tensors[k % len(self.tensors)]
                if fits(tuple(source.shape), tuple(part.shape)):
                    a = k % shape[0] if j % 4 == 0 else slice(k % (shape[0] + 1), shape[0])
                    x[a] = source.clone() if overlapping(part, source) else source
        elif op == 12:
            if shape and shape[0] > 1 and fits(tuple(y.shape), (2, *shape[1:])):
                x[m.tensor([1, 0])] = y
        elif op == 13:
            self.add(x.detach())
        elif op == 14:
            with m.no_grad():
                if fits(tuple(y.shape), shape):
                    x.copy_(y)
                else:
                    x.mul_(0.9)
        elif op == 15:
            made = UNARY[k % len(UNARY)](m, x)
            if made.requires_grad:
                made.register_hook(lambda g: g * 2)
                made.retain_grad()
                self.retained.append(made)
            self.add(made)
        elif op == 16 and k % 3 == 0:
            with m.no_grad():
                self.add(x * 1.5)
        else:
            self.add(x.sum())

    def final(self) -> Any:
        """A weighted sum of the last tensors that require grad."""
        total = None
        for x in [x for x in self.tensors if x.requires_grad][-3:]:
            w = self.module.tensor(WEIGHTS[: int(np.prod(x.shape))].reshape(tuple(x.shape)))
            term = (x * w).sum()
            total = term if total is None else total + term
        return total


class ModelRunner:
    """Runs a program on the model; mirrors `Runner` line by line."""

    def __init__(self, leaves: list[Any]) -> None:
        self.tensors = [Model.new(a) for a in leaves]

    def add(self, array: Any) -> None:
        if int(np.prod(array.shape)) <= 64:
            self.tensors.append(Model.new(array))

    def step(self, op: int, i: int, j: int, k: int) -> None:
        x, y = self.tensors[i % len(self.tensors)], self.tensors[j % len(self.tensors)]
        shape = x.places.shape
        if op < 3:
            self.add(UNARY[k % len(UNARY)](np, x.array))
        elif op < 6:
            if broadcast(shape, y.places.shape):
                self.add(BINARY[k % len(BINARY)](np, x.array, y.array))
        elif op < 9:
            view = view_of(j, k, shape)
            if view is not None:
                self.tensors.append(x.view(view))
        elif op == 9:
            if fits(y.places.shape, shape):
                a, b = x.array, y.array
                x.store([a + b, a * b, a - b][k % 3], recorded=True)
        elif op == 10:
            a = x.array
            x.store([a * 0.5, np.exp(a), a * 0.0, np.sin(a)][k % 4], recorded=True)
        elif op == 11:
            view = view_of(j, k, shape)
            if view is not None and j % 4 < 2:
                part = view(x.places)
                source = self.tensors[k % len(self.tensors)]
                if fits(source.places.shape, part.shape):
                    x.store(source.array, recorded=True, places=part)
        elif op == 12:
            if shape and shape[0] > 1 and fits(y.places.shape, (2, *shape[1:])):
                x.store(y.array, recorded=True, places=x.places[[1, 0]])
        elif op == 13:
            self.tensors.append(x.detach())
        elif op == 14:
            fitting = fits(y.places.shape, shape)
            x.store(y.array if fitting else x.array * 0.9, recorded=False)
        elif op == 15:
            made = UNARY[k % len(UNARY)](np, x.array)
            self.add(made * 2 - stop_gradient(made))
        elif op == 16 and k % 3 == 0:
            self.add(stop_gradient(x.array * 1.5))
        else:
            self.add(x.array.sum())


# ---------------------------------------------------------------- running


def run(module: Any, program: list[Instruction], leaves: list[np.ndarray], mode: int) -> Outcome:
    """Run on a module; `mode` says how gradients are taken (twice, or of the gradient)."""
    runner = Runner(module, leaves)
    for number, (op, i, j, k) in enumerate(program):
        try:
            runner.step(op, i, j, k)
        except RuntimeError:
            return Outcome([], [], f"step {number}")
    values = [x.detach().numpy().copy() for x in runner.tensors]
    total = runner.final()
    if total is None:
        return Outcome(values, [], None)
    try:
        if mode == 0:
            total.backward()
        elif mode == 1:
            total.backward(retain_graph=True)
            total.backward()
        else:
            found = module.autograd.grad(
                total, runner.leaves[:2], create_graph=True, allow_unused=True
            )
            second = None
            for g in found:
                if g is not None and g.requires_grad:
                    term = (g * g).sum()
                    second = term if second is None else second + term
            if second is not None:
                second.backward()
    except RuntimeError:
        return Outcome(values, [], "backward")
    grads = [None if x.grad is None else x.grad.detach().numpy() for x in runner.leaves[:2]]
    for x in runner.retained:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            grads.append(None if x.grad is None else x.grad.detach().numpy())
    return Outcome(values, grads, None)


def model_grads(
    program: list[Instruction], leaves: list[np.ndarray], needing: list[bool], mode: int
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Values and the gradients by the first two leaves."""
    kept: list[Any] = []

    def total(a: Any, b: Any) -> Any:
        runner = ModelRunner([a, b, leaves[2]])
        for instruction in program:
            runner.step(*instruction)
        kept[:] = [x.array for x in runner.tensors]
        wanted = [x for x, needs in zip(runner.tensors, needing, strict=True) if needs][-3:]
        out: Any = 0.0
        for x in wanted:
            w = WEIGHTS[: x.places.size].reshape(x.places.shape)
            out = out + (x.array * w).sum()
        return out + 0.0 * a.sum()

    total(*leaves[:2])
    values = [np.asarray(v) for v in kept]

    def squares(a: Any, b: Any) -> Any:
        g, h = funcgrad.grad(total, argnums=(0, 1))(a, b)
        return (g * g).sum() + (h * h).sum()

    grads = funcgrad.grad(squares if mode == 2 else total, argnums=(0, 1))(*leaves[:2])
    return values, [2 * g if mode == 1 else g for g in grads]


def requiring(program: list[Instruction], leaves: list[np.ndarray]) -> list[bool]:
    """Which tensors require grad in the end."""
    runner = Runner(compat, leaves)
    for instruction in program:
        runner.step(*instruction)
    return [x.requires_grad for x in runner.tensors]


def close(a: np.ndarray, b: np.ndarray, what: str) -> None:
    assert a.shape == b.shape, what
    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10, err_msg=what)


def check(program: list[Instruction], mode: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    leaves = [rng.normal(size=(2, 3)), rng.normal(size=(3,)), rng.normal(size=(2, 3))]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        ours = run(compat, program, leaves, mode)
        if any(v.size and np.max(np.abs(v), initial=0) > 1e6 for v in ours.values):
            return  # too large to compare
        # A hook is called again when the gradient of a gradient passes; the model has no such node.
        modelled = not (mode == 2 and any(op == 15 for op, *_ in program))
        if ours.error is None and ours.grads and modelled:
            values, grads = model_grads(program, leaves, requiring(program, leaves), mode)
            for a, b in zip(ours.values, values, strict=True):
                close(a, b, "value")
            for a, b in zip(ours.grads[:2], grads, strict=True):
                close(np.zeros_like(b) if a is None else a, b, "gradient, against the model")
        if pytorch is not None:
            theirs = run(pytorch, program, leaves, mode)
            assert ours.error == theirs.error, (ours.error, theirs.error)
            for a, b in zip(ours.values, theirs.values, strict=True):
                close(a, b, "value, against PyTorch")
            for a, b in zip(ours.grads, theirs.grads, strict=True):
                if a is None or b is None:
                    for other in (a, b):
                        assert other is None or not np.any(other), "a gradient is missing"
                else:
                    close(a, b, "gradient, against PyTorch")


small = st.integers(0, 11)
instructions = st.tuples(st.integers(0, 17), small, small, small)
PROGRAMS = int(os.environ.get("PROGRAMS", "600"))


@settings(max_examples=PROGRAMS, deadline=None)
@given(st.lists(instructions, max_size=14), st.integers(0, 2), st.integers(0, 3))
def test_programs(program: list[Instruction], mode: int, seed: int) -> None:
    check(program, mode, seed)


def test_lost_writes_get_no_gradient() -> None:
    """DIFFERENCES["put_twice"]."""
    v = compat.tensor([1.0, 2.0], requires_grad=True)
    b = compat.zeros(1)
    b[[0, 0]] = v
    b.sum().backward()
    assert b.tolist() == [2.0]
    assert v.grad.tolist() == [0.0, 1.0]


def test_writes_through_data_count() -> None:
    """DIFFERENCES["data"]."""
    a = compat.tensor([1.0], requires_grad=True)
    y = (a * a).sum()
    a.data.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_tensor_times_itself_in_place() -> None:
    """DIFFERENCES["itself"]."""
    a = compat.tensor([3.0], requires_grad=True)
    b = a * 1
    b.mul_(b)
    b.sum().backward()
    assert a.grad.tolist() == [6.0]


def test_the_runner_sees_a_wrong_model() -> None:
    """A check that cannot fail checks nothing: a model without `detach` is found out."""
    program = [(13, 0, 0, 0), (4, 3, 0, 0)]
    original = Model.detach
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, Model, "detach", original)
        Model.detach = lambda self: Model(self.group, self.places)  # type: ignore[method-assign]
        with pytest.raises(AssertionError):
            check(program, 0, 0)
    check(program, 0, 0)
