"""Maxima of windows as C: padded ones, where each maximum lies, and its cotangent put there.

Layer 4½. NumPy goes through all windows once for each of their elements, and makes an index for each
cotangent. In C an image is read once; it and what is put into it stay in the cache.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .c_source import TYPES, Kernel
from .parallel import LARGE, in_parts, threads
from .steps import CALL, Step

AXES = 3  # of windows; those that are missing have one element
MOST = 1 << 8  # elements of a window
FEW = 16  # elements of a window whose comparisons are written out
TOGETHER = 1 << 12  # elements of windows that are looked at together, on the stack
NAMES = frozenset({"max_pool", "window_argmax", "put_windows"})  # primitives
PLACES = {np.dtype(np.uint8): "unsigned char", np.dtype(np.int64): "long"}


class Pooling:
    """A step of this kind; it has what a group has."""

    shape = ()

    def __init__(self, step: Step) -> None:
        self.inputs, self.outs = list(step.operands), list(step.outs)
        self.name = step.function.name
        p = step.options
        self.axes = len(p["window"])
        is_put = self.name == "put_windows"
        of_image, of_windows = (self.inputs[0], self.outs[0])[:: -1 if is_put else 1]
        self.image, self.places = (
            _three(v.shape[len(v.shape) - self.axes :], 1) for v in (of_image, of_windows)
        )
        self.window, self.strides = _three(p["window"], 1), _three(p["strides"], 1)
        self.low = _three([low for low, _ in p["padding"]], 0)
        self.is_padded = any(map(any, p["padding"]))

    @property
    def reach(self) -> int:
        """How long a padded row is, as far as windows go."""
        windows = (self.places[2] - 1) * self.strides[2] + self.window[2]
        return max(windows, self.low[2] + self.image[2])

    def is_worth_it(self) -> bool:
        """Whether the largest of some rows may lie on the stack."""
        return self.name != "max_pool" or self.reach <= TOGETHER

    def shared(self, loop: Any) -> Callable[..., Any]:
        """The function, on parts of the batch where several threads pay."""
        lead = self.outs[0].shape[: len(self.outs[0].shape) - self.axes]
        work = math.prod(lead) * math.prod(self.places) * math.prod(self.window)
        if threads() == 1 or not lead or lead[0] == 1 or work < 4 * LARGE:
            return loop

        def run(*arrays: Any) -> Any:
            """Of the inputs, and of an array for the result, or None, if there is any."""
            xs, given = arrays[: len(self.inputs)], arrays[len(self.inputs) :]
            out = given[0] if given else None
            found = np.empty(self.outs[0].shape, self.outs[0].dtype) if out is None else out
            in_parts(lambda a, b: loop(*[x[a:b] for x in (*xs, found)]), lead[0], 1, work)
            return found

        run.takes_outs = True  # type: ignore[attr-defined]
        return run


def _three(values: Any, missing: int) -> tuple[int, ...]:
    return (missing,) * (AXES - len(values)) + tuple(values)


def fits(step: Step) -> bool:
    """Whether a step is one of these that can be written in C."""
    if step.kind != CALL or getattr(step.function, "name", None) not in NAMES:
        return False
    x, *others = step.operands
    is_place = [v.dtype in PLACES for v in (*others, step.out)]
    window = step.options["window"]
    return (
        x.dtype.kind == "f"
        and x.dtype in TYPES
        and (not others or any(is_place))
        and 0 < len(window) <= AXES
        and 1 < math.prod(window) <= MOST
        and all(v.size for v in (*step.operands, step.out))
    )


def pooling_of(step: Step) -> Pooling | None:
    """A step as C; None if it is no such step, or not worth it."""
    found = Pooling(step) if fits(step) else None
    return found if found is not None and found.is_worth_it() else None


# ---------------------------------------------------------------- the text


class PoolingKernel(Kernel):
    """The C source of such a step, called `name`."""

    group: Any

    def __init__(self, pooling: Pooling, name: str) -> None:
        self.group = pooling
        self.name = name
        self.inputs, self.outs = pooling.inputs, pooling.outs
        values = (*self.inputs, *self.outs)
        self.sides = [v.shape[len(v.shape) - pooling.axes :] for v in values]
        *given, z = (f"({','.join(map(str, side))})" for side in self.sides)
        self.signature = f"{','.join(given)}->{z}"
        self.text = self._text()

    def _text(self) -> str:
        p = self.group
        numbers = self.inputs[0]
        place = self.inputs[1] if p.name == "put_windows" else self.outs[0]
        count = math.prod(p.window)
        rows = [_three(side, 1) for side in self.sides]
        values = (*self.inputs, *self.outs)
        widths = [v.dtype.itemsize for v in values]
        dense = [[b * c * w, c * w, w] for (_, b, c), w in zip(rows, widths, strict=True)]
        facts = {
            "name": self.name,
            "dense": str(dense).translate(str.maketrans("[]", "{}")),
            "real": TYPES[numbers.dtype],
            "place": PLACES.get(place.dtype, "char"),
            "arrays": len(values),
            "last": len(values) - 1,
            "second": len(values) - 2,
            "count": count,
            "missing": AXES - p.axes,
        }
        for axis, letter in enumerate("abc"):
            for what in ("image", "places", "window", "strides", "low"):
                facts[f"{what}_{letter}"] = getattr(p, what)[axis]
        if p.name == "max_pool":
            body = LARGEST.format(length=p.reach)
        elif p.name == "put_windows":
            body = PUT.format(lines="\n  ".join(_put(p)))
        elif p.is_padded or count > FEW or count * p.places[2] > TOGETHER:
            body = SEARCHED
        else:
            body = FOUND.format(**_found(p))
        return FUNCTION.format(**facts, body=body)


def _taps(p: Pooling) -> Iterator[tuple[int, tuple[int, ...]]]:
    return enumerate(itertools.product(*map(range, p.window)))


def _found(p: Pooling) -> dict[str, str]:
    """The lines that are FOUND's, where comparisons are written out."""
    is_whole = math.prod(p.places) * math.prod(p.window) <= TOGETHER
    loops = [f"for (long {i} = 0; {i} < P{a}; {i}++)" for i, a in zip("ijk", "ABC", strict=True)]
    outer, inner = ([], loops) if is_whole else (loops[:2], loops[2:])
    last = math.prod(p.window) - 1
    taken, chosen = [], [f"int place = {last};"]
    for t, (a, b, c) in reversed(list(_taps(p))[:-1]):
        at = f"(i * SA + {a}) * xs[0] + (j * SB + {b}) * xs[1] + (k * SC + {c}) * xs[2]"
        taken.append(f"taps[{t}][q] = *(const real *)(x + {at});")
        chosen.append(f"const real value{t} = taps[{t}][q];")
        is_here = f"(value{t} >= most[q]) | (value{t} != value{t})"
        chosen.append(f"place = {is_here} ? {t} : place;")
    return {
        "taps": str(last),
        "length": "PA * PB * PC" if is_whole else "PC",
        "outer": " ".join(outer),
        "inner": " ".join(inner),
        "number": "(i * PB + j) * PC + k" if is_whole else "k",
        "taken": "\n      ".join(taken),
        "chosen": "\n      ".join(chosen),
    }


def _put(p: Pooling) -> list[str]:
    """Where the elements of a window are, from its corner on."""
    return [
        f"at[{t}] = {a - p.low[0]} * zs[0] + {b - p.low[1]} * zs[1] + {c - p.low[2]} * zs[2];"
        for t, (a, b, c) in _taps(p)
    ]


# `dense` are the strides of arrays that lie together: the compiler knows them then.
FUNCTION = """\
static inline __attribute__((always_inline)) void {name}_image(
    const char *x, const char *y, char *z, const long *xs, const long *ys, const long *zs) {{
  typedef {real} real;
  typedef {place} place;
  enum {{
    COUNT = {count}, NA = {image_a}, NB = {image_b}, NC = {image_c},
    PA = {places_a}, PB = {places_b}, PC = {places_c}, A = {window_a}, B = {window_b}, C = {window_c},
    SA = {strides_a}, SB = {strides_b}, SC = {strides_c}, LA = {low_a}, LB = {low_b}, LC = {low_c}
  }};
{body}}}
void {name}(char **args, long const *dims, long const *steps, void *data) {{
  static const long dense[{arrays}][3] = {dense};
  long strides[{arrays}][3] = {{{{0}}}}, is_dense = 1;
  const long *core = steps + {arrays};
  for (int n = 0; n < {arrays}; n++)
    for (int a = {missing}; a < 3; a++) {{
      strides[n][a] = *core++;
      is_dense &= strides[n][a] == dense[n][a];
    }}
  for (long o = 0; o < dims[0]; o++) {{
    const char *x = args[0] + o * steps[0], *y = args[{second}] + o * steps[{second}];
    char *z = args[{last}] + o * steps[{last}];
    if (is_dense) {name}_image(x, y, z, dense[0], dense[{second}], dense[{last}]);
    else {name}_image(x, y, z, strides[0], strides[{second}], strides[{last}]);
  }}
}}
"""
# The largest of some rows, and then of neighbours there.
LARGEST = """\
  for (long i = 0; i < PA; i++)
    for (long j = 0; j < PB; j++) {{
      real line[{length}];
      for (long k = 0; k < {length}; k++) line[k] = -__builtin_inf();
      for (long a = i * SA - LA; a < i * SA - LA + A; a++)
        for (long b = j * SB - LB; b < j * SB - LB + B; b++) {{
          if (a < 0 || a >= NA || b < 0 || b >= NB) continue;
          const char *row = x + a * xs[0] + b * xs[1];
          #pragma omp simd
          for (long k = 0; k < NC; k++) {{
            const real value = *(const real *)(row + k * xs[2]), most = line[LC + k];
            line[LC + k] = (most >= value) | (most != most) ? most : value;
          }}
        }}
      #pragma omp simd
      for (long k = 0; k < PC; k++) {{
        real most = line[k * SC];
        for (long c = 1; c < C; c++) {{
          const real value = line[k * SC + c];
          most = (most >= value) | (most != most) ? most : value;
        }}
        *(real *)(z + i * zs[0] + j * zs[1] + k * zs[2]) = most;
      }}
    }}
"""
# The elements of many windows side by side: compilers make vectors of what lies apart, but short ones.
FOUND = """\
  {outer} {{
    real most[{length}], taps[{taps}][{length}];
    int found[{length}];
    {inner} {{
      const long q = {number};
      most[q] = *(const real *)(y + i * ys[0] + j * ys[1] + k * ys[2]);
      {taken}
    }}
    #pragma omp simd
    for (long q = 0; q < {length}; q++) {{
      {chosen}
      found[q] = place;
    }}
    {inner} *(place *)(z + i * zs[0] + j * zs[1] + k * zs[2]) = found[{number}];
  }}
"""
SEARCHED = """\
  for (long i = 0; i < PA; i++)
    for (long j = 0; j < PB; j++)
      for (long k = 0; k < PC; k++) {
        const real most = *(const real *)(y + i * ys[0] + j * ys[1] + k * ys[2]);
        long t = 0;
        for (; t < COUNT - 1; t++) {
          const long a = i * SA - LA + t / (B * C), b = j * SB - LB + t / C % B;
          const long c = k * SC - LC + t % C;
          if (a < 0 || a >= NA || b < 0 || b >= NB || c < 0 || c >= NC) continue;
          const real value = *(const real *)(x + a * xs[0] + b * xs[1] + c * xs[2]);
          if ((value >= most) | (value != value)) break;
        }
        *(place *)(z + i * zs[0] + j * zs[1] + k * zs[2]) = t;
      }
"""
PUT = """\
  long at[COUNT];
  {lines}
  for (long i = 0; i < NA; i++)
    for (long j = 0; j < NB; j++)
      for (long k = 0; k < NC; k++) *(real *)(z + i * zs[0] + j * zs[1] + k * zs[2]) = 0;
  for (long i = 0; i < PA; i++)
    for (long j = 0; j < PB; j++)
      for (long k = 0; k < PC; k++) {{
        const unsigned long found = *(const place *)(y + i * ys[0] + j * ys[1] + k * ys[2]);
        real *to = (real *)(z + i * SA * zs[0] + j * SB * zs[1] + k * SC * zs[2] + at[found % COUNT]);
        *to += *(const real *)(x + i * xs[0] + j * xs[1] + k * xs[2]);
      }}
"""
