"""`kl_divergence` and which function computes it for which pair of types."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

_KL_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}
_KL_MEMOIZE: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """A decorator: the function gives `kl_divergence` for these types and their subclasses.

    They may be bases that distributions share with other classes.

    Raises: TypeError: one is no class.
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def decorator(fun: Any) -> Any:
        _KL_REGISTRY[type_p, type_q] = fun
        _KL_MEMOIZE.clear()  # a nearer pair may have come
        return fun

    return decorator


def _dispatch_kl(type_p: type, type_q: type) -> Any:
    """The function of the nearest pair of base classes, NotImplemented if there is none."""
    pairs = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not pairs:
        return NotImplemented
    near = {(p, q): (type_p.__mro__.index(p), type_q.__mro__.index(q)) for p, q in pairs}
    left = min(pairs, key=lambda pair: near[pair])
    right = min(pairs, key=lambda pair: near[pair][::-1])
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        shown = [tuple(kind.__name__ for kind in pair) for pair in (left, right)]
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl for one of {shown[0]} and {shown[1]}",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Any, q: Any) -> Any:
    """``E[log p(x) - log q(x)]`` for x of `p`; a number for each distribution of the batch.

    Raises: NotImplementedError: no formula for the two types is registered.

    >>> from compat.distributions import Normal
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    key = type(p), type(q)
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _dispatch_kl(*key)
    fun = _KL_MEMOIZE[key]
    if fun is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type "
            f"{q.__class__.__name__}"
        )
    return fun(p, q)


__all__ = ["kl_divergence", "register_kl"]
