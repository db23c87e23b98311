"""NumPy's and SciPy's functions on traced values: which of ours answers for which of theirs.

Layer 3½. A ufunc or function is looked up by its name in `funcgrad.numpy` or, for SciPy's, in
`funcgrad.scipy.special`, and only if it is that very object of theirs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from . import numpy as fnp
from . import scipy, ufunc_methods
from .errors import HandoverError, in_pandas, polynomial_function, scipy_function, where
from .numpy._arguments import of_numpy, written
from .numpy._ufuncs import call_with_options
from .scipy import special

_UFUNCS: dict[Any, Callable[..., Any]] = {}
_FUNCTIONS: dict[Any, Callable[..., Any]] = {}

_METHODS: dict[str, Callable[..., Any]] = {
    "reduce": ufunc_methods.reduce,
    "accumulate": ufunc_methods.accumulate,
    "reduceat": ufunc_methods.reduceat,
}


def call_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``ufunc.method(*inputs, **kwargs)`` where an operand or `out` is a traced value."""
    if method == "__call__":
        answer = _UFUNCS.get(ufunc)
        if answer is None:
            answer = _UFUNCS[ufunc] = _find(ufunc)
        if not kwargs:
            return answer(*inputs)
        return call_with_options(ufunc, answer, inputs, kwargs)
    if method in _METHODS:
        outs = kwargs.pop("out", None)
        result = _METHODS[method](ufunc, _find(ufunc), *inputs, **of_numpy(kwargs))
        what = f"np.{ufunc.__name__}.{method} with out="
        return result if outs is None else written(what, result, outs[0])
    if method == "outer":
        return call_with_options(ufunc, partial(ufunc_methods.outer, _find(ufunc)), inputs, kwargs)
    return ufunc_methods.at(ufunc, _find(ufunc), *inputs)


def _find(ufunc: Any) -> Callable[..., Any]:
    name = ufunc.__name__
    scipy_special = sys.modules.get("scipy.special")
    if getattr(np, name, None) is ufunc or name in ("divide", "power", "absolute", "conjugate"):
        found = getattr(fnp, name, None)
        if found is not None:
            return found
    if scipy_special is not None and getattr(scipy_special, name, None) is ufunc:
        found = getattr(special, name, None)
        if found is not None:
            return found
        path = f"scipy.special.{name}"
    elif getattr(np, name, None) is ufunc:
        path = f"np.{name}"
    else:
        path = scipy_function() or f"the ufunc {name}"
    raise HandoverError(
        f"{path} has no derivative rule here; wrap it with funcgrad.custom_rule{where()}"
    )


def conversion() -> tuple[str, str]:
    """What makes a plain array of a traced value, and what to write instead: for an error."""
    called = scipy_function()
    if called is None and in_pandas():
        return (
            "a method of pandas, or table @ x, which makes a plain array of its argument,",
            "the numbers of the table, as in table.to_numpy() @ x",
        )
    by_coefficients = polynomial_function()
    if called is None and by_coefficients is not None:
        family, name = by_coefficients.split(".")
        known = family[0] != "_" and hasattr(getattr(fnp.polynomial, family, None), name)
        what = (
            f"np.polynomial.{by_coefficients}" if known else "a class or function of np.polynomial"
        )
        return (
            f"{what}, which makes a plain array of its argument,",
            "funcgrad.numpy.polynomial" + (f".{by_coefficients}" if known else "'s functions"),
        )
    if called is None:
        return (
            "np.array(x), storing x in a plain NumPy array or calling a function that converts its "
            "arguments (SciPy, np.random, np.full, np.vectorize)",
            "fnp.array([...]) for np.array([...]) and np.asarray(x), fnp.zeros(n) for an "
            "np.zeros(n) that is written into; for such a function see funcgrad.scipy and fnp, or "
            "bring a rule with custom_rule",
        )
    _, package, name = called.split(".", 2)
    what = f"{called}, which makes a plain array of its argument,"
    if _is_ours(package, *name.split(".")):
        return what, f"funcgrad.{called}"
    if package == "linalg" and hasattr(fnp.linalg, name):
        return what, f"np.linalg.{name}"
    if hasattr(fnp, name):
        return what, f"np.{name}"
    if package == "sparse":
        return (
            what,
            "A @ x or x @ A, the products with a constant sparse matrix, which are known here",
        )
    return what, "its formula in NumPy's functions, or bring a rule for it with custom_rule"


def _is_ours(*path: str) -> bool:
    """Whether `funcgrad.scipy` has what a path leads to; of a class or an object all is there."""
    found: Any = scipy
    for name in path:
        if not isinstance(found, ModuleType):
            break
        found = getattr(found, name, None)
    return found is not None


def call_function(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``func(*args, **kwargs)`` for a NumPy function that is no ufunc."""
    answer = _FUNCTIONS.get(func)
    if answer is None:
        answer = _FUNCTIONS[func] = _find_function(func)
    out = kwargs.get("out")
    if out is None or func is np.clip:  # `clip` has options that ask for its `out`
        return answer(*args, **of_numpy(kwargs))
    kwargs = {k: v for k, v in of_numpy(kwargs).items() if k != "out"}
    return written(f"np.{func.__name__} with out=", answer(*args, **kwargs), out)


def _find_function(func: Any) -> Callable[..., Any]:
    # NumPy 2.0 calls `lib.scimath` by what it is made in, `lib._scimath_impl`.
    parts = re.sub(r"\b_(\w+)_impl\b", r"\1", func.__module__ or "numpy").split(".")[1:]
    space: Any = fnp
    for part in parts:
        space = getattr(space, part, None)
    found = getattr(space, func.__name__, None) if space is not None else None
    if found is None or found is func:
        path = ".".join(["np", *parts, func.__name__])
        raise HandoverError(
            f"{path} is not supported on traced values; it has no counterpart in funcgrad.numpy. "
            f"Rewrite it with functions that have one, or wrap it with funcgrad.custom_rule{where()}"
        )
    return found
