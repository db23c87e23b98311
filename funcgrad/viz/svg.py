"""The pieces of SVG that every picture is made of."""

import html
import re

INK, MUTED = "#222222", "#555555"
FONT = "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\""
SMALL, LARGE = 12, 16

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<path d="M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}" stroke="{colour}"/>'


def text_at(
    text: str,
    x: float,
    y: float,
    *,
    size: int = SMALL,
    anchor: str = "start",
    colour: str = INK,
    weight: str = "400",
    turn: int = 0,
) -> str:
    rotation = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="{colour}"{rotation}>{xml(text)}</text>'
    )


def xml(text: str) -> str:
    """Text as XML content; characters that XML does not know become U+FFFD."""
    return html.escape(_NOT_XML.sub("\ufffd", text), quote=False)


def text_width(text: str, size: int) -> float:
    """A generous guess, as the reader's font is not known here."""
    return 0.62 * size * len(text)


def document(title: str, size: tuple[int, int], body: list[str]) -> str:
    width, height = size
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" {FONT}>'
    )
    background = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{xml(title)}</title>", background, *body, "</svg>", ""])
