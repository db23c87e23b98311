"""Straight-line NumPy source of a lowered program: a line per step.

Layer 4½. Three things make it as fast as what one would write by hand: numbers are bound to 0-d
arrays of the right dtype, results are written into arrays that are no longer needed, and 0-d float64
values are Python floats, on which arithmetic takes a tenth of the time. Where Python's `math` raises
and NumPy gives inf or nan, the program is run again without the last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..core import aval_of
from .lower import (
    CALL,
    CAST,
    KERNEL,
    LOOP,
    UFUNC,
    VIEW,
    WHERE,
    Constant,
    Lowered,
    NotLowerableError,
    Step,
    Value,
    result_dtype,
)

FLOAT64 = np.dtype(np.float64)
BOOL = np.dtype(np.bool_)

# How 0-d float64 operations read on Python's floats.
ON_FLOATS: dict[Any, str] = {
    np.add: "{} + {}",
    np.subtract: "{} - {}",
    np.multiply: "{} * {}",
    np.divide: "{} / {}",
    np.negative: "-{}",
    np.positive: "{}",
    np.square: "{0} * {0}",
    np.reciprocal: "1.0 / {}",
    np.absolute: "abs({})",
    np.maximum: "{0} if {0} >= {1} or {0} != {0} else {1}",
    np.minimum: "{0} if {0} <= {1} or {0} != {0} else {1}",
    np.power: "math_pow({}, {})",
    np.less: "{} < {}",
    np.less_equal: "{} <= {}",
    np.greater: "{} > {}",
    np.greater_equal: "{} >= {}",
    np.equal: "{} == {}",
    np.not_equal: "{} != {}",
    **{
        getattr(np, name): f"math_{name}({{}})"
        for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log1p")
    },
    **{getattr(np, name): f"math_{name}({{}})" for name in ("sqrt", "log2", "log10")},
    np.arcsin: "math_asin({})",
    np.arccos: "math_acos({})",
    np.arctan: "math_atan({})",
    np.arctan2: "math_atan2({}, {})",
    np.arcsinh: "math_asinh({})",
    np.arccosh: "math_acosh({})",
    np.arctanh: "math_atanh({})",
}


class Source:
    """Lines of a function being written, and what they name."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {"np": np}
        self.constants: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._alive: list[Any] = []

    def bind(self, x: Any, name: str, also: dict[str, Any] | None = None) -> str:
        """The name of an object in the source."""
        found = self._names.get(id(x))
        if found is None:
            found = name if name not in self.scope else f"{name}_{len(self.scope)}"
            self._names[id(x)] = found
            self.scope[found] = x
            if also is not None:
                also[found] = x
            self._alive.append(x)
        return found

    def constant(self, x: Any) -> str:
        """The name of a number or array in the source."""
        return self.bind(x, f"k{len(self.constants)}", self.constants)

    def legend(self) -> list[str]:
        """A comment that says what the constants are."""
        shown = [f"{k} = {_shown(x)}" for k, x in self.constants.items()]
        return [f"# {', '.join(shown)}"] if shown else []

    def function(self, f: Any) -> str:
        """The name of a NumPy function or a primitive."""
        name = getattr(f, "__name__", "f")
        prefix = "np" if isinstance(f, np.ufunc) or getattr(np, name, None) is f else "call"
        return self.bind(f, f"{prefix}_{name}")


def _shown(x: Any) -> str:
    aval = aval_of(x)
    if aval.shape:
        return f"an array {aval}"
    number = repr(np.asarray(x).item())
    return number if aval.dtype.name in ("float64", "int64", "bool") else f"{aval.dtype}({number})"


def last_uses(program: Lowered) -> list[list[Value]]:
    """For every step, the values that nothing after it reads."""
    needed = set(program.outs)
    found: list[list[Value]] = []
    for step in reversed(program.steps):
        mentioned = dict.fromkeys((*step.operands, *step.outs))
        found.append([v for v in mentioned if v not in needed and v.__class__ is Value])
        needed.update(mentioned)
    return found[::-1]


class Memory:
    """Which arrays of the program may be written into again, as nothing reads them any more."""

    def __init__(self, program: Lowered) -> None:
        # What memory a value may lie in, by the values that brought the memory.
        self.homes: dict[Value, set[Value]] = {v: {v} for v in program.inputs}
        self.users: dict[Value, int] = dict.fromkeys(program.inputs, 1)

    def add(self, step: Step) -> None:
        shares = step.kind == VIEW or (step.kind == CALL and step.function not in FRESH)
        for out in step.outs:
            homes = set() if step.kind == VIEW else {out}
            if shares:
                homes = homes.union(*(self.homes[v] for v in step.operands if v in self.homes))
            self.homes[out] = homes
            for home in homes:
                self.users[home] = self.users.get(home, 0) + 1

    def remove(self, value: Value) -> list[Value]:
        """The values whose memory is free when nothing reads `value` any more."""
        found = []
        for home in self.homes[value]:
            self.users[home] -= 1
            if self.users[home] == 0:
                found.append(home)
        return found


KEYWORD_OUT = frozenset({np.maximum, np.minimum})  # that take no third operand by position
FRESH = frozenset({np.dot, np.matmul})  # functions whose results are arrays of their own


class Straight:
    """Prints one function, `run`. `floats`: 0-d float64 values are Python floats where possible."""

    def __init__(self, program: Lowered, *, floats: bool, inside: Straight | None = None) -> None:
        self.program = program
        self.uses_floats = floats
        self.source: Source = Source() if inside is None else inside.source
        self.prefix: str = "t" if inside is None else f"{inside.prefix}{len(inside.names)}_"
        self.names: dict[Value, str] = {v: f"a{i}" for i, v in enumerate(program.inputs)}
        self.float_steps = _float_steps(program) if floats else {}
        self.nested = _read_once(program, self.float_steps)
        self.may_raise = bool(self.float_steps)  # where `math` does, and NumPy gives inf or nan
        self.floats = {v for vs in self.float_steps.values() for v in vs if v.__class__ is Value}
        self.memory = Memory(program)
        self.writeable: set[Value] = set()  # arrays that results may be written into
        self.free: dict[tuple[Any, Any], list[str]] = {}
        self.numbers: dict[Any, Any] = {}
        self.wanted: dict[tuple[Any, Any], int] = {}  # how many results are still to come
        for step in program.steps:
            if step.kind == UFUNC:
                key = (step.out.shape, step.out.dtype)
                self.wanted[key] = self.wanted.get(key, 0) + 1

    def text(self) -> str:
        program, lines = self.program, self.source.lines
        for value in program.inputs:
            if value in self.floats:
                lines.append(f"{self.names[value]} = float({self.names[value]})")
        for step, dead in zip(program.steps, last_uses(program), strict=True):
            self.step(step, dead)
        outs = self.results()
        head = f"def run({', '.join(f'a{i}' for i in range(len(program.inputs)))}):"
        return (
            "\n    ".join(
                [head, *self.source.legend(), *lines, f"return ({''.join(f'{o}, ' for o in outs)})"]
            )
            + "\n"
        )

    # ------------------------------------------------------------ steps

    def step(self, step: Step, dead: Sequence[Value]) -> None:
        self.memory.add(step)
        if step in self.float_steps:
            expression = self.on_floats(step)
            if step.out in self.nested and len(expression) < LONGEST:
                self.names[step.out] = f"({expression})"
            else:
                self.assign(step.outs, expression)
            self.source.lines += self.release(dead)
        elif step.kind == UFUNC and step.out.shape:
            expression = self.ufunc(step)
            freed = self.release(dead)  # first, so that the result may overwrite an operand
            key = (step.out.shape, step.out.dtype)
            self.wanted[key] -= 1
            if step.out in dead:
                return
            if self.free.get(key):
                self.names[step.out] = name = self.free[key].pop()
                keyword = step.function in KEYWORD_OUT or step.options is not None
                out = "out=" if keyword else ""
                self.source.lines.append(f"{expression[:-1]}, {out}{name})")
            else:
                self.assign(step.outs, expression)
            self.writeable.add(step.out)
            self.source.lines += freed
        elif step.kind == LOOP:
            self.loop(step)
            self.source.lines += self.release(dead)
        else:
            multiple = getattr(step.function, "multiple", len(step.outs) > 1)
            self.assign(step.outs, getattr(self, step.kind)(step), multiple=multiple)
            for name in [self.names[out] for out in step.outs if out in self.floats]:
                self.source.lines.append(f"{name} = float({name})")
            if step.kind in (WHERE, CAST, KERNEL) or step.function in FRESH:
                self.writeable.update(v for v in step.outs if v.shape)
            self.source.lines += self.release(dead)

    def release(self, dead: Iterable[Value]) -> list[str]:
        """Give back the memory of values: to later results, or by lines, where it is much."""
        lines = []
        for value in dead:
            if value not in self.memory.homes[value] and value.size * value.dtype.itemsize >= MUCH:
                lines.append(f"del {self.names[value]}")
            for home in self.memory.remove(value):
                key = (home.shape, home.dtype)
                name = self.names.get(home, "a")
                if home in self.writeable and self.wanted.get(key, 0) > len(self.free.get(key, ())):
                    self.free.setdefault(key, []).append(name)
                elif name[0] == "t" and home.size * home.dtype.itemsize >= MUCH:
                    lines.append(f"del {name}")
        return lines

    def assign(self, outs: Sequence[Value], expression: str, *, multiple: bool = False) -> None:
        for out in outs:
            self.names[out] = f"{self.prefix}{len(self.names)}"
        left = ", ".join(self.names[out] for out in outs) + "," * multiple
        self.source.lines.append(f"{left} = {expression}")

    def loop(self, step: Step) -> None:
        """A loop over rows; numbers in the carry stay Python's floats from row to row."""
        body, rows = Straight(step.function, floats=self.uses_floats, inside=self), step.options
        outside, inputs = self.source.lines, step.function.inputs
        places = rows.consts + rows.carries
        name, row = f"x{body.prefix[1:]}", f"i{body.prefix[1:-1]}"
        head, fetch = [], []
        for i, (value, given) in enumerate(zip(inputs, step.operands, strict=True)):
            text, own = self.wrapped(given), f"{name}{i}"
            body.names[value] = own
            if i < places:
                head.append(f"{own} = {f'float({text})' if value in body.floats else text}")
            else:
                listed = ".tolist()" if value in body.floats and value.dtype == FLOAT64 else ""
                head.append(f"{own}s = {text}{listed}")
                fetch.append(f"{own} = {own}s[{row}]")
        self.source.lines = lines = fetch
        for inner, dead in zip(step.function.steps, last_uses(step.function), strict=True):
            body.step(inner, dead)
        self.may_raise = self.may_raise or body.may_raise
        carried = [
            body.carried(old, new)
            for old, new in zip(inputs[rows.consts : places], step.function.outs, strict=False)
        ]
        if carried:
            left = ", ".join(f"{name}{i}" for i in range(rows.consts, places))
            lines.append(f"{left} = {', '.join(carried)}")
        self.source.lines = outside
        for out, value in zip(
            step.outs[rows.carries :], step.function.outs[rows.carries :], strict=True
        ):
            self.names[out] = column = f"{self.prefix}{len(self.names)}"
            dtype = self.source.bind(out.dtype, f"dtype_{out.dtype.name}")
            head.append(f"{column} = np.empty({out.shape!r}, {dtype})")
            lines.insert(len(lines) - bool(carried), f"{column}[{row}] = {body.operand(value)}")
        turns = f"range({rows.length})"
        outside += [*head, f"for {row} in {f'reversed({turns})' if rows.reverse else turns}:"]
        outside += [f"    {line}" for line in lines or ["pass"]]
        for i, out in enumerate(step.outs[: rows.carries], rows.consts):
            # The last carry may be what the first was: a copy, unless it is a number.
            text = f"np.array({name}{i}, {self.source.bind(out.dtype, f'dtype_{out.dtype.name}')})"
            self.names[out] = f"{self.prefix}{len(self.names)}"
            outside.append(f"{self.names[out]} = {text}{'' if out.shape else '[()]'}")
            if out in self.floats:
                outside.append(f"{self.names[out]} = float({self.names[out]})")

    def carried(self, old: Value, new: Value) -> str:
        """What is in the carry at the end of a row, in the form that the next one takes."""
        if old in self.floats:
            text = self.operand(new)
            return text if new in self.floats else f"float({text})"
        return self.wrapped(new) if new.__class__ is Value else self.operand(new)

    # ------------------------------------------------------------ expressions

    def ufunc(self, step: Step) -> str:
        """Also for `where` and for loops in C."""
        texts = [self.operand(v, step) for v in step.operands]
        if step.kind == UFUNC and step.options is not None:
            texts.append(f"dtype={self.source.bind(step.options, f'dtype_{step.options.name}')}")
        return f"{self.source.function(step.function)}({', '.join(texts)})"

    where = kernel = ufunc

    def cast(self, step: Step) -> str:
        dtype = self.source.bind(step.function, f"dtype_{step.function.name}")
        (value,) = step.operands
        if value.weak:
            return f"{dtype}.type({self.operand(value)})"
        return f"{self.wrapped(value)}.astype({dtype})"

    def reduce(self, step: Step) -> str:
        (value,) = step.operands
        axes, keepdims = step.options
        axis = (
            "None" if len(axes) == len(value.shape) else repr(axes[0] if len(axes) == 1 else axes)
        )
        rest = ", None, None, True" if keepdims else ""
        return f"{self.source.function(step.function)}.reduce({self.wrapped(value)}, {axis}{rest})"

    def view(self, step: Step) -> str:
        self.source.bind(np.broadcast_to, "np_broadcast_to")
        return step.function.format(self.wrapped(step.operands[0]))

    def call(self, step: Step) -> str:
        f = step.function
        texts = [self.wrapped(v) for v in step.operands]
        if f is np.dot:
            return f"{texts[0]}.dot({texts[1]})"
        if f is np.matmul:
            return f"{self.source.function(f)}({', '.join(texts)})"
        options = [f"{k}={self.source.bind(v, f'{f.name}_{k}')}" for k, v in step.options.items()]
        return (
            f"{self.source.bind(f.impl, f'call_{f.name}')}({', '.join(['np', *texts, *options])})"
        )

    def operand(self, value: Value, step: Step | None = None) -> str:
        """How an operand is written; `step` is an elementwise one."""
        if value.__class__ is Constant:
            return self.constant(value, step)
        if value in self.floats and step is not None:
            return self.names[value] if self.widens_alone(value, step) else self.wrapped(value)
        return self.names[value]

    def widens_alone(self, value: Value, step: Step) -> bool:
        """Whether the result has its type also if `value` is a Python number."""
        seen_as = [Value((), v.dtype, v in self.floats or v.weak) for v in step.operands]
        try:
            known = step.kind == UFUNC and step.options is None
            return known and result_dtype(step.function, seen_as) == step.out.dtype
        except NotLowerableError:
            return False

    def wrapped(self, value: Value) -> str:
        """As an array or a NumPy number."""
        text = self.names.get(value) or self.constant(value, None)
        if value in self.floats or value.weak:
            kind = self.source.bind(value.dtype.type, f"np_{value.dtype.name}")
            return f"{kind}({text})" if value.__class__ is not Constant else text
        return text

    def constant(self, value: Any, step: Step | None) -> str:
        x = value.value
        if step is not None and step.kind == UFUNC and not isinstance(x, np.ndarray):
            dtype = step.out.dtype
            others = {v.dtype for v in step.operands if v is not value}
            if (
                others == {dtype}
                and dtype.kind in "fc"
                and step.out.shape
                and step.options is None
                and _fits(step)
            ):
                x = self.numbers.setdefault((repr(x), type(x), dtype), np.array(x, dtype))
        if x.__class__ is bool:
            return repr(x)
        return self.source.constant(x)

    # ------------------------------------------------------------ Python's floats

    def on_floats(self, step: Step) -> str:
        texts = [self.float_text(v) for v in step.operands]
        if step.kind == WHERE:
            return f"{texts[1]} if {texts[0]} else {texts[2]}"
        expression = ON_FLOATS[step.function]
        for name in re.findall(r"math_(\w+)", expression):
            self.source.bind(getattr(math, name), f"math_{name}")
        return expression.format(*texts)

    def float_text(self, value: Value) -> str:
        if value.__class__ is not Constant:
            return self.names[value]
        x = value.value
        x = bool(x) if value.dtype == BOOL else float(x)
        if x.__class__ is float and (not math.isfinite(x) or x < 0 or math.copysign(1.0, x) < 0):
            return f"({x!r})" if math.isfinite(x) else self.source.constant(x)
        return repr(x)

    # ------------------------------------------------------------ results

    def results(self) -> list[str]:
        """The results, none of which shares memory with an argument or another one."""
        seen: set[Value] = set(self.program.inputs)
        found = []
        for value in self.program.outs:
            homes = self.memory.homes.get(value, set())
            if value.__class__ is Constant or value.weak or value in self.floats:
                kind = self.source.bind(value.dtype.type, f"np_{value.dtype.name}")
                text = self.operand(value)
                found.append(f"{text}.copy()" if value.shape else f"{kind}({text})")
            elif value.shape and (homes & seen or not any(h.size == value.size for h in homes)):
                found.append(f"{self.names[value]}.copy()")
            elif not value.shape and value not in homes:
                found.append(f"{self.names[value]}[()]")
            else:
                found.append(self.names[value])
            seen |= homes | {value}
        return found


def _read_once(program: Lowered, float_steps: Iterable[Step]) -> set[Value]:
    """Values that are read once, on Python's floats: their expressions are put where that is."""
    uses: dict[Value, int] = dict.fromkeys(program.outs, 2)
    for step in program.steps:
        text = "" if step.kind == WHERE else ON_FLOATS.get(step.function, "")
        once = step in float_steps and "{0}" not in text
        for v in step.operands:
            uses[v] = uses.get(v, 0) + (1 if once else 2)
    return {v for v, n in uses.items() if n == 1}


def _fits(step: Step) -> bool:
    """Whether all operands may have the dtype of the result."""
    same = [Value((), step.out.dtype) for _ in step.operands]
    try:
        return result_dtype(step.function, same) == step.out.dtype
    except NotLowerableError:
        return False


LONGEST = 200  # characters of an expression
MUCH = 1 << 16  # bytes that are worth a line that frees them


def _float_steps(program: Lowered) -> dict[Step, tuple[Value, ...]]:
    """The steps that run on Python's floats and booleans, and their values, which are such."""

    def could_be(value: Value) -> bool:
        if value.__class__ is Constant and value.weak:
            return value.dtype.kind in "if"
        return not value.shape and value.dtype in (FLOAT64, BOOL)

    found: dict[Step, tuple[Value, ...]] = {}
    for step in program.steps:
        known = step.kind == WHERE or (
            step.kind == UFUNC and step.function in ON_FLOATS and step.options is None
        )
        if known and could_be(step.out) and all(map(could_be, step.operands)):
            # What is bool and not float would need other words: True + True.
            numbers = step.operands[1:] if step.kind == WHERE else step.operands
            if all(v.dtype != BOOL for v in numbers):
                found[step] = (step.out, *step.operands)
    return found


def straight(program: Lowered) -> tuple[str, Callable[..., tuple[Any, ...]]]:
    """The source of a program, and the function that it defines.

    >>> from funcgrad import make_jaxpr
    >>> from funcgrad.compile.lower import lower
    >>> text, run = straight(lower(make_jaxpr(lambda x, y: np.sin(x) * y + 1.0)(np.ones(2), 2.0)))
    >>> print(text)
    def run(a0, a1):
        # k0 = 1.0
        t2 = np_sin(a0)
        np_multiply(t2, a1, t2)
        np_add(t2, k0, t2)
        return (t2, )
    <BLANKLINE>
    >>> run(np.array([0.0, np.pi / 2]), 3.0)
    (array([1., 4.]),)
    """
    printer = Straight(program, floats=True)
    text = printer.text()
    run = _compiled(text, printer.source.scope)
    if not printer.may_raise:
        return text, run
    slow = Straight(program, floats=False)
    return text, _with_fallback(run, _compiled(slow.text(), slow.source.scope))


def _with_fallback(fast: Callable[..., Any], slow: Callable[..., Any]) -> Callable[..., Any]:
    """`slow` where Python's `math` raises for what NumPy answers by inf or nan."""

    def run(*args: Any) -> Any:
        try:
            return fast(*args)
        except (ArithmeticError, ValueError):
            return slow(*args)

    return run


def _compiled(text: str, scope: dict[str, Any]) -> Callable[..., Any]:
    exec(compile(text, "<funcgrad printed>", "exec"), scope)
    return scope["run"]
