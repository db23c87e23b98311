"""Straight-line NumPy source of a lowered program: a line per step.

Layer 4½. Three things make it as fast as what one would write by hand: numbers are bound to 0-d
arrays of the right dtype, results are written into arrays that are no longer needed, and 0-d float64
values are Python floats, on which arithmetic takes a tenth of the time. Where Python's `math` raises
and NumPy gives inf or nan, the program is run again without the last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from .floats import BOOL, FLOAT64, ON_FLOATS, as_python, float_steps, read_once
from .into import Homes, homes_of, numbers_first
from .lower import loop_dtypes, result_dtype, step_dtypes
from .own_products import named
from .source import Source, compiled, with_fallback
from .steps import (
    CALL,
    CAST,
    KERNEL,
    LOOP,
    REDUCE,
    UFUNC,
    VIEW,
    WHERE,
    Constant,
    Lowered,
    NotLowerableError,
    OutOfBoundsError,
    Step,
    Value,
    is_short,
)
from .turned import turned
from .workspace import FRESH, Kind, Lives, Memory, Orders, Plan, Pool, in_order, is_large, last_uses

KEYWORD_OUT = frozenset({np.maximum, np.minimum})  # that take no third operand by position


class Straight:
    """Prints one function, `run`. `floats`: 0-d float64 values are Python floats where possible.

    `homes`: the inputs into whose memory results are to be written, once nothing reads those.
    """

    def __init__(
        self,
        program: Lowered,
        *,
        floats: bool,
        inside: Straight | None = None,
        plan: Plan | None = None,
        homes: Homes = MappingProxyType({}),
    ) -> None:
        self.program = program
        self.homes = {value: home for value, (home, _) in homes.items()}
        self.at_home = {value: i for value, (_, i) in homes.items()}  # which of the results that is
        self.ready: set[str] = set()  # of these inputs those that may be written now
        self.calls_left = sum(map(self.is_call, program.steps)) if homes else 0
        self.has_written = False
        self.cannot_repeat = False  # something may raise after an input has been written
        self.uses_floats = floats
        self.source: Source = Source() if inside is None else inside.source
        self.prefix: str = "t" if inside is None else f"{inside.prefix}{len(inside.names)}_"
        self.names: dict[Value, str] = {v: f"a{i}" for i, v in enumerate(program.inputs)}
        self.float_steps = float_steps(program) if floats else {}
        self.nested = read_once(program, self.float_steps)
        self.may_raise = bool(self.float_steps)  # where `math` does, and NumPy gives inf or nan
        self.floats = {v for vs in self.float_steps.values() for v in vs if v.__class__ is Value}
        self.memory = Memory(program)
        self.lives: Lives = Lives(plan) if inside is None else inside.lives
        self.orders = Orders()
        self.writeable: set[Value] = set()  # arrays that results may be written into
        self.free: dict[tuple[Any, Any], list[str]] = {}
        self.numbers: dict[Any, Any] = {}
        self.wanted: dict[tuple[Any, Any], int] = {}  # how many results are still to come
        for step in program.steps:
            if step.kind == UFUNC:
                key = (step.out.shape, step.out.dtype)
                self.wanted[key] = self.wanted.get(key, 0) + 1
            elif step.kind == KERNEL:
                for key in [(v.shape, v.dtype) for v in step.outs if is_large(v.shape, v.dtype)]:
                    self.wanted[key] = self.wanted.get(key, 0) + 1

    def text(self) -> str:
        program, lines = self.program, self.source.lines
        for value in program.inputs:
            if value in self.floats:
                lines.append(f"{self.names[value]} = {as_python(value, self.names[value])}")
        for step, dead in zip(program.steps, last_uses(program), strict=True):
            self.step(step, dead)
        outs = self.results()
        head = [f"def run({', '.join(f'a{i}' for i in range(len(program.inputs)))}):"]
        head += self.source.legend()
        result = f"({''.join(f'{o}, ' for o in outs)})"
        last = [f"return {result}"]
        plan = self.lives.plan
        if plan is not None:
            pool = Pool(plan.make, plan.nbytes)
            self.source.scope |= {"take": pool.take, "give": pool.give}
            head.append(f"{', '.join(plan.arrays)}, = space = take()")
            last = [f"results = {result}", "give(space)", "return results"]
        return "\n    ".join([*head, *lines, *last]) + "\n"

    # ------------------------------------------------------------ steps

    def step(self, step: Step, dead: Sequence[Value]) -> None:
        self.lives.now += 1
        if self.has_written and (step in self.float_steps or self.may_fail(step)):
            self.cannot_repeat = True
        self.calls_left -= bool(self.homes) and self.is_call(step)
        copies = self.orders.copies(
            step, self.names.get(step.operands[0], "") if step.operands else ""
        )
        self.memory.add(step, copies)
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
            name = self.home(step.out)
            if name:
                pass
            elif self.free.get(key):
                name = self.free[key].pop()
                self.lives.begin(name)
            else:
                name = self.place(step.out, self.order(step))
            if name:
                self.names[step.out] = name
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
        elif step.kind == KERNEL:
            self.kernel(step, dead)
        else:
            if not (self.write(step) or (copies and self.write_copy(step))):
                multiple = getattr(step.function, "multiple", len(step.outs) > 1)
                self.assign(step.outs, getattr(self, step.kind)(step), multiple=multiple)
            if step.kind == VIEW and not copies:
                source = self.names.get(step.operands[0], "")
                self.orders.view(step, source, self.names[step.out])
            elif step.kind == CALL and step.function not in FRESH:
                self.lend(step)
            made = [] if self.is_float_cast(step) else step.outs
            for value in [v for v in made if v in self.floats]:
                name = self.names[value]
                self.source.lines.append(f"{name} = {as_python(value, name)}")
            if step.kind in (WHERE, CAST) or step.function in FRESH:
                self.writeable.update(v for v in step.outs if v.shape)
            self.source.lines += self.release(dead)

    def release(self, dead: Iterable[Value]) -> list[str]:
        """Give back the memory of values: to later results, or by lines, where it is much."""
        lines = []
        for value in dead:
            homes = self.memory.homes[value]
            much = value not in homes and value.size * value.dtype.itemsize >= MUCH
            if much and any(self.names.get(home, "a")[0] == "t" for home in homes):
                lines.append(f"del {self.names[value]}")
            for home in self.memory.remove(value):
                key = (home.shape, home.dtype)
                name = self.names.get(home, "a")
                if home in self.homes.values():
                    self.ready.add(name)
                    continue
                self.lives.end(name)
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

    # ------------------------------------------------------------ inputs that are written

    def home(self, value: Value) -> str:
        """The input whose memory a result belongs into, if that may be written; "" if not."""
        wanted = self.homes.get(value)
        # What a function raises reaches the caller, whose inputs are then what they were.
        name = "" if wanted is None or self.calls_left else self.names[wanted]
        if name not in self.ready:
            return ""
        self.ready.remove(name)
        self.has_written = True
        return name

    def may_fail(self, step: Step) -> bool:
        """Whether the lines of a step may raise: by arithmetic on Python's floats, or by a function."""
        return self.is_call(step) or any(v in self.nested for v in step.operands)

    @staticmethod
    def is_call(step: Step) -> bool:
        may = step.kind == CALL and step.function not in FRESH
        return step.kind == LOOP or may or (step.kind == KERNEL and step.options is not None)

    # ------------------------------------------------------------ the workspace

    def place(self, value: Value, order: tuple[int, ...] = (), since: int | None = None) -> str:
        """The array of the workspace that a new value is written into; "" if there is none."""
        name = f"{self.prefix}{len(self.names)}"
        kind = Kind(value.shape, value.dtype, order or in_order(value.shape))
        place = self.lives.place(name, kind, since)
        self.orders.note(place or name, order)
        return place

    def order(self, step: Step) -> tuple[int, ...]:
        """The order of axes that all operands of the result's shape have; () is row by row."""
        shape = step.out.shape
        whole = [v for v in step.operands if v.shape == shape and v.__class__ is Value]
        return self.orders.common([self.names[v] for v in whole])

    def write(self, step: Step) -> bool:
        """Write what a step makes into the workspace; False if nothing of it belongs there."""
        kind, out = step.kind, step.out
        known = kind == CAST or step.function in FRESH or (kind == REDUCE and not is_short(step))
        if not known and not (kind == WHERE and step.operands[0].dtype == BOOL):
            return False
        place = self.place(out, self.order(step) if kind in (CAST, WHERE) else ())
        if not place:
            return False
        self.names[out] = place
        texts = [self.operand(v, step) if kind == WHERE else self.wrapped(v) for v in step.operands]
        if kind == REDUCE:
            axes, keepdims = step.options
            function = self.source.function(step.function)
            line = f"{function}.reduce({texts[0]}, {axes!r}, None, {place}{', True' * keepdims})"
        elif kind in (CALL, WHERE):
            line = f"{named(self.source, step)}({', '.join(texts)}, {place})"
        else:
            copy = self.source.bind(np.copyto, "np_copyto")
            line = f"{copy}({place}, {texts[-1]}, 'unsafe')"
        self.source.lines.append(line)
        return True

    def kernel(self, step: Step, dead: Sequence[Value]) -> None:
        """Results that are large go into operands that are not needed any more, or the workspace."""
        function, call, freed = step.function, self.ufunc(step), self.release(dead)
        given, names = [], []
        is_ufunc = isinstance(function, np.ufunc)
        takes_outs = getattr(function, "takes_outs", is_ufunc)
        elementwise = is_ufunc and function.signature is None
        for k, out in enumerate(step.outs):
            place = ""
            can_repeat = takes_outs and step.options is None
            if can_repeat and self.may_overwrite(step, k, self.homes.get(out), elementwise):
                place = self.home(out)
            if is_large(out.shape, out.dtype):
                self.wanted[out.shape, out.dtype] -= 1
                place = place or (self.spare(step, k, elementwise) if takes_outs else "")
            if takes_outs and not place:
                place = self.place(out, self.order(step) if elementwise else ())
            given.append(place or "None")
            self.names[out] = place or f"{self.prefix}{len(self.names)}"
            names.append(self.names[out])
        if any(text != "None" for text in given):
            call = f"{call[:-1]}, {', '.join(given)})"
        # Not a ufunc may make its own array after all.
        left = "" if is_ufunc and given == names[:1] else f"{', '.join(names)} = "
        self.source.lines.append((f"{left[:-3]}, = " if len(names) > 1 else left) + call)
        self.writeable.update(v for v in step.outs if v.shape)
        if step.options is not None:  # the result that says so
            error = self.source.bind(OutOfBoundsError, "OutOfBoundsError")
            self.source.lines.append(f"if {self.names[step.options]}: raise {error}")
        self.source.lines += freed

    def spare(self, step: Step, k: int, elementwise: bool) -> str:
        """An array that result `k` of a kernel may overwrite; "" if there is none."""
        out = step.outs[k]
        free = self.free.get((out.shape, out.dtype), [])
        for name in reversed(free):
            if self.overwrites(step, k, name, elementwise):
                free.remove(name)
                self.lives.begin(name)
                return name
        return ""

    def overwrites(self, step: Step, k: int, name: str, elementwise: bool) -> bool:
        """Whether result `k` of a kernel may be written into `name`, which it may read."""
        seen = [i for i, v in enumerate(step.operands) if name in self.home_names(v)]
        if not seen:
            return True
        may = elementwise or {(i, k) for i in seen} <= getattr(step.function, "overwrites", set())
        return len(seen) == 1 and may and self.names[step.operands[seen[0]]] == name

    def may_overwrite(self, step: Step, k: int, home: Value | None, elementwise: bool) -> bool:
        return home is not None and self.overwrites(step, k, self.names[home], elementwise)

    def write_copy(self, step: Step) -> bool:
        """Copy what cannot be reshaped where it is."""
        (source,) = step.operands
        place = self.place(step.out)
        if place:
            self.names[step.out] = place
            copy = self.source.bind(np.copyto, "np_copyto")
            text = f"{place}.reshape({source.shape!r})"
            self.source.lines.append(f"{copy}({text}, {self.names[source]})")
        return bool(place)

    def lend(self, step: Step) -> None:
        """What is not ours may keep its arguments."""
        if not getattr(step.function.impl, "__module__", "").startswith(OURS):
            for value in step.operands:
                self.lives.escape(self.home_names(value))

    def home_names(self, value: Value) -> list[str]:
        return [self.names[h] for h in self.memory.homes.get(value, ()) if h in self.names]

    def loop(self, step: Step) -> None:
        """A loop over rows; numbers in the carry stay Python's floats from row to row."""
        body, rows = Straight(step.function, floats=self.uses_floats, inside=self), step.options
        outside, inputs = self.source.lines, step.function.inputs
        start = self.lives.now
        places = rows.consts + rows.carries
        name, row = f"x{body.prefix[1:]}", f"i{body.prefix[1:-1]}"
        head, fetch = [], []
        for i, (value, given) in enumerate(zip(inputs, step.operands, strict=True)):
            text, own = self.wrapped(given), f"{name}{i}"
            body.names[value] = own
            if i < places:
                head.append(f"{own} = {as_python(value, text) if value in body.floats else text}")
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
            place = self.place(out, since=start)
            self.names[out] = column = place or f"{self.prefix}{len(self.names)}"
            dtype = self.source.bind(out.dtype, f"dtype_{out.dtype.name}")
            if not place:
                head.append(f"{column} = np.empty({out.shape!r}, {dtype})")
            lines.insert(len(lines) - bool(carried), f"{column}[{row}] = {body.operand(value)}")
        for value in step.function.outs[: rows.carries]:
            self.lives.escape(body.home_names(value))
        self.lives.end_all(body.prefix)
        turns = f"range({rows.length})"
        outside += [*head, f"for {row} in {f'reversed({turns})' if rows.reverse else turns}:"]
        outside += [f"    {line}" for line in lines or ["pass"]]
        for i, out in enumerate(step.outs[: rows.carries], rows.consts):
            # The last carry may be what the first was: a copy, unless it is a number.
            text = f"np.array({name}{i}, {self.source.bind(out.dtype, f'dtype_{out.dtype.name}')})"
            place = self.place(out)
            self.names[out] = place or f"{self.prefix}{len(self.names)}"
            if place:
                copy = self.source.bind(np.copyto, "np_copyto")
                outside.append(f"{copy}({place}, {name}{i})")
            else:
                outside.append(f"{self.names[out]} = {text}{'' if out.shape else '[()]'}")
            if out in self.floats:
                outside.append(f"{self.names[out]} = {as_python(out, self.names[out])}")

    def carried(self, old: Value, new: Value) -> str:
        """What is in the carry at the end of a row, in the form that the next one takes."""
        if old in self.floats:
            text = self.operand(new)
            return text if new in self.floats else as_python(old, text)
        return self.wrapped(new) if new.__class__ is Value else self.operand(new)

    # ------------------------------------------------------------ expressions

    def ufunc(self, step: Step) -> str:
        """Also for `where` and for loops in C."""
        texts = [self.operand(v, step) for v in step.operands]
        if step.kind == UFUNC and step.options is not None:
            texts.append(f"dtype={self.source.bind(step.options, f'dtype_{step.options.name}')}")
        return f"{self.source.function(step.function)}({', '.join(texts)})"

    where = ufunc

    def is_float_cast(self, step: Step) -> bool:
        """Whether a number of NumPy's is converted to one of Python's."""
        real = step.kind == CAST and step.operands[0].dtype.kind != "c"
        return real and step.out in self.floats

    def cast(self, step: Step) -> str:
        if self.is_float_cast(step):
            return f"float({self.operand(step.operands[0])})"
        dtype = self.source.bind(step.function, f"dtype_{step.function.name}")
        (value,) = step.operands
        if value.weak or value in self.floats:
            return f"{dtype}.type({self.operand(value)})"
        return f"{self.wrapped(value)}.astype({dtype})"

    def reduce(self, step: Step) -> str:
        (value,) = step.operands
        axes, keepdims = step.options
        if is_short(step):
            return self.source.reduced(step, self.wrapped(value))
        axis = None if len(axes) == len(value.shape) else axes[0] if len(axes) == 1 else axes
        rest = ", None, None, True" if keepdims else ""
        return f"{self.source.function(step.function)}.reduce({self.wrapped(value)}, {axis}{rest})"

    def view(self, step: Step) -> str:
        self.source.bind(np.broadcast_to, "np_broadcast_to")
        return step.function.format(self.wrapped(step.operands[0]))

    def call(self, step: Step) -> str:
        f = step.function
        texts = [self.wrapped(v) for v in step.operands]
        if f in (np.dot, np.matmul):
            name = named(self.source, step)
            is_method = name == "np_dot"  # half a microsecond less
            return f"{texts[0]}.dot({texts[1]})" if is_method else f"{name}({', '.join(texts)})"
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
        """Whether NumPy computes in the same types also if `value` is a Python number."""
        seen_as = [Value((), v.dtype, v in self.floats or v.weak) for v in step.operands]
        try:
            known = step.kind == UFUNC and step.options is None
            return known and loop_dtypes(step.function, seen_as) == step_dtypes(step)
        except NotLowerableError:
            return False

    def wrapped(self, value: Value) -> str:
        """As an array or a NumPy number, but for what is a Python number in the program too."""
        text = self.names.get(value) or self.constant(value, None)
        if value in self.floats and not value.weak:
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
        for i, value in enumerate(self.program.outs):
            homes = self.memory.homes.get(value, {}).keys()
            if value.__class__ is Constant or value.weak or value in self.floats:
                kind = self.source.bind(value.dtype.type, f"np_{value.dtype.name}")
                text = self.operand(value)
                found.append(f"{text}.copy()" if value.shape else f"{kind}({text})")
            elif value in self.homes and self.names[value] == self.names[self.homes[value]]:
                is_home = self.at_home[value] == i
                found.append(self.names[value] if is_home else f"{self.names[value]}.copy()")
            elif value.shape and (homes & seen or not any(h.nbytes == value.nbytes for h in homes)):
                found.append(f"{self.names[value]}.copy()")
            elif not value.shape and homes & seen:
                kind = self.source.bind(value.dtype.type, f"np_{value.dtype.name}")
                found.append(f"{kind}({self.names[value]})")
            elif not value.shape and value not in homes:
                found.append(f"{self.names[value]}[()]")
            else:
                found.append(self.names[value])
                self.lives.escape(self.home_names(value))
            seen |= homes | {value}
        return found


def _fits(step: Step) -> bool:
    """Whether all operands may have the dtype of the result."""
    same = [Value((), step.out.dtype) for _ in step.operands]
    try:
        return result_dtype(step.function, same) == step.out.dtype
    except NotLowerableError:
        return False


LONGEST = 200  # characters of an expression
OURS = f"{__name__.partition('.')[0]}."
MUCH = 1 << 16  # bytes that are worth a line that frees them


def straight(
    program: Lowered, into: Mapping[int, int] = MappingProxyType({})
) -> tuple[str, Callable[..., tuple[Any, ...]]]:
    """The source of a program, and the function that it defines.

    `into`: results, by number, and the inputs whose memory they are written into where that can be;
    it is then the input that is returned.

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
    program = turned(program)
    homes = homes_of(program, into)
    if homes:
        program = numbers_first(program)
    printer, text, run = _printed(program, homes, floats=True)
    if not printer.may_raise:
        return text, run
    if printer.cannot_repeat:
        return _printed(program, homes, floats=False)[1:]
    return text, with_fallback(run, lambda: _printed(program, homes, floats=False)[2])


def _printed(
    program: Lowered, homes: Homes, *, floats: bool
) -> tuple[Straight, str, Callable[..., Any]]:
    """The printer, the source and the function."""
    printer = Straight(program, floats=floats, homes=homes)
    text = printer.text()
    plan = printer.lives.made_plan()
    if plan is not None:
        printer = Straight(program, floats=floats, plan=plan, homes=homes)
        text = printer.text()
    return printer, text, compiled(text, printer.source.scope)
