"""Matrix products inside regions: tiles of the result that stay in registers.

Layer 4½. A tile is a few rows of a few vectors; for each term of its sums a vector of one operand is
multiplied by single elements of the other. BLAS does so too, but first copies both operands into
another order, which for products of few rows takes as long as they do. Here vectors lie along the rows
of the result, or its columns if the left operand lies that way; if neither does, what is to be
vectors is put in order, a strip at a time. Of a matrix and a vector several sums are made at once
too, since one alone waits for itself; their vectors lie as the matrix does. Products too small for
vectors are nests as any other.

Source: Goto, van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34(3), 2008.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .c_nests import Nest
from .c_places import Place
from .c_source import TYPES
from .steps import CALL, REDUCE, UFUNC, Step, Value

MOST_TERMS = 1024  # that one sum adds up, so that errors do not grow
LEAST_BYTES = 32  # of a row of the result, for vectors
FEW = 4  # rows for which operands are not put in order
WIDE = {2: 4, 3: 3, 4: 3}  # vectors beside each other in a tile, by rows; else two
LONG = 256  # terms after which a tile goes to memory, so that what it reads stays in the cache
HIGH = 128  # rows that go over a strip of the right operand one after another
MANY_TERMS = 512  # from which on two operands that lie term by term are both put in order
BLOCK = 1 << 17  # bytes of the left one that then stay in the cache


def is_product(step: Step) -> bool:
    return step.kind == CALL and step.function in (np.matmul, np.dot)


def sizes(step: Step) -> tuple[int, int, int]:
    """The rows, columns and terms of a product."""
    x, y = step.operands
    rows = x.shape[-2] if len(x.shape) > 1 else 1
    columns = y.shape[-1] if len(y.shape) > 1 else 1
    return rows, columns, x.shape[-1]


def are_tiled(rows: int, columns: int, terms: int, width: int) -> bool:
    """Whether products of such matrices, of elements of `width` bytes, go in tiles.

    Those of few rows may yet not, if vectors lie along neither operand.
    """
    is_wide = max(rows, columns) * width >= LEAST_BYTES
    is_tall = min(rows, columns) >= FEW  # and goes to memory after some terms
    return is_wide and min(rows, columns) > 1 and terms > 1 and (is_tall or terms <= MOST_TERMS)


def lines(kernel: Any, step: Step) -> list[str]:
    """The text of a product."""
    x, y = step.operands
    px, py, out = kernel.places[x], kernel.places[y], kernel.made(step.out)
    left = px.shown if len(x.shape) > 1 else px.shown[None]
    right = py.shown if len(y.shape) > 1 else py.shown[:, None]
    shown = out.shown if len(x.shape) > 1 else np.expand_dims(out.shown, -1 - (len(y.shape) > 1))
    shown = shown if len(y.shape) > 1 else shown[..., None]
    places = [p.showing(s) for p, s in ((px, left), (py, right), (out, shown))]
    function = _function(step.out.dtype, *places)
    if function is None:
        return _nest(kernel, step, *places)
    return _call(kernel, *function)


def _nest(kernel: Any, step: Step, x: Place, y: Place, out: Place) -> list[str]:
    """Products with a sum over the last axis of a nest."""
    dtype = step.out.dtype
    operands = []
    for place, array in (
        (x, x.shown[..., :, None, :]),
        (y, y.shown.swapaxes(-1, -2)[..., None, :, :]),
    ):
        operands.append(Value(array.shape, dtype))
        kernel.places[operands[-1]] = place.showing(array)
    shape = np.broadcast_shapes(*[v.shape for v in operands])
    products, total = Value(shape, dtype), Value(shape[:-1], dtype)
    kernel.given[total] = out
    steps = [
        Step(UFUNC, np.multiply, operands, [products]),
        Step(REDUCE, np.add, [products], [total], ((len(shape) - 1,), False)),
    ]
    if math.prod(shape) > 1:
        return Nest(kernel, shape, steps, set(), fused=True).lines()
    return kernel.nest(shape, steps, set())


def _function(dtype: Any, x: Place, y: Place, out: Place) -> tuple[Any, tuple[Place, ...]] | None:
    """The function of a product, and its operands; None if there is none."""
    (rows, terms), columns = x.shown.shape[-2:], y.shown.shape[-1]
    strides = [s for p in (x, y, out) for s in p.shown.strides[-2:]]
    found = function_of(dtype, rows, columns, terms, strides)
    if found is None:
        return None
    function, is_turned = found
    return function, (y, x, out) if is_turned else (x, y, out)


def function_of(
    dtype: Any, rows: int, columns: int, terms: int, strides: Sequence[int]
) -> tuple[Any, bool] | None:
    """The function of a product, and whether its operands change places.

    `strides`: two of each operand and of the result, in elements. None if the product is too small, or
    one of its sums too long.
    """
    width = dtype.itemsize
    xm, xk, yk, yn, zm, zn = strides
    is_vector = min(rows, columns) == 1 < max(rows, columns) and 1 < terms <= MOST_TERMS
    if not is_vector and not are_tiled(rows, columns, terms, width):
        return None
    is_turned = rows * width >= LEAST_BYTES and (columns * width < LEAST_BYTES or xm == 1 != yn)
    is_turned = columns == 1 or (is_turned and not is_vector)
    if is_turned:
        rows, columns = columns, rows
        xm, xk, yk, yn, zm, zn = yn, yk, xk, xm, zn, zm
    kind = TYPES[dtype]
    if is_vector:
        of_vector = _VectorFunction(kind, width, columns, terms, (xk, yk, yn, zn))
        fits = of_vector.is_along_columns or of_vector.is_along_terms
        return (of_vector, is_turned) if fits else None
    if yn != 1 and rows < FEW:
        return None
    return _Function(kind, width, rows, columns, terms, (xm, xk, yk, yn, zm, zn)), is_turned


def _call(kernel: Any, function: Any, places: tuple[Place, ...]) -> list[str]:
    """The call of a function, for each of a batch."""
    kernel.functions.update(function.needs)
    kernel.functions[function.name] = function.text()
    many = places[-1].shown.shape[:-2]
    pointers = []
    for place in places:
        batch = np.broadcast_to(place.shown, (*many, *place.shown.shape[-2:]))
        moves = [f"{s} * i{a}" for a, s in enumerate(batch.strides[:-2]) if s and many[a] > 1]
        offset = [str(place.offset)] * bool(place.offset)
        pointers.append(" + ".join([place.base, *moves, *offset]))
    loops = [f"for (long i{a} = 0; i{a} < {n}; i{a}++)" for a, n in enumerate(many) if n > 1]
    return [*loops, f"{function.name}({', '.join(pointers)});"]


class _Function(NamedTuple):
    """A product of matrices as a function in C; vectors lie along the columns.

    `strides`: of the left operand's rows and terms, the right one's terms and columns, and the
    result's rows and columns.
    """

    kind: str
    width: int
    rows: int
    columns: int
    terms: int
    strides: tuple[int, ...]

    @property
    def name(self) -> str:
        facts = "_".join(map(str, (*self[2:5], *self.strides))).replace("-", "m")
        return f"product_{self.kind}_{facts}"

    def text(self) -> str:
        return self._by_terms() if self._is_by_terms else self._by_rows()

    @property
    def _is_by_terms(self) -> bool:
        """Whether both operands lie term by term, and there are so many that they leave the cache."""
        xm, _, _, yn, _, zn = self.strides
        is_even = self.columns * self.width % (2 * 64) == 0
        return is_even and self.terms >= MANY_TERMS and self.rows >= 64 and xm == yn == zn == 1

    def _by_terms(self) -> str:
        _, xk, yk, _, zm, zn = self.strides
        facts = self._asdict() | {"xk": xk, "yk": yk, "zm": zm, "zn": zn, "step": "C * LANES"}
        facts |= {"rows_at": "block + i * LONG", "xr": 1, "xt": "DEEP"}
        facts["store"], load = DENSE.format(**facts), LOADED.format(**facts)
        most = BLOCK // (self.rows * self.width) // 64 * 64
        return BY_TERMS.format(
            **facts,
            name=self.name,
            long=min(max(most, 64), LONG),
            tile=TILE.format(**facts, load=load),
        )

    def _by_rows(self) -> str:
        xm, xk, yk, yn, zm, zn = self.strides
        facts = self._asdict() | {"xm": xm, "xk": xk, "yk": yk, "yn": yn, "zm": zm, "zn": zn}
        is_wide = self.columns * self.width >= 64
        wide = WIDE.get(self.rows, 2)
        order = self._order.format(**facts, turn="wide" if is_wide else "32")
        facts["step"] = "C * LANES" if order else yk
        facts["source"] = "panel" if order else f"right + j + start * {yk}"
        block = self._has_block
        facts["xr"], facts["xt"] = ("1", "DEEP") if block else (xm, xk)
        facts["rows_at"] = (
            "block + (i - top) / DEEP * APART + start * DEEP"
            if block
            else f"left + i * {xm} + start * {xk}"
        )
        facts["store"] = (DENSE if zn == 1 else SPREAD).format(**facts)
        facts["tile"] = TILE.format(**facts, load=(LOADED if zn == 1 else GATHERED).format(**facts))
        strips = "".join(
            STRIP.format(**facts, head=head, across=across, order=order)
            for head, across in ((WHOLE, wide), (REST, 1))
        )
        return FUNCTION.format(
            **facts,
            name=self.name,
            vector="VECTOR" if is_wide else "32",
            wide=wide,
            high=HIGH,
            long=LONG,
            take=TAKE.format(**facts) if block else "",
            fill=FILL.format(**facts) if block else "",
            give="  free(block);\n" if block else "",
            strips=strips,
        )

    @property
    def needs(self) -> dict[str, str]:
        """The functions that this one calls, by name."""
        turns = {"turn_" + self.kind: _turns(self.kind, self.width)}
        return turns if self._order == PANEL + TURNED else {}

    @property
    def _order(self) -> str:
        """What brings a strip of the right operand in order; nothing if it lies so."""
        _, _, yk, yn, _, _ = self.strides
        if yn == 1:
            return PANEL + COPIED if self.rows >= HIGH else ""
        last = self.terms % -(-self.terms // -(-self.terms // LONG))
        is_turned = yk == 1 and (last or LONG) * self.width >= 64 and self.terms * self.width >= 64
        return PANEL + (TURNED if is_turned else PICKED)

    @property
    def _has_block(self) -> bool:
        """Whether rows of the left operand are brought in order, since their terms lie in other lines
        of the cache, each of which has terms of many rows."""
        return self.strides[1] != 1 and self.rows >= HIGH and self.columns * self.width >= 256


def _turns(kind: str, width: int) -> str:
    """Functions that transpose as many vectors as one has elements: `wide` ones, and of 32 bytes."""
    wide, half = (_turn(kind, width, size) for size in (64, 32))
    named = half.replace("_32", "_wide")
    return f"{SHUFFLES}#ifdef __AVX512F__\n{wide}#else\n{named}#endif\n{half}"


def _turn(kind: str, width: int, size: int) -> str:
    lanes = size // width
    rounds, half = [], lanes // 2
    while half:
        low = [p + (lanes - half) * bool(p & half) for p in range(lanes)]
        places = [", ".join(str(p + shift) for p in low) for shift in (0, half)]
        rounds.append(ROUND.format(half=half, lanes=lanes, low=places[0], high=places[1]))
        half //= 2
    return TURN.format(
        kind=kind,
        whole={4: "int", 8: "long long"}[width],
        width=width,
        size=size,
        name="wide" if size == 64 else size,
        rounds="".join(rounds),
    )


# `left`: of which single elements are taken; `right`: of which vectors.
FUNCTION = """\
__attribute__((optimize("fp-contract=fast")))
static void {name}(const {kind} *left, const {kind} *right, {kind} *out) {{
#pragma clang fp contract(fast)
  typedef {kind} vec __attribute__((vector_size({vector}), aligned({width}), may_alias));
  enum {{
    LANES = {vector} / {width}, ROWS = {rows}, COLUMNS = {columns}, TERMS = {terms}, WIDE = {wide},
    DEEP = EVEN(ROWS, ACCUMULATORS / WIDE), LAST = ROWS - (PARTS(ROWS, DEEP) - 1) * DEEP,
    FULL = COLUMNS / (WIDE * LANES) * (WIDE * LANES), LONG = EVEN(TERMS, {long}),
    HIGH = PARTS(EVEN(ROWS, {high}), DEEP) * DEEP
  }};
{take}  for (long top = 0; top < ROWS; top += HIGH) {{
    const long end = LEAST(top + HIGH, ROWS - LAST);
    const int is_end = top + HIGH >= ROWS;
{fill}{strips}  }}
{give}}}
"""
# Of both operands some terms at a time, which are read as they lie.
BY_TERMS = """\
__attribute__((optimize("fp-contract=fast")))
static void {name}(const {kind} *left, const {kind} *right, {kind} *out) {{
#pragma clang fp contract(fast)
  typedef {kind} vec __attribute__((vector_size(VECTOR), aligned({width}), may_alias));
  enum {{
    LANES = VECTOR / {width}, ROWS = {rows}, COLUMNS = {columns}, TERMS = {terms}, C = 2,
    DEEP = EVEN(ROWS, ACCUMULATORS / C), TILES = PARTS(ROWS, DEEP), LAST = ROWS - (TILES - 1) * DEEP,
    LONG = EVEN(TERMS, {long}), LEFT = PARTS(TILES * DEEP * LONG * {width}, 64) * 64
  }};
  {kind} *block = aligned_alloc(64, LEFT + PARTS(COLUMNS * LONG * {width}, 64) * 64);
  {kind} *panels = block + LEFT / {width};
  for (long start = 0; start < TERMS; start += LONG) {{
    const long terms = LEAST(LONG, TERMS - start);
    for (long k = 0; k < terms; k++) {{
      const {kind} *from = left + (start + k) * {xk};
      {kind} *to = block + k * DEEP;
      for (long i = 0; i < ROWS - LAST; i += DEEP, from += DEEP, to += DEEP * LONG)
        __builtin_memcpy(to, from, DEEP * {width});
      for (long r = 0; r < LAST; r++) to[r] = from[r];
    }}
    for (long k = 0; k < terms; k++)
      for (long j = 0; j < COLUMNS; j += C * LANES)
        for (long c = 0; c < C * LANES; c += LANES)
          *(vec *)(panels + j * LONG + k * C * LANES + c)
            = *(const vec *)(right + (start + k) * {yk} + j + c);
    for (long j = 0; j < COLUMNS; j += C * LANES) {{
      const {kind} *from = panels + j * LONG;
      for (long i = 0; i < ROWS - LAST; i += DEEP) {{
        enum {{ R = DEEP }};
        {tile}
      }}
      {{
        enum {{ i = ROWS - LAST, R = LAST }};
        {tile}
      }}
    }}
  }}
  free(block);
}}
"""
# A block of rows, term by term for each tile; tiles are not in the same lines of the cache.
TAKE = """\
  enum {{ APART = (TERMS * DEEP + LANES - 1) / LANES * LANES + LANES }};
  {kind} *block = aligned_alloc(64, (HIGH / DEEP * APART * {width} + 63) / 64 * 64);
"""
FILL = """\
    for (long k = 0; k < TERMS; k++) {{
      const {kind} *from = left + top * {xm} + k * {xk};
      {kind} *to = block + k * DEEP;
      for (long i = top; i < end; i += DEEP, from += DEEP * {xm}, to += APART)
        if ({xm} == 1) __builtin_memcpy(to, from, DEEP * {width});
        else for (long r = 0; r < DEEP; r++) to[r] = from[r * {xm}];
      if (is_end) for (long r = 0; r < LAST; r++) to[r] = from[r * {xm}];
    }}
"""
WHOLE = "for (long j = 0; j < FULL; j += WIDE * LANES) {"
# The last vector ends where the row does: some of it is there already.
REST = """\
for (long k = FULL; k < COLUMNS; k += LANES) {
      const long j = LEAST(k, COLUMNS - LANES);"""
STRIP = """\
    {head}
      enum {{ C = {across} }};
      for (long start = 0; start < TERMS; start += LONG) {{
        const long terms = LEAST(LONG, TERMS - start);
{order}        const {kind} *from = {source};
        for (long i = top; i < end; i += DEEP) {{
          enum {{ R = DEEP }};
          {tile}
        }}
        if (is_end) {{
          enum {{ i = ROWS - LAST, R = LAST }};
          {tile}
        }}
      }}
    }}
"""
# A strip of the right operand, term by term.
PANEL = """\
      {kind} panel[LONG * C * LANES] __attribute__((aligned(64)));
"""
COPIED = """\
      for (long k = 0; k < terms; k++)
        for (long c = 0; c < C; c++)
          *(vec *)(panel + (k * C + c) * LANES)
            = *(const vec *)(right + j + (start + k) * {yk} + c * LANES);
"""
PICKED = """\
      for (long k = 0; k < terms; k++)
        for (long l = 0; l < C * LANES; l++)
          panel[k * C * LANES + l] = right[(j + l) * {yn} + (start + k) * {yk}];
"""
# The last terms are there already, some of them.
TURNED = """\
      for (long next = 0; next < terms; next += LANES)
        for (long l = 0; l < C * LANES; l += LANES) {{
          const long k = LEAST(next, terms - LANES);
          vec lines[LANES];
#pragma GCC unroll 16
          for (int n = 0; n < LANES; n++)
            lines[n] = *(const vec *)(right + (j + l + n) * {yn} + start + k);
          turn_{kind}_{turn}(lines);
#pragma GCC unroll 16
          for (int n = 0; n < LANES; n++) *(vec *)(panel + (k + n) * C * LANES + l) = lines[n];
        }}
"""
# In each round elements change places with those half a block of vectors and places away.
SHUFFLES = """\
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(places, x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(places, x, y, ...) __builtin_shuffle(x, y, (places){__VA_ARGS__})
#endif
"""
TURN = """\
static inline __attribute__((always_inline)) void turn_{kind}_{name}(void *lines) {{
  typedef {kind} vec __attribute__((vector_size({size}), aligned({width}), may_alias));
  typedef {whole} places __attribute__((vector_size({size})));
  vec *row = lines;
{rounds}}}
"""
ROUND = """\
#pragma GCC unroll 16
  for (int r = 0; r < {lanes}; r++)
    if (!(r & {half})) {{
      const vec x = row[r], y = row[r + {half}];
      row[r] = SHUFFLE(places, x, y, {low});
      row[r + {half}] = SHUFFLE(places, x, y, {high});
    }}
"""
TILE = """\
const {kind} *rows = {rows_at};
        vec sums[R][C];
        if (start) {{
          {load}
        }} else {{
#pragma GCC unroll 32
          for (int r = 0; r < R; r++)
#pragma GCC unroll 32
            for (int c = 0; c < C; c++) sums[r][c] = (vec){{0}};
        }}
        for (long k = 0; k < terms; k++) {{
          vec row[C];
#pragma GCC unroll 32
          for (int c = 0; c < C; c++) row[c] = *(const vec *)(from + k * {step} + c * LANES);
#pragma GCC unroll 32
          for (int r = 0; r < R; r++)
#pragma GCC unroll 32
            for (int c = 0; c < C; c++) sums[r][c] += row[c] * rows[r * {xr} + k * {xt}];
        }}
        {store}"""
LOADED = """\
#pragma GCC unroll 32
          for (int r = 0; r < R; r++)
#pragma GCC unroll 32
            for (int c = 0; c < C; c++)
              sums[r][c] = *(vec *)(out + (i + r) * {zm} + j + c * LANES);"""
GATHERED = """\
{kind} known[R][C * LANES];
          for (int r = 0; r < R; r++)
            for (int l = 0; l < C * LANES; l++) known[r][l] = out[(i + r) * {zm} + (j + l) * {zn}];
#pragma GCC unroll 32
          for (int r = 0; r < R; r++)
#pragma GCC unroll 32
            for (int c = 0; c < C; c++) sums[r][c] = *(const vec *)(known[r] + c * LANES);"""
DENSE = """\
#pragma GCC unroll 32
        for (int r = 0; r < R; r++)
#pragma GCC unroll 32
          for (int c = 0; c < C; c++) *(vec *)(out + (i + r) * {zm} + j + c * LANES) = sums[r][c];"""
SPREAD = """\
vec found[R][C];  // in memory, as `sums` is not
#pragma GCC unroll 32
        for (int r = 0; r < R; r++)
#pragma GCC unroll 32
          for (int c = 0; c < C; c++) found[r][c] = sums[r][c];
        for (int r = 0; r < R; r++)
          for (int l = 0; l < C * LANES; l++)
            out[(i + r) * {zm} + (j + l) * {zn}] = ((const {kind} *)found[r])[l];"""


class _VectorFunction(NamedTuple):
    """A product of a vector and a matrix as a function in C.

    `strides`: of the vector, of the matrix's terms and columns, and of the result.
    """

    kind: str
    width: int
    columns: int
    terms: int
    strides: tuple[int, ...]

    @property
    def name(self) -> str:
        facts = "_".join(map(str, (self.columns, self.terms, *self.strides))).replace("-", "m")
        return f"vector_product_{self.kind}_{facts}"

    @property
    def needs(self) -> dict[str, str]:
        return {}

    @property
    def is_along_columns(self) -> bool:
        return self.strides[2] == 1 and self.columns * self.width >= LEAST_BYTES

    @property
    def is_along_terms(self) -> bool:
        return self.strides[1] == 1 and self.terms * self.width >= LEAST_BYTES

    def text(self) -> str:
        length = self.columns if self.is_along_columns else self.terms
        return (ALONG_COLUMNS if self.is_along_columns else ALONG_TERMS).format(
            **dict(zip(("xk", "yk", "yn", "zn"), self.strides, strict=True)),
            name=self.name,
            kind=self.kind,
            width=self.width,
            columns=self.columns,
            terms=self.terms,
            vector="VECTOR" if length * self.width >= 64 else "32",
        )


VECTOR_HEAD = """\
__attribute__((optimize("fp-contract=fast")))
static void {name}(const {kind} *left, const {kind} *right, {kind} *out) {{
#pragma clang fp contract(fast)
  typedef {kind} vec __attribute__((vector_size({vector}), aligned({width}), may_alias));
  enum {{ LANES = {vector} / {width}, COLUMNS = {columns}, TERMS = {terms} }};
"""
# The last strip ends where the row does: some of it is there already.
ALONG_COLUMNS = (
    VECTOR_HEAD
    + """\
  enum {{ WIDE = EVEN(COLUMNS / LANES, ACCUMULATORS) }};
  for (long start = 0; start < COLUMNS; start += WIDE * LANES) {{
    const long j = LEAST(start, COLUMNS - WIDE * LANES);
    vec sums[WIDE];
#pragma GCC unroll 32
    for (int c = 0; c < WIDE; c++) sums[c] = (vec){{0}};
    for (long k = 0; k < TERMS; k++)
#pragma GCC unroll 32
      for (int c = 0; c < WIDE; c++)
        sums[c] += *(const vec *)(right + k * {yk} + j + c * LANES) * left[k * {xk}];
#pragma GCC unroll 32
    for (int c = 0; c < WIDE; c++)
      if ({zn} == 1) *(vec *)(out + j + c * LANES) = sums[c];
      else for (int l = 0; l < LANES; l++) out[(j + c * LANES + l) * {zn}] = sums[c][l];
  }}
}}
"""
)
ALONG_TERMS = (
    VECTOR_HEAD
    + """\
  enum {{ DEEP = EVEN(COLUMNS, 8), WHOLE = TERMS / LANES * LANES }};
  {kind} copy[TERMS];
  const {kind} *line = {xk} == 1 ? left : copy;
  if ({xk} != 1) for (long k = 0; k < TERMS; k++) copy[k] = left[k * {xk}];
  for (long start = 0; start < COLUMNS; start += DEEP) {{
    const long j = LEAST(start, COLUMNS - DEEP);
    vec sums[DEEP];
#pragma GCC unroll 32
    for (int c = 0; c < DEEP; c++) sums[c] = (vec){{0}};
    for (long k = 0; k < WHOLE; k += LANES) {{
      vec here = *(const vec *)(line + k);
      KEEP(here);
#pragma GCC unroll 32
      for (int c = 0; c < DEEP; c++) sums[c] += *(const vec *)(right + (j + c) * {yn} + k) * here;
    }}
    vec found[DEEP];  // in memory, as `sums` is not
#pragma GCC unroll 32
    for (int c = 0; c < DEEP; c++) found[c] = sums[c];
    for (long c = 0; c < DEEP; c++) {{
      {kind} total = 0;
#pragma GCC unroll 32
      for (int l = 0; l < LANES; l++) total += ((const {kind} *)(found + c))[l];
      for (long k = WHOLE; k < TERMS; k++) total += right[(j + c) * {yn} + k] * line[k];
      out[(j + c) * {zn}] = total;
    }}
  }}
}}
"""
)
