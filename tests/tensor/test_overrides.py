"""`__torch_function__` of objects that are no tensors: what they are asked about."""

from __future__ import annotations

import inspect
import operator
import pickle
from typing import Any

import pytest
from agreement_of_worlds import WORLDS

import compat
from compat.autograd import sites

worlds = pytest.mark.parametrize("th", WORLDS, ids=["compat", "torch"])


class Asked:
    """Answers every call with the call."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func, types, args, kwargs or {}


class Mute:
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


class Wrong:
    times = 0

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.times += 1
        raise KeyError("of its own")


MODULES = {
    "torch": compat,
    "linalg": compat.linalg,
    "fft": compat.fft,
    "special": compat.special,
    "functional": compat.nn.functional,
}
# What is asked for no tensor, or, as in PyTorch, takes objects of any kind.
NOT_ASKED = """
as_tensor asarray can_cast empty empty_permuted empty_strided fftfreq from_dlpack from_numpy frombuffer
full
is_tensor relu rfftfreq tensor typename tril_indices triu_indices broadcast_shapes
"""
FAMILIES = ("ops", "linalg", "nn", "fft", "special")


def _functions() -> list[Any]:
    found = {}
    for label, module in MODULES.items():
        for name in getattr(module, "__all__", dir(module)):
            f = getattr(module, name)
            if not inspect.isfunction(f) or name[0] == "_" or name in NOT_ASKED.split():
                continue
            _, *folders = inspect.unwrap(f).__module__.split(".")
            if folders and folders[0] in FAMILIES and folders[-1] not in NUMBERS:
                found.setdefault(f, f"{label}.{name}")
    return [pytest.param(f, id=name) for f, name in found.items()]


NUMBERS = {"create", "generator", "interchange", "legacy", "random", "ranges", "windows"}


def _required(f: Any) -> int:
    kinds = [p for p in inspect.signature(f).parameters.values() if p.default is p.empty]
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in kinds) or 1


@pytest.mark.parametrize("f", _functions())
def test_every_function_asks_under_the_name_it_is_known_by(f: Any) -> None:
    x = Asked()
    func, types, args, kwargs = f(*[x] * _required(f))
    assert func is f
    assert types == (Asked,)
    assert args == (x,) * _required(f)
    assert not kwargs


OPERATORS = ("add", "sub", "mul", "truediv", "matmul", "mod", "pow")
OPERATORS += ("eq", "ne", "lt", "le", "gt", "ge")
REVERSED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
NAMES = {"truediv": "div", "mod": "remainder"}


@worlds
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_ask_what_is_to_the_right(th: Any, name: str) -> None:
    t, x = th.ones(2, 2), Asked()
    func, _, args, _ = getattr(operator, name)(t, x)
    assert (func.__name__, args) == (NAMES.get(name, name), (t, x))


@worlds
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_ask_what_is_to_the_left(th: Any, name: str) -> None:
    t, x = th.ones(2, 2), Asked()
    func, _, args, _ = getattr(operator, name)(x, t)
    assert args == (t, x)
    if name in REVERSED:
        assert func.__name__ == REVERSED[name]


CALLS = {
    "add": lambda th, t, x: th.add(t, x, alpha=2),
    "add_": lambda th, t, x: t.add_(x),
    "clamp": lambda th, t, x: th.clamp(t, min=x),
    "cat": lambda th, t, x: th.cat([t, x], 1),
    "einsum": lambda th, t, x: th.einsum("ij,jk->ik", t, x),
    "sum": lambda th, t, x: th.sum(x, dim=0),
    "where": lambda th, t, x: th.where(t > 0, t, x),
    "__getitem__": lambda th, t, x: t[x],
    "expand_as": lambda th, t, x: t.expand_as(x),
    "solve": lambda th, t, x: th.linalg.solve(t, x),
    "huber_loss": lambda th, t, x: th.nn.functional.huber_loss(x, t),
    "linear": lambda th, t, x: th.nn.Linear(2, 2)(x),
    "relu": lambda th, t, x: th.nn.ReLU()(x),
    "broadcast_tensors": lambda th, t, x: th.broadcast_tensors(t, x),
}


@worlds
@pytest.mark.parametrize("name", CALLS)
def test_calls_are_asked_about_wherever_the_object_is(th: Any, name: str) -> None:
    func, types, _, kwargs = CALLS[name](th, th.ones(2, 2), Asked())
    assert func.__name__.removeprefix("linalg_") in (name, "getitem")
    assert Asked in types
    if name in ("add", "sum"):
        assert kwargs == {"add": {"alpha": 2}, "sum": {"dim": 0}}[name]


@worlds
def test_errors_are_those_of_the_object(th: Any) -> None:
    t, F = th.ones(2, 2), th.nn.functional
    for call in (
        lambda x: t + x,
        lambda x: th.isnan(x),
        lambda x: F.huber_loss(x, t),
        t.__matmul__,
    ):
        Wrong.times = 0
        with pytest.raises(KeyError, match="of its own"):
            call(Wrong())
        assert Wrong.times == 1


@worlds
def test_what_no_object_answers_is_an_error(th: Any) -> None:
    t = th.ones(2, 2)
    for call in (lambda x: t + x, lambda x: x @ t, th.exp, th.isnan, lambda x: th.stack([t, x])):
        with pytest.raises(TypeError):
            call(Mute())


def test_mistakes_with_tensors_stay_what_they_are() -> None:
    with pytest.raises(TypeError, match=r"argument 'input' .* must be Tensor, not str"):
        compat.isnan("x")
    with pytest.raises(RuntimeError, match="must match the size"):
        compat.isclose(compat.ones(2), compat.ones(3))


def test_wrapped_functions_are_pickled_by_name() -> None:
    for f in (compat.isnan, compat.squeeze, compat.linalg.solve, compat.nn.functional.silu):
        assert pickle.loads(pickle.dumps(f)) is f


def test_fast_paths_have_nothing_in_front_of_them() -> None:
    fast = [compat.add, compat.matmul, compat.exp, compat.sum, compat.nn.functional.linear]
    assert all(f.__code__.co_filename.startswith(sites.PRINTED) for f in fast)
