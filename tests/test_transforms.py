"""Transforms of transforms, closures, writes, errors, threads, long programs and memory."""

from __future__ import annotations

import contextlib
import functools
import gc
import itertools
import math
import threading
import time
import tracemalloc
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax, tree
from funcgrad.core import EVAL, current
from funcgrad.errors import ArgumentError, NotLinearError, RuleError, ShapeError
from funcgrad.jaxpr import check_jaxpr, eval_jaxpr

Function = Callable[..., Any]


@pytest.fixture(autouse=True)
def trace_is_restored() -> Iterator[None]:
    """Whatever a test does, evaluation is the current trace afterwards."""
    yield
    assert current.get() is EVAL


# ---------------------------------------------------------------- functions with known derivatives


class Known(NamedTuple):
    """A function of a number, and its derivative of any order at a number."""

    f: Function
    derivative: Callable[[int, float], float]


def power(n: int, k: int, x: float) -> float:
    """The `k`-th derivative of ``x**n``."""
    return math.perm(n, k) * x ** (n - k) if k <= n else 0.0


def oscillation(x: Any) -> Any:
    return fnp.exp(0.5 * x) * fnp.sin(x)


def plain_numpy(x: Any) -> Any:
    return np.exp(0.5 * x) * np.sin(x)


def products(x: Any) -> Any:
    """x**5, with a value used several times."""
    y = x * x
    return y * y * x


def sums(x: Any) -> Any:
    """x**3 + 3 x**2 + 2 x, through arrays."""
    v = fnp.stack([x, x + 1.0, x + 2.0])
    return fnp.prod(v) + 0.0 * fnp.sum(v)


def writes(x: Any) -> Any:
    """x**4 + 2 x**3 + 9 x**2, through writes into an array and a view of it."""
    z = fnp.zeros(3)
    z[0] = x * x
    z += x
    v = z[1:]
    v *= 2.0
    return fnp.sum(z * z)


def waves(k: int, x: float) -> float:
    return ((0.5 + 1j) ** k * np.exp((0.5 + 1j) * x)).imag


FUNCTIONS = {
    "oscillation": Known(oscillation, waves),
    "plain_numpy": Known(plain_numpy, waves),
    "products": Known(products, lambda k, x: power(5, k, x)),
    "sums": Known(sums, lambda k, x: power(3, k, x) + 3 * power(2, k, x) + 2 * power(1, k, x)),
    "writes": Known(writes, lambda k, x: power(4, k, x) + 2 * power(3, k, x) + 9 * power(2, k, x)),
    "linear": Known(lambda x: 3.0 * x, lambda k, x: 3 * power(1, k, x)),
    "constant": Known(lambda x: 0.0 * x + 2.0, lambda k, x: 2 * power(0, k, x)),
}

# ---------------------------------------------------------------- on functions of a number


def by_jvp(f: Function) -> Function:
    return lambda x: funcgrad.jvp(f, (x,), (1.0,))[1]


def by_vjp(f: Function) -> Function:
    return lambda x: funcgrad.vjp(f, x)[1](1.0)[0]


def by_linearize(f: Function) -> Function:
    return lambda x: funcgrad.linearize(f, x)[1](1.0)


def by_linear_transpose(f: Function) -> Function:
    return lambda x: funcgrad.linear_transpose(funcgrad.linearize(f, x)[1], x)(1.0)[0]


def by_value_and_grad(f: Function) -> Function:
    return lambda x: funcgrad.value_and_grad(f)(x)[1]


def by_vmap(f: Function) -> Function:
    return lambda x: funcgrad.vmap(f)(fnp.stack([x + 1.0, x]))[1]


def by_vmap_of_closure(f: Function) -> Function:
    return lambda x: funcgrad.vmap(lambda w: f(x * w))(np.array([2.0, 1.0]))[1]


def by_jaxpr(f: Function) -> Function:
    def evaluated(x: Any) -> Any:
        program = funcgrad.make_jaxpr(f)(x)
        check_jaxpr(program)
        return eval_jaxpr(program, x)[0]

    return evaluated


def by_custom_jvp(f: Function) -> Function:
    wrapped = funcgrad.custom_jvp(f)
    wrapped.defjvp(lambda primals, tangents: funcgrad.jvp(f, primals, tangents))
    return wrapped


def by_custom_vjp(f: Function) -> Function:
    wrapped = funcgrad.custom_vjp(f)
    wrapped.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * funcgrad.grad(f)(x),))
    return wrapped


DERIVATIVES: dict[str, Function] = {
    "grad": funcgrad.grad,
    "value_and_grad": by_value_and_grad,
    "jacfwd": funcgrad.jacfwd,
    "jacrev": funcgrad.jacrev,
    "jvp": by_jvp,
    "vjp": by_vjp,
    "linearize": by_linearize,
    "linear_transpose": by_linear_transpose,
}
IDENTITIES: dict[str, Function] = {
    "vmap": by_vmap,
    "vmap_of_closure": by_vmap_of_closure,
    "make_jaxpr": by_jaxpr,
    "checkpoint": funcgrad.checkpoint,
    "custom_jvp": by_custom_jvp,
    "custom_vjp": by_custom_vjp,
}
TRANSFORMS = DERIVATIVES | IDENTITIES
X = 0.7


@pytest.mark.parametrize("names", list(itertools.product(TRANSFORMS, repeat=3)), ids="-".join)
def test_three_transforms_of_a_function(names: tuple[str, ...]) -> None:
    order = sum(name in DERIVATIVES for name in names)
    for label, (f, derivative) in FUNCTIONS.items():
        for name in reversed(names):
            f = TRANSFORMS[name](f)
        for x in (X, np.float64(X), np.array(X)):
            assert float(f(x)) == pytest.approx(derivative(order, X), rel=1e-12, abs=1e-12), label


@pytest.mark.parametrize("name", sorted(TRANSFORMS.keys() - {"vmap_of_closure"}))
def test_float32_stays_float32(name: str) -> None:
    for label in ("oscillation", "plain_numpy", "products", "linear", "constant"):
        assert TRANSFORMS[name](FUNCTIONS[label].f)(np.float32(X)).dtype == np.float32, label


# ---------------------------------------------------------------- closures over outer tracers

every_pair = pytest.mark.parametrize(
    "pair", list(itertools.product(DERIVATIVES, repeat=2)), ids=lambda pair: "-".join(pair)
)


@every_pair
def test_no_perturbation_confusion(pair: tuple[str, str]) -> None:
    outer, inner = (DERIVATIVES[name] for name in pair)
    # d/dx (x * d/dy (x + y)) = 1, where a confused tangent gives 2
    assert float(outer(lambda x: x * inner(lambda y: x + y)(1.0))(3.0)) == 1.0
    assert float(outer(lambda x: x * inner(lambda y: x + y)(x))(3.0)) == 1.0
    assert float(outer(lambda x: x * inner(lambda y: x * y)(2.0))(3.0)) == 6.0
    assert float(outer(lambda x: inner(lambda y: x * y * y)(x))(3.0)) == 12.0
    # the inner function ignores its argument, or the outer one
    assert float(outer(lambda x: x * inner(lambda y: x * x + 0.0 * y)(x))(3.0)) == 0.0
    assert float(outer(lambda x: x * inner(lambda y: y * y)(1.0))(3.0)) == 2.0


@every_pair
def test_three_levels_of_closures(pair: tuple[str, str]) -> None:
    outer, inner = (DERIVATIVES[name] for name in pair)

    def f(x: Any) -> Any:
        return x * inner(lambda y: y * outer(lambda z: x * y * z * z)(y))(x)

    # d/dz gives 2 x y z -> at z = y: 2 x y**2; y times it: 2 x y**3; d/dy: 6 x y**2 -> 6 x**3
    assert float(outer(f)(2.0)) == pytest.approx(24 * 2.0**3)


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivative_inside_vmap_and_outside(name: str) -> None:
    derive = DERIVATIVES[name]
    xs = np.array([1.0, 2.0, 3.0])
    inside = funcgrad.vmap(lambda x: derive(lambda y: x * y * y)(x))(xs)
    np.testing.assert_allclose(inside, 2 * xs**2)
    table = funcgrad.vmap(lambda x: funcgrad.vmap(derive(lambda y: x * x * y * y))(xs))(xs)
    np.testing.assert_allclose(table, 2 * np.outer(xs**2, xs))
    through = derive(lambda x: fnp.sum(funcgrad.vmap(lambda w: w * x * x)(xs)))(3.0)
    assert float(through) == 36.0


def test_nested_vmap_over_different_axes() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    columns = funcgrad.vmap(lambda row, col: fnp.sum(row * col), in_axes=(None, 1))
    product = funcgrad.vmap(columns, in_axes=(0, None))(a, b)
    np.testing.assert_allclose(product, a @ b)
    np.testing.assert_allclose(
        funcgrad.vmap(columns, in_axes=(0, None), out_axes=1)(a, b), (a @ b).T
    )


# ---------------------------------------------------------------- arguments, trees, auxiliary output


def weighted(params: dict[str, Any], x: Any, scale: float = 1.0) -> Any:
    return scale * fnp.sum(params["w"] * x) + params["b"] ** 2


PARAMS = {"w": np.array([1.0, 2.0]), "b": np.float64(3.0)}
DATA = np.array([4.0, 5.0])


def test_argnums_and_argnames_select_arguments() -> None:
    whole = funcgrad.grad(weighted)(PARAMS, DATA, scale=2.0)
    assert whole["w"].tolist() == [8.0, 10.0] and whole["b"] == 6.0
    both = funcgrad.grad(weighted, (0, 1))(PARAMS, DATA)
    assert isinstance(both, tuple) and both[1].tolist() == [1.0, 2.0]
    assert funcgrad.grad(weighted, argnums=-1)(PARAMS, DATA).tolist() == [1.0, 2.0]
    assert funcgrad.grad(weighted, argnums=1)(PARAMS, x=DATA).tolist() == [1.0, 2.0]
    assert funcgrad.grad(weighted, argnames="scale")(PARAMS, DATA, scale=1.0) == 14.0
    value, slope = funcgrad.value_and_grad(weighted, 1)(PARAMS, DATA)
    assert value == 23.0 and slope.tolist() == [1.0, 2.0]


def test_auxiliary_output_is_passed_through() -> None:
    def f(x: Any) -> Any:
        return x * x, {"double": 2.0 * x, "label": "kept"}

    aux = {"double": 6.0, "label": "kept"}
    assert funcgrad.grad(f, has_aux=True)(3.0) == (6.0, aux)
    assert funcgrad.value_and_grad(f, has_aux=True)(3.0) == ((9.0, aux), 6.0)
    assert funcgrad.jacfwd(f, has_aux=True)(3.0) == (6.0, aux)
    assert funcgrad.jacrev(f, has_aux=True)(3.0) == (6.0, aux)
    y, pull, found = funcgrad.vjp(f, 3.0, has_aux=True)
    assert (y, pull(1.0), found) == (9.0, (6.0,), aux)
    assert funcgrad.jvp(f, (3.0,), (1.0,), has_aux=True) == (9.0, 6.0, aux)
    y, push, found = funcgrad.linearize(f, 3.0, has_aux=True)
    assert (y, push(1.0), found) == (9.0, 6.0, aux)


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_a_real_jacobian_are_gradients_for_complex_arguments_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, z = (rng.normal(size=s) + 1j * rng.normal(size=s) for s in [(3, 2), 2])
    x = rng.normal(size=3)

    def f(z: Any, x: Any) -> Any:
        return np.abs(a @ z) ** 2 * np.sin(x)

    rows = funcgrad.jacrev(f, (0, 1))(z, x)
    assert rows[0].dtype == complex and rows[1].dtype == float
    for i in range(3):
        g = funcgrad.grad(lambda z, x, i=i: f(z, x)[i], (0, 1))(z, x)
        np.testing.assert_allclose(rows[0][i], g[0])
        np.testing.assert_allclose(rows[1][i], g[1])


def test_jacobians_say_where_holomorphic_does_not_fit() -> None:
    z, x = np.array([1 + 2j]), np.array([1.0])
    for jacobian in (funcgrad.jacfwd, funcgrad.jacrev):
        with pytest.raises(ArgumentError, match="need complex arrays"):  # of results that are real
            jacobian(np.real, holomorphic=True)(z)
        with pytest.raises(ArgumentError, match="need complex arrays"):
            jacobian(np.sin, holomorphic=True)(x)
        with pytest.raises(ArgumentError, match="say holomorphic=True"):
            jacobian(np.sin)(z)
    assert funcgrad.jacfwd(lambda x: x * 1j)(x) == 1j


@pytest.mark.parametrize("jacobian", [funcgrad.jacfwd, funcgrad.jacrev])
def test_jacobians_have_the_trees_of_output_and_argument(jacobian: Function) -> None:
    def f(p: Any, x: Any) -> Any:
        return {"outer": fnp.outer(x, p["w"]), "sum": p["b"] + fnp.sum(x)}

    found = jacobian(f)(PARAMS, DATA)
    assert found["outer"]["w"].shape == (2, 2, 2) and found["sum"]["b"].shape == ()
    np.testing.assert_array_equal(found["outer"]["w"][1], 5.0 * np.eye(2))
    np.testing.assert_array_equal(found["outer"]["b"], np.zeros((2, 2)))
    np.testing.assert_array_equal(jacobian(f, 1)(PARAMS, DATA)["sum"], np.ones(2))
    assert jacobian(f, (1,))(PARAMS, DATA)["sum"][0].shape == (2,)


def test_hessians_and_their_products() -> None:
    def f(x: Any, y: Any) -> Any:
        return fnp.sum(x**3) + fnp.sum(x * x) * y

    x, y = np.array([1.0, 2.0]), np.array(3.0)
    blocks = funcgrad.hessian(f, (0, 1))(x, y)
    np.testing.assert_allclose(blocks[0][0], np.diag(6 * x) + 6 * np.eye(2))
    np.testing.assert_allclose(blocks[0][1], 2 * x)
    np.testing.assert_allclose(blocks[1][0], 2 * x)
    tx, ty = funcgrad.hvp(f, (x, y), (np.ones(2), np.array(0.5)))
    np.testing.assert_allclose(tx, 6 * x + 6 + x)
    np.testing.assert_allclose(ty, np.sum(2 * x))


@pytest.mark.parametrize("name", DERIVATIVES)
def test_stop_gradient_stops_every_mode(name: str) -> None:
    derive = DERIVATIVES[name]
    assert float(derive(lambda x: x * funcgrad.stop_gradient(x))(3.0)) == 3.0
    assert float(derive(derive(lambda x: x * x * funcgrad.stop_gradient(x)))(3.0)) == 6.0
    kept = lambda x: funcgrad.stop_gradient({"a": (x, None), "b": [2.0 * x]})  # noqa: E731
    assert float(derive(lambda x: x * kept(x)["a"][0] + kept(x)["b"][0])(3.0)) == 3.0


SHOWN: dict[str, Callable[[Any], Any]] = {
    "the same": lambda x: x,
    "a part": lambda x: x[:2],
    "another order": lambda x: x[::-1],
    "another shape": lambda x: x.reshape(3, 1),
}
RETURNING: dict[str, Callable[[Any, Any], Sequence[Any]]] = {
    "vmap": lambda f, x: [funcgrad.vmap(f)(x)],
    "vmap, other axes": lambda f, x: [funcgrad.vmap(f, in_axes=1, out_axes=-1)(x)],
    "vmap, chunks": lambda f, x: [funcgrad.vmap(f, chunk_size=2)(x)],
    "vmap of vmap": lambda f, x: [funcgrad.vmap(funcgrad.vmap(f))(x[None])],
    "jvp": lambda f, x: funcgrad.jvp(f, (x[0],), (x[1],)),
    "linearize": lambda f, x: [
        funcgrad.linearize(f, x[0])[0],
        funcgrad.linearize(f, x[0])[1](x[1]),
    ],
    "vjp": lambda f, x: [funcgrad.vjp(f, x[0])[0]],
    "scan": lambda f, x: lax.scan(lambda c, row: (c, f(row)), x[0], x),
    "cond": lambda f, x: [lax.cond(True, f, f, x[0])],
    "jit": lambda f, x: [funcgrad.jit(f)(x[0])],
}


@pytest.mark.parametrize("shown", SHOWN)
@pytest.mark.parametrize("name", RETURNING)
def test_writes_into_results_change_no_argument(name: str, shown: str) -> None:
    """Neither of plain arrays nor of traced ones."""
    x = np.arange(1.0, 10.0).reshape(3, 3)

    def f(x: Any) -> Any:
        x = x * 1.0
        for y in RETURNING[name](SHOWN[shown], x):
            y *= 3.0
        return np.sum(x**2)

    assert f(x) == np.sum(x**2)
    np.testing.assert_array_equal(funcgrad.grad(f)(x), 2 * x)
    np.testing.assert_array_equal(funcgrad.jit(funcgrad.grad(f))(x), 2 * x)
    np.testing.assert_array_equal(funcgrad.jvp(f, (x,), (x,))[1], np.sum(2 * x * x))
    rows = funcgrad.vmap(lambda s: f(s * x))(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(rows, [f(x), f(2 * x)])


def test_vmap_takes_trees_keywords_and_chunks() -> None:
    batch = {"w": np.arange(6.0).reshape(3, 2), "b": np.arange(3.0)}
    expected = [weighted({"w": w, "b": b}, DATA) for w, b in zip(*batch.values(), strict=True)]
    mapped = funcgrad.vmap(weighted, in_axes=(0, None))
    np.testing.assert_allclose(mapped(batch, DATA), expected)
    chunked = funcgrad.vmap(weighted, in_axes=(0, None), chunk_size=2)
    np.testing.assert_allclose(chunked(batch, DATA), expected)
    mixed = funcgrad.vmap(weighted, in_axes=({"w": 1, "b": None}, None))
    np.testing.assert_allclose(mixed({"w": batch["w"].T, "b": 0.0}, DATA), batch["w"] @ DATA)
    by_keyword = funcgrad.vmap(weighted, in_axes=(None, None))(PARAMS, DATA, scale=np.arange(3.0))
    np.testing.assert_allclose(by_keyword, 14 * np.arange(3.0) + 9)
    for f in (lambda x: (1.0, x), funcgrad.jit(lambda x: (1.0, x))):
        first, rows = funcgrad.vmap(f, out_axes=(None, 1))(batch["w"])
        assert first == 1.0 and rows.shape == (2, 3)
    assert funcgrad.vmap(lambda: 2.0, axis_size=3)().tolist() == [2.0, 2.0, 2.0]


def sines(x: Any) -> tuple[Any, Any]:
    z = fnp.zeros_like(x)
    z[1:] = np.sin(x[1:])
    return z, x * z


@funcgrad.custom_jvp
def sines_by_rule(x: Any) -> tuple[Any, Any]:
    return sines(x)


@sines_by_rule.defjvp
def sines_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    z, product = sines(x)
    dot = fnp.zeros_like(t)
    dot[1:] = np.cos(x[1:]) * t[1:]
    return (z, product), (dot, x * dot + z * t)


@pytest.mark.parametrize("name", DERIVATIVES)
def test_values_of_jvp_rules_may_be_written_into(name: str) -> None:
    """Reverse mode records the rule: what is written into is recorded, too, and is a value."""

    def loss(f: Any) -> Any:
        return lambda s: sum(np.sum(y * y) for y in f(s * np.array([0.3, 0.5, -0.7])))

    derive = DERIVATIVES[name]
    for order in (derive, lambda f: derive(derive(f)), lambda f: derive(funcgrad.jit(derive(f)))):
        np.testing.assert_allclose(order(loss(sines_by_rule))(1.2), order(loss(sines))(1.2))


def test_values_of_jvp_rules_that_depend_on_tangents_are_refused() -> None:
    @funcgrad.custom_jvp
    def f(x: Any) -> Any:
        return 2.0 * x

    f.defjvp(lambda primals, tangents: (primals[0] + tangents[0], 2.0 * tangents[0]))
    with pytest.raises(RuleError, match="value that its jvp rule returned depends on the tangents"):
        funcgrad.grad(f)(1.0)


def test_custom_rules_with_static_arguments() -> None:
    @functools.partial(funcgrad.custom_jvp, nondiff_argnums=(0,))
    def scaled(factor: float, x: Any) -> Any:
        return factor * x

    scaled.defjvp(lambda factor, primals, tangents: (scaled(factor, *primals), 10.0 * tangents[0]))
    assert funcgrad.grad(lambda x: scaled(2.0, x))(1.0) == 10.0
    assert funcgrad.vmap(funcgrad.grad(lambda x: scaled(2.0, x)))(np.ones(2)).tolist() == [10.0] * 2

    @functools.partial(funcgrad.custom_vjp, nondiff_argnums=(1,))
    def raised(x: Any, power: int) -> Any:
        return x**power

    raised.defvjp(lambda x, power: (raised(x, power), x), lambda power, x, ct: (ct * x * 100.0,))
    assert funcgrad.grad(lambda x: raised(x, 3))(2.0) == 200.0
    assert funcgrad.jvp(lambda x: raised(x, 3), (2.0,), (1.0,)) == (8.0, 200.0)


@pytest.mark.parametrize("custom", [funcgrad.custom_jvp, funcgrad.custom_vjp])
def test_static_arguments_of_custom_rules_by_name(custom: Any) -> None:
    f = custom(lambda x, kind, n: x**n, nondiff_argnames=("n", "kind"))
    if custom is funcgrad.custom_jvp:
        f.defjvp(lambda kind, n, xs, ts: (f(xs[0], kind, n), 10.0 * n * ts[0]))
    else:
        f.defvjp(lambda x, kind, n: (f(x, kind, n), None), lambda kind, n, _, ct: (10.0 * n * ct,))
    assert funcgrad.grad(f)(2.0, "power", 3) == 30.0
    assert funcgrad.grad(lambda x: f(x, n=2, kind="power"))(2.0) == 20.0
    with pytest.raises(ArgumentError, match="<lambda> has no argument 'm'"):
        custom(lambda x: x, nondiff_argnames="m")


def scaled_by(x: Any, y: Any = 2.0, n: Any = 3) -> Any:
    return x * y * n


def ruled(kind: str, f: Callable[..., Any], static: bool) -> Any:
    """`f` with the rule of `scaled_by`; `static`: `n` is not differentiable."""
    custom: Any = funcgrad.custom_jvp if kind == "jvp" else funcgrad.custom_vjp
    made = custom(f, nondiff_argnums=(2,)) if static else custom(f)
    if kind == "jvp":
        if static:
            made.defjvp(lambda n, xs, ts: (xs[0] * xs[1] * n, (ts[0] * xs[1] + xs[0] * ts[1]) * n))
        else:
            made.defjvp(lambda xs, ts: (scaled_by(*xs), (ts[0] * xs[1] + xs[0] * ts[1]) * xs[2]))
    elif static:
        made.defvjp(
            lambda x, y, n: (x * y * n, (x, y)), lambda n, kept, ct: (ct * kept[1] * n, None)
        )
    else:
        made.defvjp(
            lambda x, y, n: (x * y * n, (x, y, n)),
            lambda kept, ct: (ct * kept[1] * kept[2], None, None),
        )
    return made


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_custom_rules_see_defaults(kind: str, static: bool) -> None:
    def by_name(x: Any, y: Any = 2.0, n: Any = 3, *, unused: bool = False) -> Any:
        return x * y * n

    @functools.wraps(scaled_by)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return scaled_by(*args, **kwargs)

    for f in (scaled_by, by_name, wrapper):
        made = ruled(kind, f, static)
        for args, kwargs, slope in (
            ((), {}, 6.0),
            ((4.0,), {}, 12.0),
            ((4.0, 5), {}, 20.0),
            ((), {"y": 4.0}, 12.0),
            ((), {"n": 5}, 10.0),
            ((4.0,), {"n": 5}, 20.0),
        ):
            g = lambda x, made=made, args=args, kwargs=kwargs: made(x, *args, **kwargs)  # noqa: E731
            for run in (funcgrad.grad(g), funcgrad.jit(funcgrad.grad(g)), funcgrad.jacfwd(g)):
                assert run(0.5) == slope
            np.testing.assert_allclose(funcgrad.vmap(g)(np.ones(2)), slope)
        assert funcgrad.grad(lambda x, made=made: made(n=5, x=x))(0.5) == 10.0


def test_custom_rules_and_arguments_that_are_none() -> None:
    made = ruled("jvp", scaled_by, False)
    for call in (lambda: made(), lambda: made(1.0, z=2.0)):
        with pytest.raises(
            ArgumentError, match=r"scaled_by: (missing a required|got an unexpected)"
        ):
            call()

    @funcgrad.custom_jvp
    def named(x: Any, way: str = "up", *, k: float = 1.0) -> Any:
        return x

    named.defjvp(lambda xs, ts: (xs[0], ts[0]))
    with pytest.raises(
        ArgumentError, match="argument 1 is of type str; list it in nondiff_argnums"
    ):
        funcgrad.grad(named)(1.0)
    with pytest.raises(ArgumentError, match=r"keyword-only arguments \(k\) cannot be traced"):
        funcgrad.grad(lambda x: named(x, k=2.0))(1.0)


# ---------------------------------------------------------------- writes


def vector(x: Any, y: Any) -> Any:
    """(x + y0, 2 y1, 2 y2), by writing."""
    z = fnp.zeros(3)
    z[0] = x
    z += y
    v = z[1:]
    v *= 2.0
    return z


def vector_without_writes(x: Any, y: Any) -> Any:
    return fnp.concatenate([fnp.reshape(x + y[0], (1,)), 2.0 * y[1:]])


def aliases(x: Any, y: Any) -> Any:
    """Writes through views of views, seen by all of them, after the values were used."""
    z = fnp.zeros((3, 2))
    before = z * 1.0
    row, column = z[1], z[:, 1]
    row[0] = x
    column[:] = y
    column += row[0]
    flat = z.reshape(6)
    flat[4] = y[0] * x
    z[::2, 0] *= 3.0
    return fnp.concatenate([z.reshape(6), row * column[1], flat[4:], before[0]])


def aliases_without_writes(x: Any, y: Any) -> Any:
    zero = 0.0 * x
    c = [y[i] + x for i in range(3)]
    corner = 3.0 * y[0] * x
    row, tail = [x * c[1], c[1] * c[1]], [corner, c[2]]
    return fnp.stack([zero, c[0], x, c[1], corner, c[2], *row, *tail, zero, zero])


def own_argument(x: Any, y: Any) -> Any:
    """Writes into an argument change nobody's array."""
    w = y * 1.0
    y[0] = x
    y[1:] += w[:2]
    return fnp.concatenate([y, w])


def own_argument_without_writes(x: Any, y: Any) -> Any:
    parts = [fnp.stack([x, y[1] + y[0], y[2] + y[1]]), y]
    return fnp.concatenate(parts)


def accumulates(x: Any, y: Any) -> Any:
    """A scan by writing: z[i + 1] = z[i] * y[i] + x."""
    z = fnp.zeros(4)
    for i in range(3):
        z[i + 1] = z[i] * y[i] + x
    return z


def accumulates_without_writes(x: Any, y: Any) -> Any:
    z = [0.0 * x]
    for i in range(3):
        z.append(z[i] * y[i] + x)
    return fnp.stack(z)


WRITES = {
    "vector": (vector, vector_without_writes),
    "aliases": (aliases, aliases_without_writes),
    "own_argument": (own_argument, own_argument_without_writes),
    "accumulates": (accumulates, accumulates_without_writes),
}


def pulled(value: Any, pull: Function) -> Any:
    return pull(np.arange(1.0, 1.0 + value.size))


PROBES: dict[str, Function] = {
    "jvp": lambda f, x, y: funcgrad.jvp(f, (x, y), (x + 1.0, y - 1.0)),
    "vjp": lambda f, x, y: pulled(*funcgrad.vjp(f, x, y)),
    "grad": lambda f, x, y: funcgrad.grad(lambda x, y: fnp.sum(f(x, y) ** 2), (0, 1))(x, y),
    "grad_of_x": lambda f, x, y: funcgrad.grad(lambda x: fnp.sum(f(x, y) ** 2))(x),
    "grad_of_y": lambda f, x, y: funcgrad.grad(lambda y: fnp.sum(f(x, y) ** 2))(y),
    "linearize": lambda f, x, y: funcgrad.linearize(f, x, y)[1](x, y),
    "jacfwd": lambda f, x, y: funcgrad.jacfwd(f, (0, 1))(x, y),
    "jacrev": lambda f, x, y: funcgrad.jacrev(f, (0, 1))(x, y),
    "hessian": lambda f, x, y: funcgrad.hessian(lambda y: fnp.sum(f(x, y) ** 2))(y),
    "vmap": lambda f, x, y: funcgrad.vmap(f)(np.stack([x, x + 1.0]), np.stack([y, y * 2.0])),
    "vmap_of_x": lambda f, x, y: funcgrad.vmap(lambda x: f(x, y))(np.stack([x, x + 1.0])),
    "vmap_of_y": lambda f, x, y: funcgrad.vmap(lambda y: f(x, y))(np.stack([y, y * 2.0])),
    "vmap_of_grad": lambda f, x, y: funcgrad.vmap(
        funcgrad.grad(lambda y: fnp.sum(f(x, y) ** 2)), in_axes=1, out_axes=1
    )(np.stack([y, y * 2.0], axis=1)),
    "make_jaxpr": lambda f, x, y: eval_jaxpr(funcgrad.make_jaxpr(f)(x, y), x, y),
    "checkpoint": lambda f, x, y: funcgrad.jacrev(funcgrad.checkpoint(f), (0, 1))(x, y),
}


@pytest.mark.parametrize("probe", PROBES)
@pytest.mark.parametrize("name", WRITES)
def test_writes_under_every_transform(name: str, probe: str) -> None:
    writing, pure = WRITES[name]
    if name == "own_argument" and probe in ("grad_of_x", "vmap_of_x"):
        return  # there it is a plain array, which plain Python writes into
    x, y = np.array(1.5), np.array([0.5, -1.0, 2.0])
    found = PROBES[probe](writing, x, y)
    expected = PROBES[probe](pure, x, y)
    assert x == 1.5 and y.tolist() == [0.5, -1.0, 2.0], "the caller's array was changed"
    assert x.flags.writeable and y.flags.writeable
    found, expected = found if isinstance(found, tuple) else [found], expected
    expected = expected if isinstance(expected, tuple) else [expected]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_a_write_of_a_tracer_into_a_plain_array_is_an_error() -> None:
    def f(x: Any) -> Any:
        z = np.zeros(3)
        z[0] = x
        return z.sum()

    with pytest.raises(funcgrad.errors.HandoverError, match=r"z\[0\] = x"):
        funcgrad.grad(f)(1.0)


# ---------------------------------------------------------------- errors


class Stop(Exception):
    pass


def raises(*args: Any) -> Any:
    raise Stop


FAILING: dict[str, Function] = {
    **{name: (lambda t=t: t(raises)(X)) for name, t in TRANSFORMS.items()},
    "hessian": lambda: funcgrad.hessian(raises)(np.ones(2)),
    "hvp": lambda: funcgrad.hvp(raises, (np.ones(2),), (np.ones(2),)),
    "inside": lambda: funcgrad.vmap(funcgrad.grad(lambda x: funcgrad.jvp(raises, (x,), (x,))[1]))(
        np.ones(2)
    ),
    "tangent": lambda: funcgrad.jvp(failing_rule, (1.0,), (1.0,)),
    "cotangent": lambda: funcgrad.grad(failing_rule)(1.0),
}


@funcgrad.custom_jvp
def failing_rule(x: Any) -> Any:
    return x


failing_rule.defjvp(raises)


@pytest.mark.parametrize("name", FAILING)
def test_an_exception_restores_the_trace(name: str) -> None:
    data = np.ones(3)
    with pytest.raises(Stop):
        FAILING[name]()
    assert current.get() is EVAL
    with pytest.raises(Stop):
        funcgrad.grad(lambda x: raises(fnp.sum(x * data)))(data)
    data[0] = 2.0  # it was read-only while the function ran


def test_memory_of_another_library_is_left_as_it_is() -> None:
    v = np.array([1.0, 2.0, 3.0])
    data = np.from_dlpack(np.ones(3))  # NumPy could not make it writeable again
    if not data.flags.writeable:
        pytest.skip("older NumPy gives it as read-only")

    def f(x: Any) -> Any:
        first = fnp.sum(x * data)
        data[0] += 1.0
        return first * fnp.sum(data[1:] * x[1:])

    for gradient in (funcgrad.grad(f), lambda v: funcgrad.vjp(f, v)[1](1.0)[0]):
        data[0] = 1.0
        # The sum of all times the sum of the last two, with the weights from before the write.
        assert gradient(v).tolist() == [5.0, 11.0, 11.0]
        assert data.flags.writeable
        assert data[0] == 2.0


def test_strong_zeros_end_with_their_block() -> None:
    with pytest.raises(Stop), funcgrad.strong_zeros():
        raises(1.0)
    with np.errstate(all="ignore"):
        assert math.isnan(funcgrad.grad(lambda x: 0.0 * fnp.sqrt(x))(0.0))


def test_an_escaped_tracer_says_so() -> None:
    kept: list[Any] = []
    funcgrad.grad(lambda x: kept.append(x) or x * x)(1.0)
    with pytest.raises(funcgrad.errors.EscapedTracerError, match="outside the function"):
        kept[0] + 1.0
    with pytest.raises(funcgrad.errors.EscapedTracerError, match="outside the function"):
        funcgrad.grad(lambda x: x * kept[0])(1.0)


# ---------------------------------------------------------------- threads


def test_two_threads_trace_at_once() -> None:
    start = threading.Barrier(2)
    wrong: list[Any] = []

    def work(scale: float) -> None:
        start.wait()
        for i in range(200):
            x = scale + i
            found = funcgrad.grad(lambda x: x * funcgrad.grad(lambda y: scale * y * y)(x))(x)
            batch = funcgrad.vmap(funcgrad.grad(lambda x: scale * x * x))(np.array([x, -x]))
            if found != 4 * scale * x or batch.tolist() != [2 * scale * x, -2 * scale * x]:
                wrong.append((scale, i, found, batch))
            if current.get() is not EVAL:
                wrong.append("trace")

    threads = [threading.Thread(target=work, args=(s,)) for s in (2.0, 3.0)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_a_thread_started_by_a_traced_function_evaluates() -> None:
    seen = []

    def f(x: Any) -> Any:
        thread = threading.Thread(target=lambda: seen.append(current.get()))
        thread.start()
        thread.join()
        return x * x

    funcgrad.grad(f)(1.0)
    assert seen == [EVAL]


# ---------------------------------------------------------------- long programs


LENGTH = 100_000


def chain(x: Any) -> Any:
    for _ in range(LENGTH // 2):
        x = x * 1.0001
        x = x - 1e-7
    return x


LONG: dict[str, Function] = {
    "grad": lambda: funcgrad.grad(chain)(1.0),
    "jvp": lambda: funcgrad.jvp(chain, (1.0,), (1.0,))[1],
    "vjp": lambda: funcgrad.vjp(chain, np.float64(1.0))[1](1.0)[0],
    "linearize": lambda: funcgrad.linearize(chain, 1.0)[1](1.0),
    "vmap": lambda: funcgrad.vmap(chain)(np.ones(2))[0],
    "make_jaxpr": lambda: eval_jaxpr(funcgrad.make_jaxpr(chain)(1.0), 1.0)[0],
    "grad_of_checkpoint": lambda: funcgrad.grad(funcgrad.checkpoint(chain))(1.0),
}


@pytest.mark.parametrize("name", LONG)
def test_a_chain_of_100_000_operations(name: str) -> None:
    growth = 1.0001 ** (LENGTH // 2)
    value = growth - 1e-7 * (growth - 1) / 0.0001
    start = time.thread_time()
    found = float(LONG[name]())
    assert time.thread_time() - start < 10
    assert found == pytest.approx(value if name in ("vmap", "make_jaxpr") else growth, rel=1e-9)


# ---------------------------------------------------------------- memory


def loss(x: Any) -> Any:
    z = fnp.zeros(3)
    z[1:] = x[:2]
    return fnp.sum(fnp.sin(x) * x) + fnp.sum(z * z)


POINT = np.array([0.1, 0.2, 0.3])
LOOPS: dict[str, tuple[int, Function]] = {
    "grad": (1_000, lambda: funcgrad.grad(loss)(POINT)),
    "vjp": (400, lambda: funcgrad.vjp(loss, POINT)[1](1.0)),
    "jvp": (400, lambda: funcgrad.jvp(loss, (POINT,), (POINT,))),
    "linearize": (400, lambda: funcgrad.linearize(loss, POINT)[1](POINT)),
    "vmap": (400, lambda: funcgrad.vmap(loss)(POINT[None])),
    "make_jaxpr": (400, lambda: funcgrad.make_jaxpr(loss)(POINT)),
    "hessian": (400, lambda: funcgrad.hessian(loss)(POINT)),
    "checkpoint": (400, lambda: funcgrad.grad(funcgrad.checkpoint(loss))(POINT)),
    "custom_vjp": (400, lambda: funcgrad.grad(by_custom_vjp(oscillation))(X)),
    "custom_jvp": (400, lambda: funcgrad.grad(by_custom_jvp(oscillation))(X)),
    "exception": (400, lambda: failing_gradient()),
}


def failing_gradient() -> None:
    with contextlib.suppress(Stop):
        funcgrad.grad(lambda x: raises(fnp.sin(x)))(X)


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_leaks_nothing(name: str) -> None:
    """Reference counts alone free what a transform made: the collector finds no cycle after it."""
    count, run = LOOPS[name]
    for _ in range(20):
        run()  # fills caches
    for _ in range(3):  # other threads may allocate meanwhile; what leaks does so every time
        cycles, grown = left_by(run, count)
        if cycles < 10 and grown < 8_000:
            return
    raise AssertionError(f"{cycles} objects in cycles, {grown} bytes left by {count} runs")


def left_by(run: Function, count: int) -> tuple[int, int]:
    """The objects in cycles, and the memory in bytes, that so many runs leave."""
    tracemalloc.start()
    gc.disable()
    try:
        gc.collect()  # empties the interpreter's free lists too
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(count):
            run()
        return gc.collect(), tracemalloc.get_traced_memory()[0] - before
    finally:
        gc.enable()
        tracemalloc.stop()


def test_weak_references_to_traced_values() -> None:
    """Caches of other packages hold them; they keep nothing alive."""
    seen = []

    def f(x: Any) -> Any:
        seen.append(weakref.ref(x))
        return x * x

    assert funcgrad.grad(f)(3.0) == funcgrad.jit(funcgrad.grad(f))(3.0) == 6.0
    assert len(seen) >= 2 and all(ref() is None for ref in seen)


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("f", [np.sum, lambda a: np.sum(np.cos(a) * a), np.mean, np.max])
def test_derivatives_stay_on_the_device(cupy: Any, f: Any, shape: tuple[int, ...]) -> None:
    x = np.linspace(0.5, 1.0, max(math.prod(shape), 1)).reshape(shape)
    for transform in (funcgrad.grad, funcgrad.jacrev, funcgrad.jacfwd, funcgrad.hessian):
        found = transform(f)(cupy.asarray(x))
        assert isinstance(found, cupy.ndarray)
        np.testing.assert_allclose(cupy.asnumpy(found), transform(f)(x))


# ---------------------------------------------------------------- found by other projects' tests


def test_axes_that_outputs_do_not_have() -> None:
    for axis in (1, 2, -2, -7):
        with pytest.raises(ShapeError, match=f"out_axes has axis {axis} for an output that has 1 "):
            funcgrad.vmap(lambda x: x * 2, out_axes=axis)(np.arange(3.0))
    assert funcgrad.vmap(lambda x: x * np.ones(2), out_axes=-1)(np.arange(3.0)).shape == (2, 3)


ROW = np.array([0.3, 0.5, 0.9])


def returning(kind: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The square by a rule of its own, which changes what it should return."""
    if kind == "vjp":
        f: Any = funcgrad.custom_vjp(lambda x: x * x)
        f.defvjp(lambda x: (x * x, x), lambda x, ct: (change(2 * x * ct),))
        return f
    f = funcgrad.custom_jvp(lambda x: x * x)
    f.defjvp(lambda xs, ts: (xs[0] * xs[0], change(2 * xs[0] * ts[0])))
    return f


UNFIT: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a sum": (np.sum, r"f64\[\]"),
    "a row": (lambda t: t[None], r"f64\[1,3\]"),
    "a part": (lambda t: t[:1], r"f64\[1\]"),
    "complex": (lambda t: t * 1j, r"c128\[3\].*need real floating numbers"),
    "integers": (lambda t: np.ones(3, int), r"i64\[3\].*need real floating numbers"),
    "text": (lambda t: "t", r"str"),
}


@pytest.mark.parametrize("around", [lambda f: f, funcgrad.jit])
@pytest.mark.parametrize("kind", ["vjp", "jvp"])
@pytest.mark.parametrize("name", UNFIT)
def test_rules_that_return_something_else(name: str, kind: str, around: Any) -> None:
    change, found = UNFIT[name]
    f = returning(kind, change)
    whose = "for argument 0, which is" if kind == "vjp" else "for the value, which is"
    with pytest.raises(RuleError, match=rf"its \w+ rule returned.*{found}") as raised:
        around(funcgrad.grad(lambda x: f(x).sum()))(ROW)
    assert whose in str(raised.value)
    with pytest.raises(RuleError):
        around(lambda x: funcgrad.jvp(f, (x,), (x,)))(ROW)


def test_a_rule_with_another_value() -> None:
    f = funcgrad.custom_jvp(lambda x: x * x)
    f.defjvp(lambda xs, ts: (xs[0].sum(), ts[0].sum()))
    with pytest.raises(RuleError, match=r"returned the value f64\[\]; the function's is f64\[3\]"):
        funcgrad.jvp(f, (ROW,), (ROW,))


def test_numbers_as_cotangents_of_traced_values() -> None:
    def slope(x: Any, ct: Any) -> Any:
        return funcgrad.vjp(lambda x: x * x, x)[1](ct)[0]

    assert float(funcgrad.jit(slope)(2.0, 1.0)) == 4.0
    turn = funcgrad.jit(lambda x, v: funcgrad.hvp(np.sin, (x,), (v,)))
    np.testing.assert_allclose(turn(1.0, 2.0), -2.0 * np.sin(1.0))


def test_operands_that_know_what_to_do() -> None:
    class Vector:
        def __init__(self, x: Any, y: Any) -> None:
            self.x, self.y = x, y

        def __rmul__(self, k: Any) -> Any:
            return Vector(k * self.x, k * self.y)

    assert funcgrad.grad(lambda k: (k * Vector(1.0, 2.0)).y)(2.0) == 2.0
    with pytest.raises(ArgumentError, match="operand 1 is of type Vector"):
        funcgrad.grad(lambda k: k + Vector(1.0, 2.0))(2.0)


def test_numbers_as_indices_in_a_checkpoint() -> None:
    f = funcgrad.checkpoint(lambda x, i: x[i] * 2.0 + x[:, i].sum())
    slope = funcgrad.grad(lambda x: f(x, 1).sum())(np.ones((3, 3)))
    assert slope.tolist() == [[0, 3, 0], [2, 5, 2], [0, 3, 0]]


def test_a_rule_may_make_arrays_that_are_written_into() -> None:
    """What a custom rule computes from new arrays alone is no part of the linear program."""

    @funcgrad.custom_jvp
    def f(x: Any) -> Any:
        return np.sin(x).sum()

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return f(x), (t * (fnp.ones(2) * np.cos(x))).sum()

    x = np.array([0.3, -1.1])
    np.testing.assert_allclose(funcgrad.grad(f)(x), np.cos(x))
    np.testing.assert_allclose(funcgrad.jacfwd(funcgrad.grad(f))(x), np.diag(-np.sin(x)))


def test_a_pullback_under_vmap_may_leave_arguments_out() -> None:
    @funcgrad.custom_vjp
    def f(x: Any, y: Any) -> Any:
        return x * y

    f.defvjp(lambda x, y: (x * y, y), lambda y, ct: (ct * y, None))
    x, y = np.array([2.0, 3.0]), np.array([5.0, 7.0])
    found = funcgrad.grad(lambda x, y: funcgrad.vmap(f)(x, y).sum(), argnums=(0, 1))(x, y)
    np.testing.assert_array_equal(found, [y, [0.0, 0.0]])


# ---------------------------------------------------------------- affine and linear


AFFINE: dict[str, Callable[[Any], Any]] = {
    "a constant": lambda x: fnp.ones(3),
    "one of two": lambda x: (x, fnp.ones(2)),
    "a choice": lambda x: fnp.where(np.array([True, False, True]), x, 1.0),
    "joined": lambda x: np.concatenate([x, np.ones(2)]),
    "written": lambda x: fnp.at(x)[0].set(3.0),
    "a loop": lambda x: lax.scan(lambda c, a: (c + a + 1, c), 0.0 * x[0], x)[0],
    "a branch": lambda x: lax.cond(True, lambda y: y - 1, lambda y: y, x),
    "a program": funcgrad.jit(lambda x: x + 1.0),
    "a program's constant": lambda x: funcgrad.jit(lambda y: (y, np.ones(3)))(x)[1],
    "value and derivative": lambda t: funcgrad.jvp(np.cos, (ROW,), (t,)),
    "a sum": lambda x: x + 1.0,
}


@pytest.mark.parametrize("around", [lambda f: f, funcgrad.jit])
@pytest.mark.parametrize("name", AFFINE)
def test_affine_functions_have_no_transpose(name: str, around: Any) -> None:
    f = AFFINE[name]
    ct = tree.map(lambda a: np.ones(a.shape), funcgrad.eval_shape(f, ROW))
    for x in (ROW, funcgrad.ShapeDtypeStruct((3,), float)):
        transposed = around(lambda ct, x=x: funcgrad.linear_transpose(f, x)(ct))
        with pytest.raises(NotLinearError, match="affine"):
            transposed(ct)


def test_affine_by_padding_or_by_a_traced_constant() -> None:
    with pytest.raises(NotLinearError, match="affine"):
        funcgrad.linear_transpose(lambda x: np.pad(x, 1, constant_values=2.0), ROW)(np.ones(5))
    with pytest.raises(NotLinearError, match="affine"):
        funcgrad.jit(lambda c: funcgrad.linear_transpose(lambda x: x + c, ROW)(ROW))(1.0)


def test_transposes_stay_on_the_device(cupy: Any) -> None:
    a = cupy.asarray(ROW)
    for x in (a, funcgrad.ShapeDtypeStruct((3,), float)):
        (found,) = funcgrad.linear_transpose(lambda x: x * a, x)(a)
        np.testing.assert_allclose(cupy.asnumpy(found), ROW * ROW)
        with pytest.raises(NotLinearError, match="affine"):
            funcgrad.linear_transpose(lambda x: (x * a, a), x)((a, a))


LINEAR: dict[str, Callable[[Any], Any]] = {
    "nothing added": lambda x: x + 0.0 - np.zeros(3),
    "padded by 0": lambda x: np.pad(x, 1),
    "a matrix that is a sum": lambda x: (np.ones((2, 3)) + fnp.eye(2, 3)) @ x,
    "a factor that is a sum": lambda x: (np.sin(fnp.ones(3)) - 0.5) * x,
    "infinite": lambda x: x * np.array([1.0, np.inf, 1.0]),
    "jvp": lambda t: funcgrad.jvp(lambda x: np.sin(x) * x[::-1], (ROW,), (t,))[1],
    "jvp of grad": lambda t: funcgrad.jvp(funcgrad.grad(lambda x: np.prod(x)), (ROW,), (t,))[1],
    "jvp of a loop": lambda t: funcgrad.jvp(
        lambda x: lax.scan(lambda c, a: (c * a, c), 1.0, x)[1], (ROW,), (t,)
    )[1],
    "jvp of a test": lambda t: funcgrad.jvp(
        funcgrad.jit(lambda x: lax.while_loop(lambda c: c[0] < 9, lambda c: c * c + 1, x)),
        *((ROW,), (t,)),
    )[1],
    "jvp of a program": lambda t: funcgrad.jvp(funcgrad.jit(np.tanh), (ROW,), (t,))[1],
    "jvp of a rule": lambda t: funcgrad.jvp(returning("jvp", lambda t: t), (ROW,), (t,))[1],
    "jvp of a pullback": lambda t: funcgrad.jvp(returning("vjp", lambda t: t), (ROW,), (t,))[1],
    "linearize": lambda t: funcgrad.linearize(np.exp, ROW)[1](t),
    "pullback": lambda t: funcgrad.vjp(np.sqrt, ROW)[1](t)[0],
}


@pytest.mark.parametrize("around", [lambda f: f, funcgrad.jit])
@pytest.mark.parametrize("name", LINEAR)
def test_functions_made_by_transforms_are_transposed(name: str, around: Any) -> None:
    f = LINEAR[name]
    t = np.array([2.0, -1.0, 0.5])
    y = f(t)
    ct = np.cos(np.arange(y.size)).reshape(y.shape)
    (found,) = around(lambda ct: funcgrad.linear_transpose(f, ROW)(ct))(ct)
    np.testing.assert_allclose(np.vdot(ct, y), np.vdot(found, t), rtol=1e-12)
