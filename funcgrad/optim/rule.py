"""`Rule`: one step of an optimizer as a pure function of a parameter, its gradient and its state.

Layer 5. A rule has two halves. `numbers` turns options and counts into the few numbers that a step
needs (`lr / (1 - b1**t)`, say); `move` uses them on arrays. So the same definition runs on plain
arrays, on values that a transform traces, on the tensors of a layer above, and as one fused loop
that writes in place (`in_place.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import Tracer

Options = Mapping[str, Any]
State = dict[str, Any]


def _nothing(p: Any, options: Options) -> State:
    return {}


@dataclass(frozen=True, eq=False)
class Rule:
    """One step: ``new_p, changes = rule(p, g, state, options)``; `changes` are of the state.

    `numbers(options, counts)` gives numbers by name, and the new counts. `move(p, g, state, n, on)`
    computes with the arrays; what is in `n` and in `on`, the names of the options that are True,
    decides its branches. `counts`: the state that is numbers, as it begins, or the option that it
    is then. `begin(p, options)`: the state that is arrays. `by_parts`: complex numbers are pairs of
    real ones. `is_elementwise`: no element needs another.
    """

    numbers: Callable[[Options, State], tuple[State, State]]
    move: Callable[[Any, Any, State, State, frozenset[str]], tuple[Any, State]]
    begin: Callable[[Any, Options], State] = _nothing
    counts: State = field(default_factory=lambda: {"step": 0.0})
    by_parts: bool = True
    is_elementwise: bool = True

    def split(self, state: State) -> tuple[State, State]:
        """The counts and the arrays of a state."""
        counts = {k: v for k, v in state.items() if k in self.counts}
        return counts, {k: v for k, v in state.items() if k not in counts}

    def __call__(self, p: Any, g: Any, state: State, options: Options) -> tuple[Any, State]:
        counts, arrays = self.split(state)
        n, counts = self.numbers(options, counts)
        n = {k: number_for(p, v) for k, v in n.items()}
        move, on = self.move, switched_on(options)
        if not self.by_parts or dtype_of(p).kind != "c":
            p, changes = move(p, g, arrays, n, on)
            return p, {**counts, **changes}
        real, changes = move(p.real, g.real, {k: x.real for k, x in arrays.items()}, n, on)
        imag, others = move(p.imag, g.imag, {k: x.imag for k, x in arrays.items()}, n, on)
        whole = {k: changes[k] + 1j * others[k] for k in changes}
        return real + 1j * imag, {**counts, **whole}


def initial(rule: Rule, options: Options) -> State:
    """The counts before the first step; some begin as an option."""
    return {k: options[v] if v.__class__ is str else v for k, v in rule.counts.items()}


def switched_on(options: Options) -> frozenset[str]:
    """The names of the options that are True."""
    return frozenset([k for k, v in options.items() if v is True])


def dtype_of(p: Any) -> Any:
    """The NumPy dtype, of a tensor that wraps an array too."""
    return getattr(p, "_array", p).dtype


def number_for(p: Any, x: Any) -> Any:
    """A number as it is; a traced one, which has a dtype, in that of the parameter."""
    if isinstance(x, Tracer) and not hasattr(p, "_array"):
        return fnp.astype(x, np.zeros(0, p.dtype).real.dtype)
    return x


def exact(x: Any) -> Any:
    """A count as a Python number, or as traced float64; what records its own graph stays as it is."""
    if isinstance(x, Tracer):
        return fnp.astype(x, np.float64)
    return float(x) if isinstance(x, int | float | np.generic | np.ndarray) else x


def is_given(x: Any) -> bool:
    """Whether an option is in use: it is not 0, or it is traced and could be anything."""
    return isinstance(x, Tracer) or bool(x != 0)


def choose(condition: Any, x: Any, y: Any) -> Any:
    """One of two numbers, which stays a Python number where nothing is traced."""
    if isinstance(condition, Tracer):
        return fnp.where(condition, x, y)
    return x if condition else y


def smaller(x: Any, y: Any) -> Any:
    return choose(x < y, x, y)


def larger(x: Any, y: Any) -> Any:
    return choose(x < y, y, x)


def with_decay(options: Options, decoupled: bool = False) -> State:
    """The numbers of `weight_decay`: added to the gradient, or taken off the parameter."""
    decay = options["weight_decay"]
    if not is_given(decay):
        return {}
    return {"shrink": 1 - options["lr"] * decay} if decoupled else {"decay": decay}


def decayed(p: Any, g: Any, n: State, on: frozenset[str]) -> tuple[Any, Any]:
    """The parameter and the gradient after `maximize` and the decay of weights."""
    if "maximize" in on:
        g = -g
    if "shrink" in n:
        p = p * n["shrink"]
    if "decay" in n:
        g = g + p * n["decay"]
    return p, g
