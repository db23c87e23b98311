"""Boxes and arrows: one layered layout, as SVG, as DOT and as an HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from .svg import INK, LARGE, MUTED, SMALL, document, text_at, text_width, xml

_ROW_GAP, _GAP, _MARGIN, _TOP, _LINE = 44, 24, 24, 64, 16
_LONGEST = 48  # letters of a line before it is cut


class Style(NamedTuple):
    """The colours of one kind of box."""

    fill: str
    stroke: str


class Box:
    """A box: its lines of text, the boxes that it reads, and where it is drawn.

    `floats`: it is drawn just above the first box that reads it, not as high as it can be.
    """

    def __init__(
        self, kind: str, lines: Sequence[str], reads: Sequence[Box] = (), *, floats: bool = False
    ) -> None:
        self.kind = kind
        self.text = "\n".join(lines)
        self.lines = [_cut(line) for line in lines]
        self.reads = list(dict.fromkeys(reads))
        self.floats = floats
        self.row: int = 1 + max((b.row for b in reads), default=-1)
        self.x = self.y = 0.0
        self.width = 20 + max((text_width(line, SMALL) for line in self.lines), default=0.0)
        self.height = 8 + _LINE * len(self.lines)

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


class Drawing:
    """A graph that is drawn here, without Graphviz; notebooks show it.

    `source` is the graph in the DOT language, `svg` the picture, `html` a page with the picture.
    `boxes` are in an order in which each comes after those that it reads.
    """

    def __init__(self, boxes: Sequence[Box], styles: Mapping[str, Style], title: str) -> None:
        self.boxes = list(boxes)
        self.styles = styles
        self.title = title

    @property
    def source(self) -> str:
        """The graph in the DOT language."""
        number = {box: i for i, box in enumerate(self.boxes)}
        lines = [f"digraph {_quoted(self.title)} {{", '  node [shape=box, style="filled,rounded"];']
        for box, i in number.items():
            fill, stroke = self.styles[box.kind]
            look = f'fillcolor="{fill}", color="{stroke}"'
            lines.append(f"  n{i} [label={_quoted(box.text)}, {look}];")
        lines += [f"  n{number[a]} -> n{i};" for box, i in number.items() for a in box.reads]
        return "\n".join([*lines, "}", ""])

    @property
    def svg(self) -> str:
        """The picture, with the whole text of a box as its tooltip."""
        width, height = _place(self.boxes, self.title)
        arrows = [_arrow(source, box) for box in self.boxes for source in box.reads]
        shapes = [shape for box in self.boxes for shape in _shapes(box, self.styles[box.kind])]
        heading = text_at(self.title, width / 2, 30, size=LARGE, anchor="middle", weight="600")
        marker = (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto">'
            f'<path d="M0,0L8,4L0,8z" fill="{MUTED}"/></marker></defs>'
        )
        group = f'<g fill="none" stroke="{MUTED}" marker-end="url(#tip)">'
        body = [marker, heading, group, *arrows, "</g>", *shapes]
        return document(self.title, (width, height), body)

    @property
    def html(self) -> str:
        """A page of its own that shows the picture."""
        head = f'<meta charset="utf-8"><title>{xml(self.title)}</title>'
        return f"<!DOCTYPE html>\n<html><head>{head}</head>\n<body>{self.svg}</body></html>\n"

    def save(self, path: str | PathLike[str]) -> Path:
        """Write a file: the suffix is ``.dot``, ``.svg`` or ``.html``. Returns its path.

        Raises: ValueError: another suffix.
        """
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in (".dot", ".svg", ".html"):
            raise ValueError(f"cannot save as {suffix!r}: the suffix must be .dot, .svg or .html")
        text = self.source if suffix == ".dot" else self.svg if suffix == ".svg" else self.html
        target.write_text(text, encoding="utf-8")
        return target

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="overflow: auto">{self.svg}</div>'

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title!r}: {len(self.boxes)} boxes>"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _quoted(text: str) -> str:
    """A string of the DOT language, in which labels know backslashes and HTML's entities."""
    clean = xml(text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + clean.replace("\r", "").replace("\n", "\\n") + '"'


def _place(boxes: list[Box], title: str) -> tuple[int, int]:
    """Give every box its place; the width and the height of the whole."""
    _lower(boxes)
    rows: dict[int, list[Box]] = {}
    for box in boxes:
        rows.setdefault(box.row, []).append(box)
    widths = {r: sum(b.width for b in row) + _GAP * (len(row) - 1) for r, row in rows.items()}
    width = max([*widths.values(), text_width(title, LARGE)]) + 2 * _MARGIN
    y = float(_TOP)
    for r in sorted(rows):
        row = sorted(rows[r], key=_wanted_middle)
        x = (width - widths[r]) / 2
        for box in row:
            box.x, box.y = x, y
            x += box.width + _GAP
        y += max(box.height for box in row) + _ROW_GAP
    return round(width), round(y)


def _lower(boxes: list[Box]) -> None:
    """Let boxes that float sink to just above their first reader."""
    first: dict[Box, int] = {}
    for box in boxes:
        for source in box.reads:
            first[source] = min(first.get(source, box.row), box.row)
    for box in boxes:
        if box.floats and box in first:
            box.row = first[box] - 1


def _wanted_middle(box: Box) -> float:
    """The middle of what a box reads, which is placed already."""
    return sum(b.middle for b in box.reads) / len(box.reads) if box.reads else 0.0


def _arrow(source: Box, target: Box) -> str:
    x1, y1 = source.middle, source.y + source.height
    x2, y2 = target.middle, target.y
    bend = (y2 - y1) / 2
    return (
        f'<path d="M{x1:.1f},{y1:.1f}C{x1:.1f},{y1 + bend:.1f} {x2:.1f},{y2 - bend:.1f} '
        f'{x2:.1f},{y2:.1f}"/>'
    )


def _shapes(box: Box, style: Style) -> list[str]:
    texts = [
        text_at(
            line,
            box.middle,
            box.y + 17 + _LINE * i,
            anchor="middle",
            colour=MUTED if i else INK,
            weight="400" if i else "600",
        )
        for i, line in enumerate(box.lines)
    ]
    return [
        f'<g class="{box.kind}"><title>{xml(box.text)}</title>',
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height}" '
        f'rx="5" fill="{style.fill}" stroke="{style.stroke}"/>',
        *texts,
        "</g>",
    ]
