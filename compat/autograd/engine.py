"""Backward: nodes in the reverse order of their numbers, no recursion, nothing left behind.

The engine owns accumulation. Inside it cotangents pair with tangents without a conjugate, as the
rules do; complex ones are conjugated wherever users see them (PyTorch's convention): where they
enter, at hooks, in `.grad`, in what `grad` returns.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from funcgrad.algebra import zeros_like
from funcgrad.core import EVAL, Tracer, aval_of
from funcgrad.core import current as current_trace
from funcgrad.ops.arithmetic import positive
from funcgrad.ops.complex import conjugate
from funcgrad.quiet import QUIET, get_state, reset_state, set_state

from . import mirrors, modes, sites, turns
from .base import UNCOUNTED, TensorBase, hold, made, tensor
from .linked import behind, linked
from .node import IDLE, AccumulateGrad, Freed, Port, evaluated
from .sums import Sum
from .tape import record, tape_array
from .views import check_writable

ndarray = np.ndarray
new = TensorBase.__new__


def _count_of_one() -> int:
    x = object()
    return getrefcount(x)


# What `getrefcount` says of what one local variable refers to, which depends on the Python.
_ALONE = _count_of_one()

_by_number = operator.attrgetter("seq")

# NOTE [Cotangents on nodes] A cotangent waits for its node in `node.ct`, which is `IDLE` outside of a
# pass and None once a pass has found the node. So one pass runs at a time, see NOTE [Turns] in
# `turns.py`.


def run(
    roots: Sequence[tuple[Any, Any]],
    *,
    retain: bool,
    graph: bool,
    inputs: Sequence[Any] | None = None,
    returned: bool = True,
    lifted: bool = False,
    likes: Sequence[Any] = (),
) -> list[Any]:
    """Run backward from `roots`, pairs of an edge and its cotangent.

    That is a tensor as users see it, or a bare array of ones.

    With `inputs` (edges) only those get a gradient, which is `returned`, a tensor, or None for one
    that was not reached; or it goes where it always goes. `graph`: record what is done. `lifted`:
    cotangents are bare, but hold array faces of tensors, and so must what is saved. `likes`: arrays
    like the inputs, so that one that was reached with derivatives of zero only gets zeros.

    Raises: RuntimeError: something needed was freed or modified.
    """
    mode = modes.get()
    walk = _Walk(inputs, returned, retain, graph, mode.anomaly)
    if graph or lifted:
        walk.face = tape_array
        token = modes.current.set(modes.changed(records=True))
    else:
        token = modes.current.set(modes.NO_GRAD)
    state = set_state(QUIET)
    try:
        turns.begin(walk)
        try:
            walk.start(roots)
            walk.nodes()
            walk.finish()
            if walk.notes is not None:
                for note in walk.notes.values():
                    turns.called(note.end)
            if walk.captured is None:
                walk.found_nodes = ()  # every node of a complete pass is idle again
        finally:
            if walk.found_nodes:
                walk.clear()
            turns.end()
    finally:
        reset_state(state)
        modes.current.reset(token)
    return [] if inputs is None else walk.found(inputs, likes)


def running() -> Any:
    """The backward pass inside which a hook is called; None outside of all passes."""
    walk = turns.innermost()
    if walk is not None and walk.notes is None:
        walk.notes = {}
    return walk


class _Walk:
    """One backward pass."""

    __slots__ = (
        "anomaly",
        "aside",
        "captured",
        "executed",
        "face",
        "found_nodes",
        "freed",
        "graph",
        "leaves",
        "links",
        "notes",
        "order",
        "outside",
        "retain",
        "returned",
    )

    order: list[Any]
    leaves: list[Any]

    def __init__(
        self,
        inputs: Sequence[Any] | None,
        returned: bool,
        retain: bool,
        graph: bool,
        anomaly: bool | None,
    ) -> None:
        self.captured: dict[Any, Any] | None = None if inputs is None else dict.fromkeys(inputs)
        self.returned = returned
        self.retain = retain
        self.graph = graph
        self.face: Any = None
        self.freed = Freed(sites.site(3))
        self.executed: set[Any] | None = None  # None: all nodes
        self.anomaly = anomaly
        self.outside = get_state()
        self.found_nodes: Sequence[Sequence[Any]] = ()  # all whose `ct` is ours
        self.notes: dict[Any, Any] | None = None  # of hooks on several tensors
        self.links: list[Any] = []  # those that the pass has come to, see `linked.py`
        self.aside: Sequence[tuple[Any, Any]] = ()  # nodes and their cotangents, in another's turn

    def start(self, roots: Sequence[tuple[Any, Any]]) -> None:
        self._collect([edge for edge, _ in roots])
        if self.captured is not None:
            self._keep_needed(self.captured)
        for edge, ct in roots:
            if not isinstance(ct, TensorBase):  # ones
                value = tensor(ct) if self.graph else ct
            else:
                if ct._array.dtype.kind == "c":
                    ct = record(conjugate, (ct,))
                value = ct if self.graph else ct._array
            old = edge.ct
            edge.ct = value if old is None else old + value

    def _collect(self, roots: Sequence[Any]) -> None:
        """Find the nodes that lead to the roots, latest first, and the leaves."""
        order: list[Any] = []
        leaves: list[Any] = []
        keep, keep_leaf = order.append, leaves.append
        self.found_nodes = order, leaves
        for edge in roots:
            if edge.ct is IDLE:
                edge.ct = None
                (keep_leaf if edge.__class__ is AccumulateGrad else keep)(edge)
        for node in order:  # which grows meanwhile
            edge = node.left
            if edge is None:
                for edge in node.next:
                    if edge is not None and edge.ct is IDLE:
                        edge.ct = None
                        (keep_leaf if edge.__class__ is AccumulateGrad else keep)(edge)
                continue
            if edge.ct is IDLE:
                edge.ct = None
                if edge.__class__ is AccumulateGrad:
                    keep_leaf(edge)
                else:
                    keep(edge)
            edge = node.right
            if edge is not None and edge.ct is IDLE:
                edge.ct = None
                if edge.__class__ is AccumulateGrad:
                    keep_leaf(edge)
                else:
                    keep(edge)
        order.sort(key=_by_number, reverse=True)
        self.order, self.leaves = order, leaves

    def put_aside(self) -> None:
        """Take the cotangents that wait off the nodes, for another pass."""
        found = itertools.chain(*self.found_nodes)
        self.aside = [(node, node.ct) for node in found if node.ct is not IDLE]
        for node, _ in self.aside:
            node.ct = IDLE

    def lay_back(self) -> None:
        """Lay them on the nodes again."""
        for node, ct in self.aside:
            node.ct = ct
        self.aside = ()

    def clear(self) -> None:
        """Leave nothing on the nodes, however the pass ended."""
        for node in itertools.chain(*self.found_nodes):
            node.ct = IDLE

    def _keep_needed(self, wanted: dict[Any, Any]) -> None:
        """Leave out what leads to none of the inputs."""
        needed = set(wanted)
        self.executed = set()
        for node in reversed(self.order):
            if any(edge in needed for edge in node.next):
                self.executed.add(node)
                needed.add(node)
        self.order = [node for node in self.order if node in needed]
        self.leaves = [leaf for leaf in self.leaves if leaf in needed]

    def reached(self) -> set[Any]:
        """The nodes that the pass will look at."""
        return {*self.order, *self.leaves}

    def nodes(self) -> None:
        """Hand every node its cotangent."""
        retain, captured = self.retain, self.captured
        freed: Freed | None = self.freed
        plain = not self.graph and self.anomaly is None and current_trace.get() is EVAL
        if plain and captured is None and not retain:
            for node in self.order:  # the common case: as below, with nothing to ask
                ct = node.ct
                node.ct = IDLE
                if ct is not None:
                    if ct.__class__ is Sum:
                        ct = ct.value()
                    if node.extras is None:
                        node.pull(ct, freed)
                    elif node.extras.hooks:
                        self._pull_slowly(node, self._hooked(node, ct), freed)
                    else:
                        node.pull(self._hooked(node, ct), freed)
            return
        if retain:
            freed = None
        for node in self.order:
            ct = node.ct
            node.ct = IDLE
            if ct is None:
                continue
            if ct.__class__ is Sum:
                ct = ct.value()
            runs = captured is None or node in self.executed  # type: ignore[operator]
            if node.extras is not None:
                ct = self._hooked(node, ct, False)
            if captured is not None and node in captured:
                self._capture(node, ct)
            if not runs:
                continue
            if node.extras is not None and node.extras.prehooks:
                ct = self._prehooked(node, ct)
            if plain and (node.extras is None or not node.extras.hooks):
                node.pull(ct, freed)
            else:
                self._pull_slowly(node, ct, freed)

    def _pull_slowly(self, node: Any, ct: Any, freed: Freed | None) -> None:
        """As `node.pull`, recording or with hooks on the node or with a look at every result."""
        if node.__class__ is Port:
            node.pull(ct, freed)
            return
        if self.anomaly is None:
            cts: Sequence[Any] = list(node.pull_list(ct, self.face))
        else:
            cts = self._pull_watched(node, ct)
        if self.graph:
            cts = linked(node, cts)
        hooks = node.extras.hooks if node.extras is not None else ()
        for hook in list(hooks and hooks.values()):
            given = self._all_shown(cts), self._all_shown(_in_order(node, ct))
            found = turns.called(hook, *given)
            if found is not None:
                cts = self._all_replaced(hook, found, cts, node)
        for edge, g in zip(node.next, cts, strict=True):
            if edge is not None and g is not None:
                old = edge.ct
                edge.ct = g if old is None else old + g
        if freed is not None:
            node.free(freed)

    def _pull_watched(self, node: Any, ct: Any) -> list[Any]:
        """Run a node under anomaly detection: an error says where its forward was."""
        token = evaluated.set(node)
        try:
            cts = list(node.pull_list(ct, self.face))
            if self.anomaly:
                _require_numbers(node, cts)
        except Exception as error:
            place = _forward_places(node)
            error.add_note(place)
            sites.warn(place)
            raise
        finally:
            evaluated.reset(token)
        return cts

    # ------------------------------------------------------------ what users see of cotangents

    def shown(self, ct: Any) -> TensorBase:
        """A cotangent as users see it."""
        out = ct if self.graph else tensor(ct)
        return record(conjugate, (out,)) if aval_of(out._array).dtype.kind == "c" else out

    def hidden(self, ct: TensorBase) -> Any:
        """A cotangent that a user has given, as the engine uses it."""
        if aval_of(ct._array).dtype.kind == "c":
            ct = record(conjugate, (ct,))
        return ct if self.graph else ct._array

    def _all_shown(self, cts: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([None if c is None else self.shown(c) for c in cts])

    def _hooked(self, node: Any, ct: Any, runs: bool = True) -> Any:
        """Run the hooks of tensors and, if the node `runs` now, the node's; hand out retained
        gradients."""
        extras = node.extras
        for hook in list(extras.tensor_hooks.values()):
            ct = self._replaced(hook, turns.called(hook, self.shown(ct)), ct, node)
        for ref in extras.retaining:
            retaining = ref()
            if retaining is not None:
                # A new tensor every time: it may be part of a graph.
                if ct.__class__ is ndarray and ct.dtype.kind == "f":
                    new = tensor(ct.copy(order="K"))
                else:
                    new = record(positive, (self.shown(ct),), None, "CloneBackward0")
                old = retaining._grad
                retaining._grad = new if old is None else old + new
        return self._prehooked(node, ct) if runs and extras.prehooks else ct

    def _prehooked(self, node: Any, ct: Any) -> Any:
        """Run the hooks before a node."""
        for hook in list(node.extras.prehooks.values()):
            given = _in_order(node, ct)
            found = turns.called(hook, self._all_shown(given))
            if found is not None:
                new = self._all_replaced(hook, found, given, node)
                several = ct.__class__ is dict
                ct = {i: c for i, c in enumerate(new) if c is not None} if several else new[0]
        return ct

    def _all_replaced(self, hook: Any, found: Any, given: Sequence[Any], node: Any) -> list[Any]:
        """What a hook on `node` returned in place of several cotangents.

        Raises: TypeError: no tuple, or no tensor. RuntimeError: another number, shape or dtype.
        """
        if not isinstance(found, tuple):
            raise TypeError(f"expected tuple, but hook returned '{type(found).__name__}'")
        if len(found) != len(given):
            name = getattr(hook, "__name__", repr(hook))
            raise RuntimeError(
                f"hook '{name}' has returned an incorrect number of values (got {len(found)}, but "
                f"expected {len(given)}). {_made_at(node)}"
            )
        return [
            None
            if new is None
            else self.hidden(new)
            if old is None
            else self._replaced(hook, new, old, node)
            for new, old in zip(found, given, strict=True)
        ]

    def _replaced(self, hook: Any, found: Any, ct: Any, node: Any) -> Any:
        """What a hook on `node` returned in place of `ct`.

        Raises: RuntimeError: it has another shape or dtype. TypeError: it is no tensor.
        """
        if found is None:
            return ct
        name = getattr(hook, "__name__", repr(hook))
        if not isinstance(found, TensorBase):
            raise TypeError(
                f"hook '{name}' has returned {type(found).__name__}, expected a Tensor or None"
            )
        found = self.hidden(found)
        old, new = aval_of(ct._array if self.graph else ct), found
        new = aval_of(new._array if self.graph else new)
        if new.shape != old.shape:
            raise RuntimeError(
                f"hook '{name}' has changed the size of value: it got {list(old.shape)} and "
                f"returned {list(new.shape)}. {_made_at(node)}"
            )
        if new.dtype != old.dtype:
            raise RuntimeError(
                f"hook '{name}' has changed the type of value (was {old.dtype.name} got "
                f"{new.dtype.name}). {_made_at(node)}"
            )
        return found

    # ------------------------------------------------------------ results

    def finish(self) -> None:
        """Hand the leaves their gradients."""
        is_captured = self.captured is not None and self.returned
        if self.links and not is_captured:
            for leaf in behind(self.links).intersection(self.leaves):
                if leaf.ct is None:
                    zeros = zeros_like(leaf.array)
                    leaf.ct = tensor(zeros) if self.graph else zeros
        for leaf in self.leaves:  # all of them before any hook, which may write into what they read
            if leaf.ct.__class__ is Sum:
                leaf.ct = leaf.ct.value()
        for leaf in self.leaves:
            ct = leaf.ct
            leaf.ct = IDLE
            if ct is None:
                continue
            # Nobody but this frame refers to it: it may become `.grad` as it is.
            owned = ct.__class__ is ndarray and getrefcount(ct) == _ALONE and ct.base is None
            extras = leaf.extras
            if extras is not None:
                ct = self._hooked(leaf, ct, not is_captured)
                owned = False
            if is_captured:
                self._capture(leaf, ct)
                continue
            variable = leaf.variable if extras is not None else leaf.tensor()
            if variable is None or variable._node is not leaf:
                continue
            if owned and variable._grad is None and variable._original is None:
                dtype = ct.dtype
                if dtype is variable._array.dtype and dtype.kind == "f":  # nothing to convert
                    # As `tensor` does, for a gradient that is always counted.
                    variable._grad = grad = new(made.cls)
                    grad._array = ct
                    grad._node = grad._view = None
                    grad._counter = [0]
                    continue
            original = variable._original
            self._add_to_grad(variable if original is None else original, ct, owned)
            if extras is not None:
                for hook in list(extras.post_accumulate.values()):
                    with modes.no_grad():
                        if turns.called(hook, variable) is not None:
                            raise RuntimeError(
                                "Tensor post accumulate grad hooks should return None."
                            )
                for hook in list(extras.hooks.values()):
                    turns.called(hook, (), (self.shown(ct),))

    def _capture(self, edge: Any, ct: Any) -> None:
        if self.captured is not None and self.returned:
            self.captured[edge] = self.shown(ct if self.graph else _own(ct))

    def found(self, inputs: Sequence[Any], likes: Sequence[Any]) -> list[Any]:
        found = [self.captured[edge] for edge in inputs]  # type: ignore[index]
        if self.links and likes:
            known = behind(self.links)
            for i, edge in enumerate(inputs):
                if found[i] is None and likes[i] is not None and edge in known:
                    found[i] = tensor(zeros_like(likes[i]))
        return found

    def _add_to_grad(self, variable: TensorBase, ct: Any, owned: bool) -> None:
        """Add a cotangent to `.grad`, in place unless it is recorded."""
        old = variable._grad
        if self.graph:
            # Not the cotangent itself, which the graph may have saved.
            new = record(positive, (self.shown(ct),), None, "CloneBackward0")
            variable._grad = new if old is None else old + new
            return
        dtype = variable._array.dtype
        if dtype.kind == "c":
            ct = conjugate(ct)
        if ct.dtype is not dtype and ct.dtype != dtype:
            ct = ct.astype(dtype)
            owned = True
        if old is None:
            variable._grad = tensor(ct if owned else _own(ct))
        elif old._array.__class__ is ndarray and not isinstance(ct, Tracer):
            if old._array.base is not None or old._counter is UNCOUNTED:
                check_writable(old)
            old._array += ct
            count = old._counter[0] + 1
            old._counter[:] = (count, "the accumulation of gradients", self.freed.site)
            if mirrors.known:
                mirrors.written(old._counter, old._array)
        else:
            old._array = old._array + ct
            hold(old)


def warn_of_cycles() -> None:
    """PyTorch's warning, since the `.grad` of a program that stays in PyTorch would leak.

    Here there is no cycle (NOTE [Who owns whom] in `base.py`).
    """
    sites.warn(
        "Using backward() with create_graph=True will create a reference cycle between the parameter "
        "and its gradient which can cause a memory leak in PyTorch. Here nothing leaks: the graph and "
        "the gradient are freed with the tensors. Code that also runs on PyTorch should use "
        "autograd.grad, or reset the .grad fields of parameters to None after use."
    )


def _made_at(node: Any) -> str:
    """The line of the tensor whose gradient `node` gets."""
    node = node.node if node.__class__ is Port else node
    return f"The tensor was made at {sites.describe(node.site)}."


def _own(array: Any) -> Any:
    """A copy that nothing else refers to."""
    if isinstance(array, Tracer):
        return array
    return np.asarray(array) if isinstance(array, np.generic) else array.copy()


def _forward_places(node: Any) -> str:
    """Where a node was recorded, and if that was in a backward, where the node behind it was."""
    stack = node.metadata.get("traceback_")
    if stack is None:
        return (
            f"Error detected in {node.name()}, which was recorded at {sites.describe(node.site)}. No "
            f"forward pass information available. Enable detect anomaly during forward pass for more "
            f"information."
        )
    lines = [
        f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{stack}"
    ]
    parent = node.metadata.get("parent_")
    while parent is not None:
        stack = parent.metadata.get("traceback_")
        if stack is None:
            lines.append(
                f"Previous calculation was induced by {parent.name()}, which was recorded at "
                f"{sites.describe(parent.site)}."
            )
            break
        lines.append(
            f"Previous calculation was induced by {parent.name()}. Traceback of forward call that "
            f"induced the previous calculation:\n{stack}"
        )
        parent = parent.metadata.get("parent_")
    return "\n".join(lines)


def _in_order(node: Any, ct: Any) -> Sequence[Any]:
    """The cotangents of all results of a node, None for those that have not come."""
    return [ct.get(i) for i in range(node.count)] if ct.__class__ is dict else (ct,)


def _require_numbers(node: Any, cts: Sequence[Any]) -> None:
    """Raises: RuntimeError: a cotangent is NaN."""
    for i, ct in enumerate(cts):
        array = getattr(ct, "_array", ct)
        if array is not None and not isinstance(array, Tracer) and np.isnan(array).any():
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {i}th output. It was recorded "
                f"at {sites.describe(node.site)}."
            )
