"""Graphs as pictures and tables: they show the graph as it is, and leave no trace on it."""

from __future__ import annotations

import html
import re
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat as torch
import funcgrad
from compat.viz import Table, backward_table, make_dot, summary
from funcgrad.viz import Box, Drawing, Style, draw_jaxpr, jaxpr_graph

SVG = "{http://www.w3.org/2000/svg}"


class Triple(torch.autograd.Function):
    """A node of a user's, which saves its operand."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 3


STEPS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x * y,
    lambda x, y: x.sin(),
    lambda x, y: x.exp() + 1,
    lambda x, y: x[None].expand(2, 3).sum(0),
    lambda x, y: torch.stack([x, y]).unbind(0)[1],  # a node with ports
    lambda x, y: torch.sort(x).values * y.detach(),
    lambda x, y: Triple.apply(x),
    lambda x, y: torch.where(x > 0, x, y),
    lambda x, y: x.clone().mul_(y),
]
programs = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(0, 30), st.integers(0, 30)), max_size=12
)


def leaves() -> list[Any]:
    return [torch.tensor([0.3, -0.7, 1.1 + i], requires_grad=True) for i in range(3)]


def run(program: list[Any], given: list[Any]) -> Any:
    """The sum of what the steps of a program make of leaves."""
    values = list(given)
    for step, i, j in program:
        values.append(step(values[i % len(values)], values[j % len(values)]))
    return sum(v.sum() for v in values)


def nodes_of(x: Any) -> list[Any]:
    found, stack = {x.grad_fn: None}, [x.grad_fn]
    while stack:
        for node, _ in stack.pop().next_functions:
            if node is not None and node not in found:
                found[node] = None
                stack.append(node)
    return list(found)


# ---------------------------------------------------------------- what a DOT text says


class Graph(NamedTuple):
    """Labels and edges, as read from DOT."""

    labels: list[str]
    edges: list[tuple[int, int]]


NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
STRING = r'"((?:[^"\\]|\\.)*)"'
NODE = re.compile(rf"  n(\d+) \[label={STRING}, fillcolor=\"#\w+\", color=\"#\w+\"\];")
ARROW = re.compile(r"  n(\d+) -> n(\d+);")


def unquoted(text: str) -> str:
    plain = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)
    return html.unescape(plain)


def parsed(source: str) -> Graph:
    """A strict reader: every line must be one that is known."""
    head, look, *body, end, last = source.split("\n")
    assert re.fullmatch(rf"digraph {STRING} {{", head)
    assert look == '  node [shape=box, style="filled,rounded"];'
    assert (end, last) == ("}", "")
    graph = Graph([], [])
    for line in body:
        if m := NODE.fullmatch(line):
            assert int(m[1]) == len(graph.labels)
            graph.labels.append(unquoted(m[2]))
        else:
            m = ARROW.fullmatch(line)
            assert m is not None, line
            graph.edges.append((int(m[1]), int(m[2])))
    return graph


def fingerprints(labels: dict[Any, str], reads: dict[Any, list[Any]]) -> tuple[Any, Any]:
    """Counts of nodes and edges, each known by its label and all that lies behind it.

    `labels` is in an order in which each node comes after those that it reads.
    """
    keys: dict[Any, int] = {}
    for node, label in labels.items():
        keys[node] = hash((label, tuple(sorted(keys[other] for other in reads[node]))))
    edges = Counter((keys[a], keys[b]) for b in labels for a in reads[b])
    return Counter(keys.values()), edges


def fingerprint_of(graph: Graph) -> tuple[Any, Any]:
    labels = dict(enumerate(graph.labels))
    reads: dict[Any, list[int]] = {i: [] for i in labels}
    for a, b in graph.edges:
        assert a < b
        reads[b].append(a)
    return fingerprints(labels, reads)


def expected_of(loss: Any) -> tuple[Any, Any]:
    """The same of a tensor's graph, by `next_functions`."""
    labels: dict[Any, str] = {}
    reads: dict[Any, list[Any]] = {}

    def visit(node: Any) -> None:
        if node in labels:
            return
        reads[node] = list(dict.fromkeys(n for n, _ in node.next_functions if n is not None))
        for other in reads[node]:
            visit(other)
        is_leaf = node.name() == "AccumulateGrad"
        labels[node] = f"leaf\n{tuple(node.variable.shape)}" if is_leaf else node.name()

    visit(loss.grad_fn)
    labels["out"] = "output\n() float32"
    reads["out"] = [loss.grad_fn]
    return fingerprints(labels, reads)


# ---------------------------------------------------------------- pictures


@given(programs)
def test_boxes_are_the_nodes_and_arrows_the_next_functions(program: list[Any]) -> None:
    loss = run(program, leaves())
    assert fingerprint_of(parsed(make_dot(loss).source)) == expected_of(loss)


@given(programs, st.booleans(), st.booleans())
def test_the_picture_is_well_formed_and_has_every_box_once(
    program: list[Any], attrs: bool, saved: bool
) -> None:
    drawing = make_dot(run(program, leaves()), show_attrs=attrs, show_saved=saved)
    graph = parsed(drawing.source)
    root = ElementTree.fromstring(drawing.svg)
    groups = [g for g in root.iter(f"{SVG}g") if g.get("class")]
    assert [g.findtext(f"{SVG}title") for g in groups] == graph.labels
    (arrows,) = [g for g in root.iter(f"{SVG}g") if g.get("marker-end")]
    assert len(arrows) == len(graph.edges)
    places = [g.find(f"{SVG}rect").attrib for g in groups]  # type: ignore[union-attr]
    rects = [[float(p[k]) for k in ("x", "y", "width", "height")] for p in places]
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert all(x >= 0 and x + w <= width and y + h <= height for x, y, w, h in rects)
    for a, b in graph.edges:  # arrows go down
        assert rects[a][1] + rects[a][3] < rects[b][1]
    rects.sort(key=lambda r: (r[1], r[0]))
    for one, two in pairwise(rects):  # side by side or in another row
        assert one[0] + one[2] < two[0] + 0.2 or one[1] + one[3] < two[1]


@given(st.text(st.characters(exclude_characters="\r"), max_size=20))
def test_names_are_escaped_everywhere(name: str) -> None:
    x = torch.ones(2, requires_grad=True)
    drawing = make_dot(x * 2, {name: x})
    clean = NOT_XML.sub("\ufffd", name)
    assert parsed(drawing.source).labels[0] == f"{clean}\n(2,)"
    for text in (drawing.svg, drawing._repr_html_(), drawing.html.partition("<body>")[2][:-16]):
        titles = [e.text for e in ElementTree.fromstring(text).iter(f"{SVG}title")]
        assert titles[1] == f"{clean}\n(2,)"


def test_a_title_is_escaped() -> None:
    title = 'a "quoted" <b>\\N & &amp;'
    drawing = Drawing([Box("k", ["x"])], {"k": Style("#ffffff", "#000000")}, title)
    (quoted,) = re.fullmatch(rf"digraph {STRING} {{", drawing.source.split("\n")[0]).groups()  # type: ignore[union-attr]
    assert unquoted(quoted) == title
    assert ElementTree.fromstring(drawing.svg).findtext(f"{SVG}title") == title
    assert "<b>" not in drawing.html


def test_names_attributes_saved_values_and_several_outputs() -> None:
    w, x = torch.ones(2, requires_grad=True), torch.ones(2)
    y = (w * x).sum(0)
    plain = {"w\n(2,)", "MulBackward0", "SumBackward1", "output\n() float32"}
    assert set(parsed(make_dot(y, {"w": w}).source).labels) == plain
    labels = parsed(make_dot(y, {"w": w}, show_attrs=True, show_saved=True).source).labels
    assert set(labels) - plain == {"SumBackward1\naxis: (0,)", "input 1\n(2,)"}
    several = parsed(make_dot({"a": y, "b": [w, x]}).source)
    assert Counter(several.labels)["output\n(2,) float32"] == 2
    assert several.labels.count("leaf\n(2,)") == 1
    with pytest.raises(TypeError, match="make_dot needs a tensor"):
        make_dot(3)


def test_packed_and_freed_values() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), torch.from_numpy):
        y = x.exp()
    assert "result\n(2,) packed" in parsed(make_dot(y, show_saved=True).source).labels
    y = x.exp()
    y.sum().backward()
    assert len(parsed(make_dot(y, show_saved=True).source).labels) == 3


def test_files_have_the_format_of_their_suffix(tmp_path: Path) -> None:
    drawing = make_dot(torch.ones(2, requires_grad=True) * 2)
    texts = {".dot": drawing.source, ".svg": drawing.svg, ".html": drawing.html}
    for suffix, text in texts.items():
        assert drawing.save(tmp_path / f"g{suffix}").read_text(encoding="utf-8") == text
    assert drawing.html.startswith("<!DOCTYPE html>")
    with pytest.raises(ValueError, match=r"must be \.dot, \.svg or \.html"):
        drawing.save(tmp_path / "g.png")


@pytest.mark.parametrize("wide", [False, True])
def test_large_graphs_are_drawn_soon(wide: bool) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(1000):
        y = (y + x.sin()) if wide else y.sin()
    begun = time.perf_counter()
    drawing = make_dot(y, show_saved=True)
    assert len(drawing.svg) > len(drawing.source) > 10_000
    assert time.perf_counter() - begun < 5


def test_a_jaxpr_has_the_same_forms() -> None:
    jaxpr = funcgrad.make_jaxpr(lambda x, y: (x * y + x, y))(2.0, 3.0)
    drawing = draw_jaxpr(jaxpr, title="f")
    assert drawing.svg == jaxpr_graph(jaxpr, title="f")
    graph = parsed(drawing.source)
    assert len(graph.labels) == len(jaxpr.in_vars) + len(jaxpr.eqns) + len(jaxpr.outs)
    assert graph.edges == [(0, 2), (1, 2), (2, 3), (0, 3), (3, 4), (1, 5)]


# ---------------------------------------------------------------- a backward pass


def steps_of(loss: Any, given: list[Any]) -> list[tuple[str, Any, Any]]:
    """What a real backward pass does, as hooks see it."""
    seen: list[tuple[str, Any, Any]] = []

    def shapes(grads: Any) -> tuple[Any, ...]:
        return tuple(None if g is None else tuple(g.shape) for g in grads)

    def watch(node: Any) -> None:
        node.register_hook(lambda out, came: seen.append((node.name(), shapes(came), shapes(out))))

    for node in nodes_of(loss):
        if node.name() != "AccumulateGrad":
            watch(node)
    for x in given:
        x.register_hook(lambda g: seen.append(("AccumulateGrad", shapes((g,)), ())))
    loss.backward()
    return seen


@given(programs)
def test_the_rows_are_what_the_engine_does_in_its_order(program: list[Any]) -> None:
    given = leaves()
    loss = run(program, given)
    table = backward_table(loss)
    rows = [(row.node, row.incoming, row.outgoing) for row in table.rows]
    assert rows == steps_of(loss, given)
    assert [row.step for row in table.rows] == list(range(len(rows)))
    assert all((row.seconds is None) == (row.node == "AccumulateGrad") for row in table.rows)
    assert len(str(table).splitlines()) == len(rows) + 4


def state(loss: Any, given: list[Any], kept: list[Any]) -> list[Any]:
    nodes = nodes_of(loss)
    hooks = [n.extras and (len(n.extras.hooks), len(n.extras.tensor_hooks)) for n in nodes]
    grads = [(id(x.grad), x.grad is not None and x.grad.tolist()) for x in [*given, *kept]]
    places = [(id(x._node), x._version, x.tolist()) for x in [*given, *kept]]
    return [nodes, hooks, [n.ct for n in nodes], [id(n.saved) for n in nodes], grads, places]


@given(programs)
def test_nothing_is_left_behind(program: list[Any]) -> None:
    given, expected = leaves(), leaves()
    loss = run(program, given)
    kept = [given[0] * 2]
    kept[0].retain_grad()
    kept[0].register_hook(lambda g: None)
    loss = loss + kept[0].sum()
    given[1].grad = torch.ones(3)
    before = state(loss, given, kept)
    make_dot(loss, {"w": given[0]}, show_attrs=True, show_saved=True)
    backward_table(loss)
    assert state(loss, given, kept) == before
    loss.backward()
    (run(program, expected) + (expected[0] * 2).sum()).backward()
    expected[1].grad += 1
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(given, expected, strict=True))


def test_hooks_that_raise_leave_nothing_behind() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()

    def stop(grad: Any) -> None:
        raise KeyError("stop")

    handle = y.register_hook(stop)
    loss = y.sum()
    before = state(loss, [x], [])
    with pytest.raises(KeyError):
        backward_table(loss)
    assert state(loss, [x], []) == before
    handle.remove()
    loss.backward()
    assert x.grad is not None


def test_other_hooks_take_no_time_of_a_step() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.grad_fn.register_hook(lambda out, came: time.sleep(0.3))
    y.grad_fn.register_prehook(lambda came: time.sleep(0.3))
    (seconds,) = [row.seconds for row in backward_table(y.sum()).rows if "Exp" in row.node]
    assert 0 < seconds < 0.3


def test_a_row_names_the_users_line_and_a_gradient_can_be_given() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()  # this line
    (first, last) = backward_table(y, torch.ones(2)).rows
    assert first.line.endswith("y = x.exp()  # this line") and "test_graph_viz.py:" in first.line
    assert (first.saved_bytes, last.saved_bytes) == (8, 0)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        backward_table(y)


# ---------------------------------------------------------------- modules


class Rude(torch.nn.Module):
    """A module that changes all that it can reach; `fails`: then it raises."""

    count: Any

    def __init__(self, fails: bool = False) -> None:
        super().__init__()
        self.fails = fails
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("count", torch.zeros(3))
        self.register_buffer("last", None)
        self.inner = torch.nn.BatchNorm1d(3)

    def forward(self, x: Any) -> Any:
        self.calls = 1
        self.last = x.detach()
        self.count += 1
        self.inner.eval()
        with torch.no_grad():
            self.weight.mul_(2)
            self.weight.requires_grad_(False)
        x.add_(torch.rand(3))
        if self.fails:
            raise KeyError("rude")
        return self.inner(x)


nn = torch.nn
MODULES: list[tuple[Callable[[], Any], tuple[int, ...]]] = [
    (Rude, (4, 3)),
    (
        lambda: nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Dropout(), nn.ReLU(True)),
        (4, 3),
    ),
    (lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.InstanceNorm2d(2)), (2, 1, 5, 5)),
    (lambda: nn.LSTM(3, 4, 2, dropout=0.5), (5, 2, 3)),
    (lambda: nn.TransformerEncoderLayer(4, 2, 8), (5, 2, 4)),
    (lambda: nn.utils.spectral_norm(nn.Linear(3, 3)), (4, 3)),
]
every_module = pytest.mark.parametrize(("make", "shape"), MODULES)


def world(module: Any, x: Any) -> list[Any]:
    """All that a run of a module may change."""
    tensors = [*module.parameters(), *module.buffers(), x]
    numbers = [(id(t), t._version, t.requires_grad, id(t._node), t.tolist()) for t in tensors]
    names = [
        {k: v if isinstance(v, bool | int) else id(v) for k, v in m.__dict__.items()}
        for m in module.modules()
    ]
    hooks = [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in module.modules()]
    return [numbers, names, hooks, torch.get_rng_state().tolist()]


@every_module
@pytest.mark.parametrize("training", [True, False])
def test_a_summary_changes_nothing(
    make: Callable[[], Any], shape: tuple[int, ...], training: bool
) -> None:
    module = make().train(training)
    x = torch.randn(*shape)
    before = world(module, x)
    first = summary(module, x)
    assert world(module, x) == before
    assert [row.output_shape for row in summary(module, x).rows] == [
        row.output_shape for row in first.rows
    ]


def test_a_module_that_fails_is_put_back_too() -> None:
    module, x = Rude(fails=True), torch.ones(4, 3)
    before = world(module, x)
    with pytest.raises(KeyError, match="rude"):
        summary(module, x)
    assert world(module, x) == before


@every_module
def test_the_rows_are_the_modules(make: Callable[[], Any], shape: tuple[int, ...]) -> None:
    module, x = make(), torch.randn(*shape)
    next(module.parameters()).requires_grad_(False)
    table = summary(module, x)
    pairs = [(name, type(m).__name__) for name, m in module.named_modules()]
    assert [(row.name, row.kind) for row in table.rows] == pairs
    sizes = [(p.numel(), p.requires_grad) for p in module.parameters()]
    assert sum(row.parameters for row in table.rows) == sum(n for n, _ in sizes)
    assert sum(row.trainable for row in table.rows) == sum(n for n, needed in sizes if needed)
    assert f"{sum(row.saved_bytes for row in table.rows)} bytes saved" in str(table)
    out = module(x)
    shown = table.rows[0].output_shape
    assert shown == tuple(out.shape) if torch.is_tensor(out) else shown[0] == tuple(out[0].shape)


def test_saved_bytes_are_those_of_the_graph() -> None:
    net = nn.Sequential(nn.Tanh(), nn.Sequential(nn.Linear(3, 3), nn.Sigmoid()), nn.Flatten())
    x = torch.ones(4, 3, requires_grad=True)

    def kept(n: int) -> list[int]:
        return [row.saved_bytes for row in summary(net, torch.ones(n, 3, requires_grad=True)).rows]

    # Tanh and Sigmoid save their results; Linear's operand is Tanh's result, which counts once.
    assert kept(4) == [0, 48, 0, 0, 48, 0]
    assert kept(8) == [2 * n for n in kept(4)]
    with torch.no_grad():
        assert sum(row.saved_bytes for row in summary(net, x).rows) == 0


def test_what_is_shared_counts_once_and_what_is_not_called_has_no_shape() -> None:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    second.weight = first.weight
    net = nn.Sequential(first, second)
    net.register_module("unused", None)
    net.add_module("2", nn.ModuleList([nn.Tanh()]))
    net.forward = lambda x: second(first(x))  # type: ignore[method-assign, assignment]
    rows = summary(net, torch.ones(1, 2)).rows
    assert [row.parameters for row in rows] == [0, 6, 2, 0, 0]
    assert [row.output_shape for row in rows] == [(1, 2), (1, 2), (1, 2), None, None]


def test_keywords_reach_the_module() -> None:
    layer = nn.MultiheadAttention(4, 2)
    x = torch.ones(3, 1, 4)
    rows = summary(layer, x, x, x, need_weights=False).rows
    assert rows[0].output_shape == ((3, 1, 4), None)


def test_tables_escape_their_text() -> None:
    table = Table(["<a>&\n", "b"], {"<h>": str}, "<t>")
    root = ElementTree.fromstring(f"<r>{table._repr_html_()}</r>")
    assert [e.text for e in root.iter() if e.text] == ["<h>", "<a>&\n", "b", "<t>"]
    assert str(table).splitlines() == ["<h>", "-----", "<a>&", "b", "-----", "<t>"]
