"""`PyTorchFileReader`: the files inside of a checkpoint, as they are."""

from __future__ import annotations

import os
import zipfile
from typing import Any


class PyTorchFileReader:
    """The records of a checkpoint by name, without the folder that they are in.

    Raises: RuntimeError: there is no such file, it is no archive, or it has no such record.

    >>> import io
    >>> import compat as torch
    >>> file = io.BytesIO()
    >>> torch.save({"a": torch.ones(1)}, file)
    >>> reader = torch.PyTorchFileReader(file)
    >>> reader.has_record("data.pkl"), reader.get_record("data/0")
    (True, b'\\x00\\x00\\x80?')
    """

    def __init__(self, file: Any) -> None:
        try:
            self._zip = zipfile.ZipFile(os.fspath(file) if isinstance(file, os.PathLike) else file)
        except (OSError, zipfile.BadZipFile) as error:
            raise RuntimeError(f"PytorchStreamReader failed opening {file}: {error}") from None
        self._names = {name.partition("/")[2]: name for name in self._zip.namelist()}

    def get_all_records(self) -> list[str]:
        """All names."""
        return list(self._names)

    def has_record(self, name: str) -> bool:
        """Whether there is a record of the name."""
        return name in self._names

    def get_record(self, name: str) -> bytes:
        """The bytes of a record."""
        if name not in self._names:
            raise RuntimeError(
                f"PytorchStreamReader failed locating file {name}: file not found; there are "
                f"{sorted(self._names)}"
            )
        return self._zip.read(self._names[name])
