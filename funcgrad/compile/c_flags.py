"""What a loop in C says about overflow and the like: what its results show, and nothing else.

Layer 4½. NumPy warns, or raises under `np.errstate`, by the processor's flags. Loops in vectors set
those also where no element asks for it: both sides of a selection are computed, comparisons with NaN
set one, and so do the C library's functions for vectors. So NumPy calls one function in front of all
loops. Where flags have been set it looks at the elements: "invalid" needs a NaN among the results and
none among the operands, "overflow" and "divide by zero" an infinity in the same way. Underflow is never
said.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import Any

from .c_source import C

NAN, INFINITE = 1, 2
HEAD = object.__basicsize__  # of every Python object; its last part is its class

# As NumPy calls loops. `data` says which loop it is, how many of its arrays are operands, how many
# there are, and what odd numbers are in its text. Then of each array: the bytes of a number if it is
# floating, else 0; how many axes; which of `dims` each is. -1 - operands: all come together
# (`c_wide.py`), and have a length in place of axes.
TEXT = f"""\
#include <fenv.h>
enum {{ NAN_ = {NAN}, INFINITE = {INFINITE}, BOTH = 3 }};
enum {{ SAID = FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO }};

#define OF_ROW(name, kind, infinity)                                         \\
  static int name(const char *at, long n, long stride) {{                    \\
    kind nans = 0, infinite = 0;                                             \\
    if (stride == sizeof(kind)) {{                                           \\
      for (long i = 0; i < n; i++) LOOK(kind, infinity, ((const kind *)at)[i]) \\
    }} else                                                                  \\
      for (long i = 0; i < n; i++)                                           \\
        LOOK(kind, infinity, *(const kind *)(at + i * stride))               \\
    return nans * NAN_ | infinite * INFINITE;                                \\
  }}
#define LOOK(kind, infinity, bits)                                           \\
  {{                                                                         \\
    const kind size = (bits) & ~((kind)1 << (8 * sizeof(kind) - 1));         \\
    nans |= size > infinity, infinite |= size == infinity;                   \\
  }}
OF_ROW(of_floats, int, 0x7f800000)
OF_ROW(of_doubles, long, 0x7ff0000000000000)

static int of_row(const char *at, long width, long n, long stride) {{
  return width == 4 ? of_floats(at, n, stride) : of_doubles(at, n, stride);
}}

// `axis` numbers the lengths of all but the first axis, whose length and stride come with it.
static int of_array(const char *at, long width, long n, long stride, long axes, const long *axis,
                    const long *lengths, const long *strides) {{
  int found = 0;
  if (!axes) return of_row(at, width, n, stride);
  for (long i = 0; i < n && found != BOTH; i++)
    found |= of_array(at + i * stride, width, lengths[axis[0]], strides[0], axes - 1, axis + 1,
                      lengths, strides + 1);
  return found;
}}

static int of_loop(char **args, const long *dims, const long *steps, const long *facts,
                   int outs) {{
  const long given = facts[1], all = facts[2], *fact = facts + 4, *core = steps + all;
  int found = 0;
  for (long k = 0; k < all; core += fact[1], fact += 2 + fact[1], k++) {{
    int shared = 0;  // written over: what an operand was is not there any more
    if (k < given)
      for (long j = given; j < all; j++) shared |= args[j] == args[k];
    if (fact[0] && (k >= given) == outs && !shared)
      found |= of_array(args[k], fact[0], dims[0], steps[k], fact[1], fact + 2, dims, core);
  }}
  return found;
}}

// Of an array, as the last object is one, or in a number itself.
static char *inside(char **objects, long k, long all) {{
  char *first = objects[k] + {HEAD};
  const int is_array = *(char **)(first - 8) == *(char **)(objects[all - 1] + {HEAD - 8});
  return is_array ? *(char **)first : first;
}}

static int of_objects(char **args, const long *facts, int outs) {{
  const long given = -1 - facts[1], all = facts[2], *fact = facts + 4;
  char **objects = (char **)args[0];
  int found = 0;
  for (long k = 0; k < all; fact += 2, k++) {{
    const char *at = inside(objects, k, all);
    int shared = 0;
    if (k < given)
      for (long j = given; j < all; j++) shared |= inside(objects, j, all) == at;
    if (fact[0] && (k >= given) == outs && !shared)
      found |= of_row(at, fact[0], fact[1], fact[0]);
  }}
  return found;
}}

void quietly(char **args, long const *dims, long const *steps, void *data) {{
  const long *facts = data;
  const int before = fetestexcept(FE_ALL_EXCEPT);
  ((void (*)(char **, long const *, long const *, void *))facts[0])(args, dims, steps, data);
  const int all = fetestexcept(FE_ALL_EXCEPT) & ~before;
  int said = all & SAID;
  if (said) {{
    const int wide = facts[1] < 0;
    int found[2] = {{facts[3], 0}};  // among the operands and in the text, and the results
    for (int outs = 1; outs >= 0 && (outs || found[1]); outs--)
      found[outs] |= wide ? of_objects(args, facts, outs) : of_loop(args, dims, steps, facts, outs);
    const int had = found[0], made = found[1];
    if (!(made & NAN_) || had & NAN_) said &= ~FE_INVALID;
    if (!(made & INFINITE) || had & INFINITE) said &= ~(FE_OVERFLOW | FE_DIVBYZERO);
  }}
  if (all & ~said & (SAID | FE_UNDERFLOW)) feclearexcept(all & ~said & (SAID | FE_UNDERFLOW));
}}
"""


def facts(
    loop: int,
    given: Sequence[Any],
    made: Sequence[Any],
    signature: str | None,
    wide: bool,
    text: str,
) -> Any:
    """The `data` of `quietly` for a loop with operands and results of some kinds.

    >>> import numpy as np
    >>> from funcgrad.compile.lower import Value
    >>> x, y = (Value(shape, np.dtype(float)) for shape in ((2, 3), (2,)))
    >>> list(facts(0, [x], [y], "(2,3)->(2)", False, "return 0;"))
    [0, 1, 2, 0, 8, 2, 1, 2, 8, 1, 1]
    """
    values = [*given, *made]
    odd = NAN * (C.nan in text) + INFINITE * (C.inf in text)
    numbers = [loop, -1 - len(given) if wide else len(given), len(values), odd]
    names: dict[str, int] = {}
    cores = re.findall(r"\(([^)]*)\)", signature or "()" * len(values))
    for k, v in enumerate(values):
        width = v.dtype.itemsize if v.dtype.kind == "f" else 0
        if wide:
            numbers += [width, v.size]
            continue
        axes = [n for n in cores[k].split(",") if n]
        numbers += [width, len(axes), *(names.setdefault(n, len(names) + 1) for n in axes)]
    return (ctypes.c_long * len(numbers))(*numbers)
