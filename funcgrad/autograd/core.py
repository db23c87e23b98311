"""`make_vjp` and `make_jvp` of functions of one argument, which all other operators are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import numpy as np

from .. import numpy as fnp
from .. import tree
from ..core import Tracer, aval_of
from ..transforms.jvp import jvp as push
from ..transforms.vjp import vjp as pull
from .extend import (
    Rule,
    VSpace,
    def_linear,
    defjvp,
    defjvp_argnum,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    primitive,
    primitives,
    vspace,
)

__all__ = [
    "VSpace",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "make_jvp",
    "make_vjp",
    "primitive",
    "primitive_jvps",
    "primitive_vjps",
    "vspace",
]


class _Rules(MutableMapping[Any, Rule]):
    """The rules of all primitives of users, which `defvjp` or `defjvp` gave and may be taken away."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __getitem__(self, fun: Any) -> Rule:
        rule = vars(fun).get(self._kind) if isinstance(fun, primitive) else None
        if rule is None:
            raise KeyError(fun)
        return rule

    def __setitem__(self, fun: Any, rule: Rule) -> None:
        vars(fun)[self._kind] = rule

    def __delitem__(self, fun: Any) -> None:
        if fun not in self:
            raise KeyError(fun)
        vars(fun)[self._kind] = None

    def __iter__(self) -> Iterator[Any]:
        return (fun for fun in list(primitives) if fun in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


primitive_vjps, primitive_jvps = _Rules("vjp"), _Rules("jvp")


def make_vjp(fun: Callable[[Any], Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """The pullback of `fun` at x, and its value there: ``(g -> g^T J, fun(x))``.

    >>> pullback, value = make_vjp(lambda x: x**2, 3.0)
    >>> float(pullback(1.0)), float(value)
    (6.0, 9.0)
    """
    ans, pullback = pull(fun, x)
    return lambda g: pullback(tree.map(_like, ans, g))[0], ans


def make_jvp(fun: Callable[[Any], Any], x: Any) -> Callable[[Any], tuple[Any, Any]]:
    """``g -> (fun(x), J g)``.

    >>> value, dot = make_jvp(lambda x: x**2, 3.0)(10.0)
    >>> float(value), float(dot)
    (9.0, 60.0)
    """
    return lambda g: push(fun, (x,), (tree.map(_like, x, g),))


def _like(x: Any, g: Any) -> Any:
    """A tangent or cotangent in the dtype of `x`; autograd lets users write 1.0 for it."""
    if isinstance(g, Tracer):
        return fnp.astype(g, aval_of(x).dtype)
    return np.asarray(g, aval_of(x).dtype)
