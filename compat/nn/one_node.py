"""Functions of arrays as one node of the graph, whose function is a compiled program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad.compile.call import jit_call
from funcgrad.core import aval_of
from funcgrad.jaxpr import Jaxpr
from funcgrad.transforms.bodies import derived
from funcgrad.transforms.program_call import open_jaxpr

from ..autograd.tape import record, through
from ..ops._apply import _type_word
from ..ops._operands import dtype_of

MOST_PROGRAMS = 256
_programs: dict[Any, tuple[Jaxpr, list[Any]] | None] = {}  # and constants; None: seen once


def one_node(
    node: str, f: Callable[..., Any], tensors: Sequence[Any], options: tuple[Any, ...] = ()
) -> Any:
    """``f(*tensors, **dict(options))``, a function of arrays, some of them None, as one node.

    The first call with arrays of some types records every primitive, for lengths that come only once
    are not worth a program; so do all calls with half precision.
    """
    key = (f, options, *[None if t is None else (t._array.shape, t._array.dtype) for t in tensors])
    given = [t for t in tensors if t is not None]
    if key not in _programs:
        arrays = [t._array for t in given]
        if min([a.dtype.itemsize for a in arrays if a.dtype.kind != "b"]) < 4:
            return through(f, *tensors, **dict(options))
        if len(_programs) >= MOST_PROGRAMS:
            del _programs[next(iter(_programs))]
        _programs[key] = None
        return through(f, *tensors, **dict(options))
    program = _programs[key]
    if program is None:

        def of_given(*values: Any) -> Any:
            rest = iter(values)
            found = f(*[None if t is None else next(rest) for t in tensors], **dict(options))
            return found if isinstance(found, tuple) else (found,)

        jaxpr = derived(of_given, [aval_of(t._array) for t in given])
        program = _programs[key] = open_jaxpr(jaxpr), list(jaxpr.consts)
    jaxpr, constants = program
    outs = record(jit_call, [*constants, *given], {"jaxpr": jaxpr}, node)
    return outs if len(outs) > 1 else outs[0]


def require_types(first: Any, *tensors: Any) -> None:
    """Raises: RuntimeError: the dtypes differ from that of the first; some may be None."""
    dtype = first._array.dtype
    for t in tensors:
        if t is not None and t._array.dtype != dtype:
            raise RuntimeError(
                f"mat1 and mat2 must have the same dtype, but got {_type_word(dtype_of(first))} "
                f"and {_type_word(dtype_of(t))}"
            )
