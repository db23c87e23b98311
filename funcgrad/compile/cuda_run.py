"""Programs over CuPy's arrays: groups as CUDA kernels, everything else as CuPy's functions.

Layer 4½. Nothing is read back: 0-d results stay on the device. What is part of the program is copied
there once, at the first call; kernels are compiled then, by CuPy, which keeps them on disk.
"""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ..backend import NAMESPACES, namespace, register
from ..errors import ArgumentError, where
from . import cuda_source
from .c_source import sources
from .cuda_source import Kernel
from .groups import grouped
from .steps import CALL, KERNEL, LOOP, Constant, Lowered, Step, Value
from .workspace import FRESH, Memory, last_uses

_REDUCTIONS = {np.add: "sum", np.multiply: "prod", np.maximum: "max", np.minimum: "min"}


class Launcher:
    """Runs one kernel: takes a group's inputs and gives its results."""

    def __init__(self, xp: ModuleType, module: Any, kernel: Kernel) -> None:
        self.xp = xp
        self.kernel = kernel
        self.function = module.get_function(kernel.name)
        self.several = bool(kernel.sums) and kernel.blocks > 1
        self.gather = module.get_function(kernel.gather) if self.several else None
        self.known: dict[Any, Any] = {}  # the strides on the device

    def __call__(self, *xs: Any) -> tuple[Any, ...]:
        xp, kernel = self.xp, self.kernel
        values = [v.dtype.type(x) if v.weak else x for x, v in zip(xs, kernel.inputs, strict=True)]
        outs = [xp.empty(v.shape, v.dtype) for v in kernel.outs]
        places = outs
        if self.several:
            places = [
                xp.empty(kernel.blocks, v.dtype) if kernel.is_sum(v) else y
                for v, y in zip(kernel.outs, outs, strict=True)
            ]
        threads = (cuda_source.THREADS,)
        strides = self.strides([xs[k] for k in kernel.arrays])
        self.function((kernel.blocks,), threads, (strides, *values, *places))
        if self.gather is not None:
            sums = [kernel.outs.index(s.out) for s in kernel.sums]
            parts = [places[k] for k in sums]
            self.gather((1,), threads, (*parts, *[outs[k] for k in sums]))
        return tuple(outs)

    def strides(self, arrays: Sequence[Any]) -> Any:
        """The address of the strides: 0 if all arrays are dense."""
        if all(x.flags.c_contiguous for x in arrays):
            return np.uintp(0)
        key = tuple(x.strides for x in arrays)
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= MOST_LAYOUTS:
                self.known.clear()
            made = np.array(self.kernel.strides(arrays), np.int64)
            found = self.known[key] = self.xp.asarray(made)
        return found


MOST_LAYOUTS = 64  # of the arrays of one kernel whose strides are kept


class Printer:
    """Prints one function, `run`. Names in it: `xp` is CuPy, `special` its part of SciPy."""

    def __init__(self, program: Lowered) -> None:
        self.program = program
        self.names: dict[Value, str] = {}
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {}
        self.arrays: dict[str, Any] = {}  # that go to the device: by name
        self.kernels: list[Kernel] = []
        self.bound: dict[int, str] = {}
        self.alive: list[Any] = []  # so that the ids above stay theirs
        self.count = 0

    def text(self) -> str:
        program = self.program
        for k, v in enumerate(program.inputs):
            self.names[v] = f"a{k}"
            if not v.shape and not v.weak:  # it may be one of NumPy's numbers
                self.lines.append(f"a{k} = xp.asarray(a{k})")
        self.steps(program)
        outs = "".join(f"{text}, " for text in self.results())
        head = f"def run({', '.join(f'a{k}' for k in range(len(program.inputs)))}):"
        return "\n    ".join([head, *self.lines, f"return ({outs})"]) + "\n"

    def steps(self, program: Lowered) -> None:
        for step, dead in zip(program.steps, last_uses(program), strict=True):
            if step.kind == LOOP:
                self.loop(step)
            else:
                self.assign(step)
            temporary = [self.names[v] for v in dead if self.names[v][0] == "t"]
            if temporary:
                self.lines.append(f"del {', '.join(temporary)}")

    def new(self, values: Iterable[Value], prefix: str = "t") -> list[str]:
        """Names for new values."""
        found = []
        for v in values:
            self.names[v] = f"{prefix}{self.count}"
            self.count += 1
            found.append(self.names[v])
        return found

    def bind(self, x: Any, name: str) -> str:
        """The name of an object in the source."""
        found = self.bound.get(id(x))
        if found is None:
            found = name if name not in self.scope else f"{name}_{len(self.scope)}"
            self.bound[id(x)] = found
            self.scope[found] = x
            self.alive.append(x)
        return found

    # ------------------------------------------------------------ operands

    def operand(self, value: Value) -> str:
        """As an array or a number."""
        if value.__class__ is not Constant:
            return self.names[value]
        if value.shape:
            return self.array(value)
        x = value.value
        if isinstance(x, np.ndarray):
            x = x[()]
        return repr(x) if x.__class__ is bool else self.constant(x)

    def constant(self, x: Any) -> str:
        return self.bind(x, f"k{len(self.scope)}")

    def array(self, value: Value) -> str:
        """As an array on the device."""
        if value.__class__ is Constant:
            x = np.asarray(value.value, value.dtype)
            name = f"d{len(self.arrays)}"
            self.alive.append(value)
            found = self.bound.setdefault(id(value), name)
            if found == name:
                self.arrays[name] = x
            return found
        if value.weak:
            return f"xp.asarray({self.names[value]}, {self.dtype(value.dtype)})"
        return self.names[value]

    def dtype(self, dtype: Any) -> str:
        return self.bind(dtype, f"dtype_{dtype.name}")

    def function(self, f: Any) -> str:
        """A function of CuPy that has the name of one of NumPy or SciPy."""
        name = f.__name__
        if getattr(np, name, None) is f:
            return f"xp.{name}"
        return f"special.{name.removeprefix('_')}"  # SciPy wraps some of its own

    # ------------------------------------------------------------ steps

    def assign(self, step: Step) -> None:
        text = getattr(self, step.kind)(step)
        multiple = step.kind == KERNEL or getattr(step.function, "multiple", False)
        left = ", ".join(self.new(step.outs)) + "," * multiple
        self.lines.append(f"{left} = {text}")
        if step.kind == CALL:  # what is computed of numbers may be one of NumPy's
            for name in [self.names[v] for v in step.outs if not v.shape]:
                self.lines.append(f"{name} = xp.asarray({name})")

    def ufunc(self, step: Step) -> str:
        texts = [self.operand(v) for v in step.operands]
        if all(v.__class__ is Constant or v.weak for v in step.operands):
            texts[0] = self.array(step.operands[0])
        if step.options is not None:
            texts.append(f"dtype={self.dtype(step.options)}")
        return f"{self.function(step.function)}({', '.join(texts)})"

    def where(self, step: Step) -> str:
        condition, x, y = step.operands
        return f"xp.where({self.array(condition)}, {self.operand(x)}, {self.operand(y)})"

    def cast(self, step: Step) -> str:
        return f"{self.array(step.operands[0])}.astype({self.dtype(step.function)})"

    def reduce(self, step: Step) -> str:
        axes, keepdims = step.options
        (x,) = step.operands
        rest = f", dtype={self.dtype(step.out.dtype)}" if x.dtype != step.out.dtype else ""
        rest += ", keepdims=True" if keepdims else ""
        return f"xp.{_REDUCTIONS[step.function]}({self.array(x)}, {axes!r}{rest})"

    def view(self, step: Step) -> str:
        text = step.function.replace("np_broadcast_to", "xp.broadcast_to")
        return text.format(self.array(step.operands[0]))

    def call(self, step: Step) -> str:
        f = step.function
        if f in FRESH:
            return f"xp.{f.__name__}({', '.join(map(self.array, step.operands))})"
        texts = [self.operand(v) for v in step.operands]
        texts += [f"{k}={self.bind(v, f'{f.name}_{k}')}" for k, v in step.options.items()]
        return f"{self.bind(f.impl, f'call_{f.name}')}({', '.join(['xp', *texts])})"

    def kernel(self, step: Step) -> str:
        kernel = Kernel(step.function, f"kernel{len(self.kernels)}")
        self.kernels.append(kernel)
        texts = [self.names[v] if v.weak else self.array(v) for v in step.operands]
        return f"{kernel.name}({', '.join(texts)})"

    def loop(self, step: Step) -> None:
        """A loop over rows."""
        body, rows = step.function, step.options
        places = rows.consts + rows.carries
        at = f"i{self.count}"
        inputs = self.new(body.inputs, "x")
        columns = self.new(step.outs[rows.carries :])
        fetch = []
        for k, (name, v, given) in enumerate(zip(inputs, body.inputs, step.operands, strict=True)):
            text = self.operand(given) if v.weak else self.array(given)
            self.lines.append(f"{name}{'s' * (k >= places)} = {text}")
            if k >= places:
                fetch.append(f"{name} = {name}s[{at}]")
        for name, v in zip(columns, step.outs[rows.carries :], strict=True):
            self.lines.append(f"{name} = xp.empty({v.shape!r}, {self.dtype(v.dtype)})")
        outside, self.lines = self.lines, fetch
        self.steps(body)
        for name, v in zip(columns, body.outs[rows.carries :], strict=True):
            self.lines.append(f"{name}[{at}] = {self.operand(v)}")
        carried = inputs[rows.consts : places]
        if carried:
            new = ", ".join(map(self.array, body.outs[: rows.carries]))
            self.lines.append(f"{', '.join(carried)} = {new}")
        turns = f"range({rows.length})"
        outside.append(f"for {at} in {f'reversed({turns})' if rows.reverse else turns}:")
        outside += [f"    {line}" for line in self.lines or ["pass"]]
        self.lines = outside
        # The last carry may be what the first was: a copy.
        last = self.new(step.outs[: rows.carries])
        outside += [f"{name} = {x}.copy()" for name, x in zip(last, carried, strict=True)]

    # ------------------------------------------------------------ results

    def results(self) -> list[str]:
        """The results, none of which shares memory with an argument or another one."""
        memory = Memory(self.program)
        for step in self.program.steps:
            memory.add(step)
        seen: set[Value] = set(self.program.inputs)
        found = []
        for value in self.program.outs:
            homes = memory.homes.get(value, {}).keys()
            if (value.__class__ is Constant and value.shape) or (homes & seen and not value.weak):
                found.append(f"{self.array(value)}.copy()")
            elif value.__class__ is Constant or value.weak:
                found.append(
                    f"{self.bind(value.dtype.type, value.dtype.name)}({self.operand(value)})"
                )
            else:
                found.append(self.names[value])
            seen |= homes | {value}
        return found


class DeviceProgram:
    """A program over arrays of a device.

    `source`: the function, after the CUDA source of its kernels. `run` takes what the program takes.

    >>> from funcgrad import make_jaxpr
    >>> from funcgrad.compile.lower import lower
    >>> f = make_jaxpr(lambda x: x.T - np.sum(np.sin(x)))
    >>> print(DeviceProgram(lower(f(np.ones((2, 3))))).text)
    def run(a0):
        t0 = a0.transpose((1, 0))
        t1, = kernel0(a0)
        t2 = xp.subtract(t0, t1)
        del t0, t1
        return (t2, )
    <BLANKLINE>
    """

    def __init__(self, program: Lowered) -> None:
        self.printer = Printer(grouped(program, cuda_source.fits, cuda_source.is_worth_it))
        self.text = self.printer.text()
        self.cuda = sources(self.printer.kernels)
        self.source = "\n".join(filter(None, [self.cuda, self.text]))
        self._lock = threading.Lock()
        self._run: Callable[..., tuple[Any, ...]] | None = None

    def run(self, *args: Any) -> tuple[Any, ...]:
        """The results.

        Raises: DeviceError: arrays of several modules.
        """
        xp = namespace(*args)
        if self._run is None:
            with self._lock:
                self._run = self._run or self._bound(xp)
        return self._run(*args)

    def _bound(self, xp: ModuleType) -> Callable[..., tuple[Any, ...]]:
        """The function, with constants and kernels on the device."""
        printer = self.printer
        scope = {**printer.scope, "xp": xp}
        scope |= {name: xp.asarray(x) for name, x in printer.arrays.items()}
        if "special." in self.text:
            scope["special"] = importlib.import_module(f"{xp.__name__}x.scipy.special")
            for name in re.findall(r"\bspecial\.(\w+)", self.text):
                if not hasattr(scope["special"], name):
                    raise ArgumentError(
                        f"{name}: CuPy does not have it; need NumPy arrays{where()}"
                    )
        if printer.kernels:
            module = xp.RawModule(code=self.cuda, options=cuda_source.OPTIONS)
            scope |= {k.name: Launcher(xp, module, k) for k in printer.kernels}
        exec(compile(self.text, "<funcgrad printed>", "exec"), scope)
        return scope.pop("run")


def on_device(xs: Iterable[Any]) -> bool:
    """Whether there are arrays of a device among the operands."""
    for cls in {*map(type, xs)}:
        if cls not in NAMESPACES:
            try:
                register(cls)
            except (KeyError, ArgumentError):
                continue
        if NAMESPACES[cls] not in (None, np):
            return True
    return False
