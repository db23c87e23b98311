"""`save` and `load`: PyTorch's checkpoint files, without running anything that is in them.

A checkpoint is a zip archive: ``data.pkl`` describes the object as a pickle, in which a tensor is its
place in a storage; ``data/0``, ``data/1`` … are the bytes of the storages. The pickle is written and
read by the two small machines below, which know data only: a file cannot call anything but what
`add_safe_globals` has allowed.
"""

from __future__ import annotations

import mmap as memory_map
import os
import pickle
import struct
import sys
import zipfile
from typing import IO, Any

import numpy as np

from ..ops.create import moved
from ..size import device as Device
from .names import CheckpointError, Storage
from .reader import Reader
from .safe import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from .writer import Writer

ndarray = np.ndarray

DEFAULT_PROTOCOL = 2  # of PyTorch's pickles
MAP_LOCATION = Any | None  # PyTorch's name for the type of `map_location`


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write tensors, and dicts, lists and tuples of them, to a path or file, as PyTorch does.

    NumPy's arrays and numbers, strings, slices and other plain data can be among them.
    Tensors that share memory are written once. The last three arguments have no effect.

    Raises: TypeError: something in it is not data, for example a module; the file is left alone.

    >>> import io
    >>> import compat as torch
    >>> file = io.BytesIO()
    >>> save({"w": torch.ones(2), "step": 3}, file)
    >>> _ = file.seek(0)
    >>> load(file)
    {'w': tensor([1., 1.]), 'step': 3}
    """
    writer = Writer()
    writer.write(obj)
    writer.out += b"."
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        _write_entry(archive, "data.pkl", bytes(writer.out))
        _write_entry(archive, "byteorder", sys.byteorder.encode())
        for i, owner in enumerate(writer.storages):
            flat = owner.reshape(-1, order="A").view(np.uint8)
            _write_entry(archive, f"data/{i}", flat.data)
        _write_entry(archive, "version", b"3\n")


_ALIGNED = 64


def _write_entry(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    """Add a file whose bytes start at a multiple of 64, so that it can be mapped into memory."""
    info = zipfile.ZipInfo(f"archive/{name}")
    long = len(data) * 1.05 > zipfile.ZIP64_LIMIT
    assert archive.fp is not None
    start = archive.fp.tell() + 30 + len(info.filename) + (20 if long else 0) + 4
    padding = -start % _ALIGNED
    info.extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
    info.file_size = len(data)
    with archive.open(info, "w", force_zip64=long) as entry:
        entry.write(data)


# ---------------------------------------------------------------- the archive


class _Archive:
    """The files of a checkpoint, and the storages that were read so far."""

    def __init__(self, file: IO[bytes], map_location: Any, mapped: Any) -> None:
        self.file, self.map_location, self.mapped = file, map_location, mapped
        self.zip = zipfile.ZipFile(file)
        self.storages: dict[str, Storage] = {}
        names = self.zip.namelist()
        found = [n for n in names if n.endswith("/data.pkl") and n.count("/") == 1]
        if len(found) != 1 or len(set(names)) != len(names):
            raise CheckpointError("the archive has no data.pkl, or files of one name")
        self.prefix = found[0].removesuffix("data.pkl")
        order = f"{self.prefix}byteorder"
        if order in names and self.read("byteorder").decode() != sys.byteorder:
            raise CheckpointError("the file was written on a machine with another order of bytes")

    def entry(self, name: str) -> zipfile.ZipInfo:
        info = self.zip.getinfo(self.prefix + name)
        if info.compress_type != zipfile.ZIP_STORED:
            raise CheckpointError(f"{info.filename} is compressed, which checkpoints are not")
        return info

    def read(self, name: str) -> bytes:
        return self.zip.read(self.entry(name))

    def load(self) -> Any:
        return Reader(self.storage).run(self.read("data.pkl"))

    def storage(self, key: str, location: Any, nbytes: int) -> Storage:
        """The storage of a key, which must have at least so many bytes."""
        if key not in self.storages:
            found = Storage(self.bytes_of(f"data/{key}"), Device("cpu"))
            self.storages[key] = _placed(found, location, self.map_location)
        found = self.storages[key]
        if nbytes > found.buffer.nbytes:
            raise CheckpointError(
                f"the storage {key} has {found.buffer.nbytes} bytes in place of {nbytes}"
            )
        return found

    def bytes_of(self, name: str) -> ndarray:
        """The bytes of a file in memory of their own, or mapped: writes do not reach the file."""
        info = self.entry(name)
        if self.mapped is None:
            return np.frombuffer(bytearray(self.read(name)), np.uint8)
        start = info.header_offset + 30  # of the header, then two variable parts
        lengths = struct.unpack("<HH", self.mapped[start - 4 : start])
        start += sum(lengths)
        if not info.file_size:
            return np.empty(0, np.uint8)
        return np.frombuffer(self.mapped, np.uint8, info.file_size, start)


def _placed(storage: Storage, location: Any, map_location: Any) -> Storage:
    """The storage at the device that `map_location` says, or at that of the file."""
    where = location
    if isinstance(map_location, str | Device):
        where = map_location
    elif isinstance(map_location, dict):
        where = map_location.get(location, location)
    elif map_location is not None:
        moved_by = map_location(storage, location)
        if moved_by is not None:
            return moved_by if isinstance(moved_by, Storage) else storage
    storage.device = Device(where)
    try:
        moved(np.empty(0), storage.device)
    except (AssertionError, RuntimeError) as e:
        raise CheckpointError(
            f"the tensors are on {storage.device}, which is not here ({e}): use "
            f"torch.load(f, map_location='cpu')"
        ) from e
    return storage


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    encoding: str = "utf-8",
) -> Any:
    """Read what `save` or PyTorch's ``torch.save`` has written, if it is data; nothing in it is run.

    NumPy's arrays and numbers are data here, also with ``weights_only=True``, where PyTorch refuses
    them. Objects of classes that `add_safe_globals` has allowed are made, too.

    `map_location`: the device for all tensors, a dict from old to new ones, or a function of a
    storage and its device. `mmap`: read tensors of a path only when they are used. `weights_only`
    has no effect: it always holds; nor has `encoding`, as no text is read that Python 2 wrote.

    Raises: CheckpointError, a RuntimeError: the file is damaged, or holds what is not data.
    """
    if pickle_module is not None:
        raise RuntimeError("torch.load uses no pickle module here, so that no file can run code")
    path = isinstance(f, str | os.PathLike)
    if mmap and not path:
        raise ValueError("f must be a file name in order to use the mmap argument")
    file: IO[bytes] = open(f, "rb") if path else f  # noqa: SIM115
    try:
        return _loaded(file, map_location, bool(mmap))
    finally:
        if path:
            file.close()


def _loaded(file: IO[bytes], map_location: Any, map_memory: bool) -> Any:
    try:
        mapped = None
        if map_memory:
            mapped = memory_map.mmap(file.fileno(), 0, access=memory_map.ACCESS_COPY)
        return _Archive(file, map_location, mapped).load()
    except CheckpointError as e:
        raise CheckpointError(f"torch.load: {e}") from e
    except zipfile.BadZipFile as e:
        raise CheckpointError(
            f"torch.load: the file is damaged, or no checkpoint: {e}. Files of PyTorch before 1.6 "
            f"have another form: load them in PyTorch, and save them again."
        ) from e
    except Exception as e:  # whatever the bytes of a damaged file lead to
        raise CheckpointError(f"torch.load: the file is damaged: {type(e).__name__}: {e}") from e


__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "safe_globals",
    "save",
]
