"""How tensors are printed: PyTorch's layout, `set_printoptions`.

Layer 7. All elements of a tensor are printed in one style: integers, so many places, or scientific,
whichever shows the smallest and the largest of them well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad.core import Tracer

from . import dtypes
from .autograd import views
from .autograd.node import AccumulateGrad, Port


@dataclass
class Options:
    """What `set_printoptions` sets."""

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
    """Set how tensors are printed: places, elements before `...`, width; or a named profile.

    >>> import compat as torch
    >>> torch.set_printoptions(precision=2)
    >>> torch.tensor([1.2345])
    tensor([1.23])
    >>> torch.set_printoptions(profile="default")
    """
    if profile is not None:
        base = _PROFILES[profile]
        options.precision = base.precision
        options.threshold = base.threshold
        options.edgeitems = base.edgeitems
        options.linewidth = 80
    if precision is not None:
        options.precision = precision
    if threshold is not None:
        options.threshold = threshold
    if edgeitems is not None:
        options.edgeitems = edgeitems
    if linewidth is not None:
        options.linewidth = linewidth
    options.sci_mode = sci_mode


# ---------------------------------------------------------------- elements


def _style(values: np.ndarray) -> Callable[[Any], str]:
    """How one element is written; all come out equally wide."""
    if values.dtype.kind not in "fcV":
        texts = [str(v) for v in values.ravel().tolist()]
        width = max(map(len, texts), default=0)
        return lambda v: str(v).rjust(width)
    found = values.astype(np.float64).ravel()
    found = found[np.isfinite(found) & (found != 0)]
    places = options.precision
    integers = bool(np.all(found == np.ceil(found)))
    sizes = np.abs(found)
    low, high = (float(sizes.min()), float(sizes.max())) if sizes.size else (1.0, 1.0)
    scientific = high / low > 1000 or high > 1e8 or (not integers and low < 1e-4)
    if options.sci_mode is not None:
        scientific = options.sci_mode

    def plain(v: float) -> str:
        if scientific:
            return f"{v:.{places}e}"
        if integers:
            return f"{v:.0f}." if math.isfinite(v) else f"{v:.0f}"
        return f"{v:.{places}f}"

    width = max([len(plain(v)) for v in found.tolist()], default=1)
    rest = values.astype(np.float64).ravel()
    rest = rest[~np.isfinite(rest)]
    width = max([width, *(len(plain(v)) for v in rest.tolist())]) if rest.size else width
    return lambda v: plain(v).rjust(width)


def _complex_style(values: np.ndarray) -> Callable[[Any], str]:
    real, imag = _style(values.real), _style(values.imag)

    def written(v: complex) -> str:
        other = imag(v.imag).lstrip()
        sign = "" if other[0] in "+-" else "+"
        return f"{real(v.real)}{sign}{other}j"

    width = max((len(written(v)) for v in values.ravel().tolist()), default=0)
    return lambda v: written(v).ljust(width)


# ---------------------------------------------------------------- rows


def _edges(array: np.ndarray) -> np.ndarray:
    """The elements that a summary shows."""
    n = options.edgeitems
    for axis, length in enumerate(array.shape):
        if length > 2 * n:
            array = np.take(array, [*range(n), *range(length - n, length)], axis=axis)
    return array


def _rows(
    array: np.ndarray, style: Callable[[Any], str], indent: int, short: bool, width: int
) -> str:
    if not array.ndim:
        return style(array.item())
    n = options.edgeitems
    cut = short and array.shape[0] > 2 * n
    if array.ndim == 1:
        parts = [style(v) for v in (array[:n] if cut else array).tolist()]
        if cut:
            parts = [*parts, " ...", *(style(v) for v in array[-n:].tolist())]
        per_line = max(1, (options.linewidth - indent) // (width + 2))
        lines = [", ".join(parts[i : i + per_line]) for i in range(0, len(parts), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    chosen: Sequence[Any] = [*array[:n], None, *array[-n:]] if cut else list(array)
    blocks = [
        "..." if part is None else _rows(part, style, indent + 1, short, width) for part in chosen
    ]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(blocks) + "]"


def text_of(array: np.ndarray, indent: int) -> str:
    """The elements as PyTorch prints them, continued lines indented."""
    if not array.size:
        return "[]"
    short = array.size > options.threshold
    shown = _edges(array) if short else array
    style = _complex_style(shown) if array.dtype.kind == "c" else _style(shown)
    width = len(style(shown.ravel()[0].item()))
    return _rows(array, style, indent, short, width)


def describe(x: Any, prefix: str = "tensor(") -> str:
    """A tensor as PyTorch prints it.

    >>> import compat as torch
    >>> describe(torch.tensor([1.0, 2.5], requires_grad=True))
    'tensor([1.0000, 2.5000], requires_grad=True)'
    """
    array = x._array
    if isinstance(array, Tracer):
        return f"{prefix}{array!r})"
    dtype = dtypes.of(array.dtype)
    default = dtypes.get_default_dtype()
    suffixes = []
    if not array.size:
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        if dtype is not default:
            suffixes.append(f"dtype={dtype}")
    elif dtype not in (default, default.to_complex(), dtypes.int64, dtypes.bool):
        suffixes.append(f"dtype={dtype}")
    node = views.edge(x)
    if node.__class__ is AccumulateGrad:
        suffixes.append("requires_grad=True")
    elif node is not None:
        suffixes.append(f"grad_fn=<{(node.node if node.__class__ is Port else node).name()}>")
    indent = len(prefix)
    text = prefix + text_of(array, indent)
    last = len(text) - text.rfind("\n") + 1 - (indent if "\n" not in text else 0)
    for suffix in suffixes:
        if last + len(suffix) + 2 > options.linewidth:
            text += ",\n" + " " * indent + suffix
            last = indent + len(suffix)
        else:
            text += ", " + suffix
            last += len(suffix) + 2
    return text + ")"


class PrintingMethods:
    """How `Tensor` is shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return describe(self)

    def __format__(self, spec: str) -> str:
        array: Any = self._array  # type: ignore[attr-defined]
        return format(array.item(), spec) if not array.shape else object.__format__(self, spec)


__all__ = ["set_printoptions"]
