"""Automatic differentiation of tensors: `backward`, `grad`, grad modes, `Function`, hooks, graphs.

Layer 6. Every derivative comes from funcgrad's primitives; nothing here defines one.
"""

from __future__ import annotations

from . import (
    anomaly,
    anomaly_mode,
    forward_ad,
    function,
    functional,
    grad_mode,
    graph,
    profiler,
)
from .anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from .function import Function
from .grad_mode import set_multithreading_enabled
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .gradients import backward, grad, weak
from .modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .variable import Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
