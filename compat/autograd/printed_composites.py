"""Fast paths of functions of several primitives, which PyTorch has as one: printed like `printed.py`.

The function is run on names, forwards for what it computes and backwards, primitive by primitive,
for what its node does. It saves operands only: what the rules need of the way between is computed
again, and has to be cheap.

>>> import compat as torch
>>> from compat.autograd import printed
>>> text = printed.source(torch.nn.functional.linear)
>>> [line.strip() for line in text.splitlines() if "dot(" in line]
['t2 = dot(x, t1)', 't4 = dot(g, w)', 'r = dot(g.T, x)']
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from funcgrad.algebra import Bilinear, Elementwise, Linear
from funcgrad.core import EVAL, Primitive, Trace, run_under
from funcgrad.inline import NotPrintableError, Program, Symbol
from funcgrad.ops.structural import broadcast_to, reshape

from . import printed, templates
from .printed_nodes import CompositeNode

_F = TypeVar("_F", bound=Callable[..., Any])
_NAME = re.compile(r"\bt\d+\b")


class _Recording(Trace):
    """Interprets primitives by writing lines, and notes them."""

    __slots__ = ("program", "steps")

    def __init__(self, program: Program) -> None:
        self.parent = EVAL
        self.program = program
        self.steps: list[tuple[Primitive, Sequence[Any], dict[str, Any], Symbol]] = []

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        out = self.program.apply(prim, args, params)
        self.steps.append((prim, args, params, out))
        return out


class _Program(Program):
    """A program in which a number that is spread over a shape stays a number until it is used."""

    def apply(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Symbol:
        return args[0] if prim is broadcast_to else super().apply(prim, args, params)


def _pulled(prim: Any, i: int, args: Sequence[Any], out: Any, params: dict, ct: Any) -> Any:
    """The cotangent of operand `i` of a primitive; called under a trace that prints."""
    if isinstance(prim, Elementwise):
        c = prim.rules[i]
        c = c(out, *args) if callable(c) else c
        if c.__class__ is int and abs(c) == 1:
            return ct if c == 1 else -ct
        # Number by number first.
        return ct * c
    if isinstance(prim, Linear):
        return prim.rules[0](ct, *args, **params)
    if isinstance(prim, Bilinear):
        return prim.rules[i](ct, *args, **params)
    raise NotPrintableError(prim.name)


def _cotangents(
    program: Program, steps: Sequence[Any], out: Symbol, operands: Sequence[Symbol], g: Symbol
) -> list[Symbol]:
    """The cotangent of every operand, printed."""
    cts: dict[str, Any] = {out.text: g}
    for prim, args, params, result in reversed(steps):
        ct = cts.pop(result.text)
        for i, x in enumerate(args):
            if isinstance(x, Symbol):
                new = program.rule(functools.partial(_pulled, prim, i, args, result, params), [ct])
                old = cts.get(x.text)
                cts[x.text] = new if old is None else old + new
    return [cts[x.text] for x in operands]


def _needed(lines: Sequence[str], result: str) -> set[int]:
    """The numbers of the lines that `result` needs."""
    made = {line.partition(" = ")[0]: i for i, line in enumerate(lines)}
    found: set[int] = set()
    stack = [result]
    while stack:
        i = made.get(stack.pop())
        if i is not None and i not in found:
            found.add(i)
            stack += _NAME.findall(lines[i].partition(" = ")[2])
    return found


class _Text:
    """What is printed for a function `f` of arrays; `ndims` as for `composite`."""

    def __init__(self, f: Callable[..., Any], ndims: dict[str, int | None]) -> None:
        self.program = program = _Program()
        operands = [
            program.flat(name) if ndim is None else program.operand(name, ndim)
            for name, ndim in ndims.items()
        ]
        trace = _Recording(program)
        out = run_under(trace, f, operands)
        count = len(program.lines)
        g = program.operand("g", 0 if None in ndims.values() else 2)
        self.cts = _cotangents(program, trace.steps, out, operands, g)
        self.forward = [*program.lines[:count], f"z = {out.text}"]
        self.needs = [_needed(program.lines, ct.text) for ct in self.cts]
        # What several operands need is computed in front, and so is what was on the way forwards.
        self.shared = {
            i for i in set().union(*self.needs) if i < count or sum(i in n for n in self.needs) > 1
        }

    def add_in_place(self) -> None:
        """Sums of matrices that were computed before: all of these have the shape of the result."""
        for i, line in enumerate(self.forward[:-1]):
            found = re.fullmatch(r"(t\d+) = np_add\((t\d+), (\w+)\)", line)
            if found:
                self.forward[i] = f"{found[1]} = {found[2]}\n{found[1]} += {found[3]}"

    def lines(self, numbers: set[int]) -> str:
        return "\n".join(self.program.lines[i] for i in sorted(numbers))

    def reads(self, i: int, names: Sequence[str]) -> set[str]:
        """The operands that the cotangent of operand `i` is computed from."""
        words = re.findall(r"\w+", self.lines(self.needs[i]))
        return set(names) & set(words)


def composite(
    f: Callable[..., Any], node_name: str, ndims: dict[str, int | None], fits: str = ""
) -> Callable[[_F], _F]:
    """Give the decorated function a fast path that runs `f` on arrays, its first parameters.

    `ndims` are the names of these arrays in the source, other ones than the parameters', with their
    numbers of axes, or None if they have one shape. `fits` is
    a condition on the operands in the source. All other parameters have to have their defaults.
    """

    def decorate(general: Any) -> Any:
        names = list(ndims)
        owners = dict(zip(names, inspect.signature(general).parameters, strict=False))
        most = max(n or 0 for n in ndims.values())
        spread = [name for name, ndim in ndims.items() if (ndim or 0) < most]
        text = _Text(f, ndims)
        if None not in ndims.values():
            text.add_in_place()
        reads = [text.reads(i, names) for i in range(len(names))]
        saved = [k for k in names if any(k in found for found in reads)]
        unpack = [templates.UNPACK.format(name=k, is_ans=False).rstrip() for k in saved]
        source = templates.COMPOSITE.format(
            function=general.__name__,
            node=node_name,
            depth=1,
            **_head(general, owners, ndims, fits),
            forward=printed.at_depth("\n".join(text.forward), 2),
            save=printed.at_depth(_save(owners, reads), 1),
            unpack=printed.at_depth("\n".join(unpack), 1),
            rules=printed.at_depth(_rules(text, names, spread), 2),
            names=" = ".join(["n.saved", *(f"n.{k}" for k in saved)]),
        )
        node = printed.node_of(
            node_name,
            CompositeNode,
            None,
            f=staticmethod(_of_any_shape(f, ndims)),
            operands=tuple(names),
            reads=saved,
        )
        return printed.compiled(general, source, text.program.constants, node)

    return decorate


def _of_any_shape(f: Callable[..., Any], ndims: dict[str, int | None]) -> Callable[..., Any]:
    """What `f` computes of the operands as they come: it is written for ones with a single axis."""
    if None not in ndims.values():
        return f
    return lambda *xs: f(*[reshape(x, shape=(x.size,)) for x in xs])


def _head(
    general: Any, owners: dict[str, str], ndims: dict[str, int | None], fits: str
) -> dict[str, str]:
    """The parts of the source that deal with parameters; `owners` of the operands."""
    shown, arguments, unusual = [], [], []
    for k, p in inspect.signature(general).parameters.items():
        keyword = p.kind is p.KEYWORD_ONLY
        if keyword and "*" not in shown:
            shown.append("*")
        shown.append(k if p.default is p.empty else f"{k}={p.default!r}")
        arguments.append(f"{k}={k}" if keyword else k)
        if k not in owners.values():
            unusual.append(f"{k} is not None" if p.default is None else f"{k} != {p.default!r}")
    first, *others = owners
    unusual += [f"{k}.__class__ is not ndarray" for k in owners]
    unusual += [f"{k}.dtype is not dtype" for k in others]
    is_flat = None in ndims.values()
    if is_flat:
        unusual += [f"{k}.shape != {first}.shape" for k in others] + [f"not {first}.size"]
    else:
        unusual += [f"{k}.ndim != {n}" for k, n in ndims.items()]
    edges = [
        f"e{k} = {owner}._node if {owner}._view is None else edge({owner})"
        for k, owner in owners.items()
    ]
    return {
        "parameters": ", ".join(shown),
        "arguments": ", ".join(arguments),
        "arrays": "\n        ".join(f"{k} = {owner}._array" for k, owner in owners.items()),
        "first": first,
        "unusual": "\n        or ".join([*unusual, f"not ({fits})"] if fits else unusual),
        "length": f"\n    length = {first}.size" if is_flat else "",
        "edges": "\n    ".join(edges),
        "no_edges": " and ".join(f"e{k} is None" for k in owners),
        "all_edges": ", ".join(f"e{k}" for k in owners),
        "shapes": ", ".join(f"{k}.shape" for k in owners),
        "keep_length": "\n    n.length = length" if is_flat else "",
        "length_again": "\n    length = n.length" if is_flat else "",
    }


def _save(owners: dict[str, str], reads: Sequence[set[str]]) -> str:
    """Lines that save what the cotangents that are wanted read."""
    lines = []
    for name, owner in owners.items():
        readers = [k for k, found in zip(owners, reads, strict=True) if name in found]
        if not readers:
            continue
        wanted = " or ".join(f"e{k} is not None" for k in readers)
        value = name if len(readers) == len(owners) else f"{name} if {wanted} else None"
        lines += [
            f"n.{name} = {value}",
            f"n.{name}_counter = c = {owner}._counter",
            f"n.{name}_version = c[0]",
        ]
    return "\n".join(lines)


def _rules(text: _Text, names: Sequence[str], spread: Sequence[str]) -> str:
    """Lines that hand every operand its cotangent."""
    parts = [*printed.number_lines(text.program, "g.dtype"), text.lines(text.shared)]
    parts += ["summed = None"] * bool(spread)
    for i, (name, ct) in enumerate(zip(names, text.cts, strict=True)):
        own = text.lines(text.needs[i] - text.shared)
        product = re.fullmatch(r"(t\d+) = g\.T\n(t\d+) = dot\(\1, (\w+)\)", own)
        if product and product[2] == ct.text:
            body = templates.PASS_ON_PRODUCT.format(edge=f"e{name}", factor=product[3])
            parts.append(f"if e{name} is not None:\n" + body.rstrip())
            continue
        lines = [own, f"r = {ct.text}"]
        if name in spread:  # all over the same rows
            lines.append(f"if summed is None:\n    summed = sum_to(r, shapes[{i}])\nr = summed")
        # What later operands need as well is not written into.
        own_text = ct.text in {line.partition(" = ")[0] for line in own.split("\n")}
        is_new = len(spread) == 1 if name in spread else own_text
        passing = templates.PASS_ON_NEW if is_new else templates.PASS_ON
        lines.append(textwrap.dedent(passing).format(edge=f"e{name}").rstrip())
        body = printed.at_depth("\n".join(filter(None, lines)), 1)
        parts.append(f"if e{name} is not None:\n    {body}")
    return "\n".join(filter(None, parts))
