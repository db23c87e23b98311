"""`Tensor`: an array that remembers how it was computed, with PyTorch's attributes and methods.

Layer 7. What is here belongs to autograd and to Python's protocols; the operations are in
`compat.ops`, one family per file, which end with the methods they give to the class.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from typing import Any, overload

import numpy as np

from funcgrad import tree
from funcgrad.core import Tracer
from funcgrad.errors import where
from funcgrad.indexing import known
from funcgrad.protocols import call_function, call_ufunc
from funcgrad.views import is_differentiated

from . import autograd, dtypes
from .autograd import modes, printed, sites, tape, twins, views
from .autograd.base import UNCOUNTED, TensorBase, made
from .autograd.node import AccumulateGrad, Port, extras
from .autograd.tape import unwrapped, wrapped
from .linalg.names import LinalgMethods
from .ops.activation import ActivationMethods
from .ops.bessel import BesselMethods
from .ops.blend import BlendMethods
from .ops.compare import CompareMethods
from .ops.complex import ComplexMethods
from .ops.convert import ConvertMethods
from .ops.copies import CopiesMethods
from .ops.create import CreateMethods
from .ops.cumulative import CumulativeMethods
from .ops.exponential import ExponentialMethods
from .ops.gamma import GammaMethods
from .ops.index import IndexMethods
from .ops.interchange import InterchangeMethods
from .ops.join import JoinMethods
from .ops.layouts import LayoutsMethods
from .ops.like import LikeMethods
from .ops.masks import MaskMethods
from .ops.matrix import MatrixMethods
from .ops.memory import MemoryMethods
from .ops.norm import NormMethods
from .ops.part import PartMethods
from .ops.places import PlacesMethods
from .ops.pointwise import PointwiseMethods
from .ops.power import PowerMethods
from .ops.products import ProductsMethods
from .ops.random import RandomMethods
from .ops.rearrange import RearrangeMethods
from .ops.reduce import ReduceMethods
from .ops.rounding import RoundingMethods
from .ops.scatter import ScatterMethods
from .ops.shape import ShapeMethods
from .ops.slices import SlicesMethods
from .ops.softmax import SoftmaxMethods
from .ops.sort import SortMethods
from .ops.special import SpecialMethods
from .ops.spectra import SpectraMethods
from .ops.statistics import StatisticsMethods
from .ops.trigonometric import TrigonometricMethods
from .printing import PrintingMethods
from .size import Size
from .utils.hooks import RemovableHandle

# NumPy compares its scalars as arrays without axes.
_ORDER = (np.less, np.less_equal, np.greater, np.greater_equal)
_SCALARS = (np.bool_, np.integer, np.floating, np.complexfloating)
_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "b": bool,
    "i": int,
    "u": int,
    "f": float,
    "c": complex,
}

# What `scalar + tensor` and its like arrive as, from a NumPy scalar.
_OPERATORS: dict[Any, Callable[[Any, Any], Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
}

_size = tuple.__new__  # which, unlike `Size`, does not look at the entries


def _is_0d(x: Any) -> bool:
    return x.__class__ is np.ndarray and not x.shape and x.dtype.kind in _NUMBERS


class Tensor(
    ActivationMethods,
    BesselMethods,
    CompareMethods,
    ComplexMethods,
    ConvertMethods,
    CopiesMethods,
    CreateMethods,
    CumulativeMethods,
    ExponentialMethods,
    GammaMethods,
    IndexMethods,
    MaskMethods,
    InterchangeMethods,
    JoinMethods,
    LayoutsMethods,
    LikeMethods,
    LinalgMethods,
    MatrixMethods,
    NormMethods,
    MemoryMethods,
    PartMethods,
    PlacesMethods,
    BlendMethods,
    PointwiseMethods,
    PrintingMethods,
    PowerMethods,
    ProductsMethods,
    RandomMethods,
    RearrangeMethods,
    ReduceMethods,
    RoundingMethods,
    ScatterMethods,
    ShapeMethods,
    SlicesMethods,
    SoftmaxMethods,
    SortMethods,
    SpectraMethods,
    SpecialMethods,
    StatisticsMethods,
    TrigonometricMethods,
    TensorBase,
):
    """A multi-dimensional array with a gradient.

    Make one with `compat.tensor`, `compat.zeros` and their like. Operations on tensors of which one
    has `requires_grad` build a graph; `backward()` walks it and adds to the leaves' `.grad`.

    >>> import compat as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ()
    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__torch_function__" in vars(cls):
            sites.warn(
                f"{cls.__name__}.__torch_function__ is not called here: what functions and operators "
                f"make of such tensors are plain ones"
            )

    # ------------------------------------------------------------ autograd

    @property
    def requires_grad(self) -> bool:
        return views.edge(self) is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Say whether gradients by this tensor are wanted; it must be a leaf.

        Raises: RuntimeError: it is not a leaf, not of a floating or complex dtype, or an inference
        tensor.
        """
        if not isinstance(requires_grad, bool):
            raise TypeError(
                f"requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        if not self.is_leaf:
            if requires_grad:
                return self
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                f"var_no_grad = var.detach().{views.made_at(self)}"
            )
        if not requires_grad:
            self._node = None
            return self
        if self._node is not None:
            return self
        if self._array.dtype.kind not in "fcV":
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients; found "
                f"{self.dtype}. Convert it first, for example with x.float().{views.made_at(self)}"
            )
        if self._counter is UNCOUNTED and not modes.get().inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                f"allowed.{views.made_at(self)}"
            )
        leaf = self.__dict__.get("_leaf")
        if leaf is None:
            leaf = self._leaf = AccumulateGrad(self)
        self._node = leaf
        return self

    @property
    def is_leaf(self) -> bool:
        node = views.edge(self)
        return node is None or node.__class__ is AccumulateGrad

    @property
    def grad_fn(self) -> Any:
        node = views.edge(self)
        if node is None or node.__class__ is AccumulateGrad:
            return None
        return node.node if node.__class__ is Port else node

    @property
    def output_nr(self) -> int:
        node = views.edge(self)
        return node.number if node.__class__ is Port else 0

    @property
    def grad(self) -> Tensor | Any:
        found = self._grad
        if found is None and not self._retains and not self.is_leaf:
            sites.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
                ".grad attribute won't be populated during autograd.backward(). If you indeed want "
                "the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
                "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you "
                f"access the leaf Tensor instead.{views.made_at(self)}"
            )
        return found

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            if not isinstance(value, TensorBase):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type "
                    f"{type(value).__name__}"
                )
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            if value._array.dtype != self._array.dtype:
                raise RuntimeError(
                    f"attempting to assign a gradient with dtype '{value.dtype}' to a tensor with "  # type: ignore[attr-defined]
                    f"dtype '{self.dtype}'. The gradient must match the tensor's dtype."
                )
            if value._array.shape != self._array.shape:
                raise RuntimeError(
                    f"attempting to assign a gradient of size '{list(value._array.shape)}' to a "
                    f"tensor of size '{list(self._array.shape)}'. Please ensure that the gradient "
                    "and the tensor are the same size"
                )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def retains_grad(self) -> bool:
        return self._retains

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in `.grad`.

        Raises: RuntimeError: it does not require grad.
        """
        node = views.edge(self)
        if node is None:
            raise RuntimeError(
                f"can't retain_grad on Tensor that has requires_grad=False.{views.made_at(self)}"
            )
        if node.__class__ is AccumulateGrad or self._retains:
            return
        self._retains = True
        extras(node).retaining.append(autograd.weak(self))

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad)`` whenever the gradient by this tensor is known; it may replace it.

        Raises: RuntimeError: it does not require grad.
        """
        node = views.edge(self)
        if node is None:
            raise RuntimeError(
                "cannot register a hook on a tensor that doesn't require gradient."
                f"{views.made_at(self)}"
            )
        return RemovableHandle.added(extras(node).tensor_hooks, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(self)`` after a gradient was added to `.grad`; for leaves only."""
        node = views.edge(self)
        if node is None:
            raise RuntimeError(
                "cannot register a hook on a tensor that doesn't require gradient."
                f"{views.made_at(self)}"
            )
        if node.__class__ is not AccumulateGrad:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors."
                f"{views.made_at(self)}"
            )
        return RemovableHandle.added(extras(node).post_accumulate, hook)

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this tensor to the `.grad` of the leaves; see `autograd.backward`."""
        autograd.backward(self, gradient, retain_graph, create_graph, inputs)

    def detach(self) -> Tensor:
        """The same numbers in the same memory, cut off from the graph."""
        out = twins.detached(self, modes.get().level)
        out._origin = sites.site()
        return out

    def detach_(self) -> Tensor:
        """Cut this tensor off from the graph.

        Raises: RuntimeError: it is a view.
        """
        if self._view is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
                "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
                "these gradients. To fix this error, please refer to the "
                "Optimizer.zero_grad() function in torch/optim/optimizer.py as a solution."
            )
        self._node = None
        level = modes.get().level
        if level is not None and isinstance(self._array, Tracer):
            twins.detach(self, level)
        return self

    @property
    def data(self) -> Tensor:
        """The tensor detached; writing into its elements counts as writing into them here."""
        out = self.detach()
        out.__dict__[views.IS_DATA] = True
        return out

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.requires_grad and not value.dtype.is_floating_point and not value.is_complex():
            raise RuntimeError(f".data of a tensor that requires gradients: got {value.dtype}")
        if value._array is self._array:
            return  # as `Module.to` does where there is nothing to convert: no number is another one
        self._array = value._array
        self._memory = views.memory_of(value)
        views.touch(self, "an assignment to .data")
        leaf = self.__dict__.get("_leaf")
        if leaf is not None:
            leaf.array = self._array

    @property
    def _version(self) -> int:
        if self._counter is UNCOUNTED:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._counter[0]

    @property
    def _base(self) -> Any:
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode."""
        return self._counter is UNCOUNTED

    # ------------------------------------------------------------ type

    @property
    def shape(self) -> Size:
        return _size(Size, self._array.shape)

    @overload
    def size(self, dim: None = None, *, axis: None = None) -> Size: ...
    @overload
    def size(self, dim: int, *, axis: None = None) -> int: ...
    @overload
    def size(self, *, axis: int) -> int: ...
    def size(self, dim: int | None = None, *, axis: int | None = None) -> Any:
        """The shape, or its entry `dim`; NumPy's name of it is taken here, since it is asked often."""
        shape = self._array.shape
        if axis is not None:
            if dim is not None:
                raise TypeError("size(): got both 'dim' and 'axis'; give one of them")
            dim = axis
        return _size(Size, shape) if dim is None else shape[dim]

    @property
    def dtype(self) -> dtypes.dtype:
        return dtypes.of(self._array.dtype)

    @property
    def ndim(self) -> int:
        return len(self._array.shape)

    def dim(self) -> int:
        return len(self._array.shape)

    ndimension = dim

    def numel(self) -> int:
        return self.shape.numel()

    nelement = numel

    @property
    def itemsize(self) -> int:
        return self._array.dtype.itemsize

    def element_size(self) -> int:
        return self._array.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.numel() * self.itemsize

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    # ------------------------------------------------------------ Python

    def item(self) -> Any:
        """The one number in the tensor, as a Python number.

        Raises: RuntimeError: there are several.
        """
        if self.numel() != 1:
            raise RuntimeError(
                f"a Tensor with {self.numel()} elements cannot be converted to Scalar"
            )
        return self._values("calling .item() on a Tensor").item()

    def tolist(self) -> Any:
        """The numbers as nested lists, or one number."""
        return self._values("calling .tolist() on a Tensor").tolist()

    def _values(self, doing: str) -> Any:
        """The array of numbers, also while a transform traces it.

        Raises: RuntimeError: it stands for many, under `vmap`, or for none.
        """
        found = known(self._array)
        if found is None:
            raise RuntimeError(
                f"vmap: It looks like you're {doing}. We don't support that: inside, it stands for "
                f"all examples at once. Please try to rewrite what you're doing with other "
                f"operations, such as torch.where, or return the tensor and do it outside{where()}"
            )
        return found

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The NumPy array that shares the tensor's memory.

        Raises: RuntimeError: the tensor requires grad, or is differentiated by a transform (unless
        `force`, or under `no_grad`).
        """
        cuts = self.requires_grad or is_differentiated(self._array)
        if cuts and not force and modes.get().records:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                f"instead.{views.made_at(self)}"
            )
        if isinstance(self._array, Tracer):
            return self._values("calling .numpy() on a Tensor")
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        return np.array(array, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        # NumPy's scalars count as Python's numbers, as in PyTorch: they do not widen a result.
        first = inputs[0]
        if isinstance(first, _SCALARS) or (ufunc in _ORDER and _is_0d(first)):
            f = _OPERATORS.get(ufunc)
            if f is not None and method == "__call__" and not kwargs:
                return f(_NUMBERS[first.dtype.kind](first), inputs[1])
        inputs = tuple(x.item() if isinstance(x, np.generic) else x for x in inputs)
        return unwrapped(call_ufunc(ufunc, method, wrapped(inputs), wrapped(kwargs)))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        found = [x for x in tree.flatten((args, kwargs))[0] if isinstance(x, TensorBase)]
        if found and all(map(views.is_constant, found)):  # which become arrays, as in PyTorch
            with contextlib.suppress(TypeError):  # methods of ours have not all of NumPy's keywords
                return func._implementation(*args, **kwargs)
        return unwrapped(call_function(func, wrapped(args), wrapped(kwargs)))

    @classmethod
    def __process_primitive__(cls, prim: Any, args: Any, params: dict[str, Any]) -> Any:
        return tape.record(prim, args, params)

    __traced__ = property(
        operator.attrgetter("_array")
    )  # for a transform whose function returns it

    def __len__(self) -> int:
        if not self._array.shape:
            raise TypeError("len() of a 0-d tensor")
        return self._array.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError(
                "Boolean value of Tensor with "
                + ("more than one value" if self.numel() else "no values")
                + " is ambiguous"
            )
        return bool(self._values("attempting to use a Tensor in some data-dependent control flow"))

    def _number(self) -> Any:
        if self.numel() != 1:
            raise ValueError(
                f"only one element tensors can be converted to Python scalars, but this one has "
                f"{self.numel()}"
            )
        return self.item()

    def _real_number(self, type_name: str) -> Any:
        found = self._number()
        if isinstance(found, complex):
            if found.imag:
                raise RuntimeError(
                    f"value cannot be converted to type {type_name} without overflow: it has an "
                    f"imaginary part"
                )
            return found.real
        return found

    def __float__(self) -> float:
        return float(self._real_number("double"))

    def __int__(self) -> int:
        return int(self._real_number("int64_t"))

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        if self.dtype.category > 1 or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())


made.set(Tensor)
printed.bind(Tensor)
