"""Groups over large arrays as NumPy code that works block by block.

Layer 4½. What naive NumPy code spends on large arrays is memory traffic: every operation reads and
writes whole arrays. Here a group runs on blocks that stay in the cache, results of steps are written
into a few small buffers, and only what leaves the group is written to memory. Blocks are parts of the
flat arrays or, where an operand is broadcast or a sum runs over some axes, rows of the first axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import workspace
from .groups import Group, is_number
from .parallel import LARGE, in_parts, threads
from .source import Source
from .steps import CAST, REDUCE, UFUNC, WHERE, Step, Value, is_short
from .straight import KEYWORD_OUT
from .workspace import Kind, Pool, in_order, side_by_side

CACHE = 1 << 20  # bytes that a block's buffers may take together
SMALL = 1 << 20  # bytes of an array that is as fast without, for it stays in the cache
LONG = 1 << 15  # elements of a block that two threads work on
REDUCTIONS = frozenset({np.add, np.maximum, np.minimum})


def fits(step: Step) -> bool:
    """Whether a step can run on blocks."""
    if step.kind == REDUCE:
        return step.function in REDUCTIONS and step.operands[0].dtype == step.out.dtype
    return step.kind in (UFUNC, WHERE, CAST)


def is_worth_it(group: Group) -> bool:
    """Whether the arrays are large, and there is more than one step."""
    size = math.prod(group.shape)
    widest = max(s.out.dtype.itemsize for s in group.steps)
    if len(group.steps) < 2 or size < 2 or size * widest < SMALL or not group.inputs:
        return False
    return _is_flat(group) or size // group.shape[0] * 8 <= CACHE // 16


def _is_flat(group: Group) -> bool:
    """Whether blocks may be parts of the flat arrays."""
    whole = all(v.shape == group.shape or v.size == 1 for v in group.inputs)
    return whole and all(
        len(s.options[0]) == len(group.shape) for s in group.steps if s.kind == REDUCE
    )


class Blocks:
    """Prints the function of one group."""

    def __init__(self, group: Group, name: str) -> None:
        self.group = group
        self.name = name
        self.flat = _is_flat(group)
        self.source = Source()
        self.names: dict[Value, str] = {}
        self.free: dict[Any, list[str]] = {}
        self.buffers: dict[str, Any] = {}
        self.sums = [s for s in group.steps if s.kind == REDUCE]
        self.gathered = [s for s in self.sums if self.flat or 0 in s.options[0]]
        self.source.scope |= {"np_empty": np.empty, "np_copyto": np.copyto, "in_parts": in_parts}

    def function(self) -> tuple[str, Callable[..., Any]]:
        """Source and function; after the group's inputs it takes arrays for the results, or None."""
        text = self.text()
        exec(compile(text, "<funcgrad printed>", "exec"), self.source.scope)
        found = self.source.scope.pop(self.name)
        found.takes_outs = True
        found.overwrites = self.overwrites()
        return text, found

    def text(self) -> str:
        group = self.group
        shape = (math.prod(group.shape),) if self.flat else group.shape
        body = self.body()
        rows = self.rows()
        head, views = [], []
        for k, v in enumerate(group.inputs):
            if self.is_sliced(v):
                if self.flat:
                    head.append(f"x{k} = x{k}.reshape(-1)")
                views.append(f"s{k} = x{k}[i:j]")
            elif self.flat and v.shape:
                head.append(f"x{k} = x{k}.reshape(())")
        for k, v in enumerate(group.outs):
            if self.is_gathered(v):
                continue
            dtype = self.dtype(v.dtype)
            flat = self.flat and v.shape == group.shape
            unfit = f"y{k} is None{f' or not y{k}.flags.c_contiguous' * flat}"
            head.append(f"if {unfit}: y{k} = np_empty({v.shape!r}, {dtype})")
            head.append(f"z{k} = y{k}.reshape(-1)" if flat else f"z{k} = y{k}")
            views.append(f"o{k} = z{k}[i:j]")
        block = (rows,) if self.flat else (rows, *shape[1:])
        made, last = self.buffer_lines(block)
        cut = "; ".join(f"{b} = {b}[:j - i]" for b in self.buffers)
        parts = [f"parts{i}" for i in range(len(self.gathered))]
        lines = [
            *head,
            "def part(start, stop):",
            *[f"    {x}" for x in made],
            *[f"    {p} = []" for p in parts],
            f"    for i in range(start, stop, {rows}):",
            f"        j = min(i + {rows}, stop)",
            *([f"        if j - i < {rows}:", f"            {cut}"] if cut else []),
            *[f"        {x}" for x in (*views, *body)],
            *[f"    {x}" for x in last],
            f"    return {''.join(f'{p}, ' for p in parts) or '()'}",
            f"found = in_parts(part, {shape[0]}, {rows}, {math.prod(shape)})",
        ]
        results = []
        for k, v in enumerate(group.outs):
            if not self.is_gathered(v):
                results.append(f"y{k}")
                continue
            i = next(i for i, s in enumerate(self.gathered) if s.out is v)
            function = self.source.function(self.gathered[i].function)
            listed = f"[p for f in found for p in f[{i}]]"
            if self.flat and v.shape:  # the axes are kept, of which the parts know nothing
                lines.append(f"y{k} = {function}.reduce({listed}, 0).reshape({v.shape!r})")
            else:
                lines.append(f"y{k} = {function}.reduce({listed}, 0, None, y{k})")
            results.append(f"y{k}")
        inputs = ", ".join(
            [f"x{k}" for k in range(len(group.inputs))]
            + [f"y{k}=None" for k in range(len(group.outs))]
        )
        result = results[0] if len(results) == 1 else f"({', '.join(results)})"
        lines.append(f"return {result}")
        return "\n    ".join([f"def {self.name}({inputs}):", *self.source.legend(), *lines]) + "\n"

    def overwrites(self) -> set[tuple[int, int]]:
        """Which input a result may be written over: all that is read of it later is not needed."""
        last, made = {}, {}
        for at, step in enumerate(self.group.steps):
            last.update(dict.fromkeys(step.operands, at + (step.kind != UFUNC)))
            made[step.out] = at
        return {
            (i, k)
            for i, x in enumerate(self.group.inputs)
            for k, y in enumerate(self.group.outs)
            if x.shape == y.shape == self.group.shape and last[x] <= made[y]
        }

    def buffer_lines(self, block: tuple[int, ...]) -> tuple[list[str], list[str]]:
        """Lines that get the buffers, and that give them back where they are kept between calls."""
        kinds = [Kind(block, dtype, in_order(block)) for dtype in self.buffers.values()]
        if sum(kind.nbytes for kind in kinds) <= workspace.LIMIT:
            names = zip(self.buffers, kinds, strict=True)
            return [f"{b} = np_empty({block!r}, {self.dtype(k.dtype)})" for b, k in names], []
        pool = Pool(lambda: side_by_side(kinds), sum(kind.nbytes for kind in kinds))
        self.source.scope |= {"take": pool.take, "give": pool.give}
        return [f"{', '.join(self.buffers)}, = space = take()"], ["give(space)"]

    def rows(self) -> int:
        """How many rows (or elements) a block has, so that its buffers stay in the cache."""
        width = 1 if self.flat else math.prod(self.group.shape[1:])
        arrays = len(self.buffers) + len(self.group.inputs) + len(self.group.outs)
        fitting = CACHE // (8 * width * max(arrays, 4))
        if math.prod(self.group.shape) >= LARGE and threads() > 1:
            fitting = max(fitting, LONG // width)  # threads take turns between operations
        return max(1, min(1 << max(fitting, 1).bit_length() - 1, 1 << 16))

    def is_sliced(self, value: Value) -> bool:
        shape = self.group.shape
        return len(value.shape) == len(shape) and value.shape[0] == shape[0] and value.size > 1

    def is_gathered(self, value: Value) -> bool:
        """Whether a result is put together from one part of every block."""
        return any(s.out is value for s in self.gathered)

    def dtype(self, dtype: Any) -> str:
        return self.source.bind(dtype, f"dtype_{dtype.name}")

    # ------------------------------------------------------------ steps

    def body(self) -> list[str]:
        """The lines for one block."""
        group = self.group
        for k, v in enumerate(group.inputs):
            self.names[v] = f"s{k}" if self.is_sliced(v) else f"x{k}"
        left = {v: 0 for s in group.steps for v in (*s.operands, *s.outs)}
        for step in group.steps:
            for v in step.operands:
                left[v] += 1
        lines: list[str] = []
        for step in group.steps:
            early = step.kind == UFUNC  # then the result may overwrite an operand
            texts = [self.operand(v, step) for v in step.operands]
            if early:
                self.release(step, left)
            lines += self.step(step, texts)
            if not early:
                self.release(step, left)
        return lines

    def release(self, step: Step, left: dict[Value, int]) -> None:
        for v in step.operands:
            left[v] -= 1
            if left[v] == 0 and self.names.get(v, "x")[0] == "b":
                self.free.setdefault(v.dtype, []).append(self.names[v])

    def target(self, value: Value) -> str:
        """Where a result goes: into the group's result, or a buffer."""
        if value in self.group.outs:
            name = f"o{self.group.outs.index(value)}"
        elif self.free.get(value.dtype):
            name = self.free[value.dtype].pop()
        else:
            name = f"b{len(self.buffers)}"
            self.buffers[name] = value.dtype
        self.names[value] = name
        return name

    def step(self, step: Step, texts: list[str]) -> list[str]:
        if step.kind == REDUCE:
            axes, keepdims = step.options
            function = self.source.function(step.function)
            axis = "None" if self.flat else repr(axes)
            kept = ", None, None, True" if keepdims and not self.flat else ""
            found = f"{function}.reduce({texts[0]}, {axis}{kept})"
            if not self.flat and is_short(step):
                found = self.source.reduced(step, texts[0])
            if step not in self.gathered:
                return [f"o{self.group.outs.index(step.out)}[...] = {found}"]
            return [f"parts{self.gathered.index(step)}.append({found})"]
        target = self.target(step.out)
        if step.kind == CAST:
            return [f"np_copyto({target}, {texts[0]}, 'unsafe')"]
        if step.kind == WHERE:
            return [f"{self.source.function(step.function)}({', '.join(texts)}, {target})"]
        dtype = [] if step.options is None else [f"dtype={self.dtype(step.options)}"]
        keyword = "out=" if dtype or step.function in KEYWORD_OUT else ""
        function = self.source.function(step.function)
        return [f"{function}({', '.join([*texts, *dtype, keyword + target])})"]

    def operand(self, value: Any, step: Step) -> str:
        if not is_number(value):
            return self.names[value]
        x = value.value
        return repr(x) if x.__class__ is bool else self.source.constant(x)
