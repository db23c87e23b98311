"""Memory that an operation frees stays with the process, up to a bound, for the next one.

Layer 0. A gradient frees its arrays together, as it goes back. GNU's C library then returns them to
the operating system, which gives them out again page by page, filled with zeros: half of the time of
an eager gradient of 1e5 numbers. Both of its thresholds are raised here, once, when funcgrad is
imported: arrays of up to `LONGEST` bytes come from the heap, of which `KEPT` bytes may lie unused at
its end. Memory that was never asked for costs nothing.

Variables of the environment that set them (`MALLOC_TRIM_THRESHOLD_`, `MALLOC_MMAP_THRESHOLD_`,
`GLIBC_TUNABLES`) are left as they are. Other C libraries have no such setting.

Source: the manual page mallopt(3).
"""

from __future__ import annotations

import ctypes
import os
import sys

KEPT = 256 << 20  # as much as 32 arrays of 1e6 double precision numbers
LONGEST = 32 << 20  # the most that the C library takes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # mallopt's names for them
_SET_BY_HAND = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


def keep_freed_memory() -> bool:
    """Whether the thresholds are the ones above now."""
    if sys.platform != "linux" or any(name in os.environ for name in _SET_BY_HAND):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(_MMAP_THRESHOLD, LONGEST)) and bool(mallopt(_TRIM_THRESHOLD, KEPT))
