"""What SciPy computes for primitives, on NumPy's arrays and on CuPy's.

SciPy is optional. What is neither elementary nor in Python's `math` needs it; on CuPy arrays
`cupyx.scipy.special`, a part of CuPy, takes its place.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..errors import ArgumentError, MissingRuleError, where


def scipy_function(xp: ModuleType, name: str, package: str = "special") -> Callable[..., Any]:
    """The function `name` of the package of SciPy's for arrays of `xp`.

    Raises: ImportError: SciPy is not installed. ArgumentError: CuPy does not have the function.
    """
    on_device = xp.__name__ == "cupy"
    found = scipy_if_there("cupyx." if on_device else "", name, package)
    if found is None and on_device:
        raise ArgumentError(f"{name}: CuPy does not have it; need a NumPy array{where()}")
    if found is None:
        raise _missing(name)
    return found


def scipy_package(package: str, needed_for: str) -> Any:
    """The package of SciPy's, such as ``optimize``.

    Raises: ImportError: SciPy is not installed.
    """
    try:
        return importlib.import_module(f"scipy.{package}")
    except ModuleNotFoundError:
        raise _missing(needed_for) from None


def _missing(needed_for: str) -> ImportError:
    return ImportError(
        f"{needed_for} needs SciPy, which is not installed; install it with "
        f"'pip install funcgrad[scipy]'"
    )


@functools.cache
def scipy_if_there(prefix: str, name: str, package: str = "special") -> Callable[..., Any] | None:
    """The function `name` of SciPy, or of CuPy's part that is called so; None without that."""
    try:
        module = importlib.import_module(f"{prefix}scipy.{package}")
    except ModuleNotFoundError:
        return None
    return getattr(module, name, None)


def scipy_or_math(xp: ModuleType, name: str, f: Callable[[float], float], x: Any) -> Any:
    """SciPy's function `name` of real or complex `x`; without SciPy `f`, one element at a time."""
    fast = scipy_if_there("cupyx." if xp.__name__ == "cupy" else "", name)
    if fast is not None:
        return fast(x)
    x = xp.asarray(x)
    x = x.astype(xp.result_type(x, xp.float32))
    return xp.asarray([f(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)


def floating(xp: ModuleType, x: Any) -> Any:
    """`x`, as float64 if it is an array of integers or booleans."""
    return x.astype(xp.float64) if hasattr(x, "dtype") and x.dtype.kind in "biu" else x


def real_floating(xp: ModuleType, name: str, x: Any) -> Any:
    """`floating`, which must be real.

    Raises: ArgumentError: it is complex.
    """
    kind = x.dtype.kind if hasattr(x, "dtype") else "c" if isinstance(x, complex) else "f"
    if kind == "c":
        raise ArgumentError(f"{name}: needs real numbers, found complex ones{where()}")
    return floating(xp, x)


def together(xp: ModuleType, name: str, *xs: Any) -> tuple[Any, ...]:
    """The operands, integers in the floating dtype of the others: SciPy would make float64 of all.

    Python's numbers, too: some of SciPy's functions take them for float64.

    Raises: ArgumentError: one is complex.
    """
    floats = [x.dtype for x in xs if hasattr(x, "dtype") and x.dtype.kind == "f"]
    dtype = xp.result_type(*floats) if floats else xp.dtype(xp.float64)
    found = [real_floating(xp, name, x) for x in xs]
    return tuple(x.astype(dtype) if hasattr(x, "dtype") else dtype.type(x) for x in found)


def by_nothing(name: str, operand: str) -> Callable[..., Any]:
    """The rule of an operand by which there is no derivative.

    Raises: MissingRuleError: one is asked for.
    """

    def rule(_y: Any, *_xs: Any) -> Any:
        raise MissingRuleError(f"{name}: there is no derivative by `{operand}`{where()}")

    return rule
