"""Runs an example in this process, with few steps, into a temporary folder."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "nn"


def load(name: str) -> Any:
    """The module `examples/nn/<name>.py`, which finds its neighbours as when run as a script."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return importlib.import_module(name)
