"""What is in checkpoints: names of PyTorch's, storages, what may be a key."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

from numpy import generic, ndarray

from .. import dtypes


class CheckpointError(RuntimeError, pickle.UnpicklingError):
    """A file that is no checkpoint, is damaged, or holds what is not data."""


STORAGES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
}
STORAGE_OF = {dtype: name for name, dtype in STORAGES.items()}
UNTYPED = "torch.storage UntypedStorage"
ADVICE = (
    "Checkpoints hold tensors, parameters, NumPy arrays, numbers, strings, bytes, slices, None, and "
    "dicts, lists, tuples and sets of them"
)


class Global(NamedTuple):
    """A name that a pickle refers to, which only the machine below gives a meaning."""

    name: str


class Storage:
    """The bytes that tensors of a file share, and the counter of writes that they share."""

    __slots__ = ("buffer", "counter", "device")

    def __init__(self, buffer: ndarray, device: Any) -> None:
        self.buffer, self.device = buffer, device
        self.counter: list[Any] = [0]


class Typed(NamedTuple):
    """A storage and the dtype of what is in it."""

    storage: Storage
    dtype: dtypes.dtype


def may_be_key(x: Any) -> bool:
    """Numbers, strings and tuples of them; deeper ones could take forever to be hashed."""
    simple = (str, bytes, int, float, bool, complex, type(None))
    if type(x) is tuple:
        return all(type(y) in simple or isinstance(y, generic) for y in x)
    return type(x) in simple or isinstance(x, generic)
