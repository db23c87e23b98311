"""What computes: ``jax.extend.backend``, the platform that `devices` are of."""

from __future__ import annotations

from dataclasses import dataclass

from .. import devices as _devices

__all__ = ["Backend", "get_backend"]


@dataclass(frozen=True)
class Backend:
    """A platform, by its name."""

    platform: str

    def devices(self) -> list[_devices.Device]:
        """Its devices."""
        return _devices.devices(self.platform)

    def device_count(self) -> int:
        """How many there are."""
        return len(self.devices())


def get_backend(platform: str | None = None) -> Backend:
    """The platform of a name; the CPU unless told otherwise.

    Raises: RuntimeError: there is no device of the platform.

    >>> get_backend().platform, get_backend().device_count()
    ('cpu', 1)
    """
    return Backend(_devices.devices(platform)[0].platform)
