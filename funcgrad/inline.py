"""Straight-line NumPy source of what primitives and their rules do, found by running them on names.

It is also what whole programs are compiled to: `compiled`.

Layer 2. A rule stays the one definition; this prints it. An implementation or a rule is called with
`Symbol`s in place of arrays and writes a line per operation:

>>> from funcgrad.ops.trigonometric import tanh
>>> program = Program()
>>> y, x = program.operand("y"), program.operand("x")
>>> program.rule(tanh.rules[0], [y, x]).text
't2'
>>> print(*program.lines, sep="; "), program.numbers
t1 = y * y; t2 = k1 - t1
(None, {'k1': 1})

What looks at shapes, or at more than the kind of a dtype, cannot be printed and is called instead.
Numbers get names, so that they can be bound to 0-d arrays of the right dtype: NumPy is twice as fast
with those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .algebra import Selection
from .choose import choose
from .core import EVAL, Primitive, Trace, run_under
from .faster import FASTER
from .jaxpr import Atom, Eqn, Jaxpr, Literal
from .short import summed
from .thin import dot


class NotPrintableError(Exception):
    """The code asks a `Symbol` for something that only an array has."""


class Symbol:
    """The name of an array in a program; operators write lines."""

    __slots__ = ("dtype", "ndim", "program", "shape", "text")
    ndim: int
    shape: Any
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, program: Program, text: str) -> None:
        self.program = program
        self.text = text
        self.dtype = program.dtype

    def __add__(self, other: Any) -> Symbol:
        return self.program.binary("+", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return self.program.binary("+", other, self)

    def __sub__(self, other: Any) -> Symbol:
        return self.program.binary("-", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return self.program.binary("-", other, self)

    def __mul__(self, other: Any) -> Symbol:
        if other.__class__ is Selection:
            return NotImplemented
        return self.program.binary("*", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return self.program.binary("*", other, self)

    def __truediv__(self, other: Any) -> Symbol:
        return self.program.binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return self.program.binary("/", other, self)

    def __neg__(self) -> Symbol:
        return self.program.assign(f"-{self.text}")

    def sum(self, *, axis: Any) -> Symbol:
        return self.program.call("summed", summed, [self, axis])

    def dot(self, other: Any) -> Symbol:
        out = self.program.call("dot", dot, [self, other])
        if getattr(self, "ndim", 0) == getattr(other, "ndim", 0) == 2:
            out.ndim = 2
        return out

    @property
    def T(self) -> Symbol:
        return self.program.transpose(self, (1, 0))

    def __bool__(self) -> bool:
        raise NotPrintableError("a truth value")

    def __eq__(self, other: object) -> Any:
        raise NotPrintableError("a comparison")

    def __getattr__(self, name: str) -> Any:
        raise NotPrintableError(name)


class _Flat(Symbol):
    """An array with elements, all along one axis, whose shape and length have names."""

    __slots__ = ("size",)

    def __init__(self, program: Program, text: str) -> None:
        super().__init__(program, text)
        self.shape = _Shape(program, "shape")
        self.size = self.shape[0]

    def sum(self, *, axis: Any) -> Symbol:
        add = self.program.constant("np_add", np.add)
        return self.program.assign(f"{add}.reduce({self.text}, None)")


class _Dtype:
    """A dtype that is not known."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise NotPrintableError("a dtype")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotPrintableError(name)


class _Floating(_Dtype):
    """Single or double precision."""

    kind = "f"
    __hash__ = None

    def __eq__(self, other: object) -> bool:
        if other in (np.float32, np.float64):
            return super().__eq__(other)
        return False


FLOATING = _Floating()
UNKNOWN = _Dtype()


class _Shape(Symbol):
    __slots__ = ()

    def __getitem__(self, axis: int) -> Symbol:
        return _Length(self.program, "length")


class _Length(Symbol):
    """A number of elements that is not 0."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True

    def __rmul__(self, other: Any) -> Symbol:
        return self if other == 1 else super().__rmul__(other)


class _Namespace:
    """Stands for the array module: its functions write a line that calls NumPy's."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if name == "transpose":
            return self.program.transpose
        if name == "where":
            return lambda *args: self.program.call("choose", choose, args)
        if not isinstance(found, np.ufunc):
            raise NotPrintableError(f"np.{name}")
        if found in FASTER:
            return lambda *args: self.program.call(f"fast_{name}", FASTER[found], args)
        return lambda *args: self.program.call(f"np_{name}", found, args)


class _PrintTrace(Trace):
    """Interprets primitives by writing lines."""

    __slots__ = ("program",)

    def __init__(self, program: Program) -> None:
        self.parent = EVAL
        self.program = program

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return self.program.apply(prim, args, params)


class Program:
    """Lines of source and the constants they name; `dtype` is that of all its arrays."""

    def __init__(self, dtype: _Dtype = FLOATING) -> None:
        self.dtype = dtype
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {}
        self.numbers: dict[str, float] = {}
        self._new_floats: set[str] = set()
        self._count = 0

    def operand(self, name: str, ndim: int | None = None) -> Symbol:
        """The array that is called `name` in the source; `ndim` if rules may rely on it."""
        out = Symbol(self, name)
        if ndim is not None:
            out.ndim = ndim
            if ndim == 0:
                out.shape = ()
        return out

    def flat(self, name: str) -> Symbol:
        """As `operand`, of any shape but with elements, which is seen as having one axis.

        What is asked for of its shape is called `shape` and `length` in the source. Several in one
        program have the same shape, as has what is computed of them element by element.
        """
        return _Flat(self, name)

    def is_new_float(self, x: Any) -> bool:
        """Whether `x` is a floating array that a line of this program has made."""
        return isinstance(x, Symbol) and x.text in self._new_floats

    def rule(self, rule: Callable[..., Any], operands: Sequence[Any]) -> Any:
        """What `rule` makes of the operands: a symbol, or a number.

        Raises: NotPrintableError: it looks at shapes, dtypes or values.
        """
        try:
            return run_under(_PrintTrace(self), rule, operands)
        except (TypeError, ValueError) as error:  # older NumPy, asked for facts of a dtype
            raise NotPrintableError("a dtype") from error

    def apply(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Symbol:
        """One primitive: its implementation printed, or called if it cannot be."""
        written, count, floats = len(self.lines), self._count, set(self._new_floats)
        try:
            out = self.implementation(prim, args, params)
            if isinstance(out, Symbol):
                return out
        except (NotPrintableError, AttributeError, TypeError):
            pass
        del self.lines[written:]
        self._count, self._new_floats = count, floats
        impl = self.constant(f"{prim.name}_impl", prim.impl)
        texts = [self.text(a) for a in args]
        for key, value in params.items():
            if not isinstance(value, Symbol):
                value = self.constant(f"c{len(self.constants)}", value)
            texts.append(f"{key}={value}" if isinstance(value, str) else f"{key}={value.text}")
        return self.assign(f"{impl}({self.constant('np', np)}, {', '.join(texts)})")

    def implementation(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """One primitive: its implementation printed.

        Raises: NotPrintableError, AttributeError, TypeError: it asks for what only arrays have.
        """
        return prim.impl(_Namespace(self), *args, **params)

    def equation(self, eqn: Eqn, operands: Sequence[Any]) -> list[Symbol]:
        """One equation; its results' names."""
        before = self._count
        found = self.apply(eqn.prim, operands, eqn.params)
        outs = [found]
        if eqn.prim.multiple:
            outs = [Symbol(self, f"{found.text}_{i}") for i in range(len(eqn.outs))]
            self.lines.append(f"{''.join(f'{out.text}, ' for out in outs)} = {found.text}")
        used = {x.text for x in (*outs, *operands) if isinstance(x, Symbol)}
        inner = [Symbol(self, f"t{n}") for n in range(before + 1, self._count + 1)]
        self.forget(inner, used)
        return outs

    def forget(self, symbols: Sequence[Symbol], used: set[str]) -> None:
        """Free arrays that this program has made, unless they are `used` by another name."""
        texts = [x.text for x in symbols if x.text[0] == "t" and x.text not in used]
        if texts:
            self.lines.append(f"del {', '.join(texts)}")

    def transpose(self, x: Symbol, axes: Sequence[int]) -> Symbol:
        """`x` with its axes in another order; it is known that a matrix stays one."""
        if axes != (1, 0):
            return self.assign(f"{x.text}.transpose({axes!r})")
        out = self.assign(f"{x.text}.T")
        out.ndim = 2
        return out

    def call(self, name: str, function: Any, args: Sequence[Any]) -> Symbol:
        name = self.constant(name, function)
        out = self.assign(f"{name}({', '.join(map(self.text, args))})")
        if "d" * len(args) + "->d" in getattr(function, "types", ()):
            self._new_floats.add(out.text)
        return _Flat(self, out.text) if _Flat in {x.__class__ for x in args} else out

    def binary(self, operator: str, x: Any, y: Any) -> Symbol:
        out = self.assign(f"{self.text(x)} {operator} {self.text(y)}")
        self._new_floats.add(out.text)
        return _Flat(self, out.text) if _Flat in (x.__class__, y.__class__) else out

    def assign(self, expression: str) -> Symbol:
        self._count += 1
        name = f"t{self._count}"
        self.lines.append(f"{name} = {expression}")
        return Symbol(self, name)

    def constant(self, name: str, value: Any) -> str:
        self.constants[name] = value
        return name

    def text(self, x: Any) -> str:
        """How an operand is written: by name, also a number (see `numbers`) and a constant."""
        if isinstance(x, Symbol):
            return x.text
        if x.__class__ is int or x.__class__ is float:
            for name, value in self.numbers.items():
                same = value == x and math.copysign(1, value) == math.copysign(1, x)
                if same and value.__class__ is x.__class__:
                    return name
            name = f"k{len(self.numbers) + 1}"
            self.numbers[name] = x
            return name
        if isinstance(x, tuple):
            return repr(x)
        return self.constant(f"c{len(self.constants)}", x)


# ---------------------------------------------------------------- whole programs


def compiled(jaxpr: Jaxpr) -> Callable[..., Sequence[Any]]:
    """The function of bare NumPy arrays that `jaxpr` is; it returns a tuple.

    >>> from funcgrad import make_jaxpr
    >>> import numpy as np
    >>> f = compiled(make_jaxpr(lambda x: 2.0 * np.sin(x))(np.ones(2)))
    >>> f(np.array([0.0, np.pi / 2]))
    (array([0., 2.]),)
    """
    program = Program(UNKNOWN)
    inputs = [program.operand(f"a{i}") for i in range(len(jaxpr.in_vars))]
    names: dict[Atom, Symbol] = dict(zip(jaxpr.in_vars, inputs, strict=True))
    for var, value in zip(jaxpr.const_vars, jaxpr.consts, strict=True):
        names[var] = Symbol(program, program.text(np.asarray(value)))
    for eqn, dead in zip(jaxpr.eqns, jaxpr.last_uses(), strict=True):
        made = program.equation(eqn, [_read(names, eqn, a) for a in eqn.inputs])
        names.update(zip(eqn.outs, made, strict=True))
        program.forget([names.pop(v) for v in dead], {n.text for n in names.values()})
    outs = [program.text(a.value if a.__class__ is Literal else names[a]) for a in jaxpr.outs]
    lines = [f"def run({', '.join(x.text for x in inputs)}):", *program.lines]
    source = "\n    ".join([*lines, f"return ({''.join(f'{out}, ' for out in outs)})"])
    scope = {**program.constants, **program.numbers}
    exec(compile(source, "<funcgrad printed>", "exec"), scope)
    return scope.pop("run")  # no cycle, so what it holds is freed with it


def _read(names: dict[Atom, Symbol], eqn: Eqn, atom: Any) -> Any:
    """An operand of an equation: a name or a number, as a 0-d array where that is the same."""
    if atom.__class__ is not Literal:
        return names[atom]
    if eqn.prim.multiple or atom.value.__class__ not in (int, float):
        return atom.value
    dtypes = {a.aval.dtype for a in eqn.inputs if a is not atom}
    dtype = eqn.outs[0].aval.dtype
    return np.array(atom.value, dtype) if dtypes == {dtype} and dtype.kind in "fc" else atom.value
