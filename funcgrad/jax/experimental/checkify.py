"""``jax.experimental.checkify``: conditions on values, also in programs, and errors as results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import tree
from ...core import Tracer
from ...debug import callback
from ...errors import FuncgradError, where
from ...indexing import known
from ...numpy.filling import missing
from ...transforms.trace import eval_shape

__all__ = [
    "CheckError",
    "Error",
    "ErrorCategory",
    "JaxRuntimeError",
    "all_checks",
    "automatic_checks",
    "check",
    "check_error",
    "checkify",
    "debug_check",
    "div_checks",
    "float_checks",
    "index_checks",
    "nan_checks",
    "user_checks",
]

user_checks = frozenset({"user"})
nan_checks = frozenset({"nan"})
div_checks = frozenset({"divide"})
index_checks = frozenset({"index"})
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks


class CheckError(FuncgradError, ValueError):
    """A condition does not hold."""


JaxRuntimeError = CheckError
ErrorCategory = str  # of what a set of errors has
_catching: ContextVar[bool] = ContextVar("catching", default=False)


@dataclass(frozen=True)
class Error:
    """What `checkify` has caught, if anything."""

    exception: Exception | None = field(default=None, metadata={"static": True})

    def get(self) -> str | None:
        """Its message."""
        return None if self.exception is None else str(self.exception)

    def throw(self) -> None:
        """Raise it.

        Raises: what was caught.
        """
        if self.exception is not None:
            raise self.exception


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Require that all of `pred` is true; `msg` is formatted with the other arguments.

    In programs that is looked at when they run; with `debug`, only where `checkify` catches.

    Raises: CheckError: it is not.
    Source: JAX reference, ``jax.experimental.checkify.check``.

    >>> import funcgrad
    >>> @funcgrad.jit
    ... def root(x):
    ...     check(x >= 0, "x is {x}", x=x)
    ...     return np.sqrt(x)
    >>> checkify(root)(-4.0)[0].get().partition(" (at")[0]
    'x is -4.0'
    """
    line = where()

    def require(pred: Any, *args: Any, **kwargs: Any) -> None:
        if not np.all(pred) and (_catching.get() or not debug):
            raise CheckError(msg.format(*args, **kwargs) + line)

    given = (pred, fmt_args, fmt_kwargs)
    values = tree.map(lambda x: known(x) if isinstance(x, Tracer) else x, given)
    if any(x is None for x in tree.leaves(values, is_leaf=lambda x: x is None)):
        callback(require, pred, *fmt_args, **fmt_kwargs)
    else:
        require(values[0], *values[1], **values[2])


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """`check` where `checkify` catches what is raised, and nothing elsewhere.

    Raises: CheckError: not all of `pred` is true.
    Source: JAX reference, ``jax.experimental.checkify.debug_check``.

    >>> debug_check(False, "never")
    >>> checkify(lambda: debug_check(False, "now"))()[0].get().partition(" (at")[0]
    'now'
    """
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def checkify(
    f: Callable[..., Any], errors: frozenset[str] = user_checks
) -> Callable[..., tuple[Error, Any]]:
    """A function that gives the error, if there is one of the sets `errors`, and the result of `f`.

    Where there is an error, the results are arrays of NaN, or what stands for it in other dtypes, or
    None if their types cannot be known. `nan_checks` also finds a NaN among the results, and 0 / 0,
    which NumPy calls invalid; `div_checks` what it calls a division by zero, ``log(0)``, too. Errors
    are Python's: a program that `jit` or `vmap` makes of the result raises them. ``checkify(jit(f))``
    gives them back.

    Raises: what is in none of the sets.
    Source: JAX reference, ``jax.experimental.checkify.checkify``.

    >>> error, y = checkify(np.log, errors=float_checks)(np.array([1.0, -1.0]))
    >>> error.get(), y.tolist()
    ('invalid value encountered in log', [nan, nan])
    """

    def checked(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        token = _catching.set(True)
        try:
            with _raising(errors):
                out = f(*args, **kwargs)
            if errors & nan_checks and any(map(_has_nan, tree.leaves(out))):
                raise FloatingPointError("a result is NaN")
            return Error(), out
        except (CheckError, FloatingPointError, IndexError) as error:
            kind = {CheckError: "user", IndexError: "index"}.get(type(error))
            if kind is not None and kind not in errors:
                raise
            return Error(error), _nothing(f, args, kwargs)
        finally:
            _catching.reset(token)

    return checked


def _has_nan(x: Any) -> bool:
    value = known(x)
    return (
        value is not None and np.asarray(value).dtype.kind in "fc" and bool(np.isnan(value).any())
    )


def _nothing(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Results of the types of `f`'s, or None where it fails also without values."""
    try:
        types = eval_shape(f, *args, **kwargs)
    except Exception:  # the error that has been caught, or another one of the user's
        return None
    return tree.map(lambda t: np.full(t.shape, missing(t.dtype), t.dtype), types)


@contextlib.contextmanager
def _raising(errors: frozenset[str]) -> Iterator[None]:
    """Within the block, floating-point operations that are to be errors are."""
    options: dict[str, Any] = {}
    if errors & nan_checks:
        options["invalid"] = "raise"
    if errors & div_checks:
        options["divide"] = "raise"
    with np.errstate(**options):
        yield


def check_error(error: Error) -> None:
    """Raise what `checkify` has caught.

    Raises: that.
    """
    error.throw()
