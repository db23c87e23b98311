"""Python's numbers as arguments of programs stay such in operators: they widen no array they meet."""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import config, jit, lax

BOTH = [operator.add, operator.sub, operator.mul, operator.truediv]
WHOLE = [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod]
MEETINGS = [
    *BOTH,
    operator.eq,
    lambda n, x: np.where(x == 2, n, x),
    lambda n, x: np.power(x, n),
]
ORDERED = [
    *MEETINGS,
    operator.lt,
    np.maximum,
    lambda n, x: np.clip(x, 1, n),
    lambda n, x: np.arctan2(x, n),
]


@st.composite
def expressions(draw, operators, leaves, depth=3):
    """A function of the numbers `a`, `b`, as a tree of operators."""
    if not depth or draw(st.integers(0, 3)) == 0:
        return draw(leaves)
    f = draw(st.sampled_from(operators))
    x, y = (draw(expressions(operators, leaves, depth - 1)) for _ in range(2))
    if draw(st.integers(0, 4)) == 0:
        return lambda a, b: -f(x(a, b), y(a, b))
    return lambda a, b: f(x(a, b), y(a, b))


def _leaves(constants):
    chosen = st.sampled_from([lambda a, _: a, lambda _, b: b])
    return st.one_of(chosen, st.sampled_from(constants).map(lambda c: lambda *_: c))


def _outcome(f, *args):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            out = f(*args)
        except (OverflowError, ZeroDivisionError, ValueError, TypeError) as error:
            return type(error)
    return np.asarray(out)


def _same(found, expected, rounding):
    if isinstance(expected, type):
        return found is expected or (expected is ZeroDivisionError)  # NumPy's arithmetic goes on
    same_type = (found.dtype, found.shape) == (expected.dtype, expected.shape)
    return same_type and np.allclose(found, expected, rtol=rounding, atol=0, equal_nan=True)


@pytest.mark.parametrize("compiler", ["numpy", "c"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.complex64, np.float64])
def test_floats_beside_arrays(dtype, compiler):
    @settings(deadline=None, max_examples=10 if compiler == "c" else 100)
    @given(
        expressions(BOTH, _leaves([1, 2.0, 0.5])),
        st.sampled_from(MEETINGS if dtype == np.complex64 else ORDERED),
        st.sampled_from([(0.75, 3), (2.5, -0.5), (2, 4)]),
    )
    def check(number, meet, pair):
        x = np.arange(1, 6).astype(dtype)

        def f(a, b, x):
            return meet(number(a, b), x)

        expected = _outcome(f, *pair, x)
        with config(compiler):
            found = _outcome(jit(f), *pair, x)
        assert _same(found, expected, 1e-3 if dtype == np.float16 else 1e-5), (found, expected)

    check()


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.uint64, np.float32])
@settings(deadline=None, max_examples=100)
@given(
    number=expressions(WHOLE, _leaves([1, 7])),
    meet=st.sampled_from(WHOLE + ORDERED[4:9]),
    pair=st.sampled_from([(3, 2), (200, 5), (-1, 40)]),
)
def test_whole_numbers_beside_arrays(dtype, number, meet, pair):
    x = np.arange(1, 6).astype(dtype)

    def f(a, b, x):
        return meet(x, number(a, b))

    expected = _outcome(f, *pair, x)
    with config("numpy"):
        found = _outcome(jit(f), *pair, x)
    assert _same(found, expected, 1e-6), (found, expected)


def blend(m, g, b):
    return b * m + (1 - b) * g


def test_programs_say_what_is_a_number():
    x = np.ones(3, np.float32)
    assert [str(eqn.outs[0].aval) for eqn in funcgrad.make_jaxpr(blend)(x, x, 0.9).eqns] == [
        *("f32[3]", "f64*[]", "f32[3]", "f32[3]")
    ]
    with config("c"):
        compiled = jit(blend)
        assert compiled(x, x, 0.9).dtype == np.float32
    assert "kernel0(" in compiled.code


@pytest.mark.parametrize("compiler", ["numpy", "c"])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, lr: lax.fori_loop(0, 3, lambda i, x: x - lr / 2 * x, x),
        lambda x, lr: lax.scan(lambda c, y: (c - (1 - lr) * y, c * lr**2), x[0], x)[1],
        lambda x, lr: lax.cond(x[0] > 0, lambda: x * (1 - lr), lambda: x),
        lambda x, lr: lax.while_loop(lambda s: s.sum() < 9, lambda s: s + (lr + lr), x),
        lambda x, lr: jit(blend)(x, x, lr),
        lambda x, lr: funcgrad.grad(lambda x: (x * x).sum() * (1 - lr))(x),
        lambda x, lr: funcgrad.vmap(lambda y: y * (1 - lr))(x),
        lambda x, lr: funcgrad.jvp(lambda x: x**2 * (2 * lr), (x,), (x,))[1],
        lambda x, lr: funcgrad.checkpoint(lambda x: np.sin(x * (1 - lr)))(x),
        lambda x, lr: np.concatenate([x, x[:1] * -lr]),
    ],
)
def test_single_precision_stays_in_all_transforms(f, compiler):
    x = np.arange(1, 4).astype(np.float32)
    expected = f(x, 0.25)
    with config(compiler):
        for compiled in (jit(f), jit(lambda x, lr: f(x, 1 - lr))):
            found = compiled(x, 0.25 if compiled.__wrapped__ is f else 0.75)
            assert (found.dtype, expected.dtype) == (np.float32, np.float32)
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        gradients = jit(funcgrad.grad(lambda x, lr: f(x, (lr + lr) / 2).sum(), argnums=(0, 1)))(
            x, 0.25
        )
    eager = funcgrad.grad(lambda x, lr: f(x, lr).sum(), argnums=(0, 1))(x, np.float32(0.25))
    np.testing.assert_allclose(gradients[0], eager[0], rtol=1e-5)
    np.testing.assert_allclose(gradients[1], eager[1], rtol=1e-5)
    assert gradients[0].dtype == np.float32


@pytest.mark.parametrize("number", [0.9, 2, 1.0 + 2.0j])
def test_what_is_differentiated_by(number):
    x = np.ones(3, np.float32)
    f = funcgrad.value_and_grad(lambda b: np.abs(blend(x, 2 * x, b)).sum())
    (value, slope), (expected, eager) = jit(f)(number), f(number)
    assert (value.dtype, slope.dtype) == (np.float32, np.asarray(eager).dtype)
    np.testing.assert_allclose([value, slope], [expected, eager], rtol=1e-6)


# ---------------------------------------------------------------- loops


COUNTED = {
    "counter": lambda x: lax.fori_loop(0, 4, lambda i, c: c + i * 0.5, x),
    "bias of a mean": lambda x: lax.fori_loop(0, 3, lambda i, c: c / (1 - 0.9 ** (i + 1)), x),
    "power": lambda x: lax.fori_loop(1, 4, lambda i, c: c + x[0] ** i, x),
    "index and number": lambda x: lax.fori_loop(0, 3, lambda i, c: c + x[i] * i, x),
    "count": lambda x: lax.while_loop(
        lambda s: s[1] < 3, lambda s: (s[0] + s[1], s[1] + 1), (x, 0)
    )[0],
    "rate": lambda x: lax.scan(lambda s, y: ((s[0] - s[1] * y, s[1] * 0.5), s[1]), (x, 1.0), x)[0][
        0
    ],
    "whole, then not": lambda x: lax.scan(lambda s, y: ((s[0] * s[1], s[1] + 0.5), y), (x, 1), x)[
        0
    ][0],
    "inside of another": lambda x: lax.fori_loop(
        0, 2, lambda i, c: lax.fori_loop(0, i + 1, lambda j, c: c + i * j, c), x
    ),
    "branch": lambda x: lax.fori_loop(
        0, 3, lambda i, c: lax.cond(c[0] > i, lambda: c * i, lambda: c + i), x
    ),
    "gradient inside": lambda x: lax.fori_loop(
        1, 3, lambda i, c: funcgrad.grad(lambda c: (c**2).sum() * i)(c), x
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_numbers_of_loops_widen_nothing(name):
    """Counters, and what is carried from Python's numbers: eagerly, in programs, by any transform."""
    f = COUNTED[name]
    for dtype in (np.float32, np.float64):
        x = np.array([0.5, 1.5, 2.5], dtype)
        expected = f(x)
        assert expected.dtype == dtype
        slope = funcgrad.grad(lambda x: f(x).sum())
        for compiler in ("python", "numpy", "c"):
            with config(compiler):
                for g, wanted in ((f, expected), (slope, slope(x))):
                    found = jit(g)(x)
                    assert found.dtype == dtype
                    np.testing.assert_allclose(found, wanted, rtol=1e-5)
        batch = funcgrad.vmap(f)(np.stack([x, x]))
        tangent = funcgrad.jvp(f, (x,), (np.ones_like(x),))[1]
        assert (batch.dtype, tangent.dtype) == (dtype, dtype)
        np.testing.assert_allclose(batch[1], expected, rtol=1e-5)
        np.testing.assert_allclose(jit(funcgrad.vmap(f))(np.stack([x, x]))[0], expected, rtol=1e-5)


def test_programs_without_other_types_know_of_no_numbers():
    x = np.ones(3)
    for f in (COUNTED["counter"], COUNTED["count"], COUNTED["rate"], lambda x: rows(x)):
        assert "as_number" not in str(funcgrad.make_jaxpr(f)(x))


def rows(x):
    return lax.fori_loop(0, 3, lambda i, c: c + x[i], 0.0)


def test_counters_by_arrays_count_in_int64():
    x = np.ones(3)
    with pytest.raises(funcgrad.errors.ArgumentError, match="f32"):
        lax.fori_loop(np.int64(0), 3, lambda i, c: c + i, x.astype(np.float32))
    assert lax.fori_loop(np.int64(0), 3, lambda i, c: c + i, x).dtype == np.float64


OF_CALLS = {
    "checkpoint": lambda n, x: funcgrad.checkpoint(lambda k: k * 2)(n) * x,
    "checkpoint in a loop": lambda n, x: lax.fori_loop(
        0, 2, lambda i, c: c * funcgrad.checkpoint(lambda k: k * 2)(n), x
    ),
    "branch": lambda n, x: lax.cond(x[0] > 0, lambda: n + 1, lambda: n * 2) * x,
    "branch in a loop": lambda n, x: lax.fori_loop(
        0, 2, lambda i, c: c * lax.cond(c[0] > 0, lambda: n + 1, lambda: n * 2), x
    ),
    "batch of loops": lambda n, x: funcgrad.vmap(
        lambda y: lax.while_loop(lambda c: c[0] * c[1] < 9, lambda c: (c[0] + 1, c[1] + n), (1, y))[
            1
        ]
    )(x),
    "batch that widens": lambda n, x: funcgrad.vmap(
        lambda y: lax.while_loop(
            lambda c: c[0] * c[1] < 9, lambda c: (c[0] + 1, c[1] + c[0]), (1, y)
        )
    )(x)[1],
}


@pytest.mark.parametrize("compiler", ["numpy", "c"])
@pytest.mark.parametrize("name", OF_CALLS)
def test_numbers_that_calls_return(name, compiler):
    x = np.array([1.5, 2.5], np.float32)
    expected = OF_CALLS[name](3, x)
    with config(compiler):
        found = jit(OF_CALLS[name])(3, x)
    assert found.dtype == expected.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_results_of_programs_are_numpys():
    x = np.ones(2, np.float32)
    inner = jit(lambda k: k * 2)
    f = lambda n, x: inner(n) * x  # noqa: E731
    assert f(3, x).dtype == jit(f)(3, x).dtype == np.float64
