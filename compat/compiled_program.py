"""A traced run of tensor code as a program, and how it takes the place of the code.

Its inputs are the arrays of tensors and of their gradients; what the code wrote is written into the
tensors that stand at the same places at this call. For arguments such as those of the last call, a
printed function does that with little more than the tests that nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compile.config import code
from funcgrad.compile.entry import Printer
from funcgrad.compile.program import program_of
from funcgrad.jaxpr import Jaxpr, live
from funcgrad.quiet import QUIET, reset_state, set_state
from funcgrad.transforms.program_call import open_jaxpr

from .autograd import mirrors, modes, sites
from .autograd.base import UNCOUNTED, TensorBase, tensor
from .autograd.node import AccumulateGrad
from .autograd.programs import TapeProgram
from .compiled_state import State, is_leaf
from .ops.generator import default_generator

_NODE = "JitCallBackward0"


class Hole:
    """Where a tensor is in what the function returned: a result, or a tensor from outside."""

    def __init__(self, requires_grad: bool, place: int, is_result: bool) -> None:
        self.requires_grad = requires_grad
        self.place = place
        self.is_result = is_result


class Draws:
    """What code draws from the default generator, in its order."""

    def __init__(self) -> None:
        self._calls: list[tuple[Callable[..., Any], list[Any]]] = []

    def add(self, draw: Callable[..., Any], values: Sequence[Any]) -> Any:
        """Draw, now and whenever a program runs; `values` are the parameters."""
        self._calls.append((draw, [np.array(x) for x in values]))
        return draw(default_generator.stream, *values)

    def _numbers(self) -> list[Any]:
        stream = default_generator.stream
        return [draw(stream, *values) for draw, values in self._calls]

    def moves(self, before: Any, after: Any) -> bool:
        """Whether this is not all that has taken the generator from one state to another."""
        self._numbers()
        is_all = default_generator.get_state().numpy().tobytes() == after.numpy().tobytes()
        default_generator.set_state(before)
        return not is_all

    def run(self, f: Callable[..., Any], *inputs: Any) -> Any:
        """``f(*inputs, *drawn)``. Where that fails nothing has been drawn: the code itself runs."""
        if not self._calls:
            return f(*inputs)
        bits = default_generator.stream.bit_generator
        before = bits.state
        try:
            return f(*inputs, *self._numbers())
        except np.linalg.LinAlgError:
            bits.state = before
            raise


class TensorProgram:
    """One traced run: the jaxpr, what it draws, and where its inputs and results are."""

    def __init__(
        self,
        jaxpr: Jaxpr,
        tensors: Sequence[Any],
        gradients: Sequence[Any],
        draws: Draws,
        writes: Any,
        out: Any,
    ) -> None:
        self.jaxpr = open_jaxpr(jaxpr)
        self.constants = list(jaxpr.consts)
        self.tensors = list(tensors)
        self.gradients = list(gradients)  # of these tensors, a part of the inputs
        self.draws = draws
        self.writes, self.new_gradients, self.leaves = writes
        self.out_def, self.fixed = out
        self.into = self._into()
        program = live(self.jaxpr)
        mentioned = {id(a) for eqn in program.eqns for a in eqn.inputs} | set(map(id, program.outs))
        reads = [id(v) in mentioned for v in program.in_vars]
        self.read = [i for i, r in enumerate(reads[len(self.constants) :]) if r]
        self.tape = self._of_what_it_reads(program, reads)
        x = self.fixed[0] if len(self.fixed) == 1 else None
        # Whether it returns a new tensor, and nothing around it.
        self.returns_one_result = (
            isinstance(x, Hole) and x.is_result and tree.unflatten(self.out_def, self.fixed) is x
        )

    def _into(self) -> tuple[tuple[int, int], ...]:
        """Which results of the program are to be in the memory of which of its inputs."""
        start, found = len(self.constants), []
        places = {id(t): i for i, t in enumerate(self.gradients)}
        number = self.leaves
        for i, _ in self.writes:
            found.append((number, start + i))
            number += 1
        for i, kind in self.new_gradients:
            if kind == "written":
                place = places[id(self.tensors[i])]
                found.append((number, start + len(self.tensors) + place))
            number += kind != "none"
        return tuple(found)

    def _of_what_it_reads(self, program: Jaxpr, reads: Sequence[bool]) -> TapeProgram:
        """A node has no part in tensors that do not matter, gradients for instance."""
        variables = [v for v, r in zip(program.in_vars, reads, strict=True) if r]
        constants = [c for c, r in zip(self.constants, reads, strict=False) if r]
        return TapeProgram(Jaxpr(variables, program.eqns, program.outs), constants)

    @property
    def is_pure(self) -> bool:
        """Whether the run wrote into no tensor and left no gradient."""
        return not self.writes and not self.new_gradients

    def reads_gradients(self) -> bool:
        """Whether the results depend on gradients."""
        start = len(self.tensors)
        return any(start <= i < start + len(self.gradients) for i in self.read)


def run(program: TensorProgram, tensors: Sequence[Any], mine: Sequence[Any]) -> Any:
    # The tensors of this call's arguments stand where those of the traced call stood.
    actual = list({id(t): t for t in (*mine, *tensors)}.values())
    if program.is_pure:
        return run_pure(program, actual)
    arrays = [t._array for t in actual]
    places = {id(t): i for i, t in enumerate(program.tensors)}
    with_gradient = [actual[places[id(t)]] for t in program.gradients]
    arrays += [t._grad._array for t in with_gradient]
    token = set_state(QUIET)
    try:
        call = program_of(program.jaxpr, (), program.into).run
        found = iter(program.draws.run(call, *program.constants, *arrays))
    finally:
        reset_state(token)
    results = [next(found) for _ in range(program.leaves)]
    made, here = [], sites.site()
    for i, times in program.writes:
        _write([actual[i]], [next(found)], [times], here)
    for i, kind in program.new_gradients:
        if kind == "written":
            _write([actual[i]._grad], [next(found)], [1], here)
        elif kind == "none":
            actual[i]._grad = None
        else:
            made.append((actual[i], next(found)))
    new = _owned([*results, *(g for _, g in made)])
    for (t, _), g in zip(made, new[program.leaves :], strict=True):
        t._grad = tensor(g)
    return _put_together(program, [tensor(x) for x in new[: program.leaves]], actual)


def _owned(found: Sequence[Any]) -> list[Any]:
    """The arrays that a program has returned, in memory of their own that may be written."""
    seen: set[int] = set()
    arrays = []
    for x in found:
        array = x if x.__class__ is np.ndarray else np.asarray(x)
        base = array.base
        owner = id(array if base is None else base)
        # Only views repeat elements.
        repeats = base is not None and 0 in array.strides
        if owner in seen or repeats or not array.flags.writeable:
            array = array.copy()
        seen.add(owner)
        arrays.append(array)
    return arrays


def _write(tensors: Sequence[Any], arrays: Sequence[Any], times: Sequence[int], here: Any) -> None:
    """Write as the code has, so many times; `here` is the line of the user that runs it."""
    for t, array, count in zip(tensors, arrays, times, strict=True):
        own, counter = t._array, t._counter
        if array is not own:
            own[...] = array
        if counter is not UNCOUNTED:
            counter[:] = (counter[0] + count, "compiled code", here)
            if mirrors.known:
                mirrors.written(counter, own)


def printed(
    program: TensorProgram, args: tuple[Any, ...], tensors: Sequence[Any], mine: int, state: State
) -> Any:
    """A printed function for the next calls with such arguments; None if they have no simple form."""
    leaves, treedef = tree.flatten(args)
    if len(leaves) != mine or not all(isinstance(x, TensorBase) for x in leaves):
        return None
    if any(i < mine for i, _ in program.writes) or any(x._grad is not None for x in leaves):
        return None
    if not {id(x) for x in leaves}.isdisjoint(map(id, state.all_tensors())):
        return None  # another argument may come where a tensor stands that the code reads by name
    if any(t._node is not None and t._node.extras is not None for t in tensors):
        return None
    if any(kind == "none" for _, kind in program.new_gradients):
        return None  # which gradients are there at the next call is not known
    if program.is_pure and program.reads_gradients():
        return None
    printer = Printer()
    names = [f"x{i}" for i in range(len(leaves))]
    if not printer.take_apart("args", tree.unflatten(treedef, names)):
        return None
    _require_same(printer, program, tensors, mine, state)
    if program.is_pure:
        printer.after = _recording_lines(printer, program, len(tensors))
    else:
        printer.after = _result_lines(printer, program, tensors)
    return printer.function()


def _require_same(
    printer: Printer, program: TensorProgram, tensors: Sequence[Any], mine: int, state: State
) -> None:
    """The tests that nothing has changed, and names for the tensors and their arrays.

    Arguments are different tensors, none that the code reads by name, nor in the memory of one.
    """
    outside = modes.get()
    written = [tensors[i]._array for i, _ in program.writes]
    written += [tensors[i]._grad._array for i, k in program.new_gradients if k == "written"]
    owners = {id(a) for a in written} | {id(a.base) for a in written if a.base is not None}
    printer.scope |= {"mode": modes.get, "is_fresh": state.is_fresh(), "code": code, "kind": code()}
    printer.scope |= {"leaf": AccumulateGrad, "is_leaf": is_leaf}
    printer.scope |= {"others": {id(t) for t in tensors[mine:]}, "owners": owners, "kept": written}
    printer.require(f"mode().level is None and mode().records is {outside.records}")
    printer.require(f"code() is kind and mode().inference is {outside.inference}")
    if mine:
        ids = ", ".join(f"id(x{i})" for i in range(mine))
        printer.require(f"len({{{ids}}} - others) == {mine}")
    gone = {i for i, _ in program.writes}
    for i, t in enumerate(tensors):
        if i >= mine:
            printer.scope[f"x{i}"] = t
        else:
            cls = printer.bind(type(t), "cls")
            printer.require(f"x{i}.__class__ is {cls} and (x{i}._view is None or is_leaf(x{i}))")
        printer.lines.append(f"a{i} = x{i}._array")
        if i in gone:
            printer.require(f"a{i} is {printer.bind(t._array, 'array')}")
        else:
            printer.require_type(f"a{i}", t._array)
            if t._array.flags.c_contiguous:
                printer.require(f"a{i}.flags.c_contiguous")
            else:
                printer.require(f"a{i}.strides == {t._array.strides}")
            printer.require(f"id(a{i} if a{i}.base is None else a{i}.base) not in owners")
        if t._node is None:
            printer.require(f"x{i}._node is None")
        else:
            printer.require(f"x{i}._node.__class__ is leaf and x{i}._node.extras is None")
        if program.is_pure:  # which does not read it
            printer.require(f"x{i}._grad is {'not ' * (t._grad is not None)}None")
        else:
            printer.require(f"x{i}._grad is last[{i}]")
    for i, kind in program.new_gradients:
        if kind == "written":
            kept = printer.bind(tensors[i]._grad._array, "array")
            printer.require(f"x{i}._grad._array is {kept}")
    printer.require("is_fresh()")


def _result_lines(printer: Printer, program: TensorProgram, tensors: Sequence[Any]) -> list[str]:
    """The call of the program, and what becomes of its results."""
    places = {id(t): i for i, t in enumerate(program.tensors)}
    had = {id(t) for t in program.gradients}
    printer.scope["last"] = [t._grad if id(t) in had else None for t in tensors]
    printer.scope |= {
        "program": program_of(program.jaxpr, (), program.into),
    }
    printer.scope |= {"QUIET": QUIET, "set_state": set_state, "reset_state": reset_state}
    printer.scope |= {"write": _write, "owned": _owned, "tensor": tensor, "site": sites.site}
    printer.scope |= {"finish": _put_together, "whole": program, "draws": program.draws}
    gradients = [f"x{places[id(t)]}._grad._array" for t in program.gradients]
    constants = [printer.bind(c, "constant") for c in program.constants]
    arrays = [f"a{i}" for i in range(len(tensors))]
    outs = [f"y{i}" for i in range(len(program.jaxpr.outs))]
    call = f"draws.run(program.run, {', '.join([*constants, *arrays, *gradients])})"
    lines = [
        "state = set_state(QUIET)",
        "try:",
        f"    {''.join(f'{y}, ' for y in outs)}= {call}",
        "finally:",
        "    reset_state(state)",
        "here = site()",
    ]
    given = iter(outs[program.leaves :])
    if program.writes:
        printer.scope["times"] = [times for _, times in program.writes]
        names = "".join(f"x{i}, " for i, _ in program.writes)
        values = "".join(f"{next(given)}, " for _ in program.writes)
        lines.append(f"write(({names}), ({values}), times, here)")
    made = outs[: program.leaves]
    after = []
    for i, kind in program.new_gradients:
        if kind == "written":
            lines.append(f"write([x{i}._grad], [{next(given)}], [1], here)")
        else:
            kept = f"last[{i}] = " if id(program.tensors[i]) in had else ""
            after.append(f"{kept}x{i}._grad = tensor(made[{len(made)}])")
            made.append(next(given))
    results = ", ".join(f"tensor(made[{i}])" for i in range(program.leaves))
    if not program.returns_one_result:
        results = f"finish(whole, [{results}], [{', '.join(f'x{i}' for i in range(len(tensors)))}])"
    return [*lines, f"made = owned([{', '.join(made)}])", *after, f"return {results}"]


def _recording_lines(printer: Printer, program: TensorProgram, count: int) -> list[str]:
    """The call of a program that is recorded as one node, and reads no gradient."""
    tensors = f"[{', '.join(f'x{i}' for i in range(count))}]"
    printer.scope |= {"run": run_pure, "finish": _finished, "whole": program, "tape": program.tape}
    if any(i >= count for i in program.read):  # what is drawn
        return [f"return run(whole, {tensors})"]
    read = ", ".join(f"x{i}" for i in program.read)
    return [f"return finish(whole, tape({_NODE!r}, [{read}]), {tensors})"]


def run_pure(program: TensorProgram, tensors: Sequence[Any]) -> Any:
    """A function of its tensors, recorded as one node."""
    operands = [*tensors, *(t._grad for t in tensors if t._grad is not None)]

    def recorded(*drawn: Any) -> Any:
        every = [*operands, *map(tensor, drawn)]
        return program.tape(_NODE, [every[i] for i in program.read])

    return _finished(program, program.draws.run(recorded), tensors)


def _finished(program: TensorProgram, results: Sequence[Any], tensors: Sequence[Any]) -> Any:
    """What the function returns, its results in memory of their own."""
    for x, array in zip(results, _owned([x._array for x in results]), strict=True):
        x._array = array
    made = list(results)
    for x in program.fixed:
        if x.__class__ is Hole and x.is_result and not x.requires_grad:
            made[x.place] = made[x.place].detach()
    return made[0] if program.returns_one_result else _put_together(program, made, tensors)


def _put_together(program: TensorProgram, results: Sequence[Any], tensors: Sequence[Any]) -> Any:
    leaves = [
        x if x.__class__ is not Hole else (results if x.is_result else tensors)[x.place]
        for x in program.fixed
    ]
    return tree.unflatten(program.out_def, leaves)
