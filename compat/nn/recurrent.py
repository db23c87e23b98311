"""Recurrent networks: RNN, LSTM, GRU.

One direction of one layer, all steps of it, is one node of the graph, whose function is a compiled
program. The mathematics is in `funcgrad.nn.recurrent`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from funcgrad.nn import recurrent as functions

from ..autograd import base, sites
from ..ops._compose import require_types
from ..ops._fused import fused_loop
from ..ops._operands import dtype_of
from ..ops.create import empty, zeros
from ..ops.join import cat, stack
from ..parameter import Parameter
from . import functional as F
from . import init
from .module import Module, typename
from .recurrent_cells import WEIGHTS
from .utils.rnn import PackedSequence, packed_places, padded_places, pick_rows

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_NODES = {"LSTM": "MkldnnRnnLayerBackward0"}


class RNNBase(Module):
    """What `RNN`, `LSTM` and `GRU` share; `mode` is "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".

    The parameters of layer k are called ``weight_ih_lk`` and so on, those of the other direction end
    in ``_reverse``. All start as uniform numbers between ``-1 / sqrt(hidden_size)`` and its negative.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        _check_arguments(self, dropout)
        self._directions = ("", "_reverse") if bidirectional else ("",)
        gates = _GATES[mode] * hidden_size
        state = proj_size or hidden_size
        self._layers: list[tuple[str, ...]] = []  # the names of the weights of each direction
        for layer in range(num_layers):
            width = input_size if layer == 0 else state * len(self._directions)
            shapes = [(gates, width), (gates, state), (gates,), (gates,), (proj_size, hidden_size)]
            for direction in self._directions:
                names = []
                for i, (name, shape) in enumerate(zip(WEIGHTS, shapes, strict=True)):
                    if (i in (2, 3) and not bias) or (i == 4 and not proj_size):
                        continue
                    names.append(f"{name}_l{layer}{direction}")
                    setattr(self, names[-1], Parameter(empty(shape, dtype=dtype, device=device)))
                self._layers.append(tuple(names))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing: there is no memory layout that is faster."""

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._layers for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters, a list for each direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._layers]

    # ------------------------------------------------------------ checks

    def check_input(self, input: Any, batch_sizes: Any = None) -> None:
        """Raises: ValueError, RuntimeError: the dtype, or the number of features, is another."""
        weight = getattr(self, self._layers[0][0])
        if dtype_of(input) is not dtype_of(weight):
            mine, needed = dtype_of(input), dtype_of(weight)
            raise ValueError(
                f"RNN input dtype ({mine}) does not match weight dtype ({needed}). Convert input: "
                f"input.to({needed}), or convert model: model.to({mine})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.shape[-1]}"
            )
        if 0 in input.shape[:1]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape of the state; `input` has its steps first, unless the module has them second."""
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.shape[0] if self.batch_first else input.shape[1]
        return len(self._layers), batch, self.proj_size or self.hidden_size

    def check_hidden_size(
        self, hx: Any, expected_hidden_size: Any, msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raises: RuntimeError: the state has another shape."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(tuple(expected_hidden_size), list(hx.shape)))

    def _check_states(self, states: Sequence[Any], batch: int) -> None:
        """Raises: RuntimeError: a state has another shape or dtype."""
        count, out = len(self._layers), self.proj_size or self.hidden_size
        if len(states) == 1:
            self.check_hidden_size(states[0], (count, batch, out))
        else:
            for i, (x, size) in enumerate(zip(states, (out, self.hidden_size), strict=True)):
                self.check_hidden_size(
                    x, (count, batch, size), f"Expected hidden[{i}] size {{}}, got {{}}"
                )
        require_types(*states, getattr(self, self._layers[0][0]))

    # ------------------------------------------------------------ running

    def forward(self, input: Any, hx: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            return self._of_packed(input, hx)
        axes = input.dim()
        if axes not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {axes}D instead"
            )
        states = None if hx is None else self._states_of(hx)
        if states is not None:
            self._check_axes(states, axes)
        if axes == 2:
            x = input.unsqueeze(1)
            states = None if states is None else [s.unsqueeze(1) for s in states]
        else:
            x = input.transpose(0, 1) if self.batch_first else input
        self.check_input(x)
        y, last = self._run(x, states, None)
        if axes == 2:
            return y.squeeze(1), self._given_back([s.squeeze(1) for s in last])
        return (y.transpose(0, 1) if self.batch_first else y), self._given_back(last)

    def _of_packed(self, packed: Any, hx: Any) -> Any:
        """As `forward`. The sequences are padded; where one is over its state stays."""
        sizes = packed.batch_sizes._array
        self.check_input(packed.data)
        states = None if hx is None else self._states_of(hx)
        if states is not None:
            self._check_axes(states, 3)
            states = [_reordered(s, packed.sorted_indices) for s in states]
        rows, there = packed_places(sizes)
        mask = None if there.all() else base.tensor(there[..., None])
        y, last = self._run(pick_rows(packed.data, rows), states, mask)
        data = pick_rows(y, *padded_places(sizes))
        last = [_reordered(s, packed.unsorted_indices) for s in last]
        return packed._replace(data=data), self._given_back(last)

    def _run(self, x: Any, states: Sequence[Any] | None, mask: Any) -> tuple[Any, list[Any]]:
        """Of an input with its steps first: the output, and the last states of all layers."""
        batch, count = x.shape[1], 1 + (self.mode == "LSTM")
        starts: list[Any]
        if states is None:
            sizes = (self.proj_size or self.hidden_size, self.hidden_size)
            zero = [zeros((batch, n), dtype=x.dtype, device=x.device) for n in sizes[:count]]
            starts = [zero] * len(self._layers)
        else:
            self._check_states(states, batch)
            starts = list(zip(*(s.unbind(0) for s in states), strict=True))
        found = []
        width = len(self._directions)
        for layer in range(self.num_layers):
            outs = []
            for i in range(width * layer, width * (layer + 1)):
                y, *last = self._direction(i, x, starts[i], mask)
                outs.append(y)
                found.append(last)
            x = outs[0] if width == 1 else cat(outs, -1)
            if self.dropout and layer < self.num_layers - 1:
                x = F.dropout(x, self.dropout, self.training)
        return x, [stack(each) for each in zip(*found, strict=True)]

    def _direction(self, i: int, x: Any, state: Sequence[Any], mask: Any) -> Any:
        """One direction of one layer: the output, and the last states."""
        weights = [getattr(self, name) for name in self._layers[i]]
        biases = weights[2:4] if self.bias else [None, None]
        options: dict[str, Any] = {"reverse": i % len(self._directions) == 1}
        tensors = [x, *state, *weights[:2], *biases]
        if self.mode == "LSTM":
            f: Any = functions.lstm_layer
            tensors.append(weights[-1] if self.proj_size else None)
        elif self.mode == "GRU":
            f = functions.gru_layer
        else:
            f = functions.rnn_layer
            options["activation"] = self.mode[4:].lower()
        node = _NODES.get(self.mode, "StackBackward0")
        return fused_loop(x.shape[0], node, f, *tensors, mask, **options)

    def _states_of(self, hx: Any) -> list[Any]:
        return [hx]

    def _given_back(self, states: Sequence[Any]) -> Any:
        return states[0]

    def _check_axes(self, states: Sequence[Any], axes: int) -> None:
        """Raises: RuntimeError: states of a batch for an input without, or the other way round."""
        if all(s.dim() == axes for s in states):
            return
        kind = "batched 3-D" if axes == 3 else "unbatched 2-D"
        if len(states) == 1:
            words = f"hx should also be {axes}-D but got {states[0].dim()}-D tensor"
        else:
            found = ", ".join(f"{s.dim()}-D" for s in states)
            words = f"hx and cx should also be {axes}-D but got ({found}) tensors"
        raise RuntimeError(f"For {kind} input, {words}")

    def extra_repr(self) -> str:
        shown = [f"{self.input_size}, {self.hidden_size}"]
        usual = [
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ]
        shown += [f"{k}={getattr(self, k)}" for k, v in usual if getattr(self, k) != v]
        return ", ".join(shown)


def _check_arguments(module: RNNBase, dropout: Any) -> None:
    """Raises: TypeError, ValueError: an argument is not what it should be."""
    if not isinstance(dropout, int | float) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            "being zeroed"
        )
    if dropout > 0 and module.num_layers == 1:
        sites.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and num_layers=1"
        )
    for name in ("bias", "batch_first"):
        given = getattr(module, name)
        if not isinstance(given, bool):
            raise TypeError(f"{name} should be of type bool, got: {typename(given)}")
    for name in ("input_size", "hidden_size"):
        size = getattr(module, name)
        if not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {typename(size)}")
    for name in ("input_size", "hidden_size", "num_layers"):
        if getattr(module, name) <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if module.proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if module.proj_size >= module.hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
    if module.mode not in _GATES:
        raise ValueError(f"Unrecognized RNN mode: {module.mode}")


def _reordered(state: Any, order: Any) -> Any:
    return state if order is None else state.index_select(1, order)


def _refuse_projection(kwargs: dict[str, Any]) -> None:
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """``h = tanh(x W_ih^T + b_ih + h W_hh^T + b_hh)``, step by step; layers on top of each other.

    Arguments: input_size, hidden_size, num_layers=1, nonlinearity="tanh" (or "relu"), bias=True,
    batch_first=False, dropout=0.0, bidirectional=False. The input may be a `PackedSequence`.

    Shapes: input ``(t, n, input_size)``, state ``(layers, n, hidden_size)`` -> output
    ``(t, n, directions * hidden_size)`` and the last state.

    >>> import compat as torch
    >>> output, h = torch.nn.RNN(3, 4)(torch.ones(5, 2, 3))
    >>> output.shape, h.shape
    (torch.Size([5, 2, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], (*args[:3], *args[4:])
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Gated recurrent units: ``h = (1 - z) * n + z * h``, see `funcgrad.nn.gru_cell`.

    Arguments: input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
    bidirectional=False. The input may be a `PackedSequence`.

    Shapes: as those of `RNN`.

    >>> import compat as torch
    >>> output, h = torch.nn.GRU(3, 4, bidirectional=True)(torch.ones(5, 2, 3))
    >>> output.shape, h.shape
    (torch.Size([5, 2, 8]), torch.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory: ``c = f * c + i * g`` and ``h = o * tanh(c)``.

    Arguments: input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
    bidirectional=False, proj_size=0 (to which `h` is projected). The state is a pair ``(h, c)``. The
    input may be a `PackedSequence`.

    Shapes: as those of `RNN`; `h` and the output have `proj_size` numbers, if it is not 0.

    >>> import compat as torch
    >>> output, (h, c) = torch.nn.LSTM(3, 4, num_layers=2)(torch.ones(5, 2, 3))
    >>> output.shape, h.shape, c.shape
    (torch.Size([5, 2, 4]), torch.Size([2, 2, 4]), torch.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape of `c`."""
        return (*self.get_expected_hidden_size(input, batch_sizes)[:2], self.hidden_size)

    def _states_of(self, hx: Any) -> list[Any]:
        return list(hx)

    def _given_back(self, states: Sequence[Any]) -> Any:
        return tuple(states)


__all__ = ["GRU", "LSTM", "RNN", "RNNBase"]
