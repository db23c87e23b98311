"""Hypothesis strategies for tests of gradients: arrays, shapes, axes, indices, trees.

Layer 5; needs Hypothesis. A *domain* is the 1-d array of the values that may be drawn, so its dtype
is the arrays' dtype, and it is shifted, filtered and concatenated like any array. Its values are
multiples of a power of two where that is possible: exact in float32 too, far from subnormal, and
never nearer to each other than a step. Everything is built, not filtered, and shrinks to small
shapes, to 1, -1 and 0.5, to `:` and to empty parameters.

    from hypothesis import given
    from funcgrad.testing import check_grads, strategies as fs

    @given(fs.arrays((3, 2), domain=fs.positive()))
    def test_entropy(p):
        check_grads(lambda p: -(p * np.log(p)).sum(), (p,))
"""

from __future__ import annotations

import functools
import math
import re
import string
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import tree
from ..core import aval_of, tangent_dtype
from ..errors import ArgumentError

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError as error:
    raise ImportError(
        "funcgrad.testing.strategies needs Hypothesis, which is not installed: "
        "pip install hypothesis, or pip install funcgrad[test]"
    ) from error

Shape = tuple[int, ...]
Between = tuple[int, int]

# ---------------------------------------------------------------- domains


class Domain(np.ndarray):
    """The values that may be drawn, as a 1-d array; its class tells it from an example array."""


def floats(low: float, high: float, *, count: int | None = None) -> Domain:
    """The multiples of a power of two from `low` to `high`: a hundred or two of them.

    `count`: that many evenly spaced numbers in their place, both ends included.

    >>> floats(-3, 3)[:3].tolist(), len(floats(-3, 3))
    ([-3.0, -2.9375, -2.875], 97)
    >>> floats(0, 1, count=5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if count is not None:
        return np.linspace(low, high, count).view(Domain)
    step = 2.0 ** math.floor(math.log2((high - low) / 96))
    steps = np.arange(math.ceil(low / step), math.floor(high / step) + 1)
    return (steps * step).view(Domain)


def positive(low: float = 0.1, high: float = 4.0) -> Domain:
    """Numbers greater than zero, with a margin.

    >>> float(positive().min())
    0.125
    """
    return floats(low, high)


def unit(margin: float = 0.05) -> Domain:
    """Numbers between 0 and 1, neither nearer than `margin`.

    >>> float(unit().min()), float(unit().max())
    (0.0546875, 0.9453125)
    """
    return floats(margin, 1 - margin)


def away_from(*points: float, margin: float = 0.1, domain: Domain | None = None) -> Domain:
    """The part of the domain (numbers from -3 to 3) that keeps `margin` from each of the points.

    >>> near = away_from(0.0, 1.0, margin=0.25)
    >>> 0.75 in near, 0.8125 in near
    (True, False)
    """
    domain = floats(-3, 3) if domain is None else domain
    near = [np.abs(domain - p) < margin for p in points]
    return domain[~np.any(near, axis=0)].view(Domain) if near else domain


def complexes(low: float = 0.3, high: float = 2.0, *, angle: float = 2.8) -> Domain:
    """Complex numbers of modulus `low` to `high`, no part 0, none near the negative real axis.

    `angle`: the largest argument, in radians.

    >>> 1 - 0.5j in complexes(), 1.0 in complexes()
    (True, False)
    """
    step = 2.0 ** math.floor(math.log2(high / 16))
    k = np.arange(-math.floor(high / step), math.floor(high / step) + 1)
    parts = k[k != 0] * step
    grid = np.add.outer(parts, 1j * parts).ravel()
    inside = (np.abs(grid) >= low) & (np.abs(grid) <= high) & (np.abs(np.angle(grid)) <= angle)
    return grid[inside].view(Domain)


def integers(low: int, high: int) -> Domain:
    """The integers from `low` to `high`, both included.

    >>> integers(-1, 2).tolist()
    [-1, 0, 1, 2]
    """
    return np.arange(low, high + 1).view(Domain)


def booleans() -> Domain:
    """False and True.

    >>> booleans().tolist()
    [False, True]
    """
    return np.array([False, True]).view(Domain)


def domain_for(dtype: Any) -> Domain:
    """Numbers of a dtype, around 0: what `arrays` draws from if it is given no domain.

    >>> domain_for(np.float32).dtype, domain_for(bool).tolist()
    (dtype('float32'), [False, True])
    """
    dtype = np.dtype(dtype)
    made = {"b": booleans, "i": lambda: integers(-3, 3), "u": lambda: integers(0, 6)}
    made |= {"f": lambda: floats(-3, 3), "c": complexes}
    if dtype.kind not in made:
        raise ArgumentError(f"domain_for: there are no numbers of dtype {dtype}")
    return made[dtype.kind]().astype(dtype).view(Domain)


@functools.lru_cache(maxsize=512)
def _by_simplicity(contents: bytes, dtype: Any) -> np.ndarray:
    domain = np.frombuffer(contents, dtype)
    return domain[sorted(range(len(domain)), key=lambda i: _complication(domain[i].item()))]


def _complication(x: Any) -> tuple[Any, ...]:
    """Sorts 1, -1, 0.5, -0.5, 2, -2, 4, 1.5, ..., 0, 0.25, ...: examples shrink towards the first."""
    if isinstance(x, complex):
        one, other = _complication(x.real), _complication(x.imag)
        return max(one, other), min(one, other), one
    if isinstance(x, int):
        return abs(x), x < 0
    if not math.isfinite(x) or x == 0.0:
        return len(repr(abs(x))), 2, 0.0, False, False
    is_power = math.frexp(x)[0] in (0.5, -0.5)
    digits, distance = len(repr(round(abs(x), 6))), abs(math.log2(abs(x)))
    return digits, 0 if is_power else 1, distance, abs(x) > 1, x < 0


# ---------------------------------------------------------------- arrays


@st.composite
def arrays(
    draw: Any, shape: Any = None, dtype: Any = None, *, domain: Domain | Sequence[Any] | None = None
) -> Any:
    """Arrays with elements of the domain (from -3 to 3), or of any one of a list of domains.

    `shape`: a shape, a length or a strategy of shapes; any small one without empty axes if it is
    not given. `dtype`: what the domain is cast to; by itself it chooses one, see `domain_for`.

    >>> from hypothesis import find
    >>> find(arrays(), lambda x: True)
    array(1.)
    >>> find(arrays((2,), np.float32, domain=unit()), lambda x: x[0] != x[1]).dtype
    dtype('float32')
    """
    shape = _shape(draw, shape)
    chosen = _chosen(draw, domain, dtype)
    found = draw(_numbers(len(chosen), math.prod(shape)))
    return chosen[np.array(found, dtype=int)].reshape(shape)


# Kept, because Hypothesis takes longer to build such strategies than to draw from them.
@functools.lru_cache(maxsize=512)
def _numbers(count: int, size: int) -> SearchStrategy[list[int]]:
    return st.lists(st.integers(0, count - 1), min_size=size, max_size=size)


@st.composite
def well_separated(
    draw: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    margin: float = 0.125,
    domain: Domain | Sequence[Any] | None = None,
) -> Any:
    """Arrays no two elements of which are nearer to each other than `margin`: for max, sort, median.

    `domain`: of whose values no two elements are equal; the margin is that of the domain then.

    Raises: ArgumentError: the domain has fewer values than the array has elements.

    >>> from hypothesis import find
    >>> find(well_separated((3,)), lambda x: True)
    array([ 1. , -1. ,  0.5])
    """
    shape = _shape(draw, shape)
    size = math.prod(shape)
    if domain is None:
        half = max(24, size // 2)
        domain = (np.arange(-half, half + 1) * margin).view(Domain)
    chosen = _chosen(draw, domain, dtype)
    if len(chosen) < size:
        raise ArgumentError(
            f"well_separated: a domain of {len(chosen)} values cannot fill the shape {shape} with "
            f"different ones; give a larger domain"
        )
    return chosen[draw(_places(len(chosen), size))].reshape(shape)


@st.composite
def _places(draw: Any, count: int, size: int) -> Any:
    """`size` different numbers below `count`; they shrink to 0, 1, 2, ..."""
    left = list(range(count))
    found = [left.pop(draw(st.integers(0, count - 1 - i))) for i in range(size)]
    return np.array(found, dtype=int)


def _chosen(draw: Any, domain: Any, dtype: Any) -> np.ndarray:
    """The values to draw from."""
    if domain is None:
        domain = domain_for(np.float64 if dtype is None else dtype)
    elif isinstance(domain, list | tuple):
        domain = draw(st.sampled_from(domain))
    return by_simplicity(np.asarray(domain) if dtype is None else np.asarray(domain).astype(dtype))


def by_simplicity(domain: np.ndarray) -> np.ndarray:
    """The values, simplest first."""
    return _by_simplicity(domain.tobytes(), domain.dtype)


def _shape(draw: Any, shape: Any) -> Shape:
    if shape is None:
        shape = shapes(side=(1, 3))
    found = draw(shape) if isinstance(shape, SearchStrategy) else shape
    return (found,) if isinstance(found, int) else tuple(found)


@st.composite
def spd(draw: Any, n: Any = None, *, lead: Any = (), dtype: Any = np.float64) -> Any:
    """Symmetric (Hermitian) positive definite matrices, with eigenvalues from 1 to ``1 + 4 n**2``.

    `n`: how many rows, a number or a strategy (0 to 3). `lead`: the shape of a stack of them.

    >>> from hypothesis import find
    >>> find(spd(2), lambda a: True)
    array([[3., 2.],
           [2., 3.]])
    """
    n = _count(draw, n)
    part = draw(arrays((*_shape(draw, lead), n, n), dtype, domain=_entries(dtype)))
    return np.eye(n, dtype=dtype) + part @ part.swapaxes(-1, -2).conj()


@st.composite
def orthogonal(draw: Any, n: Any = None, *, dtype: Any = np.float64) -> Any:
    """Orthogonal (unitary) matrices: products of up to `n` reflections; fewest first.

    >>> from hypothesis import find
    >>> find(orthogonal(2), lambda q: True)
    array([[1., 0.],
           [0., 1.]])
    """
    n = _count(draw, n)
    q = np.eye(n, dtype=dtype)
    normals = away_from(0.0, domain=_entries(dtype))
    for _ in range(draw(st.integers(0, n))):
        v = draw(arrays((n,), dtype, domain=normals))
        q = q - np.outer(2 * (q @ v) / np.vdot(v, v), v.conj())
    return q


def _entries(dtype: Any) -> Domain:
    """Of modulus 2 at most."""
    return complexes() if np.dtype(dtype).kind == "c" else floats(-2, 2)


def _count(draw: Any, n: Any) -> int:
    n = st.integers(0, 3) if n is None else n
    return draw(n) if isinstance(n, SearchStrategy) else n


@st.composite
def directions(draw: Any, like: Any) -> Any:
    """Trees of arrays of the shapes and dtypes of those in `like`, with elements from -1 to 1.

    What has no floating dtype gets a direction of float64.

    >>> from hypothesis import find
    >>> find(directions({"w": np.zeros((1, 2), np.float32)}), lambda t: True)
    {'w': array([[1., 1.]], dtype=float32)}
    """
    leaves, treedef = tree.flatten(like)
    found = []
    for aval in map(aval_of, leaves):
        dtype = tangent_dtype(aval.dtype)
        domain = complexes(0.0, 1.0, angle=math.pi) if dtype.kind == "c" else floats(-1, 1)
        found.append(draw(arrays(aval.shape, dtype, domain=domain)))
    return tree.unflatten(treedef, found)


# ---------------------------------------------------------------- shapes and axes


def shapes(*, ndim: Between = (0, 3), side: Between = (0, 3)) -> SearchStrategy[Shape]:
    """Shapes with ndim and sides in the given ranges, both ends included.

    >>> from hypothesis import find
    >>> find(shapes(ndim=(1, 3), side=(1, 4)), lambda shape: len(shape) > 1)
    (1, 1)
    """
    return st.lists(st.integers(*side), min_size=ndim[0], max_size=ndim[1]).map(tuple)


def broadcastable(
    count: int, *, ndim: Between = (0, 3), side: Between = (0, 3)
) -> SearchStrategy[tuple[Shape, ...]]:
    """`count` shapes that broadcast together.

    >>> from hypothesis import find
    >>> find(broadcastable(2, side=(1, 3)), lambda found: len(found[0]) < len(found[1]))
    ((), (1,))
    """
    return _broadcastable(count, *ndim, *side)


@functools.lru_cache(maxsize=512)
@st.composite
def _broadcastable(draw: Any, count: int, least: int, most: int, *side: int) -> tuple[Shape, ...]:
    columns, found = draw(_columns(count, least, most, *side)), []
    for k in range(1, count + 1):
        ways = [c[k] for c in columns]
        first = max((a + 1 for a, w in enumerate(ways) if w == "missing"), default=0)
        found.append(tuple(1 if c[k] == "one" else c[0] for c in columns[first:]))
    return tuple(found)


@functools.lru_cache(maxsize=512)
def _columns(count: int, least: int, most: int, *side: int) -> SearchStrategy[list[Any]]:
    """Axis by axis, so that one can be left out when an example shrinks."""
    ways = [st.sampled_from(["whole", "one", "missing", "whole"])] * count
    return st.lists(st.tuples(st.integers(*side), *ways), min_size=least, max_size=most)


def axis(ndim: int, *, negative: bool = False) -> SearchStrategy[int]:
    """An axis in normal form; with `negative`, also counted from the end.

    >>> from hypothesis import find
    >>> find(axis(3, negative=True), lambda a: a < 0)
    -1
    """
    return st.integers(-ndim if negative else 0, ndim - 1)


@st.composite
def axes(draw: Any, ndim: int, *, least: int = 0, negative: bool = False) -> tuple[int, ...]:
    """Different axes, `least` or more: sorted and in normal form, or with `negative` neither.

    >>> from hypothesis import find
    >>> find(axes(3, least=2), lambda found: True)
    (0, 1)
    """
    found = draw(_places(ndim, draw(st.integers(least, ndim)))).tolist()
    if not negative:
        return tuple(sorted(found))
    return tuple(a - ndim if draw(st.booleans()) else a for a in found)


class Signature(NamedTuple):
    """Shapes that fit a gufunc: of the operands, and of the results."""

    operands: tuple[Shape, ...]
    results: tuple[Shape, ...]


@st.composite
def signature(draw: Any, text: str, *, ndim: Between = (0, 2), side: Between = (0, 3)) -> Signature:
    """Shapes for a gufunc of this signature, with leading axes that broadcast.

    A name with a question mark may be missing, and a number is that length.
    `ndim`: how many leading axes; `side`: the lengths.

    Raises: ArgumentError: the text is no signature.

    >>> from hypothesis import find
    >>> find(signature("(m,k),(k,n)->(m,n)", side=(1, 3)), lambda s: len(s.results[0]) == 3)
    Signature(operands=((1, 1, 1), (1, 1, 1)), results=((1, 1, 1),))
    """
    operands, results = _parsed(text)
    names = sorted({n for core in (*operands, *results) for n in core})
    sizes = {n: int(n) if n.isdigit() else draw(st.integers(*side)) for n in names}
    missing = {n for n in names if n.endswith("?") and draw(st.booleans())}

    def core(of: list[str]) -> Shape:
        return tuple(sizes[n] for n in of if n not in missing)

    leads = draw(broadcastable(len(operands), ndim=ndim, side=side))
    whole = np.broadcast_shapes(*leads)
    return Signature(
        tuple((*lead, *core(of)) for lead, of in zip(leads, operands, strict=True)),
        tuple((*whole, *core(of)) for of in results),
    )


def _parsed(text: str) -> tuple[list[list[str]], list[list[str]]]:
    """The names of the core axes of every operand and every result."""
    compact = "".join(text.split())
    core = r"\((?:\w+\??(?:,\w+\??)*)?\)"
    if not re.fullmatch(rf"{core}(?:,{core})*->{core}(?:,{core})*", compact):
        raise ArgumentError(
            f"signature: {text!r} is no signature of a gufunc; one looks like '(m,k),(k,n)->(m,n)'"
        )
    sides = compact.split("->")
    left, right = ([re.findall(r"\w+\??", c) for c in re.findall(core, s)] for s in sides)
    return left, right


class Einsum(NamedTuple):
    """A call of einsum: ``np.einsum(spec, *operands)``."""

    spec: str
    operands: tuple[Any, ...]


@st.composite
def einsum_specs(
    draw: Any,
    *,
    operands: Between = (1, 3),
    side: Between = (1, 3),
    domain: Domain | Sequence[Any] | None = None,
) -> Einsum:
    """Specifications of einsum with operands: contractions, diagonals, ellipses, any output.

    `operands`: how many. A letter may occur twice in one operand, and an axis of length 1 behind
    an ellipsis broadcasts.

    >>> from hypothesis import find
    >>> find(einsum_specs(), lambda call: "->" in call.spec and len(call.operands) == 2).spec
    ',->'
    """
    count = draw(st.integers(*operands))
    letters = string.ascii_lowercase[:4]
    sizes = {letter: draw(st.integers(*side)) for letter in letters}
    terms = [draw(st.text(letters, max_size=3)) for _ in range(count)]
    dotted = draw(st.booleans())
    with_lead = [dotted and draw(st.booleans()) for _ in range(count)]
    leads = draw(broadcastable(count, ndim=(0, 2), side=side))
    parts, found = [], []
    for term, lead, has_lead in zip(terms, leads, with_lead, strict=True):
        place = draw(st.integers(0, len(term))) if has_lead else 0
        dots, lead = ("...", lead) if has_lead else ("", ())
        parts.append(term[:place] + dots + term[place:])
        shape = [sizes[c] for c in term]
        found.append(draw(arrays((*shape[:place], *lead, *shape[place:]), domain=domain)))
    used = sorted(set("".join(terms)))
    spec = ",".join(parts)
    if not draw(st.booleans()):
        kept = [used[i] for i in draw(_places(len(used), draw(st.integers(0, len(used)))))]
        spec += "->" + "..." * any(with_lead) + "".join(kept)
    return Einsum(spec, tuple(found))


# ---------------------------------------------------------------- indices


@st.composite
def indices(draw: Any, shape: Shape, *, duplicates: bool = True, basic: bool = False) -> Any:
    """Whatever may stand in the brackets of an array of this shape.

    Integers, slices, an ellipsis, new axes and, unless `basic`, boolean masks and arrays of
    integers that broadcast together. `duplicates`: an element may be picked more than once.

    >>> from hypothesis import find
    >>> find(indices((3, 2), basic=True), lambda index: np.ones((3, 2))[index].shape == (3,))
    (slice(None, None, None), 0)
    >>> x = np.arange(3)
    >>> find(indices(x.shape), lambda index: len(set(x[index].flat)) < x[index].size)
    array([0, 0])
    """
    entries = {} if basic or not draw(st.booleans()) else draw(_array_entries(shape, duplicates))
    index: list[Any] = []
    a = 0
    while a < len(shape):
        entry = entries[a] if a in entries else draw(_basic_entry(shape[a]))
        index.append(entry)
        a += entry.ndim if _is_mask(entry) else 1
    return draw(_abbreviated(index))


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, np.ndarray) and entry.dtype == bool


@st.composite
def _array_entries(draw: Any, shape: Shape, duplicates: bool) -> dict[int, Any]:
    """Masks and index arrays by the (first) axis that they index; together they broadcast."""
    found: dict[int, Any] = {}
    places = list(draw(axes(len(shape), least=min(1, len(shape)))))
    block = draw(shapes(ndim=(0, 2)))
    if places and draw(st.booleans()):
        first = places[draw(st.integers(0, len(places) - 1))]
        covered = shape[first : first + draw(st.integers(1, 2))]
        mask = found[first] = draw(arrays(covered, domain=booleans()))
        places = [p for p in places if p not in range(first, first + mask.ndim)]
        block = (int(mask.sum()),)  # and its elements differ already
        duplicates = True
    places = [p for p in places if shape[p]]
    sizes = [shape[p] for p in places]
    if duplicates:
        indexing = [draw(arrays(draw(_part_of(block)), domain=integers(0, n - 1))) for n in sizes]
    else:
        total = math.prod(sizes)
        block = block if math.prod(block) <= total else (total,)
        flat = draw(_places(total, math.prod(block))).reshape(block)
        indexing = list(np.unravel_index(flat, sizes)) if sizes else []
    for p, n, k in zip(places, sizes, indexing, strict=True):
        from_end = draw(arrays(k.shape, domain=booleans()))
        found[p] = np.asarray(
            k - n * from_end, draw(st.sampled_from([np.int64, np.int32, np.int8]))
        )
    return found


@st.composite
def _part_of(draw: Any, block: Shape) -> Shape:
    """A shape that broadcasts to `block`."""
    part = tuple(1 if draw(st.booleans()) else n for n in block)
    return part[draw(st.integers(0, len(part))) :]


@st.composite
def _basic_entry(draw: Any, n: int) -> Any:
    kind = draw(st.sampled_from(["all", "one", "some"] if n else ["all", "some"]))
    if kind == "all":
        return slice(None)
    if kind == "one":
        return draw(axis(n, negative=True))
    bound = st.none() | st.integers(-n - 1, n + 1)
    return slice(draw(bound), draw(bound), draw(st.sampled_from([None, 2, -1, -2])))


@st.composite
def _abbreviated(draw: Any, entries: list[Any]) -> Any:
    """The same index, or nearly: with an ellipsis, with less at its end, with new axes."""

    def is_full(k: int) -> bool:
        return isinstance(entries[k], slice) and entries[k] == slice(None)

    index = list(entries)
    ways = draw(st.integers(0, 2))
    if ways == 0:
        while index and is_full(len(index) - 1):
            index.pop()
    elif ways == 1:
        start = stop = draw(st.integers(0, len(index)))
        while stop < len(index) and is_full(stop):
            stop += 1
        index[start:stop] = [...]
    for _ in range(draw(st.integers(0, 2))):
        index.insert(draw(st.integers(0, len(index))), None)
    return tuple(index) if len(index) != 1 or draw(st.booleans()) else index[0]


# ---------------------------------------------------------------- trees


def pytrees(leaves: SearchStrategy[Any], *, most: int = 5) -> SearchStrategy[Any]:
    """Trees of lists, tuples and dicts (and None beside a leaf), with one to `most` leaves.

    >>> from hypothesis import find
    >>> find(pytrees(arrays(())), lambda found: isinstance(found, dict))
    {'a': array(1.)}
    """

    def nodes(kids: SearchStrategy[Any]) -> SearchStrategy[Any]:
        several = st.lists(kids, min_size=1, max_size=3)
        named = st.dictionaries(st.sampled_from("abw"), kids, min_size=1, max_size=3)
        return several | several.map(tuple) | named | kids.map(lambda kid: (kid, None))

    return st.recursive(leaves, nodes, max_leaves=most)
