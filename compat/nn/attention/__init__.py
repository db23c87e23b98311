"""`MultiheadAttention`."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from ...ops.create import empty
from ...parameter import Parameter
from .. import init
from ..attention_functions import multi_head_attention_forward
from ..linear import Linear
from ..module import Module


class SDPBackend(enum.IntEnum):
    """PyTorch's ways to compute `scaled_dot_product_attention`. Here there is one."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """A context that prefers some `SDPBackend`; they all compute the same, so nothing changes.

    Raises: AssertionError: `backends` is neither one nor a list of them.
    """
    assert isinstance(backends, list | tuple | SDPBackend), (
        "Backend must be an instance of SDPBackend or a list of SDPBackend instances"
    )
    yield


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear`, under the name that PyTorch shows for the last projection."""


class MultiheadAttention(Module):
    """Attention between projections, with several heads side by side, whose outputs are joined.

    Shapes: query ``(l, n, embed_dim)``, key ``(s, n, kdim)``, value ``(s, n, vdim)``; with
    `batch_first` n is first; without n too. Returns the output, like the query, and with
    `need_weights` the weights ``(n, l, s)``, the mean over the heads, or each head's.
    `attn_mask` ``(l, s)`` or ``(n * num_heads, l, s)`` and `key_padding_mask` ``(n, s)`` are True where
    a key must not be looked at, or numbers that are added. `add_bias_kv`: one more key and value, that
    are learnt; `add_zero_attn`: one of zeros.

    >>> import compat as torch
    >>> x = torch.ones(3, 2, 4)
    >>> y, weights = torch.nn.MultiheadAttention(4, 2)(x, x, x)
    >>> y.shape, weights.shape
    (torch.Size([3, 2, 4]), torch.Size([2, 3, 3]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim, "embed_dim must be divisible by num_heads"
        same, one = self._qkv_same_embed_dim, (1, 1, embed_dim)
        shapes: dict[str, Any] = {
            "q_proj_weight": None if same else (embed_dim, embed_dim),
            "k_proj_weight": None if same else (embed_dim, self.kdim),
            "v_proj_weight": None if same else (embed_dim, self.vdim),
            "in_proj_weight": (3 * embed_dim, embed_dim) if same else None,
            "in_proj_bias": (3 * embed_dim,) if bias else None,
        }
        for name, shape in shapes.items():
            p = None if shape is None else Parameter(empty(shape, dtype=dtype, device=device))
            self.register_parameter(name, p)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        for name in ("bias_k", "bias_v"):
            p = Parameter(empty(one, dtype=dtype, device=device)) if add_bias_kv else None
            self.register_parameter(name, p)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for w in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if w is not None:
                init.xavier_uniform_(w)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for b in (self.bias_k, self.bias_v):
            if b is not None:
                init.xavier_normal_(b)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        swaps = self.batch_first and query.dim() == 3
        if swaps:
            one_key, one_value = key is query, value is key
            query = query.transpose(0, 1)
            key = query if one_key else key.transpose(0, 1) if key.dim() == 3 else key
            value = key if one_value else value.transpose(0, 1) if value.dim() == 3 else value
        y, weights = multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            need_weights,
            attn_mask,
            not self._qkv_same_embed_dim,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (y.transpose(0, 1) if swaps else y), weights


__all__ = ["MultiheadAttention"]
