"""Loops over rows of numbers as C: the whole loop is one inner loop of a generalised ufunc.

Layer 4½.
"""

from __future__ import annotations

from typing import Any

from .c_source import TYPES, Kernel, fits
from .lower import REDUCE, Step, Value


class LoopGroup:
    """A `LOOP` step with what a group has: steps, and the values that cross its border."""

    def __init__(self, step: Step) -> None:
        self.body = step.function
        self.rows = step.options
        self.steps = step.function.steps
        self.inputs = list(self.body.inputs)  # NumPy casts the operands to their types
        self.outs = list(step.outs)
        self.shape = ()


def as_loop(step: Step) -> LoopGroup | None:
    """The loop as a group, if all that its body computes are numbers that C has."""
    body = step.function
    values = [*body.inputs, *body.outs, *(v for s in body.steps for v in (*s.operands, *s.outs))]
    if any(v.shape or v.dtype.name not in TYPES for v in values) or not step.options.length:
        return None
    if not all(s.kind != REDUCE and fits(s) for s in body.steps):
        return None
    if len(step.operands) + len(step.outs) > 30:
        return None
    return LoopGroup(step)


class LoopKernel(Kernel):
    """The C source of a loop over rows, called `name`."""

    group: Any

    def _signature(self) -> str:
        n, k = self.group.rows.length, self.group.rows.consts + self.group.rows.carries
        inputs = ["()" if i < k else f"({n})" for i in range(len(self.inputs))]
        outs = ["()" if i < self.group.rows.carries else f"({n})" for i in range(len(self.outs))]
        return f"{','.join(inputs)}->{','.join(outs)}"

    def _text(self) -> str:
        rows, body = self.group.rows, self.group.body
        places, count = rows.consts + rows.carries, len(self.inputs) + len(self.outs)
        names: dict[Value, str] = {}
        head, fetch, store = [], [], []
        core = count
        for k, v in enumerate(body.inputs):
            kind = self._type(v)
            names[v] = f"x{k}"
            if k < places:
                head.append(f"{kind} x{k} = *({kind} *)(args[{k}] + outer * steps[{k}]);")
            else:
                head.append(f"char *p{k} = args[{k}] + outer * steps[{k}];")
                fetch.append(f"const {kind} x{k} = *({kind} *)(p{k} + i * steps[{core}]);")
                core += 1
        lines = []
        for step in body.steps:
            kind = self._type(step.out) if step.out.dtype.kind != "b" else "long"
            names[step.out] = f"v{len(names)}"
            lines.append(f"const {kind} {names[step.out]} = {self._step(step, names)};")
        last = []
        for k, v in enumerate(body.outs):
            out = len(self.inputs) + k
            kind = self._type(self.outs[k])
            text = self._cast(v, self.outs[k].dtype, names)
            if k < rows.carries:
                store.append(f"const {kind} next{k} = {text};")
                own = body.inputs[rows.consts + k]
                last.append(f"*({kind} *)(args[{out}] + outer * steps[{out}]) = {names[own]};")
            else:
                place = f"args[{out}] + outer * steps[{out}] + i * steps[{core}]"
                store.append(f"*({kind} *)({place}) = {text};")
                core += 1
        store += [f"x{rows.consts + k} = next{k};" for k in range(rows.carries)]
        index = f"{rows.length} - 1 - turn" if rows.reverse else "turn"
        return "\n".join(
            [
                f"void {self.name}(char **args, long const *dims, long const *steps, void *data) {{",
                "  for (long outer = 0; outer < dims[0]; outer++) {",
                *[f"    {x}" for x in head],
                f"    for (long turn = 0; turn < {rows.length}; turn++) {{",
                f"      const long i = {index};",
                *[f"      {x}" for x in (*fetch, *lines, *store)],
                "    }",
                *[f"    {x}" for x in last],
                "  }",
                "}",
                "",
            ]
        )
