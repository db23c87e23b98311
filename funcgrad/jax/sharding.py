"""How arrays lie on several devices: names for annotations, and the one way there is here."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError, where
from ._absent import absent
from .devices import Device
from .devices import devices as _all

__all__ = [
    "AbstractMesh",
    "AxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "get_abstract_mesh",
    "reshard",
]


AbstractMesh = absent("AbstractMesh", "Mesh, of jax.devices()")


class AxisType(enum.Enum):
    """Who says how arrays lie along an axis of a mesh; with one device there is nothing to say."""

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()


class Sharding:
    """How an array lies on devices."""


@dataclass(frozen=True)
class SingleDeviceSharding(Sharding):
    """As a whole on one device.

    >>> SingleDeviceSharding().device_set
    {CpuDevice(id=0)}
    """

    device: Device = _all()[0]

    @property
    def device_set(self) -> set[Device]:
        """The devices on which it lies."""
        return {self.device}


class PartitionSpec(tuple[Any, ...]):
    """The names of the axes of devices along which an array is cut, one entry per axis of the array."""

    def __new__(cls, *names: Any) -> PartitionSpec:
        return super().__new__(cls, names)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


class Mesh:
    """Devices in rows, columns and so on, with names for these axes."""

    def __init__(self, devices: Any, axis_names: Any) -> None:
        self.devices = np.asarray(devices, object)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)

    @property
    def empty(self) -> bool:
        """Whether it has no devices."""
        return self.devices.size == 0

    @property
    def shape(self) -> dict[str, int]:
        """The number of devices along each axis, by its name."""
        return dict(zip(self.axis_names, self.devices.shape, strict=True))

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """The number of devices along each axis."""
        return self.devices.shape if self.axis_names else ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Any:
        return self.axis_names, self.devices.shape, *self.devices.flat

    def __enter__(self) -> Mesh:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[str],
    axis_types: Any = None,
    *,
    devices: Any = None,
) -> Mesh:
    """A mesh of the given lengths; all are 1 where there is one device.

    Raises: ArgumentError: there are fewer devices.
    Source: JAX reference, ``jax.make_mesh``.

    >>> make_mesh((1, 1), ("x", "y")).shape
    {'x': 1, 'y': 1}
    """
    found = list(_all() if devices is None else devices)
    count = int(np.prod(axis_shapes))
    if count > len(found):
        raise ArgumentError(
            f"make_mesh: {tuple(axis_shapes)} is {count} devices; there are {len(found)}{where()}"
        )
    rows = np.empty(count, object)
    rows[:] = found[:count]
    return Mesh(rows.reshape(axis_shapes), axis_names)


@dataclass(frozen=True)
class NamedSharding(Sharding):
    """Cut along the axes of a mesh; with one device, as a whole on that."""

    mesh: Mesh
    spec: PartitionSpec

    @property
    def device_set(self) -> set[Device]:
        """The devices on which it lies."""
        return set(self.mesh.devices.flat)


def get_abstract_mesh() -> Mesh:
    """The mesh along which arrays are cut without being told: always the empty one.

    >>> get_abstract_mesh().empty
    True
    """
    return Mesh([], ())


def reshard(x: Any, out_shardings: Any) -> Any:
    """`x`, which lies on the one device that there is."""
    return x
