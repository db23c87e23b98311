"""Seeing graphs: the graph as a picture, a backward pass and a module as tables.

`make_dot` draws with the layout of `funcgrad.viz`; nothing here needs Graphviz. None of the three
leaves anything behind on the graph, the tensors or the module.
"""

from __future__ import annotations

import bisect
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.core import aval_of
from funcgrad.views import snapshot
from funcgrad.viz import Box, Drawing, Style
from funcgrad.viz.svg import xml

from .autograd import engine, gradients, sites, views
from .autograd.base import TensorBase
from .autograd.node import (
    SAVED,
    AccumulateGrad,
    Freed,
    OpaqueNode,
    OpNode,
    Packed,
    Port,
    extras,
    sequence_number,
)
from .random import fork_rng
from .utils.hooks import RemovableHandle

__all__ = ["Table", "backward_table", "make_dot", "summary"]

_STYLES = {
    "operation": Style("#ffffff", "#555555"),
    "leaf": Style("#e8f1fa", "#0072b2"),
    "output": Style("#e5f4ec", "#009e73"),
    "saved": Style("#fdebd0", "#d98200"),
}
_LONGEST = 60  # letters of an attribute or a line of code before it is cut

# ---------------------------------------------------------------- walking the graph


def _edges(roots: Sequence[Any]) -> list[Any]:
    """The edges that lead to `roots`, nodes and ports, in the order in which backward runs."""
    seen = dict.fromkeys(edge for edge in roots if edge is not None)
    stack = list(seen)
    while stack:
        for edge in stack.pop().next:
            if edge is not None and edge not in seen:
                seen[edge] = None
                stack.append(edge)
    return sorted(seen, key=lambda edge: edge.seq, reverse=True)


def _nodes(roots: Sequence[Any]) -> list[Any]:
    found = _edges(roots)
    return [edge for edge in found if edge.__class__ is not Port]


def _saved(node: Any) -> list[tuple[str, Any, tuple[int, ...]]]:
    """What a node has saved: name, array, shape. The array is None if hooks have packed it."""
    if node.saved.__class__ is Freed:
        return []
    named: list[tuple[str, Any]] = []
    if isinstance(node, OpaqueNode):
        residual, xs = node.saved
        named += [("residual", x) for x in tree.leaves(residual)]
    elif isinstance(node, OpNode):
        ans, xs = node.entries(None)
        named += [("result", x) for x in (ans if isinstance(ans, tuple) else (ans,))]
    else:
        xs = node.saved
    named += [(f"input {i}", x) for i, x in enumerate(xs)]
    found: list[tuple[str, Any, tuple[int, ...]]] = []
    for name, x in named:
        if x.__class__ is Packed:
            found.append((name, None, x.shape))
        elif x.__class__ in SAVED:
            found.append((name, x.array, aval_of(x.array).shape))
        elif name == "residual" and hasattr(x, "nbytes"):
            found.append((name, x, x.shape))
    return found


def _memory(array: Any) -> tuple[int, int]:
    """Which memory an array keeps alive, and its bytes."""
    while isinstance(getattr(array, "base", None), type(array)):
        array = array.base
    if hasattr(array, "nbytes"):
        return id(array), int(array.nbytes)
    aval = aval_of(array)
    return id(array), aval.size * aval.dtype.itemsize


def _saved_memory(node: Any) -> dict[int, int]:
    """The memory that a node keeps alive, and its bytes."""
    return dict(_memory(array) for _, array, _ in _saved(node) if array is not None)


def _tensors(x: Any, what: str) -> list[TensorBase]:
    """Raises: TypeError: there is no tensor in `x`."""
    found = [leaf for leaf in tree.leaves(x) if isinstance(leaf, TensorBase)]
    if not found:
        raise TypeError(f"{what} needs a tensor, or several in a container, not {type(x).__name__}")
    return found


def _type(x: TensorBase) -> str:
    aval = aval_of(x._array)
    return f"{tuple(aval.shape)} {aval.dtype.name}"


# ---------------------------------------------------------------- the picture


def make_dot(
    tensor_or_tensors: Any,
    params: Mapping[str, Any] | None = None,
    show_attrs: bool = False,
    show_saved: bool = False,
) -> Drawing:
    """The graph behind tensors as a `Drawing`, from the leaves (blue) to the outputs (green).

    A notebook shows it; `.source` is DOT and ``.save(path)`` writes ``.dot``, ``.svg`` or
    ``.html``. `params`: names for leaves, as ``dict(module.named_parameters())``. `show_attrs`:
    what operations were given besides tensors. `show_saved`: what they have saved (orange).

    Raises: TypeError: no tensor is given.

    >>> import compat as torch
    >>> from compat.viz import make_dot
    >>> w = torch.ones(2, requires_grad=True)
    >>> drawing = make_dot((w * 2).sum(), params={"w": w})
    >>> drawing
    <Drawing 'graph': 4 boxes>
    >>> print(*drawing.source.splitlines()[-4:], sep="\\n")
      n0 -> n1;
      n1 -> n2;
      n2 -> n3;
    }
    """
    outputs = _tensors(tensor_or_tensors, "make_dot")
    edges = [views.edge(x) for x in outputs]
    names = {x._node: name for name, x in (params or {}).items() if x._node is not None}
    made: dict[Any, Box] = {}
    boxes: list[Box] = []
    for node in reversed(_nodes(edges)):
        reads = [made[other] for other, _ in node.next_functions if other is not None]
        if node.__class__ is AccumulateGrad:
            shape = tuple(aval_of(node.array).shape)
            box = Box("leaf", [names.get(node, "leaf"), str(shape)], floats=True)
        else:
            saved = _saved_boxes(node) if show_saved else []
            boxes += saved
            lines = [node.name(), *(_attributes(node) if show_attrs else ())]
            box = Box("operation", lines, [*reads, *saved])
        made[node] = box
        boxes.append(box)
    for x, edge in zip(outputs, edges, strict=True):
        source = edge.node if edge.__class__ is Port else edge
        boxes.append(Box("output", ["output", _type(x)], [] if edge is None else [made[source]]))
    return Drawing(boxes, _STYLES, "graph")


def _saved_boxes(node: Any) -> list[Box]:
    return [
        Box(
            "saved",
            [name, str(tuple(shape)) + ("" if array is not None else " packed")],
            floats=True,
        )
        for name, array, shape in _saved(node)
    ]


def _attributes(node: Any) -> list[str]:
    """What a node's primitive was given besides operands, a line each."""
    given = node.params if isinstance(node, OpNode) else {}
    lines = [f"{name}: {value!r}" for name, value in given.items()]
    return [_cut(line) for line in lines]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


# ---------------------------------------------------------------- tables


class Table:
    """Rows of named values; `str` gives text, a notebook shows a table."""

    def __init__(
        self, rows: Sequence[Any], columns: Mapping[str, Callable[[Any], str]], totals: str
    ) -> None:
        self.rows = list(rows)
        self.columns = columns
        self.totals = totals

    def _cells(self) -> list[list[str]]:
        return [[show(row) for show in self.columns.values()] for row in self.rows]

    def __str__(self) -> str:
        lines = [list(self.columns), *self._cells()]
        lines = [[" ".join(cell.split("\n")) for cell in line] for line in lines]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join([text[0], rule, *text[1:], rule, self.totals])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Sequence[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{xml(c)}</{tag}>" for c in cells) + "</tr>"

        body = [line("th", list(self.columns)), *(line("td", cells) for cells in self._cells())]
        return f"<table>{''.join(body)}</table><p>{xml(self.totals)}</p>"


_Shape = tuple[int, ...] | None


class BackwardRow(NamedTuple):
    """One step of a backward pass. A shape is None where no cotangent came or went."""

    step: int
    node: str
    line: str
    incoming: tuple[_Shape, ...]
    outgoing: tuple[_Shape, ...]
    saved_bytes: int
    seconds: float | None


def _shapes(shapes: tuple[_Shape, ...]) -> str:
    return " ".join("-" if shape is None else str(shape) for shape in shapes)


_BACKWARD_COLUMNS: dict[str, Callable[[BackwardRow], str]] = {
    "step": lambda row: str(row.step),
    "node": lambda row: row.node,
    "in": lambda row: _shapes(row.incoming),
    "out": lambda row: _shapes(row.outgoing),
    "saved bytes": lambda row: str(row.saved_bytes),
    "µs": lambda row: "-" if row.seconds is None else f"{row.seconds * 1e6:.0f}",
    "line": lambda row: _cut(row.line),
}


class _Watch:
    """Hooks on all nodes of a graph that write down what a backward pass does."""

    def __init__(self, nodes: Sequence[Any]) -> None:
        self.nodes = nodes
        self.rows: list[BackwardRow] = []
        self.started = 0.0

    @contextlib.contextmanager
    def hooked(self) -> Iterator[None]:
        before = [(node, node.extras) for node in self.nodes]
        handles = [handle for node in self.nodes for handle in self._register(node)]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()
            for node, found in before:
                node.extras = found

    def _register(self, node: Any) -> list[Any]:
        bytes_kept = sum(_saved_memory(node).values())

        def start(_: Any) -> None:
            self.started = time.perf_counter()

        def stop(outgoing: Any, incoming: Any) -> None:
            self._add(node, incoming, outgoing, bytes_kept, time.perf_counter() - self.started)

        if node.__class__ is AccumulateGrad:  # which is not run, since `.grad` stays as it is
            hooks = extras(node).tensor_hooks
            return [RemovableHandle.added(hooks, lambda g: self._add(node, (g,), (), 0, None))]
        handles = [node.register_prehook(start), node.register_hook(stop)]
        node.extras.hooks.move_to_end(handles[1].id, last=False)  # other hooks take no time of it
        return handles

    def _add(
        self, node: Any, incoming: Any, outgoing: Any, kept: int, seconds: float | None
    ) -> None:
        came, went = (
            tuple(None if g is None else tuple(aval_of(g._array).shape) for g in cts)
            for cts in (incoming, outgoing)
        )
        line = sites.describe(node.site)
        row = BackwardRow(len(self.rows), node.name(), line, came, went, kept, seconds)
        self.rows.append(row)


def backward_table(loss: Any, grad: Any = None) -> Table:
    """What a backward pass from `loss` does, step by step.

    The pass is run, so hooks are called, but no `.grad` changes and the graph can still be used.
    A row has the node, the line that recorded it, the shapes of the cotangents that it got and gave,
    the bytes that it has saved and the time it took (None for leaves, which only receive).

    Raises: RuntimeError: as `Tensor.backward`.

    >>> import compat as torch
    >>> from compat.viz import backward_table
    >>> x = torch.ones(3, requires_grad=True)
    >>> for row in backward_table((x.exp() * 2).sum()).rows:
    ...     print(row.step, row.node, row.incoming, row.outgoing, row.saved_bytes)
    0 SumBackward0 ((),) ((3,),) 0
    1 MulBackward0 ((3,),) ((3,), None) 0
    2 ExpBackward0 ((3,),) ((3,),) 12
    3 AccumulateGrad ((3,),) () 0
    """
    root = gradients._root(0, loss, grad, False)
    edges = _edges([root[0]])
    nodes = [edge for edge in edges if edge.__class__ is not Port]
    leaves = [node for node in nodes if node.__class__ is AccumulateGrad]
    retaining = [ref() for e in edges if e.extras is not None for ref in e.extras.retaining]
    grads = [(x, x._grad) for x in retaining if x is not None]
    watch = _Watch(nodes)
    try:
        with watch.hooked():
            engine.run([root], retain=True, graph=False, inputs=leaves)
    finally:
        for x, before in grads:
            x._grad = before
    seconds = sum(row.seconds or 0.0 for row in watch.rows)
    kept = {k: v for node in nodes for k, v in _saved_memory(node).items()}
    totals = f"{len(watch.rows)} steps, {sum(kept.values())} bytes saved, {seconds * 1e6:.0f} µs"
    return Table(watch.rows, _BACKWARD_COLUMNS, totals)


# ---------------------------------------------------------------- modules


class SummaryRow(NamedTuple):
    """One module; its numbers leave out those of the modules inside, which have rows of their own."""

    name: str
    kind: str
    output_shape: Any
    parameters: int
    trainable: int
    saved_bytes: int


_SUMMARY_COLUMNS: dict[str, Callable[[SummaryRow], str]] = {
    "name": lambda row: "  " * row.name.count(".") + (row.name or "(all)"),
    "class": lambda row: row.kind,
    "output shape": lambda row: "-" if row.output_shape is None else str(row.output_shape),
    "parameters": lambda row: str(row.parameters),
    "trainable": lambda row: str(row.trainable),
    "saved bytes": lambda row: str(row.saved_bytes),
}
_STATE = ("_parameters", "_buffers", "_modules")


@contextlib.contextmanager
def _unchanged(module: Any) -> Iterator[None]:
    """Put back what happens to a module inside: attributes, members, numbers, the random stream."""
    modules = list(module.modules())
    dicts = [m.__dict__ for m in modules]
    dicts += [m.__dict__[kind] for m in modules for kind in _STATE]
    copies = [dict(d) for d in dicts]
    held = {x: None for d in copies for x in d.values() if isinstance(x, TensorBase)}
    tensors = [
        (x, x._array, snapshot(x._array, copy=True), x._counter, list(x._counter), x._node, x._view)
        for x in held
    ]
    try:
        with fork_rng():
            yield
    finally:
        for own, copy in zip(dicts, copies, strict=True):
            own.clear()
            own.update(copy)
        for x, array, numbers, counter, count, node, view in tensors:
            x._array, x._counter, x._node, x._view = array, counter, node, view
            if not isinstance(array, np.ndarray) or array.flags.writeable:
                array[...] = numbers
            counter[:] = count


class _Calls:
    """What one run of a module shows: output shapes, and which module records from which number on."""

    def __init__(self, names: Mapping[Any, str]) -> None:
        self.names = names
        self.shapes: dict[str, Any] = {}
        self.stack: list[str | None] = [None]
        self.starts: list[float] = []
        self.running: list[str | None] = []

    def before(self, module: Any, _: Any) -> None:
        self.stack.append(self.names[module])
        self._mark()

    def after(self, module: Any, _: Any, output: Any) -> None:
        self.stack.pop()
        self._mark()
        self.shapes[self.names[module]] = _output_shape(output)

    def _mark(self) -> None:
        self.starts.append(sequence_number())
        self.running.append(self.stack[-1])

    def owner(self, node: Any) -> str | None:
        """The innermost module that was running when `node` was recorded."""
        place = bisect.bisect_right(self.starts, node.seq) - 1
        return self.running[place] if place >= 0 else None


def _output_shape(output: Any) -> Any:
    """The shape of a tensor, or a container of shapes; None for what is no tensor."""
    leaves, structure = tree.flatten(output)
    shapes = [tuple(aval_of(x._array).shape) if isinstance(x, TensorBase) else None for x in leaves]
    return tree.unflatten(structure, shapes)


def summary(module: Any, *inputs: Any, **kwargs: Any) -> Table:
    """A table of a module and those inside: output shapes, numbers of parameters, saved bytes.

    The module runs once, as it is (training or not, with gradients or not), on copies of `inputs`;
    then its attributes, parameters, buffers and the random stream are put back. A row counts what
    is the module's own: a shared parameter or memory once, where it comes first. Saved bytes are
    those that the graph keeps alive besides parameters and buffers.

    Raises: whatever the module raises.

    >>> import compat as torch
    >>> from compat.viz import summary
    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
    >>> print(summary(net, torch.ones(4, 2)))
    name   class       output shape  parameters  trainable  saved bytes
    -------------------------------------------------------------------
    (all)  Sequential  (4, 3)        0           0          0
    0      Linear      (4, 3)        9           9          32
    1      Tanh        (4, 3)        0           0          48
    -------------------------------------------------------------------
    3 modules, 9 parameters (9 trainable), 80 bytes saved
    """
    names = {m: name for name, m in module.named_modules()}
    calls = _Calls(names)
    given = tree.map(_copied, (inputs, kwargs))
    with _unchanged(module):
        handles = [m.register_forward_pre_hook(calls.before, prepend=True) for m in names]
        handles += [m.register_forward_hook(calls.after) for m in names]
        try:
            output = module(*given[0], **given[1])
        finally:
            for handle in handles:
                handle.remove()
        saved = _saved_by(module, output, calls)
    rows = _summary_rows(names, calls, saved)
    count, trainable = sum(row.parameters for row in rows), sum(row.trainable for row in rows)
    kept = sum(saved.values())
    totals = f"{len(rows)} modules, {count} parameters ({trainable} trainable), {kept} bytes saved"
    return Table(rows, _SUMMARY_COLUMNS, totals)


def _copied(x: Any) -> Any:
    """A copy of a tensor, which the module may write into."""
    is_tensor = isinstance(x, TensorBase)
    return x.clone() if is_tensor else x


def _saved_by(module: Any, output: Any, calls: _Calls) -> dict[str, int]:
    """The bytes that each module's nodes keep alive, by its name."""
    known = {_memory(x._array)[0] for x in (*module.parameters(), *module.buffers())}
    found: dict[str, int] = {}
    outs = [x for x in tree.leaves(output) if isinstance(x, TensorBase)]
    for node in reversed(_nodes([views.edge(x) for x in outs])):
        owner = calls.owner(node)
        if owner is None:
            continue
        for key, size in _saved_memory(node).items():
            if key not in known:
                known.add(key)
                found[owner] = found.get(owner, 0) + size
    return found


def _summary_rows(
    names: Mapping[Any, str], calls: _Calls, saved: Mapping[str, int]
) -> list[SummaryRow]:
    rows: list[SummaryRow] = []
    seen: set[Any] = set()
    for module, name in names.items():
        own = [p for p in dict.fromkeys(module.parameters(recurse=False)) if p not in seen]
        seen.update(own)
        sizes = [(p.numel(), p.requires_grad) for p in own]
        rows.append(
            SummaryRow(
                name,
                type(module).__name__,
                calls.shapes.get(name),
                sum(n for n, _ in sizes),
                sum(n for n, needed in sizes if needed),
                saved.get(name, 0),
            )
        )
    return rows
