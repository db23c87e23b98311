"""Explicit Runge and Kutta steps of controlled size, from one time to the next.

NOTE [Derivatives of solutions] The steps themselves are differentiated; their sizes are constants,
except that of the step that lands on an output time. So the derivative is the variational equation
solved by the same method on the same grid, reverse mode is its exact transpose, and what the
right-hand side closes over is differentiated as any loop's body. A step that is rejected may have
overflowed: it must not meet a zero cotangent, so it is left out where that is known, and otherwise
taken again with size 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import numpy as fnp
from ...core import aval_of
from ...indexing import known
from ...numpy._arguments import converted
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from ...transforms.loops import scan
from ...transforms.until import while_loop

Leaves = Sequence[Any]
Slope = Callable[[Any, Leaves], list[Any]]

GOING, ARRIVED, FAILED = 0, 1, -1


class Method(NamedTuple):
    """A pair of methods: nodes and rows of the inner stages, weights, weights of the error.

    The last stage is the first one of the next step; `order` is that of the error's method.
    """

    nodes: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    errors: tuple[float, ...]
    order: int


DORMAND_PRINCE = Method(
    (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
    (
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40),
    4,
)
BOGACKI_SHAMPINE = Method(
    (1 / 2, 3 / 4),
    ((1 / 2,), (0.0, 3 / 4)),
    (2 / 9, 1 / 3, 4 / 9),
    (5 / 72, -1 / 12, -1 / 9, 1 / 8),
    2,
)


class Control(NamedTuple):
    """The method, how exact, how large steps may be, and how many there may be to an output."""

    method: Method
    rtol: Any
    atol: Any
    max_step: float
    max_count: float

    @property
    def power(self) -> float:
        return -1.0 / (self.method.order + 1)


class State(NamedTuple):
    """Where the solution is: time, values, slopes there, and the size proposed for the next step.

    `count`: how many steps have been tried. `status`: going, arrived or failed.
    """

    t: Any
    y: list[Any]
    slope: list[Any]
    size: Any
    count: Any
    status: Any


def _moved(y: Leaves, h: Any, weights: Sequence[float], slopes: Sequence[Leaves]) -> list[Any]:
    """``y + h * sum(weights * slopes)``, in the dtype of `y`."""
    found = []
    for i, x in enumerate(y):
        terms = [k[i] * w for k, w in zip(slopes, weights, strict=True) if w]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        found.append(converted(x + total * h, aval_of(x).dtype))
    return found


def _stopped(leaves: Leaves) -> list[Any]:
    return [stop_gradient(x) for x in leaves]


def _norm(leaves: Leaves, scales: Leaves) -> Any:
    """The root of the mean square of all elements in units of their scales."""
    sizes = [aval_of(x).size for x in leaves]
    squares = [
        fnp.sum(fnp.square(fnp.absolute(x / s))) for x, s in zip(leaves, scales, strict=True)
    ]
    return fnp.sqrt(sum(squares[1:], squares[0]) / max(sum(sizes), 1))


def _scales(control: Control, *ys: Leaves) -> list[Any]:
    """What error is tolerated in every element."""
    found = []
    for xs in zip(*ys, strict=True):
        size = fnp.absolute(xs[0])
        for x in xs[1:]:
            size = fnp.maximum(size, fnp.absolute(x))
        found.append(control.atol + size * control.rtol)
    return found


def _step(slope: Slope, method: Method, s: State, h: Any) -> tuple[Any, Any, list[Leaves]]:
    """The values a step later, the slopes there, and those of all stages."""
    slopes: list[Leaves] = [s.slope]
    for node, row in zip(method.nodes, method.rows, strict=True):
        slopes.append(slope(s.t + h * node, _moved(s.y, h, row, slopes)))
    y = _moved(s.y, h, method.weights, slopes)
    last = slope(s.t + h, y)
    return y, last, [*slopes, last]


def _error(control: Control, s: State, y: Leaves, slopes: Sequence[Leaves], h: Any) -> Any:
    """The estimated error of a step in units of what is tolerated, a constant."""
    old, new = _stopped(s.y), _stopped(y)
    zero = [x * 0.0 for x in old]
    error = _moved(zero, stop_gradient(h), control.method.errors, [_stopped(k) for k in slopes])
    return stop_gradient(_norm(error, _scales(control, old, new)))


def first_size(slope: Slope, control: Control, s: State, length: Any) -> Any:
    """A size for the first step of an interval of this signed length (Hairer & others)."""
    y, k, t = _stopped(s.y), _stopped(s.slope), stop_gradient(s.t)
    length = stop_gradient(length)
    reach = fnp.absolute(length)
    scales = _scales(control, y)
    d0, d1 = _norm(y, scales), _norm(k, scales)
    flat = fnp.logical_or(d0 < 1e-5, d1 < 1e-5)
    h0 = choose(flat, 1e-6, 0.01 * d0 / choose(flat, 1.0, d1))
    h0 = choose(reach > 0, fnp.minimum(h0, reach), 1e-6)
    signed = converted(choose(length < 0, -h0, h0), aval_of(t).dtype)
    later = slope(t + signed, _moved(y, signed, (1.0,), (k,)))
    change = [a - b for a, b in zip(_stopped(later), k, strict=True)]
    d2 = _norm(change, scales) / h0
    steep = fnp.maximum(d1, d2)
    still = steep <= 1e-15
    curved = (0.01 / choose(still, 1.0, steep)) ** -control.power
    h1 = choose(still, fnp.maximum(1e-6, h0 * 1e-3), curved)
    size = fnp.minimum(fnp.minimum(100 * h0, h1), choose(reach > 0, reach, h0))
    size = choose(fnp.isfinite(size), size, h0)
    return converted(stop_gradient(fnp.minimum(size, control.max_step)), aval_of(t).dtype)


def start(slope: Slope, t: Any, y: Leaves) -> State:
    """The state at the first time, before the size of a step is known."""
    zero = np.int64(0)
    return State(t, list(y), slope(t, y), t * 0.0, zero, np.int64(ARRIVED))


def _spacing(t: Any) -> Any:
    """The smallest step that makes sense at a time: ten units in the last place."""
    info = np.finfo(aval_of(t).dtype)
    return 10.0 * fnp.maximum(fnp.absolute(t) * float(info.eps), float(info.tiny))


def trial(slope: Slope, control: Control, target: Any, s: State, rejected: Any) -> Any:
    """The state after one step was tried towards `target`, and whether it was rejected."""
    t, aim = stop_gradient(s.t), stop_gradient(target)
    least = _spacing(t)
    size = fnp.minimum(choose(rejected, s.size, fnp.maximum(s.size, least)), control.max_step)
    failed = fnp.logical_and(rejected, fnp.logical_not(size >= least))  # nan among them
    lands = fnp.absolute(aim - t) <= size
    h = choose(lands, target - s.t, choose(aim < t, -size, size))
    y, last, slopes = _step(slope, control.method, s, h)
    error = _error(control, s, y, slopes, h)
    taken = error < 1.0
    grown = 0.9 * choose(taken, fnp.maximum(error, 1e-30), 1.0) ** control.power
    grown = choose(taken, fnp.minimum(grown, choose(rejected, 1.0, 10.0)), 1.0)
    shrunk = 0.9 * choose(error >= 1.0, error, 1.0) ** control.power
    shrunk = choose(error >= 1.0, fnp.maximum(shrunk, 0.2), 0.2)
    used = fnp.minimum(size, fnp.absolute(aim - t))
    after = choose(lands, fnp.maximum(size, used * grown), size * grown)
    proposed = choose(taken, after, used * shrunk)

    accepted = known(taken)
    if accepted is None:  # NOTE [Derivatives of solutions]
        y, last, _ = _step(slope, control.method, s, choose(taken, h, 0.0))
    elif not accepted:
        y, last = s.y, s.slope
    there = fnp.logical_and(taken, lands)
    count = s.count + 1
    lost = fnp.logical_or(
        failed, fnp.logical_and(count >= control.max_count, fnp.logical_not(there))
    )
    status = choose(there, ARRIVED, choose(lost, FAILED, GOING))
    time = choose(there, target, s.t + choose(taken, h, 0.0))
    dtype = aval_of(s.t).dtype
    new = State(converted(time, dtype), y, last, converted(proposed, dtype), count, status)
    return new, fnp.logical_not(taken)


def advance(slope: Slope, control: Control, s: State, target: Any) -> State:
    """The state at the time `target`; one that has failed stays where it is."""
    going = choose(s.status == FAILED, FAILED, GOING)

    def step(carry: Any) -> Any:
        return trial(slope, control, target, State(*carry[0]), carry[1])

    first = s._replace(status=going, count=s.count * 0)
    found, _ = while_loop(lambda c: c[0][5] == GOING, step, (first, np.bool_(False)))
    found = State(*found)
    return found._replace(count=s.count + found.count)


def solution(slope: Slope, control: Control, s: State, times: Any) -> tuple[State, list[Any]]:
    """The last state, and the values at all times, stacked; where none was found they and their
    derivatives are nan.
    """

    def to_next(carry: Any, target: Any) -> Any:
        new = advance(slope, control, State(*carry), target)
        lost = new.status == FAILED
        return new, [converted(y * choose(lost, np.nan, 1.0), aval_of(y).dtype) for y in new.y]

    last, ys = scan(to_next, s, times)
    return State(*last), ys
