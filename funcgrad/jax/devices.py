"""Where arrays are: on the CPU as NumPy's, and on GPUs as CuPy's where that is installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from .. import tree
from ..backend import NAMESPACES
from ..compile.jit import jit
from ..core import Tracer
from ..errors import ArgumentError, where
from ..transforms.vmap import vmap

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


def device_put(x: Any, device: Device | str | None = None, **promises: Any) -> Any:
    """The tree `x` with arrays of a device for leaves: NumPy's, or CuPy's for a GPU.

    Traced values are where they are. `promises` (`donate`, `may_alias`) change nothing.

    Raises: ArgumentError: no such device.

    >>> device_put({"w": 1.0, "b": [2, 3]})
    {'w': array(1.), 'b': [array(2), array(3)]}
    """
    if device is not None and not isinstance(device, Device | str):
        raise ArgumentError(f"device_put: {device!r} is no device; need one of devices(){where()}")
    wanted = device if isinstance(device, Device) else devices(device)[0]

    def put(leaf: Any) -> Any:
        if isinstance(leaf, Tracer):
            return leaf
        if wanted.platform == "cpu":
            return _on_host(leaf)
        cupy = import_module("cupy")
        with cupy.cuda.Device(wanted.id):
            return cupy.asarray(leaf)

    return tree.map(put, x)


def device_get(x: Any) -> Any:
    """The tree `x` with NumPy's arrays for leaves.

    >>> device_get((1.0, np.ones(2)))
    (array(1.), array([1., 1.]))
    """
    return tree.map(_on_host, x)


def _on_host(leaf: Any) -> Any:
    module = NAMESPACES.get(leaf.__class__)
    if module is not None and module.__name__ == "cupy":
        return leaf.get()
    return np.asarray(leaf)


def pmap(
    fun: Callable[..., Any],
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: Any = (),
    devices: Any = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: Any = (),
) -> Callable[..., Any]:
    """``jit(vmap(fun))``: what JAX runs on one device for each example runs on one for all.

    Raises: as `jit` and `vmap`.
    Source: JAX, ``jax.pmap``.

    >>> pmap(lambda x: 2.0 * x)(np.array([1.0, 2.0])).tolist()
    [2.0, 4.0]
    """
    static = static_broadcasted_argnums
    static = (static,) if isinstance(static, int) else tuple(static)
    if not static:
        mapped = vmap(fun, in_axes, out_axes, axis_name=axis_name, axis_size=axis_size)
        return jit(mapped, donate_argnums=donate_argnums)

    def called(*args: Any) -> Any:
        axes = in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(args)
        rest = [i for i in range(len(args)) if i not in static]

        def of_rest(*values: Any) -> Any:
            given = dict(zip(rest, values, strict=True))
            return fun(*(given.get(i, a) for i, a in enumerate(args)))

        mapped = vmap(of_rest, tuple(axes[i] for i in rest), out_axes, axis_name=axis_name)
        return mapped(*(args[i] for i in rest))

    return jit(called, static_argnums=static)
