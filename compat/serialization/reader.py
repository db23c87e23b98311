"""From a pickle to the object it describes: data, and what the program calls safe."""

from __future__ import annotations

import collections
import pickletools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from .._tensor import Tensor
from ..autograd import base
from ..ops._layout import as_dtype
from ..ops.create import moved
from ..parameter import Parameter
from ..size import Size
from ..size import device as Device
from . import plain
from .names import ADVICE, STORAGES, UNTYPED, CheckpointError, Global, Storage, Typed, may_be_key
from .safe import SAFE, restore

OrderedDict = collections.OrderedDict
ndarray = np.ndarray


class Reader:
    """Runs a pickle: a stack, a memo, and only what makes data."""

    def __init__(self, storage_of: Callable[..., Storage]) -> None:
        self.storage_of = storage_of
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.safe = dict(SAFE)

    def run(self, data: bytes) -> Any:
        """The object that the pickle describes.

        Raises: CheckpointError: it is not only data. Others: it is damaged.
        """
        for op, arg, _ in pickletools.genops(data):
            if op.name == "STOP":
                (result,) = self.stack
                _require_data(result)
                return result
            if op.name in _PUSH:
                self.stack.append(arg)
            elif op.name in _CONSTANTS:
                self.stack.append(_CONSTANTS[op.name]())
            elif op.name in _STEPS:
                _STEPS[op.name](self, arg)
            else:
                raise CheckpointError(f"the instruction {op.name} is not one that makes data")
        raise CheckpointError("the pickle has no end")

    def after_mark(self) -> list[Any]:
        mark = self.marks.pop()
        items = self.stack[mark:]
        del self.stack[mark:]
        return items

    def last(self, n: int) -> list[Any]:
        if len(self.stack) < n:
            raise CheckpointError("the pickle takes from an empty stack")
        items = self.stack[len(self.stack) - n :]
        del self.stack[len(self.stack) - n :]
        return items

    def put(self, number: Any) -> None:
        self.memo[len(self.memo) if number is None else number] = self.stack[-1]

    def append(self, items: list[Any]) -> None:
        self.of(list).extend(items)

    def set_items(self, items: list[Any]) -> None:
        target = self.of(dict, OrderedDict)
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not may_be_key(key):
                raise CheckpointError(f"a key of a dict is of the type {type(key).__name__}")
            target[key] = value

    def of(self, *types: type) -> Any:
        """The top of the stack, which must be of one of these types."""
        if type(self.stack[-1]) not in types and not (
            isinstance(self.stack[-1], types) and self.is_safe(type(self.stack[-1]))
        ):
            raise CheckpointError(f"a {type(self.stack[-1]).__name__} where a container belongs")
        return self.stack[-1]

    def name(self, name: str) -> None:
        module, _, short = name.partition(" ")
        if module == "torch" and short in dtypes.NAMES:
            self.stack.append(getattr(dtypes, short))
        elif name in plain.CONSTANTS:
            self.stack.append(plain.CONSTANTS[name])
        elif name in _CALLS or name in _TYPES or (module == "torch" and short in STORAGES):
            self.stack.append(Global(name))
        elif (own := f"{module.replace('__builtin__', 'builtins')}.{short}") in self.safe:
            self.stack.append(self.safe[own])
        else:
            raise CheckpointError(_refused(module, short))

    def is_safe(self, x: Any) -> bool:
        return any(x is known for known in self.safe.values())

    def reduce(self) -> None:
        function, args = self.last(2)
        if type(args) is tuple and self.is_safe(function):
            self.stack.append(function(*args))
            return
        if type(function) is not Global or type(args) is not tuple:
            raise CheckpointError("the pickle calls what is no function")
        if function.name not in _CALLS:
            raise CheckpointError(f"the pickle calls {function.name}, which is a type")
        self.stack.append(_CALLS[function.name](*args))

    def make(self) -> None:
        cls, args = self.last(2)
        if not (isinstance(cls, type) and self.is_safe(cls)) or type(args) is not tuple:
            raise CheckpointError("the pickle makes an object of what is no class")
        self.stack.append(cls.__new__(cls, *args))

    def build(self) -> None:
        (state,) = self.last(1)
        if self.is_safe(type(self.stack[-1])):
            restore(self.stack[-1], state)
            return
        if plain.build(self.stack[-1], state):
            return
        target = self.of(OrderedDict)
        if type(state) is not dict or any(
            type(k) is not str or hasattr(OrderedDict, k) for k in state
        ):
            raise CheckpointError("the attributes of an OrderedDict are not data")
        vars(target).update(state)

    def persistent(self) -> None:
        (place,) = self.last(1)
        kind, storage_type, key, location, count = place
        if kind != "storage" or type(storage_type) is not Global or type(key) is not str:
            raise CheckpointError("a reference that is none to a storage")
        dtype = dtypes.uint8
        if storage_type.name != UNTYPED:
            dtype = _dtype(STORAGES[storage_type.name.partition(" ")[2]])
        found = self.storage_of(key, location, _count(count) * dtype.itemsize)
        self.stack.append(Typed(found, dtype))


def _refused(module: str, name: str) -> str:
    if module == "torch" and name in ("bfloat16", "BFloat16Storage"):
        return "the file has bfloat16 tensors, which need the package ml_dtypes"
    if module == "torch":
        return f"torch.{name} is not offered here: convert the tensors before they are saved"
    return (
        f"the file holds {module}.{name}, which is not data, and making one could run any code "
        f"(weights_only=False does not change that here). {ADVICE}. Save a module's or optimizer's "
        f"state_dict() in place of the object; where the file can be trusted, classes are allowed with "
        f"torch.serialization.add_safe_globals([{name}])."
    )


def _dtype(name: str) -> dtypes.dtype:
    if name not in dtypes.NAMES:
        raise CheckpointError(_refused("torch", name))
    return getattr(dtypes, name)


def _count(n: Any) -> int:
    if type(n) is not int or n < 0:
        raise CheckpointError(f"{n!r} where a count belongs")
    return n


def _make_tensor(
    part: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    dtype: dtypes.dtype,
    signs: Any,
) -> Any:
    """A tensor over a part of a storage.

    Raises: CheckpointError: it would reach out of it.
    """
    if type(part) is not Typed or type(size) not in (tuple, Size) or type(stride) is not tuple:
        raise CheckpointError("a tensor that is made of no storage")
    storage, start = part.storage, _count(offset)
    if len(size) != len(stride):
        raise CheckpointError(f"a tensor of {len(size)} axes with {len(stride)} strides")
    last = sum((_count(n) - 1) * _count(s) for n, s in zip(size, stride, strict=True))
    if 0 not in size and (start + last + 1) * dtype.itemsize > storage.buffer.nbytes:
        raise CheckpointError(
            f"a tensor of the shape {list(size)} and strides {list(stride)} from {start} on reaches "
            f"out of its storage of {storage.buffer.nbytes} bytes"
        )
    strides = [s * dtype.itemsize for s in stride]
    if 0 in size:
        array = np.empty(size, dtype.numpy)
    else:
        array = ndarray(size, dtype.numpy, storage.buffer, start * dtype.itemsize, strides)
    # What a few bytes describe may have any number of elements: these must not be gone through.
    if dtype is dtypes.bool and array.size and storage.buffer[start : start + last + 1].max() > 1:
        raise CheckpointError("a boolean that is neither 0 nor 1")
    for sign, undo in (("conj", np.conj), ("neg", np.negative)):
        if type(signs) is dict and signs.get(sign) is True:
            if array.size * array.itemsize > storage.buffer.nbytes:
                raise CheckpointError("a conjugate that was expanded: save a copy of it")
            array = undo(array)
    x = base.tensor(moved(array, storage.device))
    if x._array is array and array.size and x._counter is not base.UNCOUNTED:
        x._counter = storage.counter
        if start or array.nbytes < storage.buffer.nbytes:
            x._memory = as_dtype(storage.buffer, dtype), start
    return x.requires_grad_() if requires_grad is True else x


def _tensor_v2(
    part: Any, offset: Any, size: Any, stride: Any, grad: Any, hooks: Any, signs: Any = None
) -> Any:
    return _make_tensor(part, offset, size, stride, grad, getattr(part, "dtype", None), signs)  # type: ignore[arg-type]


def _tensor_v3(
    part: Any,
    offset: Any,
    size: Any,
    stride: Any,
    grad: Any,
    hooks: Any,
    dtype: Any,
    signs: Any = None,
) -> Any:
    if type(dtype) is not dtypes.dtype:
        raise CheckpointError("a tensor of no dtype")
    return _make_tensor(part, offset, size, stride, grad, dtype, signs)


def _parameter(data: Any, requires_grad: Any, hooks: Any, state: Any = None) -> Any:
    if type(data) is not Tensor:
        raise CheckpointError("a parameter that is made of no tensor")
    return _with_attributes(Parameter(data.detach(), requires_grad is True), state)


def _from_type(function: Any, kind: Any, args: Any, state: Any) -> Any:
    known = type(function) is Global and function.name in _CALLS and type(args) is tuple
    if not known or kind not in (Global("torch Tensor"), Global("torch.nn.parameter Parameter")):
        raise CheckpointError("a tensor of a class of its own")
    x = _CALLS[function.name](*args)
    if not isinstance(x, Tensor):
        raise CheckpointError("a tensor that is none")
    return _with_attributes(x, state)


def _with_attributes(x: Any, state: Any) -> Any:
    """`x` with attributes that its users had set."""
    if state is None:
        return x
    taken = {*dir(x), "_leaf"}
    if type(state) is not dict or any(type(k) is not str or k in taken for k in state):
        raise CheckpointError("the attributes of a tensor are not data")
    _require_data(state)
    vars(x).update(state)
    return x


def _encoded(text: Any, encoding: Any) -> bytes:
    if type(text) is not str or encoding != "latin1":
        raise CheckpointError("bytes in an unknown encoding")
    return text.encode("latin1")


def _no_bytes() -> bytes:
    """How old pickles write ``b""``."""
    return b""


def _complex(real: Any, imaginary: Any) -> complex:
    if type(real) is not float or type(imaginary) is not float:
        raise CheckpointError("a complex number of what is no number")
    return complex(real, imaginary)


def _ordered(items: Any = ()) -> OrderedDict[Any, Any]:
    if not all(len(pair) == 2 and may_be_key(pair[0]) for pair in items):
        raise CheckpointError("a key of a dict is no number, string or tuple of them")
    return OrderedDict(items)


def _counter(counts: Any = None) -> collections.Counter[Any]:
    if type(counts) not in (dict, type(None)):
        raise CheckpointError("a Counter of what is no dict")
    return collections.Counter(counts)


_CALLS: dict[str, Callable[..., Any]] = {
    "torch._utils _rebuild_tensor_v2": _tensor_v2,
    "torch._utils _rebuild_tensor_v3": _tensor_v3,
    "torch._utils _rebuild_parameter": _parameter,
    "torch._utils _rebuild_parameter_with_state": _parameter,
    "torch._tensor _rebuild_from_type_v2": _from_type,
    "torch Size": lambda sizes=(): Size(_count(n) for n in sizes),
    "torch device": Device,
    "collections OrderedDict": _ordered,
    "collections Counter": _counter,
    "_codecs encode": _encoded,
    **{f"{module} bytes": _no_bytes for module in ("__builtin__", "builtins")},
    **{f"{module} complex": _complex for module in ("__builtin__", "builtins")},
    **plain.CALLS,
}
_TYPES = plain.TYPES | {UNTYPED, "torch Tensor", "torch.nn.parameter Parameter"}

_PUSH = frozenset(
    {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"}
    | {"BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"}
)
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
    "EMPTY_TUPLE": tuple,
    "EMPTY_SET": set,
}


def _stack_global(r: Reader, _: Any) -> None:
    module, name = r.last(2)
    r.name(f"{module} {name}")


def _add_to_set(r: Reader, _: Any) -> None:
    items = plain.set_of(r.after_mark())
    r.of(set).update(items)


_STEPS: dict[str, Callable[[Reader, Any], Any]] = {
    "PROTO": lambda r, a: None,
    "FRAME": lambda r, a: None,
    "MARK": lambda r, a: r.marks.append(len(r.stack)),
    "TUPLE": lambda r, a: r.stack.append(tuple(r.after_mark())),
    **{
        f"TUPLE{n}": lambda r, a, n=n: r.stack.append(tuple(r.last(n)))  # type: ignore[misc]
        for n in (1, 2, 3)
    },
    "APPEND": lambda r, a: r.append(r.last(1)),
    "APPENDS": lambda r, a: r.append(r.after_mark()),
    "SETITEM": lambda r, a: r.set_items(r.last(2)),
    "SETITEMS": lambda r, a: r.set_items(r.after_mark()),
    "ADDITEMS": _add_to_set,
    **{name: lambda r, a: r.put(a) for name in ("BINPUT", "LONG_BINPUT", "MEMOIZE")},
    **{name: lambda r, a: r.stack.append(r.memo[a]) for name in ("BINGET", "LONG_BINGET")},
    "GLOBAL": lambda r, a: r.name(a),
    "STACK_GLOBAL": _stack_global,
    "REDUCE": lambda r, a: r.reduce(),
    "NEWOBJ": lambda r, a: r.make(),
    "BUILD": lambda r, a: r.build(),
    "BINPERSID": lambda r, a: r.persistent(),
}


_CONTAINERS = (list, tuple, dict, OrderedDict, collections.Counter)


def _require_data(x: Any) -> None:
    """Look through all of it for what only the machine should see."""
    waiting, seen = [x], set()
    while waiting:
        item = waiting.pop()
        if type(item) in (Global, Typed):
            raise CheckpointError("the file holds a storage or function where a value belongs")
        if type(item) not in _CONTAINERS or id(item) in seen:
            continue
        seen.add(id(item))
        waiting += list(item.values()) if isinstance(item, dict) else item
        waiting += vars(item).values() if type(item) is OrderedDict else ()
