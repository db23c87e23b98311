"""Provenance: where in the user's code something happened, kept as two numbers per operation.

A site is ``(code, offset)`` of the caller's frame; holding the frame itself would keep the user's
variables alive. The line is looked up only when an error needs it.
"""

from __future__ import annotations

import linecache
import os
import sys
import traceback
import warnings
from types import CodeType
from typing import Any

import funcgrad
from funcgrad import errors

Site = tuple[CodeType, int]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRINTED = f"<compat printed{os.sep}"  # the file name of printed functions starts so
errors.add_package(_PACKAGE)
errors.add_package(PRINTED.removesuffix(os.sep))


def _files(folder: str) -> set[str]:
    return {
        os.path.join(where, name)
        for where, _, names in os.walk(folder)
        for name in names
        if name.endswith(".py") and name != "__main__.py"
    }


# The files whose frames are ours; printed functions are added as they are made.
OWN = _files(_PACKAGE) | _files(os.path.dirname(os.path.abspath(funcgrad.__file__)))

_frame = sys._getframe


def _users_frame() -> Any:
    frame: Any = _frame(2)
    while frame.f_code.co_filename in OWN:
        if frame.f_back is None:
            break
        frame = frame.f_back
    return frame


def site(depth: int = 1) -> Site:
    """The place in the user's code that led here; `depth`: how many frames are known to be ours."""
    frame: Any = _frame(depth)
    while frame.f_code.co_filename in OWN:
        if frame.f_back is None:
            break
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


class _Warned:
    """How many warnings were given, so that a call that gave one can be told."""

    count = 0


warned = _Warned()


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning about the line of the user's code that led here."""
    warned.count += 1
    frame = _users_frame()
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__"),
        frame.f_globals.setdefault("__warningregistry__", {}),
    )


def describe(place: Site | None) -> str:
    """``model.py:12: y = x * x``."""
    if place is None:
        return "an unknown place"
    code, offset = place
    line = code.co_firstlineno
    for start, stop, found in code.co_lines():
        if start <= offset < stop and found is not None:
            line = found
            break
    name = code.co_filename
    text = linecache.getline(name, line).strip()
    return f"{os.path.basename(name)}:{line}" + (f": {text}" if text else "")


def stack() -> str:
    """The user's part of the call stack, as a traceback prints it."""
    frames = [f for f in traceback.extract_stack() if f.filename not in OWN]
    return "".join(traceback.format_list(frames))
