"""`RNNCell`, `LSTMCell` and `GRUCell`: one step of a recurrent network.

The products with the weights are a node of their own, so that those of all steps' gradients are taken
together; what follows is another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.nn import recurrent as functions
from funcgrad.ops import arithmetic

from ..autograd.printed_composites import composite
from ..ops._compose import require_types
from ..ops._fused import fused
from ..ops.create import empty, zeros
from ..ops.exponential import relu
from ..ops.matrix import linear, product
from ..ops.pointwise import add
from ..ops.trigonometric import tanh
from ..parameter import Parameter
from . import init
from .module import Module

WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


def _sum_of_affine(x: Any, w: Any, b: Any, h: Any, u: Any, d: Any, /) -> Any:
    products = arithmetic.add(product(x, w), product(h, u))
    return arithmetic.add(products, arithmetic.add(b, d))


@composite(
    _sum_of_affine,
    "AddBackward0",
    {"x": 2, "w": 2, "b": 1, "h": 2, "u": 2, "d": 1},
    fits="b.shape == d.shape == w.shape[:1] == u.shape[:1] and x.shape[0] == h.shape[0]",
)
def _two_products(input: Any, w_ih: Any, b_ih: Any, hx: Any, w_hh: Any, b_hh: Any) -> Any:
    return add(linear(input, w_ih, b_ih), linear(hx, w_hh, b_hh))


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
        self, step: Callable[..., Any], count: int, input: Any, states: Sequence[Any] | None
    ) -> Any:
        """``step(x, *states)``, with a batch axis; None stands for `count` states of zeros."""
        axes = input._array.ndim
        if axes == 2 and states is not None and self._fits(input, states):
            x = input
        else:
            x, states = self._checked(input, states, count)
        own = self._parameters
        require_types(x, *states, *[own[n] for n in WEIGHTS[:4]])
        found = step(x, *states)
        if axes == 2:
            return found
        return tuple(y.squeeze(0) for y in found) if isinstance(found, tuple) else found.squeeze(0)

    def _fits(self, x: Any, states: Sequence[Any]) -> bool:
        """Whether nothing has to be changed, or refused."""
        rows, features = x._array.shape
        expected = (rows, self.hidden_size)
        return features == self.input_size and all(s._array.shape == expected for s in states)

    def _checked(self, input: Any, states: Sequence[Any] | None, count: int) -> Any:
        """Input and states with a batch axis.

        Raises: ValueError, RuntimeError: the sizes do not fit.
        """
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
            zero = zeros((x.shape[0], self.hidden_size), dtype=x.dtype, device=x.device)
            states = [zero] * count
        elif axes == 1:
            states = [s.unsqueeze(0) if s.dim() == 1 else s for s in states]
        self._check(x, states)
        return x, states

    def _gates(self, x: Any, h: Any) -> Any:
        """``x W_ih^T + b_ih + h W_hh^T + b_hh``."""
        own = self._parameters
        w, u, b, d = [own[n] for n in WEIGHTS[:4]]
        if b is None or d is None:
            return add(linear(x, w, b), linear(h, u, d))
        return _two_products(x, w, b, h, u, d)

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
        act = tanh if self.nonlinearity == "tanh" else relu
        states = None if hx is None else [hx]
        return self._step(lambda x, h: act(self._gates(x, h)), 1, input, states)

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
        return self._step(self._next, 2, input, hx)

    def _next(self, x: Any, h: Any, c: Any) -> Any:
        return fused("MulBackward0", functions.lstm_state, self._gates(x, h), c)


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
        return self._step(self._next, 1, input, states)

    def _next(self, x: Any, h: Any) -> Any:
        w, u, b, d = [self._parameters[n] for n in WEIGHTS[:4]]
        parts = [linear(x, w, b), linear(h, u, d), h]
        return fused("AddBackward0", functions.gru_state, *parts)


__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]
