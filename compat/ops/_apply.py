"""How a function of PyTorch's becomes a primitive: check, promote, record, `out=`, and in place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.algebra import broadcast_shapes
from funcgrad.core import Primitive, Tracer
from funcgrad.errors import ShapeError

from .. import dtypes
from ..autograd import modes, sites, views
from ..autograd.base import TensorBase, tensor
from ..autograd.node import OpNode, sequence_number
from ..autograd.tape import record
from ._operands import convert, dtype_of, operand, promoted, require_tensor

if TYPE_CHECKING:
    from .._tensor import Tensor


def pointwise(
    name: str,
    prim: Primitive,
    args: tuple[Any, ...],
    *,
    out: Any = None,
    node: str | None = None,
    floating: bool = False,
    params: dict[str, Any] | None = None,
) -> Any:
    """An elementwise primitive on tensors and numbers, in their common dtype.

    `floating`: integers become the default dtype. `node`: the name of the node.
    """
    given = tuple(
        operand(name, i + 1, "input" if i == 0 else "other", x, number=i > 0 or len(args) > 1)
        for i, x in enumerate(args)
    )
    if not any(isinstance(x, TensorBase) for x in given):
        given = (tensor(np.asarray(given[0], dtype_of_number(given[0]).numpy)), *given[1:])
    check_broadcast(*given)
    return finish(name, record(prim, promoted(given, floating=floating), params, node), out, given)


def dtype_of_number(x: Any) -> dtypes.dtype:
    return dtypes.default_of(dtypes.scalar_category(x))


def check_broadcast(*xs: Any) -> None:
    """Require that the tensors broadcast together.

    Raises: RuntimeError: they do not, naming the sizes and the axis.
    """
    shapes = [tuple(x._array.shape) for x in xs if isinstance(x, TensorBase)]
    if not shapes or shapes.count(shapes[0]) == len(shapes):
        return
    try:
        broadcast_shapes("", shapes)
    except ShapeError:
        raise mismatch(*shapes) from None


def mismatch(*shapes: tuple[int, ...]) -> RuntimeError:
    """The error for the first axis along which shapes do not broadcast."""
    a, b = shapes[0], shapes[1]
    n = max(len(a), len(b))
    for i in reversed(range(n)):
        p = a[i - n + len(a)] if i - n + len(a) >= 0 else 1
        q = b[i - n + len(b)] if i - n + len(b) >= 0 else 1
        if p != q and 1 not in (p, q):
            return RuntimeError(
                f"The size of tensor a ({p}) must match the size of tensor b ({q}) at "
                f"non-singleton dimension {i}"
            )
    return RuntimeError(f"Shapes {[list(s) for s in shapes]} do not broadcast together")


def requires_grad(*xs: Any) -> bool:
    """Whether an operation on these would be recorded."""
    return modes.get().records and any(views.edge(x) is not None for x in xs)


def finish(
    name: str, result: Any, out: Any, operands: tuple[Any, ...], *, quiet: bool = False
) -> Any:
    """`result`, or `out` with the result in it; `quiet`: it may have had another shape.

    Raises: RuntimeError: an operand requires grad, or `out` cannot hold the dtype, or lies in the
    memory of an operand.
    """
    if out is None:
        return result
    if not isinstance(out, TensorBase):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if requires_grad(*operands, out):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            f"but one of the arguments requires grad."
        )
    if name in _OF_ONE_DTYPE and dtype_of(out) is not dtype_of(result):
        raise RuntimeError(
            f"{name}(): Expected out tensor to have dtype {dtype_of(result).name}, but got "
            f"{dtype_of(out).name} instead"
        )
    check_castable(result, out)
    found, needed = out._array.shape, result._array.shape
    if found == needed:
        views.check_writable(out, *operands)
    else:
        if math.prod(found) and not quiet:
            sites.warn(
                f"An output with one or more elements was resized since it had shape {list(found)}, "
                f"which does not match the required output shape {list(needed)}. This behavior is "
                f"deprecated; pass an out= of that shape, or one without elements."
            )
        out._array = np.empty(needed, out._array.dtype)
    return views.assign(out, result, name, whole=True)


# The functions whose `out` must have the dtype of the result; elsewhere it is converted to.
_EXACT = """
abs amax amin aminmax argmax argmin avg_pool2d avg_pool3d bitwise_not ceil clamp clamp_max
clamp_min complex conj_physical cummax cummin diag floor frac frexp gather hardshrink histc
histogram index_add index_copy index_select isneginf isposinf kthvalue linalg.det linalg.inv
log_softmax logcumsumexp masked_select max median min mode nanmedian neg nonzero nonzero_static
norm polar renorm round scatter scatter_add scatter_reduce searchsorted sgn sign signbit softmax
softplus sort take topk tril triu trunc where
"""
_OF_ONE_DTYPE = frozenset(_EXACT.split())


def check_castable(result: Any, out: TensorBase) -> None:
    """Require that the dtype of `out` is of the result's category or a higher one."""
    found, needed = dtype_of(result), dtype_of(out)
    if found.category > needed.category:
        raise RuntimeError(
            f"result type {_type_word(found)} can't be cast to the desired output type "
            f"{_type_word(needed)}"
        )


_TYPE_WORDS = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


def _type_word(d: dtypes.dtype) -> str:
    return _TYPE_WORDS[d.name]


def inplace(
    f: Callable[..., Any],
    name: str | None = None,
    *,
    read_first: bool = False,
    apart: bool = False,
) -> Callable[..., Tensor]:
    """``x.f_(...)``: `f` out of place, and the result written into `x`.

    The old value of `x` is copied if the derivative of `f` reads it. `read_first`: see
    `views.check_writable`. `apart`: no other tensor may lie in the memory of `x`, not even all of it,
    but for a number that is read first.
    """
    name = name or f"{f.__name__}_"

    def in_place(self: Any, *args: Any, **kwargs: Any) -> Any:
        require_tensor(name, self)
        views.check_writable(self, *args, read_first=read_first)
        if apart:
            for other in (*args, *kwargs.values()):
                if isinstance(other, TensorBase) and (other._array.shape or not read_first):
                    views.check_overlap(self, other, same_allowed=False)
        since = sequence_number()
        new = f(self, *args, **kwargs)
        if new._array.shape != self._array.shape:
            raise RuntimeError(
                f"output with shape {list(self._array.shape)} doesn't match the broadcast shape "
                f"{list(new._array.shape)}"
            )
        check_castable(new, self)
        if new._array.dtype != self._array.dtype:
            new = convert(new, dtype_of(self))
        if new._node is not None:
            _rescue(new._node, self._counter, since)
        return views.assign(self, new, name)

    in_place.__name__ = in_place.__qualname__ = name
    in_place.__doc__ = f"`{name[:-1]}` in place; see `compat.{name[:-1]}`."
    in_place.__module__ = f.__module__
    in_place.__wrapped__ = f  # type: ignore[attr-defined]
    return in_place


def _rescue(node: Any, counter: list[Any], since: int) -> None:
    """Copy what the nodes recorded after `since` have saved of the memory counted by `counter`.

    It is about to be written by the very operation that they recorded.
    """
    stack, seen = [node], {node}
    while stack:
        node = stack.pop()
        if node.seq <= since:
            continue
        if isinstance(node, OpNode):
            node.keep_copies(counter)
        for edge in node.next:
            if edge is not None and edge not in seen:
                seen.add(edge)
                stack.append(edge)


def is_traced(x: TensorBase) -> bool:
    """Whether the numbers of `x` are those of a funcgrad transform."""
    return isinstance(x._array, Tracer)


__all__ = [
    "check_broadcast",
    "check_castable",
    "finish",
    "inplace",
    "is_traced",
    "mismatch",
    "pointwise",
    "requires_grad",
]
