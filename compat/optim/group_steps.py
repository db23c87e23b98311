"""The steps of the parameters of one group, by the rule of their optimizer: NOTE [Rules]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.core import Tracer
from funcgrad.optim.in_place import BLOCK, LARGE, SHORT, loop_of
from funcgrad.optim.rule import exact, switched_on

from .. import dtypes
from ..autograd import base, mirrors, modes, sites, views
from ..autograd.base import UNCOUNTED, TensorBase

ndarray = np.ndarray
Group = dict[str, Any]
State = dict[str, Any]
_LASTING = frozenset({int, float, bool, str, type(None)})  # cannot be written into


class GroupSteps:
    """Steps with the options of one group, as long as these stay what they are."""

    def __init__(self, optimizer: Any, group: Group) -> None:
        self.rule, self.rounded = optimizer.rule, optimizer.rounded
        self.what = f"{type(optimizer).__name__}.step()"
        self.group = dict(group)
        self.options = {k: v if k == "params" else scalar(v) for k, v in group.items()}
        self.on = switched_on(self.options)
        self.seen = list(group.values()) if _is_lasting(group) else None
        # By the counts, which nearly all parameters have in common, by dtype and by length.
        self.loops: dict[Any, Any] = {}

    def is_for(self, group: Group) -> bool:
        """Whether these are steps with the options that the group has now."""
        return (
            self.seen is not None
            and self.group["params"] is group["params"]
            and self.seen == list(group.values())
        )

    # ------------------------------------------------------------ on arrays

    def change(
        self,
        params: Sequence[Any],
        states: Any,
        begin: Callable[[Any, Group], State],
        here: sites.Site,
    ) -> None:
        """One step on the arrays in the tensors; nothing is recorded."""
        self.here = here
        mode = modes.get()
        self.is_plain = mode.level is None and mode.unlocked is None and mode.forward is None
        if self.rule.counts:
            self.loops.clear()  # the numbers of the step before
        for param in params:
            grad = param._grad
            if grad is None:
                continue
            state = states.get(param)
            if not state:
                state = begin(param, self.options)
                if state:
                    states[param] = state
            if not (self.is_plain and self.in_place(param, grad, state)):
                with modes.ModeSwitch(records=False):
                    self.by_rule(param, grad, state)
                if state:
                    states[param] = state

    def in_place(self, param: Any, grad: Any, state: State) -> bool:
        """Write into parameter and state, if nothing about them is special."""
        p, g = param._array, grad._array
        if (
            p.__class__ is not ndarray
            or g.__class__ is not ndarray
            or param._view is not None
            or grad._view is not None
            or param._counter is UNCOUNTED
            or (mirrors.known and id(param._counter) in mirrors.known)
            or not (p.base is None or p.flags.c_contiguous)
            or not p.flags.writeable
        ):
            return False
        shape, dtype = p.shape, p.dtype
        if g.shape != shape or (g.dtype is not dtype and g.dtype != dtype):
            return False
        size = p.size
        # Of one element: perhaps without axes, which the loops look at.
        length = -1 if size == 1 else (size > SHORT) + (size > BLOCK) + (size >= LARGE)
        arrays: dict[str, Any] = {}
        counts: dict[str, Any] = {}
        written = []
        if state:
            in_counts = self.rule.counts
            for k, v in state.items():
                if k in in_counts:
                    counts[k] = _count(v, k)
                elif v is not None:
                    x = arrays[k] = _array(v)
                    if x.__class__ is not ndarray or x.shape != shape or x.dtype != dtype:
                        return False
                    written.append(v)
            key: Any = (*counts.values(), dtype, length, *arrays)
        else:
            key = (dtype, length)
        found = self.loops.get(key)
        if found is None:
            found = self.loops[key] = self.loop(p, counts, arrays)
        loop, numbers, after = found
        if loop is None:
            return False
        if dtype.kind != "c":
            loop(p, g, *arrays.values(), *numbers)
        else:
            loop(p.real, g.real, *[x.real for x in arrays.values()], *numbers)
            loop(p.imag, g.imag, *[x.imag for x in arrays.values()], *numbers)
        param._counter[:] = (param._counter[0] + 1, self.what, self.here)
        if state:
            self.touch(written)
            if after:
                self.store(state, after)
        return True

    def loop(self, p: Any, counts: State, arrays: State) -> tuple[Any, ...]:
        """The loop in place, if there is one, its numbers, and the counts after the step."""
        n, after = self.rule.numbers(self.options, counts)
        real = p.real.dtype if self.rule.by_parts else p.dtype
        found = loop_of(self.rule, real, tuple(arrays), tuple(n), self.on)
        if found is None:
            return None, (), after
        # NumPy is faster with these than with Python's numbers.
        numbers = [np.array(v, real) if v.__class__ in (int, float) else v for v in n.values()]
        return found.ready(p.size), numbers, after

    def touch(self, tensors: list[Any]) -> None:
        """As `views.touch` does, with the user's line looked up once for a step."""
        what, here = self.what, self.here
        for tensor in tensors:
            counter = tensor._counter
            if counter is not UNCOUNTED:
                counter[:] = (counter[0] + 1, what, here)

    def by_rule(self, param: Any, grad: Any, state: State) -> None:
        """The step of any other parameter: the rule itself makes new arrays."""
        views.check_writable(param)
        values = {
            k: _count(v, k) if k in self.rule.counts else _array(v)
            for k, v in state.items()
            if v is not None
        }
        new, changes = self.rule(_array(param), _array(grad), values, self.options)
        views.assign(param, new, self.what)
        self.store(state, changes)

    def store(self, state: State, changes: State) -> None:
        """Put what a step gives into the state, in place of what is there or into it."""
        for name, value in changes.items():
            old = state.get(name)
            if name in self.rounded and not isinstance(value, Tracer):
                value = float(dtype_of_numbers()(value))
            if old is None:
                state[name] = base.tensor(value if isinstance(value, Tracer) else value.copy())
            elif self.is_plain and value.__class__ is float and _is_number(old):
                old._array[()] = value
                self.touch([old])
            elif not isinstance(old, TensorBase):  # a count, in what PyTorch saved long ago
                state[name] = value
            else:
                views.assign(old, value, self.what)

    # ------------------------------------------------------------ on tensors

    def change_tensors(
        self,
        params: Sequence[Any],
        states: Any,
        begin: Callable[[Any, Group], State],
        here: sites.Site,
    ) -> None:
        """One step on the tensors themselves, recorded; the state is made anew, not written into."""
        counts, group = self.rule.counts, self.group
        with modes.ModeSwitch(records=True):
            for param in params:
                if param._grad is None:
                    continue
                views.check_writable(param)
                state = states.get(param) or begin(param, self.options)
                values = {
                    k: _count(v, k) if k in counts and not _depends(v) else v
                    for k, v in state.items()
                }
                new, changes = self.rule(param, param._grad, values, group)
                for name, value in changes.items():
                    if isinstance(value, TensorBase):
                        state[name] = value.clone()  # type: ignore[attr-defined]
                    else:
                        views.assign(state[name], value, self.what)
                views.assign(param, new, self.what)
                if state:
                    states[param] = state


def dtype_of_numbers() -> Any:
    """The NumPy type of the numbers that an optimizer keeps, which follows the default dtype."""
    return np.float64 if dtypes.get_default_dtype() is dtypes.float64 else np.float32


def _is_lasting(group: Group) -> bool:
    """Whether no option can change while it stays the same object."""
    options = [v for k, v in group.items() if k != "params" and k != "param_names"]
    parts = [x for v in options for x in (v if v.__class__ is tuple else (v,))]
    return all(x.__class__ in _LASTING for x in parts)


def _array(x: Any) -> Any:
    """What is in a tensor; anything else as it is."""
    if not isinstance(x, TensorBase):
        return x
    if x._view is not None:
        views.refresh(x)
    return x._array


def _is_number(x: Any) -> bool:
    """Whether this is a tensor with a number that may be written."""
    if not isinstance(x, TensorBase) or x._view is not None:
        return False
    return x._array.__class__ is ndarray and not x._array.shape and x._array.flags.writeable


def scalar(x: Any) -> Any:
    """An option or count as a number, which widens no array; a traced one as it is."""
    if isinstance(x, tuple):
        return tuple(map(scalar, x))
    if not isinstance(x, TensorBase):
        return x
    array = x._array
    return fnp.reshape(array, ()) if isinstance(array, Tracer) else array.item()


def _depends(x: Any) -> bool:
    """Whether a count is a function of something, as the product of NAdam's momenta may be."""
    return isinstance(x, TensorBase) and x.requires_grad  # type: ignore[attr-defined]


def _count(x: Any, name: str) -> Any:
    """A number of the state: of steps, as exact as a Python number; others as they are kept."""
    if name == "step" or not isinstance(x, TensorBase):
        return exact(scalar(x))
    array = x._array
    return fnp.reshape(array, ()) if isinstance(array, Tracer) else array[()]
