"""Functions that are made of several primitives: one axis, picking by place, checks of the dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.core import Tracer
from funcgrad.errors import ConcretizationError, where
from funcgrad.indexing import known
from funcgrad.ops import structural
from funcgrad.ops.index import gather
from funcgrad.ops.index_layout import ArrayIndex, Iota

from ..autograd.base import TensorBase
from ..autograd.node import LinearNode, OpNode, Port, node_class, sequence_number
from ..autograd.plans import PlannedNode
from ..autograd.sums import PartNode
from ..autograd.tape import record, through
from ._apply import _type_word, finish
from ._layout import in_order
from ._operands import dtype_of, plain_options


def composed(node: str, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """``f(*args, **kwargs)``, a function of arrays, on tensors; the node it ends in is called `node`.

    Users see the name that PyTorch gives to the whole operation.
    """
    since = sequence_number()
    out = through(f, *args, **plain_options(kwargs))
    for y in out if isinstance(out, tuple) else (out,):
        last = y._node
        if isinstance(last, OpNode) and last.seq > since:
            rename(last, node)
    return out


def rename(last: Any, node: str) -> None:
    """Call a node of the general kinds, which nobody has seen, `node`."""
    kind = type(last).__base__
    if kind in (OpNode, LinearNode, PartNode, PlannedNode):
        last.__class__ = node_class(node, kind)


# ---------------------------------------------------------------- axes


def hidden_view(prim: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """``prim(x, axis=axes)`` of a tensor that nobody else sees, so that it is no view to anybody."""
    node = x._node
    if node.__class__ is Port:
        node = node.node
    name = node.name() if isinstance(node, OpNode) else None
    out = record(prim, (x,), {"axis": axes}, name)
    out._view = None
    return out


def keep(x: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    """A tensor that was just reduced, with the axes put back, of length 1, if `keepdim`."""
    x = in_order(x)
    return hidden_view(structural.expand_dims, x, axes) if keepdim and axes else x


def at_least_1d(x: Any) -> Any:
    """`x`, as a vector if it is 0-d: PyTorch takes its only dimension to be 0 or -1."""
    return x if x._array.shape else record(structural.expand_dims, (x,), {"axis": (0,)})


def as_before(x: Any, like: Any) -> Any:
    """A result for `at_least_1d(like)` in the number of axes of `like`."""
    return x if like._array.shape else hidden_view(structural.squeeze, x, (0,))


def pick(x: Any, places: Any, axis: int, node: str) -> Any:
    """``y[a, b] = x[a, places[a, b], b]``: one element along the axis, which is dropped."""
    last = len(x._array.shape) - 2
    index = tuple(
        ArrayIndex(0, "known") if i == axis else Iota(n, last - i + (i > axis))
        for i, n in enumerate(x._array.shape)
    )
    return record(gather, (x, places), {"index": index}, node)


# ---------------------------------------------------------------- results


def finish_named(
    name: str, cls: Any, results: tuple[Any, ...], out: Any, operands: tuple[Any, ...]
) -> Any:
    """The results under their names, or written into the tuple of tensors `out`."""
    if out is None:
        return cls(*results)
    pairs = zip(results, out, strict=True)
    return cls(*[finish(name, result, o, operands) for result, o in pairs])


# ---------------------------------------------------------------- checks


def not_implemented(kernel: str, x: TensorBase) -> NotImplementedError:
    """PyTorch's error for a dtype that it has no kernel for."""
    word = _type_word(dtype_of(x))
    advice = "Convert it first, for example with x.float()."
    if word.startswith("Complex"):
        advice = "Take the real or the absolute part first."
    return NotImplementedError(f"\"{kernel}\" not implemented for '{word}'. {advice}")


def require_types(first: Any, *tensors: Any) -> None:
    """Raises: RuntimeError: the dtypes differ from that of the first; some may be None."""
    dtype = first._array.dtype
    for t in tensors:
        if t is not None and t._array.dtype != dtype:
            raise RuntimeError(
                f"mat1 and mat2 must have the same dtype, but got {_type_word(dtype_of(first))} "
                f"and {_type_word(dtype_of(t))}"
            )


def require_real_floats(kernel: str, x: TensorBase) -> None:
    """Raises: NotImplementedError: the dtype is not a real floating one."""
    if dtype_of(x).category != 2:
        raise not_implemented(kernel, x)


def values_of(name: str, x: TensorBase) -> Any:
    """The numbers in `x`, for functions whose result has a shape that depends on them.

    Raises: ConcretizationError: a transform knows only its type.
    """
    array = x._array
    if not isinstance(array, Tracer):
        return array
    found = known(array)
    if found is None:
        raise ConcretizationError(
            f"{name}(): the shape of the result depends on the numbers in {array!r}, which are not "
            f"known while tracing{where()}"
        )
    return found
