"""Every rule of `simplify` takes equations away, and leaves the bits of the results alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import jit, make_jaxpr
from funcgrad.compile import simplify as module
from funcgrad.compile.simplify import simplify
from funcgrad.core import REGISTRY
from funcgrad.jaxpr import Jaxpr, check_jaxpr, eval_jaxpr
from funcgrad.testing.programs import Program, programs

ODD = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.0, 5e-324])
M = np.arange(6.0).reshape(2, 3) - 2.0
N = np.array([-3, 0, 7])
Z = np.array([1 + 2j, -0.0 - 1j, 3])
R = REGISTRY

# By the primitive whose rule it is: a program, its arguments, and how many equations are left.
IDENTITIES: dict[str, list[tuple[Callable[..., Any], tuple[Any, ...], int]]] = {
    "add": [
        (lambda x, y: x + (-y), (ODD, ODD[::-1]), 1),
        (lambda x, y: (-x) + y, (ODD, ODD[::-1]), 1),
    ],
    "subtract": [
        (lambda x, y: x - (-y), (ODD, ODD[::-1]), 1),
        (lambda x: x - 0, (ODD,), 0),
        (lambda x: x - 0.0, (ODD,), 0),
    ],
    "multiply": [
        (lambda x: x * 1.0, (ODD,), 0),
        (lambda x: 1 * x, (ODD,), 0),
        (lambda n: n * 1, (N,), 0),
        (lambda x: x * -1.0, (ODD,), 1),
        (lambda x: -1 * (x * -1), (ODD,), 0),
    ],
    "divide": [(lambda x: x / 1.0, (ODD,), 0), (lambda x: x / 1, (ODD,), 0)],
    "negative": [
        (lambda x: np.negative(-x), (ODD,), 0),
        (lambda x: np.negative(np.negative(-x)), (ODD,), 1),
    ],
    "power": [
        (lambda x: x**1, (ODD,), 0),
        (lambda x: R["power"](x, 1.0), (ODD,), 0),
        (lambda x: R["power"](x, 2.0) - x * x, (ODD,), 2),
    ],
    "positive": [(lambda x: np.positive(+x), (ODD,), 0)],
    "stop_gradient": [(funcgrad.stop_gradient, (ODD,), 0)],
    "conjugate": [(lambda x: np.conj(x), (ODD,), 0), (lambda z: np.conj(z), (Z,), 1)],
    "cast": [
        (lambda x: x.astype("f4").astype("f8").astype("f4"), (ODD,), 1),
        (lambda x: x.astype("f8").astype("f4"), (M.astype("f4"),), 0),
    ],
    "reshape": [
        (lambda x: x.reshape(3, 2).reshape(6).reshape(2, 3), (M,), 0),
        (lambda x: x.reshape(3, 2).reshape(6), (M,), 1),
        (lambda x: x.reshape(2, 3), (M,), 0),
    ],
    "squeeze": [(lambda x: R["squeeze"](x.reshape(1, 2, 3), axis=(0,)), (M,), 0)],
    "expand_dims": [(lambda x: np.expand_dims(x, 0).reshape(2, 3), (M,), 0)],
    "transpose": [
        (lambda x: x.T.T, (M,), 0),
        (lambda x: x.T.T.T, (M,), 1),
        (lambda x: x.transpose(0, 1), (M,), 0),
    ],
    "broadcast_to": [
        (lambda x: np.broadcast_to(x, (2, 3)), (M,), 0),
        (lambda x: np.broadcast_to(np.broadcast_to(x, (2, 3)), (4, 2, 3)), (M[0],), 1),
        (lambda x, y: np.broadcast_to(y, (2, 3)) + x, (M, M[0]), 1),
    ],
    "where": [(lambda b, x: np.where(b, x, x), (ODD > 0, ODD), 0)],
    "sum": [
        (lambda x: np.sum(x, axis=()), (M,), 0),
        (lambda x: np.sum(x.reshape(1, 2, 3), axis=0), (M,), 0),
        (lambda x: np.sum(np.broadcast_to(x, (4, 3)), axis=0), (M[0],), 1),
        (lambda x: np.sum(np.broadcast_to(x, (4, 3)), axis=0), (ODD[[0, 2, 3]],), 1),
    ],
}


def counted(jaxpr: Jaxpr) -> int:
    return len(jaxpr.eqns)


def same_bits(found: Any, expected: Any) -> None:
    """Equal down to the signs of zeros; NaNs where NaNs are."""
    for a, b in zip(found, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_array_equal(a, b)
        parts = [(a.real, b.real), (a.imag, b.imag)] if a.dtype.kind == "c" else [(a, b)]
        for p, q in parts:
            if p.dtype.kind == "f":
                there = ~np.isnan(q)
                np.testing.assert_array_equal(np.signbit(p)[there], np.signbit(q)[there])


def test_every_rule_has_an_identity() -> None:
    assert {prim.name for prim in module.RULES} == IDENTITIES.keys()


@pytest.mark.parametrize(
    ("name", "k"), [(name, k) for name, cases in IDENTITIES.items() for k in range(len(cases))]
)
def test_identity(name: str, k: int) -> None:
    f, args, left = IDENTITIES[name][k]
    jaxpr = make_jaxpr(f)(*args)
    simple = simplify(jaxpr)
    check_jaxpr(simple)
    assert counted(simple) == left < counted(jaxpr) + (left == counted(jaxpr)), simple
    with np.errstate(all="ignore"):
        same_bits(eval_jaxpr(simple, *args), eval_jaxpr(jaxpr, *args))
        same_bits([jit(f)(*args)], [f(*args)])


# What looks like an identity and is none, for zeros, types or numbers that are not finite.
KEPT: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "x + 0": (lambda x: x + 0.0, (ODD,)),
    "0 - x": (lambda x: 0.0 - x, (ODD,)),
    "x - (-0.0)": (lambda x: x - (-0.0), (ODD,)),
    "x * 0": (lambda x: x * 0.0, (ODD,)),
    "x - x": (lambda x: x - x, (ODD,)),
    "x / x": (lambda x: x / x, (ODD,)),
    "1 / (1 / x)": (lambda x: 1 / (1 / x), (ODD,)),
    "a narrower type and back": (lambda x: x.astype("f4").astype("f8"), (ODD,)),
    "int and back": (lambda x: np.trunc(x).astype("i8").astype("f8"), (M,)),
    "n * 1.0": (lambda n: n * 1.0, (N,)),
    "n / 1": (lambda n: n / 1, (N,)),
    "n - 0.0": (lambda n: n - 0.0, (N,)),
    "n ** 1.0": (lambda n: n**1.0, (N,)),
    "n + (-m)": (lambda n, m: n + (-m), (N.astype("u1"), N)),
    "a number of type f8": (lambda y: y * np.float64(1), (M.astype("f4"),)),
    "where of others": (lambda x: np.where(x > 0, x, -x), (ODD,)),
    "where of 0-d": (lambda x: np.where(np.array([True, False]), x, x), (2.0,)),
    "where in a wider shape": (lambda b, x: np.where(b, x, x), (M > 0, M[0])),
    "sum of a wider type": (lambda x: np.sum(x[None], axis=0), (np.array([True, False]),)),
    "sum of integers": (lambda x: np.sum(x[None], axis=0), (N.astype("i1"),)),
    "sum of nothing": (lambda x: np.sum(np.broadcast_to(x, (0, 3)), axis=0), (ODD[:3],)),
    "sum of a column": (lambda x: np.sum(np.broadcast_to(x, (2, 3)), axis=0), (M[:, :1],)),
    "product of zeros": (lambda x: (-x) * (-x) + (-x), (ODD,)),
    "conjugates": (lambda z: np.conj(np.conj(z)) * z, (Z,)),
    "squares of complex": (lambda z: z * z + z**2, (Z,)),
    "reshape of a transpose": (lambda x: x.T.reshape(2, 3).T.reshape(2, 3), (M,)),
    "different axes": (lambda x: x[None].transpose(1, 2, 0).transpose(1, 0, 2), (M,)),
    "constant": (lambda x: x * np.float32(0.1) + np.float32(0.1), (2.0,)),
    "overflowing constants": (lambda x: x * (np.float32(3e38) * 1.0), (M.astype("f4"),)),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_identity_stays(name: str) -> None:
    f, args = KEPT[name]
    with np.errstate(all="ignore"):
        jaxpr = make_jaxpr(f)(*args)
        same_bits(eval_jaxpr(simplify(jaxpr), *args), eval_jaxpr(jaxpr, *args))
        same_bits([jit(f)(*args)], [f(*args)])


UNARY: list[Callable[[Any], Any]] = [
    *(lambda x: -x, lambda x: x * 1.0, lambda x: x - 0.0, lambda x: x / 1, lambda x: x + 0.0),
    *(lambda x: x * -1.0, lambda x: x.T, lambda x: x.reshape(x.shape[::-1]), lambda x: +x),
    *(lambda x: np.where(x > 0, x, x), lambda x: x.astype(x.dtype), lambda x: x[None][0]),
    *(lambda x: x + (-x), lambda x: x - (-x), lambda x: np.abs(x), lambda x: 0.0 - x),
    *(lambda x: np.sum(x[None], axis=0), lambda x: x * -0.0, lambda x: x * 0 + x),
]


@given(places=st.lists(st.sampled_from(range(len(UNARY))), min_size=1, max_size=6))
def test_rules_on_rules(places: list[int]) -> None:
    """Any chain of identities, to the bit."""

    def f(x: Any) -> Any:
        for k in places:
            x = UNARY[k](x)
        return x

    x = ODD.reshape(2, 4)
    with np.errstate(all="ignore"):
        jaxpr = make_jaxpr(f)(x)
        same_bits(eval_jaxpr(simplify(jaxpr), x), eval_jaxpr(jaxpr, x))
        same_bits([jit(f)(x)], [f(x)])


@given(p=programs(dtypes=(np.float64, np.complex128, np.float32)))
def test_simplifying_twice_changes_nothing(p: Program) -> None:
    once = simplify(p.jaxpr)
    assert str(simplify(once)) == str(once)


@given(p=programs())
def test_nothing_is_there_twice_or_for_nothing(p: Program) -> None:
    def f(*xs: Any) -> Any:
        p(*xs)  # for nothing
        return p(*xs), p(*xs)

    once, both = simplify(p.jaxpr), simplify(make_jaxpr(f)(*p.args))
    assert counted(both) == counted(once)


def test_numbers_of_different_types_are_not_one() -> None:
    """1, 1.0, True and 1+0j are equal and hash alike, and so do 0.0 and -0.0."""

    def f(n: Any, x: Any) -> Any:
        return n * 2, n * 2.0, n * (2 + 0j), n * np.float32(2), x * 0.0, x * -0.0, n + True, n + 1

    args = (N, ODD)
    with np.errstate(all="ignore"):
        same_bits(jit(f)(*args), f(*args))


def test_calls_are_put_in_line_once() -> None:
    inner = jit(lambda x: np.sin(x) * 2.0)
    jaxpr = make_jaxpr(lambda x: inner(x) + inner(x) + fnp.sin(x))(M)
    assert [e.prim.name for e in simplify(jaxpr).eqns] == ["sin", "multiply", "add", "add"]
