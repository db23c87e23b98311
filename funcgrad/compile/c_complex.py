"""Complex numbers in C: a pair of real ones each, its parts.

Layer 4½. What is to be C is written anew with the parts in place of complex arrays, loops and what they
carry too; so all that C can say of real numbers it can say of complex ones, and vectors go along the
parts. The formulas are NumPy's, run on symbols as implementations are. Where Python goes on with an
array it is put together: both parts of a number lie side by side, so that this is a view.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ops.join import concatenate, stack_arrays
from .groups import is_number
from .lower import Symbol, Writer, step_dtypes
from .steps import (
    BRANCH,
    CALL,
    CAST,
    LOOP,
    MOVES,
    PUT,
    REDUCE,
    TAKE,
    UFUNC,
    UNWIND,
    VIEW,
    WHERE,
    WHILE,
    Back,
    Constant,
    Lowered,
    NotLowerableError,
    Rows,
    Step,
    Value,
    programs_of,
)

Pair = tuple[Any, Any]  # symbols, or numbers
PARTS = {
    np.dtype(np.complex128): np.dtype(np.float64),
    np.dtype(np.complex64): np.dtype(np.float32),
}
OF_MATRICES = frozenset({"expm", "expm_frechet", "inv", "matrix_solve"})
OF_EACH = {VIEW: 1, REDUCE: 1, TAKE: 1, PUT: 2}  # how many operands have parts


# ---------------------------------------------------------------- functions of pairs


def _multiply(x: Pair, y: Pair) -> Pair:
    (a, b), (c, d) = x, y
    return a * c - b * d, a * d + b * c


def _divide(x: Pair, y: Pair) -> Pair:
    """Smith's way: by the larger part of the divisor first, so that nothing overflows on the way."""
    (a, b), (c, d) = x, y
    flat = np.greater_equal(np.absolute(c), np.absolute(d))
    none = np.equal(c, 0) & np.equal(d, 0)
    large, small = _choice(flat, c, d), _choice(flat, d, c)
    ratio = small / _choice(none, 1.0, large)
    scale = 1.0 / _choice(none, np.float64(0.0), large + small * ratio)
    p, q = _choice(flat, a, b), _choice(flat, b, a)
    of_p, of_q = _choice(none, 0.0, p * ratio), _choice(none, 0.0, q * ratio)
    return (p + of_q) * scale, _choice(flat, q - of_p, of_p - q) * scale


def _choice(condition: Any, x: Any, y: Any) -> Any:
    if condition.__class__ is Symbol:
        return np.where(condition, x, y)
    return x if condition else y


def _reciprocal(x: Pair) -> Pair:
    c, d = x
    flat = np.greater_equal(np.absolute(c), np.absolute(d))
    large, small = _choice(flat, c, d), _choice(flat, d, c)
    ratio = small / large
    whole = large + small * ratio
    return _choice(flat, 1.0, ratio) / whole, _choice(flat, -ratio, -1.0) / whole


def _exp(x: Pair) -> Pair:
    a, b = x
    half = np.exp(a * 0.5)  # twice, as the whole may overflow where the result does not
    return half * np.cos(b) * half, np.where(np.equal(b, 0), b, half * np.sin(b) * half)


def _log(x: Pair) -> Pair:
    a, b = x
    size, p, q = np.hypot(a, b), np.absolute(a), np.absolute(b)
    large, small = np.maximum(p, q), np.minimum(p, q)
    is_near = np.greater(size, 0.5) & np.less(size, 2.0)  # to 1, where the logarithm cancels
    near = 0.5 * np.log1p(np.where(is_near, (large - 1.0) * (large + 1.0) + small * small, 0.0))
    return np.where(is_near, near, np.log(np.where(is_near, 1.0, size))), np.arctan2(b, a)


def _sqrt(x: Pair) -> Pair:
    a, b = x
    root = np.sqrt(0.5 * np.absolute(a) + 0.5 * np.hypot(a, b))
    other = np.where(np.isinf(b), root, np.absolute(b) / (2.0 * np.where(root > 0, root, 1.0)))
    right = np.greater_equal(a, 0) | np.not_equal(a, a)
    real, imag = np.where(right, root, other), np.where(right, other, root)
    return real, np.copysign(imag, b)


def _either(x: Pair, f: Callable[[Any], Any]) -> Any:
    return f(x[0]) | f(x[1])


# Of NumPy's functions, the pair or number that they give of pairs.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.add: lambda x, y: (x[0] + y[0], x[1] + y[1]),
    np.subtract: lambda x, y: (x[0] - y[0], x[1] - y[1]),
    np.multiply: _multiply,
    np.divide: _divide,
    np.reciprocal: _reciprocal,
    np.square: lambda x: (x[0] * x[0] - x[1] * x[1], x[0] * x[1] + x[1] * x[0]),
    np.negative: lambda x: (-x[0], -x[1]),
    np.positive: lambda x: x,
    np.conjugate: lambda x: (x[0], -x[1]),
    np.absolute: lambda x: np.hypot(*x),
    np.exp: _exp,
    np.log: _log,
    np.sqrt: _sqrt,
    np.equal: lambda x, y: np.equal(x[0], y[0]) & np.equal(x[1], y[1]),
    np.not_equal: lambda x, y: np.not_equal(x[0], y[0]) | np.not_equal(x[1], y[1]),
    np.isnan: lambda x: _either(x, np.isnan),
    np.isinf: lambda x: _either(x, np.isinf),
    np.isfinite: lambda x: np.isfinite(x[0]) & np.isfinite(x[1]),
}


# ---------------------------------------------------------------- programs of pairs


def in_parts(
    program: Lowered, fits: Callable[[Step], bool], made: dict[Value, Step] | None = None
) -> Lowered:
    """The program with pairs in place of complex arrays wherever C can say what is done to them.

    `made`: the steps that results come from, of which parts are results too.
    """
    if not _is_complex(program):
        return program
    parts = _Parts(fits, {} if made is None else made)
    parts.follow(program.steps)
    outs = [parts.whole(v) for v in program.outs]
    return _live(Lowered(program.inputs, parts.writer.steps, outs))


def _live(program: Lowered) -> Lowered:
    """The program without what nobody reads: often one of both parts."""
    needed = set(program.outs)
    steps = []
    for step in reversed(program.steps):
        if not needed.isdisjoint(step.outs):
            needed.update(step.operands)
            steps.append(step)
    return Lowered(program.inputs, steps[::-1], program.outs)


def fits_in_parts(step: Step, fits: Callable[[Step], bool]) -> bool:
    """Whether C can say a step, or what it is of the parts of complex numbers."""
    return fits(step) or (_touches(step) and bool(_Parts(fits, {}).in_parts(step)))


def _is_complex(program: Lowered) -> bool:
    values = (*program.inputs, *program.outs)
    return any(v.dtype in PARTS for v in values) or any(map(_touches, program.steps))


def _touches(step: Step) -> bool:
    values = (*step.operands, *step.outs)
    return any(v.dtype in PARTS for v in values) or any(map(_is_complex, programs_of(step)))


class _Parts:
    """A program that is being written; `pairs`: the parts of values, as far as they are known."""

    def __init__(self, fits: Callable[[Step], bool], made: dict[Value, Step]) -> None:
        self.fits, self.made = fits, made
        self.writer = Writer()
        self.pairs: dict[Value, tuple[Value, Value]] = {}
        self.wholes: set[Value] = set()  # that were put together here
        self.apart: set[Value] = set()  # of which there are parts only
        self.dense: dict[Value, list[Value]] = {}  # parts of others that do not lie side by side

    def follow(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if _touches(step) and self.in_parts(step):
                continue
            for v in step.operands:
                self.whole(v)
            self.writer.steps.append(step)

    def in_parts(self, step: Step) -> bool:
        """Write what a step is of parts, if C can say that."""
        start = len(self.writer.steps)
        known = dict(self.pairs), dict(self.dense)
        try:
            found = self._rule(step)
        except NotLowerableError:
            found = None
        if found is not None:
            new = self.writer.steps[start:]
            if all(s.kind == VIEW or self.fits(s) for s in new):
                for out, parts in zip(step.outs, found, strict=True):
                    self._note(out, parts)
                if step.outs[0] in self.made:
                    of = self.made[step.outs[0]]
                    self.made.update((v, of) for s in new if s.kind != VIEW for v in s.outs)
                return True
        del self.writer.steps[start:]
        self.pairs, self.dense = known
        return False

    def _note(self, out: Value, parts: Any) -> None:
        """What a result is from here on: a pair, or for a real one the value that made it."""
        if out.dtype in PARTS:
            self.pairs[out] = parts
            self.apart.add(out)
        elif parts is not out:
            (maker,) = (s for s in self.writer.steps if parts in s.outs)
            maker.outs = (out,)

    # ------------------------------------------------------------ values

    def whole(self, value: Value) -> Value:
        """The value as an array that Python can go on with."""
        if value not in self.apart or value in self.wholes:
            return value
        self.wholes.add(value)
        self.made.pop(value, None)  # its parts are made, and this is a view
        pair = self._parts_of(value)
        both = Value((*value.shape, 2), PARTS[value.dtype])
        options = {"axis": len(value.shape)}
        self.writer.steps.append(Step(CALL, stack_arrays, pair, [both], options))
        index = "..., 0" if value.shape else "0"
        text = f"{{}}.view('{value.dtype.str}')[{index}]"
        self.writer.steps.append(Step(VIEW, text, [both], [value]))
        return value

    def pair(self, value: Value) -> Pair:
        """The parts as symbols or numbers; a real number's second part is 0."""
        if value.dtype not in PARTS:
            return self._symbol(value), 0.0
        found = self.pairs.get(value)
        if found is None:
            found = self.pairs[value] = self._taken_apart(value)
        real, imag = map(self._symbol, found)
        return real, imag

    def _taken_apart(self, value: Value) -> tuple[Value, Value]:
        if value.__class__ is Constant:
            x = value.value
            return self.writer.constant(x.real), self.writer.constant(x.imag)
        if value.weak:
            raise NotLowerableError("a Python number")
        both = Value((*value.shape, 2), PARTS[value.dtype])
        text = f"{{}}[..., None].view('{both.dtype.str}')"
        self.writer.steps.append(Step(VIEW, text, [value], [both]))
        real, imag = (
            self.writer.view(
                f"{{}}[{'..., ' * bool(value.shape)}{i}]", self._symbol(both), value.shape
            )
            for i in range(2)
        )
        return real.of, imag.of

    def _symbol(self, value: Value) -> Any:
        is_number = value.__class__ is Constant and not value.shape
        return value.value if is_number else Symbol(self.writer, value)  # type: ignore[attr-defined]

    def _full(self, parts: Pair, shape: tuple[int, ...]) -> list[Value]:
        """Both parts as arrays of a shape; one of them may be a number, or fewer elements."""
        known = next((x for x in parts if x.__class__ is Symbol and x.shape == shape), None)
        found = []
        for x in parts:
            if x.__class__ is Symbol and x.shape != shape:
                x = self.writer.view(f"np_broadcast_to({{}}, {shape!r})", x, shape)
            elif x.__class__ is not Symbol and shape:
                # of an array that is there: what is always chosen takes no memory and no time
                x = np.full(shape, x) if known is None else np.where(np.False_, known, x)
            found.append(self.writer.value(x))
        return found

    def _cast(self, x: Any, dtype: Any) -> Any:
        return x.astype(dtype) if x.__class__ is Symbol else dtype.type(x)

    def _parts_of(self, value: Value) -> list[Value]:
        """What stands for a value: both parts, of its shape and dtype, or a real one itself."""
        if value.dtype not in PARTS:
            return [value]
        dtype = PARTS[value.dtype]
        real, imag = (self._cast(x, dtype) for x in self.pair(value))
        return self._full((real, imag), value.shape)

    def _dense(self, value: Value) -> list[Value]:
        """Its parts, for what reads them many times: no longer side by side, if they have come so."""
        found = self._parts_of(value)
        if value in self.apart or value.__class__ is Constant or len(found) == 1:
            return found
        if value not in self.dense:
            real, imag = (np.positive(self._symbol(v)).of for v in found)
            self.dense[value] = [real, imag]
        return self.dense[value]

    def _flat(self, values: Sequence[Value]) -> list[Value]:
        return [part for v in values for part in self._parts_of(v)]

    # ------------------------------------------------------------ rules

    def _rule(self, step: Step) -> list[Any] | None:
        """The parts of each result; None if there is no rule."""
        if programs_of(step):
            return self._with_programs(step)
        if step.kind == UFUNC:
            return self._function(step)
        if step.kind == CALL:
            return self._call(step)
        out = step.out
        if out.dtype not in PARTS:
            return None
        if step.kind == CAST:
            dtype = PARTS[out.dtype]
            return [self._made(self._cast(x, dtype) for x in self.pair(step.operands[0]))]
        if step.kind == WHERE:
            condition, x, y = step.operands
            pairs = zip(self._in(x, out.dtype), self._in(y, out.dtype), strict=True)
            hit = self._symbol(condition)
            return [self._made(self._cast(np.where(hit, a, b), PARTS[out.dtype]) for a, b in pairs)]
        if step.kind not in OF_EACH or (step.kind == REDUCE and step.function is not np.add):
            return None
        return [self._each(step, OF_EACH[step.kind])]

    def _made(self, parts: Any) -> tuple[Value, Value]:
        real, imag = map(self.writer.value, parts)
        return real, imag

    def _in(self, value: Value, dtype: Any) -> Pair:
        """The parts of a value as an operand of a dtype."""
        real, imag = (
            x.astype(PARTS[dtype]) if x.__class__ is Symbol else x for x in self.pair(value)
        )
        return real, imag

    def _function(self, step: Step) -> list[Any] | None:
        f = FUNCTIONS.get(step.function)
        if f is None:
            return None
        kinds = step_dtypes(step)
        if any(k not in PARTS for k in kinds[: len(step.operands)]):
            return None
        found = f(*(self._in(v, k) for v, k in zip(step.operands, kinds, strict=False)))
        if step.out.dtype in PARTS:
            dtype = PARTS[step.out.dtype]
            return [self._made(self._cast(x, dtype) for x in found)]
        if found.__class__ is not Symbol or found.shape != step.out.shape:
            return None
        return [found.of]

    def _each(self, step: Step, count: int) -> tuple[Value, Value]:
        """The same step of each part of the first `count` operands."""
        dtype = PARTS[step.out.dtype]
        pairs = []
        for v in step.operands[:count]:
            pair = self._in(v, step.out.dtype)
            is_one = is_number(v)
            pairs.append([*map(self.writer.value, pair)] if is_one else self._full(pair, v.shape))
        outs: list[Value] = []
        for parts in zip(*pairs, strict=True):
            outs.append(Value(step.out.shape, dtype))
            operands = [*parts, *step.operands[count:]]
            self.writer.steps.append(
                Step(step.kind, step.function, operands, outs[-1:], step.options)
            )
        return outs[0], outs[1]

    def _call(self, step: Step) -> list[Any] | None:
        name = getattr(step.function, "name", None)
        if step.function in (np.matmul, np.dot):
            return [self._product(step)]
        if name in ("real", "imag"):
            part = self._parts_of(step.operands[0])[name == "imag"]
            text = f"{{}}.reshape({part.shape!r})"
            self.writer.steps.append(Step(VIEW, text, [part], step.outs))
            return [step.out]
        if name == "as_real":
            both, axis = self._parts_of(step.operands[0]), len(step.out.shape) - 1
            self.writer.steps.append(Step(CALL, stack_arrays, both, step.outs, {"axis": axis}))
            return [step.out]
        if name == "as_complex" and step.operands[0].dtype in PARTS.values():
            x = Symbol(self.writer, step.operands[0])
            return [self._made(x[..., i] if step.out.shape else x[i] for i in range(2))]
        if name in OF_MATRICES and step.out.dtype in PARTS:
            return [self._of_matrices(step)]
        if name in MOVES and step.out.dtype in PARTS:
            return [self._each(step, len(step.operands))]
        return None

    def _product(self, step: Step) -> tuple[Value, Value]:
        dtype = PARTS[step.out.dtype]
        pairs = [self._dense(v) for v in step.operands]
        (a, *b), (c, *d) = pairs
        if any(v.dtype != dtype for pair in pairs for v in pair):
            raise NotLowerableError("of several dtypes")

        def product(x: Value, y: Value) -> Symbol:
            out = Value(step.out.shape, dtype)
            self.writer.steps.append(Step(CALL, step.function, [x, y], [out], step.options))
            return Symbol(self.writer, out)

        real: Any = product(a, c)
        if not b or not d:
            return real.of, (product(a, d[0]) if d else product(b[0], c)).of
        real = real - product(b[0], d[0])
        imag: Any = product(a, d[0]) + product(b[0], c)
        return real.of, imag.of

    def _of_matrices(self, step: Step) -> tuple[Value, Value]:
        """Of real matrices of twice the size, ``[[x, -y], [y, x]]`` for ``x + i y``."""

        def joined(parts: Sequence[Symbol], axis: int) -> Symbol:
            shape = list(parts[0].shape)
            shape[axis] *= 2
            options = {"axis": axis % len(shape)}
            dtype = parts[0].dtype
            return self.writer.step(CALL, concatenate, parts, tuple(shape), dtype, options)

        operands: list[Symbol] = []
        for v in step.operands:
            real, imag = (
                Symbol(self.writer, part)
                for part in self._full(self._in(v, step.out.dtype), v.shape)
            )
            column = joined([real, imag], -2)
            if step.function.name != "matrix_solve" or not operands:
                column = joined([column, joined([-imag, real], -2)], -1)
            operands.append(column)
        *lead, n, k = step.out.shape
        width = k if step.function.name == "matrix_solve" else 2 * k
        dtype = PARTS[step.out.dtype]
        shape = (*lead, 2 * n, width)
        made = self.writer.step(CALL, step.function, operands, shape, dtype, step.options)
        return made[..., :n, :k].of, made[..., n:, :k].of

    # ------------------------------------------------------------ loops and branches

    def _with_programs(self, step: Step) -> list[Any] | None:
        programs = tuple(map(self._program, programs_of(step)))

        def count(*cuts: int) -> list[int]:
            """How many operands lie between places, with parts."""
            places = [0, *cuts]
            return [
                sum(1 + (v.dtype in PARTS) for v in step.operands[i:j])
                for i, j in itertools.pairwise(places)
            ]

        options = step.options
        if step.kind == LOOP:
            before = options.consts
            consts, carries = count(before, before + options.carries)
            options = Rows(consts, carries, options.length, options.reverse)
        elif step.kind == WHILE:
            test, body = count(options.test, options.test + options.body)
            options = options._replace(test=test, body=body)
        elif step.kind == UNWIND:
            places = [options.test, options.test + options.body]
            places.append(places[-1] + options.carries)
            options = Back(*count(*places, places[-1] + options.same))
        elif step.kind != BRANCH:
            return None
        outs = [
            [Value(v.shape, PARTS[v.dtype]) for _ in range(2)] if v.dtype in PARTS else [v]
            for v in step.outs
        ]
        function = programs[0] if step.kind == LOOP else programs
        flat = [part for parts in outs for part in parts]
        operands = [y for v in step.operands for y in self._dense(v)]
        self.writer.steps.append(Step(step.kind, function, operands, flat, options))
        return [tuple(parts) if len(parts) == 2 else parts[0] for parts in outs]

    def _program(self, program: Lowered) -> Lowered:
        """A program inside of a step, whose inputs and results are parts too."""
        if not _is_complex(program):
            return program
        inside = _Parts(self.fits, self.made)
        inputs: list[Value] = []
        for v in program.inputs:
            if v.dtype in PARTS:
                pair = Value(v.shape, PARTS[v.dtype]), Value(v.shape, PARTS[v.dtype])
                inside.pairs[v] = pair
                inside.apart.add(v)
                inputs += pair
            else:
                inputs.append(v)
        inside.follow(program.steps)
        outs = inside._flat(program.outs)
        return _live(Lowered(inputs, inside.writer.steps, outs))
