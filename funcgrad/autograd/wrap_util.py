"""From operators on functions of one argument to operators that choose the argument by its number."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..errors import ArgumentError, where
from .util import subvals

Argnum = int | tuple[int, ...] | list[int]


def unary_to_nary(unary_operator: Callable[..., Any]) -> Callable[..., Any]:
    """``operator(fun, argnum, ...)(*args)`` of ``unary_operator(f, x, ...)``, f a function of x alone.

    Several numbers make x a tuple of arguments.

    Raises: ArgumentError: a number is none of an argument.

    >>> @unary_to_nary
    ... def at_double(f, x):
    ...     return f(2 * x)
    >>> at_double(lambda a, b: (a, b), 1)("a", 3)
    ('a', 6)
    """
    name = get_name(unary_operator)

    @functools.wraps(unary_operator)
    def operator(
        fun: Callable[..., Any], argnum: Argnum = 0, *op_args: Any, **op_kwargs: Any
    ) -> Any:
        if not isinstance(argnum, int | tuple | list):
            raise ArgumentError(
                f"{name}: argnum={argnum!r}; need the number of an argument, or several{where()}"
            )

        def of_args(*args: Any, **kwargs: Any) -> Any:
            places = (argnum,) if isinstance(argnum, int) else tuple(argnum)
            if any(not -len(args) <= i < len(args) for i in places):
                raise ArgumentError(
                    f"{name}: argnum={argnum} of {get_name(fun)}, which was called with {len(args)} "
                    f"positional arguments{where()}"
                )

            @functools.wraps(fun)
            def of_one(x: Any) -> Any:
                values = (x,) if isinstance(argnum, int) else x
                return fun(*subvals(args, zip(places, values, strict=True)), **kwargs)

            x = args[argnum] if isinstance(argnum, int) else tuple(args[i] for i in places)
            return unary_operator(of_one, x, *op_args, **op_kwargs)

        of_args.__name__ = f"{name}_of_{get_name(fun)}_wrt_argnum_{argnum}"
        of_args.__doc__ = f"{name} of {get_name(fun)} with respect to argument number {argnum}."
        return of_args

    return operator


def get_name(f: Any) -> str:
    """What a function is called."""
    return getattr(f, "__name__", "[unknown name]")
