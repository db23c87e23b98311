"""``reduce``, ``accumulate``, ``reduceat``, ``outer``, ``at``, ``out=`` on traced values: as NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import funcgrad
import funcgrad.numpy as fnp
from funcgrad.errors import ArgumentError, HandoverError, ShapeError
from funcgrad.testing import check_grads

SMOOTH = [np.add, np.multiply, np.logaddexp, np.logaddexp2, np.hypot]
ORDERED = [np.maximum, np.minimum, np.fmax, np.fmin]
WHOLE = [np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.lcm]
TRUTH = [np.logical_and, np.logical_or, np.logical_xor]
ALL = [*SMOOTH, *ORDERED, *WHOLE, *TRUTH]
SHAPES = [(1,), (5,), (2, 3), (4, 1, 3), (3, 2, 2)]


def traced(f: Callable[..., Any], *xs: np.ndarray) -> Any:
    """What `f` gives for traced arrays, as plain ones."""
    found = funcgrad.vmap(f)(*(x[None] for x in xs))
    return [np.asarray(y)[0] for y in found] if isinstance(found, list) else np.asarray(found)[0]


def numbers(ufunc: Any, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if ufunc in WHOLE:
        return rng.integers(1, 50, shape)
    if ufunc in TRUTH:
        return rng.random(shape) < 0.5
    return rng.normal(size=shape)


@given(st.sampled_from(ALL), st.sampled_from(SHAPES), st.integers(0, 99), st.data())
def test_reduce(ufunc: Any, shape: tuple[int, ...], seed: int, data: st.DataObject) -> None:
    x = numbers(ufunc, shape, seed)
    axes = st.integers(-len(shape), len(shape) - 1)
    several = st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1).map(tuple)
    axis = data.draw(axes if ufunc is np.lcm else st.none() | axes | several)
    options: dict[str, Any] = {"axis": axis, "keepdims": data.draw(st.booleans())}
    if ufunc not in TRUTH and data.draw(st.booleans()):
        options["initial"] = abs(x.flat[0])
        if data.draw(st.booleans()):
            options["where"] = np.random.default_rng(seed).random(shape) < 0.6
    expected = ufunc.reduce(x, **options)
    found = traced(lambda x: ufunc.reduce(x, **options), x)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert found.dtype == expected.dtype and found.shape == expected.shape


@pytest.mark.parametrize("ufunc", [*TRUTH, *WHOLE[:3]], ids=lambda u: u.__name__)
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int32])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_whole_numbers_keep_their_dtype(ufunc: Any, dtype: Any, n: int) -> None:
    """The number that changes nothing is of the array's dtype: -1 is True, and 255 of uint8."""
    x = np.array([3, 1, 0], dtype)[:n]
    for options in ({}, {"initial": 1}, {"where": x > 1}, {"where": x > 1, "initial": 0}):
        expected = ufunc.reduce(x, **options)
        found = traced(lambda x, options=options: ufunc.reduce(x, **options), x)
        assert found.dtype == expected.dtype and found == expected, options


@given(st.sampled_from(ALL), st.sampled_from(SHAPES), st.integers(0, 99), st.data())
def test_accumulate(ufunc: Any, shape: tuple[int, ...], seed: int, data: st.DataObject) -> None:
    x = numbers(ufunc, shape, seed)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    expected = ufunc.accumulate(x, axis=axis)
    found = traced(lambda x: ufunc.accumulate(x, axis=axis), x)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert found.dtype == expected.dtype


@given(st.sampled_from([*SMOOTH, *ORDERED, *WHOLE]), st.integers(0, 99), st.data())
def test_reduceat(ufunc: Any, seed: int, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, 1))
    x = numbers(ufunc, (5, 4), seed)
    indices = data.draw(st.lists(st.integers(0, x.shape[axis] - 1), min_size=1, max_size=5))
    expected = ufunc.reduceat(x, indices, axis=axis)
    found = traced(lambda x: ufunc.reduceat(x, indices, axis=axis), x)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("ufunc", [*SMOOTH, *ORDERED], ids=lambda u: u.__name__)
def test_derivatives(ufunc: Any) -> None:
    x = np.random.default_rng(1).normal(size=(3, 4))
    check_grads(lambda x: ufunc.reduce(x, axis=1), (x,))
    check_grads(lambda x: ufunc.reduce(x, axis=None), (x,))
    check_grads(lambda x: ufunc.accumulate(x, axis=1), (x,))
    check_grads(lambda x: ufunc.reduceat(x, [0, 3, 1], axis=1), (x,))
    check_grads(lambda x: ufunc.outer(x, x[0]), (x,))
    check_grads(lambda x: ufunc.reduce(x[:1]), (x,))


def test_outer() -> None:
    x, y = np.arange(3.0), np.arange(8.0).reshape(2, 4)
    for ufunc in (np.subtract, np.arctan2, np.power, np.less):
        found = traced(partial(ufunc.outer, y), x)
        np.testing.assert_array_equal(found, ufunc.outer(y, x))
    single = traced(lambda x: np.multiply.outer(x, y, dtype=np.float32), x)
    assert single.dtype == np.float32


def test_at() -> None:
    x, at = np.arange(4.0), [0, 2, 2, 1]

    def f(x: Any, ufunc: Any) -> Any:
        z = fnp.ones(3)
        ufunc.at(z, at, x)
        return z

    for ufunc, slope in ((np.add, 1.0), (np.subtract, -1.0)):
        z = np.ones(3)
        ufunc.at(z, at, x)
        g = partial(f, ufunc=ufunc)
        np.testing.assert_array_equal(traced(g, x), z)
        np.testing.assert_array_equal(funcgrad.vjp(g, x)[1](np.ones(3))[0], slope)


OUT: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "sum": (lambda x, out: np.sum(x, axis=1, out=out), (3,)),
    "mean": (lambda x, out: np.mean(x, axis=1, out=out), (3,)),
    "max": (lambda x, out: np.max(x, axis=0, out=out), (4,)),
    "cumsum": (lambda x, out: np.cumsum(x, axis=1, out=out), (3, 4)),
    "clip": (lambda x, out: np.clip(x, -0.5, 0.5, out=out), (3, 4)),
    "dot": (lambda x, out: np.dot(x, x.T, out=out), (3, 3)),
    "concatenate": (lambda x, out: np.concatenate([x, x], out=out), (6, 4)),
    "stack": (lambda x, out: np.stack([x, 2 * x], out=out), (2, 3, 4)),
    "add.reduce": (lambda x, out: np.add.reduce(x, axis=1, out=out), (3,)),
    "multiply.accumulate": (lambda x, out: np.multiply.accumulate(x, out=out), (3, 4)),
    "subtract.outer": (lambda x, out: np.subtract.outer(x[0], x[1], out=out), (4, 4)),
}


@pytest.mark.parametrize("name", OUT)
def test_out(name: str) -> None:
    f, shape = OUT[name]
    x = np.random.default_rng(0).normal(size=(3, 4))
    expected = np.zeros(shape)
    f(x, expected)

    def written(x: Any) -> Any:
        out = fnp.zeros(shape)
        assert f(x, out) is out
        return out

    np.testing.assert_allclose(traced(written, x), expected, rtol=1e-14)
    check_grads(written, (x,))
    with pytest.raises(HandoverError, match="plain NumPy array"):
        traced(lambda x: f(x, np.zeros(shape)), x)
    if name != "subtract.outer":  # ufuncs repeat their operands
        with pytest.raises(ShapeError, match="has a result of shape"):
            traced(lambda x: f(x, fnp.zeros((7, *shape))), x)


# ---------------------------------------------------------------- options of calls, for all ufuncs

UFUNCS = {
    name: getattr(np, name)
    for name in dir(np)
    if isinstance(getattr(np, name), np.ufunc) and hasattr(fnp, name)
}
ELEMENTWISE = sorted(n for n, u in UFUNCS.items() if u.signature is None and n != "isnat")


def operands(ufunc: Any, rng: np.random.Generator) -> list[np.ndarray]:
    """Operands of one of the dtypes that the ufunc takes, where it is smooth."""
    kinds = [t.split("->")[0] for t in ufunc.types]
    kind = "d" * ufunc.nin if "d" * ufunc.nin in kinds else kinds[0]
    kind = "dl" if ufunc is np.ldexp else "l" * ufunc.nin if "l" * ufunc.nin in kinds else kind
    kind = "d" * ufunc.nin if "d" * ufunc.nin in kinds else kind
    low = 1.1 if ufunc is np.arccosh else 0.1
    made = [rng.uniform(low, low + 0.8, (2, 3)) for _ in kind]
    return [x if k == "d" else (10 * x).astype(k) for x, k in zip(made, kind, strict=True)]


@given(name=st.sampled_from(ELEMENTWISE), seed=st.integers(0, 10**6), data=st.data())
def test_options(name: str, seed: int, data: st.DataObject) -> None:
    """`fnp.f` on plain and on traced arrays, and `np.f` on traced ones: as NumPy's on plain ones."""
    ours, theirs = getattr(fnp, name), UFUNCS[name]
    rng = np.random.default_rng(seed)
    xs = operands(theirs, rng)
    mask = rng.random((2, 3)) < 0.6
    wide = (2, *np.shape(xs[0])) if data.draw(st.booleans()) else np.shape(xs[0])
    options: dict[str, Any] = {}
    if data.draw(st.booleans()):
        options["casting"] = data.draw(st.sampled_from(["same_kind", "unsafe"]))
    if data.draw(st.booleans()) and xs[0].dtype == np.float64 and theirs.nout == 1:
        dtype = theirs(*(x.astype(np.float32) if x.dtype.kind == "f" else x for x in xs)).dtype
        options["dtype"] = dtype
    masked = data.draw(st.booleans())
    positional = data.draw(st.booleans())
    dtypes = [y.dtype for y in _list(theirs(*xs))]

    def run(f: Any, zeros: Any, *xs: Any) -> list[Any]:
        outs = tuple(zeros(wide, d) for d in dtypes)
        given = options | ({"where": mask} if masked else {})
        if positional:
            f(*xs, *outs, **given)
        else:
            f(*xs, out=outs if len(outs) > 1 else outs[0], **given)
        return [*outs, *([] if masked else _list(f(*xs, **options)))]

    expected = run(theirs, np.zeros, *xs)
    plain = run(ours, np.zeros, *xs)
    inside = [traced(lambda *x, f=f: run(f, fnp.zeros, *x), *xs) for f in (ours, theirs)]
    for found in (plain, *inside):
        for x, y in zip(found, expected, strict=True):
            assert x.dtype == y.dtype and x.shape == y.shape
            np.testing.assert_allclose(x, y, rtol=1e-6 if y.dtype == np.float32 else 1e-12)


def _list(x: Any) -> list[Any]:
    return list(x) if isinstance(x, tuple) else [x]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_masks_keep_singular_points_out_of_derivatives(name: str) -> None:
    """What a mask leaves out may be any number: no gradient is NaN or passes there."""
    theirs = UFUNCS[name]
    xs = operands(theirs, np.random.default_rng(0))
    places = [i for i, x in enumerate(xs) if x.dtype.kind == "f"]
    if not places or theirs.nout > 1 or theirs(*xs).dtype.kind != "f":
        return
    mask = np.array([[True, False, True], [False, True, False]])
    for bad in (np.nan, 0.0):
        ys = [np.where(mask, x, bad) if x.dtype.kind == "f" else x for x in xs]

        def f(*ys: Any) -> Any:
            out = fnp.ones((2, 3))
            getattr(fnp, name)(*ys, out=out, where=mask)
            return out.sum()

        def chosen(*xs: Any) -> Any:
            return fnp.where(mask, getattr(fnp, name)(*xs), 1.0).sum()

        found = funcgrad.grad(f, argnums=tuple(range(len(xs))) if len(places) > 1 else places[0])(
            *ys
        )
        wanted = funcgrad.grad(
            chosen, argnums=tuple(range(len(xs))) if len(places) > 1 else places[0]
        )(*xs)
        for a, b in zip(_list(found), _list(wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)


ROUNDS = [np.multiply, np.maximum, np.divide, np.hypot, np.add, np.subtract, np.power, np.arctan2]


@pytest.mark.parametrize("ufunc", [*ROUNDS, np.negative, np.exp], ids=lambda u: u.__name__)
def test_at_takes_one_after_the_other(ufunc: Any) -> None:
    rng = np.random.default_rng(5)
    x, at = rng.uniform(0.5, 1.5, (4, 3)), (rng.integers(-4, 4, 5), rng.integers(0, 3, 5))
    b = [rng.uniform(0.5, 1.5, 5)] * (ufunc.nin - 1)

    def f(x: Any, *b: Any) -> Any:
        z = fnp.array(x)
        getattr(fnp, ufunc.__name__).at(z, at, *b)
        return z

    expected = x.copy()
    ufunc.at(expected, at, *b)
    np.testing.assert_allclose(f(x, *b), expected, rtol=1e-13)
    np.testing.assert_allclose(traced(f, x, *b), expected, rtol=1e-13)
    check_grads(f, (x, *b))


def test_ufuncs_look_like_numpys() -> None:
    for name, theirs in UFUNCS.items():
        ours = getattr(fnp, name)
        for attribute in ("nin", "nout", "nargs", "identity", "signature", "types", "ntypes"):
            assert getattr(ours, attribute) == getattr(theirs, attribute), name
    x, table = np.arange(4.0), np.arange(6.0).reshape(2, 3)
    assert fnp.add.reduce([1.0, 2.0, 3.0]) == 6.0
    assert fnp.multiply.outer(x, x).shape == (4, 4)
    assert fnp.add.reduceat(x, [0, 2]).tolist() == [1.0, 5.0]
    assert fnp.maximum.accumulate(table, axis=1).tolist() == table.tolist()
    check_grads(lambda t: fnp.add.reduce(table, axis=0, initial=t, where=table > 1), (2.0,))


def test_options_that_are_refused() -> None:
    x = np.arange(1.0, 4.0)
    for f in (fnp.log, np.log):
        with pytest.raises(HandoverError, match="leaves elements undefined"):
            traced(lambda x, f=f: f(x, where=x > 1), x)
    with pytest.raises(HandoverError, match="leaves elements undefined"):
        fnp.log(x, where=x > 1)
    with pytest.raises(ArgumentError, match="No loop"):
        traced(lambda x: fnp.sin(x, dtype=int), x)
    with pytest.raises(ArgumentError, match="cast"):
        traced(lambda x: fnp.sin(x, out=fnp.zeros(3, int)), x)
    with pytest.raises(ArgumentError, match="casting rule 'no'"):
        traced(lambda x: fnp.add(x, np.arange(3), casting="no"), x)
    with pytest.raises(ArgumentError, match="must be of booleans"):
        traced(lambda x: fnp.sin(x, out=fnp.zeros(3), where=np.ones(3)), x)
    with pytest.raises(ArgumentError, match="order='F'"):
        traced(lambda x: fnp.sin(x, order="F"), x)


def test_what_is_refused() -> None:
    x = np.arange(6.0).reshape(2, 3)
    with pytest.raises(HandoverError, match=r"np.subtract.reduce .*lax.scan"):
        traced(lambda x: np.subtract.reduce(x), x)
    with pytest.raises(HandoverError, match=r"np.power.accumulate"):
        traced(lambda x: np.power.accumulate(x), x)
    with pytest.raises(HandoverError, match=r"np.multiply.at would store"):
        traced(lambda x: np.multiply.at(np.ones(3), [0], x[0, 0]), x)
    with pytest.raises(ShapeError, match="axis 5"):
        traced(lambda x: np.hypot.reduce(x, axis=5), x)
    with pytest.raises(ShapeError, match="no elements"):
        traced(lambda x: np.fmax.reduce(x[:0]), x)
    with pytest.raises(ShapeError, match="index 3 is outside"):
        traced(lambda x: np.add.reduceat(x, [0, 3]), x)
    with pytest.raises(ArgumentError, match="needs initial="):
        traced(lambda x: np.fmin.reduce(x, where=x > 1), x)


@pytest.mark.parametrize(
    "options", [{"axis": 0}, {"keepdims": True}, {"axes": [(0, 1)] * 3}], ids=str
)
def test_products_of_matrices_refuse_the_options_of_other_ufuncs(options: dict[str, Any]) -> None:
    """They went back and forth between NumPy and its counterpart."""
    name = next(iter(options))
    with pytest.raises(HandoverError, match=rf"np.matmul: {name}= is not supported"):
        traced(lambda x: np.matmul(x, x, **options), np.eye(3))
