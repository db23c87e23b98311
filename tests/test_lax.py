"""The array part of `funcgrad.lax`: values and derivatives against JAX, transforms, errors."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
import funcgrad.numpy as fnp
from funcgrad import lax, tree
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.scipy.sparse.linalg import gmres
from funcgrad.testing import check_all
from funcgrad.testing.strategies import floats


class Row(NamedTuple):
    """A function of a `lax` and of arrays, with the shapes and the domains of those."""

    name: str
    f: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    domain: Any = None
    smooth: bool = True  # it is differentiated

    def draw(self, seed: int) -> list[np.ndarray]:
        """Arrays without equal or special elements."""
        domain = floats(-2.0, 2.0) if self.domain is None else self.domain
        rng = np.random.default_rng(seed)
        return [rng.choice(domain, s) + rng.uniform(0, 1e-3, s) for s in self.shapes]


POSITIVE, UNIT = floats(0.2, 3.0), floats(-0.9, 0.9)
AWAY = np.concatenate([floats(-2.0, -0.3), floats(0.3, 2.0)])
V, M, T = ((4,),), ((3, 4),), ((2, 3, 4),)


def unary(name: str, domain: Any = None, smooth: bool = True) -> Row:
    return Row(name, lambda lax, x: getattr(lax, name)(x), M, domain, smooth)


def binary(name: str, domain: Any = None, smooth: bool = True) -> Row:
    return Row(name, lambda lax, x, y: getattr(lax, name)(x, y), M * 2, domain, smooth)


ELEMENTWISE = [
    *(unary(n) for n in ("asinh", "atan", "cbrt", "cos", "cosh", "erf", "erfc", "exp")),
    *(
        unary(n)
        for n in ("exp2", "expm1", "logistic", "neg", "sin", "sinh", "square", "tan", "tanh")
    ),
    *(unary(n, POSITIVE) for n in ("digamma", "lgamma", "log", "log1p", "reciprocal", "rsqrt")),
    *(unary(n, POSITIVE) for n in ("sqrt", "bessel_i0e", "bessel_i1e")),
    *(unary(n, AWAY) for n in ("abs", "sign")),
    *(unary(n, UNIT) for n in ("acos", "asin", "atanh", "erf_inv")),
    unary("acosh", POSITIVE + 1.0),
    *(unary(n, AWAY, False) for n in ("ceil", "floor", "is_finite", "round")),
    *(binary(n) for n in ("add", "atan2", "max", "min", "mul", "sub")),
    *(binary(n, POSITIVE) for n in ("div", "igamma", "igammac", "pow", "rem")),
    *(binary(n, AWAY, False) for n in ("eq", "ge", "gt", "le", "lt", "ne", "nextafter")),
    Row("complex", lambda lax, x, y: _parts(lax, lax.conj(lax.complex(x, y))), M * 2),
    Row(
        "betainc", lambda lax, x: lax.betainc(np.full(4, 2.0), np.full(4, 0.7), x / 4), V, POSITIVE
    ),
    Row("integer_pow", lambda lax, x: lax.integer_pow(x, -3) + lax.integer_pow(x, 4), M, AWAY),
    Row("clamp", lambda lax, x: lax.clamp(-1.0, x, 1.0), M, AWAY),
    Row("round to even", lambda lax, x: lax.round(x, lax_method(lax, 1)), M, None, False),
    Row("select", lambda lax, x, y: lax.select(x > 0, x, y), M * 2, AWAY),
    Row("select_n", lambda lax, x, y, z: lax.select_n(PLACES, x, y, z), M * 3),
    Row("polygamma", lambda lax, x: lax.polygamma(2.0, x), V, POSITIVE, False),
    Row("zeta", lambda lax, x: lax.zeta(x + 1.5, 2.0), V, POSITIVE, False),
    Row("stop_gradient", lambda lax, x: lax.stop_gradient(x) * x, V),
    Row("convert", lambda lax, x: lax.convert_element_type(x, np.float32), V, None, False),
    Row("bitcast", lambda lax, x: lax.bitcast_convert_type(x, np.uint32), V, None, False),
]


def _parts(lax: Any, z: Any) -> Any:
    return lax.real(z) * 2.0 + lax.imag(z)


def lax_method(lax: Any, n: int) -> Any:
    """A method of rounding."""
    return lax.RoundingMethod(n)


PLACES = np.array([[0, 1, 2, 0], [2, 1, 0, 1], [1, 1, 2, 2]], np.int32)
WORDS = np.array([0, 1, 5, -1, -128, 127, 64], np.int8)

SHAPES = [
    Row("reshape", lambda lax, x: lax.reshape(x, (4, 3), (1, 0)), M),
    Row("transpose", lambda lax, x: lax.transpose(x, (2, 0, 1)), T),
    Row("rev", lambda lax, x: lax.rev(x, (0, 2)), T),
    Row("squeeze", lambda lax, x: lax.squeeze(x, (0, 2)), ((1, 3, 1),)),
    Row("expand_dims", lambda lax, x: lax.expand_dims(x, (0, 2)), M),
    Row("concatenate", lambda lax, x, y: lax.concatenate([x, y], 1), ((2, 3), (2, 1))),
    Row("pad", lambda lax, x, v: lax.pad(x, v, [(1, -1, 2), (-1, 2, 0)]), (*M, ())),
    Row("pad cut", lambda lax, x: lax.pad(x, 0.5, [(-2, -1, 1)]), V),
    Row("pad nothing", lambda lax, x: lax.pad(x, 0.5, [(2, 1, 1)]), ((0,),)),
    Row("broadcast", lambda lax, x: lax.broadcast(x, (2, 3)), V),
    Row("broadcast_in_dim", lambda lax, x: lax.broadcast_in_dim(x, (3, 5, 4), (0, 2)), ((1, 4),)),
    Row("collapse", lambda lax, x: lax.collapse(x, 0, 2), T),
    Row("split", lambda lax, x: lax.split(x, (1, 0, 3), 1)[2], M),
    Row("tile", lambda lax, x: lax.tile(x, (2, 3)), M),
    Row("full", lambda lax, x: lax.full((2, 3), x), ((),)),
    Row("full_like", lambda lax, x: lax.full_like(x, 2.0, shape=(5,)), M, None, False),
    Row("iota", lambda lax, x: x[0] * lax.iota(np.float64, 4), V),
    Row("broadcasted_iota", lambda lax, x: x * lax.broadcasted_iota(np.float64, (3, 4), 1), M),
    Row("slice", lambda lax, x: lax.slice(x, (1, 0), (3, 4), (1, 2)), M),
    Row("slice_in_dim", lambda lax, x: lax.slice_in_dim(x, -3, None, 2, axis=1), M),
    Row("index_in_dim", lambda lax, x: lax.index_in_dim(x, -1, 1, keepdims=False), M),
]

DYNAMIC = [
    Row("dynamic_slice", lambda lax, x, i: lax.dynamic_slice(x, (i, 1), (2, 2)), (*M, ())),
    Row("dynamic_slice all", lambda lax, x, i: lax.dynamic_slice(x, (i, i), (3, 2)), (*M, ())),
    Row("dynamic_slice_in_dim", lambda lax, x, i: lax.dynamic_slice_in_dim(x, i, 3, 1), (*M, ())),
    Row("dynamic_index", lambda lax, x, i: lax.dynamic_index_in_dim(x, i, 1, False), (*M, ())),
    Row("not negative", lambda lax, x, i: _not_negative(lax, x, i), (*M, ())),
    Row(
        "dynamic_update_slice",
        lambda lax, x, i, y: lax.dynamic_update_slice(x, y, (i, 1)),
        (*M, (), (2, 2)),
    ),
    Row(
        "dynamic_update_slice_in_dim",
        lambda lax, x, i, y: lax.dynamic_update_slice_in_dim(x, y, i, 0),
        (*M, (), (1, 4)),
    ),
    Row(
        "dynamic_update_index_in_dim",
        lambda lax, x, i, y: lax.dynamic_update_index_in_dim(x, y, i, 1),
        (*M, (), (3,)),
    ),
]


def _not_negative(lax: Any, x: Any, i: Any) -> Any:
    return lax.dynamic_slice_in_dim(x, i, 2, 0, allow_negative_indices=False)


def _window(lax: Any, f: str, start: float, **how: Any) -> Callable[..., Any]:
    return lambda x: lax.reduce_window(x, start, getattr(lax, f), **how)


WINDOWS: list[dict[str, Any]] = [
    {"window_dimensions": (2, 3), "padding": "SAME", "window_strides": (1, 1)},
    {"window_dimensions": (2, 2), "window_strides": (1, 2), "padding": [(1, 0), (2, 1)]},
    {"window_dimensions": (2, 2), "window_dilation": (2, 1), "base_dilation": (1, 2)},
    {"window_dimensions": (3, 1), "padding": "SAME_LOWER", "window_strides": (2, 1)},
]
MONOIDS = [("add", 0.0), ("max", -np.inf), ("min", np.inf), ("mul", 1.0), ("add", 0.5)]
REDUCTIONS = [
    *(
        Row(f"{name}{reverse}", lambda lax, x, n=name, r=reverse: getattr(lax, n)(x, 1, r), M, AWAY)
        for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
        for reverse in (False, True)
    ),
    *(
        Row(f"reduce_{n}", lambda lax, x, n=n: getattr(lax, f"reduce_{n}")(x, (0, 2)), T, AWAY)
        for n in ("sum", "prod", "max", "min")
    ),
    *(
        Row(
            f"reduce {n} {v}", lambda lax, x, n=n, v=v: lax.reduce(x, v, getattr(lax, n), (2, 0)), T
        )
        for n, v in MONOIDS
    ),
    Row(
        "reduce, any", lambda lax, x: lax.reduce(x, 0.0, lambda a, b: a + b + a * b, (1,)), M, UNIT
    ),
    Row("reduce, two", lambda lax, x, y: _largest(lax, x, y)[1], M * 2),
    Row("reduce, none", lambda lax, x: lax.reduce(x, 2.0, lax.add, (1,)), ((3, 0),)),
    *(
        Row(
            f"window {n} {v} {i}", lambda lax, x, n=n, v=v, w=w: _window(lax, n, v, **w)(x), M, AWAY
        )
        for n, v in MONOIDS
        for i, w in enumerate(WINDOWS)
    ),
    Row("sort", lambda lax, x: lax.sort(x, 0), M),
    Row("sort_key_val", lambda lax, x, y: lax.sort_key_val(x, y)[1], M * 2),
    Row(
        "sort, two keys", lambda lax, x, y: lax.sort((lax.round(x), y, x), 1, num_keys=2)[2], M * 2
    ),
    Row("top_k", lambda lax, x: lax.top_k(x, 2)[0], M),
    Row("top_k places", lambda lax, x: lax.top_k(x, 2)[1], M, None, False),
    Row("argmax", lambda lax, x: lax.argmax(x, 1, np.int32), M, None, False),
    Row("argmin", lambda lax, x: lax.argmin(x, 0, np.int64), M, None, False),
]


def _largest(lax: Any, x: Any, y: Any) -> Any:
    """The elements of `y` where those of `x` are largest, by a reduction of pairs."""

    def larger(a: Any, b: Any) -> Any:
        first = a[0] > b[0]
        return lax.select(first, a[0], b[0]), lax.select(first, a[1], b[1])

    return lax.reduce((x, y), (-np.inf, 0.0), larger, (1,))


CONVOLUTIONS: list[tuple[Any, ...]] = [
    ((2, 3, 7), (4, 3, 2), {"window_strides": (2,), "padding": "SAME"}),
    ((2, 3, 7), (4, 3, 2), {"window_strides": (1,), "padding": [(-1, 2)], "lhs_dilation": (2,)}),
    ((2, 4, 6), (4, 2, 3), {"window_strides": (1,), "padding": "VALID", "feature_group_count": 2}),
    ((4, 3, 5), (2, 3, 2), {"window_strides": (1,), "padding": "SAME", "batch_group_count": 2}),
    (
        (2, 5, 6, 3),
        (2, 3, 3, 4),
        {
            "window_strides": (1, 2),
            "padding": "SAME_LOWER",
            "rhs_dilation": (2, 1),
            "dimension_numbers": ("NHWC", "HWIO", "NHWC"),
        },
    ),
]
TRANSPOSED: list[dict[str, Any]] = [
    {"strides": (s,), "padding": p, "rhs_dilation": (d,), "transpose_kernel": k}
    for s, p, d, k in ((1, "SAME", 1, False), (3, "SAME", 1, True), (2, "VALID", 2, False))
]
TRANSPOSED.append({"strides": (2,), "padding": [(1, 2)]})
PATCHES: list[dict[str, Any]] = [
    {"filter_shape": (2, 3), "window_strides": (1, 2), "padding": "SAME"},
    {
        "filter_shape": (2, 2),
        "window_strides": (1, 1),
        "padding": [(1, 0), (0, 2)],
        "rhs_dilation": (1, 2),
        "lhs_dilation": (2, 1),
        "dimension_numbers": ("NHWC", "HWIO", "NHWC"),
    },
]
PRODUCTS = [
    Row("dot", lambda lax, x, y: lax.dot(x, y), ((3, 4), (4,))),
    Row("batch_matmul", lambda lax, x, y: lax.batch_matmul(x, y), ((2, 3, 4), (2, 4, 2))),
    Row(
        "dot by numbers",
        lambda lax, x, y: lax.dot(x, y, dimension_numbers=(((1,), (2,)), ((0,), (0,)))),
        ((2, 3, 4), (2, 2, 3)),
    ),
    Row(
        "dot_general",
        lambda lax, x, y: lax.dot_general(x, y, (((1, 3), (2, 0)), ((0,), (1,)))),
        ((2, 3, 4, 2), (2, 2, 3, 3)),
    ),
    *(
        Row(f"conv {i}", lambda lax, x, w, how=how: lax.conv_general_dilated(x, w, **how), (x, w))
        for i, (x, w, how) in enumerate(CONVOLUTIONS)
    ),
    Row("conv", lambda lax, x, w: lax.conv(x, w, (2,), "SAME"), ((1, 2, 5), (3, 2, 2))),
    *(
        Row(
            f"conv_transpose {i}",
            lambda lax, x, w, how=how: lax.conv_transpose(x, w, **how),
            ((2, 5, 3), (2, 3, 3)),
        )
        for i, how in enumerate(TRANSPOSED)
    ),
    *(
        Row(
            f"patches {i}",
            lambda lax, x, how=how: lax.conv_general_dilated_patches(x, **how),
            ((2, 3, 4, 5),),
        )
        for i, how in enumerate(PATCHES)
    ),
    *(
        Row(
            f"own kernels {i}",
            lambda lax, x, w, how=how: lax.conv_general_dilated_local(x, w, **how),
            ((2, 3, 4, 5), kernels),
        )
        for i, (how, kernels) in enumerate(
            zip(PATCHES, ((2, 18, 4, 3), (5, 4, 20, 2)), strict=True)
        )
    ),
    Row("cholesky", lambda lax, x: lax.linalg.cholesky(_definite(lax, x)), ((3, 3),)),
    Row("qr", lambda lax, x: lax.linalg.qr(x, full_matrices=False)[1], ((4, 3),)),
    Row("eigh", lambda lax, x: lax.linalg.eigh(_definite(lax, x))[1], ((3, 3),)),
    Row("svd", lambda lax, x: lax.linalg.svd(x, compute_uv=False), ((3, 2),)),
    *(
        Row(
            f"triangular_solve {left}{lower}{turned}{unit}",
            lambda lax, a, b, how=(left, lower, turned, unit): _triangular(lax, a, b, *how),
            ((3, 3), (2, 3, 3)),
            POSITIVE,
        )
        for left, lower, turned, unit in (
            (False, False, False, False),
            (True, True, False, True),
            (True, False, True, False),
            (False, True, True, False),
        )
    ),
]


def _definite(lax: Any, x: Any) -> Any:
    return lax.dot(x, lax.transpose(x, (1, 0))) + np.diag([1.0, 2.0, 4.0])


def _triangular(lax: Any, a: Any, b: Any, left: Any, lower: Any, turned: Any, unit: Any) -> Any:
    how = {"left_side": left, "lower": lower, "transpose_a": turned, "unit_diagonal": unit}
    a = lax.broadcast(a, (2,))
    return lax.linalg.triangular_solve(a, b, **how)


STARTS = [-5, -2, 0, 2, 9]
FIXED = [
    Row(f"{row.name} {i}", lambda lax, x, *rest, f=row.f, i=i: f(lax, x, i, *rest), shapes)
    for row in DYNAMIC
    for i in STARTS
    for shapes in [tuple(s for s in row.shapes if s)]
]
ROWS = [*ELEMENTWISE, *SHAPES, *REDUCTIONS, *PRODUCTS]
NOT_IN_JAX = ("polygamma", "reduce add 0.5", "not negative -5", "not negative -2")
NOT_IN_JAX += ("window max -inf 2", "window min inf 2")
IN_JAX = [
    r
    for r in [*ROWS, *FIXED]
    if r.name not in NOT_IN_JAX and not r.name.startswith(("window mul", "window add 0.5"))
]
every_smooth_row = pytest.mark.parametrize(
    "row", [r for r in ROWS if r.smooth], ids=lambda r: r.name
)
every_dynamic_row = pytest.mark.parametrize("row", DYNAMIC, ids=lambda r: r.name)
few = settings(max_examples=2)


@pytest.fixture(scope="module")
def theirs() -> Any:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield jax


def weights(y: Any) -> Any:
    """A cotangent of a result."""
    return np.cos(np.arange(float(y.size))).reshape(y.shape).astype(y.dtype)


@pytest.fixture(scope="module")
def expected(theirs: Any) -> dict[str, Any]:
    """What JAX gives for every row, compiled together: values and cotangents, None for none."""

    def run(inputs: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for row in IN_JAX:
            f, xs = functools.partial(row.f, theirs.lax), inputs[row.name]
            found[row.name] = f(*xs), None
            if row.smooth:
                y, pull = theirs.vjp(f, *xs)
                found[row.name] = y, pull(weights(y))
        return found

    options = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    inputs = {row.name: row.draw(0) for row in IN_JAX}
    return theirs.jit(run, compiler_options=options)(inputs)


# ---------------------------------------------------------------- against JAX


@pytest.mark.parametrize("name", [r.name for r in IN_JAX])
def test_values_and_gradients_are_those_of_jax(name: str, expected: dict[str, Any]) -> None:
    row = next(r for r in IN_JAX if r.name == name)
    y, cts = expected[name]
    xs = row.draw(0)
    found = row.f(lax, *xs)
    assert found.dtype == y.dtype
    assert found.shape == y.shape
    np.testing.assert_allclose(found, y, rtol=1e-11, atol=1e-12)
    if row.smooth:
        pull = funcgrad.vjp(lambda *xs: row.f(lax, *xs), *xs)[1]
        for a, b in zip(pull(weights(found)), cts, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


@every_dynamic_row
@pytest.mark.parametrize("start", STARTS)
def test_computed_places_are_known_or_not(row: Row, start: int) -> None:
    xs: list[Any] = [start if not x.shape else x for x in row.draw(0)]
    np.testing.assert_array_equal(funcgrad.jit(lambda *xs: row.f(lax, *xs))(*xs), row.f(lax, *xs))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_bits_are_those_of_jax(dtype: str, theirs: Any) -> None:
    x = WORDS.astype(dtype)
    for name in ("population_count", "clz", "bitwise_not"):
        found, expected = getattr(lax, name)(x), np.asarray(getattr(theirs.lax, name)(x))
        assert found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found, expected, err_msg=name)
    width = 8 * x.dtype.itemsize
    for count in (0, 1, 7, width - 1, width):
        y = np.full_like(x, count)
        for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical"):
            if name == "shift_right_arithmetic" and dtype == "uint8":
                continue
            found, expected = getattr(lax, name)(x, y), np.asarray(getattr(theirs.lax, name)(x, y))
            assert found.dtype == expected.dtype, name
            np.testing.assert_array_equal(found, expected, err_msg=f"{name} {count}")
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "div", "rem"):
        y = np.array([3, -2, 5, 7, 2, -3, 11]).astype(dtype)
        np.testing.assert_array_equal(
            getattr(lax, name)(x, y), np.asarray(getattr(theirs.lax, name)(x, y)), err_msg=name
        )
    for name in (
        "reduce_and",
        "reduce_or",
        "reduce_xor",
        "reduce_sum",
        "reduce_max",
        "reduce_prod",
    ):
        found, expected = (np.asarray(getattr(m, name)(x, (0,))) for m in (lax, theirs.lax))
        assert found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found, expected, err_msg=name)
    for name in ("cumsum", "cumprod", "cummax", "cummin"):
        found, expected = (np.asarray(getattr(m, name)(x)) for m in (lax, theirs.lax))
        assert found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found, expected, err_msg=name)


@pytest.mark.parametrize("pair", [("float32", "uint8"), ("uint16", "int64"), ("float64", "int64")])
def test_bits_of_other_widths(pair: tuple[str, str], theirs: Any) -> None:
    old, new = pair
    ratio = np.dtype(new).itemsize // np.dtype(old).itemsize
    x = np.arange(8).reshape((2, 4)).astype(old)
    assert not ratio or ratio in (1, x.shape[-1])
    found = lax.bitcast_convert_type(x, new)
    np.testing.assert_array_equal(found, np.asarray(theirs.lax.bitcast_convert_type(x, new)))
    np.testing.assert_array_equal(lax.bitcast_convert_type(found, old), x)


def test_bits_read_as_what_they_are_stay() -> None:
    for dtype in (bool, "int8", "float64", "complex64"):
        x = np.array([0, 1, 3]).astype(dtype)
        for f in (
            lax.bitcast_convert_type,
            funcgrad.jit(lax.bitcast_convert_type, static_argnums=1),
        ):
            np.testing.assert_array_equal(f(x, x.dtype), x)


def test_bits_are_read_wherever_they_lie() -> None:
    x = np.arange(12, dtype=np.uint64) << np.arange(12, dtype=np.uint64) * 4
    for part in (x[::2], x[::-3], np.broadcast_to(x[3], (4,)), x.reshape(3, 4).T):
        for dtype in (np.uint32, np.float64):
            expected = lax.bitcast_convert_type(part.copy(), dtype)
            np.testing.assert_array_equal(lax.bitcast_convert_type(part, dtype), expected)


def test_booleans_are_reduced() -> None:
    x = np.array([[True, False], [True, True]])
    assert lax.reduce_and(x, (0,)).tolist() == [True, False]
    assert lax.reduce_or(x, (0, 1)).tolist() is True
    assert lax.reduce_xor(x, (0,)).tolist() == [False, True]


@pytest.mark.parametrize(
    ("name", "start"), [*MONOIDS, ("max", 0.25), ("min", -0.25), ("mul", -2.0)]
)
@pytest.mark.parametrize("how", WINDOWS, ids=range(len(WINDOWS)))
def test_windows_by_any_function_are_those_by_its_name(name: str, start: float, how: Any) -> None:
    """What has a way of its own, and what is combined element by element."""
    f = {"add": operator.add, "mul": operator.mul, "max": np.maximum, "min": np.minimum}[name]
    (x,) = Row(name, lambda lax, x: x, M, AWAY).draw(0)
    for z in (x, abs(x), -abs(x)):
        by_name, by_hand = (
            funcgrad.vjp(lambda z, g=g: lax.reduce_window(z, start, g, **how), z)
            for g in (getattr(lax, name), lambda a, b: f(a, b))
        )
        np.testing.assert_allclose(by_name[0], by_hand[0], rtol=1e-13)
        ct = weights(by_name[0])
        np.testing.assert_allclose(by_name[1](ct)[0], by_hand[1](ct)[0], rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------- transforms


@every_smooth_row
@few
@given(seed=st.integers(0, 10**6))
def test_derivatives_agree_with_each_other(row: Row, seed: int) -> None:
    names = ["transpose", "types", "vmap", "program", "jit", "repeatable", "own memory"]
    if row.name != "stop_gradient":
        names.append("numerical")
    report = check_all(lambda *xs: row.f(lax, *xs), tuple(row.draw(seed)), only=names)
    assert report.ok, str(report)


@every_dynamic_row
def test_computed_places_under_vmap(row: Row) -> None:
    rng = np.random.default_rng(3)
    xs: list[Any] = [rng.normal(size=(4, *s)) for s in row.shapes]
    xs[1] = np.array([-2, 0, 1, 7])

    def total(*args: Any) -> Any:
        return fnp.sum(fnp.sin(row.f(lax, *args)))

    f = funcgrad.grad(total, argnums=tuple(i for i in range(len(xs)) if i != 1))
    rows = [f(*(x[k] for x in xs)) for k in range(4)]
    expected = [np.stack(column) for column in zip(*rows, strict=True)]
    for g in (funcgrad.vmap(f), funcgrad.jit(funcgrad.vmap(f)), funcgrad.vmap(funcgrad.jit(f))):
        for a, b in zip(g(*xs), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13)
    shared = funcgrad.vmap(lambda i: row.f(lax, xs[0][0], i, *(x[0] for x in xs[2:])))(xs[1])
    for k, i in enumerate(xs[1]):
        one = row.f(lax, xs[0][0], int(i), *(x[0] for x in xs[2:]))
        np.testing.assert_array_equal(shared[k], one)


# ---------------------------------------------------------------- roots and linear equations


def newton(f: Any, x: Any) -> Any:
    for _ in range(40):
        step = (
            np.linalg.solve(funcgrad.jacobian(f)(x), f(x))
            if np.ndim(x)
            else f(x) / funcgrad.grad(f)(x)
        )
        x = x - step
    return x


def by_while(f: Any, x: Any) -> Any:
    return lax.while_loop(lambda x: abs(f(x)) > 1e-14, lambda x: x - f(x) / funcgrad.grad(f)(x), x)


@pytest.mark.parametrize("solve", [newton, by_while])
def test_derivatives_of_roots(solve: Any) -> None:
    def root(a: Any) -> Any:
        return lax.custom_root(lambda x: x**3 + a * x - 2.0, 1.0, solve, lambda g, y: y / g(1.0))

    h = 1e-4
    slope = (root(1.5 + h) - root(1.5 - h)) / (2 * h)
    bend = (root(1.5 + h) - 2 * root(1.5) + root(1.5 - h)) / h**2
    for f in (funcgrad.grad(root), funcgrad.jacfwd(root)):
        np.testing.assert_allclose(f(1.5), slope, rtol=1e-7)
    for outer in (funcgrad.grad, funcgrad.jacfwd):
        np.testing.assert_allclose(outer(funcgrad.grad(root))(1.5), bend, rtol=1e-5)
    if solve is by_while:
        batch = np.array([0.5, 1.5])
        each = [funcgrad.grad(root)(a) for a in batch]
        np.testing.assert_allclose(funcgrad.vmap(funcgrad.grad(root))(batch), each, rtol=1e-12)
        np.testing.assert_allclose(funcgrad.jit(funcgrad.grad(root))(1.5), slope, rtol=1e-7)


def test_roots_of_systems_with_more_results() -> None:
    a = np.array([1.0, 2.0])

    def root(a: Any) -> Any:
        def f(x: Any) -> Any:
            return fnp.stack([x[0] ** 2 + a[0] * x[1] - 3.0, x[1] ** 3 + a[1] * x[0] - 4.0])

        def tangent(g: Any, y: Any) -> Any:
            return fnp.linalg.solve(funcgrad.jacobian(g)(y), y)

        x, aux = lax.custom_root(f, np.ones(2), lambda f, x: (newton(f, x), 7), tangent, True)
        assert aux == 7
        return x

    expected = np.stack([(root(a + h) - root(a - h)) / 2e-5 for h in 1e-5 * np.eye(2)], axis=-1)
    np.testing.assert_allclose(funcgrad.jacrev(root)(a), expected, rtol=1e-6)
    np.testing.assert_allclose(funcgrad.jacfwd(root)(a), expected, rtol=1e-6)


def test_derivatives_of_linear_solutions() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=3)

    def solve(f: Any, b: Any) -> Any:
        return fnp.linalg.solve(funcgrad.jacobian(f)(fnp.zeros_like(b)), b)

    def ours(a: Any, b: Any) -> Any:
        return lax.custom_linear_solve(lambda x: a @ x, b, solve, solve)

    report = check_all(ours, (a, b))
    assert report.ok, str(report)
    expected = funcgrad.jacrev(np.linalg.solve, argnums=(0, 1))(a, b)
    for found, e in zip(funcgrad.jacrev(ours, argnums=(0, 1))(a, b), expected, strict=True):
        np.testing.assert_allclose(found, e, rtol=1e-10, atol=1e-12)

    def symmetric(s: Any) -> Any:
        m = s @ s.T + np.eye(3)
        return fnp.sum(lax.custom_linear_solve(lambda x: m @ x, b, solve, symmetric=True) ** 2)

    by_hand = funcgrad.grad(lambda s: fnp.sum(fnp.linalg.solve(s @ s.T + np.eye(3), b) ** 2))(a)
    np.testing.assert_allclose(funcgrad.grad(symmetric)(a), by_hand, rtol=1e-9)
    with pytest.raises(ArgumentError, match="transpose_solve"):
        funcgrad.grad(lambda a: fnp.sum(lax.custom_linear_solve(lambda x: a @ x, b, solve)))(a)


@pytest.mark.parametrize("iterative", [False, True])
def test_custom_linear_solve_in_the_users_tangent(iterative: bool) -> None:
    """A rule that solves for the tangent serves gradients, too: the solution is turned round."""
    rng = np.random.default_rng(5)
    m, b = rng.normal(size=(3, 3)) + 4.0 * np.eye(3), rng.normal(size=3)

    def solved(a: Any, y: Any) -> Any:
        if iterative:
            return gmres(lambda x: a @ x, y, rtol=1e-13)[0]
        return lax.custom_linear_solve(
            lambda x: a @ x,
            y,
            lambda _, y: fnp.linalg.solve(a, y),
            lambda _, y: fnp.linalg.solve(a.T, y),
        )

    @funcgrad.custom_jvp
    def inverse(a: Any) -> Any:
        return fnp.linalg.solve(a, b)

    @inverse.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (a,), (dot,) = primals, tangents
        x = inverse(a)
        return x, solved(a, -(dot @ x))

    def own(a: Any) -> Any:
        return fnp.sum(fnp.sin(inverse(a)))

    def exact(a: Any) -> Any:
        return fnp.sum(fnp.sin(fnp.linalg.solve(a, b)))

    for t in (funcgrad.grad, funcgrad.hessian, lambda f: funcgrad.jit(funcgrad.grad(f))):
        np.testing.assert_allclose(t(own)(m), t(exact)(m), rtol=1e-8, atol=1e-10)
    rows = np.stack([m, m + 0.1])
    found = funcgrad.vmap(funcgrad.grad(own))(rows)
    np.testing.assert_allclose(found, funcgrad.vmap(funcgrad.grad(exact))(rows), rtol=1e-8)


TRANSFORMS = {
    "grad": lambda f: funcgrad.grad(lambda a, b: fnp.sum(fnp.sin(f(a, b))), (0, 1)),
    "jacfwd": lambda f: funcgrad.jacfwd(f, (0, 1)),
    "hessian": lambda f: funcgrad.hessian(lambda a, b: fnp.sum(fnp.sin(f(a, b))), (0, 1)),
    "jit": lambda f: funcgrad.jit(funcgrad.jacrev(f, (0, 1))),
    "jit inside": lambda f: funcgrad.jacrev(funcgrad.jit(f), (0, 1)),
    "vmap": lambda f: (
        lambda a, b: funcgrad.vmap(funcgrad.jacrev(f), (None, 0))(a, fnp.stack([b, -b]))
    ),
}


@pytest.mark.parametrize("name", list(TRANSFORMS))
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("as_tree", [False, True])
def test_solvers_that_close_over_what_is_differentiated(
    name: str, symmetric: bool, as_tree: bool
) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(3, 3)) + 4 * np.eye(3), rng.normal(size=3)

    def made(a: Any) -> Any:
        return a + a.T if symmetric else a

    def ours(a: Any, b: Any) -> Any:
        m = made(a)
        inverse = fnp.linalg.inv(m)
        if not as_tree:
            forth, back = (lambda f, y: inverse @ y), (lambda f, y: inverse.T @ y)
            return lax.custom_linear_solve(
                lambda x: m @ x, b, forth, None if symmetric else back, symmetric
            )

        def matvec(x: Any) -> Any:
            y = m @ fnp.concatenate([x[0], x[1]["rest"]])
            return y[:1], {"rest": y[1:]}

        def solver(inverse: Any) -> Any:
            def solve(f: Any, y: Any) -> Any:
                x = inverse @ fnp.concatenate([y[0], y[1]["rest"]])
                return (x[:1], {"rest": x[1:]}), "aux"

            return solve

        x, aux = lax.custom_linear_solve(
            matvec, (b[:1], {"rest": b[1:]}), solver(inverse), solver(inverse.T), symmetric, True
        )
        assert aux == "aux"
        return fnp.concatenate([x[0], x[1]["rest"]])

    transform: Any = TRANSFORMS[name]
    found = tree.leaves(transform(ours)(a, b))
    expected = tree.leaves(transform(lambda a, b: fnp.linalg.solve(made(a), b))(a, b))
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("jit", [lambda f: f, funcgrad.jit], ids=["eager", "jit"])
def test_roots_of_trees(jit: Any) -> None:
    """The tangents' solver closes over a traced value, too."""

    def root(a: Any) -> Any:
        def f(x: Any) -> Any:
            return {"u": x["u"] ** 2 + a[0] * x["v"] - 3.0, "v": x["v"] ** 3 + a[1] * x["u"] - 4.0}

        def matrix(f: Any, x: Any) -> Any:
            rows = funcgrad.jacobian(f)(x)
            return fnp.array([[rows[i][j] for j in "uv"] for i in "uv"])

        def solved(m: Any, y: Any) -> Any:
            x = fnp.linalg.solve(m, fnp.stack([y["u"], y["v"]]))
            return {"u": x[0], "v": x[1]}

        def steps(f: Any, x: Any) -> Any:
            for _ in range(40):
                x = tree.map(fnp.subtract, x, solved(matrix(f, x), f(x)))
            return x

        def tangent(g: Any, y: Any) -> Any:
            return solved(matrix(g, y) + 0.0 * a[0], y)

        x = lax.custom_root(f, {"u": 1.0, "v": 1.0}, steps, tangent)
        return fnp.stack([x["u"], x["v"]])

    a = np.array([1.0, 2.0])
    expected = np.stack([(root(a + h) - root(a - h)) / 2e-5 for h in 1e-5 * np.eye(2)], axis=-1)
    np.testing.assert_allclose(jit(funcgrad.jacrev(root))(a), expected, rtol=1e-6)
    np.testing.assert_allclose(jit(funcgrad.jacfwd(root))(a), expected, rtol=1e-6)


# ---------------------------------------------------------------- names and errors


def test_names_that_jax_has() -> None:
    theirs = pytest.importorskip("jax.lax")
    extra = {n for n in lax.__all__ if not hasattr(theirs, n)}
    assert extra == {"conv_dimension_numbers"} - set(dir(theirs))


X, Z = np.arange(12.0).reshape(3, 4), np.arange(3)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: lax.integer_pow(X, 1.5), ArgumentError),
        (lambda: lax.integer_pow(Z, -1), ArgumentError),
        (lambda: lax.round(X, 2), ArgumentError),
        (lambda: lax.select(Z, X[:, 0], X[:, 1]), ArgumentError),
        (lambda: lax.select(X > 0, X, X[0]), ShapeError),
        (lambda: lax.select_n(Z, X, X), ShapeError),
        (lambda: lax.select_n(X > 0, X, X, X), ArgumentError),
        (lambda: lax.select_n(X, X, X), ArgumentError),
        (lambda: lax.clz(X), ArgumentError),
        (lambda: lax.population_count(X), ArgumentError),
        (lambda: lax.shift_left(X, 1), ArgumentError),
        (lambda: lax.bitcast_convert_type(X > 0, np.int8), ArgumentError),
        (lambda: lax.bitcast_convert_type(Z.astype(np.int32), np.int64), ShapeError),
        (lambda: lax.iota(int, 2.5), ArgumentError),
        (lambda: lax.broadcasted_iota(int, (2,), 1), ShapeError),
        (lambda: lax.full((2,), X), ShapeError),
        (lambda: lax.reshape(X, (5,)), ValueError),
        (lambda: lax.transpose(X, (0,)), ShapeError),
        (lambda: lax.transpose(X, (0, 0)), ShapeError),
        (lambda: lax.rev(X, (0, 0)), ShapeError),
        (lambda: lax.squeeze(X, (0,)), ValueError),
        (lambda: lax.expand_dims(X, (5,)), ShapeError),
        (lambda: lax.pad(X, 0.0, [(1, 1, 0)]), ShapeError),
        (lambda: lax.pad(X, 0.0, [(1, 1), (1, 1)]), ShapeError),
        (lambda: lax.pad(X, X, [(1, 1, 0)] * 2), ShapeError),
        (lambda: lax.pad(X, 0.0, [(1, 1, -1)] * 2), ArgumentError),
        (lambda: lax.pad(X, 0.0, [(-2, -2, 0)] * 2), ShapeError),
        (lambda: lax.pad(Z, 0.5, [(1, 1, 0)]), ArgumentError),
        (lambda: lax.reduce(Z, 0.5, lax.add, (0,)), ArgumentError),
        (lambda: lax.reduce_window(Z, 0.5, lax.add, (2,)), ArgumentError),
        (lambda: lax.broadcast_in_dim(X, (3, 4, 5), (1, 0)), ShapeError),
        (lambda: lax.broadcast_in_dim(X, (3, 5), (0, 1)), ShapeError),
        (lambda: lax.split(X, (1, 1), 0), ShapeError),
        (lambda: lax.slice(X, (0, 0), (4, 4)), ShapeError),
        (lambda: lax.slice(X, (0,), (1,)), ShapeError),
        (lambda: lax.slice(X, (0, 0), (3, 4), (1, 0)), ShapeError),
        (lambda: lax.index_in_dim(X, 3), ShapeError),
        (lambda: lax.dynamic_slice(X, (0,), (1, 1)), ShapeError),
        (lambda: lax.dynamic_slice(X, (0, 0), (4, 1)), ShapeError),
        (lambda: lax.dynamic_slice(X, (0.5, 0), (1, 1)), ArgumentError),
        (lambda: lax.dynamic_slice(X, (Z, 0), (1, 1)), ShapeError),
        (lambda: lax.dynamic_update_slice(X, np.ones((4, 1)), (0, 0)), ShapeError),
        (lambda: lax.dynamic_update_slice(Z, np.ones(1), (0,)), ArgumentError),
        (lambda: lax.sort((X, X), num_keys=3), ArgumentError),
        (lambda: lax.sort((X, Z)), ShapeError),
        (lambda: lax.top_k(X, 5), ShapeError),
        (lambda: lax.cumsum(X, 2), ShapeError),
        (lambda: lax.reduce_sum(X, (0, 0)), ShapeError),
        (lambda: lax.reduce((X, Z), (0.0, 0), lambda a, b: a, (0,)), ShapeError),
        (lambda: lax.reduce_window(X, 0.0, lax.add, (2,)), ShapeError),
        (lambda: lax.reduce_window(X, 0.0, lax.add, (1, 1), padding="FULL"), ArgumentError),
        (lambda: lax.dot(X, X), ShapeError),
        (lambda: lax.dot_general(X, X, (((0,), (1,)), ((), ()))), ShapeError),
        (lambda: lax.dot_general(X, X, (((0, 1), (0,)), ((), ()))), ShapeError),
        (lambda: lax.batch_matmul(X, X), ShapeError),
        (lambda: lax.conv(X, X, (1,), "SAME"), ShapeError),
        (lambda: lax.conv(np.ones((1, 1, 3)), np.ones((1, 1, 3)), (1,), "ALL"), ArgumentError),
        (
            lambda: lax.conv_general_dilated(
                np.ones((1, 1, 3)), np.ones((1, 1, 3)), (1,), "SAME", dimension_numbers=("N", "O")
            ),
            ArgumentError,
        ),
        (
            lambda: lax.conv_general_dilated(
                np.ones((3, 1, 3)), np.ones((1, 1, 3)), (1,), "SAME", batch_group_count=2
            ),
            ShapeError,
        ),
        (
            lambda: lax.conv_general_dilated_local(
                np.ones((1, 1, 3)), np.ones((1, 2, 3)), (1,), "VALID", (2,)
            ),
            ShapeError,
        ),
        (lambda: lax.linalg.triangular_solve(X, X), ShapeError),
        (lambda: funcgrad.grad(lambda a: _bad_root(a))(1.0), ShapeError),
        (lambda: lax.custom_root(lambda x: x, {"a": "b"}, newton, newton), ArgumentError),
        (lambda: funcgrad.grad(lambda a: _bad_tree(a))(1.0), ArgumentError),
    ],
)
def test_errors(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def _bad_tree(a: Any) -> Any:
    return lax.custom_linear_solve(lambda x: x["u"] * a, {"u": X}, lambda f, b: b, symmetric=True)


def _bad_root(a: Any) -> Any:
    return lax.custom_root(lambda x: fnp.ones(3) * a, 1.0, newton, newton)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_products_with_reflections_are_those_with_their_matrix(left: bool, transpose: bool) -> None:
    rng = np.random.default_rng(0)
    for m, n in ((4, 3), (3, 3), (2, 4)):
        a = rng.normal(size=(2, m, n)) + 1j * rng.normal(size=(2, m, n))
        packed, taus = lax.linalg.geqrf(a)
        turned, scales = fnp.linalg.qr(a, "raw")
        assert np.array_equal(turned, np.linalg.qr(a, "raw")[0]) and np.array_equal(scales, taus)
        q = lax.linalg.ormqr(packed, taus, np.broadcast_to(np.eye(m) + 0j, (2, m, m)))
        np.testing.assert_allclose(q @ np.triu(packed), a, atol=1e-12)
        factor = np.conj(q.swapaxes(-1, -2)) if transpose else q
        c = rng.normal(size=(2, m, 5) if left else (2, 5, m)) + 0j
        found = lax.linalg.ormqr(packed, taus, c, left=left, transpose=transpose)
        np.testing.assert_allclose(found, factor @ c if left else c @ factor, atol=1e-12)


def _complex_matrices(*shape: int) -> Any:
    rng = np.random.default_rng(1)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


@pytest.mark.parametrize("lower", [True, False])
def test_eigenvalues_of_one_triangle(lower: bool) -> None:
    """The other one is not read."""
    a = _complex_matrices(2, 3, 3)
    a[:, range(3), range(3)] = a[:, range(3), range(3)].real
    vectors, values = lax.linalg.eigh(a, lower=lower, symmetrize_input=False)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a, "L" if lower else "U"), rtol=1e-12)
    half = np.tril(a) if lower else np.triu(a)
    whole = half + np.conj(np.swapaxes(half, -1, -2)) * (1 - np.eye(3))
    np.testing.assert_allclose(whole @ vectors, vectors * values[:, None], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("conjugate", [True, False])
def test_complex_triangles(left: bool, transpose: bool, conjugate: bool) -> None:
    a, b = _complex_matrices(2, 3, 3) + 3 * np.eye(3), _complex_matrices(2, 3, 3)
    how = {"left_side": left, "transpose_a": transpose, "conjugate_a": conjugate}
    x = lax.linalg.triangular_solve(a, b, lower=True, **how)
    t = np.conj(np.tril(a)) if conjugate else np.tril(a)
    t = np.swapaxes(t, -1, -2) if transpose else t
    np.testing.assert_allclose(t @ x if left else x @ t, b, rtol=1e-10)


def test_updates_of_a_singular_factor() -> None:
    r, v = np.triu(np.arange(1.0, 10.0).reshape(3, 3)), np.array([0.0, 1.0, -2.0])
    r[1] = 0.0
    for rows, w in ((r, v), (-r, v), (np.triu(np.ones((3, 3)), 1), 0 * v)):
        new = lax.linalg.cholesky_update(rows, w)
        np.testing.assert_allclose(new.T @ new, rows.T @ rows + np.outer(w, w), atol=1e-12)
        assert (np.diagonal(new) >= 0).all() and not np.tril(new, -1).any()
