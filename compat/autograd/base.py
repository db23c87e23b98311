"""The state of a tensor: array, edge into the graph, version counter, and what it is a view of.

NOTE [Who owns whom] A tensor owns its node; a node owns the nodes it hands cotangents to, and the
*arrays* that its rule reads, never a tensor. A leaf's node (`AccumulateGrad`) knows its tensor only
weakly. So there are no reference cycles, whatever the user keeps: everything is freed at once, also
with `create_graph=True`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.views import as_array

from . import modes, sites

ndarray = np.ndarray


# NOTE [Counters] How often the memory behind some tensors was written, shared by all of them: a list
# of the number, since nothing is cheaper to make, and after a write what wrote it and where.
class _Uncounted(list[Any]):
    """The counter of all inference tensors: there is nothing to count."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, you can make "
            "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`. One would be saved at "
            f"{sites.describe(sites.site())}."
        )


UNCOUNTED = _Uncounted()


class View:
    """What a tensor is a view of: the base, the chain of primitives, and the version it shows.

    `origin` is "" or says why the view must not be written into while gradients are recorded.
    """

    __slots__ = ("base", "chain", "origin", "seen")

    def __init__(self, base: TensorBase, chain: tuple[Any, ...], seen: int, origin: str) -> None:
        self.base = base
        self.chain = chain
        self.seen = seen
        self.origin = origin


class TensorBase:
    """What autograd knows of a tensor; `compat.Tensor` adds everything that users see.

    `_array`: a NumPy (CuPy) array, of 0 axes too, or a traced value of a funcgrad transform.
    `_node`: where its cotangent goes, None if it needs none. `_view`: None or a `View`, in which
    case `views.refresh` must come before `_node` is read. `_counter`: shared by all that share
    memory.
    """

    __slots__ = ("__dict__", "__weakref__", "_array", "_counter", "_node", "_view")
    _array: Any
    _node: Any
    _view: View | None
    _counter: list[Any]

    # Set on an instance only where they differ from these.
    _grad: Any = None
    _retains = False
    _origin: Any = None  # where it was made, for messages
    _original: Any = None  # of a stand-in (`levels.py`): whose `.grad` it fills
    _memory: Any = (
        None  # of what shows a part of a tensor and is no view of it: see `views.memory_of`
    )

    __hash__ = object.__hash__
    __program_reads__ = ("_array",)  # see `funcgrad/compile/captures.py`


_new = TensorBase.__new__


class _Made:
    """Which class results are of; set once, by the module that defines it."""

    cls: type[TensorBase] = TensorBase
    fresh: Callable[[], Any]  # a new tensor with nothing in it

    def set(self, cls: type[TensorBase]) -> None:
        self.cls = cls
        self.fresh = functools.partial(_new, cls)


made = _Made()
made.set(TensorBase)


def tensor(array: Any, node: Any = None) -> Any:
    """A new tensor of `array`, which is not copied."""
    out = _new(made.cls)
    if array.__class__ is not ndarray and isinstance(array, np.generic):
        array = np.asarray(array)
    out._array = array
    out._node = node
    out._view = None
    out._counter = UNCOUNTED if modes.get().inference else [0]
    if array.__class__ is not ndarray:
        hold(out)
    return out


# What to call with a tensor whose array is of a class that wants to know who holds it.
holders: dict[type, Callable[[TensorBase], None]] = {}


def hold(x: TensorBase) -> None:
    """Tell the traced value of `x` that `x` holds it, if that wants to know."""
    array = as_array(x._array)  # tensors are arrays, also those without axes
    found = holders.get(array.__class__)
    if found is not None:
        found(x)


class _Sparse:
    """What `compat.sparse` tells the layers below; nothing until a first sparse tensor is made."""

    rules: Callable[..., Any]  # (prim, args, params) -> a tensor; in place of running the primitive
    of_dense: Callable[..., Any]
    masked: Callable[..., Any]
    refusal: Callable[..., Exception]


# The class of sparse tensors, once there is one, so that `record` looks for it from then on only.
sparse_kinds: set[type[TensorBase]] = set()
sparse = _Sparse()
