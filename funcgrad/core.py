"""Types, primitives, and who interprets them: `Aval`, `Primitive`, `Tracer`, `Trace`, `current`.

Layer 1. A primitive does not know how it is run: calling it asks the *current trace*. The
outermost trace evaluates on arrays; every transform installs a trace of its own around the user's
function, which interprets a primitive and asks its parent for the values underneath.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import threading
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import numpy as np

from .backend import NAMESPACES, UNKNOWN, namespace, register, unfit, untabled
from .errors import (
    ArgumentError,
    EscapedTracerError,
    FuncgradError,
    MissingRuleError,
    OperandError,
    where,
)
from .weak import PYTHON_DTYPES

_SHORT = {"float": "f", "complex": "c", "int": "i", "uint": "u"}


class Aval:
    """The type of an array: shape and dtype, printed as ``f64[3,2]``.

    `weak` marks a bare Python number, which does not widen the arrays it meets (NEP 50).

    >>> Aval((3, 2), np.dtype("float64"))
    f64[3,2]
    """

    __slots__ = ("dtype", "shape", "weak")

    def __init__(self, shape: tuple[int, ...], dtype: Any, weak: bool = False) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weak = weak

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def sharding(self) -> None:
        """How it is cut for several devices: not at all."""
        return None

    def to_tangent_aval(self) -> Aval:
        """The type of its derivatives."""
        return Aval(self.shape, tangent_dtype(self.dtype))

    def promoting(self) -> Any:
        """What `np.result_type` should see: the dtype, or a bare Python number if weak."""
        return self.dtype.type(0).item() if self.weak else self.dtype

    def __eq__(self, other: object) -> bool:
        return (
            other.__class__ is Aval
            and self.shape == other.shape
            and self.dtype == other.dtype
            and self.weak == other.weak
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.weak))

    def __repr__(self) -> str:
        name = self.dtype.name
        kind = name.rstrip("0123456789")
        short = _SHORT.get(kind, kind) + name[len(kind) :]
        return f"{short}{'*' * self.weak}[{','.join(map(str, self.shape))}]"


def aval_of(x: Any) -> Aval:
    """The type of an array, a traced value, a number, or of an `Aval` itself."""
    cls = x.__class__
    if cls is np.ndarray:
        return Aval(x.shape, x.dtype)
    if cls is Aval:
        return x
    if isinstance(x, Tracer):
        return x.aval
    if cls in PYTHON_DTYPES:
        return Aval((), PYTHON_DTYPES[cls], weak=True)
    try:
        return Aval(x.shape, x.dtype)
    except AttributeError:
        kind = next(
            (k for k in cls.__mro__ if k in PYTHON_DTYPES), cls
        )  # that of an IntEnum is int
        return Aval((), np.result_type(kind), weak=True)


def dtype_of(x: Any) -> Any:
    """The dtype of an array, a traced value or a number."""
    try:
        return x.dtype
    except AttributeError:
        return aval_of(x).dtype


def tangent_dtype(dtype: Any) -> Any:
    """The dtype in which derivatives with respect to a value of `dtype` are expressed."""
    return dtype if moves(dtype) else np.dtype(np.float64)


def moves(dtype: Any) -> bool:
    """Whether values of a dtype have derivatives: floating, complex; V is bfloat16's kind."""
    return dtype.kind in "fcV" and dtype.names is None


REGISTRY: dict[str, Primitive] = {}


class Primitive:
    """An operation that transforms know rules for; also the public function that users call.

    Arrays are positional, parameters keyword-only and hashable. The subclasses in `algebra` are the
    six kinds; they derive the methods below from one declared rule.
    """

    differentiable = True  # False: the derivative is zero everywhere (Constant)
    is_view = False  # True: the result shares memory with the operand, so writes go through
    multiple = False  # True: the result is a tuple
    effect = False  # True: it is there for what it does, needed or not
    outside = False  # True: it calls what is no part of a program, when that runs and not before
    closes = False  # True: its functions may close over values; see `closed`
    __name__: str
    __signature__: inspect.Signature

    def __init__(self, impl: Callable[..., Any], *, register_as: str | None = None) -> None:
        functools.update_wrapper(self, impl)
        self.impl = impl
        self.name = register_as or impl.__name__
        signature = inspect.signature(impl)
        shown = [p for n, p in signature.parameters.items() if n != "xp"]
        self.__signature__ = signature.replace(parameters=shown)
        self.has_params = any(p.kind is p.KEYWORD_ONLY for p in shown)
        if self.name in REGISTRY:
            raise ValueError(f"a primitive named {self.name!r} exists already")
        REGISTRY[self.name] = self

    def __call__(self, *args: Any, **params: Any) -> Any:
        return _get_current().process(self, args, params)

    def aval(self, *avals: Any, **params: Any) -> Any:
        """The type of the result (a tuple of types if `multiple`) from the operands' types."""
        raise MissingRuleError(f"{self.name}: no shape rule")

    def tangent(self, ans: Any, xs: Sequence[Any], ts: Sequence[Any], params: dict) -> Any:
        """The tangent of the result; `ts[i]` is None where it is zero; may return None."""
        raise MissingRuleError(f"{self.name}: no derivative rule")

    # The cotangents of the operands marked in `wanted`: (ct, ans, xs, wanted, params) -> list.
    # None where they are derived by transposing `tangent` (transforms.transpose).
    cotangents: Any = None

    # Opaque primitives run themselves under reverse mode: `forward` (xs, wanted, params) -> (ans,
    # residual) and `backward` (residual, cts, wanted, params) -> cotangents. None for the others.
    # Results without a cotangent have None there, or zeros if it `needs_zeros`.
    forward: Any = None
    backward: Any = None
    needs_zeros = True

    def kept(self, residual: Any) -> Sequence[Any] | None:
        """The arrays that `backward` reads of a residual; None where that is not known."""
        return None

    def moves(self, flags: Sequence[bool], params: dict) -> Sequence[bool] | None:
        """The results that depend on the operands whose flag is on; None for all of them."""
        return None

    def reached(self, residual: Any) -> Collection[int] | None:
        """The numbers of the results of `forward` that have a derivative; None for all of them."""
        return None

    def held(self, residual: Any, keep: Callable[[Any], Any]) -> Any:
        """The residual, safe from later writes into arrays that are not the tape's own."""
        return residual

    def closed(self, avals: Sequence[Aval], params: dict) -> tuple[Sequence[Any], dict]:
        """What its functions close over, and parameters for operands that begin with that."""
        return (), params

    def saves(self, wanted: Sequence[bool]) -> tuple[bool, tuple[bool, ...]]:
        """Whether the rule reads the result, and which operands it reads."""
        return True, (True,) * len(wanted)

    def batch(self, size: int, xs: Sequence[Any], bdims: Sequence[int | None], params: dict) -> Any:
        """Run with the batched operands `xs`; return the result(s) and their batch axes."""
        raise MissingRuleError(f"{self.name}: no batching rule")

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


class Tracer:
    """A value that stands for an array while a transform runs the user's function.

    `alias` is None, or says how this value is related to its views or base (see `views.py`).
    """

    __slots__ = ("__weakref__", "alias", "owner")
    owner: Trace
    alias: Any

    @property
    def aval(self) -> Aval:
        raise NotImplementedError

    @property
    def underlying(self) -> Any:
        """The value one level down; None if there is only a type."""
        raise NotImplementedError

    @property
    def known(self) -> Any:
        """The value itself, one level down, or None if there is none of the same shape."""
        return self.underlying

    @property
    def moves(self) -> bool:
        """Whether this transform, asked for a derivative, goes on through this value."""
        return False

    def assign(self, other: Any) -> None:
        """Take over the contents of `other`, a tracer of the same trace."""
        raise NotImplementedError

    def described(self) -> str:
        """How errors name this value, by its type alone: ``TapeTracer(f64[3])``."""
        return f"{type(self).__name__}({self.aval})"

    def __repr__(self) -> str:
        return self.described()


class Trace:
    """An interpreter of primitives.

    `parent` interprets what happens underneath; `function` is the user's function being traced.
    """

    __slots__ = ("function", "parent")
    parent: Trace
    function: Any
    transform = "a transform"  # how errors call it
    ends = True  # False: its values may be used at any time
    repeats = False  # True: what it records is run any number of times

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Interpret one application of `prim`; may be called whatever the current trace is."""
        raise NotImplementedError

    def lift(self, value: Any) -> Any:
        """`value` as a traced constant, so that it can be written into."""
        raise NotImplementedError

    def namespace(self) -> ModuleType:
        """The array module of the numbers that will stand behind values known by type alone."""
        return self.parent.namespace()

    def is_inside(self, other: Trace) -> bool:
        """Whether this trace is another one or runs inside it, whose values are constants here then."""
        trace = self
        while trace is not other and trace is not trace.parent:
            trace = trace.parent
        return trace is other


class EvalTrace(Trace):
    """Runs the implementation on the operands' own array module."""

    __slots__ = ()

    def process(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        xp = None
        for a in args:
            module = NAMESPACES.get(a.__class__, UNKNOWN)
            if module is not xp and module is not None:
                if xp is not None or module is UNKNOWN:
                    return self._process_other(prim, args, params)
                xp = module
        try:
            return prim.impl(xp or np, *args, **params)
        except ValueError:
            with contextlib.suppress(MissingRuleError):
                prim.aval(*map(aval_of, args), **params)  # says it better, if the shapes are wrong
            raise

    def _process_other(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Operands that are not all arrays of one module: value types, lists, leaked tracers."""
        plain = []
        for i, a in enumerate(args):
            cls = a.__class__
            if hasattr(cls, "__process_primitive__"):
                return cls.__process_primitive__(prim, args, params)
            if isinstance(a, Tracer):
                raise escaped(prim.name, a)
            plain.append(as_operand(prim, i, a))
        return prim.impl(namespace(*plain), *plain, **params)

    def lift(self, value: Any) -> Any:
        return value

    def namespace(self) -> ModuleType:
        return np


def as_operand(prim: Primitive, position: int, x: Any) -> Any:
    """`x` itself if it is an array or number; an array made of a list or column of numbers."""
    cls = x.__class__
    if cls in NAMESPACES or isinstance(x, Tracer):
        return x
    try:
        register(cls)
        return x
    except (KeyError, ArgumentError):
        pass
    made = untabled(x)
    if made is not x or isinstance(x, list | tuple):
        made = np.asarray(made)
        if made.dtype.kind in "biufc":
            return made
    raise OperandError(f"{prim.name}: operand {position} {unfit(x)}{where()}")


def escaped(what: str, tracer: Tracer) -> EscapedTracerError:
    """The error for a tracer whose transform has ended, or that an inner function closes over."""
    trace = tracer.owner
    function = getattr(trace, "function", None)
    code = getattr(function, "__code__", None)
    made = f" {getattr(function, '__name__', 'function')!r}" if function is not None else ""
    if code is not None:
        made += f" ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"
    if threading.current_thread() is threading.main_thread():
        thread = ""
    else:
        thread = (
            "; a thread that the function starts needs contextvars.copy_context().run as target"
        )
    return EscapedTracerError(
        f"{what}: the traced value {tracer.described()} is used outside the function{made} that "
        f"{trace.transform} was tracing. It was kept in a global, an attribute or a container, or "
        f"a custom rule closes over it; return it from the function (or through has_aux=True), or "
        f"pass it as an argument{thread}{where()}"
    )


def require_live(what: str, x: Any) -> None:
    """Raise if a traced value is of a transform that has ended, or that began inside of this one.

    Raises: EscapedTracerError.
    """
    if isinstance(x, Tracer) and x.owner.ends and not _get_current().is_inside(x.owner):
        raise escaped(what, x)


class _Arrays(type):
    """What `isinstance` and `issubclass` say of `Array`."""

    def __instancecheck__(cls, x: object) -> bool:
        return issubclass(type(x), cls)

    def __subclasscheck__(cls, other: type) -> bool:
        if issubclass(other, Tracer | np.ndarray | np.generic):
            return True
        try:
            return register(other) is not None
        except (KeyError, ArgumentError):
            return False

    def __getattr__(cls, name: str) -> Any:
        # Arrays of all kinds have NumPy's methods; those with underscores Python and NumPy look for.
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}{where()}")
        method = getattr(np.ndarray, name)

        @functools.wraps(method)
        def call(x: Any, /, *args: Any, **options: Any) -> Any:
            return getattr(x, name)(*args, **options)

        return call if callable(method) else method


class Array(metaclass=_Arrays):
    """Everything that functions here take and return as an array, for `isinstance` and annotations:
    arrays of NumPy and of devices, NumPy's numbers, and traced values.

    Called, it is `numpy.ndarray`.

    >>> [isinstance(x, Array) for x in (np.ones(2), np.float64(1.0), 1.0, [1.0])]
    [True, True, False, False]
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return np.ndarray(*args, **kwargs)


EVAL = EvalTrace()
EVAL.parent = EVAL
current: ContextVar[Trace] = ContextVar("current", default=EVAL)
_get_current = current.get


def run_under(trace: Trace, f: Callable[..., Any], args: Sequence[Any]) -> Any:
    """``f(*args)`` with `trace` as the current one; what was current before is restored always."""
    token = current.set(trace)
    try:
        return f(*args)
    except (ValueError, SystemError) as error:
        # NumPy, and SciPy's code in C, wrap what a traced value says when it is converted: unwrap it.
        if isinstance(error.__cause__, FuncgradError):
            raise error.__cause__ from None
        raise
    finally:
        current.reset(token)
