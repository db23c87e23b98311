"""Regions with more arrays than a ufunc takes: they come together, in one array of objects.

Layer 4½. A ufunc over objects is given the addresses of NumPy's array objects, and in each of these the
address of its elements lies behind what every Python object begins with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .c_flags import HEAD
from .steps import Value

MOST_ARGUMENTS = 60  # that a ufunc takes, with some to spare
MOST_AXES = 63  # that the results of a ufunc have together; one more is for its memory
SIGNATURE = "(n)->()"  # of the ufunc
# The dtypes of what such a ufunc takes and makes: the arrays, and whether one lies between the places
# where its elements may lie, which ufuncs see to; then nothing has been done.
SIDES = ([np.dtype(object)], [np.dtype(np.int64)])


def is_wide(inputs: Sequence[Value], outs: Sequence[Value]) -> bool:
    """Whether there are more arrays, or results of more axes, than a ufunc may have."""
    axes = sum(len(v.shape) for v in outs)
    return len(inputs) + len(outs) > MOST_ARGUMENTS or axes > MOST_AXES


def entry(name: str, inner: str, inputs: Sequence[Value], outs: Sequence[Value]) -> str:
    """The C function `name`, which takes the arrays together and calls `inner` with their elements."""
    values = [*inputs, *outs]
    strides = [np.empty(v.shape, v.dtype).strides for v in values]
    inside = ", ".join(["0"] * len(values) + [str(s) for own in strides for s in own])
    widths = ", ".join(str(v.dtype.itemsize) for v in values)
    return f"""\
void {name}(char **args, long const *dims, long const *steps, void *data) {{
  static const long inside[] = {{{inside}}}, widths[] = {{{widths}}};
  char *own[{len(values)}], **arrays = (char **)args[0];
  long between = 0;
  for (int i = 0; i < {len(values)}; i++) {{
    own[i] = *(char **)(arrays[i] + {HEAD});
    between |= (long)own[i] & (widths[i] - 1);
  }}
  *(long *)args[1] = between;
  if (!between) {inner}(own, dims, inside, data);
}}
"""


def caller(loop: Any, inputs: Sequence[Value], outs: Sequence[Value]) -> Callable[..., Any]:
    """`loop`, the ufunc of such a function, as a function of the arrays that returns the results."""
    dtypes = [v.dtype for v in inputs]
    made = [(v.shape or 1, v.dtype) for v in outs]
    numbers = [k for k, v in enumerate(outs) if not v.shape]
    count = len(inputs) + len(outs)

    def run(*xs: Any) -> Any:
        results: list[Any] = [np.empty(*kind) for kind in made]
        given: Any = map(np.ascontiguousarray, xs, dtypes)
        arrays = np.fromiter(chain(given, results), object, count)
        if loop(arrays):
            given = (np.array(x, dtype, order="C") for x, dtype in zip(xs, dtypes, strict=True))
            loop(np.fromiter(chain(given, results), object, count))
        for k in numbers:
            results[k] = results[k][0]
        return results[0] if len(results) == 1 else tuple(results)  # as a ufunc does

    return run
