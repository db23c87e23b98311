"""The only place that knows array modules: which one an operand belongs to.

Layer 0. NumPy is always there; CuPy is looked up by the class of the operand the first time one is
seen and is never imported otherwise. A new array module is one more entry in `_MODULES`.
"""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any

import numpy

from .errors import ArgumentError, DeviceError, where
from .weak import PYTHON_DTYPES

_MODULES = ("numpy", "cupy")

_NUMPY_SCALARS = tuple(set(numpy.sctypeDict.values()))

# Class of an operand -> its array module; None for scalars, which fit every module.
NAMESPACES: dict[type, ModuleType | None] = {numpy.ndarray: numpy}
NAMESPACES.update(dict.fromkeys(PYTHON_DTYPES, None))
NAMESPACES.update(dict.fromkeys(_NUMPY_SCALARS, None))

UNKNOWN: Any = object()  # what a lookup gives for a class not in the table

# NumPy's subclasses that mean more than their data. `*` of matrices is a product, masked elements
# count for nothing: computing with the bare data would silently give something else.
_REFUSED = {"matrix": "a numpy.matrix", "MaskedArray": "a masked array"}
_REMEDY = "pass np.asarray(x)"


def register(cls: type) -> ModuleType | None:
    """Enter `cls` (a NumPy subclass or another module's array) into the table and return its module.

    Raises: KeyError: no known array module has such a class. ArgumentError: it is one of NumPy's
    subclasses that cannot be computed with.
    """
    for base in cls.__mro__:
        root = base.__module__.partition(".")[0]
        if root == "numpy" and base.__name__ in _REFUSED:
            found = _REFUSED[base.__name__]
            raise ArgumentError(f"expected an array, found {found}; {_REMEDY}{where()}")
        if base in NAMESPACES:
            NAMESPACES[cls] = NAMESPACES[base]
            return NAMESPACES[base]
        if root in _MODULES and base.__name__ == "ndarray":
            NAMESPACES[cls] = sys.modules[root]
            return sys.modules[root]
    raise KeyError(cls)


def untabled(x: Any) -> Any:
    """The numbers of a column or table of pandas, as an array; anything else as it is.

    >>> untabled([1.0, 2.0])
    [1.0, 2.0]
    """
    return numpy.asarray(x) if _is_table(x.__class__) else x


@functools.cache
def _is_table(cls: type) -> bool:
    return any(base.__module__.partition(".")[0] == "pandas" for base in cls.__mro__)


def unfit(x: Any, need: str = "need an array or a number") -> str:
    """What an error says of a value that cannot be computed with.

    >>> unfit("text")
    'is of type str; need an array or a number'
    >>> unfit(numpy.ma.array([1.0]))
    'is a masked array; pass np.asarray(x)'
    """
    for base in type(x).__mro__:
        if base.__module__.partition(".")[0] == "numpy" and base.__name__ in _REFUSED:
            return f"is {_REFUSED[base.__name__]}; {_REMEDY}"
    hint = ", as .to_numpy() gives" if _is_table(x.__class__) else ""
    return f"is of type {type(x).__name__}; {need}{hint}"


def namespace(*operands: Any) -> ModuleType:
    """The array module that the operands share; NumPy when all of them are scalars.

    Raises: DeviceError: operands of two modules. ArgumentError: an operand that is no array.
    """
    found: ModuleType | None = None
    for x in operands:
        module = NAMESPACES.get(x.__class__, UNKNOWN)
        if module is UNKNOWN:
            try:
                module = register(x.__class__)
            except KeyError:
                raise ArgumentError(
                    f"expected an array or a number, found {x.__class__.__name__}{where()}"
                ) from None
        if module is not None and module is not found:
            if found is not None:
                raise DeviceError(
                    f"arrays of two modules meet in one operation: {found.__name__} and "
                    f"{module.__name__}; nothing is transferred implicitly, so move one of them "
                    f"first{where()}"
                )
            found = module
    return found or numpy
