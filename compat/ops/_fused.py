"""Functions of arrays as one node of the graph, whose function is a compiled program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import copysign
from typing import Any

import numpy as np

from funcgrad.core import aval_of
from funcgrad.forks import waited_for
from funcgrad.transforms.bodies import derived
from funcgrad.transforms.program_call import open_jaxpr

from ..autograd import modes
from ..autograd.base import TensorBase
from ..autograd.programs import TapeProgram
from ..autograd.tape import NOT_YET, record, tell
from ._compose import composed
from ._operands import plain_options

ndarray = np.ndarray
MOST_PROGRAMS = 1024
CALLS = 32  # with small arrays before a program is made, which takes 10 to 50 ms
SMALL = 1 << 14  # bytes; a call counts once more for each so many
LONG = 1 << 14  # elements from which a program is faster than what is printed for tensors
_lock = waited_for(threading.Lock())
_programs: dict[Any, Any] = {}  # a program, or how much calls have counted so far


def fused(node: str, f: Callable[..., Any], /, *tensors: Any, **options: Any) -> Any:
    """``f(*tensors, **options)``, a function of arrays, some of them None, as one node.

    `f` is the same object at every call, and looks at no element. The first calls with arrays of some
    types record every primitive, as `composed` does, for about the time that it takes to make a
    program: some lengths come only a few times. They are counted, by size, since the clock would say
    something else in every run. So do all calls with half precision,
    those whose results are views of the arrays, and those under saved-tensor hooks: a checkpoint, which
    calls twice, has to find the same tensors saved.
    """
    return _fused(1, node, f, tensors, options)


def fused_loop(
    steps: int, node: str, f: Callable[..., Any], /, *tensors: Any, **options: Any
) -> Any:
    """As `fused`, of a function that takes so many steps: each counts as a call, and the first may be
    enough for a program. The results share no memory with the arrays.
    """
    return _fused(steps, node, f, tensors, options)


def _fused(
    steps: int,
    node: str,
    f: Callable[..., Any],
    tensors: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    mode, options = modes.get(), plain_options(options)
    arrays = [None if t is None else t._array for t in tensors]
    if mode is not modes.GRAD and mode is not modes.NO_GRAD and mode.pack is not None:
        outs = composed(node, f, *tensors, **options)
        _are_new(outs, arrays)
        return outs
    key = (
        f,
        *options.items(),
        *[copysign(1.0, v) for v in options.values() if v.__class__ is float and not v],
        *[None if x is None else (x.shape, x.dtype) for x in arrays],
    )
    try:
        program = _programs.get(key, 0)
    except TypeError:  # an option is an array
        return composed(node, f, *tensors, **options)
    if program == 0 and steps >= CALLS and _is_worth_it(arrays, options):
        program = _program_of(f, tensors, options)
        _keep(key, program)
    if program.__class__ is int:
        tell(NOT_YET)
        outs = composed(node, f, *tensors, **options)
        if _are_new(outs, arrays) and _is_worth_it(arrays, options):
            size = sum([x.nbytes for x in arrays if x is not None])
            count = program + steps + size // SMALL
            _keep(key, count if count < CALLS else _program_of(f, tensors, options))
        return outs
    outs = program(node, [t for t in tensors if t is not None])
    return outs if len(outs) > 1 else outs[0]


def is_long(x: Any) -> bool:
    """Whether a tensor of floats has so many elements, and a dtype that programs take."""
    array = x._array
    return array.size > LONG and array.dtype.kind == "f" and array.dtype.itemsize >= 4


def by_length(node: str, prim: Any, *tensors: Any) -> Any:
    """An elementwise primitive as one node: of long tensors a program, which has C in its reach."""
    if is_long(tensors[0]):
        return fused(node, prim, *tensors)
    return record(prim, tensors, None, node)


def _keep(key: Any, entry: Any) -> None:
    with _lock:
        if len(_programs) >= MOST_PROGRAMS and key not in _programs:
            del _programs[next(iter(_programs))]
        _programs[key] = entry


def _is_worth_it(arrays: list[Any], options: dict[str, Any]) -> bool:
    """Whether a second call with such arguments gets a program."""
    floats = [x.dtype.itemsize for x in arrays if x is not None and x.dtype.kind not in "biu"]
    if not floats or min(floats) < 4 or not all(x.size for x in arrays if x is not None):
        return False
    return not any(isinstance(v, TensorBase) for v in options.values())


def _are_new(outs: Any, arrays: list[Any]) -> bool:
    """Whether no result shares memory with an array; then none is a view of what users see."""
    outs = outs if isinstance(outs, tuple) else (outs,)
    for y in outs:
        for x in arrays:
            if x is not None and not (
                x.__class__ is ndarray
                and y._array.__class__ is ndarray
                and not np.may_share_memory(x, y._array)
            ):
                return False
    for y in outs:
        y._view = None
    return True


def _program_of(
    f: Callable[..., Any], tensors: tuple[Any, ...], options: dict[str, Any]
) -> TapeProgram:
    def of_given(*values: Any) -> Any:
        rest = iter(values)
        found = f(*[None if t is None else next(rest) for t in tensors], **options)
        return found if isinstance(found, tuple) else (found,)

    jaxpr = derived(of_given, [aval_of(t._array) for t in tensors if t is not None])
    return TapeProgram(open_jaxpr(jaxpr), jaxpr.consts)
