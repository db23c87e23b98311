"""Constructors by class: ``Tensor(2, 3)``, ``Tensor([1.0])``, ``LongTensor([1, 2])``, subclasses.

Prefer `compat.tensor`, `compat.zeros` and their like, which say which of the two is meant.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from ..autograd import base, modes, sites, views
from ..autograd.base import TensorBase
from ..size import Size, device_of
from ..size import device as Device
from ..storage import UntypedStorage, numbers_of
from . import _apply
from ._apply import _TYPE_WORDS
from ._data import array_of
from ._layout import alias, strides_of
from ._operands import dtype_of
from .memory import as_strided
from .shape import expand

if TYPE_CHECKING:
    from .._tensor import Tensor


def recast(cls: type, x: TensorBase) -> Any:
    """A tensor of the class `cls` that is all that `x` is: of its memory, at its place in the graph."""
    out: Any = TensorBase.__new__(cls)
    out._array, out._counter, out._node, out._view = x._array, x._counter, x._node, x._view
    if x._memory is not None:
        out._memory = x._memory
    out._origin = sites.site()
    return out


def new(
    cls: type, *args: Any, device: Any = None, data: Any = None, other: Any = None, size: Any = None
) -> Any:
    """``Tensor(sequence)``, ``Tensor(tensor)``, ``Tensor(2, 3)``, ``Tensor(size)`` or ``Tensor()``.

    Of the default dtype; a tensor is shared.

    Raises: TypeError: something else is given. RuntimeError: a negative size.
    """
    keyword = next((x for x in (data, other, size) if x is not None), None)
    if keyword is not None:
        args = (Size(keyword) if size is not None else keyword,)
    return _constructed(cls, None, args, device)


def _constructed(cls: type, dtype: dtypes.dtype | None, args: Any, device: Any) -> Any:
    if device is not None and Device(device).type != "cpu":
        raise RuntimeError(
            f"legacy constructor expects device type: cpu but device type: {Device(device).type} "
            f"was passed"
        )
    if len(args) == 1 and isinstance(args[0], TensorBase):
        given = args[0]
        if dtype is not None and dtype_of(given) is not dtype:
            raise TypeError(
                f"expected a tensor of dtype {dtype} (got {dtype_of(given)}): convert it with "
                f"x.to({dtype})"
            )
        return recast(cls, alias(given))
    chosen = dtype or dtypes.get_default_dtype()
    return recast(cls, base.tensor(_array(args, chosen)))


def _array(args: tuple[Any, ...], dtype: dtypes.dtype) -> Any:
    if len(args) == 1:
        (x,) = args
        if isinstance(x, np.ndarray):
            return x.astype(dtype.numpy, copy=False)
        if isinstance(x, str | bytes):
            raise TypeError(f"new(): invalid data type '{type(x).__name__}'")
        if isinstance(x, Sequence) and not isinstance(x, Size):
            return array_of(x, dtype)
        is_size = isinstance(x, int | np.integer) and not isinstance(x, bool)
        if not is_size and not isinstance(x, Size):
            raise TypeError(f"new(): data must be a sequence (got {type(x).__name__})")
        if isinstance(x, Size) and not x:
            return np.zeros((), dtype.numpy)
        args = x if isinstance(x, Size) else args
    for i, n in enumerate(args):
        if not hasattr(type(n), "__index__"):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {i + 1} with error "
                f'"type must be tuple of ints,but got {type(n).__name__}"'
            )
    shape = [operator.index(n) for n in args] if args else [0]
    negative = min(shape, default=0)
    if negative < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {shape}")
    return np.zeros(shape, dtype.numpy)


# ---------------------------------------------------------------- of tensors


def make_subclass(cls: type, data: Any, require_grad: bool = False) -> Any:
    """A leaf of the class `cls` that shares the memory of a tensor and counts writes with it."""
    return recast(cls, data.detach()).requires_grad_(require_grad)


def as_subclass(self: Any, cls: type) -> Any:
    """The same numbers as a tensor of the class `cls`, differentiable.

    Raises: TypeError: the class is none of tensors.

    >>> import compat as torch
    >>> class Named(torch.Tensor):
    ...     pass
    >>> torch.ones(2).as_subclass(Named)
    Named([1., 1.])
    """
    if not (isinstance(cls, type) and issubclass(cls, TensorBase)):
        raise TypeError(f"as_subclass(): {cls} is no class that inherits from Tensor")
    return recast(cls, alias(self))


def new_like(self: Any, *args: Any, size: Any = None, device: Any = None) -> Tensor:
    """``Tensor(...)`` in the dtype of this tensor; see `new_tensor` and `new_empty`."""
    if size is not None:
        args = tuple(size)
    return _constructed(base.made.cls, dtype_of(self), args, device)


def apply_(self: Any, callable: Any) -> Tensor:
    """Replace every number by ``callable(number)``: slow, and not recorded.

    Raises: RuntimeError: the tensor requires grad. TypeError: it returns no real number.

    >>> import compat as torch
    >>> torch.tensor([1.0, 2.0]).apply_(lambda a: a * a)
    tensor([1., 4.])
    """
    return _mapped("apply_", callable, self)


def map_(self: Any, tensor: Any, callable: Any) -> Tensor:
    """Replace every number by ``callable(number, other)``: slow, and not recorded.

    The other tensor is of the same dtype and broadcasts.

    Raises: RuntimeError: a tensor requires grad. TypeError: the dtypes differ, or it returns no real
    number.
    """
    _require_dtype("map_", self, tensor=tensor)
    return _mapped("map_", callable, self, tensor)


def map2_(self: Any, x: Any, y: Any, callable: Any) -> Tensor:
    """Replace every number by ``callable(number, of_x, of_y)``: slow, and not recorded.

    The other tensors are of the same dtype and broadcast.

    Raises: RuntimeError: a tensor requires grad. TypeError: the dtypes differ, or it returns no real
    number.

    >>> import compat as torch
    >>> one = torch.ones(2)
    >>> torch.tensor([1.0, 2.0]).map2_(one, one, lambda a, b, c: a + b + c)
    tensor([3., 4.])
    """
    _require_dtype("map2_", self, x=x, y=y)
    return _mapped("map2_", callable, self, x, y)


def _require_dtype(name: str, like: Any, **others: Any) -> None:
    """Require that the tensors are of the dtype of `like`.

    Raises: TypeError: one is not.
    """
    for argument, x in others.items():
        if dtype_of(x) is not dtype_of(like):
            raise TypeError(
                f"{name}: expected {dtype_of(like)} for argument '{argument}' (got {dtype_of(x)})"
            )


def _mapped(name: str, f: Any, x: Any, *others: Any) -> Any:
    """The numbers that `f` makes, in place of those of `x`."""
    if any(views.edge(y) is not None for y in (x, *others)):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            f"instead.{views.made_at(x)}"
        )
    views.check_writable(x)
    arrays = [x._array, *(expand(y, *x._array.shape)._array for y in others)]
    numbers = zip(*(a.ravel().tolist() for a in arrays), strict=True)
    found = [f(*row) for row in numbers]
    is_complex = dtype_of(x).category == 3
    for y in found:
        kind = type(y)
        if not (hasattr(kind, "__float__") or (is_complex and hasattr(kind, "__complex__"))):
            raise TypeError(f"must be real number, not {kind.__name__}")
    new = np.array(found).astype(x._array.dtype)
    return views.assign(x, new.reshape(x._array.shape), name, whole=True)


def set_(
    self: Any, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Tensor:
    """Show the memory of a tensor or a storage from now on; without one, nothing.

    With a size, the part of the memory that begins at `storage_offset`, in C order without a `stride`.
    As after an assignment to ``.data``, the two do not know of one another's writes.

    Raises: RuntimeError: a derivative would be lost, another dtype, or the memory is too small.

    >>> import compat as torch
    >>> torch.zeros(0).set_(torch.arange(4.0), 1, (2,), (2,))
    tensor([1., 3.])
    """
    if _apply.requires_grad(self, source):
        raise RuntimeError(
            f"set_() is not differentiable; use it under torch.no_grad(){views.made_at(self)}"
        )
    dtype = dtype_of(self)
    if isinstance(source, UntypedStorage):
        memory = alias(base.tensor(numbers_of(source, dtype)))
    else:
        memory = source.detach() if source is not None else self.detach().new_empty(0)
    if dtype_of(memory) is not dtype:
        raise RuntimeError(f"Could not set tensor of type {dtype_of(memory).name} to {dtype.name}")
    if size is not None:
        steps = strides_of(np.empty(tuple(size), np.bool)) if stride is None else stride
        memory = as_strided(memory, size, steps, storage_offset)
    with modes.no_grad():
        self.data = memory
    return self


# ---------------------------------------------------------------- typed constructors


class TensorType(type):
    """The classes of `FloatTensor` and its like: constructors, and what `isinstance` asks for."""

    dtype: dtypes.dtype
    place: str
    is_cuda: bool

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        """As ``Tensor(...)``, in the dtype and on the device of the class."""
        out: Tensor = _constructed(base.made.cls, cls.dtype, args, device)
        return out.cuda() if cls.is_cuda else out

    def __instancecheck__(cls, x: Any) -> bool:
        if not isinstance(x, TensorBase) or x.__class__ in base.sparse_kinds:
            return False
        return dtype_of(x) is cls.dtype and device_of(x._array).type == cls.place

    def __repr__(cls) -> str:
        return f"<class '{_label(cls)}'>"


def _typed(dtype: dtypes.dtype, place: str = "cpu") -> TensorType:
    name = f"{_TYPE_WORDS[dtype.name]}Tensor"
    entries = {"dtype": dtype, "place": place, "is_cuda": place == "cuda", "__module__": __name__}
    return TensorType(name, (), entries)


def _label(cls: TensorType) -> str:
    return f"torch.{'cuda.' if cls.is_cuda else ''}{cls.__name__}"


BoolTensor = _typed(dtypes.bool)
ByteTensor = _typed(dtypes.uint8)
CharTensor = _typed(dtypes.int8)
DoubleTensor = _typed(dtypes.float64)
FloatTensor = _typed(dtypes.float32)
HalfTensor = _typed(dtypes.float16)
IntTensor = _typed(dtypes.int32)
LongTensor = _typed(dtypes.int64)
ShortTensor = _typed(dtypes.int16)
if hasattr(dtypes, "bfloat16"):
    BFloat16Tensor = _typed(dtypes.bfloat16)

_HERE: list[TensorType] = [c for c in list(globals().values()) if c.__class__ is TensorType]

# the classes of tensors on a GPU, which torch.cuda has by these names
ON_GPU = {c.__name__: _typed(c.dtype, "cuda") for c in _HERE}
TYPES = {_label(c): c for c in [*_HERE, *ON_GPU.values()]}


def set_default_tensor_type(t: Any) -> None:
    """Deprecated: make tensors of Python floats have the dtype of a class such as `DoubleTensor`.

    Raises: TypeError: there is no such class, or it is not of floats, or of a GPU.
    """
    sites.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives."
    )
    found = TYPES.get(t) if isinstance(t, str) else t
    if not isinstance(found, TensorType):
        raise TypeError(f"invalid type object: {t!r} is no tensor type")
    if found.is_cuda:
        raise TypeError(f"{found!r} is no default: use torch.set_default_device('cuda')")
    dtypes.set_default_dtype(found.dtype)


__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "set_default_tensor_type",
]
if "BFloat16Tensor" in globals():
    __all__ += ["BFloat16Tensor"]
