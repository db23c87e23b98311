"""Small matrices in C: what LAPACK does for them by the same methods, inside of loops.

Layer 4½. A call of LAPACK through NumPy takes 4 us for four equations, which take 0.05 here, and it
keeps the loop that it is in out of C. Where a matrix is singular, or not positive definite, and that
matters, the program says so, and NumPy runs it again, which raises or knows better.

Source: Golub & Van Loan, "Matrix Computations", algorithms 3.4.1 (elimination with partial
pivoting), 3.1.1 (substitution) and 4.2.1 (Cholesky).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .c_places import dense
from .lower import CALL, Step, Value

MOST = 24  # rows of a matrix, for which a call of LAPACK takes twice as long

TEXT = """\
static inline void swap_{T}(long n, {T} *x, {T} *y) {
  for (long c = 0; c < n; c++) { const {T} t = x[c]; x[c] = y[c]; y[c] = t; }
}
// Leaves the upper triangle in a; gives the sign of the exchanges of rows, or 0.
NO_VECTORS static long lu_solve_{T}(long n, long k, {T} *a, {T} *x) {
  long sign = 1;
  for (long j = 0; j < n; j++) {
    long p = j;
    for (long i = j + 1; i < n; i++)
      if (__builtin_fabs(a[i * n + j]) > __builtin_fabs(a[p * n + j])) p = i;
    if (a[p * n + j] == 0) return 0;
    if (p != j) {
      sign = -sign;
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
  return sign;
}
// With an exponent of its own, as of ten numbers of 1e-50 the product is none.
NO_VECTORS static {T} diagonal_product_{T}(long n, const {T} *a, double product) {
  int e, exponent = 0;
  for (long j = 0; j < n; j++) product = __builtin_frexp(product * a[j * n + j], &e), exponent += e;
  return __builtin_ldexp(product, exponent);
}
static inline long has_nan_{T}(long n, const {T} *a) {
  for (long i = 0; i < n * n; i++) if (a[i] != a[i]) return 1;
  return 0;
}
NO_VECTORS static {T} det_{T}(long n, {T} *a) {
  if (has_nan_{T}(n, a)) return __builtin_nan("");
  const long sign = lu_solve_{T}(n, 0, a, a);
  return sign ? diagonal_product_{T}(n, a, sign) : 0;
}
NO_VECTORS static {T} log_det_{T}(long n, {T} *a, {T} *sign) {
  if (has_nan_{T}(n, a)) return *sign = __builtin_nan("");
  *sign = lu_solve_{T}(n, 0, a, a);
  double sum = *sign == 0 ? -__builtin_inf() : 0;
  for (long j = 0; j < n && *sign != 0; j++) {
    sum += log(__builtin_fabs(a[j * n + j]));
    if (a[j * n + j] < 0) *sign = -*sign;
  }
  return sum;
}
NO_VECTORS static long cofactor_{T}(long n, {T} *a, {T} *x) {
  if (n < 3) {
    for (long i = 0; i < n * n; i++) x[i] = n == 1 ? 1 : i % 3 ? -a[3 - i] : a[3 - i];
    return 0;
  }
  for (long i = 0; i < n * n; i++) x[i] = i % (n + 1) == 0;
  const long sign = lu_solve_{T}(n, n, a, x);
  if (!sign) return 1;
  const {T} det = diagonal_product_{T}(n, a, sign);
  long bad = 0;
  for (long i = 0; i < n; i++)
    for (long j = 0; j <= i; j++) {
      const {T} t = x[i * n + j] * det;
      x[i * n + j] = x[j * n + i] * det;
      x[j * n + i] = t;
      bad |= !(t - t == 0) | !(x[i * n + j] - x[i * n + j] == 0);
    }
  return bad;
}
// Reflections as LAPACK chooses them: r has the signs that NumPy gives it.
NO_VECTORS static void qr_{T}(long m, long n, {T} *a, {T} *q, {T} *r) {
  const long k = m < n ? m : n;
  {T} tau[MOST];
  for (long j = 0; j < k; j++) {
    {T} scale = 0, sum = 0, w;
    for (long i = j + 1; i < m; i++) {
      const {T} x = __builtin_fabs(a[i * n + j]);
      if (x > scale || x != x) scale = x;
    }
    tau[j] = 0;
    if (scale == 0) continue;
    for (long i = j + 1; i < m; i++) sum += (a[i * n + j] / scale) * (a[i * n + j] / scale);
    const {T} top = a[j * n + j];
    const {T} length = -__builtin_copysign(hypot(top, scale * __builtin_sqrt(sum)), top);
    tau[j] = (length - top) / length;
    for (long i = j + 1; i < m; i++) a[i * n + j] /= top - length;
    a[j * n + j] = length;
    for (long c = j + 1; c < n; c++) {
      w = a[j * n + c];
      for (long i = j + 1; i < m; i++) w += a[i * n + j] * a[i * n + c];
      w *= tau[j];
      a[j * n + c] -= w;
      for (long i = j + 1; i < m; i++) a[i * n + c] -= a[i * n + j] * w;
    }
  }
  for (long i = 0; i < k * n; i++) r[i] = i / n > i % n ? 0 : a[i];
  for (long i = 0; i < m * k; i++) q[i] = i / k == i % k;
  for (long j = k - 1; j >= 0; j--)
    for (long c = j; c < k; c++) {
      {T} w = q[j * k + c];
      for (long i = j + 1; i < m; i++) w += a[i * n + j] * q[i * k + c];
      w *= tau[j];
      q[j * k + c] -= w;
      for (long i = j + 1; i < m; i++) q[i * k + c] -= a[i * n + j] * w;
    }
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
SHARED = NO_VECTORS + "".join(
    TEXT.replace("{T}", kind).replace("MOST", str(MOST)) for kind in ("double", "float")
)
CALLED = ("solve", "cholesky", "cofactor", "det", "qr")  # what the names of the functions end with
DETERMINANTS = frozenset({"det", "slogdet"})
SURE = DETERMINANTS | {"qr"}  # that need no other way
NAMES = SURE | {"cholesky", "cofactor", "inv", "matrix_solve", "triangular_solve"}


def fits(step: Step) -> bool:
    """Whether a step is one of these, for matrices that are small, and as many of them as results."""
    name = getattr(step.function, "name", "")
    if step.kind != CALL or name not in NAMES:
        return False
    shapes = [v.shape[:-2] for v in step.operands]
    shapes += [v.shape if name in DETERMINANTS else v.shape[:-2] for v in step.outs]
    same = {v.dtype for v in (*step.operands, *step.outs)} == {step.out.dtype}
    is_small = max(step.operands[0].shape[-2:]) <= MOST
    return (
        is_small and len(set(map(math.prod, shapes))) == 1 and same and step.out.dtype.kind == "f"
    )


def lines(kernel: Any, step: Step) -> list[str]:
    """A function of small matrices, on dense copies of its operands."""
    given = [kernel.given.pop(out, None) for out in step.outs]
    a, *xs = (kernel.reserved(Value(v.shape, v.dtype)) for v in (step.operands[0], *step.outs))
    found = _filled(kernel, step.operands[0], a)
    if len(step.operands) > 1:
        found += _filled(kernel, step.operands[1], xs[0])
    if step.function.name not in SURE:
        kernel.bad = kernel.bad or Value((), np.dtype(np.int64))
    found += _calls(step, a, xs, kernel._type(step.out))
    for out, x, place in zip(step.outs, xs, given, strict=True):
        found += _result(kernel, out, x, place)
    return found


def _result(kernel: Any, out: Value, x: str, given: Any) -> list[str]:
    """What is in dense memory, as a value of the program."""
    if out.size == 1:
        name = f"b{kernel.count()}"
        kernel.places[out] = dense(name, out.shape)
        return [f"const {kernel._type(out)} {name} = {x}[0];"]
    made = Value(out.shape, out.dtype)
    kernel.places[made] = kernel.places[out] = dense(x, out.shape)
    return [] if given is None else kernel.copied(made, out, given)


def _filled(kernel: Any, value: Value, base: str) -> list[str]:
    """An operand copied to dense memory."""
    if value.size == 1:
        return [f"{base}[0] = {kernel.number(value, value.dtype)};"]
    return kernel.copied(value, Value(value.shape, value.dtype), dense(base, value.shape))


def _calls(step: Step, a: str, xs: Sequence[str], kind: str) -> list[str]:
    """The calls that make the results of `a`, and of the right sides that lie there already."""
    name, x = step.function.name, xs[0]
    n, k = step.operands[0].shape[-1], step.out.shape[-1] if step.out.shape else 1
    many = math.prod(step.operands[0].shape[:-2])
    loop = f"for (long t = 0; t < {many}; t++)"
    matrix, right = f"{a} + t * {n * n}", f"{x} + t * {n * k}"
    if name == "det":
        return [f"{loop} {x}[t] = det_{kind}({n}, {matrix});"]
    if name == "slogdet":
        return [f"{loop} {xs[1]}[t] = log_det_{kind}({n}, {matrix}, {x} + t);"]
    if name == "qr":
        (m, n), k = step.operands[0].shape[-2:], step.out.shape[-1]
        return [
            f"{loop} qr_{kind}({m}, {n}, {a} + t * {m * n}, {x} + t * {m * k}, {xs[1]} + t * {k * n});"
        ]
    found = []
    if name in ("cholesky", "cofactor"):
        call = f"{name}_{kind}({n}, {matrix}, {right})"
    elif name == "triangular_solve":
        flags = f"{int(step.options['lower'])}, {int(step.options['unit_diagonal'])}"
        call = f"triangle_solve_{kind}({n}, {k}, {matrix}, {right}, {flags})"
    else:
        call = f"!lu_solve_{kind}({n}, {k}, {matrix}, {right})"
    if name == "inv":
        size = step.out.size
        found.append(f"for (long i = 0; i < {size}; i++) {x}[i] = i % {n * n} % {n + 1} == 0;")
    return [*found, f"{loop} bad |= {call};"]
