"""`Size`, `device`, and the names of memory layouts: small values that tensors hand out."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

import numpy as np

from . import cuda

ndarray = np.ndarray


class Size(tuple):
    """A shape.

    Raises: TypeError: an entry is no integer.

    >>> Size([2, 3]), Size([2, 3]).numel()
    (torch.Size([2, 3]), 6)
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        entries = tuple(sizes)
        for i, n in enumerate(entries):
            if n.__class__ is not int and not hasattr(type(n), "__index__"):
                raise TypeError(
                    f"torch.Size() takes an iterable of 'int' (item {i} is '{type(n).__name__}')"
                )
        return super().__new__(cls, map(operator.index, entries))

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            raise TypeError(
                f"can only concatenate tuple (not {type(other).__name__}) to torch.Size"
            )
        return Size(super().__add__(other))

    def __radd__(self, other: Any) -> Any:
        return Size((*other, *self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        return Size(super().__mul__(times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class SymInt:
    """A size that PyTorch's compiler leaves open. Nothing here is one; code asks by `isinstance`."""


class SymFloat:
    """As `SymInt`, of a float."""


class SymBool:
    """As `SymInt`, of a truth value."""


# ---------------------------------------------------------------- devices

# PyTorch's, which code compares with by name; tensors are on the first two.
_KINDS = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, "
    "meta, hpu, mtia, privateuseone"
)
_STRING = re.compile(r"([a-z]+)(?::(0|[1-9][0-9]*))?")


class device:
    """Where a tensor's numbers are: ``"cpu"``, or ``"cuda:0"`` with CuPy.

    As a context manager it is where tensors are made that are not told otherwise.

    Raises: RuntimeError: there is no such kind of device, or the string has another form, or a number
    is given where there is no GPU.

    >>> device("cpu"), device("cuda", 1) == device("cuda:1")
    (device(type='cpu'), True)
    """

    __slots__ = ("_tokens", "index", "type")
    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        self._tokens: list[Any] = []
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if isinstance(type, int) and not isinstance(type, bool):
            if not cuda.is_available():
                raise RuntimeError(
                    f"Cannot access accelerator device when none is available: the number {type}"
                )
            type, index = "cuda", type
        if not isinstance(type, str):
            raise TypeError(
                f"device(): argument 'type' (position 1) must be str, not {type.__class__.__name__}"
            )
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        name, colon, _ = type.partition(":")
        if name not in _KINDS.split(", "):
            raise RuntimeError(
                f"Expected one of {_KINDS} device type at start of device string: {name}"
            )
        found = _STRING.fullmatch(type)
        if found is None:
            raise RuntimeError(f"Invalid device string: '{type}'")
        if colon and index is not None:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed explicitly: "
                f"{type}"
            )
        self.type = name
        self.index = int(found[2]) if colon else index

    def __enter__(self) -> device:
        self._tokens.append(_default.set(self))
        return self

    def __exit__(self, *_: Any) -> None:
        _default.reset(self._tokens.pop())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)


cpu = device("cpu")
_default: ContextVar[device] = ContextVar("device", default=cpu)


def get_default_device() -> device:
    """Where tensors are made that are not told otherwise.

    >>> get_default_device()
    device(type='cpu')
    """
    return _default.get()


def set_default_device(device: Any) -> None:
    """Make tensors on `device` unless they are told otherwise; None is the CPU."""
    _default.set(cpu if device is None else _device(device))


_device = device


def device_of(array: Any) -> device:
    """Where an array is."""
    if array.__class__ is ndarray:
        return cpu
    while hasattr(array, "underlying"):  # a traced value: what is behind it
        array = array.underlying
    number = getattr(getattr(array, "device", None), "id", None)
    return cpu if number is None else device("cuda", number)


# ---------------------------------------------------------------- layouts


class _Name:
    """A constant that is only a name; there is one object of each."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class layout(_Name):
    """How elements are stored: all tensors here are `strided`; code asks for others by name."""

    __slots__ = ()


class memory_format(_Name):
    """An order of elements in memory; arguments of this kind are taken and change nothing."""

    __slots__ = ()


strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")
sparse_bsr = layout("sparse_bsr")
sparse_bsc = layout("sparse_bsc")
_mkldnn = layout("_mkldnn")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")

__all__ = [
    "Size",
    "SymBool",
    "SymFloat",
    "SymInt",
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "device",
    "get_default_device",
    "layout",
    "memory_format",
    "preserve_format",
    "set_default_device",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
]
