"""What users' functions see in place of an array while they are traced.

Layer 3¾. `TracedArray` has ndarray's operators and methods, each one a call of `funcgrad.numpy`, and
can be written into (NOTE [Mutation] in `views.py`). NumPy's own functions reach it through the
protocols in `protocols.py`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import numpy as fnp
from .algebra import conform_tangent
from .array_methods import ArrayMethods
from .core import Array, Tracer, aval_of, current, require_live
from .errors import (
    ArgumentError,
    ConcretizationError,
    HandoverError,
    MutationError,
    OperandError,
    sparse_matrix_asks,
    where,
)
from .indexing import basic_link, known, read, write
from .ops.index import getitem, view_update
from .ops.sparse import is_sparse
from .ops.structural import broadcast_to
from .protocols import call_function, call_ufunc, conversion
from .views import Part, View, donated, snapshot, version_of


def _operator(function: Any, reflected: str) -> Callable[[Any, Any], Any]:
    """An operator, which leaves operands of other types that know what to do to them."""

    def operator(self: Any, other: Any) -> Any:
        try:
            return function(self, other)
        except ArgumentError:
            if isinstance(other, Array) or not hasattr(other, reflected):
                raise
            return NotImplemented

    return operator


def _raised(x: Any, y: Any) -> Any:
    """``x ** y``: NumPy's operator squares, which gives small integers for booleans."""
    squared = y.__class__ is int and y == 2 and aval_of(x).dtype.kind == "b"
    return fnp.square(x) if squared else fnp.power(x, y)


def _is_nothing(x: Any) -> bool:
    """Whether NumPy's wrappers ask whether an option was given by comparing it with `x`."""
    return x is None or x is np._NoValue


class TracedArray(ArrayMethods):
    """Operators, methods and protocols of a traced value."""

    __slots__ = ()
    __array_priority__ = 1000
    __pandas_priority__ = 5000  # above that of tables, which leave their operators to us then

    def __hash__(self) -> int:
        raise _handover(
            self,
            "hash(x), as in x in {0, 1}, cache[x] or a function under functools.cache,",
            "x == 0 or a tuple for a set, and remember results by plain numbers",
        )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d traced array")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    # ------------------------------------------------------------ operators

    __add__ = _operator(fnp.add, "__radd__")

    def __radd__(self, other: Any) -> Any:
        return fnp.add(other, self)

    __sub__ = _operator(fnp.subtract, "__rsub__")

    def __rsub__(self, other: Any) -> Any:
        return fnp.subtract(other, self)

    __mul__ = _operator(fnp.multiply, "__rmul__")

    def __rmul__(self, other: Any) -> Any:
        try:
            return fnp.multiply(other, self)
        except OperandError:
            if not is_sparse(other):
                raise
            return fnp.matmul(other, self)  # SciPy's older class, whose `*` is that of matrices

    __truediv__ = _operator(fnp.divide, "__rtruediv__")

    def __rtruediv__(self, other: Any) -> Any:
        return fnp.divide(other, self)

    __floordiv__ = _operator(fnp.floor_divide, "__rfloordiv__")

    def __rfloordiv__(self, other: Any) -> Any:
        return fnp.floor_divide(other, self)

    __mod__ = _operator(fnp.remainder, "__rmod__")

    def __rmod__(self, other: Any) -> Any:
        return fnp.remainder(other, self)

    def __divmod__(self, other: Any) -> Any:
        return fnp.floor_divide(self, other), fnp.remainder(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return fnp.floor_divide(other, self), fnp.remainder(other, self)

    __pow__ = _operator(_raised, "__rpow__")

    def __rpow__(self, other: Any) -> Any:
        return fnp.power(other, self)

    __matmul__ = _operator(fnp.matmul, "__rmatmul__")

    def __rmatmul__(self, other: Any) -> Any:
        return fnp.matmul(other, self)

    __and__ = _operator(fnp.bitwise_and, "__rand__")

    def __rand__(self, other: Any) -> Any:
        return fnp.bitwise_and(other, self)

    __or__ = _operator(fnp.bitwise_or, "__ror__")

    def __ror__(self, other: Any) -> Any:
        return fnp.bitwise_or(other, self)

    __xor__ = _operator(fnp.bitwise_xor, "__rxor__")

    def __rxor__(self, other: Any) -> Any:
        return fnp.bitwise_xor(other, self)

    __lshift__ = _operator(fnp.left_shift, "__rlshift__")

    def __rlshift__(self, other: Any) -> Any:
        return fnp.left_shift(other, self)

    __rshift__ = _operator(fnp.right_shift, "__rrshift__")

    def __rrshift__(self, other: Any) -> Any:
        return fnp.right_shift(other, self)

    def __neg__(self) -> Any:
        return fnp.negative(self)

    def __pos__(self) -> Any:
        return fnp.positive(self)

    def __abs__(self) -> Any:
        return fnp.absolute(self)

    def __invert__(self) -> Any:
        return fnp.invert(self)

    def __eq__(self, other: Any) -> Any:
        return np.zeros(self.shape, bool) if _is_nothing(other) else fnp.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return np.ones(self.shape, bool) if _is_nothing(other) else fnp.not_equal(self, other)

    def __lt__(self, other: Any) -> Any:
        return fnp.less(self, other)

    def __le__(self, other: Any) -> Any:
        return fnp.less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return fnp.greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return fnp.greater_equal(self, other)

    def __round__(self, ndigits: int = 0) -> Any:
        return fnp.round(self, ndigits)

    # ------------------------------------------------------------ reading and writing

    def __getitem__(self, index: Any) -> Any:
        out = read(self, index)
        if isinstance(out, Tracer):
            if not aval_of(out).shape and not _has_ellipsis(index):
                out.alias = None  # NumPy gives a number, which later writes do not change
            elif out.alias is None and _would_be_a_view(index):
                now = _kept(index)
                take, put = (lambda x: read(x, now)), (lambda x, new: write(x, now, new))
                out.alias = Part(self, _entries(index), take, put)
        return out

    def __setitem__(self, index: Any, value: Any) -> None:
        if _is_own_view(self, index, value):
            return  # ``z[i] += y`` has written through the view already
        token = donated.set(self)
        try:
            new = write(self, index, value)
        finally:
            donated.reset(token)
        store(self, new)

    def __contains__(self, value: Any) -> bool:
        return bool(fnp.any(fnp.equal(self, value)))

    def __iadd__(self, other: Any) -> Any:
        return update(self, fnp.add(self, other))

    def __isub__(self, other: Any) -> Any:
        return update(self, fnp.subtract(self, other))

    def __imul__(self, other: Any) -> Any:
        return update(self, fnp.multiply(self, other))

    def __itruediv__(self, other: Any) -> Any:
        return update(self, fnp.divide(self, other))

    def __ifloordiv__(self, other: Any) -> Any:
        return update(self, fnp.floor_divide(self, other))

    def __imod__(self, other: Any) -> Any:
        return update(self, fnp.remainder(self, other))

    def __ipow__(self, other: Any) -> Any:
        return update(self, _raised(self, other))

    def __imatmul__(self, other: Any) -> Any:
        return update(self, fnp.matmul(self, other))

    def __iand__(self, other: Any) -> Any:
        return update(self, fnp.bitwise_and(self, other))

    def __ior__(self, other: Any) -> Any:
        return update(self, fnp.bitwise_or(self, other))

    def __ixor__(self, other: Any) -> Any:
        return update(self, fnp.bitwise_xor(self, other))

    def __ilshift__(self, other: Any) -> Any:
        return update(self, fnp.left_shift(self, other))

    def __irshift__(self, other: Any) -> Any:
        return update(self, fnp.right_shift(self, other))

    # ------------------------------------------------------------ numbers and containers

    def _number(self, kind: str) -> Any:
        """The value for Python's control flow, down to the array behind every trace."""
        require_live(kind, self)
        x = known(self)
        if x is None:
            raise ConcretizationError(
                f"{kind} of a traced value {self.described()}, which has no number here: under vmap "
                f"it stands for every example, under jit and make_jaxpr for every array of its type. "
                f"Use fnp.where or funcgrad.lax.cond, or keep what decides the branch out of the "
                f"traced arguments (jit: static_argnums){where()}"
            )
        return x

    def __bool__(self) -> bool:
        return bool(self._number("bool()"))

    def __index__(self) -> int:
        if self.dtype.kind not in "iub":
            raise _handover(
                self, "x as an index", "int(x), or keep the integer out of the traced values"
            )
        return int(self._number("int()"))

    def _whole(self, how: Callable[[Any], int], kind: str) -> int:
        """What `how` makes of the number. Steps have slope 0, so nothing is cut, as in np.floor."""
        if self.dtype.kind == "c":
            raise _handover(self, kind, "x.real")
        return how(self._number(kind))

    def __int__(self) -> int:
        return self._whole(int, "int()")

    def __trunc__(self) -> int:
        return self._whole(math.trunc, "math.trunc()")

    def __floor__(self) -> int:
        return self._whole(math.floor, "math.floor()")

    def __ceil__(self) -> int:
        return self._whole(math.ceil, "math.ceil()")

    def __float__(self) -> float:
        if self.dtype.kind in "iub":
            return float(self._number("float()"))
        raise _handover(
            self,
            "float(x), as in math.sin(x) or z[0] = x for a plain array z,",
            "x itself, fnp.sin for math.sin, fnp.zeros(n) for an np.zeros(n) that is written into, "
            "funcgrad.scipy or a custom_rule for a function of SciPy's",
        )

    def __complex__(self) -> complex:
        if self.dtype.kind in "iub":
            return complex(self._number("complex()"))
        raise _handover(self, "complex(x)", "x itself, and fnp.exp for cmath.exp")

    def item(self, *args: int) -> Any:
        """The integer; of a floating value raises, since a Python number would cut the derivative."""
        if self.dtype.kind in "iub":
            return self._number("x.item()").item(*args)
        raise _handover(self, "x.item()", "x itself, or x[i]")

    def tolist(self) -> Any:
        """Lists of integers; of floating values raises, since Python numbers cut the derivative."""
        if self.dtype.kind in "iub":
            return self._number("x.tolist()").tolist()
        raise _handover(self, "x.tolist()", "list(x)")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        require_live("np.array(x)", self)
        if sparse_matrix_asks():
            return np.array(None, dtype=object)  # then SciPy leaves the product to `__rmatmul__`
        if self.dtype.kind in "iub":
            raise HandoverError(
                f"np.array(i), or plain[i] for a plain array, of the traced value "
                f"{self.described()}, which NumPy would have to know; write fnp.take(plain, i, axis=0) "
                f"or fnp.array(plain)[i], and fnp.array([...]) for np.array([...]){where()}"
            )
        raise _handover(self, *conversion())

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise _handover(
            self,
            "pickling x, as multiprocessing, joblib and shelve do to hand it over,",
            "threads, or give processes plain numbers and differentiate there",
        )

    def __format__(self, spec: str) -> str:
        return format(self._number("format()"), spec) if spec else repr(self)

    def __repr__(self) -> str:
        value = None if self.known is None else known(self)
        if value is None:
            return self.described()
        return f"{type(self).__name__}({self.aval}, value={_short(value)})"

    # ------------------------------------------------------------ protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call_function(func, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return fnp


def _short(value: Any) -> str:
    """An array on one line, with dots in place of most of a large one.

    >>> _short(np.arange(100.0).reshape(10, 10))
    '[[ 0. 1. ... 8. 9.] [10. 11. ... 18. 19.] ... [80. 81. ... 88. 89.] [90. 91. ... 98. 99.]]'
    """
    if isinstance(value, np.ndarray):
        value = np.array2string(value, threshold=8, edgeitems=2)
    return " ".join(str(value).split())


def _handover(x: TracedArray, what: str, instead: str) -> HandoverError:
    require_live(what, x)
    return HandoverError(
        f"{what} would cut the derivative of the traced value {x.described()}; use {instead}{where()}"
    )


def _is_own_view(target: TracedArray, index: Any, value: Any) -> bool:
    """Whether `value` is the view ``target[index]``, so that it has been written through."""
    if not isinstance(value, Tracer):
        return False
    if value.alias.__class__ is Part:
        mine, given = value.alias.index, _entries(index)
        is_same = len(mine) == len(given) and all(map(operator.is_, mine, given))
        return is_same and value.alias.whole is target
    if value.alias.__class__ is not View:
        return False
    normal = basic_link(index, target.shape)
    if normal is None:
        return False
    link = (getitem, (("index", normal),))
    own = target.alias
    base, chain = (own.base, own.chain) if own.__class__ is View else (target, ())
    view = value.alias
    return view.base is base and view.chain == (*chain, link)


def _has_ellipsis(index: Any) -> bool:
    """Whether NumPy gives a 0-d array, a view, for a single element: for ``x[..., i]``."""
    return index is ... or (isinstance(index, tuple) and any(i is ... for i in index))


def _entries(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _kept(index: Any) -> tuple[Any, ...]:
    """The entries of an index as they are now."""
    return tuple(snapshot(i, copy=True) if isinstance(i, Tracer) else i for i in _entries(index))


def _would_be_a_view(index: Any) -> bool:
    """Whether the index has integers that are known only as types, and is basic otherwise."""
    entries = _entries(index)
    traced = [i for i in entries if isinstance(i, Tracer)]
    return bool(traced) and all(
        not aval_of(i).shape and aval_of(i).dtype.kind != "b"
        if isinstance(i, Tracer)
        else not isinstance(i, list | np.ndarray)
        for i in entries
    )


def update(target: TracedArray, new: Any) -> Any:
    """``target op= ...`` as NumPy has it: in place for an array, a new value for a number.

    What has no axes counts as a number, unless it is a view of an array that has.
    """
    shape = target.shape
    if not shape:
        view = target.alias
        if view.__class__ is not View or not view.base.aval.shape:
            return new
    found = aval_of(new)
    if found.shape != shape:
        raise MutationError(
            f"in-place operation: the result has shape {list(found.shape)}, the array written into "
            f"{list(shape)}{where()}"
        )
    if not np.can_cast(found.dtype, target.dtype, "same_kind"):
        raise MutationError(
            f"in-place operation: the result is {found}, which does not fit into an array of dtype "
            f"{target.dtype.name}; write z = z + x instead of z += x{where()}"
        )
    store(target, conform_tangent(new, target))
    return target


def store(target: Tracer, new: Any) -> None:
    """Replace the contents of `target` by `new`, which has its shape and dtype."""
    view = target.alias
    base = view.base if view.__class__ is View else target
    if view.__class__ is not View:
        _store_base(target, new)
        return
    if any(link.prim is broadcast_to for link in view.chain):
        raise MutationError(
            f"a write into what broadcast_to, broadcast_arrays or meshgrid(copy=False) gave, which is "
            f"only to be read; write into a copy{where()}"
        )
    _store_base(base, view_update(base, new, chain=view.chain))
    view.seen -= 1  # the view is taken again from the base when it is next looked at


def _store_base(target: Tracer, new: Any) -> None:
    if not isinstance(new, Tracer):
        new = target.owner.lift(new)
    elif new.owner is not target.owner:
        raise MutationError(
            f"a value that an inner transform traces, {new.described()}, is written into an array "
            f"of values from outside, {target.described()}; fill an array that fnp.zeros(...) made "
            f"inside, or return the value{where()}"
        )
    trace = current.get()
    while trace is not target.owner and trace is not trace.parent:
        if trace.repeats:
            raise MutationError(
                f"the body of a loop or branch writes into an array of values from outside, "
                f"{target.described()}, which a program would do once, however often the body runs; "
                f"fill an array that fnp.zeros(...) made inside, or return the value{where()}"
            )
        trace = trace.parent
    target.assign(new)
    part = target.alias
    if part is not None:
        part.version += 1
    if part.__class__ is Part:
        store(part.whole, part.put(part.whole, target))
        part.seen = version_of(part.whole)
