"""`stft` and `istft` beside PyTorch's: options, shapes, errors, derivatives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modules import torch

import compat

pytestmark = pytest.mark.filterwarnings("ignore")


@st.composite
def options(draw: Any) -> dict[str, Any]:
    n = draw(st.integers(2, 9))
    size = draw(st.integers((n + 1) // 2, n))
    found = {
        "n_fft": n,
        "hop_length": draw(st.sampled_from([1, 1, 2, 3, 0, n // 2, n + 1, None])),
        "win_length": draw(st.sampled_from([None, size])),
        "center": draw(st.booleans()),
        "normalized": draw(st.booleans()),
        "onesided": draw(st.sampled_from([None, None, True, False])),
    }
    kind = draw(st.sampled_from(["none", "real", "real", "real", "complex", "too long"]))
    if kind != "none":
        count = (found["win_length"] or n) + (kind == "too long")
        found["window"] = np.linspace(0.5, 2.0, count) * (1 + 0.3j if kind == "complex" else 1)
    return found


def tried(th: Any, name: str, x: np.ndarray, given: dict[str, Any]) -> Any:
    """The result and its pullback of fixed numbers; the type of the error if there is one."""
    args = {k: th.tensor(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    leaves = [th.tensor(x).requires_grad_()]
    if "window" in args:
        leaves.append(args["window"].requires_grad_())
    try:
        y = getattr(th, name)(leaves[0], **args)
    except RuntimeError as error:
        return type(error)
    weights = np.cos(np.arange(y.numel()).reshape(tuple(y.shape)))
    (abs(y) ** 2 * th.tensor(weights)).sum().backward()
    return [str(y.dtype), y.detach().numpy(), *[leaf.grad.numpy() for leaf in leaves]]


def agree(ours: Any, theirs: Any) -> None:
    assert isinstance(ours, type) == isinstance(theirs, type), (ours, theirs)
    if isinstance(ours, type):
        return
    assert ours[0] == theirs[0]
    for a, b in zip(ours[1:], theirs[1:], strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        scale = max(1.0, float(np.abs(b).max(initial=0)))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10 * scale)


@pytest.mark.skipif(torch is None, reason="compares with PyTorch")
@settings(max_examples=150)
@given(
    args=options(),
    mode=st.sampled_from(["reflect", "constant", "replicate", "circular"]),
    batch=st.sampled_from([(), (), (2,), (2,), (1, 2)]),
    length=st.integers(1, 25) | st.integers(10, 25),
    is_complex=st.booleans(),
    wants=st.sampled_from([None, True, True, False]),
)
def test_spectra(
    args: Any, mode: str, batch: Any, length: int, is_complex: bool, wants: Any
) -> None:
    rng = np.random.default_rng(length)
    x = rng.normal(size=(*batch, length)) * (1 + 0.5j if is_complex else 1)
    args = {**args, "pad_mode": mode, "return_complex": wants}
    agree(*[tried(th, "stft", x, args) for th in (compat, torch)])


@pytest.mark.skipif(torch is None, reason="compares with PyTorch")
@settings(max_examples=150)
@given(
    args=options(),
    batch=st.sampled_from([(), (2,)]),
    parts=st.integers(1, 9),
    is_half=st.sampled_from([True, True, False]),
    length=st.none() | st.integers(1, 30),
    wants=st.sampled_from([False, False, True]),
)
def test_signals(args: Any, batch: Any, parts: int, is_half: bool, length: Any, wants: Any) -> None:
    rng = np.random.default_rng(parts)
    rows = args["n_fft"] // 2 + 1 if is_half else args["n_fft"]
    z = rng.normal(size=(*batch, rows, parts, 2)).view(complex)[..., 0]
    args = {**args, "length": length, "return_complex": wants}
    agree(*[tried(th, "istft", z, args) for th in (compat, torch)])


def test_there_and_back_under_transforms() -> None:
    """`vmap`, `func.grad` and `compile` go through both."""
    window = compat.hann_window(8, dtype=compat.float64)

    def loss(x: Any) -> Any:
        z = x.stft(8, 3, window=window, return_complex=True)
        assert compat.allclose(z.istft(8, 3, window=window, length=20), x) or x.dim() == 2
        return (z.abs() ** 3).sum()

    def spectra(x: Any) -> Any:
        return (compat.stft(x, 8, 3, window=window, return_complex=True).abs() ** 3).sum()

    xs = compat.tensor(np.random.default_rng(0).normal(size=(3, 20)), requires_grad=True)
    total = sum(loss(x) for x in xs)
    total.backward()
    mapped = compat.func.vmap(compat.func.grad(spectra))(xs.detach())
    np.testing.assert_allclose(mapped.numpy(), xs.grad.numpy(), rtol=1e-10)
    run = compat.compile(spectra)
    for _ in range(4):
        np.testing.assert_allclose(sum(run(x) for x in xs).item(), total.item(), rtol=1e-10)


def test_a_window_for_each_example() -> None:
    """`vmap` over windows of the inverse, whose sums are not known while it runs."""
    rng = np.random.default_rng(0)
    z = compat.tensor(rng.normal(size=(6, 5)) + 1j * rng.normal(size=(6, 5)))
    windows = compat.tensor(rng.uniform(0.5, 2.0, size=(3, 10)))

    def signal(window: Any) -> Any:
        return compat.istft(z, 10, window=window)

    one_by_one = compat.stack([signal(w) for w in windows])
    assert compat.allclose(compat.func.vmap(signal)(windows), one_by_one)
    assert compat.func.vmap(signal)(0 * windows).isnan().all()
    with pytest.raises(RuntimeError, match="the signal is not known there"):
        signal(0 * windows[0])


def test_without_a_window_there_is_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="A window was not provided"):
            compat.stft(compat.ones(9), 4, return_complex=True)
