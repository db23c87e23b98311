"""Convolutions as C, for few channels: one function for the sizes of each.

Layer 4½. Nothing is gathered for BLAS: the padded input of one image lies in memory that stays in the
cache, and sums for several output channels and places are kept in registers, as vectors along the last
axis. Where the kernel is longer than the output (cotangents of kernels), the vectors lie along the
kernel and one image after another adds to them.

Source: Georganas et al., "Anatomy of high-performance deep learning convolutions on SIMD
architectures", arXiv:1808.05567, for what is kept in registers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .c_source import TYPES, VECTORS, Kernel
from .parallel import LARGE, in_parts, threads
from .steps import CALL, Step

AXES = 3  # spatial ones; those that are missing have one element
MOST = 1 << 20  # numbers of one image, of a kernel and of sums that are kept
FEW = 32  # output channels of a group, above which BLAS is fast


class Convolution:
    """A step that is a convolution; it has what a group has."""

    shape = ()

    def __init__(self, step: Step) -> None:
        self.inputs, self.outs = list(step.operands), list(step.outs)
        x, w, out = self.inputs[0].shape, self.inputs[1].shape, self.outs[0].shape
        p = step.options
        self.batch, self.groups, self.channels = x[0], p["groups"], w[1]
        self.features = w[0] // self.groups
        self.size, self.taps, self.places = (_three(s[2:], 1) for s in (x, w, out))
        self.strides, self.dilation = _three(p["strides"], 1), _three(p["rhs_dilation"], 1)
        self.low = _three([low for low, _ in p["padding"]], 0)
        # What is read of the padded input, and whether vectors lie along the kernel.
        self.span = [
            (p - 1) * s + (k - 1) * d + 1
            for p, s, k, d in zip(self.places, self.strides, self.taps, self.dilation, strict=True)
        ]
        self.along_taps = self.taps[-1] > self.places[-1]

    def is_worth_it(self) -> bool:
        """Whether C beats gathering and BLAS, and the memory it takes is moderate.

        What C gains on wide vectors it loses where they are cut off.
        """
        taps, features = math.prod(self.taps), self.features
        length = (self.taps if self.along_taps else self.places)[-1] * self.outs[0].dtype.itemsize
        used = length / (-(-length // 64) * 64)
        if used < (0.25 if features <= FEW else 0.75) or (taps == 1 and features > FEW // 2):
            return False
        if self.along_taps:
            sums = 16 * self.groups * self.batch * features * math.prod(self.places)
            kept = max(self.batch * math.prod(self.span), sums, features * taps)
        else:
            channels = self.groups * self.channels
            kept = max(channels * math.prod(self.span), channels * features * taps)
        return kept <= MOST

    def shared(self, loop: Any) -> Callable[..., Any]:
        """The function, on parts of the images where several threads pay."""
        count = self.channels if self.along_taps else self.batch
        work = self.outs[0].size * self.channels * math.prod(self.taps)
        if (
            threads() == 1
            or count == 1
            or work < 16 * LARGE
            or (self.along_taps and self.groups > 1)
        ):
            return loop

        def run(x: Any, w: Any, out: Any = None) -> Any:
            if self.along_taps:
                return sum(in_parts(lambda a, b: loop(x[:, a:b], w[:, a:b]), count, 1, work))
            found = np.empty(self.outs[0].shape, self.outs[0].dtype) if out is None else out
            in_parts(lambda a, b: loop(x[a:b], w, found[a:b]), count, 1, work)
            return found

        run.takes_outs = not self.along_taps  # type: ignore[attr-defined]
        return run


def _three(values: Sequence[int], missing: int) -> tuple[int, ...]:
    return (missing,) * (AXES - len(values)) + tuple(values)


def fits(step: Step) -> bool:
    """Whether a step is a convolution that can be written in C.

    Not of inputs with zeros put in between, which would be multiplied: an infinite weight must not
    meet them.
    """
    if step.kind != CALL or getattr(step.function, "name", None) != "conv":
        return False
    if max(step.options["lhs_dilation"]) > 1:
        return False
    values = (*step.operands, *step.outs)
    dtype, axes = step.out.dtype, len(step.out.shape) - 2
    known = dtype.kind == "f" and dtype in TYPES and axes <= AXES
    return known and all(v.dtype == dtype and v.size for v in values)


def convolution_of(step: Step) -> Convolution | None:
    """A step as C; None if it is no convolution, or not worth it."""
    found = Convolution(step) if fits(step) else None
    return found if found is not None and found.is_worth_it() else None


# ---------------------------------------------------------------- the text


class ConvolutionKernel(Kernel):
    """The C source of a convolution, called `name`."""

    group: Any

    def __init__(self, convolution: Convolution, name: str) -> None:
        self.group = convolution
        self.name = name
        self.inputs, self.outs = convolution.inputs, convolution.outs
        self.shared = [VECTORS]
        self.signature = self._signature()
        self.text = self._text()

    def _signature(self) -> str:
        x, w, out = (list(map(str, v.shape)) for v in (*self.inputs, *self.outs))
        if not self.group.along_taps:
            x, out = x[1:], out[1:]
        elif self.group.groups == 1:
            x[1] = w[1] = "images"
        return f"({','.join(x)}),({','.join(w)})->({','.join(out)})"

    def _text(self) -> str:
        c, x = self.group, self.inputs[0]
        kind, width = self._type(x), x.dtype.itemsize
        row = (c.taps if c.along_taps else c.places)[-1] * width
        facts = {
            "name": self.name,
            "kind": kind,
            "integer": {4: "int", 8: "long"}[width],
            "width": width,
            "vector": next((str(b) for b in (16, 32) if row <= b), "VECTOR"),
            "strides": "\n  ".join(self._strides()),
            "batch": c.batch,
            "groups": c.groups,
            "channels": c.channels,
            "features": c.features,
            "copy": _copy(c),
            "count": "dims[2]" if c.along_taps and c.groups == 1 else c.channels,
        }
        for axis, letter in enumerate("abc"):
            for what in ("taps", "places", "strides", "dilation"):
                facts[f"{what}_{letter}"] = getattr(c, what)[axis]
        return (ALONG_TAPS if c.along_taps else ALONG_PLACES).format(**facts)

    def _strides(self) -> list[str]:
        """The declarations of the arrays' strides; those of axes that are missing are 0."""
        spatial = len(self.inputs[0].shape) - 2
        missing = AXES - spatial
        lines, start = [], 0
        for letter in "xwz":
            lead = "nc" if self.group.along_taps or letter == "w" else "c"
            found = [f"{letter}{name} = core[{start + i}]" for i, name in enumerate(lead)]
            found += [f"{letter}{name} = 0" for name in "ijk"[:missing]]
            start += len(lead)
            found += [
                f"{letter}{name} = core[{start + i}]" for i, name in enumerate("ijk"[missing:])
            ]
            start += spatial
            lines.append(f"const long {', '.join(found)};")
        return lines


def _copy(c: Convolution) -> str:
    """Lines that copy one channel of one image from `from` to `to`: padded, in phases."""
    lines, rows = [], []
    for axis, (letter, pitch) in enumerate(zip("ij", ("PLANE", "ROW"), strict=True)):
        first, last = _seen(c, axis)
        lines.append(f"for (long {letter} = {first}; {letter} < {last}; {letter}++) {{")
        rows.append(f"({letter} + {c.low[axis]}) * {pitch}")
    first, last = _seen(c, 2)
    place = f"(k + {c.low[2]})"
    phases = c.dilation[2] if c.along_taps else c.strides[2]
    if phases > 1:
        place = f"{place} % {phases} * PITCH + {place} / {phases}"
    loop = f"for (long k = {first}; k < {last}; k++) target[{place}] ="
    lines += [
        "  const char *source = from + i * xi + j * xj;",
        f"  real *target = to + {' + '.join(rows)};",
        f"  if (xk == sizeof(real)) {loop} ((const real *)source)[k];",
        f"  else {loop} *(const real *)(source + k * xk);",
        "}}",
    ]
    return "\n".join(lines)


def _seen(c: Convolution, axis: int) -> tuple[int, int]:
    """From where to where the input is not cropped along an axis."""
    low = c.low[axis]
    return max(0, -low), min(c.size[axis], c.span[axis] - low)


# Both are called as NumPy's loops are. Axes of space are a, b and c; PITCH, ROW, PLANE and VOLUME are
# distances in the padded input. Every PHASE-th place of the last axis lies next to the one before.
HEAD = """\
__attribute__((optimize("fp-contract=fast")))
void {name}(char **args, long const *dims, long const *steps, void *data) {{
#pragma clang fp contract(fast)
  typedef {kind} real;
  typedef real vec __attribute__((vector_size({vector}), aligned({width}), may_alias));
  const long *core = steps + 3;
  {strides}
  enum {{
    LANES = {vector} / {width}, BATCH = {batch}, GROUPS = {groups}, C = {channels}, O = {features},
    KA = {taps_a}, KB = {taps_b}, KC = {taps_c}, TAPS = KA * KB * KC,
    PA = {places_a}, PB = {places_b}, PC = {places_c},
    SA = {strides_a}, SB = {strides_b}, SC = {strides_c},
    DA = {dilation_a}, DB = {dilation_b}, DC = {dilation_c},
"""
ALONG_PLACES = (
    HEAD
    + """\
    PHASE = SC, CHUNKS = PARTS(PC, LANES), WIDE = EVEN(CHUNKS, 3), STRIPS = PARTS(CHUNKS, WIDE),
    DEEP = EVEN(O, REGISTERS / WIDE), BLOCKS = PARTS(O, DEEP),
    HIGH = EVEN(PB, LEAST(8, REGISTERS / (WIDE * DEEP))), ROWS = PARTS(PB, HIGH) * HIGH,
    PITCH = (KC - 1) * DC / SC + STRIPS * WIDE * LANES, ROW = PHASE * PITCH,
    PLANE = ((ROWS - 1) * SB + (KB - 1) * DB + 1) * ROW,
    VOLUME = ((PA - 1) * SA + (KA - 1) * DA + 1) * PLANE,
    INPUT = GROUPS * C * VOLUME, WEIGHTS = GROUPS * BLOCKS * C * TAPS * DEEP,
  }};
  real *input = aligned_alloc(64, PARTS((INPUT + WEIGHTS) * sizeof(real), 64) * 64);
  if (!input) __builtin_trap();
  real *weights = input + INPUT;
  for (long e = 0; e < INPUT + WEIGHTS; e++) input[e] = 0;
  for (long e = 0; e < GROUPS * BLOCKS * DEEP; e++) {{
    // The last weights are there again where there are no more, so that nothing new is computed.
    const long o = e / (BLOCKS * DEEP) * O + LEAST(e % (BLOCKS * DEEP), O - 1);
    real *to = weights + e / DEEP * C * TAPS * DEEP + e % DEEP;
    for (long c = 0; c < C; c++)
      for (long i = 0; i < KA; i++)
        for (long j = 0; j < KB; j++)
          for (long k = 0; k < KC; k++, to += DEEP)
            *to = *(const real *)(args[1] + o * wn + c * wc + i * wi + j * wj + k * wk);
  }}
  for (long n = 0; n < dims[0]; n++) {{
    for (long c = 0; c < GROUPS * C; c++) {{
      const char *from = args[0] + n * steps[0] + c * xc;
      real *to = input + c * VOLUME;
      {copy}
    }}
    for (long block = 0; block < GROUPS * BLOCKS; block++) {{
      const long first = block / BLOCKS * O + block % BLOCKS * DEEP;
      const long features = LEAST(DEEP, (block / BLOCKS + 1) * O - first);
      for (long a = 0; a < PA; a++)
      for (long b = 0; b < PB; b += HIGH)
      for (long strip = 0; strip < STRIPS; strip++) {{
        vec sums[DEEP][HIGH][WIDE];
#pragma GCC unroll 32
        for (int o = 0; o < DEEP; o++)
#pragma GCC unroll 32
          for (int r = 0; r < HIGH; r++)
#pragma GCC unroll 32
            for (int v = 0; v < WIDE; v++) sums[o][r][v] = (vec){{0}};
        const real *w = weights + block * C * TAPS * DEEP;
        const real *corner = input + block / BLOCKS * C * VOLUME + a * SA * PLANE + b * SB * ROW
                             + strip * WIDE * LANES;
        for (long c = 0; c < C; c++)
        for (long i = 0; i < KA; i++)
        for (long j = 0; j < KB; j++) {{
          const real *row = corner + c * VOLUME + i * DA * PLANE + j * DB * ROW;
          for (long k = 0; k < KC; k++, w += DEEP) {{
            const real *at = row + k * DC % PHASE * PITCH + k * DC / PHASE;
#pragma GCC unroll 32
            for (int r = 0; r < HIGH; r++)
#pragma GCC unroll 32
              for (int v = 0; v < WIDE; v++) {{
                vec x = *(const vec *)(at + r * SB * ROW + v * LANES);
                KEEP(x);
#pragma GCC unroll 32
                for (int o = 0; o < DEEP; o++) sums[o][r][v] += x * w[o];
              }}
          }}
        }}
        vec found[DEEP][HIGH][WIDE];  // in memory, as `sums` is not
#pragma GCC unroll 32
        for (int o = 0; o < DEEP; o++)
#pragma GCC unroll 32
          for (int r = 0; r < HIGH; r++)
#pragma GCC unroll 32
            for (int v = 0; v < WIDE; v++) found[o][r][v] = sums[o][r][v];
        const long rows = LEAST(HIGH, PB - b);
        const long places = LEAST(WIDE * LANES, PC - strip * WIDE * LANES);
        for (long o = 0; o < features; o++)
          for (long r = 0; r < rows; r++) {{
            char *to = args[2] + n * steps[2] + (first + o) * zc + a * zi + (b + r) * zj
                       + strip * WIDE * LANES * zk;
            const real *sum = (const real *)found[o][r];
            if (zk == sizeof(real)) for (long k = 0; k < places; k++) ((real *)to)[k] = sum[k];
            else for (long k = 0; k < places; k++) *(real *)(to + k * zk) = sum[k];
          }}
      }}
    }}
  }}
  free(input);
}}
"""
)
ALONG_TAPS = (
    HEAD
    + """\
    PHASE = DC, CHUNKS = PARTS(KC, LANES), LENGTH = CHUNKS * LANES,
    WIDE = EVEN(PC, 6), STRIPS = PARTS(PC, WIDE),
    DEEP = EVEN(O, ACCUMULATORS / WIDE), BLOCKS = PARTS(O, DEEP),
    PITCH = (STRIPS * WIDE - 1) * SC / DC + LENGTH, ROW = PHASE * PITCH,
    PLANE = ((PB - 1) * SB + (KB - 1) * DB + 1) * ROW,
    VOLUME = ((PA - 1) * SA + (KA - 1) * DA + 1) * PLANE,
    INPUT = BATCH * VOLUME, KERNEL = KA * KB * LENGTH, WEIGHTS = BLOCKS * DEEP * KERNEL,
    SUMS = BATCH * BLOCKS * PA * PB * STRIPS * DEEP * WIDE * LANES,
  }};
  typedef {integer} mask __attribute__((vector_size({vector})));
  mask last;  // of the lanes that hold taps at the end of a row
  for (int l = 0; l < LANES; l++) last[l] = (CHUNKS - 1) * LANES + l < KC ? -1 : 0;
  real *sums = aligned_alloc(64, PARTS((SUMS + INPUT + WEIGHTS) * sizeof(real), 64) * 64);
  if (!sums) __builtin_trap();
  real *input = sums + SUMS, *weights = input + INPUT;
  for (long e = 0; e < INPUT + WEIGHTS; e++) input[e] = 0;
  const long count = {count};
  for (long group = 0; group < GROUPS; group++) {{
    for (long e = 0; e < SUMS; e++) sums[e] = 0;
    for (long c = 0; c < count; c++) {{
      for (long n = 0; n < BATCH; n++) {{
        const char *from = args[0] + n * xn + (group * count + c) * xc;
        real *to = input + n * VOLUME;
        {copy}
      }}
      for (long o = 0; o < BLOCKS * DEEP; o++)
        for (long i = 0; i < KA; i++)
          for (long j = 0; j < KB; j++) {{
            const char *from = args[1] + (group * O + LEAST(o, O - 1)) * wn + c * wc + i * wi + j * wj;
            real *to = weights + o * KERNEL + (i * KB + j) * LENGTH;
            if (wk == sizeof(real)) for (long k = 0; k < KC; k++) to[k] = ((const real *)from)[k];
            else for (long k = 0; k < KC; k++) to[k] = *(const real *)(from + k * wk);
          }}
      real *sum = sums;
      for (long n = 0; n < BATCH; n++)
      for (long block = 0; block < BLOCKS; block++)
      for (long a = 0; a < PA; a++)
      for (long b = 0; b < PB; b++)
      for (long strip = 0; strip < STRIPS; strip++, sum += DEEP * WIDE * LANES) {{
        vec part[DEEP][WIDE];
#pragma GCC unroll 32
        for (int o = 0; o < DEEP; o++)
#pragma GCC unroll 32
          for (int p = 0; p < WIDE; p++) part[o][p] = ((const vec *)sum)[o * WIDE + p];
        long move[WIDE];
        for (int p = 0; p < WIDE; p++) {{
          const long place = (strip * WIDE + p) * SC;
          move[p] = place % PHASE * PITCH + place / PHASE;
        }}
        for (long i = 0; i < KA; i++)
        for (long j = 0; j < KB; j++) {{
          const real *x = input + n * VOLUME + (a * SA + i * DA) * PLANE + (b * SB + j * DB) * ROW;
          const real *w = weights + block * DEEP * KERNEL + (i * KB + j) * LENGTH;
          for (long v = 0; v < CHUNKS; v++, x += LANES, w += LANES)
#pragma GCC unroll 32
            for (int p = 0; p < WIDE; p++) {{
              vec here = *(const vec *)(x + move[p]);
              if (KC % LANES && v == CHUNKS - 1) here = (vec)((mask)here & last);
              KEEP(here);
#pragma GCC unroll 32
              for (int o = 0; o < DEEP; o++) part[o][p] += here * *(const vec *)(w + o * KERNEL);
            }}
        }}
#pragma GCC unroll 32
        for (int o = 0; o < DEEP; o++)
#pragma GCC unroll 32
          for (int p = 0; p < WIDE; p++) ((vec *)sum)[o * WIDE + p] = part[o][p];
      }}
    }}
    const real *sum = sums;
    for (long n = 0; n < BATCH; n++)
    for (long block = 0; block < BLOCKS; block++)
    for (long a = 0; a < PA; a++)
    for (long b = 0; b < PB; b++)
    for (long strip = 0; strip < STRIPS; strip++)
    for (long o = block * DEEP; o < (block + 1) * DEEP; o++)
    for (long p = strip * WIDE; p < (strip + 1) * WIDE; p++) {{
      real total = 0;
      for (int l = 0; l < LANES; l++) total += *sum++;
      if (o < O && p < PC)
        *(real *)(args[2] + n * zn + (group * O + o) * zc + a * zi + b * zj + p * zk) = total;
    }}
  }}
  free(sums);
}}
"""
)
