"""`compile`: stateful code as one program: forward, backward, `.grad` and the optimizer's update.

The function runs once on traced values that stand in for the arrays of its tensors: arguments,
parameters, gradients, the optimizer's state. What it computes, and what it has left in those tensors,
is one program, which `funcgrad.jit`'s compiler prints. A call runs it and writes the results where
the function would have written them.

Three things must hold, and are checked: the same state is there as when the program was made (which
tensors, types, flags, numbers in the optimizer's groups), tracing changed nothing but tensors, and
nobody waits for values that a program does not have: hooks, random numbers, branches. Where one does
not hold the code runs as it is, and `explain()` says why.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compile.call import jit_call
from funcgrad.compile.captures import Place, captures, checker
from funcgrad.compile.config import code
from funcgrad.compile.entry import OTHER, Printer
from funcgrad.compile.program import program_of
from funcgrad.core import EVAL, Tracer, aval_of, current, run_under
from funcgrad.errors import FuncgradError
from funcgrad.jaxpr import Jaxpr
from funcgrad.transforms.program_call import open_jaxpr
from funcgrad.transforms.trace import JaxprTrace

from .autograd import modes, views
from .autograd.base import TensorBase, tensor
from .autograd.node import AccumulateGrad
from .autograd.tape import through
from .nn.module import Module
from .ops.generator import default_generator
from .optim.optimizer import Optimizer

MOST_PROGRAMS = 16


class NotCompilableError(Exception):
    """The code does something that one program cannot do; the message says what."""


class _State:
    """The tensors that a function reads besides its arguments, and what else decides its program."""

    def __init__(self, f: Any) -> None:
        found = captures(f)
        self.places = found.places
        self.modules: list[Module] = []
        self.optimizers: list[Optimizer] = []
        self.tensors: list[TensorBase] = []
        for x in (f, getattr(f, "__self__", None), *(p.value for p in self.places)):
            if isinstance(x, Module) and x not in self.modules:
                self.modules.append(x)
            elif isinstance(x, Optimizer) and x not in self.optimizers:
                self.optimizers.append(x)
            elif isinstance(x, TensorBase):
                self.tensors.append(x)
        self.numbers = [p for p in self.places if not isinstance(p.value, TensorBase)]
        self.containers = found.containers

    def all_tensors(self) -> list[Any]:
        found = list(self.tensors)
        for module in self.modules:
            found += [*module.parameters(), *module.buffers()]
        for optimizer in self.optimizers:
            found += [p for group in optimizer.param_groups for p in group["params"]]
            for state in optimizer.state.values():
                found += [v for v in state.values() if isinstance(v, TensorBase)]
        return list({id(t): t for t in found}.values())

    def flags(self) -> tuple[Any, ...]:
        """What a program depends on beside the types of tensors."""
        training = [m.training for module in self.modules for m in module.modules()]
        options = [
            tuple((k, _as_key(v)) for k, v in group.items() if k != "params")
            for optimizer in self.optimizers
            for group in optimizer.param_groups
        ]
        return tuple(training), tuple(options)

    def is_fresh(self) -> Callable[[], bool]:
        """A function that says whether the same tensors, flags and options are there as now."""
        places = list(self.places)
        for module in self.modules:
            for m in module.modules():
                places.append(Place(m.__dict__, "training", m.training))
                for entries in (m._parameters, m._buffers, m._modules):
                    places += [Place(entries, k, v) for k, v in entries.items()]
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                places += [Place(group, k, v) for k, v in group.items()]
                places += [Place(group["params"], i, p) for i, p in enumerate(group["params"])]
            for state in optimizer.state.values():
                places += [Place(state, k, v) for k, v in state.items()]
        return checker(places, self.containers)

    def changed(self) -> list[Place]:
        return [p for p in self.numbers if not p.is_same()]


def _as_key(x: Any) -> Any:
    return tuple(x) if isinstance(x, list) else x if not isinstance(x, TensorBase) else id(x)


class _Program:
    """One traced run: the jaxpr, and where its inputs and results are."""

    def __init__(
        self, jaxpr: Jaxpr, tensors: Sequence[Any], gradients: Sequence[Any], writes: Any, out: Any
    ) -> None:
        self.jaxpr = open_jaxpr(jaxpr)
        self.constants = list(jaxpr.consts)
        self.tensors = list(tensors)
        self.gradients = list(gradients)  # of these tensors, a part of the inputs
        self.writes, self.new_gradients, self.leaves = writes
        self.out_def, self.fixed = out

    @property
    def is_pure(self) -> bool:
        """Whether the run wrote into no tensor and left no gradient."""
        return not self.writes and not self.new_gradients


class Compiled:
    """A function and the programs made of it; see `compile`."""

    def __init__(self, f: Callable[..., Any], fullgraph: bool) -> None:
        functools.update_wrapper(self, f, updated=())
        self._f = f
        self._fullgraph = fullgraph
        self._programs: dict[Any, _Program | None] = {}
        self._state: _State | None = None
        self._seen: set[Any] = set()
        self._last: Any = None
        self._why = "it has not been called twice with arguments of the same types"

    def explain(self) -> str:
        """How many programs there are, and why the code ran as it is, if it did."""
        count = sum(p is not None for p in self._programs.values())
        return f"{count} programs; {self._why}" if self._why else f"{count} programs"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._last is not None and not kwargs:
            found = self._last(args)
            if found is not OTHER:
                return found
        if current.get() is not EVAL or modes.get().level is not None:
            return self._f(*args, **kwargs)
        leaves, treedef = tree.flatten((args, kwargs))
        if self._state is None or self._state.changed():
            self._state = _State(self._f)
        tensors = self._state.all_tensors()
        mine = [x for x in leaves if isinstance(x, TensorBase)]
        every: list[Any] = list({id(t): t for t in (*mine, *tensors)}.values())
        key = (
            treedef,
            tuple(map(_leaf_key, leaves)),
            tuple(map(_tensor_key, every[len({id(t) for t in mine}) :])),
            self._state.flags(),
            modes.get().records,
            code(),
        )
        if key not in self._programs:
            if key not in self._seen:  # what is made at the first run is there at the second
                self._seen.add(key)
                return self._f(*args, **kwargs)
            self._programs[key] = self._traced(args, kwargs, leaves, every)
            if len(self._programs) > MOST_PROGRAMS:
                del self._programs[next(iter(self._programs))]
        program = self._programs[key]
        if program is None:
            return self._f(*args, **kwargs)
        found = _run(program, every, mine)
        if not program.is_pure and not kwargs:
            self._last = _printed(program, args, every, len({id(t) for t in mine}), self._state)
        return found

    def _traced(
        self, args: Any, kwargs: Any, leaves: Sequence[Any], tensors: list[Any]
    ) -> _Program | None:
        assert self._state is not None
        try:
            program = _trace(self._f, args, kwargs, tensors, self._state)
            self._why = ""
            return program
        except (NotCompilableError, FuncgradError) as error:
            self._why = f"the code runs as it is: {error}"
            if self._fullgraph:
                raise RuntimeError(f"compile(fullgraph=True): {error}") from error
            return None


def _leaf_key(x: Any) -> Any:
    if isinstance(x, TensorBase):
        return (*_tensor_key(x)[1:], None)
    try:
        hash(x)
    except TypeError:
        return id(x)
    return x.__class__, x


def _tensor_key(t: Any) -> Any:
    grad = t._grad
    return id(t), t._array.shape, t._array.dtype, t.requires_grad, grad is not None


def _trace(
    f: Callable[..., Any], args: Any, kwargs: Any, tensors: list[Any], state: _State
) -> _Program:
    _require_plain(tensors, state)
    trace = JaxprTrace(EVAL, spreads=True)
    gradients = [t for t in tensors if t._grad is not None]
    with _swapped(tensors, gradients, trace) as inputs:
        symbols = [x.symbol for x in inputs]  # before the function writes into them
        before = default_generator.get_state().numpy().tobytes()
        with _restored_numbers(state):
            result = run_under(trace, lambda: f(*args, **kwargs), ())
        if default_generator.get_state().numpy().tobytes() != before:
            raise NotCompilableError("it draws random numbers")
        outs, out_def = tree.flatten(result)
        outputs: list[Any] = []
        fixed: list[Any] = []
        for x in outs:
            fixed.append(_Hole(x) if isinstance(x, TensorBase) else x)
            if isinstance(x, TensorBase):
                outputs.append(_read(x))
        writes = []
        for i, t in enumerate(tensors):
            array = _read(t)
            if not (isinstance(array, Tracer) and trace.atom(array) is symbols[i]):
                writes.append(i)
                outputs.append(array)
        new_gradients = []
        for i, t in enumerate(tensors):
            kind = _gradient_change(t, gradients, symbols, len(tensors), trace)
            if kind != "same":
                new_gradients.append((i, kind))
                if kind != "none":
                    outputs.append(_read(t._grad))
        jaxpr = trace.finish(symbols, outputs)
    found = (writes, new_gradients, sum(x.__class__ is _Hole for x in fixed))
    return _Program(jaxpr, tensors, gradients, found, (out_def, fixed))


class _Hole:
    """Where a tensor is in what the function returned."""

    def __init__(self, x: Any) -> None:
        self.requires_grad = x.requires_grad


def _read(t: Any) -> Any:
    if t._view is not None:
        views.refresh(t)
    return t._array


def _gradient_change(
    t: Any, gradients: Sequence[Any], symbols: Sequence[Any], count: int, trace: Any
) -> str:
    """What became of a gradient: "same", "none", or "new"."""
    had = any(t is g for g in gradients)
    if t._grad is None:
        return "none" if had else "same"
    if not had:
        return "new"
    place = next(i for i, g in enumerate(gradients) if g is t)
    array = _read(t._grad)
    same = isinstance(array, Tracer) and trace.atom(array) is symbols[count + place]
    return "same" if same else "new"


def _require_plain(tensors: Sequence[Any], state: _State) -> None:
    """Raises: NotCompilableError: tensors share memory, are views, or somebody listens to them."""
    for t in tensors:
        if t._view is not None:
            raise NotCompilableError("a tensor is a view of another one")
        if t._array.__class__ is not np.ndarray:
            raise NotCompilableError(f"a tensor holds no NumPy array but {type(t._array).__name__}")
        node = t._node
        if node is not None and node.__class__ is not AccumulateGrad:
            raise NotCompilableError("a tensor from outside has a history; detach it")
        if getattr(t, "_backward_hooks", None) or _hooks_of(node):
            raise NotCompilableError("a tensor has hooks")
    for module in state.modules:
        for m in module.modules():
            if any(v for k, v in vars(m).items() if k.endswith("_hooks") and k.startswith("_")):
                raise NotCompilableError(f"{type(m).__name__} has hooks")
    spans = sorted(np.lib.array_utils.byte_bounds(t._array) for t in tensors if t._array.size)
    for (_, stop), (start, _) in itertools.pairwise(spans):
        if start < stop:
            raise NotCompilableError("two tensors share memory")


def _hooks_of(node: Any) -> bool:
    more = getattr(node, "_extras", None)
    return bool(more) and any(
        bool(getattr(more, k, None)) for k in ("tensor_hooks", "prehooks", "hooks")
    )


@contextlib.contextmanager
def _swapped(
    tensors: Sequence[Any], gradients: Sequence[Any], trace: JaxprTrace
) -> Iterator[list[Any]]:
    """Traced values in place of the arrays in tensors and gradients; everything is put back."""
    kept = [(t, t._array, t._grad, t._node, list(t._counter)) for t in tensors]
    grads = [(t._grad, t._grad._array, list(t._grad._counter)) for t in gradients]
    inputs = []
    try:
        for t in (*tensors, *(t._grad for t in gradients)):
            inputs.append(trace.new_input(aval_of(t._array)))
            t._array = inputs[-1]
        yield inputs
    finally:
        for t, array, grad, node, counter in kept:
            t._array, t._node = array, node
            t._counter[:] = counter
            if t._grad is not grad:
                t._grad = grad
        for g, array, counter in grads:
            g._array = array
            g._counter[:] = counter


@contextlib.contextmanager
def _restored_numbers(state: _State) -> Iterator[None]:
    """Raises: NotCompilableError: the code changes something that is no tensor; it is put back."""
    yield
    changed = state.changed()
    for place in changed:
        place.put_back()
    if changed:
        names = ", ".join(sorted({str(p.key or "a variable") for p in changed}))
        raise NotCompilableError(f"it changes what is no tensor: {names}")


def _run(program: _Program, tensors: Sequence[Any], mine: Sequence[Any]) -> Any:
    # The tensors of this call's arguments stand where those of the traced call stood.
    actual = list({id(t): t for t in (*mine, *tensors)}.values())
    if program.is_pure:
        return _run_pure(program, actual)
    arrays = [t._array for t in actual]
    places = {id(t): i for i, t in enumerate(program.tensors)}
    with_gradient = [actual[places[id(t)]] for t in program.gradients]
    arrays += [t._grad._array for t in with_gradient]
    found = iter(program_of(program.jaxpr).run(*program.constants, *arrays))
    results = [next(found) for _ in range(program.leaves)]
    for i in program.writes:
        np.copyto(actual[i]._array, next(found))
        views.touch(actual[i], "compiled code")
    for i, kind in program.new_gradients:
        actual[i]._grad = None if kind == "none" else tensor(np.asarray(next(found)))
    return _put_together(program, [tensor(np.asarray(x)) for x in results])


def _printed(
    program: _Program, args: tuple[Any, ...], tensors: Sequence[Any], mine: int, state: _State
) -> Any:
    """A printed function for the next calls with such arguments; None if they have no simple form."""
    leaves, treedef = tree.flatten(args)
    if len(leaves) != mine or not all(isinstance(x, TensorBase) for x in leaves):
        return None
    printer = Printer()
    names = [f"x{i}" for i in range(len(leaves))]
    if not printer.take_apart("args", tree.unflatten(treedef, names)):
        return None
    outside = modes.get()
    printer.scope |= {"mode": modes.get, "is_fresh": state.is_fresh(), "code": code, "kind": code()}
    printer.require(f"mode().level is None and mode().records is {outside.records}")
    printer.require("code() is kind")
    for i, t in enumerate(tensors):
        if i >= mine:
            printer.scope[f"x{i}"] = t
        else:
            printer.require(
                f"x{i}.__class__ is {printer.bind(type(t), 'cls')} and x{i}._view is None"
            )
        printer.lines.append(f"a{i} = x{i}._array")
        printer.require_type(f"a{i}", t._array)
        printer.require(f"(x{i}._node is None) is {t._node is None}")
        had = any(t is g for g in program.gradients) or (i < mine and t._grad is not None)
        printer.require(f"(x{i}._grad is None) is {not had}")
    printer.require("is_fresh()")
    places = {id(t): i for i, t in enumerate(program.tensors)}
    gradients = [f"x{places[id(t)]}._grad._array" for t in program.gradients]
    constants = [printer.bind(c, "constant") for c in program.constants]
    arrays = [f"a{i}" for i in range(len(tensors))]
    outs = [f"y{i}" for i in range(len(program.jaxpr.outs))]
    printer.scope |= {"program": program_of(program.jaxpr), "tensor": tensor, "touch": views.touch}
    printer.scope |= {
        "copyto": np.copyto,
        "asarray": np.asarray,
        "finish": _put_together,
        "whole": program,
    }
    call = f"program.run({', '.join([*constants, *arrays, *gradients])})"
    lines = [f"{''.join(f'{y}, ' for y in outs)}= {call}"]
    given = iter(outs[program.leaves :])
    for i in program.writes:
        lines += [f"copyto(a{i}, {next(given)})", f"touch(x{i}, 'compiled code')"]
    for i, kind in program.new_gradients:
        lines.append(f"x{i}._grad = {'None' if kind == 'none' else f'tensor({next(given)})'}")
    results = ", ".join(f"tensor(asarray({y}))" for y in outs[: program.leaves])
    printer.after = [*lines, f"return finish(whole, [{results}])"]
    return printer.function()


def _run_pure(program: _Program, tensors: Sequence[Any]) -> Any:
    """A function of its tensors, recorded as one node."""

    def call(*arrays: Any) -> Any:
        return jit_call(*program.constants, *arrays, jaxpr=program.jaxpr)

    gradients = [t._grad for t in tensors if t._grad is not None]
    return _put_together(program, list(through(call, *tensors, *gradients)))


def _put_together(program: _Program, results: list[Any]) -> Any:
    found = iter(results)
    leaves = [next(found) if x.__class__ is _Hole else x for x in program.fixed]
    return tree.unflatten(program.out_def, leaves)


class OptimizedModule(Module):
    """A module whose `forward` is compiled; everything else is that of `_orig_mod`."""

    def __init__(self, module: Module, fullgraph: bool) -> None:
        super().__init__()
        self._orig_mod = module
        object.__setattr__(self, "_compiled", Compiled(module, fullgraph))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)

    def explain(self) -> str:
        """See `Compiled.explain`."""
        return self._compiled.explain()


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

    `dynamic`, `mode` and `options` are taken and change nothing; `backend` is "funcgrad" or
    PyTorch's default name.

    Raises: RuntimeError: with `fullgraph`, the code cannot be one program.
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
    if backend not in ("funcgrad", "inductor"):
        raise RuntimeError(f"compile: unknown backend {backend!r}; need 'funcgrad'")
    if model is None:
        return lambda f: compile(f, fullgraph=fullgraph, disable=disable)
    if disable:
        return model
    return (
        OptimizedModule(model, fullgraph)
        if isinstance(model, Module)
        else Compiled(model, fullgraph)
    )
