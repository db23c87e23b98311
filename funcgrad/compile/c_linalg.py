"""Small matrices in C: what LAPACK does for them by the same methods, inside of loops.

Layer 4½. A call of LAPACK through NumPy takes 4 us for four equations, which take 0.05 here, and it
keeps the loop that it is in out of C. Where a matrix is singular, or not positive definite, the
program says so, and NumPy runs it again, which raises.

Source: Golub & Van Loan, "Matrix Computations", algorithms 3.4.1 (elimination with partial
pivoting), 3.1.1 (substitution) and 4.2.1 (Cholesky).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .c_places import dense
from .lower import CALL, Step, Value

MOST = 24  # rows of a matrix, for which a call of LAPACK takes twice as long

TEXT = """\
static inline void swap_{T}(long n, {T} *x, {T} *y) {
  for (long c = 0; c < n; c++) { const {T} t = x[c]; x[c] = y[c]; y[c] = t; }
}
NO_VECTORS static long lu_solve_{T}(long n, long k, {T} *a, {T} *x) {
  for (long j = 0; j < n; j++) {
    long p = j;
    for (long i = j + 1; i < n; i++)
      if (__builtin_fabs(a[i * n + j]) > __builtin_fabs(a[p * n + j])) p = i;
    if (a[p * n + j] == 0) return 1;
    if (p != j) {
      swap_{T}(n, a + j * n, a + p * n);
      swap_{T}(k, x + j * k, x + p * k);
    }
    for (long i = j + 1; i < n; i++) {
      const {T} f = a[i * n + j] / a[j * n + j];
      for (long c = j + 1; c < n; c++) a[i * n + c] -= f * a[j * n + c];
      for (long c = 0; c < k; c++) x[i * k + c] -= f * x[j * k + c];
    }
  }
  for (long j = n - 1; j >= 0; j--) {
    for (long i = j + 1; i < n; i++)
      for (long c = 0; c < k; c++) x[j * k + c] -= a[j * n + i] * x[i * k + c];
    for (long c = 0; c < k; c++) x[j * k + c] /= a[j * n + j];
  }
  return 0;
}
NO_VECTORS static long triangle_solve_{T}(long n, long k, const {T} *a, {T} *x, long lower, long unit) {
  for (long t = 0; t < n; t++) {
    const long j = lower ? t : n - 1 - t;
    for (long i = lower ? 0 : j + 1; i < (lower ? j : n); i++)
      for (long c = 0; c < k; c++) x[j * k + c] -= a[j * n + i] * x[i * k + c];
    if (unit) continue;
    if (a[j * n + j] == 0) return 1;
    for (long c = 0; c < k; c++) x[j * k + c] /= a[j * n + j];
  }
  return 0;
}
NO_VECTORS static long cholesky_{T}(long n, const {T} *a, {T} *x) {
  for (long j = 0; j < n; j++) {
    {T} s = a[j * n + j];
    for (long c = 0; c < j; c++) s -= x[j * n + c] * x[j * n + c];
    if (!(s > 0)) return 1;
    x[j * n + j] = __builtin_sqrt(s);
    for (long i = 0; i < j; i++) x[i * n + j] = 0;
    for (long i = j + 1; i < n; i++) {
      {T} r = ({T})0.5 * (a[i * n + j] + a[j * n + i]);
      for (long c = 0; c < j; c++) r -= x[i * n + c] * x[j * n + c];
      x[i * n + j] = r / x[j * n + j];
    }
  }
  return 0;
}
"""
# Not in line, and no vectors: of rows of five and the like GCC 12 makes wrong ones, see c_nests.py.
NO_VECTORS = """\
#define NO_VECTORS __attribute__((noinline, optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
"""
SHARED = NO_VECTORS + "".join(TEXT.replace("{T}", kind) for kind in ("double", "float"))
NAMES = frozenset({"cholesky", "inv", "matrix_solve", "triangular_solve"})


def fits(step: Step) -> bool:
    """Whether a step is one of these, for matrices that are small, and as many of them as results."""
    if step.kind != CALL or getattr(step.function, "name", "") not in NAMES:
        return False
    n = step.operands[0].shape[-1]
    many = {math.prod(v.shape[:-2]) for v in (*step.operands, step.out)}
    same = {v.dtype for v in (*step.operands, step.out)} == {step.out.dtype}
    return n <= MOST and len(many) == 1 and same and step.out.dtype.kind == "f"


def lines(kernel: Any, step: Step) -> list[str]:
    """A function of small matrices, on dense copies of its operands."""
    kernel.bad = kernel.bad or Value((), np.dtype(np.int64))
    out, given = step.out, kernel.given.pop(step.out, None)
    a, x = (kernel.reserved(Value(v.shape, out.dtype)) for v in (step.operands[0], out))
    found = _filled(kernel, step.operands[0], a)
    if len(step.operands) > 1:
        found += _filled(kernel, step.operands[1], x)
    found += _calls(step, a, x, kernel._type(out))
    if out.size == 1:
        name = f"b{kernel.count()}"
        kernel.places[out] = dense(name, out.shape)
        return [*found, f"const {kernel._type(out)} {name} = {x}[0];"]
    made = Value(out.shape, out.dtype)
    kernel.places[made] = kernel.places[out] = dense(x, out.shape)
    return found if given is None else found + kernel.copied(made, out, given)


def _filled(kernel: Any, value: Value, base: str) -> list[str]:
    """An operand copied to dense memory."""
    if value.size == 1:
        return [f"{base}[0] = {kernel.number(value, value.dtype)};"]
    return kernel.copied(value, Value(value.shape, value.dtype), dense(base, value.shape))


def _calls(step: Step, a: str, x: str, kind: str) -> list[str]:
    """The calls that make `x`, in which the right sides are, of `a`; both are dense memory."""
    name = step.function.name
    *many, n, k = step.out.shape
    matrix, right = f"{a} + t * {n * n}", f"{x} + t * {n * k}"
    sizes = f"{n}, {k}, {matrix}, {right}"
    if name == "cholesky":
        call = f"cholesky_{kind}({n}, {matrix}, {right})"
    elif name == "triangular_solve":
        flags = f"{int(step.options['lower'])}, {int(step.options['unit_diagonal'])}"
        call = f"triangle_solve_{kind}({sizes}, {flags})"
    else:
        call = f"lu_solve_{kind}({sizes})"
    found = []
    if name == "inv":
        size = step.out.size
        found.append(f"for (long i = 0; i < {size}; i++) {x}[i] = i % {n * n} % {n + 1} == 0;")
    return [*found, f"for (long t = 0; t < {math.prod(many)}; t++) bad |= {call};"]
