"""Samples of `funcgrad/ops/random.py`: keys, one or a batch of them, and small shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from . import Sample, array, broadcastable, integers, shapes

WORDS = np.array([0, 1, 7, 2**31, 2**32 - 1], np.uint32)
SMALL = shapes(ndim=(0, 2))
FLOATS = st.sampled_from([np.dtype(t) for t in ("float16", "float32", "float64")])


def keys() -> SearchStrategy[Any]:
    return shapes(ndim=(0, 1), side=(0, 2)).flatmap(lambda lead: array(WORDS, (*lead, 2)))


@st.composite
def of_keys(draw: Any, **params: Any) -> Sample:
    return Sample((draw(keys()),), {name: draw(v) for name, v in params.items()})


@st.composite
def folded(draw: Any) -> Sample:
    key_lead, lead = draw(broadcastable(2, ndim=(0, 1), side=(0, 2)))
    key = draw(array(WORDS, (*key_lead, 2)))
    return Sample((key, draw(array(integers(-2, 5), lead))))


@st.composite
def bounded(draw: Any) -> Sample:
    """Bounds that are numbers, or arrays that broadcast to the shape."""
    shape = draw(SMALL)
    bounds = []
    for low, high in ((-3, 3), (2, 9)):
        if draw(st.booleans()):
            bounds.append(draw(st.integers(low, high)))
        else:
            bounds.append(
                draw(array(integers(low, high), shape[draw(st.integers(0, len(shape))) :]))
            )
    dtype = draw(st.sampled_from([np.dtype(t) for t in ("int8", "int32", "int64")]))
    return Sample((draw(array(WORDS, (2,))), *bounds), {"shape": shape, "dtype": dtype})


SAMPLES = {
    "random_seed": shapes()
    .flatmap(lambda s: array(integers(-2, 7), s))
    .map(lambda x: Sample((x,))),
    "random_split": of_keys(shape=SMALL),
    "random_fold_in": folded(),
    "random_bits": of_keys(shape=SMALL, bits=st.sampled_from([8, 16, 32, 64])),
    "random_uniform": of_keys(shape=SMALL, dtype=FLOATS),
    "random_normal": of_keys(shape=SMALL, dtype=FLOATS),
    "random_integers": bounded(),
    "random_permutation": of_keys(n=st.integers(0, 5)),
}
