"""`functional_call` at its old place."""

from __future__ import annotations

import warnings
from typing import Any

from ... import func
from ..._func_modules import reparametrized


def functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`func.functional_call`, which is to be used instead."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated. Please use "
        "`torch.func.functional_call` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return func.functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


_reparametrize_module = reparametrized  # what zuko and others call

__all__ = ["functional_call"]
