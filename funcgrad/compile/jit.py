"""`jit`: a function compiled for the types of its arguments, at the first call with them.

Layer 4½.
"""

from __future__ import annotations

import functools
import inspect
import reprlib
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from .. import tree
from ..algebra import concrete_namespace, device_namespace, scaling
from ..backend import unfit
from ..core import EVAL, Aval, Tracer, aval_of, current
from ..errors import ArgumentError, user_frame, where
from ..forks import waited_for
from ..jaxpr import Jaxpr
from ..transforms.arguments import (
    Flat,
    argument_name,
    global_name,
    is_array,
    require_callable,
)
from ..transforms.bodies import retyped, strong
from ..transforms.program_call import open_jaxpr
from ..transforms.trace import JaxprTrace
from .call import jit_call
from .captures import captures, random_states
from .config import PYTHON, code, config
from .entry import OTHER, Entry
from .program import Program

MOST_PROGRAMS = 64  # of one function, before the oldest is dropped
MANY_MISSES = 8  # after which a warning names the argument that changes
_PLAIN = (bool, int, float, complex)
_LOCK = waited_for(threading.Lock())  # of the programs that functions keep
ndarray = np.ndarray

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Stages:
    """What `jit` makes of a function for arguments of certain types."""

    def __init__(
        self, jaxpr: Jaxpr, program: Program, function: _Jitted[..., Any], arguments: Any
    ) -> None:
        self._function, self._arguments = function, arguments
        self.jaxpr = jaxpr
        self.simplified = program.jaxpr
        self.code = program.source
        self.c_code = program.c_source

    def compile(self) -> Callable[..., Any]:
        """The function, compiled as C now and run so, if there is a compiler: `config("c")`.

        >>> f = jit(lambda x: np.exp(-x * x)).lower(np.ones(3)).compile()
        >>> f(np.zeros(3)).tolist()
        [1.0, 1.0, 1.0]
        """
        args, kwargs = self._arguments
        with config("c"):
            self._function.lower(*args, **kwargs)
        return functools.partial(_in_c, self._function)

    def __repr__(self) -> str:
        return f"{self.jaxpr}\n\n{self.simplified}\n\n{self.code}"


class _Jitted(Generic[_P, _R]):
    """A function that compiles itself; see `jit`."""

    __wrapped__: Callable[..., Any]

    def __init__(
        self,
        f: Callable[_P, _R],
        static_argnums: Sequence[int],
        static_argnames: Sequence[str],
        donate_argnums: Sequence[int],
    ) -> None:
        functools.update_wrapper(self, f)
        self._f: Callable[..., Any] = f
        self._static_argnums = frozenset(static_argnums)
        self._static_argnames = frozenset(static_argnames)
        self._donate_argnums = frozenset(donate_argnums)
        self._entries: dict[Any, Entry] = {}
        self._last: Any = None
        self._program: Program | None = None
        self._misses = 0
        self._why = "it has not been called"

    @overload
    def __get__(self, instance: None, owner: Any = None) -> _Jitted[_P, _R]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> Callable[..., _R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, _Static(instance))  # type: ignore[arg-type]

    def __reduce__(self) -> Any:
        """As a function: by its name where it has one, otherwise by what it was made from."""
        name = global_name(self)
        if name is not None:
            return name
        options = self._static_argnums, self._static_argnames, self._donate_argnums
        return type(self), (self._f, *options)

    def __copy__(self) -> _Jitted[_P, _R]:
        return self

    def __deepcopy__(self, memo: Any) -> _Jitted[_P, _R]:
        return self

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        last = self._last
        if last is not None and not kwargs:
            found = last(args)
            if found is not OTHER:
                return found
        kind = code()
        if kind == PYTHON:
            return self._f(*[x.value if x.__class__ is _Static else x for x in args], **kwargs)
        static, args, kwargs = self._split(args, kwargs)
        leaves, treedef = tree.flatten((args, kwargs))
        key = (treedef, static, scaling.get(), kind, *_kinds(leaves, treedef))
        entry = self._entries.get(key)
        captured = None if entry is None else entry.captured()
        if entry is None or captured is None:
            entry = self._compile(key, entry, static, args, treedef, leaves)
            captured = entry.now()
        if current.get() is not EVAL:
            outs = jit_call(*captured, *leaves, jaxpr=entry.jaxpr)
            return tree.unflatten(entry.out_def, outs)
        self._program = program = entry.program((*captured, *leaves))
        self._last = entry.fast(leaves) if entry.is_kept and not static else None
        return tree.unflatten(entry.out_def, program.run(*captured, *leaves))

    # ------------------------------------------------------------ arguments

    def _split(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The static arguments, and the others with nothing in the static ones' places."""
        numbers = self._static_argnums
        static: list[tuple[Any, Any]] = [
            (i, x) for i, x in enumerate(args) if i in numbers or x.__class__ is _Static
        ]
        if not static and not self._static_argnames:
            return (), args, kwargs
        static += [(name, kwargs[name]) for name in sorted(self._static_argnames & kwargs.keys())]
        for name, x in static:
            try:
                hash(x)
            except TypeError:
                raise ArgumentError(
                    f"jit: the static argument {name} is {x!r}, a {type(x).__name__}, which has no "
                    f"hash; pass a tuple for a list, or do not mark it as static{where()}"
                ) from None
        places: set[Any] = {name for name, _ in static}
        args = tuple(None if i in places else x for i, x in enumerate(args))
        kwargs = {k: None if k in places else x for k, x in kwargs.items()}
        return tuple((name, _told_apart(x), x) for name, x in static), args, kwargs

    # ------------------------------------------------------------ compiling

    def _compile(
        self,
        key: Any,
        old: Entry | None,
        static: Any,
        args: tuple[Any, ...],
        treedef: Any,
        leaves: Sequence[Any],
    ) -> Entry:
        self._explain(key, old)
        f = self._f

        def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            full, named = list(args), dict(kwargs)
            for name, _, x in static:
                x = x.value if x.__class__ is _Static else x
                if name.__class__ is int:
                    full[name] = x
                else:
                    named[name] = x
            return f(*full, **named)

        flat = Flat(call, treedef, origin=self._f)
        trace = JaxprTrace(current.get(), spreads=True, xp=device_namespace(leaves))
        trace.function = self._f
        avals = [aval_of(x) for x in leaves]
        _require_no_objects(avals, treedef)
        inputs = [trace.new_input(aval) for aval in avals]
        in_vars = [x.symbol for x in inputs]  # before the function writes into them
        bound = [x.value for _, _, x in static if x.__class__ is _Static]
        read = functools.partial(f, *bound)
        found = captures(read)
        numbers = random_states(found)
        outs = trace.run(flat, inputs)
        if found.has_changed():
            found.renew(captures(read))
        jaxpr = trace.finish(in_vars, outs)
        jaxpr = retyped(jaxpr, [strong(a) for a in jaxpr.out_avals])  # results are NumPy's
        donated = self._donated(args)
        entry = Entry(
            open_jaxpr(jaxpr), treedef, flat.out_def, found, list(jaxpr.consts), donated, old
        )
        entry.is_kept = not found.weak and numbers == random_states(found)
        if found.weak:
            self._why = "it reads a weak reference, behind which anything may change"
        elif not entry.is_kept:
            self._why = "it draws random numbers, which a program would repeat"
        elif not any(isinstance(x, Tracer) for x in entry.now()):
            with _LOCK:
                if len(self._entries) >= MOST_PROGRAMS:
                    del self._entries[next(iter(self._entries))]
                self._entries[key] = entry
        return entry

    def _donated(self, args: tuple[Any, ...]) -> list[int]:
        """The numbers of the leaves that results may be written into."""
        found: list[int] = []
        start = 0
        for i, x in enumerate(args):
            stop = start + len(tree.flatten(x)[0])
            found += range(start, stop) if i in self._donate_argnums else ()
            start = stop
        return found

    def _explain(self, key: Any, old: Entry | None) -> None:
        self._misses += 1
        if old is not None:
            changed = {str(p.key or "an enclosing variable") for p in old.places if not p.is_same()}
            names = ", ".join(sorted(changed))
            self._why = f"something that the function reads has changed: {names or 'an array'}"
        elif self._misses == 1:
            self._why = "it was the first call"
        elif self._entries:
            with _LOCK:
                known = next(reversed(self._entries))
            self._why = _difference(key, known)
        if self._misses == MANY_MISSES:
            name = getattr(self._f, "__name__", "the function")
            warnings.warn(
                f"jit has compiled {name} {self._misses} times; the last time because "
                f"{self._why}. Pad or group the arguments, or leave jit out{where()}",
                RuntimeWarning,
                stacklevel=_depth_of_user(),
            )

    # ------------------------------------------------------------ looking at it

    def lower(self, *args: Any, **kwargs: Any) -> Stages:
        """The programs for these arguments: as traced, as simplified, as source."""
        given = args, kwargs
        static, args, kwargs = self._split(args, kwargs)
        leaves, treedef = tree.flatten((args, kwargs))
        key = (treedef, static, scaling.get(), code(), *_kinds(leaves, treedef))
        entry = self._entries.get(key) or self._compile(key, None, static, args, treedef, leaves)
        self._program = entry.program((*entry.now(), *leaves))
        return Stages(entry.jaxpr, self._program, self, given)

    @property
    def code(self) -> str:
        """The source of the program compiled last.

        Raises: ArgumentError: nothing has been compiled.
        """
        if self._program is None:
            raise ArgumentError("jit: nothing has been compiled yet; call the function first")
        return self._program.source

    def explain(self) -> str:
        """The programs that are kept, by the types they are for, and why the last one was made."""
        lines = [
            ", ".join(map(repr, e.jaxpr.in_avals)) or "no arguments"
            for e in list(self._entries.values())
        ]
        return "\n".join(
            [f"{len(lines)} programs", *lines, f"the last was made because {self._why}"]
        )

    def clear_cache(self) -> None:
        """Forget all programs, and the memory that they keep."""
        self._entries.clear()
        self._last = self._program = None
        self._misses = 0


def _told_apart(x: Any) -> Any:
    """What tells a static value from one that is equal: types, in tuples too, and signs of zeros."""
    if isinstance(x, tuple):
        return (type(x), *map(_told_apart, x))
    return repr(x) if isinstance(x, float | complex) else type(x)


class _Static:
    """The object whose method is called: known by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return other.__class__ is _Static and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _require_no_objects(avals: Sequence[Aval], treedef: Any) -> None:
    """What an element of an array of objects can do is known to none but itself."""
    for i, aval in enumerate(avals):
        if aval.dtype.kind == "O":
            name = argument_name(treedef.paths()[i], 1)
            raise ArgumentError(
                f"jit: argument {name} is {aval}, an array of Python objects; need one of numbers: "
                f"convert it with .astype(float){where()}"
            )


def _kinds(leaves: Sequence[Any], treedef: Any) -> list[Any]:
    """What a program depends on of each argument."""
    found: list[Any] = []
    for i, x in enumerate(leaves):
        if x.__class__ is ndarray:
            found.append((x.shape, x.dtype))
        elif x.__class__ in _PLAIN:
            found.append(x.__class__)
        elif is_array(x):
            aval = aval_of(x)
            found.append((aval.shape, aval.dtype, aval.weak, concrete_namespace(x)))
        else:
            raise ArgumentError(
                f"jit: argument {argument_name(treedef.paths()[i], 1)} {unfit(x)}; an argument whose "
                f"value counts is named in static_argnums or static_argnames{where()}"
            )
    return found


def _difference(key: Any, other: Any) -> str:
    if key[0] != other[0]:
        return "the arguments have another structure"
    if key[1] != other[1]:
        return f"a static argument is {_short(key[1])}, was {_short(other[1])}"
    if key[2] is not other[2]:
        return "strong zeros were switched"
    if key[3] != other[3]:
        return "the configuration was changed"
    changed = [i for i, (a, b) in enumerate(zip(key[4:], other[4:], strict=True)) if a != b]
    path = argument_name(key[0].paths()[changed[0]], 1)
    new, old = key[4 + changed[0]], other[4 + changed[0]]
    return f"the argument {path} is {_shown(new)}, was {_shown(old)}"


def _short(static: Any) -> str:
    """Static arguments as in Python, of which programs and large objects would fill pages."""
    return reprlib.repr(static).replace("\n", " ")


def _shown(kind: Any) -> str:
    if kind.__class__ is not tuple:
        return f"a {kind.__name__}"
    *aval, xp = kind if len(kind) == 4 else (*kind, np)
    return repr(Aval(*aval)) + ("" if xp is np else f" of {xp.__name__}")


def _depth_of_user() -> int:
    user, frame, depth = user_frame(), sys._getframe(1), 0
    while frame is not None and frame is not user:
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    return depth + 1


@overload
def jit(
    fun: np.ufunc,
    *,
    static_argnums: int | Iterable[int] | None = (),
    static_argnames: str | Iterable[str] | None = (),
    donate_argnums: int | Iterable[int] | None = (),
) -> Any: ...  # its overloads would be lost
@overload
def jit(
    fun: Callable[_P, _R],
    *,
    static_argnums: int | Iterable[int] | None = (),
    static_argnames: str | Iterable[str] | None = (),
    donate_argnums: int | Iterable[int] | None = (),
) -> _Jitted[_P, _R]: ...
@overload
def jit(
    fun: None = None,
    *,
    static_argnums: int | Iterable[int] | None = (),
    static_argnames: str | Iterable[str] | None = (),
    donate_argnums: int | Iterable[int] | None = (),
) -> Callable[[Callable[_P, _R]], _Jitted[_P, _R]]: ...
def jit(
    fun: Any = None,
    *,
    static_argnums: Any = (),
    static_argnames: Any = (),
    donate_argnums: Any = (),
) -> Any:
    """`fun`, compiled: traced once for each kind of arguments, simplified, and printed as NumPy code.

    Arguments and results are trees of arrays. Of an argument that is named in `static_argnums` or
    `static_argnames`, the value counts: it is hashed, and every other one is compiled anew. Results
    may be written into the arrays of the arguments in `donate_argnums`, which saves memory and time
    where parameters are replaced by new ones: use the results and not those arguments afterwards.
    Arrays that share memory are left alone.

    What `fun` reads beside its arguments may change: arrays are looked up at every call, and where
    something else has changed `fun` is traced again; at every call if it draws random numbers or reads
    weak references. What goes unnoticed, so that it is better passed as an argument:

    * elements of an array that plain NumPy code reads (``if a[0] > 1``): single ones of an array above
      64 kB, since only some are compared; and those of an array that the program computes with, too,
      once three changes in a row have made no other program (use `cond`);
    * what is inside of the elements of a list, dict, set or array of objects from the thousandth on;
    * attributes and globals whose names are made up as the program runs: ``getattr(o, f"k{i}")``,
      ``eval("k + 1")``;
    * functions and numbers of Python's and NumPy's own modules that are replaced, their settings
      (``np.seterr``), and what their objects keep that are no containers: loggers, iterators, events;
    * what only C code reads, such as memory behind a pointer.

    ``.lower(*args)`` shows the programs, ``.code`` the source of the last, ``.explain()`` what is kept
    and why, and ``.clear_cache()`` forgets it.

    Shapes, dtypes: as those of `fun`. Python's numbers, and what operators make of them, widen no
    arrays; as results they are NumPy's.
    Derivative: that of `fun`, compiled too.
    Raises: ConcretizationError: `fun` branches on a traced value; mark the argument as static.
    Source: Frostig, Johnson & Leary, "Compiling machine learning programs via high-level tracing",
    SysML 2018.

    >>> import funcgrad, numpy as np
    >>> f = jit(lambda x: np.sum(x * x) * 0.5)
    >>> float(f(np.array([3.0, 4.0])))
    12.5
    >>> print(f.code)
    def run(a0):
        t1 = np_square(a0)
        t2 = np_add.reduce(t1, None)
        t2 = float(t2)
        t3 = t2 * 0.5
        return (np_float64(t3), )
    <BLANKLINE>
    >>> jit(funcgrad.grad(f))(np.array([3.0, 4.0]))
    array([3., 4.])
    """
    options: dict[str, Any] = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
    }
    if fun is None:
        return functools.partial(jit, **options)
    if isinstance(fun, staticmethod | classmethod):
        return type(fun)(jit(fun.__func__, **options))
    require_callable("jit", fun, makes=True)
    nums, names, donated = map(_several, (static_argnums, static_argnames, donate_argnums))
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return _Jitted(fun, nums, names, donated)
    known = [p.name for p in parameters]
    spare = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
    if not spare:
        for option, given in (("static_argnums", nums), ("donate_argnums", donated)):
            for unknown in [n for n in given if not -len(known) <= n < len(known)]:
                raise ArgumentError(f"jit: {option}={unknown}, but {_signature(fun, known)}")
        for name in [n for n in names if n not in known]:
            raise ArgumentError(f"jit: static_argnames={name!r}, but {_signature(fun, known)}")
    nums = tuple(n + len(known) if n < 0 else n for n in nums)
    donated = tuple(n + len(known) if n < 0 else n for n in donated)
    names = (*names, *[known[i] for i in nums if i < len(known)])
    nums = (*nums, *[known.index(n) for n in names if n in known])
    return _Jitted(fun, nums, names, donated)


def _in_c(f: _Jitted[..., Any], *args: Any, **kwargs: Any) -> Any:
    with config("c"):
        return f(*args, **kwargs)


def _several(given: Any) -> tuple[Any, ...]:
    """One, several or no places or names of arguments."""
    return (given,) if isinstance(given, int | str) else tuple(given or ())


def _signature(f: Any, known: Sequence[str]) -> str:
    return (
        f"{getattr(f, '__name__', 'the function')} has the parameters {', '.join(known) or 'none'}"
    )
