"""Calls seen before (`autograd/remembered.py`) do what the functions themselves do."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from harness import Call, _numpy, arrays_of
from tables import FILES, calls_of, function_of

import compat as torch
from compat.autograd.plans import NO_PLAN
from compat.autograd.remembered import MOST_PLANS

F = torch.nn.functional


def outcome(c: Call, seed: int, *, asks: bool) -> list[Any]:
    """What can be seen of the results, and the gradients; `asks`: of the function itself.

    Under hooks for saved tensors there are no plans.
    """
    leaves = [torch.from_numpy(a.copy()) for a in arrays_of(c, seed)]
    moving = [x.requires_grad_() for x in leaves if _numpy(x).dtype.kind in "fc"]
    args = [x * 1 if x.requires_grad else x for x in leaves]
    f = function_of(torch, c)
    if asks:
        with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            outs = f(*args)
    else:
        outs = f(*args)
    seen = [
        (
            _numpy(y),
            y.stride(),
            y.requires_grad,
            type(y.grad_fn).__name__,
            y._is_view(),
            any(y._base is x for x in args),
        )
        for y in outs
    ]
    ends = [y for y in outs if y.requires_grad]
    cts = [torch.from_numpy(np.ones(tuple(y.shape), _numpy(y).dtype)) for y in ends]
    torch.autograd.backward(ends, cts)
    return [seen, [None if x.grad is None else _numpy(x.grad) for x in moving]]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        close = 1e-5 if a.dtype.itemsize < 8 else 1e-10
        return a.dtype == b.dtype and np.allclose(a, b, rtol=close, atol=close, equal_nan=True)
    return bool(a == b)


DRAWN = ("dropout", "rrelu", "gumbel", "rand", "bernoulli", "normal", "multinomial")


@pytest.mark.parametrize("name", FILES.split())
def test_calls(name: str) -> None:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for c in calls_of(name):
            if c.name.endswith("_") or any(word in c.name for word in DRAWN):
                continue
            for seed in range(4):  # the second one makes the plan
                try:
                    expected = outcome(c, seed, asks=True)
                except (RuntimeError, ValueError, NotImplementedError, IndexError, TypeError):
                    continue  # there for its error
                if not same(outcome(c, seed, asks=False), expected):
                    found.append(f"{c}, draw {seed}")
    assert not found, "\n".join(found)


def plans_of(f: Any) -> dict[Any, Any] | None:
    """The plans of a function that has some, under whatever is printed in front of it."""
    while f is not None:
        if inspect.isfunction(f) and "plans" in f.__code__.co_freevars:
            return inspect.getclosurevars(f).nonlocals["plans"]  # type: ignore[no-any-return]
        f = getattr(f, "__wrapped__", None)
    return None


def with_plans() -> Iterator[tuple[str, dict[Any, Any]]]:
    for owner in (torch, F, torch.Tensor, torch.linalg):
        for name in dir(owner):
            # `dir` has modules that are loaded when they are first asked for, which this is not.
            plans = plans_of(inspect.getattr_static(owner, name, None))
            if plans is not None:
                yield name, plans


X = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], requires_grad=True)

SIMPLE: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: x.reshape(3, 2),
    "view": lambda x: x.view(-1),
    "permute": lambda x: x.permute(1, 0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x.squeeze(),
    "getitem": lambda x: x[0, 1:],
    "list": lambda x: x[[1, 0]],
    "index": lambda x: x[torch.tensor([1, 0])],
    "cat": lambda x: torch.cat([x, x.detach()], dim=1),
    "stack": lambda x: torch.stack([x, x.detach()]),
    "where": lambda x: torch.where(x > 0, x, 0.5),
    "masked_fill": lambda x: x.masked_fill(x > 0, 0.5),
    "sum": lambda x: x.sum(1, keepdim=True),
    "max": lambda x: x.max(1).values,
    "gather": lambda x: x.gather(0, torch.zeros(1, 3, dtype=torch.int64)),
    "embedding": lambda x: F.embedding(torch.tensor([1, 1]), x),
    "expand": lambda x: x[:1].expand(4, 3),
    "unbind": lambda x: x.unbind()[1],
    "clamp": lambda x: x.clamp(-1, 1),
}


@pytest.mark.parametrize("name", SIMPLE)
def test_plans_are_made(name: str) -> None:
    for _, plans in with_plans():
        plans.clear()
    for _ in range(4):
        SIMPLE[name](X * 2.0)
    made = [p for _, plans in with_plans() for p in plans.values()]
    assert any(p is not None and p is not NO_PLAN for p in made)


def test_what_has_plans() -> None:
    assert len({name for name, _ in with_plans()}) > 70


# ---------------------------------------------------------------- what tells calls apart


def test_numbers_of_other_types_are_other_calls() -> None:
    x = torch.tensor([1, 2, 3])
    mask = torch.tensor([True, False, True])
    for _ in range(4):
        assert torch.where(mask, x, 1).dtype is torch.int64
        assert torch.where(mask, x, 1.0).dtype is torch.float32
        assert torch.where(mask, x, True).dtype is torch.int64
        assert x.unsqueeze(0).shape == (1, 3)
        with pytest.raises(TypeError):
            x.unsqueeze(0.0)
        assert torch.tensor([1.0, 2.0]).reshape((1, 2)).shape == (1, 2)
        with pytest.raises(TypeError):
            torch.tensor([1.0, 2.0]).reshape((1, 2.0))


def test_one_tensor_given_twice() -> None:
    """A first call with the same tensor in two places does not say which is which."""
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([5.0, 7.0])
    for _ in range(4):
        assert F.pairwise_distance(x[None], x[None]).item() < 1e-5
        assert torch.cat([x, x]).tolist() == [1.0, 2.0, 1.0, 2.0]
        assert torch.cat([x, y]).tolist() == [1.0, 2.0, 5.0, 7.0]
        assert torch.dot(x, x).item() == 5.0
        assert torch.dot(x, y).item() == 19.0


def test_the_default_dtype_may_change() -> None:
    x = torch.tensor([1, 2, 3])
    for wanted in (torch.float32, torch.float64, torch.float32):
        torch.set_default_dtype(wanted)
        try:
            for _ in range(4):
                assert torch.where(x > 1, x, 1.5).dtype is wanted
                assert torch.clamp(x, 0.5).dtype is wanted
        finally:
            torch.set_default_dtype(torch.float32)


def test_warnings_come_every_time() -> None:
    x = torch.ones(2, 3)
    for _ in range(4):
        with pytest.warns(UserWarning, match="broadcasting|size"):
            F.l1_loss(x, torch.ones(3))


def test_indices_are_checked_every_time() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    good, bad = torch.tensor([0, 1]), torch.tensor([0, 2])
    for _ in range(4):
        assert x[good].shape == torch.index_select(x, 0, good).shape == (2, 3)
        for f in (
            lambda i: x[i],
            lambda i: torch.index_select(x, 0, i),
            lambda i: F.embedding(i, x),
            lambda i: x.gather(0, i[None]),
        ):
            f(good)
            with pytest.raises((IndexError, RuntimeError), match=r"out of|index"):
                f(bad)


def test_errors_say_what_they_said_and_nothing_else() -> None:
    x = torch.ones(2, 3)
    for f in (
        lambda: x.reshape(4),
        lambda: torch.cat([x, 1]),
        lambda: x[5],
        lambda: torch.where(x, x, x),
        lambda: x.permute(0, 0),
    ):
        for _ in range(4):
            with pytest.raises((RuntimeError, TypeError, IndexError)) as caught:
                f()
            assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_views_of_views_follow_writes() -> None:
    for _ in range(4):
        x = torch.zeros(2, 3, requires_grad=True)
        y = x * 1
        part = y.view(3, 2)[1:].reshape(-1)[1]
        y.add_(2.0)
        assert part.item() == 2.0 and part._base is y
        y[0, 1:] = 5.0
        y.T[0].mul_(3.0)
        y.sum().backward()
        assert x.grad.tolist() == [[3.0, 0.0, 0.0], [3.0, 1.0, 1.0]]


def test_what_a_hidden_view_has_saved_is_watched() -> None:
    for _ in range(4):
        x = torch.tensor([[1.0, 3.0]], requires_grad=True)
        y = x.amax(1, keepdim=True)
        with torch.no_grad():
            y.mul_(2.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_expanded_tensors_stay_locked() -> None:
    for _ in range(4):
        with pytest.raises(RuntimeError, match="single memory location"):
            torch.zeros(1, 3).expand(2, 3).add_(1.0)
        diagonal = torch.zeros(3, 3)
        diagonal.diagonal().fill_(2.0)
        assert diagonal.sum().item() == 6.0


def test_numbers_that_programs_give_can_be_written_into() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(40):  # the last ones are of a program
        y = torch.prod(x)
        with torch.no_grad():
            assert y.mul_(0.5).item() == 1.0
        z = torch.logsumexp(x, 0)
        z += 1.0
        assert z.shape == () and type(z.detach().numpy()) is np.ndarray


def test_there_is_an_end_to_plans() -> None:
    (plans,) = {id(p): p for name, p in with_plans() if name == "unsqueeze"}.values()
    for n in range(MOST_PLANS + 10):
        torch.empty(n % 1000, n // 1000).unsqueeze(0)
    assert 0 < len(plans) <= MOST_PLANS
