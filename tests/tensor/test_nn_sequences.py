"""Bags of rows, the adaptive softmax, and the loss of sequences by what they are defined as."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import torch

import compat

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
F = compat.nn.functional

FLAT, OFFSETS = np.array([0, 4, 2, 2, 1, 3]), np.array([0, 2, 2, 5])
TABLE = np.random.default_rng(0).normal(size=(5, 3))

# ---------------------------------------------------------------- bags


def _bags(data: Any) -> tuple[Any, Any, list[Any]]:
    lengths = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    flat = data.draw(st.lists(st.integers(0, 4), min_size=sum(lengths), max_size=sum(lengths)))
    offsets = np.cumsum([0, *lengths])
    return np.array(flat, np.int64), offsets, np.split(np.array(flat, np.int64), offsets[1:-1])


@given(st.data())
def test_a_bag_is_its_rows(data: Any) -> None:
    flat, offsets, bags = _bags(data)
    padding = data.draw(st.sampled_from([None, 1, -1]))
    members = [[i for i in bag if padding is None or i != padding % 5] for bag in bags]
    for mode, f in (("sum", np.sum), ("mean", np.mean), ("max", np.max)):
        found = F.embedding_bag(
            compat.tensor(flat),
            compat.tensor(TABLE),
            compat.tensor(offsets),
            mode=mode,
            padding_idx=padding,
            include_last_offset=True,
        )
        expected = [f(TABLE[bag], axis=0) if bag else np.zeros(3) for bag in members]
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


@given(st.data())
def test_frequencies_divide_the_gradients_of_rows(data: Any) -> None:
    flat, offsets, _ = _bags(data)
    grads = []
    for scale in (False, True):
        w = compat.tensor(TABLE, requires_grad=True)
        args = compat.tensor(flat), w, compat.tensor(offsets[:-1])
        y = F.embedding_bag(*args, mode="mean", scale_grad_by_freq=scale)
        (y**2).sum().backward()
        grads.append(w.grad.numpy())
    counts = np.maximum(np.bincount(flat, minlength=5), 1)[:, None]
    np.testing.assert_allclose(grads[1], grads[0] / counts, atol=1e-12)


@needs_torch
@given(st.data())
def test_weighted_bags(data: Any) -> None:
    flat, offsets, _ = _bags(data)
    weights = np.random.default_rng(3).normal(size=flat.shape)
    found = []
    for th in (compat, torch):
        w, s = (th.tensor(a, requires_grad=True) for a in (TABLE, weights))
        args = th.tensor(flat), w, th.tensor(offsets[:-1])
        y = th.nn.functional.embedding_bag(*args, mode="sum", per_sample_weights=s)
        (y**2).sum().backward()
        found.append([t.detach().numpy() for t in (y, w.grad, s.grad)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_bags_under_vmap() -> None:
    tables = compat.tensor(np.stack([TABLE, TABLE**2, -TABLE]))
    args = compat.tensor(FLAT), compat.tensor(OFFSETS)
    for mode in ("sum", "mean", "max"):

        def bag(w: Any, mode: str = mode) -> Any:
            return F.embedding_bag(args[0], w, args[1], mode=mode, padding_idx=2)

        together = compat.func.vmap(bag)(tables)
        for w, y in zip(tables, together, strict=True):
            np.testing.assert_allclose(y.numpy(), bag(w).numpy())


# ---------------------------------------------------------------- adaptive softmax


def test_adaptive_probabilities_agree_with_the_loss() -> None:
    compat.manual_seed(0)
    module = compat.nn.AdaptiveLogSoftmaxWithLoss(16, 10, [3, 5, 8], 2.0)
    x, y = compat.randn(10, 16), compat.arange(10)
    logs = module.log_prob(x)
    np.testing.assert_allclose(logs.exp().sum(1).detach().numpy(), 1, rtol=1e-5)
    output, loss = module(x, y)
    np.testing.assert_allclose(
        output.detach().numpy(), logs.diagonal().detach().numpy(), rtol=1e-5, atol=1e-6
    )
    assert loss.item() == pytest.approx(-output.mean().item())
    np.testing.assert_array_equal(module.predict(x).numpy(), logs.detach().numpy().argmax(1))
    assert [tuple(p.shape) for p in module.parameters()] == [
        *[(6, 16)],
        *[(8, 16), (2, 8), (4, 16), (3, 4), (2, 16), (2, 2)],
    ]


# ---------------------------------------------------------------- CTC


def _said(path: tuple[int, ...], blank: int) -> tuple[int, ...]:
    """What a path of labels says: repetitions once, then without blanks."""
    return tuple(label for label, _ in itertools.groupby(path) if label != blank)


def _examples(data: Any, times: int, classes: int) -> tuple[Any, Any, Any, Any, int]:
    """Log-probabilities, targets, their lengths, and the blank."""
    count = data.draw(st.integers(1, 3))
    blank = data.draw(st.integers(0, classes - 1))
    labels = st.sampled_from([c for c in range(classes) if c != blank])
    targets = [data.draw(st.lists(labels, max_size=3)) for _ in range(count)]
    inputs = data.draw(st.lists(st.integers(0, times), min_size=count, max_size=count))
    x = np.random.default_rng(data.draw(st.integers(0, 99))).normal(size=(times, count, classes))
    x -= np.log(np.exp(x).sum(-1, keepdims=True))
    return x, targets, np.array(inputs), np.array([len(t) for t in targets]), blank


@given(st.data())
def test_ctc_is_the_sum_over_all_paths(data: Any) -> None:
    x, targets, inputs, lengths, blank = _examples(data, 4, 3)
    joined = np.array([label for t in targets for label in t], np.int64)
    args = [compat.tensor(a) for a in (x, joined, inputs, lengths)]
    found = F.ctc_loss(*args, blank=blank, reduction="none").numpy()
    for n, target in enumerate(targets):
        p = sum(
            np.exp(sum(x[t, n, c] for t, c in enumerate(path)))
            for path in itertools.product(range(3), repeat=inputs[n])
            if _said(path, blank) == tuple(target)
        )
        np.testing.assert_allclose(np.exp(-found[n]), p, atol=1e-12)


@given(st.data())
def test_ctc_weighs_each_time_once(data: Any) -> None:
    """The gradient by logarithms of probabilities is minus the chance of each label at a time."""
    x, targets, inputs, lengths, blank = _examples(data, 4, 3)
    joined = np.array([label for t in targets for label in t], np.int64)
    leaf = compat.tensor(x, requires_grad=True)
    args = [compat.tensor(a) for a in (joined, inputs, lengths)]
    losses = F.ctc_loss(leaf, *args, blank=blank, reduction="none", zero_infinity=True)
    losses.sum().backward()
    plain = F.ctc_loss(leaf, *args, blank=blank, reduction="none").detach().numpy()
    assert (losses.detach().numpy()[np.isinf(plain)] == 0).all()
    times = np.arange(4)[:, None] < np.where(np.isinf(plain), 0, inputs)
    np.testing.assert_allclose(leaf.grad.numpy().sum(-1), -1.0 * times, atol=1e-12)
    assert (leaf.grad.numpy() <= 0).all()


@needs_torch
@given(st.data(), st.sampled_from(["none", "mean", "sum"]), st.booleans())
def test_ctc_of_logits_is_pytorchs(data: Any, reduction: str, zero: bool) -> None:
    x, targets, inputs, lengths, blank = _examples(data, 6, 4)
    padded = np.array([[*t, *[-1] * (3 - len(t))] for t in targets])
    padded[padded < 0] = (blank + 1) % 4
    found = []
    for th in (compat, torch):
        leaf = th.tensor(x, requires_grad=True)
        loss = th.nn.CTCLoss(blank, reduction, zero)
        args = [th.tensor(a) for a in (padded, inputs, lengths)]
        y = loss(leaf.log_softmax(-1), *args)
        y.sum().backward()
        found.append([y.detach().numpy(), leaf.grad.numpy()])
    (ours, our_grad), (theirs, their_grad) = found
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    finite = ~np.isnan(their_grad)  # PyTorch's at infinite losses
    assert np.isfinite(our_grad).all()
    np.testing.assert_allclose(our_grad[finite], their_grad[finite], atol=1e-12)


def test_ctc_of_one_example() -> None:
    x = compat.randn(5, 3).log_softmax(-1)
    target, sizes = compat.tensor([1, 2]), (compat.tensor(5), compat.tensor(2))
    for reduction in ("none", "mean", "sum"):
        one = F.ctc_loss(x, target, *sizes, reduction=reduction)
        many = F.ctc_loss(x[:, None], target[None], (5,), (2,), reduction=reduction)
        assert one.shape == () and one.item() == pytest.approx(many.sum().item())


def test_ctc_twice_differentiable() -> None:
    target = compat.tensor([[1, 2, 1]])
    x = compat.randn(6, 1, 3).double().requires_grad_()

    def loss(x: Any) -> Any:
        return F.ctc_loss(x.log_softmax(-1), target, (6,), (3,))

    assert compat.autograd.gradcheck(loss, (x,)) and compat.autograd.gradgradcheck(loss, (x,))
