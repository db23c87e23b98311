"""Recording programs: `JaxprTrace`, and `make_jaxpr`, `eval_shape` over it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from .. import tree
from ..array import TracedArray
from ..core import (
    Aval,
    Primitive,
    Trace,
    Tracer,
    as_operand,
    aval_of,
    current,
    escaped,
    require_live,
    run_under,
)
from ..errors import OperandError, UnhashableParameterError, user_frame, where
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var
from ..locks import hold, is_constant, release
from ..ops.structural import broadcast_to
from ..views import refresh, snapshot, version_of
from ..weak import plain
from .arguments import flat_outputs, origin, require_arrays, require_callable

_LOCKED = (
    "funcgrad: the array is read-only because the program that is being recorded reads it, and would "
    "read there what is written now; write into a copy, or make the array with fnp.zeros(...)"
)


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | complex | np.generic | np.ndarray)


class JaxprTracer(TracedArray):
    """A value known by its type, and the variable that stands for it in the program."""

    __slots__ = ("symbol", "value")

    def __init__(self, trace: JaxprTrace, var: Var, value: Any = None) -> None:
        self.owner = trace
        self.alias = None
        self.symbol = var
        self.value = value

    @property
    def aval(self) -> Aval:
        return self.symbol.aval

    @property
    def underlying(self) -> Any:
        return self.value

    def assign(self, other: Any) -> None:
        self.symbol = other.symbol
        self.value = other.value


class JaxprTrace(Trace):
    """Records what is done to its tracers; the rest is left to the parent.

    `concrete`: also run every equation, so that Python may branch on values. `spreads`: a number that
    is broadcast is an equation too, and no array; so a program that is to be compiled stays simple.
    `encloses`: what is done to tracers of others is recorded as well, as it may not be done at all.
    `linear`: of tangents; what has an effect and no operand of theirs is no part of it.
    `repeats`: it is run any number of times. `xp`: the array module that it will run on, if not the
    parent's, so that constants made on the way are there.
    """

    __slots__ = (
        *("concrete", "constants", "encloses", "eqns"),
        *("lasting", "linear", "locked", "repeats", "spreads", "xp"),
    )
    transform = "jit, make_jaxpr or lax"

    def __init__(
        self,
        parent: Trace,
        *,
        concrete: bool = False,
        lasting: bool = False,
        spreads: bool = False,
        encloses: bool = False,
        linear: bool = False,
        repeats: bool = False,
        xp: ModuleType | None = None,
    ) -> None:
        self.parent = parent
        self.xp = xp
        self.repeats = repeats
        self.linear = linear
        self.spreads = spreads
        self.encloses = encloses
        self.concrete = concrete
        self.lasting = lasting
        self.eqns: list[Eqn] = []
        # Variable, contents and the value that was given, which is kept so that its id stays its own.
        self.constants: dict[tuple[int, int], tuple[Var, Any, Any]] = {}
        self.locked: list[Any] | None = None  # while a function runs

    def run(self, f: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        """``f(*inputs)``, recorded. Plain arrays that are read are locked until it returns."""
        self.locked = []
        try:
            return run_under(self, f, inputs)
        except ValueError as error:
            if self.locked and "read-only" in str(error):
                error.add_note(_LOCKED)
            raise
        finally:
            release(self.locked)
            self.locked = None

    def new_input(self, aval: Aval, value: Any = None) -> JaxprTracer:
        return JaxprTracer(self, Var(aval), value)

    def namespace(self) -> ModuleType:
        return self.xp or self.parent.namespace()

    def lift(self, value: Any) -> JaxprTracer:
        return JaxprTracer(self, self._constant(value), value)

    def _constant(self, value: Any) -> Var:
        # What others trace may be written into between two reads.
        key = id(value), version_of(value) if isinstance(value, Tracer) else 0
        known = self.constants.get(key)
        if known is None:
            _require_numbers(value)
            made = Var(aval_of(value)), snapshot(value, copy=self.lasting), value
            known = self.constants.setdefault(key, made)  # NOTE [Threads on a tape] in `tape.py`
            if self.locked is not None and isinstance(value, np.ndarray):
                lock = hold(value)
                self.locked += [] if lock is None else [lock]
        return known[0]

    def atom(self, x: Any, what: str = "result") -> Atom:
        """The variable or literal that stands for `x` in this program; `what` is for errors."""
        if x.__class__ is JaxprTracer and x.owner is self:
            if x.alias is not None:
                refresh(x)
            return x.symbol
        if isinstance(x, bool | int | float | complex | np.generic):
            return Literal(plain(x))
        if self.spreads and x.__class__ is np.ndarray and not x.shape and is_constant(x):
            return Literal(x[()])
        if isinstance(x, Tracer) and x.owner.is_inside(self):
            raise escaped(what, x)  # of an inner function
        require_live(what, x)
        return self._constant(x)

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if (
            not any(
                (a.__class__ is JaxprTracer and a.owner is self)
                or (self.encloses and isinstance(a, Tracer))
                for a in args
            )
            and (
                not self.spreads
                or prim is not broadcast_to
                or np.ndim(args[0])
                or not _is_number(args[0])
            )
            and (self.linear or not prim.outside)
        ):
            return self.parent.process(prim, args, params)
        if prim.closes and not self.concrete:
            held, params = prim.closed(list(map(aval_of, args)), params)
            args = (*held, *args)
        inputs = [self.atom(as_operand(prim, i, a), prim.name) for i, a in enumerate(args)]
        if params:
            _require_hashable(prim, params)
        if self.concrete:
            values = [
                a.value if a.__class__ is JaxprTracer and a.owner is self else a for a in args
            ]
            ans = self.parent.process(prim, values, params)
            avals: Any = map(aval_of, ans) if prim.multiple else aval_of(ans)
        else:
            ans = None
            avals = prim.aval(*[a.aval for a in inputs], **params)
        source = _source() if self.lasting else None
        if not prim.multiple:
            out = Var(avals)
            self.eqns.append(Eqn(prim, inputs, params, (out,), source))
            return JaxprTracer(self, out, ans)
        outs = tuple(map(Var, avals))
        self.eqns.append(Eqn(prim, inputs, params, outs, source))
        found = ans if self.concrete else (None,) * len(outs)
        return tuple(JaxprTracer(self, v, x) for v, x in zip(outs, found, strict=True))

    def finish(self, in_vars: Sequence[Var], outs: Sequence[Any]) -> Jaxpr:
        """The program from `in_vars` to `outs`."""
        atoms = [self.atom(x) for x in outs]
        constants = self.constants.values()
        const_vars, consts = [var for var, _, _ in constants], [value for _, value, _ in constants]
        return Jaxpr(in_vars, self.eqns, atoms, const_vars, consts)


def _require_numbers(x: Any) -> None:
    if isinstance(x, np.ndarray) and x.dtype.kind == "O":
        raise OperandError(
            f"a program computes with {aval_of(x)}, an array of Python objects; need one of numbers: "
            f"convert it with .astype(float){where()}"
        )


def _require_hashable(prim: Primitive, params: dict[str, Any]) -> None:
    for name, value in params.items():
        try:
            hash(value)
        except TypeError:
            raise UnhashableParameterError(
                f"{prim.name}: parameter {name}={value!r} is not hashable, so the program that holds "
                f"it could not be compared; pass a tuple instead of a list{where()}"
            ) from None


def _source() -> tuple[str, int] | None:
    frame = user_frame()
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def trace_to_jaxpr(
    f: Callable[..., Sequence[Any]],
    avals: Sequence[Aval],
    *,
    values: Sequence[Any] | None = None,
    lasting: bool = False,
) -> Jaxpr:
    """The program of `f`, which takes and returns flat lists, for inputs of the given types.

    With `values`, `f` also runs on them, so that Python may branch on what it computes.
    `lasting`: the program outlives the call, so constants are copied and source lines are kept.
    """
    trace = JaxprTrace(current.get(), concrete=values is not None, lasting=lasting)
    inputs = [
        trace.new_input(aval, None if values is None else values[i]) for i, aval in enumerate(avals)
    ]
    in_vars = [x.symbol for x in inputs]
    trace.function = origin(f)
    outs = trace.run(f, inputs)
    return trace.finish(in_vars, outs)


def make_jaxpr(fun: Callable[..., Any]) -> Callable[..., Jaxpr]:
    """The program of `fun`: ``make_jaxpr(fun)(*args)`` traces `fun` on the types of `args`.

    Raises: ConcretizationError: `fun` branches on a traced value.
    Source: Frostig, Johnson & Leary, "Compiling machine learning programs via high-level tracing",
    SysML 2018.

    >>> import numpy as np
    >>> make_jaxpr(lambda x: (np.sin(x) * 2.0).sum())(np.ones(3))
    { lambda ; a:f64[3] . let
        b:f64[3] = sin a
        c:f64[3] = multiply b 2.0
        d:f64[] = sum[axis=(0,)] c
      in (d,) }
    """
    require_callable("make_jaxpr", fun, makes=True)

    @functools.wraps(fun)
    def traced(*args: Any, **kwargs: Any) -> Jaxpr:
        leaves, treedef = tree.flatten((args, kwargs))
        require_arrays("make_jaxpr", leaves, treedef, 1)

        def flat(*xs: Any) -> list[Any]:
            args, kwargs = tree.unflatten(treedef, xs)
            return flat_outputs(fun(*args, **kwargs))[0]

        return trace_to_jaxpr(flat, [aval_of(x) for x in leaves], lasting=True)

    return traced


class _OfTypes(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Aval)


class ShapeDtypeStruct(metaclass=_OfTypes):
    """The type of an array, an `Aval`, which stands for one where nothing is computed.

    `sharding` changes nothing.

    >>> x = ShapeDtypeStruct((2, 3), float)
    >>> x, isinstance(x, ShapeDtypeStruct), eval_shape(lambda x: x @ x.T, x)
    (f64[2,3], True, f64[2,2])
    """

    def __new__(
        cls, shape: Sequence[int], dtype: Any, weak_type: bool = False, *, sharding: Any = None
    ) -> Any:
        return Aval(tuple(shape), np.dtype(dtype), weak_type)

    @staticmethod
    def like(x: Any) -> Aval:
        """The type of an array."""
        return aval_of(x)


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The types of ``fun(*args, **kwargs)`` in the output's tree, without computing anything.

    Raises: ConcretizationError: `fun` branches on a traced value.

    >>> import numpy as np
    >>> eval_shape(lambda x: x + 1.0, np.ones((2, 3)))
    f64[2,3]
    """
    require_callable("eval_shape", fun)
    leaves, treedef = tree.flatten((args, kwargs))
    require_arrays("eval_shape", leaves, treedef, 1)
    out_def: Any = None

    def flat(*xs: Any) -> list[Any]:
        nonlocal out_def
        args, kwargs = tree.unflatten(treedef, xs)
        outs, out_def = flat_outputs(fun(*args, **kwargs))
        return outs

    jaxpr = trace_to_jaxpr(flat, [aval_of(x) for x in leaves])
    return tree.unflatten(out_def, jaxpr.out_avals)
