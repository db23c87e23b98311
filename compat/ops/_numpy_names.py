"""NumPy's names of keywords, as PyTorch has them: `axis` for `dim` and `keepdims` for `keepdim`.

What users call takes both names; what the library calls inside has `dim` and `keepdim` only.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

NAMES = {"axis": "dim", "keepdims": "keepdim"}
_OURS = frozenset(NAMES.values())
_R = TypeVar("_R")


def accepting(f: Callable[..., _R]) -> Callable[..., _R]:
    """`f`, which takes NumPy's names too.

    >>> accepting(lambda x, dim: dim)(1, axis=0)
    0
    """

    @functools.wraps(f)
    def named(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **(_renamed(f.__name__, kwargs) if kwargs else kwargs))

    _accepting.add(named)
    return named


_accepting: set[Any] = set()


def _renamed(function: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords by PyTorch's names.

    Raises: TypeError: both names of one are given.
    """
    if NAMES.keys().isdisjoint(kwargs):
        return kwargs
    for theirs, ours in NAMES.items():
        if theirs in kwargs and ours in kwargs:
            raise TypeError(
                f"{function}(): got both '{ours}' and '{theirs}', which is NumPy's name of it; "
                f"give one of them"
            )
    return {NAMES.get(name, name): value for name, value in kwargs.items()}


def accept(owner: Any, label: str, others: Iterable[str] = ()) -> None:
    """Let the functions of a module or class whose parameters have the names take NumPy's too.

    `label`: what the owner is called, where a function that is pickled is looked up. `others`: what
    PyTorch has in Python, where a name is a name, or what takes NumPy's as it is.
    """
    module, _, cls = label.partition(":")
    for name, f in _functions(owner):
        if name in others or f in _made or getattr(f, "__wrapped__", f) in _accepting:
            continue
        if not _OURS.isdisjoint(_parameters(f)):
            _made[f] = found = accepting(f)
            _made[found] = found
            found.__module__, found.__qualname__ = module, f"{cls}.{name}" if cls else name
    also(owner)


def also(owner: Any) -> None:
    """Let functions that are offered by this owner too be the ones that take NumPy's names."""
    for name, f in _functions(owner):
        if f in _made:
            setattr(owner, name, _made[f])


_made: dict[Any, Any] = {}  # what is offered in place of a function


def _functions(owner: Any) -> list[tuple[str, Any]]:
    found = [(name, getattr(owner, name)) for name in dir(owner) if name[0] != "_"]
    return [(name, f) for name, f in found if inspect.isfunction(f)]


def _parameters(f: Any) -> tuple[str, ...]:
    code = inspect.unwrap(f).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
