"""Samples of products with sparse matrices, in SciPy's formats, with empty rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from hypothesis import strategies as st

from funcgrad.ops.sparse import Held

from . import Sample, array, complexes, floats

FORMATS = ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"]


@st.composite
def _sparse_product(draw: Any) -> Sample:
    m, n = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    dense = draw(array(draw(st.sampled_from([floats(-3, 3), complexes()])), (m, n)))
    kept = draw(array(np.array([0.0, 1.0]), (m, n)))
    transposed = draw(st.booleans())
    matrix = scipy.sparse.coo_array(dense * kept).asformat(
        draw(st.sampled_from(FORMATS if m and n else FORMATS[:3]))
    )
    x = draw(
        array(
            floats(-3, 3),
            (m if transposed else n, *draw(st.sampled_from([(), (2,), (2, 3), (0,)]))),
        )
    )
    return Sample((x,), {"matrix": Held(matrix), "transposed": transposed})


SAMPLES = {"sparse_product": _sparse_product()}
