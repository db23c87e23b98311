"""Steps that only C has, in place of calls: draws, loops with a test, branches, elements by number.

Layer 4½. Hashing is a hundred operations on integers: a few nanoseconds as C, a hundred calls as
NumPy. So programs have calls for random numbers, and only what is to be C has their steps: the
implementations, run on symbols as all others are, with the functions that they need as steps. So it
is with some that NumPy has a function of its own for: a loop is C if all that is in it is.
Python runs the programs of `while_loop` and `cond` by itself; in C they are in line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import EVAL, run_under
from ..ops.join import concatenate, stack_arrays
from ..transforms.bodies import derived, placed, zeros
from ..transforms.deferred import Mapped, Pullback
from ..transforms.while_loop import Looped, unwound
from . import c_elements, c_rejection
from .branches import as_written
from .c_complex import fits_in_parts, in_parts
from .lower import Namespace, Symbol, Writer, lower
from .simplify import simplify
from .steps import (
    BRANCH,
    CALL,
    CAST,
    KERNEL,
    LOOP,
    TAKE,
    UFUNC,
    UNWIND,
    VIEW,
    WHILE,
    Back,
    Constant,
    Lowered,
    NotLowerableError,
    Rows,
    Step,
    Value,
    programs_of,
    with_programs,
)

DRAWS = frozenset(
    {
        "random_bits",
        "random_fold_in",
        "random_integers",
        "random_normal",
        "random_split",
        "random_uniform",
    }
)


# Primitives whose implementations are run on symbols too; some only for arrays that are not large.
OTHERS = frozenset(
    {"all", "any", "cumsum", "diagonal", "searchsorted", "std", "tril", "triu", "var"}
)
OTHERS_OF_FEW = frozenset({"argmax", "argmin"})
SMALL = 1 << 14  # elements for which NumPy's own loops are no faster


class _Writer(Writer):
    has_bits = True


class _InC(Namespace):
    """What implementations call that gives them new arrays."""

    __name__ = "c"

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def empty_like(self, x: Symbol) -> Symbol:
        return Symbol(self.writer, Value(x.shape, x.dtype))

    def zeros_like(self, x: Symbol | np.ndarray) -> np.ndarray:
        return np.zeros(x.shape, x.dtype)

    def broadcast_to(self, x: Symbol | np.ndarray, shape: tuple[int, ...]) -> Symbol:
        symbol = x if isinstance(x, Symbol) else Symbol(self.writer, self.writer.constant(x))
        return self.writer.view(f"np_broadcast_to({{}}, {shape!r})", symbol, shape)

    def all(self, x: Symbol, axis: Any) -> Any:
        return np.not_equal(_as_counts(x).min(axis), 0)

    def any(self, x: Symbol, axis: Any) -> Any:
        return np.not_equal(_as_counts(x).max(axis), 0)

    def argmax(self, x: Symbol, axis: int | None) -> Symbol:
        return self._first(x, axis, np.maximum)

    def argmin(self, x: Symbol, axis: int | None) -> Symbol:
        return self._first(x, axis, np.minimum)

    def _first(self, x: Symbol, axis: int | None, extreme: Any) -> Any:
        """The place of the first element that is the extreme one, or not a number."""
        x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
        n = x.shape[axis]
        hit: Any = np.equal(x, self.writer.reduce(extreme, x, axis, True))
        if x.dtype.kind == "f":
            hit = hit | np.not_equal(x, x)
        places = np.arange(n).reshape([-1 if a == axis % x.ndim else 1 for a in range(x.ndim)])
        return np.where(hit, places, n).min(axis)

    def var(self, x: Symbol, axis: Any, ddof: float) -> Any:
        return self._var(x, axis, ddof, x.dtype.type(1))

    def std(self, x: Symbol, axis: Any, ddof: float) -> Any:
        """What is squared is scaled, by a power of 2, where that would overflow or vanish."""
        if x.dtype.kind != "f":
            raise NotLowerableError("of integers")
        e = int(np.finfo(x.dtype).maxexp)
        one, up, down = (x.dtype.type(2.0 ** int(k * e)) for k in (0, 0.65, -0.6))
        size = np.abs(x).sum(axis, keepdims=True)
        scale = np.where(np.less(size, 2.0 ** int(-0.3 * e)), up, one)
        scale = np.where(np.greater(size, 2.0 ** int(0.4 * e)), down, scale)
        y = np.sqrt(self._var(x, axis, ddof, scale))
        return y / scale.reshape(y.shape)

    def _var(self, x: Symbol, axis: Any, ddof: float, scale: Any) -> Any:
        """The variance of ``x * scale``."""
        if x.dtype.kind != "f":
            raise NotLowerableError("of integers")
        total = x.sum(axis, keepdims=True)
        n = x.size // max(total.size, 1)
        apart = x * scale - total / n * scale
        return (apart * apart).sum(axis) / max(n - ddof, 0)

    def tril(self, x: Symbol, k: int) -> Any:
        return np.where(np.tril(np.ones(x.shape[-2:], bool), k), x, x.dtype.type(0))

    def triu(self, x: Symbol, k: int) -> Any:
        return np.where(np.triu(np.ones(x.shape[-2:], bool), k), x, x.dtype.type(0))

    def diagonal(self, x: Symbol, offset: int, axis1: int, axis2: int) -> Symbol:
        text = f".diagonal({offset}, {axis1}, {axis2})"
        stand_in = np.broadcast_to(np.empty((), np.int8), x.shape)
        shape = stand_in.diagonal(offset, axis1, axis2).shape
        return self.writer.view(f"{{}}{text}", x, shape)

    def flip(self, x: Symbol, axis: int) -> Symbol:
        return x[(*(slice(None),) * (axis % x.ndim), slice(None, None, -1))]

    def searchsorted(self, x: Symbol, v: Any, side: str) -> Any:
        """How many elements are less; not a number is more than all. Few are all compared with."""

        def is_less(x: Any, v: Any) -> Any:
            less = np.less(x, v) if side == "left" else np.less_equal(x, v)
            if v.dtype.kind != "f":
                return less
            is_nan = np.not_equal(v, v)
            return less | (is_nan & np.equal(x, x) if side == "left" else is_nan)

        n = x.shape[0]
        if n * v.size <= SMALL:
            less = is_less(x, v[..., None])
            return self.writer.reduce(np.add, less.astype(np.int64), less.ndim - 1, False)
        count = np.multiply(np.equal(v, v), 0)
        for power in reversed(range(n.bit_length())):
            more = count + (1 << power)
            last = self._taken(x, np.minimum(more, n) - 1)
            count = np.where(np.less_equal(more, n) & is_less(last, v), more, count)
        return count

    def _taken(self, x: Symbol, places: Symbol) -> Symbol:
        return self.writer.step(TAKE, "", [x, places], places.shape, x.dtype, (1,))

    def cumsum(self, x: Symbol, axis: int) -> Symbol:
        """A loop over rows, whose carry is the sum so far."""
        if x.dtype.kind == "b":
            raise NotLowerableError("of truth values")
        order = [axis % x.ndim, *(a for a in range(x.ndim) if a != axis % x.ndim)]
        rows = x.transpose(order)
        before, row, total = (Value(rows.shape[1:], x.dtype) for _ in range(3))
        body = Lowered([before, row], [Step(UFUNC, np.add, [before, row], [total])], [total] * 2)
        outs = [Value(rows.shape[1:], x.dtype), Value(rows.shape, x.dtype)]
        start = Constant(x.dtype.type(-0.0 if x.dtype.kind == "f" else 0))  # -0.0 + x is x
        options = Rows(0, 1, rows.shape[0], False)
        self.writer.steps.append(Step(LOOP, body, [start, rows.of], outs, options))
        return Symbol(self.writer, outs[1]).transpose(np.argsort(order).tolist())

    def stack(self, xs: Sequence[Symbol], *, axis: int) -> Symbol:
        shape = list(xs[0].shape)
        shape.insert(axis % (len(shape) + 1), len(xs))
        return self._joined(stack_arrays, xs, shape, axis)

    def concatenate(self, xs: Sequence[Symbol], *, axis: int) -> Symbol:
        shape = list(xs[0].shape)
        shape[axis] = sum(x.shape[axis] for x in xs)
        return self._joined(concatenate, xs, shape, axis)

    def _joined(self, prim: Any, xs: Any, shape: Sequence[int], axis: int) -> Symbol:
        options = {"axis": axis % len(shape)}
        return self.writer.step(CALL, prim, xs, tuple(shape), xs[0].dtype, options)


def _as_counts(x: Symbol) -> Symbol:
    hit: Any = x if x.dtype.kind == "b" else np.not_equal(x, 0)
    return hit.astype(np.int32)


def with_steps(
    program: Lowered, fits: Callable[[Step], bool], grouped: Callable[[Lowered], Lowered]
) -> Lowered:
    """The program as `grouped` makes it, with such steps in place of calls where groups take them.

    `fits`: whether C can say a step.
    """
    calls: set[Step] = set()  # those that stay

    def may_fit(step: Step) -> bool:
        return fits_in_parts(step, fits)

    while True:
        made: dict[Value, Step] = {}
        expanded = _Expansion(may_fit, calls, made).program(program)
        found = grouped(in_parts(expanded, fits, made))
        outside = _outside(found, made)
        if not outside:
            return found
        calls |= outside


def is_draw(step: Step) -> bool:
    """Whether a step is a draw that C can say; bounds of integers are checked, so have to be known."""
    if step.kind != CALL or getattr(step.function, "name", "") not in DRAWS:
        return False
    known = all(v.__class__ is Constant for v in step.operands[1:])
    return known or step.function.name == "random_fold_in"


class _Expansion:
    """`made`: the results of the steps that were put in place of which calls."""

    def __init__(
        self, fits: Callable[[Step], bool], calls: set[Step], made: dict[Value, Step]
    ) -> None:
        self.fits, self.calls, self.made = fits, calls, made

    def program(self, program: Lowered) -> Lowered:
        steps: list[Step] = []
        for step in program.steps:
            own = [] if step in self.calls else self.steps(step)
            if own and all(s.kind == VIEW or self.fits(s) for s in own):
                self.made.update((v, step) for s in own if s.kind != VIEW for v in s.outs)
                steps += own
            else:
                steps.append(with_programs(step, self.program))
        return Lowered(program.inputs, steps, program.outs)

    def steps(self, step: Step) -> list[Step]:
        name = getattr(step.function, "name", "") if step.kind == CALL else ""
        if name in c_elements.ELEMENTS:
            return c_elements.steps_of(step)
        if name in _PROGRAMS:
            inside = _Expansion(self.fits, set(), {})
            return _PROGRAMS[name](step, inside.program)
        if name in OTHERS_OF_FEW and step.operands[0].size > SMALL:
            return []
        is_known = name in OTHERS or name in OTHERS_OF_FEW or is_draw(step)
        return _steps_of(step) if is_known else []


def _while(step: Step, expand: Callable[[Lowered], Lowered]) -> list[Step]:
    p = step.options
    programs = [expand(lower(simplify(p[name]))) for name in ("test", "body")]
    return [Step(WHILE, tuple(programs), step.operands, step.outs, p["counts"])]


def _branch(step: Step, expand: Callable[[Lowered], Lowered]) -> list[Step]:
    programs = [expand(lower(simplify(branch))) for branch in step.options["branches"]]
    return [Step(BRANCH, tuple(programs), step.operands, step.outs)]


def _only(step: Step, expand: Callable[[Lowered], Lowered]) -> list[Step]:
    """A checkpoint, whose program runs again on the way back: a branch that is always taken."""
    program = expand(lower(simplify(step.options["jaxpr"])))
    return [Step(BRANCH, (program,), [Constant(0), *step.operands], step.outs)]


def _pullback(step: Step, expand: Callable[[Lowered], Lowered]) -> list[Step]:
    """The pullback of `while_loop`: three loops, see `Unwound`."""
    of = step.options["of"]
    if not isinstance(of, Pullback):
        return []
    if is_of_examples(step):
        return [_of_examples(step, of.rewritten(as_written), expand)]
    if not isinstance(of.function, Looped):
        return []
    function: Any = of.function.rewritten(as_written)
    found = unwound(function, of.moving, of.given)
    jaxprs = (found.test, found.step, found.forward, found.backward)
    if any(jaxpr.consts for jaxpr in jaxprs):
        return []
    programs = tuple(expand(lower(simplify(jaxpr))) for jaxpr in jaxprs)
    counts = function.counts
    xs, cts = step.operands[: len(of.moving)], step.operands[len(of.moving) :]
    _, consts, carry = counts.parts(xs)
    given = dict(zip([i for i, g in enumerate(of.given) if g], cts, strict=True))
    starts: list[Value] = [Constant(consts[i].dtype.type(0)) for i in found.sums]
    starts += [given.get(i, Constant(carry[i].dtype.type(0))) for i in found.moving]
    places = [counts.test + i for i in found.sums]
    places += [counts.test + counts.body + i for i in found.moving]
    made = dict(zip(of.places, step.outs, strict=True))
    outs = [made.pop(i) if i in made else Value(xs[i].shape, xs[i].dtype) for i in places]
    options = Back(counts.test, counts.body, len(carry), len(found.same))
    operands = [*xs, *(consts[i] for i in found.same), *starts]
    rest = [_zeros(out) for out in made.values()]
    return [Step(UNWIND, programs, operands, outs, options), *rest]


def is_of_examples(step: Step) -> bool:
    """Whether a step is the pullback of a loop for a batch."""
    of = step.options.get("of") if step.kind == CALL and step.options else None
    return (
        isinstance(of, Pullback) and isinstance(of.function, Mapped) and of.function.is_of(Looped)
    )


def _of_examples(step: Step, of: Any, expand: Callable[[Lowered], Lowered]) -> Step:
    """The pullback for a batch, as that of a loop on all examples until all are done."""
    avals = of.in_avals
    given = [i for i, a in enumerate(avals) if a.dtype.kind != "V"]

    def called(*xs: Any) -> list[Any]:
        full = placed(xs, given, len(avals))
        return of(*(zeros(a) if x is None else x for x, a in zip(full, avals, strict=True)))

    jaxpr = simplify(derived(called, [avals[i] for i in given]))
    operands = [*map(Constant, jaxpr.consts), *(step.operands[i] for i in given)]
    return Step(BRANCH, (expand(lower(jaxpr)),), [Constant(0), *operands], step.outs)


def _zeros(out: Value) -> Step:
    """The gradient by what is only tested, and by what nothing depends on."""
    zero = Constant(np.zeros(out.shape, out.dtype) if out.shape else out.dtype.type(0))
    return Step(CAST, out.dtype, [zero], [out])


def _rejected(step: Step, expand: Callable[[Lowered], Lowered]) -> list[Step]:
    """Numbers that are drawn until they are accepted: a branch that is always taken."""
    if not step.out.size:
        return []
    jaxpr, operands = c_rejection.program_of(step)
    return [Step(BRANCH, (expand(lower(jaxpr)),), [Constant(0), *operands], step.outs)]


_PROGRAMS: dict[str, Callable[..., list[Step]]] = {
    **dict.fromkeys(c_rejection.ALGORITHMS, _rejected),
    "while_loop": _while,
    "while_derivative": _pullback,
    "cond": _branch,
    "checkpoint_call": _only,
}


def _steps_of(step: Step) -> list[Step]:
    """What a draw is made of; nothing if it cannot be said."""
    writer = _Writer()
    operands = [v.value if isinstance(v, Constant) else Symbol(writer, v) for v in step.operands]
    try:
        out = run_under(EVAL, _run, (step, _InC(writer), operands))
    except (NotLowerableError, AttributeError, TypeError, ValueError, IndexError):
        return []
    if out.__class__ is not Symbol or (out.shape, out.dtype) != (step.out.shape, step.out.dtype):
        return []
    for s in writer.steps:
        s.operands = tuple(step.out if v is out.of else v for v in s.operands)
        s.outs = tuple(step.out if v is out.of else v for v in s.outs)
    return writer.steps


def _run(step: Step, xp: Any, operands: Sequence[Any]) -> Any:
    return step.function.impl(xp, *operands, **step.options)


def _outside(program: Lowered, made: dict[Value, Step]) -> set[Step]:
    """The calls of which a step is left outside of groups: by results, as programs inside change."""
    steps = [s for s in program.steps if s.kind != KERNEL]
    found = {made[v] for s in steps for v in s.outs if v in made}
    return found.union(*[_outside(p, made) for s in steps for p in programs_of(s)])
