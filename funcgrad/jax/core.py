"""Types, traced values and programs under the names of ``jax.core``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import EVAL, Aval, Trace, Tracer, current
from ..core import aval_of as get_aval
from ..errors import ConcretizationError, where
from ..indexing import known
from ..jaxpr import Atom, Jaxpr
from ..jaxpr import eval_jaxpr as _eval_jaxpr
from ..transforms.trace import ShapeDtypeStruct as ShapedArray
from .settings import ensure_compile_time_eval

__all__ = [
    "AbstractValue",
    "Atom",
    "Jaxpr",
    "ShapedArray",
    "Trace",
    "Tracer",
    "concrete_or_error",
    "ensure_compile_time_eval",
    "eval_jaxpr",
    "get_aval",
    "pytype_aval_mappings",
    "trace_state_clean",
    "valid_jaxtype",
]

AbstractValue = ShapedArray  # the only kind of type
pytype_aval_mappings: dict[type, Callable[..., Any]] = {np.ndarray: get_aval}  # nothing asks it


def trace_state_clean() -> bool:
    """Whether no transform is running."""
    return current.get() is EVAL


def concrete_or_error(force: Callable[[Any], Any] | None, x: Any, context: str = "") -> Any:
    """The value of `x`, made a number by `force` if that is given.

    Raises: ConcretizationError: it is traced, and has none; `context` is told.
    Source: JAX, ``jax.core.concrete_or_error``.

    >>> concrete_or_error(int, 2.0)
    2
    """
    value = known(x)
    if value is None and x is not None:
        raise ConcretizationError(f"a value is needed, found a traced one. {context}{where()}")
    return value if force is None else force(value)


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], *args: Any) -> list[Any]:
    """Run a program with these constants.

    Raises: as `funcgrad.eval_jaxpr`.
    Source: JAX, ``jax.core.eval_jaxpr``.

    >>> import funcgrad, numpy as np
    >>> table = np.array([1.0, 2.0])
    >>> program = funcgrad.make_jaxpr(lambda x: table * x)(1.0)
    >>> eval_jaxpr(program.jaxpr, program.consts, 3.0)[0].tolist()
    [3.0, 6.0]
    """
    filled = Jaxpr(jaxpr.in_vars, jaxpr.eqns, jaxpr.outs, jaxpr.const_vars, list(consts))
    return _eval_jaxpr(filled, *args)


def valid_jaxtype(x: Any) -> bool:
    """Whether `x` may be a leaf of what a transform is given: an array or a number.

    >>> import numpy as np
    >>> valid_jaxtype(np.ones(2)), valid_jaxtype(1), valid_jaxtype("one"), valid_jaxtype(None)
    (True, True, False, False)
    """
    if isinstance(x, Tracer):
        return True
    try:
        return not isinstance(x, Aval) and get_aval(x).dtype.kind in "biufcV"
    except TypeError:
        return False
