"""`embedding_bag`: the sum, mean or maximum of rows of a table, bag by bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.index import scatter_add, take, take_along_axis
from funcgrad.ops.index_layout import FULL, ArrayIndex
from funcgrad.ops.select import stop_gradient, where

from ..autograd import sites
from ..ops._apply import _type_word
from ..ops._compose import composed, values_of
from ..ops._operands import dtype_of, is_index_dtype, operand
from ..ops.embedding import _scaled, _shares, _shorten
from ..ops.scatter import require_bounds

_NODE = "EmbeddingBagBackward0"


@dataclass(frozen=True, eq=False)
class _Bags:
    """How many rows each bag has, one after the other."""

    lengths: Any

    @property
    def count(self) -> int:
        return int(self.lengths.size)

    @property
    def length(self) -> int | None:
        """The length of all bags, if they are equally long and not empty."""
        first = int(self.lengths[0]) if self.count else 0
        return first if first and (self.lengths == first).all() else None

    @property
    def owners(self) -> Any:
        """The bag of each row."""
        return np.repeat(np.arange(self.count), self.lengths)


def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The rows `weight[input]`, added ("sum"), averaged ("mean") or their maxima ("max"), by bag.

    A bag is a row of `input`, or what is between two `offsets` into it; `include_last_offset`: the
    last one is the end. `padding_idx` is no member of any bag. An empty bag has zeros. Rows longer
    than `max_norm` are first made shorter, in `weight` itself. `per_sample_weights`, for "sum", has
    a factor for each element of `input`.

    Shapes: ``(B, L), (n, d) -> (B, d)``, or ``(m,), (n, d), offsets: (B,) -> (B, d)``.
    Raises: ValueError, RuntimeError: shapes, dtypes, numbers or options do not fit.
    NotImplementedError: weights and another mode than "sum", or sparse gradients.

    >>> import compat as torch
    >>> table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> embedding_bag(torch.tensor([0, 1, 1]), table, torch.tensor([0, 2]), mode="sum")
    tensor([[4., 6.],
            [3., 4.]])
    """
    x, w = (
        operand("embedding_bag", 1, "input", input),
        operand("embedding_bag", 2, "weight", weight),
    )
    if w._array.dtype.kind in "iu" and x.is_floating_point():
        sites.warn(
            "embedding_bag(weight, input, ...) is deprecated: call embedding_bag(input, weight, ...)"
        )
        x, w = w, x
    _check_shapes(x, w, offsets, per_sample_weights)
    _check_mode(mode, scale_grad_by_freq, sparse, per_sample_weights)
    _check_types(x, w, per_sample_weights)
    bags = _bags(x, offsets, include_last_offset)
    members = int(bags.lengths.sum())
    flat = x.reshape(-1)[:members]
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)[:members]
    rows = w._array.shape[0]
    require_bounds(flat, 0, rows, lambda i: _out_of_range(flat, i, rows))
    padding = _padding(padding_idx, rows)
    if max_norm is not None:
        _shorten(w, flat, float(max_norm), float(norm_type))
    share = _shares(flat) if scale_grad_by_freq else None
    f = _largest if mode == "max" else _added
    given = {} if factors is None else {"factors": factors}
    options = {"bags": bags, "padding": padding, "share": share, "mean": mode == "mean"}
    return composed(_NODE, f, w, flat, **options, **given)


# ---------------------------------------------------------------- arrays


def _added(
    w: Any,
    flat: Any,
    /,
    *,
    bags: _Bags,
    padding: int | None,
    share: Any,
    mean: bool,
    factors: Any = None,
) -> Any:
    """Sums, or means."""
    rows = _scaled(w, flat, padding=None, share=share)
    if factors is not None:
        rows = rows * factors[:, None]
    counts = bags.lengths
    if padding is not None:
        present = flat != padding
        rows = where(present[:, None], rows, 0)
        counts = _sums(present.astype(w.dtype)[:, None], bags)[:, 0] if mean else None
    sums = _sums(rows, bags)
    if not mean:
        return sums
    return sums / fnp.maximum(counts, 1).astype(w.dtype)[:, None]


def _sums(rows: Any, bags: _Bags) -> Any:
    width = rows.shape[1]
    if bags.length is not None:
        return fnp.sum(rows.reshape((bags.count, bags.length, width)), axis=1)
    index = (ArrayIndex(0, "known"), FULL)
    return scatter_add(rows, bags.owners, shape=(bags.count, width), index=index)


def _largest(
    w: Any, flat: Any, /, *, bags: _Bags, padding: int | None, share: Any, mean: bool
) -> Any:
    """Maxima; of equal ones the first gets the gradient."""
    longest = int(bags.lengths.max(initial=0))
    if not longest:
        return fnp.broadcast_to(fnp.sum(w[:0], axis=0), (bags.count, w.shape[1]))
    starts = np.cumsum(bags.lengths) - bags.lengths
    turn = np.arange(longest)
    present: Any = turn < bags.lengths[:, None]
    places = np.where(present, starts[:, None] + turn, 0)
    members = take(flat, places, axis=0, bounds="known")
    if padding is not None:
        present = present & (members != padding)
    present = fnp.asarray(present)
    rows = take(w, members, axis=0, bounds="known")
    seen = where(present[..., None], stop_gradient(rows), -np.inf)
    best = fnp.argmax(seen, axis=1)[:, None, :]
    found = take_along_axis(rows, best, axis=1, bounds="known")[:, 0]
    return where(fnp.any(present, axis=1)[:, None], found, 0)


# ---------------------------------------------------------------- checks


def _check_shapes(x: Any, w: Any, offsets: Any, factors: Any) -> None:
    """Raises: ValueError: the shapes do not fit."""
    if factors is not None and x.shape != factors.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({factors.shape}) is not None, then it must have "
            f"the same shape as the input ({x.shape})"
        )
    if w.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {w.dim()}")
    if x.dim() not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {x.dim()}")
    if x.dim() == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, since its rows are the bags. However, "
            f"found offsets of type {type(offsets)}"
        )
    if x.dim() == 1 and offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets is not None and offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")


def _check_mode(mode: str, scale: bool, sparse: bool, factors: Any) -> None:
    """Raises: ValueError, NotImplementedError: what is asked for is not offered."""
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if mode != "sum" and factors is not None:
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}')."
        )
    if sparse:
        raise NotImplementedError(
            "embedding_bag(): sparse gradients are not implemented; leave sparse=False"
        )


def _check_types(x: Any, w: Any, factors: Any) -> None:
    """Raises: RuntimeError: the dtypes do not fit."""
    _require_whole("indices", x)
    if dtype_of(w).category != 2:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
            f"Half, BFloat16, Float, Double; but got {_type_word(dtype_of(w))} instead (while "
            "checking arguments for embedding_bag)"
        )
    if factors is not None and dtype_of(factors) is not dtype_of(w):
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            f"#1 'per_sample_weights'; but type {_type_word(dtype_of(w))} does not equal "
            f"{_type_word(dtype_of(factors))} (while checking arguments for embedding_bag)"
        )


def _require_whole(name: str, x: Any) -> None:
    if not is_index_dtype(x._array.dtype):
        raise RuntimeError(
            f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: "
            f"Long, Int; but got {_type_word(dtype_of(x))} instead (while checking arguments for "
            "embedding_bag)"
        )


def _bags(x: Any, offsets: Any, ends: bool) -> _Bags:
    """Raises: RuntimeError: the offsets do not start at 0, or decrease, or are too large."""
    shape = x._array.shape
    if offsets is None:
        return _Bags(np.full(shape[0], shape[1]))
    _require_whole("offsets", offsets)
    found, size = values_of("embedding_bag", offsets), shape[0]
    if not found.size:
        if ends:
            raise RuntimeError("include_last_offset: number of offset should be at least 1")
        return _Bags(np.zeros(0, np.int64))
    if found[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {found[0]}"
        )
    if found[-1] > size:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {size} but got offsets[-1] of "
            f"{found[-1]}"
        )
    lengths = np.diff(found if ends else np.append(found, size))
    if (lengths < 0).any():
        raise RuntimeError(f"offsets must not decrease, but got {found.tolist()}")
    return _Bags(lengths)


def _out_of_range(flat: Any, number: int, rows: int) -> RuntimeError:
    place = int(np.flatnonzero(values_of("embedding_bag", flat) == number)[0])
    return RuntimeError(
        f"Index {place} of input takes value {number} which is not in the valid range [0, {rows})"
    )


def _padding(given: int | None, rows: int) -> int | None:
    """Raises: RuntimeError: there is no such row."""
    if given is None:
        return None
    if not -rows <= given < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but "
            f"got {given}"
        )
    return given % rows


__all__ = ["embedding_bag"]
