"""`RNNCell`, `LSTMCell` and `GRUCell`: one step of a recurrent network, as one node of the graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.nn import recurrent as functions

from ..ops.create import empty, zeros
from ..parameter import Parameter
from . import init
from .module import Module
from .one_node import one_node, require_types

WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


class RNNCellBase(Module):
    """What the cells share: parameters, the check of what they are called with, and the state 0."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        for name, shape in zip(
            WEIGHTS[:4], [(rows, input_size), (rows, hidden_size), (rows,), (rows,)], strict=True
        ):
            is_there = bias or len(shape) == 2
            p = Parameter(empty(shape, dtype=dtype, device=device)) if is_there else None
            self.register_parameter(name, p)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        return shown if self.bias else f"{shown}, bias={self.bias}"

    def _step(
        self,
        node: str,
        f: Callable[..., Any],
        input: Any,
        states: Sequence[Any] | None,
        options: tuple[Any, ...] = (),
    ) -> Any:
        """`f`, one step; `states` are None for zeros. Everything with a batch axis or without."""
        name, axes = type(self).__name__, input.dim()
        if axes not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {axes}D instead")
        if states is not None:
            what = ["hidden"] if len(states) == 1 else [f"hx[{i}]" for i in range(len(states))]
            for word, s in zip(what, states, strict=True):
                if s.dim() not in (1, 2):
                    raise ValueError(
                        f"{name}: Expected {word} to be 1D or 2D, got {s.dim()}D instead"
                    )
        x = input if axes == 2 else input.unsqueeze(0)
        if states is None:
            count = 1 + (f is functions.lstm_cell)
            zero = zeros((x.shape[0], self.hidden_size), dtype=x.dtype, device=x.device)
            states = [zero] * count
        elif axes == 1:
            states = [s.unsqueeze(0) if s.dim() == 1 else s for s in states]
        own = self._parameters
        weights = [own[n] for n in WEIGHTS[:4]]
        self._check(x, states)
        require_types(x, *states, *weights)
        found = one_node(node, f, [x, *states, *weights], options)
        if axes == 2:
            return found
        return tuple(y.squeeze(0) for y in found) if isinstance(found, tuple) else found.squeeze(0)

    def _check(self, x: Any, states: Sequence[Any]) -> None:
        """Raises: RuntimeError: the sizes do not fit."""
        batch, features = x._array.shape
        if features != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {features} expected {self.input_size}"
            )
        for i, s in enumerate(states):
            rows = s._array.shape[0]
            if rows != batch:
                raise RuntimeError(
                    f"Input batch size {batch} doesn't match hidden{i} batch size {rows}"
                )
            if s._array.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {s._array.shape[1]}, expected "
                    f"{self.hidden_size}"
                )


class RNNCell(RNNCellBase):
    """One step of `RNN`: ``h = tanh(x W_ih^T + b_ih + h W_hh^T + b_hh)``, or `relu` of it.

    Shapes: ``(n, input_size), (n, hidden_size) -> (n, hidden_size)``; without n too.

    >>> import compat as torch
    >>> torch.nn.RNNCell(3, 4)(torch.ones(2, 3)).shape
    torch.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        options = (("activation", self.nonlinearity),)
        states = None if hx is None else [hx]
        node = f"{self.nonlinearity.title()}Backward0"
        return self._step(node, functions.rnn_cell, input, states, options)

    def extra_repr(self) -> str:
        shown = super().extra_repr()
        usual = self.nonlinearity == "tanh"
        return shown if usual else f"{shown}, nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    """One step of `LSTM`: from ``(h, c)`` to the next pair.

    Shapes: ``(n, input_size), ((n, hidden_size), (n, hidden_size)) -> the same pair``; without n too.

    >>> import compat as torch
    >>> h, c = torch.nn.LSTMCell(3, 4)(torch.ones(2, 3))
    >>> h.shape, c.shape
    (torch.Size([2, 4]), torch.Size([2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._step("MulBackward0", functions.lstm_cell, input, hx)


class GRUCell(RNNCellBase):
    """One step of `GRU`: ``h = (1 - z) * n + z * h``.

    Shapes: ``(n, input_size), (n, hidden_size) -> (n, hidden_size)``; without n too.

    >>> import compat as torch
    >>> torch.nn.GRUCell(3, 4)(torch.ones(3)).shape
    torch.Size([4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        states = None if hx is None else [hx]
        return self._step("AddBackward0", functions.gru_cell, input, states)


__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]
