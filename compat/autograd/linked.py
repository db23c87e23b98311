"""Derivatives of zero that PyTorch's graphs know of: those of the slope of a piecewise linear function.

Where `backward` is recorded, PyTorch's gradient of ``relu(x)`` depends on `x`, by a slope whose own
derivative is 0. So a second `backward` gives the leaves behind `x` zeros, and optimizers take a step
with them; without the edge it would give None, and `grad` an error. Nothing is computed along such
edges: a pass notes that they were reached, and what has no other gradient gets zeros at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from . import turns, views
from .base import TensorBase, tensor
from .node import IDLE, NOTHING, Face, Node, next_number, node_class

_PIECEWISE_LINEAR = frozenset(
    f"{name}Backward0"
    for name in (
        "Abs",
        "Relu",
        "LeakyRelu",
        "PreluKernel",
        "RreluWithNoise",
        "Threshold",
        "Hardtanh",
        "Hardsigmoid",
        "Hardshrink",
        "Softshrink",
        "LinalgVectorNorm",
        "SumWindows",
        "AdaptiveAvgPool2D",
        "AdaptiveAvgPool3D",
        "MaxPool2DWithIndices",
        "MaxPool3DWithIndices",
        "AdaptiveMaxPool2D",
        "AdaptiveMaxPool3D",
        "FractionalMaxPool2D",
        "FractionalMaxPool3D",
        "ReflectionPad1D",
        "ReflectionPad2D",
        "ReflectionPad3D",
        "ReplicationPad1D",
        "ReplicationPad2D",
        "ReplicationPad3D",
        "NllLoss",
        "NllLoss2D",
    )
)


class LinkNode(Node):
    """Hands its cotangent on to its first edge, and tells the pass that it has come to the others."""

    __slots__ = ()

    def pull_list(self, ct: Any, face: Face | None) -> Sequence[Any]:
        turns.innermost().links.append(self)
        return (ct, *[None] * (len(self.next) - 1))


def linked(node: Node, cts: Sequence[Any]) -> Sequence[Any]:
    """The recorded cotangents `cts` of the operands of `node`, with edges to these."""
    name = node.name()
    if name not in _PIECEWISE_LINEAR:
        return cts
    cls = node_class(f"{name[:-1]}Backward0", LinkNode)
    operands = [edge for edge in node.next if edge is not None]
    return [None if g is None else _linked(cls, node, g, operands) for g in cts]


def _linked(cls: Any, node: Node, g: TensorBase, operands: Sequence[Any]) -> TensorBase:
    link = cls.__new__(cls)
    link.seq = next_number()
    link.next = (views.edge(g), *operands)
    link.ct = IDLE
    link.saved = NOTHING
    link.extras = None
    link.code, link.offset = node.code, node.offset
    out = tensor(g._array, link)
    out._counter = g._counter
    return out


def behind(links: Iterable[LinkNode]) -> set[Any]:
    """All that the edges of `links` lead to, but for their first."""
    found: set[Any] = set()
    waiting = [edge for link in links for edge in link.next[1:]]
    while waiting:
        edge = waiting.pop()
        if edge is not None and edge not in found:
            found.add(edge)
            waiting.extend(edge.next)
    return found
