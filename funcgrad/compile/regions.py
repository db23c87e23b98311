"""Regions: which whole stretches of a program run as one function in C, loops over rows included.

Layer 4½. Everything whose shapes are small enough and whose steps C can say is taken together. What is
left outside are products large enough for BLAS, what threads can share, and what only Python can do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from . import c_elements, c_linalg, c_source
from .c_conv import convolution_of
from .c_nests import REDUCTIONS
from .c_places import is_array_view
from .c_pool import pooling_of
from .c_products import are_tiled, is_product, sizes
from .c_source import TYPES
from .c_steps import with_steps
from .c_wide import is_wide
from .groups import MOST_STEPS, Group, grouped, is_number, ordered
from .parallel import LARGE
from .steps import (
    CALL,
    ELEMENTWISE,
    INDEX,
    KERNEL,
    LOOP,
    MOVES,
    PUT,
    REDUCE,
    TAKE,
    VIEW,
    Constant,
    Lowered,
    Step,
    Value,
    programs_of,
    with_programs,
)

FEW_SPECIAL = 1 << 10  # elements for which SciPy's loop would take less than to get there
HUGE = 1 << 24  # elements that are too many for memory between nests
FEW_PRODUCTS = 1 << 15  # multiplications that are done before BLAS has started
IN_TILES = 1 << 18  # up to which a call is not worth it, see own_products.py
IN_LOOP = 1 << 20  # up to which tiles are as fast as BLAS, and a loop in C is worth it
THIN = 16  # the widest matrix that is no good for BLAS
TINY = 10  # rows, columns or terms, of which BLAS takes longer to start with a product than for it
MANY = 8  # products of matrices that are worth a call
SHORT_ROW = 128  # elements
MANY_ROWS = 256  # that are worth a call


class Region:
    """Steps that run as one; it has what a group has. Any shape: the border is whole arrays."""

    shape = ()

    def __init__(self, steps: Sequence[Step], inputs: Sequence[Value], outs: Sequence[Value]):
        self.steps = list(steps)
        self.inputs = list(inputs)
        self.outs = list(outs)


# ---------------------------------------------------------------- which steps


def fits(step: Step, in_loop: bool = False) -> bool:
    """Whether a step can be in a region, or in a loop in one."""
    values = [*step.operands, *step.outs]
    if not all(v.dtype in TYPES and 0 < v.size < HUGE for v in values):
        return False
    if step.kind == VIEW:
        return is_array_view(step)
    if programs_of(step):
        runs = step.kind != LOOP or bool(step.options.length)
        in_loop = in_loop or step.kind == LOOP
        return runs and all(_program_fits(p, in_loop) for p in programs_of(step))
    if step.kind == PUT:
        return c_elements.fits(step)
    if c_source.is_special(step) and not in_loop and step.out.size > FEW_SPECIAL:
        return False
    return in_nest(step) or _is_small_product(step, in_loop) or c_linalg.fits(step)


def _program_fits(program: Lowered, in_loop: bool) -> bool:
    known = all(v.dtype in TYPES and v.size for v in (*program.inputs, *program.outs))
    return known and all(fits(s, in_loop) for s in program.steps)


def in_nest(step: Step) -> bool:
    if step.kind == REDUCE:
        return step.function in REDUCTIONS and step.out.dtype.kind in "fiu"
    if step.kind == CALL:
        if getattr(step.function, "name", None) not in MOVES:
            return False
        same = all(v.dtype == step.out.dtype for v in step.operands)
        slices = all(getattr(e, "step", 1) == 1 for e in step.options.get("index", ()))
        return same and slices and step.out.size > 1
    if step.kind in (INDEX, TAKE):
        return c_elements.fits(step)
    return step.kind in ELEMENTWISE and c_source.can_be_said(step)


def _is_small_product(step: Step, in_loop: bool) -> bool:
    """Whether a matrix product is too small or too thin for BLAS to be worth a call."""
    if not is_product(step):
        return False
    x, y = step.operands
    if step.function is np.dot and max(len(x.shape), len(y.shape)) > 2:
        return False
    if not all(v.dtype == step.out.dtype and v.dtype.kind == "f" for v in (x, y)):
        return False
    rows, columns, terms = sizes(step)
    least, middle, most = sorted((rows, columns, terms))
    work = step.out.size * terms
    if least == 1 and 2 * work <= LARGE:  # of a vector: as fast as BLAS, which waits for memory
        return True
    if are_tiled(rows, columns, terms, step.out.dtype.itemsize):
        return rows * columns * terms <= (IN_LOOP if in_loop else IN_TILES)
    is_thin = middle <= THIN and (least < TINY or most > THIN)
    return work <= FEW_PRODUCTS or (is_thin and work < 16 * LARGE)


def with_regions(program: Lowered) -> Lowered:
    """The program with groups and regions in place of their steps, as steps of kind `KERNEL`.

    Groups over large flat arrays come first, as threads can share them.
    """
    return with_steps(program, fits, _grouped)


def _grouped(program: Lowered) -> Lowered:
    program = grouped(_with_functions(program), _is_large, _is_flat)
    return grouped(_regions(program), c_source.fits, c_source.is_worth_it)


def _with_functions(program: Lowered) -> Lowered:
    """The program with what has a function of its own in C as steps of kind `KERNEL`; in loops too."""
    steps = []
    for step in program.steps:
        found = convolution_of(step) or pooling_of(step)
        if found is not None:
            step = Step(KERNEL, found, found.inputs, found.outs)
        elif step.kind == LOOP:
            step = with_programs(step, _with_functions)
        steps.append(step)
    return Lowered(program.inputs, steps, program.outs)


def _is_large(step: Step) -> bool:
    return c_source.fits(step) and max(v.size for v in (*step.operands, *step.outs)) >= LARGE


def _is_flat(group: Group) -> bool:
    flat = all(v.shape == group.shape or v.size == 1 for v in group.inputs)
    return flat and c_source.is_worth_it(group)


def _regions(program: Lowered) -> Lowered:
    maker = {v: s for s in program.steps for v in s.outs}
    runs = [
        run
        for run in _runs(program.steps, maker)
        if _is_worth_it(run) or _is_more_than_a_group(run, program)
    ]
    while True:
        taken = {step for run in runs for step in run}
        others = [s for s in program.steps if s not in taken and s.kind != VIEW]
        insides = [_inside(run, maker) for run in runs]
        needed = {*program.outs, *(v for s in others for v in _read(s))}
        needed.update(v for _, inputs in insides for v in inputs)
        views = []
        for step in reversed([s for s in program.steps if s.kind == VIEW]):
            if step.out in needed:
                needed.add(step.operands[0])
                views.append(step)
        found = [
            Region(steps, inputs, [v for s in run for v in s.outs if v in needed])
            for run, (steps, inputs) in zip(runs, insides, strict=True)
        ]
        if all(map(_is_callable, found)):
            break
        runs = [
            part
            for run, region in zip(runs, found, strict=True)
            for part in ([run] if _is_callable(region) else _parts(run, maker))
        ]
    steps = [Step(KERNEL, r, r.inputs, r.outs) for r in found]
    steps += [*reversed(views), *map(_with_regions, others)]
    return Lowered(program.inputs, ordered(steps), program.outs)


def _is_callable(region: Region) -> bool:
    """Whether a region is a ufunc's, or no smaller one can be made of it, such as one loop."""
    return not is_wide(region.inputs, region.outs) or sum(s.kind != VIEW for s in region.steps) == 1


def _parts(run: list[Step], maker: dict[Value, Step]) -> list[list[Step]]:
    """A run that is too large as two runs, without what hangs on nothing else and is not worth it."""
    clusters = _clusters(run, maker)
    worthy = [c for c in clusters if _is_worth_it(c)]
    if len(worthy) == len(clusters) == 1:
        middle = len(run) // 2
        halves = run[:middle], run[middle:]
        return [half for half in halves if _is_worth_it(half)]
    middle = (len(worthy) + 1) // 2
    packs = worthy[:middle], worthy[middle:]
    return [[step for cluster in pack for step in cluster] for pack in packs if pack]


def _clusters(run: list[Step], maker: dict[Value, Step]) -> list[list[Step]]:
    """The steps by what hangs together: one reads what another makes, views of it included.

    Numbers made of numbers alone come first, by themselves: they tie no two others together.
    """
    numbers: dict[Step, None] = {}
    clusters: dict[Step, list[Step]] = {}
    own = set(run)
    for step in run:
        origins = {_origin(v, maker) for v in step.operands} & own
        if origins <= numbers.keys() and not any(v.shape for v in (*step.operands, *step.outs)):
            numbers[step] = None
            continue
        joined = {id(clusters[s]): clusters[s] for s in origins - numbers.keys() if s}
        cluster = [s for c in joined.values() for s in c] + [step]
        clusters.update(dict.fromkeys(cluster, cluster))
    distinct = {id(c): c for c in clusters.values()}
    order = {step: i for i, step in enumerate(run)}
    found = [sorted(c, key=order.__getitem__) for c in distinct.values()]
    return [list(numbers), *found] if numbers else found


def _origin(value: Value, maker: dict[Value, Step]) -> Step | None:
    """The step that made a value or what it is a view of."""
    step = maker.get(value)
    while step is not None and step.kind == VIEW:
        step = maker.get(step.operands[0])
    return step


def _with_regions(step: Step) -> Step:
    return with_programs(step, _regions)


def _runs(steps: Sequence[Step], maker: dict[Value, Step]) -> list[list[Step]]:
    """The steps that can be in regions, views aside, as runs that need nothing made after them."""
    waiting = list(steps)
    done: set[Step] = set()
    able = {s: fits(s) for s in steps}
    runs: list[list[Step]] = []
    while waiting:
        for kind in (False, True):  # what C cannot say first: it may be of inputs alone
            run, left = [], []
            ahead = set(done)
            for step in waiting:
                ready = all(v not in maker or maker[v] in ahead for v in step.operands)
                if ready and able[step] == kind:
                    run.append(step)
                    if kind:
                        ahead.add(step)
                else:
                    left.append(step)
            done.update(run)
            waiting = left
            if kind and run:
                runs.append([s for s in run if s.kind != VIEW])
    return runs


def _is_worth_it(run: Sequence[Step]) -> bool:
    """Not what is one flat group of elementwise steps: that is less to call; nor most single steps."""
    if any(programs_of(s) or _is_many_products(s) or c_linalg.is_long(s) for s in run):
        return True
    shapes = {v.shape for s in run for v in (*s.operands, s.out) if v.shape}
    one_group = len(shapes) == 1 and all(s.kind in ELEMENTWISE and s.out.shape for s in run)
    return not one_group and (len(run) > 1 or any(map(_is_of_rows, run)))


def _is_of_rows(step: Step) -> bool:
    """Whether a step goes through many short rows, each of which NumPy begins anew with."""
    shape = max((v.shape for v in (*step.operands, step.out)), key=math.prod)
    rows, n = math.prod(shape[:-1]), math.prod(shape[-1:])
    return in_nest(step) and rows >= MANY_ROWS and n <= SHORT_ROW


def _is_more_than_a_group(run: Sequence[Step], program: Lowered) -> bool:
    """Whether there are too many steps, or arrays that come in and go out, for one group."""
    if len(run) < 2:
        return False
    made = {v for s in run for v in s.outs}
    own = set(run)
    read = {v for s in program.steps if s not in own for v in _read(s)}.union(program.outs)
    inputs = {v for s in run for v in s.operands if v not in made and not is_number(v)}
    return len(run) > MOST_STEPS or len(inputs) + len(made & read) > c_source.MOST_ARRAYS


def _is_many_products(step: Step) -> bool:
    """Whether a step is products of many matrices for each of which NumPy calls BLAS."""
    if step.kind != CALL or step.function is not np.matmul or len(step.out.shape) < 3:
        return False
    return math.prod(step.out.shape[:-2]) >= MANY


def _read(step: Step) -> list[Value]:
    """What a step reads; also the arrays that a loop's body has in it."""
    found = [v for v in step.operands if not is_number(v)]
    for program in programs_of(step):
        inside = (*(v for s in program.steps for v in _read(s)), *program.outs)
        found += [v for v in inside if v.__class__ is Constant and not is_number(v)]
    return found


def _inside(run: Sequence[Step], maker: dict[Value, Step]) -> tuple[list[Step], list[Value]]:
    """The steps of a run with the views that they read, in order; and what they read of others."""
    steps: dict[Step, None] = {}
    inputs: dict[Value, None] = {}
    own = set(run)

    def read(value: Value) -> None:
        step = maker.get(value)
        if step is not None and step.kind == VIEW and fits(step):
            if step not in steps:
                read(step.operands[0])
                steps[step] = None
        elif step not in own:
            inputs[value] = None

    for step in run:
        for value in _read(step):
            read(value)
        steps[step] = None
    return list(steps), list(inputs)
