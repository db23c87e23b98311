"""Samples of `funcgrad/ops/index.py`, and of indices for whoever needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from funcgrad.ops.complex import as_complex, as_real, conjugate, imag, real
from funcgrad.ops.index import getitem
from funcgrad.ops.index_layout import (
    FULL,
    ArrayIndex,
    Index,
    Iota,
    Shape,
    Slice,
    basic_shape,
    layout,
)
from funcgrad.ops.strided import strided
from funcgrad.ops.structural import diagonal, expand_dims, flip, reshape, transpose
from funcgrad.views import Link

from . import Sample, array, complexes, floats, shapes

DOMAINS = st.sampled_from([floats(-3, 3), complexes()])


# ---------------------------------------------------------------- indices in normal form


@st.composite
def slices(draw: Any, length: int) -> Slice:
    """A slice in normal form of an axis of the given length."""
    start = draw(st.none() | st.integers(-4, 4))
    stop = draw(st.none() | st.integers(-4, 4))
    step = draw(st.sampled_from([1, 1, 2, -1, -2]))
    start, stop, step = slice(start, stop, step).indices(length)
    if not range(start, stop, step):
        return Slice(0, 0, 1)
    return Slice(start, None if stop < 0 else stop, step)


@st.composite
def basic(draw: Any, shape: Shape) -> Index:
    """A basic index in normal form of an array of the given shape."""
    index: list[Any] = []
    for n in shape:
        if draw(st.integers(0, 4)) == 4:
            index.append(None)
        inside = [st.just(FULL), slices(n)]
        if n:
            inside.append(st.integers(0, n - 1))
        index.append(draw(st.one_of(*inside)))
    return tuple(index)


@st.composite
def fancy(draw: Any) -> tuple[Shape, Index, tuple[Any, ...]]:
    """The shape of an array, and an index of it with one to three index arrays."""
    shape = draw(shapes(ndim=(1, 4), side=(1, 3)))
    many = draw(st.integers(1, min(3, len(shape))))
    places = sorted(draw(st.permutations(range(len(shape))))[:many])
    block = draw(shapes(ndim=(0, 2)))
    index: list[Any] = []
    arrays: list[Any] = []
    for axis, n in enumerate(shape):
        if draw(st.integers(0, 9)) == 9:
            index.append(None)
        if axis in places:
            if axis == places[0] and len(places) > 1 and draw(st.booleans()):
                index.append(Iota(n, 0))
                block = (*block[:-1], n)
                continue
            index.append(ArrayIndex(len(arrays)))
            arrays.append(draw(array(np.arange(-n, n), _part_of(draw, block))))
        else:
            index.append(draw(st.just(FULL) | slices(n) | st.integers(0, n - 1)))
    return shape, tuple(index), tuple(arrays)


def _part_of(draw: Any, block: Shape) -> Shape:
    """A shape that broadcasts to `block`."""
    part = tuple(n if draw(st.integers(0, 3)) else 1 for n in block)
    return part[draw(st.integers(0, len(part))) :] if draw(st.integers(0, 3)) == 3 else part


# ---------------------------------------------------------------- samples


@st.composite
def read(draw: Any) -> Sample:
    shape = draw(shapes())
    return Sample((draw(array(draw(DOMAINS), shape)),), {"index": draw(basic(shape))})


@st.composite
def embedded(draw: Any) -> Sample:
    shape = draw(shapes())
    index = draw(basic(shape))
    x = draw(array(draw(DOMAINS), basic_shape(shape, index)))
    return Sample((x,), {"shape": shape, "index": index})


@st.composite
def written(draw: Any) -> Sample:
    """A write through one view or a chain of up to three."""
    shape = draw(shapes(ndim=(0, 3)))
    base = draw(array(draw(DOMAINS), shape))
    chain, part = [], base
    for _ in range(draw(st.integers(1, 3))):
        kinds = ["getitem", "transpose", "expand_dims", "flip", "conjugate"]
        kinds += ["diagonal"] * (part.ndim > 1) + ["reshape"] * (not chain)
        if part.dtype.kind == "c":
            kinds += ["real", "imag", "as_real"]
        elif part.shape[-1:] == (2,) and part.flags.c_contiguous:
            kinds += ["as_complex"] * 4
        kinds += ["strided"] * (part.shape[-1:] >= (1,))
        link = _link(draw, draw(st.sampled_from(kinds)), part.shape)
        chain.append(link)
        part = np.asarray(link.prim(part, **dict(link.params)))
    new = draw(array(draw(DOMAINS) if part.dtype.kind == "c" else floats(-3, 3), part.shape))
    return Sample((base, new), {"chain": tuple(chain)})


_PARTS = {p.name: p for p in (as_complex, as_real, conjugate, imag, real)}


def _link(draw: Any, kind: str, shape: Shape) -> Link:
    ndim = len(shape)
    if kind == "getitem":
        return Link(getitem, (("index", draw(basic(shape))),))
    if kind == "transpose":
        return Link(transpose, (("axes", tuple(draw(st.permutations(range(ndim))))),))
    if kind == "expand_dims":
        return Link(expand_dims, (("axis", (draw(st.integers(0, ndim)),)),))
    if kind == "flip":
        return Link(flip, (("axis", tuple(range(ndim))),))
    if kind == "diagonal":
        return Link(diagonal, (("offset", 0), ("axis1", 0), ("axis2", 1)))
    if kind == "strided":
        n = shape[-1]
        return Link(strided, (("shape", (n // 2, 2)), ("strides", (2, 1)), ("offset", n % 2)))
    if kind in _PARTS:
        return Link(_PARTS[kind], ())
    return Link(reshape, (("shape", (int(np.prod(shape)),)),))


@st.composite
def gathered(draw: Any) -> Sample:
    shape, index, arrays = draw(fancy())
    return Sample((draw(array(draw(DOMAINS), shape)), *arrays), {"index": index})


@st.composite
def scattered(draw: Any) -> Sample:
    shape, index, arrays = draw(fancy())
    part = sum(layout(shape, index, [a.shape for a in arrays]), ())
    ct = draw(array(draw(DOMAINS), part))
    return Sample((ct, *arrays), {"shape": shape, "index": index})


@st.composite
def assigned(draw: Any) -> Sample:
    shape, index, arrays = draw(fancy())
    part = sum(layout(shape, index, [a.shape for a in arrays]), ())
    base = draw(array(draw(DOMAINS), shape))
    domain = draw(DOMAINS) if base.dtype.kind == "c" else floats(-3, 3)
    return Sample((base, draw(array(domain, _part_of(draw, part))), *arrays), {"index": index})


SAMPLES = {
    "getitem": read(),
    "embed": embedded(),
    "view_update": written(),
    "gather": gathered(),
    "scatter_add": scattered(),
    "gather_last": gathered(),
    "scatter_last": scattered(),
    "scatter_set": assigned(),
}
