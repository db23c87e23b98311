"""Calls of one loop for many arrays as one call, such as an optimizer's for its parameters.

Layer 4½. A ufunc's call costs one to two microseconds, as much as the loop over some thousand numbers
takes. What nothing else reads is made at the end, so calls of the same loop for it can be one: it is
given the addresses of all of NumPy's objects, as in `c_wide.py`, and finds in them where the elements
are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .c_flags import HEAD
from .c_source import Kernel
from .c_wide import SIGNATURE
from .groups import Group
from .regions import Region
from .steps import KERNEL, Lowered, Step, Value

FEWEST = 4  # calls that are worth it
LONGEST = 1 << 15  # elements beside which a call is nothing
MOST = 1 << 14  # arrays, whose addresses are on the stack
FLOAT64 = np.dtype(np.float64)
# What follows the head of a Python object: in an array the address of its elements, the number of
# axes, lengths, strides, owner, dtype, and flags; in a NumPy number or a `float` the number itself.
OBJECTS = f"""\
#define KIND(x) (*(char **)((x) + {HEAD - 8}))
#define INSIDE(x) ((x) + {HEAD})
#define DTYPE(x) (*(char **)((x) + {HEAD + 40}))
#define HAS(x, wanted) ((*(int *)((x) + {HEAD + 48}) & (wanted)) == (wanted))
enum {{ DENSE = 0x0101, WRITEABLE = 0x0400 }};  // in a row, row by row, and aligned
"""
EXAMPLES = 3  # of objects that hold numbers of one dtype: an array, a NumPy number, a Python number


class ManyKernel(Kernel):
    """The C source of the calls of `kernel` that are `steps`, called `name`."""

    is_wide = True
    signature = SIGNATURE
    shared = (OBJECTS,)

    def __init__(self, steps: Sequence[Step], kernel: Kernel, name: str) -> None:
        self.name = name
        self.inputs = [v for s in steps for v in s.operands]
        self.outs = [v for s in steps for v in s.outs]
        inside = [part for s in steps for part in s.function.steps]
        self.group: Any = Region(inside, self.inputs, self.outs)
        self.calls, self.given = len(steps), len(steps[0].operands)
        self.made = len(steps[0].outs)
        own = [*steps[0].operands, *steps[0].outs]
        self.dtypes = list(dict.fromkeys(v.dtype for v in own))
        self.text = kernel.text.replace(kernel.name, f"{name}_inside") + self._entry(steps, own)

    def _entry(self, steps: Sequence[Step], own: Sequence[Value]) -> str:
        """Looks at all objects before the first call; 1 is returned if one is of another kind."""
        sizes = ", ".join(str(math.prod(s.function.shape)) for s in steps)
        strides = ", ".join(str(v.dtype.itemsize * _is_whole(v, steps[0])) for v in own)
        kinds = ", ".join(str(EXAMPLES * self.dtypes.index(v.dtype)) for v in own)
        return f"""\
void {self.name}(char **args, long const *dims, long const *steps, void *data) {{
  enum {{ CALLS = {self.calls}, GIVEN = {self.given}, MADE = {self.made}, ALL = GIVEN + MADE }};
  static const long sizes[] = {{{sizes}}}, strides[] = {{{strides}}}, kinds[] = {{{kinds}}};
  char **objects = (char **)args[0], **examples = objects + CALLS * ALL, *own[CALLS][ALL];
  *(long *)args[1] = 1;
  for (long c = 0; c < CALLS; c++)
    for (long k = 0; k < ALL; k++) {{
      char *x = objects[k < GIVEN ? c * GIVEN + k : CALLS * GIVEN + c * MADE + k - GIVEN];
      char **like = examples + kinds[k];
      const int flags = k < GIVEN ? DENSE : DENSE | WRITEABLE;
      if (KIND(x) == KIND(like[0])) {{
        if (DTYPE(x) != DTYPE(like[0]) || !HAS(x, flags)) return;
        own[c][k] = *(char **)INSIDE(x);
      }} else {{
        if (strides[k] || (KIND(x) != KIND(like[1]) && KIND(x) != KIND(like[2]))) return;
        own[c][k] = INSIDE(x);
      }}
    }}
  *(long *)args[1] = 0;
  for (long c = 0; c < CALLS; c++) {self.name}_inside(own[c], sizes + c, strides, data);
}}
"""

    def caller(self, loop: Any) -> Callable[..., Any]:
        """A function of the arrays, and of arrays for the results, or None, if there are any."""
        dtypes = [v.dtype for v in self.inputs]
        kinds = [(v.shape, v.dtype) for v in self.outs]
        examples = [x for dtype in self.dtypes for x in _examples(dtype)]
        given, count = len(dtypes), len(dtypes) + len(kinds) + len(examples)

        def run(*xs: Any) -> list[Any]:
            places = xs[given:] or (None,) * len(kinds)
            results = [
                np.empty(*kind) if x is None else x for x, kind in zip(places, kinds, strict=True)
            ]
            if loop(np.fromiter(chain(xs[:given], results, examples), object, count)):
                own = [np.empty(*kind) for kind in kinds]
                copies = map(_copied, xs[:given], dtypes)
                loop(np.fromiter(chain(copies, own, examples), object, count))
                for to, array in zip(results, own, strict=True):
                    to[...] = array
            return results

        run.__name__ = self.title()
        run.takes_outs = True  # type: ignore[attr-defined]
        run.overwrites = {  # type: ignore[attr-defined]
            (c * self.given + i, c * self.made + k)
            for c in range(self.calls)
            for i in range(self.given)
            for k in range(self.made)
        }
        return run


def _copied(x: Any, dtype: Any) -> Any:
    found = np.empty(np.shape(x), dtype)
    found[...] = x
    return found


def _examples(dtype: Any) -> list[Any]:
    number = dtype.type(0)
    return [np.empty((), dtype), number, 0.0 if dtype == FLOAT64 else number]


def _is_whole(value: Value, step: Step) -> bool:
    return value.shape == step.function.shape


def together(
    program: Lowered, kernels: Mapping[Step, Kernel]
) -> tuple[Lowered, dict[Step, Kernel]]:
    """The program with such calls as one step each, of kind `KERNEL`, and the kernels of its steps."""
    read = {v for step in program.steps for v in step.operands}
    alike: dict[str, list[Step]] = {}
    for step in program.steps:
        if step in kernels and _is_simple(step, kernels[step]) and read.isdisjoint(step.outs):
            alike.setdefault(kernels[step].name, []).append(step)
    found = {
        ManyKernel(steps, kernels[steps[0]], f"{name}_each"): steps
        for name, steps in alike.items()
        if len(steps) >= FEWEST
        and len(steps) * (len(steps[0].operands) + len(steps[0].outs)) <= MOST
    }
    gone = {step for steps in found.values() for step in steps}
    left = [step for step in program.steps if step not in gone]
    many = {Step(KERNEL, k.group, k.inputs, k.outs): k for k in found}
    others = {step: kernel for step, kernel in kernels.items() if step not in gone}
    return Lowered(program.inputs, [*left, *many], program.outs), {**others, **many}


def _is_simple(step: Step, kernel: Kernel) -> bool:
    """Whether a step is one loop over the elements of arrays of one shape, and numbers."""
    group = step.function
    if group.__class__ is not Group or kernel.sums or math.prod(group.shape) > LONGEST:
        return False
    return all(v.size == 1 or _is_whole(v, step) for v in step.operands)
