"""Going back through a graph: gradients, those of views, and clearing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

import numpy as np

from funcgrad.locks import release

from ..autograd import engine
from ..autograd.base import tensor
from ..autograd.node import AccumulateGrad, extras
from ._graph import Step, TensorCore, made, null, short
from .errors import InvalidBackprop

ndarray = np.ndarray


def gradient(a: TensorCore) -> ndarray | None:
    """The gradient by `a`; that of a view shows the memory of its base's."""
    base = a._base
    if base is None:
        found = a._t._grad
        return None if found is None else found._array
    whole = base._t._grad
    if whole is None:
        return None
    whole = whole._array
    seen = a._view_grad
    if seen is not None and seen.base is whole:
        return seen
    if a._creator is None:
        return None
    for f, args, options in a._chain:
        whole = f.arrays(whole, *args, **options)
    a._view_grad = whole
    return whole


def backward(a: TensorCore, seed: ndarray) -> None:
    """Give every tensor that led to `a` its gradient, from that by `a`, and clear the graph.

    Raises: InvalidBackprop: a part of the graph has been cleared already.
    """
    top = a._creator
    t = a._t
    null(a)
    steps: list[Step] = []
    if top is not None and t._node is not None:
        steps, apart, wanted = _walk(top, True)
        for step in steps:
            found = step.husk()
            if found is not None and found._creator is step and not found._constant:
                found._view_grad = None
                other = found._t
                if other is not t:
                    other._grad = None
                    if other._node.__class__ is not AccumulateGrad:
                        extras(other._node).retaining.append(ref(other))
                    wanted.append(other)
        engine.run([(t._node, seed)], retain=False, graph=False)
        for other in wanted:
            if other._grad is None:
                other._grad = tensor(np.zeros_like(other._array))
        for step in apart:
            steps += _walk(step, False)[0]
    t._grad = tensor(seed.copy())
    if steps:
        cut_off(a)
        _clear(steps)
    else:
        clear(a)


def _walk(top: Step, goes_back: bool) -> tuple[list[Step], list[Step], list[Any]]:
    """The steps that led to `top`, itself first, and the tensors at which gradients end.

    For a pass that `goes_back`, those that made constants are listed apart, and the tensors lose
    their old gradients.
    Raises: InvalidBackprop: it goes back, and a part of the graph has been cleared already.
    """
    seen = {top}
    order = [top]
    apart: list[Step] = []
    leaves: list[Any] = []
    cls = made.cls
    for step in order:  # which grows meanwhile
        if step.sources is None:
            continue
        for x, source in zip(step.inputs, step.sources):  # noqa: B905 (faster without)
            if source is None:
                continue
            if source.__class__ is cls or isinstance(source, TensorCore):
                if goes_back and x._node.__class__ is AccumulateGrad:
                    x._grad = None
                    leaves.append(x)
            elif source not in seen:
                if not goes_back or x._node is not None:
                    if source.sources is None and goes_back:
                        raise InvalidBackprop(
                            f"backward: the graph of {short(x._array)}, which {step!r} reads, has "
                            "been cleared, by an earlier backward() or clear_graph(); compute it again"
                        )
                    seen.add(source)
                    order.append(source)
                else:
                    apart.append(source)
    return order, apart, leaves


def clear(a: TensorCore) -> None:
    """Take `a`, and what led to it, out of their graph."""
    cut_off(a)
    if a._creator is not None:
        _clear(_walk(a._creator, False)[0])


def _clear(steps: Sequence[Step]) -> None:
    for step in steps:
        found = step.husk()
        if found is not None and found._creator is step:
            found._views = found._operations = None
            if found._base is not None:
                gradient(found)  # while it can be found
            found._creator = None
            old = found._t
            if old._node is not None:
                found._t = t = tensor(old._array)
                t._counter = old._counter
                if old._grad is not None:
                    t._grad = old._grad
        if step.sources is None:
            continue
        for source in step.sources:
            if isinstance(source, TensorCore):
                source._views = source._operations = None
        step.sources = None
        step.inputs = ()
        if step.locks:
            release(step.locks)
            step.locks = ()


def cut_off(a: TensorCore) -> None:
    """Forget what shows the memory of `a`, and which operations keep it."""
    a._views = a._operations = None
