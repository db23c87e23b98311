"""Loops of `lax.scan`, simplified: what a step need not do is done once, before the loop or after it.

Layer 4½. For loops that run at least once:

- what depends on closed-over values only is computed before the loop;
- a product of a row with a closed-over matrix is one product with all rows, before the loop;
- random numbers of a row's key are drawn for all rows, before the loop;
- a result that is the product of something with a closed-over matrix is one product, after it;
- a carry that only adds up products is one product too, of the operands of all steps, stacked.

Products change results by rounding: sums of products are added up in another order. Operands
are stacked for that only where they are not much larger than the product, and within `MOST_BYTES`.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence

from ..core import Aval, Primitive
from ..jaxpr import Atom, Eqn, Jaxpr, Literal, Var, does_something
from ..ops.arithmetic import add, multiply, negative, subtract
from ..ops.contract import dot_general, inverse_permutation, matmul
from ..ops.index import Slice, getitem
from ..ops.random import KEY_DTYPE
from ..ops.structural import broadcast_to, reshape, transpose
from ..ops.structural import sum as sum_along
from .contractions import Product, product_of
from .rewriter import Rewriter

MOST_BYTES = 1 << 26  # what a loop may stack beside its own results
WIDER = 8  # times that a product of a row may be larger than the row
THIN = 4  # rows of a matrix whose product with another one is slow
FEW = 64  # products that are added up for each number of a product that is slow

Axes = tuple[int, ...]
_ADDED: dict[int, Primitive] = {1: add, -1: subtract}
_SIGNS: dict[Primitive, Axes] = {add: (1, 1), subtract: (1, -1), negative: (-1,)}


class Loop:
    """A scan in parts, to be changed. `outside` are atoms of the program around it."""

    def __init__(self, r: Rewriter, eqn: Eqn, body: Jaxpr, inputs: Sequence[Atom]) -> None:
        self.r, self.eqn = r, eqn
        self.length: int = eqn.params["length"]
        self.eqns = list(body.eqns)
        self.made: dict[Atom, Eqn] = {v: e for e in self.eqns for v in e.outs}
        self.budget = MOST_BYTES
        counts = eqn.params["counts"]
        (consts, carries, rows), atoms = counts.parts(body.in_vars), counts.parts(inputs)
        self.outside: dict[Atom, Atom] = {}  # the values that no step changes
        self.consts: dict[Atom, Atom] = {}  # closed-over values of another type than their variable
        for var, atom in zip(consts, atoms[0], strict=True):
            self._close_over(var, atom)
        self.spread: dict[Atom, Eqn] = {}  # closed-over values that are broadcast in every step
        self.rows: dict[Atom, Atom] = dict(zip(rows, atoms[2], strict=True))
        self.results: dict[int, Atom] = {}  # those that are known
        self.carries: dict[
            int, tuple[Var, Atom, Atom]
        ] = {}  # the variable, its start, and the next
        for i, (var, start) in enumerate(zip(carries, atoms[1], strict=True)):
            same = body.outs[i] is var or body.outs[i] is start
            if same and start.aval == var.aval == eqn.outs[i].aval:
                self._close_over(var, start)
                self.results[i] = start
            else:
                self.carries[i] = (var, start, body.outs[i])
        outs = enumerate(body.outs[len(carries) :], len(carries))
        self.columns: dict[int, Atom] = dict(outs)
        self.stacked: dict[Atom, Atom | None] = dict.fromkeys(self.columns.values())
        self.later: list[Callable[[], None]] = []  # what follows the loop

    def _close_over(self, var: Atom, atom: Atom) -> None:
        (self.outside if atom.aval == var.aval else self.consts)[var] = atom

    # ------------------------------------------------------------ before the loop

    def hoist(self) -> None:
        """Compute what no step changes."""
        rest = []
        for eqn in self.eqns:
            if all(a.__class__ is Literal or a in self.outside for a in eqn.inputs):
                inputs = [self.outside.get(a, a) for a in eqn.inputs]
                self.outside.update(zip(eqn.outs, self.r.equation(eqn, inputs), strict=True))
                if eqn.prim is broadcast_to:
                    self.spread[eqn.outs[0]] = eqn
            else:
                rest.append(eqn)
        self.eqns = rest

    def multiply_rows(self) -> None:
        """Multiply all rows by a closed-over matrix."""
        for eqn in list(self.eqns):
            out = eqn.outs[0]
            product = self._product(out)
            found = None if product is None else self._by_matrix(product)
            if found is None or self._root(found.x) not in self.rows or not _is_thin(found):
                continue
            if out.aval.size <= WIDER * found.x.aval.size and self._afford([out]):
                self.rows[out] = self._of_all_steps(found)
                self.eqns.remove(eqn)

    def draw_rows(self) -> None:
        """Draw random numbers for all keys that are rows, or that are made of rows."""
        for eqn in list(self.eqns):
            out = eqn.outs[0]
            params = eqn.params
            if eqn.prim is getitem and out.aval.dtype == KEY_DTYPE:
                params = {"index": (Slice(0, self.length, 1), *params["index"])}
                rows = {0}
            elif eqn.prim.name.startswith("random_"):
                rows = {i for i, a in enumerate(eqn.inputs) if self._root(a) in self.rows}
            else:
                continue
            if self._may_draw(eqn, rows) and self._afford([out]):
                inputs = [
                    self._all(a) if i in rows else self.outside.get(a, a)
                    for i, a in enumerate(eqn.inputs)
                ]
                self.rows[out] = self.r.apply(eqn.prim, *inputs, **params)
                self.eqns.remove(eqn)

    def _may_draw(self, eqn: Eqn, rows: set[int]) -> bool:
        """Whether an axis in front of these operands is one in front of the result."""
        if eqn.prim is getitem:
            return len(eqn.inputs) == 1 and self._root(eqn.inputs[0]) in self.rows
        key, *others = (a.aval for a in eqn.inputs)
        known = [a.__class__ is Literal or a in self.outside for a in eqn.inputs]
        if eqn.prim.name == "random_fold_in":
            axes = [key.ndim - 1, others[0].ndim]
            whole = all(axes[i] == eqn.outs[0].aval.ndim - 1 for i in rows)
        else:  # parameters broadcast from the right
            whole = rows == {0}
        return bool(rows) and whole and all(k or i in rows for i, k in enumerate(known))

    # ------------------------------------------------------------ after the loop

    def multiply_results(self) -> None:
        """Stack the factors of results, not the products."""
        uses = self._uses()
        for i, out in list(self.columns.items()):
            product = self._product(out) if uses[out] == 1 else None
            found = None if product is None else self._by_matrix(product)
            if found is None or not _is_thin(found):
                continue
            if not self._stack([found.x], 2 * out.aval.size):
                continue
            del self.columns[i], self.stacked[out]
            self._later(i, functools.partial(self._of_all_steps, found))

    def sum_products(self) -> None:
        """Take out of the loop the products that a carry adds up, if it does nothing else."""
        uses = self._uses()
        waiting = []
        for i, (var, start, out) in list(self.carries.items()):
            terms = self._terms(var, out, uses)
            if terms is None or start.aval != var.aval:
                continue
            moved: list[tuple[Callable[[], Atom], int]] = []
            for atom, sign in list(terms):
                product = self._product(atom) if uses[atom] == 1 else None
                if (
                    product is None
                    or atom.aval != var.aval
                    or {*map(self._root, product.sides)} & self.outside.keys()
                ):
                    continue
                if _inner(product) <= FEW and self._stack(product.sides, atom.aval.size // 2):
                    terms.remove((atom, sign))
                    moved.append((functools.partial(self._over_all_steps, product), sign))
            waiting.append((i, var, start, terms, moved))
        for i, var, start, terms, moved in waiting:
            for atom, sign in list(terms):
                total = self._total(atom) if atom.aval == var.aval else None
                if total is not None:
                    terms.remove((atom, sign))
                    moved.append((total, sign))
            if moved:
                self._add_later(i, var, start, terms, moved)

    def _total(self, atom: Atom) -> Callable[[], Atom] | None:
        """The sum over all steps of what is stacked anyway, or of a sum of it."""
        made = self.made.get(atom)
        axis: Axes = ()
        if made is not None and made.prim is sum_along:
            (atom,), axis = made.inputs, tuple(a + 1 for a in made.params["axis"])
        if self._root(atom) not in self.rows and self._root(atom) not in self.stacked:
            return None
        return lambda: self.r.apply(sum_along, self._all(atom), axis=(0, *axis))

    def _add_later(
        self,
        i: int,
        var: Var,
        start: Atom,
        terms: Sequence[tuple[Atom, int]],
        moved: Sequence[tuple[Callable[[], Atom], int]],
    ) -> None:
        """The carry adds up `terms`; what is `moved` is added to the last of it."""
        del self.carries[i]
        if terms:
            out: Atom = var
            for atom, sign in terms:
                eqn = Eqn(_ADDED[sign], (out, atom), {}, (Var(var.aval),), self.eqn.source)
                self.eqns.append(eqn)
                out = eqn.outs[0]
            self.carries[i] = (var, start, out)

        def total() -> Atom:
            found = self.results.get(i, start)
            for make, sign in moved:
                found = self.r.apply(_ADDED[sign], found, make())
            return found

        self._later(i, total)

    def _later(self, i: int, make: Callable[[], Atom]) -> None:
        def step() -> None:
            self.results[i] = make()

        self.later.append(step)

    def _terms(self, var: Var, out: Atom, uses: Counter) -> list[tuple[Atom, int]] | None:
        """What a step adds to a carry that is read nowhere else, with signs; or None."""
        if uses[var] != 1 or var.aval.dtype.kind not in "fc" or var.aval.weak:
            return None
        found, left = [], [(out, 1)]
        while left:
            atom, sign = left.pop()
            made = self.made.get(atom)
            signs = None if made is None or uses[atom] > 1 else _SIGNS.get(made.prim)
            if made and signs and atom.aval == var.aval:
                left += [(a, sign * s) for a, s in zip(made.inputs, signs, strict=True)][::-1]
            else:
                found.append((atom, sign))
        if (var, 1) not in found or out is var:
            return None
        found.remove((var, 1))
        return found

    # ------------------------------------------------------------ products

    def _product(self, atom: Atom) -> Product | None:
        """How a value is a product of two arrays, if it is."""
        made = self.made.get(atom)
        if made is None:
            return None
        if made.prim is transpose:
            inner = self._product(made.inputs[0])
            if inner is None:
                return None
            return inner._replace(axes=tuple(inner.axes[a] for a in made.params["axes"]))
        if made.prim is multiply:
            return self._outer(made)
        return product_of(made, made.inputs) if made.prim in (matmul, dot_general) else None

    def _outer(self, eqn: Eqn) -> Product | None:
        """Of a product of numbers, if every axis comes from one of the two."""
        out, same = eqn.outs[0].aval, tuple(range(eqn.outs[0].aval.ndim))
        x, y = eqn.inputs
        kinds = {a.aval.dtype for a in (x, y, eqn.outs[0])}
        if len(kinds) > 1 or out.dtype.kind not in "fc" or x.aval.weak or y.aval.weak:
            return None
        shapes = [(1,) * (len(same) - a.aval.ndim) + a.aval.shape for a in (x, y)]
        if any(m != 1 and n != 1 for m, n in zip(*shapes, strict=True)):
            return None
        free = [tuple(a for a in same if s[a] != 1) for s in shapes]
        if not all(free) or len(free[0]) + len(free[1]) != len(same):
            return None
        x, y = (self._squeezed(a) for a in (x, y))
        order = inverse_permutation((*free[0], *free[1]))
        return Product(x, y, ((), ()), ((), ()), order)

    def _squeezed(self, atom: Atom) -> Atom:
        """The value without axes of length 1, as a variable that is made when it is stacked."""
        shape = tuple(n for n in atom.aval.shape if n != 1)
        if shape == atom.aval.shape:
            return atom
        made = Eqn(reshape, (atom,), {"shape": shape}, (Var(Aval(shape, atom.aval.dtype)),))
        self.made[made.outs[0]] = made
        return made.outs[0]

    def _by_matrix(self, p: Product) -> Product | None:
        """The product with what changes on the left, if the right never does and nothing moves."""
        known = [self._root(a) in self.outside for a in p.sides]
        if sorted(known) != [False, True] or p.batch != ((), ()) or not p.contracting[0] or p.moves:
            return None
        if known[1]:
            return p
        if p.free(1):
            return None
        return Product(p.y, p.x, p.contracting[::-1], p.batch, p.axes)

    def _of_all_steps(self, p: Product) -> Atom:
        """The products of every step's `x` with the one `y`."""
        (cx, cy) = p.contracting
        x, y = self._all(p.x), self._once(p.y)
        contracting = (tuple(a + 1 for a in cx), cy)
        return self.r.apply(dot_general, x, y, contracting=contracting, batch=p.batch)

    def _over_all_steps(self, p: Product) -> Atom:
        """The sum over all steps of a product."""
        contracting, batch = (
            tuple(tuple(a + 1 for a in axes) for axes in pair) for pair in (p.contracting, p.batch)
        )
        contracting = tuple((0, *axes) for axes in contracting)
        out = self.r.apply(
            dot_general, *map(self._all, p.sides), contracting=contracting, batch=batch
        )
        return self.r.apply(transpose, out, axes=p.axes)

    # ------------------------------------------------------------ what is stacked

    def _root(self, atom: Atom) -> Atom:
        """The value that another one shows, reshaped or transposed."""
        while not any(atom in known for known in (self.outside, self.rows, self.stacked)):
            made = self.made.get(atom)
            if made is None or made.prim not in (reshape, transpose):
                break
            (atom,) = made.inputs
        return atom

    def _all(self, atom: Atom) -> Atom:
        """All steps' values of what is stacked, or the same in all."""
        if atom in self.outside:
            shape = (self.length, *atom.aval.shape)
            return self.r.apply(broadcast_to, self.outside[atom], shape=shape)
        known = self.rows.get(atom) or self.stacked.get(atom)
        if known is not None:
            return known
        made = self.made[atom]
        inner = self._all(made.inputs[0])
        if made.prim is reshape:
            return self.r.apply(reshape, inner, shape=(self.length, *made.params["shape"]))
        return self.r.apply(transpose, inner, axes=(0, *(a + 1 for a in made.params["axes"])))

    def _once(self, atom: Atom) -> Atom:
        """A value that no step changes."""
        if atom in self.outside:
            return self.outside[atom]
        made = self.made[atom]
        return self.r.apply(made.prim, self._once(made.inputs[0]), **made.params)

    def _stack(self, atoms: Sequence[Atom], most: int) -> bool:
        """Have these values stacked, if that are not more than so many numbers in a step."""
        roots = {*map(self._root, atoms)} - self.rows.keys() - self.stacked.keys()
        if any(a.__class__ is Literal or a.aval.weak for a in roots):
            return False
        if not {*map(self._root, atoms)}.isdisjoint(self.consts):
            return False
        if sum(a.aval.size for a in roots) > most or not self._afford(roots):
            return False
        self.stacked.update(dict.fromkeys(roots))
        return True

    def _afford(self, atoms: Sequence[Atom] | set[Atom]) -> bool:
        size = self.length * sum(a.aval.size * a.aval.dtype.itemsize for a in atoms)
        if size > self.budget:
            return False
        self.budget -= size
        return True

    # ------------------------------------------------------------ the loop that is left

    def _uses(self) -> Counter[Atom]:
        found = Counter(a for eqn in self.eqns for a in eqn.inputs)
        found.update(out for _, _, out in self.carries.values())
        found.update(self.columns.values())
        return found

    def write(self) -> list[Atom]:
        """The equation of what is left, and what comes after it; the results."""
        for i, atom in self.columns.items():
            if atom in self.outside:
                self.results[i] = self._all(atom)
            elif atom in self.rows and self.rows[atom].aval == self.eqn.outs[i].aval:
                self.results[i] = self.rows[atom]
        for i in self.results.keys() & self.columns.keys():
            self.stacked.pop(self.columns.pop(i), None)
        if self.carries or self.stacked:
            self._write_loop()
        for i, atom in self.columns.items():
            self.results[i] = self.stacked[atom]  # type: ignore[assignment]
        for step in self.later:
            step()
        return [self.results[i] for i in range(len(self.eqn.outs))]

    def _write_loop(self) -> None:
        carries, columns = list(self.carries.values()), list(self.stacked)
        outs = [*(out for _, _, out in carries), *columns]
        eqns = _live([*self.spread.values(), *self.eqns], outs)
        bound = {*self.rows, *(var for var, _, _ in carries), *(v for e in eqns for v in e.outs)}
        read = dict.fromkeys([*(a for e in eqns for a in e.inputs), *outs])
        known = {**self.consts, **self.outside}
        numbers = {a: x for a, x in self.outside.items() if x.__class__ is Literal}
        eqns = [_with_inputs(e, [numbers.get(a, a) for a in e.inputs]) for e in eqns]
        outs = [numbers.get(a, a) for a in outs]
        consts = [a for a in read if a in known and a not in bound and a not in numbers]
        in_vars = [*consts, *(var for var, _, _ in carries), *self.rows]
        inputs = [*(known[a] for a in consts), *(s for _, s, _ in carries), *self.rows.values()]
        params = {
            **self.eqn.params,
            "jaxpr": Jaxpr(in_vars, eqns, outs),  # type: ignore[arg-type]
            "counts": self.eqn.params["counts"]._replace(consts=len(consts), carries=len(carries)),
        }
        avals = self.eqn.prim.aval(*[a.aval for a in inputs], **params)
        found = self.r.write(self.eqn.prim, inputs, params, avals, self.eqn.source)
        self.results.update(zip(self.carries, found, strict=False))
        self.stacked.update(zip(columns, found[len(carries) :], strict=True))


def _inner(p: Product) -> int:
    """How many products are added up for each number."""
    return math.prod(p.x.aval.shape[a] for a in p.contracting[0])


def _is_thin(p: Product) -> bool:
    """Whether `x` has so few rows that those of all steps together are faster."""
    return p.x.aval.size <= THIN * _inner(p)


def _with_inputs(eqn: Eqn, inputs: Sequence[Atom]) -> Eqn:
    return Eqn(eqn.prim, inputs, eqn.params, eqn.outs, eqn.source)


def _live(eqns: Sequence[Eqn], outs: Sequence[Atom]) -> list[Eqn]:
    """The equations that the results need, or that do something; of loops, what they need of those."""
    needed = {a for a in outs if a.__class__ is Var}
    found = []
    for eqn in reversed(eqns):
        if not needed.isdisjoint(eqn.outs) or does_something(eqn):
            if eqn.prim.name == "scan":
                eqn = trimmed(eqn, needed)
            found.append(eqn)
            needed.update(a for a in eqn.inputs if a.__class__ is Var)
    return found[::-1]


def live(jaxpr: Jaxpr) -> Jaxpr:
    """The program without what nothing uses, in loops too."""
    eqns = _live(jaxpr.eqns, jaxpr.outs)
    return Jaxpr(jaxpr.in_vars, eqns, jaxpr.outs, jaxpr.const_vars, jaxpr.consts)


def trimmed(eqn: Eqn, needed: set[Var]) -> Eqn:
    """A scan without the results, carries and operands that only others of these need."""
    body, counts = eqn.params["jaxpr"], eqn.params["counts"]
    first, count = counts.consts, counts.carries
    kept = [v in needed for v in eqn.outs]
    while True:
        outs = [a for a, k in zip(body.outs, kept, strict=True) if k]
        eqns = _live(body.eqns, outs)
        read = {a for e in eqns for a in e.inputs} | set(outs)
        more = [
            k or v in read for k, v in zip(kept, body.in_vars[first : first + count], strict=False)
        ]
        if more == kept[:count]:
            break
        kept[:count] = more
    used = [
        kept[i - first] if first <= i < first + count else v in read
        for i, v in enumerate(body.in_vars)
    ]
    if all(kept) and all(used):
        return eqn
    in_vars = [v for v, u in zip(body.in_vars, used, strict=True) if u]
    params = {
        **eqn.params,
        "jaxpr": Jaxpr(in_vars, eqns, outs, body.const_vars, body.consts),
        "counts": counts._replace(consts=sum(used[:first]), carries=sum(kept[:count])),
    }
    inputs = [a for a, u in zip(eqn.inputs, used, strict=True) if u]
    return Eqn(eqn.prim, inputs, params, [v for v, k in zip(eqn.outs, kept, strict=True) if k])


def known_numbers(jaxpr: Jaxpr, eqn: Eqn, inputs: Sequence[Atom]) -> list[Atom]:
    """The operands of a scan's body: its variables, but for numbers that no step changes."""
    counts = eqn.params["counts"]
    operands: list[Atom] = list(jaxpr.in_vars)
    for i, (var, atom) in enumerate(zip(jaxpr.in_vars, inputs, strict=True)):
        k = i - counts.consts
        fixed = k < 0 or (k < counts.carries and jaxpr.outs[k] is var)
        if fixed and atom.__class__ is Literal and atom.aval == var.aval:
            operands[i] = atom
    return operands


def rewritten(r: Rewriter, eqn: Eqn, body: Jaxpr, inputs: Sequence[Atom]) -> list[Atom]:
    """The results of a scan of a simplified body without constants, of at least one step."""
    loop = Loop(r, eqn, body, inputs)
    loop.hoist()
    loop.multiply_rows()
    loop.draw_rows()
    loop.multiply_results()
    loop.sum_products()
    return loop.write()
