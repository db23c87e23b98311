"""Every exception that funcgrad raises, one class per cause, and the user's own line.

Layer 0: imports only the standard library. A message says what was tried, on which argument, what
was found, what was needed and what to do; `where()` adds the user's file and line.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Iterator
from types import FrameType

_PACKAGES = [os.path.dirname(os.path.abspath(__file__)) + os.sep]
_SKIPPED = tuple(os.path.join(os.sep, name, "") for name in ("numpy", "scipy", "pandas"))
_SHOWN = 100  # how many characters of the user's line a message quotes
_SKIPPED_NAMES = (
    "<__array_function__ internals>",
    "<funcgrad printed>",
    "functools.py",
    "contextlib.py",
)


class FuncgradError(Exception):
    """Base class of funcgrad's exceptions."""


class ArgumentError(FuncgradError, TypeError):
    """An argument of a transform or a function is of a kind that cannot be used there."""


class ShapeError(FuncgradError, ValueError):
    """Shapes do not fit together, or an axis does not exist."""


class DeviceError(FuncgradError, TypeError):
    """Arrays of two array modules (host and device) meet in one operation."""


class NonScalarOutputError(FuncgradError, TypeError):
    """`grad` was applied to a function whose output is not one real number."""


class EscapedTracerError(FuncgradError, RuntimeError):
    """A traced value is used outside the transformed function that made it.

    Typical cause: it was stored in a global, an attribute or a list during tracing. Return it from
    the function (or through `has_aux=True`) instead.
    """


class ConcretizationError(FuncgradError, TypeError):
    """Python asked for the number behind a traced value that has none."""


class HandoverError(FuncgradError, TypeError):
    """NumPy or the standard library wants to store a traced value in a plain array or number."""


class OperandError(ArgumentError):
    """An operand is neither an array nor a number."""


class MutationError(FuncgradError, RuntimeError):
    """A write into a traced array cannot be expressed without changing somebody else's data."""


class NotLinearError(FuncgradError, ValueError):
    """A function given to `linear_transpose` is not linear in its arguments."""


class MissingRuleError(FuncgradError, NotImplementedError):
    """A primitive has no rule of the kind that the transform asked for."""


class UnhashableParameterError(FuncgradError, TypeError):
    """A parameter of a primitive is not hashable, so programs that hold it cannot be compared."""


class RuleError(FuncgradError, TypeError):
    """A user's custom derivative returned something of the wrong structure, shape or dtype."""


class JaxprError(FuncgradError, ValueError):
    """A jaxpr breaks its grammar: an unbound variable, a wrong type, a variable bound twice."""


def add_package(folder: str) -> None:
    """Count the code in `folder` as part of the library: a user's line is never in it."""
    _PACKAGES.append(folder + os.sep)
    _is_users.cache_clear()


def user_frame() -> FrameType | None:
    """The innermost frame on the stack that is not ours, NumPy's, SciPy's or pandas'."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_users(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


@functools.cache
def _is_users(file: str) -> bool:
    """Whether the code of a file is the user's."""
    ours = file.startswith(tuple(_PACKAGES)) and f"{os.sep}__main__" not in file
    theirs = any(part in file for part in _SKIPPED) or file.endswith(_SKIPPED_NAMES)
    return not ours and not theirs


def scipy_function() -> str | None:
    """The public name of SciPy's function that was given the traced value, if there is one.

    That function may call others of SciPy's, and we may be called by SciPy: what lies between two
    frames of ours counts.
    """
    user = user_frame()
    frame: FrameType | None = sys._getframe(1)
    found = None
    while frame is not None and frame is not user:
        module = frame.f_globals.get("__name__", "")
        name = _public_name(frame) if module.startswith("scipy.") else ""
        public = _public_module(module, name.partition(".")[0]) if name else None
        if public:
            found = f"{public}.{name}"
        elif found and frame.f_code.co_filename.startswith(tuple(_PACKAGES)):
            break
        frame = frame.f_back
    return found


def _public_module(module: str, name: str) -> str | None:
    """The public module of SciPy's that has a name of one of its modules: of two parts, or of three."""
    parts = module.split(".")
    short, long = ".".join(parts[:2]), ".".join(parts[:3])
    private = any(part.startswith("_") for part in parts[2:3])
    for public in (short,) if private else (short, long):
        if hasattr(sys.modules.get(public), name):
            return public
    return None


def sparse_matrix_asks() -> bool:
    """Whether the caller's caller is the product of a sparse matrix of SciPy's.

    It turns the other operand into an array, and leaves the product to what cannot be turned.
    """
    frame = sys._getframe(2)
    name = frame.f_globals.get("__name__", "")
    return name.startswith("scipy.sparse.") and frame.f_code.co_name == "_matmul_dispatch"


def in_pandas() -> bool:
    """Whether a function of pandas' was given the traced value."""
    return any(module.startswith("pandas.") for module, _ in _between())


def polynomial_function() -> str | None:
    """``"polynomial.polyval"``, if that function of `numpy.polynomial` was given the traced value."""
    found = None
    for module, name in _between():
        if module.startswith("numpy.polynomial."):
            found = f"{module.removeprefix('numpy.polynomial.')}.{name}"
    return found


def _between() -> Iterator[tuple[str, str]]:
    """The modules and names of the functions from here out to the user's."""
    user = user_frame()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame is not user:
        yield frame.f_globals.get("__name__", ""), frame.f_code.co_name
        frame = frame.f_back


def _public_name(frame: FrameType) -> str:
    """How users call what a frame of SciPy's runs: a function, a class, ``norm.logpdf``."""
    name, owner = frame.f_code.co_name, frame.f_locals.get("self")
    if owner is None:
        qualified = frame.f_code.co_qualname  # that of a static method has its class
        return name if "<" in qualified else qualified
    owner = getattr(owner, "dist", owner)  # that of a frozen distribution
    label = getattr(owner, "name", None)
    if not isinstance(label, str):
        label = type(owner).__name__.removesuffix("_gen").removesuffix("_frozen")
    return label if name.startswith("__") else f"{label}.{name}"


def where() -> str:
    """The user's own line, for the end of a message: `` (at model.py:12: z[0] = t)``, or ``""``."""
    frame = user_frame()
    if frame is None:
        return ""
    name, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(name, line).strip()
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return f" (at {os.path.basename(name)}:{line}: {text})" if text else f" (at {name}:{line})"
