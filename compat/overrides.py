"""`torch.overrides`: `__torch_function__` of arguments.

The functions of this package ask objects that are no tensors (`autograd/deferring.py`); those of a
subclass of `Tensor` are called by functions that ask for it themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, TypeVar

from ._missing import explain as _explain_missing
from ._tensor import Tensor
from .autograd.deferring import handle as _handle

F = TypeVar("F", bound=Callable[..., Any])


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or has `__torch_function__`.

    >>> import compat as torch
    >>> is_tensor_like(torch.ones(2)), is_tensor_like([1.0])
    (True, False)
    """
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments has a `__torch_function__`."""
    return any(hasattr(type(x), "__torch_function__") for x in relevant_args)


def has_torch_function_unary(x: Any) -> bool:
    """`has_torch_function` of one argument."""
    return has_torch_function((x,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """`has_torch_function` of the arguments."""
    return has_torch_function(relevant_args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What the first `__torch_function__` that knows the function makes of it.

    Those of subclasses are asked before those of their bases, others from left to right.

    Raises: TypeError: none knows it.

    >>> class Metres:
    ...     def __init__(self, length):
    ...         self.length = length
    ...
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args, kwargs):
    ...         return cls(func(*(x.length for x in args)))
    >>> @wrap_torch_function(lambda x: (x,))
    ... def twice(x):
    ...     return 2 * x
    >>> twice(2.0), twice(Metres(2.0)).length
    (4.0, 4.0)
    """
    asked = [x for x in relevant_args if hasattr(type(x), "__torch_function__")]
    return _handle(public_api, asked, args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[F], F]:
    """A decorator: ``dispatcher(*args)`` are the arguments whose `__torch_function__` goes first."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    return decorate


class TorchFunctionMode:
    """A ``with`` in which all functions are given to `__torch_function__`: not offered here.

    Raises: NotImplementedError: it is entered.
    """

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__}: functions are given to the __torch_function__ of an argument "
            f"here, not to that of a TorchFunctionMode"
        )

    def __exit__(self, *_: Any) -> None:
        """Never reached."""


_explain_missing("torch.overrides", globals())
