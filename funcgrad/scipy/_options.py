"""Options of SciPy's functions that are not supported."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError, where


def refuse_options(name: str, **options: Any) -> None:
    """Raises: ArgumentError: an option is given that is not supported."""
    for option, value in options.items():
        if value is not None and value is not False:
            raise ArgumentError(f"{name}: {option}={value!r} is not supported{where()}")
