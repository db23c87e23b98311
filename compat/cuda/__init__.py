"""The GPU, through CuPy: whether there is one, and waiting for it.

>>> import compat as torch
>>> torch.cuda.is_available() or "no GPU here"  # doctest: +SKIP
'no GPU here'
"""

from __future__ import annotations

from typing import Any


def cupy() -> Any:
    """The module CuPy.

    Raises: AssertionError: it is not installed. RuntimeError: there is no GPU.
    """
    try:
        import cupy as module
    except ImportError:
        raise AssertionError(
            "Torch not compiled with CUDA enabled: tensors on a GPU need CuPy, which is not "
            "installed. Install it (pip install cupy-cuda12x), or use device='cpu'."
        ) from None
    if not _count(module):
        raise RuntimeError("No CUDA GPUs are available. Use device='cpu'.")
    return module


def _count(module: Any) -> int:
    try:
        return int(module.cuda.runtime.getDeviceCount())
    except Exception:  # no driver, or one that does not answer
        return 0


def device_count() -> int:
    """The number of GPUs; 0 without CuPy."""
    try:
        import cupy as module
    except ImportError:
        return 0
    return _count(module)


def is_available() -> bool:
    """Whether tensors can be on a GPU: CuPy is installed and finds one."""
    return device_count() > 0


def current_device() -> int:
    """The number of the GPU that ``"cuda"`` without a number is.

    Raises: AssertionError, RuntimeError: there is none.
    """
    return int(cupy().cuda.runtime.getDevice())


class device:
    """``with torch.cuda.device(i)``: the GPU that ``"cuda"`` without a number is, inside of it.

    A negative number, None or a CPU means none in particular.

    Raises: AssertionError, RuntimeError: there is no GPU, when it is entered.
    """

    def __init__(self, device: Any) -> None:
        of_type, index = getattr(device, "type", "cuda"), getattr(device, "index", device)
        self._index = -1 if of_type != "cuda" or index is None else int(index)
        self._held: Any = None

    def __enter__(self) -> None:
        if self._index >= 0:
            self._held = cupy().cuda.Device(self._index)
            self._held.__enter__()

    def __exit__(self, *args: object) -> None:
        if self._held is not None:
            self._held.__exit__(*args)


class Stream:
    """What runs on the GPU in an order of its own. CuPy's are not offered here.

    Raises: NotImplementedError: when one is made.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"torch.cuda.{type(self).__name__} is not offered: all work runs in one order, which "
            "torch.cuda.synchronize() waits for"
        )


class Event(Stream):
    """A moment in such an order.

    Raises: NotImplementedError: when one is made.
    """


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has done all it was told to.

    Raises: AssertionError, RuntimeError: there is none.
    """
    cupy().cuda.runtime.deviceSynchronize()


def empty_cache() -> None:
    """Hand memory that no tensor uses back to the system; nothing happens without a GPU."""
    if is_available():
        cupy().get_default_memory_pool().free_all_blocks()


def memory_allocated(device: Any = None) -> int:
    """The bytes that tensors on the GPU take; 0 without one."""
    return int(cupy().get_default_memory_pool().used_bytes()) if is_available() else 0


def max_memory_allocated(device: Any = None) -> int:
    """0 without a GPU.

    Raises: NotImplementedError: there is one; CuPy keeps no peaks.
    """
    if is_available():
        raise NotImplementedError(
            "CuPy keeps no peaks of memory; see torch.cuda.memory_allocated()"
        )
    return 0


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing: no peaks are kept."""


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: CuPy has no such numbers."""
    return False


# Whether PyTorch has talked to the driver; here nothing has to be done before.
_initialized = False


def is_initialized() -> bool:
    """Whether there is a GPU to use; nothing has to be initialized."""
    return is_available()


def manual_seed_all(seed: int) -> None:
    """Nothing: random numbers are drawn by the generators of the CPU and moved; see `Generator`."""


manual_seed = manual_seed_all


def get_rng_state_all() -> list[Any]:
    """No states: the generators are those of the CPU."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Nothing, as for `get_rng_state_all`."""


__all__ = [
    "Event",
    "Stream",
    "current_device",
    "device",
    "device_count",
    "empty_cache",
    "get_rng_state_all",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "reset_peak_memory_stats",
    "set_rng_state_all",
    "synchronize",
]
