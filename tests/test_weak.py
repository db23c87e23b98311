"""Python's numbers in eager loops and branches compute as programs do."""

from __future__ import annotations

import copy
import math
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import lax
from funcgrad.core import aval_of
from funcgrad.weak import plain, weak

numbers = st.one_of(
    st.sampled_from([0, 1, -3, 0.0, -0.0, 0.5, -2.0, math.inf, math.nan, 1j, 0j, True]),
    st.integers(-(2**20), 2**20),
    st.floats(),
)
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv]
COMPARISONS = [operator.eq, operator.ne]


@settings(deadline=None)
@given(numbers, numbers, st.sampled_from(ARITHMETIC + COMPARISONS))
def test_arithmetic_is_numpys(x, y, f):
    with np.errstate(all="ignore"):
        expected = f(np.asarray(x)[()], np.asarray(y)[()])
    for found in (f(weak(x), y), f(x, weak(y)), f(weak(x), weak(y))):
        if not isinstance(x, bool) or not isinstance(y, bool):
            assert np.array_equal(found, expected, equal_nan=True)
            assert np.asarray(found).dtype == expected.dtype
    assert isinstance(f(weak(x), weak(y)), np.bool_) == (expected.dtype == bool)


@pytest.mark.parametrize("x", [2, 2.0, 2.0 + 1.0j])
def test_types_yield_to_arrays(x):
    for array in (np.ones(2, np.float32), np.float32(1.0), np.ones(2, np.complex64)):
        for f in (*ARITHMETIC, np.maximum, lambda a, b: np.where(True, a, b)):
            if f is not np.maximum or not isinstance(x, complex):
                assert f(weak(x), array).dtype == f(x, array).dtype
                assert f(array, weak(x)).dtype == f(array, x).dtype
    assert aval_of(weak(x)) == aval_of(x)
    assert (weak(x) * 3 + 1).__class__ is weak(x).__class__


def test_they_are_pythons_numbers_otherwise():
    x, i = weak(0.5), weak(2)
    assert (str(x), f"{x:.2f}", math.sin(x), hash(x)) == ("0.5", "0.50", math.sin(0.5), hash(0.5))
    assert [[1, 2, 3][i], *range(i)] == [3, 0, 1]
    for made in (plain(x), pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert made.__class__ is float
    assert plain({"a": [i, (x,)]}) == {"a": [2, (0.5,)]}
    assert (x.shape, x.dtype, x.sum(), x[None].shape) == ((), np.float64, 0.5, (1,))
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(AttributeError):
        _ = x.nothing


BODIES = {
    "division by zero": (1.0, lambda x: 1.0 / (x - 1.0)),
    "whole numbers": (1, lambda n: n // 0 + 5),
    "root of less than zero": (1.0, lambda x: (x - 3.0) ** 0.5 + 5.0),
    "attributes": (1.0, lambda x: x.astype(np.float32) * 3.0 + x + len(x.shape)),
    "not": (1, lambda n: n + ~(n > 5) * 5),
    "functions": (0.5, lambda x: np.where(x > 0, np.exp(x), x) + 3.0),
    "gradients": (0.5, lambda x: funcgrad.grad(lambda y: y * x)(3.0) * 8.0),
    "programs": (0.5, lambda x: funcgrad.jit(lambda y: y * 8.0)(x)),
    "mapped": (0.5, lambda x: funcgrad.vmap(lambda y: y * x)(np.ones(3)).sum() * 4.0),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("start, step", BODIES.values(), ids=BODIES)
def test_eager_loops_are_as_programs(start, step):
    loops = {
        "while_loop": lambda: lax.while_loop(lambda x: x < 3, step, start),
        "fori_loop": lambda: lax.fori_loop(0, 1, lambda i, x: step(x), start),
        "scan": lambda: lax.scan(lambda x, _: (step(x), x), start, None, length=1),
        "cond": lambda: lax.cond(True, step, step, start),
    }
    for loop in loops.values():
        found, expected = funcgrad.tree.leaves(loop()), funcgrad.tree.leaves(funcgrad.jit(loop)())
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_array_equal(x, y)
        assert [np.asarray(x).dtype for x in found] == [np.asarray(x).dtype for x in expected]


def test_nothing_weak_comes_out():
    nothing = lax.while_loop(lambda x: x < 0.0, lambda x: x + 1.0, 5.0)
    branch = lax.cond(True, lambda x: {"a": (x * 2.0, x)}, lambda x: x, 5.0)
    assert {x.__class__ for x in [nothing, *branch["a"]]} == {float}
    assert lax.fori_loop(0, 2, lambda i, x: x, 5.0).__class__ is np.float64
    jaxpr = funcgrad.make_jaxpr(lambda y: lax.cond(True, lambda x: y * x, lambda x: y, 5.0))(1.0)
    assert jaxpr.eqns[0].inputs[1].value.__class__ is float
