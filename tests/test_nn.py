"""`funcgrad.nn`: algebra of convolutions, pooling by its definition, and PyTorch's numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad import nn
from funcgrad.errors import ArgumentError, ShapeError
from funcgrad.testing import check_all

CHECKS = ["differentiable", "types", "transpose", "numerical", "jit", "vmap", "own memory"]
Config = dict[str, Any]


def numbers(seed: int, *shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Numbers of which no two are equal."""
    rng = np.random.default_rng(seed)
    count = math.prod(shape)
    return ((rng.permutation(count).reshape(shape) + 0.5) / max(count, 1) * 4 - 2).astype(dtype)


def each(draw: Any, n: int, low: int, high: int) -> tuple[int, ...]:
    return draw(st.tuples(*[st.integers(low, high)] * n))


@st.composite
def convolutions(draw: Any, *, most: int = 3) -> tuple[list[np.ndarray], Config]:
    """An input, a weight and a bias, with options that fit them."""
    n, groups = draw(st.integers(1, most)), draw(st.integers(1, 2))
    stride, dilation = each(draw, n, 1, 3), each(draw, n, 1, 2)
    kernel, padding = each(draw, n, 1, 3), each(draw, n, 0, 2)
    spatial = tuple(
        max(draw(st.integers(1, 6)), d * (k - 1) + 1 - 2 * p)
        for k, d, p in zip(kernel, dilation, padding, strict=True)
    )
    channels, out = draw(st.integers(1, 2)), groups * draw(st.integers(1, 2))
    batch = draw(st.sampled_from([(), (1,), (2,)]))
    arrays = [
        numbers(0, *batch, channels * groups, *spatial),
        numbers(1, out, channels, *kernel),
        numbers(2, out),
    ]
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return arrays, options


@st.composite
def pools(draw: Any, *, dilated: bool = False) -> tuple[np.ndarray, tuple[int, ...], Config]:
    """An input, a window and options as PyTorch has them: padding of up to half a window."""
    n = draw(st.integers(1, 3))
    window, stride = each(draw, n, 1, 3), each(draw, n, 1, 3)
    padding = tuple(draw(st.integers(0, k // 2)) for k in window)
    dilation = each(draw, n, 1, 2) if dilated else (1,) * n
    spatial = tuple(
        max(draw(st.integers(1, 6)), d * (k - 1) + 1 - p)
        for k, d, p in zip(window, dilation, padding, strict=True)
    )
    options = {"stride": stride, "padding": padding, "ceil_mode": draw(st.booleans())}
    x = numbers(3, *draw(st.sampled_from([(1,), (2, 1), (2, 2)])), *spatial)
    return x, window, options | ({"dilation": dilation} if dilated else {})


# ---------------------------------------------------------------- convolution


@given(convolutions())
def test_conv_is_linear_in_both(drawn: Any) -> None:
    (x, w, b), options = drawn
    u, v = numbers(4, *x.shape), numbers(5, *w.shape)
    plain = nn.conv(x, w, **options)
    np.testing.assert_allclose(
        nn.conv(2 * x - 3 * u, w, **options), 2 * plain - 3 * nn.conv(u, w, **options), atol=1e-9
    )
    np.testing.assert_allclose(
        nn.conv(x, 2 * w - 3 * v, **options), 2 * plain - 3 * nn.conv(x, v, **options), atol=1e-9
    )
    shifts = np.broadcast_to(b.reshape(-1, *[1] * (w.ndim - 2)), plain.shape)
    np.testing.assert_allclose(nn.conv(x, w, b, **options) - plain, shifts, atol=1e-9)


def transposed(arrays: list[np.ndarray], options: Config) -> tuple[list[np.ndarray], Config]:
    """Arguments of `conv_transpose` which give what the shape of the input of `conv` is."""
    x, w, b = arrays
    n = w.ndim - 2
    steps = [options[k] for k in ("stride", "padding", "dilation")]
    left = tuple(
        (size + 2 * p - d * (k - 1) - 1) % s
        for size, k, s, p, d in zip(x.shape[-n:], w.shape[2:], *steps, strict=True)
    )
    y, b = nn.conv(x, w, **options), numbers(7, w.shape[1] * options["groups"])
    return [numbers(6, *y.shape), w, b], options | {"output_padding": left}


@given(convolutions())
def test_conv_transpose_is_the_adjoint(drawn: Any) -> None:
    """``<conv(x), y>`` is ``<x, conv_transpose(y)>``."""
    (x, w, b), options = drawn
    (ct, _, _), more = transposed([x, w, b], options)
    back = nn.conv_transpose(ct, w, **more)
    assert back.shape == x.shape
    np.testing.assert_allclose(np.sum(back * x), np.sum(ct * nn.conv(x, w, **options)), atol=1e-9)


@pytest.mark.parametrize("f", [nn.conv, nn.conv_transpose])
@given(drawn=convolutions(most=2))
def test_derivatives_of_convolutions(f: Any, drawn: Any) -> None:
    """Forward and reverse mode, differences, `jit` and `vmap`."""
    arrays, options = drawn if f is nn.conv else transposed(*drawn)
    check_all(lambda *xs: f(*xs, **options), arrays, only=CHECKS).raise_if_failed()


@given(convolutions(most=2))
def test_same_and_valid(drawn: Any) -> None:
    (x, w, _), options = drawn
    options |= {"stride": 1}
    n = w.ndim - 2
    assert nn.conv(x, w, **options | {"padding": "same"}).shape[-n:] == x.shape[-n:]
    wide = numbers(7, *x.shape[:-n], *(s + 4 for s in x.shape[-n:]))
    np.testing.assert_array_equal(
        nn.conv(wide, w, **options | {"padding": "valid"}),
        nn.conv(wide, w, **options | {"padding": 0}),
    )


def test_same_pads_more_at_the_end() -> None:
    found = nn.conv([[[1.0, 2.0, 3.0]]], [[[1.0, 10.0]]], padding="same")
    np.testing.assert_array_equal(found, [[[21.0, 32.0, 3.0]]])


# ---------------------------------------------------------------- pooling


def places(x: np.ndarray, window: Any, options: Config) -> list[list[list[int]]]:
    """The places of the elements of every window along every axis, also those in the padding."""
    n = len(window)
    dilation = options.get("dilation", (1,) * n)
    found = []
    for size, k, s, p, d in zip(
        x.shape[-n:], window, options["stride"], options["padding"], dilation, strict=True
    ):
        reach = d * (k - 1)
        starts = [
            i
            for i in range(-p, size + p, s)
            # It fits; or it begins before the end, and the one before it does not reach the end.
            if i + reach < size + p or (options["ceil_mode"] and i < size > i - s + reach + 1 - p)
        ]
        found.append([[i + d * j for j in range(k)] for i in starts])
    return found


def by_definition(x: np.ndarray, windows: Any, of: Callable[[list[float]], float]) -> np.ndarray:
    """`of` the list of the elements inside of every window."""
    n = len(windows)
    lead = x.shape[: x.ndim - n]
    out = np.empty((*lead, *map(len, windows)))
    for place in np.ndindex(out.shape):
        image = x[place[: len(lead)]]
        axes = [axis[i] for axis, i in zip(windows, place[len(lead) :], strict=True)]
        inside = [
            tap
            for tap in itertools.product(*axes)
            if all(0 <= i < m for i, m in zip(tap, image.shape, strict=True))
        ]
        out[place] = of([float(image[tap]) for tap in inside])
    return out


@given(pools(dilated=True))
def test_max_pool_is_its_definition(drawn: Any) -> None:
    x, window, options = drawn
    expected = by_definition(x, places(x, window, options), max)
    np.testing.assert_array_equal(nn.max_pool(x, window, **options), expected)
    found, indices = nn.max_pool_with_indices(x, window, **options)
    np.testing.assert_array_equal(found, expected)
    flat = x.reshape(*x.shape[: x.ndim - len(window)], -1)
    lead = flat.shape[:-1]
    np.testing.assert_array_equal(
        np.take_along_axis(flat, indices.reshape(*lead, -1), -1), found.reshape(*lead, -1)
    )


@given(pools())
def test_means_and_norms_are_their_definitions(drawn: Any) -> None:
    x, window, options = drawn
    windows = places(x, window, options)
    mean = nn.avg_pool(x, window, **options, count_include_pad=False)
    np.testing.assert_allclose(mean, by_definition(x, windows, np.mean), atol=1e-12)
    total = nn.avg_pool(x, window, **options, divisor_override=2)
    np.testing.assert_allclose(2 * total, by_definition(x, windows, sum), atol=1e-12)
    options |= {"padding": (0,) * len(window)}
    x = numbers(8, *x.shape[: -len(window)], *(n + 2 for n in x.shape[-len(window) :]))
    norm = nn.lp_pool(x, 2, window, stride=options["stride"], ceil_mode=options["ceil_mode"])
    of = lambda part: (np.mean(np.square(part)) * math.prod(window)) ** 0.5  # noqa: E731
    np.testing.assert_allclose(norm, by_definition(x, places(x, window, options), of), atol=1e-12)


@given(st.data())
def test_adaptive_pooling_is_its_definition(data: Any) -> None:
    n = data.draw(st.integers(1, 3))
    x = numbers(9, 2, *each(data.draw, n, 1, 6))
    counts = each(data.draw, n, 1, 7)
    parts = [
        [list(range(i * s // m, -(-(i + 1) * s // m))) for i in range(m)]
        for s, m in zip(x.shape[1:], counts, strict=True)
    ]
    mean = nn.adaptive_avg_pool(x, counts)
    np.testing.assert_allclose(mean, by_definition(x, parts, np.mean), atol=1e-12)
    largest, indices = nn.adaptive_max_pool(x, counts)
    np.testing.assert_array_equal(largest, by_definition(x, parts, max))
    found = np.take_along_axis(x.reshape(2, -1), indices.reshape(2, -1), 1)
    np.testing.assert_array_equal(found.reshape(largest.shape), largest)


POOLS: dict[str, Callable[..., Any]] = {
    "max": nn.max_pool,
    "with indices": lambda *xs, **options: nn.max_pool_with_indices(*xs, **options)[0],
    "mean": nn.avg_pool,
    "mean without padding": lambda *xs, **o: nn.avg_pool(*xs, **o, count_include_pad=False),
    "norm": lambda x, window, stride, ceil_mode, **_options: nn.lp_pool(
        x, 2, window, stride=stride, ceil_mode=ceil_mode
    ),
    "adaptive mean": lambda x, window, **_options: nn.adaptive_avg_pool(x, window),
    "adaptive max": lambda x, window, **_options: nn.adaptive_max_pool(x, window)[0],
}


@pytest.mark.parametrize("name", POOLS)
@given(drawn=pools())
def test_derivatives_of_pools(name: str, drawn: Any) -> None:
    x, window, options = drawn
    if name == "norm":
        x = numbers(8, *x.shape[: -len(window)], *(n + 2 for n in x.shape[-len(window) :]))
    f = lambda x: POOLS[name](x, window, **options)  # noqa: E731
    check_all(f, (x,), only=CHECKS).raise_if_failed()


@pytest.mark.parametrize("counts", [(0, 2), (2, 0)], ids=str)
def test_no_parts_at_all(counts: tuple[int, int]) -> None:
    x = np.ones((3, 4, 6))
    for f in (nn.adaptive_avg_pool, lambda *args: nn.adaptive_max_pool(*args)[0]):
        assert f(x, counts).shape == (3, *counts)
        assert not np.any(funcgrad.grad(lambda x, f=f: f(x, counts).sum())(x))


@pytest.mark.parametrize("name", ["max", "with indices", "adaptive max"])
def test_the_first_of_equal_elements_takes_all(name: str) -> None:
    x = np.array([[1.0, 3.0, 3.0, 1.0]])
    options = {"stride": (4,), "padding": (0,), "ceil_mode": False}
    if name == "adaptive max":
        found = funcgrad.grad(lambda x: POOLS[name](x, (1,)).sum())(x)
    else:
        found = funcgrad.grad(lambda x: POOLS[name](x, (4,), **options).sum())(x)
    np.testing.assert_array_equal(found, [[0, 1, 0, 0]])


def test_the_norm_of_zeros_has_no_slope() -> None:
    found = funcgrad.grad(lambda x: nn.lp_pool(x, 2, (2,)).sum())(np.array([0.0, 0.0, 3.0, 4.0]))
    np.testing.assert_allclose(found, [0, 0, 0.6, 0.8])


def test_what_is_infinite_stays_in_its_window() -> None:
    x = np.array([[1.0, np.inf, 2.0, 3.0, 4.0]])
    np.testing.assert_array_equal(nn.adaptive_avg_pool(x, (3,)), [[np.inf, np.inf, 3.5]])
    x = np.array([[-np.inf, -np.inf, 1.0]])
    _, indices = nn.max_pool_with_indices(x, (2,), stride=2, padding=1)
    np.testing.assert_array_equal(indices, [[0, 2]])


@given(drawn=pools(), dtype=st.sampled_from([np.float32, np.float16]))
def test_dtypes_are_kept(drawn: Any, dtype: Any) -> None:
    x, window, options = drawn
    x = x.astype(dtype)
    for pool in (POOLS[n] for n in POOLS if n != "norm"):
        assert pool(x, window, **options).dtype == dtype
    assert nn.lp_pool(x, 2, (1,)).dtype == dtype


# ---------------------------------------------------------------- arguments

X, W = np.ones((1, 2, 5)), np.ones((4, 2, 3))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: nn.conv(X, W, stride=(1, 1)), ArgumentError, "stride"),
        (lambda: nn.conv(X, W, stride=0), ArgumentError, "at least 1"),
        (lambda: nn.conv(X, W, stride=1.5), ArgumentError, "stride"),
        (lambda: nn.conv(X, W, padding=-1), ArgumentError, "padding"),
        (lambda: nn.conv(X, W, padding="full"), ArgumentError, "valid"),
        (lambda: nn.conv(X, W, padding="same", stride=2), ArgumentError, "stride of 1"),
        (lambda: nn.conv(X, W, groups=0), ArgumentError, "groups"),
        (lambda: nn.conv(X, W, groups=2), ShapeError, "groups=2"),
        (lambda: nn.conv(X, W, np.ones(3)), ShapeError, "bias"),
        (lambda: nn.conv(X, W[0]), ShapeError, "spatial"),
        (lambda: nn.conv(X[0, 0], W), ShapeError, "spatial"),
        (lambda: nn.conv(X, np.ones((4, 2, 6))), ShapeError, "does not fit"),
        (lambda: nn.conv_transpose(X, W), ShapeError, "weight.shape"),
        (lambda: nn.conv_transpose(X, W[:2], output_padding=1), ArgumentError, "output_padding"),
        (lambda: nn.max_pool(X, 2), ArgumentError, "ndim"),
        (lambda: nn.max_pool(X, (6,)), ShapeError, "has to fit"),
        (lambda: nn.max_pool(X, (2,), padding=2), ShapeError, "padding"),
        (lambda: nn.max_pool(X, 2, ndim=4), ShapeError, "4 axes"),
        (lambda: nn.max_pool([1.0], (2,), padding=2, dilation=3), ShapeError, "no element"),
        (lambda: nn.avg_pool(X, (2,), divisor_override=0), ArgumentError, "divisor"),
        (lambda: nn.lp_pool(X, 0, (2,)), ArgumentError, "p=0"),
        (lambda: nn.adaptive_avg_pool(X, 2), ArgumentError, "ndim"),
        (lambda: nn.adaptive_avg_pool(X, (-1,)), ArgumentError, "output_size"),
        (lambda: nn.adaptive_max_pool(X[:, :, :0], (1,)), ShapeError, "elements"),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


# ---------------------------------------------------------------- PyTorch, where it is installed


def in_torch(f: Callable[..., Any], *arrays: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """The result, and the gradients of the sum of its squares."""
    torch = pytest.importorskip("torch")
    leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
    y = f(torch.nn.functional, *leaves)
    return y.detach().numpy(), [g.numpy() for g in torch.autograd.grad((y * y).sum(), leaves)]


def assert_as_torch(ours: Callable[..., Any], theirs: Any, *arrays: np.ndarray) -> None:
    value, gradients = in_torch(theirs, *arrays)
    np.testing.assert_allclose(ours(*arrays), value, rtol=1e-9, atol=1e-12)
    loss = lambda *xs: (ours(*xs) ** 2).sum()  # noqa: E731
    found = funcgrad.grad(loss, argnums=tuple(range(len(arrays))))(*arrays)
    for g, expected in zip(found, gradients, strict=True):
        np.testing.assert_allclose(g, expected, rtol=1e-9, atol=1e-9)


@given(drawn=convolutions())
def test_convolutions_as_in_pytorch(drawn: Any) -> None:
    n = drawn[0][1].ndim - 2
    for name, (arrays, options) in {"conv": drawn, "conv_transpose": transposed(*drawn)}.items():
        f = getattr(nn, name)
        assert_as_torch(
            lambda *xs, f=f, o=options: f(*xs, **o),
            lambda f, *xs, name=f"{name}{n}d", o=options: getattr(f, name)(*xs, **o),
            *arrays,
        )


@given(pools(dilated=True))
def test_max_pool_as_in_pytorch(drawn: Any) -> None:
    torch = pytest.importorskip("torch")
    x, window, options = drawn
    n = len(window)
    x = x.reshape(-1, 1, *x.shape[-n:])
    in_torch_name = f"max_pool{n}d"
    for pool in (POOLS["max"], POOLS["with indices"]):
        assert_as_torch(
            lambda x, pool=pool: pool(x, window, **options),
            lambda f, x: getattr(f, in_torch_name)(x, window, **options),
            x,
        )
    pool = getattr(torch.nn.functional, in_torch_name)
    _, expected = pool(torch.tensor(x), window, **options, return_indices=True)
    _, found = nn.max_pool_with_indices(x, window, **options)
    np.testing.assert_array_equal(found, expected.numpy())


@given(drawn=pools(), counts=st.booleans(), divisor=st.sampled_from([None, 3]))
def test_means_as_in_pytorch(drawn: Any, counts: bool, divisor: int | None) -> None:
    x, window, options = drawn
    n = len(window)
    options |= {"count_include_pad": counts}
    if n > 1:
        options |= {"divisor_override": divisor}
    # In three dimensions PyTorch wants windows to fit without their padding.
    x = numbers(8, len(x), 1, *(m + 2 for m in x.shape[-n:]))
    assert_as_torch(
        lambda x: nn.avg_pool(x, window, **options),
        lambda f, x: getattr(f, f"avg_pool{n}d")(x, window, **options),
        x,
    )


@given(drawn=pools(), p=st.sampled_from([1, 2, 3, 2.5, math.inf]))
def test_norms_as_in_pytorch(drawn: Any, p: float) -> None:
    x, window, options = drawn
    n = len(window)
    x = np.abs(numbers(8, len(x), 1, *(m + 2 for m in x.shape[-n:]))) + 0.1
    del options["padding"]
    given: Any = window
    if n == 1:  # where PyTorch takes no tuples
        (given,), (options["stride"],) = window, options["stride"]
    assert_as_torch(
        lambda x: nn.lp_pool(x, p, window, **options, ndim=n),
        lambda f, x: getattr(f, f"lp_pool{n}d")(x, p, given, **options),
        x,
    )


@given(drawn=pools(), sizes=st.lists(st.one_of(st.none(), st.integers(1, 7)), min_size=3))
def test_adaptive_pooling_as_in_pytorch(drawn: Any, sizes: Any) -> None:
    torch = pytest.importorskip("torch")
    x, window, _ = drawn
    n = len(window)
    x, counts = x.reshape(-1, 1, *x.shape[-n:]), tuple(sizes[:n])
    if n == 1:
        counts = (counts[0] or 2,)
    for name in ("adaptive_avg_pool", "adaptive_max_pool"):
        first = (lambda y: y[0]) if name == "adaptive_max_pool" else (lambda y: y)
        assert_as_torch(
            lambda x, name=name, first=first: first(getattr(nn, name)(x, counts)),
            lambda f, x, name=name: getattr(f, f"{name}{n}d")(x, counts),
            x,
        )
    pool = getattr(torch.nn.functional, f"adaptive_max_pool{n}d")
    _, expected = pool(torch.tensor(x), counts, return_indices=True)
    np.testing.assert_array_equal(nn.adaptive_max_pool(x, counts)[1], expected.numpy())


@pytest.mark.parametrize("name", ["standardize", "layer", "rms", "group", "instance", "batch"])
def test_norms_of_numbers_whose_squares_overflow_are_nan(name: str) -> None:
    """Divided by infinity they were 0, and so was the gradient."""
    norms: dict[str, Callable[[Any], Any]] = {
        "standardize": nn.standardize,
        "layer": nn.layer_norm,
        "rms": nn.rms_norm,
        "group": lambda x: nn.group_norm(x, 2),
        "instance": nn.instance_norm,
        "batch": lambda x: nn.batch_norm(x, training=True)[0],
    }
    x = numbers(0, 2, 4, 6) * 1e200
    with np.errstate(over="ignore"):
        assert np.isnan(norms[name](x)).all()
        assert np.isnan(funcgrad.grad(lambda x: norms[name](x)[0, 0, 0])(x)[0, 0]).all()
        assert np.isfinite(norms[name](x * 1e-200)).all()
