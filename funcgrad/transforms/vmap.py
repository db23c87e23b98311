"""Batching: `BatchTrace` carries an array with one more axis, and where that axis is."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from .. import tree
from ..algebra import Linear
from ..array import TracedArray
from ..backend import NAMESPACES, unfit, untabled
from ..core import Aval, Primitive, Trace, Tracer, as_operand, aval_of, current, run_under
from ..errors import ArgumentError, MissingRuleError, ShapeError, where
from ..ops.index import FULL, Slice, getitem
from ..ops.join import concatenate, stack
from ..ops.structural import broadcast_to, transpose
from ..views import refresh, shows_another, snapshot
from .arguments import argument_name, flat_outputs, is_array, origin, require_callable


def _plain(prim: Primitive, position: int, x: Any) -> Any:
    """Lists made arrays here, where the traced values in them say what is wrong with that."""
    return as_operand(prim, position, x) if isinstance(x, list | tuple) else untabled(x)


class BatchTracer(TracedArray):
    """One example of a batch: `value` has the batch along axis `bdim`, or not at all (None)."""

    __slots__ = ("bdim", "value")

    def __init__(self, trace: Trace, value: Any, bdim: int | None) -> None:
        self.owner = trace
        self.alias = None
        self.value = value
        self.bdim = bdim

    @property
    def aval(self) -> Aval:
        full = aval_of(self.value)
        if self.bdim is None:
            return full
        shape = full.shape
        return Aval(shape[: self.bdim] + shape[self.bdim + 1 :], full.dtype)

    @property
    def underlying(self) -> Any:
        return self.value

    @property
    def known(self) -> Any:
        return self.value if self.bdim is None else None

    def assign(self, other: Any) -> None:
        self.value = other.value
        self.bdim = other.bdim


class BatchTrace(Trace):
    """Runs every primitive's batch rule through the parent."""

    __slots__ = ("size",)
    transform = "vmap"

    def __init__(self, parent: Trace, size: int) -> None:
        self.parent = parent
        self.size = size

    def lift(self, value: Any) -> BatchTracer:
        return BatchTracer(self, snapshot(value, copy=True), None)

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        values: list[Any] = []
        bdims: list[int | None] = []
        mine = False
        for i, a in enumerate(args):
            if a.__class__ is BatchTracer and a.owner is self:
                if a.alias is not None:
                    refresh(a)
                mine = True
                values.append(a.value)
                bdims.append(a.bdim)
            else:
                values.append(a if a.__class__ in NAMESPACES else _plain(prim, i, a))
                bdims.append(None)
        if all(b is None for b in bdims):
            ans = self.parent.process(prim, values, params)
            if not mine:
                return ans
            axes: Any = (None,) * len(ans) if prim.multiple else None
        else:
            token = current.set(self.parent)
            try:
                ans, axes = self._batched(prim, values, bdims, params)
            finally:
                current.reset(token)
        if not prim.multiple:
            return BatchTracer(self, ans, axes)
        return tuple(BatchTracer(self, x, b) for x, b in zip(ans, axes, strict=True))

    def _batched(
        self, prim: Primitive, values: list[Any], bdims: list[int | None], params: dict[str, Any]
    ) -> Any:
        try:
            return prim.batch(self.size, values, bdims, params)
        except MissingRuleError:
            return _loop(prim, self.size, values, bdims, params)

    def parts(self, x: Any) -> tuple[Any, int | None]:
        """The value and the batch axis (or None) of something that the traced function returned."""
        if x.__class__ is BatchTracer and x.owner is self:
            if x.alias is not None:
                refresh(x)
            return x.value, x.bdim
        return x, None


class NamedBatchTrace(BatchTrace):
    """A batch whose axis has a name, along which collectives work."""

    __slots__ = ("axis_name",)

    def __init__(self, parent: Trace, size: int, axis_name: Any) -> None:
        super().__init__(parent, size)
        self.axis_name = axis_name

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if not isinstance(prim, Collective) or params["axis_name"] != self.axis_name:
            return super().process(prim, args, params)
        if params["size"] != self.size:  # a compiled function, of another batch
            raise ArgumentError(
                f"vmap: the function was traced by jit inside of a batch of {params['size']} examples "
                f"named {self.axis_name!r}, found {self.size}; put jit around vmap{where()}"
            )
        value, bdim = self.parts(args[0])
        token = current.set(self.parent)
        try:
            ans, axis = prim.over(self.size, value, bdim)
        finally:
            current.reset(token)
        return BatchTracer(self, ans, axis)

    def _batched(
        self, prim: Primitive, values: list[Any], bdims: list[int | None], params: dict[str, Any]
    ) -> Any:
        token = naming.set(self.axis_name)
        try:
            return super()._batched(prim, values, bdims, params)
        finally:
            naming.reset(token)


class Collective(Linear):
    """Works on all examples together: ``over(size, x, bdim)`` gives the result and its batch axis.

    In a batch of another name it is mapped; without one there is nothing that it could mean.
    """

    over: Callable[[int, Any, int | None], tuple[Any, int | None]]


# The name of the batch whose rules are at work, for the programs inside of what they map.
naming: ContextVar[Any] = ContextVar("naming", default=None)

_warned: set[str] = set()


def _loop(
    prim: Primitive, size: int, values: list[Any], bdims: list[int | None], params: dict[str, Any]
) -> Any:
    """What `vmap` does for a primitive without a batch rule: one run per example."""
    if prim.name not in _warned:
        _warned.add(prim.name)
        warnings.warn(f"vmap: {prim.name} has no batch rule; it runs in a loop", stacklevel=2)
    runs = []
    for i in range(size):
        xs = [v if b is None else take_example(v, b, i) for v, b in zip(values, bdims, strict=True)]
        runs.append(prim(*xs, **params))
    if not prim.multiple:
        return stack(runs, axis=0), 0
    outs = tuple(stack(list(column), axis=0) for column in zip(*runs, strict=True))
    return outs, (0,) * len(outs)


def take_example(x: Any, bdim: int, i: int) -> Any:
    """Example `i` of a batch."""
    index: list[Any] = [FULL] * aval_of(x).ndim
    index[bdim] = i
    return getitem(x, index=tuple(index))


def move_batch(x: Any, bdim: int | None, to: int, size: int) -> Any:
    """`x` with its batch axis at `to`; repeated along it if it has none."""
    if bdim is None:
        shape = aval_of(x).shape
        x, bdim = broadcast_to(x, shape=(size, *shape)), 0
    ndim = aval_of(x).ndim
    to = to + ndim if to < 0 else to
    if bdim == to:
        return x
    axes = [i for i in range(ndim) if i != bdim]
    axes.insert(to, bdim)
    return transpose(x, axes=tuple(axes))


def batch_flat(
    f: Callable[..., Sequence[Any]], args: Sequence[Any], axes: Sequence[int | None], size: int
) -> list[tuple[Any, int | None]]:
    """Values and batch axes of `f`, which takes and returns flat lists; for batch rules."""
    return _batched_flat(_batch_trace(size, naming.get()), f, args, axes)


def _batch_trace(size: int, axis_name: Any) -> BatchTrace:
    if axis_name is None:
        return BatchTrace(current.get(), size)
    return NamedBatchTrace(current.get(), size, axis_name)


def _batched_flat(
    trace: BatchTrace, f: Callable[..., Any], args: Sequence[Any], axes: Sequence[int | None]
) -> list[tuple[Any, int | None]]:
    inputs = [x if b is None else BatchTracer(trace, x, b) for x, b in zip(args, axes, strict=True)]
    trace.function = origin(f)
    outs = run_under(trace, f, inputs)
    return [trace.parts(x) for x in outs]


# ---------------------------------------------------------------- the public function


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    *,
    axis_name: Any = None,
    axis_size: int | None = None,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """`fun` for a whole batch at once: ``vmap(fun)(xs)[i] == fun(xs[i])``, without a loop over `i`.

    `in_axes` is an int, None ("the same for all examples") or a tree of them that is a prefix of the
    tuple of positional arguments; keyword arguments are mapped along axis 0. `out_axes` likewise for
    the output. `axis_size` is needed where nothing is mapped; `chunk_size` bounds how many examples
    are computed at once. By `axis_name`, any hashable value, the functions of `funcgrad.lax` that work
    on all examples know the axis: `psum`, `pmean`, `all_gather`, `axis_index`, ...

    Raises: ShapeError: the mapped axes differ in length, or an axis does not exist.
    ArgumentError: nothing is mapped and `axis_size` is not given; an output is no array; a named axis
    in chunks.

    >>> import numpy as np
    >>> vmap(np.dot, in_axes=(0, None))(np.eye(2), np.array([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    require_callable("vmap", fun, makes=True)

    @functools.wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, treedef, axes = _flatten_mapped(args, kwargs, in_axes)
        size = _batch_size(leaves, axes, treedef, axis_size)

        def run(part: Sequence[Any], count: int) -> Any:
            return _run(fun, treedef, part, axes, count, out_axes, axis_name)

        if chunk_size is None or chunk_size >= size:
            return run(leaves, size)
        if axis_name is not None:
            raise ArgumentError(
                f"vmap: axis {axis_name!r} is known by its name, so it cannot come in chunks{where()}"
            )
        return _chunked(run, leaves, axes, size, chunk_size, out_axes)

    return mapped


def _flatten_mapped(
    args: tuple[Any, ...], kwargs: dict[str, Any], axes_tree: Any
) -> tuple[list[Any], Any, list[int | None]]:
    leaves, treedef = tree.flatten((args, kwargs))
    _, args_def = tree.flatten(args)
    if isinstance(axes_tree, list):
        axes_tree = tuple(axes_tree)
    axes = _flat_axes("vmap in_axes", args_def, axes_tree)
    axes += [0] * (len(leaves) - len(axes))
    ranked: list[int | None] = []
    for x, axis, path in zip(leaves, axes, treedef.paths(), strict=True):
        if axis is None:
            ranked.append(None)
            continue
        if not is_array(x):
            raise ArgumentError(f"vmap: argument {argument_name(path, 1)} {unfit(x)}{where()}")
        ndim = aval_of(x).ndim
        if not -ndim <= axis < ndim:
            raise ShapeError(
                f"vmap: argument {argument_name(path, 1)} has no axis {axis}: it is {aval_of(x)}; "
                f"give in_axes that exist, or None for what is not mapped{where()}"
            )
        ranked.append(axis % ndim)
    return leaves, treedef, ranked


def _flat_axes(name: str, treedef: Any, axes_tree: Any) -> list[Any]:
    try:
        axes = tree.flatten_axes(name, treedef, axes_tree)
    except ValueError as error:
        raise ShapeError(f"{error}{where()}") from None
    for axis in axes:
        if axis is not None and not isinstance(axis, int):
            raise ArgumentError(f"{name}: need ints and None, found {axis!r}{where()}")
    return axes


def _batch_size(
    leaves: Sequence[Any], axes: Sequence[int | None], treedef: Any, given: int | None
) -> int:
    sizes: dict[int, tuple[str, int | None]] = {}
    for x, axis, path in zip(leaves, axes, treedef.paths(), strict=True):
        if axis is not None:
            sizes.setdefault(aval_of(x).shape[axis], (argument_name(path, 1), axis))
    if given is not None:
        sizes.setdefault(given, ("axis_size", None))
    if not sizes:
        raise ArgumentError(
            f"vmap: nothing is mapped: every in_axes is None and axis_size is not given{where()}"
        )
    if len(sizes) > 1:
        found = ", ".join(
            name if axis is None else f"argument {name} has {n} along axis {axis}"
            for n, (name, axis) in sizes.items()
        )
        raise ShapeError(f"vmap: mapped axes differ in length: {found}{where()}")
    return next(iter(sizes))


def _run(
    f: Callable[..., Any],
    treedef: Any,
    leaves: Sequence[Any],
    axes: Sequence[int | None],
    size: int,
    out_axes: Any,
    axis_name: Any,
) -> Any:
    out_def: Any = None

    def flat(*xs: Any) -> list[Any]:
        nonlocal out_def
        args, kwargs = tree.unflatten(treedef, xs)
        outs, out_def = flat_outputs(f(*args, **kwargs))
        return outs

    trace = _batch_trace(size, axis_name)
    outs = _batched_flat(trace, flat, leaves, axes)
    places = _flat_axes("vmap out_axes", out_def, out_axes)
    moved = []
    for (x, bdim), to in zip(outs, places, strict=True):
        if to is None and bdim is not None:
            raise ShapeError(f"vmap: out_axes is None for an output that is batched{where()}")
        ndim = aval_of(x).ndim + (bdim is None)
        if to is not None and not -ndim <= to < ndim:
            raise ShapeError(
                f"vmap: out_axes has axis {to} for an output that has {ndim} axes with the batch"
                f"{where()}"
            )
        y = x if to is None else move_batch(x, bdim, to, size)
        moved.append(_own(y, bdim, leaves))
    return tree.unflatten(out_def, moved)


def _own(y: Any, bdim: int | None, arguments: Sequence[Any]) -> Any:
    """`y`, or a copy of it where a write into it would be one into an argument.

    What is the same for all examples would be one of them, seen often, and not to be written.
    """
    if isinstance(y, Tracer):
        shared = shows_another(y) or any(y is x for x in arguments)
        return snapshot(y, copy=False) if shared else y
    if y.__class__ is np.ndarray and (bdim is None or any(_shows(y, x) for x in arguments)):
        return y.copy()
    return y


def _shows(y: np.ndarray, x: Any) -> bool:
    return y is x or (
        y.base is not None and isinstance(x, np.ndarray) and np.may_share_memory(x, y)
    )


def _chunked(
    run: Callable[..., Any],
    leaves: Sequence[Any],
    axes: Sequence[int | None],
    size: int,
    chunk: int,
    out_axes: Any,
) -> Any:
    from_here = []
    for start in range(0, size, chunk):
        stop = min(start + chunk, size)
        part = [
            x if b is None else slice_axis(x, b, start, stop)
            for x, b in zip(leaves, axes, strict=True)
        ]
        from_here.append(run(part, stop - start))
    flat = [tree.flatten(y) for y in from_here]
    out_def = flat[0][1]
    places = _flat_axes("vmap out_axes", out_def, out_axes)
    columns = zip(*(ys for ys, _ in flat), strict=True)
    joined = [
        ys[0] if to is None else concatenate(*ys, axis=to % aval_of(ys[0]).ndim)
        for ys, to in zip(columns, places, strict=True)
    ]
    return tree.unflatten(out_def, joined)


def slice_axis(x: Any, axis: int, start: int, stop: int) -> Any:
    """``x[start:stop]`` along `axis`."""
    index: list[Any] = [FULL] * aval_of(x).ndim
    index[axis] = Slice(start, stop, 1)
    return getitem(x, index=tuple(index))
