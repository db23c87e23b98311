"""Clipping by a norm that is known."""

from __future__ import annotations

from typing import Any

from ...autograd import no_grad
from ...autograd.base import TensorBase


def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None
) -> None:
    """Multiply the gradients in place by ``min(1, max_norm / (total_norm + 1e-6))``.

    >>> import compat as torch
    >>> x = torch.ones(4, requires_grad=True)
    >>> (3 * x).sum().backward()
    >>> clip_grads_with_norm_(x, 1.0, torch.tensor(6.0))
    >>> x.grad
    tensor([0.5000, 0.5000, 0.5000, 0.5000])
    """
    if isinstance(parameters, TensorBase):
        parameters = [parameters]
    with no_grad():
        scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for p in parameters:
            if p.grad is not None:
                p.grad.mul_(scale.to(p.grad.dtype))


__all__ = ["clip_grads_with_norm_"]
