"""Convolution and pooling against their definitions, element by element, and against PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples.conv import SAMPLES

import funcgrad
from funcgrad.errors import ShapeError
from funcgrad.ops import conv as family
from funcgrad.ops.conv import conv, conv_transpose
from funcgrad.ops.pool import avg_pool, max_pool, sum_windows

RNG = np.random.default_rng(0)
PLAIN: dict[str, Any] = {
    "strides": (1,),
    "padding": ((0, 0),),
    "lhs_dilation": (1,),
    "rhs_dilation": (1,),
    "groups": 1,
}


def spread_out(x: np.ndarray, lead: int, steps: tuple[int, ...]) -> np.ndarray:
    """With zeros between the elements along the axes from `lead` on."""
    shape = tuple((n - 1) * s + 1 for n, s in zip(x.shape[lead:], steps, strict=True))
    out = np.zeros((*x.shape[:lead], *shape), x.dtype)
    out[(..., *(slice(None, None, s) for s in steps))] = x
    return out


def padded(x: np.ndarray, lead: int, padding: Any) -> np.ndarray:
    """With zeros before and after, or cropped, along the axes from `lead` on."""
    for axis, (low, high) in enumerate(padding, lead):
        widths = [(0, 0)] * x.ndim
        widths[axis] = (max(low, 0), max(high, 0))
        x = np.pad(x, widths)
        x = x[(slice(None),) * axis + (slice(max(-low, 0), x.shape[axis] - max(-high, 0)),)]
    return x


def by_definition(x: Any, w: Any, strides: Any, padding: Any, groups: int, **dilations: Any) -> Any:
    x = padded(spread_out(x, 2, dilations["lhs_dilation"]), 2, padding)
    w = spread_out(w, 2, dilations["rhs_dilation"])
    counts = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], w.shape[2:], strides, strict=True)]
    per_group, c = len(w) // groups, w.shape[1]
    out = np.zeros((len(x), len(w), *counts), np.result_type(x, w))
    for place in itertools.product(*map(range, counts)):
        window = tuple(
            slice(p * s, p * s + k) for p, s, k in zip(place, strides, w.shape[2:], strict=True)
        )
        for o in range(len(w)):
            first = o // per_group * c
            seen = x[(slice(None), slice(first, first + c), *window)]
            out[(slice(None), o, *place)] = (seen * w[o]).sum(axis=tuple(range(1, x.ndim)))
    return out


@pytest.mark.parametrize("long_row", [1, 4, 64])
@given(sample=SAMPLES["conv"], buffer=st.sampled_from([1, 40, 1 << 20]))
def test_conv_is_its_definition(long_row: int, sample: Any, buffer: int) -> None:
    (x, w), params = sample
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(family._BUFFER, "numpy", buffer)
        patch.setattr(family, "_LONG_ROW", long_row)
        found = conv(x, w, **params)
    np.testing.assert_allclose(found, by_definition(x, w, **params), rtol=1e-12, atol=1e-12)


FORMS = ("_by_images", "_by_rows", "_by_places", "_scatter")


@pytest.mark.parametrize("buffer", [1, 1 << 20])
@pytest.mark.parametrize("long_row", [1, 1000])
def test_every_form_with_every_step(
    monkeypatch: pytest.MonkeyPatch, long_row: int, buffer: int
) -> None:
    """NOTE [Windows and rows]: which form is taken depends on sizes and steps."""
    used = set()
    for name in FORMS:
        form = getattr(family, name)
        monkeypatch.setattr(
            family, name, lambda *xs, name=name, form=form: used.add(name) or form(*xs)
        )
    monkeypatch.setattr(family, "_LONG_ROW", long_row)
    monkeypatch.setitem(family._BUFFER, "numpy", buffer)
    # Strides, dilations of x and of w, groups, kernels that are small and large, channels.
    for s, left, right, groups, kernel, (c, o) in itertools.product(
        (1, 2), (1, 2), (1, 2), (1, 2), ((3, 2), (5, 4)), ((2, 3), (3, 1))
    ):
        x, w = RNG.normal(size=(4, c * groups, 7, 6)), RNG.normal(size=(o * groups, c, *kernel))
        params: dict[str, Any] = {"strides": (s, 1), "padding": ((2, 3), (0, 1)), "groups": groups}
        params |= {"lhs_dilation": (left, 1), "rhs_dilation": (right, 1)}
        found = conv(x, w, **params)
        np.testing.assert_allclose(found, by_definition(x, w, **params), rtol=1e-12, atol=1e-12)
    assert used == set(FORMS) - ({"_by_rows"} if long_row > 1 else set())


@pytest.mark.parametrize("long_row", [1, 64])
def test_three_axes(monkeypatch: pytest.MonkeyPatch, long_row: int) -> None:
    monkeypatch.setattr(family, "_LONG_ROW", long_row)
    x, w = RNG.normal(size=(2, 4, 5, 4, 6)), RNG.normal(size=(6, 2, 2, 3, 2))
    params = {"strides": (1, 2, 1), "padding": ((1, 0), (2, 2), (0, 3)), "groups": 2}
    params |= {"lhs_dilation": (2, 1, 1), "rhs_dilation": (1, 1, 2)}
    found = conv(x, w, **params)
    np.testing.assert_allclose(found, by_definition(x, w, **params), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("channels", [(1, 5), (5, 1)])
def test_gradients_stay_convolutions(channels: tuple[int, int]) -> None:
    """Of every order, so that they run as fast as the convolution does."""
    x, w = RNG.normal(size=(2, channels[0], 6)), RNG.normal(size=(channels[1], channels[0], 3))
    params = PLAIN | {"strides": (2,), "padding": ((2, 1),)}

    def gradients(x: Any, w: Any) -> Any:
        y, pull = funcgrad.vjp(lambda x, w: conv(x, w, **params), x, w)
        return pull(y)

    def used(program: Any) -> list[str]:
        return [eqn.prim.name for eqn in program.eqns]

    names = used(funcgrad.make_jaxpr(gradients)(x, w))
    assert names.count("conv") == 3
    assert set(names) <= {"conv", "flip", "transpose", "reshape"}
    twice = used(funcgrad.make_jaxpr(lambda *xs: funcgrad.vjp(gradients, *xs)[1]((x, w)))(x, w))
    assert set(twice) <= {"conv", "flip", "transpose", "reshape", "add"}


def test_gradients_per_example() -> None:
    x, w = RNG.normal(size=(4, 2, 7)), RNG.normal(size=(3, 2, 3))

    def loss(w: Any, x: Any) -> Any:
        return (conv(x[None], w, **PLAIN) ** 2).sum()

    found = funcgrad.vmap(funcgrad.grad(loss), in_axes=(None, 0))(w, x)
    expected = [funcgrad.grad(loss)(w, example) for example in x]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("x", "w", "params", "words"),
    [
        ((1, 2, 5), (3, 1, 2), {}, "channels"),
        ((1, 2, 5), (3, 1, 2), {"groups": 2}, "channels"),
        ((1, 2, 5), (3, 2, 6), {}, "does not fit"),
        ((1, 2, 0), (3, 2, 1), {"padding": ((1, 1),)}, "does not fit"),
        ((1, 2, 5), (3, 2, 2, 2), {}, "spatial axes"),
        ((1, 2), (3, 2), {"padding": (), "strides": (), "lhs_dilation": ()}, "spatial axes"),
        ((1, 2, 5), (3, 2, 2), {"strides": (1, 1)}, "strides"),
    ],
)
def test_shape_errors(x: Any, w: Any, params: Any, words: str) -> None:
    for run in (lambda f, *xs: f(*xs), lambda f, *xs: funcgrad.make_jaxpr(f)(*xs)):
        with pytest.raises(ShapeError, match=words):
            run(lambda x, w: conv(x, w, **(PLAIN | params)), np.ones(x), np.ones(w))


def test_conv_transpose_is_the_adjoint() -> None:
    for stride, low, high, dilation, groups in itertools.product(
        (1, 2, 3), (0, 1), (0, 2), (1, 2), (1, 2)
    ):
        w = RNG.normal(size=(2 * groups, 3, 3))
        x = RNG.normal(size=(2, 3 * groups, 9))
        params = {"strides": (stride,), "padding": ((low, high),), "rhs_dilation": (dilation,)}
        y = conv(x, w, lhs_dilation=(1,), groups=groups, **params)
        ct = RNG.normal(size=y.shape)
        left = (9 + low + high - 2 * dilation - 1) % stride
        back = conv_transpose(ct, w, output_padding=(left,), groups=groups, **params)
        assert back.shape == x.shape
        np.testing.assert_allclose(np.sum(back * x), np.sum(ct * y), rtol=1e-10)


# ---------------------------------------------------------------- pooling


@given(sample=SAMPLES["max_pool"])
def test_pooling_is_its_definition(sample: Any) -> None:
    (x,), params = sample
    window, strides, padding = params.values()
    lead = x.ndim - len(window)
    for pool, of_window in (
        (max_pool, lambda part, inside: part[inside].max()),
        (sum_windows, lambda part, inside: part[inside].sum()),
        (avg_pool, lambda part, inside: part[inside].sum() / part.size),
        (
            lambda x, **params: avg_pool(x, **params, count_include_pad=False),
            lambda part, inside: part[inside].mean(),
        ),
    ):
        found = pool(x, **params)
        inside = padded(np.ones(x.shape), lead, padding) == 1
        whole = padded(x, lead, padding)
        for place in np.ndindex(found.shape):
            corner = zip(place[lead:], strides, window, strict=True)
            part = place[:lead] + tuple(slice(p * s, p * s + k) for p, s, k in corner)
            expected = of_window(np.asarray(whole[part]), np.asarray(inside[part]))
            np.testing.assert_allclose(found[place], expected, rtol=1e-12, atol=1e-12)


def test_the_first_of_equal_elements_takes_all() -> None:
    params = {"window": (2, 2), "strides": (2, 2), "padding": ((0, 0), (0, 0))}
    for dtype in (np.float32, np.float64):
        x = np.array([[1, 3, 2, 2], [3, 0, 2, 2]], dtype)
        found = funcgrad.grad(lambda x: max_pool(x, **params).sum())(x)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, [[0, 1, 1, 0], [0, 0, 0, 0]])


def test_infinite_cotangents_stay_where_they_belong() -> None:
    params = {"window": (2,), "strides": (1,), "padding": ((0, 0),)}
    _, pull = funcgrad.vjp(lambda x: max_pool(x, **params), np.array([1.0, 3.0, 2.0, 5.0]))
    np.testing.assert_array_equal(pull(np.array([1.0, 1.0, np.inf]))[0], [0, 2, 0, np.inf])
    np.testing.assert_array_equal(pull(np.array([np.nan, 1.0, 1.0]))[0], [0, np.nan, 0, 1])


def test_nan_is_the_maximum() -> None:
    params = {"window": (2,), "strides": (2,), "padding": ((0, 0),)}
    found = max_pool(np.array([np.nan, 1.0, 2.0, 3.0]), **params)
    np.testing.assert_array_equal(found, [np.nan, 3.0])


@pytest.mark.parametrize(
    ("shape", "params", "words"),
    [
        ((3,), {"window": (4,), "strides": (1,), "padding": ((0, 0),)}, "does not fit"),
        ((3,), {"window": (2,), "strides": (1,), "padding": ((2, 0),)}, "padding"),
        ((3,), {"window": (2, 2), "strides": (1, 1), "padding": ((0, 0),) * 2}, "one entry"),
        ((3,), {"window": (2,), "strides": (1, 1), "padding": ((0, 0),)}, "one entry"),
    ],
)
def test_pooling_errors(shape: Any, params: Any, words: str) -> None:
    for pool in (max_pool, sum_windows):
        for run in (lambda f, x: f(x), lambda f, x: funcgrad.make_jaxpr(f)(x)):
            with pytest.raises(ShapeError, match=words):
                run(lambda x, pool=pool: pool(x, **params), np.ones(shape))


# ---------------------------------------------------------------- PyTorch, where it is installed


def test_a_small_network_as_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    x, w, v = (RNG.normal(size=s) for s in ((3, 2, 9, 8), (4, 1, 3, 3), (4, 6, 2, 2)))
    both = {"strides": (2, 1), "padding": ((1, 1), (0, 0)), "rhs_dilation": (1, 2)}
    windows = {"window": (3, 2), "strides": (2, 2), "padding": ((1, 1), (0, 0))}

    def ours(x: Any, w: Any, v: Any) -> Any:
        y = max_pool(conv(x, w, lhs_dilation=(1, 1), groups=2, **both), **windows)
        y = avg_pool(y, window=(2, 1), strides=(1, 1), padding=((1, 0), (0, 0)))
        one = {"rhs_dilation": (1, 1), "groups": 1}
        y = conv_transpose(
            y, v, strides=(2, 3), padding=((1, 1), (0, 0)), output_padding=(1, 0), **one
        )
        return (y * y).sum()

    def theirs(x: Any, w: Any, v: Any) -> Any:
        y = functional.conv2d(x, w, stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2)
        y = functional.max_pool2d(y, (3, 2), (2, 2), (1, 0))
        y = functional.avg_pool2d(functional.pad(y, (0, 0, 1, 0)), (2, 1), (1, 1))
        y = functional.conv_transpose2d(y, v, stride=(2, 3), padding=(1, 0), output_padding=(1, 0))
        return (y * y).sum()

    leaves = [torch.tensor(a, requires_grad=True) for a in (x, w, v)]
    value = theirs(*leaves)
    value.backward()
    found, gradients = funcgrad.value_and_grad(ours, argnums=(0, 1, 2))(x, w, v)
    np.testing.assert_allclose(found, value.item(), rtol=1e-12)
    for g, leaf in zip(gradients, leaves, strict=True):
        np.testing.assert_allclose(g, leaf.grad.numpy(), rtol=1e-9, atol=1e-12)
