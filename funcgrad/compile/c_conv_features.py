"""Convolutions as C, for many output channels: vectors along these.

Layer 4½. The padded input of some images lies in memory; sums for several places times some vectors of
output channels are kept in registers, so that a number of the input that was read is multiplied with
all of these. The kernel is put in order first: by blocks of output channels, then as it is read.
Zeros between the elements of the input are not made: places are parted by which taps meet elements.

Source: Georganas et al., "Anatomy of high-performance deep learning convolutions on SIMD
architectures", arXiv:1808.05567, for what is kept in registers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

IN_CACHE = 1 << 19  # numbers of padded images
CHUNK = 1 << 16  # numbers of a kernel that are read again for every image


class Phases(NamedTuple):
    """What the places of one axis read: the q-th place of a phase elements ``q * step + offset``."""

    number: int
    step: int
    places: int  # of the largest phase
    taps: list[int]  # that meet elements, of all phases one after another
    offsets: list[int]  # one for each of these, in the padded input
    starts: list[int]  # where the taps of each phase start, and their number
    low: int  # elements in front of the input; below 0, how many of it are not read
    span: int  # padded elements that are read

    @classmethod
    def of(cls, taps: int, places: int, stride: int, left: int, right: int, low: int) -> Phases:
        """`left` and `right` are the dilations of the input and of the kernel."""
        count = left // math.gcd(left, stride)
        step = count * stride // left
        met, offsets, starts = [], [], [0]
        for phase in range(count):
            for k in range(taps):
                offset, rest = divmod(phase * stride + k * right - low, left)
                if not rest:
                    met.append(k)
                    offsets.append(offset)
            starts.append(len(met))
        first, most = min(offsets, default=0), -(-places // count)
        span = max(offsets, default=0) - first + (most - 1) * step + 1
        return cls(count, step, most, met, [o - first for o in offsets], starts, -first, span)

    @property
    def most_taps(self) -> int:
        """Of the phase that has most."""
        return max(b - a for a, b in zip(self.starts, self.starts[1:], strict=False))


def facts_of(axes: Sequence[Phases]) -> dict[str, Any]:
    """What the text wants to know of the axes."""
    facts: dict[str, Any] = {"in_cache": IN_CACHE, "chunk": CHUNK}
    tables = []
    for letter, axis in zip("abc", axes, strict=True):
        facts |= {
            f"phases_{letter}": axis.number,
            f"step_{letter}": axis.step,
            f"most_{letter}": axis.places,
            f"span_{letter}": axis.span,
        }
        for name in ("taps", "offsets", "starts"):
            numbers = ", ".join(map(str, getattr(axis, name))) or "0"
            tables.append(f"static const long {name.upper()}_{letter.upper()}[] = {{{numbers}}};")
    facts["tables"] = "\n  ".join(tables)
    facts["all_taps"] = math.prod(len(axis.taps) for axis in axes)
    facts["most_taps"] = max(1, math.prod(axis.most_taps for axis in axes))
    return facts


TILES = """\
#ifdef __AVX512F__
#define TILE 28
#else
#define TILE 12
#endif
#define UNROLL _Pragma("GCC unroll 32")
"""
# Axes of space are a, b and c. ROW, PLANE and VOLUME are distances in the padded input.
ALONG_FEATURES = """\
__attribute__((optimize("fp-contract=fast")))
void {name}(char **args, long const *dims, long const *steps, void *data) {{
#pragma clang fp contract(fast)
  typedef {kind} real;
  typedef real vec __attribute__((vector_size(VECTOR), aligned({width}), may_alias));
  const long *core = steps + 3;
  {strides}
  {tables}
  enum {{
    GROUPS = {groups}, C = {channels}, O = {features}, LANES = VECTOR / {width},
    PA = {places_a}, PB = {places_b}, PC = {places_c},
    FA = {phases_a}, FB = {phases_b}, FC = {phases_c},
    QA = {most_a}, QB = {most_b}, QC = {most_c},
    SA = {step_a}, SB = {step_b}, SC = {step_c},
    WIDTH = EVEN(PARTS(O, LANES), QB * QC <= TILE / 3 ? 3 : 2), DEEP = WIDTH * LANES,
    BLOCKS = PARTS(O, DEEP),
    WIDE = EVEN(QC, TILE / WIDTH), STRIPS = PARTS(QC, WIDE),
    HIGH = EVEN(QB, LEAST(8, TILE / (WIDTH * WIDE))), BANDS = PARTS(QB, HIGH),
    ROW = {span_c} + (STRIPS * WIDE - QC) * SC,
    PLANE = ({span_b} + (BANDS * HIGH - QB) * SB) * ROW, VOLUME = {span_a} * PLANE,
    ONCE = LEAST(C, PARTS({chunk}, {most_taps} * DEEP)),
    IMAGES = LEAST({batch}, PARTS({in_cache}, C * VOLUME)),
    SUMS = ONCE < C ? IMAGES * QA * BANDS * STRIPS * HIGH * WIDE * DEEP : 0,
    WEIGHTS = BLOCKS * C * {all_taps} * DEEP, INPUT = IMAGES * C * VOLUME,
  }};
  real *weights = aligned_alloc(64, PARTS((WEIGHTS + SUMS + INPUT) * sizeof(real), 64) * 64);
  if (!weights) __builtin_trap();
  real *sums = weights + WEIGHTS, *input = sums + SUMS;
  for (long e = 0; e < INPUT; e++) input[e] = 0;
  for (long group = 0; group < GROUPS; group++) {{
    real *to = weights;
    for (long block = 0; block < BLOCKS; block++)
    for (long fa = 0; fa < FA; fa++)
    for (long fb = 0; fb < FB; fb++)
    for (long fc = 0; fc < FC; fc++)
    for (long c = 0; c < C; c++)
    for (long i = STARTS_A[fa]; i < STARTS_A[fa + 1]; i++)
    for (long j = STARTS_B[fb]; j < STARTS_B[fb + 1]; j++)
    for (long k = STARTS_C[fc]; k < STARTS_C[fc + 1]; k++, to += DEEP) {{
      const char *from = args[1] + c * wc + TAPS_A[i] * wi + TAPS_B[j] * wj + TAPS_C[k] * wk;
      // The last weights are there again where there are no more, so that nothing new is computed.
      for (long o = 0; o < DEEP; o++)
        to[o] = *(const real *)(from + (group * O + LEAST(block * DEEP + o, O - 1)) * wn);
    }}
    for (long start = 0; start < dims[0]; start += IMAGES) {{
      const long images = LEAST(IMAGES, dims[0] - start);
      for (long n = 0; n < images; n++)
        for (long c = 0; c < C; c++) {{
          const char *from = args[0] + (start + n) * steps[0] + (group * C + c) * xc;
          real *to = input + (n * C + c) * VOLUME;
          {copy}
        }}
      const real *block_of = weights;
      for (long block = 0; block < BLOCKS; block++)
      for (long fa = 0; fa < FA; fa++)
      for (long fb = 0; fb < FB; fb++)
      for (long fc = 0; fc < FC; fc++) {{
        const long taps = (STARTS_A[fa + 1] - STARTS_A[fa]) * (STARTS_B[fb + 1] - STARTS_B[fb])
                          * (STARTS_C[fc + 1] - STARTS_C[fc]);
        const long features = LEAST(DEEP, O - block * DEEP);
        for (long chunk = 0; chunk < C; chunk += ONCE) {{
          const long end = LEAST(chunk + ONCE, C);
          vec *known = (vec *)sums;  // of the channels before
          for (long n = 0; n < images; n++)
          for (long a = 0; a * FA + fa < PA; a++)
          for (long band = 0; band < BANDS; band++)
          for (long strip = 0; strip < STRIPS; strip++, known += HIGH * WIDE * WIDTH) {{
            vec part[HIGH][WIDE][WIDTH];
            UNROLL for (int r = 0; r < HIGH; r++)
              UNROLL for (int p = 0; p < WIDE; p++)
                UNROLL for (int v = 0; v < WIDTH; v++)
                  part[r][p][v] = chunk ? known[(r * WIDE + p) * WIDTH + v] : (vec){{0}};
            const real *w = block_of + chunk * taps * DEEP;
            const real *corner = input + n * C * VOLUME + a * SA * PLANE + band * HIGH * SB * ROW
                                 + strip * WIDE * SC;
            for (long c = chunk; c < end; c++)
            for (long i = STARTS_A[fa]; i < STARTS_A[fa + 1]; i++)
            for (long j = STARTS_B[fb]; j < STARTS_B[fb + 1]; j++) {{
              const real *row = corner + c * VOLUME + OFFSETS_A[i] * PLANE + OFFSETS_B[j] * ROW;
              for (long k = STARTS_C[fc]; k < STARTS_C[fc + 1]; k++, w += DEEP) {{
                vec here[WIDTH];
                UNROLL for (int v = 0; v < WIDTH; v++) {{
                  here[v] = ((const vec *)w)[v];
                  KEEP(here[v]);
                }}
                UNROLL for (int r = 0; r < HIGH; r++)
                  UNROLL for (int p = 0; p < WIDE; p++) {{
                    const real x = row[OFFSETS_C[k] + r * SB * ROW + p * SC];
                    UNROLL for (int v = 0; v < WIDTH; v++) part[r][p][v] += here[v] * x;
                  }}
              }}
            }}
            vec found[HIGH][WIDE][WIDTH];  // in memory, as `part` is not
            vec *at = end < C ? known : (vec *)found;
            UNROLL for (int r = 0; r < HIGH; r++)
              UNROLL for (int p = 0; p < WIDE; p++)
                UNROLL for (int v = 0; v < WIDTH; v++)
                  at[(r * WIDE + p) * WIDTH + v] = part[r][p][v];
            if (end < C) continue;
            const long top = band * HIGH * FB + fb, left = strip * WIDE * FC + fc;
            const long rows = LEAST(HIGH, PARTS(PB - top, FB));
            const long places = LEAST(WIDE, PARTS(PC - left, FC));
            for (long o = 0; o < features; o++)
              for (long r = 0; r < rows; r++) {{
                char *to = args[2] + (start + n) * steps[2] + (group * O + block * DEEP + o) * zc
                           + (a * FA + fa) * zi + (top + r * FB) * zj + left * zk;
                const real *sum = (const real *)found[r] + o;
                for (long k = 0; k < places; k++) *(real *)(to + k * FC * zk) = sum[k * DEEP];
              }}
          }}
        }}
        block_of += C * taps * DEEP;
      }}
    }}
  }}
  free(weights);
}}
"""
