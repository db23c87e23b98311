"""Recipes: straight lines of primitives, drawn with the values at hand.

Layer 5; needs Hypothesis. A *guard* puts primitives in front of another one, so that its operand is
where it is smooth: in its domain, away from its kink.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import REGISTRY
from .strategies import st

LARGEST = 1e3  # no value is larger
TAME = 8.0  # nor a value that the next primitive may take
NOISE = 1e-9  # a value that is not larger may be what rounding left of 0
MARGIN = 0.05  # from kinks
MOST_ELEMENTS, MOST_AXES = 64, 4


class Step(NamedTuple):
    """One application of a primitive.

    `operands`: ints are places of values, floats and arrays are constants. `place`: of the result,
    or of the first of several.
    """

    primitive: str
    operands: tuple[Any, ...]
    params: dict[str, Any]
    place: int


def run(step: Step, values: dict[int, Any]) -> None:
    """Put the step's results among the values."""
    prim = REGISTRY[step.primitive]
    operands = [values[a] if a.__class__ is int else a for a in step.operands]
    ans = prim(*operands, **step.params)
    values.update(enumerate(ans if prim.multiple else (ans,), step.place))


class Recipe:
    """A recipe being drawn, and its values at the point."""

    def __init__(self, draw: Any, args: Sequence[Any]) -> None:
        self.draw = draw
        self.values: dict[int, Any] = dict(enumerate(args))
        self.steps: list[Step] = []

    def add(self, primitive: str, *operands: Any, **params: Any) -> int:
        """The place of the (first) result."""
        step = Step(primitive, operands, params, len(self.values))
        run(step, self.values)
        self.steps.append(step)
        return step.place

    def __getitem__(self, place: Any) -> Any:
        """The value at a place; a constant is its own."""
        return self.values[place] if place.__class__ is int else place

    def places(self, kinds: str = "cf") -> list[int]:
        """Of the values of these kinds, the latest first."""
        return [k for k, x in reversed(self.values.items()) if x.dtype.kind in kinds]

    def pick(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def tame(self, place: int) -> None:
        """Scale a value that the next primitive might make too large."""
        if size(self[place]) > TAME:
            self.add("multiply", place, 2.0 ** -math.ceil(math.log2(size(self[place]) / TAME)))


def size(x: Any) -> float:
    """The largest modulus."""
    return float(np.max(np.abs(x), initial=0.0))


def is_bounded(x: Any) -> bool:
    """Whether there are few elements, and none too large."""
    is_small = np.size(x) <= MOST_ELEMENTS and np.ndim(x) <= MOST_AXES
    return is_small and bool(np.all(np.isfinite(x))) and size(x) < LARGEST


# ---------------------------------------------------------------- what primitives need of a value

Guard = Callable[[Recipe, int], int]


def anything(r: Recipe, x: int) -> int:
    return x


def small(r: Recipe, x: int) -> int:
    """At most 3."""
    return x if size(r[x]) <= 3 else r.add("multiply", x, 0.25)


def inside(r: Recipe, x: int) -> int:
    """At most 0.9."""
    if size(r[x]) <= 0.9:
        return x
    if np.iscomplexobj(r[x]):
        return r.add("multiply", x, 0.0625)
    return r.add("multiply", r.add("tanh", small(r, x)), 0.75)


def positive(r: Recipe, x: int) -> int:
    """Of real part 0.25 or more, and 9.5 at most; far from where logarithms jump."""
    if np.min(r[x].real) >= 0.25:
        return x
    x = small(r, x)
    if np.isrealobj(r[x]):
        return r.add("add", r.add("square", x), 0.5)
    square = r.add("multiply", x, r.add("conjugate", x))
    return r.add("add", r.add("add", square, r.add("multiply", x, 0.0625)), 0.5)


def below_zero(r: Recipe, x: int) -> int:
    return r.add("negative", positive(r, x))


def above_one(r: Recipe, x: int) -> int:
    return r.add("add", positive(r, x), 1.0)


def unit(r: Recipe, x: int) -> int:
    """Between 0.04 and 0.96."""
    if np.min(r[x]) >= 0.04 and np.max(r[x]) <= 0.96:
        return x
    return r.add("expit", small(r, x))


def around_one(r: Recipe, x: int) -> int:
    return r.add("add", unit(r, x), 0.5)


def nonzero(r: Recipe, x: int) -> int:
    """Away from 0."""
    if np.iscomplexobj(r[x]):
        return positive(r, x)
    level = level_away_from(r[x])
    return r.add("subtract", x, level) if level else x


def level_away_from(d: Any, start: float = 0.0) -> float:
    """The number from `start` on, in steps of 1/4, from which all elements keep the margin."""
    level = start
    while np.any(np.abs(d - level) < MARGIN):
        level += 0.25
    return level


def separated(r: Recipe, x: int) -> int:
    """No two elements near each other."""
    flat = np.sort(np.ravel(r[x]))
    if np.all(np.diff(flat) >= MARGIN):
        return x
    order = np.argsort(np.sin(np.arange(flat.size))).reshape(np.shape(r[x]))
    rungs = np.asarray(0.5 * order, r[x].dtype)
    return r.add("add", r.add("multiply", r.add("tanh", small(r, x)), 0.125), rungs)


def gram(r: Recipe, x: int) -> int:
    """A positive definite matrix, from any."""
    x = inside(r, x)
    order = (*range(np.ndim(r[x]) - 2), np.ndim(r[x]) - 1, np.ndim(r[x]) - 2)
    flipped = r.add("transpose", x, axes=order)
    if np.iscomplexobj(r[x]):
        flipped = r.add("conjugate", flipped)
    square = r.add("matmul", flipped, x)
    return r.add("add", square, np.eye(np.shape(r[x])[-1], dtype=r[x].dtype))
