"""Loops over rows: `scan`, `map`, `associative_scan`.

Where nothing is recorded, a scan is a Python loop over the user's function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core import EVAL, Aval, aval_of, current, dtype_of
from ..errors import ArgumentError, ConcretizationError, ShapeError, where
from ..ops.join import concatenate, stack
from ..views import snapshot
from ..weak import PYTHON_DTYPES
from .arguments import require_callable
from .bodies import (
    Body,
    agreed,
    as_type,
    boxed,
    joined,
    names_of,
    require_arrays,
    retyped,
    staged,
    strong,
)
from .checkpoint import checkpoint
from .numbers import of_numbers, strengthened, without_numbers
from .scan import Counts, scan_call
from .tape import TapeTracer

Step = Callable[[Any, Any], tuple[Any, Any]]
# Classes of numbers whose types they say.
_ONE_TYPE = frozenset([*PYTHON_DTYPES, np.bool_, np.int64, np.float32, np.float64, np.complex128])


class Loop:
    """A scan that is to be run: the body, the carry, the rows.

    `traced_once`: the body runs once, on traced values, also where nothing else is recorded.
    """

    traced_once = False

    def __init__(
        self, name: str, f: Step, init: Any, xs: Any, length: int | None, reverse: bool
    ) -> None:
        self.name = name
        self.f = f
        self.reverse = reverse
        self.carry, self.carry_def = tree.flatten(init)
        self.rows, self.rows_def = tree.flatten(xs)
        require_arrays(name, "init", self.carry, self.carry_def)
        require_arrays(name, "xs", self.rows, self.rows_def)
        self.length = _length(name, self.rows, self.rows_def, length)
        self.y_def: Any = None

    def step(self, carry: Any, x: Any) -> tuple[list[Any], list[Any]]:
        """The new carry and the row's results, as leaves."""
        out = self.f(carry, x)
        if not (isinstance(out, tuple) and len(out) == 2):
            raise ArgumentError(
                f"{self.name}: the body must return a pair (carry, y), found "
                f"{type(out).__name__}{where()}"
            )
        new, found = tree.flatten(out[0])
        require_structure(self.name, self.carry_def, found)
        ys, self.y_def = tree.flatten(out[1])
        return new, ys

    def run(self, *, recorded: bool = False) -> tuple[Any, Any]:
        """The last carry and the stacked results; `recorded`: by way of a program."""
        if self.length and not (staged() or recorded or Loop.traced_once):
            carry, ys = self.in_python()
        else:
            carry, ys = self.as_program()
        return tree.unflatten(self.carry_def, carry), tree.unflatten(self.y_def, ys)

    def in_python(self) -> tuple[list[Any], list[Any]]:
        carry = boxed(self.carry)
        found: list[list[Any]] = []
        steps = range(self.length)
        for i in reversed(steps) if self.reverse else steps:
            new, ys = self._python_step(carry, i)
            after = same_types(self.name, self.carry_def, carry, new)
            if not found and ys and _dtypes(carry) != _dtypes(after):
                # a Python number takes the type that the body gives it from the first step on
                typed = [
                    as_type(c, aval_of(x)) for c, x in zip(boxed(self.carry), after, strict=True)
                ]
                after, ys = self._python_step(typed, i)
            carry = after
            found.append(boxed(ys))
        if self.reverse:
            found.reverse()
        return strengthened(carry), [stack(column, axis=0) for column in zip(*found, strict=True)]

    def _python_step(self, carry: Sequence[Any], i: int) -> tuple[list[Any], list[Any]]:
        rows = tree.unflatten(self.rows_def, [snapshot(x[i], copy=True) for x in self.rows])
        return self.step(tree.unflatten(self.carry_def, carry), rows)

    def as_program(self) -> tuple[list[Any], list[Any]]:
        """As one step of the program that is being recorded."""
        row_avals = [Aval(a.shape[1:], a.dtype) for a in (aval_of(x) for x in self.rows)]
        both_def = tree.structure((tree.unflatten(self.carry_def, self.carry), self.row_tree()))
        body, avals = settled(
            self.name,
            self.carry_def,
            self.carry,
            lambda avals: Body(
                of_numbers(self.step, avals),
                both_def,
                [*(strong(a) for a in avals), *row_avals],
                may_not_run=not self.length,
            ),
        )
        avals = [strong(a) for a in avals]
        ys = [strong(a) for a in body.jaxpr.out_avals[len(avals) :]]
        (jaxpr,), consts = joined([retyped(without_numbers(body.jaxpr), [*avals, *ys])])
        carry = [as_type(c, a) for c, a in zip(self.carry, avals, strict=True)]
        outs = scan_call(
            *consts,
            *carry,
            *self.rows,
            jaxpr=jaxpr,
            counts=Counts(len(consts), len(carry)),
            length=self.length,
            reverse=self.reverse,
        )
        return list(outs[: len(carry)]), list(outs[len(carry) :])

    def row_tree(self) -> Any:
        return tree.unflatten(self.rows_def, self.rows)


def _dtypes(xs: Sequence[Any]) -> list[Any]:
    return [dtype_of(x) for x in xs]


def settled(
    name: str, carry_def: Any, carry: Sequence[Any], record: Callable[[list[Aval]], Body]
) -> tuple[Body, list[Aval]]:
    """The body for a carry whose Python numbers have the types that the body gives them, and these."""
    avals = [aval_of(c) for c in carry]
    while True:
        body = record(avals)
        found = common_types(name, carry_def, avals, body.jaxpr.out_avals[: len(avals)])
        if found == avals:
            return body, avals
        avals = found


def common_types(name: str, carry_def: Any, old: Sequence[Aval], new: Sequence[Aval]) -> list[Aval]:
    """The carry's types, from those before and after a step.

    Raises: ArgumentError: they differ.
    """
    found = []
    for i, (a, b) in enumerate(zip(old, new, strict=True)):
        common = agreed(a, b)
        if common is None:
            raise ArgumentError(
                f"{name}: the carry{names_of(carry_def)[i]} goes in as {a} and comes out as {b}; "
                f"it must keep its shape and dtype{where()}"
            )
        found.append(common)
    return found


def require_structure(name: str, carry_def: Any, found: Any) -> None:
    if found is not carry_def and found != carry_def:
        raise ArgumentError(
            f"{name}: the carry goes in as {carry_def} and comes out as {found}; it must keep its "
            f"structure{where()}"
        )


def _are_alike(a: Any, b: Any) -> bool:
    """Whether two values are of one type, as far as that is seen without asking long."""
    cls = a.__class__
    if cls is not b.__class__:
        return False
    if cls is TapeTracer:
        return _are_alike(a.value, b.value)
    if cls is np.ndarray:
        return a.dtype is b.dtype and a.shape == b.shape
    return cls in _ONE_TYPE


def same_types(name: str, carry_def: Any, old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    """The new carry, with the types of the old one."""
    if all(_are_alike(a, b) for a, b in zip(old, new, strict=True)):
        return list(new)
    before, after = [aval_of(x) for x in old], [aval_of(x) for x in new]
    types = common_types(name, carry_def, before, after)
    return [as_type(x, aval) for x, aval in zip(new, types, strict=True)]


def _length(name: str, rows: Sequence[Any], rows_def: Any, length: int | None) -> int:
    found: dict[int, str] = {} if length is None else {int(length): "length"}
    for i, x in enumerate(rows):
        shape = aval_of(x).shape
        leaf = f"xs{names_of(rows_def)[i]}"
        if not shape:
            raise ShapeError(f"{name}: {leaf} is a scalar; need an axis to go along{where()}")
        found.setdefault(shape[0], leaf)
    if not found:
        raise ArgumentError(f"{name}: how many steps? Give xs or length{where()}")
    if len(found) > 1:
        said = ", ".join(f"{leaf} says {n}" for n, leaf in found.items())
        raise ShapeError(f"{name}: the number of steps is not one: {said}{where()}")
    return next(iter(found))


# ---------------------------------------------------------------- blocks of steps


def _in_blocks(loop: Loop, size: int, *, keep: bool) -> tuple[Any, Any]:
    """The scan as one over blocks of `size` steps; unless `keep`, only their inputs are saved."""
    count, rest = divmod(loop.length, size)
    start = rest if loop.reverse else 0
    stop = start + count * size
    init = tree.unflatten(loop.carry_def, loop.carry)
    rows = loop.row_tree()

    def inner(carry: Any, xs: Any) -> tuple[Any, Any]:
        part = Loop(loop.name, loop.f, carry, xs, size, loop.reverse)
        if not keep:
            return part.run()
        new, ys = part.in_python()
        return tree.unflatten(part.carry_def, new), tree.unflatten(part.y_def, ys)

    blocks = tree.map(lambda x: _cut(x, start, stop, (count, size)), rows)
    outer = Loop(loop.name, inner if keep else checkpoint(inner), init, blocks, count, loop.reverse)
    try:
        carry, ys = outer.run(recorded=True)
    except ConcretizationError:  # the body branches on values
        carry, ys = outer.run()
    ys = tree.map(lambda y: y.reshape((count * size, *y.shape[2:])), ys)
    if rest:
        other = tree.map(lambda x: x[:rest] if loop.reverse else x[stop:], rows)
        carry, more = Loop(loop.name, loop.f, carry, other, rest, loop.reverse).run()
        ys = tree.map(
            lambda a, b: concatenate(*((b, a) if loop.reverse else (a, b)), axis=0), ys, more
        )
    return carry, ys


def _cut(x: Any, start: int, stop: int, shape: tuple[int, int]) -> Any:
    return x[start:stop].reshape((*shape, *x.shape[1:]))


# ---------------------------------------------------------------- the public functions


def scan(
    f: Step,
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int = 1,
    checkpoint_every: int | None = None,
    _split_transpose: bool = False,
) -> tuple[Any, Any]:
    """``c, y[i] = f(c, xs[i])`` for every i, from ``c = init``: the last `c`, and all `y` stacked.

    Where nothing is recorded this is a Python loop, and `f` may branch on values. In a program (`jit`,
    `make_jaxpr`) it is one step, whatever its length, and its gradient two. `reverse` goes from the
    last row to the first. `unroll`: how many steps the program writes out at once. With
    `checkpoint_every`, reverse mode keeps the carry every so many steps, and runs the steps between
    again. `_split_transpose`, of JAX's, changes nothing.

    Shapes: carry and `y` are trees; leaves of `xs` are ``(n, *a)``, those of the stacked `y`
    ``(n, *b)``.
    Dtypes: the carry keeps its own; a Python number in `init` takes the one that `f` gives it.
    Derivative: that of the composition; what `f` closes over is differentiated too.
    Raises: ArgumentError: `f` returns no pair, or the carry's type changes. ShapeError: the leaves of
    `xs` differ in length.
    Source: Griewank & Walther, "Algorithm 799: revolve", ACM TOMS 26 (2000), for `checkpoint_every`.

    >>> import funcgrad, numpy as np
    >>> total, sums = scan(lambda c, x: (c + x, c + x), 0.0, np.array([1.0, 2.0, 3.0]))
    >>> float(total), sums.tolist()
    (6.0, [1.0, 3.0, 6.0])
    >>> power = lambda x: scan(lambda c, _: (c * x, None), 1.0, length=5)[0]
    >>> float(funcgrad.grad(power)(2.0))
    80.0
    """
    require_callable("scan", f)
    for name, number in (("unroll", unroll), ("checkpoint_every", checkpoint_every)):
        if number is not None and not (isinstance(number, int | np.integer) and number > 0):
            raise ArgumentError(f"scan: {name} must be a positive int, found {number!r}{where()}")
    loop = Loop("scan", f, init, xs, length, reverse)
    size = min(checkpoint_every or loop.length, loop.length)
    if size < loop.length and current.get() is not EVAL:
        return _in_blocks(loop, size, keep=False)
    if min(unroll, loop.length) > 1 and staged():
        return _in_blocks(loop, min(unroll, loop.length), keep=True)
    return loop.run()


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """``f`` of every row of `xs`, one after another, stacked: `scan` without a carry.

    `vmap` computes the same for all rows at once, with the memory of all rows.

    Shapes: leaves of `xs` are ``(n, *a)``, those of the result ``(n, *b)``.   Dtypes: those of `f`.
    Derivative: that of `f`, row by row.
    Raises: ShapeError: the leaves of `xs` differ in length.
    Source: as `scan`.

    >>> import numpy as np
    >>> map(lambda x: x * x, np.array([1.0, 2.0])).tolist()
    [1.0, 4.0]
    """
    require_callable("map", f)
    return Loop("map", lambda _, x: ((), f(x)), (), xs, None, False).run()[1]


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """``x[0], fn(x[0], x[1]), fn(fn(x[0], x[1]), x[2]), ...``: about ``2 log2(n)`` calls of `fn`.

    `fn` is associative and works on many elements at once: it gets trees whose leaves are slices of
    those of `elems` along `axis`. With `reverse` it goes from the last element to the first: what is
    put together so far stays the first argument, as in JAX.

    Shapes: leaves of `elems` have one length along `axis`; the result is like `elems`.
    Dtypes: those of `fn`.
    Derivative: that of the composition.
    Raises: ShapeError: the leaves differ in length, or `fn` changes their shapes.
    Source: Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990.

    >>> import numpy as np
    >>> associative_scan(np.multiply, np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [1.0, 2.0, 6.0, 24.0]
    """
    require_callable("associative_scan", fn)
    leaves, treedef = tree.flatten(elems)
    require_arrays("associative_scan", "elems", leaves, treedef)
    lengths: dict[int, str] = {}
    for path, x in zip(treedef.paths(), leaves, strict=True):
        shape = aval_of(x).shape
        if not -len(shape) <= axis < len(shape):
            raise ShapeError(
                f"associative_scan: elems{tree.key_str(path)} has shape {list(shape)} and no axis "
                f"{axis}{where()}"
            )
        lengths.setdefault(shape[axis], tree.key_str(path))
    if len(lengths) > 1:
        said = ", ".join(f"elems{leaf} has {n}" for n, leaf in lengths.items())
        raise ShapeError(f"associative_scan: lengths along axis {axis} differ: {said}{where()}")

    def combine(xs: list[Any], ys: list[Any]) -> list[Any]:
        found, out_def = tree.flatten(fn(*(tree.unflatten(treedef, p) for p in (xs, ys))))
        require_structure("associative_scan", treedef, out_def)
        for path, x, out in zip(treedef.paths(), xs, found, strict=True):
            if aval_of(out).shape != aval_of(x).shape:
                raise ShapeError(
                    f"associative_scan: fn makes shape {list(aval_of(out).shape)} of "
                    f"elems{tree.key_str(path)} of shape {list(aval_of(x).shape)}; it gets many "
                    f"elements at once, along axis {axis}: vmap it if it is for one{where()}"
                )
        return found

    if reverse:
        leaves = [_along(x, axis, None, None, -1) for x in leaves]
    outs = _prefixes(combine, leaves, axis)
    if reverse:
        outs = [_along(x, axis, None, None, -1) for x in outs]
    return tree.unflatten(treedef, outs)


def _along(x: Any, axis: int, *limits: int | None) -> Any:
    """``x[slice(*limits)]`` along an axis."""
    index: list[Any] = [slice(None)] * aval_of(x).ndim
    index[axis] = slice(*limits)
    return x[tuple(index)]


def _prefixes(
    combine: Callable[[list[Any], list[Any]], list[Any]], xs: list[Any], axis: int
) -> list[Any]:
    """All prefixes: those that end at odd places by recursion on pairs, the others from them."""
    n = aval_of(xs[0]).shape[axis] if xs else 0
    if n < 2:
        return xs
    evens = [_along(x, axis, 0, n - n % 2, 2) for x in xs]
    odds = [_along(x, axis, 1, None, 2) for x in xs]
    at_odd = _prefixes(combine, combine(evens, odds), axis)
    first = [_along(x, axis, 0, 1) for x in xs]
    if n == 2:
        at_even = first
    else:
        before = [_along(y, axis, 0, (n - 1) // 2) for y in at_odd]
        later = combine(before, [_along(x, axis, 2, None, 2) for x in xs])
        at_even = [
            concatenate(a, b, axis=axis % aval_of(a).ndim)
            for a, b in zip(first, later, strict=True)
        ]
    return [_interleaved(a, b, axis) for a, b in zip(at_even, at_odd, strict=True)]


def _interleaved(a: Any, b: Any, axis: int) -> Any:
    """``a[0], b[0], a[1], b[1], ...``; `a` may have one more."""
    shape = aval_of(b).shape
    axis %= len(shape)
    pairs = stack([_along(a, axis, 0, shape[axis]), b], axis=axis + 1)
    out = pairs.reshape((*shape[:axis], 2 * shape[axis], *shape[axis + 1 :]))
    if aval_of(a).shape[axis] == shape[axis]:
        return out
    return concatenate(out, _along(a, axis, shape[axis], None), axis=axis)
