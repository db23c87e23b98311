"""`funcgrad.nn`'s activations and softmaxes: JAX's numbers, and derivatives that agree in every way."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import nn
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.testing import check_all

CHECKS = ["differentiable", "types", "transpose", "numerical", "jit", "vmap", "second order"]

# ---------------------------------------------------------------- element by element

# The functions of one array, with values of their other parameters.
ELEMENTWISE: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ["relu", "relu6", "selu", "sigmoid", "log_sigmoid", "softplus", "soft_sign"], ()
    ),
    **dict.fromkeys(["silu", "gelu", "mish", "tanh", "identity", "log1mexp"], ()),
    **dict.fromkeys(
        ["hard_tanh", "hard_sigmoid", "hard_silu", "sparse_plus", "sparse_sigmoid"], ()
    ),
    "leaky_relu": (0.2,),
    "elu": (1.5,),
    "celu": (0.7,),
    "squareplus": (3.0,),
}
KINKS = np.array([-3.0, -1.0, 0.0, 1.0, 3.0, 6.0])
EXACT = {"gelu exact": lambda m, x: m.gelu(x, False)}  # with an option that is no number
FUNCTIONS: dict[str, Callable[..., Any]] = {
    n: lambda m, x, *p, n=n: getattr(m, n)(x, *p) for n in ELEMENTWISE
} | EXACT


def points(seed: int, dtype: Any) -> np.ndarray:
    """All kinks, and numbers on all scales around 0."""
    rng = np.random.default_rng(seed)
    scales = 10 ** rng.uniform(-3, 2, 18)
    return np.concatenate([KINKS, scales * rng.choice([-1, 1], 18)]).astype(dtype)


def domain(name: str, x: np.ndarray) -> np.ndarray:
    return np.abs(x) + np.asarray(1e-3, x.dtype) if name == "log1mexp" else x


@functools.cache
def by_jax(name: str) -> Callable[..., Any]:
    """Value, first and second derivative by JAX, and the derivatives by the parameters."""
    jax = pytest.importorskip("jax")

    def one(x: Any, *p: Any) -> Any:
        return FUNCTIONS[name](jax.nn, x, *p)

    first = jax.grad(one)

    def all_of(x: Any, *p: Any) -> Any:
        every = [one(x, *p), first(x, *p), jax.grad(first)(x, *p)]
        return (*every, *jax.grad(one, tuple(range(1, 1 + len(p))))(x, *p)) if p else every

    given = ELEMENTWISE.get(name, ())
    return jax.jit(jax.vmap(all_of, (0,) + (None,) * len(given)))


def by_us(name: str, x: np.ndarray, *p: Any) -> list[np.ndarray]:
    def one(x: Any, *p: Any) -> Any:
        return FUNCTIONS[name](nn, x, *p)

    first = funcgrad.vmap(funcgrad.grad(one), (0,) + (None,) * len(p))
    second = funcgrad.vmap(funcgrad.grad(funcgrad.grad(one)), (0,) + (None,) * len(p))
    found = [one(x, *p), first(x, *p), second(x, *p)]
    if p:
        more = funcgrad.grad(one, tuple(range(1, 1 + len(p))))
        found += funcgrad.vmap(more, (0,) + (None,) * len(p))(x, *p)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=3)
@given(seed=st.integers(0, 10**6))
def test_elementwise_as_in_jax(name: str, seed: int) -> None:
    """At the kinks the first derivatives, too."""
    jax = pytest.importorskip("jax")
    x = domain(name, points(seed, np.float64))
    p = tuple(map(np.asarray, ELEMENTWISE.get(name, ())))
    with jax.enable_x64(True):
        expected = [np.asarray(y) for y in by_jax(name)(x, *p)]
    smooth = ~np.isin(x, KINKS)
    for order, (a, b) in enumerate(zip(by_us(name, x, *p), expected, strict=True)):
        where = smooth if order == 2 else slice(None)
        # JAX's formulas cancel for large -x
        near = np.abs(a - b) <= 3e-15 * (1 + np.abs(x)) * (1 + np.abs(b)) * (1, 1, 20, 1)[order]
        assert near[where].all(), (order, x[where][~near[where]])


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=3)
@given(seed=st.integers(0, 10**6))
def test_single_precision(name: str, seed: int) -> None:
    """It is kept, and near to the same in double precision."""
    x = domain(name, points(seed, np.float32))
    p = [np.float32(v) for v in ELEMENTWISE.get(name, ())]
    wide = by_us(name, x.astype(float), *map(float, p))
    for order, (a, b) in enumerate(zip(by_us(name, x, *p), wide, strict=True)):
        assert a.dtype == np.float32
        near = np.abs(a - b) <= 1e-6 * (1 + np.abs(x)) * (1 + np.abs(b)) * (1, 1, 20, 1)[order]
        assert near.all(), (order, x[~near])


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=3)
@given(seed=st.integers(0, 10**6), shape=st.sampled_from([(), (3,), (2, 2)]))
def test_derivatives_of_elementwise(name: str, seed: int, shape: tuple[int, ...]) -> None:
    """Forward and reverse mode, differences, `jit`, `vmap` and the second order, off the kinks."""
    rng = np.random.default_rng(seed)
    x = rng.choice([-4, -2, -0.5, 0.5, 2, 4], shape) + rng.uniform(-0.3, 0.3, shape)
    p = [np.asarray(v) for v in ELEMENTWISE.get(name, ())]
    f = functools.partial(FUNCTIONS[name], nn)
    check_all(f, (domain(name, x), *p), only=CHECKS).raise_if_failed()


def test_parameters_may_be_arrays() -> None:
    slopes = np.array([[0.1], [0.5]])
    np.testing.assert_allclose(nn.leaky_relu([-2.0, 3.0], slopes), [[-0.2, 3.0], [-1.0, 3.0]])
    found = funcgrad.grad(lambda a: nn.celu(np.array([-1.0, 2.0]), a).sum())(np.array([1.0, 1.0]))
    np.testing.assert_allclose(found, [2 * np.exp(-1.0) - 1, 0.0])


ENDS: dict[str, tuple[float, float]] = {
    "relu": (0, np.inf),
    "relu6": (0, 6),
    "leaky_relu": (-np.inf, np.inf),
    "elu": (-1, np.inf),
    "celu": (-1, np.inf),
    "sigmoid": (0, 1),
    "log_sigmoid": (-np.inf, 0),
    "softplus": (0, np.inf),
    "tanh": (-1, 1),
    "hard_tanh": (-1, 1),
    "hard_sigmoid": (0, 1),
    "hard_silu": (0, np.inf),
    "sparse_plus": (0, np.inf),
    "sparse_sigmoid": (0, 1),
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_limits(name: str, dtype: Any) -> None:
    """At infinity and at NaN; at the largest numbers the derivative is finite."""
    f = getattr(nn, name)
    with np.errstate(all="ignore"):
        found = f(np.array([-np.inf, np.inf, np.nan], dtype))
    np.testing.assert_allclose(found, [*ENDS[name], np.nan], atol=1e-7)
    big = np.finfo(dtype).max
    with np.errstate(over="ignore"):
        slopes = funcgrad.grad(lambda x: f(x).sum())(np.array([-big, big], dtype))
    assert np.isfinite(slopes).all()
    assert slopes.dtype == dtype


def test_no_digits_are_lost() -> None:
    """Where formulas as they are written cancel."""
    x = np.array([-30.0, -1e8])
    np.testing.assert_allclose(nn.squareplus(x), 1 / np.abs(x), rtol=2e-3)
    np.testing.assert_allclose(nn.squareplus(x[1:]), 1e-8, rtol=1e-15)
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        u = mpmath.sqrt(2 / mpmath.pi) * (-6 + mpmath.mpf("0.044715") * -216)
        expected = float(-6 * (1 + mpmath.tanh(u)) / 2)
    np.testing.assert_allclose(nn.gelu(-6.0), expected, rtol=1e-14)
    np.testing.assert_allclose(
        nn.log1mexp(np.array([1e-10, 40.0])), [np.log(1e-10), -np.exp(-40.0)]
    )


# ---------------------------------------------------------------- along axes

ALONG: dict[str, Callable[..., Any]] = {
    "softmax": lambda m, x, mask, axis: m.softmax(x, axis, mask),
    "log_softmax": lambda m, x, mask, axis: m.log_softmax(x, axis, mask),
    "logsumexp": lambda m, x, mask, axis: m.logsumexp(x, axis, where=mask),
    "logmeanexp": lambda m, x, mask, axis: m.logmeanexp(x, axis, mask, True),
    "standardize": lambda m, x, mask, axis: m.standardize(x, axis, where=mask),
    "weighted": lambda m, x, mask, axis: m.logsumexp(x, axis, 1 + x * x, True, where=mask),
}


def of_finite(f: Callable[..., Any]) -> Callable[..., Any]:
    """A number that depends on all that is finite in the result."""

    def total(xp: Any, x: Any, *rest: Any) -> Any:
        y = f(x, *rest)
        return (xp.where(xp.isfinite(y), y, 0.0) ** 2).sum()

    return total


@functools.cache
def along_by_jax(name: str, axis: Any) -> Callable[..., Any]:
    jax = pytest.importorskip("jax")

    def f(x: Any, mask: Any) -> Any:
        return ALONG[name](jax.nn, x, mask, axis)

    slopes = jax.grad(functools.partial(of_finite(f), jax.numpy))
    second = jax.grad(lambda x, mask: (slopes(x, mask) * jax.numpy.cos(x)).sum())
    return jax.jit(lambda *xs: (f(*xs), slopes(*xs), second(*xs)))


@pytest.mark.parametrize("name", ALONG)
@settings(max_examples=4)
@given(seed=st.integers(0, 10**6), masked=st.booleans())
def test_along_axes_as_in_jax(name: str, seed: int, masked: bool) -> None:
    jax = pytest.importorskip("jax")
    axis = (0, 2) if name in ("softmax", "weighted", "logmeanexp") else -1
    rng = np.random.default_rng(seed)
    x = rng.normal(scale=3.0, size=(2, 3, 4))
    mask = (rng.random(x.shape) < 0.6) | (not masked)
    if name in ("standardize", "logmeanexp", "log_softmax"):
        mask[..., 0] = mask[0] = True  # JAX has NaN for nothing
    elif masked:
        mask[:, 1] = False
    f = functools.partial(ALONG[name], nn)
    where = mask if masked else None
    total = functools.partial(of_finite(lambda x: f(x, where, axis)), funcgrad.numpy)
    slopes = funcgrad.grad(total)
    second = funcgrad.grad(lambda x: (slopes(x) * np.cos(x)).sum())
    with jax.enable_x64(True):
        expected = along_by_jax(name, axis)(x, mask)
    found = f(x, where, axis), slopes(x), second(x)
    for order, (a, b) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10, err_msg=f"order {order}")


@pytest.mark.parametrize("name", ALONG)
@settings(max_examples=3)
@given(
    seed=st.integers(0, 10**6), axis=st.sampled_from([-1, 0, (0, 2), None]), masked=st.booleans()
)
def test_derivatives_along_axes(name: str, seed: int, axis: Any, masked: bool) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, 2, 3))
    mask = rng.random(x.shape) < 0.6
    mask[..., 0] = mask[0] = True
    f = lambda x: ALONG[name](nn, x, mask if masked else None, axis)  # noqa: E731
    kept = f(x) > -np.inf  # of which differences can be taken
    check_all(lambda x: np.where(kept, f(x), 0.0), (x,), only=CHECKS).raise_if_failed()


@pytest.mark.parametrize("f", [nn.softmax, nn.log_softmax, nn.logsumexp])
@pytest.mark.parametrize("x", [[1.0, 2.0], [np.nan, np.inf]])
def test_what_does_not_count_passes_nothing_on(f: Any, x: Any) -> None:
    """Neither its value nor where nothing counts at all."""
    nothing = np.zeros(2, bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = f(np.array(x), where=nothing)
        slopes = funcgrad.grad(lambda x: np.where(nothing, f(x, where=nothing), 0.0).sum())
        np.testing.assert_array_equal(found, 0.0 if f is nn.softmax else -np.inf)
        np.testing.assert_array_equal(slopes(np.array(x)), [0.0, 0.0])


def test_a_row_without_a_place_leaves_others_alone() -> None:
    x, mask = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[True, False], [False, False]])
    np.testing.assert_array_equal(nn.softmax(x, where=mask), [[1, 0], [0, 0]])
    assert np.isnan(nn.logmeanexp(x, -1, mask)).tolist() == [False, True]
    for f in (nn.softmax, nn.log_softmax):
        g = funcgrad.grad(lambda x, f=f: np.exp(f(x, where=mask)).sum())(x)
        np.testing.assert_array_equal(g, 0.0)


# ---------------------------------------------------------------- integers, halves


@given(
    x=st.lists(st.integers(-2, 5), min_size=4, max_size=4),
    classes=st.integers(0, 4),
    axis=st.sampled_from([-1, 0, 1, 2]),
)
def test_one_hot_is_its_definition(x: list[int], classes: int, axis: int) -> None:
    labels = np.array(x).reshape(2, 2)
    found = nn.one_hot(labels, classes, axis=axis, dtype=np.float32)
    expected = np.stack([labels == k for k in range(classes)] or [labels[:0]], -1)
    if classes:
        np.testing.assert_array_equal(np.moveaxis(found, axis, -1), expected)
    assert found.shape[axis] == classes
    assert found.dtype == np.float32


@given(seed=st.integers(0, 10**6), axis=st.sampled_from([0, 1, -1]))
def test_halves(seed: int, axis: int) -> None:
    x = np.random.default_rng(seed).normal(size=(2, 4, 6))
    a, b = np.split(x, 2, axis)
    np.testing.assert_allclose(nn.glu(x, axis), a / (1 + np.exp(-b)))
    check_all(lambda x: nn.glu(x, axis), (x,), only=CHECKS).raise_if_failed()


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_integers(name: str) -> None:
    """They count as float64; the result of `relu` and `identity` are integers."""
    x = np.array([1, 2, 5])
    found, expected = getattr(nn, name)(x), getattr(nn, name)(x.astype(float))
    np.testing.assert_allclose(found, expected)
    assert found.dtype == (int if name in ("relu", "identity") else float)
    assert getattr(nn, name)(np.zeros((0, 2), np.float32)).shape == (0, 2)


# ---------------------------------------------------------------- attention with JAX's arguments


@st.composite
def attentions(draw: Any) -> tuple[list[np.ndarray], dict[str, Any]]:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    heads, shared = draw(st.sampled_from([(2, 1), (2, 2)]))
    q, k, v = (rng.normal(size=(2, n, h, 2)) for n, h in ((3, heads), (4, shared), (4, shared)))
    options: dict[str, Any] = {}
    if draw(st.booleans()):
        options["bias"] = rng.normal(size=(1, heads, 3, 4))
    if draw(st.booleans()):
        options["mask"] = rng.random((2, 1, 3, 4)) < 0.7
        options["mask"][..., 0] = True
    if draw(st.booleans()):
        options |= {"is_causal": True, "scale": 0.3}
    if draw(st.booleans()):
        options["key_value_seq_lengths"] = np.array([1, 4], np.int32)
        options["query_seq_lengths"] = np.array([3, 2], np.int32)
    elif draw(st.booleans()):
        options["local_window_size"] = draw(st.sampled_from([3, (2, 1), (3, 0)]))
    return [q, k, v], options


@settings(max_examples=3)
@given(attentions())
def test_attention_as_in_jax(drawn: Any) -> None:
    jax = pytest.importorskip("jax")
    arrays, options = drawn
    with jax.enable_x64(True):
        theirs = lambda *xs: jax.nn.dot_product_attention(*xs, **options)  # noqa: E731
        expected = jax.jit(theirs)(*arrays)
        square = lambda *xs: (theirs(*xs) ** 2).sum() / 2  # noqa: E731
        slopes = jax.jit(jax.grad(square, (0, 1, 2)))(*arrays)
    found, pull = funcgrad.vjp(lambda *xs: nn.dot_product_attention(*xs, **options), *arrays)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)  # JAX's softmax is in float32
    for a, b in zip(pull(found), slopes, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@settings(max_examples=3)
@given(attentions())
def test_derivatives_of_attention(drawn: Any) -> None:
    arrays, options = drawn
    bias = options.pop("bias", np.zeros((1, 1, 3, 4)))
    f = lambda q, k, v, b: nn.dot_product_attention(q, k, v, b, **options)  # noqa: E731
    check_all(f, (*arrays, bias), only=CHECKS).raise_if_failed()


def test_a_query_that_sees_nothing_is_zero() -> None:
    q = np.ones((1, 2, 1, 1))
    f = lambda q: nn.dot_product_attention(q, q, q, mask=np.zeros((1, 1, 2, 2), bool))  # noqa: E731
    np.testing.assert_array_equal(f(q), 0.0)
    np.testing.assert_array_equal(funcgrad.grad(lambda q: f(q).sum())(q), 0.0)


# ---------------------------------------------------------------- arguments

Q = np.zeros((1, 2, 1, 1))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        *[
            (lambda n=n: getattr(nn, n)(1j), ArgumentError, f"nn.{n}: needs real")
            for n in ELEMENTWISE
            if n not in ("tanh", "identity", "soft_sign", "selu")
        ],
        (lambda: nn.relu("x"), ArgumentError, "expected an array"),
        (lambda: nn.glu(np.ones(3)), ShapeError, "length 3; need an even length"),
        (lambda: nn.glu(np.ones(4), 1), ShapeError, "axis 1 does not exist"),
        (lambda: nn.softmax(np.ones(4), (0, 0)), ShapeError, "given twice"),
        (lambda: nn.one_hot(1.5, 2), ArgumentError, "x has to be integers"),
        (lambda: nn.one_hot(1, -2), ArgumentError, "num_classes=-2; need 0 or more"),
        (lambda: nn.standardize(np.ones(2), algorithm="slow"), ArgumentError, "algorithm=slow"),
        (
            lambda: nn.dot_product_attention(Q, Q, Q, implementation="cudnn"),
            ArgumentError,
            "implementation=cudnn",
        ),
        (
            lambda: nn.dot_product_attention(Q, Q, Q, return_residual=True),
            ArgumentError,
            "return_residual=True; need False",
        ),
        (lambda: nn.dot_product_attention(Q, Q, Q[0]), ShapeError, "need 4 axes each"),
        (lambda: nn.dot_product_attention(Q, Q, Q, mask=Q), ArgumentError, "need booleans"),
        (
            lambda: nn.dot_product_attention(Q, Q, Q, query_seq_lengths=np.array([1, 2])),
            ShapeError,
            r"need shape \[1\]",
        ),
    ],
)
def test_errors(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert "test_nn_activations.py" in str(caught.value)


def test_gelu_of_numbers_whose_cube_overflows() -> None:
    x = np.array([1e30, -1e30], np.float32)
    np.testing.assert_array_equal(nn.gelu(x), [x[0], 0.0])
    np.testing.assert_array_equal(funcgrad.grad(lambda x: nn.gelu(x).sum())(x), [1.0, 0.0])
