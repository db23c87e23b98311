"""One compiled program of `jit`, and the printed function that is tried first at every call.

Layer 4½. Taking arguments apart, comparing types and looking up a program costs as much as twenty
operations on small arrays. So the last program has a function of its own, printed for its arguments'
structure and types: it gives the results, or says that the call is another one.

NOTE [Inputs] A captured array is an input of the program, and may change from call to call. Plain NumPy
code may read it as well, and what it finds is part of the program: so where the elements change the
function is traced again. If that gives the same program a few times, nobody reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..algebra import scaling
from ..backend import NAMESPACES
from ..core import EVAL, aval_of, current
from ..jaxpr import Jaxpr
from ..transforms.arguments import is_array
from .captures import Captured
from .config import code
from .freshness import ElementsAt, Place, checker, watched_arrays
from .into import are_apart, pairs
from .program import CUDA, Program, program_of
from .sameness import is_same_program, is_same_value

SETTLED = 3  # times that an array changed and the program did not
OTHER = object()  # what the printed function returns if the call is another one
ndarray = np.ndarray


class Entry:
    """A program, for arguments of certain types and static values.

    `inputs`: the captured arrays, which are the program's first inputs. `sources` says where they
    are: in a place, or the array itself. `donated`: the arguments that results may be written into.
    """

    def __init__(
        self,
        jaxpr: Jaxpr,
        treedef: Any,
        out_def: Any,
        found: Captured,
        inputs: list[Any],
        donated: Sequence[int],
        old: Entry | None = None,
    ) -> None:
        start = len(inputs)
        given = [start + i for i in donated]
        self.into = pairs(jaxpr.in_avals, jaxpr.out_avals, given)
        self.jaxpr = jaxpr
        self.treedef = treedef
        self.out_def = out_def
        self.places = found.places
        homes: dict[int, list[Place]] = {}
        for place in found.places:
            if NAMESPACES.get(place.value.__class__) is not None:  # an array
                homes.setdefault(id(place.value), []).append(place)
        self.sources = [homes[id(x)][0] if id(x) in homes else x for x in inputs]
        taken = {id(x) for x in inputs}
        twins = [(homes[k][0], p) for k in homes if k in taken for p in homes[k][1:]]
        checked = [p for p in found.places if id(p.value) not in taken]
        self.changes = [0] * start if old is None else self._changes_since(old)
        self.watched = {
            i: ElementsAt(source)
            for i, source in enumerate(self.sources)
            if source.__class__ is Place
            and isinstance(source.value, ndarray)
            and self.changes[i] < SETTLED
        }
        contents = [*found.containers, *watched_arrays(found.places, inputs)]
        contents += self.watched.values()
        self.is_fresh = checker(checked, contents, twins)
        self.is_watching = bool(checked or contents or twins)
        self.avals = [aval_of(s) for s in self.now()]
        self._fast: Any = OTHER
        self.is_kept = True

    def _changes_since(self, old: Entry) -> list[int]:
        """How often each captured array was another one and the program the same; see NOTE [Inputs].

        Then the old program is kept, and what it was printed as.
        """
        if not self._is_as(old):
            return [0] * len(self.sources)
        self.jaxpr = old.jaxpr
        changed = {i for i, x in old.watched.items() if not x.is_same()}
        return [n + (i in changed) for i, n in enumerate(old.changes)]

    def _is_as(self, old: Entry) -> bool:
        return len(self.sources) == len(old.sources) and (
            all(
                (one.holder is other.holder and one.key == other.key)
                if one.__class__ is other.__class__ is Place
                else is_same_value(one, other)
                for one, other in zip(self.sources, old.sources, strict=True)
            )
            and is_same_program(self.jaxpr, old.jaxpr)
        )

    def program(self, xs: Sequence[Any]) -> Program:
        """The program for these captured arrays and arguments."""
        into = self.into if self.into and are_apart(xs, self.into) else ()
        return program_of(self.jaxpr, xs, into)

    def now(self) -> list[Any]:
        """The captured arrays."""
        return [s.get() if s.__class__ is Place else s for s in self.sources]

    def captured(self) -> list[Any] | None:
        """The captured arrays; None if the program is stale."""
        if not self.is_fresh():
            return None
        found = self.now()
        for x, aval in zip(found, self.avals, strict=True):
            if not is_array(x) or aval_of(x) != aval:
                return None
        return found

    def fast(self, leaves: Sequence[Any]) -> Callable[[tuple[Any, ...]], Any] | None:
        """The printed function, made once; None if the structure of the arguments has none."""
        if self._fast is OTHER:
            self._fast = self._printed(leaves)
        return self._fast

    def _printed(self, leaves: Sequence[Any]) -> Callable[[tuple[Any, ...]], Any] | None:
        names = [f"x{i}" for i in range(len(leaves))]
        args, kwargs = tree.unflatten(self.treedef, names)
        printer = Printer()
        if kwargs or not printer.take_apart("args", args):
            return None
        for name, x in zip(names, leaves, strict=True):
            printer.require_type(name, x)
        captured = []
        for i, source in enumerate(self.sources):
            captured.append(f"c{i}")
            printer.read(f"c{i}", source)
        program = program_of(self.jaxpr, (*self.now(), *leaves))
        printer.scope |= {"program": program, "is_fresh": self.is_fresh}
        values = ", ".join([*captured, *names])
        chosen = "program"
        if self.into and program.kind != CUDA:
            writing = program_of(self.jaxpr, (), self.into)
            printer.scope |= {"writing": writing, "apart": are_apart, "into": self.into}
            chosen = f"(writing if apart(({values},), into) else program)"
        printer.scope |= {"unflatten": tree.unflatten, "out_def": self.out_def}
        if self.is_watching:
            printer.require("is_fresh()")
        printer.require("scaling() is scale and code() is kind")
        printer.scope |= {"scaling": scaling.get, "scale": scaling.get()}
        printer.scope |= {"code": code, "kind": code()}
        outs = [f"y{i}" for i in range(len(self.jaxpr.outs))]
        result = printer.put_together(tree.unflatten(self.out_def, outs))
        call = f"{chosen}.run({values})"
        if result is None:
            printer.after.append(f"return unflatten(out_def, {call})")
        else:
            left = "".join(f"{y}, " for y in outs)
            printer.after += [f"{left}= {call}" if outs else call, f"return {result}"]
        return printer.function()


class Printer:
    """Writes a function that takes arguments apart, and gives `OTHER` unless they are of one kind."""

    def __init__(self) -> None:
        self.lines: list[str] = []  # that look at the arguments, and may fail
        self.after: list[str] = []
        self.scope: dict[str, Any] = {"OTHER": OTHER, "ndarray": ndarray}
        self.scope |= {"EVAL": EVAL, "current": current.get}
        self.require("current() is EVAL")

    def require(self, condition: str) -> None:
        self.lines.append(f"if not ({condition}): return OTHER")

    def bind(self, x: Any, name: str) -> str:
        name = f"{name}{len(self.scope)}"
        self.scope[name] = x
        return name

    def take_apart(self, name: str, node: Any) -> bool:
        """Lines that give the leaves of the argument `name` their names, which are in `node`."""
        kind = node.__class__
        if kind is str:
            self.lines.append(f"{node} = {name}")
            return True
        if node is None:
            self.require(f"{name} is None")
            return True
        if kind not in (tuple, list, dict):
            return False
        known = "" if name == "args" else f"{name}.__class__ is {kind.__name__} and "
        self.require(f"{known}len({name}) == {len(node)}")
        for key in node if kind is dict else range(len(node)):
            child = f"n{len(self.lines)}"
            self.lines.append(f"{child} = {name}[{self.key(key)}]")
            if not self.take_apart(child, node[key]):
                return False
        return True

    def key(self, key: Any) -> str:
        return repr(key) if key.__class__ in (int, str) else self.bind(key, "key")

    def require_type(self, name: str, x: Any) -> None:
        cls = x.__class__
        if NAMESPACES.get(cls) is not None:  # an array, of NumPy's or a device's
            known = "ndarray" if cls is ndarray else self.bind(cls, "cls")
            dtype = self.bind(x.dtype, "dtype")
            self.require(
                f"{name}.__class__ is {known} and {name}.shape == {x.shape!r} and "
                f"({name}.dtype is {dtype} or {name}.dtype == {dtype})"
            )
        else:
            self.require(f"{name}.__class__ is {self.bind(cls, 'cls')}")

    def read(self, name: str, source: Any) -> None:
        """A line that looks up a captured array, and one that checks its type."""
        if source.__class__ is not Place:
            self.lines.append(f"{name} = {self.bind(source, 'array')}")
            return
        holder = self.bind(source.holder, "holder")
        text = source.text(holder, self.key(source.key))
        self.lines.append(f"{name} = {text}")
        self.require_type(name, source.value)

    def put_together(self, node: Any) -> str | None:
        """The expression of a tree of names."""
        kind = node.__class__
        if kind is str or node is None:
            return str(node)
        if kind not in (tuple, list, dict):
            return None
        keys = list(node) if kind is dict else []
        parts = [self.put_together(n) for n in (node.values() if kind is dict else node)]
        if any(p is None for p in parts):
            return None
        if kind is dict:
            return (
                f"{{{', '.join(f'{self.key(k)}: {p}' for k, p in zip(keys, parts, strict=True))}}}"
            )
        text = "".join(f"{p}, " for p in parts)
        return f"[{text}]" if kind is list else f"({text})"

    def function(self) -> Callable[[tuple[Any, ...]], Any]:
        body = "".join(f"        {line}\n" for line in self.lines)
        failed = "    except (LookupError, AttributeError, ValueError): return OTHER\n"
        after = "".join(f"    {line}\n" for line in self.after)
        text = f"def fast(args):\n    try:\n{body}{failed}{after}"
        exec(compile(text, "<funcgrad printed>", "exec"), self.scope)
        return self.scope.pop("fast")  # no cycle
