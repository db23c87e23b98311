"""Groups as C: one inner loop of a NumPy ufunc for each.

Layer 4½. The loop has the signature that NumPy's own loops have, so NumPy broadcasts, checks types,
makes the results and watches the floating-point flags. A group with full sums becomes a generalised
ufunc over one axis. Arithmetic is as written: no flag lets the compiler reorder it, and only sums run
in several strands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import c_special
from .groups import Group, is_number
from .lower import step_dtypes
from .steps import BITS, CAST, REDUCE, UFUNC, WHERE, NotLowerableError, Step, Value

TYPES: dict[Any, str] = {
    np.dtype(np.float64): "double",
    np.dtype(np.float32): "float",
    np.dtype(np.int64): "long",
    np.dtype(np.int32): "int",
    np.dtype(np.uint64): "unsigned long",
    np.dtype(np.uint32): "unsigned int",
    np.dtype(np.uint8): "unsigned char",  # to be moved and converted: C has no arithmetic of bytes
    np.dtype(np.bool_): "unsigned char",
}


class Dialect(NamedTuple):
    """What differs between C and its relatives; `instruction` starts the name of what is no call."""

    types: dict[Any, str]  # by dtype
    instruction: str
    nan: str
    inf: str
    ones: str  # what counts the bits that are 1


C = Dialect(TYPES, "__builtin_", '__builtin_nan("")', "__builtin_inf()", "__builtin_popcountll")

_INFIX = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.divide: "/",
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
    np.equal: "==",
    np.not_equal: "!=",
}
# Functions of the C library, by NumPy's name; {f} ends the name for single precision.
_LIBRARY = {
    getattr(np, name): c
    for name, c in {
        "sqrt": "sqrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log",
        "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos",
        "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsin": "asin",
        "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh",
        "arccosh": "acosh", "arctanh": "atanh", "hypot": "hypot", "cbrt": "cbrt", "power": "pow",
        "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint", "fabs": "fabs",
        "absolute": "fabs", "copysign": "copysign", "float_power": "pow", "nextafter": "nextafter",
    }.items()
}  # fmt: skip
_TEMPLATES = {
    np.negative: "(-{0})",
    np.positive: "({0})",
    np.square: "({0} * {0})",
    np.reciprocal: "(1 / {0})",
    np.maximum: "(({0} >= {1}) | ({0} != {0}) ? {0} : {1})",
    np.minimum: "(({0} <= {1}) | ({0} != {0}) ? {0} : {1})",
    np.fmax: "(({0} >= {1}) | ({1} != {1}) ? {0} : {1})",
    np.fmin: "(({0} <= {1}) | ({1} != {1}) ? {0} : {1})",
    np.isnan: "({0} != {0})",
    np.isfinite: "({0} - {0} == 0)",
    np.isinf: "(({0} - {0} != 0) & ({0} == {0}))",
    np.sign: "({0} != {0} ? {0} : ({0} > 0) - ({0} < 0))",
    np.logical_and: "(({0} != 0) & ({1} != 0))",
    np.logical_or: "(({0} != 0) | ({1} != 0))",
    np.logical_not: "(!{0})",
    np.logical_xor: "(!{0} != !{1})",
}
_BITWISE = {
    np.bitwise_and: "({0} & {1})",
    np.bitwise_or: "({0} | {1})",
    np.bitwise_xor: "({0} ^ {1})",
    np.left_shift: "({0} << {1})",
    np.right_shift: "({0} >> {1})",
    np.remainder: "(({0} % {1} + {1}) % {1})",
    np.floor_divide: "({0} / {1} - (({0} % {1} != 0) & (({0} < 0) != ({1} < 0))))",
    np.invert: "(~{0})",
}
# By a number that is not known: what NumPy has where it is negative, or as many places as there are.
_SHIFTED = {
    np.left_shift: "((unsigned long){1} < {n} ? {0} << ({1} & {n} - 1) : 0)",
    np.right_shift: "((unsigned long){1} < {n} ? {0} >> ({1} & {n} - 1) : -({0} < 0))",
}
MOST_ARRAYS = 30  # that a loop of its own may read and make
DIVIDING = frozenset({np.remainder, np.floor_divide})
_LOGICAL = {
    np.bitwise_and: np.logical_and,
    np.bitwise_or: np.logical_or,
    np.bitwise_xor: np.logical_xor,
    np.invert: np.logical_not,
}
# Of others. A choice is made inside of a call: a call under a condition is no vector.
_COMPOSED = {
    np.deg2rad: "({0} * (3.14159265358979323846{f} / 180.0{f}))",
    np.rad2deg: "({0} * (180.0{f} / 3.14159265358979323846{f}))",
    np.logaddexp: "(({0} > {1} ? {0} : {1}) + {log1p}({exp}(-{fabs}({0} == {1} ? 0 : {0} - {1}))))",
}
_SPECIAL = {"erf": "erf", "erfc": "erfc"}  # of SciPy's, by name
_OWN = frozenset({*_SPECIAL, "ndtr"})  # of SciPy's, but made of the C library's
# What NumPy calls the C library for, element by element, where C has vectors: worth a loop each.
_SLOW = frozenset({np.sin, np.cos, np.hypot, np.logaddexp})
SHOWN = 4  # functions in a warning
_NEVER = frozenset(
    {np.negative, np.positive, np.absolute, np.sign, np.maximum, np.minimum, np.floor}
)
SQRT_HALF = "0.70710678118654752440"
VECTORISED = [
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh"),
    *("tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "cbrt", "erf", "erfc"),
]
# What is an instruction; the others are calls, which the compiler must not fuse (sin and cos).
INSTRUCTIONS = ("sqrt", "fabs", "floor", "ceil", "trunc", "rint", "copysign")
# The exponential function where much is 0, as in a masked softmax: below its range, vectors of `expf`
# become single calls. Bits are taken away, since a condition would become a branch around the call.
EXP_OR_0 = """\
static inline float exp_or_0f(float x) {
  const int keep = -!(x < -104.0f);
  int bits;
  __builtin_memcpy(&bits, &x, 4), bits &= keep, __builtin_memcpy(&x, &bits, 4);
  x = expf(x);
  __builtin_memcpy(&bits, &x, 4), bits &= keep, __builtin_memcpy(&x, &bits, 4);
  return x;
}
"""
# x86 has this for vectors with AVX-512 only, and what is beside it would not be vectors either. The
# halves of the integer are put beside 2^52, and beside 2^84 + 2^63: the one rounding is the last sum's.
# GCC makes a truncation of a number that becomes an integer and a number again: -0.5 would be -0. The
# sum with 0 takes the sign, if the compiler does not see that it adds to an integer.
FROM_INTEGERS = """\
static inline double double_of_long(long x) {
#if defined(__x86_64__) && !defined(__AVX512DQ__)
  const unsigned long low = (x & 0xffffffffUL) | 0x4330000000000000UL;
  const unsigned long high = ((unsigned long)x >> 32) ^ 0x4530000080000000UL;
  double a, b;
  __builtin_memcpy(&a, &low, 8), __builtin_memcpy(&b, &high, 8);
  return b - 0x1.00000801p84 + a;
#else
  const double y = x;
  return y + 0.0;
#endif
}
static inline double double_of_int(int x) {
  const double y = x;
  return y + 0.0;
}
static inline float float_of(long x) {
  const float y = x;
  return y + 0.0f;
}
"""
# As NumPy divides with a remainder that has the sign of the divisor.
DIVISIONS = """\
static inline {T} remainder_np{f}({T} x, {T} y) {
  const {T} r = fmod{f}(x, y);
  if (r != 0 && (y < 0) != (r < 0)) return r + y;
  return r == 0 ? copysign{f}(0, y) : r;
}
static inline {T} floor_divide_np{f}({T} x, {T} y) {
  if (y == 0) return x / y;
  const {T} r = fmod{f}(x, y), q = (x - r) / y - (r != 0 && (y < 0) != (r < 0)), down = floor{f}(q);
  return q == 0 ? copysign{f}(0, x / y) : q - down > 0.5 ? down + 1 : down;
}
"""
# What is made of the C library's functions.
HELPERS = "".join(
    [
        EXP_OR_0,
        FROM_INTEGERS,
        *(
            DIVISIONS.replace("{T}", kind).replace("{f}", suffix)
            for kind, suffix in (("double", ""), ("float", "f"))
        ),
    ]
)
# Before a function, see NOTE [Narrow vectors] in c_nests.py.
NARROW = """\
#if defined(__x86_64__) && !defined(__clang__) && __GNUC__ >= 8
#define NARROW __attribute__((target("prefer-vector-width=256")))
#else
#define NARROW
#endif
"""
VECTORISED_TWO = ["pow", "atan2", "hypot"]


def fits(step: Step) -> bool:
    """Whether a step can be written in C, and is a loop of vectors there."""
    return not is_special(step) and can_be_said(step)


def is_special(step: Step) -> bool:
    """Whether a step is a function of SciPy's that C calls for each element, as SciPy does."""
    f = step.function
    return step.kind == UFUNC and f.__name__ not in _OWN and c_special.is_special(f)


def can_be_said(step: Step) -> bool:
    """Whether a step can be written in C."""
    if not all(v.dtype in TYPES for v in (*step.operands, *step.outs)):
        return False
    if step.kind == CAST:  # C leaves open what a number below 0 is without a sign
        return (step.operands[0].dtype.kind, step.out.dtype.kind) != ("f", "u")
    if step.kind in (WHERE, BITS):
        return True
    if step.kind == REDUCE:
        axes, keepdims = step.options
        whole = len(axes) == len(step.operands[0].shape) and not keepdims
        return whole and step.function is np.add and step.out.dtype.kind == "f"
    if step.kind != UFUNC:
        return False
    try:
        _expression(step, ["x"] * len(step.operands))
        kinds = step_dtypes(step)
    except NotLowerableError:
        return False
    return all(map(_holds, kinds, step.operands)) and _is_defined(step, kinds[0])


def _is_defined(step: Step, dtype: Any) -> bool:
    """Whether C says what a quotient of integers is: by a number that suits the dtype."""
    if step.function not in DIVIDING or dtype.kind == "f":
        return True
    by = step.operands[1]
    if dtype.kind not in "iu" or not is_number(by):
        return False
    value = int(by.value)  # type: ignore[attr-defined]
    if dtype.kind == "u":
        return value > 0
    return value not in (0, -1) and value.bit_length() < 30  # so that no sum is too large


def _holds(dtype: Any, value: Value) -> bool:
    """Whether a number is one of a dtype; NumPy raises for integers that are not, or compares them."""
    if dtype.kind not in "iu":
        return True
    if not is_number(value):
        return not value.weak or dtype == np.int64  # what an argument will be is not known
    info = np.iinfo(dtype)
    return bool(info.min <= value.value <= info.max)  # type: ignore[attr-defined]


def is_worth_it(group: Group) -> bool:
    """Whether a loop of its own beats NumPy's: two steps or a slow one, of operands NumPy takes."""
    is_short = len(group.steps) < 2 and group.steps[0].function not in _SLOW
    if is_short or len(group.inputs) + len(group.outs) > MOST_ARRAYS:
        return False
    if any(step.kind == REDUCE for step in group.steps):
        return all(v.shape in (group.shape, ()) for v in group.inputs)
    return bool(group.inputs) and all(v.shape == group.shape for v in group.outs)


def _expression(step: Step, texts: Sequence[str], dialect: Dialect = C) -> str:
    """The expression of a ufunc step; its operands have their loop's types already."""
    f = step.function
    kinds = step_dtypes(step)
    loop = kinds[0]
    if any(k not in TYPES for k in kinds) or loop == np.uint8:
        raise NotLowerableError(f.__name__)
    floating = loop.kind == "f"
    suffix = "f" if loop == np.float32 else ""
    if len(set(kinds[: len(texts)])) > 1:  # as NumPy compares integers with and without a sign
        raise NotLowerableError("of several dtypes")
    if loop.kind == "b":  # whose bytes may be more than 1
        f = _LOGICAL.get(f, f)
    elif floating and f in DIVIDING:
        return f"{f.__name__}_np{suffix}({texts[0]}, {texts[1]})"
    elif f in _BITWISE:
        places = 8 * loop.itemsize
        if f in _SHIFTED and not _is_within(step.operands[1], places):
            return _SHIFTED[f].format(*texts, n=places)
        template = "({0} % {1})" if f is np.remainder and loop.kind == "u" else _BITWISE[f]
        return template.format(*texts)
    if f is np.bitwise_count and loop.kind == "u":
        return f"{dialect.ones}({texts[0]})"
    if f is np.absolute and loop.kind in "iu":
        return f"({texts[0]} < 0 ? -{texts[0]} : {texts[0]})"
    if f in _INFIX:
        if f is np.divide and not floating:
            raise NotLowerableError("integer division")
        if loop.kind == "b" and f in (np.add, np.multiply):
            return f"({texts[0]} {'||' if f is np.add else '&&'} {texts[1]})"
        return f"({texts[0]} {_INFIX[f]} {texts[1]})"
    if f in _TEMPLATES:
        if f is np.sign and loop.kind in "iu":
            return f"(({texts[0]} > 0) - ({texts[0]} < 0))"
        if not floating and f in (np.reciprocal, np.isfinite, np.isinf, np.isnan):
            raise NotLowerableError("of integers")
        return _TEMPLATES[f].format(*texts)
    if floating and f in _COMPOSED:
        calls = {c: _call(c, suffix, dialect) for c in ("exp", "log1p", "fabs")}
        return _COMPOSED[f].format(*texts, f=suffix, **calls)
    if floating and f.__name__ == "ndtr":  # as SciPy does where it matters, below 0
        return f"(0.5{suffix} * erfc{suffix}(-{SQRT_HALF}{suffix} * {texts[0]}))"
    name = _LIBRARY.get(f) or (_SPECIAL.get(f.__name__) if f.__name__ in _SPECIAL else None)
    if name is None and floating and dialect is C and c_special.is_special(f):
        return c_special.call(f, texts, suffix)
    if name is None or not floating:
        raise NotLowerableError(f.__name__)
    return f"{_call(name, suffix, dialect)}({', '.join(texts)})"


def _is_within(value: Value, bound: int) -> bool:
    return is_number(value) and 0 <= int(value.value) < bound  # type: ignore[attr-defined]


def _call(name: str, suffix: str, dialect: Dialect) -> str:
    """The name of a function of the C library, in a dialect."""
    if name == "exp" and suffix and dialect is C:
        name = "exp_or_0"
    return f"{dialect.instruction if name in INSTRUCTIONS else ''}{name}{suffix}"


def prototypes() -> str:
    """Declarations of the C library's functions, by which loops over them become vectors."""
    simd = '__attribute__((simd("notinbranch"), const)) '
    lines = []
    for kind, suffix in (("double", ""), ("float", "f")):
        known = set(VECTORISED) | set(VECTORISED_TWO)
        for name in sorted({*_LIBRARY.values(), *_SPECIAL.values(), "fmod"}):
            two = name in ("atan2", "hypot", "pow", "copysign", "nextafter", "fmod")
            head = simd if name in known else ""
            lines.append(f"{head}{kind} {name}{suffix}({kind}{f', {kind}' if two else ''});")
    return "\n".join(lines) + "\n"


class Kernel:
    """The C source of a group's loop, called `name`, and how NumPy is to call it."""

    shared: Sequence[str] = ()  # what it has in common with others
    dialect = C
    is_wide = False  # NumPy passes the arrays as one array of objects

    def __init__(self, group: Group, name: str) -> None:
        self.group = group
        self.name = name
        self.sums = [s for s in group.steps if s.kind == REDUCE]
        self.inputs = group.inputs
        self.outs = group.outs
        # Truth values are as wide as the numbers, so that a loop over both becomes vectors.
        widths = [
            v.dtype.itemsize
            for step in group.steps
            for v in (*step.operands, step.out)
            if not is_number(v)
        ]
        self.flag = "long" if max(widths, default=8) == 8 else "int"
        self.signature = self._signature()
        self.text = self._text()

    def caller(self, loop: Any) -> Callable[..., Any]:
        """What is called for the ufunc `loop` that it has become."""
        return loop

    def same(self) -> Any:
        """What two kernels have in common of which one is enough: all but the name."""
        types = [v.dtype for v in (*self.inputs, *self.outs)]
        return self.text.replace(self.name, ""), self.signature, len(self.inputs), *types

    def title(self) -> str:
        """What NumPy says where it warns: the name, and the first functions that may overflow."""
        found = list(dict.fromkeys(_warning(getattr(self.group, "steps", ()))))
        shown = ", ".join(found[:SHOWN] + ["..."] * (len(found) > SHOWN))
        return f"{self.name} ({shown})" if shown else self.name

    def _signature(self) -> str | None:
        if not self.sums:
            return None
        sides = [
            ",".join("()" if not v.shape else "(n)" for v in values)
            for values in (self.inputs, self.outs)
        ]
        return "->".join(sides)

    def _text(self) -> str:
        values = [*self.inputs, *self.outs]
        count = len(values)
        whole = [k for k, v in enumerate(values) if v.shape == self.group.shape]
        fixed = [k for k in range(len(self.inputs)) if k not in whole]

        def lie_dense(places: Sequence[int]) -> str:
            texts = [f"s{k} == sizeof({self._type(values[k])})" for k in places]
            return " && ".join(texts) or "1"

        fixed_ok = "" if self.sums else "".join(f" && s{k} == 0" for k in fixed)
        lines = [
            f"void {self.name}(char **args, long const *dims, long const *steps, void *data) {{"
        ]
        if self.sums:
            lines.append("  for (long outer = 0; outer < dims[0]; outer++) {")
            lines.append("  long n = dims[1];")
        else:
            lines.append("  long n = dims[0];")
        core = 0
        for k, v in enumerate(values):
            offset = f" + outer * steps[{k}]" if self.sums else ""
            lines.append(f"  char *p{k} = args[{k}]{offset};")
            if not self.sums:
                lines.append(f"  long s{k} = steps[{k}];")
            elif v.shape:
                lines.append(f"  long s{k} = steps[{count + core}];")
                core += 1
        lines += [f"  {self._type(s.out)} total{i} = 0;" for i, s in enumerate(self.sums)]
        lines.append(f"  if ({lie_dense(whole)}{fixed_ok}) {{")
        lines += self._loop(dense=set(whole), fixed=set(fixed))
        if fixed and not self.sums:  # NumPy repeats them in a buffer where its loops get longer so
            lines.append(f"  }} else if ({lie_dense([*whole, *fixed])}) {{")
            lines += self._loop(dense={*whole, *fixed}, fixed=set())
        lines.append("  } else {")
        fixed_here = {k for k in fixed if self.sums}
        lines += self._loop(dense=set(), fixed=fixed_here)
        lines.append("  }")
        for i, s in enumerate(self.sums):
            k = len(self.inputs) + self.outs.index(s.out)
            lines.append(f"  *({self._type(s.out)} *)p{k} = total{i};")
        lines += ["  }"] * bool(self.sums) + ["}", ""]
        return "\n".join(lines)

    def _type(self, value: Value) -> str:
        return self.dialect.types[value.dtype]

    def _loop(self, dense: set[int], fixed: set[int]) -> list[str]:
        names: dict[Value, str] = {}
        head, body, tail = [], [], []
        for k, v in enumerate(self.inputs):
            kind = self._type(v)
            names[v] = f"x{k}"
            if k in fixed:
                head.append(f"    const {kind} x{k} = *({kind} *)p{k};")
            elif k in dense:
                body.append(f"const {kind} x{k} = (({kind} *)p{k})[i];")
            else:
                body.append(f"const {kind} x{k} = *({kind} *)(p{k} + i * s{k});")
        body += self._statements(names)
        for k, v in enumerate(self.outs, len(self.inputs)):
            kind = self._type(v)
            if v.shape != self.group.shape:
                continue
            if k in dense:
                tail.append(f"(({kind} *)p{k})[i] = {names[v]};")
            else:
                tail.append(f"*({kind} *)(p{k} + i * s{k}) = {names[v]};")
        lines = body + tail
        if not self.sums:
            pragma = ["    #pragma omp simd"] if dense else []
            loop = ["    for (long i = 0; i < n; i++) {", *[f"      {x}" for x in lines], "    }"]
            return [*head, *pragma, *loop]
        # Sums run over blocks, so that rounding errors do not grow with the length.
        parts = [f"part{i}" for i in range(len(self.sums))]
        adds = [
            f"part{i} += {self._cast(s.operands[0], s.out.dtype, names)};"
            for i, s in enumerate(self.sums)
        ]
        declared = [f"      {self._type(s.out)} part{i} = 0;" for i, s in enumerate(self.sums)]
        reduction = f" reduction(+:{', '.join(parts)})"
        return [
            *head,
            "    for (long start = 0; start < n; start += 1024) {",
            "      long stop = start + 1024 < n ? start + 1024 : n;",
            *declared,
            *([f"      #pragma omp simd{reduction}"] if dense else []),
            "      for (long i = start; i < stop; i++) {",
            *[f"        {x}" for x in (*lines, *adds)],
            "      }",
            *[f"      total{i} += part{i};" for i in range(len(parts))],
            "    }",
        ]

    def _statements(self, names: dict[Value, str]) -> list[str]:
        """The steps for one element but for the sums; their results get names."""
        lines = []
        for step in self.group.steps:
            if step.kind == REDUCE:
                continue
            names[step.out] = f"v{len(names)}"
            kind = self._type(step.out) if step.out.dtype.kind != "b" else self.flag
            lines.append(f"const {kind} {names[step.out]} = {self._step(step, names)};")
        return lines

    def _step(self, step: Step, names: dict[Value, str]) -> str:
        if step.kind == CAST:
            return self._cast(step.operands[0], step.out.dtype, names)
        if step.kind == BITS:
            (value,) = step.operands
            text = self._cast(value, value.dtype, names)
            return f"((union {{{self._type(value)} x; {self._type(step.out)} y;}}){{{text}}}).y"
        if step.kind == WHERE:
            condition, x, y = step.operands
            x_text, y_text = (self._cast(v, step.out.dtype, names) for v in (x, y))
            return f"({self._text_of(condition, names)} ? {x_text} : {y_text})"
        kinds = step_dtypes(step)
        texts = [self._cast(v, k, names) for v, k in zip(step.operands, kinds, strict=False)]
        return _expression(step, texts, self.dialect)

    def _cast(self, value: Any, dtype: Any, names: dict[Value, str]) -> str:
        if is_number(value):
            return number(value.value, dtype, self.dialect)
        text = self._text_of(value, names)
        if value.dtype == dtype:
            return text
        if dtype.kind == "b":
            return f"({text} != 0)"
        if value.dtype.kind == "b" and dtype.kind == "f":
            # A selection: without AVX-512 there is no conversion of long integers as vectors.
            return f"({text} ? {number(1, dtype, self.dialect)} : {number(0, dtype, self.dialect)})"
        if self.dialect is C and value.dtype.kind == "i" and dtype.kind == "f":
            name = "float_of" if dtype == np.float32 else f"double_of_{self._type(value)}"
            return f"{name}({text})"
        return f"(({self.dialect.types[dtype]}){text})"

    def _text_of(self, value: Any, names: dict[Value, str]) -> str:
        if is_number(value):
            return number(value.value, value.dtype, self.dialect)
        return names[value]


def _warning(steps: Sequence[Step]) -> Iterator[str]:
    """The names of the functions that may overflow and the like, also in loops."""
    for step in steps:
        if step.kind == UFUNC and step.function not in _NEVER:
            yield step.function.__name__
        yield from _warning(getattr(step.function, "steps", ()))


def number(x: Any, dtype: Any, dialect: Dialect = C) -> str:
    """A number in C, exactly.

    >>> number(0.1, np.dtype(np.float64)), number(2, np.dtype(np.float32))
    ('0x1.999999999999ap-4', '0x1.0000000000000p+1f')
    """
    if dtype.kind == "b":
        x = bool(x)
    if dtype.kind == "u":
        return f"(({dialect.types[dtype]}){int(x) % (1 << 8 * dtype.itemsize)}ull)"
    if dtype.kind != "f":
        return f"(({dialect.types[dtype]}){int(x)})"
    x = float(dtype.type(x))
    if not math.isfinite(x):
        text = dialect.nan if math.isnan(x) else dialect.inf
        return text if x > 0 or math.isnan(x) else f"(-{text})"
    text = x.hex() + ("f" if dtype == np.float32 else "")
    return f"({text})" if text[0] == "-" else text


# Registers for sums, of as many bytes as a vector has at most. EVEN(a, most): `a` in equal parts.
VECTORS = """\
#ifdef __AVX512F__
#define VECTOR 64
#define REGISTERS 24
#define ACCUMULATORS 24
#else
#define VECTOR 32
#define REGISTERS 10
#define ACCUMULATORS 12
#endif
// A vector that is in a register: compilers would read it again for each product.
#if defined(__AVX512F__)
#define KEEP(x) __asm__("" : "+v"(x))
#elif defined(__AVX__)
#define KEEP(x) __asm__("" : "+x"(x))
#else
#define KEEP(x)
#endif
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define PARTS(a, b) (((a) + (b) - 1) / (b))
#define EVEN(a, most) PARTS(a, PARTS(a, most))
void *aligned_alloc(unsigned long, unsigned long);
void free(void *);
"""


def sources(kernels: Sequence[Kernel]) -> str:
    """The whole file, without the declarations of the C library."""
    return "\n".join(
        dict.fromkeys([*(part for k in kernels for part in k.shared), *(k.text for k in kernels)])
    )
