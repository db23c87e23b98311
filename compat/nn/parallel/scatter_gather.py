"""Tensors in nested containers in parts for several GPUs, and together again."""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor
from ...ops.join import cat
from ...size import device as Device


def _rebuilt(like: Any, items: Any) -> Any:
    """A container of the type of `like`."""
    return type(like)._make(items) if hasattr(like, "_fields") else type(like)(items)


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """For each device what is in `inputs`, with its part of every tensor along `dim`.

    Raises: ValueError: the CPU is among the devices. RuntimeError: they are not here.
    """
    if isinstance(inputs, Tensor):
        devices = [Device(target) for target in target_gpus]
        for device in devices:
            if device.type == "cpu":
                raise ValueError("Expected a non cpu device, but got: cpu")
        parts = inputs.chunk(len(devices), dim)
        return tuple(part.to(device) for part, device in zip(parts, devices, strict=False))
    if isinstance(inputs, tuple | list | dict) and inputs:
        items = inputs.items() if isinstance(inputs, dict) else inputs
        groups = zip(*(scatter(item, target_gpus, dim) for item in items), strict=False)
        return [_rebuilt(inputs, part) for part in groups]
    return [inputs for _ in target_gpus]


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Any, dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """`scatter` of the arguments of a call: those of each device, and its keyword arguments.

    >>> scatter_kwargs((1,), {"training": True}, ["cuda:0", "cuda:1"])
    (((1,), (1,)), ({'training': True}, {'training': True}))
    """
    positions = list(scatter(inputs, target_gpus, dim)) if inputs else []
    names = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    positions += [()] * (len(names) - len(positions))
    names += [{}] * (len(positions) - len(names))
    return tuple(positions), tuple(names)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """What several GPUs have computed, with tensors put together along `dim` on one.

    Raises: AssertionError: tensors are on the CPU. ValueError: dicts have other numbers of keys.
    """
    first = outputs[0]
    if isinstance(first, Tensor):
        if any(x.is_cpu for x in outputs):
            raise AssertionError("Gather function not implemented for CPU tensors")
        return cat([x.to(Device(target_device)) for x in outputs], dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(x) != len(first) for x in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((k, gather([x[k] for x in outputs], target_device, dim)) for k in first)
    parts = zip(*outputs, strict=True)
    return _rebuilt(first, [gather(part, target_device, dim) for part in parts])


__all__ = ["gather", "scatter", "scatter_kwargs"]
