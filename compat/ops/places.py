"""Where elements are: nonzero, argwhere, unravel_index, and which are among others: isin."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

import funcgrad.numpy as fnp
from funcgrad.core import Tracer
from funcgrad.ops.cast import astype

from .. import dtypes
from ..autograd.base import TensorBase, tensor
from ..autograd.tape import through
from ._apply import _type_word, finish
from ._compose import values_of
from ._operands import dtype_of, is_number, operand

if TYPE_CHECKING:
    from .._tensor import Tensor


@overload
def nonzero(input: Any, *, out: Any = ..., as_tuple: Literal[False] = ...) -> Tensor: ...
@overload
def nonzero(input: Any, *, out: Any = ..., as_tuple: bool) -> Any: ...
def nonzero(input: Any, *, out: Any = None, as_tuple: bool = False) -> Any:
    """The places of the elements that are not 0: one per row, or a tuple of index tensors.

    Raises: RuntimeError: `out` is given, and a tuple asked for.

    >>> import compat as torch
    >>> torch.nonzero(torch.tensor([0.0, 2.0, 3.0]))
    tensor([[1],
            [2]])
    """
    input = operand("nonzero", 1, "input", input)
    array = values_of("nonzero", input)
    if as_tuple:
        if out is not None:
            raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
        return tuple(map(tensor, np.atleast_1d(array).nonzero()))
    return finish("nonzero", tensor(np.argwhere(array)), out, ())


def nonzero_static(input: Any, *, size: int, fill_value: int = -1, out: Any = None) -> Tensor:
    """The first `size` rows of `nonzero`; if there are fewer, rows of `fill_value` follow.

    Raises: RuntimeError: `size` is negative.

    >>> import compat as torch
    >>> torch.nonzero_static(torch.tensor([0.0, 2.0, 3.0]), size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    """
    count = operator.index(size)
    if count < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    x = operand("nonzero_static", 1, "input", input).detach()
    return finish("nonzero_static", through(_first_places, x, count, fill_value), out, ())


def _first_places(x: Any, count: int, fill: int, /) -> Any:
    """Sorted by whether they are there, the places keep their order."""
    absent = fnp.equal(x, 0).reshape(-1)
    order = fnp.argsort(absent, stable=True)[:count]
    rows = [fnp.where(absent[order], fill, i) for i in _unravelled(order, x.shape)]
    left = np.full((count - order.shape[0], x.ndim), fill, np.int64)
    found = fnp.stack(rows, 1) if rows else np.empty((order.shape[0], 0), np.int64)
    return fnp.concatenate([found, left])


def argwhere(input: Any) -> Tensor:
    """The places of the elements that are not 0, one per row.

    >>> import compat as torch
    >>> torch.argwhere(torch.tensor([[0.0, 2.0]]))
    tensor([[0, 1]])
    """
    return nonzero(operand("argwhere", 1, "input", input))


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """The index along every axis of ``shape`` of places in C order.

    >>> import compat as torch
    >>> torch.unravel_index(torch.tensor([5]), (2, 3))
    (tensor([1]), tensor([2]))
    """
    indices = operand("unravel_index", 1, "indices", indices)
    if dtype_of(indices).category != 1:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {dtype_of(indices)}")
    if not isinstance(shape, int | Sequence):
        kind = type(shape).__name__
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {kind}")
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in lengths:
        if not isinstance(n, int):
            kind = type(n).__name__
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {kind}")
    if any(n < 0 for n in lengths):
        raise ValueError("'shape' cannot have negative values")
    return tuple(through(_unravelled, indices, lengths))


def _unravelled(places: Any, lengths: tuple[int, ...], /) -> list[Any]:
    rest, found = astype(places, np.int64), []
    for n in reversed(lengths):
        found.append(rest % n)
        rest = rest // n
    return found[::-1]


def isin(
    elements: Any,
    test_elements: Any,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Any = None,
) -> Tensor:
    """Whether every element is among `test_elements`; whether it is not, if `invert`.

    >>> import compat as torch
    >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 4]))
    tensor([False,  True, False])
    """
    a, b = (
        x if is_number(x) else operand("isin", i + 1, name, x)._array
        for i, (name, x) in enumerate((("elements", elements), ("test_elements", test_elements)))
    )
    for x in (elements, test_elements):
        d = (
            dtype_of(x)
            if isinstance(x, TensorBase)
            else dtypes.default_of(dtypes.scalar_category(x))
        )
        if d.category in (0, 3):
            raise RuntimeError(
                f"Unsupported input type encountered for isin(): {_type_word(d)}. Convert it first, "
                f"for example with x.int()."
            )
    if isinstance(a, Tracer) or isinstance(b, Tracer):
        found = through(_compared, elements, test_elements, invert)
    else:
        found = tensor(np.isin(a, b, assume_unique=assume_unique, invert=invert))
    return finish("isin", found, out, ())


def _compared(elements: Any, tested: Any, invert: bool, /) -> Any:
    """`isin` of numbers that only their types are known of: each with each."""
    tested = fnp.ravel(tested)
    found = fnp.any(fnp.expand_dims(elements, -1) == tested, axis=-1)
    return fnp.logical_not(found) if invert else found


class PlacesMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    argwhere = argwhere
    isin = isin
    nonzero = nonzero
    nonzero_static = nonzero_static


__all__ = ["argwhere", "isin", "nonzero", "nonzero_static", "unravel_index"]
