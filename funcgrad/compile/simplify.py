"""Simplify: the same results from fewer equations.

Layer 4½. `rewriter.py` goes once over the equations, and `RULES` finds algebra in them. In the end,
what nobody reads goes. What is done to products is in `contractions.py`, to `scan` in `loops.py`, to
other programs inside in `branches.py`.

A rule may change a result by rounding only (``n * x`` for a sum of n equal numbers), and not by the
sign of a zero: ``x + 0`` stays. Zeros that only fill, around what `embed` puts and beside a diagonal,
count as nothing: they are not added or multiplied.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..core import REGISTRY, Primitive
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var, has_effect
from ..ops.arithmetic import (
    absolute,
    add,
    multiply,
    negative,
    power_as_products,
    reciprocal,
    square,
    subtract,
    zero_preserving_multiply,
)
from ..ops.contract import dot_general, matmul
from ..ops.exponential import sqrt
from ..ops.index import Slice, embed, getitem, view_update
from ..ops.join import along, concatenate, roll
from ..ops.select import where
from ..ops.structural import broadcast_to, reshape, transpose
from . import branches, loops
from .contractions import contraction, sum_of_product, sum_of_transposition
from .factors import exponent_of, gathered
from .rewriter import ProgramRule, Rewriter, Rule
from .sums import merged


def simplify(jaxpr: Jaxpr) -> Jaxpr:
    """The same program with fewer equations.

    >>> from funcgrad import make_jaxpr
    >>> simplify(make_jaxpr(lambda x: (-(-x)).T.T * 1.0 + np.sin(x) / np.sin(x))(np.ones((2, 3))))
    { lambda ; a:f64[2,3] . let
        b:f64[2,3] = sin a
        c:f64[2,3] = divide b b
        d:f64[2,3] = add a c
      in (d,) }
    """
    found = merged(loops.live(Rewriter(RULES, PROGRAMS).program(jaxpr)))
    return gathered(loops.live(found))


def _is_number(atom: Atom, x: float) -> bool:
    """Whether an operand is this number, with the same sign of zero."""
    if atom.__class__ is not Literal:
        return False
    value = atom.value
    if value != x:
        return False
    return x != 0 or (not np.iscomplexobj(value) and math.copysign(1, value) == 1)


# ---------------------------------------------------------------- equations with programs


def _scan(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Sequence[Atom]:
    jaxpr = eqn.params["jaxpr"]
    if jaxpr.consts or not eqn.params["length"] or has_effect(jaxpr):
        return _as_it_is(r, eqn, inputs, eqn.params)
    inner = Rewriter(r.rules, r.programs)
    outs = inner.body(jaxpr, loops.known_numbers(jaxpr, eqn, inputs))
    body = Jaxpr(jaxpr.in_vars, inner.eqns, outs)
    return loops.rewritten(r, eqn, loops.live(body), inputs)


def _while_loop(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Sequence[Atom]:
    if any(p.consts or has_effect(p) for p in (eqn.params["test"], eqn.params["body"])):
        return _as_it_is(r, eqn, inputs, eqn.params)
    return _as_it_is(r, eqn, *branches.while_loop(r, eqn, inputs, simplify))


def _while_derivative(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Sequence[Atom]:
    of = branches.while_derivative(eqn.params["of"])
    return _as_it_is(r, eqn, inputs, {**eqn.params, "of": of})


def _cond(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Sequence[Atom]:
    if any(b.consts for b in eqn.params["branches"]):
        return _as_it_is(r, eqn, inputs, eqn.params)
    return _as_it_is(r, eqn, inputs, branches.cond(eqn.params, simplify))


def _as_it_is(
    r: Rewriter, eqn: Eqn, inputs: Sequence[Atom], params: dict[str, Any]
) -> Sequence[Atom]:
    return r.write(eqn.prim, inputs, params, [v.aval for v in eqn.outs], eqn.source)


PROGRAMS: dict[str, ProgramRule] = {
    "scan": _scan,
    "while_loop": _while_loop,
    "while_derivative": _while_derivative,
    "cond": _cond,
}


# ---------------------------------------------------------------- rules: the atom, or None


def _multiply(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    x, y = inputs
    for a, b in ((x, y), (y, x)):
        if _is_number(b, 1.0):
            return a
        signed = a.aval.dtype.kind != "u"  # of which no -1 is
        if _is_number(b, -1.0) and signed and a.aval == eqn.outs[0].aval:
            return r.apply(negative, a)
    return r.apply(square, x) if x is y and x.__class__ is Var and _is_real(x) else None


def _is_real(x: Atom) -> bool:
    return x.aval.dtype.kind == "f" and not x.aval.weak


def _zero_preserving_multiply(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    """A product, where a number says that zeros stay what they are."""
    t, c = inputs
    if t.__class__ is Literal and _is_real(c) and t.value != 0:
        return r.apply(multiply, t, c)
    if c.__class__ is Literal and _is_real(t) and 0 < c.value < math.inf:
        return r.apply(multiply, t, c)
    return None


def _add(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    for a, b in (inputs, inputs[::-1]):
        made = r.origin(b, negative)
        if made is not None and a.aval.dtype == b.aval.dtype:
            return r.apply(subtract, a, made.inputs[0])
    return _side_by_side(r, inputs)


def _side_by_side(r: Rewriter, inputs: Sequence[Atom]) -> Atom | None:
    """The sum of neighbouring parts of one array, put into zeros each, as one part."""
    parts = [r.origin(a, embed) for a in inputs]
    if parts[0] is None or parts[1] is None or parts[0].params["shape"] != parts[1].params["shape"]:
        return None
    indices = [p.params["index"] for p in parts]  # type: ignore[union-attr]
    if not all(i.__class__ is Slice and i.step == 1 for i in (*indices[0], *indices[1])):
        return None
    differing = [k for k, (a, b) in enumerate(zip(*indices, strict=True)) if a != b]
    if len(differing) != 1:
        return None
    (axis,) = differing
    (low, a), (high, b) = sorted(
        (index[axis], part.inputs[0])  # type: ignore[union-attr]
        for index, part in zip(indices, parts, strict=True)
    )
    if low.stop != high.start or a.aval.dtype != b.aval.dtype:
        return None
    index = list(indices[0])
    index[axis] = Slice(low.start, high.stop, 1)
    shape = parts[0].params["shape"]
    return r.apply(embed, r.apply(concatenate, a, b, axis=axis), shape=shape, index=tuple(index))


def _view_update(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    """What replaces all of an array is the result."""
    (_base, new), chain, out = inputs, eqn.params["chain"], eqn.outs[0].aval
    if len(chain) > 1 or new.aval.shape != out.shape or new.__class__ is not Var or new.aval.weak:
        return None
    if any(p is not getitem or any(map(_reverses, dict(given)["index"])) for p, given in chain):
        return None
    if any(p.aval(out, **dict(given)).size != out.size for p, given in chain):
        return None  # it is a part that takes one value of this shape, or no element
    if new.aval.dtype == out.dtype:
        return new
    is_cast = new.aval.dtype.kind == out.dtype.kind == "f"
    return r.apply(REGISTRY["cast"], new, dtype=out.dtype) if is_cast else None


def _subtract(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    x, y = inputs
    made = r.origin(y, negative)
    if made is not None and x.aval.dtype == y.aval.dtype:
        return r.apply(add, x, made.inputs[0])
    return x if _is_number(y, 0.0) else None


def _divide(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    x, y = inputs
    if _is_number(y, 1.0):
        return x
    if y.__class__ is Var or x.aval.dtype.kind != "f" or y.aval.dtype.kind != "f":
        return None
    # What divides by a power of two is exact, and so is the product with the inverse.
    exponent = exponent_of(y)
    if exponent is None or abs(exponent) > np.finfo(x.aval.dtype).maxexp - 3:
        return None
    value = y.value  # type: ignore[union-attr]
    return r.apply(multiply, x, Literal(value.__class__(1 / value)))


def _negative(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    made = r.origin(inputs[0], negative)
    return None if made is None else made.inputs[0]


def _power(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    x, y = inputs
    if _is_number(y, 1.0):
        return x
    single = x.aval.dtype.itemsize >= 4  # half precision is rounded once, as eagerly
    if not (_is_real(x) and single and y.__class__ is Literal and x.aval == eqn.outs[0].aval):
        return None
    steps = {op.name: functools.partial(r.apply, op) for op in (reciprocal, sqrt, absolute)}
    product = functools.partial(r.apply, multiply)
    return power_as_products(SimpleNamespace(**steps), x, y.value, product)


def _unchanged(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    return inputs[0]


def _conjugate(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    return inputs[0] if inputs[0].aval.dtype.kind != "c" else None


def _cast(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    (x,) = inputs
    made = r.origin(x, REGISTRY["cast"])
    if made is None or not np.can_cast(made.inputs[0].aval.dtype, x.aval.dtype, "safe"):
        return x
    return made.inputs[0]


def _reshape(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    """Also for `squeeze` and `expand_dims`."""
    (x,), shape = inputs, eqn.outs[0].aval.shape
    if x.__class__ is Literal or x.aval.weak:
        return None
    made = r.origin(x, reshape)
    number = r.origin(x, broadcast_to)
    if number is not None and not number.inputs[0].aval.shape:
        return r.apply(broadcast_to, number.inputs[0], shape=shape)
    source = x if made is None else made.inputs[0]
    if source.aval.shape == shape:
        return source
    if source is x and eqn.prim is reshape:
        return None
    return r.apply(reshape, source, shape=shape)


def _transpose(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    (x,), axes = inputs, eqn.params["axes"]
    if axes == tuple(range(len(axes))):
        return x
    made = r.origin(x, transpose)
    if made is None:
        return None
    inner = made.params["axes"]
    return r.apply(transpose, made.inputs[0], axes=tuple(inner[a] for a in axes))


def _broadcast_to(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    (x,) = inputs
    if x.aval.shape == eqn.params["shape"]:
        return x
    made = r.origin(x, broadcast_to)
    return None if made is None else r.apply(broadcast_to, made.inputs[0], **eqn.params)


def _sum(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    (x,), axis = inputs, eqn.params["axis"]
    out = eqn.outs[0].aval
    if x.__class__ is Literal or x.aval.dtype != out.dtype or out.dtype.kind not in "fc":
        return None
    if all(x.aval.shape[a] == 1 for a in axis):
        return r.apply(reshape, x, shape=out.shape) if axis else x
    made = r.origin(x, broadcast_to)
    if made is None:
        return sum_of_product(r, eqn, inputs) or sum_of_transposition(r, eqn, inputs)
    source = made.inputs[0]
    lead = x.aval.ndim - source.aval.ndim
    if source.aval.weak or any(a >= lead and source.aval.shape[a - lead] != 1 for a in axis):
        return None
    shape = tuple(n for a, n in enumerate(source.aval.shape) if a + lead not in axis)
    count = math.prod(x.aval.shape[a] for a in axis)
    if not count:
        return None
    small: Atom = source
    if source.__class__ is Var and source.aval.shape != shape:
        small = r.apply(reshape, source, shape=shape)
    small = r.apply(multiply, small, Literal(float(count)))
    return small if small.aval.shape == out.shape else r.apply(broadcast_to, small, shape=out.shape)


def _getitem(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    (x,), index, out = inputs, eqn.params["index"], eqn.outs[0].aval
    if x.__class__ is Literal or x.aval.weak:
        return None
    if x.aval.size == out.size and not any(_reverses(i) for i in index):
        return r.apply(reshape, x, shape=out.shape)
    made = r.origin(x, embed, getitem, broadcast_to, concatenate)
    if made is None:
        return None
    (inner, *_), params = made.inputs, made.params
    if made.prim is embed:
        return inner if params["index"] == index else None
    if made.prim is broadcast_to:
        return r.apply(broadcast_to, inner, shape=out.shape) if not inner.aval.shape else None
    if not all(i.__class__ is Slice for i in index):
        return None
    if made.prim is getitem:
        return _composed(r, inner, params["index"], index)
    return _part(r, made, index)


def _reverses(i: Any) -> bool:
    return i.__class__ is Slice and i.step < 0


def _composed(r: Rewriter, x: Atom, first: tuple[Any, ...], then: tuple[Any, ...]) -> Atom | None:
    """The slices of slices."""
    if not all(i.__class__ is Slice and i.step > 0 for i in (*first, *then)):
        return None
    places = [
        range(n)[slice(*i)][slice(*j)] for n, i, j in zip(x.aval.shape, first, then, strict=True)
    ]
    return r.apply(getitem, x, index=tuple(Slice(p.start, p.stop, p.step) for p in places))


def _part(r: Rewriter, joined: Eqn, index: tuple[Any, ...]) -> Atom | None:
    """What slices show of arrays that were joined, if it is of one of them."""
    axis, start = joined.params["axis"], 0
    first, stop, step = index[axis]
    for x in joined.inputs:
        end = start + x.aval.shape[axis]
        if step == 1 and stop is not None and start <= first < stop <= end:
            if x.aval.dtype != joined.outs[0].aval.dtype:
                return None
            here = Slice(first - start, stop - start, 1)
            return r.apply(getitem, x, index=(*index[:axis], here, *index[axis + 1 :]))
        start = end
    return None


def _embed(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    (x,), out = inputs, eqn.outs[0].aval
    if x.__class__ is Literal or x.aval.weak or any(map(_reverses, eqn.params["index"])):
        return None
    return r.apply(reshape, x, shape=out.shape) if x.aval.size == out.size else None


def _concatenate(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    """The parts of what was joined along the same axis before, without empty ones."""
    axis, parts = eqn.params["axis"], list[Atom]()
    for x in inputs:
        made = r.origin(x, concatenate)
        is_part = made is not None and made.params["axis"] == axis
        parts += made.inputs if is_part else [x]  # type: ignore[union-attr]
    parts = [x for x in parts if x.aval.shape[axis]] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    return r.apply(concatenate, *parts, axis=axis) if parts != list(inputs) else None


def _roll(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    """The end before the beginning, along one axis after the other."""
    (x,) = inputs
    shifts = dict.fromkeys(eqn.params["axis"], 0)
    for shift, axis in zip(eqn.params["shift"], eqn.params["axis"], strict=True):
        shifts[axis] += shift
    for axis, shift in shifts.items():
        n, ndim = x.aval.shape[axis], x.aval.ndim
        if n and shift % n:
            cut = n - shift % n
            ends = (Slice(cut, n, 1), Slice(0, cut, 1))
            parts = [r.apply(getitem, x, index=along(ndim, axis % ndim, end)) for end in ends]
            x = r.apply(concatenate, *parts, axis=axis % ndim)
    return x


def _where(r: Rewriter, eqn: Eqn, inputs: Sequence[Atom]) -> Atom | None:
    _condition, x, y = inputs
    return x if x is y and x.__class__ is Var else None


RULES: dict[Primitive, Rule] = {
    add: _add,
    subtract: _subtract,
    multiply: _multiply,
    negative: _negative,
    zero_preserving_multiply: _zero_preserving_multiply,
    reshape: _reshape,
    transpose: _transpose,
    broadcast_to: _broadcast_to,
    where: _where,
    getitem: _getitem,
    embed: _embed,
    concatenate: _concatenate,
    roll: _roll,
    view_update: _view_update,
    matmul: contraction,
    dot_general: contraction,
    REGISTRY["divide"]: _divide,
    REGISTRY["power"]: _power,
    REGISTRY["positive"]: _unchanged,
    REGISTRY["stop_gradient"]: _unchanged,
    REGISTRY["conjugate"]: _conjugate,
    REGISTRY["cast"]: _cast,
    REGISTRY["squeeze"]: _reshape,
    REGISTRY["expand_dims"]: _reshape,
    REGISTRY["sum"]: _sum,
}
