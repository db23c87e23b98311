"""Dataclasses in code for JAX: nodes of trees where they have been registered, leaves elsewhere."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

from ..treedef import KINDS

_Kinds = type(KINDS)


class _Registered(_Kinds):  # type: ignore[misc, valid-type]
    def __missing__(self, cls: type) -> Any:
        if is_dataclass(cls) and cls.__module__.partition(".")[0] not in ("funcgrad", "compat"):
            return None
        return super().__missing__(cls)


def require_registration(required: bool) -> None:
    """Take dataclasses that are first met from here on for leaves, unless they are registered.

    Those of funcgrad itself are nodes. Not `required`: all are again, as is usual here.
    """
    KINDS.__class__ = _Registered if required else _Kinds
