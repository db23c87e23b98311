"""Whether two programs are the same but for the names of their variables, and results but for rounding.

Layer 4½.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jaxpr import Atom, Jaxpr, Var

ROUNDINGS = 1000  # of the operands that two ways to a result may be apart


def is_same_program(a: Jaxpr, b: Jaxpr) -> bool:
    """Whether two programs compute the same from their inputs and constants.

    >>> from funcgrad import make_jaxpr
    >>> is_same_program(make_jaxpr(lambda x: x * 2.0)(1.0), make_jaxpr(lambda y: y * 2.0)(3.0))
    True
    >>> is_same_program(make_jaxpr(lambda x: x * 2.0)(1.0), make_jaxpr(lambda x: x * 3.0)(1.0))
    False
    """
    if len(a.eqns) != len(b.eqns) or not is_same_value(a.consts, b.consts):
        return False
    names: dict[Atom, Atom] = {}

    def bind(xs: Any, ys: Any) -> bool:
        names.update(zip(xs, ys, strict=False))
        return len(xs) == len(ys) and all(x.aval == y.aval for x, y in zip(xs, ys, strict=True))

    def match(xs: Any, ys: Any) -> bool:
        return len(xs) == len(ys) and all(
            names[x] is y if x.__class__ is Var else _is_same_literal(x, y)
            for x, y in zip(xs, ys, strict=True)
        )

    return (
        bind((*a.const_vars, *a.in_vars), (*b.const_vars, *b.in_vars))
        and all(
            one.prim is other.prim
            and match(one.inputs, other.inputs)
            and is_same_value(one.params, other.params)
            and bind(one.outs, other.outs)
            for one, other in zip(a.eqns, b.eqns, strict=True)
        )
        and match(a.outs, b.outs)
    )


def _is_same_literal(x: Any, y: Any) -> bool:
    return x.__class__ is y.__class__ and x.aval == y.aval and is_same_value(x.value, y.value)


def is_same_value(x: Any, y: Any) -> bool:
    """Whether two parameters, numbers or arrays are equal bit by bit."""
    if x is y:
        return True
    if x.__class__ is not y.__class__:
        return False
    if isinstance(x, Jaxpr):
        return is_same_program(x, y)
    if isinstance(x, np.ndarray):
        return (x.shape, x.dtype) == (y.shape, y.dtype) and x.tobytes() == y.tobytes()
    if isinstance(x, tuple | list):
        return len(x) == len(y) and all(map(is_same_value, x, y))
    if isinstance(x, dict):
        return x.keys() == y.keys() and all(is_same_value(v, y[k]) for k, v in x.items())
    if isinstance(x, float | complex | np.generic):
        return repr(x) == repr(y)
    return _is_equal(x, y)


def _is_equal(x: Any, y: Any) -> bool:
    try:
        return bool(x == y)
    except (TypeError, ValueError):
        return False


def largest(x: Any) -> float:
    """The largest absolute value of the finite numbers in an operand."""
    x = np.asarray(x)
    if x.dtype.kind not in "fc":
        return 0.0
    return float(np.max(np.abs(x), where=np.isfinite(x), initial=0.0))


def is_same_result(x: Any, y: Any, scale: float) -> bool:
    """Whether two results are equal but for the order in which numbers were added up.

    `scale`: of the operands, which may cancel.
    """
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind not in "fc":  # what is compared with a limit may fall on either side
        return x.shape == y.shape and bool(np.count_nonzero(x != y) <= 0.01 * x.size)
    known = np.isfinite(x) & np.isfinite(y)
    if not known.any():
        return bool(np.array_equal(np.isfinite(x), np.isfinite(y)))
    eps = float(np.finfo(x.dtype).eps)
    with np.errstate(all="ignore"):
        apart = float(np.max(np.abs(x - y), where=known, initial=0.0))
    allowed = eps ** (1 / 3) * largest(y) + ROUNDINGS * eps * max(scale, 1.0)
    return apart <= allowed and bool(np.mean(np.isfinite(x) != np.isfinite(y)) < 0.01)
