"""Calls seen before: what a function records for arguments of some types, done again without asking.

Most functions of tensors look at the types of their arguments for longer than they compute:
promotion, broadcasting, axes counted from the end, what the node has to save. All of it follows from
shapes, dtypes and plain arguments, so it is seen in a second call of the function itself, and
kept in a *plan*: the primitives, their parameters, and where the arguments go. The decorators are for
functions that record primitives of their arguments and of each other's results, and look at no element
but for what `tape.Check` says; whatever is not so simple (modes, traced values, arguments that are no
plain numbers, a warning, an error) goes to the function as before.
"""

from __future__ import annotations

import functools
import marshal
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from funcgrad.core import EVAL
from funcgrad.core import current as current_trace

from . import modes, sites
from .base import TensorBase
from .deferring import asks
from .narrow import is_narrow
from .node import Port
from .plans import NO_PLAN, Chain, LinearPlan, NotSimpleError, Plan, ProgramPlan
from .tape import LINEAR, NOT_YET, VIEWS, Check, Note, Owned, watched

ndarray = np.ndarray
MOST_PLANS = 4096  # of one function
GRAD = modes.GRAD
_mode = modes.get
_trace = current_trace.get
# Tells 1, 1.0 and True apart, also inside of tuples, and refuses what is no plain value. In its
# form 2 equal values are equal bytes.
_plain = marshal.dumps
_FORM = 2
_F = TypeVar("_F", bound=Callable[..., Any])


# ---------------------------------------------------------------- reading a call


class _Reading:
    """Looks for the steps of a call; a class, as a function that calls itself would be a cycle."""

    __slots__ = ("checks", "is_static", "known", "made_by", "orders", "places", "start", "steps")

    def __init__(self, notes: Sequence[Any], tensors: Sequence[Any], is_static: bool) -> None:
        self.made_by = {id(note.out): note for note in notes if note.__class__ is Note}
        self.places = {id(x): i for i, x in enumerate(tensors)}
        self.orders = {id(own.out): own.order for own in notes if own.__class__ is Owned}
        self.checks: list[tuple[int, int, int]] = []
        for check in notes:
            if check.__class__ is Check:
                place = self.places.get(id(check.index))
                if place is None:
                    raise NotSimpleError
                self.checks.append((place, check.low, check.high))
        self.known = {*self.places, *self.made_by}
        self.start = len(tensors)
        self.steps: list[tuple[Any, list[int]]] = []
        self.is_static = is_static

    def place(self, x: Any) -> int:
        """The number of a tensor or of a result, for which there are steps then."""
        found = self.places.get(id(x))
        if found is None:
            note = self.made_by.get(id(x))
            if note is None:
                raise NotSimpleError
            if self.is_static:
                note.args = [_constant(a) if id(a) not in self.known else a for a in note.args]
            operands = [a for a in note.args if isinstance(a, TensorBase)]
            needed = [self.place(a) for a in operands]
            step = _step(note, operands, self.is_static, self.orders.get(id(x)))
            self.steps.append((step, needed))
            found = self.places[id(x)] = self.start + len(self.steps) - 1
        return found


def _plan_of(notes: Sequence[Any], out: Any, tensors: Sequence[Any], is_static: bool) -> Any:
    """What the call that has given `out` recorded, if that is all there is to it.

    `is_static`: the other arguments are in the key, so arrays are made of them.
    """
    several = isinstance(out, tuple)
    try:
        reading = _Reading(notes, tensors, is_static)
        outs = [reading.place(x) for x in (out if several else (out,))]
    except NotSimpleError:
        return NO_PLAN
    steps, checks = reading.steps, reading.checks
    # What was not an operand may have been looked at.
    read = {i for _, needed in steps for i in needed}
    if not steps or not {*reading.places.values()} <= {*outs, *read}:
        return NO_PLAN
    if several:
        return Chain(checks, steps, outs, tuple if out.__class__ is tuple else out._make)
    ((plan, needed), *others) = steps
    if not others and not checks and needed == list(range(len(tensors))):
        return plan
    return Chain(checks, steps, outs, None)


def _constant(x: Any) -> Any:
    """The array of a tensor that was made of arguments in the key."""
    return x._array if isinstance(x, TensorBase) and x._node is None else x


def _step(note: Note, tensors: Sequence[Any], is_static: bool, order: str | None) -> Any:
    """Raises: NotSimpleError: it is more than a primitive of tensors and numbers."""
    arrays = [x._array for x in (*tensors, note.out)]
    if order is None and note.is_changed():
        raise NotSimpleError
    if any(x.__class__ is not ndarray or is_narrow(x) for x in arrays):
        raise NotSimpleError
    if note.out._node is not None:  # which may have been given another name
        node = note.out._node
        note.name = (node.node if node.__class__ is Port else node).name()
    kinds = [x.dtype.kind in "fc" for x in arrays]
    if kinds[-1] and True not in kinds[:-1]:  # by the default dtype, which may be another one later
        raise NotSimpleError
    if note.program is not None:
        return ProgramPlan(note, order)
    for a in note.args:
        known = isinstance(a, TensorBase | int | float | complex) or getattr(a, "shape", 1) == ()
        if not known and not (is_static and a.__class__ is ndarray):
            raise NotSimpleError
    if note.prim in LINEAR:
        return LinearPlan(note, tensors[0], order)
    if note.prim in VIEWS or order is not None:
        raise NotSimpleError
    return Plan(note, [i for i, a in enumerate(note.args) if isinstance(a, TensorBase)])


def _first(
    general: Callable[..., Any],
    plans: dict[Any, Any],
    key: Any,
    tensors: Sequence[Any],
    args: Sequence[Any],
    options: dict[str, Any],
    is_static: bool = False,
) -> Any:
    """Call the function itself; a second time with such arguments, keep a plan of what it did."""
    m = _mode()
    if (m is not GRAD and m is not modes.NO_GRAD) or _trace() is not EVAL:
        return general(*args, **options)
    if key not in plans:  # what comes once is not worth a plan, which takes twice as long as a call
        if len(plans) >= MOST_PLANS:
            plans.clear()
        plans[key] = None
        return general(*args, **options)
    warnings_before = sites.warned.count
    with watched() as notes:
        out = general(*args, **options)
    if NOT_YET in notes or sites.warned.count != warnings_before:
        return out
    plans[key] = _plan_of(notes, out, tensors, is_static)
    return out


# ---------------------------------------------------------------- functions


def _named(fast: Any, general: Any) -> Any:
    """`fast` under the name of `general`, in stack traces too."""
    fast.__code__ = fast.__code__.replace(co_name=general.__name__)
    return functools.wraps(general)(fast)


def _is_recorded(tensors: Sequence[Any]) -> bool:
    """Whether a node is made; its name is found in a first call that makes one."""
    if _mode() is GRAD:
        for x in tensors:
            if x._node is not None:
                return True
    return False


def remembered(general: _F) -> _F:
    """Give the decorated function, whose first argument is its one tensor, plans."""
    plans: dict[Any, Any] = {}
    strange = asks(general)

    def fast(input: Any = None, *args: Any, **options: Any) -> Any:
        try:
            array = input._array
            key = (
                array.shape,
                array.dtype,
                array.flags.c_contiguous or array.strides,
                input._node is not None and _mode() is GRAD,
                _plain((args, options), _FORM),
            )
        except Exception:  # it is for the function to say what is wrong
            key = None
        if key is None:
            return strange(input, *args, **options)
        plan = plans.get(key)
        if plan is None:
            return _first(general, plans, key, (input,), (input, *args), options)
        try:
            out = plan.one(input, array)
        except Exception:
            plans.pop(key, None)
            out = None
        return general(input, *args, **options) if out is None else out

    return _named(fast, general)


def remembered_index(general: _F) -> _F:
    """Give the decorated function, of a tensor and an index, plans.

    Masks get none: they are looked at.
    """
    plans: dict[Any, Any] = {}
    strange = asks(general)

    def fast(self: Any, index: Any) -> Any:
        cls = index.__class__
        tensors: Sequence[Any] = (self,)
        try:
            array = self._array
            if cls is int:
                part: Any = index
            elif cls is slice:
                part = _plain((index.start, index.stop, index.step), _FORM)
            elif cls is tuple:
                tensors = [self]
                part = _plain([_entry(i, tensors) for i in index], _FORM)
            elif cls is list:
                part = _plain(index, _FORM)
            else:
                tensors = [self]
                part = _plain(_entry(index, tensors), _FORM)
            key = (array.shape, array.dtype, self._node is not None and _mode() is GRAD, cls, part)
        except Exception:  # it is for the function to say what is wrong
            key = None
        if key is None:
            return strange(self, index)
        plan = plans.get(key)
        if plan is None:
            static = len(tensors) == 1
            return _first(general, plans, key, tensors, (self, index), {}, static)
        try:
            if len(tensors) == 1:
                out = plan.one(self, array)
            else:
                out = plan.many(tensors, [x._array for x in tensors])
        except Exception:
            plans.pop(key, None)
            out = None
        return general(self, index) if out is None else out

    return _named(fast, general)


def _entry(part: Any, tensors: list[Any]) -> Any:
    """An entry of an index as a plain value; a tensor is added to `tensors`."""
    if part.__class__ is slice:
        return "slice", part.start, part.stop, part.step
    if isinstance(part, TensorBase):
        array = part._array
        if array.dtype.kind != "i" or not array.shape or part is tensors[0]:
            raise TypeError
        tensors.append(part)
        return "tensor", array.shape, array.dtype.char
    return part


def remembered_of_several(general: _F) -> _F:
    """Give the decorated function, of tensors and numbers in any order, plans."""
    plans: dict[Any, Any] = {}
    strange = asks(general)

    def fast(*args: Any, **options: Any) -> Any:
        tensors: list[Any] = []
        arrays: list[Any] = []
        types: list[Any] = []
        rest: list[Any] = []
        try:
            for a in args:
                if isinstance(a, TensorBase):
                    array = a._array
                    tensors.append(a)
                    arrays.append(array)
                    types += array.shape, array.dtype, array.flags.c_contiguous or array.strides
                else:
                    types.append(None)
                    rest.append(a)
            for name, a in options.items():
                if isinstance(a, TensorBase):
                    array = a._array
                    tensors.append(a)
                    arrays.append(array)
                    types += name, array.shape, array.dtype
                else:
                    rest += name, a
            key = (*types, _is_recorded(tensors), _plain(rest, _FORM))
        except Exception:  # it is for the function to say what is wrong
            key = None
        if key is None:
            return strange(*args, **options)
        return _followed(general, plans, key, tensors, arrays, args, options)

    return _named(fast, general)


def remembered_of_sequence(general: _F) -> _F:
    """Give the decorated function, whose first argument is a sequence of tensors, plans."""
    plans: dict[Any, Any] = {}
    strange = asks(general)

    def fast(tensors: Any = None, *args: Any, **options: Any) -> Any:
        try:
            arrays = [x._array for x in tensors]
            types = [(x.shape, x.dtype, x.flags.c_contiguous or x.strides) for x in arrays]
            key = (*types, _is_recorded(tensors), _plain((args, options), _FORM))
        except Exception:  # it is for the function to say what is wrong
            key = None
        if key is None:
            return strange(tensors, *args, **options)
        return _followed(general, plans, key, tensors, arrays, (tensors, *args), options)

    return _named(fast, general)


def _followed(
    general: Callable[..., Any],
    plans: dict[Any, Any],
    key: Any,
    tensors: Sequence[Any],
    arrays: Sequence[ndarray],
    args: Sequence[Any],
    options: dict[str, Any],
) -> Any:
    plan = plans.get(key)
    if plan is None:
        numbers = {id(x): i for i, x in enumerate(tensors)}
        if len(numbers) < len(tensors):  # which does not say which is which: a case of its own
            key = (key, *[numbers[id(x)] for x in tensors])
            plan = plans.get(key)
    if plan is None:
        return _first(general, plans, key, tensors, args, options)
    try:
        out = plan.many(tensors, arrays)
    except Exception:
        plans.pop(key, None)
        out = None
    return general(*args, **options) if out is None else out
