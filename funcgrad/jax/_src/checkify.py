"""``jax.experimental.checkify``, and two types that flax has in its annotations."""

from __future__ import annotations

from typing import TypeVar

from ..experimental.checkify import CheckError as JaxException
from ..experimental.checkify import Error, check, checkify, user_checks

__all__ = ["Error", "JaxException", "Out", "check", "checkify", "user_checks"]

Out = TypeVar("Out")
