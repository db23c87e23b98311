"""`Operation`: operations whose derivative the user writes; run them with `mygrad.execute_op`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from numbers import Real
from typing import Any
from weakref import ref

import numpy as np

from ..autograd.base import tensor
from ..autograd.function import Function as _CompatFunction
from ..autograd.function import once_differentiable
from ._arrays import SETITEM
from ._graph import (
    NO_VIEWS,
    Options,
    Recorded,
    Step,
    TensorCore,
    finish,
    gather,
    husk,
    plain,
)
from ._memory import state
from ._writing import write
from .errors import InvalidGradient

__all__ = ["BinaryUfunc", "Operation", "Sequential", "SkipGradient", "Ufunc", "UnaryUfunc"]


class SkipGradient(Exception):
    """Raised by a `backward_var`: this variable gets nothing from this operation."""


def reduce_broadcast(grad: Any, var_shape: tuple[int, ...]) -> Any:
    """The gradient by what was broadcast: summed over the axes along which it was repeated.

    Raises: ValueError: it has fewer axes than its variable.
    """
    if grad.shape == var_shape:
        return grad
    more = grad.ndim - len(var_shape)
    if more < 0:
        raise ValueError(
            f"a gradient of {grad.ndim} axes for a variable of {len(var_shape)}: need as many or more"
        )
    grad = grad.sum(tuple(range(more)))
    ones = tuple(i for i, n in enumerate(var_shape) if n == 1 and grad.shape[i] != 1)
    return np.asarray(grad.sum(ones, keepdims=True) if ones else grad)


class Operation(Step, ABC):
    """An operation with a derivative of its own.

    `__call__` gets tensors, must keep them as ``self.variables``, and returns an array; `backward_var`
    gives the gradient by one of them.

    >>> import compat.mygrad as mg
    >>> class Cube(Operation):
    ...     def __call__(self, x):
    ...         self.variables = (x,)
    ...         return x.data**3
    ...
    ...     def backward_var(self, grad, index, **kwargs):
    ...         (x,) = self.variables
    ...         return grad * 3 * x.data**2
    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.execute_op(Cube, x).backward()
    >>> x.grad
    array([ 3., 12.])
    """

    can_return_view = False
    variables: tuple[Any, ...] = ()
    where: Any = True
    _gradients: dict[int, Any] | None = None

    @abstractmethod
    def __call__(self, *input_vars: Any, **kwargs: Any) -> Any:
        """Compute the result, an array, and keep the tensors as ``self.variables``."""

    @abstractmethod
    def backward_var(self, grad: Any, index: int, **kwargs: Any) -> Any:
        """The gradient by ``self.variables[index]``, from that by the result."""

    def backward(self, grad: Any, **kwargs: Any) -> None:
        """Ask for the gradients by all variables that are no constants.

        Raises: InvalidGradient: one is no real array, or not of the shape of its variable.
        """
        self._gradients = {}
        for index, variable in enumerate(self.variables):
            if variable.constant:
                continue
            try:
                found = self.backward_var(grad.copy(), index, **kwargs)
            except SkipGradient:
                continue
            place = f"{type(self).__name__}.backward_var(grad, {index})"
            if not isinstance(found, np.ndarray | np.number | Real):
                raise InvalidGradient(
                    f"{place} gave {type(found).__name__}; need a real number or an array of them"
                )
            found = np.asarray(found)
            if self.where is not True:
                found = found * self.where
            found = self.grad_post_process_fn(found, variable.shape)
            if found.shape != variable.shape:
                raise InvalidGradient(
                    f"{place} gave the shape {found.shape}; need that of the variable, "
                    f"{variable.shape}, or what broadcasts from it"
                )
            self._gradients[index] = found.astype(variable.dtype, copy=False)

    @staticmethod
    def grad_post_process_fn(grad: Any, var_shape: tuple[int, ...]) -> Any:
        """Sum a gradient over the axes along which its variable was repeated."""
        return reduce_broadcast(grad, var_shape)


Operation.register(Recorded)


class Ufunc(Operation, ABC):
    """An operation of elements; `numpy_ufunc` computes it."""

    numpy_ufunc: Any

    def __call__(self, *xs: Any, out: Any = None, where: Any = True, dtype: Any = None) -> Any:
        self.variables = xs
        if where is not True:
            self.where = np.asarray(where)
        return self.numpy_ufunc(*(x.data for x in xs), out=out, where=where, dtype=dtype)


class UnaryUfunc(Ufunc, ABC):
    """An operation of the elements of one tensor."""


class BinaryUfunc(Ufunc, ABC):
    """An operation of the elements of two tensors."""


class Sequential(Operation, ABC):
    """An operation along axes; `numpy_func` computes it."""

    numpy_func: Any

    def __call__(self, a: Any, axis: Any = None, **options: Any) -> Any:
        self.variables = (a,)
        self.axis = (axis,) if isinstance(axis, int) else axis
        return self.numpy_func(a.data, axis=axis, **options)


# ---------------------------------------------------------------- running them


class _Applied(_CompatFunction):
    """An operation on the tape: its result is there, and its `backward` gives the gradients."""

    @staticmethod
    def forward(ctx: Any, op: Operation, places: Sequence[int], result: Any, *_: Any) -> Any:
        ctx.op, ctx.places, ctx.count = op, places, len(_)
        return tensor(result)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        op = ctx.op
        op._gradients = None
        op.backward(g._array)
        if op._gradients is None:
            raise InvalidGradient(
                f"{type(op).__name__}.backward did not call Operation.backward, which hands the "
                "gradients on; write backward_var in place of it"
            )
        found: list[Any] = [None] * ctx.count
        for index, gradient in op._gradients.items():
            i = ctx.places[index]
            found[i] = gradient if found[i] is None else found[i] + gradient
        return (None, None, None, *[x if x is None else tensor(np.array(x)) for x in found])


def apply_operation(
    kind: type[Operation],
    operands: Sequence[Any],
    args: Sequence[Any],
    options: Options,
    constant: bool | None,
    out: Any,
) -> Any:
    """Run an operation of the user's on tensors and what becomes tensors.

    Raises: TypeError: `kind` is no `Operation`. InvalidGradient: it keeps variables that it was not
    given.
    """
    if not (isinstance(kind, type) and issubclass(kind, Operation)):
        raise TypeError(f"execute_op: need a subclass of Operation, found {kind!r}")
    tensors = [
        a if isinstance(a, TensorCore) else husk(tensor(np.asarray(a)), True) for a in operands
    ]
    op = kind()
    value = np.asarray(op(*tensors, *args, **options))
    if not state.tracks:
        found = plain(value, constant)
        return found if out is None else _stored(found, out)
    if any(np.may_share_memory(value, t._t._array) for t in tensors):
        value = value.copy()
    inputs, sources, live, _ = gather(tensors, False)
    places = [_place(kind, tensors, v) for v in op.variables]
    if live and value.dtype.kind == "f":
        t = _Applied.apply(op, places, value, *inputs)
    else:
        t = tensor(value)
    for a in tensors:
        a._operations = [*(a._operations or ()), ref(op)]
    found = finish(NO_VIEWS, op, tensors, inputs, sources, live, t, (), {}, constant)
    return found if out is None else _stored(found, out)


def _place(kind: type[Operation], tensors: Sequence[Any], variable: Any) -> int:
    for i, t in enumerate(tensors):
        if t is variable:
            return i
    raise InvalidGradient(
        f"{kind.__name__}.variables holds a tensor that it was not called with, to which no gradient "
        "could go; give it to execute_op as an operand"
    )


def _stored(found: Any, out: Any) -> Any:
    """The result of an operation in `out`, a tensor or an array."""
    if isinstance(out, TensorCore):
        return write(out, SETITEM, (out, found), (...,))
    np.copyto(out, found._t._array, "same_kind")
    found._t._array = out
    return found
