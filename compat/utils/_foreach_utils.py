"""How optimizers of others group tensors for `torch._foreach_add_` and its like."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor
from ..parameter import Parameter


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Any]], with_indices: bool = False
) -> dict[Any, tuple[list[list[Any]], list[int]]]:
    """Lists of one length, taken apart by the device and dtype of the tensors in the first.

    Each group has the lists with its part of them, and the places of these, if they are wanted.

    >>> import compat as torch
    >>> params = [torch.ones(1), torch.ones(1, dtype=torch.float64), torch.zeros(1)]
    >>> groups = _group_tensors_by_device_and_dtype([params, [None] * 3], with_indices=True)
    >>> [(str(dtype), places) for (_, dtype), (_, places) in groups.items()]
    [('torch.float32', [0, 2]), ('torch.float64', [1])]
    """
    groups: dict[Any, tuple[list[list[Any]], list[int]]] = {}
    for i, x in enumerate(tensorlistlist[0]):
        lists, places = groups.setdefault((x.device, x.dtype), ([[] for _ in tensorlistlist], []))
        for part, whole in zip(lists, tensorlistlist, strict=True):
            part.append(whole[i])
        if with_indices:
            places.append(i)
    return groups


def _get_foreach_kernels_supported_devices() -> list[str]:
    return ["cuda"]


def _get_fused_kernels_supported_devices() -> list[str]:
    return ["cuda", "cpu"]


def _device_has_foreach_support(device: Any) -> bool:
    return device.type in ("cpu", *_get_foreach_kernels_supported_devices())


def _has_foreach_support(tensors: list[Any], device: Any) -> bool:
    plain = all(x is None or type(x) in (Tensor, Parameter) for x in tensors)
    return plain and _device_has_foreach_support(device)
