"""Large products of matrices that recur, as functions in C where these are faster than BLAS.

Layer 4½. A product of some shapes and strides is compiled in the background once it has taken long,
timed beside BLAS as NumPy has it, and the faster one is kept, in later runs too. NumPy's wheels bring
OpenBLAS, which on one thread takes 1.05 to 1.25 times as long as tiles of the right shape, and two to
three times as long where one matrix has few rows and the other is transposed, as in a layer.
"""

from __future__ import annotations

import math
import threading
from time import perf_counter
from typing import Any

import numpy as np

from .. import thin
from ..forks import renewed
from . import c_compiler
from .c_products import function_of
from .c_source import VECTORS, Kernel
from .config import code
from .decisions import Decision
from .sameness import is_same_result, largest
from .source import Source
from .steps import Step, Value

MANY = 1 << 31  # multiplications by BLAS after which a function is made: some 30 ms
MOST = 1 << 28  # of one product: for more, BLAS has better ways, and several threads
KEYS = 1 << 10  # kinds of products that are counted
ROUNDS = 20  # calls of each
GAIN = 0.95  # of BLAS's time that a function may take
THREAD = "funcgrad product"

_DTYPES = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
_loops: dict[Any, Any] = {}  # None: BLAS is to be used
_waiting: dict[Any, int] = {}  # multiplications that were done
_making = renewed(threading.Lock())


def product(x: Any, y: Any, out: Any) -> Any:
    """``x.dot(y, out)`` in C; None if that is not there (yet) or not faster."""
    key = x.dtype, x.shape, x.strides, y.dtype, y.shape, y.strides
    loop = _loops.get(key, _waiting)
    if loop is _waiting:
        loop = _counted(key)
    return None if loop is None or code() == "numpy" else loop(x, y, out)


def _counted(key: Any) -> Any:
    """The function, if a former run has found it to be worth its while; it may be in time."""
    if code() == "numpy":
        return None
    done = _waiting.get(key)
    if done is None:
        if len(_waiting) == KEYS:
            _waiting.clear()
        function = _Product.of(key)
        decided = None if function is None else _decision(function).code
        if function is None or decided == "numpy":
            return _known(key, None)
        if decided == "c":
            found = c_compiler.load([function], may_build=False)
            if found is not None:
                return _known(key, found[0])
        done = 0
    _, (rows, terms), _, _, (_, columns), _ = key
    done = _waiting[key] = done + rows * terms * columns
    if done > MANY:
        _waiting.pop(key, None)
        _known(key, None)
        made = _Product.of(key)
        threading.Thread(target=_build, args=(key, made), name=THREAD, daemon=True).start()
    return None


def _known(key: Any, loop: Any) -> Any:
    """Keep a function, or None for BLAS; the latter are forgotten when there are many."""
    if len(_loops) >= KEYS:
        for other in [k for k, found in list(_loops.items()) if found is None]:
            _loops.pop(other, None)
    _loops[key] = loop
    return loop


def _decision(function: _Product) -> Decision:
    return Decision("\n".join([*function.shared, function.text]))


def _build(key: Any, function: _Product) -> None:
    """Try the function from now on, if it can be had."""
    with _making:
        found = c_compiler.load([function])
    if found is not None:
        _loops[key] = _Trial(key, function, found[0])


class _Trial:
    """The calls that decide between a function and BLAS: by turns, with the work at hand."""

    def __init__(self, key: Any, function: _Product, loop: Any) -> None:
        self.key, self.function, self.loop = key, function, loop
        self.times: list[list[float]] = [[], []]

    def __call__(self, x: Any, y: Any, out: Any) -> Any:
        own, by_blas = self.times
        if not own:
            return self.compared(x, y, out)
        times, f = (own, self.loop) if len(own) <= len(by_blas) else (by_blas, thin.by_blas)
        start = perf_counter()
        out = f(x, y, out)
        times.append(perf_counter() - start)
        if len(by_blas) == ROUNDS:
            self.decide(min(own[1:]) < GAIN * min(by_blas))
        return out

    def compared(self, x: Any, y: Any, out: Any) -> Any:
        """The product by BLAS; compilers have faults, see NOTE [Chosen places] in c_nests.py."""
        own, out = self.loop(x, y), thin.by_blas(x, y, out)
        self.times[0].append(math.inf)
        if not is_same_result(own, out, largest(x) * largest(y) * len(y)):
            self.decide(False)
        return out

    def decide(self, is_faster: bool) -> None:
        _decision(self.function).make("c" if is_faster else "numpy")
        _loops[self.key] = self.loop if is_faster else None


class _Product(Kernel):
    """A product of some shapes and strides, as a loop of NumPy's."""

    name = "own_product"
    signature = "(m,k),(k,n)->(m,n)"

    def __init__(self, dtype: Any, sizes: Any, strides: Any, function: Any, turned: bool) -> None:
        rows, columns, terms = sizes
        self.inputs = [Value((rows, terms), dtype), Value((terms, columns), dtype)]
        self.outs = [Value((rows, columns), dtype)]
        self.shared = [VECTORS, *function.needs.values(), function.text()]
        self.text = LOOP.format(
            name=self.name,
            kind=function.kind,
            function=function.name,
            left=int(turned),
            right=int(not turned),
            strides=", ".join(str(s * dtype.itemsize) for s in strides),
        )

    @classmethod
    def of(cls, key: Any) -> _Product | None:
        """None where there is no such function, or BLAS is to be used anyway."""
        dtype, (rows, terms), x_strides, other, (inner, columns), y_strides = key
        if dtype is not other or dtype not in _DTYPES or terms != inner:
            return None
        if rows * columns * terms > MOST or min(rows, columns, terms) < 2:
            return None
        width = dtype.itemsize
        given = (*x_strides, *y_strides)
        if any(s <= 0 or s % width for s in given):
            return None
        strides = (*(s // width for s in given), columns, 1)
        if 1 not in strides[:2] or 1 not in strides[2:4]:
            return None
        found = function_of(dtype, rows, columns, terms, strides)
        return None if found is None else cls(dtype, (rows, columns, terms), strides, *found)

    def title(self) -> str:
        return "dot"


# NumPy copies what is not aligned; then the strides are others.
LOOP = """\
void {name}(char **args, long const *dims, long const *steps, void *data) {{
  static const long expected[6] = {{{strides}}};
  const long *given = steps + 3;
  int is_usual = dims[0] == 1;
  for (int a = 0; a < 6; a++) is_usual &= given[a] == expected[a];
  if (is_usual)
    {function}((const {kind} *)args[{left}], (const {kind} *)args[{right}], ({kind} *)args[2]);
  else for (long o = 0; o < dims[0]; o++)
    for (long i = 0; i < dims[1]; i++)
      for (long j = 0; j < dims[3]; j++) {{
        const char *x = args[0] + o * steps[0] + i * given[0];
        const char *y = args[1] + o * steps[1] + j * given[3];
        {kind} sum = 0;
        for (long k = 0; k < dims[2]; k++, x += given[1], y += given[2])
          sum += *(const {kind} *)x * *(const {kind} *)y;
        *({kind} *)(args[2] + o * steps[2] + i * given[4] + j * given[5]) = sum;
      }}
}}
"""


def named(source: Source, step: Step) -> str:
    """The name of a step's function in printed source; that of large products may be in C."""
    if step.function is np.dot and step.out.size * step.operands[0].shape[-1] >= thin.LEAST:
        return source.bind(dot, "dot")
    return source.function(step.function)


thin.own = product
dot = thin.dot
