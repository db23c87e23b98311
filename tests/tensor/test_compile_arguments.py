"""Arguments, results, modules and modes under `compat.compile`; see `worlds.py`."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from worlds import (
    SGD,
    Adam,
    Change,
    World,
    assert_compiled,
    assert_same,
    check,
    data,
    network,
    one,
    state,
    train,
)

import compat as torch

# ---------------------------------------------------------------- arguments and results


def same(i: int) -> tuple[Any, ...]:
    x = data(i)
    return x, x


def halves(i: int) -> tuple[Any, ...]:
    x = data(i, 8)
    return x[:4], x[4:]


def sometimes_same(i: int) -> tuple[Any, ...]:
    return same(i) if i in (3, 4, 6) else halves(i) if i == 5 else (data(i), data(i + 1))


def sharing(i: int) -> tuple[Any, ...]:
    x = data(i, 5)
    return x[:4].detach(), x[1:].detach()


def leaves_that_require_grad(i: int) -> tuple[Any, ...]:
    return data(i).requires_grad_(), data(i + 1)


def shapes(i: int) -> tuple[Any, ...]:
    dtype = np.float32 if i % 2 else np.float64
    return data(i, 2 + i % 3, dtype), data(i + 1, 1, dtype)


def scalars(i: int) -> tuple[Any, ...]:
    return torch.tensor(1.0 + i), torch.tensor(2.0)


def empty(i: int) -> tuple[Any, ...]:
    return torch.zeros(0, 3), torch.zeros(0, 3)


def integers(i: int) -> tuple[Any, ...]:
    return torch.arange(i + 1, i + 4), torch.arange(1, 4)


def tree_of(world: World, x: Any, y: Any) -> Any:
    return (x + 1, {"a": x * y, "none": None, "text": "s", "list": [x.sum(), 2.5]}, 3)


def write(world: World, x: Any, y: Any) -> Any:
    x.copy_(x + y)
    x.mul_(2)
    return x.sum()


def give_back(world: World, x: Any, y: Any) -> Any:
    z = x + y
    return x, z, z


ARGUMENTS = [same, sometimes_same, halves, sharing, shapes, scalars, empty, integers]
ARGUMENTS += [leaves_that_require_grad]
USES = [tree_of, write, give_back, lambda world, x, y: None]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("code", USES, ids=lambda f: f.__name__)
def test_arguments(code: Any, arguments: Any) -> None:
    if code is write and arguments in (leaves_that_require_grad, sharing):
        pytest.skip("eager code raises")
    check(World, code, [None] * 12, arguments)


def test_gradients_of_arguments() -> None:
    def code(world: World, x: Any, y: Any) -> None:
        (x * y).sum().backward()

    assert_compiled(check(World, code, [None] * 5, leaves_that_require_grad))


def test_the_same_tensor_in_other_places() -> None:
    p, q = torch.ones(3), torch.zeros(3)

    def code(x: Any, y: Any) -> Any:
        return x + y * 2 + p * 10

    compiled = torch.compile(code)
    for x, y in [(p, q)] * 3 + [(q, p)] * 3 + [(p, q)] + [(p, p)] * 3 + [(q, q)] * 3:
        assert_same(compiled(x, y), code(x, y))
    assert_compiled(compiled)


def test_what_is_returned_is_the_tensor_or_memory_of_its_own() -> None:
    p = torch.ones(3, requires_grad=True)
    optimizer = SGD([p], lr=0.1)

    @torch.compile
    def code(x: Any) -> Any:
        optimizer.zero_grad()
        (x * p).sum().backward()
        optimizer.step()
        return p, p.detach().clone(), p.grad.clone(), x

    for i in range(5):
        x = data(i, 1, np.float32)[0].clone()
        found, copy, grad, back = code(x)
        assert found is p and back is x
        arrays = [t.detach().numpy() for t in (p, p.grad, copy, grad, x)]
        for a in arrays:
            assert a.flags.writeable and sum(np.shares_memory(a, b) for b in arrays) == 1
    assert_compiled(code)


@pytest.mark.parametrize("part", [lambda x: x[0], lambda x: x.detach(), lambda x: x.T, lambda x: x])
def test_a_view_that_is_returned_is_a_view(part: Any) -> None:
    compiled = torch.compile(lambda x: part(x))
    for i in range(4):
        x = data(i)
        compiled(x).fill_(7.0)
        assert (part(x) == 7.0).all()


def test_equal_gradients_have_memory_of_their_own() -> None:
    p, q = (torch.ones(3).double().requires_grad_() for _ in range(2))

    @torch.compile
    def code(x: Any) -> None:
        p.grad = q.grad = None
        ((p + q) * x).sum().backward()

    for i in range(5):
        x = data(i)[0].clone()
        code(x)
        p.grad.mul_(2)
        assert_same(q.grad, x.detach())
        assert_same(p.grad, x * 2)
    assert_compiled(code)


# ---------------------------------------------------------------- modules and modes


def batch_norm() -> World:
    layers = torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)
    world = World(model=torch.nn.Sequential(*layers).double())
    torch.nn.init.eye_(world.model[0].weight)
    torch.nn.init.ones_(world.model[0].bias)
    world.optimizer = SGD(world.model.parameters(), lr=0.1)
    return world


def set_eps(world: World) -> None:
    world.model[1].eps = 0.5


MODES: list[Change | None] = [
    *[None] * 4,
    lambda world: world.model.eval(),
    *[None] * 2,
    set_eps,
    *[None] * 2,
    lambda world: world.model.train(),
    *[None] * 2,
]


@pytest.mark.parametrize("code", [lambda world, x: world.model(x), train], ids=["forward", "step"])
def test_batch_norm(code: Any) -> None:
    assert_compiled(check(batch_norm, code, MODES, one, results=code is not train))


def test_module_and_a_later_backward() -> None:
    eager, world = network("momentum")(), network("momentum")()
    model = torch.compile(world.model)
    assert list(model.state_dict()) == [f"_orig_mod.{k}" for k in eager.model.state_dict()]
    for i in range(6):
        expected, found = eager.model(data(i)), model(data(i))
        assert_same(found, expected)
        for w, y in ((eager, expected), (world, found)):
            y.pow(2).sum().backward()
            w.optimizer.step()
        assert_same(state(world), state(eager))
    assert_compiled(model)


def test_dropout_is_drawn_anew() -> None:
    model = torch.compile(torch.nn.Dropout(0.5))
    found = [model(torch.ones(50)).tolist() for _ in range(4)]
    assert len(set(map(tuple, found))) == 4
    assert_compiled(model)
    model.eval()
    assert all((model(torch.ones(50)) == 1).all() for _ in range(3))


def test_modes() -> None:
    p = torch.ones(3).double().requires_grad_()
    compiled = torch.compile(lambda x: (x * p, (x * p).detach()))
    for i in range(4):
        assert [y.requires_grad for y in compiled(data(i))] == [True, False]
        with torch.no_grad():
            assert not compiled(data(i))[0].requires_grad
        with torch.inference_mode():
            assert compiled(data(i))[0].is_inference()
    assert_compiled(compiled)


def test_tied_weights() -> None:
    def make() -> World:
        torch.manual_seed(1)
        one, two = (torch.nn.Linear(3, 3).double() for _ in range(2))
        two.weight = one.weight
        model = torch.nn.Sequential(one, torch.nn.Tanh(), two)
        return World(model=model, optimizer=Adam(model.parameters(), lr=0.01))

    def code(world: World, x: Any) -> Any:
        world.optimizer.zero_grad()
        world.model(x).pow(2).sum().backward()
        world.optimizer.step()

    assert_compiled(check(make, code, [None] * 6, one))


def test_inside_transforms() -> None:
    p = torch.ones(3).double()
    compiled = torch.compile(lambda x: (x * x * p).sum())
    for i in range(3):
        compiled(data(i))
    assert_same(torch.func.grad(compiled)(data(0)), data(0) * 2)
    assert_same(torch.func.vmap(compiled)(data(0)), (data(0) ** 2).sum(1))


def test_a_saved_tensor_that_compiled_code_writes() -> None:
    p, q = torch.ones(3).double().requires_grad_(), torch.ones(3).double()
    compiled = torch.compile(lambda x: q.add_(x[0]))
    for i in range(4):
        y = (p * q).sum()
        compiled(data(i))
        with pytest.raises(RuntimeError, match="modified"):
            y.backward()
    assert_compiled(compiled)


def test_an_error_leaves_what_eager_code_leaves() -> None:
    def code(world: World, x: Any) -> None:
        train(world, x)
        if x.shape[0] == 5:
            raise KeyError("found")

    eager, world = network("momentum")(), network("momentum")()
    compiled = torch.compile(lambda x: code(world, x))
    for i in range(12):
        n = 5 if i % 4 == 3 else 4
        for f in (lambda x: code(eager, x), compiled):
            if n == 5:
                with pytest.raises(KeyError):
                    f(data(i, n))
            else:
                f(data(i, n))
        assert_same(state(world), state(eager))


@pytest.mark.parametrize("kind", ["model", "array"])
def test_arguments_that_are_no_tensors(kind: str) -> None:
    world, eager, numbers = network("sgd")(), network("sgd")(), np.ones(3)

    def code(a: Any, x: Any) -> Any:
        if kind == "array":
            return x * torch.from_numpy(a)
        train(a, x)
        return None

    compiled = torch.compile(code)
    for i in range(5):
        numbers[:] = i
        pairs = (numbers, numbers) if kind == "array" else (world, eager)
        assert_same(compiled(pairs[0], data(i)), code(pairs[1], data(i)))
        assert_same(state(world), state(eager))


def test_threads() -> None:
    p = torch.ones(300).double().requires_grad_()
    compiled = torch.compile(lambda x: (x * p).sum() * x.mean())
    wrong: list[Any] = []

    def work(k: int) -> None:
        for n in range(1, 20):
            x = torch.full((n, 300), float(k)).double()
            for _ in range(3):
                try:
                    if abs(compiled(x).item() - 300 * n * k * k) > 1e-6:
                        wrong.append((k, n))
                except Exception as error:
                    wrong.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert_compiled(compiled)


def test_hooks_of_state_dicts_do_not_matter() -> None:
    model = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2).double())
    compiled = torch.compile(model)
    for i in range(3):
        assert_same(compiled(data(i)), model(data(i)))
    assert_compiled(compiled)
    model.register_forward_hook(lambda *_: None)
    for i in range(3):
        compiled(data(i))
    assert "has hooks" in compiled.explain()
