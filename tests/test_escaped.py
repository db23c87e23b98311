"""Traced values that outlive their transform: one error, wherever they are used afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax
from funcgrad.errors import EscapedTracerError

X = np.array([1.0, 2.0, 4.0])


def keeping(kept: list[Any]) -> Callable[[Any], Any]:
    def square(x: Any) -> Any:
        kept.append(x * 2)
        return x * x

    return square


def total(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: f(x).sum()


# How a value of the type f64[3] is kept from a trace.
MAKERS: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "grad": lambda f: funcgrad.grad(total(f))(X),
    "jvp": lambda f: funcgrad.jvp(f, (X,), (X,)),
    "vmap": lambda f: funcgrad.vmap(f)(X[None]),
    "jit": lambda f: funcgrad.jit(f)(X),
    "make_jaxpr": lambda f: funcgrad.make_jaxpr(f)(X),
    "linearize": lambda f: funcgrad.linearize(f, X),
    "eval_shape": lambda f: funcgrad.eval_shape(f, X),
    "checkpoint": lambda f: funcgrad.grad(total(funcgrad.checkpoint(f)))(X),
    "grad of vmap": lambda f: funcgrad.grad(lambda x: funcgrad.vmap(f)(x).sum())(X[None]),
    "grad of grad": lambda f: funcgrad.hessian(total(f))(X),
    "scan": lambda f: funcgrad.jit(
        lambda x: lax.scan(lambda c, a: (c + f(a), None), x, np.ones((2, 3)))[0]
    )(X),
    "cond": lambda f: funcgrad.jit(lambda x: lax.cond(x[0] > 0, f, np.sin, x))(X),
    "while_loop": lambda f: funcgrad.jit(lambda x: lax.while_loop(lambda c: c[0] < 0, f, x))(X),
}

USES: dict[str, Callable[[Any], Any]] = {
    "+": lambda t: t + 1,
    "+=": lambda t: t.__iadd__(1),
    "an element": lambda t: t[0],
    "an assignment": lambda t: t.__setitem__(0, 1.0),
    "a truth value": lambda t: bool(t.any()),
    "np.asarray": np.asarray,
    "np.concatenate": lambda t: np.concatenate([X, t]),
    "tolist": lambda t: t.tolist(),
    "float": lambda t: float(t),
    "complex": lambda t: complex(t),
    "a plain array": lambda t: np.zeros(3).__setitem__(slice(None), t),
    "a plain index": lambda t: X[t],
    "grad over": lambda t: funcgrad.grad(lambda x: (x * t).sum())(X),
    "grad by": lambda t: funcgrad.grad(np.sum)(t),
    "vmap over": lambda t: funcgrad.vmap(lambda x: x * t)(X),
    "vmap by": lambda t: funcgrad.vmap(np.sin)(t),
    "jvp by": lambda t: funcgrad.jvp(np.sin, (X,), (t,)),
    "jit over": lambda t: funcgrad.jit(lambda x: x * t)(X),
    "jit by": lambda t: funcgrad.jit(np.sin)(t),
    "jit of grad": lambda t: funcgrad.jit(funcgrad.grad(lambda x: (x * t).sum()))(X),
    "make_jaxpr over": lambda t: funcgrad.make_jaxpr(lambda x: x * t)(X),
    "make_jaxpr by": lambda t: funcgrad.make_jaxpr(np.sin)(t),
    "eval_shape over": lambda t: funcgrad.eval_shape(lambda x: x * t, X),
    "scan over": lambda t: lax.scan(lambda c, a: (c + a * t, None), X, X),
    "scan from": lambda t: lax.scan(lambda c, a: (c * a, None), t, X),
    "cond over": lambda t: lax.cond(True, lambda x: x * t, lambda x: x, X),
    "while_loop over": lambda t: lax.while_loop(lambda c: c[0] < 3, lambda c: c + t, X),
    "fori_loop from": lambda t: lax.fori_loop(0, 3, lambda i, c: c + 1, t),
    "checkpoint over": lambda t: funcgrad.grad(total(funcgrad.checkpoint(lambda x: x * t)))(X),
    "returned to jvp": lambda t: funcgrad.jvp(lambda x: t, (X,), (X,)),
    "returned to vjp": lambda t: funcgrad.vjp(lambda x: {"a": t}, X),
    "returned to vmap": lambda t: funcgrad.vmap(lambda x: t)(X),
    "returned to jit": lambda t: funcgrad.jit(lambda x: t)(X),
    "returned to make_jaxpr": lambda t: funcgrad.make_jaxpr(lambda x: t)(X),
    "returned to linearize": lambda t: funcgrad.linearize(lambda x: t, X),
    "returned to scan": lambda t: lax.scan(lambda c, a: (c, t), 0.0, X),
    "returned to cond": lambda t: lax.cond(True, lambda: t, lambda: X),
    "chosen": lambda t: fnp.where(X > 1, t, X),
    "transposed": lambda t: funcgrad.linear_transpose(lambda x: x * t, X)(X),
}


@pytest.mark.parametrize("maker", MAKERS)
@given(use=st.sampled_from(list(USES)))
@settings(deadline=None, max_examples=len(USES))
def test_a_kept_value_is_refused_everywhere(maker: str, use: str) -> None:
    kept: list[Any] = []
    MAKERS[maker](keeping(kept))
    with pytest.raises(EscapedTracerError, match=r"is used outside the function.*return it from"):
        USES[use](kept[0])
    assert "f64[3]" in repr(kept[0])  # it can still be looked at


@pytest.mark.parametrize(
    "use", [int, bool, range, lambda i: X[i], lambda i: X[:i], lambda i: [1][i]]
)
@pytest.mark.parametrize("around", [funcgrad.jit, lambda f: lambda i: funcgrad.vmap(f)(i[None])])
def test_a_kept_integer_is_no_number(around: Any, use: Any) -> None:
    kept: list[Any] = []
    around(lambda i: kept.append(i) or i)(np.array(2))
    with pytest.raises(EscapedTracerError):
        use(kept[0])


@pytest.mark.parametrize("maker", ["jit", "scan", "cond", "make_jaxpr"])
def test_the_error_of_a_program_says_jit(maker: str) -> None:
    kept: list[Any] = []
    MAKERS[maker](keeping(kept))
    with pytest.raises(EscapedTracerError, match=r"that jit, make_jaxpr or lax was tracing"):
        kept[0] + 1


def test_values_of_enclosing_transforms_are_constants() -> None:
    """What is not an error: all the transforms around are still running."""

    def f(x: Any) -> Any:
        y = np.sin(x)
        inner = funcgrad.grad(lambda z: (z * y).sum())(X)
        looped = lax.scan(lambda c, a: (c + a * y, None), y, X)[0]
        return (inner + looped + funcgrad.vmap(lambda a: a * y)(X).sum(axis=0)).sum()

    slope = (1 + 1 + X.sum() + X.sum()) * np.cos(X)
    for g in (funcgrad.grad(f), funcgrad.jit(funcgrad.grad(f)), funcgrad.jacfwd(f)):
        np.testing.assert_allclose(g(X), slope)
