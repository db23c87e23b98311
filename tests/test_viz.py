"""Charts are well-formed SVG, keep every mark inside the plot and label their axes truthfully."""

import math
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad.viz import line_chart

SVG = "{http://www.w3.org/2000/svg}"
INF, NAN = math.inf, math.nan


def draw(
    *values: float, name: str = "s", title: str = "T", log_y: bool = False
) -> ElementTree.Element:
    text = line_chart({name: values}, title=title, x_label="X", y_label="Y", log_y=log_y)
    return ElementTree.fromstring(text)


def polylines(root: ElementTree.Element) -> list[list[tuple[float, float]]]:
    lines = [line.attrib["points"].split() for line in root.iter(f"{SVG}polyline")]
    return [[(float(x), float(y)) for x, y in (p.split(",") for p in line)] for line in lines]


def dots(root: ElementTree.Element) -> list[tuple[float, float]]:
    circles = root.iter(f"{SVG}circle")
    return [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in circles]


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def ticks(root: ElementTree.Element, anchor: str) -> list[tuple[float, float]]:
    """(position, labelled value) of an axis: y labels end at the axis, x labels centre on it."""
    key = "y" if anchor == "end" else "x"
    return [
        (float(element.attrib[key]), float(element.text or ""))
        for element in root.iter(f"{SVG}text")
        if element.attrib["text-anchor"] == anchor and element.attrib["fill"] == "#555555"
    ]


def test_one_line_with_one_vertex_per_value() -> None:
    (line,) = polylines(draw(3.0, 1.0, 2.0, 0.5))
    xs, ys = zip(*line, strict=True)
    assert len(line) == 4
    assert np.allclose(np.diff(xs, 2), 0, atol=0.2)
    assert ys[3] > ys[1] > ys[2] > ys[0]  # SVG counts y downwards


def test_labels_and_legend_are_there() -> None:
    root = draw(1, 2, name="loss", title="Fit")
    assert {"Fit", "X", "Y", "loss"} <= set(texts(root))
    assert root.findtext(f"{SVG}title") == "Fit"


def test_nothing_is_loaded_from_outside() -> None:
    text = line_chart({"s": [1, 2]}, title="T", x_label="X", y_label="Y")
    assert text.count("http") == 1  # the SVG name space
    assert "href" not in text
    assert "<script" not in text


def test_same_input_same_picture() -> None:
    first, second = (
        line_chart({"s": np.arange(5.0)}, title="T", x_label="X", y_label="Y") for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_value_that_cannot_be_drawn_breaks_the_line(bad: float) -> None:
    root = draw(1, 2, bad, 2, 1, bad, 3)
    assert [len(line) for line in polylines(root)] == [2, 2]
    assert len(dots(root)) == 1


def test_log_axis_leaves_out_what_is_not_positive() -> None:
    root = draw(1, 10, 0, 100, -5, 10, 1, log_y=True)
    assert [len(line) for line in polylines(root)] == [2, 2]
    assert len(dots(root)) == 1


def test_one_point_is_a_dot_at_its_value() -> None:
    root = draw(5.0)
    assert polylines(root) == []
    ((x, y),) = dots(root)
    assert [at for at, value in ticks(root, "middle") if value == 0] == [x]
    assert [at - 4 for at, value in ticks(root, "end") if value == 5.0] == [pytest.approx(y)]


@pytest.mark.parametrize("series", [{}, {"s": []}, {"s": [NAN, INF]}], ids=["none", "empty", "nan"])
@pytest.mark.parametrize("log_y", [False, True])
def test_nothing_to_draw_is_said(series: dict[str, list[float]], log_y: bool) -> None:
    text = line_chart(series, title="T", x_label="X", y_label="Y", log_y=log_y)
    assert "no values to draw" in texts(ElementTree.fromstring(text))


def test_text_is_escaped() -> None:
    name = """<b>&"it's"</b>"""
    assert name in texts(draw(1, 2, name=name))
    assert f"{name} \ufffd\ufffd" in texts(draw(1, 2, title=f"{name} \x00\ud800"))


def test_series_of_different_lengths_share_the_axes() -> None:
    text = line_chart({"a": [0, 4], "b": [0, 1, 2, 3, 4]}, title="", x_label="", y_label="")
    short, long = polylines(ElementTree.fromstring(text))
    assert short[0] == long[0]
    assert short[1] == (long[1][0], long[4][1])


def test_pens_differ_and_the_picture_grows_with_the_legend() -> None:
    series = {f"series {k}": [k, k + 1] for k in range(21)}
    text = line_chart(series, title="T", x_label="X", y_label="Y")
    root = ElementTree.fromstring(text)
    pens = {(p.get("stroke"), p.get("stroke-dasharray")) for p in root.iter(f"{SVG}polyline")}
    assert len(pens) == 21
    lowest = max(float(element.attrib["y"]) for element in root.iter(f"{SVG}text"))
    assert lowest < float(root.attrib["height"])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1], [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ([-3, 4], [-3, -2, -1, 0, 1, 2, 3, 4]),
        ([0, 2.5e8], [0, 0.5e8, 1e8, 1.5e8, 2e8, 2.5e8]),
        ([7, 7, 7], [6.4, 6.6, 6.8, 7.0, 7.2, 7.4, 7.6]),
    ],
)
def test_linear_ticks(values: list[float], expected: list[float]) -> None:
    assert [value for _, value in ticks(draw(*values), "end")] == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1e-3, 1e3], [1e-3, 1e-2, 1e-1, 1, 10, 100, 1000]),
        ([1, 90], [1, 2, 5, 10, 20, 50, 100]),
        ([1, 4], [1, 1.5, 2, 2.5, 3, 3.5, 4]),
        ([1e-12, 1], [1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1]),
    ],
)
def test_log_ticks(values: list[float], expected: list[float]) -> None:
    assert [value for _, value in ticks(draw(*values, log_y=True), "end")] == expected


def test_index_ticks_are_whole_numbers() -> None:
    assert [value for _, value in ticks(draw(1, 2, 3), "middle")] == [0, 1, 2]
    assert [value for _, value in ticks(draw(*range(101)), "middle")] == list(range(0, 101, 10))


@given(st.lists(st.floats(), max_size=30), st.booleans())
def test_any_floats_give_marks_inside_the_plot_and_ordered_ticks(
    values: list[float], log_y: bool
) -> None:
    root = draw(*values, log_y=log_y)
    marks = [point for line in polylines(root) for point in line] + dots(root)
    drawable = [v for v in values if abs(v) <= 1e300 and (not log_y or v >= 1e-300)]
    assert len(marks) == len(drawable)
    assert all(48 <= y <= 348 for _, y in marks)
    labelled = ticks(root, "end")
    assert 2 <= len(labelled) <= 12
    for (low_at, low), (high_at, high) in pairwise(labelled):
        assert low < high
        assert low_at > high_at
