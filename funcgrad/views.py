"""Which traced value is a view of which, so that a write into one is seen by the others.

Layer 1. NOTE [Mutation] A traced array is a box whose contents a write replaces: nobody's data is
changed, so every transform differentiates a write like any other primitive. A view remembers the
array it was taken from (`base`) and how (`chain`); a write into it is a `view_update` of the base,
and a view whose base was written since it was last looked at is taken again from the base.

A traced array has no memory layout; views behave as if every base were C-contiguous. Nor does its
type say whether one without axes is an array or a number, which NumPy's functions mostly return and
copy before they view: it is a number unless `as_array` or a view has made it an array.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from .core import Tracer, run_under
from .locks import is_constant


class Link(NamedTuple):
    """One step from a base to a view: a view primitive and its parameters, hashable."""

    prim: Any
    params: tuple[tuple[str, Any], ...]

    def __repr__(self) -> str:
        shown = " ".join(f"{key}={value!r}" for key, value in self.params)
        return f"{self.prim.name}[{shown}]"


# The traced array whose contents are about to be replaced, so that its buffer may be reused.
donated: ContextVar[Any] = ContextVar("donated", default=None)


class Base:
    """Of a value that views were taken of: how often it has been written into."""

    __slots__ = ("version",)

    def __init__(self) -> None:
        self.version = 0


class Number(Base):
    """Of a number whose contents may be replaced. Views of it are copies, as in NumPy."""

    __slots__ = ()


class Part(Base):
    """Of ``whole[index]`` by integers that are known only as types, which no chain of view primitives
    leads to: it is read out of the whole by `take`, and written there by `put`.

    `seen` is the version of the whole that it shows. Views may be taken of it, so it counts versions
    of its own.
    """

    __slots__ = ("index", "put", "seen", "take", "whole")

    def __init__(self, whole: Tracer, index: tuple[Any, ...], take: Any, put: Any) -> None:
        super().__init__()
        self.whole = whole
        self.index = index
        self.take = take
        self.put = put
        self.seen = version_of(whole)


class View:
    """Of a view: its base, the chain of primitives that leads to it, and the version it shows."""

    __slots__ = ("base", "chain", "seen")

    def __init__(self, base: Tracer, chain: tuple[Link, ...], seen: int) -> None:
        self.base = base
        self.chain = chain
        self.seen = seen


def record_view(out: Tracer, x: Tracer, prim: Any, params: dict[str, Any]) -> None:
    """Remember that `out` is the view ``prim(x, **params)``."""
    if out is x or not out.owner.is_inside(x.owner):
        return
    link = Link(prim, tuple(params.items()))
    seen = x.alias
    if prim.may_copy and shows_another(x) and _copies(x, prim, params):
        return
    if seen.__class__ is View:
        out.alias = View(seen.base, (*seen.chain, link), seen.seen)
        return
    if not x.aval.shape and (seen is None or seen.__class__ is Number):
        as_array(out)  # NumPy makes an array of the number, which is nobody's view
        return
    if seen is None:
        seen = x.alias = Base()
    out.alias = View(x, (link,), seen.version)


def shows_another(x: Tracer) -> bool:
    """Whether a write into `x` is one into another traced array."""
    return x.alias.__class__ in (View, Part)


def as_array(x: Any) -> Any:
    """`x`; if it has no axes it is an array from now on, and not a number."""
    if isinstance(x, np.generic):
        return np.asarray(x)
    if (
        isinstance(x, Tracer)
        and not x.aval.shape
        and (x.alias is None or x.alias.__class__ is Number)
    ):
        version = 0 if x.alias is None else x.alias.version
        x.alias = Base()
        x.alias.version = version
    return x


def layout(x: Any) -> Any:
    """An array that lies in memory as `x` does, bases of traced values being C-contiguous."""
    if not isinstance(x, Tracer):
        return x
    seen = x.alias
    if seen.__class__ is Part:  # all places lie alike
        return layout(seen.whole)[tuple(0 if isinstance(i, Tracer) else i for i in seen.index)]
    if seen.__class__ is not View:
        return np.empty(x.aval.shape, x.aval.dtype)
    shown = layout(seen.base)
    for link in seen.chain:
        shown = link.prim.impl(np, shown, **dict(link.params))
    return shown


def _copies(x: Tracer, prim: Any, params: dict[str, Any]) -> bool:
    """Whether NumPy would copy where it runs `prim` on a view: see on an array laid out like it."""
    shown = layout(x)
    out = prim.impl(np, shown, **params)
    return bool(out.size) and not np.may_share_memory(out, shown)


def snapshot(x: Any, *, copy: bool) -> Any:
    """`x` as it is now: a box of its own for a traced value, a copy of a plain array if asked."""
    if isinstance(x, Tracer):
        if x.alias is not None:
            refresh(x)
        box = x.__class__.__new__(x.__class__)
        box.owner = x.owner
        box.alias = None
        box.assign(x)
        return box
    if not copy or isinstance(x, np.generic) or not hasattr(x, "flags"):
        return x
    if not isinstance(x, np.ndarray):
        return x.copy()
    return x if is_constant(x) else x.copy("K")  # it lies in memory as it did


def is_differentiated(x: Any) -> bool:
    """Whether a transform around, whichever it is, differentiates by way of this value."""
    while isinstance(x, Tracer):
        if x.alias is not None:
            refresh(x)
        if x.moves:
            return True
        x = x.underlying
    return False


def version_of(x: Tracer) -> int:
    """How often what `x` shows has been written into."""
    if x.alias is None:
        x.alias = Base() if x.aval.shape else Number()
    refresh(x)
    owner = x.alias.base if x.alias.__class__ is View else x
    version: int = owner.alias.version
    return version


def refresh(x: Tracer) -> None:
    """Take a view again if its base was written since. Call wherever `x.alias` is not None."""
    view = x.alias
    if view.__class__ is View:
        if view.base.alias.__class__ is Part:
            refresh(view.base)
        if view.seen != view.base.alias.version:
            out: Any = view.base
            for prim, params in view.chain:
                out = x.owner.process(prim, (out,), dict(params))
            x.assign(out)
            view.seen = view.base.alias.version
    elif view.__class__ is Part:
        version = version_of(view.whole)
        if view.seen != version:
            x.assign(run_under(x.owner, view.take, [view.whole]))
            view.seen = version
            view.version += 1
