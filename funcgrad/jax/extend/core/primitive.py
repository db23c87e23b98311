"""Primitives of one's own: a function with rules that are given by tables."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .... import tree
from ....core import aval_of
from ....errors import ArgumentError, where
from ....transforms.custom import custom_rule
from ...interpreters import ad, batching


class Primitive:
    """An operation with rules of its own, in the tables of ``jax.interpreters``.

    Without a rule for derivatives or batches those of the implementation are taken.

    Source: JAX, ``jax.extend.core.Primitive``.

    >>> import funcgrad, numpy as np
    >>> double = Primitive("double")
    >>> _ = double.def_impl(lambda x: 2.0 * x)
    >>> ad.primitive_jvps[double] = lambda xs, ts: (double.bind(*xs), 10.0 * ts[0])
    >>> float(double.bind(3.0)), float(funcgrad.grad(double.bind)(3.0))
    (6.0, 10.0)
    """

    multiple_results = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.impl: Callable[..., Any] | None = None

    def def_impl(self, impl: Callable[..., Any]) -> Callable[..., Any]:
        """Say what it computes; also a decorator."""
        self.impl = impl
        return impl

    def def_abstract_eval(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Nothing: the implementation says which type comes out."""
        return rule

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply it.

        Raises: ArgumentError: it has no implementation.
        """
        if self.impl is None:
            raise ArgumentError(f"{self.name}.bind: no implementation by def_impl{where()}")
        run = functools.partial(self.impl, **params)
        rules = self._rules(args, params)
        return custom_rule(run, **rules)(*args) if rules else run(*args)

    def _rules(self, args: Sequence[Any], params: dict[str, Any]) -> dict[str, Any]:
        rules: dict[str, Any] = {}
        jvp, transpose = ad.primitive_jvps.get(self), ad.primitive_transposes.get(self)
        if jvp is not None:
            rules["jvp"] = lambda xs, ts: tree.map(
                ad.instantiate_zeros,
                tuple(jvp(list(xs), list(ts), **params)),
                is_leaf=lambda x: isinstance(x, ad.Zero),
            )
        elif transpose is not None:
            unknown = [ad.UndefinedPrimal(aval_of(x)) for x in args]
            rules["transpose"] = lambda ct: tuple(transpose(ct, *unknown, **params))
        each, by_size = batching.primitive_batchers, batching.axis_primitive_batchers
        if self in each:
            rules["batch"] = lambda size, axes, *xs: each[self](xs, axes, **params)
        elif self in by_size:
            rules["batch"] = lambda size, axes, *xs: by_size[self](
                size, None, None, xs, axes, **params
            )
        return rules

    def __repr__(self) -> str:
        return self.name
