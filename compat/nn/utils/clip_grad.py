"""Clipping the gradients of many parameters, by their norm or their entries."""

from __future__ import annotations

import math
import types
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad import numpy as fnp
from funcgrad.ops.linalg import p_norm

from ...autograd import base, no_grad, sites, views
from ...autograd.base import TensorBase
from ...autograd.tape import through
from ...ops.index import is_plain_write

if TYPE_CHECKING:
    from ..._tensor import Tensor


def _listed(parameters: Any) -> list[Any]:
    """The parameters, of which there may be one."""
    if isinstance(parameters, TensorBase):
        return [parameters]
    found = list(parameters)
    if not found and isinstance(parameters, types.GeneratorType):
        sites.warn("`parameters` is an empty generator, no gradient clipping will occur.")
    return found


def _gradients(parameters: Any) -> list[Any]:
    """The gradients of those that have one."""
    return [p._grad for p in _listed(parameters) if p._grad is not None]


def _norm(x: Any, order: float) -> Any:
    """The norm of an array as one vector; see `torch.linalg.vector_norm`."""
    x = abs(x)
    if not x.size:
        return x.sum()
    if order == 2:
        return np.sqrt((x * x).sum())
    return p_norm(x, p=order, axis=tuple(range(x.ndim)))


def _length(arrays: list[Any]) -> Any:
    """The Euclidean norm of arrays of one dtype that nobody traces; None if they are others."""
    dtype = arrays[0].dtype
    if dtype.char not in "efd" or not all(
        x.__class__ is np.ndarray and x.dtype is dtype for x in arrays
    ):
        return None
    flat = [x.ravel(order="K") for x in arrays]
    if dtype.char == "e":
        flat = [x.astype(np.float32) for x in flat]
    return base.tensor(np.array(math.sqrt(sum([float(x.dot(x)) for x in flat])), dtype))


def get_total_norm(
    tensors: Any,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of several tensors, as if they were one vector.

    Raises: RuntimeError: it is not finite, and `error_if_nonfinite`.

    >>> import compat as torch
    >>> get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
    tensor(5.)
    """
    tensors = [tensors] if isinstance(tensors, TensorBase) else list(tensors)
    if not tensors:
        return base.tensor(np.zeros((), np.float32))
    order = float(norm_type)
    with no_grad(), np.errstate(all="ignore"):
        total = _length([x._array for x in tensors]) if order == 2 else None
        if total is None:
            total = through(
                lambda *xs: _norm(fnp.stack([_norm(x, order) for x in xs]), order), *tensors
            )
    if error_if_nonfinite and not np.isfinite(total._array):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients in place by ``min(1, max_norm / (norm + 1e-6))``; returns their norm.

    The norm is that of all gradients as one vector.

    Raises: RuntimeError: it is not finite, and `error_if_nonfinite`.

    >>> import compat as torch
    >>> x = torch.ones(4, requires_grad=True)
    >>> (3 * x).sum().backward()
    >>> torch.nn.utils.clip_grad_norm_(x, 1.0)
    tensor(6.)
    >>> x.grad
    tensor([0.5000, 0.5000, 0.5000, 0.5000])
    """
    parameters = _listed(parameters)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of `clip_grad_norm_`, which warns."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Bring the entries of the gradients into ``[-clip_value, clip_value]``, in place."""
    bound = float(clip_value)
    small = not 1e38 < abs(bound) < math.inf  # which all dtypes in question hold
    with no_grad():
        for grad in _gradients(parameters):
            if small and grad._array.dtype.char in "fd" and is_plain_write(grad, bound):
                views.check_writable(grad)
                array = grad._array
                np.clip(array, -bound, bound, out=array)
                views.touch(grad, "clamp_")
            else:
                grad.clamp_(-bound, bound)


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


__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]
