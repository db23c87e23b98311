"""`__torch_function__` of arguments that are no tensors: they answer a call in the function's place.

Functions do not ask first, as that would cost every call: what a function cannot do with such an object
is an error, and then it is asked. Functions with a fast path ask where that ends, all others in
a wrapper that `offer` puts around them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any, TypeVar

from . import sites
from .base import TensorBase

_F = TypeVar("_F", bound=Callable[..., Any])
_offered: list[Any] = []  # modules, and the class of tensors
_operators: set[Any] = set()
_asking: set[tuple[str, str]] = set()  # the functions with a fast path, by module and name
_frame = sys._getframe
_PACKAGE = __name__.partition(".")[0]


def can_answer(x: Any) -> bool:
    """Whether its class has `__torch_function__`, and it is no tensor."""
    return hasattr(type(x), "__torch_function__") and not isinstance(x, TensorBase)


def _found(args: Iterable[Any], depth: int = 1) -> Iterator[Any]:
    for x in args:
        if can_answer(x):
            yield x
        elif depth and isinstance(x, list | tuple):
            yield from _found(x, depth - 1)


def handle(
    public: Callable[..., Any], asked: Iterable[Any], args: Sequence[Any], options: dict[str, Any]
) -> Any:
    """What the first `__torch_function__` that knows `public` makes of the call.

    Those of subclasses are asked before those of their bases, others from left to right.

    Raises: TypeError: none knows it.
    """
    order: list[Any] = []
    for x in asked:
        kind = type(x)
        if all(type(y) is not kind for y in order):
            bases = (i for i, y in enumerate(order) if issubclass(kind, type(y)))
            order.insert(next(bases, len(order)), x)
    types = tuple(map(type, order))
    for x in order:
        result = x.__torch_function__(public, types, tuple(args), options)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for '{public.__module__}.{public.__name__}' on types that "
        f"implement __torch_function__: {list(types)}"
    )


def deferring(general: Callable[..., Any]) -> Callable[..., Any]:
    """`general`; where it fails, arguments with `__torch_function__` are asked.

    The function that the user has called asks, not one that this one has called.
    """

    @functools.wraps(general)
    def deferred(*args: Any, **options: Any) -> Any:
        try:
            return general(*args, **options)
        except Exception:
            asked = list(_found((*args, *options.values())))
            if not asked or _is_within_another():
                raise
        return handle(public_of(general), asked, *_as_given(general, args, options))

    return deferred


def _as_given(
    general: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """The arguments without those that have their defaults, which fast paths hand on."""
    known = inspect.signature(general).parameters
    defaults = [p.default for p in known.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    count = len(args)
    while 0 < count <= len(defaults) and args[count - 1] is defaults[count - 1]:
        count -= 1
    return args[:count], {
        k: v for k, v in options.items() if k not in known or v is not known[k].default
    }


def operator(f: _F) -> _F:
    """Mark a function that uses `answer`."""
    _operators.add(f)
    return f


def answer(function: Callable[..., Any], x: Any, other: Any) -> Any:
    """What an operator gives for `other`, which is none of its operands."""
    if can_answer(other):
        with contextlib.suppress(TypeError):  # the reflected operator of `other` is next
            return handle(public_of(function), (other,), (x, other), {})
    return NotImplemented


def asks(general: Callable[..., Any]) -> Callable[..., Any]:
    """`deferring(general)`, for a function that goes there itself; an operator has asked by then."""
    if general in _operators:
        return general
    _asking.update(map(_key, _chain(general)))
    return deferring(general)


_CODE = next(c for c in deferring.__code__.co_consts if getattr(c, "co_name", "") == "deferred")


def _is_within_another() -> bool:
    frame: Any = _frame(2)
    while frame is not None and frame.f_code.co_filename in sites.OWN:
        if frame.f_code is _CODE:
            return True
        frame = frame.f_back
    return False


def _key(function: Any) -> tuple[str, str]:
    return function.__module__, function.__name__


def _chain(function: Any) -> Iterator[Any]:
    """A function and what it has been wrapped around under the same name."""
    name = function.__name__
    while function is not None and function.__name__ == name:
        yield function
        function = getattr(function, "__wrapped__", None)


def public_of(function: Any) -> Any:
    """The function that users know it by; `__torch_function__` compares it with such."""
    key = _key(function)
    for owner in _offered:
        for found in vars(owner).values():
            if isinstance(found, FunctionType) and key in map(_key, _chain(found)):
                return found
    return function


_FAMILIES = {"ops", "linalg", "nn", "fft", "special"}
# Families of functions that are given no tensors, and what never asks; `relu` leaves it to its callee.
_OF_NUMBERS = {"create", "generator", "interchange", "legacy", "ranges", "windows"}
_NEVER = {"can_cast", "is_tensor", "relu", "typename"}


def _is_asked(owner: Any, name: str, f: Any) -> bool:
    """Whether the function or method may be given what answers in its place."""
    if not isinstance(f, FunctionType) or name[0] == "_" or name in _NEVER:
        return False
    origin = inspect.unwrap(f)
    package, *folders, family = origin.__module__.split(".")
    if package != _PACKAGE or (folders or [family])[0] not in _FAMILIES:
        return False
    if family[0] == "_" or family in _OF_NUMBERS:
        return False
    code = origin.__code__
    takes = code.co_argcount + (code.co_flags & inspect.CO_VARARGS > 0)
    if isinstance(owner, type):  # the tensor itself has no answer
        if takes == 1:
            return name[-1] == "_" and f in _made
        return f in _made or name[-1] == "_" or name[-3:] == "_as" or "other" in code.co_varnames
    return takes > 0 and name in getattr(owner, "__all__", vars(owner))


def offer(owners: dict[str, Any]) -> None:
    """Let functions and methods ask that do not yet.

    `owners`: modules and the class of tensors, by the label under which pickled functions are found.
    """
    _offered.extend(owners.values())
    for label, owner in owners.items():
        module, _, cls = label.partition(":")
        for name in dir(owner):
            f = inspect.getattr_static(owner, name)
            if not _is_asked(owner, name, f):
                continue
            if f not in _made and not _asking.isdisjoint(map(_key, _chain(f))):
                continue
            if f not in _made:
                _made[f] = found = deferring(f)
                _made[found] = found
                found.__module__, found.__qualname__ = module, f"{cls}.{name}" if cls else name
            setattr(owner, name, _made[f])


_made: dict[Any, Any] = {}  # what is offered in place of a function
