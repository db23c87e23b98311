"""`Tensor`: NumPy's array with MyGrad's gradient, views and writes; and what makes one."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from ..autograd.base import tensor as _compat_tensor
from . import _passes
from ._arrays import FLATTEN, GETITEM, SETITEM, plain_index
from ._arrays import NAMES as _ARRAYS
from ._function import OVERRIDES
from ._graph import TensorCore, apply, array_of, husk, made, null, resolved
from ._math import NAMES as _MATH
from ._memory import state
from ._writing import reshape_in_place, write
from .operation_base import Operation, apply_operation

__all__ = ["Tensor", "asarray", "astensor", "implements_numpy_override", "tensor"]

_F = TypeVar("_F", bound=Callable[..., Any])
ndarray = np.ndarray

# NumPy's functions whose results are no tensors. Of the second kind are those that look as if they
# had a derivative, so they take constants only.
QUESTIONS = [
    "isnan",
    "isfinite",
    "isinf",
    "isnat",
    "signbit",
    "logical_not",
    "logical_and",
    "logical_or",
    "logical_xor",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "equal",
    "not_equal",
]
STEPPED = [
    "floor_divide",
    "remainder",
    "mod",
    "fmod",
    "divmod",
    "rint",
    "sign",
    "floor",
    "ceil",
    "trunc",
]
OTHERS = [
    "allclose",
    "bincount",
    "can_cast",
    "copyto",
    "isclose",
    "may_share_memory",
    "min_scalar_type",
    "result_type",
    "shares_memory",
    "shape",
    "argmax",
    "argmin",
    "any",
]

_QUESTIONS = {getattr(np, name) for name in QUESTIONS}
_STEPPED = {getattr(np, name) for name in STEPPED}
_OTHERS = {getattr(np, name) for name in OTHERS}


def _of_arrays(x: Any) -> Any:
    """Tensors as arrays, also inside tuples and lists."""
    if isinstance(x, TensorCore):
        return x._t._array
    return type(x)(map(_of_arrays, x)) if x.__class__ in (tuple, list) else x


def _require_constant(f: Any, x: Any) -> Any:
    if isinstance(x, TensorCore) and not x._constant:
        raise ValueError(
            f"{f.__name__}: it has no derivative, and was given a tensor that is no constant; use "
            "x.data, or a constant, if none is wanted"
        )
    return array_of(x) if isinstance(x, TensorCore) else x


def _binary(f: Any, is_mirrored: bool = False) -> Callable[[Any, Any], Any]:
    if is_mirrored:
        return lambda self, other: apply(f, (other, self))
    return lambda self, other: apply(f, (self, other))


def _in_place(f: Any) -> Callable[[Any, Any], Any]:
    return lambda self, other: write(self, f, (self, other))


def _comparison(f: Any) -> Callable[[Any, Any], Any]:
    def compare(self: Any, other: Any) -> Any:
        return f(self._t._array, array_of(other))

    return compare


_add, _subtract, _multiply = (_MATH[name] for name in ("add", "subtract", "multiply"))
_divide, _power, _matmul = (_MATH[name] for name in ("true_divide", "power", "matmul"))
_positive, _square = _MATH["positive"], _MATH["square"]


class Tensor(TensorCore):
    """A NumPy array that remembers how it was made, so that `backward` gives gradients by it.

    Floating numbers have a gradient unless `constant` says otherwise; integers and booleans have none.

    >>> import compat.mygrad as mg
    >>> x = mg.tensor([1.0, 2.0, 3.0])
    >>> y = (x**2).sum()
    >>> y.backward()
    >>> x.grad
    array([2., 4., 6.])
    >>> x[:2] = 0.0
    >>> x
    Tensor([0., 0., 3.])
    """

    __slots__ = ()
    __array_priority__ = 15.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        x: Any,
        *,
        dtype: Any = None,
        constant: bool | None = None,
        copy: bool = True,
        ndmin: int = 0,
    ) -> None:
        if constant is not None and not isinstance(constant, bool):
            raise TypeError(f"constant={constant!r}: need True, False or None")
        if isinstance(x, TensorCore):
            x = x._t._array
        elif x.__class__ in (list, tuple):
            x = _of_arrays(x)
        data = np.array(x, dtype, copy=True if copy else None, ndmin=operator.index(ndmin))
        self._t = _compat_tensor(data)
        self._constant = resolved(constant, data, False)
        self._creator = self._base = self._views = self._view_grad = self._operations = None
        self._chain = ()

    # ------------------------------------------------------------ the graph

    @property
    def data(self) -> ndarray:
        """The array behind the tensor; what is written into it is not differentiated."""
        return self._t._array

    @data.setter
    def data(self, value: Any) -> None:
        array = array_of(value)
        if array is not self._t._array:
            constant = resolved(True if self._constant else None, array, False)
            grad = self._t._grad
            self.clear_graph()
            self._t, self._constant = _compat_tensor(array), constant
            if grad is not None and grad._array.shape == array.shape:
                self._t._grad = grad

    @property
    def grad(self) -> ndarray | None:
        """The gradient of what `backward` was called on by this tensor; None if there is none.

        That of a view is a view of its base's.
        """
        return _passes.gradient(self)

    @property
    def constant(self) -> bool:
        """Whether no gradient goes to or through this tensor."""
        return self._constant

    @property
    def creator(self) -> Any:
        """The operation that made the tensor; None if there is none, or its graph was cleared."""
        return self._creator

    @property
    def base(self) -> Tensor | None:
        """The tensor whose memory this one shows; None if it has its own."""
        return self._base  # type: ignore[return-value]

    def backward(self, grad: Any = None) -> None:
        """Give all tensors that this one depends on their gradients, and clear the graph.

        Of several elements the sum is meant; `grad` is the gradient by this tensor, in place of ones.

        Raises: InvalidBackprop: part of the graph was cleared. ValueError: `grad` does not fit.

        >>> import compat.mygrad as mg
        >>> x = mg.tensor([1.0, 2.0])
        >>> (3.0 * x).backward([1.0, 10.0])
        >>> x.grad
        array([ 3., 30.])
        """
        if not state.tracks:
            return
        if self._constant:
            self.clear_graph()
            return
        like = self._t._array
        seed = np.ones_like(like)
        if grad is not None:
            given = np.asarray(array_of(grad), like.dtype)
            try:
                fits = np.broadcast_shapes(given.shape, like.shape) == like.shape
            except ValueError:
                fits = False
            if not fits:
                raise ValueError(
                    f"backward: grad has the shape {given.shape}, which does not broadcast to that of "
                    f"the tensor, {like.shape}"
                )
            seed[...] = given
        _passes.backward(self, seed)

    def clear_graph(self) -> None:
        """Take this tensor, and those it was made of, out of their graph, without gradients."""
        _passes.clear(self)

    def null_grad(self) -> Tensor:
        """Take the gradient away, and return the tensor."""
        null(self)
        return self

    def null_gradients(self, clear_graph: bool = True) -> None:
        """Nothing but a warning: gradients go by themselves when a tensor is used again."""
        warnings.warn(
            "`tensor.null_gradients()` is deprecated: gradients go when a tensor is used again, or by "
            "`tensor.null_grad()`",
            FutureWarning,
            stacklevel=2,
        )

    @classmethod
    def _op(
        cls,
        Op: type[Operation],
        *input_vars: Any,
        op_args: Any = None,
        op_kwargs: Any = None,
        constant: bool | None = None,
        out: Any = None,
    ) -> Any:
        """Run an operation with a derivative of its own; see `operation_base.Operation`."""
        return apply_operation(Op, input_vars, op_args or (), op_kwargs or {}, constant, out)

    # ------------------------------------------------------------ arrays

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> ndarray:
        return np.asarray(self._t._array, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        f = OVERRIDES.get(ufunc)
        if f is not None:
            called = f if method == "__call__" else getattr(f, method)
            return called(*inputs, **kwargs)
        if ufunc in _QUESTIONS:
            inputs = tuple(map(_of_arrays, inputs))
        elif ufunc in _STEPPED:
            inputs = tuple(_require_constant(ufunc, x) for x in inputs)
        else:
            return NotImplemented
        kwargs = {k: _of_arrays(v) for k, v in kwargs.items()}
        return getattr(ufunc, method)(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        f = OVERRIDES.get(func)
        if f is not None:
            return f(*args, **kwargs)
        if func in _OTHERS:
            return func(*_of_arrays(args), **{k: _of_arrays(v) for k, v in kwargs.items()})
        return NotImplemented

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes; others of the same product may be assigned."""
        return self._t._array.shape

    @shape.setter
    def shape(self, newshape: Any) -> None:
        array = self._t._array
        seen = array.reshape(newshape)
        if seen.size and not np.may_share_memory(seen, array):
            raise AttributeError(
                f"x.shape = {newshape}: the elements would have to move; use x.reshape for a copy"
            )
        if seen.shape != array.shape:
            reshape_in_place(self, _ARRAYS["reshape"], seen.shape)

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return self._t._array.ndim

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self._t._array.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._t._array.dtype

    def astype(
        self,
        dtype: Any,
        casting: Any = "unsafe",
        copy: bool = True,
        *,
        constant: bool | None = None,
    ) -> Tensor:
        """A new tensor of another dtype, in no graph."""
        array = self._t._array
        cast = array.astype(dtype, casting=casting, copy=copy)
        if cast is array and constant in (None, self._constant):
            return self
        return Tensor(cast, constant=constant, copy=False)

    def copy(self, *, constant: bool | None = None) -> Tensor:
        """A new tensor of the same numbers and gradient, in no graph."""
        out = Tensor(self._t._array, constant=self._constant if constant is None else constant)
        grad = self._t._grad
        if grad is not None:
            out._t._grad = _compat_tensor(grad._array.copy())
        return out

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self.copy()

    def __reduce__(self) -> Any:
        return _unpickled, (self._t._array, self._constant, self.grad)

    def item(self) -> Any:
        """The one number in the tensor, as a Python number."""
        if self._t._array.size > 1:
            raise ValueError(f"item: need one element, found {self._t._array.size}")
        return self._t._array.item()

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def _number(self) -> Any:
        if self._t._array.size > 1:
            raise TypeError(f"a tensor of {self._t._array.size} elements is no one number")
        return self._t._array.item()

    def __index__(self) -> int:
        return self._t._array.__index__()

    def __bool__(self) -> bool:
        return bool(self._t._array)

    def __len__(self) -> int:
        return len(self._t._array)

    def __contains__(self, item: Any) -> bool:
        return _of_arrays(item) in self._t._array

    def __iter__(self) -> Iterator[Tensor]:
        if not self._t._array.shape:
            raise TypeError("a tensor without axes has nothing to go through")
        return iter([self[i] for i in range(len(self))])

    def __repr__(self) -> str:
        return repr(self._t._array).replace("array", "Tensor").replace("\n", "\n ")

    def __getitem__(self, item: Any) -> Any:
        return apply(GETITEM, (self,), (plain_index(item),))

    def __setitem__(self, key: Any, value: Any) -> None:
        write(self, SETITEM, (self, value), (plain_index(key),))

    # ------------------------------------------------------------ operators

    __add__, __radd__, __iadd__ = _binary(_add), _binary(_add, True), _in_place(_add)
    __sub__, __rsub__ = _binary(_subtract), _binary(_subtract, True)
    __isub__, __imul__ = _in_place(_subtract), _in_place(_multiply)
    __mul__, __rmul__ = _binary(_multiply), _binary(_multiply, True)
    __truediv__, __rtruediv__ = _binary(_divide), _binary(_divide, True)
    __itruediv__ = _in_place(_divide)
    __matmul__, __rmatmul__ = _binary(_matmul), _binary(_matmul, True)
    __rpow__ = _binary(_power, True)

    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)
    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)

    def __pow__(self, other: Any) -> Any:
        f = _special_power(other)
        return apply(_power, (self, other)) if f is None else apply(f, (self,))

    def __ipow__(self, other: Any) -> Any:
        f = _special_power(other)
        return write(self, _power, (self, other)) if f is None else write(self, f, (self,))

    def __neg__(self) -> Any:
        return apply(_MATH["negative"], (self,))

    def __pos__(self) -> Any:
        return apply(_positive, (self,))

    def __floordiv__(self, other: Any) -> Any:
        return np.floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return np.floor_divide(other, self)

    def __imatmul__(self, other: Any) -> Any:
        raise TypeError("a @= b: products of matrices are not made in place; write a = a @ b")

    # ------------------------------------------------------------ functions as methods

    sum, mean, prod, max, min = (_MATH[n] for n in ("sum", "mean", "prod", "max", "min"))
    var, std, cumsum, cumprod = (_MATH[n] for n in ("var", "std", "cumsum", "cumprod"))
    squeeze, ravel, moveaxis = (_ARRAYS[n] for n in ("squeeze", "ravel", "moveaxis"))
    swapaxes, clip, flatten = _ARRAYS["swapaxes"], _ARRAYS["clip"], FLATTEN
    transpose = _ARRAYS["transpose"]

    def reshape(self, *newshape: Any, constant: bool | None = None) -> Any:
        """The same elements with axes of other lengths, a view where that can be."""
        if not newshape:
            raise TypeError("reshape: need a shape")
        if hasattr(newshape[0], "__iter__"):
            if len(newshape) > 1:
                raise TypeError("an integer is required")
            (newshape,) = newshape
        return _ARRAYS["reshape"](self, newshape, constant=constant)

    @property
    def T(self) -> Any:
        """The axes in the opposite order."""
        return apply(_ARRAYS["transpose"], (self,), (None,))

    def argmax(self, axis: int | None = None, out: Any = None) -> Any:
        """Where the largest elements are."""
        return np.argmax(self._t._array, axis, out)

    def argmin(self, axis: int | None = None, out: Any = None) -> Any:
        """Where the smallest elements are."""
        return np.argmin(self._t._array, axis, out)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Whether some element is not 0."""
        return np.any(self._t._array, axis=axis, out=out, keepdims=keepdims)


made.cls = Tensor


def _special_power(other: Any) -> Any:
    """What MyGrad calls in place of ``power`` for the exponents 1 and 2."""
    cls = other.__class__
    is_number = cls is float or cls is int or isinstance(other, int | float | np.number)
    if not is_number and not (cls is ndarray and other.ndim == 0):
        return None
    return _square if other == 2 else _positive if other == 1 else None


def _unpickled(array: ndarray, constant: bool, grad: ndarray | None) -> Tensor:
    out = husk(_compat_tensor(array), constant)
    if grad is not None:
        out._t._grad = _compat_tensor(grad)
    return out


# ---------------------------------------------------------------- making tensors


def asarray(a: Any, dtype: Any = None, order: Any = None) -> ndarray:
    """The array of a tensor, or of anything else that NumPy makes one of, without a copy if it can.

    >>> import compat.mygrad as mg
    >>> x = mg.tensor([1.0, 2.0])
    >>> mg.asarray(x) is x.data
    True
    """
    return np.asarray(_of_arrays(a), dtype=dtype, order=order)


def tensor(
    arr_like: Any,
    dtype: Any = None,
    *,
    constant: bool | None = None,
    copy: bool = True,
    ndmin: int = 0,
) -> Tensor:
    """A tensor of numbers; with ``copy=False`` a tensor that fits stays itself, graph and all.

    Raises: TypeError: the numbers are not real. ValueError: integers that are to be no constant.

    >>> import compat.mygrad as mg
    >>> mg.tensor([1, 2]).constant, mg.tensor([1.0, 2.0]).constant
    (True, False)
    """
    if (
        not copy
        and isinstance(arr_like, Tensor)
        and constant in (None, arr_like._constant)
        and (dtype is None or arr_like.dtype == np.dtype(dtype))
    ):
        missing = operator.index(ndmin) - arr_like.ndim
        return arr_like[(None,) * missing] if missing > 0 else arr_like
    return Tensor(arr_like, dtype=dtype, constant=constant, copy=copy, ndmin=ndmin)


def astensor(t: Any, dtype: Any = None, *, constant: bool | None = None) -> Tensor:
    """`t` itself if it is a tensor that fits, or a tensor of its numbers, which are not copied.

    >>> import numpy as np
    >>> import compat.mygrad as mg
    >>> a = np.ones(2)
    >>> mg.astensor(a).data is a
    True
    """
    return tensor(t, dtype, constant=constant, copy=False)


class implements_numpy_override:
    """A decorator: the function answers for NumPy's of its name, or for `numpy_func`, on tensors."""

    __slots__ = ("numpy_func",)

    def __init__(self, numpy_func: Any = None) -> None:
        self.numpy_func = numpy_func

    def __call__(self, wrapped_func: _F) -> _F:
        found = self.numpy_func or getattr(np, wrapped_func.__name__, None)
        if found is None:
            raise AttributeError(
                f"implements_numpy_override: there is no numpy.{wrapped_func.__name__}; give the "
                "function that it stands for"
            )
        OVERRIDES[found] = wrapped_func
        return wrapped_func
