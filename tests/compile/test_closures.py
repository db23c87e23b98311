"""What functions with rules of their own close over: operands of the program; nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

import funcgrad
from funcgrad import lax
from funcgrad.compile import c_compiler
from funcgrad.errors import EscapedTracerError, RuleError

x = np.linspace(0.5, 1.5, 4)
w = np.sin(np.arange(16.0)).reshape(4, 4) * 0.2


def forward_rule(w):
    @funcgrad.custom_jvp
    def f(y):
        return np.tanh(w @ y) + np.array([1.0, 2.0, 3.0, 4.0])

    f.defjvp(lambda p, t: (f(p[0]), (1.0 - np.tanh(w @ p[0]) ** 2) * (w @ t[0])))
    return f


def reverse_rule(w):
    @funcgrad.custom_vjp
    def f(y):
        return np.tanh(w @ y) + np.array([1.0, 2.0, 3.0, 4.0])

    f.defvjp(lambda y: (f(y), y), lambda y, ct: (((1.0 - np.tanh(w @ y) ** 2) * ct) @ w,))
    return f


@pytest.fixture(params=["numpy", "c"])
def code(request):
    if request.param == "c" and c_compiler.compiler() is None:
        pytest.skip("there is no C compiler")
    with funcgrad.config(request.param):
        yield


both = pytest.mark.parametrize("with_rule", [forward_rule, reverse_rule])


def in_loops(f):
    def g(y):
        y, _ = lax.scan(lambda y, _: (f(y) * 0.5, None), y, None, length=3)
        y = lax.fori_loop(0, 2, lambda i, y: y + f(y), y)
        return lax.cond(y[0] > 0.0, lambda y: f(y).sum(), lambda y: -f(y).sum(), y)

    return g


@both
def test_arrays_are_operands(with_rule, code):
    g = in_loops(with_rule(w))
    for derived in (lambda g: g, funcgrad.grad, funcgrad.hessian):
        np.testing.assert_allclose(funcgrad.jit(derived(g))(x), derived(g)(x), rtol=1e-12)
        np.testing.assert_allclose(derived(funcgrad.jit(g))(x), derived(g)(x), rtol=1e-12)
    many = np.stack([x, 2.0 * x, -x])
    by_one = [funcgrad.grad(g)(y) for y in many]
    np.testing.assert_allclose(
        funcgrad.vmap(funcgrad.grad(funcgrad.jit(g)))(many), by_one, rtol=1e-12
    )
    np.testing.assert_allclose(
        funcgrad.jit(funcgrad.vmap(funcgrad.grad(g)))(many), by_one, rtol=1e-12
    )
    dot = funcgrad.jvp(g, (x,), (x,))[1]
    np.testing.assert_allclose(funcgrad.jvp(funcgrad.jit(g), (x,), (x,))[1], dot, rtol=1e-12)


@both
def test_they_are_in_line(with_rule):
    def solved(b):
        f = with_rule(w)
        return lax.while_loop(lambda y: y[0] < 50.0, lambda y: y + np.abs(f(y)) + b, b)

    f = funcgrad.custom_vjp(solved)
    f.defvjp(lambda b: (f(b), None), lambda _, ct: (ct,))
    stages = funcgrad.jit(lambda b: f(b).sum()).lower(x)
    assert "custom_call" in str(stages.jaxpr)
    assert "custom_call" not in str(stages.simplified)


@both
def test_they_may_change(with_rule, code):
    held = w.copy()
    f = with_rule(held)
    g = funcgrad.jit(in_loops(f))
    for k in range(6):
        held[k % 4] += 0.1
        np.testing.assert_allclose(g(x), in_loops(f)(x), rtol=1e-12)


@both
def test_traced_values(with_rule):
    def g(y, w):
        return with_rule(w)(y).sum()

    plain = g(x, w)
    assert funcgrad.jit(g)(x, w) == pytest.approx(plain)
    by_scan = funcgrad.jit(lambda y, w: lax.scan(lambda c, y: (c + g(y, w), None), 0.0, y[None])[0])
    assert by_scan(x, w) == pytest.approx(plain)
    maps = funcgrad.vmap(funcgrad.jit(g), (None, 0))(x, np.stack([w, 2.0 * w]))
    np.testing.assert_allclose(maps, [plain, g(x, 2.0 * w)], rtol=1e-12)
    np.testing.assert_allclose(funcgrad.jit(funcgrad.grad(g))(x, w), funcgrad.grad(g)(x, w))


@both
def test_derivatives_by_what_is_closed_over_are_refused(with_rule):
    """They were zero under `jit`."""

    def g(y, w):
        return with_rule(w)(y).sum()

    for derivative in (
        funcgrad.grad(g, 1),
        funcgrad.jit(funcgrad.grad(g, 1)),
        funcgrad.grad(g, (0, 1)),
    ):
        with pytest.raises(EscapedTracerError, match="a custom rule closes over it"):
            derivative(x, w)
    with pytest.raises(RuleError, match="closes over a value by which it is differentiated"):
        funcgrad.grad(funcgrad.jit(g), 1)(x, w)
    with pytest.raises(RuleError, match="closes over a value by which it is differentiated"):
        funcgrad.jvp(lambda w: funcgrad.jit(g)(x, w), (w,), (w,))


def test_a_value_of_an_inner_function_is_no_constant():
    def g(y):
        kept = []
        funcgrad.grad(lambda z: kept.append(z) or z)(1.0)
        return y * kept[0]

    with pytest.raises(EscapedTracerError, match="multiply: the traced value"):
        funcgrad.jit(g)(2.0)


def test_rules_of_batches_know_nothing_of_them():
    f = funcgrad.custom_rule(
        lambda y: w @ y,
        batch=lambda size, bdims, y: (y @ w.T * 1.0, 0),
        vjp=lambda ct, ans, y: (ct @ w,),
    )
    many = np.stack([x, 2.0 * x])
    np.testing.assert_allclose(funcgrad.vmap(funcgrad.jit(f))(many), many @ w.T)
    np.testing.assert_allclose(funcgrad.grad(lambda y: funcgrad.jit(f)(y).sum())(x), w.sum(axis=0))
