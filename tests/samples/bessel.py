"""Samples of Bessel functions: away from poles and kinks."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from . import Sample, away, complexes, floats, integers, operands, positive

X = floats(-3, 3)
NONZERO = away(X, 0.0, margin=0.1)
SMALL = away(floats(-0.06, 0.06), 0.0, margin=0.004)  # where series take over
LARGE = floats(70, 100)  # where asymptotic series take over
BELOW = floats(-100, -70)
POSITIVE = positive(0.25)
COMPLEX = complexes()
ORDERS = integers(-2, 3)
REAL_ORDERS = floats(-2.5, 3.0)


def of_order(v: float, domain: Any) -> SearchStrategy[Sample]:
    """The order is a Python number: an array of floats would be differentiated by, for real numbers."""
    return operands(domain).map(lambda sample: Sample((v, *sample.args), sample.params))


SAMPLES = {
    "j0": operands([X, SMALL]),
    "j1": operands([X, SMALL]),
    "y0": operands(POSITIVE),
    "y1": operands(POSITIVE),
    "i0": operands([X, SMALL]),
    "i1": operands([X, SMALL]),
    "i0e": operands([NONZERO, SMALL, LARGE, BELOW]),
    "i1e": operands([NONZERO, SMALL, LARGE, BELOW]),
    "k0": operands(POSITIVE),
    "k1": operands(POSITIVE),
    "k0e": operands([POSITIVE, LARGE]),
    "k1e": operands([POSITIVE, LARGE]),
    "jv": operands(ORDERS, [X, COMPLEX]) | of_order(1.5, [POSITIVE, COMPLEX]),
    "yv": operands(ORDERS, [POSITIVE, COMPLEX]) | of_order(-0.75, [POSITIVE, COMPLEX]),
    "iv": operands(ORDERS, [X, COMPLEX])
    | of_order(1.5, [POSITIVE, COMPLEX])
    | operands(REAL_ORDERS, POSITIVE),
    "ive": operands(ORDERS, [NONZERO, LARGE, BELOW])
    | of_order(1.5, [POSITIVE, LARGE])
    | operands(REAL_ORDERS, [POSITIVE, LARGE]),
    "kv": operands(ORDERS, [POSITIVE, COMPLEX])
    | of_order(1.5, [POSITIVE, COMPLEX])
    | operands(REAL_ORDERS, POSITIVE),
    "kve": operands(ORDERS, [POSITIVE, COMPLEX, LARGE])
    | of_order(1.5, [POSITIVE, LARGE])
    | operands(REAL_ORDERS, [POSITIVE, LARGE]),
    "kve_moment": operands(REAL_ORDERS, POSITIVE, n=st.integers(0, 2), m=st.integers(0, 1)),
    "spherical_jn": operands(integers(0, 4), [X, COMPLEX]),
    "spherical_yn": operands(integers(0, 3), [POSITIVE, -POSITIVE, COMPLEX]),
    "airy_ai": operands([X, COMPLEX]),
    "airy_aip": operands([X, COMPLEX]),
    "airy_bi": operands([X, COMPLEX]),
    "airy_bip": operands([X, COMPLEX]),
}
