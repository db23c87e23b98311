"""Arrays made of arrays: by layout, by type, by length; and whether they share memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra import concrete_namespace
from ..core import Tracer, aval_of
from ..errors import ArgumentError, ShapeError, where
from ..indexing import known
from ._arguments import array_of, contains_foreign, converted, fresh, host, shape_of
from .creation import asarray
from .shaping import atleast_1d, ravel, reshape
from .sorting import sort


def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None
) -> Any:
    """`asarray` under its other name: there are no subclasses here.

    Shapes: that of the nesting.   Dtypes: `dtype`, or the common one of the entries.
    Derivative: linear: every entry gets its own part of the cotangent.
    Raises: ShapeError: the entries differ in shape. ArgumentError: an entry is no number.
    Source: NumPy reference, ``numpy.asanyarray``.

    >>> asanyarray([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    return asarray(a, dtype, order, device=device, copy=copy)


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """An array in C order, of one axis at least; traced values always are.

    Shapes: ``(*a) -> (*a)``, ``() -> (1,)``.   Dtypes: `dtype`, or that of `a`.
    Derivative: linear; the identity.
    Raises: ShapeError: the entries differ in shape. ArgumentError: an entry is no number.
    Source: NumPy reference, ``numpy.ascontiguousarray``.

    >>> ascontiguousarray(1.0).tolist()
    [1.0]
    """
    return _laid_out(np.ascontiguousarray, a, dtype)


def asfortranarray(a: Any, dtype: Any = None) -> Any:
    """An array in Fortran's order, of one axis at least; for traced values the values only.

    Shapes: ``(*a) -> (*a)``, ``() -> (1,)``.   Dtypes: `dtype`, or that of `a`.
    Derivative: linear; the identity.
    Raises: ShapeError: the entries differ in shape. ArgumentError: an entry is no number.
    Source: NumPy reference, ``numpy.asfortranarray``.

    >>> asfortranarray([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    return _laid_out(np.asfortranarray, a, dtype)


def _laid_out(layout: Any, a: Any, dtype: Any) -> Any:
    if contains_foreign(a):
        return atleast_1d(asarray(a, dtype))
    out = layout(array_of(a), dtype)
    return out if out is a else fresh(out)


def require(a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    """An array of a dtype and a layout; a traced value has all layouts.

    Shapes: ``(*a) -> (*a)``.   Dtypes: `dtype`, or that of `a`.
    Derivative: linear; the identity.
    Raises: ShapeError: the entries differ in shape. ArgumentError: an entry is no number.
    Source: NumPy reference, ``numpy.require``.

    >>> require([1.0, 2.0], requirements="C").tolist()
    [1.0, 2.0]
    """
    if contains_foreign(a):
        return asarray(a, dtype)
    out = np.require(array_of(a), dtype, requirements)
    return out if out is a else fresh(out)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """`asarray` that refuses infinities and NaN.

    Shapes: that of the nesting.   Dtypes: `dtype`, or the common one of the entries.
    Derivative: linear; the identity.
    Raises: ShapeError (a ValueError, as NumPy's): an element is not finite.
    ConcretizationError: the values are not known.
    Source: NumPy reference, ``numpy.asarray_chkfinite``.

    >>> asarray_chkfinite([1.0, 2.0]).tolist()
    [1.0, 2.0]
    """
    x = asarray(a, dtype, order)
    if aval_of(x).dtype.kind in "fc" and not np.isfinite(host("asarray_chkfinite", "a", x)).all():
        raise ShapeError(f"fnp.asarray_chkfinite: a has infinities or NaN{where()}")
    return x


def resize(a: Any, new_shape: Any) -> Any:
    """The elements of `a`, over and over, in a new shape.

    Shapes: ``a: (*a) -> new_shape``; zeros if `a` has no elements.   Dtypes: all.
    Derivative: linear; what is repeated adds up.
    Raises: ShapeError: a negative length.
    Source: NumPy reference, ``numpy.resize``.

    >>> resize([1.0, 2.0], (3,)).tolist()
    [1.0, 2.0, 1.0]
    """
    shape = shape_of(new_shape, "fnp.resize: new_shape")
    if any(n < 0 for n in shape):
        raise ShapeError(f"fnp.resize: a negative length in {list(shape)}{where()}")
    x, size = ravel(array_of(a)), int(np.prod(shape))
    count, xp = aval_of(x).size, concrete_namespace(x)
    if not count:
        return fresh(xp.zeros(shape, aval_of(x).dtype))
    return reshape(x[xp.arange(size) % count], shape)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Without the zeros at the front ("f") and the back ("b"), along all axes or some.

    Shapes: ``(n,) -> (m,)``, as the values say.   Dtypes: all.
    Derivative: linear; zero for what is cut off.
    Raises: ConcretizationError: the values are not known. ArgumentError: an unknown letter.
    Source: NumPy reference, ``numpy.trim_zeros``.

    >>> trim_zeros(np.array([0.0, 1.0, 0.0, 2.0, 0.0])).tolist()
    [1.0, 0.0, 2.0]
    """
    x = array_of(filt)
    if not trim or set(trim.lower()) - {"f", "b"}:
        raise ArgumentError(f"fnp.trim_zeros: trim={trim!r}; need 'f', 'b' or 'fb'{where()}")
    places = np.argwhere(host("trim_zeros", "filt", x) != 0)
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis) % x.ndim
    index: list[Any] = [slice(None)] * x.ndim
    for k in axes:
        low, high = (places[:, k].min(), places[:, k].max() + 1) if len(places) else (0, 0)
        first, last = ("f" in trim.lower(), "b" in trim.lower())
        if not len(places):  # all of it, whatever the letters
            first = last = True
        index[k] = slice(int(low) if first else None, int(high) if last else None)
    return x[tuple(index)]


def sort_complex(a: Any) -> Any:
    """Sorted by real and then by imaginary parts, as complex numbers.

    Shapes: ``(*a, n) -> (*a, n)``.   Dtypes: numbers; gives complex.
    Derivative: that of the sorted elements.
    Raises: ArgumentError: `a` is no array.
    Source: NumPy reference, ``numpy.sort_complex``.

    >>> sort_complex([2.0, 1.0]).tolist()
    [(1+0j), (2+0j)]
    """
    x = sort(array_of(a))
    if aval_of(x).dtype.kind == "c":
        return x
    return converted(x, np.complex64 if aval_of(x).dtype.char in "bhBH" else np.complex128)


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether writing into `a` may change `b`: for traced values, whether they have one base.

    Shapes: any.   Dtypes: all.
    Derivative: none; the result is a bool.
    Raises: nothing of its own.
    Source: NumPy reference, ``numpy.may_share_memory``.

    >>> may_share_memory(np.ones(2), np.ones(2))
    False
    """
    if isinstance(a, Tracer) or isinstance(b, Tracer):
        return _base(a) is _base(b)
    return bool(np.may_share_memory(a, b, max_work))


def _base(x: Any) -> Any:
    return getattr(getattr(x, "alias", None), "base", x)


def min_scalar_type(a: Any) -> Any:
    """The smallest dtype that holds a number; the dtype of an array.

    Shapes: any.   Dtypes: all.
    Derivative: none; the result is a dtype.
    Raises: ArgumentError: `a` is no array.
    Source: NumPy reference, ``numpy.min_scalar_type``.

    >>> min_scalar_type(300)
    dtype('uint16')
    """
    value = known(a) if isinstance(a, Tracer) and not a.aval.shape else a
    return (
        aval_of(a).dtype
        if value is None or isinstance(value, Tracer)
        else np.min_scalar_type(value)
    )
