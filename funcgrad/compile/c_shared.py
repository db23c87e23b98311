"""Text in C that regions share, where one needs it.

Layer 4½.
"""

from __future__ import annotations

from .c_access import zero
from .c_source import TYPES

FMA = """\
#ifdef __FMA__
#define FMA_double __builtin_fma
#define FMA_float __builtin_fmaf
#else
#define FMA_double(x, y, z) ((x) * (y) + (z))
#define FMA_float(x, y, z) ((x) * (y) + (z))
#endif
"""
MEMORY = """\
void *aligned_alloc(unsigned long, unsigned long);
void free(void *);
"""
ZEROS = "".join(f"static const {kind} {zero(kind)};\n" for kind in dict.fromkeys(TYPES.values()))
# Arrays that are not dense are copied into dense memory first, or from it at the end. `facts`: of each
# array the bytes of an element, 0 where there is only one, how many axes there are, and their lengths.
# Compilers that inline `strided` into itself take six times as long for a program.
STRIDED = """\
__attribute__((noinline, noclone)) static void strided(char *dense, char *other, long width,
                                                       long axes, const long *shape,
                                                       const long *strides, int back) {
  long row = width;
  for (long a = 1; a < axes; a++) row *= shape[a];
  if (axes == 1 && strides[0] == width)  // a row that lies together
    __builtin_memcpy(back ? other : dense, back ? dense : other, shape[0] * width);
  else for (long i = 0; i < shape[0]; i++, dense += row, other += strides[0]) {
    char *to = back ? other : dense, *from = back ? dense : other;
    if (axes > 1) strided(dense, other, width, axes - 1, shape + 1, strides + 1, back);
    else if (width == 8) *(long long *)to = *(long long *)from;
    else if (width == 4) *(int *)to = *(int *)from;
    else *to = *from;
  }
}
__attribute__((noinline)) static void bring(char **args, const long *strides, const long *facts,
                                            long inputs, long count, char **own) {
  for (long k = 0; k < count; k++) {
    const long width = facts[0], axes = facts[1], *shape = facts + 2;
    long size = width, is_dense = 1;
    for (long a = axes - 1; a >= 0; size *= shape[a], a--)
      is_dense &= shape[a] == 1 || strides[a] == size;
    own[k] = args[k];
    if (width && !is_dense) {
      own[k] = aligned_alloc(64, (size + 63) / 64 * 64);
      if (k < inputs) strided(own[k], args[k], width, axes, shape, strides, 0);
    }
    strides += axes, facts += 2 + axes;
  }
}
__attribute__((noinline)) static void give_back(char **args, const long *strides, const long *facts,
                                                long inputs, long count, char **own) {
  for (long k = 0; k < count; k++) {
    if (own[k] != args[k]) {
      if (k >= inputs) strided(own[k], args[k], facts[0], facts[1], facts + 2, strides, 1);
      free(own[k]);
    }
    strides += facts[1], facts += 2 + facts[1];
  }
}
"""
