"""From an object to a pickle that PyTorch reads, and the storages of its tensors."""

from __future__ import annotations

import collections
import pickle
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core import Tracer

from .. import dtypes
from .._tensor import Tensor
from ..autograd import views
from ..ops._layout import strides_of
from ..ops.create import moved
from ..ops.interchange import attributes
from ..parameter import Parameter
from ..size import Size
from ..size import device as Device
from . import plain
from .names import ADVICE, STORAGE_OF, UNTYPED, may_be_key

OrderedDict = collections.OrderedDict
ndarray = np.ndarray


class Writer:
    """Writes objects as a pickle of protocol 2, and gathers the storages of their tensors."""

    def __init__(self) -> None:
        self.out = bytearray(b"\x80\x02")
        self.memo: dict[Any, int] = {}
        self.alive: list[Any] = []  # whose id is in the memo
        self.storages: list[ndarray] = []
        self.keys: dict[int, int] = {}  # by address: which storage
        self.kinds: list[str] = []  # the dtype each storage was first used with

    def write(self, x: Any) -> None:
        """Append the pickle of `x`.

        Raises: TypeError: it is not data.
        """
        writer = _WRITERS.get(type(x))
        if writer is None:
            raise TypeError(_not_data(x))
        writer(self, x)

    def known(self, x: Any, key: Any = None) -> bool:
        """Whether `x` was written before, in which case it is referred to."""
        number = self.memo.get(id(x) if key is None else key)
        if number is not None:
            self.out += b"j" + struct.pack("<I", number)
        return number is not None

    def remember(self, x: Any, key: Any = None) -> None:
        """Give what is on the stack a number, by which later copies of `x` refer to it."""
        number = self.memo[id(x) if key is None else key] = len(self.memo)
        self.alive.append(x)
        self.out += b"r" + struct.pack("<I", number)

    def name(self, name: str) -> None:
        """A global, given as ``module name``."""
        key = ("global", name)
        if not self.known(None, key):
            self.out += b"c" + name.replace(" ", "\n").encode() + b"\n"
            self.remember(None, key)

    def raw_tuple(self, items: Any) -> None:
        """A tuple that is not remembered; functions write parts of it."""
        self.out += b"("
        for item in items:
            item() if callable(item) else self.write(item)
        self.out += b"t"

    def call(self, name: str, *args: Any) -> None:
        """The result of a function of PyTorch's or Python's."""
        self.name(name)
        self.raw_tuple(args)
        self.out += b"R"

    def storage(self, number: int, name: str, size: int) -> None:
        """The reference to a storage of `size` elements."""
        self.raw_tuple(("storage", lambda: self.name(name), str(number), "cpu", size))
        self.out += b"Q"


def _not_data(x: Any) -> str:
    said = f"torch.save: {type(x).__module__}.{type(x).__qualname__} is not data. {ADVICE}."
    if hasattr(x, "state_dict"):
        return f"{said} Save its state_dict(), and call load_state_dict on a new one."
    if isinstance(x, np.ndarray):
        return f"{said} Save np.asarray(x) in its place, or x.tolist()."
    if isinstance(x, Tensor):
        return f"{said} Save x.detach(), which is a plain tensor."
    return said


def _write_int(w: Writer, x: int) -> None:
    if -(2**31) <= x < 2**31:
        w.out += b"J" + struct.pack("<i", x)
    else:
        data = pickle.encode_long(x)
        short = len(data) < 256
        w.out += (b"\x8a" + bytes([len(data)])) if short else b"\x8b" + struct.pack("<i", len(data))
        w.out += data


def _write_str(w: Writer, x: str) -> None:
    key = ("str", x)
    if not w.known(x, key):
        data = x.encode("utf-8", "surrogatepass")
        w.out += b"X" + struct.pack("<I", len(data)) + data
        w.remember(x, key)


def _write_list(w: Writer, x: list[Any]) -> None:
    if not w.known(x):
        w.out += b"]"
        w.remember(x)
        w.out += b"("
        for item in x:
            w.write(item)
        w.out += b"e"


def _write_tuple(w: Writer, x: tuple[Any, ...]) -> None:
    if not w.known(x):
        w.raw_tuple(tuple((lambda item=item: w.write(item)) for item in x))
        w.remember(x)


def _write_items(w: Writer, x: dict[Any, Any]) -> None:
    w.remember(x)
    w.out += b"("
    for key, value in x.items():
        if not may_be_key(key):
            raise TypeError(f"torch.save: the key {key!r} is not a number, string or tuple of them")
        w.write(key)
        w.write(value)
    w.out += b"u"


def _write_dict(w: Writer, x: dict[Any, Any]) -> None:
    if not w.known(x):
        w.out += b"}"
        _write_items(w, x)


def _write_ordered(w: Writer, x: OrderedDict[Any, Any]) -> None:
    if not w.known(x):
        w.call("collections OrderedDict")
        _write_items(w, x)
        if vars(x):  # a module's state has `_metadata`
            w.write(dict(vars(x)))
            w.out += b"b"


def _write_counter(w: Writer, x: Any) -> None:
    if not w.known(x):
        w.call("collections Counter", dict(x))
        w.remember(x)


def _write_set(w: Writer, x: Any) -> None:
    if not w.known(x):
        w.call(f"__builtin__ {type(x).__name__}", list(x))
        w.remember(x)


def _write_tensor(w: Writer, x: Any) -> None:
    if w.known(x):
        return
    if isinstance(x._array, Tracer):
        raise TypeError(f"a tensor inside a transform cannot be saved: {x!r}")
    state = attributes(x)
    requires_grad = views.edge(x) is not None
    hooks: OrderedDict[Any, Any] = OrderedDict()
    if type(x) is Parameter:
        data = x.detach()
        args = (data, requires_grad, hooks, *([state] if state else []))
        w.call(f"torch._utils _rebuild_parameter{'_with_state' if state else ''}", *args)
    else:
        name, args = _place(w, x._array, requires_grad)
        if state:
            w.call(
                "torch._tensor _rebuild_from_type_v2",
                lambda: w.name(name),
                lambda: w.name("torch Tensor"),
                lambda: w.raw_tuple(args),
                state,
            )
        else:
            w.call(name, *args)
    w.remember(x)


def _place(w: Writer, array: Any, requires_grad: bool) -> tuple[str, tuple[Any, ...]]:
    """The function that makes a tensor of its storage, and its arguments."""
    dtype = dtypes.of(array.dtype)
    array, owner = _memory(moved(array, "cpu"))
    address = owner.__array_interface__["data"][0]
    key = address if owner.size else id(array)
    number = w.keys.get(key)
    if number is None:
        number = w.keys[key] = len(w.storages)
        w.storages.append(owner)
        w.alive.append(array)
        w.kinds.append(dtype.name)
    offset = (array.__array_interface__["data"][0] - address) // array.itemsize
    place: tuple[Any, ...] = (
        offset if array.size else 0,
        tuple(map(int, array.shape)),
        strides_of(array),
        requires_grad,
        OrderedDict(),
    )
    if w.kinds[number] == dtype.name:
        name, count = f"torch {STORAGE_OF[dtype.name]}", owner.nbytes // array.itemsize
        return "torch._utils _rebuild_tensor_v2", (lambda: w.storage(number, name, count), *place)
    untyped: Callable[[], None] = lambda: w.storage(number, UNTYPED, owner.nbytes)  # noqa: E731
    return "torch._utils _rebuild_tensor_v3", (untyped, *place, dtype)


def _memory(array: ndarray) -> tuple[ndarray, ndarray]:
    """The array, and that whose memory it is a part of; a copy where it has an unusual form."""
    owner = array
    while owner.base.__class__ is ndarray:
        owner = owner.base
    start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    size = array.itemsize
    usual = (
        all(s >= 0 and s % size == 0 for s in array.strides)
        and start % size == 0
        and owner.nbytes % size == 0
        and owner.flags.forc
        and array.dtype.isnative
        and array.size > 0
    )
    if usual:
        return array, owner
    copied = np.array(array, array.dtype.newbyteorder("="), order="C")
    return copied, copied


_WRITERS: dict[type, Callable[[Writer, Any], Any]] = {
    type(None): lambda w, x: w.out.extend(b"N"),
    bool: lambda w, x: w.out.extend(b"\x88" if x else b"\x89"),
    int: _write_int,
    float: lambda w, x: w.out.extend(b"G" + struct.pack(">d", x)),
    complex: lambda w, x: w.call("__builtin__ complex", x.real, x.imag),
    str: _write_str,
    bytes: lambda w, x: w.call("_codecs encode", x.decode("latin1"), "latin1"),
    list: _write_list,
    tuple: _write_tuple,
    set: _write_set,
    frozenset: _write_set,
    dict: _write_dict,
    OrderedDict: _write_ordered,
    collections.Counter: _write_counter,  # the milestones of `MultiStepLR`
    Size: lambda w, x: w.call("torch Size", tuple(x)),
    dtypes.dtype: lambda w, x: w.name(f"torch {x.name}"),
    Device: lambda w, x: w.call("torch device", x.type, *([] if x.index is None else [x.index])),
    Tensor: _write_tensor,
    Parameter: _write_tensor,
    **plain.WRITERS,
}
