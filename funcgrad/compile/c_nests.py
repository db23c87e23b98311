"""Nests of loops in C: elementwise steps over one known shape, with reductions over any of its axes.

Layer 4½. One axis is the innermost and runs in vectors: that along which most operands lie element
by element. Short axes are written out, so that what a row of three needs is in registers and the
vectors run over the rows. A reduction adds up in a variable where its axes are the inner ones, and
in memory where they are not.

NOTE [Chosen places] Of arrays that are joined, the place of an element is chosen and then read:
``*(i >= 3 ? &b[i - 3] : &a[i])``. To choose between two values that are read, compilers read with
masks. Where rows of two are written out GCC 12 takes the masks of the wrong rows (zeros in the
result), and a masked read outside of an array is 40 times as slow.

NOTE [Narrow vectors] For rows of 3, and with vectors of 512 bits, GCC 12 shuffles within lanes where
elements have to cross them. So kernels whose vectors walk in steps of three have vectors of 256 bits,
and so have those with many rows that leave much over for single elements: of 40 numbers in single
precision eight, which took twice as long.

NOTE [Long steps] Where vectors gather elements in constant steps, GCC reads all that lies between and
shuffles: for 8 neighbours in steps of 2,048 that is 2,048 vectors, and takes minutes and gigabytes.
So long steps are variables of which it knows nothing; as are those that are neither three nor a power
of two, from whose neighbours it makes no vectors: then it gathers, in a quarter of the time.

NOTE [Lanes] What GCC's loop reduced to a vector it reduces to a number one element after the other, and
by branches where it is a maximum. So short loops reduce to a vector that we name, whose halves are
joined. The sum of 64 numbers in single precision takes half of the time, their maximum 0.4. For values
of several widths GCC finds no vectors in such a loop.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .c_access import Access, Moved
from .c_places import Place, dense, moved
from .c_source import TYPES, number
from .groups import is_number
from .steps import CALL, INDEX, REDUCE, TAKE, Step, Value

SHORT = 16  # the longest axis that is written out
MOST = 256  # statements that writing out may make
NEAR = 4096  # elements of an array in the nearest cache
STREAMS = 4  # places far apart that are read or written in turn
NARROW_TURN = 0.6  # of the time that a turn takes with vectors twice as long
LONG_STEP = 128  # elements, see NOTE [Long steps]
RESULTS = 4  # vectors of results that a short loop has
MANY_TURNS = 32  # of a loop, beside which it takes no time to join what is in a vector
STRAND = 1024  # elements that are added up before the sum joins the others

# Of a reduction: the next value, and what it starts with.
_NEXT = {
    np.add: "{0} + {1}",
    np.multiply: "{0} * {1}",
    np.maximum: "({0} >= {1}) | ({0} != {0}) ? {0} : {1}",
    np.minimum: "({0} <= {1}) | ({0} != {0}) ? {0} : {1}",
}
REDUCTIONS = frozenset(_NEXT)
_SIGN = {np.add: "+", np.multiply: "*"}


def start(ufunc: Any, dtype: Any) -> str:
    """What a reduction starts with."""
    if ufunc in _SIGN:
        return "0" if ufunc is np.add else "1"
    if dtype.kind == "f":
        return number(-math.inf if ufunc is np.maximum else math.inf, dtype)
    if ufunc is np.minimum:
        return number(np.iinfo(dtype).max, dtype)
    return "0" if dtype.kind == "u" else f"({np.iinfo(dtype).min + 1}L - 1)"


def _is_odd(step: int) -> bool:
    """Whether GCC takes no vectors from neighbours in such steps."""
    return step != 3 and step & (step - 1) != 0


class Reduction:
    """A reduction of a nest: over which loops, and how it gathers its result."""

    def __init__(self, index: int, step: Step, out: Access, axes: set[int]) -> None:
        self.index, self.step, self.out, self.axes = index, step, out, axes
        self.ufunc = step.function
        self.dtype = step.out.dtype
        self.is_extreme = self.ufunc not in _SIGN and self.dtype.kind == "f"
        self.keys: list[tuple[int, ...]] = []
        self.depth: int | None = None  # of the outermost loop that it runs over, if all inner do
        self.in_memory = False
        self.one_strand = False  # nothing is added up but one turn of the innermost loop

    def plan(self, loops: Sequence[int], length: int) -> None:
        """`length`: of the innermost loop."""
        over = [d for d, axis in enumerate(loops) if axis in self.axes]
        if over and all(loops[d] in self.axes for d in range(over[0], len(loops))):
            self.depth = over[0]
            self.one_strand = self.depth == len(loops) - 1 and length <= STRAND
        else:
            self.in_memory = bool(over)

    def name(self, what: str, key: tuple[int, ...]) -> str:
        return "_".join([f"{what}{self.index}", *map(str, key)])

    def joined(self, a: str, b: str) -> str:
        return _NEXT[self.ufunc].format(a, b)


class Nest:
    """Prints one nest. `kernel`: prints single steps, and knows where values are.

    `steps`: over `shape`, more than one element; the values of `kept` are stored. `fused`: they are a
    product and its sum, where a multiplication and an addition may be one instruction, as in BLAS.
    """

    def __init__(
        self,
        kernel: Any,
        shape: tuple[int, ...],
        steps: Sequence[Step],
        kept: set[Value],
        *,
        fused: bool = False,
    ) -> None:
        self.kernel = kernel
        self.fused = fused
        self.shape = shape
        self.steps = [s for s in steps if s.kind != REDUCE]
        self.extent = {a: n for a, n in enumerate(shape) if n > 1}
        self.order = list(self.extent)  # of the axes, from the outermost
        made = {s.out for s in self.steps}
        read = [v for s in steps if s.kind != CALL for v in s.operands[s.kind == TAKE :]]
        self.reads = {
            v: self.access(v) for v in dict.fromkeys(read) if v not in made and not is_number(v)
        }
        self.moves = {s.out: self.parts(s) for s in self.steps if s.kind == CALL}
        self.stores = {
            s.out: self.access(s.out, kernel.made(s.out)) for s in self.steps if s.out in kept
        }
        self.reductions = [self.reduction(s) for s in steps if s.kind == REDUCE]
        self.arrange()

    # ------------------------------------------------------------ accesses

    def access(self, value: Value, place: Place | None = None) -> Access:
        place = place or self.kernel.places[value]
        kind = TYPES[value.dtype]
        if place.is_variable:
            return Access(place.base, kind, 0, {}, variable=True)
        place = place.over(self.shape)
        strides = {a: place.shown.strides[a] for a in self.extent}
        return Access(place.base, kind, place.offset, strides)

    def place(self, value: Value) -> Place:
        """Where an operand is; a number is what C calls it."""
        if is_number(value):
            return dense(number(value.value, value.dtype), value.shape)  # type: ignore[attr-defined]
        return self.kernel.places[value]

    def parts(self, step: Step) -> Moved:
        places = [self.place(v) for v in step.operands]
        found = []
        parts = moved(step, [p.offsets() for p in places])
        for value, place, part in zip(step.operands, places, parts or (), strict=True):
            if part is not None:
                kind = TYPES[value.dtype]
                strides = {a: part.strides[a] for a in self.extent}
                found.append(
                    (Access(place.base, kind, part.offset, strides, place.is_variable), part)
                )
        return Moved(found, self.shape, TYPES[step.out.dtype])

    def reduction(self, step: Step) -> Reduction:
        axes, keepdims = step.options
        place = self.kernel.made(step.out)
        if place.is_variable:
            out = Access(place.base, TYPES[step.out.dtype], 0, {}, variable=True)
        else:
            shown = place.shown if keepdims else np.expand_dims(place.shown, tuple(axes))
            out = self.access(step.out, place.showing(shown))
        inner = {a for a in axes if a in self.extent}
        for a in inner:
            out.strides[a] = 0
        return Reduction(self.kernel.count(), step, out, inner)

    def accesses(self) -> Iterator[Access]:
        yield from self.reads.values()
        yield from self.stores.values()
        for m in self.moves.values():
            yield from (access for access, _ in m.parts)

    # ------------------------------------------------------------ arrangement

    def arrange(self) -> None:
        """Which axes are one, which are written out, and the order of the loops."""
        first = next(iter([*self.stores.values(), *self.reads.values()]), None)
        if first is not None and not first.variable:
            self.order.sort(key=lambda a: (-abs(first.strides[a]), a))
        if not self.moves and not any(s.kind == TAKE for s in self.steps):
            self.collapse()
        inner = max(self.order, key=self.fitness)
        self.unrolled: list[int] = []
        copies = 1
        is_large = math.prod(self.extent.values()) > NEAR
        for axis in reversed(self.order):
            n = self.extent[axis]
            if axis == inner or n > SHORT or copies * n * max(len(self.steps), 1) > MOST:
                continue
            is_gathered = any(r.axes == {axis} for r in self.reductions)
            far = is_large and not is_gathered and self.lies_outside(axis, inner)
            # What sums over another axis reads its terms once for all places.
            if far and copies * n > STREAMS and not self.reductions:
                continue
            copies *= n
            self.unrolled.insert(0, axis)
        steps = {abs(a.strides.get(inner, 0)) for a in self.accesses()}
        if 3 in steps:  # NOTE [Narrow vectors]
            self.kernel.is_narrow = True
        left = [a for a in self.order if a != inner and a not in self.unrolled]
        reduced = self.reductions[0].axes if self.reductions else set()
        left.sort(key=lambda a: a in reduced)
        self.loops = [*left, inner]
        self.cut()
        self.name_long_steps(inner)
        self.once = self.read_once(inner)
        self.weigh()
        for r in self.reductions:
            r.plan(self.loops, self.extent[inner])
            kept = [range(self.extent[a]) for a in self.unrolled if a not in r.axes]
            r.keys = list(itertools.product(*kept))

    def cut(self) -> None:
        """Which loops are one after another for the parts of joined arrays, the inner ones first.

        `stretch`: of those that are being printed.
        """
        self.stretches = {a: [(0, self.extent[a])] for a in self.loops}
        self.stretch = {a: (0, self.extent[a]) for a in self.loops}
        copies = math.prod(self.extent[a] for a in self.unrolled) * max(len(self.steps), 1)
        for axis in reversed(self.loops):
            borders = {0, self.extent[axis]}.union(*[m.borders(axis) for m in self.moves.values()])
            found = list(itertools.pairwise(sorted(borders)))
            if copies * len(found) <= MOST:
                copies *= len(found)
                self.stretches[axis] = found

    def read_once(self, inner: int) -> set[Value]:
        """Places of rows, which are read before a loop: GCC gathers what is in a row otherwise."""
        places = {v for s in self.steps if s.kind == TAKE for v in s.operands[1:]}
        found = {v: a for v, a in self.reads.items() if v in places and not a.variable}
        return {v for v, a in found.items() if not a.strides[inner] and not self.unrolled}

    def weigh(self) -> None:
        """Count turns with vectors of 512 bits and of 256; see NOTE [Narrow vectors]."""
        *outer, inner = self.loops
        lanes = 64 // max(self.widths(), default=8)
        rows = math.prod(self.extent[a] for a in outer)
        for low, high in self.stretches[inner]:
            n, half = high - low, lanes // 2
            self.kernel.turns += rows * (n // lanes + n % lanes)
            self.kernel.narrow_turns += rows * (n // half * NARROW_TURN + n % half)

    def name_long_steps(self, inner: int) -> None:
        """Those along `inner` become variables; see NOTE [Long steps]."""
        self.long_steps: dict[int, str] = {}
        for a in (*self.accesses(), *(r.out for r in self.reductions)):
            step = a.strides.get(inner, 0)
            if abs(step) >= LONG_STEP or _is_odd(abs(step)):
                if step not in self.long_steps:
                    self.long_steps[step] = f"step{self.kernel.count()}"
                a.long_steps[inner] = self.long_steps[step]

    def lies_outside(self, axis: int, inner: int) -> bool:
        """Whether every array goes through all of `inner` before its next place on `axis`."""
        n = self.extent[inner]
        return all(
            a.strides[axis] == 0 or abs(a.strides[axis]) >= abs(a.strides[inner]) * n
            for a in self.accesses()
            if not a.variable
        )

    def fitness(self, axis: int) -> tuple[int, float, int]:
        """The longest axis of those that are long enough, if arrays lie along it."""
        n = self.extent[axis]
        score = sum(
            {0: 0.5, 1: 1.0}.get(abs(a.strides[axis]), 0.0)
            for a in self.accesses()
            if not a.variable
        )
        is_summed = any(axis in r.axes for r in self.reductions)
        is_long = n >= SHORT or (not is_summed and self.kernel.is_filled_by(n))
        return SHORT if is_long else n, score, n

    def collapse(self) -> None:
        """Make one axis of two neighbours that every array walks through as one."""
        everything = (*self.accesses(), *(r.out for r in self.reductions))
        arrays = [a for a in everything if not a.variable]
        at = len(self.order) - 1
        while at > 0:
            outer, inner = self.order[at - 1], self.order[at]
            n = self.extent[inner]
            if all(a.strides[outer] == a.strides[inner] * n for a in arrays) and all(
                (outer in r.axes) == (inner in r.axes) for r in self.reductions
            ):
                for a in arrays:
                    a.strides[outer] = a.strides[inner]
                for r in self.reductions:
                    r.axes.discard(inner)
                self.extent[outer] *= n
                del self.extent[inner]
                self.order.pop(at)
                for a in arrays:
                    a.strides.pop(inner)
            at -= 1

    # ------------------------------------------------------------ text

    def lines(self) -> list[str]:
        lines: list[str] = []
        for step, name in self.long_steps.items():
            lines += [f"long {name} = {step};", f'__asm__("" : "+r"({name}));']
        for r in self.reductions:
            if r.in_memory:
                count = math.prod(self.kernel.places[r.step.out].shown.shape)
                fill = f"{r.out.base}[i] = {start(r.ufunc, r.dtype)};"
                lines.append(f"for (long i = 0; i < {count}; i++) {fill}")
        return lines + self.around(0, lambda: self.loop(0))

    def around(self, depth: int, inside: Callable[[], list[str]]) -> list[str]:
        """The loops from `depth` on, with the variables of the reductions that start there."""
        here = [r for r in self.reductions if r.depth == depth]
        lines = [self.declared(r, key, "total") for r in here for key in r.keys if not r.one_strand]
        lines += inside()
        for r in here:
            what = "part" if r.one_strand else "total"
            lines += [self.stored(r, key, r.name(what, key)) for key in r.keys]
        return lines

    def declared(self, r: Reduction, key: tuple[int, ...], what: str) -> str:
        text = f"{TYPES[r.dtype]} {r.name(what, key)} = {start(r.ufunc, r.dtype)};"
        lost = f" {'long' if r.dtype.itemsize == 8 else 'int'} {r.name('lost', key)} = 0;"
        return text + lost if r.is_extreme and what == "part" else text

    def stored(self, r: Reduction, key: tuple[int, ...], text: str) -> str:
        if r.out.variable:
            return f"{TYPES[r.dtype]} {r.out.base} = {text};"
        where = self.where(r.axes, key)
        return f"{r.out.at(where)} = {text};"

    def where(self, reduced: set[int], key: tuple[int, ...]) -> dict[int, Any]:
        found: dict[int, Any] = {a: f"i{a}" for a in self.loops}
        found.update(dict.fromkeys(reduced, 0))
        found.update(zip([a for a in self.unrolled if a not in reduced], key, strict=True))
        return found

    def loop(self, depth: int) -> list[str]:
        axis = self.loops[depth]
        if depth == len(self.loops) - 1:
            return self.innermost(axis)
        lines = []
        for low, high in self.stretches[axis]:
            self.stretch[axis] = low, high
            inside = self.around(depth + 1, lambda: self.loop(depth + 1))
            lines.append(f"for (long i{axis} = {low}; i{axis} < {high}; i{axis}++) {{")
            lines += [*[f"  {x}" for x in inside], "}"]
        return lines

    def innermost(self, axis: int) -> list[str]:
        """The loop in vectors; sums over it are of strands, so that errors do not grow.

        NaN are looked for beside extremes: with them each turn would wait for three instructions.
        """
        n = self.extent[axis]
        over = [r for r in self.reductions if axis in r.axes]
        parts = [(r, key) for r in over for key in r.keys]
        in_lanes = self.is_in_lanes(n, parts)
        joined = []
        for r, key in parts:
            part = r.name("part", key)
            if r.is_extreme and not in_lanes:
                joined.append(f"if ({r.name('lost', key)}) {part} = {number(math.nan, r.dtype)};")
            if r.in_memory:
                joined.append(
                    self.stored(r, key, r.joined(r.out.at(self.where(r.axes, key)), part))
                )
            elif not r.one_strand:
                total = r.name("total", key)
                joined.append(f"{total} = {r.joined(total, part)};")
        if in_lanes:
            return [*self.in_lanes(axis, parts), *joined]
        clauses = "".join(
            f" reduction({_SIGN.get(r.ufunc) or self.kernel.extreme(r.ufunc, r.dtype)}:"
            f"{r.name('part', key)})" + f" reduction(|:{r.name('lost', key)})" * r.is_extreme
            for r, key in parts
        )
        clauses += " reduction(|:bad)" * any(s.kind == INDEX for s in self.steps)
        declared = [self.declared(r, key, "part") for r, key in parts]
        i, pragma = f"i{axis}", f"#pragma omp simd{clauses}"
        in_strands = bool(parts) and n > STRAND
        lines = [] if in_strands else declared
        for low, high in self.stretches[axis]:
            self.stretch[axis] = low, high
            body = [f"  {x}" for x in self.body()]
            lines += self.before
            if not in_strands:
                lines += [pragma, f"for (long {i} = {low}; {i} < {high}; {i}++) {{", *body, "}"]
                continue
            loop = [pragma, f"for (long {i} = from; {i} < to; {i}++) {{", *body, "}"]
            inside = [f"const long to = from + {STRAND} < {high} ? from + {STRAND} : {high};"]
            inside += [*declared, *loop, *joined]
            head = f"for (long from = {low}; from < {high}; from += {STRAND}) {{"
            lines += [head, *[f"  {x}" for x in inside], "}"]
        return lines if in_strands else [*lines, *joined]

    def is_in_lanes(self, n: int, parts: Sequence[Any]) -> bool:
        """Whether reductions are over few vectors of `lanes` elements; see NOTE [Lanes]."""
        self.lanes, widths = 0, self.widths()
        if not parts or len(widths) > 1 or any(s.kind in (INDEX, TAKE) for s in self.steps):
            return False
        lanes = 64 // widths.pop()
        is_whole = len(self.stretches[self.loops[-1]]) == 1 and len(parts) <= RESULTS
        for found in (lanes, lanes // 2):
            if is_whole and n % found == 0 and n <= MANY_TURNS * found:
                self.lanes = found
                break
        return self.lanes > 0

    def widths(self) -> set[int]:
        """How many bytes values have."""
        values = [*self.reads, *(s.out for s in self.steps), *(r.step.out for r in self.reductions)]
        return {v.dtype.itemsize for v in values}

    def in_lanes(self, axis: int, parts: Sequence[tuple[Reduction, tuple[int, ...]]]) -> list[str]:
        """All in one vector of results, whose halves are joined until a number is left."""
        lanes, simd = self.lanes, "#pragma omp simd"
        names = [(r, r.name("lanes", key)) for r, key in parts]
        lines = [
            f"{TYPES[r.dtype]} {name}[{lanes}] __attribute__((aligned(64)));" for r, name in names
        ]
        starts = [f"  {name}[l] = {start(r.ufunc, r.dtype)};" for r, name in names]
        lines += [simd, f"for (long l = 0; l < {lanes}; l++) {{", *starts, "}"]
        body = [f"const long i{axis} = from + l;", *self.body()]
        loop = [simd, f"for (long l = 0; l < {lanes}; l++) {{", *[f"  {x}" for x in body], "}"]
        head = f"for (long from = 0; from < {self.extent[axis]}; from += {lanes}) {{"
        lines += [head, *[f"  {x}" for x in loop], "}"]
        while (lanes := lanes // 2) > 1:
            halves = [f"  {a}[l] = {r.joined(f'{a}[l]', f'{a}[l + {lanes}]')};" for r, a in names]
            lines += [simd, f"for (long l = 0; l < {lanes}; l++) {{", *halves, "}"]
        for (r, key), (_, a) in zip(parts, names, strict=True):
            joined = r.joined(f"{a}[0]", f"{a}[1]")
            lines.append(f"{TYPES[r.dtype]} {r.name('part', key)} = {joined};")
        return lines

    def partial(self, r: Reduction, key: tuple[int, ...]) -> str:
        """What the innermost loop adds up in."""
        return f"{r.name('lanes', key)}[l]" if self.lanes else r.name("part", key)

    def body(self) -> list[str]:
        """The statements for one turn: for every place on the axes that are written out."""
        lines: list[str] = []
        self.before: list[str] = []  # statements before the loop
        known: dict[str, str] = {}  # what a text is called, so that nothing is computed twice
        kinds: dict[str, str] = {}
        gathered: dict[tuple[Any, tuple[int, ...]], str] = {}

        def named(text: str, kind: str) -> str:
            if kinds.get(text) == kind:
                return text
            key = f"{kind} {text}"
            if key not in known:
                known[key] = name = f"v{self.kernel.count()}"
                kinds[name] = kind
                lines.append(f"const {kind} {name} = {text};")
            return known[key]

        for places in itertools.product(*[range(self.extent[a]) for a in self.unrolled]):
            where: dict[int, Any] = {a: f"i{a}" for a in self.loops}
            where.update(zip(self.unrolled, places, strict=True))
            names = {v: a.base for v, a in self.reads.items() if a.variable}
            for v, a in self.reads.items():
                if v in self.once:
                    names[v] = f"v{self.kernel.count()}"
                    self.before.append(
                        f"const {self.kernel.variable(v)} {names[v]} = {a.at(where)};"
                    )
                elif not a.variable:
                    names[v] = named(a.at(where), self.kernel.variable(v))
            for step in () if self.fused else self.steps:
                if step.kind == CALL:
                    text = self.moves[step.out].at(where, self.stretch)
                else:
                    text = self.kernel.element(step, where, names, lines)
                names[step.out] = named(text, self.kernel.variable(step.out))
            lines += [f"{a.at(where)} = {names[v]};" for v, a in self.stores.items()]
            for r in self.reductions:
                kept = zip(self.unrolled, places, strict=True)
                key = tuple(p for a, p in kept if a not in r.axes)
                kind = TYPES[r.dtype]
                if self.fused:
                    x, y = (names[v] for v in self.steps[0].operands)
                    before = gathered.get((r, key)) or self.start(r, key)
                    gathered[r, key] = named(f"FMA_{kind}({x}, {y}, {before})", kind)
                    continue
                text = named(self.kernel._cast(r.step.operands[0], r.dtype, names), kind)
                if (r, key) in gathered:
                    text = named(r.joined(gathered[r, key], text), kind)
                gathered[r, key] = text
        for (r, key), text in gathered.items():
            lines.append(self.gather(r, key, text))
        return lines

    def start(self, r: Reduction, key: tuple[int, ...]) -> str:
        """What one turn of a fused sum adds to."""
        if self.loops[-1] in r.axes:
            return self.partial(r, key)
        return r.out.at(self.where(r.axes, key)) if r.in_memory else "0"

    def gather(self, r: Reduction, key: tuple[int, ...], text: str) -> str:
        """What one turn adds to a reduction."""
        if self.loops[-1] in r.axes:
            part = self.partial(r, key)
            if r.is_extreme and not self.lanes:
                sign = ">" if r.ufunc is np.maximum else "<"
                lost = f"{r.name('lost', key)} |= {text} != {text};"
                return f"{part} = {text} {sign} {part} ? {text} : {part}; {lost}"
            return f"{part} = {text if self.fused else r.joined(part, text)};"
        if r.in_memory and not self.fused:
            text = r.joined(r.out.at(self.where(r.axes, key)), text)
        return self.stored(r, key, text)
