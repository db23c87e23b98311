"""Tensors elsewhere: copies of them and of what shares memory, pickles, DLPack."""

from __future__ import annotations

import copy
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core import Tracer
from funcgrad.views import snapshot

from ..autograd import base, views
from ..autograd.node import AccumulateGrad
from ._fresh import made, there
from ._operands import operand
from .create import moved
from .legacy import recast

if TYPE_CHECKING:
    from .._tensor import Tensor

ndarray = np.ndarray

# What autograd keeps in the `__dict__` of a tensor; the rest are attributes that users have set.
_OWN = frozenset({"_grad", "_leaf", "_memory", "_origin", "_original", "_retains"})


def attributes(x: Any) -> dict[str, Any]:
    """The attributes that users have set."""
    if _OWN.issuperset(x.__dict__):
        return {}
    return {k: v for k, v in x.__dict__.items() if k not in _OWN}


# ---------------------------------------------------------------- copies


class _Memory:
    """A copy of the memory of some arrays, for all their copies; it keeps the original alive."""

    def __init__(self, owner: ndarray) -> None:
        self.owner = owner
        self.counter: list[Any] = [0]
        self.buffer = owner.copy("K").reshape(-1, order="A").view(np.uint8)

    def part(self, array: ndarray) -> ndarray:
        """The copy of an array that lies in the original."""
        offset = array.ctypes.data - self.owner.ctypes.data
        return ndarray(array.shape, array.dtype, self.buffer, offset, array.strides)


def _array_copied(array: Any, memo: dict[Any, Any]) -> tuple[Any, list[Any] | None]:
    """A copy of an array, and the counter of its memory if others may share that.

    Arrays that share memory have copies that do.
    """
    owner = array
    while owner.__class__ is ndarray and owner.base.__class__ is ndarray:
        owner = owner.base
    if owner.__class__ is not ndarray or not array.size or not owner.flags.forc:
        return (snapshot(array, copy=True) if isinstance(array, Tracer) else array.copy()), None
    key = ("memory", id(owner))
    if key not in memo:
        memo[key] = _Memory(owner)
    return memo[key].part(array), memo[key].counter


def _memory_copy(memory: Any, memo: dict[Any, Any]) -> Any:
    """That of a copy whose memory has been copied."""
    return None if memory is None else (_array_copied(memory[0], memo)[0], memory[1])


def deep_copy(self: Any, memo: dict[Any, Any]) -> Any:
    """A copy of a leaf, its `.grad` and its attributes; what shares memory still does.

    Raises: RuntimeError: it is no leaf.
    """
    node = views.edge(self)
    if node is not None and node.__class__ is not AccumulateGrad:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
            "because of a torch.nn.utils.weight_norm usage, see "
            f"https://github.com/pytorch/pytorch/pull/103001. Copy x.detach() instead."
            f"{views.made_at(self)}"
        )
    found = memo.get(id(self))
    if found is not None:
        return found
    array, counter = _array_copied(self._array, memo)
    copied = base.tensor(array)
    if counter is not None and copied._counter is not base.UNCOUNTED:
        copied._counter = counter
        copied._memory = _memory_copy(views.memory_of(self), memo)
    out = memo[id(self)] = recast(type(self), copied)
    if node is not None:
        out.requires_grad_()
    if self._grad is not None:
        out._grad = copy.deepcopy(self._grad, memo)
    for name, value in attributes(self).items():
        setattr(out, name, copy.deepcopy(value, memo))
    return out


def shallow_copy(self: Any) -> Any:
    """A leaf of the same memory, with the same attributes."""
    out = recast(type(self), self.detach())
    if views.edge(self) is not None:
        out.requires_grad_()
    out.__dict__.update(attributes(self))
    return out


# ---------------------------------------------------------------- pickles


def reduced(self: Any, protocol: Any) -> Any:
    """A tensor as pickles have it: numbers, whether it requires grad, attributes; a leaf.

    Raises: TypeError: the numbers are those of a transform.
    """
    if isinstance(self._array, Tracer):
        raise TypeError(f"a tensor inside a transform cannot be pickled: {self!r}")
    state = attributes(self) or None
    return rebuilt, (type(self), self._array, views.edge(self) is not None), state


def rebuilt(cls: type, array: Any, requires_grad: bool) -> Any:
    """The tensor that was pickled."""
    out = recast(cls, base.tensor(array))
    return out.requires_grad_() if requires_grad else out


# ---------------------------------------------------------------- DLPack


class _Capsule:
    """What an old exporter has handed out, as an object that can be asked for it."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class _Writable:
    """The memory of an array, to be written."""

    def __init__(self, array: ndarray) -> None:
        self.array = array
        address = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def _writable(array: ndarray) -> ndarray:
    """An array from a capsule, which does not say whether it may be written; NumPy thinks not."""
    return array if array.flags.writeable else np.asarray(_Writable(array))


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's, through DLPack.

    `copy`: True for memory of its own, False to refuse where it cannot be shared.

    Raises: RuntimeError: the object cannot be exported. BufferError: it may not.

    >>> import compat as torch
    >>> torch.from_dlpack(np.arange(3.0))
    tensor([0., 1., 2.], dtype=torch.float64)
    """
    if type(ext_tensor).__name__ == "PyCapsule":
        ext_tensor = _Capsule(ext_tensor)
    if not hasattr(ext_tensor, "__dlpack__"):
        raise RuntimeError(
            f"from_dlpack received an invalid capsule: {type(ext_tensor).__name__} has no method "
            f"__dlpack__. Note that DLTensor capsules can be consumed only once, so you might have "
            f"already constructed a tensor from it once."
        )
    kind, number = ext_tensor.__dlpack_device__()
    with there("cpu" if int(kind) == 1 else f"cuda:{number}") as xp:
        array = xp.from_dlpack(ext_tensor)
    if ext_tensor.__class__ is _Capsule and array.__class__ is ndarray:
        array = _writable(array)
    on = moved(array, device) if device is not None else array
    if copy is False and on is not array:
        raise ValueError(f"from_dlpack: the tensor is not on {device}, and copy is False")
    return made(array.copy() if copy and on is array else on)


def from_torch(tensor: Any) -> Tensor:
    """A tensor that shares the memory of PyTorch's own, a leaf that requires grad as that does.

    Raises: TypeError: it is none. BufferError: its dtype cannot be exchanged.

    >>> import compat as torch
    >>> from_torch(np.arange(3.0))
    Traceback (most recent call last):
        ...
    TypeError: from_torch needs a tensor of PyTorch's, found ndarray
    """
    if type(tensor).__module__.partition(".")[0] != "torch" or not hasattr(tensor, "requires_grad"):
        raise TypeError(f"from_torch needs a tensor of PyTorch's, found {type(tensor).__name__}")
    found = from_dlpack(tensor.detach())
    return found.requires_grad_() if tensor.requires_grad else found


def to_torch(tensor: Any) -> Any:
    """PyTorch's own tensor that shares this one's memory, a leaf that requires grad as this one does.

    Raises: ImportError: PyTorch is not installed. TypeError: it is no tensor.
    """
    if not isinstance(tensor, base.TensorBase):
        raise TypeError(f"to_torch needs a tensor, found {type(tensor).__name__}")
    torch = importlib.import_module("torch")
    if torch.__name__ != "torch":
        raise ImportError(
            f"to_torch needs PyTorch itself, but {torch.__name__} stands in for it in sys.modules"
        )
    found = torch.from_dlpack(tensor.detach())  # type: ignore[attr-defined]
    return found.requires_grad_() if views.edge(tensor) is not None else found


def to_dlpack(tensor: Any) -> Any:
    """A capsule for `from_dlpack` of libraries that know no better.

    Raises: BufferError: the tensor requires grad.
    """
    return exported(operand("to_dlpack", 1, "tensor", tensor))


def exported(
    self: Any,
    *,
    stream: Any = None,
    max_version: Any = None,
    dl_device: Any = None,
    copy: bool | None = None,
) -> Any:
    """The capsule that other libraries ask for; see the array API standard.

    Raises: BufferError: the tensor requires grad. TypeError: its numbers are those of a transform.
    """
    if views.edge(self) is not None:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if isinstance(self._array, Tracer):
        raise TypeError(f"a tensor inside a transform cannot be exported: {self!r}")
    given = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    return self._array.__dlpack__(**{k: v for k, v in given.items() if v is not None})


class InterchangeMethods:
    """The protocols by which tensors are copied, pickled and handed to other libraries."""

    __slots__ = ()
    _array: Any

    __copy__ = shallow_copy
    __deepcopy__ = deep_copy
    __dlpack__ = exported
    __reduce_ex__ = reduced

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


__all__ = ["from_dlpack", "from_torch", "to_dlpack", "to_torch"]
