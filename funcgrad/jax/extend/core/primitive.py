"""Primitives of one's own: a function with rules that are given by tables."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ....core import aval_of
from ....errors import ArgumentError, where
from ....transforms.custom_call import Rules, custom_call, perturbed
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
        rules = self._rules(args, params)
        if not rules:
            return self.impl(*args, **params)
        run = functools.partial(self.impl, **params)
        outs = custom_call(*args, rules=Rules(self.name, lambda *xs: self._list(run(*xs)), **rules))
        return list(outs) if self.multiple_results else outs[0]

    def _list(self, found: Any) -> list[Any]:
        """What a rule says of the results, which it says of one alone where there is only one."""
        return list(found) if self.multiple_results else [found]

    def _rules(self, args: Sequence[Any], params: dict[str, Any]) -> dict[str, Any]:
        rules: dict[str, Any] = {}
        jvp: Any = ad.primitive_jvps.get(self)
        transpose: Any = ad.primitive_transposes.get(self)
        avals = [aval_of(x) for x in args]

        def given_jvp(xs: Sequence[Any], ts: Sequence[Any]) -> Any:
            moving = perturbed.get()
            seen = [
                t if moves else ad.Zero(aval_of(t)) for t, moves in zip(ts, moving, strict=True)
            ]
            outs, dots = jvp(tuple(xs), tuple(seen), **params)
            still = [None if isinstance(t, ad.Zero) else t for t in self._list(dots)]
            return self._list(outs), still

        def given_transpose(cts: Sequence[Any], known: Sequence[Any]) -> list[Any]:
            seen = [
                ad.UndefinedPrimal(aval) if x is None else x
                for x, aval in zip(known, avals, strict=True)
            ]
            found = transpose(list(cts) if self.multiple_results else cts[0], *seen, **params)
            return [None if isinstance(ct, ad.Zero) else ct for ct in found]

        def given_batch(size: int, axes: Sequence[int | None], *xs: Any) -> Any:
            if self in each:
                outs, out_axes = each[self](xs, axes, **params)
            else:
                outs, out_axes = by_size[self](size, None, None, xs, axes, **params)
            return self._list(outs), self._list(out_axes)

        if jvp is not None:
            rules["jvp"] = given_jvp
        if transpose is not None:
            rules["transpose"] = given_transpose
        each, by_size = batching.primitive_batchers, batching.axis_primitive_batchers
        if self in each or self in by_size:
            rules["batch"] = given_batch
        return rules

    def __repr__(self) -> str:
        return self.name
