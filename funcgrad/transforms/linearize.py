"""Linear maps as programs: `linearize` records one, `linear_transpose` turns one around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .. import numpy as fnp
from .. import tree
from ..backend import namespace
from ..core import EVAL, Aval, aval_of, current, run_under, tangent_dtype
from ..errors import NotLinearError, where
from ..indexing import known
from ..jaxpr import Jaxpr, Literal, eval_jaxpr
from ..ops.logic import equal, logical_and, not_equal
from ..views import snapshot
from .arguments import (
    Flat,
    flat_cotangents,
    flat_tangents,
    flatten_primals,
    own,
    require_arrays,
    require_callable,
)
from .jvp import JVPTrace, instantiate, run_jvp
from .program_call import open_jaxpr
from .trace import JaxprTrace, trace_to_jaxpr
from .transpose import transpose_jaxpr


def linearize_flat(
    f: Callable[..., Sequence[Any]], leaves: Sequence[Any]
) -> tuple[list[Any], Jaxpr, JVPTrace]:
    """The values of `f`, which takes and returns flat lists, and the program of its tangents."""
    parent = current.get()
    recorder = JaxprTrace(parent, linear=True)
    trace = JVPTrace(parent, recorder, lasting=True)
    leaves = [snapshot(x, copy=True) for x in leaves]
    ts = [recorder.new_input(_tangent_aval(x)) for x in leaves]
    in_vars = [t.symbol for t in ts]
    values, dots = run_jvp(trace, f, leaves, ts)
    full = [instantiate(t, x) for t, x in zip(dots, values, strict=True)]
    return values, recorder.finish(in_vars, full), trace


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of `fun` at `primals` and its derivative there as a linear function of the tangents.

    ``y, f_jvp = linearize(fun, *primals)``; every call of ``f_jvp(*tangents)`` costs only the linear
    part. With `has_aux`, `fun` returns ``(out, aux)`` and the result is ``(out, f_jvp, aux)``.

    Raises: ArgumentError: a primal is no floating or complex array.
    Source: Radul et al., "You only linearize once", POPL 2023.

    >>> import numpy as np
    >>> y, f_jvp = linearize(np.sin, 0.0)
    >>> float(f_jvp(2.0))
    2.0
    """
    require_callable("linearize", fun)
    leaves, treedef = flatten_primals("linearize", primals)
    flat = Flat(fun, treedef, has_aux=has_aux)
    values, program, trace = linearize_flat(flat, leaves)

    def f_jvp(*tangents: Any) -> Any:
        flat_ts = flat_tangents("linearize", treedef, leaves, tangents)
        return tree.unflatten(flat.out_def, own(eval_jaxpr(program, *flat_ts), flat_ts))

    # The program may read a result, into which the caller may write.
    out = tree.unflatten(flat.out_def, own([snapshot(x, copy=True) for x in values]))
    aux = flat.aux_values(lambda x: trace.parts(x)[0])
    return (out, f_jvp, aux) if has_aux else (out, f_jvp)


def _tangent_aval(x: Any) -> Aval:
    aval = aval_of(x)
    return Aval(aval.shape, tangent_dtype(aval.dtype))


def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Callable[..., tuple[Any, ...]]:
    """The transpose of a linear `fun`: ``sum(ct * fun(x)) == sum(linear_transpose(fun, x)(ct) * x)``.

    `primals` give shapes and dtypes only. The transposed function returns a tuple, one cotangent per
    argument.

    Raises: NotLinearError: `fun` is not linear in its arguments, naming the primitive, or it is affine.
    What shows only in the values of `fun`, which is run on zeros, raises in the transposed function;
    a constant that is traced itself is only found in sums.

    >>> import numpy as np
    >>> scale = linear_transpose(lambda x: 3.0 * x, 0.0)
    >>> float(scale(2.0)[0])
    6.0
    """
    require_callable("linear_transpose", fun)
    leaves, treedef = tree.flatten(primals)
    require_arrays("linear_transpose", leaves, treedef, 0)
    flat = Flat(fun, treedef)
    program = trace_to_jaxpr(flat, [_tangent_aval(x) for x in leaves])
    _refuse_sums(program)
    checked = False

    def transposed(ct: Any) -> tuple[Any, ...]:
        nonlocal checked
        cts = flat_cotangents("linear_transpose", flat.out_def, program.outs, ct)
        found = transpose_jaxpr(program, cts)
        if not checked:  # here, as what cannot be transposed has been named by now
            _refuse_affine(program)
            checked = True
        zeros = [instantiate(g, aval) for g, aval in zip(found, program.in_avals, strict=True)]
        return tree.unflatten(treedef, zeros)

    return transposed


def _affine() -> NotLinearError:
    return NotLinearError(
        f"linear_transpose: the function is affine, not linear: it adds a constant{where()}"
    )


def _refuse_sums(program: Jaxpr) -> None:
    """Adding a constant is not linear, though every primitive in sight has a transpose."""
    consts: dict[Any, Any] = dict(zip(program.const_vars, program.consts, strict=True))
    moving = set(program.in_vars)
    for eqn in program.eqns:
        if moving.isdisjoint(eqn.inputs):  # computes a constant: a factor, if not found elsewhere
            continue
        moving.update(eqn.outs)
        if eqn.prim.name in ("add", "subtract"):
            for atom in eqn.inputs:
                if atom.__class__ is Literal or atom in consts:
                    value = known(atom.value if atom.__class__ is Literal else consts[atom])
                    if value is None or fnp.any(not_equal(value, 0)):
                        raise _affine()


def _refuse_affine(program: Jaxpr) -> None:
    """A linear function is 0 at 0. NaN is, too: of infinite factors."""
    consts = [known(x) for x in program.consts]
    if any(x is None for x in consts) or any(eqn.prim.effect for eqn in program.eqns):
        return
    xp = namespace(*consts)
    zeros = [xp.zeros(aval.shape, aval.dtype) for aval in program.in_avals]
    with np.errstate(all="ignore"):
        for y in run_under(EVAL, partial(eval_jaxpr, open_jaxpr(program)), [*consts, *zeros]):
            if fnp.any(logical_and(not_equal(y, 0), equal(y, y))):
                raise _affine()
