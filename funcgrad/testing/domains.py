"""Where to look for trouble: special values of arguments, random ones, and simpler ones.

Layer 5. A domain says for every argument which values it may have: those around an example array,
those between two numbers, or what a Hypothesis strategy draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..errors import ArgumentError

SIMPLE = (1.0, 0.5, 0.0, -1.0, 2.0, -2.0, 3.0, 10.0, -10.0, 100.0, -100.0, 1e3, -1e3, 1e4, -1e4)
HARMLESS = (1.0, 0.5, 2.0, 0.25)
MODERATE = 1e4  # beyond this, an overflow of the value is nobody's fault
_CORE = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, -2.0, 3.0, 10.0, -10.0, 100.0, -100.0, 1e3, -1e3)

Fails = Callable[[Any], bool]


class Leaf:
    """One array or number of the domain."""

    def specials(self) -> list[Any]:
        """Values at which functions are often singular."""
        raise NotImplementedError

    def extremes(self) -> list[Any]:
        """Values so large that they make sense one at a time: products of two overflow."""
        return []

    def draw(self, rng: np.random.Generator) -> Any:
        raise NotImplementedError

    def strategy(self, st: Any) -> Any:
        """The same for Hypothesis; `st` is its module of strategies."""
        raise NotImplementedError

    def simplified(self, value: Any, fails: Fails) -> Any:
        """A simpler value that still fails."""
        return value

    def counts(self, value: Any) -> bool:
        """Whether it matters that the function's value is not finite here."""
        return True


class Around(Leaf):
    """Arrays of the shape and dtype of an example."""

    def __init__(self, example: Any) -> None:
        self.example = np.asarray(example)
        self.dtype = self.example.dtype
        self.tiny, self.huge = _extremes(self.dtype)
        self.numbers = [*_CORE, *self.tiny]

    def like(self, values: Any) -> Any:
        with np.errstate(all="ignore"):
            full = np.empty(self.example.shape, self.dtype)
            full[...] = values
        return full[()]

    def specials(self) -> list[Any]:
        x = self.example
        found: list[Any] = [x, *_CORE]
        if x.size > 1:
            found += _patterns(x)
        arrays = [self.like(v) for v in (*found, *self.tiny)]
        return [a for a in arrays if np.all(np.isfinite(a))]

    def extremes(self) -> list[Any]:
        found = [self.like(v) for v in self.huge]
        if self.example.size > 1:
            for v in self.huge:
                found.append(self.example.copy())
                found[-1].flat[0] = v
        return found

    def draw(self, rng: np.random.Generator) -> Any:
        x, shape = self.example, self.example.shape
        scale = 10.0 ** rng.uniform(-3, 3)
        kind = rng.integers(4)
        values = rng.standard_normal(shape) * scale
        if kind == 0:
            values = x + values * 0.1
        elif kind == 1:
            values = rng.integers(-3, 4, shape)
        chosen = np.array(values, np.promote_types(self.dtype, float))
        if kind > 1 and x.size:  # some elements special, or equal to one another
            for _ in range(int(rng.integers(3))):
                chosen.flat[rng.integers(x.size)] = rng.choice(self.numbers)
            chosen.flat[rng.integers(x.size)] = chosen.flat[rng.integers(x.size)]
        if self.dtype.kind == "c" and rng.integers(2):
            chosen = chosen * np.exp(1j * rng.uniform(0, 2 * np.pi, shape))
        value = self.like(chosen)
        return value if np.all(np.isfinite(value)) else x[()]

    def strategy(self, st: Any) -> Any:
        drawn = st.builds(
            lambda seed: self.draw(np.random.default_rng(seed)), st.integers(0, 2**32)
        )
        choices = [st.sampled_from(self.specials()), drawn]
        size, bits = self.example.size, 8 * self.dtype.itemsize
        if 0 < size <= 64 and self.dtype.kind == "f" and bits in (16, 32, 64):
            number = st.one_of(
                st.sampled_from(self.numbers),
                st.floats(-8, 8, width=bits, allow_subnormal=False),
                st.floats(-1024, 1024, width=bits, allow_subnormal=False),
            )
            rows = st.lists(number, min_size=size, max_size=size)
            choices.append(rows.map(lambda row: self.like(np.reshape(row, self.example.shape))))
        return st.one_of(choices)

    def counts(self, value: Any) -> bool:
        return bool(np.all(np.abs(value) <= max(MODERATE, _size(self.example))))

    def simplified(self, value: Any, fails: Fails) -> Any:
        harmless = [v for v in HARMLESS if not fails(self.like(v))]
        benign = harmless[0] if harmless else 1.0
        best = np.array(value)
        best = self._blocks(best, 0, best.size, benign, fails)
        if not np.any(best == benign):
            best = next((self.like(v) for v in SIMPLE if fails(self.like(v))), best)
            best = np.array(best)
        for i in np.flatnonzero(best.ravel() != benign)[:16]:
            for v in SIMPLE:
                if best.flat[i] == v:
                    break
                trial = best.copy()
                trial.flat[i] = v
                if fails(trial[()]):
                    best = trial
                    break
        return best[()]

    def _blocks(self, best: Any, low: int, high: int, benign: float, fails: Fails) -> Any:
        """Elements from `low` to `high` replaced by a harmless number, as many as can be."""
        if low >= high or np.all(best.flat[low:high] == benign):
            return best
        trial = best.copy()
        trial.flat[low:high] = benign
        if fails(trial[()]):
            return trial
        if high - low == 1:
            return best
        middle = (low + high) // 2
        best = self._blocks(best, low, middle, benign, fails)
        return self._blocks(best, middle, high, benign, fails)


class Between(Leaf):
    """Numbers from `low` to `high`, which may be infinite and are themselves left out then."""

    def __init__(self, low: float, high: float) -> None:
        if not low <= high:
            raise ArgumentError(f"find_nonfinite: the range ({low}, {high}) is empty")
        self.low, self.high = float(low), float(high)
        ends = [e for e in (self.low, self.high) if np.isfinite(e)]
        inner = [np.nextafter(e, m) for e, m in zip(ends, ends[::-1], strict=True) if e]
        middle = [(self.low + self.high) / 2] if len(ends) == 2 else []
        tiny, huge = _extremes(np.dtype(float))
        numbers = [*ends, *middle, *SIMPLE, -0.0, *inner, *tiny, *huge]
        self.numbers = [np.float64(v) for v in numbers if self.low <= v <= self.high]

    def specials(self) -> list[Any]:
        return self.numbers

    def draw(self, rng: np.random.Generator) -> Any:
        if rng.integers(4) == 0:
            return rng.choice(self.numbers)
        if np.isfinite(self.high - self.low) and rng.integers(2):
            return np.float64(rng.uniform(self.low, self.high))
        far = np.float64(10.0 ** rng.uniform(-12, 4))
        ends = [v for v in (self.low + far, self.high - far, far, -far) if np.isfinite(v)]
        return np.clip(rng.choice(ends), self.low, self.high)

    def strategy(self, st: Any) -> Any:
        ends = [e if np.isfinite(e) else None for e in (self.low, self.high)]
        drawn = st.floats(*ends, allow_nan=False, allow_infinity=False, allow_subnormal=False)
        return st.one_of(st.sampled_from(self.numbers), drawn.map(np.float64))

    def simplified(self, value: Any, fails: Fails) -> Any:
        for v in (*SIMPLE, float(np.round(value))):
            if v == value:
                return value
            if self.low <= v <= self.high and fails(np.float64(v)):
                return np.float64(v)
        return value


class Drawn(Leaf):
    """What a strategy draws; Hypothesis makes it simpler itself."""

    def __init__(self, drawn: Any) -> None:
        self.drawn = drawn

    def strategy(self, st: Any) -> Any:
        return self.drawn


class Domain:
    """The domain of all arguments: `leaves` are its values' sources, everything else is constant."""

    def __init__(self, entries: Any) -> None:
        if not isinstance(entries, tuple | list):
            raise ArgumentError(
                f"find_nonfinite: the domain is a tuple with one entry per argument, found "
                f"{type(entries).__name__}"
            )
        entries = tuple(entries)
        self.given, self.treedef = tree.flatten(
            entries, is_leaf=lambda x: x is not entries and _is_range(x)
        )
        self.places: list[int] = []
        self.leaves: list[Leaf] = []
        for i, x in enumerate(self.given):
            leaf = _leaf(x)
            if leaf is not None:
                self.places.append(i)
                self.leaves.append(leaf)
        if not self.leaves:
            raise ArgumentError(
                "find_nonfinite: the domain has no floating array, range or strategy to look in"
            )
        self.has_strategies = any(isinstance(leaf, Drawn) for leaf in self.leaves)

    def args(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments with these values of the leaves, as arrays of their own."""
        full = list(self.given)
        for i, value in zip(self.places, values, strict=True):
            full[i] = value
        return tree.unflatten(self.treedef, [_own(x) for x in full])

    def counts(self, values: Sequence[Any]) -> bool:
        return all(leaf.counts(v) for leaf, v in zip(self.leaves, values, strict=True))

    def specials(self, rng: np.random.Generator) -> Iterator[list[Any]]:
        """All leaves special at once, then every one alone, then mixed, then extreme ones alone."""
        columns = [leaf.specials() for leaf in self.leaves]
        longest = max(map(len, columns))
        for k in range(longest):
            yield [column[k % len(column)] for column in columns]
        if len(columns) > 1:
            per_leaf = max(longest * 4 // len(columns), 4)
            for i, column in enumerate(columns):
                for value in column[:per_leaf]:
                    yield self._alone(columns, i, value)
            for _ in range(2 * longest):
                yield [column[rng.integers(len(column))] for column in columns]
        for i, leaf in enumerate(self.leaves):
            for value in leaf.extremes():
                yield self._alone(columns, i, value)

    def _alone(self, columns: list[list[Any]], i: int, value: Any) -> list[Any]:
        return [value if j == i else other[0] for j, other in enumerate(columns)]

    def random(self, rng: np.random.Generator) -> list[Any]:
        return [leaf.draw(rng) for leaf in self.leaves]

    def strategy(self, st: Any) -> Any:
        return st.tuples(*[leaf.strategy(st) for leaf in self.leaves])

    def simplified(self, values: Sequence[Any], fails: Fails, budget: int) -> list[Any]:
        """One leaf after another made simpler while it still fails, with at most so many trials."""
        best, count = list(values), 0
        for i, leaf in enumerate(self.leaves):

            def still(value: Any, i: int = i) -> bool:
                nonlocal count
                count += 1
                return count <= budget and fails([*best[:i], value, *best[i + 1 :]])

            best[i] = leaf.simplified(best[i], still)
        return best


def _is_range(x: Any) -> bool:
    return type(x) is tuple and len(x) == 2 and all(type(v) in (int, float) for v in x)


def _leaf(x: Any) -> Leaf | None:
    if _is_range(x):
        return Between(*x)
    if hasattr(x, "do_draw") and hasattr(x, "example"):
        return Drawn(x)
    if isinstance(x, float | complex | np.ndarray | np.generic):
        array = np.asarray(x)
        return Around(array) if array.dtype.kind in "fc" else None
    return None


def _own(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _size(x: Any) -> float:
    return float(np.max(np.abs(x), initial=0.0))


def _extremes(dtype: Any) -> tuple[list[Any], list[Any]]:
    """Numbers so small that their squares underflow, and so large that theirs overflow.

    >>> [[float(v) for v in numbers] for numbers in _extremes(np.dtype(np.float64))]
    [[1e-300, -1e-300, 1e-160, -1e-160], [1e+156, -1e+156, 1e+300, -1e+300]]
    """
    info = np.finfo(dtype)
    digits = float(np.log10(info.max))
    ten = info.dtype.type(10)
    with np.errstate(all="ignore"):
        powers = (-0.975 * digits, -0.52 * digits, 0.5 * digits + 2, 0.975 * digits)
        sizes = [ten ** int(power) for power in powers]
    signed = [sign * size for size in sizes for sign in (1, -1)]
    return signed[:4], signed[4:]


def is_extreme(x: Any) -> bool:
    """Whether an element is so tiny or huge that a few products leave the range of its dtype."""
    x = np.asarray(x)
    far = 0.4 * float(np.log10(np.finfo(x.dtype).max))
    sizes = np.abs(x[x != 0])
    return bool(np.any(np.abs(np.log10(sizes)) > far))


def _patterns(x: Any) -> list[Any]:
    """Arrays like `x` with zeros, ties, equal rows and single large elements."""
    flat = x.ravel()
    one_zero, tied = flat.copy(), flat.copy()
    one_zero[0], tied[-1] = 0, tied[0]
    one_hot, last_hot = np.zeros(x.size), np.zeros(x.size)
    one_hot[0] = last_hot[-1] = 1
    rows = [
        one_zero,
        tied,
        one_hot,
        last_hot,
        1 - one_hot,
        np.arange(x.size),
        1 + np.arange(x.size),
    ]
    rows += [np.resize([1.0, -1.0], x.size), np.full(x.size, flat[0])]
    rows += [1e3 * one_hot, 1e3 * last_hot, -1e3 * one_hot, 30 * np.arange(x.size)]
    found = [np.reshape(row, x.shape) for row in rows]
    if x.ndim > 1:
        first, column = x.copy(), x.copy()
        first[0], column[..., 0] = 0, 0
        found += [
            first,
            column,
            np.broadcast_to(x[:1], x.shape),
            np.broadcast_to(x[..., :1], x.shape),
        ]
        found.append(np.broadcast_to(np.eye(*x.shape[-2:]), x.shape))
    return found
