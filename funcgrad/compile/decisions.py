"""Whether a program stays in NumPy or in C: found out once, and kept on disk.

Layer 4½. C rounds a little differently, and when it takes over depends on the clock. What has been
decided holds for the next run from its first call on: it starts as fast as the last one ended, and two
runs of a program agree to the last bit as soon as nothing is left to decide. A decision is an empty
file beside the compiled loops; without it, or where the folder cannot be used, it is made again.
"""

from __future__ import annotations

import functools
import hashlib
import os

from .c_compiler import cache_folder, compiler
from .parallel import threads

CODES = ("c", "numpy")


@functools.cache
def _here() -> bytes:
    """What decisions hold for: this machine and compiler, these printers, and so many threads."""
    try:
        with os.scandir(os.path.dirname(__file__)) as files:
            changed = max(
                (f.stat().st_mtime_ns for f in files if f.name.endswith(".py")), default=0
            )
    except OSError:  # of a package in an archive
        changed = 0
    return f"{compiler()}\0{changed}\0{threads()}\0".encode()


class Decision:
    """What is faster for a program; `program` tells it from others, by source and types.

    `code` is ``"c"``, ``"numpy"``, or None while that is not known.
    """

    __slots__ = ("_file", "code")

    def __init__(self, program: str) -> None:
        name = hashlib.sha256(_here() + program.encode()).hexdigest()[:32]
        self._file = os.path.join(cache_folder(), name)
        self.code = next((c for c in CODES if os.path.exists(f"{self._file}.{c}")), None)

    def make(self, code: str) -> None:
        """Keep to `code`, in later runs too."""
        self.code = code
        try:
            os.makedirs(os.path.dirname(self._file), exist_ok=True)
            with open(f"{self._file}.{code}", "w"):
                pass
        except OSError:
            pass
