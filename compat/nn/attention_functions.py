"""`scaled_dot_product_attention` and `multi_head_attention_forward`, each as one node of the graph.

The mathematics is in `funcgrad.nn.attention`; here are PyTorch's arguments, and its errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.nn import attention as functions

from ..autograd import base, sites
from ..autograd.remembered import remembered_of_several
from ..ops._compose import require_types
from ..ops._fused import fused
from ..ops._operands import dtype_of, operand, optional
from ..ops.matrix import word_of

if TYPE_CHECKING:
    from .._tensor import Tensor

# ---------------------------------------------------------------- scaled dot products


@remembered_of_several
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key^T * scale + mask) @ value``.

    `attn_mask`: numbers that are added, or booleans, True where a key may be looked at; a query that
    may look at none gets 0. `is_causal`: query i sees the keys up to i only. `scale` is by default
    ``1 / sqrt(e)``. With `enable_gqa` there may be fewer heads, the third axis from the end, of keys
    and values than of queries.

    Shapes: ``(*a, l, e), (*a, s, e), (*a, s, v) -> (*a, l, v)``; the mask broadcasts to ``(*a, l, s)``.
    Raises: RuntimeError: shapes or dtypes do not fit, or `dropout_p` is no probability.

    >>> import compat as torch
    >>> q = torch.zeros(2, 1)
    >>> scaled_dot_product_attention(q, q, torch.tensor([[2.0], [4.0]]), is_causal=True)
    tensor([[2.],
            [3.]])
    """
    name = "scaled_dot_product_attention"
    q, k, v = (
        operand(name, i, word, x)
        for i, (word, x) in enumerate([("query", query), ("key", key), ("value", value)], 1)
    )
    attn_mask = optional(name, 4, "attn_mask", attn_mask)
    weights = _shape_of_weights(q, k, v, enable_gqa)
    _check_mask(attn_mask, q, weights)
    if is_causal and attn_mask is not None:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True; put both into the mask"
        )
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    keep = _factors(weights, dropout_p, q) if dropout_p else None
    four = len(weights) == 4
    node = "ScaledDotProductFlashAttentionForCpuBackward0" if four else "UnsafeViewBackward0"
    options = {"causal": is_causal, "scale": scale, "grouped": enable_gqa}
    f = functions.scaled_dot_product_attention
    kind = dtype_of(q)
    if q._array.dtype.itemsize > 2:
        return fused(node, f, q, k, v, attn_mask, keep, **options)
    # As PyTorch's own, which rounds the result only.
    out: Tensor = fused(node, f, q.float(), k.float(), v.float(), attn_mask, keep, **options)
    return out.to(kind)


def _shape_of_weights(q: Any, k: Any, v: Any, grouped: bool) -> tuple[int, ...]:
    """The shape of the weights.

    Raises: RuntimeError: the shapes or dtypes do not fit.
    """
    shapes = [tuple(x._array.shape) for x in (q, k, v)]
    axes = [len(s) for s in shapes]
    if min(axes) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{axes[0]} key.dim: {axes[1]} and value.dim: {axes[2]} instead."
        )
    if dtype_of(k) is not dtype_of(q) or dtype_of(v) is not dtype_of(q):
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{word_of(q)} key.dtype: {word_of(k)} and value.dtype: {word_of(v)} instead."
        )
    if q._array.dtype.kind != "f" and q._array.dtype.itemsize != 2:
        raise RuntimeError(f"expected floating point numbers but found {word_of(q)}")
    (*lead, length, width), (*_, count, other), (*_, found, _) = shapes
    if width != other or count != found:
        raise RuntimeError(
            f"query, key and value of shapes {', '.join(str(list(s)) for s in shapes)} do not fit: "
            "the last axes of query and key, and the second to last of key and value, must be of "
            "the same size"
        )
    leads = [s[:-2] for s in shapes]
    if grouped:
        for i in (1, 2):
            few = leads[i][-1:]
            if not few or not lead or not few[0] or lead[-1] % few[0]:
                raise RuntimeError(
                    "Number of heads in key and value must divide the number of heads in query"
                )
            leads[i] = (*leads[i][:-1], lead[-1])
    try:
        return (*np.broadcast_shapes(*leads), length, count)
    except ValueError:
        raise RuntimeError(
            "The leading axes of query, key and value must match, but the shapes are "
            f"{', '.join(str(list(s)) for s in shapes)}"
        ) from None


def _check_mask(mask: Any, q: Any, weights: tuple[int, ...]) -> None:
    """Raises: RuntimeError: the mask is of another dtype, or does not broadcast to the weights."""
    if mask is None:
        return
    if mask._array.dtype.kind != "b" and mask._array.dtype != q._array.dtype:
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {word_of(mask)} and  query.dtype: {word_of(q)} instead."
        )
    shape = tuple(mask._array.shape)
    pairs = zip(shape[::-1], weights[::-1], strict=False)
    if len(shape) > len(weights) or any(m not in (1, n) for m, n in pairs):
        raise RuntimeError(
            f"attn_mask of shape {list(shape)} does not broadcast to the weights, {list(weights)}"
        )


def _factors(shape: tuple[int, ...], p: float, like: Any) -> Any:
    """Random factors: 0 with probability `p`, else ``1 / (1 - p)``."""
    keep = base.tensor(np.empty(shape, like._array.dtype)).bernoulli_(1 - p)
    return keep.mul_(1 / (1 - p)) if p < 1 else keep


# ---------------------------------------------------------------- several heads


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Attention with several heads between projections: the output, and the weights or None.

    As `MultiheadAttention`, which see; `static_k` and `static_v` are not taken.

    Raises: AssertionError, RuntimeError: the shapes do not fit. NotImplementedError: static keys.
    """
    if static_k is not None or static_v is not None:
        raise NotImplementedError(
            "multi_head_attention_forward: static_k and static_v are not supported; "
            "scaled_dot_product_attention takes keys and values as they are"
        )
    alone = _is_alone(query, key, value, key_padding_mask, attn_mask)
    one_key, one_value = key is query, value is key
    if alone:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
        if attn_mask is not None and attn_mask.dim() == 3:
            needed = (num_heads, query.shape[0], key.shape[0])
            assert attn_mask.shape == needed, (
                f"Expected `attn_mask` shape to be {needed} but got {attn_mask.shape}"
            )
    length, batch, width = query.shape
    assert width == embed_dim_to_check, (
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}"
    )
    assert width % num_heads == 0, f"embed_dim {width} not divisible by num_heads {num_heads}"
    same = (
        key.shape[:2] == value.shape[:2] if use_separate_proj_weight else key.shape == value.shape
    )
    assert same, f"key shape {key.shape} does not match value shape {value.shape}"
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. "
            "nn.Transformer.generate_square_subsequent_mask makes one."
        )
    padding = _checked_mask(key_padding_mask, "key_padding_mask")
    mask = _checked_mask(attn_mask, "attn_mask")
    _check_fit(mask, padding, query, key, num_heads)
    if use_separate_proj_weight:
        projections = [None, q_proj_weight, k_proj_weight, v_proj_weight]
        for name, x, w in (("key", key, k_proj_weight), ("value", value, v_proj_weight)):
            assert w.shape == (width, x.shape[2]), (
                f"expecting {name} weights shape of {(width, x.shape[2])}, but got {w.shape}"
            )
    else:
        projections = [in_proj_weight, None, None, None]
        if key.shape[2] != width:
            raise RuntimeError(
                f"expected key and value to have the embedding dimension {width}, but they are of "
                f"the shape {list(key.shape)}"
            )
    if key.shape[1] != batch:
        raise RuntimeError(
            f"the batch sizes of query and key must be equal, but the shapes (length, batch, "
            f"dimension) are {list(query.shape)} and {list(key.shape)}"
        )
    count = key.shape[0] + (bias_k is not None) + bool(add_zero_attn)
    shape = (batch, num_heads, length, count)
    keep = _factors(shape, dropout_p, query) if training and dropout_p else None
    tensors = [
        query,
        None if one_key else key,
        None if one_value else value,
        *projections,
        *(in_proj_bias, bias_k, bias_v, out_proj_weight, out_proj_bias, mask, padding, keep),
    ]
    require_types(*[t for t in tensors if t is not None and t is not mask and t is not padding])
    weights = "none" if not need_weights else "mean" if average_attn_weights else "each"
    options = {"heads": num_heads, "zero": bool(add_zero_attn), "weights": weights}
    found = fused("ViewBackward0", functions.multi_head_attention, *tensors, **options)
    y, shares = found if need_weights else (found, None)
    if alone:
        return y.squeeze(1), None if shares is None else shares.squeeze(0)
    return y, shares


def _is_alone(query: Any, key: Any, value: Any, padding: Any, mask: Any) -> bool:
    """Whether there is no axis of the batch.

    Raises: AssertionError: the numbers of axes do not go together.
    """
    axes = query.dim()
    assert axes in (2, 3), (
        f"query should be unbatched 2D or batched 3D tensor but received {axes}-D query tensor"
    )
    kind = "batched (3-D)" if axes == 3 else "unbatched (2-D)"
    assert key.dim() == axes and value.dim() == axes, (
        f"For {kind} `query`, expected `key` and `value` to be {axes}-D but found {key.dim()}-D and "
        f"{value.dim()}-D tensors respectively"
    )
    if padding is not None:
        assert padding.dim() == axes - 1, (
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {axes - 1}-D but found "
            f"{padding.dim()}-D tensor instead"
        )
    if mask is not None:
        assert mask.dim() in (2, 3), (
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{mask.dim()}-D tensor instead"
        )
    return axes == 2


def _checked_mask(mask: Any, name: str) -> Any:
    """The mask.

    Raises: AssertionError: it is neither boolean nor floating.
    """
    if mask is not None:
        assert mask._array.dtype.kind == "b" or mask.is_floating_point(), (
            f"only bool and floating types of {name} are supported"
        )
    return mask


def _check_fit(mask: Any, padding: Any, query: Any, key: Any, heads: int) -> None:
    """Raises: RuntimeError, AssertionError: a mask has another shape."""
    (length, batch, _), count = query.shape, key.shape[0]
    if padding is not None:
        found = tuple(padding.shape)
        assert found[0] == batch, (
            f"Expected key_padded_mask.shape[0] to be {batch}, but got {found[0]}"
        )
        assert found[1] == count, (
            f"Expected key_padded_mask.shape[1] to be {count}, but got {found[1]}"
        )
    if mask is not None:
        needed = (length, count) if mask.dim() == 2 else (batch * heads, length, count)
        if tuple(mask.shape) != needed:
            raise RuntimeError(
                f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {needed}."
            )
    if mask is not None and padding is not None and dtype_of(mask) is not dtype_of(padding):
        sites.warn(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for "
            "both instead."
        )


__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]
