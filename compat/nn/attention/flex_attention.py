"""`torch.nn.attention.flex_attention`: attention whose scores and masks are functions of places.

A function of single numbers, the score and the numbers of the example, head, query and key, is
applied to all of them by `func.vmap`. All scores are computed; a mask saves no work here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import compat as torch

from ...ops._operands import operand


def noop_mask(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:
    """True for every query and key.

    >>> import compat as torch
    >>> noop_mask(*torch.zeros(4, 1))
    tensor([True])
    """
    return batch.new_ones(size=(), dtype=torch.bool).expand(batch.shape)


def and_masks(*mask_mods: Callable[..., Any]) -> Callable[..., Any]:
    """The mask that is True where all of some masks are."""
    return lambda b, h, q, kv: math.prod(
        (mask(b, h, q, kv) for mask in mask_mods), start=noop_mask(b, h, q, kv)
    )


def or_masks(*mask_mods: Callable[..., Any]) -> Callable[..., Any]:
    """The mask that is True where some mask is."""

    def either(b: Any, h: Any, q: Any, kv: Any) -> Any:
        found = ~noop_mask(b, h, q, kv)
        for mask in mask_mods:
            found = found | mask(b, h, q, kv)
        return found

    return either


def _everywhere(f: Callable[..., Any], shape: Any, *scores: Any) -> Any:
    """`f` of the scores and their four places, for all places of a shape."""
    for axis in (3, 2, 1, 0):
        in_dims = (*(0 for _ in scores), *(0 if k == axis else None for k in range(4)))
        f = torch.func.vmap(f, in_dims=in_dims)
    return f(*scores, *(torch.arange(n, dtype=torch.int32) for n in shape))


def create_mask(
    mod_fn: Callable[..., Any],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
) -> Any:
    """The mask of a function as a tensor of booleans.

    Shapes: ``(B, H, Q_LEN, KV_LEN)``, where None is 1.

    >>> create_mask(lambda b, h, q, kv: q >= kv, None, None, 2, 3)
    tensor([[[[ True, False, False],
              [ True,  True, False]]]])
    """
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    found = _everywhere(mod_fn, shape).expand(shape)
    return found if device is None else found.to(device)


class BlockMask:
    """A mask as a function, with the lengths that it is for; `create_block_mask` makes one."""

    def __init__(
        self, shape: tuple[int, ...], block_size: tuple[int, int], mask_mod: Callable[..., Any]
    ) -> None:
        self.shape, self.BLOCK_SIZE, self.mask_mod = shape, block_size, mask_mod
        self.seq_lengths = shape[2:]

    def to_dense(self) -> Any:
        """Which blocks have a place where the mask is True, as numbers 0 and 1."""
        b, h, n, m = self.shape
        rows, columns = self.BLOCK_SIZE
        dense = create_mask(self.mask_mod, b, h, n, m)
        padded = torch.nn.functional.pad(dense, (0, -m % columns, 0, -n % rows))
        blocks = padded.unflatten(3, (-1, columns)).unflatten(2, (-1, rows))
        return blocks.any(5).any(3).to(torch.int32)

    def numel(self) -> int:
        """The number of places."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """How many of a hundred places are not in blocks with a True one; blocks count as whole."""
        kept = int(self.to_dense().sum()) * math.prod(self.BLOCK_SIZE)
        return 100 * (1 - kept / self.numel())

    def to(self, device: Any) -> BlockMask:
        """The mask itself: it is a function."""
        return self


def create_block_mask(
    mask_mod: Callable[..., Any],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,
    _compile: bool = False,
) -> BlockMask:
    """The mask that ``mask_mod(b, h, q, kv)`` says: True where query `q` may look at key `kv`.

    `B` and `H` None: it is the same for all examples or heads.

    >>> mask = create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 4, 4, BLOCK_SIZE=2)
    >>> mask.to_dense().tolist(), mask.sparsity()
    ([[[[1, 0], [1, 1]]]], 25.0)
    """
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    return BlockMask((B or 1, H or 1, Q_LEN, KV_LEN), size, mask_mod)


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: Callable[..., Any] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
) -> Any:
    """``softmax(score_mod(query @ key^T * scale, b, h, q, kv)) @ value``.

    `score_mod` gets one score and its places, and may use tensors from outside. A query that
    `block_mask` lets look at no key gets 0. `scale` is by default ``1 / sqrt(e)``. With `enable_gqa`
    there may be fewer heads of keys and values. `return_lse`: also the logarithms of the sums of the
    exponentials of the scores. `kernel_options` change nothing.

    Shapes: ``(b, h, l, e), (b, h, s, e), (b, h, s, v) -> (b, h, l, v)``; logarithms ``(b, h, l)``.
    Derivative: by all tensors, those that `score_mod` uses too.
    Raises: ValueError: there are not four axes, the lengths are not those of the mask, or the heads do
    not fit.
    Source: Dong et al., Flex Attention (2024).

    >>> import compat as torch
    >>> q = torch.zeros(1, 1, 2, 1)
    >>> v = torch.tensor([[[[2.0], [4.0]]]])
    >>> flex_attention(q, q, v, lambda score, b, h, i, j: torch.where(i >= j, score, -torch.inf))
    tensor([[[[2.],
              [3.]]]])
    """
    q, k, v = (
        operand("flex_attention", i, word, x)
        for i, (word, x) in enumerate([("query", query), ("key", key), ("value", value)], 1)
    )
    if not q.dim() == k.dim() == v.dim() == 4:
        raise ValueError("flex_attention: query, key and value must be 4D tensors")
    groups, rest = divmod(q.shape[1], k.shape[1])
    if rest or (groups != 1 and not enable_gqa):
        raise ValueError(
            f"flex_attention: {q.shape[1]} heads of queries and {k.shape[1]} of keys do not fit; with "
            "enable_gqa=True the first may be a multiple of the second"
        )
    if groups != 1:
        k, v = (x.repeat_interleave(groups, 1) for x in (k, v))
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if score_mod is not None:
        scores = _everywhere(score_mod, scores.shape, scores)
    if block_mask is not None:
        if tuple(block_mask.seq_lengths) != tuple(scores.shape[2:]):
            raise ValueError(
                f"flex_attention: block_mask is for lengths {tuple(block_mask.seq_lengths)}, not "
                f"{tuple(scores.shape[2:])}; make one by create_block_mask"
            )
        allowed = create_mask(block_mask.mask_mod, *block_mask.shape)
        scores = torch.where(allowed, scores, -torch.inf)
    dead = (scores == -torch.inf).all(-1, keepdim=True)
    weights = torch.softmax(torch.where(dead, 0.0, scores), -1)
    out = (torch.where(dead, 0.0, weights) @ v).to(query.dtype)
    return (out, torch.logsumexp(scores, -1)) if return_lse else out


__all__ = [
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]
