"""`save_file` and `load_file`: tensors by name in the safetensors format, which holds nothing else.

A file is the length of the header (8 bytes, little-endian), the header in JSON, and the numbers of
the tensors one after another, without gaps: https://github.com/huggingface/safetensors.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import struct
from typing import Any

import numpy as np

from . import dtypes
from ._tensor import Tensor
from .autograd import base
from .ops.create import moved
from .serialization.names import CheckpointError

_NAMES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "complex64": "C64",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}
_DTYPES = {short: name for name, short in _NAMES.items()}
_LONGEST_HEADER = 100_000_000
_METADATA = "__metadata__"


def save_file(
    tensors: dict[str, Any], path: str | os.PathLike[str], metadata: dict[str, str] | None = None
) -> None:
    """Write tensors by name to a file, and texts by name as its `metadata`.

    Tensors that share memory are written each by itself.

    Raises: TypeError: something else is given, or a dtype that the format does not have.

    >>> import pathlib, tempfile
    >>> import compat as torch
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weights.safetensors")
    >>> save_file({"w": torch.ones(2)}, path)
    >>> load_file(path)
    {'w': tensor([1., 1.])}
    """
    if metadata is not None and not _texts(metadata):
        raise TypeError("save_file: metadata must be a dict from strings to strings")
    header: dict[str, Any] = {} if metadata is None else {_METADATA: metadata}
    arrays = []
    end = 0
    # The widest numbers first: then all of them are aligned.
    for name, x in sorted(tensors.items(), key=_widest_first):
        short = _NAMES.get(x.dtype.name)
        if short is None:
            raise TypeError(f"save_file: safetensors files have no {x.dtype} ({name!r})")
        array = np.ascontiguousarray(moved(x.detach()._array, "cpu"))
        arrays.append(array)
        start, end = end, end + array.nbytes
        header[name] = {"dtype": short, "shape": list(x.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays:
            file.write(_little(array.reshape(-1)).view(np.uint8).data)


def _widest_first(item: tuple[str, Any]) -> tuple[int, str]:
    name, x = item
    if not isinstance(name, str) or name == _METADATA or not isinstance(x, Tensor):
        raise TypeError(
            f"save_file: expected a dict from names to tensors, found {name!r}: {type(x).__name__}"
        )
    return -x.element_size(), name


def _texts(x: Any) -> bool:
    return isinstance(x, dict) and all(
        isinstance(k, str) and isinstance(v, str) for k, v in x.items()
    )


def _little(array: Any) -> Any:
    """The array with its bytes in the order of the files, or, of a file, in that of the machine."""
    return array if np.little_endian else array.byteswap()


def load_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The tensors of a file by name.

    Raises: CheckpointError, a RuntimeError: the file is malformed.
    """
    with open(path, "rb") as file:
        header, data = _read(file, os.fstat(file.fileno()).st_size)
    places = []
    found = {}
    for name, entry in header.items():
        if name == _METADATA:
            if not _texts(entry):
                raise _malformed("the metadata is not texts")
            continue
        dtype, shape, start, end = _described(name, entry, len(data))
        places.append((start, end, name))
        array = np.frombuffer(data, np.uint8, end - start, start)
        if dtype is dtypes.bool and array.size and array.max() > 1:
            raise _malformed(f"{name!r} has booleans that are neither 0 nor 1")
        # In memory of its own: that of the file may be unaligned, and must not be written.
        found[name] = base.tensor(_little(array.copy().view(dtype.numpy)).reshape(shape))
    _require_no_gaps(places, len(data))
    return found


def _malformed(why: str) -> CheckpointError:
    return CheckpointError(f"load_file: no safetensors file, or a damaged one: {why}")


def _read(file: Any, size: int) -> tuple[dict[str, Any], bytes]:
    """The header and the numbers behind it."""
    if size < 8:
        raise _malformed(f"it has {size} bytes")
    (length,) = struct.unpack("<Q", file.read(8))
    if length > min(size - 8, _LONGEST_HEADER):
        raise _malformed(f"a header of {length} bytes in a file of {size}")
    try:
        header = json.loads(file.read(length).decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as e:
        raise _malformed(f"its header is no JSON: {e}") from e
    if not isinstance(header, dict):
        raise _malformed("its header is no object")
    return header, file.read()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name is there twice")
    return dict(pairs)


def _described(name: str, entry: Any, size: int) -> tuple[dtypes.dtype, list[int], int, int]:
    """Dtype, shape, start and end of a tensor, checked against the `size` of the data."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise _malformed(f"{name!r} is not described by dtype, shape and data_offsets")
    known = _DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if known not in dtypes.NAMES:
        needs = "needs the package ml_dtypes" if known else "is not offered here"
        raise _malformed(f"the dtype {entry['dtype']!r} of {name!r} {needs}")
    dtype: dtypes.dtype = getattr(dtypes, known)
    shape, offsets = entry["shape"], entry["data_offsets"]
    for numbers in (shape, offsets):
        if not isinstance(numbers, list) or any(type(n) is not int or n < 0 for n in numbers):
            raise _malformed(f"{name!r} has the shape {shape!r} and the offsets {offsets!r}")
    if len(shape) > 64:
        raise _malformed(f"{name!r} has {len(shape)} axes")
    if len(offsets) != 2 or not offsets[0] <= offsets[1] <= size:
        raise _malformed(f"{name!r} has the offsets {offsets!r} in {size} bytes of data")
    start, end = offsets
    # NumPy refuses axes that are too long, also beside one of length 0.
    if math.prod(shape) * dtype.itemsize != end - start or math.prod(filter(None, shape)) >= 2**56:
        raise _malformed(f"{name!r} of the shape {shape} and {dtype} has {end - start} bytes")
    return dtype, shape, start, end


def _require_no_gaps(places: list[tuple[int, int, str]], size: int) -> None:
    """Every byte belongs to exactly one tensor."""
    ends = [(0, 0, "the start"), *sorted(places), (size, size, "the end")]
    for (_, before, a), (start, _, b) in itertools.pairwise(ends):
        if start != before:
            kind = "a gap" if start > before else "an overlap"
            raise _malformed(f"there is {kind} between {a} and {b}")


__all__ = ["load_file", "save_file"]
