"""Padding, pixels and channels: values and gradients; errors are in the transcript of operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from harness import C, Call, F, call, check, torch
from hypothesis import given, settings
from hypothesis import strategies as st

import compat

PAD = "nn.functional.pad"
CALLS: list[Call] = [
    call(PAD, F(3), (1, 2)),
    call(PAD, F(2, 3), (1, 2, 0, 1), value=1.5),
    call(PAD, F(2, 3), (-1, 2, 1, -1)),
    call(PAD, F(2, 3), (0, 0)),
    call(PAD, F(0, 3), (1, 1, 2, 0)),
    call(PAD, F(), ()),
    call(PAD, C(2, 2), (1, 1)),
    *(call(PAD, F(2, 4), (1, 3), mode=m) for m in ("reflect", "replicate", "circular")),
    *(call(PAD, F(2, 3, 4), (2, -1), mode=m) for m in ("reflect", "replicate", "circular")),
    *(call(PAD, F(1, 3, 4), (2, 1, 1, 0), mode=m) for m in ("reflect", "replicate", "circular")),
    call(PAD, F(1, 2, 3, 2), (1, 1, 0, 2, 1, 1), mode="reflect"),
    call(PAD, F(1, 1, 2, 3, 2), (1, 1, 0, 2, 1, 1), mode="replicate"),
    call(PAD, F(1, 2, 3, 2), (1, 1, 0, 2, 1, 1), mode="circular"),
    call("constant_pad_nd", F(2, 3), (1, 2), 3),
    call("pixel_shuffle", F(2, 8, 2, 3), 2),
    call("pixel_shuffle", F(9, 1, 2), 3),
    call("pixel_unshuffle", F(2, 2, 4, 6), 2),
    call("pixel_unshuffle", F(1, 3, 6), 3),
    call("channel_shuffle", F(2, 6, 3), 3),
    call("channel_shuffle", F(1, 4, 2, 2), 2),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(MODES)), st.integers(3, 6), st.integers(0, 2), st.integers(0, 2))
def test_as_numpy_pads(mode: str, n: int, before: int, after: int) -> None:
    x = np.arange(2.0 * n).reshape(2, n)
    y = compat.nn.functional.pad(compat.from_numpy(x), (before, after), mode=mode)
    expected = np.pad(x, ((0, 0), (before, after)), mode=MODES[mode])  # type: ignore[call-overload]
    assert np.array_equal(y.numpy(), expected)


def test_unshuffle_is_the_inverse() -> None:
    x = compat.arange(72.0).reshape(2, 4, 3, 3)
    for there, back in (
        (compat.pixel_shuffle(x, 2), compat.pixel_unshuffle),
        (compat.pixel_unshuffle(x, 3), compat.pixel_shuffle),
    ):
        assert compat.equal(back(there, 2 if there.shape[1] == 1 else 3), x)


@pytest.mark.parametrize(
    "mode, node",
    [
        ("constant", "ConstantPadNdBackward0"),
        ("reflect", "ReflectionPad1DBackward0"),
        ("replicate", "ReplicationPad1DBackward0"),
    ],
)
def test_nodes(mode: str, node: str) -> None:
    modules: list[Any] = [compat] if torch is None else [compat, torch]
    for m in modules:
        x = m.ones(2, 3, requires_grad=True)
        assert m.nn.functional.pad(x, (1, 1), mode=mode).grad_fn.name() == node
