"""Runs an example in this process, with few steps, into a temporary folder."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def load(name: str, folder: str = "nn") -> Any:
    """The module `examples/<folder>/<name>.py`, which finds its neighbours as when run as a script."""
    if str(EXAMPLES / folder) not in sys.path:
        sys.path.insert(0, str(EXAMPLES / folder))
    return importlib.import_module(name)
