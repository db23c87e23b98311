"""Convolutions as C: one function for the sizes of each.

Layer 4½. Nothing is gathered for BLAS: the padded input of one image lies in memory that stays in the
cache, and sums for several output channels and places are kept in registers. Their vectors lie along
the output channels if there are many (`c_conv_features.py`), else along the last axis; or, where the
kernel is longer than the output (cotangents of kernels), along the kernel, and one image after another
adds to them.

Source: Georganas et al., "Anatomy of high-performance deep learning convolutions on SIMD
architectures", arXiv:1808.05567, for what is kept in registers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .c_conv_features import ALONG_FEATURES, TILES, Phases, facts_of
from .c_source import TYPES, VECTORS, Kernel
from .parallel import LARGE, in_parts, threads
from .steps import CALL, Step

AXES = 3  # spatial ones; those that are missing have one element
MOST = 1 << 20  # numbers of one image, of a kernel and of sums that are kept
MOST_OF_FEATURES = 1 << 24  # the same, where they are read in order
PLACES, TAPS, FEATURES = "places", "taps", "features"  # along which vectors lie
LINE = 64  # bytes of the widest vector
EMPTY = 9  # times as large as an image is what it is padded to, where zeros are not worth it


class Convolution:
    """A step that is a convolution; it has what a group has."""

    shape = ()

    def __init__(self, step: Step) -> None:
        self.step = step
        self.inputs, self.outs = list(step.operands), list(step.outs)
        x, w, out = self.inputs[0].shape, self.inputs[1].shape, self.outs[0].shape
        p = step.options
        self.batch, self.groups, self.channels = x[0], p["groups"], w[1]
        self.features = w[0] // self.groups
        self.size, self.taps, self.places = (_three(s[2:], 1) for s in (x, w, out))
        self.strides, self.dilation = _three(p["strides"], 1), _three(p["rhs_dilation"], 1)
        self.gaps = _three(p["lhs_dilation"], 1)
        self.low = _three([low for low, _ in p["padding"]], 0)
        # What is read of the padded input.
        self.span = [
            (p - 1) * s + (k - 1) * d + 1
            for p, s, k, d in zip(self.places, self.strides, self.taps, self.dilation, strict=True)
        ]
        self.along = self._along()

    def _along(self) -> str:
        """Along what vectors lie."""
        costs = self.cycles()
        return min(costs, key=costs.__getitem__)

    def phases(self) -> list[Phases]:
        """What the places of every axis read, for vectors along the features."""
        facts = (self.taps, self.places, self.strides, self.gaps, self.dilation, self.low)
        return [Phases.of(*of_axis) for of_axis in zip(*facts, strict=True)]

    def is_worth_it(self) -> bool:
        """Whether C beats gathering and BLAS, and the memory it takes is moderate."""
        axes = self.phases()
        image = self.channels * math.prod(axis.span for axis in axes)
        kernel = self.features * self.channels * math.prod(len(axis.taps) for axis in axes)
        sums = 0
        if self.along == TAPS:
            image = self.batch * math.prod(self.span)
            sums = 16 * self.groups * self.batch * self.features * math.prod(self.places)
        elif self.along == PLACES:
            image *= self.groups
        if max(image, kernel, sums) > (MOST_OF_FEATURES if self.along == FEATURES else MOST):
            return False
        seen = math.prod(min(n, axis.span) for n, axis in zip(self.size, axes, strict=True))
        if math.prod(axis.span for axis in axes) > EMPTY * seen:
            return False
        return self.cycles()[self.along] < self._cycles_of_blas()

    def cycles(self) -> dict[str, float]:
        """About what every form takes of one group, by what 200 convolutions took with wide vectors.

        Vectors along places or taps would read zeros between the elements of the input.
        """
        lanes = LINE // self.outs[0].dtype.itemsize
        taps, places = math.prod(self.taps), math.prod(self.places)
        axes = self.phases()
        products = self.batch * self.channels * taps * places / math.prod(a.number for a in axes)
        copied = self.batch * self.channels * math.prod(axis.span for axis in axes)
        vectors = -(-self.features // lanes)
        found = {
            FEATURES: 0.6 * vectors * products
            + 1.2 * self.features * self.batch * places
            + 1.5 * vectors * lanes * self.channels * taps
            + 0.3 * copied
        }
        if max(self.gaps) > 1:
            return found
        products *= 0.72 * self.features
        if self.taps[-1] > self.places[-1]:
            products *= -(-self.taps[-1] // lanes) / self.taps[-1]
            sums = self.features * self.batch * places
            found[TAPS] = products + 0.6 * sums * lanes + 0.36 * copied
        else:
            products *= -(-self.places[-1] // lanes) / self.places[-1]
            found[PLACES] = products + 0.36 * copied
        return found

    def _cycles_of_blas(self) -> float:
        """What gathering and BLAS take of one group, or products that are put where they belong."""
        lanes = LINE // self.outs[0].dtype.itemsize
        taps, places = math.prod(self.taps), math.prod(self.places)
        axes = self.phases()
        sums = self.features * self.batch * places
        products = sums * self.channels * taps / math.prod(a.number for a in axes)
        start = 50_000 / self.groups
        if taps == 1 or places == 1:
            return start + 0.84 * products / lanes + 0.36 * sums
        if max(self.gaps) > 1:
            return 2.4 * start + products / lanes + 3.6 * sums * taps / math.prod(self.gaps)
        d = len(self.inputs[0].shape) - 2
        pairs = [*zip(self.taps, self.places, strict=True)][-max(d - 1, 1) :]
        gathered = math.prod(map(min, pairs))
        copied = self.batch * self.channels * math.prod(axis.span for axis in axes)
        return start + 1.1 * products / lanes + 1.2 * gathered * copied

    def shared(self, loop: Any) -> Callable[..., Any]:
        """The function, on parts of the images where several threads pay."""
        if max(self.gaps) > 1:
            loop = self._of_finite(loop)
        count = self.channels if self.along == TAPS else self.batch
        work = self.outs[0].size * self.channels * math.prod(self.taps)
        if (
            threads() == 1
            or count == 1
            or work < 16 * LARGE
            or (self.along == TAPS and self.groups > 1)
        ):
            return loop

        def run(x: Any, w: Any, out: Any = None) -> Any:
            if self.along == TAPS:
                return sum(in_parts(lambda a, b: loop(x[:, a:b], w[:, a:b]), count, 1, work))
            found = np.empty(self.outs[0].shape, self.outs[0].dtype) if out is None else out
            in_parts(lambda a, b: loop(x[a:b], w, found[a:b]), count, 1, work)
            return found

        run.takes_outs = self.along != TAPS  # type: ignore[attr-defined]
        return run

    def _of_finite(self, loop: Any) -> Callable[..., Any]:
        """`loop`, but by NumPy where an infinite weight would meet the zeros around the input."""

        def run(x: Any, w: Any, out: Any = None) -> Any:
            if np.isfinite(w).all():
                return loop(x, w) if out is None else loop(x, w, out)
            found = self.step.function(x, w, **self.step.options)
            if out is None:
                return found
            out[...] = found
            return out

        run.takes_outs = True  # type: ignore[attr-defined]
        return run


def _three(values: Sequence[int], missing: int) -> tuple[int, ...]:
    return (missing,) * (AXES - len(values)) + tuple(values)


def fits(step: Step) -> bool:
    """Whether a step is a convolution of arrays that C can read."""
    if step.kind != CALL or getattr(step.function, "name", None) != "conv":
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
        self.shared = [VECTORS, TILES]
        self.signature = self._signature()
        self.text = self._text()

    def _signature(self) -> str:
        x, w, out = (list(map(str, v.shape)) for v in (*self.inputs, *self.outs))
        if self.group.along != TAPS:
            x, out = x[1:], out[1:]
        elif self.group.groups == 1:
            x[1] = w[1] = "images"
        return f"({','.join(x)}),({','.join(w)})->({','.join(out)})"

    def _text(self) -> str:
        c, x = self.group, self.inputs[0]
        kind, width = self._type(x), x.dtype.itemsize
        row = (c.taps if c.along == TAPS else c.places)[-1] * width
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
            "count": "dims[2]" if c.along == TAPS and c.groups == 1 else c.channels,
        }
        for axis, letter in enumerate("abc"):
            for what in ("taps", "places", "strides", "dilation"):
                facts[f"{what}_{letter}"] = getattr(c, what)[axis]
        if c.along == FEATURES:
            axes = c.phases()
            ends = [(axis.low, axis.span - axis.low) for axis in axes]
            copy = _copy(c, ends, f"k + {axes[2].low}")
            return ALONG_FEATURES.format(copy=copy, **facts, **facts_of(axes))
        ends = [(low, span - low) for low, span in zip(c.low, c.span, strict=True)]
        place, phases = f"k + {c.low[2]}", c.dilation[2] if c.along == TAPS else c.strides[2]
        if phases > 1:
            place = f"({place}) % {phases} * PITCH + ({place}) / {phases}"
        text = ALONG_TAPS if c.along == TAPS else ALONG_PLACES
        return text.format(copy=_copy(c, ends, place), **facts)

    def _strides(self) -> list[str]:
        """The declarations of the arrays' strides; those of axes that are missing are 0."""
        spatial = len(self.inputs[0].shape) - 2
        missing = AXES - spatial
        lines, start = [], 0
        for letter in "xwz":
            lead = "nc" if self.group.along == TAPS or letter == "w" else "c"
            found = [f"{letter}{name} = core[{start + i}]" for i, name in enumerate(lead)]
            found += [f"{letter}{name} = 0" for name in "ijk"[:missing]]
            start += len(lead)
            found += [
                f"{letter}{name} = core[{start + i}]" for i, name in enumerate("ijk"[missing:])
            ]
            start += spatial
            lines.append(f"const long {', '.join(found)};")
        return lines


def _copy(c: Convolution, ends: Sequence[tuple[int, int]], place: str) -> str:
    """Lines that copy one channel of one image from `from` to `to`, with padding or cropped.

    `ends`: for every axis, how far in front the first element that is read is, and the end of what is
    read. `place`: of element `k` of a row.
    """
    seen = [(max(0, -low), min(n, end)) for n, (low, end) in zip(c.size, ends, strict=True)]
    lines, rows = [], []
    for axis, (letter, pitch) in enumerate(zip("ij", ("PLANE", "ROW"), strict=True)):
        first, last = seen[axis]
        lines.append(f"for (long {letter} = {first}; {letter} < {last}; {letter}++) {{")
        rows.append(f"({letter} + {ends[axis][0]}) * {pitch}")
    first, last = seen[2]
    loop = f"for (long k = {first}; k < {last}; k++) target[{place}] ="
    lines += [
        "  const char *source = from + i * xi + j * xj;",
        f"  real *target = to + {' + '.join(rows)};",
        f"  if (xk == sizeof(real)) {loop} ((const real *)source)[k];",
        f"  else {loop} *(const real *)(source + k * xk);",
        "}}",
    ]
    return "\n".join(lines)


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
