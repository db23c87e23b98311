"""A jaxpr as a picture: a box per input and equation, an arrow per value."""

from __future__ import annotations

from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from .boxes import Box, Drawing, Style

_STYLES = {
    "input": Style("#e8f1fa", "#0072b2"),
    "constant": Style("#f2f2f2", "#999999"),
    "equation": Style("#ffffff", "#555555"),
    "output": Style("#e5f4ec", "#009e73"),
}


def jaxpr_graph(jaxpr: Jaxpr, *, title: str = "jaxpr") -> str:
    """The program as an SVG picture, inputs at the top; every box tells the type of its value.

    Raises: nothing of its own.

    >>> import funcgrad
    >>> picture = jaxpr_graph(funcgrad.make_jaxpr(lambda x: x * x + 1.0)(2.0))
    >>> picture.count("<rect")  # background, input, multiply, add, output
    5
    """
    return draw_jaxpr(jaxpr, title=title).svg


def draw_jaxpr(jaxpr: Jaxpr, *, title: str = "jaxpr") -> Drawing:
    """The program as a `Drawing`: a notebook shows it, `save` writes DOT, SVG or HTML.

    Raises: nothing of its own.

    >>> import funcgrad
    >>> drawing = draw_jaxpr(funcgrad.make_jaxpr(lambda x: x * x)(2.0), title="square")
    >>> drawing
    <Drawing 'square': 3 boxes>
    >>> print(*drawing.source.splitlines()[-3:], sep="\\n")
      n0 -> n1;
      n1 -> n2;
    }
    """
    return Drawing(_boxes(jaxpr), _STYLES, title)


def _boxes(jaxpr: Jaxpr) -> list[Box]:
    made: dict[Var, Box] = {}
    boxes: list[Box] = []

    def add(kind: str, label: str, note: str, reads: list[Box]) -> Box:
        boxes.append(Box(kind, [label, note], reads))
        return boxes[-1]

    for kind, variables in (("constant", jaxpr.const_vars), ("input", jaxpr.in_vars)):
        for var in variables:
            made[var] = add(kind, kind, repr(var.aval), [])
    for eqn in jaxpr.eqns:
        reads = [made[a] for a in eqn.inputs if isinstance(a, Var)]
        note = ", ".join(repr(v.aval) for v in eqn.outs)
        made.update(dict.fromkeys(eqn.outs, add("equation", _label(eqn), note, reads)))
    for atom in jaxpr.outs:
        reads = [made[atom]] if isinstance(atom, Var) else []
        add("output", "output" if reads else _literal(atom), repr(atom.aval), reads)
    return boxes


def _label(eqn: Eqn) -> str:
    numbers = [_literal(a) for a in eqn.inputs if isinstance(a, Literal)]
    return " ".join([eqn.prim.name, *numbers])


def _literal(atom: Atom) -> str:
    return f"{atom.value:.4g}" if isinstance(atom, Literal) else ""
