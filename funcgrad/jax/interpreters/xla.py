"""Tables of types that JAX's compiler takes: ``jax.interpreters.xla``. Nothing here asks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._absent import absent
from ..core import pytype_aval_mappings

__all__ = ["apply_primitive", "canonicalize_dtype_handlers", "pytype_aval_mappings"]

apply_primitive = absent("apply_primitive", "a primitive of one's own has an impl in funcgrad")
canonicalize_dtype_handlers: dict[type, Callable[..., Any]] = {np.ndarray: lambda x: x}
