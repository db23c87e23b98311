"""`save_file` and `load_file`: tensors by name in NumPy's `.npz` format, which holds nothing else.

Such a file is a zip of one `.npy` for each name: `numpy.load` and other languages read it.
"""

from __future__ import annotations

import os
import zipfile
from typing import Any

import numpy as np

from . import dtypes
from .autograd import base
from .ops.create import moved
from .serialization.names import CheckpointError

_KINDS = "biufc"  # of dtypes that the format has


def save_file(
    tensors: dict[str, Any], path: str | os.PathLike[str], compressed: bool = False
) -> None:
    """Write tensors by name to a file.

    Raises: TypeError: something else is given, or a dtype that the format does not have.

    >>> import pathlib, tempfile
    >>> import compat as torch
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weights.npz")
    >>> save_file({"layer.weight": torch.ones(2)}, path)
    >>> load_file(path)
    {'layer.weight': tensor([1., 1.])}
    """
    arrays = {}
    for name, x in tensors.items():
        if not isinstance(name, str) or not isinstance(x, base.TensorBase):
            raise TypeError(
                f"save_file needs tensors by name, found {name!r}: {type(x).__name__}. Of a module "
                "that is state_dict()."
            )
        array = moved(x.detach()._array, "cpu")  # type: ignore[attr-defined]
        if array.dtype.kind not in _KINDS or not array.dtype.isnative:
            raise TypeError(f"save_file: npz files have no {array.dtype} ({name!r})")
        arrays[name] = array
    # Not by `np.savez`, of whose parameters names could be.
    how = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", how) as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def load_file(path: str | os.PathLike[str], device: Any = None) -> dict[str, Any]:
    """The tensors in a file, by name. Nothing in the file is run.

    Raises: CheckpointError: it is no such file, or an array in it is of Python objects. TypeError: of
    a dtype that tensors do not have.
    """
    found: dict[str, Any] = {}
    try:
        file = np.load(path, allow_pickle=False)
        if not isinstance(file, np.lib.npyio.NpzFile):
            raise CheckpointError(f"{os.fspath(path)} holds one array, not arrays by name")
        with file:
            for name in file.files:
                found[name] = file[name]
    except (ValueError, EOFError) as error:
        raise CheckpointError(f"{os.fspath(path)} is no npz file of numbers: {error}") from error
    for name, array in found.items():
        dtypes.of(array.dtype)  # raises for those that tensors do not have
        found[name] = base.tensor(array if device is None else moved(array, device))
    return found


__all__ = ["load_file", "save_file"]
