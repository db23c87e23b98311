"""Names that code for JAX imports, or asks `isinstance` about, and that have no meaning here."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError, where


class _Absent(type):
    instead: str

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(f"{cls.__name__} is not offered: {cls.instead}{where()}")

    def __call__(cls, *args: Any, **options: Any) -> Any:
        raise ArgumentError(f"{cls.__name__} is not offered: {cls.instead}{where()}")


def absent(name: str, instead: str) -> Any:
    """A class without instances, which says when it is called what there is `instead`.

    >>> isinstance(1.0, absent("Ring", "take a list"))
    False
    >>> absent("Ring", "take a list")(3)
    Traceback (most recent call last):
        ...
    funcgrad.errors.ArgumentError: Ring is not offered: take a list...
    """
    return _Absent(name, (), {"instead": instead, "__doc__": f"Not offered: {instead}."})
