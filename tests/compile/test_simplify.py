"""Every rule of `simplify` takes equations away, and leaves the bits of the results alone."""

from __future__ import annotations

import math
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
from funcgrad.ops.index import Slice
from funcgrad.testing.programs import Program, programs
from funcgrad.views import Link

ODD = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.0, 5e-324])
M = np.arange(6.0).reshape(2, 3) - 2.0
N = np.array([-3, 0, 7])
Z = np.array([1 + 2j, -0.0 - 1j, 3])
R = REGISTRY
ALL = (Slice(0, None, 1), Slice(0, None, 1))
ROWS = (Slice(1, 3, 1), Slice(0, None, 1))


def through(index: tuple[Slice, ...]) -> tuple[Link, ...]:
    """The view that an index shows, as a chain."""
    return (Link(R["getitem"], (("index", index),)),)


def put(x: Any, start: int, stop: int, rows: int) -> Any:
    """`x` as some of the rows of zeros."""
    return R["embed"](x, shape=(rows, 3), index=(Slice(start, stop, 1), Slice(0, 3, 1)))


def at(x: Any, index: tuple[Slice, Slice]) -> Any:
    """`x` as a part of zeros with one more row and column."""
    return R["embed"](x, shape=(3, 4), index=index)


def dot(x: Any, y: Any, contracting: Any) -> Any:
    return R["dot_general"](x, y, contracting=contracting, batch=((), ()))


# By the primitive whose rule it is: a program, its arguments, and how many equations are left.
IDENTITIES: dict[str, list[tuple[Callable[..., Any], tuple[Any, ...], int]]] = {
    "add": [
        (lambda x, y: x + (-y), (ODD, ODD[::-1]), 1),
        (lambda x, y: (-x) + y, (ODD, ODD[::-1]), 1),
        (lambda x, y: put(y, 1, 3, 3) + put(x[:1], 0, 1, 3), (M, 2 * M), 2),
        (lambda x, y: put(x, 0, 2, 6) + put(y, 2, 4, 6) + put(y, 4, 6, 6), (M, 2 * M), 1),
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
    "zero_preserving_multiply": [
        (lambda x: R["zero_preserving_multiply"](x, 1.0), (ODD,), 0),
        (lambda x: R["zero_preserving_multiply"](1.0, x), (ODD,), 0),
        (lambda x: R["zero_preserving_multiply"](x, 3.0) - x * 3.0, (ODD,), 2),
        (lambda x: R["zero_preserving_multiply"](-2.0, x) - x * -2.0, (ODD,), 2),
        (lambda x: R["zero_preserving_multiply"](x, np.broadcast_to(x[5], x.shape)), (ODD,), 2),
        (lambda x: R["zero_preserving_multiply"](x, -3.0), (ODD,), 1),
        (lambda x: R["zero_preserving_multiply"](x, np.inf), (ODD,), 1),
        (lambda x: R["zero_preserving_multiply"](0.0, x), (ODD,), 1),
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
    "getitem": [
        (lambda x: x[:, :], (M,), 0),
        (lambda x: x[None][0], (M,), 0),
        (lambda x: x[:, 1:][:, :1], (M,), 1),
        (lambda x: x[1:, ::2][:, 1:], (M,), 1),
        (lambda x, y: np.concatenate([x, y], axis=1)[:, 3:], (M, 2 * M), 0),
        (lambda x, y: np.concatenate([x, y], axis=1)[:, 1:2], (M, 2 * M), 1),
        (lambda x: R["embed"](x, shape=(4, 3), index=ROWS)[1:3], (M,), 0),
        (lambda x: np.broadcast_to(x, (4, 3))[1:], (1.5,), 1),
    ],
    "embed": [
        (lambda x: R["embed"](x[None], shape=(2, 3), index=(None, *ALL)), (M,), 0),
        (lambda x: R["embed"](x[0], shape=(1, 3), index=(0, Slice(0, None, 1))), (M,), 2),
    ],
    "concatenate": [
        (lambda x, y: np.concatenate([x, np.concatenate([y, x]), y]), (M, 2 * M), 1),
        (lambda x, y: np.concatenate([x, np.concatenate([y, x], axis=1)[:, :3]]), (M, 2 * M), 1),
        (lambda x, y: np.concatenate([x, np.concatenate([y[:1], x[1:]])], 1), (M, 2 * M), 4),
        (lambda x, y: np.concatenate([x[:0], x, y[:0], y, x[2:]]), (M, 2 * M), 1),
        (lambda x: np.concatenate([x[:, :0], x], axis=1), (M,), 0),
        (lambda x: np.concatenate([x[:, :0], x[:, 3:]], axis=1), (M,), 1),
    ],
    "roll": [
        (lambda x: R["roll"](x, shift=(2, -3), axis=(0, 1)), (M,), 0),
        (lambda x: R["roll"](x[:, :0], shift=(1,), axis=(1,)), (M,), 1),
    ],
    "view_update": [
        (lambda x, y: R["view_update"](x, y, chain=through(ALL)), (M, 2 * M), 0),
        (lambda x, y: R["view_update"](x, y, chain=through(ALL)), (M.astype("f4"), M), 1),
    ],
    "matmul": [
        (lambda x, v: fnp.diag(v) @ x, (M + 5, M[0, :2]), 2),
        (lambda x, v: x @ fnp.diag(v)[:, 1:], (M + 5, M[1]), 3),
    ],
    "dot_general": [
        (lambda x, y: dot(x.T, y, ((0,), (1,))), (M, M), 1),
        (lambda x, y: dot(x, y.T, ((1,), (1,))), (M, M.T), 1),
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


@pytest.mark.parametrize(
    ("shift", "axis", "left"),
    [((1,), (0,), 3), ((-1,), (-1,), 3), ((1, 5), (0, 1), 6), ((1, 2), (1, 1), 0)],
)
def test_rolls_are_joined(shift: tuple[int, ...], axis: tuple[int, ...], left: int) -> None:
    """The end before the beginning, in what is written in C as loops."""
    jaxpr = make_jaxpr(lambda x: R["roll"](x, shift=shift, axis=axis))(M)
    simple = simplify(jaxpr)
    assert {e.prim.name for e in simple.eqns} <= {"getitem", "concatenate"}
    assert counted(simple) == left
    same_bits(eval_jaxpr(simple, M), [np.roll(M, shift, axis)])


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
    "a part put in": (lambda x, y: R["view_update"](x, y, chain=through(ROWS)), (M, M[:1])),
    "parts that are apart": (lambda x: put(x, 0, 2, 5) + put(x, 3, 5, 5), (M + 5,)),
    "parts that meet": (lambda x: put(x, 0, 2, 3) + put(x, 1, 3, 3), (M + 5,)),
    "parts at a corner": (
        lambda x: at(x, (Slice(1, 3, 1), Slice(0, 3, 1))) + at(x, (Slice(0, 2, 1), Slice(1, 4, 1))),
        (M,),
    ),
    "a part and no part": (lambda x: (x + put(x[:1], 1, 2, 2)) + put(-x[:1], 0, 1, 2), (M,)),
    "z - 0 of singles": (lambda z: z - np.complex64(0), (Z.astype("c8"),)),
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


# ---------------------------------------------------------------- products

X, Y, T = (
    np.arange(1.0, n + 1).reshape(s) for n, s in ((6, (2, 3)), (12, (3, 4)), (24, (2, 3, 4)))
)
S = np.arange(18.0).reshape(2, 3, 3).transpose(1, 2, 0)[:, :, [0, 1, 0]]  # three axes of length 3


def spread(x: Any, *shape: int) -> Any:
    return R["broadcast_to"](np.float64(x), shape=shape)


def diagonal(v: Any, shape: tuple[int, int], offset: int = 0) -> Any:
    return R["diagonal_embed"](v, shape=shape, offset=offset, axis1=0, axis2=1)


# Programs of integers, whose sums are exact in any order, and what is left of them.
PRODUCTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], list[str]]] = {
    "sum of rows": (lambda x, y: np.sum(x @ y, axis=0), (X, Y), ["sum", "dot_general"]),
    "sum of columns": (lambda x, y: np.sum(x @ y, axis=1), (X, Y), ["sum", "dot_general"]),
    "sum of all": (lambda x, y: np.sum(x @ y), (X, Y), ["sum", "sum", "dot_general"]),
    "sum of free axes": (
        lambda x, y: np.sum(dot(x, y, ((1,), (1,))), axis=(0, 2)),
        *((X, T), ["sum", "sum", "dot_general"]),
    ),
    "sum of a transposition": (lambda x: np.sum(x.T, axis=0), (X,), ["sum"]),
    "sum that moves axes": (
        lambda t: np.sum(t.transpose(2, 0, 1), axis=1),
        *((S,), ["transpose", "sum"]),
    ),
    "sum of a batch": (lambda x, y: np.sum(x @ y, axis=0), (T, T.mT), ["matmul", "sum"]),
    "ones on the left": (lambda y: spread(1.0, 2, 3) @ y, (Y,), ["sum", "broadcast_to"]),
    "ones on the right": (
        lambda x: x @ spread(2.0, 3, 4),
        *((X,), ["sum", "multiply", "reshape", "broadcast_to"]),
    ),
    "a row of ones": (lambda y: spread(1.0, 3) @ y, (Y,), ["sum"]),
    "ones for a gradient": (
        lambda x, y: funcgrad.grad(lambda x: np.sum(x @ y))(x),
        *((X, Y), ["sum", "broadcast_to"]),
    ),
    "identity": (lambda x: x @ diagonal(spread(1.0, 3), (3, 3)), (X,), []),
    "identity on the left": (lambda x: diagonal(spread(1.0, 2), (2, 2)) @ x, (X,), []),
    "scaled rows": (lambda x, v: fnp.diag(v) @ x, (X, X[0, :2]), ["reshape", "multiply"]),
    "scaled columns": (lambda x, v: x @ fnp.diag(v), (X, Y[:, 0]), ["multiply"]),
    "scaled twice": (
        lambda x, v: x @ (fnp.diag(v) * v * v[:, None] * -2.0),
        *((X, Y[:, 0]), ["square", "multiply", "multiply", "multiply"]),
    ),
    "negative": (lambda x, v: x @ -fnp.diag(v), (X, Y[:, 0]), ["negative", "multiply"]),
    "diagonal of a stack": (
        lambda t, v: dot(fnp.diag(v), t, ((1,), (1,))),
        *((T, Y[:, 0]), ["transpose", "reshape", "multiply"]),
    ),
    "above the diagonal": (
        lambda x, v: x @ fnp.diag(v, 2),
        *((Y, X[0, :2]), ["getitem", "multiply", "embed"]),
    ),
    "below the diagonal": (
        lambda x, v: fnp.diag(v, -1) @ x,
        *((Y, X[0, :2]), ["getitem", "reshape", "multiply", "embed"]),
    ),
    "a wide diagonal": (
        lambda x, v: x @ diagonal(v, (3, 5), 1),
        *((X, Y[:, 0]), ["multiply", "embed"]),
    ),
    "part of a diagonal": (
        lambda x, v: x @ fnp.diag(v)[1:4, 2:],
        *((X, np.arange(1.0, 6)), ["getitem", "getitem", "multiply", "embed"]),
    ),
    "nothing of a diagonal": (
        lambda x, v: x @ fnp.diag(v)[:3, 3:],
        *((X, np.arange(1.0, 6)), ["diagonal_embed", "getitem", "matmul"]),
    ),
    "product with itself": (
        lambda v: fnp.diag(v) @ fnp.diag(v),
        *((Y[:, 0],), ["diagonal_embed", "reshape", "multiply"]),
    ),
    "transposed operands": (
        lambda x, y: dot(x.T, y.T, ((0,), (1,))),
        *((X, Y[:, :2]), ["dot_general"]),
    ),
    "two free axes": (
        lambda t, x: dot(t.transpose(1, 0, 2), x, ((2,), (0,))),
        *((S, Y), ["transpose", "dot_general"]),
    ),
    "integers": (
        lambda n, m: n @ fnp.diag(m),
        *((X.astype("i8"), np.arange(3)), ["diagonal_embed", "matmul"]),
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str) -> None:
    f, args, expected = PRODUCTS[name]
    jaxpr = jit(f).lower(*args).jaxpr  # where numbers that are broadcast are equations
    simple = simplify(jaxpr)
    check_jaxpr(simple)
    assert sorted(e.prim.name for e in simple.eqns) == sorted(expected), simple
    found, before = eval_jaxpr(simple, *args), eval_jaxpr(jaxpr, *args)
    for a, b in zip(found, before, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(jit(f)(*args), before[0])


@given(
    end=st.sampled_from([-1, 0, 1]),
    beyond=st.integers(-4, 12),
    dtype=st.sampled_from(["f2", "f4", "f8"]),
    first=st.sampled_from([1.0, -1.0, 1.5]),
)
def test_division_by_powers_of_two(end: int, beyond: int, dtype: str, first: float) -> None:
    """The product with the inverse has the same bits, also near the ends of the type's range."""
    info = np.finfo(dtype)
    k = min(end * (info.maxexp + beyond), 1022) if end else beyond
    divisor = first * 2.0**k
    ends = [info.max, info.tiny, info.smallest_subnormal, 1.0, -0.0, np.inf, np.nan, np.pi]
    x = np.array(ends, dtype)
    with np.errstate(all="ignore"):
        jaxpr = make_jaxpr(lambda x: x / divisor)(x)
        simple = simplify(jaxpr)
        same_bits(eval_jaxpr(simple, x), eval_jaxpr(jaxpr, x))
    exact = abs(math.frexp(divisor)[0]) == 0.5 and abs(k) < info.maxexp - 3
    assert not exact or all(e.prim.name != "divide" for e in simple.eqns)


@given(
    k=st.sampled_from([3, 4, 3.0, 4.0]),
    dtype=st.sampled_from(["f4", "f8"]),
    exponents=st.lists(st.floats(-330.0, 310.0), min_size=1, max_size=4),
)
def test_small_powers(k: float, dtype: str, exponents: list[float]) -> None:
    """Products, within rounding; zeros, infinities and NaNs are those of the power."""
    with np.errstate(all="ignore"):
        x = np.array([*(-(10.0 ** np.array(exponents))), *10.0 ** np.array(exponents), *ODD], dtype)
        jaxpr = make_jaxpr(lambda x: x**k)(x)
        simple = simplify(jaxpr)
        found, expected = eval_jaxpr(simple, x)[0], eval_jaxpr(jaxpr, x)[0]
    assert all(e.prim.name != "power" for e in simple.eqns)
    tiny = np.finfo(dtype).smallest_subnormal
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps, atol=tiny)
    np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
    there = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[there], np.signbit(expected)[there])


def test_commuted_operands_are_one_equation() -> None:
    def f(x: Any, y: Any) -> Any:
        return (x + y) * (y * x), (y + x) * (x * y), x - y, y - x

    assert counted(simplify(make_jaxpr(f)(X, 2 * X))) == 5


@given(
    rows=st.sampled_from([1, 3]),
    columns=st.integers(0, 2),
    cut=st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.sampled_from([1, 2, -1])),
)
def test_writes_into_parts(rows: int, columns: int, cut: tuple[int, int, int]) -> None:
    """A part that is empty takes a value of any length of one, and so of the whole's shape."""
    part = slice(*cut)
    x, v = (
        np.arange(rows * columns, dtype=float).reshape(rows, columns),
        np.full((rows, columns), 7.0),
    )
    try:
        x.copy()[:, part] = v
    except ValueError:  # NumPy takes no such value
        v = v[:, :1]

    def written(x: Any, v: Any) -> Any:
        y = fnp.array(x)
        y[:, part] = v
        return y

    np.testing.assert_array_equal(jit(written)(x, v), written(x, v))

    def loss(x: Any, v: Any) -> Any:
        return (written(x, v) ** 2 * 0.5).sum()

    for g, h in zip(
        jit(funcgrad.grad(loss, (0, 1)))(x, v), funcgrad.grad(loss, (0, 1))(x, v), strict=True
    ):
        np.testing.assert_array_equal(g, h)
