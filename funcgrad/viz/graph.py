"""A jaxpr as a picture: a box per input and equation, an arrow per value."""

from __future__ import annotations

from typing import NamedTuple

from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from .svg import INK, LARGE, MUTED, SMALL, document, text_at, text_width

_BOX_HEIGHT, _ROW_HEIGHT, _GAP, _MARGIN, _TOP = 40, 84, 24, 24, 64
_FILLS = {"input": "#e8f1fa", "constant": "#f2f2f2", "equation": "#ffffff", "output": "#e5f4ec"}
_STROKES = {
    "input": "#0072b2",
    "constant": "#999999",
    "equation": "#555555",
    "output": "#009e73",
}
_LONGEST = 28  # letters of a label before it is cut


class _Node:
    """A box: its two lines of text, the boxes it reads, and where it is drawn."""

    def __init__(self, kind: str, label: str, note: str, reads: list[_Node]) -> None:
        self.kind = kind
        self.label = label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
        self.note = note
        self.reads = reads
        self.row: int = 1 + max((n.row for n in reads), default=-1)
        self.x = 0.0
        self.width = 20 + max(text_width(self.label, SMALL), text_width(note, SMALL))

    @property
    def y(self) -> float:
        return _TOP + _ROW_HEIGHT * self.row


class _Size(NamedTuple):
    width: int
    height: int


def jaxpr_graph(jaxpr: Jaxpr, *, title: str = "jaxpr") -> str:
    """The program as an SVG picture, inputs at the top; every box tells the type of its value.

    Raises: nothing of its own.

    >>> import funcgrad
    >>> picture = jaxpr_graph(funcgrad.make_jaxpr(lambda x: x * x + 1.0)(2.0))
    >>> picture.count("<rect")  # background, input, multiply, add, output
    5
    """
    nodes = _nodes(jaxpr)
    size = _place(nodes, title)
    arrows = [_arrow(source, node) for node in nodes for source in node.reads]
    boxes = [shape for node in nodes for shape in _box(node)]
    heading = text_at(title, size.width / 2, 30, size=LARGE, anchor="middle", weight="600")
    marker = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0,0L8,4L0,8z" fill="{MUTED}"/></marker></defs>'
    )
    group = f'<g fill="none" stroke="{MUTED}" marker-end="url(#tip)">'
    return document(
        title, (size.width, size.height), [marker, heading, group, *arrows, "</g>", *boxes]
    )


def _nodes(jaxpr: Jaxpr) -> list[_Node]:
    made: dict[Var, _Node] = {}
    nodes: list[_Node] = []

    def add(node: _Node) -> _Node:
        nodes.append(node)
        return node

    for kind, variables in (("constant", jaxpr.const_vars), ("input", jaxpr.in_vars)):
        for var in variables:
            made[var] = add(_Node(kind, kind, repr(var.aval), []))
    for eqn in jaxpr.eqns:
        reads = _unique([made[a] for a in eqn.inputs if isinstance(a, Var)])
        note = ", ".join(repr(v.aval) for v in eqn.outs)
        node = add(_Node("equation", _label(eqn), note, reads))
        made.update(dict.fromkeys(eqn.outs, node))
    for atom in jaxpr.outs:
        reads = [made[atom]] if isinstance(atom, Var) else []
        add(_Node("output", "output" if reads else _literal(atom), repr(atom.aval), reads))
    return nodes


def _unique(nodes: list[_Node]) -> list[_Node]:
    return list(dict.fromkeys(nodes))


def _label(eqn: Eqn) -> str:
    numbers = [_literal(a) for a in eqn.inputs if isinstance(a, Literal)]
    return " ".join([eqn.prim.name, *numbers])


def _literal(atom: Atom) -> str:
    return f"{atom.value:.4g}" if isinstance(atom, Literal) else ""


def _place(nodes: list[_Node], title: str) -> _Size:
    """Give every box its x: rows in the order of what they read, each row centred."""
    rows: dict[int, list[_Node]] = {}
    for node in nodes:
        rows.setdefault(node.row, []).append(node)
    widths = {r: sum(n.width for n in row) + _GAP * (len(row) - 1) for r, row in rows.items()}
    width = max([*widths.values(), text_width(title, LARGE)], default=0.0) + 2 * _MARGIN
    for r in sorted(rows):
        row = rows[r]
        row.sort(key=_centre_of_reads)
        x = (width - widths[r]) / 2
        for node in row:
            node.x = x
            x += node.width + _GAP
    height = _TOP + _ROW_HEIGHT * (max(rows, default=0) + 1)
    return _Size(round(width), height)


def _centre_of_reads(node: _Node) -> float:
    centres = [n.x + n.width / 2 for n in node.reads]
    return sum(centres) / len(centres) if centres else 0.0


def _arrow(source: _Node, target: _Node) -> str:
    x1, y1 = source.x + source.width / 2, source.y + _BOX_HEIGHT
    x2, y2 = target.x + target.width / 2, target.y
    bend = (y2 - y1) / 2
    return (
        f'<path d="M{x1:.1f},{y1:.1f}C{x1:.1f},{y1 + bend:.1f} {x2:.1f},{y2 - bend:.1f} '
        f'{x2:.1f},{y2:.1f}"/>'
    )


def _box(node: _Node) -> list[str]:
    middle = node.x + node.width / 2
    return [
        f'<rect x="{node.x:.1f}" y="{node.y}" width="{node.width:.1f}" height="{_BOX_HEIGHT}" '
        f'rx="5" fill="{_FILLS[node.kind]}" stroke="{_STROKES[node.kind]}"/>',
        text_at(node.label, middle, node.y + 17, anchor="middle", colour=INK, weight="600"),
        text_at(node.note, middle, node.y + 33, anchor="middle", colour=MUTED),
    ]
