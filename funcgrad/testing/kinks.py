"""Kinks: where a function stops being smooth, and how far away that is.

Layer 5. A function is run once under a trace that evaluates it and notes, at every operation that
is smooth only piece by piece, which piece it is on (its *decision*) and the distance to the next one
(its *margin*, in the units of the operand). Two points with the same decisions lie on one smooth
piece; a margin of exactly 0 is a kink.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..array import TracedArray
from ..core import Aval, Primitive, Trace, aval_of, current, run_under
from ..errors import user_frame
from ..views import refresh, snapshot


class Kink(NamedTuple):
    """An operation that is not smooth, near the point.

    `margin`: how far its operand is from the kink; `primitive` and `line` say which operation.
    """

    primitive: str
    margin: float
    line: str

    def __str__(self) -> str:
        at = f" at {self.line}" if self.line else ""
        return f"{self.primitive}{at}: margin {self.margin:.2g}"


class Passage(NamedTuple):
    """One run: the results, every kink on the way, and the decisions taken at each."""

    outs: list[Any]
    kinks: list[Kink]
    decisions: tuple[bytes, ...]


# ---------------------------------------------------------------- what each primitive decides

Decision = tuple[Any, Any]  # which piece (any array), and the distances to the next (an array)


def _compared(x: Any, y: Any, **_: Any) -> Decision:
    d = np.asarray(x) - np.asarray(y)
    return np.sign(d), np.abs(d)


def _signed(x: Any, **_: Any) -> Decision:
    return (np.sign(x) if np.isrealobj(x) else np.asarray(x) == 0), np.abs(x)


def _clipped(x: Any, low: Any, high: Any, **_: Any) -> Decision:
    below, above = np.asarray(x) - low, np.asarray(high) - x
    return np.stack(np.broadcast_arrays(np.sign(below), np.sign(above))), np.minimum(
        np.abs(below), np.abs(above)
    )


def _stepped(x: Any, **_: Any) -> Decision:
    return np.floor(x), np.abs(x - np.round(x))


def _rounded(x: Any, **_: Any) -> Decision:
    return np.round(x), np.abs(np.abs(x - np.floor(x)) - 0.5)


def _divided(x: Any, y: Any, **_: Any) -> Decision:
    with np.errstate(all="ignore"):
        quotient = np.asarray(x) / np.asarray(y)
    return _stepped(quotient)


def _along(x: Any, axis: Any) -> Any:
    """`x` with the axes `axis` (a tuple, an axis or None for all) moved to the end and flattened."""
    x = np.asarray(x)
    if not x.ndim:
        return x.reshape(1)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = tuple(a % x.ndim for a in axes)
    rest = [a for a in range(x.ndim) if a not in axes]
    moved = x.transpose([*rest, *axes])
    return moved.reshape(*moved.shape[: len(rest)], math.prod(moved.shape[len(rest) :]))


def _extreme(x: Any, *_: Any, axis: Any = None, **__: Any) -> Decision:
    rows = _along(x, axis)
    if rows.shape[-1] < 2:
        return np.zeros(()), np.full((), np.inf)
    return np.argmax(rows, -1), None if not rows.size else _gap(rows)


def _smallest(x: Any, *_: Any, axis: Any = None, **__: Any) -> Decision:
    return _extreme(-np.asarray(x), axis=axis)


def _grouped(x: Any, places: Any, *, count: int) -> Decision:
    groups = [np.asarray(x)[np.asarray(places) % count == k] for k in range(count)]
    found = [_extreme(rows, axis=0) for rows in groups if rows.size]
    if not found:
        return np.zeros(()), np.full((), np.inf)
    pieces, gaps = zip(*found, strict=True)
    return np.concatenate([np.ravel(p) for p in pieces]), np.concatenate(
        [np.ravel(g) for g in gaps]
    )


def _gap(rows: Any) -> Any:
    """The difference of the two largest elements of every row."""
    top = np.partition(rows, -2, axis=-1)[..., -2:]
    return top[..., 1] - top[..., 0]


def _sorted(x: Any, *_: Any, axis: Any = -1, **__: Any) -> Decision:
    rows = _along(x, axis)
    order = np.argsort(rows, axis=-1, kind="stable")
    return order, np.diff(np.take_along_axis(rows, order, -1), axis=-1)


def _running(x: Any, *_: Any, axis: Any = -1, **__: Any) -> Decision:
    rows = _along(x, axis)
    highest = np.maximum.accumulate(rows, -1)
    gaps = np.abs(rows[..., 1:] - highest[..., :-1])
    return highest == rows, gaps


def _norm(x: Any, *_: Any, axis: Any = None, **__: Any) -> Decision:
    length = np.sqrt(np.sum(np.abs(_along(x, axis)) ** 2, -1))
    return length == 0, length


def _placed(a: Any, x: Any, *_: Any, **__: Any) -> Decision:
    """Between which elements of the sorted `a` those of `x` lie."""
    a, x = np.asarray(a), np.asarray(x)
    inner = (1,) * (x.ndim - (a.ndim - 1))
    gaps = x[..., None] - (a if a.ndim < 2 else a.reshape(*a.shape[:-1], *inner, a.shape[-1]))
    return np.sum(gaps > 0, -1), np.min(np.abs(gaps), -1, initial=np.inf)


_KINKS: dict[str, Callable[..., Decision]] = {
    **dict.fromkeys(
        ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"], _compared
    ),
    **dict.fromkeys(["maximum", "minimum", "fmax", "fmin", "heaviside", "copysign"], _compared),
    **dict.fromkeys(["absolute", "sign", "relu"], _signed),
    **dict.fromkeys(["floor", "ceil", "trunc"], _stepped),
    **dict.fromkeys(["remainder", "fmod", "floor_divide"], _divided),
    **dict.fromkeys(["max", "argmax"], _extreme),
    **dict.fromkeys(["max_pool", "window_argmax"], lambda x, *_, **__: _sorted(x, axis=None)),
    **dict.fromkeys(["min", "argmin"], _smallest),
    **dict.fromkeys(["sort", "argsort", "argrank", "argtopk"], _sorted),
    **dict.fromkeys(["norm2", "std"], _norm),
    "group_max": _grouped,
    "group_min": lambda x, places, **params: _grouped(-np.asarray(x), places, **params),
    "rint": _rounded,
    "searchsorted": _placed,
    "clip": _clipped,
    "cummax": _running,
    "cummin": lambda x, **params: _running(-np.asarray(x), **params),
    "hypot": lambda x, y, **_: _signed(np.hypot(x, y)),
}


# ---------------------------------------------------------------- the trace


class _Probe(TracedArray):
    """A value that depends on the operands; it is known."""

    __slots__ = ("value",)

    def __init__(self, trace: Trace, value: Any) -> None:
        self.owner = trace
        self.alias = None
        self.value = value

    @property
    def aval(self) -> Aval:
        return aval_of(self.value)

    @property
    def underlying(self) -> Any:
        return self.value

    def assign(self, other: Any) -> None:
        self.value = other.value


class _ProbeTrace(Trace):
    """Evaluates, and notes kinks."""

    __slots__ = ("decisions", "kinks")
    transform = "funcgrad.testing"

    def __init__(self) -> None:
        self.parent = current.get()
        self.kinks: list[Kink] = []
        self.decisions: list[bytes] = []

    def lift(self, value: Any) -> _Probe:
        return _Probe(self, snapshot(value, copy=True))

    def value_of(self, x: Any) -> Any:
        if x.__class__ is _Probe and x.owner is self:
            if x.alias is not None:
                refresh(x)
            return x.value
        return x

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        values = [self.value_of(a) for a in args]
        mine = any(a.__class__ is _Probe and a.owner is self for a in args)
        ans = self.parent.process(prim, values, params)
        if not mine:
            return ans
        rule = _KINKS.get(prim.name)
        if rule is not None:
            self.note(prim, *rule(*values, **params))
        if not prim.differentiable:
            return ans
        return tuple(_Probe(self, x) for x in ans) if prim.multiple else _Probe(self, ans)

    def note(self, prim: Primitive, piece: Any, margins: Any) -> None:
        self.decisions.append(np.ascontiguousarray(piece).tobytes())
        margins = np.asarray(np.inf if margins is None else margins, float)
        frame = user_frame()
        line = "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if margins.size:
            self.kinks.append(Kink(prim.name, float(np.nanmin(margins, initial=np.inf)), line))


def passage(f: Callable[..., Sequence[Any]], xs: Sequence[Any]) -> Passage:
    """Run `f`, which takes and returns flat lists, and see which kinks it passes, how near.

    >>> found = passage(lambda x: [np.abs(x) + np.maximum(x, 1.0)], [np.array([0.25, -3.0])])
    >>> [(kink.primitive, kink.margin) for kink in found.kinks]
    [('absolute', 0.25), ('maximum', 0.75)]
    """
    trace = _ProbeTrace()
    outs = run_under(trace, f, [_Probe(trace, x) for x in xs])
    return Passage([trace.value_of(y) for y in outs], trace.kinks, tuple(trace.decisions))
