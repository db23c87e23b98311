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
        scales: dict[Any, Any] = {}
        for grad in [p.grad for p in parameters]:
            if grad is not None:
                dtype = grad.dtype
                if dtype not in scales:
                    scales[dtype] = scale.to(dtype)
                grad.mul_(scales[dtype])


__all__ = ["clip_grads_with_norm_"]
