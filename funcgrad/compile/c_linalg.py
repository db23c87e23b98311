"""Small and banded matrices in C: what LAPACK does for them by the same methods, inside of loops.

Layer 4½. A call of LAPACK through NumPy takes 4 us for four equations, which take 0.05 here, and it
keeps the loop that it is in out of C. Where a matrix is singular, or not positive definite, and that
matters, the program says so, and NumPy runs it again, which raises or knows better.

Source: Golub & Van Loan, "Matrix Computations", algorithms 3.4.1 (elimination with partial
pivoting), 3.1.1 (substitution), 4.2.1 (Cholesky) and section 4.3 (bands); of the exponential see
ops/matrix_functions.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.matrix_functions import LOG_ERROR, LOG_REACH, PADE
from .c_places import dense
from .c_source import number
from .steps import CALL, Step, Value

MOST = 24  # rows of a matrix, for which a call of LAPACK takes twice as long; diagonals of a band

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
// The rows that may exchange places begin in the same column in w, and take in what fills up.
NO_VECTORS static long band_solve_{T}(
    long n, long k, long lower, long upper, const {T} *ab, {T} *w, {T} *x) {
  const long wide = lower + upper + 1;
  for (long i = 0; i < n; i++)
    for (long c = 0, j = i > lower ? i - lower : 0; c < wide; c++, j++)
      w[i * wide + c] = j < n && j - i <= upper ? ab[(upper + i - j) * n + j] : 0;
  for (long j = 0; j < n; j++) {
    const long end = j + lower < n ? j + lower + 1 : n;
    long p = j;
    for (long i = j + 1; i < end; i++)
      if (__builtin_fabs(w[i * wide]) > __builtin_fabs(w[p * wide])) p = i;
    if (w[p * wide] == 0) return 1;
    if (p != j) {
      swap_{T}(wide, w + j * wide, w + p * wide);
      swap_{T}(k, x + j * k, x + p * k);
    }
    for (long i = j + 1; i < end; i++) {
      const {T} f = w[i * wide] / w[j * wide];
      for (long c = 1; c < wide; c++) w[i * wide + c - 1] = w[i * wide + c] - f * w[j * wide + c];
      w[i * wide + wide - 1] = 0;
      for (long c = 0; c < k; c++) x[i * k + c] -= f * x[j * k + c];
    }
  }
  for (long j = n - 1; j >= 0; j--) {
    for (long i = 1; i < wide && j + i < n; i++)
      for (long c = 0; c < k; c++) x[j * k + c] -= w[j * wide + i] * x[(j + i) * k + c];
    for (long c = 0; c < k; c++) x[j * k + c] /= w[j * wide];
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
# In double precision, since the terms of the approximant are larger than what they add up to; as
# `expm` of ops/matrix_functions.py does it.
EXPONENTIAL = """\
static inline double norm_of(long n, const double *a) {
  double most = 0;
  for (long j = 0; j < n; j++) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += __builtin_fabs(a[i * n + j]);
    if (!(sum <= most)) most = sum;
  }
  return most;
}
static inline double log_of(double x) { return x > 0 ? log2(x) : -1e6; }
NO_VECTORS static void multiplied(long n, const double *x, const double *y, double *out) {
  for (long i = 0; i < n; i++) {
    for (long j = 0; j < n; j++) out[i * n + j] = 0;
    for (long k = 0; k < n; k++)
      for (long j = 0; j < n; j++) out[i * n + j] += x[i * n + k] * y[k * n + j];
  }
}
// How often to halve x 2^scale: by its norm, or by that of its powers if rounding allows.
NO_VECTORS static long halvings(
    long n, const double *x, long scale, const double *fourth, const double *sixth) {
  const double size = norm_of(n, x), p = __builtin_sqrt(__builtin_sqrt(norm_of(n, fourth)));
  const double q = cbrt(__builtin_sqrt(norm_of(n, sixth)));
  const double by_norm = __builtin_ceil(log_of(size) + scale - LOG_REACH);
  const double by_powers = __builtin_ceil(log_of(p > q ? p : q) + scale - LOG_REACH);
  double least = by_powers > 0 ? by_powers : 0;
  const double most = by_norm > 0 ? by_norm : 0;
  if (!(least < most)) return most;
  double sums[MOST], next[MOST], top = 0;
  for (long j = 0; j < n; j++) sums[j] = 1;
  for (long k = 0; k < 27; k++) {
    for (long j = 0; j < n; j++) {
      next[j] = 0;
      for (long i = 0; i < n; i++) next[j] += sums[i] * __builtin_fabs(x[i * n + j]);
    }
    for (long j = 0; j < n; j++) sums[j] = next[j];
  }
  for (long j = 0; j < n; j++) if (sums[j] > top) top = sums[j];
  const double error = log_of(top) - log_of(size) + 26 * (scale - least) + LOG_ERROR;
  const double more = __builtin_ceil((error + DIGITS) / 26);
  if (more > 0) least += more;
  return least < most ? least : most;
}
NO_VECTORS static void expm_double(long n, double *a, double *x) {
  enum { ALL = MOST * MOST };
  static const double c[] = {PADE};
  double square[ALL], fourth[ALL], sixth[ALL], odd[ALL], even[ALL], inner[ALL];
  const long all = n * n;
  const double norm = norm_of(n, a);
  if (!(norm - norm == 0)) {
    for (long i = 0; i < all; i++) x[i] = __builtin_nan("");
    return;
  }
  const long scale = norm > 1 ? __builtin_ceil(log2(norm)) : 0;
  for (long i = 0; i < all; i++) a[i] = __builtin_ldexp(a[i], -scale);
  multiplied(n, a, a, square);
  multiplied(n, square, square, fourth);
  multiplied(n, fourth, square, sixth);
  long times = halvings(n, a, scale, fourth, sixth);
  const long up = scale - times;
  for (long i = 0; i < all; i++) {
    a[i] = __builtin_ldexp(a[i], up);
    square[i] = __builtin_ldexp(square[i], 2 * up);
    fourth[i] = __builtin_ldexp(fourth[i], 4 * up);
    sixth[i] = __builtin_ldexp(sixth[i], 6 * up);
    inner[i] = c[13] * sixth[i] + c[11] * fourth[i] + c[9] * square[i];
  }
  multiplied(n, sixth, inner, even);
  for (long i = 0; i < all; i++) {
    const double one = i % (n + 1) == 0;
    inner[i] = even[i] + c[7] * sixth[i] + c[5] * fourth[i] + c[3] * square[i] + c[1] * one;
  }
  multiplied(n, a, inner, odd);
  for (long i = 0; i < all; i++) inner[i] = c[12] * sixth[i] + c[10] * fourth[i] + c[8] * square[i];
  multiplied(n, sixth, inner, even);
  for (long i = 0; i < all; i++) {
    const double one = i % (n + 1) == 0;
    even[i] += c[6] * sixth[i] + c[4] * fourth[i] + c[2] * square[i] + one - odd[i];
    x[i] = 2 * odd[i];
  }
  lu_solve_double(n, n, even, x);
  for (long i = 0; i < n; i++) x[i * (n + 1)] += 1;
  for (; times > 0; times--) {
    multiplied(n, x, x, inner);
    for (long i = 0; i < all; i++) x[i] = inner[i];
  }
}
// Of a along x, which the result takes the place of: a block of the exponential of twice the size.
NO_VECTORS static void expm_frechet_double(long n, const double *a, double *x) {
  enum { ALL = MOST * MOST };
  double both[ALL], out[ALL], size = 0;
  for (long i = 0; i < n * n; i++) if (__builtin_fabs(x[i]) > size) size = __builtin_fabs(x[i]);
  if (size == 0) size = 1;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      both[i * 2 * n + j] = both[(i + n) * 2 * n + j + n] = a[i * n + j];
      both[i * 2 * n + j + n] = x[i * n + j] / size;
      both[(i + n) * 2 * n + j] = 0;
    }
  expm_double(2 * n, both, out);
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) x[i * n + j] = out[i * 2 * n + j + n] * size;
}
"""
# Not in line, and no vectors: of rows of five and the like GCC 12 makes wrong ones, see c_nests.py.
NO_VECTORS = """\
#define NO_VECTORS __attribute__((noinline, optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
"""
_FACTS = {
    "LOG_REACH": number(LOG_REACH, np.dtype(float)),
    "LOG_ERROR": number(LOG_ERROR, np.dtype(float)),
    "DIGITS": "53.0",
    "MOST": str(MOST),
    "PADE": ", ".join(number(x, np.dtype(float)) for x in PADE),
}


def _with_facts(text: str) -> str:
    for name, fact in _FACTS.items():
        text = text.replace(name, fact)
    return text


SHARED = NO_VECTORS + "".join(
    _with_facts(TEXT).replace("{T}", kind) for kind in ("double", "float")
)
EXPONENTIAL = _with_facts(EXPONENTIAL)
CALLED = ("solve", "cholesky", "cofactor", "det", "qr")  # what the names of the functions end with
DETERMINANTS = frozenset({"det", "slogdet"})
EXPONENTIALS = frozenset({"expm", "expm_frechet"})
BANDED = "banded_solve"
LONG = EXPONENTIALS | {BANDED}  # that are many calls to NumPy or SciPy
SURE = DETERMINANTS | EXPONENTIALS | {"qr"}  # that need no other way
NAMES = SURE | {"cholesky", "cofactor", "inv", "matrix_solve", "triangular_solve", BANDED}


def shared(text: str) -> list[str]:
    """The functions that a text calls, with those that they call."""
    has_exponential = "expm_" in text
    if not has_exponential and not any(f"{name}_" in text for name in CALLED):
        return []
    return [SHARED, EXPONENTIAL] if has_exponential else [SHARED]


def fits(step: Step) -> bool:
    """Whether a step is one of these, for matrices that are small, and as many of them as results."""
    name = getattr(step.function, "name", "")
    if step.kind != CALL or name not in NAMES:
        return False
    dtype = step.out.dtype
    if {v.dtype for v in (*step.operands, *step.outs)} != {dtype} or dtype.kind != "f":
        return False
    if name in EXPONENTIALS and dtype != np.float64:
        return False
    return _is_small(name, *step.operands[0].shape[-2:]) and _are_as_many(name, step)


def _is_small(name: str, rows: int, columns: int) -> bool:
    if name == BANDED:
        return rows <= MOST
    return max(rows, columns) <= (MOST // 2 if name == "expm_frechet" else MOST)


def _are_as_many(name: str, step: Step) -> bool:
    """Whether there is a matrix for each result; one banded matrix does for many."""
    leads = [v.shape[:-2] for v in step.operands]
    if name == BANDED and math.prod(leads[0]) == 1:
        del leads[0]
    leads += [v.shape if name in DETERMINANTS else v.shape[:-2] for v in step.outs]
    return len(set(map(math.prod, leads))) == 1


def is_long(step: Step) -> bool:
    """Whether a step is worth a call by itself, as NumPy has many for it."""
    return getattr(step.function, "name", "") in LONG


def lines(kernel: Any, step: Step) -> list[str]:
    """A function of small matrices, on dense copies of its operands."""
    given = [kernel.given.pop(out, None) for out in step.outs]
    a, *xs = (kernel.reserved(Value(v.shape, v.dtype)) for v in (step.operands[0], *step.outs))
    found = _filled(kernel, step.operands[0], a)
    if len(step.operands) > 1:
        found += _filled(kernel, step.operands[1], xs[0])
    if step.function.name not in SURE:
        kernel.bad = kernel.bad or Value((), np.dtype(np.int64))
    if step.function.name == BANDED:
        found.append(_banded_call(kernel, step, a, xs[0]))
    else:
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


def _banded_call(kernel: Any, step: Step, bands: str, x: str) -> str:
    """The call that solves for what lies in `x`, in memory where a band takes in what fills up."""
    (*lead, rows, n), (*many, _, k) = step.operands[0].shape, step.out.shape
    work = kernel.reserved(Value((n, rows), step.out.dtype))
    ab = bands if math.prod(lead) == 1 else f"{bands} + t * {rows * n}"
    sizes = f"{n}, {k}, {step.options['lower']}, {step.options['upper']}"
    call = f"band_solve_{kernel._type(step.out)}({sizes}, {ab}, {work}, {x} + t * {n * k})"
    return f"for (long t = 0; t < {math.prod(many)}; t++) bad |= {call};"


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
    if name in EXPONENTIALS:
        return [f"{loop} {name}_{kind}({n}, {matrix}, {right});"]
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
