"""What `no_grad` and `detach()` do to the derivatives of traced values."""

from __future__ import annotations

from typing import Any

from funcgrad.core import Tracer
from funcgrad.errors import where
from funcgrad.ops.select import stop_gradient
from funcgrad.transforms.jvp import JVPTracer
from funcgrad.transforms.tape import TapeTracer
from funcgrad.transforms.trace import JaxprTracer
from funcgrad.transforms.vmap import BatchTracer
from funcgrad.views import snapshot


def stop(x: Any) -> Any:
    """The numbers of `x`: a constant for every transform, as `detach()` gives."""
    return stop_gradient(x) if _has_derivative(x) else x


def cut(x: Any) -> Any:
    """A result of `no_grad` inside a transform: a constant for reverse mode, as in PyTorch.

    Tangents of forward mode go on: there, PyTorch's `no_grad` does nothing.
    Raises: RuntimeError: reverse mode is around `jacfwd` or `linearize`, whose tangents are a program.
    """
    if not _has_derivative(x) or not _in_forward_mode(x):
        return stop(x)
    x = snapshot(x, copy=False)
    if x.__class__ is TapeTracer:
        return cut(x.value)
    if x.__class__ is BatchTracer:
        return BatchTracer(x.owner, cut(x.value), x.bdim)
    if x.tangent.__class__ is not JaxprTracer:
        return JVPTracer(x.owner, cut(x.primal), cut(x.tangent))
    if not _is_only_forward(x.primal):
        raise RuntimeError(
            "no_grad() in a function of jacfwd, hessian or linearize, inside a reverse-mode transform: "
            "its tangents would not be constants there. Use jvp, or detach() in place of no_grad()."
            f"{where()}"
        )
    return JVPTracer(x.owner, cut(x.primal), x.tangent)


def _has_derivative(x: Any) -> bool:
    return isinstance(x, Tracer) and x.aval.dtype.kind in "fcV"


def _in_forward_mode(x: Any) -> bool:
    """Whether a forward-mode transform traces `x`."""
    while x.__class__ in (BatchTracer, TapeTracer):
        x = x.underlying
    return x.__class__ is JVPTracer


def _is_only_forward(x: Any) -> bool:
    """Whether nothing but forward mode and `vmap` traces `x`."""
    while x.__class__ in (BatchTracer, JVPTracer):
        x = x.underlying
    return not isinstance(x, Tracer)
