"""Where arrays are: on the CPU as NumPy's, and on GPUs as CuPy's where that is installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from .. import tree
from ..backend import NAMESPACES
from ..core import Tracer
from ..errors import ArgumentError, where

_PLATFORMS = {None: "cpu", "cpu": "cpu", "gpu": "gpu", "cuda": "gpu"}


@dataclass(frozen=True)
class Device:
    """A processor, by its platform ("cpu" or "gpu") and number."""

    platform: str
    id: int = 0
    process_index: int = 0

    @property
    def device_kind(self) -> str:
        """Its platform."""
        return self.platform

    def __repr__(self) -> str:
        return f"{'Cuda' if self.platform == 'gpu' else 'Cpu'}Device(id={self.id})"


def devices(backend: str | None = None) -> list[Device]:
    """The devices of a platform: one CPU, unless told otherwise.

    Raises: RuntimeError: there is no device of the platform.

    >>> devices()
    [CpuDevice(id=0)]
    """
    platform = _platform(backend)
    if platform == "cpu":
        return [Device("cpu")]
    try:
        count = import_module("cupy").cuda.runtime.getDeviceCount()
    except Exception as error:  # not installed, no driver, no device: all of CuPy's own kinds
        raise RuntimeError(
            f"no device of the platform {backend!r} is to be had: {error}{where()}"
        ) from None
    return [Device("gpu", i) for i in range(count)]


local_devices = devices


def _platform(backend: Any) -> str:
    if backend not in _PLATFORMS:
        raise RuntimeError(f"there is no platform {backend!r}; need 'cpu' or 'gpu'{where()}")
    return _PLATFORMS[backend]


def device_count(backend: str | None = None) -> int:
    """How many devices of a platform there are."""
    return len(devices(backend))


local_device_count = device_count


def default_backend() -> str:
    """The platform on which arrays are made: the CPU."""
    return "cpu"


def process_count() -> int:
    """How many processes compute together: 1."""
    return 1


def process_index() -> int:
    """Which of them this is: 0."""
    return 0


def effects_barrier() -> None:
    """Wait for what programs print and call: it has been done when they return."""


def clear_caches() -> None:
    """Nothing: compiled programs are kept by their functions, and go with them."""


def device_put(x: Any, device: Any = None, **promises: Any) -> Any:
    """The tree `x` with arrays of a device for leaves: NumPy's, or CuPy's for a GPU.

    `device`: one of `devices`, the name of a platform, or a sharding over one device. Traced values are
    where they are. `promises` (`donate`, `may_alias`) change nothing.

    Raises: ArgumentError: no such device, or several.

    >>> device_put({"w": 1.0, "b": [2, 3]})
    {'w': array(1.), 'b': [array(2), array(3)]}
    """
    wanted = _device(device)

    def put(leaf: Any) -> Any:
        if wanted.platform == "cpu" or isinstance(leaf, Tracer):
            return _on_host(leaf)
        cupy = import_module("cupy")
        with cupy.cuda.Device(wanted.id):
            return cupy.asarray(leaf)

    return tree.map(put, x)


def _device(given: Any) -> Device:
    if given is None or isinstance(given, str):
        return devices(given)[0]
    found: list[Any] = list(getattr(given, "device_set", [given]))
    if len(found) != 1 or not isinstance(found[0], Device):
        raise ArgumentError(f"device_put: {given!r} is no device; need one of devices(){where()}")
    return found[0]


def device_get(x: Any) -> Any:
    """The tree `x` with NumPy's arrays for leaves; traced values are where they are.

    >>> device_get((1.0, np.ones(2)))
    (array(1.), array([1., 1.]))
    """
    return tree.map(_on_host, x)


def _on_host(leaf: Any) -> Any:
    if isinstance(leaf, Tracer):
        return leaf
    module = NAMESPACES.get(leaf.__class__)
    if module is not None and module.__name__ == "cupy":
        return leaf.get()
    return np.asarray(leaf)
