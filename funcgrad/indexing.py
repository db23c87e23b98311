"""Any index expression of NumPy's, for reading and writing: `read`, `write`, `add_at`.

Layer 3¼, between the primitives and what users see. A basic index (integers, slices, None, ...)
becomes `getitem` and `view_update`, one with arrays `gather` and `scatter_set`.

A boolean array of any rank, 0 included, indexes as many axes as it has. Those axes are merged into
one, which the places of the True elements index: ``x[mask]`` is ``x.ravel()[flatnonzero(mask)]``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .algebra import concrete_namespace
from .backend import namespace, untabled
from .core import Tracer, aval_of
from .errors import ConcretizationError, MutationError, ShapeError, where
from .ops import select
from .ops.arithmetic import add
from .ops.cast import astype
from .ops.index import embed, gather, getitem, scatter_add, scatter_set, view_update
from .ops.index_layout import FULL, ArrayIndex, Index, Shape, Slice, basic_shape, layout
from .ops.join import matched, stack
from .ops.structural import broadcast_to, reshape
from .views import Link, refresh

_KINDS = "biufc"  # from narrow to wide; "i" and "u" count as one


# ---------------------------------------------------------------- the public functions


def read(x: Any, index: Any) -> Any:
    """``x[index]``: a view for a basic index, else a copy.

    Raises: IndexError: the index does not fit. ConcretizationError: a mask that is traced.
    """
    link = basic_link(index, x.shape)
    if link is not None:
        return getitem(x, index=link)
    shape, template, arrays = normal_index(index, x.shape, concrete_namespace(x))
    return gather(_reshaped(x, shape), *arrays, index=template)


def write(x: Any, index: Any, value: Any) -> Any:
    """A new array: `x` after ``x[index] = value``.

    Raises: IndexError: the index does not fit. ShapeError: `value` does not fit. MutationError: the
    dtype of `x` cannot hold `value`. ConcretizationError: a mask that is traced, and a value that
    is not the same for every element it selects.
    """
    value = _storable(x, value)
    link = basic_link(index, x.shape)
    if link is not None:
        value = _fitted(value, sum(i.__class__ is not int for i in link))
        return view_update(x, value, chain=(Link(getitem, (("index", link),)),))
    mask = _only_mask(index, concrete_namespace(x))
    if mask is not None:
        everywhere = _for_each_row(x, mask, value)
        if everywhere is not None:
            rows = reshape(mask, shape=(*mask.shape, *(1,) * (len(x.shape) - len(mask.shape))))
            return select.where(rows, everywhere, x)
    shape, template, arrays = normal_index(index, x.shape, concrete_namespace(x))
    value = _fitted(value, len(_part(shape, template, arrays)))
    out = scatter_set(_reshaped(x, shape), value, *arrays, index=template)
    return _reshaped(out, x.shape)


def add_at(x: Any, index: Any, value: Any) -> Any:
    """A new array: `x` after ``np.add.at(x, index, value)``, which adds up what meets.

    Raises: as `write`.
    """
    value = matched(_storable(x, value), x)
    link = basic_link(index, x.shape)
    if link is not None:
        value = _broadcast(value, basic_shape(x.shape, link))
        return add(x, embed(value, shape=x.shape, index=link))
    shape, template, arrays = normal_index(index, x.shape, concrete_namespace(x))
    value = _broadcast(value, _part(shape, template, arrays))
    sums = scatter_add(value, *arrays, shape=shape, index=template)
    return add(x, _reshaped(sums, x.shape))


def _reshaped(x: Any, shape: Shape) -> Any:
    return x if x.shape == shape else reshape(x, shape=shape)


def _part(shape: Shape, template: Index, arrays: Sequence[Any]) -> Shape:
    """The shape of what the index shows."""
    before, block, after = layout(shape, template, [a.shape for a in arrays])
    return before + block + after


# ---------------------------------------------------------------- basic indices


def basic_link(index: Any, shape: Shape) -> Index | None:
    """The normal form of a basic index, one entry per axis and None; None if it is not basic.

    >>> basic_link((..., -1), (2, 3))
    (0:, 2)
    >>> basic_link([0, 1], (2, 3)) is None
    True

    Raises: IndexError: out of bounds, too many indices, or two ellipses.
    """
    if not isinstance(index, tuple):
        index = (index,)
    out: list[Any] = []
    ndim = len(shape)
    axis = 0
    seen_ellipsis = False
    for i in index:
        cls = i.__class__
        if cls is not int and cls is not slice:
            if i is None:
                out.append(None)
                continue
            if i is Ellipsis:
                rest = ndim - sum(j is not None for j in index) + 1
                if seen_ellipsis or rest < 0:
                    _raise_if_basic(index, shape)
                    return None
                seen_ellipsis = True
                out += (FULL,) * rest
                axis += rest
                continue
            i = _integer(i)
            if i is None:
                return None
            cls = int
        if axis >= ndim:
            _raise_if_basic(index, shape)
            return None
        length = shape[axis]
        if cls is int:
            if not -length <= i < length:
                _raise_if_basic(index, shape)
                return None
            out.append(i + length if i < 0 else i)
        else:
            out.append(_slice(i, length))
        axis += 1
    return (*out, *(FULL,) * (ndim - axis))


def _slice(part: slice, length: int) -> Slice:
    if part.start is None and part.stop is None and part.step is None:
        return FULL
    try:
        start, stop, step = part.indices(length)
    except ConcretizationError as error:
        raise ConcretizationError(
            f"a slice has bounds that are traced, so how many elements it selects is not known while "
            f"the function is traced. lax.dynamic_slice(x, (i, ...), sizes) selects a fixed number "
            f"from a place that may be traced, as does x[i + np.arange(n)]; lax.dynamic_update_slice "
            f"writes there{where()}"
        ) from error
    if start == 0 and stop == length and step == 1:
        return FULL
    if not range(start, stop, step):
        return Slice(0, 0, 1) if length else FULL
    return Slice(start, None if stop < 0 else stop, step)


def _integer(i: Any) -> int | None:
    """The index as a number, if it is an integer whose value is there to be read."""
    if isinstance(i, bool | np.bool):
        return None
    if isinstance(i, int | np.integer):
        return int(i)
    if isinstance(i, Tracer):
        aval = i.aval
        if aval.shape or aval.dtype.kind not in "iu":
            return None
        value = known(i)
        return int(value) if isinstance(value, int | np.integer | np.ndarray) else None
    if hasattr(i.__class__, "__index__") and not hasattr(i, "dtype"):
        return operator.index(i)
    return None


def _raise_if_basic(index: tuple[Any, ...], shape: Shape) -> None:
    """Raise for a basic index, which does not fit; one with arrays is left to `normal_index`."""
    plain = (
        i is None or i is ... or isinstance(i, slice) or _integer(i) is not None for i in index
    )
    if all(plain):
        normal_index(index, shape)


# ---------------------------------------------------------------- indices with arrays


def normal_index(index: Any, shape: Shape, xp: Any = np) -> tuple[Shape, Index, tuple[Any, ...]]:
    """The normal form of any index: (shape, template, arrays).

    The array is to be reshaped to `shape` first, which merges the axes that a mask indexes;
    `template` is the index of `gather`, and `arrays` are its index arrays. `xp` is the array module
    in which lists become arrays.

    >>> normal_index((slice(1, 3), np.array([2, 0])), (4, 3))
    ((4, 3), (1:3, i0), (array([2, 0]),))
    >>> normal_index(np.array([[True, False], [True, True]]), (2, 2))
    ((4,), (i0,), (array([0, 2, 3]),))

    Raises: IndexError: an integer is out of bounds, too many indices, two ellipses, a mask of the
    wrong shape, or something that is no index. ConcretizationError: a mask that is traced.
    """
    merged: list[int] = []
    template: list[Any] = []
    arrays: list[Any] = []
    axis = 0
    for i in entries_of(index, shape, xp):
        if i is None or i is ...:
            template.append(i)
        elif isinstance(i, int | slice):
            merged.append(shape[axis])
            template.append(
                _bounded(i, axis, shape) if isinstance(i, int) else _slice(i, shape[axis])
            )
            axis += 1
        else:
            mask = i.dtype.kind == "b"
            template.append(ArrayIndex(len(arrays), "known" if mask else "checked"))
            count = axes_of(i)
            lengths = shape[axis : axis + count]
            merged.append(math.prod(lengths))
            if mask:
                _require_mask_fits(i, axis, lengths)
                i = namespace(i).flatnonzero(i)
            arrays.append(i)
            axis += count
    return tuple(merged), tuple(template), tuple(arrays)


def entries_of(index: Any, shape: Shape, xp: Any = np) -> list[Any]:
    """The entries of an index in their normal form, slices in place of the ellipsis.

    >>> entries_of((..., 2), (4, 3))
    [slice(None, None, None), 2]

    Raises: IndexError: too many indices, two ellipses, or something that is no index.
    ConcretizationError: a mask that is traced.
    """
    entries = [_entry(i, xp) for i in (index if isinstance(index, tuple) else (index,))]
    return _without_ellipsis(entries, shape)


def _entry(i: Any, xp: Any) -> Any:
    """An entry of an index as None, Ellipsis, a slice, an int, or an array of ints or booleans."""
    if i is None or i is Ellipsis or isinstance(i, slice):
        return i
    number = _integer(i)
    if number is not None:
        return number
    if isinstance(i, bool | np.bool):
        return xp.asarray(bool(i))
    given = i
    i = untabled(i)
    if isinstance(i, list | tuple):
        i = _from_list(i, xp)
        if not _size(i):
            i = i.astype(np.intp)
    elif isinstance(i, np.ndarray):
        i = xp.asarray(i)  # CuPy's arrays take NumPy's as indices
    kind = getattr(getattr(i, "dtype", None), "kind", None)
    if kind == "b":
        return _known_mask(i)
    if kind is not None and kind in "iu":
        return i if i.dtype == np.intp else astype(i, np.intp)
    if kind is not None and kind in "fcSUV":
        raise IndexError(
            f"arrays used as indices must be of integer (or boolean) type, found {i.dtype}{where()}"
        )
    raise IndexError(
        f"only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays are "
        f"valid indices, found {given!r}{where()}"
    )


def _size(x: Any) -> int:
    return math.prod(x.shape)


def axes_of(i: Any) -> int:
    """How many axes an entry indexes."""
    if i is None or i is Ellipsis:
        return 0
    return len(i.shape) if getattr(getattr(i, "dtype", None), "kind", "") == "b" else 1


def _without_ellipsis(entries: list[Any], shape: Shape) -> list[Any]:
    """The entries with slices in place of the ellipsis, or at the end, so that no axis is left."""
    rest = len(shape) - sum(map(axes_of, entries))
    if rest < 0:
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but "
            f"{len(shape) - rest} were indexed{where()}"
        )
    places = [k for k, i in enumerate(entries) if i is Ellipsis]
    if len(places) > 1:
        raise IndexError(f"an index can only have a single ellipsis ('...'){where()}")
    at = places[0] if places else len(entries)
    if rest == 0 and 0 < at < len(entries) - 1 and _is_fancy(entries[at - 1], entries[at + 1]):
        return entries  # NumPy lets it separate index arrays even if it stands for nothing
    return [*entries[:at], *(slice(None),) * rest, *entries[at + 1 :]]


def _is_fancy(*entries: Any) -> bool:
    return not any(i is None or isinstance(i, slice) for i in entries)


def _bounded(i: int, axis: int, shape: Shape) -> int:
    length = shape[axis]
    if not -length <= i < length:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {length}{where()}")
    return i + length if i < 0 else i


# ---------------------------------------------------------------- masks


def known(x: Any) -> Any:
    """The array behind every trace, or None where a traced value has none of its shape."""
    while isinstance(x, Tracer):
        if x.alias is not None:
            refresh(x)
        x = x.known
    return x


def _known_mask(mask: Any) -> Any:
    value = known(mask)
    if value is None:
        _refuse_mask()
    return value


def _refuse_mask() -> NoReturn:
    raise ConcretizationError(
        "a traced boolean is used as an index: how many elements it selects is not known while the "
        "function is traced. Use fnp.where(mask, new, old), which computes both and has a fixed "
        f"shape; writing one value, `x[mask] = 0.0`, works too{where()}"
    )


def _require_mask_fits(mask: Any, axis: int, lengths: Shape) -> None:
    for k, (found, needed) in enumerate(zip(mask.shape, lengths, strict=True)):
        if found != needed:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + k}; size of axis is "
                f"{needed} but size of corresponding boolean axis is {found}{where()}"
            )


def _only_mask(index: Any, xp: Any) -> Any:
    """The mask, an array or traced value, if that is all there is in the index; else None."""
    if isinstance(index, tuple):
        if len(index) != 1:
            return None
        (index,) = index
    index = untabled(index)
    if isinstance(index, bool | np.bool | list | np.ndarray):
        index = _from_list(index, xp)
    kind = getattr(getattr(index, "dtype", None), "kind", None)
    return index if kind == "b" else None


def _for_each_row(x: Any, mask: Any, value: Any) -> Any:
    """`value`, if it is one number or row for all that the mask selects; else None."""
    rest = len(x.shape) - len(mask.shape)
    if rest < 0:
        return None
    _require_mask_fits(mask, 0, x.shape[: len(mask.shape)])
    shape = aval_of(value).shape
    extra = max(len(shape) - rest, 0)
    row = x.shape[len(mask.shape) :]
    fits = all(n == 1 for n in shape[:extra]) and broadcasts(shape[extra:], row)
    if not fits:
        if known(mask) is None:
            _refuse_mask()
        return None
    value = _reshaped(value, shape[extra:]) if extra else value
    fine = np.result_type(x.dtype, aval_of(value).promoting()) == x.dtype
    return value if fine else matched(value, x)


# ---------------------------------------------------------------- values


def _storable(x: Any, value: Any) -> Any:
    """`value` as an operand, if the dtype of `x` can hold it.

    Raises: MutationError: it would cut off an imaginary part or a fraction, and the derivative.
    """
    value = untabled(value)
    if isinstance(value, list | tuple):
        value = _from_list(value, concrete_namespace(x))
    found, needed = aval_of(value).dtype, x.dtype
    if _rank(found) > max(_rank(needed), _KINDS.index("u")):
        raise MutationError(
            f"a value of dtype {found} is written into an array of dtype {needed}, which would cut "
            f"the derivative: make the array {found} from the start, or convert the value "
            f"yourself{where()}"
        )
    return value


def _rank(dtype: Any) -> int:
    return _KINDS.find(dtype.kind)


def _fitted(value: Any, ndim: int) -> Any:
    """`value` without leading axes of length 1 that are more than `ndim`; NumPy allows those."""
    shape = aval_of(value).shape
    extra = len(shape) - ndim
    if extra <= 0 or any(n != 1 for n in shape[:extra]):
        return value
    return reshape(value, shape=shape[extra:])


def broadcasts(shape: Shape, whole: Shape) -> bool:
    """Whether an array of this shape can be written into a part of the shape `whole`.

    >>> broadcasts((1, 3), (4, 2, 3)), broadcasts((2, 3), (3,))
    (True, False)
    """
    lead = len(whole) - len(shape)
    return lead >= 0 and all(m in (1, n) for m, n in zip(shape, whole[lead:], strict=True))


def _broadcast(value: Any, shape: Shape) -> Any:
    value = _fitted(value, len(shape))
    if not broadcasts(value.shape, shape):
        raise ShapeError(
            f"a value of shape {list(value.shape)} does not broadcast to the part of shape "
            f"{list(shape)} that it is added to{where()}"
        )
    return broadcast_to(value, shape=shape)


def _from_list(values: Any, xp: Any) -> Any:
    """The array that a nested list stands for; traced values in it are stacked."""
    if _has_traced(values):
        return stack([_from_list(v, xp) for v in values], axis=0)
    return values if isinstance(values, Tracer) else xp.asarray(values)


def _has_traced(values: Any) -> bool:
    return isinstance(values, list | tuple) and any(
        isinstance(v, Tracer) or _has_traced(v) for v in values
    )
