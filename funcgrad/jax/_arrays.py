"""Attributes of JAX's arrays, for NumPy's.

NumPy's types are written in C and take no attributes; their dictionaries do.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

import numpy as np

from .. import numpy as fnp
from ..core import aval_of
from ..errors import ArgumentError, where
from .devices import devices

ATTRIBUTES: dict[str, Any] = {
    "at": property(fnp.at),
    "aval": property(aval_of),
    "block_until_ready": lambda x: x,
    "devices": lambda _: set(devices("cpu")),
    "ptp": fnp.ptp,
    "weak_type": property(lambda _: False),
}


def set_attributes(attributes: dict[str, Any]) -> None:
    """Give NumPy's arrays and numbers some attributes, or take away those that are None.

    Raises: ArgumentError: this is not CPython.
    """
    if sys.implementation.name != "cpython":
        raise ArgumentError(
            f"install: NumPy's types take attributes under CPython only; this is "
            f"{sys.implementation.name}{where()}"
        )
    for kind in (np.ndarray, np.generic):
        (own,) = gc.get_referents(kind.__dict__)  # what the read-only proxy refers to
        for name, value in attributes.items():
            if value is None:
                own.pop(name, None)
            else:
                own[name] = value
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
