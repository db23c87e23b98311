"""What compiled code depends on besides its arguments, and whether a program may stand for it.

A program is right as long as the same tensors, flags, options and numbers are there; `State` finds
and compares them. Tracing must change none of them but tensors: `restored` sees to that.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compile.captures import captures
from funcgrad.compile.freshness import NUMBERS, Code, Place, Size, checker, watched_arrays

from . import dtypes
from .amp.grad_scaler import GradScaler
from .autograd import views
from .autograd.base import TensorBase
from .autograd.node import AccumulateGrad
from .dtypes import dtype
from .nn.module import Module
from .nn.uninitialized import is_lazy
from .ops.generator import Generator
from .ops.interchange import attributes
from .optim.lr_scheduler import LRScheduler
from .optim.optimizer import Optimizer

# Methods that are called by the library: of modules and of custom functions.
_CALLED = ("forward", "backward", "setup_context", "jvp", "vjp", "vmap")


class NotCompilableError(Exception):
    """The code does something that one program cannot do; the message says what."""


class _Keys:
    """The keys of a dictionary, of hooks for instance."""

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        self.copy = tuple(holder)

    def is_same(self) -> bool:
        return tuple(self.holder) == self.copy


class _Empty:
    """Dictionaries with nothing in them: nearly all that hold hooks, so they are looked at at once."""

    def __init__(self) -> None:
        self.holders: list[Any] = []

    def is_same(self) -> bool:
        return not any(self.holders)


class State:
    """The tensors that a function reads besides its arguments, and what else decides its program."""

    def __init__(self, f: Any) -> None:
        found = captures(_as_users(f), names=_CALLED, looks_inside=False)
        held = [f, getattr(f, "__self__", None), *(p.value for p in found.places)]
        inner = [m for x in held if isinstance(x, Module) for m in x.modules()]
        if inner:  # what the modules read of their own, and is no parameter or module
            found = captures(_as_users(f), *inner, names=_CALLED, looks_inside=False)
            held[2:] = [p.value for p in found.places]
        self.places = [*found.places, Place(vars(dtypes), "_default", dtypes.get_default_dtype())]
        self.modules: list[Module] = []
        self.optimizers: list[Optimizer] = []
        self.tensors: list[TensorBase] = []
        self.sources = [x for x in held if _runs_out(x)]
        self.weak = found.weak
        for x in held:
            if isinstance(x, Module) and x not in self.modules:
                self.modules.append(x)
            elif isinstance(x, Optimizer) and x not in self.optimizers:
                self.optimizers.append(x)
            elif isinstance(x, TensorBase):
                self.tensors.append(x)
            elif isinstance(x, LRScheduler):
                self.places += [Place(vars(x), k, v) for k, v in vars(x).items()]
        self.containers: list[Any] = [*found.containers, *watched_arrays(found.places, ())]
        if isinstance(f, types.FunctionType):
            self.containers.append(Code(f))
        self.empty = _Empty()
        for module in self.modules:
            for m in module.modules():
                self.containers += [Size(m._modules), Size(vars(m))]
                self.places += [Place(m._modules, k, v) for k, v in m._modules.items()]
                for k, v in vars(m).items():
                    if k.endswith("_hooks") and isinstance(v, dict):
                        self._watch(v)
                    elif k != "training" and (v is None or isinstance(v, (*NUMBERS, tuple))):
                        self.places.append(Place(vars(m), k, v))
        for optimizer in self.optimizers:
            for hooks in optimizer._hooks.values():
                self._watch(hooks)

    def _watch(self, hooks: dict[Any, Any]) -> None:
        if hooks:
            self.containers.append(_Keys(hooks))
        else:
            self.empty.holders.append(hooks)

    def all_tensors(self) -> list[Any]:
        found = list(self.tensors)
        for module in self.modules:
            found += [*module.parameters(), *module.buffers()]
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                found += [v for v in (*group["params"], *group.values()) if _is_tensor(v)]
            for state in optimizer.state.values():
                found += filter(_is_tensor, state.values())
        found += [v for t in found for v in attributes(t).values() if _is_tensor(v)]
        return list({id(t): t for t in found}.values())

    def flags(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """What a program depends on beside the types of tensors, these among them."""
        training = [m.training for module in self.modules for m in module.modules()]
        options = [
            (
                *((k, _as_key(v)) for k, v in group.items() if k != "params"),
                *map(id, group["params"]),
            )
            for optimizer in self.optimizers
            for group in optimizer.param_groups
        ]
        own = [
            (i, k, v if v is None or isinstance(v, (str, *NUMBERS)) else id(v))
            for i, t in enumerate(tensors)
            for k, v in attributes(t).items()
        ]
        return tuple(training), tuple(options), tuple(own)

    def watched(self) -> list[Place]:
        """Where the tensors, flags and options are found."""
        places = list(self.places)
        for t in self.all_tensors():
            places += [Place(vars(t), k, v) for k, v in attributes(t).items()]
        for module in self.modules:
            for m in module.modules():
                places.append(Place(m.__dict__, "training", m.training))
                for entries in (m._parameters, m._buffers):
                    places += [Place(entries, k, v) for k, v in entries.items()]
        for optimizer in self.optimizers:
            own = vars(optimizer)
            places += [Place(own, k, own[k]) for k in ("param_groups", "state")]
            for i, group in enumerate(optimizer.param_groups):
                places.append(Place(optimizer.param_groups, i, group))
                places += [Place(group, k, v) for k, v in group.items()]
                places += [Place(group["params"], i, p) for i, p in enumerate(group["params"])]
            for t, state in optimizer.state.items():
                places.append(Place(optimizer.state, t, state))
                places += [Place(state, k, v) for k, v in state.items()]
        return places

    def is_fresh(self) -> Callable[[], bool]:
        """A function that says whether the same tensors, flags and options are there as now."""
        return checker(self.watched(), [*self.containers, self.empty, *self._sizes()])

    def _sizes(self) -> list[Size]:
        """Of what parameters and the optimizers' groups and states may be added to."""
        found = [e for x in self.modules for m in x.modules() for e in (m._parameters, m._buffers)]
        for optimizer in self.optimizers:
            found += [optimizer.param_groups, optimizer.state, *optimizer.state.values()]
            for group in optimizer.param_groups:
                found += [group, group["params"]]
        return list(map(Size, found))

    def has_changed(self) -> bool:
        """Whether something is there that a key of a program does not tell."""
        return not all(x.is_same() for x in (*self.places, *self.containers, self.empty))


def _as_users(f: Any) -> Any:
    """A function that is searched for what it reads also where it was defined in this library."""
    if not isinstance(f, types.FunctionType):
        return f
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = f.__kwdefaults__
    made.__module__ = "__main__"
    return made


def _is_tensor(x: Any) -> bool:
    return isinstance(x, TensorBase)


def _runs_out(x: Any) -> bool:
    """Whether something goes on each time it is asked: iterators, random numbers, scalers."""
    if isinstance(x, (np.random.Generator, np.random.RandomState, random.Random, Generator)):
        return True
    if isinstance(x, GradScaler):
        return x.is_enabled()
    return not isinstance(x, type) and hasattr(x, "__next__")


def _as_key(x: Any) -> Any:
    return tuple(x) if isinstance(x, list) else x if not isinstance(x, TensorBase) else id(x)


def not_plain(leaves: Sequence[Any], tensors: Sequence[Any], state: State) -> str:
    """Why there is no program for these: unknown arguments, hooks, tensors that share memory."""
    for x in leaves:
        if not (x is None or isinstance(x, (TensorBase, dtype, type, *NUMBERS))):
            return f"an argument is of type {type(x).__name__}"
    for x in state.sources:
        return f"it reads from an object of type {type(x).__name__}, which runs out or on"
    if state.weak:
        return "it reads a weak reference, behind which anything may change"
    for t in tensors:
        if is_lazy(t):
            return "a parameter gets its shape from the first input"
        if t._array.__class__ is not np.ndarray:
            return f"a tensor holds no NumPy array but {type(t._array).__name__}"
        if not is_leaf(t):
            return "a tensor from outside has a history; detach it"
        if _has_hooks(t._node):
            return "a tensor has hooks"
    for module in state.modules:
        for m in module.modules():
            if any(v for k, v in vars(m).items() if k.endswith("_hooks") and _may_run(k)):
                return f"{type(m).__name__} has hooks"
    if any(any(o._hooks.values()) for o in state.optimizers):
        return "an optimizer has hooks"
    arrays = [t._array for t in (*tensors, *(t._grad for t in tensors if t._grad is not None))]
    spans = sorted(np.lib.array_utils.byte_bounds(a) for a in arrays if a.size)
    for (_, stop), (start, _) in itertools.pairwise(spans):
        if start < stop:
            return "two tensors share memory"
    return ""


def is_leaf(t: Any) -> bool:
    """Whether neither a tensor nor what it is a view of has a history."""
    node = t._node
    if t._view is not None:
        return node is None and views.base_of(t._view)._node is None
    return node is None or node.__class__ is AccumulateGrad


def _may_run(hooks: str) -> bool:
    """Whether a call of a module runs what is kept under this name."""
    return hooks.startswith("_") and "state_dict" not in hooks


def _has_hooks(node: Any) -> bool:
    more = None if node is None else node.extras
    if more is None:
        return False
    return bool(more.tensor_hooks or more.prehooks or more.hooks or more.post_accumulate)


def _containers(x: Any) -> Iterator[Any]:
    """The lists and dicts in an argument."""
    if isinstance(x, list | dict):
        yield x
    if isinstance(x, list | tuple | dict):
        for entry in x.values() if isinstance(x, dict) else x:
            yield from _containers(entry)


@contextlib.contextmanager
def restored(state: State, given: Any) -> Iterator[None]:
    """What is no tensor is put back, also in the containers among the arguments `given`.

    Raises: NotCompilableError: the code has changed some of it.
    """
    places = state.watched()
    holders: list[Any] = [p.holder for p in places if isinstance(p.holder, dict)]
    holders = [x for x in holders if x is not sys.modules]  # what was imported stays
    containers = [getattr(c, "holder", None) for c in state.containers]
    holders += [c for c in containers if isinstance(c, list | dict | set | deque)]
    holders += state.empty.holders
    for optimizer in state.optimizers:
        holders += [optimizer.state, *optimizer.state.values()]
    copies = [(x, x.copy()) for x in {id(x): x for x in holders}.values()]
    arguments = [(x, x.copy()) for x in _containers(given)]
    tensors = [*state.all_tensors(), *filter(_is_tensor, tree.flatten(given)[0])]
    own = [(t, attributes(t)) for t in tensors]
    changed: list[Any] = []
    try:
        yield
    finally:
        for place in places:
            if not place.is_same():
                changed.append(place.key)
                place.put_back()
        for holder, copy in copies:
            if len(holder) != len(copy) or (
                isinstance(copy, dict) and holder.keys() != copy.keys()
            ):
                changed.append("what is in a container")
                _fill(holder, copy)
        for t, before in own:
            after = attributes(t)
            changed += [k for k in after if k not in before or after[k] is not before[k]]
            changed += before.keys() - after.keys()
            for k in after.keys() - before.keys():
                del vars(t)[k]
            vars(t).update(before)
        for holder, copy in arguments:
            if not _is_same(holder, copy):
                changed.append("an argument")
                _fill(holder, copy)
                if isinstance(holder, dict):
                    holder.update(copy)
    if changed:
        names = ", ".join(sorted({str(k or "a variable") for k in changed}))
        raise NotCompilableError(f"it changes what is no tensor: {names}")


def _is_same(x: Any, y: Any) -> bool:
    """Whether two lists or dicts hold the same things."""
    if len(x) != len(y) or (isinstance(x, dict) and x.keys() != y.keys()):
        return False
    return all(x[k] is y[k] for k in (y if isinstance(y, dict) else range(len(y))))


def _fill(holder: Any, copy: Any) -> None:
    """Give a container what was in it; of a dictionary, other code may read the rest meanwhile."""
    if isinstance(holder, dict):
        for k in holder.keys() - copy.keys():
            del holder[k]
        for k in copy.keys() - holder.keys():
            holder[k] = copy[k]
    elif isinstance(holder, set):
        holder.clear()
        holder.update(copy)
    else:
        holder.clear()
        holder.extend(copy)
