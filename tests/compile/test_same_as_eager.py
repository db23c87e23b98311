"""Compiled is eager: every primitive, their derivatives, and random programs under transforms."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import samples
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.ops
from funcgrad.compile import blocks, parallel
from funcgrad.compile.lower import lower
from funcgrad.compile.simplify import simplify
from funcgrad.compile.straight import straight
from funcgrad.core import REGISTRY, aval_of
from funcgrad.jaxpr import check_jaxpr, eval_jaxpr
from funcgrad.testing import strategies as fs
from funcgrad.testing.programs import Program, programs
from funcgrad.testing.subject import direction

for _module in pkgutil.iter_modules(funcgrad.ops.__path__):
    importlib.import_module(f"funcgrad.ops.{_module.name}")
SAMPLES = samples.collect()
NAMES = sorted(SAMPLES.keys() & REGISTRY.keys())
COUNT = int(os.environ.get("PROGRAMS", 0)) or settings().max_examples
many = settings(max_examples=COUNT)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple | list) else [found]


def assert_same(found: Sequence[Any], expected: Sequence[Any], exact: bool = False) -> None:
    """The same types, and the same numbers up to what reordering and `math` may do."""
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (aval_of(a).shape, aval_of(a).dtype) == (aval_of(b).shape, aval_of(b).dtype)
        kind = aval_of(b).dtype.kind
        if exact or kind not in "fc":
            np.testing.assert_array_equal(a, b)
        else:
            eps = float(np.finfo(aval_of(b).dtype).eps)
            size = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
            np.testing.assert_allclose(a, b, rtol=1e3 * eps, atol=1e3 * eps * size)


def draw_call(data: Any, name: str) -> tuple[Callable[..., list[Any]], list[Any]]:
    """A primitive as a function of its arrays, and the arrays."""
    args, params = data.draw(SAMPLES[name], label="sample")
    places = [i for i, x in enumerate(args) if isinstance(x, np.ndarray)]

    def f(*xs: Any) -> list[Any]:
        full = list(args)
        for i, x in zip(places, xs, strict=True):
            full[i] = x
        return listed(REGISTRY[name](*full, **params))

    return f, [args[i] for i in places]


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_primitive(name: str, data: Any) -> None:
    f, xs = draw_call(data, name)
    before = [x.copy() for x in xs]
    expected = f(*xs)
    found = funcgrad.jit(f)(*xs)
    assert_same(found, expected)
    for x, old in zip(xs, before, strict=True):
        np.testing.assert_array_equal(x, old)
    for i, y in enumerate(found):
        assert not any(np.may_share_memory(y, x) for x in (*xs, *found[:i]) if np.ndim(y))


def pulled(f: Callable[..., list[Any]], xs: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
    """The gradients by the floating arguments."""
    live = [i for i, x in enumerate(xs) if x.dtype.kind in "fc"]

    def of_live(*values: Any) -> list[Any]:
        full = list(xs)
        for i, v in zip(live, values, strict=True):
            full[i] = v
        return [y for y in f(*full) if aval_of(y).dtype.kind in "fc"]

    return listed(funcgrad.vjp(of_live, *[xs[i] for i in live])[1](list(cts)))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=max(COUNT // 2, 3))
@given(data=st.data())
def test_gradient_of_a_primitive(name: str, data: Any) -> None:
    """Compiled as a whole, and the gradient of the compiled function."""
    f, xs = draw_call(data, name)
    outs = [y for y in f(*xs) if aval_of(y).dtype.kind in "fc"]
    if not outs or not any(x.dtype.kind in "fc" for x in xs):
        return
    rng = np.random.default_rng(0)
    cts = [direction(rng, y) for y in outs]
    expected = pulled(f, xs, cts)
    assert_same(funcgrad.jit(lambda xs, cts: pulled(f, xs, cts))(xs, cts), expected)
    assert_same(pulled(funcgrad.jit(f), xs, cts), expected)


# ---------------------------------------------------------------- block by block


@contextlib.contextmanager
def small_blocks() -> Iterator[None]:
    """Every group runs on blocks of three rows, and in two threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "SMALL", -1)
        patch.setattr(blocks.Blocks, "rows", lambda self: 3)
        patch.setattr(parallel, "LARGE", 0)
        patch.setattr(parallel, "threads", lambda: 2)
        yield


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=max(COUNT // 8, 3))
@given(data=st.data())
def test_primitive_on_blocks(name: str, data: Any) -> None:
    f, xs = draw_call(data, name)
    with small_blocks():  # a step before it and the primitive are a group
        found = funcgrad.jit(lambda *xs: f(*[x * 2 if x.dtype.kind in "fc" else x for x in xs]))(
            *[x / 2 if x.dtype.kind in "fc" else x for x in xs]
        )
    assert_same(found, f(*xs))


@pytest.mark.parametrize("name", ["value", "grad", "jvp", "hvp"])
@many
@given(p=programs(dtypes=(np.float64, np.complex128, np.float32), most=6))
def test_program_on_blocks(name: str, p: Program) -> None:
    f = TRANSFORMS[name](p)
    with small_blocks():
        assert_same(flat(funcgrad.jit(f)(*p.args)), flat(f(*p.args)))


@given(data=st.data())
def test_sums_and_broadcasts_on_blocks(data: Any) -> None:
    """Row by row where something is broadcast, or summed over some axes only."""
    shapes = data.draw(fs.broadcastable(3, ndim=(1, 3), side=(1, 7)))
    xs = [data.draw(fs.arrays(shape)) for shape in shapes]
    whole = np.broadcast_shapes(*shapes)
    axis = data.draw(fs.axes(len(whole), least=1))
    keepdims = data.draw(st.booleans())
    reduction = data.draw(st.sampled_from([np.sum, np.max, np.min]))

    def f(x: Any, y: Any, z: Any) -> Any:
        w = np.exp(x * y - z) * np.where(x > y, z, x)
        return w * 2.0, reduction(w, axis=axis, keepdims=keepdims), np.sum(w)

    expected = listed(f(*xs))
    with small_blocks():
        g = funcgrad.jit(f)
        assert_same(listed(g(*xs)), expected)
        assert "blocks0" in g.code or np.prod(whole) == 1


# ---------------------------------------------------------------- random programs


def weighted(p: Program) -> Callable[..., Any]:
    """A real number made of a program's results."""

    def f(*xs: Any) -> Any:
        total = 0.0
        for k, y in enumerate(listed(p(*xs))):
            weights = np.cos(np.arange(float(np.prod(y.shape))) + k).reshape(y.shape)
            total = total + np.sum(weights * (y.real + y.imag if y.dtype.kind == "c" else y))
        return total

    return f


TRANSFORMS: dict[str, Callable[[Program], Callable[..., Any]]] = {
    "value": lambda p: p,
    "grad": lambda p: funcgrad.grad(weighted(p), argnums=tuple(range(len(p.args)))),
    "value_and_grad": lambda p: funcgrad.value_and_grad(weighted(p)),
    "jvp": lambda p: lambda *xs: funcgrad.jvp(p, xs, tuple(np.ones_like(x) for x in p.args))[1],
    "grad_of_jit": lambda p: funcgrad.grad(funcgrad.jit(weighted(p))),
    "jit_in_jit": lambda p: lambda *xs: funcgrad.jit(p)(*[x * 1.5 for x in xs]),
    "hvp": lambda p: (
        lambda *xs: funcgrad.jvp(
            lambda x: funcgrad.grad(weighted(p))(x, *xs[1:]), (xs[0],), (np.ones_like(p.args[0]),)
        )[1]
    ),
}


def flat(found: Any) -> list[Any]:
    return funcgrad.tree.flatten(found)[0]


@pytest.mark.parametrize("name", TRANSFORMS)
@many
@given(p=programs(dtypes=(np.float64, np.complex128, np.float32), most=6))
def test_transform_of_a_program(name: str, p: Program) -> None:
    f = TRANSFORMS[name](p)
    assert_same(flat(funcgrad.jit(f)(*p.args)), flat(f(*p.args)))


@many
@given(p=programs(most=5))
def test_mapped_program(p: Program) -> None:
    xs = [np.stack([x, 0.97 * x]) for x in p.args]
    f = funcgrad.vmap(p)
    assert_same(flat(funcgrad.jit(f)(*xs)), flat(f(*xs)))
    assert_same(flat(funcgrad.vmap(funcgrad.jit(p))(*xs)), flat(f(*xs)))


@many
@given(p=programs(dtypes=(np.float64, np.complex128, np.float32)))
def test_simplifying_keeps_results(p: Program) -> None:
    simple = simplify(p.jaxpr)
    check_jaxpr(simple)
    assert len(simple.eqns) <= len(p.jaxpr.eqns)
    assert_same(eval_jaxpr(simple, *p.args), eval_jaxpr(p.jaxpr, *p.args))
    text, run = straight(lower(simple))
    assert_same(run(*simple.consts, *p.args), eval_jaxpr(p.jaxpr, *p.args)), text


@many
@given(x=st.floats(), y=st.floats(), data=st.data())
def test_numbers_of_any_size(x: float, y: float, data: Any) -> None:
    """On Python's floats, where `math` raises, NumPy's infinities and NaNs come out."""
    unary = [np.exp, np.log, np.sqrt, np.arcsin, np.sin, np.tan, np.arccosh, np.log1p, np.cosh]
    binary = [np.divide, np.power, np.maximum, np.minimum, np.arctan2, np.multiply]
    f = data.draw(st.sampled_from(unary))
    g = data.draw(st.sampled_from(binary))
    h = data.draw(st.sampled_from(unary))

    def program(x: Any, y: Any) -> Any:
        return np.where(x < y, g(f(x), y), h(g(x, y)))

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = (np.float64(x), np.float64(y))
        found, expected = funcgrad.jit(program)(*args), program(*args)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("code", ["numpy", "c"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_integers_that_are_too_large(code: Any, dtype: Any) -> None:
    """NumPy raises where a Python integer is none of the array's dtype; compiled code does not wrap."""
    x = np.arange(3, dtype=dtype)
    info = np.iinfo(dtype)
    functions: list[Callable[[Any], Any]] = [
        lambda x: x * (info.max + 1) + x,
        lambda x: x + x - (info.max + 1),
        lambda x: x * (info.min - 1),
        lambda x: x + (info.min - 1) + x,
    ]
    for f in functions:
        with pytest.raises(OverflowError):
            f(x)
        with funcgrad.config(code), pytest.raises(OverflowError):
            funcgrad.jit(f)(x)
