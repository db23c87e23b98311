"""A picture of the graph behind a tensor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from funcgrad.viz.boxes import Box, Drawing, Style

from ._graph import TensorCore
from .tensor_base import Tensor

__all__ = ["build_graph"]

_STYLES = {
    "tensor": Style("#e8f1fa", "#0072b2"),
    "operation": Style("#fdebd0", "#d98200"),
}


def build_graph(
    fin: Tensor,
    names: Mapping[str, Any] | None = None,
    *,
    render: bool = True,
    save: bool = False,
    dims: bool = False,
    dtypes: bool = False,
    sum_stats: bool = False,
) -> Drawing | None:
    """The graph that ends in `fin`: tensors, under their `names`, and the operations between them.

    Notebooks show what is returned; its `source` is DOT. `save` writes ``computational_graph.svg``.
    `dims`, `dtypes`, `sum_stats`: what is said of each tensor, besides its name or its numbers.

    Raises: TypeError: `fin` is no tensor, or `names` no dict.

    >>> import compat.mygrad as mg
    >>> x, y = mg.tensor(2.0), mg.tensor(3.0)
    >>> drawing = build_graph(x * y, names={"x": x, "y": y})
    >>> drawing
    <Drawing 'computational graph': 4 boxes>
    >>> [box.text for box in drawing.boxes]
    ['x', 'y', 'Multiply', '6.0']
    """
    if not isinstance(fin, TensorCore):
        raise TypeError(f"build_graph: need a tensor as `fin`, found {type(fin).__name__}")
    if not (names is None or isinstance(names, Mapping)):
        raise TypeError(f"build_graph: need a dict as `names`, found {type(names).__name__}")
    said = _Said(names, dims, dtypes, sum_stats)
    boxes: dict[Any, Box] = {}
    stack: list[Any] = [fin]
    variables: dict[Any, Any] = {None: ()}  # of steps; some tensors are made for this, and kept
    while stack:
        a = stack[-1]
        step = a.creator
        if step not in variables:
            variables[step] = step.variables
        missing = [v for v in variables[step] if id(v) not in boxes]
        if missing:
            stack += reversed(missing)
            continue
        stack.pop()
        if id(a) in boxes:
            continue
        reads = [boxes[id(v)] for v in variables[step]]
        if step is not None:
            reads = [boxes.setdefault(step, Box("operation", [type(step).__name__], reads))]
        boxes[id(a)] = Box("tensor", said(a), reads)
    drawing = Drawing(list(boxes.values()), _STYLES, "computational graph")
    if save:
        drawing.save(Path("computational_graph.svg"))
    return drawing if render else None


class _Said:
    """The lines of text for a tensor."""

    def __init__(self, names: Any, dims: bool, dtypes: bool, sum_stats: bool) -> None:
        self.names = names
        self.dims = dims
        self.dtypes = dtypes
        self.sum_stats = sum_stats

    def __call__(self, a: Any) -> list[str]:
        lines = self.label(a)
        if a.ndim and self.dims:
            lines.append(f"Dims: {a.shape}")
        if self.dtypes:
            lines.append(f"Dtype: {a.dtype}")
        if a.ndim and self.sum_stats:
            for name in ("min", "median", "mean", "max"):
                lines.append(f"{name.capitalize()}: {getattr(np, name)(a.data)}")
        return lines

    def label(self, a: Any) -> list[str]:
        if self.names is None:
            return repr(a).split("\n")
        for name, known in self.names.items():
            if known is a:
                return [name]
            if known is a.data:
                return [name, "*Constant*"]
        return [
            str(a.data) if not a.ndim else "*Constant*" if a.constant else "Intermediary Tensor"
        ]
