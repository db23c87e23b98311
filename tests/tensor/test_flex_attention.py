"""`torch.nn.attention.flex_attention`, against attention with dense biases and masks, PyTorch's too.

PyTorch's own `flex_attention` has no gradients on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from agreement_of_worlds import WORLDS

import compat
import compat.nn.attention.flex_attention as flex

B, H, L, S = 2, 4, 5, 6
RNG = np.random.default_rng(0)
Q, K, V, TABLE = (
    RNG.standard_normal(shape) for shape in ((B, H, L, 3), (B, H, S, 3), (B, H, S, 2), (H, L + S))
)
EXAMPLE, _, ROW, COLUMN = np.ix_(*map(np.arange, (B, H, L, S)))
CAUSAL = np.broadcast_to(ROW >= COLUMN, (B, H, L, S))
ODD = np.broadcast_to((ROW != 2) & (COLUMN < 3 + EXAMPLE), (B, H, L, S))  # query 2 sees nothing


def causal(b: Any, h: Any, i: Any, j: Any) -> Any:
    return i >= j


def odd(b: Any, h: Any, i: Any, j: Any) -> Any:
    return (i != 2) & (j < 3 + b)


def gradients(th: Any, attend: Callable[..., Any], given: tuple[Any, ...]) -> list[Any]:
    tensors = [th.tensor(x, requires_grad=True) for x in given]
    out = attend(*tensors)
    (out**2).sum().backward()
    return [out.detach().numpy(), *(x.grad.numpy() for x in tensors)]


def agree(attend: Callable[..., Any], dense: Callable[..., Any], *given: Any) -> None:
    ours = gradients(compat, attend, given)
    for th in WORLDS:
        theirs = gradients(th, lambda *xs, th=th: dense(th, *xs), given)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_scores_by_place_use_tensors_from_outside() -> None:
    def dense(th: Any, q: Any, k: Any, v: Any, table: Any) -> Any:
        bias = table[th.arange(H)[:, None, None], th.tensor(ROW - COLUMN)[0, 0] + S]
        return th.nn.functional.scaled_dot_product_attention(q, k, v, bias + 0 * q[:, :, :, :1])

    def attend(q: Any, k: Any, v: Any, table: Any) -> Any:
        return flex.flex_attention(q, k, v, lambda s, b, h, i, j: s + table[h, i - j + S])

    agree(attend, dense, Q, K, V, TABLE)


@pytest.mark.parametrize(
    "mod, mask",
    [
        (causal, CAUSAL),
        (odd, ODD),
        (flex.and_masks(causal, odd), CAUSAL & ODD),
        (flex.or_masks(causal, odd), CAUSAL | ODD),
        (flex.noop_mask, CAUSAL | True),
    ],
)
def test_masks(mod: Any, mask: Any) -> None:
    made = flex.create_block_mask(mod, B, None, L, S)
    assert np.array_equal(flex.create_mask(mod, B, H, L, S).numpy(), mask)
    agree(
        lambda q, k, v: flex.flex_attention(q, k, v, block_mask=made, scale=0.7),
        lambda th, q, k, v: th.nn.functional.scaled_dot_product_attention(
            q, k, v, th.tensor(mask.copy()), scale=0.7
        ),
        *(Q, K, V),
    )


def test_fewer_heads_of_keys_and_logarithms() -> None:
    q, k, v = map(compat.tensor, (Q, K[:, :2], V[:, :2]))
    out, lse = flex.flex_attention(
        q, k, v, lambda s, b, h, i, j: s * (1 + h), enable_gqa=True, return_lse=True
    )
    k, v = (x.repeat_interleave(2, 1) for x in (k, v))
    scores = q @ k.mT / 3**0.5 * compat.arange(1, 5)[:, None, None]
    np.testing.assert_allclose(out, scores.softmax(-1) @ v, rtol=1e-12)
    np.testing.assert_allclose(lse, scores.logsumexp(-1), rtol=1e-12)
    assert flex.flex_attention(q.float(), k.float(), v.float()).dtype == compat.float32


def test_blocks() -> None:
    made = flex.create_block_mask(odd, B, None, 20, 30, BLOCK_SIZE=4)
    assert made.shape == (2, 1, 20, 30) and made.numel() == 1200 and made.to("cpu") is made
    assert made.to_dense().sum() == 10 and made.sparsity() == pytest.approx(80 + 20 / 3)


def test_what_does_not_fit() -> None:
    q, k, v = map(compat.tensor, (Q, K, V))
    with pytest.raises(ValueError, match="4D"):
        flex.flex_attention(q[0], k[0], v[0])
    with pytest.raises(ValueError, match="4 heads of queries and 2 of keys"):
        flex.flex_attention(q, k[:, :2], v[:, :2])
    with pytest.raises(ValueError, match="is for lengths"):
        flex.flex_attention(q, k, v, block_mask=flex.create_block_mask(causal, B, H, S, S))
