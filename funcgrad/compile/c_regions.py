"""Regions as C: one inner loop of a generalised ufunc of NumPy for each.

Layer 4½. A region is nests of loops one after another, with memory for what lies between them, and
loops over rows around them. Views are other strides over the same memory.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import c_elements, c_linalg, c_products, c_unwound
from .c_nests import SHORT, Nest, start
from .c_places import Place, dense, layout
from .c_rows import in_rows
from .c_shared import FMA, MEMORY, STRIDED, ZEROS
from .c_source import NARROW, TYPES, VECTORS, Kernel
from .c_wide import SIGNATURE, caller, entry, is_wide
from .groups import grouped, is_number
from .regions import Region, in_nest
from .steps import (
    BRANCH,
    CAST,
    INDEX,
    KERNEL,
    LOOP,
    PUT,
    REDUCE,
    TAKE,
    UFUNC,
    UNWIND,
    VIEW,
    WHILE,
    Lowered,
    Rows,
    Step,
    Value,
    programs_of,
)

BOOL = np.dtype(bool)
ON_STACK = 1 << 15  # bytes of intermediate results


class Arena:
    """Memory for intermediate results: given back and used again as the text goes on."""

    def __init__(self) -> None:
        self.size = 0
        self.free: list[tuple[int, int]] = []  # size and start

    def take(self, size: int) -> tuple[int, int]:
        size = -(-size // 64) * 64
        fitting = [block for block in self.free if block[0] >= size]
        if fitting:
            block = min(fitting)
            self.free.remove(block)
            return block
        self.size += size
        return size, self.size - size


def has_products(steps: Sequence[Step]) -> bool:
    """Whether there are matrix products among steps, or in their loops."""
    return any(
        c_products.is_product(s) or any(has_products(p.steps) for p in programs_of(s))
        for s in steps
    )


def in_place(body: Lowered, rows: Rows) -> list[tuple[Value, Value]]:
    """Arrays of a loop's carry and their new values that may be written over them as they are made:
    elementwise, from what nobody else reads.
    """
    maker = {v: s for s in body.steps for v in s.outs}
    readers = Counter(v for s in body.steps for v in s.operands)
    readers.update(body.outs)
    carries = body.inputs[rows.consts : rows.consts + rows.carries]
    return [
        (inner, new)
        for inner, new in zip(carries, body.outs, strict=False)
        if new in maker
        and _writes_over(maker[new], inner)
        and readers[inner] == 1
        and (new.shape, new.dtype) == (inner.shape, inner.dtype)
        and inner.size > 1
        and body.outs.count(new) == 1
    ]


def _writes_over(step: Step, value: Value) -> bool:
    """Whether a step can write its result over an operand."""
    if step.kind == PUT:
        return step.operands[0] is value
    return step.kind == UFUNC and value in step.operands


class RegionKernel(Kernel):
    """The C source of a region, called `name`."""

    group: Any

    def __init__(self, region: Region, name: str) -> None:
        self.group = region
        self.name = name
        self.inputs, self.outs = region.inputs, region.outs
        self.flag = "long"
        self.places: dict[Value, Place] = {}
        self.given: dict[Value, Place] = {}  # where a value is to be made
        self.blocks: dict[str, tuple[int, int]] = {}
        self.arena = Arena()
        self.counter = 0
        self.bad: Value | None = None  # the result that says whether an index is out of bounds
        self.extremes: dict[str, str] = {}
        self.is_narrow = False  # see NOTE [Narrow vectors] in c_nests.py
        self.turns = self.narrow_turns = 0.0
        self.functions: dict[str, str] = {}  # for products, by name
        self.has_products = has_products(region.steps)
        self.is_wide = is_wide(self.inputs, self.outs)
        self.text = self._text()
        self.signature = self._signature()
        self.shared = [
            part
            for name, part in (
                ("FMA_", FMA),
                ("aligned_alloc", MEMORY),
                ("bring(", MEMORY + STRIDED),
                ("ZERO_", ZEROS),
            )
            if name in self.text
        ]
        self.shared += c_linalg.shared(self.text)
        if self.functions:
            self.shared += [VECTORS, *self.functions.values()]
        if "NARROW " in self.text:
            self.shared.append(NARROW)

    def is_filled_by(self, n: int) -> bool:
        """Whether vectors should lie along an axis of `n` elements: of a matrix beside products also
        where these are eight, which are a vector; sums over rows ask for more.
        """
        return n >= SHORT or (self.has_products and n == SHORT // 2)

    def _signature(self) -> str:
        if self.is_wide:
            return SIGNATURE
        sides = [
            ",".join(f"({','.join(map(str, v.shape))})" for v in values)
            for values in (self.inputs, self.outs)
        ]
        return "->".join(sides)

    def caller(self, loop: Any) -> Callable[..., Any]:
        return caller(loop, self.inputs, self.outs) if self.is_wide else loop

    def count(self) -> int:
        self.counter += 1
        return self.counter

    def variable(self, value: Value) -> str:
        """The type of a C variable for one element."""
        return self.flag if value.dtype.kind == "b" else self._type(value)

    def extreme(self, ufunc: Any, dtype: Any) -> str:
        """The name by which loops in vectors reduce to a maximum or minimum."""
        name = f"{self.name}_{ufunc.__name__}_{dtype.name}"
        sign, kind = ">" if ufunc is np.maximum else "<", TYPES[dtype]
        self.extremes[name] = (
            f"#pragma omp declare reduction({name} : {kind} : omp_out = "
            f"omp_in {sign} omp_out ? omp_in : omp_out) "
            f"initializer(omp_priv = {start(ufunc, dtype)})"
        )
        return name

    def made(self, value: Value) -> Place:
        """Where a value that is about to be made goes."""
        place = self.given.get(value)
        if place is None:
            name = f"b{self.count()}"
            if value.size == 1:
                place = dense(name, value.shape)
            else:
                place = dense(
                    name, value.shape, layout(value.shape, self.is_filled_by(value.shape[-1]))
                )
                self.blocks[name] = self.arena.take(value.size * value.dtype.itemsize)
                kind = self._type(value)
                self.head.append(f"{kind} *{name} = ({kind} *)(space + {self.blocks[name][1]});")
        self.places[value] = place
        return place

    # ------------------------------------------------------------ the function

    def _text(self) -> str:
        self.head: list[str] = []
        border, last = self._border()
        program = in_rows(Lowered(self.inputs, self.group.steps, self.outs))
        body = self.sequence(grouped(program, in_nest, lambda group: True))
        for k, v in enumerate(self.outs, len(self.inputs)):
            if v.size == 1:
                last.append(f"*({self._type(v)} *)args[{k}] = {self.places[v].base};")
        flag = []
        if self.bad is not None:
            flag.append("long bad = 0;")
            last.append(f"*(long *)args[{len(self.inputs) + len(self.outs)}] = bad;")
            self.outs = [*self.outs, self.bad]
        size, space = self.arena.size, []
        if size > ON_STACK:
            # The caller's, as one more result that nobody reads.
            space = [f"char *space = args[{len(self.inputs) + len(self.outs)}];"]
            self.outs = [*self.outs, Value((size,), np.dtype(np.uint8))]
        elif size:
            space = [f"char space[{size}] __attribute__((aligned(64)));"]
        core = [f"const long *core = steps + {len(self.inputs) + len(self.outs)};"]
        lines = [*core, *border, *flag, *space, *self.head, *body, *last]
        own = f"{self.name}_inside" if self.is_wide else self.name
        text = "\n".join(
            [
                *self.extremes.values(),
                f"{self.attributes()}void {own}(char **args, long const *dims, long const *steps, "
                "void *data) {",
                *[f"  {x}" for x in lines],
                "}",
                "",
            ]
        )
        return text + entry(self.name, own, self.inputs, self.outs) if self.is_wide else text

    def attributes(self) -> str:
        return "NARROW " * (self.is_narrow or self.narrow_turns < self.turns)

    def _border(self) -> tuple[list[str], list[str]]:
        """How arrays come in and go out: dense, by copies where they are not."""
        values = [*self.inputs, *self.outs]
        lines, facts = [], []
        for k, v in enumerate(values):
            kind, name = self._type(v), f"a{k}"
            facts += [v.dtype.itemsize * (v.size > 1), len(v.shape), *v.shape]
            if v.size > 1:
                places = self.places if k < len(self.inputs) else self.given
                places[v] = dense(name, v.shape)
                lines.append(f"{kind} *{name} = ({kind} *)own[{k}];")
            elif k < len(self.inputs):
                self.places[v] = dense(name, v.shape)
                lines.append(f"const {self.variable(v)} {name} = *({kind} *)args[{k}];")
        if all(v.size == 1 for v in values):
            return lines, []
        told = f"(args, core, facts, {len(self.inputs)}, {len(values)}, own);"
        head = [
            f"static const long facts[] = {{{', '.join(map(str, facts))}}};",
            f"char *own[{len(values)}];",
            f"bring{told}",
        ]
        return [*head, *lines], [f"give_back{told}"]

    # ------------------------------------------------------------ steps

    def sequence(self, program: Lowered) -> list[str]:
        """The text of steps one after another; memory is given back after the last use."""
        root: dict[Value, Value] = {}
        last: dict[Value, int] = {}
        for i, step in enumerate(program.steps):
            for v in (*step.operands, *step.outs):
                last[root.get(v, v)] = i
            if step.kind == VIEW:
                root[step.out] = root.get(step.operands[0], step.operands[0])
        for v in program.outs:
            last.pop(root.get(v, v), None)
        ends: dict[int, list[Value]] = {}
        for v, i in last.items():
            ends.setdefault(i, []).append(v)
        lines: list[str] = []
        own: set[str] = set()
        homes: dict[Value, set[str]] = {}
        for i, step in enumerate(program.steps):
            before = set(self.blocks)
            lines += self.step(step)
            made = set(self.blocks) - before
            own |= made
            if step.kind == VIEW:
                homes.setdefault(root[step.out], set()).update(made)
            for v in step.outs:
                homes.setdefault(root.get(v, v), set()).add(self.places[v].base)
            for v in ends.get(i, ()):
                for base in sorted(homes.get(v, set()) & own & self.blocks.keys()):
                    self.arena.free.append(self.blocks.pop(base))
        return lines

    def step(self, step: Step) -> list[str]:
        if step.kind == VIEW:
            return self.view(step)
        if step.kind in (LOOP, WHILE, BRANCH, PUT):
            return getattr(self, step.kind + "_lines")(step)
        if step.kind == KERNEL:
            group = step.function
            return self.nest(group.shape, group.steps, set(group.outs))
        if c_products.is_product(step):
            return c_products.lines(self, step)
        if step.kind == UNWIND:
            return c_unwound.lines(self, step)
        if c_linalg.fits(step):
            return c_linalg.lines(self, step)
        shape = step.operands[0].shape if step.kind == REDUCE else step.out.shape
        return self.nest(shape, [step], set(step.outs))

    def nest(self, shape: tuple[int, ...], steps: Sequence[Step], kept: set[Value]) -> list[str]:
        if math.prod(shape) > 1:
            return Nest(self, shape, steps, kept).lines()
        lines: list[str] = []
        for step in steps:
            names = {v: self.places[v].base for v in step.operands if not is_number(v)}
            if step.kind == REDUCE:
                text = self._cast(step.operands[0], step.out.dtype, names)
            else:
                text = self.element(step, {}, names, lines)
            place = self.made(step.out)
            lines.append(f"const {self.variable(step.out)} {place.base} = {text};")
        return lines

    def element(
        self, step: Step, where: dict[int, Any], names: dict[Value, str], lines: list[str]
    ) -> str:
        """One element of a step's result, at a place; `lines` gets what is to be checked first."""
        if step.kind == TAKE:
            return c_elements.element(self, step, where, names)
        if step.kind != INDEX:
            return self._step(step, names)
        self.bad = self.bad or Value((), c_elements.INT64)
        text = self._cast(step.operands[0], c_elements.INT64, names)
        lines.append(c_elements.checked(step, text))
        return c_elements.index(step, text)

    def put_lines(self, step: Step) -> list[str]:
        """Elements written into a copy of the first operand, or into that itself."""
        base, place = step.operands[0], self.made(step.out)
        lines: list[str] = []
        if is_number(base) or self.places[base] is not place:
            lines = self.written(base, step.out, place)
        self.places[step.out] = place
        return lines + c_elements.put(self, step)

    def view(self, step: Step) -> list[str]:
        value = step.operands[0]
        found = self.places[value].viewed(step.function)
        if found is not None:
            self.places[step.out] = found
            if found.shown.size == 1 and not found.is_variable:  # one element of an array
                name = f"b{self.count()}"
                text = f"{found.base}[{found.offset}]"
                self.places[step.out] = dense(name, step.out.shape)
                return [f"const {self.variable(value)} {name} = {text};"]
            return []
        copy = Value(value.shape, value.dtype)
        lines = self.copied(value, copy, dense(self.reserved(copy), value.shape))
        place = self.places[copy].viewed(step.function)
        assert place is not None  # a reshape of dense memory
        self.places[step.out] = place
        return lines

    def reserved(self, value: Value) -> str:
        """The name of memory for a value, in C's order."""
        name, kind = f"b{self.count()}", self._type(value)
        self.blocks[name] = self.arena.take(value.size * value.dtype.itemsize)
        self.head.append(f"{kind} *{name} = ({kind} *)(space + {self.blocks[name][1]});")
        return name

    def copied(self, value: Value, target: Value, place: Place) -> list[str]:
        """`value`, a number or an array, written to `place`, which is then that of `target`."""
        self.given[target] = place
        step = Step(CAST, target.dtype, [value], [target])
        return Nest(self, target.shape, [step], {target}).lines()

    # ------------------------------------------------------------ loops

    def loop_lines(self, step: Step) -> list[str]:
        """A loop over rows: the carry is where the loop's results are."""
        body, rows = step.function, step.options
        split = rows.consts + rows.carries
        turn = f"t{self.count()}"
        after: list[str] = []
        lines, fetch, store = [], [], []
        for inner, given in zip(body.inputs[: rows.consts], step.operands, strict=False):
            lines += self.constant(inner, given)
        carries = list(zip(body.inputs[rows.consts : split], step.outs, strict=False))
        for (inner, out), given in zip(carries, step.operands[rows.consts :], strict=False):
            self.places[inner] = place = self.made(out)
            lines += self.written(given, out, place, f"{self.variable(out)} ")
        for inner, given in zip(body.inputs[split:], step.operands[split:], strict=True):
            fetch.append(self.row(inner, self.places[given], turn))
        made = {v for s in body.steps if s.kind != VIEW for v in s.outs}
        for value, out in zip(body.outs[rows.carries :], step.outs[rows.carries :], strict=True):
            place = self.rows_of(out, value, rows, after)
            row = Value(place.shown.shape[1:], out.dtype)
            if place.is_variable:
                lines.append(f"{self.variable(out)} {place.base} = 0;")
                store.append((value, row, place))
            elif row.size == 1:
                text = f"{place.base}[{place.offset} + {turn} * {place.shown.strides[0]}]"
                store.append((value, row, dense(text, row.shape)))
            else:
                fetch.append(self.row(row, place, turn))
                if value in made and value.dtype == out.dtype and value not in self.given:
                    self.given[value] = self.places[row]
                else:
                    store.append((value, row, self.places[row]))
        for inner, new in in_place(body, rows):
            self.given[new] = self.places[inner]
        inside = self.sequence(body)
        for value, row, place in store:
            inside += self.written(value, row, place)
        inside += self.carry(carries, body.outs)
        index = f"{rows.length} - 1 - {turn}_" if rows.reverse else f"{turn}_"
        return [
            *lines,
            f"for (long {turn}_ = 0; {turn}_ < {rows.length}; {turn}_++) {{",
            *[f"  {x}" for x in (f"const long {turn} = {index};", *fetch, *inside)],
            "}",
            *after,
        ]

    def while_lines(self, step: Step) -> list[str]:
        """A loop with a test: the carry is where the loop's results are."""
        (test, body), counts = step.function, step.options
        of_test, of_body, starts = counts.parts(step.operands)
        lines: list[str] = []
        for inner, given in zip(test.inputs, of_test, strict=False):
            lines += self.constant(inner, given)
        for inner, given in zip(body.inputs, of_body, strict=False):
            lines += self.constant(inner, given)
        carries = list(zip(body.inputs[counts.body :], step.outs, strict=True))
        for (inner, out), given in zip(carries, starts, strict=True):
            self.places[inner] = place = self.made(out)
            lines += self.written(given, out, place, f"{self.variable(out)} ")
        for tested, (inner, _) in zip(test.inputs[counts.test :], carries, strict=True):
            self.places[tested] = self.places[inner]
        for inner, new in in_place(body, Rows(counts.body, len(carries), 0, False)):
            self.given[new] = self.places[inner]
        inside = [*self.sequence(test), f"if (!{self.number(test.outs[0], BOOL)}) break;"]
        inside += [*self.sequence(body), *self.carry(carries, body.outs)]
        return [*lines, "for (;;) {", *[f"  {x}" for x in inside], "}"]

    def branch_lines(self, step: Step) -> list[str]:
        """One of several programs, each of which makes all results."""
        index, *operands = step.operands
        lines = [f"const long c{self.count()} = {self.number(index, np.dtype(np.int64))};"]
        chosen = lines[0].split()[2]
        places = [self.made(out) for out in step.outs]
        for out, place in zip(step.outs, places, strict=True):
            if place.is_variable:
                lines.append(f"{self.variable(out)} {place.base} = 0;")
        branches = []
        for k, program in enumerate(step.function):
            for inner, given in zip(program.inputs, operands, strict=True):
                lines += self.constant(inner, given)
            made = {v for s in program.steps if s.kind != VIEW for v in s.outs}
            store = []
            for value, out, place in zip(program.outs, step.outs, places, strict=True):
                own = value in made and value not in self.given and value.dtype == out.dtype
                if own and not place.is_variable:
                    self.given[value] = place
                else:
                    store.append((value, Value(out.shape, out.dtype), place))
            inside = self.sequence(program)
            for value, out, place in store:
                inside += self.written(value, out, place)
            branches += [f"{'else ' * bool(k)}if ({chosen} == {k}) {{", *inside, "}"]
        return [*lines, *branches]

    def number(self, value: Value, dtype: Any) -> str:
        """A value of one element as C, converted."""
        names = {} if is_number(value) else {value: self.places[value].base}
        return self._cast(value, dtype, names)

    def constant(self, inner: Value, given: Value) -> list[str]:
        """What every row reads, with the type that the body wants."""
        if not is_number(given) and given.dtype == inner.dtype:
            self.places[inner] = self.places[given]
            return []
        if inner.size == 1:
            place = dense(f"b{self.count()}", inner.shape)
        else:
            place = dense(self.reserved(inner), inner.shape)
        return self.written(given, inner, place, f"const {self.variable(inner)} ")

    def rows_of(self, out: Value, row: Value, rows: Rows, after: list[str]) -> Place:
        """Where the rows of a loop's result go: along its first axis, or equal stretches of all of it.

        `after`: gets what is to be done after the loop, where stretches are not to lie together.
        """
        n = rows.length
        if row.shape == out.shape[1:] or n.__class__ is str or out.size != int(n) * row.size:
            return self.made(out)
        template = f"{{}}.reshape({(n, *row.shape)!r})"
        found = self.given[out].viewed(template) if out in self.given else None
        if found is None:
            own = Value(out.shape, out.dtype)
            self.places[own] = place = dense(self.reserved(own), out.shape)
            if out in self.given:
                after += self.copied(own, out, self.given[out])
            self.given.setdefault(out, place)
            found = place.viewed(template)
        self.made(out)
        assert found is not None  # a reshape of dense memory
        return found

    def row(self, inner: Value, place: Place, turn: str) -> str:
        """A row of an array: a pointer or, where it is one element, a number."""
        name, kind = f"b{self.count()}", self._type(inner)
        if inner.size > 1:
            self.places[inner] = Place(name, place.shown[0], place.origin, False)
            return f"{kind} *{name} = {place.base} + {turn} * {place.shown.strides[0]};"
        self.places[inner] = dense(name, inner.shape)
        here = f"{place.base}[{place.offset} + {turn} * {place.shown.strides[0]}]"
        text = place.base if place.is_variable else here
        return f"const {self.variable(inner)} {name} = {text};"

    def written(self, value: Value, target: Value, place: Place, declared: str = "") -> list[str]:
        """`value`, of one element or of many, written to `place`, which is `target`'s from now on."""
        if place.is_variable:
            self.places[target] = place
            names = {} if is_number(value) else {value: self.places[value].base}
            return [f"{declared}{place.base} = {self._cast(value, target.dtype, names)};"]
        return self.copied(value, target, place)

    def carry(self, carries: Sequence[tuple[Value, Value]], outs: Sequence[Value]) -> list[str]:
        """The carry of the next row; all of it is read before any of it is written."""
        first, last = [], []
        bases = {self.places[inner].base for inner, _ in carries}
        for (inner, out), new in zip(carries, outs, strict=False):
            place, own = self.places[inner], Value(out.shape, out.dtype)
            if place.is_variable:
                kept = dense(f"b{self.count()}", out.shape)
                first += self.written(new, own, kept, f"const {self.variable(out)} ")
                last.append(f"{place.base} = {kept.base};")
                continue
            if new is inner or self.given.get(new) is place:
                continue
            if not is_number(new) and self.places[new].base in bases:
                first += self.copied(new, own, dense(self.reserved(own), own.shape))
                new = own
            last += self.copied(new, Value(out.shape, out.dtype), place)
        return [*first, *last]
