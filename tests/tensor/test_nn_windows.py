"""Convolution, pooling, padding and resampling against PyTorch's, as modules and as functions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from modules import Case, check_module, check_signature, outputs, torch

import compat

pytestmark = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

# ---------------------------------------------------------------- modules

IMAGES, LINES, BLOCKS = (2, 4, 6, 5), (2, 4, 7), (2, 4, 4, 5, 3)
SHAPES = {1: LINES, 2: IMAGES, 3: BLOCKS}

CASES = [
    *(Case(f"Conv{n}d", 4, 6, 3, inputs=[SHAPES[n]]) for n in SHAPES),
    *(Case(f"Conv{n}d", 4, 6, 2, 2, 1, 2, 2, inputs=[SHAPES[n]]) for n in SHAPES),
    *(
        Case(f"Conv{n}d", 4, 2, 3, padding=1, padding_mode=mode, bias=False, inputs=[SHAPES[n][1:]])
        for n in SHAPES
        for mode in ("reflect", "replicate", "circular")
    ),
    Case("Conv2d", 4, 4, (5, 3), padding="same", dilation=(1, 2), groups=4, inputs=[IMAGES]),
    Case("Conv2d", 4, 4, 2, padding="same", padding_mode="circular", inputs=[IMAGES]),
    Case("Conv2d", 4, 4, 3, 1, "same", 2, padding_mode="circular", inputs=[IMAGES]),
    Case("Conv1d", 4, 4, 3, padding="valid", inputs=[LINES]),
    *(Case(f"ConvTranspose{n}d", 4, 6, 3, 2, 1, 1, inputs=[SHAPES[n]]) for n in SHAPES),
    *(
        Case(f"ConvTranspose{n}d", 4, 6, 2, groups=2, dilation=2, inputs=[SHAPES[n][1:]])
        for n in SHAPES
    ),
    *(Case(f"MaxPool{n}d", 2, ceil_mode=True, inputs=[SHAPES[n]]) for n in SHAPES),
    *(
        Case(f"MaxPool{n}d", 2, 1, 1, 2, return_indices=True, inputs=[SHAPES[n][1:]])
        for n in SHAPES
    ),
    *(Case(f"AvgPool{n}d", 3, 2, 1, True, False, inputs=[SHAPES[n]]) for n in SHAPES),
    *(Case(f"AvgPool{n}d", 2, inputs=[SHAPES[n][1:]]) for n in SHAPES),
    Case("AvgPool2d", (2, 3), divisor_override=5, inputs=[IMAGES]),
    Case("AvgPool3d", (2, 3, 1), 2, divisor_override=-3, inputs=[BLOCKS]),
    *(Case(f"LPPool{n}d", 2, 2, ceil_mode=True, inputs=[SHAPES[n]]) for n in SHAPES),
    *(Case(f"LPPool{n}d", math.inf, 2, inputs=[SHAPES[n]]) for n in SHAPES),
    *(
        Case(f"Adaptive{kind}Pool{n}d", size, inputs=[shape])
        for kind in ("Avg", "Max")
        for n in SHAPES
        for size, shape in ((2, SHAPES[n]), (1, SHAPES[n][1:]))
    ),
    Case("AdaptiveAvgPool2d", (None, 7), inputs=[IMAGES]),
    Case("AdaptiveMaxPool2d", (3, None), return_indices=True, inputs=[IMAGES]),
    *(Case(f"ConstantPad{n}d", 1, 2.5, inputs=[SHAPES[n]]) for n in SHAPES),
    *(
        Case(f"{kind}Pad{n}d", padding, inputs=[SHAPES[n]])
        for kind in ("Zero", "Reflection", "Replication", "Circular")
        for n in SHAPES
        for padding in (1, (2, 1, 0, 2, 1, 1)[: 2 * n])
    ),
    Case("Upsample", 9, inputs=[LINES]),
    Case("Upsample", scale_factor=2, inputs=[IMAGES]),
    Case("Upsample", scale_factor=(1.6, 0.7), mode="nearest-exact", inputs=[IMAGES]),
    Case("Upsample", None, 1.7, "linear", inputs=[LINES]),
    Case("Upsample", (3, 11), mode="bilinear", inputs=[IMAGES]),
    Case("Upsample", (3, 11), mode="bilinear", align_corners=True, inputs=[IMAGES]),
    Case("Upsample", None, 2.3, "bicubic", recompute_scale_factor=True, inputs=[IMAGES]),
    Case("Upsample", None, 2.3, "bicubic", True, inputs=[IMAGES]),
    Case("Upsample", (5, 4, 6), mode="trilinear", inputs=[BLOCKS]),
    Case("Upsample", (3, 2), mode="area", inputs=[IMAGES]),
    Case("UpsamplingNearest2d", (7, 3), inputs=[IMAGES]),
    Case("UpsamplingBilinear2d", scale_factor=2, inputs=[IMAGES]),
    Case("PixelShuffle", 2, inputs=[IMAGES]),
    Case("PixelUnshuffle", 2, inputs=[(2, 3, 4, 6)]),
    Case("ChannelShuffle", 2, inputs=[IMAGES]),
    Case("Unfold", (2, 3), 1, (1, 0), 2, inputs=[IMAGES]),
    Case("Unfold", 2, dilation=2, inputs=[IMAGES[1:]]),
    Case("Fold", (4, 5), 2, inputs=[(2, 8, 12)]),
    Case("Fold", (5, 6), (2, 3), 2, 1, (1, 2), inputs=[(12, 10)]),
]  # fmt: skip


@pytest.mark.parametrize("name", sorted({case.name for case in CASES} | {"MaxUnpool2d"}))
def test_signature(name: str) -> None:
    check_signature(name)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_module(case: Case) -> None:
    check_module(case)


# ---------------------------------------------------------------- functions, at random


def outcome(th: Any, f: Callable[..., Any], arrays: list[np.ndarray]) -> Any:
    """Results and gradients by name, or the type of the error."""
    inputs = [th.tensor(a).requires_grad_(a.dtype.kind == "f") for a in arrays]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outs = outputs(f(th, *inputs))
    except Exception as error:
        return type(error)
    found = {f"out{i}": x.detach().numpy() for i, x in enumerate(outs)}
    loss = sum((x * th.cos(x)).sum() for x in outs if x.is_floating_point())
    if getattr(loss, "requires_grad", False):
        loss.backward()
    return found | {f"grad{i}": x.grad.numpy() for i, x in enumerate(inputs) if x.grad is not None}


def check(f: Callable[..., Any], *arrays: np.ndarray, tolerance: float = 1e-10) -> None:
    """The same results and gradients, or the same type of error."""
    ours, theirs = (outcome(th, f, list(arrays)) for th in (compat, torch))
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert isinstance(ours, dict) and ours.keys() == theirs.keys(), ours
    for name, value in theirs.items():
        assert ours[name].shape == value.shape and ours[name].dtype == value.dtype, name
        np.testing.assert_allclose(ours[name], value, tolerance, tolerance, err_msg=name)


def normal(draw: Any, *shape: int) -> np.ndarray:
    return np.random.default_rng(draw(st.integers(0, 99))).normal(size=shape)


@st.composite
def windows(draw: Any) -> dict[str, Any]:
    """Spatial axes and what slides over them; most fit, some do not."""
    n = draw(st.integers(1, 3))
    small = st.lists(st.integers(1, 3), min_size=n, max_size=n)
    spatial = draw(st.lists(st.integers(1, 6), min_size=n, max_size=n))
    found = {k: draw(small) for k in ("kernel", "stride", "dilation")}
    found["padding"] = [draw(st.integers(0, k // 2)) for k in found["kernel"]]
    lead = draw(st.sampled_from([(2,), (1,), (), (0,)]))
    return {"n": n, "lead": lead, "spatial": spatial, "ceil": draw(st.booleans()), **found}


@given(st.data(), windows(), st.sampled_from([1, 2, 3]), st.booleans(), st.booleans())
def test_conv(data: Any, w: dict[str, Any], groups: int, transposed: bool, same: bool) -> None:
    x = normal(data.draw, *w["lead"], 2 * groups, *w["spatial"])
    weight = normal(data.draw, 2 * groups, 2, *w["kernel"])
    bias = normal(data.draw, 2 * groups)
    stride, dilation = w["stride"], w["dilation"]
    padding = w["padding"]
    if same:  # rarely with strides, which do not go with it
        padding, stride = "same", data.draw(st.sampled_from([1, 1, 1, stride]))
    if transposed:
        stride = w["stride"]
        more = [data.draw(st.integers(0, s - 1)) for s in stride]
        # PyTorch checks no sizes of an empty batch.
        padding = 0 if w["lead"] == (0,) else w["padding"]
        options = (stride, padding, more, groups, dilation)
        check(
            lambda th, *a: getattr(th.nn.functional, f"conv_transpose{w['n']}d")(*a, *options),
            x,
            weight,
            bias,
        )
    else:
        rest = (stride, padding, dilation, groups)
        check(
            lambda th, *a: getattr(th.nn.functional, f"conv{w['n']}d")(*a, *rest), x, weight, bias
        )


@given(st.data(), windows(), st.sampled_from(["max", "avg", "lp"]), st.booleans())
def test_pool(data: Any, w: dict[str, Any], kind: str, flag: bool) -> None:
    x = np.abs(normal(data.draw, *w["lead"], 2, *w["spatial"]))
    name = f"{kind}_pool{w['n']}d"
    options: dict[str, Any] = {"stride": w["stride"], "ceil_mode": w["ceil"]}
    first: tuple[Any, ...] = (w["kernel"],)
    if kind == "max":
        # PyTorch crashes if a window of padding and dilation has no element at all.
        dilation = 1 if any(w["padding"]) else w["dilation"]
        options |= {"padding": w["padding"], "dilation": dilation, "return_indices": flag}
    elif kind == "avg":
        options |= {"padding": w["padding"], "count_include_pad": flag}
    else:
        first = (3.0 if flag else 2.5, w["kernel"] if w["n"] > 1 else w["kernel"][0])
    if kind != "max" and w["n"] == 3:  # of which PyTorch takes no window beyond the axis
        padding = w["padding"] if kind == "avg" else [0] * 3
        each = zip(w["kernel"], w["spatial"], padding, strict=True)
        assume(all(k <= m + 2 * p for k, m, p in each))
    check(lambda th, x: getattr(th.nn.functional, name)(x, *first, **options), x)


@given(
    st.data(), windows(), st.sampled_from(["max", "avg"]), st.lists(st.integers(1, 7), min_size=3)
)
def test_adaptive_pool(data: Any, w: dict[str, Any], kind: str, counts: list[int]) -> None:
    x = normal(data.draw, *w["lead"], 2, *w["spatial"])
    size = tuple(counts[: w["n"]])
    f = f"adaptive_{kind}_pool{w['n']}d"
    check(lambda th, x: getattr(th.nn.functional, f)(x, size), x)


@given(st.data(), windows())
def test_unpooling_puts_maxima_back(data: Any, w: dict[str, Any]) -> None:
    n, kernel, size = (
        w["n"],
        w["kernel"],
        [k * m for k, m in zip(w["kernel"], w["spatial"], strict=True)],
    )
    x = normal(data.draw, 2, *size)

    def there_and_back(th: Any, x: Any) -> Any:
        pool = getattr(th.nn, f"MaxPool{n}d")(kernel, return_indices=True)
        return getattr(th.nn, f"MaxUnpool{n}d")(kernel)(*pool(x), output_size=size)

    check(there_and_back, x)
    back = there_and_back(compat, compat.tensor(x)).numpy()
    assert np.count_nonzero(back) == math.prod(w["spatial"]) * 2
    np.testing.assert_array_equal(back[back != 0], x[back != 0])


MODES = {1: ["linear"], 2: ["bilinear", "bicubic"], 3: ["trilinear"]}


@given(st.data(), windows(), st.sampled_from([np.float32, np.float64]))
def test_interpolate(data: Any, w: dict[str, Any], dtype: Any) -> None:
    n = w["n"]
    mode = data.draw(st.sampled_from(["nearest", "nearest-exact", "area", *MODES[n]]))
    x = normal(data.draw, 2, 2, *w["spatial"]).astype(dtype)
    options: dict[str, Any] = {"mode": mode}
    if data.draw(st.booleans()):
        options["size"] = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    else:
        factor = st.floats(0.4, 3.0)
        options["scale_factor"] = data.draw(st.lists(factor, min_size=n, max_size=n))
        options["recompute_scale_factor"] = recompute = data.draw(st.booleans())
        pairs = zip(w["spatial"], options["scale_factor"], strict=True)
        sizes = [(m, int(m * f)) for m, f in pairs]
        if mode == "area":  # PyTorch has no gradient of no elements
            assume(all(size for _, size in sizes))
        elif mode.startswith("nearest") and not recompute:
            # PyTorch's backward takes the factor to be 1 or 2 if that gives the same length.
            assume(all(size not in (m, 2 * m) for m, size in sizes))
    if mode in MODES[n]:
        options["align_corners"] = data.draw(st.booleans())
    tolerance = 2e-5 if dtype == np.float32 else 1e-10
    check(lambda th, x: th.nn.functional.interpolate(x, **options), x, tolerance=tolerance)


@given(st.data(), windows())
def test_unfold_and_fold(data: Any, w: dict[str, Any]) -> None:
    two = {k: (w[k] * 2)[:2] for k in ("kernel", "dilation", "padding", "stride")}
    size = (w["spatial"] * 2)[:2]
    x = normal(data.draw, *w["lead"], 2, *size)
    check(lambda th, x: th.nn.functional.unfold(x, *two.values()), x)
    if isinstance(
        found := outcome(compat, lambda th, x: th.nn.functional.unfold(x, *two.values()), [x]), dict
    ):
        columns = normal(data.draw, *found["out0"].shape)
        check(lambda th, x: th.nn.functional.fold(x, size, *two.values()), columns)
        # fold is the adjoint of unfold.
        folded = compat.nn.functional.fold(compat.tensor(columns), size, *two.values()).numpy()
        np.testing.assert_allclose(np.sum(folded * x), np.sum(columns * found["out0"]), atol=1e-9)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@given(st.data(), st.sampled_from([2, 3]), st.booleans())
def test_grid_sample(mode: str, padding: str, data: Any, d: int, align_corners: bool) -> None:
    d = 2 if mode == "bicubic" else d
    spatial = data.draw(st.lists(st.integers(1, 4), min_size=2 * d, max_size=2 * d))
    x, grid = normal(data.draw, 2, 3, *spatial[:d]), 1.5 * normal(data.draw, 2, *spatial[d:], d)
    options = (mode, padding, align_corners)

    def sampled(th: Any, x: Any, places: Any) -> Any:
        if mode == "nearest":  # whose gradient by the places PyTorch fills with zeros
            places = places.detach()
        return th.nn.functional.grid_sample(x, places, *options)

    check(sampled, x, grid)
    theta, size = normal(data.draw, 2, d, d + 1), (2, 1, *spatial[:d])
    check(lambda th, x: th.nn.functional.affine_grid(x, size, align_corners), theta)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [2, 3, 7, 18, 28, 33, 100])
@pytest.mark.parametrize("align_corners", [True, False])
def test_an_affine_grid_is_pytorchs_to_the_last_bit(
    dtype: str, n: int, align_corners: bool
) -> None:
    """At the identity every place is on a kink of `grid_sample`."""
    found = [
        th.nn.functional.affine_grid(
            th.eye(2, 3, dtype=getattr(th, dtype))[None], (1, 1, n, n + 1), align_corners
        ).numpy()
        for th in (torch, compat)
    ]
    np.testing.assert_array_equal(*found)


# ---------------------------------------------------------------- places, errors, beginnings


@given(st.data(), windows())
def test_the_gradient_of_a_maximum_is_never_lost(data: Any, w: dict[str, Any]) -> None:
    """Whatever the numbers are, every window gives its cotangent to one element."""
    n = w["n"]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.choice([-np.inf, np.nan, 1.0], size=(2, *w["spatial"]), p=[0.7, 0.1, 0.2])
    options = {"stride": w["stride"], "padding": w["padding"], "ceil_mode": w["ceil"]}
    leaf = compat.tensor(x, requires_grad=True)
    try:
        y = getattr(compat.nn.functional, f"max_pool{n}d")(leaf, w["kernel"], **options)
    except RuntimeError:
        return
    y.backward(compat.ones_like(y))
    grad = leaf.grad.numpy()
    assert grad.sum() == y.numel()
    assert np.isnan(x[grad > 0]).any() == np.isnan(y.detach().numpy()).any()
    if not np.isnan(x).any():
        check(
            lambda th, x: getattr(th.nn.functional, f"max_pool{n}d")(x, w["kernel"], **options), x
        )


def ones(th: Any, *shape: int) -> Any:
    return th.ones(shape)


BAD: dict[str, Callable[..., Any]] = {
    "channels": lambda th, F: F.conv2d(ones(th, 1, 2, 4, 4), ones(th, 2, 3, 2, 2)),
    "axes": lambda th, F: F.conv2d(ones(th, 3, 4), ones(th, 2, 3, 2, 2)),
    "kernel too large": lambda th, F: F.conv2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 5, 5)),
    "axes of the weight": lambda th, F: F.conv2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 2)),
    "bias": lambda th, F: F.conv2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 2, 2), ones(th, 3)),
    "stride": lambda th, F: F.conv2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 2, 2), stride=0),
    "float stride": lambda th, F: F.conv2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 2, 2), stride=1.5),
    "padding": lambda th, F: F.conv2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 2, 2), padding=-1),
    "paddings": lambda th, F: F.conv2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 2, 2), padding=(1, 1, 1)),
    "dilation": lambda th, F: F.conv2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 2, 2), dilation=0),
    "groups": lambda th, F: F.conv2d(ones(th, 1, 4, 4, 4), ones(th, 3, 2, 2, 2), groups=2),
    "dtype": lambda th, F: F.conv2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 2, 2).double()),
    "word": lambda th, F: F.conv2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 2, 2), padding="full"),
    "no tensor": lambda th, F: F.conv2d(3, ones(th, 2, 3, 2, 2)),
    "no output channels": lambda th, F: F.conv1d(ones(th, 1, 3, 4), ones(th, 0, 3, 2)),
    "transposed channels": lambda th, F: F.conv_transpose2d(ones(th, 1, 3, 4, 4), ones(th, 2, 3, 2, 2)),
    "output padding": lambda th, F: F.conv_transpose1d(
        ones(th, 1, 3, 4), ones(th, 3, 2, 2), output_padding=1
    ),
    "nothing left": lambda th, F: F.conv_transpose1d(ones(th, 1, 3, 4), ones(th, 3, 2, 2), padding=4),
    "no groups": lambda th, F: th.nn.Conv2d(3, 4, 2, groups=0),
    "groups of channels": lambda th, F: th.nn.Conv2d(3, 4, 2, groups=2),
    "padding mode": lambda th, F: th.nn.Conv2d(3, 4, 2, padding_mode="zero"),
    "same with strides": lambda th, F: th.nn.Conv2d(3, 4, 2, 2, padding="same"),
    "word of a layer": lambda th, F: th.nn.Conv2d(3, 4, 2, padding="full"),
    "transposed padding mode": lambda th, F: th.nn.ConvTranspose1d(3, 4, 2, padding_mode="reflect"),
    "output size": lambda th, F: th.nn.ConvTranspose1d(3, 4, 2, 2)(ones(th, 1, 3, 4), output_size=[5]),
    "output sizes": lambda th, F: th.nn.ConvTranspose1d(3, 4, 2, 2)(
        ones(th, 1, 3, 4), output_size=[9, 9]
    ),
    "no window": lambda th, F: F.max_pool2d(ones(th, 1, 2, 6, 6), 0),
    "large padding": lambda th, F: F.max_pool2d(ones(th, 1, 2, 6, 6), 3, padding=2),
    "large window": lambda th, F: F.max_pool2d(ones(th, 1, 2, 6, 6), 9),
    "three windows": lambda th, F: F.max_pool2d(ones(th, 1, 2, 6, 6), (2, 2, 2)),
    "booleans": lambda th, F: F.max_pool2d(ones(th, 1, 2, 6, 6).bool(), 2),
    "float window": lambda th, F: F.max_pool2d(ones(th, 1, 2, 6, 6), 2.5),
    "no channels": lambda th, F: F.avg_pool2d(ones(th, 2, 0, 6, 6), 2),
    "divisor": lambda th, F: F.avg_pool2d(ones(th, 2, 2, 6, 6), 2, divisor_override=0),
    "order 0": lambda th, F: F.lp_pool1d(ones(th, 2, 6), 0.0, 2),
    "parts": lambda th, F: F.adaptive_avg_pool2d(ones(th, 1, 2, 6, 6), (2, 2, 2)),
    "as many axes as parts": lambda th, F: F.adaptive_avg_pool2d(ones(th, 2, 2), (2, 2)),
    "axes of several parts": lambda th, F: F.adaptive_max_pool3d(ones(th, 2, 2, 2), (None, 2, 2)),
    "parts of the last axis": lambda th, F: F.adaptive_avg_pool1d(ones(th, 2), (2,)),
    "negative parts": lambda th, F: F.adaptive_max_pool2d(ones(th, 1, 2, 6, 6), -1),
    "adaptive integers": lambda th, F: F.adaptive_avg_pool1d(ones(th, 2, 6).long(), 4),
    "index": lambda th, F: F.max_unpool1d(ones(th, 2, 3), ones(th, 2, 3).long() * 9, 2),
    "index dtype": lambda th, F: F.max_unpool1d(ones(th, 2, 3), ones(th, 2, 3).int(), 2),
    "unpooled size": lambda th, F: F.max_unpool1d(
        ones(th, 2, 3), ones(th, 2, 3).long(), 2, output_size=(9,)
    ),
    "no size": lambda th, F: F.interpolate(ones(th, 1, 2, 4)),
    "size and factor": lambda th, F: F.interpolate(ones(th, 1, 2, 4), 2, 2),
    "sizes": lambda th, F: F.interpolate(ones(th, 1, 2, 4), (2, 2)),
    "mode": lambda th, F: F.interpolate(ones(th, 1, 2, 4), 2, mode="cubic"),
    "mode of images": lambda th, F: F.interpolate(ones(th, 1, 2, 4), 2, mode="bilinear"),
    "corners": lambda th, F: F.interpolate(ones(th, 1, 2, 4), 2, align_corners=True),
    "size 0": lambda th, F: F.interpolate(ones(th, 1, 2, 4), 0),
    "blocks": lambda th, F: F.unfold(ones(th, 1, 2, 4, 4), 9),
    "columns": lambda th, F: F.fold(ones(th, 1, 8, 9), 5, 2),
    "grid": lambda th, F: F.grid_sample(ones(th, 1, 2, 4, 4), ones(th, 2, 3, 3, 2)),
    "mode of samples": lambda th, F: F.grid_sample(
        ones(th, 1, 2, 4, 4), ones(th, 1, 3, 3, 2), "cubic"
    ),
    "coordinates": lambda th, F: F.grid_sample(ones(th, 1, 2, 4, 4), ones(th, 1, 3, 3, 3)),
    "theta": lambda th, F: F.affine_grid(ones(th, 1, 3, 4), (1, 2, 4, 5)),
    "affine sizes": lambda th, F: F.affine_grid(ones(th, 1, 3, 4), (1, 2, 4)),
    "affine batch": lambda th, F: F.affine_grid(ones(th, 1, 2, 3), (2, 2, 4, 5)),
    "rows": lambda th, F: F.fold(ones(th, 1, 8, 9), 4, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_errors(name: str) -> None:
    def error(th: Any) -> type:
        with pytest.raises(Exception) as found:
            BAD[name](th, th.nn.functional)
        return found.type

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert error(compat) is error(torch)


@pytest.mark.parametrize("name", ["Conv1d", "Conv2d", "ConvTranspose2d"])
def test_parameters_start_uniform(name: str) -> None:
    """Between the bounds that PyTorch documents, and with the variance of uniform numbers."""
    compat.manual_seed(0)
    layer = getattr(compat.nn, name)(32, 64, 3)
    weight, bias = (p.detach().numpy() for p in layer.parameters())
    bound = 1 / math.sqrt(weight[0].size)
    for found in (weight, bias):
        assert np.abs(found).max() <= bound
    assert abs(weight.var() / (bound**2 / 3) - 1) < 0.05 and abs(weight.mean()) < 0.05 * bound
    assert np.abs(bias).max() > 0.8 * bound


def test_nodes_have_pytorchs_names() -> None:
    x = np.ones((1, 2, 4, 4))
    for f in (
        lambda th, x: th.nn.functional.conv2d(x, th.ones(2, 2, 2, 2, dtype=th.float64)),
        lambda th, x: th.nn.functional.conv2d(
            x, th.ones(2, 2, 2, 2, dtype=th.float64), th.ones(2).double()
        ),
        lambda th, x: th.nn.functional.max_pool2d(x, 2),
        lambda th, x: th.nn.functional.avg_pool2d(x, 2),
        lambda th, x: th.nn.functional.adaptive_avg_pool2d(x, 1),
        lambda th, x: th.nn.functional.adaptive_max_pool2d(x, 3),
        lambda th, x: th.nn.functional.interpolate(x, 3, mode="bilinear"),
        lambda th, x: th.nn.functional.interpolate(x, 8),
        lambda th, x: th.nn.functional.unfold(x, 2),
    ):
        ours, theirs = (f(th, th.tensor(x, requires_grad=True)) for th in (compat, torch))
        assert ours.grad_fn.name() == theirs.grad_fn.name()


TRANSFORMED: dict[str, Callable[..., Any]] = {
    "conv": lambda F, x, w: F.conv2d(x, w, padding=1, stride=2),
    "conv alone": lambda F, x, w: F.conv2d(x[0], w, dilation=2),
    "conv_transpose": lambda F, x, w: F.conv_transpose2d(x, w, stride=2, output_padding=1),
    "max_pool": lambda F, x, w: F.max_pool2d(x, 3, 2, 1),
    "indices": lambda F, x, w: F.max_pool2d(x, 2, return_indices=True)[0],
    "avg_pool": lambda F, x, w: F.avg_pool2d(x, 3, 2, 1, True, False),
    "lp_pool": lambda F, x, w: F.lp_pool2d(x.abs(), 3, 2),
    "adaptive_avg": lambda F, x, w: F.adaptive_avg_pool2d(x, 3),
    "adaptive_max": lambda F, x, w: F.adaptive_max_pool2d(x, 3),
    "unpool": lambda F, x, w: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2),
    "nearest": lambda F, x, w: F.interpolate(x, (8, 5)),
    "bilinear": lambda F, x, w: F.interpolate(x, (8, 5), mode="bilinear"),
    "unfold": lambda F, x, w: F.unfold(x, 3, padding=1),
    "fold": lambda F, x, w: F.fold(x.reshape(1, 8, 4), 3, 2),
    "grid_sample": lambda F, x, w: F.grid_sample(x, x.reshape(1, 4, 4, 2), align_corners=False),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transforms(name: str) -> None:
    """The gradient under `vmap`, and the gradient of the gradient."""
    rng = np.random.default_rng(0)
    xs = compat.tensor(rng.normal(size=(3, 1, 2, 4, 4)))
    w = compat.tensor(rng.normal(size=(2, 2, 2, 2)), requires_grad=True)

    def f(x: Any, w: Any) -> Any:
        return TRANSFORMED[name](compat.nn.functional, x, w)

    def loss(x: Any) -> Any:
        return (f(x, w.detach()) ** 2).sum()

    found = compat.func.vmap(compat.func.grad(loss))(xs).numpy()
    for x, g in zip(xs, found, strict=True):
        leaf = x.clone().requires_grad_()
        loss(leaf).backward()
        np.testing.assert_allclose(leaf.grad.numpy(), g, atol=1e-12)
    leaf = xs[0].clone().requires_grad_()
    assert compat.autograd.gradcheck(f, (leaf, w))
    assert compat.autograd.gradgradcheck(f, (leaf, w))
