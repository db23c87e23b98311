"""Every function of `nn.functional`, and the modules that no other table has, against PyTorch's.

A call of the tables runs in float32 and float64: results and gradients have to agree to 1e-5 and
1e-10. `test_nn_offered.py` asserts that nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import test_embedding
import test_loss
import test_margins
import test_norm_layers
import test_padding
from harness import Call, Draw, F, I, arrays_of, call
from modules import TOLERANCE, check_module, compat, outputs, torch
from test_nn_simple import Case

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")


def f(name: str, *args: Any, **kwargs: Any) -> Call:
    return call(f"nn.functional.{name}", *args, **kwargs)


def With(values: Any) -> Draw:
    """These numbers."""
    return Draw(lambda _: np.array(values), False)


def U(*shape: int) -> Draw:
    """Numbers between 0 and 1 that need no gradient."""
    return F(*shape, low=0.0, high=0.999, grad=False)


# ---------------------------------------------------------------- functions

X = F(3, 4)
LINE, PLANE, BLOCK = F(2, 4, 9), F(2, 4, 7, 6), F(2, 4, 5, 6, 4)
SPACES = {1: LINE, 2: PLANE, 3: BLOCK}
ALONE = {1: F(4, 9), 2: F(4, 7, 6), 3: F(4, 5, 6, 4)}

ACTIVATIONS = [
    *(f(name, x) for x in (X, F(2, 1, 3)) for name in (
        "celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
        "logsigmoid",
        "mish", "relu6", "selu", "sigmoid", "silu", "softplus", "softshrink", "softsign", "tanh",
        "tanhshrink",
    )),
    f("celu", X, 0.3),
    f("elu", X, alpha=1.7),
    f("gelu", X, approximate="tanh"),
    f("hardshrink", X, 0.2),
    f("hardtanh", X, -0.5, 0.2),
    f("leaky_relu", X, 0.3),
    f("softplus", X, 2.0, 1.0),
    f("softshrink", X, 0.1),
    *(f("glu", F(4, 6), d) for d in (0, -1)),
    *(f("softmin", X, d) for d in (0, 1)),
    f("softmin", I(2, 3), 1, dtype="torch.float64"),
    f("prelu", X, F(4)),
    f("prelu", F(2, 3, 4), F(1)),
    f("rrelu", X),
    f("rrelu", X, 0.1, 0.7, False),
    f("threshold", X, 0.3, 7.0),
    f("threshold", X, threshold=-0.5, value=0.0),
    *(f(name, x, *args) for x in (X, F(2, 1, 5)) for name, *args in (
        ("relu",), ("relu_",), ("celu_", 0.5), ("elu_", 1.5), ("selu_",), ("hardtanh_", -0.3, 1.1),
        ("leaky_relu_", 0.2), ("rrelu_", 0.1, 0.5), ("threshold_", 0.1, 2.0),
    )),
    f("log_softmax", F(2, 3, 4), 0),
    f("log_softmax", I(2, 3), 1, dtype="torch.float64"),
]  # fmt: skip

# What is random in training is compared where it is not.
DROPOUTS = [
    *(f(name, F(2, 3, 4), p, training) for p, training in ((0.0, True), (0.4, False), (1.0, True))
      for name in ("alpha_dropout", "dropout", "dropout1d", "feature_alpha_dropout")),
    *(f("dropout2d", F(2, 3, 4, 2), p, t) for p, t in ((0.0, True), (0.3, False), (1.0, True))),
    *(f("dropout3d", F(2, 3, 2, 1, 2), p, t) for p, t in ((0.0, True), (0.3, False), (1.0, True))),
]  # fmt: skip

CONVOLUTIONS = [
    *(f(f"conv{n}d", x, F(6, 4, *(3, 2, 1)[:n]), F(6)) for n, x in SPACES.items()),
    *(f(f"conv{n}d", x, F(6, 2, *(2,) * n), F(6), 2, 1, 2, 2) for n, x in SPACES.items()),
    *(f(f"conv{n}d", x, F(4, 1, *(3,) * n), padding="same", groups=4) for n, x in ALONE.items()),
    *(f(f"conv_transpose{n}d", x, F(4, 3, *(3, 2, 1)[:n]), F(3)) for n, x in SPACES.items()),
    *(f(f"conv_transpose{n}d", x, F(4, 3, *(2,) * n), F(6), 3, 1, 2, 2, 2)
      for n, x in SPACES.items()),
    *(f(f"conv_transpose{n}d", x, F(4, 1, *(2,) * n), stride=2, groups=4) for n, x in ALONE.items()),
    f("conv_tbc", F(5, 2, 3), F(2, 3, 4), F(4)),
    f("conv_tbc", F(5, 2, 3), F(3, 3, 1), F(1), 2),
    *(f("unfold", x, k, d, p, s) for x in (PLANE, F(4, 7, 6))
      for k, d, p, s in ((2, 1, 0, 1), ((3, 2), 1, 1, (2, 1)), (2, (2, 3), (1, 0), 2))),
    f("fold", F(2, 8, 12), (4, 5), 2),
    f("fold", F(12, 10), (5, 6), (2, 3), 2, 1, (1, 2)),
    f("fold", F(1, 4, 4), 4, 2, stride=2),
]  # fmt: skip

WINDOWS = [
    *(f(f"avg_pool{n}d", x, 2) for n, x in SPACES.items()),
    *(f(f"avg_pool{n}d", x, 3, 2, 1, True, include) for n, x in ALONE.items()
      for include in (True, False)),
    *(f(f"avg_pool{n}d", SPACES[n], 2, divisor_override=3) for n in (2, 3)),
    *(f(f"lp_pool{n}d", x, p, 2, **options) for n, x in SPACES.items()
      for p, options in ((2.0, {}), (3, {"stride": 1}), (1, {"ceil_mode": True}))),
    *(f(f"max_pool{n}d{tail}", x, *window) for n, x in SPACES.items()
      for tail in ("", "_with_indices") for window in ((2,), (3, 2, 1), (2, 1, 1, 2, True))),
    *(f(f"max_pool{n}d", x, 2, return_indices=True) for n, x in ALONE.items()),
    *(f(f"adaptive_{kind}{n}d{tail}", x, size) for n, x in SPACES.items() for size in (1, 3)
      for kind, tail in (("avg_pool", ""), ("max_pool", ""), ("max_pool", "_with_indices"))),
    *(f(f"adaptive_{kind}_pool2d", F(4, 7, 6), (None, 4)) for kind in ("avg", "max")),
    *(f(f"fractional_max_pool{n}d{tail}", SPACES[n], k, size, None, True, U(2, 4, n))
      for n in (2, 3) for tail in ("", "_with_indices") for k, size in ((2, 2), (1, 3))),
    f("fractional_max_pool2d", F(4, 7, 6), (3, 1), (2, 6), None, True, U(1, 4, 2)),
    f("fractional_max_pool2d", PLANE, 2, None, (0.5, 0.7), True, U(2, 4, 2)),
    f("fractional_max_pool3d", F(4, 5, 6, 4), (1, 2, 3), (4, 1, 1), None, True, U(1, 4, 3)),
    f("fractional_max_pool3d", BLOCK, 1, None, 0.5, False, U(2, 4, 3)),
    f("max_unpool1d", F(1, 2, 3), With([[[0, 3, 5], [1, 2, 4]]]), 2),
    f("max_unpool1d", F(1, 3), With([[0, 3, 6]]), 2, output_size=[7]),
    *[
        f(f"adaptive_{kind}_pool{n}d", F(*empty, *(6,) * n), 2)
        for kind in ("avg", "max")
        for n in (1, 2, 3)
        for empty in ((0,), (0, 2))
    ],
    f("max_unpool1d", F(0, 2, 3), With(np.zeros((0, 2, 3), int)), 2),
    f("max_unpool2d", F(1, 2, 2), With([[[0, 6], [9, 15]]]), 2),
    f("max_unpool2d", F(1, 1, 2, 2), With([[[[0, 6], [9, 20]]]]), 2, output_size=(5, 5)),
    f("max_unpool3d", F(1, 1, 1, 2, 2), With([[[[[0, 7], [18, 31]]]]]), 2),
    f("max_unpool3d", F(1, 1, 2, 2), With([[[[0, 7], [13, 15]]]]), (1, 2, 2), (1, 2, 2),
      output_size=(1, 4, 4)),
]  # fmt: skip

IMAGES = [
    *(f("interpolate", x, **options) for x, options in [
        (LINE, {"size": 5}), (LINE, {"scale_factor": 1.7, "mode": "linear"}),
        (LINE, {"size": 12, "mode": "linear", "align_corners": True}),
        (PLANE, {"size": (3, 9), "mode": "bilinear"}), (PLANE, {"scale_factor": 2.0}),
        (PLANE, {"scale_factor": (0.6, 1.8), "mode": "bicubic"}),
        (PLANE, {"size": 4, "mode": "bilinear", "antialias": True}),
        (PLANE, {"size": (9, 4), "mode": "bilinear", "antialias": True, "align_corners": True}),
        (PLANE, {"scale_factor": (0.4, 1.7), "mode": "bicubic", "antialias": True}),
        (PLANE, {"size": (3, 4), "mode": "bicubic", "antialias": True, "align_corners": False}),
        (PLANE, {"size": (3, 2), "mode": "area"}), (PLANE, {"size": 9, "mode": "nearest-exact"}),
        (BLOCK, {"size": (4, 7, 3), "mode": "trilinear"}),
        (BLOCK, {"scale_factor": 1.5, "mode": "trilinear", "recompute_scale_factor": True}),
    ]),
    f("upsample", PLANE, 9),
    f("upsample", LINE, scale_factor=2, mode="linear", align_corners=True),
    f("upsample_bilinear", PLANE, (9, 3)),
    f("upsample_bilinear", PLANE, scale_factor=2),
    f("upsample_nearest", PLANE, 5),
    f("upsample_nearest", PLANE, scale_factor=3),
    *(f("affine_grid", F(2, n, n + 1), (2, 1, 3, 4, 2)[: n + 2], align_corners=a)
      for n in (2, 3) for a in (True, False)),
    *(f("grid_sample", F(2, 3, 4, 5), F(2, 2, 3, 2), mode, pad, align_corners=a)
      for mode in ("bilinear", "nearest", "bicubic") for a in (True, False)
      for pad in ("zeros", "border", "reflection")),
    *(f("grid_sample", F(2, 1, 3, 4, 3), F(2, 2, 1, 2, 3), mode, padding_mode=pad,
        align_corners=False) for mode in ("bilinear", "nearest") for pad in ("zeros", "border")),
    *(f("grid_sample", F(n, c, 3, 3), F(n, m, 2, 2), mode, align_corners=False)
      for n, c, m in ((0, 2, 2), (2, 0, 2), (2, 2, 0)) for mode in ("bilinear", "nearest")),
    f("grid_sample", F(2, 0, 2, 3, 3), F(2, 2, 1, 2, 3), align_corners=False),
    *(f(name, F(2, 8, 4, 6), 2) for name in ("pixel_shuffle", "pixel_unshuffle")),
    f("pixel_shuffle", F(18, 1, 2), 3),
    f("pixel_unshuffle", F(1, 6, 3), 3),
    *(f("channel_shuffle", F(2, 6, 3), groups) for groups in (2, 3)),
    *(f("native_channel_shuffle", U(2, 6, 3), groups) for groups in (2, 3)),
]  # fmt: skip

Q = F(2, 3, 4)
PACKED = {"embed_dim_to_check": 4, "num_heads": 2, "add_zero_attn": False, "dropout_p": 0.0}
OTHERS = [
    f("bilinear", F(5, 2), F(5, 3), F(4, 2, 3), F(4)),
    f("linear", F(3), F(2, 3)),
    f("linear", F(2, 4, 3), F(5, 3), F(5)),
    f("bilinear", F(2, 2, 2), F(2, 2, 3), F(1, 2, 3)),
    f("cosine_similarity", X, F(3, 4)),
    f("cosine_similarity", F(2, 3, 4), F(2, 1, 4), -1, 1e-3),
    f("pairwise_distance", X, F(3, 4)),
    f("pairwise_distance", X, F(1, 4), 1.0, 0.1, True),
    f("pairwise_distance", F(4), F(4), 3.0),
    *(f("pdist", F(4, 3), p) for p in (2.0, 1.0, 3.5, float("inf"))),
    f("one_hot", I(2, 3)),
    f("one_hot", I(3), 7),
    *(f("embedding_bag", I(2, 3), F(5, 3), mode=mode) for mode in ("sum", "mean", "max")),
    *(f("embedding_bag", I(6), F(5, 3), With([0, 2, 2]), mode=mode, padding_idx=1)
      for mode in ("sum", "mean")),
    f("embedding_bag", I(6), F(5, 3), With([0, 2, 6]), mode="sum", include_last_offset=True,
      per_sample_weights=None),
    f("scaled_dot_product_attention", Q, F(2, 5, 4), F(2, 5, 3)),
    f("scaled_dot_product_attention", Q, F(2, 5, 4), F(2, 5, 3), F(3, 5, grad=False), scale=0.3),
    f("scaled_dot_product_attention", Q, F(2, 3, 4), F(2, 3, 3), is_causal=True),
    f("scaled_dot_product_attention", F(1, 4, 3, 2), F(1, 2, 3, 2), F(1, 2, 3, 2),
      enable_gqa=True),
    *(f("multi_head_attention_forward", F(3, 2, 4), F(5, 2, 4), F(5, 2, 4), 4, 2, F(12, 4), bias,
        None, None, zero, 0.0, F(4, 4), F(4), **options)
      for bias, zero in ((F(12), False), (None, True))
      for options in ({}, {"need_weights": False}, {"average_attn_weights": False},
                      {"attn_mask": None, "training": False})),
    f("multi_head_attention_forward", F(3, 2, 4), F(5, 2, 4), F(5, 2, 4), 4, 1, F(12, 4), F(12),
      F(1, 1, 4), F(1, 1, 4), False, 0.0, F(4, 4), F(4)),
    *(f("ctc_loss", F(6, 2, 4), With([[1, 2, 1], [3, 3, 0]]), With([6, 5]), With([3, 2]),
        reduction=how) for how in ("mean", "sum", "none")),
    f("ctc_loss", F(6, 4), With([1, 2]), With(6), With(2), blank=3),
    f("ctc_loss", F(3, 2, 4), With([1, 2, 1, 1, 3]), With([3, 2]), With([3, 2]),
      zero_infinity=True),
    *(f("linear_cross_entropy", F(3, 4), F(5, 4), I(3), reduction=how)
      for how in ("mean", "sum", "none")),
    f("linear_cross_entropy", F(4), F(5, 4), I(), linear_bias=None, label_smoothing=0.2),
    f("linear_cross_entropy", F(2, 4), F(5, 3, 2, 4), I(2, 3, 2), ignore_index=1),
    f("linear_cross_entropy", F(3, 4), F(5, 4), F(3, 5, low=0.0, grad=False)),
]  # fmt: skip

TABLES: tuple[Any, ...] = (test_embedding, test_loss, test_margins, test_norm_layers, test_padding)
CALLS = [
    *ACTIVATIONS,
    *DROPOUTS,
    *CONVOLUTIONS,
    *WINDOWS,
    *IMAGES,
    *OTHERS,
    *(c for table in TABLES for c in table.CALLS if c.name.startswith("nn.functional.")),
]

# What happens to the first argument before the call. In-place forms must not write into leaves, and
# the loss for sequences takes log-probabilities.
BEFORE: dict[str, Callable[[Any, Any], Any]] = {
    "ctc_loss": lambda th, x: th.nn.functional.log_softmax(x, -1),
    **{name: lambda th, x: x * 1 for name in (
        "celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "rrelu_", "selu_", "threshold_"
    )},
}  # fmt: skip


def results(th: Any, c: Call, arrays: list[np.ndarray]) -> dict[str, np.ndarray]:
    """The results of a call, and the gradients of its arguments."""
    remaining, leaves = iter(arrays), []
    name = c.name.rpartition(".")[2]

    def made(x: Any) -> Any:
        if isinstance(x, str) and x.startswith("torch."):
            return getattr(th, x.removeprefix("torch."))
        if not isinstance(x, Draw):
            return x
        leaf = th.tensor(next(remaining)).requires_grad_(x.grad)
        leaves.append(leaf)
        return leaf

    args, kwargs = [made(x) for x in c.args], {k: made(v) for k, v in c.kwargs.items()}
    if name in BEFORE:
        args[0] = BEFORE[name](th, args[0])
    outs = outputs(getattr(th.nn.functional, name)(*args, **kwargs))
    found = {f"out{i}": x.detach().numpy() for i, x in enumerate(outs)}
    loss = sum((x.abs() * th.cos(x.abs())).sum() for x in outs if x.requires_grad)
    if getattr(loss, "requires_grad", False):
        loss.backward()
    for i, x in enumerate(leaves):
        g = th.zeros_like(x) if x.grad is None else x.grad
        found[f"grad{i}"] = g.resolve_conj().numpy()
    return found


def drawn(c: Call, dtype: str) -> list[np.ndarray]:
    """The drawn arguments, with the floats in `dtype`."""
    kinds = {"f": dtype, "c": "complex64" if dtype == "float32" else "complex128"}
    return [a.astype(kinds.get(a.dtype.kind, a.dtype)) for a in arrays_of(c, 0)]


# Where PyTorch's own derivative is less exact than its numbers, and why.
LOOSE = {
    "celu": 1e-6,  # 1 / alpha is rounded to float32
    "hardsigmoid": 1e-6,  # so is its slope, 1 / 6
}


def compare(found: Any, expected: Any, exact: Any, tolerance: float) -> None:
    """To the tolerance, or where a result is ill-conditioned to PyTorch's own error: from `exact`."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name].shape == value.shape and found[name].dtype == value.dtype, name
        if value.dtype.kind not in "fc":
            np.testing.assert_array_equal(found[name], value, err_msg=name)
            continue
        scale = max(1.0, float(np.max(np.abs(value), initial=0.0)))
        allowed = tolerance * (scale + np.abs(value)) + 3 * np.abs(value - exact[name])
        with np.errstate(invalid="ignore"):
            near = np.abs(found[name] - value) <= allowed
        same = (found[name] == value) | (np.isnan(found[name]) & np.isnan(value))
        assert np.all(near | same), f"{name}: {found[name]} for {value}"


@needs_torch
@pytest.mark.filterwarnings("ignore")  # both libraries warn of old names and of sizes
@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_functional(c: Call) -> None:
    for dtype, tolerance in TOLERANCE.items():
        arrays = drawn(c, dtype)
        doubled = [a.astype(WIDER.get(a.dtype.name, a.dtype)) for a in arrays]
        found, expected, exact = (
            results(th, c, a) for th, a in ((compat, arrays), (torch, arrays), (torch, doubled))
        )
        loose = LOOSE.get(c.name.rpartition(".")[2], 0.0)
        compare(found, expected, exact, max(tolerance, loose))


WIDER = {"float32": "float64", "complex64": "complex128"}


@pytest.mark.parametrize("hard", [False, True])
def test_gumbel_softmax(hard: bool) -> None:
    """The largest entry is drawn with the probabilities of the softmax; the soft one has the slope."""
    compat.manual_seed(3)
    logits = np.log([0.1, 0.2, 0.7])
    x = compat.tensor(np.tile(logits, (4000, 1)), requires_grad=True)
    y = compat.nn.functional.gumbel_softmax(x, tau=0.5, hard=hard)
    np.testing.assert_allclose(y.detach().numpy().sum(-1), 1.0, rtol=1e-12)
    assert (set(np.unique(y.detach().numpy())) <= {0.0, 1.0}) is hard
    share = np.bincount(y.detach().numpy().argmax(-1), minlength=3) / 4000
    np.testing.assert_allclose(share, [0.1, 0.2, 0.7], atol=0.03)
    (y[:, 2] ** 2).sum().backward()
    assert np.abs(x.grad.numpy()).max() > 0.01
    np.testing.assert_allclose(x.grad.numpy().sum(-1), 0.0, atol=1e-12)


# ---------------------------------------------------------------- modules


class Built(Case):
    """A module that `build(th)` makes, to test the class `name`."""

    def __init__(
        self, name: str, build: Callable[[Any], Any], inputs: Any, train: bool = True
    ) -> None:
        super().__init__(name, inputs=inputs, train=train)
        self.build = build

    def make(self, th: Any, dtype: str) -> Any:
        th.manual_seed(0)
        return self.build(th).to(getattr(th, dtype)).train(self.train)


class Called(Case):
    """A module that was called once: a lazy one knows its sizes then."""

    def make(self, th: Any, dtype: str) -> Any:
        module = super().make(th, dtype)
        module(*(th.tensor(a) for a in self.arrays(dtype)))
        return module


def with_forward(th: Any, forward: Callable[..., Any], **parts: Any) -> Any:
    """A module with these parts, whose `forward` is a function of it and its inputs."""
    net = type("Net", (th.nn.Module,), {"forward": forward})()
    for name, part in parts.items():
        setattr(net, name, part)
    return net


def layers(th: Any) -> list[Any]:
    return [th.nn.Linear(3, 4), th.nn.Tanh(), th.nn.Linear(4, 3)]


def in_turn(modules: Any, x: Any) -> Any:
    for module in modules:
        x = module(x)
    return x


def vectors(th: Any) -> dict[str, Any]:
    parameter = th.nn.Parameter
    return {"a": parameter(th.ones(3)), "b": parameter(th.full((3,), 2.0))}


def of_sequences(th: Any, name: str, *inputs: Any) -> Any:
    layer = getattr(th.nn, f"{name}Layer")(4, 2, 6, dropout=0.0)
    return getattr(th.nn, name)(layer, 2)


BUILDS: dict[str, Callable[[Any], Any]] = {
    "Sequential": lambda th: th.nn.Sequential(*layers(th)),
    "ModuleList": lambda th: with_forward(
        th, lambda self, x: in_turn(self.parts, x), parts=th.nn.ModuleList(layers(th))
    ),
    "ModuleDict": lambda th: with_forward(
        th,
        lambda self, x: in_turn(self.parts.values(), x),
        parts=th.nn.ModuleDict(dict(zip("abc", layers(th), strict=True))),
    ),
    "ParameterList": lambda th: with_forward(
        th,
        lambda self, x: x * self.parts[0] + self.parts[1],
        parts=th.nn.ParameterList(vectors(th).values()),
    ),
    "ParameterDict": lambda th: with_forward(
        th,
        lambda self, x: x * self.parts["a"] + self.parts.b,
        parts=th.nn.ParameterDict(vectors(th)),
    ),
    "Container": lambda th: with_forward(
        th,
        lambda self, x: self.parts.second(self.parts.first(x)),
        parts=th.nn.Container(first=th.nn.Linear(3, 4), second=th.nn.Tanh()),
    ),
    "DataParallel": lambda th: th.nn.DataParallel(th.nn.Linear(3, 2)),
}
CONTAINERS = [
    *(Built(name, build, [shape]) for name, build in BUILDS.items() for shape in ((2, 3), (4, 1, 3))),
    *(Built(f"Transformer{part}", lambda th, part=part: of_sequences(th, f"Transformer{part}"),
            [(length, 2, 4)] * n) for part, n in (("Encoder", 1), ("Decoder", 2)) for length in (3, 1)),
    *(Built("CTCLoss", lambda th, o=options: with_forward(
        th, lambda self, x, *rest: self.loss(x.log_softmax(-1), *rest), loss=th.nn.CTCLoss(**o)
    ), inputs) for options, inputs in [
        ({}, [(6, 2, 4), np.array([[1, 2, 1], [3, 3, 0]]), np.array([6, 5]), np.array([3, 2])]),
        ({"blank": 3, "reduction": "none"}, [(6, 4), np.array([1, 2]), np.array(6), np.array(2)]),
        ({"reduction": "sum", "zero_infinity": True},
         [(3, 2, 4), np.array([1, 2, 1, 1, 3]), np.array([3, 2]), np.array([3, 2])]),
    ]),
]  # fmt: skip

LAZY = [
    Called("LazyLinear", 3, inputs=[(2, 4)]),
    Called("LazyLinear", 2, bias=False, inputs=[(2, 3, 5)]),
    *(Called(f"LazyConv{n}d", 4, 2, inputs=[s])
      for n, s in ((1, (2, 6)), (2, (1, 2, 4, 3)), (3, (2, 3, 4, 3)))),
    *(Called(f"LazyConv{n}d", 4, 3, 2, 1, 1, 2, False, "circular", inputs=[(2, 6, *(5, 4, 3)[:n])])
      for n in (1, 2, 3)),
    *(Called(f"LazyConvTranspose{n}d", 4, 2, inputs=[(2, 3, *(5, 4, 3)[:n])]) for n in (1, 2, 3)),
    *(Called(f"LazyConvTranspose{n}d", 4, 3, 2, 1, 1, 2, False, inputs=[(6, *(5, 4, 3)[:n])])
      for n in (1, 2, 3)),
    *(Called(f"Lazy{kind}Norm{n}d", inputs=[(2, 3, *(4, 3, 2)[:n])], train=train, **options)
      for kind in ("Batch", "Instance") for n in (1, 2, 3)
      for train, options in ((True, {}), (False, {"affine": False, "eps": 0.1}),
                             (True, {"track_running_stats": False, "bias": False}))),
]  # fmt: skip


def unit(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).random(shape)


POOLS = [
    *(Case(f"FractionalMaxPool{n}d", kernel, size, ratio, indices,
           _random_samples=unit(2, 4, n), inputs=[(2, 4, *(7, 6, 5)[:n])])
      for n in (2, 3) for kernel, size, ratio, indices in
      ((2, 3, None, False), ((1, 2, 2)[:n], None, 0.4, True), (1, (3, 2, 1)[:n], None, False))),
    *(Case(f"FractionalMaxPool{n}d", 2, 2, _random_samples=unit(1, 4, n),
           inputs=[(4, *(7, 6, 5)[:n])]) for n in (2, 3)),
    Case("MaxUnpool1d", 2, inputs=[(1, 2, 3), np.array([[[0, 3, 5], [1, 2, 4]]])]),
    Case("MaxUnpool1d", 3, 2, 1, inputs=[(1, 3), np.array([[0, 2, 4]])]),
    Case("MaxUnpool2d", 2, inputs=[(1, 2, 2), np.array([[[0, 6], [9, 15]]])]),
    Case("MaxUnpool2d", (2, 1), inputs=[(1, 1, 2, 2), np.array([[[[0, 3], [4, 7]]]])]),
    Case("MaxUnpool3d", 2, inputs=[(1, 1, 1, 2, 2), np.array([[[[[0, 7], [18, 31]]]]])]),
    Case("MaxUnpool3d", (1, 2, 2), inputs=[(1, 1, 2, 2), np.array([[[[0, 7], [13, 15]]]])]),
]  # fmt: skip

LOSSES = [
    Case("LinearCrossEntropyLoss", 4, 5, inputs=[(3, 4), np.array([4, 0, 2])]),
    Case("LinearCrossEntropyLoss", 4, 5, bias=True, weight=unit(5), inputs=[(4,), np.array(3)]),
    Case("LinearCrossEntropyLoss", 4, 3, out_features=(2,), ignore_index=1, bias=True,
         inputs=[(2, 4), np.array([[0, 1], [2, 2]])]),
    Case("LinearCrossEntropyLoss", 4, 5, reduction="sum", label_smoothing=0.2,
         inputs=[(3, 4), unit(3, 5)]),
]  # fmt: skip

SPACE = (2, 3, 2, 2, 2)
RANDOM = [
    *(Case(name, p, inputs=[SPACE[:n]], train=train)
      for name, n in (("AlphaDropout", 3), ("Dropout", 2), ("Dropout1d", 3), ("Dropout2d", 4),
                      ("Dropout3d", 5), ("FeatureAlphaDropout", 3))
      for p, train in ((0.0, True), (0.4, False), (1.0, True))),
    # PyTorch's runs in training on a GPU only
    Case("SyncBatchNorm", 3, inputs=[SPACE], train=False),
    Case("SyncBatchNorm", 3, affine=False, eps=0.1, inputs=[SPACE[:2]], train=False),
]  # fmt: skip

SIMPLE = [
    Case("Identity", inputs=[(2, 1, 3)]),
    *(Case(f"ConstantPad{n}d", (2, 1, 0, 3, 1, -1)[: 2 * n], -0.5, inputs=[SPACE[: n + 1]])
      for n in (1, 2, 3)),
    Case("UpsamplingNearest2d", scale_factor=1.5, inputs=[(1, 2, 4, 3)]),
    Case("UpsamplingBilinear2d", (2, 7), inputs=[(1, 2, 4, 3)]),
    Case("PixelShuffle", 3, inputs=[(18, 1, 2)]),
    Case("PixelUnshuffle", 3, inputs=[(1, 6, 3)]),
    Case("ChannelShuffle", 3, inputs=[(2, 6, 3)]),
]  # fmt: skip

CASES = [*CONTAINERS, *LAZY, *POOLS, *LOSSES, *RANDOM, *SIMPLE]


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_module(case: Case) -> None:
    check_module(case)
