"""A rule as one loop that writes parameter and state in place.

Layer 5. `move` is traced once for each dtype and set of branches, on vectors of any length: the
printed code is right for every shape, as no element needs another. NumPy's code runs on blocks that
stay in the cache. Once it has taken long enough, and where there is a C compiler, all of it is one
loop in C, made in the background; in later runs from the first step on.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..compile import blocks, c_compiler, c_source
from ..compile.config import code
from ..compile.decisions import Decision
from ..compile.groups import grouped, kernels_of
from ..compile.lower import lower
from ..compile.parallel import LARGE, in_parts
from ..compile.program import LONG
from ..compile.simplify import simplify
from ..compile.steps import Lowered, NotLowerableError, Value
from ..transforms.trace import make_jaxpr
from .rule import Rule

BLOCK = 1 << 15  # elements whose results on the way stay in the cache
SHORT = 1 << 10  # elements of which a step takes less time than to measure it
MANY = 1 << 12  # such steps after which C is worth its while
LENGTH = 8  # of the vectors that a rule is traced on; any would do


class InPlace:
    """The loop of a rule: ``loop(p, g, *arrays, *numbers)`` writes into `p` and `arrays`.

    `jaxpr` is of the parameter, the gradient, the arrays of state and the numbers; its results are
    the new parameter and the new arrays.

    Raises: NotLowerableError: the rule is more than one loop over elements.
    """

    def __init__(self, jaxpr: Any, arrays: int) -> None:
        self.count = 2 + arrays
        lowered = lower(simplify(jaxpr))
        self._step = _Step(lowered, self.count)
        self.source, self._in_numpy = _printed(self._step)
        self._in_c: Any = None
        self._spent, self._steps = 0.0, 0
        self._is_waiting = c_compiler.compiler() is None
        if not self._is_waiting:
            self._decision = Decision(self.source)
            if self._decision.code == "c":
                self._in_c = _in_c(self._step, may_build=False)

    def ready(self, size: int) -> Callable[..., None]:
        """What is called for arrays of so many elements in one step; the next may have another."""
        if size == 1:  # perhaps without axes
            return self
        kind = code()
        if self._in_c and size < LARGE and kind != "numpy":
            return self._in_c
        if size <= SHORT and kind != "c":
            self._steps += 1
            if self._steps > MANY and kind == "auto":
                self._wait_for_c()
            return self._in_numpy
        return self

    def __call__(self, *args: Any) -> None:
        """As C where that is there."""
        if not args[0].ndim:  # of which NumPy would make numbers on the way
            args = (*[x.reshape(1) for x in args[: self.count]], *args[self.count :])
        kind = code()
        if self._in_c is None and kind == "c":
            self._use_c()
        if self._in_c and kind != "numpy":
            if args[0].size >= LARGE:
                _in_threads(self._in_c, args[: self.count], args[self.count :])
            else:
                self._in_c(*args)
        elif self._is_waiting or kind != "auto":
            self._blockwise(*args)
        else:
            start = perf_counter()
            self._blockwise(*args)
            self._spent += perf_counter() - start
            if self._spent > LONG:
                self._wait_for_c()

    def _wait_for_c(self) -> None:
        if not self._is_waiting:
            self._is_waiting = True
            threading.Thread(target=self._stay_with_c, daemon=True).start()

    def _stay_with_c(self) -> None:
        self._use_c()
        if self._in_c:
            self._decision.make("c")

    def _blockwise(self, *args: Any) -> None:
        size = args[0].size
        arrays, numbers = args[: self.count], args[self.count :]
        if size <= BLOCK or not _is_flat(arrays):
            self._in_numpy(*args)
            return
        lines = [x.reshape(-1) for x in arrays]
        for start in range(0, size, BLOCK):
            self._in_numpy(*[x[start : start + BLOCK] for x in lines], *numbers)

    def _use_c(self) -> None:
        """Make the loop in C; `_in_c` is False if it cannot be had."""
        self._in_c = _in_c(self._step) or False


class _Step:
    """One group of elementwise steps, and where its results go."""

    def __init__(self, lowered: Lowered, count: int) -> None:
        program = grouped(lowered, blocks.fits, lambda group: True)
        kernels = kernels_of(program)
        if len(kernels) != 1 or len(program.steps) != 1:
            raise NotLowerableError("more than one loop")
        self.group = kernels[0].function
        inputs = lowered.inputs
        if not set(self.group.inputs) <= set(inputs):
            raise NotLowerableError("other arrays")
        self.given = [inputs.index(v) for v in self.group.inputs]
        self.names = [f"a{i}" for i in range(len(inputs))]
        homes: dict[Value, str] = {}  # where a result is written at once
        self.copies: list[str] = []  # lines that write results which are there already
        for place, value in zip([0, *range(2, count)], lowered.outs, strict=True):
            if value in self.group.outs and value not in homes:
                homes[value] = f"a{place}"
            else:
                source = homes[value] if value in homes else f"a{inputs.index(value)}"
                self.copies.append(f"np_copyto(a{place}, {source})")
        self.outs = [homes[v] for v in self.group.outs]


def _printed(step: _Step) -> tuple[str, Callable[..., None]]:
    """NumPy's code, which writes in place what nothing reads any more, and the rest at the end."""
    printer = blocks.Blocks(step.group, "run")
    body = printer.body()
    may = printer.overwrites()
    names = step.names
    head = [f"def run({', '.join(names)}):", *printer.source.legend()]
    for k, i in enumerate(step.given):
        name = f"s{k}" if printer.is_sliced(step.group.inputs[k]) else f"x{k}"
        head.append(f"{name} = {names[i]}")
    last = []
    for k, target in enumerate(step.outs):
        read = [j for j, i in enumerate(step.given) if names[i] == target]
        if all((j, k) in may for j in read):
            head.append(f"o{k} = {target}")
        else:
            head.append(f"o{k} = np_empty(a0.shape, {printer.dtype(step.group.outs[k].dtype)})")
            last.append(f"np_copyto({target}, o{k})")
    for name, dtype in printer.buffers.items():
        if not _made_by_first_use(name, body):
            head.append(f"{name} = np_empty(a0.shape, {printer.dtype(dtype)})")
    text = "\n    ".join([*head, *body, *last, *step.copies]) + "\n"
    exec(compile(text, "<funcgrad printed>", "exec"), printer.source.scope)
    return text, printer.source.scope.pop("run")


def _made_by_first_use(name: str, body: list[str]) -> bool:
    """Let the first call that writes a buffer make it, which takes less time for short arrays."""
    for i, line in enumerate(body):
        if re.search(rf"\b{name}\b", line):
            found = re.fullmatch(rf"(np_\w+\(.*\b[so]\d+\b.*), {name}\)", line)
            if found and name not in re.findall(r"\w+", found[1]):
                body[i] = f"{name} = {found[1]})"
                return True
            break
    return False


def _in_c(step: _Step, *, may_build: bool = True) -> Callable[..., None] | None:
    """The same as a loop in C; None where it cannot be had."""
    group = step.group
    if not all(map(c_source.fits, group.steps)) or len(group.inputs) + len(group.outs) > 30:
        return None
    loops = c_compiler.load([c_source.Kernel(group, "step")], may_build=may_build)
    if loops is None:
        return None
    given = ", ".join(step.names[i] for i in step.given)
    into = "".join(f"{name}, " for name in step.outs)
    lines = [f"def run({', '.join(step.names)}):", f"loop({given}, out=({into}))", *step.copies]
    scope = {"loop": loops[0], "np_copyto": np.copyto}
    exec(compile("\n    ".join(lines) + "\n", "<funcgrad printed>", "exec"), scope)
    return scope.pop("run")


def _is_flat(arrays: Sequence[Any]) -> bool:
    return all(x.flags.c_contiguous for x in arrays)


def _in_threads(loop: Callable[..., None], arrays: Sequence[Any], numbers: Sequence[Any]) -> None:
    if not _is_flat(arrays):
        loop(*arrays, *numbers)
        return
    lines = [x.reshape(-1) for x in arrays]
    size = lines[0].size

    def part(start: int, stop: int) -> None:
        loop(*[x[start:stop] for x in lines], *numbers)

    in_parts(part, size, 1 << 12, size)


Key = tuple[str, ...]


@functools.lru_cache(maxsize=512)
def loop_of(
    rule: Rule, dtype: Any, arrays: Key, numbers: Key, on: frozenset[str]
) -> InPlace | None:
    """The loop for arrays of real numbers of one dtype; `arrays` and `numbers` name what it takes.

    None: the rule needs other elements, or makes state that is not there yet.
    """
    if not rule.is_elementwise or dtype.kind != "f":
        return None

    def move(p: Any, g: Any, values: Sequence[Any], found: Sequence[Any]) -> list[Any]:
        state = dict(zip(arrays, values, strict=True))
        new, changes = rule.move(p, g, state, dict(zip(numbers, found, strict=True)), on)
        missing = changes.keys() - state.keys()
        if missing:
            raise KeyError(*missing)
        return [new, *({**state, **changes}[name] for name in arrays)]

    x = np.ones(LENGTH, dtype)
    try:
        jaxpr = make_jaxpr(move)(x, x, [x] * len(arrays), [1.0] * len(numbers))
    except KeyError:
        return None
    if jaxpr.consts or any(v.aval.dtype != dtype for v in jaxpr.outs):
        return None
    try:
        return InPlace(jaxpr, len(arrays))
    except NotLowerableError:
        return None
