"""Sequences of different lengths in one tensor: padded to the longest, or packed.

Packed, the longest sequence first, a step's rows follow those of the step before, and `batch_sizes`
says how many sequences each step still has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...autograd import base
from ...autograd.base import TensorBase
from ...ops.join import stack
from ...ops.padding import pad

if TYPE_CHECKING:
    from ..._tensor import Tensor

Places = tuple[np.ndarray, np.ndarray]


class _Fields(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Fields):
    """Sequences, step by step; `sorted_indices` is the order that sorts them by length.

    Made by `pack_sequence` and `pack_padded_sequence`.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> Any:
        if batch_sizes is None:
            assert isinstance(data, list | tuple) and len(data) == 2, (
                "need the data and the batch sizes, or both as a list or tuple"
            )
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """With the data of another dtype or device; itself if they are as asked."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._replace(data=data)

    def byte(self) -> Any:
        return self._replace(data=self.data.byte())

    def char(self) -> Any:
        return self._replace(data=self.data.char())

    def short(self) -> Any:
        return self._replace(data=self.data.short())

    def int(self) -> Any:
        return self._replace(data=self.data.int())

    def long(self) -> Any:
        return self._replace(data=self.data.long())

    def half(self) -> Any:
        return self._replace(data=self.data.half())

    def float(self) -> Any:
        return self._replace(data=self.data.float())

    def double(self) -> Any:
        return self._replace(data=self.data.double())

    def cpu(self, *args: Any, **kwargs: Any) -> Any:
        return self.to(*args, device="cpu", **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> Any:
        return self.to(*args, device="cuda", **kwargs)

    @property
    def is_cuda(self) -> bool:
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the memory is locked for copies to a GPU: never."""
        return self.data.is_pinned()

    def pin_memory(self) -> Any:
        """A copy."""
        return self._replace(data=self.data.pin_memory())


def invert_permutation(permutation: Any) -> Tensor | None:
    """Where the places `0, 1, ...` went; None of None."""
    return None if permutation is None else _indices(np.argsort(permutation._array))


def _indices(array: Any) -> Tensor:
    return base.tensor(np.asarray(array, np.int64))


# ---------------------------------------------------------------- places


def _sizes_of(lengths: np.ndarray) -> np.ndarray:
    """How many sequences each step has."""
    steps = np.arange(lengths.max(initial=0))
    return (lengths[None, :] > steps[:, None]).sum(1)


def _lengths_of(sizes: np.ndarray) -> np.ndarray:
    """The lengths of the sequences, longest first."""
    return (sizes[:, None] > np.arange(sizes.max(initial=0))[None, :]).sum(0)


def padded_places(sizes: np.ndarray) -> Places:
    """Of every packed row: its step, and its sequence."""
    steps = np.repeat(np.arange(len(sizes)), sizes)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return steps, np.arange(len(steps)) - starts


def packed_places(sizes: np.ndarray) -> Places:
    """Of every step and sequence: its row if it has one, and whether it has."""
    sequences = np.arange(sizes.max(initial=0))
    there = sequences[None, :] < sizes[:, None]
    rows = (np.cumsum(sizes) - sizes)[:, None] + sequences[None, :]
    return np.where(there, rows, 0), there


def pick_rows(x: Any, *places: np.ndarray) -> Any:
    """``x[places]``."""
    return x[tuple(map(_indices, places))]


# ---------------------------------------------------------------- packing


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> Any:
    """Padded sequences, packed. With `enforce_sorted` they must be in the order of their lengths.

    Shapes: ``input: (t, n, *a)``, or ``(n, t, *a)`` with `batch_first`; `lengths`: ``(n,)``.
    Raises: RuntimeError: the lengths do not fit, or are not sorted.

    >>> import compat as torch
    >>> packed = pack_padded_sequence(torch.tensor([[1, 2], [3, 0]]), [2, 1])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 2, 3]), tensor([2, 1]))
    """
    if not isinstance(lengths, TensorBase):
        lengths = base.tensor(np.asarray(lengths))
    found = np.asarray(lengths._array).astype(np.int64)
    order = None
    if not enforce_sorted:
        places = np.argsort(-found, kind="stable")
        found, order = found[places], _indices(places)
    axis = 0 if batch_first else 1
    shape = input.shape
    if len(shape) < 2:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [-{len(shape)}, "
            f"{len(shape) - 1}], but got {axis}): padded sequences need an axis of steps and one "
            "of sequences"
        )
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if found.shape != (shape[axis],):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {found.size} (batch_size="
            f"{shape[axis]})"
        )
    if found.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if (found[1:] > found[:-1]).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "Pass `enforce_sorted=False` to have the sequences sorted."
        )
    if found[0] > shape[1 - axis]:
        raise RuntimeError(
            f"a length is {found[0]}, but the padded sequences have {shape[1 - axis]} steps"
        )
    sizes = _sizes_of(found)
    steps, sequences = padded_places(sizes)
    if order is not None:
        sequences = order._array[sequences]
    pair = (sequences, steps) if batch_first else (steps, sequences)
    return PackedSequence(pick_rows(input, *pair), _indices(sizes), order)


def pad_packed_sequence(
    sequence: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """The sequences of a `PackedSequence`, padded, in their first order; and their lengths.

    Raises: ValueError: `total_length` is less than the longest.

    >>> import compat as torch
    >>> packed = pack_sequence([torch.tensor([1, 3]), torch.tensor([2])])
    >>> pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 3],
            [2, 0]]), tensor([2, 1]))
    """
    sizes = sequence.batch_sizes._array
    if total_length is not None:
        if total_length < len(sizes):
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, "
                f"but got total_length={total_length} and max sequence length being {len(sizes)}"
            )
        sizes = np.concatenate([sizes, np.zeros(total_length - len(sizes), np.int64)])
    lengths = _lengths_of(sizes)
    rows, there = packed_places(sizes)
    if sequence.unsorted_indices is not None:
        order = sequence.unsorted_indices._array
        rows, there, lengths = rows[:, order], there[:, order], lengths[order]
    if batch_first:
        rows, there = rows.T, there.T
    data = sequence.data
    padded = pick_rows(data, rows)
    if not there.all():
        hole = ~there.reshape(there.shape + (1,) * (data.dim() - 1))
        padded = padded.masked_fill(base.tensor(hole), padding_value)
    return padded, _indices(lengths)


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Tensors of different lengths, padded to the longest, as one.

    Shapes: each ``(t_i, *a)`` -> ``(t, n, *a)``, or ``(n, t, *a)`` with `batch_first`.
    Raises: RuntimeError: there are none, or the other axes differ.

    >>> import compat as torch
    >>> pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if isinstance(sequences, TensorBase):
        sequences = sequences.unbind(0)  # type: ignore[attr-defined]
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    trailing = sequences[0].shape[1:]
    for x in sequences:
        if x.shape[1:] != trailing:
            raise RuntimeError(
                f"pad_sequence: sequences of shapes {list(sequences[0].shape)} and {list(x.shape)} "
                "differ in more than their first axis"
            )
    longest = max(len(x) for x in sequences)
    plain = _filled(sequences, longest, padding_value, padding_side, batch_first)
    if plain is not None:
        return plain
    padded = []
    for x in sequences:
        missing = longest - len(x)
        if missing:
            pads = [0, 0] * len(trailing) + (
                [missing, 0] if padding_side == "left" else [0, missing]
            )
            x = pad(x, pads, value=padding_value)
        padded.append(x)
    return stack(padded, 0 if batch_first else 1)


def _filled(
    sequences: tuple[Any, ...], longest: int, value: float, side: str, batch_first: bool
) -> Any:
    """The same for what nobody traces and nothing is differentiated by, as data are; else None."""
    if any(x.requires_grad for x in sequences):
        return None
    arrays = [x._array for x in sequences]
    dtype = arrays[0].dtype
    if dtype.kind not in "fiu" or (dtype.kind != "f" and value != int(value)):
        return None
    if not all(a.__class__ is np.ndarray and a.dtype is dtype for a in arrays):
        return None
    lead = (len(sequences), longest) if batch_first else (longest, len(sequences))
    out = np.full((*lead, *arrays[0].shape[1:]), value, dtype)
    rows = out if batch_first else out.swapaxes(0, 1)
    for row, a in zip(rows, arrays, strict=True):
        row[longest - len(a) if side == "left" else 0 :][: len(a)] = a
    return base.tensor(out)


def pack_sequence(sequences: Sequence[Any], enforce_sorted: bool = True) -> Any:
    """Tensors of different lengths, packed.

    Raises: RuntimeError: they are not sorted by length, and `enforce_sorted`.

    >>> import compat as torch
    >>> pack_sequence([torch.tensor([1, 3]), torch.tensor([2])]).data
    tensor([1, 2, 3])
    """
    lengths = _indices([len(x) for x in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences without their padding.

    >>> import compat as torch
    >>> unpad_sequence(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]))
    [tensor([1, 3]), tensor([2])]
    """
    axis = 0 if batch_first else 1
    rows = padded_sequences.unbind(axis)
    return [x[:n] for x, n in zip(rows, lengths._array.tolist(), strict=True)]


def unpack_sequence(packed_sequences: Any) -> list[Any]:
    """The sequences of a `PackedSequence`.

    >>> import compat as torch
    >>> unpack_sequence(pack_sequence([torch.tensor([1, 3]), torch.tensor([2])]))
    [tensor([1, 3]), tensor([2])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]
