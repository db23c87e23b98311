"""Line charts as SVG text, drawn without any plotting library."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .svg import LARGE, MUTED, SMALL, document, line, text_at, text_width

__all__ = ["line_chart"]

# Okabe and Ito's palette, which stays apart for colour-blind readers; its yellow is left out
# because it is hard to see on white. Series beyond the palette repeat the colours with dashes.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#333333")
_DASHES = ("", "7 3", "2 3")

_GRID = "#e3e3e3"

_PLOT_WIDTH, _PLOT_HEIGHT = 560, 300
_TOP, _BOTTOM, _MARGIN = 48, 56, 16
_LEGEND_ROW = 20

# Values outside these bounds count as missing: sums and differences of the rest stay finite.
_HUGE, _TINY = 1e300, 1e-300

_Points = list[tuple[float, float]]


class _Tick(NamedTuple):
    at: float
    label: str


class _Axis(NamedTuple):
    low: float
    high: float
    ticks: list[_Tick]

    def fraction(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)


class _Box(NamedTuple):
    """The plot area in the picture's own units, y downwards."""

    left: float
    top: float
    x: _Axis
    y: _Axis

    def place(self, x: float, y: float) -> tuple[float, float]:
        return (
            self.left + _PLOT_WIDTH * self.x.fraction(x),
            self.top + _PLOT_HEIGHT * (1 - self.y.fraction(y)),
        )


def line_chart(
    series: Mapping[str, Iterable[float]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    log_y: bool = False,
) -> str:
    """Draw each series against its index (0, 1, 2, ...) and return the picture as SVG text.

    A line breaks at values that cannot be drawn: NaN, infinities and, with `log_y`, everything
    that is not positive. A point with no drawable neighbour becomes a dot.

    Shapes: each series is one-dimensional, of any length; lengths may differ.
    Dtypes: anything `float` accepts.
    Source: own drawing code; colours from M. Okabe and K. Ito, "Color Universal Design", 2008.

    >>> svg = line_chart({"loss": [3.0, 1.5, 0.9]}, title="Fit", x_label="step", y_label="loss")
    >>> svg.startswith("<svg "), svg.count("<polyline "), svg.endswith("</svg>\\n")
    (True, 1, True)
    """
    heights = {name: _drawable(values, log_y) for name, values in series.items()}
    x_axis = _index_axis(max(map(len, heights.values()), default=0))
    y_axis = _value_axis([y for ys in heights.values() for y in ys if y is not None], log_y)
    label_width = max(text_width(tick.label, SMALL) for tick in y_axis.ticks)
    box = _Box(_MARGIN + 1.8 * SMALL + label_width + 8, _TOP, x_axis, y_axis)
    body = [
        text_at(title, box.left, 28, size=LARGE, weight="600"),
        *_frame(box, x_label, y_label),
        *_curves(box, heights),
        *_legend(box, list(heights)),
    ]
    return document(title, _size(box, title, list(heights)), body)


def _drawable(values: Iterable[float], log_y: bool) -> list[float | None]:
    """Heights in axis units (log10 of the value with `log_y`); None where there is nothing."""

    def height(value: float) -> float | None:
        if not abs(value) <= _HUGE or (log_y and value < _TINY):
            return None
        return math.log10(value) if log_y else value

    return [height(float(value)) for value in values]


def _runs(heights: list[float | None]) -> list[_Points]:
    """The unbroken stretches of a series, as (index, height) pairs."""
    runs: list[_Points] = [[]]
    for index, height in enumerate(heights):
        if height is not None:
            runs[-1].append((index, height))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _index_axis(length: int) -> _Axis:
    """The axis of the indices 0 to length - 1, with ticks at whole numbers only."""
    if length <= 1:
        return _Axis(-0.5, 0.5, [_Tick(0, "0")])
    return _Axis(0, length - 1, _linear_ticks(0, length - 1, count=10, least_step=1))


def _value_axis(heights: list[float], log_y: bool) -> _Axis:
    """An axis a little wider than the data; one that starts at or above zero stays there."""
    low, high = (min(heights), max(heights)) if heights else (0.0, 1.0)
    if high - low < max(1e-9 * max(abs(low), abs(high)), _TINY):
        # Flat data: there is no spread to show, so make room around the one height.
        room = 0.1 * abs(low) if abs(low) > 1e-290 and not log_y else 0.5
        low, high = low - room, high + room
    else:
        pad = 0.04 * (high - low)
        floor = 0.0 if low >= 0 and not log_y else -math.inf
        low, high = max(low - pad, floor), high + pad
    return _Axis(low, high, _log_ticks(low, high) if log_y else _linear_ticks(low, high))


def _linear_ticks(
    low: float, high: float, *, count: int = 8, least_step: float = 0.0
) -> list[_Tick]:
    """About `count` ticks at multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((m * power for m in (1, 2, 5) if m * power >= rough * 0.999), 10 * power)
    step = max(step, least_step)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = [k * step for k in range(first, last + 1)]
    return [_Tick(value, label) for value, label in zip(values, _labels(values, step), strict=True)]


def _labels(values: list[float], step: float) -> list[str]:
    """Every tick of an axis with the same digits, just enough to tell the ticks apart."""
    biggest = max(map(abs, values))
    step_power = math.floor(math.log10(step) + 1e-9)
    if biggest < 1e6 and step_power >= -5:
        return [f"{value:.{max(0, -step_power)}f}" for value in values]
    digits = math.floor(math.log10(biggest) + 1e-9) - step_power
    return [_short_power(f"{value:.{digits}e}") if value else "0" for value in values]


def _short_power(number: str) -> str:
    """1.5e+06 as 1.5e6."""
    mantissa, power = number.split("e")
    return f"{mantissa}e{int(power)}"


def _log_ticks(low: float, high: float) -> list[_Tick]:
    """Ticks of a logarithmic axis, whose bounds and positions are log10 of the values."""
    if high - low < 1:
        return [
            _Tick(math.log10(value), label)
            for value, label in _linear_ticks(10**low, 10**high)
            if value > 0
        ]
    stride = math.ceil((high - low) / 8)
    mantissas = (1, 2, 5) if high - low <= 2.5 else (1,)
    return [
        _Tick(at, _decade_label(mantissa, power))
        for power in range(math.floor(low), math.floor(high) + 1)
        for mantissa in mantissas
        if power % stride == 0 and low <= (at := power + math.log10(mantissa)) <= high
    ]


def _decade_label(mantissa: int, power: int) -> str:
    if -4 <= power <= 4:
        return f"{mantissa * 10.0**power:.{max(0, -power)}f}"
    return f"{mantissa}e{power}"


def _frame(box: _Box, x_label: str, y_label: str) -> list[str]:
    """Grid lines, the two axes, tick labels and axis labels."""
    right, bottom = box.left + _PLOT_WIDTH, box.top + _PLOT_HEIGHT
    parts = []
    for tick in box.y.ticks:
        _, y = box.place(box.x.low, tick.at)
        parts += [
            line(box.left, y, right, y, _GRID),
            text_at(tick.label, box.left - 8, y + 4, anchor="end", colour=MUTED),
        ]
    for tick in box.x.ticks:
        x, _ = box.place(tick.at, box.y.low)
        parts += [
            line(x, bottom, x, bottom + 5, MUTED),
            text_at(tick.label, x, bottom + 19, anchor="middle", colour=MUTED),
        ]
    middle_x, middle_y = box.left + _PLOT_WIDTH / 2, box.top + _PLOT_HEIGHT / 2
    name_x = _MARGIN + SMALL
    return [
        *parts,
        line(box.left, bottom, right, bottom, MUTED),
        line(box.left, box.top, box.left, bottom, MUTED),
        text_at(x_label, middle_x, bottom + 42, anchor="middle"),
        text_at(y_label, name_x, middle_y, anchor="middle", turn=-90),
    ]


def _curves(box: _Box, heights: Mapping[str, list[float | None]]) -> list[str]:
    """A line for each unbroken stretch, a dot for a stretch of one point."""
    parts = []
    for number, series in enumerate(heights.values()):
        for run in _runs(series):
            points = [box.place(*point) for point in run]
            if len(points) == 1:
                (x, y), colour = points[0], _COLOURS[number % len(_COLOURS)]
                parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')
            else:
                places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
                parts.append(f'<polyline points="{places}" {_pen(number)}/>')
    if not parts:
        x, y = box.left + _PLOT_WIDTH / 2, box.top + _PLOT_HEIGHT / 2
        parts.append(text_at("no values to draw", x, y, anchor="middle", colour=MUTED))
    return parts


def _legend(box: _Box, names: list[str]) -> list[str]:
    """The names right of the plot, each beside a piece of its line."""
    parts = []
    for number, name in enumerate(names):
        x, y = box.left + _PLOT_WIDTH + 18, box.top + 10 + _LEGEND_ROW * number
        parts += [
            f'<path d="M{x:.1f},{y:.1f}h22" {_pen(number)}/>',
            text_at(name, x + 30, y + 4),
        ]
    return parts


def _pen(number: int) -> str:
    """The stroke of one series, the same on its line and in the legend."""
    dash = _DASHES[number // len(_COLOURS) % len(_DASHES)]
    pattern = f' stroke-dasharray="{dash}"' if dash else ""
    colour = _COLOURS[number % len(_COLOURS)]
    return f'fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"{pattern}'


def _size(box: _Box, title: str, names: list[str]) -> tuple[int, int]:
    """Width and height that hold the plot, the title and the whole legend."""
    names_width = max((48 + text_width(name, SMALL) for name in names), default=0)
    title_width = text_width(title, LARGE)
    width = box.left + max(_PLOT_WIDTH + names_width, title_width) + _MARGIN
    height = _TOP + max(_PLOT_HEIGHT + _BOTTOM, _LEGEND_ROW * len(names) + _MARGIN)
    return math.ceil(width), height
