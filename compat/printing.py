"""How tensors are printed: PyTorch's layout, `set_printoptions`.

Layer 7. All elements of a tensor are printed in one style: integers, so many places, or scientific,
whichever shows the smallest and the largest of them well.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core import Tracer
from funcgrad.errors import where
from funcgrad.indexing import known

from . import dtypes
from .autograd import views
from .autograd.base import made
from .autograd.forward_ad import unpack_dual
from .autograd.node import AccumulateGrad, Port
from .size import device_of

# ---------------------------------------------------------------- options


@dataclasses.dataclass
class Options:
    """What `set_printoptions` sets; its arguments say what these are."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


options = Options()
_PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=math.inf),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed; what is None stays, but for `sci_mode`, where it is "choose".

    `precision`: digits after the point. `threshold`: tensors of more elements are shortened to
    `edgeitems` at each end of every axis. `linewidth`: characters in a line. `profile`: "default",
    "short" or "full", which the other arguments override. `sci_mode`: scientific notation or not.

    >>> import compat as torch
    >>> torch.set_printoptions(precision=2)
    >>> torch.tensor([1.2345])
    tensor([1.23])
    >>> torch.set_printoptions(profile="default")
    """
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    base = _PROFILES.get(profile or "", options)
    for name, value in given.items():
        setattr(options, name, getattr(base, name) if value is None else value)
    options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options now, as arguments for `set_printoptions`.

    >>> get_printoptions()["linewidth"]
    80
    """
    return dataclasses.asdict(options)


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """The options inside a ``with``; see `set_printoptions`.

    >>> import compat as torch
    >>> with printoptions(precision=1):
    ...     print(torch.tensor([1.25]))
    tensor([1.2])
    """
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


# ---------------------------------------------------------------- elements


class _Style(NamedTuple):
    """How one element is written, and how wide they all are, but for zeros, NaN and infinities."""

    width: int
    text: Callable[[Any], str]

    def padded(self, value: Any) -> str:
        return self.text(value).rjust(self.width)


def _style(values: np.ndarray) -> _Style:
    """The style that suits all of the values."""
    if values.dtype.kind not in "fV":
        return _Style(max((len(str(v)) for v in values.ravel().tolist()), default=1), str)
    found = values.ravel().astype(np.float64)
    found = found[np.isfinite(found) & (found != 0)]
    if not found.size:
        return _Style(1, _integer)
    sizes = np.abs(found)
    low, high = float(sizes.min()), float(sizes.max())
    scientific = options.sci_mode
    if scientific is None:
        scientific = high / low > 1000 or high > 1e8 or low < 1e-4
    if scientific:
        text = _with_places("e")
    elif bool(np.all(found == np.ceil(found))):
        text = _integer
    else:
        text = _with_places("f")
    return _Style(max(len(text(v)) for v in found.tolist()), text)


def _with_places(kind: str) -> Callable[[Any], str]:
    return f"{{:.{options.precision}{kind}}}".format


def _integer(value: float) -> str:
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


def _complex_style(values: np.ndarray) -> _Style:
    real, imag = _style(values.real), _style(values.imag)

    def text(value: complex) -> str:
        other = imag.padded(value.imag).lstrip()
        sign = "" if other[0] in "+-" else "+"
        return f"{real.padded(value.real)}{sign}{other}j"

    return _Style(real.width + imag.width + 1, text)


# ---------------------------------------------------------------- rows


def _edges(array: np.ndarray) -> np.ndarray:
    """The elements that a shortened tensor shows, or those that PyTorch chooses the style by."""
    n = options.edgeitems
    if not n:
        return array[(slice(0, 0),) * array.ndim] if array.ndim > 1 else array
    for axis, length in enumerate(array.shape):
        if length > 2 * n:
            array = np.take(array, [*range(n), *range(length - n, length)], axis=axis)
    return array


def _rows(array: np.ndarray, style: _Style, indent: int, short: bool) -> str:
    """The elements in brackets; lines after the first are indented."""
    write = style.text if array.dtype.kind == "c" else style.padded
    if not array.ndim:
        return write(array.item())
    n = options.edgeitems
    cut = short and len(array) > 2 * n
    if array.ndim == 1:
        if cut and n:
            parts = [*map(write, array[:n].tolist()), " ...", *map(write, array[-n:].tolist())]
        else:
            parts = ["..."] if cut else [*map(write, array.tolist())]
        per_line = max(1, (options.linewidth - indent) // (style.width + 2))
        lines = [", ".join(parts[i : i + per_line]) for i in range(0, len(parts), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    chosen: Sequence[Any] = [*array[:n], None, *array[len(array) - n :]] if cut else list(array)
    blocks = ["..." if part is None else _rows(part, style, indent + 1, short) for part in chosen]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(blocks) + "]"


def text_of(array: np.ndarray, indent: int) -> str:
    """The elements as PyTorch prints them."""
    if not array.size:
        return "[]"
    if array.dtype.kind == "V":  # bfloat16, whose elements Python cannot write
        array = array.astype(np.float32)
    short = array.size > options.threshold
    shown = _edges(array) if short else array
    style = _complex_style(shown) if array.dtype.kind == "c" else _style(shown)
    return _rows(array, style, indent, short)


# ---------------------------------------------------------------- tensors


def describe(x: Any, prefix: str = "tensor(", contents: str | None = None) -> str:
    """A tensor as PyTorch prints it; `contents` to stand for its elements.

    >>> import compat as torch
    >>> describe(torch.tensor([1.0, 2.5], requires_grad=True))
    'tensor([1.0000, 2.5000], requires_grad=True)'
    """
    try:
        node = views.edge(x)
    except RuntimeError:  # a view that has lost its place in the graph
        node = x._node
    array = known(x._array) if isinstance(x._array, Tracer) else x._array
    if array is None:  # a transform knows only the type
        if getattr(x._array.owner, "is_silent", False):
            raise RuntimeError(f"compile: a tensor is printed, which has no numbers yet{where()}")
        text, suffixes = repr(x._array), []
    else:
        array = array.get() if hasattr(array, "get") else np.asarray(array)
        text = text_of(array, len(prefix)) if contents is None else contents
        suffixes = _suffixes(x, array)
    if node.__class__ is AccumulateGrad:
        suffixes.append("requires_grad=True")
    elif node is not None:
        suffixes.append(f"grad_fn=<{(node.node if node.__class__ is Port else node).name()}>")
    tangent = unpack_dual(x).tangent
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    return joined(prefix + text, suffixes, len(prefix))


def _suffixes(x: Any, array: np.ndarray) -> list[str]:
    """What the elements do not tell: the device, the shape, the dtype."""
    dtype, default = dtypes.of(array.dtype), dtypes.get_default_dtype()
    device = device_of(x._array)
    found = [] if device.type == "cpu" else [f"device='{device}'"]
    if (array.ndim != 1) if not array.size else not options.edgeitems:
        found.append(f"size={tuple(array.shape)}")
    usual = (default,) if not array.size else (default, default.to_complex(), *_WHOLE)
    if dtype not in usual:
        found.append(f"dtype={dtype}")
    return found


_WHOLE = (dtypes.int64, dtypes.bool)


def joined(text: str, suffixes: Sequence[str], indent: int) -> str:
    """The text with the suffixes, each on the last line if it fits."""
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > options.linewidth:
            text += ",\n" + " " * indent + suffix
            last = indent + len(suffix)
        else:
            text += ", " + suffix
            last += len(suffix) + 2
    return text + ")"


def cls_of_tensors() -> Any:
    return made.cls


class PrintingMethods:
    """How `Tensor` is shown."""

    __slots__ = ()

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        name = "tensor" if type(self) is cls_of_tensors() else type(self).__name__
        return describe(self, f"{name}(", tensor_contents)

    def __format__(self, spec: str) -> str:
        array: Any = self._array  # type: ignore[attr-defined]
        if isinstance(array, Tracer):
            array = known(array)
        if array is None or array.shape or type(self) is not cls_of_tensors():
            return object.__format__(self, spec)
        return format(array.item(), spec)


__all__ = ["set_printoptions"]
