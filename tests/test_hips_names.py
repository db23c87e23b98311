"""Code that was written for HIPS autograd: `funcgrad.autograd`, against `funcgrad` and, where it is
installed, against autograd itself."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
import funcgrad.autograd as ag
import funcgrad.autograd.numpy as anp
from funcgrad.autograd.core import primitive_jvps, primitive_vjps
from funcgrad.autograd.extend import (
    def_linear,
    defjvp,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    primitive,
    vspace,
)
from funcgrad.autograd.misc import const_graph, flatten_func, optimizers
from funcgrad.autograd.misc.fixed_points import fixed_point
from funcgrad.autograd.numpy.numpy_vjps import unbroadcast_f
from funcgrad.autograd.scipy.signal import convolve
from funcgrad.autograd.test_util import check_equivalent, check_jvp, check_vjp
from funcgrad.errors import (
    ArgumentError,
    ConcretizationError,
    MissingRuleError,
    NonScalarOutputError,
)

X = np.array([0.3, -1.2, 2.0])

SCRIPT = """
import sys
import funcgrad.autograd
funcgrad.autograd.install()
funcgrad.autograd.install()
import autograd.numpy as np
import autograd.numpy.random as npr
import autograd.scipy.stats.norm as norm
import numpy
from autograd import grad
from autograd.extend import primitive
from autograd.misc.optimizers import adam
from autograd.numpy.linalg import solve
from autograd.scipy.signal import convolve
from autograd.test_util import check_grads
assert grad is funcgrad.autograd.grad and npr.randn is numpy.random.randn
assert np.testing is numpy.testing and convolve is not funcgrad.scipy.signal.convolve
assert norm is funcgrad.scipy.stats.norm and solve is funcgrad.numpy.linalg.solve
print(float(grad(lambda x: np.sum(np.array([x[0] * x[1], norm.logpdf(x[0])])))(np.ones(2))[1]))
funcgrad.autograd.remove()
funcgrad.autograd.remove()
assert not [name for name in sys.modules if name.split(".")[0] == "autograd"]
sys.modules["autograd"] = numpy
try:
    funcgrad.autograd.install()
except funcgrad.errors.ArgumentError as error:
    print(error)
"""


def test_imports_find_the_names() -> None:
    ran = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    value, message = ran.stdout.splitlines()
    assert value == "1.0" and "autograd is imported already, from" in message
    assert all(hasattr(ag, name) for name in (*ag.__all__, *dir(ag)))
    with pytest.raises(AttributeError, match="no_such_name"):
        ag.no_such_name  # noqa: B018
    with pytest.raises(AttributeError, match="no_such_name"):
        anp.no_such_name  # noqa: B018
    assert {"sin", "linalg", "make_diagonal", "random"} <= set(anp.__all__) <= set(dir(anp))
    assert vars(anp)["sin"] is funcgrad.numpy.sin  # found without asking


# ---------------------------------------------------------------- derivatives


def mixed(a: Any, x: Any, power: float = 2.0) -> Any:
    return np.sum(a["k"] * np.sin(x) ** power) + a["m"] * np.prod(x)


A = {"k": 1.5, "m": np.float64(-0.5)}


def test_derivatives_are_those_of_funcgrad() -> None:
    by_x = funcgrad.grad(mixed, 1)(A, X)
    np.testing.assert_allclose(ag.grad(mixed, 1)(A, X), by_x)
    np.testing.assert_allclose(ag.grad_named(mixed, "x")(A, X), by_x)
    by_a, again = ag.grad(mixed, (0, -1))(A, X, power=2.0)
    assert list(by_a) == ["k", "m"] and np.array_equal(again, by_x)
    value, both = ag.value_and_grad(mixed, [1])(A, X)
    assert value == mixed(A, X) and np.array_equal(both[0], by_x)
    everything = ag.multigrad_dict(mixed)(A, X)
    assert list(everything) == ["a", "x", "power"] and np.array_equal(everything["x"], by_x)
    np.testing.assert_allclose(ag.hessian(mixed, 1)(A, X), funcgrad.hessian(mixed, 1)(A, X))
    gradient, aux = ag.grad_and_aux(lambda x: (mixed(A, x), {"twice": 2 * x, "n": 3.0}))(X)
    assert np.array_equal(gradient, by_x) and aux["n"] == 3.0
    assert aux["twice"].tolist() == (2 * X).tolist()


def test_products_with_derivatives() -> None:
    def f(x: Any) -> Any:
        return np.outer(np.sin(x), x)[:2]

    v, w = np.array([1.0, 2.0, -1.0]), np.arange(6.0).reshape(2, 3)
    jacobian = ag.jacobian(f)(X)
    assert jacobian.shape == (2, 3, 3)
    np.testing.assert_allclose(ag.make_vjp(f)(X)[0](w), np.tensordot(w, jacobian, 2))
    value, dot = ag.make_jvp(f)(X)(v)
    np.testing.assert_allclose(dot, jacobian @ v)
    np.testing.assert_allclose(ag.differential_operators.make_jvp_reversemode(f)(X)(v), dot)
    for rows in (w, w[:, 0]):
        product = ag.vector_jacobian_product(f)(X, rows)
        np.testing.assert_allclose(product, np.tensordot(rows, jacobian, rows.ndim))
    second = ag.hessian(mixed, 1)(A, X)
    np.testing.assert_allclose(ag.hessian_vector_product(mixed, 1)(A, X, v), second @ v)
    product, gradient = ag.make_hvp(mixed, 1)(A, X)
    np.testing.assert_allclose(product(v), second @ v)
    assert np.array_equal(gradient, ag.grad(mixed, 1)(A, X))
    inner = ag.jacobian(np.cos)(X)
    curved = ag.make_ggnvp(lambda a, x: a * np.cos(x), f_argnum=1)(1.0, X)(v)
    np.testing.assert_allclose(curved, inner.T @ inner @ v)
    assert ag.elementwise_grad(np.exp)(X).tolist() == np.exp(X).tolist()
    assert ag.deriv(np.exp)(X).tolist() == np.exp(X).tolist()
    assert ag.holomorphic_grad(np.exp)(1.0j) == pytest.approx(np.exp(1.0j))
    assert np.array_equal(value, f(X))


def test_values_of_one_element_have_gradients_and_others_have_not() -> None:
    for shape in ((), (1,), (1, 1)):
        found = ag.grad(lambda x, shape=shape: anp.reshape(x @ x, shape))(X)
        np.testing.assert_allclose(found, 2 * X)
    for f in (np.sin, lambda x: np.sum(x) * 1j):
        with pytest.raises(NonScalarOutputError, match="jacobian"):
            ag.grad(f)(X)
    with pytest.raises(NonScalarOutputError, match="real"):
        ag.elementwise_grad(lambda x: x * 1j)(X)
    with pytest.raises(ArgumentError, match="called with 1 positional"):
        ag.grad(mixed, 1)(A)
    with pytest.raises(ArgumentError, match="argnum='x'"):
        ag.grad(mixed, "x")
    with pytest.raises(ArgumentError, match="no names"):
        ag.multigrad_dict(lambda *x: x)
    assert ag.grad(mixed, 1).__name__ == "grad_of_mixed_wrt_argnum_1"


def test_questions_about_what_is_traced() -> None:
    seen = []

    def f(x: Any, d: Any) -> Any:
        seen.append((ag.isinstance(x, np.ndarray), ag.type(x) is np.ndarray))
        seen.append((ag.isinstance(d, ag.dict), ag.tracer.isbox(d["a"])))
        assert isinstance(x, anp.numpy_boxes.ArrayBox) and not ag.isinstance(x, dict)
        return np.sum(x * ag.tracer.getval(x)) * d["a"]

    steps = ag.tracer.notrace_primitive(lambda x, scale=1.0: float(x) * scale)
    assert ag.grad(f)(X, {"a": 1.0}).tolist() == X.tolist()
    assert seen == [(True, True), (True, False)]
    assert float(ag.grad(lambda x: steps(x, scale=x) * x)(3.0)) == 9.0
    with pytest.raises(ConcretizationError, match="getval"):
        funcgrad.jit(ag.tracer.getval)(X)


# ---------------------------------------------------------------- functions with rules


def opaque(f: Any) -> Any:
    """A function that takes no traced values."""

    def plain(*xs: Any, **kwargs: Any) -> Any:
        assert not any(ag.tracer.isbox(x) for x in xs)
        return f(*xs, **kwargs)

    return primitive(plain)


def by_vjp() -> Any:
    f = opaque(lambda a, x, shift=0.0: float(a) ** 2 * np.sin(np.asarray(x)) + shift)
    defvjp(
        f,
        lambda ans, a, x, shift: lambda g: np.sum(g * 2 * a * np.sin(x)),
        lambda ans, a, x, shift: lambda g: g * a**2 * np.cos(x),
    )
    return f


def by_jvp() -> Any:
    f = opaque(lambda a, x, shift=0.0: float(a) ** 2 * np.sin(np.asarray(x)) + shift)
    defjvp(
        f,
        lambda g, ans, a, x, shift: g * 2 * a * np.sin(x),
        lambda g, ans, a, x, shift: g * a**2 * np.cos(x),
    )
    return f


@pytest.mark.parametrize("make", [by_vjp, by_jvp])
def test_rules_of_primitives_hold_in_every_mode_and_order(make: Any) -> None:
    f = make()

    def plain(a: Any, x: Any) -> Any:
        return np.sum((a**2 * np.sin(x) + 1.0) ** 2)

    def through(a: Any, x: Any) -> Any:
        return np.sum(f(a, x, shift=1.0) ** 2)

    assert through(2.0, X) == plain(2.0, X)
    for derive in (
        lambda f: funcgrad.grad(f, (0, 1)),
        lambda f: funcgrad.jacfwd(f, (0, 1)),
        lambda f: funcgrad.hessian(f, (0, 1)),
        lambda f: funcgrad.grad(lambda a, x: np.sum(ag.grad(f, 1)(a, x) ** 3), (0, 1)),
        lambda f: (
            lambda a, x: funcgrad.vmap(funcgrad.grad(f, 1), (None, 0))(a, np.stack([x, 2 * x]))
        ),
        lambda f: lambda a, x: funcgrad.vmap(f, (0, None))(np.array([a, 3.0]), x),
        lambda f: lambda a, x: ag.hessian_vector_product(f, 1)(a, x, X),
    ):
        found, needed = derive(through)(2.0, X), derive(plain)(2.0, X)
        for g, n in zip(funcgrad.tree.leaves(found), funcgrad.tree.leaves(needed), strict=True):
            np.testing.assert_allclose(g, n, rtol=1e-12)
    ag.test_util.check_grads(through, 1, order=2)(2.0, X)


def test_rules_by_number_of_the_argument() -> None:
    f = opaque(lambda x, y, z: x * y + z)
    defvjp_argnum(f, lambda i, ans, args, kwargs: lambda g: g if i == 2 else g * args[1 - i])
    assert [float(g) for g in ag.grad(f, (0, 1, 2))(2.0, 3.0, 4.0)] == [3.0, 2.0, 1.0]
    defjvp_argnums(f, lambda argnums, gs, ans, args, kwargs: sum(gs))  # another one, to tell
    assert float(ag.deriv(f, 0)(2.0, 3.0, 4.0)) == 1.0
    product = primitive(lambda x, y: x * y)
    def_linear(product)  # in each argument
    assert [float(ag.deriv(product, i)(2.0, 3.0)) for i in (0, 1)] == [3.0, 2.0]
    assert [float(ag.grad(product, i)(2.0, 3.0)) for i in (0, 1)] == [3.0, 2.0]
    swapped = opaque(lambda pair: {"sum": pair[0] + pair[1], "first": pair[0]})
    defvjp(swapped, lambda ans, pair: lambda g: [g["sum"] + g["first"], g["sum"]])
    found = ag.grad(lambda p: swapped(p)["sum"] * swapped(p)["first"])([2.0, 3.0])
    assert [float(g) for g in found] == [7.0, 2.0]


def test_rules_that_are_missing_or_wrong_are_named() -> None:
    f = opaque(lambda x, y: x * y)
    assert f(2.0, 3.0) == 6.0
    with pytest.raises(MissingRuleError, match=r"plain: it has no derivative.*defvjp"):
        ag.grad(f)(2.0, 3.0)
    defvjp(f, lambda ans, x, y: lambda g: g * y)
    with pytest.raises(MissingRuleError, match="VJP of plain wrt argnum 1 not defined"):
        ag.grad(f, 1)(2.0, 3.0)
    defvjp(f, None, lambda ans, x, y: lambda g: g * x)
    assert [float(g) for g in ag.grad(f, (0, 1))(2.0, 3.0)] == [0.0, 2.0]
    defvjp(f, lambda ans, x, y: lambda g: g * y, argnums=(1,))
    with pytest.raises(MissingRuleError, match="wrt argnum 0"):
        ag.grad(f)(2.0, 3.0)
    with pytest.raises(ArgumentError, match="need functions or None"):
        defvjp(f, "same")
    g = opaque(lambda x, y: x + 3.0 * y)
    defjvp(g, None, "same")
    assert float(ag.deriv(g, 0)(1.0, 2.0)) == 0.0
    with pytest.warns(UserWarning, match=r"defvjp: <lambda> is no primitive.*not used"):
        defvjp(lambda x: x, None)


def test_rules_can_be_taken_away_and_given_back() -> None:
    double = primitive(lambda x: 2.0 * x)
    assert double not in primitive_vjps and primitive_vjps.pop(np.sin, None) is None
    defvjp(double, lambda ans, x: lambda g: g * 2.0)
    assert double in list(primitive_vjps) and double not in primitive_jvps
    rule = primitive_vjps.pop(double)
    with pytest.raises(MissingRuleError, match="no derivative"):
        ag.grad(double)(1.0)
    with pytest.raises(KeyError):
        del primitive_vjps[double]
    primitive_vjps[double] = rule
    assert ag.grad(double)(1.0) == 2.0
    other = primitive(lambda x: x)
    defvjp(other, lambda ans, x: lambda g: g)
    assert len(primitive_vjps) == len(list(primitive_vjps)) >= 2
    alive = weakref.ref(other)
    del other
    gc.collect()
    assert alive() is None


def test_where_leaves_the_values_of_python_what_they_are() -> None:
    assert type(anp.where(True, 1, 2.0)) is int
    assert anp.where(np.bool(False), 1, [2]) == [2]
    assert anp.where(False, np.float64(1), np.float32(2)).dtype == np.float64
    np.testing.assert_array_equal(anp.where(X > 0), np.where(X > 0))
    by_hand = np.where(X > 0, 2.0 * X, 1.0)

    def f(x: Any) -> Any:
        return anp.sum(
            anp.where(condition=x > 0, x=x, y=0.0) * anp.where(True, x, 1.0) + x * (x <= 0)
        )

    np.testing.assert_allclose(ag.grad(f)(X), by_hand)


def test_methods_are_primitives_too() -> None:
    class Scale:
        factor = 3.0

        @primitive
        def __call__(self, x: Any) -> Any:
            return self.factor * float(x)

    defvjp(Scale.__call__, lambda ans, self, x: lambda g: g * self.factor, argnums=(1,))
    assert float(ag.grad(Scale())(2.0)) == 3.0


# ---------------------------------------------------------------- vector spaces

leaves = st.sampled_from([1.0, 2.0j, np.zeros(3), np.zeros((2, 1)), np.zeros(2, complex)])
values = st.recursive(
    leaves,
    lambda x: (
        st.lists(x, min_size=1, max_size=2)
        | st.tuples(x, x)
        | st.dictionaries(st.sampled_from("abc"), x, min_size=1, max_size=2)
    ),
    max_leaves=4,
)


@given(value=values, a=st.floats(-3, 3), seed=st.integers(0, 99))
def test_axioms_of_vector_spaces(value: Any, a: float, seed: int) -> None:
    space = vspace(value)
    np.random.seed(seed)
    x, y = space.randn(), space.randn()

    def near(u: Any, v: Any) -> bool:
        return all(map(np.allclose, funcgrad.tree.leaves(u), funcgrad.tree.leaves(v)))

    assert space == vspace(x) == vspace(space.add(x, y)) and hash(space) == hash(vspace(y))
    assert near(space.add(x, y), space.add(y, x)) and near(space.add(x, space.zeros()), x)
    assert near(
        space.scalar_mul(space.add(x, y), a), space.add(*(space.scalar_mul(v, a) for v in (x, y)))
    )
    assert np.isclose(space.inner_prod(x, y), space.inner_prod(y, x))
    assert np.isclose(space.inner_prod(space.scalar_mul(x, a), y), a * space.inner_prod(x, y))
    assert space.inner_prod(x, x) > 0 and near(space.covector(space.covector(x)), x)
    basis = list(space.standard_basis())
    assert len(basis) == space.size and near(space.ones(), space.zeros()) is False
    gram = [[space.inner_prod(u, v) for u in basis] for v in basis]
    np.testing.assert_allclose(gram, np.eye(len(basis)))
    total = space.zeros()
    for b in basis:
        total = space.add(total, b)
    assert near(total, space.ones())


def test_spaces_say_what_they_are_of() -> None:
    space = vspace(np.zeros((2, 3), complex))
    assert (space.shape, space.ndim, space.size, space.iscomplex) == ((2, 3), 2, 12, True)
    assert space.dtype == complex and "c128[2,3]" in repr(space)
    both = vspace([1.0, X])
    assert both.dtype is None and [s.shape for s in both.shape] == [(), (3,)]
    assert space != both and space != 1
    for value in (1, "a", [np.zeros(2, int)]):
        with pytest.raises(ArgumentError, match="vector space"):
            vspace(value)


# ---------------------------------------------------------------- what comes beside


@given(st.data())
def test_convolutions(data: Any) -> None:
    """Against the definition, over axes, summed axes and free ones in any order."""
    mode = data.draw(st.sampled_from(["full", "valid", "same"]))
    conv = data.draw(st.integers(1, 2))
    sizes = [[data.draw(st.integers(1, 4)) for _ in range(conv)] for _ in "AB"]
    if mode == "valid":
        sizes = [[*map(max, zip(*sizes, strict=True))], [*map(min, zip(*sizes, strict=True))]]
        sizes = sizes[:: data.draw(st.sampled_from([1, -1]))]
    dots = data.draw(st.integers(0, 1))
    free = [data.draw(st.integers(0, 1)) for _ in "AB"]
    orders = [data.draw(st.permutations(range(conv + dots + f))) for f in free]
    rng = np.random.default_rng(0)
    plain = [rng.normal(size=(*s, *[2] * dots, *[3] * f)) for s, f in zip(sizes, free, strict=True)]
    axes = [[o.index(i) for i in range(conv)] for o in orders]
    dot_axes = [[o.index(conv + i) for i in range(dots)] for o in orders]
    A, B = (x.transpose(o) for x, o in zip(plain, orders, strict=True))
    found = convolve(A, B, axes=axes, dot_axes=dot_axes, mode=mode)
    full = np.zeros((*[3] * sum(free), *[m + n - 1 for m, n in zip(*sizes, strict=True)]))
    for i, j in itertools.product(*(np.ndindex(*s) for s in sizes)):
        a, b = plain[0][i], plain[1][j]
        full[(..., *np.add(i, j))] += (
            np.tensordot(a, b, ([0], [0])) if dots else np.multiply.outer(a, b)
        )
    if mode == "same":
        cut = [slice((n - 1) // 2, (n - 1) // 2 + m) for m, n in zip(*sizes, strict=True)]
    else:
        low = [min(m, n) - 1 if mode == "valid" else 0 for m, n in zip(*sizes, strict=True)]
        cut = [slice(k, s - k) for k, s in zip(low, full.shape[sum(free) :], strict=True)]
    np.testing.assert_allclose(found, full[(..., *cut)], atol=1e-12)


def test_convolutions_that_cannot_be_are_refused() -> None:
    with pytest.raises(ArgumentError, match="mode='wrong'"):
        convolve(X, X, mode="wrong")
    with pytest.raises(ArgumentError, match="the larger one along all axes"):
        convolve(np.ones((2, 3)), np.ones((3, 2)), mode="valid")
    ag.test_util.check_grads(lambda a, b: convolve(a, b), (0, 1))(X, X[:2])


@given(
    shape=st.lists(st.sampled_from([1, 2]), max_size=3).map(tuple),
    extra=st.lists(st.sampled_from([1, 3]), max_size=2).map(tuple),
    grow=st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_unbroadcast_is_the_transpose(shape: Any, extra: Any, grow: Any) -> None:
    out = (*extra, *(4 if g and n == 1 else n for n, g in zip(shape, grow, strict=False)))
    x = np.random.default_rng(0).normal(size=out)
    spread = funcgrad.linear_transpose(lambda y: np.broadcast_to(y, out), np.zeros(shape))
    found = unbroadcast_f(np.zeros(shape), lambda g: 2.0 * g)(x)
    np.testing.assert_allclose(found, 2.0 * spread(x)[0])


def test_diagonals_and_rows() -> None:
    for offset, axes in itertools.product((-1, 0, 2), ((0, 1), (-1, -2), (0, -1))):
        made = anp.make_diagonal(np.stack([X, 2 * X]), offset, *axes)
        np.testing.assert_array_equal(np.diagonal(made, offset, *axes), [X, 2 * X])
    assert anp.row_stack([X, X]).shape == (2, 3) and anp.ma is np.ma


@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adam"])
def test_optimizers_take_containers(name: str) -> None:
    seen: list[Any] = []
    x = getattr(optimizers, name)(
        lambda p, i: {"a": 2 * p["a"], "b": [p["b"][0] - 1.0]},
        {"a": X, "b": [0.0]},
        lambda p, i, g: seen.append((i, p["a"], g["b"][0])),
        num_iters=400,
        step_size=0.05,
    )
    np.testing.assert_allclose(x["a"], 0.0, atol=0.03)
    np.testing.assert_allclose(x["b"][0], 1.0, atol=0.03)
    assert [i for i, _, _ in seen] == list(range(400)) and seen[0][1].tolist() == X.tolist()
    assert seen[0][2] == -1.0


def test_fixed_points_have_derivatives_in_both_modes() -> None:
    def root(a: Any) -> Any:
        def step(a: Any) -> Any:
            return lambda x: [0.5 * (x[0] + a / x[0]), x[1] / 2]

        return fixed_point(
            step, a, [1.0, 1.0], lambda x, y: np.abs(x[0] - y[0]) + np.abs(x[1]), 1e-12
        )[0]

    assert root(9.0) == pytest.approx(3.0)
    assert float(ag.grad(root)(9.0)) == pytest.approx(1 / 6)
    assert float(ag.deriv(root)(9.0)) == pytest.approx(1 / 6)
    assert float(ag.grad(ag.grad(root))(9.0)) == pytest.approx(-1 / 108)
    assert float(ag.deriv(ag.deriv(root))(9.0)) == pytest.approx(-1 / 108)


def test_small_tools() -> None:
    flat, unflatten, start = flatten_func(lambda p: {"b": p["a"] ** 2}, {"a": X})
    assert flat(start).tolist() == (X**2).tolist() and unflatten(start)["a"].tolist() == X.tolist()
    graph = const_graph(lambda a, x, k: a * x**k, 2.0, k=3)
    assert graph(2.0) == graph(np.float64(2.0)) == 16.0
    assert ag.util.func(len) is len and ag.util.subval((1, 2), 1, 5) == (1, 5)
    check_vjp(np.sin, X)
    check_jvp(np.sin, X)
    check_equivalent({"a": X}, {"a": X + 1e-9})
    for other in ({"a": X + 1e-3}, {"a": X[:2]}):
        with pytest.raises(AssertionError):
            check_equivalent({"a": X}, other)
    wrong = opaque(lambda x: 2.0 * x)
    defvjp(wrong, lambda ans, x: lambda g: 2.001 * g)
    with pytest.raises(AssertionError):
        ag.test_util.check_grads(wrong, modes=["rev"])(1.0)


# ---------------------------------------------------------------- autograd, where it is installed


def test_agrees_with_autograd() -> None:
    theirs = pytest.importorskip("autograd")
    import autograd.misc.optimizers as their_optimizers
    import autograd.numpy as their_numpy
    import autograd.scipy.signal as their_signal

    def model(np: Any) -> Any:
        def f(p: Any, x: Any) -> Any:
            h = np.tanh(np.dot(x, p["w"]) + p["b"])
            return np.sum(np.dot(h, p["v"]) ** 2) + np.linalg.norm(p["w"])

        return f

    rng = np.random.RandomState(0)
    p = {"w": rng.randn(3, 4), "b": rng.randn(4), "v": rng.randn(4)}
    x = rng.randn(5, 3)
    for name, args in (("grad", ()), ("value_and_grad", ()), ("jacobian", (1,)), ("hessian", (1,))):
        found = getattr(ag, name)(model(anp), *args)(p, x)
        needed = getattr(theirs, name)(model(their_numpy), *args)(p, x)
        for a, b in zip(funcgrad.tree.leaves(found), funcgrad.tree.leaves(needed), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)
    for name in ("sgd", "rmsprop", "adam"):
        runs = [
            getattr(o, name)(lambda p, i, d=d, f=f: d.grad(f)(p, x), p, num_iters=20)
            for o, d, f in (
                (optimizers, ag, model(anp)),
                (their_optimizers, theirs, model(their_numpy)),
            )
        ]
        np.testing.assert_allclose(runs[0]["w"], runs[1]["w"], rtol=1e-8)
    images, filters = rng.randn(2, 3, 6, 7), rng.randn(3, 4, 3, 2)
    axes, dots = ([2, 3], [2, 3]), ([1], [0])
    for mode in ("full", "valid"):
        found = convolve(images, filters, axes=axes, dot_axes=dots, mode=mode)
        needed = their_signal.convolve(images, filters, axes=axes, dot_axes=dots, mode=mode)
        np.testing.assert_allclose(found, needed, rtol=1e-10, atol=1e-12)
