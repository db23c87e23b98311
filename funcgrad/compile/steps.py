"""Programs as lists of NumPy calls: `Lowered`, its `Step`s and `Value`s.

Layer 4½.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core import Aval, aval_of
from ..short import way_of

# What a step is.
UFUNC = (
    "ufunc"  # function(*operands), element by element; options is a dtype to compute in, or None
)
WHERE = "where"  # choose(*operands)
CAST = "cast"  # operand.astype(dtype)
BITS = "bits"  # operand.view(dtype): the same bits as another number
REDUCE = "reduce"  # function.reduce(operand, axis, keepdims)
VIEW = "view"  # an expression that shows the operand's memory
CALL = "call"  # function(*operands, **options)
LOOP = "loop"  # the program `function` for every row; options: see `Rows`
WHILE = "while"  # the second of the programs `function` while the first; options: see `Counts`
UNWIND = "unwind"  # the pullback of a WHILE; `function`: its four programs; options: see `Back`
BRANCH = "branch"  # of the programs `function` that whose number is the first operand
INDEX = "index"  # the places along an axis of `options` elements that indices stand for, checked
TAKE = "take"  # elements of the first operand; options: where along each axis, see c_elements.py
PUT = "put"  # the first operand with elements of the second one
KERNEL = "kernel"  # a group of steps that run as one loop; `function` is the group

ELEMENTWISE = frozenset({UFUNC, WHERE, CAST, BITS})
MOVES = frozenset({"embed", "concatenate", "stack_arrays"})  # primitives that only move elements


class Value:
    """An array of the program: its type. `weak`: a Python number, of one of the inputs or made one."""

    __slots__ = ("dtype", "shape", "weak")

    def __init__(self, shape: tuple[int, ...], dtype: Any, weak: bool = False) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weak = weak

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"{Aval(self.shape, self.dtype, self.weak)}"


class Constant(Value):
    """An array or number that is part of the program."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        aval = aval_of(value)
        super().__init__(aval.shape, aval.dtype, aval.weak)
        self.value = value


class Step:
    """One NumPy call. `options` is what else `kind` needs; there are several `outs` for calls only."""

    __slots__ = ("function", "kind", "operands", "options", "outs")

    def __init__(
        self,
        kind: str,
        function: Any,
        operands: Sequence[Value],
        outs: Sequence[Value],
        options: Any = None,
    ) -> None:
        self.kind = kind
        self.function = function
        self.operands = tuple(operands)
        self.outs = tuple(outs)
        self.options = options

    @property
    def out(self) -> Value:
        return self.outs[0]

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", self.function)
        return f"{self.kind} {name} {list(self.operands)} -> {list(self.outs)}"


def is_short(step: Step) -> bool:
    """Whether a REDUCE step is along an axis so short that `short.reduced` has a better way."""
    (x,), (axes, _) = step.operands, step.options
    return way_of(step.function, x.shape, x.size, x.dtype.char, axes) is not None


def programs_of(step: Step) -> tuple[Lowered, ...]:
    """The programs inside of a step."""
    if step.kind == LOOP:
        return (step.function,)
    return step.function if step.kind in (WHILE, UNWIND, BRANCH) else ()


def with_programs(step: Step, change: Callable[[Lowered], Lowered]) -> Step:
    """The step with other programs in it; itself if it has none."""
    programs = tuple(map(change, programs_of(step)))
    if not programs:
        return step
    function = programs[0] if step.kind == LOOP else programs
    return Step(step.kind, function, step.operands, step.outs, step.options)


class Lowered:
    """A program of steps from `inputs` (of which the first are the jaxpr's constants) to `outs`."""

    def __init__(
        self, inputs: Sequence[Value], steps: Sequence[Step], outs: Sequence[Value]
    ) -> None:
        self.inputs = list(inputs)
        self.steps = list(steps)
        self.outs = list(outs)


class Rows(NamedTuple):
    """How a loop runs: its body's inputs are constants, the carry and the rows; see `lax.scan`.

    `length`: in C perhaps the name of a variable.
    """

    consts: int
    carries: int
    length: int | str
    reverse: bool


class Back(NamedTuple):
    """How many operands of an UNWIND step the test, the body and the way back close over, and carries.

    The operands are those of the loop, then what the way back closes over, then its carry.
    """

    test: int
    body: int
    carries: int
    same: int


class NotLowerableError(Exception):
    """An implementation asks a symbol for something that only an array has."""


class OutOfBoundsError(Exception):
    """An index in C is out of bounds; NumPy says which one."""
