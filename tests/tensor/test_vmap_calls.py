"""`compat.func.vmap` of every call that the other files know against the call for each example."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from harness import Call, Draw, _numpy, arrays_of, call
from tables import FILES, calls_of, function_of

import compat

EXAMPLES = 2

# How many numbers they give depends on numbers, or they write into what is not mapped.
REFUSED = (
    "unique unique_consecutive nonzero argwhere index_put repeat_interleave batch_norm "
    "native_batch_norm instance_norm"
)


def difference(c: Call, mapped: set[int]) -> str:
    """What is wrong with `vmap` over the drawn arguments of these numbers; nothing if it is right."""
    f = function_of(compat, c)
    drawn = [arrays_of(c, seed) for seed in range(EXAMPLES)]
    rows = [[row[i] if i in mapped else drawn[0][i] for i in range(len(drawn[0]))] for row in drawn]
    try:
        singly = [f(*(compat.from_numpy(a.copy()) for a in row)) for row in rows]
        expected = [np.stack([_numpy(x) for x in parts]) for parts in zip(*singly, strict=True)]
    except (RuntimeError, ValueError, NotImplementedError, IndexError):
        return ""  # some calls are there for their errors, or give other shapes for other numbers
    args = [
        compat.from_numpy(np.stack([row[i] for row in rows]) if i in mapped else rows[0][i].copy())
        for i in range(len(rows[0]))
    ]
    in_dims = tuple(0 if i in mapped else None for i in range(len(args)))
    try:
        found = compat.func.vmap(f, in_dims)(*args) if expected else []
    except RuntimeError as error:
        return "" if c.name.split(".")[-1] in REFUSED.split() else f"{c} {in_dims}: {error}"
    for a, b in zip(map(_numpy, found), expected, strict=True):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{c} {in_dims}: {a.dtype} {a.shape} instead of {b.dtype} {b.shape}"
        if not np.allclose(a, b, rtol=1e-9, atol=1e-11, equal_nan=True):
            return f"{c} {in_dims}: {a} instead of {b}"
    return ""


def faults(calls: list[Call]) -> list[str]:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for c in calls:
            count = len(arrays_of(c, 0))
            sets = [set(range(count)), *({i} for i in range(count) if count > 1)]
            found += [words for mapped in sets if (words := difference(c, mapped))]
    return found


@pytest.mark.parametrize("name", FILES.split())
def test_calls(name: str) -> None:
    calls = calls_of(name)
    assert calls
    assert not faults(calls)


def integers(*shape: int, high: int) -> Draw:
    return Draw(lambda rng: rng.integers(0, high, shape), False)


def floats(*shape: int) -> Draw:
    return Draw(lambda rng: rng.normal(size=shape), False)


def bits(*shape: int) -> Draw:
    """Zeros and ones; some of these triangular matrices are singular."""
    return Draw(lambda rng: rng.integers(0, 2, shape).astype(float), False)


def permutation(count: int) -> Draw:
    return Draw(lambda rng: rng.permutation(count), False)


def pivots(count: int, rows: int) -> Draw:
    """With which row each was exchanged, counted from 1."""
    first = np.arange(count, dtype=np.int32)
    return Draw(lambda rng: first + 1 + rng.integers(0, rows - first, dtype=np.int32), False)


MORE = [
    call("histc", floats(3, 4), 5, -2.0, 2.0),
    call("histogram", floats(7), 5, range=(-1.0, 1.0)),
    call("repeat_interleave", floats(2, 3), permutation(3), 1, output_size=3),
    call("linalg.lu_solve", floats(3, 3), pivots(3, 3), floats(3, 2)),
    call("lu_unpack", floats(4, 3), pivots(3, 4)),
    call("median", integers(2, 3, high=9)),
    call("nanmedian", integers(3, high=9), 0),
    call("special.legendre_polynomial_p", floats(3), integers(3, high=6)),
    call("linalg.solve_triangular", bits(3, 3), floats(3, 2), upper=True),
    call(
        "scatter_reduce", integers(3, high=5), 0, integers(6, high=3), integers(6, high=5), "mean"
    ),
    call("nn.functional.dropout", floats(2), 1.0),
]


@pytest.mark.parametrize("c", MORE, ids=repr)
def test_more(c: Call) -> None:
    function_of(compat, c)(*map(compat.from_numpy, arrays_of(c, 0)))
    assert not faults([c])


def test_what_has_no_shape_is_refused_in_words() -> None:
    with pytest.raises(RuntimeError, match="give the smallest and the largest"):
        compat.vmap(lambda x: compat.histc(x, 3))(compat.ones(2, 3))
    with pytest.raises(RuntimeError, match="shape of the result depends"):
        compat.vmap(lambda x: compat.repeat_interleave(x, x.long()))(compat.ones(2, 3))
