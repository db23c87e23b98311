"""The graph: nodes, the edges between them, what they save, and the hooks on them.

An edge is a node, or a `Port` of a node with several results. `node.next` holds the edges of the
operands, None for one that needs no gradient.
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from funcgrad.algebra import conform
from funcgrad.core import Aval, Primitive, Tracer
from funcgrad.transforms.tape import with_zeros
from funcgrad.transforms.transpose import cotangents

from ..utils.hooks import RemovableHandle
from . import modes, sites, turns
from .base import TensorBase, tensor
from .errors import require_unwritten, second_backward
from .narrow import BFLOAT16, is_narrow, narrowed, widened

IDLE = "idle"  # in `node.ct`: no backward pass is looking at the node
NOTHING = ()  # in `node.saved`: nothing was saved, so there is nothing to free
next_number = itertools.count().__next__
Face = Callable[[TensorBase], Any]  # makes of a tensor what rules can read


def _listed(x: Any) -> Sequence[Any]:
    return x if isinstance(x, tuple | list) else (x,)


class Extras:
    """What most nodes do not have: hooks, tensors that retain their gradient, metadata."""

    __slots__ = (
        "hooks",
        "metadata",
        "post_accumulate",
        "prehooks",
        "retaining",
        "tensor_hooks",
    )

    def __init__(self) -> None:
        self.tensor_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.post_accumulate: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.retaining: list[weakref.ref[TensorBase]] = []
        self.prehooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self.metadata: dict[Any, Any] = {}


class Freed:
    """Stands in `node.saved` for what a backward pass has freed; knows where that was.

    Whatever is computed with one raises TypeError or AttributeError, which printed rules rely on.
    """

    __slots__ = ("site",)
    __array_ufunc__ = None

    def __init__(self, site: sites.Site) -> None:
        self.site = site

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("a freed value")


# ---------------------------------------------------------------- saved values


class Saved:
    """A value that a rule reads, with the version at which it was saved.

    It is rebuilt as a tensor when it is asked for, so the graph does not own one (NOTE [Who owns
    whom] in `base.py`). `is_result`: it is a result of the node that saves it.
    """

    __slots__ = ("array", "counter", "is_result", "version")

    def __init__(self, array: Any, counter: list[Any], version: int, is_result: bool) -> None:
        self.array = array
        self.counter = counter
        self.version = version
        self.is_result = is_result

    def check(self, node: Node) -> None:
        if self.counter[0] != self.version:
            require_unwritten(node, self)

    def value(self, node: Node) -> Any:
        """The bare array."""
        self.check(node)
        return self.array

    def unpack(self, node: Node, edge: Any) -> TensorBase:
        """The tensor, with `edge` as its place in the graph."""
        self.check(node)
        if edge.__class__ is AccumulateGrad:
            original = edge.alive()
            if original is not None and original._array is self.array:
                return original
        out = tensor(self.array, edge)
        out._counter = self.counter
        return out


class Packed:
    """A value that saved-tensor hooks have packed."""

    __slots__ = ("is_result", "packed", "shape", "unpack_hook")

    def __init__(
        self, packed: Any, unpack_hook: Callable[[Any], Any], is_result: bool, shape: Any
    ) -> None:
        self.packed = packed
        self.unpack_hook = unpack_hook
        self.is_result = is_result
        self.shape = shape

    def value(self, node: Node) -> Any:
        return self.unpack(node, None)._array

    def unpack(self, node: Node, edge: Any) -> TensorBase:
        found = turns.called(self.unpack_hook, self.packed)
        if not isinstance(found, TensorBase):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(found).__name__}"
            )
        if found._array.shape != self.shape:
            raise RuntimeError(
                f"A saved tensor unpack_hook returned a tensor of shape {list(found._array.shape)} for "
                f"one of shape {list(self.shape)}, which {node.name()} saved at "
                f"{sites.describe(node.site)}: it must give back what was packed."
            )
        out = tensor(found._array, edge)
        out._counter = found._counter
        return out


def save(array: Any, counter: list[Any], is_result: bool, mode: modes.Mode) -> Any:
    """`array` kept for the backward pass, as the mode wants it."""
    if mode.pack is None or mode.pack.__class__ is str:
        if mode.unlocked is not None:
            return mode.unlocked.saved(array, counter, is_result)
        return Saved(array, counter, counter[0], is_result)
    pack, unpack = mode.pack
    handed = tensor(array)
    handed._counter = counter
    before = counter[0]
    token = modes.current.set(modes.NO_GRAD)
    try:
        packed = pack(handed)
    finally:
        modes.current.reset(token)
    if counter[0] != before:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input "
            "to pack hook cannot be modified by in-place operations as this can lead to "
            "unexpected side-effects. Please open an issue if you need to perform in-place "
            "operations on the input to a pack hook."
        )
    return Packed(packed, unpack, is_result, array.shape)


# ---------------------------------------------------------------- nodes


class Node:
    """One recorded operation.

    `seq`: later nodes have larger numbers, which is the order backward runs in, reversed.
    `saved`: what the rule reads, or `NOTHING`; `Freed` once a backward pass has freed it. `code` and
    `offset`: the user's line, as in `sites.py`. `ct`: NOTE [Cotangents on nodes] in `engine.py`.
    """

    __slots__ = ("__weakref__", "code", "ct", "extras", "next", "offset", "saved", "seq")
    left: Any = None  # of printed nodes: the one edge or the first of two, which `next` holds too
    right: Any = None
    seq: float
    next: tuple[Any, ...]
    saved: Any
    ct: Any
    extras: Extras | None
    code: Any
    offset: int

    def pull(self, ct: Any, freed: Freed | None) -> None:
        """Add the operands' cotangents to theirs, from the result's; on bare arrays.

        `freed`: what takes the place of the saved values, if they are not retained.
        """
        for edge, g in zip(self.next, self.pull_list(ct, None), strict=True):
            if edge is not None and g is not None:
                old = edge.ct
                edge.ct = g if old is None else old + g
        if freed is not None:
            self.free(freed)

    def free(self, freed: Freed) -> None:
        """Let go of the saved values."""
        if self.saved is not NOTHING:
            self.saved = freed

    def pull_list(self, ct: Any, face: Face | None) -> Sequence[Any]:
        """The operands' cotangents: of bare arrays, or with `face` of tensors and recorded."""
        raise NotImplementedError

    @property
    def site(self) -> sites.Site:
        return self.code, self.offset

    # ------------------------------------------------------------ what users see

    def name(self) -> str:
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        return tuple((e.node, e.number) if e.__class__ is Port else (e, 0) for e in self.next)

    @property
    def metadata(self) -> dict[Any, Any]:
        return extras(self).metadata

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node has run; it may replace the first."""
        return RemovableHandle.added(extras(self).hooks, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node runs; it may replace them."""
        return RemovableHandle.added(extras(self).prehooks, fn)

    def _sequence_nr(self) -> int:
        return int(self.seq)

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle {self.name()!r} object")


def extras(edge: Any) -> Extras:
    if edge.extras is None:
        edge.extras = Extras()
    return edge.extras


class Port:
    """Result number `number` of a node that has several."""

    __slots__ = ("__weakref__", "ct", "extras", "left", "next", "node", "number", "seq")
    right: Any = None

    def __init__(self, node: Any, number: int) -> None:
        self.node = node
        self.number = number
        self.left = node
        self.next = (node,)
        self.seq = next_number()
        self.ct: Any = IDLE
        self.extras: Extras | None = None

    def pull(self, ct: Any, freed: Freed | None) -> None:
        found = self.node.ct
        if found is None:
            found = self.node.ct = {}
        old = found.get(self.number)
        found[self.number] = ct if old is None else old + ct

    def free(self, freed: Freed) -> None:
        """A port saves nothing."""


class AccumulateGrad(Node):
    """The node of a leaf: adds what arrives to the leaf's `.grad`."""

    __slots__ = ("array", "born", "counter", "tensor")

    def __init__(self, leaf: TensorBase) -> None:
        self.seq = -1  # lower than those of all operations
        self.born = next_number()
        self.ct = IDLE
        self.next = ()
        self.saved = NOTHING
        self.extras = None
        self.code, self.offset = sites.site()
        self.array = leaf._array
        self.counter = leaf._counter
        self.tensor = weakref.ref(leaf)

    def alive(self) -> TensorBase | None:
        return self.tensor()

    @property
    def variable(self) -> TensorBase:
        """The leaf; made anew if the user has dropped it."""
        found = self.tensor()
        if found is None:
            found = tensor(self.array, self)
            found._counter = self.counter
            self.tensor = weakref.ref(found)
        return found


_ARGUMENT_NAMES = {
    "power": ("self", "exponent"),
    "matmul": ("self", "mat2"),
    "where": ("condition", "self", "other"),
}


def _saved_value(name: str) -> Any:
    """The property ``node._saved_<name>``; `_ARGUMENT_NAMES` says which operand it is.

    A property and not `__getattr__`, which would slow down every look at a node.
    """

    def value(node: OpNode) -> Any:
        ans, xs = node.entries(None)
        names = _ARGUMENT_NAMES.get(node.prim.name, ("self", "other"))[: len(xs)]
        if name == "result":
            found, edge = ans, node
        elif name in names:
            found, edge = xs[names.index(name)], node.next[names.index(name)]
        elif hasattr(node.prim, name):  # an operand that the primitive of a fast path has fixed
            found, edge = getattr(node.prim, name), None
        else:
            raise AttributeError(f"{node.name()!r} object has no attribute '_saved_{name}'")
        if found.__class__ in SAVED:
            return found.unpack(node, edge)
        return None if found.__class__ is Aval else found

    return property(value)


class OpNode(Node):
    """A node of a primitive: everything follows from the primitive's rule.

    `saved` is ``(ans, xs)``: each entry a `Saved` value, the `Aval` of one that is not read, or a
    plain constant; `ans` is a tuple for a primitive with several results. If nothing at all is
    saved it is empty and the pair is in `types`, so that there is nothing to free.
    """

    __slots__ = ("params", "prim", "types")
    prim: Primitive
    params: dict[str, Any]
    types: Any
    argument_names = ("self", "other")  # what `_saved_<name>` of the operands is called

    _saved_self = _raw_saved_self = _saved_value("self")
    _saved_other = _raw_saved_other = _saved_value("other")
    _saved_result = _raw_saved_result = _saved_value("result")
    _saved_exponent = _raw_saved_exponent = _saved_value("exponent")
    _saved_mat2 = _raw_saved_mat2 = _saved_value("mat2")
    _saved_condition = _raw_saved_condition = _saved_value("condition")

    def __dir__(self) -> list[str]:
        return [n for n in super().__dir__() if "_saved_" not in n or self._has(n)]

    def _has(self, name: str) -> bool:
        try:
            return hasattr(self, name)
        except RuntimeError:  # it is freed
            return True

    @property
    def count(self) -> int:
        """The number of results of a primitive with several."""
        return len((self.types if self.saved is NOTHING else self.saved)[0])

    def entries(self, ct: Any) -> tuple[Any, Sequence[Any]]:
        """``(ans, xs)``, each a saved value, a type or a constant."""
        if self.saved.__class__ is Freed:
            raise second_backward(self)
        return self.types if self.saved is NOTHING else self.saved

    def pull_list(self, ct: Any, face: Face | None) -> Sequence[Any]:
        ans, xs = self.entries(ct)
        wanted = [e is not None for e in self.next]
        if self.prim.multiple:
            ct = [ct.get(i) for i in range(len(ans))]
        if face is None:
            values: list[Any] = [x.value(self) if x.__class__ in SAVED else x for x in xs]
            bare_ans = self._ans(ans, None)
            return self._cotangents(ct, bare_ans, values, wanted)
        values = [
            face(x.unpack(self, e))
            if x.__class__ in SAVED
            else face(tensor(x))  # a constant that is traced: `face`'s operations would not see it
            if isinstance(x, Tracer)
            else x
            for x, e in zip(xs, self.next, strict=True)
        ]
        if self.prim.multiple:
            bare = not any(isinstance(c, TensorBase) for c in ct)
            ct = ct if bare else [None if c is None else face(c) for c in ct]
        else:
            bare = not isinstance(ct, TensorBase)
            ct = ct if bare else face(ct)
        found = self._cotangents(ct, self._ans(ans, face), values, wanted)
        return found if bare else [None if g is None else tensor_behind(g) for g in found]

    def _cotangents(
        self, ct: Any, ans: Any, values: Sequence[Any], wanted: Sequence[bool]
    ) -> Sequence[Any]:
        """By the rule; in float32 if something is bfloat16."""
        if BFLOAT16 is None or not any(map(is_narrow, (*_listed(ct), *values))):
            return cotangents(self.prim, ct, ans, values, wanted, self.params)
        ct, ans = (
            type(x)(map(widened, x)) if isinstance(x, tuple | list) else widened(x)
            for x in (ct, ans)
        )
        wide = [widened(v) for v in values]
        found = cotangents(self.prim, ct, ans, wide, wanted, self.params)
        pairs = zip(found, values, strict=True)
        return [narrowed(g) if g is not None and is_narrow(v) else g for g, v in pairs]

    def keep_written(self, array: Any, counter: list[Any]) -> None:
        """The result was written into `array`: what was saved of it is that, as it is now."""
        if self.saved[0].__class__ is Saved:
            self.saved = (Saved(array, counter, counter[0], True), self.saved[1])

    def keep_copies(self, counter: list[Any]) -> None:
        """Copy what was saved of the memory counted by `counter`; see `inplace` in `ops`."""
        if self.saved is not NOTHING:
            ans, xs = self.saved
            self.saved = (
                ans,
                [
                    Saved(x.array.copy(), [0], 0, False)
                    if x.__class__ is Saved and x.counter is counter and not x.is_result
                    else x
                    for x in xs
                ],
            )

    def _ans(self, ans: Any, face: Face | None) -> Any:
        if ans.__class__ is tuple:
            return tuple(
                a
                if a.__class__ not in SAVED
                else a.value(self)
                if face is None
                else face(a.unpack(self, Port(self, i)))
                for i, a in enumerate(ans)
            )
        if ans.__class__ not in SAVED:
            return ans
        return ans.value(self) if face is None else face(ans.unpack(self, self))


class LinearNode(OpNode):
    """A node of a primitive that is linear in its one operand, of which it keeps the type."""

    __slots__ = ("left", "like")
    left: Any
    like: Aval

    @property
    def next(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (self.left,)

    def entries(self, ct: Any) -> tuple[Any, Sequence[Any]]:
        return None, [self.like]

    def pull(self, ct: Any, freed: Freed | None) -> None:
        prim, like = self.prim, self.like
        if BFLOAT16 is not None and (ct.dtype is BFLOAT16 or like.dtype is BFLOAT16):
            super().pull(ct, freed)
            return
        g = prim.rules[0](ct, like, **self.params)  # type: ignore[attr-defined]
        if g.dtype is not like.dtype or g.shape != like.shape:
            g = conform(g, like)
        e = self.left
        old = e.ct
        e.ct = g if old is None else old + g


class OpaqueNode(OpNode):
    """A node of a primitive that runs itself under reverse mode (`Primitive.forward`).

    `saved` is the residual and the operands, which are needed if backward is recorded itself. Of the
    memory of those in `read`, numbered, the residual has a part, and of the results in `shown`.
    """

    __slots__ = ("read", "shown")
    read: Sequence[int]
    shown: Sequence[Saved]

    @property
    def count(self) -> int:
        return len(self.types)

    def pull_list(self, ct: Any, face: Face | None) -> Sequence[Any]:
        if self.saved.__class__ is Freed:
            raise second_backward(self)
        prim, params = self.prim, self.params
        residual, xs = self.saved
        wanted = [e is not None for e in self.next]
        bare = not any(isinstance(c, TensorBase) for c in ct.values())
        given = [ct.get(i) for i in range(self.count)]
        if not bare and face is not None:
            given = [None if c is None else face(c) for c in given]
        cts = with_zeros(prim, given, self.types)
        if face is None:
            for x in (*(xs[i] for i in self.read), *self.shown):
                if x.__class__ is Saved:
                    x.check(self)
            return list(prim.backward(residual, cts, wanted, params))
        values = [
            face(x.unpack(self, e)) if x.__class__ in SAVED else x
            for x, e in zip(xs, self.next, strict=True)
        ]
        _, residual = prim.forward(values, wanted, params)
        found = list(prim.backward(residual, cts, wanted, params))
        return found if bare else [None if g is None else tensor_behind(g) for g in found]

    def keep_copies(self, counter: list[Any]) -> None:
        """As for other nodes; the residual, too, gets copies of what it has of that memory."""
        if self.saved is not NOTHING:
            xs = self.saved[1]
            old = [x.array for x in xs if x.__class__ is Saved and x.counter is counter]
            super().keep_copies(counter)
            self.saved = (_apart(self.saved[0], old), self.saved[1])


def _apart(x: Any, arrays: Sequence[Any]) -> Any:
    """`x`, with copies of the arrays in it that may share memory with some of `arrays`."""
    if x.__class__ in (list, tuple):
        return x.__class__([_apart(part, arrays) for part in x])
    if arrays and isinstance(x, Tracer):  # whose numbers may be those of any other
        traced: Any = x
        return traced.copy()
    if isinstance(x, np.ndarray) and any(np.may_share_memory(x, a) for a in arrays):
        return x.copy()
    return x


def tensor_behind(g: Any) -> TensorBase:
    """The tensor behind what rules compute with; a constant becomes one."""
    found = getattr(g, "tensor", None)
    return tensor(g) if found is None else found


def new_node(cls: Any, prim: Primitive, params: dict[str, Any], edges: Sequence[Any]) -> Any:
    """A node of a primitive, recorded here and now; what it saves is up to the caller."""
    node = cls.__new__(cls)
    node.prim = prim
    node.params = params
    node.seq = next_number()
    node.next = tuple(edges)
    node.ct = IDLE
    node.extras = None
    node.code, node.offset = sites.site()
    return node


SAVED: frozenset[Any] = frozenset({Saved, Packed})

_CLASSES: dict[tuple[str, type[Node]], type[Node]] = {}


def node_class(name: str, base: type[Node] = OpNode) -> Any:
    """The class of nodes called `name`."""
    found = _CLASSES.get((name, base))
    if found is None:
        found = _CLASSES[name, base] = type(name, (base,), {"__slots__": ()})
    return found


def sequence_number() -> int:
    """A number between those of the nodes recorded before and after this call."""
    return next_number()


# ---------------------------------------------------------------- anomaly detection

# Under anomaly detection: the node whose backward is being run.
evaluated: ContextVar[Any] = ContextVar("evaluated", default=None)


def note_forward(node: Node) -> None:
    """Keep the user's stack where a node was recorded, and the node whose backward did it."""
    metadata = node.metadata
    metadata["traceback_"] = sites.stack()
    metadata["parent_"] = evaluated.get()
