"""`compile`: stateful code as one program: forward, backward, `.grad` and the optimizer's update.

The function runs once on traced values that stand in for the arrays of its tensors: arguments,
parameters, gradients, the optimizer's state. What it computes, and what it has left in those tensors,
is one program, which `funcgrad.jit`'s compiler prints. A call runs it and writes the results where
the function would have written them.

Three things must hold, and are checked: the same state is there as when the program was made (which
tensors, types, flags, numbers in the optimizer's groups), tracing changed nothing but tensors, and
nobody waits for values that a program does not have: hooks, branches. Where one does not hold the
code runs as it is, and `explain()` says why. What the code draws from the default generator is drawn
before each run of the program, in the same order, and is an input of it: the numbers are the same.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

import numpy as np

from funcgrad import tree
from funcgrad.compile.config import code
from funcgrad.compile.entry import OTHER
from funcgrad.compile.freshness import NUMBERS
from funcgrad.core import EVAL, Tracer, aval_of, current, run_under
from funcgrad.forks import waited_for
from funcgrad.transforms.trace import JaxprTrace, JaxprTracer

from .autograd import modes, views
from .autograd.base import UNCOUNTED, TensorBase
from .autograd.node import AccumulateGrad
from .compiled_program import Draws, Hole, TensorProgram, printed, run
from .compiled_state import NotCompilableError, State, not_plain, restored
from .dtypes import dtype
from .nn.module import FROM_ABOVE, Module
from .ops.generator import default_generator
from .size import Size, device

MOST_PROGRAMS = 16
BACKENDS = (
    "funcgrad",
    "inductor",
    "eager",
    "aot_eager",
    "aot_eager_decomp_partition",
    "cudagraphs",
)
MODES = ("default", "lite", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
# Python 3.13 has `__get__` for what 3.14 makes a method, and warns.
_NO_METHODS = (functools.partial,) if sys.version_info < (3, 14) else ()

_P = ParamSpec("_P")
_R = TypeVar("_R")
_M = TypeVar("_M", bound=Module)

# What may be returned besides tensors: it is the same at every call.
_VALUES = (*NUMBERS, str, bytes, type, dtype, device, Size)

# NOTE [Threads] While one thread traces, the tensors hold no arrays. So it has the lock, and traces
# only when no other thread is in code that runs as it is.
_LOCK = waited_for(threading.RLock())
_running: collections.Counter[int] = collections.Counter()


@contextlib.contextmanager
def _as_it_is() -> Iterator[None]:
    """Around code that runs without a program."""
    me = threading.get_ident()
    with _LOCK:
        _running[me] += 1
    try:
        yield
    finally:
        with _LOCK:
            _running[me] -= 1
            if not _running[me]:
                del _running[me]


class Compiled(Generic[_P, _R]):
    """A function and the programs made of it; see `compile`."""

    def __init__(self, f: Callable[_P, _R], fullgraph: bool) -> None:
        functools.update_wrapper(self, f, updated=())
        self._f: Any = f
        self._fullgraph = fullgraph
        self._programs: dict[Any, TensorProgram | None] = {}
        self._state: State | None = None
        self._seen: set[Any] = set()
        self._last: Any = None
        self._why = "it has not been called twice with arguments of the same types"

    @overload
    def __get__(self, owner: None, _cls: Any = None) -> Self: ...
    @overload
    def __get__(self, owner: object, _cls: Any = None) -> Compiled[..., _R]: ...
    def __get__(self, owner: Any, _cls: Any = None) -> Any:
        """As a method: each object has programs of its own, which live as long as it does."""
        is_method = hasattr(self._f, "__get__") and not isinstance(self._f, _NO_METHODS)
        if owner is None or not is_method:  # a callable object is none
            return self
        method = self._f.__get__(owner)
        try:
            own = vars(owner)
        except TypeError:  # an object with slots: the code runs as it is
            return method
        # Others of the name may be there, such as one that this one overrides, or a copy's original's.
        name = f"_compiled_{id(self)}"
        if name not in own or own[name]._f != method:
            own[name] = Compiled(method, self._fullgraph)
        return own[name]

    def __reduce__(self) -> Any:
        return Compiled, (self._f, self._fullgraph)

    def explain(self) -> str:
        """How many programs there are, and why the code ran as it is, if it did."""
        count = sum(p is not None for p in self._programs.values())
        return f"{count} programs; {self._why}" if self._why else f"{count} programs"

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if self._last is not None and not kwargs:
            try:
                found = self._last(args)
            except np.linalg.LinAlgError:
                found = OTHER  # see `_compiled`
            if found is not OTHER:
                return found
        if current.get() is not EVAL or modes.get().level is not None:
            return self._f(*args, **kwargs)
        with _LOCK:
            has_run, found = self._compiled(args, kwargs)
        if has_run:
            return found
        with _as_it_is():
            return self._f(*args, **kwargs)

    def _compiled(self, args: Any, kwargs: Any) -> tuple[bool, Any]:
        """Whether there is a program, and what it returned."""
        leaves, treedef = tree.flatten((args, kwargs))
        if self._state is None or self._state.has_changed():
            if self._state is not None:
                self._why = "what it reads, and is no tensor, has changed since the call before"
            self._state, self._last = State(self._f), None
            self._programs.clear()
            self._seen.clear()
        tensors = self._state.all_tensors()
        mine = [x for x in leaves if isinstance(x, TensorBase)]
        count = len({id(t) for t in mine})
        every: list[Any] = list({id(t): t for t in (*mine, *tensors)}.values())
        why = not_plain(leaves, every, self._state)
        if why:
            self._falls_back(why, None)
            return False, None
        key = (
            treedef,
            tuple(map(_leaf_key, leaves)),
            _which(mine, tensors),
            tuple(map(_tensor_key, every[count:])),
            self._state.flags(every),
            modes.get().records,
            modes.get().inference,
            code(),
        )
        if key not in self._programs:
            if key not in self._seen:  # what is made at the first run is there at the second
                self._seen.add(key)
                return False, None
            if any(i != threading.get_ident() for i in _running):
                return False, None
            self._programs[key] = self._traced(args, kwargs, leaves, every)
            if len(self._programs) > MOST_PROGRAMS:
                del self._programs[next(iter(self._programs))]
        program = self._programs[key]
        if program is None:
            return False, None
        self._why = ""
        try:
            found = run(program, every, mine)
        except np.linalg.LinAlgError:
            return False, None  # nothing has been written, and the code itself says it better
        if not kwargs:
            self._last = printed(program, args, every, count, self._state)
        return True, found

    def _falls_back(self, why: str, error: Exception | None) -> None:
        self._why = f"the code runs as it is: {why}"
        if self._fullgraph:
            raise RuntimeError(f"compile(fullgraph=True): {why}") from error

    def _traced(
        self, args: Any, kwargs: Any, leaves: Sequence[Any], tensors: list[Any]
    ) -> TensorProgram | None:
        assert self._state is not None
        try:
            program = _trace(self._f, args, kwargs, tensors, self._state)
            self._why = ""
            return program
        except Exception as error:  # an error of the code itself comes again as it runs as it is
            why = str(error).removeprefix("vmap: ") or type(error).__name__
            self._falls_back(why, error)
            return None


def _leaf_key(x: Any) -> Any:
    if isinstance(x, TensorBase):
        return (*_tensor_key(x)[1:], None)
    return x.__class__, repr(x) if isinstance(x, NUMBERS) else x  # -0.0 is not 0.0


def _which(mine: Sequence[Any], tensors: Sequence[Any]) -> tuple[int, ...]:
    """Which of the arguments are the same tensor, or one that the code reads by name, too."""
    known = {id(t) for t in tensors}
    first: dict[int, int] = {}
    for i, t in enumerate(mine):
        first.setdefault(id(t), id(t) if id(t) in known else i)
    return tuple(first[id(t)] for t in mine)


def _tensor_key(t: Any) -> Any:
    array, grad = t._array, t._grad
    strides = None if array.flags.c_contiguous else array.strides
    return id(t), array.shape, array.dtype, strides, t.requires_grad, grad is not None


def _trace(
    f: Callable[..., Any], args: Any, kwargs: Any, tensors: list[Any], state: State
) -> TensorProgram:
    trace = _Trace()
    gradients = [t for t in tensors if t._grad is not None]
    with _swapped(tensors, gradients, trace) as (inputs, befores):
        symbols = [x.symbol for x in inputs]  # before the function writes into them
        stream, before = default_generator.stream, default_generator.get_state()
        seeds = default_generator.seeds
        others = random.getstate(), np.random.get_state()
        mode = modes.get()
        records = mode.records
        try:
            with restored(state, (args, kwargs)):
                result = run_under(trace, lambda: f(*args, **kwargs), ())
        finally:
            after, is_set = default_generator.get_state(), default_generator.stream is not stream
            default_generator.set_state(before)  # what runs as it is draws them again
            is_drawn = random.getstate() != others[0] or _differ(np.random.get_state(), others[1])
            random.setstate(others[0])
            np.random.set_state(others[1])
            is_switched = modes.get() is not mode
            modes.current.set(mode)
        if is_switched:
            raise NotCompilableError("it leaves gradients switched on or off")
        is_seeded = default_generator.seeds != seeds or (is_set and trace.drawn_symbols)
        if is_drawn or is_seeded or trace.draws.moves(before, after):
            raise NotCompilableError(
                "it draws random numbers in a way that a program does not repeat"
            )
        trace.require_unwritten()
        outputs: list[Any] = []
        writes = []
        for i, t in enumerate(tensors):
            array = _read(t)
            is_same = isinstance(array, Tracer) and trace.atom(array) is symbols[i]
            _require_kept(t, array, is_same, befores[i])
            if not is_same:
                writes.append((i, max(t._counter[0] - befores[i].version, 1)))
                outputs.append(array)
        new_gradients = []
        for i, t in enumerate(tensors):
            kind = _gradient_change(t, gradients, symbols, befores, trace)
            if kind != "same":
                new_gradients.append((i, kind))
                if kind != "none":
                    outputs.append(_read(t._grad))
        outs, out_def = tree.flatten(result)
        _require_results(outs, (args, kwargs), state)
        leaves, fixed = _results(outs, tensors)
        has_history = any(x.__class__ is Hole and x.requires_grad for x in fixed)
        if has_history and not records:
            raise NotCompilableError("it returns a tensor with a history, made by enable_grad")
        if has_history and not new_gradients and (writes or (records and trace.unrecorded)):
            raise NotCompilableError(
                "it returns a tensor with a history, and writes into others or "
                "computes under no_grad"
            )
        jaxpr = trace.finish([*symbols, *trace.drawn_symbols], [*leaves, *outputs])
    changes = writes, new_gradients, len(leaves)
    return TensorProgram(jaxpr, tensors, gradients, trace.draws, changes, (out_def, fixed))


def _differ(state: Any, other: Any) -> bool:
    return any(not np.array_equal(x, y) for x, y in zip(state, other, strict=True))


class _Trace(JaxprTrace):
    """Notes what is drawn or detached, and whether something is computed that autograd must not see."""

    __slots__ = ("detached", "drawn_symbols", "draws", "layouts", "unrecorded")
    is_silent = True  # what is printed has to come at every call

    def __init__(self) -> None:
        super().__init__(EVAL, spreads=True)
        self.unrecorded = False
        self.layouts: dict[int, Any] = {}  # arrays of inputs that are not in C order, by tensor
        self.detached: list[Any] = []
        self.draws = Draws()
        self.drawn_symbols: list[Any] = []

    def unknown(self, what: str) -> None:
        """Raises: NotCompilableError: code asks for what programs do not go by."""
        raise NotCompilableError(f"it asks for {what} of a tensor, which calls may differ in")

    def drawn(self, draw: Any, source: Any, values: Sequence[Any]) -> Any:
        """What is drawn, as an input; `draw` is called again for every run of the program.

        Raises: NotCompilableError: not from the default generator, which is there at every call.
        """
        if source is not default_generator.stream:
            raise NotCompilableError("it draws random numbers from a generator of its own")
        found = self.new_input(aval_of(self.draws.add(draw, values)))
        self.drawn_symbols.append(found.symbol)
        return found

    def process(self, prim: Any, args: Any, params: Any) -> Any:
        if not modes.get().records:
            self.unrecorded = True
        out = super().process(prim, args, params)
        if prim.name == "stop_gradient" and isinstance(out, JaxprTracer):
            self.detached.append((out, out.symbol))
        return out

    def require_unwritten(self) -> None:
        """Raises: NotCompilableError: something detached was written: its tensor was not."""
        if any(x.symbol is not symbol for x, symbol in self.detached):
            raise NotCompilableError("a tensor is written by way of .data or detach()")


def _require_results(outs: Sequence[Any], given: Any, state: State) -> None:
    """Raises: NotCompilableError: an object is returned that was made inside, and new at every call."""
    known = {id(x) for x in tree.flatten(given)[0]} | {id(p.value) for p in state.watched()}
    for x in outs:
        if not (x is None or isinstance(x, (TensorBase, *_VALUES)) or id(x) in known):
            raise NotCompilableError(f"it returns an object of type {type(x).__name__}")


def _results(outs: Sequence[Any], tensors: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The arrays that are returned, and a hole in place of each tensor.

    Raises: NotCompilableError: a result is a view, or a leaf that was made inside.
    """
    places = {id(t): i for i, t in enumerate(tensors)}
    counters = {id(t._counter) for t in tensors if t._counter is not UNCOUNTED}
    counters |= {id(t._grad._counter) for t in tensors if t._grad is not None}
    holes: dict[int, Hole] = {}
    leaves: list[Any] = []
    for x in outs:
        if not isinstance(x, TensorBase) or id(x) in holes:
            continue
        if id(x) in places:
            holes[id(x)] = Hole(False, places[id(x)], False)
            continue
        if id(x._counter) in counters:
            raise NotCompilableError("it returns what shares memory with another tensor")
        if x._counter is not UNCOUNTED:
            counters.add(id(x._counter))
        array = _read(x)
        if x._node.__class__ is AccumulateGrad:
            raise NotCompilableError("it returns a new leaf that requires grad")
        holes[id(x)] = Hole(x._node is not None, len(leaves), True)
        leaves.append(array)
    return leaves, [holes.get(id(x), x) for x in outs]


def _read(t: Any) -> Any:
    if t._view is not None:
        views.refresh(t)
    return t._array


def _require_kept(t: Any, array: Any, is_same: bool, before: _Before) -> None:
    """Raises: NotCompilableError: a tensor was changed in a way that a program does not repeat."""
    written = t._counter[0] != before.version if t._counter is not UNCOUNTED else False
    if is_same and written:
        raise NotCompilableError("a tensor is written by way of .data, detach() or a view")
    if not is_same and t._view is not None:
        raise NotCompilableError("it writes into a view")
    if t._node is not before.node:
        raise NotCompilableError("it changes the history of a tensor from outside")
    if aval_of(array) != aval_of(before.array):
        raise NotCompilableError("it changes the shape or type of a tensor")


def _gradient_change(
    t: Any, gradients: Sequence[Any], symbols: Sequence[Any], befores: Sequence[_Before], trace: Any
) -> str:
    """What became of a gradient: "same", "none", "new", or "written"."""
    place = next((i for i, g in enumerate(gradients) if g is t), None)
    g = t._grad
    if g is None:
        return "same" if place is None else "none"
    if any(g is b.tensor or g._counter is b.tensor._counter for b in befores if b.tensor is not g):
        raise NotCompilableError("a gradient shares memory with another tensor")
    index = len(befores) - len(gradients) + (place or 0)
    before = befores[index] if place is not None else None
    if before is None or g is not before.tensor:
        return "new"
    array = _read(g)
    is_same = isinstance(array, Tracer) and trace.atom(array) is symbols[index]
    _require_kept(g, array, is_same, before)
    return "same" if is_same else "written"


class _Before:
    """What a tensor was before the code was traced."""

    def __init__(self, t: Any) -> None:
        self.tensor, self.array, self.node = t, t._array, t._node
        self.grad, self.counter, self.view = t._grad, t._counter, t._view
        self.counts = list(t._counter)
        self.version = self.counts[0] if self.counts else 0

    def put_back(self) -> None:
        t = self.tensor
        t._array, t._node, t._counter, t._view = self.array, self.node, self.counter, self.view
        if t._counter is not UNCOUNTED:
            t._counter[:] = self.counts
        if t._grad is not self.grad:
            t._grad = self.grad


@contextlib.contextmanager
def _swapped(
    tensors: Sequence[Any], gradients: Sequence[Any], trace: _Trace
) -> Iterator[tuple[list[Any], list[_Before]]]:
    """Traced values in place of the arrays in tensors and gradients; everything is put back."""
    befores = [_Before(t) for t in (*tensors, *(t._grad for t in gradients))]
    trace.layouts = {id(b.tensor): b.array for b in befores if not b.array.flags.c_contiguous}
    inputs = []
    try:
        for before in befores:
            inputs.append(trace.new_input(aval_of(before.array)))
            before.tensor._array = inputs[-1]
        yield inputs, befores
    finally:
        for before in befores:
            before.put_back()


class OptimizedModule(Module):
    """A module whose `forward` is compiled; everything else is that of `_orig_mod`."""

    def __init__(self, module: Module, fullgraph: bool) -> None:
        super().__init__()
        self._orig_mod: Any = module
        object.__setattr__(self, "_compiled", Compiled(module, fullgraph))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_orig_mod":
                raise
            return getattr(self._orig_mod, name)

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._orig_mod)

    def __getitem__(self, index: Any) -> Any:
        return self._orig_mod[index]

    def __reduce__(self) -> Any:
        return OptimizedModule, (self._orig_mod, self._compiled._fullgraph)

    def explain(self) -> str:
        """See `Compiled.explain`."""
        return self._compiled.explain()


@overload
def compile(  # type: ignore[overload-overlap]  # modules can be called, too
    model: _M,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str = "funcgrad",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> _M: ...
@overload
def compile(
    model: Callable[_P, _R],
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str = "funcgrad",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Compiled[_P, _R]: ...
@overload
def compile(
    model: None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str = "funcgrad",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Callable[[Callable[_P, _R]], Compiled[_P, _R]]: ...
def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str = "funcgrad",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """`model`, a module or a function of tensors, as one compiled program for each kind of arguments.

    A function may call `backward()` and an optimizer's `step()`: that is part of the program. The
    first call with arguments of some types runs the code as it is, the second traces it. What cannot
    be compiled runs as it is (``.explain()`` says why), or raises with `fullgraph`. Tensors that a
    function returns which has written into others have no history.

    `dynamic`, `mode` and `options` are taken and change nothing. `backend`, too, may be any name of
    PyTorch's ("inductor", "eager", "aot_eager", ...): there is one way to compile here.

    Raises: RuntimeError: with `fullgraph`, the code cannot be one program. An unknown `backend` or
        `mode`, a function as a backend, or both `mode` and `options`.
    Source: PyTorch reference, ``torch.compile``.

    >>> import compat as torch
    >>> w = torch.zeros(2, requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.5)
    >>> @torch.compile
    ... def step(x):
    ...     optimizer.zero_grad()
    ...     loss = ((w - x) ** 2).sum()
    ...     loss.backward()
    ...     optimizer.step()
    ...     return loss
    >>> [step(torch.ones(2)).item() for _ in range(3)], step.explain()
    ([2.0, 0.0, 0.0], '1 programs')
    """
    _require_known(backend, mode, options)
    if model is None:
        return lambda f: compile(f, fullgraph=fullgraph, disable=disable)
    if disable:
        return model
    return (
        OptimizedModule(model, fullgraph)
        if isinstance(model, Module)
        else Compiled(model, fullgraph)
    )


def _require_known(backend: Any, mode: Any, options: Any) -> None:
    """Raises: RuntimeError: a way to compile that neither PyTorch nor this package has."""
    if callable(backend):
        raise RuntimeError(
            f"compile: backend={backend!r} is a function of FX graphs, which there are none of here; "
            f"need one of {', '.join(BACKENDS)}"
        )
    if backend not in BACKENDS:
        raise RuntimeError(
            f"compile: unknown backend {backend!r}; need one of {', '.join(BACKENDS)}"
        )
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"compile: unknown mode {mode!r}; need one of {', '.join(MODES)}")
    if mode is not None and options is not None:
        raise RuntimeError(
            f"compile: mode={mode!r} and options={options!r}; need one of them at most"
        )


FROM_ABOVE["compile"] = compile
