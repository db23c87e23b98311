"""Classes and functions that a program allows checkpoints to use: `add_safe_globals` and its like."""

from __future__ import annotations

from typing import Any

SAFE: dict[str, Any] = {}  # by module and name, as files write them


def _named(safe_globals: list[Any]) -> dict[str, Any]:
    """Objects by the names that files have for them: pairs say a name of their own.

    Raises: TypeError: what is no class or function, or a name that is no string.
    """
    found = {}
    for entry in safe_globals:
        obj, name = entry if isinstance(entry, tuple) else (entry, None)
        if not callable(obj) or not isinstance(name, str | None):
            raise TypeError(
                f"Expected an item that is callable, or a pair of one and str, got {entry}"
            )
        found[f"{obj.__module__}.{obj.__qualname__}" if name is None else name] = obj
    return found


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load` make objects of these classes, and call these functions, as files say.

    A file can then do whatever they do. A pair of one and a string has that name in files.

    >>> import fractions
    >>> add_safe_globals([fractions.Fraction])
    >>> get_safe_globals()
    [<class 'fractions.Fraction'>]
    >>> clear_safe_globals()
    """
    SAFE.update(_named(safe_globals))


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` was given."""
    return list(SAFE.values())


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` was given."""
    SAFE.clear()


class safe_globals:
    """`add_safe_globals` for as long as a ``with`` lasts.

    >>> import fractions
    >>> with safe_globals([fractions.Fraction]):
    ...     get_safe_globals()
    [<class 'fractions.Fraction'>]
    >>> get_safe_globals()
    []
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self._added = _named(safe_globals)

    def __enter__(self) -> None:
        self._before = dict(SAFE)
        SAFE.update(self._added)

    def __exit__(self, *_: Any) -> None:
        SAFE.clear()
        SAFE.update(self._before)


def restore(obj: Any, state: Any) -> None:
    """Give an object of a class that is safe the state that its pickle has, as `pickle` does."""
    if hasattr(obj, "__setstate__"):
        obj.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        obj.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(obj, name, value)
