"""Lowering: a jaxpr as a list of NumPy calls with known types.

Layer 4½. A primitive's implementation is the one definition of what it computes: it is run on
`Symbol`s, which answer NumPy's protocols by writing a `Step` for every call. What an implementation
asks beyond that (a number, an attribute that only an array has) cannot be answered; then the whole
implementation is one step, a call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..algebra import Elementwise, ElementwiseConstant
from ..choose import choose
from ..core import EVAL, Primitive, run_under
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, does_something
from ..ops.cast import as_number
from ..ops.index import FULL, Slice, embed
from ..ops.sparse import sparse_product
from ..ops.structural import diagonal_embed
from ..transforms.callbacks import Callback
from ..weak import number
from .simplify import simplify
from .steps import (
    BITS,
    CALL,
    CAST,
    LOOP,
    REDUCE,
    UFUNC,
    VIEW,
    WHERE,
    Constant,
    Lowered,
    NotLowerableError,
    Rows,
    Step,
    Value,
)


class Symbol(NDArrayOperatorsMixin):
    """Stands for an array while an implementation runs; it may be written into as a whole."""

    def __init__(self, writer: Writer, value: Value) -> None:
        self.writer = writer
        self.of = value

    @property
    def shape(self) -> tuple[int, ...]:
        return self.of.shape

    @property
    def dtype(self) -> Any:
        return self.of.dtype

    @property
    def ndim(self) -> int:
        return len(self.of.shape)

    @property
    def size(self) -> int:
        return self.of.size

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return self.writer.ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        writer = _FUNCTIONS.get(function)
        if writer is None:
            raise NotLowerableError(function.__name__)
        return writer(self.writer, *args, **options)

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise NotLowerableError("an array")

    def __bool__(self) -> bool:
        raise NotLowerableError("a truth value")

    def __float__(self) -> float:
        raise NotLowerableError("a number")

    def __index__(self) -> int:
        raise NotLowerableError("an index")

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Any:
        raise NotLowerableError("elements")

    def __setitem__(self, index: Any, x: Any) -> None:
        raise NotLowerableError("a write")

    def __getitem__(self, index: Any) -> Symbol:
        entries = index if isinstance(index, tuple) else (index,)
        if not all(e is None or e is ... or e.__class__ in (int, slice) for e in entries):
            raise NotLowerableError("an index of arrays")
        shape = np.broadcast_to(np.empty((), np.bool_), self.shape)[index].shape
        return self.writer.view(f"{{}}[{_index_text(entries)}]", self, shape)

    def __pow__(self, other: Any) -> Any:
        # NumPy's operator has shorter ways for these; its ufunc has not.
        if other.__class__ in (int, float) and self.dtype.kind in "fc" and not self.of.weak:
            short = {2: np.square, 1: np.positive, 0.5: np.sqrt, -1: np.reciprocal}.get(other)
            if short is not None:
                return short(self)
        return np.power(self, other)

    def reshape(self, *shape: Any) -> Symbol:
        shape = tuple(shape[0]) if shape[0].__class__ in (tuple, list) else shape
        if -1 in shape:
            known = math.prod(n for n in shape if n != -1)
            shape = tuple(self.size // known if n == -1 else n for n in shape)
        if shape == self.shape:
            return self
        return self.writer.view(f"{{}}.reshape({shape!r})", self, shape)

    def transpose(self, axes: Sequence[int]) -> Symbol:
        if tuple(axes) == tuple(range(self.ndim)):
            return self
        shape = tuple(self.shape[a] for a in axes)
        return self.writer.view(f"{{}}.transpose({tuple(axes)!r})", self, shape)

    @property
    def T(self) -> Symbol:
        return self.transpose(tuple(reversed(range(self.ndim))))

    def astype(self, dtype: Any, copy: bool = True) -> Symbol:
        dtype = np.dtype(dtype)
        if dtype == self.dtype and not self.of.weak:
            return self
        if self.dtype.kind == "c" and dtype.kind != "c":
            raise NotLowerableError("a part")
        return self.writer.step(CAST, dtype, [self], self.shape, dtype)

    def view(self, dtype: Any) -> Symbol:
        if not self.writer.has_bits:
            raise NotLowerableError("other numbers of the same bits")
        return self.writer.step(BITS, dtype, [self], self.shape, dtype)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        return self.writer.reduce(np.add, self, axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        return self.writer.reduce(np.maximum, self, axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        return self.writer.reduce(np.minimum, self, axis, keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> Symbol:
        return self.writer.reduce(np.multiply, self, axis, keepdims)

    def dot(self, other: Any) -> Symbol:
        return self.writer.product(np.dot, self, other)


def _index_text(entries: Sequence[Any]) -> str:
    def text(e: Any) -> str:
        if e.__class__ is not slice:
            return "..." if e is ... else repr(e)
        parts = ["" if p is None else repr(p) for p in (e.start, e.stop)]
        return ":".join(parts if e.step in (None, 1) else [*parts, repr(e.step)])

    return ", ".join(map(text, entries)) or "()"


class Namespace:
    """NumPy for implementations: its functions reach symbols by protocol, but for these three."""

    __name__ = "numpy"

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        if x.__class__ is not Symbol:
            return np.asarray(x, dtype)
        return x if dtype is None else x.astype(dtype)

    def array(self, x: Any, *args: Any, **options: Any) -> Any:
        if x.__class__ is Symbol:
            raise NotLowerableError("a copy")
        return np.array(x, *args, **options)

    def result_type(self, *xs: Any) -> Any:
        return np.result_type(*[_promoting(x.of) if x.__class__ is Symbol else x for x in xs])


def _promoting(value: Value) -> Any:
    return value.dtype.type(0).item() if value.weak else value.dtype


XP = Namespace()


class Writer:
    """Collects steps."""

    has_bits = False  # whether what they are for can say `BITS`

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.constants: dict[int, Constant] = {}
        self.alive: list[Any] = []  # so that the ids above stay theirs

    def value(self, x: Any) -> Value:
        if x.__class__ is Symbol:
            return x.of
        if not isinstance(x, np.ndarray | np.generic | bool | int | float | complex):
            raise NotLowerableError(f"an operand {type(x).__name__}")
        return self.constant(x)

    def constant(self, x: Any) -> Constant:
        found = self.constants.get(id(x))
        if found is None:
            dense = np.ascontiguousarray(x) if isinstance(x, np.ndarray) and x.ndim else x
            found = self.constants[id(x)] = Constant(dense)
            self.alive.append(x)
        return found

    def step(
        self,
        kind: str,
        function: Any,
        operands: Sequence[Any],
        shape: tuple[int, ...],
        dtype: Any,
        options: Any = None,
    ) -> Symbol:
        out = Value(shape, dtype)
        self.steps.append(Step(kind, function, list(map(self.value, operands)), [out], options))
        return Symbol(self, out)

    def ufunc(self, ufunc: Any, method: str, inputs: Sequence[Any], options: dict) -> Any:
        outs = options.pop("out", None)
        dtype = options.pop("dtype", None)
        if method != "__call__" or options or ufunc.nout != 1 or ufunc.signature is not None:
            if ufunc is np.matmul and not options and outs is None:
                return self.product(np.matmul, *inputs)
            raise NotLowerableError(ufunc.__name__)
        values = list(map(self.value, inputs))
        out = self.step(
            UFUNC,
            ufunc,
            inputs,
            np.broadcast_shapes(*[v.shape for v in values]),
            result_dtype(ufunc, values) if dtype is None else dtype,
            dtype,
        )
        if outs is None:
            return out
        (target,) = outs
        if target.__class__ is not Symbol or target.shape != out.shape or target.dtype != out.dtype:
            raise NotLowerableError("out=")
        target.of = out.of
        return target

    def reduce(self, ufunc: Any, x: Symbol, axis: Any, keepdims: bool) -> Symbol:
        axes = range(x.ndim) if axis is None else (axis,) if axis.__class__ is int else axis
        normal = tuple(a % x.ndim for a in axes)
        if not normal and ufunc.reduce(np.ones(1, x.dtype)).dtype == x.dtype:
            return x
        shape = tuple(
            1 if a in normal else n for a, n in enumerate(x.shape) if keepdims or a not in normal
        )
        if x.of.weak:
            raise NotLowerableError("a sum of a number")
        dtype = ufunc.reduce(np.ones(1, x.dtype)).dtype
        if not normal:
            return x.astype(dtype)
        if dtype == x.dtype and all(x.shape[a] == 1 for a in normal):  # of one number each
            if ufunc is np.add:  # which starts from 0: a sum of -0.0 is 0.0
                x = self.ufunc(np.add, "__call__", [x, 0], {})
            return x if keepdims else self.view(f"{{}}.reshape({shape!r})", x, shape)
        return self.step(REDUCE, ufunc, [x], shape, dtype, (normal, keepdims))

    def view(self, template: str, x: Symbol, shape: tuple[int, ...]) -> Symbol:
        if x.of.weak:
            raise NotLowerableError("a view of a number")
        return self.step(VIEW, template, [x], shape, x.dtype)

    def product(self, function: Any, x: Any, y: Any) -> Symbol:
        x, y = (Symbol(self, self.value(v)) for v in (x, y))
        if x.of.weak or y.of.weak or not x.ndim or not y.ndim:
            raise NotLowerableError("a product with a number")
        stand_in = [np.broadcast_to(np.zeros((), v.dtype), v.shape) for v in (x, y)]
        if max(x.size, y.size) > 1 << 16 or function is np.matmul:
            shape = _matmul_shape(x.shape, y.shape)
        else:
            shape = function(*stand_in).shape
        return self.step(CALL, function, [x, y], shape, np.result_type(x.dtype, y.dtype))


def _matmul_shape(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    lead = np.broadcast_shapes(x[:-2], y[:-2])
    return (*lead, *x[-2:-1], *(y[-1:] if len(y) > 1 else ()))


def result_dtype(ufunc: Any, values: Sequence[Value]) -> Any:
    """The dtype of ``ufunc(*values)``, Python numbers being weak."""
    return loop_dtypes(ufunc, values)[-1]


def step_dtypes(step: Step) -> tuple[Any, ...]:
    """The dtypes of the loop of a ufunc step."""
    if step.options is not None:
        return (step.options,) * (len(step.operands) + 1)
    return loop_dtypes(step.function, step.operands)


def loop_dtypes(ufunc: Any, values: Sequence[Value]) -> tuple[Any, ...]:
    """The dtypes of NumPy's loop for ``ufunc(*values)``: of the operands, and of the result."""
    alone = all(v.weak for v in values)
    kinds = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
    given = [v.dtype if alone or not v.weak else kinds[v.dtype.kind] for v in values]
    try:
        return ufunc.resolve_dtypes((*given, None))
    except TypeError:
        raise NotLowerableError(ufunc.__name__) from None


# ---------------------------------------------------------------- NumPy's functions on symbols


def _where(w: Writer, condition: Any, x: Any, y: Any) -> Symbol:
    values = [w.value(v) for v in (condition, x, y)]
    dtype = np.result_type(*map(_promoting, values[1:]))
    return w.step(
        WHERE, choose, [condition, x, y], np.broadcast_shapes(*[v.shape for v in values]), dtype
    )


def _broadcast_to(w: Writer, x: Any, shape: tuple[int, ...]) -> Symbol:
    return w.view(f"np_broadcast_to({{}}, {tuple(shape)!r})", x, tuple(shape))


def _clip(w: Writer, x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


def _count_nonzero(w: Writer, x: Symbol, axis: Any = None) -> Symbol:
    hit: Any = x if x.dtype.kind == "b" else np.not_equal(x, 0)
    return w.reduce(np.add, hit, axis, False)


def _squeeze(w: Writer, x: Symbol, axis: Any) -> Symbol:
    return x.reshape(tuple(n for a, n in enumerate(x.shape) if a not in axis))


_FUNCTIONS: dict[Any, Any] = {
    np.where: _where,
    np.clip: _clip,
    np.count_nonzero: _count_nonzero,
    np.broadcast_to: _broadcast_to,
    np.reshape: lambda w, x, shape: x.reshape(shape),
    np.transpose: lambda w, x, axes: x.transpose(axes),
    np.squeeze: _squeeze,
    np.max: lambda w, x, axis=None, keepdims=False: x.max(axis, keepdims),
    np.min: lambda w, x, axis=None, keepdims=False: x.min(axis, keepdims),
    np.prod: lambda w, x, axis=None, keepdims=False: x.prod(axis, keepdims),
    np.sum: lambda w, x, axis=None, keepdims=False: x.sum(axis, keepdims),
}


# ---------------------------------------------------------------- programs


def lower(jaxpr: Jaxpr) -> Lowered:
    """The steps of a program."""
    writer = Writer()
    env: dict[Atom, Value] = {}
    inputs = []
    for var in (*jaxpr.const_vars, *jaxpr.in_vars):
        env[var] = Value(var.aval.shape, var.aval.dtype, var.aval.weak)
        inputs.append(env[var])
    for eqn in jaxpr.eqns:
        operands = [_operand(writer, a, env) for a in eqn.inputs]
        weak = [a.aval.weak for a in eqn.inputs]
        if any(weak) and not all(weak):
            operands = _beside_arrays(writer, eqn, operands)
        env.update(zip(eqn.outs, _equation(writer, eqn, operands), strict=True))
    outs = [writer.constant(a.value) if a.__class__ is Literal else env[a] for a in jaxpr.outs]
    return Lowered(inputs, writer.steps, outs)


def _operand(writer: Writer, atom: Atom, env: dict[Atom, Value]) -> Any:
    """What an implementation is given: what is computed of constants alone is computed now."""
    if isinstance(atom, Literal):
        return atom.value
    value = env[atom]
    if not isinstance(value, Constant):
        return Symbol(writer, value)
    return number(value.value) if atom.aval.weak else value.value


def _beside_arrays(writer: Writer, eqn: Eqn, operands: Sequence[Any]) -> list[Any]:
    """The operands, those computed from Python's numbers as what they are beside arrays.

    Until then they are arrays of the program. Elementwise, they have the type that is computed in; an
    integer that may be too large for it, and what else is done, is given the number.
    """
    dtype = None  # keys beside numbers have none in common
    if isinstance(eqn.prim, Elementwise | ElementwiseConstant):
        dtype = np.result_type(*[a.aval.promoting() for a in eqn.inputs])

    def seen(a: Atom, x: Any) -> Any:
        if not a.aval.weak or x.__class__ is not Symbol or x.of.weak:
            return x
        holds = dtype is not None and (dtype.kind in "fc" or dtype == np.int64)
        return x.astype(dtype) if holds else _as_number(writer, x)

    return [seen(a, x) for a, x in zip(eqn.inputs, operands, strict=True)]


def _as_number(writer: Writer, x: Symbol) -> Symbol:
    out = Value((), x.dtype, weak=True)
    writer.steps.append(Step(CALL, as_number, [x.of], [out], {}))
    return Symbol(writer, out)


def _equation(writer: Writer, eqn: Eqn, operands: Sequence[Any]) -> list[Value]:
    if eqn.prim.name == "scan" and not eqn.params["jaxpr"].consts:
        return _loop(writer, eqn, operands)
    if eqn.prim is diagonal_embed and eqn.outs[0].aval.size:
        return [_diagonal(writer, writer.value(operands[0]), **eqn.params)]
    written = len(writer.steps)
    avals = [v.aval for v in eqn.outs]
    try:
        # a callback's values, and a sparse matrix, are those of a run
        if does_something(eqn) or isinstance(eqn.prim, Callback) or eqn.prim is sparse_product:
            raise NotLowerableError("what is done when the program runs")
        made = run_under(EVAL, _run, (eqn.prim, operands, eqn.params))
        outs = [writer.value(x) for x in (made if eqn.prim.multiple else (made,))]
        if all(
            v.shape == a.shape and v.dtype == a.dtype and not v.weak
            for v, a in zip(outs, avals, strict=True)
        ):
            return outs
    except (NotLowerableError, AttributeError, TypeError, ValueError, IndexError):
        pass
    del writer.steps[written:]
    if not _takes_numbers(eqn.prim):
        operands = [_as_array(x) for x in operands]
    values = [Value(a.shape, a.dtype, a.weak) for a in avals]
    writer.steps.append(Step(CALL, eqn.prim, list(map(writer.value, operands)), values, eqn.params))
    return values


def _takes_numbers(prim: Primitive) -> bool:
    """Whether its implementation may depend on what is a Python number, and not only on values."""
    return isinstance(prim, Elementwise | ElementwiseConstant) or prim.forward is not None


def _as_array(x: Any) -> Any:
    return x.astype(x.dtype) if x.__class__ is Symbol and x.of.weak else x


def _diagonal(
    writer: Writer, x: Value, shape: tuple[int, ...], offset: int, axis1: int, axis2: int
) -> Value:
    """`diagonal_embed` as every so many elements of rows one after another, which C can say."""
    others = [n for i, n in enumerate(shape) if i not in (axis1, axis2)]
    m, n = shape[axis1], shape[axis2]
    start = max(0, -offset) * n + max(0, offset)
    stop = start + (x.shape[-1] - 1) * (n + 1) + 1
    options: dict[str, Any] = {
        "shape": (*others, m * n),
        "index": (*(FULL,) * len(others), Slice(start, stop, n + 1)),
    }
    flat = Value(options["shape"], x.dtype)
    writer.steps.append(Step(CALL, embed, [x], [flat], options))
    order: list[int] = list(range(len(others)))
    for axis, place in sorted(((axis1, len(others)), (axis2, len(others) + 1))):
        order.insert(axis, place)
    return Symbol(writer, flat).reshape((*others, m, n)).transpose(order).of


def _loop(writer: Writer, eqn: Eqn, operands: Sequence[Any]) -> list[Value]:
    p = eqn.params
    rows = Rows(p["counts"].consts, p["counts"].carries, p["length"], p["reverse"])
    outs = [Value(v.aval.shape, v.aval.dtype) for v in eqn.outs]
    body = lower(simplify(p["jaxpr"]))
    writer.steps.append(Step(LOOP, body, list(map(writer.value, operands)), outs, rows))
    return outs


def _run(prim: Primitive, operands: Sequence[Any], params: dict[str, Any]) -> Any:
    return prim.impl(XP, *operands, **params)
