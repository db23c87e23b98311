"""Transformers: layers of attention and two linear maps, stacks of them, and the whole."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..autograd import base
from . import functional as F
from . import init
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm


def _activation(given: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Raises: RuntimeError: the name is unknown."""
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return F.relu if given == "relu" else F.gelu


def _require_mask(mask: Any, name: str) -> Any:
    """Raises: AssertionError: it is neither boolean nor floating."""
    if mask is not None:
        is_known = mask._array.dtype.kind == "b" or mask.is_floating_point()
        assert is_known, f"only bool and floating types of {name} are supported"
    return mask


def _get_clones(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def _future_mask(size: int, dtype: Any = None) -> Any:
    """-inf where the column is greater than the row, elsewhere 0."""
    name = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    mask = np.triu(np.full((size, size), -math.inf), 1)
    return base.tensor(mask).to(name)


def _is_future_mask(mask: Any, given: bool | None, size: int | None) -> bool:
    """Whether the mask hides exactly what is later, unless it is `given`."""
    if given is not None or mask is None:
        return bool(given)
    if size is None or tuple(mask.shape) != (size, size):
        return False
    return bool(np.array_equal(mask._array, _future_mask(size, mask.dtype)._array))


def _length(x: Any, batch_first: bool) -> int | None:
    """The number of steps, None if `x` is no sequence."""
    shape = tuple(x.shape)
    if len(shape) not in (2, 3):
        return None
    return shape[0] if len(shape) == 2 or not batch_first else shape[1]


# ---------------------------------------------------------------- encoder


class _Layer(Module):
    """What both kinds of layers share: attention, and two linear maps with an activation between."""

    def __init__(
        self,
        count: int,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float,
        activation: Any,
        layer_norm_eps: float,
        batch_first: bool,
        norm_first: bool,
        bias: bool,
        device: Any,
        dtype: Any,
    ) -> None:
        super().__init__()
        on: dict[str, Any] = {"device": device, "dtype": dtype}
        for name in ("self_attn", "multihead_attn")[: count - 1]:
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, **on
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **on)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **on)
        self.norm_first = norm_first
        for i in range(1, count + 1):
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias, **on))
        for i in range(1, count + 1):
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)

    def _attend(
        self, module: Any, after: Any, x: Any, key: Any, mask: Any, padding: Any, causal: bool
    ) -> Any:
        """Attention to `key`, and dropout."""
        y, _ = module(
            x,
            key,
            key,
            attn_mask=mask,
            key_padding_mask=padding,
            need_weights=False,
            is_causal=causal,
        )
        return after(y)

    def _feed(self, after: Any, x: Any) -> Any:
        """The two linear maps, and dropout."""
        return after(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and two linear maps, each added to its input, with norms before or after.

    Shapes: ``(s, n, d_model)``, with `batch_first` ``(n, s, d_model)``, or ``(s, d_model)``.

    >>> import compat as torch
    >>> torch.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)(torch.ones(5, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            2,
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
            dtype,
        )

    def forward(
        self,
        src: Any,
        src_mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:
        mask = _require_mask(src_mask, "src_mask")
        padding = _require_mask(src_key_padding_mask, "src_key_padding_mask")

        def attend(x: Any) -> Any:
            return self._attend(self.self_attn, self.dropout1, x, x, mask, padding, is_causal)

        x = src
        if self.norm_first:
            x = x + attend(self.norm1(x))
            return x + self._feed(self.dropout2, self.norm2(x))
        x = self.norm1(x + attend(x))
        return self.norm2(x + self._feed(self.dropout2, x))


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, and a norm.

    `enable_nested_tensor` and `mask_check` are taken and change nothing.

    >>> import compat as torch
    >>> layer = torch.nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
    >>> torch.nn.TransformerEncoder(layer, 2)(torch.ones(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Any = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = False
        self.mask_check = mask_check

    def forward(
        self,
        src: Any,
        mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool | None = None,
    ) -> Any:
        first = self.layers[0].self_attn if self.num_layers else None
        size = _length(src, first.batch_first) if first is not None else None
        causal = _is_future_mask(mask, is_causal, size)
        x = src
        for layer in self.layers:
            x = layer(
                x,
                src_mask=mask,
                is_causal=causal,
                src_key_padding_mask=src_key_padding_mask,
            )
        return x if self.norm is None else self.norm(x)


# ---------------------------------------------------------------- decoder


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to `memory` and two linear maps, each added to its input.

    Shapes: those of `TransformerEncoderLayer`, of the target and of the memory.

    >>> import compat as torch
    >>> layer = torch.nn.TransformerDecoderLayer(8, 2, dim_feedforward=16)
    >>> layer(torch.ones(5, 3, 8), torch.ones(4, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            3,
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            device,
            dtype,
        )

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        def attend(x: Any) -> Any:
            return self._attend(
                self.self_attn, self.dropout1, x, x, tgt_mask, tgt_key_padding_mask, tgt_is_causal
            )

        def look(x: Any) -> Any:
            return self._attend(
                self.multihead_attn,
                self.dropout2,
                x,
                memory,
                memory_mask,
                memory_key_padding_mask,
                memory_is_causal,
            )

        x = tgt
        if self.norm_first:
            x = x + attend(self.norm1(x))
            x = x + look(self.norm2(x))
            return x + self._feed(self.dropout3, self.norm3(x))
        x = self.norm1(x + attend(x))
        x = self.norm2(x + look(x))
        return self.norm3(x + self._feed(self.dropout3, x))


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, and a norm."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        first = self.layers[0].self_attn if self.num_layers else None
        size = _length(tgt, first.batch_first) if first is not None else None
        causal = _is_future_mask(tgt_mask, tgt_is_causal, size)
        x = tgt
        for layer in self.layers:
            x = layer(
                x,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return x if self.norm is None else self.norm(x)


# ---------------------------------------------------------------- both


class Transformer(Module):
    """An encoder of the source, and a decoder of the target that looks at what it gives.

    All weights of more than one axis start as `init.xavier_uniform_` makes them.

    Shapes: source ``(s, n, d_model)``, target ``(t, n, d_model)`` -> ``(t, n, d_model)``; with
    `batch_first` n is first; without n too.

    >>> import compat as torch
    >>> model = torch.nn.Transformer(8, 2, 1, 1, dim_feedforward=16)
    >>> model(torch.ones(5, 3, 8), torch.ones(4, 3, 8)).shape
    torch.Size([4, 3, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = (
            *(d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps),
            *(batch_first, norm_first, bias, device, dtype),
        )

        def norm() -> Any:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        self.encoder = custom_encoder
        if custom_encoder is None:
            layer: Any = TransformerEncoderLayer(*options)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        self.decoder = custom_decoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*options)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, norm())
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        axis = 0 if self.batch_first else 1
        if src.dim() == 3 and src.shape[axis] != tgt.shape[axis]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """-inf where the column is greater than the row, which hides what is later; elsewhere 0.

        >>> import compat as torch
        >>> torch.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        mask = _future_mask(sz, dtype)
        return mask if device is None else mask.to(device)

    def _reset_parameters(self) -> None:
        """Draw the weights anew."""
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)


__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]
