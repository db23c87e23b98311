"""Recurrent layers: one step, and one layer over a whole sequence, of each of three kinds.

A layer multiplies its input by `w_ih` for all steps at once; what is left to the loop is the product
of the state with `w_hh` and the gates. The loop is `lax.scan`: plain Python, or one step of a program.
The weights of several gates are stacked along their first axis, as PyTorch has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, where
from ..ops.contract import dot_general
from ..ops.exponential import sigmoid
from ..ops.select import where as choose
from ..transforms.loops import scan

State = tuple[Any, ...]
_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "tanh": np.tanh,
    "relu": lambda x: fnp.maximum(x, 0),
}


def _times(x: Any, w: Any) -> Any:
    """``x @ w.T`` of two matrices, of which nothing but themselves is kept for the way back."""
    return dot_general(x, w, contracting=((1,), (1,)), batch=((), ()))


def _plus(x: Any, *biases: Any) -> Any:
    """`x` plus the sum of the biases that are there."""
    given = [b for b in biases if b is not None]
    return x + sum(given[1:], start=given[0]) if given else x


def _parts(x: Any, count: int) -> list[Any]:
    """Equal parts of the columns."""
    n = aval_of(x).shape[1] // count
    return [x[:, i * n : (i + 1) * n] for i in range(count)]


# ---------------------------------------------------------------- one step, from the input's part


def _simple_step(gates: Any, state: State, w_hh: Any, *, activation: str) -> State:
    (h,) = state
    return (_ACTIVATIONS[activation](gates + _times(h, w_hh)),)


def gru_state(gates: Any, h_gates: Any, h: Any) -> Any:
    """The next state of `gru_cell`, from the gates' parts by the input and by the state `h`."""
    reset, update, new = _parts(gates, 3)
    h_reset, h_update, h_new = _parts(h_gates, 3)
    new = np.tanh(new + sigmoid(reset + h_reset) * h_new)
    return new + sigmoid(update + h_update) * (h - new)


def lstm_state(gates: Any, c: Any) -> tuple[Any, Any]:
    """The next ``h, c`` of `lstm_cell`, from the gates before their activations and `c`."""
    i, f, g, o = _parts(gates, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def _gru_step(gates: Any, state: State, w_hh: Any, b_hh: Any) -> State:
    (h,) = state
    return (gru_state(gates, _plus(_times(h, w_hh), b_hh), h),)


def _lstm_step(gates: Any, state: State, w_hh: Any, w_hr: Any) -> State:
    h, c = state
    h, c = lstm_state(gates + _times(h, w_hh), c)
    return (h if w_hr is None else _times(h, w_hr)), c


# ---------------------------------------------------------------- one step


def rnn_cell(
    x: Any,
    h: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    *,
    activation: str = "tanh",
) -> Any:
    """``act(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)``; `activation` is "tanh" or "relu".

    Shapes: ``x: (n, i), h: (n, k), w_ih: (k, i), w_hh: (k, k), biases: (k) -> (n, k)``.
    Dtypes: floating.
    Derivative: that of the composition.
    Raises: ArgumentError: the activation is unknown. ShapeError: the shapes do not fit.
    Source: Elman, "Finding structure in time", Cognitive Science 14 (1990).

    >>> rnn_cell(np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1))).tolist()
    [[0.761594]]
    """
    _require_activation("rnn_cell", activation)
    gates = _plus(_times(x, w_ih), b_ih, b_hh)
    return _simple_step(gates, (h,), w_hh, activation=activation)[0]


def gru_cell(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    """``(1 - z) * n + z * h`` with the gates ``r, z = sigmoid(...)`` and ``n = tanh(... + r * ...)``.

    The gates are stacked as r, z, n; the reset gate multiplies the state's part after its product.

    Shapes: ``x: (n, i), h: (n, k), w_ih: (3k, i), w_hh: (3k, k), biases: (3k) -> (n, k)``.
    Dtypes: floating.
    Derivative: that of the composition; smooth everywhere.
    Raises: ShapeError: the shapes do not fit.
    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder", EMNLP 2014.

    >>> gru_cell(np.zeros((1, 1)), np.ones((1, 1)), np.zeros((3, 1)), np.zeros((3, 1))).tolist()
    [[0.5]]
    """
    return _gru_step(_plus(_times(x, w_ih), b_ih), (h,), w_hh, b_hh)[0]


def lstm_cell(
    x: Any,
    h: Any,
    c: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    w_hr: Any = None,
) -> tuple[Any, Any]:
    """``c = f * c + i * g`` and ``h = o * tanh(c)``, which `w_hr` projects, if it is given.

    The gates ``i, f, o = sigmoid(...)`` and ``g = tanh(...)`` are stacked as i, f, g, o.

    Shapes: ``x: (n, i), h: (n, p), c: (n, k), w_ih: (4k, i), w_hh: (4k, p), biases: (4k),
    w_hr: (p, k) -> (n, p), (n, k)``, where ``p = k`` without a projection.
    Dtypes: floating.
    Derivative: that of the composition; smooth everywhere.
    Raises: ShapeError: the shapes do not fit.
    Source: Hochreiter & Schmidhuber, "Long short-term memory", Neural Computation 9 (1997).

    >>> h, c = lstm_cell(*np.ones((3, 1, 1)), np.zeros((4, 1)), np.zeros((4, 1)))
    >>> h.tolist(), c.tolist()
    ([[0.231059]], [[0.5]])
    """
    h, c = _lstm_step(_plus(_times(x, w_ih), b_ih, b_hh), (h, c), w_hh, w_hr)
    return h, c


# ---------------------------------------------------------------- one layer


def _layer(
    step: Callable[[Any, State], State],
    x: Any,
    w_ih: Any,
    biases: tuple[Any, ...],
    state: State,
    mask: Any,
    reverse: bool,
) -> tuple[Any, ...]:
    """The outputs of all steps, and the last state. Where `mask` is False the state stays."""
    length, examples, features = aval_of(x).shape
    gates = _plus(_times(x.reshape((length * examples, features)), w_ih), *biases)
    gates = gates.reshape((length, examples, aval_of(gates).shape[1]))

    def body(state: State, row: Any) -> tuple[State, Any]:
        if mask is None:
            new = step(row, state)
        else:
            row, is_there = row
            after = step(row, state)
            new = tuple(choose(is_there, a, b) for a, b in zip(after, state, strict=True))
        return new, new[0]

    rows = gates if mask is None else (gates, mask)
    last, ys = scan(body, state, rows, reverse=reverse)
    return ys, *last


def rnn_layer(
    x: Any,
    h: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    mask: Any = None,
    *,
    activation: str = "tanh",
    reverse: bool = False,
) -> tuple[Any, Any]:
    """`rnn_cell` along the first axis of `x`: all states, and the last.

    With `reverse` it goes from the last step to the first. Where `mask` is False, which is for
    sequences that are over, the state stays as it is.

    Shapes: ``x: (t, n, i), h: (n, k), mask: (t, n, 1) -> (t, n, k), (n, k)``; weights as there.
    Dtypes: floating; `mask`: bool.
    Derivative: that of the composition.
    Raises: ArgumentError: the activation is unknown. ShapeError: the shapes do not fit.
    Source: as `rnn_cell`.

    >>> one = np.ones((1, 1))
    >>> ys, h = rnn_layer(np.ones((3, 1, 1)), one, one, one, activation="relu")
    >>> ys.ravel().tolist(), h.tolist()
    ([2.0, 3.0, 4.0], [[4.0]])
    """
    _require_activation("rnn_layer", activation)

    def step(row: Any, state: State) -> State:
        return _simple_step(row, state, w_hh, activation=activation)

    ys, h = _layer(step, x, w_ih, (b_ih, b_hh), (h,), mask, reverse)
    return ys, h


def gru_layer(
    x: Any,
    h: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    mask: Any = None,
    *,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """`gru_cell` along the first axis of `x`: all states, and the last; options as in `rnn_layer`.

    Shapes: ``x: (t, n, i), h: (n, k), mask: (t, n, 1) -> (t, n, k), (n, k)``; weights as there.
    Dtypes: floating; `mask`: bool.
    Derivative: that of the composition; smooth everywhere.
    Raises: ShapeError: the shapes do not fit.
    Source: as `gru_cell`.

    >>> zeros = np.zeros((3, 1))
    >>> gru_layer(np.zeros((3, 1, 1)), np.ones((1, 1)), zeros, zeros)[0].ravel().tolist()
    [0.5, 0.25, 0.125]
    """
    ys, h = _layer(
        lambda row, state: _gru_step(row, state, w_hh, b_hh), x, w_ih, (b_ih,), (h,), mask, reverse
    )
    return ys, h


def lstm_layer(
    x: Any,
    h: Any,
    c: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any = None,
    b_hh: Any = None,
    w_hr: Any = None,
    mask: Any = None,
    *,
    reverse: bool = False,
) -> tuple[Any, Any, Any]:
    """`lstm_cell` along the first axis of `x`: all `h`, the last, and the last `c`.

    The options are those of `rnn_layer`.

    Shapes: ``x: (t, n, i), h: (n, p), c: (n, k), mask: (t, n, 1) -> (t, n, p), (n, p), (n, k)``;
    weights as in `lstm_cell`.
    Dtypes: floating; `mask`: bool.
    Derivative: that of the composition; smooth everywhere.
    Raises: ShapeError: the shapes do not fit.
    Source: as `lstm_cell`.

    >>> zeros, one = np.zeros((4, 1)), np.ones((1, 1))
    >>> lstm_layer(np.zeros((3, 1, 1)), one, one, zeros, zeros)[2].tolist()
    [[0.125]]
    """
    ys, h, c = _layer(
        lambda row, state: _lstm_step(row, state, w_hh, w_hr),
        x,
        w_ih,
        (b_ih, b_hh),
        (h, c),
        mask,
        reverse,
    )
    return ys, h, c


def _require_activation(name: str, activation: str) -> None:
    """Raises: ArgumentError: it is unknown."""
    if activation not in _ACTIVATIONS:
        raise ArgumentError(f'{name}: activation={activation!r}; need "tanh" or "relu"{where()}')


__all__ = ["gru_cell", "gru_layer", "lstm_cell", "lstm_layer", "rnn_cell", "rnn_layer"]
