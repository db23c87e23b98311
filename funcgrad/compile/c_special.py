"""SciPy's special functions in C: its own, for single numbers, called by their addresses.

Layer 4½. ``scipy.special.cython_special`` has what SciPy's ufuncs call for each element. So a loop in C
gives the numbers that SciPy gives, and needs no second gamma function. A compiled library has a
variable for each such function that it calls, which is set when the library is loaded.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.from_scipy import scipy_if_there

PREFIX = "special_"
# Functions that have versions for several types are called so in the module's table.
_NAMES = ("{}", *(f"__pyx_fuse_{i}{{}}" for i in range(4)))


@functools.cache
def _address(f: Any) -> int | None:
    """Where SciPy's function of double precision numbers is that a ufunc calls; None if unknown."""
    if f.__class__ is not np.ufunc or f.nout != 1 or getattr(np, f.__name__, None) is f:
        return None
    if scipy_if_there("", f.__name__) is not f:
        return None
    table: Any = scipy_if_there("", "__pyx_capi__", "special.cython_special") or {}
    wanted = f"double ({'double, ' * f.nin}int __pyx_skip_dispatch)".encode()
    capsules = [table[n] for n in (name.format(f.__name__) for name in _NAMES) if n in table]
    if any(b"long" in _signature(c) for c in capsules):
        return None  # of whole numbers: for others it warns, which is Python's business
    found = next((c for c in capsules if _signature(c) == wanted), None)
    return None if found is None else _pointer(found, wanted)


def _signature(capsule: Any) -> bytes:
    prototype = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)
    return prototype(("PyCapsule_GetName", ctypes.pythonapi))(capsule)


def _pointer(capsule: Any, name: bytes) -> int:
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return prototype(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, name)


def is_special(f: Any) -> bool:
    """Whether C can call what a ufunc of SciPy's calls."""
    return _address(f) is not None


def call(f: Any, texts: Sequence[str], suffix: str) -> str:
    """The expression for a function of numbers, in double precision as SciPy computes it."""
    if not suffix:
        return f"{PREFIX}{f.__name__}({', '.join(texts)}, 0)"
    wide = ", ".join(f"(double){text}" for text in texts)
    return f"((float){PREFIX}{f.__name__}({wide}, 0))"


def _called(text: str) -> list[Any]:
    names = dict.fromkeys(re.findall(rf"\b{PREFIX}(\w+)\(", text))
    return [scipy_if_there("", name) for name in names]


def declared(text: str) -> str:
    """The variables for the functions that a source calls."""
    return "".join(
        f"double (*{PREFIX}{f.__name__})({'double, ' * f.nin}int);\n" for f in _called(text)
    )


def bind(library: ctypes.CDLL, text: str) -> None:
    """Set them in the library that was made of the source."""
    for f in _called(text):
        ctypes.c_void_p.in_dll(library, PREFIX + f.__name__).value = _address(f)
