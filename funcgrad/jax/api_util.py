"""Functions of trees as functions of leaves: ``jax.api_util``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from .. import tree
from .extend.linear_util import WrappedFun

__all__ = [
    "debug_info",
    "flatten_fun",
    "flatten_fun_nokwargs",
    "infer_argnums_and_argnames",
    "safe_map",
]


def debug_info(traced_for: str, fun: Any, *about: Any, **more: Any) -> None:
    """Nothing: errors find names and places by themselves."""


def flatten_fun(f: WrappedFun, in_tree: Any) -> tuple[WrappedFun, Callable[[], Any]]:
    """`f` from leaves to leaves, where `in_tree` is ``(args, kwargs)``, and what its result's tree was.

    >>> from funcgrad.jax.extend.linear_util import wrap_init
    >>> leaves, structure = tree.flatten(((1, 2), {"a": 3}))
    >>> flat, out_tree = flatten_fun(wrap_init(lambda x, y, a: {"sum": x + y + a}), structure)
    >>> flat.call_wrapped(*leaves), out_tree()
    ([6], PyTreeDef({'sum': *}))
    """
    found: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        args, kwargs = tree.unflatten(in_tree, leaves)
        outs, structure = tree.flatten(f.call_wrapped(*args, **kwargs))
        found[:] = [structure]
        return outs

    return WrappedFun(flat), lambda: found[0]


def flatten_fun_nokwargs(f: WrappedFun, in_tree: Any) -> tuple[WrappedFun, Callable[[], Any]]:
    """`flatten_fun` where `in_tree` is that of the positional arguments alone."""
    found: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        outs, structure = tree.flatten(f.call_wrapped(*tree.unflatten(in_tree, leaves)))
        found[:] = [structure]
        return outs

    return WrappedFun(flat), lambda: found[0]


def infer_argnums_and_argnames(
    sig: inspect.Signature,
    argnums: int | Iterable[int] | None,
    argnames: str | Iterable[str] | None,
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Numbers and names of the same arguments, where one of both or neither is given.

    >>> infer_argnums_and_argnames(inspect.signature(lambda a, b, *, c: 0), None, ("b", "c"))
    ((1,), ('b', 'c'))
    >>> infer_argnums_and_argnames(inspect.signature(lambda a, b, *, c: 0), 0, None)
    ((0,), ('a',))
    """
    by_place = [
        name
        for name, p in sig.parameters.items()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums or ())
    names = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    if argnums is None:
        numbers = tuple(i for i, name in enumerate(by_place) if name in names)
    if argnames is None:
        found = [by_place[i] for i in numbers if -len(by_place) <= i < len(by_place)]
        names = tuple(
            name
            for name in found
            if sig.parameters[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        )
    return numbers, names


def safe_map(f: Callable[..., Any], *lists: Iterable[Any]) -> list[Any]:
    """The list of ``f(x, y, ...)`` for the elements of lists of one length.

    Raises: ValueError: the lengths differ.
    Source: JAX, ``jax.api_util.safe_map``.

    >>> safe_map(max, [1, 5], (3, 4))
    [3, 5]
    """
    return [f(*each) for each in zip(*lists, strict=True)]
