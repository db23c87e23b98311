"""What goes into and comes out of the functions of `functional`: tensors or tuples of them.

Layer 6. Some have PyTorch's private names, too, since packages call them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.algebra import concrete_namespace
from funcgrad.core import aval_of

from .base import TensorBase, tensor

Tensors = tuple[Any, ...]


def _tensors(x: Any, what: str, name: str) -> Tensors:
    """`x`, a tensor or a tuple of tensors, as a tuple.

    Raises: TypeError: it is something else.
    """
    found = x if isinstance(x, tuple) else (x,)
    for i, part in enumerate(found):
        if not isinstance(part, TensorBase):
            where = f"value at index {i}" if isinstance(x, tuple) else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the "
                f"{where} has type {type(part)}."
            )
    return found


def _results(xs: Any, create_graph: bool) -> Any:
    """Answers, also in nested tuples, without their graph unless that is wanted."""
    if create_graph:
        return xs
    if isinstance(xs, tuple):
        return tuple([_results(x, create_graph) for x in xs])
    return xs.detach()


def _like(x: Any, template: Any) -> Any:
    """A tuple, or its only entry where `template` was no tuple."""
    return x if isinstance(template, tuple) else x[0]


def _basis(x: Any, start: int, total: int) -> Any:
    """Rows `start` and on of the identity, as far as elements of `x` go; the rest is zero."""
    array = x._array
    size = aval_of(array).size
    return concrete_namespace(array).eye(total, size, -start, dtype=array.dtype)


def _bases(xs: Sequence[Any]) -> list[Any]:
    """For every tensor, all vectors of the standard basis of them together."""
    sizes = [aval_of(x._array).size for x in xs]
    starts = np.cumsum([0, *sizes]).tolist()
    return [
        _basis(x, start, starts[-1]).reshape((starts[-1], *x._array.shape))
        for x, start in zip(xs, starts[:-1], strict=True)
    ]


# ---------------------------------------------------------------- under PyTorch's names

_grad_postprocess = _results


def _as_tuple(
    inp: Any, arg_name: str = "inputs", fn_name: str = "function"
) -> tuple[bool, Tensors]:
    """Whether it is a tuple, and it as one."""
    return isinstance(inp, tuple), _tensors(inp, arg_name, fn_name)


def _tuple_postprocess(res: Any, to_unpack: Any) -> Any:
    """A tuple, or its only entry where `to_unpack` is False; a pair is for tuples in a tuple."""
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    parts = res if inner else tuple([row[0] for row in res])
    return parts if outer else parts[0]


def _construct_standard_basis_for(tensors: Tensors, tensor_numels: Sequence[int]) -> Tensors:
    """As `_bases`, with one axis for the elements of a tensor."""
    bases = zip(_bases(tensors), tensor_numels, strict=True)
    return tuple([tensor(b.reshape((-1, n))) for b, n in bases])
