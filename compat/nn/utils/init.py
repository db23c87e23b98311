"""Modules whose parameters are not drawn."""

from __future__ import annotations

import inspect
from typing import Any

from ...random import get_rng_state, set_rng_state
from ..module import Module


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """``module_cls(*args, **kwargs)`` for parameters that will be replaced: their numbers are any.

    The state of the random generator stays as it is.

    Raises: RuntimeError: `module_cls` is no class of modules, or takes no `device`.

    >>> import compat as torch
    >>> skip_init(torch.nn.Linear, 2, 1)
    Linear(in_features=2, out_features=1, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    state = get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        set_rng_state(state)


__all__ = ["skip_init"]
