"""Recurrent layers and cells against PyTorch's, packed sequences, and the algebra of one layer."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import TOLERANCE, Case, check_module, check_signature, torch

import compat
import funcgrad
from compat.nn.recurrent_cells import WEIGHTS
from funcgrad.nn import recurrent as functions
from funcgrad.testing import check_all

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")

# PyTorch says once that it has no fast implementation.
pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections")

CHECKS = ["differentiable", "types", "transpose", "numerical", "jit", "vmap", "own memory"]
KINDS = ("RNN", "GRU", "LSTM")
CELLS = tuple(f"{kind}Cell" for kind in KINDS)


def layer_cases() -> list[Case]:
    """Random configurations of every kind of layer, and of inputs."""
    rng = np.random.default_rng(5)
    found = []
    for kind, i in itertools.product(KINDS, range(10)):
        size, hidden, layers = (int(n) for n in rng.integers(1, 5, size=3))
        length, batch = (int(n) for n in rng.integers(1, 5, size=2))
        options: dict[str, Any] = {
            "num_layers": min(layers, 3),
            "bias": bool(rng.random() < 0.7),
            "batch_first": bool(rng.random() < 0.5),
            "bidirectional": bool(rng.random() < 0.5),
        }
        if kind == "RNN":
            options["nonlinearity"] = "relu" if i % 2 else "tanh"
        if kind == "LSTM" and hidden > 1 and i % 2:
            options["proj_size"] = hidden - 1
        lead = (batch, length) if options["batch_first"] else (length, batch)
        inputs = (length, size) if i % 5 == 4 else (*lead, size)
        found.append(Case(kind, size, hidden, inputs=[inputs], **options))
    return found


CASES = [
    *layer_cases(),
    Case("RNN", 3, 4, inputs=[(5, 2, 3), (1, 2, 4)]),
    Case("GRU", 3, 4, 2, inputs=[(5, 2, 3), (2, 2, 4)]),
    Case("GRU", 3, 4, bidirectional=True, inputs=[(5, 3), (2, 4)]),
    Case("GRU", 3, 4, 2, dropout=0.5, train=False, inputs=[(5, 2, 3)]),
    Case("LSTM", 3, 4, inputs=[(5, 0, 3)]),
    *(Case(name, 3, 4, inputs=[(2, 3)]) for name in CELLS),
    *(Case(name, 3, 4, bias=False, inputs=[(3,)]) for name in CELLS),
    *(Case(name, 3, 4, inputs=[(2, 3), (2, 4)]) for name in ("RNNCell", "GRUCell")),
    Case("GRUCell", 3, 4, inputs=[(3,), (4,)]),
    Case("RNNCell", 3, 4, nonlinearity="relu", inputs=[(2, 3)]),
]


@needs_torch
@pytest.mark.parametrize("name", [*KINDS, *CELLS, "RNNBase"])
def test_signature(name: str) -> None:
    check_signature(name)


@needs_torch
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_module(case: Case) -> None:
    """Twice: the first call of a kind records every primitive, the second runs a program."""
    check_module(case)
    check_module(case)


# ---------------------------------------------------------------- the same code on both libraries


def pair(name: str, *args: Any, dtype: str = "float64", **options: Any) -> list[tuple[Any, Any]]:
    """Both libraries, each with the module, with the same parameters."""
    torch.manual_seed(0)
    theirs = getattr(torch.nn, name)(*args, **options).to(getattr(torch, dtype))
    ours = getattr(compat.nn, name)(*args, **options).to(getattr(compat, dtype))
    ours.load_state_dict({k: compat.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    return [(compat, ours), (torch, theirs)]


def same(results: list[list[np.ndarray]], tolerance: float = TOLERANCE["float64"]) -> None:
    for ours, theirs in zip(*results, strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def gradients(module: Any, outs: list[Any]) -> list[np.ndarray]:
    """The outputs, and the gradients of the parameters."""
    sum((x * x.cos()).sum() for x in outs).backward()
    return [x.detach().numpy() for x in outs] + [p.grad.numpy() for p in module.parameters()]


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape)


@needs_torch
@pytest.mark.parametrize("with_state", [False, True])
def test_lstm_state_is_a_pair(with_state: bool) -> None:
    results = []
    for th, lstm in pair("LSTM", 3, 4, 2, bidirectional=True, proj_size=2):
        state = (th.tensor(numbers(4, 5, 2)), th.tensor(numbers(4, 5, 4))) if with_state else None
        y, (h, c) = lstm(th.tensor(numbers(6, 5, 3)), state)
        results.append(gradients(lstm, [y, h, c]))
    same(results)


@needs_torch
@pytest.mark.parametrize("name", CELLS)
def test_loop_over_a_cell(name: str) -> None:
    results = []
    for th, cell in pair(name, 3, 4):
        state, outs = None, []
        for x in th.tensor(numbers(5, 2, 3)):
            state = cell(x, state)
            outs.append(state[0] if isinstance(state, tuple) else state)
        results.append(gradients(cell, outs))
    same(results)


@needs_torch
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("lengths", [(3, 1, 4), (2, 2), (5,), (4, 4, 2, 1)], ids=repr)
def test_packed_sequences(name: str, bidirectional: bool, lengths: tuple[int, ...]) -> None:
    for with_state in (False, True):
        results = []
        for th, module in pair(name, 3, 4, 2, bidirectional=bidirectional):
            rows = [th.tensor(numbers(n, 3)).requires_grad_() for n in lengths]
            packed = th.nn.utils.rnn.pack_sequence(rows, enforce_sorted=False)
            assert not packed.is_pinned()
            layers = 4 if bidirectional else 2
            h = th.tensor(numbers(layers, len(lengths), 4))
            state = (h, 2 * h) if name == "LSTM" else h
            y, last = module(packed, state if with_state else None)
            outs = [*last] if name == "LSTM" else [last]
            found = gradients(module, [y.data, *outs])
            results.append([*found, *(x.grad.numpy() for x in rows), y.batch_sizes.numpy()])
        same(results)


@needs_torch
def test_dropout_between_layers() -> None:
    """With probability 1 all that the second layer sees is 0; none is dropped in evaluation."""
    x = compat.tensor(numbers(4, 2, 3))
    for name in KINDS:
        module = getattr(compat.nn, name)(3, 5, 2, dropout=1.0).double()
        assert not np.allclose(module(x)[0].detach(), module.eval()(x)[0].detach())
        module.train()
        for layer in ("weight_ih_l1", "weight_ih_l0"):
            compat.nn.init.normal_(getattr(module, layer))
            first = module(x)[0].detach().numpy()
            compat.nn.init.normal_(getattr(module, layer))
            assert np.allclose(first, module(x)[0].detach())


@pytest.mark.parametrize("name", [*KINDS, *CELLS])
def test_how_parameters_start(name: str) -> None:
    compat.manual_seed(0)
    hidden = 64
    values = [p.detach().numpy().ravel() for p in getattr(compat.nn, name)(50, hidden).parameters()]
    every, bound = np.concatenate(values), hidden**-0.5
    assert np.abs(every).max() <= bound
    assert every.var() == pytest.approx(bound**2 / 3, rel=0.05)
    assert len(values) == 4


ERRORS = [
    "nn.LSTM(3, 0)",
    "nn.LSTM(3, 4, 0)",
    "nn.LSTM(3, 4, dropout=2)",
    "nn.LSTM(3, 4, dropout=True)",
    "nn.LSTM(3, 'a')",
    "nn.LSTM('a', 3)",
    "nn.LSTM(3, 4, proj_size=-1)",
    "nn.LSTM(3, 4, proj_size=4)",
    "nn.GRU(3, 4, proj_size=2)",
    "nn.RNN(3, 4, proj_size=2)",
    "nn.RNN(3, 4, nonlinearity='a')",
    "nn.RNNBase('X', 3, 4)",
    "nn.RNNCell(3, 4, nonlinearity='x')(z(2, 3))",
    "nn.LSTM(3, 4)(z(5, 2, 2))",
    "nn.LSTM(3, 4)(z(5))",
    "nn.GRU(3, 4)(z(1, 5, 2, 3))",
    "nn.RNN(3, 4)(z(0, 2, 3))",
    "nn.LSTM(3, 4)(z(5, 2, 3).double())",
    "nn.LSTM(3, 4)(z(5, 2, 3), (z(1, 2, 4), z(1, 2, 3)))",
    "nn.LSTM(3, 4)(z(5, 2, 3), (z(1, 2, 3), z(1, 2, 4)))",
    "nn.LSTM(3, 4)(z(5, 2, 3), (z(2, 4), z(2, 4)))",
    "nn.LSTM(3, 4)(z(5, 3), (z(1, 2, 4), z(1, 2, 4)))",
    "nn.GRU(3, 4)(z(5, 3), z(1, 1, 4))",
    "nn.GRU(3, 4)(z(5, 2, 3), z(1, 4))",
    "nn.GRU(3, 4)(z(5, 2, 3), z(2, 2, 4))",
    "nn.GRU(3, 4)(z(5, 2, 3), z(1, 2, 4).double())",
    "nn.LSTMCell(3, 4)(z(2, 5))",
    "nn.LSTMCell(3, 4)(z(2, 3, 1))",
    "nn.LSTMCell(3, 4)(z(2, 3), (z(2, 5), z(2, 4)))",
    "nn.LSTMCell(3, 4)(z(2, 3), (z(2, 4), z(3, 4)))",
    "nn.LSTMCell(3, 4)(z(2, 3), (z(2, 2, 4), z(3, 4)))",
    "nn.GRUCell(3, 4)(z(2, 3), z(1, 4))",
    "nn.RNNCell(3, 4)(z(2, 3).double())",
    "nn.RNNCell(3, 4)(z(2, 3), z(2, 3, 4))",
    "rnn.pack_padded_sequence(z(3, 2, 1), [2, 3])",
    "rnn.pack_padded_sequence(z(3, 2, 1), [2, 0])",
    "rnn.pack_padded_sequence(z(3, 2, 1), [2])",
    "rnn.pack_padded_sequence(z(0, 2, 1), [2, 1])",
    "rnn.pack_padded_sequence(z(3), [2, 1])",
    "rnn.pad_sequence([z(3), z(2, 2)])",
    "rnn.pad_sequence([])",
    "rnn.pad_sequence([z(3), z(2)], padding_side='x')",
    "rnn.pad_sequence(3)",
    "rnn.pack_sequence([z(2), z(3)])",
    "rnn.pad_packed_sequence(rnn.pack_sequence([z(3), z(2)]), total_length=2)",
    "rnn.PackedSequence(z(3))",
    "nn.LSTM(3, 4)(rnn.pack_sequence([z(3, 2), z(2, 2)]))",
    "nn.GRU(3, 4)(rnn.pack_sequence([z(3, 3), z(2, 3)]), z(1, 3, 4))",
]


@needs_torch
@pytest.mark.parametrize("source", ERRORS)
def test_errors(source: str) -> None:
    """The same type of exception, and messages that begin alike where they are about numbers."""
    raised = []
    for th in (compat, torch):
        with pytest.raises(Exception) as info:
            eval(source, {"nn": th.nn, "rnn": th.nn.utils.rnn, "z": th.zeros})
        raised.append(info)
    assert raised[0].type is raised[1].type
    if re.match(r"nn\.\w+\(.*\)\(z", source):
        ours, theirs = (str(r.value)[:40] for r in raised)
        assert ours == theirs


def test_dropout_of_one_layer_warns() -> None:
    with pytest.warns(UserWarning, match="num_layers=1"):
        compat.nn.GRU(3, 4, dropout=0.5)


@pytest.mark.parametrize("name", [n for n in (*KINDS, *CELLS) if n != "RNNCell"])
def test_writing_into_an_output_is_seen(name: str) -> None:
    """A program that has saved its result must not find another one on the way back."""
    module = getattr(compat.nn, name)(3, 4)
    x = compat.tensor(numbers(2, 2, 3) if name in KINDS else numbers(2, 3)).float()
    found = []
    for in_place in (False, False, True):
        module.zero_grad()
        out = module(x)
        y = out if name == "GRUCell" else out[0]
        y = y.mul_(3.0) if in_place else y * 3.0
        y.sum().backward()
        found.append(module.parameters().__next__().grad.numpy().copy())
    np.testing.assert_allclose(found[0], found[2], rtol=1e-5)
    np.testing.assert_allclose(found[1], found[2], rtol=1e-5)


def test_writing_into_the_output_of_an_rnn_cell_raises() -> None:
    """As in PyTorch: the gradient of tanh reads it."""
    out = compat.nn.RNNCell(3, 4)(compat.ones(2, 3))
    out.mul_(3.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_gradient_of_a_gradient() -> None:
    """Through the program too: that of ``sum(grad)``, by finite differences of the gradient."""
    module = compat.nn.LSTM(2, 3).double()
    array = numbers(3, 1, 2)

    def slope(a: np.ndarray, again: bool = False) -> Any:
        x = compat.tensor(a).requires_grad_()
        (g,) = compat.autograd.grad((module(x)[0] ** 2).sum(), x, create_graph=True)
        return compat.autograd.grad((g * g).sum(), x)[0].numpy() if again else (g * g).sum().item()

    for _ in range(2):
        direction = numbers(3, 1, 2) + 1
        step = 1e-6
        numeric = (slope(array + step * direction) - slope(array - step * direction)) / (2 * step)
        assert (slope(array, again=True) * direction).sum() == pytest.approx(numeric, rel=1e-5)


# ---------------------------------------------------------------- sequences

lengths_of_sequences = st.lists(st.integers(1, 5), min_size=1, max_size=5)


@given(lengths_of_sequences, st.booleans(), st.sampled_from([(), (2,)]))
def test_packing_and_back(lengths: list[int], batch_first: bool, trailing: tuple[int, ...]) -> None:
    rnn = compat.nn.utils.rnn
    rows = [compat.tensor(numbers(n, *trailing)) for n in lengths]
    padded = rnn.pad_sequence(rows, batch_first=batch_first, padding_value=7.0)
    packed = rnn.pack_padded_sequence(padded, lengths, batch_first, enforce_sorted=False)
    assert packed.data.shape[0] == sum(lengths) == packed.batch_sizes.sum()
    back, found = rnn.pad_packed_sequence(packed, batch_first, 7.0, total_length=max(lengths) + 1)
    assert found.tolist() == lengths
    longer = back[:, : max(lengths)] if batch_first else back[: max(lengths)]
    assert np.array_equal(longer.numpy(), padded.numpy())
    assert (back[:, -1] if batch_first else back[-1]).eq(7.0).all()
    for unpacked in (rnn.unpack_sequence(packed), rnn.unpad_sequence(padded, found, batch_first)):
        for ours, row in zip(unpacked, rows, strict=True):
            assert np.array_equal(ours.numpy(), row.numpy())


@needs_torch
@given(lengths_of_sequences, st.sampled_from(["left", "right"]))
def test_sequences_as_pytorch_has_them(lengths: list[int], side: str) -> None:
    results = []
    for th in (compat, torch):
        rnn = th.nn.utils.rnn
        rows = [th.tensor(numbers(n, 2)) for n in lengths]
        packed = rnn.pack_sequence(rows, enforce_sorted=False)
        padded = rnn.pad_sequence(rows, padding_side=side)
        results.append([x.numpy() for x in (*packed, padded)])
    same(results)


def test_packed_sequence_converts() -> None:
    packed = compat.nn.utils.rnn.pack_sequence([compat.ones(2), compat.ones(1)])
    assert packed.double().data.dtype is compat.dtypes.float64
    assert packed.to(compat.dtypes.float32) is packed
    assert packed.long().batch_sizes is packed.batch_sizes
    assert not packed.is_cuda


# ---------------------------------------------------------------- the pure functions

GATES = {"rnn": 1, "gru": 3, "lstm": 4}


def operands(kind: str, *, length: int | None = None) -> tuple[list[Any], list[Any]]:
    """Input and state, and weights, of a small layer; of a cell without a length."""
    batch, size, hidden = 2, 3, 2
    rng = np.random.default_rng(GATES[kind])
    x = rng.normal(size=(batch, size) if length is None else (length, batch, size))
    state = [rng.normal(size=(batch, hidden)) for _ in range(2 if kind == "lstm" else 1)]
    rows = GATES[kind] * hidden
    shapes = [(rows, size), (rows, hidden), (rows,), (rows,)]
    return [x, *state], [rng.normal(size=s) for s in shapes]


def of(kind: str, what: str) -> Callable[..., Any]:
    return getattr(functions, f"{kind}_{what}")


@pytest.mark.parametrize("kind", GATES)
def test_derivatives_of_a_cell(kind: str) -> None:
    xs, weights = operands(kind)
    check_all(of(kind, "cell"), (*xs, *weights), only=CHECKS).raise_if_failed()


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("reverse", [False, True])
def test_a_layer_is_its_cell_again_and_again(kind: str, reverse: bool) -> None:
    (x, *state), weights = operands(kind, length=4)
    ys, *last = of(kind, "layer")(x, *state, *weights, reverse=reverse)
    outs = []
    for row in x[::-1] if reverse else x:
        found = of(kind, "cell")(row, *state, *weights)
        state = list(found) if isinstance(found, tuple) else [found]
        outs.append(state[0])
    np.testing.assert_allclose(ys, outs[::-1] if reverse else outs, rtol=1e-12)
    for a, b in zip(last, state, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("reverse", [False, True])
def test_what_is_masked_has_no_effect(kind: str, reverse: bool) -> None:
    (x, *state), weights = operands(kind, length=4)
    mask = np.ones((4, 2, 1), dtype=bool)
    mask[2:] = False
    layer = of(kind, "layer")
    short = layer(x[:2], *state, *weights, reverse=reverse)
    full = layer(x, *state, *weights, mask=mask, reverse=reverse)
    for a, b in zip((short[0], *short[1:]), (full[0][:2], *full[1:]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    g = funcgrad.grad(lambda x: layer(x, *state, *weights, mask=mask, reverse=reverse)[1].sum())(x)
    assert (g[2:] == 0).all()
    assert (g[:2] != 0).any()


@pytest.mark.parametrize("kind", GATES)
def test_a_compiled_layer(kind: str) -> None:
    """The loop as one step of a program, and its gradient."""
    xs, weights = operands(kind, length=4)

    def loss(*args: Any) -> Any:
        return sum((y**2).sum() for y in of(kind, "layer")(*args))

    plain = funcgrad.grad(loss, argnums=tuple(range(len(xs) + 4)))
    for a, b in zip(plain(*xs, *weights), funcgrad.jit(plain)(*xs, *weights), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_names_of_weights() -> None:
    module = compat.nn.LSTM(2, 3, 2, bidirectional=True, proj_size=1)
    names = [f"{w}_l{i}{d}" for i in (0, 1) for d in ("", "_reverse") for w in WEIGHTS]
    assert [name for name, _ in module.named_parameters()] == names == module._flat_weights_names
    assert [[id(w) for w in ws] for ws in module.all_weights] == [
        [id(getattr(module, n)) for n in names[k : k + 5]] for k in range(0, 20, 5)
    ]


def test_unknown_activation() -> None:
    xs, weights = operands("rnn")
    with pytest.raises(funcgrad.errors.ArgumentError, match="need"):
        functions.rnn_cell(*xs, *weights, activation="sine")
