"""Arithmetic, element by element: every function against differences and PyTorch; operators."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from elementwise import agree, needs_torch, outcome
from harness import C, Call, F, I, call, check
from hypothesis import given, settings
from hypothesis import strategies as st

import compat

IN_PLACE = "add sub mul div multiply subtract divide true_divide remainder fmod"

CALLS = [
    call("add", F(2, 3), F(3)),
    call("add", F(2, 3), F(3), alpha=2),
    call("add", F(2, 3), F(3), alpha=0.5),
    call("add", F(), F(2)),
    call("add", F(0, 3), F(3)),
    call("add", C(2), F(2)),
    call("add", F(2, 3), 1.5),
    call("add", F(2, 3), I(3), alpha=2),
    call("add", F(2), 1, alpha=0.1),
    call("sub", F(2, 1), F(3)),
    call("sub", F(2, 1), F(3), alpha=3),
    call("sub", F(2), 2),
    call("sub", C(2), C(2), alpha=2j),
    call("rsub", F(2, 3), F(3)),
    call("rsub", F(2, 3), F(3), alpha=2),
    call("rsub", F(2, 3), 2.0, alpha=2),
    call("mul", F(2, 1), F(3)),
    call("mul", C(2, 1), C(3)),
    call("mul", F(2), C(2)),
    call("mul", F(2), 2j),
    call("multiply", F(2), F(2)),
    call("div", F(2, 1), F(3, low=1)),
    call("div", F(2, 1), 3),
    call("div", 3, F(2, low=1)),
    call("div", C(2), C(2)),
    call("div", F(2, 3), F(3, low=1), rounding_mode="floor"),
    call("div", F(2, 3), F(3, low=1), rounding_mode="trunc"),
    call("div", F(2, 3), 0.3, rounding_mode="trunc"),
    call("true_divide", F(2), F(2, low=1)),
    call("remainder", F(2, 3), F(3, low=1)),
    call("remainder", F(2, 3), 0.7),
    call("remainder", F(2, 3), -0.7),
    call("fmod", F(2, 3), F(3, low=1)),
    call("fmod", F(2, 3), -0.7),
    call("neg", F(2, 3)),
    call("neg", C(2)),
    call("positive", F(2)),
    call("abs", F(2, 3)),
    call("abs", C(2, 3)),
    call("absolute", F()),
    call("reciprocal", F(2, low=0.5)),
    call("reciprocal", C(2)),
    call("addcmul", F(2, 3), F(3), F(2, 1)),
    call("addcmul", F(2, 3), F(3), F(2, 1), value=0.5),
    call("addcmul", F(3), F(2, 3), F()),
    call("addcmul", C(3), C(3), F(3), value=2j),
    call("addcdiv", F(2, 3), F(3), F(2, 1, low=1)),
    call("addcdiv", F(2, 3), F(3), F(2, 1, low=1), value=-2),
    call("lerp", F(2, 3), F(2, 3), 0.25),
    call("lerp", F(2, 3), F(3), 0.75),
    call("lerp", F(2, 3), F(3), F(2, 1, low=0, high=1)),
    call("lerp", C(3), C(3), 0.75),
    *(call(f".{name}_", F(2, 3), F(3, low=1)) for name in IN_PLACE.split()),
    *(call(f".{name}_", F(2, 3)) for name in ["neg", "negative", "abs", "absolute", "reciprocal"]),
    call(".div_", F(2, 3), 0.3, rounding_mode="floor"),
    call(".add_", F(2, 3), F(3), alpha=2),
    call(".addcmul_", F(2, 3), F(3), F(3)),
    call(".addcdiv_", F(2, 3), F(3), F(3, low=1)),
    call(".lerp_", F(2, 3), F(3), 0.3),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


def test_rounded_quotients_hand_zeros() -> None:
    x = compat.tensor([1.0, 2.5], requires_grad=True)
    y = compat.tensor([0.5, 2.0], requires_grad=True)
    z = (x // y) + compat.div(x, y, rounding_mode="trunc")
    z.sum().backward()
    assert x.grad.tolist() == y.grad.tolist() == [0.0, 0.0]


# ---------------------------------------------------------------- dtypes and refusals

KINDS = ("bool", "uint8", "int8", "int64", "float16", "float32", "float64", "complex64")
BINARY = (
    "add sub rsub mul div floor_divide remainder fmod gcd lcm maximum fmax atan2 hypot copysign "
    "nextafter heaviside logaddexp xlogy eq lt ge logical_and bitwise_or bitwise_left_shift pow "
    "float_power"
)
UNARY = (
    "neg positive abs reciprocal square sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos "
    "tan asin acos atan sinh cosh tanh asinh acosh atanh sinc deg2rad rad2deg floor ceil trunc "
    "round frac sign sgn signbit sigmoid logit relu erf erfc erfinv lgamma digamma i0 "
    "nan_to_num isnan isinf isfinite isposinf isneginf isreal logical_not bitwise_not real imag "
    "conj conj_physical angle is_complex is_floating_point"
)


def made(module: Any, kind: str, values: list[Any]) -> Any:
    return module.tensor(values, dtype=getattr(module, kind))


@needs_torch
@pytest.mark.parametrize("name", UNARY.split())
def test_unary_dtype(name: str) -> None:
    """The same dtype, shape and numbers as PyTorch, or the same type of error."""
    for kind in KINDS:
        for values in ([True, False] if kind == "bool" else [0, 1, 3], []):
            agree(
                lambda m, kind=kind, values=values: getattr(m, name)(made(m, kind, values)),
                half=kind == "float16",
            )


@needs_torch
@pytest.mark.parametrize("name", BINARY.split())
@pytest.mark.parametrize("kind", KINDS)
def test_binary_dtype(name: str, kind: str) -> None:
    for other in (*KINDS, "0-d int64", "0-d float64", True, 2, 2.5):
        agree(_binary(name, kind, other), half=kind == "float16" or other == "float16")


def _binary(name: str, kind: str, other: Any) -> Callable[[Any], Any]:
    def f(m: Any) -> Any:
        x = made(m, kind, [1, 0] if kind == "bool" else [5, 3])
        if not isinstance(other, str):
            y = other
        elif other.startswith("0-d"):
            y = m.tensor(2, dtype=getattr(m, other[4:]))
        else:
            y = made(m, other, [1, 1] if other == "bool" else [2, 3])
        return getattr(m, name)(x, y)

    return f


REFUSALS: list[Callable[[Any], Any]] = [
    lambda m: m.tensor([1.0]) * [1],
    lambda m: m.tensor([1.0]) - "a",
    lambda m: m.tensor([1.0]) / None,
    lambda m: operator.iadd(m.tensor([1.0]), "a"),
    lambda m: m.add(m.tensor([1.0]), None),
    lambda m: m.exp(1),
    lambda m: m.exp([1.0]),
    lambda m: (
        m.ones(2) + m.ones(3) if hasattr(m, "ones") else m.tensor([1.0, 1]) + m.tensor([1.0] * 3)
    ),
    lambda m: m.tensor([1]) // 0,
    lambda m: m.tensor([7, -7]) // m.tensor([0, 2]),
    lambda m: m.tensor([1]) % 0,
    lambda m: m.fmod(m.tensor([1]), 0),
    lambda m: m.div(m.tensor([1]), 0, rounding_mode="trunc"),
    lambda m: m.div(m.tensor([1.0]), 2, rounding_mode="x"),
    lambda m: m.tensor([True]) - True,
    lambda m: m.tensor([True]) - 1,
    lambda m: 1 - m.tensor([True]),
    lambda m: m.sub(m.tensor([True]), m.tensor([1])),
    lambda m: -m.tensor([True]),
    lambda m: +m.tensor([True]),
    lambda m: m.add(m.tensor([1]), m.tensor([1]), alpha=0.5),
    lambda m: m.add(m.tensor([1]), m.tensor([1]), alpha=True),
    lambda m: m.addcdiv(m.tensor([1]), m.tensor([2]), m.tensor([1])),
    lambda m: m.lerp(m.tensor([1.0]), m.tensor([1.0], dtype=m.float64), 0.5),
    lambda m: m.lerp(m.tensor([1]), m.tensor([2]), 0.5),
    lambda m: m.tensor([1]).add_(1.5),
    lambda m: m.tensor([1]).mul_(1.5),
    lambda m: m.tensor([1]).div_(2),
    lambda m: operator.itruediv(m.tensor([1]), 2),
    lambda m: m.gcd(m.tensor([12.0]), m.tensor([18.0])),
    lambda m: m.tensor([1.0]).add_(m.tensor([1.0, 2.0])),
    lambda m: m.add(m.tensor([1.5]), 1, out=m.tensor([1])),
]


@needs_torch
@pytest.mark.parametrize("index", range(len(REFUSALS)))
def test_refusal(index: int) -> None:
    """The same type of error as PyTorch's, and its words."""
    ours, theirs = outcome(compat, REFUSALS[index]), outcome(None, REFUSALS[index])
    assert isinstance(ours, Exception) and isinstance(theirs, Exception), (ours, theirs)
    assert type(ours).__name__ == type(theirs).__name__, (ours, theirs)
    words = str(theirs).split(".")[0].split(" but got")[0]
    assert words.split(" (")[0] in str(ours) or "operand type" in words, (ours, theirs)


VALUES: list[Callable[[Any], Any]] = [
    lambda m: m.add(2, 3),
    lambda m: m.add(m.tensor([True]), m.tensor([True]), alpha=2),
    lambda m: m.addcmul(m.tensor([1]), m.tensor([2]), m.tensor([1]), value=1.5),
    lambda m: m.addcmul(m.tensor([1]), m.tensor([2.0]), m.tensor([1]), value=2),
    lambda m: m.tensor([100], dtype=m.int8) + 300,
    lambda m: m.tensor([100], dtype=m.uint8) - 300,
    lambda m: m.tensor([100], dtype=m.uint8) * -1,
    lambda m: m.abs(m.tensor([-128], dtype=m.int8)),
    lambda m: m.tensor([7, -7]) // 2,
    lambda m: m.div(m.tensor([7, -7, -8]), 2, rounding_mode="trunc"),
    lambda m: m.div(m.tensor([7, -7, -8]), m.tensor([-2, 3, -8]), rounding_mode="trunc"),
    lambda m: m.tensor([7, -7]) % m.tensor([-2, 2]),
    lambda m: m.fmod(m.tensor([7, -7]), m.tensor([-2, 2])),
    lambda m: m.tensor([7.0, -7.0, 0.0]) // 0.0,
    lambda m: m.tensor([7.0, -7.0]) % 0.0,
    lambda m: 5 // m.tensor([2]),
    lambda m: 5.5 // m.tensor([2]),
    lambda m: 5 % m.tensor([3, -3]),
    lambda m: 1 - m.tensor([1.0, 2.0]),
    lambda m: 1 / m.tensor([0.0, 2.0]),
    lambda m: 3 / m.tensor([1, 2]),
    lambda m: m.tensor([3, 4]) / 2,
    lambda m: m.tensor([1.0]) + m.tensor([1.0], dtype=m.float64),
    lambda m: m.tensor([1.0]) + m.tensor(1.0, dtype=m.float64),
    lambda m: m.tensor([1]) + 1.5,
    lambda m: m.tensor(1) + m.tensor([True]),
    lambda m: m.tensor([1.0]) * 2j,
    lambda m: m.tensor([1.0], dtype=m.float64) * m.tensor(2j),
    lambda m: operator.ifloordiv(m.tensor([7, 8]), 2),
    lambda m: operator.imod(m.tensor([7, 8]), 5),
    lambda m: operator.isub(m.tensor([7, 8]), 5),
    lambda m: m.gcd(m.tensor([12, 0, -9]), m.tensor([18, 4, 6])),
    lambda m: m.lcm(m.tensor([12, 0, -9]), m.tensor([18, 4, 6])),
    lambda m: m.mul(m.tensor([1.5]), 2, out=m.tensor([0.0, 0.0])[:1]),
    lambda m: m.add(m.tensor([1]), 1, out=m.tensor([0.0])),
    lambda m: abs(m.tensor([-1.5])),
    lambda m: m.lerp(m.tensor([0.1]), m.tensor([0.7]), 1.0),
    lambda m: m.lerp(m.tensor([0.1]), m.tensor([0.7]), m.tensor([1.0])),
    lambda m: m.tensor([1.0, 2.0]).div_(m.tensor([2, 4])),
    lambda m: m.tensor([], dtype=m.int64) // m.tensor([], dtype=m.int64),
]


@needs_torch
@pytest.mark.parametrize("index", range(len(VALUES)))
def test_value(index: int) -> None:
    agree(VALUES[index])


NODES = {
    "x + y": "AddBackward0",
    "1 + x": "AddBackward0",
    "x - 1": "SubBackward0",
    "1 - x": "RsubBackward1",
    "torch.rsub(x, y)": "RsubBackward0",
    "x * y": "MulBackward0",
    "2 * x": "MulBackward0",
    "x / y": "DivBackward0",
    "1 / x": "MulBackward0",
    "torch.div(x, y, rounding_mode='floor')": "DivBackward2",
    "x % y": "RemainderBackward1",
    "x % 2": "RemainderBackward0",
    "torch.fmod(x, y)": "FmodBackward1",
    "torch.fmod(x, 2)": "FmodBackward0",
    "-x": "NegBackward0",
    "abs(x)": "AbsBackward0",
    "torch.reciprocal(x)": "ReciprocalBackward0",
    "torch.lerp(x, y, 0.5)": "LerpBackward0",
    "torch.lerp(x, y, x)": "LerpBackward1",
    "torch.addcmul(x, x, y)": "AddcmulBackward0",
    "torch.addcdiv(x, x, y)": "AddcdivBackward0",
}


@pytest.mark.parametrize("text", NODES)
def test_node(text: str) -> None:
    x = compat.tensor([1.0, 2.0], requires_grad=True)
    y = compat.tensor([2.0, 3.0], requires_grad=True)
    assert eval(text, {"torch": compat, "x": x, "y": y}).grad_fn.name() == NODES[text]


def test_other_operands() -> None:
    """What is no operand is left to the other side's operator."""

    class Other:
        def __radd__(self, x: Any) -> str:
            return "radd"

        __rmul__ = __rtruediv__ = __rpow__ = __rfloordiv__ = __rmod__ = __rsub__ = __radd__
        __rand__ = __rlshift__ = __gt__ = __radd__

    x, other = compat.tensor([1.0]), Other()
    assert x + other == x * other == x / other == x**other == x - other == "radd"
    assert x // other == x % other == x & other == x << other == "radd"
    assert (x < other) == "radd"


def test_arrays_are_operands() -> None:
    x = compat.tensor([1.0, 2.0], requires_grad=True)
    y = x * np.array([2.0, 3.0], np.float32)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 3.0] and y.dtype is compat.float32


def test_no_warning() -> None:
    """PyTorch computes infinities and NaN without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"compat\.autograd")
        for dtype in (compat.float32, compat.int64):
            x = compat.tensor([0, 1, -1], dtype=dtype)
            for f in (compat.log, compat.sqrt, compat.reciprocal, compat.asin, compat.atanh):
                f(x)
            x / compat.tensor([0, 0, 0], dtype=dtype)
            compat.tensor([1.0], dtype=compat.float16).mul_(1e6)
        x = compat.tensor([0.0, 1.0], requires_grad=True)
        (compat.log(x) + compat.sqrt(x) + 1 / x + x**-0.5).sum().backward()


def test_in_place_without_graph() -> None:
    """The short way of an optimiser counts versions and refuses what the long way refuses."""
    x = compat.tensor([1.0, 2.0])
    with compat.no_grad():
        assert x.add_(compat.tensor([1.0, 1.0]), alpha=2) is x
        x.mul_(2).sub_(1).div_(5)
    assert x.tolist() == [1.0, pytest.approx(7 / 5)] and x._version == 4
    saved = compat.tensor([2.0], requires_grad=True)
    y = saved * saved
    with compat.no_grad():
        saved -= 1
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*sub_"):
        y.backward()


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from([1, 2, 3]), max_size=3),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.integers(0, 3),
    st.sampled_from(["add", "sub", "mul", "div", "atan2", "hypot", "maximum", "remainder", "pow"]),
    st.booleans(),
)
def test_broadcasting(shape: list[int], ones: list[bool], lead: int, name: str, swap: bool) -> None:
    """Shapes and gradients of broadcast operands are those of the same call on expanded ones."""
    rng = np.random.default_rng(0)
    small = [1 if one else n for n, one in zip(shape, ones, strict=False)][lead:]
    a, b = rng.uniform(0.5, 2, shape), rng.uniform(0.5, 2, small)
    xs = [compat.from_numpy(v).requires_grad_() for v in (a, b)]
    full = [compat.from_numpy(np.broadcast_to(v, shape).copy()).requires_grad_() for v in (a, b)]
    f = getattr(compat, name)
    z, w = f(*xs[:: -1 if swap else 1]), f(*full[:: -1 if swap else 1])
    np.testing.assert_allclose(z.detach().numpy(), w.detach().numpy(), rtol=1e-15)
    weights = compat.from_numpy(rng.normal(size=shape))
    (z * weights).sum().backward()
    (w * weights).sum().backward()
    for x, y in zip(xs, full, strict=True):
        g = y.grad.numpy()
        lead_axes = tuple(range(g.ndim - x.ndim))
        g = g.sum(axis=lead_axes)
        kept = tuple(i for i, n in enumerate(x.shape) if n == 1)
        assert x.grad.shape == x.shape
        np.testing.assert_allclose(x.grad.numpy(), g.sum(axis=kept, keepdims=True), rtol=1e-12)
