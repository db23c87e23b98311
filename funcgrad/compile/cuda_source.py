"""Groups as CUDA: one kernel for each, with the same expressions as in C.

Layer 4½. A thread works on every so many elements, so any grid covers any size. What does not have
the group's shape is found by index arithmetic; arrays that are not dense are, by their strides. Full
sums are added up within threads, then within blocks; a second kernel adds up the blocks. The order of
additions depends on nothing but the size, so a sum is the same at every run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import c_source
from .c_source import TYPES, Dialect
from .groups import Group
from .lower import step_dtypes
from .steps import REDUCE, UFUNC, Step, Value

THREADS = 256  # of a block
MOST_BLOCKS = 4096  # enough for every device that there is
MOST_PARTS = 1024  # blocks that leave a part of a sum each
MOST_ARRAYS = 400  # whose addresses a kernel takes: these have to fit into 4 kB
SHORT = 1 << 30  # elements that are counted in 32 bits, which halves the price of a division
# As at the host: no product is fused with a sum, and divisions and roots are exact.
OPTIONS = ("--std=c++17", "--fmad=false")

CUDA = Dialect(
    {**TYPES, np.dtype(np.int64): "long long", np.dtype(np.bool_): "bool"},
    "",
    "__longlong_as_double(0x7ff8000000000000LL)",
    "__longlong_as_double(0x7ff0000000000000LL)",
    "__popcll",
)

SHARED = f"""\
// The sum over a block, in its first thread; `parts` has room for one number of every warp.
template <typename T> __device__ T block_sum(T x, T *parts) {{
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_down_sync(0xffffffffu, x, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < 32) {{
    x = threadIdx.x < {THREADS // 32} ? parts[threadIdx.x] : T(0);
    for (int offset = {THREADS // 64}; offset > 0; offset /= 2) {{
      x += __shfl_down_sync(0xffffffffu, x, offset);
    }}
  }}
  __syncthreads();
  return x;
}}
"""

# Where C leaves open what happens when an integer is too large; unsigned numbers wrap around.
_WRAPPING = {
    np.add: "{0} + {1}",
    np.subtract: "{0} - {1}",
    np.multiply: "{0} * {1}",
    np.negative: "0u - {0}",
    np.square: "{0} * {0}",
}


def fits(step: Step) -> bool:
    """Whether a step can be a part of a kernel."""
    if step.kind != REDUCE:
        is_helped = step.function in c_source.DIVIDING and step.out.dtype.kind == "f"
        return c_source.fits(step) and not is_helped
    (x,) = step.operands
    known = x.dtype in TYPES and step.out.dtype in TYPES
    return known and step.function is np.add and len(step.options[0]) == len(x.shape)


def is_worth_it(group: Group) -> bool:
    """Whether there is more than one step, and something to do."""
    arrays = len(group.inputs) + len(group.outs)
    enough = len(group.steps) > 1 and math.prod(group.shape) > 0
    return enough and bool(group.outs) and arrays <= MOST_ARRAYS


class Kernel(c_source.Kernel):
    """The CUDA source of a group, called `name`, and how it is launched.

    Its parameters: the address of the strides, which is 0 if all arrays are dense, the inputs, and
    the results. Numbers of Python are passed as such, everything else by address. A sum's parameter
    is where every block writes its part; `gather` is the kernel that adds these up.
    """

    shared = (SHARED,)
    dialect = CUDA

    def __init__(self, group: Group, name: str) -> None:
        self.group = group
        self.name = name
        self.gather = f"{name}_gather"
        self.flag = "bool"
        self.inputs, self.outs = group.inputs, group.outs
        self.size = math.prod(group.shape)
        self.sums = [s for s in group.steps if s.kind == REDUCE and s.out in self.outs]
        most = MOST_PARTS if self.sums else MOST_BLOCKS
        self.blocks = min(-(-self.size // THREADS), most)
        self.arrays = [k for k, v in enumerate(self.inputs) if not v.weak]
        self.index = "int" if self.size <= SHORT else "long long"
        self.text = self._text()

    def is_sum(self, out: Value) -> bool:
        """Whether a result is a sum over the group."""
        return any(s.out is out for s in self.sums)

    def strides(self, xs: Sequence[Any]) -> list[int]:
        """The strides of arrays along the group's axes; 0 for those that they lack."""
        ndim = len(self.group.shape)
        return [s for x in xs for s in [0] * (ndim - len(x.shape)) + list(x.strides)]

    # ------------------------------------------------------------ the text

    def _text(self) -> str:
        names: dict[Value, str] = {}
        reads = self._reads(names)
        statements = self._statements(names)
        writes = [f"y{k}[i] = {names[v]};" for k, v in enumerate(self.outs) if not self.is_sum(v)]
        adds = [
            f"sum{k} += {self._cast(s.operands[0], s.out.dtype, names)};"
            for k, s in enumerate(self.sums)
        ]
        index = self.index
        lines = [
            *[f"{self._type(s.out)} sum{k} = 0;" for k, s in enumerate(self.sums)],
            f"for ({index} i = ({index})blockIdx.x * {THREADS} + threadIdx.x; i < {self.size};",
            f"     i += ({index})gridDim.x * {THREADS}) {{",
            *[f"  {x}" for x in (*reads, *statements, *writes, *adds)],
            "}",
            *self._totals("blockIdx.x"),
        ]
        return self._function(self.name, self._parameters(), lines) + self._gathering()

    def _function(self, name: str, parameters: Sequence[str], lines: Sequence[str]) -> str:
        head = f'extern "C" __global__ void __launch_bounds__({THREADS}) {name}('
        return "\n".join(
            [head, *[f"    {p}," for p in parameters[:-1]], f"    {parameters[-1]}) {{"]
            + [f"  {x}" for x in lines]
            + ["}", ""]
        )

    def _parameters(self) -> list[str]:
        found = ["const long long *__restrict__ strides"]
        for k, v in enumerate(self.inputs):
            array = f"const {self._type(v)} *__restrict__ p{k}"
            found.append(f"const {self._type(v)} x{k}" if v.weak else array)
        return found + [f"{self._type(v)} *__restrict__ y{k}" for k, v in enumerate(self.outs)]

    def _reads(self, names: dict[Value, str]) -> list[str]:
        """Lines that read one element of every input."""
        dense, strided, reads = [], [], []
        ndim = len(self.group.shape)
        for k, v in enumerate(self.inputs):
            names[v] = f"x{k}"
            if v.weak:
                continue
            kind = self._type(v)
            row = self.arrays.index(k) * ndim
            axes = self._axes(v)
            if not axes:  # one number for all
                reads.append(f"const {kind} x{k} = *p{k};")
                continue
            terms = [f"c{a} * strides[{row + a}]" for a in axes]
            dense.append(f"o{k} = {self._place(v)} * (long long)sizeof({kind});")
            strided.append(f"o{k} = {' + '.join(terms)};")
            reads.append(f"const {kind} x{k} = *(const {kind} *)((const char *)p{k} + o{k});")
        if not dense:
            return reads
        offsets = ", ".join(line.split(" ")[0] for line in dense)
        coordinates = []
        for a, n in enumerate(self.group.shape):
            inner = math.prod(self.group.shape[a + 1 :])
            coordinates.append(f"const {self.index} c{a} = i / {inner} % {n};")
        return [
            f"long long {offsets};",
            "if (strides == 0) {",
            *[f"  {x}" for x in dense],
            "} else {",
            *[f"  {x}" for x in (*coordinates, *strided)],
            "}",
            *reads,
        ]

    def _axes(self, value: Value) -> list[int]:
        """The group's axes along which a value is not broadcast."""
        first = len(self.group.shape) - len(value.shape)
        return [first + a for a, n in enumerate(value.shape) if n != 1]

    def _place(self, value: Value) -> str:
        """Where in a dense array the element for place `i` is."""
        if value.shape == self.group.shape:
            return "i"
        axes, terms = self._axes(value), []
        shape = self.group.shape
        while axes:  # neighbours count as one axis
            last = axes.pop()
            first = last
            while axes and all(shape[a] == 1 for a in range(axes[-1] + 1, first)):
                first = axes.pop()
            inner, count = math.prod(shape[last + 1 :]), math.prod(shape[first : last + 1])
            offset = math.prod(value.shape[len(value.shape) - len(shape) + last + 1 :])
            place = "i" if inner == 1 else f"i / {inner}"
            place = place if inner * count == self.size else f"{place} % {count}"
            terms.append(place if offset == 1 else f"({place}) * {offset}")
        return f"({' + '.join(terms)})"

    def _step(self, step: Step, names: dict[Value, str]) -> str:
        if step.kind == UFUNC and step.function in _WRAPPING:
            kinds = step_dtypes(step)
            if kinds[0].kind == "i":
                kind = self.dialect.types[kinds[0]]
                texts = [
                    f"(unsigned {kind}){self._cast(v, k, names)}"
                    for v, k in zip(step.operands, kinds, strict=False)
                ]
                return f"(({kind})({_WRAPPING[step.function].format(*texts)}))"
        return super()._step(step, names)

    # ------------------------------------------------------------ sums

    def _totals(self, place: str) -> list[str]:
        """Lines that write the sums over the block."""
        kinds = dict.fromkeys(self._type(s.out) for s in self.sums)
        lines = [f"__shared__ {kind} {_room(kind)}[{THREADS // 32}];" for kind in kinds]
        for k, s in enumerate(self.sums):
            lines.append(f"sum{k} = block_sum(sum{k}, {_room(self._type(s.out))});")
        writes = [f"y{self.outs.index(s.out)}[{place}] = sum{k};" for k, s in enumerate(self.sums)]
        if writes:
            lines += ["if (threadIdx.x == 0) {", *[f"  {x}" for x in writes], "}"]
        return lines

    def _gathering(self) -> str:
        """The kernel of one block that adds up the parts, if there are several."""
        if not self.sums or self.blocks == 1:
            return ""
        parameters, lines, adds = [], [], []
        for k, s in enumerate(self.sums):
            kind = self._type(s.out)
            parameters.append(f"const {kind} *__restrict__ p{k}")
            lines.append(f"{kind} sum{k} = 0;")
            adds.append(f"  sum{k} += p{k}[i];")
        outs = [(self._type(s.out), self.outs.index(s.out)) for s in self.sums]
        parameters += [f"{kind} *__restrict__ y{k}" for kind, k in outs]
        lines += [f"for (int i = threadIdx.x; i < {self.blocks}; i += {THREADS}) {{", *adds, "}"]
        return self._function(self.gather, parameters, [*lines, *self._totals("0")])


def _room(kind: str) -> str:
    """The name of the shared memory for parts of a sum."""
    return f"parts_{kind.replace(' ', '_')}"
