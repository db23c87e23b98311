"""What NumPy's functions accept, brought into the normal form that primitives take.

Axes become non-negative, lists become arrays, and an option that is not supported says so.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..backend import NAMESPACES, register
from ..core import EVAL, Tracer, aval_of, current
from ..errors import ArgumentError, ConcretizationError, HandoverError, ShapeError, where
from ..indexing import known
from ..ops.cast import astype as cast_to
from ..ops.join import stack
from ..ops.select import where as _choose
from ..ops.structural import reshape
from ..views import as_array, snapshot

_get_current = current.get
_NUMBERS = (float, int, bool, complex)


# ---------------------------------------------------------------- operands


def operand(x: Any, xp: Any = np) -> Any:
    """`x` itself if it is an array, a number or traced; an array of `xp` if it is a list.

    Raises: ArgumentError: `x` holds no numbers.
    """
    cls = x.__class__
    if cls in NAMESPACES or isinstance(x, Tracer):
        return x
    return _made_of(x, xp)


def _made_of(x: Any, xp: Any) -> Any:
    cls = x.__class__
    try:
        register(cls)
        return x
    except KeyError:
        pass
    if hasattr(cls, "__process_primitive__"):
        return x
    if hasattr(cls, "__jax_array__"):  # what stands for an array, in JAX's way
        return operand(x.__jax_array__(), xp)
    if contains_foreign(x):
        return stacked(x)
    made = np.asarray(x)
    if made.dtype.kind not in "biufc":
        raise ArgumentError(
            f"expected an array, a number or a nested list of numbers, found {cls.__name__}{where()}"
        )
    return made if xp is np else xp.asarray(made)


def array_of(x: Any, xp: Any = np) -> Any:
    """Like `operand`, with a number of NumPy's, or a 0-d array, in place of a Python number."""
    x = operand(x, xp)
    if x.__class__ in _NUMBERS:
        x = xp.asarray(x)
        return x[()] if xp is np and x.dtype != object else x
    return xp.asarray(x) if xp is not np and isinstance(x, np.generic) else x


def operands(*xs: Any) -> tuple[Any, ...]:
    """`operand` of each; what has to be made is made on the device of the others."""
    xp = module_of(*xs)
    return tuple(operand(x, xp) for x in xs)


def arrays_of(*xs: Any) -> tuple[Any, ...]:
    """`array_of` each; what has to be made is made on the device of the others."""
    xp = module_of(*xs)
    return tuple(array_of(x, xp) for x in xs)


def preferred(dtype: Any, *xs: Any) -> Sequence[Any]:
    """The operands of a product whose result is to have the dtype, unless that is None."""
    found = arrays_of(*xs)
    return found if dtype is None else [converted(x, dtype) for x in found]


def module_of(*xs: Any) -> Any:
    """The array module of the first array among the arguments, also inside lists; else NumPy."""
    for x in xs:
        if isinstance(x, list | tuple):
            found = module_of(*x)
            if found is not np:
                return found
        elif is_array(x):
            return concrete_namespace(x)
    return np


def contains_foreign(x: Any) -> bool:
    """Whether NumPy cannot make an array of `x`: it has a traced value or a device's array in it."""
    cls = x.__class__
    if cls in _NUMBERS:
        return False
    if isinstance(x, list | tuple):
        return any(map(contains_foreign, x))
    if isinstance(x, Tracer) or hasattr(cls, "__process_primitive__"):
        return True
    if hasattr(cls, "__jax_array__"):
        return contains_foreign(x.__jax_array__())
    return _array_module(x) not in (np, None)


def stacked(xs: Any) -> Any:
    """The array whose rows are the entries of a nested list; an array is itself.

    Raises: ShapeError: the entries differ in shape.
    """
    if not isinstance(xs, list | tuple):
        return xs
    xp = module_of(*xs)
    rows = [stacked(x) if contains_foreign(x) else operand(x, xp) for x in xs]
    shapes = [aval_of(x).shape for x in rows]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ShapeError(
                f"a nested list makes no array: entry 0 has shape {list(shapes[0])}, entry {i} has "
                f"shape {list(shape)}{where()}"
            )
    if not rows:
        return np.zeros(0)
    return stack(rows, axis=0)


def is_array(x: Any) -> bool:
    """Whether `x` is an array or a traced value, not a number."""
    return isinstance(x, Tracer) or _array_module(x) is not None


def _array_module(x: Any) -> Any:
    """The module of a plain array; None for numbers, lists and everything else."""
    cls = x.__class__
    try:
        return NAMESPACES[cls]
    except KeyError:
        pass
    try:
        return register(cls)
    except KeyError:
        return None


# ---------------------------------------------------------------- results


def fresh(value: Any) -> Any:
    """A new array as the current transform wants it: under a trace it can be written into."""
    trace = _get_current()
    return value if trace is EVAL else as_array(trace.lift(value))


def copied(x: Any) -> Any:
    """An array of its own with the contents of `x`, into which the current transform can write."""
    if not isinstance(x, Tracer):
        return concrete_namespace(x).array(x)
    found = snapshot(x, copy=False)
    trace = _get_current()
    return found if trace is found.owner or not trace.is_inside(found.owner) else fresh(found)


def beside(x: Any, value: Any) -> Any:
    """The NumPy array `value` on the device of `x`."""
    return concrete_namespace(x).asarray(value)


def converted(x: Any, dtype: Any) -> Any:
    """`x` in the dtype, or as it is if that is None or its own."""
    if dtype is None:
        return x
    dtype = np.dtype(dtype)
    aval = aval_of(x)
    return x if aval.dtype == dtype and not aval.weak else cast_to(x, dtype)


def written(what: str, result: Any, out: Any, casting: str = "same_kind", mask: Any = True) -> Any:
    """`out`, with the result written into it where the mask holds; `what` asks for that.

    Raises: HandoverError: a traced result, a plain `out`. ShapeError: their shapes differ.
    ArgumentError: the dtype of the result is not cast to that of `out`.
    """
    traced = isinstance(out, Tracer)
    if not traced and (isinstance(result, Tracer) or isinstance(mask, Tracer)):
        raise HandoverError(
            f"{what} would store a traced value in a plain NumPy array; make the array with "
            f"fnp.zeros(...) instead of np.zeros(...), or write z = z + x instead of z += x{where()}"
        )
    found, wanted = aval_of(result), aval_of(out)
    if found.shape != wanted.shape:
        raise ShapeError(
            f"{what} has a result of shape {found.shape} for an out of {wanted.shape}{where()}"
        )
    if not np.can_cast(found.dtype, wanted.dtype, casting):  # type: ignore[arg-type]
        raise ArgumentError(
            f"{what} has a result of {found.dtype} for an out of {wanted.dtype}, to which it is not "
            f"cast by the rule {casting!r}{where()}"
        )
    out[...] = result if mask is True else _choose(mask, result, out)
    return out


def of_numpy(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a function or method of NumPy's, to which ``where=None`` means False.

    Raises: ArgumentError: it is given, by code for JAX, most likely.
    """
    if options.get("where", True) is None:
        raise ArgumentError(
            "where=None: NumPy takes None for False and leaves everything out; give True or a mask, "
            f"or call the function of funcgrad.numpy, which takes None for no mask{where()}"
        )
    return options


def takes_all(mask: Any) -> bool:
    """Whether a `where=` of functions leaves nothing out: True, or None as in JAX's functions."""
    return mask is True or mask is None


# ---------------------------------------------------------------- axes and shapes


def axis_of(name: str, axis: Any, ndim: int) -> int:
    """`axis` counted from the front.

    Raises: ShapeError: there is no such axis. ArgumentError: it is no integer. ConcretizationError: it
    is traced.
    """
    try:
        found = operator.index(axis)
    except TypeError:
        known_lengths(f"fnp.{name}: axis", axis)  # traced, it has its own error
        raise ArgumentError(
            f"fnp.{name}: axis must be an integer, found {type(axis).__name__}{where()}"
        ) from None
    if not -ndim <= found < ndim:
        raise ShapeError(
            f"fnp.{name}: axis {found} does not exist in an array of {ndim} "
            f"dimension{'s' * (ndim != 1)}{where()}"
        )
    return found % ndim


def axes_of(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """`axis` (None for all, an integer or several) as a sorted tuple, counted from the front.

    Raises: ShapeError: an axis does not exist or is given twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, tuple | list | range):
        return (axis_of(name, axis, ndim),)
    found = sorted(axis_of(name, a, ndim) for a in axis)
    if len(set(found)) != len(found):
        raise ShapeError(f"fnp.{name}: an axis is given twice: {axis}{where()}")
    return tuple(found)


def reduced_axes(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """`axes_of` for a reduction: a number has axis 0, as with NumPy's ufuncs, and nothing to reduce.

    Raises: ShapeError: an axis does not exist or is given twice.
    """
    alone = ndim == 0 and isinstance(axis, int | np.integer) and axis in (0, -1)
    return () if alone else axes_of(name, axis, ndim)


def known_lengths(subject: str, given: Any) -> Any:
    """`given`, a length or several, without traces; `subject` says whose.

    Raises: ConcretizationError: a transform knows only the type of one.
    """
    if isinstance(given, Tracer):
        return _known(subject, given)
    if isinstance(given, tuple | list) and any(isinstance(n, Tracer) for n in given):
        return tuple(known_lengths(subject, n) for n in given)
    return given


def shape_of(shape: Any, subject: str = "shape") -> tuple[int, ...]:
    """A shape given as an integer or a sequence of them; errors call it `subject`."""
    shape = known_lengths(subject, shape)
    if shape.__class__ is tuple:
        return tuple(map(operator.index, shape))
    try:
        return (operator.index(shape),)
    except TypeError:
        return tuple(map(operator.index, shape))


def with_axes(x: Any, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: Any) -> Any:
    """The result `x` of a reduction of `shape` along `axes`, with 1s in their place if asked."""
    if not keepdims:
        return x
    return reshape(x, shape=tuple(1 if i in axes else n for i, n in enumerate(shape)))


# ---------------------------------------------------------------- options

GIVE_SIZE = "; or give the length of the result, size="


def refuse(name: str, **options: Any) -> None:
    """Complain about options that are given but not supported.

    Raises: ArgumentError: one of `options` is not None.
    """
    for option, value in options.items():
        if value is not None:
            hint = "; assign the result instead: y[...] = ..." if option == "out" else ""
            raise ArgumentError(
                f"fnp.{name}: {option}= is not supported, because the function works on traced "
                f"values{hint}{where()}"
            )


def on_cpu(name: str, device: Any) -> Any:
    """The array module that creation functions use.

    Raises: ArgumentError: `device` is not the CPU.
    """
    if device not in (None, "cpu"):
        raise ArgumentError(
            f"fnp.{name}: device={device!r}; creation functions make arrays on the CPU. Use the "
            f"..._like functions on an array of that device{where()}"
        )
    return np


def host(name: str, what: str, x: Any, hint: str = "") -> np.ndarray:
    """`concrete` as a NumPy array: for the few integers that decide shapes."""
    x = array_of(concrete(name, what, x, hint))
    return x if isinstance(x, np.ndarray) else np.array(x.tolist(), x.dtype)


def concrete(name: str, what: str, x: Any, hint: str = "") -> Any:
    """The plain array behind `x`, for arguments that decide shapes; `hint` says what else does.

    Raises: ConcretizationError: there is none, because a transform knows only its type.
    """
    return operand(_known(f"fnp.{name}: {what}", x, hint))


def _known(subject: str, x: Any, hint: str = "") -> Any:
    value = known(x)
    if value is None:
        raise ConcretizationError(
            f"{subject} must be known while tracing, since the shape of the result depends on it; "
            f"found {x!r}. Keep it out of the traced arguments (jit: static_argnums){hint}{where()}"
        )
    return value


def integers(name: str, what: str, x: Any) -> Any:
    """Places or shifts: a NumPy array where they are known, else a traced one of int64.

    Raises: ArgumentError: traced ones are no integers.
    """
    x = stacked(x) if contains_foreign(x) else x
    if known(x) is not None:
        return host(name, what, x)
    aval = aval_of(x)
    if aval.dtype.kind not in "iu":
        raise ArgumentError(f"fnp.{name}: {what} is {aval}; need integers{where()}")
    return converted(x, np.int64)


def integer(name: str, what: str, x: Any) -> Any:
    """`integers` of one; a plain one is left as it is.

    Raises: ShapeError: a traced array.
    """
    if not isinstance(x, Tracer):
        return x
    found = integers(name, what, x)
    if found.ndim:
        raise ShapeError(
            f"fnp.{name}: {what} has shape {list(found.shape)}; need a scalar{where()}"
        )
    return found if isinstance(found, Tracer) else int(found)
