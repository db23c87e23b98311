"""Attention and transformers against PyTorch's, and by what attention is."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import TOLERANCE, Case, check_module, check_signature, parameters_of, torch

import compat
import funcgrad
from funcgrad.nn import attention as functions
from funcgrad.testing import check_all

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
# PyTorch's, of a fast path that it does not take.
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")

CHECKS = ["differentiable", "types", "transpose", "numerical", "jit", "vmap", "own memory"]
LAYERS = ("TransformerEncoderLayer", "TransformerDecoderLayer")


def layer_cases() -> list[Case]:
    """Random configurations of the layers of a transformer."""
    rng = np.random.default_rng(3)
    found = []
    for kind, i in itertools.product((*LAYERS, "Transformer"), range(5)):
        width, length = int(rng.choice([4, 6])), int(rng.integers(1, 5))
        options: dict[str, Any] = {
            "dim_feedforward": int(rng.integers(1, 5)),
            "dropout": 0.0 if i % 2 else 0.5,
            "activation": "gelu" if rng.random() < 0.5 else "relu",
            "batch_first": bool(rng.random() < 0.5),
            "norm_first": bool(rng.random() < 0.5),
            "bias": bool(rng.random() < 0.7),
        }
        if kind == "Transformer":
            options |= {"num_encoder_layers": 1, "num_decoder_layers": 2}
        lead = (2, length) if options["batch_first"] else (length, 2)
        other = (2, length + 1) if options["batch_first"] else (length + 1, 2)
        inputs: list[Any] = [(*lead, width), (*other, width)][: 1 + (kind != LAYERS[0])]
        if i == 4:
            inputs = [(length, width)] * len(inputs)
        found.append(Case(kind, width, 2, inputs=inputs, train=bool(i % 2), **options))
    return found


CASES = [
    Case("MultiheadAttention", 4, 2, inputs=[(3, 2, 4)] * 3),
    Case("MultiheadAttention", 4, 1, bias=False, inputs=[(3, 2, 4), (5, 2, 4), (5, 2, 4)]),
    Case("MultiheadAttention", 6, 3, kdim=2, vdim=5, inputs=[(3, 2, 6), (4, 2, 2), (4, 2, 5)]),
    Case("MultiheadAttention", 4, 2, add_bias_kv=True, inputs=[(3, 4), (2, 4), (2, 4)]),
    Case("MultiheadAttention", 4, 2, add_zero_attn=True, batch_first=True, inputs=[(3, 2, 4)] * 3),
    Case(
        "MultiheadAttention",
        4,
        2,
        add_bias_kv=True,
        add_zero_attn=True,
        kdim=3,
        batch_first=True,
        inputs=[(2, 3, 4), (2, 5, 3), (2, 5, 4)],
    ),
    Case("MultiheadAttention", 4, 2, dropout=0.5, train=False, inputs=[(3, 2, 4)] * 3),
    *layer_cases(),
]


@needs_torch
def test_signatures() -> None:
    check_signature("MultiheadAttention")
    for name in (*LAYERS, "TransformerEncoder", "TransformerDecoder", "Transformer"):
        ours, theirs = (
            [p for p in parameters_of(getattr(th.nn, name).__init__) if p[0] != "activation"]
            for th in (compat, torch)
        )
        assert ours == theirs
    for name in (*LAYERS, "TransformerEncoder", "TransformerDecoder", "MultiheadAttention"):
        names = [
            [n for n, _ in parameters_of(getattr(th.nn, name).forward)] for th in (compat, torch)
        ]
        assert names[0] == names[1]


@needs_torch
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_module(case: Case) -> None:
    """Twice: the first call of a kind records every primitive, the second runs a program."""
    check_module(case)
    check_module(case)


# ---------------------------------------------------------------- the same code on both libraries


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def same(ours: list[Any], theirs: list[Any]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=TOLERANCE["float64"])


def pair(name: str, *args: Any, **options: Any) -> list[tuple[Any, Any]]:
    """Both libraries, each with the module, with the same parameters, in float64."""
    torch.manual_seed(0)
    theirs = getattr(torch.nn, name)(*args, **options).double()
    ours = getattr(compat.nn, name)(*args, **options).double()
    ours.load_state_dict({k: compat.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    return [(compat, ours), (torch, theirs)]


def results(th: Any, outs: list[Any], inputs: list[Any]) -> list[np.ndarray]:
    """Outputs, and gradients of the inputs."""
    sum((x * th.cos(x)).sum() for x in outs).backward()
    return [x.detach().numpy() for x in outs] + [x.grad.numpy() for x in inputs]


MASKS = {
    "bool": np.triu(np.ones((4, 5), dtype=bool), 2),
    "float": np.where(np.triu(np.ones((4, 5), dtype=bool), 2), -math.inf, 0.25),
    "each head": np.stack([np.triu(np.ones((4, 5), dtype=bool), i) for i in (1, 2, 3, 4)]),
}
PADDING = np.array([[False, False, True, False, True], [False, True, True, False, False]])


@needs_torch
@pytest.mark.parametrize("mask", [None, *MASKS])
@pytest.mark.parametrize("padding", [None, PADDING, np.where(PADDING, -math.inf, 0.5)], ids=str)
@pytest.mark.parametrize("weights", [None, True, False])
@pytest.mark.parametrize("options", [{}, {"add_bias_kv": True, "add_zero_attn": True}], ids=str)
@pytest.mark.filterwarnings("ignore:Support for mismatched")
def test_masks(mask: str | None, padding: Any, weights: Any, options: dict[str, Any]) -> None:
    """Every kind of mask, with the weights averaged, of each head, or not at all."""
    found = []
    for th, module in pair("MultiheadAttention", 4, 2, **options):
        q, kv = (th.tensor(numbers(n, 2, 4, seed=n)).requires_grad_() for n in (4, 5))
        y, shares = module(
            *(q, kv, kv),
            attn_mask=None if mask is None else th.tensor(MASKS[mask]),
            key_padding_mask=None if padding is None else th.tensor(padding),
            need_weights=weights is not None,
            average_attn_weights=bool(weights),
        )
        assert (shares is None) is (weights is None)
        found.append(results(th, [y] if shares is None else [y, shares], [q, kv]))
    same(*found)


@needs_torch
def test_nothing_to_look_at() -> None:
    """Where a query may look at no key it gets 0 without weights, and NaN with them."""
    hidden = np.ones((2, 3), dtype=bool)
    for need in (False, True):
        found = []
        for th, module in pair("MultiheadAttention", 4, 2):
            x, y = th.tensor(numbers(2, 1, 4)), th.tensor(numbers(3, 1, 4))
            out = module(x, y, y, attn_mask=th.tensor(hidden), need_weights=need)[0]
            found.append([out.detach().numpy()])
        same(*found)
        assert np.isnan(found[0][0]).all() == need


@st.composite
def dot_products(draw: Any) -> tuple[list[tuple[int, ...]], Any, dict[str, Any]]:
    """Shapes of query, key and value; the shape and kind of a mask; options."""
    length, count, width = (draw(st.integers(1, 4)) for _ in range(3))
    lead = draw(st.sampled_from([(), (2,), (2, 4), (1, 2, 4)]))
    few = lead
    options: dict[str, Any] = {}
    if len(lead) > 1 and draw(st.booleans()):
        few, options["enable_gqa"] = (*lead[:-1], draw(st.sampled_from([1, 2, 4]))), True
    if draw(st.booleans()):
        options["scale"] = draw(st.sampled_from([0.5, 2.0]))
    shapes = [(*lead, length, width), (*few, count, width), (*few, count, width)]
    mask = draw(st.sampled_from([None, "bool", "float"]))
    if mask is None and draw(st.booleans()):
        options["is_causal"] = True
    where = draw(st.sampled_from([(length, count), (1, count), (*lead, length, count)]))
    return shapes, None if mask is None else (mask, where), options


@needs_torch
@given(dot_products(), st.integers(0, 99))
def test_scaled_dot_product_attention(config: Any, seed: int) -> None:
    shapes, mask, options = config
    found = []
    for th in (compat, torch):
        xs = [th.tensor(numbers(*s, seed=seed + i)).requires_grad_() for i, s in enumerate(shapes)]
        given, inputs = dict(options), list(xs)
        if mask is not None:
            kind, shape = mask
            array = numbers(*shape, seed=seed)
            given["attn_mask"] = th.tensor(array > 0 if kind == "bool" else array)
            if kind == "float":
                inputs.append(given["attn_mask"].requires_grad_())
        y = th.nn.functional.scaled_dot_product_attention(*xs, **given)
        found.append(results(th, [y], inputs))
    same(*found)


@pytest.mark.parametrize("causal", [False, True])
def test_half_precision_rounds_the_result_only(causal: bool) -> None:
    """Values and gradients are those in double precision, to the rounding of the ends."""
    halves = [compat.tensor(numbers(3, 40, 16, seed=i)).half() for i in range(3)]
    ct = compat.tensor(numbers(3, 40, 16, seed=3)).half()
    found = []
    for dtype in (compat.float16, compat.float64):
        xs = [x.detach().to(dtype).requires_grad_() for x in halves]
        y = compat.nn.functional.scaled_dot_product_attention(*xs, is_causal=causal)
        y.backward(ct.to(dtype))
        assert y.dtype == dtype and xs[0].grad is not None and xs[0].grad.dtype == dtype
        found.append([y.detach().double(), *(x.grad.double() for x in xs)])  # type: ignore[union-attr]
    for half, exact in zip(*found, strict=True):
        assert (half - exact).abs().max() < 1.01 * 2.0**-11 * exact.abs().max()


def test_dropout_of_weights() -> None:
    """Some weights are 0, the others are larger; the mean is the result without dropout."""
    compat.manual_seed(0)
    q, v = compat.zeros(4000, 1, 2), compat.ones(4000, 8, 1)
    y = compat.nn.functional.scaled_dot_product_attention(
        q, compat.zeros(4000, 8, 2), v, dropout_p=0.5
    )
    assert set(np.unique((y * 4).round().numpy())) <= set(range(9))
    assert y.mean().item() == pytest.approx(1.0, abs=0.05)
    assert y.var().item() == pytest.approx(1 / 8, abs=0.03)
    module = compat.nn.MultiheadAttention(4, 2, dropout=0.5)
    x = compat.ones(3, 2, 4)
    dropped = module(x, x, x)[1]
    assert (module.eval()(x, x, x)[1] - 1 / 3).abs().max() < 1e-6
    assert (dropped - 1 / 3).abs().max() > 0.1


@needs_torch
@pytest.mark.parametrize("dtype", [None, "float64"])
def test_mask_of_the_future(dtype: str | None) -> None:
    found = []
    for th in (compat, torch):
        options = {} if dtype is None else {"dtype": getattr(th, dtype)}
        found.append(th.nn.Transformer.generate_square_subsequent_mask(4, **options).numpy())
    assert found[0].dtype == found[1].dtype
    assert np.array_equal(found[0], found[1])


@needs_torch
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("with_norm", [False, True])
def test_stacks(batch_first: bool, with_norm: bool) -> None:
    """Encoder and decoder with masks for all that they take; the copies are independent."""
    found, shown = [], []
    for th in (compat, torch):
        nn = th.nn
        kind: dict[str, Any] = {"batch_first": batch_first, "dropout": 0.0, "dtype": th.float64}
        modules = [
            nn.TransformerEncoder(
                nn.TransformerEncoderLayer(4, 2, 3, **kind),
                2,
                nn.LayerNorm(4, dtype=th.float64) if with_norm else None,
            ),
            nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 3, **kind), 2),
        ]
        rng = np.random.default_rng(0)
        for p in (p for m in modules for p in m.parameters()):
            p.data = th.tensor(rng.normal(size=tuple(p.shape)))
        shown.append([repr(m) for m in modules])
        lead = (2, 5) if batch_first else (5, 2)
        src, tgt = (th.tensor(numbers(*lead, 4, seed=i)).requires_grad_() for i in (0, 1))
        future = nn.Transformer.generate_square_subsequent_mask(5, dtype=th.float64)
        padding = th.tensor(np.where(PADDING, -math.inf, 0.0))
        memory = modules[0](src, mask=future, src_key_padding_mask=padding)
        y = modules[1](
            *(tgt, memory),
            tgt_mask=future,
            memory_mask=0.5 * th.ones(5, 5, dtype=th.float64),
            tgt_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        found.append(results(th, [y], [src, tgt, *modules[0].parameters()]))
    assert shown[0] == shown[1]
    same(*found)


def test_how_parameters_start() -> None:
    compat.manual_seed(0)
    attention = compat.nn.MultiheadAttention(32, 2, add_bias_kv=True)
    bound = math.sqrt(6 / (4 * 32))
    w = attention.in_proj_weight.detach().numpy()
    assert np.abs(w).max() <= bound
    assert w.var() == pytest.approx(bound**2 / 3, rel=0.1)
    assert not attention.in_proj_bias.any()
    assert not attention.out_proj.bias.any()
    model = compat.nn.Transformer(32, 2, 1, 1, 64)
    w = model.encoder.layers[0].linear1.weight.detach().numpy()
    bound = math.sqrt(6 / (32 + 64))
    assert np.abs(w).max() <= bound
    assert w.var() == pytest.approx(bound**2 / 3, rel=0.1)


ERRORS = [
    "sdpa(z(3), z(3), z(3))",
    "sdpa(z(2, 3), z(2, 4), z(2, 3))",
    "sdpa(z(1, 4, 2, 3), z(1, 2, 5, 3), z(1, 2, 5, 3))",
    "sdpa(z(1, 4, 2, 3), z(1, 3, 5, 3), z(1, 3, 5, 3), enable_gqa=True)",
    "sdpa(z(2, 3), z(2, 3), z(2, 3).double())",
    "sdpa(z(2, 3), z(2, 3), z(2, 3), z(2, 2).double())",
    "sdpa(z(2, 3), z(2, 3), z(2, 3), z(2, 2).long())",
    "sdpa(z(2, 3), z(2, 3), z(2, 3), z(2, 4))",
    "sdpa(z(2, 3), z(2, 3), z(2, 3), dropout_p=1.5)",
    "sdpa(z(2, 3).long(), z(2, 3).long(), z(2, 3).long())",
    "nn.MultiheadAttention(5, 2)",
    "nn.MultiheadAttention(0, 2)",
    "mha(z(3), x, x)",
    "mha(x, z(3, 4), z(3, 4))",
    "mha(z(3, 4), x, x)",
    "mha(z(3, 2, 5), z(3, 2, 5), z(3, 2, 5))",
    "mha(x, z(3, 2, 3), x)",
    "mha(x, x, z(5, 2, 4))",
    "mha(x, x, x, attn_mask=z(2, 3))",
    "mha(x, x, x, attn_mask=z(2, 3, 3))",
    "mha(x, x, x, attn_mask=z(3))",
    "mha(x, x, x, attn_mask=z(3, 3).long())",
    "mha(x, x, x, key_padding_mask=z(3, 2))",
    "mha(x, x, x, key_padding_mask=z(2, 4))",
    "mha(x, x, x, key_padding_mask=z(3))",
    "mha(x, x, x, is_causal=True)",
    "mha(x.double(), x, x)",
    "mha(x, z(5, 3, 4), z(5, 3, 4))",
    "mha(z(5, 3, 4), x, x)",
    "mha(x, z(5, 2, 3), z(5, 2, 3))",
    "mha(z(3, 4), z(3, 4), z(3, 4), attn_mask=z(4, 3, 3))",
    "nn.MultiheadAttention(4, 2, kdim=3, vdim=5)(x, z(3, 2, 5), z(3, 2, 5))",
    "nn.MultiheadAttention(4, 2, kdim=3, vdim=5)(x, z(3, 2, 3), z(3, 2, 3))",
    "nn.MultiheadAttention(4, 2, batch_first=True)(x, z(2, 3, 4), z(2, 3, 4))",
    "nn.TransformerDecoderLayer(4, 2)(x, z(5, 2, 3))",
    "nn.TransformerDecoderLayer(4, 2)(x, z(5, 3, 4))",
    "nn.TransformerEncoderLayer(4, 2, activation='x')",
    "nn.TransformerEncoderLayer(4, 2)(x, src_mask=z(3, 3).long())",
    "nn.TransformerEncoderLayer(4, 2)(x, is_causal=True)",
    "nn.Transformer(4, 2, 1, 1, 8)(z(3, 2, 4), z(3, 1, 4))",
    "nn.Transformer(4, 2, 1, 1, 8)(z(3, 2, 5), z(3, 2, 5))",
]


@needs_torch
@pytest.mark.parametrize("source", ERRORS)
def test_errors(source: str) -> None:
    raised = []
    for th in (compat, torch):
        names = {
            "nn": th.nn,
            "z": th.zeros,
            "x": th.zeros(3, 2, 4),
            "sdpa": th.nn.functional.scaled_dot_product_attention,
            "mha": th.nn.MultiheadAttention(4, 2),
        }
        with pytest.raises(Exception) as info:
            eval(source, names)
        raised.append(info)
    assert raised[0].type is raised[1].type


def test_errors_say_which_sizes() -> None:
    mha, x = compat.nn.MultiheadAttention(4, 2), compat.zeros(3, 2, 4)
    with pytest.raises(RuntimeError, match=r"batch sizes.*\[3, 2, 4\] and \[5, 3, 4\]"):
        mha(x, compat.zeros(5, 3, 4), compat.zeros(5, 3, 4))
    with pytest.raises(RuntimeError, match=r"key and value.*dimension 4.*\[5, 2, 3\]"):
        mha(x, compat.zeros(5, 2, 3), compat.zeros(5, 2, 3))


def test_masks_of_two_kinds_warn() -> None:
    x, mask = compat.zeros(3, 2, 4), compat.zeros(3, 3)
    with pytest.warns(UserWarning, match="mismatched"):
        compat.nn.MultiheadAttention(4, 2)(
            x, x, x, attn_mask=mask, key_padding_mask=compat.zeros(2, 3).bool()
        )


# ---------------------------------------------------------------- the pure functions


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"scale": 0.3}], ids=str)
def test_derivatives(options: dict[str, Any]) -> None:
    f = functions.scaled_dot_product_attention
    xs = numbers(2, 3, 2), numbers(2, 3, 2, seed=1), numbers(2, 3, 4, seed=2)
    check_all(lambda *xs: f(*xs, **options), xs, only=CHECKS).raise_if_failed()


@pytest.mark.parametrize("causal", [False, True])
def test_the_formula(causal: bool) -> None:
    """Every query by itself: a mean of the values it may look at, weighted by exponentials."""
    q, k, v = numbers(3, 2), numbers(3, 2, seed=1), numbers(3, 4, seed=2)
    found = functions.scaled_dot_product_attention(q, k, v, causal=causal)
    for i, row in enumerate(found):
        seen = slice(i + 1) if causal else slice(None)
        weights = np.exp(k[seen] @ q[i] / math.sqrt(2))
        np.testing.assert_allclose(row, weights @ v[seen] / weights.sum(), rtol=1e-12)


def test_keys_in_another_order() -> None:
    """The result does not depend on the order of the keys, and what is masked has no gradient."""
    q, k, v, mask = numbers(3, 2), numbers(5, 2, seed=1), numbers(5, 4, seed=2), MASKS["bool"][:3]
    f = functions.scaled_dot_product_attention
    order = np.array([3, 1, 4, 0, 2])
    np.testing.assert_allclose(
        f(q, k, v, ~mask), f(q, k[order], v[order], ~mask[:, order]), rtol=1e-12
    )
    hidden = np.array([True, True, False, True, False])
    g = funcgrad.grad(lambda k: f(q, k, v, hidden).sum())(k)
    assert np.array_equal((g != 0).any(1), hidden)
    g = funcgrad.grad(lambda q: f(q, k, v, np.zeros(5, dtype=bool)).sum())(q)
    assert np.array_equal(g, np.zeros((3, 2)))


def test_per_example_gradients() -> None:
    """`vmap` of a gradient through a program that is one node."""
    module = compat.nn.MultiheadAttention(4, 2).double()
    x = compat.tensor(numbers(3, 5, 4))

    def loss(x: Any) -> Any:
        return (module(x, x, x, need_weights=False)[0] ** 2).sum()

    for _ in range(2):
        found = compat.func.vmap(compat.func.grad(loss))(x)
        for row, one in zip(found, x, strict=True):
            expected = compat.func.grad(loss)(one)
            np.testing.assert_allclose(row.detach().numpy(), expected.detach().numpy(), rtol=1e-9)


def test_unknown_words() -> None:
    x = np.ones((2, 1, 2))
    with pytest.raises(funcgrad.errors.ArgumentError, match="need"):
        functions.multi_head_attention(x, *[None] * 14, heads=1, weights="all")
    with pytest.raises(funcgrad.errors.ShapeError, match="multiple"):
        functions.scaled_dot_product_attention(
            np.ones((3, 1, 1)), np.ones((2, 1, 1)), np.ones((2, 1, 1)), grouped=True
        )
