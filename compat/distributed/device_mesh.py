"""`torch.distributed.device_mesh`: a class that packages name in annotations."""

from __future__ import annotations

from typing import Any, NoReturn


class DeviceMesh:
    """Devices in rows and columns, each with a process of its own.

    Raises: RuntimeError: when it is made.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "DeviceMesh needs process groups, which are not offered: programs run in one process."
        )


def init_device_mesh(*args: Any, **kwargs: Any) -> DeviceMesh:
    """Raises: RuntimeError: always, as `DeviceMesh`."""
    return DeviceMesh()


__all__ = ["DeviceMesh", "init_device_mesh"]
