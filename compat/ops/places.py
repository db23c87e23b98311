"""Where elements are: nonzero, argwhere, unravel_index, and which are among others: isin."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..autograd.base import TensorBase, tensor
from ._apply import _type_word, finish
from ._compose import values_of
from ._operands import dtype_of, is_number, operand


def nonzero(input: Any, *, out: Any = None, as_tuple: bool = False) -> Any:
    """The places of the elements that are not 0: one per row, or a tuple of index tensors.

    >>> import compat as torch
    >>> torch.nonzero(torch.tensor([0.0, 2.0, 3.0]))
    tensor([[1],
            [2]])
    """
    input = operand("nonzero", 1, "input", input)
    array = values_of("nonzero", input)
    if as_tuple:
        return tuple(map(tensor, np.atleast_1d(array).nonzero()))
    return finish("nonzero", tensor(np.argwhere(array)), out, ())


def argwhere(input: Any) -> Any:
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
        raise ValueError("expected 'indices' to be integer dtype")
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n < 0 for n in lengths):
        raise ValueError("'shape' cannot have negative values")
    rest, found = indices._array.astype(np.int64), []
    for n in reversed(lengths):
        found.append(tensor(np.asarray(rest % n)))
        rest = rest // n
    return tuple(reversed(found))


def isin(
    elements: Any,
    test_elements: Any,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Any = None,
) -> Any:
    """Whether every element is among `test_elements`; whether it is not, if `invert`.

    >>> import compat as torch
    >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 4]))
    tensor([False,  True, False])
    """
    a, b = (
        x if is_number(x) else values_of("isin", operand("isin", i + 1, name, x))
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
    found = tensor(np.isin(a, b, assume_unique=assume_unique, invert=invert))
    return finish("isin", found, out, ())


class PlacesMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    argwhere = argwhere
    isin = isin
    nonzero = nonzero


__all__ = ["argwhere", "isin", "nonzero", "unravel_index"]
