"""PyTorch's files whose names are elsewhere here, or among others, as modules that can be imported."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def file_of(package: str, name: str, entries: list[tuple[Any, str]]) -> ModuleType:
    """The module of a package with names of one of PyTorch's files: pairs of where and which."""
    made = sys.modules.setdefault(f"{package}.{name}", ModuleType(f"{package}.{name}"))
    for where, names in entries:
        for each in names.split():
            setattr(made, each, getattr(where, each))
    return made
