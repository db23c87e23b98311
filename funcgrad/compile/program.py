"""A jaxpr to a function: simplified, lowered, printed, once.

Layer 4½. As NumPy at first: there is nothing to wait for. What has run for long enough is compiled as
C by a thread of its own. A few calls then show which of the two is faster, and that one stays, in later
runs from the beginning. Loops that would take longer than a compiler does are C before they are called.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..forks import renewed
from ..jaxpr import Jaxpr, has_effect
from . import blocks, c_compiler, c_source
from .c_conv import Convolution, ConvolutionKernel
from .c_many import together
from .c_pool import Pooling, PoolingKernel
from .c_regions import RegionKernel
from .c_rejection import is_accepted
from .c_steps import is_draw, is_of_examples
from .config import code
from .cuda_run import DeviceProgram, on_device
from .decisions import Decision
from .groups import grouped, kernels_of
from .into import Into
from .lower import lower
from .parallel import shared
from .regions import Region, with_regions
from .sameness import is_same_result, largest
from .simplify import simplify
from .steps import CALL, LOOP, Lowered, OutOfBoundsError, Step
from .straight import straight

CUDA = "cuda"  # the code of programs for arrays of a device
_KERNELS: dict[type, Any] = {
    Convolution: ConvolutionKernel,
    Pooling: PoolingKernel,
    Region: RegionKernel,
}
LONG = 0.05  # seconds that a program has run before it is compiled as C
PATIENCE = 1.0  # seconds for which loops may run in Python rather than wait for a compiler
# Seconds that Python takes: for an operation on arrays, on numbers, another call, a random number, one
# that is drawn until it is accepted, the pullback of a loop for many examples.
ARRAY, NUMBER, OTHER, DRAWN, ACCEPTED, UNWOUND = 1.5e-6, 2e-7, 1e-5, 1.5e-4, 1e-3, 0.1
_compiling = renewed(threading.Lock())  # in the background one at a time, as it takes a core
TRIALS = 8  # calls after which the faster code stays; the first of them warms up


class Program:
    """A compiled program; the first arguments of `run` are the jaxpr's constants.

    `source` is the NumPy source, `c_source` the loops in C, once they are in use.
    """

    run: Callable[..., tuple[Any, ...]]

    def __init__(self, jaxpr: Jaxpr, kind: str, into: Into = ()) -> None:
        self.kind = kind
        self.into = dict(into)
        self.jaxpr = simplify(jaxpr)
        self.lowered = lower(self.jaxpr)
        if kind == CUDA:
            made = DeviceProgram(self.lowered)
            self.source, self.c_source, self.run = made.source, made.cuda, made.run
            return
        self.source, self._numpy = _as_numpy(self.lowered, self.into)
        self.c_source = ""
        self.run = self._numpy
        if has_effect(self.jaxpr):
            return  # which C would have again, to be compared or where an index is out of bounds
        if kind == "c":
            self._use_c()
        elif kind == "auto" and c_compiler.compiler() is not None:
            self._spent, self._best = 0.0, math.inf
            self.decision = Decision("\n".join([self.source, *map(str, self.jaxpr.in_avals)]))
            if self.decision.code == "c":
                self._use_c(may_build=False)
            elif self.decision.code != "numpy" and _in_loops(self.lowered) > PATIENCE:
                self._use_c()
            if self.decision.code != "numpy" and not self.c_source:
                self.run = self._timed

    def _timed(self, *args: Any) -> tuple[Any, ...]:
        """As NumPy, until it has taken long enough."""
        start = perf_counter()
        found = self._numpy(*args)
        took = perf_counter() - start
        self._best = min(self._best, took)
        self._spent += took
        if self._spent > LONG:
            self.run = self._numpy
            threading.Thread(target=self._try_c, daemon=True).start()
        return found

    def _try_c(self) -> None:
        before = self.source
        with _compiling:
            self._use_c()
        if self.c_source:
            self.run = _Trial(self, self.run, before)

    def _use_c(self, *, may_build: bool = True) -> None:
        """Replace groups of steps by loops in C, if there are any and they can be had."""
        program = with_regions(self.lowered)
        steps = kernels_of(program)
        program, found = together(program, dict(zip(steps, _kernels(steps), strict=True)))
        steps, kernels = list(found), list(found.values())
        loops = c_compiler.load(kernels, may_build=may_build) if kernels else None
        if loops is not None:
            for step, kernel, loop in zip(steps, kernels, loops, strict=True):
                step.function, step.outs = _in_threads(loop, step.function), tuple(kernel.outs)
                step.options = getattr(kernel, "bad", None)
            self.c_source = c_source.sources(kernels)
            self.source, run = straight(program, self.into)
            is_checked = any(step.options is not None for step in steps)
            self.run = _or_again(run, self._numpy) if is_checked else run


def _kernels(steps: Sequence[Step]) -> list[Any]:
    """The kernels of steps. Unrolled loops and layers have the same ones, which are compiled once."""
    known: dict[Any, Any] = {}
    found = []
    for s in steps:
        make = _KERNELS.get(type(s.function), c_source.Kernel)
        kernel = make(s.function, f"kernel{len(known)}")
        first = known.setdefault(kernel.same(), kernel)
        kernel.name, kernel.text = first.name, first.text
        found.append(kernel)
    return found


def _or_again(
    run: Callable[..., tuple[Any, ...]], numpy: Callable[..., tuple[Any, ...]]
) -> Callable[..., tuple[Any, ...]]:
    """A program in C, and as NumPy where an index is out of bounds, which then raises."""

    def checked(*args: Any) -> tuple[Any, ...]:
        try:
            return run(*args)
        except OutOfBoundsError:
            return numpy(*args)

    return checked


def _in_loops(program: Lowered) -> float:
    """The seconds that Python needs for what is not elements: lines of loops over rows."""
    return sum(s.options.length * _lines(s.function) for s in program.steps if s.kind == LOOP)


def _lines(body: Lowered) -> float:
    return sum(map(_line, body.steps)) + _in_loops(body)


def _line(step: Step) -> float:
    if step.kind == CALL:
        if is_draw(step):
            return DRAWN
        accepted = ACCEPTED if is_accepted(step) else OTHER
        return UNWOUND if is_of_examples(step) else accepted
    return ARRAY if step.outs and step.out.shape else NUMBER


def _in_threads(loop: Any, of: Any) -> Callable[..., Any]:
    return of.shared(loop) if isinstance(of, (Convolution, Pooling)) else shared(loop, of)


class _Trial:
    """The calls that decide whether a program stays in C."""

    def __init__(self, program: Program, in_c: Callable[..., Any], numpy_source: str) -> None:
        self.program, self.in_c, self.numpy_source = program, in_c, numpy_source
        self.times: list[float] = []

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        if not self.times:
            return self.compared(args)
        start = perf_counter()
        found = self.in_c(*args)
        self.times.append(perf_counter() - start)
        if len(self.times) >= TRIALS:
            program = self.program
            if min(self.times[1:]) <= program._best:
                program.run = program._numpy = self.in_c
                program.decision.make("c")
            else:
                self.give_up()
                program.decision.make("numpy")
        return found

    def compared(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The results of NumPy; C has a try on copies of what the program writes into.

        Compilers have faults, see NOTE [Chosen places] in c_nests.py.
        """
        program = self.program
        written = set(program.into.values())
        copies, others = (
            [x.copy() if i in written else x for i, x in enumerate(args)] for _ in range(2)
        )
        in_c = [np.array(x) for x in self.in_c(*copies)]  # results may share memory with arguments
        scale = max(map(largest, args), default=0.0)
        found = program._numpy(*args)
        self.times.append(math.inf)

        def agree(others: Iterable[Any]) -> bool:
            return all(is_same_result(x, y, scale) for x, y in zip(others, found, strict=True))

        # Where NumPy itself gives other numbers for operands that differ in the last place, as in long
        # loops of a chaotic system, rounding is enough of a reason.
        if not agree(in_c) and agree(program._numpy(*map(_nudged, others))):
            self.give_up()
            warnings.warn(
                "jit: the C compiler's program gives other numbers than NumPy's, which is kept; "
                "please report this with the function and `cc --version`",
                RuntimeWarning,
                stacklevel=2,
            )
        return found

    def give_up(self) -> None:
        program = self.program
        program.run, program.source, program.c_source = program._numpy, self.numpy_source, ""


def _nudged(x: Any) -> Any:
    """An operand that differs by a few units in the last place."""
    if isinstance(x, float):
        return x * (1.0 + 4.0 * np.finfo(np.float64).eps)
    if getattr(x, "dtype", np.dtype(bool)).kind not in "fc":
        return x
    return (x * (1 + 4 * np.finfo(x.dtype).eps)).astype(x.dtype)


def _as_numpy(program: Lowered, into: dict[int, int]) -> tuple[str, Callable[..., tuple[Any, ...]]]:
    """NumPy source, of groups over large arrays too, and the function."""
    program = grouped(program, blocks.fits, blocks.is_worth_it)
    texts = []
    for i, step in enumerate(kernels_of(program)):
        text, step.function = blocks.Blocks(step.function, f"blocks{i}").function()
        texts.append(text)
    text, run = straight(program, into)
    return "\n".join([*texts, text]), run


def program_of(jaxpr: Jaxpr, operands: Sequence[Any] = (), into: Into = ()) -> Program:
    """The compiled program, made once for each code, and for arrays of a device.

    `into`: pairs of a result and of the input that it is written into where that can be, by number.
    Such inputs share memory with no other one. They are written while the program runs.
    """
    kind = CUDA if operands and on_device(operands) else code()
    key = (kind, into) if into else kind
    found = jaxpr.memo.get(key)
    if found is None:
        found = jaxpr.memo[key] = Program(jaxpr, kind, into)
    return found


def compiled(jaxpr: Jaxpr, operands: Sequence[Any] = ()) -> Callable[..., tuple[Any, ...]]:
    """The function of arrays that a jaxpr without constants is, for operands like these."""
    return program_of(jaxpr, operands).run
