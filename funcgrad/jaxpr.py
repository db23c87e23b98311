"""Programs as data: `Var`, `Literal`, `Eqn`, `Jaxpr`; checking, evaluating and printing them.

Layer 1. The grammar:

    jaxpr   ::= { lambda const:type ... ; input:type ... . let eqn ... in (atom, ...) }
    eqn     ::= var:type ... = primitive[param=value ...] atom ...
    atom    ::= var | literal
    type    ::= f64[3,2] | i64[] | ...

A jaxpr is in single-assignment form: every variable is bound once, before it is used. `consts` are
the arrays that the traced function closed over; they belong to the jaxpr and bind `const_vars`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from .core import Aval, Primitive, aval_of, current
from .errors import JaxprError, ShapeError
from .weak import number


class Var:
    """A variable: its type, and its identity as its name."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval


class Literal:
    """A number written into the program."""

    __slots__ = ("aval", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.aval = aval_of(value)


Atom = Var | Literal


class Eqn:
    """One equation: ``outs = prim[params] inputs``. `source` is the user's (file, line) or None."""

    __slots__ = ("inputs", "outs", "params", "prim", "source")

    def __init__(
        self,
        prim: Primitive,
        inputs: Sequence[Atom],
        params: dict[str, Any],
        outs: Sequence[Var],
        source: tuple[str, int] | None = None,
    ) -> None:
        self.prim = prim
        self.inputs = tuple(inputs)
        self.params = params
        self.outs = tuple(outs)
        self.source = source


class Jaxpr:
    """A closed program. `in_avals` and `out_avals` are its type."""

    __slots__ = ("_last_uses", "const_vars", "consts", "eqns", "in_vars", "memo", "outs")

    def __init__(
        self,
        in_vars: Sequence[Var],
        eqns: Sequence[Eqn],
        outs: Sequence[Atom],
        const_vars: Sequence[Var] = (),
        consts: Sequence[Any] = (),
    ) -> None:
        self.in_vars = tuple(in_vars)
        self.eqns = tuple(eqns)
        self.outs = tuple(outs)
        self.const_vars = tuple(const_vars)
        self.consts = tuple(consts)
        self._last_uses: list[tuple[Var, ...]] | None = None
        self.memo: dict[Any, Any] = {}  # what other layers have made of the program

    @property
    def in_avals(self) -> list[Aval]:
        return [v.aval for v in self.in_vars]

    @property
    def out_avals(self) -> list[Aval]:
        return [a.aval for a in self.outs]

    @property
    def jaxpr(self) -> Jaxpr:
        """The program itself, which JAX keeps apart from its constants."""
        return self

    def last_uses(self) -> list[tuple[Var, ...]]:
        """For every equation, the variables that nothing after it reads."""
        if self._last_uses is None:
            needed = {a for a in self.outs if a.__class__ is Var}
            uses: list[tuple[Var, ...]] = []
            for eqn in reversed(self.eqns):
                mentioned = {a for a in (*eqn.inputs, *eqn.outs) if a.__class__ is Var}
                uses.append(tuple(mentioned - needed))
                needed |= mentioned
            self._last_uses = uses[::-1]
        return self._last_uses

    def pretty(self, *, source: bool = False) -> str:
        """The program as text; with `source`, every equation ends in the user's file and line."""
        return "\n".join(_Printer(source).jaxpr_lines(self))

    def __repr__(self) -> str:
        return self.pretty()


def has_effect(jaxpr: Jaxpr) -> bool:
    """Whether the program does anything but give results."""
    found = jaxpr.memo.get("effect")
    if found is None:
        found = jaxpr.memo["effect"] = any(map(does_something, jaxpr.eqns))
    return bool(found)


def does_something(eqn: Eqn) -> bool:
    return eqn.prim.effect or any(map(has_effect, nested_jaxprs(eqn.params)))


def quiet(jaxpr: Jaxpr) -> Jaxpr:
    """The program without what is done for its effect alone: for those who run it a second time."""
    if not has_effect(jaxpr):
        return jaxpr
    found = jaxpr.memo.get("quiet")
    if found is None:
        read = {a for eqn in jaxpr.eqns for a in eqn.inputs} | set(jaxpr.outs)
        eqns = [e for e in jaxpr.eqns if not e.prim.effect or not read.isdisjoint(e.outs)]
        found = Jaxpr(
            jaxpr.in_vars, list(map(_quiet, eqns)), jaxpr.outs, jaxpr.const_vars, jaxpr.consts
        )
        jaxpr.memo["quiet"] = found
    return found


def _quiet(eqn: Eqn) -> Eqn:
    if not nested_jaxprs(eqn.params):
        return eqn
    params = {
        k: tuple(quiet(p) if p.__class__ is Jaxpr else p for p in v)
        if v.__class__ is tuple
        else quiet(v)
        if v.__class__ is Jaxpr
        else v
        for k, v in eqn.params.items()
    }
    return Eqn(eqn.prim, eqn.inputs, params, eqn.outs, eqn.source)


def live(jaxpr: Jaxpr) -> Jaxpr:
    """The program without the equations whose results nothing uses and that do nothing."""
    needed = {a for a in jaxpr.outs if a.__class__ is Var}
    eqns = []
    for eqn in reversed(jaxpr.eqns):
        if not needed.isdisjoint(eqn.outs) or does_something(eqn):
            eqns.append(eqn)
            needed.update(a for a in eqn.inputs if a.__class__ is Var)
    return Jaxpr(jaxpr.in_vars, eqns[::-1], jaxpr.outs, jaxpr.const_vars, jaxpr.consts)


def eval_jaxpr(jaxpr: Jaxpr, *args: Any) -> list[Any]:
    """Run the program on `args` under the current trace; values are freed at their last use.

    Raises: ShapeError: the number of arguments is not the program's.
    """
    if len(args) != len(jaxpr.in_vars):
        raise ShapeError(
            f"eval_jaxpr: the program takes {len(jaxpr.in_vars)} arguments, found {len(args)}"
        )
    env: dict[Atom, Any] = dict(zip(jaxpr.const_vars, jaxpr.consts, strict=True))
    env.update(zip(jaxpr.in_vars, args, strict=True))
    process = current.get().process
    for eqn, dead in zip(jaxpr.eqns, jaxpr.last_uses(), strict=True):
        values = [a.value if isinstance(a, Literal) else env[a] for a in eqn.inputs]
        ans = process(eqn.prim, values, eqn.params)
        for out, x in zip(eqn.outs, ans if eqn.prim.multiple else (ans,), strict=True):
            env[out] = number(x) if out.aval.weak else x
        for var in dead:
            env.pop(var, None)
    return [a.value if isinstance(a, Literal) else env[a] for a in jaxpr.outs]


def check_jaxpr(jaxpr: Jaxpr) -> None:
    """Check the grammar and every type against the primitives' own shape rules.

    Raises: JaxprError: naming the equation and what is wrong with it.
    """
    bound: set[Var] = set()

    def bind(variables: Iterable[Var], place: str) -> None:
        for v in variables:
            if v in bound:
                raise JaxprError(f"{place}: a variable is bound twice")
            bound.add(v)

    def read(atoms: Iterable[Atom], place: str) -> None:
        for a in atoms:
            if a.__class__ is Var and a not in bound:
                raise JaxprError(f"{place}: a variable of type {a.aval} is used before it is bound")

    bind(jaxpr.const_vars, "constants")
    bind(jaxpr.in_vars, "inputs")
    for value, var in zip(jaxpr.consts, jaxpr.const_vars, strict=True):
        _check_type(aval_of(value), var.aval, "constants")
    for i, eqn in enumerate(jaxpr.eqns):
        place = f"equation {i} ({eqn.prim.name})"
        read(eqn.inputs, place)
        bind(eqn.outs, place)
        for nested in nested_jaxprs(eqn.params):
            check_jaxpr(nested)
        made = eqn.prim.aval(*[a.aval for a in eqn.inputs], **eqn.params)
        avals = made if eqn.prim.multiple else (made,)
        if len(avals) != len(eqn.outs):
            raise JaxprError(f"{place}: has {len(eqn.outs)} outputs, needs {len(avals)}")
        for aval, out in zip(avals, eqn.outs, strict=True):
            _check_type(aval, out.aval, place)
    read(jaxpr.outs, "outputs")


def _check_type(needed: Aval, found: Aval, place: str) -> None:
    if needed.shape != found.shape or needed.dtype != found.dtype:
        raise JaxprError(f"{place}: has type {found}, needs {needed}")


def nested_jaxprs(params: dict[str, Any]) -> list[Jaxpr]:
    """The programs among an equation's parameters."""
    found = []
    for value in params.values():
        items = value if value.__class__ is tuple else (value,)
        found += [item for item in items if item.__class__ is Jaxpr]
    return found


def var_name(index: int) -> str:
    """a, b, ..., z, aa, ab, ...

    >>> [var_name(i) for i in (0, 25, 26, 702)]
    ['a', 'z', 'aa', 'aaa']
    """
    name = ""
    index += 1
    while index:
        index, letter = divmod(index - 1, 26)
        name = chr(ord("a") + letter) + name
    return name


class _Printer:
    """Names variables in order of appearance, across nested programs."""

    def __init__(self, source: bool) -> None:
        self.names: dict[Var, str] = {}
        self.source = source

    def name(self, var: Var) -> str:
        if var not in self.names:
            self.names[var] = var_name(len(self.names))
        return self.names[var]

    def typed(self, variables: Iterable[Var]) -> str:
        return " ".join(f"{self.name(v)}:{v.aval}" for v in variables)

    def atom(self, a: Atom) -> str:
        if isinstance(a, Var):
            return self.name(a)
        value = a.value
        return repr(value) if a.aval.weak else f"{value.item()!r}:{a.aval}"

    def jaxpr_lines(self, jaxpr: Jaxpr) -> list[str]:
        head = f"{{ lambda {self.typed(jaxpr.const_vars)} ; {self.typed(jaxpr.in_vars)} . let"
        body = ["    " + line for eqn in jaxpr.eqns for line in self.eqn_lines(eqn)]
        outs = ", ".join(self.atom(a) for a in jaxpr.outs) + ("," if len(jaxpr.outs) == 1 else "")
        return [head.replace("lambda  ;", "lambda ;"), *body, f"  in ({outs}) }}"]

    def eqn_lines(self, eqn: Eqn) -> list[str]:
        programs = {k: v for k, v in eqn.params.items() if nested_jaxprs({k: v})}
        shown = [f"{k}={_show(v)}" for k, v in eqn.params.items() if k not in programs]
        params = f"[{' '.join(shown)}]" if shown else ""
        inputs = "".join(" " + self.atom(a) for a in eqn.inputs)
        line = f"{self.typed(eqn.outs)} = {eqn.prim.name}{params}{inputs}"
        if self.source and eqn.source is not None:
            line += f"  # {os.path.basename(eqn.source[0])}:{eqn.source[1]}"
        nested = []
        for key, value in programs.items():
            several = value.__class__ is tuple
            for i, program in enumerate(value if several else (value,)):
                name = f"{key}[{i}]" if several else key
                nested += [f"  {name} =", *("    " + text for text in self.jaxpr_lines(program))]
        return [line, *nested]


def _show(value: Any) -> str:
    """A parameter as it reads best: a function by its name, anything else by its repr."""
    if isinstance(value, Primitive):
        return value.name
    name = getattr(value, "__name__", None)
    return name if name is not None else repr(value)
