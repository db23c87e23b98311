"""`funcgrad.optim`: descent, the transforms, the loops in place, and the textbook's formulas."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad import numpy as fnp
from funcgrad import optim, tree
from funcgrad.optim import in_place
from funcgrad.optim.rule import Rule, initial, switched_on

NAMES = [n for n in optim.__all__ if n != "Optimizer"]
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in NAMES),
    ("sgd", {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("sgd", {"momentum": 0.9, "nesterov": True, "maximize": True}),
    ("adam", {"amsgrad": True, "weight_decay": 0.1}),
    ("nadam", {"decoupled_weight_decay": True, "weight_decay": 0.1}),
    ("radam", {"betas": (0.5, 0.6), "maximize": True}),
    ("rmsprop", {"momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    ("asgd", {"t0": 1.0, "lambd": 0.1}),
]
every_variant = pytest.mark.parametrize(
    ("name", "options"), VARIANTS, ids=[f"{n}{o or ''}" for n, o in VARIANTS]
)
RATES = {"adadelta": 1.0, "adafactor": 0.02}


def made(name: str, options: dict[str, Any], **more: Any) -> Any:
    return getattr(optim, name)(**{"lr": RATES.get(name, 0.02), **options, **more})


def some_params(dtype: str = "float64") -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shapes = {"w": (3, 2), "b": (4,), "c": ()}
    return {k: np.asarray(rng.normal(size=s), dtype) for k, s in shapes.items()}


def gradients(params: Any) -> Any:
    return funcgrad.grad(lambda p: sum(((x - 1.0) ** 2).sum() for x in tree.leaves(p)))(params)


def steps(optimizer: Any, params: Any, count: int, update: Any = None) -> tuple[Any, Any]:
    state = optimizer.init(params)
    for _ in range(count):
        params, state = (update or optimizer.update)(gradients(params), state, params)
    return params, state


def assert_close(a: Any, b: Any, tolerance: float = 1e-12) -> None:
    assert tree.structure(a) == tree.structure(b)
    for x, y in zip(tree.leaves(a), tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


# ---------------------------------------------------------------- what an update is


@pytest.mark.parametrize("name", NAMES)
def test_the_distance_gets_smaller(name: str) -> None:
    params = some_params()
    found, _ = steps(made(name, {}), params, 60)
    assert_smaller = [
        np.square(new - 1).sum() < np.square(old - 1).sum()
        for new, old in zip(tree.leaves(found), tree.leaves(params), strict=True)
    ]
    assert all(assert_smaller)


@every_variant
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_types_stay(name: str, options: dict[str, Any], dtype: str) -> None:
    params, optimizer = some_params(dtype), made(name, options)
    before = {k: v.copy() for k, v in params.items()}
    found, state = steps(optimizer, params, 3)
    assert {k: (v.shape, v.dtype) for k, v in found.items()} == {
        k: (v.shape, v.dtype) for k, v in params.items()
    }
    assert tree.structure(state) == tree.structure(optimizer.init(params))
    assert int(state["step"]) == 3
    assert_close(params, before, 0.0)  # nothing is written into


@every_variant
def test_compiled(name: str, options: dict[str, Any]) -> None:
    optimizer = made(name, options)
    expected = steps(optimizer, some_params(), 8)
    assert_close(steps(optimizer, some_params(), 8, funcgrad.jit(optimizer.update)), expected)


@every_variant
def test_batched(name: str, options: dict[str, Any]) -> None:
    """A batch of trainings is the trainings one by one."""
    optimizer = made(name, options)
    starts = [{k: v + i for k, v in some_params().items()} for i in range(3)]
    batch = tree.map(lambda *xs: np.stack(xs), *starts)
    together = funcgrad.vmap(lambda p: steps(optimizer, p, 4)[0])(batch)
    alone = [steps(optimizer, p, 4)[0] for p in starts]
    assert_close(together, tree.map(lambda *xs: np.stack(xs), *alone))


@every_variant
def test_differentiated(name: str, options: dict[str, Any]) -> None:
    """The derivative of the result by the learning rate is the slope of differences."""

    def loss(lr: Any) -> Any:
        found, _ = steps(made(name, options, lr=lr), some_params(), 4)
        return sum((x**2).sum() for x in tree.leaves(found))

    lr, h = RATES.get(name, 0.02) * 0.99, 1e-6
    slope = (loss(lr + h) - loss(lr - h)) / (2 * h)
    np.testing.assert_allclose(funcgrad.grad(loss)(lr), slope, rtol=1e-5, atol=1e-7)


@given(rates=st.lists(st.floats(0.001, 0.5), min_size=5, max_size=5))
def test_a_rate_that_is_a_function(rates: list[float]) -> None:
    """Descent with a schedule is descent with the rates one after the other."""
    table = np.array(rates)
    optimizer = optim.sgd(lr=lambda step: fnp.take(table, step))
    found, _ = steps(optimizer, some_params(), 5)
    compiled, _ = steps(optimizer, some_params(), 5, funcgrad.jit(optimizer.update))
    factor = np.prod(1 - 2 * table)
    assert_close(found, {k: 1 + (v - 1) * factor for k, v in some_params().items()}, 1e-10)
    assert_close(compiled, found)


@every_variant
def test_a_gradient_of_none(name: str, options: dict[str, Any]) -> None:
    """It leaves the parameter and its state alone, which zeros would not."""
    params, optimizer = some_params(), made(name, options)
    state = optimizer.init(params)
    grads = {**gradients(params), "b": None}
    found, after = optimizer.update(grads, state, params)
    assert found["b"] is params["b"] and not np.array_equal(found["w"], params["w"])
    for k in state.keys() - {"step"}:
        assert after[k]["b"] is state[k]["b"]


def test_adam_is_the_textbooks() -> None:
    x, m, v = 3.0, 0.0, 0.0
    optimizer = optim.adam(lr=0.1, betas=(0.8, 0.9), eps=1e-3)
    param = np.array(x)
    state = optimizer.init(param)
    for t in range(1, 20):
        g = np.sin(x) + t
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        x -= 0.1 * (m / (1 - 0.8**t)) / (np.sqrt(v / (1 - 0.9**t)) + 1e-3)
        param, state = optimizer.update(np.sin(param) + t, state, param)
        np.testing.assert_allclose(param, x, rtol=1e-12)


def test_the_first_gradient_is_the_first_buffer() -> None:
    optimizer = optim.sgd(lr=1.0, momentum=0.5, dampening=0.75)
    p = np.zeros(2)
    p, state = optimizer.update(np.ones(2), optimizer.init(p), p)
    assert p.tolist() == [-1.0, -1.0]
    p, _ = optimizer.update(np.ones(2), state, p)
    assert p.tolist() == [-1.75, -1.75]


@pytest.mark.parametrize("name", NAMES)
def test_ranges(name: str) -> None:
    with pytest.raises(ValueError, match=r"[Ll]earning rate"):
        getattr(optim, name)(lr=-0.1)
    if "betas" in inspect.signature(getattr(optim, name)).parameters:
        with pytest.raises(ValueError, match="beta parameter at index 1"):
            getattr(optim, name)(betas=(0.5, 1.0))


def test_other_trees_are_refused() -> None:
    optimizer, params = optim.adam(), some_params()
    with pytest.raises(ValueError, match="structure"):
        optimizer.update({"w": params["w"]}, optimizer.init(params), params)


def test_printing() -> None:
    assert repr(optim.adadelta(lr=max)) == (
        "adadelta(lr=max, rho=0.9, eps=1e-06, weight_decay=0.0, maximize=False)"
    )


# ---------------------------------------------------------------- in place


@every_variant
@pytest.mark.parametrize("code", ["numpy", "c"])
@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (in_place.BLOCK + 3,), (in_place.LARGE + 1,)])
def test_in_place(name: str, options: dict[str, Any], code: str, shape: tuple[int, ...]) -> None:
    """The loop writes what the rule gives: in blocks, in threads, of rows that lie apart."""
    optimizer = made(name, options)
    rule, options = optimizer.rule, optimizer.options
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(*shape, 2)).astype(np.float32)
    p = wide[..., 0] if len(shape) == 2 else np.array(wide[..., 0])
    g = np.asarray(rng.normal(size=shape), np.float32)
    arrays = {k: np.array(v + np.float32(0.1)) for k, v in rule.begin(p, options).items()}
    counts = {**initial(rule, options), **({"step": 3.0} if "step" in rule.counts else {})}
    expected, changes = rule(p, g, {**counts, **arrays}, options)
    numbers, _ = rule.numbers(options, counts)
    loop = in_place.loop_of(rule, p.dtype, tuple(arrays), tuple(numbers), switched_on(options))
    if not rule.is_elementwise:
        assert loop is None
        return
    assert loop is not None
    with funcgrad.config(code):
        loop(p, g, *arrays.values(), *numbers.values())
    np.testing.assert_allclose(p, expected, rtol=1e-6, atol=1e-7)
    for k, x in arrays.items():
        np.testing.assert_allclose(x, changes[k], rtol=1e-6, atol=1e-7, err_msg=k)


def test_no_loop_for_state_that_is_not_there_yet() -> None:
    rule = optim.sgd(momentum=0.9).rule
    dtype = np.dtype(np.float32)
    assert in_place.loop_of(rule, dtype, (), ("rate", "momentum", "share"), frozenset()) is None
    assert in_place.loop_of(rule, np.dtype(np.int64), (), ("rate",), frozenset()) is None


def test_results_that_cannot_be_written_at_once() -> None:
    """What is read later is not overwritten; a result that is there already is copied."""

    def move(p: Any, g: Any, s: Any, n: Any, on: Any) -> Any:
        half = p * 0.5
        new = half * n["rate"]
        return new, {"old": s["old"] + half + p, "twin": new, "last": g}

    rule = Rule(lambda options, counts: ({"rate": 6.0}, {}), move)
    for code in ("numpy", "c"):
        p, g = np.arange(4.0), np.ones(4)
        arrays = [np.ones(4), np.zeros(4), np.zeros(4)]
        loop = in_place.loop_of(rule, p.dtype, ("old", "twin", "last"), ("rate",), frozenset())
        assert loop is not None
        with funcgrad.config(code):
            loop(p, g, *arrays, 6.0)
        assert [x.tolist() for x in (p, *arrays)] == [
            [0.0, 3.0, 6.0, 9.0],
            [1.0, 2.5, 4.0, 5.5],
            [0.0, 3.0, 6.0, 9.0],
            [1.0, 1.0, 1.0, 1.0],
        ]
