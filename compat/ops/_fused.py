"""Functions of arrays as one node of the graph, whose function is a compiled program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core import aval_of
from funcgrad.transforms.bodies import derived
from funcgrad.transforms.program_call import open_jaxpr

from ..autograd.base import TensorBase
from ..autograd.programs import TapeProgram
from ._compose import composed

ndarray = np.ndarray
MOST_PROGRAMS = 1024
_NEW: Any = object()
_lock = threading.Lock()
_programs: dict[Any, TapeProgram | None] = {}  # None: seen once


def fused(node: str, f: Callable[..., Any], /, *tensors: Any, **options: Any) -> Any:
    """``f(*tensors, **options)``, a function of arrays, some of them None, as one node.

    `f` is the same object at every call, and looks at no element. The first call with arrays of some
    types records every primitive, as `composed` does, for lengths that come only once are not worth a
    program; so do all calls with half precision, and those whose results are views of the arrays.
    """
    arrays = [None if t is None else t._array for t in tensors]
    key = (
        f,
        *options.items(),
        *[None if x is None else (x.shape, x.dtype) for x in arrays],
    )
    try:
        program = _programs.get(key, _NEW)
    except TypeError:  # an option is an array
        return composed(node, f, *tensors, **options)
    if program is _NEW:
        outs = composed(node, f, *tensors, **options)
        if _is_worth_it(arrays, options) and _are_new(outs, arrays):
            with _lock:
                if len(_programs) >= MOST_PROGRAMS:
                    del _programs[next(iter(_programs))]
                _programs[key] = None
        return outs
    if program is None:
        program = _program_of(f, tensors, options)
        with _lock:
            _programs[key] = program
    outs = program(node, [t for t in tensors if t is not None])
    return outs if len(outs) > 1 else outs[0]


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
