"""`torch.hub`: files of weights from the network. Models by name are not offered."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from typing import Any
from urllib.parse import urlparse

from ._missing import explain as _explain_missing
from .serialization import load as _load

# The start of a hash in a file's name: ``resnet18-bfd8deac.pth``.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_CHUNK = 1 << 20
_directory: list[str] = []


def _get_torch_home() -> str:
    """TORCH_HOME, or a folder of the cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """Where files are kept: what `set_dir` said, or a folder below TORCH_HOME or the cache."""
    return _directory[-1] if _directory else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Keep files in another folder."""
    _directory.append(os.path.expanduser(str(d)))


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Write what is at `url` into the file `dst`, which appears only when all of it is there.

    Raises: RuntimeError: its SHA-256 does not begin with `hash_prefix`.
    """
    from urllib.request import Request, urlopen  # slow to import, and seldom needed

    dst = os.path.expanduser(dst)
    sha256 = hashlib.sha256()
    handle, partial = tempfile.mkstemp(dir=os.path.dirname(dst) or ".")
    try:
        request = Request(url, headers={"User-Agent": "torch.hub"})
        with os.fdopen(handle, "wb") as file, urlopen(request) as source:
            while chunk := source.read(_CHUNK):
                file.write(chunk)
                sha256.update(chunk)
        if hash_prefix is not None and not sha256.hexdigest().startswith(hash_prefix):
            raise RuntimeError(
                f'invalid hash value (expected "{hash_prefix}", got "{sha256.hexdigest()}")'
            )
        os.replace(partial, dst)
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """`torch.load` of a file at a URL, which is downloaded once."""
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found and found.group(1), progress)
    return _load(path, map_location=map_location, weights_only=weights_only)


_explain_missing("torch.hub", globals())
