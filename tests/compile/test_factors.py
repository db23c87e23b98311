"""Factors of two and signs are put together: the same bits, from no more equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad.numpy as fnp
from funcgrad import grad, jit, make_jaxpr
from funcgrad.compile.factors import gathered
from funcgrad.compile.loops import live
from funcgrad.compile.simplify import simplify
from funcgrad.jaxpr import Jaxpr, check_jaxpr, eval_jaxpr

NUMBERS = [0.5, 2, 2.0, -1.0, -0.25, 3.0, -0.7, 16.0, 1024.0, np.float32(0.5), np.float64(-2.0)]
SHAPES = [(), (1,), (3,), (2, 3), (2, 1)]


def line(draw: Callable[[Any], Any], count: int) -> Callable[[list[Any]], Any]:
    """One more value from `count` known ones."""
    i, j = draw(st.integers(0, count - 1)), draw(st.integers(0, count - 1))
    number = draw(st.sampled_from(NUMBERS))
    makers: list[Callable[[list[Any]], Any]] = [
        lambda v: -v[i],
        lambda v: v[i] * number,
        lambda v: number * v[i],
        lambda v: v[i] / number,
        lambda v: number / v[i],
        lambda v: v[i] * v[j],
        lambda v: v[i] / v[j],
        lambda v: v[i] + v[j],
        lambda v: fnp.square(v[i]),
        lambda v: fnp.sum(v[i], axis=tuple(range(np.ndim(v[i]))[:1])),
        lambda v: fnp.sum(v[i]),
        lambda v: fnp.sin(v[i]),
    ]
    return draw(st.sampled_from(makers))


def bits(x: Any) -> tuple[Any, ...]:
    x = np.asarray(x)
    return x.dtype, x.shape, np.where(np.isnan(x), np.nan, x).tobytes()


def multiplications(jaxpr: Jaxpr) -> int:
    found = [e.prim.name for e in jaxpr.eqns]
    return sum(found.count(name) for name in ("multiply", "negative", "divide", "square"))


@given(data=st.data(), count=st.integers(1, 12))
def test_same_bits_from_no_more_equations(data: st.DataObject, count: int) -> None:
    lines = [line(data.draw, 2 + k) for k in range(count)]
    results = data.draw(st.lists(st.integers(0, 1 + count), max_size=3))
    dtypes = [data.draw(st.sampled_from(["f2", "f4", "f8", "i8"])) for _ in range(2)]
    x, y = (np.asarray(data.draw(xs)) for xs in map(numbers, dtypes))

    def f(x: Any, y: Any) -> Any:
        values = [x, y]
        for made in lines:
            values.append(made(values))
        return [values[-1], *(values[k] for k in results)]

    with np.errstate(all="ignore"):
        before = live(make_jaxpr(f)(x, y))
        after = gathered(before)
        check_jaxpr(after)
        expected, found = (eval_jaxpr(p, x, y) for p in (before, after))
    assert list(map(bits, found)) == list(map(bits, expected))
    assert len(after.eqns) <= len(before.eqns)
    assert live(after).eqns == after.eqns


def numbers(dtype: str) -> st.SearchStrategy[Any]:
    """Arrays of numbers whose products stay in range, zeros of both signs among them."""
    values = st.sampled_from([0.0, -0.0, 1.0, -1.5, 0.75, 3.25, -2.0])
    return st.sampled_from(SHAPES).flatmap(
        lambda shape: st.lists(values, min_size=(n := int(np.prod(shape))), max_size=n).map(
            lambda found: np.array(found).astype(dtype).reshape(shape)
        )
    )


X, Y = np.array([0.3, -1.7, 2.9]), np.array([[1.1, 0.2, -0.6], [-2.3, 0.8, 1.9]])

# A program, its arguments, and how many multiplications are left.
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]] = {
    "through a product to a number": (lambda x: (-x) * (2 * np.sin(x)) * 0.3, (X,), 2),
    "to a divisor": (lambda x: (2 * np.sin(x)) / 0.3, (X,), 1),
    "one is left": (lambda x: (-x) * (-2 * np.sin(x)), (X,), 2),
    "two negations": (lambda x: (-x) * (-np.sin(x)), (X,), 1),
    "through a quotient": (lambda x: 3.0 / (x * -2.0), (X,), 1),
    "below": (lambda x: -(np.sin(x) / (0.5 * x)), (X,), 2),
    "through a square": (lambda x: (2 * x) ** 2 * 0.3, (X,), 2),
    "to less": (lambda x: np.sum(x * 0.5), (X,), 1),
    "not to more": (lambda x, y: (0.5 * x) * y * 0.3, (X, Y), 3),
    "not if others read it": (lambda x: (y := -x) * 0.3 + np.sin(y), (X,), 2),
    "not far": (lambda x: x * 1024.0 * np.sin(x) * 0.3, (X,), 3),
    "not in half precision": (lambda x: (-x) * np.sin(x) * 0.25, (X.astype("f2"),), 3),
    "gradient": (jit(grad(lambda x: np.sum(0.5 * ((x - 1.0) / 0.7) ** 2))), (X,), 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_multiplications(name: str) -> None:
    f, args, count = PROGRAMS[name]
    jaxpr = make_jaxpr(f)(*args)
    found = simplify(jaxpr)
    assert multiplications(found) == count
    for a, b in zip(eval_jaxpr(found, *args), eval_jaxpr(jaxpr, *args), strict=True):
        assert bits(a) == bits(b)


def test_factors_after_sums_are_on_what_is_small() -> None:
    jaxpr = simplify(make_jaxpr(lambda x: np.sum(-np.sin(x), axis=0))(Y))
    assert [(e.prim.name, e.outs[0].aval.shape) for e in jaxpr.eqns] == [
        ("sin", (2, 3)),
        ("sum", (3,)),
        ("negative", (3,)),
    ]
