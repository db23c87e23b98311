"""Samples of `funcgrad/ops/random_rejection.py`: keys, and parameters on either side of each method."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import Sample, array, floats
from .random import FLOATS, SMALL, keys


@st.composite
def with_parameters(draw: Any, dtypes: Any, *domains: Any) -> Sample:
    """A batch of keys, and numbers or arrays that broadcast to the shape."""
    shape = draw(SMALL)
    parameters = []
    for domain in domains:
        found = draw(array(domain, shape[draw(st.integers(0, len(shape))) :]))
        parameters.append(found.item() if found.ndim == 0 and draw(st.booleans()) else found)
    return Sample((draw(keys()), *parameters), {"shape": shape, "dtype": draw(dtypes)})


SAMPLES = {
    "random_log_gamma": with_parameters(FLOATS, floats(0.2, 4.0)),
    "random_poisson": with_parameters(
        st.sampled_from([np.dtype(t) for t in ("int8", "int32", "int64")]), floats(0.0, 30.0)
    ),
    "random_binomial": with_parameters(FLOATS, floats(0.0, 60.0), floats(0.05, 0.95)),
}
