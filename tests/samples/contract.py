"""Samples of `funcgrad/ops/contract.py`: operands whose contracted axes have one length."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import Sample, array, booleans, broadcastable, complexes, floats

NUMBERS = [floats(-2, 2), complexes()]
SIDES = st.integers(0, 3)


@st.composite
def matmul(draw: Any) -> Sample:
    """Vectors, matrices, and stacks of matrices that broadcast."""
    m, k, n = (draw(SIDES) for _ in range(3))
    lead = draw(broadcastable(2, ndim=(0, 2)))
    x_shape = draw(st.sampled_from([(k,), (*lead[0], m, k)]))
    y_shape = draw(st.sampled_from([(k,), (*lead[1], k, n)]))
    domains = (draw(st.sampled_from(NUMBERS)) for _ in range(2))
    return Sample(
        tuple(draw(array(d, s)) for d, s in zip(domains, (x_shape, y_shape), strict=True))
    )


@st.composite
def dot_general(draw: Any) -> Sample:
    """The axes of both operands in any order: batch, contracted and free ones."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=6, max_size=6))
    sizes[draw(st.integers(0, 5))] = draw(SIDES)
    names = st.lists(st.integers(0, 5), unique=True, max_size=3)
    x_names = draw(names)
    y_names = draw(names)
    shared = [k for k in x_names if k in y_names]
    draw(st.randoms()).shuffle(shared)
    cut = draw(st.integers(0, len(shared)))
    batch, contracting = (
        (tuple(map(x_names.index, part)), tuple(map(y_names.index, part)))
        for part in (shared[:cut], shared[cut:])
    )
    domains = [draw(st.sampled_from([*NUMBERS, booleans()])) for _ in range(2)]
    args = tuple(
        draw(array(d, tuple(sizes[k] for k in names)))
        for d, names in zip(domains, (x_names, y_names), strict=True)
    )
    return Sample(args, {"contracting": contracting, "batch": batch})


SAMPLES = {"matmul": matmul(), "dot_general": dot_general()}
