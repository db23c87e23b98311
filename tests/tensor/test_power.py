"""Powers and roots: values, derivatives, fast paths of common exponents, integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from elementwise import agree, needs_torch, outcome
from harness import C, Call, F, I, call, check

import compat
from compat.ops.power import _COMMON

CALLS = [
    *(call("pow", F(2, 3, low=0.3), e) for e in sorted(_COMMON)),
    *(call("pow", F(2, 3), e) for e in (0, 1, 2, 3, 5, -1, 2.0)),
    call("pow", F(2, 3, low=0.3), 0.3),
    call("pow", F(), 2),
    call("pow", F(0), 3),
    call("pow", C(2), 2),
    call("pow", C(2), -1.5),
    call("pow", F(2, low=0.3), 2j),
    call("pow", F(2, 3, low=0.3), F(3)),
    call("pow", F(3, low=0.3), F(2, 1)),
    call("pow", F(3, low=0.3), I(3)),
    call("pow", 2, F(3)),
    call("pow", 2.5, F()),
    call("pow", C(3), C(3)),
    call("float_power", F(3, low=0.3), 2),
    call("float_power", F(3, low=0.3), F(3)),
    call("float_power", 3, F(3)),
    call("square", F(2, 3)),
    call("square", C(2)),
    call("sqrt", F(2, 3, low=0.1)),
    call("sqrt", C(2)),
    call("rsqrt", F(2, 3, low=0.1)),
    call("rsqrt", C(2)),
    call(".pow_", F(2, 3), 3),
    call(".pow_", F(2, 3, low=0.3), F(2, 3)),
    call(".float_power_", F(3, low=0.3), 2),
    call(".square_", F(2, 3)),
    call(".sqrt_", F(2, 3, low=0.1)),
    call(".rsqrt_", F(2, 3, low=0.1)),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", sorted(_COMMON))
def test_fast_path(exponent: float, dtype: str) -> None:
    """What is printed for an exponent is what the primitive says, to the second derivative."""
    values = np.array([0.5, 1.0, 2.5], dtype)
    found = []
    for e in (exponent, compat.tensor(float(exponent), dtype=getattr(compat, dtype))):
        x = compat.from_numpy(values.copy()).requires_grad_()
        y = x**e
        (g,) = compat.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = compat.autograd.grad((g * g).sum(), x)
        assert y.dtype is x.dtype and g.dtype is x.dtype
        found.append([a.detach().numpy() for a in (y, g, h)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=3e-6 if dtype == "float32" else 1e-14)


def test_node() -> None:
    x = compat.tensor([1.0, 2.0], requires_grad=True)
    q = compat.tensor(3.0, requires_grad=True)
    names = {
        "PowBackward0": (x**2, x**2.7, x.pow(3), compat.square(x), x**-1, x**True),
        "PowBackward1": (x**q, q**x),
        "PowBackward2": (2**x, compat.pow(2, x)),
        "SqrtBackward0": (x.sqrt(),),
        "RsqrtBackward0": (compat.rsqrt(x),),
    }
    for name, results in names.items():
        assert [y.grad_fn.name() for y in results] == [name] * len(results)
    assert (x**2).grad_fn._saved_self is x and (x**2.7).grad_fn._saved_self is x
    assert (x**3).grad_fn.next_functions[0][0] is x.grad_fn or x.is_leaf


def test_kinks() -> None:
    """x**0 at 0 has derivative 0; 0**y by y as well; square roots have an infinite slope at 0."""
    x = compat.tensor([0.0, 2.0], requires_grad=True)
    (x**0.0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    y = compat.tensor([2.0, 0.0], requires_grad=True)
    (compat.tensor(0.0) ** y).sum().backward()
    assert y.grad.tolist() == [0.0, 0.0]
    for f in (compat.sqrt, lambda z: z**0.5):
        z = compat.tensor(0.0, requires_grad=True)
        f(z).backward()
        assert z.grad.item() == np.inf


def test_saved_operand_is_checked() -> None:
    x = compat.tensor([1.0, 2.0], requires_grad=True)
    b = x * 2
    c = b**3
    b.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*PowBackward0"):
        c.sum().backward()
    y = (x * 1) ** 2
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


VALUES: list[Callable[[Any], Any]] = [
    lambda m: m.pow(m.tensor([2, 1, -1, -1, 0]), m.tensor([-1, -1, -1, -2, 3])),
    lambda m: 2 ** m.tensor([-1, 2]),
    lambda m: m.tensor([2], dtype=m.uint8) ** m.tensor([7], dtype=m.uint8),
    lambda m: m.tensor([True]) ** 2,
    lambda m: m.tensor([True, False]) ** True,
    lambda m: m.tensor([True, False]) ** False,
    lambda m: m.tensor([2.0, -8.0]) ** (1 / 3),
    lambda m: m.tensor([0.0, -0.0, float("inf")]) ** -1,
    lambda m: m.tensor([2, 3]) ** 2.0,
    lambda m: m.tensor([2, 3]) ** 0.5,
    lambda m: m.tensor([2, 3]) ** m.tensor(2.0),
    lambda m: m.tensor([2.0, 3.0], dtype=m.float64) ** m.tensor(2),
    lambda m: m.float_power(m.tensor([2]), -1),
    lambda m: m.float_power(2, m.tensor([-1])),
    lambda m: m.float_power(m.tensor([2j]), 2),
    lambda m: m.square(m.tensor([True])),
    lambda m: m.square(m.tensor([-3], dtype=m.int8)),
    lambda m: m.rsqrt(m.tensor([4])),
    lambda m: m.tensor([4]) ** -1,
    lambda m: m.pow(2, 3),
    lambda m: m.float_power(2, 3),
    lambda m: m.tensor([True]) ** m.tensor([True]),
    lambda m: m.tensor([1]).pow_(0.5),
    lambda m: m.tensor([4]).sqrt_(),
    lambda m: m.pow(m.tensor([2.0]), 2, out=m.tensor([0.0])),
    lambda m: pow(m.tensor([2]), 2, 3),
    lambda m: m.tensor([1.0]) ** "a",
]


@needs_torch
@pytest.mark.parametrize("index", range(len(VALUES)))
def test_value(index: int) -> None:
    agree(VALUES[index])


def test_message() -> None:
    error = outcome(compat, lambda m: m.tensor([2]) ** -1)
    assert "Integers to negative integer powers are not allowed." in str(error)
