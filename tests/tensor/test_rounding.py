"""Rounding, signs, bounds and the like: values, derivatives at and off the kinks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from elementwise import agree, needs_torch
from harness import B, C, Call, F, I, call, check

import compat

nan, inf = float("nan"), float("inf")

STEPS = "floor ceil trunc fix round frac sign"

CALLS = [
    *(call(name, F(2, 3)) for name in STEPS.split()),
    *(call(f".{name}_", F(2, 3)) for name in STEPS.split()),
    *(call(name, F(2, 3)) for name in ("nan_to_num", "frexp", "signbit")),
    call("round", F(2, 3), decimals=2),
    call("round", F(2, 3, low=-200, high=200), decimals=-1),
    call("sgn", C(3)),
    call(".sgn_", C(3)),
    call("floor", F()),
    call("floor", F(0, 2)),
    call("copysign", F(2, 3), F(3)),
    call("copysign", F(2, 3), -1),
    call(".copysign_", F(2, 3), F(3)),
    call("heaviside", F(2, 3, grad=False), F(3, grad=False)),
    call(".heaviside_", F(2, 3, grad=False), F(3, grad=False)),
    call("clamp", F(3, 4), -1, 1),
    call("clamp", F(3, 4), min=-0.5),
    call("clamp", F(3, 4), max=0.5),
    call("clamp", F(3, 4), F(4, low=-1, high=0), F(3, 1, low=0, high=1)),
    call("clamp", F(3, 4), F(4), F(3, 1)),
    call("clamp", F(3), I(3), None),
    call("clamp", F(3), 1, -1),
    call("clip", F(3, 4), -1, 1),
    call("clamp_min", F(3, 4), 0.5),
    call("clamp_min", F(3, 4), F(4)),
    call("clamp_max", F(3, 4), 0.5),
    call("clamp_max", F(3, 4), F(3, 1)),
    call(".clamp_", F(3, 4), -1, 1),
    call(".clip_", F(3, 4), -1, 1),
    call(".clamp_min_", F(3, 4), 0.5),
    call(".clamp_max_", F(3, 4), F(4)),
    call(".clamp", F(3), max=1),
    *(call(name, F(3, 4), F(4)) for name in ["maximum", "minimum", "fmax", "fmin"]),
    *(call(name, F(2, 1), F(3)) for name in ["maximum", "minimum", "fmax", "fmin"]),
    call("maximum", F(2, 1), I(3)),
    call("nextafter", F(2, 3), F(3)),
    call(".nextafter_", F(2, 3), F(2, 3)),
    call("ldexp", F(2, 3), I(3)),
    call("ldexp", F(2, 3), F(3)),
    call(".ldexp_", F(2, 3), I(3)),
    call(".nan_to_num_", F(2, 3), 1.0),
    call("signbit", B(3)),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


def grads(f: Callable[..., Any], *values: list[float]) -> list[Any]:
    xs = [compat.tensor(v, requires_grad=True) for v in values]
    f(*xs).sum().backward()
    return [None if x.grad is None else x.grad.tolist() for x in xs]


def test_kinks() -> None:
    """At a bound `clamp` gives all to the input; ties of a maximum are split; steps are flat."""
    assert grads(lambda x: x.clamp(0, 1), [0.0, 1.0, 0.5, 2.0]) == [[1, 1, 1, 0]]
    assert grads(lambda x: compat.clamp_min(x, 0), [0.0, -1.0]) == [[1, 0]]
    assert grads(compat.clamp, [0.0, -1.0, 3.0], [0.0] * 3, [1.0] * 3) == [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ]
    assert grads(compat.maximum, [1.0, 2.0], [1.0, 1.0]) == [[0.5, 1], [0.5, 0]]
    assert grads(compat.minimum, [1.0, 2.0], [1.0, 1.0]) == [[0.5, 0], [0.5, 1]]
    assert grads(compat.fmax, [1.0, nan, 2.0], [1.0, 1.0, nan]) == [[1, 0, 1], [0, 1, 0]]
    assert grads(compat.fmin, [1.0, nan, 2.0], [1.0, 1.0, nan]) == [[1, 0, 1], [0, 1, 0]]
    assert grads(compat.copysign, [0.0, -2.0], [1.0, 1.0]) == [[0, -1], [0, 0]] or grads(
        compat.copysign, [0.0, -2.0], [1.0, 1.0]
    ) == [[0, -1], None]
    for f in (compat.floor, compat.ceil, compat.round, compat.trunc, compat.sign, compat.sgn):
        assert grads(f, [0.0, 0.5, 2.0, -1.5]) == [[0, 0, 0, 0]]
    assert grads(compat.nan_to_num, [1.0, nan, inf]) == [[1, 0, 0]]
    assert grads(compat.frac, [0.0, 1.5]) == [[1, 1]]


def test_steps_keep_the_graph() -> None:
    """A rounding in the middle of a graph is no leaf, and has PyTorch's node."""
    x = compat.tensor([0.5, 1.5], requires_grad=True)
    names = {
        "FloorBackward0": x.floor(),
        "CeilBackward0": x.ceil(),
        "RoundBackward0": x.round(),
        "RoundBackward1": x.round(decimals=1),
        "TruncBackward0": x.trunc(),
        "SignBackward0": x.sign(),
        "SgnBackward0": x.sgn(),
        "FracBackward0": x.frac(),
        "ClampBackward1": x.clamp(0, 1),
        "ClampBackward0": x.clamp(x, x),
        "ClampMinBackward0": x.clamp_min(0),
        "ClampMinBackward1": x.clamp_min(x),
        "ClampMaxBackward0": x.clamp_max(0),
        "ClampMaxBackward1": x.clamp_max(x),
        "MaximumBackward0": compat.maximum(x, x),
        "FmaxBackward0": compat.fmax(x, x),
        "CopysignBackward0": compat.copysign(x, x),
        "CopysignBackward1": compat.copysign(x, 1),
        "NanToNumBackward0": compat.nan_to_num(x),
        "LdexpBackward0": compat.ldexp(x, compat.tensor(2)),
    }
    for name, y in names.items():
        assert y.grad_fn.name() == name
    assert compat.frexp(x).mantissa.grad_fn.name() == "FrexpBackward0"
    y = x * 1
    y.floor_()
    (y * x).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]
    with compat.no_grad():
        assert x.floor().grad_fn is None


VALUES: list[Callable[[Any], Any]] = [
    lambda m: m.round(m.tensor([0.5, 1.5, 2.5, -0.5])),
    lambda m: m.round(m.tensor([12]), decimals=-1),
    lambda m: m.round(m.tensor([12])),
    lambda m: m.floor(m.tensor([-3, 3])),
    lambda m: m.frac(m.tensor([-1.5, 2.0])),
    lambda m: m.sign(m.tensor([nan, -0.0, -2.0])),
    lambda m: m.sign(m.tensor([1j])),
    lambda m: m.sign(m.tensor([-3, 0, 3])),
    lambda m: m.sgn(m.tensor([3 + 4j, 0j])),
    lambda m: m.signbit(m.tensor([-0.0, 0.0, -1.0])),
    lambda m: m.copysign(m.tensor([1]), -1),
    lambda m: m.copysign(m.tensor([1.0]), -0.0),
    lambda m: m.copysign(m.tensor([1]), m.tensor([-2.0], dtype=m.float64)),
    lambda m: m.heaviside(m.tensor([1.0]), m.tensor([1])),
    lambda m: m.heaviside(m.tensor([0, 2]), m.tensor([5, 5])),
    lambda m: m.clamp(m.tensor([1.0])),
    lambda m: m.clamp(m.tensor([1, 5]), min=1.5),
    lambda m: m.clamp(m.tensor([1, 5]), min=2),
    lambda m: m.clamp(m.tensor([1, 5], dtype=m.uint8), max=2),
    lambda m: m.clamp(m.tensor([1, 5]), min=m.tensor([1.5])),
    lambda m: m.clamp(m.tensor([1j]), min=0),
    lambda m: m.clamp(m.tensor([nan, 2.0]), 0, 1),
    lambda m: m.clamp(m.tensor([True]), min=0),
    lambda m: m.tensor([5, 5]).clamp(3, 1),
    lambda m: m.clamp_min(m.tensor([1, 5]), 2.5),
    lambda m: m.tensor([1, 5]).clamp_(min=2.5),
    lambda m: m.maximum(m.tensor([1]), 2),
    lambda m: m.maximum(m.tensor([1.0, nan]), m.tensor([nan, 1.0])),
    lambda m: m.fmax(m.tensor([1.0, nan]), m.tensor([nan, 1.0])),
    lambda m: m.fmin(m.tensor([nan]), m.tensor([nan])),
    lambda m: m.fmax(m.tensor([1]), m.tensor([2.5])),
    lambda m: m.nextafter(m.tensor([1.0]), m.tensor([2])),
    lambda m: m.nextafter(m.tensor([1]), m.tensor([2])),
    lambda m: m.ldexp(m.tensor([1.0]), m.tensor([2])),
    lambda m: m.ldexp(m.tensor([1]), m.tensor([2.5])),
    lambda m: m.ldexp(m.tensor([1.0]), 2),
    lambda m: tuple(m.frexp(m.tensor([3.0, 0.0, inf, -5.0, 1e-40]))),
    lambda m: m.frexp(m.tensor([3])),
    lambda m: m.nan_to_num(m.tensor([nan, inf, -inf])),
    lambda m: m.nan_to_num(m.tensor([nan, inf, -inf]), 1.0, 2.0, 3.0),
    lambda m: m.nan_to_num(m.tensor([1, 2]), nan=3),
    lambda m: m.nan_to_num(m.tensor([complex(nan, inf)])),
    lambda m: m.floor(m.tensor([1.5]), out=m.tensor([0.0])),
    lambda m: m.trunc(m.tensor([inf, -0.5])),
]


@needs_torch
@pytest.mark.parametrize("index", range(len(VALUES)))
def test_value(index: int) -> None:
    agree(VALUES[index])


def test_frexp_has_names() -> None:
    found = compat.frexp(compat.tensor([3.0]))
    assert found.mantissa.item() == 0.75 and found.exponent.dtype is compat.int32
    np.testing.assert_array_equal(found[0].numpy() * 2.0 ** found[1].numpy(), [3.0])


@needs_torch
def test_the_slope_of_copysign_by_the_sign_is_zero() -> None:
    agree(lambda m: _slopes_of_copysign(m, m.tensor([2.0, -3.0, 0.0]), m.tensor([-1.0])))
    agree(lambda m: _slopes_of_copysign(m, m.tensor([2.0]), m.tensor([[-1.0], [0.0]])))


def test_clamp_between_tensors_converts_to_out() -> None:
    """Between numbers `out` has the dtype of the result; it had to between tensors as well."""
    x, low = compat.tensor([1.0, 5.0]), compat.tensor([2.0, 2.0])
    y = compat.zeros(2, dtype=compat.float64)
    assert compat.clamp(x, low, low + 1, out=y).tolist() == [2.0, 3.0]
    assert compat.clamp_min(x, low, out=y).tolist() == [2.0, 5.0]
    assert compat.clamp_max(x, low, out=y).tolist() == [1.0, 2.0]
    for wrong in (
        lambda: compat.clamp(x, 2, 3, out=y),
        lambda: compat.clamp_min(x, low, out=compat.zeros(2, dtype=compat.int64)),
    ):
        with pytest.raises(RuntimeError, match=r"dtype|can't be cast"):
            wrong()


def _slopes_of_copysign(m: Any, x: Any, y: Any) -> Any:
    x.requires_grad_()
    y.requires_grad_()
    z = m.copysign(x, y)
    return (
        z,
        *m.autograd.grad((z * z + z).sum(), [x, y]),
        m.copysign(x.detach(), y).grad_fn.name(),
    )
