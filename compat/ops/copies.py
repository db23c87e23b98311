"""Views as copies: `view_copy` and its like, and the splits whose parts may be written into."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..autograd.node import Port
from ._apply import finish
from ._compose import rename
from ._layout import alias, own
from ._operands import operand, require_tensor
from .complex import view_as_complex, view_as_real
from .join import chunk, split, split_with_sizes, unbind
from .memory import as_strided
from .part import diagonal, narrow, select, unfold
from .shape import expand, permute, squeeze, t, transpose, unsqueeze, view

if TYPE_CHECKING:
    from .._tensor import Tensor

_R = TypeVar("_R")


def _renamed(out: Any, node: str) -> None:
    """Call the node of a result that nobody has seen `node`, or by its name if that is a suffix."""
    last = out._node.node if out._node.__class__ is Port else out._node
    if last is not None and not last.name().endswith(node):
        rename(last, last.name() + node if node.startswith("_") else node)


def _own(out: Any, x: Any, node: str) -> Any:
    """What a view shows, in memory of its own."""
    if out is x:
        out = alias(x)
    copy = own(out)
    _renamed(copy, node)
    return copy


def _copying(name: str, show: Callable[..., _R], node: str = "_copy") -> Callable[..., _R]:
    """``show(input, ...)`` in memory of its own, a function called `name`."""
    what = show.__name__

    def copied(input: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        x = operand(name, 1, "input", input)
        shown = show(x, *args, **kwargs)
        if not isinstance(shown, tuple):
            return finish(name, _own(shown, x, node), out, (x,))
        copies = tuple(_own(part, x, node) for part in shown)
        if out is None:
            return copies
        for copy, target in zip(copies, out, strict=True):
            finish(name, copy, target, (x,))
        return None

    copied.__name__ = copied.__qualname__ = name
    copied.__module__ = __name__
    copied.__wrapped__ = show  # type: ignore[attr-defined]
    copied.__doc__ = f"What `{what}` shows, in memory of its own; see `compat.Tensor.{what}`."
    return copied


def _alias(input: Any) -> Tensor:
    return alias(input)


def _slice(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Tensor:
    axis = dim % max(len(input._array.shape), 1)
    return input[(slice(None),) * axis + (slice(start, end, step),)]


_alias.__name__, _slice.__name__ = "alias", "slice"

alias_copy = _copying("alias_copy", _alias)
as_strided_copy = _copying("as_strided_copy", as_strided)
diagonal_copy = _copying("diagonal_copy", diagonal)
expand_copy = _copying("expand_copy", expand)
narrow_copy = _copying("narrow_copy", narrow, "NarrowCopyBackward0")
permute_copy = _copying("permute_copy", permute)
select_copy = _copying("select_copy", select)
slice_copy = _copying("slice_copy", _slice)
split_copy = _copying("split_copy", split)
split_with_sizes_copy = _copying("split_with_sizes_copy", split_with_sizes)
squeeze_copy = _copying("squeeze_copy", squeeze)
t_copy = _copying("t_copy", t)
transpose_copy = _copying("transpose_copy", transpose)
unbind_copy = _copying("unbind_copy", unbind)
unfold_copy = _copying("unfold_copy", unfold)
unsqueeze_copy = _copying("unsqueeze_copy", unsqueeze)
view_as_complex_copy = _copying("view_as_complex_copy", view_as_complex)
view_as_real_copy = _copying("view_as_real_copy", view_as_real)
view_copy = _copying("view_copy", view)

# PyTorch's share memory but are no views to it; here the parts have their own.
unsafe_chunk = _copying("unsafe_chunk", chunk, "UnsafeSplitBackward0")
unsafe_split = _copying("unsafe_split", split, "UnsafeSplitBackward0")
unsafe_split_with_sizes = _copying(
    "unsafe_split_with_sizes", split_with_sizes, "UnsafeSplitWithSizesBackward0"
)


def detach(input: Any) -> Tensor:
    """``input.detach()``: the same numbers in the same memory, cut off from the graph.

    >>> import compat as torch
    >>> torch.detach(torch.ones(2, requires_grad=True)).requires_grad
    False
    """
    return operand("detach", 1, "input", input).detach()


def detach_copy(input: Any, *, out: Any = None) -> Tensor:
    """``input.detach()`` in memory of its own.

    >>> import compat as torch
    >>> torch.detach_copy(torch.ones(2, requires_grad=True))
    tensor([1., 1.])
    """
    x = operand("detach_copy", 1, "input", input).detach()
    return finish("detach_copy", own(alias(x)), out, (x,))


def detach_(input: Any) -> Tensor:
    """``input.detach_()``."""
    require_tensor("detach_", input)
    return input.detach_()


class CopiesMethods:
    """The methods of `Tensor` in this family."""

    __slots__ = ()

    narrow_copy = narrow_copy
    unsafe_chunk = unsafe_chunk
    unsafe_split = unsafe_split
    unsafe_split_with_sizes = unsafe_split_with_sizes


__all__ = [
    "alias_copy",
    "as_strided_copy",
    "detach",
    "detach_",
    "detach_copy",
    "diagonal_copy",
    "expand_copy",
    "narrow_copy",
    "permute_copy",
    "select_copy",
    "slice_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze_copy",
    "view_as_complex_copy",
    "view_as_real_copy",
    "view_copy",
]
