"""Samples of `funcgrad/ops/softmax.py`."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import Sample, array, broadcastable, floats, with_axes


@st.composite
def below(draw: Any) -> Sample:
    """``x <= m``, with a margin."""
    x, m = draw(broadcastable(2))
    return Sample((draw(array(floats(-3, 0), x)), draw(array(floats(0.1, 3), m))))


SAMPLES = {
    "exp_below": below(),
    "logsumexp": with_axes(floats(-3, 3), least=1),  # of nothing it is -inf
    "softmax": with_axes(floats(-3, 3)),
    "log_softmax": with_axes(floats(-3, 3)),
}
